/* continuous_mesh.c: ch1-3 A-19, extended to bodies that turn.
 *
 *   1. Bounding balls of both bodies, their centres in straight motion (G-33), exclude most pairs of bodies.
 *   2. Both trees are refitted around the whole motion (G-08) and walked together (G-14), which yields the
 *      triangles whose paths may cross. If there are more than PAIRS_MANY, the interval of time is halved
 *      and the earlier half is searched first; a hit there is the first of all.
 *   3. For each pair of triangles: if neither body turns, corners move straight and the cubics of G-30 give
 *      the time. Otherwise conservative advancement (app H) applies, because triangles are convex; it
 *      proves that they do not touch before the reported time. The book uses straight paths for
 *      turning triangles as well, which flattens a body that turns by 180°.
 *   4. Advancement is slow where surfaces glide past each other at more than the tolerance, but much nearer
 *      than they move in the interval. After ADVANCE_MAX steps the search continues in straight steps so
 *      short that corners leave their chords by at most a quarter of the tolerance.
 *
 * The interval is cut at the earliest hit so far, so later pairs cost less.
 */
#include "server/engine/collision/continuous_mesh.h"

#include "server/engine/collision/advance.h"
#include "server/engine/collision/continuous_sphere.h"
#include "server/engine/collision/continuous_triangle.h"
#include "server/engine/geometry/mesh.h"

enum {
	PAIRS_MANY = 256,    /* an interval with more pairs of triangles is halved */
	CUTS_MAX = 6,	     /* the shortest interval is 2^-6 of the motion */
	ADVANCE_MAX = 64,    /* steps of advancement for a pair of triangles */
	STRAIGHT_MAX = 4096, /* straight steps for a pair; bounds the work of extreme rotations */
};

struct motion_search {
	struct continuous_mesh *a, *b;
	struct motion motion_a, motion_b; /* of the interval, up to the best time so far */
	double tolerance;
	bool found;
	struct continuous_mesh_hit best;
	struct continuous_mesh_work work;
};

enum status continuous_mesh_init(struct continuous_mesh *self, const struct shape *shape)
{
	ASSERT(shape->kind == SHAPE_MESH);
	const struct mesh *mesh = shape->mesh;
	struct hierarchy_source source = { .vertices = mesh->vertices,
					   .triangles = (const uint32_t(*)[3])mesh->triangles,
					   .count = mesh->triangle_count };
	double square = 0;
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		square = scalar_max(square, vec3_length_squared(mesh->vertices[v]));
	self->shape = shape;
	self->reach = scalar_sqrt(square);
	return hierarchy_build(&self->tree, HIERARCHY_AABB, &source);
}

void continuous_mesh_release(struct continuous_mesh *self)
{
	hierarchy_release(&self->tree);
}

/* ---- time ------------------------------------------------------------------------------------- */

static void end_at(struct motion_search *search, double time)
{
	if (!(time > search->motion_a.t0 && time < search->motion_a.t1))
		return;
	search->motion_a = motion_part(&search->motion_a, search->motion_a.t0, time);
	search->motion_b = motion_part(&search->motion_b, search->motion_b.t0, time);
}

/* ---- two triangles ---------------------------------------------------------------------------- */

/* Stores the hit if it is earlier than the best, or at the same time and of smaller triangle numbers. */
static void offer(struct motion_search *search, const struct continuous_mesh_hit *hit)
{
	ASSERT(hit->triangle_a < search->a->shape->mesh->triangle_count);
	ASSERT(hit->triangle_b < search->b->shape->mesh->triangle_count);
	const struct continuous_mesh_hit *best = &search->best;
	bool sooner = !search->found || hit->time < best->time;
	bool beside = search->found && hit->time == best->time &&
		      (hit->triangle_a < best->triangle_a ||
		       (hit->triangle_a == best->triangle_a && hit->triangle_b < best->triangle_b));
	if (!sooner && !beside)
		return;
	search->best = *hit;
	search->found = true;
	end_at(search, hit->time);
}

