/* test_field.c: contacts of solids given as distance fields, against closed forms, against the same
 * solids as convex parts, and in both orders (app G-08). */
#include "server/engine/collision/manifold.h"

#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/geometry/distance_field_sides.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/field_collide.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/poses.h"

#define MARGIN 0.05

static struct rng rng;
/* Solids with fields: a ball of radius 1; a cube of edge 1 around 0; a torus of radii 1 and 0.25; a
 * bowl of radii 1 and 1.2. */
static struct shape *ball, *cube, *torus, *bowl;
static double cell; /* cell size of the ball's field */

static struct shape *field_of(struct shape *mesh, uint32_t cells)
{
	struct shape *field = make_field_solid(mesh->mesh, cells);
	shape_release(mesh);
	return field;
}

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	ball = field_of(make_ball(4, 1, 0, &rng), 48);
	cube = field_of(make_unit_cube(), 32);
	torus = field_of(make_torus(1, 0.25, 48, 24), 64);
	bowl = field_of(make_bowl(1, 1.2, 48, 12), 48);
	cell = ball->solid->field->cell;
}

static void tear_down(void)
{
	shape_release(ball);
	shape_release(cube);
	shape_release(torus);
	shape_release(bowl);
}

/* All manifolds of two shapes, piece by piece as in dynamics; `count` is the number with points. */
struct touching {
	uint32_t count;
	struct manifold found[64];
	uint32_t points;
	double deepest;
	vec3 normal, at; /* of the deepest point */
};

static struct touching touch(const struct shape *a, const struct shape *b, pose b_in_a)
{
	struct touching out = { .deepest = SCALAR_MAX };
	bool sides_a = shape_is_sided(a, b), sides_b = !sides_a && shape_is_sided(b, a);
	uint32_t pieces_a = sides_a || !shape_is_field(a) ? shape_piece_count(a) : 1;
	uint32_t pieces_b = sides_b || !shape_is_field(b) ? shape_piece_count(b) : 1;
	for (uint32_t i = 0; i < pieces_a; i++)
		for (uint32_t j = 0; j < pieces_b; j++) {
			struct manifold m;
			struct pair_cache cache = { 0 };
			collide_pieces((struct piece){ a, i }, (struct piece){ b, j }, &b_in_a,
				       MARGIN, &cache, &m);
			if (m.count == 0)
				continue;
			ck_assert_double_eq_tol(vec3_length(m.normal), 1, 1e-9);
			ck_assert_uint_le(m.count, MANIFOLD_POINTS_MAX);
			for (uint32_t k = 0; k < m.count; k++) {
				ck_assert_double_le(m.points[k].separation, MARGIN);
				for (uint32_t l = 0; l < k; l++)
					ck_assert_uint_ne(m.points[k].feature, m.points[l].feature);
				out.points++;
				if (m.points[k].separation >= out.deepest)
					continue;
				out.deepest = m.points[k].separation;
				out.normal = m.normal;
				out.at = m.points[k].point;
			}
			ck_assert_uint_lt(out.count, COUNT_OF(out.found));
			out.found[out.count++] = m;
		}
	return out;
}

static pose at(double x, double y, double z)
{
	return pose_make(vec3_make(x, y, z), quat_identity());
}

/* ---- closed forms ----------------------------------------------------------------------------- */

START_TEST(a_field_of_a_ball_collides_with_spheres_like_a_ball)
{
	struct shape *sphere = make_sphere(0.3);
	for (uint32_t i = 0; i < 300; i++) {
		vec3 way = random_direction(&rng);
		double apart = rng_range(&rng, -0.1, 0.03);
		struct touching t =
			touch(ball, sphere,
			      pose_make(vec3_scale(way, 1.3 + apart), random_rotation(&rng)));
		/* The faces of the mesh lie up to 0.003 inside the ball. */
		ck_assert_uint_ge(t.count, 1);
		ck_assert_double_eq_tol(t.deepest, apart, 0.2 * cell);
		ck_assert_double_gt(vec3_dot(t.normal, way), 0.99);
		ck_assert_double_le(vec3_distance(t.at, vec3_scale(way, 1 + 0.5 * apart)), 0.05);
	}
	ck_assert_uint_eq(touch(ball, sphere, at(0, 1.4, 0)).count, 0);
	shape_release(sphere);
}
END_TEST

