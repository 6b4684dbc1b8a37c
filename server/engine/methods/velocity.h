/* velocity.h: what the exact velocity methods share; velocity.c tells the story. Private to methods. */
#ifndef CAIRN_ENGINE_METHODS_VELOCITY_H
#define CAIRN_ENGINE_METHODS_VELOCITY_H

#include "server/engine/dynamics/islands.h"
#include "server/engine/dynamics/row_system.h"
#include "server/engine/solvers/solver.h"

/* How the least change of velocity that satisfies all rows is found: two statements of one problem (papers C-07). */
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
	double push_work;	/* J that the correction of positions did against forces; only what is gained counts */
	uint32_t iterations, fallbacks;
	bool dense, dependent; /* the rows that act depend on each other: their impulses are one choice of many */
	bool impact;	       /* it bounces: it is solved again where it has come to */
};

/* A contact point's share of an island's answer, N·s: along the normal and the two tangents of row_frame. */
struct velocity_impulse {
	double normal, tangent[2];
};

struct velocity_step {
	struct step *step;
	struct velocity_settings settings;
	/* By slot. */
	struct mass_body *masses;
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
	struct constraint *constraints; /* one a contact with points that involves what moves */
	uint32_t *contact_of;		/* by constraint: its contact in the list */
	uint32_t constraint_count;
	struct row_list rows;
	uint32_t *first_block; /* by constraint, one more */
	struct islands islands;
	struct velocity_outcome *outcomes; /* by island */
	struct velocity_impulse *impulses; /* by block */
};

/* ---- velocity_rows.c: contacts as constraints and rows */

/* The list's contacts as constraints at `motions` (by slot), with their rows at velocity level. NO_MEMORY. */
MUST_CHECK enum status velocity_state(struct velocity_step *self, struct contact_list *list,
				      const struct body_motion *motions);

/* ---- velocity_island.c: one island's system, and its solution */

/* Rows of one island, as solvers see them. */
struct velocity_island {
	const struct velocity_step *step;
	const struct island *island;
	struct arena *room;
	struct row_system system;
	struct constraint_row *rows; /* by row of the island */
	struct row_part *parts;	     /* of turned tangents */
	uint32_t *block;	     /* by row: its block in the step's list */
	double (*turned)[2];	     /* by row of a normal: cosine and sine by which its tangents were turned */
	uint32_t count, normals;
	double *a;		/* dense: count × count, else NULL */
	struct velocity_outcome *outcome;
};

/* A question: rows taken, and what they want. */
struct velocity_question {
	const bool *taken;    /* by row; NULL: all */
	bool friction;	      /* tangents take part */
	const double *b;      /* by row: w = A x + b */
	double *x;	      /* by row: in, a first guess; out, 0 for rows not taken */
};

MUST_CHECK enum status velocity_island_make(struct velocity_island *self, const struct velocity_step *step,
					    const struct island *island, struct arena *room,
					    struct velocity_outcome *outcome);
/* Answers are as good as outcome->residual says; fallbacks are counted there. NO_MEMORY. */
MUST_CHECK enum status velocity_island_solve(struct velocity_island *self,
					     const struct velocity_question *question);

/* ---- velocity_impact.c: what bounces */

/* Whether any contact of the island bounces: it arrives faster than restitution_speed, is stopped (x > 0), and has
 * restitution. */
bool velocity_bounces(const struct velocity_island *self, const double *x);
/* Impacts of one island, at the end of its way. */
island_solve velocity_impact_island;

/* ---- velocity.c */
MUST_CHECK enum status velocity_step_make(struct dynamics *dynamics, double dt, struct velocity_method method,
					  struct reason *why);

#endif
