/* bench_particles.c: the cost of particles: 10^5 (or the number given) in free flight, over ground
 * with impacts, and at rest on it; with forces between neighbours (lists and forces); and of a cloth of
 * 64 by 64, also one that meets itself.
 *
 * bench_particles [particles [workers]]: ns a particle and tick, ticks/s with the state hash. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CLOTH_SIDE = 64 };
enum { BATCHES = 10, TICKS = 20 }; /* the fastest batch counts: others share the machine */

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Particles that an emitter strews over 60 m by 60 m. */
static struct world *make(uint32_t count, double height, double speed, uint32_t mask)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command ground = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
	ground.spawn.status = BODY_STATIC;
	test_do(world, &ground);
	struct command create = test_command(COMMAND_PARTICLES_CREATE);
	create.particles_create.name = test_text("bench");
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.position = vec3_make(0, height, 0);
	create.particles_create.half = vec3_make(30, 0.4 * height, 30);
	create.particles_create.capacity = create.particles_create.rate = count;
	create.particles_create.recycle = 0;
	create.particles_create.life = 0;
	create.particles_create.speed = speed;
	create.particles_create.restitution = 0.5;
	create.particles_create.mask = mask;
	test_do(world, &create);
	test_step(world, 1);
	return world;
}

/* Particles of 0.02 m with about 8 neighbours within a cutoff of 0.1 m. */
static struct world *make_near(uint32_t count, double stiffness)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct command create = test_command(COMMAND_PARTICLES_CREATE);
	double side = 0.08 * cbrt((double)count);
	create.particles_create.name = test_text("bench");
	create.particles_create.emitter = EMITTER_NONE;
	create.particles_create.capacity = count;
	create.particles_create.life = 0;
	create.particles_create.mask = 0;
	struct command interact = test_command(COMMAND_PARTICLES_INTERACT);
	interact.particles_interact.system = test_do(world, &create);
	interact.particles_interact.cutoff = 0.1;
	interact.particles_interact.repulsion = stiffness;
	test_do(world, &interact);
	struct rng rng = rng_seeded(1);
	for (uint32_t i = 0; i < count; i++) {
		vec3 at;
		at.x = rng_range(&rng, 0, side);
		at.y = rng_range(&rng, 0, side);
		at.z = rng_range(&rng, 0, side);
		test_add_particle(world, interact.particles_interact.system, at, vec3_zero());
	}
	return world;
}

/* A cloth by two corners, which swings; with a thickness it meets itself. */
static struct world *make_cloth(uint32_t side, uint32_t substeps, double thickness)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("cloth");
	create.particles_create.mask = 0;
	struct command cloth = test_command(COMMAND_PARTICLES_LATTICE);
	cloth.particles_lattice.system = test_do(world, &create);
	cloth.particles_lattice.columns = cloth.particles_lattice.rows = side;
	cloth.particles_lattice.substeps = substeps;
	test_do(world, &cloth);
	struct command self = test_command(COMMAND_PARTICLES_SELF);
	self.particles_self.system = cloth.particles_lattice.system;
	self.particles_self.thickness = thickness;
	test_do(world, &self);
	struct command pin = test_command(COMMAND_PARTICLES_PIN);
	pin.particles_pin.system = cloth.particles_lattice.system;
	pin.particles_pin.particle = 1;
	test_do(world, &pin);
	pin.particles_pin.particle = side;
	test_do(world, &pin);
	return world;
}

static void measure(const char *name, struct world *world, uint32_t count,
		    const struct parallel *parallel, uint32_t warm)
{
	uint64_t hashes[WORLD_TABLES_MAX], sum = 0;
	for (uint32_t i = 0; i < warm; i++)
		if (world_step(world, parallel, NULL) != STATUS_OK)
			exit(1);
	double stepping = 1e30, hashing = 1e30;
	for (uint32_t batch = 0; batch < BATCHES; batch++) {
		double start = now();
		for (uint32_t i = 0; i < TICKS; i++)
			if (world_step(world, parallel, NULL) != STATUS_OK)
				exit(1);
		double between = now();
		for (uint32_t i = 0; i < TICKS; i++)
			sum += world_state_hash(world, hashes, NULL);
		hashing = scalar_min(hashing, (now() - between) / TICKS);
		stepping = scalar_min(stepping, (between - start) / TICKS);
	}
	printf("%-28s %7.2f ns a particle-step, hash %5.2f ns, %7.1f ticks/s with hash (%016llx)\n",
	       name, 1e9 * stepping / count, 1e9 * hashing / count, 1 / (stepping + hashing),
	       (unsigned long long)sum);
	world_destroy(world);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	uint32_t workers = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	if (count < 1 || count > PARTICLES_MAX || workers < 1 || workers > PARALLEL_WORKERS_MAX)
		return fprintf(stderr, "usage: bench_particles [particles [workers]]\n"), 2;
	struct parallel *parallel = parallel_threads_create(workers);
	measure("free flight, no bodies", make(count, 2000, 20, 0), count, parallel, 0);
	measure("free flight over ground", make(count, 2000, 20, UINT32_MAX), count, parallel, 0);
	measure("impacts on the ground", make(count, 3, 2, UINT32_MAX), count, parallel, 20);
	measure("at rest on the ground", make(count, 1, 0, UINT32_MAX), count, parallel, 400);
	const uint32_t side = CLOTH_SIDE;
	measure("forces of 8 neighbours", make_near(MIN_OF(count, 100000u), 1e-6),
		MIN_OF(count, 100000u), parallel, 0);
	measure("cloth, 1 sub-step", make_cloth(side, 1, 0), side * side, parallel, 60);
	measure("cloth, 8 sub-steps", make_cloth(side, 8, 0), side * side, parallel, 60);
	measure("cloth, 8, meets itself", make_cloth(side, 8, 0.1), side * side, parallel, 60);
	parallel_threads_destroy(parallel);
	return 0;
}
