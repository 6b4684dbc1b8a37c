/* past_when.c: WHEN: the first or last tick at which a quantity of a body is above or below a value.
 *
 * Spans whose bounds exclude the condition are passed without a look at them. A span that may have it is
 * computed again from its keyframe, and every state is tested:
 *
 *	forward    ──excluded──excluded──►[ computed: first tick ]
 *	backward   [ computed: last tick ]◄──excluded──excluded──
 *
 * A span's bounds tell nothing about bodies that did not move in it. These kept their values, so a
 * condition that was false at the span's one end is false for them at the other. Therefore the state at the
 * end where the search begins is always computed.
 */
#include <stdlib.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/packer.h"
#include "server/base/heap.h"
#include "server/past/past_state.h"

enum { CAUSES_MAX = 32, CONTACTS_MAX = 256 };

static enum status no_memory(struct past_job *job)
{
	return reason_set(&job->answer.why, STATUS_NO_MEMORY, -1, "query", "%s",
			  status_text(STATUS_NO_MEMORY));
}

/* ---- testing a state ----------------------------------------------------------------------------- */

static bool test_body(struct past_job *job, body_id id)
{
	struct body_view view;
	double values[KEYFRAME_QUANTITIES];
	const struct keyframe_condition *condition = &job->ask.condition;
	if (world_body(job->walk.player->world, id, &view) != STATUS_OK)
		return false;
	keyframe_quantities(&view, values);
	if (!keyframe_holds(condition, values[condition->quantity]))
		return false;
	job->body = id;
	job->value = values[condition->quantity];
	return true;
}

/* Whether the condition holds in the walk's world; then body and value are set. Of any body: the one with
 * the lowest id. */
static enum status test_state(struct past_job *job, bool *holds)
{
	const struct world *world = job->walk.player->world;
	*holds = false;
	if (job->ask.condition.body != 0) {
		*holds = test_body(job, job->ask.condition.body);
		return STATUS_OK;
	}
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	if (ids == NULL)
		return no_memory(job);
	world_bodies(world, ids, count);
	for (uint32_t i = 0; i < count && !*holds; i++)
		*holds = test_body(job, ids[i]);
	heap_free(ids);
	return STATUS_OK;
}

/* ---- causes -------------------------------------------------------------------------------------- */

static bool names_body(const struct command *command, body_id body)
{
	const struct command_info *info = command_info(command->op);
	for (uint32_t i = 0; info != NULL && i < info->field_count; i++) {
		int64_t id;
		if (info->fields[i].type != FIELD_BODY)
			continue;
		memcpy(&id, (const uint8_t *)command + info->fields[i].offset, sizeof id);
		if (id == (int64_t)body)
			return true;
	}
	return false;
}

static enum status list_commands(struct past_job *job, const struct recorded *apply,
				 struct arena *arena, struct wire_packer *out, uint32_t *count)
{
	struct reason why;
	for (uint32_t i = 0; i < apply->batches; i++) {
		struct journal_batch batch;
		struct command *commands;
		enum status status =
			recording_batch(job->walk.recording, apply, i, &batch, &job->answer.why);
		if (status != STATUS_OK)
			return status;
		struct wire_list list = { batch.commands, batch.bytes, batch.count };
		if (batch.result != STATUS_OK ||
		    command_take_list(&list, arena, &commands, &why) != STATUS_OK)
			continue;
		for (uint32_t k = 0; k < batch.count && *count < CAUSES_MAX; k++) {
			const struct command_info *info = command_info(commands[k].op);
			if (!names_body(&commands[k], job->body))
				continue;
			(*count)++;
			wire_pack_array(out, 3);
			wire_pack_uint(out, batch.session);
			wire_pack_uint(out, batch.batch & ~(UINT64_C(1) << 63));
			wire_pack_string(out, info->name);
		}
	}
	return STATUS_OK;
}

