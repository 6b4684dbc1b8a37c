/* soft_tree.h: trees of joints in reduced coordinates under soft-step; soft_tree.c describes them.
 * Private to soft-step. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_TREE_H
#define CAIRN_ENGINE_METHODS_SOFT_TREE_H

#include "server/engine/dynamics/step_joints.h"
#include "server/engine/dynamics/tree_mass.h"
#include "server/engine/math/sym3.h"

struct soft_step;
struct soft_trees;
struct tree_manifold;

/* Of motions: velocity of the point at the tree's origin, spin. Of forces: force, moment
 * about the origin. */
struct tree_inertia {
	sym3 along, about;
	mat3 cross; /* force = along v + cross w, moment = crossᵀ v + about w */
};

enum tree_axis_kind { TREE_SLIDE, TREE_TURN, TREE_BALL, TREE_BASE };

/* What holds an axis at a speed. */
enum tree_hold { TREE_FREE, TREE_BY_DRIVE, TREE_BY_LOWER, TREE_BY_UPPER };

/* What acts on an axis beside its link's inertia. Impulses are those of a sub-step, N s or N
 * m s. */
struct tree_part {
	const struct joint_axis *data;
	uint32_t joint;		   /* of soft_trees.list */
	uint8_t axis;		   /* of the joint */
	uint8_t hold;		   /* enum tree_hold */
	int8_t servo_at, drive_at; /* −1, 1: at its bound */
	bool lower, upper, spring, servo, drive, friction;
	double armature;
	double spring_stiff, spring_damp, servo_stiff, servo_damp; /* h k; h c + h² k */
	double servo_most, drive_most;				   /* bounds */
	double spring_from, servo_from;				   /* impulses at speed 0 */
	double target;						   /* as the sub-step begins */
	double drive_speed;		/* m/s, rad/s: of a drive without gains */
	double speed_least, speed_most; /* m/s, rad/s: of its limits */
	double spring_push, servo_push, drive_push, limit_push; /* limit_push > 0: lower */
	double spring_total, servo_total, drive_total, lower_total, upper_total;
	double rotor_start; /* m/s, rad/s */
	double damp_before[2];
	uint8_t held_before;
};

/* Lanes (soft_tree_lanes.h) take members that follow each other at once: s and u; direction and at;
 * from mass to q. */
struct tree_axis {
	struct spatial s, u; /* its motion at rate 1; A s */
	vec3 direction, at;
	double mass;		/* sᵀ A s and what is added to it */
	double inverse, root;	/* 1/mass and its root; 0: held */
	double drive;		/* sᵀ of the impulse that its link lacks */
	double given;		/* impulse on the coordinate */
	double speed;		/* of a held axis */
	double rate, q;		/* q' and q */
	double before;		/* q' that rotors have */
	struct tree_part *part; /* NULL: none */
	uint8_t kind, along;
};

/* Lanes take at once: from before to lacking; a rotation and what follows it; force and torque; mass and
 * inertia. */
struct soft_tree_link {
	struct tree_inertia own, all; /* all: with what hangs on it, less what its axes give way */
	struct spatial velocity, momentum;
	struct spatial before; /* velocity as a sub-step begins */
	/* Of the last solution at a sub-step's start: */
	struct spatial turning; /* half a sub-step's change by its own motion */
	struct spatial bias;	/* c */
	struct spatial given;	/* N s, N m s: by forces */
	struct spatial pushed;	/* by contacts, in a pass */
	struct spatial lacking; /* change of momentum less forces and contacts: what joints gave */
	struct spatial sent, sent_bias; /* p and A c, for its parent */
	/* Set as the tree is made; what is before it is written before it is read. */
	struct spatial load;  /* of its joint on it over the step; about b's anchor */
	struct spatial under; /* velocity of the body on which it hangs, of a first link */
	quat rotation;
	vec3 centre, anchor; /* anchor: of the joint's b */
	quat ball;
	vec3 locked;
	quat frame_parent;
	vec3 point_parent;
	quat frame_own;
	vec3 point_own;
	quat ground_rotation; /* of the body on which it hangs, of a first link */
	vec3 ground_centre;
	double mass;
	sym3 inertia;	    /* body axes */
	vec3 force, torque; /* N s, N m s in a sub-step */
	double keep, spin_keep;
	uint32_t number; /* of its soft body */
	uint32_t parent, first, count;
	uint32_t joint, result;	 /* its joint's number in the list, and in the order */
	uint32_t child, sibling; /* its last child; its parent's child before it */
	uint32_t ground;	 /* number of the soft body on which it hangs; 0: the world */
	uint16_t depth, children;
	bool reversed, damped;
	bool touched; /* blocks read its motion */
};

/* Whether locked axes have values. */
static inline bool soft_tree_is_offset(const struct soft_tree_link *link)
{
	return link->locked.x != 0 || link->locked.y != 0 || link->locked.z != 0;
}

