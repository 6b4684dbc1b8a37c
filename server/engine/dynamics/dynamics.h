/* dynamics.h: the data a method works on: the world's tables, everything derived from them, and the
 * services of a step (broad phase, narrow phase, forces, islands, sleep).
 *
 * State is in the tables. All else here is a cache, a pure function of the tables, which
 * dynamics_rebuild makes anew (a test does so at random ticks and expects equal hashes):
 *   index       body id → row                           look-up only
 *   awake       rows of bodies that may move now (dynamic and awake, or animated and not at rest)
 *   live        rows of contacts with at least one awake body: the ones a step visits
 *   used        rows in use; the lowest free one is taken next
 *   bodies      of each body row: rotation matrix, mass centre in the world, reach, its contacts
 *   broad phase over placement.fat_min/max of active placements; its internal structure reaches no result
 *   moved       placements whose box, filter or status changed since the last commit of a step. To mark
 *               more changes nothing, because of invariant 1; after a rebuild all are marked.
 *
 * Invariant 1: after the commit of a step there is a contact row for exactly those pairs of pieces
 *   that were `wanted` (pairs.c) as it began: of different solid bodies, one of them dynamic, not
 *   filtered out, with overlapping fat boxes. New pairs take the lowest free rows in the order of
 *   (placement a, placement b, child a, child b), so rows are a function of the tables alone.
 * Invariant 2: a sleeping body is in none of the sets that a step visits, and neither is a contact
 * of
 *   sleeping and static bodies only.
 *
 * step.h describes how a step is made. Everything here that a step reads stays unchanged until the
 * step's commit.
 * */
#ifndef CAIRN_ENGINE_DYNAMICS_DYNAMICS_H
#define CAIRN_ENGINE_DYNAMICS_DYNAMICS_H

#include "server/base/arena.h"
#include "server/base/bitset.h"
#include "server/base/parallel.h"
#include "server/base/profile.h"
#include "server/base/table.h"
#include "server/engine/collision/broad_phase.h"
#include "server/engine/dynamics/contact_index.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/types.h"
#include "server/engine/world/tables.h"

/* Quality and cost of a step, published as statistics. */
struct step_report {
	uint32_t awake_bodies, contacts, touching, points, islands, colours;
	uint32_t pairs_new, pairs_gone;
	uint32_t manifolds_made,
		manifolds_kept; /* narrow phase run, and skipped because nothing moved */
	uint32_t iterations;
	uint32_t fallbacks; /* times a method's fallback was used */
	uint32_t islands_dense,
		islands_sparse; /* solved by which of two solvers, where a method has two */
	uint32_t
		islands_dependent; /* with linearly dependent active rows, so that impulses are not unique */
	uint32_t islands_reduced, /* whose joints are part of the mass operator (tree_mass.h) */
		islands_maximal;  /* whose joints could be, and are rows for their structure */
	double push_work;	  /* J: work against forces by the removal of penetration */
	double residual;	  /* the method's own measure; its documentation names it */
	double penetration_max, penetration_mean; /* m, over points with separation < 0 */
	uint32_t quarantined;
	uint32_t joints_broken;
	uint32_t taut;	  /* bodies that joints made too stiff for a sub-step (soft_joint_taut.c) */
	uint32_t sagging; /* bodies too thin for the springs of contacts (soft_step.c) */
	uint32_t swept;	  /* bodies whose paths were searched (sweep.h) */
	uint32_t sweep_stops; /* of these, the ones that stopped early */
	uint32_t sweep_cores; /* bodies that stopped because their core touched */
	uint32_t sweep_pairs; /* pairs of fast bodies that stopped each other */
	uint64_t
		sweep_limits; /* searches without an answer; the path ends where it is known to be free */
	struct impact_figures impact;
	double impact_error; /* m: largest estimated error of a part of the tick (impact.h) */
	double joint_error;  /* m or rad: the largest of any joint after the step */
};

/* Events of the boundary, in the order they happened; the world sorts them, and then applies its
 * limit. */
struct event_list {
	struct event *items; /* owned */
	uint32_t count, capacity;
	uint32_t lost; /* not noted for want of memory; reported with EVENT_LIMIT */
};

#define DYNAMICS_NONE UINT32_MAX

/* One end of a contact in the list of its body: edge 2r is the end of row r at A's body, 2r+1 at
 * B's. The order of a list depends on history, so it must reach no result. */
struct contact_edge {
	uint32_t next, previous; /* edges, DYNAMICS_NONE at the ends */
};

