/* Convex free regions (papers P-02, P-04, P-09): the point lies in its region, no border point
 * does, and a body that moves within the region meets nothing. */
#include "server/engine/collision/free_region.h"

#include "server/base/heap.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/minkowski.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

static struct rng rng;
static struct solid solid;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	solid_reset(&solid);
}

static bool inside_all_planes(const struct free_plane *planes, uint32_t count, vec3 x, double room)
{
	for (uint32_t i = 0; i < count; i++)
		if (vec3_dot(planes[i].normal, x) < planes[i].offset - room)
			return false;
	return true;
}

/* A point of the region, on a random ray from p: at the border or before it. */
static vec3 random_point_of_region(const struct free_plane *planes, uint32_t count, vec3 p,
				   double far)
{
	vec3 along = random_direction(&rng);
	double most = far;
	for (uint32_t i = 0; i < count; i++) {
		double speed = -vec3_dot(planes[i].normal, along);
		double room = vec3_dot(planes[i].normal, p) - planes[i].offset;
		if (speed > 0)
			most = scalar_min(most, scalar_max(room, 0) / speed);
	}
	double share = rng_below(&rng, 2) ? 1 : rng_range(&rng, 0, 1);
	return vec3_mul_add(p, along, most * share);
}

/* Papers P-17: two bands of 32 side faces, and caps; outward normals. */
static void add_hourglass(double waist)
{
	enum { SIDES = 32, RINGS = 3 };
	static const double Z[RINGS] = { -4, 0, 4 };
	for (uint32_t ring = 0; ring < RINGS; ring++)
		for (uint32_t i = 0; i < SIDES; i++) {
			double angle = TWO_PI * i / SIDES, r = ring == 1 ? waist : 3;
			solid.vertex[solid.vertices++] =
				vec3_make(r * trig_cos(angle), r * trig_sin(angle), Z[ring]);
		}
	uint32_t bottom = solid.vertices;
	solid.vertex[solid.vertices++] = vec3_make(0, 0, Z[0]);
	solid.vertex[solid.vertices++] = vec3_make(0, 0, Z[2]);
	for (uint32_t i = 0; i < SIDES; i++) {
		uint32_t j = (i + 1) % SIDES;
		for (uint32_t ring = 0; ring + 1 < RINGS; ring++) {
			uint32_t a = ring * SIDES;
			uint32_t two[2][3] = { { a + i, a + j, a + SIDES + j },
					       { a + i, a + SIDES + j, a + SIDES + i } };
			for (uint32_t k = 0; k < 6; k++)
				solid.triangle[solid.triangles + k / 3][k % 3] = two[k / 3][k % 3];
			solid.triangles += 2;
		}
		uint32_t caps[2][3] = { { bottom, j, i },
					{ bottom + 1, 2 * SIDES + i, 2 * SIDES + j } };
		for (uint32_t k = 0; k < 6; k++)
			solid.triangle[solid.triangles + k / 3][k % 3] = caps[k / 3][k % 3];
		solid.triangles += 2;
	}
}

START_TEST(p04_the_free_region_of_a_ball_in_an_hourglass_stays_inside_it)
{
	add_hourglass(0.75);
	struct shape *glass = solid_shape(&solid);
	ck_assert(glass->mesh->closed);
	struct free_region region;
	pose at = pose_identity();
	free_region_init(&region);
	ck_assert_int_eq(free_region_add_mesh(&region, glass->mesh, &at, true), STATUS_OK);
	uint32_t balls = 0;
	double r = 0.25;
	for (uint32_t round = 0; round < 600 && balls < 60; round++) {
		vec3 p = random_vector(&rng, 4);
		if (intersect_point_mesh(glass->mesh, p) != POINT_MESH_INSIDE ||
		    intersect_nearest_on_mesh(glass->mesh, p).distance < r)
			continue;
		const struct free_plane *planes;
		uint32_t count;
		bool keeps;
		balls++;
		ck_assert_int_eq(free_region_find(&region, p, r, &planes, &count, &keeps),
				 STATUS_OK);
		ck_assert(keeps && count >= 4 && count <= glass->mesh->triangle_count);
		ck_assert(inside_all_planes(planes, count, p, 1e-12));
		for (uint32_t k = 0; k < 40; k++) {
			vec3 x = random_point_of_region(planes, count, p, 20);
			ck_assert(inside_all_planes(planes, count, x, 1e-9));
			ck_assert(intersect_point_mesh(glass->mesh, x) == POINT_MESH_INSIDE);
			ck_assert_double_ge(intersect_nearest_on_mesh(glass->mesh, x).distance,
					    r - 1e-9);
		}
	}
	ck_assert_uint_eq(balls, 60);
	free_region_release(&region);
	shape_release(glass);
}
END_TEST

