/* fluid_near.c: neighbours, walls and densities of the particles of a group (ch1-3 P-49); see
 * fluid_work.h.
 *
 * Cells have the edge of the kernel's radius; the key of a cell is z, y, x with as many bits as the group
 * needs, at most 21 each. The 27 cells around a place are nine runs of keys, and along a block each run
 * only moves forwards, so a block searches its first runs by halving and then walks. Coordinates beyond the
 * 21 bits are cut off, which keeps neighbours neighbours. Places beyond the first FLUID_CROWD of a cell are
 * crowded: they have no neighbours and are nobody's, so that points where very many meet stay affordable.
 * They come last.
 *
 * The search compares places in whole numbers (struct fluid_spot). It takes places some thousand radii apart
 * for neighbours if cut-off coordinates put them in one cell; kernels, from doubles, are 0 there.
 *
 * Pairs of a block lie in a part of `pairs` with room for FLUID_PAIRS a place. A block that needs more is
 * told by its count, gets that room behind all others, and is filled again. */
#include "server/base/sort.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/fluids/fluid_work.h"
#include "server/engine/dynamics/piece.h"

enum { KEY_BITS_MAX = 21, QUANTA_BITS = 22 };
/* A wall has no pressure of its own. For the first layer of particles, half a spacing (a quarter of the
 * radius h) from it, to carry the pressure of the fluid behind it, the wall's slope must be 2/h there,
 * and for rest density its part about 0.15. A wall kernel of radius 0.588 h with 2.5 times the weight
 * has both. With the fluid's own kernel (0.97/h) that layer has twice the pressure, the next one
 * nearly none, its particles come together in pairs, and a pool loses a fifth of its height. */
#define WALL_REACH (1 / 1.7)
#define WALL_PART 2.5
/* Cubes of radii: of a particle, so that floats of it and its inverse are normal numbers. */
#define VOLUME_LEAST 1e-30

/* ---- order ---------------------------------------------------------------------------------------- */

/* A coordinate in quanta. */
static int64_t quanta_of(const struct fluid_work *self, double x)
{
	double quanta = scalar_floor(x * (FLUID_QUANTA / self->radius));
	ASSERT(quanta > -9.1e15 && quanta < 9.1e15);
	return (int64_t)quanta;
}

/* The number of a cell along an axis, from FLUID_CELLS. */
static uint64_t cell_of(const struct fluid_work *self, vec3 x, uint32_t axis)
{
	int64_t cell = quanta_of(self, vec3_get(x, axis)) >> QUANTA_BITS;
	ASSERT(cell >= self->base[axis]);
	return MIN_OF((uint64_t)(cell - self->base[axis]) + FLUID_CELLS,
		      ((uint64_t)1 << KEY_BITS_MAX) - 1 - FLUID_CELLS);
}

/* The first cell of each axis, and the bits of each for FLUID_CELLS more on both sides. */
static void find_grid(struct fluid_work *self)
{
	vec3 least = vec3_all(SCALAR_MAX), most = vec3_all(-SCALAR_MAX);
	ASSERT(self->points.count > 0);
	for (uint32_t i = 0; i < self->points.count; i++) {
		least = vec3_min(least, self->points.items[i].x);
		most = vec3_max(most, self->points.items[i].x);
	}
	for (uint32_t axis = 0, shift = 0; axis < 3; axis++) {
		self->base[axis] = quanta_of(self, vec3_get(least, axis)) >> QUANTA_BITS;
		self->shifts[axis] = shift;
		for (uint64_t end = cell_of(self, most, axis) + 1 + FLUID_CELLS; end > 0; end >>= 1)
			shift++;
	}
}

static void key_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		uint64_t key = 0;
		for (uint32_t axis = 0; axis < 3; axis++)
			key |= cell_of(self, self->points.items[i].x, axis) << self->shifts[axis];
		self->keys.items[i] = key;
		self->order.items[i] = i;
	}
}

