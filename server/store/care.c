/* See care.h.
 *
 *	check    integrity_check ─► schema_check ─► prove
 *	repair   rows that can be read ─► new file ─► prove ─► cut behind the proved state ─► prove again
 *	backup   SQLite's backup in one read transaction ─► new file, synced
 *	restore  check, lock on the directory ─► copy beside the place, synced ─► rename
 */
#include "server/store/care.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "server/store/new_file.h"
#include "server/store/player.h"
#include "server/store/schema.h"

enum { PROOFS_MAX = 16 };

/* ---- proving ----------------------------------------------------------------------------------- */

/* What a replay showed of an open file. */
struct proof {
	uint64_t begins; /* seq of the checkpoint where it began; 0: none is valid */
	bool first;	 /* that is the file's first */
	uint64_t cut;	 /* seq of the first record that is not proved; UINT64_MAX: all are */
	uint64_t image;	 /* seq of the first checkpoint whose image alone is damaged; 0: none */
	uint64_t
		gone; /* seq of the first record that is gone while its batches are there; 0: none */
	uint32_t epoch; /* the last proved state */
	uint64_t tick, state_hash, ticks, skipped;
	char damage[200]; /* "" none */
};

static void note_damage(struct proof *proof, const char *text)
{
	if (proof->damage[0] == '\0')
		snprintf(proof->damage, sizeof proof->damage, "%s", text);
}

static enum status next_checkpoint(sqlite3 *db, uint64_t after, uint64_t *seq, struct reason *why)
{
	char text[96];
	snprintf(text, sizeof text, "SELECT min(seq) FROM checkpoints WHERE seq > %lld",
		 (long long)after);
	return sql_number(db, text, 0, seq, why);
}

/* Starts at the first checkpoint that is valid. */
static enum status start_proof(sqlite3 *db, struct recording *recording,
			       struct record_player *player, struct proof *proof,
			       struct reason *why)
{
	uint64_t seq, first;
	enum status status = recording_first(recording, &first, why);
	for (seq = first; status == STATUS_OK && seq != 0;) {
		status = player_start(player, recording, seq, PLAYER_SKIP, why);
		if (status == STATUS_OK) {
			proof->begins = seq;
			proof->first = seq == first;
			return STATUS_OK;
		}
		if (status != STATUS_CORRUPT && status != STATUS_VERSION)
			return status;
		note_damage(proof, why->text);
		status = next_checkpoint(db, seq, &seq, why);
	}
	return status;
}

/* A batch that changed nothing would not be missed by any hash. */
static enum status find_gone(sqlite3 *db, struct proof *proof, struct reason *why)
{
	char text[160];
	snprintf(text, sizeof text,
		 "SELECT min(apply) FROM batches WHERE apply > %lld AND apply NOT IN"
		 " (SELECT seq FROM applies)",
		 (long long)proof->begins);
	return sql_number(db, text, 0, &proof->gone, why);
}

static void note_state(struct proof *proof, const struct record_player *player)
{
	proof->epoch = player->epoch;
	proof->tick = world_info(player->world).tick;
	proof->ticks = player->ticks;
	proof->skipped = player->skipped;
}

/* Compares what an event tells with the recording; false: it differs. */
static bool agrees(struct recording *recording, const struct record_player *player,
		   const struct player_event *event, struct proof *proof)
{
	struct recorded_checkpoint checkpoint;
	struct bytes image = { 0 };
	struct reason why;
	char text[120];
	if (event->kind == PLAYER_TICK && event->recorded != event->replayed) {
		snprintf(text, sizeof text,
			 "the hash of epoch %u tick %llu is not the recorded one",
			 (unsigned)event->epoch, (unsigned long long)event->tick);
		note_damage(proof, text);
		return false;
	}
	if (event->kind != PLAYER_CHECKPOINT)
		return true;
	enum status status = recording_checkpoint(recording, event->seq, &checkpoint, NULL, &why);
	bool same = status == STATUS_OK &&
		    checkpoint.state_hash == world_state_hash(player->world, NULL, NULL);
	if (same) {
		/* The ticks do not need its image. */
		status = recording_checkpoint(recording, event->seq, &checkpoint, &image, &why);
		bytes_release(&image);
		if (status != STATUS_OK && proof->image == 0) {
			proof->image = event->seq;
			note_damage(proof, why.text);
		}
		return true;
	}
	snprintf(text, sizeof text, "checkpoint %llu is not the state of epoch %u tick %llu",
		 (unsigned long long)event->seq, (unsigned)event->epoch,
		 (unsigned long long)event->tick);
	note_damage(proof, status == STATUS_OK ? text : why.text);
	return false;
}

