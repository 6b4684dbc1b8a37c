/* bench_broad: what a broad phase costs: ns a proxy moved and ns a proxy to find the pairs, on three kinds
 * of worlds, each of our kinds beside Bullet's dynamic tree and ODE's hash space in the same run.
 *
 *   make tests/bench/bench_broad && tests/bench/bench_broad
 *
 * lattice  8000 boxes of one size in a block, each trembling by a twentieth: nearly all cells stay.
 * crowd    8000 boxes of one size on random ways of half their size a round.
 * sizes    8000 boxes of sizes over three orders of magnitude, and one under all of them, likewise.
 */
#include "tests/bench/bench_broad.h"

#include "server/base/array.h"
#include "server/base/rng.h"
#include "server/engine/collision/broad_phase.h"

#include <stdio.h>
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

/* Each centre wanders by `step` × its half size a round; tremble: about its first place. */
static void wander(struct rng *rng, double centre[3], double half, double step, bool tremble,
		   uint32_t i)
{
	double at[3] = { centre[0], centre[1], centre[2] };
	for (uint32_t r = 0; r <= ROUNDS; r++) {
		boxes[r * COUNT + i] = box_at(at, half);
		for (int k = 0; k < 3; k++)
			at[k] = (tremble ? centre[k] : at[k]) + rng_range(rng, -step, step) * half;
	}
}

static void make(const char *name, struct rng *rng)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		double centre[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE }, half = 0.52;
		bool lattice = name[0] == 'l';
		for (int k = 0; k < 3 && !lattice; k++)
			centre[k] = rng_range(rng, -10, 10);
		if (name[0] == 's') {
			half = 0.003;
			for (uint32_t k = rng_below(rng, 11); k > 0; k--)
				half *= 2;
			if (i == 0)
				half = 1000;
		}
		wander(rng, centre, half, lattice ? 0.1 : 0.5, lattice, i);
	}
}

static struct aabb aabb_of(const struct bench_box *box)
{
	return aabb_make(vec3_make(box->min[0], box->min[1], box->min[2]),
			 vec3_make(box->max[0], box->max[1], box->max[2]));
}

static struct bench_broad_result ours(const struct bench_boxes *in, enum broad_phase_kind kind)
{
	struct bench_broad_result result = { 0, 0, 0 };
	struct broad_phase *broad;
	struct proxy_pairs pairs = { 0 };
	if (broad_phase_create(kind, &broad) != STATUS_OK ||
	    broad_phase_reserve(broad, in->count) != STATUS_OK)
		return result;
	for (uint32_t r = 0; r <= in->rounds; r++) {
		double start = bench_broad_now();
		for (uint32_t i = 0; i < in->count; i++) {
			struct aabb box = aabb_of(&in->boxes[r * in->count + i]);
			if (r == 0)
				broad_phase_add(broad, i, &box, 0);
			else
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
	printf("  %-8s move %7.0f ns  pairs %7.0f ns  both %7.0f ns a proxy  (%llu pairs)\n", who,
	       result.move_ns, result.pair_ns, result.move_ns + result.pair_ns,
	       (unsigned long long)result.pairs);
}

int main(void)
{
	static const char *const NAMES[3] = { "lattice", "crowd", "sizes" };
	struct rng rng = rng_seeded(1);
	for (uint32_t n = 0; n < COUNT_OF(NAMES); n++) {
		struct bench_boxes in = { NAMES[n], COUNT, ROUNDS, boxes };
		make(in.name, &rng);
		printf("%s, %d boxes\n", in.name, COUNT);
		for (enum broad_phase_kind kind = 0; kind < BROAD_PHASE_KINDS; kind++)
			print(broad_phase_name(kind), ours(&in, kind));
#ifdef BENCH_HAVE_BULLET
		print("bullet", bench_broad_bullet(&in));
#endif
#ifdef BENCH_HAVE_ODE
		print("ode", bench_broad_ode(&in));
#endif
	}
	return 0;
}
