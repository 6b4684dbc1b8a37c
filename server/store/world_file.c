/* See world_file.h. One function per kind of record; one transaction per buffer. `seq` numbers all
 * rows in the order in which they were put. */
#include "server/store/world_file.h"

#include <string.h>

#include "server/base/hash.h"
#include "server/store/image.h"
#include "server/store/keep.h"
#include "server/store/schema.h"

static const char *const texts[WORLD_FILE_STATEMENTS] = {
	[PUT_EPOCH] = ("INSERT INTO epochs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
		       " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?8, ?9)"),
	[PUT_SHAPE] = "INSERT INTO shapes VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[HAS_SHAPE] = "SELECT 1 FROM shapes WHERE name = ?1",
	[PUT_APPLY] = "INSERT INTO applies VALUES (?1, ?2, ?3, ?4)",
	[PUT_BATCH] = "INSERT INTO batches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[PUT_HASHES] = "REPLACE INTO hashes VALUES (?1, ?2, ?3, ?4)",
	[PUT_STOP] = "INSERT INTO stops VALUES (?1, ?2, ?3, ?4)",
	[PUT_CHECKPOINT] = "INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[PUT_TABLE] = "INSERT OR IGNORE INTO tables VALUES (?1, ?2)",
	[FIND_SNAPSHOT] = "SELECT max(seq) FROM checkpoints WHERE name = ?1",
	[PUT_PACE] = "INSERT INTO meta VALUES ('pace', ?1)"
		     " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
	[GET_DATA_VERSION] = "PRAGMA data_version",
};

static const char last_seq[] = "SELECT max(s) FROM ("
			       "SELECT max(seq) AS s FROM epochs UNION ALL "
			       "SELECT max(seq) FROM shapes UNION ALL "
			       "SELECT max(seq) FROM applies UNION ALL "
			       "SELECT max(seq) FROM batches UNION ALL "
			       "SELECT max(seq) FROM stops UNION ALL "
			       "SELECT max(seq) FROM checkpoints)";

/* ---- life -------------------------------------------------------------------------------------- */

/* A file that another program has locked is refused with AGAIN soon, because the store's thread serves
 * all worlds; the journal tries again. */
enum { BUSY_WAIT_MS = 20 };

static enum status get_data_version(struct world_file *self, uint64_t *version, struct reason *why)
{
	sqlite3_stmt *get = self->statements[GET_DATA_VERSION];
	enum status status = sql_row(self->db, get, why);
	*version = status == STATUS_OK ? sql_column(get, 0) : 0;
	sqlite3_reset(get);
	return status;
}

/* Within a transaction. IN_USE: another program has written since this one opened the file. */
static enum status check_is_alone(struct world_file *self, struct reason *why)
{
	uint64_t version;
	enum status status = get_data_version(self, &version, why);
	if (status != STATUS_OK || version == self->data_version)
		return status;
	return reason_set(why, STATUS_IN_USE, -1, "file",
			  "another program has written to the file: are two daemons using it?");
}

static enum status prepare_statements(struct world_file *self, struct reason *why)
{
	enum status status = STATUS_OK;
	for (int i = 0; i < WORLD_FILE_STATEMENTS && status == STATUS_OK; i++)
		status = sql_prepare(self->db, texts[i], &self->statements[i], why);
	sqlite3_busy_timeout(self->db, BUSY_WAIT_MS);
	return status == STATUS_OK ? get_data_version(self, &self->data_version, why) : status;
}

enum status world_file_create(struct world_file *self, const char *path, const char *world,
			      const char *durability, struct reason *why)
{
	memset(self, 0, sizeof *self);
	enum status status = sql_open(path, SQL_CREATE, &self->db, why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "BEGIN IMMEDIATE", why);
	if (status == STATUS_OK)
		status = schema_create(self->db, world, durability, why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "COMMIT", why);
	if (status == STATUS_OK)
		status = prepare_statements(self, why);
	if (status != STATUS_OK)
		world_file_close(self);
	return status;
}

