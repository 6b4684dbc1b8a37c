/* sensors.c: see sensors.h.
 *
 * Overlaps are a function of the poses at the end of the tick: of each sensor with each other solid
 * body that is no sensor and whose filter fits, unless both are static, whether it sleeps or not.
 * The table holds those of the last tick, so a world that is loaded tells the same events.
 *
 * A body whose way in the tick is long against its size may cross a thin sensor without overlapping
 * it at either end. Its shapes are cast along the straight line from its pose at the beginning to
 * that at the end, without turning; what is met on the way and not overlapped at the ends begins
 * and ends within the tick. Sensors that are fast are cast against the other bodies likewise. If
 * both are fast, the relative way counts, where the end of one is near the way of the other. What
 * overlaps at either end, or bounces back, is not searched for.
 *
 * The order of the broad phase is unspecified, so pairs are sorted before anything is told.
 */
#include "server/engine/world/sensors.h"

#include "server/base/sort.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/world/world.h"

#include <string.h>

/* Of a body's inner size: a longer way in a tick may pass by a sensor. */
#define SENSOR_FAST 0.5

void sensors_release(struct sensors *self)
{
	ARRAY_RELEASE(&self->pairs);
	ARRAY_RELEASE(&self->scratch);
	ARRAY_RELEASE(&self->fast);
	ARRAY_RELEASE(&self->from);
	ARRAY_RELEASE(&self->crossings);
}

static bool is_sensor(const struct body_table *body, uint32_t row)
{
	return (body->flags[row] & BODY_SENSOR) != 0;
}

static bool has_sensors(const struct body_table *body)
{
	uint8_t all = 0;
	for (uint32_t row = 0; row < body->count; row++)
		all |= body->flags[row];
	return (all & BODY_SENSOR) != 0;
}

static pose body_at(const struct body_table *body, uint32_t row)
{
	return pose_make(body->position[row], body->rotation[row]);
}

static pose placement_in(const struct tables *tables, uint32_t placement, pose body)
{
	return pose_mul(body, pose_make(tables->placement.position[placement],
					tables->placement.rotation[placement]));
}

static const struct shape *shape_of(const struct world *world, uint32_t placement)
{
	return world->shapes[world->tables.placement.shape[placement]];
}

/* Whether the sensor tells of the other body. */
static bool may_sense(const struct tables *tables, uint32_t sensor, uint32_t other)
{
	const struct body_table *body = &tables->body;
	ASSERT(sensor < body->count && other < body->count);
	return other != sensor && body->id[other] != BODY_WALLS && !is_sensor(body, other) &&
	       body_is_solid(tables, other) &&
	       (body->status[sensor] != BODY_STATIC || body->status[other] != BODY_STATIC) &&
	       pairs_filter_allows(body, sensor, other);
}

static uint64_t pair_of(const struct body_table *body, uint32_t sensor, uint32_t other)
{
	return (uint64_t)body->id[sensor] << 32 | body->id[other];
}

/* ---- overlaps ----------------------------------------------------------------------------------
 * */

struct sensing {
	struct world *world;
	uint32_t sensor;
	const struct shape *shape; /* of the sensor */
	pose at;
};

static bool visit_near(uint32_t placement, void *context)
{
	struct sensing *work = context;
	struct sensors *self = &work->world->sensors;
	const struct tables *tables = &work->world->tables;
	uint32_t other = tables->placement.body[placement] - 1;
	if (!may_sense(tables, work->sensor, other))
		return true;
	uint64_t pair = pair_of(&tables->body, work->sensor, other);
	if (self->pairs.count > 0 && self->pairs.items[self->pairs.count - 1] == pair)
		return true; /* another shape of the body overlaps */
	pose at = placement_in(tables, placement, body_at(&tables->body, other));
	pose relative = pose_relative(work->at, at);
	if (!shape_overlap(work->shape, shape_of(work->world, placement), &relative))
		return true;
	self->lost |= ARRAY_RESERVE(&self->pairs, self->pairs.count + 1u) != STATUS_OK;
	if (!self->lost)
		self->pairs.items[self->pairs.count++] = pair;
	return !self->lost;
}

static void find_overlaps(struct world *world)
{
	const struct tables *tables = &world->tables;
	const struct body_table *body = &tables->body;
	struct sensing work = { .world = world };
	for (uint32_t row = 0; row < body->count; row++) {
		if (!is_sensor(body, row) || !body_is_solid(tables, row))
			continue;
		work.sensor = row;
		for (uint32_t p = body->first_placement[row]; p != 0;
		     p = tables->placement.next[p - 1]) {
			work.shape = shape_of(world, p - 1);
			work.at = placement_in(tables, p - 1, body_at(body, row));
			struct aabb box = shape_aabb(work.shape, &work.at);
			broad_phase_query(world->dynamics.broad_phase, &box, visit_near, &work);
		}
	}
}

