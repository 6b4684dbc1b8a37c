/* Linked particles of two systems that meet each other: a block of jelly that falls on a pinned
 * cloth and a rope thrown over one never pass through it; momentum and energy; ground below;
 * systems that are removed meanwhile; and that the order of naming, workers, images and
 * rollbacks change no bit. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 1000, SIDE = 13 };
static struct particle_view cloth[MOST], other[MOST];

static system_id make_system(struct world *world)
{
	struct command command = test_system_command("cloth");
	command.particles_create.size = 0.04;
	command.particles_create.mass = 2e-3;
	command.particles_create.mask = 1;
	return test_do(world, &command);
}

static struct command lattice(system_id system, uint32_t columns, uint32_t rows, uint32_t layers)
{
	struct command command = test_command(COMMAND_PARTICLES_LATTICE);
	command.particles_lattice.system = system;
	command.particles_lattice.columns = columns;
	command.particles_lattice.rows = rows;
	command.particles_lattice.layers = layers;
	command.particles_lattice.spacing = 0.1;
	command.particles_lattice.links = LATTICE_EDGES | LATTICE_DIAGONALS;
	command.particles_lattice.substeps = 16;
	return command;
}

static struct command meeting(system_id system, system_id with, double thickness, double friction)
{
	struct command command = test_command(COMMAND_PARTICLES_MEET);
	command.particles_meet.system = system;
	command.particles_meet.other = with;
	command.particles_meet.thickness = thickness;
	command.particles_meet.friction = friction;
	return command;
}

/* A level cloth of SIDE × SIDE about the origin, whose rim is pinned: system 1. */
static void make_cloth(struct world *world)
{
	system_id system = make_system(world);
	struct command sheet = lattice(system, SIDE, SIDE, 1);
	sheet.particles_lattice.position = vec3_make(-0.6, 0, 0.6);
	sheet.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
	test_do(world, &sheet);
	struct command pin = test_command(COMMAND_PARTICLES_PIN);
	pin.particles_pin.system = system;
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		if (i % SIDE == 0 || i % SIDE == SIDE - 1 || i / SIDE == 0 ||
		    i / SIDE == SIDE - 1) {
			pin.particles_pin.particle = i + 1;
			test_do(world, &pin);
		}
}

/* How many links of the other system pass through cells of the cloth. */
static uint32_t crossings(const struct world *world, system_id system)
{
	static struct link_view links[4 * MOST];
	uint32_t found = 0, count = world_links(world, system, 0, links, 4 * MOST);
	ck_assert_uint_eq(world_particles(world, 1, 0, cloth, MOST), SIDE * SIDE);
	ck_assert_uint_gt(world_particles(world, system, 0, other, MOST), 3);
	for (uint32_t i = 0; i < count; i++) {
		vec3 from = other[links[i].serial[0] - 1].position;
		vec3 to = other[links[i].serial[1] - 1].position;
		if (vec3_distance(from, to) > 0.13) /* edges only */
			continue;
		for (uint32_t cell = 0; cell < (SIDE - 1) * (SIDE - 1); cell++) {
			const struct particle_view *p =
				&cloth[cell / (SIDE - 1) * SIDE + cell % (SIDE - 1)];
			const vec3 one[3] = { p[0].position, p[1].position, p[SIDE].position };
			const vec3 two[3] = { p[SIDE + 1].position, p[1].position,
					      p[SIDE].position };
			if (vec3_distance(from, p->position) < 0.4)
				found += oracle_segment_crosses(from, to, one) ||
					 oracle_segment_crosses(from, to, two);
		}
	}
	return found;
}

/* System 2, above the cloth: 0 a block of jelly, 1 a rope along x, aslant; thrown down. */
static void make_other(struct world *world, int kind)
{
	struct rng rng = rng_seeded(check_seed());
	system_id system = make_system(world);
	double turn = rng_range(&rng, -1, 1);
	struct command block = kind == 0 ? lattice(system, 4, 4, 4) : lattice(system, 15, 1, 1);
	if (kind == 0)
		block.particles_lattice.links |= LATTICE_VOLUMES;
	block.particles_lattice.position =
		kind == 0 ? vec3_make(-0.1, 0.25, -0.12) : vec3_make(-0.5, 0.25, -0.1);
	block.particles_lattice.rotation = quat_from_axis_angle(
		vec3_normalize(vec3_make(turn, 1, 0.2)), kind == 0 ? turn : 0.3 * turn);
	test_do(world, &block);
}

