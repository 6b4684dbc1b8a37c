/* Cooking: every kind, every refusal, every truncation, every failed allocation; boxes and supports. */
#include "server/engine/geometry/shape.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/support.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdlib.h>

static struct rng rng;

static const vec3 SQUARE[4] = { { -1, -1, 0 }, { 1, -1, 0 }, { 1, 1, 0 }, { -1, 1, 0 } };
static const vec3 PYRAMID[5] = {
	{ -1, 0, -1 }, { 1, 0, -1 }, { 1, 0, 1 }, { -1, 0, 1 }, { 0, 2, 0 }
};
static const uint32_t PYRAMID_TRIANGLES[6][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 4, 1 },
						  { 1, 4, 2 }, { 2, 4, 3 }, { 3, 4, 0 } };

/* One of each kind, by number of kind. */
static void bytes_of_kind(struct bytes *out, uint32_t kind)
{
	switch (kind) {
	case SHAPE_SPHERE:
		bytes_of_sphere(out, 0.5);
		break;
	case SHAPE_CAPSULE:
		bytes_of_capsule(out, 0.75, 0.25);
		break;
	case SHAPE_BOX:
		bytes_of_box(out, vec3_make(1, 2, 3));
		break;
	case SHAPE_HULL:
		bytes_of_hull(out, PYRAMID, 5);
		break;
	case SHAPE_PLANE:
		bytes_of_plane(out, vec3_make(0, 1, 0), 0.25);
		break;
	case SHAPE_MESH:
		bytes_of_mesh(out, PYRAMID, 5, PYRAMID_TRIANGLES, 6);
		break;
	case SHAPE_POLYGON:
		bytes_of_polygon(out, SQUARE, 4, 0.1);
		break;
	case SHAPE_SOLID:
		bytes_of_solid(out, 2, 0, PYRAMID, 5, PYRAMID_TRIANGLES, 6);
		break;
	case SHAPE_ROUNDED:
		bytes_of_rounded_hull(out, PYRAMID, 5, 0.1);
		break;
	case SHAPE_CYLINDER:
		bytes_of_cylinder(out, 0.75, 0.25);
		break;
	case SHAPE_CONE:
		bytes_of_cone(out, 0.75, 0.25);
		break;
	case SHAPE_ELLIPSOID:
		bytes_of_ellipsoid(out, vec3_make(1, 2, 3));
		break;
	case SHAPE_HEIGHTFIELD: {
		static const float HEIGHTS[6] = { 0, 1, 0.5, 2, 0, 1 };
		struct height_grid grid = { 3, 2, 1, 2, HEIGHTS, NULL, NULL, false };
		bytes_of_heightfield(out, &grid);
		break;
	}
	default:
		abort();
	}
}

START_TEST(every_kind_is_cooked_and_stores_its_bytes_and_name)
{
	uint8_t name[SHAPE_NAME_BYTES];
	int64_t before = heap_live();
	for (uint32_t i = 0; i < sizeof name; i++)
		name[i] = (uint8_t)(i * 7 + 1);
	for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
		struct bytes bytes = { 0 };
		struct shape *shape = NULL;
		bytes_of_kind(&bytes, kind);
		ck_assert_int_eq(shape_cook(bytes.data, bytes.count, name, &shape, NULL),
				 STATUS_OK);
		ck_assert_uint_eq(shape->kind, kind);
		ck_assert_uint_eq(shape->canonical_bytes, bytes.count);
		ck_assert_int_eq(memcmp(shape->canonical, bytes.data, bytes.count), 0);
		ck_assert_int_eq(memcmp(shape->name, name, sizeof name), 0);
		ck_assert_uint_ge(shape->memory_bytes, sizeof *shape + bytes.count);
		ck_assert_int_eq(shape->hull != NULL, kind == SHAPE_BOX || kind == SHAPE_HULL);
		ck_assert(shape->mass.volume > 0 || kind == SHAPE_PLANE ||
			  kind == SHAPE_HEIGHTFIELD);
		struct shape *again = shape_retain(shape);
		ck_assert_ptr_eq(again, shape);
		shape_release(shape);
		ck_assert_uint_eq(again->kind, kind);
		shape_release(again);
		bytes_release(&bytes);
	}
	shape_release(NULL);
	ck_assert_int_eq(heap_live(), before);
}
END_TEST

