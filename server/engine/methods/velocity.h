/* velocity.h: one step, its islands, rows and joints, shared by the exact velocity methods. velocity.c
 * describes the method. Private to server/engine/methods.
 *
 * Two states occur everywhere below. The *beginning* is the state x of the bodies before the step; the
 * *end* is x', where the step's motion has brought them. Each has its own constraints and rows.
 */
#ifndef CAIRN_ENGINE_METHODS_VELOCITY_H
#define CAIRN_ENGINE_METHODS_VELOCITY_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/islands.h"
#include "server/engine/dynamics/row_system.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/dynamics/tree_mass.h"
#include "server/engine/solvers/solver.h"
#include "server/engine/world/command.h"

/* How the least change of velocity that satisfies all rows is found: two statements of one problem,
 * primal and dual (papers C-07). */
enum velocity_core {
	VELOCITY_LCP,	     /* the dual: multipliers that push and never pull */
	VELOCITY_PROJECTION, /* the primal: the nearest velocity in the metric of mass */
};

/* The properties in which velocity methods differ. */
struct velocity_method {
	enum velocity_core core;
	bool reflects; /* impacts by generalized reflections; else by Newton's law */
	bool friction;
};

/* Which islands have their joints' locked axes in the mass operator (tree_mass.h), not as rows. */
enum velocity_articulated {
	VELOCITY_MAXIMAL, /* none */
	VELOCITY_AUTO,	  /* trees of few rows beside these (articulated.rows) */
	VELOCITY_REDUCED, /* all that can */
};

/* One step's settings, from parameters. */
struct velocity_settings {
	struct velocity_method method;
	enum velocity_articulated articulated;
	uint32_t articulated_rows;
	bool accelerations;  /* velocity_state and velocity_state_moved state rows at that level */
	bool printed;	     /* polygon contacts as the source prints them (velocity_printed.c) */
	uint32_t dense_rows; /* islands of at most this many rows are solved dense */
	/* Rounds of the projection's friction, each bounded by the last one's normal impulses; 0: none. */
	uint32_t friction_rounds;
	uint32_t rounds_max; /* of reflections; the rest of an impact then ends inelastically */
	uint32_t
		solver_rounds; /* of the sparse solver with friction, before its fallback; 0: its own */
	double solver_coarse; /* 1: its option `coarse` */
	/* Islands with friction of at most this many rows (and of dense_rows) are solved dense; 0: as many as
	 * is faster for problems that the last step's solution nearly solves. */
	uint32_t friction_rows;
	/* Solutions after the compliant one of rows that have none or are too dependent, each without the
	 * compliance's force at the one before: they lead to rigid rows. */
	uint32_t proximal_rounds;
	double tolerance;	 /* 1: of the solvers, where rows have no noise; 0: their default */
	double push_speed;	 /* m/s, greatest speed at which penetration is removed */
	double joint_push_speed; /* m/s, rad/s: the same of locked axes that are off; 0: in one step */
	bool exact_work;	 /* forces work along the way that bodies go */
	double joint_tolerance;	  /* m, rad: errors of joints' rows up to this are not corrected */
	double restitution_speed; /* m/s, slower approaches do not bounce */
};

/* Statistics of one island's solution, merged in the order of islands. */
struct velocity_outcome {
	double residual;  /* m/s: the worst violation of a row */
	double push_work; /* J that the correction of positions did against forces, at least 0 */
	uint32_t iterations, fallbacks;
	uint32_t dead_ends; /* of the fallbacks: contacts without consistent accelerations */
	bool solved, dense;
	bool dependent; /* active rows are dependent: their impulses are one choice of many */
	bool pushed;	/* penetration was removed */
	bool free;	/* no row acts, and bodies take their free paths */
	bool impact;	/* a contact or limit bounces: the island is solved again at the end */
	bool reduced;	/* joints of the island are part of its mass operator */
	bool maximal; /* it has joints, and the settings ask for that, but its structure does not suit */
};

/* Impulse of a contact point, N·s: along the normal and the two tangents of row_frame. */
struct velocity_impulse {
	double normal, tangent[2];
};

/* m, rad: errors of a joint's positions at the end of a motion up to these are not corrected. */
struct velocity_depth {
	double lock, limit;
};

