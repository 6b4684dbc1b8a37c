/* A hit wakes what it can move, and nothing that sleeps is a hidden wall: each scene is also run with all
 * bodies awake, or has a solution on paper. */
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static struct stage stage;

static void set_up(void)
{
	stage_init(&stage, "soft-step");
}

static void tear_down(void)
{
	stage_release(&stage);
}

static bool asleep(uint32_t body)
{
	return stage.tables.body.sleep_set[body] != 0;
}

static uint32_t count_asleep(uint32_t first, uint32_t count)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++)
		found += asleep(first + i);
	return found;
}

static vec3 velocity_of(uint32_t body)
{
	return stage.tables.body.velocity[body];
}

static void no_gravity(void)
{
	stage.tables.world.gravity[0] = vec3_zero();
}

/* Bodies come to rest, and fall asleep. */
static void let_sleep(uint32_t first, uint32_t count)
{
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_run(&stage, 300);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 1);
	for (uint32_t tick = 0; tick < 600 && count_asleep(first, count) < count; tick++)
		stage_step(&stage);
	ck_assert_uint_eq(count_asleep(first, count), count);
}

static uint32_t add_ball(double radius, double mass, vec3 position, vec3 velocity)
{
	return stage_add(&stage,
			 (struct stage_body){ .status = BODY_DYNAMIC,
					      .shape = stage_shape(&stage, make_sphere(radius)),
					      .mass = mass,
					      .position = position,
					      .velocity = velocity });
}

/* `count` boxes of 1 m side by side on a ground, with gaps of less than the sleeping position's rounding. */
static uint32_t add_row(uint32_t count, double friction)
{
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5)), first = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = box,
								      .mass = 1,
								      .friction = friction,
								      .position = { i, 0.5, 0 } });
		first = i == 0 ? row : first;
	}
	return first;
}

START_TEST(a_light_ball_wakes_no_box_of_a_stack)
{
	uint32_t first = stage_stack(&stage, 10);
	let_sleep(first, 10);
	vec3 top = stage.tables.body.position[first + 9];
	uint32_t ball = add_ball(0.05, 0.5, vec3_make(0.1, 10.5, 0), vec3_make(0, -2, 0));
	for (uint32_t tick = 0; tick < 200 && !asleep(ball); tick++) {
		stage_step(&stage);
		ck_assert_uint_eq(count_asleep(first, 10), 10);
		ck_assert_double_ge(stage.tables.body.position[ball].y, 10.03);
	}
	ck_assert(asleep(ball));
	ck_assert(vec3_equal(stage.tables.body.position[first + 9], top));
}
END_TEST

/* A pyramid is hit at one end of its lowest row: the far end sleeps on. */
START_TEST(a_hit_wakes_the_near_part_of_a_wall)
{
	enum { WIDE = 20 };
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5)), first = 0, count = 0;
	for (uint32_t level = 0; level < 2; level++)
		for (uint32_t i = 0; i < WIDE - level; i++, count++) {
			vec3 at = vec3_make(1.0 * i + 0.5 * level, 0.5 + level, 0);
			uint32_t row =
				stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								       .shape = box,
								       .position = at });
			first = count == 0 ? row : first;
		}
	let_sleep(first, count);
	ck_assert_uint_eq(stage.tables.body.sleep_set[first],
			  stage.tables.body.sleep_set[first + count - 1]);
	add_ball(0.2, 1000, vec3_make(0.5, 2.5, 0), vec3_make(-4, -3, 0));
	uint32_t least = count;
	for (uint32_t tick = 0; tick < 30; tick++) {
		stage_step(&stage);
		least = MIN_OF(least, count_asleep(first, count));
	}
	ck_assert_uint_lt(least, count);
	ck_assert_uint_ge(least, count / 3);
}
END_TEST

/* A row of balls that touch; one strikes the end. Asleep they answer as awake. */
START_TEST(a_sleeping_row_takes_a_hit_as_an_awake_one)
{
	double after[2][6];
	for (uint32_t sleeping = 0; sleeping < 2; sleeping++) {
		if (sleeping > 0) {
			tear_down();
			set_up();
		}
		no_gravity();
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, sleeping);
		uint32_t first = 0;
		for (uint32_t i = 0; i < 5; i++) {
			uint32_t row = add_ball(0.5, 1, vec3_make(i, 0, 0), vec3_zero());
			first = i == 0 ? row : first;
		}
		stage_run(&stage, 60);
		ck_assert_uint_eq(count_asleep(first, 5), sleeping ? 5 : 0);
		add_ball(0.5, 1, vec3_make(-2, 0.01, 0), vec3_make(5, 0, 0));
		stage_run(&stage, 30);
		for (uint32_t i = 0; i < 6; i++)
			after[sleeping][i] = velocity_of(first + i).x;
	}
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_double_eq_tol(after[0][i], after[1][i], 0.06);
	/* All that the swallowed speeds may amount to. */
	double sum = 0;
	for (uint32_t i = 0; i < 6; i++)
		sum += after[1][i];
	ck_assert_double_eq_tol(sum, 5, 5 * 0.05);
}
END_TEST

