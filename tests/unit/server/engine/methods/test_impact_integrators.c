/* Integrators of `impact`: their orders on free, turning, jointed, sprung and rolling bodies; tolerances and
 * sub-steps; what happens to bad input. */
#include "server/base/rng.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"

#include <math.h>
#include <stdio.h>

static const char *const NAMES[INTEGRATORS_END] = { "automatic", "euler", "implicit_euler",
						    "rk2",	 "rk4",	  "rk45" };
static const vec3 DOWN = { 0, -9.81, 0 };

static void integrate_by(struct world *world, body_id body, uint8_t integrator, double tolerance,
			 uint32_t substeps)
{
	struct command set = test_command(COMMAND_SET_INTEGRATOR);
	set.set_integrator.body = body;
	set.set_integrator.integrator = integrator;
	set.set_integrator.tolerance = tolerance;
	set.set_integrator.substeps = substeps;
	test_do(world, &set);
}

/* ---- scenes: each returns its world, and the body that is looked at --------------------------- */

/* A brick spins about its middle axis in free fall. */
static struct world *open_racket(uint32_t rate, body_id *body)
{
	struct world *world = joined_world("impact", rate, DOWN);
	struct attachment items[2] = {
		{ test_use(world, TEST_BOX), { 1, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_CAPSULE), { -1, 0.3, 0 }, { 1, 0, 0, 0 } }
	};
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	spawn.spawn.angular_velocity = vec3_make(0.1, 0.2, 4);
	spawn.spawn.flags = 0;
	*body = test_do(world, &spawn);
	return world;
}

/* A capsule spins about its axis on a ball joint below it. */
static struct world *open_top(uint32_t rate, body_id *body)
{
	struct world *world = joined_world("impact", rate, DOWN);
	*body = joined_put(world, (struct joined_thing){ .shape = TEST_CAPSULE,
							 .at = { 0.3, 1, 0 },
							 .mass = 1,
							 .spin = { 0.9, 3, 0.2 } });
	struct command match =
		joined_create(JOINT_SPHERICAL, 0, *body, vec3_zero(), quat_identity());
	match.joint_create.violated = 2;
	test_do(world, &match);
	return world;
}

/* Two weights swing on a spring each, one below the other. */
static struct world *open_springs(uint32_t rate, body_id *body)
{
	struct world *world = joined_world("impact", rate, DOWN);
	body_id above = 0;
	for (uint32_t k = 0; k < 2; k++) {
		*body = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
								 .at = { 1.0 + k, -0.2 * k, 0 },
								 .mass = 1,
								 .velocity = { 0, 1, 0.5 } });
		struct command join = joined_create(JOINT_DISTANCE, above, *body,
						    vec3_make(k, -0.2 * k, 0), quat_identity());
		join.joint_create.point_b = vec3_make(1.0 + k, -0.2 * k, 0);
		struct command axis = joined_axis(test_do(world, &join), 0);
		axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = 40;
		axis.joint_axis.damping = 0.1;
		axis.joint_axis.rest = 0.9;
		test_do(world, &axis);
		above = *body;
	}
	return world;
}

/* A ball rolls off another one, without slip. */
static struct world *open_rolling(uint32_t rate, body_id *body)
{
	struct world *world = joined_world("impact", rate, DOWN);
	joined_put(world, (struct joined_thing){
				  .shape = TEST_SPHERE, .status = BODY_STATIC, .meets = true });
	double angle = 0.2;
	*body = joined_put(world,
			   (struct joined_thing){ .shape = TEST_SPHERE,
						  .at = { trig_sin(angle), trig_cos(angle), 0 },
						  .mass = 1,
						  .meets = true });
	for (uint32_t k = 1; k <= 2; k++) {
		struct command rough = test_command(COMMAND_SET_MATERIAL);
		rough.set_material.body = k;
		rough.set_material.static_friction = rough.set_material.dynamic_friction = 10;
		test_do(world, &rough);
	}
	return world;
}

/* A ball that spins about the vertical and slides along a friction axis of its own, across which it sticks:
 * it rolls sideways on a curve. */
