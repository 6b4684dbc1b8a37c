/* Particle systems: births and their statistics, free flight, deaths, limits, refusals, images (ch1-3 P-01 …
 * P-06, P-36 … P-44). */
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 100000 };
static struct particle_view particles[MOST];
static struct system_view systems[SYSTEMS_MAX];

static struct system_view system_of(const struct world *world)
{
	ck_assert_uint_eq(world_systems(world, systems), 1);
	return systems[0];
}

static uint32_t read_all(const struct world *world, system_id system)
{
	return world_particles(world, system, 0, particles, MOST);
}

/* ---- free flight --------------------------------------------------------------------------------- */

START_TEST(a_particle_without_forces_but_gravity_falls_on_a_parabola)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	system_id system = test_do(world, &create);
	vec3 from = vec3_make(1, 200, -3), speed = vec3_make(3, 20, -1);
	test_add_particle(world, system, from, speed);
	double g = -9.81;
	for (uint32_t tick = 1; tick <= 240; tick++) {
		test_step(world, 1);
		double t = tick / 60.0;
		ck_assert_uint_eq(read_all(world, system), 1);
		vec3 p = particles[0].position, v = particles[0].velocity;
		ck_assert_double_eq_tol(p.x, from.x + speed.x * t, 1e-12 * 200);
		ck_assert_double_eq_tol(p.y, from.y + speed.y * t + 0.5 * g * t * t, 1e-12 * 200);
		ck_assert_double_eq_tol(p.z, from.z + speed.z * t, 1e-12 * 200);
		ck_assert_double_eq_tol(v.y, speed.y + g * t, 1e-12 * 40);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* P-06: m = 1, k = 2: v = v0 e^−2t, terminal speed 4.905 m/s. At any k h / m: the law is exact. */
START_TEST(drag_slows_exactly_and_gives_the_terminal_speed)
{
	for (double k = 0.01; k < 1e6; k *= 10) {
		struct world *world = test_world(false, "soft-step");
		struct command create = test_system_command("dust");
		create.particles_create.mass = 1;
		create.particles_create.drag = k;
		system_id system = test_do(world, &create);
		test_add_particle(world, system, vec3_make(0, 0, 0), vec3_make(8, 0, 0));
		test_step(world, 30);
		ck_assert_uint_eq(read_all(world, system), 1);
		double t = 0.5, fall = 9.81 / k;
		double way = 8 * -expm1(-k * t) / k;
		ck_assert_double_eq_tol(particles[0].velocity.x, 8 * exp(-k * t), 1e-12);
		ck_assert_double_eq_tol(particles[0].position.x, way, 1e-12 * (1 + way));
		ck_assert_double_eq_tol(particles[0].velocity.y, fall * expm1(-k * t),
					1e-12 * (1 + fall));
		world_destroy(world);
	}
}
END_TEST

START_TEST(fields_act_on_particles_of_their_categories)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command wind = test_command(COMMAND_FIELD_CREATE);
	wind.field_create.strength = vec3_make(6, 0, 0);
	wind.field_create.mask = 2;
	test_do(world, &wind);
	struct command create = test_system_command("dust");
	create.particles_create.mass = 3;
	create.particles_create.category = 2;
	system_id felt = test_do(world, &create);
	create.particles_create.category = 1;
	system_id other = test_do(world, &create);
	test_add_particle(world, felt, vec3_zero(), vec3_zero());
	test_add_particle(world, other, vec3_zero(), vec3_zero());
	test_step(world, 60);
	ck_assert_uint_eq(read_all(world, felt), 1);
	ck_assert_double_eq_tol(particles[0].velocity.x, 2, 1e-12);
	ck_assert_double_eq_tol(particles[0].position.x, 1, 1e-12);
	ck_assert_uint_eq(read_all(world, other), 1);
	ck_assert_double_eq(particles[0].velocity.x, 0);
	world_destroy(world);
}
END_TEST

/* ---- emitters ------------------------------------------------------------------------------------- */

