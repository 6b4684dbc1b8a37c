/* host.c: a host's life, and how requests of the loop thread reach its worker.
 *
 * Requests are letters: one allocation each, put into the runnable's mailbox by the loop, opened on the
 * worker between two slices. Batches take the inbox instead, which orders them.
 */
#include "server/host/host.h"

#include <string.h>

#include <stdio.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

struct host_options host_options_default(void)
{
	return (struct host_options){
		.budget = SCHEDULE_BUDGET_DEFAULT,
		.checkpoint_ticks = 3600,
		.inbox_batches = 8192,
		.inbox_bytes = 16u << 20,
		.snapshots_max = 64,
		.snapshot_bytes_max = 1u << 30,
	};
}

/* ---- reports ----------------------------------------------------------------------------------- */

void host_send(struct host *host, struct report *report)
{
	report_queue_push(&host->reports, report);
	executor_ring(host->executor, EXECUTOR_LOOP, &host->bell);
}

struct report *host_reply_new(struct host *host, enum reply_kind kind, uint8_t about,
			      uint32_t session, uint64_t ref)
{
	struct report *report = heap_alloc_zero(sizeof *report);
	if (report == NULL)
		return NULL;
	report->kind = REPORT_REPLY;
	struct world_info info = world_info(host->world);
	report->reply.kind = kind;
	report->reply.about = about;
	report->reply.session = session;
	report->reply.ref = ref;
	report->reply.tick = info.tick;
	report->reply.epoch = info.epoch;
	return report;
}

void host_refuse(struct host *host, enum reply_kind kind, uint8_t about, uint32_t session,
		 uint64_t ref, const struct reason *why)
{
	struct report *report = host_reply_new(host, kind, about, session, ref);
	if (report == NULL)
		return;
	host->refused++;
	report->reply.status = why->status;
	report->reply.why = *why;
	host_send(host, report);
}

static void answer_bell(void *context)
{
	struct host *host = context;
	host->on_reports(host, host->reports_context);
}

struct report *host_take_report(struct host *host)
{
	struct report *report = report_queue_take(&host->reports);
	if (report == NULL)
		return NULL;
	if (report->kind == REPORT_TICK) {
		host->seen.ticks += report->ticked.step;
		host->seen.late = report->ticked.late;
		host->seen.dropped = report->ticked.dropped;
		host->seen.fallbacks = report->ticked.stats.fallbacks_total;
		host->seen.batches += report->ticked.result_count;
	} else {
		host->seen.refused += report->reply.status != STATUS_OK;
	}
	/* Halfway down is early enough to wake a host that waits for room. */
	if (report_queue_count(&host->reports) == REPORTS_MAX / 2 && host->pool != NULL)
		pool_wake(&host->runnable);
	return report;
}

/* ---- life -------------------------------------------------------------------------------------- */

static const struct runnable_ops host_ops = { host_due, host_run };

enum status host_create(const struct host_options *options, struct world *world,
			struct shape_book *shapes, struct executor *executor,
			host_reports *reports, void *context, struct host **out)
{
	struct host *host = heap_alloc_zero(sizeof *host);
	if (host == NULL)
		return STATUS_NO_MEMORY;
	struct inbox_limits limits = { options->inbox_batches, options->inbox_bytes };
	enum status status = inbox_create(&limits, &host->inbox);
	if (status == STATUS_OK)
		status = arena_init(&host->scratch, 64u << 10);
	if (status != STATUS_OK) {
		if (host->inbox != NULL)
			inbox_destroy(host->inbox, NULL, NULL);
		heap_free(host);
		return status;
	}
	struct world_info info = world_info(world);
	host->runnable.ops = &host_ops;
	host->runnable.id = options->number;
	host->options = *options;
	host->world = world;
	host->executor = executor;
	host->journal = options->journal;
	host->on_reports = reports;
	host->reports_context = context;
	host->mode = WIRE_MODE_PAUSED;
	host->whole_due = true;
	host->checkpoint_tick = info.tick;
	host->shapes = *shapes;
	shape_book_init(shapes);
	world_set_shape_source(world, shape_book_source(&host->shapes));
	report_queue_init(&host->reports);
	bell_init(&host->bell, answer_bell, host);
	schedule_init(&host->schedule, (struct tick_rate){ info.rate_num, info.rate_den },
		      options->budget);
	*out = host;
	return STATUS_OK;
}

