/* test_pile_pairs.c: fields of kind `mutual` under `pile` (papers P-13, P-15): energy, summed over all
 * pairs by brute force, never grows; at rest, contacts balance the forces of all pairs; range, masks, sleep,
 * limits and refusals. Spheres have a radius of ½ m. */
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include "server/base/rng.h"
#include "server/engine/math/scalar.h"

#include <stdio.h>
#include <string.h>

#define OVERLAP 1e-9 /* m: none above it, at any instant */
enum { BALLS_MAX = 28, INTERPOLANTS = 10, PARTS = 128, STEPS_MAX = 80 };

struct cloud {
	struct world *world;
	body_id balls[BALLS_MAX];
	vec3 at[BALLS_MAX];
	double mass[BALLS_MAX];
	uint32_t count;
	struct command_FIELD_CREATE field;
};

static struct command mutual(double strength, uint32_t power, double range)
{
	struct command command = test_command(COMMAND_FIELD_CREATE);
	command.field_create.kind = FIELD_MUTUAL;
	command.field_create.strength.x = strength;
	command.field_create.power = power;
	command.field_create.core = 0.1;
	command.field_create.region = range > 0 ? FIELD_BALL : FIELD_EVERYWHERE;
	command.field_create.half.x = range;
	return command;
}

static void begin(struct cloud *self, const struct command *field)
{
	*self = (struct cloud){ .world = test_world(false, "pile"), .field = field->field_create };
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = vec3_zero();
	test_do(self->world, &command);
	command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text("sleep.time");
	test_do(self->world, &command);
	command = *field;
	test_do(self->world, &command);
}

static body_id add_ball(struct cloud *self, vec3 at, double mass, uint32_t category)
{
	struct attachment item;
	struct command command = test_spawn_command(self->world, TEST_SPHERE, at, &item);
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	command.spawn.mass = mass;
	command.spawn.category = category;
	ck_assert_uint_lt(self->count, BALLS_MAX);
	self->at[self->count] = at;
	self->mass[self->count] = mass;
	self->balls[self->count] = test_do(self->world, &command);
	return self->balls[self->count++];
}

static void add_lattice(struct cloud *self, uint32_t n, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < n * n * n; i++) {
		vec3 at = vec3_scale(vec3_make(i % n, i / n / n, i / n % n), 1.5);
		at.x += rng_range(&rng, -0.1, 0.1);
		at.y += rng_range(&rng, -0.1, 0.1);
		at.z += rng_range(&rng, -0.1, 0.1);
		add_ball(self, at, 1 + 0.5 * (i % 3), 1);
	}
}

/* N: the pull of two at a distance, as COMMANDS tells it. */
static double pull_at(const struct cloud *self, uint32_t i, uint32_t j, double r)
{
	const struct command_FIELD_CREATE *field = &self->field;
	bool ball = field->region == FIELD_BALL;
	if (ball && r >= field->half.x)
		return 0;
	double weight = ball && field->falloff == FIELD_LINEAR ? 1 - r / field->half.x : 1;
	double length = scalar_sqrt(r * r + field->core * field->core);
	double pull = field->strength.x * weight * r / length;
	if (field->flags & FIELD_PER_MASS)
		pull *= self->mass[i] * self->mass[j];
	for (uint32_t k = 0; k < field->power; k++)
		pull /= length;
	return pull;
}

/* J: against a distance of 12 m, or the end of the range, by Simpson's rule. */
static double energy_of_pair(const struct cloud *self, uint32_t i, uint32_t j, double r)
{
	double end = self->field.region == FIELD_BALL ? self->field.half.x : 12;
	if (r >= end)
		return 0;
	double step = (end - r) / PARTS, sum = 0;
	for (uint32_t k = 0; k <= PARTS; k++) {
		double weight = k == 0 || k == PARTS ? 1 : k % 2 == 1 ? 4 : 2;
		/* The force just inside of the border. */
		double at = scalar_min(r + k * step, end * (1 - 1e-12));
		sum += weight * pull_at(self, i, j, at);
	}
	return -sum * step / 3;
}

static double energy_of(const struct cloud *self, const vec3 *at)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t j = 0; j < i; j++)
			sum += energy_of_pair(self, i, j, vec3_distance(at[i], at[j]));
	return sum;
}

static double worst_overlap(const struct cloud *self, const vec3 *at)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t j = 0; j < i; j++)
			worst = scalar_max(worst, 1 - vec3_distance(at[i], at[j]));
	return worst;
}

static uint32_t step_to_rest(struct cloud *self)
{
	uint32_t steps = 0;
	vec3 before[BALLS_MAX], between[BALLS_MAX];
	while (world_stats(self->world).awake > 0) {
		memcpy(before, self->at, sizeof before);
		double energy = energy_of(self, before);
		test_step(self->world, 1);
		for (uint32_t i = 0; i < self->count; i++)
			self->at[i] = test_body(self->world, self->balls[i]).position;
		ck_assert_double_le(energy_of(self, self->at), energy + 1e-5);
		for (uint32_t k = 1; k <= INTERPOLANTS; k++) {
			for (uint32_t i = 0; i < self->count; i++)
				between[i] =
					vec3_lerp(before[i], self->at[i], (double)k / INTERPOLANTS);
			ck_assert_double_le(worst_overlap(self, between), OVERLAP);
		}
		ck_assert_uint_le(++steps, STEPS_MAX);
	}
	ck_assert_uint_eq(world_stats(self->world).fallbacks_total, 0);
	return steps;
}

