/* `impact` against closed forms: bounces, contacts that hold, slide, roll and part, on the path and not at
 * the ends of ticks. */
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>

static void open_stage(struct stage *stage, double dt, bool gravity)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	if (!gravity)
		stage->tables.world.gravity[0] = vec3_zero();
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
}

static uint32_t add_ball(struct stage *stage, uint32_t shape, vec3 at, vec3 velocity,
			 double friction, double restitution)
{
	return stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = shape,
						     .position = at,
						     .velocity = velocity,
						     .friction = friction,
						     .restitution = restitution });
}

/* Gravity's acceleration that a fall has had since an apex: heights are compared by energy. */
static double height_of(const struct stage *stage, uint32_t body)
{
	double v = stage->tables.body.velocity[body].y;
	return stage->tables.body.position[body].y + v * v / (2 * 9.81);
}

START_TEST(bounces_reach_the_heights_of_their_restitution)
{
	static const double restitutions[] = { 1, 0.8, 0.5 };
	for (uint32_t k = 0; k < COUNT_OF(restitutions); k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, true);
		stage_ground(&stage);
		uint32_t ball = add_ball(&stage, stage_shape(&stage, make_sphere(0.25)),
					 vec3_make(0, 1.25, 0), vec3_zero(), -1, restitutions[k]);
		double expected = 1, e = restitutions[k];
		uint32_t bounces = 0;
		double before = height_of(&stage, ball) - 0.25;
		for (uint32_t tick = 0; tick < 600 && bounces < 5; tick++) {
			stage_step(&stage);
			double height = height_of(&stage, ball) - 0.25;
			if (e < 1 ? height < before - 1e-6
				  : stage_events(&stage, EVENT_CONTACT_BEGIN) > 0) {
				bounces++;
				expected *= e * e;
			}
			before = height;
			ck_assert_msg(scalar_abs(height - expected) <= 1e-9,
				      "e %g, bounce %u, tick %u: height %.12g, expected %.12g", e,
				      bounces, tick, height, expected);
		}
		ck_assert_uint_eq(bounces, 5);
		stage_release(&stage);
	}
}
END_TEST

/* A ball of radius r rolls or slides from rest, from (almost) the top of a fixed ball of radius R; returns
 * cos of the angle at which it parts. */
static double parting_cosine(double dt, double friction)
{
	struct stage stage;
	open_stage(&stage, dt, true);
	double big = 1, small = 0.1, angle = 0.2;
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
					       .shape = stage_shape(&stage, make_sphere(big)),
					       .friction = friction });
	vec3 out = vec3_make(trig_sin(angle), trig_cos(angle), 0);
	uint32_t ball = add_ball(&stage, stage_shape(&stage, make_sphere(small)),
				 vec3_scale(out, big + small), vec3_zero(), friction, 0);
	double distance = big + small;
	for (uint32_t tick = 0; tick < 100000 && distance < big + 2 * small; tick++) {
		stage_step(&stage);
		distance = vec3_length(stage.tables.body.position[ball]);
	}
	/* In flight v_x stays what it was at the parting, v cos θ with v² = g (R + r) cos θ. */
	double v = stage.tables.body.velocity[ball].x;
	double cosine = trig_pow(v * v / (9.81 * (big + small)), 1.0 / 3);
	stage_release(&stage);
	return cosine;
}

START_TEST(a_particle_leaves_a_sphere_at_two_thirds_of_its_height)
{
	/* m v² = 2 m g R (cos θ₀ − cos θ), m v²/R = m g cos θ: cos θ = ⅔ cos θ₀. */
	double expected = 2.0 / 3 * trig_cos(0.2), off[3];
	for (uint32_t k = 0; k < 3; k++)
		off[k] = scalar_abs(parting_cosine(1.0 / (60 << (2 * k)), -1) - expected);
	printf("# off %.2g, %.2g, %.2g at 60, 240, 960 Hz\n", off[0], off[1], off[2]);
	ck_assert_msg(off[0] < 1e-4, "off %g at 60 Hz", off[0]);
	ck_assert_msg(off[2] < off[0] / 100, "off %g, then %g at 16 times the rate", off[0],
		      off[2]);
}
END_TEST

