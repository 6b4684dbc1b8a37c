/* Properties of motion under soft-step that do not depend on the step: both momenta of pairs in an
 * oblique impact, slopes that hold, free paths near contacts that do not act, limits of speed,
 * positions far from the origin. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static const double RATES[] = { 30, 60, 240, 1000 };

static struct rng rng;
static struct stage stage;

static void begin_at(double rate)
{
	stage_init(&stage, "soft-step");
	stage.dt = 1 / rate;
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
}

static uint32_t random_shape(void)
{
	double a = rng_range(&rng, 0.2, 0.5), b = rng_range(&rng, 0.2, 1),
	       c = rng_range(&rng, 0.2, 0.6);
	switch (rng_below(&rng, 4)) {
	case 0:
		return stage_shape(&stage, make_sphere(a));
	case 1:
		return stage_shape(&stage, make_capsule(b, a));
	default:
		return stage_shape(&stage, make_box(a, b, c));
	}
}

/* Two rotating bodies that collide off centre. */
static void add_pair(double speed, double restitution, double friction)
{
	stage.tables.world.gravity[0] = vec3_zero();
	for (uint32_t i = 0; i < 2; i++) {
		vec3 aside = random_vector(&rng, 0.3);
		struct stage_body body = { .status = BODY_DYNAMIC,
					   .shape = random_shape(),
					   .position = { i == 0 ? -1.6 : 1.6, aside.y, aside.z },
					   .rotation = random_rotation(&rng),
					   .velocity = { i == 0 ? speed : -speed, aside.z, 0 },
					   .spin = random_vector(&rng, 3),
					   .mass = rng_range(&rng, 1, 4),
					   .friction = friction,
					   .restitution = restitution };
		stage_add(&stage, body);
	}
}

/* The magnitudes of the terms of the momenta. */
static double size_of_momentum(void)
{
	const struct body_table *body = &stage.tables.body;
	double size = 0;
	for (uint32_t i = 0; i < body->count; i++)
		size += body->mass[i] * vec3_length(body->velocity[i]);
	return size;
}

/* Impulses are floats: linear momentum is kept to 1e-6 of the exchanged momentum, for any shapes, rate
 * and speed. Arms are reused while they change by less than a thousandth (soft_arms.c), which limits
 * angular momentum. */
START_TEST(an_oblique_collision_conserves_both_momenta)
{
	static const double speeds[] = { 1, 6, 20 };
	uint32_t hits = 0;
	double worst = 0;
	for (uint32_t trial = 0; trial < 120; trial++) {
		double speed = speeds[trial % 3], rate = RATES[1 + trial / 3 % 3];
		begin_at(rate);
		add_pair(speed, trial % 2, trial % 5 == 0 ? 0.6 : -1);
		vec3 linear = stage_momentum(&stage), angular = stage_angular_momentum(&stage);
		double size = size_of_momentum();
		uint32_t ticks = (uint32_t)(rate * 3.2 / speed);
		vec3 before = stage.tables.body.velocity[0];
		for (uint32_t tick = 0; tick < ticks; tick++)
			stage_step(&stage);
		hits += vec3_distance(before, stage.tables.body.velocity[0]) > 0.1;
		double off = vec3_distance(stage_angular_momentum(&stage), angular) / size;
		worst = fmax(worst, off);
		ck_assert_double_le(vec3_distance(stage_momentum(&stage), linear), 1e-6 * size);
		ck_assert_msg(off <= 3e-4, "trial %u: %g of m v r", trial, off);
		stage_release(&stage);
	}
	printf("# %u of 120 hit, L at worst %.1e of m v r off\n", hits, worst);
	ck_assert_uint_gt(hits, 60);
}
END_TEST

/* The way, m, of a box spawned at rest on a slope with gap 0, in its first two seconds and in the second
 * of them. */
struct slide_of {
	double whole, late;
};

