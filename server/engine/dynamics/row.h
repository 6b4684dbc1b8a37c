/* row.h: one scalar constraint between two bodies, the same for every method.
 *
 *   J v + softness·λ = −bias,   lower <= λ <= upper,   J = (linear_a, angular_a, linear_b, angular_b)
 *
 * with v the velocities of both mass centres and both angular velocities (world axes) and λ the
 * impulse. Contacts and joints state their rows once; a method decides how to enforce them.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ROW_H
#define CAIRN_ENGINE_DYNAMICS_ROW_H

#include "server/engine/math/vec3.h"

enum row_kind {
	ROW_EQUALITY = 0, /* unbounded: joints */
	ROW_CONTACT = 1,  /* λ >= 0 */
	ROW_FRICTION = 2, /* |λ| <= μ·λ of row `friction_of` */
	ROW_LIMIT = 3,	  /* λ >= 0 */
	ROW_MOTOR = 4,	  /* bounded both ways */
};

#define ROW_NO_BODY UINT32_MAX

struct row {
	uint32_t body_a, body_b; /* rows of the body table; ROW_NO_BODY for the world */
	vec3 linear_a, angular_a, linear_b, angular_b;
	double gap;    /* position error along the row: > 0 apart, < 0 violated; m or rad */
	double bias;   /* wanted relative speed is −bias; m/s or rad/s */
	double lower, upper; /* N·s or N·m·s; ±INFINITY allowed */
	double softness;     /* compliance added to the diagonal, >= 0 */
	double friction;     /* μ of a ROW_FRICTION */
	uint32_t friction_of; /* index of its normal row */
	uint32_t source;      /* row of the contact (or joint) it comes from */
	uint8_t kind;	      /* enum row_kind */
	uint8_t point;	      /* which point of the contact, which axis of the joint */
};

#endif