struct soft_tree {
	uint32_t first, count; /* of its links */
	uint32_t axis_first, axis_count;
	vec3 origin; /* of all vectors, throughout a step */
	vec3 shift;  /* m: of a floating one, so that its mass centre is where momentum moves it */
	vec3 centre; /* of mass, of a floating one */
	double mass;
	double half; /* s: the time in which motion itself changes velocities before a sub-step's middle */
	uint32_t version;			 /* how often it was factored */
	bool floating, factored, driven, moving; /* moving: its ground is a body */
};

/* Links of one depth with axes of the same kinds, side by side in lanes. */
enum { TREE_GROUP_MAX = 4 };
struct link_group {
	uint32_t link[TREE_GROUP_MAX]; /* the last one repeated beyond `lanes` */
	uint16_t lanes, children;      /* children: of each */
};

/* solve: at the start of a sub-step; relax: at the poses of its end. */
enum tree_pass { TREE_BEGIN, TREE_SOLVE, TREE_RELAX };

/* The recursions over groups (soft_tree_passes.h): bits do not depend on lanes. Leaves first: factor, up,
 * after. */
struct tree_kernels {
	uint32_t lanes;
	void (*pose)(const struct soft_trees *all, const struct link_group *group);
	void (*derive)(const struct soft_trees *all, const struct link_group *group);
	void (*factor)(const struct soft_trees *all, const struct link_group *group);
	void (*up)(const struct soft_trees *all, const struct link_group *group,
		   enum tree_pass pass);
	void (*down)(const struct soft_trees *all, const struct link_group *group,
		     enum tree_pass pass);
	void (*before)(const struct soft_trees *all, const struct link_group *group,
		       enum tree_pass pass);
	void (*after)(const struct soft_trees *all, const struct link_group *group,
		      enum tree_pass pass);
	/* The rows of a manifold of one link: g and response. */
	void (*walk)(const struct soft_trees *all, struct tree_manifold *of);
};
extern const struct tree_kernels tree_kernels_1, tree_kernels_2;
#if defined(__x86_64__)
extern const struct tree_kernels tree_kernels_4; /* needs AVX2 */
#endif

/* One axis on the way from a manifold's links to their roots. */
struct tree_way {
	uint32_t axis;
	uint8_t side;
	bool meets; /* both ways are one from here on */
};

/* Axes of a way whose changes follow each other. */
struct tree_stretch {
	uint32_t first, count;
};

struct tree_row {
	struct spatial on[2]; /* J on links a, b */
	double *g;	 /* by axis of the way: sᵀ f / √mass; room for whole groups of four */
	double speed;	 /* J v before impulses of this pass, without partners */
	double response; /* J M⁻¹ Jᵀ */
	double mass;	 /* its inverse; 0: nothing moves */
	double impulse, start;
	vec3 axis, turning[2], answer[2]; /* of partners */
};

enum { TREE_ROWS_MAX = MANIFOLD_POINTS_MAX + 3 };

struct tree_manifold {
	uint32_t block;
	uint8_t lane, points;
	uint32_t link[2];    /* TREE_NONE: none */
	uint32_t partner[2]; /* TREE_NONE: none */
	uint32_t number[2];  /* of soft bodies */
	uint32_t way_first, way_count;
	uint32_t stretch_count;		   /* from way_first on */
	double leave[MANIFOLD_POINTS_MAX]; /* m/s: at which a point bounces */
	double coupling;		   /* of the tangents */
	/* Points, two tangents, twist; written before they are read. */
	struct tree_row rows[TREE_ROWS_MAX];
};

/* A body in contact with links. */
struct tree_partner {
	uint32_t number;
	vec3 velocity, spin, mass_inv;
	sym3 inertia_inv;
};

/* Trees that act on each other by contacts, or on a common body. */
struct soft_island {
	uint32_t tree_first, tree_last, manifold_first, manifold_last, partner_first, partner_last;
	uint32_t block_first, block_last;
	bool closed; /* nothing else acts on it but what does not move: it goes through a whole step */
	uint32_t version;     /* of its trees when rows were made */
	uint32_t open_rounds; /* passes that ended before holds agreed */
	bool changed;	      /* holds have, in the round that is done */
};

/* Islands that are solved together: several closed ones, or one that is open. */
struct tree_run {
	uint32_t island_first, island_last, group_first, group_last;
};

struct soft_trees {
	struct step_joints list; /* of the step, of which `order` are those of trees */
	uint32_t *order;
	struct joint_result *results; /* by place in the order */
	struct soft_tree *trees;
	struct soft_tree_link *links;
	struct tree_axis *axes;
	struct tree_part *parts;
	double *change; /* soft_tree_change: √mass q' by impulses of contacts in a pass */
	struct tree_manifold *manifolds;
	struct tree_way *ways;
	struct tree_stretch *stretches; /* a manifold's begin where its way does */
	double *entries;		/* of rows */
	struct tree_partner *partners;
	struct soft_island *islands;
	const struct tree_kernels *wide; /* of groups of more than one link */
	struct link_group *groups;	 /* a run's begin at its first link's number */
	struct tree_run *runs;		 /* of closed islands, then of the others */
	uint64_t *keys;			 /* work of grouping, by link */
	uint32_t *sorted;
	uint32_t *link_of; /* by soft body: TREE_NONE */
	uint32_t *tree_of_link;
	uint32_t *lanes; /* by manifold: its number of the step */
	uint32_t tree_count, link_count, axis_count, part_count, island_count, manifold_count,
		partner_count, block_count, run_count;
	uint32_t closed_count;		   /* of runs */
	uint32_t block_first, open_blocks; /* of their blocks; those of open islands come first */
	uint32_t *island_of;		   /* by tree */
	double h, bias_rate;
};

