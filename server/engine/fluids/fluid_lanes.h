/* fluid_lanes.h: the loops over neighbours that cost most, in vectors of eight floats and four doubles, of
 * which a processor works on FLUID_LANES floats at once: 4 is what every processor has, 8 needs AVX2. A
 * vector has the same members at every width, so each number is the result of the same operations in the
 * same order; so it is in fluid_lanes_1.c, which computes one number after the other, and to which tests hold
 * these. Included once for each width, with FLUID_LANES and FLUID_KERNELS defined.
 *
 * Sums over the pairs of a particle: pairs come in fours (fluid_work.h). Of floats, the components of
 * pairs 0 and 1 are one vector, those of 2 and 3 another; of doubles, those of one pair. So pair k adds to
 * sum k mod 4, or k mod 2, and these are added in the end as (0 + 2) + (1 + 3). */
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_LANES_H
#define CAIRN_ENGINE_FLUIDS_FLUID_LANES_H

#include "server/base/inline.h"
#include "server/engine/fluids/fluid_work.h"

#ifndef FLUID_LANES
#define FLUID_LANES 4
#define FLUID_KERNELS fluid_kernels_4
#endif

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef int32_t int8 __attribute__((vector_size(32)));
typedef uint32_t uint8 __attribute__((vector_size(32)));
typedef double double4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32)));
/* In memory. In place of memcpy, which gcc splits into halves. */
typedef int4 stored_int4 __attribute__((aligned(4), may_alias));
typedef uint8 stored_uint8 __attribute__((aligned(4), may_alias));
typedef int8 stored_int8 __attribute__((aligned(4), may_alias));
typedef float4 stored_float4 __attribute__((aligned(4), may_alias));
typedef float8 stored_float8 __attribute__((aligned(4), may_alias));
typedef double4 stored_double4 __attribute__((aligned(8), may_alias));

#define LOAD(type, at) (*(const stored_##type *)(const void *)(at))
#define STORE(type, at, value) (*(stored_##type *)(void *)(at) = (value))
/* Two halves side by side. */
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define LOW(a) __builtin_shufflevector(a, a, 0, 1, 2, 3)
#define HIGH(a) __builtin_shufflevector(a, a, 4, 5, 6, 7)
/* By halves where a processor has no wider vectors, because gcc converts them one by one. */
#if FLUID_LANES == 8
#define FLOATS(ints) __builtin_convertvector(ints, float8)
#else
#define FLOATS(ints)                                                                               \
	JOIN(__builtin_convertvector(LOW(ints), float4),                                           \
	     __builtin_convertvector(HIGH(ints), float4))
#endif
#define ALL8(s) ((float8){ (s), (s), (s), (s), (s), (s), (s), (s) })
/* A number for each of two pairs. */
#define TWO(a, b) ((float8){ (a), (a), (a), (a), (b), (b), (b), (b) })
#define CHOOSE(mask, yes, no)                                                                      \
	((float8)(((int8)(yes) & (int8)(mask)) | ((int8)(no) & ~(int8)(mask))))

/* ---- search ---------------------------------------------------------------------------------------- */

#if FLUID_LANES == 8
/* The numbers of the bits that are set in a byte, ascending, a byte each. */
#define BIT(b, i) ((uint64_t)((b) >> (i)&1))
#define PUT(b, i, rest) ((rest) << 8 * BIT(b, i) | BIT(b, i) * (i))
#define LEFT1(b)                                                                                   \
	PUT(b, 0, PUT(b, 1, PUT(b, 2, PUT(b, 3, PUT(b, 4, PUT(b, 5, PUT(b, 6, BIT(b, 7) * 7)))))))