/* Opens the file read-only first, so that a database of another program is not changed. */
static enum status check_is_ours(const char *path, uint32_t *version, struct reason *why)
{
	sqlite3 *db;
	enum status status = sql_open(path, SQL_ALONE, &db, why);
	if (status != STATUS_OK)
		return status;
	status = schema_check(db, version, why);
	sql_close(db);
	return status;
}

enum status world_file_open(struct world_file *self, const char *path, struct reason *why)
{
	uint64_t epoch = 0;
	memset(self, 0, sizeof *self);
	enum status status = check_is_ours(path, &self->version, why);
	if (status == STATUS_OK)
		status = sql_open(path, SQL_WRITE, &self->db, why);
	if (status == STATUS_OK)
		status = sql_number(self->db, last_seq, 0, &self->seq, why);
	if (status == STATUS_OK)
		status = sql_number(self->db, "SELECT max(epoch) FROM epochs", 0, &epoch, why);
	if (status == STATUS_OK && epoch >= UINT32_MAX)
		status =
			reason_set(why, STATUS_CORRUPT, -1, "epochs", "no further one is possible");
	if (status == STATUS_OK && self->version == SCHEMA_VERSION)
		status = prepare_statements(self, why);
	self->epoch = (uint32_t)epoch;
	/* An earlier daemon may have left rows to prune. */
	prune_is_due(&self->pruner);
	if (status != STATUS_OK)
		world_file_close(self);
	return status;
}

void world_file_close(struct world_file *self)
{
	for (int i = 0; i < WORLD_FILE_STATEMENTS; i++)
		sqlite3_finalize(self->statements[i]);
	prune_end(&self->pruner);
	sql_close(self->db);
	bytes_release(&self->packed);
	memset(self, 0, sizeof *self);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* `snapshot`: of a RESTORE, else NULL. `checkpoint`: of the image the epoch begins with, else 0.
 * `redone`: of an upgrade, else 0. */
static enum status put_epoch(struct world_file *self, uint32_t epoch, uint64_t tick,
			     const char *cause, const char *snapshot, uint64_t checkpoint,
			     uint64_t redone, struct reason *why)
{
	char motion[MOTION_TEXT_MAX];
	struct motion_numbers numbers = engine_motion();
	motion_text(&numbers, motion);
	sqlite3_stmt *put = self->statements[PUT_EPOCH];
	sql_bind(put, 1, epoch);
	sql_bind(put, 2, ++self->seq);
	sql_bind(put, 3, tick);
	sql_bind_text(put, 4, cause);
	if (snapshot != NULL)
		sql_bind_text(put, 5, snapshot);
	if (checkpoint != 0)
		sql_bind(put, 6, checkpoint);
	sql_bind_text(put, 7, schema_build());
	sql_bind_text(put, 8, motion);
	if (redone != 0)
		sql_bind(put, 9, redone);
	self->epoch = epoch;
	return sql_run(self->db, put, why);
}

static enum status flush_row(struct world_file *self, struct reason *why)
{
	if (!self->row.dirty)
		return STATUS_OK;
	sqlite3_stmt *put = self->statements[PUT_HASHES];
	sql_bind(put, 1, self->row.epoch);
	sql_bind(put, 2, self->row.tick);
	sql_bind(put, 3, self->row.count);
	sql_bind_blob(put, 4, self->row.hashes, (size_t)self->row.count * 8);
	self->row.dirty = false;
	return sql_run(self->db, put, why);
}

static enum status put_tick(struct world_file *self, const struct record *record,
			    struct reason *why)
{
	bool next = self->row.count > 0 && self->row.count < HASHES_PER_ROW &&
		    self->row.epoch == record->epoch &&
		    self->row.tick + self->row.count == record->tick;
	if (!next) {
		enum status status = flush_row(self, why);
		if (status != STATUS_OK)
			return status;
		self->row.epoch = record->epoch;
		self->row.tick = record->tick;
		self->row.count = 0;
	}
	put_be64(self->row.hashes + (size_t)self->row.count * 8, record->tick_hash);
	self->row.count++;
	self->row.dirty = true;
	return STATUS_OK;
}

static enum status put_apply(struct world_file *self, struct record *record, struct reason *why)
{
	uint64_t apply = ++self->seq;
	sqlite3_stmt *put = self->statements[PUT_APPLY];
	sql_bind(put, 1, apply);
	sql_bind(put, 2, record->epoch);
	sql_bind(put, 3, record->tick);
	sql_bind(put, 4, record->apply.count);
	enum status status = sql_run(self->db, put, why);
	put = self->statements[PUT_BATCH];
	for (uint32_t i = 0; i < record->apply.count && status == STATUS_OK; i++) {
		struct journal_batch batch;
		ASSERT(record_next_batch(record, &batch) == STATUS_OK);
		sql_bind(put, 1, ++self->seq);
		sql_bind(put, 2, apply);
		sql_bind(put, 3, batch.session);
		sql_bind(put, 4, batch.batch);
		sql_bind(put, 5, batch.at);
		sql_bind(put, 6, batch.late);
		sql_bind(put, 7, batch.restricted);
		sql_bind(put, 8, batch.count);
		sql_bind_blob(put, 9, batch.commands, batch.bytes);
		sql_bind(put, 10, batch.result);
		status = sql_run(self->db, put, why);
	}
	return status;
}

static enum status put_stop(struct world_file *self, const struct record *record,
			    struct reason *why)
{
	sqlite3_stmt *put = self->statements[PUT_STOP];
	sql_bind(put, 1, ++self->seq);
	sql_bind(put, 2, record->epoch);
	sql_bind(put, 3, record->tick);
	sql_bind(put, 4, record->stop);
	return sql_run(self->db, put, why);
}

static enum status name_tables(struct world_file *self, uint32_t count, struct reason *why)
{
	sqlite3_stmt *put = self->statements[PUT_TABLE];
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		sql_bind(put, 1, i);
		sql_bind_text(put, 2, world_table_name(i));
		status = sql_run(self->db, put, why);
	}
	self->tables_named = status == STATUS_OK;
	return status;
}

