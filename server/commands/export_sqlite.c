/* export_sqlite.c: an SQLite file of plain tables, for the sqlite3 shell and for notebooks: ticks, bodies,
 * events and commands, with the words of their numbers. docs/RECORDING.md describes the columns. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/result_wire.h"
#include "server/base/heap.h"
#include "server/commands/export.h"
#include "server/store/recording.h"

enum { PUT_TICK, PUT_BODY, PUT_EVENT, PUT_COMMAND, PUT_NAME, STATEMENTS };

struct table_export {
	struct export_sink sink; /* first */
	sqlite3 *db;
	sqlite3_stmt *puts[STATEMENTS];
	struct recorded_place first, last; /* of the states */
	bool any;
};

static const char tables_text[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	"CREATE TABLE ticks (epoch INTEGER, tick INTEGER, time REAL, hash TEXT, bodies INTEGER,"
	" kinetic REAL, potential REAL, PRIMARY KEY (epoch, tick)) WITHOUT ROWID;"
	"CREATE TABLE bodies (epoch INTEGER, tick INTEGER, body INTEGER, tag INTEGER, owner INTEGER,"
	" status TEXT, asleep INTEGER, x REAL, y REAL, z REAL, qw REAL, qx REAL, qy REAL, qz REAL,"
	" vx REAL, vy REAL, vz REAL, wx REAL, wy REAL, wz REAL,"
	" PRIMARY KEY (body, epoch, tick)) WITHOUT ROWID;"
	"CREATE TABLE events (epoch INTEGER, tick INTEGER, kind TEXT, a INTEGER, b INTEGER,"
	" value REAL);"
	"CREATE TABLE commands (epoch INTEGER, tick INTEGER, session INTEGER, batch INTEGER,"
	" item INTEGER, command TEXT, fields TEXT, result TEXT);"
	"CREATE TABLE names (body INTEGER PRIMARY KEY, name TEXT);"
	"CREATE VIEW named AS SELECT name, bodies.* FROM bodies JOIN names USING (body);"
	"CREATE VIEW speeds AS SELECT epoch, tick, body, sqrt(vx * vx + vy * vy + vz * vz) AS speed"
	" FROM bodies;"
	"BEGIN;";

static const char *const puts_text[STATEMENTS] = {
	[PUT_TICK] = "INSERT INTO ticks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[PUT_BODY] =
		("INSERT INTO bodies VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
		 " ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)"),
	[PUT_EVENT] = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[PUT_NAME] = "INSERT OR IGNORE INTO names VALUES (?1, ?2)",
	[PUT_COMMAND] = "INSERT INTO commands VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
};

static enum status begin_tables(struct export_sink *sink, struct reason *why)
{
	struct table_export *self = (struct table_export *)sink;
	enum status status = STATUS_OK;
	if (sqlite3_open(sink->out.path, &self->db) != SQLITE_OK)
		return sql_fail(self->db, "opening it", why);
	status = sql_exec(self->db, tables_text, why);
	for (int i = 0; i < STATEMENTS && status == STATUS_OK; i++)
		status = sql_prepare(self->db, puts_text[i], &self->puts[i], why);
	return status;
}

static enum status put_tick(struct table_export *self, const struct world *world,
			    struct recorded_place place, struct reason *why)
{
	sqlite3_stmt *put = self->puts[PUT_TICK];
	char hash[17];
	struct world_energy energy = world_energy(world);
	snprintf(hash, sizeof hash, "%016" PRIx64, world_tick_hash(world));
	sql_bind(put, 1, place.epoch);
	sql_bind(put, 2, place.tick);
	sqlite3_bind_double(put, 3, export_time(world, place.tick));
	sql_bind_text(put, 4, hash);
	sql_bind(put, 5, self->sink.ids.count);
	sqlite3_bind_double(put, 6, energy.kinetic);
	sqlite3_bind_double(put, 7, energy.potential);
	return sql_run(self->db, put, why);
}

static enum status put_name(struct table_export *self, body_id body, struct reason *why)
{
	sqlite3_stmt *put = self->puts[PUT_NAME];
	char name[SCENE_BODY_NAME];
	export_name(&self->sink, body, name);
	if (name[0] == '\0')
		return STATUS_OK;
	sql_bind(put, 1, body);
	sql_bind_text(put, 2, name);
	return sql_run(self->db, put, why);
}

static enum status put_body(struct table_export *self, const struct body_view *view,
			    struct recorded_place place, struct reason *why)
{
	sqlite3_stmt *put = self->puts[PUT_BODY];
	const vec3 v = view->velocity, w = view->angular_velocity, p = view->position;
	const quat q = view->rotation;
	const double numbers[13] = {
		p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z
	};
	sql_bind(put, 1, place.epoch);
	sql_bind(put, 2, place.tick);
	sql_bind(put, 3, view->id);
	sqlite3_bind_int64(put, 4, view->tag);
	sql_bind(put, 5, view->owner);
	sql_bind_text(put, 6, command_word(WORDS_BODY_STATUS, view->status));
	sql_bind(put, 7, view->asleep);
	for (int i = 0; i < 13; i++)
		sqlite3_bind_double(put, 8 + i, numbers[i]);
	self->sink.rows++;
	return sql_run(self->db, put, why);
}

static enum status put_events(struct table_export *self, const struct world *world,
			      struct recorded_place place, struct reason *why)
{
	uint32_t count;
	const struct event *events = world_events(world, &count);
	sqlite3_stmt *put = self->puts[PUT_EVENT];
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		sql_bind(put, 1, place.epoch);
		sql_bind(put, 2, place.tick);
		sql_bind_text(put, 3, event_name(events[i].kind));
		sql_bind(put, 4, events[i].a);
		sql_bind(put, 5, events[i].b);
		sqlite3_bind_double(put, 6, events[i].value);
		status = sql_run(self->db, put, why);
	}
	return status;
}