static struct world *open_skating(uint32_t rate, body_id *body)
{
	struct world *world = joined_world("impact", rate, DOWN);
	joined_put(world, (struct joined_thing){
				  .shape = TEST_PLANE, .status = BODY_STATIC, .meets = true });
	*body = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
							 .at = { 0, 0.5, 0 },
							 .velocity = { 2, 0, 0 },
							 .spin = { 0, 1.5, 0 },
							 .mass = 1,
							 .meets = true });
	struct command rough = test_command(COMMAND_SET_MATERIAL);
	rough.set_material.body = *body;
	rough.set_material.static_friction = rough.set_material.dynamic_friction = 10;
	rough.set_material.friction_axis = vec3_make(1, 0, 0);
	test_do(world, &rough);
	return world;
}

static const struct {
	const char *name;
	struct world *(*open)(uint32_t rate, body_id *body);
	double seconds;
	double orders[INTEGRATORS_END]; /* at least */
} SCENES[] = {
	{ "racket", open_racket, 1, { 1.9, 0.9, 0.9, 1.9, 3.8, 4.7 } },
	{ "top", open_top, 0.8, { 1.9, 0.9, 0.9, 1.9, 3.6, 4.7 } },
	{ "springs", open_springs, 0.8, { 0.9, 0.9, 0.9, 1.9, 3.8, 4.5 } },
	{ "rolling", open_rolling, 0.5, { 1.9, 0.9, 0.9, 1.9, 3.8, 4.7 } },
	{ "skating", open_skating, 0.5, { 1.9, 0.9, 0.9, 1.9, 3.8, 4.7 } },
};

struct place {
	vec3 position;
	quat rotation;
};

static double apart(struct place a, struct place b)
{
	return vec3_distance(a.position, b.position) +
	       vec3_length(
		       quat_to_rotation_vector(quat_mul(a.rotation, quat_conjugate(b.rotation))));
}

static struct place run(uint32_t scene, uint8_t integrator, double tolerance, uint32_t substeps,
			uint32_t rate)
{
	body_id body;
	struct world *world = SCENES[scene].open(rate, &body);
	for (body_id id = 1; id <= body; id++)
		integrate_by(world, id, integrator, tolerance, substeps);
	test_step(world, (uint32_t)(SCENES[scene].seconds * rate + 0.5));
	struct body_view view = test_body(world, body);
	world_destroy(world);
	return (struct place){ view.position, view.rotation };
}

static struct place exact(uint32_t scene)
{
	return run(scene, INTEGRATOR_RK45, 1, 0, 1920);
}

START_TEST(integrators_have_their_order)
{
	struct place at = exact((uint32_t)_i);
	for (uint8_t k = 0; k < INTEGRATORS_END; k++) {
		/* rk45 without its control: a tolerance that is always kept. */
		double off[3], tolerance = k == INTEGRATOR_RK45 ? 1 : 0;
		for (uint32_t r = 0; r < 3; r++)
			off[r] = apart(run((uint32_t)_i, k, tolerance, 0, 60u << r), at);
		double order = log2(off[1] / off[2]);
		printf("# %s %s: off %.2g %.2g %.2g, order %.2f\n", SCENES[_i].name, NAMES[k],
		       off[0], off[1], off[2], order);
		ck_assert_msg(order >= SCENES[_i].orders[k] || off[2] < 1e-11, "%s %s: order %g",
			      SCENES[_i].name, NAMES[k], order);
	}
}
END_TEST

/* ---- the tolerance, and the world's accuracy -------------------------------------------------- */

START_TEST(a_smaller_tolerance_makes_a_smaller_error)
{
	/* Under every integrator: rk45 by its pair, the others by step doubling. */
	static const double tolerances[] = { 1e-3, 1e-5, 1e-7 };
	for (uint32_t scene = 0; scene < COUNT_OF(SCENES); scene++) {
		struct place at = exact(scene);
		for (uint8_t k = INTEGRATOR_RK2; k < INTEGRATORS_END; k++) {
			double off[3], ticks = SCENES[scene].seconds * 20;
			for (uint32_t t = 0; t < 3; t++) {
				off[t] = apart(run(scene, k, tolerances[t], 0, 20), at);
				/* What follows carries the error of a tick on, such as an angle that
				 * grows: by at most 20 times here. */
				ck_assert_msg(off[t] <= 20 * ticks * tolerances[t],
					      "%s %s: off %g at tolerance %g", SCENES[scene].name,
					      NAMES[k], off[t], tolerances[t]);
			}
			printf("# %s %s: off %.2g %.2g %.2g at tolerances 1e-3 1e-5 1e-7\n",
			       SCENES[scene].name, NAMES[k], off[0], off[1], off[2]);
			ck_assert_msg(off[2] < 0.2 * off[0] || off[0] < 10 * tolerances[2],
				      "%s %s: off %g, then %g", SCENES[scene].name, NAMES[k],
				      off[0], off[2]);
		}
	}
}
END_TEST

