/* dynamics.h: what a method stands on: the world's tables, everything derived from them, and the
 * services of a step (broad phase, narrow phase, forces, islands, sleep).
 *
 * State lives in the tables. All else here is a cache: a pure function of the tables that
 * dynamics_rebuild makes anew (a test does so at random ticks and expects equal hashes):
 *   index       body id → row                           look-up only
 *   awake       rows of bodies that may move now (dynamic and awake, or animated and not at rest)
 *   live        rows of contacts with at least one awake body: the ones a step walks
 *   used        rows that are taken; the lowest free one is given out next
 *   bodies      of each body row: rotation matrix, mass centre in the world, reach, its contacts
 *   broad phase over placement.fat_min/max of active placements; nothing of its shape reaches an answer
 *   moved       placements whose box, filter or status changed since the last prepare. Taking more for
 *               moved changes nothing, because of invariant 1; after a rebuild all are.
 *
 * Invariant 1: after dynamics_prepare there is a contact row for exactly those pairs of pieces that
 * are `wanted` (pairs.c): of different solid bodies, one of them dynamic, not filtered out, with
 * overlapping fat boxes. New pairs take the lowest free rows in the order of (placement a, placement b,
 * child a, child b), so rows are a function of the tables alone.
 * Invariant 2: a sleeping body is in none of the sets a step walks, and neither is a contact of
 * sleeping and static bodies only.
 *
 * A step has two halves. dynamics_prepare does everything that may fail (new pairs against the limits,
 * growth of pools and scratch) and changes nothing when it fails. After it, nothing fails and nothing
 * is allocated.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_DYNAMICS_H
#define CAIRN_ENGINE_DYNAMICS_DYNAMICS_H

#include "server/base/arena.h"
#include "server/base/bitset.h"
#include "server/base/parallel.h"
#include "server/base/table.h"
#include "server/engine/collision/broad_phase.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/types.h"
#include "server/engine/world/tables.h"

/* How good the step's answer was and what it cost; goes out as statistics. */
struct step_report {
	uint32_t awake_bodies, contacts, touching, points, islands, colours;
	uint32_t pairs_new, pairs_gone;
	uint32_t manifolds_made, manifolds_kept; /* narrow phase run, and skipped because nothing moved */
	uint32_t iterations;
	uint32_t fallbacks; /* times a plan B was taken */
	double residual;    /* the method's own measure; its documentation names it */
	double penetration_max, penetration_mean; /* m, over points with separation < 0 */
	uint32_t quarantined;
};

/* Events of the step being made, in the order they happened; the world sorts them. */
struct event_list {
	struct event *items; /* owned */
	uint32_t count, capacity;
};

#define DYNAMICS_NONE UINT32_MAX

/* One end of a contact in the list of its body: edge 2r is the end of row r at A's body, 2r+1 at B's. The
 * order of a list depends on history; whoever walks it must not let the order reach an answer. */
struct contact_edge {
	uint32_t next, previous; /* edges, DYNAMICS_NONE at the ends */
};

/* What is kept of a body beside its columns. */
struct body_cache {
	mat3 rotation;	/* of body.rotation */
	vec3 centre;	/* mass centre, world, m */
	double reach;	/* m, farthest point of its shapes from the mass centre; 0 without shapes */
	double motion;	/* m, how far its farthest point went in the last step it was stored */
	uint32_t first_edge; /* DYNAMICS_NONE without contacts */
	uint32_t slot;	/* for the method: its number among the awake, valid within a step */
};

/* A contact as it stands now, for a method to solve: all that collide found, world axes. */
struct contact_point {
	vec3 arm_a, arm_b; /* m, from the mass centres to the point midway between the surfaces */
	double separation; /* m, now; negative: penetrating */
};
struct contact_state {
	uint32_t row;		 /* of the contact table */
	uint32_t body_a, body_b; /* rows */
	uint8_t point_count;	 /* 0: nothing near enough to matter in this step */
	uint8_t kept, wakes;	 /* manifold of an earlier step; an awake body reaches a sleeping one */
	vec3 normal;		 /* unit, a → b */
	struct contact_point points[MANIFOLD_POINTS_MAX];
};

