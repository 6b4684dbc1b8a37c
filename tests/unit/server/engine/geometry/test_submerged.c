/* What a shape has below a plane: both sides of a plane make up the whole, closed forms, sums over
 * many points, and the limits at which the plane leaves the shape. */
#include "server/engine/geometry/submerged.h"

#include "server/base/rng.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <math.h>

enum { SHAPES = 9 };

static struct shape *make_solid(uint32_t form)
{
	static const vec3 corners[] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1.5 } };
	static const uint32_t faces[][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 2 } };
	struct bytes bytes = { 0 };
	bytes_of_solid(&bytes, form, 0, corners, COUNT_OF(corners), faces, COUNT_OF(faces));
	return shape_of_bytes(&bytes);
}

/* One of every kind that may move. */
static struct shape *make_one(struct rng *rng, uint32_t which)
{
	vec3 points[12];
	const vec3 corners[] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2.5, 1, 0 }, { 0.5, 1.5, 0 } };
	for (uint32_t i = 0; i < COUNT_OF(points); i++)
		points[i] = vec3_add(random_vector(rng, 1), vec3_make(3, -2, 1));
	switch (which) {
	case 0:
		return make_sphere(rng_range(rng, 0.1, 3));
	case 1:
		return make_capsule(rng_range(rng, 0.1, 3), rng_range(rng, 0.1, 2));
	case 2:
		return make_box(rng_range(rng, 0.1, 3), 0.7, rng_range(rng, 0.1, 3));
	case 3:
		return make_hull(points, COUNT_OF(points));
	case 4:
		return make_solid(1);
	case 5:
		return make_solid(2);
	case 6:
		return make_solid(3);
	case 7:
		return make_polygon(corners, COUNT_OF(corners), 0);
	default:
		return make_polygon(corners, COUNT_OF(corners), rng_range(rng, 0.05, 1));
	}
}

static vec3 random_normal(struct rng *rng, const struct shape *shape)
{
	vec3 normal = random_vector(rng, 1);
	if (shape->kind == SHAPE_POLYGON)
		normal.z = 0;
	if (rng_below(rng, 4) == 0)
		normal = vec3_axis(rng_below(rng, 2));
	return vec3_normalize(normal);
}

START_TEST(both_sides_of_a_plane_make_up_the_whole)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t cut = 0;
	for (uint32_t run = 0; run < 400; run++) {
		struct shape *shape = make_one(&rng, run % SHAPES);
		double tolerance = shape->kind == SHAPE_CAPSULE ? 1e-10 : 1e-12;
		for (uint32_t i = 0; i < 10; i++) {
			vec3 normal = random_normal(&rng, shape);
			double offset = vec3_dot(normal, shape->mass.centre) +
					rng_range(&rng, -1.1, 1.1) * shape->radius_max;
			struct submerged below = shape_submerged(shape, normal, offset);
			struct submerged above =
				shape_submerged(shape, vec3_negate(normal), -offset);
			double whole = shape->mass.volume, size = shape->radius_max;
			vec3 moment = vec3_add(vec3_scale(below.centre, below.volume),
					       vec3_scale(above.centre, above.volume));
			size += vec3_length(shape->mass.centre);
			ck_assert(below.volume >= 0 && above.volume >= 0);
			ck_assert_double_eq_tol(below.volume + above.volume, whole,
						tolerance * whole);
			expect_near(moment, vec3_scale(shape->mass.centre, whole),
				    2 * tolerance * whole * size);
			cut += below.volume > 0 && above.volume > 0;
		}
		shape_release(shape);
	}
	ck_assert_uint_gt(cut, 1500);
}
END_TEST

static bool has_point(const struct shape *shape, vec3 p)
{
	if (shape->kind == SHAPE_SPHERE)
		return vec3_length(p) <= shape->sphere.radius;
	if (shape->kind == SHAPE_CAPSULE) {
		double beyond = fmax(fabs(p.y) - shape->capsule.half_length, 0);
		return sqrt(p.x * p.x + p.z * p.z + beyond * beyond) <= shape->capsule.radius;
	}
	for (uint32_t f = 0; f < shape->hull->face_count; f++)
		if (vec3_dot(shape->hull->faces[f].normal, p) > shape->hull->faces[f].offset)
			return false;
	return true;
}

