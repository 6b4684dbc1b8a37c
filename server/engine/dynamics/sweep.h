/* sweep.h: the motions of fast bodies end where they would pass through others.
 *
 * Contacts stop a body that moves less than half of its inner radius a tick (the least distance from its
 * mass centre to its surface; of several shapes the least one's). Faster bodies are swept: their path in
 * the tick, straight and turning at a constant rate, ends at the first touch of
 *
 *   a static body                                      all dynamic bodies
 *   an animated body, which then carries it along      all dynamic bodies, also slow and resting ones
 *   a dynamic body                                     bodies with the flag BODY_FAST
 *
 * Pose only: the velocity is kept, and in the next tick the contact, which is then near, acts. The angular
 * velocity is kept in body axes, and with it the energy. If no constraint acted in the tick, the velocity is
 * that at the place where the path ends, so that gravity does no work on a way that was not gone.
 *
 * A touch at the start of the path does not count, because a body would stick; instead the body's core, a
 * ball of half of the inner radius about the mass centre, is swept against what touches. So the mass
 * centre never passes through a surface, whatever contacts do. A core that touches loses the part of its
 * velocity towards the obstacle.
 *
 * Order: static and animated obstacles for all bodies in parallel, each body on its own; then pairs with a
 * flagged body, serially, by (fraction, id, id); both bodies of a pair stop, and their other pairs are
 * searched again.
 *
 * Not promised: bodies between an animated body and an obstacle; turns of more than SWEEP_PARTS_MAX ×
 * SWEEP_TURN in a tick; joints of a body that stops, which are stretched until the next tick; parts of a
 * body that touches at the start, other than its core. docs/METHODS.md has the table. */
#ifndef CAIRN_ENGINE_DYNAMICS_SWEEP_H
#define CAIRN_ENGINE_DYNAMICS_SWEEP_H

#include "server/engine/dynamics/step.h"

/* Ends the motions of fast bodies, before the commit. `motions`: by slot, from the tables to the step's
 * end, changed in place. `alone`: by slot, true for a body on which no constraint acted. Reads only what
 * is final after step_number. Notes counts in the report. NO_MEMORY: nothing counts, the step is to be
 * abandoned. */
MUST_CHECK enum status step_sweep(struct step *self, struct body_motion *motions, const bool *alone,
				  struct reason *why);
/* After the commit: manifolds of bodies that were swept are made anew in the next step, because a kept one
 * would let a body turn through a triangle. */
void step_sweep_commit(struct step *self);

#endif