START_TEST(kinds_have_names)
{
	ck_assert_str_eq(shape_kind_name(SHAPE_SPHERE), "sphere");
	ck_assert_str_eq(shape_kind_name(SHAPE_POLYGON), "polygon");
	ck_assert_str_eq(shape_kind_name((enum shape_kind)0), "unknown");
	ck_assert_str_eq(shape_kind_name(SHAPE_KINDS), "unknown");
}
END_TEST

START_TEST(every_truncation_and_every_extension_is_refused)
{
	for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
		struct bytes bytes = { 0 };
		bytes_of_kind(&bytes, kind);
		for (size_t cut = 0; cut < bytes.count; cut++) {
			/* A copy of exactly this length, so that a read past the end is a read past
			 * the allocation. */
			uint8_t *copy = malloc(cut > 0 ? cut : 1);
			memcpy(copy, bytes.data, cut);
			struct shape *shape = NULL;
			struct reason why = { 0 };
			enum status status = shape_cook(copy, cut, NULL, &shape, &why);
			ck_assert_int_eq(status, STATUS_MALFORMED);
			ck_assert_int_eq(why.status, STATUS_MALFORMED);
			ck_assert_ptr_null(shape);
			free(copy);
		}
		struct shape *shape = NULL;
		ck_assert_int_eq(bytes_append(&bytes, "", 1), STATUS_OK);
		ck_assert_int_eq(shape_cook(bytes.data, bytes.count, NULL, &shape, NULL),
				 STATUS_MALFORMED);
		bytes_release(&bytes);
	}
}
END_TEST

START_TEST(a_failed_allocation_in_any_kind_leaks_nothing)
{
	for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
		struct bytes bytes = { 0 };
		bytes_of_kind(&bytes, kind);
		int64_t before = heap_live();
		for (uint64_t n = 1;; n++) {
			struct shape *shape = NULL;
			struct reason why = { 0 };
			heap_fail_at(n);
			enum status status =
				shape_cook(bytes.data, bytes.count, NULL, &shape, &why);
			bool untouched = heap_fail_pending();
			heap_fail_at(0);
			if (untouched) {
				ck_assert_int_eq(status, STATUS_OK);
				shape_release(shape);
				ck_assert_uint_ge(n, 3);
				break;
			}
			ck_assert_int_eq(status, STATUS_NO_MEMORY);
			ck_assert_int_eq(why.status, STATUS_NO_MEMORY);
			ck_assert_int_eq(heap_live(), before);
		}
		bytes_release(&bytes);
	}
}
END_TEST

/* ---- refusals --------------------------------------------------------------------------------- */

/* Checks the refusal and releases the bytes. */
static void expect_refused(struct bytes *bytes, enum status expected, int64_t index,
			   const char *words)
{
	struct shape *shape = NULL;
	struct reason why = { 0 };
	int64_t before = heap_live();
	enum status status = shape_cook(bytes->data, bytes->count, NULL, &shape, &why);
	ck_assert_msg(status == expected, "%s: %s", status_name(status), why.text);
	ck_assert_ptr_null(shape);
	ck_assert_msg(why.index == index, "index %d: %s", (int)why.index, why.text);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
	ck_assert_int_eq(heap_live(), before);
	bytes_release(bytes);
}

static const double BAD[] = { 1e300, -1e300, 1e-300, 0, -1, 1.0001e5, 9e-5 };

START_TEST(lengths_out_of_range_are_refused)
{
	struct bytes b = { 0 };
	for (uint32_t i = 0; i < COUNT_OF(BAD); i++) {
		bytes_of_sphere(&b, BAD[i]);
		expect_refused(&b, STATUS_RANGE, -1, "radius");
		bytes_of_capsule(&b, 1, BAD[i]);
		expect_refused(&b, STATUS_RANGE, -1, "radius");
		bytes_of_capsule(&b, BAD[i], 1);
		expect_refused(&b, STATUS_RANGE, -1, "half_length");
		bytes_of_box(&b, vec3_make(1, 1, BAD[i]));
		expect_refused(&b, STATUS_RANGE, -1, "half_z");
	}
	double nan = scalar_from_bits(0x7ff8000000000000u),
	       inf = scalar_from_bits(0x7ff0000000000000u);
	bytes_of_sphere(&b, nan);
	expect_refused(&b, STATUS_NOT_FINITE, -1, "radius");
	bytes_of_box(&b, vec3_make(1, -inf, 1));
	expect_refused(&b, STATUS_NOT_FINITE, -1, "half_y");
	bytes_of_plane(&b, vec3_make(0, nan, 0), 0);
	expect_refused(&b, STATUS_NOT_FINITE, -1, "normal_y");
}
END_TEST

