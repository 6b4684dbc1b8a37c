/* soft_joint.h: joints as soft-step solves them; soft_joint.c describes the passes. Private to
 * soft-step. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_JOINT_H
#define CAIRN_ENGINE_METHODS_SOFT_JOINT_H

#include "server/base/inline.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/math/sym3.h"
#include "server/engine/methods/soft_lanes.h"
#include "server/engine/methods/soft_wide.h"

struct soft_step;

enum { SOFT_LOCKS_MAX = JOINT_AXES };

#define SOFT_NO_PLACE UINT32_MAX

/* 1. A pivot below this part of response_scale is 0: the row depends on others, or moves nothing.
 * Larger: long arms of light bodies are mistaken for dependent rows; smaller: rounding is solved for. */
#define SOFT_PIVOT_MIN 1e-12

/* A jointed body. Number 0 stands for the world and all static and sleeping bodies: it is never
 * written. The first two lines of the cache are all that loose joints read. */
struct soft_jointed {
	/* Velocity at present, that at the start plus soft_body's difference; in whole lines. */
	_Alignas(64) struct spatial velocity;
	vec3 mass_inv;	  /* 1/kg, along world axes */
	sym3 inertia_inv; /* world axes, at the present rotation */
	uint32_t number;  /* index of its soft_body */
	bool taut;  /* joints make it stiff: inertia_inv is (I + S)⁻¹ (soft_joint_taut.c) */
	bool moves; /* impulses move it; else several trees may share it, and none writes to it */
	/* Only during a pass over groups (soft_joint_tree.c): */
	struct spatial trial;	/* velocity as changed by the joints below */
	struct spatial impulse; /* of the joints that are eliminated later */
	double response[36];	/* W, column by column; linear, then angular */
	sym3 stiff;		/* kg m²: S */
	uint32_t version;	/* of its group when `response` was last made anew */
};

/* J on both bodies. */
struct soft_row {
	struct spatial on_a, on_b;
};

/* A row of a joint that is not locked: a limit, spring, motor or friction. */
struct soft_extra {
	struct soft_row row; /* J */
	double answer
		[SOFT_LOCKS_MAX]; /* response of the locked rows to a unit impulse: −K⁻¹ J_L M⁻¹ Jᵀ */
	double mass; /* kg or kg m²: effective mass while the locked rows hold; 0: no impulse moves it */
	double mass_in_group; /* the same within its group, from when it last was a member */
	double gap;	      /* m or rad, at the present positions */
	double start_gap;     /* gap at the sub-step's start */
	double wanted;	      /* m/s or rad/s: target speed of a motor, or after a limit's bounce */
	double target;	      /* m/s or rad/s: speed that a pass over groups is to give it */
	double stiff, damp;   /* N s/m, N s: of a spring, over a sub-step */
	/* 1/kg: of a motor with gains, a rotor, and a spring of an axis with a rotor 1 / damp, which its row
	 * has beside J M⁻¹ Jᵀ when it is a member; 0: it is none, as of every other row */
	double soft;
	double bundle;	 /* 1/kg: of a member, that of all rows that are solved as one with it */
	double armature; /* kg or kg m²: of its axis */
	double lower, upper;   /* N s, N m s: bounds of the impulse of a sub-step */
	double impulse, total; /* N s, N m s: of this sub-step; over the step */
	double approach;       /* m/s, rad/s: its speed when the step began */
	double restitution;
	uint8_t part; /* enum joint_part; of a rotor `wanted` is its speed at the sub-step's start */
	bool follows; /* a motor that holds a position */
	/* a spring, a motor with gains, or a rotor: its force follows from its gap and speed */
	bool elastic;
	bool struck;  /* a limit that has had an impulse in this step */
	bool inside;  /* its impulse is within its bounds, not at one */
	bool member;  /* it is solved together with the locked rows */
	bool bundled; /* it is solved as one with the member of its axis, which has a rotor */
	bool implicit; /* a spring with a part that acts implicitly: solved after what is solved alone */
};

