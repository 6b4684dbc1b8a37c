/* removal.h: how bodies go: by command, with the body they belong to, with the session that owns them. */
#ifndef CAIRN_ENGINE_WORLD_REMOVAL_H
#define CAIRN_ENGINE_WORLD_REMOVAL_H

#include "server/engine/world/world.h"

/* Counts the bodies that go with others (world.follower_count), after the tables were replaced. */
void removal_recount(struct world *world);
/* Removes the body of a row with its contacts, joints and forces, and releases its shapes. */
void removal_body(struct world *world, uint32_t row);
/* Removes the bodies that end with their owner and that `session` owns, or any session if it is 0, and then
 * what goes with these, each in order of rows. True if there were any. O(bodies). */
bool removal_of_session(struct world *world, uint32_t session);
#endif
