/* Pairs with closed-form results, meshes whose inner edges must not give contacts, and polygons. */
#include "server/engine/collision/manifold.h"

#include "server/engine/collision/query.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#define MARGIN 0.02

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static void collide(const struct shape *a, uint32_t child, const struct shape *b, const pose *at,
		    struct manifold *out)
{
	struct pair_cache cache = { 0 };
	collide_pieces((struct piece){ a, child }, (struct piece){ b, 0 }, at, MARGIN, &cache, out);
}

static double deepest(const struct manifold *m)
{
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < m->count; k++)
		least = scalar_min(least, m->points[k].separation);
	return least;
}

static void check_near(vec3 a, vec3 b, double tolerance)
{
	ck_assert_double_le(vec3_distance(a, b), tolerance);
}

/* ---- the table -------------------------------------------------------------------------------- */

START_TEST(the_table_of_pairs_is_symmetric_and_omits_only_pairs_that_cannot_collide)
{
	for (int a = 0; a <= SHAPE_KINDS; a++) {
		for (int b = 0; b <= SHAPE_KINDS; b++) {
			bool solid_a = (a >= SHAPE_SPHERE && a <= SHAPE_HULL) ||
				       (a >= SHAPE_SOLID && a <= SHAPE_ELLIPSOID);
			bool solid_b = (b >= SHAPE_SPHERE && b <= SHAPE_HULL) ||
				       (b >= SHAPE_SOLID && b <= SHAPE_ELLIPSOID);
			bool ground_a =
				a == SHAPE_PLANE || a == SHAPE_MESH || a == SHAPE_HEIGHTFIELD;
			bool ground_b =
				b == SHAPE_PLANE || b == SHAPE_MESH || b == SHAPE_HEIGHTFIELD;
			bool wanted = (solid_a && (solid_b || ground_b)) || (ground_a && solid_b) ||
				      (a == SHAPE_POLYGON && b == SHAPE_POLYGON);
			ck_assert(collide_supported(a, b) == wanted);
		}
	}
}
END_TEST

/* ---- round shapes ----------------------------------------------------------------------------- */

/* G-19. */
START_TEST(spheres_touch_on_the_line_of_their_centres)
{
	struct shape *a = make_sphere(1), *b = make_sphere(0.5);
	struct manifold m;
	pose at = pose_make(vec3_make(0, 1.4, 0), random_rotation(&rng));
	collide(a, 0, b, &at, &m);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_double_eq_tol(m.points[0].separation, -0.1, 1e-15);
	check_near(m.normal, vec3_make(0, 1, 0), 0);
	check_near(m.points[0].point, vec3_make(0, 0.95, 0), 1e-15);
	at.position.y = 1.5 + MARGIN;
	collide(a, 0, b, &at, &m);
	ck_assert_uint_eq(m.count, 1);
	at.position.y += 1e-9;
	collide(a, 0, b, &at, &m);
	ck_assert_uint_eq(m.count, 0);
	at.position = vec3_zero(); /* coincident centres: any unit normal, full depth */
	collide(a, 0, b, &at, &m);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_double_eq_tol(vec3_length(m.normal), 1, 1e-15);
	ck_assert_double_eq(m.points[0].separation, -1.5);
	shape_release(a);
	shape_release(b);
}
END_TEST

/* G-21. */
START_TEST(a_sphere_touches_a_box_at_the_clamped_centre)
{
	struct shape *sphere = make_sphere(0.5), *box = make_box(1, 2, 3);
	for (int k = 0; k < 2000; k++) {
		vec3 c = random_vector(&rng, 3.6);
		quat turn = random_rotation(&rng);
		/* The sphere is A, so this is the box's pose in the sphere's frame. */
		pose at = pose_make(vec3_negate(quat_rotate(turn, c)), turn);
		struct manifold m;
		collide(sphere, 0, box, &at, &m);
		double distance = oracle_point_distance(box->hull, c) - 0.5;
		ck_assert_uint_eq(m.count, distance <= MARGIN);
		if (m.count == 1)
			ck_assert_double_eq_tol(m.points[0].separation, distance, 1e-12);
	}
	shape_release(sphere);
	shape_release(box);
}
END_TEST

