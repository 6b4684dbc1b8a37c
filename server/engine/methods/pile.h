/* pile.h: the parts of `pile`: bodies and rows of a step (pile_rows.c), potentials (pile_potential.c), the
 * linear programmes (pile_programme.c, pile_solve.c), the basis between ticks (pile_basis.c). Private to
 * server/engine/methods.
 *
 * A row keeps two things apart, to first order exactly:
 *
 *   normal · (d_a − d_b) ≥ −gap        d: displacements in the step, m; d_b = 0 of a static thing
 *
 * It is sufficient for the whole way, because the places that satisfy it are convex (papers P-02).
 */
#ifndef CAIRN_ENGINE_METHODS_PILE_H
#define CAIRN_ENGINE_METHODS_PILE_H

#include "server/base/array.h"
#include "server/engine/collision/free_region.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/math/mat3.h"
#include "server/engine/solvers/lp.h"

/* m. More overlap than this is taken away before anything else (papers P-03). */
#define PILE_OVERLAP 1e-9
/* Times that the gap of a polyhedron is halved before it is at rest: from 1 % of its radius to 0.008 %. */
enum { SMOOTH_HALVINGS = 7 };
/* Times that the share of work of a group that waits with overlaps is doubled, and every so many ticks. */
enum { WAIT_DOUBLINGS = 7, WAIT_TICKS = 32 };
/* Halvings of what lets contacts push before they touch (pile_soft.c); so often halved, none does. */
enum { PILE_SOFT_LEVELS = 16, PILE_DAMPING_MAX = 21 };
/* √3: half a diagonal of the cube of half width 1. */
#define PILE_DIAGONAL 1.7320508075688772
struct command;

/* Pivots times rows and columns: the unit of `pile.work`. */
#define PILE_WORK 1e6
/* Slot of what does not move. */
#define PILE_STATIC UINT32_MAX

/* A pair of pieces: the key of a row, the same from tick to tick. */
struct pile_key {
	uint32_t low, high; /* placements, the smaller first */
	uint32_t part_low,
		part_high; /* of a solid: its part; of a static surface: its triangle or face */
};
/* In part_low, of a second row of two pieces: they part along gravity. */
#define PILE_ALONG (1u << 31)
int pile_key_compare(const struct pile_key *a, const struct pile_key *b);
struct pile_key pile_key_of(uint32_t placement, uint32_t part, uint32_t other, uint32_t other_part);

struct pile_body {
	uint32_t row, placement;	   /* its first placement */
	uint32_t first_piece, piece_count; /* of the room's `own` */
	vec3 centre;			   /* m, of the sphere around it */
	double radius;			   /* m */
	double reach; /* m: it stays within a cube of twice this width (papers P-06) */
	double ahead; /* m, at least `reach`: how far it goes along axes that lead down (papers P-07) */
	double farthest; /* m: the largest displacement that cube and `ahead` permit */
	vec3 force;	 /* N: minus the slope of its potential at the beginning of the step */
	double size;	 /* N, at least |force|: the sum of the sizes of the forces in it */
	uint8_t grown;	 /* steps in a row in which it went as far down as it could */
	uint8_t halved;	 /* times that its gap was halved (papers P-10) */
	uint8_t waits;	 /* times that its share of work was doubled, because its group waits */
	struct pile_softness {
		uint8_t level;	 /* halvings, up to PILE_SOFT_LEVELS */
		uint8_t damping; /* of the rounds; 0 at level 0: contacts were not soft yet */
	} softness;
	bool round; /* one sphere: it needs no gap */
	bool bent;  /* it has a term */
	bool lifts; /* its overlaps are parted against gravity, because the shortest way is blocked */
	bool whole; /* its basis is of one programme of a large group, with which the next step goes on */
};

/* A spring between two anchors at the beginning of a step (pile_spring.c). */
struct pile_spring {
	double stiffness, rest, limit; /* N/m > 0, m, N (LP_INFINITY: none) */
	vec3 from;		       /* m: from the anchor of b to that of a */
	vec3 along;		       /* unit, of it */
	double length;		       /* m, of it */
};

