/* contact_force.h: which contacts carry a force, and the b of a = A F + b (ch. 4 K2, K3; ch. 3 P-30
 * to P-34), over rows at the level of accelerations (constraint.h). A is row_system's; the answer F
 * is the LCP's.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H

#include "server/engine/dynamics/row.h"

/* What a touching pair is about to do (I1): collisions get impulses, all of a moment together; then
 * what rests gets forces. */
enum contact_kind {
	CONTACT_PARTS, /* u_n > speed_rest */
	CONTACT_RESTS, /* |u_n| ≤ speed_rest: no impulse, so no bounce, whatever its restitution */
	CONTACT_COLLIDES, /* u_n < −speed_rest */
};
/* By the normal row's approach, m/s. */
static inline enum contact_kind contact_force_kind(double approach, double speed_rest)
{
	return approach > speed_rest	? CONTACT_PARTS
	       : approach < -speed_rest ? CONTACT_COLLIDES
					: CONTACT_RESTS;
}

/* b of a row: q'' if bodies accelerate as given (by slot; what a script says included), without
 * contact forces. mass_accelerate makes accelerations of forces. */
static inline double contact_force_bias(const struct constraint_row *row,
					const struct spatial *accelerations)
{
	return jacobian_speed(row->j, accelerations) + row->bias;
}

/* After the impulses: the contacts of one island that can carry a force now, ascending into `kept`
 * (room for all); returns how many. `approach` and `bias` are of their normal rows. None where none
 * closes (rests with b_n < 0); else all but those that part: one that rests stays even when its own
 * b_n > 0, since forces elsewhere may press it (I1). */
uint32_t contact_force_recheck(const double *approach, const double *bias, uint32_t count,
			       double speed_rest, uint32_t *kept);

#endif
