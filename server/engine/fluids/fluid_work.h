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
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_WORK_H
#define CAIRN_ENGINE_FLUIDS_FLUID_WORK_H

#include "server/base/array.h"
#include "server/engine/fluids/fluid.h"
#include "server/engine/fluids/fluid_boundary.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/integrate.h"

enum {
	FLUID_BLOCK = 256,
	FLUID_CROWD = 128,	   /* of a cell */
	FLUID_CROWD_LEAST = 16,	   /* where a group would have more than FLUID_PAIRS_MAX pairs */
	FLUID_PAIRS_MAX = 1 << 27, /* a gigabyte */
	FLUID_ROWS = 9,		   /* of three cells */
	FLUID_ROWS_MAX = 25,	   /* of five */
	FLUID_CELLS = 2,	   /* beyond the group's on each side */
	FLUID_NODES = 24,	   /* of a rim */
	FLUID_FOUND_MAX = 3 * FLUID_ROWS * FLUID_CROWD + 16,
	FLUID_PAIRS = 40, /* a place, of the room that each block has at first */
};

/* Work is counted in visits of a pair. A tick of a world has at most so much for all its fluids, some ten
 * seconds of one core, whatever substeps_max and the tolerance are: sub-steps and iterations beyond it are
 * left out and counted as `capped` and `unconverged`. A splash of 10⁶ particles takes a tenth of it. */
#define FLUID_WORK_MAX 8e9
/* Of a sub-step for each pair that two particles may have: search, forces and the fewest iterations. */
#define FLUID_WORK_SUBSTEP 16.0
/* Of an iteration for each pair. */
#define FLUID_WORK_ITERATION 2.0
/* Of surface tension for each particle near a rim and each of its nodes, and how many of these a
 * particle is expected to have. */
#define FLUID_WORK_NODE 0.25
#define FLUID_NODE_VISITS 1000.0

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

/* A neighbour: its place, and ∇W h⁴ at this particle by the vector from there in radii. The pairs of a
 * particle are at `starts` … `pair_ends` − 1, itself among them (whose vector is 0), by rows of cells, then
 * itself again until they are a multiple of four. */
struct fluid_pair {
	float scale;
	uint32_t place;
};
enum { FLUID_FOUR = 4, FLUID_EIGHT = 8 };

/* A place in radii of the kernel, a volume in their cubes. */
struct fluid_site {
	double x, y, z, volume;
};

/* A place in units of FLUID_QUANTUM, so that differences are exact, as floats too, and wrap for places far
 * apart; a volume (as above) times its pressure (Pa s). Iterations use these; what they lead to is computed
 * with doubles. */
struct fluid_spot {
	uint32_t x, y, z;
	float load;
};
#define FLUID_QUANTA 4194304.0			  /* of a radius */
#define FLUID_REACH 17592186044416.0f		  /* their square */
#define FLUID_QUANTUM ((float)(1 / FLUID_QUANTA)) /* radii */

/* A volume times its velocity, m/s; 0. */
struct fluid_flow {
	float at[4];
};

/* Of a particle: the slope of its density with walls, times the radius; its volume in cubes of radii. */
struct fluid_side {
	float slope[3], volume;
};

/* Its velocity before the pressures; the change of it by a unit of pressures' sum. */
struct fluid_speed {
	float v[3], yield;
};

