/* See stage.h. */
#include "tests/lib/stage.h"

#include "server/base/hash.h"
#include "server/engine/math/sym3.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(enum status status, const char *what)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "stage: %s: %s\n", what, status_text(status));
	abort();
}

void stage_init(struct stage *self, const char *method)
{
	memset(self, 0, sizeof *self);
	tables_init(&self->tables);
	need(tables_reserve(&self->tables, TABLE_WORLD, 1), "world");
	need(tables_reserve(&self->tables, TABLE_PARAMETER, PARAMETER_COUNT), "parameters");
	tables_append(&self->tables, TABLE_WORLD);
	struct world_table *world = &self->tables.world;
	world->rate_num[0] = 60;
	world->rate_den[0] = 1;
	world->gravity[0] = vec3_make(0, -9.81, 0);
	world->next_body[0] = world->next_shape[0] = world->next_sleep_set[0] = 1;
	world->contacts_max[0] = 524288;
	world->memory_max[0] = UINT64_C(1) << 32;
	for (uint32_t i = 0; i < PARAMETER_COUNT; i++) {
		tables_append(&self->tables, TABLE_PARAMETER);
		self->tables.parameter.value[i] = parameter_entries[i].initial;
	}
	self->dt = 1.0 / 60;
	self->parallel = &parallel_serial;
	need(dynamics_init(&self->dynamics, &self->tables, self->shapes, self->dt), "dynamics");
	self->method.method = method_find(method);
	if (self->method.method == NULL)
		need(STATUS_UNKNOWN_METHOD, method);
	world->method[0] = self->method.method->number;
	self->method.method->attach(&self->dynamics);
}

void stage_release(struct stage *self)
{
	method_release(&self->method);
	dynamics_release(&self->dynamics);
	for (uint32_t i = 0; i < self->tables.shape.count; i++)
		shape_release((struct shape *)self->shapes[i]);
	tables_release(&self->tables);
}

uint32_t stage_shape(struct stage *self, struct shape *shape)
{
	need(tables_reserve(&self->tables, TABLE_SHAPE, self->tables.shape.count + 1), "shape");
	uint32_t row = tables_append(&self->tables, TABLE_SHAPE);
	if (row >= STAGE_SHAPES_MAX)
		need(STATUS_LIMIT, "shapes");
	self->tables.shape.id[row] = self->tables.world.next_shape[0]++;
	self->shapes[row] = shape;
	return row;
}

static void fill_mass(struct stage *self, uint32_t row, const struct stage_body *body)
{
	struct body_table *table = &self->tables.body;
	const struct mass_properties *unit = &self->shapes[body->shape]->mass;
	double density = body->mass > 0 && unit->volume > 0 ? body->mass / unit->volume : 1000;
	double mass = unit->volume > 0 ? density * unit->volume : 1;
	table->mass[row] = mass;
	table->centre[row] = unit->volume > 0 ? unit->centre : vec3_zero();
	mat3 inertia = mat3_scale(unit->inertia, density), inverse = mat3_zero();
	sym3_store(sym3_of(inertia), table->inertia[row]);
	if (body->status != BODY_DYNAMIC)
		return;
	table->mass_inv[row] = 1 / mass;
	if (self->tables.world.planar[0] && inertia.z.z > 0)
		inverse.z.z = 1 / inertia.z.z;
	else if (!mat3_inverse(inertia, &inverse))
		inverse = mat3_zero();
	sym3_store(sym3_of(inverse), table->inertia_inv[row]);
}

