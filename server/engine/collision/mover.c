/* mover.c: a walker's way: sweep, slide, step, stand.
 *
 *   while some of the way is left:
 *       sweep along it; go until `skin` before the first hit;
 *       remember the hit's plane; what is left of the way loses what runs into the planes met so far:
 *           one plane: the part along its normal; two: all but the part along their crease; three: all.
 *
 * A hit that is too steep to walk on is first tried as a step: up by the step's height, along, and down; the
 * step is taken when it ends on walkable ground, higher than before, and gets farther along.
 *
 * At the start and after each piece the walker may overlap something by rounding or because it was put
 * there: it is then moved out along the deepest contact's normal, a few times at most.
 *
 * What goes wrong: crevices narrower than the walker end the way early (`left` says so); overlaps that push
 * against each other end in `stuck`. No piece of the way is ever longer than what a sweep proved free.
 */
#include "server/engine/collision/placed.h"

enum { PUSHES_MAX = 8 };

struct walk {
	const struct placed_shape *placed;
	uint32_t count;
	const struct shape *shape;
	const struct mover_options *options;
	pose at;
	vec3 planes[MOVER_ITERATIONS_MAX];
	uint32_t plane_count;
	struct mover_result *out;
};

/* The first hit along `way`. */
static bool look(const struct walk *walk, pose from, vec3 way, struct cast_hit *hit)
{
	enum status status;
	return placed_cast(walk->placed, walk->count, walk->shape, from, way, hit, 1, &status) == 1;
}

/* How much of a way of this length may be gone before a hit, so that the skin is left. */
static double free_part(const struct walk *walk, vec3 way, const struct cast_hit *hit)
{
	double length = vec3_length(way), against = -vec3_dot(hit->normal, way);
	if (!(length > 0) || !(against > 0))
		return hit->fraction;
	return scalar_clamp(hit->fraction - walk->options->skin / against, 0, 1);
}

static void remember(struct walk *walk, const struct cast_hit *hit)
{
	struct mover_result *out = walk->out;
	if (out->contact_count < MOVER_CONTACTS_MAX)
		out->contacts[out->contact_count++] = *hit;
}

/* Out of what it overlaps; false when it cannot get out. */
static bool push_out(struct walk *walk)
{
	for (uint32_t i = 0; i < PUSHES_MAX; i++) {
		struct cast_hit hit;
		if (!look(walk, walk->at, vec3_zero(), &hit) || hit.fraction > 0)
			return true;
		if (!(hit.depth > 0))
			return i > 0;
		walk->at.position = vec3_mul_add(walk->at.position, hit.normal,
						 hit.depth + walk->options->skin);
		if (i == 0)
			remember(walk, &hit);
	}
	return false;
}

/* What of `way` does not run into the planes met so far. */
static vec3 slide(const struct walk *walk, vec3 way)
{
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
		/* The crease of the two; if a third is in the way, nothing is left. */
		vec3 crease = vec3_normalize(vec3_cross(n, walk->planes[k]));
		along = vec3_scale(crease, vec3_dot(crease, way));
		for (uint32_t m = 0; m < walk->plane_count; m++)
			if (m != i && m != k && vec3_dot(along, walk->planes[m]) < -1e-12)
				return vec3_zero();
		return along;
	}
	return way;
}

static bool walkable(const struct walk *walk, vec3 normal)
{
	return vec3_dot(normal, walk->options->up) >= walk->options->slope_cosine;
}

/* Up, along, down: true when that ends higher, on ground, and farther. */
static bool step_up(struct walk *walk, vec3 way)
{
	const struct mover_options *options = walk->options;
	struct cast_hit hit;
	pose at = walk->at;
	vec3 up = vec3_scale(options->up, options->step_height);
	vec3 level = vec3_mul_sub(way, options->up, vec3_dot(way, options->up));
	if (!(options->step_height > 0) || !(vec3_length(level) > 0))
		return false;
	double rise = look(walk, at, up, &hit) ? free_part(walk, up, &hit) : 1;
	at.position = vec3_mul_add(at.position, up, rise);
	double part = look(walk, at, level, &hit) ? free_part(walk, level, &hit) : 1;
	if (!(part * vec3_length(level) > options->skin))
		return false;
	at.position = vec3_mul_add(at.position, level, part);
	vec3 down = vec3_scale(up, -rise);
	if (!look(walk, at, down, &hit) || !walkable(walk, hit.normal))
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

/* One straight piece; false when the way is at its end. */
static bool go(struct walk *walk)
{
	struct mover_result *out = walk->out;
	struct cast_hit hit;
	vec3 way = out->left;
	if (!(vec3_length(way) > walk->options->skin * 1e-3))
		return false;
	out->iterations++;
	if (!look(walk, walk->at, way, &hit)) {
		walk->at.position = vec3_add(walk->at.position, way);
		out->left = vec3_zero();
		return false;
	}
	double part = free_part(walk, way, &hit);
	walk->at.position = vec3_mul_add(walk->at.position, way, part);
	out->left = vec3_scale(way, 1 - part);
	remember(walk, &hit);
	if (!walkable(walk, hit.normal) && step_up(walk, out->left))
		return true;
	if (walk->plane_count < MOVER_ITERATIONS_MAX)
		walk->planes[walk->plane_count++] = hit.normal;
	out->left = slide(walk, out->left);
	return true;
}

static void stand(struct walk *walk)
{
	struct mover_result *out = walk->out;
	struct cast_hit hit;
	vec3 down = vec3_scale(walk->options->up, -4 * walk->options->skin);
	if (!look(walk, walk->at, down, &hit) || !walkable(walk, hit.normal))
		return;
	out->grounded = true;
	out->ground = hit;
}

enum status placed_move(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose from, vec3 way,
			const struct mover_options *options, struct mover_result *out)
{
	struct walk walk = { .placed = placed,
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
	while (!out->stuck && out->iterations < most && go(&walk))
		;
	stand(&walk);
	out->position = walk.at.position;
	return STATUS_OK;
}