START_TEST(planes_without_a_unit_normal_are_refused)
{
	struct bytes b = { 0 };
	bytes_of_plane(&b, vec3_zero(), 0);
	expect_refused(&b, STATUS_RANGE, -1, "length is 0");
	bytes_of_plane(&b, vec3_make(0, 1.001, 0), 0);
	expect_refused(&b, STATUS_RANGE, -1, "length is 1.001");
	bytes_of_plane(&b, vec3_make(0, 1e300, 0), 0);
	expect_refused(&b, STATUS_RANGE, -1, "normal_y");
	bytes_of_plane(&b, vec3_make(0, 1, 0), 2e5);
	expect_refused(&b, STATUS_RANGE, -1, "offset");
}
END_TEST

START_TEST(invalid_clouds_are_refused_with_the_vertex)
{
	struct bytes b = { 0 };
	vec3 points[5];
	memcpy(points, PYRAMID, sizeof points);
	points[3].y = 1e300;
	bytes_of_hull(&b, points, 5);
	expect_refused(&b, STATUS_RANGE, 3, "y 1e+300");
	points[3].y = scalar_from_bits(0xfff8000000000000u);
	bytes_of_hull(&b, points, 5);
	expect_refused(&b, STATUS_NOT_FINITE, 3, "y is not a finite number");
	bytes_of_hull(&b, PYRAMID, 3);
	expect_refused(&b, STATUS_DEGENERATE, -1, "at least");
	bytes_of_hull(&b, PYRAMID, 4);
	expect_refused(&b, STATUS_DEGENERATE, -1, "in a plane");
}
END_TEST

START_TEST(counts_beyond_the_data_are_refused_before_any_allocation)
{
	static const uint32_t COUNTS[] = { 0, 3, 6, 65536, 65537, 1u << 21, UINT32_MAX };
	static const uint8_t KINDS[] = { SHAPE_HULL, SHAPE_MESH, SHAPE_POLYGON };
	for (uint32_t k = 0; k < COUNT_OF(KINDS); k++)
		for (uint32_t i = 0; i < COUNT_OF(COUNTS); i++) {
			struct bytes b = { 0 };
			bytes_of_kind(&b, KINDS[k]);
			put_le32(b.data + 2, COUNTS[i]);
			struct shape *shape = NULL;
			uint64_t calls = heap_calls();
			enum status status = shape_cook(b.data, b.count, NULL, &shape, NULL);
			/* Allocating the shape itself is one call. */
			ck_assert_uint_le(heap_calls() - calls, 1);
			ck_assert(status == STATUS_MALFORMED || status == STATUS_TOO_LARGE ||
				  status == STATUS_DEGENERATE);
			ck_assert_ptr_null(shape);
			bytes_release(&b);
		}
}
END_TEST

START_TEST(unknown_kinds_and_versions_are_refused)
{
	struct bytes b = { 0 };
	bytes_of_sphere(&b, 1);
	b.data[0] = 0;
	expect_refused(&b, STATUS_MALFORMED, -1, "0 is no kind");
	bytes_of_sphere(&b, 1);
	b.data[0] = SHAPE_KINDS;
	expect_refused(&b, STATUS_MALFORMED, -1, "14 is no kind");
	bytes_of_sphere(&b, 1);
	b.data[1] = 2;
	expect_refused(&b, STATUS_VERSION, -1, "version 2");
}
END_TEST

