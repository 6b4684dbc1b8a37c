/* Minkowski sums (papers P-09) against the hull of all sums of vertices, and known solids. */
#include "server/engine/geometry/minkowski.h"

#include "server/base/heap.h"
#include "server/engine/geometry/mass.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static struct hull *cloud(uint32_t count, vec3 size)
{
	vec3 points[64];
	struct hull *hull = NULL;
	for (uint32_t i = 0; i < count; i++)
		points[i] = vec3_hadamard(random_direction(&rng), size);
	ck_assert_int_eq(hull_of_points(points, count, &hull, NULL, NULL), STATUS_OK);
	return hull;
}

static struct hull *placed(const struct hull *hull, pose at, bool mirrored)
{
	struct hull *out = NULL;
	ck_assert_int_eq(minkowski_placed(hull, &at, mirrored, &out), STATUS_OK);
	ck_assert(hull_is_valid(out, 1e-5, NULL));
	return out;
}

static struct hull *sum_of(const struct hull *a, const struct hull *b,
			   struct minkowski_report *report)
{
	struct hull *sum = NULL;
	ck_assert_int_eq(minkowski_sum(a, b, &sum, report), STATUS_OK);
	return sum;
}

static double support(const struct hull *hull, vec3 direction)
{
	double most = -SCALAR_MAX;
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		most = scalar_max(most, vec3_dot(hull->vertices[v], direction));
	return most;
}

/* The volume as a sum of pyramids over faces. */
static double volume_of(const struct hull *hull)
{
	double sum = 0;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t h = hull->faces[f].edge;
		vec3 o = vec3_sub(hull->vertices[hull->edges[h].origin], hull->centre);
		h = hull->edges[h].next;
		for (uint32_t k = 2; k < hull->faces[f].edge_count; k++) {
			uint32_t next = hull->edges[h].next;
			vec3 p = vec3_sub(hull->vertices[hull->edges[h].origin], hull->centre);
			vec3 q = vec3_sub(hull->vertices[hull->edges[next].origin], hull->centre);
			sum += vec3_dot(o, vec3_cross(p, q)) / 6;
			h = next;
		}
	}
	return sum;
}

/* The same solid as the hull of all sums of vertices: support along every face of both and along many
 * directions, and volume. `exact`: also as many vertices and faces, or nearly. */
static void check_sum(const struct hull *a, const struct hull *b, bool exact)
{
	static vec3 points[64 * 64];
	struct minkowski_report report;
	struct hull *sum = sum_of(a, b, &report), *all = NULL;
	uint32_t count = 0;
	const char *why = "";
	ck_assert(!report.by_hull);
	/* The faces of the hull itself are planar to this accuracy. */
	ck_assert_msg(hull_is_valid(sum, 1e-5, &why), "%s", why);
	for (uint32_t i = 0; i < a->vertex_count; i++)
		for (uint32_t j = 0; j < b->vertex_count; j++)
			points[count++] = vec3_add(a->vertices[i], b->vertices[j]);
	ck_assert_int_eq(hull_of_points(points, count, &all, NULL, NULL), STATUS_OK);
	if (exact) {
		/* The hull merges nearly coplanar faces; there are few of them. */
		ck_assert_uint_ge(sum->vertex_count, all->vertex_count);
		ck_assert_uint_le(sum->vertex_count, all->vertex_count + 2);
		ck_assert_uint_ge(sum->face_count, all->face_count);
		ck_assert_uint_le(sum->face_count, all->face_count + 3);
		ck_assert_uint_eq(report.from_faces + report.from_edges, sum->face_count);
	}
	double size = scalar_sqrt(vec3_length_squared(all->vertices[0])) + 1;
	for (uint32_t f = 0; f < all->face_count; f++)
		ck_assert_double_eq_tol(support(sum, all->faces[f].normal), all->faces[f].offset,
					1e-8 * size);
	for (uint32_t f = 0; f < sum->face_count; f++)
		ck_assert_double_eq_tol(support(all, sum->faces[f].normal), sum->faces[f].offset,
					1e-8 * size);
	for (uint32_t k = 0; k < 50; k++) {
		vec3 direction = random_direction(&rng);
		ck_assert_double_eq_tol(support(sum, direction),
					support(a, direction) + support(b, direction),
					1e-12 * size);
	}
	double volume = volume_of(all);
	ck_assert_double_eq_tol(volume_of(sum), volume, 1e-9 * volume);
	heap_free(sum);
	heap_free(all);
}

START_TEST(boxes_along_the_same_axes_sum_to_a_box)
{
	struct hull *a = box_hull(vec3_make(1, 2, 3)), *b = box_hull(vec3_make(0.5, 0.25, 4));
	struct minkowski_report report;
	struct hull *sum = sum_of(a, b, &report);
	ck_assert_uint_eq(sum->vertex_count, 8);
	ck_assert_uint_eq(sum->face_count, 6);
	ck_assert_uint_eq(report.from_edges, 0);
	ck_assert_double_eq_tol(volume_of(sum), 8 * 1.5 * 2.25 * 7, 1e-12);
	check_sum(a, b, true);
	heap_free(sum);
	heap_free(a);
	heap_free(b);
}
END_TEST