/* Cached data of a body. */
struct body_cache {
	mat3 rotation; /* of body.rotation */
	vec3 centre;   /* mass centre, world, m */
	double reach;  /* m, farthest point of its shapes from the mass centre; 0 without shapes */
	double inner;  /* m, the least extent_min of its shapes; 0 without shapes */
	double motion; /* m, bound of the motion of any of its points, summed over the stores of the last
			  step that stored it */
	uint32_t first_edge; /* DYNAMICS_NONE without contacts */
	uint32_t slot;	     /* its slot, from step_number to the end of the step */
	bool divided;	     /* of several pieces: it may have many contacts with one other body */
	bool ball; /* one sphere about its origin and mass centre; `reach` is the radius */
};

/* A piece of a placed shape: `child` is a mesh's triangle, a solid's part, a field's side; 0 for
 * others. */
struct contact_piece {
	uint32_t placement, child;
};
/* Two near pieces, a.placement < b.placement. */
struct contact_pair {
	struct contact_piece a, b;
};

/* A body as a tick began, for particles. */
struct body_start_state {
	pose at; /* of its origin */
	vec3 velocity, angular_velocity;
	bool moved; /* in this tick */
};

struct particle_pairs; /* particle_pairs.h */
struct particle_links; /* particle_links.h */
struct particle_room;  /* particle_room.h */
struct particle_skin;  /* particle_skin.h */
struct fluid_work;     /* fluid_work.h */

struct dynamics {
	struct tables *tables;		 /* borrowed from the world */
	const struct shape **shapes;	 /* by row of the shape table; borrowed from the world */
	const struct parallel *parallel; /* for this step; borrowed */
	struct profile *profile;	 /* borrowed; NULL: nobody asked for one */
	double ahead; /* s: boxes of a body that a command moves reach this far along its velocity */
	struct table body_index;	    /* body id → row */
	struct contact_index contact_index; /* pair of pieces → contact row */
	struct bitset awake, live;
	struct bitset
		parted; /* rows of bodies that lost contact points, or sleep and have contacts with
				 other impulses; the reader empties it */
	struct bitset one_way; /* rows of bodies that are solid from one side only */
	struct bitset
		belts; /* rows of bodies whose surface, or that of a piece, moves against them */
	struct bitset sensing; /* rows of bodies with pieces that are sensors by themselves */
	struct bitset body_used, placement_used, contact_used, joint_used, field_used, mover_used,
		piece_used, system_used, visual_used, label_used, carrier_used;
	bool disturbed; /* a body that is not dynamic was made, changed or removed since the last step; more
			 * often set than needed, it changes nothing (world/movers.h) */
	struct table joint_index;   /* joint id → row */
	struct bitset joint_geared; /* rows of joints with an axis that follows another */
	struct {
		struct gear_links *items; /* by joint row: who follows whom (joint_list.c) */
		uint32_t count, capacity;
	} gear_links;
	/* Changes of joints that the boundary reports (joint_list.h). */
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
	uint32_t touched;     /* bodies for which step_touch has taken memory */
	bool any_divided;     /* some body is or was `divided` */
	struct arena worker_arenas
		[PARALLEL_WORKERS_MAX]; /* of workers that solve islands; empty between steps */
	/* Of a tick with particles (particles.h): each body row before the step, and by particle
	 * row whether its path was ended early. */
	struct {
		struct body_start_state *items;
		uint32_t count, capacity;
	} starts;
	struct {
		uint8_t *items;
		uint32_t count, capacity;
	} cuts;
	struct particle_pairs *pairs; /* owned; NULL until particles act on each other */
	struct particle_links *links; /* owned; NULL until particles are linked */
	struct particle_room *room;   /* owned; NULL until an emitter needs room among particles */
	struct particle_skin *skin;   /* owned; NULL until births are on faces of bodies */
	struct fluid_work *fluid;     /* owned; NULL until there is a fluid */
	struct event_list events;
	struct event_list hits; /* of the step in progress (step_hits.c), with room to sort them */
	struct step_report report;
	double limit_met; /* the value of the limit that stopped the last step; 0: none */
};

/* Pose and velocities of a body. */
struct body_motion {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
};
/* The motion in the tables. */
struct body_motion dynamics_motion(const struct dynamics *self, uint32_t body);

/* Wakes a body's whole sleep set, with events; for an awake body it only resets sleep_time. */
void dynamics_wake(struct dynamics *self, uint32_t body);
/* Wakes the bodies of its sleep set that have their bits set; no effect on an awake body. */
void dynamics_wake_some(struct dynamics *self, uint32_t body, const uint64_t *rows);
/* Wakes all bodies and resets all sleep times. */
void dynamics_wake_all(struct dynamics *self);

/* For a change of method. forget: drops all contact rows (with end events) and marks all placements
 * moved, so that the next step finds all pairs. reset: keeps the rows and clears what an earlier
 * method left in them, so that a new method always begins alike. */
