/* player.c: plays the records and ticks of a recording in their order. See player.h.
 *
 * Records are ordered by seq. A tick has no record except its hash; it precedes every
 * record of a later boundary, of the same epoch or the next. Therefore a record of boundary t of this
 * epoch is due when the world is at tick t, and a record of another epoch is due when no further
 * tick of this epoch has a hash. Ticks increase within an epoch, so the order is unique.
 */
#include "server/store/player.h"

#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/heap.h"

#define LONG(value) ((unsigned long long)(value))

/* ---- starting ---------------------------------------------------------------------------------- */

static enum status fetch_record(struct record_player *self, struct reason *why)
{
	if (self->has_next)
		self->done = self->next.seq;
	enum status status = recording_next(self->recording, &self->next, why);
	self->has_next = status == STATUS_OK;
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* The next record is the first one after `seq`. */
static enum status seek_record(struct record_player *self, uint64_t seq, struct reason *why)
{
	enum status status = recording_seek(self->recording, seq, why);
	self->done = seq;
	self->has_next = false;
	return status == STATUS_OK ? fetch_record(self, why) : status;
}

static enum status cook_shape(struct record_player *self, uint64_t seq, struct reason *why)
{
	struct shape *shape;
	enum status status = recording_shape(self->recording, seq, &shape, why);
	if (status != STATUS_OK)
		return status;
	status = shape_library_add(&self->shapes, shape);
	if (self->cooked != NULL && status == STATUS_OK)
		status = shape_library_add(self->cooked, shape);
	shape_release(shape);
	return status;
}

/* Adds the shape of record `seq`. A player that started at a state has the shapes of its boundary already. */
static enum status add_named_shape(struct record_player *self, uint64_t seq,
				   const uint8_t name[SHAPE_NAME_BYTES], struct reason *why)
{
	const struct shape *known =
		self->cooked != NULL ? shape_library_find(self->cooked, name) : NULL;
	enum status status = STATUS_OK;
	if (shape_library_find(&self->shapes, name) != NULL)
		return STATUS_OK;
	if (known != NULL)
		status = shape_library_add(&self->shapes, known);
	else
		status = cook_shape(self, seq, why);
	if (status == STATUS_NO_MEMORY || status == STATUS_EXISTS)
		reason_set(why, status, -1, "shape", "%s", status_text(status));
	return status;
}

static enum status add_shape(struct record_player *self, uint64_t seq, struct reason *why)
{
	uint8_t name[SHAPE_NAME_BYTES];
	uint64_t found = 0;
	enum status status = recording_next_shape(self->recording, seq - 1, &found, name, why);
	if (status == STATUS_MISSING || (status == STATUS_OK && found != seq))
		return reason_set(why, STATUS_CORRUPT, -1, "file",
				  "the shape of record %llu is gone", LONG(seq));
	return status == STATUS_OK ? add_named_shape(self, seq, name, why) : status;
}

/* Adds the shapes of the records before `seq` and no later ones: a SHAPE_USE that was refused because
 * its shape came later must be refused again. */
static enum status add_shapes_before(struct record_player *self, uint64_t seq, struct reason *why)
{
	uint8_t name[SHAPE_NAME_BYTES];
	uint64_t at = 0;
	enum status status = recording_next_shape(self->recording, 0, &at, name, why);
	while (status == STATUS_OK && at < seq) {
		status = add_named_shape(self, at, name, why);
		if (status == STATUS_OK)
			status = recording_next_shape(self->recording, at, &at, name, why);
	}
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Replaces the world by an image. */
static enum status load_image(struct record_player *self, const struct bytes *image,
			      struct reason *why)
{
	if (self->world != NULL)
		return world_restore(self->world, image->data, image->count, why);
	return world_load(image->data, image->count, shape_library_source(&self->shapes),
			  &self->world, why);
}

/* Replaces the world by a stored state, after its hash is verified. */
static enum status load_state(struct record_player *self, uint64_t seq, struct reason *why)
{
	struct recorded_checkpoint checkpoint;
	struct image_about about;
	struct bytes image = { 0 };
	enum status status = recording_checkpoint(self->recording, seq, &checkpoint, &image, why);
	if (status == STATUS_OK)
		status = world_image_about(image.data, image.count, &about, why);
	if (status == STATUS_OK &&
	    (about.saved_hash != checkpoint.state_hash || about.tick != checkpoint.tick))
		status = reason_set(
			why, STATUS_CORRUPT, -1, "image",
			"the image of tick %llu does not have the state hash it was saved with",
			LONG(checkpoint.tick));
	if (status == STATUS_OK)
		status = load_image(self, &image, why);
	bytes_release(&image);
	if (status != STATUS_OK)
		return status;
	self->epoch = checkpoint.epoch;
	self->strayed = false;
	world_new_epoch(self->world, checkpoint.epoch);
	return STATUS_OK;
}

static enum status begin_player(struct record_player *self, struct recording *recording,
				struct shape_library *cooked, enum player_policy policy,
				struct reason *why)
{
	memset(self, 0, sizeof *self);
	self->recording = recording;
	self->cooked = cooked;
	self->policy = policy;
	shape_library_init(&self->shapes);
	enum status status = arena_init(&self->scratch, 64u << 10);
	return reason_set(why, status, -1, "replay", "%s", status_text(status));
}

/* The world is loaded and in its epoch: reads the numbers of its ticks and the first record over `seq`. */
static enum status follow_records(struct record_player *self, uint64_t seq, struct reason *why)
{
	struct recorded_build build = { 0 };
	enum status status = recording_build(self->recording, self->epoch, &build, why);
	self->numbers = build.numbers;
	return status == STATUS_OK ? seek_record(self, seq, why) : status;
}

enum status player_start_with(struct record_player *self, struct recording *recording, uint64_t seq,
			      struct shape_library *cooked, enum player_policy policy,
			      struct reason *why)
{
	enum status status = begin_player(self, recording, cooked, policy, why);
	if (status == STATUS_OK)
		status = add_shapes_before(self, seq, why);
	if (status == STATUS_OK)
		status = load_state(self, seq, why);
	if (status == STATUS_OK)
		status = follow_records(self, seq, why);
	if (status != STATUS_OK)
		player_release(self);
	return status;
}

enum status player_start(struct record_player *self, struct recording *recording, uint64_t seq,
			 enum player_policy policy, struct reason *why)
{
	return player_start_with(self, recording, seq, NULL, policy, why);
}

enum status player_start_at(struct record_player *self, struct recording *recording,
			    const struct player_origin *origin, struct shape_library *cooked,
			    enum player_policy policy, struct reason *why)
{
	uint64_t seq = 0;
	enum status status = begin_player(self, recording, cooked, policy, why);
	if (status == STATUS_OK && origin->image == NULL)
		seq = origin->epoch->seq;
	else if (status == STATUS_OK)
		status = recording_records_before(recording, origin->place, &seq, why);
	if (status == STATUS_OK)
		status = add_shapes_before(self, seq + 1, why);
	if (status == STATUS_OK && origin->image == NULL)
		status = load_state(self, origin->epoch->checkpoint, why);
	else if (status == STATUS_OK)
		status = load_image(self, origin->image, why);
	if (status == STATUS_OK) {
		self->epoch = origin->place.epoch;
		world_new_epoch(self->world, self->epoch);
		status = follow_records(self, seq, why);
	}
	if (status != STATUS_OK)
		player_release(self);
	return status;
}

void player_park(struct record_player *self)
{
	self->recording = NULL;
	self->has_next = false;
}

enum status player_unpark(struct record_player *self, struct recording *recording,
			  struct reason *why)
{
	self->recording = recording;
	return seek_record(self, self->done, why);
}

void player_release(struct record_player *self)
{
	if (self->world != NULL)
		world_destroy(self->world);
	self->world = NULL;
	shape_library_release(&self->shapes);
	arena_release(&self->scratch);
}

/* ---- records ----------------------------------------------------------------------------------- */

/* True: an incompatible build made the next ticks: its motion numbers (engine.h) differ from ours. */
bool player_is_incompatible(const struct record_player *self)
{
	struct motion_numbers own = engine_motion();
	return !motion_is_same(&self->numbers, &own, world_info(self->world).method);
}

bool player_is_experimental(const struct record_player *self)
{
	struct method_info methods[MOTION_METHODS_MAX];
	const char *name = world_info(self->world).method;
	uint32_t count = world_methods(methods, MOTION_METHODS_MAX);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(methods[i].name, name) == 0)
			return methods[i].motion == 0 && !player_is_incompatible(self);
	return false;
}

/* True: the next ticks are made with the bits of this build, whatever the file says. */
static bool redoes(const struct record_player *self)
{
	return self->policy == PLAYER_REDO && (self->strayed || player_is_incompatible(self));
}

static enum status take_batch(struct record_player *self, uint32_t position, struct batch *out,
			      uint8_t *result, struct reason *why)
{
	struct journal_batch from;
	enum status status = recording_batch(self->recording, &self->next, position, &from, why);
	if (status != STATUS_OK)
		return status;
	struct wire_list list = { from.commands, from.bytes, from.count };
	struct command *commands;
	status = command_take_list(&list, &self->scratch, &commands, why);
	if (status != STATUS_OK)
		return status == STATUS_NO_MEMORY
			       ? status
			       : reason_set(
					 why, STATUS_CORRUPT, -1, "batch",
					 "the commands of batch %llu of session %u are malformed",
					 LONG(from.batch), (unsigned)from.session);
	*result = from.result;
	*out = (struct batch){
		.session = from.session,
		.number = from.batch,
		.at = from.at,
		.late = from.late,
		.restricted = from.restricted,
		.recorded = from.result != STATUS_METHOD_REFUSES,
		.commands = commands,
		.count = from.count,
	};
	return STATUS_OK;
}

/* Each batch must have the recorded result, except a batch that failed for lack of memory. If no result
 * is recorded and ticks of an incompatible build are redone, a batch must be accepted. */
static enum status check_results(const struct record_player *self,
				 const struct batch_result *results, const uint8_t *recorded,
				 uint32_t count, struct reason *why)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t wanted = recorded[i];
		if (wanted == JOURNAL_RESULT_UNKNOWN && redoes(self))
			wanted = STATUS_OK;
		if (wanted != JOURNAL_RESULT_UNKNOWN && wanted != STATUS_NO_MEMORY &&
		    results[i].status != (enum status)wanted)
			return reason_set(
				why, STATUS_DIVERGED, -1, "batch",
				"batch %llu of session %u at tick %llu: %s, recorded as %s",
				LONG(results[i].number), (unsigned)results[i].session,
				LONG(self->next.tick), status_name(results[i].status),
				status_name((enum status)wanted));
	}
	return STATUS_OK;
}