/* A rod leans and falls on the ground: its end slides, sticks and parts, and its side lands. */
static double fall(double accuracy, struct place *at, struct world_stats *stats)
{
	struct world *world = joined_world("impact", 30, DOWN);
	joined_set(world, "impact.accuracy", accuracy);
	joined_set(world, "impact.substeps_max", 1024);
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	struct attachment item;
	double angle = 0.3, half = test_shape(TEST_CAPSULE)->extent_min;
	struct command spawn = test_spawn_command(world, TEST_CAPSULE, vec3_make(0, 1, 0), &item);
	spawn.spawn.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), angle);
	spawn.spawn.position = vec3_make(0, half + 0.5 * trig_cos(angle), 0);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0.1;
	spawn.spawn.flags = 0;
	body_id rod = test_do(world, &spawn);
	test_step(world, 12);
	struct body_view view = test_body(world, rod);
	*at = (struct place){ view.position, view.rotation };
	*stats = world_stats(world);
	double error = stats->impact_error;
	world_destroy(world);
	return error;
}

START_TEST(the_error_falls_with_the_accuracy_of_the_world)
{
	static const double accuracies[] = { 0, 1e-3, 1e-4, 1e-5 };
	struct place best, at;
	struct world_stats stats;
	double off[COUNT_OF(accuracies)];
	fall(1e-7, &best, &stats);
	for (uint32_t k = 0; k < COUNT_OF(accuracies); k++) {
		double error = fall(accuracies[k], &at, &stats);
		off[k] = apart(at, best);
		printf("# accuracy %g: off %.3g, estimate %.2g, %u parts, %u redone, %u forced\n",
		       accuracies[k], off[k], error, (unsigned)stats.impact_total.substeps,
		       (unsigned)stats.impact_total.redone, (unsigned)stats.impact_total.forced);
		ck_assert((accuracies[k] > 0) == (stats.impact_total.substeps > 0));
		ck_assert((accuracies[k] > 0) == (error > 0));
		ck_assert(accuracies[k] == 0 || error <= accuracies[k]);
	}
	ck_assert_msg(off[3] < 0.1 * off[1] && off[1] < off[0], "off %g, %g, %g", off[0], off[1],
		      off[3]);
}
END_TEST

START_TEST(parts_are_no_shorter_than_the_world_permits)
{
	for (uint32_t most = 1; most <= 16; most *= 4) {
		body_id body;
		struct world *world = open_springs(10, &body);
		joined_set(world, "impact.accuracy", 1e-9);
		joined_set(world, "impact.substeps_max", most);
		test_step(world, 5);
		struct world_stats stats = world_stats(world);
		/* The first half of a part that is forced is a part, too. */
		ck_assert_uint_eq(stats.impact_total.substeps, 5 * (2 * most - 1));
		ck_assert_uint_eq(stats.impact_total.forced, 5 * most);
		ck_assert_uint_eq(stats.fallbacks_total, 5 * most);
		ck_assert_double_gt(stats.impact_error, 1e-9);
		world_destroy(world);
	}
}
END_TEST

/* ---- sub-steps -------------------------------------------------------------------------------- */

START_TEST(substeps_are_shorter_ticks_of_those_that_are_linked)
{
	/* n sub-steps of a tick, and n ticks: the same motion, to rounding. */
	for (uint32_t scene = 0; scene < COUNT_OF(SCENES); scene++)
		for (uint8_t k = INTEGRATOR_EULER; k <= INTEGRATOR_RK4; k++) {
			double off = apart(run(scene, k, 0, 8, 60), run(scene, k, 0, 0, 480));
			ck_assert_msg(off < 1e-9, "%s %s: %g apart", SCENES[scene].name, NAMES[k],
				      off);
		}
}
END_TEST

