/* See placed.h. A kinematic character: sweep, slide, step up, find ground.
 *
 *   while displacement is left:
 *       sweep along it; advance until `skin` before the first hit;
 *       store the hit's plane; remove from the remaining displacement the part that points into the planes
 *       hit so far: of one plane, the part along its normal; of two, all but the part along their crease;
 *       of three, all of it.
 *
 * A hit that is too steep to walk on is first tried as a step: up by the step's height, along, and down. The
 * step is taken if it ends on walkable ground, higher than before, and farther along.
 *
 * At the start the walker may overlap a shape. It is then moved out along the normal of the deepest contact,
 * at most PUSHES_MAX times.
 *
 * Failure: a crevice narrower than the walker ends the motion early (`left` is not zero); overlaps that push
 * against each other set `stuck`. No segment is longer than a sweep has proved free.
 */
#include "server/engine/collision/placed.h"

enum { PUSHES_MAX = 8 };

struct mover_walk {
	const struct placed_shape *placed;
	uint32_t count;
	const struct shape *shape;
	const struct mover_options *options;
	pose at;
	vec3 planes[MOVER_ITERATIONS_MAX];
	uint32_t plane_count;
	struct mover_result *out;
};

/* Sweeps along `way`; true if a shape is hit. */
static bool cast_first(const struct mover_walk *walk, pose from, vec3 way, struct cast_hit *hit)
{
	enum status status;
	return placed_cast(walk->placed, walk->count, walk->shape, from, way, hit, 1, &status) == 1;
}

/* The fraction of `way` that leaves a gap of `skin` before the hit. */
static double free_part(const struct mover_walk *walk, vec3 way, const struct cast_hit *hit)
{
	double length = vec3_length(way), against = -vec3_dot(hit->normal, way);
	if (!(length > 0) || !(against > 0))
		return hit->fraction;
	return scalar_clamp(hit->fraction - walk->options->skin / against, 0, 1);
}

static void record_contact(struct mover_walk *walk, const struct cast_hit *hit)
{
	ASSERT(walk->out->contact_count <= MOVER_CONTACTS_MAX);
	struct mover_result *out = walk->out;
	if (out->contact_count < MOVER_CONTACTS_MAX)
		out->contacts[out->contact_count++] = *hit;
}

/* Moves the walker out of overlaps; false if it still overlaps after PUSHES_MAX moves. */
static bool push_out(struct mover_walk *walk)
{
	for (uint32_t i = 0; i < PUSHES_MAX; i++) {
		struct cast_hit hit;
		if (!cast_first(walk, walk->at, vec3_zero(), &hit) || hit.fraction > 0)
			return true;
		if (!(hit.depth > 0))
			return i > 0;
		walk->at.position = vec3_mul_add(walk->at.position, hit.normal,
						 hit.depth + walk->options->skin);
		if (i == 0)
			record_contact(walk, &hit);
	}
	return false;
}

/* The part of `way` that does not point into any plane hit so far. */
static vec3 slide(const struct mover_walk *walk, vec3 way)
{
	ASSERT(walk->plane_count <= MOVER_ITERATIONS_MAX);
	for (uint32_t i = 0; i < walk->plane_count; i++) {
		vec3 n = walk->planes[i];
		if (vec3_dot(way, n) >= 0)
			continue;
		vec3 along = vec3_mul_sub(way, n, vec3_dot(way, n));
		uint32_t k = 0;
		while (k < walk->plane_count &&
		       (k == i || vec3_dot(along, walk->planes[k]) >= -1e-12))
			k++;
		if (k == walk->plane_count)
			return along;
		/* The crease of the two planes; if it points into a third one, nothing is left. */
		vec3 crease = vec3_normalize(vec3_cross(n, walk->planes[k]));
		along = vec3_scale(crease, vec3_dot(crease, way));
		for (uint32_t m = 0; m < walk->plane_count; m++)
			if (m != i && m != k && vec3_dot(along, walk->planes[m]) < -1e-12)
				return vec3_zero();
		return along;
	}
	return way;
}