static void tell_results(const struct record_player *self, const struct batch_result *results,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count && self->on_result != NULL; i++)
		self->on_result(self->context, &results[i]);
}

/* The results of batches that waited for this boundary. */
static void tell_stored_results(const struct record_player *self)
{
	uint32_t count;
	const struct batch_result *results = world_stored_results(self->world, &count);
	tell_results(self, results, count);
}

static enum status apply_batches(struct record_player *self, struct reason *why)
{
	struct arena_mark mark = arena_mark(&self->scratch);
	uint32_t count = self->next.batches;
	struct batch *batches = ARENA_ARRAY(&self->scratch, struct batch, count);
	struct batch_result *results = ARENA_ARRAY(&self->scratch, struct batch_result, count);
	uint8_t *recorded = ARENA_ARRAY(&self->scratch, uint8_t, count);
	enum status status = batches != NULL && results != NULL && recorded != NULL
				     ? STATUS_OK
				     : STATUS_NO_MEMORY;
	reason_set(why, status, -1, "replay", "%s", status_text(status));
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = take_batch(self, i, &batches[i], &recorded[i], why);
	if (status == STATUS_OK) {
		status = world_apply(self->world, batches, count, results);
		reason_set(why, status, -1, "replay", "applying: %s", status_text(status));
	}
	if (status == STATUS_OK)
		status = check_results(self, results, recorded, count, why);
	if (status == STATUS_OK) {
		tell_results(self, results, count);
		tell_stored_results(self);
	}
	arena_rewind(&self->scratch, mark);
	return status;
}