/* Springs, and motors with hardly any damping, are always solved one by one. */
static inline bool soft_extra_is_alone(const struct soft_extra *extra)
{
	return extra->elastic && extra->soft == 0;
}

/* What passes over groups keep of a joint (soft_branch.h); allocated, and not set before it is used. */
struct soft_branch {
	/* J of the rows solved together, number by number: six of a, six of b; 0 beyond `count`. */
	double across[12][SOFT_LOCKS_MAX];
	double reach[SOFT_LOCKS_MAX][6]; /* T, row by row */
	double before[36];		 /* W of the parent when the joint is eliminated */
	double target[SOFT_LOCKS_MAX];	 /* m/s, rad/s, by row; 0 beyond `count` */
	double change[SOFT_LOCKS_MAX];	 /* μ, then λ */
	struct spatial impulse;		 /* of these, in the form of soft_joint.pushed */
};

struct soft_joint {
	uint32_t a, b;				    /* its bodies: indices of soft_jointed */
	uint8_t lock_count, extra_count, row_count; /* row_count is the sum of the others */
	uint8_t count;	     /* number of rows solved together: locked rows, then members */
	bool loose;	     /* in no group: solved alone */
	bool child_b;	     /* in a tree: b is the child; else a is */
	bool moves_parent;   /* in a tree: impulses move the parent */
	bool placed;	     /* while groups are planned: it is in the order already */
	bool changed;	     /* its members may be others than when it was factored */
	uint32_t core_place; /* SOFT_NO_PLACE if it is in no core */
	bool acted;	     /* one of its impulses was not 0 */
	bool wide;	     /* in a block of soft_wide.h, which has all that changes */
	bool closed;	     /* of a closed group (soft_closed.c) */
	bool swept;	     /* of a closed group, in a pass: an implicit spring of it is swept */
	bool implicit;	     /* one of its springs is */
	bool rotors;	     /* one of its extras is a rotor */
	double open;	     /* m, rad: the largest gap of a locked row, at the present positions */
	struct soft_row *locks; /* locked rows, then members */
	struct soft_extra *extras;
	uint8_t member
		[SOFT_LOCKS_MAX]; /* by row solved together: the index of a member among the extras */
	/* L and 1/D of K = L D Lᵀ of the rows solved together, rows of L one after the other. K is J
	 * M⁻¹ Jᵀ for a loose joint; in a group soft_joint_tree.c and soft_joint_core.c define it. A row
	 * that moves nothing, or depends on others, has 0 in place of 1/D. */
	double factor[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX - 1) / 2], pivot_inv[SOFT_LOCKS_MAX];
	struct soft_branch *branch;
	double bias
		[SOFT_LOCKS_MAX]; /* m/s, rad/s: speed at which the next sub-step corrects the gap */
	double impulse[SOFT_LOCKS_MAX],
		total[SOFT_LOCKS_MAX]; /* N s, N m s: of this sub-step; over the step */
	/* N s, N m s, on b, or on a if b is number 0: impulses at the present positions, about the mass
	 * centre; earlier ones, about b's anchor, which is at `arm` from the centre. */
	struct spatial pushed, total_pushed;
	vec3 arm;
	vec3 pull;	  /* N s: its impulse on b in the last sub-step */
	vec3 pull_before; /* N s: sum of such impulses before that, in the form of `pushed` */
	/* Of a joint in a core: rates at which an impulse at the anchor of 1 N s and a couple of 1 N m s
	 * rotate the bodies, 1/(N s s) and 1/(N m s s). */
	double force_strain, couple_strain;
	uint8_t place
		[JOINT_ROWS_MAX]; /* by row (locked rows, then extras): index of its multiplier */
};

/* What row i of those solved together has beside J M⁻¹ Jᵀ. */
static inline double soft_joint_compliance(const struct soft_joint *joint, uint32_t i)
{
	return i < joint->lock_count ? 0 : joint->extras[joint->member[i]].bundle;
}

