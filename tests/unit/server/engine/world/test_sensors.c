/* Sensors: no effect on bodies; sleeping and static bodies, destruction, changes of flags and filters;
 * crossings within a tick; images, rollback, rays. Random worlds against all pairs: test_streams. */
#include "server/base/rng.h"
#include "server/engine/collision/query.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };
enum { METHOD_COUNT = 7, BODIES = 24 };

static body_id spawn_as(struct world *world, enum test_shape shape, vec3 at, uint8_t status,
			uint32_t flags, vec3 velocity)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.status = status;
	spawn.spawn.flags |= flags;
	spawn.spawn.velocity = velocity;
	return test_do(world, &spawn);
}

static uint32_t sensed(const struct world *world, body_id sensor, body_id *out)
{
	uint32_t count;
	ck_assert_int_eq(world_sensed(world, sensor, out, BODIES, &count), STATUS_OK);
	return count;
}

static uint32_t events_of(const struct world *world, uint8_t kind, body_id a, body_id b,
			  double *fraction)
{
	uint32_t count, found = 0;
	const struct event *events = world_events(world, &count);
	for (uint32_t i = 0; i < count; i++)
		if (events[i].kind == kind && events[i].a == a && events[i].b == b) {
			found++;
			if (fraction != NULL)
				*fraction = events[i].fraction;
		}
	return found;
}

/* ---- what they do to others ------------------------------------------------------------------ */

/* The same bodies with and without sensors among them move the same, bit for bit. */
START_TEST(sensors_do_not_touch_what_they_see)
{
	struct world *plain = test_world(false, METHODS[_i]),
		     *seen = test_world(false, METHODS[_i]);
	body_id ids[2][3];
	for (uint32_t i = 0; i < 2; i++) {
		struct world *world = i == 0 ? plain : seen;
		spawn_as(world, TEST_PLANE, vec3_zero(), BODY_STATIC, 0, vec3_zero());
		for (uint32_t k = 0; k < 3; k++)
			ids[i][k] = spawn_as(world, TEST_SPHERE, vec3_make(3.0 * k, 2, 0),
					     BODY_DYNAMIC, 0, vec3_make(0.5, 0, 0));
	}
	body_id sensor = spawn_as(seen, TEST_BOX, vec3_make(0.3, 1, 0), BODY_STATIC, BODY_SENSOR,
				  vec3_zero());
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(plain, 1);
		test_step(seen, 1);
		for (uint32_t k = 0; k < 3; k++) {
			struct body_view a = test_body(plain, ids[0][k]);
			struct body_view b = test_body(seen, ids[1][k]);
			ck_assert(vec3_equal(a.position, b.position) &&
				  vec3_equal(a.velocity, b.velocity));
		}
	}
	body_id found[BODIES];
	if (_i > 0) /* under `free` the balls fall on */
		ck_assert_uint_eq(sensed(seen, sensor, found), 1);
	world_destroy(plain);
	world_destroy(seen);
}
END_TEST

/* A ball at rest sleeps in a sensor: it stays in the list, and is told to leave when it is removed. */
START_TEST(sleeping_and_removed_bodies_are_told_right)
{
	struct world *world = test_world(false, "soft-step");
	body_id found[BODIES];
	spawn_as(world, TEST_PLANE, vec3_zero(), BODY_STATIC, 0, vec3_zero());
	body_id ball =
		spawn_as(world, TEST_BOX, vec3_make(0, 0.5, 0), BODY_DYNAMIC, 0, vec3_zero());
	body_id sensor = spawn_as(world, TEST_BOX, vec3_make(0, 0.6, 0), BODY_STATIC, BODY_SENSOR,
				  vec3_zero());
	test_step(world, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_BEGIN, sensor, ball, NULL), 1);
	test_step(world, 120);
	ck_assert(test_body(world, ball).asleep);
	ck_assert_uint_eq(sensed(world, sensor, found), 1);
	ck_assert_uint_eq(found[0], ball);
	struct command command = test_command(COMMAND_SET_FILTER);
	command.set_filter.body = sensor;
	command.set_filter.sensor = SWITCH_OFF;
	test_do(world, &command);
	test_step(world, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_END, sensor, ball, NULL), 1);
	command.set_filter.sensor = SWITCH_ON;
	test_do(world, &command);
	test_step(world, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_BEGIN, sensor, ball, NULL), 1);
	command = test_command(COMMAND_REMOVE);
	command.remove.body = ball;
	test_do(world, &command);
	test_step(world, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_END, sensor, ball, NULL), 1);
	ck_assert_uint_eq(sensed(world, sensor, found), 0);
	uint32_t count;
	ck_assert_int_eq(world_sensed(world, ball, found, BODIES, &count), STATUS_UNKNOWN_BODY);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Balls at 20 to 600 m/s cross a sensor of 1 m between two ticks: both events, at the time of the
 * surfaces' meeting. */
