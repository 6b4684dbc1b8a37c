/* past.c: the desk. Asks go from LOOP to ANSWERS and answers back, each through a list under one lock and a
 * wakeup. See past.h. */
#include "server/past/past.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/past/past_state.h"

/* Ticks of a slice under a clock that stands still. */
enum { SLICE_TICKS_MAX = 256 };
/* A record is in the file some 20 ms after its tick; a slow disk takes longer. */
enum { RETRY_MS = 10, WAIT_MS = 2000 };

struct warm {
	struct past *past; /* a reference; NULL: empty */
	struct record_player *player;
	struct recorded_place at;
	uint64_t used;
};

struct past_desk {
	struct executor *executor;
	struct wakeup work, news;
	struct lock lock; /* guards from here … */
	struct past_job *waiting, **waiting_end, *done, **done_end;
	uint32_t waiting_count;
	bool stopped;
	struct past_figures figures;
	/* … to here */
	/* ANSWERS: */
	struct past_job *sleeping; /* until their wake_at */
	struct past_job *active[PAST_ACTIVE];
	uint32_t active_count, turn;
	struct warm warm[PAST_WARM];
	uint64_t uses;
};

/* ---- pasts --------------------------------------------------------------------------------------- */

enum status past_create(struct past_desk *desk, const char *path, struct keyframes *keyframes,
			struct past **out)
{
	struct past *past = heap_alloc_zero(sizeof *past);
	if (past == NULL)
		return STATUS_NO_MEMORY;
	past->desk = desk;
	past->references = 1;
	past->keyframes = keyframes != NULL ? keyframes_retain(keyframes) : NULL;
	snprintf(past->path, sizeof past->path, "%s", path);
	shape_library_init(&past->cooked);
	*out = past;
	return STATUS_OK;
}

static void drop_reference(struct past *past)
{
	struct past_desk *desk = past->desk;
	lock_take(&desk->lock);
	bool last = --past->references == 0;
	lock_give(&desk->lock);
	if (!last)
		return;
	keyframes_release(past->keyframes);
	shape_library_release(&past->cooked);
	heap_free(past);
}

void past_release(struct past *past)
{
	if (past == NULL)
		return;
	lock_take(&past->desk->lock);
	past->ended = true;
	lock_give(&past->desk->lock);
	/* ANSWERS drops the worlds that it keeps of it. */
	executor_wake(past->desk->executor, EXECUTOR_ANSWERS, &past->desk->work);
	drop_reference(past);
}

const char *past_path(const struct past *past)
{
	return past->path;
}

void past_let_go(struct past *past)
{
	drop_reference(past);
}

struct keyframes *past_keyframes(struct past *past)
{
	return past->keyframes;
}

/* ---- asking -------------------------------------------------------------------------------------- */

enum status past_ask(struct past *past, const struct past_ask *ask, past_answered *answered,
		     void *context, struct past_job **out)
{
	struct past_desk *desk = past->desk;
	struct past_job *job = heap_alloc_zero(sizeof *job);
	if (job == NULL)
		return STATUS_NO_MEMORY;
	job->past = past;
	job->ask = *ask;
	job->answered = answered;
	job->context = context;
	shape_library_init(&job->answer.shapes);
	lock_take(&desk->lock);
	bool room = desk->waiting_count < PAST_WAITING_MAX && !desk->stopped;
	if (room) {
		past->references++;
		*desk->waiting_end = job;
		desk->waiting_end = &job->next;
		desk->waiting_count++;
		desk->figures.asks++;
	} else {
		desk->figures.refused++;
	}
	lock_give(&desk->lock);
	if (!room) {
		heap_free(job);
		return STATUS_BUSY;
	}
	executor_wake(desk->executor, EXECUTOR_ANSWERS, &desk->work);
	*out = job;
	return STATUS_OK;
}

void past_cancel(struct past_job *job)
{
	lock_take(&job->past->desk->lock);
	job->cancelled = true;
	lock_give(&job->past->desk->lock);
	job->answered = NULL;
}

