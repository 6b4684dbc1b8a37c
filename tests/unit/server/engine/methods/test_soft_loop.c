/* Loops of joints under soft-step: bridges with loads, loops that cannot close, dependent rows, ropes and
 * nets, for any order of joints and any number of workers. */
#include <math.h>
#include <stdio.h>

#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/stage.h"

#define GRAVITY 9.81
/* m², of the catalogue's cube about its centre. */
#define BOX_GYRATION (1.0 / 6)

static struct world *world;

static void open_world(void)
{
	world = joined_world("soft-step", 60, vec3_make(0, -GRAVITY, 0));
	joined_set(world, "sleep.enabled", 0);
}

static void close_world(void)
{
	test_check(world);
	world_destroy(world);
	world = NULL;
}

static body_id cube(vec3 at, double mass)
{
	return joined_put(world,
			  (struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = mass });
}

static double worst_gap(joint_id first, uint32_t count)
{
	double worst = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct joint_view at = joined_view(world, first + i);
		worst = fmax(worst, vec3_distance(at.anchor_a, at.anchor_b));
	}
	return worst;
}

static double fastest(body_id first, uint32_t count)
{
	double most = 0;
	for (uint32_t i = 0; i < count; i++)
		most = fmax(most, vec3_length(test_body(world, first + i).velocity));
	return most;
}

static double energy(body_id first, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view at = test_body(world, first + i);
		sum += at.mass * (0.5 * vec3_length_squared(at.velocity) +
				  0.5 * BOX_GYRATION * vec3_length_squared(at.angular_velocity) +
				  GRAVITY * at.position.y);
	}
	return sum;
}

/* ---- bridges ---------------------------------------------------------------------------------- */

enum { LINKS = 20 };

struct bridge {
	body_id bodies;
	joint_id joints;
};

/* Cubes of 1 kg in a row along x, the middle one with a load, jointed to each other and to the bodies
 * at both ends. */
static struct bridge build_bridge(uint32_t count, double load, const body_id ends[2])
{
	struct bridge bridge = { 0, 0 };
	for (uint32_t i = 0; i < count; i++) {
		body_id body = cube(vec3_make(i + 0.5, 0, 0), i == count / 2 ? load : 1);
		bridge.bodies = i == 0 ? body : bridge.bodies;
	}
	for (uint32_t i = 0; i <= count; i++) {
		body_id a = i == 0 ? ends[0] : bridge.bodies + i - 1;
		body_id b = i == count ? ends[1] : bridge.bodies + i;
		joint_id joint = joined_join(world, JOINT_SPHERICAL, a, b, vec3_make(i, 0, 0),
					     quat_identity());
		bridge.joints = i == 0 ? joint : bridge.joints;
	}
	return bridge;
}

/* A straight chain between two walls can only sag. Its middle carries the mass of a link (loop 0) or a
 * hundred times it (loop 1). The energy never exceeds that of the start. */
START_TEST(a_taut_bridge_keeps_its_joints_closed)
{
	static const body_id walls[2];
	open_world();
	struct bridge bridge = build_bridge(LINKS, _i == 0 ? 1 : 100, walls);
	double worst = 0, start = energy(bridge.bodies, LINKS);
	for (uint32_t tick = 0; tick < 1200; tick++) {
		test_step(world, 1);
		worst = fmax(worst, worst_gap(bridge.joints, LINKS + 1));
		ck_assert_double_le(energy(bridge.bodies, LINKS), start);
	}
	double sag = -test_body(world, bridge.bodies + LINKS / 2).position.y;
	printf("# gap %g, at the end %g, sag %g\n", worst, worst_gap(bridge.joints, LINKS + 1),
	       sag);
	ck_assert_double_lt(worst, _i == 0 ? 2e-4 : 1e-3);
	ck_assert_double_lt(sag, 0.3);
	close_world();
}
END_TEST

/* One wall moves away by `far`, so the chain is too short. Its joints open evenly, the links stay slower
 * than 1 m/s, and the step reports fallbacks. When the wall returns, the joints close again. */
