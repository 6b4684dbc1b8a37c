/* host_mail.c: requests of the loop thread as letters: one allocation each, put into the
 * runnable's mailbox, opened on the worker between two slices; but for a STEP of a small world,
 * which is made on the spot. A letter that is to be answered brings the report of its answer
 * along. A note is a letter that must arrive: it is made beforehand, and where the mailbox is full
 * it waits here until host_look_after finds room.
 */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

struct letter {
	struct letter *next; /* of the notes that wait, or of a list */
	runnable_mail *open;
	struct asker asker;
	uint32_t action;
	double value;
	char name[WIRE_NAME_MAX + 1], snapshot[WIRE_NAME_MAX + 1];
	struct shape *shape;		   /* a reference */
	struct step_job job;		   /* its commands owned */
	uint32_t query_bytes, query_count; /* behind the struct */
};

void letter_destroy(struct letter *letter)
{
	if (letter == NULL)
		return;
	asker_release(&letter->asker);
	step_job_release(&letter->job);
	if (letter->shape != NULL)
		shape_release(letter->shape);
	heap_free(letter);
}

uint32_t letter_session(const struct letter *letter)
{
	return letter->asker.session;
}

struct letter *letter_next(const struct letter *letter)
{
	return letter->next;
}

void letter_put(struct letter **list, struct letter *letter)
{
	letter->next = *list;
	*list = letter;
}

struct letter *letter_take(struct letter **list)
{
	struct letter *letter = *list;
	if (letter != NULL)
		*list = letter->next;
	return letter;
}

static struct letter *note_new(uint32_t session, runnable_mail *open)
{
	struct letter *letter = heap_alloc_zero(sizeof *letter);
	if (letter == NULL)
		return NULL;
	letter->open = open;
	letter->asker.session = session;
	return letter;
}

static struct letter *letter_new(struct host *host, runnable_mail *open, struct asker asker,
				 uint32_t extra)
{
	struct letter *letter = heap_alloc_zero(sizeof *letter + extra);
	if (letter == NULL)
		return NULL;
	asker.report = host_take_spare(host);
	if (asker.report == NULL) {
		heap_free(letter);
		return NULL;
	}
	letter->open = open;
	letter->asker = asker;
	return letter;
}

/* Posts a letter; it is taken in any case. */
static enum status post(struct host *host, struct letter *letter)
{
	enum status status = pool_mail(&host->runnable, letter->open, letter);
	if (status != STATUS_OK)
		letter_destroy(letter);
	return status;
}

/* ---- notes ------------------------------------------------------------------------------------- */

/* Behind those that wait already, or else into the box. */
static void post_note(struct host *host, struct letter *note)
{
	if (host->notes == NULL && pool_mail_behind(&host->runnable, note->open, note) == STATUS_OK)
		return;
	note->next = NULL;
	if (host->notes == NULL)
		host->notes = note;
	else
		host->last_note->next = note;
	host->last_note = note;
}

void host_look_after(struct host *host)
{
	while (host->notes != NULL && host->runnable.pooled != NULL) {
		struct letter *note = host->notes, *next = note->next;
		/* Once it is in the box, the worker may have read it and freed it. */
		if (pool_mail_behind(&host->runnable, note->open, note) != STATUS_OK)
			return;
		host->notes = next;
	}
}

void host_notes_release(struct host *host)
{
	while (host->notes != NULL) {
		struct letter *note = host->notes;
		host->notes = note->next;
		if (note != host->journal_note)
			letter_destroy(note);
	}
	letter_destroy(host->journal_note);
}

static void open_gone(struct runnable *runnable, void *context)
{
	host_do_session_gone((struct host *)runnable, context);
}

struct letter *host_farewell(uint32_t session)
{
	return note_new(session, open_gone);
}

void host_session_gone(struct host *host, struct letter *farewell)
{
	post_note(host, farewell);
}

static void open_report_whole(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	host->whole_due = true;
	host_tell(host);
	letter_destroy(context);
}

enum status host_report_whole(struct host *host)
{
	struct letter *note = note_new(0, open_report_whole);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	post_note(host, note);
	return STATUS_OK;
}

static void open_watch_contacts(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct letter *letter = context;
	bool wanted = letter->action != 0;
	host->contacts_due = wanted && (host->contacts_due || !host->contacts_wanted);
	host->contacts_wanted = wanted;
	letter_destroy(letter);
	if (wanted)
		host_tell(host);
}

enum status host_watch_contacts(struct host *host, bool wanted)
{
	struct letter *note = note_new(0, open_watch_contacts);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	note->action = wanted;
	post_note(host, note);
	return STATUS_OK;
}

