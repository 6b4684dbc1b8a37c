/* Continuous tests (ch1-3 G-30…G-34): the values of the spec; a hit is never later than sampling
 * finds it and never earlier than a bound on the speed allows. */
#include "server/engine/collision/continuous_box.h"
#include "server/engine/collision/continuous_sphere.h"
#include "server/engine/collision/continuous_triangle.h"

#include "server/base/hash.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "server/engine/geometry/closest.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"

typedef struct continuous_point way;

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static way static_point(double x, double y, double z)
{
	return (way){ { x, y, z }, { x, y, z } };
}

static vec3 position_at(way p, double s)
{
	return vec3_lerp(p.from, p.to, s);
}

START_TEST(g30_a_vertex_falls_through_a_face_at_half_time)
{
	way face[3] = { static_point(0, 0, 0), static_point(1, 0, 0), static_point(0, 1, 0) };
	way vertex = { { .25, .25, 1 }, { .25, .25, -1 } };
	struct continuous_hit hit;
	ck_assert(continuous_vertex_face(vertex, face, &hit));
	ck_assert(hit.time == 0.5 && vec3_equal(hit.point, vec3_make(.25, .25, 0)));
	/* The face is a, hit from above: n points from b to a, against the motion of a relative to
	 * b. */
	ck_assert(vec3_equal(hit.normal, vec3_make(0, 0, -1)));
	double f[4];
	continuous_cubic((way){ { .25, .25, 1 }, { .25, .25, -1 } }, static_point(1, 0, 0),
			 static_point(-1, 1, 0), f);
	ck_assert(f[3] == 0 && f[2] == 0 && f[1] == -2 && f[0] == 1);
	/* One vertex passes beside the face, one stops before it. */
	ck_assert(!continuous_vertex_face((way){ { 1, 1, 1 }, { 1, 1, -1 } }, face, &hit));
	ck_assert(!continuous_vertex_face((way){ { .25, .25, 1 }, { .25, .25, .1 } }, face, &hit));
}
END_TEST

START_TEST(g30_an_edge_falls_onto_an_edge_at_a_quarter)
{
	way a[2] = { static_point(-1, 0, 0), static_point(1, 0, 0) };
	way b[2] = { { { 0, -1, 1 }, { 0, -1, -3 } }, { { 0, 1, 1 }, { 0, 1, -3 } } };
	struct continuous_hit hit;
	ck_assert(continuous_edge_edge(a, b, &hit));
	ck_assert(hit.time == 0.25 && vec3_equal(hit.point, vec3_zero()));
	ck_assert(vec3_equal(hit.normal, vec3_make(0, 0, -1)));
}
END_TEST

START_TEST(g31_a_vertex_meets_an_edge_in_the_plane_of_both)
{
	way face[3] = { static_point(0, 0, 0), static_point(1, 0, 0), static_point(0, 1, 0) };
	struct continuous_hit hit;
	ck_assert(continuous_vertex_face((way){ { 2, .25, 0 }, { 0, .25, 0 } }, face, &hit));
	ck_assert_double_eq_tol(hit.time, 0.625, 1e-15);
	/* The normal of the hypotenuse in the plane. */
	ck_assert_double_lt(
		vec3_distance(hit.normal, vec3_make(-scalar_sqrt(.5), -scalar_sqrt(.5), 0)), 1e-9);
	/* The same, rotated and carried by a moving plane. */
	for (uint32_t run = 0; run < 1000; run++) {
		pose p = pose_make(random_vector(&rng, 5), random_rotation(&rng));
		vec3 drift = random_vector(&rng, 5);
		way moved[3], v = { pose_point(p, vec3_make(2, .25, 0)),
				    vec3_add(pose_point(p, vec3_make(0, .25, 0)), drift) };
		for (uint32_t i = 0; i < 3; i++)
			moved[i] = (way){ pose_point(p, face[i].from),
					  vec3_add(pose_point(p, face[i].from), drift) };
		ck_assert(continuous_vertex_face(v, moved, &hit));
		ck_assert_double_eq_tol(hit.time, 0.625, 1e-8);
	}
}
END_TEST

