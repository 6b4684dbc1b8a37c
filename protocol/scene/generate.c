/* generate.c: the poses of a generator's bodies.
 *
 * Each position is computed from its index alone, without a running sum, so that rounding does not
 * accumulate. Bodies are ordered from the bottom upwards; in a layer along x, then z.
 */
#include "protocol/scene/compile.h"

static enum status check_count(const struct source *source, const struct yaml_node *node,
			       const struct generator *self)
{
	uint64_t count = generator_count(self);
	if (count > SCENE_BODIES_MAX)
		return source_fail(source, node->line, STATUS_LIMIT, "count",
				   "%llu bodies in one generator, more than the limit of %d",
				   (unsigned long long)count, SCENE_BODIES_MAX);
	return STATUS_OK;
}

static enum status check_spiral(const struct source *source, const struct yaml_node *node,
				const struct spiral_keys *spiral)
{
	bool degrees = KEY_GIVEN(spiral, SPIRAL, degrees);
	if (degrees == KEY_GIVEN(spiral, SPIRAL, spacing))
		return source_fail(source, node->line, degrees ? STATUS_EXISTS : STATUS_MISSING,
				   "spacing",
				   "spiral needs one of the keys 'degrees' and 'spacing'");
	double length = spiral->spacing * (spiral->count - 1);
	double square = spiral->radius * spiral->radius + spiral->growth / PI * length;
	if (!degrees && length > 0 && !(square > 0))
		return source_fail(source, node->line, STATUS_RANGE, "spacing",
				   "the spiral ends at its centre before its %u bodies have room; "
				   "its radius or growth is too small",
				   (unsigned)spiral->count);
	return STATUS_OK;
}

/* An array is a row, or places. */
static enum status check_array(const struct source *source, const struct yaml_node *node,
			       const struct array_keys *array)
{
	bool row = KEY_GIVEN(array, ARRAY, step) || KEY_GIVEN(array, ARRAY, turn);
	if (array->places == NULL && array->turns != NULL)
		return source_fail(source, node->line, STATUS_MISSING, "places",
				   "array has turns, but no places; give 'places'");
	if (array->places == NULL && !KEY_GIVEN(array, ARRAY, count))
		return source_fail(source, node->line, STATUS_MISSING, "count",
				   "array needs the key 'count' or the key 'places'");
	if (array->places != NULL && (row || KEY_GIVEN(array, ARRAY, count)))
		return source_fail(
			source, node->line, STATUS_EXISTS, "places",
			"array has places, and so neither count nor step nor turn: leave "
			"them out");
	if (array->turns != NULL && array->turns->count != array->places->count)
		return source_fail(source, node->line, STATUS_RANGE, "turns",
				   "array has %u turns for %u places; give one for each, or none",
				   array->turns->count, array->places->count);
	return STATUS_OK;
}

/* The places of an array that has them, returned owned; else NULL. */
static enum status read_places(const struct source *source, const struct array_keys *array,
			       pose **out)
{
	*out = NULL;
	if (array->places == NULL)
		return STATUS_OK;
	pose *places = heap_alloc(array->places->count * sizeof *places);
	enum status status = places != NULL ? STATUS_OK : source_no_memory(source);
	const struct yaml_node *at = array->places->first;
	const struct yaml_node *turn = array->turns != NULL ? array->turns->first : NULL;
	for (uint32_t i = 0; at != NULL && status == STATUS_OK; i++, at = at->next) {
		double v[3];
		places[i].rotation = quat_identity();
		status = schema_vector(source, at, "places", -LENGTH_MAX, LENGTH_MAX, "m", 3, v);
		if (status == STATUS_OK && turn != NULL)
			status = schema_turn(source, turn, "turns", &places[i].rotation);
		if (status == STATUS_OK)
			places[i].position = vec3_make(v[0], v[1], v[2]);
		turn = turn != NULL ? turn->next : NULL;
	}
	if (status == STATUS_OK)
		*out = places;
	else
		heap_free(places);
	return status;
}

/* What a generator's own keys must not be together. */
static enum status check_kind(const struct source *source, const struct yaml_node *node,
			      const struct generator *self)
{
	switch (self->kind) {
	case GENERATE_SPIRAL:
		return check_spiral(source, node, &self->spiral);
	case GENERATE_ARRAY:
		return check_array(source, node, &self->array);
	default:
		return STATUS_OK;
	}
}

