/* See recording.h. Every statement is prepared when the recording is opened, for the version of the
 * file; each read checks the numbers of its row, because a file may contain anything. */
#include "server/store/recording.h"

#include <stdio.h>
#include <string.h>

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/store/image.h"
#include "server/store/prune.h"
#include "server/store/world_file.h"

enum statement {
	NEXT,
	EPOCH,
	HASHES,
	BATCH,
	SHAPE,
	CHECKPOINT,
	TICKS,
	BUILD,
	NEXT_SHAPE,
	NEXT_EPOCH,
	PROBE,
	STATEMENTS
};

static const char *const texts[STATEMENTS] = {
	[NEXT] = "SELECT seq, 1, epoch, tick, 0 FROM epochs WHERE seq > ?1"
		 " UNION ALL SELECT seq, 2, epoch, tick, 0 FROM shapes WHERE seq > ?1"
		 " UNION ALL SELECT seq, 3, epoch, tick, batches FROM applies WHERE seq > ?1"
		 " UNION ALL SELECT seq, 4, epoch, tick, 0 FROM checkpoints WHERE seq > ?1"
		 " UNION ALL SELECT seq, 5, epoch, tick, status FROM stops WHERE seq > ?1"
		 " ORDER BY 1",
	[EPOCH] = "SELECT cause, checkpoint, motion FROM epochs WHERE seq = ?1",
	[HASHES] = "SELECT tick, count, hashes FROM hashes WHERE epoch = ?1 AND tick <= ?2"
		   " ORDER BY tick DESC LIMIT 1",
	[BATCH] =
		"SELECT session, batch, at, late, restricted, count, commands, result FROM batches"
		" WHERE seq = ?1 AND apply = ?2",
	[SHAPE] = "SELECT name, canonical FROM shapes WHERE seq = ?1",
	[CHECKPOINT] = "SELECT epoch, tick, name, state_hash, image_bytes, image_hash,"
		       " table_hashes, image FROM checkpoints WHERE seq = ?1",
	[TICKS] = "SELECT sum(CASE epoch WHEN ?1 THEN max(0, min(count, tick + count - 1 - ?2))"
		  " ELSE count END) FROM hashes WHERE epoch = ?1 OR (epoch > ?1 AND ?3)",
	[BUILD] = "SELECT build, motion FROM epochs WHERE epoch = ?1",
	[NEXT_SHAPE] = "SELECT seq, name FROM shapes WHERE seq > ?1 ORDER BY seq LIMIT 1",
	[NEXT_EPOCH] =
		"SELECT epoch, tick, seq, cause, checkpoint, coalesce((SELECT max(tick + count - 1)"
		" FROM hashes h WHERE h.epoch = e.epoch), tick) FROM epochs e WHERE epoch > ?1"
		" ORDER BY epoch LIMIT 1",
	/* The first record over a seq. Each branch is one step in the table's tree. */
	[PROBE] = "SELECT seq, epoch, tick FROM ("
		  "SELECT * FROM (SELECT seq, epoch, tick FROM epochs WHERE seq > ?1 ORDER BY seq"
		  " LIMIT 1) UNION ALL"
		  " SELECT * FROM (SELECT seq, epoch, tick FROM shapes WHERE seq > ?1 ORDER BY seq"
		  " LIMIT 1) UNION ALL"
		  " SELECT * FROM (SELECT seq, epoch, tick FROM applies WHERE seq > ?1 ORDER BY seq"
		  " LIMIT 1) UNION ALL"
		  " SELECT * FROM (SELECT seq, epoch, tick FROM checkpoints WHERE seq > ?1"
		  " ORDER BY seq LIMIT 1) UNION ALL"
		  " SELECT * FROM (SELECT seq, epoch, tick FROM stops WHERE seq > ?1 ORDER BY seq"
		  " LIMIT 1)) ORDER BY seq LIMIT 1",
};

