/* Joints in lanes under soft-step: hashes are those of joint after joint, for any width and any number of
 * workers, of trees, loose joints and all that is solved between them. */
#include <math.h>
#include <stdio.h>

#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/methods/soft_step.h"
#include "server/engine/world/world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/stage.h"

static const uint32_t LANES[] = { 1, 4, 8, 16 };
enum { WIDTHS = 4, WORKERS = 3 };

static const enum joint_type TYPES[] = { JOINT_SPHERICAL,  JOINT_REVOLUTE, JOINT_FIXED,
					 JOINT_PRISMATIC,  JOINT_DISTANCE, JOINT_UNIVERSAL,
					 JOINT_CYLINDRICAL };

static body_id cube(struct world *world, vec3 at, double mass)
{
	return joined_put(world,
			  (struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = mass });
}

/* Joins in either order, because the child of a tree may be either body. */
static joint_id join(struct world *world, struct rng *rng, enum joint_type type, body_id a,
		     body_id b, vec3 at)
{
	bool swap = rng_below(rng, 2) == 0;
	return joined_join(world, type, swap ? b : a, swap ? a : b, at, joined_about_z());
}

/* ---- scenes --------------------------------------------------------------------------------- */

/* Chains of two types of joints, with branches, that hang on the world, a static or an animated body, or fly
 * free; of unequal masses, one taut. */
static void make_forest(struct world *world, struct rng *rng)
{
	body_id fixed = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								 .at = { -3, 0, 0 },
								 .status = BODY_STATIC });
	body_id moving = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								  .at = { -3, 0, 9 },
								  .velocity = { 0.3, 0.1, 0 },
								  .spin = { 0, 0.2, 0 },
								  .status = BODY_ANIMATED });
	const enum joint_type types[] = { TYPES[rng_below(rng, COUNT_OF(TYPES))], JOINT_SPHERICAL };
	for (uint32_t chain = 0; chain < 80; chain++) {
		enum joint_type type = types[rng_below(rng, 2)];
		uint32_t links = 3 + rng_below(rng, 4);
		const body_id roots[] = { 0, fixed, moving };
		body_id before = chain % 4 < 3 ? roots[chain % 4] : 0;
		for (uint32_t i = 0; i < links; i++) {
			vec3 at = vec3_make(i + 0.5, 0, 2.0 * chain);
			body_id body = cube(world, at, chain == 5 && i == links - 1 ? 3000 : 1 + i);
			if (i > 0 || chain % 4 < 3)
				join(world, rng, type, before, body,
				     vec3_make(i, 0.3, 2.0 * chain));
			if (rng_below(rng, 3) == 0) {
				body_id side = cube(world, vec3_make(i + 0.5, 1, 2.0 * chain), 1);
				join(world, rng, types[rng_below(rng, 2)], body, side,
				     vec3_make(i + 0.5, 0.5, 2.0 * chain));
			}
			before = body;
		}
	}
}

/* Doors that swing against their limits and bounce, between balls that hang: what bounces is solved again
 * without lanes. */
static void make_doors(struct world *world, struct rng *rng)
{
	for (uint32_t i = 0; i < 40; i++) {
		vec3 at = vec3_make(0.5, 0, 2.0 * i), pin = vec3_make(0, 0.3, 2.0 * i);
		bool door = i % 10 == 0;
		body_id body = joined_put(
			world,
			(struct joined_thing){ .shape = TEST_BOX,
					       .at = at,
					       .mass = 1 + rng_below(rng, 3),
					       .velocity = { door ? -1.2 : 0, door ? -2.0 : 0, 0 },
					       .spin = { 0, 0, door ? -4.0 : 0.5 } });
		joint_id joint =
			join(world, rng, door ? JOINT_REVOLUTE : JOINT_SPHERICAL, 0, body, pin);
		if (!door)
			continue;
		struct command axis = joined_axis(joint, 3);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.lower = -0.05;
		axis.joint_axis.upper = 0.05;
		axis.joint_axis.restitution = 0.8;
		test_do(world, &axis);
	}
}

