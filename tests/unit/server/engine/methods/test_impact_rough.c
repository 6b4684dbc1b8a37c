/* `impact` on bad input: it ends within its caps, stays finite and gains no energy but counted work. */
#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>

static void open_stage(struct stage *stage, double dt)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
}

static void assert_finite(const struct stage *stage, const char *what)
{
	const struct body_table *body = &stage->tables.body;
	for (uint32_t row = 0; row < body->count; row++)
		ck_assert_msg(vec3_is_finite(body->position[row]) &&
				      vec3_is_finite(body->velocity[row]) &&
				      vec3_is_finite(body->angular_velocity[row]),
			      "%s: body %u", what, row);
	ck_assert_msg(stage_events(stage, EVENT_QUARANTINE) == 0, "%s: quarantine", what);
}

static double energy_of(const struct stage *stage)
{
	return stage_kinetic(stage) + stage_potential(stage);
}

/* A heap of shapes of all kinds, thrown together and partly in each other, over steps of any length. */
START_TEST(any_length_of_step_ends_finite)
{
	static const double steps[] = { 1e-4, 1e-3, 1.0 / 60, 0.1, 1 };
	for (uint32_t k = 0; k < COUNT_OF(steps); k++) {
		struct stage stage;
		open_stage(&stage, steps[k]);
		stage_mixed(&stage, 24, check_seed());
		double worst = 0;
		for (uint32_t tick = 0; tick < 30; tick++) {
			double before = energy_of(&stage);
			stage_step(&stage);
			assert_finite(&stage, "step");
			double gained =
				energy_of(&stage) - before - stage.dynamics.report.push_work;
			worst = scalar_max(worst, gained / (scalar_abs(before) + 1));
		}
		ck_assert_msg(worst <= 1e-9, "dt %g: gained %g of the energy", steps[k], worst);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(penetrating_starts_come_apart_without_energy)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage.tables.world.gravity[0] = vec3_zero();
	stage_bomb(&stage, 30, check_seed());
	for (uint32_t tick = 0; tick < 60; tick++) {
		double before = stage_kinetic(&stage);
		stage_step(&stage);
		assert_finite(&stage, "bomb");
		ck_assert_msg(stage_kinetic(&stage) <= before + stage.dynamics.report.push_work +
							       1e-9 * before + 1e-12,
			      "tick %u: %g after %g, work %g", tick, stage_kinetic(&stage), before,
			      stage.dynamics.report.push_work);
	}
	double deepest = stage.dynamics.report.penetration_max;
	ck_assert_msg(deepest < 1e-6, "still %g deep", deepest);
	stage_release(&stage);
}
END_TEST

START_TEST(a_press_into_a_wall_ends)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	stage_add(&stage, (struct stage_body){
				  .status = BODY_STATIC, .shape = box, .position = { 1, 0.5, 0 } });
	uint32_t body = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = box,
							       .position = { 0, 0.5, 0 } });
	stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
					       .shape = box,
					       .position = { -1.05, 0.5, 0 },
					       .velocity = { 0.5, 0, 0 } });
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		assert_finite(&stage, "press");
	}
	printf("# press: x %g v %g fallbacks %u\n", stage.tables.body.position[body].x,
	       vec3_length(stage.tables.body.velocity[body]), stage.dynamics.report.fallbacks);
	ck_assert(vec3_length(stage.tables.body.velocity[body]) < 10);
	stage_release(&stage);
}
END_TEST

/* N s, of a point in this tick. */
static double largest_impulse(const struct stage *stage)
{
	const struct contact_table *contact = &stage->tables.contact;
	double most = 0;
	for (uint32_t row = 0; row < contact->count; row++)
		for (uint32_t k = 0; contact->used[row] && k < contact->point_count[row]; k++)
			most = scalar_max(most, contact->normal_impulse[row][k]);
	return most;
}

/* Two fast animated balls press a box between them with friction. Each event makes it faster, without
 * end, and rows that only friction makes contradict each other have impulses without bounds. */
START_TEST(what_fast_balls_press_stays_within_the_limits)
{
	struct rng rng = rng_seeded(check_seed());
	double impulse = 0;
	uint32_t fallbacks = 0;
	for (uint32_t run = 0; run < 300; run++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60);
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		vec3 side = random_direction(&rng);
		uint32_t body = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								       .shape = box,
								       .friction = 0.6 });
		for (uint32_t k = 0; k < 2; k++) {
			double speed = rng_range(&rng, 1, 200), far = rng_range(&rng, 0.6, 1.2);
			vec3 off = random_vector(&rng, 0.3), to = vec3_scale(side, k ? 1 : -1);
			stage_add(&stage,
				  (struct stage_body){ .status = BODY_ANIMATED,
						       .shape = ball,
						       .friction = 0.6,
						       .position = vec3_mul_add(off, to, far),
						       .velocity = vec3_scale(to, -speed) });
		}
		for (uint32_t tick = 0; tick < 2; tick++) {
			stage_step(&stage);
			assert_finite(&stage, "pressed");
			double speed = vec3_length(stage.tables.body.velocity[body]);
			ck_assert_double_le(speed, SPEED_MAX * (1 + 1e-12));
			fallbacks += stage.dynamics.report.fallbacks;
			impulse = scalar_max(impulse, largest_impulse(&stage));
		}
		stage_release(&stage);
	}
	printf("# pressed: %u fallbacks, impulses up to %g N s\n", fallbacks, impulse);
	/* 1e9 times the momentum of the box at the balls' speed is the bound of find_growth. */
	ck_assert_double_lt(impulse, 1e9 * 1000 * 200);
	ck_assert_uint_gt(fallbacks, 50);
}
END_TEST

