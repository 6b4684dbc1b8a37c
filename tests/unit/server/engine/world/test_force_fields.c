/* Force fields: their forces against the definitions and the numbers of the book's table (P-09), what every
 * method makes of them, drags of any size, waking, limits, refusals, and images. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <math.h>

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };

static struct command field_of(enum field_kind kind, enum field_region region, vec3 half)
{
	struct command command = test_command(COMMAND_FIELD_CREATE);
	command.field_create.kind = kind;
	command.field_create.region = region;
	command.field_create.half = half;
	return command;
}

static vec3 force_at(const struct world *world, vec3 at)
{
	vec3 acceleration, force;
	world_field_force(world, at, vec3_zero(), 1, &acceleration, &force);
	ck_assert(vec3_equal(acceleration, vec3_zero()));
	return force;
}

START_TEST(fall_off_has_the_numbers_of_the_book)
{
	struct world *world = test_world(false, "soft-step");
	struct command ball = field_of(FIELD_WIND, FIELD_BALL, vec3_make(2, 0, 0));
	ball.field_create.falloff = FIELD_LINEAR;
	ball.field_create.strength = vec3_make(10, 0, 0);
	struct command box = field_of(FIELD_WIND, FIELD_BOX, vec3_make(2, 4, 8));
	box.field_create.falloff = FIELD_COMPONENTS;
	box.field_create.position = vec3_make(100, 0, 0);
	box.field_create.strength = vec3_make(1, 1, 1);
	test_do(world, &ball);
	test_do(world, &box);
	expect_near(force_at(world, vec3_make(0, 0.5, 0)), vec3_make(7.5, 0, 0), 1e-300);
	expect_near(force_at(world, vec3_make(0, 0, 2.001)), vec3_zero(), 1e-300);
	expect_near(force_at(world, vec3_make(101, 1, 1)), vec3_make(0.5, 0.75, 0.875), 1e-300);
	expect_near(force_at(world, vec3_make(101, 4.001, 1)), vec3_zero(), 1e-300);
	world_destroy(world);
}
END_TEST

/* The weight by the definition of types.h, with the distance to the border in place of products. */
static double weight_of(const struct command_FIELD_CREATE *field, vec3 d)
{
	bool linear = field->falloff == FIELD_LINEAR;
	double r = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), weight = 1;
	if (field->region == FIELD_BALL)
		return r > field->half.x ? 0 : linear ? (field->half.x - r) / field->half.x : 1;
	for (uint32_t axis = 0; axis < 3 && field->region == FIELD_BOX; axis++) {
		double half = vec3_get(field->half, axis), x = fabs(vec3_get(d, axis));
		weight *= x > half ? 0 : linear ? (half - x) / half : 1;
	}
	return weight;
}

/* The force at d in the field's axes for a point at rest. */
static vec3 defined_force(const struct command_FIELD_CREATE *field, vec3 d)
{
	double w = weight_of(field, d), around = hypot(d.x, d.z);
	vec3 s = field->strength;
	double square = d.x * d.x + d.y * d.y + d.z * d.z + field->core * field->core;
	double pull = w * s.x / pow(square, (field->power + 1) / 2.0);
	switch ((enum field_kind)field->kind) {
	case FIELD_WIND:
		return vec3_make(w * s.x, w * s.y, w * s.z);
	case FIELD_ATTRACTOR:
		return vec3_make(-pull * d.x, -pull * d.y, -pull * d.z);
	case FIELD_VORTEX:
		return vec3_make(w * (s.x * d.z - s.z * d.x) / around, w * s.y,
				 w * (-s.x * d.x - s.z * d.z) / around);
	default:
		return vec3_zero();
	}
}