START_TEST(a_sphere_touches_a_hull_at_its_nearest_point_or_face)
{
	vec3 points[40];
	for (int k = 0; k < 40; k++)
		points[k] = vec3_scale(random_direction(&rng), rng_range(&rng, 0.8, 1));
	struct shape *sphere = make_sphere(0.3), *hull = make_hull(points, 40);
	for (int k = 0; k < 3000; k++) {
		vec3 c = vec3_scale(random_direction(&rng), rng_range(&rng, 0.3, 1.4));
		quat turn = random_rotation(&rng);
		pose at = pose_make(vec3_negate(quat_rotate(turn, c)), turn);
		struct manifold m;
		collide(sphere, 0, hull, &at, &m);
		double distance = oracle_point_distance(hull->hull, c) - 0.3;
		ck_assert_uint_eq(m.count, distance <= MARGIN);
		if (m.count == 1)
			ck_assert_double_eq_tol(m.points[0].separation, distance, 1e-9);
	}
	shape_release(sphere);
	shape_release(hull);
}
END_TEST

START_TEST(capsules_touch_where_their_segments_are_nearest)
{
	struct shape *a = make_capsule(0.5, 0.2), *b = make_capsule(1, 0.1);
	for (int k = 0; k < 3000; k++) {
		pose at = pose_make(random_vector(&rng, 1), awkward_rotation(&rng));
		vec3 up = quat_rotate(at.rotation, vec3_make(0, 1, 0));
		struct segment_pair near = closest_segment_segment(
			vec3_make(0, -0.5, 0), vec3_make(0, 0.5, 0), vec3_sub(at.position, up),
			vec3_add(at.position, up));
		double distance = scalar_sqrt(near.distance_squared) - 0.3;
		struct manifold m;
		collide(a, 0, b, &at, &m);
		if (scalar_abs(distance - MARGIN) > 1e-9)
			ck_assert((m.count > 0) == (distance <= MARGIN));
		if (m.count > 0)
			ck_assert_double_eq_tol(deepest(&m), distance, 3e-3);
	}
	/* Side by side: two points, at the ends of the common part. */
	struct manifold m;
	pose at = pose_make(vec3_make(0.29, 0.2, 0), quat_identity());
	collide(a, 0, b, &at, &m);
	ck_assert_uint_eq(m.count, 2);
	ck_assert_double_eq_tol(vec3_distance(m.points[0].point, m.points[1].point), 1, 1e-12);
	ck_assert_uint_ne(m.points[0].feature, m.points[1].feature);
	check_near(m.normal, vec3_make(1, 0, 0), 1e-15);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(a_capsule_lying_on_a_box_touches_in_two_points)
{
	struct shape *capsule = make_capsule(0.5, 0.2), *box = make_box(2, 0.5, 2);
	quat lying = quat_between(vec3_make(0, 1, 0), vec3_make(1, 0, 0));
	for (int k = 0; k < 200; k++) {
		vec3 tilt = random_vector(&rng, 1e-4);
		quat turn = quat_normalize(
			quat_mul(quat_make(1, tilt.x, rng_range(&rng, -3, 3), tilt.z), lying));
		pose at = pose_make(vec3_make(0.3, 0.699, -0.2), turn);
		struct manifold m;
		collide(box, 0, capsule, &at, &m);
		ck_assert_uint_eq(m.count, 2);
		check_near(m.normal, vec3_make(0, 1, 0), 1e-3);
		ck_assert_double_eq_tol(vec3_distance(m.points[0].point, m.points[1].point), 1,
					1e-3);
		ck_assert_double_eq_tol(deepest(&m), -0.001, 2e-4);
	}
	/* Deep overlap: the normal is the shortest way out. */
	struct manifold m;
	pose at = pose_make(vec3_make(0, 0.4, 0), lying);
	collide(box, 0, capsule, &at, &m);
	ck_assert_uint_eq(m.count, 2);
	ck_assert_double_eq_tol(deepest(&m), -0.3, 1e-12);
	check_near(m.normal, vec3_make(0, 1, 0), 1e-12);
	shape_release(capsule);
	shape_release(box);
}
END_TEST

START_TEST(a_shape_touches_a_plane_with_its_lowest_points)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0.25);
	struct shape *kinds[3] = { make_sphere(0.3), make_capsule(0.5, 0.1),
				   make_box(0.2, 0.4, 0.3) };
	for (int k = 0; k < 3000; k++) {
		const struct shape *shape = kinds[k % 3];
		pose at = pose_make(random_vector(&rng, 0.8), awkward_rotation(&rng));
		struct manifold m;
		collide(plane, 0, shape, &at, &m);
		struct aabb box = shape_aabb(shape, &at);
		double height = box.min.y - 0.25;
		if (scalar_abs(height - MARGIN) > 1e-9)
			ck_assert((m.count > 0) == (height <= MARGIN));
		if (m.count == 0)
			continue;
		ck_assert_double_eq_tol(deepest(&m), height, 1e-3);
		check_near(m.normal, vec3_make(0, 1, 0), 1e-12);
	}
	for (int k = 0; k < 3; k++)
		shape_release(kinds[k]);
	shape_release(plane);
}
END_TEST