START_TEST(nonconvex_polygons_are_refused_with_the_vertex)
{
	struct bytes b = { 0 };
	vec3 dent[5] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 2, 0 }, { 1, 0.5, 0 }, { 0, 2, 0 } };
	bytes_of_polygon(&b, dent, 5, 0);
	expect_refused(&b, STATUS_DEGENERATE, 3, "not convex at vertex 3");
	/* In a clockwise polygon the error has the caller's index. */
	vec3 turned[5] = { { 0, 0, 0 }, { 0, 2, 0 }, { 1, 0.5, 0 }, { 2, 2, 0 }, { 2, 0, 0 } };
	bytes_of_polygon(&b, turned, 5, 0);
	expect_refused(&b, STATUS_DEGENERATE, 2, "not convex at vertex 2");
	vec3 straight[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 1, 1, 0 } };
	bytes_of_polygon(&b, straight, 4, 0);
	expect_refused(&b, STATUS_DEGENERATE, 1, "straight");
	vec3 twice[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 } };
	bytes_of_polygon(&b, twice, 4, 0);
	expect_refused(&b, STATUS_DEGENERATE, 2, "from its neighbour");
	vec3 thin[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 5e-5, 0 }, { 0, 5e-5, 0 } };
	bytes_of_polygon(&b, thin, 4, 0);
	expect_refused(&b, STATUS_DEGENERATE, 2, "from its neighbour");
	vec3 flat[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0.5, 5e-5, 0 } };
	bytes_of_polygon(&b, flat, 3, 0);
	expect_refused(&b, STATUS_DEGENERATE, -1, "m wide");
	vec3 star[5] = { { 0, 1, 0 },
			 { -0.6, -0.8, 0 },
			 { 0.95, 0.3, 0 },
			 { -0.95, 0.3, 0 },
			 { 0.6, -0.8, 0 } };
	bytes_of_polygon(&b, star, 5, 0);
	expect_refused(&b, STATUS_DEGENERATE, 3, "more than once");
	bytes_of_polygon(&b, SQUARE, 4, -1);
	expect_refused(&b, STATUS_RANGE, -1, "radius");
	bytes_of_polygon(&b, SQUARE, 2, 1);
	expect_refused(&b, STATUS_DEGENERATE, -1, "at least");
}
END_TEST

START_TEST(clockwise_polygons_are_reversed)
{
	vec3 clockwise[4] = { { -1, -1, 0 }, { -1, 1, 0 }, { 1, 1, 0 }, { 1, -1, 0 } };
	struct shape *shape = make_polygon(clockwise, 4, 0.5);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(vec3_equal(shape->polygon->vertices[i], SQUARE[i]));
	ck_assert(vec3_equal(shape->polygon->normals[1], vec3_make(1, 0, 0)));
	shape_release(shape);
}
END_TEST

/* ---- bounds and supports ---------------------------------------------------------------------- */

static pose random_pose(void)
{
	vec3 position = random_vector(&rng, 9);
	return pose_make(position, random_rotation(&rng));
}

START_TEST(bounding_boxes_agree_with_the_supports)
{
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 200; run++)
		for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
			if (kind == SHAPE_PLANE || kind == SHAPE_MESH || kind == SHAPE_HEIGHTFIELD)
				continue;
			struct bytes bytes = { 0 };
			bytes_of_kind(&bytes, kind);
			struct shape *shape = shape_of_bytes(&bytes);
			pose at = random_pose();
			struct aabb box = shape_aabb(shape, &at);
			for (uint32_t axis = 0; axis < 3; axis++) {
				vec3 d = pose_inverse_vector(at, vec3_axis(axis));
				vec3 high = support_core(shape, 0, d).point;
				vec3 low = support_core(shape, 0, vec3_negate(d)).point;
				double r = support_radius(shape);
				ck_assert_double_eq_tol(vec3_get(box.max, axis),
							vec3_get(pose_point(at, high), axis) + r,
							1e-13);
				ck_assert_double_eq_tol(vec3_get(box.min, axis),
							vec3_get(pose_point(at, low), axis) - r,
							1e-13);
			}
			shape_release(shape);
		}
}
END_TEST

START_TEST(at_the_identity_the_box_is_the_stored_one)
{
	pose at = pose_identity();
	for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
		struct bytes bytes = { 0 };
		if (kind == SHAPE_PLANE)
			continue;
		bytes_of_kind(&bytes, kind);
		struct shape *shape = shape_of_bytes(&bytes);
		struct aabb box = shape_aabb(shape, &at);
		ck_assert_double_le(vec3_distance(box.min, shape->aabb_min), 1e-15);
		ck_assert_double_le(vec3_distance(box.max, shape->aabb_max), 1e-15);
		shape_release(shape);
	}
}
END_TEST

START_TEST(a_horizontal_plane_is_bounded_above_and_a_tilted_one_is_not)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0.25);
	pose at = pose_make(vec3_make(5, 2, 1), quat_identity());
	struct aabb box = shape_aabb(plane, &at);
	ck_assert(box.max.y == 2.25);
	ck_assert(box.min.y == -AABB_EVERYWHERE && box.max.x == AABB_EVERYWHERE);
	at.rotation = quat_normalize(quat_make(1, 0.01, 0, 0));
	ck_assert(shape_aabb(plane, &at).max.y == AABB_EVERYWHERE);
	shape_release(plane);
}
END_TEST