/* N: the largest force of all pairs on a sphere that contacts do not balance. */
static double worst_force(const struct cloud *self)
{
	static struct contact_view contacts[16 * BALLS_MAX];
	uint32_t count = test_contacts(self->world, 0, contacts, COUNT_OF(contacts));
	double dt = 1.0 / world_info(self->world).rate_num, worst = 0;
	ck_assert_uint_lt(count, COUNT_OF(contacts));
	for (uint32_t i = 0; i < self->count; i++) {
		vec3 force = vec3_zero();
		for (uint32_t j = 0; j < self->count; j++) {
			vec3 way = vec3_sub(self->at[j], self->at[i]);
			if (j != i)
				force = vec3_mul_add(force, vec3_normalize(way),
						     pull_at(self, i, j, vec3_length(way)));
		}
		for (uint32_t c = 0; c < count; c++) {
			double push = contacts[c].normal_impulse / dt;
			if (contacts[c].a == self->balls[i])
				force = vec3_mul_sub(force, contacts[c].normal, push);
			if (contacts[c].b == self->balls[i])
				force = vec3_mul_add(force, contacts[c].normal, push);
		}
		worst = scalar_max(worst, vec3_length(force));
	}
	return worst;
}

START_TEST(spheres_that_attract_each_other_become_a_clump)
{
	static const struct {
		uint32_t power, falloff, flags;
		double range;
	} CASES[] = {
		{ 0, FIELD_CONSTANT, 0, 0 }, { 1, FIELD_CONSTANT, 0, 0 },
		{ 2, FIELD_CONSTANT, 0, 0 }, { 2, FIELD_CONSTANT, FIELD_PER_MASS, 0 },
		{ 0, FIELD_CONSTANT, 0, 2 }, { 0, FIELD_LINEAR, 0, 2.5 },
	};
	struct command field = mutual(1, CASES[_i].power, CASES[_i].range);
	field.field_create.falloff = CASES[_i].falloff;
	field.field_create.flags = CASES[_i].flags;
	struct cloud cloud;
	begin(&cloud, &field);
	add_lattice(&cloud, 3, check_seed());
	uint32_t steps = step_to_rest(&cloud);
	vec3 middle = vec3_zero();
	double most = 0;
	for (uint32_t i = 0; i < cloud.count; i++)
		middle = vec3_mul_add(middle, cloud.at[i], 1.0 / cloud.count);
	for (uint32_t i = 0; i < cloud.count; i++)
		most = scalar_max(most, vec3_distance(cloud.at[i], middle));
	printf("# case %d: %u steps, within %.3f m, force %.1e N\n", _i, (unsigned)steps, most,
	       worst_force(&cloud));
	/* Of a short range, some are farther out in a looser clump. */
	ck_assert_double_le(most, CASES[_i].range > 0 ? 3 : 2);
	ck_assert_double_le(worst_force(&cloud), 1e-2);
	world_destroy(cloud.world);
}
END_TEST

/* What is beyond the range, or not of the mask, stays where it is, to the bit. */
START_TEST(a_range_and_a_mask_bound_who_attracts)
{
	struct command field = mutual(2, 0, 3);
	field.field_create.mask = 1;
	struct cloud cloud;
	begin(&cloud, &field);
	add_ball(&cloud, vec3_make(0, 0, 0), 1, 1);
	add_ball(&cloud, vec3_make(2.5, 0.3, 0), 1, 3);
	const vec3 far = vec3_make(9, 0, 0), other = vec3_make(1.2, 1.6, 0.1);
	add_ball(&cloud, far, 1, 1);
	add_ball(&cloud, other, 1, 2);
	test_step(cloud.world, 20);
	vec3 a = test_body(cloud.world, cloud.balls[0]).position;
	vec3 b = test_body(cloud.world, cloud.balls[1]).position;
	ck_assert_double_eq_tol(vec3_distance(a, b), 1, 1e-8);
	/* They met in the middle: the forces on both are equal. */
	expect_near(vec3_lerp(a, b, 0.5), vec3_make(1.25, 0.15, 0), 0.3);
	ck_assert(vec3_equal(test_body(cloud.world, cloud.balls[2]).position, far));
	ck_assert(vec3_equal(test_body(cloud.world, cloud.balls[3]).position, other));
	world_destroy(cloud.world);
}
END_TEST

