/* host_requests.c: requests of the loop thread: one allocation each, posted as a task of the
 * runnable, executed on the worker between two slices; except a STEP of a small world, which LOOP
 * executes at once. A request that needs an answer carries the report for it, so the answer never
 * fails for want of memory. A note is a request without an answer that must arrive: it is
 * deferrable, and where the task queue is half full it waits in a list here until host_post_notes
 * finds room.
 * */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

struct host_request {
	struct host_request *next; /* of the notes that wait, or of a list */
	runnable_task *execute;
	struct requester requester;
	uint32_t action;
	double value;
	char name[WIRE_NAME_MAX + 1], snapshot[WIRE_NAME_MAX + 1];
	struct bytes image;		   /* owned */
	struct shape *shape;		   /* a reference */
	struct step_job job;		   /* its commands owned */
	struct journal_keep *keep;	   /* owned */
	uint32_t query_bytes, query_count; /* behind the struct */
};

void host_request_destroy(struct host_request *request)
{
	if (request == NULL)
		return;
	requester_release(&request->requester);
	step_job_release(&request->job);
	bytes_release(&request->image);
	heap_free(request->keep);
	if (request->shape != NULL)
		shape_release(request->shape);
	heap_free(request);
}

uint32_t host_request_session(const struct host_request *request)
{
	return request->requester.session;
}

struct host_request *host_request_next(const struct host_request *request)
{
	return request->next;
}

void host_request_put(struct host_request **list, struct host_request *request)
{
	request->next = *list;
	*list = request;
}

struct host_request *host_request_take(struct host_request **list)
{
	struct host_request *request = *list;
	if (request != NULL)
		*list = request->next;
	return request;
}

static struct host_request *create_note(uint32_t session, runnable_task *execute)
{
	struct host_request *request = heap_alloc_zero(sizeof *request);
	if (request == NULL)
		return NULL;
	request->execute = execute;
	request->requester.session = session;
	return request;
}

static struct host_request *create_request(struct host *host, runnable_task *execute,
					   struct requester requester, uint32_t extra)
{
	struct host_request *request = heap_alloc_zero(sizeof *request + extra);
	if (request == NULL)
		return NULL;
	requester.report = host_take_spare(host);
	if (requester.report == NULL) {
		heap_free(request);
		return NULL;
	}
	request->execute = execute;
	request->requester = requester;
	return request;
}

static void execute_step(struct runnable *runnable, void *context);

/* Posts a request; it is taken in any case. */
static enum status post_request(struct host *host, struct host_request *request)
{
	enum status status = request->execute == execute_step
				     ? pool_post_brief(&host->runnable, execute_step, request)
				     : pool_post(&host->runnable, request->execute, request);
	if (status != STATUS_OK)
		host_request_destroy(request);
	return status;
}

/* ---- notes
 * ------------------------------------------------------------------------------------- */

/* Appends the note to those that wait already; if none wait, posts it. */
static void post_note(struct host *host, struct host_request *note)
{
	if (host->notes == NULL && host->pool != NULL &&
	    pool_post_deferrable(&host->runnable, note->execute, note) == STATUS_OK)
		return;
	note->next = NULL;
	if (host->notes == NULL)
		host->notes = note;
	else
		host->last_note->next = note;
	host->last_note = note;
}

void host_post_notes(struct host *host)
{
	while (host->notes != NULL && host->runnable.pooled != NULL) {
		struct host_request *note = host->notes, *next = note->next;
		/* Once it is posted, the worker may have executed and freed it: `next` was read
		 * before. */
		if (pool_post_deferrable(&host->runnable, note->execute, note) != STATUS_OK)
			return;
		host->notes = next;
	}
}

void host_notes_release(struct host *host)
{
	while (host->notes != NULL) {
		struct host_request *note = host->notes;
		host->notes = note->next;
		if (note != host->journal_note)
			host_request_destroy(note);
	}
	host_request_destroy(host->journal_note);
}

static void execute_session_gone(struct runnable *runnable, void *context)
{
	host_do_session_gone((struct host *)runnable, context);
}

struct host_request *host_closing_request(uint32_t session)
{
	return create_note(session, execute_session_gone);
}

void host_session_gone(struct host *host, struct host_request *closing)
{
	post_note(host, closing);
}

static void execute_report_whole(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	host->whole_due = true;
	host_report_control(host);
	host_request_destroy(context);
}

enum status host_report_whole(struct host *host)
{
	struct host_request *note = create_note(0, execute_report_whole);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	post_note(host, note);
	return STATUS_OK;
}

static void execute_watch_contacts(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct host_request *request = context;
	bool watch = request->action != 0;
	host->contacts_due = watch && (host->contacts_due || !host->contacts_watched);
	host->contacts_watched = watch;
	host_request_destroy(request);
	if (watch)
		host_report_control(host);
}