START_TEST(supports_are_farthest_and_take_the_least_index_on_ties)
{
	struct hull *hull = box_hull(vec3_make(1, 2, 3));
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 2000; run++) {
		/* Components from a small set, so that ties are common. */
		vec3 d = vec3_make((double)rng_below(&rng, 3) - 1, (double)rng_below(&rng, 3) - 1,
				   (double)rng_below(&rng, 3) - 1);
		if (run % 2)
			d = vec3_make(rng_range(&rng, -1, 1), rng_range(&rng, -1, 1), d.z);
		struct support a = support_hull(hull, d), b = support_box(vec3_make(1, 2, 3), d);
		ck_assert_uint_eq(a.index, b.index);
		ck_assert(vec3_equal(a.point, b.point));
		for (uint32_t i = 0; i < 8; i++) {
			double far = vec3_dot(hull->vertices[i], d), best = vec3_dot(a.point, d);
			ck_assert(far < best || (far == best && i >= a.index));
		}
	}
	heap_free(hull);
}
END_TEST

START_TEST(extents_agree_with_the_solid)
{
	struct shape *box = make_box(1, 2, 3);
	ck_assert_double_eq_tol(box->radius_max, scalar_sqrt(14), 1e-15);
	ck_assert(box->extent_min == 1);
	shape_release(box);
	/* ch1-3 A-04: box 2×3×4, rotation radius sqrt(29)/2. */
	box = make_box(1, 1.5, 2);
	ck_assert_double_eq_tol(box->radius_max, 2.692582403567252, 1e-15);
	shape_release(box);
	struct shape *hull = make_hull(PYRAMID, 5);
	ck_assert_double_eq_tol(hull->mass.centre.y, 0.5, 1e-15);
	ck_assert_double_eq_tol(hull->radius_max, scalar_sqrt(2.25), 1e-15);
	/* The slanted faces 2x + y = 2 are 1.5/√5 from (0, ½, 0), the base 0.5. */
	ck_assert_double_eq_tol(hull->extent_min, 0.5, 1e-15);
	shape_release(hull);
	struct shape *capsule = make_capsule(0.75, 0.25);
	ck_assert(capsule->radius_max == 1 && capsule->extent_min == 0.25);
	shape_release(capsule);
	struct shape *polygon = make_polygon(SQUARE, 4, 0.5);
	ck_assert_double_eq_tol(polygon->radius_max, scalar_sqrt(2) + 0.5, 1e-15);
	ck_assert_double_eq_tol(polygon->extent_min, 1.5, 1e-15);
	shape_release(polygon);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/shape");
	TCase *cook = tcase_create("cook");
	tcase_add_test(cook, every_kind_is_cooked_and_stores_its_bytes_and_name);
	tcase_add_test(cook, kinds_have_names);
	tcase_add_test(cook, every_truncation_and_every_extension_is_refused);
	tcase_add_test(cook, a_failed_allocation_in_any_kind_leaks_nothing);
	suite_add_tcase(suite, cook);
	TCase *refusals = tcase_create("refusals");
	tcase_add_test(refusals, lengths_out_of_range_are_refused);
	tcase_add_test(refusals, planes_without_a_unit_normal_are_refused);
	tcase_add_test(refusals, invalid_clouds_are_refused_with_the_vertex);
	tcase_add_test(refusals, counts_beyond_the_data_are_refused_before_any_allocation);
	tcase_add_test(refusals, unknown_kinds_and_versions_are_refused);
	tcase_add_test(refusals, nonconvex_polygons_are_refused_with_the_vertex);
	tcase_add_test(refusals, clockwise_polygons_are_reversed);
	suite_add_tcase(suite, refusals);
	TCase *bounds = tcase_create("bounds");
	tcase_add_test(bounds, bounding_boxes_agree_with_the_supports);
	tcase_add_test(bounds, at_the_identity_the_box_is_the_stored_one);
	tcase_add_test(bounds, a_horizontal_plane_is_bounded_above_and_a_tilted_one_is_not);
	tcase_add_test(bounds, supports_are_farthest_and_take_the_least_index_on_ties);
	tcase_add_test(bounds, extents_agree_with_the_solid);
	suite_add_tcase(suite, bounds);
	return suite;
}

int main(void)
{
	return check_main(make);
}
