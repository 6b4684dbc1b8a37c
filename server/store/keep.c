/* See keep.h. The keys in `meta`: `recording` (its name), `recording_title`, `recording_since` (UTC), and the
 * numbers `recording_begins`, `recording_ticks` and `recording_bytes`. */
#include "server/store/keep.h"

#include <string.h>

#include "server/store/schema.h"

#define META_NUMBER(key) "SELECT value FROM meta WHERE key = '" key "'"

enum status keep_read(sqlite3 *db, struct keep *out, struct reason *why)
{
	memset(out, 0, sizeof *out);
	enum status status = schema_meta(db, "recording", out->is.name, sizeof out->is.name, why);
	if (status == STATUS_OK)
		status = schema_meta(db, "recording_title", out->is.title, sizeof out->is.title,
				     why);
	if (status == STATUS_OK)
		status = sql_number(db, META_NUMBER("recording_begins"), 0, &out->begins, why);
	if (status == STATUS_OK)
		status = sql_number(db, META_NUMBER("recording_ticks"), 0, &out->is.ticks, why);
	if (status == STATUS_OK)
		status = sql_number(db, META_NUMBER("recording_bytes"), 0, &out->is.bytes, why);
	return status;
}

enum status keep_write(sqlite3 *db, const struct journal_keep *keep, struct reason *why)
{
	static const char begin[] =
		"INSERT INTO meta SELECT 'recording', ?1 UNION ALL SELECT 'recording_title', ?2"
		" UNION ALL SELECT 'recording_ticks', ?3 UNION ALL SELECT 'recording_bytes', ?4"
		" UNION ALL SELECT 'recording_since', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
		" UNION ALL SELECT 'recording_begins', max(seq) FROM checkpoints";
	sqlite3_stmt *put = NULL;
	enum status status = sql_exec(db,
				      "DELETE FROM meta WHERE key = 'recording'"
				      " OR key GLOB 'recording_*'",
				      why);
	if (status != STATUS_OK || keep->name[0] == '\0')
		return status;
	status = sql_prepare(db, begin, &put, why);
	if (status == STATUS_OK) {
		sql_bind_text(put, 1, keep->name);
		sql_bind_text(put, 2, keep->title);
		sql_bind(put, 3, keep->ticks);
		sql_bind(put, 4, keep->bytes);
		status = sql_run(db, put, why);
	}
	sqlite3_finalize(put);
	return status;
}

/* The state with exactly `ticks` ticks after it; epoch 0: the file has fewer. */
static enum status find_place(sqlite3 *db, uint64_t ticks, uint64_t *epoch, uint64_t *tick,
			      struct reason *why)
{
	sqlite3_stmt *rows = NULL;
	uint64_t sum = 0;
	*epoch = *tick = 0;
	enum status status = sql_prepare(db,
					 "SELECT epoch, tick, count FROM hashes"
					 " ORDER BY epoch DESC, tick DESC",
					 &rows, why);
	while (status == STATUS_OK && sum < ticks &&
	       (status = sql_row(db, rows, why)) == STATUS_OK) {
		sum += sql_column(rows, 2);
		if (sum >= ticks) {
			*epoch = sql_column(rows, 0);
			*tick = sql_column(rows, 1) + (sum - ticks) - 1;
		}
	}
	sqlite3_finalize(rows);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* One number of a query with two parameters; 0 where it has no row. */
static enum status find_seq(sqlite3 *db, const char *text, uint64_t first, uint64_t second,
			    uint64_t *seq, struct reason *why)
{
	sqlite3_stmt *get = NULL;
	enum status status = sql_prepare(db, text, &get, why);
	*seq = 0;
	if (status == STATUS_OK) {
		sql_bind(get, 1, first);
		sql_bind(get, 2, second);
		status = sql_row(db, get, why);
		*seq = status == STATUS_OK ? sql_column(get, 0) : 0;
	}
	sqlite3_finalize(get);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

enum status keep_before_ticks(sqlite3 *db, uint64_t ticks, uint64_t *seq, struct reason *why)
{
	uint64_t epoch, tick;
	*seq = 0;
	enum status status = find_place(db, ticks, &epoch, &tick, why);
	if (status != STATUS_OK || epoch == 0)
		return status;
	return find_seq(db,
			"SELECT max(seq) FROM checkpoints"
			" WHERE epoch < ?1 OR (epoch = ?1 AND tick <= ?2)",
			epoch, tick, seq, why);
}

enum status keep_floor(sqlite3 *db, const struct keep *keep, uint64_t *seq, struct reason *why)
{
	uint64_t found = 0;
	enum status status = STATUS_OK;
	if (keep->is.ticks != 0)
		status = keep_before_ticks(db, keep->is.ticks, &found, why);
	*seq = found > keep->begins ? found : keep->begins;
	return status;
}

/* While the file is over its bound, two checkpoints are passed for each new one, so that it shrinks. */
static enum status pass_bytes(sqlite3 *db, const struct keep *keep, uint64_t *seq,
			      struct reason *why)
{
	uint64_t pages, spare, size, next = 0;
	enum status status = sql_number(db, "PRAGMA page_count", 0, &pages, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA freelist_count", 0, &spare, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA page_size", 0, &size, why);
	if (status != STATUS_OK || keep->is.bytes == 0 || (pages - spare) * size <= keep->is.bytes)
		return status;
	status = find_seq(db,
			  "SELECT max(seq) FROM (SELECT seq FROM checkpoints WHERE seq > ?1"
			  " ORDER BY seq LIMIT ?2)",
			  *seq, 2, &next, why);
	*seq = next > *seq ? next : *seq;
	return status;
}

enum status keep_advance(sqlite3 *db, uint64_t most, uint64_t *seq, struct reason *why)
{
	struct keep keep;
	sqlite3_stmt *put = NULL;
	*seq = UINT64_MAX;
	enum status status = keep_read(db, &keep, why);
	if (status != STATUS_OK || keep.is.name[0] == '\0')
		return status;
	status = keep_floor(db, &keep, seq, why);
	if (status == STATUS_OK)
		status = pass_bytes(db, &keep, seq, why);
	*seq = *seq > most ? most : *seq;
	if (status != STATUS_OK || *seq <= keep.begins) {
		*seq = keep.begins;
		return status;
	}
	status = sql_prepare(db, "UPDATE meta SET value = ?1 WHERE key = 'recording_begins'", &put,
			     why);
	if (status == STATUS_OK) {
		sql_bind(put, 1, *seq);
		status = sql_run(db, put, why);
	}
	sqlite3_finalize(put);
	return status;
}
