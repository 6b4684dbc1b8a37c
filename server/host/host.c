/* host.c: creation, start and end of a host, its replies, and its batches, which reach the worker through
 * the inbox because that orders them. Other requests are tasks of the pool (host_requests.c). */
#include "server/host/host.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

struct host_options host_options_default(void)
{
	return (struct host_options){
		.budget = SCHEDULE_BUDGET_DEFAULT,
		.checkpoint_ticks = 3600,
		.inbox_batches = 8192,
		.inbox_bytes = 16u << 20,
		.players = { .horizon_ticks = 600, .pending = 64, .forces = 64, .bodies = 256 },
		.snapshots_max = 64,
		.snapshot_bytes_max = 1u << 30,
		.moments_max = 256,
		.moment_bytes_max = 256u << 20,
	};
}

/* ---- reports ----------------------------------------------------------------------------------- */

void host_send(struct host *host, struct report *report)
{
	/* Answers of queries wait for no disk, and other threads send them. */
	bool answer = report->kind == REPORT_REPLY && report->reply.kind == REPLY_ANSWER;
	report->stored_at = 0;
	if (!answer && (host->journal_failed || host->journal_lost))
		report->stored_at = UINT64_MAX;
	else if (!answer && host->journal != NULL)
		report->stored_at = journal_records(host->journal);
	report_queue_push(&host->reports, report);
	if (host->on_loop)
		return;
	host->sent_in_slice = host->in_slice;
	if (!host->in_slice)
		executor_wake(host->executor, EXECUTOR_LOOP, &host->wakeup);
}

struct report *host_reply(struct host *host, struct requester *requester)
{
	struct report *report = requester->report;
	struct world_info info = world_info(host->world);
	ASSERT(report != NULL);
	requester->report = NULL;
	report->kind = REPORT_REPLY;
	memset(&report->reply, 0, sizeof report->reply);
	report->reply.kind = requester->kind;
	report->reply.about = requester->about;
	report->reply.session = requester->session;
	report->reply.ref = requester->ref;
	report->reply.tick = info.tick;
	report->reply.epoch = info.epoch;
	report->reply.edit = info.edit;
	report->reply.mode = (uint8_t)host->mode;
	return report;
}

void host_refuse(struct host *host, struct requester *requester, const struct reason *why)
{
	struct report *report = host_reply(host, requester);
	host->refused++;
	report->reply.status = why->status;
	report->reply.why = *why;
	host_send(host, report);
}

bool host_refuse_in_boundary(struct host *host, struct requester *requester)
{
	struct reason why;
	if (host->boundary.stage == BOUNDARY_IDLE || host->boundary.stage == BOUNDARY_ANSWER)
		return false;
	reason_set(&why, STATUS_NO_MEMORY, -1, "world",
		   "the world is in the middle of a tick that waits for memory: try again later");
	host_refuse(host, requester, &why);
	return true;
}

/* The report owns nothing yet. */
void requester_release(struct requester *requester)
{
	heap_free(requester->report);
	requester->report = NULL;
}

static void finish_stop(struct host *host);

static void answer_wakeup(void *context)
{
	struct host *host = context;
	host->on_reports(host, host->reports_context);
	/* The worker has run tasks, so the task queue may have room again. */
	host_post_notes(host);
	if (host->stop_due && atomic_load(&host->posted) == 0 &&
	    !atomic_load(&host->wakeup.pending))
		finish_stop(host);
}

void host_shape_query_returned(struct host *host)
{
	host->on_reports(host, host->reports_context);
	bool last = atomic_fetch_sub(&host->posted, 1) == 1;
	if (host->stop_due && last && !atomic_load(&host->wakeup.pending))
		finish_stop(host);
}

struct report *host_take_report(struct host *host)
{
	struct report *report = report_queue_take(&host->reports);
	if (report == NULL)
		return NULL;
	if (report->kind == REPORT_TICK) {
		host->counters.costs = report->ticked.costs;
		host->counters.stages = report->ticked.stages;
		host->counters.bodies = report->ticked.stats.bodies;
		host->counters.late = report->ticked.late;
		host->counters.dropped = report->ticked.dropped;
		host->counters.stalls = report->ticked.stalls;
		host->counters.fallbacks = report->ticked.stats.fallbacks_total;
		host->counters.batches += report->ticked.result_count;
	} else {
		host->counters.refused += report->reply.status != STATUS_OK;
	}
	/* At half of the queue a host that waits for room is woken, before the queue runs empty. */
	if (report_queue_count(&host->reports) == REPORTS_MAX / 2 && host->pool != NULL)
		pool_wake(&host->runnable);
	return report;
}

