/* Emitters that bodies carry, and births that need room (ch1-3 P-22, P-36, P-37): places and velocities of
 * births, the momentum that they take from the body, what becomes of an emitter as its body goes; and
 * that workers, images and rollbacks change no bit. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static uint32_t read_all(const struct world *world)
{
	return world_particles(world, test_facts(world).id, 0, particles, MOST);
}

static struct command make_emitter(uint8_t kind, double speed)
{
	struct command create = test_system_command("jet");
	create.particles_create.emitter = kind;
	create.particles_create.rate = 9;
	create.particles_create.size = 0.02;
	create.particles_create.mass = 0.01;
	create.particles_create.speed = speed;
	create.particles_create.half = vec3_make(0.3, 0.2, 0.25);
	create.particles_create.mask = 0;
	return create;
}

static struct command mount(system_id system, body_id body)
{
	struct command command = test_command(COMMAND_PARTICLES_EMITTER);
	command.particles_emitter.system = system;
	command.particles_emitter.body = body;
	return command;
}

/* A box of 5 kg that turns and moves freely. */
static body_id spin_box(struct world *world, struct rng *rng)
{
	struct attachment item;
	struct command box = test_spawn_command(world, TEST_BOX, vec3_make(1, 2, 3), &item);
	double turn = rng_range(rng, -3, 3);
	box.spawn.mass = 5;
	box.spawn.rotation = quat_from_axis_angle(vec3_axis(2), turn);
	body_id body = test_do(world, &box);
	struct command move = test_command(COMMAND_SET_VELOCITY);
	move.set_velocity.body = body;
	move.set_velocity.velocity = vec3_make(rng_range(rng, -3, 3), 1, 2);
	move.set_velocity.angular_velocity = vec3_make(0.5, rng_range(rng, -4, 4), -1);
	test_do(world, &move);
	return body;
}

/* ---- places and velocities ------------------------------------------------------------------------- */

/* Whether a birth is where its kind of emitter makes it, in the emitter's axes, with its direction. */
static void expect_source(uint8_t kind, uint32_t index, vec3 at, vec3 direction)
{
	const vec3 half = { 0.3, 0.2, 0.25 };
	uint32_t axis = vec3_largest_axis(vec3_abs(direction));
	switch (kind) {
	case EMITTER_POINT:
		expect_near(at, vec3_zero(), 1e-12);
		expect_near(direction, vec3_axis(1), 1e-12);
		break;
	case EMITTER_PLANAR:
		expect_near(at, vec3_make(0.04 * (index % 3) - 0.04, 0, 0.04 * (index / 3) - 0.04),
			    1e-12);
		expect_near(direction, vec3_axis(1), 1e-12);
		break;
	case EMITTER_SPHERE:
		expect_near(at, vec3_scale(direction, half.x), 1e-12);
		break;
	default:
		ck_assert_double_eq_tol(fabs(vec3_get(at, axis)), vec3_get(half, axis), 1e-12);
		ck_assert_double_eq_tol(vec3_length(direction), 1, 1e-12);
	}
}

