/* See scenes.h. */
#include "tests/golden/scenes.h"

#include "server/base/rng.h"
#include "tests/lib/frames.h"
#include "tests/lib/worlds.h"

#include <string.h>

/* A random vector within ±(x, y, z): one component after the other, because the order in which a
 * call's arguments are evaluated is the compiler's choice. */
static vec3 random_vector(struct rng *rng, double x, double y, double z)
{
	vec3 v;
	v.x = rng_range(rng, -x, x);
	v.y = rng_range(rng, -y, y);
	v.z = rng_range(rng, -z, z);
	return v;
}

/* One SPAWN with usual values; `spin`: an angular velocity for bodies that should tumble. */
static body_id spawn_at(struct world *world, enum test_shape shape, vec3 position, vec3 velocity,
			vec3 spin)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, position, &item);
	spawn.spawn.velocity = velocity;
	spawn.spawn.angular_velocity = spin;
	return test_do(world, &spawn);
}

/* A command sent for a later tick. */
static void send_at(struct world *world, struct command *command, uint64_t at)
{
	struct batch batch = {
		.session = 2, .number = at, .at = at, .commands = command, .count = 1
	};
	struct batch_result result;
	enum status status = world_apply(world, &batch, 1, &result);
	ASSERT(status == STATUS_OK && result.status == STATUS_OK);
}

/* ---- two bodies fall, are pushed, driven, and one is removed ---------------------------------- */

static void send_two_fall(struct world *world, uint64_t tick)
{
	struct command command;
	if (tick == 0) {
		spawn_at(world, TEST_SPHERE, vec3_make(-2, 10, 0), vec3_make(1, 0, 0.5),
			 vec3_zero());
		/* Three different moments of inertia, so it tumbles. */
		struct attachment items[2] = {
			{ test_use(world, TEST_BOX), { 0.7, 0, 0 }, { 1, 0, 0, 0 } },
			{ test_use(world, TEST_CAPSULE), { -0.4, 0.1, 0.3 }, { 1, 1, 0, 0 } }
		};
		command = test_command(COMMAND_SPAWN);
		command.spawn.position = vec3_make(2, 12, 0);
		command.spawn.angular_velocity = vec3_make(3, 0.5, -1);
		command.spawn.angular_damping = 0.1;
		command.spawn.shapes = (struct attachment_list){ items, 2 };
		test_do(world, &command);
		command = test_command(COMMAND_REMOVE);
		command.remove.body = 1;
		send_at(world, &command, 200);
	} else if (tick == 30) {
		command = test_command(COMMAND_IMPULSE);
		command.impulse.body = 1;
		command.impulse.impulse = vec3_make(100, 700, -30);
		command.impulse.point = vec3_make(0.1, 0.2, 0.3);
		test_do(world, &command);
		command = test_command(COMMAND_FORCE);
		command.force.body = 2;
		command.force.force = vec3_make(0, 9000, 100);
		command.force.point = vec3_make(0.3, 0, 0);
		command.force.ticks = 90;
		test_do(world, &command);
	} else if (tick == 60) {
		command = test_command(COMMAND_GRAVITY);
		command.gravity.gravity = vec3_make(1, -1.62, 0.25);
		test_do(world, &command);
	}
}

/* ---- a heap of everything between walls ------------------------------------------------------- */

static void send_heap(struct world *world, uint64_t tick)
{
	struct rng rng = rng_seeded(tick + 1);
	if (tick == 0) {
		struct command bounds = test_command(COMMAND_BOUNDS);
		bounds.bounds.mode = BOUNDS_WALLS;
		bounds.bounds.minimum = vec3_make(-4, 0, -4);
		bounds.bounds.maximum = vec3_make(4, 40, 4);
		test_do(world, &bounds);
	}
	if (tick % 4 == 0 && tick < 240) {
		enum test_shape shape = (enum test_shape)rng_below(&rng, TEST_HULL + 1);
		vec3 place = random_vector(&rng, 2, 0, 2);
		place.y = 6;
		spawn_at(world, shape, place, vec3_zero(), random_vector(&rng, 2, 0, 2));
	}
	if (tick == 400) {
		struct command kick = test_command(COMMAND_IMPULSE);
		kick.impulse.body = 3;
		kick.impulse.impulse = vec3_make(2000, 5000, 0);
		test_do(world, &kick);
	}
}

