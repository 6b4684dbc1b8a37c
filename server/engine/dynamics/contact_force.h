/* contact_force.h: how bodies in contact accelerate without contact forces: the b of a = A F + b (ch. 4
 * K2, K3; ch. 3 P-30 to P-34). A is made of impact_block; the answer F is the LCP's. */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_FORCE_H

#include "server/engine/solvers/impact.h"

/* A body's acceleration of centre (m/s²) and spin (rad/s²), world axes, if nothing touched it. Of a
 * scripted body: what the script says. */
struct contact_free {
	vec3 linear, angular;
};

/* From its external force and torque; `inertia` is the world tensor, whose gyroscopic term I ω × ω
 * counts (D4). */
struct contact_free contact_free_make(const struct impact_body *body, mat3 inertia, vec3 force,
				      vec3 torque);

/* What a touching pair is about to do (I1): collisions get impulses, all of a moment together; then what
 * rests gets forces. */
enum contact_kind {
	CONTACT_PARTS,    /* u_n > speed_rest */
	CONTACT_RESTS,    /* |u_n| ≤ speed_rest: no impulse, so no bounce, whatever its restitution */
	CONTACT_COLLIDES, /* u_n < −speed_rest */
};
enum contact_kind contact_force_kind(const struct impact_problem *problem, uint32_t contact,
				     double speed_rest);

/* After the impulses: the contacts that can carry a force now, ascending into `kept` (room for all);
 * returns how many. Those of a cluster where none closes (rests with normal bias b_n < 0) are left
 * out, and so are those that part; the others of a cluster stay even when their own b_n > 0, since
 * forces elsewhere may press them (I1). `bias` is the normal part of b, by contact. `order`, `starts`:
 * of impact_clusters, `clusters` of them. */
uint32_t contact_force_recheck(const struct impact_problem *problem, const double *bias,
			       double speed_rest, const uint32_t *order, const uint32_t *starts,
			       uint32_t clusters, uint32_t *kept);

/* b of one contact in its frame: relative acceleration of the two points, centripetal terms included,
 * plus 2 u·(n', t', k') of the turning frame. `normal_rate` is n' (frame_rate.h): w × n for the normal
 * of a face turning with w. The contact's tangents must be vec3_frame's. `free` is by body. */
vec3 contact_force_bias(const struct impact_problem *problem, uint32_t contact,
			const struct contact_free *free, vec3 normal_rate);

/* The normal part of b for two balls or particles, whose normal is the line of centres `distance` > 0
 * apart, by centres (P-30): relative acceleration of the centres plus |u_tangential|²/distance. The
 * book's 2 u·n' would count that term twice. */
double contact_force_bias_centres(const struct impact_problem *problem, uint32_t contact,
				  const struct contact_free *free, double distance);

#endif
