/* prune.c: bounds the size of a world's file, however old the world is. See prune.h.
 *
 * The plan is made after each checkpoint: the records begin at the K-th newest checkpoint, or where a
 * running recording begins (keep.h), if that is earlier, unless `from_birth` is set. Then, slice by slice,
 * these rows are removed:
 *
 *	checkpoints   older than the K newest, except the one where the records begin, the newest of each
 *	              name, and those that a RESTORE in the retained history goes back to; with `from_birth`
 *	              also the first one of each OLD_SPACING ticks, so that no tick is far from a stored state
 *	batches, applies, stops, hashes, epochs   before the beginning; the epoch of the beginning stays
 *	shapes        none: a shape is valid from its record on for ever
 *
 * The new beginning is written in the transaction of the first slice, so a reader of the file never
 * mistakes a partly pruned history for a complete one.
 *
 * Slices are committed without an fsync (synchronous = NORMAL). The log keeps transactions in order, so a
 * crash of the machine may undo the last slices, but no record that was reported durable; the next
 * transaction of records is FULL again and makes both durable.
 *
 * Later records reuse free pages, so a file stays about as large as it ever was. Free pages are not
 * returned to the file system, because a file that shrinks and grows in turn would cost more writes
 * than the space is worth. VACUUM returns them while no daemon runs.
 */
#include "server/store/prune.h"

#include <stdio.h>

#include "server/store/keep.h"

/* Rows of hashes hold up to 256 ticks. */
enum { HASH_ROWS_SHARE = 16 };

static const char *const texts[PRUNE_STATEMENTS] = {
	[PRUNE_FIND] =
		"SELECT seq FROM checkpoints c WHERE seq < ?1 AND seq <> ?2 AND (name IS NULL"
		" OR EXISTS (SELECT 1 FROM checkpoints n WHERE n.name = c.name"
		" AND n.seq > c.seq)) AND NOT EXISTS (SELECT 1 FROM epochs e"
		" WHERE e.checkpoint = c.seq AND e.seq > ?2) AND (?3 = 0 OR (SELECT"
		" p.epoch = c.epoch AND p.tick / ?3 = c.tick / ?3 FROM checkpoints p"
		" WHERE p.seq < c.seq ORDER BY p.seq DESC LIMIT 1)) LIMIT 1",
	[PRUNE_DROP] = "DELETE FROM checkpoints WHERE seq = ?1",
	[PRUNE_SESSION] = "SELECT max(session) FROM (SELECT session FROM batches WHERE seq < ?1"
			  " ORDER BY seq LIMIT ?2)",
	[PRUNE_BATCHES] = "DELETE FROM batches WHERE seq IN (SELECT seq FROM batches WHERE seq < ?1"
			  " ORDER BY seq LIMIT ?2)",
	[PRUNE_APPLIES] = "DELETE FROM applies WHERE seq IN (SELECT seq FROM applies WHERE seq < ?1"
			  " ORDER BY seq LIMIT ?2)",
	[PRUNE_STOPS] = "DELETE FROM stops WHERE seq IN (SELECT seq FROM stops WHERE seq < ?1"
			" ORDER BY seq LIMIT ?2)",
	[PRUNE_HASHES] = "DELETE FROM hashes WHERE (epoch, tick) IN (SELECT epoch, tick FROM hashes"
			 " WHERE epoch < ?1 OR (epoch = ?1 AND tick + count <= ?3 + 1)"
			 " ORDER BY epoch, tick LIMIT ?2)",
	[PRUNE_EPOCHS] =
		"DELETE FROM epochs WHERE epoch IN (SELECT epoch FROM epochs WHERE epoch < ?1"
		" ORDER BY epoch LIMIT ?2)",
	[PRUNE_PUT_META] = "REPLACE INTO meta VALUES (?1, ?2)",
};

enum status prune_begins(sqlite3 *db, uint64_t *seq, struct reason *why)
{
	return sql_number(db, "SELECT value FROM meta WHERE key = 'begins'", 0, seq, why);
}

enum status prune_session_max(sqlite3 *db, uint64_t *session, struct reason *why)
{
	return sql_number(db, "SELECT value FROM meta WHERE key = 'session_max'", 0, session, why);
}

void prune_is_due(struct pruner *self)
{
	self->due = true;
	self->planned = false;
}

void prune_end(struct pruner *self)
{
	for (int i = 0; i < PRUNE_STATEMENTS; i++)
		sqlite3_finalize(self->statements[i]);
	*self = (struct pruner){ 0 };
}