#define LEFT4(b) LEFT1(b), LEFT1((b) + 1), LEFT1((b) + 2), LEFT1((b) + 3)
#define LEFT16(b) LEFT4(b), LEFT4((b) + 4), LEFT4((b) + 8), LEFT4((b) + 12)
#define LEFT64(b) LEFT16(b), LEFT16((b) + 16), LEFT16((b) + 32), LEFT16((b) + 48)
static const uint64_t LEFT[256] = { LEFT64(0), LEFT64(64), LEFT64(128), LEFT64(192) };
typedef unsigned char byte8 __attribute__((vector_size(8)));
#endif

/* Appends the numbers of the bits among first … first + 7 to `out`, which has room for eight; how many. */
ALWAYS_INLINE uint32_t append(const int8 *yes, uint32_t first, uint32_t *out)
{
#if FLUID_LANES == 8
	uint32_t bits = (uint32_t)__builtin_ia32_movmskps256((float8)*yes);
	byte8 left;
	memcpy(&left, &LEFT[bits], sizeof left);
	int8 places = __builtin_convertvector(left, int8) + (int32_t)first;
	STORE(int8, out, places);
	return (uint32_t)__builtin_popcount(bits);
#else
	uint32_t found = 0;
	for (uint32_t n = 0; n < 8; n++) {
		out[found] = first + n;
		found += (*yes)[n] != 0;
	}
	return found;
#endif
}

static uint32_t find_places(const struct fluid_near_x *near, const struct fluid_runs *runs,
			    const struct fluid_spot *own, uint32_t *out)
{
	const uint32_t cells = 2 * runs->reach + 1;
	uint32_t found = 0;
	const uint8 x = own->x - (uint8){ 0 }, y = own->y - (uint8){ 0 }, z = own->z - (uint8){ 0 };
	const int8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
	for (uint32_t r = 0; r < cells * cells; r++)
		for (uint32_t k = runs->first[r]; k < runs->last[r]; k += 8) {
			int8 dx = (int8)(x - LOAD(uint8, &near->x[k]));
			int8 dy = (int8)(y - LOAD(uint8, &near->y[k]));
			int8 dz = (int8)(z - LOAD(uint8, &near->z[k]));
			float8 fx = FLOATS(dx);
			float8 fy = FLOATS(dy);
			float8 fz = FLOATS(dz);
			int8 yes = fx * fx + fy * fy + fz * fz < ALL8(runs->squared);
			yes &= lane < (int32_t)(runs->last[r] - k) - (int8){ 0 };
			found += append(&yes, k, &out[found]);
		}
	return found;
}

/* ---- kernels --------------------------------------------------------------------------------------- */

/* Vectors are passed by their addresses, because a call that is not inlined depends on the width. */
ALWAYS_INLINE void take_root(float8 *a)
{
#if FLUID_LANES == 8
	*a = __builtin_ia32_sqrtps256(*a);
#else
	for (uint32_t n = 0; n < 8; n++)
		(*a)[n] = __builtin_sqrtf((*a)[n]);
#endif
}

ALWAYS_INLINE void take_root4(double4 *a)
{
#if FLUID_LANES == 8
	*a = __builtin_ia32_sqrtpd256(*a);
#else
	for (uint32_t n = 0; n < 4; n++)
		(*a)[n] = __builtin_sqrt((*a)[n]);
#endif
}

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) */
ALWAYS_INLINE float total(const float8 *a)
{
	float4 b = LOW(*a) + HIGH(*a);
	return (b[0] + b[2]) + (b[1] + b[3]);
}

/* The vectors from four neighbours, and their volumes. */
struct four {
	double4 x, y, z, volume;
};

ALWAYS_INLINE void transpose(const double4 *a, const double4 *b, const double4 *c, const double4 *d,
			     struct four *out)
{
	double4 xz_ab = __builtin_shufflevector(*a, *b, 0, 4, 2, 6);
	double4 xz_cd = __builtin_shufflevector(*c, *d, 0, 4, 2, 6);
	double4 yv_ab = __builtin_shufflevector(*a, *b, 1, 5, 3, 7);
	double4 yv_cd = __builtin_shufflevector(*c, *d, 1, 5, 3, 7);
	out->x = __builtin_shufflevector(xz_ab, xz_cd, 0, 1, 4, 5);
	out->y = __builtin_shufflevector(yv_ab, yv_cd, 0, 1, 4, 5);
	out->z = __builtin_shufflevector(xz_ab, xz_cd, 2, 3, 6, 7);
	out->volume = __builtin_shufflevector(yv_ab, yv_cd, 2, 3, 6, 7);
}