/* A net too large for one factor, so that the joints that close its loops are loose; some of its joints have
 * springs, limits or motors besides. */
static void make_net(struct world *world, struct rng *rng)
{
	enum { SIDE = 28 };
	body_id at[SIDE][SIDE];
	for (uint32_t i = 0; i < SIDE; i++)
		for (uint32_t k = 0; k < SIDE; k++) {
			at[i][k] = cube(world, vec3_make(2 * i, 0, 2 * k), 1 + rng_below(rng, 3));
			if (i > 0)
				join(world, rng, JOINT_SPHERICAL, at[i - 1][k], at[i][k],
				     vec3_make(2 * i - 1.0, 0.1, 2 * k));
			if (k > 0)
				join(world, rng,
				     rng_below(rng, 4) == 0 ? JOINT_REVOLUTE : JOINT_SPHERICAL,
				     at[i][k - 1], at[i][k], vec3_make(2 * i, 0.1, 2 * k - 1.0));
		}
	join(world, rng, JOINT_SPHERICAL, 0, at[0][0], vec3_make(0, 0, 0));
	for (uint32_t i = 1; i < SIDE; i += 6) {
		joint_id joint = join(world, rng, JOINT_REVOLUTE, at[i][i], at[i][i - 1],
				      vec3_make(2 * i, 0.2, 2 * i - 1.0));
		struct command axis = joined_axis(joint, 3);
		axis.joint_axis.friction = 0.5;
		test_do(world, &axis);
	}
}

/* Limbs of two cubes on the ground, on whose arms heavy boxes fall: contacts and joints take turns. */
static void make_limbs(struct world *world, struct rng *rng)
{
	joined_put(world, (struct joined_thing){
				  .shape = TEST_PLANE, .meets = true, .status = BODY_STATIC });
	for (uint32_t i = 0; i < 36; i++) {
		double x = 5.0 * (i % 6), z = 5.0 * (i / 6);
		const vec3 places[] = { { x, 0.55, z }, { x + 1, 1.6, z }, { x + 1.2, 2.8, z } };
		body_id bodies[3];
		for (uint32_t k = 0; k < 3; k++)
			bodies[k] = joined_put(
				world, (struct joined_thing){ .shape = TEST_BOX,
							      .at = places[k],
							      .mass = k < 2 ? 1 : 20000,
							      .velocity = { 0, k < 2 ? 0 : -8, 0 },
							      .meets = true });
		join(world, rng, JOINT_FIXED, bodies[0], bodies[1], vec3_make(x + 0.5, 1.1, z));
	}
}

/* A hip with friction and limits of twist and swing. */
static void make_hip(struct world *world, struct rng *rng, body_id torso, body_id limb, vec3 at)
{
	joint_id joint = join(world, rng, JOINT_SPHERICAL, torso, limb, at);
	for (uint32_t axis = 3; axis < 5; axis++) {
		struct command command = joined_axis(joint, axis);
		command.joint_axis.mode = JOINT_LIMITED;
		command.joint_axis.lower = axis == 3 ? -0.1 : 0;
		command.joint_axis.upper = 0.15;
		command.joint_axis.friction = 3.0 * rng_below(rng, 3);
		test_do(world, &command);
	}
}

/* A knee with limits, and no motor or one of any kind. */
static void make_knee(struct world *world, struct rng *rng, body_id limb, body_id foot, vec3 at)
{
	joint_id joint = join(world, rng, JOINT_REVOLUTE, limb, foot, at);
	struct command axis = joined_axis(joint, 3);
	uint32_t kind = rng_below(rng, 5);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = -0.2;
	axis.joint_axis.upper = 0.1;
	axis.joint_axis.restitution = rng_below(rng, 4) == 0 ? 0.5 : 0;
	axis.joint_axis.friction = rng_below(rng, 2);
	axis.joint_axis.motor = kind == 0   ? JOINT_MOTOR_NONE
				: kind <= 2 ? JOINT_MOTOR_VELOCITY
					    : JOINT_MOTOR_POSITION;
	axis.joint_axis.target = 0.3;
	axis.joint_axis.motor_limit = kind % 2 == 0 ? 20 : 0;
	axis.joint_axis.motor_stiffness = kind == 4 && rng_below(rng, 2) == 0 ? 50 : 0;
	test_do(world, &axis);
}

