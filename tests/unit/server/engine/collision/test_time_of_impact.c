/* Time of impact of pieces of all kinds: against sampling of the motion, and known results. */
#include "server/engine/collision/time_of_impact.h"

#include <math.h>
#include <stdio.h>

#include "server/base/heap.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/placed.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

enum { KINDS = 9, FIELD = 7, SAMPLES = 150, ROUNDS = 6 };

static struct rng rng;
static struct shape *shapes[KINDS];
static const struct impact_options options = { .tolerance = 1e-4, .iterations_max = 64 };

/* Sphere, capsule, box, hull, plane, hilly ground, two boxes as parts, a torus as a field, a
 * polygon. */
static void make_shapes(void)
{
	static const vec3 BOXES[2][2] = { { { -0.6, 0, 0 }, { 0.3, 0.2, 0.2 } },
					  { { 0.5, 0.4, 0 }, { 0.2, 0.5, 0.3 } } };
	vec3 cloud[12], sides[5];
	rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 12; i++)
		cloud[i] = random_vector(&rng, 0.6);
	for (uint32_t i = 0; i < 5; i++)
		sides[i] = vec3_make(trig_cos(1.2 * i), trig_sin(1.2 * i), 0);
	struct shape *torus = make_torus(0.6, 0.2, 10, 6);
	shapes[0] = make_sphere(0.4);
	shapes[1] = make_capsule(0.5, 0.2);
	shapes[2] = make_box(0.5, 0.3, 0.2);
	shapes[3] = make_hull(cloud, 12);
	shapes[4] = make_plane(vec3_normalize(vec3_make(0.1, 1, -0.2)), 0.3);
	shapes[5] = make_terrain(6, 0.5, 0.4, 7);
	shapes[6] = make_boxes_solid(BOXES, 2);
	shapes[FIELD] = make_field_solid(torus->mesh, 24);
	shapes[8] = make_polygon(sides, 5, 0.1);
	shape_release(torus);
}

static void release_shapes(void)
{
	for (uint32_t k = 0; k < KINDS; k++)
		shape_release(shapes[k]);
}

static bool is_flat(uint32_t kind)
{
	return kind == 8;
}

static pose random_pose(double size, bool flat)
{
	pose at = { random_vector(&rng, size), random_rotation(&rng) };
	if (flat)
		at = (pose){ vec3_make(at.position.x, at.position.y, 0),
			     quat_from_axis_angle(vec3_axis(2), at.position.z) };
	return at;
}

/* A path past the other's place: straight or rotating, sometimes about a point off the shape's
 * origin. */
static void random_motion(bool flat, bool still, double from, struct motion *motion, pose *in_frame)
{
	pose start = random_pose(1, flat), end = random_pose(1, flat);
	start.position = vec3_add(start.position, vec3_make(from, flat ? 0 : 0.5 * from, 0));
	if (still || rng_below(&rng, 4) == 0)
		end.rotation = start.rotation;
	if (still)
		end.position = start.position;
	*in_frame = rng_below(&rng, 2) == 0 ? pose_identity() : random_pose(0.5, flat);
	ck_assert_int_eq(motion_between(start, 0.25, end, 1.5, motion), STATUS_OK);
}

static struct placed_shape placed_at(const struct impact_side *side, double t)
{
	return (struct placed_shape){ side->piece.shape,
				      pose_mul(motion_at(side->motion, t), side->in_frame), 1, 0 };
}

/* The distance of two triangle meshes, by their corners and edges. */
static double surface_distance(const struct impact_side *a, const struct impact_side *b, double t)
{
	struct placed_shape one = placed_at(a, t), two = placed_at(b, t);
	const struct shape *mesh_a = shape_exact(one.shape), *mesh_b = shape_exact(two.shape);
	pose b_in_a = pose_relative(one.at, two.at);
	mat3 rotation = mat3_from_quat(b_in_a.rotation);
	double least = SCALAR_MAX;
	for (uint32_t i = 0; i < mesh_a->mesh->triangle_count; i++)
		for (uint32_t k = 0; k < mesh_b->mesh->triangle_count; k++) {
			struct gjk_points room_a, room_b;
			struct gjk_core core_a = gjk_core_of(mesh_a, i, &room_a);
			struct gjk_core core_b = gjk_core_of(mesh_b, k, &room_b);
			struct gjk_result gap;
			if (gjk_apart_by(&core_a, &core_b, &rotation, b_in_a.position, least, NULL))
				continue;
			gjk_distance(&core_a, &core_b, &rotation, b_in_a.position, NULL, &gap);
			least = scalar_min(least, gap.distance);
		}
	return least;
}

