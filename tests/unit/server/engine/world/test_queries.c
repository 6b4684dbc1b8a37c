/* Queries of a state, compared with answers by brute force. */
#include "server/engine/engine.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

static const struct query_filter all = { UINT32_MAX, UINT32_MAX, 0 };
static struct world *world;

static void setup(void)
{
	world = test_world(false, "soft-step");
}

static void teardown(void)
{
	world_destroy(world);
}

/* The fraction of the ray at its first hit of a sphere of radius ½ m; negative without a hit. */
static double sphere_fraction(vec3 origin, vec3 along, vec3 centre)
{
	vec3 m = vec3_sub(origin, centre);
	double a = vec3_dot(along, along), b = vec3_dot(m, along), c = vec3_dot(m, m) - 0.25;
	if (c <= 0)
		return 0;
	double disc = b * b - a * c;
	return disc < 0 ? -1 : (-b - sqrt(disc)) / a;
}

START_TEST(rays_find_the_hits_that_brute_force_finds)
{
	struct rng rng = rng_seeded(check_seed());
	vec3 centres[40];
	for (uint32_t i = 0; i < COUNT_OF(centres); i++) {
		centres[i] = random_vector(&rng, 4);
		ck_assert_uint_eq(test_spawn(world, TEST_SPHERE, centres[i]), i + 1);
	}
	uint32_t found = 0;
	for (uint32_t run = 0; run < 600; run++) {
		vec3 origin = random_vector(&rng, 8);
		vec3 direction = vec3_sub(random_vector(&rng, 3), origin);
		double length = rng_range(&rng, 1, 20);
		vec3 along = vec3_scale(vec3_normalize(direction), length);
		struct ray_hit hits[64];
		enum status status;
		uint32_t count =
			world_ray(world, origin, direction, length, all, hits, 64, &status);
		ck_assert_int_eq(status, STATUS_OK);
		uint32_t expected = 0;
		for (uint32_t i = 0; i < COUNT_OF(centres); i++) {
			double f = sphere_fraction(origin, along, centres[i]);
			if (f < 0 || f > 1)
				continue;
			expected++;
			uint32_t at = 0;
			while (at < count && hits[at].body != i + 1)
				at++;
			ck_assert_uint_lt(at, count);
			ck_assert_double_eq_tol(hits[at].fraction, f, 1e-9);
		}
		ck_assert_uint_eq(count, expected);
		for (uint32_t i = 1; i < count; i++)
			ck_assert_double_le(hits[i - 1].fraction, hits[i].fraction);
		/* A smaller buffer gets the nearest hits. */
		struct ray_hit few[3];
		uint32_t kept = world_ray(world, origin, direction, length, all, few, 3, NULL);
		ck_assert_uint_eq(kept, count < 3 ? count : 3);
		for (uint32_t i = 0; i < kept; i++)
			ck_assert_uint_eq(few[i].body, hits[i].body);
		found += count;
	}
	ck_assert_uint_gt(found, 100);
}
END_TEST

START_TEST(a_ray_hit_has_fraction_normal_and_shape)
{
	shape_id box = test_use(world, TEST_BOX), sphere = test_use(world, TEST_SPHERE);
	struct attachment items[2] = { { sphere, { 0, 5, 0 }, { 1, 0, 0, 0 } },
				       { box, { 0, 0, 0 }, { 1, 0, 0, 0 } } };
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.position = vec3_make(0, 10, 0);
	spawn.spawn.rotation = quat_make(0, 0, 0, 1); /* upside down: the sphere is at y = 5 */
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	body_id body = test_do(world, &spawn);
	struct ray_hit hits[4];
	uint32_t count = world_ray(world, vec3_make(0.2, 0, 0.1), vec3_make(0, 2, 0), 20, all, hits,
				   4, NULL);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(hits[0].body, body);
	ck_assert_uint_eq(hits[0].placement, 0);
	ck_assert_uint_eq(hits[1].placement, 1);
	ck_assert_double_eq_tol(hits[1].point.y, 9.5, 1e-12);
	ck_assert_double_eq_tol(hits[1].fraction, 9.5 / 20, 1e-12);
	ck_assert_double_eq_tol(hits[1].normal.y, -1, 1e-12);
	ck_assert_double_lt(hits[0].point.y, 5);
}
END_TEST

