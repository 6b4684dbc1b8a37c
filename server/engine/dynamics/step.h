/* step.h: the stages of one step of a world, between two boundaries.
 *
 * A step stages everything and commits at its end:
 *
 *   step_begin            the bodies that take part, the pairs of pieces that are near
 *   step_collide          manifolds, at the tables' motions or at any others, as often as the method
 *                         needs
 *   step_wake_reached     sleeping bodies that an awake body reaches take part from now on
 *                         (a method may let them hold until they are pushed: step_wake_pushed)
 *   step_number           slots 0, 1 … for the bodies that take part
 *   (the method)          constraints, islands (islands.h), rows (constraint.h), solve
 *   step_commit           the last stage that may fail
 *   (the method)          impulses into the contact table
 *   step_contacts_solved, step_store_all, step_sleep, step_finish
 *
 * Invariant 1: before step_commit returns STATUS_OK no column of any table is written. LIMIT and
 *   NO_MEMORY may come from any stage before; the caller then calls step_abandon, and the state is
 *   what it was.
 * Invariant 2: step_collide is a pure function of the motions given, of the list's pairs, of the
 *   contact table as the step began, and of its options. It writes its list only: it wakes no body and
 *   updates no report. Within a step its hints are always those of the step's start and never of an
 *   earlier trial, because hints decide between equal features and so the last bits of results.
 * Invariant 3: the result does not depend on the number of workers.
 *
 * Stages enter those of the profile (server/base/profile.h) by themselves; what a method does between
 * step_number and step_commit counts as PROFILE_SOLVE unless it enters others.
 *
 * Memory is pushed on dynamics->scratch, which is empty between steps. step_begin reserves what the
 * method needs (step_need), so that a steady tick makes no heap call.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_STEP_H
#define CAIRN_ENGINE_DYNAMICS_STEP_H

#include "server/engine/collision/contact_polygon.h"
#include "server/engine/dynamics/dynamics.h"

/* ---- contacts ------------------------------------------------------------------------------ */

/* A contact point at the motions of the collide, world axes. */
struct contact_point {
	vec3 arm_a, arm_b; /* m, from the mass centres to the point midway between the surfaces */
	double separation; /* m; negative: penetrating */
	uint32_t feature;  /* names the pair of geometric features from step to step */
};

/* Two near pieces and where they touch. One with a single point is in two cache lines, because balls have
 * thousands, which every stage visits; all is five, an odd number, so that a member of all contacts is not
 * in half of the cache's sets. */
struct contact_state {
	/* Of the contact table; of a new pair the row that it gets at commit; STEP_NO_ROW: a scratch
	 * pair of step_reach. */
	_Alignas(64) uint32_t row;
	uint32_t body_a, body_b;   /* rows */
	struct contact_piece a, b; /* a.placement < b.placement */
	uint8_t point_count;	   /* 0: nothing near enough to matter in this step */
	bool is_new;		   /* it has no row before the commit, so no hints or multipliers */
	bool kept;	 /* the manifold is that of the table; else it is in the list's `made` */
	bool met;	 /* a new pair of which neither body took part before; both do now */
	bool scratch;	 /* found by step_reach */
	uint8_t one_way; /* bits of one_way.h; 0: both bodies are solid from all sides */
	bool reaches; /* one body takes part, the other sleeps, and a point may close within the step */
	bool holds; /* one body takes part and is dynamic, the other sleeps and does not move until it is
		       pushed (collide_options.hold) */
	bool timed;  /* `begins` of the list's `made` is set */
	vec3 normal; /* unit, a → b */
	struct contact_point points[MANIFOLD_POINTS_MAX];
};
#define STEP_NO_ROW UINT32_MAX
_Static_assert(offsetof(struct contact_state, points[1]) == 128, "one point: two cache lines");

/* A manifold made in this step, in the frame of A's body; step_commit copies it into the row. What is
 * read of a single point is together. */