/* The height of a surface's lowest vertex above a plane. */
static double surface_height(const struct placed_shape *surface, const struct placed_shape *plane)
{
	const struct mesh *mesh = shape_exact(surface->shape)->mesh;
	double least = SCALAR_MAX;
	for (uint32_t v = 0; v < mesh->vertex_count; v++) {
		vec3 p = pose_point(surface->at, mesh->vertices[v]);
		least = scalar_min(least, vec3_dot(plane->shape->plane.normal,
						   pose_inverse_point(plane->at, p)));
	}
	return least - plane->shape->plane.offset;
}

/* The distance of the whole sides at t; negative inside. */
static double distance_at(const struct impact_side *a, const struct impact_side *b, double t)
{
	if (a->piece.shape->kind == SHAPE_PLANE)
		return distance_at(b, a, t);
	if (shape_exact(a->piece.shape)->kind == SHAPE_MESH &&
	    shape_exact(b->piece.shape)->kind == SHAPE_MESH)
		return surface_distance(a, b, t);
	struct placed_shape one = placed_at(a, t), two = placed_at(b, t);
	struct closest_pair pair;
	if (two.shape->kind == SHAPE_PLANE && shape_exact(one.shape)->kind == SHAPE_MESH)
		return surface_height(&one, &two);
	return placed_closest(&one, 1, &two, 1, 1e3, &pair) ? pair.distance : 1e3;
}

/* Checks that the sides are apart before the reported time, and within the tolerance at it after a
 * hit. */
static void check_impact(const struct impact_side *a, const struct impact_side *b,
			 const struct impact_result *found)
{
	double start = a->motion->t0, end = a->motion->t1;
	double at = distance_at(a, b, found->time);
	ck_assert(found->time >= start && found->time <= end);
	if (found->outcome == IMPACT_OVERLAP) {
		ck_assert_double_eq(found->time, start);
		ck_assert_double_le(at, 1e-9);
		return;
	}
	for (uint32_t k = 0; k <= SAMPLES; k++)
		ck_assert_double_gt(distance_at(a, b, start + (found->time - start) * k / SAMPLES),
				    -1e-9);
	if (found->outcome == IMPACT_HIT) {
		ck_assert_double_le(at, options.tolerance * (1 + 1e-6));
		/* Other pieces may be nearer if they are separating. */
		ck_assert_double_le(at, found->distance + 1e-7);
		ck_assert_double_eq_tol(vec3_length(found->normal), 1, 1e-9);
		vec3 between = vec3_sub(found->point_b, found->point_a);
		ck_assert_double_le(
			vec3_distance(between, vec3_scale(found->normal, found->distance)), 1e-6);
	}
	if (found->outcome == IMPACT_LIMIT)
		ck_assert_uint_gt(found->limits, 0);
}

static bool both_surfaces(uint32_t i, uint32_t k)
{
	return (i == 5 || i == FIELD) && (k == 5 || k == FIELD);
}

START_TEST(sides_are_apart_before_the_reported_time_and_within_tolerance_at_it)
{
	uint32_t outcomes[4] = { 0 };
	for (uint32_t i = 0; i < KINDS; i++)
		for (uint32_t k = 0; k < KINDS; k++) {
			if (is_flat(i) != is_flat(k) || (i == 4 && k == 4))
				continue;
			for (uint32_t round = 0; round < (both_surfaces(i, k) ? 2 : ROUNDS);
			     round++) {
				struct motion motion_a, motion_b;
				struct impact_side a = { .piece = { shapes[i], IMPACT_WHOLE },
							 .motion = &motion_a };
				struct impact_side b = { .piece = { shapes[k], IMPACT_WHOLE },
							 .motion = &motion_b };
				struct impact_result found, back;
				/* Ground is static in two of three rounds. */
				random_motion(is_flat(i), i == 4 && round % 3 != 0, 2, &motion_a,
					      &a.in_frame);
				random_motion(is_flat(k), k == 5 && round % 3 != 0, -1, &motion_b,
					      &b.in_frame);
				ck_assert_int_eq(time_of_impact(&a, &b, &options, &found),
						 STATUS_OK);
				ck_assert_int_eq(time_of_impact(&b, &a, &options, &back),
						 STATUS_OK);
				outcomes[found.outcome]++;
				if (both_surfaces(i, k) && found.outcome == IMPACT_OVERLAP)
					continue;
				check_impact(&a, &b, &found);
				check_impact(&b, &a, &back);
			}
		}
	/* Apart, hit and overlap all occurred. */
	printf("# apart %u, hit %u, overlap %u, limit %u\n", outcomes[0], outcomes[1], outcomes[2],
	       outcomes[3]);
	ck_assert_uint_gt(outcomes[IMPACT_APART], 20);
	ck_assert_uint_gt(outcomes[IMPACT_HIT], 20);
	ck_assert_uint_gt(outcomes[IMPACT_OVERLAP], 0);
}
END_TEST