/* ---- surfaces --------------------------------------------------------------------------------- */

/* All manifolds of a body with the triangles near it: how many have points, and the least
 * separation. */
struct surface {
	uint32_t touching;
	double least;
	double upright; /* least cosine between a normal and +y */
};

static struct surface collide_mesh(const struct shape *mesh, const struct shape *body,
				   const pose *at)
{
	struct surface out = { 0, SCALAR_MAX, 1 };
	struct mesh_walk walk;
	uint32_t triangle;
	mesh_walk_init(&walk, mesh->mesh, aabb_grow(shape_aabb(body, at), MARGIN));
	while (mesh_walk_next(&walk, &triangle)) {
		struct manifold m;
		collide(mesh, triangle, body, at, &m);
		if (m.count == 0)
			continue;
		out.touching++;
		out.least = scalar_min(out.least, deepest(&m));
		out.upright = scalar_min(out.upright, m.normal.y);
	}
	return out;
}

/* A body rolls and slides over a flat grid of triangles: every normal points up, the depth is that
 * of the lowest point, and no pose is without contact. */
static void check_rolling(const struct shape *body, bool exact)
{
	struct shape *ground = make_terrain(20, 1, 0, 1);
	for (int k = 0; k < 1500; k++) {
		quat turn = k % 3 == 0 ? random_rotation(&rng) : awkward_rotation(&rng);
		pose at = pose_make(vec3_zero(), turn);
		double depth = rng_range(&rng, 1e-4, 0.01);
		at.position.y = -shape_aabb(body, &at).min.y - depth;
		/* Some poses lie exactly over seams, corners and diagonals. */
		double x = rng_range(&rng, -3, 3), z = rng_range(&rng, -3, 3);
		at.position.x = k % 4 == 0 ? scalar_round(x) : x;
		at.position.z = k % 5 == 0 ? scalar_round(z) : k % 7 == 0 ? at.position.x : z;
		struct surface found = collide_mesh(ground, body, &at);
		ck_assert_uint_gt(found.touching, 0);
		ck_assert_double_ge(found.upright, 1 - 1e-9);
		ck_assert_double_eq_tol(found.least, -depth, exact ? 1e-9 : 2e-3);
	}
	shape_release(ground);
}

START_TEST(a_rolling_sphere_collides_with_a_flat_grid_as_with_a_plane)
{
	struct shape *sphere = make_sphere(0.3);
	check_rolling(sphere, true);
	shape_release(sphere);
}
END_TEST

START_TEST(a_tumbling_box_collides_with_a_flat_grid_as_with_a_plane)
{
	struct shape *box = make_box(0.4, 0.2, 0.7), *large = make_box(1.5, 0.3, 1.5);
	check_rolling(box, false);
	check_rolling(large, false);
	shape_release(box);
	shape_release(large);
}
END_TEST

START_TEST(a_tumbling_hull_and_a_capsule_collide_with_a_flat_grid_as_with_a_plane)
{
	vec3 points[24];
	for (int k = 0; k < 24; k++)
		points[k] = vec3_scale(random_direction(&rng), 0.5);
	struct shape *hull = make_hull(points, 24), *capsule = make_capsule(0.6, 0.2);
	check_rolling(hull, false);
	check_rolling(capsule, false);
	shape_release(hull);
	shape_release(capsule);
}
END_TEST

