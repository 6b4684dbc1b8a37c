/* uniqueness.h: which forces of an answer are the only ones possible, and a representative of the others.
 *
 * Forces are those λ within their bounds that exert on every body what the answer's λ exerts, and 0 where a
 * contact breaks. From λ they can change by the cone
 *
 *   T = { d : M⁻¹ Jᵀ d = 0,  d ≥ 0 where λ is at its lower bound,  d ≤ 0 at its upper one }
 *
 * The point of T nearest to r, where r is 1 in rows at a bound and 0 in the others, leaves bounds wherever
 * any d does not need others to leave theirs as well; if it is 0, none can. Rows that leave a bound are free
 * from then on, and the question is asked again. In the end T is a linear space, and its point nearest to a
 * random r is 0 exactly in those forces that are unique. A force of a contact counts, not the λ of edges of
 * its pyramid, of which several make the same force.
 *
 * The representative has the least norm Σ softness λ² (equilibrium.h). Forces that build up over equally
 * stiff contacts have it without friction; with friction they stay, because others need not build up.
 *
 * Cost: some solutions of the size of the problem. Where they do not end, nothing is known.
 */
#ifndef CAIRN_ENGINE_STATICS_UNIQUENESS_H
#define CAIRN_ENGINE_STATICS_UNIQUENESS_H

#include "server/engine/statics/equilibrium.h"
#include "server/engine/types.h"

/* After a verdict's forces and accelerations, of this law: sets `known`, and λ to the representative. Shift
 * and settlement are overwritten. NO_MEMORY: nothing but these two changed. */
MUST_CHECK enum status uniqueness_find(struct equilibrium *self, enum stability_law law);

#endif
