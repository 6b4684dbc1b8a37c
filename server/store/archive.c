/* See archive.h. */
#include "server/store/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/store/prune.h"
#include "server/store/schema.h"

static const char SUFFIX[] = ".cairn";
static const char FOLDER[] = "recordings";

/* ---- names and sizes --------------------------------------------------------------------------- */

/* The world's name within the path of its file. */
static const char *world_in(const char *path, int *bytes)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	*bytes = (int)(strlen(name) - MIN_OF(strlen(name), sizeof SUFFIX - 1));
	return name;
}

static bool path_of(const char *world, const char *before, const char *name, const char *after,
		    char path[NEW_FILE_PATH])
{
	char directory[NEW_FILE_PATH];
	int bytes;
	new_file_folder(world, directory);
	const char *own = world_in(world, &bytes);
	return snprintf(path, NEW_FILE_PATH, "%s/%s/%.*s%s%s%s", directory, FOLDER, bytes, own,
			before, name, after) < NEW_FILE_PATH;
}

bool archive_path(const char *world, const char *name, char path[NEW_FILE_PATH])
{
	return name[0] == '\0' ? path_of(world, "", "", "", path)
			       : path_of(world, "/", name, SUFFIX, path);
}

bool archive_exists(const char *world, const char *name)
{
	char path[NEW_FILE_PATH];
	return archive_path(world, name, path) && access(path, F_OK) == 0;
}

static enum status find_path(const char *world, const char *before, const char *name,
			     const char *after, char path[NEW_FILE_PATH], struct reason *why)
{
	if (path_of(world, before, name, after, path))
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "name", "the path of recording %.60s is too long",
			  name);
}

static enum status make_folder(const char *world, struct reason *why)
{
	char path[NEW_FILE_PATH], above[NEW_FILE_PATH];
	enum status status = find_path(world, "", "", "", path, why);
	if (status != STATUS_OK)
		return status;
	new_file_folder(path, above);
	const char *const folders[] = { above, path };
	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (mkdir(folders[i], 0700) != 0 && errno != EEXIST)
			return new_file_fail(folders[i], why);
	return STATUS_OK;
}

/* Calls `visit` for each entry of a folder; a folder that does not exist has none. */
static void each_entry(const char *folder,
		       void (*visit)(void *context, const char *path, const char *name),
		       void *context)
{
	char path[NEW_FILE_PATH + 260];
	DIR *directory = opendir(folder);
	if (directory == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		ASSERT(length > 0 && (size_t)length < sizeof path);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			visit(context, path, entry->d_name);
	}
	closedir(directory);
}

static void add_size(void *context, const char *path, const char *name)
{
	uint64_t *bytes = context;
	struct stat found;
	UNUSED(name);
	if (stat(path, &found) == 0 && S_ISREG(found.st_mode))
		*bytes += (uint64_t)found.st_size;
}

static void add_folder(void *context, const char *path, const char *name)
{
	UNUSED(name);
	each_entry(path, add_size, context);
}

/* Of all recordings of all worlds. */
static uint64_t size_of_all(const char *world)
{
	char directory[NEW_FILE_PATH], path[NEW_FILE_PATH + 16];
	uint64_t bytes = 0;
	new_file_folder(world, directory);
	snprintf(path, sizeof path, "%s/%s", directory, FOLDER);
	each_entry(path, add_folder, &bytes);
	return bytes;
}

static enum status check_room(uint64_t taken, uint64_t room, struct reason *why)
{
	if (taken <= room)
		return STATUS_OK;
	return reason_set(why, STATUS_FULL, -1, "name",
			  "the recordings would take more than %llu bytes, the limit of the server "
			  "(--recordings-bytes): remove one",
			  (unsigned long long)room);
}

/* ---- what a file holds ------------------------------------------------------------------------- */

static enum status find_first(sqlite3 *db, uint64_t begins, struct archive_entry *out,
			      struct reason *why)
{
	char text[128];
	uint64_t epoch = 0;
	snprintf(text, sizeof text, "SELECT epoch FROM checkpoints WHERE seq = %lld",
		 (long long)begins);
	enum status status = sql_number(db, text, 0, &epoch, why);
	snprintf(text, sizeof text, "SELECT tick FROM checkpoints WHERE seq = %lld",
		 (long long)begins);
	if (status == STATUS_OK)
		status = sql_number(db, text, 0, &out->first.tick, why);
	out->first.epoch = (uint32_t)epoch;
	if (status == STATUS_OK && epoch == 0)
		status = reason_set(why, STATUS_CORRUPT, -1, "file", "it holds no checkpoint");
	return status;
}