static bool is_walkable(const struct mover_walk *walk, vec3 normal)
{
	return vec3_dot(normal, walk->options->up) >= walk->options->slope_cosine;
}

/* Sweeps up, along and down; true, and the walker is moved, if that ends on walkable ground, higher and
 * farther by more than the skin. */
static bool step_up(struct mover_walk *walk, vec3 way)
{
	const struct mover_options *options = walk->options;
	struct cast_hit hit;
	pose at = walk->at;
	vec3 up = vec3_scale(options->up, options->step_height);
	vec3 level = vec3_mul_sub(way, options->up, vec3_dot(way, options->up));
	if (!(options->step_height > 0) || !(vec3_length(level) > 0))
		return false;
	double rise = cast_first(walk, at, up, &hit) ? free_part(walk, up, &hit) : 1;
	at.position = vec3_mul_add(at.position, up, rise);
	double part = cast_first(walk, at, level, &hit) ? free_part(walk, level, &hit) : 1;
	if (!(part * vec3_length(level) > options->skin))
		return false;
	at.position = vec3_mul_add(at.position, level, part);
	vec3 down = vec3_scale(up, -rise);
	if (!cast_first(walk, at, down, &hit) || !is_walkable(walk, hit.normal))
		return false;
	at.position = vec3_mul_add(at.position, down, free_part(walk, down, &hit));
	double climbed = vec3_dot(vec3_sub(at.position, walk->at.position), options->up);
	if (!(climbed > options->skin))
		return false;
	walk->at = at;
	walk->out->climbed += climbed;
	walk->out->left = vec3_scale(level, 1 - part);
	return true;
}

/* Moves along one straight segment; false if the displacement is used up. */
static bool advance_walker(struct mover_walk *walk)
{
	ASSERT(walk->out->iterations < MOVER_ITERATIONS_MAX);
	struct mover_result *out = walk->out;
	struct cast_hit hit;
	vec3 way = out->left;
	if (!(vec3_length(way) > walk->options->skin * 1e-3))
		return false;
	out->iterations++;
	if (!cast_first(walk, walk->at, way, &hit)) {
		walk->at.position = vec3_add(walk->at.position, way);
		out->left = vec3_zero();
		return false;
	}
	double part = free_part(walk, way, &hit);
	walk->at.position = vec3_mul_add(walk->at.position, way, part);
	out->left = vec3_scale(way, 1 - part);
	record_contact(walk, &hit);
	if (!is_walkable(walk, hit.normal) && step_up(walk, out->left))
		return true;
	if (walk->plane_count < MOVER_ITERATIONS_MAX)
		walk->planes[walk->plane_count++] = hit.normal;
	out->left = slide(walk, out->left);
	return true;
}

static void find_ground(struct mover_walk *walk)
{
	struct mover_result *out = walk->out;
	struct cast_hit hit;
	vec3 down = vec3_scale(walk->options->up, -4 * walk->options->skin);
	if (!cast_first(walk, walk->at, down, &hit) || !is_walkable(walk, hit.normal))
		return;
	out->grounded = true;
	out->ground = hit;
}

enum status placed_move(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose from, vec3 way,
			const struct mover_options *options, struct mover_result *out)
{
	struct mover_walk walk = { .placed = placed,
				   .count = count,
				   .shape = shape,
				   .options = options,
				   .at = from,
				   .out = out };
	*out = (struct mover_result){ .position = from.position, .left = way };
	if (shape->kind == SHAPE_PLANE || shape->kind == SHAPE_MESH)
		return STATUS_UNSUPPORTED;
	out->stuck = !push_out(&walk);
	uint32_t most = MIN_OF(options->iterations, (uint32_t)MOVER_ITERATIONS_MAX);
	while (!out->stuck && out->iterations < most && advance_walker(&walk))
		;
	find_ground(&walk);
	out->position = walk.at.position;
	ASSERT(out->iterations <= most);
	ASSERT(out->contact_count <= MOVER_CONTACTS_MAX);
	return STATUS_OK;
}