struct contact_made {
	pose b_in_a; /* B's body in A's */
	struct pair_cache cache;
	/* The method's warm start for the new points, in its own layout of contact.multiplier: zero
	 * unless it is carried over (collide_options.carry, or a rule of the method). */
	double multiplier[3 * MANIFOLD_POINTS_MAX];
	double margin; /* m: without points, the pieces are farther apart than this */
	struct manifold manifold;
	double begins; /* of the step, 0 … 1: see contact_begins */
};

struct contact_list {
	struct contact_state
		*items; /* in scratch; ascending by row, scratch pairs last, ascending by pieces */
	struct contact_made *made; /* beside items; filled where !kept */
	uint32_t count, capacity;
	bool reaches; /* some contact that was collided does */
};

/* The part of the step at which contact i began to touch, for the event: 1 unless a method that resolves
 * time within a step has set it, of a contact whose manifold it made. */
static inline double contact_begins(const struct contact_list *list, uint32_t i)
{
	return list->items[i].timed ? list->made[i].begins : 1;
}

/* ---- the step ------------------------------------------------------------------------------ */

/* The scratch pairs of the list that step_reach completes: the last `count` of it. Private to
 * step_reach.c. */
struct step_scratch {
	uint32_t *slots; /* hash index by pieces: place in the list + 1, 0 free */
	uint32_t capacity, count;
	uint64_t *leaves; /* bit a slot: it leaves its fat boxes; 0 between calls */
};

struct step {
	struct dynamics *dynamics;	 /* borrowed; read only until step_commit */
	const struct parallel *parallel; /* borrowed */
	double dt;			 /* s */
	/* Rows of the bodies that take part: awake at the boundary, or woken in this step. From
	 * step_number on ascending, with slot i for bodies[i]; before, those woken only. */
	uint32_t *bodies;
	uint32_t body_count;
	struct contact_list contacts; /* all near pairs of which a body takes part */
	uint64_t *woken;  /* bit a body row: it slept at the boundary and takes part now */
	uint64_t *gone;	  /* bit a contact row: it goes at commit */
	uint64_t *listed; /* bit a contact row: gone, or in the list */
	uint32_t woken_count;
	bool unsorted; /* contacts of woken bodies are at the end of the list, out of order */
	struct contact_list spare; /* room to sort them; only if some contacts sleep */
	uint32_t *place;	   /* by row: index in the list while it is sorted */
	bool reached;		   /* there may be scratch pairs */
	struct step_scratch scratch;
	uint32_t
		block_bytes; /* of the method's block after this step; unchanged unless the method sets it */
	const struct contact_list *committed;
	struct { /* room for one_way_store */
		uint64_t *keys;
		uint32_t *items, count;
	} one_way;
	uint64_t *swept; /* bit a slot: step_sweep searched its path; NULL: it was not called */
};

/* Bytes that a method pushes on the scratch arena in a step, at most, each push rounded up to 64.
 * `bodies`, `contacts`: numbers of rows that may take part. NULL: the method reserves during the
 * step and returns NO_MEMORY itself. */
typedef uint64_t step_need(uint64_t bodies, uint64_t contacts);

/* Bytes of scratch of the step itself, for so many bodies and contacts of which none sleeps. */
uint64_t step_own_bytes(uint64_t bodies, uint64_t contacts);
/* Between steps: if bodies have been made, takes the memory that their first step needs, and touches what it
 * will usually use, so that the step does not wait for it. Without memory nothing happens. */
void step_touch(struct dynamics *dynamics, step_need *need, step_need *usual);

/* Finds near pairs among the placements that moved since the last step, and the bodies that take
 * part. dt > 0, s. `contacts` false: for a method without contact; no pairs are looked for. LIMIT
 * (contacts_max, memory_max), NO_MEMORY; `why` names the limit. */
MUST_CHECK enum status step_begin(struct step *self, struct dynamics *dynamics, double dt,
				  bool contacts, step_need *need, struct reason *why);