ALWAYS_INLINE void gather(const struct fluid_site *sites, const double4 *own, const uint32_t *found,
			  struct four *out)
{
	double4 a = *own - LOAD(double4, &sites[found[0]]),
		b = *own - LOAD(double4, &sites[found[1]]);
	double4 c = *own - LOAD(double4, &sites[found[2]]),
		d = *own - LOAD(double4, &sites[found[3]]);
	transpose(&a, &b, &c, &d, out);
	out->volume = -out->volume;
}

#define CHOOSE4(mask, yes, no)                                                                     \
	((double4)(((long4)(yes) & (long4)(mask)) | ((long4)(no) & ~(long4)(mask))))
#define ALL4(s) ((double4){ (s), (s), (s), (s) })

/* Those beyond `count` have no volume. */
ALWAYS_INLINE void keep_first(struct four *near, int64_t count)
{
	const long4 lane = { 0, 1, 2, 3 };
	near->volume = (double4)((long4)near->volume & (lane < count - (long4){ 0 }));
}

/* q, and the density by π/8, of four neighbours; none of those beyond `count`. */
ALWAYS_INLINE void find_density(struct four *near, int64_t count, double4 *q, double4 *density)
{
	keep_first(near, count);
	*q = near->x * near->x + near->y * near->y + near->z * near->z;
	take_root4(q);
	*q = CHOOSE4(*q < ALL4(1.0), *q, ALL4(1.0));
	double4 u = 1.0 - *q;
	double4 value = CHOOSE4(*q < ALL4(0.5), 6.0 * *q * *q * (*q - 1.0) + 1.0, 2.0 * u * u * u);
	*density += near->volume * value;
}

#define NARROW(a, b) JOIN(__builtin_convertvector(a, float4), __builtin_convertvector(b, float4))

static void fill_pairs(const struct fluid_site *sites, const float *weights, uint32_t place,
		       uint32_t *found, uint32_t count, struct fluid_pair *out,
		       struct fluid_pair_sums *sums)
{
	float8 spread = { 0 }, trace = { 0 }, sx = { 0 }, sy = { 0 }, sz = { 0 };
	double4 low = { 0 }, high = { 0 }, own = LOAD(double4, &sites[place]);
	own[3] = 0;
	for (uint32_t n = count; n < (count + 7) / 8 * 8; n++)
		found[n] = place;
	for (uint32_t k = 0; k < count; k += 8) {
		struct four a, b;
		double4 q_a, q_b;
		gather(sites, &own, &found[k], &a);
		gather(sites, &own, &found[k + 4], &b);
		find_density(&a, (int64_t)count - k, &q_a, &low);
		find_density(&b, (int64_t)count - k - 4, &q_b, &high);
		float8 x = NARROW(a.x, b.x), y = NARROW(a.y, b.y), z = NARROW(a.z, b.z);
		float8 q = NARROW(q_a, q_b), volume = NARROW(a.volume, b.volume);
		float8 weight = { weights[found[k]],	 weights[found[k + 1]],
				  weights[found[k + 2]], weights[found[k + 3]],
				  weights[found[k + 4]], weights[found[k + 5]],
				  weights[found[k + 6]], weights[found[k + 7]] };
		/* Pairs that fill up have no volume, and no way. */
		float8 squares = x * x + y * y + z * z, u = 1.0f - q;
		float8 far = CHOOSE(q < ALL8(0.5f), ALL8(0.5f), q);
		float8 scale = CHOOSE(q < ALL8(0.5f), 18.0f * q - 12.0f, -6.0f * u * u / far);
		scale *= (float)(8 / FLUID_PI);
		spread += weight * (scale * scale * squares);
		trace += volume * (scale * squares);
		sx += volume * (scale * x), sy += volume * (scale * y), sz += volume * (scale * z);
		int8 places = LOAD(int8, &found[k]), bits = (int8)scale;
		STORE(int8, &out[k],
		      __builtin_shufflevector(bits, places, 0, 8, 1, 9, 2, 10, 3, 11));
		STORE(int8, &out[k + 4],
		      __builtin_shufflevector(bits, places, 4, 12, 5, 13, 6, 14, 7, 15));
	}
	low += high;
	*sums = (struct fluid_pair_sums){
		.density = ((low[0] + low[2]) + (low[1] + low[3])) * (8 / FLUID_PI),
		.spread = total(&spread),
		.trace = -total(&trace),
		.slope = { total(&sx), total(&sy), total(&sz) },
	};
}