/* A step that failed at a limit is repeated and must fail again. A step that failed for lack of memory
 * did not change the state. */
static enum status retry_stopped_step(struct record_player *self, struct reason *why)
{
	struct reason step;
	if (self->next.status != STATUS_LIMIT ||
	    world_step(self->world, &parallel_serial, &step) == STATUS_LIMIT)
		return STATUS_OK;
	return reason_set(why, STATUS_DIVERGED, -1, "replay",
			  "the step from tick %llu failed at a limit, but not in the replay",
			  LONG(self->next.tick));
}

/* The next record begins another epoch: from an image, or from the present state. */
static enum status enter_epoch(struct record_player *self, struct player_event *event,
			       struct reason *why)
{
	bool restored = self->next.cause == EPOCH_RESTORED ||
			(self->next.cause == EPOCH_UPGRADED && self->next.checkpoint != 0);
	enum status status = restored ? load_state(self, self->next.checkpoint, why) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	self->epoch = self->next.epoch;
	self->numbers = self->next.numbers;
	world_new_epoch(self->world, self->epoch);
	event->kind = PLAYER_EPOCH;
	event->restored = restored;
	event->epoch = self->epoch;
	event->tick = self->next.tick;
	return STATUS_OK;
}

static enum status begin_epoch(struct record_player *self, struct player_event *event,
			       struct reason *why)
{
	enum status status = enter_epoch(self, event, why);
	if (status == STATUS_OK && world_info(self->world).tick != self->next.tick)
		return reason_set(why, STATUS_CORRUPT, -1, "epochs",
				  "epoch %u begins at tick %llu, the recording leads to %llu",
				  (unsigned)self->epoch, LONG(self->next.tick),
				  LONG(world_info(self->world).tick));
	return status;
}

