/* Linked particles that meet each other: a cloth that folds, falls in a heap or is thrown against
 * itself never passes through itself, ropes neither; momentum; friction; and that workers, images and
 * rollbacks change no bit. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static struct command lattice(system_id system, uint32_t columns, uint32_t rows, double spacing)
{
	struct command command = test_command(COMMAND_PARTICLES_LATTICE);
	command.particles_lattice.system = system;
	command.particles_lattice.columns = columns;
	command.particles_lattice.rows = rows;
	command.particles_lattice.spacing = spacing;
	command.particles_lattice.links = LATTICE_EDGES | LATTICE_DIAGONALS;
	command.particles_lattice.substeps = 16;
	return command;
}

static system_id make_system(struct world *world, double thickness, double friction)
{
	struct command command = test_system_command("cloth");
	command.particles_create.size = 0.05;
	command.particles_create.mass = 1e-3;
	command.particles_create.mask = 1;
	system_id system = test_do(world, &command);
	struct command self = test_command(COMMAND_PARTICLES_SELF);
	self.particles_self.system = system;
	self.particles_self.thickness = thickness;
	self.particles_self.friction = friction;
	test_do(world, &self);
	struct command contacts = test_command(COMMAND_PARTICLES_CONTACTS);
	contacts.particles_contacts.system = system;
	contacts.particles_contacts.contacts = CONTACTS_WITHIN;
	test_do(world, &contacts);
	return system;
}

static void pin(struct world *world, system_id system, uint32_t serial)
{
	struct command command = test_command(COMMAND_PARTICLES_PIN);
	command.particles_pin.system = system;
	command.particles_pin.particle = serial;
	test_do(world, &command);
}

/* ---- whether a cloth passes through itself -------------------------------------------------------- */

/* How many edges cross cells of which they are no side: 0 while no part has passed another. */
static uint32_t crossings(uint32_t columns, uint32_t rows)
{
	uint32_t found = 0;
	for (uint32_t e = 0; e < 2 * columns * rows; e++) {
		uint32_t c = e / 2 % columns, r = e / 2 / columns;
		uint32_t c2 = c + (e % 2 == 0), r2 = r + (e % 2);
		if (c2 >= columns || r2 >= rows)
			continue;
		vec3 from = particles[r * columns + c].position;
		vec3 to = particles[r2 * columns + c2].position;
		for (uint32_t cell = 0; cell < (columns - 1) * (rows - 1); cell++) {
			uint32_t x = cell % (columns - 1), y = cell / (columns - 1);
			/* Of cells that touch it none. */
			if (x + 1 >= c && x <= c2 && y + 1 >= r && y <= r2)
				continue;
			const struct particle_view *p = &particles[y * columns + x];
			const vec3 one[3] = { p[0].position, p[1].position, p[columns].position };
			const vec3 two[3] = { p[columns + 1].position, p[1].position,
					      p[columns].position };
			vec3 apart = vec3_sub(from, p[0].position);
			if (vec3_length_squared(apart) > 0.09)
				continue;
			found += oracle_segment_crosses(from, to, one) ||
				 oracle_segment_crosses(from, to, two);
		}
	}
	return found;
}

enum { COLUMNS = 18, ROWS = 12 };

/* A cloth that lies on the ground; an animated bar holds its first column. */
static struct world *make_lying(double thickness)
{
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, thickness, 0.3);
	struct attachment item;
	test_ground(world);
	struct command cloth = lattice(system, COLUMNS, ROWS, 0.1);
	cloth.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
	cloth.particles_lattice.position = vec3_make(0, 0.03, 0.1 * (ROWS - 1));
	test_do(world, &cloth);
	struct command bar =
		test_spawn_command(world, TEST_SPHERE, vec3_make(0, 0.03, 0.55), &item);
	bar.spawn.status = BODY_ANIMATED;
	bar.spawn.category = 2;
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = system;
	hold.particles_hold.body = test_do(world, &bar);
	for (uint32_t row = 0; row < ROWS; row++) {
		hold.particles_hold.particle = row * COLUMNS + 1;
		test_do(world, &hold);
	}
	return world;
}

