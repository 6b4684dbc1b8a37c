/* Manifolds of every pair of kinds: symmetry, invariance, caches, positions, features. */
#include "server/engine/collision/manifold.h"

#include <string.h>

#include "server/engine/collision/gjk.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#define MARGIN 0.02
/* Twice the slop by which a reference may be worse than the best axis. */
#define SLOP 2e-3
/* The distance by which a point may miss its pieces: half a slop across each edge of a face, more
 * at sharp corners, and beyond the ends of edges that are still apart. */
#define PLACE 1e-2

enum { SPHERE, CAPSULE, BOX, BEAM, HULL, ROUND, SOLIDS, PLANE = SOLIDS, SHAPES };

static struct rng rng;
static struct shape *shapes[SHAPES];

static struct shape *random_hull(uint32_t count, double size)
{
	vec3 points[64];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(random_direction(&rng), rng_range(&rng, 0.8, 1) * size);
	return make_hull(points, count);
}

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	shapes[SPHERE] = make_sphere(0.4);
	shapes[CAPSULE] = make_capsule(0.4, 0.2);
	shapes[BOX] = make_box(0.5, 0.5, 0.5);
	shapes[BEAM] = make_box(0.2, 0.7, 0.3);
	shapes[HULL] = random_hull(12, 0.7);
	shapes[ROUND] = random_hull(50, 0.6);
	shapes[PLANE] = make_plane(vec3_normalize(vec3_make(1, 2, -1)), 0.3);
}

static void tear_down(void)
{
	for (int k = 0; k < SHAPES; k++)
		shape_release(shapes[k]);
}

static void collide(const struct shape *a, const struct shape *b, const pose *at,
		    struct pair_cache *cache, struct manifold *out)
{
	struct pair_cache none = { 0 };
	memset(out, 0xa5, sizeof *out);
	collide_pieces((struct piece){ a, 0 }, (struct piece){ b, 0 }, at, MARGIN,
		       cache == NULL ? &none : cache, out);
}

static double deepest(const struct manifold *m)
{
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < m->count; k++)
		least = scalar_min(least, m->points[k].separation);
	return least;
}

/* A pose in which two solids are near or overlap slightly. */
static pose near_pose(const struct shape *a, const struct shape *b)
{
	struct gjk_points room_a, room_b;
	struct gjk_core core_a = gjk_core_of(a, 0, &room_a), core_b = gjk_core_of(b, 0, &room_b);
	pose at = pose_make(vec3_scale(random_direction(&rng), 5), awkward_rotation(&rng));
	mat3 rotation = mat3_from_quat(at.rotation);
	struct gjk_result near;
	gjk_distance(&core_a, &core_b, &rotation, at.position, NULL, &near);
	double gap = near.distance - core_a.radius - core_b.radius;
	double depth = rng_range(&rng, -1.5 * MARGIN, rng_below(&rng, 4) == 0 ? 0.4 : 0.02);
	at.position = vec3_mul_sub(at.position, near.normal, gap + depth);
	return at;
}

static double surface_distance(const struct shape *shape, vec3 p)
{
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return vec3_length(p) - shape->sphere.radius;
	case SHAPE_CAPSULE: {
		double h = shape->capsule.half_length;
		vec3 q = vec3_make(0, scalar_clamp(p.y, -h, h), 0);
		return vec3_distance(p, q) - shape->capsule.radius;
	}
	case SHAPE_PLANE:
		return vec3_dot(shape->plane.normal, p) - shape->plane.offset;
	default:
		return oracle_point_distance(shape->hull, p);
	}
}

/* The two ends of each point lie half the separation to either side along the normal. Both lie on
 * their pieces, or inside for corners of a body that the other's prism cuts. */
static void check_points(const struct shape *a, const struct shape *b, const pose *at,
			 const struct manifold *m)
{
	for (uint32_t k = 0; k < m->count; k++) {
		double half = 0.5 * m->points[k].separation;
		vec3 on_a = vec3_mul_sub(m->points[k].point, m->normal, half);
		vec3 on_b = vec3_mul_add(m->points[k].point, m->normal, half);
		ck_assert_double_le(surface_distance(a, on_a), PLACE);
		ck_assert_double_le(surface_distance(b, pose_inverse_point(*at, on_b)), PLACE);
		ck_assert_double_le(m->points[k].separation, MARGIN);
		for (uint32_t other = 0; other < k; other++)
			ck_assert_uint_ne(m->points[k].feature, m->points[other].feature);
	}
	if (m->count > 0)
		ck_assert_double_eq_tol(vec3_length(m->normal), 1, 1e-9);
	ck_assert_uint_le(m->count, MANIFOLD_POINTS_MAX);
}

START_TEST(points_lie_on_both_pieces_and_have_distinct_features)
{
	uint32_t touching = 0;
	for (int k = 0; k < 12000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SOLIDS)];
		struct manifold m;
		pose at = near_pose(a, b);
		collide(a, b, &at, NULL, &m);
		check_points(a, b, &at, &m);
		touching += m.count > 0;
	}
	ck_assert_uint_gt(touching, 5000);
}
END_TEST