START_TEST(filters_select_bodies_and_walls_are_never_hit)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = BOUNDS_WALLS;
	bounds.bounds.minimum = vec3_make(-9, -9, -9);
	bounds.bounds.maximum = vec3_make(9, 9, 9);
	test_do(world, &bounds);
	body_id one = test_spawn(world, TEST_BOX, vec3_make(2, 0, 0));
	body_id other = test_spawn(world, TEST_BOX, vec3_make(4, 0, 0));
	struct command filter = test_command(COMMAND_SET_FILTER);
	filter.set_filter.body = other;
	filter.set_filter.category = 4;
	filter.set_filter.mask = 2;
	test_do(world, &filter);
	struct ray_hit hits[4];
	vec3 x = vec3_make(1, 0, 0);
	ck_assert_uint_eq(world_ray(world, vec3_zero(), x, 100, all, hits, 4, NULL), 2);
	struct query_filter ignoring = { UINT32_MAX, UINT32_MAX, one };
	ck_assert_uint_eq(world_ray(world, vec3_zero(), x, 100, ignoring, hits, 4, NULL), 1);
	ck_assert_uint_eq(hits[0].body, other);
	struct query_filter ones = { 1, UINT32_MAX, 0 }, only4 = { 2, 4, 0 };
	ck_assert_uint_eq(world_ray(world, vec3_zero(), x, 100, ones, hits, 4, NULL), 1);
	ck_assert_uint_eq(hits[0].body, one);
	ck_assert_uint_eq(world_ray(world, vec3_zero(), x, 100, only4, hits, 4, NULL), 1);
	ck_assert_uint_eq(hits[0].body, other);
}
END_TEST

START_TEST(bad_rays_and_overlaps_are_refused)
{
	test_spawn(world, TEST_BOX, vec3_zero());
	struct ray_hit hits[2];
	body_id ids[2];
	enum status status;
	vec3 zero = vec3_zero(), x = vec3_make(1, 0, 0), nan = vec3_make(NAN, 0, 0);
	ck_assert_uint_eq(world_ray(world, nan, x, 1, all, hits, 2, &status), 0);
	ck_assert_int_eq(status, STATUS_NOT_FINITE);
	ck_assert_uint_eq(world_ray(world, zero, x, INFINITY, all, hits, 2, &status), 0);
	ck_assert_int_eq(status, STATUS_NOT_FINITE);
	ck_assert_uint_eq(world_ray(world, zero, zero, 1, all, hits, 2, &status), 0);
	ck_assert_int_eq(status, STATUS_RANGE);
	ck_assert_uint_eq(world_ray(world, zero, x, -1, all, hits, 2, &status), 0);
	ck_assert_int_eq(status, STATUS_RANGE);
	ck_assert_uint_eq(world_ray(world, vec3_make(1e300, 0, 0), x, 1, all, hits, 2, &status), 0);
	ck_assert_int_eq(status, STATUS_RANGE);
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_BOX), nan, quat_identity(), all, ids,
					2, &status),
			  0);
	ck_assert_int_eq(status, STATUS_NOT_FINITE);
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_BOX), zero, quat_make(0, 0, 0, 0),
					all, ids, 2, &status),
			  0);
	ck_assert_int_eq(status, STATUS_RANGE);
	/* A direction whose squared length overflows is valid. */
	ck_assert_uint_eq(world_ray(world, vec3_make(-5, 0, 0), vec3_make(1e300, 0, 0), 10, all,
				    hits, 2, &status),
			  1);
}
END_TEST

START_TEST(overlaps_find_the_spheres_within_the_distance)
{
	struct rng rng = rng_seeded(check_seed());
	vec3 centres[60];
	for (uint32_t i = 0; i < COUNT_OF(centres); i++) {
		centres[i] = random_vector(&rng, 3);
		test_spawn(world, TEST_SPHERE, centres[i]);
	}
	uint32_t found = 0;
	for (uint32_t run = 0; run < 200; run++) {
		vec3 at = random_vector(&rng, 3);
		body_id ids[60], few[2];
		uint32_t count = world_overlap(world, test_shape(TEST_SPHERE), at, quat_identity(),
					       all, ids, 60, NULL);
		uint32_t expected = 0;
		for (uint32_t i = 0; i < COUNT_OF(centres); i++) {
			if (vec3_distance(centres[i], at) > 1)
				continue;
			ck_assert_uint_lt(expected, count);
			ck_assert_uint_eq(ids[expected++], i + 1);
		}
		ck_assert_uint_eq(count, expected);
		uint32_t kept = world_overlap(world, test_shape(TEST_SPHERE), at, quat_identity(),
					      all, few, 2, NULL);
		ck_assert_uint_eq(kept, count < 2 ? count : 2);
		ck_assert_int_eq(memcmp(few, ids, kept * sizeof *ids), 0);
		found += count;
	}
	ck_assert_uint_gt(found, 100);
}
END_TEST