START_TEST(a_field_of_a_ball_collides_with_planes_capsules_and_boxes_like_a_ball)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0), *box = make_box(0.5, 0.4, 0.3);
	struct shape *capsule = make_capsule(0.5, 0.2);
	for (uint32_t i = 0; i < 200; i++) {
		double apart = rng_range(&rng, -0.1, 0.04);
		quat turn = random_rotation(&rng);
		/* The plane's pose in the ball's frame. */
		pose in_plane = pose_make(vec3_make(0, 1 + apart, 0), turn);
		struct touching t = touch(ball, plane, pose_inverse(in_plane));
		ck_assert_uint_eq(t.count, 1);
		ck_assert_double_eq_tol(t.deepest, apart, 0.1 * cell);
		ck_assert_double_lt(quat_rotate(turn, t.normal).y, -0.999999);
		t = touch(box, ball, at(0, 1.4 + apart, 0));
		ck_assert_double_eq_tol(t.deepest, apart, 0.1 * cell);
		ck_assert_double_gt(t.normal.y, 0.995);
		quat lying = quat_from_axis_angle(vec3_make(0, 0, 1), HALF_PI);
		t = touch(ball, capsule, pose_make(vec3_make(0.2, 1.2 + apart, 0), lying));
		ck_assert_double_eq_tol(t.deepest, apart, 0.2 * cell);
		ck_assert_double_gt(t.normal.y, 0.99);
	}
	shape_release(plane);
	shape_release(box);
	shape_release(capsule);
}
END_TEST

START_TEST(a_body_in_the_hole_of_a_torus_touches_all_around_or_nowhere)
{
	struct shape *small = make_sphere(0.5), *fits = make_sphere(0.745);
	struct shape *peg = make_capsule(1, 0.74);
	ck_assert_uint_eq(touch(torus, small, at(0, 0, 0)).count, 0);
	ck_assert_uint_ge(touch(torus, fits, at(0, 0, 0)).count, 4);
	struct touching t = touch(torus, peg, at(0, 0, 0));
	vec3 sum = vec3_zero();
	ck_assert_uint_ge(t.count, 4);
	for (uint32_t k = 0; k < t.count; k++) {
		ck_assert_double_lt(scalar_abs(t.found[k].normal.y), 0.2);
		sum = vec3_add(sum, t.found[k].normal);
	}
	ck_assert_double_lt(vec3_length(sum), 0.3 * t.count);
	ck_assert_double_eq_tol(t.deepest, 0.01, 0.2 * torus->solid->field->cell);
	shape_release(small);
	shape_release(fits);
	shape_release(peg);
}
END_TEST

START_TEST(a_marble_in_a_bowl_touches_the_wall_below_it)
{
	struct shape *marble = make_sphere(0.1);
	for (uint32_t i = 0; i < 100; i++) {
		double lean = rng_range(&rng, 0, 1.2), around = rng_range(&rng, 0, TWO_PI);
		double apart = rng_range(&rng, -0.02, 0.02);
		vec3 out = vec3_make(trig_sin(lean) * trig_cos(around), -trig_cos(lean),
				     trig_sin(lean) * trig_sin(around));
		struct touching t = touch(bowl, marble,
					  pose_make(vec3_scale(out, 0.9 - apart), quat_identity()));
		ck_assert_uint_ge(t.count, 1);
		ck_assert_double_eq_tol(t.deepest, apart, 0.3 * bowl->solid->field->cell);
		ck_assert_double_lt(vec3_dot(t.normal, out), -0.97);
	}
	shape_release(marble);
}
END_TEST

/* ---- flat faces ------------------------------------------------------------------------------- */

static void check_stacked(const struct touching *t, double apart, double y)
{
	ck_assert_uint_eq(t->count, 1);
	ck_assert_uint_eq(t->found[0].count, 4);
	ck_assert_double_gt(t->normal.y, 0.9999);
	vec3 middle = vec3_zero();
	for (uint32_t k = 0; k < 4; k++) {
		struct manifold_point point = t->found[0].points[k];
		ck_assert_double_eq_tol(point.separation, apart, 1e-3);
		ck_assert_double_eq_tol(point.point.y, y, 1e-3);
		middle = vec3_mul_add(middle, point.point, 0.25);
	}
	ck_assert_double_lt(vec3_length(vec3_make(middle.x, 0, middle.z)), 0.05);
}

