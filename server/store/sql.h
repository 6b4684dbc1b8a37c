/* sql.h: SQLite as the store uses it: one connection, prepared statements, result codes as enum status.
 *
 * Our numbers are unsigned 64-bit integers, SQLite's are signed. They are stored as the same 64 bits, so a
 * number over 2^63 − 1 reads as negative in a query. Hashes are blobs of eight bytes, big-endian, so that
 * hex() prints them as everywhere else.
 */
#ifndef CAIRN_STORE_SQL_H
#define CAIRN_STORE_SQL_H

#include <sqlite3.h>

#include "server/base/bytes.h"
#include "server/base/status.h"

enum sql_mode {
	SQL_READ, /* an existing file, read-only; another process may write it meanwhile */
	SQL_ALONE, /* read-only, a file without a writer: no file is created beside it, except the shared
		    * memory (-shm) that reading an existing log needs */
	SQL_WRITE,  /* an existing file */
	SQL_CREATE, /* a new or an empty file */
};

/* Opened for one writer: write-ahead log, every commit fsynced. Returned open in *out, for sql_close. A new
 * file has mode 0600, independent of the umask. Triggers of a file are not run, its schema is not trusted,
 * and a statement that takes too long ends as CORRUPT. */
MUST_CHECK enum status sql_open(const char *path, enum sql_mode mode, sqlite3 **out,
				struct reason *why);
/* NULL is ignored. Every statement must have been finalised. */
void sql_close(sqlite3 *db);

/* SQLite's result code as ours: FULL (disk), NO_MEMORY, CORRUPT, AGAIN (locked), else IO. */
enum status sql_status(int code);
/* The connection's last error as a reason; `what` names the operation. */
enum status sql_fail(sqlite3 *db, const char *what, struct reason *why);
MUST_CHECK enum status sql_exec(sqlite3 *db, const char *text, struct reason *why);
/* Returned in *out, for sqlite3_finalize. */
MUST_CHECK enum status sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **out,
				   struct reason *why);
/* Runs a statement that returns no row, and makes it ready for the next time. */
MUST_CHECK enum status sql_run(sqlite3 *db, sqlite3_stmt *statement, struct reason *why);
/* The next row: OK, MISSING when there is none (the statement is then reset), or a failure. */
MUST_CHECK enum status sql_row(sqlite3 *db, sqlite3_stmt *statement, struct reason *why);
/* Puts the row at which `get` stands with `put`, a statement of `to` with a parameter for each column. */
MUST_CHECK enum status sql_copy_row(sqlite3_stmt *get, sqlite3 *to, sqlite3_stmt *put,
				    struct reason *why);
/* The one number of a query's first row; `fallback` when it has none. */
MUST_CHECK enum status sql_number(sqlite3 *db, const char *text, uint64_t fallback, uint64_t *out,
				  struct reason *why);

/* Binding cannot fail for numbers; blobs and texts are borrowed until the statement has run. */
void sql_bind(sqlite3_stmt *statement, int index, uint64_t value);
void sql_bind_blob(sqlite3_stmt *statement, int index, const void *data, size_t bytes);
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text);
static inline uint64_t sql_column(sqlite3_stmt *statement, int index)
{
	return (uint64_t)sqlite3_column_int64(statement, index);
}
/* False when the column is no blob of eight bytes. */
MUST_CHECK bool sql_column_hash(sqlite3_stmt *statement, int index, uint64_t *out);
/* A blob's bytes, borrowed until the next row; never NULL. */
const uint8_t *sql_column_blob(sqlite3_stmt *statement, int index, size_t *bytes);

#endif