uint32_t stage_add(struct stage *self, struct stage_body body)
{
	need(dynamics_body_reserve(&self->dynamics, 1, 1), "body");
	uint32_t row = dynamics_body_take(&self->dynamics);
	uint32_t placement = dynamics_placement_take(&self->dynamics);
	struct body_table *table = &self->tables.body;
	table->id[row] = self->tables.world.next_body[0]++;
	table->status[row] = body.status;
	table->flags[row] = body.wakeful ? 0 : BODY_MAY_SLEEP;
	table->position[row] = body.position;
	table->rotation[row] = quat_dot(body.rotation, body.rotation) > 0
				       ? quat_normalize(body.rotation)
				       : quat_identity();
	table->velocity[row] = body.velocity;
	table->angular_velocity[row] = body.spin;
	double friction = body.friction == 0 ? 0.6 : scalar_max(body.friction, 0);
	table->static_friction[row] = table->dynamic_friction[row] = friction;
	table->restitution[row] = body.restitution;
	table->friction_rule[row] = COMBINE_GEOMETRIC;
	table->restitution_rule[row] = COMBINE_MAXIMUM;
	table->category[row] = 1;
	table->mask[row] = UINT32_MAX;
	table->first_placement[row] = placement + 1;
	fill_mass(self, row, &body);
	self->tables.placement.body[placement] = row + 1;
	self->tables.placement.shape[placement] = body.shape;
	self->tables.placement.rotation[placement] = quat_identity();
	self->tables.shape.uses[body.shape]++;
	dynamics_body_added(&self->dynamics, row);
	return row;
}

void stage_remove(struct stage *self, uint32_t body)
{
	need(dynamics_body_reserve(&self->dynamics, 0, 0), "events");
	self->tables.shape
		.uses[self->tables.placement.shape[self->tables.body.first_placement[body] - 1]]--;
	dynamics_body_removed(&self->dynamics, body);
}

void stage_parameter(struct stage *self, enum parameter_row parameter, double value)
{
	self->tables.parameter.value[parameter] = value;
}

void stage_method(struct stage *self, const char *method)
{
	const struct method *to = method_find(method);
	struct reason why;
	if (to == NULL)
		need(STATUS_UNKNOWN_METHOD, method);
	need(dynamics_body_reserve(&self->dynamics, 0, 0), "events");
	need(method_supports(to, &self->dynamics, &why), method);
	method_switch(&self->method, to, &self->dynamics);
}

enum status stage_try(struct stage *self)
{
	struct reason why;
	self->dynamics.events.count = 0;
	self->dynamics.parallel = self->parallel;
	enum status status = method_step(&self->method, &self->dynamics, self->dt, &why);
	if (status == STATUS_OK)
		self->tables.world.tick[0]++;
	return status;
}

void stage_step(struct stage *self)
{
	need(stage_try(self), "step");
}

void stage_run(struct stage *self, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++)
		stage_step(self);
}

uint64_t stage_hash(const struct stage *self)
{
	struct hasher hasher;
	hasher_init(&hasher, 0);
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		hasher_u64(&hasher, tables_hash(&self->tables, (enum table_index)table));
	return hasher_digest(&hasher);
}

void stage_restore(struct stage *to, const struct stage *from)
{
	method_save(&from->method, &from->dynamics);
	tables_release(&to->tables);
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		enum table_index index = (enum table_index)table;
		uint32_t rows = tables_count(&from->tables, index);
		need(tables_reserve(&to->tables, index, rows), "restore");
		for (uint32_t i = 0; i < rows; i++)
			tables_append(&to->tables, index);
		for (uint32_t column = 0; column < table_infos[table].column_count && rows > 0;
		     column++)
			memcpy(tables_column(&to->tables, index, column),
			       tables_column(&from->tables, index, column),
			       rows * table_infos[table].columns[column].row_bytes);
	}
	for (uint32_t i = 0; i < from->tables.shape.count; i++)
		if (to->shapes[i] == NULL)
			to->shapes[i] = shape_retain(from->shapes[i]);
	method_release(&to->method);
	to->method.method = from->method.method;
	need(dynamics_rebuild(&to->dynamics), "rebuild");
}

/* ---- sums ------------------------------------------------------------------------------------- */