/* Takes the crowded places behind the others, both in their order. */
static void part_crowd(struct fluid_work *self)
{
	uint32_t count = self->points.count, loose = 0, crowded = 0;
	uint64_t key = 0;
	for (uint32_t place = 0, first = 0; place < count; place++) {
		if (self->keys.items[place] != key) {
			key = self->keys.items[place];
			first = place;
		}
		if (place - first >= self->crowd) {
			self->order_scratch.items[crowded++] = self->order.items[place];
			continue;
		}
		self->keys.items[loose] = key;
		self->order.items[loose++] = self->order.items[place];
	}
	ASSERT(loose + crowded == count);
	self->loose = loose;
	for (uint32_t i = 0; i < crowded; i++) {
		self->keys.items[loose + i] = UINT64_MAX;
		self->order.items[loose + i] = self->order_scratch.items[i];
	}
}

/* The points in their new order, and what all passes read of them. */
static void place_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const double inverse = 1 / self->radius, inverse3 = inverse * inverse * inverse;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		const struct fluid_point *point = &self->points_before.items[self->order.items[i]];
		double volume = point->volume * inverse3;
		self->points.items[i] = *point;
		self->x.items[i] = point->x;
		self->v.items[i] = point->v;
		self->mass.items[i] = point->mass;
		self->volume.items[i] = point->volume;
		self->pressure.items[i] = point->multiplier;
		self->liquid.items[i] = (uint8_t)point->liquid;
		self->sites.items[i] =
			(struct fluid_site){ point->x.x * inverse, point->x.y * inverse,
					     point->x.z * inverse, volume };
		self->load.items[i] = volume * self->liquids[point->liquid].viscosity;
		self->weights.items[i] = (float)(volume * volume / point->mass);
		struct fluid_spot spot = { (uint32_t)quanta_of(self, point->x.x),
					   (uint32_t)quanta_of(self, point->x.y),
					   (uint32_t)quanta_of(self, point->x.z), 0 };
		self->spots.items[i] = spot;
		self->near_x.items[i] = spot.x;
		self->near_y.items[i] = spot.y;
		self->near_z.items[i] = spot.z;
	}
}

static void sort_points(struct fluid_work *self)
{
	struct fluid_point *points = self->points.items;
	uint32_t room = self->points.capacity, count = self->points.count;
	find_grid(self);
	fluid_run(self, key_blocks);
	sort_keys(self->keys.items, self->order.items, self->key_scratch.items,
		  self->order_scratch.items, count);
	part_crowd(self);
	self->points.items = self->points_before.items;
	self->points.capacity = self->points_before.capacity;
	self->points_before.items = points;
	self->points_before.capacity = room;
	ASSERT(self->points.capacity >= count);
	fluid_run(self, place_blocks);
}

/* ---- runs of cells -------------------------------------------------------------------------------- */

/* The first key of run r around `key`. */
static uint64_t run_key(const struct fluid_work *self, uint64_t key, uint32_t reach, uint32_t r)
{
	uint64_t y = (uint64_t)1 << self->shifts[1], z = (uint64_t)1 << self->shifts[2];
	uint32_t rows = 2 * reach + 1;
	return key - reach * (1 + y + z) + r % rows * y + r / rows * z;
}

static void start_runs(const struct fluid_work *self, const struct fluid_keys *keys, uint64_t key,
		       struct fluid_runs *runs)
{
	uint32_t rows = (2 * runs->reach + 1) * (2 * runs->reach + 1);
	ASSERT(runs->key == 0 && rows <= FLUID_ROWS_MAX);
	for (uint32_t r = 0; r < rows; r++) {
		uint64_t wanted = run_key(self, key, runs->reach, r);
		uint32_t low = 0, high = keys->count;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (keys->items[middle] < wanted)
				low = middle + 1;
			else
				high = middle;
		}
		runs->first[r] = runs->last[r] = low;
	}
}

void fluid_move_runs(const struct fluid_work *self, const struct fluid_keys *keys, uint64_t key,
		     struct fluid_runs *runs)
{
	uint32_t cells = 2 * runs->reach + 1;
	if (runs->key == key)
		return;
	ASSERT(key > runs->key);
	if (runs->key == 0)
		start_runs(self, keys, key, runs);
	runs->key = key;
	for (uint32_t r = 0; r < cells * cells; r++) {
		uint64_t first = run_key(self, key, runs->reach, r), end = first + cells;
		uint32_t at = runs->first[r];
		while (at < keys->count && keys->items[at] < first)
			at++;
		runs->first[r] = at;
		at = MAX_OF(at, runs->last[r]);
		while (at < keys->count && keys->items[at] < end)
			at++;
		runs->last[r] = at;
	}
}