/* A clump asleep wakes when something comes into its range, and both rest as one. */
START_TEST(a_sleeping_clump_wakes_for_what_it_attracts)
{
	struct command field = mutual(1, 0, _i == 0 ? 6 : 0);
	struct cloud cloud;
	begin(&cloud, &field);
	add_lattice(&cloud, 2, check_seed());
	step_to_rest(&cloud);
	vec3 middle = vec3_zero();
	for (uint32_t i = 0; i < cloud.count; i++)
		middle = vec3_mul_add(middle, cloud.at[i], 1.0 / cloud.count);
	add_ball(&cloud, vec3_add(middle, vec3_make(4.5, 0.4, 0)), 1, 1);
	test_step(cloud.world, 1);
	ck_assert_uint_eq(world_stats(cloud.world).awake, cloud.count);
	for (uint32_t i = 0; i < cloud.count; i++)
		cloud.at[i] = test_body(cloud.world, cloud.balls[i]).position;
	step_to_rest(&cloud);
	ck_assert_double_le(worst_force(&cloud), 1e-2);
	world_destroy(cloud.world);
}
END_TEST

START_TEST(a_loaded_cloud_has_the_same_future)
{
	struct command field = mutual(1, 2, _i == 0 ? 3 : 0);
	struct cloud cloud;
	begin(&cloud, &field);
	add_lattice(&cloud, 2, check_seed());
	for (uint32_t step = 0; step < 6; step++) {
		struct bytes image = test_save(cloud.world);
		struct world *loaded;
		struct reason why;
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			STATUS_OK);
		test_step(cloud.world, 2);
		test_step(loaded, 2);
		ck_assert_uint_eq(test_hash(cloud.world), test_hash(loaded));
		world_destroy(loaded);
		bytes_release(&image);
	}
	world_destroy(cloud.world);
}
END_TEST

/* 257 bodies are 32 896 pairs, more than a field may have: it exerts no force, counted; with a range it
 * does. */
START_TEST(too_many_pairs_are_counted)
{
	enum { MANY = 257 };
	struct command field = mutual(1, 0, 0);
	struct cloud cloud;
	body_id balls[MANY];
	begin(&cloud, &field);
	for (uint32_t i = 0; i < MANY; i++) {
		vec3 at = vec3_make(3.0 * (i % 16), 3.0 * (i / 16), 0);
		cloud.count = 0;
		balls[i] = add_ball(&cloud, at, 1, 1);
	}
	test_step(cloud.world, 1);
	ck_assert_uint_eq(world_stats(cloud.world).fallbacks, 1);
	expect_near(test_body(cloud.world, balls[17]).position, vec3_make(3, 3, 0), 1e-12);
	struct command change = test_command(COMMAND_FIELD_SET);
	change.field_set.field = 1;
	change.field_set.kind = FIELD_MUTUAL;
	change.field_set.region = FIELD_BALL;
	change.field_set.half.x = 3.1;
	change.field_set.strength.x = 1;
	test_do(cloud.world, &change);
	test_step(cloud.world, 1);
	ck_assert_uint_eq(world_stats(cloud.world).fallbacks, 0);
	ck_assert_double_gt(vec3_distance(test_body(cloud.world, balls[0]).position, vec3_zero()),
			    0.05);
	world_destroy(cloud.world);
}
END_TEST

static void expect_refused(struct world *world, struct command *command, enum status status,
			   const char *field)
{
	struct batch_result result;
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_batch(world, command, 1, &result), status);
	ck_assert_str_eq(result.why.field, field);
	ck_assert_uint_eq(test_hash(world), before);
}

START_TEST(other_methods_and_wrong_numbers_are_refused_by_name)
{
	struct world *world = test_world(false, "pile"), *other = test_world(false, "soft-step");
	struct command field = mutual(1, 0, 3);
	expect_refused(other, &field, STATUS_METHOD_REFUSES, "kind");
	field.field_create.region = FIELD_BOX;
	field.field_create.half = vec3_all(1);
	expect_refused(world, &field, STATUS_RANGE, "region");
	field = mutual(1, 0, 3);
	field.field_create.strength.y = 1;
	expect_refused(world, &field, STATUS_RANGE, "strength");
	field = mutual(1, 0, 3);
	field.field_create.position.y = 1;
	expect_refused(world, &field, STATUS_RANGE, "position");
	field = mutual(-1, 0, 3);
	expect_refused(world, &field, STATUS_METHOD_REFUSES, "strength");
	field = mutual(1, 0, 3);
	field_id id = (field_id)test_do(world, &field);
	struct reason why;
	ck_assert_int_eq(world_supports(world, "soft-step", &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.field, "kind");
	struct command gone = test_command(COMMAND_FIELD_REMOVE);
	gone.field_remove.field = id;
	test_do(world, &gone);
	ck_assert_int_eq(world_supports(world, "soft-step", &why), STATUS_OK);
	world_destroy(world);
	world_destroy(other);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pile_pairs");
	TCase *tcase = tcase_create("pile_pairs");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, spheres_that_attract_each_other_become_a_clump, 0, 6);
	tcase_add_test(tcase, a_range_and_a_mask_bound_who_attracts);
	tcase_add_loop_test(tcase, a_sleeping_clump_wakes_for_what_it_attracts, 0, 2);
	tcase_add_loop_test(tcase, a_loaded_cloud_has_the_same_future, 0, 2);
	tcase_add_test(tcase, too_many_pairs_are_counted);
	tcase_add_test(tcase, other_methods_and_wrong_numbers_are_refused_by_name);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
