/* Cylinders, cones, ellipsoids and rounded hulls: mass against sums over cells and Steiner's
 * formula, rays against the places where a fine search along the ray enters, submerged parts
 * against both sides and against sums, bounds, and shapes that are refused by name. */
#include "server/base/rng.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/ray.h"
#include "server/engine/geometry/rounded.h"
#include "server/engine/geometry/submerged.h"
#include "server/engine/geometry/support.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <math.h>
#include <string.h>

enum { KINDS = 5 };

static struct shape *make_one(struct rng *rng, uint32_t which)
{
	vec3 points[9];
	for (uint32_t i = 0; i < COUNT_OF(points); i++)
		points[i] = vec3_add(random_vector(rng, 1), vec3_make(2, -1, 1));
	double a = rng_range(rng, 0.1, 2), b = rng_range(rng, 0.1, 2);
	switch (which) {
	case 0:
		return make_cylinder(a, b);
	case 1:
		return make_cone(a, b);
	case 2:
		return make_ellipsoid(a, b, rng_range(rng, 0.1, 2));
	case 3:
		return make_rounded_box(a, b, rng_range(rng, 0.1, 2), rng_range(rng, 0.05, 1));
	default:
		return make_rounded_hull(points, COUNT_OF(points), rng_range(rng, 0.05, 1));
	}
}

/* The definition of each kind. */
static bool holds(const struct shape *shape, vec3 p)
{
	double across = sqrt(p.x * p.x + p.z * p.z), h = shape->cylinder.half_length;
	switch (shape->kind) {
	case SHAPE_CYLINDER:
		return fabs(p.y) <= h && across <= shape->cylinder.radius;
	case SHAPE_CONE:
		return fabs(p.y) <= h && across <= shape->cone.radius * (h - p.y) / (2 * h);
	case SHAPE_ELLIPSOID: {
		vec3 a = shape->ellipsoid.half;
		return vec3_length(vec3_make(p.x / a.x, p.y / a.y, p.z / a.z)) <= 1;
	}
	default:
		return rounded_holds(shape->stand_in->hull, shape->rounded.radius, p);
	}
}

/* Sums over the middles of n³ cells of the box. */
static void sum_cells(const struct shape *shape, uint32_t n, double *volume, vec3 *centre,
		      mat3 *inertia)
{
	vec3 low = shape->aabb_min, size = vec3_sub(shape->aabb_max, low), sum = vec3_zero();
	double count = 0;
	mat3 second = mat3_zero();
	for (uint32_t i = 0; i < n * n * n; i++) {
		vec3 at =
			vec3_make((i % n + 0.5) / n, (i / n % n + 0.5) / n, (i / n / n + 0.5) / n);
		vec3 p = vec3_add(low, vec3_hadamard(size, at));
		if (!holds(shape, p))
			continue;
		count += 1;
		sum = vec3_add(sum, p);
		vec3 d = vec3_sub(p, shape->mass.centre);
		second = mat3_add(second, mat3_sub(mat3_diagonal(vec3_all(vec3_dot(d, d))),
						   mat3_outer(d, d)));
	}
	double cell = size.x * size.y * size.z / n / n / n;
	*volume = count * cell;
	*centre = vec3_scale(sum, 1 / count);
	*inertia = mat3_scale(second, cell);
}

START_TEST(mass_is_that_of_a_sum_over_cells)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 4 * KINDS; run++) {
		struct shape *shape = make_one(&rng, run % KINDS);
		double volume, whole = shape->mass.volume, r = shape->radius_max;
		vec3 centre;
		mat3 inertia;
		sum_cells(shape, 60, &volume, &centre, &inertia);
		ck_assert_double_eq_tol(volume, whole, 0.01 * whole);
		expect_near(centre, shape->mass.centre, 0.01 * r);
		mat3 given = shape->mass.inertia;
		double size = 0.02 * mat3_trace(given);
		expect_near(inertia.x, given.x, size);
		expect_near(inertia.y, given.y, size);
		expect_near(inertia.z, given.z, size);
		shape_release(shape);
	}
}
END_TEST

