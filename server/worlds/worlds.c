/* See worlds.h. A world enters the list when its host and journal are made (worlds_add), is started
 * in the pool, and leaves the list when its host has stopped (on_stopped), after which no thread steps
 * it. */
#include "server/worlds/worlds.h"

#include <stdio.h>
#include <string.h>

#include "protocol/validate.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/service.h"
#include "server/session/session.h"
#include "server/store/session_file.h"
#include "server/tick/clock.h"
#include "server/worlds/travel.h"
#include "server/worlds/world_reports.h"

/* ---- finding ----------------------------------------------------------------------------------- */

struct served_world *worlds_find(const struct worlds *self, uint32_t number)
{
	/* Numbers ascend, so the search is binary. */
	uint32_t low = 0, high = self->items.count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (self->items.items[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < self->items.count && self->items.items[low]->number == number;
	return found ? self->items.items[low] : NULL;
}

struct served_world *worlds_find_name(const struct worlds *self, const char *name)
{
	for (uint32_t i = 0; i < self->items.count; i++)
		if (strcmp(self->items.items[i]->name, name) == 0)
			return self->items.items[i];
	return NULL;
}

bool worlds_name_valid(const char *name)
{
	return validate_name(name, strlen(name));
}

/* The counts of method impact, where there are any: lists of worlds are long, and few worlds have the
 * method. Returns how many pairs there are. */
static uint32_t pack_impact(struct wire_packer *out, const struct world_stats *stats)
{
	const struct {
		const char *key;
		uint64_t value;
	} pairs[] = {
#define IMPACT_PAIR(name, NAME, text) { "impact_" #name, stats->impact_total.name },
		IMPACT_COUNTS(IMPACT_PAIR)
#undef IMPACT_PAIR
	};
	uint64_t all = 0;
	for (size_t i = 0; i < COUNT_OF(pairs); i++)
		all |= pairs[i].value;
	if (all == 0)
		return 0;
	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		wire_pack_string(out, pairs[i].key);
		wire_pack_uint(out, pairs[i].value);
	}
	wire_pack_string(out, "impact_error");
	wire_pack_real(out, stats->impact_error);
	return COUNT_OF(pairs) + 1;
}

void worlds_fill_info(const struct served_world *world, struct message *message, uint64_t ref,
		      uint8_t *scratch, uint32_t scratch_bytes)
{
	struct wire_packer counts = wire_packer_over(scratch, scratch_bytes);
	const struct world_stats *stats = &world->stats;
	const struct {
		const char *key;
		uint64_t value;
	} pairs[] = {
		{ "awake", stats->awake },
		{ "shapes", stats->shapes },
		{ "placements", stats->placements },
		{ "contacts", stats->contacts },
		{ "joints", stats->joints },
		{ "fallbacks", stats->fallbacks_total },
		{ "quarantined", stats->quarantined_total },
		{ "swept", stats->sweeps_total.bodies },
		{ "sweep_stops", stats->sweeps_total.stops },
		{ "sweep_cores", stats->sweeps_total.cores },
		{ "sweep_pairs", stats->sweeps_total.pairs },
		{ "sweep_limits", stats->sweeps_total.limits },
		{ "islands", stats->islands },
		{ "islands_dense", stats->islands_dense },
		{ "islands_sparse", stats->islands_sparse },
		{ "islands_dependent", stats->islands_dependent },
		{ "islands_reduced", stats->islands_reduced },
		{ "islands_maximal", stats->islands_maximal },
		{ "taut", stats->taut },
		{ "sagging", stats->sagging },
		{ "iterations", stats->iterations },
		{ "memory_bytes", stats->memory_bytes },
		{ "pace_permille", world->pace },
		{ "durability", world->durability },
		{ "journal", world->journal_failure.status },
	};
	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		wire_pack_string(&counts, pairs[i].key);
		wire_pack_uint(&counts, pairs[i].value);
	}
	wire_pack_string(&counts, "residual");
	wire_pack_real(&counts, stats->residual);
	wire_pack_string(&counts, "push_work");
	wire_pack_real(&counts, stats->push_work_total);
	wire_pack_string(&counts, "joint_error");
	wire_pack_real(&counts, stats->joint_error);
	uint32_t more = pack_impact(&counts, stats);
	ASSERT(wire_packer_status(&counts) == STATUS_OK);
	message_init(message, MESSAGE_WORLD_INFO);
	struct msg_world_info *info = &message->world_info;
	info->ref = ref;
	info->world = world->number;
	info->epoch = world->epoch;
	info->tick = world->tick;
	info->edit = world->edit;
	info->rate = (struct wire_rate){ world->info.rate_num, world->info.rate_den };
	info->method = wire_text(world->info.method);
	info->mode = world->mode;
	info->bounds.set = world->info.bounds_mode != BOUNDS_NONE;
	memcpy(info->bounds.min, &world->info.bounds_min, sizeof info->bounds.min);
	memcpy(info->bounds.max, &world->info.bounds_max, sizeof info->bounds.max);
	info->bodies = stats->bodies;
	info->name = wire_text(world->name);
	info->counts = (struct wire_list){ scratch, counts.bytes, COUNT_OF(pairs) + 3 + more };
}