enum status generator_read(const struct source *source, const struct yaml_node *node,
			   const struct generator_maps *maps, uint64_t seed, bool planar,
			   struct generator *out)
{
	const struct {
		const struct yaml_node *map;
		enum schema_name table;
		int kind;
		void *values;
		const char *name;
	} kinds[] = {
#define GENERATOR(NAME, name) { maps->name, SCHEMA_##NAME, GENERATE_##NAME, &out->name, #name },
		GENERATORS(GENERATOR)
#undef GENERATOR
	};
	const char *first = NULL;
	out->kind = GENERATE_ONE;
	out->places = NULL;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (kinds[i].map == NULL)
			continue;
		if (first != NULL)
			return source_fail(source, node->line, STATUS_LIMIT, kinds[i].name,
					   "the entry has generators %s and %s; it may have one: "
					   "put the other into an assembly",
					   first, kinds[i].name);
		first = kinds[i].name;
		out->kind = kinds[i].kind;
		enum status status =
			schema_read(source, kinds[i].map, kinds[i].table, kinds[i].values);
		if (status == STATUS_OK)
			status = check_kind(source, kinds[i].map, out);
		if (status != STATUS_OK)
			return status;
	}
	enum status status = check_count(source, node, out);
	if (status == STATUS_OK && out->kind == GENERATE_SCATTER)
		status = scatter_make(source, maps->scatter->line, &out->scatter, seed, planar,
				      &out->places);
	if (status == STATUS_OK && out->kind == GENERATE_ARRAY)
		status = read_places(source, &out->array, &out->places);
	return status;
}

void generator_release(struct generator *self)
{
	heap_free(self->places);
	self->places = NULL;
}

/* ---- counting ------------------------------------------------------------------------------------ */

static uint64_t pyramid_count(const struct pyramid_keys *pyramid)
{
	uint64_t n = pyramid->base;
	return pyramid->square ? n * (n + 1) * (2 * n + 1) / 6 : n * (n + 1) / 2;
}

uint64_t generator_count(const struct generator *self)
{
	switch (self->kind) {
	case GENERATE_GRID: {
		/* Each factor is at most 2^18. */
		struct counts c = self->grid.count;
		return (uint64_t)c.x * c.y * c.z;
	}
	case GENERATE_STACK:
		return self->stack.count;
	case GENERATE_PYRAMID:
		return pyramid_count(&self->pyramid);
	case GENERATE_RING:
		return self->ring.count;
	case GENERATE_SPIRAL:
		return self->spiral.count;
	case GENERATE_SCATTER:
		return self->scatter.count;
	case GENERATE_TOWER:
		return (uint64_t)self->tower.rings * self->tower.bricks;
	case GENERATE_ARCH:
		return self->arch.count;
	case GENERATE_ARRAY:
		return self->array.places != NULL ? self->array.places->count : self->array.count;
	case GENERATE_ONE:
		break;
	}
	return 1;
}

/* ---- placing ------------------------------------------------------------------------------------- */

/* The index-th of `count` coordinates with a constant spacing, centred at 0. */
static double centred(uint32_t index, uint32_t count, double step)
{
	return step * (index - 0.5 * (count - 1));
}

static quat about_y(double degrees)
{
	return quat_from_axis_angle(vec3_axis(1), degrees * RADIANS_PER_DEGREE);
}

static pose grid_pose(const struct grid_keys *grid, uint32_t index)
{
	struct counts c = grid->count;
	uint32_t z = index % c.z, x = index / c.z % c.x, y = index / c.z / c.x;
	vec3 at = vec3_make(centred(x, c.x, grid->spacing.x), y * grid->spacing.y,
			    centred(z, c.z, grid->spacing.z));
	return pose_make(at, quat_identity());
}