/* Reports that the next record does not follow the world's present tick. */
static enum status out_of_order(const struct record_player *self, struct reason *why)
{
	return reason_set(why, STATUS_CORRUPT, -1, "hashes",
			  "record %llu is of epoch %u tick %llu, the recording leads to epoch %u "
			  "tick %llu",
			  LONG(self->next.seq), (unsigned)self->next.epoch, LONG(self->next.tick),
			  (unsigned)self->epoch, LONG(world_info(self->world).tick));
}

/* ---- ticks of incompatible builds -------------------------------------------------------------- */

/* Refuses a file that has such ticks after its last stored state: VERSION. */
static enum status refuse_ticks(struct record_player *self, struct reason *why)
{
	struct recorded_build build;
	uint64_t ticks;
	enum status status = recording_ticks_after(self->recording, self->epoch,
						   world_info(self->world).tick, true, &ticks, why);
	if (status == STATUS_OK)
		status = recording_build(self->recording, self->epoch, &build, why);
	if (status != STATUS_OK)
		return status;
	return reason_set(
		why, STATUS_VERSION, -1, "motion",
		"%llu ticks after the last checkpoint are of an incompatible build (%.36s): "
		"close it with that build, or give --upgrade redo",
		LONG(ticks), build.text);
}

/* Skips to the next stored state: a checkpoint, or an epoch that begins with one. */
static enum status skip_ticks(struct record_player *self, struct player_event *event,
			      struct reason *why)
{
	uint64_t at = world_info(self->world).tick, ticks = 0;
	enum status status = STATUS_OK;
	for (; status == STATUS_OK && self->has_next; status = fetch_record(self, why)) {
		const struct recorded *next = &self->next;
		if (next->kind == RECORDED_SHAPE) {
			status = add_shape(self, next->seq, why);
		} else if (next->kind == RECORDED_CHECKPOINT) {
			if (next->epoch != self->epoch || next->tick < at)
				return out_of_order(self, why);
			self->skipped += next->tick - at;
			*event = (struct player_event){ .kind = PLAYER_STATE,
							.epoch = next->epoch,
							.tick = next->tick,
							.seq = next->seq };
			status = load_state(self, next->seq, why);
			return status == STATUS_OK ? fetch_record(self, why) : status;
		} else if (next->kind == RECORDED_EPOCH) {
			status = recording_ticks_after(self->recording, self->epoch, at, false,
						       &ticks, why);
			self->skipped += ticks;
			at = next->tick;
			if (status == STATUS_OK)
				status = enter_epoch(self, event, why);
			if (status == STATUS_OK && event->restored)
				return fetch_record(self, why);
		}
	}
	if (status == STATUS_OK)
		status =
			recording_ticks_after(self->recording, self->epoch, at, false, &ticks, why);
	self->skipped += ticks;
	*event = (struct player_event){ .kind = PLAYER_END,
					.epoch = self->epoch,
					.tick = at + ticks };
	return status;
}

/* OK: the next ticks can be played with this build, or have been skipped (*reported). Error:
 * VERSION. */
static enum status check_numbers(struct record_player *self, struct player_event *event,
				 bool *reported, struct reason *why)
{
	if (self->policy == PLAYER_REDO || !player_is_incompatible(self))
		return STATUS_OK;
	if (self->policy == PLAYER_REFUSE)
		return refuse_ticks(self, why);
	*reported = true;
	return skip_ticks(self, event, why);
}

