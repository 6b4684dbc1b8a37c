/* tree_mass.h: the mass operator of trees: bodies as links whose joints hold exactly.
 *
 * A forest spans some bodies of a step (an island). A link hangs on its parent by one joint, or on ground
 * that no force moves, or it is a floating base. Its velocity (of its mass centre, and its spin) is
 *
 *   v = X v_parent + Σ S_k q'_k + c        X v = (v + w × arm, w)
 *
 * with S the motions that the joint permits at the given poses, and c a bias, 0 at first. Two questions
 * are answered in O(links), by the articulated-body algorithm, which factors the masses once:
 *
 *   project   of all velocities with that form, the nearest to given ones in the metric of mass
 *   respond   M⁻¹ Jᵀ of a row, when the joints hold: the operator that solvers see (mass_operator.h)
 *
 * so locked axes of a forest's joints are no rows of any system. A joint's springs can be part of the
 * masses (soft rows): they then act implicitly, at no cost of rows.
 *
 * A joint is an edge of a forest if its free axes have independent coordinates and its locked turns are
 * locked at 0. Other joints are rows, as are the joints that close loops. Bodies with locked axes other
 * than those of a plane, and joints of a planar world that lead out of the plane, have no reduced
 * coordinates.
 *
 *   Invariant 1: a link comes after its parent, and links of a tree are consecutive.
 *
 * The forest is a function of the order of slots and joints alone.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_TREE_MASS_H
#define CAIRN_ENGINE_DYNAMICS_TREE_MASS_H

#include "server/base/arena.h"
#include "server/engine/dynamics/joint.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/spatial_inertia.h"

/* In place of a link or joint: there is none. */
#define TREE_NONE UINT32_MAX

enum { TREE_AXES_MAX = 6 }; /* of a link */

struct tree_link {
	uint32_t slot;
	uint32_t parent; /* a link, or TREE_NONE */
	uint32_t ground; /* of a link on the ground: its slot; ROW_NO_BODY: at rest, or a base */
	uint32_t joint;	 /* index of the list of joints; TREE_NONE: a floating base */
	uint32_t tree;	 /* number of its tree */
	uint32_t depth;	 /* links above it, one for itself */
	uint32_t first, count; /* its axes */
	uint8_t locked;	       /* axes of its joint */
	uint8_t kept;  /* of those that are not locked, in order: which its body's locks let be */
	bool reversed; /* its body is the joint's a */
};

/* Links and axes of an island, without numbers: the same for all poses of a step. */
struct tree_plan {
	struct tree_link *links;
	uint32_t *first; /* by tree, and one more: its first link */
	uint32_t link_count, axis_count, tree_count, edge_count;
};

/* The joints of a step and where bodies are: what a forest is read from. */
struct tree_joints {
	const struct joint *joints;	      /* borrowed, as all are */
	const struct constraint *constraints; /* by joint: the slots of its bodies */
	uint32_t count;
};

/* Whether a joint may be an edge of a forest. */
bool tree_joint_is_edge(const struct joint *self);

/* The forest of `slot_count` slots (ascending, all of which can move) and the joints `list` (indices,
 * ascending) between them and others. link_of (by slot) is written for these slots and must be TREE_NONE
 * before; held (by joint) is set for edges. In `arena`. plan->link_count is 0 if the bodies have no reduced
 * coordinates (then nothing is set) or if there is no edge. NO_MEMORY. */
MUST_CHECK enum status tree_plan_make(struct tree_plan *plan, struct arena *arena,
				      const struct tree_joints *joints, const uint32_t *list,
				      uint32_t list_count, const uint32_t *slots,
				      uint32_t slot_count, const struct mass_body *masses,
				      uint32_t *link_of, bool *held);

/* A spring of a joint in the joint's coordinates: soft λ + J v + pull = 0, J on the link given, and on its
 * parent the opposite. */
struct tree_spring {
	uint32_t link;
	struct spatial on;
	double soft, pull; /* (m/s)/(N·s) > 0; m/s */
};

struct tree_mass {
	const struct tree_plan *plan;
	const struct tree_joints *joints;
	const uint32_t *link_of;
	const struct mass_body *masses;
	const struct body_motion *motions;
	vec3 *arm;			 /* by link: from the parent's centre, or the ground's */
	struct spatial *axes, *u;	 /* by axis: S, and U = A S */
	double *factor;			 /* by axis, TREE_AXES_MAX each: of D = Sᵀ U */
	double *stiff;			 /* the same: what springs add to D */
	double *drive, *pull;		 /* by axis: scratch; what springs add to u */
	struct spatial *bias;		 /* by link: c, m/s, rad/s */
	struct spatial *force;		 /* by link: scratch */
	struct spatial_inertia *inertia; /* by link: with all that hangs on it */
	const struct tree_spring *springs;
	uint32_t spring_count;
	uint32_t weak; /* axes whose mass was lost to rounding, and which are held */
};

/* The numbers of the plan at `motions` (by slot; all borrowed), with biases 0 and without springs, not yet
 * factored. In `arena`. NO_MEMORY. */
MUST_CHECK enum status tree_mass_make(struct tree_mass *self, struct arena *arena,
				      const struct tree_plan *plan,
				      const struct tree_joints *joints, const uint32_t *link_of,
				      const struct mass_body *masses,
				      const struct body_motion *motions);
/* Factors the masses with these springs (borrowed; NULL and 0: none). */
void tree_mass_factor(struct tree_mass *self, const struct tree_spring *springs, uint32_t count);
/* Makes velocities (by slot) the nearest of the form above; those of the ground are read. With springs: the
 * least of that distance and what they store. */
void tree_mass_project(const struct tree_mass *self, struct spatial *velocities);
/* The operator, which borrows `self`; its slots are those of the step. */
struct mass_operator tree_mass_operator(const struct tree_mass *self, uint32_t slots);

/* The factor of a row: A = J M⁻¹ Jᵀ of rows i and j is the sum over links of the products of their
 * entries, TREE_AXES_MAX a link. Writes at most `depth` links and entries, from the leaves up; returns
 * their number. */
uint32_t tree_mass_row(const struct tree_mass *self, struct jacobian j, uint32_t *link,
		       double (*entry)[TREE_AXES_MAX]);
/* The greatest number of them. */
uint32_t tree_plan_depth(const struct tree_plan *self, const uint32_t *link_of, struct jacobian j);

/* The impulse of each link's joint on it, about its centre, that gives bodies the change of momentum
 * `change` by link beside the impulses that it excludes (recursive Newton–Euler); in place. */
void tree_mass_loads(const struct tree_mass *self, struct spatial *change);

/* The pose of a link's body where its joint's free coordinates are those at these motions of the
 * joint's bodies and its locked ones are exact; the other body's pose is given. Velocities are the body's. */
struct body_motion tree_place(const struct joint *joint, const struct tree_link *link,
			      const struct body_motion *a, const struct body_motion *b);
/* The displacement from one pose to another that is near, m, rad. */
struct spatial tree_displacement(const struct body_motion *from, const struct body_motion *to);

#endif