void host_return_report(struct host *host, struct report *report)
{
	if (report->kind == REPORT_TICK || host->spare != NULL) {
		report_queue_return(&host->reports, report);
		return;
	}
	report_release(report);
	host->spare = report;
}

struct report *host_take_spare(struct host *host)
{
	struct report *report = host->spare;
	host->spare = NULL;
	return report != NULL ? report : heap_alloc(sizeof *report);
}

/* ---- creation, start and end ------------------------------------------------------------------- */

static const struct runnable_ops host_ops = { host_due, host_run };

static enum status copy_pending(struct host *host, const struct world *world)
{
	uint32_t count = world_pending(world, NULL, 0);
	enum status status = ARRAY_RESERVE(&host->inherited, count);
	if (status == STATUS_OK)
		host->inherited.count = world_pending(world, host->inherited.items, count);
	return status;
}

/* The clock of profiles. */
static uint64_t read_clock(const void *executor)
{
	return executor_now(executor);
}

enum status host_create(const struct host_options *options, struct world *world,
			struct shape_library *shapes, struct executor *executor,
			host_reports *reports, void *context, struct host **out)
{
	struct host *host = heap_alloc_zero(sizeof *host);
	if (host == NULL)
		return STATUS_NO_MEMORY;
	struct inbox_limits limits = { options->inbox_batches, options->inbox_bytes };
	host->journal_note = host_journal_note();
	enum status status = host->journal_note != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = inbox_create(&limits, &host->inbox);
	if (status == STATUS_OK)
		status = arena_init(&host->scratch, 0);
	if (status == STATUS_OK && !options->knows_sessions)
		status = copy_pending(host, world);
	if (status != STATUS_OK) {
		ARRAY_RELEASE(&host->inherited);
		arena_release(&host->scratch);
		if (host->inbox != NULL)
			inbox_destroy(host->inbox, NULL, NULL);
		host_request_destroy(host->journal_note);
		heap_free(host);
		return status;
	}
	struct world_info info = world_info(world);
	host->runnable.ops = &host_ops;
	host->runnable.id = options->number;
	host->options = *options;
	host->world = world;
	host->executor = executor;
	host->profile = (struct profile){ .now = read_clock, .context = executor };
	host->journal = options->journal;
	host->on_reports = reports;
	host->reports_context = context;
	host->mode = WIRE_MODE_PAUSED;
	atomic_init(&host->not_running, true);
	atomic_init(&host->ticks_watched, true);
	atomic_init(&host->moments_kept, 0);
	atomic_init(&host->moments_bytes, 0);
	atomic_init(&host->rollbacks, 0);
	atomic_init(&host->ending, false);
	host->whole_due = true;
	host->start_due = options->is_new || info.tick == 0;
	/* Changes that a scene made before the first tick belong to a boundary that no step has closed. */
	struct world_changes changes = world_changes(world);
	host->open = changes.created_count + changes.moved_count + changes.changed_count +
			     changes.removed_count >
		     0;
	host->shapes = *shapes;
	shape_library_init(shapes);
	world_set_shape_source(world, shape_library_source(&host->shapes));
	report_queue_init(&host->reports);
	wakeup_init(&host->wakeup, answer_wakeup, host);
	schedule_init(&host->schedule, (struct tick_rate){ info.rate_num, info.rate_den },
		      options->budget);
	*out = host;
	return STATUS_OK;
}

void host_destroy(struct host *host)
{
	/* The journal is still open only if the server ended before its worlds. */
	if (host->journal != NULL)
		journal_close(host->journal);
	host_boundary_release(host);
	requester_release(&host->restorer);
	heap_free(host->spare);
	host_notes_release(host);
	inbox_destroy(host->inbox, waiting_batch_destroy, NULL);
	for (uint32_t i = 0; i < host->jobs.count; i++)
		step_job_release(&host->jobs.items[i]);
	ARRAY_RELEASE(&host->jobs);
	host_snapshots_release(host);
	host_moments_release(host);
	report_queue_release(&host->reports);
	world_destroy(host->world);
	shape_library_release(&host->shapes);
	arena_release(&host->scratch);
	ARRAY_RELEASE(&host->inherited);
	host_players_release(host);
	host_follow_release(host);
	heap_free(host);
}