static vec3 spin_momentum(const struct stage *self, uint32_t row)
{
	const struct body_table *body = &self->tables.body;
	vec3 w = quat_rotate_inverse(body->rotation[row], body->angular_velocity[row]);
	return quat_rotate(body->rotation[row], sym3_apply(sym3_load(body->inertia[row]), w));
}

static bool counts(const struct stage *self, uint32_t row)
{
	return self->tables.body.id[row] != 0 && self->tables.body.status[row] == BODY_DYNAMIC;
}

double stage_kinetic(const struct stage *self)
{
	const struct body_table *body = &self->tables.body;
	double sum = 0;
	for (uint32_t row = 0; row < body->count; row++)
		if (counts(self, row))
			sum += 0.5 * body->mass[row] * vec3_length_squared(body->velocity[row]) +
			       0.5 * vec3_dot(body->angular_velocity[row],
					      spin_momentum(self, row));
	return sum;
}

double stage_potential(const struct stage *self)
{
	double sum = 0;
	for (uint32_t row = 0; row < self->tables.body.count; row++)
		if (counts(self, row))
			sum -= self->tables.body.mass[row] *
			       vec3_dot(self->tables.world.gravity[0],
					dynamics_centre(&self->tables, row));
	return sum;
}

vec3 stage_momentum(const struct stage *self)
{
	vec3 sum = vec3_zero();
	for (uint32_t row = 0; row < self->tables.body.count; row++)
		if (counts(self, row))
			sum = vec3_mul_add(sum, self->tables.body.velocity[row],
					   self->tables.body.mass[row]);
	return sum;
}

vec3 stage_angular_momentum(const struct stage *self)
{
	vec3 sum = vec3_zero();
	for (uint32_t row = 0; row < self->tables.body.count; row++)
		if (counts(self, row)) {
			vec3 momentum = vec3_scale(self->tables.body.velocity[row],
						   self->tables.body.mass[row]);
			sum = vec3_add(sum,
				       vec3_cross(dynamics_centre(&self->tables, row), momentum));
			sum = vec3_add(sum, spin_momentum(self, row));
		}
	return sum;
}

uint32_t stage_events(const struct stage *self, uint8_t kind)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->dynamics.events.count; i++)
		count += self->dynamics.events.items[i].kind == kind;
	return count;
}

/* ---- workers ---------------------------------------------------------------------------------- */

struct share {
	uint32_t count, grain, worker, workers;
	parallel_piece *piece;
	void *context;
};

/* Each worker takes every workers-th piece. */
static void *work(void *context)
{
	const struct share *share = context;
	uint32_t step = share->grain * share->workers;
	for (uint64_t at = (uint64_t)share->grain * share->worker; at < share->count; at += step)
		share->piece((uint32_t)at,
			     (uint32_t)MIN_OF(at + share->grain, (uint64_t)share->count),
			     share->worker, share->context);
	return NULL;
}

static void run_threads(const struct parallel *self, uint32_t count, uint32_t grain,
			parallel_piece *piece, void *context)
{
	struct share shares[PARALLEL_WORKERS_MAX] = { 0 };
	pthread_t threads[PARALLEL_WORKERS_MAX];
	for (uint32_t i = 0; i < self->workers; i++) {
		shares[i] = (struct share){ count,  MAX_OF(grain, 1u), i, self->workers, piece,
					    context };
		if (i > 0 && pthread_create(&threads[i], NULL, work, &shares[i]) != 0)
			abort();
	}
	work(&shares[0]);
	for (uint32_t i = 1; i < self->workers; i++)
		pthread_join(threads[i], NULL);
}

struct parallel *parallel_threads_create(uint32_t workers)
{
	struct parallel *self = malloc(sizeof *self);
	if (self == NULL)
		abort();
	*self = (struct parallel){ run_threads, workers, NULL };
	return self;
}

void parallel_threads_destroy(struct parallel *parallel)
{
	free(parallel);
}
