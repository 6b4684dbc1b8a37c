/* Births on the faces of the body that carries an emitter: evenly by area, on triangles of very unequal
 * size and on shapes of several kinds; outside of them, along normals; on bodies that move and turn,
 * with recoil; in the plane; and that workers, images and rollbacks change no bit. */
#include "server/base/hash.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

enum { MOST = 9000 };
static struct particle_view particles[MOST];

static uint32_t read_all(const struct world *world)
{
	return world_particles(world, test_facts(world).id, 0, particles, MOST);
}

/* A system on the body; one emission of `rate` in the next tick. */
static system_id mount_on(struct world *world, body_id body, uint32_t rate, double speed)
{
	struct command create = test_system_command("skin");
	create.particles_create.emitter = EMITTER_BODY;
	create.particles_create.capacity = MOST;
	create.particles_create.rate = rate;
	create.particles_create.delay = 1000000;
	create.particles_create.size = 0.02;
	create.particles_create.mass = 0.01;
	create.particles_create.speed = speed;
	create.particles_create.seed = check_seed();
	system_id system = test_do(world, &create);
	struct command mount = test_command(COMMAND_PARTICLES_EMITTER);
	mount.particles_emitter.system = system;
	mount.particles_emitter.body = body;
	test_do(world, &mount);
	return system;
}

/* ---- by area --------------------------------------------------------------------------------- */

/* A fan in the plane y = 0 whose triangles have areas from 0.01 to 10. */
enum { FAN = 6 };
static const double AREAS[FAN] = { 10, 0.01, 3, 0.1, 1, 0.03 };

static struct shape *make_fan(double starts[FAN + 1])
{
	vec3 at[3 * FAN];
	uint32_t corners[FAN][3];
	starts[0] = 0;
	for (uint32_t i = 0; i < FAN; i++) {
		/* Beside each other along x, 2 m deep: as wide as the area. */
		starts[i + 1] = starts[i] + AREAS[i] + 0.5;
		at[3 * i] = vec3_make(starts[i], 0, 0);
		at[3 * i + 1] = vec3_make(starts[i], 0, 2);
		at[3 * i + 2] = vec3_make(starts[i] + AREAS[i], 0, 0);
		for (uint32_t k = 0; k < 3; k++)
			corners[i][k] = 3 * i + k;
	}
	return make_mesh(at, 3 * FAN, (const uint32_t(*)[3])corners, FAN);
}

static const struct shape *find_fan(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	const struct shape *fan = context;
	return memcmp(fan->name, name, SHAPE_NAME_BYTES) == 0 ? fan : NULL;
}

/* χ² of five degrees of freedom below 26 (1e-4); those of the smallest are at least the fewest that can
 * be. */
START_TEST(births_on_unequal_triangles_go_by_their_areas)
{
	enum { BIRTHS = 8000 };
	double starts[FAN + 1], sum = 0, squares = 0;
	struct shape *fan = make_fan(starts);
	hash_sha256(fan->canonical, fan->canonical_bytes, fan->name);
	struct world_options options = test_options(false, "free");
	options.shapes = (struct shape_source){ .context = fan, .find = find_fan };
	struct world *world = test_world_of(&options);
	test_no_gravity(world);
	struct command use = test_command(COMMAND_SHAPE_USE), spawn = test_command(COMMAND_SPAWN);
	memcpy(use.shape_use.name.bytes, fan->name, SHAPE_NAME_BYTES);
	struct attachment item = { .shape = test_do(world, &use), .rotation = quat_identity() };
	spawn.spawn.shapes = (struct attachment_list){ &item, 1 };
	spawn.spawn.status = BODY_STATIC;
	mount_on(world, test_do(world, &spawn), BIRTHS, 0);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world), BIRTHS);
	uint32_t counts[FAN] = { 0 };
	for (uint32_t i = 0; i < BIRTHS; i++) {
		uint32_t k = 0;
		while (particles[i].position.x > starts[k + 1])
			k++;
		counts[k]++;
		ck_assert_double_eq_tol(particles[i].position.y, 0.01 + 1e-6, 1e-12);
	}
	for (uint32_t k = 0; k < FAN; k++)
		sum += AREAS[k];
	for (uint32_t k = 0; k < FAN; k++)
		squares += pow(counts[k] - BIRTHS * AREAS[k] / sum, 2) / (BIRTHS * AREAS[k] / sum);
	ck_assert_double_lt(squares, 26);
	test_check(world);
	world_destroy(world);
	shape_release(fan);
}
END_TEST