/* An attraction at the beginning of a step: of a body to a point, or of two (pile_potential.c). */
struct pile_pull {
	double k;	     /* N */
	vec3 from;	     /* m: from the point or b to a */
	double length, core; /* m: √(from² + core²) */
};

/* No row of the joint table. */
#define PILE_NO_JOINT UINT32_MAX

enum pile_term_kind {
	PILE_TERM_FIELDS, /* a body in the attractors (pile_potential.c) */
	PILE_TERM_SPRING, /* pile_spring.c */
	PILE_TERM_PAIR,	  /* an attraction of two (pile_pairs.c) */
};
/* What a potential has beyond its slope. */
struct pile_term {
	enum pile_term_kind kind;
	uint32_t a,
		b; /* slots; b: PILE_STATIC of a body alone, or of a spring to what does not move */
	uint32_t joint; /* row of the spring; PILE_NO_JOINT: the attractors */
	bool turned;	/* a of the term is b of the joint */
	struct pile_spring spring;
	struct pile_pull pull; /* of a pair */
	double value;	       /* J: in the last optimum, never more than the excess there */
};

/* A tangent of a term: value ≥ slope · d_a − offset. */
struct pile_cut {
	uint32_t term; /* index in `terms` */
	vec3 slope;    /* N */
	double offset; /* J, ≥ 0 */
	uint8_t place; /* enum lp_place in the last programme */
	uint8_t idle;  /* programmes in a row in which it did not press */
};

struct pile_row {
	uint32_t a, b;	 /* slots; b: PILE_STATIC, or above a */
	vec3 normal;	 /* unit, towards a */
	double gap;	 /* m; negative: they overlap */
	vec3 point;	 /* m: midway between their nearest points, or one that they share */
	double distance; /* m: of the two; a gap that they keep (pile_smoothing) is not taken off */
	struct pile_key key;
	uint8_t place; /* enum lp_place in the last programme that had it; LP_BASIC: it does not press */
	uint8_t slack; /* enum lp_place of what is left of its overlap */
	bool smoothed; /* with a gap between two that have edges */
	bool taken;    /* it is in the programme */
	bool held;     /* the next step takes it too, because its programme goes on there */
	double force;  /* N: its price */
};

/* The basis of the last tick, by bodies and by rows, each ascending: the method's block. */
enum { PILE_COLUMNS = 6 }; /* of a body, at most */
struct pile_basis {
	struct pile_column_places {
		body_id body;
		uint8_t place[PILE_COLUMNS];
		uint8_t grown, halved, waits;
		struct pile_softness softness;
		bool whole, lifts;
	} * columns; /* owned */
	struct pile_row_place {
		struct pile_key key;
		uint8_t place, slack;
	} * rows; /* owned: those that pressed, were at their limit, or are of programmes that go on */
	uint32_t column_count, row_count;
};

/* A face of a static shape. */
struct pile_face {
	uint32_t placement, part;
};

/* A convex piece in place: a shape, a part of a solid, or a triangle of a mesh. */
struct pile_piece {
	const struct shape *shape; /* of the placement */
	pose at;
	uint32_t placement, child;
	vec3 centre;   /* m: the piece lies in this sphere; not of planes and triangles */
	double radius; /* m */
};
/* What keeps two pieces apart: normal · (displacement of the first) ≥ −distance. */
struct pile_parting {
	vec3 normal;	 /* unit, towards the first */
	double distance; /* m; negative: they overlap */
	vec3 point;	 /* m: midway between their nearest points, or one that they share */
};
/* A piece of a body and one of another near it. */
struct pile_near_piece {
	struct pile_parting parting;
	struct pile_piece own, piece;
};