/* ---- shapes near blocks ---------------------------------------------------------------------------- */

struct collect {
	struct fluid_work *work;
	enum status status;
};

static bool collect_placement(uint32_t placement, void *context)
{
	struct collect *collect = context;
	struct fluid_work *self = collect->work;
	const struct tables *tables = self->dynamics->tables;
	uint32_t body = placement_body(tables, placement);
	if (!body_is_solid(tables, body) || piece_is_sensor(self->dynamics, placement) ||
	    bitset_get(&self->dynamics->one_way, body))
		return true;
	collect->status = ARRAY_RESERVE(&self->found, (uint64_t)self->found.count + 1);
	if (collect->status == STATUS_OK)
		self->found.items[self->found.count++] = placement;
	return collect->status == STATUS_OK;
}

/* The obstacles whose boxes meet a box, ascending, in self->found. */
static enum status find_placements(struct fluid_work *self, struct aabb box)
{
	struct collect collect = { self, STATUS_OK };
	self->found.count = 0;
	broad_phase_query(self->dynamics->broad_phase, &box, collect_placement, &collect);
	uint32_t *found = self->found.items, count = self->found.count;
	/* Few, so by insertion: the order of the broad phase must reach no result. */
	for (uint32_t i = 1; i < count; i++) {
		uint32_t placement = found[i], at = i;
		for (; at > 0 && found[at - 1] > placement; at--)
			found[at] = found[at - 1];
		found[at] = placement;
	}
	return collect.status;
}

/* What a body gets beyond the fluid, as it was in its last tick. */
static void foresee(const struct fluid_work *self, struct fluid_body *body)
{
	const struct tables *tables = self->dynamics->tables;
	vec3 gravity = force_gravity(tables);
	double most = FLUID_FREE_MAX * vec3_length(gravity), size;
	if (!body->dynamic)
		return;
	body->acceleration = gravity;
	if (tables->body.flags[body->row] & BODY_SCALED)
		body->acceleration = vec3_scale(gravity, tables->body.gravity_scale[body->row]);
	uint32_t i = fluid_find_load(tables, body->row);
	if (i != DYNAMICS_NONE) {
		vec3 change = vec3_sub(body->velocity, tables->load.velocity[i]);
		body->acceleration = vec3_mul_sub(vec3_scale(change, 1 / self->dt),
						  tables->load.force[i], body->mass_inv);
		change = vec3_sub(body->spin, tables->load.spin[i]);
		body->turning = vec3_sub(vec3_scale(change, 1 / self->dt),
					 mat3_mul_vec(body->inertia_inv, tables->load.torque[i]));
	}
	size = vec3_length(body->acceleration);
	if (size > most)
		body->acceleration = vec3_scale(body->acceleration, most / size);
	size = vec3_length(body->turning) * self->dynamics->bodies.items[body->row].reach;
	if (size > most)
		body->turning = vec3_scale(body->turning, most / size);
}

/* All bits for the walls of the world. */
static uint32_t category_of(const struct fluid_work *self, uint32_t placement)
{
	const struct tables *tables = self->dynamics->tables;
	uint32_t row = placement_body(tables, placement);
	bool walls = tables->body.id[row] == BODY_WALLS;
	return walls ? UINT32_MAX : piece_filter(self->dynamics, placement).category;
}