START_TEST(g32_a_vertex_meets_the_end_of_an_edge_on_its_line)
{
	way edge[2] = { static_point(0, 0, 0), static_point(1, 0, 0) };
	struct continuous_hit hit;
	/* The vertex hits the end of an edge on the same line. */
	way other[2] = { { { 3, 0, 0 }, { 0, 0, 0 } }, { { 5, 0, 0 }, { 2, 0, 0 } } };
	ck_assert(continuous_edge_edge(edge, other, &hit));
	ck_assert_double_eq_tol(hit.time, 2.0 / 3, 1e-15);
	ck_assert(vec3_equal(hit.normal, vec3_make(-1, 0, 0)));
	/* Without relative motion there is no hit. */
	for (uint32_t i = 0; i < 2; i++)
		other[i].to = other[i].from;
	ck_assert(!continuous_edge_edge(edge, other, &hit));
}
END_TEST

/* ---- triangles against sampling and a speed bound ---------------------------------------------- */

struct family_case {
	way a[3], b[3];
};

static void pose_at(const way p[3], double s, vec3 out[3])
{
	for (uint32_t i = 0; i < 3; i++)
		out[i] = position_at(p[i], s);
}

/* 0 arbitrary, 1 rigid motions, 2 parallel paths, 3 coplanar, 4 nearly coplanar, 5 slivers, 6
 * integer coordinates, 7 collinear or with repeated corners. */
static void draw_case(uint32_t family, struct family_case *c)
{
	vec3 way_a = random_vector(&rng, 2), way_b = random_vector(&rng, 2);
	quat turn = random_rotation(&rng);
	for (uint32_t i = 0; i < 6; i++) {
		way *p = i < 3 ? &c->a[i] : &c->b[i - 3];
		vec3 apart = vec3_make(i < 3 ? 0 : 1.5, 0, 0);
		p->from = vec3_add(apart, random_vector(&rng, 1));
		p->to = vec3_add(p->from, random_vector(&rng, 2));
		if (family == 1)
			p->to = i < 3 ? vec3_add(quat_rotate(turn, p->from), way_a)
				      : vec3_add(p->from, way_b);
		if (family == 2 || family == 5)
			p->to = vec3_add(p->from, i < 3 ? way_a : way_b);
		if (family == 5 && i % 3 == 2)
			p->from = vec3_add(vec3_lerp(p[-1].from, p[-2].from, 0.3),
					   random_vector(&rng, 1e-5));
		if (family == 3 || family == 4) {
			double lift =
				family == 4 ? 1e-12 * (double)(1ull << rng_below(&rng, 36)) : 0;
			p->from.z = rng_range(&rng, -lift, lift);
			p->to.z = rng_range(&rng, -lift, lift);
		}
		if (family == 6 || family == 7) {
			p->from = vec3_add(vec3_make(i < 3 ? 0 : 3, 0, 0),
					   oracle_grid_point(&rng, 2));
			p->to = vec3_add(p->from, oracle_grid_point(&rng, 4));
		}
		if (family == 7) {
			p->from.y = p->to.y = rng_below(&rng, 2);
			p->from.z = p->to.z = 0;
		}
	}
}

static double speed_bound(const struct family_case *c)
{
	vec3 mean = vec3_zero();
	double a = 0, b = 0;
	for (uint32_t i = 0; i < 3; i++) {
		mean = vec3_add(mean, vec3_sub(c->a[i].to, c->a[i].from));
		mean = vec3_add(mean, vec3_sub(c->b[i].to, c->b[i].from));
	}
	mean = vec3_scale(mean, 1.0 / 6);
	for (uint32_t i = 0; i < 3; i++) {
		a = scalar_max(a, vec3_distance(vec3_sub(c->a[i].to, c->a[i].from), mean));
		b = scalar_max(b, vec3_distance(vec3_sub(c->b[i].to, c->b[i].from), mean));
	}
	return a + b;
}

/* The time until which the triangles are farther apart than `near`: advances by distance over
 * speed. Above 1: never that near. Negative: not determined. */
static double safe_until(const struct family_case *c, double near)
{
	double s = 0, speed = speed_bound(c);
	for (uint32_t k = 0; k < 4000; k++) {
		vec3 a[3], b[3];
		pose_at(c->a, s, a);
		pose_at(c->b, s, b);
		double apart = oracle_triangle_distance(a, b);
		if (apart <= near || intersect_triangle_triangle(a, b, NULL))
			return s;
		if (speed == 0)
			return 2;
		s += apart / speed;
		if (s > 1)
			return s;
	}
	return -1;
}