static uint64_t next_seq(const struct record_player *player)
{
	return player->has_next ? player->next.seq : UINT64_MAX;
}

static enum status play_proof(struct recording *recording, struct record_player *player,
			      struct proof *proof, struct reason *why)
{
	uint64_t before = next_seq(player); /* the first record after the last proved tick */
	struct player_event event;
	enum status status;
	note_state(proof, player);
	struct proof known = *proof; /* the last state before the record that is gone */
	while ((status = player_next(player, &event, why)) == STATUS_OK) {
		if (!agrees(recording, player, &event, proof)) {
			proof->cut = event.kind == PLAYER_CHECKPOINT ? event.seq : before;
			return STATUS_OK;
		}
		before = next_seq(player);
		note_state(proof, player);
		if (before < proof->gone)
			known = *proof;
		if (event.kind == PLAYER_END && proof->gone != 0)
			break;
		if (event.kind == PLAYER_END)
			return STATUS_OK;
	}
	if (status == STATUS_OK) {
		*proof = known;
		proof->cut = proof->gone;
		note_damage(proof, "the record of a time at which batches were applied is gone");
		return STATUS_OK;
	}
	if (status == STATUS_NO_MEMORY || status == STATUS_IO)
		return status;
	/* Records before the damaged one were applied with the recorded results. */
	proof->cut = next_seq(player);
	note_damage(proof, why->text);
	return STATUS_OK;
}

static enum status prove(sqlite3 *db, struct proof *proof, struct reason *why)
{
	struct recording *recording;
	struct record_player player;
	*proof = (struct proof){ .cut = UINT64_MAX };
	enum status status = recording_open(db, &recording, why);
	if (status != STATUS_OK)
		return status;
	status = start_proof(db, recording, &player, proof, why);
	if (status == STATUS_OK && proof->begins != 0) {
		status = find_gone(db, proof, why);
		if (status == STATUS_OK)
			status = play_proof(recording, &player, proof, why);
		if (status == STATUS_OK && proof->cut == UINT64_MAX)
			proof->state_hash = world_state_hash(player.world, NULL, NULL);
		player_release(&player);
	}
	recording_close(recording);
	if (status == STATUS_CORRUPT) {
		note_damage(proof, why->text);
		status = STATUS_OK;
	}
	return status;
}

static void report_proof(const struct proof *proof, struct care_report *report)
{
	report->proved = proof->begins != 0;
	report->epoch = proof->epoch;
	report->tick = proof->tick;
	report->state_hash = proof->state_hash;
	report->ticks = proof->ticks;
	report->skipped = proof->skipped;
	if (report->damage[0] == '\0')
		memcpy(report->damage, proof->damage, sizeof report->damage);
	report->sound = report->damage[0] == '\0' && report->proved;
}

/* ---- checking ---------------------------------------------------------------------------------- */

