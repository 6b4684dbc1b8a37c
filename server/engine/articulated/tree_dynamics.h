/* tree_dynamics.h: motion and forces of a forest (articulation.h) in reduced coordinates.
 *
 *   M q'' + b = τ + Σ Jᵀ f      f: forces on links, about their mass centres, world axes
 *
 *   inverse   τ of q'': recursive Newton–Euler
 *   mass      M: composite bodies
 *   forward   q'' of τ: articulated bodies, factored once for any number of forces
 *   Jacobian  of a point of a link
 *
 * inverse, factoring and forward cost O(links + axes); the mass matrix O(axes × depth).
 */
#ifndef CAIRN_ENGINE_ARTICULATED_TREE_DYNAMICS_H
#define CAIRN_ENGINE_ARTICULATED_TREE_DYNAMICS_H

#include "server/engine/articulated/articulation.h"
#include "server/engine/dynamics/spatial_inertia.h"

/* Storage of one articulation, reused by all functions below. */
struct tree_dynamics {
	const struct articulation *tree;      /* borrowed */
	struct spatial_inertia *inertia;      /* owned, as all below are; by link */
	struct spatial *acceleration, *force; /* by link: the results of the last call */
	struct spatial *push;		      /* by axis: U */
	double *pivot; /* by axis, ARTICULATION_AXES_MAX each: the factor of Sᵀ U of its link */
	double *drive; /* by axis */
};

/* NO_MEMORY: release it in any case. */
MUST_CHECK enum status tree_dynamics_make(struct tree_dynamics *self,
					  const struct articulation *tree);
void tree_dynamics_release(struct tree_dynamics *self);

/* τ of the accelerations q'' (`accelerations`; NULL: 0) under the forces `loads` by link; NULL: none. Of
 * accelerations 0 it is b − Σ Jᵀ f. self->force: what each link bears through its joint, about its centre. */
void tree_inverse(struct tree_dynamics *self, const double *accelerations,
		  const struct spatial *loads, double *forces);

/* M, axes × axes, row by row, symmetric to the bit. */
void tree_mass_matrix(struct tree_dynamics *self, double *out);

/* False: M is not positive definite to rounding. */
MUST_CHECK bool tree_factor(struct tree_dynamics *self);
/* After tree_factor. q'' of the forces τ (NULL: 0) and `loads`; `moving`: with the part of the velocities,
 * otherwise this is M⁻¹ (τ + Σ Jᵀ f). self->acceleration: of the links. */
void tree_forward(struct tree_dynamics *self, const double *forces, const struct spatial *loads,
		  bool moving, double *accelerations);

/* 6 × axes, row by row: velocity of `point` (world) of a link, then its spin, for unit q'. */
void tree_jacobian(const struct articulation *tree, uint32_t link, vec3 point, double *out);

#endif