/* A box as a closed surface of twelve triangles. */
static struct shape *box_surface(vec3 half)
{
	static const uint32_t QUADS[6][4] = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 },
					      { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } };
	vec3 vertices[8];
	uint32_t triangles[12][3];
	for (int k = 0; k < 8; k++)
		vertices[k] = vec3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
					k & 4 ? half.z : -half.z);
	for (int k = 0; k < 6; k++) {
		const uint32_t *q = QUADS[k];
		triangles[2 * k][0] = q[0], triangles[2 * k][1] = q[1], triangles[2 * k][2] = q[2];
		triangles[2 * k + 1][0] = q[0], triangles[2 * k + 1][1] = q[2],
				  triangles[2 * k + 1][2] = q[3];
	}
	return make_mesh(vertices, 8, triangles, 12);
}

/* The surface of a box must collide like the box: the same nearest distance from outside, the same
 * depth inside. This is exact for round bodies. A polyhedron with a corner in a corner of the
 * surface is found too, and never deeper than it is; in about one in 50000 such poses the depth is
 * up to 5 mm too small, because one triangle uses an axis of its own. */
START_TEST(a_closed_surface_collides_like_the_solid_it_bounds)
{
	vec3 half = vec3_make(1, 0.8, 1.2), points[10];
	struct shape *solid = make_box(half.x, half.y, half.z), *surface = box_surface(half);
	for (int k = 0; k < 10; k++)
		points[k] = vec3_scale(random_direction(&rng), 0.35);
	struct shape *bodies[5] = { make_sphere(0.3), make_capsule(0.4, 0.2),
				    make_box(0.3, 0.2, 0.4), make_sphere(0.01),
				    make_hull(points, 10) };
	uint32_t shallow = 0;
	for (int k = 0; k < 10000; k++) {
		const struct shape *body = bodies[k % 5];
		struct piece_gap gap;
		/* Half of the directions point near a corner. */
		vec3 direction = random_direction(&rng);
		if (k & 1) {
			vec3 corner = solid->hull->vertices[rng_below(&rng, 8)];
			direction = vec3_mul_add(corner, direction, 0.1);
		}
		pose at = pose_make(vec3_scale(direction, 4), awkward_rotation(&rng));
		piece_distance((struct piece){ solid, 0 }, (struct piece){ body, 0 }, &at, &gap);
		double wanted = rng_range(&rng, -0.008, 0.015);
		at.position = vec3_mul_sub(at.position, gap.normal, gap.distance - wanted);
		struct surface found = collide_mesh(surface, body, &at);
		struct manifold m;
		collide(solid, 0, body, &at, &m);
		ck_assert_uint_gt(found.touching, 0);
		ck_assert_double_gt(found.least, deepest(&m) - 3e-3);
		bool alike = found.least < deepest(&m) + 3e-3;
		ck_assert(alike || (body->hull != NULL && found.least < deepest(&m) + 6e-3));
		shallow += !alike;
		/* Only one triangle reports a shared edge or corner. */
		if (body->kind == SHAPE_SPHERE)
			ck_assert_uint_le(found.touching, 2);
	}
	ck_assert_uint_le(shallow, 2);
	for (int k = 0; k < 5; k++)
		shape_release(bodies[k]);
	shape_release(solid);
	shape_release(surface);
}
END_TEST

static double surface_gap(const struct shape *mesh, const struct shape *body, const pose *at)
{
	struct mesh_walk walk;
	uint32_t triangle;
	double least = 1;
	mesh_walk_init(&walk, mesh->mesh, aabb_grow(shape_aabb(body, at), 1));
	while (mesh_walk_next(&walk, &triangle)) {
		struct piece_gap gap;
		piece_distance((struct piece){ mesh, triangle }, (struct piece){ body, 0 }, at,
			       &gap);
		least = scalar_min(least, gap.distance);
	}
	return least;
}

