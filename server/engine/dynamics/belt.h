/* belt.h: bodies and pieces whose surface moves against them (surface_velocity): conveyors.
 *
 * Friction acts on the velocity of two surfaces at their contact. Methods therefore treat two points that
 * do not slip as moving apart by what belt_velocity tells. Only its part in the plane of a contact acts. A
 * body that touches a belt does not sleep, because a slow belt would leave it behind.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_BELT_H
#define CAIRN_ENGINE_DYNAMICS_BELT_H

#include "server/engine/dynamics/dynamics.h"

/* Whether the surface of one of two bodies, or of a piece of them, moves. */
static inline bool belt_concerns(const struct dynamics *self, uint32_t a, uint32_t b)
{
	return self->belts.count > 0 &&
	       (bitset_get(&self->belts, a) || bitset_get(&self->belts, b));
}

/* Whether the surface of one of two pieces moves. */
bool belt_touches(const struct dynamics *self, struct contact_piece a, struct contact_piece b);

/* m/s, world axes: of the surface of one piece against its body. */
vec3 belt_surface(const struct dynamics *self, struct contact_piece piece);
/* m/s, world axes: of b's point against a's when their surfaces do not slip; zero without belts. */
vec3 belt_velocity(const struct dynamics *self, struct contact_piece a, struct contact_piece b);

/* The body's membership in dynamics->belts, by its column and those of its pieces. */
void belt_refresh(struct dynamics *self, uint32_t body);

#endif
