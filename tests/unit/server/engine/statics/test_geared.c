/* Stability of bodies on geared joints: accelerations, forces and margins that theory gives, and
 * agreement with the first step of method lcp. */
#include "server/base/rng.h"
#include "tests/lib/joined.h"

#include <math.h>

enum { GRAVITY = 10 };

static struct stability_motion motion_of(const struct stability_view *view, body_id body)
{
	for (uint32_t i = 0; i < view->bodies; i++)
		if (view->motions[i].body == body)
			return view->motions[i];
	ck_abort_msg("body %u is not in the answer", body);
}

static struct stability_joint joint_of(const struct stability_view *view, joint_id joint)
{
	for (uint32_t i = 0; i < view->joints; i++)
		if (view->loaded[i].joint == joint)
			return view->loaded[i];
	ck_abort_msg("joint %u is not in the answer", joint);
}

static void set_gear(struct world *world, joint_id joint, uint32_t axis, joint_id leader,
		     uint32_t leader_axis, double ratio)
{
	struct command command = test_command(COMMAND_JOINT_GEAR);
	command.joint_gear = (struct command_JOINT_GEAR){ .joint = joint,
							  .axis = axis,
							  .leader = leader,
							  .leader_axis = leader_axis,
							  .ratio = ratio };
	test_do(world, &command);
}

/* ---- two levers -------------------------------------------------------------------------------- */

struct levers {
	struct world *world;
	body_id bodies[2];
	joint_id joints[2];
	double mass[2], arm[2], inertia[2]; /* kg, m, kg m² about the hinge */
};

/* Two cubes of 1 m on hinges about z, `arm` to the right of them; the second follows the first. */
static struct levers open_levers(const double mass[2], const double arm[2], double ratio)
{
	struct levers self = { .world = joined_world("lcp", 60, vec3_make(0, -GRAVITY, 0)) };
	for (uint32_t i = 0; i < 2; i++) {
		vec3 hinge = vec3_make(6.0 * i, 0, 0);
		self.mass[i] = mass[i];
		self.arm[i] = arm[i];
		self.inertia[i] = mass[i] * (1.0 / 6 + arm[i] * arm[i]);
		self.bodies[i] = joined_put(self.world,
					    (struct joined_thing){ .shape = TEST_BOX,
								   .mass = mass[i],
								   .at = { 6.0 * i + arm[i], 0, 0 },
								   .smooth = true });
		self.joints[i] = joined_join(self.world, JOINT_REVOLUTE, 0, self.bodies[i], hinge,
					     joined_about_z());
	}
	set_gear(self.world, self.joints[1], 3, self.joints[0], 3, ratio);
	return self;
}

static struct stability_query plain(void)
{
	return (struct stability_query){ .sides = 8, .direction = { 0, 1, 0 } };
}

/* N m: of the weight of a lever about its hinge. */
static double moment(const struct levers *self, uint32_t i)
{
	return -self->mass[i] * GRAVITY * self->arm[i];
}

/* A gear exerts λ on the follower and −ratio λ on the leader; m_l d_l = −r m_f d_f is balance. */
START_TEST(balanced_levers_stand)
{
	const double mass[2] = { 2, 3 }, arm[2] = { 1.5, 0.5 };
	struct levers self = open_levers(mass, arm, -2);
	struct stability_view view = test_stability(self.world, plain());
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_double_le(view.residual, 1e-11);
	double force = -moment(&self, 1);
	ASSERT_VEC3(joint_of(&view, self.joints[1]).torque, vec3_make(0, 0, force), 1e-9);
	ASSERT_VEC3(joint_of(&view, self.joints[0]).torque, vec3_make(0, 0, 2 * force), 1e-9);
	for (uint32_t i = 0; i < 2; i++)
		ASSERT_VEC3(joint_of(&view, self.joints[i]).force,
			    vec3_make(0, mass[i] * GRAVITY, 0), 1e-9);
	stability_view_release(&view);
	world_destroy(self.world);
}
END_TEST

/* (I_l + r² I_f) q'' = τ_l + r τ_f. */
START_TEST(unbalanced_levers_begin_to_turn)
{
	static const double RATIOS[] = { -2, 0.5, 3 };
	const double mass[2] = { 2, 3 }, arm[2] = { 1.2, 0.7 }, ratio = RATIOS[_i];
	struct levers self = open_levers(mass, arm, ratio);
	double turn = (moment(&self, 0) + ratio * moment(&self, 1)) /
		      (self.inertia[0] + ratio * ratio * self.inertia[1]);
	struct stability_view view = test_stability(self.world, plain());
	ck_assert_int_eq(view.verdict, STABILITY_FALLS);
	for (uint32_t i = 0; i < 2; i++) {
		double own = i == 0 ? turn : ratio * turn;
		struct stability_motion motion = motion_of(&view, self.bodies[i]);
		ASSERT_VEC3(motion.angular, vec3_make(0, 0, own), 1e-10);
		ASSERT_VEC3(motion.acceleration, vec3_make(0, own * arm[i], 0), 1e-10);
	}
	double force = self.inertia[1] * ratio * turn - moment(&self, 1);
	ASSERT_VEC3(joint_of(&view, self.joints[1]).torque, vec3_make(0, 0, force), 1e-9);
	ASSERT_VEC3(joint_of(&view, self.joints[0]).torque, vec3_make(0, 0, -ratio * force), 1e-9);
	stability_view_release(&view);
	world_destroy(self.world);
}
END_TEST