static enum status check_structure(sqlite3 *db, struct care_report *report, struct reason *why)
{
	sqlite3_stmt *check = NULL;
	enum status status = sql_prepare(db, "PRAGMA integrity_check(1)", &check, why);
	if (status == STATUS_OK)
		status = sql_row(db, check, why);
	const char *text = status == STATUS_OK ? (const char *)sqlite3_column_text(check, 0) : NULL;
	if (text != NULL && strcmp(text, "ok") != 0)
		snprintf(report->damage, sizeof report->damage, "SQLite: %.150s", text);
	if (status == STATUS_CORRUPT) {
		snprintf(report->damage, sizeof report->damage, "SQLite: %.150s", why->text);
		status = STATUS_OK;
	}
	sqlite3_finalize(check);
	return status;
}

static enum status check_db(sqlite3 *db, struct care_report *report, struct reason *why)
{
	struct proof proof;
	enum status status = schema_check(db, NULL, why);
	if (status == STATUS_OK)
		status = check_structure(db, report, why);
	if (status == STATUS_OK)
		status = prove(db, &proof, why);
	if (status == STATUS_OK)
		report_proof(&proof, report);
	return status;
}

enum status care_check(const char *path, struct care_report *report, struct reason *why)
{
	sqlite3 *db;
	*report = (struct care_report){ 0 };
	enum status status = sql_open(path, SQL_READ, &db, why);
	if (status != STATUS_OK)
		return status;
	status = check_db(db, report, why);
	sql_close(db);
	return status;
}

/* ---- backup and restore ------------------------------------------------------------------------ */

static enum status copy_database(sqlite3 *from, const char *out, struct reason *why)
{
	sqlite3 *to = NULL;
	enum status status = new_file_claim(out, why);
	if (status != STATUS_OK)
		return status;
	status = sql_open(out, SQL_CREATE, &to, why);
	if (status != STATUS_OK)
		return status;
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	/* All pages in one step, hence in one read transaction: a writer may go on. */
	int code = backup != NULL ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);
	if (backup != NULL)
		sqlite3_backup_finish(backup);
	if (code != SQLITE_DONE)
		status = reason_set(why, sql_status(code == SQLITE_OK ? SQLITE_IOERR : code), -1,
				    "file", "copying to %s: %s", out, sqlite3_errstr(code));
	return new_file_finish(to, status, why);
}

enum status care_backup(const char *path, const char *out, struct care_report *report,
			struct reason *why)
{
	sqlite3 *db;
	*report = (struct care_report){ 0 };
	enum status status = sql_open(path, SQL_READ, &db, why);
	if (status != STATUS_OK)
		return status;
	status = schema_check(db, NULL, why);
	bool written = status == STATUS_OK;
	if (status == STATUS_OK)
		status = copy_database(db, out, why);
	sql_close(db);
	if (status == STATUS_OK)
		status = new_file_sync(out, &report->bytes, why);
	if (status != STATUS_OK && status != STATUS_EXISTS && written)
		new_file_remove(out);
	return status;
}

/* Takes the lock of a data directory, so that no daemon starts meanwhile. −1 in *lock: it has none yet. */
static enum status lock_folder(const char *path, int *lock, struct reason *why)
{
	char folder[NEW_FILE_PATH], name[NEW_FILE_PATH + 16];
	new_file_folder(path, folder);
	snprintf(name, sizeof name, "%s/cairnd.lock", folder);
	*lock = open(name, O_RDWR | O_CLOEXEC);
	if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0) {
		close(*lock);
		return reason_set(why, STATUS_IN_USE, -1, "file",
				  "a cairnd is using %s: stop it first", folder);
	}
	return STATUS_OK;
}

static enum status place_backup(const char *backup, const char *path, struct care_report *report,
				struct reason *why)
{
	char beside[NEW_FILE_PATH + 16];
	struct care_report copied;
	if (access(path, F_OK) == 0)
		return reason_set(why, STATUS_EXISTS, -1, "file",
				  "%s exists: move it away first, with its -wal", path);
	if ((size_t)snprintf(beside, sizeof beside, "%s.restoring", path) >= NEW_FILE_PATH)
		return reason_set(why, STATUS_RANGE, -1, "file", "the path is too long");
	new_file_remove(beside); /* of a restore that was interrupted */
	enum status status = care_backup(backup, beside, &copied, why);
	if (status == STATUS_OK && link(beside, path) != 0)
		status = new_file_fail(path, why);
	new_file_remove(beside);
	return status == STATUS_OK ? new_file_sync(path, &report->bytes, why) : status;
}