enum { SLICE_WORK = 64 }; /* fixed cost of a slice, in watched changes */

/* ---- creation and end -------------------------------------------------------------------------- */

static void free_world(struct served_world *world)
{
	if (world == NULL)
		return;
	world_reports_forget(world);
	if (world->host != NULL)
		host_destroy(world->host);
	if (world->fanout != NULL)
		fanout_destroy(world->fanout);
	past_release(world->past);
	heap_free(world->notes);
	while (world->waiting_first != NULL) {
		struct report *report = world->waiting_first;
		world->waiting_first = report->next;
		report_destroy(report);
	}
	ARRAY_RELEASE(&world->members);
	heap_free(world);
}

void worlds_release(struct worlds *self)
{
	for (uint32_t i = 0; i < self->items.count; i++)
		free_world(self->items.items[i]);
	ARRAY_RELEASE(&self->items);
	ARRAY_RELEASE(&self->travels);
}

/* The journal of a new world, or of a recovered one; none with durability `off`. */
static enum status open_journal(struct service *service, struct served_world *world,
				struct recovered *recovered, struct journal **out,
				struct reason *why)
{
	*out = NULL;
	if (recovered != NULL) {
		*out = recovered->journal;
		recovered->journal = NULL;
		return STATUS_OK;
	}
	if (world->durability == DURABILITY_OFF)
		return STATUS_OK;
	return store_create_world(service->store, world->name,
				  world->own_durability ? &world->durability : NULL, out, why);
}

bool worlds_may_lose_journal(const struct served_world *world)
{
	return world->durability != DURABILITY_COMMAND &&
	       strcmp(world->service->options->disk_failure, "continue") == 0;
}

static struct host_options host_options_of(const struct service *service,
					   const struct served_world *world,
					   const struct journal_pace *pace)
{
	const struct options *options = service->options;
	struct host_options host = host_options_default();
	host.number = world->number;
	snprintf(host.name, sizeof host.name, "%s", world->name);
	host.budget = (uint32_t)options->budget;
	host.checkpoint_ticks = (uint32_t)options->checkpoint_ticks;
	host.inbox_batches = (uint32_t)options->inbox_batches;
	host.inbox_bytes = (uint32_t)options->inbox_bytes;
	host.players = (struct player_limits){
		.horizon_ticks = (uint32_t)options->player_horizon,
		.pending = (uint32_t)options->player_pending,
		.forces = (uint32_t)options->player_forces,
		.bodies = (uint32_t)options->player_bodies,
	};
	host.pace = *pace;
	host.journal_optional = worlds_may_lose_journal(world);
	return host;
}

