/* Registration of solids (ch1-3, app D-01): repairs, refusals with their reasons, and
 * mass properties against analytic solids and, for real meshes, against a sum over tetrahedra in
 * long double. */
#include "server/engine/geometry/mesh_repair.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/mass.h"
#include "protocol/scene/mesh.h"
#include "tests/lib/check_main.h"

#include <stdio.h>
#include <string.h>

enum { V_MAX = 4096, T_MAX = 8192 };

static vec3 vertices[V_MAX];
static uint32_t triangles[T_MAX][3];
static uint32_t vertex_count, triangle_count;

static const uint32_t CUBE[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
				      { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
				      { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };

static void clear_mesh(void)
{
	vertex_count = triangle_count = 0;
}

static void add_face(uint32_t a, uint32_t b, uint32_t c)
{
	triangles[triangle_count][0] = a;
	triangles[triangle_count][1] = b;
	triangles[triangle_count++][2] = c;
}

/* A box around `at`, facing inwards when `inward`. */
static void add_box(vec3 at, vec3 half, bool inward)
{
	for (uint32_t i = 0; i < 8; i++)
		vertices[vertex_count + i] =
			vec3_add(at, vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
					       i & 4 ? half.z : -half.z));
	for (uint32_t t = 0; t < 12; t++)
		add_face(vertex_count + CUBE[t][0], vertex_count + CUBE[t][inward ? 2 : 1],
			 vertex_count + CUBE[t][inward ? 1 : 2]);
	vertex_count += 8;
}

static enum status repair(double weld, struct polyhedron **out, struct mesh_report *report,
			  struct reason *why)
{
	struct mesh_soup soup = { vertices, vertex_count, (const uint32_t(*)[3])triangles,
				  triangle_count };
	struct mesh_repair_options options = { .weld = weld, .crossings = true };
	return mesh_repair(&soup, &options, out, report, why);
}

static struct polyhedron *expect_repaired(double weld, struct mesh_report *report)
{
	struct polyhedron *solid = NULL;
	struct reason why = { 0 };
	const char *fault = "";
	enum status status = repair(weld, &solid, report, &why);
	ck_assert_msg(status == STATUS_OK, "refused: %s", why.text);
	ck_assert_msg(polyhedron_is_valid(solid, &fault), "%s", fault);
	ck_assert(report->closed);
	return solid;
}

START_TEST(the_box_of_a04_has_its_moments_edges_and_radius)
{
	struct mesh_report report;
	clear_mesh();
	add_box(vec3_make(7, -1, 3), vec3_make(1, 1.5, 2), false);
	struct polyhedron *solid = expect_repaired(0, &report);
	ck_assert_uint_eq(solid->face_count, 12);
	ck_assert_uint_eq(solid->edge_count, 18);
	ck_assert_uint_eq(solid->vertex_count, 8);
	struct mass_properties mass = mass_of_polyhedron(solid);
	struct solid_frame frame = solid_frame_of(&mass, solid->vertices, 8);
	/* The mass of 12 means density 1/2. */
	ck_assert_double_eq_tol(mass.volume, 24, 1e-12);
	ck_assert_double_eq_tol(frame.moments.x / 2, 25, 1e-12);
	ck_assert_double_eq_tol(frame.moments.y / 2, 20, 1e-12);
	ck_assert_double_eq_tol(frame.moments.z / 2, 13, 1e-12);
	ck_assert_double_eq_tol(frame.radius, 2.6925824035672519, 1e-14);
	for (uint32_t f = 0; f < 12; f++) {
		vec3 p = vec3_sub(solid->vertices[solid->faces[f][0]], vec3_make(7, -1, 3));
		ck_assert_double_gt(vec3_dot(p, solid->normals[f]), 0.9);
		for (uint32_t k = 0; k < 3; k++)
			ck_assert_uint_ne(polyhedron_neighbour(solid, f, k), f);
	}
	/* In its principal frame (ch1-3 A-04) the centre is the origin and the tensor is
	 * diagonal. */
	for (uint32_t v = 0; v < solid->vertex_count; v++)
		solid->vertices[v] = pose_inverse_point(frame.at, solid->vertices[v]);
	struct mass_properties own = mass_of_polyhedron(solid);
	ck_assert_double_lt(vec3_length(own.centre), 1e-14);
	ck_assert_double_lt(scalar_abs(own.inertia.x.y) + scalar_abs(own.inertia.x.z) +
				    scalar_abs(own.inertia.y.z),
			    1e-12);
	polyhedron_destroy(solid);
}
END_TEST

START_TEST(loose_reversed_and_repeated_triangles_are_repaired)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 50; run++) {
		struct mesh_report report;
		clear_mesh();
		/* Every triangle with its own corners, slightly displaced, randomly reversed. */
		uint32_t turned = 0;
		for (uint32_t t = 0; t < 12; t++) {
			bool turn = rng_below(&rng, 2);
			turned += turn;
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t i = CUBE[t][turn ? 2 - k : k];
				vec3 p = vec3_make(i & 1, i >> 1 & 1, i >> 2);
				p.x += rng_range(&rng, -1e-7, 1e-7);
				vertices[vertex_count++] = p;
			}
			add_face(vertex_count - 3, vertex_count - 2, vertex_count - 1);
		}
		vertices[vertex_count++] = vec3_make(5, 5, 5);
		add_face(0, 0, 1);
		memcpy(triangles[triangle_count++], triangles[3], sizeof triangles[3]);
		struct polyhedron *solid = expect_repaired(1e-6, &report);
		ck_assert_uint_eq(report.vertices_welded, 28);
		ck_assert_uint_eq(report.vertices_unused, 1);
		ck_assert_uint_eq(report.triangles_collapsed, 1);
		ck_assert_uint_eq(report.triangles_repeated, 1);
		ck_assert_uint_eq(report.triangles_turned, turned);
		ck_assert_uint_eq(report.crossings, 0);
		ck_assert(report.crossings_all);
		ck_assert_double_eq_tol(mass_of_polyhedron(solid).volume, 1, 1e-6);
		polyhedron_destroy(solid);
		/* Without a weld tolerance there are twelve loose triangles. */
		struct reason why;
		ck_assert_int_eq(repair(0, &solid, &report, &why), STATUS_DEGENERATE);
		ck_assert_uint_gt(report.border_edges, 30);
	}
}
END_TEST