/* The axis of an extra, 0 to 5. */
static inline uint32_t soft_axis_of(const struct soft_joint *joint, uint32_t extra)
{
	VALIDATE(extra < joint->extra_count);
	return joint_place_axis(joint->place[joint->lock_count + extra]);
}

/* Whether extra `r` is solved as one with member `member` of its axis, and is not that member. */
static inline bool soft_is_bundled_with(const struct soft_joint *joint, uint32_t r, uint32_t member)
{
	return r != member && joint->extras[r].bundled &&
	       soft_axis_of(joint, r) == soft_axis_of(joint, member);
}

/* The impulse of a member and all that are solved as one with it. */
static inline double soft_bundle_impulse(const struct soft_joint *joint, uint32_t member)
{
	double sum = joint->extras[member].impulse;
	for (uint32_t r = 0; r < joint->extra_count && joint->rotors; r++)
		if (soft_is_bundled_with(joint, r, member))
			sum += joint->extras[r].impulse;
	return sum;
}

struct soft_node {
	uint32_t first, count; /* of its joints, in soft_forest.ends */
	uint32_t degree;       /* number of its joints that are not in the order yet */
};

/* Two joints of a core that share a movable body, and their block of the factor. */
struct soft_core_pair {
	uint32_t column, row; /* places in the core; column < row */
	uint32_t jointed;
	uint32_t block;
};

/* The joints of a group that are in no tree: soft_joint_core.c. */
struct soft_core {
	uint32_t *
		first; /* by place, one more than places: index of its first block below the diagonal */
	uint32_t *rows; /* by block: the place of its row, ascending within a column */
	struct soft_core_pair *pairs;
	uint32_t pair_count;
	double *own,
		*impulses; /* by place, SOFT_LOCKS_MAX numbers each: the diagonal of A_ii; a copy of λ */
	double *diagonal; /* by place: the reduced A_ii, its lower half row by row */
	double *blocks;	  /* SOFT_LOCKS_MAX² numbers each, row by row */
	bool strained;	  /* an impulse was limited in this step */
};

/* A connected set of joints between movable bodies. */
struct soft_group {
	uint32_t body_first, body_last; /* range in soft_forest.bodies */
	uint32_t first, core_first,
		last; /* range in soft_forest.order: trees from their leaves on, then the core */
	bool wide;    /* solved in lanes (soft_wide.c) */
	bool geared;  /* a gear acts on one of its bodies: not in lanes */
	bool closed;  /* it goes through the phases by itself (soft_closed.c) */
	bool waits;   /* of a closed group, in a pass: its implicit springs are to be swept first */
	uint32_t own_first, own_last; /* of a closed group: range in soft_forest.own */
	double open;		      /* m, rad: of a closed group, as soft_joint.open */
	uint32_t version;	      /* how often it was factored */
	struct soft_core core;
};

struct soft_forest {
	struct soft_node *nodes; /* by jointed body; bodies that no impulse moves share node 0 */
	uint32_t *above;	 /* by node: sets of connected ones (base/union_find.h) */
	uint32_t *ends, *queue;
	uint32_t *bodies; /* indices of jointed bodies, group by group */
	uint32_t *order;  /* joints, group by group, in the order of elimination */
	struct soft_group *groups;
	uint32_t group_count;
	uint32_t *closed, closed_count; /* indices of closed groups */
	uint32_t *own; /* joints of closed groups, group by group, ascending in each */
};

/* A gear; bodies, and J on them: of its follower's a and b, of its leader's (gear.h). */
struct soft_gear {
	struct gear data;		/* with the angles of the last sub-step */
	uint32_t bodies[2 * GEAR_ENDS]; /* indices of soft_jointed */
	struct spatial on[2 * GEAR_ENDS];
	double bias, target;   /* m/s, rad/s */
	double impulse, total; /* N s, N m s: of this sub-step; over the step */
};