static enum status relax_commits(struct pruner *self, sqlite3 *db, struct reason *why)
{
	enum status status = STATUS_OK;
	if (!self->relaxed)
		status = sql_exec(db, "PRAGMA synchronous = NORMAL", why);
	self->relaxed = true;
	return status;
}

enum status prune_strict(struct pruner *self, sqlite3 *db, struct reason *why)
{
	enum status status = STATUS_OK;
	if (self->relaxed)
		status = sql_exec(db, "PRAGMA synchronous = FULL", why);
	if (status == STATUS_OK)
		self->relaxed = false;
	return status;
}

static enum status prepare_statements(struct pruner *self, sqlite3 *db, struct reason *why)
{
	enum status status = STATUS_OK;
	for (int i = 0; i < PRUNE_STATEMENTS && status == STATUS_OK; i++)
		if (self->statements[i] == NULL)
			status = sql_prepare(db, texts[i], &self->statements[i], why);
	return status;
}

/* ---- the plan ---------------------------------------------------------------------------------- */

static enum status put_meta(struct pruner *self, sqlite3 *db, const char *key, uint64_t value,
			    struct reason *why)
{
	sqlite3_stmt *put = self->statements[PRUNE_PUT_META];
	sql_bind_text(put, 1, key);
	sql_bind(put, 2, value);
	return sql_run(db, put, why);
}

/* One column of the checkpoint `seq`, a number. */
static enum status checkpoint_number(sqlite3 *db, const char *column, uint64_t seq, uint64_t *out,
				     struct reason *why)
{
	char text[96];
	snprintf(text, sizeof text, "SELECT %s FROM checkpoints WHERE seq = %llu", column,
		 (unsigned long long)seq);
	return sql_number(db, text, 0, out, why);
}

/* The K-th newest checkpoint; 0: there are fewer. */
static enum status oldest_of(sqlite3 *db, uint32_t checkpoints, uint64_t *seq, struct reason *why)
{
	char text[96];
	snprintf(text, sizeof text,
		 "SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT 1 OFFSET %u",
		 (unsigned)(checkpoints - 1));
	return sql_number(db, text, 0, seq, why);
}

/* With records from birth on, a recovery would replay the whole history for the results of RESULT_TICKS
 * ticks, if the K newest checkpoints are of the last few. */
static enum status reach_results(sqlite3 *db, uint64_t *oldest, struct reason *why)
{
	uint64_t seq;
	enum status status = keep_before_ticks(db, RESULT_TICKS, &seq, why);
	if (status == STATUS_OK && seq != 0)
		*oldest = MIN_OF(*oldest, seq);
	return status;
}

static enum status plan_pruning(struct pruner *self, sqlite3 *db, const struct retention *keep,
				struct reason *why)
{
	uint64_t begun = 0, first = 0, epoch = 0, kept = UINT64_MAX;
	enum status status = prune_begins(db, &begun, why);
	if (status == STATUS_OK)
		status = prune_session_max(db, &self->session_max, why);
	if (status == STATUS_OK)
		status = sql_number(db, "SELECT min(seq) FROM checkpoints", 0, &first, why);
	if (status == STATUS_OK)
		status = oldest_of(db, keep->checkpoints, &self->oldest_kept, why);
	if (status == STATUS_OK && keep->from_birth)
		status = reach_results(db, &self->oldest_kept, why);
	if (status == STATUS_OK)
		status = keep_advance(db, self->oldest_kept, &kept, why);
	if (status != STATUS_OK)
		return status;
	self->oldest_kept = MIN_OF(self->oldest_kept, kept);
	begun = begun > 0 ? begun : first;
	self->begins = keep->from_birth ? begun : MAX_OF(begun, self->oldest_kept);
	if (self->begins != begun)
		status = put_meta(self, db, "begins", self->begins, why);
	if (status == STATUS_OK)
		status = checkpoint_number(db, "epoch", self->begins, &epoch, why);
	if (status == STATUS_OK)
		status = checkpoint_number(db, "tick", self->begins, &self->tick, why);
	self->epoch = (uint32_t)epoch;
	self->planned = status == STATUS_OK;
	return status;
}

/* ---- one slice --------------------------------------------------------------------------------- */

/* Deletes one old checkpoint; *found: there was one. */
static enum status drop_checkpoint(struct pruner *self, sqlite3 *db, uint64_t spacing, bool *found,
				   struct reason *why)
{
	sqlite3_stmt *find = self->statements[PRUNE_FIND];
	sql_bind(find, 1, self->oldest_kept);
	sql_bind(find, 2, self->begins);
	sql_bind(find, 3, spacing);
	enum status status = sql_row(db, find, why);
	*found = status == STATUS_OK;
	if (status != STATUS_OK)
		return status == STATUS_MISSING ? STATUS_OK : status;
	uint64_t seq = sql_column(find, 0);
	sqlite3_reset(find);
	sqlite3_stmt *drop = self->statements[PRUNE_DROP];
	sql_bind(drop, 1, seq);
	return sql_run(db, drop, why);
}