/* ---- colours --------------------------------------------------------------------------------------- */

static uint32_t find_inside(const struct fluid_cloud *cloud, const float at[3], uint32_t *out)
{
	const int8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
	uint32_t found = 0;
	for (uint32_t k = 0; k < cloud->count; k += 8) {
		float8 x = at[0] - LOAD(float8, &cloud->x[k]);
		float8 y = at[1] - LOAD(float8, &cloud->y[k]);
		float8 z = at[2] - LOAD(float8, &cloud->z[k]);
		int8 yes = x * x + y * y + z * z < ALL8(FLUID_INSIDE);
		yes &= lane < (int32_t)(cloud->count - k) - (int8){ 0 };
		found += append(&yes, k, &out[found]);
	}
	for (uint32_t n = 0; n < found; n++)
		out[n] = cloud->places[out[n]];
	return found;
}

ALWAYS_INLINE double total4(const double4 *a)
{
	return ((*a)[0] + (*a)[2]) + ((*a)[1] + (*a)[3]);
}

/* W'/r, and (W'' − W'/r)/r², at four squared radii, by π/8. */
ALWAYS_INLINE void find_slopes(const double4 *r2, double4 *slope, double4 *bend)
{
	double4 q = *r2;
	take_root4(&q);
	q = CHOOSE4(q < ALL4(1.0), q, ALL4(1.0));
	double4 u = 1.0 - q, far = CHOOSE4(q < ALL4(0.5), ALL4(0.5), q);
	double4 safe = CHOOSE4(*r2 > ALL4(1e-18), *r2, ALL4(1.0));
	*slope = CHOOSE4(q < ALL4(0.5), 18.0 * q - 12.0, -6.0 * u * u / far);
	*bend = (CHOOSE4(q < ALL4(0.5), 36.0 * q - 12.0, 12.0 * u) - *slope) / safe;
}

/* The derivatives of four neighbours, by π/8. */
ALWAYS_INLINE void add_colour(const struct four *near, double4 sums[10])
{
	double4 r2 = near->x * near->x + near->y * near->y + near->z * near->z, slope, bend;
	find_slopes(&r2, &slope, &bend);
	double4 s = near->volume * slope, t = near->volume * bend;
	double4 tx = t * near->x, ty = t * near->y, tz = t * near->z;
	sums[0] += s * near->x, sums[1] += s * near->y, sums[2] += s * near->z;
	sums[3] += s;
	sums[4] += tx * near->x, sums[5] += ty * near->y, sums[6] += tz * near->z;
	sums[7] += tx * near->y, sums[8] += ty * near->z, sums[9] += tz * near->x;
}