enum status host_watch_contacts(struct host *host, bool watch)
{
	struct host_request *note = create_note(0, execute_watch_contacts);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	note->action = watch;
	post_note(host, note);
	return STATUS_OK;
}

static void execute_watch_joints(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct host_request *request = context;
	bool watch = request->action != 0;
	host->joints_due = watch && (host->joints_due || !host->joints_watched);
	host->joints_watched = watch;
	host_request_destroy(request);
	if (watch)
		host_report_control(host);
}

enum status host_watch_joints(struct host *host, bool watch)
{
	struct host_request *note = create_note(0, execute_watch_joints);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	note->action = watch;
	post_note(host, note);
	return STATUS_OK;
}

static void execute_watch_particles(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct host_request *request = context;
	host->particles_watched = request->action != 0;
	host_request_destroy(request);
	if (host->particles_watched)
		host_report_control(host);
}

enum status host_watch_particles(struct host *host, bool watch)
{
	struct host_request *note = create_note(0, execute_watch_particles);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	note->action = watch;
	post_note(host, note);
	return STATUS_OK;
}

void host_watch_ticks(struct host *host, bool watch)
{
	atomic_store_explicit(&host->ticks_watched, watch, memory_order_relaxed);
}

static void execute_journal_failed(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct reason why;
	UNUSED(context); /* journal_note, owned by the host */
	if (host->journal_failed || journal_status(host->journal, &why) == STATUS_OK)
		return;
	host_fail_journal(host, &why);
	if (host->journal_failed)
		host_refuse_all_jobs(host, &why);
	host_report_control(host);
}

struct host_request *host_journal_note(void)
{
	return create_note(0, execute_journal_failed);
}

void host_journal_failed(struct host *host)
{
	/* The host still owns the note, because no task is executed once the workers have ended. */
	if (!host->journal_noted)
		post_note(host, host->journal_note);
	host->journal_noted = true;
}

/* ---- requests
 * ---------------------------------------------------------------------------------- */

static void execute_step(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	request->job.requester = request->requester;
	request->requester.report = NULL;
	host_do_step((struct host *)runnable, &request->job);
	memset(&request->job, 0, sizeof request->job);
	host_request_destroy(request);
}

static struct requester requester_of_step(const struct host_step *step)
{
	return (struct requester){ .session = step->session,
				   .ref = step->request,
				   .kind = REPLY_STEPPED,
				   .about = step->plan != NULL ? MESSAGE_STEP_WORLDS
							       : MESSAGE_STEP };
}