static enum status drop_checkpoints(struct pruner *self, sqlite3 *db, uint64_t most,
				    uint64_t spacing, struct prune_counts *counts, bool *more,
				    struct reason *why)
{
	enum status status = STATUS_OK;
	*more = true;
	for (uint64_t i = 0; i < most && *more && status == STATUS_OK; i++) {
		status = drop_checkpoint(self, db, spacing, more, why);
		counts->checkpoints += *more && status == STATUS_OK;
	}
	return status;
}

/* Stores the highest session number of the batches to be removed, so that no new session gets it again. */
static enum status keep_session(struct pruner *self, sqlite3 *db, uint32_t rows, struct reason *why)
{
	sqlite3_stmt *get = self->statements[PRUNE_SESSION];
	sql_bind(get, 1, self->begins);
	sql_bind(get, 2, rows);
	enum status status = sql_row(db, get, why);
	uint64_t session = status == STATUS_OK ? sql_column(get, 0) : 0;
	sqlite3_reset(get);
	if (status != STATUS_OK || session <= self->session_max)
		return status;
	self->session_max = session;
	return put_meta(self, db, "session_max", session, why);
}

/* `before`: a seq, or an epoch. */
static enum status drop_rows(struct pruner *self, sqlite3 *db, enum prune_statement which,
			     uint64_t before, uint32_t rows, struct prune_counts *counts,
			     bool *more, struct reason *why)
{
	sqlite3_stmt *drop = self->statements[which];
	sql_bind(drop, 1, before);
	sql_bind(drop, 2, rows);
	if (which == PRUNE_HASHES)
		sql_bind(drop, 3, self->tick);
	enum status status = sql_run(db, drop, why);
	uint32_t gone = status == STATUS_OK ? (uint32_t)sqlite3_changes(db) : 0;
	counts->records += gone;
	*more |= gone >= rows;
	return status;
}

static enum status prune_tables(struct pruner *self, sqlite3 *db, const struct retention *keep,
				const struct prune_counts *most, struct prune_counts *counts,
				bool *more, struct reason *why)
{
	uint64_t spacing = keep->from_birth ? OLD_SPACING : 0;
	uint32_t rows = (uint32_t)MIN_OF(most->records, (uint64_t)1 << 20);
	const struct {
		enum prune_statement which;
		uint64_t before;
		uint32_t rows;
	} tables[] = {
		{ PRUNE_BATCHES, self->begins, rows },
		{ PRUNE_APPLIES, self->begins, rows },
		{ PRUNE_STOPS, self->begins, rows },
		{ PRUNE_HASHES, self->epoch, 1 + rows / HASH_ROWS_SHARE },
		{ PRUNE_EPOCHS, self->epoch, rows },
	};
	enum status status =
		drop_checkpoints(self, db, most->checkpoints, spacing, counts, more, why);
	if (status == STATUS_OK)
		status = keep_session(self, db, rows, why);
	for (size_t i = 0; i < COUNT_OF(tables) && status == STATUS_OK; i++)
		status = drop_rows(self, db, tables[i].which, tables[i].before, tables[i].rows,
				   counts, more, why);
	return status;
}

enum status prune_slice(struct pruner *self, sqlite3 *db, const struct retention *keep,
			const struct prune_counts *most, struct prune_counts *counts, bool *more,
			struct reason *why)
{
	struct prune_counts made = { 0 };
	*more = false;
	if (!self->due || keep->checkpoints == 0) {
		self->due = false;
		return STATUS_OK;
	}
	enum status status = prepare_statements(self, db, why);
	if (status == STATUS_OK)
		status = relax_commits(self, db, why);
	if (status == STATUS_OK)
		status = sql_exec(db, "BEGIN IMMEDIATE", why);
	if (status == STATUS_OK && !self->planned)
		status = plan_pruning(self, db, keep, why);
	if (status == STATUS_OK)
		status = prune_tables(self, db, keep, most, &made, more, why);
	if (status == STATUS_OK)
		status = sql_exec(db, "COMMIT", why);
	if (status != STATUS_OK) {
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
		self->planned = false;
		*more = false;
		made = (struct prune_counts){ 0 };
	}
	self->due = *more;
	counts->checkpoints += made.checkpoints;
	counts->records += made.records;
	return status;
}