struct velocity_step {
	struct step *step;
	struct velocity_settings settings;
	/* By slot. */
	struct mass_body *masses,
		*masses_end; /* at the rotations of the beginning and of the end */
	struct body_start *starts;
	bool *constrained;	/* some constraint involves the body */
	struct spatial *before; /* velocities v of the beginning */
	struct spatial *forced; /* v*: after forces, without contact */
	/* As forced; of an island with joints and an impact: v* as the joints alone change it. */
	struct spatial *arriving;
	struct spatial *moving; /* v_m, with which bodies move: it violates no row at the end */
	struct spatial *after;	/* v', of the end: as moving except for impacts */
	/* d, of the correction of positions: it moves bodies and gives no velocity. */
	struct spatial *push;
	struct spatial *force;		     /* N, N·m, for the work of corrections */
	struct body_motion *start, *motions; /* of the beginning and of the end */
	struct mass_operator mass;
	/* Constraints and their rows, of the beginning or of the end. */
	const struct body_motion *at; /* motions of that state, by slot; NULL: the beginning */
	struct contact_list *list;
	/* One of each contact that has points and a movable body, or one a point; then one a joint. */
	struct constraint *constraints;
	uint32_t *contact_of; /* by constraint: its contact in the list; ascending */
	uint32_t constraint_count, contact_count; /* all; those of contacts */
	struct step_joints joints;
	/* By joint: impulses of this step so far. Until velocity_joints_finish_results a torque is
	 * about b's anchor where it acted. */
	struct joint_result *joint_results;
	struct velocity_depth *joint_depths; /* by joint, from velocity_joints_project on */
	/* The state of the end that velocity_joints_project leaves, if nothing moved after it was made. */
	const struct velocity_step *settled;
	struct row_list rows;
	uint32_t *first_block; /* by constraint, and one more; ascending */
	struct islands islands;
	bool islands_made; /* of these constraints, before their rows */
	bool instant;	   /* no time passes: springs do nothing (collisions of `impact`) */
	struct velocity_outcome *outcomes; /* by island */
	struct velocity_outcome
		*end_outcomes; /* by island, of its joints at the end; NULL without joints */
	const struct velocity_outcome *impact_outcomes; /* by island of the end */
	uint32_t impact_count;
	struct velocity_impulse *impulses; /* by block */
	/* By slot: enum body_integrator, the same in all of an island; NULL: automatic. */
	const uint8_t *integrator;
	const struct velocity_trees *trees; /* NULL: locked axes of all joints are rows */
};

/* Whether the constraints are those of the beginning. */
static inline bool velocity_is_beginning(const struct velocity_step *self)
{
	return self->at == NULL || self->at == self->start;
}

/* Whether the island moves by implicit Euler. */
static inline bool velocity_is_implicit(const struct velocity_step *self,
					const struct island *island)
{
	return self->integrator != NULL &&
	       self->integrator[island->slots[0]] == INTEGRATOR_IMPLICIT_EULER;
}
/* Whether all of its change of velocity by forces comes with the motion, and none after it. */
static inline bool velocity_is_whole(const struct velocity_step *self, const struct island *island)
{
	return self->integrator != NULL &&
	       self->integrator[island->slots[0]] != INTEGRATOR_AUTOMATIC;
}

/* ---- velocity.c: arrays by slot */

/* Takes the arrays by slot for `count` bodies from an arena: not filled. NO_MEMORY. */
MUST_CHECK enum status velocity_take_bodies(struct velocity_step *self, struct arena *arena,
					    uint32_t count);
/* Takes the arrays by slot from the step's scratch and fills `start` (by slot, borrowed), masses, forces and
 * velocities of the beginning. NO_MEMORY. */
MUST_CHECK enum status velocity_prepare_bodies(struct velocity_step *self,
					       struct body_motion *start);
/* Moves bodies by `moving` and `push` into `motions`; a body without constraints takes its free path. */
void velocity_move_bodies(struct velocity_step *self, const struct body_motion *start);
/* Fills `constrained` from the constraints. */
void velocity_mark_constrained(struct velocity_step *self);

/* ---- velocity_rows.c: contacts as constraints and rows */

/* Fills the constraints of the list's contacts and of the step's joints at `motions` (by slot, borrowed;
 * NULL: the beginning), and their rows at velocity level, in the step's scratch. NO_MEMORY. */
MUST_CHECK enum status velocity_state(struct velocity_step *self, struct contact_list *list,
				      const struct body_motion *motions);
/* The islands of the constraints, if they are not made yet. NO_MEMORY. */
MUST_CHECK enum status velocity_islands(struct velocity_step *self);
/* Makes the rows of the same constraints anew at `motions` (by slot, borrowed). NO_MEMORY. */
MUST_CHECK enum status velocity_state_moved(struct velocity_step *self,
					    const struct body_motion *motions);
