/* fluid_samples.h: samples of shapes that have no closed form; parts of fluid_boundary.h. */
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_SAMPLES_H
#define CAIRN_ENGINE_FLUIDS_FLUID_SAMPLES_H

#include "server/engine/fluids/fluid_boundary.h"

/* NULL: they were not made. */
const struct fluid_samples *fluid_samples_find(const struct fluid_boundary *self,
					       const struct shape *shape, double radius);
/* `box`: where the fluid may be, in the shape's frame. */
MUST_CHECK enum status fluid_samples_add(struct fluid_boundary *self, const struct shape *shape,
					 double radius, struct aabb box);
/* The particle is at `p` in the shape's frame; out->slope too, in radii. */
bool fluid_samples_touch(const struct fluid_samples *self, vec3 p, struct fluid_touch *out);
void fluid_samples_release(struct fluid_boundary *self);
uint64_t fluid_samples_memory(const struct fluid_boundary *self);

#endif