/* CAIRN_IMPACT_TICKS: of each tower (500; `make soak-impact`: 10 000). */
START_TEST(a_tower_neither_sinks_nor_drifts)
{
	static const double tops[] = { 1, 30, 1000 };
	const char *text = getenv("CAIRN_IMPACT_TICKS");
	uint32_t ticks = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 500;
	for (uint32_t k = 0; k < COUNT_OF(tops); k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, true);
		stage_ground(&stage);
		uint32_t shape = stage_shape(&stage, make_box(0.5, 0.5, 0.5)), top = 0;
		for (uint32_t i = 0; i < 8; i++)
			top = stage_add(&stage,
					(struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = shape,
							     .mass = i == 7 ? tops[k] : 1,
							     .position = { 0, 0.5 + i, 0 } });
		stage_run(&stage, ticks);
		vec3 off = vec3_sub(stage.tables.body.position[top], vec3_make(0, 7.5, 0));
		ck_assert_msg(vec3_length(off) <= 1e-9, "top of %g kg: off by %g m", tops[k],
			      vec3_length(off));
		printf("# top of %g kg: off by %.2g m after %u ticks\n", tops[k], vec3_length(off),
		       ticks);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_block_holds_or_slides_on_a_slope)
{
	static const double frictions[] = { 0.6, 0.3 };
	for (uint32_t k = 0; k < COUNT_OF(frictions); k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, true);
		double angle = 0.5, mu = frictions[k];
		stage.tables.world.gravity[0] =
			vec3_make(9.81 * trig_sin(angle), -9.81 * trig_cos(angle), 0);
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] = mu;
		stage.tables.body.dynamic_friction[ground] = mu;
		uint32_t box = stage_add(
			&stage,
			(struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.2, 0.4)),
					     .position = { 0, 0.2, 0 },
					     .friction = mu });
		stage_run(&stage, 60);
		double a = 9.81 * scalar_max(trig_sin(angle) - mu * trig_cos(angle), 0);
		ck_assert_double_eq_tol(stage.tables.body.velocity[box].x, a, 1e-12);
		ck_assert_double_eq_tol(stage.tables.body.position[box].x, 0.5 * a, 1e-12);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_sliding_ball_begins_to_roll)
{
	double off[3];
	for (uint32_t k = 0; k < 3; k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / (60 << (2 * k)), true);
		stage_ground(&stage); /* its friction is 0.6, the pair's the geometric mean */
		uint32_t ball =
			add_ball(&stage, stage_shape(&stage, make_sphere(0.5)),
				 vec3_make(0, 0.5, 0), vec3_make(7, 0, 0), 0.2 * 0.2 / 0.6, 0);
		stage_run(&stage, 120u << (2 * k));
		double slides = 2 * 7.0 / (7 * 0.2 * 9.81);
		double way = 7 * slides - 0.5 * 0.2 * 9.81 * slides * slides + 5 * (2 - slides);
		off[k] = scalar_abs(stage.tables.body.position[ball].x - way);
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x, 5, 1e-11);
		stage_release(&stage);
	}
	printf("# off %.2g, %.2g, %.2g m at 60, 240, 960 Hz\n", off[0], off[1], off[2]);
	ck_assert_msg(off[2] < 1e-4 / 64, "off %g m at 960 Hz", off[2]);
}
END_TEST

/* A rod that leans against its motion: with μ > 4/3 there are angles at which no acceleration is
 * consistent. */
START_TEST(a_rod_without_consistent_forces_stops_by_an_impulse)
{
	double slips[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		open_stage(&stage, k == 0 ? 1e-3 : 1e-4, true);
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] = 3;
		stage.tables.body.dynamic_friction[ground] = 3;
		double half = 0.5, radius = 0.005, angle = 1.1;
		vec3 along = vec3_make(trig_cos(angle), trig_sin(angle), 0);
		/* A capsule lies along its y axis; its lower end slides towards −x. */
		uint32_t rod = stage_add(
			&stage, (struct stage_body){
					.status = BODY_DYNAMIC,
					.shape = stage_shape(&stage, make_capsule(half, radius)),
					.position = vec3_make(0, half * along.y + radius, 0),
					.rotation = quat_from_axis_angle(vec3_make(0, 0, 1),
									 angle - HALF_PI),
					.velocity = { -5, 0, 0 },
					.friction = 3 });
		uint32_t counted = 0;
		double before = stage_kinetic(&stage) + stage_potential(&stage), after;
		double slip = 5;
		for (uint32_t tick = 0; tick < 3; tick++) {
			stage_step(&stage);
			counted += stage.dynamics.report.fallbacks;
		}
		vec3 arm = vec3_scale(
			quat_rotate(stage.tables.body.rotation[rod], vec3_make(0, 1, 0)), -half);
		vec3 tip = vec3_add(stage.tables.body.velocity[rod],
				    vec3_cross(stage.tables.body.angular_velocity[rod], arm));
		slip = tip.x;
		after = stage_kinetic(&stage) + stage_potential(&stage);
		printf("# rod: slip %g counted %u energy %g of %g\n", slip, counted, after, before);
		ck_assert(after <= before * (1 + 1e-9));
		slips[k] = slip;
		ck_assert_uint_gt(counted, 0);
		stage_release(&stage);
	}
	ck_assert_msg(scalar_abs(slips[0]) < 0.1 && scalar_abs(slips[1]) < 0.1,
		      "slip %g and %g m/s", slips[0], slips[1]);
}
END_TEST

