/* recover.c: recovers a world from its file. See store_recover in store.h.
 *
 *	checkpoints, newest first ─► the first valid one ─► records after it, each tick hash checked ─►
 *	a new epoch, written before a client can see a state of it
 *
 * If an incompatible build (player.h) made the file's last ticks, every stored state is verified
 * first, and no tick may follow the last state, unless store_redo was called.
 *
 * All records in the file are replayed, reported durable or not: they were accepted, and they are a prefix
 * of the world's history. A checkpoint that is not valid (checksum, invariants, state hash) is logged and
 * counted, and an older one is used with a longer replay.
 */
#include <string.h>

#include "server/io/log.h"
#include "server/store/keep.h"
#include "server/store/player.h"
#include "server/store/schema.h"
#include "server/store/store_state.h"

/* An owner over this was set by a command and is not the number of a session. */
enum { OWNER_SESSION_MAX = 0x7fffffff };

/* The last checkpoint with RESULT_TICKS ticks behind it, else the first one, among those since which this
 * build, or one with the same motion numbers, has made the ticks. */
static enum status find_results(struct recording *recording, uint64_t *seq, struct reason *why)
{
	struct motion_numbers own = engine_motion();
	char ours[MOTION_TEXT_MAX], theirs[MOTION_TEXT_MAX];
	uint64_t older = UINT64_MAX, ticks = 0;
	enum status status = recording_last(recording, older, &older, why);
	motion_text(&own, ours);
	*seq = older;
	while (status == STATUS_OK && older != 0 && ticks < RESULT_TICKS) {
		struct recorded_checkpoint checkpoint;
		struct recorded_build build;
		status = recording_checkpoint(recording, older, &checkpoint, NULL, why);
		if (status == STATUS_OK)
			status = recording_build(recording, checkpoint.epoch, &build, why);
		if (status != STATUS_OK)
			break;
		motion_text(&build.numbers, theirs);
		if (strcmp(ours, theirs) != 0)
			break;
		*seq = older;
		status = recording_ticks_after(recording, checkpoint.epoch, checkpoint.tick, true,
					       &ticks, why);
		if (status == STATUS_OK)
			status = recording_last(recording, older, &older, why);
	}
	return status;
}

static enum status start_player(struct record_player *player, struct recording *recording,
				const struct journal *journal, struct recovered *out,
				struct reason *why)
{
	const char *name = journal->name;
	enum player_policy policy = journal->store->redo ? PLAYER_REDO : PLAYER_REFUSE;
	uint64_t seq = UINT64_MAX;
	enum status status = recording_last(recording, seq, &seq, why);
	if (status == STATUS_OK && seq == 0)
		return reason_set(why, STATUS_CORRUPT, -1, "file", "the file has no checkpoint");
	while (status == STATUS_OK && seq != 0) {
		status = player_start(player, recording, seq, policy, why);
		if (status != STATUS_CORRUPT)
			break;
		log_warn("checkpoint_corrupt", "world=%s checkpoint=%llu text=%s", name,
			 (unsigned long long)seq, LOG_TEXT(why->text));
		out->checkpoints_corrupt++;
		struct reason ignored;
		enum status found = recording_last(recording, seq, &seq, &ignored);
		/* If there is no older one, the reason of the last one tried is returned. */
		if (found != STATUS_OK || seq != 0)
			status = found;
	}
	return status;
}

static enum status replay_records(struct record_player *player, struct reason *why)
{
	struct player_event event;
	enum status status;
	while ((status = player_next(player, &event, why)) == STATUS_OK) {
		if (event.kind == PLAYER_END)
			return STATUS_OK;
		if (event.kind == PLAYER_TICK && event.recorded != event.replayed && !event.redone)
			return reason_set(
				why, STATUS_DIVERGED, -1, "hashes",
				"epoch %u tick %llu: recorded %016llx, replayed %016llx%s",
				(unsigned)event.epoch, (unsigned long long)event.tick,
				(unsigned long long)event.recorded,
				(unsigned long long)event.replayed,
				player_is_experimental(player)
					? " by an experimental method: if another build "
					  "made it, give --upgrade redo"
					: "");
	}
	return status;
}

static enum status take_snapshot(struct recording *recording, uint64_t seq, const char *world,
				 struct recovered *out, struct reason *why)
{
	struct recorded_checkpoint checkpoint;
	struct bytes image = { 0 };
	struct image_about about;
	enum status status = recording_checkpoint(recording, seq, &checkpoint, &image, why);
	if (status == STATUS_OK)
		status = world_image_about(image.data, image.count, &about, why);
	if (status == STATUS_OK && about.saved_hash != checkpoint.state_hash)
		status = reason_set(why, STATUS_CORRUPT, -1, "image",
				    "the image does not have the state hash it was saved with");
	if (status == STATUS_CORRUPT) {
		log_warn("snapshot_corrupt", "world=%s checkpoint=%llu text=%s", world,
			 (unsigned long long)seq, LOG_TEXT(why->text));
		out->checkpoints_corrupt++;
		bytes_release(&image);
		return STATUS_OK;
	}
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&out->snapshots, out->snapshots.count + 1u);
	if (status != STATUS_OK) {
		bytes_release(&image);
		return status;
	}
	struct recovered_snapshot *snapshot = &out->snapshots.items[out->snapshots.count++];
	memcpy(snapshot->name, checkpoint.name, sizeof snapshot->name);
	snapshot->tick = checkpoint.tick;
	snapshot->state_hash = about.state_hash;
	snapshot->image = image;
	return STATUS_OK;
}