static void add_body(struct fluid_work *self, uint32_t row)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct body_table *table = &dynamics->tables->body;
	bool dynamic = table->status[row] == BODY_DYNAMIC && !table->quarantined[row] &&
		       bitset_get(&dynamics->awake, row);
	struct fluid_body body = {
		.row = row,
		.dynamic = dynamic,
		.at = pose_make(table->position[row], table->rotation[row]),
		.centre = dynamics_centre(dynamics->tables, row),
		.velocity = table->velocity[row],
		.spin = table->angular_velocity[row],
		.mass_inv = dynamic ? table->mass_inv[row] : 0,
		.inertia_inv = dynamic ? integrate_inertia_inv(dynamics, row) : mat3_zero(),
	};
	foresee(self, &body);
	double speed = vec3_length(body.velocity), spin = vec3_length(body.spin);
	speed += self->dt * 2 * vec3_length(body.acceleration);
	/* A plane has no end, but does not turn. */
	if (spin > 0)
		speed += spin * dynamics->bodies.items[row].reach;
	body.moves = dynamic || speed > 0;
	body.reach = speed * self->dt;
	ASSERT(body.reach >= 0);
	self->most_reach = scalar_max(self->most_reach, body.reach);
	self->body_of.items[row] = ++self->bodies.count;
	self->bodies.items[self->bodies.count - 1] = body;
}

/* Counts a shape that is a coarse wall or none, if any particle of the group may feel it. */
static void count_shape(struct fluid_work *self, uint32_t placement)
{
	const struct tables *tables = self->dynamics->tables;
	const struct shape *shape = self->dynamics->shapes[tables->placement.shape[placement]];
	uint32_t fine = fluid_boundary_fineness(&self->boundary, shape, self->radius * WALL_REACH);
	uint32_t category = category_of(self, placement), mask = 0;
	for (uint32_t i = 0; i < self->liquid_count; i++)
		mask |= tables->system.mask[self->liquids[i].row];
	if ((category & mask) == 0)
		return;
	ASSERT(fine <= FLUID_FINE);
	self->now.unsampled += fine == 0;
	self->now.coarse += fine > 0 && fine < FLUID_FINE;
}

enum status fluid_find_bodies(struct fluid_work *self)
{
	uint32_t rows = self->dynamics->tables->body.count;
	struct aabb box = aabb_empty();
	double fastest = 0;
	for (uint32_t i = 0; i < self->points.count; i++) {
		box = aabb_add_point(box, self->points.items[i].x);
		fastest = scalar_max(fastest, vec3_length_squared(self->points.items[i].v));
	}
	box = aabb_grow(box, 2 * self->radius + 2 * self->dt * scalar_sqrt(fastest));
	enum status status = ARRAY_RESERVE(&self->body_of, rows);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->bodies, rows);
	if (status == STATUS_OK)
		status = find_placements(self, box);
	if (status != STATUS_OK)
		return status;
	if (rows > 0)
		memset(self->body_of.items, 0, rows * sizeof *self->body_of.items);
	self->bodies.count = 0;
	self->most_reach = 0;
	for (uint32_t i = 0; i < self->found.count && status == STATUS_OK; i++) {
		uint32_t placement = self->found.items[i];
		uint32_t body = placement_body(self->dynamics->tables, placement);
		uint32_t shape = self->dynamics->tables->placement.shape[placement];
		if (self->body_of.items[body] == 0)
			add_body(self, body);
		pose in_body = pose_make(self->dynamics->tables->placement.position[placement],
					 self->dynamics->tables->placement.rotation[placement]);
		uint32_t known = self->body_of.items[body] - 1;
		pose at = pose_mul(self->bodies.items[known].at, in_body);
		status = fluid_boundary_add(&self->boundary, self->dynamics->shapes[shape], &at,
					    self->radius * WALL_REACH, box);
		if (status == STATUS_OK)
			count_shape(self, placement);
	}
	return status;
}

