/* Casts, nearest points, movers and regions over placed shapes, against closed forms and against
 * each other. */
#include "server/engine/collision/placed.h"

#include "server/base/rng.h"
#include "server/engine/collision/query.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"

#include <stdlib.h>

static struct rng rng;

static vec3 draw(double size)
{
	vec3 p;
	p.x = rng_range(&rng, -size, size);
	p.y = rng_range(&rng, -size, size);
	p.z = rng_range(&rng, -size, size);
	return p;
}

static quat draw_rotation(void)
{
	quat q;
	q.w = rng_range(&rng, -1, 1);
	q.x = rng_range(&rng, -1, 1);
	q.y = rng_range(&rng, -1, 1);
	q.z = rng_range(&rng, 0.2, 1);
	return quat_normalize(q);
}

static pose at(double x, double y, double z)
{
	return pose_make(vec3_make(x, y, z), quat_identity());
}

static struct placed_shape place(const struct shape *shape, pose where, uint32_t body)
{
	return (struct placed_shape){ shape, where, body, 0 };
}

START_TEST(a_ball_cast_at_balls_hits_at_the_root_of_the_quadratic)
{
	struct shape *ball = make_sphere(0.5), *small = make_sphere(0.25);
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 300; run++) {
		struct placed_shape still = place(ball, at(0, 0, 0), 7);
		vec3 from = vec3_scale(vec3_normalize(draw(1)), rng_range(&rng, 0.9, 4));
		vec3 way = vec3_sub(draw(1), from);
		struct cast_hit hit;
		enum status status;
		uint32_t count = placed_cast(&still, 1, small, pose_make(from, draw_rotation()),
					     way, &hit, 1, &status);
		double a = vec3_dot(way, way), b = vec3_dot(from, way);
		double c = vec3_dot(from, from) - 0.5625, disc = b * b - a * c;
		double root = disc > 0 ? (-b - scalar_sqrt(disc)) / a : 2;
		ck_assert_int_eq(status, STATUS_OK);
		if (scalar_abs(disc) < 1e-4 || scalar_abs(root - 1) < 1e-4)
			continue;
		ck_assert_uint_eq(count, root >= 0 && root <= 1);
		if (count == 0)
			continue;
		/* The hit is never later than the exact time, and earlier by at most what the
		 * sweep's distance tolerance of 1e-6 m allows. */
		ck_assert_double_le(hit.fraction, root + 1e-12);
		ck_assert_double_ge(hit.fraction, root - 1e-6 * 10 / scalar_sqrt(disc));
		ck_assert_uint_eq(hit.body, 7);
		ck_assert_double_eq_tol(vec3_length(hit.point), 0.5, 1e-6);
		ck_assert_double_eq_tol(vec3_dot(hit.normal, vec3_normalize(hit.point)), 1, 1e-9);
	}
	shape_release(ball);
	shape_release(small);
}
END_TEST

START_TEST(casts_of_every_kind_stop_just_before_the_body_they_hit)
{
	const vec3 boxes[2][2] = { { { 1, 0, 0 }, { 0.3, 0.4, 0.5 } },
				   { { -1, 0, 0 }, { 0.2, 0.2, 0.9 } } };
	struct shape *movers[] = { make_sphere(0.4), make_capsule(0.5, 0.2),
				   make_box(0.3, 0.4, 0.5), make_boxes_solid(boxes, 2) };
	struct shape *stills[] = { make_box(1, 0.5, 0.7), make_capsule(0.8, 0.3),
				   make_plane(vec3_make(0, 1, 0), 0), make_terrain(8, 0.7, 0.4, 3),
				   make_boxes_solid(boxes, 2) };
	rng = rng_seeded(check_seed());
	uint32_t met = 0;
	for (uint32_t run = 0; run < 800; run++) {
		const struct shape *moving = movers[run % 4], *still = stills[run % 5];
		pose rest = pose_make(draw(0.5), draw_rotation());
		if (still->kind == SHAPE_PLANE || still->kind == SHAPE_MESH)
			rest.rotation = quat_identity();
		struct placed_shape placed = place(still, rest, 1);
		pose from = pose_make(vec3_add(draw(2), vec3_make(0, 4, 0)), draw_rotation());
		vec3 way = vec3_scale(vec3_sub(draw(1), from.position), 1.2);
		struct cast_hit hit;
		enum status status;
		if (placed_cast(&placed, 1, moving, from, way, &hit, 1, &status) == 0)
			hit.fraction = 1;
		else
			met++;
		/* The shape overlaps nothing before the hit and touches just after it. */
		for (uint32_t i = 0; i <= 8; i++) {
			pose now = from;
			now.position = vec3_mul_add(from.position, way, hit.fraction * i / 8);
			pose relative = pose_relative(rest, now);
			ck_assert_msg(!shape_overlap(still, moving, &relative) || hit.fraction == 0,
				      "run %u overlaps at %u/8 of %g", run, i, hit.fraction);
		}
		/* A body that overlaps at the start may be separating. */
		if (hit.fraction > 0 && hit.fraction < 1 && !hit.uncertain) {
			pose now = from;
			double speed = -vec3_dot(hit.normal, way);
			ck_assert_double_gt(speed, 0);
			now.position =
				vec3_mul_add(from.position, way, hit.fraction + 4e-6 / speed);
			pose relative = pose_relative(rest, now);
			ck_assert_msg(shape_overlap(still, moving, &relative), "run %u: no contact",
				      run);
		}
	}
	ck_assert_uint_gt(met, 300);
	for (uint32_t i = 0; i < 4; i++)
		shape_release(movers[i]);
	for (uint32_t i = 0; i < 5; i++)
		shape_release(stills[i]);
}
END_TEST