START_TEST(overlaps_find_ground_of_every_kind)
{
	body_id plane = test_spawn(world, TEST_PLANE, vec3_make(0, -5, 0));
	body_id mesh = test_spawn(world, TEST_MESH, vec3_zero());
	body_id ids[4];
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_BOX), vec3_make(0, 10, 0),
					quat_identity(), all, ids, 4, NULL),
			  0);
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_BOX), vec3_make(0, 0.6, 0),
					quat_identity(), all, ids, 4, NULL),
			  1);
	ck_assert_uint_eq(ids[0], mesh);
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_BOX), vec3_make(0, -5, 0),
					quat_identity(), all, ids, 4, NULL),
			  1);
	ck_assert_uint_eq(ids[0], plane);
}
END_TEST

START_TEST(the_contacts_of_a_resting_box_carry_its_weight)
{
	test_spawn(world, TEST_PLANE, vec3_zero());
	body_id box = test_spawn(world, TEST_BOX, vec3_make(0, 0.5, 0));
	body_id far = test_spawn(world, TEST_BOX, vec3_make(50, 0.5, 0));
	test_step(world, 25);
	struct contact_view points[16];
	uint32_t count = test_contacts(world, box, points, 16);
	ck_assert_uint_ge(count, 3);
	double carried = 0;
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(points[i].a == box || points[i].b == box);
		double up = points[i].b == box ? points[i].normal.y : -points[i].normal.y;
		ck_assert_double_eq_tol(up, 1, 1e-6);
		ck_assert_double_eq_tol(points[i].point.y, 0, 0.02);
		ck_assert_double_ge(points[i].normal_impulse, 0);
		carried += points[i].normal_impulse;
	}
	ck_assert_double_eq_tol(carried, 1000 * 9.81 / 60, 2);
	uint32_t both = test_contacts(world, 0, points, 16);
	ck_assert_uint_eq(both, 2 * count);
	ck_assert(points[both - 1].a == far || points[both - 1].b == far);
	ck_assert_uint_eq(test_contacts(world, 0, points, 3), 3);
	ck_assert_uint_eq(test_contacts(world, 77, points, 16), 0);
}
END_TEST

/* Makes a body of friction 0 with this spin; a plane stands. */
static body_id spawn_smooth(enum test_shape shape, vec3 position, vec3 spin)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, position, &item);
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.angular_velocity = spin;
	if (shape == TEST_PLANE)
		command.spawn.status = BODY_STATIC;
	return test_do(world, &command);
}

/* A ball that spins by a radian a tick where it lies touches the ground at its lowest point, whichever
 * of both bodies was made first. */
START_TEST(a_contact_of_a_ball_does_not_turn_with_it)
{
	body_id ball = 0, plane = 0;
	for (int i = 0; i < 2; i++)
		if (i == _i)
			plane = spawn_smooth(TEST_PLANE, vec3_zero(), vec3_zero());
		else
			ball = spawn_smooth(TEST_SPHERE, vec3_make(0, 0.5, 0), vec3_make(5, 0, 60));
	test_step(world, 20);
	struct contact_view point;
	ck_assert_uint_eq(test_contacts(world, ball, &point, 1), 1);
	ck_assert(point.a == plane || point.b == plane);
	vec3 up = vec3_make(0, point.a == plane ? 1 : -1, 0);
	ck_assert_double_lt(vec3_length(vec3_sub(point.normal, up)), 1e-12);
	ck_assert_double_lt(vec3_length(point.point), 1e-3);
	double gap = test_body(world, ball).position.y - 0.5;
	ck_assert_double_eq_tol(point.separation, gap, 1e-12);
}
END_TEST

