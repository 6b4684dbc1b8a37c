/* app D-01…D-06: mass properties against closed forms and against sums over tetrahedra. */
#include "server/engine/geometry/mass.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/hull.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdio.h>

static struct rng rng;

static void expect_near_mat3(mat3 a, mat3 b, double tolerance)
{
	for (uint32_t row = 0; row < 3; row++)
		for (uint32_t column = 0; column < 3; column++)
			ck_assert_double_eq_tol(mat3_get(a, row, column), mat3_get(b, row, column),
						tolerance);
}

static void expect_near_vec3(vec3 a, vec3 b, double tolerance)
{
	ck_assert_double_eq_tol(a.x, b.x, tolerance);
	ck_assert_double_eq_tol(a.y, b.y, tolerance);
	ck_assert_double_eq_tol(a.z, b.z, tolerance);
}

/* ---- the oracle: signed tetrahedra from the origin --------------------------------------------- */

static double symmetric_sum(double a, double b, double c)
{
	return (a + b + c) * (a + b + c) + a * a + b * b + c * c;
}

static double mixed_sum(double ax, double bx, double cx, double ay, double by, double cy)
{
	return (ax + bx + cx) * (ay + by + cy) + ax * ay + bx * by + cx * cy;
}

/* ∫ over the tetrahedron (0, a, b, c): of 1: V = det/6; of x: V Σx/4; of x²: V (Σx)² + Σx² over 20. */
static void add_tetrahedron(struct volume_integrals *sum, vec3 a, vec3 b, vec3 c)
{
	double v = vec3_triple(a, b, c) / 6;
	sum->t1 += v;
	sum->t = vec3_mul_add(sum->t, vec3_add(vec3_add(a, b), c), v / 4);
	sum->squares.x += v / 20 * symmetric_sum(a.x, b.x, c.x);
	sum->squares.y += v / 20 * symmetric_sum(a.y, b.y, c.y);
	sum->squares.z += v / 20 * symmetric_sum(a.z, b.z, c.z);
	sum->products.x += v / 20 * mixed_sum(a.x, b.x, c.x, a.y, b.y, c.y);
	sum->products.y += v / 20 * mixed_sum(a.y, b.y, c.y, a.z, b.z, c.z);
	sum->products.z += v / 20 * mixed_sum(a.z, b.z, c.z, a.x, b.x, c.x);
}

static struct mass_properties mass_by_tetrahedra(const struct hull *hull)
{
	struct volume_integrals sum = { 0 };
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t h = hull->faces[f].edge;
		vec3 a = vec3_sub(hull->vertices[hull->edges[h].origin], hull->centre);
		h = hull->edges[h].next;
		for (uint32_t i = 2; i < hull->faces[f].edge_count; i++) {
			uint32_t next = hull->edges[h].next;
			add_tetrahedron(
				&sum, a,
				vec3_sub(hull->vertices[hull->edges[h].origin], hull->centre),
				vec3_sub(hull->vertices[hull->edges[next].origin], hull->centre));
			h = next;
		}
	}
	return mass_of_integrals(&sum, hull->centre);
}

/* ---- app D ------------------------------------------------------------------------------------ */

START_TEST(the_box_of_d06_has_its_ten_integrals)
{
	/* 2×3×5 with a corner at the origin, over quadrilateral faces. */
	struct hull *hull = box_hull(vec3_make(1, 1.5, 2.5));
	struct volume_integrals sum = { 0 };
	for (uint32_t f = 0; f < 6; f++) {
		vec3 corner[4];
		for (uint32_t i = 0; i < 4; i++)
			corner[i] = vec3_add(hull->vertices[hull->edges[4 * f + i].origin],
					     vec3_make(1, 1.5, 2.5));
		mass_add_face(&sum, corner, 4);
	}
	ck_assert_double_eq_tol(sum.t1, 30, 1e-13);
	expect_near_vec3(sum.t, vec3_make(30, 45, 75), 1e-13);
	expect_near_vec3(sum.squares, vec3_make(40, 90, 250), 2e-13);
	expect_near_vec3(sum.products, vec3_make(45, 112.5, 75), 2e-13);
	heap_free(hull);
}
END_TEST

