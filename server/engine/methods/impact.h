/* impact.h: the parts of the method `impact`: paths of bodies within a tick, times of collision, and the
 * groups of linked bodies that are solved together. impact.c describes the method. Private to
 * server/engine/methods.
 *
 * Every body has a clock: the time within the tick of its state `from`, and a state `to` at the end of
 * its part of the tick (impact_parts.c: mostly the tick's end), which it reaches if nothing happens to it
 * in between. Between them it follows a cubic path
 * (impact_motion_at). A *batch* is a set of bodies with equal clocks, which contains with each body all
 * bodies that are linked to it.
 */
#ifndef CAIRN_ENGINE_METHODS_IMPACT_H
#define CAIRN_ENGINE_METHODS_IMPACT_H

#include "server/base/min_heap.h"
#include "server/engine/dynamics/mass_blocks.h"
#include "server/engine/methods/velocity.h"

/* m. Points no farther apart than this touch. Larger: bodies that are apart get forces; smaller:
 * rounding of positions parts bodies at rest. */
#define IMPACT_TOUCH 1e-6
/* m. Contacts that carried an impulse in the last tick go on touching up to this distance, which
 * their motion closes. Larger: bodies fall onto each other without an event; smaller: curved
 * motions lose contact by the error of their integration. */
#define IMPACT_KEEP 1e-4
/* m. Points that approach more slowly than half of restitution.speed touch from this distance
 * on: they will not bounce, so their forces close the gap without an event. Larger: slow
 * contacts close by the end of the tick and not at their time; smaller: heaps make many events. */
#define IMPACT_CLOSE 1e-3
/* m. A pair that touched and parted collides again when it penetrates deeper. Larger than
 * VELOCITY_DEPTH, up to which penetration is not corrected. */
#define IMPACT_DEPTH 1e-7
/* m. A pair whose points carry forces has another collision when others penetrate deeper than
 * these did. Larger: corners that come down are stopped later; smaller: the change of features
 * of a rolling edge, which the end of the motion corrects, makes events. */
#define IMPACT_SINK 1e-4
/* m. The gap at which a collision is found; bounces gain or lose height by as much. */
#define IMPACT_GAP 1e-10
/* m, rad. A limit of a joint that is no farther away bounces. */
#define IMPACT_LIMIT 1e-5
/* 1. A contact that touched as the tick began collides only above this many times restitution.speed. */
#define IMPACT_HYSTERESIS 2

/* 1, of an island's energy. What it may gain in a tick by the error of its motion; more divides the
 * tick. Larger: bodies that turn fast in contact gain; smaller: rolling bodies move in more parts. */
#define IMPACT_GAIN 1e-3

/* A near pair of the step's list, by its index there. */
struct impact_pair {
	double time;   /* s: of its next event; infinite: none in this tick */
	bool touching; /* it has points in the constraints of its bodies, as of their clocks */
	bool hit;      /* the event that is being resolved is its */
	bool rested;   /* it touched as the tick began */
	bool deep;     /* it began the tick in a region of its solids, and has no event */
	uint32_t unresolved; /* searches without an answer, in the last call of impact_time */
	double first;	     /* s: its first collision in this tick; infinite: none */
};

/* Impulses of a pair, N·s: of the part of the tick that is over, and of the motion from the clocks of its
 * bodies to the end, which an event withdraws. */
struct impact_impulses {
	uint32_t feature[MANIFOLD_POINTS_MAX];
	double normal[MANIFOLD_POINTS_MAX];
	vec3 friction; /* on b, world axes */
	uint32_t count;
};
struct impact_record {
	struct impact_impulses past, coming;
	struct step_met met; /* its fastest collision in this tick; the impulse is not filled */
};

struct impact_joint_record {
	struct joint_result past, coming;
};

