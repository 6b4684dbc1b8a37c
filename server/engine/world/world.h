/* world.h: struct world and the functions that the files of this folder share. Other folders include
 * engine.h.
 *
 * The state is in `tables`. Everything else is a cache of it, or belongs to the present boundary
 * (events, changes, results); neither is saved. A boundary opens with the first world_apply or
 * world_step after a step, and ends with the next step.
 */
#ifndef CAIRN_ENGINE_WORLD_WORLD_H
#define CAIRN_ENGINE_WORLD_WORLD_H

#include "server/base/bitset.h"
#include "server/base/table.h"
#include "server/engine/dynamics/dynamics.h"
#include "server/engine/engine.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/changes.h"
#include "server/engine/world/mover_work.h"
#include "server/engine/world/sensors.h"
#include "server/engine/world/tables.h"

#define ROW_NONE UINT32_MAX

/* Ids from here on are reserved for the body and shapes of the walls. */
#define IDS_END (UINT32_MAX - 15)
#define SHAPE_WALLS IDS_END /* … + 5: shapes of the walls */
enum { WALLS_MAX = 6 };

/* Limits of batches stored for later ticks: how many, and bytes of their commands. */
enum { PENDING_MAX = 65536, PENDING_BYTES_MAX = 16 << 20 };

struct batch_result_list {
	struct batch_result *items; /* owned */
	uint32_t count, capacity;
};
struct value_list {
	uint32_t *items; /* owned */
	uint32_t count, capacity;
};

struct rollback_work;

struct joint_ids {
	joint_id *items; /* owned */
	uint32_t count, capacity;
};

struct world {
	struct tables tables;
	struct dynamics dynamics;
	struct method_instance method; /* that of world.method */

	/* Shapes in use, by row of the shape table; each holds a reference. */
	const struct shape **shapes; /* owned array */
	uint32_t shape_rows;	     /* its length */
	struct bitset shape_used;
	struct table shape_index; /* id → row */
	struct table shape_names; /* first eight bytes of the name → row; see shapes.c */
	uint64_t shape_bytes;	  /* canonical bytes of all but the walls' */
	const struct shape
		*wall_shapes[WALLS_MAX]; /* references; NULL until the world first has walls */
	struct shape_source source;

	/* The boundary. */
	bool open;
	bool keeps_changes; /* the next boundary adds to the changes of this one */
	bool starved; /* the last step ran out of memory; no column, as a replay may have more */
	struct changes changes;
	struct batch_result_list stored_results;
	struct value_list stored_values, values;

	/* Lists of world_joint_changes: created, moved, changed, removed, and scratch for sorting. */
	struct joint_ids joint_lists[5];

	uint32_t follower_count; /* bodies with an ends_with; derived */

	/* Work of world_apply, empty between calls. */
	struct table plan_index;
	struct bytes encoded;
	struct sensors sensors;
	struct mover_work mover_work;
	struct rollback_work
		*rollback; /* owned; NULL before the first rollback image (rollback.h) */

	uint64_t fallbacks_total, quarantined_total, joints_broken_total;
	struct sweep_totals sweeps_total;
	struct impact_figures impact_total;
	double push_work_total;
};

/* ---- world.c */
/* Opens the boundary if a step has closed it: empties its events, changes and results. */
void world_open_boundary(struct world *world);
/* Sorts the events into their defined order and applies their limit, after commands or a step. */
void world_sort_events(struct world *world);
/* Seconds of a tick. */
double world_dt(const struct world *world);
bool world_has_walls(const struct world *world);
/* Bodies without the walls'. */
uint32_t world_body_count(const struct world *world);
uint32_t world_placement_count(const struct world *world);
/* Makes a world around tables with a valid state: indexes, shapes by name from `source`, caches,
 * method. Takes the tables; on failure they are released. *out is returned owned. */
MUST_CHECK enum status world_make(struct tables *tables, struct shape_source source,
				  struct world **out, struct reason *why);

/* ---- snapshot.c */
/* Makes a world of checked tables: world_make, then the checks against shapes, and the method. Takes the
 * tables; on failure they are released. */
MUST_CHECK enum status world_of_tables(struct tables *tables, struct shape_source shapes,
				       struct world **out, struct reason *why);
/* Each gets the other's contents. */
void world_trade(struct world *a, struct world *b);
/* RANGE: a state has another rate than the world, or is planar where the world is spatial. */
MUST_CHECK enum status check_same_rate_and_space(const struct tables *ours,
						 const struct tables *theirs, struct reason *why);

/* ---- rollback_code.c */
/* NULL is ignored. */
void rollback_work_destroy(struct rollback_work *work);
/* ---- rollback.c */
/* Bytes that the world keeps for rollbacks. */
uint64_t rollback_memory(const struct world *world);

/* ---- shapes.c */
MUST_CHECK enum status shapes_reserve(struct world *world, uint32_t more);
void shapes_release(struct world *world);
/* Takes the lowest free row (reserved), retains the shape; returns the row. */
uint32_t shapes_add(struct world *world, shape_id id, const struct shape *shape);
void shapes_remove(struct world *world, uint32_t row);
/* ROW_NONE when there is none. */
uint32_t shapes_find(const struct world *world, shape_id id);
uint32_t shapes_find_name(const struct world *world, const uint8_t name[SHAPE_NAME_BYTES]);
uint32_t shapes_count(const struct world *world); /* without the walls' */
/* Finds every shape of the filled table by name. UNKNOWN_SHAPE, NO_MEMORY. */
MUST_CHECK enum status shapes_rebuild(struct world *world, struct reason *why);

/* ---- walls.c */
/* The number of walls: 4 in a planar world, else 6. */
uint32_t walls_count(bool planar);
/* Makes the shapes of the walls if they do not exist yet. NO_MEMORY. */
MUST_CHECK enum status walls_cook(struct world *world);
/* The wall whose shape has this name, or WALLS_MAX. */
uint32_t walls_find_name(const struct world *world, const uint8_t name[SHAPE_NAME_BYTES]);
/* Adds walls at the bounds, or removes them; rows are reserved and shapes cooked. */
void walls_put(struct world *world);
void walls_remove(struct world *world);

/* ---- queries.c */
/* The points of a contact row with their impulses, at the bodies' present poses, into room for
 * MANIFOLD_POINTS_MAX. Returns their number. */
uint32_t contact_views(const struct dynamics *dynamics, uint32_t row, struct contact_view *out);

/* ---- apply.c */
/* Applies the stored batches and the given ones that are due. NO_MEMORY: nothing was applied. */
MUST_CHECK enum status world_apply_due(struct world *world, struct batch *batches, uint32_t count,
				       struct batch_result *results);
/* Records bodies that commands or the step woke: those of the EVENT_WAKE from event `first` on. */
void world_note_woken(struct world *world, uint32_t first);

/* ---- world_hash.c */
uint64_t tables_state_hash(const struct tables *tables, uint64_t per_table[WORLD_TABLES_MAX]);

/* ---- invariants.c */
/* The part of world_check that reads only tables; used on images before a world is made of them. */
MUST_CHECK enum status tables_check(const struct tables *tables, struct reason *why);

#endif