static enum status take_snapshots(struct recording *recording, const char *world,
				  struct recovered *out, struct reason *why)
{
	uint64_t seq = 0;
	enum status status = recording_snapshot(recording, 0, &seq, why);
	while (status == STATUS_OK && seq != 0) {
		status = take_snapshot(recording, seq, world, out, why);
		if (status == STATUS_OK)
			status = recording_snapshot(recording, seq, &seq, why);
	}
	return status;
}

/* Verifies the hash of every checkpoint, because the ticks of an incompatible build cannot be
 * replayed. */
static enum status check_states(struct recording *recording, const char *world,
				struct recovered *out, struct reason *why)
{
	uint64_t seq = 0;
	enum status status = recording_last(recording, UINT64_MAX, &seq, why);
	while (status == STATUS_OK && seq != 0) {
		struct recorded_checkpoint checkpoint;
		struct image_about about;
		struct bytes image = { 0 };
		status = recording_checkpoint(recording, seq, &checkpoint, &image, why);
		if (status == STATUS_OK)
			status = world_image_about(image.data, image.count, &about, why);
		if (status == STATUS_OK && about.saved_hash != checkpoint.state_hash)
			status = reason_set(
				why, STATUS_CORRUPT, -1, "image", "%s",
				"the image does not have the state hash it was saved with");
		bytes_release(&image);
		if (status == STATUS_CORRUPT) {
			log_warn("checkpoint_corrupt", "world=%s checkpoint=%llu text=\"%s\"",
				 world, (unsigned long long)seq, why->text);
			out->checkpoints_corrupt++;
			status = STATUS_OK;
		}
		if (status == STATUS_OK)
			status = recording_last(recording, seq, &seq, why);
	}
	return status;
}

/* Sets out->upgraded if any motion number of the file's last epoch differs from this build's, or ticks
 * of an experimental method were redone. */
static enum status compare_numbers(const struct record_player *player, struct recording *recording,
				   const char *world, struct recovered *out, struct reason *why)
{
	char own[MOTION_TEXT_MAX];
	struct motion_numbers numbers = engine_motion();
	motion_text(&numbers, own);
	motion_text(&player->numbers, out->from);
	out->upgraded = strcmp(own, out->from) != 0 || player->redone > 0;
	return out->upgraded ? check_states(recording, world, out, why) : STATUS_OK;
}

/* The highest session number of batches and of owners: a fork's bodies belong to sessions of
 * another file. */
static uint32_t highest_session(const struct world *world, uint32_t session_max)
{
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = heap_alloc((size_t)count * sizeof *ids);
	if (ids == NULL)
		return session_max;
	count = MIN_OF(count, world_bodies(world, ids, count));
	for (uint32_t i = 0; i < count; i++) {
		struct body_view body;
		if (world_body(world, ids[i], &body) == STATUS_OK &&
		    body.owner <= OWNER_SESSION_MAX)
			session_max = MAX_OF(session_max, body.owner);
	}
	heap_free(ids);
	return session_max;
}