/* A torso and three legs; `loop`: a joint between two feet closes a loop. */
static void make_creature(struct world *world, struct rng *rng, vec3 middle, bool meets, bool loop)
{
	enum { LEGS = 3 };
	struct joined_thing part = { .shape = TEST_BOX,
				     .at = middle,
				     .mass = 4,
				     .velocity = { 0.5, -4, 0 },
				     .meets = meets };
	body_id torso = joined_put(world, part), feet[LEGS];
	for (uint32_t leg = 0; leg < LEGS; leg++) {
		double turn = TWO_PI * leg / LEGS;
		vec3 way = vec3_make(cos(turn), 0.1, sin(turn));
		part.mass = 1 + rng_below(rng, 3);
		part.at = vec3_mul_add(middle, way, 1.3);
		body_id limb = joined_put(world, part);
		part.at = vec3_mul_add(middle, way, 2.6);
		part.spin = meets ? vec3_zero() : vec3_make(3, -2, 5);
		feet[leg] = joined_put(world, part);
		make_hip(world, rng, torso, limb, vec3_mul_add(middle, way, 0.65));
		make_knee(world, rng, limb, feet[leg], vec3_mul_add(middle, way, 1.95));
	}
	if (loop)
		join(world, rng, JOINT_SPHERICAL, feet[0], feet[1],
		     vec3_add(middle, vec3_make(0.6, 0, 1)));
}

/* Creatures fall on the ground: joints reach and leave limits, motors give all they can, friction slips. */
static void make_creatures(struct world *world, struct rng *rng)
{
	joined_put(world, (struct joined_thing){
				  .shape = TEST_PLANE, .meets = true, .status = BODY_STATIC });
	for (uint32_t i = 0; i < 6; i++)
		make_creature(world, rng, vec3_make(8.0 * i, 0.9, 0), true, i % 2 == 0);
}

static void (*const SCENES[])(struct world *, struct rng *) = { make_forest, make_net, make_limbs,
								make_doors, make_creatures };
enum { SCENE_COUNT = 5 };

static struct world *make_scene(uint32_t scene, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	struct world *world = joined_world("soft-step", 60, vec3_make(0, -9.81, 0));
	joined_set(world, "sleep.enabled", 0);
	SCENES[scene](world, &rng);
	return world;
}

/* ---- tests ---------------------------------------------------------------------------------- */

START_TEST(joints_have_one_hash_for_any_width_and_any_number_of_workers)
{
	struct world *worlds[WIDTHS + 1];
	struct parallel *threads = parallel_threads_create(WORKERS);
	/* The net is one group, which one worker solves. */
	uint32_t scene = (uint32_t)_i % SCENE_COUNT, ways = scene == 1 ? WIDTHS : WIDTHS + 1;
	struct reason why;
	for (uint32_t w = 0; w < ways; w++)
		worlds[w] = make_scene(scene, check_seed() + (uint64_t)_i);
	for (uint32_t tick = 0; tick < (scene == 1 ? 2 : 16); tick++)
		for (uint32_t w = 0; w < ways; w++) {
			processor_limit_lanes(LANES[MIN_OF(w, WIDTHS - 1u)]);
			const struct parallel *parallel = w == WIDTHS ? threads : &parallel_serial;
			ck_assert_int_eq(world_step(worlds[w], parallel, &why), STATUS_OK);
			ck_assert_msg(test_hash(worlds[w]) == test_hash(worlds[0]),
				      "way %u: tick %u differs", w, tick);
		}
	for (uint32_t w = 0; w < ways; w++) {
		test_check(worlds[w]);
		world_destroy(worlds[w]);
	}
	parallel_threads_destroy(threads);
	processor_limit_lanes(UINT32_MAX);
}
END_TEST

