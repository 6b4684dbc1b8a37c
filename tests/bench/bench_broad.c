/* bench_broad: cost of a broad phase in ns a moved proxy and ns a proxy to find the pairs, on six
 * kinds of worlds: each of our kinds, Bullet's dynamic tree and ODE's hash space in the same run.
 *
 *   make tests/bench/bench_broad && tests/bench/bench_broad
 *
 * lattice  8000 boxes of one size in a block, each moving by a twentieth: nearly all cells stay the
 * same.
 * crowd    8000 boxes of one size that move by half their size a round in random directions.
 * sizes    8000 boxes of sizes over three orders of magnitude, and one below all of them, moving
 * likewise.
 * gas      as crowd, in a cube of 120 m, and one of 10 moves: few pairs.
 * pebbles  8000 boxes of 0.05 m, of which one of 10 moves, among 160 of 4 m at rest, in a cube of
 * 60 m.
 * few      as crowd, but only one of 100 moves. Bullet and ODE get all boxes as moved.
 *
 * `grid` and `levels` are measured with cells of 1, 2 and 4 diameters, and `levels` with four
 * levels. */
#include "tests/bench/bench_broad.h"

#include "server/base/array.h"
#include "server/base/rng.h"
#include "server/engine/collision/broad_phase.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { COUNT = 8000, SIDE = 20, ROUNDS = 20 };
static struct bench_box boxes[(ROUNDS + 1) * COUNT];

double bench_broad_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct bench_box box_at(const double centre[3], double half)
{
	struct bench_box box;
	for (int k = 0; k < 3; k++) {
		box.min[k] = centre[k] - half;
		box.max[k] = centre[k] + half;
	}
	return box;
}

/* Moves each centre by `step` × its half size a round; about_start: about its first place. */
static void move_centre(struct rng *rng, double centre[3], double half, double step,
			bool about_start, uint32_t i)
{
	double at[3] = { centre[0], centre[1], centre[2] };
	for (uint32_t r = 0; r <= ROUNDS; r++) {
		boxes[r * COUNT + i] = box_at(at, half);
		for (int k = 0; k < 3; k++)
			at[k] = (about_start ? centre[k] : at[k]) +
				rng_range(rng, -step, step) * half;
	}
}

static const struct scene {
	const char *name;
	double spread;	/* m: half the edge of the cube that holds the centres; 0: a lattice */
	double step;	/* fraction of the half size, in a round */
	bool sizes;	/* sizes over three orders of magnitude instead of one size */
	bool floor;	/* one box under all */
	double boulder; /* m: half size of one of 50, the others being pebbles of 0.05 m; 0: none */
	uint32_t rest;	/* one of so many boxes moves */
} SCENES[] = {
	{ "lattice", 0, 0.1, false, false, 0, 1 },   { "crowd", 10, 0.5, false, false, 0, 1 },
	{ "sizes", 10, 0.5, true, true, 0, 1 },	     { "gas", 60, 0.5, false, false, 0, 10 },
	{ "pebbles", 30, 0.5, false, false, 2, 10 }, { "few", 10, 0.5, false, false, 0, 100 },
	{ "wall", 0, 0.1, false, false, 0, 30 },
};

static void make(const struct scene *scene, struct rng *rng)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		double centre[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE }, half = 0.52;
		bool lattice = scene->spread == 0;
		for (int k = 0; k < 3 && !lattice; k++)
			centre[k] = rng_range(rng, -scene->spread, scene->spread);
		if (scene->sizes) {
			half = 0.003;
			for (uint32_t k = rng_below(rng, 11); k > 0; k--)
				half *= 2;
		}
		if (scene->floor && i == 0)
			half = 1000;
		if (scene->boulder > 0)
			half = i % 50 == 1 ? scene->boulder : 0.025;
		move_centre(rng, centre, half, i % scene->rest == 0 ? scene->step : 0, lattice, i);
	}
}

static struct aabb aabb_of(const struct bench_box *box)
{
	return aabb_make(vec3_make(box->min[0], box->min[1], box->min[2]),
			 vec3_make(box->max[0], box->max[1], box->max[2]));
}

static struct bench_broad_result measure_ours(const struct bench_boxes *in,
					      enum broad_phase_kind kind, struct broad_cells cells)
{
	struct bench_broad_result result = { 0, 0, 0 };
	struct broad_phase *broad;
	struct proxy_pairs pairs = { 0 };
	if (broad_phase_create(kind, &broad) != STATUS_OK ||
	    broad_phase_reserve(broad, in->count) != STATUS_OK)
		return result;
	broad_phase_set_cells(broad, cells);
	for (uint32_t r = 0; r <= in->rounds; r++) {
		double start = bench_broad_now();
		for (uint32_t i = 0; i < in->count; i++) {
			const struct bench_box *now = &in->boxes[r * in->count + i];
			struct aabb box = aabb_of(now);
			if (r == 0)
				broad_phase_add(broad, i, &box, 0);
			else if (memcmp(now, now - in->count, sizeof *now) != 0)
				broad_phase_move(broad, i, &box);
		}
		double moved = bench_broad_now();
		if (broad_phase_pairs(broad, &parallel_serial, NULL, NULL, UINT32_MAX, &pairs) !=
		    STATUS_OK)
			return result;
		broad_phase_settle(broad);
		if (r > 0) {
			result.move_ns += moved - start;
			result.pair_ns += bench_broad_now() - moved;
		}
	}
	result.pairs = pairs.count;
	ARRAY_RELEASE(&pairs);
	broad_phase_destroy(broad);
	result.move_ns /= (double)in->count * in->rounds;
	result.pair_ns /= (double)in->count * in->rounds;
	return result;
}

static void print(const char *who, struct bench_broad_result result)
{
	printf("  %-12s move %7.0f ns  pairs %7.0f ns  both %7.0f ns a proxy  (%llu pairs)\n", who,
	       result.move_ns, result.pair_ns, result.move_ns + result.pair_ns,
	       (unsigned long long)result.pairs);
}

static void print_ours(const struct bench_boxes *in, enum broad_phase_kind kind)
{
	static const struct broad_cells CELLS[] = { { 1, BROAD_PHASE_LEVELS_MAX },
						    { 2, BROAD_PHASE_LEVELS_MAX },
						    { 4, BROAD_PHASE_LEVELS_MAX },
						    { 1, 4 } };
	uint32_t ways = kind == BROAD_PHASE_GRID ? 3 : kind == BROAD_PHASE_LEVELS ? 4 : 1;
	for (uint32_t i = 0; i < ways; i++) {
		char name[32];
		snprintf(name, sizeof name, "%s", broad_phase_name(kind));
		if (i > 0)
			snprintf(name, sizeof name, "%s %g/%u", broad_phase_name(kind),
				 CELLS[i].per_diameter, (unsigned)CELLS[i].levels_max);
		print(name, measure_ours(in, kind, CELLS[i]));
	}
}

int main(void)
{
	struct rng rng = rng_seeded(1);
	for (uint32_t n = 0; n < COUNT_OF(SCENES); n++) {
		struct bench_boxes in = { SCENES[n].name, COUNT, ROUNDS, boxes };
		make(&SCENES[n], &rng);
		printf("%s, %d boxes\n", in.name, COUNT);
		for (enum broad_phase_kind kind = 0; kind < BROAD_PHASE_KINDS; kind++)
			print_ours(&in, kind);
#ifdef BENCH_HAVE_BULLET
		print("bullet", bench_broad_bullet(&in));
#endif
#ifdef BENCH_HAVE_ODE
		print("ode", bench_broad_ode(&in));
#endif
	}
	return 0;
}