/* The highest number of each session's batches, and of its STEPs' commands, that the file still has. */
static enum status tell_numbers(sqlite3 *db, const struct recovery_events *events,
				struct reason *why)
{
	sqlite3_stmt *get = NULL;
	enum status status = sql_prepare(db,
					 "SELECT session, max(batch) FROM batches"
					 " GROUP BY session, batch < 0",
					 &get, why);
	while (status == STATUS_OK && (status = sql_row(db, get, why)) == STATUS_OK)
		events->number(events->context, (uint32_t)sql_column(get, 0), sql_column(get, 1));
	sqlite3_finalize(get);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Where sessions may have missed results, the replay begins earlier than it must. */
static enum status start_for_results(struct record_player *player, struct recording *recording,
				     const struct journal *journal, struct recovered *out,
				     struct reason *why)
{
	uint64_t seq = 0;
	struct reason ignored;
	if (find_results(recording, &seq, &ignored) == STATUS_OK && seq != 0 &&
	    player_start(player, recording, seq, PLAYER_REFUSE, &ignored) == STATUS_OK)
		return STATUS_OK;
	return start_player(player, recording, journal, out, why);
}

/* Where a replay that began early, for the results, meets ticks of an experimental method in other bits,
 * the last stored state decides: with --upgrade redo ticks are redone from there. */
static enum status replay_world(struct record_player *player, struct recording *recording,
				const struct journal *journal, struct recovered *out,
				struct reason *why)
{
	out->checkpoint_tick = world_info(player->world).tick;
	enum status status = replay_records(player, why);
	if (status != STATUS_DIVERGED || !journal->store->redo || player->policy == PLAYER_REDO ||
	    !player_is_experimental(player))
		return status;
	struct record_player early = *player;
	player_release(player);
	status = start_player(player, recording, journal, out, why);
	if (status != STATUS_OK)
		return status;
	player->on_result = early.on_result;
	player->context = early.context;
	out->checkpoint_tick = world_info(player->world).tick;
	return replay_records(player, why);
}

static enum status read_world(sqlite3 *db, const struct journal *journal,
			      const struct recovery_events *events, struct record_player *player,
			      struct recovered *out, struct reason *why)
{
	const char *name = journal->name;
	struct recording *recording;
	struct recording_counts counts;
	enum status status = recording_open(db, &recording, why);
	if (status != STATUS_OK)
		return status;
	status = events != NULL ? start_for_results(player, recording, journal, out, why)
				: start_player(player, recording, journal, out, why);
	if (status == STATUS_OK && events != NULL) {
		player->on_result = events->result;
		player->context = events->context;
		status = tell_numbers(db, events, why);
		if (status != STATUS_OK)
			player_release(player);
	}
	if (status == STATUS_OK) {
		out->whole = recording_is_whole(recording);
		status = replay_world(player, recording, journal, out, why);
		if (status == STATUS_OK)
			status = compare_numbers(player, recording, name, out, why);
		if (status == STATUS_OK)
			status = recording_count(recording, &counts, why);
		if (status == STATUS_OK)
			status = take_snapshots(recording, name, out, why);
		if (status != STATUS_OK)
			player_release(player);
	}
	recording_close(recording);
	if (status == STATUS_OK)
		out->session_max = highest_session(player->world, counts.session_max);
	return status;
}

/* Moves the world and its shapes to `out`; the world's shape source is set to the library's new address. */
static void hand_over(struct record_player *player, struct recovered *out)
{
	out->world = player->world;
	out->shapes = player->shapes;
	out->replayed = player->ticks;
	out->redone = player->redone;
	player->world = NULL;
	shape_library_init(&player->shapes);
	world_set_shape_source(out->world, shape_library_source(&out->shapes));
	player_release(player);
}

static enum status find_recording(sqlite3 *db, struct recovered *out, struct reason *why)
{
	struct keep keep;
	enum status status = keep_read(db, &keep, why);
	if (status == STATUS_OK)
		memcpy(out->recording, keep.is.name, sizeof out->recording);
	return status;
}

/* Opens the file read-only, so that a refused file is not changed. */
static enum status read_file(const char *path, struct journal *journal,
			     const struct recovery_events *events, struct record_player *player,
			     struct recovered *out, struct reason *why)
{
	sqlite3 *db;
	enum status status = sql_open(path, SQL_ALONE, &db, why);
	if (status != STATUS_OK)
		return status;
	status = schema_check(db, NULL, why);
	if (status == STATUS_OK) {
		status = schema_pace(db, &out->pace, why);
		out->has_pace = status == STATUS_OK;
	}
	if (status == STATUS_OK || status == STATUS_MISSING)
		status = find_recording(db, out, why);
	if (status == STATUS_OK)
		status = schema_durability(db, &journal->durability, why);
	journal->own_durability = status == STATUS_OK;
	out->durability = journal->durability;
	if (status == STATUS_OK || status == STATUS_MISSING)
		status = read_world(db, journal, events, player, out, why);
	sql_close(db);
	return status;
}

static enum status recover_world(struct journal *journal, const struct recovery_events *events,
				 struct recovered *out, struct reason *why)
{
	char path[STORE_PATH_MAX];
	struct record_player player;
	store_path(journal->store, journal->name, "", path);
	enum status status = read_file(path, journal, events, &player, out, why);
	if (status != STATUS_OK)
		return status;
	hand_over(&player, out);
	status = world_file_open(&journal->file, path, why);
	if (status != STATUS_OK)
		return status;
	uint32_t epoch = journal->file.epoch + 1;
	world_new_epoch(out->world, epoch);
	out->upgraded = out->upgraded || journal->file.version < SCHEMA_VERSION;
	if (out->upgraded)
		return world_file_upgraded(&journal->file, epoch, out->world, out->redone, why);
	return world_file_recovered(&journal->file, epoch, world_info(out->world).tick, why);
}

static void release_recovered(struct recovered *self)
{
	for (uint32_t i = 0; i < self->snapshots.count; i++)
		bytes_release(&self->snapshots.items[i].image);
	ARRAY_RELEASE(&self->snapshots);
	if (self->world != NULL)
		world_destroy(self->world);
	self->world = NULL;
	shape_library_release(&self->shapes);
}

enum status store_recover(struct store *store, const char *name,
			  const struct recovery_events *events, struct recovered *out,
			  struct reason *why)
{
	memset(out, 0, sizeof *out);
	struct journal *journal = journal_new(store, name);
	if (journal == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				  status_text(STATUS_NO_MEMORY));
	enum status status = recover_world(journal, events, out, why);
	if (status != STATUS_OK) {
		release_recovered(out);
		journal_destroy(journal);
		return status;
	}
	out->journal = journal;
	return STATUS_OK;
}