START_TEST(nearest_points_lie_on_the_shapes_and_no_pair_is_nearer)
{
	struct shape *shapes[] = { make_sphere(0.4), make_capsule(0.5, 0.2),
				   make_box(0.3, 0.4, 0.5), make_terrain(6, 0.7, 0.4, 3),
				   make_plane(vec3_make(0, 1, 0), -1) };
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 200; run++) {
		struct placed_shape all[5], probe = place(shapes[run % 3], at(0, 0, 0), 9);
		double least = 1e9;
		probe.at = pose_make(vec3_add(draw(1), vec3_make(0, 1.5, 0)), draw_rotation());
		for (uint32_t i = 0; i < 5; i++) {
			all[i] = place(shapes[i], pose_make(draw(3), draw_rotation()), i + 1);
			if (i >= 3)
				all[i].at = at(0, -1, 0);
		}
		struct closest_pair pair, one;
		ck_assert(placed_closest(&probe, 1, all, 5, 100, &pair));
		for (uint32_t i = 0; i < 5; i++)
			if (placed_closest(&all[i], 1, &probe, 1, 100, &one))
				least = scalar_min(least, one.distance);
		ck_assert_double_eq_tol(pair.distance, least, 1e-9);
		ck_assert_uint_eq(pair.a.body, 9);
		if (pair.distance > 0) {
			vec3 way = vec3_sub(pair.b.point, pair.a.point);
			ck_assert_double_eq_tol(vec3_length(way), pair.distance, 1e-9);
			ck_assert_double_eq_tol(vec3_dot(way, pair.normal), pair.distance, 1e-9);
			ck_assert_uint_ge(pair.a.feature_count, 1);
		}
		/* A ball around the nearest point, slightly smaller than the distance, overlaps
		 * nothing. */
		if (pair.distance > 1e-3)
			ck_assert(!placed_closest(&probe, 1, all, 5, pair.distance * (1 - 1e-9),
						  &one));
	}
	for (uint32_t i = 0; i < 5; i++)
		shape_release(shapes[i]);
}
END_TEST

static const struct mover_options WALK = {
	.up = { 0, 1, 0 }, .iterations = 8, .skin = 0.001, .slope_cosine = 0.7, .step_height = 0.3
};

static struct mover_result walk(const struct placed_shape *placed, uint32_t count,
				const struct shape *shape, pose from, vec3 way)
{
	struct mover_result out;
	ck_assert_int_eq(placed_move(placed, count, shape, from, way, &WALK, &out), STATUS_OK);
	for (uint32_t i = 0; i < count; i++) {
		pose to = { out.position, from.rotation };
		pose relative = pose_relative(placed[i].at, to);
		ck_assert_msg(out.stuck || !shape_overlap(placed[i].shape, shape, &relative),
			      "the mover ends inside body %u", placed[i].body);
	}
	return out;
}