START_TEST(joints_of_a_too_short_chain_open_without_shaking)
{
	static const double FAR[] = { 0.01, 0.1, 1 };
	uint32_t links = _i < 3 ? 2 : LINKS;
	double far = FAR[_i % 3], most = 0;
	open_world();
	body_id wall = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								.at = vec3_make(links + 1, 0, 0),
								.status = BODY_ANIMATED });
	struct bridge bridge = build_bridge(links, 1, (body_id[2]){ 0, wall });
	struct command move = test_command(COMMAND_SET_POSE);
	move.set_pose.body = wall;
	move.set_pose.position = vec3_make(links + 1 + far, 0, 0);
	move.set_pose.rotation = quat_identity();
	test_do(world, &move);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		most = fmax(most, fastest(bridge.bodies, links));
	}
	double gap = worst_gap(bridge.joints, links + 1);
	printf("# %u links, too short by %g: fastest %g, gap %g\n", links, far, most, gap);
	ck_assert_double_lt(most, 1);
	ck_assert_double_ge(gap, far / (links + 1) - 1e-3);
	ck_assert_double_le(gap, far);
	ck_assert_uint_gt(world_stats(world).fallbacks_total, 0);
	move.set_pose.position = vec3_make(links + 1, 0, 0);
	test_do(world, &move);
	test_step(world, 300);
	ck_assert_double_lt(worst_gap(bridge.joints, links + 1), 1e-3);
	close_world();
}
END_TEST

/* ---- dependent rows --------------------------------------------------------------------------- */

/* The hinges of a door have ten rows, five of them dependent: each carries half of its weight. */
START_TEST(two_hinges_share_the_load)
{
	open_world();
	body_id door = cube(vec3_make(0.5, 0, 0), 3);
	quat up = quat_between(vec3_axis(0), vec3_axis(1));
	joint_id low = joined_join(world, JOINT_REVOLUTE, 0, door, vec3_make(0, -0.4, 0), up);
	joint_id high = joined_join(world, JOINT_REVOLUTE, 0, door, vec3_make(0, 0.4, 0), up);
	test_step(world, 60);
	struct joint_view one = joined_view(world, low), other = joined_view(world, high);
	ck_assert_double_eq_tol(one.force.y, 1.5 * GRAVITY, 1e-3);
	ck_assert_double_eq_tol(other.force.y, 1.5 * GRAVITY, 1e-3);
	ck_assert_double_lt(world_stats(world).joint_error, 1e-4);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	close_world();
}
END_TEST

/* ---- ladders ---------------------------------------------------------------------------------- */

/* Planks between two walls, two joints a gap. `backwards` reverses the order in which joints are made. */
static struct bridge build_ladder(uint32_t count, bool backwards)
{
	struct bridge ladder = { 0, 0 };
	for (uint32_t i = 0; i < count; i++) {
		body_id body = cube(vec3_make(i + 0.5, 0, 0), 1);
		ladder.bodies = i == 0 ? body : ladder.bodies;
	}
	for (uint32_t k = 0; k < 2 * (count + 1); k++) {
		uint32_t at = backwards ? 2 * count + 1 - k : k, i = at / 2;
		vec3 point = vec3_make(i, 0, at % 2 == 0 ? -0.4 : 0.4);
		body_id a = i == 0 ? 0 : ladder.bodies + i - 1;
		body_id b = i == count ? 0 : ladder.bodies + i;
		joint_id joint = joined_join(world, JOINT_SPHERICAL, a, b, point, quat_identity());
		ladder.joints = k == 0 ? joint : ladder.joints;
	}
	return ladder;
}

START_TEST(a_ladder_rests_alike_for_any_order_of_joints)
{
	vec3 at[LINKS];
	for (uint32_t backwards = 0; backwards < 2; backwards++) {
		open_world();
		struct bridge ladder = build_ladder(LINKS, backwards == 1);
		test_step(world, 60);
		ck_assert_double_lt(worst_gap(ladder.joints, 2 * (LINKS + 1)), 2e-4);
		ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
		for (uint32_t i = 0; i < LINKS; i++) {
			vec3 place = test_body(world, ladder.bodies + i).position;
			if (backwards == 1)
				ASSERT_VEC3(place, at[i], 1e-6);
			at[i] = place;
		}
		close_world();
	}
}
END_TEST

/* ---- ropes ------------------------------------------------------------------------------------ */