static enum status state_tables(struct export_sink *sink, const struct world *world,
				struct recorded_place place, bool sampled, struct reason *why)
{
	struct table_export *self = (struct table_export *)sink;
	enum status status = put_events(self, world, place, why);
	if (!self->any)
		self->first = place;
	self->any = true;
	self->last = place;
	if (status == STATUS_OK && sampled)
		status = put_tick(self, world, place, why);
	for (uint32_t i = 0; sampled && i < sink->ids.count && status == STATUS_OK; i++) {
		struct body_view view;
		if (world_body(world, sink->ids.items[i], &view) == STATUS_OK)
			status = put_body(self, &view, place, why);
		if (status == STATUS_OK && sink->names != NULL)
			status = put_name(self, sink->ids.items[i], why);
	}
	return status;
}

/* ---- commands ------------------------------------------------------------------------------------ */

static enum status put_command(struct table_export *self, const struct recorded *apply,
			       const struct journal_batch *batch, uint32_t item,
			       const struct command *command, struct reason *why)
{
	enum { STEP_BIT = 63 };
	sqlite3_stmt *put = self->puts[PUT_COMMAND];
	char text[1024];
	command_describe(command, text, sizeof text);
	char *fields = strchr(text, ' ');
	if (fields != NULL)
		*fields++ = '\0';
	sql_bind(put, 1, apply->epoch);
	sql_bind(put, 2, apply->tick);
	sql_bind(put, 3, batch->session);
	sql_bind(put, 4, batch->batch & ~(UINT64_C(1) << STEP_BIT));
	sql_bind(put, 5, item);
	sql_bind_text(put, 6, text);
	sql_bind_text(put, 7, fields != NULL ? fields : "");
	sql_bind_text(put, 8,
		      batch->result == JOURNAL_RESULT_UNKNOWN
			      ? "unknown"
			      : status_name((enum status)batch->result));
	return sql_run(self->db, put, why);
}

static enum status put_apply(struct table_export *self, struct recording *recording,
			     const struct recorded *apply, struct reason *why)
{
	struct arena arena;
	enum status status = arena_init(&arena, 64u << 10);
	if (status != STATUS_OK)
		return export_failed(status, why);
	for (uint32_t i = 0; i < apply->batches && status == STATUS_OK; i++) {
		struct journal_batch batch;
		struct command *commands;
		status = recording_batch(recording, apply, i, &batch, why);
		struct wire_list list = { batch.commands, batch.bytes, batch.count };
		if (status == STATUS_OK)
			status = command_take_list(&list, &arena, &commands, why);
		for (uint32_t k = 0; status == STATUS_OK && k < batch.count; k++)
			status = put_command(self, apply, &batch, k, &commands[k], why);
	}
	arena_release(&arena);
	return status;
}

static bool within(const struct table_export *self, const struct recorded *record)
{
	bool after = record->epoch > self->first.epoch ||
		     (record->epoch == self->first.epoch && record->tick >= self->first.tick);
	bool before = record->epoch < self->last.epoch ||
		      (record->epoch == self->last.epoch && record->tick <= self->last.tick);
	return after && before;
}

static enum status put_commands(struct table_export *self, struct reason *why)
{
	sqlite3 *source = NULL;
	struct recording *recording = NULL;
	struct recorded record;
	enum status status = sql_open(self->sink.source, SQL_READ, &source, why);
	if (status == STATUS_OK)
		status = recording_open(source, &recording, why);
	while (status == STATUS_OK &&
	       (status = recording_next(recording, &record, why)) == STATUS_OK)
		if (record.kind == RECORDED_APPLY && within(self, &record))
			status = put_apply(self, recording, &record, why);
	if (recording != NULL)
		recording_close(recording);
	sql_close(source);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status end_tables(struct export_sink *sink, struct reason *why)
{
	struct table_export *self = (struct table_export *)sink;
	enum status status = put_commands(self, why);
	return status == STATUS_OK ? sql_exec(self->db, "COMMIT", why) : status;
}

static void release_tables(struct export_sink *sink)
{
	struct table_export *self = (struct table_export *)sink;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(self->puts[i]);
	sqlite3_close(self->db);
	heap_free(self);
}

struct export_sink *export_sqlite_create(void)
{
	static const struct export_ops ops = { begin_tables, state_tables, end_tables,
					       release_tables };
	struct table_export *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return NULL;
	self->sink.ops = &ops;
	return &self->sink;
}