/* The whole of system 2 stays above, or passes where nothing meets. */
START_TEST(nothing_passes_a_pinned_cloth)
{
	struct world *world = test_world(false, "soft-step");
	make_cloth(world);
	make_other(world, _i % 2);
	bool meets = _i < 4;
	double most = 0, height = 0;
	if (meets) {
		struct command meet = meeting(_i < 2 ? 1 : 2, _i < 2 ? 2 : 1, 0.1, 0.3);
		test_do(world, &meet);
	}
	for (uint32_t tick = 0; tick < 70; tick++) {
		test_step(world, 1);
		if (meets && tick % 5 == 4)
			ck_assert_uint_eq(crossings(world, 2), 0);
		if (meets)
			most = fmax(most, test_facts_of(world, 2).meets[0].overlap);
	}
	uint32_t count = world_particles(world, 2, 0, other, MOST);
	for (uint32_t i = 0; i < count; i++)
		height += other[i].position.y / count;
	if (!meets)
		ck_assert_double_lt(height, -1.5);
	else
		ck_assert_double_gt(height, -0.6);
	ck_assert_double_lt(most, 0.13);
	ck_assert_uint_eq(test_facts_of(world, 1).crowded, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* With a limit of stretch in both systems, which acts before they meet in each sub-step: nothing
 * passes, and no link is longer than its limit by more than what meetings take back, half of it;
 * without limits links are twice as long. */
START_TEST(limits_of_stretch_and_meetings_hold_together)
{
	static const double limits[] = { 0.01, 0.01, 0 };
	struct world *world = test_world(false, "soft-step");
	double most = 0, stretch = 0;
	make_cloth(world);
	make_other(world, _i % 2);
	struct command meet = meeting(1, 2, 0.1, 0.3);
	test_do(world, &meet);
	test_limit(world, 1, limits[_i]);
	test_limit(world, 2, limits[_i]);
	for (uint32_t tick = 0; tick < 70; tick++) {
		test_step(world, 1);
		if (tick % 5 == 4)
			ck_assert_uint_eq(crossings(world, 2), 0);
		most = fmax(most, test_facts_of(world, 2).meets[0].overlap);
		stretch = fmax(stretch, test_facts_of(world, 1).stretch);
		stretch = fmax(stretch, test_facts_of(world, 2).stretch);
	}
	ck_assert_double_lt(most, 0.13);
	if (limits[_i] > 0)
		ck_assert_double_lt(stretch, 0.015);
	else
		ck_assert_double_gt(stretch, 0.02);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- momentum -------------------------------------------------------------------------------- */

static vec3 momentum(const struct world *world)
{
	vec3 sum = vec3_zero();
	for (system_id system = 1; system <= 2; system++) {
		uint32_t count = world_particles(world, system, 0, other, MOST);
		for (uint32_t i = 0; i < count; i++)
			sum = vec3_mul_add(sum, other[i].velocity, other[i].mass);
	}
	return sum;
}

static double energy(const struct world *world)
{
	double sum = 0;
	for (system_id system = 1; system <= 2; system++) {
		uint32_t count = world_particles(world, system, 0, other, MOST);
		for (uint32_t i = 0; i < count; i++)
			sum += 0.5 * other[i].mass * vec3_length_squared(other[i].velocity);
	}
	return sum;
}

/* Two free ropes, crossed; the second, of heavier particles, flies at the first. */
static struct world *make_crossed(double speed, double friction)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct command rope = lattice(make_system(world), 21, 1, 1);
	rope.particles_lattice.position = vec3_make(-1, 0, 0);
	test_do(world, &rope);
	struct command create = test_system_command("heavy");
	create.particles_create.size = 0.04;
	create.particles_create.mass = 7e-3;
	system_id heavy = test_do(world, &create);
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = heavy;
	link.particles_link.substeps = 8;
	for (uint32_t i = 0; i < 21; i++)
		test_add_particle(world, heavy, vec3_make(0.03, 0.3, 0.1 * i - 1),
				  vec3_make(0, -speed, 0));
	for (uint32_t i = 1; i < 21; i++) {
		link.particles_link.a = i;
		link.particles_link.b = i + 1;
		test_do(world, &link);
	}
	struct command meet = meeting(1, 2, 0.1, friction);
	test_do(world, &meet);
	return world;
}

/* Also where both have a limit of stretch. */
START_TEST(meetings_keep_momentum_and_add_no_energy)
{
	static const double speeds[] = { 3, 40, 600 };
	double speed = speeds[_i % 3];
	struct world *world = make_crossed(speed, 0.5);
	if (_i >= 3) {
		test_limit(world, 1, 0.02);
		test_limit(world, 2, 0.02);
	}
	vec3 before = momentum(world);
	double most = energy(world), size = 21 * 7e-3 * speed;
	for (uint32_t tick = 0; tick < 40; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(vec3_distance(momentum(world), before), 1e-12 * size);
		ck_assert_double_le(energy(world), most * (1 + 1e-12));
		world_particles(world, 1, 0, cloth, MOST);
		world_particles(world, 2, 0, other, MOST);
		/* As long as links are not drawn out far, the second rope stays above the first. */
		if (speed < 10)
			ck_assert_double_gt(other[10].position.y, cloth[10].position.y - 0.1);
	}
	ck_assert_double_lt(cloth[10].velocity.y, -0.1);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* At up to 600 m/s, ten thicknesses in a sub-step: a particle does not pass a pinned one of another
 * system; both have a link to a far one that does not pull. */
START_TEST(a_fast_particle_does_not_pass_one_of_another_system)
{
	static const double speeds[] = { 1, 20, 600 };
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	for (system_id system = 1; system <= 2; system++) {
		double speed = system == 1 ? 0 : speeds[_i];
		ck_assert_uint_eq(make_system(world), system);
		test_add_particle(world, system, vec3_make(0, system == 1 ? 0 : 0.5, 0),
				  vec3_make(0, -speed, 0));
		test_add_particle(world, system, vec3_make(5, 5, 0), vec3_zero());
		struct command link = test_command(COMMAND_PARTICLES_LINK);
		link.particles_link.system = system;
		link.particles_link.kind = LINK_ROPE;
		link.particles_link.a = 1;
		link.particles_link.b = 2;
		link.particles_link.length = 1e4;
		test_do(world, &link);
	}
	struct command pin = test_command(COMMAND_PARTICLES_PIN), meet = meeting(1, 2, 0.1, 0);
	pin.particles_pin.system = 1;
	pin.particles_pin.particle = 1;
	test_do(world, &pin);
	test_do(world, &meet);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, 2, 0, other, MOST), 2);
		ck_assert_double_gt(other[0].position.y, 0.0999);
	}
	ck_assert_double_lt(vec3_length(other[0].velocity), 1e-9);
	world_destroy(world);
}
END_TEST