/* Without contacts and loops no locked row has a speed after a step, however often members changed in it:
 * what was not factored again is as if it were. */
START_TEST(joints_whose_members_change_leave_no_speed_of_locked_rows)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct world *world = joined_world("soft-step", 60, vec3_make(0, -9.81, 0));
	double worst = 0;
	processor_limit_lanes(LANES[_i]);
	for (uint32_t i = 0; i < 3; i++)
		make_creature(world, &rng, vec3_make(8.0 * i, 0, 0), false, false);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		worst = fmax(worst, world_stats(world).residual);
	}
	printf("# %g m/s\n", worst);
	/* Between passes velocities are floats: 6e-8 of some m/s and rad/s. */
	ck_assert_double_lt(worst, 2e-6);
	world_destroy(world);
	processor_limit_lanes(UINT32_MAX);
}
END_TEST

/* The joints of a step, made and planned; the step is then abandoned. */
static struct soft_wide plan_of(struct world *world)
{
	struct dynamics *dynamics = &world->dynamics;
	struct step step;
	struct reason why;
	dynamics->parallel = &parallel_serial;
	ck_assert_int_eq(step_begin(&step, dynamics, 1.0 / 60, true, NULL, &why), STATUS_OK);
	step_number(&step);
	struct soft_step soft = { .kernels = soft_kernels_choose(),
				  .step = &step,
				  .dynamics = dynamics,
				  .dt = step.dt,
				  .substeps = 4 };
	soft_prepare_bodies(&soft);
	ck_assert_int_eq(soft_joints_make(&soft, &why), STATUS_OK);
	struct soft_wide wide = soft.joints.wide;
	uint32_t used = 0;
	for (uint32_t i = 0; i < wide.block_count; i++) {
		const struct wide_block *block = &wide.blocks[i];
		used += block->lanes;
		for (uint32_t k = 0; k < block->lanes; k++)
			for (uint32_t m = k + 1; m < block->lanes; m++) {
				ck_assert(
					!(block->moves_a >> k & 1) ||
					(block->a[k] != block->a[m] && block->a[k] != block->b[m]));
				ck_assert(
					!(block->moves_b >> k & 1) ||
					(block->b[k] != block->a[m] && block->b[k] != block->b[m]));
			}
	}
	ck_assert_uint_ge(used, 3 * wide.block_count);
	step_abandon(&step);
	return wide;
}

START_TEST(trees_and_loose_joints_are_in_blocks_that_share_no_body)
{
	struct world *forest = make_scene(0, check_seed()), *net = make_scene(1, check_seed());
	struct soft_wide wide = plan_of(forest);
	ck_assert_uint_ge(wide.run_count, 1);
	wide = plan_of(net);
	ck_assert_uint_ge(wide.item_count, 1);
	processor_limit_lanes(1);
	wide = plan_of(forest);
	ck_assert_uint_eq(wide.block_count, 0);
	processor_limit_lanes(UINT32_MAX);
	world_destroy(forest);
	world_destroy(net);
}
END_TEST

/* A few chains are not worth it: their waves would leave most lanes empty. */
START_TEST(short_waves_stay_joint_after_joint)
{
	struct world *world = joined_world("soft-step", 60, vec3_make(0, -9.81, 0));
	body_id before = 0;
	for (uint32_t i = 0; i < 30; i++) {
		body_id body = cube(world, vec3_make(i + 0.5, 0, 0), 1);
		joined_join(world, JOINT_SPHERICAL, before, body, vec3_make(i, 0, 0),
			    quat_identity());
		before = body;
	}
	struct soft_wide wide = plan_of(world);
	ck_assert_uint_eq(wide.block_count, 0);
	ck_assert_uint_eq(wide.run_count, 0);
	world_destroy(world);
}
END_TEST

/* Bodies of a creature: torso, and three times limb and foot. */
enum { CREATURES = 4, CREATURE_BODIES = 7, SPRINGS = 2 };