static void open_watch_joints(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct letter *letter = context;
	bool wanted = letter->action != 0;
	host->joints_due = wanted && (host->joints_due || !host->joints_wanted);
	host->joints_wanted = wanted;
	letter_destroy(letter);
	if (wanted)
		host_tell(host);
}

enum status host_watch_joints(struct host *host, bool wanted)
{
	struct letter *note = note_new(0, open_watch_joints);
	if (note == NULL)
		return STATUS_NO_MEMORY;
	note->action = wanted;
	post_note(host, note);
	return STATUS_OK;
}

static void open_journal_failed(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct reason why;
	UNUSED(context); /* the host's own */
	if (host->journal_failed || journal_status(host->journal, &why) == STATUS_OK)
		return;
	host->journal_failed = true;
	host_fail(host, &why);
	host_refuse_all_jobs(host, &why);
	host_tell(host);
}

struct letter *host_journal_note(void)
{
	return note_new(0, open_journal_failed);
}

void host_journal_failed(struct host *host)
{
	/* It stays the host's: where the workers have ended nobody opens it any more. */
	if (!host->journal_noted)
		post_note(host, host->journal_note);
	host->journal_noted = true;
}

/* ---- requests ---------------------------------------------------------------------------------- */

static void open_step(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	letter->job.asker = letter->asker;
	letter->asker.report = NULL;
	host_do_step((struct host *)runnable, &letter->job);
	memset(&letter->job, 0, sizeof letter->job);
	letter_destroy(letter);
}

static struct asker asker_of_step(const struct host_step *step)
{
	return (struct asker){ .session = step->session,
			       .ref = step->request,
			       .kind = REPLY_STEPPED,
			       .about = MESSAGE_STEP };
}

