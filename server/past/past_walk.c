/* past_walk.c: from a place to a world at it: the nearest of the world that the walk has, a keyframe, a
 * checkpoint and the beginning of an epoch, and then the records after it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/past/past_state.h"
#include "server/store/schema.h"

int past_compare(struct recorded_place a, struct recorded_place b)
{
	if (a.epoch != b.epoch)
		return a.epoch < b.epoch ? -1 : 1;
	return a.tick < b.tick ? -1 : a.tick > b.tick;
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* The place at which complete records begin. */
static enum status find_floor(struct past_walk *walk, struct reason *why)
{
	struct recorded_checkpoint first;
	uint64_t seq;
	enum status status = recording_first(walk->recording, &seq, why);
	if (status == STATUS_OK && seq == 0)
		return reason_set(why, STATUS_MISSING, -1, "tick",
				  "the world's file has no state yet: try again in a second");
	if (status == STATUS_OK)
		status = recording_checkpoint(walk->recording, seq, &first, NULL, why);
	if (status == STATUS_OK)
		walk->floor = (struct recorded_place){ first.epoch, first.tick };
	if (status == STATUS_OK && walk->past->keyframes != NULL)
		keyframes_forget(walk->past->keyframes, walk->floor);
	return status;
}

static enum status list_epochs(struct past_walk *walk, struct reason *why)
{
	struct recorded_epoch epoch;
	uint32_t after = walk->floor.epoch - 1;
	enum status status;
	while ((status = recording_epoch(walk->recording, after, &epoch, why)) == STATUS_OK) {
		if (ARRAY_RESERVE(&walk->epochs, walk->epochs.count + 1u) != STATUS_OK)
			return reason_set(why, STATUS_NO_MEMORY, -1, "tick", "%s",
					  status_text(STATUS_NO_MEMORY));
		if (epoch.begin.epoch == walk->floor.epoch)
			epoch.begin.tick = MAX_OF(epoch.begin.tick, walk->floor.tick);
		epoch.last = MAX_OF(epoch.last, epoch.begin.tick);
		walk->epochs.items[walk->epochs.count++] = epoch;
		after = epoch.begin.epoch;
	}
	return status == STATUS_MISSING ? STATUS_OK : status;
}

enum status past_walk_open(struct past_walk *walk, struct past *past, struct reason *why)
{
	memset(walk, 0, sizeof *walk);
	walk->past = past;
	enum status status = sql_open(past->path, SQL_READ, &walk->db, why);
	if (status == STATUS_OK)
		status = schema_check(walk->db, NULL, why);
	if (status == STATUS_OK)
		status = recording_open(walk->db, &walk->recording, why);
	if (status == STATUS_OK)
		status = find_floor(walk, why);
	if (status == STATUS_OK)
		status = list_epochs(walk, why);
	if (status == STATUS_OK && walk->epochs.count == 0)
		status = reason_set(why, STATUS_CORRUPT, -1, "file", "the file has no epoch");
	return status;
}

static void drop_player(struct past_walk *walk)
{
	if (walk->player != NULL)
		player_release(walk->player);
	heap_free(walk->player);
	walk->player = NULL;
}

void past_walk_close(struct past_walk *walk)
{
	drop_player(walk);
	ARRAY_RELEASE(&walk->epochs);
	if (walk->recording != NULL)
		recording_close(walk->recording);
	sql_close(walk->db);
	memset(walk, 0, sizeof *walk);
}

/* ---- places ------------------------------------------------------------------------------------ */

static bool epoch_continues(const struct recorded_epoch *before, const struct recorded_epoch *epoch)
{
	return (epoch->cause == EPOCH_RECOVERED || epoch->cause == EPOCH_UPGRADED) &&
	       epoch->begin.tick == before->last;
}

const struct recorded_epoch *past_walk_epoch(const struct past_walk *walk, uint32_t epoch)
{
	for (uint32_t i = 0; i < walk->epochs.count; i++)
		if (walk->epochs.items[i].begin.epoch == epoch)
			return &walk->epochs.items[i];
	return NULL;
}

/* The index of the last epoch that has the tick; UINT32_MAX: none. */
static uint32_t last_with_tick(const struct past_walk *walk, uint64_t tick)
{
	for (uint32_t i = walk->epochs.count; i-- > 0;)
		if (tick >= walk->epochs.items[i].begin.tick && tick <= walk->epochs.items[i].last)
			return i;
	return UINT32_MAX;
}