/* P-38: means and deviations of the drawn numbers. Of a normal distribution that is cut at three standard
 * deviations, the standard deviation is 0.98658 of the whole one's. */
START_TEST(drawn_numbers_have_mean_and_deviation_and_stay_within)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command create = test_system_command("dust");
	struct command_PARTICLES_CREATE *system = &create.particles_create;
	system->emitter = EMITTER_POINT;
	system->rate = system->capacity = 50000;
	system->recycle = 0;
	system->size = 4;
	system->size_deviation = 2;
	system->speed = 10;
	system->speed_deviation = 3;
	system->spread = 0.6;
	system->mask = 0;
	system_id id = test_do(world, &create);
	test_step(world, 1);
	uint32_t count = read_all(world, id);
	ck_assert_uint_eq(count, 50000);
	double size = 0, square = 0, speed = 0, angle = 0, turned = 0, side = 0;
	for (uint32_t i = 0; i < count; i++) {
		double d = 2 * particles[i].radius, v = vec3_length(particles[i].velocity);
		double a = acos(fmin(particles[i].velocity.y / v, 1));
		ck_assert_double_ge(d, 2);
		ck_assert_double_le(d, 6);
		ck_assert_double_ge(v, 7 - 1e-12);
		ck_assert_double_le(v, 13 + 1e-12);
		ck_assert_double_le(a, 0.6 + 1e-7);
		size += d / count;
		square += (d - 4) * (d - 4) / count;
		speed += v / count;
		angle += a / count;
		turned += a * a / count;
		side += particles[i].velocity.x / count;
	}
	ck_assert_double_eq_tol(size, 4, 0.01);
	ck_assert_double_eq_tol(sqrt(square), 2.0 / 3 * 0.98658, 0.01);
	ck_assert_double_eq_tol(speed, 10, 0.015);
	ck_assert_double_eq_tol(side, 0, 0.03);
	ck_assert_double_eq_tol(sqrt(turned), 0.2 * 0.98658, 0.003);
	ck_assert_double_eq_tol(angle, 0.2 * 0.98658 * sqrt(2 / 3.14159265), 0.005);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_plane_emits_on_a_grid_of_two_diameters)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_PLANAR;
	create.particles_create.size = 0.1;
	create.particles_create.rate = 25;
	create.particles_create.half = vec3_make(0.5, 0, 0);
	create.particles_create.speed = 0;
	system_id id = test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world, id), 25); /* P-36: side 1.0, centres 0.2 apart */
	for (uint32_t i = 0; i < 25; i++)
		expect_near(particles[i].position,
			    vec3_make(-0.4 + 0.2 * (i % 5), 0, -0.4 + 0.2 * (i / 5)), 1e-12);
	world_destroy(world);
	/* A smaller side has room for fewer. */
	world = test_world(false, "soft-step");
	create.particles_create.half = vec3_make(0.35, 0, 0);
	id = test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world, id), 9);
	world_destroy(world);
}
END_TEST

START_TEST(spheres_and_boxes_emit_outwards_from_their_surface)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_SPHERE;
	create.particles_create.half = vec3_make(2, 1, 3);
	create.particles_create.rate = 1000;
	create.particles_create.speed = 5;
	create.particles_create.delay = 100;
	system_id sphere = test_do(world, &create);
	create.particles_create.emitter = EMITTER_BOX;
	system_id box = test_do(world, &create);
	test_step(world, 1);
	vec3 sum = vec3_zero();
	ck_assert_uint_eq(read_all(world, sphere), 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		expect_near(vec3_scale(particles[i].position, 2.5), particles[i].velocity, 1e-12);
		sum = vec3_add(sum, vec3_scale(particles[i].position, 1e-3));
	}
	ck_assert_double_le(vec3_length(sum), 0.01);
	uint32_t faces[3] = { 0 };
	ck_assert_uint_eq(read_all(world, box), 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t axis = vec3_largest_axis(vec3_abs(particles[i].velocity));
		double half = vec3_get(create.particles_create.half, axis);
		ck_assert_double_eq(vec3_get(particles[i].position, axis),
				    copysign(half, vec3_get(particles[i].velocity, axis)));
		faces[axis]++;
	}
	/* Areas 3 : 6 : 2 of eleven, within five standard deviations. */
	ck_assert_double_eq_tol(faces[0], 1000 * 3 / 11.0, 75);
	ck_assert_double_eq_tol(faces[1], 1000 * 6 / 11.0, 80);
	ck_assert_double_eq_tol(faces[2], 1000 * 2 / 11.0, 65);
	world_destroy(world);
}
END_TEST

