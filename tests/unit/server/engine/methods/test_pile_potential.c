/* test_pile_potential.c: attractors and winds under `pile` (papers P-11 to P-16): energy never grows,
 * places of rest known beforehand, clumps, refusals. The energy of a step is the work of the forces that
 * world_field_force tells, along the way. Spheres have a radius of ½ m and a mass of 1 kg. */
#include "tests/lib/near.h"
#include "tests/lib/smooth_worlds.h"

#include "server/base/rng.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/scalar.h"

#include <stdio.h>
#include <string.h>

#define RADIUS 0.5
#define OVERLAP 1e-9 /* m: none above it, at any instant */
enum { BALLS_MAX = 28, INTERPOLANTS = 10, PARTS = 32 };

struct heap {
	struct world *world;
	body_id balls[BALLS_MAX];
	vec3 at[BALLS_MAX];
	uint32_t count;
	vec3 gravity;
	uint32_t pivots;
};

static void begin(struct heap *self, vec3 gravity)
{
	*self = (struct heap){ .world = test_world(false, "pile"), .gravity = gravity };
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = gravity;
	test_do(self->world, &command);
	smooth_set(self->world, "sleep.time", 0);
}

static void add_ball(struct heap *self, vec3 at)
{
	ck_assert_uint_lt(self->count, BALLS_MAX);
	self->at[self->count] = at;
	self->balls[self->count++] =
		smooth_put(self->world, TEST_SPHERE, at, quat_identity(), BODY_DYNAMIC);
}

/* n³ spheres around the origin, each moved by chance. */
static void add_lattice(struct heap *self, uint32_t n, double spacing, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < n * n * n; i++) {
		vec3 at = vec3_make(i % n, i / n / n, i / n % n);
		at = vec3_scale(vec3_sub(at, vec3_all(0.5 * (n - 1))), spacing);
		at.x += rng_range(&rng, -0.1, 0.1);
		at.y += rng_range(&rng, -0.1, 0.1);
		at.z += rng_range(&rng, -0.1, 0.1);
		add_ball(self, at);
	}
}

static struct command attractor(vec3 at, double strength, uint32_t power, double core)
{
	struct command command = test_command(COMMAND_FIELD_CREATE);
	command.field_create.kind = FIELD_ATTRACTOR;
	command.field_create.position = at;
	command.field_create.strength.x = strength;
	command.field_create.power = power;
	command.field_create.core = core;
	return command;
}

static vec3 force_at(const struct heap *self, vec3 at)
{
	vec3 acceleration, force;
	world_field_force(self->world, at, vec3_zero(), 1, &acceleration, &force);
	return vec3_add(self->gravity, vec3_add(acceleration, force));
}

/* J: the work of all forces on the straight way. */
static double work_between(const struct heap *self, vec3 from, vec3 to)
{
	vec3 way = vec3_sub(to, from);
	double work = 0;
	for (uint32_t k = 0; k < PARTS; k++)
		work += vec3_dot(force_at(self, vec3_lerp(from, to, (k + 0.5) / PARTS)), way);
	return work / PARTS;
}

static double worst_overlap(const struct heap *self, const vec3 *at)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t j = 0; j < i; j++)
			worst = scalar_max(worst, 2 * RADIUS - vec3_distance(at[i], at[j]));
	return worst;
}

/* One step: the forces do no negative work in it, and nothing overlaps on the way. Returns the work. */
static double step_checked(struct heap *self)
{
	vec3 before[BALLS_MAX], between[BALLS_MAX];
	double work = 0, overlap = 0;
	memcpy(before, self->at, sizeof before);
	test_step(self->world, 1);
	for (uint32_t i = 0; i < self->count; i++) {
		self->at[i] = test_body(self->world, self->balls[i]).position;
		work += work_between(self, before[i], self->at[i]);
	}
	for (uint32_t k = 1; k <= INTERPOLANTS; k++) {
		for (uint32_t i = 0; i < self->count; i++)
			between[i] = vec3_lerp(before[i], self->at[i], (double)k / INTERPOLANTS);
		overlap = scalar_max(overlap, worst_overlap(self, between));
	}
	ck_assert_double_le(overlap, OVERLAP);
	self->pivots += world_stats(self->world).iterations;
	return work;
}