/* Gears that are solved together. */
struct soft_gear_set {
	uint32_t *gears, count;	       /* in soft_gears.items */
	uint32_t *groups, group_count; /* of the forest, that they act on */
	double *factor, *change;       /* of K; by gear of the set: what is missing, then λ */
	uint64_t version;	       /* of the groups when it was factored */
	bool factored;
};

struct soft_gears {
	struct soft_gear *items;
	uint32_t count, set_count, group_count;
	uint32_t *order, *groups; /* storage of the sets */
	uint32_t *group_of;	  /* by jointed body; SOFT_NO_PLACE: none */
	struct soft_gear_set *sets;
	struct spatial *response; /* by jointed body; zero but within soft_gear.c */
};

/* The passes over the joints of a group, for one width of vectors (soft_branch.h). */
struct soft_branch_kernels {
	/* Factors the locked rows of a joint alone; derives from them what a joint's other rows have. */
	void (*derive)(const struct soft_joints *joints, struct soft_joint *joint);
	/* Factors what has changed since the group's last factor; all if all responses have its version. */
	void (*factor)(struct soft_joints *joints, struct soft_group *group);
	/* Sets the targets of locked rows. */
	void (*aim)(const struct soft_pass *pass, struct soft_group *group);
	/* Sets `change` to μ from the leaves on, of the core to its right sides; then to λ, and impulses. */
	void (*upward)(struct soft_joints *joints, struct soft_group *group);
	void (*downward)(struct soft_joints *joints, struct soft_group *group);
};

struct soft_joints {
	const struct soft_branch_kernels *kernels;
	struct step_joints list; /* of joints alone; gears are below */
	struct soft_gears gears;
	struct soft_joint *items; /* by joint of the list */
	struct joint_result *results;
	struct soft_jointed *jointed; /* jointed_count bodies */
	struct body_motion *motions;  /* their present motions */
	uint32_t *jointed_of;	      /* by slot: index in `jointed`; 0 for a body without joints */
	uint32_t jointed_count;
	uint32_t *apart; /* indices of jointed bodies, but number 0, that are in no closed group */
	uint32_t apart_count;
	struct soft_forest forest;
	struct soft_wide wide;
	bool driven;  /* a motor has a target that changes with time */
	bool bounces; /* a limit has a restitution */
	double bias_rate, mass_scale, impulse_scale; /* softness */
};

struct soft_pass {
	struct soft_joints *joints;
	double bias_rate, mass_scale, impulse_scale; /* of locked rows; 0, 1, 0: hard */
	double h_inv, push_speed, servo_rate;
	bool biased;
};

/* An upper bound of J M⁻¹ Jᵀ on a body for a J of this length: the scale of its rounding. */
static inline double soft_response_scale(const struct soft_jointed *jointed,
					 const struct spatial *on)
{
	double linear = jointed->mass_inv.x + jointed->mass_inv.y + jointed->mass_inv.z;
	return vec3_length_squared(on->linear) * linear +
	       vec3_length_squared(on->angular) * sym3_trace(jointed->inertia_inv);
}

/* In a tree: the bodies of a joint. */
static inline struct soft_jointed *soft_child_of(const struct soft_joints *joints,
						 const struct soft_joint *joint)
{
	return &joints->jointed[joint->child_b ? joint->b : joint->a];
}
static inline struct soft_jointed *soft_parent_of(const struct soft_joints *joints,
						  const struct soft_joint *joint)
{
	return &joints->jointed[joint->child_b ? joint->a : joint->b];
}

/* One case of SOFT_FOR_ROWS. */
#define SOFT_CASE_OF_ROWS(rows, ...)                                                               \
	case rows: {                                                                               \
		enum { ROWS = rows };                                                              \
		__VA_ARGS__;                                                                       \
		break;                                                                             \
	}