START_TEST(a_mover_slides_along_walls_stops_in_corners_and_steps_on_ledges)
{
	struct shape *man = make_capsule(0.5, 0.3), *ground = make_plane(vec3_make(0, 1, 0), 0);
	struct shape *wall = make_box(0.5, 2, 10), *ledge = make_box(1, 0.1, 1);
	struct shape *ramp = make_box(4, 0.1, 4);
	double foot = 0.8 + 0.001;
	struct placed_shape room[4] = { place(ground, at(0, 0, 0), 1), place(wall, at(3, 2, 0), 2),
					place(wall, at(0, 2, 3), 3),
					place(ledge, at(-3, 0.1, -3), 4) };
	room[2].at.rotation = quat_from_axis_angle(vec3_make(0, 1, 0), HALF_PI);
	/* A free path. */
	struct mover_result out = walk(room, 4, man, at(0, foot, 0), vec3_make(1, 0, 0));
	ck_assert_double_eq_tol(out.position.x, 1, 1e-9);
	ck_assert(out.grounded);
	ck_assert_uint_eq(out.ground.body, 1);
	ck_assert_uint_eq(out.contact_count, 0);
	/* Obliquely into a wall: the mover slides along it. */
	out = walk(room, 4, man, at(0, foot, 0), vec3_make(4, 0, -2));
	ck_assert_double_eq_tol(out.position.x, 2.2, 0.01);
	ck_assert_double_eq_tol(out.position.z, -2, 0.01);
	ck_assert_uint_eq(out.contacts[0].body, 2);
	ck_assert_double_lt(vec3_length(out.left), 0.01);
	/* Into the corner: the mover stops. */
	out = walk(room, 4, man, at(0, foot, 0), vec3_make(5, 0, 4));
	ck_assert_double_eq_tol(out.position.x, 2.2, 0.01);
	ck_assert_double_eq_tol(out.position.z, 2.2, 0.01);
	ck_assert(out.grounded);
	/* Up the ledge and along it. */
	out = walk(room, 4, man, at(-1, foot, -3), vec3_make(-2, 0, 0));
	ck_assert_double_eq_tol(out.position.x, -3, 0.05);
	ck_assert_double_eq_tol(out.position.y, 1.0, 0.01);
	ck_assert_double_eq_tol(out.climbed, 0.2, 0.01);
	ck_assert_uint_eq(out.ground.body, 4);
	/* Downwards: the mover stops at the ground and slides on. */
	out = walk(room, 4, man, at(0, 2, 0), vec3_make(0.5, -3, 0));
	ck_assert_double_eq_tol(out.position.y, 0.8, 0.01);
	ck_assert_double_eq_tol(out.position.x, 0.5, 0.02);
	/* A start inside a wall: the mover is pushed out. */
	out = walk(room, 4, man, at(2.3, foot, 0), vec3_make(0, 0, -1));
	ck_assert(!out.stuck);
	ck_assert_double_le(out.position.x, 2.2);
	ck_assert_double_eq_tol(out.position.z, -1, 0.01);
	/* No ground on a steep slope, nor in the air. */
	struct placed_shape slope = place(ramp, at(0, 0, 0), 5);
	slope.at.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), 1.1);
	out = walk(&slope, 1, man, at(0, 3, 0), vec3_make(0, -2.2, 0));
	ck_assert(!out.grounded);
	ck_assert_uint_gt(out.contact_count, 0);
	out = walk(NULL, 0, man, at(0, 3, 0), vec3_make(0, -2, 0));
	ck_assert(!out.grounded);
	ck_assert_double_eq_tol(out.position.y, 1, 1e-12);
	shape_release(man);
	shape_release(ground);
	shape_release(wall);
	shape_release(ledge);
	shape_release(ramp);
}
END_TEST

START_TEST(movers_never_end_inside_a_body)
{
	struct shape *man = make_capsule(0.4, 0.25), *terrain = make_terrain(12, 0.8, 0.5, 9);
	struct shape *rock = make_box(0.4, 0.5, 0.3);
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 40; run++) {
		struct placed_shape all[9] = { place(terrain, at(0, 0, 0), 1) };
		for (uint32_t i = 1; i < 9; i++)
			all[i] = place(rock, pose_make(draw(3), draw_rotation()), i + 1);
		pose from = pose_make(vec3_make(0, 5, 0), quat_identity());
		for (uint32_t k = 0; k < 6; k++) {
			vec3 way = draw(1.5);
			way.y -= 1.5;
			struct mover_result out = walk(all, 9, man, from, way);
			ck_assert(!out.stuck);
			double gone = vec3_distance(out.position, from.position);
			ck_assert_double_le(gone, vec3_length(way) + out.climbed + 0.05);
			from.position = out.position;
		}
	}
	shape_release(man);
	shape_release(terrain);
	shape_release(rock);
}
END_TEST