/* The statements that differ for files of version 1, which are read without conversion. */
static const char *const first_texts[STATEMENTS] = {
	[EPOCH] = "SELECT cause, checkpoint, NULL FROM epochs WHERE seq = ?1",
	[BUILD] = "SELECT build, NULL FROM epochs WHERE epoch = ?1",
	[BATCH] = "SELECT session, batch, at, late, restricted, count, commands, NULL FROM batches"
		  " WHERE seq = ?1 AND apply = ?2",
};

struct recording {
	sqlite3 *db;	 /* borrowed */
	uint64_t begins; /* seq of the first checkpoint with complete records after it; 0: all */
	sqlite3_stmt *statements[STATEMENTS];
	/* The row of hashes read last. */
	struct {
		uint32_t epoch, count;
		uint64_t tick;
		uint8_t hashes[HASHES_PER_ROW * 8];
	} row;
};

#define BAD(...) reason_set(why, STATUS_CORRUPT, -1, "file", __VA_ARGS__)
#define LONG(value) ((unsigned long long)(value))

/* ---- life -------------------------------------------------------------------------------------- */

enum status recording_open(sqlite3 *db, struct recording **out, struct reason *why)
{
	struct recording *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "file", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->db = db;
	uint64_t version = 0;
	enum status status = sql_exec(db, "BEGIN", why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA user_version", 0, &version, why);
	for (int i = 0; i < STATEMENTS && status == STATUS_OK; i++)
		status = sql_prepare(
			db, version == 1 && first_texts[i] != NULL ? first_texts[i] : texts[i],
			&self->statements[i], why);
	if (status == STATUS_OK)
		status = prune_begins(db, &self->begins, why);
	if (status == STATUS_OK)
		status = recording_seek(self, 0, why);
	if (status != STATUS_OK) {
		recording_close(self);
		return status;
	}
	*out = self;
	return STATUS_OK;
}

void recording_close(struct recording *self)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(self->statements[i]);
	sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	heap_free(self);
}

/* ---- records ----------------------------------------------------------------------------------- */

enum status recording_seek(struct recording *self, uint64_t seq, struct reason *why)
{
	UNUSED(why);
	sqlite3_reset(self->statements[NEXT]);
	sql_bind(self->statements[NEXT], 1, seq);
	return STATUS_OK;
}

/* NULL in files of version 1. */
static enum status take_motion(sqlite3_stmt *get, int column, uint32_t epoch,
			       struct motion_numbers *out, struct reason *why)
{
	const char *text = (const char *)sqlite3_column_text(get, column);
	*out = motion_of_abi_1();
	if (text != NULL && motion_parse(text, out) != STATUS_OK)
		return BAD("epoch %u has malformed motion numbers", (unsigned)epoch);
	return STATUS_OK;
}

static enum status take_cause(sqlite3_stmt *get, int column, uint32_t epoch, enum epoch_cause *out,
			      struct reason *why)
{
	static const char *const causes[] = { "created", "restored", "recovered", "upgraded" };
	const char *cause = (const char *)sqlite3_column_text(get, column);
	uint32_t known = 0;
	while (known < COUNT_OF(causes) && (cause == NULL || strcmp(cause, causes[known]) != 0))
		known++;
	if (known == COUNT_OF(causes))
		return BAD("epoch %u has no known cause", (unsigned)epoch);
	*out = (enum epoch_cause)known;
	return STATUS_OK;
}

static enum status read_cause(struct recording *self, struct recorded *out, struct reason *why)
{
	sqlite3_stmt *get = self->statements[EPOCH];
	sql_bind(get, 1, out->seq);
	enum status status = sql_row(self->db, get, why);
	if (status != STATUS_OK)
		return status == STATUS_MISSING ? BAD("an epoch is gone") : status;
	out->checkpoint = sql_column(get, 1);
	status = take_cause(get, 0, out->epoch, &out->cause, why);
	if (status == STATUS_OK)
		status = take_motion(get, 2, out->epoch, &out->numbers, why);
	sqlite3_reset(get);
	return status;
}