static bool triangles_meet_at(const struct family_case *c, double s)
{
	vec3 a[3], b[3];
	pose_at(c->a, s, a);
	pose_at(c->b, s, b);
	return intersect_triangle_triangle(a, b, NULL);
}

/* A time at which the triangles certainly touch, close to the first such time; 2 if none was
 * found. */
static double contact_time(const struct family_case *c, double safe)
{
	double first = 2;
	for (uint32_t k = 0; k <= 100 && first == 2; k++)
		if (triangles_meet_at(c, k / 100.0))
			first = k / 100.0;
	for (uint32_t k = 0; safe >= 0 && safe <= 1 && k < 20; k++) {
		double s = scalar_min(1, safe + k * 1e-8);
		if (s < first && triangles_meet_at(c, s))
			return s;
	}
	return first;
}

START_TEST(g30_no_hit_is_missed_or_late_or_early)
{
	uint32_t hits[8] = { 0 }, sharp = 0;
	double near = CONTINUOUS_TOLERANCE * 12;
	for (uint32_t run = 0; run < oracle_runs(4000); run++) {
		struct family_case c, exchanged;
		/* Slivers meet seldom, so they are drawn three times as often. */
		uint32_t family = run % 10 < 8 ? run % 10 : 5;
		draw_case(family, &c);
		for (uint32_t i = 0; i < 3; i++) {
			exchanged.a[i] = c.b[i];
			exchanged.b[i] = c.a[i];
		}
		double safe = safe_until(&c, near), contact = contact_time(&c, safe);
		bool found[2];
		for (uint32_t k = 0; k < 2; k++) {
			const struct family_case *one = k == 0 ? &c : &exchanged;
			struct continuous_hit hit = { .time = 2 };
			found[k] = continuous_triangle_triangle(one->a, one->b, &hit);
			ck_assert_msg(hit.time <= contact + 1e-12, "run %u: %.17g after %.17g", run,
				      hit.time, contact);
			if (!found[k])
				continue;
			ck_assert_msg(hit.time >= safe - 1e-12, "run %u: %.17g before %.17g", run,
				      hit.time, safe);
			vec3 a[3], b[3];
			pose_at(one->a, hit.time, a);
			pose_at(one->b, hit.time, b);
			if (hit.kind != CONTINUOUS_OVERLAP)
				ck_assert_double_le(oracle_triangle_distance(a, b), near);
		}
		/* Only a pair that at most grazes may be found in one order alone. */
		if (contact <= 1)
			ck_assert(found[0] && found[1]);
		hits[family] += found[0];
		sharp += contact <= 1 && safe >= 0 && contact - safe < 1e-6;
	}
	ck_assert_uint_gt(sharp, oracle_runs(4000) / 8);
	for (uint32_t k = 0; k < 8; k++)
		ck_assert_msg(hits[k] > 10, "family %u: %u hits", k, hits[k]);
}
END_TEST

START_TEST(g30_the_normal_has_unit_length_and_opposes_the_motion)
{
	for (uint32_t run = 0; run < oracle_runs(4000); run++) {
		struct family_case c;
		struct continuous_hit hit;
		draw_case(2, &c);
		if (!continuous_triangle_triangle(c.a, c.b, &hit) || hit.kind == CONTINUOUS_OVERLAP)
			continue;
		vec3 motion = vec3_sub(vec3_sub(c.a[0].to, c.a[0].from),
				       vec3_sub(c.b[0].to, c.b[0].from));
		ck_assert_double_eq_tol(vec3_length(hit.normal), 1, 1e-12);
		ck_assert_double_lt(vec3_dot(hit.normal, motion), 0);
	}
}
END_TEST