static void sum_colour(const struct fluid_site *sites, const double at[3], uint32_t *found,
		       uint32_t count, double most, struct fluid_colour *out)
{
	const double4 own = { at[0], at[1], at[2], 0 };
	double4 value = { 0 }, sums[10] = { { 0 } }, q;
	struct four near;
	for (uint32_t n = count; n < (count + 3) / 4 * 4; n++)
		found[n] = found[0];
	for (uint32_t k = 0; k < count; k += 4) {
		gather(sites, &own, &found[k], &near);
		find_density(&near, (int64_t)count - k, &q, &value);
	}
	*out = (struct fluid_colour){ .value = total4(&value) * (8 / FLUID_PI) };
	if (!(out->value < most))
		return;
	for (uint32_t k = 0; k < count; k += 4) {
		gather(sites, &own, &found[k], &near);
		keep_first(&near, (int64_t)count - k);
		add_colour(&near, sums);
	}
	for (uint32_t n = 0; n < 10; n++) {
		double sum = total4(&sums[n]) * (8 / FLUID_PI);
		*(n < 3 ? &out->slope[n] : n == 3 ? &out->round : &out->bend[n - 4]) = sum;
	}
}

/* Of the four nodes from found[0] on, those of the first `count`. */
ALWAYS_INLINE void add_pulls(const struct fluid_node *nodes, const double4 *own,
			     const uint32_t *found, int64_t count, double4 sums[3])
{
	const struct fluid_node *a = &nodes[found[0]], *b = &nodes[found[1]];
	const struct fluid_node *c = &nodes[found[2]], *d = &nodes[found[3]];
	double4 at_a = LOAD(double4, a->at) - *own, at_b = LOAD(double4, b->at) - *own;
	double4 at_c = LOAD(double4, c->at) - *own, at_d = LOAD(double4, d->at) - *own;
	double4 way_a = LOAD(double4, a->way), way_b = LOAD(double4, b->way);
	double4 way_c = LOAD(double4, c->way), way_d = LOAD(double4, d->way), slope, bend;
	struct four at, way;
	transpose(&at_a, &at_b, &at_c, &at_d, &at);
	transpose(&way_a, &way_b, &way_c, &way_d, &way);
	double4 r2 = at.x * at.x + at.y * at.y + at.z * at.z;
	find_slopes(&r2, &slope, &bend);
	double4 along = way.x * at.x + way.y * at.y + way.z * at.z;
	struct four keep = { .volume = slope };
	keep_first(&keep, count);
	slope = keep.volume, keep.volume = bend;
	keep_first(&keep, count);
	double4 factor = at.volume * slope + keep.volume * along;
	sums[0] += at.x * factor + way.x * slope;
	sums[1] += at.y * factor + way.y * slope;
	sums[2] += at.z * factor + way.z * slope;
}

static void sum_pulls(const struct fluid_node *nodes, const double at[3], uint32_t *found,
		      uint32_t count, double sum[3])
{
	const double4 own = { at[0], at[1], at[2], 0 };
	double4 sums[3] = { { 0 } };
	for (uint32_t n = count; n < (count + 3) / 4 * 4; n++)
		found[n] = found[0];
	for (uint32_t k = 0; k < count; k += 4)
		add_pulls(nodes, &own, &found[k], (int64_t)count - k, sums);
	for (uint32_t n = 0; n < 3; n++)
		sum[n] += total4(&sums[n]) * (8 / FLUID_PI);
}

/* ---- sums ------------------------------------------------------------------------------------------ */

/* The places of two neighbours. */
#define SPOTS(pairs)                                                                               \
	JOIN(LOAD(int4, &spots[(pairs)[0].place]), LOAD(int4, &spots[(pairs)[1].place]))
#define SCALES(pairs) TWO((pairs)[0].scale, (pairs)[1].scale)
#define LOADS(spot) __builtin_shufflevector((float8)(spot), (float8)(spot), 3, 3, 3, 3, 7, 7, 7, 7)
#define WAY(spot) FLOATS((int8)((uint8)own - (uint8)(spot)))

