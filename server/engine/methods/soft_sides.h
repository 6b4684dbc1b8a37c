/* soft_sides.h: members of the bodies of four lanes, gathered into vectors. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_SIDES_H
#define CAIRN_ENGINE_METHODS_SOFT_SIDES_H

#include "server/engine/methods/soft_step.h"

LANES_INLINE struct lanes3 gather_lanes(const lanes *a, const lanes *b, const lanes *c,
					const lanes *d)
{
	lanes x = *a, y = *b, z = *c, w = *d;
	lanes_transpose(&x, &y, &z, &w);
	return (struct lanes3){ x, y, z };
}

/* A member of four soft bodies or drives, by their numbers. */
#define GATHER(from, index, member)                                                                \
	gather_lanes(&(from)[(index)[0]].member, &(from)[(index)[1]].member,                       \
		     &(from)[(index)[2]].member, &(from)[(index)[3]].member)

/* T v, lane by lane. */
LANES_INLINE struct lanes3 tensor_lanes(const struct lane8 tensor[6], uint32_t first,
					struct lanes3 v)
{
	lanes xx = lanes_load(&tensor[0], first), yy = lanes_load(&tensor[1], first);
	lanes zz = lanes_load(&tensor[2], first), xy = lanes_load(&tensor[3], first);
	lanes yz = lanes_load(&tensor[4], first), zx = lanes_load(&tensor[5], first);
	return (struct lanes3){ xx * v.x + xy * v.y + zx * v.z, xy * v.x + yy * v.y + yz * v.z,
				zx * v.x + yz * v.y + zz * v.z };
}

#endif