/* Makes the rows of the constraints and `first_block` at `motions`, with impulses 0. `moved`: the contacts
 * were found elsewhere than at `motions`. NO_MEMORY. */
MUST_CHECK enum status velocity_rows(struct velocity_step *self, const struct body_motion *motions,
				     bool moved, enum constraint_level level);
/* Translates a contact whose bodies have these motions into the form that constraint_contact reads; `points`
 * has room for its points. */
void velocity_find_contact(const struct velocity_step *self, const struct contact_state *contact,
			   struct body_motion a, struct body_motion b, struct contact_found *out,
			   struct contact_found_point *points);
/* What the normal turns with and the surfaces' radii; `fixed_a`, `fixed_b`: bodies that cannot move. `by`:
 * a corner of the contact, of which the normal and the point are not read; NULL: not looked for. Where it
 * names no feature, it is a body: the fixed one, or one whose surface is not round, because impulses along
 * a normal that turns with neither body would not conserve angular momentum. */
void velocity_find_turning(const struct velocity_step *self, const struct contact_state *contact,
			   bool fixed_a, bool fixed_b, const struct contact_corner *by,
			   struct contact_found *out);
/* Appends the constraint of contact `index` of the list between these slots; indices ascend. `found` is
 * borrowed. */
void velocity_add_contact(struct velocity_step *self, uint32_t index,
			  const struct contact_found *found, uint32_t slot_a, uint32_t slot_b);
/* Appends the rows of constraint `index` < constraint_count at these motions (by slot; NULL: the
 * beginning). */
void velocity_constraint_rows(const struct velocity_step *self, uint32_t index,
			      const struct body_motion *motions, struct row_list *out);
/* The same rows for a reader of their gaps and J: those of contacts have no speeds and rates. */
void velocity_constraint_gaps(const struct velocity_step *self, uint32_t index,
			      const struct body_motion *motions, struct row_list *out);

/* Blocks first … last-1 of the state's rows belong to contact `index` of its list; none if first =
 * last. */
void velocity_blocks_of(const struct velocity_step *self, uint32_t index, uint32_t *first,
			uint32_t *last);

/* ---- velocity_printed.c: polygon contacts as the source prints them */

/* Whether velocity_find_printed replaces the contact's manifold: velocity.printed is set and both
 * shapes are polygons. */
bool velocity_is_printed(const struct velocity_step *self, const struct contact_state *contact);
/* The most contacts that velocity_find_printed writes for it. */
uint32_t velocity_printed_max(const struct velocity_step *self,
			      const struct contact_state *contact);
/* Writes the touching vertex-edge pairs of both polygons into `out`, each with one point from `points`
 * and everything else as in `like`; both arrays have room for velocity_printed_max. Returns their
 * number. */
uint32_t velocity_find_printed(const struct velocity_step *self,
			       const struct contact_state *contact,
			       const struct contact_found *like, struct contact_found *out,
			       struct contact_found_point *points);

/* ---- velocity_island.c: one island's system, and its solution */

/* m. A penetration up to this depth is not corrected, because it is rounding. Larger: bodies sink by as
 * much; smaller: every contact at rest is pushed in every step, which wakes and heats piles. */
#define VELOCITY_DEPTH 1e-9

/* Purpose of a joint's row. */
enum velocity_role {
	VELOCITY_LOCK,	/* locked axis: w = 0 */
	VELOCITY_LIMIT, /* as a contact without friction */
	VELOCITY_SPRING,
	VELOCITY_RATE,	   /* velocity motor */
	VELOCITY_POSITION, /* position motor */
	VELOCITY_FRICTION, /* dry friction */
	VELOCITY_ROTOR,	   /* armature: its speed is that of its axis */
	VELOCITY_TAUT,	   /* stiffness of a taut line across itself */
};

/* Properties of a joint's row that solvers need in addition to its constraint_row. */
struct velocity_joint_row {
	uint32_t joint;	     /* index into the step's joints */
	uint8_t place;	     /* index into the joint's multipliers, < JOINT_PLACES */
	uint8_t role;	     /* enum velocity_role */
	double lower, upper; /* N·s */
	double soft;	     /* (m/s)/(N·s): w = J v + soft λ + … */
	double pull;	     /* m/s: term of w by a spring's extension, or by a rotor's speed */
	double curvature;    /* m/s: mean speed of its coordinate in the motion, less J v */
	uint32_t of;	     /* of TAUT: the island's row whose impulse is the tension */
	double per;	     /* of TAUT: 1/m or m; stiffness for a unit of tension */
};

