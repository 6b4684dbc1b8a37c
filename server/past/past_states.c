/* past_states.c: STATES, IMAGE, DIFFERENCE and CHECK: a world is played to a place, and its state is
 * taken. */
#include <inttypes.h>
#include <string.h>

#include "protocol/packer.h"
#include "server/base/heap.h"
#include "server/host/report_world.h"
#include "server/past/past_state.h"

enum { EVENTS_MAX = 4096 }; /* in one report; further ones are left out */

static enum status no_memory(struct past_job *job)
{
	return reason_set(&job->answer.why, STATUS_NO_MEMORY, -1, "tick", "%s",
			  status_text(STATUS_NO_MEMORY));
}

/* Plays to the target for one slice; *reached: the world is there, after the commands of the boundary where
 * it begins an epoch. */
static enum status play_to(struct past_job *job, uint64_t until, void (*passed)(struct past_job *),
			   bool *reached)
{
	struct past_walk *walk = &job->walk;
	struct reason *why = &job->answer.why;
	uint32_t ticks = 0;
	enum status status = past_walk_start(walk, job->target, why);
	*reached = false;
	while (status == STATUS_OK && !*reached) {
		uint64_t made = walk->ticks;
		status = past_walk_step(walk, job->target, reached, why);
		if (status == STATUS_OK && walk->ticks > made && passed != NULL)
			passed(job);
		if (past_slice_over(job, until, &ticks))
			break;
	}
	const struct recorded_epoch *epoch = past_walk_epoch(walk, walk->at.epoch);
	if (status == STATUS_OK && *reached && epoch != NULL &&
	    past_compare(walk->at, epoch->begin) == 0)
		status = player_settle(walk->player, why);
	return status;
}

/* ---- STATES -------------------------------------------------------------------------------------- */

/* Backward, the states are made in ascending order from the nearest stored state on. */
static enum status begin_states(struct past_job *job)
{
	struct recorded_place origin;
	const struct past_ask *ask = &job->ask;
	job->standing = true;
	job->backward = ask->stride < 0;
	job->stride = (uint64_t)(job->backward ? -ask->stride : ask->stride);
	job->left = job->stride > 0 ? MAX_OF(ask->count, 1u) : 1;
	if (!job->backward)
		return STATUS_OK;
	enum status status = past_walk_origin(&job->walk, job->target, &origin, &job->answer.why);
	if (status != STATUS_OK)
		return status;
	const struct recorded_epoch *epoch = past_walk_epoch(&job->walk, job->target.epoch);
	uint64_t low = origin.epoch == job->target.epoch ? MAX_OF(origin.tick, epoch->begin.tick)
							 : epoch->begin.tick;
	uint64_t more = MIN_OF((job->target.tick - low) / job->stride, (uint64_t)job->left - 1);
	job->target.tick -= more * job->stride;
	job->left = (uint32_t)more + 1;
	return STATUS_OK;
}

static void gather_events(struct past_job *job)
{
	uint32_t count;
	const struct event *events = world_events(job->walk.player->world, &count);
	if (job->ask.since == 0 || job->backward || job->walk.at.tick <= job->ask.since)
		return;
	count = MIN_OF(count, EVENTS_MAX - job->events.count);
	if (ARRAY_RESERVE(&job->events, job->events.count + count) != STATUS_OK)
		return;
	if (count > 0)
		memcpy(job->events.items + job->events.count, events, count * sizeof *events);
	job->events.count += count;
}

static enum status make_state(struct past_job *job)
{
	struct past_answer *answer = &job->answer;
	if (ARRAY_RESERVE(&answer->states, answer->states.count + 1u) != STATUS_OK)
		return no_memory(job);
	struct report *report = heap_alloc_zero(sizeof *report);
	if (report == NULL)
		return no_memory(job);
	report->kind = REPORT_TICK;
	answer->states.items[answer->states.count++] = report;
	struct tick_report *ticked = &report->ticked;
	if (report_world(job->walk.player->world, job->ask.choice, ticked) != STATUS_OK)
		return no_memory(job);
	if (array_reserve(&ticked->events, &ticked->event_room, job->events.count,
			  sizeof *ticked->events) != STATUS_OK)
		return no_memory(job);
	if (job->events.count > 0)
		memcpy(ticked->events, job->events.items,
		       job->events.count * sizeof *ticked->events);
	ticked->event_count = job->events.count;
	job->events.count = 0;
	return STATUS_OK;
}