static struct fluid_near_shape near_shape_of(struct fluid_work *self, uint32_t block,
					     uint32_t placement)
{
	const struct tables *tables = self->dynamics->tables;
	uint32_t row = placement_body(tables, placement), body = self->body_of.items[row] - 1;
	pose in_body = pose_make(tables->placement.position[placement],
				 tables->placement.rotation[placement]);
	uint32_t push = DYNAMICS_NONE;
	ASSERT(body < self->bodies.count);
	for (uint32_t i = self->push_starts.items[block]; i < self->pushes.count; i++)
		if (self->pushes.items[i].body == body)
			push = i;
	if (push == DYNAMICS_NONE) {
		push = self->pushes.count++;
		self->pushes.items[push] = (struct fluid_push){ .body = body };
	}
	struct aabb fat = aabb_make(tables->placement.fat_min[placement],
				    tables->placement.fat_max[placement]);
	return (struct fluid_near_shape){
		.placement = placement,
		.body = body,
		.category = category_of(self, placement),
		.push = push,
		.at = pose_mul(self->bodies.items[body].at, in_body),
		.surface = belt_surface(self->dynamics, (struct contact_piece){ placement, 0 }),
		.box = aabb_grow(fat, self->radius + self->bodies.items[body].reach),
	};
}

/* Whether a plane is farther from a block than its kernel reaches. */
static bool is_far_plane(const struct fluid_work *self, uint32_t placement, struct aabb box)
{
	const struct tables *tables = self->dynamics->tables;
	const struct shape *shape = self->dynamics->shapes[tables->placement.shape[placement]];
	uint32_t body = self->body_of.items[placement_body(tables, placement)] - 1;
	if (shape->kind != SHAPE_PLANE)
		return false;
	pose in_body = pose_make(tables->placement.position[placement],
				 tables->placement.rotation[placement]);
	pose at = pose_mul(self->bodies.items[body].at, in_body);
	vec3 normal = quat_rotate(at.rotation, shape->plane.normal);
	vec3 half = vec3_scale(vec3_sub(box.max, box.min), 0.5);
	vec3 middle = vec3_add(box.min, half);
	double gap = vec3_dot(normal, vec3_sub(middle, at.position)) - shape->plane.offset;
	return gap - vec3_dot(vec3_abs(normal), half) > self->radius;
}

/* The shapes near each block, and where what they get is summed. */
static enum status find_near_shapes(struct fluid_work *self)
{
	enum status status = STATUS_OK;
	self->near.count = self->pushes.count = 0;
	for (uint32_t block = 0; block < fluid_blocks(self) && status == STATUS_OK; block++) {
		struct aabb box = aabb_empty();
		for (uint32_t i = block * FLUID_BLOCK; i < fluid_block_end(self, block); i++)
			box = aabb_add_point(box, self->x.items[i]);
		self->near_starts.items[block] = self->near.count;
		self->push_starts.items[block] = self->pushes.count;
		status = find_placements(self, aabb_grow(box, self->radius + self->most_reach));
		uint64_t found = self->found.count;
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&self->near, self->near.count + found);
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&self->pushes, self->pushes.count + found);
		for (uint32_t i = 0; i < found && status == STATUS_OK; i++) {
			uint32_t row = placement_body(self->dynamics->tables, self->found.items[i]);
			if (self->body_of.items[row] != 0 &&
			    !is_far_plane(self, self->found.items[i], box))
				self->near.items[self->near.count++] =
					near_shape_of(self, block, self->found.items[i]);
		}
	}
	self->near_starts.items[fluid_blocks(self)] = self->near.count;
	self->push_starts.items[fluid_blocks(self)] = self->pushes.count;
	return status;
}

/* ---- room ------------------------------------------------------------------------------------------ */

/* The parts of blocks among pairs and walls. */
static enum status make_room(struct fluid_work *self)
{
	uint64_t walls = 0;
	uint32_t blocks = fluid_blocks(self);
	ASSERT(blocks <= self->part_starts.capacity);
	for (uint32_t block = 0; block < blocks; block++) {
		uint32_t places = fluid_block_end(self, block) - block * FLUID_BLOCK;
		uint32_t near = self->near_starts.items[block + 1] - self->near_starts.items[block];
		self->part_starts.items[block] = block * FLUID_BLOCK * FLUID_PAIRS;
		self->part_rooms.items[block] = FLUID_BLOCK * FLUID_PAIRS;
		self->part_counts.items[block] = 0;
		self->wall_starts.items[block * FLUID_BLOCK] = (uint32_t)walls;
		walls += (uint64_t)near * places;
	}
	enum status status =
		ARRAY_RESERVE(&self->pairs, (uint64_t)blocks * FLUID_BLOCK * FLUID_PAIRS);
	return status == STATUS_OK ? ARRAY_RESERVE(&self->walls, walls) : status;
}