/* Rows of one island as solvers see them: of each contact block its normal, then its tangents if it has
 * friction; then the joints' rows; then those of taut lines. */
struct velocity_island {
	const struct velocity_step *step;
	const struct island *island;
	struct arena *arena;
	struct row_system system;
	struct constraint_row *rows; /* by row of the island */
	uint32_t *block;	     /* by row: its block in the step's list */
	uint8_t *place; /* by row: its index in the block; of a contact 0 is the normal */
	double (*turned)
		[2]; /* by row: of tangents, cosine and sine of the angle by which both were rotated */
	uint32_t count;
	uint32_t contact_rows; /* rows below this index are contacts' */
	uint32_t taut_from;    /* rows from this index on are of taut lines */
	struct velocity_joint_row
		*joints;	    /* by row − contact_rows; NULL: the island has no joints */
	double noise;		    /* m/s: rounding error of joints' rows; 0 without joints */
	double tolerance;	    /* 1, of solvers; 0: their default */
	struct mass_operator mass;  /* the step's, or that of the island's trees */
	struct velocity_tree *tree; /* NULL: locked axes are rows */
	struct velocity_rank
		*rank; /* NULL: no locked axis depends on others, or that is not known */
	double *a;     /* dense: count × count; NULL: sparse */
	struct velocity_outcome *outcome;
};

/* One problem over an island's rows: find x within its bounds with w = A x + b complementary. */
struct velocity_problem {
	const bool *selected; /* by row; NULL: all rows */
	const double *b;      /* by row: w = A x + b, m/s */
	double *x; /* by row, N·s: in, the warm start; out, the solution, 0 for rows not included */
};

/* Bounds of a row's multiplier, N·s; lower ≤ upper. */
struct velocity_bounds {
	double lower, upper;
	double friction; /* of a tangent: μ ≥ 0, the dynamic one if it slides as the step begins */
	uint8_t kind;	 /* enum friction_row */
};
struct velocity_bounds velocity_row_bounds(const struct velocity_island *self, uint32_t i);
/* Compliance of row i, (m/s)/(N·s): it is added to the row's diagonal in A. */
static inline double velocity_row_soft(const struct velocity_island *self, uint32_t i)
{
	return i < self->contact_rows ? 0 : self->joints[i - self->contact_rows].soft;
}
/* The part along contact row i of an impulse with these components in row_frame. */
static inline double velocity_row_impulse(const struct velocity_island *self, uint32_t i,
					  double normal, double t, double k)
{
	double c = self->turned[i][0], s = self->turned[i][1];
	VALIDATE(i < self->contact_rows && self->place[i] < 3);
	return self->place[i] == 0 ? normal : self->place[i] == 1 ? c * t + s * k : c * k - s * t;
}
/* Adds share × x of the contacts' rows to the impulses of their blocks, in row_frame. */
void velocity_add_impulses(const struct velocity_island *self, const double *x, double share);
/* Whether row i is part of the problem: it is selected, its bounds differ, and it is no tangent without
 * friction (whose multiplier is 0). */
bool velocity_row_included(const struct velocity_island *self,
			   const struct velocity_problem *problem, uint32_t i);

/* Makes island `index` of the step in `arena`: rows, with tangents rotated so that the first points
 * along the slip without friction; joints' rows; the system, dense where the island is small.
 * NO_MEMORY. */
MUST_CHECK enum status velocity_island_make(struct velocity_island *self,
					    const struct velocity_step *step, uint32_t index,
					    struct arena *arena);
/* The responses of the island's rows to its mass operator, once more after that changed. NO_MEMORY. */
MUST_CHECK enum status velocity_island_respond(struct velocity_island *self);
/* Moves the island's bodies for the step with impulses x, into `after` and `motions` of the step. */
void velocity_island_move(const struct velocity_island *self, const double *x);
/* The matrices of the projection, in the island's arena: M over the coordinates of movable bodies
 * (count²), and J over them, one line a row. */
struct velocity_coordinates {
	uint32_t count;
	double *mass, *rows;
};
MUST_CHECK enum status velocity_island_coordinates(struct velocity_island *self,
						   const uint32_t *row, uint32_t count,
						   struct velocity_coordinates *out);
/* Solves the problem; residual, iterations and fallbacks go to the outcome. NO_MEMORY. */
MUST_CHECK enum status velocity_island_solve(struct velocity_island *self,
					     const struct velocity_problem *problem);

/* ---- velocity_rank.c: locked axes that depend on others, in islands with reduced coordinates */

