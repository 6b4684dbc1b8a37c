/* `impact` against closed forms: bounces, contacts that hold, slide, roll and part, on the path and not at
 * the ends of ticks. */
#include "server/base/rng.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>

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
	double expected = 2.0 / 3 * trig_cos(0.2);
	for (uint32_t k = 0; k < 4; k++) {
		double dt = 1.0 / (60 << (2 * k));
		printf("# parting: dt %g off %g\n", dt, parting_cosine(dt, -1) - expected);
	}
}
END_TEST

START_TEST(a_tower_neither_sinks_nor_drifts)
{
	static const double tops[] = { 1, 30, 1000 };
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
		for (uint32_t tick = 0; tick < 300; tick++)
			stage_step(&stage);
		vec3 at = stage.tables.body.position[top];
		printf("# tower top %g: %g %g %g fallbacks %u residual %g\n", tops[k], at.x,
		       at.y - 7.5, at.z, stage.dynamics.report.fallbacks,
		       stage.dynamics.report.residual);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_block_holds_or_slides_on_a_slope)
{
	for (int k = 0; k < 2; k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, true);
		double angle = 0.5, mu = k == 0 ? 0.6 : 0.3;
		stage.tables.world.gravity[0] =
			vec3_make(9.81 * trig_sin(angle), -9.81 * trig_cos(angle), 0);
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] =
			stage.tables.body.dynamic_friction[ground] = mu;
		uint32_t box = stage_add(
			&stage,
			(struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.2, 0.4)),
					     .position = { 0, 0.2, 0 },
					     .friction = mu });
		stage_run(&stage, 60);
		double v = stage.tables.body.velocity[box].x, x = stage.tables.body.position[box].x;
		double a = k == 0 ? 0 : 9.81 * (trig_sin(angle) - mu * trig_cos(angle));
		printf("# slope mu %g: v off %g x off %g y off %g\n", mu, v - a, x - a / 2,
		       stage.tables.body.position[box].y - 0.2);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_sliding_ball_begins_to_roll)
{
	for (int k = 0; k < 4; k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / (60 << k), true);
		stage_ground(&stage);
		uint32_t ball =
			add_ball(&stage, stage_shape(&stage, make_sphere(0.5)),
				 vec3_make(0, 0.5, 0), vec3_make(7, 0, 0), 0.2 * 0.2 / 0.6, 0);
		stage_run(&stage, 120u << k);
		double t1 = 2 * 7.0 / (7 * 0.2 * 9.81);
		double x = 7 * t1 - 0.5 * 0.2 * 9.81 * t1 * t1 + 5 * (2 - t1);
		printf("# rolling dt 1/%d: v off %g x off %g y off %g\n", 60 << k,
		       stage.tables.body.velocity[ball].x - 5,
		       stage.tables.body.position[ball].x - x,
		       stage.tables.body.position[ball].y - 0.5);
		stage_release(&stage);
	}
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
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
