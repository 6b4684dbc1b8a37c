/* handlers_admin.c: PING, PONG, GOODBYE, INFO. INFO packs its sections into one buffer of bounded
 * size; worlds that the session's token does not allow are left out of every count and list. */
#include "config.h"

#include <string.h>

#include "protocol/packer.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

void handle_ping(struct session *self, const struct message *message)
{
	struct message pong;
	message_init(&pong, MESSAGE_PONG);
	pong.pong.t = message->ping.t;
	pong.pong.time_us = io_now_us(self->service->io);
	for (uint32_t i = 0; i < self->memberships.count; i++)
		if (self->memberships.items[i].world != NULL)
			pong.pong.tick = self->memberships.items[i].world->tick;
	session_send(self, &pong);
}

void handle_pong(struct session *self, const struct message *message)
{
	/* Receiving it has already reset the silence deadline. */
	UNUSED(self);
	UNUSED(message);
}

void handle_goodbye(struct session *self, const struct message *message)
{
	UNUSED(message);
	session_goodbye(self, STATUS_OK, "goodbye");
}

static void pack_uint_pair(struct wire_packer *out, const char *key, uint64_t value)
{
	wire_pack_string(out, key);
	wire_pack_uint(out, value);
}

static void pack_real_pair(struct wire_packer *out, const char *key, double value)
{
	wire_pack_string(out, key);
	wire_pack_real(out, value);
}

/* Quantile of the stored rounds, ns; 0 where there are none. */
static uint64_t round_quantile(const struct round_times *rounds, uint32_t permille)
{
	uint32_t kept = (uint32_t)MIN_OF(rounds->count, (uint64_t)ROUNDS_KEPT);
	uint64_t keys[ROUNDS_KEPT], scratch[ROUNDS_KEPT];
	for (uint32_t i = 0; i < kept; i++)
		keys[i] = rounds->ns[i];
	sort_keys(keys, NULL, scratch, NULL, kept);
	return kept > 0 ? keys[(uint64_t)(kept - 1) * permille / 1000] : 0;
}

/* Number of refused files, and of worlds, that the grant allows; NULL allows all. */
static uint32_t count_refused(const struct service *service, const struct grant *grant)
{
	uint32_t count = 0, seen = 0;
	const struct refused_file *files =
		service->store != NULL ? store_refused(service->store, &count) : NULL;
	for (uint32_t i = 0; i < count; i++)
		seen += grant_allows_world(grant, files[i].name);
	return seen;
}

static uint32_t count_worlds(const struct service *service, const struct grant *grant)
{
	uint32_t seen = 0;
	for (uint32_t i = 0; i < service->worlds->items.count; i++)
		seen += grant_allows_world(grant, service->worlds->items.items[i]->name);
	return seen;
}

/* The first STORE_REFUSED_SHOWN refused files; the log has them all. */
static void pack_refused(struct wire_packer *out, const struct service *service,
			 const struct grant *grant)
{
	uint32_t count = 0, told = 0;
	uint32_t most = MIN_OF(count_refused(service, grant), (uint32_t)STORE_REFUSED_SHOWN);
	const struct refused_file *files =
		service->store != NULL ? store_refused(service->store, &count) : NULL;
	wire_pack_array(out, most);
	for (uint32_t i = 0; i < count && told < most; i++) {
		if (!grant_allows_world(grant, files[i].name))
			continue;
		told++;
		wire_pack_map(out, 3);
		wire_pack_string(out, "name");
		wire_pack_string(out, files[i].name);
		wire_pack_string(out, "status");
		wire_pack_string(out, status_name(files[i].status));
		wire_pack_string(out, "text");
		wire_pack_string(out, files[i].text);
	}
}

