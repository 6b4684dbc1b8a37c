/* Convex decomposition of closed meshes (app F). Parts of an exact decomposition are convex; their
 * volumes and the thin rest add up to the solid's. Parts of an approximation, the fallback, cover
 * the solid. Unsuitable meshes and options are refused. Time slices do not change the parts. */
#include "server/engine/geometry/decompose.h"

#include "server/base/heap.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/orient.h"
#include "tests/lib/check_main.h"
#include "tests/lib/closed_meshes.h"

#include <stdlib.h>
#include <string.h>

static struct rng rng;

static struct decomposition *decompose(const struct mesh *mesh, enum decompose_mode mode,
				       double concavity)
{
	struct decompose_options options = decompose_options_default(mesh);
	struct decomposition *out = NULL;
	struct reason why = { 0 };
	options.mode = mode;
	options.concavity = concavity;
	enum status status = decompose_mesh(mesh, &options, &out, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	return out;
}

static const vec3 *corner(const struct decomposition *d, uint32_t t, uint32_t k)
{
	return &d->points[d->triangles[t][k]];
}

/* Position of a point: 1 inside the part, 0 on its surface, −1 outside. Exact only for parts that
 * are exactly convex. */
static int place_in_part(const struct decomposition *d, const struct decompose_part *part, vec3 p)
{
	int least = 1;
	for (uint32_t t = part->first_triangle; t < part->first_triangle + part->triangle_count;
	     t++) {
		int side = -orient_plane(*corner(d, t, 0), *corner(d, t, 1), *corner(d, t, 2), p);
		least = side < least ? side : least;
	}
	return least;
}

static double part_volume(const struct decomposition *d, const struct decompose_part *part)
{
	double six = 0;
	vec3 at = d->points[part->first_point];
	for (uint32_t t = part->first_triangle; t < part->first_triangle + part->triangle_count;
	     t++)
		six += vec3_triple(vec3_sub(*corner(d, t, 0), at), vec3_sub(*corner(d, t, 1), at),
				   vec3_sub(*corner(d, t, 2), at));
	return six / 6;
}

/* Checks that every edge of every part's surface occurs once in each direction, within the part's
 * points. */
static void check_surface(const struct decomposition *d, const struct decompose_part *part)
{
	uint32_t n = part->point_count;
	int8_t *sum = calloc((size_t)n * n, 1);
	for (uint32_t t = part->first_triangle; t < part->first_triangle + part->triangle_count;
	     t++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t a = d->triangles[t][k] - part->first_point;
			uint32_t b = d->triangles[t][(k + 1) % 3] - part->first_point;
			ck_assert_uint_lt(a, n);
			ck_assert_uint_lt(b, n);
			ck_assert_uint_ne(a, b);
			sum[a * n + b]++;
			sum[b * n + a]--;
		}
	}
	for (uint32_t i = 0; i < n * n; i++)
		ck_assert_int_eq(sum[i], 0);
	free(sum);
}

/* Checks volumes, closed surfaces, and that each part equals its own hull within `off` metres. */
static void check_parts(const struct mesh *mesh, const struct decomposition *d, double off)
{
	double extent = vec3_distance(mesh->nodes[0].min, mesh->nodes[0].max), sum = 0;
	const struct decompose_report *report = &d->report;
	for (uint32_t i = 0; i < d->part_count; i++) {
		const struct decompose_part *part = &d->parts[i];
		struct hull *hull;
		struct hull_build build;
		check_surface(d, part);
		ck_assert_double_eq_tol(part_volume(d, part), part->volume, 1e-12 * report->volume);
		ck_assert(part->volume > 0);
		ck_assert_double_le(part->concavity, off + 1e-9 * extent);
		ck_assert_int_eq(hull_of_points(d->points + part->first_point, part->point_count,
						&hull, &build, NULL),
				 STATUS_OK);
		ck_assert_double_eq_tol(build.mass.volume, part->hull_volume,
					1e-9 * report->volume);
		if (off == 0)
			ck_assert_double_eq_tol(part->hull_volume, part->volume,
						1e-10 * report->volume);
		heap_free(hull);
		sum += part->volume;
	}
	ck_assert_double_eq_tol(sum, report->volume_parts, 1e-12 * report->volume);
	ck_assert(report->volume_cut_error <= 1e-12 * report->volume);
	if (report->approximated == 0)
		ck_assert_double_eq_tol(sum + report->volume_thin, report->volume,
					1e-12 * report->volume);
}

