/* See bench_sheet.h. */
#include "tests/bench/bench_sheet.h"

#include "tests/lib/worlds.h"

#include <time.h>

static void pin(struct world *world, uint32_t system, uint32_t particle)
{
	struct command command = test_command(COMMAND_PARTICLES_PIN);
	command.particles_pin.system = system;
	command.particles_pin.particle = particle;
	test_do(world, &command);
}

struct world *bench_sheet(const struct sheet *sheet)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("cloth");
	create.particles_create.mask = 0;
	create.particles_create.mass = 1e-3;
	uint32_t system = test_do(world, &create);
	struct command lattice = test_command(COMMAND_PARTICLES_LATTICE);
	lattice.particles_lattice.system = system;
	lattice.particles_lattice.columns = lattice.particles_lattice.rows = sheet->side;
	lattice.particles_lattice.substeps = sheet->substeps;
	lattice.particles_lattice.spacing = 0.1;
	lattice.particles_lattice.rotation =
		quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
	test_do(world, &lattice);
	struct command self = test_command(COMMAND_PARTICLES_SELF);
	self.particles_self.system = system;
	self.particles_self.thickness = sheet->thickness;
	test_do(world, &self);
	struct command limit = test_command(COMMAND_PARTICLES_LIMIT);
	limit.particles_limit.system = system;
	limit.particles_limit.stretch = sheet->limit;
	test_do(world, &limit);
	pin(world, system, 1);
	pin(world, system, sheet->side);
	return world;
}

static double seconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double bench_processor(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall(void)
{
	return seconds(CLOCK_MONOTONIC);
}