/* The leader is at its stop with the moment that is left over: a load on the follower lifts it at
 * exactly that moment over ratio and arm. */
START_TEST(a_load_lifts_the_other_lever_off_its_stop)
{
	const double mass[2] = { 4, 3 }, arm[2] = { 1.5, 0.5 }, ratio = -2;
	struct levers self = open_levers(mass, arm, ratio);
	struct command stop = joined_axis(self.joints[0], 3);
	stop.joint_axis.mode = JOINT_LIMITED;
	stop.joint_axis.lower = 0;
	stop.joint_axis.upper = 1;
	test_do(self.world, &stop);
	struct stability_query query = plain();
	query.margin = STABILITY_LOAD;
	query.body = self.bodies[1];
	double left = moment(&self, 0) + ratio * moment(&self, 1);
	double load = left / (ratio * arm[1]);
	struct stability_view view = test_stability(self.world, query);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_double_gt(load, 1);
	ck_assert_double_eq_tol(view.lower, load, 2e-6 * load);
	ck_assert_double_eq_tol(view.upper, load, 2e-6 * load);
	stability_view_release(&view);
	world_destroy(self.world);
}
END_TEST

/* A follower on a body that does not move locks its leader. */
START_TEST(a_gear_to_what_is_fixed_holds)
{
	struct world *world = joined_world("lcp", 60, vec3_make(0, -GRAVITY, 0));
	body_id ends[2];
	joint_id joints[2];
	for (uint32_t i = 0; i < 2; i++) {
		ends[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								   .mass = 2,
								   .at = { 4.0 * i, 0, 0 },
								   .smooth = true });
		joints[i] = joined_join(world, JOINT_REVOLUTE, 0, ends[i],
					vec3_make(4.0 * i - 1, 0, 0), joined_about_z());
	}
	set_gear(world, joints[1], 3, joints[0], 3, 4);
	struct command fix = test_command(COMMAND_SET_STATUS);
	fix.set_status.body = ends[1];
	fix.set_status.status = BODY_STATIC;
	test_do(world, &fix);
	struct stability_view view = test_stability(world, plain());
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_uint_eq(view.joints, 1);
	ASSERT_VEC3(joint_of(&view, joints[0]).torque, vec3_make(0, 0, 2 * GRAVITY), 1e-9);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

