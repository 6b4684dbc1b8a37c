/* Points drawn evenly on surfaces: areas by their formulas; the theorem of divergence for every
 * closed kind, which holds only if points and normals are those of the surface and evenly
 * distributed; and how points spread within a triangle. */
#include "server/engine/collision/query.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/surface_points.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"

#include <math.h>

static double whole_area(const struct shape *shape)
{
	double sum = 0;
	for (uint32_t i = 0; i < surface_patches(shape); i++) {
		ck_assert_double_ge(surface_area(shape, i), 0);
		sum += surface_area(shape, i);
	}
	return sum;
}

/* A point of the whole surface, whose patches have these areas. */
static struct surface_point draw(const struct shape *shape, const double *areas, double whole,
				 struct rng *rng)
{
	double below = rng_range(rng, 0, whole);
	uint32_t last = 0;
	for (uint32_t i = 0; i < surface_patches(shape) && below >= 0; i++)
		if (areas[i] > 0) {
			below -= areas[i];
			last = i;
		}
	return surface_draw(shape, last, rng);
}

enum { PATCHES = 256 };
static double areas[PATCHES];

static double list_areas(const struct shape *shape)
{
	uint32_t count = surface_patches(shape);
	ck_assert_uint_le(count, PATCHES);
	for (uint32_t i = 0; i < count; i++)
		areas[i] = surface_area(shape, i);
	return whole_area(shape);
}

/* One of each closed kind. */
static struct shape *make(int kind)
{
	static const vec3 cloud[] = { { 0.7, 0, 0.1 },	{ -0.5, 0.2, 0 }, { 0, 0.9, 0 },
				      { 0.1, -0.4, 0 }, { 0, 0, 0.6 },	  { 0.3, 0.1, -0.5 } };
	static const vec3 corners[] = { { -0.5, -0.3, 0 }, { 0.9, -0.2, 0 }, { 0.2, 0.8, 0 } };
	static const vec3 boxes[][2] = { { { -0.6, 0, 0 }, { 0.5, 0.3, 0.4 } },
					 { { 0.5, 0, 0 }, { 0.3, 0.5, 0.2 } } };
	switch (kind) {
	case 0:
		return make_sphere(0.7);
	case 1:
		return make_capsule(0.5, 0.25);
	case 2:
		return make_box(0.2, 0.5, 0.9);
	case 3:
		return make_hull(cloud, COUNT_OF(cloud));
	case 4:
		return make_rounded_box(0.3, 0.5, 0.2, 0.15);
	case 5:
		return make_rounded_hull(cloud, COUNT_OF(cloud), 0.2);
	case 6:
		return make_cylinder(0.4, 0.6);
	case 7:
		return make_cone(0.4, 0.6);
	case 8:
		return make_ellipsoid(0.3, 0.9, 0.5);
	case 9:
		return make_polygon(corners, COUNT_OF(corners), 0);
	case 10:
		return make_polygon(corners, COUNT_OF(corners), 0.3);
	default:
		return make_boxes_solid(boxes, COUNT_OF(boxes));
	}
}

START_TEST(areas_are_those_of_the_formulas)
{
	struct shape *shape = make(_i);
	double area = whole_area(shape), e;
	switch (_i) {
	case 0:
		ck_assert_double_eq_tol(area, 4 * PI * 0.49, 1e-12);
		break;
	case 1:
		ck_assert_double_eq_tol(area, 4 * PI * 0.0625 + 2 * PI * 0.25, 1e-12);
		break;
	case 2:
		ck_assert_double_eq_tol(area, 8 * (0.1 + 0.45 + 0.18), 1e-12);
		break;
	case 4: /* Steiner: faces, quarter cylinders, a sphere */
		ck_assert_double_eq_tol(area,
					8 * (0.15 + 0.1 + 0.06) +
						2 * PI * 0.15 * 2 * (0.3 + 0.5 + 0.2) +
						4 * PI * 0.0225,
					1e-12);
		break;
	case 6:
		ck_assert_double_eq_tol(area, 2 * PI * 0.6 * (0.8 + 0.6), 1e-12);
		break;
	case 7:
		ck_assert_double_eq_tol(area, PI * 0.6 * (0.6 + 1), 1e-12);
		break;
	case 8:
		/* Knud Thomsen's formula, within 1.1 %. */
		e = (pow(0.27, 1.6075) + pow(0.45, 1.6075) + pow(0.15, 1.6075)) / 3;
		ck_assert_double_eq_tol(area, 4 * PI * pow(e, 1 / 1.6075), 0.011 * area);
		break;
	case 9:
		ck_assert_double_eq_tol(area, hypot(1.4, 0.1) + hypot(0.7, 1) + hypot(0.7, 1.1),
					1e-12);
		break;
	case 10:
		ck_assert_double_eq_tol(
			area, hypot(1.4, 0.1) + hypot(0.7, 1) + hypot(0.7, 1.1) + 2 * PI * 0.3,
			1e-12);
		break;
	default:
		ck_assert_double_gt(area, 1);
	}
	shape_release(shape);
	/* A spheroid, long: 2πa² (1 + c/(a e) asin e). */
	shape = make_ellipsoid(0.3, 0.9, 0.3);
	e = sqrt(1 - 1.0 / 9);
	ck_assert_double_eq_tol(whole_area(shape), 2 * PI * 0.09 * (1 + 3 / e * asin(e)), 1e-3);
	shape_release(shape);
}
END_TEST