/* Gives the blocks with more pairs than room a part behind all others; whether there are any. */
static enum status make_more_room(struct fluid_work *self, bool *more)
{
	uint32_t blocks = fluid_blocks(self);
	uint64_t end = (uint64_t)blocks * FLUID_BLOCK * FLUID_PAIRS;
	*more = false;
	self->pair_count = 0;
	for (uint32_t block = 0; block < blocks; block++) {
		uint32_t wanted = self->part_counts.items[block] + FLUID_EIGHT + FLUID_FOUR;
		self->pair_count += self->part_counts.items[block];
		if (wanted <= self->part_rooms.items[block])
			continue;
		self->part_starts.items[block] = (uint32_t)end;
		self->part_rooms.items[block] = wanted;
		end += wanted;
		*more = true;
	}
	if (self->pair_count > FLUID_PAIRS_MAX && self->crowd > FLUID_CROWD_LEAST)
		return STATUS_OK;
	return ARRAY_RESERVE(&self->pairs, end);
}

/* ---- filling --------------------------------------------------------------------------------------- */

static bool may_touch(const struct fluid_work *self, const struct fluid_near_shape *near,
		      uint32_t place)
{
	uint32_t system = self->liquids[self->liquid.items[place]].row;
	uint32_t mask = self->dynamics->tables->system.mask[system];
	return (near->category & mask) != 0 && aabb_contains_point(near->box, self->x.items[place]);
}

struct near_sums {
	double density, spread, trace; /* spread: Σ V² |∇W|² / m; trace: −Σ V r·∇W */
	vec3 slope;		       /* Σ V ∇W + Σ G */
};

/* The pairs of a place, behind those of the one before, and their sums. Crowded places have none. */
static void fill_pairs(struct fluid_work *self, uint32_t block, uint32_t place,
		       struct fluid_runs *runs, struct near_sums *sums)
{
	const struct fluid_near_x near = { self->near_x.items, self->near_y.items,
					   self->near_z.items };
	const double inverse = 1 / self->radius;
	uint32_t start = self->part_starts.items[block], found[FLUID_FOUND_MAX], count = 0;
	uint32_t at = self->part_counts.items[block];
	struct fluid_pair_sums pairs = { .density = 0 };
	if (place < self->loose) {
		const struct fluid_keys keys = { self->keys.items, self->loose };
		fluid_move_runs(self, &keys, keys.items[place], runs);
		count = self->kernels->find_places(&near, runs, &self->spots.items[place], found);
	}
	ASSERT(count + FLUID_EIGHT <= FLUID_FOUND_MAX);
	self->starts.items[place] = start + at;
	/* Pairs are written in eights, of which the second half may be the next particle's. */
	bool fits = at + count + FLUID_EIGHT <= self->part_rooms.items[block];
	at += (count + FLUID_FOUR - 1) / FLUID_FOUR * FLUID_FOUR;
	self->part_counts.items[block] = at;
	self->pair_ends.items[place] = start + at;
	if (!fits)
		return;
	if (count == 0)
		pairs.density = fluid_kernel_value(0) * self->sites.items[place].volume;
	else
		self->kernels->fill_pairs(self->sites.items, self->weights.items, place, found,
					  count, &self->pairs.items[self->starts.items[place]],
					  &pairs);
	sums->density = pairs.density;
	sums->spread = (double)pairs.spread * inverse * inverse;
	sums->trace = (double)pairs.trace;
	sums->slope = vec3_scale(
		vec3_make((double)pairs.slope[0], (double)pairs.slope[1], (double)pairs.slope[2]),
		inverse);
}

/* The flat shapes that a particle touches, so that where they overlap counts once. */
struct flats {
	mat3 axes; /* of the first */
	struct fluid_region regions[FLUID_OVERLAPS];
	uint32_t count;
};

