/* fluid_lanes.h: the sums over neighbours that cost most, and the search for them, in vectors of
 * FLUID_LANES doubles: 1 is the plain computation, 2 what every processor has, 4 needs AVX2. A lane is
 * a component of a vector, or a candidate of the search, so each number is the result of the same
 * operations in the same order at any width. Included once for each width, with FLUID_LANES and
 * FLUID_KERNELS defined. */
#ifndef CAIRN_ENGINE_DYNAMICS_FLUID_LANES_H
#define CAIRN_ENGINE_DYNAMICS_FLUID_LANES_H

#include "server/engine/fluids/fluid_work.h"

#ifndef FLUID_LANES
#define FLUID_LANES 1
#define FLUID_KERNELS fluid_kernels_1
#endif

/* A sum of vectors by component; `add` takes a neighbour's slope times a factor for each component. */
#if FLUID_LANES == 4
typedef double lane4 __attribute__((vector_size(32)));
typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef struct {
	lane4 all;
} slope_sum;
/* Without the place, which as a number may be denormal and slow. */
#define SLOPE(pair, out)                                                                           \
	int4 raw;                                                                                  \
	memcpy(&raw, pair, sizeof raw);                                                            \
	raw &= (int4){ -1, -1, -1, 0 };                                                            \
	lane4 out = __builtin_convertvector((float4)raw, lane4)
#define ADD(sum, pair, factor)                                                                     \
	do {                                                                                       \
		SLOPE(pair, slope);                                                                \
		(sum)->all += slope * (factor);                                                    \
	} while (0)
#define ADD_FLOW(sum, pair, flow)                                                                  \
	do {                                                                                       \
		SLOPE(pair, slope);                                                                \
		lane4 factors;                                                                     \
		memcpy(&factors, flow, sizeof factors);                                            \
		(sum)->all += slope * factors;                                                     \
	} while (0)
#define TOTAL(even, odd)                                                                           \
	vec3_make((even).all[0] + (odd).all[0], (even).all[1] + (odd).all[1],                      \
		  (even).all[2] + (odd).all[2])
#elif FLUID_LANES == 2
typedef double lane2 __attribute__((vector_size(16)));
typedef float float2 __attribute__((vector_size(8)));
typedef struct {
	lane2 xy;
	double z;
} slope_sum;
#define SLOPE(pair, out)                                                                           \
	float2 half;                                                                               \
	memcpy(&half, (pair)->slope, sizeof half);                                                 \
	lane2 out = __builtin_convertvector(half, lane2)
#define ADD(sum, pair, factor)                                                                     \
	do {                                                                                       \
		SLOPE(pair, slope_xy);                                                             \
		(sum)->xy += slope_xy * (factor);                                                  \
		(sum)->z += (double)(pair)->slope[2] * (factor);                                   \
	} while (0)
#define ADD_FLOW(sum, pair, flow)                                                                  \
	do {                                                                                       \
		SLOPE(pair, slope_xy);                                                             \
		lane2 factors;                                                                     \
		memcpy(&factors, flow, sizeof factors);                                            \
		(sum)->xy += slope_xy * factors;                                                   \
		(sum)->z += (double)(pair)->slope[2] * (flow)->v.z;                                \
	} while (0)
#define TOTAL(even, odd)                                                                           \
	vec3_make((even).xy[0] + (odd).xy[0], (even).xy[1] + (odd).xy[1], (even).z + (odd).z)
#else
typedef struct {
	vec3 all;
} slope_sum;
#define ADD(sum, pair, factor) (sum)->all = vec3_mul_add((sum)->all, fluid_slope(pair), factor)
#define ADD_FLOW(sum, pair, flow)                                                                  \
	(sum)->all = vec3_add((sum)->all, vec3_hadamard(fluid_slope(pair), (flow)->v))
#define TOTAL(even, odd) vec3_add((even).all, (odd).all)
#endif

/* Σ load_j ∇W. Even and odd neighbours apart, so that additions need not wait for each other. */
static vec3 sum_loads(const struct fluid_pair *pairs, uint32_t count, const double *load)
{
	slope_sum even = { 0 }, odd = { 0 };
	uint32_t k = 0;
	for (; k + 1 < count; k += 2) {
		ADD(&even, &pairs[k], load[pairs[k].place]);
		ADD(&odd, &pairs[k + 1], load[pairs[k + 1].place]);
	}
	if (k < count)
		ADD(&even, &pairs[k], load[pairs[k].place]);
	return TOTAL(even, odd);
}

/* Σ flow_j·∇W, likewise. */
static double sum_flows(const struct fluid_pair *pairs, uint32_t count,
			const struct fluid_flow *flow)
{
	slope_sum even = { 0 }, odd = { 0 };
	uint32_t k = 0;
	for (; k + 1 < count; k += 2) {
		ADD_FLOW(&even, &pairs[k], &flow[pairs[k].place]);
		ADD_FLOW(&odd, &pairs[k + 1], &flow[pairs[k + 1].place]);
	}
	if (k < count)
		ADD_FLOW(&even, &pairs[k], &flow[pairs[k].place]);
	vec3 sum = TOTAL(even, odd);
	return sum.x + sum.y + sum.z;
}

/* Adds the places first … last − 1 that are nearer to `at` than the root of `reach` to `out`, which has
 * room for all; how many. */
static uint32_t find_places(const struct fluid_near_x *near, uint32_t first, uint32_t last, vec3 at,
			    double reach, uint32_t *out)
{
	const double *x = near->x, *y = near->y, *z = near->z;
	uint32_t found = 0, k = first;
#if FLUID_LANES == 4
	for (; k + 4 <= last; k += 4) {
		lane4 dx, dy, dz;
		memcpy(&dx, &x[k], sizeof dx);
		memcpy(&dy, &y[k], sizeof dy);
		memcpy(&dz, &z[k], sizeof dz);
		dx = at.x - dx, dy = at.y - dy, dz = at.z - dz;
		lane4 yes = (lane4)(dx * dx + dy * dy + dz * dz < reach - (lane4){ 0 });
		uint32_t bits = (uint32_t)__builtin_ia32_movmskpd256(yes);
		for (; bits != 0; bits &= bits - 1)
			out[found++] = k + (uint32_t)__builtin_ctz(bits);
	}
#endif
	for (; k < last; k++) {
		double dx = at.x - x[k], dy = at.y - y[k], dz = at.z - z[k];
		out[found] = k;
		found += dx * dx + dy * dy + dz * dz < reach;
	}
	return found;
}

const struct fluid_kernels FLUID_KERNELS = { sum_loads, sum_flows, find_places };

#endif