START_TEST(a_tetrahedron_and_its_mirror_image_sum_to_a_cuboctahedron)
{
	vec3 corners[4] = { { 1, 1, 1 }, { 1, -1, -1 }, { -1, 1, -1 }, { -1, -1, 1 } };
	struct hull *a = NULL;
	ck_assert_int_eq(hull_of_points(corners, 4, &a, NULL, NULL), STATUS_OK);
	struct hull *b = placed(a, pose_identity(), true);
	struct minkowski_report report;
	struct hull *sum = sum_of(a, b, &report);
	ck_assert_uint_eq(sum->vertex_count, 12);
	ck_assert_uint_eq(sum->face_count, 14);
	ck_assert_uint_eq(report.from_faces, 8);
	ck_assert_uint_eq(report.from_edges, 6);
	check_sum(a, b, true);
	/* The sum of a hull with itself is the hull scaled by 2. */
	struct hull *twice = sum_of(a, a, &report);
	ck_assert_uint_eq(twice->vertex_count, 4);
	ck_assert_double_eq_tol(volume_of(twice), 8 * volume_of(a), 1e-12);
	heap_free(twice);
	heap_free(sum);
	heap_free(a);
	heap_free(b);
}
END_TEST

START_TEST(sums_of_hulls_are_the_hulls_of_all_vertex_sums)
{
	for (uint32_t round = 0; round < 60; round++) {
		struct hull *a = cloud(4 + rng_below(&rng, 20), vec3_make(1, 2, 0.5));
		struct hull *b = cloud(4 + rng_below(&rng, 20), vec3_make(0.7, 0.1, 3));
		check_sum(a, b, true);
		heap_free(a);
		heap_free(b);
	}
}
END_TEST

START_TEST(rotated_boxes_and_wedges_with_parallel_faces_have_the_right_sum)
{
	vec3 wedge_points[6] = { { -1, 0, -1 }, { 1, 0, -1 }, { -1, 0, 1 },
				 { 1, 0, 1 },	{ -1, 1, 0 }, { 1, 1, 0 } };
	struct hull *wedge = NULL, *box = box_hull(vec3_make(1, 0.5, 2));
	ck_assert_int_eq(hull_of_points(wedge_points, 6, &wedge, NULL, NULL), STATUS_OK);
	for (uint32_t round = 0; round < 200; round++) {
		/* Exact quarter and eighth turns, about one axis or several. */
		quat q = quat_identity();
		for (uint32_t k = 0; k < 1 + round % 3; k++)
			q = quat_mul(quat_from_axis_angle(vec3_axis(rng_below(&rng, 3)),
							  rng_below(&rng, 8) * PI / 4),
				     q);
		struct hull *turned = placed(round % 2 ? wedge : box,
					     pose_make(random_vector(&rng, 3), quat_normalize(q)),
					     round % 5 == 0);
		check_sum(round % 7 < 3 ? wedge : box, turned, false);
		heap_free(turned);
	}
	heap_free(wedge);
	heap_free(box);
}
END_TEST

START_TEST(nearly_parallel_hulls_have_the_right_support_by_either_method)
{
	struct hull *box = box_hull(vec3_make(1, 0.5, 2));
	uint32_t by_hull = 0;
	for (uint32_t round = 0; round < 300; round++) {
		struct hull *turned =
			placed(box, pose_make(vec3_zero(), awkward_rotation(&rng)), false);
		struct minkowski_report report;
		struct hull *sum = sum_of(box, turned, &report);
		by_hull += report.by_hull;
		for (uint32_t k = 0; k < 20; k++) {
			vec3 direction = random_direction(&rng);
			ck_assert_double_eq_tol(
				support(sum, direction),
				support(box, direction) + support(turned, direction), 1e-8);
		}
		heap_free(sum);
		heap_free(turned);
	}
	ck_assert_uint_lt(by_hull, 30);
	heap_free(box);
}
END_TEST

START_TEST(a_failed_allocation_is_reported_without_a_leak)
{
	struct hull *a = cloud(10, vec3_all(1)), *b = cloud(8, vec3_all(1)), *sum = NULL;
	for (uint64_t n = 1;; n++) {
		int64_t before = heap_live();
		heap_fail_at(n);
		enum status status = minkowski_sum(a, b, &sum, NULL);
		bool done = heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(status, done ? STATUS_OK : STATUS_NO_MEMORY);
		if (done)
			break;
		ck_assert_int_eq(heap_live(), before);
	}
	heap_free(sum);
	heap_free(a);
	heap_free(b);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("minkowski");
	TCase *tc = tcase_create("sums");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, boxes_along_the_same_axes_sum_to_a_box);
	tcase_add_test(tc, a_tetrahedron_and_its_mirror_image_sum_to_a_cuboctahedron);
	tcase_add_test(tc, sums_of_hulls_are_the_hulls_of_all_vertex_sums);
	tcase_add_test(tc, rotated_boxes_and_wedges_with_parallel_faces_have_the_right_sum);
	tcase_add_test(tc, nearly_parallel_hulls_have_the_right_support_by_either_method);
	tcase_add_test(tc, a_failed_allocation_is_reported_without_a_leak);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
