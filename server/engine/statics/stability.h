/* stability.h: whether the bodies of a world stand, with which forces, how near they are to
 * falling, and how they begin to fall.
 *
 * The bodies are taken at rest in their present places (support.h). The verdict is
 *
 *   falls       no forces within the pyramids of friction balance the loads: `residual` is the proof, and
 *               the accelerations are those with which the bodies begin to move
 *   stands      there are forces that build up as the bodies settle: `witness` measures them; without
 *               friction every force system does
 *   may stand   there are forces that balance, but none were found that build up: only pressure that
 *               would have to be there already, as of a wedge between two walls
 *   undecided   the numbers do not tell: the residual is no larger than the errors of the solution
 *
 * Pyramids are inscribed in the cones, so `stands` is on the safe side; with s sides friction is
 * at worst cos(π / s) of the cone's.
 *
 * A margin is the largest s with which loads f + s d still have a force system. `upper` is proved
 * by a certificate: for accelerations a of some s that falls, every force system has (f + s d)·a ≤
 * 0. `lower` is the largest s for which one was found. Both are of limit analysis, whose sliding
 * contacts open; `stands` is the value with Coulomb's friction: the largest s up to which forces
 * build up, by bisection.
 */
#ifndef CAIRN_ENGINE_STATICS_STABILITY_H
#define CAIRN_ENGINE_STATICS_STABILITY_H

#include "server/engine/statics/support.h"
#include "server/engine/types.h"

struct stability_options {
	struct support_options support;
	enum stability_margin margin;
	uint32_t body;	/* row of the body table, of LOAD and PUSH */
	vec3 direction; /* of PUSH and TILT, of any length but 0; of TILT its part across gravity */
};

/* 1, of the largest free acceleration. Larger residuals fall. */
#define STABILITY_FALLING 1e-8
/* 1, of the same. Without friction smaller ones are a force system with the errors of rounding. */
#define STABILITY_BALANCED 1e-11
/* Edges of pyramids and rows of joints: a margin solves some tens of problems of this size. */
enum { STABILITY_MARGIN_ROWS_MAX = 4096 };
/* 1: the relative width to which margins are found. */
#define STABILITY_WIDTH 1e-6

struct stability {
	struct support_graph support; /* places of the points */
	struct equilibrium equilibrium;
	enum stability_verdict verdict;
	enum stability_law law;
	/* Of the least acceleration (equilibrium.h), and of the forces that build up. */
	double residual, kkt, gap, witness;
	uint32_t rounds;
	double margin_lower, margin_upper, margin_stands; /* infinite: no limit; 0 if it falls */
	uint32_t margin_solves;
};

/* Errors of support_make; RANGE: a body of LOAD or PUSH that does not move, or a direction without
 * use. Release it in any case. */
MUST_CHECK enum status stability_find(struct stability *self, const struct dynamics *dynamics,
				      const struct stability_options *options, struct reason *why);
void stability_release(struct stability *self);

/* The verdict on a problem, with forces and accelerations in `self`. */
struct stability_answer {
	enum stability_verdict verdict;
	enum stability_law law;
	double residual, kkt, gap, witness;
	uint32_t rounds;
};
struct stability_answer stability_of(struct equilibrium *self, const struct spatial *loads);
/* The same, part by part (parts.h). NO_MEMORY. */
MUST_CHECK enum status stability_of_parts(struct equilibrium *self, const struct spatial *loads,
					  struct stability_answer *out);
/* The margin along `more`; `loads`, `more`: by body. Uses `self`, so the verdict's forces are to
 * be made again. NO_MEMORY. */
struct stability_bounds {
	double lower, upper, stands;
	uint32_t solves;
};
MUST_CHECK enum status stability_bounds_of(struct equilibrium *self, const struct spatial *loads,
					   const struct spatial *more,
					   struct stability_bounds *out);

#endif