/* Half axes: like a ball, long, flat, three different ones, nearly a needle and a leaf. */
enum { ELLIPSOIDS = 7, BANDS = 8 };
static const vec3 HALVES[ELLIPSOIDS] = { { 0.6, 0.601, 0.6 }, { 0.3, 0.9, 0.3 }, { 1, 0.1, 1 },
					 { 0.2, 0.5, 1.5 },   { 0.9, 0.4, 0.6 }, { 0.05, 1, 0.08 },
					 { 2, 0.3, 0.06 } };

/* The area of each band of equal height along y. With u = y/b: dA = √((1 − u²) (b² c² cos²φ + a²
 * b² sin²φ) + a² c² u²) du dφ. */
static double integrate_bands(vec3 half, double bands[BANDS])
{
	enum { ACROSS = 400, AROUND = 400 };
	double whole = 0;
	for (uint32_t band = 0; band < BANDS; band++) {
		bands[band] = 0;
		for (uint32_t i = 0; i < ACROSS; i++)
			for (uint32_t k = 0; k < AROUND; k++) {
				double u = -1 + 2 * (band + (i + 0.5) / ACROSS) / BANDS;
				double phi = 2 * PI * (k + 0.5) / AROUND;
				double x = half.y * half.z * cos(phi),
				       z = half.x * half.y * sin(phi);
				double y = half.x * half.z * u;
				bands[band] += sqrt((1 - u * u) * (x * x + z * z) + y * y);
			}
		bands[band] *= 2.0 / BANDS / ACROSS * 2 * PI / AROUND;
		whole += bands[band];
	}
	return whole;
}

/* Areas, and by χ² of seven degrees of freedom below 30 (1e-4) how points spread over the bands. */
START_TEST(ellipsoids_of_every_form_have_their_area_and_are_met_evenly)
{
	enum { DRAWS = 6000 };
	double bands[BANDS], squares = 0, exact = integrate_bands(HALVES[_i], bands);
	struct shape *shape = make_ellipsoid(HALVES[_i].x, HALVES[_i].y, HALVES[_i].z);
	struct rng rng = rng_seeded(check_seed());
	double whole = list_areas(shape);
	uint32_t counts[BANDS] = { 0 };
	ck_assert_double_eq_tol(whole, exact, 1e-3 * exact);
	for (uint32_t i = 0; i < DRAWS; i++) {
		double u = draw(shape, areas, whole, &rng).at.y / HALVES[_i].y;
		counts[MIN_OF((uint32_t)(0.5 * (u + 1) * BANDS), BANDS - 1u)]++;
	}
	for (uint32_t k = 0; k < BANDS; k++) {
		double expected = DRAWS * bands[k] / exact;
		squares += pow(counts[k] - expected, 2) / expected;
	}
	ck_assert_double_lt(squares, 30);
	shape_release(shape);
}
END_TEST