START_TEST(the_box_of_a04_has_its_inertia)
{
	/* 2×3×4 of mass 12: diagonal (25, 20, 13). */
	struct shape *box = make_box(1, 1.5, 2);
	double density = 12 / box->mass.volume;
	expect_near_mat3(mat3_scale(box->mass.inertia, density),
			 mat3_diagonal(vec3_make(25, 20, 13)), 1e-13);
	struct mass_properties by_faces = mass_of_hull(box->hull);
	ck_assert_double_eq_tol(by_faces.volume, 24, 1e-13);
	expect_near_mat3(by_faces.inertia, box->mass.inertia, 1e-13);
	shape_release(box);
}
END_TEST

START_TEST(round_solids_agree_with_their_closed_forms)
{
	struct shape *sphere = make_sphere(2);
	double v = 4.0 / 3.0 * PI * 8;
	ck_assert_double_eq_tol(sphere->mass.volume, v, 1e-13);
	expect_near_mat3(sphere->mass.inertia, mat3_diagonal(vec3_all(0.4 * v * 4)), 1e-12);
	shape_release(sphere);
	/* A capsule of nearly zero length is a sphere. */
	struct shape *capsule = make_capsule(1e-4, 2);
	double cylinder = 2 * PI * 4 * 1e-4;
	ck_assert_double_eq_tol(capsule->mass.volume, v + cylinder, 1e-12);
	expect_near_mat3(capsule->mass.inertia, mat3_diagonal(vec3_all(0.4 * v * 4)), 0.05);
	shape_release(capsule);
	/* The oracle: thin slices across the axis, independent of the formula. */
	double h = 0.75, r = 0.25, along = 0, across = 0, volume = 0;
	uint32_t slices = 200000;
	for (uint32_t i = 0; i < slices; i++) {
		double step = 2 * (h + r) / slices, y = -(h + r) + (i + 0.5) * step;
		double beyond = scalar_max(scalar_abs(y) - h, 0);
		double q = r * r - beyond * beyond, slice = PI * q * step;
		volume += slice;
		along += slice * q / 2;
		across += slice * (q / 4 + y * y);
	}
	capsule = make_capsule(h, r);
	ck_assert_double_eq_tol(capsule->mass.volume, volume, 1e-9);
	expect_near_mat3(capsule->mass.inertia, mat3_diagonal(vec3_make(across, along, across)),
			 1e-9);
	shape_release(capsule);
}
END_TEST

START_TEST(random_hulls_have_the_mass_of_their_tetrahedra)
{
	double worst = 0;
	uint32_t strict = 0;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 300; run++) {
		vec3 points[200];
		uint32_t count = 4 + rng_below(&rng, 196);
		vec3 shift = vec3_scale(random_vector(&rng, 1), run % 2 ? 1e3 : 0);
		for (uint32_t i = 0; i < count; i++)
			points[i] = vec3_add(shift, random_vector(&rng, 1));
		struct shape *shape = make_hull(points, count);
		struct mass_properties slow = mass_by_tetrahedra(shape->hull), *fast = &shape->mass;
		/* A face has more than three corners only if the hull merged faces within its
		 * tolerance; the oracle's fan over it may then differ from the convex one. */
		bool joined = shape->hull->face_count != 2 * shape->hull->vertex_count - 4;
		double slack = joined ? 1e-5 : 1e-12;
		if (!joined)
			worst = scalar_max(worst, scalar_abs(slow.volume - fast->volume));
		strict += !joined;
		ck_assert_double_eq_tol(fast->volume, slow.volume, slack);
		expect_near_vec3(fast->centre, slow.centre, 10 * slack);
		expect_near_mat3(fast->inertia, slow.inertia, slack);
		shape_release(shape);
	}
	printf("# volumes of %u random hulls off by %.1e at most\n", strict, worst);
	ck_assert_uint_gt(strict, 200);
}
END_TEST

START_TEST(a_face_of_many_corners_is_integrated_once)
{
	/* A face with more corners than the fan has space for. */
	vec3 points[200];
	for (uint32_t i = 0; i < 100; i++) {
		double x = -1 + 0.02 * i + 0.01, z = 1 - x * x;
		points[2 * i] = vec3_make(x, 1, z);
		points[2 * i + 1] = vec3_make(x, -1, z);
	}
	struct shape *shape = make_hull(points, 200);
	struct mass_properties by_faces = mass_of_hull(shape->hull),
			       slow = mass_by_tetrahedra(shape->hull);
	ck_assert_double_eq_tol(by_faces.volume, slow.volume, 1e-13);
	expect_near_mat3(by_faces.inertia, slow.inertia, 1e-13);
	shape_release(shape);
}
END_TEST

/* Four points with coordinates of very different magnitudes: many of these closed meshes are flat,
 * so their computed volume is rounding error. */
