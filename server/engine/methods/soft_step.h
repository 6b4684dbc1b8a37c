/* soft_step.h: what the files of the soft-step method share; soft_step.c tells the story. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_STEP_H
#define CAIRN_ENGINE_METHODS_SOFT_STEP_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/math/sym3f.h"
#include "server/engine/methods/soft_cluster.h"
#include "server/engine/methods/soft_joint.h"
#include "server/engine/methods/soft_lanes.h"

/* A body as the solver sees it: what has become of it since the step's start, one cache line. Velocities
 * are differences, too, so that no float carries how fast a body is or where. Number 0 is the
 * world (static, inactive or sleeping): it never moves and is never written. */
struct soft_body {
	_Alignas(64) lanes velocity; /* x y z, m/s, of the mass centre, beyond that at the start */
	lanes spin;		     /* x y z, rad/s, world axes, beyond that at the start */
	lanes shift; /* x y z, m, beyond what the velocity at the start makes of the time */
	lanes turn;  /* x y z w: unit quaternion, all of the turn since the start */
};

/* What moves a body besides contacts, and what the solver reads of it once. Over a sub-step a difference of
 * velocities u becomes keep u + change. */
struct soft_drive {
	struct body_start start;
	lanes change, spin_change; /* m/s, rad/s; zero for what is scripted */
	lanes spin;		   /* rad/s, at the start */
	float keep, spin_keep;	   /* factors of damping */
	float mass_inv;
	sym3f inertia_inv; /* world axes at the step's start */
	bool dynamic;	   /* else animated: it moves as it was told */
	bool spins;	   /* it turns unevenly and far in the step: it has a soft_turn */
	bool constrained;  /* it has a manifold to solve */
	bool pushed;	   /* some contact's impulse acted on it in this step */
};

/* A body of uneven inertia that turns far within a step: its angular momentum and its rotation go through
 * the sub-steps in double, and so does the inertia that contacts act on. */
struct soft_turn {
	vec3 momentum; /* kg m²/s, world axes */
	vec3 push;     /* what torque adds to it in a sub-step */
	quat rotation; /* now */
	lanes spin;    /* soft_body.spin as last made of these: what differs, contacts have added */
	sym3f inertia_inv; /* world axes, now */
};

/* One point of eight manifolds. J is arm × normal; I⁻¹J what a unit impulse does to the spin. */
struct soft_point {
	struct lane8x3 j_a, j_b, spin_a, spin_b;
	struct lane8 separation; /* m at the step's start */
	struct lane8 gap;	 /* m, separation now */
	struct lane8 mass;	 /* kg, 1 / (n M⁻¹ nᵀ) */
	struct lane8 impulse;	 /* N s of this sub-step; what the next one begins with */
	struct lane8 total;	 /* N s over the step */
	struct lane8
		approach;    /* m/s, relative normal speed of the velocities at the step's start */
	struct lane8 lever;  /* m, from the friction centre */
	struct lane8 weight; /* in the friction centre */
	struct lane8 height_a, height_b; /* m, of the arms along the normal, at the step's start */
};

/* m: the separation of a point that a manifold does not have, beside others that have it. */
#define SOFT_NOWHERE 1e9f

/* Eight manifolds of one colour: no two share a body that moves, unless `serial`. Unused lanes are
 * zero, and do nothing to body 0. */
