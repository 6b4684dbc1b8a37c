/* soft_wide_lanes.h: vectors of doubles, half as many as LANES_WIDTH floats, and members of jointed
 * bodies in them. Every operation is the IEEE one per lane, in the order of the plain computation. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_LANES_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_LANES_H

#include "server/engine/methods/soft_step.h"

enum { WIDE = LANES_WIDTH / 2 };

#define VECTOR wide
#define VECTOR_ELEMENT double
#define VECTOR_BITS int64_t
#define VECTOR_BYTES (4 * LANES_WIDTH)
#define VECTOR_EIGHT wide8
#include "server/engine/math/vector_lanes.h"

/* Bits of a block's lanes, from lane `first` on, as a mask. */
ALWAYS_INLINE wide_mask wide_bits(uint32_t bits, uint32_t first)
{
	wide_mask lane = { 0 };
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		lane[i] = -(int64_t)(bits >> (first + i) & 1);
	return lane;
}

/* Back. */
ALWAYS_INLINE uint32_t bits_of(wide_mask mask, uint32_t first)
{
	uint32_t bits = 0;
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		bits |= (uint32_t)(mask[i] & 1) << (first + i);
	return bits;
}

/* As scalar_clamp. */
ALWAYS_INLINE wide wide_clamp(wide v, wide low, wide high)
{
	return wide_select(v > low, wide_select(v < high, v, high), low);
}

/* Numbers of as many lanes as a transposition takes at once. */
enum { PART = WIDE < 4 ? WIDE : 4 };
typedef double wide_part __attribute__((vector_size(8 * PART)));
typedef double part_stored __attribute__((vector_size(8 * PART), aligned(8), may_alias));

/* PART rows of as many numbers into columns, or back. */
ALWAYS_INLINE void part_transpose(wide_part v[PART])
{
#if LANES_WIDTH >= 8
	VECTOR_TRANSPOSE_4(wide_part, v);
#else
	VECTOR_TRANSPOSE_2(wide_part, v);
#endif
}

/* PART numbers of each lane, from its address on. */
ALWAYS_INLINE void gather_part(const double *const from[WIDE], wide out[PART])
{
	wide_part v[WIDE];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		v[i] = *(const part_stored *)from[i];
	LANES_UNROLL
	for (uint32_t k = 0; k < WIDE; k += PART)
		part_transpose(&v[k]);
	LANES_UNROLL
	for (uint32_t i = 0; i < PART; i++) {
#if LANES_WIDTH == 16
		out[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
#else
		out[i] = v[i];
#endif
	}
}

/* Back, into the lanes whose bit of `writes` is set. */
ALWAYS_INLINE void scatter_part(double *const to[WIDE], uint32_t writes, const wide from[PART])
{
	wide_part v[WIDE];
	LANES_UNROLL
	for (uint32_t i = 0; i < PART; i++) {
#if LANES_WIDTH == 16
		v[i] = __builtin_shufflevector(from[i], from[i], 0, 1, 2, 3);
		v[i + 4] = __builtin_shufflevector(from[i], from[i], 4, 5, 6, 7);
#else
		v[i] = from[i];
#endif
	}
	LANES_UNROLL
	for (uint32_t k = 0; k < WIDE; k += PART)
		part_transpose(&v[k]);
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		if (writes >> i & 1)
			*(part_stored *)to[i] = v[i];
}

/* `count` ≥ PART numbers of each lane, from its address on. Groups of PART may overlap. */
ALWAYS_INLINE void wide_gather(const double *const from[WIDE], uint32_t count, wide *out)
{
	LANES_UNROLL
	for (uint32_t c = 0; c < count; c += PART) {
		uint32_t at = MIN_OF(c, count - PART);
		const double *part[WIDE];
		LANES_UNROLL
		for (uint32_t i = 0; i < WIDE; i++)
			part[i] = from[i] + at;
		gather_part(part, &out[at]);
	}
}

ALWAYS_INLINE void gather_bodies(const struct soft_joints *joints, const uint32_t index[WIDE],
				 size_t offset, uint32_t count, wide *out)
{
	const double *from[WIDE];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		from[i] = (const double *)((const char *)&joints->jointed[index[i]] + offset);
	wide_gather(from, count, out);
}

/* Back, into the bodies of the lanes whose bit of `writes` is set. */
ALWAYS_INLINE void scatter_bodies(const struct soft_joints *joints, const uint32_t index[WIDE],
				  uint32_t writes, size_t offset, uint32_t count, const wide *from)
{
	LANES_UNROLL
	for (uint32_t c = 0; c < count; c += PART) {
		uint32_t at = MIN_OF(c, count - PART);
		double *to[WIDE];
		LANES_UNROLL
		for (uint32_t i = 0; i < WIDE; i++)
			to[i] = (double *)((char *)&joints->jointed[index[i]] + offset) + at;
		scatter_part(to, writes, &from[at]);
	}
}

/* `count` numbers of a member of jointed bodies, one vector each. */
#define GATHER_BODIES(joints, index, member, count, out)                                           \
	gather_bodies(joints, index, offsetof(struct soft_jointed, member), count, out)
#define SCATTER_BODIES(joints, index, writes, member, count, from)                                 \
	scatter_bodies(joints, index, writes, offsetof(struct soft_jointed, member), count, from)

/* J on both bodies. */
struct lanes_row {
	wide on_a[6], on_b[6];
};

ALWAYS_INLINE void load_rows(const struct wide_block *block, uint32_t first, uint32_t rows,
			     struct lanes_row *out)
{
	for (uint32_t r = 0; r < rows; r++)
		LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++) {
		out[r].on_a[c] = wide_load(&block->row[r].on_a[c], first);
		out[r].on_b[c] = wide_load(&block->row[r].on_b[c], first);
	}
}

/* v ← v + s, of six numbers that are stored. */
ALWAYS_INLINE void wide_add_stored(struct wide8 v[6], uint32_t first, const wide s[6])
{
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		wide_store(&v[c], first, wide_load(&v[c], first) + s[c]);
}

/* J v, as spatial_dot. */
ALWAYS_INLINE wide wide_speed(const wide on[6], const wide v[6])
{
	return (on[0] * v[0] + on[1] * v[1] + on[2] * v[2]) +
	       (on[3] * v[3] + on[4] * v[4] + on[5] * v[5]);
}

/* The same product as soft_dot and soft_respond have it: in one sum. */
ALWAYS_INLINE wide wide_dot(const wide on[6], const wide x[6])
{
	return on[0] * x[0] + on[1] * x[1] + on[2] * x[2] + on[3] * x[3] + on[4] * x[4] +
	       on[5] * x[5];
}

/* v + s J. */
ALWAYS_INLINE void wide_add(wide v[6], const wide on[6], wide s)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < 6; i++)
		v[i] += on[i] * s;
}

#endif
