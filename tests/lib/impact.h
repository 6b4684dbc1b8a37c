/* impact.h: bodies that touch in points, as masses, arms, normals and velocities, for tests of
 * statements about contacts alone; no world.
 *
 * A contact joins bodies 1 and 2 with its normal from 2 to 1: a positive normal velocity u_n =
 * n·(v_p1 − v_p2) separates them. Its impulse P = (P_n, P_t, P_k) acts as +P on body 1 and −P on
 * body 2 (ch. 4 I2, papers C-02, C-03). Frames are (normal, tangent, binormal), orthonormal and
 * right-handed. A body without mass_inv and inertia_inv (static or kinematic) is not affected,
 * keeps its velocity, and joins no cluster. A body may turn about some axes only: inertia_inv is
 * any positive semidefinite tensor. */
#ifndef CAIRN_TESTS_IMPACT_H
#define CAIRN_TESTS_IMPACT_H

#include "server/engine/math/mat3.h"
#include "server/engine/solvers/impulse.h"
#include "server/engine/solvers/reflection.h"

struct impact_body {
	double mass_inv;  /* 1/kg, ≥ 0 */
	mat3 inertia_inv; /* world axes, about the centre */
	vec3 velocity, spin;
};

struct impact_contact {
	uint32_t body[2]; /* indices of bodies 1 and 2; different */
	vec3 arm[2];	  /* from each centre to the point, m */
	vec3 normal, tangent, binormal;
	double restitution; /* 0 … 1 */
	double friction[2]; /* ≥ 0, along tangent and binormal; each axis has its own cone (I2) */
};

struct impact_problem {
	struct impact_body *bodies;	       /* borrowed; only impact_apply writes */
	const struct impact_contact *contacts; /* borrowed */
	uint32_t body_count, contact_count;
};

/* A contact with vec3_frame's tangents. */
struct impact_contact impact_contact_make(uint32_t body1, uint32_t body2, vec3 arm1, vec3 arm2,
					  vec3 normal, double restitution);
/* Whether all is finite, indices in range, and normals within 1e-6 of unit. */
bool impact_valid(const struct impact_problem *problem);
/* Velocity of body 1's point against body 2's, in the contact's frame (x along the normal). */
vec3 impact_velocity(const struct impact_problem *problem, uint32_t contact);
/* Σ_B s_B s'_B Qᵀ W_B(arm, arm') Q': the change of contact `a`'s velocity for a unit impulse at
 * contact `b`, both in their own frames (I5, K3). */
mat3 impact_block(const struct impact_problem *problem, uint32_t a, uint32_t b);
/* Its normal entry alone: A_ab of C-03. */
double impact_normal_entry(const struct impact_problem *problem, uint32_t a, uint32_t b);
/* Adds each contact's impulse (frame axes, N s) to its bodies, in the order of contacts. */
void impact_apply(const struct impact_problem *problem, const vec3 *impulses);
/* ½ Σ (P·(u + U)): the kinetic energy that these impulses would add, J, without applying them.
 * `after` are the contacts' velocities after the impulses. */
double impact_energy_change(const struct impact_problem *problem, const vec3 *impulses,
			    const vec3 *after);

/* Contacts that share a moving body, directly or through others, form a cluster. Fills `order` with
 * contacts by cluster (clusters by their first contact, contacts ascending) and `starts` (clusters
 * + 1 entries, room for contact_count + 1); returns the number of clusters. `scratch` holds
 * body_count + contact_count entries. */
uint32_t impact_clusters(const struct impact_problem *problem, uint32_t *order, uint32_t *starts,
			 uint32_t *scratch);

/* The solvers on each cluster in turn, with matrices built here; results are combined: the worst
 * status and residual, the most iterations of a reflection. INVALID: !impact_valid. The workspace
 * must fit the largest cluster, with IMPACT_VARIABLES a body for the projection, whose coordinates
 * are those in which M is 1. */
enum { IMPACT_VARIABLES = 6 };
struct solver_result impact_impulses(struct impulse *solver, const struct impact_problem *problem,
				     const struct solver_options *options, vec3 *impulses);
enum impact_kind { IMPACT_REFLECT, IMPACT_INELASTIC, IMPACT_ELASTIC };
struct solver_result impact_reflect(struct reflection *solver, const struct impact_problem *problem,
				    enum reflection_core core, enum impact_kind kind,
				    double restitution, const struct solver_options *options,
				    double *impulses);
/* Adds impulses along the normals to the bodies. */
void impact_apply_normal(const struct impact_problem *problem, const double *impulses);

#endif