START_TEST(p04_no_border_point_lies_inside_the_region)
{
	add_hourglass(1.5);
	struct shape *glass = solid_shape(&solid);
	struct free_region region;
	pose at = pose_identity();
	free_region_init(&region);
	ck_assert_int_eq(free_region_add_mesh(&region, glass->mesh, &at, true), STATUS_OK);
	for (uint32_t round = 0; round < 20; round++) {
		vec3 p = vec3_make(rng_range(&rng, -1, 1), rng_range(&rng, -1, 1),
				   rng_range(&rng, -3, 3));
		const struct free_plane *planes;
		uint32_t count;
		bool keeps;
		ck_assert_int_eq(free_region_find(&region, p, 0, &planes, &count, &keeps),
				 STATUS_OK);
		for (uint32_t k = 0; k < 500; k++) {
			uint32_t t = rng_below(&rng, glass->mesh->triangle_count);
			double u = rng_range(&rng, 0, 1), v = rng_range(&rng, 0, 1);
			if (u + v > 1)
				continue;
			vec3 y = vec3_scale(mesh_corner(glass->mesh, t, 0), 1 - u - v);
			y = vec3_mul_add(y, mesh_corner(glass->mesh, t, 1), u);
			y = vec3_mul_add(y, mesh_corner(glass->mesh, t, 2), v);
			ck_assert(!inside_all_planes(planes, count, y, -1e-9));
		}
	}
	free_region_release(&region);
	shape_release(glass);
}
END_TEST

/* ---- P-09 ------------------------------------------------------------------------------------- */

enum { PIECES = 3 };

/* A star of bars through one centre: a nonconvex body of convex pieces. */
static void make_star(struct hull *piece[PIECES])
{
	for (uint32_t i = 0; i < PIECES; i++) {
		vec3 half = vec3_all(0.3);
		vec3_set(&half, i, 1.5);
		struct hull *bar = box_hull(half);
		pose at = pose_make(vec3_zero(), random_rotation(&rng));
		ck_assert_ptr_nonnull(bar);
		ck_assert_int_eq(minkowski_placed(bar, &at, false, &piece[i]), STATUS_OK);
		heap_free(bar);
	}
}

/* Whether all pieces of A moved by c are apart from those of B, or overlap by at most `room`. */
static bool stars_are_apart(struct hull *const a[PIECES], struct hull *const b[PIECES], vec3 c,
			    double room)
{
	pose at = pose_make(c, quat_identity());
	for (uint32_t i = 0; i < PIECES; i++)
		for (uint32_t j = 0; j < PIECES; j++)
			if (oracle_sat(a[i], b[j], &at) < -room)
				return false;
	return true;
}

START_TEST(p09_nonconvex_polyhedra_do_not_meet_within_the_region)
{
	uint32_t tried = 0;
	for (uint32_t round = 0; round < 12; round++) {
		struct hull *a[PIECES], *b[PIECES];
		struct free_region region;
		pose at = pose_identity();
		make_star(a);
		make_star(b);
		free_region_init(&region);
		for (uint32_t i = 0; i < PIECES; i++)
			for (uint32_t j = 0; j < PIECES; j++) {
				struct hull *mirrored = NULL, *sum = NULL;
				ck_assert_int_eq(minkowski_placed(b[j], &at, true, &mirrored),
						 STATUS_OK);
				ck_assert_int_eq(minkowski_sum(a[i], mirrored, &sum, NULL),
						 STATUS_OK);
				ck_assert_int_eq(free_region_add_hull(&region, sum, &at),
						 STATUS_OK);
				heap_free(mirrored);
				heap_free(sum);
			}
		for (uint32_t k = 0; k < 10; k++) {
			vec3 c = random_vector(&rng, 3);
			if (!stars_are_apart(a, b, c, 0))
				continue;
			const struct free_plane *planes;
			uint32_t count;
			bool keeps;
			tried++;
			ck_assert_int_eq(free_region_find(&region, c, 0, &planes, &count, &keeps),
					 STATUS_OK);
			ck_assert(keeps && inside_all_planes(planes, count, c, 1e-12));
			for (uint32_t n = 0; n < 8; n++)
				ck_assert(stars_are_apart(
					a, b, random_point_of_region(planes, count, c, 5), 1e-9));
		}
		free_region_release(&region);
		for (uint32_t i = 0; i < PIECES; i++) {
			heap_free(a[i]);
			heap_free(b[i]);
		}
	}
	ck_assert_uint_gt(tried, 30);
}
END_TEST