static struct slide_of slide_of(double rate, double degrees, double far)
{
	begin_at(rate);
	double angle = degrees * acos(-1) / 180;
	stage.tables.world.gravity[0] = vec3_make(9.81 * sin(angle), -9.81 * cos(angle), 0);
	uint32_t plane = stage_ground(&stage);
	uint32_t box = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.1, 0.5)),
					     .position = { far, 0.1, 0 } });
	for (uint32_t k = 0; k < 2; k++) {
		stage.tables.body.static_friction[k == 0 ? plane : box] = 0.6;
		stage.tables.body.dynamic_friction[k == 0 ? plane : box] = 0.3;
	}
	stage_run(&stage, (uint32_t)rate);
	double half = stage.tables.body.position[box].x;
	stage_run(&stage, (uint32_t)rate);
	double end = stage.tables.body.position[box].x;
	stage_release(&stage);
	return (struct slide_of){ end - far, end - half };
}

START_TEST(a_box_at_rest_holds_up_to_the_angle_of_static_friction_at_any_rate)
{
	double most = atan(0.6) * 180 / acos(-1);
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++)
		for (double far = 0; far <= 1e5; far += 1e5) {
			struct slide_of holds = slide_of(RATES[k], most - 0.05, far);
			ck_assert_double_le(fabs(holds.whole), 1e-3);
			ck_assert_double_le(fabs(holds.late), 1e-7);
			/* A slipping box has dynamic friction: g (sin − 0.3 cos) t²/2. */
			ck_assert_double_ge(slide_of(RATES[k], most + 0.3, far).whole, 1);
		}
}
END_TEST

/* A body that passes near the ground keeps its path. */
START_TEST(a_contact_that_does_not_act_changes_no_bit)
{
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++) {
		struct body_motion end[2];
		for (uint32_t with = 0; with < 2; with++) {
			begin_at(RATES[k]);
			if (with)
				stage_ground(&stage);
			uint32_t body = stage_add(
				&stage,
				(struct stage_body){
					.status = BODY_DYNAMIC,
					.shape = stage_shape(&stage, make_box(0.1, 0.2, 0.3)),
					.position = { 0, 0.235, 0 },
					.velocity = { 3, 1, 0 },
					.spin = { 1, 2, 3 } });
			stage.tables.body.linear_damping[body] = 0.4;
			stage.tables.body.angular_damping[body] = 0.2;
			stage_step(&stage);
			ck_assert_uint_eq(stage.tables.contact.count, with);
			stage_run(&stage, (uint32_t)(RATES[k] / 10));
			end[with] = dynamics_motion(&stage.dynamics, body);
			stage_release(&stage);
		}
		ck_assert_mem_eq(&end[0], &end[1], sizeof end[0]);
	}
}
END_TEST

/* Spin and velocity are damped at their own rates, also during contact with the ground. */
START_TEST(a_body_on_the_ground_is_damped_at_its_rates)
{
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++) {
		begin_at(RATES[k]);
		stage_ground(&stage);
		uint32_t ball = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = stage_shape(&stage, make_sphere(0.5)),
						     .position = { 0, 0.5, 0 },
						     .velocity = { 3, 0, 0 },
						     .spin = { 0, 5, 0 },
						     .friction = -1 });
		stage.tables.body.linear_damping[ball] = 0.5;
		stage.tables.body.angular_damping[ball] = 2;
		stage_run(&stage, (uint32_t)RATES[k]);
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x, 3 * exp(-0.5), 1e-4);
		ck_assert_double_eq_tol(stage.tables.body.angular_velocity[ball].y, 5 * exp(-2),
					1e-4);
		stage_release(&stage);
	}
}
END_TEST

/* 5·10⁷ m/s: the body has at most SPEED_MAX after the first tick and has moved at most SPEED_MAX / 60. */
START_TEST(a_body_beyond_the_speed_limit_moves_at_most_at_the_limit)
{
	for (uint32_t near = 0; near < 2; near++) {
		begin_at(60);
		if (near)
			stage_ground(&stage);
		uint32_t body = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = stage_shape(&stage, make_sphere(0.5)),
						     .position = { 0, 0.5, 0 },
						     .mass = 1 });
		stage.tables.body.velocity[body] = vec3_make(5e7, 0, 0);
		stage_step(&stage);
		ck_assert_double_le(stage.tables.body.position[body].x,
				    SPEED_MAX / 60 * (1 + 1e-9));
		ck_assert_double_le(vec3_length(stage.tables.body.velocity[body]),
				    SPEED_MAX * (1 + 1e-9));
		ck_assert_uint_eq(stage.dynamics.report.quarantined, 0);
		stage_release(&stage);
	}
}
END_TEST