/* Memory of a step's search, kept from tick to tick, so that a steady tick makes no heap call. */
struct pile_room {
	ARRAY_OF(struct pile_row) rows;
	ARRAY_OF(uint32_t) spheres;	  /* near one body: slots */
	ARRAY_OF(uint32_t) obstacles;	  /* near one body: placements */
	ARRAY_OF(struct pile_face) faces; /* of `region` */
	ARRAY_OF(vec3) corners;
	ARRAY_OF(struct pile_cut) cuts;		 /* of one programme */
	ARRAY_OF(struct pile_piece) own;	 /* of all bodies that move, by slot */
	ARRAY_OF(struct pile_near_piece) pieces; /* near one body */
	ARRAY_OF(uint32_t) near;		 /* what one body attracts: rows of bodies */
	ARRAY_OF(struct pile_term) pairs;
	struct free_region region;
	struct epa_workspace *epa; /* owned */
};

enum pile_box { PILE_BOX_CORNER_DOWN, PILE_BOX_UPRIGHT };

/* One step. */
struct pile {
	struct step *step;
	const struct pile_basis *before;
	struct pile_room *room; /* borrowed, of the method's state */
	enum pile_box box;
	double reach;	     /* of the radius */
	double conservative; /* price of displacement, of the largest force (papers P-08) */
	double rest;	     /* a smaller part of force times radius is rest */
	double soft;	     /* of the largest force times the mean radius; 0: contacts are hard */
	double acceleration; /* of the radius: what a step adds to `ahead` (papers P-07) */
	uint32_t pivots_max; /* of a programme; 0: until it is solved (papers P-18) */
	double work_max, work;	  /* of all programmes of the step, of PILE_WORK; 0: no limit */
	uint32_t zone_max;	  /* bodies of a zone */
	vec3 axes[3];		  /* of the boxes */
	bool leads_down[3];	  /* of the axes */
	vec3 down;		  /* unit, along gravity */
	struct pile_body *bodies; /* by slot */
	struct pile_row *rows;	  /* ascending by (a, key) */
	uint32_t row_count;
	struct pile_term *terms; /* of bodies, ascending by a, then of springs by row */
	uint32_t term_count;
	uint8_t (*places)[PILE_COLUMNS]; /* by slot, of this step's programmes */
	vec3 *moves;			 /* m, by slot */
	bool *resting; /* by slot: no permitted displacement lowers the energy of its group */
	/* Figures. */
	uint32_t groups, zones, pivots, fallbacks;
	double residual; /* the worst of the programmes */
};

/* Bodies by slot and the rows of all that may meet in the step. NO_MEMORY. */
MUST_CHECK enum status pile_make_bodies(struct pile *self);
MUST_CHECK enum status pile_make_rows(struct pile *self);
/* Appends the rows of a body against static placements (papers P-04) to the room's. NO_MEMORY. */
MUST_CHECK enum status pile_add_static(const struct pile *self, uint32_t slot,
				       const uint32_t *placements, uint32_t count);
/* True if moving bodies can meet the shape, and if they can have it. */
bool pile_is_obstacle(const struct shape *shape);
bool pile_is_mover(const struct shape *shape);
/* Appends the convex pieces of a body that moves to the room's `own`. NO_MEMORY. */
MUST_CHECK enum status pile_list_pieces(const struct pile *self, struct pile_body *body);
/* Whether a piece of the body and the placement may meet by what they are, not by where. */
bool pile_may_meet(const struct pile *self, uint32_t slot, uint32_t placement);
/* As pile_add_static for a body that is no sphere, and for two bodies of which one at least is none.
 * NO_MEMORY. */
MUST_CHECK enum status pile_add_static_convex(const struct pile *self, uint32_t slot,
					      const uint32_t *placements, uint32_t count);
MUST_CHECK enum status pile_add_convex(const struct pile *self, uint32_t slot, uint32_t other);
/* m: the gap that a body keeps to others with edges. */
double pile_smoothing(const struct pile_body *body);

/* METHOD_REFUSES: the method does not support `what`; the remedy, or another method, helps. */
MUST_CHECK enum status pile_refuse(struct reason *why, const char *field, const char *what,
				   const char *remedy);

/* ---- potentials --------------------------------------------------------------------------------- */