void past_answer_release(struct past_answer *answer)
{
	for (uint32_t i = 0; i < answer->states.count; i++)
		if (answer->states.items[i] != NULL)
			report_destroy(answer->states.items[i]);
	ARRAY_RELEASE(&answer->states);
	bytes_release(&answer->image);
	bytes_release(&answer->raw);
	shape_library_release(&answer->shapes);
}

static void destroy_job(struct past_job *job)
{
	archive_copy_destroy(job->copy);
	past_walk_close(&job->walk);
	past_answer_release(&job->answer);
	ARRAY_RELEASE(&job->events);
	bytes_release(&job->other);
	bytes_release(&job->ask.archive.part);
	drop_reference(job->past);
	if (job->ask.owns_context)
		heap_free(job->context);
	heap_free(job);
}

/* ---- LOOP: answers ------------------------------------------------------------------------------- */

static struct past_job *take_done(struct past_desk *desk)
{
	lock_take(&desk->lock);
	struct past_job *job = desk->stopped ? NULL : desk->done;
	if (job != NULL)
		desk->done = job->next;
	if (desk->done == NULL)
		desk->done_end = &desk->done;
	lock_give(&desk->lock);
	return job;
}

static void deliver_answers(void *context)
{
	struct past_desk *desk = context;
	struct past_job *job;
	while ((job = take_done(desk)) != NULL) {
		if (job->answered != NULL)
			job->answered(job->context, &job->answer);
		destroy_job(job);
	}
}

/* ---- ANSWERS: worlds kept for the next ask ------------------------------------------------------- */

static void drop_warm(struct warm *warm)
{
	if (warm->past == NULL)
		return;
	player_release(warm->player);
	heap_free(warm->player);
	drop_reference(warm->past);
	memset(warm, 0, sizeof *warm);
}

/* Drops the worlds of pasts that have ended. */
static void drop_ended(struct past_desk *desk)
{
	for (uint32_t i = 0; i < PAST_WARM; i++) {
		lock_take(&desk->lock);
		bool ended =
			desk->warm[i].past != NULL && (desk->warm[i].past->ended || desk->stopped);
		lock_give(&desk->lock);
		if (ended)
			drop_warm(&desk->warm[i]);
	}
}

/* Keeps the job's world, in place of the one that was used least recently. */
static void keep_warm(struct past_desk *desk, struct past_job *job)
{
	struct warm *oldest = &desk->warm[0];
	for (uint32_t i = 1; i < PAST_WARM; i++)
		if (desk->warm[i].used < oldest->used)
			oldest = &desk->warm[i];
	drop_warm(oldest);
	player_park(job->walk.player);
	lock_take(&desk->lock);
	job->past->references++;
	lock_give(&desk->lock);
	*oldest = (struct warm){ job->past, job->walk.player, job->walk.at, ++desk->uses };
	job->walk.player = NULL;
}

/* Gives the job a world that is at or shortly before its place. */
static void take_warm(struct past_desk *desk, struct past_job *job)
{
	struct warm *best = NULL;
	struct reason why;
	for (uint32_t i = 0; i < PAST_WARM; i++) {
		struct warm *warm = &desk->warm[i];
		if (warm->past != job->past || warm->at.epoch != job->target.epoch ||
		    warm->at.tick > job->target.tick)
			continue;
		if (best == NULL || warm->at.tick > best->at.tick)
			best = warm;
	}
	if (best == NULL)
		return;
	if (player_unpark(best->player, job->walk.recording, &why) != STATUS_OK) {
		drop_warm(best);
		return;
	}
	job->walk.player = best->player;
	job->walk.at = best->at;
	drop_reference(best->past);
	memset(best, 0, sizeof *best);
}

/* ---- ANSWERS: slices ----------------------------------------------------------------------------- */

bool past_slice_over(const struct past_job *job, uint64_t until, uint32_t *ticks)
{
	if (job->past->desk == NULL)
		return false; /* nobody else waits for this thread */
	return ++*ticks >= SLICE_TICKS_MAX || executor_now(job->past->desk->executor) >= until;
}

/* The file does not have the place yet: the job sleeps, and is opened again. False: it has waited long
 * enough. */