START_TEST(balls_in_a_row_pass_their_velocity_on)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, false);
	uint32_t shape = stage_shape(&stage, make_sphere(0.5));
	for (uint32_t i = 0; i < 5; i++)
		add_ball(&stage, shape, vec3_make(i == 0 ? -3 : 1.001 * i, 0, 0),
			 vec3_make(i == 0 ? 2 : 0, 0, 0), -1, 1);
	stage_run(&stage, 180);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_double_eq_tol(stage.tables.body.velocity[i].x, i == 4 ? 2 : 0, 1e-12);
	stage_release(&stage);
}
END_TEST

START_TEST(two_touching_balls_that_are_hit_share_as_one_event)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, false);
	uint32_t shape = stage_shape(&stage, make_sphere(0.5));
	for (uint32_t i = 0; i < 3; i++)
		add_ball(&stage, shape, vec3_make(i == 0 ? -0.1 : 1.0 * i, 0, 0),
			 vec3_make(i == 0 ? 1 : 0, 0, 0), -1, 1);
	stage_run(&stage, 10);
	/* ch4-5 I5b: (−⅓, ⅔, ⅔). */
	ck_assert_double_eq_tol(stage.tables.body.velocity[0].x, -1.0 / 3, 1e-12);
	ck_assert_double_eq_tol(stage.tables.body.velocity[1].x, 2.0 / 3, 1e-12);
	ck_assert_double_eq_tol(stage.tables.body.velocity[2].x, 2.0 / 3, 1e-12);
	stage_release(&stage);
}
END_TEST

/* A break of 15 balls: elastic, without friction. */
START_TEST(a_break_conserves_energy_and_momentum)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, false);
	uint32_t shape = stage_shape(&stage, make_sphere(0.5));
	add_ball(&stage, shape, vec3_make(-4, 0.02, 0), vec3_make(10, 0, 0), -1, 1);
	for (uint32_t row = 0; row < 5; row++)
		for (uint32_t i = 0; i <= row; i++)
			add_ball(&stage, shape, vec3_make(0.9 * row, 1.01 * (i - 0.5 * row), 0),
				 vec3_zero(), -1, 1);
	double energy = stage_kinetic(&stage);
	vec3 linear = stage_momentum(&stage), angular = stage_angular_momentum(&stage);
	stage_run(&stage, 120);
	ck_assert_double_eq_tol(stage_kinetic(&stage) / energy, 1, 1e-12);
	double size = vec3_length(linear);
	ck_assert_msg(vec3_distance(stage_momentum(&stage), linear) <= 1e-12 * size, "momentum");
	ck_assert_msg(vec3_distance(stage_angular_momentum(&stage), angular) <= 1e-12 * 10 * size,
		      "angular momentum");
	stage_release(&stage);
}
END_TEST

START_TEST(fast_bodies_meet_what_is_in_their_way)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, false);
	uint32_t plate = stage_shape(&stage, make_box(0.005, 2, 2));
	stage_add(&stage,
		  (struct stage_body){ .status = BODY_STATIC, .shape = plate, .friction = -1 });
	uint32_t cube = stage_shape(&stage, make_box(0.05, 0.05, 0.05));
	uint32_t first = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								.shape = cube,
								.position = { -5, 0, 0 },
								.velocity = { 600, 0, 0 },
								.spin = { 0, 0, 3 },
								.friction = -1,
								.restitution = 1 });
	/* Two that fly at each other. */
	uint32_t left = add_ball(&stage, stage_shape(&stage, make_sphere(0.02)),
				 vec3_make(-20, 5, 0), vec3_make(900, 0, 0), -1, 1);
	uint32_t right = add_ball(&stage, 2, vec3_make(-1, 5, 0), vec3_make(-900, 0, 0), -1, 1);
	stage_step(&stage);
	uint32_t begins = 0;
	for (uint32_t i = 0; i < stage.dynamics.events.count; i++) {
		const struct event *event = &stage.dynamics.events.items[i];
		if (event->kind != EVENT_CONTACT_BEGIN)
			continue;
		begins++;
		bool balls = event->a == stage.tables.body.id[left];
		/* The balls meet after (19 − 0.04) m at 1800 m/s. */
		if (balls)
			ck_assert_double_eq_tol(event->fraction, (19 - 0.04) / 1800 * 60, 1e-9);
		ck_assert(event->fraction > 0 && event->fraction < 1);
	}
	ck_assert_uint_eq(begins, 2);
	ck_assert_double_eq_tol(stage.tables.body.velocity[left].x, -900, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.velocity[right].x, 900, 1e-9);
	stage_run(&stage, 5);
	ck_assert(stage.tables.body.position[first].x < 0);
	stage_release(&stage);
}
END_TEST