/* A ball between two walls that is much lighter than one of them: collisions accumulate without end. */
START_TEST(sequences_of_collisions_without_end_are_cut)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage.tables.world.gravity[0] = vec3_zero();
	stage_parameter(&stage, PARAMETER_RESTITUTION_SPEED, 1e-9);
	uint32_t wall = stage_shape(&stage, make_box(0.5, 2, 2)),
		 ball = stage_shape(&stage, make_sphere(0.1));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
					       .shape = wall,
					       .position = { -0.5, 0, 0 },
					       .restitution = 1,
					       .friction = -1 });
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { 0.15, 0, 0 },
					       .velocity = { 1, 0, 0 },
					       .mass = 1e-3,
					       .restitution = 1,
					       .friction = -1 });
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = wall,
					       .position = { 0.9, 0, 0 },
					       .velocity = { -5, 0, 0 },
					       .mass = 1e5,
					       .restitution = 1,
					       .friction = -1 });
	uint32_t fallbacks = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		double before = stage_kinetic(&stage);
		stage_step(&stage);
		assert_finite(&stage, "squeezed ball");
		fallbacks += stage.dynamics.report.fallbacks;
		ck_assert_msg(stage_kinetic(&stage) <=
				      before * (1 + 1e-9) + stage.dynamics.report.push_work,
			      "tick %u: %g after %g", tick, stage_kinetic(&stage), before);
	}
	printf("# zeno: fallbacks %u ball x %g wall x %g\n", fallbacks,
	       stage.tables.body.position[1].x, stage.tables.body.position[2].x);
	ck_assert_uint_gt(fallbacks, 0);
	stage_release(&stage);
}
END_TEST

START_TEST(thousands_of_simultaneous_collisions_are_one_event)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.25));
	for (uint32_t i = 0; i < 2500; i++)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { i % 50, 0.3, (double)(i / 50) },
					       .velocity = { 0, -5, 0 },
					       .restitution = 0.5 });
	stage_run(&stage, 2);
	for (uint32_t i = 1; i < stage.tables.body.count; i++)
		ck_assert_msg(scalar_abs(stage.tables.body.velocity[i].y -
					 stage.tables.body.velocity[1].y) < 1e-12,
			      "ball %u", i);
	ck_assert(stage.tables.body.velocity[1].y > 0);
	stage_release(&stage);
}
END_TEST

START_TEST(masses_and_friction_of_any_size)
{
	static const double frictions[] = { -1, 0.5, 1e6 };
	for (uint32_t k = 0; k < COUNT_OF(frictions); k++)
		for (int heavy = 0; heavy < 2; heavy++) {
			struct stage stage;
			open_stage(&stage, 1.0 / 60);
			stage_ground(&stage);
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
			for (uint32_t i = 0; i < 4; i++)
				stage_add(&stage, (struct stage_body){
							  .status = BODY_DYNAMIC,
							  .shape = box,
							  .position = { 0.2 * i, 0.6 + 1.1 * i, 0 },
							  .velocity = { 1.0 * i, -2, 0.3 },
							  .mass = i == (heavy ? 3u : 0u) ? 1e8 : 1,
							  .friction = frictions[k],
							  .restitution = 0.3 });
			for (uint32_t tick = 0; tick < 90; tick++) {
				double before = energy_of(&stage);
				stage_step(&stage);
				assert_finite(&stage, "masses");
				double gained = energy_of(&stage) - before -
						stage.dynamics.report.push_work;
				ck_assert_msg(gained <= 1e-9 * (before + 1),
					      "friction %g, tick %u: gained %g of %g", frictions[k],
					      tick, gained, before);
			}
			stage_release(&stage);
		}
}
END_TEST

/* Every integrator, with and without sub-steps and tolerances, on a heap of masses of 1 to 10^8 kg
 * that falls in steps of any length. */
