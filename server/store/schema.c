/* See schema.h. Tables of version 1, the columns that version 2 adds, and the check that a file has exactly
 * these. */
#include "server/store/schema.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "server/engine/engine.h"

#if defined(__clang__)
#define BUILD_COMPILER "clang " __clang_version__
#else
#define BUILD_COMPILER "gcc " __VERSION__
#endif
#if defined(__x86_64__)
#define BUILD_PROCESSOR "x86_64"
#elif defined(__aarch64__)
#define BUILD_PROCESSOR "aarch64"
#else
#define BUILD_PROCESSOR "unknown processor"
#endif

const char *schema_build(void)
{
	return PACKAGE_NAME " " PACKAGE_VERSION ", " BUILD_COMPILER ", " BUILD_PROCESSOR;
}

/* Version 1, never changed. A new file gets these tables and is then converted, so the schemas of
 * two files of one version are equal byte by byte, whichever build made them. `seq` numbers all
 * records of a world, across tables. Blobs are the last columns, so that the others can be read
 * without them. */
static const char tables_text[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	/* The state's tables, by their place in checkpoints.table_hashes. */
	"CREATE TABLE tables (place INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	"CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, seq INTEGER NOT NULL UNIQUE,"
	" tick INTEGER NOT NULL, cause TEXT NOT NULL, snapshot TEXT, checkpoint INTEGER,"
	" build TEXT NOT NULL, at TEXT NOT NULL);"
	"CREATE TABLE shapes (seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
	" tick INTEGER NOT NULL, name BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
	" canonical BLOB NOT NULL);"
	"CREATE TABLE applies (seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
	" tick INTEGER NOT NULL, batches INTEGER NOT NULL);"
	"CREATE TABLE batches (seq INTEGER PRIMARY KEY, apply INTEGER NOT NULL,"
	" session INTEGER NOT NULL, batch INTEGER NOT NULL, at INTEGER NOT NULL,"
	" late INTEGER NOT NULL, restricted INTEGER NOT NULL, count INTEGER NOT NULL,"
	" commands BLOB NOT NULL);"
	"CREATE TABLE stops (seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
	" tick INTEGER NOT NULL, status INTEGER NOT NULL);"
	"CREATE TABLE hashes (epoch INTEGER NOT NULL, tick INTEGER NOT NULL,"
	" count INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY (epoch, tick)) WITHOUT ROWID;"
	"CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
	" tick INTEGER NOT NULL, name TEXT, state_hash BLOB NOT NULL,"
	" image_bytes INTEGER NOT NULL, image_hash BLOB NOT NULL, table_hashes BLOB NOT NULL,"
	" image BLOB NOT NULL);"
	"CREATE INDEX epochs_checkpoint ON epochs (checkpoint) WHERE checkpoint IS NOT NULL;"
	"CREATE INDEX checkpoints_name ON checkpoints (name) WHERE name IS NOT NULL;";

/* The columns that version 2 adds. */
static const char columns_text[] = "ALTER TABLE epochs ADD COLUMN motion TEXT;"
				   "ALTER TABLE epochs ADD COLUMN redone INTEGER;"
				   "ALTER TABLE batches ADD COLUMN result INTEGER;";

/* Views for the sqlite3 shell; cairnd does not read them. A conversion creates them again.
 * `result`: the text that ends the view of batches. */
#define VIEWS(result)                                                                                 \
	"CREATE VIEW tick_hashes AS"                                                                  \
	" WITH RECURSIVE n (epoch, tick, i, count, hashes) AS"                                        \
	" (SELECT epoch, tick, 0, count, hashes FROM hashes"                                          \
	"  UNION ALL SELECT epoch, tick, i + 1, count, hashes FROM n WHERE i + 1 < count)"            \
	" SELECT epoch, tick + i AS tick, lower(hex(substr(hashes, 8 * i + 1, 8))) AS hash FROM n;"   \
	"CREATE VIEW input AS"                                                                        \
	" SELECT b.seq, a.epoch, a.tick, b.session,"                                                  \
	" CASE WHEN b.batch < 0 THEN 'step' ELSE 'commands' END AS message,"                          \
	" b.batch & 9223372036854775807 AS batch, b.at, b.late, b.restricted, b.count,"               \
	" lower(hex(b.commands)) AS commands" result                                                  \
	" FROM batches b JOIN applies a ON a.seq = b.apply;"                                          \
	"CREATE VIEW snapshots AS"                                                                    \
	" SELECT name, max(seq) AS seq, epoch, tick, lower(hex(state_hash)) AS state_hash,"           \
	" image_bytes FROM checkpoints WHERE name IS NOT NULL GROUP BY name;"                         \
	"CREATE VIEW table_hashes AS"                                                                 \
	" SELECT c.seq, c.epoch, c.tick, t.name AS name,"                                             \
	" lower(hex(substr(c.table_hashes, 8 * t.place + 1, 8))) AS hash"                             \
	" FROM checkpoints c JOIN tables t ON 8 * t.place < length(c.table_hashes);"                  \
	"CREATE VIEW timeline AS"                                                                     \
	" SELECT seq, epoch, tick, 'epoch' AS record, cause || coalesce(' ' || snapshot, '') AS what" \
	"  FROM epochs"                                                                               \
	" UNION ALL SELECT seq, epoch, tick, 'shape', kind || ' ' || lower(hex(name)) FROM shapes"    \
	" UNION ALL SELECT seq, epoch, tick, 'apply', batches || ' batches' FROM applies"             \
	" UNION ALL SELECT seq, epoch, tick, 'stop', 'status ' || status FROM stops"                  \
	" UNION ALL SELECT seq, epoch, tick, 'checkpoint',"                                           \
	"  lower(hex(state_hash)) || coalesce(' ' || name, '') FROM checkpoints"                      \
	" ORDER BY seq;"

static const char views_1_text[] = VIEWS("");
static const char views_text[] = VIEWS(", b.result");

const struct store_table store_tables[STORE_TABLES] = {
	{ "meta", "key", "REPLACE INTO meta VALUES (?1, ?2)" },
	{ "tables", "place", "INSERT INTO tables VALUES (?1, ?2)" },
	{ "epochs", "epoch",
	  "INSERT INTO epochs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)" },
	{ "shapes", "seq", "INSERT INTO shapes VALUES (?1, ?2, ?3, ?4, ?5, ?6)" },
	{ "applies", "seq", "INSERT INTO applies VALUES (?1, ?2, ?3, ?4)" },
	{ "batches", "seq",
	  "INSERT INTO batches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)" },
	{ "stops", "seq", "INSERT INTO stops VALUES (?1, ?2, ?3, ?4)" },
	{ "hashes", "epoch, tick", "INSERT INTO hashes VALUES (?1, ?2, ?3, ?4)" },
	{ "checkpoints", "seq",
	  "INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" },
};

static enum status put_meta(sqlite3 *db, sqlite3_stmt *put, const char *key, const char *value,
			    struct reason *why)
{
	sql_bind_text(put, 1, key);
	sql_bind_text(put, 2, value);
	return sql_run(db, put, why);
}

static enum status create_meta(sqlite3 *db, const char *world, const char *durability,
			       struct reason *why)
{
	static const char text[] = "INSERT INTO meta VALUES (?1, ?2)";
	sqlite3_stmt *put = NULL;
	enum status status = sql_prepare(db, text, &put, why);
	if (status == STATUS_OK)
		status = put_meta(db, put, "build", schema_build(), why);
	if (status == STATUS_OK)
		status = put_meta(db, put, "world", world, why);
	if (status == STATUS_OK && durability != NULL)
		status = put_meta(db, put, "durability", durability, why);
	sqlite3_finalize(put);
	if (status == STATUS_OK)
		status = sql_exec(db,
				  "INSERT INTO meta VALUES"
				  " ('created', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
				  why);
	return status;
}

/* All tables, indices and views of a file of `version`. */
static enum status create_objects(sqlite3 *db, uint32_t version, struct reason *why)
{
	enum status status = sql_exec(db, tables_text, why);
	if (status == STATUS_OK && version >= 2)
		status = sql_exec(db, columns_text, why);
	return status == STATUS_OK ? sql_exec(db, version >= 2 ? views_text : views_1_text, why)
				   : status;
}

enum status schema_create(sqlite3 *db, const char *world, const char *durability,
			  struct reason *why)
{
	char pragmas[96];
	snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		 SCHEMA_APPLICATION, SCHEMA_VERSION);
	enum status status = sql_exec(db, pragmas, why);
	if (status == STATUS_OK)
		status = create_objects(db, SCHEMA_VERSION, why);
	return status == STATUS_OK ? create_meta(db, world, durability, why) : status;
}