static void ways_of(const struct mesh *mesh, uint32_t triangle, pose from, pose to,
		    struct continuous_point out[3])
{
	ASSERT(triangle < mesh->triangle_count);
	for (uint32_t k = 0; k < 3; k++) {
		vec3 p = mesh_corner(mesh, triangle, k);
		out[k] = (struct continuous_point){ pose_point(from, p), pose_point(to, p) };
	}
}

/* Tests triangles i and j with corners that move straight between the ends of both motions. True: a hit
 * was offered. */
static bool test_straight(struct motion_search *search, uint32_t i, uint32_t j,
			  const struct motion *motion_a, const struct motion *motion_b)
{
	struct continuous_point a[3], b[3];
	struct continuous_hit found;
	ways_of(search->a->shape->mesh, i, motion_a->from, motion_a->to, a);
	ways_of(search->b->shape->mesh, j, motion_b->from, motion_b->to, b);
	if (!continuous_triangle_triangle(a, b, &found))
		return false;
	double time = motion_a->t0 + found.time * (motion_a->t1 - motion_a->t0);
	struct continuous_mesh_hit hit = {
		.time = scalar_min(time, motion_a->t1),
		.triangle_a = i,
		.triangle_b = j,
		.point = found.point,
		.normal = vec3_negate(found.normal),
	};
	offer(search, &hit);
	return true;
}

/* Tests from time `start` to the end of the interval in straight steps. In a step that turns by α, corners
 * leave their chords by at most r α²/8 (hierarchy.c). */
static void test_in_steps(struct motion_search *search, uint32_t i, uint32_t j, double start)
{
	double end = search->motion_a.t1, time = end - start;
	double turn_a = search->motion_a.rate * time, turn_b = search->motion_b.rate * time;
	double bend =
		0.125 * (search->a->reach * turn_a * turn_a + search->b->reach * turn_b * turn_b);
	double wanted = scalar_ceil(scalar_sqrt(bend / (0.25 * search->tolerance)));
	double steps = scalar_clamp(wanted, 1, STRAIGHT_MAX);
	struct motion all_a = search->motion_a, all_b = search->motion_b;
	search->work.limits++;
	for (double k = 0; k < steps; k++) {
		double from = start + time * (k / steps), to = start + time * ((k + 1) / steps);
		to = k + 1 < steps ? to : end;
		if (!(to > from))
			continue;
		struct motion part_a = motion_part(&all_a, from, to),
			      part_b = motion_part(&all_b, from, to);
		if (test_straight(search, i, j, &part_a, &part_b))
			return;
	}
}

static void test_turning(struct motion_search *search, uint32_t i, uint32_t j)
{
	struct gjk_points room_a, room_b;
	struct advance_body a = advance_body_of(search->a->shape, i, &search->motion_a, &room_a);
	struct advance_body b = advance_body_of(search->b->shape, j, &search->motion_b, &room_b);
	struct advance_options options = { search->tolerance, ADVANCE_MAX };
	struct advance_result result;
	advance_convex(&a, &b, &options, NULL, &result);
	if (result.outcome == ADVANCE_APART)
		return;
	if (result.outcome == ADVANCE_LIMIT) {
		test_in_steps(search, i, j, result.time);
		return;
	}
	if (result.outcome == ADVANCE_OVERLAP) {
		struct motion still_a = search->motion_a, still_b = search->motion_b;
		still_a.to = still_a.from;
		still_b.to = still_b.from;
		if (test_straight(search, i, j, &still_a, &still_b))
			return;
	}
	struct continuous_mesh_hit hit = {
		.time = result.time,
		.triangle_a = i,
		.triangle_b = j,
		.point = vec3_lerp(result.point_a, result.point_b, 0.5),
		.normal = result.normal,
		.distance = result.distance,
	};
	offer(search, &hit);
}