void host_destroy(struct host *host)
{
	inbox_destroy(host->inbox, waiting_batch_destroy, NULL);
	for (uint32_t i = 0; i < host->jobs.count; i++)
		step_job_release(&host->jobs.items[i]);
	ARRAY_RELEASE(&host->jobs);
	host_snapshots_release(host);
	report_queue_release(&host->reports);
	world_destroy(host->world);
	shape_book_release(&host->shapes);
	arena_release(&host->scratch);
	heap_free(host);
}

/* The shapes the world may use, then the state it begins with: the file stands alone from here. */
static enum status journal_beginning(struct host *host)
{
	struct world_info info = world_info(host->world);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < host->shapes.count && status == STATUS_OK; i++)
		status = journal_shape(host->journal, info.epoch, info.tick,
				       shape_book_at(&host->shapes, i));
	return status == STATUS_OK ? host_checkpoint(host, NULL, NULL) : status;
}

/* The first thing done on the worker: the first whole report and the first checkpoint. */
static void begin(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	UNUSED(context);
	if (host->journal != NULL && journal_beginning(host) != STATUS_OK) {
		struct reason why;
		reason_set(&why, STATUS_IO, -1, "journal", "the first checkpoint failed");
		host_fail(host, &why);
	}
	if (host->options.running && host->mode == WIRE_MODE_PAUSED) {
		host->mode = WIRE_MODE_RUNNING;
		schedule_run(&host->schedule, executor_now(host->executor));
	}
	host_report_tick(host, NULL, 0, NULL, 0);
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
	return pool_mail(&host->runnable, begin, NULL);
}

static void stopped(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	UNUSED(context);
	if (host->journal != NULL) {
		/* A failure loses nothing: the records before it are on disk and replay to here. */
		if (host_checkpoint(host, NULL, NULL) != STATUS_OK)
			host->refused++;
		journal_close(host->journal);
		host->journal = NULL;
	}
	host->on_stopped(host, host->stopped_context);
}

void host_stop(struct host *host, host_stopped *on_stopped, void *context)
{
	host->on_stopped = on_stopped;
	host->stopped_context = context;
	pool_remove(host->pool, &host->runnable, stopped, NULL);
}

uint32_t host_number(const struct host *host)
{
	return host->options.number;
}

const char *host_name(const struct host *host)
{
	return host->options.name;
}

void host_counters(const struct host *host, struct host_counters *out)
{
	*out = host->seen;
	out->reports = report_queue_count(&host->reports);
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

/* A copy with its packed commands right behind it. */
static struct waiting_batch *waiting_batch_of(const struct host_batch *batch)
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
	return status;
}

/* ---- letters ----------------------------------------------------------------------------------- */

struct letter {
	uint32_t session;
	uint64_t ref;
	uint32_t action;
	double value;
	char name[WIRE_NAME_MAX + 1], snapshot[WIRE_NAME_MAX + 1];
	struct shape *shape;   /* a reference */
	struct step_job job;   /* its commands owned */
	uint32_t query_bytes, query_count; /* behind the struct */
};

static struct letter *letter_new(uint32_t session, uint64_t ref, uint32_t extra)
{
	struct letter *letter = heap_alloc(sizeof *letter + extra);
	if (letter != NULL) {
		memset(letter, 0, sizeof *letter);
		letter->session = session;
		letter->ref = ref;
	}
	return letter;
}

static void letter_destroy(struct letter *letter)
{
	step_job_release(&letter->job);
	if (letter->shape != NULL)
		shape_release(letter->shape);
	heap_free(letter);
}

/* Posts a letter; it is taken in any case. */
static enum status post(struct host *host, runnable_mail *open, struct letter *letter)
{
	enum status status = pool_mail(&host->runnable, open, letter);
	if (status != STATUS_OK)
		letter_destroy(letter);
	return status;
}

static void open_step(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_step((struct host *)runnable, &letter->job);
	memset(&letter->job, 0, sizeof letter->job);
	letter_destroy(letter);
}