/* A contact row to be made. */
struct contact_pair {
	uint64_t placements; /* a << 32 | b, a < b */
	uint64_t children;   /* child a << 32 | child b */
};

struct dynamics {
	struct tables *tables;		   /* borrowed from the world */
	const struct shape **shapes;	   /* by row of the shape table; borrowed from the world */
	const struct parallel *parallel;   /* for this step; borrowed */
	struct table body_index;	   /* body id → row */
	struct bitset awake, live;
	struct bitset parted; /* rows of bodies that lost contact points; whoever reads it empties it */
	struct bitset body_used, placement_used, contact_used;
	struct bitset moved; /* placement rows */
	struct {
		struct body_cache *items; /* by body row, owned */
		uint32_t count, capacity;
	} bodies;
	struct {
		struct contact_edge *items; /* two a contact row, owned */
		uint32_t count, capacity;
	} edges;
	struct broad_phase *broad_phase;   /* owned */
	struct proxy_pairs near_pairs;
	struct {
		struct contact_pair *items;
		uint32_t count, capacity;
	} new_pairs;
	struct {
		uint32_t *items; /* contact rows */
		uint32_t count, capacity;
	} gone;
	struct {
		uint64_t *items;
		uint32_t count, capacity;
	} sort_scratch;
	struct {
		uint32_t *items; /* triangles */
		uint32_t count, capacity;
	} triangles;
	/* The live contacts of this step in order of rows; in scratch, from collide on. */
	struct contact_state *contacts;
	uint32_t contact_count;
	struct arena scratch;		   /* empty between steps */
	struct event_list events;
	struct step_report report;
};

/* A method's step calls these in this order:
 *   dynamics_prepare → dynamics_collide → forces → its own solve → its impulses into the contact table
 *   → dynamics_contacts_solved → dynamics_store_* → dynamics_sleep → dynamics_finish
 */

/* Bytes that the method will push on the scratch arena in this step, at most, its pushes rounded up to
 * 64: what it asks for is there without the heap. `bodies`, `contacts`: rows in use; all may wake. */
typedef uint64_t step_need(uint64_t bodies, uint64_t contacts);

/* Broad phase over everything that moved since the last call; makes and removes contact rows; makes
 * room for the step; empties the report. LIMIT or NO_MEMORY: nothing changed. */
MUST_CHECK enum status dynamics_prepare(struct dynamics *self, step_need *need,
					struct reason *why);

/* The same for a method without contact: room only, no pairs. */
MUST_CHECK enum status dynamics_prepare_bodies(struct dynamics *self, step_need *need,
					       struct reason *why);
/* Gives the awake bodies their slots 0, 1 … in order of rows, and writes these rows. */
void dynamics_number_awake(struct dynamics *self, uint32_t *rows);

/* Narrow phase of all live contacts, in parallel; matches features to keep multipliers; wakes sleeping
 * bodies that an awake one reaches. Fills `contacts`, the report's counts and its penetrations. */
void dynamics_collide(struct dynamics *self);

/* To be called when normal_impulse is stored: settles `touching`, notes begin and end events. */
void dynamics_contacts_solved(struct dynamics *self);

/* Where a step takes a body. */
struct body_motion {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
};
/* Stores pose (of the body's origin, from the mass centre) and velocities of an awake body, clamped to
 * SPEED_MAX and ANGULAR_SPEED_MAX, and refreshes placement boxes; in a planar world what leaves the
 * plane is dropped. If a number is not finite or the place is beyond LENGTH_MAX: quarantine, that is,
 * the body keeps its last good pose, stops, becomes inactive, and an event says so. */