static enum status find_last(sqlite3 *db, struct archive_entry *out, struct reason *why)
{
	uint64_t epoch, tick;
	enum status status =
		sql_number(db, "SELECT max(epoch) FROM epochs", out->first.epoch, &epoch, why);
	if (status == STATUS_OK)
		status = sql_number(db,
				    "SELECT max(tick) FROM (SELECT tick + count - 1 AS tick FROM"
				    " hashes WHERE epoch = (SELECT max(epoch) FROM epochs) UNION"
				    " ALL SELECT max(tick) FROM checkpoints WHERE epoch ="
				    " (SELECT max(epoch) FROM epochs))",
				    out->first.tick, &tick, why);
	if (status == STATUS_OK)
		out->last = (struct recorded_place){ (uint32_t)epoch, tick };
	return status;
}

enum status archive_describe(sqlite3 *db, bool running, struct archive_entry *out,
			     struct reason *why)
{
	struct keep keep;
	uint64_t begins = 0;
	memset(out, 0, sizeof *out);
	out->running = running;
	enum status status = keep_read(db, &keep, why);
	if (status == STATUS_OK && running)
		status = keep_floor(db, &keep, &begins, why);
	else if (status == STATUS_OK)
		status = prune_begins(db, &begins, why);
	if (status == STATUS_OK && begins == 0)
		status = sql_number(db, "SELECT min(seq) FROM checkpoints", 0, &begins, why);
	if (status == STATUS_OK)
		status = find_first(db, begins, out, why);
	if (status == STATUS_OK)
		status = find_last(db, out, why);
	if (status == STATUS_OK)
		status = schema_meta(db, running ? "recording_since" : "recorded_since", out->since,
				     sizeof out->since, why);
	if (status == STATUS_OK && !running)
		status = schema_meta(db, "recorded_title", out->title, sizeof out->title, why);
	if (running) {
		memcpy(out->name, keep.is.name, sizeof out->name);
		memcpy(out->title, keep.is.title, sizeof out->title);
	}
	return status;
}

struct name_list {
	char (*names)[WIRE_NAME_MAX + 1];
	uint32_t capacity, count;
};

static void add_name(void *context, const char *path, const char *name)
{
	struct name_list *list = context;
	size_t bytes = strlen(name), tail = sizeof SUFFIX - 1;
	UNUSED(path);
	if (name[0] == '.' || bytes <= tail || bytes - tail > WIRE_NAME_MAX ||
	    strcmp(name + bytes - tail, SUFFIX) != 0)
		return;
	if (list->count++ < list->capacity)
		snprintf(list->names[list->count - 1], WIRE_NAME_MAX + 1, "%.*s",
			 (int)(bytes - tail), name);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(a, b);
}

enum status archive_names(const char *world, char (*names)[WIRE_NAME_MAX + 1], uint32_t capacity,
			  uint32_t *count, struct reason *why)
{
	char folder[NEW_FILE_PATH];
	struct name_list list = { .names = names, .capacity = capacity };
	enum status status = find_path(world, "", "", "", folder, why);
	if (status == STATUS_OK)
		each_entry(folder, add_name, &list);
	if (MIN_OF(list.count, capacity) > 1)
		qsort(names, MIN_OF(list.count, capacity), sizeof *names, by_bytes);
	*count = list.count;
	return status;
}

/* What errno says of the file at `path` of a recording. */
static enum status refuse_recording(const char *path, const char *name, struct reason *why)
{
	if (errno != ENOENT)
		return new_file_fail(path, why);
	return reason_set(why, STATUS_MISSING, -1, "name", "the world has no recording named %.64s",
			  name);
}

/* A file at `path` as a recording; the size is that of the file. */
static enum status open_described(const char *path, const char *name, sqlite3 **out,
				  struct archive_entry *entry, struct reason *why)
{
	struct stat found;
	if (stat(path, &found) != 0)
		return refuse_recording(path, name, why);
	enum status status = sql_open(path, SQL_ALONE, out, why);
	if (status != STATUS_OK)
		return status;
	status = schema_check(*out, NULL, why);
	if (status == STATUS_OK)
		status = archive_describe(*out, false, entry, why);
	if (status != STATUS_OK) {
		sql_close(*out);
		return status;
	}
	snprintf(entry->name, sizeof entry->name, "%s", name);
	entry->bytes = (uint64_t)found.st_size;
	return STATUS_OK;
}