/* One tick of the bar's way: half a turn over the cloth in a second, then `drag` along it. */
static void move_bar(struct world *world, uint32_t tick, vec3 drag)
{
	struct command move = test_command(COMMAND_SET_VELOCITY);
	const double half = 0.8, rate = 3.0;
	double angle = rate * tick / 60.0;
	vec3 velocity = drag;
	if (angle < 3.0)
		velocity = vec3_make(half * rate * sin(angle), half * rate * cos(angle), 0);
	move.set_velocity.body = 2;
	move.set_velocity.velocity = velocity;
	test_do(world, &move);
	test_step(world, 1);
}

/* Folded over itself, and then its upper half is drawn over the lower one, to any side. */
START_TEST(a_folded_cloth_never_passes_through_itself)
{
	struct world *world = make_lying(0.1);
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	double turn = rng_range(&rng, 0, 6.283185307179586), most = 0, height = 0;
	vec3 drag = vec3_make(0.6 * cos(turn), 0, 0.6 * sin(turn));
	for (uint32_t tick = 0; tick < 120; tick++) {
		move_bar(world, tick, drag);
		most = fmax(most, test_facts(world).self_overlap);
		uint32_t count = world_particles(world, 1, 0, particles, MOST);
		ck_assert_uint_eq(count, COLUMNS * ROWS);
		if (tick % 4 == 3)
			ck_assert_uint_eq(crossings(COLUMNS, ROWS), 0);
	}
	for (uint32_t i = 0; i < COLUMNS * ROWS; i++)
		height += particles[i].position.y / (COLUMNS * ROWS);
	ck_assert_double_gt(height, 0.05); /* a layer lies on another */
	ck_assert_double_lt(most, 0.13);
	ck_assert_uint_eq(test_facts(world).crowded, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* The same without: else the test above would show nothing. */
START_TEST(a_cloth_without_thickness_lies_in_itself)
{
	struct world *world = make_lying(0);
	uint32_t near = 0;
	for (uint32_t tick = 0; tick < 120; tick++)
		move_bar(world, tick, vec3_zero());
	ck_assert_uint_eq(world_particles(world, 1, 0, particles, MOST), COLUMNS * ROWS);
	for (uint32_t a = 0; a < COLUMNS * ROWS; a++)
		for (uint32_t b = 0; b < a; b++)
			near += vec3_distance(particles[a].position, particles[b].position) < 0.05;
	ck_assert_uint_gt(near, 20);
	ck_assert_double_eq(test_facts(world).self_overlap, 0);
	world_destroy(world);
}
END_TEST

/* ---- two particles --------------------------------------------------------------------------------- */

/* Two ropes of one system, crossed, of which one is thrown at the other by `speed`. */
static struct world *make_crossed(double speed, double friction)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, friction);
	struct command rope = lattice(system, 21, 1, 0.1);
	rope.particles_lattice.position = vec3_make(-1, 0, 0);
	test_do(world, &rope);
	rope.particles_lattice.position = vec3_make(0.05, 0.3, -1);
	rope.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(1), -1.5707963267948966);
	for (uint32_t i = 0; i < 21; i++)
		test_add_particle(world, system, vec3_make(0.05, 0.3, 0.1 * i - 1),
				  vec3_make(0, -speed, 0));
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	for (uint32_t i = 22; i < 42; i++) {
		link.particles_link.a = i;
		link.particles_link.b = i + 1;
		test_do(world, &link);
	}
	return world;
}

static vec3 momentum(void)
{
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < 42; i++)
		sum = vec3_mul_add(sum, particles[i].velocity, particles[i].mass);
	return sum;
}

static double energy(void)
{
	double sum = 0;
	for (uint32_t i = 0; i < 42; i++)
		sum += 0.5 * particles[i].mass * vec3_length_squared(particles[i].velocity);
	return sum;
}

