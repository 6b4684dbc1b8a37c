/* Hulls compared with Qhull: random clouds in general position, with coplanar, cospherical, collinear and
 * repeated points, and meshes of glmark2-data. CAIRN_HULLS is the number of clouds, default 350
 * (`make soak-hulls`: 10^4).
 *
 * The volume of the exact hull of a cloud must equal that of Qhull to 1e-12 size³. No point of the cloud
 * may lie outside the simplified hull by more than the build reports, nor by more than four times its
 * tolerance. Size is the longest side of the bounding box.
 */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/math/trig.h"
#include "protocol/scene/mesh.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/qhull_volume.h"

enum { POINTS_MAX = 400, FAMILIES = 7 };

static struct rng rng;
static vec3 cloud[POINTS_MAX];

/* Point i of a box: the corners first, then random points on edges and faces. */
static vec3 point_on_box(uint32_t i, vec3 half)
{
	if (i < 8)
		return vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
				 i & 4 ? half.z : -half.z);
	vec3 p = vec3_hadamard(random_vector(&rng, 1), half);
	uint32_t axis = rng_below(&rng, 3);
	vec3_set(&p, axis, rng_below(&rng, 2) ? vec3_get(half, axis) : -vec3_get(half, axis));
	axis = (axis + 1) % 3;
	if (i % 3 == 0)
		vec3_set(&p, axis, vec3_get(half, axis));
	return p;
}

static vec3 random_on_lattice(uint32_t side)
{
	double x = rng_below(&rng, side), y = rng_below(&rng, side), z = rng_below(&rng, side);
	return vec3_make(x, y, z);
}

static const char *const FAMILY[FAMILIES] = { "in a cube",    "on a sphere", "on a turned box",
					      "on a lattice", "prism",	     "repeated",
					      "thin" };

static vec3 cloud_point(uint32_t family, uint32_t i, uint32_t count, vec3 half, uint32_t side)
{
	double angle = TWO_PI * (i / 2) / (count / 2);
	switch (family) {
	case 0:
		return random_vector(&rng, 1);
	case 1:
		return random_direction(&rng);
	case 2:
		return point_on_box(i, half);
	case 3:
		return random_on_lattice(side);
	case 4:
		return vec3_make(trig_cos(angle), i % 2 ? 1 : -1, trig_sin(angle));
	case 5:
		return i < 12 ? random_vector(&rng, 1) : cloud[rng_below(&rng, 12)];
	default:
		return vec3_hadamard(point_on_box(i, vec3_all(1)), vec3_make(1, 0.3, 0.01));
	}
}

/* The largest errors of the hulls of a family. */
struct hull_errors {
	uint32_t clouds, refused; /* refused: too flat */
	double volume, outside;	  /* in size³ and size */
};

static void check_cloud(const char *name, const vec3 *points, uint32_t count,
			struct hull_errors *worst)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, points[i]);
	double size = vec3_max_component(vec3_sub(box.max, box.min));
	struct hull_build build = { 0 };
	struct reason why = { 0 };
	struct hull *hull = NULL;
	enum status status = hull_of_points(points, count, &hull, &build, &why);
	worst->clouds++;
	if (status == STATUS_DEGENERATE) {
		worst->refused++;
		return;
	}
	ck_assert_msg(status == STATUS_OK || status == STATUS_TOO_LARGE, "%s: %s", name, why.text);
	double expected = qhull_volume(points, count);
	double off = scalar_abs(build.cloud_volume - expected) / (size * size * size);
	ck_assert_msg(off <= 1e-12, "%s: volume %.17g, Qhull has %.17g", name, build.cloud_volume,
		      expected);
	worst->volume = scalar_max(worst->volume, off);
	/* One assertion about all points, because Check writes a line for each. */
	double outside = 0;
	for (uint32_t f = 0; hull != NULL && f < hull->face_count; f++)
		for (uint32_t i = 0; i < count; i++)
			outside = scalar_max(outside, vec3_dot(hull->faces[f].normal, points[i]) -
							      hull->faces[f].offset);
	worst->outside = scalar_max(worst->outside, outside / size);
	ck_assert_msg(outside <= build.outside + 1e-14 * size && outside <= 4 * build.tolerance,
		      "%s: a point lies outside by %g m", name, outside);
	heap_free(hull);
}