/* Gives a recovered world its snapshots. One that exceeds the quota now stays on disk only. */
static void add_snapshots(struct host *host, struct recovered *recovered)
{
	for (uint32_t i = 0; recovered != NULL && i < recovered->snapshots.count; i++) {
		struct recovered_snapshot *snapshot = &recovered->snapshots.items[i];
		enum status status = host_add_snapshot(host, snapshot->name, snapshot->tick,
						       snapshot->state_hash, &snapshot->image);
		if (status != STATUS_OK)
			log_warn("snapshot_left_on_disk", "world=%s snapshot=%s status=%s",
				 host_name(host), snapshot->name, status_name(status));
	}
}

/* Closes the journal of a world that was not put into service; with `remove` its new file is removed. */
static void drop_journal(struct service *service, const struct served_world *world,
			 struct journal *journal, bool remove)
{
	struct reason why;
	if (journal != NULL)
		journal_close(journal);
	if (world->has_journal && remove &&
	    store_remove_world(service->store, world->name, &why) != STATUS_OK)
		log_warn("file_left", "world=%s text=%s", world->name, LOG_TEXT(why.text));
}

/* The past of a world with a file, and its keyframes, in `options`. On failure there is nothing to release
 * but what free_world does. */
static enum status make_past(struct service *service, struct served_world *world,
			     struct host_options *options)
{
	struct keyframe_policy policy = { service->options->keyframe_bytes,
					  (uint32_t)service->options->keyframe_ticks };
	char path[4096];
	if (service->past == NULL ||
	    !store_world_path(service->store, world->name, path, sizeof path))
		return STATUS_OK;
	enum status status = keyframes_create(&policy, &options->keyframes);
	if (status == STATUS_OK)
		status = past_create(service->past, path, options->keyframes, &world->past);
	return status;
}

/* Makes a world's fanout, journal and host. On failure free_world releases what was made. */
static enum status make_host(struct service *service, struct served_world *world,
			     struct world *engine_world, struct shape_library *shapes,
			     const struct journal_pace *pace, struct recovered *recovered,
			     struct reason *why)
{
	struct host_options options = host_options_of(service, world, pace);
	enum status status = fanout_create(service->frames, &world->fanout);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "name", "%s", status_text(status));
	status = open_journal(service, world, recovered, &options.journal, why);
	if (status != STATUS_OK)
		return status;
	world->has_journal = options.journal != NULL;
	options.is_new = recovered == NULL;
	if (world->has_journal)
		status = make_past(service, world, &options);
	if (status != STATUS_OK) {
		keyframes_release(options.keyframes);
		drop_journal(service, world, options.journal, recovered == NULL);
		return reason_set(why, status, -1, "name", "%s", status_text(status));
	}
	if (world->has_journal) {
		struct journal_events events = world_journal_events(world);
		journal_set_events(options.journal, &events);
	}
	world->begins_at = shapes->count + 1u; /* the shapes, and the first checkpoint */
	options.knows_sessions = recovered != NULL;
	status = host_create(&options, engine_world, shapes, service->executor, world_reports,
			     world, &world->host);
	if (status != STATUS_OK) {
		keyframes_release(options.keyframes);
		drop_journal(service, world, options.journal, recovered == NULL);
		return reason_set(why, status, -1, "name", "%s", status_text(status));
	}
	add_snapshots(world->host, recovered);
	if (recovered != NULL) {
		memcpy(world->recording.name, recovered->recording, sizeof world->recording.name);
		world->recording.running = recovered->recording[0] != '\0';
	}
	return STATUS_OK;
}

/* Decides whether the world has a file, and how its answers wait for it. */
static enum status choose_durability(const struct service *service, struct served_world *world,
				     const struct world_start *start,
				     const struct recovered *recovered, struct reason *why)
{
	world->own_durability = start->own_durability;
	world->durability = start->own_durability ? start->durability : service_durability(service);
	if (recovered != NULL)
		world->durability = recovered->durability;
	if (service->store == NULL && world->durability != DURABILITY_OFF)
		return reason_set(
			why, STATUS_RANGE, -1, "durability",
			"durability \"%s\" needs a data directory, and the server has none "
			"(--data); use \"off\"",
			durability_name(world->durability));
	return STATUS_OK;
}