START_TEST(over_hilly_ground_the_nearest_triangle_gives_the_contact)
{
	struct shape *ground = make_terrain(16, 0.5, 0.6, 3);
	struct shape *bodies[3] = { make_sphere(0.3), make_capsule(0.4, 0.2),
				    make_box(0.3, 0.2, 0.4) };
	for (int k = 0; k < 400; k++) {
		const struct shape *body = bodies[k % 3];
		double x = rng_range(&rng, -2, 2), z = rng_range(&rng, -2, 2);
		pose at = pose_make(vec3_make(x, 2, z), random_rotation(&rng));
		/* Lower the body by at most the gap, until the gap is 1 cm. */
		double gap = surface_gap(ground, body, &at);
		for (int step = 0; step < 200 && scalar_abs(gap - 0.01) > 1e-3; step++) {
			at.position.y -= gap - 0.01;
			gap = surface_gap(ground, body, &at);
		}
		struct surface found = collide_mesh(ground, body, &at);
		ck_assert_uint_gt(found.touching, 0);
		ck_assert_double_eq_tol(found.least, gap, 3e-3);
		ck_assert_double_gt(found.upright, 0);
	}
	for (int k = 0; k < 3; k++)
		shape_release(bodies[k]);
	shape_release(ground);
}
END_TEST

START_TEST(a_surface_collides_from_outside_only)
{
	struct shape *ground = make_terrain(4, 1, 0, 1), *sphere = make_sphere(0.3);
	struct shape *box = make_box(0.3, 0.3, 0.3), *capsule = make_capsule(0.3, 0.1);
	pose below = pose_make(vec3_make(0.1, -0.32, 0.2), quat_identity());
	ck_assert_uint_eq(collide_mesh(ground, sphere, &below).touching, 0);
	ck_assert_uint_eq(collide_mesh(ground, box, &below).touching, 0);
	below.position.y = -0.42;
	ck_assert_uint_eq(collide_mesh(ground, capsule, &below).touching, 0);
	shape_release(ground);
	shape_release(sphere);
	shape_release(box);
	shape_release(capsule);
}
END_TEST

/* ---- polygons --------------------------------------------------------------------------------- */

static struct shape *square(double half, double radius)
{
	vec3 corners[4] = {
		{ -half, -half, 0 }, { half, -half, 0 }, { half, half, 0 }, { -half, half, 0 }
	};
	return make_polygon(corners, 4, radius);
}

static pose planar_pose(double x, double y, double angle)
{
	double half = angle / 2;
	return pose_make(vec3_make(x, y, 0),
			 quat_normalize(quat_make(1 - half * half / 2, 0, 0, half)));
}

START_TEST(stacked_squares_touch_in_two_points_with_stable_features)
{
	struct shape *one = square(0.5, 0), *round = square(0.45, 0.05);
	const struct shape *kinds[2] = { one, round };
	for (int kind = 0; kind < 2; kind++) {
		for (int shift = 0; shift < 3; shift++) {
			struct pair_cache cache = { 0 };
			uint32_t features[2] = { 0, 0 };
			for (int k = 0; k < 200; k++) {
				vec3 j = random_vector(&rng, 2e-5);
				pose at = planar_pose(0.25 * shift + j.x, 1 + j.y, j.z);
				struct manifold m;
				collide_pieces((struct piece){ kinds[kind], 0 },
					       (struct piece){ kinds[kind], 0 }, &at, MARGIN,
					       &cache, &m);
				ck_assert_uint_eq(m.count, 2);
				ck_assert_double_ge(m.normal.y, 1 - 1e-6);
				ck_assert_double_eq(m.normal.z, 0);
				for (int i = 0; i < 2; i++) {
					ck_assert_double_eq_tol(m.points[i].separation, 0, 1e-4);
					ck_assert_double_eq(m.points[i].point.z, 0);
					if (k == 0)
						features[i] = m.points[i].feature;
					ck_assert_uint_eq(m.points[i].feature, features[i]);
				}
				ck_assert_uint_ne(features[0], features[1]);
			}
		}
	}
	shape_release(one);
	shape_release(round);
}
END_TEST

