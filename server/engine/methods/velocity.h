/* velocity.h: what the exact velocity methods share; velocity.c tells the story. Private to methods. */
#ifndef CAIRN_ENGINE_METHODS_VELOCITY_H
#define CAIRN_ENGINE_METHODS_VELOCITY_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/islands.h"
#include "server/engine/dynamics/row_system.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/solvers/solver.h"

/* How the least change of velocity that satisfies all rows is found: two statements of one problem
 * (papers C-07). */
enum velocity_core {
	VELOCITY_LCP,	     /* its dual: multipliers that push and do not pull */
	VELOCITY_PROJECTION, /* itself: the nearest velocity in the metric of mass */
};

/* What a method is made of. */
struct velocity_method {
	enum velocity_core core;
	bool reflects; /* impacts by generalized reflections; else by Newton's law */
	bool friction;
};

/* One step's settings, from parameters. */
struct velocity_settings {
	struct velocity_method method;
	bool printed;	     /* contacts of the printed form */
	uint32_t dense_rows; /* islands of at most so many rows are solved dense */
	uint32_t
		friction_rounds; /* of the projection: boxes by the last round's normals; 0: no friction */
	uint32_t rounds_max;	  /* of reflections */
	double push_speed;	  /* m/s, fastest that penetration is pushed out */
	double restitution_speed; /* m/s, slower approaches do not bounce */
};

/* What an island says of itself, merged in the order of islands. */
struct velocity_outcome {
	double residual;  /* m/s: the worst violation of a row */
	double push_work; /* J that the correction of positions did against forces; only what is
			     gained counts */
	uint32_t iterations, fallbacks;
	bool solved, dense;
	bool dependent; /* the rows that act depend on each other: their impulses are one choice of many */
	bool pushed; /* penetration was selected out */
	bool impact; /* it bounces: it is solved again where it has come to */
};

/* A contact point's share of an island's answer, N·s: along the normal and the two tangents of row_frame. */
struct velocity_impulse {
	double normal, tangent[2];
};

struct velocity_step {
	struct step *step;
	struct velocity_settings settings;
	/* By slot. */
	struct mass_body *masses, *masses_end; /* as the bodies are turned at the beginning and at
						  the end of the way */
	struct body_start *starts;
	bool *constrained;	  /* some constraint is about it */
	struct spatial *before;	  /* velocities as the step began */
	struct spatial *forced;	  /* after forces, without contact */
	struct spatial *arriving; /* as forced; of joined bodies that an impact met: as joints alone
				     make of it */
	struct spatial
		*moving; /* with which bodies move: no row is violated at the end of the way */
	struct spatial *after; /* with which they leave: as moving but for impacts */
	struct spatial *push;  /* of the correction of positions; row_can_move, and is forgotten */
	struct spatial *force; /* N, N·m, for the work of corrections */
	struct body_motion *start, *motions; /* at the beginning and at the end of the way */
	struct mass_operator mass;
	/* Constraints and their rows, at the beginning of the way or at its end. */
	const struct body_motion *at; /* where they are, by slot; NULL: at the beginning */
	struct contact_list *list;
	struct constraint
		*constraints; /* of each contact with points that involves what row_can_move:
					   one, or one a point; then of each joint */
	uint32_t *contact_of; /* by constraint: its contact in the list; ascending */
	uint32_t constraint_count, contact_count; /* all; those of contacts */
	struct step_joints joints;
	struct joint_result
		*joint_results; /* by joint: what it carried in this step, so far; until told,
				     * its torque is about b's anchor where that was */
	struct row_list rows;
	uint32_t *first_block; /* by constraint, one more */
	struct islands islands;
	struct velocity_outcome *outcomes;     /* by island */
	struct velocity_outcome *end_outcomes; /* by island, of its joints at the end; or NULL */
	const struct velocity_outcome *impact_outcomes; /* by island of the end of the way */
	uint32_t impact_count;
	struct velocity_impulse *impulses; /* by block */
};

/* ---- velocity_rows.c: contacts as constraints and rows */

/* The list's contacts and the step's joints as constraints at `motions` (by slot; NULL: as the step
 * begins), with their rows at velocity level. NO_MEMORY. */
MUST_CHECK enum status velocity_state(struct velocity_step *self, struct contact_list *list,
				      const struct body_motion *motions);
/* The same constraints' rows where bodies have come to. NO_MEMORY. */
MUST_CHECK enum status velocity_state_moved(struct velocity_step *self,
					    const struct body_motion *motions);
/* Appends the rows of constraint `index` at these motions (by slot). */
void velocity_constraint_rows(const struct velocity_step *self, uint32_t index,
			      const struct body_motion *motions, struct row_list *out);

/* Blocks first … last-1 of the state's rows are of the contact `index` of its list. */
void velocity_blocks_of(const struct velocity_step *self, uint32_t index, uint32_t *first,
			uint32_t *last);

/* ---- velocity_printed.c: contacts of the printed form */

/* Whether the contact is found by velocity_find_printed: of two polygons, where the step can_act for the
 * printed form. */