/* The first task on the worker. */
static void begin_host(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	const struct journal_pace *pace = &host->options.pace;
	UNUSED(context);
	if (pace->speed > 0)
		schedule_set_speed(&host->schedule, MIN_OF(pace->speed, (uint32_t)TICK_SPEED_MAX),
				   executor_now(host->executor));
	/* No session holds the lease at first: the sessions of an earlier run are gone. */
	host_set_mode(host, (enum wire_mode)pace->mode);
	if (pace->mode == WIRE_MODE_BARRIER)
		host->barrier = MIN_OF(MAX_OF(pace->barrier, 1u), (uint32_t)STEP_JOBS_MAX);
	host_boundary_begin(host);
}

static void wake_host(void *context)
{
	pool_wake(context);
}

enum status host_start(struct host *host, struct pool *pool)
{
	enum status status = pool_add(pool, &host->runnable);
	if (status != STATUS_OK)
		return status;
	host->pool = pool;
	if (host->journal != NULL)
		journal_on_ready(host->journal, wake_host, &host->runnable);
	return pool_post(&host->runnable, begin_host, NULL);
}

/* The worker has released the host, and its wakeup is not pending. */
static void finish_stop(struct host *host)
{
	if (host->journal != NULL) {
		/* A failed checkpoint loses nothing: the records before it are on disk and replay to
		 * this state. In the middle of a boundary there is no state to store. */
		bool whole = host->boundary.stage == BOUNDARY_IDLE && !host->open;
		if (whole && host_checkpoint(host, NULL, NULL) != STATUS_OK)
			host->refused++;
		journal_close(host->journal);
		host->journal = NULL;
	}
	host->on_stopped(host, host->stopped_context);
}

/* Wakeups run in any order: that of the last reports may still be pending, and a shape query may still be
 * at ANSWERS. The host ends after both. */
static void on_runnable_removed(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	UNUSED(context);
	/* Room in the journal must no longer wake the host. */
	if (host->journal != NULL)
		journal_on_ready(host->journal, NULL, NULL);
	host->stop_due = atomic_load(&host->wakeup.pending) || atomic_load(&host->posted) > 0;
	if (!host->stop_due)
		finish_stop(host);
}

void host_stop(struct host *host, host_stopped *on_stopped, void *context)
{
	host->on_stopped = on_stopped;
	host->stopped_context = context;
	atomic_store(&host->ending, true);
	pool_remove(host->pool, &host->runnable, on_runnable_removed, NULL);
}

const char *host_name(const struct host *host)
{
	return host->options.name;
}

void host_counters(const struct host *host, struct host_counters *out)
{
	*out = host->counters;
	out->reports = report_queue_count(&host->reports);
	out->moments = atomic_load_explicit(&host->moments_kept, memory_order_relaxed);
	out->moment_bytes = atomic_load_explicit(&host->moments_bytes, memory_order_relaxed);
	out->rollbacks = atomic_load_explicit(&host->rollbacks, memory_order_relaxed);
	struct inbox_counters inbox;
	inbox_counters(host->inbox, &inbox);
	out->inbox = inbox.entries;
	out->refused += inbox.refused;
}

/* ---- batches ----------------------------------------------------------------------------------- */

void waiting_batch_destroy(void *batch, void *context)
{
	UNUSED(context);
	heap_free(batch);
}

/* Copies a batch; its packed commands follow in the same allocation. */
struct waiting_batch *waiting_batch_of(const struct host_batch *batch)
{
	struct waiting_batch *copy = heap_alloc(sizeof *copy + batch->list.bytes);
	if (copy == NULL)
		return NULL;
	copy->batch = *batch;
	copy->batch.list.at = (const uint8_t *)(copy + 1);
	if (batch->list.bytes > 0)
		memcpy(copy + 1, batch->list.at, batch->list.bytes);
	return copy;
}

enum status host_submit(struct host *host, const struct host_batch *batch)
{
	struct waiting_batch *copy = waiting_batch_of(batch);
	if (copy == NULL)
		return STATUS_NO_MEMORY;
	enum status status = inbox_put(host->inbox, batch->session, batch->batch, copy,
				       (uint32_t)sizeof *copy + batch->list.bytes);
	if (status != STATUS_OK)
		heap_free(copy);
	host->inbox_filled = host->inbox_filled || status == STATUS_OK;
	/* No batch is missed: the worker sets `not_running` before it takes the inbox's lock to read the
	 * inbox, and this thread reads `not_running` after it held that lock. */
	if (status == STATUS_OK && atomic_load(&host->not_running) && host->pool != NULL)
		pool_wake(&host->runnable);
	return status;
}