struct impact_step {
	struct step *step;
	struct velocity_settings settings;
	struct force_list forces;
	uint32_t rounds_max;	   /* of one body in a tick, with restitution */
	double time_tolerance;	   /* s: events this near are simultaneous */
	struct contact_list *list; /* the step's; scratch pairs are added to it */
	/* By pair. */
	struct impact_pair *pairs;
	struct impact_record *records;
	uint32_t *next_a, *next_b; /* the next pair in the list of body a, of body b */
	struct min_heap coming;	   /* pairs with a time before the tick's end, by that time */
	/* By slot. */
	uint32_t *first_pair, *first_joint; /* UINT32_MAX: none */
	double *clock;
	struct body_motion *from, *to, *now;
	uint32_t *rounds; /* batches that the body was in */
	uint32_t *local;  /* its slot in the present batch; UINT32_MAX */
	bool *movable;
	struct aabb *reached; /* pairs are complete while the body stays within this box */
	/* Joints, with the same lists by body. */
	struct step_joints joints;
	struct impact_joint_record *joint_records;
	uint32_t *joint_next_a, *joint_next_b;
	bool *bounces; /* by joint: it has limits with restitution */
	struct min_heap
		limits; /* joints that reach such a limit before the tick's end, by that time */
	struct impact_figures counts;
	double error; /* m: largest estimate of a part that was accepted */
	/* Parts of the tick (impact_parts.c), by slot. */
	double *until;	      /* s: time of the state `to` */
	double *part;	      /* s: longest part that its group may take next */
	double *sure;	      /* s: parts up to this time need no estimate any more */
	struct min_heap ends; /* slots with a part that ends before the tick, by that time */
	bool parted;	      /* some body's tick may be divided */
	double accuracy;      /* m; 0: not estimated */
	double *gained;	      /* J, by slot: what its island gained in its last motion above that */
	uint32_t substeps_max;
	/* impact_fields.c, by slot; NULL if field_rounds is 0. */
	uint32_t field_rounds;
	uint32_t *field_count; /* rounds of collisions with fields in this tick */
	double *field_weight;  /* m: scratch, 0 between rounds */
};

/* ---- impact_links.c: the pairs and joints of bodies, and sets of bodies */

/* Bodies by slot, each once: those with a place in impact_step.local, until it is forgotten. */
struct impact_set {
	uint32_t *items, count; /* borrowed; room for all bodies of the step */
};

/* The lists of all joints by body. */
void impact_link_joints(struct impact_step *self);
/* Arrays by pair and the lists by body for all pairs of the list. NO_MEMORY. */
MUST_CHECK enum status impact_link_pairs(struct impact_step *self);
/* Adds a body; nothing happens if it is there, or takes no part. */
void impact_set_add(const struct impact_step *self, struct impact_set *set, uint32_t slot);
/* Adds all bodies that are linked to those of the set by touching or by joints; a body that cannot
 * move links no others. */
void impact_set_add_linked(const struct impact_step *self, struct impact_set *set);
void impact_set_forget(const struct impact_step *self, const struct impact_set *set);
/* Ascending. NO_MEMORY. */
MUST_CHECK enum status impact_set_sort(struct impact_step *self, struct impact_set *set);
/* The pairs of the movable bodies of a set, each once, in the order in which pairs are solved. In the step's
 * scratch. NO_MEMORY. */
MUST_CHECK enum status impact_pairs_of(struct impact_step *self, const struct impact_set *set,
				       uint32_t **out, uint32_t *out_count);
/* Into the order in which pairs are solved: by row, then scratch pairs by pieces. NO_MEMORY. */
MUST_CHECK enum status impact_pairs_sort(struct impact_step *self, uint32_t *pairs, uint32_t count);
/* Of two numbers (uint32_t), for sort_items. */
int impact_compare_numbers(const void *a, const void *b, void *context);
/* Completes the pairs for the paths of a set. LIMIT, NO_MEMORY. */
MUST_CHECK enum status impact_reach(struct impact_step *self, const struct impact_set *set,
				    struct reason *why);
/* Puts scratch pairs in order of their pieces, as step_commit numbers them. The lists by body, `coming` and
 * list->made are of no use afterwards. NO_MEMORY. */
MUST_CHECK enum status impact_pairs_finish(struct impact_step *self);

/* ---- impact_path.c: paths and times of collision */

/* Slot of a body row; ROW_NO_BODY if it takes no part. */
uint32_t impact_slot(const struct impact_step *self, uint32_t body);
/* Motion of a body row at `time`, between its clock and the tick's end. */
struct body_motion impact_motion_at(const struct impact_step *self, uint32_t body, double time);
/* The time of a pair's next event in this tick, s; infinite: none. *unresolved counts searches that
 * ended without an answer. A pure function of clocks and paths. */
double impact_time(const struct impact_step *self, uint32_t pair, uint32_t *unresolved);
/* A time before a limit of a joint bounces, from the motions at its bodies' clocks; infinite: none does. */
double impact_limit_time(const struct impact_step *self, uint32_t joint);
/* A box that holds a body's path from its clock to the tick's end, and a bound of how far its points go from
 * where the tables have them, m. *leaves: the path of a placement is not within its fat box. */