enum status schema_meta(sqlite3 *db, const char *key, char *text, size_t bytes, struct reason *why)
{
	sqlite3_stmt *get = NULL;
	text[0] = '\0';
	enum status status = sql_prepare(db, "SELECT value FROM meta WHERE key = ?1", &get, why);
	if (status != STATUS_OK)
		return status;
	sql_bind_text(get, 1, key);
	status = sql_row(db, get, why);
	if (status == STATUS_OK) {
		const char *value = (const char *)sqlite3_column_text(get, 0);
		snprintf(text, bytes, "%s", value != NULL ? value : "");
	}
	sqlite3_finalize(get);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static const char *const PACES[] = { "running", "paused", "lockstep", "barrier" };

void schema_pace_print(const struct journal_pace *pace, char text[SCHEMA_PACE_BYTES])
{
	ASSERT(pace->mode < COUNT_OF(PACES));
	snprintf(text, SCHEMA_PACE_BYTES, "%s %u %u", PACES[pace->mode], (unsigned)pace->speed,
		 (unsigned)pace->barrier);
}

enum status schema_pace(sqlite3 *db, struct journal_pace *pace, struct reason *why)
{
	char text[SCHEMA_PACE_BYTES], word[16];
	unsigned speed, barrier;
	enum status status = schema_meta(db, "pace", text, sizeof text, why);
	if (status != STATUS_OK || text[0] == '\0')
		return status != STATUS_OK ? status : STATUS_MISSING;
	int taken = sscanf(text, "%15s %u %u", word, &speed, &barrier);
	for (uint8_t mode = 0; taken == 3 && mode < COUNT_OF(PACES); mode++) {
		if (strcmp(word, PACES[mode]) != 0)
			continue;
		*pace = (struct journal_pace){ mode, speed, barrier };
		return STATUS_OK;
	}
	return reason_set(why, STATUS_CORRUPT, -1, "pace", "meta's pace is \"%s\"", text);
}

enum status schema_durability(sqlite3 *db, enum durability *durability, struct reason *why)
{
	char text[16];
	enum status status = schema_meta(db, "durability", text, sizeof text, why);
	if (status != STATUS_OK || text[0] == '\0')
		return status != STATUS_OK ? status : STATUS_MISSING;
	if (durability_parse(text, strlen(text), durability) && *durability != DURABILITY_OFF)
		return STATUS_OK;
	return reason_set(why, STATUS_CORRUPT, -1, "durability", "meta's durability is \"%s\"",
			  text);
}

/* Version 1 has one number, abi, in place of the motion numbers. It was always 1. */
static enum status check_abi(sqlite3 *db, struct reason *why)
{
	char abi[16], build[64];
	enum status status = schema_meta(db, "abi", abi, sizeof abi, why);
	if (status == STATUS_OK)
		status = schema_meta(db, "build", build, sizeof build, why);
	if (status == STATUS_OK && strcmp(abi, "1") != 0)
		status = reason_set(why, STATUS_VERSION, -1, "abi",
				    "made with abi %s (%s), this program knows 1", abi, build);
	return status;
}

/* ---- checking a file ---------------------------------------------------------------------------- */

static const char objects_text[] =
	"SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL";

static const char *column_text(sqlite3_stmt *statement, int index)
{
	const char *text = (const char *)sqlite3_column_text(statement, index);
	return text != NULL ? text : "";
}

/* OK: the object's text equals that of ours, byte by byte. */
static enum status check_object(sqlite3 *ours, sqlite3_stmt *find, sqlite3_stmt *object,
				struct reason *why)
{
	const char *type = column_text(object, 0), *name = column_text(object, 1);
	sql_bind_text(find, 1, type);
	sql_bind_text(find, 2, name);
	sql_bind_text(find, 3, column_text(object, 2));
	enum status status = sql_row(ours, find, why);
	sqlite3_reset(find);
	if (status != STATUS_MISSING)
		return status;
	return reason_set(
		why, STATUS_CORRUPT, -1, "file",
		"the %.8s \"%.60s\" in it is not of this program: DROP it, or bring a copy back",
		type, name);
}

/* Foreign views and tables could misstate a world, and foreign triggers change it when it is
 * written: they are refused. An older file may lack an index or a view. */
static enum status check_objects(sqlite3 *db, uint32_t version, struct reason *why)
{
	sqlite3 *ours = NULL;
	sqlite3_stmt *find = NULL, *objects = NULL;
	enum status status = sql_open(":memory:", SQL_CREATE, &ours, why);
	if (status != STATUS_OK)
		return status;
	status = create_objects(ours, version, why);
	if (status == STATUS_OK)
		status = sql_prepare(
			ours,
			"SELECT 1 FROM sqlite_schema WHERE type = ?1 AND name = ?2 AND sql = ?3",
			&find, why);
	if (status == STATUS_OK)
		status = sql_prepare(db, objects_text, &objects, why);
	while (status == STATUS_OK && (status = sql_row(db, objects, why)) == STATUS_OK)
		status = check_object(ours, find, objects, why);
	sqlite3_finalize(objects);
	sqlite3_finalize(find);
	sql_close(ours);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

enum status schema_check(sqlite3 *db, uint32_t *version, struct reason *why)
{
	uint64_t application, found, tables;
	enum status status = sql_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA application_id", 0, &application, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA user_version", 0, &found, why);
	if (status != STATUS_OK)
		return status;
	if (tables == 0)
		return reason_set(why, STATUS_MISSING, -1, "file", "the file is empty");
	if (application != SCHEMA_APPLICATION)
		return reason_set(why, STATUS_CORRUPT, -1, "file",
				  "the file is not a recording of a world");
	if (found == 0 || found > SCHEMA_VERSION)
		return reason_set(
			why, STATUS_VERSION, -1, "file",
			"the file has tables of version %llu, this program reads up to %d",
			(unsigned long long)found, SCHEMA_VERSION);
	if (version != NULL)
		*version = (uint32_t)found;
	if (found == 1)
		status = check_abi(db, why);
	return status == STATUS_OK ? check_objects(db, (uint32_t)found, why) : status;
}

enum status schema_step_up(sqlite3 *db, struct reason *why)
{
	char motion[MOTION_TEXT_MAX], pragma[48];
	struct motion_numbers first = motion_of_abi_1();
	sqlite3_stmt *put = NULL;
	motion_text(&first, motion);
	enum status status = sql_exec(db, columns_text, why);
	if (status == STATUS_OK)
		status = sql_exec(db,
				  "DELETE FROM meta WHERE key = 'abi';"
				  "DROP VIEW IF EXISTS tick_hashes; DROP VIEW IF EXISTS input;"
				  "DROP VIEW IF EXISTS snapshots;"
				  "DROP VIEW IF EXISTS table_hashes; DROP VIEW IF EXISTS timeline;",
				  why);
	if (status == STATUS_OK)
		status = sql_exec(db, views_text, why);
	if (status == STATUS_OK)
		status = sql_prepare(db, "UPDATE epochs SET motion = ?1", &put, why);
	if (status == STATUS_OK) {
		sql_bind_text(put, 1, motion);
		status = sql_run(db, put, why);
	}
	sqlite3_finalize(put);
	snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", SCHEMA_VERSION);
	return status == STATUS_OK ? sql_exec(db, pragma, why) : status;
}