static struct motion straight(vec3 from, vec3 to)
{
	struct motion motion;
	pose start = { from, quat_identity() }, end = { to, quat_identity() };
	ck_assert_int_eq(motion_between(start, 0, end, 1, &motion), STATUS_OK);
	return motion;
}

static struct motion turning(vec3 axis, double angle)
{
	struct motion motion;
	pose end = { vec3_zero(), quat_from_axis_angle(axis, angle) };
	ck_assert_int_eq(motion_between(pose_identity(), 0, end, 1, &motion), STATUS_OK);
	return motion;
}

static struct impact_result find_impact(const struct shape *a, const struct motion *motion_a,
					const struct shape *b, const struct motion *motion_b)
{
	struct impact_side one = { { a, IMPACT_WHOLE }, pose_identity(), motion_a };
	struct impact_side two = { { b, IMPACT_WHOLE }, pose_identity(), motion_b };
	struct impact_options exact = { .tolerance = 1e-9, .iterations_max = 64 };
	struct impact_result found;
	ck_assert_int_eq(time_of_impact(&one, &two, &exact, &found), STATUS_OK);
	return found;
}

START_TEST(balls_hit_floors_walls_and_balls_at_the_analytic_time)
{
	struct shape *ball = make_sphere(0.25), *floor = make_plane(vec3_axis(1), 0);
	struct shape *wall = make_box(0.01, 5, 5), *ground = make_terrain(4, 1, 0, 1);
	struct motion falls = straight(vec3_make(0.1, 3, 0.2), vec3_make(0.1, -1, 0.2));
	struct motion rests = straight(vec3_zero(), vec3_zero());
	/* 3 − 4 t = 0.25 */
	struct impact_result found = find_impact(ball, &falls, floor, &rests);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time, 2.75 / 4, 1e-9);
	ck_assert_double_le(vec3_distance(found.normal, vec3_make(0, -1, 0)), 1e-12);
	found = find_impact(floor, &rests, ball, &falls);
	ck_assert_double_eq_tol(found.time, 2.75 / 4, 1e-9);
	ck_assert_double_le(vec3_distance(found.normal, vec3_make(0, 1, 0)), 1e-12);
	/* A flat mesh is hit like a floor. */
	found = find_impact(ball, &falls, ground, &rests);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time, 2.75 / 4, 1e-9);
	/* A ball of 0.5 m hits a wall of 2 cm from a distance of 1 km at 2 km/s. */
	struct motion flies = straight(vec3_make(-1000, 0.3, 0), vec3_make(1000, 0.3, 0));
	found = find_impact(ball, &flies, wall, &rests);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time, (1000 - 0.26) / 2000, 1e-9);
	/* Two moving balls: the quadratic needs one step. */
	struct motion left = straight(vec3_make(4, 0.3, 0), vec3_make(-4, 0.3, 0));
	struct motion right = straight(vec3_make(-4, 0, 0), vec3_make(4, 0, 0));
	found = find_impact(ball, &right, ball, &left);
	double along = sqrt(0.25 - 0.09);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time, (8 - along) / 16, 1e-9);
	ck_assert_uint_eq(found.iterations, 1);
	/* The balls miss by less than the tolerance; the quadratic gives APART instead of a
	 * limit. */
	left = straight(vec3_make(4, 0.5000001, 0), vec3_make(-4, 0.5000001, 0));
	found = find_impact(ball, &right, ball, &left);
	ck_assert_int_eq(found.outcome, IMPACT_APART);
	shape_release(ball);
	shape_release(floor);
	shape_release(wall);
	shape_release(ground);
}
END_TEST