START_TEST(a_void_is_preserved_and_an_inward_shell_is_reversed)
{
	struct mesh_report report;
	clear_mesh();
	add_box(vec3_zero(), vec3_all(2), false);
	add_box(vec3_zero(), vec3_all(1), true);
	add_box(vec3_make(9, 0, 0), vec3_all(1), true);
	struct polyhedron *solid = expect_repaired(0, &report);
	ck_assert_uint_eq(report.shells, 3);
	ck_assert_uint_eq(report.voids, 1);
	ck_assert_uint_eq(report.shells_turned, 1);
	ck_assert_uint_eq(report.triangles_turned, 12);
	ck_assert_double_eq_tol(mass_of_polyhedron(solid).volume, 64 - 8 + 8, 1e-12);
	polyhedron_destroy(solid);
}
END_TEST

START_TEST(fins_are_removed_and_a_shared_vertex_is_split)
{
	struct mesh_report report;
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	vertices[vertex_count++] = vec3_make(3, 0, 0);
	add_face(1, 3, 8);
	add_face(3, 1, 8);			  /* back to back: a fin */
	add_box(vec3_all(2), vec3_all(1), false); /* touches the first in one corner */
	struct polyhedron *solid = expect_repaired(0, &report);
	ck_assert_uint_eq(report.triangles_cancelled, 2);
	ck_assert_uint_eq(report.vertices_split, 1);
	ck_assert_uint_eq(solid->vertex_count, 16);
	ck_assert_double_eq_tol(mass_of_polyhedron(solid).volume, 16, 1e-12);
	polyhedron_destroy(solid);
}
END_TEST

static void expect_refused(double weld, const char *words, struct mesh_report *report)
{
	struct polyhedron *solid = NULL;
	struct reason why = { 0 };
	ck_assert_int_eq(repair(weld, &solid, report, &why), STATUS_DEGENERATE);
	ck_assert_int_eq(why.status, STATUS_DEGENERATE);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
	ck_assert_ptr_null(solid);
	ck_assert(!report->closed);
}