/* ---- an interval ------------------------------------------------------------------------------ */

static void refit(struct motion_search *search)
{
	const struct mesh *a = search->a->shape->mesh, *b = search->b->shape->mesh;
	hierarchy_refit_motion(&search->a->tree, (const uint32_t(*)[3])a->triangles, a->vertices,
			       &search->motion_a);
	hierarchy_refit_motion(&search->b->tree, (const uint32_t(*)[3])b->triangles, b->vertices,
			       &search->motion_b);
	/* Surfaces within the tolerance count as touching. */
	for (uint32_t n = 0; n < search->a->tree.node_count; n++)
		search->a->tree.boxes[n] = aabb_grow(search->a->tree.boxes[n], search->tolerance);
}

static bool has_many(struct motion_search *search)
{
	struct hierarchy_walk walk;
	uint32_t i, j, count = 0;
	hierarchy_walk_pair(&walk, &search->a->tree, &search->b->tree, NULL);
	while (count <= PAIRS_MANY && hierarchy_walk_next(&walk, &i, &j))
		count++;
	return count > PAIRS_MANY;
}

static void test_pairs(struct motion_search *search)
{
	struct hierarchy_walk walk;
	uint32_t i, j;
	hierarchy_walk_pair(&walk, &search->a->tree, &search->b->tree, NULL);
	while (hierarchy_walk_next(&walk, &i, &j)) {
		search->work.pairs++;
		if (search->motion_a.rate == 0 && search->motion_b.rate == 0)
			test_straight(search, i, j, &search->motion_a, &search->motion_b);
		else
			test_turning(search, i, j);
	}
}

/* Intervals are on a stack, the earliest on top; each begins at the end of the one above it. */
static void search_intervals(struct motion_search *search)
{
	struct motion all_a = search->motion_a, all_b = search->motion_b;
	struct {
		double end;
		uint32_t cuts;
	} stack[CUTS_MAX + 1];
	double start = all_a.t0;
	uint32_t depth = 1;
	stack[0].end = all_a.t1;
	stack[0].cuts = 0;
	while (depth > 0 && !search->found) {
		double end = stack[depth - 1].end, middle = start + 0.5 * (end - start);
		uint32_t cuts = stack[depth - 1].cuts;
		search->work.intervals++;
		search->motion_a = motion_part(&all_a, start, end);
		search->motion_b = motion_part(&all_b, start, end);
		refit(search);
		if (cuts < CUTS_MAX && middle > start && middle < end && has_many(search)) {
			stack[depth - 1].cuts = cuts + 1;
			ASSERT(depth <= CUTS_MAX);
			stack[depth].end = middle;
			stack[depth++].cuts = cuts + 1;
			continue;
		}
		test_pairs(search);
		start = end;
		depth--;
	}
}

bool continuous_mesh_mesh(struct continuous_mesh *a, const struct motion *motion_a,
			  struct continuous_mesh *b, const struct motion *motion_b,
			  double tolerance, struct continuous_mesh_hit *hit,
			  struct continuous_mesh_work *work)
{
	struct motion_search search = {
		.a = a, .b = b, .motion_a = *motion_a, .motion_b = *motion_b, .tolerance = tolerance
	};
	ASSERT(motion_a->t0 == motion_b->t0 && motion_a->t1 == motion_b->t1);
	ASSERT(tolerance > 0);
	ASSERT(a != b); /* The search refits both trees. */
	struct ball around_a = { motion_a->from.position, a->reach + tolerance };
	struct ball around_b = { motion_b->from.position, b->reach };
	struct continuous_sphere_hit meet;
	if (continuous_sphere_sphere(
		    around_a, vec3_sub(motion_a->to.position, motion_a->from.position), around_b,
		    vec3_sub(motion_b->to.position, motion_b->from.position), &meet))
		search_intervals(&search);
	if (work != NULL)
		*work = search.work;
	if (search.found)
		*hit = search.best;
	return search.found;
}
