/* See sql.h. */
#include "server/store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status sql_status(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return STATUS_OK;
	case SQLITE_FULL:
		return STATUS_FULL;
	case SQLITE_NOMEM:
		return STATUS_NO_MEMORY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_MISMATCH:
	case SQLITE_INTERRUPT: /* the progress handler: too_long */
		return STATUS_CORRUPT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return STATUS_AGAIN;
	default:
		return STATUS_IO;
	}
}

enum status sql_fail(sqlite3 *db, const char *what, struct reason *why)
{
	int code = db != NULL ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
	enum status status = sql_status(code);
	if (status == STATUS_OK)
		status = STATUS_IO;
	return reason_set(why, status, -1, "file", "%s: %s", what,
			  db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* An idle world's connection should be small: a quarter of a MiB of pages, few spare slots. COMMIT
 * returns after the fsync; the sqlite3 shell may read at the same time. */
static const char writer_settings[] = "PRAGMA journal_mode = WAL;"
				      "PRAGMA synchronous = FULL;"
				      "PRAGMA cache_size = -256;"
				      "PRAGMA journal_size_limit = 4194304;";

/* file:PATH?immutable=1, with the characters escaped that a URI may not contain. False: too long. */
static bool immutable_name(const char *path, char *name, size_t bytes)
{
	static const char HEX[] = "0123456789abcdef";
	size_t used = (size_t)snprintf(name, bytes, "file:");
	for (; *path != '\0' && used + 4 < bytes; path++) {
		if (strchr("%?#", *path) == NULL) {
			name[used++] = *path;
			continue;
		}
		name[used++] = '%';
		name[used++] = HEX[(uint8_t)*path >> 4];
		name[used++] = HEX[(uint8_t)*path & 15];
	}
	return *path == '\0' &&
	       (size_t)snprintf(name + used, bytes - used, "?immutable=1") < bytes - used;
}

static bool has_log(const char *path)
{
	char name[4096];
	snprintf(name, sizeof name, "%s-wal", path);
	return access(name, F_OK) == 0;
}

/* Without a log the file is complete and does not change. NULL: it cannot be opened. */
static sqlite3 *open_immutable(const char *path)
{
	char name[4096];
	sqlite3 *fixed = NULL;
	if (!immutable_name(path, name, sizeof name) ||
	    sqlite3_open_v2(name, &fixed, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) ==
		    SQLITE_OK)
		return fixed;
	sqlite3_close_v2(fixed);
	return NULL;
}

/* A reader of a write-ahead log needs a shared-memory file beside it, even if the writer has
 * removed the log in an orderly close. If no process writes the database, or this one may not write
 * there, that file is not created, and the database is opened as immutable. */
static sqlite3 *without_log(const char *path, enum sql_mode mode, sqlite3 *db)
{
	if (has_log(path))
		return db;
	int code = SQLITE_CANTOPEN;
	if (mode == SQL_READ)
		code = sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) & 0xff;
	if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
		return db;
	sqlite3 *fixed = open_immutable(path);
	if (fixed == NULL)
		return db;
	sqlite3_close_v2(db);
	return fixed;
}

/* Creates the file with mode 0600 before SQLite opens it. SQLite gives the files beside it the same
 * mode. A name in memory (":memory:") has no file. */
static enum status make_private(const char *path, struct reason *why)
{
	if (path[0] == ':')
		return STATUS_OK;
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	bool made = file >= 0 && fchmod(file, 0600) == 0;
	int code = errno;
	if (file >= 0)
		close(file);
	return made ? STATUS_OK
		    : reason_set(why, STATUS_IO, -1, "file", "%s: %s", path, strerror(code));
}

/* How many of SQLite's own instructions one step of a statement may take: some ten seconds. Our
 * longest statement reads every row of a table once. */
enum { PROGRESS_EVERY = 100000, PROGRESS_MAX = 10000 };

static int too_long(void *context)
{
	uint32_t *calls = context;
	return ++*calls > PROGRESS_MAX;
}

/* Per thread, because a step of a statement begins and ends on one thread. */
static _Thread_local uint32_t progress;

/* A file may be hostile: no trigger, view or function stored in it is trusted. */
static void distrust(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

static int step_statement(sqlite3_stmt *statement)
{
	progress = 0;
	sqlite3_progress_handler(sqlite3_db_handle(statement), PROGRESS_EVERY, too_long, &progress);
	int code = sqlite3_step(statement);
	sqlite3_progress_handler(sqlite3_db_handle(statement), 0, NULL, NULL);
	return code;
}

enum status sql_open(const char *path, enum sql_mode mode, sqlite3 **out, struct reason *why)
{
	static const int flags[] = {
		[SQL_READ] = SQLITE_OPEN_READONLY,
		[SQL_ALONE] = SQLITE_OPEN_READONLY,
		[SQL_WRITE] = SQLITE_OPEN_READWRITE,
		[SQL_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
	};
	sqlite3 *db = NULL;
	if (mode == SQL_CREATE && make_private(path, why) != STATUS_OK)
		return why->status;
	int code = sqlite3_open_v2(path, &db, flags[mode], NULL);
	if (code != SQLITE_OK) {
		enum status status = sql_fail(db, path, why);
		sqlite3_close_v2(db);
		return status;
	}
	if (mode <= SQL_ALONE)
		db = without_log(path, mode, db);
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, 2000);
	sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 256, 32);
	distrust(db);
	enum status status = STATUS_OK;
	if (mode > SQL_ALONE)
		status = sql_exec(db, writer_settings, why);
	if (status != STATUS_OK) {
		sqlite3_close_v2(db);
		return status;
	}
	*out = db;
	return STATUS_OK;
}

void sql_close(sqlite3 *db)
{
	if (db == NULL)
		return;
	ASSERT(sqlite3_next_stmt(db, NULL) == NULL);
	sqlite3_close_v2(db);
}

/* ---- statements -------------------------------------------------------------------------------- */

enum status sql_exec(sqlite3 *db, const char *text, struct reason *why)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		return sql_fail(db, "writing", why);
	return STATUS_OK;
}