START_TEST(a_rounded_hull_has_steiners_volume_and_closed_forms)
{
	/* A box: V + A r + ½ Σ L θ r² + 4/3 π r³ with θ = π/2 on twelve edges. */
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 50; run++) {
		double a = rng_range(&rng, 0.01, 3), b = rng_range(&rng, 0.01, 3);
		double c = rng_range(&rng, 0.01, 3), r = rng_range(&rng, 0.001, 2);
		struct shape *box = make_rounded_box(a, b, c, r);
		double expected = 8 * a * b * c + 8 * (a * b + b * c + c * a) * r +
				  2 * PI * (a + b + c) * r * r + 4.0 / 3 * PI * r * r * r;
		ck_assert_double_eq_tol(box->mass.volume, expected, 1e-12 * expected);
		expect_near(box->mass.centre, vec3_zero(), 1e-12 * box->radius_max);
		mat3 i = box->mass.inertia;
		double trace = mat3_trace(i);
		ck_assert_double_eq_tol(i.x.y, 0, 1e-12 * trace);
		ck_assert_double_eq_tol(i.y.z, 0, 1e-12 * trace);
		ck_assert_double_eq_tol(i.z.x, 0, 1e-12 * trace);
		shape_release(box);
	}
	/* With a tiny core it is a ball; with two faces far apart, a capsule. */
	struct shape *ball = make_rounded_box(1e-4, 1e-4, 1e-4, 1);
	ck_assert_double_eq_tol(ball->mass.volume, 4.0 / 3 * PI, 1e-2);
	ck_assert_double_eq_tol(ball->mass.inertia.x.x, 0.4 * ball->mass.volume, 1e-2);
	shape_release(ball);
	struct shape *rod = make_rounded_box(1e-4, 2, 1e-4, 0.5), *capsule = make_capsule(2, 0.5);
	ck_assert_double_eq_tol(rod->mass.volume, capsule->mass.volume, 2e-3);
	expect_near(rod->mass.inertia.x, capsule->mass.inertia.x, 5e-3);
	expect_near(rod->mass.inertia.y, capsule->mass.inertia.y, 5e-3);
	shape_release(rod);
	shape_release(capsule);
}
END_TEST

START_TEST(a_rounded_hull_is_the_same_solid_wherever_it_is)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 30; run++) {
		vec3 points[10], moved[10];
		quat q = random_rotation(&rng);
		vec3 by = random_vector(&rng, 5);
		for (uint32_t i = 0; i < 10; i++) {
			points[i] = random_vector(&rng, 1);
			moved[i] = vec3_add(by, quat_rotate(q, points[i]));
		}
		struct shape *here = make_rounded_hull(points, 10, 0.3);
		struct shape *there = make_rounded_hull(moved, 10, 0.3);
		mat3 turned = mat3_rotate_tensor(mat3_from_quat(q), here->mass.inertia);
		ck_assert_double_eq_tol(here->mass.volume, there->mass.volume, 1e-10);
		expect_near(vec3_add(by, quat_rotate(q, here->mass.centre)), there->mass.centre,
			    1e-10);
		expect_near(turned.x, there->mass.inertia.x, 1e-9);
		expect_near(turned.y, there->mass.inertia.y, 1e-9);
		expect_near(turned.z, there->mass.inertia.z, 1e-9);
		shape_release(here);
		shape_release(there);
	}
}
END_TEST

START_TEST(a_ray_enters_where_the_solid_begins)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t hits = 0, inside = 0;
	for (uint32_t run = 0; run < 60 * KINDS; run++) {
		struct shape *shape = make_one(&rng, run % KINDS);
		for (uint32_t k = 0; k < 20; k++) {
			vec3 from = vec3_add(shape->mass.centre,
					     random_vector(&rng, 2 * shape->radius_max));
			vec3 to = vec3_add(shape->mass.centre,
					   random_vector(&rng, shape->radius_max));
			vec3 along = vec3_scale(vec3_sub(to, from), 1.5);
			struct shape_hit hit;
			bool found = ray_shape(shape, from, along, 1, &hit);
			/* Before the hit, or anywhere, no point of the ray is in the solid. */
			double end = found ? hit.fraction - 1e-9 : 1;
			for (uint32_t i = 0; i < 200 && !(found && hit.inside); i++)
				ck_assert(!holds(shape, vec3_mul_add(from, along, end * i / 199)));
			if (!found)
				continue;
			hits++;
			inside += hit.inside;
			ck_assert(hit.inside == holds(shape, from));
			if (hit.inside)
				continue;
			vec3 at = vec3_mul_add(from, along, hit.fraction);
			ck_assert_double_eq_tol(vec3_length(hit.normal), 1, 1e-12);
			ck_assert_double_le(vec3_dot(hit.normal, along), 0);
			/* The normal's support plane touches the solid at the hit. */
			vec3 far = support_core(shape, 0, hit.normal).point;
			double top = vec3_dot(far, hit.normal) + support_radius(shape);
			ck_assert_double_eq_tol(vec3_dot(at, hit.normal), top,
						1e-9 * (1 + shape->radius_max));
		}
		shape_release(shape);
	}
	ck_assert_uint_gt(hits, 1000);
	ck_assert_uint_gt(inside, 50);
}
END_TEST

static double submerged_tolerance(const struct shape *shape)
{
	/* Each vertex of a rounded hull within the radius of the surface: 1e-3 r³. */
	if (shape->kind != SHAPE_ROUNDED)
		return 1e-9 * shape->mass.volume;
	double r = shape->rounded.radius;
	return 1e-9 * shape->mass.volume + 1e-3 * r * r * r * shape->stand_in->hull->vertex_count;
}