enum status care_restore(const char *backup, const char *path, struct care_report *report,
			 struct reason *why)
{
	int lock = -1;
	enum status status = care_check(backup, report, why);
	if (status == STATUS_OK && !report->sound)
		status = reason_set(why, STATUS_CORRUPT, -1, "file",
				    "%s is damaged (%s): repair it first", backup, report->damage);
	if (status == STATUS_OK)
		status = lock_folder(path, &lock, why);
	if (status == STATUS_OK)
		status = place_backup(backup, path, report, why);
	if (lock >= 0)
		close(lock);
	return status;
}

/* ---- repair ------------------------------------------------------------------------------------ */

/* Copies rows until one cannot be read, which is a damage and no failure. */
static enum status copy_rows(sqlite3 *from, sqlite3 *to, const struct store_table *table,
			     struct care_report *report, struct reason *why)
{
	sqlite3_stmt *get = NULL, *put = NULL;
	struct reason read;
	char select[96];
	snprintf(select, sizeof select, "SELECT * FROM %s ORDER BY %s", table->name, table->key);
	enum status status = sql_prepare(to, table->insert, &put, why);
	enum status got = sql_prepare(from, select, &get, &read);
	while (status == STATUS_OK && got == STATUS_OK &&
	       (got = sql_row(from, get, &read)) == STATUS_OK)
		status = sql_copy_row(get, to, put, why);
	if (got != STATUS_MISSING && got != STATUS_OK && report->damage[0] == '\0')
		snprintf(report->damage, sizeof report->damage, "table %s: %.150s", table->name,
			 read.text);
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	return status;
}

static enum status copy_tables(sqlite3 *from, sqlite3 *to, struct care_report *report,
			       struct reason *why)
{
	enum status status = sql_exec(to, "BEGIN IMMEDIATE", why);
	if (status == STATUS_OK)
		status = schema_create(to, "", NULL, why);
	for (size_t i = 0; i < STORE_TABLES && status == STATUS_OK; i++)
		status = copy_rows(from, to, &store_tables[i], report, why);
	return status == STATUS_OK ? sql_exec(to, "COMMIT", why) : status;
}

/* table: the rows behind the proved state, and those before the checkpoint where the proof began. ?1: the
 * first record that is not proved, ?2: epoch, ?3: tick of the proved state, ?4: seq of that checkpoint, ?5:
 * a checkpoint without a valid image. */
static const char *const CUTS[] = {
	"DELETE FROM hashes WHERE epoch > ?2 OR (epoch = ?2 AND tick > ?3)",
	"UPDATE hashes SET count = ?3 - tick + 1, hashes = substr(hashes, 1, 8 * (?3 - tick + 1))"
	" WHERE epoch = ?2 AND tick + count - 1 > ?3",
	"DELETE FROM epochs WHERE seq >= ?1",
	"DELETE FROM shapes WHERE seq >= ?1",
	"DELETE FROM applies WHERE seq >= ?1 OR seq < ?4",
	"DELETE FROM batches WHERE seq >= ?1 OR seq < ?4 OR apply NOT IN (SELECT seq FROM applies)",
	"DELETE FROM stops WHERE seq >= ?1 OR seq < ?4",
	"DELETE FROM checkpoints WHERE seq >= ?1 OR seq < ?4",
	"DELETE FROM epochs WHERE epoch < (SELECT epoch FROM checkpoints WHERE seq = ?4)",
	"DELETE FROM hashes WHERE epoch < (SELECT epoch FROM checkpoints WHERE seq = ?4)"
	" OR (epoch = (SELECT epoch FROM checkpoints WHERE seq = ?4)"
	" AND tick + count - 1 <= (SELECT tick FROM checkpoints WHERE seq = ?4))",
	"REPLACE INTO meta SELECT 'begins', ?4 WHERE ?4 > 0",
	"DELETE FROM checkpoints WHERE seq = ?5",
};