/* Planks on ropes of at most 0.2 m, which pull and do not push. */
START_TEST(ropes_pull_and_do_not_push)
{
	open_world();
	body_id first = 0;
	joint_id ropes = 0;
	for (uint32_t i = 0; i <= LINKS; i++) {
		body_id body = i == LINKS ? 0 : cube(vec3_make(1.1 * i + 0.5, 0, 0), 1);
		first = i == 0 ? body : first;
		struct command rope = test_command(COMMAND_JOINT_CREATE);
		rope.joint_create.type = JOINT_DISTANCE;
		rope.joint_create.body_a = i == 0 ? 0 : body == 0 ? first + i - 1 : body - 1;
		rope.joint_create.body_b = body;
		rope.joint_create.place = 1;
		rope.joint_create.point_a = vec3_make(1.1 * i - 0.1, 0, 0);
		rope.joint_create.point_b = vec3_make(1.1 * i, 0, 0);
		joint_id joint = test_do(world, &rope);
		ropes = i == 0 ? joint : ropes;
		struct command limit = joined_axis(joint, 0);
		limit.joint_axis.mode = JOINT_LIMITED;
		limit.joint_axis.upper = 0.2;
		test_do(world, &limit);
	}
	double worst = 0, start = energy(first, LINKS);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		ck_assert_double_le(energy(first, LINKS), start + 1e-9);
		for (uint32_t i = 0; i <= LINKS; i++) {
			struct joint_view rope = joined_view(world, ropes + i);
			vec3 along = vec3_sub(rope.anchor_b, rope.anchor_a);
			worst = fmax(worst, vec3_length(along) - 0.2);
			ck_assert_double_le(vec3_dot(rope.force, along), 1e-9);
		}
	}
	printf("# ropes longer by %g\n", worst);
	ck_assert_double_lt(worst, 0.01);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	close_world();
}
END_TEST

/* ---- nets ------------------------------------------------------------------------------------- */

/* Cubes of size × size, each on its neighbours to the right and behind, the corners on the world. */
static struct bridge build_net(uint32_t size)
{
	struct bridge net = { 0, 0 };
	for (uint32_t i = 0; i < size * size; i++) {
		body_id body = cube(vec3_make(i % size, 0, i / size), 1);
		net.bodies = i == 0 ? body : net.bodies;
	}
	for (uint32_t i = 0; i < size * size; i++) {
		uint32_t x = i % size, z = i / size;
		bool corner = (x == 0 || x == size - 1) && (z == 0 || z == size - 1);
		body_id body = net.bodies + i;
		joint_id joint = 0;
		if (corner)
			joint = joined_join(world, JOINT_SPHERICAL, 0, body, vec3_make(x, 0, z),
					    quat_identity());
		net.joints = i == 0 ? joint : net.joints;
		if (x + 1 < size)
			joined_join(world, JOINT_SPHERICAL, body, body + 1,
				    vec3_make(x + 0.5, 0, z), quat_identity());
		if (z + 1 < size)
			joined_join(world, JOINT_SPHERICAL, body, body + size,
				    vec3_make(x, 0, z + 0.5), quat_identity());
	}
	return net;
}

/* A net whose factorization has too much fill-in is solved by sweeps, which the step counts. The net is
 * softer then, and gains no energy. */
START_TEST(a_net_gains_no_energy)
{
	uint32_t size = _i == 0 ? 6 : 40;
	open_world();
	struct bridge net = build_net(size);
	double start = energy(net.bodies, size * size), worst = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_double_le(energy(net.bodies, size * size), start);
		worst = fmax(worst, world_stats(world).joint_error);
	}
	printf("# %u by %u: gap %g, fallbacks %llu\n", size, size, worst,
	       (unsigned long long)world_stats(world).fallbacks_total);
	ck_assert_double_lt(worst, _i == 0 ? 1e-3 : 2);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, _i == 0 ? 0 : 60);
	close_world();
}
END_TEST

/* ---- workers ---------------------------------------------------------------------------------- */

static uint64_t hash_after(const struct parallel *parallel)
{
	struct reason why = { 0 };
	open_world();
	for (uint32_t i = 0; i < 12; i++)
		build_ladder(3 + i, i % 2 == 1);
	for (uint32_t tick = 0; tick < 100; tick++)
		ck_assert_uint_eq(world_step(world, parallel, &why), STATUS_OK);
	uint64_t hash = test_hash(world);
	close_world();
	return hash;
}

START_TEST(the_state_is_the_same_for_any_number_of_workers)
{
	struct parallel *four = parallel_threads_create(4);
	ck_assert_uint_eq(hash_after(&parallel_serial), hash_after(four));
	parallel_threads_destroy(four);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_loop");
	TCase *tcase = tcase_create("loops");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, a_taut_bridge_keeps_its_joints_closed, 0, 2);
	tcase_add_loop_test(tcase, joints_of_a_too_short_chain_open_without_shaking, 0, 6);
	tcase_add_test(tcase, two_hinges_share_the_load);
	tcase_add_test(tcase, a_ladder_rests_alike_for_any_order_of_joints);
	tcase_add_test(tcase, ropes_pull_and_do_not_push);
	tcase_add_loop_test(tcase, a_net_gains_no_energy, 0, 2);
	tcase_add_test(tcase, the_state_is_the_same_for_any_number_of_workers);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