/* A force that would accelerate all by two hundredths or one hundredth of g pushes a row of sleeping boxes
 * over smooth ground. */
START_TEST(a_steady_weak_push_moves_sleeping_boxes)
{
	enum { BOXES = 4 };
	bool wakeful = _i == 1;
	uint32_t first = add_row(BOXES, -1);
	let_sleep(first, BOXES);
	uint32_t pusher = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.5, 0.5)),
					     .mass = 1,
					     .friction = -1,
					     .wakeful = wakeful,
					     .position = { -1, 0.5, 0 } });
	double acceleration = wakeful ? 0.1 : 0.2, force = acceleration * (BOXES + 1), time = 0;
	for (uint32_t tick = 0; tick < 600; tick++, time += stage.dt) {
		stage.tables.body.velocity[pusher].x += force * stage.dt;
		stage_step(&stage);
	}
	/* What a box has swallowed as it wakes, m/s: sleep.speed, and more if it accelerates little more than
	 * half of sleep.speed / sleep.time. */
	double whole = acceleration * time;
	double swallowed = 0.05 * acceleration / (acceleration - 0.05);
	for (uint32_t i = 0; i < BOXES; i++) {
		ck_assert(!asleep(first + i));
		ck_assert_double_le(velocity_of(first + i).x, whole * 1.001);
		ck_assert_double_ge(velocity_of(first + i).x, whole - 1.05 * swallowed);
	}
}
END_TEST

/* The same against friction: below the limit nothing moves, above it all do. */
START_TEST(a_push_beyond_friction_moves_sleeping_boxes)
{
	uint32_t first = add_row(3, 0.5);
	let_sleep(first, 3);
	uint32_t pusher = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.5, 0.5)),
					     .mass = 1,
					     .friction = -1,
					     .wakeful = true,
					     .position = { -1, 0.5, 0 } });
	/* The limit of three boxes, of which the first may lift the others a little: friction of ball and
	 * box is the geometric mean, and the pusher has none. */
	double force = (_i == 0 ? 0.8 : 1.3) * 3 * 9.81 * scalar_sqrt(0.5 * 0.6);
	vec3 before = stage.tables.body.position[first + 2];
	for (uint32_t tick = 0; tick < 240; tick++) {
		stage.tables.body.velocity[pusher].x += force * stage.dt;
		stage_step(&stage);
	}
	double moved = stage.tables.body.position[first + 2].x - before.x;
	if (_i == 0)
		ck_assert_double_le(moved, 0.02);
	else
		ck_assert_double_ge(moved, 1);
}
END_TEST

START_TEST(a_sleeper_whose_support_is_shot_away_falls)
{
	uint32_t first = stage_stack(&stage, 6);
	let_sleep(first, 6);
	/* Heavy and fast, at the third box. */
	add_ball(0.4, 20000, vec3_make(-3, 2.5, 0), vec3_make(40, 0, 0));
	stage_run(&stage, 120);
	ck_assert_double_lt(stage.tables.body.position[first + 5].y, 5.2);
	ck_assert_double_lt(stage.tables.body.position[first + 3].y, 3.2);
}
END_TEST

/* A body that is restless on a sleeping one: that one is awake with it, and few of those beside it. */
START_TEST(a_restless_body_lets_its_neighbours_sleep)
{
	uint32_t first = add_row(6, 0.5);
	let_sleep(first, 6);
	uint32_t spins = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.2, 0.2, 0.2)),
					     .mass = 0.2,
					     .position = { 0, 1.2, 0 } });
	uint32_t awake = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		stage.tables.body.angular_velocity[spins].y = 2;
		stage_step(&stage);
		awake += 6 - count_asleep(first, 6);
	}
	ck_assert(!asleep(spins));
	ck_assert_uint_lt(awake, 600 / 2);
}
END_TEST

/* Equal futures after the caches are made anew: what is taken off sleep times does not depend on them. */
START_TEST(the_order_of_contact_lists_does_not_matter)
{
	struct stage other;
	stage_init(&other, "soft-step");
	stage_mixed(&stage, 60, 5);
	stage_mixed(&other, 60, 5);
	stage_run(&stage, 400);
	stage_restore(&other, &stage);
	for (uint32_t tick = 0; tick < 100; tick++) {
		stage_step(&stage);
		stage_step(&other);
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&other));
	}
	stage_release(&other);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/methods/soft_sleepers");
	TCase *tcase = tcase_create("hits");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_light_ball_wakes_no_box_of_a_stack);
	tcase_add_test(tcase, a_hit_wakes_the_near_part_of_a_wall);
	tcase_add_test(tcase, a_sleeping_row_takes_a_hit_as_an_awake_one);
	tcase_add_loop_test(tcase, a_steady_weak_push_moves_sleeping_boxes, 0, 2);
	tcase_add_loop_test(tcase, a_push_beyond_friction_moves_sleeping_boxes, 0, 2);
	tcase_add_test(tcase, a_sleeper_whose_support_is_shot_away_falls);
	tcase_add_test(tcase, a_restless_body_lets_its_neighbours_sleep);
	tcase_add_test(tcase, the_order_of_contact_lists_does_not_matter);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
