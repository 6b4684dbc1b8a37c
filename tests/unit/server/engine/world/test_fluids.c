/* Fluids: bodies float as their density says, heave and roll with their periods, right themselves,
 * and drift with the flow, under every method; where a fluid ends; who feels none; images. */
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include <math.h>

#define GRAVITY 9.81
#define WATER 1000.0

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };

static struct command water(void)
{
	struct command command = test_command(COMMAND_FIELD_CREATE);
	command.field_create.kind = FIELD_FLUID;
	command.field_create.density = WATER;
	return command;
}

/* A raft: four cubes of 1 m side by side along x, four along z, of the density of the command. */
static body_id spawn_raft(struct world *world, double density, vec3 at, quat rotation)
{
	struct attachment items[16];
	struct command spawn = test_command(COMMAND_SPAWN);
	for (uint32_t i = 0; i < COUNT_OF(items); i++)
		items[i] = (struct attachment){ .shape = test_use(world, TEST_BOX),
						.position = vec3_make(i / 4 - 1.5, 0, i % 4 - 1.5),
						.rotation = quat_identity() };
	spawn.spawn.shapes = (struct attachment_list){ items, COUNT_OF(items) };
	spawn.spawn.position = at;
	spawn.spawn.rotation = rotation;
	spawn.spawn.density = density;
	return test_do(world, &spawn);
}

/* What an oscillation about 0 shows, sample by sample. */
struct swing {
	double last, first, rising; /* the last sample; samples at which it rose through 0 */
	uint32_t turns;
};

static struct swing swing_from(double x)
{
	return (struct swing){ x, -1, -1, 0 };
}

/* The sample with this number. */
static void swing_add(struct swing *self, uint32_t number, double x)
{
	if (self->last < 0 && x >= 0) {
		self->rising = number - x / (x - self->last);
		self->first = self->first < 0 ? self->rising : self->first;
		self->turns++;
	}
	self->last = x;
}

/* Samples. */
static double swing_period(const struct swing *self)
{
	ck_assert_uint_gt(self->turns, 1);
	return (self->rising - self->first) / (self->turns - 1);
}

/* Heave: m x'' = −ρ g A x, hence T = 2π √(draft / g) with the draft at rest; without damping the
 * amplitude stays. */
START_TEST(a_raft_heaves_with_its_period_and_keeps_its_energy)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command field = water();
	test_do(world, &field);
	body_id raft = spawn_raft(world, 600, vec3_make(0, 0, 0), quat_identity());
	double middle = -0.1, amplitude = 0.1, largest = 0;
	struct swing swing = swing_from(amplitude);
	for (uint32_t tick = 1; tick <= 1200; tick++) {
		test_step(world, 1);
		double x = test_body(world, raft).position.y - middle;
		swing_add(&swing, tick, x);
		if (tick > 1100)
			largest = fmax(largest, fabs(x));
	}
	double period = swing_period(&swing) / 60;
	ck_assert_double_eq_tol(period, TWO_PI * sqrt(0.6 / GRAVITY), 1e-3 * period);
	ck_assert_double_eq_tol(largest, amplitude, 2e-3 * amplitude);
	expect_near(test_body(world, raft).angular_velocity, vec3_zero(), 1e-9);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Roll by small angles: I θ'' = −ρ g V GM θ, GM = I_waterline / V − BG. */
START_TEST(a_raft_rolls_with_its_period)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command field = water();
	test_do(world, &field);
	quat tilt = quat_from_axis_angle(vec3_make(0, 0, 1), 0.01);
	body_id raft = spawn_raft(world, 600, vec3_make(0, -0.1, 0), tilt);
	double volume = 16 * 0.6, waterline = 4.0 * 64 / 12, lever = 0.5 - 0.3;
	double height = waterline / volume - lever;
	double inertia = 600 * 16 * (16 + 1) / 12.0;
	double period = TWO_PI * sqrt(inertia / (WATER * GRAVITY * volume * height));
	struct swing swing = swing_from(0.01);
	for (uint32_t tick = 1; tick <= 900; tick++) {
		test_step(world, 1);
		double x = 2 * test_body(world, raft).rotation.z;
		swing_add(&swing, tick, x);
	}
	ck_assert_double_eq_tol(swing_period(&swing) / 60, period, 0.01 * period);
	world_destroy(world);
}
END_TEST