/* The distance of two squares' cores over all pairs of edges; 0 if they overlap. */
static double core_distance(const struct polygon *a, const struct polygon *b, const pose *at)
{
	double best = SCALAR_MAX;
	for (uint32_t i = 0; i < a->count; i++) {
		for (uint32_t j = 0; j < b->count; j++) {
			struct segment_pair near = closest_segment_segment(
				a->vertices[i], a->vertices[(i + 1) % a->count],
				pose_point(*at, b->vertices[j]),
				pose_point(*at, b->vertices[(j + 1) % b->count]));
			best = scalar_min(best, near.distance_squared);
		}
	}
	return scalar_sqrt(best);
}

START_TEST(rounded_polygons_are_as_far_apart_as_their_cores_less_the_radii)
{
	vec3 corners[3] = { { -0.5, -0.3, 0 }, { 0.7, -0.2, 0 }, { 0.1, 0.6, 0 } };
	struct shape *shapes[3] = { square(0.4, 0.1), make_polygon(corners, 3, 0.05),
				    square(0.5, 0) };
	for (int k = 0; k < 8000; k++) {
		const struct shape *a = shapes[rng_below(&rng, 3)], *b = shapes[rng_below(&rng, 3)];
		double x = rng_range(&rng, -1.4, 1.4), y = rng_range(&rng, -1.4, 1.4);
		pose at = planar_pose(x, y, rng_range(&rng, -2, 2));
		pose back = pose_inverse(at);
		double radii = a->polygon->radius + b->polygon->radius;
		double core = core_distance(a->polygon, b->polygon, &at);
		struct manifold m, n;
		collide(a, 0, b, &at, &m);
		collide(b, 0, a, &back, &n);
		if (core < 1e-9)
			continue; /* the cores overlap, or one lies in the other */
		if (m.count > 0 && deepest(&m) < -radii - 1e-6)
			continue; /* inside */
		if (core - radii > MARGIN + 2e-3)
			ck_assert_uint_eq(m.count + n.count, 0);
		if (core - radii < MARGIN - 2e-3) {
			ck_assert_double_eq_tol(deepest(&m), core - radii, 2e-3);
			ck_assert_double_eq_tol(deepest(&n), core - radii, 2e-3);
		}
	}
	for (int k = 0; k < 3; k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(rounded_corners_touch_on_the_line_between_them)
{
	struct shape *one = square(0.4, 0.1);
	double r = 0.70710678118654752440, apart = 0.19;
	pose at = planar_pose(0.8 + apart * r, 0.8 + apart * r, 0);
	struct manifold m;
	collide(one, 0, one, &at, &m);
	ck_assert_uint_eq(m.count, 1);
	check_near(m.normal, vec3_make(r, r, 0), 1e-12);
	ck_assert_double_eq_tol(m.points[0].separation, -0.01, 1e-12);
	shape_release(one);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/pairs");
	TCase *tcase = tcase_create("round");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase,
		       the_table_of_pairs_is_symmetric_and_omits_only_pairs_that_cannot_collide);
	tcase_add_test(tcase, spheres_touch_on_the_line_of_their_centres);
	tcase_add_test(tcase, a_sphere_touches_a_box_at_the_clamped_centre);
	tcase_add_test(tcase, a_sphere_touches_a_hull_at_its_nearest_point_or_face);
	tcase_add_test(tcase, capsules_touch_where_their_segments_are_nearest);
	tcase_add_test(tcase, a_capsule_lying_on_a_box_touches_in_two_points);
	tcase_add_test(tcase, a_shape_touches_a_plane_with_its_lowest_points);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("mesh");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, a_rolling_sphere_collides_with_a_flat_grid_as_with_a_plane);
	tcase_add_test(tcase, a_tumbling_box_collides_with_a_flat_grid_as_with_a_plane);
	tcase_add_test(tcase,
		       a_tumbling_hull_and_a_capsule_collide_with_a_flat_grid_as_with_a_plane);
	tcase_add_test(tcase, a_closed_surface_collides_like_the_solid_it_bounds);
	tcase_add_test(tcase, over_hilly_ground_the_nearest_triangle_gives_the_contact);
	tcase_add_test(tcase, a_surface_collides_from_outside_only);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("polygon");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, stacked_squares_touch_in_two_points_with_stable_features);
	tcase_add_test(tcase, rounded_polygons_are_as_far_apart_as_their_cores_less_the_radii);
	tcase_add_test(tcase, rounded_corners_touch_on_the_line_between_them);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
