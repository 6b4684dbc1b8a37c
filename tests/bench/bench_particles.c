/* bench_particles.c: the cost of particles: 10^5 (or the number given) in free flight, over
 * ground with impacts, and at rest on it; with forces between neighbours (lists and forces); and
 * of a cloth of 64 by 64, also one that meets itself.
 *
 * bench_particles [particles [workers [row]]]: each row as soon as it is measured, in at most
 * some 10 s; `row` is a part of its name. ns a particle and tick, those of the state hash,
 * ticks/s with a hash after each, bytes. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/io/parallel_pool.h"
#include "tests/bench/bench_sheet.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOTH_SIDE = 64, BATCHES = 20, TICKS = 10, SECONDS = 8 };

/* Particles that an emitter strews over 60 m by 60 m. */
static struct world *make(uint32_t count, double height, double speed, uint32_t mask)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
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

/* Particles of 0.02 m with about 8 neighbours within a cutoff of 0.1 m: few touch, all have the
 * charge. */
static struct world *make_near(uint32_t count, double stiffness, double charge)
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
	interact.particles_interact.charge = charge;
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

struct bench {
	const struct parallel *parallel;
	const char *only; /* a part of the names of rows; NULL: all */
	uint32_t count;	  /* particles */
};

static void step(struct world *world, const struct parallel *parallel)
{
	if (world_step(world, parallel, NULL) != STATUS_OK)
		exit(1);
}

/* The least time of a tick and of a hash in batches of ticks, on the wall and of all processors:
 * others share the machine. Ends after BATCHES or SECONDS. */
static void measure(const struct bench *bench, const char *name, struct world *world,
		    uint32_t count, uint32_t warm)
{
	uint64_t hashes[WORLD_TABLES_MAX];
	double wall = 1e30, processor = 1e30, hash = 1e30;
	for (uint32_t i = 0; i < warm; i++)
		step(world, bench->parallel);
	double end = bench_wall() + SECONDS;
	for (uint32_t batch = 0; batch < BATCHES && (batch == 0 || bench_wall() < end); batch++) {
		double w = bench_wall(), p = bench_processor();
		for (uint32_t i = 0; i < TICKS; i++)
			step(world, bench->parallel);
		wall = scalar_min(wall, (bench_wall() - w) / TICKS);
		processor = scalar_min(processor, (bench_processor() - p) / TICKS);
		p = bench_processor();
		world_state_hash(world, hashes, NULL);
		hash = scalar_min(hash, bench_processor() - p);
	}
	struct world_stats stats = world_stats(world);
	printf("%-26s %9.1f ns of a processor a particle-step, %9.1f on the wall, hash %5.1f, %8.1f "
	       "ticks/s with hash, %5.0f B a particle\n",
	       name, 1e9 * processor / count, 1e9 * wall / count, 1e9 * hash / count,
	       1 / (wall + hash), (double)stats.memory_bytes / count);
	fflush(stdout);
	world_destroy(world);
}

static bool wanted(const struct bench *bench, const char *name)
{
	return bench->only == NULL || strstr(name, bench->only) != NULL;
}

static void measure_emitted(const struct bench *bench, const char *name, double height,
			    double speed, uint32_t mask, uint32_t warm)
{
	if (wanted(bench, name))
		measure(bench, name, make(bench->count, height, speed, mask), bench->count, warm);
}

static void measure_near(const struct bench *bench, const char *name, double stiffness,
			 double charge)
{
	if (wanted(bench, name))
		measure(bench, name, make_near(bench->count, stiffness, charge), bench->count, 0);
}

static void measure_sheet(const struct bench *bench, const char *name, struct sheet sheet)
{
	if (wanted(bench, name))
		measure(bench, name, bench_sheet(&sheet), sheet.side * sheet.side, 60);
}

int main(int argc, char **argv)
{
	struct bench bench = { .count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000,
			       .only = argc > 3 ? argv[3] : NULL };
	uint32_t workers = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	struct parallel_pool *pool;
	if (bench.count < 1 || bench.count > PARTICLES_MAX || workers < 1 ||
	    parallel_pool_create(workers, &pool) != STATUS_OK)
		return fprintf(stderr, "usage: bench_particles [particles [workers [row]]]\n"), 2;
	bench.parallel = parallel_pool_parallel(pool);
	measure_emitted(&bench, "flight, no bodies", 2000, 20, 0, 0);
	measure_emitted(&bench, "flight over ground", 2000, 20, UINT32_MAX, 0);
	measure_emitted(&bench, "impacts on the ground", 3, 2, UINT32_MAX, 20);
	measure_emitted(&bench, "at rest on the ground", 1, 0, UINT32_MAX, 150);
	measure_near(&bench, "forces of 8 neighbours", 1e-6, 0);
	measure_near(&bench, "forces of 8 charges", 0, 1e-9);
	measure_sheet(&bench, "cloth, 1 sub-step", (struct sheet){ CLOTH_SIDE, 1, 0, 0 });
	measure_sheet(&bench, "cloth, 8 sub-steps", (struct sheet){ CLOTH_SIDE, 8, 0, 0 });
	measure_sheet(&bench, "cloth, 8, meets itself", (struct sheet){ CLOTH_SIDE, 8, 0.1, 0 });
	measure_sheet(&bench, "cloth, 8, limit 2 %", (struct sheet){ CLOTH_SIDE, 8, 0, 0.02 });
	parallel_pool_destroy(pool);
	return 0;
}
