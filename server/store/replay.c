/* replay.c: checks that this program reproduces the recorded hashes. See replay.h.
 *
 * One file: the hash of each tick is compared, and at each checkpoint the hash of every table and
 * the whole image. After a tick that differs the replay continues to the next checkpoint, because
 * only a checkpoint contains enough to locate the difference. Two files: both are replayed side by
 * side, and at the first tick at which their hashes or states differ the two images are compared.
 */
#include "server/store/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/store/player.h"
#include "server/store/schema.h"

struct tape {
	sqlite3 *db;
	struct recording *recording;
	struct record_player player;
	bool playing;
};

/* ---- opening ----------------------------------------------------------------------------------- */

static void tape_close(struct tape *self)
{
	if (self->playing)
		player_release(&self->player);
	if (self->recording != NULL)
		recording_close(self->recording);
	sql_close(self->db);
}

static enum status tape_open(struct tape *self, const char *path, struct reason *why)
{
	memset(self, 0, sizeof *self);
	enum status status = sql_open(path, SQL_READ, &self->db, why);
	if (status == STATUS_OK)
		status = schema_check(self->db, NULL, why);
	if (status == STATUS_OK)
		status = recording_open(self->db, &self->recording, why);
	if (status != STATUS_OK)
		tape_close(self);
	return status;
}

/* From the checkpoint nearest at or before `from`; 0: the first. */
static enum status tape_play(struct tape *self, uint64_t from, enum player_policy policy,
			     struct reason *why)
{
	uint64_t seq;
	enum status status = from == 0 ? recording_first(self->recording, &seq, why)
				       : recording_at(self->recording, from, &seq, why);
	if (status == STATUS_OK && seq == 0)
		status = reason_set(why, STATUS_MISSING, -1, "from",
				    "there is no checkpoint at or before tick %" PRIu64 "%s", from,
				    recording_is_whole(self->recording)
					    ? ""
					    : ": the recording's beginning was pruned");
	if (status == STATUS_OK)
		status = player_start(&self->player, self->recording, seq, policy, why);
	self->playing = status == STATUS_OK;
	return status;
}

/* ---- reporting differences --------------------------------------------------------------------- */

static void first_difference(struct replay_report *report, enum replay_seen seen,
			     const struct player_event *event, uint64_t recorded, uint64_t replayed)
{
	if (report->verdict == REPLAY_DIFFERS)
		return;
	report->verdict = REPLAY_DIFFERS;
	report->seen = seen;
	report->first_epoch = event->epoch;
	report->first_tick = event->tick;
	report->recorded = recorded;
	report->replayed = replayed;
}

/* Parses the engine's description of a difference: "TABLE row R (body N), COLUMN: first image A,
 * second B". */
static void locate(struct replay_report *report, uint64_t tick, const struct reason *difference)
{
	report->located = true;
	report->located_tick = tick;
	snprintf(report->column, sizeof report->column, "%s", difference->field);
	report->row = difference->index;
	snprintf(report->detail, sizeof report->detail, "%s", difference->text);
	size_t table = strcspn(difference->text, " ");
	if (report->table[0] == '\0')
		snprintf(report->table, sizeof report->table, "%.*s", (int)MIN_OF(table, 31u),
			 difference->text);
	const char *body = strstr(difference->text, "(body ");
	if (body != NULL)
		sscanf(body, "(body %" SCNu32, &report->body);
}

/* The states are equal, so an earlier difference is only in the recorded hashes. */
static void locate_nothing(struct replay_report *report, uint64_t tick)
{
	report->located = true;
	report->located_tick = tick;
	report->row = -1;
	snprintf(report->detail, sizeof report->detail,
		 "the states at tick %" PRIu64 " are equal: only the record differs", tick);
}

/* ---- one file ---------------------------------------------------------------------------------- */