static enum status put_checkpoint(struct world_file *self, const struct record *record,
				  struct reason *why)
{
	const struct record_checkpoint *checkpoint = &record->checkpoint;
	world_image_seal(checkpoint->image);
	uint8_t state[8], image[8], tables[WORLD_TABLES_MAX * 8];
	put_be64(state, checkpoint->state_hash);
	put_be64(image, hash64(checkpoint->image->data, checkpoint->image->count, 0));
	for (uint32_t i = 0; i < checkpoint->table_count; i++)
		put_be64(tables + (size_t)i * 8, checkpoint->table_hashes[i]);
	enum status status = STATUS_OK;
	if (!self->tables_named)
		status = name_tables(self, checkpoint->table_count, why);
	bytes_reset(&self->packed);
	if (status == STATUS_OK && image_pack(checkpoint->image, &self->packed) != STATUS_OK)
		status = reason_set(why, STATUS_NO_MEMORY, -1, "image", "compressing it: %s",
				    status_text(STATUS_NO_MEMORY));
	if (status != STATUS_OK)
		return status;
	sqlite3_stmt *put = self->statements[PUT_CHECKPOINT];
	sql_bind(put, 1, ++self->seq);
	sql_bind(put, 2, record->epoch);
	sql_bind(put, 3, record->tick);
	if (checkpoint->named)
		sql_bind_text(put, 4, checkpoint->name);
	sql_bind_blob(put, 5, state, sizeof state);
	sql_bind(put, 6, checkpoint->image->count);
	sql_bind_blob(put, 7, image, sizeof image);
	sql_bind_blob(put, 8, tables, (size_t)checkpoint->table_count * 8);
	sql_bind_blob(put, 9, self->packed.data, self->packed.count);
	status = sql_run(self->db, put, why);
	prune_is_due(&self->pruner);
	/* Images are rare and may be large, so their memory is freed. */
	bytes_release(&self->packed);
	return status;
}