START_TEST(integrators_gain_no_energy_that_is_not_counted)
{
	static const double steps[] = { 1e-4, 1.0 / 60, 0.1, 1 };
	for (uint8_t k = 0; k < INTEGRATORS_END; k++)
		for (uint32_t t = 0; t < 2 * COUNT_OF(steps); t++) {
			struct stage stage;
			open_stage(&stage, steps[t / 2]);
			stage_parameter(&stage, PARAMETER_IMPACT_SUBSTEPS_MAX, 8);
			stage_ground(&stage);
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.4, 0.6));
			for (uint32_t i = 0; i < 4; i++) {
				uint32_t body = stage_add(
					&stage, (struct stage_body){
							.status = BODY_DYNAMIC,
							.shape = box,
							.position = { 0.2 * i, 0.6 + 1.1 * i, 0 },
							.velocity = { 1.0 * i, -2, 0.3 },
							.spin = { 0.5, 1, 2.0 * i },
							.mass = i == 3 ? 1e8 : 1,
							.restitution = 0.3 });
				stage.tables.body.integrator[body] = k;
				stage.tables.body.tolerance[body] = t % 2 * 1e-4;
				stage.tables.body.substeps[body] = (uint16_t)i;
			}
			for (uint32_t tick = 0; tick < 25; tick++) {
				double before = energy_of(&stage);
				stage_step(&stage);
				char what[64];
				snprintf(what, sizeof what, "integrator %u, step %g, tick %u", k,
					 steps[t / 2], tick);
				assert_finite(&stage, what);
				double gained = energy_of(&stage) - before -
						stage.dynamics.report.push_work;
				ck_assert_msg(gained <= 1e-9 * (scalar_abs(before) + 1),
					      "integrator %u, step %g, tick %u: gained %g of %g", k,
					      steps[t / 2], tick, gained, before);
			}
			stage_release(&stage);
		}
}
END_TEST

/* A free body that turns by 1000 rad in a tick is beyond what its integrator resolves
 * (INTEGRATE_TURN_MAX): its energy changes, and what it gains is counted. */
START_TEST(what_a_fast_spin_gains_is_counted)
{
	struct stage stage;
	open_stage(&stage, 0.2);
	stage.tables.world.gravity[0] = vec3_zero();
	stage_add(&stage,
		  (struct stage_body){ .status = BODY_DYNAMIC,
				       .shape = stage_shape(&stage, make_box(0.3, 0.15, 0.5)),
				       .spin = { -1152, 2238, -4696 },
				       .mass = 1 });
	double gains = 0;
	for (uint32_t tick = 0; tick < 40; tick++) {
		double before = energy_of(&stage);
		stage_step(&stage);
		double gained = energy_of(&stage) - before;
		gains += scalar_max(gained, 0);
		ck_assert_double_le(gained - stage.dynamics.report.push_work, 1e-9 * before);
	}
	ck_assert_double_gt(gains, 0);
	stage_release(&stage);
}
END_TEST

/* Tetrahedra a thousand times as long as they are thick, thrown onto each other. */
START_TEST(slivers_pile_up_within_the_caps)
{
	static const double thicknesses[] = { 0.005, 5e-4 };
	for (uint32_t k = 0; k < COUNT_OF(thicknesses); k++) {
		struct stage stage;
		struct rng rng = rng_seeded(check_seed());
		open_stage(&stage, 1.0 / 60);
		stage_ground(&stage);
		double thin = thicknesses[k];
		vec3 points[] = { { 0.25, 0, thin },
				  { -0.25, 0, thin },
				  { 0, 0.25, -thin },
				  { 0, -0.25, -thin } };
		uint32_t sliver = stage_shape(&stage, make_hull(points, COUNT_OF(points)));
		for (uint32_t i = 0; i < 6; i++) {
			double x = rng_range(&rng, -1, 1), y = rng_range(&rng, -1, 1);
			double z = rng_range(&rng, -1, 1), turn = rng_range(&rng, -1, 1);
			vec3 spin = vec3_make(5 * y, 5 * z, 5 * x);
			stage_add(&stage,
				  (struct stage_body){
					  .status = BODY_DYNAMIC,
					  .shape = sliver,
					  .mass = 1,
					  .position = { 0.2 * x, 0.5 + 0.3 * i, 0.2 * z },
					  .rotation = quat_normalize(quat_make(turn, x, y, z)),
					  .velocity = { 0, -3, 0 },
					  .spin = spin,
					  .restitution = 0.3 });
		}
		for (uint32_t tick = 0; tick < 30; tick++) {
			double before = energy_of(&stage);
			stage_step(&stage);
			assert_finite(&stage, "slivers");
			double gained =
				energy_of(&stage) - before - stage.dynamics.report.push_work;
			ck_assert_msg(gained <= 1e-9 * (scalar_abs(before) + 1),
				      "thickness %g, tick %u: gained %g of %g", thin, tick, gained,
				      before);
		}
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: bad input");
	TCase *tcase = tcase_create("rough");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, what_fast_balls_press_stays_within_the_limits);
	tcase_add_test(tcase, any_length_of_step_ends_finite);
	tcase_add_test(tcase, penetrating_starts_come_apart_without_energy);
	tcase_add_test(tcase, a_press_into_a_wall_ends);
	tcase_add_test(tcase, sequences_of_collisions_without_end_are_cut);
	tcase_add_test(tcase, thousands_of_simultaneous_collisions_are_one_event);
	tcase_add_test(tcase, masses_and_friction_of_any_size);
	tcase_add_test(tcase, integrators_gain_no_energy_that_is_not_counted);
	tcase_add_test(tcase, what_a_fast_spin_gains_is_counted);
	tcase_add_test(tcase, slivers_pile_up_within_the_caps);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