/* Checks that a point of the solid is in one part and any other in none; points on cut faces are in
 * no open part. */
static void check_cover(const struct mesh *mesh, const struct decomposition *d, uint32_t samples)
{
	struct aabb box = aabb_make(mesh->nodes[0].min, mesh->nodes[0].max);
	for (uint32_t i = 0; i < samples; i++) {
		vec3 p = random_in_box(&rng, aabb_grow(box, 0.1));
		bool inside = intersect_point_mesh(mesh, p) == POINT_MESH_INSIDE;
		uint32_t in = 0, on = 0;
		for (uint32_t k = 0; k < d->part_count; k++) {
			int place = place_in_part(d, &d->parts[k], p);
			in += place > 0;
			on += place == 0;
		}
		ck_assert_uint_le(in, inside);
		ck_assert_uint_ge(in + on, inside);
	}
}

static void check_exact(struct shape *shape, uint32_t parts_least, uint32_t parts_most)
{
	struct decomposition *d = decompose(shape->mesh, DECOMPOSE_CUT_ONLY, 0);
	ck_assert_uint_ge(d->part_count, parts_least);
	ck_assert_uint_le(d->part_count, parts_most);
	ck_assert_uint_eq(d->report.unresolved, 0);
	check_parts(shape->mesh, d, 0);
	check_cover(shape->mesh, d, 400);
	decomposition_release(d);
	shape_release(shape);
}

/* ---- app F's checklist ------------------------------------------------------------------------ */

START_TEST(an_l_prism_is_two_pieces_and_a_plus_at_most_five)
{
	check_exact(make_l(), 2, 2);
	check_exact(make_u(), 3, 3);
	check_exact(make_plus(), 3, 5);
}
END_TEST

START_TEST(a_convex_solid_is_one_piece)
{
	static const uint8_t ONE = 1;
	check_exact(make_voxels(1, 1, 1, &ONE), 1, 1);
	check_exact(make_ball(2, 1, 0, NULL), 1, 1);
}
END_TEST

START_TEST(a_ring_and_stars_are_cut_into_convex_parts)
{
	check_exact(make_ring(), 4, 8);
	for (uint32_t n = 3; n <= 9; n++)
		check_exact(make_star(n, 0.4), n / 2, 2 * n);
}
END_TEST

START_TEST(randomly_joined_cubes_are_cut_into_convex_parts)
{
	for (uint32_t i = 0; i < 40; i++)
		check_exact(make_random_cubes(&rng, 3 + i / 3), 1, 48);
}
END_TEST

START_TEST(rotated_solids_have_the_same_number_of_parts)
{
	for (uint32_t i = 0; i < 20; i++) {
		vec3 place = random_in_box(&rng, aabb_make(vec3_all(-9), vec3_all(9)));
		pose at = pose_make(place, random_turn(&rng));
		struct shape *l = make_l();
		struct shape *moved = make_moved(l->mesh, &at);
		struct decomposition *d = decompose(moved->mesh, DECOMPOSE_CUT_ONLY, 0);
		ck_assert_uint_eq(d->part_count, 2);
		check_parts(moved->mesh, d, 0);
		decomposition_release(d);
		shape_release(moved);
		shape_release(l);
	}
}
END_TEST