struct velocity_rank {
	uint32_t count, nulls; /* rows of locked axes, and how many of them depend on others */
	uint32_t *row;	       /* of the island */
	double *scale;	       /* √(J M⁻¹ Jᵀ) */
	uint32_t *dependent;   /* nulls of these rows, without which the others have all of them */
	double *null; /* nulls × count, orthonormal: combinations that move nothing, by row times scale */
	/* Of the problem without them, and scratch. */
	double *b, *work;
	bool *selected;
};
/* After the rows' responses: sets self->rank if some depend. NO_MEMORY. */
MUST_CHECK enum status velocity_rank_find(struct velocity_island *self);
/* The problem without rows that depend, with b of which the part that no motion reaches is taken
 * out; *left: the most of it, m/s. False: the problem does not have all of these rows. */
bool velocity_rank_reduce(const struct velocity_island *self,
			  const struct velocity_problem *problem, struct velocity_problem *out,
			  double *left);
/* Shares x out to all of these rows: the least impulses with the same motion. */
void velocity_rank_share(const struct velocity_island *self, double *x);

/* ---- velocity_sparse.c: velocity_island_solve for large islands. NO_MEMORY. */
MUST_CHECK enum status velocity_island_sparse(struct velocity_island *self,
					      const struct velocity_problem *problem);

/* ---- velocity_impact.c: impacts, resolved at the end */

/* The context of velocity_impact_island: the step with its motion solved, and its state at the end. */
struct velocity_impact {
	struct velocity_step *begin;
	const struct velocity_step *end;
	/* By island of the beginning, 0 … 1: the part of the energy lost by its bodies that other
	 * bodies of it did not gain. Computed before any impact is solved, because impacts change
	 * `after`, on any worker. */
	const double *part;
};
/* `part` is in the step's scratch. NO_MEMORY. */
MUST_CHECK enum status velocity_impact_init(struct velocity_impact *self,
					    struct velocity_step *begin,
					    const struct velocity_step *end);

/* Whether a contact or limit of the island has restitution, arrives faster than restitution_speed and is
 * stopped by its impulse x. */
bool velocity_bounces(const struct velocity_island *self, const double *x);
/* Resolves one island's impacts at the end, if an island of the beginning with `impact` has a body of
 * it. */
island_solve velocity_impact_island;

/* Newton's law for the selected rows of an impact: x (by row, N·s) from speeds u (by row, m/s) before it;
 * b is scratch, as is `push` of the step. Different coefficients at contacts of one cluster may
 * create energy. Then the solution is mixed with the inelastic one, which creates none: energy is a
 * convex function of the elastic part, so there is a greatest part that adds none. The mixture satisfies
 * every row and every friction limit, as both do. NO_MEMORY. */
MUST_CHECK enum status velocity_newton(struct velocity_island *self, const bool *selected,
				       const double *u, double *b, double *x);

/* ---- velocity_reflect.c: generalized reflections of the selected rows from speeds u (by row, m/s)
 * into x (by row, N·s); b is scratch of as many. NO_MEMORY. */
MUST_CHECK enum status velocity_reflect(struct velocity_island *self, const bool *selected,
					const double *u, double *b, double *x);

/* ---- velocity_end.c: the end of a motion */

/* m/s. Slower speeds of rows at the end of the motion are rounding. */
#define VELOCITY_STILL 1e-13

/* m. Contacts no farther apart than this at the end touch. Larger: bodies apart take part in an impact;
 * smaller: bodies that met do not, because motions are straight within a step and gaps are not. */
#define VELOCITY_TOUCH 1e-6

/* What islands are solved with at the end, or on the way to it: their context. */
struct velocity_stage {
	struct velocity_step *begin;
	const struct velocity_step *end; /* the same, with the rows of the end; NULL on the way */
};

/* Whether the island of the step has a joint. */
bool velocity_has_joints(const struct velocity_step *step, const struct island *island);
/* Adds the second half of the velocity change by forces to `after`. */
void velocity_add_half_of_forces(struct velocity_step *begin, const struct island *members);
/* Sets `masses_end` of bodies in islands for the rotations of `motions`. Those of others stay: nothing has
 * pushed them. */
void velocity_masses_at_end(struct velocity_step *begin);
/* Makes the state of the end: masses and rows at `motions`, with the impulses and the end_outcomes of the
 * beginning. NO_MEMORY. */
MUST_CHECK enum status velocity_state_at_end(struct velocity_step *begin,
					     struct velocity_step *end);