START_TEST(contacts_are_reported_within_the_margin_and_not_beyond)
{
	for (int k = 0; k < 12000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SOLIDS)];
		struct manifold m;
		struct gjk_result near;
		struct gjk_points room_a, room_b;
		struct gjk_core core_a = gjk_core_of(a, 0, &room_a);
		struct gjk_core core_b = gjk_core_of(b, 0, &room_b);
		pose at = near_pose(a, b);
		mat3 rotation = mat3_from_quat(at.rotation);
		gjk_distance(&core_a, &core_b, &rotation, at.position, NULL, &near);
		double gap = near.distance - core_a.radius - core_b.radius;
		collide(a, b, &at, NULL, &m);
		if (gap > MARGIN + 1e-9) /* clipping has a slop beyond the edges */
			ck_assert(m.count == 0 || gap < MARGIN + 2 * SLOP);
		else if (gap < MARGIN - 1e-9)
			ck_assert_uint_gt(m.count, 0);
		if (m.count > 0 && gap > 1e-9)
			ck_assert_double_eq_tol(deepest(&m), gap, 2 * SLOP);
	}
}
END_TEST

START_TEST(exchanging_the_pieces_mirrors_the_manifold)
{
	for (int k = 0; k < 12000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SHAPES)];
		pose at = b->kind == SHAPE_PLANE
				  ? pose_make(random_vector(&rng, 0.8), awkward_rotation(&rng))
				  : near_pose(a, b);
		pose back = pose_inverse(at);
		struct manifold m, n;
		collide(a, b, &at, NULL, &m);
		collide(b, a, &back, NULL, &n);
		if ((m.count == 0) != (n.count == 0)) {
			/* Only a contact near the margin may be missing in one order. */
			ck_assert_double_ge(deepest(m.count ? &m : &n), MARGIN - SLOP);
			continue;
		}
		if (m.count == 0)
			continue;
		ck_assert_double_eq_tol(deepest(&m), deepest(&n), SLOP);
		if (a->kind != b->kind && a->kind != SHAPE_HULL && b->kind != SHAPE_HULL) {
			/* One function serves both orders, so the points are the same. */
			ck_assert_uint_eq(m.count, n.count);
			vec3 turned = vec3_negate(pose_vector(at, n.normal));
			ck_assert_double_le(vec3_distance(turned, m.normal), 1e-7);
			for (uint32_t i = 0; i < m.count; i++) {
				vec3 point = pose_point(at, n.points[i].point);
				ck_assert_double_le(vec3_distance(point, m.points[i].point), 1e-7);
			}
		}
	}
}
END_TEST

START_TEST(moving_both_pieces_together_does_not_change_the_manifold)
{
	for (int k = 0; k < 6000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SOLIDS)];
		pose pb = near_pose(a, b);
		pose pa = pose_make(random_vector(&rng, 100), random_rotation(&rng));
		pose moved = pose_relative(pa, pose_mul(pa, pb));
		struct manifold m, n;
		collide(a, b, &pb, NULL, &m);
		collide(a, b, &moved, NULL, &n);
		if (m.count == 0 || n.count == 0)
			ck_assert_double_ge(scalar_min(deepest(&m), deepest(&n)), MARGIN - SLOP);
		else
			ck_assert_double_eq_tol(deepest(&m), deepest(&n), SLOP);
	}
}
END_TEST

START_TEST(a_manifold_with_a_cache_agrees_with_one_without)
{
	for (int k = 0; k < 1200; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SOLIDS)];
		pose at = near_pose(a, b);
		struct pair_cache cache = { 0 };
		double drift = k % 2 ? 1e-4 : 1e-2;
		for (int step = 0; step < 12; step++) {
			struct manifold cold, warm;
			vec3 turn = random_vector(&rng, drift);
			at.position = vec3_add(at.position, random_vector(&rng, drift));
			at.rotation = quat_normalize(
				quat_mul(quat_make(1, turn.x, turn.y, turn.z), at.rotation));
			collide(a, b, &at, NULL, &cold);
			collide(a, b, &at, &cache, &warm);
			check_points(a, b, &at, &warm);
			if (cold.count == 0 || warm.count == 0)
				ck_assert_double_ge(scalar_min(deepest(&cold), deepest(&warm)),
						    MARGIN - SLOP);
			else
				ck_assert_double_eq_tol(deepest(&cold), deepest(&warm), SLOP);
		}
	}
}
END_TEST

START_TEST(any_cache_contents_give_a_valid_manifold)
{
	for (int k = 0; k < 6000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SOLIDS)];
		pose at = near_pose(a, b);
		struct pair_cache cache = { (uint8_t)rng_below(&rng, 7),
					    { 0 },
					    (uint16_t)rng_below(&rng, k % 2 ? 65536 : 12),
					    (uint16_t)rng_below(&rng, k % 2 ? 65536 : 12) };
		struct manifold m, cold;
		collide(a, b, &at, NULL, &cold);
		collide(a, b, &at, &cache, &m);
		check_points(a, b, &at, &m);
		if (cold.count > 0 && m.count > 0)
			ck_assert_double_eq_tol(deepest(&cold), deepest(&m), SLOP);
	}
}
END_TEST