START_TEST(stacked_cubes_have_four_points_and_one_normal)
{
	struct shape *box = make_box(0.5, 0.5, 0.5), *large = make_box(3, 0.5, 3);
	static const double APART[] = { -0.005, 0, 0.01 };
	for (uint32_t i = 0; i < 3; i++) {
		pose above = at(0, 1 + APART[i], 0);
		struct touching t = touch(cube, cube, above);
		check_stacked(&t, APART[i], 0.5 + 0.5 * APART[i]);
		t = touch(cube, box, above);
		check_stacked(&t, APART[i], 0.5 + 0.5 * APART[i]);
		t = touch(box, cube, above);
		check_stacked(&t, APART[i], 0.5 + 0.5 * APART[i]);
		t = touch(large, cube, at(0.3, 1 + APART[i], -0.2));
		ck_assert_uint_eq(t.count, 1);
		ck_assert_uint_eq(t.points, 4);
		/* Rotated by 45 degrees, no corner lies over the other's face. */
		above.rotation = quat_from_axis_angle(vec3_make(0, 1, 0), 0.25 * PI);
		t = touch(cube, cube, above);
		check_stacked(&t, APART[i], 0.5 + 0.5 * APART[i]);
		t = touch(cube, box, above);
		check_stacked(&t, APART[i], 0.5 + 0.5 * APART[i]);
	}
	shape_release(box);
	shape_release(large);
}
END_TEST

START_TEST(crossed_edges_have_the_normal_of_their_edge_pair)
{
	/* Two cubes on their edges, one along x, one along z. */
	quat about_x = quat_from_axis_angle(vec3_make(1, 0, 0), 0.25 * PI);
	quat about_z = quat_from_axis_angle(vec3_make(0, 0, 1), 0.25 * PI);
	struct shape *box = make_box(0.5, 0.5, 0.5);
	double high = scalar_sqrt(0.5);
	for (uint32_t i = 0; i < 2; i++) {
		pose low = pose_make(vec3_zero(), about_x);
		pose up = pose_make(vec3_make(0.01, 2 * high - 0.01, 0.02), about_z);
		struct touching t = touch(cube, i == 0 ? cube : box, pose_relative(low, up));
		ck_assert_uint_ge(t.count, 1);
		ck_assert_double_gt(quat_rotate(about_x, t.normal).y, 0.98);
		ck_assert_double_eq_tol(t.deepest, -0.01, 0.6 * cube->solid->field->cell);
	}
	shape_release(box);
}
END_TEST

/* ---- symmetry and agreement ------------------------------------------------------------------- */

/* The deepest contact by the book: vertices and edges of both meshes in the field of the other. */
static double deepest_contact_of_book(const struct shape *a, const struct shape *b, pose b_in_a)
{
	static struct field_contact found[4096];
	struct distance_field_probe of_a, of_b;
	ck_assert_int_eq(distance_field_probe_init(&of_a, a->solid->mesh), STATUS_OK);
	ck_assert_int_eq(distance_field_probe_init(&of_b, b->solid->mesh), STATUS_OK);
	uint32_t count = field_collide_both(a->solid->field, &of_a, b->solid->field, &of_b, &b_in_a,
					    found, COUNT_OF(found));
	ck_assert_uint_le(count, COUNT_OF(found));
	double deepest = 0;
	for (uint32_t i = 0; i < count; i++)
		deepest = scalar_max(deepest, found[i].depth);
	distance_field_probe_release(&of_a);
	distance_field_probe_release(&of_b);
	return deepest;
}

/* For a ball both depths come from the field. A flat face of a cube or of a coarse torus extends
 * its plane to vertices up to five cells beyond it, so the depth is measured from that plane and is
 * mostly larger. */