/* One island's problem at the end. */
struct velocity_end {
	struct velocity_island island;
	bool *selected;
	double *b, *x; /* as in velocity_problem; x is 0 at first */
};
/* In `arena`; statistics do not count the island as solved. NO_MEMORY. */
MUST_CHECK enum status velocity_end_make(struct velocity_end *self, const struct velocity_step *end,
					 uint32_t index, struct arena *arena);
/* Solves the problem and applies x to `out` (by slot). NO_MEMORY. */
MUST_CHECK enum status velocity_end_solve(struct velocity_end *self, struct spatial *out);
/* Moves the bodies of island `index` by h d (by slot), which gives them no velocity, and counts the work. */
void velocity_displace(struct velocity_step *begin, const struct island *members, uint32_t index,
		       const struct spatial *d);
/* The same of one body, without its work. */
void velocity_displace_body(struct velocity_step *begin, uint32_t slot, struct spatial d);

/* ---- velocity_joint.c: rows and stages of joints */

/* Fills `joints` for the rows from contact_rows to taut_from. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_gather(struct velocity_island *self);
/* Sets the springs' compliance and the island's noise. */
void velocity_joints_soften(struct velocity_island *self);
/* Stiffness and damping of the spring of row i, N/m and N·s/m (N·m/rad, N·m·s/rad). */
void velocity_joints_spring(const struct velocity_island *self, uint32_t i, double *stiffness,
			    double *damping);
/* Warm start of the joints' rows into x: the last step's multipliers within this step's bounds. */
void velocity_joints_warm_start(const struct velocity_island *self, double *x);
/* Adds x of the joints' rows to their joints' results. */
void velocity_joints_add_results(const struct velocity_island *self, const double *x);
/* Whether the row's impulse can be other than 0; and whether it constrains its coordinate at the end of the
 * motion, not only its speed. */
static inline bool velocity_row_acts(const struct velocity_joint_row *row)
{
	return row->lower < row->upper;
}
static inline bool velocity_row_has_place(const struct velocity_joint_row *row)
{
	bool place = row->role == VELOCITY_LOCK || row->role == VELOCITY_LIMIT ||
		     row->role == VELOCITY_POSITION || row->role == VELOCITY_ROTOR;
	return place && velocity_row_acts(row);
}
/* Whether row i is that of a rotor. */
static inline bool velocity_is_rotor(const struct velocity_island *self, uint32_t i)
{
	return i >= self->contact_rows &&
	       self->joints[i - self->contact_rows].role == VELOCITY_ROTOR;
}
/* m, rad: what the rounds of a motion may leave. Smaller: further rounds correct only rounding;
 * larger: drift, which has to be removed, and velocities that are off by it over h. */
#define VELOCITY_CURVATURE_TOLERANCE 1e-11
/* The same, where joints are asked to be closed further than by default: a hundredth of that, above
 * rounding. */
static inline double velocity_curvature_tolerance(const struct velocity_step *self)
{
	double tolerance = self->settings.joint_tolerance;
	return tolerance < VELOCITY_DEPTH
		       ? scalar_clamp(0.01 * tolerance, 1e-14, VELOCITY_CURVATURE_TOLERANCE)
		       : VELOCITY_CURVATURE_TOLERANCE;
}
enum {
	/* Rounds of the motion, each a solution of the island; joints that turn by 0.1 rad in a step
	 * need 3 or 4. Fewer: fast joints lose energy. */
	VELOCITY_CURVATURE_ROUNDS = 8,
	/* Rounds without improvement after which the motion is straight. */
	VELOCITY_ROUNDS_WITHOUT_GAIN_MAX = 1,
	/* Rounds in which taut lines follow their tension. In all rounds, tension and curvature would
	 * chase each other. */
	VELOCITY_TAUT_ROUNDS = 2,
	/* Rounds that remove drift, from commands or from rounds of the motion that did not converge. */
	VELOCITY_PROJECTION_ROUNDS = 40,
};
/* rad: a round of the projection turns no body further. Larger: the linearisation of a round does not
 * hold, and long chains are thrown about. */
#define VELOCITY_PROJECTION_TURN_MAX 0.05
/* 1. A row whose J M⁻¹ Jᵀ is less than this part of the largest value for a J of its length moves
 * nothing except by rounding; an example is an axis that both a hinge and the planar world lock. Its
 * bounds are 0, so it is not included. */
#define VELOCITY_MOVE_MIN 1e-12
/* Sets `moving` of an island with joints before its motion is solved. */
void velocity_joints_initial_velocities(const struct velocity_island *self);
/* Completes b of the joints' rows for the motion (in: J v), and selects contacts' rows and those joints'
 * rows whose bounds differ. */
