/* See particle_sinks.h. */
#include "server/engine/particles/particle_sinks.h"

#include "server/engine/collision/query.h"
#include "server/engine/dynamics/body.h"

/* The row of a system's sink in the table, DYNAMICS_NONE: it has none with that number. */
static uint32_t particle_sink_find(const struct tables *tables, uint32_t system, uint32_t number)
{
	const struct sink_table *table = &tables->sink;
	ASSERT(number > 0);
	for (uint32_t row = 0; row < table->count; row++)
		if (table->system[row] == system && table->number[row] == number)
			return row;
	return DYNAMICS_NONE;
}

/* Rows are in the order of systems' rows, then of numbers, so that the first that takes a particle is the
 * sink with the lowest number. */
static uint32_t insert_row(struct tables *tables, uint32_t system, uint32_t number)
{
	const struct sink_table *table = &tables->sink;
	uint32_t row = 0;
	while (row < table->count &&
	       (table->system[row] < system ||
		(table->system[row] == system && table->number[row] < number)))
		row++;
	tables_insert(tables, TABLE_SINK, row, 1);
	tables->sink.system[row] = system;
	tables->sink.number[row] = number;
	tables->sink.taken[row] = 0;
	tables->sink.mass[row] = 0;
	tables->system.sinks[system]++;
	return row;
}

void dynamics_sink_set(struct dynamics *self, uint32_t system, const struct particle_sink *sink)
{
	struct tables *tables = self->tables;
	uint32_t row = particle_sink_find(tables, system, sink->number);
	ASSERT(sink->region != SINK_NONE && system < tables->system.count);
	if (row == DYNAMICS_NONE)
		row = insert_row(tables, system, sink->number);
	struct sink_table *table = &tables->sink;
	table->region[row] = sink->region;
	table->body[row] = sink->body;
	table->position[row] = sink->position;
	table->rotation[row] = sink->rotation;
	table->size[row] = sink->size;
	table->radius[row] = sink->radius;
}

static void remove_row(struct tables *tables, uint32_t row)
{
	ASSERT(tables->system.sinks[tables->sink.system[row]] > 0);
	tables->system.sinks[tables->sink.system[row]]--;
	tables_remove(tables, TABLE_SINK, row, 1);
}

/* Removes the rows with this value in a column. */
static void remove_rows(struct tables *tables, const uint32_t *column, uint32_t value)
{
	for (uint32_t row = tables->sink.count; row-- > 0;)
		if (column[row] == value)
			remove_row(tables, row);
}

void dynamics_sink_remove(struct dynamics *self, uint32_t system, uint32_t number)
{
	uint32_t row = particle_sink_find(self->tables, system, number);
	ASSERT(system < self->tables->system.count);
	if (row != DYNAMICS_NONE)
		remove_row(self->tables, row);
}

void particle_sinks_forget(struct tables *tables, uint32_t system)
{
	ASSERT(system < tables->system.count);
	remove_rows(tables, tables->sink.system, system);
	ASSERT(tables->system.sinks[system] == 0);
}

void dynamics_sinks_drop(struct dynamics *self, body_id body)
{
	ASSERT(body != 0);
	remove_rows(self->tables, self->tables->sink.body, body);
}

/* ---- taking ---------------------------------------------------------------------------------------- */

/* A sink in this tick. */
struct open_sink {
	uint32_t row, body; /* body: its row, DYNAMICS_NONE: in the world */
	pose at;	    /* sink axes to the world */
};

static bool is_near_body(const struct dynamics *self, uint32_t body, vec3 at, double radius)
{
	const struct tables *tables = self->tables;
	pose frame = body_pose(tables, body);
	ASSERT(radius > 0);
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		pose in_body = pose_make(tables->placement.position[p - 1],
					 tables->placement.rotation[p - 1]);
		vec3 centre = pose_inverse_point(pose_mul(frame, in_body), at);
		const struct shape *shape = self->shapes[tables->placement.shape[p - 1]];
		if (shape_overlap_sphere(shape, centre, radius))
			return true;
	}
	return false;
}

static bool takes(const struct dynamics *self, const struct open_sink *sink, vec3 at)
{
	const struct sink_table *table = &self->tables->sink;
	uint32_t row = sink->row;
	if (table->region[row] == SINK_BODY)
		return is_near_body(self, sink->body, at, table->radius[row]);
	vec3 p = pose_inverse_point(sink->at, at);
	if (table->region[row] == SINK_BALL)
		return vec3_length_squared(p) <= table->radius[row] * table->radius[row];
	ASSERT(table->region[row] == SINK_BOX);
	vec3 out = vec3_mul_sub(vec3_abs(p), table->size[row], 0.5);
	return vec3_max_component(out) <= 0;
}

static void open_sinks(const struct dynamics *self, struct open_sink *out)
{
	const struct sink_table *table = &self->tables->sink;
	for (uint32_t row = 0; row < table->count; row++) {
		struct open_sink sink = { row, DYNAMICS_NONE,
					  pose_make(table->position[row], table->rotation[row]) };
		if (table->body[row] != 0) {
			sink.body = dynamics_find_body(self, table->body[row]);
			ASSERT(sink.body != DYNAMICS_NONE);
			sink.at = pose_mul(body_pose(self->tables, sink.body), sink.at);
		}
		out[row] = sink;
	}
}

void particle_sinks_run(struct dynamics *self, uint64_t now)
{
	struct tables *tables = self->tables;
	struct particle_table *particle = &tables->particle;
	struct sink_table *table = &tables->sink;
	struct open_sink sinks[SYSTEMS_MAX * PARTICLE_SINKS_MAX];
	uint32_t first[SYSTEMS_MAX];
	if (table->count == 0)
		return;
	ASSERT(table->count <= COUNT_OF(sinks));
	open_sinks(self, sinks);
	for (uint32_t row = table->count; row-- > 0;)
		first[table->system[row]] = row;
	for (uint32_t i = 0; i < particle->count; i++) {
		uint32_t system = particle->system[i];
		if (tables->system.sinks[system] == 0 ||
		    (particle->death[i] != 0 && particle->death[i] <= now))
			continue;
		uint32_t row = first[system], end = row + tables->system.sinks[system];
		while (row < end && !takes(self, &sinks[row], particle->position[i]))
			row++;
		if (row == end)
			continue;
		particle->death[i] = now;
		table->taken[row]++;
		table->mass[row] += particle->mass[i];
		tables->system.taken[system]++;
	}
}