static void finish_states(struct past_job *job)
{
	struct past_answer *answer = &job->answer;
	uint32_t count = answer->states.count;
	for (uint32_t i = 0; job->backward && i < count / 2; i++) {
		struct report *report = answer->states.items[i];
		answer->states.items[i] = answer->states.items[count - 1 - i];
		answer->states.items[count - 1 - i] = report;
	}
	const struct tick_report *first = &answer->states.items[0]->ticked;
	answer->place = (struct recorded_place){ first->epoch, first->tick };
	job->stage = STAGE_DONE;
}

/* Moves the target to the next state; false: there is none. */
static bool next_target(struct past_job *job)
{
	struct past_stretch stretch;
	struct recorded_place target = { job->target.epoch, job->target.tick + job->stride };
	if (--job->left == 0 || target.tick > job->stretch.last.tick ||
	    past_walk_find(&job->walk, false, &target, &stretch, &job->answer.why) != STATUS_OK)
		return false;
	job->target = target;
	return true;
}

enum status past_play_states(struct past_job *job, uint64_t until)
{
	bool reached = true;
	enum status status = job->standing ? STATUS_OK : begin_states(job);
	uint32_t states = 0;
	while (status == STATUS_OK && reached && job->stage != STAGE_DONE) {
		status = play_to(job, until, gather_events, &reached);
		if (status != STATUS_OK || !reached)
			break;
		status = make_state(job);
		if (status == STATUS_OK && !next_target(job))
			finish_states(job);
		if (past_slice_over(job, until, &states))
			break;
	}
	return status;
}

/* ---- IMAGE --------------------------------------------------------------------------------------- */

enum status past_play_image(struct past_job *job, uint64_t until)
{
	bool reached;
	struct past_answer *answer = &job->answer;
	enum status status = play_to(job, until, NULL, &reached);
	if (status != STATUS_OK || !reached)
		return status;
	if (past_compare(job->walk.at, job->target) != 0)
		return reason_set(&answer->why, STATUS_VERSION, -1, "tick",
				  "an incompatible build made tick %" PRIu64
				  "; the nearest stored state is tick %" PRIu64,
				  job->target.tick, job->walk.at.tick);
	const struct world *world = job->walk.player->world;
	if (world_save(world, &answer->image) != STATUS_OK ||
	    shape_library_copy(&answer->shapes, &job->walk.player->shapes) != STATUS_OK)
		return no_memory(job);
	answer->state_hash = world_state_hash(world, NULL, NULL);
	job->stage = STAGE_DONE;
	return STATUS_OK;
}

/* ---- DIFFERENCE ---------------------------------------------------------------------------------- */

static enum status pack_difference(struct past_job *job, const struct bytes *a,
				   const struct bytes *b)
{
	struct reason difference;
	struct bytes *raw = &job->answer.raw;
	enum status found =
		world_image_difference(a->data, a->count, b->data, b->count, &difference);
	if (found == STATUS_NO_MEMORY || bytes_reserve(raw, 512) != STATUS_OK)
		return no_memory(job);
	struct wire_packer out = wire_packer_over(raw->data, 512);
	wire_pack_array(&out, found == STATUS_OK ? 0 : 4);
	if (found != STATUS_OK) {
		struct wire_slice table = wire_text(difference.text);
		table.bytes = (uint32_t)strcspn(difference.text, " ");
		wire_pack_string(&out, difference.text);
		wire_pack_text(&out, table);
		wire_pack_int(&out, difference.index);
		wire_pack_string(&out, difference.field);
	}
	raw->count = out.bytes;
	return STATUS_OK;
}

/* The latest state that was saved under a name, as it is stored. */
static enum status load_snapshot(struct past_job *job, const char *name, struct bytes *image)
{
	struct past_walk *walk = &job->walk;
	struct reason *why = &job->answer.why;
	struct recorded_checkpoint checkpoint;
	sqlite3_stmt *find = NULL;
	enum status status = sql_prepare(
		walk->db, "SELECT max(seq) FROM checkpoints WHERE name = ?1", &find, why);
	uint64_t seq = 0;
	if (status == STATUS_OK) {
		sql_bind_text(find, 1, name);
		status = sql_row(walk->db, find, why);
		seq = status == STATUS_OK ? sql_column(find, 0) : 0;
	}
	sqlite3_finalize(find);
	if (status == STATUS_OK && seq == 0)
		return reason_set(why, STATUS_UNKNOWN_SNAPSHOT, -1, "tick",
				  "the file has no snapshot named \"%.64s\"; a tick is a number",
				  name);
	return status == STATUS_OK
		       ? recording_checkpoint(walk->recording, seq, &checkpoint, image, why)
		       : status;
}

