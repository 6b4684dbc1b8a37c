/* fluid_work.h: the data of a fluid during a tick, shared by the files fluid*.c.
 *
 * Systems with the same kernel radius and solver are one fluid: a group. Its particles are sorted by
 * cells at each sub-step, equal cells in the order of rows, so that every sum has one order. All
 * arrays "by place" are in that order. Blocks of FLUID_BLOCK places are work for one thread; sums
 * over places are sums over blocks in the order of blocks, so no bit depends on workers.
 *
 * In terms of volumes V = m/ρ0: the relative density of a particle is
 *
 *   δ_i = Σ_j V_j W(x_i − x_j) + Σ_B ∫_B W(x_i − y) dy,     j = i included (P-46, P-48)
 *
 * and its rate of change dδ_i/dt = Σ_j V_j (v_i − v_j)·∇W + Σ_B (v_i − v_B(x_i))·G_iB. A body B acts
 * through its integral over the kernel and the slope of that, G_iB (fluid_boundary.h). All forces
 * between particle and body act along lines through the particle, so a body's velocity counts at
 * the particle's place, and its torque is that of the force there. */
#ifndef CAIRN_ENGINE_DYNAMICS_FLUID_WORK_H
#define CAIRN_ENGINE_DYNAMICS_FLUID_WORK_H

#include "server/base/array.h"
#include "server/engine/fluids/fluid.h"
#include "server/engine/fluids/fluid_boundary.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/integrate.h"

enum {
	FLUID_BLOCK = 256,
	FLUID_CROWD = 128, /* of a cell */
	FLUID_ROWS = 9,
	FLUID_FOUND_MAX = 3 * FLUID_ROWS * (FLUID_CROWD + 1),
};
/* A particle of the group, in the order of rows. */
struct fluid_point {
	vec3 x, v;
	double mass, volume; /* kg, m³ */
	double multiplier;   /* Pa, of the last solution */
	double pressure;     /* Pa, after it */
	double density;	     /* relative */
	uint32_t row, liquid;
};

/* A system of the group. */
struct fluid_liquid {
	uint32_t row, fluid; /* rows of the tables system and fluid */
	double rest_density, viscosity, wall_viscosity, tension, stiffness;
	struct particle_law law; /* of a sub-step */
};

/* A neighbour: its place, and ∇W at this particle. */
struct fluid_pair {
	float slope[3];
	uint32_t place;
};

/* A body near a particle. */
struct fluid_wall {
	double part;	 /* of the kernel that lies in the body */
	vec3 slope;	 /* G: the gradient of it, 1/m */
	double drag;	 /* the Laplacian of the viscosity kernel over the body, 1/m² */
	vec3 surface;	 /* m/s, against the body: of a belt */
	double distance; /* m, of its surface; < 0 inside */
	uint32_t body, sum;
};

/* A body as the group sees it in a sub-step. */
struct fluid_body {
	uint32_t row;
	bool dynamic; /* it gets impulses */
	bool touched; /* by the fluid, in this tick */
	bool moves;   /* it is not at rest for good */
	pose at;      /* of its origin */
	vec3 centre, velocity, spin;
	vec3 acceleration, turning; /* without the fluid, from its last tick */
	double mass_inv;
	mat3 inertia_inv;
	vec3 push, twist;	  /* N s, N m s: of the solution in hand */
	vec3 push_sum, twist_sum; /* of the tick */
	double reach;		  /* m: how far its points may move in the tick */
	double stiffness;	  /* Σ V |G| of its walls, for the step of the iteration */
};

/* A volume times its velocity, in a quarter of a line of the cache. */
struct fluid_flow {
	vec3 v;
	double unused;
};

/* Coordinates by place for the search of neighbours; crowded places have none (NaN). */
struct fluid_near_x {
	const double *x, *y, *z;
};

/* The widest that the processor has (fluid_lanes.h). */
struct fluid_kernels {
	vec3 (*sum_loads)(const struct fluid_pair *pairs, uint32_t count, const double *load);
	double (*sum_flows)(const struct fluid_pair *pairs, uint32_t count,
			    const struct fluid_flow *flow);
	uint32_t (*find_places)(const struct fluid_near_x *near, uint32_t first, uint32_t last,
				vec3 at, double reach, uint32_t *out);
};
extern const struct fluid_kernels fluid_kernels_1, fluid_kernels_2;
#if defined(__x86_64__)
extern const struct fluid_kernels fluid_kernels_4; /* needs AVX2 */
#endif
const struct fluid_kernels *fluid_kernels_choose(void);

/* What a block gives a body. */
struct fluid_push {
	uint32_t body;
	vec3 push, twist;
	double stiffness;
};

/* A row of the particle table after the tick. */
struct fluid_end {
	struct particle_end way;
	double density, pressure, multiplier;
	bool gone; /* it dies in this tick */
};

/* Sums of a block. */
struct fluid_sum {
	double error, error_max; /* Σ and maximum of excess density or divergence */
	double way, both,
		fall; /* Σ V D Δp², Σ V Δp Δr, Σ V Δr²/D of the last step of the iteration */
	uint32_t inside;
};

/* A shape near a block; `category` of its piece, all bits for the walls of the world. */
struct fluid_near_shape {
	uint32_t placement, body, category,
		push; /* push: in pushes, DYNAMICS_NONE for a body that gets none */
	pose at;
	vec3 surface;	 /* m/s, against the body: of a belt */
	struct aabb box; /* that it does not leave in the tick */
};