/* In a planar world rows of a hinge about x and y move nothing but by their rounding. */
START_TEST(hinges_of_planar_worlds_turn)
{
	struct world_options options = test_options(true, "lcp");
	options.gravity = vec3_make(0, -GRAVITY, 0);
	struct world *world = test_world_of(&options);
	body_id body = joined_put(world, (struct joined_thing){ .shape = TEST_POLYGON,
								.mass = 2,
								.at = { 1, 0, 0 },
								.smooth = true });
	joint_id joint = joined_join(world, JOINT_REVOLUTE, 0, body, vec3_zero(), joined_about_z());
	struct stability_view view = test_stability(world, plain());
	double turn = -GRAVITY / (1.0 / 6 + 1);
	ck_assert_int_eq(view.verdict, STABILITY_FALLS);
	ASSERT_VEC3(motion_of(&view, body).angular, vec3_make(0, 0, turn), 1e-10);
	ASSERT_VEC3(joint_of(&view, joint).torque, vec3_zero(), 1e-9);
	ASSERT_VEC3(joint_of(&view, joint).force, vec3_make(0, 2 * (GRAVITY + turn), 0), 1e-9);
	ck_assert_uint_eq(view.known, FORCE_UNIQUE);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

/* Three levers geared in a ring: gears may press against each other by any load, of which no joint
 * has a part. They turn as one if the ratios agree, and hold if they do not. */
START_TEST(a_ring_of_gears_has_unique_joints)
{
	const double mass[2] = { 2, 3 }, arm[2] = { 1, 1 };
	struct levers self = open_levers(mass, arm, 1);
	vec3 hinge = vec3_make(12, 0, 0);
	body_id third = joined_put(self.world, (struct joined_thing){ .shape = TEST_BOX,
								      .mass = 1,
								      .at = { 13, 0, 0 },
								      .smooth = true });
	joint_id joint = joined_join(self.world, JOINT_REVOLUTE, 0, third, hinge, joined_about_z());
	set_gear(self.world, joint, 3, self.joints[1], 3, 1);
	set_gear(self.world, self.joints[0], 3, joint, 3, _i == 0 ? 1 : 2);
	struct stability_view view = test_stability(self.world, plain());
	ck_assert_int_eq(view.verdict, _i == 0 ? STABILITY_FALLS : STABILITY_STANDS);
	ck_assert_uint_eq(view.known, FORCE_UNIQUE);
	double turn = _i == 0 ? -GRAVITY / (7.0 / 6) : 0;
	ASSERT_VEC3(motion_of(&view, third).angular, vec3_make(0, 0, turn), 1e-10);
	if (_i == 0)
		ASSERT_VEC3(joint_of(&view, joint).torque, vec3_zero(), 1e-9);
	stability_view_release(&view);
	world_destroy(self.world);
}
END_TEST

/* ---- agreement with lcp ------------------------------------------------------------------------ */

enum { CHAINS = 3, LINKS = 3, RATE = 5000 };

static double draw(struct rng *rng, double low, double high)
{
	return low + (high - low) * rng_double(rng);
}

/* Hanging chains of hinges, slides and screws in random directions, of which axes follow axes of others
 * and of their own; ids of bodies go to `bodies`. */
static struct world *open_mechanism(struct rng *rng, uint32_t rate, body_id *bodies)
{
	struct world *world = joined_world("lcp", rate, vec3_make(1, -GRAVITY, 2));
	static const enum joint_type TYPES[] = { JOINT_REVOLUTE, JOINT_CYLINDRICAL,
						 JOINT_PRISMATIC };
	static const uint32_t AXES[] = { 3, 0, 0 };
	joint_id joints[CHAINS][LINKS];
	uint32_t axes[CHAINS][LINKS];
	for (uint32_t c = 0; c < CHAINS; c++)
		for (uint32_t i = 0; i < LINKS; i++) {
			uint32_t kind = rng_below(rng, COUNT_OF(TYPES)), at = c * LINKS + i;
			double mass = draw(rng, 1, 4), y = draw(rng, -0.3, 0.3);
			quat frame = quat_from_axis_angle(vec3_make(1, y, 0.5), draw(rng, 0, 6));
			bodies[at] = joined_put(
				world, (struct joined_thing){ .shape = TEST_BOX,
							      .mass = mass,
							      .at = { 5.0 * c, -1.4 * i, y },
							      .smooth = true });
			joints[c][i] = joined_join(world, TYPES[kind], i == 0 ? 0 : bodies[at - 1],
						   bodies[at], vec3_make(5.0 * c, 0.7 - 1.4 * i, 0),
						   frame);
			axes[c][i] = AXES[kind];
			if (TYPES[kind] == JOINT_CYLINDRICAL)
				set_gear(world, joints[c][i], 3, joints[c][i], 0, 2);
		}
	for (uint32_t c = 1; c < CHAINS; c++) {
		uint32_t i = rng_below(rng, LINKS);
		uint32_t k = rng_below(rng, LINKS);
		double ratio = draw(rng, -3, 3);
		set_gear(world, joints[c][i], axes[c][i], joints[c - 1][k], axes[c - 1][k], ratio);
	}
	return world;
}

/* The acceleration over a tick of length 0, from the speeds after one of 1 / RATE and one of half of it. */
static vec3 extrapolate(vec3 coarse, vec3 fine)
{
	return vec3_scale(vec3_sub(vec3_scale(fine, 8), coarse), RATE / 3.0);
}

/* What lcp does in its first tick has an error of the order of the tick's square, because the joints bend
 * within it; two ticks tell it. */
START_TEST(geared_mechanisms_begin_as_under_lcp)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 20; round++) {
		body_id bodies[CHAINS * LINKS];
		struct rng again = rng;
		struct world *coarse = open_mechanism(&rng, RATE, bodies);
		struct world *fine = open_mechanism(&again, 2 * RATE, bodies);
		struct stability_view view = test_stability(coarse, plain());
		ck_assert_int_eq(view.verdict, STABILITY_FALLS);
		test_step(coarse, 1);
		test_step(fine, 1);
		for (uint32_t i = 0; i < CHAINS * LINKS; i++) {
			struct body_view a = test_body(coarse, bodies[i]);
			struct body_view b = test_body(fine, bodies[i]);
			struct stability_motion motion = motion_of(&view, bodies[i]);
			ASSERT_VEC3(motion.acceleration, extrapolate(a.velocity, b.velocity), 1e-9);
			ASSERT_VEC3(motion.angular,
				    extrapolate(a.angular_velocity, b.angular_velocity), 1e-9);
		}
		stability_view_release(&view);
		world_destroy(coarse);
		world_destroy(fine);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("geared");
	TCase *tcase = tcase_create("geared");
	tcase_add_test(tcase, balanced_levers_stand);
	tcase_add_loop_test(tcase, unbalanced_levers_begin_to_turn, 0, 3);
	tcase_add_test(tcase, a_load_lifts_the_other_lever_off_its_stop);
	tcase_add_test(tcase, a_gear_to_what_is_fixed_holds);
	tcase_add_loop_test(tcase, a_ring_of_gears_has_unique_joints, 0, 2);
	tcase_add_test(tcase, hinges_of_planar_worlds_turn);
	tcase_add_test(tcase, geared_mechanisms_begin_as_under_lcp);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
