/* soft_sides.h: members of the bodies of LANES_WIDTH lanes, gathered into vectors. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_SIDES_H
#define CAIRN_ENGINE_METHODS_SOFT_SIDES_H

#include "server/engine/methods/soft_step.h"

/* A member of soft bodies or drives, one for each lane. `from`: that of number 0; the next one is `stride`
 * bytes on. */
ALWAYS_INLINE struct lanes3 gather_lanes(const float4 *from, size_t stride, const uint32_t *index,
					 lanes *w)
{
	const float4 *rows[LANES_WIDTH];
	LANES_UNROLL /* else gcc computes addresses in vectors, and takes them apart again */
		for (uint32_t i = 0; i < LANES_WIDTH; i++) rows[i] =
			(const float4 *)((const char *)from + index[i] * stride);
	return lanes_gather(rows, w);
}

#define GATHER(from, index, member)                                                                \
	gather_lanes(&(from)->member, sizeof *(from), index, &(lanes){ 0 })

/* T v, lane by lane. */
ALWAYS_INLINE struct lanes3 tensor_lanes(const struct lane8 tensor[6], uint32_t first,
					 struct lanes3 v)
{
	lanes xx = lanes_load(&tensor[0], first), yy = lanes_load(&tensor[1], first);
	lanes zz = lanes_load(&tensor[2], first), xy = lanes_load(&tensor[3], first);
	lanes yz = lanes_load(&tensor[4], first), zx = lanes_load(&tensor[5], first);
	return (struct lanes3){ xx * v.x + xy * v.y + zx * v.z, xy * v.x + yy * v.y + yz * v.z,
				zx * v.x + yz * v.y + zz * v.z };
}

/* The part of a vector along the axes of side a or b (`free`) that are not locked. */
ALWAYS_INLINE struct lanes3 free_part(bool locks, const struct lane8x3 *free, uint32_t first,
				      struct lanes3 v)
{
	if (!locks)
		return v;
	struct lanes3 f = lanes3_load(free, first);
	return (struct lanes3){ f.x * v.x, f.y * v.y, f.z * v.z };
}

/* 1, of 1/m: what a contact that only locked axes hold has as inverse mass, because its own is
 * rounding. Locked axes do not move, whatever its impulse is; smaller: such impulses grow without
 * bound. */
#define HELD 1e-4f

/* 1/kg: u M⁻¹ u of a unit vector, by the masses of both sides. */
ALWAYS_INLINE lanes mass_along(const struct soft_block *block, uint32_t first, struct lanes3 u)
{
	lanes m_a = lanes_load(&block->mass_inv_a, first);
	lanes m_b = lanes_load(&block->mass_inv_b, first);
	if (!block->locks)
		return m_a + m_b;
	return m_a * lanes3_dot(free_part(true, &block->free_a, first, u), u) +
	       m_b * lanes3_dot(free_part(true, &block->free_b, first, u), u) +
	       lanes_all(HELD) * (m_a + m_b);
}

#endif