START_TEST(irreparable_meshes_are_refused_with_the_reason)
{
	struct mesh_report report;
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	triangle_count--; /* 3 7 5 */
	expect_refused(0, "3 edges have one triangle: 3-5, 3-7, 5-7", &report);
	ck_assert_uint_eq(report.border_edges, 3);
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	vertices[vertex_count++] = vec3_make(5, 0, 0);
	add_face(5, 7, 8);
	add_face(7, 3, 8);
	add_face(3, 5, 8);
	expect_refused(0, "3 edges have three triangles or more: 3-5, 3-7, 5-7", &report);
	ck_assert_uint_eq(report.crowded[0].triangles, 3);
	clear_mesh(); /* a Möbius strip, and a triangle without area */
	for (uint32_t i = 0; i < 10; i++)
		vertices[vertex_count++] = vec3_make(i, i * i, i % 2);
	for (uint32_t i = 0; i < 5; i++)
		add_face(i, (i + 1) % 5, (i + 2) % 5);
	expect_refused(0, "edges", &report);
	ck_assert_uint_gt(report.twisted_edges, 0);
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	vertices[8] = vec3_zero();
	vertices[9] = vec3_make(1, 1, 1);
	vertices[10] = vec3_make(3, 3, 3);
	vertex_count = 11;
	add_face(8, 9, 10);
	expect_refused(0, "1 triangles have no area: 12 first", &report);
	clear_mesh();
	vertex_count = 8;
	add_face(0, 0, 1);
	expect_refused(0, "no triangle is left", &report);
}
END_TEST

START_TEST(a_weld_too_small_for_the_lattice_is_refused)
{
	static const double WELDS[] = { -1, 1e-300, 0.999e-9 };
	struct polyhedron *solid = NULL;
	struct mesh_report report;
	struct reason why = { 0 };
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	for (size_t i = 0; i < COUNT_OF(WELDS); i++) {
		ck_assert_int_eq(repair(WELDS[i], &solid, &report, &why), STATUS_RANGE);
		ck_assert_str_eq(why.field, "weld");
		ck_assert_ptr_null(solid);
	}
	polyhedron_destroy(expect_repaired(MESH_WELD_MIN, &report));
}
END_TEST

START_TEST(crossing_faces_are_counted_and_reported)
{
	struct mesh_report report;
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	add_box(vec3_make(0.7, 0.6, 0.55), vec3_all(0.6), false);
	struct polyhedron *solid = expect_repaired(0, &report);
	ck_assert_uint_gt(report.crossings, 3);
	ck_assert_uint_lt(report.crossing[0][0], 12);
	ck_assert_uint_ge(report.crossing[0][1], 12);
	polyhedron_destroy(solid);
	/* Separate boxes have no crossing faces. */
	clear_mesh();
	add_box(vec3_zero(), vec3_all(1), false);
	add_box(vec3_make(3, 0, 0), vec3_all(1), false);
	polyhedron_destroy(expect_repaired(0, &report));
	ck_assert_uint_eq(report.crossings, 0);
}
END_TEST

START_TEST(every_failed_allocation_is_reported_without_a_leak)
{
	clear_mesh();
	add_box(vec3_zero(), vec3_all(2), false);
	add_box(vec3_zero(), vec3_all(1), true);
	int64_t before = heap_live();
	for (uint64_t n = 1;; n++) {
		struct polyhedron *solid = NULL;
		struct mesh_report report;
		struct reason why = { 0 };
		heap_fail_at(n);
		enum status status = repair(1e-6, &solid, &report, &why);
		bool untouched = heap_fail_pending();
		heap_fail_at(0);
		if (untouched) {
			ck_assert_int_eq(status, STATUS_OK);
			polyhedron_destroy(solid);
			ck_assert_uint_gt(n, 6);
			break;
		}
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_int_eq(why.status, STATUS_NO_MEMORY);
		ck_assert_int_eq(heap_live(), before);
	}
	ck_assert_int_eq(heap_live(), before);
}
END_TEST

/* ---- mass ------------------------------------------------------------------------------------- */

/* The same integrals as a sum over tetrahedra from a point, in long double: for a tetrahedron 0 a b c
 * of volume v, ∫x = v/4 Σx, ∫xy = v/20 (Σ x_i y_i + Σ x_i Σ y_i). */
