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
 * Invariant 1: after the commit of a step there is a contact row for exactly those pairs of pieces
 *   that were `wanted` (pairs.c) as it began: of different solid bodies, one of them dynamic, not
 *   filtered out, with overlapping fat boxes. New pairs take the lowest free rows in the order of
 *   (placement a, placement b, child a, child b), so rows are a function of the tables alone.
 * Invariant 2: a sleeping body is in none of the sets a step walks, and neither is a contact of
 *   sleeping and static bodies only.
 *
 * How a step is made is told in step.h. Everything here that a step reads stays as it is until the
 * step's commit.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_DYNAMICS_H
#define CAIRN_ENGINE_DYNAMICS_DYNAMICS_H

#include "server/base/arena.h"
#include "server/base/bitset.h"
#include "server/base/parallel.h"
#include "server/base/table.h"
#include "server/engine/collision/broad_phase.h"
#include "server/engine/dynamics/contact_index.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/types.h"
#include "server/engine/world/tables.h"

/* How good the step's answer was and what it cost; goes out as statistics. */
struct step_report {
	uint32_t awake_bodies, contacts, touching, points, islands, colours;
	uint32_t pairs_new, pairs_gone;
	uint32_t manifolds_made,
		manifolds_kept; /* narrow phase run, and skipped because nothing moved */
	uint32_t iterations;
	uint32_t fallbacks; /* times a plan B was taken */
	uint32_t islands_dense,
		islands_sparse;	    /* solved by which of two solvers, where a method has two */
	uint32_t islands_dependent; /* whose impulses are one choice of many: rows that act depend
				       on each other */
	double push_work; /* J: energy that taking penetration out has given to bodies against forces */
	double residual; /* the method's own measure; its documentation names it */
	double penetration_max, penetration_mean; /* m, over points with separation < 0 */
	uint32_t quarantined;
	uint32_t joints_broken;
	double joint_error; /* m, rad: the worst of any joint as the step leaves it */
};

/* Events of the boundary, in the order they happened; the world sorts them, and then holds them
 * against its limit. */
struct event_list {
	struct event *items; /* owned */
	uint32_t count, capacity;
	uint32_t lost; /* there was no memory to note them; told with EVENT_LIMIT */
};

#define DYNAMICS_NONE UINT32_MAX

/* One end of a contact in the list of its body: edge 2r is the end of row r at A's body, 2r+1 at B's. The
 * order of a list depends on history; whoever walks it must not let the order reach an answer. */
struct contact_edge {
	uint32_t next, previous; /* edges, DYNAMICS_NONE at the ends */
};

/* What is kept of a body beside its columns. */
struct body_cache {
	mat3 rotation; /* of body.rotation */
	vec3 centre;   /* mass centre, world, m */
	double reach;  /* m, farthest point of its shapes from the mass centre; 0 without shapes */
	double motion; /* m, how far its farthest point went in the last step it was stored, over
			   all stores */
	uint32_t first_edge; /* DYNAMICS_NONE without contacts */
	uint32_t slot;	     /* its number among those who take part, valid within a step */
	bool divided;	     /* of several pieces: it may have many contacts with one other body */
};

/* A piece of a placed shape: `child` is a mesh's triangle, a solid's part, a field's side; 0 for others. */
struct contact_piece {
	uint32_t placement, child;
};
/* Two near pieces, a.placement < b.placement. */
struct contact_pair {
	struct contact_piece a, b;
};

struct dynamics {
	struct tables *tables;		 /* borrowed from the world */
	const struct shape **shapes;	 /* by row of the shape table; borrowed from the world */
	const struct parallel *parallel; /* for this step; borrowed */
	double ahead; /* s: boxes of a body that a command moves reach this far along its velocity */
	struct table body_index;	    /* body id → row */
	struct contact_index contact_index; /* pair of pieces → contact row */
	struct bitset awake, live;
	struct bitset
		parted; /* rows of bodies that lost contact points; whoever reads it empties it */
	struct bitset body_used, placement_used, contact_used, joint_used;
	struct table joint_index; /* joint id → row */
	/* What the boundary is to tell of joints (joint_list.h). */
	struct {
		struct bitset moved, changed; /* rows */
		struct {
			joint_id *items; /* in no order */
			uint32_t count, capacity;
		} removed;
		uint32_t first_new; /* ids from here on were made since the boundary opened */
	} joint_notes;
	struct bitset moved; /* placement rows */
	struct {
		uint32_t *items; /* rows of bodies that fell asleep in the last step, as sets,
				    ascending in each */
		uint32_t count, capacity;
	} slept;
	struct {
		struct body_cache *items; /* by body row, owned */
		uint32_t count, capacity;
	} bodies;
	struct {
		struct contact_edge *items; /* two a contact row, owned */
		uint32_t count, capacity;
	} edges;
	struct broad_phase *broad_phase; /* owned */
	struct proxy_pairs near_pairs;
	struct {
		struct contact_pair *items; /* by pieces, ascending */
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
	struct arena scratch; /* empty between steps */
	struct arena rooms
		[PARALLEL_WORKERS_MAX]; /* of workers that solve islands; empty between steps */
	struct event_list events;
	struct step_report report;
	double limit_met; /* the limit that the last step met; 0: none */
};

/* Where a step takes a body. */
struct body_motion {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
};
/* As the tables have it. */
struct body_motion dynamics_motion(const struct dynamics *self, uint32_t body);

/* Wakes a body's whole set; on one that is awake: only begins its time of being slow anew. */
void dynamics_wake(struct dynamics *self, uint32_t body);
/* Wakes everything and begins all times anew. */
void dynamics_wake_all(struct dynamics *self);

/* For a method that knows no contact, and one that begins: forgets all contacts (with end events), and
 * counts everything as moved, so that the next step finds all pairs; or only what an earlier method
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
/* `ahead`: seconds of a step, as long as the owner makes them (struct dynamics). */
MUST_CHECK enum status dynamics_init(struct dynamics *self, struct tables *tables,
				     const struct shape **shapes, double ahead);
void dynamics_release(struct dynamics *self);

/* Row of a body id, or UINT32_MAX. */
uint32_t dynamics_find_body(const struct dynamics *self, body_id id);

/* World-space mass centre of a body row. */
vec3 dynamics_centre(const struct tables *tables, uint32_t body);
/* Bytes held by the caches. */
uint64_t dynamics_memory(const struct dynamics *self);
/* Between steps: gives back what only a step uses. The next one takes it again, and makes the same. */
void dynamics_trim(struct dynamics *self);

/* Notes an event. There is room after dynamics_body_reserve and step_commit; elsewhere the list
 * grows, and where it cannot, the event is counted as lost. */
void dynamics_event(struct dynamics *self, struct event event);

#endif
