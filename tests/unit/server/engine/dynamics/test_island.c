/* Sleep: the condition for a body to fall asleep, the islands that sleep together, and the sleep time
 * after waking. */
#include "server/engine/dynamics/contact.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static bool is_awake(const struct stage *stage, uint32_t body)
{
	return stage->tables.body.sleep_set[body] == 0;
}

static uint32_t add_floor(struct stage *stage)
{
	uint32_t slab = stage_shape(stage, make_box(20, 0.5, 20));
	return stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
						     .shape = slab,
						     .position = { 0, -0.5, 0 } });
}

/* The farthest point of a body moves at |v| + |w| reach. Velocities in units of sleep.speed. */
START_TEST(a_body_falls_asleep_when_its_farthest_point_has_been_slow_for_the_time)
{
	static const struct {
		double linear, turning;
		bool sleeps;
	} rows[] = { { 0, 0, true },	{ 0.9, 0, true },  { 0, 0.9, true },   { 0.45, 0.45, true },
		     { 1.1, 0, false }, { 0, 1.1, false }, { 0.6, 0.6, false } };
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	double slow = stage.tables.parameter.value[PARAMETER_SLEEP_SPEED];
	uint32_t body = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = ball,
					     .velocity = { 0, rows[_i].linear * slow, 0 },
					     .spin = { rows[_i].turning * slow / 0.5, 0, 0 } });
	uint32_t tick = 0;
	while (tick < 90 && is_awake(&stage, body)) {
		stage_step(&stage);
		tick++;
	}
	ck_assert_msg(is_awake(&stage, body) != rows[_i].sleeps, "after %u ticks", tick);
	/* Half a second at 60 Hz; the sum of thirty tick lengths may round to less than 0.5 s. */
	if (rows[_i].sleeps) {
		ck_assert_msg(tick == 30 || tick == 31, "asleep after %u ticks", tick);
		ck_assert(vec3_equal(stage.tables.body.velocity[body], vec3_zero()));
		ck_assert(vec3_equal(stage.tables.body.angular_velocity[body], vec3_zero()));
	}
	stage_release(&stage);
}
END_TEST

/* One fast tick resets the time that the body has been slow. */
START_TEST(a_fast_tick_restarts_the_sleep_time)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t body =
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball });
	stage_run(&stage, 25);
	stage.tables.body.velocity[body] = vec3_make(0.2, 0, 0);
	stage_step(&stage);
	stage.tables.body.velocity[body] = vec3_zero();
	stage_run(&stage, 28);
	ck_assert(is_awake(&stage, body));
	stage_run(&stage, 5);
	ck_assert(!is_awake(&stage, body));
	stage_release(&stage);
}
END_TEST

/* The velocity of the push is removed in each sub-step, so the body's own velocity stays small. */
START_TEST(a_body_that_is_pushed_out_of_a_floor_stays_awake_until_it_is_out)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_parameter(&stage, PARAMETER_PUSH_SPEED, 0.1);
	add_floor(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t body = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = ball,
							       .position = { 0, 0.3, 0 } });
	stage_run(&stage, 60);
	ck_assert_double_lt(vec3_length(stage.tables.body.velocity[body]), 0.05);
	ck_assert(is_awake(&stage, body));
	stage_run(&stage, 240);
	ck_assert(!is_awake(&stage, body));
	ck_assert_double_gt(stage.tables.body.position[body].y, 0.48);
	stage_release(&stage);
}
END_TEST

/* Two boxes 1 mm apart have a contact row but are two islands (loop 0). Touching boxes are one
 * island (loop 1). */
START_TEST(a_wakeful_body_keeps_only_touching_bodies_awake)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	add_floor(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	double apart = _i == 0 ? 0.001 : -0.001;
	uint32_t restless = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								   .shape = box,
								   .position = { 0, 0.5, 0 },
								   .wakeful = true });
	uint32_t other =
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = box,
						       .position = { 1 + apart, 0.5, 0 } });
	stage_run(&stage, 20);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 3);
	ck_assert_uint_eq(stage.dynamics.report.islands, _i == 0 ? 2 : 1);
	stage_run(&stage, 100);
	ck_assert(is_awake(&stage, restless));
	ck_assert_int_eq(is_awake(&stage, other), _i == 1);
	stage_release(&stage);
}
END_TEST

/* Two touching boxes sleep as one set. When one is removed, the other wakes and its time restarts. */
START_TEST(waking_restarts_the_sleep_time)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	add_floor(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t rows[2];
	for (int i = 0; i < 2; i++)
		rows[i] =
			stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = box,
							       .position = { 0.999 * i, 0.5, 0 } });
	for (uint32_t tick = 0; tick < 300 && stage.dynamics.awake.count > 0; tick++)
		stage_step(&stage);
	ck_assert_uint_ne(stage.tables.body.sleep_set[rows[0]], 0);
	ck_assert_uint_eq(stage.tables.body.sleep_set[rows[0]],
			  stage.tables.body.sleep_set[rows[1]]);
	stage_remove(&stage, rows[_i]);
	for (uint32_t tick = 0; tick < 29; tick++) {
		ck_assert_msg(is_awake(&stage, rows[!_i]), "asleep at tick %u", tick);
		stage_step(&stage);
	}
	stage_run(&stage, 60);
	ck_assert(!is_awake(&stage, rows[!_i]));
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/island");
	TCase *sleep = tcase_create("sleep");
	tcase_add_loop_test(sleep,
			    a_body_falls_asleep_when_its_farthest_point_has_been_slow_for_the_time,
			    0, 7);
	tcase_add_test(sleep, a_fast_tick_restarts_the_sleep_time);
	tcase_add_test(sleep, a_body_that_is_pushed_out_of_a_floor_stays_awake_until_it_is_out);
	tcase_add_loop_test(sleep, a_wakeful_body_keeps_only_touching_bodies_awake, 0, 2);
	tcase_add_loop_test(sleep, waking_restarts_the_sleep_time, 0, 2);
	suite_add_tcase(suite, sleep);
	return suite;
}

int main(void)
{
	return check_main(make);
}