enum status sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **out, struct reason *why)
{
	if (sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
		return sql_fail(db, "preparing", why);
	return STATUS_OK;
}

enum status sql_run(sqlite3 *db, sqlite3_stmt *statement, struct reason *why)
{
	enum status status = STATUS_OK;
	if (step_statement(statement) != SQLITE_DONE)
		status = sql_fail(db, "writing", why);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return status;
}

enum status sql_row(sqlite3 *db, sqlite3_stmt *statement, struct reason *why)
{
	int code = step_statement(statement);
	if (code == SQLITE_ROW)
		return STATUS_OK;
	enum status status = code == SQLITE_DONE ? STATUS_MISSING : sql_fail(db, "reading", why);
	sqlite3_reset(statement);
	return status;
}

enum status sql_copy_row(sqlite3_stmt *get, sqlite3 *to, sqlite3_stmt *put, struct reason *why)
{
	int columns = sqlite3_column_count(get), parameters = sqlite3_bind_parameter_count(put);
	for (int i = 0; i < columns && i < parameters; i++)
		if (sqlite3_bind_value(put, i + 1, sqlite3_column_value(get, i)) != SQLITE_OK)
			return sql_fail(to, "copying", why);
	return sql_run(to, put, why);
}

enum status sql_number(sqlite3 *db, const char *text, uint64_t fallback, uint64_t *out,
		       struct reason *why)
{
	sqlite3_stmt *statement = NULL;
	*out = fallback;
	enum status status = sql_prepare(db, text, &statement, why);
	if (status == STATUS_OK)
		status = sql_row(db, statement, why);
	if (status == STATUS_OK && sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		*out = sql_column(statement, 0);
	sqlite3_finalize(statement);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* ---- values ------------------------------------------------------------------------------------ */

void sql_bind(sqlite3_stmt *statement, int index, uint64_t value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	ASSERT(sqlite3_bind_int64(statement, index, bits) == SQLITE_OK);
}

/* Not copied, so only the length could fail, and callers bound it. */
void sql_bind_blob(sqlite3_stmt *statement, int index, const void *data, size_t bytes)
{
	int code = bytes == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
			      : sqlite3_bind_blob64(statement, index, data, bytes, SQLITE_STATIC);
	ASSERT(code == SQLITE_OK || code == SQLITE_TOOBIG);
}

void sql_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	ASSERT(sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC) == SQLITE_OK);
}

const uint8_t *sql_column_blob(sqlite3_stmt *statement, int index, size_t *bytes)
{
	static const uint8_t nothing[1];
	const uint8_t *data = sqlite3_column_blob(statement, index);
	*bytes = data != NULL ? (size_t)sqlite3_column_bytes(statement, index) : 0;
	return data != NULL ? data : nothing;
}

bool sql_column_hash(sqlite3_stmt *statement, int index, uint64_t *out)
{
	size_t bytes;
	const uint8_t *data = sql_column_blob(statement, index, &bytes);
	*out = bytes == 8 ? get_be64(data) : 0;
	return bytes == 8;
}