/* A statement with ROWS, the constant that a number of rows is: straight-line code for each. */
#define SOFT_FOR_ROWS(count, ...)                                                                  \
	switch (count) {                                                                           \
		SOFT_CASE_OF_ROWS(1, __VA_ARGS__)                                                  \
		SOFT_CASE_OF_ROWS(2, __VA_ARGS__)                                                  \
		SOFT_CASE_OF_ROWS(3, __VA_ARGS__)                                                  \
		SOFT_CASE_OF_ROWS(4, __VA_ARGS__)                                                  \
		SOFT_CASE_OF_ROWS(5, __VA_ARGS__)                                                  \
		SOFT_CASE_OF_ROWS(6, __VA_ARGS__)                                                  \
	default:                                                                                   \
		ASSERT((count) == 0);                                                              \
	}

/* x ← K⁻¹ x, inlined for each number of rows: x stays in registers, and no number waits for its store. */
ALWAYS_INLINE void soft_joint_substitute(const double *l, const double *pivot_inv, uint32_t count,
					 double *x)
{
	double y[SOFT_LOCKS_MAX];
	VALIDATE(count <= SOFT_LOCKS_MAX);
	LANES_UNROLL
	for (uint32_t i = 0; i < count; i++) {
		y[i] = x[i];
		LANES_UNROLL
		for (uint32_t k = 0; k < i; k++)
			y[i] -= l[i * (i - 1) / 2 + k] * y[k];
	}
	LANES_UNROLL
	for (uint32_t i = 0; i < count; i++)
		y[i] *= pivot_inv[i];
	LANES_UNROLL
	for (uint32_t n = 0; n < count; n++) {
		uint32_t k = count - 1 - n;
		LANES_UNROLL
		for (uint32_t m = 0; m < n; m++) {
			uint32_t i = count - 1 - m;
			y[k] -= l[i * (i - 1) / 2 + k] * y[i];
		}
		x[k] = y[k];
	}
}

/* x ← K⁻¹ x of the first `count` rows solved together; 0 for a row without a pivot. */
static inline void soft_joint_solve_factored(const struct soft_joint *joint, uint32_t count,
					     double *x)
{
	SOFT_FOR_ROWS(count, soft_joint_substitute(joint->factor, joint->pivot_inv, ROWS, x));
}

/* out = W v, v as six numbers: linear, then angular; w: column by column. */
static inline void soft_respond(const double *w, const struct spatial *v, double out[6])
{
	const double x[6] = { v->linear.x,  v->linear.y,  v->linear.z,
			      v->angular.x, v->angular.y, v->angular.z };
	for (uint32_t i = 0; i < 6; i++)
		out[i] = w[i] * x[0] + w[6 + i] * x[1] + w[12 + i] * x[2] + w[18 + i] * x[3] +
			 w[24 + i] * x[4] + w[30 + i] * x[5];
}

static inline double soft_dot(const struct spatial *v, const double x[6])
{
	return v->linear.x * x[0] + v->linear.y * x[1] + v->linear.z * x[2] + v->angular.x * x[3] +
	       v->angular.y * x[4] + v->angular.z * x[5];
}

static inline void soft_jointed_apply(struct soft_jointed *jointed, const struct spatial *impulse)
{
	if (!jointed->moves)
		return;
	vec3 change = vec3_hadamard(jointed->mass_inv, impulse->linear);
	jointed->velocity.linear = vec3_add(jointed->velocity.linear, change);
	change = sym3_apply(jointed->inertia_inv, impulse->angular);
	jointed->velocity.angular = vec3_add(jointed->velocity.angular, change);
}

/* Applies an impulse of the row to both bodies. */
static inline void soft_joint_push(struct soft_joints *joints, struct soft_joint *joint,
				   const struct soft_row *row, double impulse)
{
	VALIDATE(joint->a < joints->jointed_count && joint->b < joints->jointed_count);
	struct spatial on_a = spatial_scale(row->on_a, impulse);
	struct spatial on_b = spatial_scale(row->on_b, impulse);
	soft_jointed_apply(&joints->jointed[joint->a], &on_a);
	soft_jointed_apply(&joints->jointed[joint->b], &on_b);
	joint->pushed = spatial_mul_add(joint->pushed, joint->b != 0 ? on_b : on_a, 1);
	joint->acted |= impulse != 0;
}