/* `begins` 0: the proof began with the file's first checkpoint, so nothing before it is removed. */
static enum status cut_rows(sqlite3 *db, const struct proof *proof, uint64_t *cut,
			    struct reason *why)
{
	uint64_t most = INT64_MAX, begins = proof->first ? 0 : proof->begins;
	enum status status = sql_exec(db, "BEGIN IMMEDIATE", why);
	for (size_t i = 0; i < COUNT_OF(CUTS) && status == STATUS_OK; i++) {
		const uint64_t values[] = { MIN_OF(proof->cut, most), proof->epoch, proof->tick,
					    begins, proof->image };
		sqlite3_stmt *statement = NULL;
		status = sql_prepare(db, CUTS[i], &statement, why);
		if (status != STATUS_OK)
			break;
		for (int k = 0; k < (int)COUNT_OF(values); k++)
			if (k < sqlite3_bind_parameter_count(statement))
				sql_bind(statement, k + 1, values[k]);
		status = sql_run(db, statement, why);
		*cut += strncmp(CUTS[i], "DELETE", 6) == 0 ? (uint64_t)sqlite3_changes(db) : 0;
		sqlite3_finalize(statement);
	}
	return status == STATUS_OK ? sql_exec(db, "COMMIT", why) : status;
}

/* Cuts until everything that is left is proved. */
static enum status cut_to_proof(sqlite3 *db, struct care_report *report, struct reason *why)
{
	struct proof proof;
	for (int i = 0; i < PROOFS_MAX; i++) {
		enum status status = prove(db, &proof, why);
		if (status != STATUS_OK)
			return status;
		report_proof(&proof, report);
		if (proof.begins == 0)
			return reason_set(why, STATUS_CORRUPT, -1, "file",
					  "no checkpoint of the file is valid: %s", proof.damage);
		if (proof.damage[0] == '\0')
			return STATUS_OK;
		status = cut_rows(db, &proof, &report->rows_cut, why);
		if (status != STATUS_OK)
			return status;
	}
	return reason_set(why, STATUS_CORRUPT, -1, "file", "it has too many damages: %s",
			  proof.damage);
}

static enum status repair_into(sqlite3 *from, const char *out, struct care_report *report,
			       struct reason *why)
{
	sqlite3 *to;
	enum status status = sql_open(out, SQL_CREATE, &to, why);
	if (status != STATUS_OK)
		return status;
	status = copy_tables(from, to, report, why);
	if (status == STATUS_OK)
		status = cut_to_proof(to, report, why);
	if (sqlite3_get_autocommit(to) == 0)
		sqlite3_exec(to, "ROLLBACK", NULL, NULL, NULL);
	return new_file_finish(to, status, why);
}

enum status care_repair(const char *path, const char *out, struct care_report *report,
			struct reason *why)
{
	sqlite3 *from;
	uint32_t version;
	*report = (struct care_report){ 0 };
	enum status status = sql_open(path, SQL_ALONE, &from, why);
	if (status != STATUS_OK)
		return status;
	status = schema_check(from, &version, why);
	if (status == STATUS_OK && version != SCHEMA_VERSION)
		status = reason_set(
			why, STATUS_VERSION, -1, "file",
			"its tables are of version %u, not %d: start cairnd with it once",
			(unsigned)version, SCHEMA_VERSION);
	if (status == STATUS_OK)
		status = new_file_claim(out, why);
	if (status == STATUS_OK) {
		status = repair_into(from, out, report, why);
		if (status == STATUS_OK)
			status = new_file_sync(out, &report->bytes, why);
		if (status != STATUS_OK)
			new_file_remove(out);
	}
	sql_close(from);
	return status;
}