START_TEST(random_bumpy_balls_leave_few_unresolved_parts)
{
	uint32_t unresolved = 0;
	for (uint32_t i = 0; i < 6; i++) {
		struct shape *ball = make_ball(2, 1, 0.1 + 0.05 * i, &rng);
		struct decomposition *d = decompose(ball->mesh, DECOMPOSE_CUT_THEN_APPROXIMATE, 0);
		ck_assert_uint_ge(d->part_count, 2);
		ck_assert_uint_eq(d->report.unresolved, d->report.approximated);
		ck_assert((d->report.approximated > 0) == (d->report.deviation > 0));
		unresolved += d->report.unresolved;
		check_parts(ball->mesh, d, 0);
		decomposition_release(d);
		shape_release(ball);
	}
	ck_assert_uint_le(unresolved, 3);
}
END_TEST

/* ---- tolerances ------------------------------------------------------------------------------- */

START_TEST(a_larger_tolerance_gives_fewer_parts_within_it)
{
	static const double TOLERANCES[3] = { 0.02, 0.08, 0.2 };
	struct shape *ball = make_ball(3, 1, 0.15, &rng);
	uint32_t before = UINT32_MAX;
	for (uint32_t i = 0; i < 3; i++) {
		double tolerance = TOLERANCES[i];
		struct decomposition *d =
			decompose(ball->mesh, DECOMPOSE_CUT_THEN_APPROXIMATE, tolerance);
		check_parts(ball->mesh, d, tolerance);
		ck_assert(d->report.concavity <= tolerance);
		ck_assert(d->report.deviation <= tolerance);
		ck_assert_uint_lt(d->part_count, before);
		before = d->part_count;
		/* No point of a hull is farther from the solid than the tolerance. */
		for (uint32_t k = 0; k < 300; k++) {
			const struct decompose_part *part =
				&d->parts[rng_below(&rng, d->part_count)];
			vec3 p = vec3_zero();
			double weight = 0;
			for (uint32_t j = 0; j < 4; j++) {
				uint32_t pick = rng_below(&rng, part->point_count);
				double w = rng_double(&rng) + 1e-3;
				p = vec3_mul_add(p, d->points[part->first_point + pick], w);
				weight += w;
			}
			p = vec3_scale(p, 1 / weight);
			if (intersect_point_mesh(ball->mesh, p) == POINT_MESH_OUTSIDE)
				ck_assert(intersect_nearest_on_mesh(ball->mesh, p).distance <=
					  tolerance);
		}
		decomposition_release(d);
	}
	shape_release(ball);
}
END_TEST

START_TEST(every_part_respects_the_vertex_limit)
{
	struct shape *ball = make_ball(4, 1, 0, NULL);
	struct decompose_options options = decompose_options_default(ball->mesh);
	struct decomposition *d;
	options.vertices_max = 100;
	ck_assert_int_eq(decompose_mesh(ball->mesh, &options, &d, NULL), STATUS_OK);
	ck_assert_uint_gt(d->part_count, 10);
	ck_assert_uint_eq(d->report.halvings + 1, d->part_count);
	for (uint32_t i = 0; i < d->part_count; i++) {
		struct hull *hull;
		ck_assert_int_eq(hull_of_points(d->points + d->parts[i].first_point,
						d->parts[i].point_count, &hull, NULL, NULL),
				 STATUS_OK);
		ck_assert_uint_le(hull->vertex_count, 100);
		heap_free(hull);
	}
	check_parts(ball->mesh, d, options.concavity);
	decomposition_release(d);
	shape_release(ball);
}
END_TEST

/* ---- the approximation ------------------------------------------------------------------------ */