START_TEST(each_kind_of_emitter_moves_and_turns_with_its_body)
{
	static const uint8_t kinds[] = { EMITTER_POINT, EMITTER_PLANAR, EMITTER_BOX,
					 EMITTER_SPHERE };
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct rng rng = rng_seeded(check_seed());
	body_id body = spin_box(world, &rng);
	struct command create = make_emitter(kinds[_i], 4);
	const pose own =
		pose_make(vec3_make(0.1, 0.4, -0.2), quat_from_axis_angle(vec3_axis(0), 0.7));
	create.particles_create.position = own.position;
	create.particles_create.rotation = own.rotation;
	struct command put = mount(test_do(world, &create), body);
	put.particles_emitter.place = 1;
	put.particles_emitter.recoil = 0;
	test_do(world, &put);
	test_step(world, 7);
	struct body_view at = test_body(world, body);
	uint32_t count = read_all(world);
	ck_assert_uint_eq(count, 63);
	pose emitter = pose_mul(pose_make(at.position, at.rotation), own);
	for (uint32_t i = 54; i < count; i++) {
		vec3 arm = vec3_sub(particles[i].position, at.position);
		vec3 carried = vec3_add(at.velocity, vec3_cross(at.angular_velocity, arm));
		vec3 own_velocity = vec3_sub(particles[i].velocity, carried);
		expect_source(kinds[_i], i - 54, pose_inverse_point(emitter, particles[i].position),
			      vec3_scale(pose_inverse_vector(emitter, own_velocity), 0.25));
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* `here`: mounted and taken off again it is where it was; a body that goes leaves it where it is. */
START_TEST(an_emitter_stays_where_it_is_as_it_is_mounted_and_as_its_body_goes)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct rng rng = rng_seeded(check_seed());
	body_id body = spin_box(world, &rng);
	struct command create = make_emitter(EMITTER_POINT, 1);
	create.particles_create.position = vec3_make(2, 3, 4);
	system_id system = test_do(world, &create);
	struct command put = mount(system, body);
	test_do(world, &put);
	ck_assert_uint_eq(test_facts(world).mount, body);
	put.particles_emitter.body = 0;
	test_do(world, &put);
	ck_assert_uint_eq(test_facts(world).mount, 0);
	expect_near(test_facts(world).position, vec3_make(2, 3, 4), 1e-14);
	put.particles_emitter.body = body;
	test_do(world, &put);
	test_step(world, 30);
	struct body_view at = test_body(world, body);
	vec3 where = pose_point(pose_make(at.position, at.rotation), test_facts(world).position);
	struct command gone = test_command(COMMAND_REMOVE);
	gone.remove.body = body;
	test_do(world, &gone);
	ck_assert_uint_eq(test_facts(world).mount, 0);
	expect_near(test_facts(world).position, where, 1e-12);
	test_step(world, 1);
	ck_assert_uint_eq(test_facts(world).refused, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- recoil ---------------------------------------------------------------------------------------- */

/* Each birth takes mass × speed along its direction from the body, at its place: after n ticks the
 * body has the sum, but for the last tick's births, whose momentum it gets next. */
START_TEST(a_jet_pushes_its_body_by_the_momentum_of_its_births)
{
	const double share[] = { 1, 0, 0.5 };
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct attachment item;
	struct command box = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	box.spawn.mass = 5;
	body_id body = test_do(world, &box);
	struct command create = make_emitter(EMITTER_POINT, 20);
	create.particles_create.position = vec3_make(0, 0.6, 0);
	struct command put = mount(test_do(world, &create), body);
	put.particles_emitter.velocity = share[_i];
	test_do(world, &put);
	double expected = 0, births = 9 * 0.01 / 5;
	for (uint32_t tick = 1; tick <= 50; tick++) {
		test_step(world, 1);
		struct body_view at = test_body(world, body);
		expect_near(at.velocity, vec3_make(0, expected, 0), 1e-12);
		ck_assert_double_le(vec3_length(at.angular_velocity), 1e-14);
		expected -= births * (20 - (1 - share[_i]) * at.velocity.y);
	}
	ck_assert_double_lt(expected, -10);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Two equal jets on opposite sides turn a body, and the sum of angular momentum is 0. */
START_TEST(a_jet_beside_the_middle_turns_its_body)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_SPHERE, vec3_zero());
	for (uint32_t i = 0; i < 2; i++) {
		struct command create = make_emitter(EMITTER_POINT, 5);
		double side = i == 0 ? 1 : -1;
		create.particles_create.position = vec3_make(0.6 * side, 0, 0);
		if (i == 1)
			create.particles_create.rotation =
				quat_from_axis_angle(vec3_axis(0), 3.141592653589793);
		struct command put = mount(test_do(world, &create), body);
		test_do(world, &put);
	}
	test_step(world, 1);
	ck_assert(vec3_equal(test_body(world, body).angular_velocity, vec3_zero()));
	test_step(world, 1);
	struct body_view at = test_body(world, body);
	/* r × (−m v) = 0.6 × 9 × 0.01 × 5, twice, about −z. */
	double turned = 2 * 0.6 * 9 * 0.01 * 5, moment = 0.4 * at.mass * 0.25;
	ck_assert_double_le(vec3_length(at.velocity), 1e-12);
	expect_near(at.angular_velocity, vec3_make(0, 0, -turned / moment), 1e-9);
	world_destroy(world);
}
END_TEST

START_TEST(a_sleeping_body_wakes_by_its_jet_and_a_static_one_stays)
{
	struct world *world = test_world(false, "soft-step");
	body_id plane = test_ground(world);
	body_id box = test_spawn(world, TEST_BOX, vec3_make(0, 0.5, 0));
	test_step(world, 200);
	ck_assert(test_body(world, box).asleep);
	struct command create = make_emitter(EMITTER_POINT, 100);
	create.particles_create.mass = 1;
	create.particles_create.position = vec3_make(0, 0.5, 2);
	create.particles_create.rotation = quat_from_axis_angle(vec3_axis(0), 1.5707963267948966);
	system_id system = test_do(world, &create);
	struct command put = mount(system, plane);
	test_do(world, &put);
	test_step(world, 2);
	ck_assert(test_body(world, box).asleep);
	put.particles_emitter.body = box;
	test_do(world, &put);
	test_step(world, 2);
	ck_assert(!test_body(world, box).asleep);
	ck_assert_double_lt(test_body(world, box).velocity.z, -0.1);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- room (P-37) ------------------------------------------------------------------------------------ */

/* A grid of 5 × 5; a plate over two columns, or over all. */
START_TEST(births_under_a_plate_do_not_happen)
{
	static const double middles[] = { -0.35, 0 };
	static const uint32_t admitted[] = { 15, 0 };
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct attachment item;
	/* Boxes have half sizes of 0.5 m: from −0.85 to 0.15, or over all. */
	struct command plate = test_spawn_command(
		world, TEST_BOX, vec3_make(_i == 0 ? -0.65 : middles[1], 0, 0), &item);
	body_id body = test_do(world, &plate);
	struct command create = make_emitter(EMITTER_PLANAR, 0);
	create.particles_create.size = 0.1;
	create.particles_create.rate = 25;
	create.particles_create.half = vec3_make(0.5, 0, 0);
	create.particles_create.mask = UINT32_MAX;
	test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world), admitted[_i]);
	ck_assert_uint_eq(test_facts(world).refused, 25 - admitted[_i]);
	test_step(world, 1);
	ck_assert(vec3_equal(test_body(world, body).velocity, vec3_zero()));
	world_destroy(world);
}
END_TEST

START_TEST(a_second_release_finds_no_room_while_the_first_has_not_moved)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct command create = make_emitter(EMITTER_PLANAR, 0);
	create.particles_create.life = 0;
	system_id system = test_do(world, &create);
	struct command put = mount(system, 0);
	put.particles_emitter.room = 1;
	test_do(world, &put);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world), 9);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world), 9);
	ck_assert_uint_eq(test_facts(world).refused, 9);
	/* Without, they are born into each other. */
	put.particles_emitter.room = 0;
	test_do(world, &put);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world), 18);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Random births on a box, of random sizes, beside particles of another system: none overlaps any. */