START_TEST(depths_agree_with_the_book_or_with_a_face)
{
	struct shape *solids[] = { ball, cube, torus };
	uint32_t deep = 0, alike = 0;
	for (uint32_t i = 0; i < 900 && deep < 60; i++) {
		const struct shape *a = solids[i % 3], *b = solids[i / 3 % 3];
		vec3 away = vec3_scale(random_direction(&rng), rng_range(&rng, 1.2, 2.2));
		pose b_in_a = pose_make(away, random_rotation(&rng));
		double depth = deepest_contact_of_book(a, b, b_in_a);
		if (depth < cell || depth > 0.2)
			continue;
		double more = -touch(a, b, b_in_a).deepest - depth;
		bool round = (a == ball || b == ball) && a != cube && b != cube;
		deep++;
		alike += scalar_abs(more) <= cell;
		ck_assert_double_gt(more, -2 * cell);
		ck_assert_double_lt(more, (round ? 1 : 5) * cell);
	}
	ck_assert_uint_eq(deep, 60);
	ck_assert_uint_gt(alike, 45);
}
END_TEST

START_TEST(contacts_are_the_same_in_both_orders)
{
	struct shape *others[] = { make_sphere(0.3), make_capsule(0.4, 0.2),
				   make_box(0.3, 0.4, 0.5), shape_retain(torus),
				   shape_retain(cube) };
	uint32_t met = 0;
	for (uint32_t i = 0; i < 400; i++) {
		const struct shape *a = i % 2 == 0 ? bowl : cube, *b = others[i % COUNT_OF(others)];
		pose b_in_a = pose_make(random_vector(&rng, 1.2), random_rotation(&rng));
		struct touching one = touch(a, b, b_in_a), two = touch(b, a, pose_inverse(b_in_a));
		ck_assert((one.count > 0) == (two.count > 0));
		if (one.count == 0)
			continue;
		met++;
		vec3 turned = vec3_negate(pose_vector(b_in_a, two.normal));
		/* Of points whose depths differ by less than the slop, the first is used. */
		ck_assert_double_eq_tol(one.deepest, two.deepest, 1.1e-3);
		ck_assert_double_gt(vec3_dot(one.normal, turned), 0.99);
	}
	ck_assert_uint_gt(met, 100);
	for (uint32_t k = 0; k < COUNT_OF(others); k++)
		shape_release(others[k]);
}
END_TEST

START_TEST(an_earlier_query_does_not_change_the_result)
{
	struct shape *box = make_box(0.3, 0.4, 0.5);
	for (uint32_t i = 0; i < 50; i++) {
		pose b_in_a = pose_make(random_vector(&rng, 0.9), random_rotation(&rng));
		struct touching first = touch(torus, box, b_in_a);
		touch(cube, torus, at(0.7, 0, 0));
		struct touching again = touch(torus, box, b_in_a);
		ck_assert_uint_eq(first.points, again.points);
		for (uint32_t k = 0; k < first.count; k++)
			for (uint32_t l = 0; l < first.found[k].count; l++) {
				ck_assert_uint_eq(first.found[k].points[l].feature,
						  again.found[k].points[l].feature);
				ck_assert(vec3_equal(first.found[k].points[l].point,
						     again.found[k].points[l].point));
			}
	}
	shape_release(box);
}
END_TEST

START_TEST(tori_of_parts_and_of_a_field_touch_the_same_bodies)
{
	struct shape *mesh = make_torus(1, 0.25, 48, 24),
		     *parts = make_parts_solid(mesh->mesh, 256);
	struct shape *others[] = { make_sphere(0.3), make_box(0.2, 0.3, 0.4) };
	/* The hulls of the parts extend beyond the torus by `deviation`; the field adds half a
	 * cell. */
	double off = parts->solid->deviation + 0.5 * torus->solid->field->cell;
	uint32_t both = 0;
	for (uint32_t i = 0; i < 600; i++) {
		const struct shape *other = others[i % 2];
		pose b_in_a = pose_make(random_vector(&rng, 1.4), random_rotation(&rng));
		b_in_a.position.y *= 0.4;
		struct touching field = touch(torus, other, b_in_a);
		struct touching hulls = touch(parts, other, b_in_a);
		if (field.count > 0 && field.deepest < MARGIN - 2 * off)
			ck_assert_uint_gt(hulls.count, 0);
		if (hulls.count > 0 && hulls.deepest < -2 * off)
			ck_assert_uint_gt(field.count, 0);
		/* Depths are compared in contacts of at most 0.06 m. In deeper ones each convex
		 * part of the torus has a normal of its own. */
		if (field.count == 0 || hulls.count == 0 || field.deepest < -0.06 ||
		    hulls.deepest < -0.06)
			continue;
		both++;
		ck_assert_double_eq_tol(field.deepest, hulls.deepest, 2 * off);
	}
	ck_assert_uint_gt(both, 20);
	shape_release(mesh);
	shape_release(parts);
	shape_release(others[0]);
	shape_release(others[1]);
}
END_TEST