static void add_flat(const struct fluid_work *self, const struct fluid_probe *probe,
		     const struct shape *shape, const struct fluid_near_shape *near,
		     struct flats *flats, struct fluid_touch *touch)
{
	struct fluid_region region;
	quat turn = near->at.rotation;
	if (flats->count == 0 && shape->kind == SHAPE_PLANE) {
		vec3 normal = quat_rotate(turn, shape->plane.normal), t, k;
		vec3_frame(normal, &t, &k);
		flats->axes = mat3_columns(normal, t, k);
	} else if (flats->count == 0) {
		flats->axes = mat3_from_quat(turn);
	}
	if (flats->count == FLUID_OVERLAPS ||
	    !fluid_boundary_region(probe, shape, &near->at, flats->axes, &region))
		return;
	if (flats->count > 0)
		fluid_boundary_without(&self->boundary, probe, flats->axes, &region, flats->regions,
				       flats->count, touch);
	flats->regions[flats->count++] = region;
}

static bool touch_wall(struct fluid_work *self, const struct fluid_probe *probe,
		       const struct fluid_near_shape *near, struct flats *flats,
		       struct fluid_wall *out)
{
	const struct tables *tables = self->dynamics->tables;
	const struct shape *shape =
		self->dynamics->shapes[tables->placement.shape[near->placement]];
	struct fluid_touch touch;
	*out = (struct fluid_wall){ .distance = self->radius,
				    .body = near->body,
				    .sum = near->push };
	if (!fluid_boundary_touch(&self->boundary, probe, shape, &near->at, &touch))
		return false;
	add_flat(self, probe, shape, near, flats, &touch);
	double d = scalar_clamp(touch.distance / self->radius, 0, 1);
	out->part = WALL_PART * touch.part;
	out->slope = vec3_scale(touch.slope, WALL_PART);
	/* Of a box that ends near, and of several beside each other, the share of a half-space. */
	double half = fluid_half_part(scalar_clamp(touch.distance / probe->radius, 0, 1));
	double share = half > 0 ? scalar_min(touch.part / half, 1) : 0;
	out->drag = share * fluid_half_drag(d) / (self->radius * self->radius);
	out->spread = share * fluid_half_spread(d);
	out->surface = near->surface;
	out->distance = touch.distance;
	return touch.distance < 0;
}

static void fill_walls(struct fluid_work *self, uint32_t block, uint32_t place,
		       struct near_sums *sums)
{
	uint32_t at = self->wall_starts.items[place];
	struct flats flats = { .count = 0 };
	bool inside = false;
	double volume = self->volume.items[place];
	const struct fluid_probe probe = { self->radius * WALL_REACH, self->x.items[place] };
	for (uint32_t k = self->near_starts.items[block]; k < self->near_starts.items[block + 1];
	     k++) {
		const struct fluid_near_shape *near = &self->near.items[k];
		if (!may_touch(self, near, place))
			continue;
		struct fluid_wall *out = &self->walls.items[at];
		inside |= touch_wall(self, &probe, near, &flats, out);
		if (!(out->part > 0))
			continue;
		at++;
		sums->density += out->part;
		self->pushes.items[near->push].stiffness += volume * vec3_length(out->slope);
		sums->slope = vec3_add(sums->slope, out->slope);
		sums->trace += scalar_max(out->distance, 0) * vec3_length(out->slope);
	}
	self->sums.items[block].inside += inside;
	self->wall_ends.items[place] = at;
	if ((place + 1) % FLUID_BLOCK != 0)
		self->wall_starts.items[place + 1] = at;
	ASSERT(at <= self->walls.capacity);
}

/* What a place has of its neighbours and walls. */
static void fill_place(struct fluid_work *self, uint32_t block, uint32_t place,
		       struct fluid_runs *runs)
{
	struct near_sums sums = { 0 };
	struct fluid_sum *sum = &self->sums.items[block];
	fill_pairs(self, block, place, runs, &sums);
	self->colour.items[place] = sums.density;
	self->edge.items[place] = vec3_length(sums.slope) * self->radius;
	fill_walls(self, block, place, &sums);
	self->trace.items[place] = sums.trace;
	double own = vec3_length_squared(sums.slope) / self->mass.items[place];
	double error = scalar_max(sums.density - 1, 0), h = self->radius;
	self->density.items[place] = sums.density;
	self->diagonal.items[place] = self->volume.items[place] * (own + sums.spread);
	self->sides.items[place] = (struct fluid_side){
		{ (float)(h * sums.slope.x), (float)(h * sums.slope.y), (float)(h * sums.slope.z) },
		(float)scalar_max(self->sites.items[place].volume, VOLUME_LEAST),
	};
	sum->error += error;
	sum->error_max = scalar_max(sum->error_max, error);
}