START_TEST(the_same_query_twice_gives_the_same_bits)
{
	for (int k = 0; k < 3000; k++) {
		const struct shape *a = shapes[rng_below(&rng, SOLIDS)];
		const struct shape *b = shapes[rng_below(&rng, SHAPES)];
		pose at = b->kind == SHAPE_PLANE
				  ? pose_make(random_vector(&rng, 0.8), awkward_rotation(&rng))
				  : near_pose(a, b);
		struct pair_cache one = { 0 }, other = { 0 };
		struct manifold m, n;
		collide(a, b, &at, &one, &m);
		collide(a, b, &at, &other, &n);
		ck_assert_mem_eq(&one, &other, sizeof one);
		ck_assert_uint_eq(m.count, n.count);
		ck_assert(m.count == 0 || vec3_equal(m.normal, n.normal));
		for (uint32_t i = 0; i < m.count; i++) {
			ck_assert(vec3_equal(m.points[i].point, n.points[i].point));
			ck_assert_double_eq(m.points[i].separation, n.points[i].separation);
			ck_assert_uint_eq(m.points[i].feature, n.points[i].feature);
		}
	}
}
END_TEST

/* ---- stacks ----------------------------------------------------------------------------------- */

static void check_stack(const struct shape *a, const struct shape *b, vec3 offset, double turn)
{
	struct pair_cache cache = { 0 };
	uint32_t features[4] = { 0 };
	for (int step = 0; step < 200; step++) {
		vec3 jitter = random_vector(&rng, 2e-5), tilt = random_vector(&rng, 2e-5);
		pose at = pose_make(vec3_add(offset, jitter),
				    quat_normalize(quat_make(1, tilt.x, turn + tilt.y, tilt.z)));
		struct manifold m;
		collide(a, b, &at, &cache, &m);
		ck_assert_uint_eq(m.count, 4);
		ck_assert_double_ge(m.normal.y, 1 - 1e-8);
		for (uint32_t k = 0; k < 4; k++) {
			if (step == 0)
				features[k] = m.points[k].feature;
			ck_assert_uint_eq(m.points[k].feature, features[k]);
			ck_assert_double_eq_tol(m.points[k].separation, 0, 2e-4);
		}
	}
}

START_TEST(stacked_boxes_touch_in_four_points_with_stable_features)
{
	const struct shape *box = shapes[BOX], *beam = shapes[BEAM];
	check_stack(box, box, vec3_make(0, 1, 0), 0);	/* exactly on top */
	check_stack(box, box, vec3_make(0.5, 1, 0), 0); /* half over, as in a pyramid */
	check_stack(box, box, vec3_make(0.2, 1, -0.3), 0);
	check_stack(beam, box, vec3_make(0, 1.2, 0), 0);     /* wider above */
	check_stack(box, beam, vec3_make(0.1, 1.2, 0), 0.1); /* narrower, turned */
	check_stack(box, box, vec3_make(0, 1, 0), 0.2);	     /* eight corners, four kept */
}
END_TEST

START_TEST(a_hull_of_a_box_has_the_four_points_of_the_box)
{
	vec3 corners[8];
	for (int k = 0; k < 8; k++)
		corners[k] = vec3_make(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5);
	struct shape *hull = make_hull(corners, 8);
	check_stack(hull, hull, vec3_make(0, 1, 0), 0);
	check_stack(shapes[BOX], hull, vec3_make(0.5, 1, 0), 0);
	check_stack(hull, shapes[BOX], vec3_make(0.2, 1, -0.3), 0.1);
	for (int k = 0; k < 3000; k++) {
		pose at = near_pose(hull, shapes[BOX]);
		struct manifold m, n;
		collide(shapes[BOX], shapes[BOX], &at, NULL, &m);
		collide(hull, shapes[BOX], &at, NULL, &n);
		if (m.count == 0 || n.count == 0)
			ck_assert_double_ge(scalar_min(deepest(&m), deepest(&n)), MARGIN - SLOP);
		else
			ck_assert_double_eq_tol(deepest(&m), deepest(&n), SLOP);
	}
	shape_release(hull);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/manifold");
	TCase *tcase = tcase_create("manifold");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, points_lie_on_both_pieces_and_have_distinct_features);
	tcase_add_test(tcase, contacts_are_reported_within_the_margin_and_not_beyond);
	tcase_add_test(tcase, exchanging_the_pieces_mirrors_the_manifold);
	tcase_add_test(tcase, moving_both_pieces_together_does_not_change_the_manifold);
	tcase_add_test(tcase, a_manifold_with_a_cache_agrees_with_one_without);
	tcase_add_test(tcase, any_cache_contents_give_a_valid_manifold);
	tcase_add_test(tcase, the_same_query_twice_gives_the_same_bits);
	tcase_add_test(tcase, stacked_boxes_touch_in_four_points_with_stable_features);
	tcase_add_test(tcase, a_hull_of_a_box_has_the_four_points_of_the_box);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