static void pack_server(struct wire_packer *out, struct service *service, const struct grant *grant)
{
	const struct io_counters *io = io_counters(service->io);
	struct frame_pool_counters frames;
	struct pool_counters pool;
	frame_pool_counters(service->frames, &frames);
	pool_counters(service->pool, &pool);
	char motion[MOTION_TEXT_MAX];
	struct motion_numbers numbers = engine_motion();
	motion_text(&numbers, motion);
	struct past_figures past = { 0 };
	if (service->past != NULL)
		past = past_desk_figures(service->past);
	wire_pack_map(out, 33);
	wire_pack_string(out, "motion");
	wire_pack_string(out, motion);
	wire_pack_string(out, "build");
	wire_pack_string(out, PACKAGE_VERSION);
	wire_pack_string(out, "abi");
	wire_pack_string(out, service->abi);
	pack_uint_pair(out, "workers", executor_workers(service->executor));
	pack_uint_pair(out, "worlds", count_worlds(service, grant));
	pack_uint_pair(out, "files_refused", count_refused(service, grant));
	pack_uint_pair(out, "sessions", service->sessions.items.count);
	pack_uint_pair(out, "sessions_lost", service->sessions.lost);
	pack_uint_pair(out, "fanout_rounds", service->rounds.count);
	pack_uint_pair(out, "fanout_ns_p50", round_quantile(&service->rounds, 500));
	pack_uint_pair(out, "fanout_ns_p99", round_quantile(&service->rounds, 990));
	pack_uint_pair(out, "sessions_opened", service->sessions.opened);
	pack_uint_pair(out, "time_us", io_now_us(service->io));
	pack_uint_pair(out, "bytes_in", io->bytes_in);
	pack_uint_pair(out, "bytes_out", io->bytes_out);
	pack_uint_pair(out, "writes", io->writes);
	pack_uint_pair(out, "writes_short", io->writes_short);
	pack_uint_pair(out, "queued_bytes", io->queued_bytes);
	pack_uint_pair(out, "frames_made", frames.made);
	pack_uint_pair(out, "frames_live", frames.live);
	pack_uint_pair(out, "loop_slices", pool.slices);
	pack_uint_pair(out, "loop_refused_busy", pool.busy);
	pack_uint_pair(out, "loop_refused_costly", pool.costly);
	pack_uint_pair(out, "worlds_relieved", pool.relieved);
	pack_uint_pair(out, "heap_blocks", (uint64_t)MAX_OF(heap_live(), 0));
	pack_uint_pair(out, "heap_calls", heap_calls_total());
	pack_uint_pair(out, "log_lines_lost", log_lost());
	pack_uint_pair(out, "library_shapes", service->library.count);
	pack_uint_pair(out, "library_bytes", service->library.bytes);
	pack_uint_pair(out, "past_views", service->worlds->travels.count);
	pack_uint_pair(out, "past_asks", past.asks);
	pack_uint_pair(out, "past_waiting", past.waiting);
	pack_uint_pair(out, "past_ticks", past.ticks);
}

/* What INFO says of a world's file and past. */
static void pack_world_file(struct wire_packer *out, const struct served_world *world)
{
	struct keyframe_figures keyframes = { 0 };
	if (world->past != NULL)
		keyframes = keyframes_figures(past_keyframes(world->past));
	const struct journal_figures *figures = &world->figures;
	wire_pack_string(out, "durability");
	wire_pack_string(out, durability_name(world->durability));
	wire_pack_string(out, "journal");
	wire_pack_string(out, status_name(world->journal_failure.status));
	pack_uint_pair(out, "commits", figures->commits);
	pack_uint_pair(out, "commit_ns_mean", figures->commit_ns / MAX_OF(figures->commits, 1u));
	pack_uint_pair(out, "commit_ns_max", figures->commit_ns_max);
	pack_uint_pair(out, "commits_busy", figures->busy);
	pack_uint_pair(out, "durable_tick", world->durable_tick);
	pack_uint_pair(out, "durable_edit", world->durable_edit);
	pack_uint_pair(out, "file_bytes", figures->file_bytes);
	pack_uint_pair(out, "file_free_bytes", figures->free_bytes);
	pack_uint_pair(out, "checkpoints_pruned", figures->checkpoints_pruned);
	pack_uint_pair(out, "records_pruned", figures->records_pruned);
	pack_uint_pair(out, "prune_failures", figures->prune_failures);
	pack_uint_pair(out, "keyframes", keyframes.count);
	pack_uint_pair(out, "keyframe_bytes", keyframes.bytes);
	pack_uint_pair(out, "keyframe_spacing", keyframes.spacing);
	pack_uint_pair(out, "sync_tests", world->sync_tests);
	pack_uint_pair(out, "sync_failures", world->sync_failures);
}

