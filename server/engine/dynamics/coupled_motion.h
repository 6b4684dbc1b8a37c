/* coupled_motion.h: several rigid bodies as one Y' = f(t, Y) under forces that may couple them.
 *
 * The state of a body is 13 numbers: centre x (m), rotation q (w, x, y, z), momentum L (kg m/s), angular
 * momentum H about the centre (kg m²/s, world axes). Impulses change L and H directly; without force
 * and torque both stay what they are bit for bit (ch. 4 D3).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_COUPLED_MOTION_H
#define CAIRN_ENGINE_DYNAMICS_COUPLED_MOTION_H

#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/ode.h"
#include "server/engine/math/mat3.h"

enum { COUPLED_STATE = 13 };

struct coupled_body {
	double mass;	   /* kg, > 0 */
	mat3 inertia_body; /* about the centre, body axes */
	mat3 inertia_body_inv;
};

/* Before the first force of a stage is evaluated, `states` holds every body at that stage, so that
 * a force between two bodies can read the other one (app B-01). Forces are evaluated body by body,
 * and for each body in the order of the list. */
struct coupled_motion {
	const struct coupled_body *bodies; /* borrowed, `count` */
	struct force_state *states;	   /* borrowed, `count`; written at each stage */
	const struct force *const *forces; /* borrowed, `force_count`; called with body = index */
	uint32_t count, force_count;
};

/* The equation; borrows `self`. Forces get the time of the stepping functions (ode.h), s. */
struct ode coupled_motion_ode(const struct coupled_motion *self);
/* State of a body from its centre (m), unit rotation, velocity (m/s) and spin (rad/s), and back. */
void coupled_motion_put(const struct coupled_body *body, vec3 centre, quat rotation, vec3 velocity,
			vec3 spin, double state[COUPLED_STATE]);
struct force_state coupled_motion_get(const struct coupled_body *body,
				      const double state[COUPLED_STATE]);
/* Kinetic energy ½ |L|²/m + ½ ω·H, J. */
double coupled_motion_energy(const struct coupled_body *body, const double state[COUPLED_STATE]);

#endif