void dynamics_store(struct dynamics *self, uint32_t body, const struct body_motion *motion);
/* The same for many, in parallel; bodies[i] ascend. Scratch: 64 + 8 a body, included in prepare's own. */
void dynamics_store_all(struct dynamics *self, const uint32_t *bodies,
			const struct body_motion *motions, uint32_t count);

/* Islands of the awake bodies by touching contacts; islands that were slow for long enough fall asleep
 * as sets and leave `awake` and `live`. `dt` in seconds. */
void dynamics_sleep(struct dynamics *self, double dt);

/* Gives scratch back. Last of all. */
void dynamics_finish(struct dynamics *self);

/* Wakes a body's whole set; on one that is awake: only begins its time of being slow anew. */
void dynamics_wake(struct dynamics *self, uint32_t body);
/* Wakes everything and begins all times anew. */
void dynamics_wake_all(struct dynamics *self);

/* Force and torque of gravity and drives on a body now, world axes, about its mass centre. */
void dynamics_force(const struct dynamics *self, uint32_t body, vec3 *force, vec3 *torque);
/* The same for the awake dynamic bodies at once: forces[i], torques[i] for the body whose cache says
 * slot i; slots of others are left alone. */
void dynamics_forces(const struct dynamics *self, vec3 *forces, vec3 *torques, uint32_t slots);

/* For a method that knows no contact, and one that begins: forgets all contacts (with end events), and
 * counts everything as moved, so that the next prepare finds all pairs; or only what an earlier method
 * left in them, so that every method begins alike. */
void dynamics_contacts_forget(struct dynamics *self);
void dynamics_contacts_reset(struct dynamics *self);

/* What the world tells when commands change tables. After a reserve for what a call makes, none of the
 * others fails or allocates. */

/* Room for `bodies` and `placements` beyond those in use: rows, indexes, sets, proxies, and events for
 * every body and contact there is (a batch may wake or part them all). NO_MEMORY: nothing changed.
 * Limits are not its business. */
MUST_CHECK enum status dynamics_body_reserve(struct dynamics *self, uint32_t bodies,
					     uint32_t placements);
/* The lowest free row, marked used, all columns zero (count grows when the row is the last). */
uint32_t dynamics_body_take(struct dynamics *self);
uint32_t dynamics_placement_take(struct dynamics *self);
/* After the world filled the body's columns and its placements (body, shape, next, position, rotation):
 * index, boxes, `active`, sleep_next = own row, proxies, awake. */
void dynamics_body_added(struct dynamics *self, uint32_t body);
/* Position or rotation was set: boxes, contacts made anew; wakes it and what touched it. */
void dynamics_body_moved(struct dynamics *self, uint32_t body);
/* Status, filter or material was set: wakes it and what touched it, then joins or leaves awake, broad
 * phase and contacts as status and filter ask. A body that leaves `dynamic` must wake its set first:
 * called with the new columns in place, its sleep ring still as it was. */
void dynamics_body_changed(struct dynamics *self, uint32_t body);
/* Wakes what touched it, parts its contacts (with end events), clears and frees its rows. The world has
 * dropped its drives and its shapes' uses before. */
void dynamics_body_removed(struct dynamics *self, uint32_t body);

/* Makes every cache anew from the tables. */
MUST_CHECK enum status dynamics_rebuild(struct dynamics *self);
MUST_CHECK enum status dynamics_init(struct dynamics *self, struct tables *tables,
				     const struct shape **shapes);
void dynamics_release(struct dynamics *self);

/* Row of a body id, or UINT32_MAX. */
uint32_t dynamics_find_body(const struct dynamics *self, body_id id);

/* World-space mass centre of a body row. */
vec3 dynamics_centre(const struct tables *tables, uint32_t body);
/* Bytes held by the caches. */
uint64_t dynamics_memory(const struct dynamics *self);
/* Between steps: gives back what only a step uses. The next one takes it again, and makes the same. */
void dynamics_trim(struct dynamics *self);

/* Notes an event; there is room (dynamics_body_reserve, dynamics_prepare). */
void dynamics_event(struct dynamics *self, struct event event);

#endif