/* Where the time of the world's ticks goes: ns by stage, of the ticks that were profiled. */
static void pack_stages(struct wire_packer *out, const struct profile_sums *stages)
{
	pack_uint_pair(out, "profiled_ticks", stages->ticks);
	wire_pack_string(out, "stage_ns");
	wire_pack_map(out, PROFILE_STAGES);
	for (int stage = 0; stage < PROFILE_STAGES; stage++)
		pack_uint_pair(out, profile_stage_name((enum profile_stage)stage),
			       stages->ns[stage]);
}

/* table: the counters of a world, by the names people see. */
static void pack_world(struct wire_packer *out, struct served_world *world)
{
	struct host_counters host;
	struct fanout_counters fanout;
	host_counters(world->host, &host);
	fanout_counters(world->fanout, &fanout);
	wire_pack_map(out, 71 + IMPACT_COUNTS_END);
	wire_pack_string(out, "name");
	wire_pack_string(out, world->name);
	wire_pack_string(out, "method");
	wire_pack_string(out, world->info.method != NULL ? world->info.method : "");
	pack_uint_pair(out, "world", world->number);
	pack_uint_pair(out, "epoch", world->epoch);
	pack_uint_pair(out, "tick", world->tick);
	pack_uint_pair(out, "edit", world->edit);
	pack_uint_pair(out, "mode", world->mode);
	pack_uint_pair(out, "pace_permille", world->pace);
	pack_uint_pair(out, "ticks", tick_costs_count(&host.costs));
	pack_uint_pair(out, "loop_slices", host.slices_on_loop);
	pack_uint_pair(out, "ticks_late", host.late);
	pack_uint_pair(out, "ticks_dropped", host.dropped);
	pack_uint_pair(out, "stalls", host.stalls);
	pack_uint_pair(out, "batches", host.batches);
	pack_uint_pair(out, "refused", host.refused);
	pack_uint_pair(out, "inbox", host.inbox);
	pack_uint_pair(out, "lateness_max_ns", world->lateness_max);
	pack_uint_pair(out, "cost_max_ns", world->cost_max);
	pack_uint_pair(out, "cost_ns_p50", tick_costs_quantile(&host.costs, 500));
	pack_uint_pair(out, "cost_ns_p99", tick_costs_quantile(&host.costs, 990));
	pack_uint_pair(out, "bodies", world->stats.bodies);
	pack_uint_pair(out, "awake", world->stats.awake);
	pack_uint_pair(out, "contacts", world->stats.contacts);
	pack_uint_pair(out, "islands", world->stats.islands);
	pack_uint_pair(out, "islands_dense", world->stats.islands_dense);
	pack_uint_pair(out, "islands_sparse", world->stats.islands_sparse);
	pack_uint_pair(out, "islands_dependent", world->stats.islands_dependent);
	pack_uint_pair(out, "islands_reduced", world->stats.islands_reduced);
	pack_uint_pair(out, "islands_maximal", world->stats.islands_maximal);
	pack_uint_pair(out, "taut", world->stats.taut);
	pack_uint_pair(out, "sagging", world->stats.sagging);
	pack_uint_pair(out, "iterations", world->stats.iterations);
	pack_real_pair(out, "residual", world->stats.residual);
	pack_real_pair(out, "push_work", world->stats.push_work_total);
	pack_uint_pair(out, "fallbacks", world->stats.fallbacks_total);
#define PACK_COUNT(name, NAME, text)                                                               \
	pack_uint_pair(out, "impact_" #name, world->stats.impact_total.name);
	IMPACT_COUNTS(PACK_COUNT)
#undef PACK_COUNT
	pack_real_pair(out, "impact_error", world->stats.impact_error);
	pack_uint_pair(out, "quarantined", world->stats.quarantined_total);
	pack_uint_pair(out, "memory_bytes", world->stats.memory_bytes);
	pack_uint_pair(out, "moments", host.moments);
	pack_uint_pair(out, "moment_bytes", host.moment_bytes);
	pack_uint_pair(out, "rollbacks", host.rollbacks);
	pack_uint_pair(out, "subscriptions", fanout.subscriptions);
	pack_uint_pair(out, "frames_sent", fanout.frames);
	pack_uint_pair(out, "frames_skipped", fanout.skipped);
	pack_uint_pair(out, "frames_late", fanout.late);
	pack_uint_pair(out, "frames_over_quota", fanout.short_of);
	pack_uint_pair(out, "interests", fanout.interests);
	pack_uint_pair(out, "bodies_looked", fanout.looked);
	pack_uint_pair(out, "groups_encoded", fanout.encoded);
	pack_uint_pair(out, "events_lost", fanout.events_lost);
	pack_uint_pair(out, "contacts_cut", fanout.contacts_cut);
	pack_world_file(out, world);
	pack_stages(out, &host.stages);
	world->lateness_max = world->cost_max = 0;
}

/* The rates of every role (quota.def). */
static void pack_quotas(struct wire_packer *out)
{
	wire_pack_map(out, WIRE_ROLES);
	for (int role = 0; role < WIRE_ROLES; role++) {
		wire_pack_string(out, wire_role_name((enum wire_role)role));
		wire_pack_map(out, QUOTA_NUMBERS);
		for (int kind = 0; kind < QUOTA_NUMBERS; kind++)
			pack_uint_pair(
				out, quota_name((enum quota_kind)kind),
				(uint64_t)quota_of((enum wire_role)role, (enum quota_kind)kind));
	}
}

enum { ABOUT_SERVER = 1, ABOUT_WORLDS = 2, ABOUT_REFUSED = 4, ABOUT_QUOTAS = 8 };

/* The requested sections as a mask; 0: no section has that name. */
static uint32_t sections_of(struct wire_slice what)
{
	if (what.bytes == 0)
		return ABOUT_SERVER | ABOUT_WORLDS | ABOUT_REFUSED | ABOUT_QUOTAS;
	return (wire_slice_is(what, "server") ? ABOUT_SERVER : 0u) |
	       (wire_slice_is(what, "worlds") ? ABOUT_WORLDS : 0u) |
	       (wire_slice_is(what, "refused") ? ABOUT_REFUSED : 0u) |
	       (wire_slice_is(what, "quotas") ? ABOUT_QUOTAS : 0u);
}

static void pack_sections(struct wire_packer *out, struct service *service,
			  const struct grant *grant, uint32_t sections)
{
	wire_pack_map(out, (uint32_t)__builtin_popcount(sections));
	if (sections & ABOUT_SERVER) {
		wire_pack_string(out, "server");
		pack_server(out, service, grant);
	}
	if (sections & ABOUT_WORLDS) {
		wire_pack_string(out, "worlds");
		wire_pack_array(out, count_worlds(service, grant));
		for (uint32_t i = 0; i < service->worlds->items.count; i++)
			if (grant_allows_world(grant, service->worlds->items.items[i]->name))
				pack_world(out, service->worlds->items.items[i]);
	}
	if (sections & ABOUT_REFUSED) {
		wire_pack_string(out, "refused");
		pack_refused(out, service, grant);
	}
	if (sections & ABOUT_QUOTAS) {
		wire_pack_string(out, "quotas");
		pack_quotas(out);
	}
}

/* INFO: {"server": {…}, "worlds": [{…}, …], "refused": [{…}, …], "quotas": {role: {…}, …}}, or one
 * section of these. */
void handle_info(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	uint32_t sections = sections_of(message->info.what);
	if (sections == 0) {
		struct reason why;
		reason_set(&why, STATUS_RANGE, -1, "what",
			   "no section \"%.*s\": sections are server, worlds, refused and quotas",
			   (int)MIN_OF(message->info.what.bytes, 32u),
			   (const char *)message->info.what.at);
		session_refuse(self, message, &why);
		return;
	}
	uint32_t room = 3072 + STORE_REFUSED_SHOWN * 320 + service->worlds->items.count * 1536;
	uint8_t *packed = heap_alloc(room);
	if (packed == NULL) {
		session_refuse_status(self, message, STATUS_NO_MEMORY);
		return;
	}
	struct wire_packer out = wire_packer_over(packed, room);
	pack_sections(&out, service, self->grant, sections);
	struct message reply;
	message_init(&reply, MESSAGE_REPLY);
	reply.reply.ref = message->info.ref;
	reply.reply.about = MESSAGE_INFO;
	reply.reply.value = wire_packer_slice(&out);
	enum status status = session_send(self, &reply);
	heap_free(packed);
	if (status == STATUS_FULL) {
		struct reason why;
		reason_set(&why, STATUS_FULL, -1, "what",
			   "the answer exceeds the client's frame limit; ask for one section, "
			   "such as \"server\", or raise the limit in HELLO");
		session_refuse(self, message, &why);
	}
}
