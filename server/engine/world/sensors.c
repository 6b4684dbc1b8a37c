/* sensors.c: see sensors.h.
 *
 * Overlaps are a function of the poses at the end of the tick: of each sensor with each other solid
 * body that is no sensor and whose filter fits (by pieces: sensors, filters and what is solid may be
 * single pieces of bodies), unless both are static, whether it sleeps or not.
 * The table holds those of the last tick, so a world that is loaded tells the same events.
 *
 * A body whose way in the tick is long against its size may cross a thin sensor without overlapping
 * it at either end. Its shapes are cast along the straight line from its pose at the beginning to
 * that at the end, without turning; what is met on the way and not overlapped at the ends begins
 * and ends within the tick. Sensors that are fast are cast against the other bodies likewise. If
 * both are fast, the relative way counts. A body that was slow as the tick began counts as standing
 * where it ends. What overlaps at either end, or bounces back, is not searched for.
 *
 * The order of the broad phase is unspecified, so pairs are sorted before anything is told.
 */
#include "server/engine/world/sensors.h"

#include "server/base/sort.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/world/world.h"

#include <string.h>

/* Of a body's inner size: a longer way in a tick may pass by a sensor. */
#define SENSOR_FAST 0.5

void sensors_release(struct sensors *self)
{
	box_queries_release(&self->queries);
	ARRAY_RELEASE(&self->querying);
	ARRAY_RELEASE(&self->pairs);
	ARRAY_RELEASE(&self->scratch);
	ARRAY_RELEASE(&self->fast);
	ARRAY_RELEASE(&self->from);
	ARRAY_RELEASE(&self->crossings);
	ARRAY_RELEASE(&self->sweeps);
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

/* Whether a placement, which is a sensor, tells of another one's body. */
static bool may_sense(const struct dynamics *dynamics, uint32_t placement, uint32_t of)
{
	const struct tables *tables = dynamics->tables;
	const struct body_table *body = &tables->body;
	uint32_t sensor = placement_body(tables, placement), other = placement_body(tables, of);
	ASSERT(sensor < body->count && other < body->count);
	return other != sensor && body->id[other] != BODY_WALLS && !piece_is_sensor(dynamics, of) &&
	       body_is_solid(tables, other) &&
	       (body->status[sensor] != BODY_STATIC || body->status[other] != BODY_STATIC) &&
	       pairs_filter_allows(dynamics, placement, of);
}

static uint64_t pair_of(const struct body_table *body, uint32_t sensor, uint32_t other)
{
	return (uint64_t)body->id[sensor] << 32 | body->id[other];
}

/* ---- overlaps -------------------------------------------------------------------------------- */

struct sensing {
	struct world *world;
	uint32_t query; /* the one that the rest is of */
	uint32_t sensor, placement;
	const struct shape *shape; /* of the sensor */
	pose at;
};

static void turn_to_query(struct sensing *work, uint32_t query)
{
	const struct tables *tables = &work->world->tables;
	uint32_t placement = work->world->sensors.querying.items[query];
	work->query = query;
	work->placement = placement;
	work->sensor = tables->placement.body[placement] - 1;
	work->shape = shape_of(work->world, placement);
	work->at = placement_in(tables, placement, body_at(&tables->body, work->sensor));
}

static bool visit_near(uint32_t placement, uint32_t query, void *context)
{
	struct sensing *work = context;
	struct sensors *self = &work->world->sensors;
	const struct tables *tables = &work->world->tables;
	uint32_t other = tables->placement.body[placement] - 1;
	if (query != work->query)
		turn_to_query(work, query);
	if (!may_sense(&work->world->dynamics, work->placement, placement))
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

/* A query for each shape of the body that is a sensor. */
static void add_queries(struct world *world, uint32_t sensor)
{
	const struct tables *tables = &world->tables;
	struct sensors *self = &world->sensors;
	for (uint32_t p = tables->body.first_placement[sensor]; p != 0 && !self->lost;
	     p = tables->placement.next[p - 1]) {
		if (!piece_is_sensor(&world->dynamics, p - 1))
			continue;
		pose at = placement_in(tables, p - 1, body_at(&tables->body, sensor));
		struct aabb box = shape_aabb(shape_of(world, p - 1), &at);
		self->lost |=
			box_queries_add(&self->queries, &box) != STATUS_OK ||
			ARRAY_RESERVE(&self->querying, self->querying.count + 1u) != STATUS_OK;
		if (!self->lost)
			self->querying.items[self->querying.count++] = p - 1;
	}
}

/* Of static sensors, which static bodies do not concern, or of the others. */
static void find_overlaps_of(struct world *world, bool still)
{
	struct sensors *self = &world->sensors;
	const struct body_table *body = &world->tables.body;
	struct sensing work = { .world = world, .query = UINT32_MAX };
	box_queries_clear(&self->queries);
	self->querying.count = 0;
	for (uint32_t row = 0; row < body->count && !self->lost; row++)
		if (piece_any_sensor(&world->dynamics, row) && body_is_solid(&world->tables, row) &&
		    (body->status[row] == BODY_STATIC) == still)
			add_queries(world, row);
	if (self->lost || self->querying.count == 0)
		return;
	ASSERT(self->querying.count == self->queries.boxes.count);
	self->lost |= box_queries_run(&self->queries, world->dynamics.broad_phase,
				      still ? BOX_QUERY_MOVING : BOX_QUERY_ALL, visit_near,
				      &work) != STATUS_OK;
}

static void find_overlaps(struct world *world)
{
	find_overlaps_of(world, true);
	find_overlaps_of(world, false);
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

/* ---- crossings ------------------------------------------------------------------------------- */

void sensors_begin(struct world *world)
{
	struct sensors *self = &world->sensors;
	const struct tables *tables = &world->tables;
	const struct body_table *body = &tables->body;
	const struct bitset *awake = &world->dynamics.awake;
	self->fast.count = self->from.count = self->crossings.count = self->pairs.count = 0;
	self->lost = false;
	self->any = (dynamics_all_flags(tables) & BODY_SENSOR) != 0 ||
		    world->dynamics.sensing.count > 0;
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
	uint32_t row, placement; /* the fast body, and the shape of it */
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
	bool sensor = piece_is_sensor(&work->world->dynamics, work->placement);
	if (sensor == piece_is_sensor(&work->world->dynamics, placement))
		return true;
	uint32_t sensing = sensor ? work->placement : placement;
	uint32_t sensed = sensor ? placement : work->placement;
	uint32_t a = sensor ? work->row : other, b = sensor ? other : work->row;
	uint64_t pair = pair_of(&tables->body, a, b);
	if (!body_is_solid(tables, a) || !may_sense(&work->world->dynamics, sensing, sensed) ||
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

/* Casts a shape of the i-th fast body; `placement` is the shape's. */
static struct crossing_work begin_crossing(struct world *world, uint32_t i, uint32_t placement,
					   struct aabb *swept)
{
	const struct tables *tables = &world->tables;
	ASSERT(i < world->sensors.fast.count);
	uint32_t row = (uint32_t)world->sensors.fast.items[i];
	pose from = placement_in(tables, placement, world->sensors.from.items[i]);
	pose end = placement_in(tables, placement, body_at(&tables->body, row));
	struct crossing_work work = { world,	 row,
				      placement, shape_of(world, placement),
				      from,	 vec3_sub(end.position, from.position) };
	end.rotation = from.rotation;
	*swept = aabb_union(shape_aabb(work.shape, &from), shape_aabb(work.shape, &end));
	return work;
}

/* What stands or is slow; of fast bodies those whose end is near. Notes the space that the fast
 * ones sweep. */
static void cross_standing(struct world *world)
{
	const struct tables *tables = &world->tables;
	struct sensors *self = &world->sensors;
	self->sweeps.count = 0;
	self->lost |= ARRAY_RESERVE(&self->sweeps, self->fast.count) != STATUS_OK;
	for (uint32_t i = 0; i < self->fast.count && !self->lost; i++) {
		uint32_t row = (uint32_t)self->fast.items[i];
		struct aabb all = aabb_empty(), swept;
		if (!body_is_solid(tables, row))
			continue;
		for (uint32_t p = tables->body.first_placement[row]; p != 0;
		     p = tables->placement.next[p - 1]) {
			struct crossing_work work = begin_crossing(world, i, p - 1, &swept);
			broad_phase_query(world->dynamics.broad_phase, &swept, visit_crossed,
					  &work);
			all = aabb_union(all, swept);
		}
		self->sweeps.items[self->sweeps.count++] = (struct sensor_sweep){ all, i };
	}
}

static int compare_sweeps(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct sensor_sweep *x = a, *y = b;
	if (x->box.min.x != y->box.min.x)
		return x->box.min.x < y->box.min.x ? -1 : 1;
	return x->fast < y->fast ? -1 : x->fast > y->fast;
}

/* Casts the fast sensor of a sweep against the shapes of another fast body. */
static void cross_fast(struct world *world, const struct sensor_sweep *sensor,
		       const struct sensor_sweep *other)
{
	const struct tables *tables = &world->tables;
	const struct sensors *self = &world->sensors;
	uint32_t row = (uint32_t)self->fast.items[sensor->fast];
	uint32_t of = (uint32_t)self->fast.items[other->fast];
	struct aabb swept;
	ASSERT(piece_any_sensor(&world->dynamics, row));
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = tables->placement.next[p - 1]) {
		struct crossing_work work = begin_crossing(world, sensor->fast, p - 1, &swept);
		for (uint32_t q = tables->body.first_placement[of]; q != 0;
		     q = tables->placement.next[q - 1])
			(void)visit_crossed(q - 1, &work);
	}
}

/* Fast sensors and fast bodies whose ways cross, by a sweep along x: the broad phase knows their
 * ends only. */
static void cross_moving(struct world *world)
{
	struct sensors *self = &world->sensors;
	uint32_t count = self->sweeps.count;
	struct sensor_sweep *scratch = heap_alloc(MAX_OF(count, 1u) * sizeof *scratch);
	double widest = 0;
	self->lost |= scratch == NULL;
	if (self->lost)
		return;
	sort_items(self->sweeps.items, scratch, count, sizeof *scratch, compare_sweeps, NULL);
	heap_free(scratch);
	for (uint32_t i = 0; i < count; i++)
		widest = scalar_max(widest, self->sweeps.items[i].box.max.x -
						    self->sweeps.items[i].box.min.x);
	for (uint32_t i = 0; i < count; i++) {
		const struct sensor_sweep *sensor = &self->sweeps.items[i];
		uint32_t k = i;
		if (!piece_any_sensor(&world->dynamics, (uint32_t)self->fast.items[sensor->fast]))
			continue;
		while (k > 0 && self->sweeps.items[k - 1].box.min.x >= sensor->box.min.x - widest)
			k--;
		for (; k < count && self->sweeps.items[k].box.min.x <= sensor->box.max.x; k++)
			if (aabb_overlaps(sensor->box, self->sweeps.items[k].box))
				cross_fast(world, sensor, &self->sweeps.items[k]);
	}
}

static void find_crossings(struct world *world)
{
	cross_standing(world);
	if (world->sensors.sweeps.count > 1)
		cross_moving(world);
}

static int compare_crossings(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct sensor_crossing *x = a, *y = b;
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return x->fraction < y->fraction ? -1 : x->fraction > y->fraction;
}

/* ---- telling --------------------------------------------------------------------------------- */

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

/* ---- reading --------------------------------------------------------------------------------- */

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