struct aabb impact_path_box(const struct impact_step *self, uint32_t slot, double *motion,
			    bool *leaves);

/* Whether a pair collides with a distance field as impact_fields.c says. */
bool impact_meets_field(const struct impact_step *self, uint32_t pair);
/* How the pieces of a pair overlap where their paths end, as the bodies are where they begin. */
struct impact_meeting {
	double begin; /* s */
	uint32_t count;
	vec3 normal; /* unit, a → b, world; it has turned with the field */
	uint32_t feature[MANIFOLD_POINTS_MAX];
	vec3 arm_a[MANIFOLD_POINTS_MAX],
		arm_b[MANIFOLD_POINTS_MAX]; /* m, of each body's own point */
	double depth[MANIFOLD_POINTS_MAX];  /* m > 0, at the end */
	double speed[MANIFOLD_POINTS_MAX];  /* m/s: n·(v_b − v_a) at the beginning */
};
/* False: they do not overlap there. One of them has a field. */
bool impact_meeting_find(const struct impact_step *self, uint32_t pair, struct impact_meeting *out);

/* ---- impact_fields.c: collisions with distance fields at the beginning of a path */

/* NO_MEMORY. */
MUST_CHECK enum status impact_fields_begin(struct impact_step *self);
/* Velocities after the collisions of those pairs that are hit, all with equal clocks. NO_MEMORY. */
MUST_CHECK enum status impact_fields_collide(struct impact_step *self, const uint32_t *pairs,
					     uint32_t count);

/* ---- impact_regions.c: solids that are deep in each other */

/* Contacts of regions instead of those of pieces, in a list that was collided at `motions` (by slot); entry i
 * is the tick's pair pairs[i]. `begins`: at the tick's start, which decides which pairs have regions.
 * NO_MEMORY. */
MUST_CHECK enum status impact_regions_apply(struct impact_step *self, struct contact_list *list,
					    const uint32_t *pairs,
					    const struct body_motion *motions, bool begins);

/* ---- impact.c: of use to impact_parts.c */

/* The pairs of the movable bodies of a set, ascending, each once; in the step's scratch. NO_MEMORY. */
MUST_CHECK enum status impact_pairs_of(struct impact_step *self, const struct impact_set *set,
				       uint32_t **out, uint32_t *out_count);
/* Withdraws the impulses that pairs and joints of a set have in the motion from its clocks. */
void impact_forget_coming(const struct impact_step *self, const uint32_t *pairs, uint32_t count,
			  const struct impact_set *set);
/* Contacts of the pairs at `time`, and whether they touch: with bodies of the set, and with bodies that
 * cannot move. NO_MEMORY. */
MUST_CHECK enum status impact_find_contacts(struct impact_step *self, const struct impact_set *set,
					    const uint32_t *pairs, uint32_t count, double time);

/* ---- impact_parts.c: parts of a tick, and their errors */

/* Fills the arrays of parts, for clocks at 0 and paths to the tick's end. NO_MEMORY. */
MUST_CHECK enum status impact_parts_begin(struct impact_step *self);
/* True if the body's tick may be divided. */
bool impact_parts_divide(const struct impact_step *self, uint32_t slot);
/* Impulses at the clocks of a set, then its motion to the end of its part, whose length the set's bodies and
 * their estimated errors decide. `event`: it counts as one. NO_MEMORY. */
MUST_CHECK enum status impact_parts_resolve(struct impact_step *self, const struct impact_set *set,
					    bool event);
/* The earliest end of a part before the tick's end, s; infinite: there is none. */
double impact_parts_next(const struct impact_step *self);
/* Removes a slot with that end from those that have one. */
uint32_t impact_parts_take(struct impact_step *self);
/* Bodies of the set whose part ends at `time` are in its state `to`, and the impulses of the part are
 * past. `pairs`: those of the set. */
void impact_parts_end(struct impact_step *self, const struct impact_set *set, const uint32_t *pairs,
		      uint32_t count, double time);

/* ---- impact_batch.c: the constraints of linked bodies, their impulses and their motion */

