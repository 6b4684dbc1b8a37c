/* web_metrics.c: the counters of INFO as Prometheus reads them.
 *
 * Labels are bounded: the first METRICS_WORLDS worlds by number have lines of their own, the sum of
 * the others has world="" (names of worlds cannot be empty).
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/session.h"
#include "server/web/web_internal.h"
#include "server/worlds/worlds.h"

enum { METRICS_WORLDS = 64 };

struct page {
	struct bytes *out;
	enum status status;
};

PRINTF_LIKE(2, 3) static void put(struct page *page, const char *format, ...)
{
	char line[512];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (page->status == STATUS_OK)
		page->status =
			bytes_append(page->out, line, MIN_OF((size_t)length, sizeof line - 1));
}

static void one(struct page *page, const char *name, const char *type, const char *help,
		uint64_t value)
{
	put(page, "# HELP cairn_%s %s\n# TYPE cairn_%s %s\ncairn_%s %" PRIu64 "\n", name, help,
	    name, type, name, value);
}

/* The figures of each world. */
enum world_metric {
	WORLD_TICK,
	WORLD_TICKS,
	WORLD_HERE,
	WORLD_LATE,
	WORLD_DROPPED,
	WORLD_STALLS,
	WORLD_PACE,
	WORLD_BODIES,
	WORLD_AWAKE,
	WORLD_CONTACTS,
	WORLD_MEMORY,
	WORLD_ISLANDS,
	WORLD_ISLANDS_DENSE,
	WORLD_ISLANDS_SPARSE,
	WORLD_ISLANDS_DEPENDENT,
	WORLD_ISLANDS_REDUCED,
	WORLD_ISLANDS_MAXIMAL,
	WORLD_TAUT,
	WORLD_SAGGING,
	WORLD_ITERATIONS,
	WORLD_FALLBACKS,
	WORLD_QUARANTINED,
	WORLD_SWEPT,
	WORLD_SWEEP_STOPS,
	WORLD_SWEEP_CORES,
	WORLD_SWEEP_PAIRS,
	WORLD_SWEEP_LIMITS,
#define IMPACT_METRIC(name, NAME, text) WORLD_IMPACT_##NAME,
	IMPACT_COUNTS(IMPACT_METRIC)
#undef IMPACT_METRIC
		WORLD_BATCHES,
	WORLD_REFUSED,
	WORLD_INBOX,
	WORLD_SUBSCRIPTIONS,
	WORLD_FRAMES,
	WORLD_SKIPPED,
	WORLD_EVENTS_LOST,
	WORLD_DURABLE,
	WORLD_FILE,
	WORLD_FILE_FREE,
	WORLD_CHECKPOINTS_PRUNED,
	WORLD_RECORDS_PRUNED,
	WORLD_PRUNE_FAILURES,
	WORLD_NOT_STORED,
	WORLD_COMMITS,
	WORLD_COMMIT_NS,
	WORLD_COMMIT_NS_MAX,
	WORLD_COMMITS_BUSY,
	WORLD_METRICS
};