/* A box is hit and slides to rest, at the origin and 10⁵ m away. Floats hold only differences of
 * positions, so the results differ only by the rounding of positions there, enlarged by the hit. */
START_TEST(a_collision_far_from_the_origin_has_the_same_result)
{
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++) {
		vec3 end[2];
		for (uint32_t far = 0; far < 2; far++) {
			begin_at(RATES[k]);
			stage_ground(&stage);
			vec3 at = vec3_make(far * 1e5, 0.5, far * -1e5);
			for (uint32_t i = 0; i < 2; i++) {
				struct stage_body body = {
					.status = BODY_DYNAMIC,
					.shape = stage_shape(&stage, make_box(0.5, 0.5, 0.5)),
					.position = vec3_add(at, vec3_make(2.0 * i, 0, 0.1 * i)),
					.velocity = { i == 0 ? 6 : 0, 0, 0 },
				};
				stage_add(&stage, body);
			}
			stage_run(&stage, (uint32_t)RATES[k]);
			end[far] = vec3_sub(stage.tables.body.position[2], at);
			stage_release(&stage);
		}
		ck_assert_double_gt(end[0].x, 2.1);
		ck_assert_double_le(vec3_distance(end[0], end[1]), 1e-4);
	}
}
END_TEST

/* Long thin rods with inertias of about 1 : 1000 are thrown on the ground, with and without friction. An
 * impulse on a body that turns far in a step must use arms of the present rotation; arms of the start of
 * the step add energy. */
START_TEST(rods_that_tumble_on_the_ground_gain_no_energy)
{
	double worst[2] = { 0 };
	for (uint32_t trial = 0; trial < 60; trial++) {
		double rate = RATES[1 + trial % 3], spin = trial % 4 == 0   ? 3
							   : trial % 4 == 1 ? 20
									    : 90;
		begin_at(rate);
		stage_ground(&stage);
		struct stage_body body = { .status = BODY_DYNAMIC,
					   .shape = stage_shape(&stage, make_box(1, 0.03, 0.03)),
					   .position = { 0, rng_range(&rng, 1.05, 2), 0 },
					   .rotation = random_rotation(&rng),
					   .velocity = random_vector(&rng, 3),
					   .spin = random_vector(&rng, spin),
					   .friction = trial % 3 == 0 ? -1 : 0.6 };
		uint32_t rod = stage_add(&stage, body);
		double start = stage_kinetic(&stage) + stage_potential(&stage), most = start;
		for (uint32_t tick = 0; tick < 2 * rate; tick++) {
			stage_step(&stage);
			most = fmax(most, stage_kinetic(&stage) + stage_potential(&stage));
		}
		worst[rate > 100] = fmax(worst[rate > 100], most / start - 1);
		/* At 60 Hz rods penetrate deeply, and their push out adds energy. */
		double bound = rate < 100 ? 3 : 1.005;
		ck_assert_msg(most <= bound * start, "trial %u: %g of %g J", trial, most, start);
		ck_assert_double_gt(stage.tables.body.position[rod].y, -0.05);
		stage_release(&stage);
	}
	printf("# at most %.1e of the energy gained at 60 Hz, %.1e above\n", worst[0], worst[1]);
}
END_TEST

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static Suite *make(void)
{
	Suite *suite = suite_create("soft_motion");
	TCase *tests = tcase_create("whatever the step");
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, an_oblique_collision_conserves_both_momenta);
	tcase_add_test(tests, rods_that_tumble_on_the_ground_gain_no_energy);
	tcase_add_test(tests, a_box_at_rest_holds_up_to_the_angle_of_static_friction_at_any_rate);
	tcase_add_test(tests, a_contact_that_does_not_act_changes_no_bit);
	tcase_add_test(tests, a_body_on_the_ground_is_damped_at_its_rates);
	tcase_add_test(tests, a_body_beyond_the_speed_limit_moves_at_most_at_the_limit);
	tcase_add_test(tests, a_collision_far_from_the_origin_has_the_same_result);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