/* P-41: delay 3: emissions at ticks 1, 4, 7, 10. P-40: removed after its age; recycled or not. */
START_TEST(emissions_come_by_delay_and_particles_go_by_age)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.rate = 2;
	create.particles_create.delay = 3;
	create.particles_create.life = 0.0999; /* less than six ticks */
	create.particles_create.mask = 0;
	system_id id = test_do(world, &create);
	static const uint32_t alive[] = { 2, 2, 2, 4, 4, 4, 4, 4, 4, 4 };
	for (uint32_t tick = 1; tick <= 10; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(read_all(world, id), alive[tick - 1]);
		ck_assert_uint_eq(system_of(world).born, 2 * ((tick + 2) / 3));
		test_check(world);
	}
	world_destroy(world);
}
END_TEST

START_TEST(capacity_bounds_the_living_or_the_total_and_the_rest_is_counted)
{
	for (uint32_t recycle = 0; recycle < 2; recycle++) {
		struct world *world = test_world(false, "soft-step");
		struct command create = test_system_command("dust");
		create.particles_create.emitter = EMITTER_POINT;
		create.particles_create.rate = 7;
		create.particles_create.capacity = 10;
		create.particles_create.life = 0.1;
		create.particles_create.recycle = (uint8_t)recycle;
		create.particles_create.mask = 0;
		test_do(world, &create);
		test_step(world, 2);
		ck_assert_uint_eq(system_of(world).alive, 10);
		ck_assert_uint_eq(system_of(world).lost, 4);
		test_step(world, 100);
		ck_assert_uint_le(system_of(world).alive, 10);
		if (recycle)
			ck_assert_uint_gt(system_of(world).born, 100);
		else
			ck_assert_uint_eq(system_of(world).born, 10);
		ck_assert_uint_eq(system_of(world).alive > 0, recycle);
		world_destroy(world);
	}
}
END_TEST

/* What one particle is depends on its serial number, not on what else was born. */
START_TEST(a_birth_does_not_depend_on_other_births)
{
	struct particle_view kept[64];
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.rate = 64;
	create.particles_create.size_deviation = 0.01;
	create.particles_create.spread = 1;
	create.particles_create.recycle = 0;
	create.particles_create.capacity = 64;
	struct world *world = test_world(false, "soft-step");
	system_id id = test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(read_all(world, id), 64);
	memcpy(kept, particles, sizeof kept);
	world_destroy(world);
	/* One each tick, beside another system. */
	create.particles_create.rate = 1;
	world = test_world(false, "soft-step");
	test_no_gravity(world);
	create.particles_create.speed = 0;
	id = test_do(world, &create);
	test_do(world, &create);
	test_step(world, 64);
	ck_assert_uint_eq(read_all(world, id), 64);
	for (uint32_t i = 0; i < 64; i++) {
		ck_assert(vec3_equal(kept[i].position, particles[i].position));
		ck_assert_double_eq(kept[i].radius, particles[i].radius);
	}
	world_destroy(world);
}
END_TEST

/* P-37: births inside of bodies do not happen, and give no impulse. */
START_TEST(an_emitter_inside_a_body_is_silent_and_counted)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.rate = 5;
	test_do(world, &create);
	test_step(world, 3);
	ck_assert_uint_eq(system_of(world).alive, 0);
	ck_assert_uint_eq(system_of(world).refused, 15);
	ck_assert(vec3_equal(test_body(world, body).velocity, vec3_zero()));
	world_destroy(world);
}
END_TEST