START_TEST(casts_and_moves_of_a_plane_are_refused)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0);
	struct placed_shape placed = place(plane, at(0, 0, 0), 1);
	struct cast_hit hit;
	struct mover_result out;
	enum status status;
	ck_assert_uint_eq(
		placed_cast(&placed, 1, plane, at(0, 0, 0), vec3_zero(), &hit, 1, &status), 0);
	ck_assert_int_eq(status, STATUS_UNSUPPORTED);
	ck_assert_int_eq(placed_move(&placed, 1, plane, at(0, 0, 0), vec3_zero(), &WALK, &out),
			 STATUS_UNSUPPORTED);
	shape_release(plane);
}
END_TEST

START_TEST(overlapping_boxes_have_one_region_with_their_common_volume)
{
	const vec3 boxes[2][2] = { { { 1, 0, 0 }, { 0.5, 0.5, 0.5 } },
				   { { -1, 0, 0 }, { 0.5, 0.5, 0.5 } } };
	struct shape *box = make_box(0.5, 0.5, 0.5), *two = make_boxes_solid(boxes, 2);
	struct shape *ball = make_sphere(1);
	struct placed_shape a = place(box, at(0, 0, 0), 1), b = place(box, at(0.8, 0.1, 0.2), 2);
	struct overlap_region regions[8];
	uint32_t found;
	ck_assert_int_eq(placed_regions(&a, 1, &b, 1, regions, 8, &found), STATUS_OK);
	ck_assert_uint_eq(found, 1);
	ck_assert_double_eq_tol(regions[0].volume, 0.2 * 0.9 * 0.8, 1e-9);
	/* They part soonest along x. */
	ck_assert_double_eq_tol(regions[0].depth, 0.2, 1e-9);
	ck_assert_double_eq_tol(vec3_distance(regions[0].normal, vec3_axis(0)), 0, 1e-12);
	ck_assert_double_eq_tol(vec3_distance(regions[0].point_a, regions[0].point_b), 0.2, 1e-9);
	/* A plank through both boxes of a solid: two regions; with capacity for one, the deeper
	 * one. */
	struct placed_shape pair = place(two, at(0, 0, 0), 3);
	struct shape *plank = make_box(3, 0.1, 0.1);
	struct placed_shape bar = place(plank, at(0.4, 0, 0), 4);
	ck_assert_int_eq(placed_regions(&pair, 1, &bar, 1, regions, 8, &found), STATUS_OK);
	ck_assert_uint_eq(found, 2);
	ck_assert_double_eq_tol(regions[0].volume + regions[1].volume, 2 * 0.04, 1e-9);
	ck_assert_double_ge(regions[0].depth, regions[1].depth);
	ck_assert_int_eq(placed_regions(&pair, 1, &bar, 1, regions, 1, &found), STATUS_OK);
	ck_assert_uint_eq(found, 2);
	struct placed_shape round = place(ball, at(0, 0, 0), 5);
	ck_assert_int_eq(placed_regions(&round, 1, &bar, 1, regions, 8, &found),
			 STATUS_UNSUPPORTED);
	shape_release(box);
	shape_release(two);
	shape_release(ball);
	shape_release(plank);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/placed");
	TCase *all = tcase_create("placed");
	tcase_add_test(all, a_ball_cast_at_balls_hits_at_the_root_of_the_quadratic);
	tcase_add_test(all, casts_of_every_kind_stop_just_before_the_body_they_hit);
	tcase_add_test(all, nearest_points_lie_on_the_shapes_and_no_pair_is_nearer);
	tcase_add_test(all, a_mover_slides_along_walls_stops_in_corners_and_steps_on_ledges);
	tcase_add_test(all, movers_never_end_inside_a_body);
	tcase_add_test(all, casts_and_moves_of_a_plane_are_refused);
	tcase_add_test(all, overlapping_boxes_have_one_region_with_their_common_volume);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