void velocity_joints_targets(const struct velocity_island *self, bool *selected, double *b);
/* Solves the motion for x, so that positions satisfy the joints at the end. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_motion(struct velocity_island *self, bool *selected,
						    double *b, double *x);
/* Sets `arriving` to `forced` as changed by the joints alone, without limits. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_arriving(struct velocity_island *self, bool *selected,
						      double *b, double *x);
/* Sets b of the joints' rows for the push (in: their speeds in the motion), and selects rows that hold
 * and limits. */
void velocity_joints_push_targets(const struct velocity_island *self, bool *selected, double *b);
/* Removes the drift of locked axes and passed limits at the end, by displacements. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_project(struct velocity_step *begin);
/* Makes `after` satisfy the joints' rows at the end. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_end(struct velocity_step *begin);
/* Completes the joints' results for step_joints_store: torques about b's mass centre at the end. */
void velocity_joints_finish_results(struct velocity_step *self);
/* Whether row i is a rigid joint row without bounds, or that of a rotor. Only such rows act in an impact,
 * because a bounded force does nothing in no time. */
static inline bool velocity_holds(const struct velocity_island *self, uint32_t i)
{
	if (i < self->contact_rows)
		return false;
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	bool firm = !(row->soft > 0) || row->role == VELOCITY_ROTOR;
	return row->role != VELOCITY_LIMIT && firm && row->lower == -__builtin_inf() &&
	       row->upper == __builtin_inf();
}
/* Sets the speeds of the rotors of all joints: those of their axes at `before`, as a tick `begins` less what
 * they lag behind. */
void velocity_rotors_start(struct velocity_step *self, bool begins);
/* The same of one joint. */
void velocity_rotors_follow(struct velocity_step *self, uint32_t joint, bool begins);
/* J: kinetic energy of an island's rotors where bodies have these motions and velocities (by slot). */
double velocity_rotors_energy(const struct velocity_step *self, const struct island *island,
			      const struct body_motion *motions, const struct spatial *velocities);
/* Whether row i of a joint is part of an impact; *u, its speed, becomes the difference to its target.
 * `back`: its impulse in the motion, N·s. */
bool velocity_joints_impact(const struct velocity_island *self, uint32_t i, double back, double *u);
/* For an impact: sets the limits' impulses of the motion in `back`, and adds the response of the rigid
 * rows to all of `back`, so that the sum moves no joint. selected, b, x: scratch, by row; change: zero,
 * by slot, and zero again after it. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_take_back(struct velocity_island *self, double *back,
						 bool *selected, double *b, double *x,
						 struct spatial *change);

/* ---- velocity_tree.c: islands whose joints are part of the mass operator */

/* By island of the step. */
struct velocity_trees {
	const struct tree_plan *plans; /* link_count 0: the island is solved over bodies */
	struct tree_joints joints;
	const uint32_t *link_of; /* by slot; TREE_NONE */
	const bool *held;	 /* by joint: its locked axes are no rows */
	const bool *refused;	 /* by island: it has joints and does not suit */
};

/* One island's trees at one state. */
struct velocity_tree {
	struct tree_mass mass;
	struct tree_spring *springs; /* of `rows` */
	uint32_t *rows; /* of the island: springs and rotors that are part of the masses */
	uint32_t spring_count;
	bool *still;		/* by row: the trees do not move along it */
	double *alone;		/* by row: J M⁻¹ Jᵀ of the bodies without joints */
	struct spatial *given;	/* by link: velocities before they were made to hold the joints */
	struct spatial *offset; /* by link: the error of its pose at the beginning */
	struct spatial *work;	/* by link: scratch */
};

/* Makes the islands of the constraints and chooses, before their rows; self->trees stays NULL where the
 * settings or the lack of joints leave no choice. NO_MEMORY. */
MUST_CHECK enum status velocity_trees_choose(struct velocity_step *self);
/* Whether the rows of the joint's locked axes are left out of systems. */
static inline bool velocity_joint_is_held(const struct velocity_step *self, uint32_t joint)
{
	return self->trees != NULL && self->trees->held[joint];
}
/* The number of its axes whose rows are left out. */
uint32_t velocity_held_axes(const struct velocity_step *self, uint32_t joint);
/* Whether it has no other rows. */
bool velocity_joint_has_no_rows(const struct velocity_step *self, uint32_t joint);
/* Whether row block `b` of the step is one of these. */
static inline bool velocity_block_is_held(const struct velocity_step *self, uint32_t b)
{
	const struct row_block *block = &self->rows.blocks[b];
	return block->constraint >= self->contact_count && block->key.feature == 0 &&
	       velocity_joint_is_held(self, block->constraint - self->contact_count);
}
/* Sets self->tree and self->mass of an island that was chosen, to be factored. NO_MEMORY. */
MUST_CHECK enum status velocity_tree_make(struct velocity_island *self, uint32_t index);
/* After the rows' responses: which rows do not move. NO_MEMORY. */
MUST_CHECK enum status velocity_tree_find_still(struct velocity_island *self);
/* Factors the masses, of which rotors of held joints are a part, and for the motion their unlimited springs:
 * their rows then have the bounds 0. NO_MEMORY. */