void dynamics_contacts_forget(struct dynamics *self);
void dynamics_contacts_reset(struct dynamics *self);

/* Calls of the world when commands change tables. After dynamics_body_reserve for what a batch
 * makes, none of the others fails or allocates. */

/* Room for `bodies` and `placements` beyond those in use: rows, indexes, sets, proxies, and
 * events for every body and contact there is (a batch may wake or part them all). NO_MEMORY:
 * nothing changed. The caller checks limits. */
MUST_CHECK enum status dynamics_body_reserve(struct dynamics *self, uint32_t bodies,
					     uint32_t placements);
/* The lowest free row, marked used, all columns zero (count grows when the row is the last). */
uint32_t dynamics_body_take(struct dynamics *self);
uint32_t dynamics_placement_take(struct dynamics *self);
/* After the world filled the body's columns and its placements (body, shape, next, position,
 * rotation): index, boxes, `active`, sleep_next = own row, proxies, awake. */
void dynamics_body_added(struct dynamics *self, uint32_t body);
/* Position or rotation was set: makes boxes and contacts anew; wakes it and the bodies it
 * touched. */
void dynamics_body_moved(struct dynamics *self, uint32_t body);
/* Status, filter or material was set: wakes it and the bodies it touched, then updates its
 * membership in awake, broad phase and contacts. A body that leaves `dynamic` must wake its set
 * first: called with the new columns in place, its sleep ring still as it was. */
void dynamics_body_changed(struct dynamics *self, uint32_t body);
/* An animated body gets a velocity (m/s) for the coming tick and turns no more: its boxes are
 * made to hold that motion, and the bodies that it touches wake. Its contacts stay. */
void dynamics_body_steered(struct dynamics *self, uint32_t body, vec3 velocity);
/* Of the body or a piece: surface_velocity or one_way was set, which wakes it and the bodies it
 * touched. If the `direction` (one_way) has changed, the next touch decides anew. */
void dynamics_surface_changed(struct dynamics *self, uint32_t body, bool direction);
/* Wakes the bodies it touched, drops its contacts (with end events) and joints, clears and frees
 * its rows. The caller has dropped its drives and its shapes' uses before. */
void dynamics_body_removed(struct dynamics *self, uint32_t body);

/* Memory for more rows of visuals. NO_MEMORY. */
MUST_CHECK enum status dynamics_visual_reserve(struct dynamics *self, uint32_t rows);

/* Makes every cache anew from the tables. NO_MEMORY. */
MUST_CHECK enum status dynamics_rebuild(struct dynamics *self);
/* `ahead`: duration of a step, s (struct dynamics). NO_MEMORY: released. */
MUST_CHECK enum status dynamics_init(struct dynamics *self, struct tables *tables,
				     const struct shape **shapes, double ahead);
void dynamics_release(struct dynamics *self);

/* Row of a body id, or UINT32_MAX. */
uint32_t dynamics_find_body(const struct dynamics *self, body_id id);

/* m/s and rad/s: the bounds of a body row's velocities at the start and the end of each tick:
 * SPEED_MAX and ANGULAR_SPEED_MAX, or a dynamic body's own. */
static inline double dynamics_speed_max(const struct tables *tables, uint32_t body)
{
	/* The flag saves reading the columns of all bodies in every tick. */
	if ((tables->body.flags[body] & BODY_LIMITED) == 0)
		return SPEED_MAX;
	bool own = tables->body.status[body] == BODY_DYNAMIC && tables->body.speed_max[body] > 0;
	return own ? tables->body.speed_max[body] : SPEED_MAX;
}
static inline double dynamics_angular_speed_max(const struct tables *tables, uint32_t body)
{
	if ((tables->body.flags[body] & BODY_LIMITED) == 0)
		return ANGULAR_SPEED_MAX;
	bool own = tables->body.status[body] == BODY_DYNAMIC &&
		   tables->body.angular_speed_max[body] > 0;
	return own ? tables->body.angular_speed_max[body] : ANGULAR_SPEED_MAX;
}
/* Every flag that some body has. O(bodies), eight at a time. */
uint8_t dynamics_all_flags(const struct tables *tables);
/* World-space mass centre of a body row. */
vec3 dynamics_centre(const struct tables *tables, uint32_t body);
/* Bytes of heap held by the caches. */
uint64_t dynamics_memory(const struct dynamics *self);
/* Between steps: frees memory that only a step uses. The next step allocates it again; results
 * do not change. */
void dynamics_trim(struct dynamics *self);

/* Notes an event. There is room after dynamics_body_reserve and step_commit; otherwise the list
 * grows, and if it cannot, the event is counted as lost. */
void dynamics_event(struct dynamics *self, struct event event);

#endif