/* True if a body row takes part. */
static inline bool step_takes_part(const struct step *self, uint32_t body)
{
	return bitset_get(&self->dynamics->awake, body) ||
	       (self->woken_count > 0 && (self->woken[body / 64] >> (body % 64) & 1));
}

/* Options of step_collide. */
struct collide_options {
	const struct body_motion
		*motions; /* by slot; bodies without a slot, and all if NULL, are at the
					      motions in the tables */
	double dt; /* s ≥ 0, duration of these motions: fast points matter at a larger distance */
	double near;  /* m ≥ 0: points nearer than this matter even at rest */
	double touch; /* m ≥ 0: a point no farther apart than this reaches a sleeping body */
	/* m: two convex polyhedra that are apart, but no farther than this, get their nearest points if
	 * clipping lost these, or found an axis on which they overlap. 0: they do not. */
	double nearest;
	bool anew; /* every manifold is made at full precision; else those of pieces that moved
			little are kept */
	bool hold; /* a dynamic body does not wake sleeping ones without joints: contacts `hold` */
	/* The multipliers that a point with a known feature keeps: a point's normal multiplier
	 * (entries 0, 3, 6, 9; the other entries stay where they are), or all three. New points
	 * begin with none. */
	enum collide_carry { CARRY_NOTHING = 0, CARRY_NORMALS = 1, CARRY_POINTS = 3 } carry;
};
static inline struct collide_options collide_options_default(double dt)
{
	return (struct collide_options){ .dt = dt, .near = CONTACT_NEAR, .carry = CARRY_NOTHING };
}

/* Narrow phase of the list's contacts first … count-1, in parallel. */
void step_collide(const struct step *self, struct contact_list *list, uint32_t first,
		  const struct collide_options *options);
/* The whole contact polygon of a contact at the options' motions, and the feature its normal turns
 * with, in world coordinates. The narrow phase runs again, with the hints of the step's start, and
 * its result is not stored. A pure function, as step_collide is; a contact that is not near has no
 * points. */
void step_polygon(const struct step *self, const struct contact_state *contact,
		  const struct collide_options *options, struct contact_polygon *out);
/* The same as corners, each with its own feature; returns their number. `out` has room for
 * CONTACT_CORNERS_MAX. */
uint32_t step_corners(const struct step *self, const struct contact_state *contact,
		      const struct collide_options *options, struct contact_corner *out);
/* Sleeping bodies that are reached take part from now on, with their whole sleep sets and their
 * contacts, until no more are reached; contacts that become live are collided too. The list stays
 * in order. step_number follows. */
void step_wake_reached(struct step *self, const struct collide_options *options);
/* Assigns slots to the bodies that take part, in order of rows. After it no body is woken in this
 * step, but by step_push. */
void step_number(struct step *self);
/* For a method that lets sleeping bodies hold: after a solve, step_push for each body that is to wake,
 * without the others of its sleep set (if it has joints, with them); `bodies` is no longer valid then.
 * step_wake_pushed: those pushed since woken_count was `from` take part, with the sleeping bodies of
 * their sets that touch them in `layers` layers (STEP_WHOLE_SETS: their whole sets); their contacts are
 * listed and collided as by step_wake_reached. step_number follows, and the method solves again. */
void step_push(struct step *self, uint32_t body);
void step_wake_pushed(struct step *self, uint32_t from, uint32_t layers,
		      const struct collide_options *options);
#define STEP_WHOLE_SETS UINT32_MAX
/* Before the commit: a body that was pushed and took part sleeps on, unless its set wakes for another reason.
 * Its motion is not stored. */
void step_doze(struct step *self, uint32_t body);