/* The stored image of a checkpoint, and its header. CORRUPT is a difference, not an error. */
static enum status fetch_image(struct tape *tape, const struct player_event *event,
			       struct recorded_checkpoint *checkpoint, struct bytes *image,
			       struct image_about *about, struct replay_report *report,
			       struct reason *why)
{
	memset(about, 0, sizeof *about);
	enum status status =
		recording_checkpoint(tape->recording, event->seq, checkpoint, image, why);
	if (status == STATUS_OK)
		status = world_image_about(image->data, image->count, about, why);
	if (status != STATUS_CORRUPT)
		return status;
	first_difference(report, REPLAY_IMAGE, event, 0, 0);
	locate(report, event->tick, why);
	return STATUS_OK;
}

/* A recorded hash in terms of this build's hash rule: if the stored image has the recorded hash
 * under the old rule, its hash under the new one is compared instead. */
static uint64_t translate(uint64_t recorded, uint64_t saved, uint64_t now)
{
	return recorded == saved ? now : recorded;
}

/* The first table whose hash differs; false when all agree. */
static bool differing_table(const struct recorded_checkpoint *checkpoint,
			    const struct image_about *about, const uint64_t *tables,
			    struct replay_report *report)
{
	if (checkpoint->table_count != about->table_count) {
		snprintf(report->table, sizeof report->table, "%s", "tables");
		return true;
	}
	for (uint32_t i = 0; i < about->table_count; i++) {
		if (translate(checkpoint->table_hashes[i], about->saved_hashes[i],
			      about->hashes[i]) == tables[i])
			continue;
		snprintf(report->table, sizeof report->table, "%s", world_table_name(i));
		return true;
	}
	return false;
}

/* Compares the stored image with the world's own. */
static enum status compare_images(struct tape *tape, const struct player_event *event,
				  const struct bytes *stored, struct replay_report *report,
				  struct reason *why)
{
	struct bytes own = { 0 };
	struct reason difference;
	enum status status = world_save(tape->player.world, &own);
	reason_set(why, status, -1, "replay", "%s", status_text(status));
	if (status == STATUS_OK) {
		enum status found = world_image_difference(stored->data, stored->count, own.data,
							   own.count, &difference);
		if (found == STATUS_NO_MEMORY)
			status = reason_set(why, found, -1, "replay", "%s", difference.text);
		if (found != STATUS_OK && status == STATUS_OK) {
			first_difference(report, REPLAY_IMAGE, event, 0, 0);
			locate(report, event->tick, &difference);
		}
	}
	bytes_release(&own);
	return status;
}

static void compare_hashes(struct tape *tape, const struct player_event *event,
			   const struct recorded_checkpoint *checkpoint,
			   const struct image_about *about, struct replay_report *report)
{
	uint64_t tables[WORLD_TABLES_MAX];
	uint64_t hash = world_state_hash(tape->player.world, tables, NULL);
	if (differing_table(checkpoint, about, tables, report) ||
	    hash != translate(checkpoint->state_hash, about->saved_hash, about->state_hash))
		first_difference(report, REPLAY_STATE_HASH, event, checkpoint->state_hash, hash);
}

static enum status check_checkpoint(struct tape *tape, const struct player_event *event,
				    struct replay_report *report, struct reason *why)
{
	struct recorded_checkpoint checkpoint;
	struct image_about about;
	struct bytes stored = { 0 };
	report->checkpoints++;
	enum status status = fetch_image(tape, event, &checkpoint, &stored, &about, report, why);
	if (status == STATUS_OK && about.version != 0) {
		compare_hashes(tape, event, &checkpoint, &about, report);
		status = compare_images(tape, event, &stored, report, why);
		if (status == STATUS_OK && report->verdict == REPLAY_DIFFERS && !report->located)
			locate_nothing(report, event->tick);
	}
	bytes_release(&stored);
	return status;
}

static void report_replay_progress(const struct replay_options *options, const struct tape *tape,
				   const struct replay_report *report)
{
	if (options->progress != NULL)
		options->progress(options->context, tape->player.ticks, report->counts.ticks);
}