/* ---- commands -------------------------------------------------------------------------------------- */

static enum status try_with(void (*spoil)(struct command_PARTICLES_CREATE *system))
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	spoil(&create.particles_create);
	uint64_t before = test_hash(world);
	enum status status = test_try(world, &create);
	ck_assert_uint_eq(test_hash(world), before);
	world_destroy(world);
	return status;
}

#define SPOIL(name, assignment)                                                                    \
	static void spoil_##name(struct command_PARTICLES_CREATE *system)                          \
	{                                                                                          \
		system->assignment;                                                                \
	}
SPOIL(size, size = 0)
SPOIL(size_deviation, size_deviation = 0.02)
SPOIL(mass, mass = 1e-10)
SPOIL(mass_deviation, mass_deviation = 1)
SPOIL(life, life_deviation = 1)
SPOIL(speed, speed = 1e9)
SPOIL(speed_deviation, speed_deviation = 2)
SPOIL(rate, rate = PARTICLES_MAX + 1)
SPOIL(rate_deviation, rate_deviation = 11)
SPOIL(delay, delay = 0)
SPOIL(capacity, capacity = 0)
SPOIL(friction, dynamic_friction = 0.5)
SPOIL(nan, position.y = NAN)

START_TEST(numbers_out_of_their_limits_are_refused_and_change_nothing)
{
	ck_assert_int_eq(try_with(spoil_size), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_size_deviation), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_mass), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_mass_deviation), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_life), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_speed), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_speed_deviation), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_rate), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_rate_deviation), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_delay), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_capacity), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_friction), STATUS_RANGE);
	ck_assert_int_eq(try_with(spoil_nan), STATUS_NOT_FINITE);
}
END_TEST

static void set_number(struct command *command, const struct command_field *field, double value)
{
	char *at = (char *)command + field->offset;
	const vec3 all = vec3_all(value);
	if (field->type == FIELD_F64)
		memcpy(at, &value, sizeof value);
	else if (field->type == FIELD_VEC3)
		memcpy(at, &all, sizeof all);
	else if (field->type == FIELD_U32)
		memcpy(at, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
	else if (field->type == FIELD_INTEGER)
		memcpy(at, &(int64_t){ (int64_t)value }, sizeof(int64_t));
	else
		memcpy(at, &(uint8_t){ (uint8_t)value }, sizeof(uint8_t));
}

/* What a command with this number in one field is answered. */
static void expect(uint16_t op, const struct command_field *field, double value, enum status status)
{
	const struct command_info *info = command_info(op);
	struct command command;
	struct reason why = { 0 };
	command_defaults(&command, op);
	for (uint32_t i = 0; i < info->field_count; i++) {
		int64_t one = 1;
		void *at = (char *)&command + info->fields[i].offset;
		if (info->fields[i].type == FIELD_BODY || info->fields[i].type == FIELD_PARTICLES)
			memcpy(at, &one, sizeof one);
	}
	if (op == COMMAND_PARTICLES_CREATE)
		command.particles_create.name = test_text("dust");
	set_number(&command, field, value);
	ck_assert_msg(command_check_values(&command, 0, &why) == status, "%s, %s = %g: %s",
		      info->name, field->name, value, why.text);
	if (status != STATUS_OK)
		ck_assert_str_eq(why.field, field->name);
}

static void expect_limits(uint16_t op, const struct command_field *field)
{
	bool whole = field->type != FIELD_F64 && field->type != FIELD_VEC3;
	double least = field->type == FIELD_INTEGER ? INT64_MIN : 0;
	double most = field->type == FIELD_ENUM ? UINT8_MAX : UINT32_MAX;
	expect(op, field, field->min, STATUS_OK);
	expect(op, field, field->max, STATUS_OK);
	if (!whole || field->max < most)
		expect(op, field, whole ? field->max + 1 : nextafter(field->max, INFINITY),
		       STATUS_RANGE);
	if (!whole || field->min > least)
		expect(op, field, whole ? field->min - 1 : nextafter(field->min, -INFINITY),
		       STATUS_RANGE);
	if (whole)
		return;
	expect(op, field, NAN, STATUS_NOT_FINITE);
	expect(op, field, INFINITY, STATUS_NOT_FINITE);
}

/* Every number of every command of particles is taken at its limits, and refused by its name beyond. */
START_TEST(every_number_has_limits_that_are_kept)
{
	uint32_t count, fields = 0;
	const struct command_info *list = command_list(&count);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < list[i].field_count; k++) {
			const struct command_field *field = &list[i].fields[k];
			bool number = field->type == FIELD_F64 || field->type == FIELD_VEC3 ||
				      field->type == FIELD_U32 || field->type == FIELD_INTEGER ||
				      field->type == FIELD_ENUM;
			if (strncmp(list[i].name, "particles_", 10) != 0 || !number)
				continue;
			expect_limits(list[i].op, field);
			fields++;
		}
	ck_assert_uint_gt(fields, 100);
}
END_TEST