enum status archive_open(const char *world, const char *name, sqlite3 **out,
			 struct archive_entry *entry, struct reason *why)
{
	char path[NEW_FILE_PATH];
	enum status status = find_path(world, "/", name, SUFFIX, path, why);
	return status == STATUS_OK ? open_described(path, name, out, entry, why) : status;
}

enum status archive_remove(const char *world, const char *name, struct reason *why)
{
	char path[NEW_FILE_PATH];
	enum status status = find_path(world, "/", name, SUFFIX, path, why);
	if (status == STATUS_OK && unlink(path) != 0)
		status = refuse_recording(path, name, why);
	return status;
}

/* ---- bytes ------------------------------------------------------------------------------------- */

enum status archive_read(const char *world, const char *name, uint64_t offset, uint32_t bytes,
			 struct bytes *out, uint64_t *whole, struct reason *why)
{
	char path[NEW_FILE_PATH];
	struct stat found;
	enum status status = find_path(world, "/", name, SUFFIX, path, why);
	if (status == STATUS_OK && bytes_reserve(out, out->count + bytes) != STATUS_OK)
		status = reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				    status_text(STATUS_NO_MEMORY));
	if (status != STATUS_OK)
		return status;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;
	if (file >= 0 && fstat(file, &found) == 0)
		got = pread(file, out->data + out->count, bytes, (off_t)offset);
	if (got < 0)
		status = refuse_recording(path, name, why);
	if (file >= 0)
		close(file);
	if (status != STATUS_OK)
		return status;
	out->count += (size_t)got;
	*whole = (uint64_t)found.st_size;
	return STATUS_OK;
}

enum status archive_refuse_taken(const char *world, const char *name, struct reason *why)
{
	if (!archive_exists(world, name))
		return STATUS_OK;
	return reason_set(why, STATUS_EXISTS, -1, "name",
			  "the world has a recording named %.64s: remove it first, or take another "
			  "name",
			  name);
}

static enum status write_part(const char *path, uint64_t offset, const struct bytes *part,
			      struct reason *why)
{
	struct stat found;
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (offset == 0 ? O_TRUNC : 0), 0600);
	if (file < 0 || fstat(file, &found) != 0) {
		enum status status = new_file_fail(path, why);
		if (file >= 0)
			close(file);
		return status;
	}
	enum status status = STATUS_OK;
	if ((uint64_t)found.st_size != offset)
		status = reason_set(why, STATUS_RANGE, -1, "offset",
				    "%llu bytes have arrived, so the next part begins there",
				    (unsigned long long)found.st_size);
	else if (pwrite(file, part->data, part->count, (off_t)offset) != (ssize_t)part->count)
		status = new_file_fail(path, why);
	close(file);
	return status;
}

enum status archive_put(const char *world, const char *name, uint64_t offset,
			const struct bytes *part, uint64_t room, struct reason *why)
{
	char path[NEW_FILE_PATH];
	enum status status = make_folder(world, why);
	if (status == STATUS_OK)
		status = archive_refuse_taken(world, name, why);
	if (status == STATUS_OK)
		status = check_room(size_of_all(world) + part->count, room, why);
	if (status == STATUS_OK)
		status = find_path(world, "/.", name, ".sent", path, why);
	return status == STATUS_OK ? write_part(path, offset, part, why) : status;
}

/* Gives a complete file its name; never in place of another. */
static enum status publish_file(const char *part, const char *path, struct reason *why)
{
	uint64_t bytes;
	enum status status = new_file_sync(part, &bytes, why);
	if (status == STATUS_OK && link(part, path) != 0)
		status = new_file_fail(path, why);
	new_file_remove(part);
	return status == STATUS_OK ? new_file_sync(path, &bytes, why) : status;
}

enum status archive_put_end(const char *world, const char *name, struct archive_entry *entry,
			    struct reason *why)
{
	char part[NEW_FILE_PATH], path[NEW_FILE_PATH];
	sqlite3 *db;
	enum status status = find_path(world, "/.", name, ".sent", part, why);
	if (status == STATUS_OK)
		status = find_path(world, "/", name, SUFFIX, path, why);
	if (status == STATUS_OK)
		status = open_described(part, name, &db, entry, why);
	if (status != STATUS_OK) {
		new_file_remove(part);
		return status;
	}
	sql_close(db);
	return publish_file(part, path, why);
}

/* ---- making one -------------------------------------------------------------------------------- */

/* The rows of each of the schema's tables that belong to a recording; ?1 is the seq of the
 * checkpoint where it begins, ?2 its epoch, ?3 its tick. As prune.c leaves them. */