/* OK if the force field in `row` of the table has a potential that the method can follow; else
 * METHOD_REFUSES. The second for one that a command makes or changes. */
MUST_CHECK enum status pile_check_field(const struct field_table *table, uint32_t row,
					struct reason *why);
MUST_CHECK enum status pile_admit_field(const struct command *command, struct reason *why);
/* How far the energy of a pull after a displacement of a lies above its tangent, and its curvature. */
double pile_pull_excess(const struct pile_pull *self, vec3 way, vec3 *slope);
mat3 pile_pull_bend(const struct pile_pull *self, vec3 way);
/* Lists the pairs that attract each other in the room. NO_MEMORY. The second adds their terms, and their
 * pulls to bodies. */
MUST_CHECK enum status pile_find_pairs(struct pile *self);
void pile_make_pairs(struct pile *self);
/* step_wake_reached, with the sleepers that what moved in the last step attracts. NO_MEMORY. */
MUST_CHECK enum status pile_wake_attracted(struct step *step, struct pile_room *room,
					   const struct collide_options *options);
/* Lists the terms of all bodies and adds to their sizes. NO_MEMORY. */
MUST_CHECK enum status pile_make_terms(struct pile *self);
/* m: the displacement of a against b. */
vec3 pile_term_way(const struct pile *self, const struct pile_term *term);
/* J, ≥ 0: how far the potential after a displacement of a against b lies above its tangent at the
 * beginning; it is convex, and never below the true one. *slope, N: its gradient. */
double pile_term_excess(const struct pile *self, const struct pile_term *term, vec3 way,
			vec3 *slope);
/* N/m: the curvature of the excess there. */
mat3 pile_term_bend(const struct pile *self, const struct pile_term *term, vec3 way);
/* OK if the joint in `row` of the table is a spring that the method can follow; else METHOD_REFUSES. The
 * second for a JOINT_CREATE or JOINT_AXIS. */
MUST_CHECK enum status pile_check_joint(const struct joint_table *table, uint32_t row,
					struct reason *why);
MUST_CHECK enum status pile_admit_joint(const struct command *command, struct reason *why);
/* At least the number of springs; adds their terms, and their pulls to bodies. */
uint32_t pile_spring_count(const struct pile *self);
void pile_make_springs(struct pile *self);
double pile_spring_excess(const struct pile_spring *self, vec3 way, vec3 *slope);
mat3 pile_spring_bend(const struct pile_spring *self, vec3 way);
/* Writes the springs' forces, at the places that bodies have moved to, into the joint table. */
void pile_store_springs(const struct pile *self);

/* ---- solving ------------------------------------------------------------------------------------ */

/* Divides bodies into zones of at most `most` that are near each other, the lowest first: reorders
 * `slots`, each zone ascending, and fills in `first` (zones + 1). NO_MEMORY. */
MUST_CHECK enum status pile_divide(const struct pile *self, uint32_t most, uint32_t *slots,
				   uint32_t count, uint32_t *first, uint32_t *zones);

/* Fills in moves, places and the rows' forces. NO_MEMORY. */
MUST_CHECK enum status pile_solve(struct pile *self);

/* The basis that the step leaves, owned by the caller. NO_MEMORY. */
MUST_CHECK enum status pile_basis_of(const struct pile *self, struct pile_basis *out);
void pile_basis_release(struct pile_basis *self);
uint32_t pile_basis_bytes(const struct pile_basis *self);
void pile_basis_write(const struct pile_basis *self, uint8_t *block);
/* CORRUPT: it was not written by pile_basis_write; NO_MEMORY. */
MUST_CHECK enum status pile_basis_read(const uint8_t *block, uint32_t bytes, struct pile_basis *out,
				       struct reason *why);
/* Sets what a body takes from the step before; 0 for one that is not in the basis. */
void pile_basis_counts(const struct pile_basis *self, body_id body, struct pile_body *out);
/* Gives rows and columns of the step the places of the basis before. */
void pile_basis_recall(struct pile *self);

#endif
