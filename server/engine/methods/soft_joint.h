/* soft_joint.h: joints as soft-step solves them; soft_joint.c tells how. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_JOINT_H
#define CAIRN_ENGINE_METHODS_SOFT_JOINT_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/math/sym3.h"

struct soft_step;

enum { SOFT_LOCKS_MAX = JOINT_AXES };

#define SOFT_NO_PLACE UINT32_MAX

/* A body that joints hold. Number 0 is whatever no impulse moves and no script: it is never
 * written. */
struct soft_held {
	struct spatial velocity; /* now, all of it: what the float has and the start's */
	vec3 mass_inv;		 /* 1/kg, along world axes */
	sym3 inertia_inv;	 /* world axes, now */
	uint32_t number;	 /* of the soft body */
	bool moves;		 /* impulses move it; else trees share it, and none writes it */
	/* Of a pass over groups (soft_joint_tree.c). */
	struct spatial trial;	/* velocity with what joints below do to it */
	struct spatial impulse; /* of the joints done later */
	double response[36];	/* W, along and about, row by row */
};

/* J on both bodies. */
struct soft_row {
	struct spatial on_a, on_b;
};

/* What of a joint is not locked: a limit, spring, motor or friction. */
struct soft_extra {
	struct soft_row row;	       /* J */
	struct soft_row push;	       /* with what the locked rows answer */
	double answer[SOFT_LOCKS_MAX]; /* of these, as it acts: −K⁻¹ J_L M⁻¹ Jᵀ */
	double mass; /* kg or kg m², along it with the locked rows held; 0: nothing moves it */
	double mass_in_group; /* the same, with what hangs on its bodies, as it last was a member */
	double gap;	      /* m or rad, now */
	double held;	      /* gap as the sub-step began */
	double wanted;	      /* m/s or rad/s: of a motor; what a limit gives back */
	double target;	      /* the same, of a pass over groups */
	double stiff, damp;   /* N s/m, N s: over a sub-step, of a spring */
	double lower, upper;  /* N s, N m s: of a sub-step */
	double impulse, total; /* N s, N m s: of this sub-step; over the step */
	double approach;       /* m/s, rad/s, as the step began */
	double restitution;
	uint8_t part; /* enum joint_part */
	bool follows; /* a motor that holds a position */
	bool struck;  /* a limit that has carried an impulse */
	bool inside;  /* it acts within its bounds */
	bool member;  /* and is solved together with the locked rows */
};

struct soft_joint {
	uint32_t a, b;				    /* held bodies */
	uint8_t lock_count, extra_count, row_count; /* the last is the sum of the two */
	uint8_t count;		/* of rows solved together: the locked ones, then the members */
	bool loose;		/* of no group: solved alone */
	bool child_b;		/* in a tree b is below, else a */
	bool moves_parent;	/* and the body above moves */
	bool placed;		/* while groups are planned: in the order */
	uint32_t core_place;	/* SOFT_NO_PLACE where it is not of a core */
	bool acted;		/* some impulse was not 0 */
	struct soft_row *locks; /* and members */
	struct soft_extra *extras;
	uint8_t member[SOFT_LOCKS_MAX]; /* of a row that is one: which extra */
	/* L and 1/D of K = L D Lᵀ of the rows solved together, rows of L one after the other: alone
	 * J M⁻¹ Jᵀ, in a group what soft_joint_tree.c and soft_joint_core.c tell. What does not move,
	 * or is said twice, has 0 in place of 1/D. */
	double factor[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX - 1) / 2], pivot_inv[SOFT_LOCKS_MAX];
	/* In a pass over groups: T; the speed that a row is to have; μ, then λ; the push of these as
	 * `pushed`. */
	double reach[SOFT_LOCKS_MAX][6], target[SOFT_LOCKS_MAX], change[SOFT_LOCKS_MAX];
	struct spatial branch;
	double bias[SOFT_LOCKS_MAX]; /* m/s, rad/s: what the next sub-step takes out of the gap */
	double impulse[SOFT_LOCKS_MAX], total[SOFT_LOCKS_MAX]; /* N s, N m s, as of an extra */
	/* N s, N m s, on b, or on a where b is number 0: impulses since the bodies have been here,
	 * about the mass centre; those before, about b's anchor, which is at `arm` from the
	 * centre. */
	struct spatial pushed, total_pushed;
	vec3 arm;
	/* Of a core: at what rates a force at the anchor and a couple, of 1 N s and 1 N m s, turn what
	 * they act on, 1/(N s s) and 1/(N m s s). */
	double force_strain, couple_strain;
	uint8_t place[JOINT_ROWS_MAX]; /* of the multipliers of locked rows, then of extras */
};