START_TEST(a_tilted_raft_rights_itself_and_floats_at_its_density)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command field = water();
	field.field_create.linear = 20000;
	field.field_create.angular = 2;
	test_do(world, &field);
	vec3 axis = vec3_normalize(vec3_make(1, 0, 2));
	body_id raft = spawn_raft(world, 350, vec3_make(0, 1, 0), quat_from_axis_angle(axis, 0.7));
	test_step(world, 1800);
	struct body_view end = test_body(world, raft);
	expect_near(quat_rotate(end.rotation, vec3_make(0, 1, 0)), vec3_make(0, 1, 0), 1e-3);
	ck_assert_double_eq_tol(end.position.y, 0.5 - 0.35, 1e-3);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* The submerged part of each shape, computed by bisection from its definition. */
START_TEST(each_shape_floats_with_its_share_below)
{
	static const enum test_shape SHAPES[] = { TEST_SPHERE, TEST_CAPSULE, TEST_HULL, TEST_RING };
	for (uint32_t i = 0; i < COUNT_OF(SHAPES); i++) {
		struct world *world = test_world(false, METHODS[_i]);
		struct command field = water();
		field.field_create.linear = 3;
		field.field_create.angular = 3;
		field.field_create.flags = FIELD_PER_MASS;
		field.field_create.position = vec3_make(0, 7, 0);
		test_do(world, &field);
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, SHAPES[i], vec3_make(1, 7, 2), &item);
		spawn.spawn.density = 300;
		body_id body = test_do(world, &spawn);
		test_step(world, 1500);
		struct body_view end = test_body(world, body);
		/* At rest, so what is displaced weighs as much as the body. */
		ck_assert_double_lt(vec3_length(end.velocity), 1e-3);
		ck_assert_double_lt(fabs(end.position.y - 7), 1);
		/* With twice the density of the fluid the same body sinks. */
		spawn.spawn.density = 2 * WATER;
		spawn.spawn.position.x = 9;
		body_id stone = test_do(world, &spawn);
		test_step(world, 120);
		ck_assert_double_lt(test_body(world, stone).position.y, 6);
		world_destroy(world);
	}
}
END_TEST

/* A ball of half the water's density floats to its middle; one of density d to the root of its cap. */
START_TEST(a_ball_floats_as_its_cap_says)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command field = water();
	field.field_create.linear = 5;
	field.field_create.flags = FIELD_PER_MASS;
	test_do(world, &field);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 0.2, 0), &item);
	spawn.spawn.density = 800;
	spawn.spawn.flags = 0; /* a body that has become slow falls asleep before it has arrived */
	body_id ball = test_do(world, &spawn);
	test_step(world, 1200);
	double y = test_body(world, ball).position.y, h = 0.5 - y;
	ck_assert_double_eq_tol(h * h * (1.5 - h) / 0.5, 0.8, 1e-4);
	world_destroy(world);
}
END_TEST