START_TEST(rotating_bodies_are_hit_at_the_analytic_angle)
{
	struct shape *rod = make_capsule(1, 0.05), *floor = make_plane(vec3_axis(1), 0);
	struct shape *ball = make_sphere(0.1);
	struct motion turns = turning(vec3_axis(2), 1.4),
		      rests = straight(vec3_zero(), vec3_zero());
	/* A ball on an arm of 1 m rotates about the mass centre 0.5 m above the floor: it starts
	 * level and hits the floor where sin = 0.4. */
	struct impact_side carried = { { ball, 0 },
				       { vec3_make(-1, 0, 0), quat_identity() },
				       &turns };
	struct impact_side ground = { { floor, 0 },
				      { vec3_make(0, -0.5, 0), quat_identity() },
				      &rests };
	struct impact_options exact = { .tolerance = 1e-9, .iterations_max = 200 };
	struct impact_result found;
	ck_assert_int_eq(time_of_impact(&carried, &ground, &exact, &found), STATUS_OK);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time * 1.4, asin(0.4), 1e-8);
	/* The floor rotates up against a ball 1 m out and 0.5 m above: a hit where the gap is the
	 * radius. */
	struct impact_side lifted = { { floor, 0 }, pose_identity(), &turns };
	struct impact_side waits = { { ball, 0 },
				     { vec3_make(1, 0.5, 0), quat_identity() },
				     &rests };
	ck_assert_int_eq(time_of_impact(&waits, &lifted, &exact, &found), STATUS_OK);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	double angle = found.time * 1.4;
	ck_assert_double_eq_tol(-trig_sin(angle) + 0.5 * trig_cos(angle), 0.1, 1e-8);
	/* An upright rod falls onto a box and hits its corner at the computed angle. */
	struct shape *box = make_box(0.1, 0.1, 0.1);
	struct motion stands = straight(vec3_make(-0.8, 0, 0), vec3_make(-0.8, 0, 0));
	found = find_impact(rod, &turns, box, &stands);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	/* The corner (−0.7, 0.1) is 0.05 m from the axis, whose direction at angle θ is (−sin θ,
	 * cos θ). */
	angle = found.time * 1.4;
	double off = fabs(-0.7 * trig_cos(angle) + 0.1 * trig_sin(angle));
	ck_assert_double_le(fabs(off - 0.05), 1e-8);
	shape_release(rod);
	shape_release(floor);
	shape_release(ball);
	shape_release(box);
}
END_TEST

START_TEST(a_body_inside_a_field_overlaps_without_crossing_surfaces)
{
	struct shape *cube = make_unit_cube(), *small = make_sphere(0.1);
	struct shape *field = make_field_solid(cube->mesh, 16);
	struct motion rests = straight(vec3_zero(), vec3_zero());
	struct motion leaves = straight(vec3_make(0.05, 0, 0), vec3_make(3, 0, 0));
	ck_assert_int_eq(find_impact(small, &leaves, field, &rests).outcome, IMPACT_OVERLAP);
	ck_assert_int_eq(find_impact(field, &rests, small, &leaves).outcome, IMPACT_OVERLAP);
	struct motion comes = straight(vec3_make(3, 0, 0), vec3_make(0.05, 0, 0));
	struct impact_result found = find_impact(small, &comes, field, &rests);
	ck_assert_int_eq(found.outcome, IMPACT_HIT);
	ck_assert_double_eq_tol(found.time, 2.4 / 2.95, 1e-8);
	shape_release(cube);
	shape_release(small);
	shape_release(field);
}
END_TEST