/* Of a system, for the table. */
struct fluid_figures {
	uint32_t substeps, iterations, unconverged, capped, inside, crowded, bad, unsampled, coarse;
	double density_error, density_error_max, residual, divergence_error, speed_max;
};

struct fluid_work {
	/* The tick. */
	struct dynamics *dynamics;
	struct fluid_boundary boundary;
	const struct fluid_kernels *kernels;
	double dt, step; /* s: of the tick, of a sub-step */
	struct particle_motion *motion;
	/* The group. */
	enum fluid_solver solver;
	double radius; /* m: of the kernel */
	double tolerance, compression, speed, step_ratio;
	double excess; /* mean, of density, that the last tick left */
	uint32_t substeps_max, mask;
	struct fluid_figures now; /* of the group */
	double bulk,
		thinning; /* Pa m³/kg: of the equation of state; part of the viscosities in force */
	bool is_viscous;
	struct fluid_liquid liquids[SYSTEMS_MAX];
	uint32_t liquid_count;
	ARRAY_OF(struct fluid_point) points;
	ARRAY_OF(struct fluid_body) bodies;
	ARRAY_OF(uint32_t) body_of; /* by body row: index in bodies + 1, 0 none */
	/* By place. */
	ARRAY_OF(uint64_t) keys, key_scratch;
	ARRAY_OF(uint32_t) order, order_scratch; /* index in points */
	ARRAY_OF(vec3) x, v, gain;		 /* gain: Δv of the stage in hand */
	ARRAY_OF(double)
	mass, volume, density, pressure, diagonal, target, beyond, kept, load, pressure_before,
		trace; /* Σ V_j r·∇W with walls, negative: 3 for a fluid on all sides */
	ARRAY_OF(double) near_x, near_y, near_z;
	ARRAY_OF(uint8_t) liquid;
	ARRAY_OF(uint32_t) starts; /* of pairs, and the end */
	ARRAY_OF(struct fluid_pair) pairs;
	ARRAY_OF(vec3) slope, drift; /* Σ V_j ∇W; m/s, of the places beside velocity */
	ARRAY_OF(vec3) normal;	     /* inwards, by parts of 1: where there is a free surface */
	ARRAY_OF(struct fluid_flow) flow;
	ARRAY_OF(uint32_t)
	wall_starts, wall_ends; /* of walls, and the end; of those that are touched */
	ARRAY_OF(struct fluid_wall) walls;
	/* By block. */
	ARRAY_OF(struct fluid_sum) sums;
	ARRAY_OF(uint32_t) near_starts, push_starts; /* and the ends */
	ARRAY_OF(struct fluid_near_shape) near;
	ARRAY_OF(struct fluid_push) pushes;
	ARRAY_OF(uint32_t) found; /* placements */
	bool shift;		  /* the solution in hand moves particles, without velocity */
	int64_t base[3];	  /* cell of the key 1 along each axis */
	double most_reach;	  /* m: of bodies */
	bool first;		  /* sub-step of the tick */
	/* Of the whole tick. */
	ARRAY_OF(struct fluid_end) results; /* by row of the particle table as the tick began */
	ARRAY_OF(struct particle_end) ends; /* by row, without those that died */
	ARRAY_OF(struct fluid_load) loads, loads_before;
	struct fluid_figures figures[SYSTEMS_MAX]; /* by row of the table system */
	bool prepared;
};

/* ---- fluid_near.c -------------------------------------------------------------------------------- */

/* Sorts the points, finds neighbours and walls, and computes densities. NO_MEMORY. */
MUST_CHECK enum status fluid_find_near(struct fluid_work *self);
/* The bodies that the group may meet in the tick. NO_MEMORY. */
MUST_CHECK enum status fluid_find_bodies(struct fluid_work *self);

/* ---- fluid_solve.c ------------------------------------------------------------------------------- */

/* Changes velocities until densities after the sub-step (or, with self->divergence, their rates) are
 * at most those wanted. */
void fluid_solve(struct fluid_work *self);
/* Pressures of the equation of state, and what they do in a sub-step. */
void fluid_press(struct fluid_work *self);

/* ---- fluid_forces.c ------------------------------------------------------------------------------ */

/* Gravity, fields, drag, viscosity, surface tension over a sub-step. */
void fluid_force(struct fluid_work *self);

/* ---- fluid_body.c -------------------------------------------------------------------------------- */

/* Sums what blocks give bodies, in the order of blocks, into push and twist. */
void fluid_collect(struct fluid_work *self);
/* Gives bodies their push and twist. */
void fluid_give(struct fluid_work *self);
/* Moves the bodies over a sub-step. */
void fluid_move_bodies(struct fluid_work *self);
/* The velocity of a body at a place, with what the solution in hand gives it. */
vec3 fluid_body_velocity(const struct fluid_body *body, vec3 at);
/* Runs `piece` over all blocks. */
void fluid_run(struct fluid_work *self, parallel_piece *piece);

static inline uint32_t fluid_blocks(const struct fluid_work *self)
{
	return (self->points.count + FLUID_BLOCK - 1) / FLUID_BLOCK;
}

/* The places first … last − 1 of a block. */
static inline uint32_t fluid_block_end(const struct fluid_work *self, uint32_t block)
{
	return MIN_OF((block + 1) * FLUID_BLOCK, self->points.count);
}

static inline vec3 fluid_slope(const struct fluid_pair *pair)
{
	return vec3_make(pair->slope[0], pair->slope[1], pair->slope[2]);
}

#endif
