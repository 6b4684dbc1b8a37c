/* particle_skin.h: births on the faces of the body that carries an emitter (ch1-3 P-36).
 *
 * Each emitter of this kind keeps the sums of the areas of all patches (surface_points.h) of its
 * body's shapes, in the order of placements, sensors left out. A birth draws a number below the whole
 * area, finds the patch by bisection, and draws a point of it: O(log patches). The sums are made anew
 * only when the body has other shapes than before, so a mesh costs once; they are a cache, and no bit
 * depends on whether they were kept. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_SKIN_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_SKIN_H

#include "server/base/rng.h"
#include "server/engine/particles/particles.h"

struct particle_skin;

/* m: a birth's ball is so far from the face on which it is born. */
#define PARTICLE_SKIN_GAP 1e-6

/* The sums of all emitters that need them in this tick. NO_MEMORY. */
MUST_CHECK enum status particle_skin_reserve(struct dynamics *self);
void particle_skin_destroy(struct particle_skin *self);
uint64_t particle_skin_memory(const struct particle_skin *self);
/* A point of the surface of the body that carries system `row`, and the normal, in the body's axes. False: it
 * has no surface that ends, so there is no birth. */
bool particle_skin_draw(const struct dynamics *self, uint32_t row, struct rng *rng, vec3 *at,
			vec3 *normal);

#endif