static void press_places(const struct fluid_iteration *it, uint32_t first_place, uint32_t last)
{
	const struct fluid_spot *spots = it->spots;
	for (uint32_t i = first_place; i < last; i++) {
		float8 first = { 0 }, second = { 0 };
		const int8 own = JOIN(LOAD(int4, &spots[i]), LOAD(int4, &spots[i]));
		const struct fluid_pair *pairs = &it->pairs[it->starts[i]];
		const struct fluid_pair *end = &it->pairs[it->ends[i]];
		for (; pairs < end; pairs += 4) {
			int8 a = SPOTS(pairs), b = SPOTS(pairs + 2);
			first += WAY(a) * (SCALES(pairs) * LOADS(a));
			second += WAY(b) * (SCALES(pairs + 2) * LOADS(b));
		}
		first += second;
		float4 push = LOW(first) + HIGH(first), side = LOAD(float4, &it->sides[i]);
		float4 speed = LOAD(float4, &it->speeds[i]);
		push = push * FLUID_QUANTUM + side * it->pressures[i];
		float4 flow = (speed - push * it->speeds[i].yield) * it->sides[i].volume;
		STORE(float4, &it->flows[i], (float4)((int4)flow & (int4){ -1, -1, -1, 0 }));
	}
}

#define FLOWS(pairs)                                                                               \
	JOIN(LOAD(float4, &flows[(pairs)[0].place]), LOAD(float4, &flows[(pairs)[1].place]))

static void rate_places(const struct fluid_iteration *it, uint32_t first_place, uint32_t last,
			float *rates)
{
	const struct fluid_spot *spots = it->spots;
	const struct fluid_flow *flows = it->flows;
	for (uint32_t i = first_place; i < last; i++) {
		float8 first = { 0 }, second = { 0 };
		const int8 own = JOIN(LOAD(int4, &spots[i]), LOAD(int4, &spots[i]));
		const struct fluid_pair *pairs = &it->pairs[it->starts[i]];
		const struct fluid_pair *end = &it->pairs[it->ends[i]];
		for (; pairs < end; pairs += 4) {
			int8 a = SPOTS(pairs), b = SPOTS(pairs + 2);
			first += (WAY(a) * SCALES(pairs)) * FLOWS(pairs);
			second += (WAY(b) * SCALES(pairs + 2)) * FLOWS(pairs + 2);
		}
		first += second;
		float4 sum = LOW(first) + HIGH(first);
		float4 own_rate = LOAD(float4, &flows[i]) * LOAD(float4, &it->sides[i]);
		float rate = (own_rate[0] + own_rate[1] + own_rate[2]) / it->sides[i].volume;
		rates[i - first_place] = rate - (sum[0] + sum[1] + sum[2]) * FLUID_QUANTUM;
	}
}

/* The volume of a neighbour and a number of it, times those of the particle. */
#define WEIGHT(place, own) (numbers[place] + sites[place].volume * (own))

static vec3 sum_pushes(const struct fluid_pair *pairs, uint32_t count,
		       const struct fluid_site *sites, const double *numbers, uint32_t place,
		       double number)
{
	double4 even = { 0 }, odd = { 0 };
	const double4 own = LOAD(double4, &sites[place]);
	for (const struct fluid_pair *end = pairs + count; pairs < end; pairs += 2) {
		uint32_t a = pairs[0].place, b = pairs[1].place;
		double weight_a = (double)pairs[0].scale * WEIGHT(a, number);
		double weight_b = (double)pairs[1].scale * WEIGHT(b, number);
		even += (own - LOAD(double4, &sites[a])) * weight_a;
		odd += (own - LOAD(double4, &sites[b])) * weight_b;
	}
	even += odd;
	return vec3_make(even[0], even[1], even[2]);
}

/* 1 − q of eight pairs, by −∇W h⁵ = (12 − 18 q | 6 (1 − q)²/q) 8/π. */
ALWAYS_INLINE void find_rests(const struct fluid_pair *pairs, double out[8])
{
	float8 a = LOAD(float8, pairs), b = LOAD(float8, pairs + 4);
	float8 s = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
	s *= (float)(-FLUID_PI / 8);
	float8 far = s * s + 24.0f * s;
	take_root(&far);
	s = CHOOSE(s > ALL8(3.0f), (s + 6.0f) * (1.0f / 18.0f), (far - s) * (1.0f / 12.0f));
	STORE(double4, out, __builtin_convertvector(LOW(s), double4));
	STORE(double4, out + 4, __builtin_convertvector(HIGH(s), double4));
}