bool velocity_is_printed(const struct velocity_step *self, const struct contact_state *contact);
/* At most so many contacts come of it. */
uint32_t velocity_printed_max(const struct velocity_step *self,
			      const struct contact_state *contact);
/* Each with one point of its own; all else as `like` has it. Returns how many touch_vertex_edge. */
uint32_t velocity_find_printed(const struct velocity_step *self,
			       const struct contact_state *contact,
			       const struct contact_found *like, struct contact_found *out,
			       struct contact_found_point *points);

/* ---- velocity_island.c: one island's system, and its solution */

/* m. A penetration of this depth is left alone: it is rounding's. */
#define VELOCITY_DEPTH 1e-9

/* What a row of a joint is for. */
enum velocity_role {
	VELOCITY_LOCK,	/* locked axis: w = 0 */
	VELOCITY_LIMIT, /* as a contact without friction */
	VELOCITY_SPRING,
	VELOCITY_RATE,	   /* motor that holds a rate */
	VELOCITY_POSITION, /* motor that holds a place */
	VELOCITY_FRICTION, /* dry friction */
	VELOCITY_TAUT,	   /* what a taut line gives across itself */
};

/* What a row of a joint is, remaining_diagonal what it says of itself. */
struct velocity_joint_row {
	uint32_t joint;	     /* of the step's */
	uint8_t place;	     /* of its multipliers */
	uint8_t role;	     /* enum velocity_role */
	double lower, upper; /* N·s */
	double soft;	     /* (m/s)/(N·s): w = J v + soft λ + … */
	double pull;	     /* m/s: of a spring, what its stretch adds to w */
	double curvature;    /* m/s: how much faster its coordinate went on the way than J v said */
	uint32_t of;	     /* of TAUT: the island's row that pulls */
	double per;	     /* of TAUT: 1/m or m; of its stiffness for a unit of pull */
};

/* Rows of one island, as solvers see them: of each block its normal, then its tangents where there
 * are any. Joints' rows come last. */
struct velocity_island {
	const struct velocity_step *step;
	const struct island *island;
	struct arena *arena;
	struct row_system system;
	struct constraint_row *rows; /* by row of the island */
	uint32_t *block;	     /* by row: its block in the step's list */
	uint8_t *place;		     /* by row: which of its block's */
	double (*turned)
		[2]; /* by row: of tangents, the cosine and sine by which both were turned */
	uint32_t count;
	uint32_t contact_rows;		   /* those before are contacts' */
	uint32_t taut_from;		   /* those from here on are of taut lines */
	struct velocity_joint_row *joints; /* by row after them; NULL: no joint is of the island */
	double noise;	  /* m/s: what rounding alone puts into joints' rows; 0: there are none */
	double tolerance; /* of solvers; 0: their own */
	double *a;	  /* dense: count × count; NULL: sparse */
	struct velocity_outcome *outcome;
};

/* A problem: which rows, what they want, and what they answer. */
struct velocity_problem {
	const bool *selected; /* by row; NULL: all */
	const double *b;      /* by row: w = A x + b, m/s */
	double *x;	      /* by row, N·s: in, a first guess; out, 0 for rows not selected */
};

/* What a row's multiplier may be, N·s. */
struct velocity_bounds {
	double lower, upper;
	double friction; /* of a tangent: μ, the lesser one where it slides as the step begins */
	uint8_t kind;	 /* enum friction_row */
};
struct velocity_bounds velocity_row_bounds(const struct velocity_island *self, uint32_t i);
/* By how much w of row i gives way to its own multiplier. */
static inline double velocity_row_soft(const struct velocity_island *self, uint32_t i)
{
	return i < self->contact_rows ? 0 : self->joints[i - self->contact_rows].soft;
}
/* Whether row i is part of the problem: it is selected, its bounds leave it a choice, and it is no
 * tangent without friction (whose multiplier is 0). */
bool velocity_row_included(const struct velocity_island *self,
			   const struct velocity_problem *problem, uint32_t i);

/* Solvers measure by the largest b. Where all of it is small (a way that hardly constrains_position), rows that
 * depend on each other contradict each other by rounding, which is more than the solvers' own part
 * of that. 0: the solvers' own. */
double velocity_tolerance(const struct velocity_island *self,
			  const struct velocity_problem *problem);

/* The island's rows, with tangents turned so that the first looks where the contact would slip. NO_MEMORY. */
MUST_CHECK enum status velocity_island_make(struct velocity_island *self,
					    const struct velocity_step *step, uint32_t index,
					    struct arena *arena);
/* What the projection is stated in: M over the coordinates of what row_can_move (count²), and J over them,
 * a line a row. */
struct velocity_coordinates {
	uint32_t count;
	double *mass, *rows;
};
MUST_CHECK enum status velocity_island_coordinates(struct velocity_island *self,
						   const uint32_t *row, uint32_t count,
						   struct velocity_coordinates *out);
/* How good the answer is stands in the outcome: residual, fallbacks. NO_MEMORY. */
MUST_CHECK enum status velocity_island_solve(struct velocity_island *self,
					     const struct velocity_problem *problem);