static enum status put_shape(struct world_file *self, const struct record *record,
			     struct reason *why)
{
	const struct shape *shape = record->shape;
	sqlite3_stmt *has = self->statements[HAS_SHAPE];
	sql_bind_blob(has, 1, shape->name, sizeof shape->name);
	enum status status = sql_row(self->db, has, why);
	sqlite3_reset(has);
	if (status != STATUS_MISSING)
		return status;
	sqlite3_stmt *put = self->statements[PUT_SHAPE];
	sql_bind(put, 1, ++self->seq);
	sql_bind(put, 2, record->epoch);
	sql_bind(put, 3, record->tick);
	sql_bind_blob(put, 4, shape->name, sizeof shape->name);
	sql_bind_text(put, 5, shape_kind_name(shape->kind));
	sql_bind_blob(put, 6, shape->canonical, shape->canonical_bytes);
	return sql_run(self->db, put, why);
}

static enum status put_restore(struct world_file *self, const struct record *record,
			       struct reason *why)
{
	/* Without a name the state is in the checkpoint that follows: the epoch's own seq is the
	 * next one, and the checkpoint's is the one after it. */
	if (record->snapshot[0] == '\0')
		return put_epoch(self, record->epoch, record->tick, "restored", NULL, self->seq + 2,
				 0, why);
	sqlite3_stmt *find = self->statements[FIND_SNAPSHOT];
	sql_bind_text(find, 1, record->snapshot);
	enum status status = sql_row(self->db, find, why);
	uint64_t checkpoint = status == STATUS_OK ? sql_column(find, 0) : 0;
	sqlite3_reset(find);
	if (status == STATUS_OK)
		status = put_epoch(self, record->epoch, record->tick, "restored", record->snapshot,
				   checkpoint, 0, why);
	return status;
}

static enum status put_pace(struct world_file *self, const struct record *record,
			    struct reason *why)
{
	char text[SCHEMA_PACE_BYTES];
	sqlite3_stmt *put = self->statements[PUT_PACE];
	schema_pace_print(&record->pace, text);
	sql_bind_text(put, 1, text);
	return sql_run(self->db, put, why);
}

/* ---- transactions ------------------------------------------------------------------------------ */

static enum status put_record(struct world_file *self, struct record *record, struct reason *why)
{
	if (record->kind == RECORD_RESTORE)
		return put_restore(self, record, why);
	enum status status = STATUS_OK;
	if (record->epoch != self->epoch)
		status = put_epoch(self, record->epoch, record->tick, "created", NULL, 0, 0, why);
	if (status != STATUS_OK)
		return status;
	switch (record->kind) {
	case RECORD_APPLY:
		return put_apply(self, record, why);
	case RECORD_TICK:
		return put_tick(self, record, why);
	case RECORD_CHECKPOINT:
		return put_checkpoint(self, record, why);
	case RECORD_SHAPE:
		return put_shape(self, record, why);
	case RECORD_STOP:
		return put_stop(self, record, why);
	case RECORD_PACE:
		return put_pace(self, record, why);
	case RECORD_KEEP:
		prune_is_due(&self->pruner);
		return keep_write(self->db, &record->keep, why);
	case RECORD_RESTORE:
		break;
	}
	return STATUS_OK;
}

static void note_progress(struct world_file_progress *progress, const struct record *record)
{
	progress->written.checkpoints += record->kind == RECORD_CHECKPOINT;
	/* A state is durable with its hash, its image, the record of its RESTORE, or the batches
	 * that made it. */
	if (record->kind != RECORD_TICK && record->kind != RECORD_CHECKPOINT &&
	    record->kind != RECORD_RESTORE && record->kind != RECORD_APPLY)
		return;
	progress->epoch = record->epoch;
	progress->tick = record->tick;
	progress->edit = record->edit;
	progress->moved = true;
}

static enum status put_all(struct world_file *self, const struct record_buffer *records,
			   struct world_file_progress *progress, struct reason *why)
{
	struct record_reader reader = record_buffer_read(records);
	struct record record;
	enum status status;
	while ((status = record_buffer_next(&reader, &record)) == STATUS_OK) {
		status = put_record(self, &record, why);
		if (status != STATUS_OK)
			return status;
		note_progress(progress, &record);
	}
	ASSERT(status == STATUS_MISSING);
	return flush_row(self, why);
}