START_TEST(the_flow_carries_and_a_fluid_ends_at_its_box)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command field = water();
	field.field_create.region = FIELD_BOX;
	field.field_create.half = vec3_make(10, 2, 10);
	field.field_create.position = vec3_make(0, -2, 0);
	field.field_create.linear = 4;
	field.field_create.flags = FIELD_PER_MASS;
	field.field_create.velocity = vec3_make(1, 0, 0.5);
	test_do(world, &field);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 0, 0), &item);
	spawn.spawn.density = 500;
	body_id inside = test_do(world, &spawn);
	spawn.spawn.position = vec3_make(0, 0, 12);
	body_id outside = test_do(world, &spawn);
	spawn.spawn.position = vec3_make(5, -4.51, 0);
	body_id under = test_do(world, &spawn);
	spawn.spawn.position = vec3_make(-5, 0, 0);
	spawn.spawn.category = 2;
	body_id deaf = test_do(world, &spawn);
	struct command set = test_command(COMMAND_FIELD_SET);
	struct command_FIELD_CREATE *now = &field.field_create;
	set.field_set.field = 1;
	set.field_set.kind = now->kind, set.field_set.region = now->region;
	set.field_set.half = now->half, set.field_set.position = now->position;
	set.field_set.linear = now->linear, set.field_set.flags = now->flags;
	set.field_set.velocity = now->velocity, set.field_set.density = now->density;
	set.field_set.mask = 1;
	test_do(world, &set);
	test_step(world, 240);
	struct body_view body = test_body(world, inside);
	/* Half submerged: it takes the flow with half the rate, e^(−2 · 4). */
	expect_near(body.velocity, vec3_make(1, 0, 0.5), 2e-3);
	ck_assert_double_eq_tol(body.position.y, 0, 1e-3);
	double fallen = 0.5 * GRAVITY * 16;
	ck_assert_double_eq_tol(test_body(world, outside).position.y, -fallen, 1e-9);
	ck_assert_double_eq_tol(test_body(world, under).position.y, -4.51 - fallen, 1e-9);
	ck_assert_double_eq_tol(test_body(world, deaf).position.y, -fallen, 1e-9);
	world_destroy(world);
}
END_TEST

START_TEST(a_planar_fluid_floats_polygons)
{
	struct world *world = test_world(true, METHODS[_i]);
	struct command field = water();
	field.field_create.linear = 3;
	field.field_create.angular = 3;
	field.field_create.flags = FIELD_PER_MASS;
	test_do(world, &field);
	for (uint32_t i = 0; i < 2; i++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, i == 0 ? TEST_POLYGON : TEST_TRIANGLE,
					   vec3_make(4.0 * i, 0, 0), &item);
		spawn.spawn.density = 900;
		spawn.spawn.flags = 0;
		body_id body = test_do(world, &spawn);
		test_step(world, 1200);
		struct body_view end = test_body(world, body);
		ck_assert_double_eq(end.position.z, 0);
		ck_assert_double_lt(vec3_length(end.velocity), 1e-3);
		ck_assert_double_lt(fabs(end.position.y), 1);
		/* A square at 0.9 floats flat: 1/10 is above. */
		if (i == 0)
			ck_assert_double_eq_tol(end.position.y, -0.4, 1e-3);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_fluid_wakes_who_is_over_it_and_images_keep_it)
{
	struct world *world = test_world(false, "soft-step");
	(void)test_spawn(world, TEST_PLANE, vec3_zero());
	body_id raft = spawn_raft(world, 500, vec3_make(0, 0.5, 0), quat_identity());
	test_step(world, 240);
	ck_assert(test_body(world, raft).asleep);
	struct command field = water();
	field.field_create.position = vec3_make(0, 3, 0);
	test_do(world, &field);
	test_step(world, 30);
	ck_assert_double_gt(test_body(world, raft).position.y, 0.6);
	struct bytes image = test_save(world);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	test_step(world, 60);
	test_step(copy, 60);
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("fluids");
	TCase *all = tcase_create("all");
	const int methods = COUNT_OF(METHODS);
	tcase_add_loop_test(all, a_raft_heaves_with_its_period_and_keeps_its_energy, 0, methods);
	tcase_add_loop_test(all, a_raft_rolls_with_its_period, 0, methods);
	tcase_add_loop_test(all, a_tilted_raft_rights_itself_and_floats_at_its_density, 0, methods);
	tcase_add_loop_test(all, each_shape_floats_with_its_share_below, 0, methods);
	tcase_add_loop_test(all, a_ball_floats_as_its_cap_says, 0, methods);
	tcase_add_loop_test(all, the_flow_carries_and_a_fluid_ends_at_its_box, 0, methods);
	tcase_add_loop_test(all, a_planar_fluid_floats_polygons, 0, methods);
	tcase_add_test(all, a_fluid_wakes_who_is_over_it_and_images_keep_it);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