START_TEST(a_group_takes_its_largest_number_of_substeps)
{
	for (uint32_t asked = 1; asked <= 2; asked++) {
		struct place at[2];
		for (uint32_t k = 0; k < 2; k++) {
			body_id body;
			struct world *world = open_springs(60, &body);
			integrate_by(world, 1, INTEGRATOR_RK2, 0, k == 0 || asked == 1 ? 8 : 0);
			integrate_by(world, 2, INTEGRATOR_RK2, 0, k == 0 || asked == 2 ? 8 : 3);
			test_step(world, 30);
			ck_assert_uint_eq(world_stats(world).impact_total.substeps, 30 * 7);
			struct body_view view = test_body(world, body);
			at[k] = (struct place){ view.position, view.rotation };
			world_destroy(world);
		}
		ck_assert_double_eq(apart(at[0], at[1]), 0);
	}
}
END_TEST

START_TEST(a_body_that_is_not_linked_keeps_its_bits)
{
	struct body_view views[2];
	for (uint32_t k = 0; k < 2; k++) {
		body_id body;
		struct world *world = open_top(60, &body);
		body_id other = joined_put(world, (struct joined_thing){ .shape = TEST_CAPSULE,
									 .at = { 20, 1, 0 },
									 .mass = 1,
									 .spin = { 1, 2, 3 } });
		if (k == 1)
			integrate_by(world, body, INTEGRATOR_RK4, 1e-9, 5);
		test_step(world, 30);
		views[k] = test_body(world, other);
		world_destroy(world);
	}
	ck_assert(vec3_equal(views[0].position, views[1].position));
	ck_assert(vec3_equal(views[0].angular_velocity, views[1].angular_velocity));
	ck_assert(quat_dot(views[0].rotation, views[1].rotation) ==
		  quat_dot(views[1].rotation, views[1].rotation));
}
END_TEST

/* ---- bounces ---------------------------------------------------------------------------------- */

START_TEST(bounces_reach_the_heights_of_their_restitution)
{
	static const double restitutions[] = { 1, 0.8, 0.5 };
	for (uint8_t k = INTEGRATOR_RK2; k < INTEGRATORS_END; k++)
		for (uint32_t r = 0; r < COUNT_OF(restitutions); r++) {
			double e = restitutions[r], expected = 1;
			struct world *world = joined_world("impact", 60, DOWN);
			joined_set(world, "restitution.speed", 1e-6);
			joined_put(world,
				   (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
			body_id ball =
				joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									 .at = { 0, 1.5, 0 },
									 .mass = 1,
									 .restitution = e,
									 .meets = true });
			integrate_by(world, ball, k, 0, 3);
			uint64_t before = 0;
			for (uint32_t tick = 0, bounces = 0; tick < 400 && bounces < 5; tick++) {
				test_step(world, 1);
				uint64_t events = world_stats(world).impact_total.events;
				for (; before < events; before++, bounces++)
					expected *= e * e;
				struct body_view at = test_body(world, ball);
				double height = at.position.y - 0.5 +
						at.velocity.y * at.velocity.y / (2 * 9.81);
				ck_assert_msg(scalar_abs(height - expected) <= 1e-9,
					      "%s, e %g, bounce %u: height %.12g, not %.12g",
					      NAMES[k], e, bounces, height, expected);
			}
			ck_assert_uint_ge(before, 5);
			world_destroy(world);
		}
}
END_TEST

/* ---- stiff forces ----------------------------------------------------------------------------- */