/* ---- bodies of all kinds on hilly ground ------------------------------------------------------ */

static void send_ground(struct world *world, uint64_t tick)
{
	if (tick == 0)
		spawn_at(world, TEST_MESH, vec3_zero(), vec3_zero(), vec3_zero());
	if (tick % 10 == 0 && tick < 120) {
		struct rng rng = rng_seeded(tick + 9);
		enum test_shape shape = (enum test_shape)(tick / 10 % 4);
		vec3 place = random_vector(&rng, 5, 0, 5);
		place.y = 3;
		spawn_at(world, shape, place, random_vector(&rng, 3, 0, 3), vec3_zero());
	}
}

/* ---- 200 spheres in one cubic metre ----------------------------------------------------------- */

static void send_bomb(struct world *world, uint64_t tick)
{
	if (tick != 0)
		return;
	struct rng rng = rng_seeded(5);
	spawn_at(world, TEST_PLANE, vec3_zero(), vec3_zero(), vec3_zero());
	for (uint32_t i = 0; i < 200; i++) {
		vec3 place = random_vector(&rng, 0.5, 0.5, 0.5);
		place.y += 1.5;
		spawn_at(world, TEST_SPHERE, place, vec3_zero(), vec3_zero());
	}
}

/* ---- a planar pile ---------------------------------------------------------------------------- */

static void send_planar(struct world *world, uint64_t tick)
{
	if (tick == 0) {
		struct command bounds = test_command(COMMAND_BOUNDS);
		bounds.bounds.mode = BOUNDS_WALLS;
		bounds.bounds.minimum = vec3_make(-5, 0, -1);
		bounds.bounds.maximum = vec3_make(5, 50, 1);
		test_do(world, &bounds);
	}
	if (tick % 8 == 0 && tick < 160) {
		struct rng rng = rng_seeded(tick + 3);
		enum test_shape shape = tick % 16 == 0 ? TEST_POLYGON : TEST_TRIANGLE;
		vec3 place = random_vector(&rng, 1, 0, 0);
		place.y = 8;
		spawn_at(world, shape, place, vec3_zero(), random_vector(&rng, 0, 0, 3));
	}
}

/* ---- spheres: the method changes on the way --------------------------------------------------- */

static void send_switch(struct world *world, uint64_t tick)
{
	static const char *const methods[] = {
		"lcp", "soft-step", "projection", "free", "gr-velocity-projection", "lcp"
	};
	if (tick == 0) {
		spawn_at(world, TEST_PLANE, vec3_zero(), vec3_zero(), vec3_zero());
		for (uint32_t i = 0; i < 12; i++)
			spawn_at(world, TEST_SPHERE,
				 vec3_make(0.6 * (i % 3), 0.6 + 1.05 * (i / 3), 0.3 * (i % 2)),
				 vec3_zero(), vec3_zero());
	}
	if (tick % 40 == 20 && tick / 40 < COUNT_OF(methods)) {
		struct command method = test_command(COMMAND_METHOD);
		method.method.name = test_text(methods[tick / 40]);
		test_do(world, &method);
	}
}

/* ---- solids that are distance fields, with everything, on a plane and on hilly ground ----------- */

static void send_fields(struct world *world, uint64_t tick)
{
	static const enum test_shape kinds[] = { TEST_RING,    TEST_BLOCK, TEST_SPHERE, TEST_RING,
						 TEST_CAPSULE, TEST_BLOCK, TEST_HULL,	TEST_BOX };
	if (tick == 0)
		spawn_at(world, TEST_MESH, vec3_make(0, -0.5, 0), vec3_zero(), vec3_zero());
	if (tick == 0)
		spawn_at(world, TEST_PLANE, vec3_make(0, -0.25, 0), vec3_zero(), vec3_zero());
	if (tick % 5 == 0 && tick < 80) {
		struct rng rng = rng_seeded(tick + 21);
		vec3 place = random_vector(&rng, 0.8, 0, 0.8);
		vec3 spin = random_vector(&rng, 2, 2, 2);
		place.y = 2.5;
		spawn_at(world, kinds[tick / 5 % COUNT_OF(kinds)], place, vec3_make(0, -2, 0),
			 spin);
	}
}