static enum status refuse_place(const struct past_walk *walk, struct recorded_place place,
				struct reason *why)
{
	const struct recorded_epoch *newest = &walk->epochs.items[walk->epochs.count - 1];
	const struct recorded_epoch *oldest = &walk->epochs.items[0];
	char epoch[32] = "any epoch"; /* 0: the last one that has the tick */
	if (place.epoch != 0)
		snprintf(epoch, sizeof epoch, "epoch %u", (unsigned)place.epoch);
	return reason_set(why, STATUS_RANGE, -1, "tick",
			  "the file does not have tick %" PRIu64 " of %s: it begins with tick "
			  "%" PRIu64 " of epoch %u and ends with tick %" PRIu64 " of epoch %u",
			  place.tick, epoch, oldest->begin.tick, (unsigned)oldest->begin.epoch,
			  newest->last, (unsigned)newest->begin.epoch);
}

enum status past_walk_find(const struct past_walk *walk, bool nearby, struct recorded_place *place,
			   struct past_stretch *stretch, struct reason *why)
{
	const struct recorded_epoch *epochs = walk->epochs.items;
	uint32_t count = walk->epochs.count, at = 0;
	if (place->epoch == 0) {
		at = last_with_tick(walk, place->tick);
		if (at == UINT32_MAX && nearby)
			at = place->tick > epochs[count - 1].last ? count - 1 : 0;
		if (at == UINT32_MAX)
			return refuse_place(walk, *place, why);
	} else {
		while (at < count && epochs[at].begin.epoch != place->epoch)
			at++;
		if (at == count)
			return refuse_place(walk, *place, why);
	}
	uint32_t first = at, last = at;
	while (first > 0 && epoch_continues(&epochs[first - 1], &epochs[first]))
		first--;
	while (last + 1 < count && epoch_continues(&epochs[last], &epochs[last + 1]))
		last++;
	*stretch = (struct past_stretch){ .first = epochs[first].begin,
					  .last = { epochs[last].begin.epoch, epochs[last].last },
					  .present = last + 1 == count };
	if (nearby)
		place->tick = MIN_OF(MAX_OF(place->tick, stretch->first.tick), stretch->last.tick);
	if (place->tick < stretch->first.tick || place->tick > stretch->last.tick)
		return refuse_place(walk, *place, why);
	/* Within the stretch: the first epoch that has the tick, seen from the one named. */
	while (at > first && place->tick < epochs[at].begin.tick)
		at--;
	while (at < last && place->tick > epochs[at].last)
		at++;
	place->epoch = epochs[at].begin.epoch;
	return STATUS_OK;
}

/* ---- starting ---------------------------------------------------------------------------------- */

/* Whether the epoch begins with an image, and not with the state before it. */
static bool has_own_image(const struct recorded_epoch *epoch)
{
	return epoch->checkpoint != 0 &&
	       (epoch->cause == EPOCH_RESTORED || epoch->cause == EPOCH_UPGRADED);
}

/* What the nearest stored state is. */
struct stored_state {
	struct recorded_place place;
	enum { NEAREST_NONE, NEAREST_KEYFRAME, NEAREST_CHECKPOINT, NEAREST_EPOCH } kind;
	uint64_t seq;
};

static void take_nearer(struct stored_state *nearest, struct stored_state other)
{
	if (nearest->kind == NEAREST_NONE || past_compare(other.place, nearest->place) > 0)
		*nearest = other;
}

/* Whether the last commands before the checkpoint are of the boundary of `place`. */
static enum status is_edited(struct past_walk *walk, struct recorded_place place, uint64_t seq,
			     bool *edited, struct reason *why)
{
	sqlite3_stmt *find = NULL;
	enum status status = sql_prepare(
		walk->db,
		"SELECT epoch, tick FROM applies WHERE seq < ?1 ORDER BY seq DESC LIMIT 1", &find,
		why);
	*edited = false;
	if (status == STATUS_OK) {
		sql_bind(find, 1, seq);
		status = sql_row(walk->db, find, why);
		*edited = status == STATUS_OK && sql_column(find, 0) == place.epoch &&
			  sql_column(find, 1) == place.tick;
	}
	sqlite3_finalize(find);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* A checkpoint at the place itself may have been made after commands of its boundary (SAVE of a paused
 * world). It is not the state right after the step, so an earlier one takes its part, if there is one. At the
 * beginning of an epoch the commands belong to the state. */
static enum status pass_edited(struct past_walk *walk, struct recorded_place place, uint64_t *seq,
			       struct reason *why)
{
	const struct recorded_epoch *epoch = past_walk_epoch(walk, place.epoch);
	uint64_t older = *seq;
	bool edited = epoch == NULL || place.tick > epoch->begin.tick;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && edited && older != 0) {
		status = is_edited(walk, place, older, &edited, why);
		if (status == STATUS_OK && edited)
			status = recording_last(walk->recording, older, &older, why);
	}
	*seq = older != 0 ? older : *seq;
	return status;
}