static void check_approximation(const struct mesh *mesh, double deviation)
{
	struct decomposition *d = decompose(mesh, DECOMPOSE_APPROXIMATE_ONLY, deviation);
	const struct decompose_report *report = &d->report;
	struct aabb box = aabb_make(mesh->nodes[0].min, mesh->nodes[0].max);
	ck_assert_uint_eq(report->approximated, 1);
	ck_assert(report->deviation > 0 && report->deviation <= deviation);
	ck_assert_double_eq_tol(report->volume_hulls - report->volume, report->volume_excess,
				1e-12 * report->volume);
	ck_assert(report->volume_excess >= -1e-9 * report->volume);
	for (uint32_t i = 0; i < d->part_count; i++) {
		ck_assert(d->parts[i].approximate);
		check_surface(d, &d->parts[i]);
	}
	for (uint32_t i = 0; i < 400; i++) {
		vec3 p = random_in_box(&rng, box);
		uint32_t in = 0, at = 0;
		for (uint32_t k = 0; k < d->part_count; k++) {
			int place = place_in_part(d, &d->parts[k], p);
			in += place > 0;
			at += place >= 0;
		}
		/* Rounding may leave single points between two hulls, but not this many. */
		ck_assert_uint_le(in, 1);
		bool outside = intersect_point_mesh(mesh, p) == POINT_MESH_OUTSIDE;
		double distance = intersect_nearest_on_mesh(mesh, p).distance;
		ck_assert(at > 0 || outside || distance < 1e-9);
		ck_assert(at == 0 || !outside || distance <= report->deviation);
	}
	decomposition_release(d);
}

START_TEST(approximated_parts_cover_the_solid_within_the_reported_deviation)
{
	struct shape *shapes[6] = { make_l(),
				    make_ring(),
				    make_star(5, 0.4),
				    make_hollow(),
				    make_random_cubes(&rng, 12),
				    make_ball(3, 1, 0.2, &rng) };
	for (uint32_t i = 0; i < 6; i++) {
		pose at = pose_make(vec3_make(1, 2, 3), random_turn(&rng));
		struct shape *moved = make_moved(shapes[i]->mesh, &at);
		check_approximation(shapes[i]->mesh, 0.4);
		check_approximation(moved->mesh, 0.3);
		shape_release(moved);
		shape_release(shapes[i]);
	}
}
END_TEST

START_TEST(a_finer_approximation_has_less_excess_volume)
{
	struct shape *star = make_star(7, 0.3);
	double before = SCALAR_MAX;
	for (double deviation = 0.4; deviation > 0.04; deviation /= 2) {
		struct decomposition *d =
			decompose(star->mesh, DECOMPOSE_APPROXIMATE_ONLY, deviation);
		ck_assert(d->report.volume_excess < before);
		before = d->report.volume_excess;
		decomposition_release(d);
	}
	shape_release(star);
}
END_TEST

START_TEST(a_solid_with_a_void_is_approximated_without_cuts)
{
	struct shape *hollow = make_hollow();
	struct decompose_options options = decompose_options_default(hollow->mesh);
	struct decomposition *d;
	struct reason why;
	ck_assert_int_eq(decompose_mesh(hollow->mesh, NULL, &d, &why), STATUS_OK);
	ck_assert_uint_eq(d->report.approximated, 1);
	ck_assert_uint_eq(d->report.solids, 2);
	ck_assert_uint_eq(d->report.cuts, 0);
	ck_assert_double_eq_tol(d->report.volume, 26, 1e-12);
	ck_assert(d->report.volume_hulls >= 26 - 1e-9 && d->report.volume_hulls < 27);
	decomposition_release(d);
	options.mode = DECOMPOSE_CUT_ONLY;
	ck_assert_int_eq(decompose_mesh(hollow->mesh, &options, &d, &why), STATUS_DEGENERATE);
	ck_assert_ptr_nonnull(strstr(why.text, "void"));
	shape_release(hollow);
}
END_TEST

/* ---- refusals --------------------------------------------------------------------------------- */