static const char *const CHOSEN[STORE_TABLES] = {
	"key IN ('build', 'created', 'pace')",
	"1",
	"epoch >= ?2",
	"1",
	"seq > ?1",
	"seq > ?1",
	"seq > ?1",
	"epoch > ?2 OR (epoch = ?2 AND tick + count > ?3 + 1)",
	"seq >= ?1 OR seq IN (SELECT checkpoint FROM epochs WHERE epoch > ?2)",
};

struct archive_copy {
	char part[NEW_FILE_PATH], path[NEW_FILE_PATH];
	sqlite3 *from, *to;	 /* borrowed; owned */
	sqlite3_stmt *get, *put; /* of the present table */
	uint32_t table;		 /* STORE_TABLES: all are copied */
	uint64_t room;		 /* bytes that it may take */
	struct archive_order order;
	struct archive_entry entry;
};

static enum status put_text(sqlite3 *db, const char *key, const char *value, struct reason *why)
{
	sqlite3_stmt *put = NULL;
	enum status status = sql_prepare(db, "REPLACE INTO meta VALUES (?1, ?2)", &put, why);
	if (status == STATUS_OK) {
		sql_bind_text(put, 1, key);
		sql_bind_text(put, 2, value);
		status = sql_run(db, put, why);
	}
	sqlite3_finalize(put);
	return status;
}

static enum status put_number(sqlite3 *db, const char *key, uint64_t value, struct reason *why)
{
	char text[96];
	snprintf(text, sizeof text, "REPLACE INTO meta VALUES ('%s', %lld)", key, (long long)value);
	return sql_exec(db, text, why);
}

/* Where it begins, and the highest session number before, as prune.c leaves them. */
static enum status put_beginning(struct archive_copy *copy, struct reason *why)
{
	char text[96];
	uint64_t first = 0, begins = 0, sessions = 0, before = 0;
	enum status status = prune_begins(copy->from, &begins, why);
	if (status == STATUS_OK)
		status = sql_number(copy->from, "SELECT min(seq) FROM checkpoints", 0, &first, why);
	if (status == STATUS_OK && (begins != 0 || copy->order.begins != first))
		status = put_number(copy->to, "begins", copy->order.begins, why);
	if (status == STATUS_OK)
		status = prune_session_max(copy->from, &sessions, why);
	snprintf(text, sizeof text, "SELECT max(session) FROM batches WHERE seq < %lld",
		 (long long)copy->order.begins);
	if (status == STATUS_OK)
		status = sql_number(copy->from, text, 0, &before, why);
	if (status == STATUS_OK && MAX_OF(sessions, before) > 0)
		status = put_number(copy->to, "session_max", MAX_OF(sessions, before), why);
	return status;
}

static enum status put_heading(struct archive_copy *copy, struct reason *why)
{
	char world[WIRE_NAME_MAX + 1];
	enum status status = schema_meta(copy->from, "world", world, sizeof world, why);
	if (status == STATUS_OK)
		status = schema_create(copy->to, world, NULL, why);
	if (status == STATUS_OK)
		status = put_text(copy->to, "recorded", copy->order.name, why);
	if (status == STATUS_OK)
		status = put_text(copy->to, "recorded_title", copy->order.title, why);
	if (status == STATUS_OK)
		status = sql_exec(copy->to,
				  "INSERT INTO meta VALUES"
				  " ('recorded_since', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
				  why);
	return status == STATUS_OK ? put_beginning(copy, why) : status;
}

static enum status open_copy(struct archive_copy *copy, const char *world, struct reason *why)
{
	uint32_t version;
	enum status status = schema_check(copy->from, &version, why);
	if (status == STATUS_OK && version != SCHEMA_VERSION)
		status = reason_set(why, STATUS_VERSION, -1, "file",
				    "its tables are of version %u, not %d", (unsigned)version,
				    SCHEMA_VERSION);
	if (status == STATUS_OK)
		status = find_first(copy->from, copy->order.begins, &copy->entry, why);
	if (status == STATUS_OK)
		status = make_folder(world, why);
	if (status == STATUS_OK)
		status = archive_refuse_taken(world, copy->order.name, why);
	if (status == STATUS_OK)
		status = find_path(world, "/", copy->order.name, SUFFIX, copy->path, why);
	if (status == STATUS_OK)
		status = find_path(world, "/.", copy->order.name, ".part", copy->part, why);
	if (status != STATUS_OK)
		return status;
	new_file_remove(copy->part); /* of a copy that was interrupted */
	uint64_t taken = size_of_all(world);
	status = check_room(taken, copy->order.room, why);
	copy->room = copy->order.room - MIN_OF(taken, copy->order.room);
	if (status == STATUS_OK)
		status = sql_open(copy->part, SQL_CREATE, &copy->to, why);
	/* It is synced once, when it is complete. */
	if (status == STATUS_OK)
		status = sql_exec(copy->to,
				  "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;", why);
	if (status == STATUS_OK)
		status = sql_exec(copy->to, "BEGIN IMMEDIATE", why);
	return status == STATUS_OK ? put_heading(copy, why) : status;
}

