/* Particles in planar worlds: everything that moves them keeps them in the plane, to the bit; polygons
 * are met as they are, rounded or not; births, splits and areas are those of the plane; what would
 * leave it is refused; and workers, images and rollbacks change no bit. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 6000 };
static struct particle_view particles[MOST];

static uint32_t read_all(const struct world *world, system_id system)
{
	return world_particles(world, system, 0, particles, MOST);
}

/* All particles of the system are in the plane and move in it. */
static uint32_t expect_flat(const struct world *world, system_id system)
{
	uint32_t count = read_all(world, system);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_double_eq(particles[i].position.z, 0);
		ck_assert_double_eq(particles[i].velocity.z, 0);
	}
	return count;
}

static vec3 momentum(uint32_t count)
{
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < count; i++)
		sum = vec3_mul_add(sum, particles[i].velocity, particles[i].mass);
	return sum;
}

static struct command make_system(double size, double mass)
{
	struct command create = test_system_command("sand");
	create.particles_create.size = size;
	create.particles_create.mass = mass;
	create.particles_create.restitution = 0.5;
	return create;
}

static body_id place(struct world *world, enum test_shape shape, vec3 at, double degrees,
		     uint8_t status)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(2), degrees / 57.29577951308232);
	spawn.spawn.status = status;
	spawn.spawn.restitution = 1;
	spawn.spawn.flags = 0; /* sleep would take the rest of its momentum */
	spawn.spawn.dynamic_friction = spawn.spawn.static_friction = 0;
	return test_do(world, &spawn);
}

/* ---- polygons -------------------------------------------------------------------------------- */

/* A ball that flies at a square from any side, by its true distance: at a face, at a corner. */
START_TEST(a_particle_meets_faces_and_corners_where_they_are)
{
	struct world *world = test_world(true, "free");
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	test_no_gravity(world);
	place(world, TEST_POLYGON, vec3_zero(), 0, BODY_STATIC);
	struct command create = make_system(0.2, 1);
	create.particles_create.static_friction = create.particles_create.dynamic_friction = 0;
	create.particles_create.restitution = 1;
	system_id system = test_do(world, &create);
	/* It comes to touch at q, whose normal is n, and flies back along n. */
	double along = rng_range(&rng, -0.5, 0.5), turn = rng_range(&rng, 0, 1.5707963267948966);
	vec3 q = _i % 2 == 0 ? vec3_make(0.5, along, 0) : vec3_make(0.5, 0.5, 0);
	vec3 n = _i % 2 == 0 ? vec3_axis(0) : vec3_make(cos(turn), sin(turn), 0);
	double speed = 12; /* 0.2 m a tick */
	test_add_particle(world, system, vec3_mul_add(q, n, 0.1 + 0.05), vec3_scale(n, -speed));
	test_step(world, 1);
	ck_assert_uint_eq(expect_flat(world, system), 1);
	expect_near(particles[0].velocity, vec3_scale(n, speed), 1e-9);
	expect_near(particles[0].position, vec3_mul_add(q, n, 0.1 + 0.15), 1e-9);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ch1-3 P-23: a centre inside is put on the nearest face, whatever its motion. */
START_TEST(a_particle_inside_is_put_on_the_nearest_face)
{
	struct world *world = test_world(true, "free");
	test_no_gravity(world);
	place(world, TEST_POLYGON, vec3_zero(), 0, BODY_STATIC);
	struct command create = make_system(0.1, 1);
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0.1, 0.3, 0), vec3_zero());
	test_add_particle(world, system, vec3_make(-0.45, 0.1, 0), vec3_zero());
	test_add_particle(world, system, vec3_make(0.7, 0.7, 0), vec3_zero());
	test_step(world, 1);
	ck_assert_uint_eq(expect_flat(world, system), 3);
	expect_near(particles[0].position, vec3_make(0.1, 0.55, 0), 1e-9);
	expect_near(particles[1].position, vec3_make(-0.55, 0.1, 0), 1e-9);
	expect_near(particles[2].position, vec3_make(0.7, 0.7, 0), 1e-15);
	world_destroy(world);
}
END_TEST