START_TEST(g30_at_equal_times_vertex_and_face_come_before_two_edges)
{
	/* A vertex hits the middle of a face's edge: vertex–face and edge–edge at the same time. */
	way a[3] = { static_point(0, 0, 0), static_point(2, 0, 0), static_point(0, 2, 0) };
	way b[3] = { { { 1, 0, 1 }, { 1, 0, -1 } },
		     { { 1, 1, 2 }, { 1, 1, 0.5 } },
		     { { 1, -1, 2 }, { 1, -1, 0.5 } } };
	struct continuous_hit hit;
	ck_assert(continuous_triangle_triangle(a, b, &hit));
	ck_assert(hit.time == 0.5);
	ck_assert_int_eq(hit.kind, CONTINUOUS_FACE_VERTEX);
	ck_assert_uint_eq(hit.feature_b, 0);
}
END_TEST

/* ---- balls and boxes ---------------------------------------------------------------------------- */

START_TEST(g33_balls_meet_at_the_times_of_the_spec)
{
	struct ball a = { vec3_zero(), 1 }, b = { vec3_make(10, 0, 0), 1 };
	vec3 right = vec3_make(10, 0, 0), left = vec3_make(-10, 0, 0);
	struct continuous_sphere_hit hit;
	ck_assert(continuous_sphere_sphere(a, right, b, left, &hit));
	ck_assert_double_eq_tol(hit.time, 0.4, 1e-15);
	ck_assert(vec3_equal(hit.normal, vec3_make(-1, 0, 0)));
	ck_assert_double_lt(vec3_distance(hit.point, vec3_make(5, 0, 0)), 1e-14);
	ck_assert(!continuous_sphere_sphere(a, right, b, right, &hit));
	ck_assert(!continuous_sphere_sphere(a, left, b, right, &hit));
	b.centre.x = 1.5;
	ck_assert(continuous_sphere_sphere(a, right, b, left, &hit) && hit.time == 0);
	b.centre = a.centre;
	ck_assert(continuous_sphere_sphere(a, right, b, left, &hit) && hit.time == 0);
	ck_assert(vec3_equal(hit.normal, vec3_make(1, 0, 0)));
}
END_TEST

START_TEST(g33_balls_touch_at_their_time_and_not_before)
{
	uint32_t hits = 0;
	for (uint32_t run = 0; run < oracle_runs(30000); run++) {
		struct ball a = { random_vector(&rng, 3), rng_range(&rng, 0, 1) };
		struct ball b = { random_vector(&rng, 3), rng_range(&rng, 0, 1) };
		vec3 va = random_vector(&rng, 6), vb = random_vector(&rng, 6);
		double k = 0;
		vec3 p = vec3_sub(a.centre, b.centre), v = vec3_sub(va, vb);
		double reach = a.radius + b.radius;
		/* The least distance of the centres, and its time. */
		k = scalar_clamp(-vec3_dot(p, v) / vec3_dot(v, v), 0, 1);
		double least = vec3_length(vec3_mul_add(p, v, k));
		struct continuous_sphere_hit hit, turned;
		bool found = continuous_sphere_sphere(a, va, b, vb, &hit);
		if (scalar_abs(least - reach) > 1e-12)
			ck_assert(found == (least < reach));
		ck_assert(continuous_sphere_sphere(b, vb, a, va, &turned) == found);
		if (!found)
			continue;
		hits++;
		double apart = vec3_length(vec3_mul_add(p, v, hit.time));
		ck_assert(hit.time == turned.time && hit.time <= k + 1e-12);
		if (hit.time > 0)
			ck_assert_double_eq_tol(apart, reach, 1e-13);
		else
			ck_assert_double_le(apart, reach * (1 + 1e-15));
	}
	ck_assert_uint_gt(hits, 1000);
}
END_TEST

