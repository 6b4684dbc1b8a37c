/* linked.h: what tests of particles share: commands for linked particles, and that workers,
 * images and rollbacks change no bit. An unexpected failure ends the test. */
#ifndef CAIRN_TESTS_LINKED_H
#define CAIRN_TESTS_LINKED_H

#include "tests/lib/worlds.h"

struct command test_lattice(system_id system, uint32_t columns, uint32_t rows, uint32_t layers);
struct command test_link(system_id system, uint32_t a, uint32_t b);
enum status test_pin(struct world *world, system_id system, uint32_t serial);
/* A limit of elongation; 0: none. */
void test_limit(struct world *world, system_id system, double stretch);
/* The first system. */
struct system_view test_facts(const struct world *world);
/* The system `id`, which exists. */
struct system_view test_facts_of(const struct world *world, system_id id);

/* PARTICLES_FILL: a box of `size` about `at`, with particles `spacing` apart, m. */
void test_fill(struct world *world, system_id system, double spacing, vec3 at, vec3 size);
/* The figures of the first fluid, which exists. */
struct fluid_view test_fluid(const struct world *world);

/* Steps a world of `make` with 1 to 3 workers and vectors of each width, which give the same
 * bits; returns the last one, owned. */
struct world *test_workers_agree(struct world *(*make)(void), uint32_t ticks);
/* The world loaded from its image, and the world taken back several times, have its future. */
void test_no_trace(struct world *world);

#endif
