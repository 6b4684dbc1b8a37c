/* soft_step.h: bodies, blocks of contacts and the step, shared by the files of the soft-step method.
 * soft_step.c describes the method. Private to server/engine/methods. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_STEP_H
#define CAIRN_ENGINE_METHODS_SOFT_STEP_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/math/sym3f.h"
#include "server/engine/methods/soft_cluster.h"
#include "server/engine/methods/soft_joint.h"
#include "server/engine/methods/soft_lanes.h"
#include "server/engine/methods/soft_tree.h"

/* The change of a body since the step's start, one cache line. Velocities are differences too, so that
 * no float has to represent a great speed or a far position. Number 0 is the world (static, inactive or
 * sleeping): it never moves and is never written. */
struct soft_body {
	_Alignas(64) float4 velocity; /* x y z, m/s, of the mass centre, less that at the start */
	float4 spin;		      /* x y z, rad/s, world axes, less that at the start */
	float4 shift; /* x y z, m, of the mass centre, less time × velocity at the start */
	float4 turn;  /* x y z w: unit quaternion, the rotation since the start */
};

/* Forces and constants of a body, which the solver reads. Over a sub-step a difference of velocities u
 * becomes keep u + change. */
struct soft_drive {
	struct body_start start;
	float4 change, spin_change; /* m/s, rad/s; zero for an animated body */
	float4 spin;		    /* rad/s, at the start */
	float keep, spin_keep;	    /* factors of damping, 0 … 1 */
	float mass_inv;
	sym3f inertia_inv; /* world axes at the step's start */
	bool dynamic;	   /* else animated: it follows its script */
	bool spins; /* unequal inertias, and a large rotation in the step: it has a soft_turn */
	bool constrained; /* it has a manifold or joint to solve */
	bool pushed;	  /* some contact's impulse acted on it in this step */
	uint8_t locks;	  /* enum mass_lock, of a body with locks (locks.h) */
};

/* A body of unequal inertias with a large rotation in a step: its angular momentum, its rotation and
 * the inertia that contacts act on go through the sub-steps in double. */
struct soft_turn {
	vec3 momentum;	   /* kg m²/s, world axes */
	vec3 push;	   /* its change by torque in a sub-step, kg m²/s */
	quat rotation;	   /* now */
	float4 spin;	   /* soft_body.spin as last computed from these; contacts add to that */
	sym3f inertia_inv; /* world axes, now */
};

/* One point of eight manifolds. J is arm × normal, spin is I⁻¹ J. */
struct soft_point {
	struct lane8x3 j_a, j_b, spin_a, spin_b;
	struct lane8 separation; /* m at the step's start */
	struct lane8 gap;	 /* m, separation now */
	struct lane8 mass;	 /* kg, 1 / (n M⁻¹ nᵀ) */
	struct lane8 impulse;	 /* N s, ≥ 0, of this sub-step; warm start of the next */
	struct lane8 total;	 /* N s over the step */
	struct lane8
		approach;    /* m/s, relative normal speed of the velocities at the step's start */
	struct lane8 lever;  /* m, from the friction centre */
	struct lane8 weight; /* in the friction centre */
	struct lane8 height_a, height_b; /* m, of the arms along the normal, at the step's start */
};

/* m: the separation of a point that a lane's manifold lacks and another lane's has. It is never
 * reached. */
#define SOFT_NOWHERE 1e9f

/* Eight manifolds of one colour: no two share a dynamic body, unless `serial`. Unused lanes are zero,
 * and do nothing to body 0. */
struct soft_block {
	uint32_t body_a[BLOCK_LANES], body_b[BLOCK_LANES]; /* numbers of soft bodies */
	uint32_t contact
		[BLOCK_LANES]; /* number of the manifold (soft_cluster.h), DYNAMICS_NONE for none */
	uint8_t writes_a, writes_b; /* bit per lane: the body is dynamic */
	uint8_t point_count;	    /* the greatest of the lanes */
	bool serial;		    /* lanes share bodies: solved one lane after the other */
	bool bounces;		    /* some lane has restitution */
	bool rough;		    /* some lane has a friction of soft_rough */
	bool belts;		    /* some lane's surfaces move: soft_rough.belt */
	bool spins;		    /* some lane's body has `spins` */
	bool locks;		    /* some lane's body has locked axes: free_a, free_b */
	bool strikes;		    /* some lane bounced in the last sweep of restitution */
	bool slides; /* arms have changed much since the step's start (soft_arms.c) */
	bool twists; /* friction may act about the normals: else its impulse is 0, and stays so */
	float residual;			/* m/s, as defined in soft_step.c; of the last pass */
	struct lane8x3 normal, tangent; /* the other tangent is normal × tangent */
	struct lane8 mass_inv_a, mass_inv_b;
	struct lane8 inertia_inv_a[6], inertia_inv_b[6];
	struct lane8 bias_rate, mass_scale, impulse_scale; /* softness */
	struct lane8 friction, restitution;
	struct lane8x3 drift; /* m/s, relative velocity of the mass centres at the step's start */
	struct lane8
		follows; /* 1 if both are dynamic: arms change with their relative motion; else 0 */
	/* m, rounding radii: the part of an arm that does not rotate. */
	struct lane8 rounding_a, rounding_b;
	/* 1/m: of two balls, whose normal rotates with their relative motion; else 0. */
	struct lane8 bend;
	struct lane8 calm, sway_a,
		sway_b; /* m²: limit and weights for the change of arms (soft_arms.c) */
	struct lane8x3 arm_a, arm_b; /* from the mass centres to the friction centre */
	/* m/s, rad/s: at the friction centre, of the velocities at the start. */
	struct lane8 slip[2], spin_slip;
	struct lane8 tangent_mass[3]; /* inverse of the 2×2 block: 11 22 12 */
	struct lane8 twist_mass;
	struct lane8x3 twist_a, twist_b; /* I⁻¹ n */
	struct lane8 tangent_impulse[2], twist_impulse;
	struct lane8 tangent_total[2];
	struct lane8
		pushed; /* N s: the greatest normal impulse of any pass; above 0 the contact acted */
	struct soft_point points[MANIFOLD_POINTS_MAX];
	/* 1 along the axes that are free, 0 along locked ones; only of a block with `locks`. */
	struct lane8x3 free_a, free_b;
};