/* By number, ascending. */
static void insert_world(struct worlds *worlds, struct served_world *world)
{
	uint32_t at = worlds->items.count++;
	for (; at > 0 && worlds->items.items[at - 1]->number > world->number; at--)
		worlds->items.items[at] = worlds->items.items[at - 1];
	worlds->items.items[at] = world;
}

enum status worlds_add(struct service *service, const char *name, struct world *engine_world,
		       struct shape_library *shapes, const struct world_start *start,
		       struct recovered *recovered, struct served_world **out, struct reason *why)
{
	struct worlds *worlds = service->worlds;
	if (worlds_find_name(worlds, name) != NULL)
		return reason_set(why, STATUS_EXISTS, -1, "name", "a world %s exists already",
				  name);
	if (worlds->items.count >= service->options->worlds_max)
		return reason_set(why, STATUS_LIMIT, -1, "name",
				  "%llu worlds are in service, the limit (--worlds-max)",
				  (unsigned long long)service->options->worlds_max);
	struct served_world *world = heap_alloc_zero(sizeof *world);
	if (world == NULL || ARRAY_RESERVE(&worlds->items, worlds->items.count + 1u) != STATUS_OK) {
		heap_free(world);
		return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				  status_text(STATUS_NO_MEMORY));
	}
	world->service = service;
	/* The number of the last daemon, because sessions that are resumed know the world by it. */
	uint32_t before = recovered != NULL ? session_file_world(service->store, name) : 0;
	world->number =
		before != 0 && worlds_find(worlds, before) == NULL ? before : ++worlds->next_number;
	snprintf(world->name, sizeof world->name, "%s", name);
	world->info = world_info(engine_world);
	world->stats = world_stats(engine_world);
	world->tick = world->info.tick;
	world->edit = world->info.edit;
	world->epoch = world->info.epoch;
	/* A recovered world has its mode from before the restart, if that is known; it runs only if
	 * `running` is set. */
	struct journal_pace pace = { .mode = start->running ? WIRE_MODE_RUNNING
							    : WIRE_MODE_PAUSED };
	if (recovered != NULL && recovered->has_pace)
		pace = recovered->pace;
	if (pace.mode == WIRE_MODE_RUNNING && !start->running)
		pace.mode = WIRE_MODE_PAUSED;
	world->mode = pace.mode;
	world->pace = pace.speed > 0 ? pace.speed : TICK_SPEED_NORMAL;
	enum status status = choose_durability(service, world, start, recovered, why);
	if (status == STATUS_OK)
		status = make_host(service, world, engine_world, shapes, &pace, recovered, why);
	if (status != STATUS_OK) {
		free_world(world);
		return status;
	}
	insert_world(worlds, world);
	if (service->store != NULL)
		session_file_put_world(service->store, name, world->number);
	*out = world;
	return STATUS_OK;
}

enum status worlds_start(struct service *service, struct served_world *world)
{
	return host_start(world->host, service->pool);
}

/* Removes a world from the list. */
static void remove_world(struct worlds *worlds, const struct served_world *world)
{
	uint32_t at = 0;
	while (worlds->items.items[at] != world)
		at++;
	worlds->items.count--;
	memmove(&worlds->items.items[at], &worlds->items.items[at + 1],
		(worlds->items.count - at) * sizeof *worlds->items.items);
}

enum status worlds_open(struct service *service, const char *name, struct world *world,
			struct shape_library *shapes, const struct world_start *start,
			struct served_world **out, struct reason *why)
{
	enum status status = worlds_add(service, name, world, shapes, start, NULL, out, why);
	if (status != STATUS_OK) {
		world_destroy(world);
		return status;
	}
	struct served_world *served = *out;
	status = worlds_start(service, served);
	if (status == STATUS_OK)
		return status;
	remove_world(service->worlds, served);
	host_destroy(served->host); /* closes the journal */
	served->host = NULL;
	drop_journal(service, served, NULL, true);
	free_world(served);
	return reason_set(why, status, -1, "name", "%s", status_text(status));
}