static bool sleep_job(struct past_desk *desk, struct past_job *job)
{
	uint64_t now = executor_now(desk->executor);
	if (job->give_up_at == 0)
		job->give_up_at = now + WAIT_MS * NS_PER_MS;
	if (!job->ask.soon || now >= job->give_up_at)
		return false;
	past_walk_close(&job->walk);
	job->wake_at = now + RETRY_MS * NS_PER_MS;
	return true;
}

/* Moves the jobs whose time has come to the front of those that wait, and sets the alarm for the others. */
static void wake_jobs(struct past_desk *desk)
{
	uint64_t now = executor_now(desk->executor), next = INSTANT_NEVER;
	for (struct past_job **at = &desk->sleeping; *at != NULL;) {
		struct past_job *job = *at;
		if (job->wake_at > now && !desk->stopped) {
			next = MIN_OF(next, job->wake_at);
			at = &job->next;
			continue;
		}
		*at = job->next;
		lock_take(&desk->lock);
		job->next = desk->waiting;
		desk->waiting = job;
		desk->waiting_count++;
		if (job->next == NULL)
			desk->waiting_end = &job->next;
		lock_give(&desk->lock);
	}
	executor_set_alarm(desk->executor, next);
}

/* Whether a job reads the world's file. */
static bool reads_world(const struct past_ask *ask)
{
	return ask->kind != PAST_ARCHIVE || ask->archive.action == PAST_ARCHIVE_LIST ||
	       ask->archive.action == PAST_ARCHIVE_COPY;
}

/* Whether the file must have the job's place. */
static bool has_place(const struct past_ask *ask)
{
	return ask->kind == PAST_STATES || ask->kind == PAST_IMAGE ||
	       (ask->kind == PAST_DIFFERENCE && ask->snapshots[0] == NULL) ||
	       (ask->kind == PAST_ARCHIVE && ask->archive.action == PAST_ARCHIVE_COPY);
}

enum status past_open_job(struct past_job *job)
{
	struct reason *why = &job->answer.why;
	job->stage = STAGE_PLAY;
	if (!reads_world(&job->ask))
		return STATUS_OK;
	enum status status = past_walk_open(&job->walk, job->past, why);
	if (status != STATUS_OK || !has_place(&job->ask))
		return status;
	job->target = job->ask.place;
	status = past_walk_find(&job->walk, job->ask.nearby, &job->target, &job->stretch, why);
	if (status != STATUS_OK)
		return status;
	job->answer.place = job->target;
	job->answer.first = job->stretch.first;
	job->answer.last = job->stretch.last;
	job->answer.present = job->stretch.present;
	return STATUS_OK;
}

static enum status open_job(struct past_desk *desk, struct past_job *job)
{
	enum status status = past_open_job(job);
	/* MISSING: not even the world's beginning is in its file yet. */
	if ((status == STATUS_RANGE || status == STATUS_MISSING) && sleep_job(desk, job)) {
		job->stage = STAGE_SLEEP;
		return STATUS_OK;
	}
	if (status == STATUS_OK && job->ask.kind == PAST_STATES && job->ask.stride >= 0)
		take_warm(desk, job);
	return status;
}

enum status past_play_job(struct past_job *job, uint64_t until)
{
	switch (job->ask.kind) {
	case PAST_STATES:
		return past_play_states(job, until);
	case PAST_IMAGE:
		return past_play_image(job, until);
	case PAST_WHEN:
		return past_play_when(job, until);
	case PAST_OUTLINE:
		return past_play_outline(job);
	case PAST_DIFFERENCE:
		return past_play_difference(job, until);
	case PAST_CHECK:
		return past_play_check(job, until);
	case PAST_ARCHIVE:
		return past_play_archive(job, until);
	}
	return STATUS_UNSUPPORTED;
}

void past_end_job(struct past_job *job, enum status status)
{
	job->answer.status = status;
	job->answer.ticks = job->walk.ticks;
	archive_copy_destroy(job->copy);
	job->copy = NULL;
	past_walk_close(&job->walk);
	ARRAY_RELEASE(&job->events);
	bytes_release(&job->other);
}