/* Of a rough block: one with friction beyond that of Coulomb alike in all directions. */
struct soft_rough {
	struct lane8 rolling, spinning; /* m */
	struct lane8 along;		/* coefficient along the first tangent */
	struct lane8 has_axis;		/* 1: it has one, else 0 */
	struct lane8x3 spin;		/* rad/s, relative, at the step's start */
	struct lane8x3 rolled;		/* N m s: impulse against rolling, of this sub-step */
	/* m/s: slip of points at rest; of blocks with `belts` only, which may not be rough. */
	struct lane8x3 belt;
};

/* How the arms of eight manifolds follow their bodies. A part of each rotates with its body, a part
 * along the normal does not (a ball's radius); the distance between the two ends is then shared. */
struct soft_slide {
	struct lane8x3 normal; /* at the step's start */
	struct lane8 share; /* 0 … 1: part of that distance that A's arm gets; B's gets the rest */
	struct {
		struct lane8x3 core_a, core_b;
		struct lane8 round_a, round_b; /* m */
	} points[MANIFOLD_POINTS_MAX];
};

/* Blocks first … last-1, independent of each other. */
struct soft_colour {
	uint32_t first, last;
};

enum {
	COLOUR_BITS = 64,
	COLOUR_ROUNDS = 4,
	/* Classes by number of points (1, 2, more), so that a block's lanes have the same work. */
	COLOUR_CLASSES = 3,
	COLOURS_MAX = COLOUR_BITS * COLOUR_ROUNDS + 1,
	GROUPS_MAX = COLOURS_MAX * COLOUR_CLASSES,
};

/* Islands in which a heavy body rests on light ones (soft_hard.c). */
struct soft_hard {
	struct soft_hard_island *islands;
	struct hard_row *rows;
	uint32_t count;
};

/* Sleeping bodies that took part and sleep on (soft_sleepers.c). */
struct soft_sleepers {
	uint32_t *rows;
	double *left; /* s, by number: their sleep_time after this step */
	uint32_t count;
};

/* Where the lanes of a block of contacts with as many points each come from. */
struct soft_fill {
	const struct contact_state *contact[BLOCK_LANES];
	const double *multiplier[BLOCK_LANES];
	const mat3 *rotation[BLOCK_LANES]; /* of A's body */
	double slide;			   /* m/s: a point that slips faster has dynamic friction */
};

struct colour_work {
	struct soft_step *step;
	const struct soft_colour *colour;
};

/* The passes over blocks of one width of vectors (soft_passes.h). */
struct soft_kernels {
	/* Items: blocks of a colour; context: struct colour_work. */
	parallel_piece *warm, *solve, *relax;
	parallel_piece *move; /* bodies by a sub-step: soft_move_body of each */
	/* Of a block: arms and gaps after bodies have moved (soft_arms.h); J and masses from arms. */
	void (*measure)(const struct soft_step *step, uint32_t i);
	void (*derive)(struct soft_block *block);
	float (*residual)(const struct soft_step *step, const struct soft_block *block);
	/* Fills the lanes of a block of contacts with as many points (soft_fill.h); NULL: lane by lane. */
	uint32_t (*fill)(const struct soft_step *step, struct soft_block *block,
			 const struct soft_fill *from);
	const struct soft_wide_kernels *wide;	    /* of joints; NULL: one lane has none */
	const struct soft_branch_kernels *branches; /* of joints by groups */
};