START_TEST(what_crosses_within_a_tick_is_told)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t crossed = 0;
	for (uint32_t run = 0; run < 40; run++) {
		struct world *world = test_world(false, METHODS[_i]);
		test_no_gravity(world);
		body_id sensor = spawn_as(world, TEST_BOX, vec3_zero(), BODY_STATIC, BODY_SENSOR,
					  vec3_zero());
		double speed = rng_range(&rng, 20, 600), from = -rng_range(&rng, 2, 9);
		body_id ball = spawn_as(world, TEST_SPHERE, vec3_make(from, 0.2, 0), BODY_DYNAMIC,
					0, vec3_make(speed, 0, 0));
		uint32_t begins = 0, ends = 0;
		double fraction = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			uint32_t met =
				events_of(world, EVENT_SENSOR_BEGIN, sensor, ball, &fraction);
			uint32_t left = events_of(world, EVENT_SENSOR_END, sensor, ball, NULL);
			begins += met;
			ends += left;
			if (met == 0 || left == 0)
				continue;
			crossed++;
			double when = (tick + fraction) / 60;
			ck_assert_double_eq_tol(from + speed * when, -1, 1e-4 * speed);
		}
		ck_assert_uint_eq(begins, 1);
		ck_assert_uint_eq(ends, 1);
		world_destroy(world);
	}
	ck_assert_uint_gt(crossed, 5);
}
END_TEST

/* A fast sensor is told of what it crosses, and a ball that goes along with it is not crossed. */
START_TEST(a_fast_sensor_crosses_what_stands_still)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	body_id sensor = spawn_as(world, TEST_SPHERE, vec3_make(-4, 0, 0), BODY_ANIMATED,
				  BODY_SENSOR, vec3_make(480, 0, 0));
	body_id still = spawn_as(world, TEST_SPHERE, vec3_zero(), BODY_DYNAMIC, 0, vec3_zero());
	body_id along = spawn_as(world, TEST_SPHERE, vec3_make(-2, 0, 0), BODY_DYNAMIC, 0,
				 vec3_make(480, 0, 0));
	struct command filter = test_command(COMMAND_SET_FILTER);
	filter.set_filter.body = still;
	filter.set_filter.category = 2;
	filter.set_filter.mask = 1;
	test_do(world, &filter);
	filter.set_filter.body = along;
	filter.set_filter.category = 4;
	test_do(world, &filter);
	test_step(world, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_BEGIN, sensor, still, NULL), 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_END, sensor, still, NULL), 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_BEGIN, sensor, along, NULL), 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- state ----------------------------------------------------------------------------------- */

/* A copy tells the same events from then on, also if a command has moved a body since the last
 * tick. */
START_TEST(an_image_keeps_the_overlaps)
{
	struct world *world = test_world(false, "soft-step"), *copy;
	body_id found[BODIES];
	body_id sensor =
		spawn_as(world, TEST_BOX, vec3_zero(), BODY_STATIC, BODY_SENSOR, vec3_zero());
	body_id ball =
		spawn_as(world, TEST_SPHERE, vec3_make(0, 0.2, 0), BODY_DYNAMIC, 0, vec3_zero());
	test_step(world, 1);
	ck_assert_uint_eq(sensed(world, sensor, found), 1);
	struct command command = test_command(COMMAND_SET_POSE);
	command.set_pose.body = ball;
	command.set_pose.position = vec3_make(50, 0, 0);
	test_do(world, &command);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	test_step(world, 1);
	test_step(copy, 1);
	ck_assert_uint_eq(events_of(world, EVENT_SENSOR_END, sensor, ball, NULL), 1);
	ck_assert_uint_eq(events_of(copy, EVENT_SENSOR_END, sensor, ball, NULL), 1);
	ck_assert_uint_eq(test_hash(copy), test_hash(world));
	test_check(copy);
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

START_TEST(rays_and_overlap_queries_pass_sensors)
{
	struct world *world = test_world(false, "soft-step");
	struct query_filter all = { UINT32_MAX, UINT32_MAX, 0 };
	struct ray_hit hit;
	body_id id;
	enum status status;
	spawn_as(world, TEST_BOX, vec3_zero(), BODY_STATIC, BODY_SENSOR, vec3_zero());
	ck_assert_uint_eq(world_ray(world, vec3_make(0, 5, 0), vec3_make(0, -1, 0), 10, all, &hit,
				    1, &status),
			  0);
	ck_assert_uint_eq(world_overlap(world, test_shape(TEST_SPHERE), vec3_zero(),
					quat_identity(), all, &id, 1, &status),
			  0);
	world_destroy(world);
}
END_TEST

/* Between two ticks, too, where no step looks at what has changed. */
START_TEST(who_becomes_a_sensor_is_told)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	test_step(world, 3);
	struct command set = test_command(COMMAND_SET_FILTER);
	set.set_filter.body = body;
	set.set_filter.sensor = SWITCH_ON;
	test_do(world, &set);
	struct world_changes changes = world_changes(world);
	ck_assert_uint_eq(changes.changed_count, 1);
	ck_assert_uint_eq(changes.changed[0], body);
	ck_assert(test_body(world, body).sensor);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sensors");
	TCase *tests = tcase_create("sensors");
	tcase_add_loop_test(tests, sensors_do_not_touch_what_they_see, 0, METHOD_COUNT);
	tcase_add_test(tests, sleeping_and_removed_bodies_are_told_right);
	tcase_add_loop_test(tests, what_crosses_within_a_tick_is_told, 0, METHOD_COUNT);
	tcase_add_test(tests, a_fast_sensor_crosses_what_stands_still);
	tcase_add_test(tests, an_image_keeps_the_overlaps);
	tcase_add_test(tests, rays_and_overlap_queries_pass_sensors);
	tcase_add_test(tests, who_becomes_a_sensor_is_told);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