/* Sorts the pairs, each once. */
static void sort_pairs(struct sensors *self)
{
	self->lost |= ARRAY_RESERVE(&self->scratch, self->pairs.count) != STATUS_OK;
	if (self->lost)
		return;
	ASSERT(self->scratch.capacity >= self->pairs.count);
	sort_keys(self->pairs.items, NULL, self->scratch.items, NULL, self->pairs.count);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->pairs.count; i++)
		if (i == 0 || self->pairs.items[i] != self->pairs.items[kept - 1])
			self->pairs.items[kept++] = self->pairs.items[i];
	self->pairs.count = kept;
}

/* The first of ascending keys that is not less; `count`: all are. */
static uint32_t first_from(const uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_key(const uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t at = first_from(keys, count, key);
	return at < count && keys[at] == key;
}

/* ---- crossings ---------------------------------------------------------------------------------
 * */

void sensors_begin(struct world *world)
{
	struct sensors *self = &world->sensors;
	const struct tables *tables = &world->tables;
	const struct body_table *body = &tables->body;
	const struct bitset *awake = &world->dynamics.awake;
	self->fast.count = self->from.count = self->crossings.count = self->pairs.count = 0;
	self->lost = false;
	self->any = has_sensors(body);
	if (!self->any)
		return;
	double dt = world_dt(world);
	for (uint32_t row = bitset_next(awake, 0); row != BITSET_NONE;
	     row = bitset_next(awake, row + 1)) {
		double way = vec3_length(body->velocity[row]) * dt;
		if (!(way > SENSOR_FAST * world->dynamics.bodies.items[row].inner))
			continue;
		self->lost |= ARRAY_RESERVE(&self->fast, self->fast.count + 1u) != STATUS_OK ||
			      ARRAY_RESERVE(&self->from, self->from.count + 1u) != STATUS_OK;
		if (self->lost)
			return;
		self->fast.items[self->fast.count++] = row;
		self->from.items[self->from.count++] = body_at(body, row);
	}
}

struct crossing_work {
	struct world *world;
	uint32_t row; /* the fast body */
	const struct shape *shape;
	pose from;
	vec3 way;
};

/* The pose of a body at the tick's beginning, if it is fast; else that at its end. */
static pose begin_of(const struct world *world, uint32_t row)
{
	const struct sensors *self = &world->sensors;
	uint32_t at = first_from(self->fast.items, self->fast.count, row);
	bool fast = at < self->fast.count && self->fast.items[at] == row;
	return fast ? self->from.items[at] : body_at(&world->tables.body, row);
}

static bool visit_crossed(uint32_t placement, void *context)
{
	struct crossing_work *work = context;
	struct sensors *self = &work->world->sensors;
	const struct tables *tables = &work->world->tables;
	uint32_t other = tables->placement.body[placement] - 1;
	bool sensor = is_sensor(&tables->body, work->row);
	if (sensor == is_sensor(&tables->body, other))
		return true;
	uint32_t a = sensor ? work->row : other, b = sensor ? other : work->row;
	uint64_t pair = pair_of(&tables->body, a, b);
	if (!body_is_solid(tables, a) || !may_sense(tables, a, b) ||
	    has_key(self->pairs.items, self->pairs.count, pair) ||
	    has_key(tables->overlap.pair, tables->overlap.count, pair))
		return true;
	pose begin = begin_of(work->world, other);
	vec3 its_way = vec3_sub(tables->body.position[other], begin.position);
	struct placed_shape still = { shape_of(work->world, placement),
				      placement_in(tables, placement, begin),
				      tables->body.id[other], 0 };
	struct cast_hit hit;
	enum status status;
	if (placed_cast(&still, 1, work->shape, work->from, vec3_sub(work->way, its_way), &hit, 1,
			&status) == 0)
		return true;
	self->lost |= ARRAY_RESERVE(&self->crossings, self->crossings.count + 1u) != STATUS_OK;
	if (!self->lost)
		self->crossings.items[self->crossings.count++] =
			(struct sensor_crossing){ pair, hit.fraction };
	return !self->lost;
}

static void find_crossings(struct world *world)
{
	const struct tables *tables = &world->tables;
	const struct sensors *self = &world->sensors;
	for (uint32_t i = 0; i < self->fast.count; i++) {
		uint32_t row = (uint32_t)self->fast.items[i];
		pose begin = self->from.items[i], to = body_at(&tables->body, row);
		if (!body_is_solid(tables, row))
			continue;
		for (uint32_t p = tables->body.first_placement[row]; p != 0;
		     p = tables->placement.next[p - 1]) {
			pose from = placement_in(tables, p - 1, begin);
			pose end = placement_in(tables, p - 1, to);
			struct crossing_work work = { world, row, shape_of(world, p - 1), from,
						      vec3_sub(end.position, from.position) };
			end.rotation = from.rotation;
			struct aabb box = aabb_union(shape_aabb(work.shape, &from),
						     shape_aabb(work.shape, &end));
			broad_phase_query(world->dynamics.broad_phase, &box, visit_crossed, &work);
		}
	}
}

static int compare_crossings(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct sensor_crossing *x = a, *y = b;
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return x->fraction < y->fraction ? -1 : x->fraction > y->fraction;
}

/* ---- telling -----------------------------------------------------------------------------------
 * */

static void tell(struct world *world, enum event_kind kind, uint64_t pair, double fraction)
{
	dynamics_event(&world->dynamics, (struct event){ .kind = (uint8_t)kind,
							 .a = (body_id)(pair >> 32),
							 .b = (body_id)pair,
							 .fraction = fraction });
}

/* Of the shapes of a body that met the sensor, the first counts. */
static void tell_crossings(struct world *world)
{
	struct sensors *self = &world->sensors;
	uint32_t count = self->crossings.count;
	struct sensor_crossing *scratch = heap_alloc(MAX_OF(count, 1u) * sizeof *scratch);
	if (scratch == NULL) {
		self->lost = true;
		return;
	}
	sort_items(self->crossings.items, scratch, count, sizeof *scratch, compare_crossings, NULL);
	heap_free(scratch);
	for (uint32_t i = 0; i < count; i++) {
		const struct sensor_crossing *at = &self->crossings.items[i];
		if (i > 0 && at->pair == at[-1].pair)
			continue;
		tell(world, EVENT_SENSOR_BEGIN, at->pair, at->fraction);
		tell(world, EVENT_SENSOR_END, at->pair, at->fraction);
	}
}

static void tell_changes(struct world *world)
{
	const struct sensors *self = &world->sensors;
	const struct overlap_table *table = &world->tables.overlap;
	uint32_t i = 0, row = 0;
	while (i < self->pairs.count || row < table->count) {
		uint64_t now = i < self->pairs.count ? self->pairs.items[i] : UINT64_MAX;
		uint64_t before = row < table->count ? table->pair[row] : UINT64_MAX;
		if (now < before)
			tell(world, EVENT_SENSOR_BEGIN, now, 1);
		else if (before < now)
			tell(world, EVENT_SENSOR_END, before, 1);
		i += now <= before;
		row += before <= now;
	}
}

static void store(struct tables *tables, const struct sensors *self)
{
	ASSERT(self->pairs.count <= tables->overlap.capacity);
	tables_truncate(tables, TABLE_OVERLAP, 0);
	for (uint32_t i = 0; i < self->pairs.count; i++)
		tables->overlap.pair[tables_append(tables, TABLE_OVERLAP)] = self->pairs.items[i];
}

void sensors_end(struct world *world)
{
	struct sensors *self = &world->sensors;
	struct tables *tables = &world->tables;
	if (!self->any && tables->overlap.count == 0)
		return;
	find_overlaps(world);
	sort_pairs(self);
	if (!self->lost)
		find_crossings(world);
	self->lost |= tables_reserve(tables, TABLE_OVERLAP, self->pairs.count) != STATUS_OK;
	if (self->lost) {
		world->dynamics.events.lost++;
		return;
	}
	tell_crossings(world);
	tell_changes(world);
	store(tables, self);
}

/* ---- reading -----------------------------------------------------------------------------------
 * */

enum status world_sensed(const struct world *world, body_id sensor, body_id *out, uint32_t capacity,
			 uint32_t *count)
{
	const struct overlap_table *table = &world->tables.overlap;
	*count = 0;
	if (sensor == BODY_WALLS || dynamics_find_body(&world->dynamics, sensor) == DYNAMICS_NONE)
		return STATUS_UNKNOWN_BODY;
	uint32_t row = first_from(table->pair, table->count, (uint64_t)sensor << 32);
	for (; row < table->count && table->pair[row] >> 32 == sensor && *count < capacity; row++)
		out[(*count)++] = (body_id)table->pair[row];
	return STATUS_OK;
}
