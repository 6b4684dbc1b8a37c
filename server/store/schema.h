/* schema.h: the tables of a world's file, and the check that a file has them. docs/RECORDING.md describes
 * each column. */
#ifndef CAIRN_STORE_SCHEMA_H
#define CAIRN_STORE_SCHEMA_H

#include "server/store/journal.h"
#include "server/store/sql.h"

/* "Cair" and the version of the tables: PRAGMA application_id and user_version. */
enum { SCHEMA_APPLICATION = 0x43616972, SCHEMA_VERSION = 2 };

/* Creates tables, views and meta (build, world, date, and durability unless NULL). Within the caller's
 * transaction. */
MUST_CHECK enum status schema_create(sqlite3 *db, const char *world, const char *durability,
				     struct reason *why);
/* MISSING: an empty file. CORRUPT: not a file of this program. VERSION: of an unknown schema. *version (may
 * be NULL) is the file's. Files of version 1 are read without conversion, and converted to version 2 before
 * the first write. Version 2 adds motion and redone of an epoch, and the result of a batch. */
MUST_CHECK enum status schema_check(sqlite3 *db, uint32_t *version, struct reason *why);
/* Version 1 becomes 2. Within the caller's transaction. */
MUST_CHECK enum status schema_step_up(sqlite3 *db, struct reason *why);
/* Version, compiler and processor of this build. */
const char *schema_build(void);
/* The meta table's text for `key`, cut to `bytes`; empty when there is none. */
MUST_CHECK enum status schema_meta(sqlite3 *db, const char *key, char *text, size_t bytes,
				   struct reason *why);

/* The meta table's `pace`: "MODE SPEED BARRIER", e.g. "paused 1000 0". */
enum { SCHEMA_PACE_BYTES = 48 };
void schema_pace_print(const struct journal_pace *pace, char text[SCHEMA_PACE_BYTES]);
/* MISSING: the file is older than this record. CORRUPT: not of that form. */
MUST_CHECK enum status schema_pace(sqlite3 *db, struct journal_pace *pace, struct reason *why);

/* The world's own durability. MISSING: it has that of the daemon. CORRUPT: no such level. */
MUST_CHECK enum status schema_durability(sqlite3 *db, enum durability *durability,
					 struct reason *why);

/* Every table: the columns of its key, and a statement that puts a whole row. */
struct store_table {
	const char *name, *key, *insert;
};
enum { STORE_TABLES = 9 };
extern const struct store_table store_tables[STORE_TABLES];

#endif