/* ---- a machine for each type of joint, under one method after the other -------------------------- */

static joint_id join_at(struct world *world, uint8_t type, int64_t a, int64_t b, vec3 at,
			double breaks)
{
	struct command create = test_command(COMMAND_JOINT_CREATE);
	create.joint_create.type = type;
	create.joint_create.body_a = a;
	create.joint_create.body_b = b;
	create.joint_create.point_a = at;
	create.joint_create.point_b = vec3_add(at, vec3_make(0.3, -0.5, 0));
	create.joint_create.place = 1;
	create.joint_create.break_force = breaks;
	return test_do(world, &create);
}

/* Everything a joint of the type may have: motors of speed and position, waves, a table, limits,
 * springs, friction. */
static void set_axes(struct world *world, uint8_t type, joint_id id)
{
	static const uint8_t axes[JOINT_TYPES_END] = {
		[JOINT_SPHERICAL] = 4,	 [JOINT_REVOLUTE] = 3,	[JOINT_PRISMATIC] = 0,
		[JOINT_CYLINDRICAL] = 3, [JOINT_UNIVERSAL] = 4, [JOINT_SIX_DOF] = 1,
		[JOINT_WHEEL] = 5,	 [JOINT_DRAG] = 1,
	};
	struct command axis = test_command(COMMAND_JOINT_AXIS);
	struct command_JOINT_AXIS *set = &axis.joint_axis;
	if (type == JOINT_FIXED || type == JOINT_DISTANCE)
		return;
	set->joint = id;
	set->axis = axes[type];
	set->friction = type == JOINT_CYLINDRICAL ? 50 : 0;
	if (type == JOINT_SPHERICAL || type == JOINT_UNIVERSAL) {
		set->mode = JOINT_LIMITED;
		set->lower = type == JOINT_SPHERICAL ? 0 : -0.4;
		set->upper = 0.4;
		set->restitution = 0.5;
	} else if (type == JOINT_DRAG || type == JOINT_SIX_DOF) {
		set->spring = type == JOINT_DRAG ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
		set->stiffness = type == JOINT_DRAG ? 2 : 4e4;
		set->damping = type == JOINT_DRAG ? 0.7 : 800;
	} else if (type != JOINT_CYLINDRICAL) {
		set->motor = type == JOINT_REVOLUTE ? JOINT_MOTOR_POSITION : JOINT_MOTOR_VELOCITY;
		set->wave = type == JOINT_REVOLUTE ? JOINT_WAVE_SINE : JOINT_WAVE_CONSTANT;
		set->target = type == JOINT_REVOLUTE ? 0 : 1.5;
		set->amplitude = 0.8;
		set->hertz = 0.7;
		set->motor_limit = 3e4;
	}
	test_do(world, &axis);
	if (type != JOINT_PRISMATIC)
		return;
	static const struct joint_point points[] = { { 0, 1 }, { 0.5, -1 }, { 1, 1 } };
	struct command table = test_command(COMMAND_JOINT_TABLE);
	table.joint_table.joint = id;
	table.joint_table.points = (struct point_list){ points, COUNT_OF(points) };
	table.joint_table.period = 1;
	test_do(world, &table);
}

static void send_joints(struct world *world, uint64_t tick)
{
	static const char *const methods[] = { "lcp", "projection", "reflection", "soft-step" };
	if (tick == 0)
		spawn_at(world, TEST_PLANE, vec3_zero(), vec3_zero(), vec3_zero());
	for (uint8_t type = 1; tick == 0 && type < JOINT_TYPES_END; type++) {
		double x = 4 * type;
		body_id upper =
			spawn_at(world, TEST_BOX, vec3_make(x, 3.5, 0), vec3_zero(), vec3_zero());
		body_id lower = spawn_at(world, TEST_CAPSULE, vec3_make(x + 0.2, 1.6, 0.1),
					 vec3_make(0.3, 0, -0.2), vec3_zero());
		/* Both bodies weigh some 15 kN; the last joints break when the bodies hit the
		 * ground. */
		set_axes(world, type, join_at(world, type, 0, upper, vec3_make(x, 4, 0), 0));
		join_at(world, JOINT_SPHERICAL, upper, lower, vec3_make(x, 2.8, 0),
			2e4 + 1e3 * type);
	}
	if (tick % 60 == 59 && tick / 60 < COUNT_OF(methods)) {
		struct command method = test_command(COMMAND_METHOD);
		method.method.name = test_text(methods[tick / 60]);
		test_do(world, &method);
	}
}