/* A list of the step's own pairs, to be collided at other motions. NO_MEMORY. */
MUST_CHECK enum status step_list_copy(struct step *self, struct contact_list *out);
/* A body that leaves its fat boxes, and a bound of its path. */
struct step_way {
	uint32_t slot;
	struct aabb box; /* world axes: holds the body on its whole path, rotation included */
	double motion; /* m: none of its points goes farther than this from where the tables have it */
};
/* Adds to `list` the pairs of pieces that come near when these bodies, each slot once, take these
 * paths and the others stay within the fat boxes of their placements. No pair is added twice. Pairs
 * found are scratch (STEP_NO_ROW) at the end of the list, those of a call ascending by pieces. Costs with
 * the ways and what is found, and not with the list. One list a step, after step_number. LIMIT
 * (contacts_max, memory_max), NO_MEMORY: the list is as it was. */
MUST_CHECK enum status step_reach(struct step *self, struct contact_list *list,
				  const struct step_way *ways, uint32_t count, struct reason *why);

/* The multipliers that contact i begins with: the made manifold's, or the row's. */
const double *step_multipliers(const struct step *self, const struct contact_list *list,
			       uint32_t i);

/* Figures of a list, into the report: contacts, points, kept and made manifolds, penetration. */
void step_report_contacts(struct step *self, const struct contact_list *list);

/* ---- commit -------------------------------------------------------------------------------- */

/* The state changes from here on: drops and makes contact rows, wakes the bodies woken in this
 * step, copies made manifolds, sizes the method's block. `list`: the contacts as solved (NULL for a
 * method without contact). LIMIT (memory_max, by the block), NO_MEMORY: nothing changed. After it
 * nothing fails.
 */
MUST_CHECK enum status step_commit(struct step *self, struct contact_list *list,
				   struct reason *why);

/* After the commit: contact i of the list gets one point instead of its manifold, of a method that knows
 * where the two are nearest. World axes; `normal` unit, a → b. */
void step_set_contact(struct step *self, struct contact_list *list, uint32_t i, vec3 normal,
		      vec3 point, double separation);

/* m/s: the parameter hit.speed; 0: nobody asks for hits. */
double step_hit_speed(const struct step *self);
/* How a method that resolves time within a step says that two pieces met. */
struct step_met {
	double speed;	    /* m/s, of the fastest collision; 0: they did not meet */
	double impulse;	    /* N s, normal, of the step */
	double fraction;    /* of the step, at that collision */
	vec3 point, normal; /* m, world axes, at that collision; normal unit, a → b */
};
/* After normal_impulse is stored, before step_store_all: sets `touching`, notes begin and end events,
 * clears the impulses of contacts without points; if the world asks for hits, notes them (step_hits.c).
 * `met`: by contact of the list; NULL: pieces met where an impulse acted, with the speeds of the
 * tables, which are those of the step's start. */
void step_contacts_solved(struct step *self, const struct contact_list *list,
			  const struct step_met *met);
/* Of step_contacts_solved; step_hit_speed > 0. */
void step_note_hits(struct step *self, const struct contact_list *list, const struct step_met *met);

/* Stores pose (of the body's origin, from the mass centre) and velocities of slots 0 …
 * body_count-1, clamped to dynamics_speed_max and dynamics_angular_speed_max, and refreshes placement
 * boxes; in a planar world motions out of the plane are removed. If a number is not finite or the place
 * is beyond LENGTH_MAX: quarantine, that is, the body keeps its last good pose, stops, becomes inactive,
 * and an event says so. Bodies that sleep on (step_doze) are left as they are. In parallel. May be called
 * several times in a step. */
void step_store_all(struct step *self, const struct body_motion *motions);

/* Finds islands of the bodies that took part; those that were slow for long enough fall asleep
 * (sleep.c). */
void step_sleep(struct step *self);

/* Checks the limits for `more` contacts than step_begin found. LIMIT with `why`. */
MUST_CHECK enum status step_check_limits(const struct step *self, uint64_t more,
					 struct reason *why);

/* Ends the step and resets scratch. step_abandon instead if a stage before the commit failed. */
void step_finish(struct step *self);
void step_abandon(struct step *self);

#endif