/* Appends the state of the job's target, or of the snapshot; *reached: it did. */
static enum status take_state(struct past_job *job, uint64_t until, const char *snapshot,
			      struct bytes *image, bool *reached)
{
	*reached = snapshot != NULL;
	if (snapshot != NULL)
		return load_snapshot(job, snapshot, image);
	enum status status = play_to(job, until, NULL, reached);
	if (status != STATUS_OK || !*reached)
		return status;
	return world_save(job->walk.player->world, image) == STATUS_OK ? STATUS_OK : no_memory(job);
}

enum status past_play_difference(struct past_job *job, uint64_t until)
{
	struct bytes image = { 0 };
	struct past_stretch stretch;
	bool reached;
	const char *const *snapshots = job->ask.snapshots;
	enum status status =
		take_state(job, until, snapshots[job->standing ? 1 : 0], &image, &reached);
	if (status != STATUS_OK || !reached) {
		bytes_release(&image);
		return status;
	}
	if (!job->standing) {
		job->standing = true;
		job->other = image;
		job->target = job->ask.other;
		if (snapshots[1] != NULL)
			return STATUS_OK;
		return past_walk_find(&job->walk, false, &job->target, &stretch, &job->answer.why);
	}
	status = pack_difference(job, &job->other, &image);
	bytes_release(&image);
	job->stage = STAGE_DONE;
	return status;
}

/* ---- CHECK --------------------------------------------------------------------------------------- */

/* The two latest keyframes of the newest epoch: the world is loaded at the first and played to the second.
 * Without two of them there is nothing to check. */
static enum status begin_check(struct past_job *job)
{
	struct keyframes *keyframes = job->past->keyframes;
	const struct recorded_epoch *newest = &job->walk.epochs.items[job->walk.epochs.count - 1];
	struct recorded_place end = { newest->begin.epoch, newest->last }, second, first;
	job->standing = true;
	job->stage = STAGE_DONE;
	if (keyframes == NULL || !keyframes_nearest(keyframes, end, &second) || second.tick == 0)
		return STATUS_OK;
	struct recorded_place before = { second.epoch, second.tick - 1 };
	if (!keyframes_nearest(keyframes, before, &first))
		return STATUS_OK;
	enum status status = past_walk_start(&job->walk, first, &job->answer.why);
	if (status != STATUS_OK || past_compare(job->walk.at, first) != 0)
		return status;
	job->target = second;
	job->stage = STAGE_PLAY;
	status = keyframes_find(keyframes, second, &second, &job->other);
	if (status == STATUS_MISSING || past_compare(second, job->target) != 0)
		job->stage = STAGE_DONE; /* it was dropped meanwhile */
	return status == STATUS_NO_MEMORY ? no_memory(job) : STATUS_OK;
}

enum status past_play_check(struct past_job *job, uint64_t until)
{
	struct past_walk *walk = &job->walk;
	struct past_answer *answer = &job->answer;
	enum status status = job->standing ? STATUS_OK : begin_check(job);
	bool reached = false;
	uint32_t ticks = 0;
	/* The world must not be started anew at the second keyframe, so the walk is stepped directly. */
	while (status == STATUS_OK && job->stage == STAGE_PLAY && !reached) {
		status = past_walk_step(walk, job->target, &reached, &answer->why);
		if (past_slice_over(job, until, &ticks))
			break;
	}
	answer->place = job->target;
	answer->checked = status == STATUS_DIVERGED;
	if (status != STATUS_OK || !reached)
		return status;
	struct bytes image = { 0 };
	status = world_save(walk->player->world, &image);
	if (status == STATUS_OK)
		status = world_image_difference(job->other.data, job->other.count, image.data,
						image.count, &answer->why);
	bytes_release(&image);
	if (status == STATUS_NO_MEMORY)
		return no_memory(job);
	answer->checked = true;
	job->stage = STAGE_DONE;
	return status;
}