static pose pyramid_pose(const struct pyramid_keys *pyramid, uint32_t index)
{
	uint32_t row = 0, across = pyramid->base;
	uint32_t layer = pyramid->square ? across * across : across;
	while (index >= layer) {
		index -= layer;
		row++;
		across--;
		layer = pyramid->square ? across * across : across;
	}
	uint32_t x = pyramid->square ? index / across : index;
	uint32_t z = pyramid->square ? index % across : 0;
	vec3 at = vec3_make(centred(x, across, pyramid->spacing.x), row * pyramid->spacing.y,
			    pyramid->square ? centred(z, across, pyramid->spacing.z) : 0);
	return pose_make(at, quat_identity());
}

/* Words of `facing`, in the manifest's order. */
enum facing { FACING_OUTWARDS, FACING_INWARDS, FACING_ALONG, FACING_FIXED };

static pose circle_pose(double degrees, double radius, double height, uint32_t facing)
{
	static const double TURNS[] = { [FACING_INWARDS] = 180, [FACING_ALONG] = 90 };
	quat turn = about_y(degrees);
	vec3 at = quat_rotate(turn, vec3_make(0, 0, radius));
	at.y = height;
	if (facing == FACING_FIXED)
		return pose_make(at, quat_identity());
	return pose_make(at, facing == FACING_OUTWARDS ? turn : about_y(degrees + TURNS[facing]));
}

static pose ring_pose(const struct ring_keys *ring, uint32_t index)
{
	return circle_pose(ring->start + ring->degrees * index / ring->count, ring->radius, 0,
			   ring->facing);
}

/* The radius at the angle t (rad) is r + b t. The length along the circle up to t is therefore
 * s = r t + b t²/2, and the angle at s is t = 2 s / (r + sqrt(r² + 2 b s)), which loses no digits
 * for a small b. */
static pose spiral_pose(const struct spiral_keys *spiral, uint32_t index)
{
	double r = spiral->radius, b = spiral->growth / (2 * PI);
	double degrees = spiral->degrees * index, s = spiral->spacing * index;
	if (s > 0)
		degrees = 2 * s / (r + scalar_sqrt(r * r + 2 * b * s)) / RADIANS_PER_DEGREE;
	double turns = degrees / 360;
	return circle_pose(spiral->start + degrees, r + spiral->growth * turns,
			   spiral->rise * turns, spiral->facing);
}

static pose tower_pose(const struct tower_keys *tower, uint32_t index)
{
	uint32_t ring = index / tower->bricks, brick = index % tower->bricks;
	double part = (brick + (ring % 2 == 1 ? 0.5 : 0)) / tower->bricks;
	return circle_pose(360 * part, tower->radius, ring * tower->height, FACING_OUTWARDS);
}

static pose arch_pose(const struct arch_keys *arch, uint32_t index)
{
	double degrees = arch->degrees * ((index + 0.5) / arch->count - 0.5);
	quat turn = quat_from_axis_angle(vec3_axis(2), degrees * RADIANS_PER_DEGREE);
	return pose_make(quat_rotate(turn, vec3_make(0, arch->radius, 0)), turn);
}

/* turn to the power index, by squaring: at most 18 products for any index. */
static quat turn_power(quat turn, uint32_t index)
{
	quat power = quat_identity();
	for (; index > 0; index >>= 1) {
		if (index & 1)
			power = quat_normalize(quat_mul(power, turn));
		turn = quat_normalize(quat_mul(turn, turn));
	}
	return power;
}

pose generator_pose(const struct generator *self, uint32_t index)
{
	switch (self->kind) {
	case GENERATE_GRID:
		return grid_pose(&self->grid, index);
	case GENERATE_STACK:
		return pose_make(vec3_make(0, index * self->stack.height, 0),
				 about_y(index * self->stack.twist));
	case GENERATE_PYRAMID:
		return pyramid_pose(&self->pyramid, index);
	case GENERATE_RING:
		return ring_pose(&self->ring, index);
	case GENERATE_SPIRAL:
		return spiral_pose(&self->spiral, index);
	case GENERATE_SCATTER:
		return self->places[index];
	case GENERATE_TOWER:
		return tower_pose(&self->tower, index);
	case GENERATE_ARCH:
		return arch_pose(&self->arch, index);
	case GENERATE_ARRAY:
		if (self->places != NULL)
			return self->places[index];
		return pose_make(vec3_scale(self->array.step, index),
				 turn_power(self->array.turn, index));
	case GENERATE_ONE:
		break;
	}
	return pose_identity();
}