static enum status refusal(const vec3 *points, uint32_t count, const uint32_t (*triangles)[3],
			   uint32_t triangle_count, struct reason *why)
{
	struct shape *shape = make_mesh(points, count, triangles, triangle_count);
	struct decomposition *d = NULL;
	enum status status = decompose_mesh(shape->mesh, NULL, &d, why);
	ck_assert(status == STATUS_OK || d == NULL);
	decomposition_release(d);
	shape_release(shape);
	return status;
}

START_TEST(tetrahedra_joined_in_a_vertex_are_refused_with_its_index)
{
	static const vec3 POINTS[7] = { { 0, 0, 0 },  { 1, 0, 0 },  { 0, 1, 0 }, { 0, 0, 1 },
					{ -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
	static const uint32_t TWO[8][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 },
					    { 0, 4, 5 }, { 0, 6, 4 }, { 0, 5, 6 }, { 4, 6, 5 } };
	struct reason why;
	ck_assert_int_eq(refusal(POINTS, 7, TWO, 8, &why), STATUS_DEGENERATE);
	ck_assert_int_eq(why.index, 0);
	ck_assert_str_eq(why.field, "vertices");
	ck_assert_int_eq(refusal(POINTS, 7, TWO, 4, &why), STATUS_OK);
}
END_TEST

START_TEST(open_and_inverted_meshes_are_refused)
{
	static const vec3 POINTS[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
	static const uint32_t OUT[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
	static const uint32_t IN[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 } };
	struct reason why;
	ck_assert_int_eq(refusal(POINTS, 4, OUT, 3, &why), STATUS_DEGENERATE);
	ck_assert_ptr_nonnull(strstr(why.text, "open"));
	ck_assert_int_eq(refusal(POINTS, 4, IN, 4, &why), STATUS_DEGENERATE);
	ck_assert_ptr_nonnull(strstr(why.text, "inside out"));
}
END_TEST

START_TEST(options_out_of_range_and_too_many_parts_are_refused)
{
	struct shape *star = make_star(9, 0.4);
	struct decomposition *d = NULL;
	struct reason why;
	for (uint32_t i = 0; i < 8; i++) {
		struct decompose_options options = decompose_options_default(star->mesh);
		if (i == 0)
			options.concavity = -1;
		else if (i == 1)
			options.angle_min = 2;
		else if (i == 2)
			options.candidates = 0;
		else if (i == 3)
			options.candidates = 65;
		else if (i == 4)
			options.vertices_max = 7;
		else if (i == 5)
			options.vertices_max = SHAPE_HULL_VERTICES_MAX + 1;
		else if (i == 6)
			options.parts_max = 0;
		else
			options.distance_min = scalar_from_bits(0x7ff8000000000000u);
		ck_assert_int_eq(decompose_mesh(star->mesh, &options, &d, &why), STATUS_RANGE);
	}
	struct decompose_options options = decompose_options_default(star->mesh);
	options.concavity = 0;
	options.parts_max = 3;
	ck_assert_int_eq(decompose_mesh(star->mesh, &options, &d, &why), STATUS_LIMIT);
	ck_assert_ptr_null(d);
	shape_release(star);
}
END_TEST

/* ---- determinism ------------------------------------------------------------------------------ */

static void check_same(const struct decomposition *a, const struct decomposition *b)
{
	ck_assert_uint_eq(a->part_count, b->part_count);
	ck_assert_uint_eq(a->point_count, b->point_count);
	ck_assert_uint_eq(a->triangle_count, b->triangle_count);
	ck_assert_mem_eq(a->points, b->points, a->point_count * sizeof *a->points);
	ck_assert_mem_eq(a->triangles, b->triangles, a->triangle_count * sizeof *a->triangles);
	for (uint32_t i = 0; i < a->part_count; i++) {
		ck_assert_uint_eq(a->parts[i].first_point, b->parts[i].first_point);
		ck_assert(a->parts[i].volume == b->parts[i].volume);
		ck_assert(a->parts[i].concavity == b->parts[i].concavity);
	}
}

START_TEST(time_slices_do_not_change_the_parts)
{
	struct shape *ball = make_ball(3, 1, 0.2, &rng);
	for (uint32_t mode = 0; mode <= DECOMPOSE_APPROXIMATE_ONLY; mode++) {
		struct decomposition *whole = decompose(ball->mesh, mode, 0.1), *sliced;
		struct decompose_options options = decompose_options_default(ball->mesh);
		struct decompose *work;
		uint32_t slices = 1;
		enum status status;
		options.mode = mode;
		options.concavity = 0.1;
		ck_assert_int_eq(decompose_create(ball->mesh, &options, &work, NULL), STATUS_OK);
		while ((status = decompose_step(work, 1, &sliced, NULL)) == STATUS_AGAIN)
			slices++;
		ck_assert_int_eq(status, STATUS_OK);
		ck_assert_uint_ge(slices, whole->part_count);
		check_same(whole, sliced);
		decompose_destroy(work);
		decomposition_release(whole);
		decomposition_release(sliced);
	}
	shape_release(ball);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	struct shape *shapes[2] = { make_plus(), make_hollow() };
	for (uint32_t i = 0; i < 2; i++) {
		int64_t live = heap_live();
		bool pending = false;
		for (uint64_t n = 1; !pending; n++) {
			struct decompose_options options =
				decompose_options_default(shapes[i]->mesh);
			struct decomposition *d = NULL;
			struct reason why;
			/* A decomposition of few parts: each of its allocations fails in turn. */
			options.concavity = 2 * (double)i;
			heap_fail_at(n);
			enum status status = decompose_mesh(shapes[i]->mesh, &options, &d, &why);
			pending = heap_fail_pending();
			heap_fail_at(0);
			ck_assert_int_eq(status, pending ? STATUS_OK : STATUS_NO_MEMORY);
			decomposition_release(d);
			ck_assert_int_eq(heap_live(), live);
		}
		shape_release(shapes[i]);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("decompose");
	rng = rng_seeded(check_seed());
	TCase *cuts = tcase_create("cutting");
	tcase_add_test(cuts, an_l_prism_is_two_pieces_and_a_plus_at_most_five);
	tcase_add_test(cuts, a_convex_solid_is_one_piece);
	tcase_add_test(cuts, a_ring_and_stars_are_cut_into_convex_parts);
	tcase_add_test(cuts, randomly_joined_cubes_are_cut_into_convex_parts);
	tcase_add_test(cuts, rotated_solids_have_the_same_number_of_parts);
	tcase_add_test(cuts, random_bumpy_balls_leave_few_unresolved_parts);
	suite_add_tcase(suite, cuts);
	TCase *tolerances = tcase_create("tolerances");
	tcase_add_test(tolerances, a_larger_tolerance_gives_fewer_parts_within_it);
	tcase_add_test(tolerances, every_part_respects_the_vertex_limit);
	suite_add_tcase(suite, tolerances);
	TCase *boxes = tcase_create("approximation");
	tcase_add_test(boxes, approximated_parts_cover_the_solid_within_the_reported_deviation);
	tcase_add_test(boxes, a_finer_approximation_has_less_excess_volume);
	tcase_add_test(boxes, a_solid_with_a_void_is_approximated_without_cuts);
	suite_add_tcase(suite, boxes);
	TCase *refusals = tcase_create("refusals");
	tcase_add_test(refusals, tetrahedra_joined_in_a_vertex_are_refused_with_its_index);
	tcase_add_test(refusals, open_and_inverted_meshes_are_refused);
	tcase_add_test(refusals, options_out_of_range_and_too_many_parts_are_refused);
	suite_add_tcase(suite, refusals);
	TCase *again = tcase_create("again");
	tcase_add_test(again, time_slices_do_not_change_the_parts);
	tcase_add_test(again, every_allocation_may_fail);
	suite_add_tcase(suite, again);
	return suite;
}

int main(void)
{
	return check_main(make);
}