MUST_CHECK enum status velocity_tree_soften(struct velocity_island *self);
/* Undoes this, after the motion: for displacements. NO_MEMORY. */
MUST_CHECK enum status velocity_tree_stiffen(struct velocity_island *self);
/* Makes velocities (by slot) hold the joints; what they were is kept for the joints' impulses. */
void velocity_tree_hold(struct velocity_island *self, struct spatial *velocities);
/* As velocity_joints_solve_motion, for an island with trees. NO_MEMORY. */
MUST_CHECK enum status velocity_tree_solve_motion(struct velocity_island *self, bool *selected,
						  double *b, double *x);
/* Adds the impulses of held joints to their results: those that made `velocities` of what was kept,
 * beside the rows' x. */
void velocity_tree_add_results(const struct velocity_island *self, const struct spatial *velocities,
			       const double *x);
/* After bodies moved: their poses are those of the joints' coordinates. NO_MEMORY. */
MUST_CHECK enum status velocity_trees_close(struct velocity_step *begin);

/* ---- velocity_taut.c: stiffness of taut lines across themselves, during the motion */

/* Number of such rows in an island; 0 at the end. */
uint32_t velocity_taut_count(const struct velocity_step *step, const struct island *island);
/* Fills the rows from taut_from on. NO_MEMORY. */
MUST_CHECK enum status velocity_taut_gather(struct velocity_island *self);
/* Sets these rows' compliance from the tensions in x, and selects those with stiffness. */
void velocity_taut_soften(struct velocity_island *self, const double *x, bool *selected);

/* ---- velocity.c */
enum {
	VELOCITY_SHAPES = 1 << SHAPE_SPHERE | 1 << SHAPE_CAPSULE | 1 << SHAPE_BOX |
			  1 << SHAPE_HULL | 1 << SHAPE_PLANE | 1 << SHAPE_MESH |
			  1 << SHAPE_POLYGON | 1 << SHAPE_SOLID | 1 << SHAPE_ROUNDED |
			  1 << SHAPE_CYLINDER | 1 << SHAPE_CONE | 1 << SHAPE_ELLIPSOID |
			  1 << SHAPE_HEIGHTFIELD,
};
/* Kinetic energy ½ v·M v, J: of a body; of an island's bodies (arrays by slot). */
double velocity_body_energy(const struct mass_body *mass, struct spatial v);
double velocity_energy(const struct mass_body *masses, const struct spatial *velocities,
		       const struct island *island);
struct velocity_settings velocity_settings_of(const struct dynamics *dynamics,
					      struct velocity_method method);
/* b of each row of an island: J v of `moving`, less its target. A contact may close its gap within
 * the step. */
void velocity_motion_targets(const struct velocity_island *island, bool *selected, double *b);
/* Sets x to the multipliers of the contact points and the joints in the last step. */
void velocity_warm_start(const struct velocity_island *island, double *x);
/* Solves the motion of one island: v_m, then d. */
island_solve velocity_motion_island;
/* After bodies were moved: islands that no static body supports get the angular momentum back that
 * pushes took. The kinetic energy that a push adds (by this rotation, and by turning bodies of unequal
 * inertias) counts as its work. */
void velocity_finish_pushes(struct velocity_step *self);
/* Adds outcomes to the report, in their order. */
void velocity_merge_outcomes(struct step_report *report, const struct velocity_outcome *outcomes,
			     uint32_t count);
/* Begins a step: the contacts of the tables' poses, the bodies that they wake, and their slots. NO_MEMORY,
 * LIMIT, with a reason. */
MUST_CHECK enum status velocity_step_begin(struct step *step, struct dynamics *dynamics, double dt,
					   struct reason *why);
/* The functions `attach`, `detach` and `step` of the methods (method.h). */
void velocity_attach(struct dynamics *dynamics);
void velocity_detach(struct dynamics *dynamics);
MUST_CHECK enum status velocity_step_make(struct dynamics *dynamics, double dt,
					  struct velocity_method method, struct reason *why);

#endif