START_TEST(a_cube_has_26_sides_and_each_normal_selects_one_that_contains_its_vertex)
{
	const struct field_sides *sides = cube->solid->sides;
	ck_assert_uint_eq(sides->count, 26);
	for (uint32_t i = 0; i < 1000; i++) {
		vec3 n = random_direction(&rng);
		uint32_t side = field_sides_of(sides, n);
		/* The vertex of the cube that is farthest along n. */
		vec3 far =
			vec3_make(n.x > 0 ? 0.5 : -0.5, n.y > 0 ? 0.5 : -0.5, n.z > 0 ? 0.5 : -0.5);
		ck_assert_double_gt(vec3_dot(n, sides->direction[side]), 0.88);
		ck_assert(aabb_contains_point(sides->box[side], far));
	}
	/* The box of a side's vertices does not include those of the top. */
	uint32_t top = field_sides_of(sides, vec3_make(0, 1, 0));
	ck_assert(sides->box[top].min.y == 0.5);
}
END_TEST

/* ---- queries ---------------------------------------------------------------------------------- */

START_TEST(rays_and_overlaps_respect_the_hole_of_a_torus)
{
	struct shape *small = make_sphere(0.5), *tiny = make_sphere(0.05),
		     *fits = make_sphere(0.76);
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0);
	pose here = at(0, 0, 0), tube = at(1, 0.05, 0);
	struct query_hit hit;
	ck_assert(!shape_ray(torus, &here, vec3_make(0.2, 2, 0), vec3_make(0, -4, 0), 1, &hit));
	ck_assert(shape_ray(torus, &here, vec3_make(1, 2, 0), vec3_make(0, -4, 0), 1, &hit));
	ck_assert_double_eq_tol(hit.fraction, 1.75 / 4, 1e-3);
	ck_assert_double_gt(hit.normal.y, 0.98);
	ck_assert(shape_ray(torus, &here, vec3_make(1, 0.1, 0), vec3_make(0, -4, 0), 1, &hit));
	ck_assert(hit.inside && hit.fraction == 0);
	ck_assert(!shape_overlap(torus, small, &here) && !shape_overlap(small, torus, &here));
	ck_assert(shape_overlap(torus, fits, &here));
	/* A body wholly inside the tube crosses no surface. */
	pose from_tube = pose_inverse(tube);
	ck_assert(shape_overlap(torus, tiny, &tube) && shape_overlap(tiny, torus, &from_tube));
	ck_assert(!shape_overlap(torus, cube, &(pose){ { 0, 0.8, 0 }, { 1, 0, 0, 0 } }));
	ck_assert(shape_overlap(torus, ball, &here));
	pose under = at(0, -0.3, 0), through = at(0, -0.2, 0);
	ck_assert(!shape_overlap(torus, plane, &under) && shape_overlap(plane, torus, &here));
	ck_assert(shape_overlap(torus, plane, &through));
	shape_release(small);
	shape_release(tiny);
	shape_release(fits);
	shape_release(plane);
}
END_TEST

static struct placed_shape placed_at(const struct shape *shape, pose where, uint32_t body)
{
	return (struct placed_shape){ shape, where, body, 0 };
}