enum status recording_next(struct recording *self, struct recorded *out, struct reason *why)
{
	sqlite3_stmt *next = self->statements[NEXT];
	enum status status = sql_row(self->db, next, why);
	if (status != STATUS_OK)
		return status;
	uint64_t epoch = sql_column(next, 2), number = sql_column(next, 4);
	*out = (struct recorded){
		.seq = sql_column(next, 0),
		.kind = (enum recorded_kind)sqlite3_column_int(next, 1),
		.epoch = (uint32_t)epoch,
		.tick = sql_column(next, 3),
		.batches = (uint32_t)number,
		.status = (enum status)(number & 0xff),
	};
	if (epoch > UINT32_MAX || number > UINT32_MAX)
		return BAD("record %llu has numbers out of range", LONG(out->seq));
	return out->kind == RECORDED_EPOCH ? read_cause(self, out, why) : STATUS_OK;
}

static enum status read_hashes(struct recording *self, uint32_t epoch, uint64_t tick,
			       struct reason *why)
{
	sqlite3_stmt *get = self->statements[HASHES];
	sql_bind(get, 1, epoch);
	sql_bind(get, 2, tick);
	enum status status = sql_row(self->db, get, why);
	if (status != STATUS_OK)
		return status;
	size_t bytes;
	uint64_t count = sql_column(get, 1);
	const uint8_t *hashes = sql_column_blob(get, 2, &bytes);
	self->row.count = 0;
	if (count == 0 || count > HASHES_PER_ROW || bytes != count * 8) {
		status = BAD("the row of hashes from tick %llu has a wrong count", LONG(tick));
	} else {
		self->row.epoch = epoch;
		self->row.tick = sql_column(get, 0);
		self->row.count = (uint32_t)count;
		memcpy(self->row.hashes, hashes, bytes);
	}
	sqlite3_reset(get);
	return status;
}

