/* soft_wide_lanes.h: vectors of doubles, half as many as LANES_WIDTH floats, and members of jointed
 * bodies in them. Every operation is the IEEE one per lane, in the order of the plain computation. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_LANES_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_LANES_H

#include "server/engine/methods/soft_step.h"

enum { WIDE = LANES_WIDTH / 2 };

typedef double wide __attribute__((vector_size(4 * LANES_WIDTH)));
typedef int64_t wide_mask __attribute__((vector_size(4 * LANES_WIDTH)));

LANES_INLINE wide wide_all(double s)
{
	return s - (wide){ 0 }; /* a sum would turn −0 into 0 */
}

/* Lanes first … first+WIDE-1; `first` is a multiple of WIDE. */
LANES_INLINE wide wide_load(const struct wide8 *from, uint32_t first)
{
	VALIDATE(first < BLOCK_LANES && first % WIDE == 0);
	wide v;
	memcpy(&v, &from->at[first], sizeof v);
	return v;
}

LANES_INLINE void wide_store(struct wide8 *to, uint32_t first, wide v)
{
	VALIDATE(first < BLOCK_LANES && first % WIDE == 0);
	memcpy(&to->at[first], &v, sizeof v);
}

LANES_INLINE wide wide_select(wide_mask mask, wide yes, wide no)
{
	return (wide)((mask & (wide_mask)yes) | (~mask & (wide_mask)no));
}

/* WIDE rows of as many numbers into columns, or back. */
LANES_INLINE void wide_transpose(wide v[WIDE])
{
#if LANES_WIDTH == 8
	wide ab_even = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
	wide ab_odd = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
	wide cd_even = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
	wide cd_odd = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
	v[0] = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
	v[1] = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
	v[2] = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
	v[3] = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
#else
	wide low = __builtin_shufflevector(v[0], v[1], 0, 2);
	v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
	v[0] = low;
#endif
}

/* `count` ≥ WIDE numbers of each lane, from its address on. Groups of WIDE may overlap. */
LANES_INLINE void wide_gather(const double *const from[WIDE], uint32_t count, wide *out)
{
	for (uint32_t c = 0; c < count; c += WIDE) {
		uint32_t at = MIN_OF(c, count - WIDE);
		for (uint32_t i = 0; i < WIDE; i++)
			memcpy(&out[at + i], from[i] + at, sizeof *out);
		wide_transpose(&out[at]);
	}
}

LANES_INLINE void gather_bodies(const struct soft_joints *joints, const uint32_t index[WIDE],
				size_t offset, uint32_t count, wide *out)
{
	const double *from[WIDE];
	for (uint32_t i = 0; i < WIDE; i++)
		from[i] = (const double *)((const char *)&joints->jointed[index[i]] + offset);
	wide_gather(from, count, out);
}

/* Back, into the bodies of the lanes whose bit of `writes` is set. */
LANES_INLINE void scatter_bodies(const struct soft_joints *joints, const uint32_t index[WIDE],
				 uint32_t writes, size_t offset, uint32_t count, const wide *from)
{
	for (uint32_t c = 0; c < count; c += WIDE) {
		uint32_t at = MIN_OF(c, count - WIDE);
		wide rows[WIDE];
		for (uint32_t i = 0; i < WIDE; i++)
			rows[i] = from[at + i];
		wide_transpose(rows);
		for (uint32_t i = 0; i < WIDE; i++)
			if (writes >> i & 1)
				memcpy((char *)&joints->jointed[index[i]] + offset +
					       at * sizeof(double),
				       &rows[i], sizeof rows[i]);
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

LANES_INLINE void gather_locks(const struct wide_block *block, uint32_t first, uint32_t rows,
			       struct lanes_row *out)
{
	_Static_assert(sizeof(struct soft_row) == 12 * sizeof(double), "a row is twelve numbers");
	_Static_assert(sizeof(struct lanes_row) == 12 * sizeof(wide), "and so is one of lanes");
	for (uint32_t r = 0; r < rows; r++) {
		const double *from[WIDE];
		for (uint32_t i = 0; i < WIDE; i++)
			from[i] = (const double *)(const void *)&block->locks[first + i][r];
		wide_gather(from, 12, out[r].on_a);
	}
}

/* A member of the lanes' joints: an array of at least WIDE numbers. */
#define GATHER_JOINTS(block, first, member, count, out)                                            \
	do {                                                                                       \
		const double *from[WIDE];                                                          \
		for (uint32_t i = 0; i < WIDE; i++)                                                \
			from[i] = (block)->joint[(first) + i]->member;                             \
		wide_gather(from, MAX_OF((uint32_t)(count), (uint32_t)WIDE), out);                 \
	} while (0)

/* J v, as spatial_dot. */
LANES_INLINE wide wide_speed(const wide on[6], const wide v[6])
{
	return (on[0] * v[0] + on[1] * v[1] + on[2] * v[2]) +
	       (on[3] * v[3] + on[4] * v[4] + on[5] * v[5]);
}

/* The same product as soft_dot and soft_respond have it: in one sum. */
LANES_INLINE wide wide_dot(const wide on[6], const wide x[6])
{
	return on[0] * x[0] + on[1] * x[1] + on[2] * x[2] + on[3] * x[3] + on[4] * x[4] +
	       on[5] * x[5];
}

/* v + s J. */
LANES_INLINE void wide_add(wide v[6], const wide on[6], wide s)
{
	for (uint32_t i = 0; i < 6; i++)
		v[i] += on[i] * s;
}

#endif
