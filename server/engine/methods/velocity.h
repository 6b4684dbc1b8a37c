/* velocity.h: what the exact velocity methods share; velocity.c tells the story. Private to methods. */
#ifndef CAIRN_ENGINE_METHODS_VELOCITY_H
#define CAIRN_ENGINE_METHODS_VELOCITY_H

#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/islands.h"
#include "server/engine/dynamics/row_system.h"
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
	bool printed;		   /* contacts of the printed form */
	uint32_t dense_rows;	   /* islands of at most so many rows are solved dense */
	uint32_t friction_rounds;  /* of the projection: boxes by the last round's normals; 0: no friction */
	uint32_t rounds_max;	   /* of reflections */
	double push_speed;	   /* m/s, fastest that penetration is pushed out */
	double restitution_speed;  /* m/s, slower approaches do not bounce */
};

/* What an island says of itself, merged in the order of islands. */
struct velocity_outcome {
	double residual;	/* m/s: the worst violation of a row */
	double push_work; /* J that the correction of positions did against forces; only what is
			     gained counts */
	uint32_t iterations, fallbacks;
	bool solved, dense;
	bool dependent; /* the rows that act depend on each other: their impulses are one choice of many */
	bool pushed;	/* penetration was taken out */
	bool impact;	/* it bounces: it is solved again where it has come to */
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
	bool *bound;		/* some constraint is about it */
	struct spatial *before; /* velocities as the step began */
	struct spatial *forced; /* after forces, without contact */
	struct spatial *moving; /* with which bodies move: no row is violated at the end of the way */
	struct spatial *after;	/* with which they leave: as moving but for impacts */
	struct spatial *push;	/* of the correction of positions; moves, and is forgotten */
	struct spatial *force;	/* N, N·m, for the work of corrections */
	struct body_motion *motions; /* at the end of the way */
	struct mass_operator mass;
	/* Constraints and their rows, at the beginning of the way or at its end. */
	struct contact_list *list;
	struct constraint *constraints; /* of each contact with points that involves what moves:
					   one, or one a point */
	uint32_t *contact_of;		/* by constraint: its contact in the list; ascending */
	uint32_t constraint_count;
	struct row_list rows;
	uint32_t *first_block; /* by constraint, one more */
	struct islands islands;
	struct velocity_outcome *outcomes; /* by island */
	const struct velocity_outcome *impact_outcomes; /* by island of the end of the way */
	uint32_t impact_count;
	struct velocity_impulse *impulses; /* by block */
};

/* ---- velocity_rows.c: contacts as constraints and rows */

/* The list's contacts as constraints at `motions` (by slot), with their rows at velocity level. NO_MEMORY. */
MUST_CHECK enum status velocity_state(struct velocity_step *self, struct contact_list *list,
				      const struct body_motion *motions);

/* Blocks first … last-1 of the state's rows are of the contact `index` of its list. */
void velocity_blocks_of(const struct velocity_step *self, uint32_t index, uint32_t *first, uint32_t *last);

/* ---- velocity_printed.c: contacts of the printed form */

/* Whether the contact is found by velocity_print: of two polygons, where the step asks for the
 * printed form. */
bool velocity_prints(const struct velocity_step *self, const struct contact_state *contact);
/* At most so many contacts come of it. */
uint32_t velocity_printed_max(const struct velocity_step *self, const struct contact_state *contact);
/* Each with one point of its own; all else as `like` has it. Returns how many touch. */
uint32_t velocity_print(const struct velocity_step *self, const struct contact_state *contact,
			const struct contact_found *like, struct contact_found *out,
			struct contact_found_point *points);

/* ---- velocity_island.c: one island's system, and its solution */

/* m. A penetration of this depth is left alone: it is rounding's. */
#define VELOCITY_DEPTH 1e-9

/* Rows of one island, as solvers see them: of each block its normal, then its tangents where there
 * are any. */
struct velocity_island {
	const struct velocity_step *step;
	const struct island *island;
	struct arena *room;
	struct row_system system;
	struct constraint_row *rows; /* by row of the island */
	uint32_t *block;	     /* by row: its block in the step's list */
	uint8_t *place;		     /* by row: which of its block's */
	double (*turned)[2];	     /* by row: of tangents, the cosine and sine by which both were turned */
	uint32_t count;
	double *a;		/* dense: count × count; NULL: sparse */
	struct velocity_outcome *outcome;
};

/* A question: which rows, what they want, and what they answer. */
struct velocity_question {
	const bool *taken; /* by row; NULL: all */
	const double *b;   /* by row: w = A x + b, m/s */
	double *x;	   /* by row, N·s: in, a first guess; out, 0 for rows not taken */
};

/* What a row's multiplier may be, N·s. */
struct velocity_bounds {
	double lower, upper;
	double friction; /* of a tangent: μ, the lesser one where it slides as the step begins */
	uint8_t kind;	 /* enum friction_row */
};
struct velocity_bounds velocity_row_bounds(const struct constraint_row *row, double h);
/* Whether row i is part of the problem: it is taken, and no tangent without friction (whose multiplier
 * is 0). */
bool velocity_row_asked(const struct velocity_island *self, const struct velocity_question *question,
			uint32_t i);

/* The island's rows, with tangents turned so that the first looks where the contact would slip. NO_MEMORY. */
MUST_CHECK enum status velocity_island_make(struct velocity_island *self, const struct velocity_step *step,
					    uint32_t index, struct arena *room);
/* What the projection is stated in: M over the coordinates of what moves (count²), and J over them,
 * a line a row. */
struct velocity_coordinates {
	uint32_t count;
	double *mass, *rows;
};
MUST_CHECK enum status velocity_island_coordinates(struct velocity_island *self, const uint32_t *row,
						   uint32_t count, struct velocity_coordinates *out);
/* How good the answer is stands in the outcome: residual, fallbacks. NO_MEMORY. */
MUST_CHECK enum status velocity_island_solve(struct velocity_island *self,
					     const struct velocity_question *question);

/* ---- velocity_sparse.c: the same for large islands */
MUST_CHECK enum status velocity_island_sparse(struct velocity_island *self,
					      const struct velocity_question *question);

/* ---- velocity_impact.c: what bounces */

/* What velocity_impact_island needs: the step with its way solved, and its state where the way ends. */
struct velocity_impact {
	struct velocity_step *way;
	const struct velocity_step *end;
	/* By island of the way: the part of what its bodies lost that others of them did not gain.
	 * Found before any impact is solved, because impacts change `after`, on any worker. */
	const double *part;
};
/* `part` in the step's scratch. */
MUST_CHECK enum status velocity_impact_init(struct velocity_impact *self, struct velocity_step *way,
					    const struct velocity_step *end);

/* Whether a contact of the island arrives faster than restitution_speed, is stopped, and has restitution. */
bool velocity_bounces(const struct velocity_island *self, const double *x);
/* One island's impacts, where the way ends; for islands whose outcome says `impact`. */
island_solve velocity_impact_island;

/* ---- velocity_reflect.c: generalized reflections of the rows taken from speeds `u`; `b` is room
 * for as many */
MUST_CHECK enum status velocity_reflect(struct velocity_island *self, const bool *taken, const double *u,
					double *b, double *x);

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
MUST_CHECK enum status velocity_step_make(struct dynamics *dynamics, double dt, struct velocity_method method,
					  struct reason *why);

#endif