/* m/s, rad/s, at most 0: bias of a passed limit; its coordinate returns at the opposite speed. */
static inline double soft_limit_bias(const struct soft_pass *pass, const struct soft_extra *extra)
{
	return scalar_max(extra->gap * pass->bias_rate, -pass->push_speed);
}

/* m/s, rad/s: speed of a position motor with a force limit. It is the speed from which half of that force
 * can stop at the target; positive beyond the target. */
static inline double soft_servo_speed(const struct soft_pass *pass, const struct soft_extra *extra)
{
	double push = scalar_min(extra->upper, -extra->lower) * pass->h_inv;
	double far = scalar_abs(extra->gap);
	double speed =
		scalar_min(far * pass->servo_rate, scalar_sqrt(push * far / extra->mass_in_group));
	return extra->gap < 0 ? -speed : speed;
}

/* Factors K of `count` rows, given by the rows of its lower half; `scales`: response_scale by row. Pivots are
 * not exchanged: K is positive semidefinite, and a row with a vanishing pivot is left out. */
ALWAYS_INLINE void soft_joint_eliminate(struct soft_joint *joint, const double *k,
					const double *scales, uint32_t count)
{
	double pivot_inv[SOFT_LOCKS_MAX];
	VALIDATE(count <= SOFT_LOCKS_MAX);
	LANES_UNROLL
	for (uint32_t i = 0; i < count; i++) {
		double *l = &joint->factor[i * (i - 1) / 2], row[SOFT_LOCKS_MAX];
		double pivot = k[i * (i + 1) / 2 + i];
		LANES_UNROLL
		for (uint32_t j = 0; j < i; j++) {
			/* L D of this row first. */
			row[j] = k[i * (i + 1) / 2 + j];
			LANES_UNROLL
			for (uint32_t m = 0; m < j; m++)
				row[j] -= row[m] * joint->factor[j * (j - 1) / 2 + m];
		}
		LANES_UNROLL
		for (uint32_t j = 0; j < i; j++) {
			l[j] = row[j] * pivot_inv[j];
			pivot -= l[j] * row[j];
		}
		bool usable = pivot > SOFT_PIVOT_MIN * scales[i];
		joint->pivot_inv[i] = pivot_inv[i] = usable ? 1 / pivot : 0;
	}
}

static inline void soft_joint_factor_scaled(struct soft_joint *joint, const double *k,
					    const double *scales, uint32_t count)
{
	SOFT_FOR_ROWS(count, soft_joint_eliminate(joint, k, scales, ROWS));
}

/* The same with scales of its own. */
void soft_joint_factor(const struct soft_joints *joints, struct soft_joint *joint, const double *k,
		       uint32_t count);

/* soft_joint.c. Solves the rows of a joint that are not solved together with others, but implicit springs,
 * which come after those of all joints. */
void soft_joint_solve_alone(const struct soft_pass *pass, struct soft_joint *joint);

/* soft_joint_plan.c. Finds the groups of joints that are solved together, and their order. NO_MEMORY. */
MUST_CHECK enum status soft_forest_plan(struct soft_step *self);

/* soft_joint_tree.c. Factors the groups; call it after their rows are made. */
void soft_forest_factor(struct soft_step *self);
void soft_group_factor(struct soft_joints *joints, struct soft_group *group);
/* Groups of a worker's share. */
uint32_t soft_group_grain(const struct soft_joints *joints);
/* soft_joint_taut.c. At the present motions, before rows are made: which bodies joints make too
 * stiff, and the inertia_inv of these. */