/* A weight on a spring of 1000 rad/s, released 0.1 m away; returns the largest distance of the last ticks. */
static double swing(uint8_t integrator, uint32_t rate, uint32_t ticks, struct world_stats *stats)
{
	struct world *world = joined_world("impact", rate, vec3_zero());
	body_id ball = joined_put(
		world,
		(struct joined_thing){ .shape = TEST_SPHERE, .at = { 0.1, 0, 0 }, .mass = 1 });
	joint_id slider =
		joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_make(0.1, 0, 0), quat_identity());
	struct command axis = joined_axis(slider, 0);
	axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	axis.joint_axis.stiffness = 1e6;
	axis.joint_axis.rest = -0.1;
	test_do(world, &axis);
	integrate_by(world, ball, integrator, 0, 0);
	double largest = 0, last = 0.5 * 1e6 * 0.1 * 0.1;
	for (uint32_t tick = 0; tick < ticks; tick++) {
		test_step(world, 1);
		struct body_view at = test_body(world, ball);
		double x = at.position.x, v = at.velocity.x;
		double energy = 0.5 * 1e6 * x * x + 0.5 * v * v;
		if (integrator == INTEGRATOR_IMPLICIT_EULER)
			ck_assert_msg(energy <= last * (1 + 1e-12) || energy < 1e-20,
				      "tick %u: %g J after %g", tick, energy, last);
		last = energy;
		if (tick >= ticks / 2)
			largest = scalar_max(largest, scalar_abs(x));
	}
	*stats = world_stats(world);
	world_destroy(world);
	return largest;
}

START_TEST(a_stiff_spring_does_not_explode)
{
	struct world_stats stats;
	/* app B-03: ω h = 100. Implicit Euler decays in every tick. */
	ck_assert_double_lt(swing(INTEGRATOR_IMPLICIT_EULER, 10, 1000, &stats), 1e-9);
	ck_assert_uint_eq(stats.impact_total.rejected, 0);
	for (uint8_t k = INTEGRATOR_EULER; k < INTEGRATORS_END; k++) {
		ck_assert_double_lt(swing(k, 10, 100, &stats), 0.11);
		/* Explicit integrators are replaced, and say so. */
		ck_assert((k != INTEGRATOR_IMPLICIT_EULER) == (stats.impact_total.rejected > 0));
		/* At ω h = 0.1 they need no help. */
		double after = swing(k, 10000, 200, &stats);
		ck_assert_uint_eq(stats.impact_total.rejected, 0);
		if (k >= INTEGRATOR_RK4)
			ck_assert_double_eq_tol(after, 0.1, 1e-3);
	}
}
END_TEST

START_TEST(an_embedded_pair_keeps_its_tolerance_on_a_stiff_spring)
{
	/* x = 0.1 cos 1000 t over 6 s/100: the tick of 1/100 s has ω h = 10, and is divided. */
	for (uint32_t k = 0; k < 2; k++) {
		double tolerance = k == 0 ? 1e-4 : 1e-7;
		struct world *world = joined_world("impact", 100, vec3_zero());
		joined_set(world, "impact.substeps_max", 1024);
		body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									.at = { 0.1, 0, 0 },
									.mass = 1 });
		joint_id slider = joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_make(0.1, 0, 0),
					      quat_identity());
		struct command axis = joined_axis(slider, 0);
		axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = 1e6;
		axis.joint_axis.rest = -0.1;
		test_do(world, &axis);
		integrate_by(world, ball, INTEGRATOR_RK45, tolerance, 0);
		test_step(world, 6);
		double off = scalar_abs(test_body(world, ball).position.x - 0.1 * trig_cos(60));
		struct impact_figures counts = world_stats(world).impact_total;
		printf("# tolerance %g: off %.2g, %u parts, %u redone\n", tolerance, off,
		       (unsigned)counts.substeps, (unsigned)counts.redone);
		ck_assert_msg(off <= 6 * 5 * tolerance, "off %g at %g", off, tolerance);
		ck_assert_uint_eq(counts.forced, 0);
		world_destroy(world);
	}
}
END_TEST

/* ---- state ------------------------------------------------------------------------------------ */

/* One run of a script of random methods, integrators and accuracies over bodies that fall, hang and collide;
 * `restore`: the world is saved and loaded at random ticks. Adds all hashes. */