struct soft_block {
	uint32_t body_a[BLOCK_LANES], body_b[BLOCK_LANES]; /* numbers of soft bodies */
	uint32_t contact
		[BLOCK_LANES]; /* number of the manifold (soft_cluster.h), DYNAMICS_NONE for none */
	uint8_t writes_a, writes_b; /* bit per lane: the body is dynamic */
	uint8_t point_count;	    /* of the lane that has most */
	bool serial;		    /* lanes share bodies: solved one lane after the other */
	bool bounces;		    /* some lane has restitution */
	bool spins;		    /* some lane's body does */
	bool slides;	/* arms have changed much since the step's start (soft_arms.c) */
	float residual; /* m/s, as the story of soft_step.c says; of the last pass */
	struct lane8x3 normal, tangent; /* the other tangent is normal × tangent */
	struct lane8 mass_inv_a, mass_inv_b;
	struct lane8 inertia_inv_a[6], inertia_inv_b[6];
	struct lane8 bias_rate, mass_scale, impulse_scale; /* softness */
	struct lane8 friction, restitution;
	struct lane8x3 drift; /* m/s, relative velocity of the mass centres at the step's start */
	struct lane8 follows; /* 1 where both are dynamic: arms change with the way between them */
	struct lane8 rounding_a,
		rounding_b; /* m, from the surface to what of it turns: a ball's radius */
	struct lane8 bend;  /* 1/m: the normal turns with the way between two balls; else 0 */
	struct lane8 calm, sway_a, sway_b; /* m²: what soft_arms.c calls much */
	struct lane8x3 arm_a, arm_b;	   /* from the mass centres to the friction centre */
	struct lane8 slip[2],
		spin_slip;	      /* m/s, rad/s: there, of the velocities at the step's start */
	struct lane8 tangent_mass[3]; /* inverse of the 2×2 block: 11 22 12 */
	struct lane8 twist_mass;
	struct lane8x3 twist_a, twist_b; /* I⁻¹ n */
	struct lane8 tangent_impulse[2], twist_impulse;
	struct lane8 tangent_total[2];
	struct lane8
		pushed; /* N s: the greatest normal impulse of any pass; above 0 something acted */
	struct soft_point points[MANIFOLD_POINTS_MAX];
};

/* How the arms of eight manifolds go with their bodies. A part of each turns with its body, a part along the
 * normal does not (a ball's radius); what then lies between the two ends is shared. */
struct soft_slide {
	struct lane8x3 normal; /* at the step's start */
	struct lane8 share;    /* 0 … 1: of what lies between, A's arm's part; the rest is B's */
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
	/* A manifold of one point does not wait for one of four beside it. */
	COLOUR_CLASSES = 3,
	COLOURS_MAX = COLOUR_BITS * COLOUR_ROUNDS + 1,
	GROUPS_MAX = COLOURS_MAX * COLOUR_CLASSES,
};

struct soft_step {
	struct step *step;
	struct dynamics *dynamics;
	double dt;
	uint32_t substeps;
	float h, h_inv;			     /* s of a sub-step, and 1/s */
	float push_speed, restitution_speed; /* m/s */
	double contact_hertz, contact_damping;
	float time;		   /* s since the step's start */
	struct soft_body *bodies;  /* body_count + 1; number 0 is the world */
	struct soft_drive *drives; /* the same */
	struct soft_turn *turns;   /* the same; of those that spin and are bound */
	const uint32_t *rows;	   /* of body i + 1, ascending */
	uint32_t body_count;
	struct soft_block *blocks;
	struct soft_slide *slides; /* of each block; of those that slide */
	uint32_t block_count;
	struct soft_colour *colours;
	uint32_t colour_count;
	struct soft_clusters clusters;
	struct soft_joints joints;
};

/* The most blocks that so many manifolds can need. */
uint64_t soft_blocks_max(uint64_t contacts);

/* soft_body.c: bodies and forces from the tables, through sub-steps, and back. Bodies without a
 * manifold are left alone between. */
void soft_prepare_bodies(struct soft_step *self);
void soft_prepare_turns(
	struct soft_step *self); /* after joints and colouring, which say who is bound */
/* Where a bound body has come to, `now` seconds from the step's start. */
struct body_motion soft_motion(const struct soft_step *self, uint32_t number, double now);
void soft_integrate_velocities(struct soft_step *self);
void soft_integrate_positions(struct soft_step *self);
void soft_store_bodies(struct soft_step *self);

/* soft_prepare.c: constraints from contacts, and their impulses back into the table. */
void soft_prepare_contacts(struct soft_step *self);
void soft_store_contacts(struct soft_step *self);

/* soft_arms.c: where contacts act, and how far they are open, as bodies move. */
/* Writes what follows from arms, normals and masses: arms of points stand in j_a and j_b. */
void soft_derive(struct soft_block *block);
/* Gaps after bodies have moved; arms, too, where they have changed much. */
void soft_measure(struct soft_step *self);

/* soft_colour.c: which manifold goes into which lane. */
void soft_colour(struct soft_step *self);

/* soft_solve.c: one sub-step's passes over all colours. */
void soft_warm_start(struct soft_step *self);
void soft_solve(struct soft_step *self);
void soft_relax(struct soft_step *self);
void soft_restitution(struct soft_step *self);
void soft_residual(struct soft_step *self);

#endif