enum status recording_hash(struct recording *self, uint32_t epoch, uint64_t tick, uint64_t *out,
			   struct reason *why)
{
	for (int try = 0; try < 2; try++) {
		if (self->row.count > 0 && self->row.epoch == epoch && tick >= self->row.tick &&
		    tick - self->row.tick < self->row.count) {
			*out = get_be64(self->row.hashes + (tick - self->row.tick) * 8);
			return STATUS_OK;
		}
		enum status status =
			try == 0 ? read_hashes(self, epoch, tick, why) : STATUS_MISSING;
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_MISSING;
}

enum status recording_ticks_after(struct recording *self, uint32_t epoch, uint64_t tick,
				  bool onward, uint64_t *out, struct reason *why)
{
	sqlite3_stmt *get = self->statements[TICKS];
	sql_bind(get, 1, epoch);
	sql_bind(get, 2, tick);
	sql_bind(get, 3, onward);
	enum status status = sql_row(self->db, get, why);
	*out = status == STATUS_OK ? sql_column(get, 0) : 0;
	sqlite3_reset(get);
	return status;
}

enum status recording_build(struct recording *self, uint32_t epoch, struct recorded_build *out,
			    struct reason *why)
{
	sqlite3_stmt *get = self->statements[BUILD];
	sql_bind(get, 1, epoch);
	enum status status = sql_row(self->db, get, why);
	if (status == STATUS_OK) {
		const char *build = (const char *)sqlite3_column_text(get, 0);
		snprintf(out->text, sizeof out->text, "%s", build != NULL ? build : "");
		status = take_motion(get, 1, epoch, &out->numbers, why);
	}
	sqlite3_reset(get);
	return status == STATUS_MISSING ? BAD("epoch %u is gone", (unsigned)epoch) : status;
}

enum status recording_batch(struct recording *self, const struct recorded *apply, uint32_t position,
			    struct journal_batch *out, struct reason *why)
{
	sqlite3_stmt *get = self->statements[BATCH];
	sqlite3_reset(get);
	sql_bind(get, 1, apply->seq + 1 + position);
	sql_bind(get, 2, apply->seq);
	enum status status = sql_row(self->db, get, why);
	if (status == STATUS_MISSING)
		return BAD("batch %u applied at tick %llu is gone", position, LONG(apply->tick));
	if (status != STATUS_OK)
		return status;
	size_t bytes;
	uint64_t session = sql_column(get, 0), late = sql_column(get, 3),
		 count = sql_column(get, 5);
	*out = (struct journal_batch){
		.session = (uint32_t)session,
		.batch = sql_column(get, 1),
		.at = sql_column(get, 2),
		.late = (uint8_t)late,
		.restricted = sql_column(get, 4) != 0,
		.count = (uint32_t)count,
		.commands = sql_column_blob(get, 6, &bytes),
	};
	out->bytes = (uint32_t)bytes;
	uint64_t result = sql_column(get, 7);
	bool known = sqlite3_column_type(get, 7) != SQLITE_NULL;
	out->result = known ? (uint8_t)result : (uint8_t)JOURNAL_RESULT_UNKNOWN;
	if (known && result >= JOURNAL_RESULT_UNKNOWN)
		return BAD("batch %u applied at tick %llu has no result", position,
			   LONG(apply->tick));
	if (session > UINT32_MAX || late > LATE_REMOVE_DRAGS || count > BATCH_COMMANDS_MAX)
		return BAD("batch %u applied at tick %llu has numbers out of range", position,
			   LONG(apply->tick));
	return STATUS_OK;
}

/* ---- places ------------------------------------------------------------------------------------ */

enum status recording_epoch(struct recording *self, uint32_t after, struct recorded_epoch *out,
			    struct reason *why)
{
	sqlite3_stmt *get = self->statements[NEXT_EPOCH];
	sql_bind(get, 1, after);
	enum status status = sql_row(self->db, get, why);
	if (status != STATUS_OK)
		return status;
	uint64_t epoch = sql_column(get, 0);
	*out = (struct recorded_epoch){
		.begin = { (uint32_t)epoch, sql_column(get, 1) },
		.seq = sql_column(get, 2),
		.checkpoint = sql_column(get, 4),
		.last = sql_column(get, 5),
	};
	status = epoch > UINT32_MAX ? BAD("an epoch's number is out of range") : STATUS_OK;
	if (status == STATUS_OK)
		status = take_cause(get, 3, out->begin.epoch, &out->cause, why);
	sqlite3_reset(get);
	return status;
}

/* Seqs ascend with (epoch, tick), so the search is binary. */
enum status recording_records_before(struct recording *self, struct recorded_place place,
				     uint64_t *seq, struct reason *why)
{
	sqlite3_stmt *get = self->statements[PROBE];
	uint64_t low = 0, high = INT64_MAX; /* the answer is within them */
	enum status status = STATUS_OK;
	while (low < high && status == STATUS_OK) {
		uint64_t middle = low + (high - low) / 2;
		sql_bind(get, 1, middle);
		status = sql_row(self->db, get, why);
		bool found = status == STATUS_OK;
		uint64_t at = sql_column(get, 0), epoch = sql_column(get, 1);
		bool before = found && (epoch < place.epoch ||
					(epoch == place.epoch && sql_column(get, 2) < place.tick));
		sqlite3_reset(get);
		if (status == STATUS_MISSING)
			status = STATUS_OK;
		if (before)
			low = at;
		else
			high = middle;
	}
	*seq = low;
	return status;
}

/* ---- shapes and images ------------------------------------------------------------------------- */

enum status recording_next_shape(struct recording *self, uint64_t after, uint64_t *seq,
				 uint8_t name[SHAPE_NAME_BYTES], struct reason *why)
{
	sqlite3_stmt *get = self->statements[NEXT_SHAPE];
	sql_bind(get, 1, after);
	enum status status = sql_row(self->db, get, why);
	if (status != STATUS_OK)
		return status;
	size_t bytes;
	const uint8_t *text = sql_column_blob(get, 1, &bytes);
	*seq = sql_column(get, 0);
	if (bytes == SHAPE_NAME_BYTES)
		memcpy(name, text, bytes);
	else
		status = BAD("the shape of record %llu has no name of %d bytes", LONG(*seq),
			     SHAPE_NAME_BYTES);
	sqlite3_reset(get);
	return status;
}

enum status recording_shape(struct recording *self, uint64_t seq, struct shape **out,
			    struct reason *why)
{
	sqlite3_stmt *get = self->statements[SHAPE];
	sql_bind(get, 1, seq);
	enum status status = sql_row(self->db, get, why);
	if (status != STATUS_OK)
		return status == STATUS_MISSING ? BAD("a shape is gone") : status;
	size_t name_bytes, bytes;
	uint8_t digest[SHA256_BYTES];
	const uint8_t *name = sql_column_blob(get, 0, &name_bytes);
	const uint8_t *canonical = sql_column_blob(get, 1, &bytes);
	hash_sha256(canonical, bytes, digest);
	if (name_bytes != sizeof digest || memcmp(name, digest, sizeof digest) != 0)
		status = BAD("the shape of record %llu does not have the hash in its name",
			     LONG(seq));
	else
		status = shape_cook(canonical, bytes, digest, out, why);
	sqlite3_reset(get);
	return status;
}

static enum status read_figures(sqlite3_stmt *get, struct recorded_checkpoint *out,
				struct reason *why)
{
	size_t bytes;
	uint64_t epoch = sql_column(get, 0);
	const char *name = (const char *)sqlite3_column_text(get, 2);
	out->epoch = (uint32_t)epoch;
	out->tick = sql_column(get, 1);
	snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : "");
	const uint8_t *tables = sql_column_blob(get, 6, &bytes);
	if (epoch > UINT32_MAX || (name != NULL && strlen(name) > WIRE_NAME_MAX) ||
	    !sql_column_hash(get, 3, &out->state_hash) || bytes % 8 != 0 ||
	    bytes > WORLD_TABLES_MAX * 8)
		return BAD("the checkpoint of tick %llu has figures out of range", LONG(out->tick));
	out->table_count = (uint32_t)(bytes / 8);
	for (uint32_t i = 0; i < out->table_count; i++)
		out->table_hashes[i] = get_be64(tables + (size_t)i * 8);
	return STATUS_OK;
}