static struct mass_properties mass_by_tetrahedra(const struct polyhedron *solid)
{
	long double v6 = 0, first[3] = { 0 }, second[3][3] = { { 0 } };
	vec3 base = solid->vertices[0];
	for (uint32_t f = 0; f < solid->face_count; f++) {
		long double p[3][3], sum[3] = { 0 };
		for (uint32_t k = 0; k < 3; k++)
			for (uint32_t axis = 0; axis < 3; axis++) {
				p[k][axis] = (long double)vec3_get(
						     solid->vertices[solid->faces[f][k]], axis) -
					     (long double)vec3_get(base, axis);
				sum[axis] += p[k][axis];
			}
		long double v = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
				p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
				p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
		v6 += v;
		for (uint32_t i = 0; i < 3; i++) {
			first[i] += v * sum[i] / 24;
			for (uint32_t j = 0; j < 3; j++)
				second[i][j] += v / 120 *
						(sum[i] * sum[j] + p[0][i] * p[0][j] +
						 p[1][i] * p[1][j] + p[2][i] * p[2][j]);
		}
	}
	long double volume = v6 / 6, c[3], m[3][3];
	for (uint32_t i = 0; i < 3; i++)
		c[i] = first[i] / volume;
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 3; j++)
			m[i][j] = second[i][j] - volume * c[i] * c[j];
	struct mass_properties mass = { .volume = (double)volume };
	for (uint32_t i = 0; i < 3; i++) {
		vec3_set(&mass.centre, i, (double)(c[i] + (long double)vec3_get(base, i)));
		for (uint32_t j = 0; j < 3; j++)
			mat3_set(&mass.inertia, i, j,
				 (double)(i == j ? m[0][0] + m[1][1] + m[2][2] - m[i][i]
						 : -m[i][j]));
	}
	return mass;
}

static double mass_difference(const struct mass_properties *a, const struct mass_properties *b)
{
	double length = scalar_sqrt(mat3_get(b->inertia, 0, 0) / b->volume);
	double worst = scalar_abs(a->volume - b->volume) / b->volume;
	worst = scalar_max(worst, vec3_distance(a->centre, b->centre) / length);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 3; j++)
			worst = scalar_max(worst, scalar_abs(mat3_get(a->inertia, i, j) -
							     mat3_get(b->inertia, i, j)) /
							  mat3_get(b->inertia, 0, 0));
	return worst;
}

static struct polyhedron *polyhedron_of_cloud(const struct point_cloud *mesh,
					      struct mesh_report *report, struct reason *why)
{
	struct polyhedron *solid = NULL;
	struct mesh_soup soup = { mesh->points.items, mesh->points.count,
				  (const uint32_t(*)[3])mesh->triangles.items,
				  mesh->triangles.count };
	struct mesh_repair_options options = { .weld = 0, .crossings = true };
	enum status status = mesh_repair(&soup, &options, &solid, report, why);
	ck_assert((status == STATUS_OK) == (solid != NULL));
	return solid;
}

static bool read_file(const char *name, struct point_cloud *mesh)
{
	struct reason why = { 0 };
	struct source source = { .file = "test", .why = &why };
	return mesh_read(&source, 0, NULL, name, NULL, mesh) == STATUS_OK;
}

START_TEST(real_meshes_agree_with_sums_over_tetrahedra)
{
	static const char *const FILES[] = { "asteroid-high.3ds", "asteroid-low.3ds", "bunny.obj",
					     "cube.3ds" };
	for (uint32_t i = 0; i < COUNT_OF(FILES); i++) {
		struct point_cloud mesh;
		struct mesh_report report;
		struct reason why = { 0 };
		if (!read_file(FILES[i], &mesh))
			continue;
		struct polyhedron *solid = polyhedron_of_cloud(&mesh, &report, &why);
		ck_assert_msg(solid != NULL, "%s: %s", FILES[i], why.text);
		ck_assert(polyhedron_is_valid(solid, NULL));
		struct mass_properties mass = mass_of_polyhedron(solid),
				       sum = mass_by_tetrahedra(solid);
		double off = mass_difference(&mass, &sum);
		printf("# %s: %u vertices, %u faces, %u shells, volume %.12g, off by %.1e, %u crossings\n",
		       FILES[i], solid->vertex_count, solid->face_count, report.shells, mass.volume,
		       off, report.crossings);
		ck_assert_double_lt(off, 1e-11);
		polyhedron_destroy(solid);
		cloud_release(&mesh);
	}
}
END_TEST