/* Ways go from high numbers of axes to low ones, and changes with them. */
static inline uint32_t soft_tree_change(const struct soft_trees *trees, uint32_t axis)
{
	return trees->axis_count - 1 - axis;
}

/* soft_tree_plan.c. Takes the joints of trees out of the list. NO_MEMORY. */
MUST_CHECK enum status soft_trees_choose(struct soft_step *self, struct step_joints *list,
					 double bias_rate);
/* Whether soft body `number` is a link. */
static inline bool soft_trees_have(const struct soft_trees *trees, uint32_t number)
{
	return trees->link_of != NULL && trees->link_of[number] != TREE_NONE;
}
/* Before the colouring: the contacts of links, which it leaves out. NO_MEMORY. */
MUST_CHECK enum status soft_trees_lay_out(struct soft_step *self, struct reason *why);
/* In the colouring: their blocks are after all others. `by_lane`: by block and lane, the
 * manifold. */
static inline void soft_trees_add_blocks(struct soft_trees *trees, uint32_t *block_count)
{
	trees->block_first = *block_count;
	*block_count += trees->block_count;
}
void soft_trees_fill(struct soft_step *self, uint32_t *by_lane);
/* How many blocks do not go through a step by themselves. */
static inline uint32_t soft_trees_open_blocks(const struct soft_trees *trees)
{
	return trees->block_first + trees->open_blocks;
}

/* soft_tree_groups.c. Runs, once contacts are laid out; the groups of a run. */
const struct tree_kernels *soft_tree_kernels(void);
void soft_trees_plan_runs(struct soft_trees *all);
void soft_tree_group_run(struct soft_trees *all, struct tree_run *run);

/* soft_tree.c. Trees at their coordinates (`moving`: only those whose ground is a body); factors;
 * velocities of momenta. */
void soft_tree_place(struct soft_step *self, const struct tree_run *run, double now, bool moving);
void soft_tree_factor(struct soft_trees *all, const struct tree_run *run);
void soft_tree_solve(struct soft_step *self, const struct tree_run *run, enum tree_pass pass);
void soft_tree_move(struct soft_step *self, const struct tree_run *run, double now);
/* `touched`: only links that blocks read. */
void soft_tree_write(struct soft_step *self, const struct soft_tree *tree, double now,
		     bool touched);
void soft_tree_before(struct soft_trees *all, const struct tree_run *run, enum tree_pass pass);
void soft_tree_after(struct soft_trees *all, const struct tree_run *run, enum tree_pass pass);
struct spatial soft_tree_inertia_apply(const struct tree_inertia *inertia, const struct spatial *v);
/* The trees of a run are those from the first one's to before the last one's. */
static inline uint32_t soft_tree_first(const struct soft_trees *all, const struct tree_run *run)
{
	return all->islands[run->island_first].tree_first;
}
static inline uint32_t soft_tree_last(const struct soft_trees *all, const struct tree_run *run)
{
	return all->islands[run->island_last - 1].tree_last;
}

/* soft_tree_drive.c. What acts on axes. */
void soft_tree_drive_begin(struct soft_step *self, struct soft_tree *tree);
void soft_tree_drive_aim(struct soft_step *self, struct soft_tree *tree, double now, bool biased);
void soft_tree_drive_set(struct soft_trees *all, struct soft_tree *tree, bool biased);
/* Takes what parts exert; true: holds have changed. */
bool soft_tree_drive_take(struct soft_trees *all, struct soft_tree *tree);
/* Notes what they exert; after relaxing, adds it to the totals. */
void soft_tree_drive_count(struct soft_trees *all, struct soft_tree *tree, bool biased);
/* Before the first factor of a step, which is without drives, and after it. */
void soft_tree_start_rotors(struct soft_step *self, struct soft_tree *tree);
void soft_tree_drive_wake(struct soft_step *self, struct soft_tree *tree);

/* soft_tree_rows.c. Contacts of an island in a pass. */
void soft_tree_contacts(struct soft_step *self, struct soft_island *island, bool biased,
			bool first);
void soft_tree_contacts_store(struct soft_step *self, struct soft_island *island, bool biased);

/* soft_tree_step.c. Before the first sub-step; its two passes; afterwards. */
void soft_trees_begin(struct soft_step *self);
void soft_trees_solve(struct soft_step *self, double now);
void soft_trees_relax(struct soft_step *self, double now);
struct body_motion soft_trees_motion(const struct soft_step *self, uint32_t number);
void soft_trees_store(struct soft_step *self);

#endif