static enum status read_image(sqlite3_stmt *get, struct bytes *image, struct reason *why)
{
	uint64_t hash;
	size_t bytes;
	if (!sql_column_hash(get, 5, &hash))
		return BAD("an image has no checksum");
	const uint8_t *packed = sql_column_blob(get, 7, &bytes);
	return image_unpack(packed, bytes, sql_column(get, 4), hash, image, why);
}

enum status recording_checkpoint(struct recording *self, uint64_t seq,
				 struct recorded_checkpoint *out, struct bytes *image,
				 struct reason *why)
{
	sqlite3_stmt *get = self->statements[CHECKPOINT];
	memset(out, 0, sizeof *out);
	out->seq = seq;
	sql_bind(get, 1, seq);
	enum status status = sql_row(self->db, get, why);
	if (status == STATUS_MISSING)
		return BAD("checkpoint %llu is gone", LONG(seq));
	if (status == STATUS_OK)
		status = read_figures(get, out, why);
	if (status == STATUS_OK && image != NULL)
		status = read_image(get, image, why);
	sqlite3_reset(get);
	return status;
}

/* ---- finding checkpoints ----------------------------------------------------------------------- */

/* ?1 is `value`, ?2 the seq at which the records begin, ?3 a second value. */
static enum status find_two(struct recording *self, const char *text, uint64_t value,
			    uint64_t second, uint64_t *out, struct reason *why)
{
	sqlite3_stmt *statement = NULL;
	*out = 0;
	enum status status = sql_prepare(self->db, text, &statement, why);
	if (status == STATUS_OK) {
		/* Limited to SQLite's largest number, which is over any seq or tick. */
		if (sqlite3_bind_parameter_count(statement) > 0)
			sql_bind(statement, 1, MIN_OF(value, (uint64_t)INT64_MAX));
		if (sqlite3_bind_parameter_count(statement) > 1)
			sql_bind(statement, 2, self->begins);
		if (sqlite3_bind_parameter_count(statement) > 2)
			sql_bind(statement, 3, MIN_OF(second, (uint64_t)INT64_MAX));
		status = sql_row(self->db, statement, why);
	}
	if (status == STATUS_OK)
		*out = sql_column(statement, 0);
	sqlite3_finalize(statement);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status find_number(struct recording *self, const char *text, uint64_t value,
			       uint64_t *out, struct reason *why)
{
	return find_two(self, text, value, 0, out, why);
}

bool recording_is_whole(const struct recording *self)
{
	return self->begins == 0;
}

enum status recording_first(struct recording *self, uint64_t *seq, struct reason *why)
{
	return find_number(self, "SELECT min(seq) FROM checkpoints WHERE ?1 = 0 AND seq >= ?2", 0,
			   seq, why);
}

enum status recording_last(struct recording *self, uint64_t before, uint64_t *seq,
			   struct reason *why)
{
	return find_number(self, "SELECT max(seq) FROM checkpoints WHERE seq < ?1 AND seq >= ?2",
			   before, seq, why);
}

enum status recording_at(struct recording *self, uint64_t tick, uint64_t *seq, struct reason *why)
{
	return find_number(self,
			   "SELECT seq FROM checkpoints WHERE tick <= ?1 AND seq >= ?2"
			   " ORDER BY tick DESC, seq DESC LIMIT 1",
			   tick, seq, why);
}

enum status recording_before(struct recording *self, struct recorded_place place, uint64_t *seq,
			     struct reason *why)
{
	return find_two(self,
			"SELECT seq FROM checkpoints WHERE (epoch < ?1 OR (epoch = ?1 AND tick <="
			" ?3)) AND seq >= ?2 ORDER BY seq DESC LIMIT 1",
			place.epoch, place.tick, seq, why);
}

enum status recording_snapshot(struct recording *self, uint64_t after, uint64_t *seq,
			       struct reason *why)
{
	return find_number(self,
			   "SELECT min(seq) FROM (SELECT max(seq) AS seq FROM checkpoints"
			   " WHERE name IS NOT NULL GROUP BY name) WHERE seq > ?1",
			   after, seq, why);
}

enum status recording_count(struct recording *self, struct recording_counts *out,
			    struct reason *why)
{
	uint64_t session = 0, gone = 0;
	memset(out, 0, sizeof *out);
	const struct {
		const char *text;
		uint64_t *out;
	} counts[] = {
		{ "SELECT sum(count) FROM hashes", &out->ticks },
		{ "SELECT count(*) FROM checkpoints", &out->checkpoints },
		{ "SELECT count(*) FROM batches", &out->batches },
		{ "SELECT sum(count) FROM batches", &out->commands },
		{ "SELECT count(*) FROM shapes", &out->shapes },
		{ "SELECT count(*) FROM epochs", &out->epochs },
		{ "SELECT max(session) FROM batches", &session },
	};
	enum status status = STATUS_OK;
	for (size_t i = 0; i < COUNT_OF(counts) && status == STATUS_OK; i++)
		status = find_number(self, counts[i].text, 0, counts[i].out, why);
	if (status == STATUS_OK)
		status = prune_session_max(self->db, &gone, why);
	session = MAX_OF(session, gone);
	out->session_max = (uint32_t)MIN_OF(session, (uint64_t)UINT32_MAX);
	return status;
}