void soft_forest_tighten(struct soft_step *self);
void soft_group_tighten(struct soft_joints *joints, const struct soft_group *group, double h);
/* How many bodies are taut. */
uint32_t soft_joints_taut(const struct soft_joints *joints);
/* Damps the rotations of a group's taut bodies; before its joints are solved with bias. */
void soft_group_calm(struct soft_joints *joints, const struct soft_group *group);
/* After a sub-step: sets `pull` to its impulse. */
void soft_joint_take_pull(struct soft_joint *joint);
/* Solves a group in a pass; all groups that are not closed. */
void soft_group_solve(const struct soft_pass *pass, struct soft_group *group);
void soft_forest_solve(const struct soft_step *self, const struct soft_pass *pass);
/* Chooses a joint's members: the rows that act within their bounds; with the locked rows at most
 * SOFT_LOCKS_MAX. */
void soft_joint_choose_members(struct soft_joint *joint);

/* Solves a group again with the targets of its last solution, after other impulses. */
void soft_group_settle(const struct soft_pass *pass, struct soft_group *group);
/* Adds to velocities of the group's bodies, by jointed body, the response of its rows that are solved
 * together: after it no such row has a speed. */
void soft_group_respond(struct soft_joints *joints, struct soft_group *group,
			struct spatial *velocities);

/* soft_gear.c. After soft_forest_plan and before soft_wide_plan. NO_MEMORY. */
MUST_CHECK enum status soft_gears_plan(struct soft_step *self);
/* Makes the rows at the present positions. */
void soft_gears_measure(struct soft_step *self);
/* Sets the impulses of a sub-step to 0. */
void soft_gears_start(struct soft_joints *joints);
/* Before and after the forest is solved in a pass: sets the speeds that gears are to have; then
 * solves gears together with their groups. */
void soft_gears_aim(const struct soft_pass *pass);
void soft_gears_solve(const struct soft_pass *pass);
void soft_gears_add_totals(struct soft_joints *joints, double sign);
/* m/s, rad/s: the largest speed of a gear's row; notes which bodies gears pushed. */
double soft_gears_residual(struct soft_step *self);

/* soft_joint_core.c. Plans the factor of a group's core and reorders the core's joints by elimination.
 * *fits: false if the factor would be too large. NO_MEMORY. */
MUST_CHECK enum status soft_core_plan(struct soft_step *self, struct soft_group *group, bool *fits);
void soft_core_factor(struct soft_joints *joints, const struct soft_group *group);
/* Replaces the right side, in `change` of the core's joints, by λ; the second one without a limit. */
void soft_core_solve(const struct soft_pass *pass, struct soft_group *group);
void soft_core_respond(struct soft_joints *joints, struct soft_group *group);

/* soft_wide.c. Plans the waves of joints in lanes; after the groups. NO_MEMORY. */
MUST_CHECK enum status soft_wide_plan(struct soft_step *self);
/* Tightens bodies by the blocks of a run, as soft_forest_tighten; factors the blocks, whose bodies have their
 * own responses; solves them in a pass. */
void soft_run_tighten(struct soft_joints *joints, const struct wide_run *run, double h);
void soft_run_factor(struct soft_joints *joints, const struct wide_run *run);
void soft_run_solve(const struct soft_pass *pass, const struct wide_run *run);
/* Applies the warm start of all that is solved one by one; solves it; in waves or in order. */
void soft_warm_items(struct soft_joints *joints);
void soft_solve_items(const struct soft_pass *pass);
/* Copies from blocks into their joints what a step stores of them; `all`: all that changes. */
void soft_wide_return(struct soft_joints *joints, bool all);
/* The same of all; then no joint is in a block any more. */
void soft_wide_leave(struct soft_joints *joints);

/* soft_closed.c. Which groups are closed; after trees are planned in lanes, before loose joints are.
 * NO_MEMORY. */