START_TEST(a_single_piece_is_searched_without_the_others)
{
	struct motion rests = straight(vec3_zero(), vec3_zero());
	struct motion falls = straight(vec3_make(0, 3, 0), vec3_make(0, -3, 0));
	for (uint32_t k = 5; k <= 6; k++) {
		const struct shape *shape = shapes[k];
		struct impact_side ball = { { shapes[0], 0 }, pose_identity(), &falls };
		struct impact_side whole = { { shape, IMPACT_WHOLE }, pose_identity(), &rests };
		struct impact_result all, one;
		double least = 2;
		ck_assert_int_eq(time_of_impact(&ball, &whole, &options, &all), STATUS_OK);
		for (uint32_t child = 0; child < shape_piece_count(shape); child++) {
			whole.piece.child = child;
			ck_assert_int_eq(time_of_impact(&ball, &whole, &options, &one), STATUS_OK);
			if (one.outcome == IMPACT_HIT)
				least = scalar_min(least, one.time);
			if (child == all.child_b)
				ck_assert_double_eq_tol(one.time, all.time, 1e-4);
		}
		ck_assert_int_eq(all.outcome, IMPACT_HIT);
		ck_assert_double_eq_tol(all.time, least, 1e-4);
	}
}
END_TEST

/* A body whose centre is nearer to a wall than any ball that could be searched stops if it goes on towards
 * the wall, and may leave it. */
START_TEST(a_centre_at_a_wall_does_not_creep_through_it)
{
	struct shape *rod = make_box(0.02, 1, 0.02), *wall = make_box(0.05, 2, 2);
	struct shape *plane = make_plane(vec3_make(-1, 0, 0), 0.05);
	struct impact_options cut = { .tolerance = 5e-4, .iterations_max = 25, .core_a = 0.01 };
	double x = -0.05 - 4e-7;
	for (uint32_t k = 0; k < 4; k++) {
		bool enters = k % 2 == 0;
		struct motion moves =
			straight(vec3_make(x, 0, 0), vec3_make(enters ? x + 1e-6 : x - 1, 0, 0));
		struct motion still = straight(vec3_zero(), vec3_zero());
		struct impact_side a = { { rod, IMPACT_WHOLE }, pose_identity(), &moves };
		struct impact_side b = { { k < 2 ? wall : plane, IMPACT_WHOLE },
					 pose_identity(),
					 &still };
		struct impact_result found;
		ck_assert_int_eq(time_of_impact(&a, &b, &cut, &found), STATUS_OK);
		ck_assert_int_eq(found.outcome, enters ? IMPACT_HIT : IMPACT_APART);
		if (!enters)
			continue;
		ck_assert_double_eq(found.time, moves.t0);
		ck_assert(found.core);
		ck_assert_double_eq_tol(found.normal.x, 1, 1e-9);
	}
	shape_release(rod);
	shape_release(wall);
	shape_release(plane);
}
END_TEST

START_TEST(unsupported_pairs_are_refused_and_failed_allocations_reported)
{
	struct motion rests = straight(vec3_zero(), vec3_zero());
	struct impact_side plane = { { shapes[4], 0 }, pose_identity(), &rests };
	struct impact_side flat = { { shapes[8], 0 }, pose_identity(), &rests };
	struct impact_side field = { { shapes[FIELD], 0 }, pose_identity(), &rests };
	struct impact_result found;
	ck_assert_int_eq(time_of_impact(&plane, &plane, &options, &found), STATUS_UNSUPPORTED);
	ck_assert_int_eq(time_of_impact(&plane, &flat, &options, &found), STATUS_UNSUPPORTED);
	ck_assert_int_eq(time_of_impact(&flat, &field, &options, &found), STATUS_UNSUPPORTED);
	int64_t live = heap_live();
	for (uint64_t n = 1;; n++) {
		heap_fail_at(n);
		enum status status = time_of_impact(&field, &field, &options, &found);
		bool pending = heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(heap_live(), live);
		if (pending) {
			ck_assert_int_eq(status, STATUS_OK);
			ck_assert_uint_gt(n, 2);
			break;
		}
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("time_of_impact");
	TCase *tests = tcase_create("time of impact");
	tcase_add_checked_fixture(tests, make_shapes, release_shapes);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, sides_are_apart_before_the_reported_time_and_within_tolerance_at_it);
	tcase_add_test(tests, balls_hit_floors_walls_and_balls_at_the_analytic_time);
	tcase_add_test(tests, rotating_bodies_are_hit_at_the_analytic_angle);
	tcase_add_test(tests, a_body_inside_a_field_overlaps_without_crossing_surfaces);
	tcase_add_test(tests, a_single_piece_is_searched_without_the_others);
	tcase_add_test(tests, a_centre_at_a_wall_does_not_creep_through_it);
	tcase_add_test(tests, unsupported_pairs_are_refused_and_failed_allocations_reported);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