/* At up to 600 m/s, six thicknesses in a sub-step: nothing passes between two of them. */
START_TEST(a_fast_particle_does_not_pass_another)
{
	static const double speeds[] = { 1, 20, 600 }, offsets[] = { 0, 0.03, 0.095 };
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, 0);
	double speed = speeds[_i / 3], offset = offsets[_i % 3];
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_make(offset, 0.5, 0), vec3_make(0, -speed, 0));
	test_add_particle(world, system, vec3_make(0, 5, 0), vec3_zero());
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	link.particles_link.kind = LINK_ROPE;
	link.particles_link.length = 1e4;
	link.particles_link.substeps = 16;
	for (uint32_t i = 1; i < 3; i++) {
		link.particles_link.a = i;
		link.particles_link.b = 3;
		test_do(world, &link);
	}
	pin(world, system, 1);
	double least = 1;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 3);
		vec3 at = particles[1].position;
		least = fmin(least, vec3_length(at));
		/* What is met in the middle stops; beside it, it goes round. */
		ck_assert(offset > 0 || at.y > 0.0999);
	}
	ck_assert_double_gt(least, 0.0999);
	vec3 v = particles[1].velocity;
	double across = offset / 0.1 * speed; /* what is left is tangential */
	ck_assert_double_lt(fabs(vec3_length(v) - across), 1e-9 * speed + 1e-9);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(contacts_with_itself_keep_momentum_and_add_no_energy)
{
	struct world *world = make_crossed(5, 0.5);
	test_step(world, 1);
	world_particles(world, 1, 0, particles, MOST);
	vec3 before = momentum();
	double most = energy(), met = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, 1, 0, particles, MOST), 42);
		ck_assert_double_lt(vec3_distance(momentum(), before), 1e-12);
		ck_assert_double_le(energy(), most * (1 + 1e-12));
		met = fmax(met, particles[10].velocity.y < -0.1);
	}
	ck_assert_double_eq(met, 1);
	world_destroy(world);
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------------ */

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	uint64_t hash = 0;
	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct world *world = make_lying(0.1);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < 55; tick++)
			move_bar(world, tick, vec3_zero());
		for (uint32_t tick = 0; tick < 20; tick++)
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
	struct world *world = make_lying(0.1);
	for (uint32_t tick = 0; tick < 65; tick++)
		move_bar(world, tick, vec3_zero());
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	struct world *world = test_world(false, "free");
	system_id system = make_system(world, 0.1, 0.3);
	struct command interact = test_command(COMMAND_PARTICLES_INTERACT);
	interact.particles_interact.system = system;
	interact.particles_interact.collisions = INTERACT_INTERNAL;
	test_do(world, &interact);
	struct command self = test_command(COMMAND_PARTICLES_SELF);
	self.particles_self.system = system;
	self.particles_self.thickness = 0.1;
	ck_assert_int_eq(test_try(world, &self), STATUS_LINKED);
	self.particles_self.thickness = -1;
	ck_assert_int_eq(test_try(world, &self), STATUS_RANGE);
	self.particles_self.thickness = NAN;
	ck_assert_int_eq(test_try(world, &self), STATUS_NOT_FINITE);
	self.particles_self.thickness = 0;
	self.particles_self.system = 9;
	ck_assert_int_eq(test_try(world, &self), STATUS_UNKNOWN_PARTICLES);
	world_destroy(world);
}
END_TEST

/* All particles at one point: nothing is lost, and they part. */
START_TEST(particles_at_one_point_part)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, 0);
	for (uint32_t i = 0; i < 100; i++)
		test_add_particle(world, system, vec3_zero(), vec3_zero());
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	link.particles_link.kind = LINK_ROPE;
	link.particles_link.length = 0.1;
	for (uint32_t i = 1; i < 100; i++) {
		link.particles_link.a = i;
		link.particles_link.b = i + 1;
		test_do(world, &link);
	}
	test_step(world, 60);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 100);
	ck_assert_double_lt(test_facts(world).self_overlap, 1);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_double_lt(vec3_length(particles[i].position), 100);
	ck_assert_uint_gt(test_facts(world).crowded, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_self");
	TCase *all = tcase_create("particle_self");
	tcase_add_loop_test(all, a_folded_cloth_never_passes_through_itself, 0, 3);
	tcase_add_test(all, a_cloth_without_thickness_lies_in_itself);
	tcase_add_loop_test(all, a_fast_particle_does_not_pass_another, 0, 9);
	tcase_add_test(all, contacts_with_itself_keep_momentum_and_add_no_energy);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	tcase_add_test(all, what_cannot_be_is_refused);
	tcase_add_test(all, particles_at_one_point_part);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