enum status host_step(struct host *host, const struct host_step *step)
{
	struct letter *letter = letter_new(step->session, step->request, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->job = (struct step_job){
		.session = step->session,
		.request = step->request,
		.from = step->from,
		.left = step->n,
		.want = step->want,
		.restricted = step->restricted,
	};
	if (step->list.count > 0) {
		struct host_batch batch = {
			.session = step->session,
			.batch = step->request | HOST_STEP_BATCH,
			.restricted = step->restricted,
			.list = step->list,
		};
		letter->job.commands = waiting_batch_of(&batch);
		if (letter->job.commands == NULL) {
			letter_destroy(letter);
			return STATUS_NO_MEMORY;
		}
	}
	return post(host, open_step, letter);
}

static void open_control(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_control((struct host *)runnable, letter->session, letter->ref,
			(enum wire_control)letter->action, letter->value);
	letter_destroy(letter);
}

enum status host_control(struct host *host, uint32_t session, uint64_t ref,
			 enum wire_control action, double value)
{
	struct letter *letter = letter_new(session, ref, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->action = action;
	letter->value = value;
	return post(host, open_control, letter);
}

static void open_gone(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_session_gone((struct host *)runnable, letter->session);
	letter_destroy(letter);
}

enum status host_session_gone(struct host *host, uint32_t session)
{
	struct letter *letter = letter_new(session, 0, 0);
	return letter != NULL ? post(host, open_gone, letter) : STATUS_NO_MEMORY;
}

static void open_report_whole(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	host->whole_due = true;
	host_report_tick(host, NULL, 0, NULL, 0);
	letter_destroy(context);
}

enum status host_report_whole(struct host *host)
{
	struct letter *letter = letter_new(0, 0, 0);
	return letter != NULL ? post(host, open_report_whole, letter) : STATUS_NO_MEMORY;
}

static void open_query(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	struct wire_list query = { (const uint8_t *)(letter + 1), letter->query_bytes,
				   letter->query_count };
	host_do_query((struct host *)runnable, letter->session, letter->ref, query);
	letter_destroy(letter);
}

enum status host_query(struct host *host, uint32_t session, uint64_t id, struct wire_list query)
{
	struct letter *letter = letter_new(session, id, query.bytes);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->query_bytes = query.bytes;
	letter->query_count = query.count;
	if (query.bytes > 0)
		memcpy(letter + 1, query.at, query.bytes);
	return post(host, open_query, letter);
}

static void open_save(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_save((struct host *)runnable, letter->session, letter->ref, letter->name);
	letter_destroy(letter);
}

static void open_restore(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_restore((struct host *)runnable, letter->session, letter->ref, letter->name);
	letter_destroy(letter);
}

static void open_fork(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_fork((struct host *)runnable, letter->session, letter->ref, letter->name,
		     letter->snapshot);
	letter_destroy(letter);
}

static enum status post_named(struct host *host, runnable_mail *open, uint32_t session,
			      uint64_t ref, const char *name, const char *snapshot)
{
	struct letter *letter = letter_new(session, ref, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	snprintf(letter->name, sizeof letter->name, "%s", name);
	snprintf(letter->snapshot, sizeof letter->snapshot, "%s", snapshot);
	return post(host, open, letter);
}

enum status host_save(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	return post_named(host, open_save, session, ref, name, "");
}

enum status host_restore(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	return post_named(host, open_restore, session, ref, name, "");
}

enum status host_fork(struct host *host, uint32_t session, uint64_t ref, const char *name,
		      const char *snapshot)
{
	return post_named(host, open_fork, session, ref, name, snapshot);
}

/* The world's book and its file learn the shape before the asker hears that they have. */
static void open_shape(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct letter *letter = context;
	struct reason why;
	enum status status = STATUS_OK;
	if (shape_book_find(&host->shapes, letter->shape->name) == NULL) {
		struct world_info info = world_info(host->world);
		if (host->journal != NULL)
			status = journal_shape(host->journal, info.epoch, info.tick, letter->shape);
		if (status == STATUS_OK)
			status = shape_book_add(&host->shapes, letter->shape);
	}
	if (status != STATUS_OK) {
		reason_set(&why, status, -1, "shape", "%s", status_text(status));
		host_refuse(host, REPLY_SHAPE, MESSAGE_SHAPE_UPLOAD, letter->session, letter->ref,
			    &why);
	} else {
		struct report *report = host_reply_new(host, REPLY_SHAPE, MESSAGE_SHAPE_UPLOAD,
						       letter->session, letter->ref);
		if (report != NULL) {
			memcpy(report->reply.shape.bytes, letter->shape->name, SHAPE_NAME_BYTES);
			host_send(host, report);
		}
	}
	letter_destroy(letter);
}

enum status host_shape(struct host *host, uint32_t session, uint64_t ref,
		       const struct shape *shape)
{
	struct letter *letter = letter_new(session, ref, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->shape = shape_retain(shape);
	return post(host, open_shape, letter);
}