static enum status find_nearest(struct past_walk *walk, struct recorded_place place,
				struct stored_state *out, struct reason *why)
{
	struct recorded_checkpoint checkpoint;
	struct stored_state key = { .kind = NEAREST_KEYFRAME };
	const struct recorded_epoch *epoch = past_walk_epoch(walk, place.epoch);
	uint64_t seq;
	*out = (struct stored_state){ .kind = NEAREST_NONE };
	enum status status = recording_before(walk->recording, place, &seq, why);
	if (status == STATUS_OK && seq != 0)
		status = pass_edited(walk, place, &seq, why);
	if (status == STATUS_OK && seq != 0)
		status = recording_checkpoint(walk->recording, seq, &checkpoint, NULL, why);
	if (status != STATUS_OK)
		return status;
	if (seq != 0)
		*out = (struct stored_state){ .place = { checkpoint.epoch, checkpoint.tick },
					      .kind = NEAREST_CHECKPOINT,
					      .seq = seq };
	if (epoch != NULL && has_own_image(epoch))
		take_nearer(out,
			    (struct stored_state){ .place = epoch->begin, .kind = NEAREST_EPOCH });
	if (walk->past->keyframes != NULL &&
	    keyframes_nearest(walk->past->keyframes, place, &key.place))
		take_nearer(out, key);
	if (out->kind == NEAREST_NONE)
		return refuse_place(walk, place, why);
	return STATUS_OK;
}

enum status past_walk_origin(struct past_walk *walk, struct recorded_place place,
			     struct recorded_place *origin, struct reason *why)
{
	struct stored_state nearest;
	enum status status = find_nearest(walk, place, &nearest, why);
	*origin = nearest.place;
	return status;
}

static enum status start_player(struct past_walk *walk, struct stored_state *nearest,
				struct reason *why)
{
	struct past *past = walk->past;
	struct bytes image = { 0 };
	struct player_origin origin = { .place = nearest->place };
	enum status status = STATUS_OK;
	if (nearest->kind == NEAREST_CHECKPOINT)
		return player_start_with(walk->player, walk->recording, nearest->seq, &past->cooked,
					 PLAYER_SKIP, why);
	if (nearest->kind == NEAREST_KEYFRAME) {
		status = keyframes_find(past->keyframes, nearest->place, &origin.place, &image);
		origin.image = &image;
		reason_set(why, status, -1, "tick", "the keyframe of tick %" PRIu64 ": %s",
			   nearest->place.tick, status_text(status));
	} else {
		origin.epoch = past_walk_epoch(walk, nearest->place.epoch);
	}
	if (status == STATUS_OK)
		status = player_start_at(walk->player, walk->recording, &origin, &past->cooked,
					 PLAYER_SKIP, why);
	nearest->place = origin.place;
	bytes_release(&image);
	return status;
}

enum status past_walk_start(struct past_walk *walk, struct recorded_place place, struct reason *why)
{
	struct stored_state nearest;
	enum status status = find_nearest(walk, place, &nearest, why);
	if (status != STATUS_OK)
		return status;
	/* A few ticks cost less than a stored state. */
	enum { FEW = 16 };
	bool before = walk->player != NULL && past_compare(walk->at, place) <= 0;
	bool few = walk->at.epoch == place.epoch && place.tick - walk->at.tick <= FEW;
	if (before && (few || past_compare(walk->at, nearest.place) >= 0))
		return STATUS_OK;
	drop_player(walk);
	walk->player = heap_alloc_zero(sizeof *walk->player);
	if (walk->player == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "tick", "%s",
				  status_text(STATUS_NO_MEMORY));
	status = start_player(walk, &nearest, why);
	if (status != STATUS_OK) {
		heap_free(walk->player);
		walk->player = NULL;
		return status;
	}
	walk->at = nearest.place;
	return STATUS_OK;
}

/* ---- playing ----------------------------------------------------------------------------------- */

enum status past_walk_step(struct past_walk *walk, struct recorded_place place, bool *reached,
			   struct reason *why)
{
	struct player_event event;
	*reached = past_compare(walk->at, place) >= 0 || player_is_incompatible(walk->player);
	if (*reached)
		return STATUS_OK;
	enum status status = player_next(walk->player, &event, why);
	if (status != STATUS_OK)
		return status;
	if (event.kind == PLAYER_END) {
		*reached = true;
		return STATUS_OK;
	}
	if (event.kind == PLAYER_TICK) {
		walk->ticks++;
		if (event.recorded != event.replayed && !event.redone)
			return reason_set(
				why, STATUS_DIVERGED, -1, "tick",
				"tick %" PRIu64 " of epoch %u was recomputed to another state "
				"than recorded: run cairn replay --verify on the world's file",
				event.tick, (unsigned)event.epoch);
	}
	walk->at = (struct recorded_place){ walk->player->epoch,
					    world_info(walk->player->world).tick };
	*reached = past_compare(walk->at, place) >= 0;
	return STATUS_OK;
}