static uint32_t step_to_rest(struct heap *self, double error, uint32_t most)
{
	uint32_t steps = 0;
	while (world_stats(self->world).awake > 0) {
		double work = step_checked(self);
		ck_assert_msg(work >= -error, "step %u: %g J", (unsigned)steps, work);
		ck_assert_uint_le(++steps, most);
	}
	ck_assert_uint_eq(world_stats(self->world).fallbacks, 0);
	return steps;
}

/* N: the largest force on a sphere that contacts do not balance. */
static double worst_force(const struct heap *self)
{
	static struct contact_view contacts[16 * BALLS_MAX];
	uint32_t count = test_contacts(self->world, 0, contacts, COUNT_OF(contacts));
	double dt = 1.0 / world_info(self->world).rate_num, worst = 0;
	ck_assert_uint_lt(count, COUNT_OF(contacts));
	for (uint32_t i = 0; i < self->count; i++) {
		vec3 force = force_at(self, self->at[i]);
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

/* papers P-11 to P-13, P-15, P-16: 27 spheres become a clump in the programmes of at most 30 steps, which the
 * forces of its contacts hold. The work is found by the middle of 32 parts, so with an error of
 * their squares times how the force bends, and of one part at the border of a ball. */
START_TEST(spheres_become_a_clump)
{
	static const struct {
		uint32_t power, region, falloff;
		double core, error;
	} CASES[] = {
		{ 0, FIELD_EVERYWHERE, FIELD_CONSTANT, 0.5, 1e-4 },
		{ 1, FIELD_EVERYWHERE, FIELD_CONSTANT, 0.5, 1e-4 },
		{ 2, FIELD_EVERYWHERE, FIELD_CONSTANT, 0.5, 1e-4 },
		{ 0, FIELD_BALL, FIELD_LINEAR, 0.5, 1e-4 },
		{ 0, FIELD_BALL, FIELD_CONSTANT, 5, 1e-4 },
	};
	struct heap heap;
	begin(&heap, vec3_zero());
	add_lattice(&heap, 3, 1.6, check_seed());
	struct command pull =
		attractor(vec3_make(0.1, 0.2, -0.1), 1, CASES[_i].power, CASES[_i].core);
	pull.field_create.region = CASES[_i].region;
	pull.field_create.falloff = CASES[_i].falloff;
	pull.field_create.half.x = 5;
	test_do(heap.world, &pull);
	uint32_t steps = step_to_rest(&heap, CASES[_i].error, 60);
	double most = 0;
	for (uint32_t i = 0; i < heap.count; i++)
		most = scalar_max(most, vec3_distance(heap.at[i], pull.field_create.position));
	printf("# case %d: %u steps, %u pivots, within %.3f m, force %.1e N\n", _i, (unsigned)steps,
	       (unsigned)heap.pivots, most, worst_force(&heap));
	ck_assert_double_le(most, 2.1);
	ck_assert_double_le(worst_force(&heap), 1e-2);
	world_destroy(heap.world);
}
END_TEST

/* papers P-14: an attractor with a wide core is a spring: force s d / √(d² + core²). A weight hangs on it at
 * the place where both are equal, and between two others it is in the middle. */
START_TEST(a_weight_hangs_on_a_spring)
{
	static const double S = 20, CORE = 1.5, G = 9.81;
	struct heap heap;
	begin(&heap, vec3_make(0, -G, 0));
	smooth_set(heap.world, "pile.rest", 1e-12);
	add_ball(&heap, vec3_make(1.3, 4, -0.7));
	struct command pull = attractor(vec3_make(0, 5, 0), S, 0, CORE);
	test_do(heap.world, &pull);
	if (_i == 1) {
		pull.field_create.position.y = 11;
		test_do(heap.world, &pull);
	}
	step_to_rest(&heap, 1e-4, 40);
	double down = CORE * G / scalar_sqrt(S * S - G * G);
	if (_i == 0)
		expect_near(heap.at[0], vec3_make(0, 5 - down, 0), 1e-5);
	/* The sum of both has its zero where the test's own formula has it. */
	ck_assert_double_le(vec3_length(force_at(&heap, heap.at[0])), 1e-4);
	world_destroy(heap.world);
}
END_TEST

/* papers P-17: a pearl sinks through a grid of spheres without weight, each drawn to its own place, which
 * give way and return. The work of the forces is not asked for here, because each acts on one sphere. */
START_TEST(a_pearl_sinks_and_the_grid_returns)
{
	enum { SIDE = 3, DROPS = SIDE * SIDE * SIDE };
	static const double SPACING = 1.45;
	struct heap heap;
	vec3 grid[DROPS];
	begin(&heap, vec3_make(0, -1, 0));
	smooth_put(heap.world, TEST_PLANE, vec3_make(0, -5, 0), quat_identity(), BODY_STATIC);
	for (uint32_t i = 0; i < DROPS; i++) {
		vec3 cell = vec3_make(i % SIDE, i / SIDE / SIDE, i / SIDE % SIDE);
		grid[i] = vec3_scale(vec3_sub(cell, vec3_all(1)), SPACING);
		struct attachment item;
		struct command drop = test_spawn_command(heap.world, TEST_SPHERE, grid[i], &item);
		drop.spawn.static_friction = drop.spawn.dynamic_friction = 0;
		drop.spawn.restitution = drop.spawn.gravity_scale = 0;
		drop.spawn.mass = 1;
		drop.spawn.category = 1u << i;
		heap.at[i] = grid[i];
		heap.balls[heap.count++] = test_do(heap.world, &drop);
		struct command pull = attractor(grid[i], 1, 0, 0.2);
		pull.field_create.mask = 1u << i;
		test_do(heap.world, &pull);
	}
	struct attachment item;
	heap.at[DROPS] = vec3_make(0.1, 3, 0.07);
	struct command pearl = test_spawn_command(heap.world, TEST_SPHERE, heap.at[DROPS], &item);
	pearl.spawn.static_friction = pearl.spawn.dynamic_friction = 0;
	pearl.spawn.restitution = 0;
	pearl.spawn.mass = 12;
	pearl.spawn.category = 1u << 31;
	heap.balls[heap.count++] = test_do(heap.world, &pearl);
	uint32_t steps = 0;
	double moved = 0;
	while (world_stats(heap.world).awake > 0) {
		step_checked(&heap);
		ck_assert_uint_le(++steps, 60);
		for (uint32_t i = 0; i < DROPS; i++)
			moved = scalar_max(moved, vec3_distance(heap.at[i], grid[i]));
	}
	printf("# %u steps, drops moved by up to %.2f m\n", (unsigned)steps, moved);
	ck_assert_double_ge(moved, 0.1);
	ck_assert_double_eq_tol(heap.at[DROPS].y, RADIUS - 5, 1e-9);
	for (uint32_t i = 0; i < DROPS; i++)
		ck_assert_double_le(vec3_distance(heap.at[i], grid[i]), 1e-3);
	world_destroy(heap.world);
}
END_TEST

/* Gravity in any direction, and a wind that is everywhere, are linear potentials; masks choose bodies. */
START_TEST(a_wind_of_a_mask_lifts_its_bodies)
{
	struct heap heap;
	begin(&heap, vec3_make(0, -1, 0));
	smooth_put(heap.world, TEST_PLANE, vec3_zero(), quat_identity(), BODY_STATIC);
	for (uint32_t i = 0; i < 2; i++) {
		struct attachment item;
		struct command ball =
			test_spawn_command(heap.world, TEST_SPHERE, vec3_make(3 * i, 4, 0), &item);
		ball.spawn.static_friction = ball.spawn.dynamic_friction = 0;
		ball.spawn.restitution = 0;
		ball.spawn.mass = 1;
		ball.spawn.category = 1u << i;
		heap.balls[i] = test_do(heap.world, &ball);
	}
	struct command wind = test_command(COMMAND_FIELD_CREATE);
	wind.field_create.kind = FIELD_WIND;
	wind.field_create.strength.y = 3;
	wind.field_create.mask = 2;
	test_do(heap.world, &wind);
	test_step(heap.world, 10);
	ck_assert_double_eq_tol(test_body(heap.world, heap.balls[0]).position.y, RADIUS, 1e-9);
	ck_assert_double_ge(test_body(heap.world, heap.balls[1]).position.y, 10);
	world_destroy(heap.world);
}
END_TEST

/* A push whose size is the same everywhere has a concave potential, whose tangent suffices. */
START_TEST(a_constant_push_parts_spheres)
{
	struct heap heap;
	begin(&heap, vec3_zero());
	add_lattice(&heap, 2, 1.3, check_seed());
	struct command push = attractor(vec3_zero(), -1, 0, 0.1);
	test_do(heap.world, &push);
	for (uint32_t step = 0; step < 10; step++)
		ck_assert_double_ge(step_checked(&heap), 1);
	for (uint32_t i = 0; i < heap.count; i++)
		ck_assert_double_ge(vec3_length(heap.at[i]), 4);
	world_destroy(heap.world);
}
END_TEST

static void expect_refused(struct world *world, struct command *command, const char *field)
{
	struct batch_result result;
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_batch(world, command, 1, &result), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(result.why.field, field);
	ck_assert_uint_eq(test_hash(world), before);
}

START_TEST(fields_without_a_potential_are_refused_by_name)
{
	struct world *world = test_world(false, "pile"), *other = test_world(false, "soft-step");
	struct command field = test_command(COMMAND_FIELD_CREATE);
	field.field_create.kind = FIELD_VORTEX;
	expect_refused(world, &field, "kind");
	test_do(other, &field);
	struct reason why;
	ck_assert_int_eq(world_supports(other, "pile", &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.field, "kind");
	field.field_create.kind = FIELD_DRAG;
	expect_refused(world, &field, "kind");
	field.field_create.kind = FIELD_FLUID;
	field.field_create.density = 1000;
	expect_refused(world, &field, "kind");
	field.field_create.density = 0;
	field.field_create.kind = FIELD_WIND;
	field.field_create.region = FIELD_BOX;
	expect_refused(world, &field, "region");
	field.field_create.kind = FIELD_ATTRACTOR;
	expect_refused(world, &field, "region");
	field = attractor(vec3_zero(), -1, 2, 0.1);
	expect_refused(world, &field, "strength");
	field = attractor(vec3_zero(), 1, 2, 0.1);
	int64_t id = test_do(world, &field);
	struct command change = test_command(COMMAND_FIELD_SET);
	change.field_set.field = id;
	change.field_set.kind = FIELD_VORTEX;
	expect_refused(world, &change, "kind");
	world_destroy(world);
	world_destroy(other);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pile_potential");
	TCase *tcase = tcase_create("pile_potential");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, spheres_become_a_clump, 0, 5);
	tcase_add_loop_test(tcase, a_weight_hangs_on_a_spring, 0, 2);
	tcase_add_test(tcase, a_pearl_sinks_and_the_grid_returns);
	tcase_add_test(tcase, a_wind_of_a_mask_lifts_its_bodies);
	tcase_add_test(tcase, a_constant_push_parts_spheres);
	tcase_add_test(tcase, fields_without_a_potential_are_refused_by_name);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