static void report(const char *name, const struct hull_errors *worst)
{
	printf("# %s: %u clouds (%u too flat), volume error %.1e size^3, points outside by %.1e size\n",
	       name, worst->clouds, worst->refused, worst->volume, worst->outside);
}

START_TEST(hulls_of_clouds_have_the_volume_of_qhull_and_contain_all_points)
{
	const char *wanted = getenv("CAIRN_HULLS");
	uint32_t clouds = wanted != NULL ? (uint32_t)strtoul(wanted, NULL, 10) : 350;
	struct hull_errors worst[FAMILIES] = { { 0 } };
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < clouds; run++) {
		uint32_t family = run % FAMILIES, count = 12 + rng_below(&rng, POINTS_MAX - 12);
		uint32_t side = 2 + rng_below(&rng, 5);
		double width = rng_range(&rng, 0.2, 1), depth = rng_range(&rng, 0.05, 1);
		vec3 half = vec3_make(1, width, depth);
		double angle = rng_range(&rng, 0, 6), scale = run % 3 == 0 ? 100 : run % 3;
		mat3 turn = mat3_from_axis_angle(random_direction(&rng), run % 5 == 0 ? 0 : angle);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = cloud_point(family, i, count, half, side);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = vec3_scale(mat3_mul_vec(turn, cloud[i]), scale);
		check_cloud(FAMILY[family], cloud, count, &worst[family]);
	}
	for (uint32_t f = 0; f < FAMILIES; f++) {
		report(FAMILY[f], &worst[f]);
		ck_assert_uint_le(worst[f].refused, worst[f].clouds / 10);
	}
}
END_TEST

static const char *const FILES[] = { "asteroid-low.3ds", "cat.3ds",	      "cube.3ds",
				     "horse.3ds",	 "asteroid-high.3ds", "bunny.obj" };

static enum status read_file(const char *name, struct point_cloud *mesh, struct reason *why)
{
	struct source source = { .file = "test", .why = why };
	*mesh = (struct point_cloud){ 0 };
	return mesh_read(&source, 0, NULL, name, NULL, mesh);
}

START_TEST(hulls_of_meshes_have_the_volume_of_qhull_and_contain_all_points)
{
	for (uint32_t i = 0; i < COUNT_OF(FILES); i++) {
		struct reason why = { 0 };
		struct point_cloud mesh;
		struct hull_errors worst = { 0 };
		enum status status = read_file(FILES[i], &mesh, &why);
		ck_assert_msg(status == STATUS_OK, "%s: %s", FILES[i], why.text);
		check_cloud(FILES[i], mesh.points.items, mesh.points.count, &worst);
		ck_assert_uint_eq(worst.refused, 0);
		report(FILES[i], &worst);
		cloud_release(&mesh);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("hulls against Qhull");
	TCase *all = tcase_create("qhull");
	tcase_set_timeout(all, getenv("CAIRN_HULLS") != NULL ? 1000 : 30);
	struct reason why;
	struct point_cloud mesh;
	bool oracle = qhull_is_here();
	enum status status = read_file(FILES[0], &mesh, &why);
	if (status == STATUS_OK)
		cloud_release(&mesh);
	if (oracle)
		tcase_add_test(all,
			       hulls_of_clouds_have_the_volume_of_qhull_and_contain_all_points);
	else
		check_skip(suite, "clouds", "Cairn was built without Qhull");
	if (oracle && status != STATUS_MISSING)
		tcase_add_test(all,
			       hulls_of_meshes_have_the_volume_of_qhull_and_contain_all_points);
	else
		check_skip(suite, "meshes", "Qhull or glmark2-data is not installed");
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
