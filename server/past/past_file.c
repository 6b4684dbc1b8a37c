/* past_file.c: the past of a file that no world is in service from, for commands. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/past/past_state.h"

static void begin_file(struct past *past, const char *path)
{
	memset(past, 0, sizeof *past);
	snprintf(past->path, sizeof past->path, "%s", path);
	shape_library_init(&past->cooked);
}

enum status past_answer_file(const char *path, const struct past_ask *ask,
			     struct past_answer *answer)
{
	struct past past;
	struct past_job job = { .past = &past, .ask = *ask };
	begin_file(&past, path);
	shape_library_init(&job.answer.shapes);
	enum status status = past_open_job(&job);
	while (status == STATUS_OK && job.stage != STAGE_DONE)
		status = past_play_job(&job, INSTANT_NEVER);
	past_end_job(&job, status);
	*answer = job.answer;
	shape_library_release(&past.cooked);
	return status;
}

/* Visits the present state of the walk, if it is in the range. */
static enum status visit_state(struct past_walk *walk, const struct past_range *range,
			       struct recorded_place from, past_visit *visit, void *context,
			       struct reason *why)
{
	bool sampled = (walk->at.tick - from.tick) % range->every == 0;
	const struct recorded_epoch *epoch = past_walk_epoch(walk, walk->at.epoch);
	enum status status = STATUS_OK;
	if (epoch != NULL && past_compare(walk->at, epoch->begin) == 0)
		status = player_settle(walk->player, why);
	if (status == STATUS_OK)
		status = visit(context, walk->player->world, walk->at, sampled, why);
	return status;
}

enum status past_play_file(const char *path, const struct past_range *range, past_visit *visit,
			   void *context, struct reason *why)
{
	struct past past;
	struct past_walk walk;
	struct past_stretch stretch = { { 0, 0 }, { 0, 0 }, false };
	begin_file(&past, path);
	enum status status = past_walk_open(&walk, &past, why);
	struct recorded_place from = { range->epoch, range->from }, at;
	if (status == STATUS_OK && range->epoch == 0 && !range->has_from) {
		from = walk.epochs.items[walk.epochs.count - 1].begin;
		status = past_walk_find(&walk, false, &from, &stretch, why);
		from = stretch.first;
	} else if (status == STATUS_OK) {
		if (!range->has_from && past_walk_epoch(&walk, range->epoch) != NULL)
			from.tick = past_walk_epoch(&walk, range->epoch)->begin.tick;
		status = past_walk_find(&walk, false, &from, &stretch, why);
	}
	if (status == STATUS_OK && range->has_to && range->to < from.tick)
		status = reason_set(why, STATUS_RANGE, -1, "to",
				    "to is %" PRIu64 ", before the first tick, which is %" PRIu64
				    ": give a later one",
				    range->to, from.tick);
	uint64_t to = range->has_to ? MIN_OF(range->to, stretch.last.tick) : stretch.last.tick;
	if (status == STATUS_OK)
		status = past_walk_start(&walk, from, why);
	for (at = from; status == STATUS_OK && at.tick <= to; at.tick++) {
		bool reached = false;
		struct past_stretch same;
		status = past_walk_find(&walk, false, &at, &same, why);
		while (status == STATUS_OK && !reached)
			status = past_walk_step(&walk, at, &reached, why);
		if (status == STATUS_OK && past_compare(walk.at, at) != 0)
			break; /* ticks of an incompatible build */
		if (status == STATUS_OK)
			status = visit_state(&walk, range, from, visit, context, why);
	}
	past_walk_close(&walk);
	shape_library_release(&past.cooked);
	return status;
}