/* Handles one event; *over: the file ends, or the first difference is located. */
static enum status verify_next(struct tape *tape, struct replay_report *report, bool *over,
			       struct reason *why)
{
	struct player_event event;
	enum status status = player_next(&tape->player, &event, why);
	if (status == STATUS_DIVERGED) {
		struct world_info info = world_info(tape->player.world);
		event.epoch = tape->player.epoch;
		event.tick = info.tick + 1;
		first_difference(report, REPLAY_STEP, &event, 0, 0);
		snprintf(report->detail, sizeof report->detail, "%s", why->text);
		*over = true;
		return STATUS_OK;
	}
	if (status != STATUS_OK)
		return status;
	switch (event.kind) {
	case PLAYER_TICK:
		if (event.recorded != event.replayed)
			first_difference(report, REPLAY_TICK_HASH, &event, event.recorded,
					 event.replayed);
		break;
	case PLAYER_CHECKPOINT:
		status = check_checkpoint(tape, &event, report, why);
		*over = report->verdict == REPLAY_DIFFERS;
		break;
	case PLAYER_STATE:
		/* The player has verified its hash. An earlier difference cannot be located any
		 * further. */
		report->states++;
		*over = report->verdict == REPLAY_DIFFERS;
		break;
	case PLAYER_EPOCH:
		/* A restored state has replaced the one that differs. */
		*over = report->verdict == REPLAY_DIFFERS && event.restored;
		break;
	case PLAYER_END:
		*over = true;
		break;
	}
	return status;
}

static void note_end(const struct tape *tape, struct replay_report *report)
{
	struct world_info info = world_info(tape->player.world);
	report->ticks = tape->player.ticks;
	report->skipped = tape->player.skipped;
	report->epoch = info.epoch;
	report->tick = info.tick;
	report->state_hash = world_state_hash(tape->player.world, NULL, NULL);
	if (report->verdict == REPLAY_UNCHECKED)
		report->verdict = report->skipped > 0 ? REPLAY_STATES : REPLAY_SAME;
}

static enum status verify_tape(struct tape *tape, const struct replay_options *options,
			       struct replay_report *report, struct reason *why)
{
	bool over = false;
	enum status status = tape_play(tape, options->from, PLAYER_SKIP, why);
	while (status == STATUS_OK && !over) {
		status = verify_next(tape, report, &over, why);
		report_replay_progress(options, tape, report);
	}
	if (status == STATUS_OK)
		note_end(tape, report);
	return status;
}

/* ---- two files --------------------------------------------------------------------------------- */

/* The next tick of one recording, or its end; other events are part of the state. */
static enum status next_tick(struct tape *tape, struct player_event *event, struct reason *why)
{
	enum status status;
	do
		status = player_next(&tape->player, event, why);
	while (status == STATUS_OK && event->kind != PLAYER_TICK && event->kind != PLAYER_END);
	return status;
}

/* Plays up to `tick`, so that both worlds are at the same tick. */
static enum status catch_up(struct tape *tape, uint64_t tick, struct reason *why)
{
	struct player_event event = { .kind = PLAYER_TICK };
	enum status status = STATUS_OK;
	while (status == STATUS_OK && event.kind != PLAYER_END &&
	       world_info(tape->player.world).tick < tick)
		status = next_tick(tape, &event, why);
	if (status == STATUS_OK && world_info(tape->player.world).tick != tick)
		return reason_set(why, STATUS_TICK, -1, "against",
				  "the two recordings have no tick in common to start from");
	return status;
}

static struct recorded_place place_of(const struct tape *tape)
{
	return (struct recorded_place){ tape->player.epoch, world_info(tape->player.world).tick };
}

static bool is_before(struct recorded_place a, struct recorded_place b)
{
	return a.epoch != b.epoch ? a.epoch < b.epoch : a.tick < b.tick;
}

/* Plays up to `place`, in an epoch that the recording has. */
static enum status play_up_to(struct tape *tape, struct recorded_place place, struct reason *why)
{
	struct player_event event = { .kind = PLAYER_TICK };
	enum status status = STATUS_OK;
	while (status == STATUS_OK && event.kind != PLAYER_END && is_before(place_of(tape), place))
		status = player_next(&tape->player, &event, why);
	return status;
}