/* Momentum of a rounded polygon and of what it meets, over two ticks. */
START_TEST(impacts_keep_momentum_in_the_plane)
{
	static const char *const methods[] = { "free",	     "soft-step",  "lcp",
					       "projection", "reflection", "impact" };
	struct world *world = test_world(true, methods[_i]);
	struct rng rng = rng_seeded(check_seed());
	test_no_gravity(world);
	body_id body = place(world, TEST_TRIANGLE, vec3_zero(), 20, BODY_DYNAMIC);
	struct command create = make_system(0.1, 0.5);
	system_id system = test_do(world, &create);
	for (uint32_t i = 0; i < 40; i++) {
		double angle = 6.283185307179586 * i / 40, speed = rng_range(&rng, 2, 9);
		vec3 out = vec3_make(cos(angle), sin(angle), 0);
		vec3 aim = vec3_make(rng_range(&rng, -0.3, 0.3), rng_range(&rng, -0.3, 0.3), 0);
		vec3 at = vec3_scale(out, 2.5);
		test_add_particle(world, system, at,
				  vec3_scale(vec3_normalize(vec3_sub(aim, at)), speed));
	}
	read_all(world, system);
	vec3 linear = momentum(40);
	struct body_view view;
	for (uint32_t tick = 0; tick < 90; tick++) {
		/* What is met in a tick acts on the body as the next one begins. */
		read_all(world, system);
		vec3 before = momentum(40);
		test_step(world, 1);
		ck_assert_uint_eq(expect_flat(world, system), 40);
		view = test_body(world, body);
		expect_near(vec3_mul_add(before, view.velocity, view.mass), linear, 1e-11);
	}
	ck_assert_double_gt(vec3_length(view.velocity) + fabs(view.angular_velocity.z), 1e-3);
	ck_assert_double_eq(view.position.z, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- births ---------------------------------------------------------------------------------- */

START_TEST(emitters_are_those_of_the_plane)
{
	struct world *world = test_world(true, "free");
	test_no_gravity(world);
	uint8_t kind = (uint8_t)(EMITTER_POINT + _i);
	struct command create = make_system(0.02, 0.01);
	quat turn = quat_from_axis_angle(vec3_axis(2), 0.7);
	vec3 middle = vec3_make(1, 2, 0);
	create.particles_create.emitter = kind;
	create.particles_create.position = middle;
	create.particles_create.rotation = turn;
	create.particles_create.rate = 200;
	create.particles_create.half = vec3_make(0.3, 0.2, 0);
	create.particles_create.speed = 3;
	system_id system = test_do(world, &create);
	test_step(world, 1);
	uint32_t count = expect_flat(world, system), faces[2] = { 0 };
	ck_assert_uint_eq(count, kind == EMITTER_PLANAR ? 15 : 200);
	for (uint32_t i = 0; i < count; i++) {
		vec3 at = quat_rotate_inverse(turn, vec3_sub(particles[i].position, middle));
		vec3 out = quat_rotate_inverse(turn, vec3_scale(particles[i].velocity, 1.0 / 3));
		ck_assert_double_eq_tol(vec3_length(out), 1, 1e-12);
		if (kind == EMITTER_POINT || kind == EMITTER_PLANAR)
			expect_near(out, vec3_axis(1), 1e-12);
		if (kind == EMITTER_POINT)
			expect_near(at, vec3_zero(), 1e-12);
		if (kind == EMITTER_PLANAR)
			expect_near(at, vec3_make(0.04 * i - 0.28, 0, 0), 1e-12);
		if (kind == EMITTER_SPHERE)
			expect_near(at, vec3_scale(out, 0.3), 1e-12);
		if (kind == EMITTER_SPHERE && i > 0)
			ck_assert_double_eq_tol(
				vec3_distance(particles[i].position, particles[i - 1].position),
				0.6 * sin(3.141592653589793 / 200), 1e-12);
		if (kind == EMITTER_BOX) {
			bool side = fabs(out.x) > 0.5;
			expect_near(out,
				    vec3_make(side ? copysign(1, at.x) : 0,
					      side ? 0 : copysign(1, at.y), 0),
				    1e-12);
			ck_assert_double_eq_tol(side ? fabs(at.x) : fabs(at.y), side ? 0.3 : 0.2,
						1e-12);
			faces[side]++;
		}
	}
	/* By length: 0.4 of 1.0 are sides across x; five standard deviations. */
	if (kind == EMITTER_BOX)
		ck_assert_double_eq_tol(faces[1], 80, 35);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Directions turn to either side by a cut normal angle; bursts go to all sides of the plane. */
START_TEST(spread_and_bursts_stay_in_the_plane)
{
	struct world *world = test_world(true, "free");
	test_no_gravity(world);
	struct command create = make_system(0.02, 0.01);
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.rate = 2000;
	create.particles_create.recycle = 0;
	create.particles_create.capacity = 6000;
	create.particles_create.delay = 1000;
	create.particles_create.spread = 0.6;
	create.particles_create.speed = 2;
	create.particles_create.mask = 0;
	create.particles_create.seed = check_seed();
	system_id system = test_do(world, &create);
	struct command split = test_command(COMMAND_PARTICLES_SPLIT);
	split.particles_split.system = system;
	split.particles_split.age = 0.05;
	split.particles_split.velocity = 0;
	split.particles_split.burst = 1;
	split.particles_split.size = sqrt(0.5);
	split.particles_split.spend = 1;
	test_do(world, &split);
	test_step(world, 1);
	ck_assert_uint_eq(expect_flat(world, system), 2000);
	double mean = 0, square = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		double angle = atan2(particles[i].velocity.x, particles[i].velocity.y);
		ck_assert_double_le(fabs(angle), 0.6 + 1e-12);
		mean += angle / 2000;
		square += angle * angle / 2000;
	}
	/* Of a normal distribution cut at three deviations: 0.9733 of 0.2². */
	ck_assert_double_eq_tol(mean, 0, 0.02);
	ck_assert_double_eq_tol(square, 0.9733 * 0.04, 0.004);
	test_step(world, 5);
	uint32_t count = expect_flat(world, system);
	vec3 sum = vec3_zero();
	ck_assert_uint_eq(count, 4000);
	for (uint32_t i = 0; i < count; i++) {
		/* Two of half the mass: a disk's goes with the square of its diameter. */
		ck_assert_double_eq_tol(particles[i].mass, 0.005, 1e-15);
		ck_assert_double_eq_tol(vec3_length(particles[i].velocity), 1, 1e-12);
		sum = vec3_add(sum, vec3_scale(particles[i].velocity, 1.0 / count));
	}
	ck_assert_double_lt(vec3_length(sum), 0.06);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- linked particles ------------------------------------------------------------------------ */

static struct command lattice(system_id system, uint32_t columns, uint32_t rows)
{
	struct command command = test_command(COMMAND_PARTICLES_LATTICE);
	command.particles_lattice.system = system;
	command.particles_lattice.columns = columns;
	command.particles_lattice.rows = rows;
	command.particles_lattice.links = LATTICE_EDGES | LATTICE_DIAGONALS | LATTICE_VOLUMES;
	command.particles_lattice.compliance = 2e-4;
	command.particles_lattice.shear_compliance = 2e-4;
	command.particles_lattice.damping_ratio = 0.3;
	command.particles_lattice.substeps = 16;
	return command;
}

/* Twice the area of a grid's cells, from its rim. */
static double area_of(uint32_t columns, uint32_t rows)
{
	double sum = 0;
	for (uint32_t y = 0; y + 1 < rows; y++)
		for (uint32_t x = 0; x + 1 < columns; x++) {
			const struct particle_view *p = &particles[y * columns + x];
			vec3 a = vec3_sub(p[columns + 1].position, p[0].position);
			vec3 b = vec3_sub(p[columns].position, p[1].position);
			sum += 0.5 * vec3_cross(a, b).z;
		}
	return sum;
}

/* A soft block falls on a wedge and keeps its area to 2 %; without areas it is pressed flatter. */
START_TEST(a_block_keeps_its_area)
{
	double areas[2];
	for (uint32_t with = 0; with < 2; with++) {
		struct world *world = test_world(true, "soft-step");
		place(world, TEST_POLYGON, vec3_make(0.4, -0.75, 0), 45, BODY_STATIC);
		struct command create = make_system(0.05, 0.02);
		create.particles_create.restitution = 0;
		system_id system = test_do(world, &create);
		struct command block = lattice(system, 9, 7);
		if (!with)
			block.particles_lattice.links &= ~(uint32_t)LATTICE_VOLUMES;
		test_do(world, &block);
		ck_assert_uint_eq(test_facts_of(world, system).links,
				  8 * 7 + 9 * 6 + 2 * 48 + (with ? 2 * 48 : 0));
		read_all(world, system);
		double rest = area_of(9, 7), worst = 0;
		struct command contacts = test_command(COMMAND_PARTICLES_CONTACTS);
		contacts.particles_contacts.system = system;
		contacts.particles_contacts.contacts = CONTACTS_WITHIN;
		test_do(world, &contacts);
		ck_assert_double_eq_tol(rest, 0.48, 1e-12);
		for (uint32_t tick = 0; tick < 40; tick++) {
			test_step(world, 1);
			ck_assert_uint_eq(expect_flat(world, system), 63);
			worst = fmax(worst, fabs(area_of(9, 7) / rest - 1));
			if (with)
				ck_assert_double_eq_tol(test_facts_of(world, system).volume_error,
							fabs(area_of(9, 7) / rest - 1), 1e-9);
		}
		areas[with] = worst;
		test_check(world);
		world_destroy(world);
	}
	ck_assert_double_lt(areas[1], 0.02);
	ck_assert_double_lt(areas[1], 0.5 * areas[0]);
}
END_TEST

/* A free block that was thrown and squeezed: its links and areas keep momentum. */
START_TEST(areas_keep_momentum)
{
	struct world *world = test_world(true, "free");
	struct rng rng = rng_seeded(check_seed());
	test_no_gravity(world);
	struct command create = make_system(0.05, 0.02);
	system_id system = test_do(world, &create);
	struct command block = lattice(system, 2, 2);
	test_do(world, &block);
	for (uint32_t i = 0; i < 3; i++)
		test_add_particle(world, system,
				  vec3_make(rng_range(&rng, 0, 1), rng_range(&rng, 0, 1), 0),
				  vec3_make(rng_range(&rng, -3, 3), rng_range(&rng, -3, 3), 0));
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	link.particles_link.kind = LINK_VOLUME;
	link.particles_link.a = 1;
	link.particles_link.b = 5;
	link.particles_link.c = 6;
	test_do(world, &link);
	link.particles_link.a = 7;
	test_do(world, &link);
	read_all(world, system);
	vec3 before = momentum(7);
	for (uint32_t tick = 0; tick < 100; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(expect_flat(world, system), 7);
		ck_assert_double_lt(vec3_distance(momentum(7), before), 1e-12);
	}
	struct link_view links[16];
	ck_assert_uint_eq(world_links(world, system, 0, links, 16), 10);
	ck_assert_uint_eq(links[9].serial[2], 6);
	ck_assert_uint_eq(links[9].serial[3], 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- all at once ----------------------------------------------------------------------------- */

/* Emitters, splits, fields, forces, collisions, a cloth that a body holds, walls and moving polygons. */
static struct world *make_all(void)
{
	struct world *world = test_world(true, "soft-step");
	struct rng rng = rng_seeded(check_seed());
	place(world, TEST_POLYGON, vec3_make(0, -0.5, 0), 0, BODY_STATIC);
	body_id carrier = place(world, TEST_TRIANGLE, vec3_make(0, 2, 0), 10, BODY_DYNAMIC);
	place(world, TEST_POLYGON, vec3_make(0.2, 4, 0), 30, BODY_DYNAMIC);
	struct command create = make_system(0.06, 0.02);
	create.particles_create.emitter = EMITTER_SPHERE;
	create.particles_create.half = vec3_make(0.8, 0, 0);
	create.particles_create.size_deviation = 0.03;
	create.particles_create.spread = 1;
	create.particles_create.speed = 4;
	create.particles_create.life = 0.8;
	create.particles_create.seed = rng_u64(&rng);
	system_id jet = test_do(world, &create);
	struct command mount = test_command(COMMAND_PARTICLES_EMITTER);
	mount.particles_emitter.system = jet;
	mount.particles_emitter.body = carrier;
	mount.particles_emitter.place = 1;
	test_do(world, &mount);
	struct command split = test_command(COMMAND_PARTICLES_SPLIT);
	split.particles_split.system = jet;
	split.particles_split.age = 0.2;
	split.particles_split.burst = 2;
	split.particles_split.spread = 0.5;
	test_do(world, &split);
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.position = vec3_make(0, 3, 0);
	create.particles_create.half = vec3_make(2, 0.5, 0);
	create.particles_create.rate = 5;
	system_id sand = test_do(world, &create);
	struct command interact = test_command(COMMAND_PARTICLES_INTERACT);
	interact.particles_interact.system = sand;
	interact.particles_interact.collisions = INTERACT_BOTH;
	interact.particles_interact.cutoff = 0.5;
	interact.particles_interact.gravitation = 0.01;
	interact.particles_interact.repulsion = 10;
	test_do(world, &interact);
	create.particles_create.emitter = EMITTER_NONE;
	create.particles_create.life = 0;
	system_id net = test_do(world, &create);
	struct command block = lattice(net, 6, 5);
	block.particles_lattice.position = vec3_make(-1.5, 1, 0);
	test_do(world, &block);
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = net;
	hold.particles_hold.particle = 30;
	hold.particles_hold.body = carrier;
	test_do(world, &hold);
	struct command field = test_command(COMMAND_FIELD_CREATE);
	field.field_create.kind = FIELD_ATTRACTOR;
	field.field_create.strength = vec3_make(3, 0, 0);
	field.field_create.position = vec3_make(0.5, 1, 0);
	test_do(world, &field);
	return world;
}

START_TEST(everything_stays_in_the_plane)
{
	struct world *world = make_all();
	for (uint32_t tick = 0; tick < 90; tick++) {
		test_step(world, 1);
		for (system_id system = 1; system <= 3; system++)
			ck_assert_uint_gt(expect_flat(world, system), 3);
		if (tick % 30 == 0)
			test_check(world);
	}
	ck_assert_uint_gt(test_facts_of(world, 1).splits, 10);
	ck_assert_uint_eq(test_facts_of(world, 3).alive, 30);
	world_destroy(world);
}
END_TEST

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_all, 50);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_all();
	test_step(world, 20);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

/* ---- refusals -------------------------------------------------------------------------------- */

static body_id place_smooth(struct world *world, vec3 at)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, at, &item);
	spawn.spawn.dynamic_friction = spawn.spawn.static_friction = 0;
	spawn.spawn.restitution = 0;
	return test_do(world, &spawn);
}

START_TEST(what_leaves_the_plane_is_refused)
{
	struct world *world = test_world(true, "free");
	struct command create = make_system(0.1, 1);
	create.particles_create.position = vec3_make(0, 0, 1);
	ck_assert_int_eq(test_try(world, &create), STATUS_PLANAR);
	create.particles_create.position = vec3_zero();
	create.particles_create.rotation = quat_from_axis_angle(vec3_axis(0), 0.1);
	ck_assert_int_eq(test_try(world, &create), STATUS_PLANAR);
	create.particles_create.rotation = quat_identity();
	system_id system = test_do(world, &create);
	body_id body = place(world, TEST_POLYGON, vec3_zero(), 0, BODY_DYNAMIC);
	struct command add = test_command(COMMAND_PARTICLES_ADD);
	add.particles_add.system = system;
	add.particles_add.velocity = vec3_make(0, 0, 1);
	ck_assert_int_eq(test_try(world, &add), STATUS_PLANAR);
	add.particles_add.velocity = vec3_zero();
	add.particles_add.position = vec3_make(1, 0, 0.5);
	ck_assert_int_eq(test_try(world, &add), STATUS_PLANAR);
	struct command block = lattice(system, 3, 3);
	block.particles_lattice.layers = 2;
	ck_assert_int_eq(test_try(world, &block), STATUS_PLANAR);
	block.particles_lattice.layers = 1;
	block.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(1), 0.1);
	ck_assert_int_eq(test_try(world, &block), STATUS_PLANAR);
	block.particles_lattice.rotation = quat_identity();
	test_do(world, &block);
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link = (struct command_PARTICLES_LINK){
		.system = system, .a = 1, .b = 2, .c = 3, .d = 4, .kind = LINK_VOLUME, .substeps = 1
	};
	ck_assert_int_eq(test_try(world, &link), STATUS_RANGE);
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = system;
	hold.particles_hold.particle = 1;
	hold.particles_hold.body = body;
	hold.particles_hold.place = 1;
	hold.particles_hold.point = vec3_make(0, 0, 0.1);
	ck_assert_int_eq(test_try(world, &hold), STATUS_PLANAR);
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	create.particles_create.position = vec3_zero();
	fluid.particles_fluid.system = test_do(world, &create);
	ck_assert_int_eq(test_try(world, &fluid), STATUS_PLANAR);
	struct command carry = test_command(COMMAND_CARRY);
	carry.carry.body = body;
	carry.carry.a = place(world, TEST_POLYGON, vec3_axis(0), 0, BODY_DYNAMIC);
	carry.carry.b = place(world, TEST_POLYGON, vec3_axis(1), 0, BODY_DYNAMIC);
	ck_assert_int_eq(test_try(world, &carry), STATUS_IN_USE);
	test_check(world);
	world_destroy(world);
	world = test_world(true, "gauss");
	carry.carry.body = place_smooth(world, vec3_zero());
	carry.carry.a = place_smooth(world, vec3_axis(0));
	carry.carry.b = place_smooth(world, vec3_axis(1));
	test_do(world, &carry);
	ck_assert_int_eq(test_try(world, &create), STATUS_CARRIED);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_plane");
	TCase *all = tcase_create("particle_plane");
	tcase_add_loop_test(all, a_particle_meets_faces_and_corners_where_they_are, 0, 12);
	tcase_add_test(all, a_particle_inside_is_put_on_the_nearest_face);
	tcase_add_loop_test(all, impacts_keep_momentum_in_the_plane, 0, 6);
	tcase_add_loop_test(all, emitters_are_those_of_the_plane, 0, 4);
	tcase_add_test(all, spread_and_bursts_stay_in_the_plane);
	tcase_add_test(all, a_block_keeps_its_area);
	tcase_add_test(all, areas_keep_momentum);
	tcase_add_test(all, everything_stays_in_the_plane);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	tcase_add_test(all, what_leaves_the_plane_is_refused);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