/* Plays the next record; *reported: `event` is set. */
static enum status play_record(struct record_player *self, struct player_event *event,
			       bool *reported, struct reason *why)
{
	enum status status = STATUS_OK;
	if (self->next.kind == RECORDED_APPLY || self->next.kind == RECORDED_STOP)
		status = check_numbers(self, event, reported, why);
	if (status != STATUS_OK || *reported)
		return status;
	switch (self->next.kind) {
	case RECORDED_EPOCH:
		status = begin_epoch(self, event, why);
		*reported = true;
		break;
	case RECORDED_SHAPE:
		status = add_shape(self, self->next.seq, why);
		break;
	case RECORDED_APPLY:
		status = apply_batches(self, why);
		break;
	case RECORDED_STOP:
		status = retry_stopped_step(self, why);
		break;
	case RECORDED_CHECKPOINT:
		*event = (struct player_event){
			.kind = PLAYER_CHECKPOINT,
			.epoch = self->epoch,
			.tick = self->next.tick,
			.seq = self->next.seq,
		};
		*reported = true;
		break;
	}
	return status == STATUS_OK ? fetch_record(self, why) : status;
}

/* ---- ticks and events -------------------------------------------------------------------------- */

static enum status recompute_tick(struct record_player *self, uint64_t recorded,
				  struct player_event *event, struct reason *why)
{
	struct reason step;
	bool redone = redoes(self);
	if (world_step(self->world, &parallel_serial, &step) != STATUS_OK)
		return reason_set(why, STATUS_DIVERGED, -1, "replay",
				  "tick %llu cannot be recomputed: %s",
				  LONG(world_info(self->world).tick + 1), step.text);
	tell_stored_results(self);
	uint64_t replayed = world_tick_hash(self->world);
	if (self->policy == PLAYER_REDO && recorded != replayed && player_is_experimental(self))
		self->strayed = true;
	redone |= self->strayed;
	self->ticks++;
	self->redone += redone;
	*event = (struct player_event){
		.kind = PLAYER_TICK,
		.epoch = self->epoch,
		.tick = world_info(self->world).tick,
		.recorded = recorded,
		.redone = redone,
		.replayed = replayed,
	};
	return STATUS_OK;
}

/* Without a due record, the next event is a tick, another epoch, or the end. */
static enum status play_tick(struct record_player *self, struct player_event *event,
			     struct reason *why)
{
	uint64_t tick = world_info(self->world).tick, hash;
	enum status status = recording_hash(self->recording, self->epoch, tick + 1, &hash, why);
	bool reported = false;
	if (status == STATUS_OK)
		status = check_numbers(self, event, &reported, why);
	if (status == STATUS_OK)
		return reported ? STATUS_OK : recompute_tick(self, hash, event, why);
	if (status != STATUS_MISSING)
		return status;
	if (!self->has_next) {
		*event = (struct player_event){
			.kind = PLAYER_END,
			.epoch = self->epoch,
			.tick = tick,
		};
		return STATUS_OK;
	}
	if (self->next.epoch == self->epoch || self->next.kind != RECORDED_EPOCH)
		return out_of_order(self, why);
	status = begin_epoch(self, event, why);
	return status == STATUS_OK ? fetch_record(self, why) : status;
}

enum status player_next(struct record_player *self, struct player_event *event, struct reason *why)
{
	for (;;) {
		uint64_t tick = world_info(self->world).tick;
		bool here = self->has_next && self->next.epoch == self->epoch;
		memset(event, 0, sizeof *event);
		if (self->has_next &&
		    (self->next.epoch < self->epoch || (here && self->next.tick < tick)))
			return out_of_order(self, why);
		if (!here || self->next.tick > tick)
			return play_tick(self, event, why);
		bool reported = false;
		enum status status = play_record(self, event, &reported, why);
		if (status != STATUS_OK || reported)
			return status;
	}
}

enum status player_settle(struct record_player *self, struct reason *why)
{
	struct player_event event;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && self->has_next && self->next.epoch == self->epoch &&
	       self->next.tick == world_info(self->world).tick &&
	       self->next.kind != RECORDED_STOP && self->next.kind != RECORDED_EPOCH) {
		bool reported = false;
		status = play_record(self, &event, &reported, why);
	}
	return status;
}
