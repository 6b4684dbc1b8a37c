/* See removal.h. */
#include "server/engine/world/removal.h"

#include "server/engine/world/drives.h"
#include "server/engine/world/visuals.h"

void removal_recount(struct world *world)
{
	world->follower_count = 0;
	for (uint32_t row = 0; row < world->tables.body.count; row++)
		world->follower_count += world->tables.body.ends_with[row] != 0;
}

void removal_body(struct world *world, uint32_t row)
{
	struct tables *tables = &world->tables;
	ASSERT(row < tables->body.count && tables->body.id[row] != 0);
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = tables->placement.next[p - 1]) {
		uint32_t *uses = &tables->shape.uses[tables->placement.shape[p - 1]];
		ASSERT(*uses > 0);
		--*uses;
	}
	world->follower_count -= tables->body.ends_with[row] != 0;
	drives_drop_body(tables, row);
	visuals_drop_body(world, row);
	changes_remove(&world->changes, tables, row);
	dynamics_body_removed(&world->dynamics, row);
}

/* The next row, from `row` on, of a body that ends with `session`, or with any session if it is
 * 0. */
static uint32_t next_ending(const struct world *world, uint32_t row, uint32_t session)
{
	const struct body_table *body = &world->tables.body;
	for (row = bitset_next(&world->dynamics.body_used, row); row != BITSET_NONE;
	     row = bitset_next(&world->dynamics.body_used, row + 1)) {
		uint32_t owner = body->owner[row];
		ASSERT(body->ends_with_owner[row] <= 1);
		if (body->ends_with_owner[row] != 0 && owner != 0 &&
		    (session == 0 || owner == session))
			break;
	}
	return row;
}

bool world_session_leaves(const struct world *world, uint32_t session)
{
	return world_drags(world, session) > 0 || next_ending(world, 0, session) != BITSET_NONE;
}

/* Removes the bodies whose ends_with is gone, in order of rows. One pass is enough, because a
 * body that goes with another has none that goes with it. */
static void remove_orphans(struct world *world)
{
	const struct body_table *body = &world->tables.body;
	for (uint32_t row = 0; row < body->count && world->follower_count > 0; row++) {
		uint32_t with = body->ends_with[row];
		ASSERT(with == 0 || with < body->id[row]);
		if (with != 0 && dynamics_find_body(&world->dynamics, with) == DYNAMICS_NONE)
			removal_body(world, row);
	}
}

bool removal_of_session(struct world *world, uint32_t session)
{
	uint32_t first = next_ending(world, 0, session), row = first;
	for (; row != BITSET_NONE; row = next_ending(world, row + 1, session))
		removal_body(world, row);
	if (first != BITSET_NONE)
		remove_orphans(world);
	return first != BITSET_NONE;
}