/* ---- velocity_sparse.c: the same for large islands */
MUST_CHECK enum status velocity_island_sparse(struct velocity_island *self,
					      const struct velocity_problem *problem);

/* ---- velocity_impact.c: what bounces */

/* What velocity_impact_island needs: the step with its way solved, and its state where the way ends. */
struct velocity_impact {
	struct velocity_step *begin;
	const struct velocity_step *end;
	/* By island of the way: the part of what its bodies lost that others of them did not gain.
	 * Found before any impact is solved, because impacts change `after`, on any worker. */
	const double *part;
};
/* `part` in the step's scratch. */
MUST_CHECK enum status velocity_impact_init(struct velocity_impact *self,
					    struct velocity_step *begin,
					    const struct velocity_step *end);

/* Whether a contact or limit of the island arrives faster than restitution_speed, is stopped, and
 * has restitution. */
bool velocity_bounces(const struct velocity_island *self, const double *x);
/* One island's impacts, where the way ends; for islands whose outcome says `impact`. */
island_solve velocity_impact_island;

/* ---- velocity_reflect.c: generalized reflections of the rows selected from speeds `u`; `b` is room
 * for as many */
MUST_CHECK enum status velocity_reflect(struct velocity_island *self, const bool *selected,
					const double *u, double *b, double *x);

/* ---- velocity_joint.c: what joints add */

/* What the island's rows after contact_rows are. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_gather(struct velocity_island *self);
/* Springs' share of the system, and the island's noise. */
void velocity_joints_soften(struct velocity_island *self);
/* What the last step's joints carried, into x. */
void velocity_joints_warm_start(const struct velocity_island *self, double *x);
/* Adds x of the joints' rows to what their joints carried. */
void velocity_joints_add_results(const struct velocity_island *self, const double *x);
/* With which velocities the way of an island with joints begins, into `moving`. */
void velocity_joints_initial_velocities(const struct velocity_island *self);
/* b of the joints' rows for the way: b is J v as it comes. selected: those that ask for anything. */
void velocity_joints_targets(const struct velocity_island *self, bool *selected, double *b);
/* Finds x of the way, so that what is held is held where the way ends. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_motion(struct velocity_island *self, bool *selected,
						    double *b, double *x);
/* What the joints alone make of `forced`, into `arriving`. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_arriving(struct velocity_island *self, bool *selected,
						      double *b, double *x);
/* b of the joints' rows for the push: b is the speed of the way as it comes. */
void velocity_joints_push_targets(const struct velocity_island *self, bool *selected, double *b);
/* Takes what is locked and has drifted back where it belongs, where the way ends. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_project(struct velocity_step *begin);
/* Velocities `after` of what joints bind, as joints want them there. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_solve_end(struct velocity_step *begin);
/* What was found, as step_joints_store takes it: about the mass centre of where b has come to. */
void velocity_joints_finish_results(struct velocity_step *self);
/* Whether a row holds in an impact, where forces without end alone matter. */
static inline bool velocity_holds(const struct velocity_island *self, uint32_t i)
{
	if (i < self->contact_rows)
		return false;
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	return row->role != VELOCITY_LIMIT && !(row->soft > 0) && row->lower == -__builtin_inf() &&
	       row->upper == __builtin_inf();
}
/* Whether row i of a joint is part of an impact at speed u, which is told against what it wants;
 * `back`: what it did on the way. */
bool velocity_joints_impact(const struct velocity_island *self, uint32_t i, double back, double *u);
/* For an impact: the impulse of the way along limits, into `back`, and remaining_diagonal it what joints answer
 * to `back`, so that both together move no joint. NO_MEMORY. */
MUST_CHECK enum status velocity_joints_take_back(struct velocity_island *self, double *back,
						 bool *selected, double *b, double *x,
						 struct spatial *change);

/* ---- velocity_taut.c: what taut lines give across themselves, on the way */

/* How many rows an island has of them. */
uint32_t velocity_taut_count(const struct velocity_step *step, const struct island *island);
/* The rows from taut_from on. NO_MEMORY. */
MUST_CHECK enum status velocity_taut_gather(struct velocity_island *self);
/* How these rows give way where the others carry x. selected: those that do anything. */
void velocity_taut_soften(struct velocity_island *self, const double *x, bool *selected);

/* ---- velocity.c */
enum {
	VELOCITY_SHAPES = 1 << SHAPE_SPHERE | 1 << SHAPE_CAPSULE | 1 << SHAPE_BOX |
			  1 << SHAPE_HULL | 1 << SHAPE_PLANE | 1 << SHAPE_MESH |
			  1 << SHAPE_POLYGON | 1 << SHAPE_SOLID,
};
/* ½ v·M v of the island's slots, J. */
double velocity_body_energy(const struct mass_body *mass, struct spatial v);
double velocity_energy(const struct mass_body *masses, const struct spatial *velocities,
		       const struct island *island);
void velocity_attach(struct dynamics *dynamics);
void velocity_detach(struct dynamics *dynamics);
MUST_CHECK enum status velocity_step_make(struct dynamics *dynamics, double dt,
					  struct velocity_method method, struct reason *why);

#endif
