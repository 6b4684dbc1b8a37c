/* See linked.h. */
#include "tests/lib/linked.h"

#include "server/base/processor.h"
#include "server/engine/world/rollback.h"
#include "tests/lib/check_main.h"
#include "tests/lib/stage.h"

struct command test_lattice(system_id system, uint32_t columns, uint32_t rows, uint32_t layers)
{
	struct command command = test_command(COMMAND_PARTICLES_LATTICE);
	command.particles_lattice.system = system;
	command.particles_lattice.columns = columns;
	command.particles_lattice.rows = rows;
	command.particles_lattice.layers = layers;
	return command;
}

struct command test_link(system_id system, uint32_t a, uint32_t b)
{
	struct command command = test_command(COMMAND_PARTICLES_LINK);
	command.particles_link.system = system;
	command.particles_link.a = a;
	command.particles_link.b = b;
	return command;
}

enum status test_pin(struct world *world, system_id system, uint32_t serial)
{
	struct command command = test_command(COMMAND_PARTICLES_PIN);
	command.particles_pin.system = system;
	command.particles_pin.particle = serial;
	return test_try(world, &command);
}

void test_limit(struct world *world, system_id system, double stretch)
{
	struct command command = test_command(COMMAND_PARTICLES_LIMIT);
	command.particles_limit.system = system;
	command.particles_limit.stretch = stretch;
	test_do(world, &command);
}

struct system_view test_facts(const struct world *world)
{
	struct system_view views[SYSTEMS_MAX];
	ck_assert_uint_ge(world_systems(world, views), 1);
	return views[0];
}

struct system_view test_facts_of(const struct world *world, system_id id)
{
	struct system_view views[SYSTEMS_MAX];
	uint32_t count = world_systems(world, views), i = 0;
	while (i < count && views[i].id != id)
		i++;
	ck_assert_uint_lt(i, count);
	return views[i];
}

void test_fill(struct world *world, system_id system, double spacing, vec3 at, vec3 size)
{
	struct command command = test_command(COMMAND_PARTICLES_FILL);
	command.particles_fill.system = system;
	command.particles_fill.position = at;
	command.particles_fill.size = size;
	command.particles_fill.spacing = spacing;
	test_do(world, &command);
}

struct fluid_view test_fluid(const struct world *world)
{
	struct fluid_view views[SYSTEMS_MAX];
	ck_assert_uint_ge(world_fluids(world, views), 1);
	return views[0];
}

struct world *test_workers_agree(struct world *(*make)(void), uint32_t ticks)
{
	static const uint32_t lanes[] = { 1, 4, 8, 16 };
	struct world *world = NULL;
	uint64_t hash = 0;
	for (uint32_t i = 0; i < COUNT_OF(lanes); i++) {
		uint32_t workers = 1 + i % 3;
		if (world != NULL)
			world_destroy(world);
		world = make();
		processor_limit_lanes(lanes[i]);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < ticks; tick++)
			ck_assert_int_eq(world_step(world, parallel, NULL), STATUS_OK);
		parallel_threads_destroy(parallel);
		uint64_t now = test_hash(world);
		ck_assert(i == 0 || now == hash);
		hash = now;
		test_check(world);
	}
	processor_limit_lanes(UINT32_MAX);
	return world;
}

void test_no_trace(struct world *world)
{
	struct world *copy;
	struct rollback_base *base;
	struct reason why;
	struct bytes image = test_save(world), rollback = { 0 };
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, &why),
			 STATUS_OK);
	ck_assert_int_eq(rollback_base_create(world, &base), STATUS_OK);
	for (uint32_t round = 0; round < 4; round++) {
		rollback.count = 0;
		ck_assert_int_eq(world_save_rollback(world, base, &rollback), STATUS_OK);
		test_step(world, 5 + round);
		uint64_t hash = test_hash(world);
		ck_assert_int_eq(
			world_restore_rollback(world, base, rollback.data, rollback.count, &why),
			STATUS_OK);
		test_step(world, 5 + round);
		test_step(copy, 5 + round);
		ck_assert_uint_eq(test_hash(world), hash);
		ck_assert_uint_eq(test_hash(copy), hash);
	}
	rollback_base_destroy(base);
	bytes_release(&rollback);
	bytes_release(&image);
	world_destroy(copy);
}
