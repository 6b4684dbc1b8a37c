/* soft_step.h: what the files of the soft-step method share; soft_step.c tells the story. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_STEP_H
#define CAIRN_ENGINE_METHODS_SOFT_STEP_H

#include "server/engine/dynamics/step.h"
#include "server/engine/math/sym3f.h"
#include "server/engine/methods/soft_lanes.h"

/* A body as the solver sees it, relative to the step's start: one cache line. Number 0 is the world
 * (static, inactive or sleeping): it never moves and is never written. */
struct soft_body {
	_Alignas(64) lanes velocity; /* x y z, m/s, of the mass centre */
	lanes spin;	/* x y z, rad/s, world axes */
	lanes shift;	/* x y z, m, since the step's start */
	lanes turn;	/* x y z w: unit quaternion since the step's start */
};

/* What moves a body besides contacts, and what the solver reads of it once. */
struct soft_drive {
	bool dynamic;  /* else animated: it moves as it was told */
	bool gyroscopic; /* its inertia is not the same about all axes */
	lanes acceleration; /* m/s² */
	lanes spin_acceleration; /* rad/s², world axes at the step's start */
	float keep, spin_keep; /* 1: factor of damping per sub-step */
	float mass_inv;
	sym3f inertia_inv; /* world axes at the step's start */
	/* For the gyroscopic torque, in body axes. */
	sym3f inertia;
	lanes rotation; /* x y z w at the step's start */
};

/* One point of eight manifolds. J is arm × normal; I⁻¹J what a unit impulse does to the spin. */
struct soft_point {
	struct lane8x3 j_a, j_b, spin_a, spin_b;
	struct lane8 separation; /* m at the step's start */
	struct lane8 mass;	 /* kg, 1 / (n M⁻¹ nᵀ) */
	struct lane8 impulse;	 /* N s of this sub-step; what the next one begins with */
	struct lane8 total;	 /* N s over the step */
	struct lane8 approach;	 /* m/s, relative normal speed at the step's start */
	struct lane8 lever;	 /* m, from the friction centre */
};

/* Eight manifolds of one colour: no two share a body that moves, unless `serial`. Unused lanes are
 * zero, and do nothing to body 0. */
struct soft_block {
	uint32_t body_a[BLOCK_LANES], body_b[BLOCK_LANES]; /* numbers of soft bodies */
	uint32_t contact[BLOCK_LANES]; /* index into the step's contacts, DYNAMICS_NONE for none */
	uint8_t writes_a, writes_b; /* bit per lane: the body is dynamic */
	uint8_t point_count;	    /* of the lane that has most */
	bool serial;		    /* lanes share bodies: solved one lane after the other */
	bool bounces;		    /* some lane has restitution */
	float residual;		    /* m/s, as the story of soft_step.c says; of the last pass */
	struct lane8x3 normal, tangent; /* the other tangent is normal × tangent */
	struct lane8 mass_inv_a, mass_inv_b;
	struct lane8 inertia_inv_a[6], inertia_inv_b[6];
	struct lane8 bias_rate, mass_scale, impulse_scale; /* softness */
	struct lane8 static_friction, dynamic_friction, restitution;
	struct lane8x3 arm_a, arm_b; /* from the mass centres to the friction centre */
	struct lane8 tangent_mass[3]; /* inverse of the 2×2 block: 11 22 12 */
	struct lane8 twist_mass;
	struct lane8x3 twist_a, twist_b; /* I⁻¹ n */
	struct lane8 tangent_impulse[2], twist_impulse;
	struct lane8 tangent_total[2];
	struct soft_point points[MANIFOLD_POINTS_MAX];
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
	float h, h_inv; /* s of a sub-step, and 1/s */
	float push_speed, restitution_speed; /* m/s */
	double contact_hertz, contact_damping;
	bool planar;
	struct soft_body *bodies; /* body_count + 1; number 0 is the world */
	struct soft_drive *drives; /* of body i + 1 */
	const uint32_t *rows; /* of body i + 1, ascending */
	uint32_t body_count;
	struct soft_block *blocks;
	uint32_t block_count;
	struct soft_colour *colours;
	uint32_t colour_count;
};

/* The most blocks that so many manifolds can need. */
uint64_t soft_blocks_max(uint64_t contacts);

/* soft_body.c: bodies and forces from the tables, and bodies back. */
void soft_prepare_bodies(struct soft_step *self);
void soft_integrate_velocities(struct soft_step *self);
void soft_integrate_positions(struct soft_step *self);
void soft_store_bodies(struct soft_step *self);

/* soft_prepare.c: constraints from contacts, and their impulses back into the table. */
void soft_prepare_contacts(struct soft_step *self);
void soft_store_contacts(struct soft_step *self);

/* soft_colour.c: which manifold goes into which lane. */
void soft_colour(struct soft_step *self);

/* soft_solve.c: one sub-step's passes over all colours. */
void soft_warm_start(struct soft_step *self);
void soft_solve(struct soft_step *self);
void soft_relax(struct soft_step *self);
void soft_restitution(struct soft_step *self);
void soft_residual(struct soft_step *self);

#endif
