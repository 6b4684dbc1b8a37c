/* See session_file.h. */
#include "server/store/session_file.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/store/sql.h"
#include "server/store/store_state.h"

/* "Cais": a file of sessions. */
enum { APPLICATION = 0x43616973, VERSION = 1 };

enum change_kind { PUT_SESSION, REMOVE_SESSION, PUT_WORLD, REMOVE_WORLD, PUT_ALIVE, CHANGE_KINDS };

static const char *const TEXTS[CHANGE_KINDS] = {
	[PUT_SESSION] = "REPLACE INTO sessions VALUES (?1, ?2)",
	[REMOVE_SESSION] = "DELETE FROM sessions WHERE number = ?1",
	[PUT_WORLD] = "REPLACE INTO worlds VALUES (?2, ?1)",
	[REMOVE_WORLD] = "DELETE FROM worlds WHERE name = ?2",
	[PUT_ALIVE] = "REPLACE INTO facts VALUES ('alive', ?1)",
};
static const char WORLD_MAX_TEXT[] = "INSERT INTO facts VALUES ('world_max', ?1) ON CONFLICT (name)"
				     " DO UPDATE SET value = max(value, excluded.value)";

static const char TABLES[] =
	"PRAGMA application_id = 1130457459; PRAGMA user_version = 1;"
	"CREATE TABLE sessions (number INTEGER PRIMARY KEY, packed BLOB NOT NULL);"
	"CREATE TABLE worlds (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;";
_Static_assert(APPLICATION == 1130457459, "the number in TABLES");

struct change {
	enum change_kind kind;
	uint64_t number;
	struct bytes packed;
	char name[WIRE_NAME_MAX + 1];
};
struct numbered_world {
	char name[WIRE_NAME_MAX + 1];
	uint32_t number;
};
typedef ARRAY_OF(struct change) change_list;

struct session_file {
	struct store *store;
	sqlite3 *db;
	sqlite3_stmt *statements[CHANGE_KINDS], *world_max_statement;
	ARRAY_OF(struct numbered_world) worlds; /* as they were at the start */
	uint32_t world_max;
	struct lock lock;
	struct session_file_events events;
	change_list waiting; /* guarded by the lock, as are the next four */
	bool failed;
	uint64_t put, written; /* changes */
	bool news;	       /* `written` or `failed` has changed */
	change_list writing;   /* STORE's */
};

/* ---- reading ----------------------------------------------------------------------------------- */