START_TEST(the_horse_and_the_cat_are_refused_with_their_bad_edges)
{
	static const struct {
		const char *file, *words;
		uint32_t border, crowded;
	} CASES[] = { { "horse.3ds", "24 edges have three triangles or more: 121-351", 0, 24 },
		      { "cat.3ds", "330 edges have one triangle: ", 330, 0 } };
	for (uint32_t i = 0; i < COUNT_OF(CASES); i++) {
		struct point_cloud mesh;
		struct mesh_report report;
		struct reason why = { 0 };
		if (!read_file(CASES[i].file, &mesh))
			continue;
		ck_assert_ptr_null(polyhedron_of_cloud(&mesh, &report, &why));
		printf("# %s: %s\n", CASES[i].file, why.text);
		ck_assert_msg(strstr(why.text, CASES[i].words) != NULL, "%s", why.text);
		ck_assert_uint_eq(report.border_edges, CASES[i].border);
		ck_assert_uint_eq(report.crowded_edges, CASES[i].crowded);
		cloud_release(&mesh);
	}
}
END_TEST

START_TEST(analytic_solids_have_their_mass_at_every_position)
{
	struct mesh_report report;
	clear_mesh();
	/* A frame: a box of 4×4×1 with a square through hole of 2×2, made of two rings of quads. */
	for (uint32_t i = 0; i < 16; i++) {
		double half = i & 4 ? 1 : 2, z = i & 8 ? 0.5 : -0.5;
		vertices[vertex_count++] = vec3_make((i & 3) == 1 || (i & 3) == 2 ? half : -half,
						     (i & 3) >= 2 ? half : -half, z);
	}
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t n = (k + 1) % 4;
		const uint32_t quads[4][4] = { { k, n, 8 + n, 8 + k },		 /* outside */
					       { 4 + n, 4 + k, 12 + k, 12 + n }, /* the hole */
					       { 8 + k, 8 + n, 12 + n, 12 + k }, /* top */
					       { n, k, 4 + k, 4 + n } };	 /* bottom */
		for (uint32_t q = 0; q < 4; q++) {
			add_face(quads[q][0], quads[q][1], quads[q][2]);
			add_face(quads[q][0], quads[q][2], quads[q][3]);
		}
	}
	for (uint32_t run = 0; run < 3; run++) {
		struct polyhedron *solid = expect_repaired(0, &report);
		ck_assert_uint_eq(report.triangles_turned, 0);
		struct mass_properties mass = mass_of_polyhedron(solid);
		/* 16 − 4 of area; about z: (16·32 − 4·8)/12, about x: 12·1/12 + (4·64 − 2·8)/12. */
		ck_assert_double_eq_tol(mass.volume, 12, 1e-11);
		ck_assert_double_eq_tol(mat3_get(mass.inertia, 2, 2), 40, 1e-9);
		ck_assert_double_eq_tol(mat3_get(mass.inertia, 0, 0), 21, 1e-9);
		ck_assert_double_eq_tol(mat3_get(mass.inertia, 1, 1), 21, 1e-9);
		vec3 centre = vec3_scale(vec3_make(100, -1, 1), run);
		ck_assert_double_lt(vec3_distance(mass.centre, centre), 1e-11);
		polyhedron_destroy(solid);
		for (uint32_t v = 0; v < vertex_count; v++)
			vertices[v] = vec3_add(vertices[v], vec3_make(100, -1, 1));
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/mesh_repair");
	TCase *all = tcase_create("registration");
	tcase_add_test(all, the_box_of_a04_has_its_moments_edges_and_radius);
	tcase_add_test(all, loose_reversed_and_repeated_triangles_are_repaired);
	tcase_add_test(all, a_void_is_preserved_and_an_inward_shell_is_reversed);
	tcase_add_test(all, fins_are_removed_and_a_shared_vertex_is_split);
	tcase_add_test(all, irreparable_meshes_are_refused_with_the_reason);
	tcase_add_test(all, a_weld_too_small_for_the_lattice_is_refused);
	tcase_add_test(all, crossing_faces_are_counted_and_reported);
	tcase_add_test(all, every_failed_allocation_is_reported_without_a_leak);
	tcase_add_test(all, real_meshes_agree_with_sums_over_tetrahedra);
	tcase_add_test(all, the_horse_and_the_cat_are_refused_with_their_bad_edges);
	tcase_add_test(all, analytic_solids_have_their_mass_at_every_position);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