START_TEST(each_kind_has_its_defined_force_and_fields_add_up)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t inside = 0;
	for (uint32_t run = 0; run < 300; run++) {
		struct world *world = test_world(false, "soft-step");
		struct command_FIELD_CREATE fields[3];
		vec3 sum = vec3_zero(), at = random_vector(&rng, 2);
		for (uint32_t i = 0; i < COUNT_OF(fields); i++) {
			struct command command = field_of(
				(enum field_kind)(FIELD_WIND + rng_below(&rng, 3)),
				(enum field_region)rng_below(&rng, 3),
				vec3_make(rng_range(&rng, 1, 4), rng_range(&rng, 1, 4), 3));
			fields[i] = command.field_create;
			fields[i].falloff = fields[i].region != FIELD_EVERYWHERE && run % 2;
			fields[i].position = random_vector(&rng, 2);
			fields[i].rotation = random_rotation(&rng);
			fields[i].strength = random_vector(&rng, 20);
			if (fields[i].kind == FIELD_ATTRACTOR)
				fields[i].strength = vec3_make(rng_range(&rng, -9, 9), 0, 0);
			fields[i].power = rng_below(&rng, 3);
			fields[i].core = rng_range(&rng, 0.01, 1);
			command.field_create = fields[i];
			test_do(world, &command);
			vec3 d = quat_rotate_inverse(fields[i].rotation,
						     vec3_sub(at, fields[i].position));
			inside += weight_of(&fields[i], d) > 0;
			sum = vec3_add(
				sum, quat_rotate(fields[i].rotation, defined_force(&fields[i], d)));
		}
		expect_near(force_at(world, at), sum, 1e-9 * (1 + vec3_length(sum)));
		world_destroy(world);
	}
	ck_assert_uint_gt(inside, 300);
}
END_TEST

START_TEST(every_method_feels_a_wind_by_force_and_by_mass)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command wind = field_of(FIELD_WIND, FIELD_EVERYWHERE, vec3_all(1));
	test_no_gravity(world);
	wind.field_create.strength = vec3_make(3, 0, -1);
	test_do(world, &wind);
	wind.field_create.strength = vec3_make(0, 2, 0);
	wind.field_create.flags = FIELD_PER_MASS;
	test_do(world, &wind);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	spawn.spawn.mass = 4;
	body_id body = test_do(world, &spawn);
	spawn.spawn.position = vec3_make(9, 0, 0);
	spawn.spawn.category = 2;
	wind.op = COMMAND_FIELD_SET;
	struct command_FIELD_CREATE first = wind.field_create;
	body_id deaf = test_do(world, &spawn);
	/* Both fields are for category 1 only. */
	for (int64_t id = 1; id <= 2; id++) {
		struct command set = test_command(COMMAND_FIELD_SET);
		set.field_set.field = id;
		set.field_set.kind = FIELD_WIND;
		set.field_set.mask = 1;
		set.field_set.flags = id == 2 ? FIELD_PER_MASS : 0;
		set.field_set.strength = id == 2 ? first.strength : vec3_make(3, 0, -1);
		test_do(world, &set);
	}
	test_step(world, 30);
	expect_near(test_body(world, body).velocity, vec3_make(3.0 / 8, 1, -1.0 / 8), 1e-12);
	expect_near(test_body(world, deaf).velocity, vec3_zero(), 1e-300);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* v' = g − c v: ends at g / c; the discrete drag has that same fixed point. */
START_TEST(a_body_sinks_at_its_terminal_velocity_under_every_method)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct command drag = field_of(FIELD_DRAG, FIELD_EVERYWHERE, vec3_all(1));
	drag.field_create.linear = 6; /* N s/m, of 2 kg: 3 1/s */
	drag.field_create.velocity = vec3_make(1.5, 0, 0);
	test_do(world, &drag);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	spawn.spawn.mass = 2;
	body_id body = test_do(world, &spawn);
	test_step(world, 900);
	expect_near(test_body(world, body).velocity, vec3_make(1.5, -9.81 / 3, 0), 1e-9);
	world_destroy(world);
}
END_TEST