START_TEST(births_with_room_never_overlap)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct command create = make_emitter(EMITTER_BOX, 0);
	create.particles_create.rate = 200;
	create.particles_create.size = 0.06;
	create.particles_create.size_deviation = 0.05;
	create.particles_create.seed = check_seed();
	create.particles_create.life = 0;
	system_id system = test_do(world, &create);
	struct command put = mount(system, 0);
	put.particles_emitter.room = 1;
	test_do(world, &put);
	create.particles_create.emitter = EMITTER_NONE;
	create.particles_create.size = 0.5;
	create.particles_create.size_deviation = 0;
	system_id other = test_do(world, &create);
	vec3 large = vec3_make(0.3, 0.2, 0);
	test_add_particle(world, other, large, vec3_zero());
	test_step(world, 3);
	uint32_t count = read_all(world);
	ck_assert_uint_gt(count, 50);
	ck_assert_uint_eq(test_facts(world).refused + count, 600);
	for (uint32_t a = 0; a < count; a++) {
		const struct particle_view *p = &particles[a];
		ck_assert_double_ge(vec3_distance(p->position, large), p->radius + 0.25);
		for (uint32_t b = 0; b < a; b++)
			ck_assert_double_ge(vec3_distance(p->position, particles[b].position),
					    p->radius + particles[b].radius);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- refusals and bits ------------------------------------------------------------------------------- */

START_TEST(what_cannot_be_is_refused)
{
	struct world *world = test_world(false, "free");
	struct command create = make_emitter(EMITTER_POINT, 1);
	system_id system = test_do(world, &create);
	struct command put = mount(system, 77);
	ck_assert_int_eq(test_try(world, &put), STATUS_UNKNOWN_BODY);
	put = mount(77, 0);
	ck_assert_int_eq(test_try(world, &put), STATUS_UNKNOWN_PARTICLES);
	put = mount(system, 0);
	put.particles_emitter.velocity = 1.5;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_emitter.velocity = NAN;
	ck_assert_int_eq(test_try(world, &put), STATUS_NOT_FINITE);
	put.particles_emitter.velocity = 1;
	put.particles_emitter.recoil = 2;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	world_destroy(world);
}
END_TEST

static struct world *make_rocket(void)
{
	struct world *world = test_world(false, "soft-step");
	struct rng rng = rng_seeded(check_seed());
	body_id body = spin_box(world, &rng);
	struct command create = make_emitter(EMITTER_BOX, 6);
	create.particles_create.size_deviation = 0.01;
	create.particles_create.spread = 0.5;
	create.particles_create.mask = 1;
	create.particles_create.life = 0.4;
	create.particles_create.half = vec3_all(0.55);
	create.particles_create.position = vec3_make(1, 2, 3);
	struct command put = mount(test_do(world, &create), body);
	put.particles_emitter.room = 1;
	test_do(world, &put);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_rocket, 60);
	ck_assert_uint_gt(test_facts(world).alive, 100);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_rocket();
	test_step(world, 20);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_emitters");
	TCase *all = tcase_create("particle_emitters");
	tcase_add_loop_test(all, each_kind_of_emitter_moves_and_turns_with_its_body, 0, 4);
	tcase_add_test(all, an_emitter_stays_where_it_is_as_it_is_mounted_and_as_its_body_goes);
	tcase_add_loop_test(all, a_jet_pushes_its_body_by_the_momentum_of_its_births, 0, 3);
	tcase_add_test(all, a_jet_beside_the_middle_turns_its_body);
	tcase_add_test(all, a_sleeping_body_wakes_by_its_jet_and_a_static_one_stays);
	tcase_add_loop_test(all, births_under_a_plate_do_not_happen, 0, 2);
	tcase_add_test(all, a_second_release_finds_no_room_while_the_first_has_not_moved);
	tcase_add_test(all, births_with_room_never_overlap);
	tcase_add_test(all, what_cannot_be_is_refused);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
