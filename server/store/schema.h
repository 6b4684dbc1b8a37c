/* schema.h: the tables of a world's file, and whether a file is one. docs/RECORDING.md tells of each
 * column. */
#ifndef CAIRN_STORE_SCHEMA_H
#define CAIRN_STORE_SCHEMA_H

#include "server/store/journal.h"
#include "server/store/sql.h"

/* "Cair" and the version of the tables: PRAGMA application_id and user_version. */
enum { SCHEMA_APPLICATION = 0x43616972, SCHEMA_VERSION = 2 };

/* The commits of one transaction: tables, views, and who made them. Within the caller's transaction. */
MUST_CHECK enum status schema_create(sqlite3 *db, const char *world, struct reason *why);
/* Files of version 1 are read as they are; before anything is written to one it steps up. What version 2
 * has beside it: motion and redone of an epoch, the result of a batch. */
/* MISSING: an empty file, in which nothing has begun. CORRUPT: no file of ours. VERSION: of a schema that
 * is not known. *version (may be NULL) is its own. */
MUST_CHECK enum status schema_check(sqlite3 *db, uint32_t *version, struct reason *why);
/* Version 1 becomes 2. Within the caller's transaction. */
MUST_CHECK enum status schema_step_up(sqlite3 *db, struct reason *why);
/* What made this program: version, compiler and processor. */
const char *schema_build(void);
/* The meta table's text for `key`, cut to `bytes`; empty when there is none. */
MUST_CHECK enum status schema_meta(sqlite3 *db, const char *key, char *text, size_t bytes,
				   struct reason *why);

/* The meta table's `pace`: "MODE SPEED BARRIER", e.g. "paused 1000 0". */
enum { SCHEMA_PACE_BYTES = 48 };
void schema_pace_print(const struct journal_pace *pace, char text[SCHEMA_PACE_BYTES]);
/* MISSING: a file from before it was kept. CORRUPT: not of that form. */
MUST_CHECK enum status schema_pace(sqlite3 *db, struct journal_pace *pace, struct reason *why);

#endif