START_TEST(both_sides_of_a_surface_make_up_the_whole)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 40 * KINDS; run++) {
		struct shape *shape = make_one(&rng, run % KINDS);
		for (uint32_t k = 0; k < 5; k++) {
			vec3 normal = k == 0 ? vec3_axis(run % 3) : random_direction(&rng);
			double offset = vec3_dot(normal, shape->mass.centre) +
					rng_range(&rng, -1, 1) * shape->radius_max;
			struct submerged below = shape_submerged(shape, normal, offset);
			struct submerged above =
				shape_submerged(shape, vec3_negate(normal), -offset);
			double tolerance = submerged_tolerance(shape);
			double whole = shape->mass.volume;
			ck_assert_double_ge(below.volume, 0);
			ck_assert_double_eq_tol(below.volume + above.volume, whole, tolerance);
			vec3 sum = vec3_add(vec3_scale(below.centre, below.volume),
					    vec3_scale(above.centre, above.volume));
			double size = shape->radius_max + vec3_length(shape->mass.centre);
			expect_near(sum, vec3_scale(shape->mass.centre, whole),
				    2 * tolerance * size);
		}
		shape_release(shape);
	}
}
END_TEST

START_TEST(the_submerged_part_is_that_of_a_sum_over_points)
{
	enum { POINTS = 100000 };
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 2 * KINDS; run++) {
		struct shape *shape = make_one(&rng, run % KINDS);
		vec3 normal = random_direction(&rng), low = shape->aabb_min;
		vec3 size = vec3_sub(shape->aabb_max, low), sum = vec3_zero();
		double offset = vec3_dot(normal, shape->mass.centre) +
				rng_range(&rng, -0.3, 0.3) * shape->extent_min;
		uint32_t inside = 0;
		for (uint32_t i = 0; i < POINTS; i++) {
			vec3 p = vec3_make(rng_range(&rng, 0, size.x), rng_range(&rng, 0, size.y),
					   rng_range(&rng, 0, size.z));
			p = vec3_add(low, p);
			if (vec3_dot(normal, p) > offset || !holds(shape, p))
				continue;
			sum = vec3_add(sum, p);
			inside++;
		}
		struct submerged part = shape_submerged(shape, normal, offset);
		double share = part.volume / (size.x * size.y * size.z);
		/* Six standard deviations. */
		ck_assert_double_eq_tol((double)inside / POINTS, share,
					6 * sqrt(share * (1 - share) / POINTS));
		expect_near(vec3_scale(sum, 1.0 / inside), part.centre,
			    6 * shape->radius_max / sqrt(inside));
		shape_release(shape);
	}
}
END_TEST

START_TEST(supports_and_boxes_bound_the_solid)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 20 * KINDS; run++) {
		struct shape *shape = make_one(&rng, run % KINDS);
		pose at = pose_make(random_vector(&rng, 3), random_rotation(&rng));
		struct aabb box = shape_aabb(shape, &at);
		for (uint32_t axis = 0; axis < 3; axis++) {
			vec3 d = pose_inverse_vector(at, vec3_axis(axis));
			vec3 p = support_core(shape, 0, d).point;
			p = vec3_mul_add(p, d, support_radius(shape));
			ck_assert_double_eq_tol(vec3_get(pose_point(at, p), axis),
						vec3_get(box.max, axis), 1e-12 * 10);
		}
		double least = SCALAR_MAX;
		for (uint32_t k = 0; k < 300; k++) {
			vec3 p = vec3_add(shape->mass.centre,
					  random_vector(&rng, 1.2 * shape->radius_max));
			vec3 d = random_direction(&rng);
			double top = vec3_dot(support_core(shape, 0, d).point, d) +
				     support_radius(shape);
			least = scalar_min(least, top - vec3_dot(d, shape->mass.centre));
			if (!holds(shape, p))
				continue;
			ck_assert_double_le(vec3_dot(p, d), top + 1e-12);
			ck_assert(aabb_contains_point(aabb_grow(box, 1e-12), pose_point(at, p)));
			ck_assert_double_le(vec3_distance(p, shape->mass.centre),
					    shape->radius_max * (1 + 1e-12));
		}
		ck_assert_double_ge(least, shape->extent_min * (1 - 1e-12));
		shape_release(shape);
	}
}
END_TEST

static void expect_refused(const struct bytes *bytes, enum status status, const char *field)
{
	struct shape *shape = NULL;
	struct reason why = { 0 };
	ck_assert_int_eq(shape_cook(bytes->data, bytes->count, NULL, &shape, &why), status);
	ck_assert_str_eq(why.field, field);
	ck_assert_ptr_null(shape);
}