MUST_CHECK enum status soft_closed_plan(struct soft_step *self);
/* No group is closed any more. */
void soft_closed_leave(struct soft_joints *joints);
/* What closed groups do in a pass, one after the other. */
struct soft_closed_work {
	struct soft_step *self;
	const struct soft_pass *pass; /* NULL: rows are made only */
	double now;		      /* s since the step's start: of measuring */
	bool measures;		      /* first makes the rows at the present positions */
	bool gathers, warms;	      /* takes the velocities of bodies; applies the warm start */
	bool counts;		      /* adds the impulses to the totals */
};
/* True: some groups wait until implicit springs are swept, and soft_closed_finish is to be called. */
bool soft_closed_pass(struct soft_closed_work *work);
void soft_closed_finish(struct soft_closed_work *work);

/* The k-th joint that is in no block and in no closed group. */
static inline struct soft_joint *soft_apart(const struct soft_joints *joints, uint32_t k)
{
	VALIDATE(k < joints->wide.apart_count);
	return &joints->items[joints->wide.apart != NULL ? joints->wide.apart[k] : k];
}

/* The number of the k-th jointed body that is in no closed group. */
static inline uint32_t soft_apart_body(const struct soft_joints *joints, uint32_t k)
{
	VALIDATE(k < joints->apart_count);
	return joints->apart[k];
}

/* The k-th joint that is in no block. */
static inline struct soft_joint *soft_rest(const struct soft_joints *joints, uint32_t k)
{
	VALIDATE(k < joints->wide.rest_count);
	return &joints->items[joints->wide.rest != NULL ? joints->wide.rest[k] : k];
}

/* soft_joint.c. Applies a joint's warm start. */
void soft_joint_warm(struct soft_joints *joints, struct soft_joint *joint);
/* Whether an implicit spring of a joint is to be swept. */
bool soft_joint_is_swept(const struct soft_joint *joint);
/* Velocities of jointed bodies, from differences in float to whole ones in double, and back. */
void soft_jointed_gather(struct soft_step *self, uint32_t jointed);
void soft_jointed_scatter(struct soft_step *self, uint32_t jointed);
/* Adds the impulses of a sub-step to the totals. */
void soft_joint_add_totals(struct soft_joint *joint, double sign);
/* soft_joint_rows.c. The motion of a jointed body, `now` seconds after the step's start; the rows of a joint
 * at its bodies' motions. */
void soft_jointed_move(struct soft_step *self, uint32_t jointed, double now);
void soft_joint_measure(struct soft_step *self, uint32_t i, double now);

/* rad², of a step: for a faster relative spin whole turns are counted in every sub-step. */
#define SOFT_TURN_FAST 1.0

/* Makes the joints from the tables. Call it after soft_prepare_bodies and before soft_prepare_turns,
 * because it marks bodies constrained. NO_MEMORY, LIMIT: nothing changed. */
MUST_CHECK enum status soft_joints_make(struct soft_step *self, struct reason *why);
/* Makes the rows at the positions of the step's start: of all; `now` seconds after it, of what is in no
 * closed group. */
void soft_joints_measure(struct soft_step *self);
void soft_apart_measure(struct soft_step *self, double now);
/* The passes of a sub-step; `half`, s since the step's start, is the middle of the sub-step. */
void soft_joints_solve(struct soft_step *self, double half);
/* After contacts: whether they have undone so much of what joints had done that both are solved again.
 * `round`: how often both have been solved in this sub-step. */
bool soft_joints_strained(struct soft_step *self, uint32_t round);
/* A further round of soft_joints_solve in the same sub-step, after soft_joints_strained. */
void soft_joints_solve_again(struct soft_step *self);
/* After a sub-step's positions, `now` seconds after the step's start: makes the rows there, and relaxes. */
void soft_joints_relax(struct soft_step *self, double now);
/* After the last sub-step: the greatest speed of a locked row, m/s or rad/s. */
double soft_joints_residual(struct soft_step *self);
/* After the last sub-step: bounces the limits that were reached. */
void soft_joints_restitution(struct soft_step *self);
/* Stores forces, angles and multipliers of the joints; call it after the bodies are stored. */
void soft_joints_store(struct soft_step *self);

#endif