START_TEST(p09_a_convex_obstacle_gives_one_half_space_at_its_distance)
{
	struct hull *box = box_hull(vec3_make(1, 2, 3));
	struct free_region region;
	pose at = pose_identity();
	free_region_init(&region);
	ck_assert_int_eq(free_region_add_hull(&region, box, &at), STATUS_OK);
	for (uint32_t round = 0; round < 200; round++) {
		vec3 p = random_vector(&rng, 6);
		vec3 over = vec3_max(vec3_sub(vec3_abs(p), vec3_make(1, 2, 3)), vec3_zero());
		double distance = vec3_length(over);
		if (distance < 1e-6)
			continue;
		const struct free_plane *planes;
		uint32_t count;
		bool keeps;
		ck_assert_int_eq(free_region_find(&region, p, 0, &planes, &count, &keeps),
				 STATUS_OK);
		ck_assert_uint_eq(count, 1);
		ck_assert(keeps);
		ck_assert_double_eq_tol(vec3_dot(planes->normal, p) - planes->offset, distance,
					1e-12);
	}
	free_region_release(&region);
	heap_free(box);
}
END_TEST

START_TEST(a_point_on_or_behind_the_border_gets_the_free_side)
{
	struct hull *box = box_hull(vec3_all(1));
	struct free_region region;
	pose at = pose_identity();
	const struct free_plane *planes;
	uint32_t count;
	bool keeps;
	free_region_init(&region);
	ck_assert_int_eq(free_region_add_hull(&region, box, &at), STATUS_OK);
	ck_assert_int_eq(
		free_region_find(&region, vec3_make(1, 0.2, 0.1), 0, &planes, &count, &keeps),
		STATUS_OK);
	ck_assert(keeps && count == 1);
	ck_assert(vec3_equal(planes->normal, vec3_axis(0)) && planes->offset == 1);
	ck_assert_int_eq(
		free_region_find(&region, vec3_make(0.75, 0.2, 0.1), 0, &planes, &count, &keeps),
		STATUS_OK);
	ck_assert(!keeps);
	ck_assert(vec3_equal(planes->normal, vec3_axis(0)) && planes->offset == 1);
	/* A ball that is too near: reported, and the region is still given. */
	ck_assert_int_eq(
		free_region_find(&region, vec3_make(1.5, 0.2, 0.1), 1, &planes, &count, &keeps),
		STATUS_OK);
	ck_assert(!keeps && planes->offset == 2);
	/* Without obstacles the region is all of space. */
	free_region_reset(&region);
	ck_assert_int_eq(free_region_find(&region, vec3_zero(), 1, &planes, &count, &keeps),
			 STATUS_OK);
	ck_assert(keeps && count == 0);
	free_region_release(&region);
	heap_free(box);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("free_region");
	TCase *tc = tcase_create("regions");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, p04_the_free_region_of_a_ball_in_an_hourglass_stays_inside_it);
	tcase_add_test(tc, p04_no_border_point_lies_inside_the_region);
	tcase_add_test(tc, p09_nonconvex_polyhedra_do_not_meet_within_the_region);
	tcase_add_test(tc, p09_a_convex_obstacle_gives_one_half_space_at_its_distance);
	tcase_add_test(tc, a_point_on_or_behind_the_border_gets_the_free_side);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