/* A spring along x between two bodies, which frees all else. */
static void spring_between(struct world *world, body_id a, body_id b, vec3 at, double stiffness)
{
	joint_id joint = joined_join(world, JOINT_SIX_DOF, a, b, at, quat_identity());
	for (uint32_t k = 0; k < JOINT_AXES; k++) {
		struct command axis = joined_axis(joint, k);
		axis.joint_axis.mode = JOINT_FREE;
		axis.joint_axis.spring = k == 0 ? JOINT_SPRING_STIFFNESS : JOINT_SPRING_NONE;
		axis.joint_axis.stiffness = k == 0 ? stiffness : 0;
		test_do(world, &axis);
	}
}

/* Creatures of which some have two springs that are too stiff for a sub-step; the ids of all bodies.
 * `linked`: a spring of no force links each creature to the next, so none of them is a closed group. */
static struct world *make_closed(uint64_t seed, bool linked, body_id *bodies)
{
	struct rng rng = rng_seeded(seed);
	struct world *world = joined_world("soft-step", 60, vec3_make(0, -9.81, 0));
	body_id ground = joined_put(
		world,
		(struct joined_thing){ .shape = TEST_PLANE, .meets = true, .status = BODY_STATIC });
	joined_set(world, "sleep.enabled", 0);
	for (uint32_t i = 0; i < CREATURES; i++) {
		vec3 middle = vec3_make(8.0 * i, 0.9, 0);
		body_id first = ground + 1 + CREATURE_BODIES * i;
		make_creature(world, &rng, middle, true, i == 1);
		for (uint32_t k = 0; k < CREATURE_BODIES; k++)
			bodies[CREATURE_BODIES * i + k] = first + k;
		for (uint32_t k = 0; k < SPRINGS && i >= 2; k++)
			spring_between(world, first, first + 2 + 2 * k, middle, 1e6);
	}
	for (uint32_t i = 0; i + 1 < CREATURES && linked; i++)
		spring_between(world, bodies[CREATURE_BODIES * i],
			       bodies[CREATURE_BODIES * (i + 1)], vec3_make(8.0 * i + 4, 0.9, 0),
			       1e-290);
	return world;
}

/* A group that goes through the phases by itself moves as it does in phases over all, bit by bit. */
START_TEST(closed_groups_move_as_groups_that_are_not)
{
	body_id bodies[CREATURES * CREATURE_BODIES], same[CREATURES * CREATURE_BODIES];
	struct world *closed = make_closed(check_seed() + (uint64_t)_i, false, bodies);
	struct world *linked = make_closed(check_seed() + (uint64_t)_i, true, same);
	ck_assert_uint_eq(plan_of(closed).apart_count, 0);
	ck_assert_uint_eq(plan_of(linked).apart_count, world_stats(linked).joints);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(closed, 1);
		test_step(linked, 1);
		for (uint32_t i = 0; i < COUNT_OF(bodies); i++) {
			struct body_view a = test_body(closed, bodies[i]);
			struct body_view b = test_body(linked, same[i]);
			ck_assert_msg(vec3_distance(a.position, b.position) == 0 &&
					      vec3_distance(a.velocity, b.velocity) == 0,
				      "tick %u: body %u differs", tick, i);
		}
	}
	world_destroy(closed);
	world_destroy(linked);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/soft_wide");
	TCase *waves = tcase_create("lanes");
	tcase_add_loop_test(waves, joints_have_one_hash_for_any_width_and_any_number_of_workers, 0,
			    2 * SCENE_COUNT);
	tcase_add_loop_test(waves, joints_whose_members_change_leave_no_speed_of_locked_rows, 0,
			    WIDTHS);
	tcase_add_test(waves, trees_and_loose_joints_are_in_blocks_that_share_no_body);
	tcase_add_test(waves, short_waves_stay_joint_after_joint);
	tcase_add_loop_test(waves, closed_groups_move_as_groups_that_are_not, 0, 4);
	suite_add_tcase(suite, waves);
	return suite;
}

int main(void)
{
	return check_main(make);
}