/* A drag of any size takes the relative motion at most; it never turns it back, and no energy comes. */
START_TEST(a_drag_of_any_size_only_slows)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	struct command drag = field_of(FIELD_DRAG, FIELD_EVERYWHERE, vec3_all(1));
	drag.field_create.linear = 1e9;
	drag.field_create.quadratic = 1e9;
	drag.field_create.angular = 1e3;
	test_do(world, &drag);
	drag.field_create.flags = FIELD_PER_MASS;
	drag.field_create.linear = 20;
	drag.field_create.region = FIELD_BALL;
	drag.field_create.position = vec3_make(50, 0, 0);
	test_do(world, &drag);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command speed = test_command(COMMAND_SET_VELOCITY);
	speed.set_velocity.body = body;
	speed.set_velocity.velocity = vec3_make(20, -3, 1);
	speed.set_velocity.angular_velocity = vec3_make(0, 5, 2);
	test_do(world, &speed);
	double before = world_energy(world).kinetic;
	for (uint32_t tick = 0; tick < 20; tick++) {
		test_step(world, 1);
		double now = world_energy(world).kinetic;
		vec3 v = test_body(world, body).velocity;
		ck_assert_double_le(now, before);
		ck_assert(v.x >= -1e-12 && v.y <= 1e-12 && v.z >= -1e-12);
		before = now;
	}
	ck_assert_double_lt(before, 1e-12);
	world_destroy(world);
}
END_TEST

/* A circular orbit closes: speed √(s / r) about an attractor of power 2. The force is held over a tick, so
 * the radius grows by 4 % in a period of 942 ticks. */
START_TEST(a_body_orbits_an_attractor)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command pull = field_of(FIELD_ATTRACTOR, FIELD_EVERYWHERE, vec3_all(1));
	pull.field_create.strength = vec3_make(160, 0, 0);
	pull.field_create.flags = FIELD_PER_MASS;
	pull.field_create.core = FIELD_CORE_MIN;
	test_do(world, &pull);
	body_id body = test_spawn(world, TEST_SPHERE, vec3_make(10, 0, 0));
	struct command speed = test_command(COMMAND_SET_VELOCITY);
	speed.set_velocity.body = body;
	speed.set_velocity.velocity = vec3_make(0, 0, 4);
	test_do(world, &speed);
	for (uint32_t tick = 0; tick < 942; tick++) {
		test_step(world, 1);
		ck_assert_double_eq_tol(vec3_length(test_body(world, body).position), 10, 0.5);
	}
	expect_near(test_body(world, body).position, vec3_make(10, 0, 0), 2.5);
	world_destroy(world);
}
END_TEST

static bool is_asleep(const struct world *world, body_id body)
{
	return test_body(world, body).asleep;
}

static void fall_asleep(struct world *world, body_id near, body_id far)
{
	test_step(world, 200);
	ck_assert(is_asleep(world, near) && is_asleep(world, far));
}

START_TEST(commands_about_a_field_wake_the_bodies_in_its_region_only)
{
	struct world *world = test_world(false, "soft-step");
	struct command plane = test_command(COMMAND_SPAWN);
	struct attachment item = { .shape = test_use(world, TEST_PLANE),
				   .rotation = quat_identity() };
	plane.spawn.status = BODY_STATIC;
	plane.spawn.shapes = (struct attachment_list){ &item, 1 };
	test_do(world, &plane);
	body_id near = test_spawn(world, TEST_BOX, vec3_make(0, 0.5, 0));
	body_id far = test_spawn(world, TEST_BOX, vec3_make(9, 0.5, 0));
	fall_asleep(world, near, far);
	struct command wind = field_of(FIELD_WIND, FIELD_BOX, vec3_make(2, 2, 2));
	wind.field_create.strength = vec3_make(0.01, 0, 0);
	int64_t field = test_do(world, &wind);
	ck_assert(!is_asleep(world, near) && is_asleep(world, far));
	fall_asleep(world, near, far);
	struct command set = test_command(COMMAND_FIELD_SET);
	set.field_set.field = field;
	set.field_set.kind = FIELD_WIND;
	set.field_set.region = FIELD_BALL;
	set.field_set.position = vec3_make(9, 0, 0);
	test_do(world, &set);
	ck_assert(!is_asleep(world, near) && !is_asleep(world, far));
	fall_asleep(world, near, far);
	struct command remove = test_command(COMMAND_FIELD_REMOVE);
	remove.field_remove.field = field;
	test_do(world, &remove);
	ck_assert(is_asleep(world, near) && !is_asleep(world, far));
	ck_assert_int_eq(test_try(world, &remove), STATUS_UNKNOWN_FIELD);
	world_destroy(world);
}
END_TEST