START_TEST(a_flat_closed_mesh_has_no_mass)
{
	static const uint32_t FACES[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 1 }, { 1, 3, 2 } };
	static const double SIZES[] = { 0,     1e-320, 1e-300, 1e-200, 1e-160, 1e-150, 1e-100,
					1e-12, 1,      3,      5,      -1,     7e4,    1e5 };
	uint32_t solid = 0, flat = 0;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 40000; run++) {
		vec3 corners[4];
		for (uint32_t i = 0; i < 12; i++)
			vec3_set(&corners[i / 3], i % 3, SIZES[rng_below(&rng, COUNT_OF(SIZES))]);
		struct bytes bytes = { 0 };
		struct shape *shape = NULL;
		struct reason why;
		bytes_of_mesh(&bytes, corners, 4, FACES, 4);
		enum status status = shape_cook(bytes.data, bytes.count, NULL, &shape, &why);
		bytes_release(&bytes);
		if (status != STATUS_OK)
			continue; /* mostly two coincident corners */
		struct mass_properties mass = shape->mass;
		ck_assert(mass.volume > 0 || vec3_equal(mass.centre, vec3_zero()));
		*(mass.volume > 0 ? &solid : &flat) += 1;
		ck_assert(scalar_is_finite(mat3_trace(mass.inertia)));
		if (mass.volume > 0) {
			struct aabb box = aabb_make(shape->aabb_min, shape->aabb_max);
			ck_assert(aabb_contains_point(aabb_grow(box, 1e-3), mass.centre));
		}
		shape_release(shape);
	}
	ck_assert_uint_gt(solid, 100);
	ck_assert_uint_gt(flat, 100);
}
END_TEST

START_TEST(a_closed_convex_mesh_has_the_mass_of_its_hull)
{
	static const vec3 CORNERS[4] = {
		{ 100, 0, 0 }, { 101, 0, 0 }, { 100, 2, 0 }, { 100, 0, 3 }
	};
	static const uint32_t FACES[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
	struct shape *mesh = make_mesh(CORNERS, 4, FACES, 4), *hull = make_hull(CORNERS, 4);
	ck_assert(mesh->mesh->closed);
	ck_assert_double_eq_tol(mesh->mass.volume, 1, 1e-12);
	ck_assert_double_eq_tol(hull->mass.volume, 1, 1e-12);
	expect_near_vec3(mesh->mass.centre, vec3_make(100.25, 0.5, 0.75), 1e-12);
	expect_near_mat3(mesh->mass.inertia, hull->mass.inertia, 1e-12);
	shape_release(mesh);
	mesh = make_mesh(CORNERS, 4, FACES, 3);
	ck_assert(!mesh->mesh->closed);
	ck_assert(mesh->mass.volume == 0);
	shape_release(mesh);
	shape_release(hull);
}
END_TEST

/* ---- polygons --------------------------------------------------------------------------------- */

START_TEST(a_rounded_rectangle_agrees_with_its_closed_form)
{
	double a = 2, b = 1, r = 0.5;
	vec3 corners[4] = { { 1, 1, 0 }, { 5, 1, 0 }, { 5, 3, 0 }, { 1, 3, 0 } };
	struct shape *shape = make_polygon(corners, 4, r);
	double area = 4 * a * b + 4 * (a + b) * r + PI * r * r;
	/* ∫x²: the middle, two bars at the ends, two along, four quarter discs at (±a, ±b). */
	double disc = PI * r * r;
	double xx = 2 * (b + r) * 2 * a * a * a / 3 +
		    2 * (2 * b * r) * (r * r / 12 + (a + r / 2) * (a + r / 2)) +
		    disc * (r * r / 4 + a * a) + 2 * a * disc * 4 * r / (3 * PI);
	double yy = 2 * (a + r) * 2 * b * b * b / 3 +
		    2 * (2 * a * r) * (r * r / 12 + (b + r / 2) * (b + r / 2)) +
		    disc * (r * r / 4 + b * b) + 2 * b * disc * 4 * r / (3 * PI);
	ck_assert_double_eq_tol(shape->mass.volume, area, 1e-13);
	expect_near_vec3(shape->mass.centre, vec3_make(3, 2, 0), 1e-14);
	expect_near_mat3(shape->mass.inertia, mat3_diagonal(vec3_make(yy, xx, xx + yy)), 1e-12);
	shape_release(shape);
}
END_TEST

START_TEST(a_rounded_polygon_agrees_with_a_polygon_of_many_corners)
{
	/* The same outline unrounded, with each corner replaced by 20 short edges. */
	vec3 corners[3] = { { -1, -0.5, 0 }, { 1.5, -0.2, 0 }, { 0.1, 1, 0 } }, fine[60];
	double r = 0.4;
	struct shape *rounded = make_polygon(corners, 3, r);
	for (uint32_t i = 0; i < 3; i++) {
		vec3 from = rounded->polygon->normals[(i + 2) % 3],
		     to = rounded->polygon->normals[i];
		for (uint32_t k = 0; k < 20; k++) {
			vec3 n = vec3_normalize(vec3_lerp(from, to, k / 19.0));
			fine[20 * i + k] = vec3_mul_add(corners[i], n, r);
		}
	}
	struct shape *sharp = make_polygon(fine, 60, 0);
	ck_assert_double_eq_tol(rounded->mass.volume, sharp->mass.volume, 2e-3);
	ck_assert(rounded->mass.volume > sharp->mass.volume);
	expect_near_vec3(rounded->mass.centre, sharp->mass.centre, 1e-3);
	expect_near_mat3(rounded->mass.inertia, sharp->mass.inertia, 1e-2);
	shape_release(rounded);
	shape_release(sharp);
}
END_TEST

/* ---- sums ------------------------------------------------------------------------------------- */

START_TEST(two_halves_have_the_mass_of_the_whole)
{
	struct shape *whole = make_box(2, 1, 0.5), *half = make_box(1, 1, 0.5);
	quat turn = quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, 3)), 0.7);
	pose at = pose_make(vec3_make(4, 5, 6), turn);
	struct mass_part parts[2] = {
		{ half, pose_mul(at, pose_make(vec3_make(-1, 0, 0), quat_identity())), 3 },
		{ half, pose_mul(at, pose_make(vec3_make(1, 0, 0), quat_identity())), 3 },
	};
	struct mass_part one = { whole, at, 3 };
	struct mass_total a = mass_combine(parts, 2), b = mass_combine(&one, 1);
	ck_assert_double_eq_tol(a.mass, 24, 1e-13);
	expect_near_vec3(a.centre, at.position, 1e-14);
	expect_near_mat3(a.inertia, b.inertia, 1e-13);
	mat3 r = mat3_from_quat(turn);
	expect_near_mat3(b.inertia, mat3_scale(mat3_rotate_tensor(r, whole->mass.inertia), 3),
			 1e-13);
	ck_assert(a.inertia.x.y == a.inertia.y.x && a.inertia.z.x == a.inertia.x.z);
	shape_release(whole);
	shape_release(half);
}
END_TEST