struct soft_step {
	const struct soft_kernels *kernels;
	struct step *step;
	struct dynamics *dynamics;
	double dt;
	uint32_t substeps;
	float h, h_inv;			     /* s of a sub-step, and 1/s */
	float push_speed, restitution_speed; /* m/s */
	bool energy;			     /* soft_step.energy */
	double contact_hertz, contact_damping;
	float time;		   /* s since the step's start */
	struct soft_body *bodies;  /* body_count + 1; number 0 is the world */
	struct soft_drive *drives; /* the same */
	struct soft_turn
		*turns; /* the same; filled for bodies that are constrained and have `spins` */
	const uint32_t *rows; /* of body i + 1, ascending */
	uint32_t body_count;
	struct soft_block *blocks;
	struct soft_slide *slides; /* by block; filled for blocks that slide */
	struct soft_rough *roughs; /* by block; filled for rough blocks */
	uint32_t block_count;
	bool bounces; /* some block does */
	struct soft_colour *colours;
	uint32_t colour_count;
	struct soft_clusters clusters;
	struct soft_joints joints;
	struct soft_trees trees;
	struct body_motion *motions; /* by slot, at the step's end */
	struct soft_hard hard;
	struct soft_sleepers dozing;
};

/* The greatest number of blocks for this many manifolds. */
uint64_t soft_blocks_max(uint64_t contacts);
/* Bytes of scratch of soft_colour. */
uint64_t soft_colouring_need(uint64_t contacts);

/* soft_body.c: bodies and forces from the tables, through sub-steps, and back. Sub-steps skip
 * unconstrained bodies. */
void soft_prepare_bodies(struct soft_step *self);
void soft_prepare_turns(
	struct soft_step *self); /* after joints and colouring, which set `constrained` */
/* Motion of constrained body `number` (1 … body_count), `now` seconds after the step's start. */
struct body_motion soft_motion(const struct soft_step *self, uint32_t number, double now);
void soft_integrate_velocities(struct soft_step *self);
void soft_integrate_positions(struct soft_step *self);
void soft_move_body(const struct soft_step *self, uint32_t number);
/* rad a sub-step. Below, the series of sine and cosine is its first term, to the last bit. Squares of the
 * spins of what stands are subnormal, each of which costs as much as a whole body. */
#define SOFT_TURN_TINY 0x1p-16f
/* Computes `motions`, of which fast bodies end before obstacles (sweep.h). NO_MEMORY. */
MUST_CHECK enum status soft_finish_bodies(struct soft_step *self, struct reason *why);

/* soft_seams.c: removes the points of contacts at seams of flat surfaces. NO_MEMORY. Its bytes of scratch. */
MUST_CHECK enum status soft_drop_seams(struct soft_step *self, struct reason *why);
uint64_t soft_seams_need(uint64_t bodies, uint64_t contacts);

/* soft_prepare.c: lanes of constraints from manifolds, and their impulses back into the table. */
/* Where a manifold's friction acts: its arm from A's mass centre, m. It has points. */
vec3 soft_friction_arm(const struct contact_state *contact);
void soft_prepare_contacts(struct soft_step *self);
/* m: how deep a body lies in another of its mass under its weight. */
double soft_sag(const struct soft_step *self);
void soft_store_contacts(struct soft_step *self);

/* soft_arms.c: arms and gaps of contacts as bodies move. */
/* Updates gaps after bodies have moved, and arms where they have changed by more than CALM. */
void soft_measure(struct soft_step *self);
/* Of one block, whatever the width of kernels. */
void soft_measure_four(const struct soft_step *self, uint32_t i);

/* soft_kernels.c: the widest kernels that the processor has and processor_limit_lanes allows. */
const struct soft_kernels *soft_kernels_choose(void);
extern const struct soft_kernels soft_kernels_1, soft_kernels_4;
#if defined(__x86_64__)
extern const struct soft_kernels soft_kernels_8;  /* needs AVX2 */
extern const struct soft_kernels soft_kernels_16; /* needs AVX-512 F, VL, DQ and BW */
#endif

/* soft_colour.c: assigns manifolds to lanes. Marks their bodies `constrained`. NO_MEMORY. */
MUST_CHECK enum status soft_colour(struct soft_step *self, struct reason *why);

/* soft_hard.c: finds the hard islands, after soft_prepare_contacts. NO_MEMORY: nothing changed. */
MUST_CHECK enum status soft_hard_make(struct soft_step *self, struct reason *why);
/* Solves them exactly, after a sweep with or without bias. */
void soft_hard_solve(struct soft_step *self, bool biased);
void soft_hard_report(const struct soft_step *self);

/* soft_sleepers.c: after the last sub-step: calls step_push for the sleeping bodies that are pushed so much
 * that they are to take part. NO_MEMORY: nothing changed. */
MUST_CHECK enum status soft_push_sleepers(struct soft_step *self, struct reason *why);
/* After the last solve: those that took part and hardly move sleep on. */
void soft_doze(struct soft_step *self);
/* After the commit: the sleep times of those that are pushed less. */
void soft_store_sleepers(const struct soft_step *self);

/* soft_solve.c: one sub-step's passes over all colours. */
void soft_warm_start(struct soft_step *self);
void soft_bounce(struct soft_step *self);
void soft_solve(struct soft_step *self);
void soft_relax(struct soft_step *self);
/* After the last sub-step: the report's residual, and the bodies on which contacts acted. */
void soft_residual(struct soft_step *self);

#endif