/* Contacts are those of default, once a tick: a system that meets others lies on the ground all
 * the same. */
START_TEST(what_meets_another_still_meets_the_ground)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (uint32_t i = 0; i < 2; i++) {
		struct command sheet = lattice(make_system(world), 6, 6, 1);
		sheet.particles_lattice.position = vec3_make(0.04 * i, 0.1 + 0.2 * i, 0.02 * i);
		sheet.particles_lattice.rotation =
			quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
		test_do(world, &sheet);
	}
	struct command meet = meeting(2, 1, 0.1, 0.3);
	test_do(world, &meet);
	test_step(world, 60);
	double heights[2] = { 0 };
	for (system_id system = 1; system <= 2; system++) {
		uint32_t count = world_particles(world, system, 0, other, MOST);
		ck_assert_uint_eq(count, 36);
		for (uint32_t i = 0; i < count; i++) {
			ck_assert_double_gt(other[i].position.y, 0.019);
			heights[system - 1] += other[i].position.y / count;
		}
	}
	ck_assert_double_lt(heights[0], 0.03);
	/* One between four of the other is 0.07 higher. */
	ck_assert_double_gt(heights[1], 0.07);
	world_destroy(world);
}
END_TEST

/* So does a rope that a body holds, with contacts of default. */
START_TEST(a_held_rope_lies_on_the_ground)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	test_spawn(world, TEST_PLANE, vec3_zero());
	struct command post = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 0.4, 0), &item);
	post.spawn.status = BODY_STATIC;
	post.spawn.category = 2; /* the rope does not meet it */
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.body = test_do(world, &post);
	hold.particles_hold.system = make_system(world);
	struct command rope = lattice(1, 10, 1, 1);
	rope.particles_lattice.position = vec3_make(0, 0.4, 0);
	test_do(world, &rope);
	hold.particles_hold.particle = 1;
	test_do(world, &hold);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, 1, 0, other, MOST), 10);
		for (uint32_t i = 0; i < 10; i++)
			ck_assert_double_gt(other[i].position.y, 0.019);
	}
	ck_assert_double_lt(other[9].position.y, 0.1);
	world_destroy(world);
}
END_TEST