/* Images keep fields; a restored world goes on bit for bit; rows are reused and ids are not. */
START_TEST(images_keep_fields_and_ids_are_never_given_twice)
{
	struct world *world = test_world(false, "soft-step"), *copy;
	struct reason why;
	struct command wind = field_of(FIELD_WIND, FIELD_BALL, vec3_all(3));
	wind.field_create.strength = vec3_make(1, 2, 3);
	uint64_t bare = test_hash(world);
	ck_assert_uint_eq(test_do(world, &wind), 1);
	ck_assert_uint_ne(test_hash(world), bare);
	wind.field_create.tag = 77;
	ck_assert_uint_eq(test_do(world, &wind), 2);
	struct command remove = test_command(COMMAND_FIELD_REMOVE);
	remove.field_remove.field = 1;
	test_do(world, &remove);
	ck_assert_uint_eq(test_do(world, &wind), 3);
	struct field_view fields[FIELDS_MAX];
	ck_assert_uint_eq(world_fields(world, fields), 2);
	ck_assert(fields[0].id == 2 && fields[1].id == 3 && fields[0].tag == 77);
	test_spawn(world, TEST_SPHERE, vec3_make(1, 0, 0));
	test_step(world, 10);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, &why),
			 STATUS_OK);
	test_step(world, 50);
	test_step(copy, 50);
	ck_assert_uint_eq(test_hash(copy), test_hash(world));
	test_check(copy);
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

struct refusal {
	struct command_FIELD_CREATE field;
	enum status status;
	bool planar;
};
#define FIELD_REFUSED(is_planar, status, ...)                                                      \
	{                                                                                          \
		{ __VA_ARGS__ }, status, is_planar                                                 \
	}

START_TEST(numbers_without_effect_and_shapeless_regions_are_refused)
{
	static const struct refusal refusals[] = {
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_WIND, .region = FIELD_BALL,
			      .half = { 0, 1, 1 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_WIND, .region = FIELD_BOX,
			      .half = { 1, 0, 1 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_WIND, .region = FIELD_EVERYWHERE,
			      .falloff = FIELD_LINEAR),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_VORTEX, .region = FIELD_BOX,
			      .half = { 1, 1, 1 }, .falloff = FIELD_COMPONENTS),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_DRAG, .strength = { 0, 1, 0 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_ATTRACTOR,
			      .strength = { 1, 1, 0 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_WIND, .linear = 1),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_VORTEX, .velocity = { 1, 0, 0 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_WIND, .density = 1000),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_FLUID),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_FLUID, .density = 1000,
			      .region = FIELD_BALL, .half = { 1, 1, 1 }),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_FLUID, .density = 1000,
			      .region = FIELD_BOX, .half = { 1, 1, 1 }, .falloff = FIELD_LINEAR),
		FIELD_REFUSED(false, STATUS_RANGE, .kind = FIELD_FLUID, .density = 1000,
			      .strength = { 0, 1, 0 }),
		FIELD_REFUSED(true, STATUS_PLANAR, .kind = FIELD_WIND, .strength = { 1, 0, 1 }),
		FIELD_REFUSED(true, STATUS_PLANAR, .kind = FIELD_WIND, .position = { 0, 0, 1 }),
		FIELD_REFUSED(true, STATUS_PLANAR, .kind = FIELD_VORTEX, .strength = { 1, 1, 0 }),
		FIELD_REFUSED(true, STATUS_PLANAR, .kind = FIELD_DRAG, .velocity = { 0, 0, 1 }),
	};
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		struct world *world = test_world(refusals[i].planar, "soft-step");
		struct command command = test_command(COMMAND_FIELD_CREATE);
		uint64_t before = test_hash(world);
		command.field_create = refusals[i].field;
		command.field_create.rotation = quat_identity();
		command.field_create.core = 1;
		ck_assert_int_eq(test_try(world, &command), refusals[i].status);
		ck_assert_uint_eq(test_hash(world), before);
		world_destroy(world);
	}
}
END_TEST