/* table */
static const char *const WORLD_TEXTS[WORLD_METRICS][3] = {
	[WORLD_TICK] = { "world_tick", "gauge", "Last tick completed." },
	[WORLD_TICKS] = { "world_ticks_total", "counter", "Ticks made by this process." },
	[WORLD_HERE] = { "world_loop_slices_total", "counter",
			 "Slices of the world run by the loop thread." },
	[WORLD_LATE] = { "world_ticks_late_total", "counter",
			 "Ticks that began at least one period late." },
	[WORLD_DROPPED] = { "world_ticks_dropped_total", "counter",
			    "Ticks dropped because the world fell behind." },
	[WORLD_STALLS] = { "world_stalls_total", "counter",
			   "Times that stepping waited for the loop or the disk." },
	[WORLD_PACE] = { "world_pace_permille", "gauge", "World time per wall time, thousandths." },
	[WORLD_BODIES] = { "world_bodies", "gauge", "Bodies alive." },
	[WORLD_AWAKE] = { "world_bodies_awake", "gauge", "Bodies awake." },
	[WORLD_CONTACTS] = { "world_contacts", "gauge", "Contacts." },
	[WORLD_MEMORY] = { "world_memory_bytes", "gauge", "Memory of the simulation." },
	[WORLD_ISLANDS] = { "world_islands", "gauge",
			    "Islands of bodies that touch, in the last tick." },
	[WORLD_ISLANDS_DENSE] = { "world_islands_dense", "gauge",
				  "Islands solved by the dense solver." },
	[WORLD_ISLANDS_SPARSE] = { "world_islands_sparse", "gauge",
				   "Islands solved by the sparse solver." },
	[WORLD_ISLANDS_DEPENDENT] = { "world_islands_dependent", "gauge",
				      "Islands whose contact forces are not unique." },
	[WORLD_ISLANDS_REDUCED] = { "world_islands_reduced", "gauge",
				    "Islands whose joints are part of the masses." },
	[WORLD_ISLANDS_MAXIMAL] = { "world_islands_maximal", "gauge",
				    "Islands whose joints are rows for their structure." },
	[WORLD_TAUT] = { "world_taut", "gauge",
			 "Bodies that joints made too stiff for a sub-step." },
	[WORLD_SAGGING] = { "world_sagging", "gauge",
			    "Bodies too thin for the contact springs of soft-step." },
	[WORLD_ITERATIONS] = { "world_iterations", "gauge",
			       "Iterations of the solvers in the last tick." },
	[WORLD_FALLBACKS] = { "world_fallbacks_total", "counter",
			      "Times that a method used its fallback." },
	[WORLD_QUARANTINED] = { "world_quarantined_total", "counter", "Bodies quarantined." },
	[WORLD_SWEPT] = { "world_swept_total", "counter", "Paths of fast bodies searched." },
	[WORLD_SWEEP_STOPS] = { "world_sweep_stops_total", "counter",
				"Fast bodies stopped before an obstacle." },
	[WORLD_SWEEP_CORES] = { "world_sweep_cores_total", "counter",
				"Bodies stopped by their core." },
	[WORLD_SWEEP_PAIRS] = { "world_sweep_pairs_total", "counter",
				"Pairs of fast bodies that stopped each other." },
	[WORLD_SWEEP_LIMITS] = { "world_sweep_limits_total", "counter",
				 "Searches of a path that ended without an answer." },
#define IMPACT_METRIC(name, NAME, text)                                                            \
	[WORLD_IMPACT_##NAME] = { "world_impact_" #name "_total", "counter", text },
	IMPACT_COUNTS(IMPACT_METRIC)
#undef IMPACT_METRIC
		[WORLD_BATCHES] = { "world_batches_total", "counter",
				    "Batches of commands applied." },
	[WORLD_REFUSED] = { "world_batches_refused_total", "counter", "Batches refused." },
	[WORLD_INBOX] = { "world_inbox_batches", "gauge", "Batches that wait for a tick." },
	[WORLD_SUBSCRIPTIONS] = { "world_subscriptions", "gauge", "Subscriptions." },
	[WORLD_FRAMES] = { "world_frames_sent_total", "counter", "Frames of state sent." },
	[WORLD_SKIPPED] = { "world_frames_skipped_total", "counter",
			    "Frames skipped for slow clients." },
	[WORLD_EVENTS_LOST] = { "world_events_lost_total", "counter", "Events dropped." },
	[WORLD_DURABLE] = { "world_durable_tick", "gauge", "Last tick that is on disk." },
	[WORLD_FILE] = { "world_file_bytes", "gauge",
			 "Bytes of the world's file, without its log." },
	[WORLD_FILE_FREE] = { "world_file_free_bytes", "gauge",
			      "Free bytes of the file, which are reused." },
	[WORLD_CHECKPOINTS_PRUNED] = { "world_checkpoints_pruned_total", "counter",
				       "Checkpoints removed because of their age." },
	[WORLD_RECORDS_PRUNED] = { "world_records_pruned_total", "counter",
				   "Rows of the journal removed because of their age." },
	[WORLD_PRUNE_FAILURES] = { "world_prune_failures_total", "counter",
				   "Removals that failed." },
	[WORLD_NOT_STORED] = { "world_not_stored", "gauge",
			       "1: the world's file cannot be written any more." },
	[WORLD_COMMITS] = { "world_commits_total", "counter", "Transactions on the world's file." },
	[WORLD_COMMIT_NS] = { "world_commit_nanoseconds_total", "counter",
			      "Time that they took, with the disk's." },
	[WORLD_COMMIT_NS_MAX] = { "world_commit_nanoseconds_max", "gauge", "The longest of them." },
	[WORLD_COMMITS_BUSY] = { "world_commits_busy_total", "counter",
				 "Transactions put off because the file was locked." },
};

static void read_world(const struct served_world *world, uint64_t values[WORLD_METRICS])
{
	struct host_counters host;
	struct fanout_counters fanout;
	host_counters(world->host, &host);
	fanout_counters(world->fanout, &fanout);
	values[WORLD_TICK] = world->tick;
	values[WORLD_TICKS] = tick_costs_count(&host.costs);
	values[WORLD_HERE] = host.slices_on_loop;
	values[WORLD_LATE] = host.late;
	values[WORLD_DROPPED] = host.dropped;
	values[WORLD_STALLS] = host.stalls;
	values[WORLD_PACE] = world->pace;
	values[WORLD_BODIES] = world->stats.bodies;
	values[WORLD_AWAKE] = world->stats.awake;
	values[WORLD_CONTACTS] = world->stats.contacts;
	values[WORLD_MEMORY] = world->stats.memory_bytes;
	values[WORLD_ISLANDS] = world->stats.islands;
	values[WORLD_ISLANDS_DENSE] = world->stats.islands_dense;
	values[WORLD_ISLANDS_SPARSE] = world->stats.islands_sparse;
	values[WORLD_ISLANDS_DEPENDENT] = world->stats.islands_dependent;
	values[WORLD_ISLANDS_REDUCED] = world->stats.islands_reduced;
	values[WORLD_ISLANDS_MAXIMAL] = world->stats.islands_maximal;
	values[WORLD_TAUT] = world->stats.taut;
	values[WORLD_SAGGING] = world->stats.sagging;
	values[WORLD_ITERATIONS] = world->stats.iterations;
	values[WORLD_FALLBACKS] = world->stats.fallbacks_total;
	values[WORLD_QUARANTINED] = world->stats.quarantined_total;
	values[WORLD_SWEPT] = world->stats.sweeps_total.bodies;
	values[WORLD_SWEEP_STOPS] = world->stats.sweeps_total.stops;
	values[WORLD_SWEEP_CORES] = world->stats.sweeps_total.cores;
	values[WORLD_SWEEP_PAIRS] = world->stats.sweeps_total.pairs;
	values[WORLD_SWEEP_LIMITS] = world->stats.sweeps_total.limits;
#define IMPACT_METRIC(name, NAME, text)                                                            \
	values[WORLD_IMPACT_##NAME] = world->stats.impact_total.name;
	IMPACT_COUNTS(IMPACT_METRIC)
#undef IMPACT_METRIC
	values[WORLD_BATCHES] = host.batches;
	values[WORLD_REFUSED] = host.refused;
	values[WORLD_INBOX] = host.inbox;
	values[WORLD_SUBSCRIPTIONS] = fanout.subscriptions;
	values[WORLD_FRAMES] = fanout.frames;
	values[WORLD_SKIPPED] = fanout.skipped;
	values[WORLD_EVENTS_LOST] = fanout.events_lost;
	values[WORLD_DURABLE] = world->durable_tick;
	values[WORLD_FILE] = world->figures.file_bytes;
	values[WORLD_FILE_FREE] = world->figures.free_bytes;
	values[WORLD_CHECKPOINTS_PRUNED] = world->figures.checkpoints_pruned;
	values[WORLD_RECORDS_PRUNED] = world->figures.records_pruned;
	values[WORLD_PRUNE_FAILURES] = world->figures.prune_failures;
	values[WORLD_NOT_STORED] = world->journal_failure.status != STATUS_OK;
	values[WORLD_COMMITS] = world->figures.commits;
	values[WORLD_COMMIT_NS] = world->figures.commit_ns;
	values[WORLD_COMMIT_NS_MAX] = world->figures.commit_ns_max;
	values[WORLD_COMMITS_BUSY] = world->figures.busy;
}

struct world_row {
	const char *name;
	uint64_t values[WORLD_METRICS];
	double residual, impact_error, push_work; /* the greatest, and the sum */
	struct tick_costs costs;
	struct profile_sums stages;
};

static void add_figures(struct world_row *row, const struct served_world *world)
{
	const struct world_stats *stats = &world->stats;
	struct host_counters host;
	host_counters(world->host, &host);
	tick_costs_merge(&row->costs, &host.costs);
	for (int stage = 0; stage < PROFILE_STAGES; stage++)
		row->stages.ns[stage] += host.stages.ns[stage];
	row->stages.ticks += host.stages.ticks;
	row->residual = stats->residual > row->residual ? stats->residual : row->residual;
	row->impact_error =
		stats->impact_error > row->impact_error ? stats->impact_error : row->impact_error;
	row->push_work += stats->push_work_total;
}

/* Returns the number of rows; `seen` gets the number of worlds. */
static uint32_t read_worlds(const struct worlds *worlds, const struct grant *grant,
			    struct world_row rows[METRICS_WORLDS + 1], uint32_t *seen)
{
	struct world_row *rest = &rows[METRICS_WORLDS];
	memset(rest, 0, sizeof *rest);
	rest->name = "";
	*seen = 0;
	for (uint32_t i = 0; i < worlds->items.count; i++) {
		const struct served_world *world = worlds->items.items[i];
		uint64_t values[WORLD_METRICS];
		if (!grant_allows_world(grant, world->name))
			continue;
		if (*seen < METRICS_WORLDS) {
			rows[*seen] = (struct world_row){ .name = world->name };
			read_world(world, rows[*seen].values);
			add_figures(&rows[*seen], world);
		} else {
			read_world(world, values);
			for (int m = 0; m < WORLD_METRICS; m++)
				rest->values[m] += values[m];
			add_figures(rest, world);
		}
		(*seen)++;
	}
	return MIN_OF(*seen, (uint32_t)METRICS_WORLDS + 1);
}

static uint32_t count_refused(const struct service *service, const struct grant *grant)
{
	uint32_t count = 0, seen = 0;
	const struct refused_file *files =
		service->store != NULL ? store_refused(service->store, &count) : NULL;
	for (uint32_t i = 0; i < count; i++)
		seen += grant_allows_world(grant, files[i].name);
	return seen;
}

static void put_reals(struct page *page, const struct world_row *rows, uint32_t count)
{
	if (count > 0)
		put(page, "# HELP cairn_world_residual The method's own measure of its answer in "
			  "the last tick.\n"
			  "# TYPE cairn_world_residual gauge\n");
	for (uint32_t i = 0; i < count; i++)
		put(page, "cairn_world_residual{world=\"%s\"} %.9g\n", rows[i].name,
		    rows[i].residual);
	if (count > 0)
		put(page, "# HELP cairn_world_impact_error_meters Largest estimated error of a "
			  "part of the last tick under impact.\n"
			  "# TYPE cairn_world_impact_error_meters gauge\n");
	for (uint32_t i = 0; i < count; i++)
		put(page, "cairn_world_impact_error_meters{world=\"%s\"} %.9g\n", rows[i].name,
		    rows[i].impact_error);
	if (count > 0)
		put(page, "# HELP cairn_world_push_work_joules_total Energy that correcting "
			  "penetration has added to bodies.\n"
			  "# TYPE cairn_world_push_work_joules_total counter\n");
	for (uint32_t i = 0; i < count; i++)
		put(page, "cairn_world_push_work_joules_total{world=\"%s\"} %.9g\n", rows[i].name,
		    rows[i].push_work);
}

/* A histogram as Prometheus has it: counts of costs up to each bound, in seconds. */
static void put_costs(struct page *page, const struct world_row *rows, uint32_t count)
{
	if (count > 0)
		put(page,
		    "# HELP cairn_world_tick_seconds Time that a tick took: processor time, or "
		    "wall time where the loop or a series of ticks made it.\n"
		    "# TYPE cairn_world_tick_seconds histogram\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct tick_costs *costs = &rows[i].costs;
		uint64_t sum = 0;
		for (uint32_t k = 0; k + 1 < TICK_COST_BUCKETS; k++) {
			sum += costs->counts[k];
			put(page,
			    "cairn_world_tick_seconds_bucket{world=\"%s\",le=\"%.9g\"} %" PRIu64
			    "\n",
			    rows[i].name, (double)tick_costs_bound(k) / (double)NS_PER_S, sum);
		}
		put(page,
		    "cairn_world_tick_seconds_bucket{world=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
		    "cairn_world_tick_seconds_sum{world=\"%s\"} %.9g\n"
		    "cairn_world_tick_seconds_count{world=\"%s\"} %" PRIu64 "\n",
		    rows[i].name, tick_costs_count(costs), rows[i].name,
		    (double)costs->sum / (double)NS_PER_S, rows[i].name, tick_costs_count(costs));
	}
}

/* Divide the rate of a stage by that of all stages: not every tick is profiled. */
static void put_stages(struct page *page, const struct world_row *rows, uint32_t count)
{
	if (count > 0)
		put(page,
		    "# HELP cairn_world_stage_seconds_total Time in a stage, of the ticks that were "
		    "profiled.\n# TYPE cairn_world_stage_seconds_total counter\n");
	for (uint32_t i = 0; i < count; i++)
		for (int stage = 0; stage < PROFILE_STAGES; stage++)
			put(page,
			    "cairn_world_stage_seconds_total{world=\"%s\",stage=\"%s\"} %.9g\n",
			    rows[i].name, profile_stage_name((enum profile_stage)stage),
			    (double)rows[i].stages.ns[stage] / (double)NS_PER_S);
	if (count > 0)
		put(page, "# HELP cairn_world_profiled_ticks_total Ticks that were profiled.\n"
			  "# TYPE cairn_world_profiled_ticks_total counter\n");
	for (uint32_t i = 0; i < count; i++)
		put(page, "cairn_world_profiled_ticks_total{world=\"%s\"} %" PRIu64 "\n",
		    rows[i].name, rows[i].stages.ticks);
}

static void put_worlds(struct page *page, const struct service *service, const struct grant *grant)
{
	static struct world_row rows[METRICS_WORLDS + 1];
	uint32_t seen, count = read_worlds(service->worlds, grant, rows, &seen);
	one(page, "worlds", "gauge", "Worlds in service.", seen);
	one(page, "files_refused", "gauge", "Files of the data directory that were refused.",
	    count_refused(service, grant));
	for (int m = 0; m < WORLD_METRICS && count > 0; m++) {
		const char *const *text = WORLD_TEXTS[m];
		put(page, "# HELP cairn_%s %s\n# TYPE cairn_%s %s\n", text[0], text[2], text[0],
		    text[1]);
		for (uint32_t i = 0; i < count; i++)
			put(page, "cairn_%s{world=\"%s\"} %" PRIu64 "\n", text[0], rows[i].name,
			    rows[i].values[m]);
	}
	put_reals(page, rows, count);
	put_costs(page, rows, count);
	put_stages(page, rows, count);
}

static void put_sessions(struct page *page, const struct service *service)
{
	uint64_t by_role[WIRE_ROLE_ADMIN + 1] = { 0 };
	for (uint32_t i = 0; i < service->sessions.items.count; i++)
		by_role[session_role(service->sessions.items.items[i])]++;
	put(page, "# HELP cairn_sessions Sessions by role; none: before HELLO.\n"
		  "# TYPE cairn_sessions gauge\n");
	for (int role = 0; role <= WIRE_ROLE_ADMIN; role++)
		put(page, "cairn_sessions{role=\"%s\"} %" PRIu64 "\n",
		    role == WIRE_ROLE_NOBODY ? "none" : wire_role_name((enum wire_role)role),
		    by_role[role]);
	one(page, "sessions_opened_total", "counter", "Connections that became sessions.",
	    service->sessions.opened);
	one(page, "sessions_greeting", "gauge", "Connections before HELLO.",
	    service->sessions.greeting);
	one(page, "address_refused_total", "counter",
	    "Connections refused by the limits per address.", service->address_limits.refused);
	one(page, "tokens_admitted_total", "counter", "Tokens that were accepted.",
	    service->keyring.admitted);
	one(page, "tokens_refused_total", "counter", "Tokens that were refused.",
	    service->keyring.refused);
	if (service->tls == NULL)
		return;
	const struct tls_counters *tls = tls_context_counters(service->tls);
	one(page, "tls_handshakes_total", "counter", "TLS handshakes completed.", tls->handshakes);
	one(page, "tls_failures_total", "counter", "TLS handshakes that failed.", tls->failures);
}

enum status web_metrics(struct service *service, const struct grant *grant, struct bytes *out)
{
	struct page page = { out, STATUS_OK };
	const struct io_counters *io = io_counters(service->io);
	struct frame_pool_counters frames;
	struct pool_counters pool;
	frame_pool_counters(service->frames, &frames);
	pool_counters(service->pool, &pool);
	put(&page,
	    "# HELP cairn_build_info What is running.\n# TYPE cairn_build_info gauge\n"
	    "cairn_build_info{version=\"%s\",abi=\"%s\"} 1\n",
	    PACKAGE_VERSION, service->abi);
	one(&page, "ready", "gauge", "1 if new sessions are accepted.", !service->draining);
	one(&page, "workers", "gauge", "Threads that step worlds.",
	    executor_workers(service->executor));
	put_sessions(&page, service);
	one(&page, "streams", "gauge", "Connections open.", io->streams);
	one(&page, "streams_accepted_total", "counter", "Connections accepted.", io->accepted);
	one(&page, "streams_refused_total", "counter",
	    "Connections refused by the limit of their number.", io->refused);
	one(&page, "received_bytes_total", "counter", "Bytes received.", io->bytes_in);
	one(&page, "sent_bytes_total", "counter", "Bytes sent.", io->bytes_out);
	one(&page, "writes_total", "counter", "Writes that reached the kernel.", io->writes);
	one(&page, "writes_short_total", "counter", "Writes that the kernel took in part only.",
	    io->writes_short);
	one(&page, "writes_refused_total", "counter", "Writes refused because the queue was full.",
	    io->writes_refused);
	one(&page, "queued_bytes", "gauge", "Bytes queued in this process.", io->queued_bytes);
	one(&page, "loop_slices_total", "counter", "Slices of worlds run by the loop thread.",
	    pool.slices);
	one(&page, "loop_refused_busy_total", "counter",
	    "Slices left to a worker because it was stepping the world.", pool.busy);
	one(&page, "loop_refused_costly_total", "counter",
	    "Slices left to a worker because of their cost.", pool.costly);
	one(&page, "frames_live", "gauge", "Frames in memory.", frames.live);
	one(&page, "frames_made_total", "counter", "Frames taken from the heap.", frames.made);
	one(&page, "frames_reused_total", "counter", "Frames taken from the pool.", frames.reused);
	one(&page, "heap_blocks", "gauge", "Blocks on the heap.", (uint64_t)MAX_OF(heap_live(), 0));
	one(&page, "heap_calls_total", "counter", "Calls of the heap.", heap_calls_total());
	one(&page, "log_lines_lost_total", "counter", "Log lines dropped because the log was full.",
	    log_lost());
	put_worlds(&page, service, grant);
	return page.status;
}