void worlds_check(struct service *service, uint64_t now)
{
	for (uint32_t i = 0; i < service->worlds->items.count; i++) {
		struct served_world *world = service->worlds->items.items[i];
		if (world->stopping)
			continue;
		host_post_notes(world->host);
		worlds_watch(world);
		fanout_check(world->fanout, now);
		if (fanout_is_serving(world->fanout))
			executor_wake(service->executor, EXECUTOR_LOOP, &service->serving);
		if (fanout_is_watched(world->fanout) && !fanout_has_mirror(world->fanout))
			world_reports_request_whole(world);
	}
	travels_check(service, now);
	travel_sync_test(service, now);
}

void worlds_end_rounds(struct service *service)
{
	struct round_times *rounds = &service->rounds;
	uint64_t now = io_now(service->io);
	rounds->open = 0;
	for (uint32_t i = 0; i < service->worlds->items.count; i++) {
		struct served_world *world = service->worlds->items.items[i];
		if (world->round_at == 0)
			continue;
		if (fanout_is_serving(world->fanout)) {
			rounds->open++;
			continue;
		}
		rounds->ns[rounds->count++ % ROUNDS_KEPT] =
			(uint32_t)MIN_OF(now - world->round_at, (uint64_t)UINT32_MAX);
		world->round_at = 0;
	}
}

void worlds_serve(void *context)
{
	struct service *service = context;
	struct worlds *worlds = service->worlds;
	uint64_t now = io_now(service->io);
	uint32_t count = worlds->items.count, i = 0;
	bool more = false;
	/* The next turn begins with the world at which this one stopped. */
	for (; i < count && service_turn_has_budget(service, TURN_SERVING); i++) {
		struct served_world *world = worlds->items.items[(worlds->serve_from + i) % count];
		uint64_t before = fanout_work(world->fanout);
		if (!fanout_is_serving(world->fanout))
			continue;
		more = fanout_continue(world->fanout, now) || more;
		service_turn_spend(service, TURN_SERVING,
				   SLICE_WORK + fanout_work(world->fanout) - before);
	}
	worlds->serve_from = count > 0 ? (worlds->serve_from + i) % count : 0;
	if (more || i < count)
		executor_wake(service->executor, EXECUTOR_LOOP, &service->serving);
}

/* LOOP: the host has stopped; no thread uses the world any more. */
static void on_stopped(struct host *host, void *context)
{
	struct served_world *world = context;
	struct service *service = world->service;
	struct worlds *worlds = service->worlds;
	UNUSED(host);
	remove_world(worlds, world);
	worlds->stopping--;
	enum status status = STATUS_OK;
	struct reason why;
	if (world->remove_file && service->store != NULL)
		session_file_remove_world(service->store, world->name);
	if (world->remove_file && world->has_journal)
		status = store_remove_world(service->store, world->name, &why);
	struct session *requester = registry_find(&service->sessions, world->destroyed_by);
	if (requester != NULL) {
		struct message about;
		message_init(&about, MESSAGE_WORLD_DESTROY);
		about.world_destroy.ref = world->destroyed_ref;
		if (status == STATUS_OK)
			session_done(requester, &about);
		else
			session_refuse(requester, &about, &why);
	}
	free_world(world);
	service->calls->world_ended(service);
}

void worlds_stop(struct service *service, struct served_world *world, bool remove_file)
{
	if (world->stopping)
		return;
	world->stopping = true;
	world->remove_file = remove_file;
	service->worlds->stopping++;
	for (uint32_t i = 0; i < service->sessions.items.count; i++)
		worlds_expel(world, service->sessions.items.items[i]);
	host_stop(world->host, on_stopped, world);
}