START_TEST(parts_without_mass_have_a_zero_total)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 1), *sphere = make_sphere(1);
	struct mass_part parts[2] = { { plane, pose_identity(), 5 },
				      { sphere, pose_identity(), 0 } };
	struct mass_total total = mass_combine(parts, 2);
	ck_assert(total.mass == 0);
	ck_assert(vec3_equal(total.centre, vec3_zero()));
	expect_near_mat3(total.inertia, mat3_zero(), 1e-300);
	total = mass_combine(NULL, 0);
	ck_assert(total.mass == 0);
	shape_release(plane);
	shape_release(sphere);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/mass");
	TCase *solids = tcase_create("solids");
	tcase_add_test(solids, the_box_of_d06_has_its_ten_integrals);
	tcase_add_test(solids, the_box_of_a04_has_its_inertia);
	tcase_add_test(solids, round_solids_agree_with_their_closed_forms);
	tcase_add_test(solids, random_hulls_have_the_mass_of_their_tetrahedra);
	tcase_add_test(solids, a_face_of_many_corners_is_integrated_once);
	tcase_add_test(solids, a_closed_convex_mesh_has_the_mass_of_its_hull);
	tcase_add_test(solids, a_flat_closed_mesh_has_no_mass);
	suite_add_tcase(suite, solids);
	TCase *polygons = tcase_create("polygons");
	tcase_add_test(polygons, a_rounded_rectangle_agrees_with_its_closed_form);
	tcase_add_test(polygons, a_rounded_polygon_agrees_with_a_polygon_of_many_corners);
	suite_add_tcase(suite, polygons);
	TCase *sums = tcase_create("sums");
	tcase_add_test(sums, two_halves_have_the_mass_of_the_whole);
	tcase_add_test(sums, parts_without_mass_have_a_zero_total);
	suite_add_tcase(suite, sums);
	return suite;
}

int main(void)
{
	return check_main(make);
}