static void finish_job(struct past_desk *desk, struct past_job *job, enum status status)
{
	if (status == STATUS_OK && job->ask.kind == PAST_STATES && job->walk.player != NULL)
		keep_warm(desk, job);
	past_end_job(job, status);
	lock_take(&desk->lock);
	desk->figures.ticks += job->answer.ticks;
	job->next = NULL;
	*desk->done_end = job;
	desk->done_end = &job->next;
	lock_give(&desk->lock);
	executor_wake(desk->executor, EXECUTOR_LOOP, &desk->news);
}

/* Makes waiting asks active while there is room; returns whether any are. */
static bool take_waiting(struct past_desk *desk)
{
	lock_take(&desk->lock);
	while (desk->waiting != NULL && desk->active_count < PAST_ACTIVE) {
		struct past_job *job = desk->waiting;
		desk->waiting = job->next;
		desk->waiting_count--;
		if (desk->waiting == NULL)
			desk->waiting_end = &desk->waiting;
		desk->active[desk->active_count++] = job;
	}
	lock_give(&desk->lock);
	return desk->active_count > 0;
}

static void work_slice(void *context)
{
	struct past_desk *desk = context;
	drop_ended(desk);
	wake_jobs(desk);
	if (!take_waiting(desk))
		return;
	desk->turn = (desk->turn + 1) % desk->active_count;
	struct past_job *job = desk->active[desk->turn];
	lock_take(&desk->lock);
	bool drop = job->cancelled || job->past->ended || desk->stopped;
	lock_give(&desk->lock);
	uint64_t used = executor_used(desk->executor);
	enum status status = drop ? STATUS_CLOSED : STATUS_OK;
	if (!drop && job->stage == STAGE_OPEN)
		status = open_job(desk, job);
	if (status == STATUS_OK && job->stage == STAGE_PLAY)
		status = past_play_job(job, executor_now(desk->executor) + PAST_SLICE);
	job->answer.used_ns += executor_used(desk->executor) - used;
	bool sleeps = status == STATUS_OK && job->stage == STAGE_SLEEP;
	if (status != STATUS_OK || job->stage == STAGE_DONE || sleeps)
		desk->active[desk->turn] = desk->active[--desk->active_count];
	if (sleeps) {
		job->stage = STAGE_OPEN;
		job->next = desk->sleeping;
		desk->sleeping = job;
	} else if (status != STATUS_OK || job->stage == STAGE_DONE) {
		finish_job(desk, job, status);
	}
	/* Other work of this thread comes first. */
	executor_wake(desk->executor, EXECUTOR_ANSWERS, &desk->work);
}

/* ---- life ---------------------------------------------------------------------------------------- */

enum status past_desk_create(struct executor *executor, struct past_desk **out)
{
	struct past_desk *desk = heap_alloc_zero(sizeof *desk);
	if (desk == NULL)
		return STATUS_NO_MEMORY;
	desk->executor = executor;
	wakeup_init(&desk->work, work_slice, desk);
	wakeup_init(&desk->news, deliver_answers, desk);
	lock_init(&desk->lock);
	executor_on_alarm(executor, EXECUTOR_ANSWERS, work_slice, desk);
	desk->waiting_end = &desk->waiting;
	desk->done_end = &desk->done;
	*out = desk;
	return STATUS_OK;
}

void past_desk_stop(struct past_desk *desk)
{
	lock_take(&desk->lock);
	desk->stopped = true;
	lock_give(&desk->lock);
}

static void destroy_jobs(struct past_job *job)
{
	while (job != NULL) {
		struct past_job *next = job->next;
		destroy_job(job);
		job = next;
	}
}

void past_desk_destroy(struct past_desk *desk)
{
	if (desk == NULL)
		return;
	for (uint32_t i = 0; i < PAST_WARM; i++)
		drop_warm(&desk->warm[i]);
	for (uint32_t i = 0; i < desk->active_count; i++)
		destroy_job(desk->active[i]);
	destroy_jobs(desk->sleeping);
	destroy_jobs(desk->waiting);
	destroy_jobs(desk->done);
	lock_release(&desk->lock);
	heap_free(desk);
}

struct past_figures past_desk_figures(struct past_desk *desk)
{
	lock_take(&desk->lock);
	struct past_figures figures = desk->figures;
	figures.waiting = desk->waiting_count;
	lock_give(&desk->lock);
	return figures;
}