/* Everything but who asks. */
static enum status fill_job(struct step_job *job, const struct host_step *step)
{
	job->from = step->from;
	job->left = step->n;
	job->want = step->want;
	job->anyway = step->anyway;
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
	struct letter *letter = letter_new(host, open_step, asker_of_step(step), 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	if (fill_job(&letter->job, step) != STATUS_OK) {
		letter_destroy(letter);
		return STATUS_NO_MEMORY;
	}
	return post(host, letter);
}

/* ---- a step on the loop thread ----------------------------------------------------------------- */

/* The pool lends what was cheap the last time. What could make the next time another matter goes
 * to the worker: a world large enough for one blow to wake much of it, or many commands. */
enum { HERE_BODIES_MAX = 256, HERE_COMMANDS_MAX = 64, HERE_INBOX_BYTES_MAX = 16 << 10 };

static bool may_fit_here(const struct host *host, const struct host_step *step)
{
	return host->notes == NULL && host->seen.bodies <= HERE_BODIES_MAX &&
	       step->list.count <= HERE_COMMANDS_MAX;
}

/* The same, of what is the worker's: a checkpoint is no small thing either. */
static bool fits_here(const struct host *host, const struct host_step *step)
{
	struct inbox_counters inbox;
	uint64_t ahead = host->options.checkpoint_ticks;
	if (host->journal != NULL && ahead > 0 && host->steps_unsaved + step->n >= ahead)
		return false;
	if (!host->put)
		return true;
	inbox_counters(host->inbox, &inbox);
	return inbox.bytes <= HERE_INBOX_BYTES_MAX;
}

static enum status step_borrowed(struct host *host, const struct host_step *step)
{
	struct step_job job = { .asker = asker_of_step(step) };
	job.asker.report = host_take_spare(host);
	if (job.asker.report == NULL || fill_job(&job, step) != STATUS_OK) {
		step_job_release(&job);
		return STATUS_NO_MEMORY;
	}
	host->here = true;
	host_do_step(host, &job);
	for (uint32_t i = 0; i < MAX_OF(step->n, 1u) && pool_slice(&host->runnable); i++)
		host->seen.here++;
	host->here = false;
	return STATUS_OK;
}

enum status host_step(struct host *host, const struct host_step *step)
{
	if (!may_fit_here(host, step) || !pool_borrow(&host->runnable, step->n))
		return post_step(host, step);
	bool fits = fits_here(host, step);
	enum status status = fits ? step_borrowed(host, step) : STATUS_OK;
	pool_give_back(&host->runnable);
	if (!fits)
		return post_step(host, step);
	if (status == STATUS_OK)
		host->on_reports(host, host->reports_context);
	return status;
}

static void open_control(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_control((struct host *)runnable, &letter->asker, (enum wire_control)letter->action,
			letter->value);
	letter_destroy(letter);
}

enum status host_control(struct host *host, uint32_t session, uint64_t ref,
			 enum wire_control action, double value)
{
	struct asker asker = {
		.session = session, .ref = ref, .kind = REPLY_CONTROL, .about = MESSAGE_CONTROL
	};
	struct letter *letter = letter_new(host, open_control, asker, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->action = action;
	letter->value = value;
	return post(host, letter);
}

static void open_query(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	struct wire_list query = { (const uint8_t *)(letter + 1), letter->query_bytes,
				   letter->query_count };
	host_do_query((struct host *)runnable, &letter->asker, query);
	letter_destroy(letter);
}

enum status host_query(struct host *host, uint32_t session, uint64_t id, struct wire_list query)
{
	struct asker asker = {
		.session = session, .ref = id, .kind = REPLY_ANSWER, .about = MESSAGE_QUERY
	};
	struct letter *letter = letter_new(host, open_query, asker, query.bytes);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->query_bytes = query.bytes;
	letter->query_count = query.count;
	if (query.bytes > 0)
		memcpy(letter + 1, query.at, query.bytes);
	return post(host, letter);
}

static void open_save(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_save((struct host *)runnable, &letter->asker, letter->name);
	letter_destroy(letter);
}

static void open_restore(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_restore((struct host *)runnable, &letter->asker, letter->name);
	letter_destroy(letter);
}

static void open_fork(struct runnable *runnable, void *context)
{
	struct letter *letter = context;
	host_do_fork((struct host *)runnable, &letter->asker, letter->name, letter->snapshot);
	letter_destroy(letter);
}

static enum status post_named(struct host *host, runnable_mail *open, struct asker asker,
			      const char *name, const char *snapshot)
{
	struct letter *letter = letter_new(host, open, asker, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	snprintf(letter->name, sizeof letter->name, "%s", name);
	snprintf(letter->snapshot, sizeof letter->snapshot, "%s", snapshot);
	return post(host, letter);
}

enum status host_save(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	struct asker asker = { session, ref, REPLY_SAVED, MESSAGE_SAVE, NULL };
	return post_named(host, open_save, asker, name, "");
}

enum status host_restore(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	struct asker asker = { session, ref, REPLY_RESTORED, MESSAGE_RESTORE, NULL };
	return post_named(host, open_restore, asker, name, "");
}

enum status host_fork(struct host *host, uint32_t session, uint64_t ref, const char *name,
		      const char *snapshot)
{
	struct asker asker = { session, ref, REPLY_FORKED, MESSAGE_FORK, NULL };
	return post_named(host, open_fork, asker, name, snapshot);
}

/* ---- shapes ------------------------------------------------------------------------------------ */

/* The shapes a world may use are bounded as those it uses are. */
static enum status learn_shape(struct host *host, const struct shape *shape, struct reason *why)
{
	struct world_info info = world_info(host->world);
	enum status status = STATUS_OK;
	if (shape_book_find(&host->shapes, shape->name) != NULL)
		return STATUS_OK;
	if (host->shapes.count >= info.limits.shapes ||
	    host->shapes.bytes + shape->memory_bytes > info.limits.shape_bytes)
		return reason_set(why, STATUS_LIMIT, -1, "shape",
				  "a world knows at most %u shapes of %llu bytes in all",
				  (unsigned)info.limits.shapes,
				  (unsigned long long)info.limits.shape_bytes);
	if (host->journal != NULL)
		status = journal_shape(host->journal, info.epoch, info.tick, shape);
	if (status == STATUS_OK)
		status = shape_book_add(&host->shapes, shape);
	return status == STATUS_OK
		       ? status
		       : reason_set(why, status, -1, "shape", "%s", status_text(status));
}

/* The world's book and its file learn the shape before the asker hears that they have. */
static void open_shape(struct runnable *runnable, void *context)
{
	struct host *host = (struct host *)runnable;
	struct letter *letter = context;
	struct reason why;
	if (host_is_between(host, &letter->asker)) {
		letter_destroy(letter);
		return;
	}
	if (learn_shape(host, letter->shape, &why) != STATUS_OK) {
		host_refuse(host, &letter->asker, &why);
	} else {
		struct report *report = host_reply(host, &letter->asker);
		memcpy(report->reply.shape.bytes, letter->shape->name, SHAPE_NAME_BYTES);
		host_send(host, report);
	}
	letter_destroy(letter);
}

enum status host_shape(struct host *host, uint32_t session, uint64_t ref, const struct shape *shape)
{
	struct asker asker = { session, ref, REPLY_SHAPE, MESSAGE_SHAPE_UPLOAD, NULL };
	struct letter *letter = letter_new(host, open_shape, asker, 0);
	if (letter == NULL)
		return STATUS_NO_MEMORY;
	letter->shape = shape_retain(shape);
	return post(host, letter);
}