START_TEST(p54_a_ball_meets_a_triangle_at_the_times_of_the_spec)
{
	vec3 triangle[3] = { { 0, 0, 0 }, { 10, 0, 0 }, { 0, 10, 0 } };
	struct continuous_sphere_hit hit;
	struct ball ball = { vec3_make(1, 1, 2), 0.5 };
	vec3 down = vec3_make(0, 0, -4), still = vec3_zero();
	ck_assert(continuous_sphere_triangle(ball, down, triangle, still, &hit));
	ck_assert_double_eq_tol(hit.time, 0.375, 1e-15);
	ck_assert(vec3_distance(hit.point, vec3_make(1, 1, 0)) < 1e-15);
	ck_assert(vec3_distance(hit.normal, vec3_axis(2)) < 1e-15);
	ball.centre = vec3_make(1, -0.3, 2); /* beyond an edge */
	ck_assert(continuous_sphere_triangle(ball, down, triangle, still, &hit));
	ck_assert_double_eq_tol(hit.time, 0.4, 1e-15);
	ball.centre = vec3_make(-0.3, -0.3, 2); /* beyond a corner */
	ck_assert(continuous_sphere_triangle(ball, down, triangle, still, &hit));
	ck_assert_double_eq_tol(hit.time, (2 - scalar_sqrt(0.25 - 0.18)) / 4, 1e-15);
	ck_assert_double_eq_tol(hit.time, 0.433856, 1e-6);
	/* In turn: the triangle rises instead; both move; the ball recedes; the ball starts on
	 * it. */
	ck_assert(continuous_sphere_triangle(ball, still, triangle, vec3_negate(down), &hit));
	ck_assert_double_eq_tol(hit.time, 0.433856, 1e-6);
	ck_assert(!continuous_sphere_triangle(ball, down, triangle, down, &hit));
	ck_assert(!continuous_sphere_triangle(ball, vec3_negate(down), triangle, still, &hit));
	ball.centre = vec3_make(1, 1, -0.25);
	ck_assert(continuous_sphere_triangle(ball, down, triangle, still, &hit) && hit.time == 0);
}
END_TEST

START_TEST(p54_a_ball_touches_at_its_time_and_not_before)
{
	uint32_t hits = 0;
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		vec3 t[3] = { random_vector(&rng, 2), random_vector(&rng, 2),
			      random_vector(&rng, 2) };
		struct ball ball = { random_vector(&rng, 3), rng_range(&rng, 0, 1) };
		vec3 d = random_vector(&rng, 6), by = random_vector(&rng, 2);
		struct continuous_sphere_hit hit;
		bool found = continuous_sphere_triangle(ball, d, t, by, &hit);
		double until = found ? hit.time : 1, least = SCALAR_MAX;
		for (uint32_t k = 0; k < 40; k++) {
			double s = until * k / 40;
			vec3 c = vec3_mul_add(ball.centre, vec3_sub(d, by), s);
			least = scalar_min(
				least,
				closest_point_triangle(c, t[0], t[1], t[2]).distance_squared);
		}
		if (!found || hit.time > 0)
			ck_assert_double_ge(scalar_sqrt(least), ball.radius - 1e-12);
		if (!found)
			continue;
		hits++;
		vec3 c = vec3_mul_add(ball.centre, vec3_sub(d, by), hit.time);
		double apart =
			scalar_sqrt(closest_point_triangle(c, t[0], t[1], t[2]).distance_squared);
		if (hit.time > 0)
			ck_assert_double_eq_tol(apart, ball.radius, 1e-12);
		else
			ck_assert_double_le(apart, ball.radius * (1 + 1e-15));
	}
	ck_assert_uint_gt(hits, 1000);
}
END_TEST

START_TEST(g34_boxes_meet_at_the_times_of_the_spec)
{
	struct aabb a = aabb_of_centre(vec3_zero(), vec3_all(1));
	struct aabb b = aabb_of_centre(vec3_make(10, .5, 0), vec3_all(1));
	vec3 right = vec3_make(10, 0, 0);
	struct continuous_box_hit hit;
	ck_assert(continuous_box_box(a, right, b, vec3_zero(), &hit));
	ck_assert(hit.time == 0.8 && vec3_equal(hit.normal, vec3_make(-1, 0, 0)));
	ck_assert_double_lt(hit.centres.x, -0.9);
	b = aabb_of_centre(vec3_make(10, 2.5, 0), vec3_all(1));
	ck_assert(!continuous_box_box(a, right, b, vec3_zero(), &hit));
	/* Sliding along a face: touching counts as a hit. */
	b = aabb_of_centre(vec3_make(10, 2, 0), vec3_all(1));
	ck_assert(continuous_box_box(a, right, b, vec3_zero(), &hit) && hit.time == 0.8);
	ck_assert(continuous_box_box(a, right, a, vec3_zero(), &hit) && hit.time == 0);
	ck_assert(vec3_equal(hit.normal, vec3_zero()));
}
END_TEST