START_TEST(systems_are_bounded_found_changed_and_removed)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust"),
		       remove = test_command(COMMAND_PARTICLES_REMOVE);
	create.particles_create.capacity = PARTICLES_MAX - 10;
	system_id first = test_do(world, &create);
	create.particles_create.capacity = 11;
	ck_assert_int_eq(test_try(world, &create), STATUS_LIMIT);
	create.particles_create.capacity = 1;
	system_id second = test_do(world, &create);
	test_add_particle(world, first, vec3_zero(), vec3_zero());
	test_add_particle(world, second, vec3_zero(), vec3_zero());
	test_add_particle(world, first, vec3_zero(), vec3_zero());
	struct command more = test_command(COMMAND_PARTICLES_ADD);
	more.particles_add.system = second;
	ck_assert_int_eq(test_try(world, &more), STATUS_LIMIT);
	struct command set = test_command(COMMAND_PARTICLES_SET);
	set.particles_set.system = first;
	set.particles_set.capacity = 1;
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set.particles_set.capacity = 2;
	test_do(world, &set);
	remove.particles_remove.system = first;
	test_do(world, &remove);
	ck_assert_int_eq(test_try(world, &remove), STATUS_UNKNOWN_PARTICLES);
	ck_assert_uint_eq(read_all(world, second), 1);
	test_check(world);
	for (uint32_t i = 1; i < SYSTEMS_MAX; i++)
		ck_assert_uint_gt(test_do(world, &create), second + i - 1);
	ck_assert_int_eq(test_try(world, &create), STATUS_LIMIT);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particles");
	TCase *all = tcase_create("particles");
	tcase_add_test(all, a_particle_without_forces_but_gravity_falls_on_a_parabola);
	tcase_add_test(all, drag_slows_exactly_and_gives_the_terminal_speed);
	tcase_add_test(all, fields_act_on_particles_of_their_categories);
	tcase_add_test(all, drawn_numbers_have_mean_and_deviation_and_stay_within);
	tcase_add_test(all, a_plane_emits_on_a_grid_of_two_diameters);
	tcase_add_test(all, spheres_and_boxes_emit_outwards_from_their_surface);
	tcase_add_test(all, emissions_come_by_delay_and_particles_go_by_age);
	tcase_add_test(all, capacity_bounds_the_living_or_the_total_and_the_rest_is_counted);
	tcase_add_test(all, a_birth_does_not_depend_on_other_births);
	tcase_add_test(all, an_emitter_inside_a_body_is_silent_and_counted);
	tcase_add_test(all, numbers_out_of_their_limits_are_refused_and_change_nothing);
	tcase_add_test(all, every_number_has_limits_that_are_kept);
	tcase_add_test(all, systems_are_bounded_found_changed_and_removed);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