static uint64_t run_script(uint64_t seed, bool restore)
{
	static const char *const methods[] = { "impact", "soft-step", "lcp", "impact" };
	struct rng rng = rng_seeded(seed), cuts = rng_seeded(seed + 1);
	body_id body;
	struct world *world = open_springs(60, &body);
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	body_id last = 0;
	for (uint32_t i = 0; i < 6; i++)
		last = joined_put(
			world, (struct joined_thing){ .shape = i % 2 == 0 ? TEST_BOX : TEST_CAPSULE,
						      .at = { 4 + 0.3 * i, 0.6 + 1.2 * i, 0 },
						      .mass = 1,
						      .spin = { 1, 0, 2 },
						      .restitution = 0.4,
						      .meets = true });
	uint64_t hashes = 0;
	for (uint32_t tick = 0; tick < 90; tick++) {
		if (rng_below(&rng, 6) == 0) {
			struct command method = test_command(COMMAND_METHOD);
			method.method.name = test_text(methods[rng_below(&rng, COUNT_OF(methods))]);
			test_do(world, &method);
		}
		if (rng_below(&rng, 3) == 0) {
			body_id which = 1 + rng_below(&rng, last);
			uint8_t integrator = (uint8_t)rng_below(&rng, INTEGRATORS_END);
			double tolerance = rng_below(&rng, 2) * 1e-4;
			integrate_by(world, which, integrator, tolerance, rng_below(&rng, 5));
		}
		if (rng_below(&rng, 20) == 0)
			joined_set(world, "impact.accuracy", rng_below(&rng, 2) * 1e-3);
		if (restore && rng_below(&cuts, 4) == 0) {
			struct bytes image = test_save(world);
			world_destroy(world);
			ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(),
						    &world, NULL),
					 STATUS_OK);
			bytes_release(&image);
		}
		test_step(world, 1);
		test_check(world);
		hashes = hashes * 31 + test_hash(world);
	}
	world_destroy(world);
	return hashes;
}

START_TEST(switches_saves_and_replays_give_equal_states)
{
	for (uint64_t k = 0; k < 2; k++) {
		uint64_t seed = check_seed() + k, once = run_script(seed, false);
		ck_assert_msg(run_script(seed, false) == once, "seed %u: replayed", (unsigned)seed);
		ck_assert_msg(run_script(seed, true) == once, "seed %u: restored", (unsigned)seed);
	}
}
END_TEST

START_TEST(an_image_without_integrators_has_none_of_their_columns_in_its_hash)
{
	/* The hash of a world is the same before and after columns that nothing uses. */
	body_id body;
	struct world *world = open_springs(60, &body);
	uint64_t before = test_hash(world);
	integrate_by(world, body, INTEGRATOR_RK4, 1e-6, 3);
	ck_assert(test_hash(world) != before);
	integrate_by(world, body, INTEGRATOR_AUTOMATIC, 0, 0);
	ck_assert(test_hash(world) == before);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: integrators");
	TCase *orders = tcase_create("orders");
	tcase_set_timeout(orders, 60);
	tcase_add_loop_test(orders, integrators_have_their_order, 0, COUNT_OF(SCENES));
	suite_add_tcase(suite, orders);
	TCase *control = tcase_create("control");
	tcase_set_timeout(control, 60);
	tcase_add_test(control, a_smaller_tolerance_makes_a_smaller_error);
	tcase_add_test(control, the_error_falls_with_the_accuracy_of_the_world);
	tcase_add_test(control, parts_are_no_shorter_than_the_world_permits);
	tcase_add_test(control, substeps_are_shorter_ticks_of_those_that_are_linked);
	tcase_add_test(control, a_group_takes_its_largest_number_of_substeps);
	tcase_add_test(control, a_body_that_is_not_linked_keeps_its_bits);
	tcase_add_test(control, bounces_reach_the_heights_of_their_restitution);
	tcase_add_test(control, a_stiff_spring_does_not_explode);
	tcase_add_test(control, an_embedded_pair_keeps_its_tolerance_on_a_stiff_spring);
	suite_add_tcase(suite, control);
	TCase *state = tcase_create("state");
	tcase_set_timeout(state, 60);
	tcase_add_test(state, switches_saves_and_replays_give_equal_states);
	tcase_add_test(state, an_image_without_integrators_has_none_of_their_columns_in_its_hash);
	suite_add_tcase(suite, state);
	return suite;
}

int main(void)
{
	return check_main(make);
}
