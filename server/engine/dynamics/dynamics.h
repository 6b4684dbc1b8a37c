/* dynamics.h: what a method stands on: the world's tables, everything derived from them, and the
 * services of a step (broad phase, narrow phase, forces, islands, sleep).
 *
 * State lives in the tables. All else here is a cache: a pure function of the tables that
 * dynamics_rebuild makes anew (a test does so at random ticks and expects equal hashes):
 *   index       body id → row, shape id → row           look-up only
 *   awake       rows of bodies that may move now (dynamic or animated, awake, not quarantined)
 *   live        rows of contacts with at least one awake body: the ones a step walks
 *   free rows   of slot tables: the lowest row that is not used
 *   tree        over placement.fat_min/max of active placements; its shape never reaches an answer,
 *               because pairs are sorted and the set of pairs is a function of the boxes alone
 *
 * A step has two halves. dynamics_prepare does everything that may fail (new pairs against the limit,
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
#include "server/engine/geometry/shape.h"
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

/* Events of the step being made; sorted into their defined order at its end. */
struct event_list {
	struct event *items;
	uint32_t count, capacity;
};

struct dynamics {
	struct tables *tables;		   /* borrowed from the world */
	const struct shape **shapes;	   /* by row of the shape table; borrowed from the world */
	const struct parallel *parallel;   /* for this step; borrowed */
	struct table body_index;	   /* body id → row */
	struct bitset awake, live;
	struct bitset body_used, placement_used, contact_used;
	struct table contact_index;	   /* hash of (placements, children) → row */
	struct broad_phase *broad_phase;   /* owned */
	struct arena scratch;		   /* empty between steps */
	struct event_list events;
	struct step_report report;
};

/* A method's step calls these in this order (a rewinding method may repeat the middle ones):
 *   dynamics_prepare → dynamics_collide → forces → its own solve and integration → dynamics_store
 *   → dynamics_sleep
 */

/* Broad phase over everything that moved since the last call; makes and removes contact rows; makes
 * room for the step. LIMIT or NO_MEMORY: nothing changed. */
MUST_CHECK enum status dynamics_prepare(struct dynamics *self, struct reason *why);

/* Narrow phase of all live contacts, in parallel; matches features to keep multipliers; wakes sleeping
 * bodies that an awake one touches; notes begin and end events. */
void dynamics_collide(struct dynamics *self);

/* Whether any of these may be put into a stored pose or velocity; else quarantine: the body keeps its
 * last good pose, stops, becomes inactive, and an event says so. Stores pose (of the body's origin,
 * from the mass centre) and velocities, refreshes placement boxes. */
void dynamics_store(struct dynamics *self, uint32_t body, vec3 centre, quat rotation, vec3 velocity,
		    vec3 angular_velocity);

/* Islands of the awake bodies by touching contacts; islands that were slow for long enough fall asleep
 * as sets and leave `awake` and `live`. `dt` in seconds. */
void dynamics_sleep(struct dynamics *self, double dt);

/* Wakes a body's whole set; no effect on one that is awake. */
void dynamics_wake(struct dynamics *self, uint32_t body);

/* Force and torque of gravity and drives on a body now, world axes, about its mass centre. */
void dynamics_force(const struct dynamics *self, uint32_t body, vec3 *force, vec3 *torque);

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

/* World-space mass centre of a body row, and its world inverse inertia. */
vec3 dynamics_centre(const struct tables *tables, uint32_t body);

/* Notes an event; there is room (dynamics_body_reserve, dynamics_prepare). */
void dynamics_event(struct dynamics *self, struct event event);

#endif