START_TEST(casts_and_nearest_points_end_on_the_surface)
{
	struct shape *small = make_sphere(0.5), *tiny = make_sphere(0.05),
		     *box = make_box(0.2, 0.2, 0.2);
	struct placed_shape ring = placed_at(torus, at(0, 0, 0), 7);
	struct cast_hit hit;
	enum status status;
	vec3 down = vec3_make(0, -4, 0);
	ck_assert_uint_eq(placed_cast(&ring, 1, small, at(0.1, 2, 0), down, &hit, 1, &status), 0);
	ck_assert_uint_eq(placed_cast(&ring, 1, small, at(1, 2, 0), down, &hit, 1, &status), 1);
	ck_assert_double_eq_tol(hit.fraction, 1.25 / 4, 1e-3);
	ck_assert_double_gt(hit.normal.y, 0.98);
	/* The ring is cast upwards, around a static ball and onto one off its centre. */
	struct placed_shape still = placed_at(small, at(0, 2, 0), 3);
	vec3 up = vec3_make(0, 4, 0);
	ck_assert_uint_eq(placed_cast(&still, 1, torus, at(0, 0, 0), up, &hit, 1, &status), 0);
	still.at = at(1, 2, 0);
	ck_assert_uint_eq(placed_cast(&still, 1, torus, at(0, 0, 0), up, &hit, 1, &status), 1);
	ck_assert_double_eq_tol(hit.fraction, 1.25 / 4, 1e-3);
	/* A cast that starts inside the tube. */
	ck_assert_uint_eq(placed_cast(&ring, 1, tiny, at(1, 0.1, 0), up, &hit, 1, &status), 1);
	ck_assert(hit.fraction == 0 && hit.depth > 0.1 && hit.normal.y > 0.9);
	struct closest_pair near;
	struct placed_shape other = placed_at(small, at(0, 0, 0), 4);
	ck_assert(placed_closest(&ring, 1, &other, 1, 1, &near));
	ck_assert_double_eq_tol(near.distance, 0.25, 0.005);
	ck_assert_uint_eq(near.a.body, 7);
	ck_assert_double_eq_tol(vec3_length(near.a.point), 0.75, 0.005);
	ck_assert(placed_closest(&other, 1, &ring, 1, 1, &near));
	ck_assert_double_eq_tol(near.distance, 0.25, 0.005);
	ck_assert_double_eq_tol(vec3_length(near.b.point), 0.75, 0.005);
	other = placed_at(tiny, at(1, 0, 0), 4);
	ck_assert(placed_closest(&ring, 1, &other, 1, 1, &near));
	ck_assert_double_eq_tol(near.distance, -0.3, 0.01);
	other = placed_at(cube, at(0, 1, 0), 5);
	ck_assert(placed_closest(&ring, 1, &other, 1, 1, &near));
	/* The nearest points: a corner of the cube's bottom and the tube. */
	double corner = scalar_sqrt(0.5),
	       gap = scalar_sqrt(scalar_square(1 - corner) + 0.25) - 0.25;
	ck_assert_double_eq_tol(near.distance, gap, 0.005);
	other = placed_at(box, at(0, 0.1, 0), 6);
	ck_assert(placed_closest(&ring, 1, &other, 1, 1, &near));
	ck_assert_double_gt(near.distance, 0.4);
	shape_release(small);
	shape_release(tiny);
	shape_release(box);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/field");
	TCase *all = tcase_create("fields");
	tcase_add_unchecked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 20);
	tcase_add_test(all, a_field_of_a_ball_collides_with_spheres_like_a_ball);
	tcase_add_test(all, a_field_of_a_ball_collides_with_planes_capsules_and_boxes_like_a_ball);
	tcase_add_test(all, a_body_in_the_hole_of_a_torus_touches_all_around_or_nowhere);
	tcase_add_test(all, a_marble_in_a_bowl_touches_the_wall_below_it);
	tcase_add_test(all, stacked_cubes_have_four_points_and_one_normal);
	tcase_add_test(all, crossed_edges_have_the_normal_of_their_edge_pair);
	tcase_add_test(all, depths_agree_with_the_book_or_with_a_face);
	tcase_add_test(all, contacts_are_the_same_in_both_orders);
	tcase_add_test(all, an_earlier_query_does_not_change_the_result);
	tcase_add_test(all, tori_of_parts_and_of_a_field_touch_the_same_bodies);
	tcase_add_test(all,
		       a_cube_has_26_sides_and_each_normal_selects_one_that_contains_its_vertex);
	tcase_add_test(all, rays_and_overlaps_respect_the_hole_of_a_torus);
	tcase_add_test(all, casts_and_nearest_points_end_on_the_surface);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