enum status world_file_write(struct world_file *self, const struct record_buffer *records,
			     struct world_file_progress *progress, struct reason *why)
{
	struct world_file_progress made = { 0 };
	uint64_t seq = self->seq;
	enum status status = prune_strict(&self->pruner, self->db, why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "BEGIN IMMEDIATE", why);
	if (status != STATUS_OK)
		return status;
	status = check_is_alone(self, why);
	if (status == STATUS_OK)
		status = put_all(self, records, &made, why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "COMMIT", why);
	if (status != STATUS_OK)
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	else
		*progress = made;
	/* Only a transaction that did not begin may be written again. */
	if (status == STATUS_AGAIN)
		status = why->status = STATUS_IO;
	progress->written.records = self->seq - seq;
	return status;
}

enum status world_file_prune(struct world_file *self, const struct retention *keep,
			     const struct prune_counts *most, struct prune_counts *counts,
			     bool *more, struct reason *why)
{
	return prune_slice(&self->pruner, self->db, keep, most, counts, more, why);
}

enum status world_file_size(struct world_file *self, uint64_t *bytes, uint64_t *free,
			    struct reason *why)
{
	uint64_t page = 0, pages = 0, unused = 0;
	enum status status = sql_number(self->db, "PRAGMA page_size", 0, &page, why);
	if (status == STATUS_OK)
		status = sql_number(self->db, "PRAGMA page_count", 0, &pages, why);
	if (status == STATUS_OK)
		status = sql_number(self->db, "PRAGMA freelist_count", 0, &unused, why);
	*bytes = pages * page;
	*free = unused * page;
	return status;
}

enum status world_file_recovered(struct world_file *self, uint32_t epoch, uint64_t tick,
				 struct reason *why)
{
	ASSERT(epoch > self->epoch);
	enum status status = sql_exec(self->db, "BEGIN IMMEDIATE", why);
	if (status == STATUS_OK)
		status = put_epoch(self, epoch, tick, "recovered", NULL, 0, 0, why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "COMMIT", why);
	if (status != STATUS_OK)
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

/* An upgraded epoch begins with a checkpoint, whose seq is the next after its own. */
static enum status put_upgrade(struct world_file *self, uint32_t epoch, const struct world *world,
			       const struct record *record, uint64_t redone, struct reason *why)
{
	enum status status = STATUS_OK;
	if (self->version < SCHEMA_VERSION) {
		status = schema_step_up(self->db, why);
		self->version = SCHEMA_VERSION;
		if (status == STATUS_OK)
			status = prepare_statements(self, why);
	}
	if (status == STATUS_OK)
		status = put_epoch(self, epoch, world_info(world).tick, "upgraded", NULL,
				   redone != 0 ? self->seq + 2 : 0, redone, why);
	return status == STATUS_OK ? put_checkpoint(self, record, why) : status;
}

enum status world_file_upgraded(struct world_file *self, uint32_t epoch, const struct world *world,
				uint64_t redone, struct reason *why)
{
	ASSERT(epoch > self->epoch);
	struct bytes image = { 0 };
	struct record record = { .kind = RECORD_CHECKPOINT,
				 .epoch = epoch,
				 .tick = world_info(world).tick };
	struct record_checkpoint *checkpoint = &record.checkpoint;
	checkpoint->image = &image;
	checkpoint->state_hash =
		world_state_hash(world, checkpoint->table_hashes, &checkpoint->table_count);
	enum status status = world_save(world, &image);
	reason_set(why, status, -1, "image", "%s", status_text(status));
	if (status == STATUS_OK)
		status = sql_exec(self->db, "BEGIN IMMEDIATE", why);
	if (status == STATUS_OK) {
		status = put_upgrade(self, epoch, world, &record, redone, why);
		if (status == STATUS_OK)
			status = sql_exec(self->db, "COMMIT", why);
		if (status != STATUS_OK)
			sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	}
	bytes_release(&image);
	return status;
}