static void set_coordinates(struct world *world, const char *name)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = 2;
	test_do(world, &command);
}

/* The same with joints of trees as part of the masses, under the exact methods; and under all. */
static void send_trees(struct world *world, uint64_t tick)
{
	if (tick == 0)
		set_coordinates(world, "articulated.coordinates");
	send_joints(world, tick);
}

static void send_limbs(struct world *world, uint64_t tick)
{
	if (tick == 0)
		set_coordinates(world, "soft_step.coordinates");
	send_trees(world, tick);
}

/* ---- towers, under a method without friction ---------------------------------------------------- */

static void put_brick(struct world *world, enum test_shape shape, double x, double y,
		      uint8_t status)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, vec3_make(x, y, 0), &item);
	spawn.spawn.status = status;
	spawn.spawn.mass = 1;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = spawn.spawn.restitution = 0;
	test_do(world, &spawn);
}

/* An inverted triangle of 10 bricks, one of which is out of its place. */
static void send_triangle(struct world *world, enum test_shape shape, uint64_t tick)
{
	for (int i = -8; i <= 8 && tick == 0; i++)
		put_brick(world, shape, i, -0.5, BODY_STATIC);
	for (uint32_t row = 0; row < 4 && tick == 0; row++)
		for (uint32_t i = 0; i <= row; i++)
			put_brick(world, shape, 1.002 * (i - 0.5 * row) + (i == 2 ? 0.01 : 0),
				  row + 0.5, BODY_DYNAMIC);
}

static void send_tower(struct world *world, uint64_t tick)
{
	send_triangle(world, TEST_POLYGON, tick);
}

static void send_cubes(struct world *world, uint64_t tick)
{
	send_triangle(world, TEST_BOX, tick);
}

/* A triangle of six bricks of nine points; the lowest one is let go in the fall, and a bar is removed. */
static void send_frames(struct world *world, uint64_t tick)
{
	body_id bricks[FRAME_BRICKS_MAX], points[FRAME_BRICKS_MAX][FRAME_POINTS];
	for (int i = -8; i <= 8 && tick == 0; i++)
		put_brick(world, TEST_POLYGON, i, -0.5, BODY_STATIC);
	if (tick == 0)
		frame_triangle(world, points, bricks);
	if (tick != 40)
		return;
	struct command uncarry = test_command(COMMAND_UNCARRY);
	uncarry.uncarry.body = 18;
	test_do(world, &uncarry);
	struct command remove = test_command(COMMAND_JOINT_REMOVE);
	remove.joint_remove.joint = 20;
	test_do(world, &remove);
}

const struct scene scenes[] = {
	{ "two-fall", "free", false, 300, 100, send_two_fall },
	{ "heap", "soft-step", false, 600, 200, send_heap },
	{ "ground", "soft-step", false, 300, 100, send_ground },
	{ "overlap-bomb", "soft-step", false, 120, 60, send_bomb },
	{ "planar", "soft-step", true, 400, 200, send_planar },
	{ "switch", "soft-step", false, 240, 60, send_switch },
	{ "fields", "soft-step", false, 240, 80, send_fields },
	{ "joints", "soft-step", false, 300, 60, send_joints },
	{ "trees", "soft-step", false, 300, 60, send_trees },
	{ "limbs", "soft-step", false, 300, 60, send_limbs },
	{ "tower", "gauss", true, 240, 80, send_tower },
	{ "cubes", "gauss", false, 240, 80, send_cubes },
	{ "frames", "gauss", true, 120, 40, send_frames },
};
const uint32_t scene_count = COUNT_OF(scenes);