enum status archive_copy_begin(const char *world, sqlite3 *from, const struct archive_order *order,
			       struct archive_copy **out, struct reason *why)
{
	struct archive_copy *copy = heap_alloc_zero(sizeof *copy);
	if (copy == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				  status_text(STATUS_NO_MEMORY));
	copy->from = from;
	copy->order = *order;
	enum status status = open_copy(copy, world, why);
	if (status != STATUS_OK) {
		archive_copy_destroy(copy);
		return status;
	}
	*out = copy;
	return STATUS_OK;
}

static enum status open_table(struct archive_copy *copy, struct reason *why)
{
	char text[256];
	const struct store_table *table = &store_tables[copy->table];
	snprintf(text, sizeof text, "SELECT * FROM %s WHERE %s ORDER BY %s", table->name,
		 CHOSEN[copy->table], table->key);
	enum status status = sql_prepare(copy->from, text, &copy->get, why);
	if (status == STATUS_OK)
		status = sql_prepare(copy->to, table->insert, &copy->put, why);
	if (status != STATUS_OK)
		return status;
	const uint64_t values[] = { copy->order.begins, copy->entry.first.epoch,
				    copy->entry.first.tick };
	for (int i = 0; i < sqlite3_bind_parameter_count(copy->get); i++)
		sql_bind(copy->get, i + 1, values[i]);
	return STATUS_OK;
}

static void close_table(struct archive_copy *copy)
{
	sqlite3_finalize(copy->get);
	sqlite3_finalize(copy->put);
	copy->get = copy->put = NULL;
}

static enum status check_size(const struct archive_copy *copy, struct reason *why)
{
	uint64_t pages, size;
	enum status status = sql_number(copy->to, "PRAGMA page_count", 0, &pages, why);
	if (status == STATUS_OK)
		status = sql_number(copy->to, "PRAGMA page_size", 0, &size, why);
	if (status != STATUS_OK || pages * size <= copy->room)
		return status;
	return check_room(UINT64_MAX, copy->order.room, why);
}

enum status archive_copy_step(struct archive_copy *copy, bool *done, struct reason *why)
{
	enum { ROWS = 32 };
	enum status status = STATUS_OK;
	*done = copy->table == STORE_TABLES;
	if (*done)
		return STATUS_OK;
	if (copy->get == NULL)
		status = open_table(copy, why);
	for (int i = 0; i < ROWS && status == STATUS_OK; i++) {
		status = sql_row(copy->from, copy->get, why);
		if (status == STATUS_OK)
			status = sql_copy_row(copy->get, copy->to, copy->put, why);
	}
	if (status != STATUS_OK && status != STATUS_MISSING)
		return status;
	if (status == STATUS_MISSING) {
		close_table(copy);
		copy->table++;
	}
	return check_size(copy, why);
}

enum status archive_copy_end(struct archive_copy *copy, struct archive_entry *entry,
			     struct reason *why)
{
	struct stat found;
	enum status status = sql_exec(copy->to, "COMMIT", why);
	if (status == STATUS_OK)
		status = archive_describe(copy->to, false, &copy->entry, why);
	sql_close(copy->to);
	copy->to = NULL;
	if (status == STATUS_OK)
		status = publish_file(copy->part, copy->path, why);
	if (status != STATUS_OK)
		return status;
	snprintf(copy->entry.name, sizeof copy->entry.name, "%s", copy->order.name);
	copy->entry.bytes = stat(copy->path, &found) == 0 ? (uint64_t)found.st_size : 0;
	copy->part[0] = '\0';
	*entry = copy->entry;
	return STATUS_OK;
}

void archive_copy_destroy(struct archive_copy *copy)
{
	if (copy == NULL)
		return;
	close_table(copy);
	sql_close(copy->to);
	if (copy->part[0] != '\0')
		new_file_remove(copy->part);
	heap_free(copy);
}