START_TEST(the_part_below_agrees_with_a_sum_over_many_points)
{
	enum { POINTS = 200000 };
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 8; run++) {
		struct shape *shape = make_one(&rng, run % 4);
		vec3 normal = random_normal(&rng, shape), low = shape->aabb_min;
		vec3 side = vec3_sub(shape->aabb_max, low), sum = vec3_zero();
		double offset = vec3_dot(normal, shape->mass.centre) +
				rng_range(&rng, -0.4, 0.4) * shape->extent_min;
		uint32_t inside = 0;
		for (uint32_t i = 0; i < POINTS; i++) {
			vec3 at = vec3_make(rng_range(&rng, 0, side.x), rng_range(&rng, 0, side.y),
					    rng_range(&rng, 0, side.z));
			at = vec3_add(low, at);
			if (vec3_dot(normal, at) > offset || !has_point(shape, at))
				continue;
			sum = vec3_add(sum, at);
			inside++;
		}
		struct submerged part = shape_submerged(shape, normal, offset);
		double box = side.x * side.y * side.z, share = part.volume / box;
		/* Five standard deviations. */
		ck_assert_double_eq_tol((double)inside / POINTS, share,
					5 * sqrt(share * (1 - share) / POINTS));
		expect_near(part.centre, vec3_scale(sum, 1.0 / inside),
			    5 * shape->radius_max / sqrt((double)inside));
		shape_release(shape);
	}
}
END_TEST

START_TEST(closed_forms)
{
	struct shape *ball = make_sphere(2), *box = make_box(1, 2, 3), *pill = make_capsule(1, 0.5);
	vec3 up = vec3_make(0, 1, 0);
	/* A cap of height h: π h² (3 r − h) / 3; half a ball has its centre at 3/8 r. */
	struct submerged part = shape_submerged(ball, up, -1);
	ck_assert_double_eq_tol(part.volume, PI * (6 - 1) / 3, 1e-12);
	part = shape_submerged(ball, vec3_negate(up), 0);
	expect_near(part.centre, vec3_make(0, 0.75, 0), 1e-12);
	part = shape_submerged(box, up, 1);
	ck_assert_double_eq_tol(part.volume, 2 * 3 * 6, 1e-11);
	expect_near(part.centre, vec3_make(0, -0.5, 0), 1e-12);
	/* A wedge: the plane through the box's edges cuts half of it, with the centre of a triangle. */
	part = shape_submerged(box, vec3_normalize(vec3_make(2, 1, 0)), 0);
	ck_assert_double_eq_tol(part.volume, 24, 1e-11);
	expect_near(part.centre, vec3_make(-1.0 / 3, -2.0 / 3, 0), 1e-12);
	/* A capsule cut across: a cap and a cylinder; cut along: half. */
	part = shape_submerged(pill, up, 0.25);
	ck_assert_double_eq_tol(part.volume, PI * (2.0 / 3 * 0.125 + 0.25 * 1.25), 1e-11);
	part = shape_submerged(pill, vec3_make(1, 0, 0), 0);
	ck_assert_double_eq_tol(part.volume, 0.5 * pill->mass.volume, 1e-11);
	shape_release(ball);
	shape_release(box);
	shape_release(pill);
}
END_TEST

START_TEST(a_plane_that_leaves_a_shape_takes_all_or_nothing)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 2 * SHAPES; run++) {
		struct shape *shape = make_one(&rng, run % SHAPES);
		vec3 normal = random_normal(&rng, shape);
		double middle = vec3_dot(normal, shape->mass.centre);
		double far = 1.01 * shape->radius_max;
		struct submerged none = shape_submerged(shape, normal, middle - far);
		struct submerged all = shape_submerged(shape, normal, middle + far);
		ck_assert_double_eq_tol(none.volume, 0, 1e-12 * shape->mass.volume);
		ck_assert_double_eq_tol(all.volume, shape->mass.volume, 1e-10 * shape->mass.volume);
		none = shape_submerged(shape, normal, -1e5);
		all = shape_submerged(shape, normal, 1e5);
		ck_assert_double_eq(none.volume, 0);
		ck_assert(all.volume == shape->mass.volume &&
			  vec3_equal(all.centre, shape->mass.centre));
		shape_release(shape);
	}
	struct shape *ground = make_plane(vec3_make(0, 1, 0), 0);
	ck_assert_double_eq(shape_submerged(ground, vec3_make(0, 1, 0), 5).volume, 0);
	shape_release(ground);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("submerged");
	TCase *all = tcase_create("all");
	tcase_add_test(all, both_sides_of_a_plane_make_up_the_whole);
	tcase_add_test(all, the_part_below_agrees_with_a_sum_over_many_points);
	tcase_add_test(all, closed_forms);
	tcase_add_test(all, a_plane_that_leaves_a_shape_takes_all_or_nothing);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