START_TEST(a_world_has_at_most_fields_max_and_a_batch_may_refer_back)
{
	struct world *world = test_world(false, "soft-step");
	struct command wind = field_of(FIELD_WIND, FIELD_EVERYWHERE, vec3_all(1));
	for (uint32_t i = 0; i < FIELDS_MAX; i++)
		test_do(world, &wind);
	ck_assert_int_eq(test_try(world, &wind), STATUS_LIMIT);
	struct command batch[3] = { test_command(COMMAND_FIELD_REMOVE), wind,
				    test_command(COMMAND_FIELD_SET) };
	batch[0].field_remove.field = 9;
	batch[2].field_set.field = -2;
	batch[2].field_set.kind = FIELD_DRAG;
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, batch, 3, &result), STATUS_OK);
	struct field_view fields[FIELDS_MAX];
	ck_assert_uint_eq(world_fields(world, fields), FIELDS_MAX);
	ck_assert(fields[FIELDS_MAX - 1].id == FIELDS_MAX + 1 &&
		  fields[FIELDS_MAX - 1].kind == FIELD_DRAG);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A planar vortex turns about z and a planar box has no extent along z. */
START_TEST(planar_fields_act_in_the_plane)
{
	struct world *world = test_world(true, "soft-step");
	struct command vortex = field_of(FIELD_VORTEX, FIELD_BOX, vec3_make(5, 5, 0));
	test_no_gravity(world);
	vortex.field_create.strength = vec3_make(2, 0, 1);
	test_do(world, &vortex);
	expect_near(force_at(world, vec3_make(3, 0, 0)), vec3_make(-1, 2, 0), 1e-12);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, vec3_make(3, 0, 0), &item);
	spawn.spawn.mass = 1;
	body_id body = test_do(world, &spawn);
	test_step(world, 60);
	ck_assert_double_eq(test_body(world, body).position.z, 0);
	ck_assert_double_gt(test_body(world, body).velocity.y, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("force_fields");
	TCase *all = tcase_create("force_fields");
	int methods = (int)COUNT_OF(METHODS);
	tcase_add_test(all, fall_off_has_the_numbers_of_the_book);
	tcase_add_test(all, each_kind_has_its_defined_force_and_fields_add_up);
	tcase_add_loop_test(all, every_method_feels_a_wind_by_force_and_by_mass, 0, methods);
	tcase_add_loop_test(all, a_body_sinks_at_its_terminal_velocity_under_every_method, 0,
			    methods);
	tcase_add_loop_test(all, a_drag_of_any_size_only_slows, 0, methods);
	tcase_add_test(all, a_body_orbits_an_attractor);
	tcase_add_test(all, commands_about_a_field_wake_the_bodies_in_its_region_only);
	tcase_add_test(all, images_keep_fields_and_ids_are_never_given_twice);
	tcase_add_test(all, numbers_without_effect_and_shapeless_regions_are_refused);
	tcase_add_test(all, a_world_has_at_most_fields_max_and_a_batch_may_refer_back);
	tcase_add_test(all, planar_fields_act_in_the_plane);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