/* ch4-5 D6a: a body that no collision concerns keeps its motion bit for bit. */
START_TEST(a_collision_elsewhere_changes_no_bit)
{
	vec3 place[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, true);
		uint32_t shape = stage_shape(&stage, make_box(0.3, 0.2, 0.1));
		uint32_t alone = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
									.shape = shape,
									.position = { 0, 50, 0 },
									.velocity = { 1, 2, 3 },
									.spin = { 3, 2, 1 } });
		add_ball(&stage, stage_shape(&stage, make_sphere(0.5)), vec3_make(20, 0, 0),
			 vec3_make(k == 0 ? 30 : -30, 0, 0), 0.5, 0.5);
		add_ball(&stage, 1, vec3_make(21.2, 0, 0), vec3_zero(), 0.5, 0.5);
		stage_run(&stage, 30);
		place[k] = stage.tables.body.position[alone];
		stage_release(&stage);
	}
	ck_assert(vec3_equal(place[0], place[1]));
}
END_TEST

START_TEST(switching_to_and_from_soft_step_and_lcp_stays_regular)
{
	static const char *const methods[] = { "soft-step", "impact", "lcp", "impact" };
	struct stage stage;
	stage_init(&stage, "impact");
	stage_mixed(&stage, 16, check_seed());
	for (uint32_t k = 0; k < 8; k++) {
		struct stage copy;
		stage_init(&copy, methods[(k + 3) % 4]);
		stage_restore(&copy, &stage);
		stage_run(&stage, 11);
		stage_run(&copy, 11);
		ck_assert_msg(stage_hash(&stage) == stage_hash(&copy), "switch %u", k);
		stage_release(&copy);
		stage_method(&stage, methods[k % 4]);
	}
	stage_release(&stage);
}
END_TEST

START_TEST(a_stack_falls_asleep_and_wakes_when_it_is_hit)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, true);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 1);
	uint32_t low = stage_stack(&stage, 4);
	stage_run(&stage, 60);
	ck_assert(stage.tables.body.sleep_set[low] != 0);
	add_ball(&stage, stage_shape(&stage, make_sphere(0.5)), vec3_make(-3, 0.5, 0),
		 vec3_make(12, 0, 0), 0.5, 0);
	stage_run(&stage, 20);
	ck_assert(stage.tables.body.sleep_set[low] == 0);
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact");
	TCase *tcase = tcase_create("impact");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, bounces_reach_the_heights_of_their_restitution);
	tcase_add_test(tcase, a_particle_leaves_a_sphere_at_two_thirds_of_its_height);
	tcase_add_test(tcase, a_tower_neither_sinks_nor_drifts);
	tcase_add_test(tcase, a_block_holds_or_slides_on_a_slope);
	tcase_add_test(tcase, a_sliding_ball_begins_to_roll);
	tcase_add_test(tcase, a_rod_without_consistent_forces_stops_by_an_impulse);
	tcase_add_test(tcase, balls_in_a_row_pass_their_velocity_on);
	tcase_add_test(tcase, two_touching_balls_that_are_hit_share_as_one_event);
	tcase_add_test(tcase, a_break_conserves_energy_and_momentum);
	tcase_add_test(tcase, fast_bodies_meet_what_is_in_their_way);
	tcase_add_test(tcase, a_collision_elsewhere_changes_no_bit);
	tcase_add_test(tcase, switching_to_and_from_soft_step_and_lcp_stays_regular);
	tcase_add_test(tcase, a_stack_falls_asleep_and_wakes_when_it_is_hit);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