/* Systems go, particles die and links are cut while they touch; what is left goes on. */
START_TEST(systems_may_be_removed_while_they_meet)
{
	struct world *world = test_world(false, "soft-step");
	make_cloth(world);
	make_other(world, 0);
	make_other(world, 1);
	struct command meet = meeting(1, 2, 0.1, 0.3);
	test_do(world, &meet);
	meet = meeting(3, 1, 0.1, 0.3);
	test_do(world, &meet);
	meet = meeting(3, 2, 0.1, 0.3);
	test_do(world, &meet);
	ck_assert_uint_eq(test_facts_of(world, 1).meet_count, 2);
	test_step(world, 25);
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	remove.particles_remove.system = 2;
	test_do(world, &remove);
	test_check(world);
	ck_assert_uint_eq(test_facts_of(world, 1).meet_count, 1);
	ck_assert_uint_eq(test_facts_of(world, 1).meets[0].other, 3);
	test_step(world, 10);
	struct command bounds = test_command(COMMAND_PARTICLES_MEET);
	bounds.particles_meet.system = 1;
	bounds.particles_meet.other = 3;
	test_do(world, &bounds);
	ck_assert_uint_eq(test_facts_of(world, 3).meet_count, 0);
	test_step(world, 30);
	world_particles(world, 3, 0, other, MOST);
	ck_assert_double_lt(other[7].position.y, -0.2);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------ */

static struct world *make_all(bool turned)
{
	struct world *world = test_world(false, "soft-step");
	make_cloth(world);
	make_other(world, 0);
	make_other(world, 1);
	struct command meet = meeting(turned ? 2 : 1, turned ? 1 : 2, 0.1, 0.3);
	test_do(world, &meet);
	meet = meeting(turned ? 3 : 2, turned ? 2 : 3, 0.08, 0.1);
	test_do(world, &meet);
	return world;
}

START_TEST(any_number_of_workers_and_any_order_of_names_gives_the_same_bits)
{
	uint64_t hash = 0;
	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct world *world = make_all(workers == 2);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < 40; tick++)
			ck_assert_int_eq(world_step(world, parallel, NULL), STATUS_OK);
		parallel_threads_destroy(parallel);
		uint64_t now = test_hash(world);
		ck_assert(workers == 1 || now == hash);
		hash = now;
		world_destroy(world);
	}
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_all(false);
	test_step(world, 22);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	struct world *world = test_world(false, "free");
	for (uint32_t i = 0; i < 11; i++)
		make_system(world);
	struct command meet = meeting(1, 1, 0.1, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_RANGE);
	meet = meeting(1, 77, 0.1, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_UNKNOWN_PARTICLES);
	meet = meeting(1, 2, -0.1, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_RANGE);
	meet = meeting(1, 2, NAN, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_NOT_FINITE);
	for (system_id with = 2; with <= 9; with++) {
		meet = meeting(1, with, 0.1, 0);
		test_do(world, &meet);
	}
	meet = meeting(10, 1, 0.1, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_LIMIT);
	meet = meeting(9, 1, 0.2, 0.5); /* one that meets already */
	test_do(world, &meet);
	ck_assert_double_eq(test_facts_of(world, 9).meets[0].thickness, 0.2);
	struct command interact = test_command(COMMAND_PARTICLES_INTERACT);
	interact.particles_interact.system = 11;
	interact.particles_interact.collisions = INTERACT_INTERNAL;
	test_do(world, &interact);
	meet = meeting(10, 11, 0.1, 0);
	ck_assert_int_eq(test_try(world, &meet), STATUS_LINKED);
	/* In one batch: a ninth is refused with all of it. */
	struct command batch[9];
	for (uint32_t i = 0; i < 9; i++)
		batch[i] = meeting(2, i < 1 ? 3 : 2 + i, 0.1, 0);
	struct batch_result result;
	ck_assert_int_ne(test_batch(world, batch, 9, &result), STATUS_OK);
	ck_assert_uint_eq(test_facts_of(world, 2).meet_count, 1);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_meet");
	TCase *all = tcase_create("particle_meet");
	tcase_add_loop_test(all, nothing_passes_a_pinned_cloth, 0, 6);
	tcase_add_loop_test(all, limits_of_stretch_and_meetings_hold_together, 0, 3);
	tcase_add_loop_test(all, meetings_keep_momentum_and_add_no_energy, 0, 6);
	tcase_add_loop_test(all, a_fast_particle_does_not_pass_one_of_another_system, 0, 3);
	tcase_add_test(all, what_meets_another_still_meets_the_ground);
	tcase_add_test(all, a_held_rope_lies_on_the_ground);
	tcase_add_test(all, systems_may_be_removed_while_they_meet);
	tcase_add_test(all, any_number_of_workers_and_any_order_of_names_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	tcase_add_test(all, what_cannot_be_is_refused);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