struct soft_node {
	uint32_t above;	       /* while bodies are put into groups: nearer to the least of them */
	uint32_t first, count; /* of its joints, among the ends */
	uint32_t degree;       /* how many of these have no place in the order yet */
};

/* Two joints of a core that share a body that moves: where that stands in the factor. */
struct soft_core_pair {
	uint32_t column, row; /* places in the core, the column's first */
	uint32_t held;
	uint32_t block;
};

/* What is left of a group without its trees: soft_joint_core.c. */
struct soft_core {
	uint32_t *first; /* by place and one more: its blocks below the diagonal, */
	uint32_t *rows;	 /* and which place each is of, ascending */
	struct soft_core_pair *pairs;
	uint32_t pair_count;
	double *own,
		*impulses; /* by place: SOFT_LOCKS_MAX numbers; the diagonal of A_ii; λ set aside */
	double *diagonal;  /* by place: what is left of A_ii, the rows of its lower half */
	double *blocks;	   /* SOFT_LOCKS_MAX² numbers each, row by row */
	bool strained;	   /* in this step some impulse had to be limited */
};

/* Joints with locked rows between bodies that move, all that hang together. */
struct soft_group {
	uint32_t body_first, body_last; /* of the forest's bodies */
	uint32_t first, core_first,
		last; /* of the order: trees from the leaves on, then the core */
	struct soft_core core;
};

struct soft_forest {
	struct soft_node *nodes; /* by held body; 0 all that no impulse moves */
	uint32_t *ends, *queue;
	uint32_t *bodies; /* held ones, group by group */
	uint32_t *order;  /* joints, group by group, as they are eliminated */
	struct soft_group *groups;
	uint32_t group_count;
};

struct soft_joints {
	struct step_joints list;
	struct soft_joint *items; /* beside the list's */
	struct joint_result *results;
	struct soft_held *held;	     /* held_count, from number 0 on */
	struct body_motion *motions; /* of these, now */
	uint32_t *held_of;	     /* by slot; 0 of what no joint holds */
	uint32_t held_count;
	struct soft_forest forest;
	bool driven;				     /* some motor's target has to be asked for */
	double bias_rate, mass_scale, impulse_scale; /* softness */
};

struct soft_pass {
	struct soft_joints *joints;
	double bias_rate, mass_scale, impulse_scale; /* of locked rows; 0, 1, 0: hard */
	double h_inv, push_speed, servo_rate;
	bool biased;
};

/* x ← K⁻¹ x of rows solved together; 0 where there is no pivot. */
static inline void soft_joint_solve_factored(const struct soft_joint *joint, uint32_t count,
					     double *x)
{
	const double *l = joint->factor;
	for (uint32_t i = 1; i < count; i++) {
		for (uint32_t k = 0; k < i; k++)
			x[i] -= l[k] * x[k];
		l += i;
	}
	for (uint32_t i = 0; i < count; i++)
		x[i] *= joint->pivot_inv[i];
	for (uint32_t i = count; i-- > 1;) {
		l -= i;
		for (uint32_t k = 0; k < i; k++)
			x[k] -= l[k] * x[i];
	}
}

/* W v, v as six numbers: along, then about. */
static inline void soft_respond(const double *w, const struct spatial *v, double out[6])
{
	const double x[6] = { v->linear.x,  v->linear.y,  v->linear.z,
			      v->angular.x, v->angular.y, v->angular.z };
	for (uint32_t i = 0; i < 6; i++) {
		const double *row = &w[6 * i];
		out[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3] +
			 row[4] * x[4] + row[5] * x[5];
	}
}