/* The commands of the boundary before the tick that name the body. */
static enum status pack_commands(struct past_job *job, struct wire_packer *items, uint32_t *count)
{
	struct recording *recording = job->walk.recording;
	struct reason *why = &job->answer.why;
	struct recorded_place before = { job->best.epoch, job->best.tick - 1 };
	struct arena arena;
	struct recorded record;
	uint64_t seq;
	*count = 0;
	if (job->best.tick == 0)
		return STATUS_OK;
	if (arena_init(&arena, 64u << 10) != STATUS_OK)
		return no_memory(job);
	enum status status = recording_records_before(recording, before, &seq, why);
	if (status == STATUS_OK)
		status = recording_seek(recording, seq, why);
	while (status == STATUS_OK) {
		status = recording_next(recording, &record, why);
		if (status != STATUS_OK || record.epoch != before.epoch ||
		    record.tick != before.tick)
			break;
		if (record.kind == RECORDED_APPLY)
			status = list_commands(job, &record, &arena, items, count);
	}
	arena_release(&arena);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

struct touch {
	body_id body;
	double impulse;
};

static int by_impulse(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;
	if (x->impulse != y->impulse)
		return x->impulse > y->impulse ? -1 : 1;
	return (x->body > y->body) - (x->body < y->body);
}

/* The bodies that touch the body at the tick, strongest first. */
static enum status pack_contacts(struct past_job *job, struct wire_packer *out)
{
	struct contact_view *views = heap_alloc(CONTACTS_MAX * sizeof *views);
	struct touch touches[CAUSES_MAX];
	uint32_t found = 0, count = 0;
	if (views == NULL || world_contacts(job->walk.player->world, job->body, views, CONTACTS_MAX,
					    &found) != STATUS_OK) {
		heap_free(views);
		return no_memory(job);
	}
	for (uint32_t i = 0; i < found; i++) {
		body_id other = views[i].a == job->body ? views[i].b : views[i].a;
		uint32_t k = 0;
		while (k < count && touches[k].body != other)
			k++;
		if (k == CAUSES_MAX)
			continue;
		if (k == count)
			touches[count++] = (struct touch){ other, 0 };
		touches[k].impulse += views[i].normal_impulse;
	}
	heap_free(views);
	if (count > 1)
		qsort(touches, count, sizeof *touches, by_impulse);
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++) {
		wire_pack_array(out, 2);
		wire_pack_uint(out, touches[i].body);
		wire_pack_real(out, touches[i].impulse);
	}
	return STATUS_OK;
}

/* Packs the answer. The walk's world is at the best place. */
static enum status pack_answer(struct past_job *job)
{
	enum { ROOM = 8192 };
	uint8_t commands[CAUSES_MAX * 64];
	struct wire_packer items = wire_packer_over(commands, sizeof commands);
	struct bytes *raw = &job->answer.raw;
	uint32_t count = 0;
	if (bytes_reserve(raw, ROOM) != STATUS_OK)
		return no_memory(job);
	struct wire_packer out = wire_packer_over(raw->data, ROOM);
	enum status status = STATUS_OK;
	if (!job->found) {
		wire_pack_array(&out, 0);
	} else {
		status = pack_commands(job, &items, &count);
		wire_pack_array(&out, 6);
		wire_pack_uint(&out, job->best.epoch);
		wire_pack_uint(&out, job->best.tick);
		wire_pack_uint(&out, job->body);
		wire_pack_real(&out, job->value);
		wire_pack_array(&out, count);
		wire_pack_raw(&out, commands, items.bytes);
		if (status == STATUS_OK)
			status = pack_contacts(job, &out);
	}
	raw->count = out.bytes;
	job->answer.place = job->best;
	job->stage = STAGE_DONE;
	return status;
}

/* ---- searching ----------------------------------------------------------------------------------- */

/* A *segment* is a run of ticks of one epoch, `scan` to `until`, all of which are tested in ascending
 * order. */

static const struct recorded_epoch *present_epoch(const struct past_job *job)
{
	return &job->walk.epochs.items[job->epoch_index];
}

/* The next segment forward; false: the epoch is done. The condition is false at `until`. */
static bool next_segment(struct past_job *job)
{
	enum { BLIND = 256 }; /* ticks to test where no keyframe ends a span */
	const struct recorded_epoch *epoch = present_epoch(job);
	struct keyframes *keyframes = job->past->keyframes;
	struct recorded_place at = { epoch->begin.epoch, job->until };
	if (!job->standing) {
		at.tick = epoch->begin.tick;
		job->scan = at.tick;
	} else {
		if (keyframes != NULL)
			at.tick = keyframes_excluded(keyframes, at, &job->ask.condition);
		job->scan = at.tick + 1;
	}
	job->standing = true;
	job->until = at.tick + BLIND;
	if (keyframes != NULL)
		job->until = keyframes_span_end(keyframes, at, job->until);
	job->until = MIN_OF(job->until, epoch->last);
	return job->scan <= epoch->last;
}