static enum status check_schema(sqlite3 *db, struct reason *why)
{
	uint64_t objects, application, version;
	enum status status = sql_number(db, "SELECT count(*) FROM sqlite_schema", 0, &objects, why);
	if (status == STATUS_OK && objects == 0)
		return sql_exec(db, TABLES, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA application_id", 0, &application, why);
	if (status == STATUS_OK)
		status = sql_number(db, "PRAGMA user_version", 0, &version, why);
	if (status == STATUS_OK && application != APPLICATION)
		status = reason_set(why, STATUS_CORRUPT, -1, "sessions", "not a file of sessions");
	if (status == STATUS_OK && version != VERSION)
		status = reason_set(why, STATUS_VERSION, -1, "sessions", "of version %llu, not %d",
				    (unsigned long long)version, VERSION);
	return status;
}

static enum status read_worlds(struct session_file *self, struct reason *why)
{
	sqlite3_stmt *get = NULL;
	uint64_t most = 0;
	enum status status = sql_number(
		self->db, "SELECT value FROM facts WHERE name = 'world_max'", 0, &most, why);
	self->world_max = (uint32_t)MIN_OF(most, (uint64_t)INT32_MAX);
	if (status == STATUS_OK)
		status = sql_prepare(self->db, "SELECT name, number FROM worlds", &get, why);
	while (status == STATUS_OK && (status = sql_row(self->db, get, why)) == STATUS_OK) {
		const char *name = (const char *)sqlite3_column_text(get, 0);
		uint64_t number = sql_column(get, 1);
		if (name == NULL || number == 0 || number > INT32_MAX)
			continue;
		status = ARRAY_RESERVE(&self->worlds, self->worlds.count + 1u);
		if (status != STATUS_OK)
			break;
		struct numbered_world *world = &self->worlds.items[self->worlds.count++];
		snprintf(world->name, sizeof world->name, "%s", name);
		world->number = (uint32_t)number;
		self->world_max = MAX_OF(self->world_max, world->number);
	}
	sqlite3_finalize(get);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status read_sessions(struct session_file *self, uint64_t now_s,
				 const struct session_file_events *events, struct reason *why)
{
	sqlite3_stmt *get = NULL;
	uint64_t alive_s = 0;
	enum status status = sql_number(self->db, "SELECT value FROM facts WHERE name = 'alive'", 0,
					&alive_s, why);
	/* If the clock was set back, they stay. */
	if (status == STATUS_OK && now_s > alive_s && now_s - alive_s > SESSION_FILE_LIFE_S)
		return sql_exec(self->db, "DELETE FROM sessions", why);
	if (status == STATUS_OK)
		status = sql_prepare(
			self->db, "SELECT number, packed FROM sessions ORDER BY number", &get, why);
	while (status == STATUS_OK && (status = sql_row(self->db, get, why)) == STATUS_OK) {
		size_t bytes;
		const uint8_t *packed = sql_column_blob(get, 1, &bytes);
		uint64_t number = sql_column(get, 0);
		if (number > 0 && number <= INT32_MAX && bytes <= SESSION_FILE_BYTES)
			status = events->session(events->context, (uint32_t)number, packed,
						 (uint32_t)bytes);
	}
	sqlite3_finalize(get);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status open_file(struct session_file *self, struct reason *why)
{
	char path[STORE_PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/cairnd.sessions", self->store->directory);
	enum status status = sql_open(path, SQL_CREATE, &self->db, why);
	if (status == STATUS_OK)
		status = check_schema(self->db, why);
	for (int i = 0; i < CHANGE_KINDS && status == STATUS_OK; i++)
		status = sql_prepare(self->db, TEXTS[i], &self->statements[i], why);
	if (status == STATUS_OK)
		status = sql_prepare(self->db, WORLD_MAX_TEXT, &self->world_max_statement, why);
	return status;
}

enum status session_file_open(struct store *store, uint64_t now_s,
			      const struct session_file_events *events, struct reason *why)
{
	struct reason inner = { 0 };
	struct session_file *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "sessions", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->store = store;
	lock_init(&self->lock);
	self->events = *events;
	store->sessions = self;
	enum status status = open_file(self, &inner);
	if (status == STATUS_OK)
		status = read_worlds(self, &inner);
	if (status == STATUS_OK)
		status = read_sessions(self, now_s, events, &inner);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "sessions", "%s", status_text(status));
	self->failed = status != STATUS_OK;
	if (self->failed)
		log_error("sessions_not_stored",
			  "status=%s text=%s: cairnd.sessions is left as it is",
			  status_name(status), LOG_TEXT(inner.text));
	session_file_alive(store, now_s);
	return STATUS_OK;
}

/* True while sessions are stored. */
static bool session_file_works(const struct store *store)
{
	struct session_file *self = store->sessions;
	if (self == NULL)
		return false;
	lock_take(&self->lock);
	bool works = !self->failed;
	lock_give(&self->lock);
	return works;
}

uint32_t session_file_world(const struct store *store, const char *name)
{
	const struct session_file *self = store->sessions;
	for (uint32_t i = 0; self != NULL && i < self->worlds.count; i++)
		if (strcmp(self->worlds.items[i].name, name) == 0)
			return self->worlds.items[i].number;
	return 0;
}

uint32_t session_file_world_max(const struct store *store)
{
	return store->sessions != NULL ? store->sessions->world_max : 0;
}

/* ---- changes (LOOP) ---------------------------------------------------------------------------- */

/* Without memory for a change, the file would become wrong: it stops working. */
static void put_change(struct store *store, enum change_kind kind, uint64_t number,
		       const void *packed, uint32_t bytes, const char *name)
{
	struct session_file *self = store->sessions;
	struct change change = { .kind = kind, .number = number };
	if (self == NULL || !session_file_works(store))
		return;
	if (name != NULL)
		snprintf(change.name, sizeof change.name, "%s", name);
	bool copied = bytes == 0 || bytes_append(&change.packed, packed, bytes) == STATUS_OK;
	lock_take(&self->lock);
	copied = copied && ARRAY_RESERVE(&self->waiting, self->waiting.count + 1u) == STATUS_OK;
	if (copied) {
		self->waiting.items[self->waiting.count++] = change;
		self->put++;
	}
	self->failed |= !copied;
	lock_give(&self->lock);
	if (!copied) {
		bytes_release(&change.packed);
		log_error("sessions_not_stored", "status=no_memory");
	}
	if (!store->ending)
		executor_wake(store->executor, EXECUTOR_STORE, &store->work);
}

void session_file_put(struct store *store, uint32_t number, const void *packed, uint32_t bytes)
{
	ASSERT(bytes > 0 && bytes <= SESSION_FILE_BYTES);
	put_change(store, PUT_SESSION, number, packed, bytes, NULL);
}

void session_file_remove(struct store *store, uint32_t number)
{
	put_change(store, REMOVE_SESSION, number, NULL, 0, NULL);
}

void session_file_alive(struct store *store, uint64_t now_s)
{
	put_change(store, PUT_ALIVE, now_s, NULL, 0, NULL);
}

void session_file_put_world(struct store *store, const char *name, uint32_t number)
{
	put_change(store, PUT_WORLD, number, NULL, 0, name);
}

void session_file_remove_world(struct store *store, const char *name)
{
	put_change(store, REMOVE_WORLD, 0, NULL, 0, name);
}

/* ---- writing (STORE) --------------------------------------------------------------------------- */

static enum status write_change(struct session_file *self, const struct change *change,
				struct reason *why)
{
	sqlite3_stmt *put = self->statements[change->kind];
	if (change->kind != REMOVE_WORLD)
		sql_bind(put, 1, change->number);
	if (change->kind == PUT_SESSION)
		sql_bind_blob(put, 2, change->packed.data, change->packed.count);
	if (change->kind == PUT_WORLD || change->kind == REMOVE_WORLD)
		sql_bind_text(put, 2, change->name);
	enum status status = sql_run(self->db, put, why);
	if (status != STATUS_OK || change->kind != PUT_WORLD)
		return status;
	sql_bind(self->world_max_statement, 1, change->number);
	return sql_run(self->db, self->world_max_statement, why);
}

static enum status write_changes(struct session_file *self, struct reason *why)
{
	enum status status = sql_exec(self->db, "BEGIN IMMEDIATE", why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->writing.count && status == STATUS_OK; i++)
		status = write_change(self, &self->writing.items[i], why);
	if (status == STATUS_OK)
		status = sql_exec(self->db, "COMMIT", why);
	if (status != STATUS_OK)
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

static void release_changes(change_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		bytes_release(&list->items[i].packed);
	list->count = 0;
}

void session_file_turn(struct session_file *self)
{
	struct reason why;
	if (self == NULL)
		return;
	lock_take(&self->lock);
	change_list empty = self->writing;
	self->writing = self->waiting;
	self->waiting = empty;
	bool failed = self->failed;
	uint64_t put = self->put;
	lock_give(&self->lock);
	enum status status = STATUS_OK;
	if (self->writing.count > 0 && !failed)
		status = write_changes(self, &why);
	bool news = self->writing.count > 0;
	release_changes(&self->writing);
	if (status != STATUS_OK)
		log_error("sessions_not_stored", "status=%s text=%s", status_name(status),
			  LOG_TEXT(why.text));
	lock_take(&self->lock);
	self->failed |= status != STATUS_OK;
	self->written = put;
	self->news |= news;
	lock_give(&self->lock);
	if (news && !self->store->ending)
		executor_wake(self->store->executor, EXECUTOR_LOOP, &self->store->news);
}

void session_file_report(struct session_file *self)
{
	if (self == NULL)
		return;
	lock_take(&self->lock);
	bool news = self->news;
	self->news = false;
	lock_give(&self->lock);
	if (news)
		self->events.written(self->events.context);
}

uint64_t session_file_changes(const struct store *store)
{
	struct session_file *self = store->sessions;
	lock_take(&self->lock);
	uint64_t put = self->put;
	lock_give(&self->lock);
	return put;
}

uint64_t session_file_written(const struct store *store)
{
	struct session_file *self = store->sessions;
	lock_take(&self->lock);
	uint64_t written = self->failed ? UINT64_MAX : self->written;
	lock_give(&self->lock);
	return written;
}

void session_file_destroy(struct session_file *self)
{
	if (self == NULL)
		return;
	for (int i = 0; i < CHANGE_KINDS; i++)
		sqlite3_finalize(self->statements[i]);
	sqlite3_finalize(self->world_max_statement);
	sql_close(self->db);
	release_changes(&self->waiting);
	release_changes(&self->writing);
	ARRAY_RELEASE(&self->waiting);
	ARRAY_RELEASE(&self->writing);
	ARRAY_RELEASE(&self->worlds);
	lock_release(&self->lock);
	heap_free(self);
}