static inline double soft_dot(const struct spatial *v, const double x[6])
{
	return v->linear.x * x[0] + v->linear.y * x[1] + v->linear.z * x[2] + v->angular.x * x[3] +
	       v->angular.y * x[4] + v->angular.z * x[5];
}

static inline void soft_held_apply(struct soft_held *held, const struct spatial *impulse)
{
	if (!held->moves)
		return;
	vec3 change = vec3_hadamard(held->mass_inv, impulse->linear);
	held->velocity.linear = vec3_add(held->velocity.linear, change);
	change = sym3_apply(held->inertia_inv, impulse->angular);
	held->velocity.angular = vec3_add(held->velocity.angular, change);
}

/* An impulse on both bodies. */
static inline void soft_joint_push(struct soft_joints *joints, struct soft_joint *joint,
				   const struct soft_row *row, double impulse)
{
	struct spatial on_a = spatial_scale(row->on_a, impulse);
	struct spatial on_b = spatial_scale(row->on_b, impulse);
	soft_held_apply(&joints->held[joint->a], &on_a);
	soft_held_apply(&joints->held[joint->b], &on_b);
	joint->pushed = spatial_mul_add(joint->pushed, joint->b != 0 ? on_b : on_a, 1);
	joint->acted |= impulse != 0;
}

/* m/s, rad/s: how fast a limit that is passed is left. */
static inline double soft_limit_bias(const struct soft_pass *pass, const struct soft_extra *extra)
{
	return scalar_max(extra->gap * pass->bias_rate, -pass->push_speed);
}

/* m/s, rad/s, towards the target: of a motor that holds a position with so much force, as fast as
 * half of this can stop it there. */
static inline double soft_servo_speed(const struct soft_pass *pass, const struct soft_extra *extra)
{
	double push = scalar_min(extra->upper, -extra->lower) * pass->h_inv;
	double far = scalar_abs(extra->gap);
	double speed =
		scalar_min(far * pass->servo_rate, scalar_sqrt(push * far / extra->mass_in_group));
	return extra->gap < 0 ? -speed : speed;
}

/* Factors K, given by the rows of its lower half. */
void soft_joint_factor(const struct soft_joints *joints, struct soft_joint *joint, const double *k,
		       uint32_t count);

/* soft_joint_plan.c. What is solved together, and in which order. NO_MEMORY as below. */
MUST_CHECK enum status soft_forest_plan(struct soft_step *self);

/* soft_joint_tree.c. What follows from rows; a pass. Members are those that act inside their bounds,
 * as many as there is room for. */
void soft_forest_factor(struct soft_step *self);
void soft_forest_solve(const struct soft_step *self, const struct soft_pass *pass);
void soft_joint_choose_members(struct soft_joint *joint);

/* soft_joint_core.c. How much work and room the core of a group needs: false where that is too much.
 * The joints of it stand in the order, and are put there anew as they are eliminated. */
MUST_CHECK enum status soft_core_plan(struct soft_step *self, struct soft_group *group, bool *fits);
void soft_core_factor(struct soft_joints *joints, const struct soft_group *group);
/* λ of its joints in place of the μ that stands in `change`. */
void soft_core_solve(const struct soft_pass *pass, struct soft_group *group);

/* After the bodies, before the colouring, which asks who is bound. NO_MEMORY, LIMIT change nothing. */
MUST_CHECK enum status soft_joints_make(struct soft_step *self, struct reason *why);
/* The passes of a sub-step; `half` and `now`, s since the step's start: its middle and its end. */
/* Rows as the step begins (0) and after each sub-step's positions. */
void soft_joints_measure(struct soft_step *self, double now);
void soft_joints_solve(struct soft_step *self, double half);
void soft_joints_relax(struct soft_step *self);
/* After the last sub-step. */
double soft_joints_residual(struct soft_step *self);
void soft_joints_restitution(struct soft_step *self);
/* After the bodies are stored. */
void soft_joints_store(struct soft_step *self);

#endif