/* A body near a particle. */
struct fluid_wall {
	double part;	 /* of the kernel that lies in the body */
	vec3 slope;	 /* G: the gradient of it, 1/m */
	double drag;	 /* the Laplacian of the viscosity kernel over the body, 1/m² */
	double spread;	 /* of fluid_half_spread */
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

/* Coordinates of spots by place, with room for FLUID_EIGHT more. */
struct fluid_near_x {
	const uint32_t *x, *y, *z;
};

/* The places of the 27 or 125 cells around one, by rows: `reach` is 1 or 2. The key is 0 at first. */
struct fluid_runs {
	uint64_t key;
	float squared; /* quanta: of what is found */
	uint32_t reach, first[FLUID_ROWS_MAX], last[FLUID_ROWS_MAX];
};

/* Keys of cells, ascending. */
struct fluid_keys {
	const uint64_t *items;
	uint32_t count;
};

/* A particle at a free surface: its nodes (fluid_tension.c); what these and walls do to it, by the
 * radius, and their torque by its square, later by an inertia. */
struct fluid_rim {
	uint32_t place, first, last;
	uint32_t packed; /* the first of its nodes without gaps */
	vec3 pull, turn;
};

/* Sites around a rim, in radii from it, with room for FLUID_EIGHT more. */
struct fluid_cloud {
	const float *x, *y, *z;
	const uint32_t *places;
	uint32_t count;
};

/* At a place in space, in radii: c = Σ V W, ∇c, Σ V W'/r, and Σ V (∇∇W − W'/r), its components xx, yy, zz,
 * xy, yz, zx. */
struct fluid_colour {
	double value, slope[3], round, bend[6];
};

/* A node of the area: its place in radii, and the slope of its energy, by the square of the
 * radius, by colour and its gradient. */
struct fluid_node {
	double at[3], rise, way[4];
};

/* What a step of the iteration reads and writes by place. */
struct fluid_iteration {
	const struct fluid_pair *pairs;
	const uint32_t *starts, *ends; /* of pairs, with those that fill up fours */
	const struct fluid_spot *spots;
	const struct fluid_side *sides;
	const struct fluid_speed *speeds;
	const float *pressures; /* Pa s */
	struct fluid_flow *flows;
};

/* Over neighbours j, V in cubes of radii: Σ V W h³, Σ w (∇W h⁴)², −Σ V r·∇W h³, Σ V ∇W h⁴. */
struct fluid_pair_sums {
	double density;
	float spread, trace, slope[3];
};

/* How the velocities around a particle turn, in m/s a radius, by its share (fluid_forces.c); the share. */
struct fluid_turn {
	double x, y, z, share;
};

/* Over neighbours j, w as for sum_slips, e the vector to j in radii: Σ w e × (v_j − v), its components z, x,
 * y; Σ w e e^T, its components xx, yy, zz, and xy, yz, zx. */
struct fluid_swirl {
	double zxy[4], squares[4], mixed[4];
};

/* What sums over differences of velocities read by place. */
struct fluid_slips {
	const struct fluid_site *sites;
	const struct fluid_turn *turns;
	const double *numbers;
	const vec3 *v;
};

/* The widest that the processor has (fluid_lanes.h). Pairs are counted with those that fill up fours. */
struct fluid_kernels {
	/* The places of runs that are near, ascending along each; how many. `out` has room for all and
	 * FLUID_EIGHT more. */
	uint32_t (*find_places)(const struct fluid_near_x *near, const struct fluid_runs *runs,
				const struct fluid_spot *own, uint32_t *out);
	/* Their pairs, and sums with a weight for each. `found` may be filled up to eights, `out` has room
	 * for these. */
	void (*fill_pairs)(const struct fluid_site *sites, const float *weights, uint32_t place,
			   uint32_t *found, uint32_t count, struct fluid_pair *out,
			   struct fluid_pair_sums *sums);
	/* The flows that pressures lead to, and the rates of densities by flows, times the radius. */
	void (*press_places)(const struct fluid_iteration *it, uint32_t first, uint32_t last);
	void (*rate_places)(const struct fluid_iteration *it, uint32_t first, uint32_t last,
			    float *rates);
	/* Σ (number_j + V_j number) ∇W h⁴. */
	vec3 (*sum_pushes)(const struct fluid_pair *pairs, uint32_t count,
			   const struct fluid_site *sites, const double *numbers, uint32_t place,
			   double number);
	/* With w = (number_j + V_j number) (1 − q). They load eight pairs and four numbers of v at once. */
	void (*sum_swirls)(const struct fluid_slips *slips, const struct fluid_pair *pairs,
			   uint32_t count, uint32_t place, double number, struct fluid_swirl *out);
	/* Σ w ((share_j + share) (v_j − v) − (turn_j + turn) × e). */
	vec3 (*sum_slips)(const struct fluid_slips *slips, const struct fluid_pair *pairs,
			  uint32_t count, uint32_t place, double number);
	/* The places of a cloud whose kernels reach a place, and some at their ends; `out` has room for
	 * FLUID_EIGHT more than the cloud. */
	uint32_t (*find_inside)(const struct fluid_cloud *cloud, const float at[3], uint32_t *out);
	/* The colour that they make, if its value is less than `most`, and otherwise that alone. `found` may
	 * be filled up to fours. */
	void (*sum_colour)(const struct fluid_site *sites, const double at[3], uint32_t *found,
			   uint32_t count, double most, struct fluid_colour *out);
	/* Adds what nodes do to a particle of volume 1. `found` may be filled up to fours. */
	void (*sum_pulls)(const struct fluid_node *nodes, const double at[3], uint32_t *found,
			  uint32_t count, double sum[3]);
};
/* Squared radii: where find_inside has an end. */
#define FLUID_INSIDE 1.00001f
extern const struct fluid_kernels fluid_kernels_1, fluid_kernels_4;
#if defined(__x86_64__)
extern const struct fluid_kernels fluid_kernels_8; /* needs AVX2 */
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
	double error, error_max;   /* Σ and maximum of excess density or divergence */
	double ee, ef, ff, re, rf; /* products of the iteration (fluid_solve.c) */
	double cut,
		step; /* Σ V D Δ², of what its step lost where pressures would be < 0; of the step */
	double visits; /* of particles by nodes: whole numbers, so their sum is exact */
	uint32_t inside, bad;
	bool dynamic, moves; /* a body that is near is so */
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
	double excess;	   /* mean, of density, that the last tick left */
	double work;	   /* visits of pairs that are left for this group */
	double pair_count; /* of the sub-step */
	double node_work;  /* of the last one, of surface tension */
	uint32_t substeps_max, substeps_left, mask;
	struct fluid_figures now; /* of the group */
	double bulk,
		thinning; /* Pa m³/kg: of the equation of state; part of the viscosities in force */
	bool is_viscous, has_tension;
	struct fluid_liquid liquids[SYSTEMS_MAX];
	uint32_t liquid_count;
	ARRAY_OF(struct fluid_point)
	points, points_before; /* in the order of places, of rows at first */
	ARRAY_OF(struct fluid_body) bodies;
	ARRAY_OF(uint32_t) body_of; /* by body row: index in bodies + 1, 0 none */
	/* By place. */
	ARRAY_OF(uint64_t) keys, key_scratch;
	ARRAY_OF(uint32_t) order, order_scratch; /* index in points_before */
	ARRAY_OF(vec3) x, v, gain;		 /* gain: Δv of the stage in hand */
	ARRAY_OF(double)
	mass, volume, density, pressure, diagonal, target, beyond, kept, load, course, effect,
		trial, trace; /* Σ V_j r·∇W with walls, negative: 3 for a fluid on all sides */
	ARRAY_OF(struct fluid_site) sites;
	ARRAY_OF(struct fluid_spot) spots;
	ARRAY_OF(struct fluid_flow) flows;
	ARRAY_OF(struct fluid_side) sides;
	ARRAY_OF(struct fluid_speed) speeds;
	ARRAY_OF(float)
	weights, pressures; /* V²/m: of the spread of slopes; Pa s: in the iteration */
	ARRAY_OF(uint32_t) near_x, near_y, near_z;
	ARRAY_OF(uint8_t) liquid;
	ARRAY_OF(uint32_t) starts, pair_ends; /* of pairs */
	ARRAY_OF(struct fluid_pair) pairs;
	ARRAY_OF(vec3) drift; /* m/s, of the places beside velocity */
	ARRAY_OF(struct fluid_turn) turns;
	ARRAY_OF(double)
	colour, edge;	     /* without walls: density, length of its slope times the radius */
	ARRAY_OF(vec3) pull; /* N, of surface tension */
	ARRAY_OF(uint32_t) rim_of; /* DYNAMICS_NONE: it is none */
	ARRAY_OF(struct fluid_rim) rims;
	ARRAY_OF(uint64_t) rim_keys;
	ARRAY_OF(struct fluid_node) nodes, packed; /* by rims, FLUID_NODES for each; without gaps */
	ARRAY_OF(uint32_t) node_x, node_y, node_z; /* of those without gaps, as of spots */
	ARRAY_OF(uint32_t) wall_starts, wall_ends;
	ARRAY_OF(struct fluid_wall) walls;
	/* By block. */
	ARRAY_OF(struct fluid_sum) sums;
	ARRAY_OF(uint32_t) near_starts, push_starts; /* and the ends */
	ARRAY_OF(uint32_t)
	part_starts, part_rooms, /* in pairs */
		part_counts; /* that a block has, filled up; beyond its room: it has none of the sort */
	ARRAY_OF(struct fluid_near_shape) near;
	ARRAY_OF(struct fluid_push) pushes;
	ARRAY_OF(uint32_t) found; /* placements */
	bool shift;		  /* the solution in hand moves particles, without velocity */
	bool refill;		  /* of blocks whose pairs had no room */
	bool still;		  /* and its pressures are all 0 */
	bool fresh;		  /* the course of the iteration begins */
	double alpha, beta;	  /* its step; what it keeps of the course */
	int64_t base[3];	  /* cell of the key 1 along each axis */
	uint32_t shifts[3];	  /* of each axis in a key */
	uint32_t crowd;		  /* of a cell, in this sub-step */
	uint32_t loose;		  /* places that are not crowded: these come last */
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

/* Keeps runs up with a key, which only grows. */
void fluid_move_runs(const struct fluid_work *self, const struct fluid_keys *keys, uint64_t key,
		     struct fluid_runs *runs);

/* ---- fluid_tension.c ----------------------------------------------------------------------------- */

/* What surface tension does to each place (`pull`) and gives bodies. NO_MEMORY. */
MUST_CHECK enum status fluid_stretch(struct fluid_work *self);

/* ---- fluid_solve.c ------------------------------------------------------------------------------- */

/* Changes velocities until densities after the sub-step (or, with self->divergence, their rates) are
 * at most those wanted. */
void fluid_solve(struct fluid_work *self);
/* Pressures of the equation of state, and what they do in a sub-step. */
void fluid_press(struct fluid_work *self);

/* ---- fluid_forces.c ------------------------------------------------------------------------------ */

/* Gravity, fields, drag, viscosity, and what surface tension does over a sub-step. */
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

/* The pairs of a place, with those that fill up a four. */
static inline const struct fluid_pair *fluid_pairs(const struct fluid_work *self, uint32_t place,
						   uint32_t *count)
{
	uint32_t start = self->starts.items[place];
	*count = self->pair_ends.items[place] - start;
	return &self->pairs.items[start];
}

/* What the floats of the iteration hold of a pressure (Pa s). */
#define FLUID_LOAD_MAX 1e25
struct fluid_trial {
	const struct fluid_site *sites;
	struct fluid_spot *spots;
	float *pressures;
};

static inline struct fluid_trial fluid_trial_of(const struct fluid_work *self)
{
	return (struct fluid_trial){ self->sites.items, self->spots.items, self->pressures.items };
}

/* Only for the iteration. */
static inline void fluid_try_load(const struct fluid_trial *trial, uint32_t place, double pressure)
{
	double load = trial->sites[place].volume * pressure;
	trial->spots[place].load = (float)scalar_clamp(load, -FLUID_LOAD_MAX, FLUID_LOAD_MAX);
	trial->pressures[place] = (float)scalar_clamp(pressure, -FLUID_LOAD_MAX, FLUID_LOAD_MAX);
}

static inline void fluid_set_load(struct fluid_work *self, uint32_t place, double pressure)
{
	const struct fluid_trial trial = fluid_trial_of(self);
	self->load.items[place] = self->sites.items[place].volume * pressure;
	fluid_try_load(&trial, place, pressure);
}

#endif