/* ∮ n dA = 0 and ∮ x·n dA = 3 V (in the plane 2 A), within five standard deviations. */
START_TEST(points_and_normals_obey_the_theorem_of_divergence)
{
	enum { DRAWS = 20000 };
	struct shape *shape = make(_i);
	struct rng rng = rng_seeded(check_seed());
	bool flat = shape->kind == SHAPE_POLYGON;
	double whole = list_areas(shape), sum = 0, square = 0;
	vec3 normals = vec3_zero();
	for (uint32_t i = 0; i < DRAWS; i++) {
		struct surface_point point = draw(shape, areas, whole, &rng);
		double out = vec3_dot(vec3_sub(point.at, shape->mass.centre), point.normal);
		ck_assert_double_eq_tol(vec3_length(point.normal), 1, 1e-9);
		ck_assert(!flat || (point.at.z == 0 && point.normal.z == 0));
		sum += out / DRAWS;
		square += out * out / DRAWS;
		normals = vec3_add(normals, vec3_scale(point.normal, 1.0 / DRAWS));
	}
	double deviation = sqrt(fmax(square - sum * sum, 0) / DRAWS);
	double expected = (flat ? 2 : 3) * shape->mass.volume / whole;
	ck_assert_double_eq_tol(sum, expected, 5 * deviation + 1e-3 * expected);
	ck_assert_double_lt(vec3_length(normals), 5 * sqrt(1.0 / DRAWS));
	shape_release(shape);
}
END_TEST

/* A ball just outside overlaps nothing, one just inside does. */
START_TEST(points_lie_on_the_surface)
{
	struct shape *shape = make(_i);
	struct rng rng = rng_seeded(check_seed());
	double whole = list_areas(shape), step = 1e-4;
	for (uint32_t i = 0; i < 300; i++) {
		struct surface_point point = draw(shape, areas, whole, &rng);
		vec3 out = vec3_mul_add(point.at, point.normal, step);
		vec3 in = vec3_mul_sub(point.at, point.normal, step);
		ck_assert(!shape_overlap_sphere(shape, out, 0.9 * step));
		ck_assert(shape_overlap_sphere(shape, in, 0.5 * step));
	}
	shape_release(shape);
}
END_TEST

/* A triangle's four quarters get the same: χ² of three degrees of freedom below 21 (1e-4). */
START_TEST(points_spread_evenly_in_a_triangle)
{
	enum { DRAWS = 8000 };
	static const vec3 corners[] = { { 0, 0, 0 }, { 5, 0, 0 }, { 0.1, 0, -0.02 } };
	static const uint32_t triangle[][3] = { { 0, 1, 2 } };
	struct shape *shape = make_mesh(corners, 3, triangle, 1);
	struct rng rng = rng_seeded(check_seed());
	uint32_t counts[4] = { 0 };
	double squares = 0;
	for (uint32_t i = 0; i < DRAWS; i++) {
		struct surface_point point = surface_draw(shape, 0, &rng);
		ck_assert_double_eq_tol(point.normal.y, 1, 1e-12);
		double c = point.at.z / -0.02, b = (point.at.x - 0.1 * c) / 5;
		ck_assert(b >= -1e-12 && c >= -1e-12 && b + c <= 1 + 1e-12);
		counts[b > 0.5 ? 1 : c > 0.5 ? 2 : b + c < 0.5 ? 0 : 3]++;
	}
	for (uint32_t k = 0; k < 4; k++)
		squares += pow(counts[k] - DRAWS / 4.0, 2) / (DRAWS / 4.0);
	ck_assert_double_lt(squares, 21);
	shape_release(shape);
}
END_TEST

START_TEST(what_has_no_end_has_no_patches_and_holes_have_no_area)
{
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0);
	ck_assert_uint_eq(surface_patches(plane), 0);
	shape_release(plane);
	struct shape *ground = make_terrain(4, 1, 0.3, 7);
	ck_assert_uint_eq(surface_patches(ground), ground->mesh->triangle_count);
	ck_assert_double_gt(whole_area(ground), 16);
	shape_release(ground);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("surface_points");
	TCase *all = tcase_create("surface_points");
	tcase_add_loop_test(all, areas_are_those_of_the_formulas, 0, 12);
	tcase_add_loop_test(all, ellipsoids_of_every_form_have_their_area_and_are_met_evenly, 0,
			    ELLIPSOIDS);
	tcase_add_loop_test(all, points_and_normals_obey_the_theorem_of_divergence, 0, 12);
	tcase_add_loop_test(all, points_lie_on_the_surface, 0, 12);
	tcase_add_test(all, points_spread_evenly_in_a_triangle);
	tcase_add_test(all, what_has_no_end_has_no_patches_and_holes_have_no_area);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(suite);
}