static enum status has_epoch(struct tape *tape, uint32_t number, bool *has, struct reason *why)
{
	struct recorded_epoch epoch;
	enum status status = recording_epoch(tape->recording, number - 1, &epoch, why);
	*has = status == STATUS_OK && epoch.begin.epoch == number;
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Brings both to the first state that they have in common: where the later one begins. Files of one world,
 * pruned differently, have its epochs; otherwise ticks are matched by number. */
static enum status meet(struct tape *one, struct tape *other, struct replay_report *report,
			struct reason *why)
{
	struct recorded_place a = place_of(one), b = place_of(other);
	struct recorded_place later = is_before(a, b) ? b : a;
	bool known = false;
	report->begins_differ = is_before(a, b) || is_before(b, a);
	enum status status = has_epoch(is_before(a, b) ? one : other, later.epoch, &known, why);
	if (status == STATUS_OK && known) {
		status = play_up_to(one, later, why);
		if (status == STATUS_OK)
			status = play_up_to(other, later, why);
	}
	uint64_t start = MAX_OF(place_of(one).tick, place_of(other).tick);
	if (status == STATUS_OK)
		status = catch_up(one, start, why);
	if (status == STATUS_OK)
		status = catch_up(other, start, why);
	/* A checkpoint between the commands of a boundary: after the next tick all of them are applied. */
	struct player_event event;
	if (status == STATUS_OK &&
	    world_info(one->player.world).edit != world_info(other->player.world).edit) {
		status = next_tick(one, &event, why);
		if (status == STATUS_OK)
			status = next_tick(other, &event, why);
	}
	report->started = place_of(one).tick;
	return status;
}

static enum status compare_worlds(struct tape *one, struct tape *other, uint64_t tick,
				  struct replay_report *report, struct reason *why)
{
	struct bytes a = { 0 }, b = { 0 };
	struct reason difference;
	enum status status = world_save(one->player.world, &a);
	if (status == STATUS_OK)
		status = world_save(other->player.world, &b);
	enum status found = status;
	if (status == STATUS_OK)
		found = world_image_difference(a.data, a.count, b.data, b.count, &difference);
	bytes_release(&a);
	bytes_release(&b);
	if (status != STATUS_OK || found == STATUS_NO_MEMORY)
		return reason_set(why, STATUS_NO_MEMORY, -1, "replay", "%s",
				  status_text(STATUS_NO_MEMORY));
	if (found == STATUS_OK)
		locate_nothing(report, tick);
	else
		locate(report, tick, &difference);
	return STATUS_OK;
}

/* One tick of one side: its event, and the hash of the state after it. */
struct side {
	struct tape *tape;
	struct player_event event;
	uint64_t hash;
	enum status status;
	struct reason why;
};

static void play_side(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	struct side *sides = context;
	UNUSED(worker);
	for (uint32_t i = first; i < last; i++) {
		struct side *side = &sides[i];
		side->status = next_tick(side->tape, &side->event, &side->why);
		if (side->status == STATUS_OK)
			side->hash = world_state_hash(side->tape->player.world, NULL, NULL);
	}
}

/* One tick of both, at the same time if there are two workers. */
static enum status compare_next_tick(struct tape *one, struct tape *other,
				     const struct parallel *parallel, struct replay_report *report,
				     bool *over, struct reason *why)
{
	struct side sides[2] = { { .tape = one }, { .tape = other } };
	parallel_run(parallel, 2, 1, play_side, sides);
	for (int i = 0; i < 2; i++)
		if (sides[i].status != STATUS_OK) {
			*why = sides[i].why;
			return sides[i].status;
		}
	struct player_event a = sides[0].event, b = sides[1].event;
	*over = a.kind == PLAYER_END || b.kind == PLAYER_END;
	if (a.kind != b.kind) {
		/* One recording is longer. */
		report->longer = a.kind == PLAYER_END ? REPLAY_AGAINST : REPLAY_FILE;
		return STATUS_OK;
	}
	if (a.tick != b.tick) {
		first_difference(report, REPLAY_LENGTH, &a, a.tick, b.tick);
		snprintf(report->detail, sizeof report->detail,
			 "one continues at tick %" PRIu64 ", the other at tick %" PRIu64, a.tick,
			 b.tick);
		*over = true;
		return STATUS_OK;
	}
	uint64_t x = sides[0].hash, y = sides[1].hash;
	if (a.kind == PLAYER_TICK && a.recorded != b.recorded)
		first_difference(report, REPLAY_TICK_HASH, &a, a.recorded, b.recorded);
	else if (x != y)
		first_difference(report, REPLAY_STATE_HASH, &a, x, y);
	else
		return STATUS_OK;
	*over = true;
	return compare_worlds(one, other, a.tick, report, why);
}

/* ---- bisecting ---------------------------------------------------------------------------------- */

/* The first tick whose recorded hashes differ in an epoch that both files have; UINT64_MAX: none. */
static enum status first_unequal_tick(struct tape *one, struct tape *other, uint64_t *tick,
				      struct reason *why)
{
	struct recorded_epoch epoch;
	uint32_t after = 0;
	enum status status;
	*tick = UINT64_MAX;
	while ((status = recording_epoch(one->recording, after, &epoch, why)) == STATUS_OK) {
		after = epoch.begin.epoch;
		for (uint64_t at = epoch.begin.tick + 1; at <= epoch.last; at++) {
			uint64_t a, b;
			status = recording_hash(one->recording, after, at, &a, why);
			if (status == STATUS_OK)
				status = recording_hash(other->recording, after, at, &b, why);
			if (status != STATUS_OK && status != STATUS_MISSING)
				return status;
			if (status == STATUS_OK && a != b) {
				*tick = at;
				return STATUS_OK;
			}
		}
	}
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Whether the other file has the same state stored at that tick. */
static enum status is_stored_equal(struct tape *other, const struct recorded_checkpoint *one,
				   bool *equal, struct reason *why)
{
	struct recorded_checkpoint its;
	uint64_t seq;
	*equal = false;
	enum status status = recording_at(other->recording, one->tick, &seq, why);
	if (status != STATUS_OK || seq == 0)
		return status;
	status = recording_checkpoint(other->recording, seq, &its, NULL, why);
	*equal = status == STATUS_OK && its.epoch == one->epoch && its.tick == one->tick &&
		 its.state_hash == one->state_hash;
	return status;
}

/* The last stored state before the first tick that differs, that both files have: a difference that no hash
 * of a tick shows yet is between it and the next one. */
static enum status find_equal_states(struct tape *one, struct tape *other, uint64_t *from,
				     struct reason *why)
{
	uint64_t seq = UINT64_MAX, unequal;
	enum status status = first_unequal_tick(one, other, &unequal, why);
	*from = 0;
	while (status == STATUS_OK) {
		struct recorded_checkpoint checkpoint;
		bool equal = false;
		status = recording_last(one->recording, seq, &seq, why);
		if (status != STATUS_OK || seq == 0)
			break;
		status = recording_checkpoint(one->recording, seq, &checkpoint, NULL, why);
		if (status == STATUS_OK && checkpoint.tick < unequal)
			status = is_stored_equal(other, &checkpoint, &equal, why);
		if (equal) {
			*from = checkpoint.tick;
			break;
		}
	}
	return status;
}

/* The last command that was applied before the tick of the first difference. */
static enum status note_command(struct tape *tape, struct replay_report *report, int file,
				struct reason *why)
{
	struct recorded_place place = { report->first_epoch, report->first_tick };
	struct recorded apply = { .kind = RECORDED_APPLY };
	struct journal_batch batch;
	struct command *commands;
	struct arena arena;
	sqlite3_stmt *find = NULL;
	uint64_t seq;
	enum status status = recording_records_before(tape->recording, place, &seq, why);
	if (status == STATUS_OK)
		status = sql_prepare(tape->db,
				     "SELECT seq, tick, batches FROM applies WHERE seq <= ?1 AND"
				     " batches > 0 ORDER BY seq DESC LIMIT 1",
				     &find, why);
	if (status == STATUS_OK) {
		sql_bind(find, 1, seq);
		status = sql_row(tape->db, find, why);
	}
	apply.seq = status == STATUS_OK ? sql_column(find, 0) : 0;
	apply.tick = status == STATUS_OK ? sql_column(find, 1) : 0;
	apply.batches = status == STATUS_OK ? (uint32_t)sql_column(find, 2) : 0;
	sqlite3_finalize(find);
	if (status != STATUS_OK || arena_init(&arena, 64u << 10) != STATUS_OK)
		return status == STATUS_MISSING ? STATUS_OK : status;
	status = recording_batch(tape->recording, &apply, apply.batches - 1, &batch, why);
	struct wire_list list = { batch.commands, batch.bytes, batch.count };
	if (status == STATUS_OK && batch.count > 0 &&
	    command_take_list(&list, &arena, &commands, why) == STATUS_OK) {
		command_describe(&commands[batch.count - 1], report->command[file],
				 sizeof report->command[file]);
		report->command_tick[file] = apply.tick;
	}
	arena_release(&arena);
	return status;
}

static enum status compare_tapes(struct tape *one, struct tape *other,
				 const struct replay_options *options, struct replay_report *report,
				 struct reason *why)
{
	bool over = false;
	uint64_t from = options->from;
	const struct parallel *parallel =
		options->parallel != NULL ? options->parallel : &parallel_serial;
	enum status status =
		options->bisect ? find_equal_states(one, other, &from, why) : STATUS_OK;
	if (status == STATUS_OK)
		status = tape_play(one, from, PLAYER_REFUSE, why);
	if (status == STATUS_OK)
		status = tape_play(other, from, PLAYER_REFUSE, why);
	if (status != STATUS_OK)
		return status;
	status = meet(one, other, report, why);
	if (status != STATUS_OK)
		return status;
	uint64_t start = report->started;
	uint64_t x = world_state_hash(one->player.world, NULL, NULL);
	uint64_t y = world_state_hash(other->player.world, NULL, NULL);
	if (x != y) {
		struct player_event event = { .epoch = one->player.epoch, .tick = start };
		first_difference(report, REPLAY_STATE_HASH, &event, x, y);
		status = compare_worlds(one, other, start, report, why);
		over = true;
	}
	while (status == STATUS_OK && !over) {
		status = compare_next_tick(one, other, parallel, report, &over, why);
		report_replay_progress(options, one, report);
	}
	if (status == STATUS_OK)
		note_end(one, report);
	if (status == STATUS_OK && report->verdict == REPLAY_DIFFERS)
		status = note_command(one, report, 0, why);
	if (status == STATUS_OK && report->verdict == REPLAY_DIFFERS)
		status = note_command(other, report, 1, why);
	return status;
}

/* ---- public function --------------------------------------------------------------------------- */

/* Epoch and tick at which the retained history begins. */
static enum status note_beginning(struct tape *tape, struct replay_report *report,
				  struct reason *why)
{
	struct recorded_checkpoint first = { 0 };
	uint64_t seq;
	enum status status = recording_first(tape->recording, &seq, why);
	if (status == STATUS_OK && seq != 0)
		status = recording_checkpoint(tape->recording, seq, &first, NULL, why);
	report->whole = recording_is_whole(tape->recording);
	report->begins_epoch = first.epoch;
	report->begins_tick = first.tick;
	return status;
}

enum status replay_file(const struct replay_options *options, struct replay_report *report,
			struct reason *why)
{
	struct tape one, other;
	memset(report, 0, sizeof *report);
	report->row = -1;
	enum status status = tape_open(&one, options->file, why);
	if (status != STATUS_OK)
		return status;
	status = schema_meta(one.db, "build", report->build, sizeof report->build, why);
	if (status == STATUS_OK)
		status = recording_count(one.recording, &report->counts, why);
	if (status == STATUS_OK)
		status = note_beginning(&one, report, why);
	if (status == STATUS_OK && options->against != NULL) {
		status = tape_open(&other, options->against, why);
		if (status == STATUS_OK) {
			status = compare_tapes(&one, &other, options, report, why);
			tape_close(&other);
		}
	} else if (status == STATUS_OK && options->verify) {
		status = verify_tape(&one, options, report, why);
	}
	tape_close(&one);
	return status;
}