struct impact_batch {
	struct impact_step *of;
	struct step step; /* a copy: its bodies are the batch's, its dt the length of the motion */
	struct velocity_step solve;
	const uint32_t *slots; /* of the step, ascending */
	uint32_t count;
	bool changed;		   /* impact_batch_collide changed a velocity */
	double begin;		   /* s: the clocks */
	struct body_motion *start; /* by slot of the batch */
	uint8_t *integrator; /* by slot of the batch: enum body_integrator, one for each island */
	bool repeats;  /* islands that gain too much will move again: nothing of them is counted */
	bool embedded; /* every body that moves has INTEGRATOR_RK45, which estimated `error` */
	double error;  /* m: of the last motion, at the tolerance's measure */
	struct contact_list list; /* the points that touch */
	uint32_t *pair;		  /* by index of the list */
	uint32_t *joint;	  /* by joint of the batch: its index in the step's joints */
	struct mass_blocks stiff; /* of linked bodies with implicit forces; `blocks` NULL: none */
};
/* Collects the batch of these slots, which are linked to no other movable body, at their clocks, for a motion
 * of `span` s. In the step's scratch. NO_MEMORY. */
MUST_CHECK enum status impact_batch_make(struct impact_batch *self, struct impact_step *of,
					 const uint32_t *slots, uint32_t count, double span);
/* True if the pair has points that touch, at the motions `a` and `b` at which the list has them. */
bool impact_touches(const struct impact_step *self, uint32_t pair, const struct body_motion *a,
		    const struct body_motion *b);
/* True if the bodies of a pair had so many events in this tick that its gaps are closed by forces alone. */
bool impact_is_settled(const struct impact_step *self, const struct contact_state *contact);
/* Resolves collisions and stops approaches, all at once: `from` gets the velocities after. NO_MEMORY. */
MUST_CHECK enum status impact_batch_collide(struct impact_batch *self);
/* Moves the batch by its span into `out` (by slot of the step). Impulses are added to the pairs' past, or,
 * with `coming`, replace their coming ones. NO_MEMORY. */
MUST_CHECK enum status impact_batch_move(struct impact_batch *self, struct body_motion *out,
					 bool coming);

/* Adds the impulses of `from`. */
void impact_add_impulses(struct impact_impulses *to, const struct impact_impulses *from);
void impact_add_joint(struct joint_result *to, const struct joint_result *from);
/* The difference of two states after a motion of h seconds, m: of positions, and of velocities times h. */
double impact_batch_distance(const struct impact_step *self, uint32_t slot,
			     const struct body_motion *x, const struct body_motion *y, double h);

/* ---- impact_stages.c: motion by explicit integrators */

/* Moves the bodies of the batch that have an explicit integrator: fills motions, after and impulses, and sets
 * the integrator of those to automatic, or to implicit_euler where a spring is too stiff, for which it has
 * no result; they are counted. NO_MEMORY. */
MUST_CHECK enum status impact_stages_move(struct impact_batch *self);
static inline bool impact_is_explicit(uint8_t integrator)
{
	return integrator != INTEGRATOR_AUTOMATIC && integrator != INTEGRATOR_IMPLICIT_EULER;
}

/* ---- impact_stiff.c: forces of the list, implicitly */

/* Replaces the sums (by slot of the batch) of members with implicit Euler by those of the end of their
 * motion without constraints, and fills `stiff`, if the world has fields. NO_MEMORY. */
MUST_CHECK enum status impact_stiff_forces(struct impact_batch *self, struct force_sum *sums);
/* After the islands' motion: the forces of the list that linked members have with their constraints. */
void impact_stiff_finish(struct impact_batch *self);

/* ---- impact_island.c: contacts of one island without joints */

/* Points that slide, carry an impulse x and have no consistent acceleration: their own friction turns the
 * body so that a greater normal force makes a smaller acceleration of the gap (Painlevé). Each is counted as
 * a fallback. */
uint32_t impact_island_dead_ends(const struct velocity_island *self, const double *x);
/* J'v of a row; of tangents as they were rotated. */
double impact_island_bias(const struct velocity_island *self, uint32_t i);
/* Solves the forces at the beginning, at the level of accelerations, and sets `moving`. */
island_solve impact_island_forces;
/* Removes penetration at the end, then solves the velocities there. The context of both is a
 * velocity_stage. */
island_solve impact_island_end;
/* Displaces bodies out of penetration that the motion left. */
island_solve impact_island_push;
/* Resolves one island's collisions at the present motions. */
island_solve impact_island_collide;

#endif
