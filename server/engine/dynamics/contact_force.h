/* contact_force.h: the contacts that carry a force, and the b of a = A F + b (ch. 4 K2, K3; ch. 3 P-30
 * to P-34), over rows at acceleration level (constraint.h). row_system makes A; the LCP solver finds F.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H

#include "server/engine/dynamics/row.h"

/* Classes of touching contacts by normal speed u_n (I1): all collisions of one moment get impulses
 * together, then resting contacts get forces. */
enum contact_kind {
	CONTACT_PARTS, /* u_n > speed_rest */
	CONTACT_RESTS, /* |u_n| ≤ speed_rest: no impulse, so no bounce, whatever its restitution */
	CONTACT_COLLIDES, /* u_n < −speed_rest */
};
/* `approach`: that of the normal row, m/s; `speed_rest` ≥ 0, m/s. */
static inline enum contact_kind contact_force_kind(double approach, double speed_rest)
{
	ASSERT(speed_rest >= 0);
	return approach > speed_rest	? CONTACT_PARTS
	       : approach < -speed_rest ? CONTACT_COLLIDES
					: CONTACT_RESTS;
}

/* b of a row: q'', m/s², without contact forces. `accelerations` by slot, those of animated bodies
 * included (mass_accelerate). */
static inline double contact_force_bias(const struct constraint_row *row,
					const struct spatial *accelerations)
{
	return jacobian_speed(row->j, accelerations) + row->bias;
}

/* Selects, after the impulses, the contacts of one island that can carry a force. Writes their indices,
 * ascending, to `kept` (room for `count`) and returns their number. `approach` and `bias` are of the
 * normal rows. If no contact closes (rests with b_n < 0), none is selected. Otherwise all but the parting
 * ones are: a resting contact with b_n > 0 is included, because forces elsewhere may press it (I1). */
uint32_t contact_force_recheck(const double *approach, const double *bias, uint32_t count,
			       double speed_rest, uint32_t *kept);

#endif