static void fill_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t block = first; block < last; block++) {
		struct fluid_runs runs = { .reach = 1, .squared = FLUID_REACH };
		/* Its pairs had room. */
		if (self->refill &&
		    self->part_starts.items[block] == block * FLUID_BLOCK * FLUID_PAIRS)
			continue;
		self->part_counts.items[block] = 0;
		self->sums.items[block] = (struct fluid_sum){ 0 };
		for (uint32_t k = self->push_starts.items[block];
		     k < self->push_starts.items[block + 1]; k++) {
			const struct fluid_push *push = &self->pushes.items[k];
			self->pushes.items[k].stiffness = 0;
			self->sums.items[block].dynamic |= self->bodies.items[push->body].dynamic;
			self->sums.items[block].moves |= self->bodies.items[push->body].moves;
		}
		for (uint32_t i = block * FLUID_BLOCK; i < fluid_block_end(self, block); i++)
			fill_place(self, block, i, &runs);
	}
}

/* A light body near many particles yields to all of them at once, which the diagonal alone does not
 * show. */
static void soften_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++)
		for (uint32_t k = self->wall_starts.items[i]; k < self->wall_ends.items[i]; k++) {
			const struct fluid_wall *wall = &self->walls.items[k];
			const struct fluid_body *body = &self->bodies.items[wall->body];
			if (!body->dynamic || !(wall->part > 0))
				continue;
			double arm = vec3_distance_squared(self->x.items[i], body->centre);
			double yield = body->mass_inv + arm * mat3_trace(body->inertia_inv) / 3;
			self->diagonal.items[i] +=
				0.5 * body->stiffness * yield * vec3_length(wall->slope);
		}
}

/* Neighbours, walls and densities with the present limit of a cell; `again`: a smaller one is needed. */
static enum status fill_near(struct fluid_work *self, bool *again)
{
	sort_points(self);
	ASSERT(self->starts.capacity >= self->points.count);
	enum status status = find_near_shapes(self);
	if (status == STATUS_OK)
		status = make_room(self);
	if (status != STATUS_OK)
		return status;
	self->refill = false;
	fluid_run(self, fill_blocks);
	status = make_more_room(self, &self->refill);
	*again = self->pair_count > FLUID_PAIRS_MAX && self->crowd > FLUID_CROWD_LEAST;
	if (status == STATUS_OK && self->refill && !*again)
		fluid_run(self, fill_blocks);
	return status;
}

enum status fluid_find_near(struct fluid_work *self)
{
	bool again = true;
	ASSERT(self->points.count > 0);
	self->crowd = FLUID_CROWD;
	while (again) {
		enum status status = fill_near(self, &again);
		if (status != STATUS_OK)
			return status;
		self->crowd /= again ? 2 : 1;
	}
	self->now.crowded += self->points.count - self->loose;
	for (uint32_t i = 0; i < self->bodies.count; i++)
		self->bodies.items[i].stiffness = 0;
	for (uint32_t i = 0; i < self->pushes.count; i++) {
		struct fluid_body *body = &self->bodies.items[self->pushes.items[i].body];
		body->stiffness += self->pushes.items[i].stiffness;
		body->touched |= self->pushes.items[i].stiffness > 0;
	}
	fluid_run(self, soften_blocks);
	double error = 0, most = 0;
	for (uint32_t block = 0; block < fluid_blocks(self); block++) {
		error += self->sums.items[block].error;
		most = scalar_max(most, self->sums.items[block].error_max);
		self->now.inside += self->first ? self->sums.items[block].inside : 0;
	}
	self->now.density_error = error / self->points.count;
	self->now.density_error_max = most;
	return STATUS_OK;
}