/* Balls that pass each other are as near as their centres say. */
START_TEST(a_contact_of_balls_is_between_their_centres)
{
	struct rng rng = rng_seeded(5);
	uint32_t seen = 0;
	for (int i = 0; i < 40; i++) {
		vec3 place = vec3_add(random_vector(&rng, 1.2), vec3_make(0, 3, 0));
		spawn_smooth(TEST_SPHERE, place, random_vector(&rng, 100));
	}
	for (int tick = 0; tick < 20; tick++) {
		struct contact_view points[512];
		test_step(world, 1);
		uint32_t count = test_contacts(world, 0, points, 512);
		for (uint32_t i = 0; i < count; i++) {
			vec3 a = test_body(world, points[i].a).position;
			vec3 way = vec3_sub(test_body(world, points[i].b).position, a);
			double length = vec3_length(way);
			ck_assert_double_eq_tol(points[i].separation, length - 1, 1e-12);
			ck_assert_double_eq_tol(vec3_dot(points[i].normal, way), length, 1e-12);
			vec3 middle = vec3_mul_add(a, way, 0.5);
			ck_assert_double_lt(vec3_length(vec3_sub(points[i].point, middle)), 1e-12);
			seen++;
		}
	}
	ck_assert_uint_gt(seen, 100);
}
END_TEST

START_TEST(a_list_of_contacts_without_memory_is_refused)
{
	test_spawn(world, TEST_PLANE, vec3_zero());
	body_id box = test_spawn(world, TEST_BOX, vec3_make(0, 0.5, 0));
	test_step(world, 25);
	struct contact_view points[16];
	uint32_t count = 99;
	heap_fail_at(1);
	enum status status = world_contacts(world, box, points, 16, &count);
	ck_assert(!heap_fail_pending());
	heap_fail_at(0);
	ck_assert_int_eq(status, STATUS_NO_MEMORY);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_gt(test_contacts(world, box, points, 16), 0);
}
END_TEST

START_TEST(queries_change_no_state)
{
	test_spawn(world, TEST_MESH, vec3_zero());
	for (int i = 0; i < 10; i++)
		test_spawn(world, (enum test_shape)(i % 4), vec3_make(0.4 * i, 2, 0));
	test_step(world, 30);
	struct bytes before = test_save(world);
	struct ray_hit hits[8];
	body_id ids[8];
	struct contact_view points[64];
	(void)world_ray(world, vec3_make(0, 9, 0), vec3_make(0, -1, 0), 20, all, hits, 8, NULL);
	(void)world_overlap(world, test_shape(TEST_HULL), vec3_zero(), quat_identity(), all, ids, 8,
			    NULL);
	(void)test_contacts(world, 0, points, 64);
	(void)world_energy(world);
	struct bytes after = test_save(world);
	ck_assert_uint_eq(after.count, before.count);
	ck_assert_int_eq(memcmp(after.data, before.data, before.count), 0);
	bytes_release(&before);
	bytes_release(&after);
}
END_TEST

START_TEST(energy_and_momentum_are_sums_over_dynamic_bodies)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_make(2, 3, 0), &item);
	spawn.spawn.mass = 4;
	spawn.spawn.velocity = vec3_make(0, 0, 5);
	spawn.spawn.angular_velocity = vec3_make(0, 2, 0);
	test_do(world, &spawn);
	spawn.spawn.status = BODY_ANIMATED;
	test_do(world, &spawn);
	struct world_energy energy = world_energy(world);
	double inertia = 0.4 * 4 * 0.25;
	ck_assert_double_eq_tol(energy.kinetic, 0.5 * 4 * 25 + 0.5 * inertia * 4, 1e-9);
	ck_assert_double_eq_tol(energy.potential, 4 * 9.81 * 3, 1e-9);
	ck_assert_double_eq_tol(energy.linear.z, 20, 1e-12);
	ck_assert_double_eq_tol(energy.angular.x, 3 * 20, 1e-9);
	ck_assert_double_eq_tol(energy.angular.y, -2 * 20 + inertia * 2, 1e-9);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/queries");
	TCase *tcase = tcase_create("queries");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, rays_find_the_hits_that_brute_force_finds);
	tcase_add_test(tcase, a_ray_hit_has_fraction_normal_and_shape);
	tcase_add_test(tcase, filters_select_bodies_and_walls_are_never_hit);
	tcase_add_test(tcase, bad_rays_and_overlaps_are_refused);
	tcase_add_test(tcase, overlaps_find_the_spheres_within_the_distance);
	tcase_add_test(tcase, overlaps_find_ground_of_every_kind);
	tcase_add_test(tcase, the_contacts_of_a_resting_box_carry_its_weight);
	tcase_add_loop_test(tcase, a_contact_of_a_ball_does_not_turn_with_it, 0, 2);
	tcase_add_test(tcase, a_contact_of_balls_is_between_their_centres);
	tcase_add_test(tcase, a_list_of_contacts_without_memory_is_refused);
	tcase_add_test(tcase, queries_change_no_state);
	tcase_add_test(tcase, energy_and_momentum_are_sums_over_dynamic_bodies);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