START_TEST(g34_boxes_agree_with_the_books_quadratics)
{
	uint32_t hits = 0;
	for (uint32_t run = 0; run < oracle_runs(30000); run++) {
		struct aabb a =
			aabb_of_centre(random_vector(&rng, 3), vec3_abs(random_vector(&rng, 1)));
		struct aabb b =
			aabb_of_centre(random_vector(&rng, 3), vec3_abs(random_vector(&rng, 1)));
		vec3 va = random_vector(&rng, 6), vb = random_vector(&rng, 6);
		vec3 p = vec3_sub(aabb_centre(a), aabb_centre(b)), v = vec3_sub(va, vb);
		vec3 r = vec3_add(aabb_half(a), aabb_half(b));
		double wanted = aabb_overlaps(a, b) ? 0 : 2;
		for (uint32_t k = 0; k < 6; k++) {
			double side = k & 1 ? 1 : -1;
			double s = (side * vec3_get(r, k / 2) - vec3_get(p, k / 2)) /
				   vec3_get(v, k / 2);
			vec3 apart = vec3_abs(vec3_mul_add(p, v, s));
			vec3 over = vec3_sub(apart, r);
			if (s >= 0 && s <= 1 && vec3_max_component(over) < 1e-13)
				wanted = scalar_min(wanted, s);
		}
		struct continuous_box_hit hit = { .time = 2 };
		ck_assert(continuous_box_box(a, va, b, vb, &hit) == (wanted <= 1));
		ck_assert_double_eq_tol(hit.time, wanted, 1e-13);
		hits += hit.time <= 1;
	}
	ck_assert_uint_gt(hits, 1000);
}
END_TEST

START_TEST(the_bits_are_the_same_everywhere)
{
	struct hasher hash;
	hasher_init(&hash, 0);
	rng = rng_seeded(1);
	for (uint32_t run = 0; run < 1600; run++) {
		struct family_case c;
		struct continuous_hit hit = { .time = 2 };
		struct continuous_sphere_hit ball = { .time = 2 };
		draw_case(run % 8, &c);
		hasher_u32(&hash, continuous_triangle_triangle(c.a, c.b, &hit));
		hasher_u32(&hash, hit.kind);
		hasher_f64(&hash, hit.time);
		hasher_f64(&hash, vec3_dot(hit.normal, vec3_make(1, 2, 4)));
		continuous_sphere_sphere((struct ball){ c.a[0].from, 0.3 }, c.a[1].from,
					 (struct ball){ c.b[0].from, 0.4 }, c.b[1].from, &ball);
		hasher_f64(&hash, ball.time);
	}
	ck_assert_uint_eq(hasher_digest(&hash), 14443492847338959045u);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/continuous");
	TCase *triangles = tcase_create("triangles");
	tcase_add_checked_fixture(triangles, set_up, NULL);
	tcase_add_test(triangles, g30_a_vertex_falls_through_a_face_at_half_time);
	tcase_add_test(triangles, g30_an_edge_falls_onto_an_edge_at_a_quarter);
	tcase_add_test(triangles, g31_a_vertex_meets_an_edge_in_the_plane_of_both);
	tcase_add_test(triangles, g32_a_vertex_meets_the_end_of_an_edge_on_its_line);
	tcase_add_test(triangles, g30_no_hit_is_missed_or_late_or_early);
	tcase_add_test(triangles, g30_the_normal_has_unit_length_and_opposes_the_motion);
	tcase_add_test(triangles, g30_at_equal_times_vertex_and_face_come_before_two_edges);
	suite_add_tcase(suite, triangles);
	TCase *solids = tcase_create("balls and boxes");
	tcase_add_checked_fixture(solids, set_up, NULL);
	tcase_add_test(solids, g33_balls_meet_at_the_times_of_the_spec);
	tcase_add_test(solids, g33_balls_touch_at_their_time_and_not_before);
	tcase_add_test(solids, p54_a_ball_meets_a_triangle_at_the_times_of_the_spec);
	tcase_add_test(solids, p54_a_ball_touches_at_its_time_and_not_before);
	tcase_add_test(solids, g34_boxes_meet_at_the_times_of_the_spec);
	tcase_add_test(solids, g34_boxes_agree_with_the_books_quadratics);
	tcase_add_test(solids, the_bits_are_the_same_everywhere);
	suite_add_tcase(suite, solids);
	return suite;
}

int main(void)
{
	return check_main(make);
}