/* With the components y, z, x in the place of x, y, z. */
#define NEXT(a) __builtin_shufflevector(a, a, 1, 2, 0, 3)

/* By components z, x, y. */
#define CROSS(a, b) ((a)*NEXT(b) - NEXT(a) * (b))

ALWAYS_INLINE void add_swirl(const struct fluid_slips *slips, uint32_t from, uint32_t to,
			     double weight, double4 out[3])
{
	const double4 e = LOAD(double4, &slips->sites[to]) - LOAD(double4, &slips->sites[from]);
	const double4 slip = LOAD(double4, &slips->v[to]) - LOAD(double4, &slips->v[from]);
	const double4 weighted = e * weight;
	out[0] += CROSS(weighted, slip);
	out[1] += weighted * e;
	out[2] += weighted * NEXT(e);
}

static void sum_swirls(const struct fluid_slips *slips, const struct fluid_pair *pairs,
		       uint32_t count, uint32_t place, double number, struct fluid_swirl *out)
{
	const struct fluid_site *sites = slips->sites;
	const double *numbers = slips->numbers;
	double4 even[3] = { { 0 } }, odd[3] = { { 0 } };
	for (uint32_t k = 0; k < count; k += 8) {
		double rests[8];
		find_rests(&pairs[k], rests);
		for (uint32_t n = 0; n < 8 && k + n < count; n += 2) {
			uint32_t a = pairs[k + n].place, b = pairs[k + n + 1].place;
			add_swirl(slips, place, a, rests[n] * WEIGHT(a, number), even);
			add_swirl(slips, place, b, rests[n + 1] * WEIGHT(b, number), odd);
		}
	}
	STORE(double4, out->zxy, even[0] + odd[0]);
	STORE(double4, out->squares, even[1] + odd[1]);
	STORE(double4, out->mixed, even[2] + odd[2]);
}

ALWAYS_INLINE void add_slip(const struct fluid_slips *slips, uint32_t from, uint32_t to,
			    double weight, double4 *out)
{
	const double4 turn = LOAD(double4, &slips->turns[to]) + LOAD(double4, &slips->turns[from]);
	const double4 e = LOAD(double4, &slips->sites[to]) - LOAD(double4, &slips->sites[from]);
	const double4 slip = LOAD(double4, &slips->v[to]) - LOAD(double4, &slips->v[from]);
	const double4 swirl = CROSS(turn, e);
	*out += (turn[3] * slip - NEXT(swirl)) * weight;
}

static vec3 sum_slips(const struct fluid_slips *slips, const struct fluid_pair *pairs,
		      uint32_t count, uint32_t place, double number)
{
	const struct fluid_site *sites = slips->sites;
	const double *numbers = slips->numbers;
	double4 even = { 0 }, odd = { 0 };
	for (uint32_t k = 0; k < count; k += 8) {
		double rests[8];
		find_rests(&pairs[k], rests);
		for (uint32_t n = 0; n < 8 && k + n < count; n += 2) {
			uint32_t a = pairs[k + n].place, b = pairs[k + n + 1].place;
			add_slip(slips, place, a, rests[n] * WEIGHT(a, number), &even);
			add_slip(slips, place, b, rests[n + 1] * WEIGHT(b, number), &odd);
		}
	}
	even += odd;
	return vec3_make(even[0], even[1], even[2]);
}

const struct fluid_kernels FLUID_KERNELS = { find_places, fill_pairs, press_places, rate_places,
					     sum_pushes,  sum_swirls, sum_slips,    find_inside,
					     sum_colour,  sum_pulls };

#endif