/* A body of a sphere, a box and a hull far apart: each has its share of the whole area; a sensor none. */
START_TEST(shapes_of_a_body_share_births_by_area)
{
	enum { BIRTHS = 6000 };
	static const enum test_shape shapes[] = { TEST_SPHERE, TEST_BOX, TEST_HULL, TEST_RING };
	/* Of the torus of 24 × 12 sides its own area, within 2 %. */
	const double areas[] = { 3.141592653589793, 6, 8 * sqrt(3) / 4 * 0.5,
				 4 * 9.869604401089358 * 0.6 * 0.2 };
	struct world *world = test_world(false, "free");
	struct attachment items[4];
	struct command spawn = test_command(COMMAND_SPAWN);
	double sum = 0;
	test_no_gravity(world);
	for (uint32_t i = 0; i < 4; i++) {
		items[i] = (struct attachment){ .shape = test_use(world, shapes[i]),
						.position = vec3_make(4.0 * i, 0, 0),
						.rotation = quat_identity() };
		sum += areas[i];
	}
	spawn.spawn.shapes = (struct attachment_list){ items, 4 };
	mount_on(world, test_do(world, &spawn), BIRTHS, 0);
	test_step(world, 1);
	uint32_t count = read_all(world), counts[4] = { 0 };
	ck_assert_uint_ge(count, BIRTHS - 60); /* the inner side of a torus may hide some */
	for (uint32_t i = 0; i < count; i++)
		counts[(uint32_t)(particles[i].position.x / 4 + 0.5)]++;
	for (uint32_t k = 0; k < 4; k++) {
		double expected = BIRTHS * areas[k] / sum;
		ck_assert_double_eq_tol(counts[k], expected, 5 * sqrt(expected) + 0.03 * expected);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- places and velocities ------------------------------------------------------------------- */

/* The body of each kind moves and turns; births are on it, have its velocity there, and their own along
 * the normal; what they have is what the body lost. */
START_TEST(births_go_with_a_moving_body_and_push_it)
{
	static const enum test_shape shapes[] = { TEST_SPHERE, TEST_CAPSULE, TEST_BOX, TEST_HULL,
						  TEST_BLOCK };
	struct world *world = test_world(false, "free");
	struct rng rng = rng_seeded(check_seed());
	struct attachment item;
	test_no_gravity(world);
	struct command spawn = test_spawn_command(world, shapes[_i], vec3_make(1, 2, 3), &item);
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(2), rng_range(&rng, -3, 3));
	spawn.spawn.velocity = vec3_make(1, -2, 0.5);
	spawn.spawn.angular_velocity = vec3_make(0.5, 2, -1);
	spawn.spawn.linear_damping = spawn.spawn.angular_damping = 0;
	body_id body = test_do(world, &spawn);
	mount_on(world, body, 400, 3);
	test_step(world, 1);
	struct body_view now = test_body(world, body);
	uint32_t count = read_all(world);
	ck_assert_uint_ge(count, 390);
	vec3 gained = vec3_zero();
	vec3 centre = vec3_add(now.position, quat_rotate(now.rotation, now.centre));
	for (uint32_t i = 0; i < count; i++) {
		vec3 arm = vec3_sub(particles[i].position, centre);
		vec3 carried = vec3_add(now.velocity, vec3_cross(now.angular_velocity, arm));
		vec3 own = vec3_sub(particles[i].velocity, carried);
		ck_assert_double_eq_tol(vec3_length(own), 3, 1e-9);
		/* Outwards: of convex shapes. */
		if (shapes[_i] != TEST_BLOCK)
			ck_assert_double_gt(vec3_dot(own, arm), 0);
		gained = vec3_mul_add(gained, own, particles[i].mass);
	}
	ck_assert_uint_eq(count + test_facts(world).refused, 400);
	test_step(world, 1);
	struct body_view after = test_body(world, body);
	vec3 lost = vec3_scale(vec3_sub(now.velocity, after.velocity), now.mass);
	expect_near(lost, gained, 1e-12 * now.mass);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Once its body has gone, or before it has one, nothing is born; a half-space refuses all, counted. */
START_TEST(without_a_surface_there_are_no_births)
{
	struct world *world = test_world(false, "free");
	body_id box = test_spawn(world, TEST_BOX, vec3_zero());
	system_id system = mount_on(world, box, 10, 1);
	struct command set = test_command(COMMAND_PARTICLES_EMITTER), gone;
	set.particles_emitter.system = system;
	test_do(world, &set);
	test_step(world, 3);
	ck_assert_uint_eq(test_facts(world).born, 0);
	set.particles_emitter.body = test_spawn(world, TEST_PLANE, vec3_zero());
	test_do(world, &set);
	gone = test_command(COMMAND_PARTICLES_REMOVE);
	gone.particles_remove.system = system;
	test_do(world, &gone);
	mount_on(world, (body_id)set.particles_emitter.body, 10, 1);
	test_step(world, 1);
	ck_assert_uint_eq(test_facts(world).born, 10);
	ck_assert_uint_eq(test_facts(world).refused, 10);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_body_that_goes_takes_its_births_along)
{
	struct world *world = test_world(false, "free");
	body_id box = test_spawn(world, TEST_BOX, vec3_zero());
	struct command create = test_system_command("skin");
	create.particles_create.emitter = EMITTER_BODY;
	create.particles_create.rate = 5;
	create.particles_create.life = 0;
	create.particles_create.size = 0.02;
	struct command mount = test_command(COMMAND_PARTICLES_EMITTER);
	mount.particles_emitter.system = test_do(world, &create);
	mount.particles_emitter.body = box;
	test_do(world, &mount);
	test_step(world, 4);
	ck_assert_uint_eq(test_facts(world).born, 20);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = box;
	test_do(world, &remove);
	test_step(world, 4);
	ck_assert_uint_eq(test_facts(world).born, 20);
	ck_assert_uint_eq(test_facts(world).mount, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A rounded triangle in the plane: births a radius outside of its rim. */
START_TEST(a_polygon_emits_from_its_rim)
{
	struct world *world = test_world(true, "free");
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_TRIANGLE, vec3_make(1, 2, 0));
	mount_on(world, body, 500, 1);
	test_step(world, 1);
	uint32_t count = read_all(world);
	ck_assert_uint_eq(count, 500);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_double_eq(particles[i].position.z, 0);
		ck_assert_double_eq(particles[i].velocity.z, 0);
		ck_assert_double_eq_tol(vec3_length(particles[i].velocity), 1, 1e-12);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------ */

static struct world *make_jets(void)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BLOCK, vec3_make(0, 3, 0), &item);
	spawn.spawn.angular_velocity = vec3_make(1, 2, 3);
	body_id body = test_do(world, &spawn);
	test_spawn(world, TEST_PLANE, vec3_zero());
	struct command create = test_system_command("skin");
	create.particles_create.emitter = EMITTER_BODY;
	create.particles_create.rate = 20;
	create.particles_create.size = 0.05;
	create.particles_create.size_deviation = 0.02;
	create.particles_create.speed = 2;
	create.particles_create.spread = 0.4;
	create.particles_create.life = 0.5;
	create.particles_create.seed = check_seed();
	struct command mount = test_command(COMMAND_PARTICLES_EMITTER);
	mount.particles_emitter.system = test_do(world, &create);
	mount.particles_emitter.body = body;
	mount.particles_emitter.room = 1;
	test_do(world, &mount);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_jets, 50);
	ck_assert_uint_gt(test_facts(world).alive, 100);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_jets();
	test_step(world, 20);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_skin");
	TCase *all = tcase_create("particle_skin");
	tcase_add_test(all, births_on_unequal_triangles_go_by_their_areas);
	tcase_add_test(all, shapes_of_a_body_share_births_by_area);
	tcase_add_loop_test(all, births_go_with_a_moving_body_and_push_it, 0, 5);
	tcase_add_test(all, without_a_surface_there_are_no_births);
	tcase_add_test(all, a_body_that_goes_takes_its_births_along);
	tcase_add_test(all, a_polygon_emits_from_its_rim);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