/* Fills all fields but the requester, which is set. */
static enum status fill_job(struct step_job *job, const struct host_step *step)
{
	job->from = step->from;
	job->ticks_left = step->n;
	job->want = step->want;
	job->anyway = step->anyway;
	job->restricted = step->restricted;
	if (step->back != NULL && step->back[0] != '\0')
		snprintf(job->back, sizeof job->back, "%s", step->back);
	if (step->keep != NULL && step->keep[0] != '\0')
		snprintf(job->keep, sizeof job->keep, "%s", step->keep);
	if (step->plan != NULL) {
		job->plan = step_plan_retain(step->plan);
		job->row = step->row;
		job->n = step->n;
		job->own = step->list.count;
		return host_plan_commands(job, step->restricted, &step->list, &job->commands);
	}
	struct host_batch batch = {
		.session = step->session,
		.batch = step->request | HOST_STEP_BATCH,
		.restricted = step->restricted,
		.list = step->list,
	};
	if (step->list.count > 0)
		job->commands = waiting_batch_of(&batch);
	return step->list.count > 0 && job->commands == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status post_step(struct host *host, const struct host_step *step)
{
	struct host_request *request =
		create_request(host, execute_step, requester_of_step(step), 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->job.requester.session = step->session;
	request->job.requester.ref = step->request;
	if (fill_job(&request->job, step) != STATUS_OK) {
		host_request_destroy(request);
		return STATUS_NO_MEMORY;
	}
	return post_request(host, request);
}

/* ---- a step on the loop thread
 * ----------------------------------------------------------------- */

/* pool_borrow decides by the cost of the host's last slice. A step that may cost much more is
 * left to the worker: one of a world large enough for one impact to wake many bodies, or one
 * with many commands. */
enum { LOOP_BODIES_MAX = 256, LOOP_COMMANDS_MAX = 64, LOOP_INBOX_BYTES_MAX = 16 << 10 };

static bool may_fit_loop(const struct host *host, const struct host_step *step)
{
	return host->notes == NULL && host->counters.bodies <= LOOP_BODIES_MAX &&
	       step->list.count <= LOOP_COMMANDS_MAX;
}

/* The same for state that only the holder of the host may read. A step that makes a checkpoint is
 * left to the worker. */
static bool fits_loop(const struct host *host, const struct host_step *step)
{
	struct inbox_counters inbox;
	uint64_t ahead = host->options.checkpoint_ticks;
	/* The state that a rollback returns to is recorded whole. */
	if (host_journal(host) != NULL && step->back != NULL && step->back[0] != '\0')
		return false;
	if (host_journal(host) != NULL && ahead > 0 && host->steps_unsaved + step->n >= ahead)
		return false;
	if (!host->inbox_filled)
		return true;
	inbox_counters(host->inbox, &inbox);
	return inbox.bytes <= LOOP_INBOX_BYTES_MAX;
}

static enum status step_borrowed(struct host *host, const struct host_step *step)
{
	struct step_job job = { .requester = requester_of_step(step) };
	job.requester.report = host_take_spare(host);
	if (job.requester.report == NULL || fill_job(&job, step) != STATUS_OK) {
		step_job_release(&job);
		return STATUS_NO_MEMORY;
	}
	host->on_loop = true;
	host_do_step(host, &job);
	for (uint32_t i = 0; i < MAX_OF(step->n, 1u) && pool_slice(&host->runnable); i++)
		host->counters.slices_on_loop++;
	host->on_loop = false;
	return STATUS_OK;
}

enum status host_step(struct host *host, const struct host_step *step)
{
	if (!may_fit_loop(host, step) || !pool_borrow(&host->runnable, step->n))
		return post_step(host, step);
	bool fits = fits_loop(host, step);
	enum status status = fits ? step_borrowed(host, step) : STATUS_OK;
	pool_give_back(&host->runnable);
	if (!fits)
		return post_step(host, step);
	if (status == STATUS_OK)
		host->on_reports(host, host->reports_context);
	return status;
}

static void execute_control(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	host_do_control((struct host *)runnable, &request->requester,
			(enum wire_control)request->action, request->value);
	host_request_destroy(request);
}

enum status host_control(struct host *host, uint32_t session, uint64_t ref,
			 enum wire_control action, double value)
{
	struct requester requester = {
		.session = session, .ref = ref, .kind = REPLY_CONTROL, .about = MESSAGE_CONTROL
	};
	struct host_request *request = create_request(host, execute_control, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->action = action;
	request->value = value;
	return post_request(host, request);
}

static void execute_query(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	struct wire_list query = { (const uint8_t *)(request + 1), request->query_bytes,
				   request->query_count };
	host_do_query((struct host *)runnable, &request->requester, query);
	host_request_destroy(request);
}

enum status host_query(struct host *host, uint32_t session, uint64_t id, struct wire_list query)
{
	struct requester requester = {
		.session = session, .ref = id, .kind = REPLY_ANSWER, .about = MESSAGE_QUERY
	};
	struct host_request *request = create_request(host, execute_query, requester, query.bytes);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->query_bytes = query.bytes;
	request->query_count = query.count;
	if (query.bytes > 0)
		memcpy(request + 1, query.at, query.bytes);
	return post_request(host, request);
}

static void execute_looks(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	host_do_looks((struct host *)runnable, &request->requester, (uint32_t)request->value,
		      (enum host_look)request->action);
	host_request_destroy(request);
}

enum status host_looks(struct host *host, uint32_t session, uint64_t ref, uint32_t from,
		       enum host_look what)
{
	struct requester requester = {
		.session = session, .ref = ref, .kind = REPLY_ANSWER, .about = MESSAGE_LOOKS
	};
	struct host_request *request = create_request(host, execute_looks, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->value = from;
	request->action = (uint8_t)what;
	return post_request(host, request);
}

static void execute_save(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	if (request->action == WIRE_SAVE_MOMENT)
		host_do_keep((struct host *)runnable, &request->requester, request->name);
	else
		host_do_save((struct host *)runnable, &request->requester, request->name);
	host_request_destroy(request);
}

static void execute_restore(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	if (request->action == WIRE_SAVE_MOMENT)
		host_do_go_back((struct host *)runnable, &request->requester, request->name);
	else
		host_do_restore((struct host *)runnable, &request->requester, request->name);
	host_request_destroy(request);
}

static void execute_fork(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	host_do_fork((struct host *)runnable, &request->requester, request->name,
		     request->snapshot);
	host_request_destroy(request);
}

static enum status post_named(struct host *host, runnable_task *execute, struct requester requester,
			      const char *name, const char *snapshot, uint32_t action)
{
	struct host_request *request = create_request(host, execute, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->action = action;
	snprintf(request->name, sizeof request->name, "%s", name);
	snprintf(request->snapshot, sizeof request->snapshot, "%s", snapshot);
	return post_request(host, request);
}

enum status host_save(struct host *host, uint32_t session, uint64_t ref, const char *name,
		      bool moment)
{
	struct requester requester = { session, ref, REPLY_SAVED, MESSAGE_SAVE, NULL };
	return post_named(host, execute_save, requester, name, "",
			  moment ? WIRE_SAVE_MOMENT : WIRE_SAVE_SNAPSHOT);
}

enum status host_restore(struct host *host, uint32_t session, uint64_t ref, const char *name,
			 bool moment)
{
	struct requester requester = { session, ref, REPLY_RESTORED, MESSAGE_RESTORE, NULL };
	return post_named(host, execute_restore, requester, name, "",
			  moment ? WIRE_SAVE_MOMENT : WIRE_SAVE_SNAPSHOT);
}

enum status host_fork(struct host *host, uint32_t session, uint64_t ref, const char *name,
		      const char *snapshot)
{
	struct requester requester = { session, ref, REPLY_FORKED, MESSAGE_FORK, NULL };
	return post_named(host, execute_fork, requester, name, snapshot, 0);
}

static void execute_restore_state(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	host_do_restore_state((struct host *)runnable, &request->requester, &request->image);
	host_request_destroy(request);
}

enum status host_restore_state(struct host *host, uint32_t session, uint64_t ref,
			       struct bytes *image)
{
	struct requester requester = { session, ref, REPLY_RESTORED, MESSAGE_RESTORE, NULL };
	struct host_request *request = create_request(host, execute_restore_state, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->image = *image;
	bytes_init(image);
	return post_request(host, request);
}

static void execute_record(struct runnable *runnable, void *context)
{
	struct host_request *request = context;
	host_do_record((struct host *)runnable, &request->requester, request->keep);
	host_request_destroy(request);
}

enum status host_record(struct host *host, uint32_t session, uint64_t ref,
			const struct journal_keep *keep)
{
	struct requester requester = { session, ref, REPLY_RECORDED, MESSAGE_RECORD, NULL };
	struct host_request *request = create_request(host, execute_record, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	if (keep != NULL) {
		request->keep = heap_alloc(sizeof *keep);
		if (request->keep == NULL) {
			host_request_destroy(request);
			return STATUS_NO_MEMORY;
		}
		*request->keep = *keep;
	}
	return post_request(host, request);
}

static void execute_record_end(struct runnable *runnable, void *context)
{
	host_do_record_end((struct host *)runnable);
	host_request_destroy(context);
}

enum status host_record_end(struct host *host)
{
	struct host_request *note = create_note(0, execute_record_end);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	post_note(host, note);
	return STATUS_OK;
}

/* ---- shapes
 * ------------------------------------------------------------------------------------ */

/* The library of a world is bounded by the limits of the shapes it uses. */
static enum status add_library_shape(struct host *host, const struct shape *shape,
				     struct reason *why)
{
	struct world_info info = world_info(host->world);
	enum status status = STATUS_OK;
	if (shape_library_find(&host->shapes, shape->name) != NULL)
		return STATUS_OK;
	if (host->shapes.count >= info.limits.shapes ||
	    host->shapes.bytes + shape->memory_bytes > info.limits.shape_bytes)
		return reason_set(
			why, STATUS_LIMIT, -1, "shape",
			"the shape library of a world is limited to %u shapes and %llu bytes",
			(unsigned)info.limits.shapes, (unsigned long long)info.limits.shape_bytes);
	if (host_journal(host) != NULL)
		status = journal_shape(host->journal, info.epoch, info.tick, shape);
	if (status == STATUS_OK)
		status = shape_library_add(&host->shapes, shape);
	return status == STATUS_OK
		       ? status
		       : reason_set(why, status, -1, "shape", "%s", status_text(status));
}

/* The shape is in the world's library and in its file before the requester is answered. */
static void execute_shape(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct host_request *request = context;
	struct reason why;
	if (host_refuse_in_boundary(host, &request->requester)) {
		host_request_destroy(request);
		return;
	}
	if (add_library_shape(host, request->shape, &why) != STATUS_OK) {
		host_refuse(host, &request->requester, &why);
	} else {
		struct report *report = host_reply(host, &request->requester);
		memcpy(report->reply.shape.bytes, request->shape->name, SHAPE_NAME_BYTES);
		host_send(host, report);
	}
	host_request_destroy(request);
}

enum status host_shape(struct host *host, uint32_t session, uint64_t ref, const struct shape *shape)
{
	struct requester requester = { session, ref, REPLY_SHAPE, MESSAGE_SHAPE_UPLOAD, NULL };
	struct host_request *request = create_request(host, execute_shape, requester, 0);
	if (request == NULL)
		return STATUS_NO_MEMORY;
	request->shape = shape_retain(shape);
	return post_request(host, request);
}