START_TEST(slivers_and_zero_sizes_are_refused_by_name)
{
	struct bytes bytes = { 0 };
	vec3 flat[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 } };
	bytes_of_cylinder(&bytes, 1, 0);
	expect_refused(&bytes, STATUS_RANGE, "radius");
	bytes.count = 0;
	bytes_of_cylinder(&bytes, 0, 1);
	expect_refused(&bytes, STATUS_RANGE, "half_length");
	bytes.count = 0;
	bytes_of_cylinder(&bytes, 2e3, 1e-3);
	expect_refused(&bytes, STATUS_DEGENERATE, "radius");
	bytes.count = 0;
	bytes_of_cone(&bytes, 1e-3, 2e3);
	expect_refused(&bytes, STATUS_DEGENERATE, "radius");
	bytes.count = 0;
	bytes_of_cone(&bytes, NAN, 1);
	expect_refused(&bytes, STATUS_NOT_FINITE, "half_length");
	bytes.count = 0;
	bytes_of_ellipsoid(&bytes, vec3_make(1, 0, 1));
	expect_refused(&bytes, STATUS_RANGE, "half_y");
	bytes.count = 0;
	bytes_of_ellipsoid(&bytes, vec3_make(1e-3, 1, 1e3));
	expect_refused(&bytes, STATUS_DEGENERATE, "half");
	bytes.count = 0;
	bytes_of_rounded_box(&bytes, vec3_make(1, 1, 1), 0);
	expect_refused(&bytes, STATUS_RANGE, "radius");
	bytes.count = 0;
	bytes_of_rounded_box(&bytes, vec3_make(1, 1, 0), 1);
	expect_refused(&bytes, STATUS_RANGE, "half_z");
	bytes.count = 0;
	bytes_of_rounded_hull(&bytes, flat, 4, 1);
	expect_refused(&bytes, STATUS_DEGENERATE, "points");
	bytes.count = 0;
	bytes_of_rounded_box(&bytes, vec3_make(1, 1, 1), 1);
	bytes.data[2] = 3;
	expect_refused(&bytes, STATUS_MALFORMED, "form");
	bytes_release(&bytes);
}
END_TEST

START_TEST(bytes_that_end_early_or_late_are_refused)
{
	struct bytes all[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	vec3 points[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
	bytes_of_cylinder(&all[0], 1, 0.5);
	bytes_of_ellipsoid(&all[1], vec3_make(1, 2, 3));
	bytes_of_rounded_box(&all[2], vec3_make(1, 2, 3), 0.1);
	bytes_of_rounded_hull(&all[3], points, 4, 0.1);
	for (uint32_t i = 0; i < 4; i++) {
		struct shape *shape = NULL;
		for (size_t cut = 2; cut < all[i].count; cut++) {
			ck_assert_int_ne(shape_cook(all[i].data, cut, NULL, &shape, NULL),
					 STATUS_OK);
			ck_assert_ptr_null(shape);
		}
		struct writer writer = writer_into(&all[i]);
		write_u8(&writer, 0);
		ck_assert_int_eq(shape_cook(all[i].data, all[i].count, NULL, &shape, NULL),
				 STATUS_MALFORMED);
		bytes_release(&all[i]);
	}
}
END_TEST

START_TEST(the_stand_in_is_within_one_percent)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 30; run++) {
		struct shape *shape = make_one(&rng, run % 3);
		vec3 half = shape->aabb_max;
		double size = vec3_max_component(half);
		for (uint32_t k = 0; k < 100; k++) {
			vec3 d = random_direction(&rng);
			double true_top = vec3_dot(support_core(shape, 0, d).point, d);
			vec3 p = support_hull(shape->stand_in->hull, d).point;
			ck_assert_double_le(vec3_dot(p, d), true_top + 1e-12);
			ck_assert_double_ge(vec3_dot(p, d), true_top - 0.01 * size);
		}
		shape_release(shape);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("curved");
	TCase *all = tcase_create("all");
	tcase_add_test(all, mass_is_that_of_a_sum_over_cells);
	tcase_add_test(all, a_rounded_hull_has_steiners_volume_and_closed_forms);
	tcase_add_test(all, a_rounded_hull_is_the_same_solid_wherever_it_is);
	tcase_add_test(all, a_ray_enters_where_the_solid_begins);
	tcase_add_test(all, both_sides_of_a_surface_make_up_the_whole);
	tcase_add_test(all, the_submerged_part_is_that_of_a_sum_over_points);
	tcase_add_test(all, supports_and_boxes_bound_the_solid);
	tcase_add_test(all, slivers_and_zero_sizes_are_refused_by_name);
	tcase_add_test(all, bytes_that_end_early_or_late_are_refused);
	tcase_add_test(all, the_stand_in_is_within_one_percent);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
