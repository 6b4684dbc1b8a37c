/* pile_group.h: a group of bodies whose programmes pile_solve.c makes and pile_programme.c solves. Private to
 * `pile`. */
#ifndef CAIRN_ENGINE_METHODS_PILE_GROUP_H
#define CAIRN_ENGINE_METHODS_PILE_GROUP_H

#include "server/engine/methods/pile.h"

/* Times `pile.work` that a programme with factors may take, because half of one is worth nothing. */
#define PILE_WHOLE_WORK 12.0

struct pile_group {
	struct pile *pile;
	const uint32_t *slots; /* ascending */
	uint32_t *rows;	       /* ascending; indices into pile->rows */
	uint32_t slot_count, row_count;
	uint32_t *place_of;  /* by slot: index in `slots`; PILE_STATIC: not in this programme */
	vec3 *base;	     /* m, of slots[i]: moves before the programme, which are permitted */
	uint32_t *terms;     /* ascending; indices into pile->terms; NULL: rows overlap */
	uint32_t term_count; /* 0 while rows overlap */
	bool relaxing;	     /* rows overlap */
	bool split;	     /* a coordinate is the difference of two columns */
	bool springs;	     /* there are springs among the terms, or */
	bool pairs;	     /* and attractions of two */
	bool whole;	     /* of all bodies that rows link, not a zone */
	bool large;	     /* it is solved in zones until these gain next to nothing */
	bool interior;	     /* by the interior method (pile_interior.c) */
	bool too_large;	     /* for that method and the work of a step */
	bool waiting;	     /* the work of the step is used up: it goes on in the next */
	double drop;	     /* J: what the step lowers the energy */
	double scale;	     /* N: the largest force */
	double bound;	     /* J: no permitted displacement lowers the energy by more */
	double part;	     /* of their cubes: how far bodies with springs go in this round */
	double narrow;	     /* J: `bound` of the part before */
	uint32_t taken, slacks; /* rows of the programme; of these, with a column of their own */
	uint32_t pivots;
	uint32_t budget;	       /* of pivots; 0: none */
	struct pile_softness softness; /* in and out */
	uint8_t waits; /* doublings of its share of the work, at most WAIT_DOUBLINGS */
	struct solver_result result; /* of the last round */
};

#define PILE_ALLOCATE(group, type, count)                                                          \
	ARENA_ARRAY(&(group)->pile->step->dynamics->scratch, type, count)

/* Whether a programme takes up what is left of the row's overlap. */
bool pile_overlaps(const struct pile_group *group, const struct pile_row *row);
/* The gap of a row after the moves of bodies that are not in the programme. */
double pile_gap_inside(const struct pile_group *group, const struct pile_row *row);
/* The gap of a row after the moves. */
double pile_gap_after(const struct pile *self, const struct pile_row *row);
bool pile_is_solved(const struct solver_result *result);
/* Whether it is solved, or stopped where it may. */
bool pile_is_ended(const struct solver_result *result);
/* Takes the moves of before. */
void pile_stop_bodies(const struct pile_group *group);
/* Solves the programme of the rows taken and of the cuts in the room: fills in moves, places, forces and
 * the terms' values. Without a point of any use, bodies stay; `waiting` says that the solver may go
 * on from the places. NO_MEMORY. */
MUST_CHECK enum status pile_solve_round(struct pile_group *group);

/* J: what the moves of the group lower the energy, at a part of the way from its base; *slope: its
 * derivative by `part`. */
double pile_drop_at(const struct pile_group *group, double part, double *slope);
/* J: the sum of force times radius. */
double pile_measure_of(const struct pile_group *group);
/* Solves the programme of the rows taken by an interior method: fills in moves, forces and `bound`.
 * NO_MEMORY. */
MUST_CHECK enum status pile_solve_interior(struct pile_group *group);
/* *soft: contacts of the group push before they touch; sets its softness. NO_MEMORY. */
MUST_CHECK enum status pile_is_soft(struct pile_group *group, bool *soft);
/* After a step with hard contacts: lets contacts push from the next one on where it gained much. */
void pile_begin_softness(const struct pile_group *group);
/* Moves bodies towards rest with contacts that push before they touch (pile_soft.c): fills in moves and
 * forces, and sets the softness of the bodies. NO_MEMORY. */
MUST_CHECK enum status pile_solve_soft(struct pile_group *group);

#endif