/* The next segment backward, which ends before `from`, the first tick of the last one. */
static enum status segment_before(struct past_job *job, bool *found)
{
	const struct recorded_epoch *epoch = present_epoch(job);
	struct keyframes *keyframes = job->past->keyframes;
	struct recorded_place end = { epoch->begin.epoch, epoch->last }, origin;
	*found = !job->standing || job->from > epoch->begin.tick;
	if (!*found)
		return STATUS_OK;
	if (job->standing) {
		struct recorded_place from = { epoch->begin.epoch, job->from };
		end.tick = job->from - 1;
		if (keyframes != NULL)
			end.tick = MIN_OF(end.tick, keyframes_excluded_before(keyframes, from,
									      &job->ask.condition));
		end.tick = MAX_OF(end.tick, epoch->begin.tick);
	}
	job->standing = true;
	job->until = end.tick;
	if (end.tick > epoch->begin.tick)
		end.tick--;
	enum status status = past_walk_origin(&job->walk, end, &origin, &job->answer.why);
	job->from = origin.epoch == end.epoch ? MAX_OF(origin.tick, epoch->begin.tick)
					      : epoch->begin.tick;
	job->scan = job->from;
	return status;
}

/* The next segment of the next epoch that has one; *over: there is none. */
static enum status find_segment(struct past_job *job, bool *over)
{
	enum status status = STATUS_OK;
	bool found = false;
	while (status == STATUS_OK && !found && !*over) {
		if (job->ask.latest)
			status = segment_before(job, &found);
		else
			found = next_segment(job);
		if (status != STATUS_OK || found)
			break;
		uint32_t last = job->ask.latest ? 0 : job->walk.epochs.count - 1;
		*over = job->epoch_index == last;
		job->epoch_index += *over ? 0 : job->ask.latest ? UINT32_MAX : 1;
		job->standing = false;
	}
	return status;
}

/* Plays the walk to `place` for one slice. */
static enum status play_to(struct past_job *job, struct recorded_place place, uint64_t until,
			   bool *reached)
{
	struct past_walk *walk = &job->walk;
	struct reason *why = &job->answer.why;
	uint32_t ticks = 0;
	bool next = walk->player != NULL && walk->at.epoch == place.epoch &&
		    walk->at.tick + 1 == place.tick;
	enum status status = next ? STATUS_OK : past_walk_start(walk, place, why);
	*reached = false;
	while (status == STATUS_OK && !*reached) {
		status = past_walk_step(walk, place, reached, why);
		if (past_slice_over(job, until, &ticks))
			break;
	}
	return status;
}

/* Tests the state at `scan`; *over: the answer is found. */
static enum status search_tick(struct past_job *job, uint64_t until, bool *over)
{
	struct recorded_place place = { present_epoch(job)->begin.epoch, job->scan };
	bool reached, holds = false;
	enum status status = play_to(job, place, until, &reached);
	if (status != STATUS_OK || !reached)
		return status;
	/* Ticks of an incompatible build cannot be tested. */
	if (past_compare(job->walk.at, place) == 0)
		status = test_state(job, &holds);
	else
		job->scan = job->until;
	if (holds) {
		job->found = true;
		job->best = place;
	}
	*over = holds && !job->ask.latest;
	job->scan++;
	/* Backward, the last one in the segment counts. */
	if (!*over && job->scan > job->until)
		*over = job->found;
	return status;
}

/* Backward, the world has gone on since the tick was found. */
static enum status finish(struct past_job *job, uint64_t until)
{
	bool reached = true, holds;
	enum status status = STATUS_OK;
	if (job->found && past_compare(job->walk.at, job->best) != 0)
		status = play_to(job, job->best, until, &reached);
	if (status != STATUS_OK || !reached)
		return status;
	if (job->found)
		status = test_state(job, &holds);
	return status == STATUS_OK ? pack_answer(job) : status;
}

enum status past_play_when(struct past_job *job, uint64_t until)
{
	enum status status = STATUS_OK;
	uint32_t states = 0;
	if (job->left == 0) {
		/* `left`: 0 before the search, 1 during it, 2 after it. */
		job->left = 1;
		job->epoch_index = job->ask.latest ? job->walk.epochs.count - 1 : 0;
		job->scan = 1; /* over `until`: a segment is due */
	}
	while (status == STATUS_OK && job->left == 1) {
		bool over = false;
		if (job->scan > job->until || !job->standing)
			status = find_segment(job, &over);
		if (status == STATUS_OK && !over)
			status = search_tick(job, until, &over);
		job->left += over;
		if (past_slice_over(job, until, &states))
			break;
	}
	return status == STATUS_OK && job->left == 2 ? finish(job, until) : status;
}
