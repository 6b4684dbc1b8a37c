/* batch_world.h: worlds of the commands that step a scene without a network. */
#ifndef CAIRN_COMMANDS_BATCH_WORLD_H
#define CAIRN_COMMANDS_BATCH_WORLD_H

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/options.h"
#include "server/store/shape_library.h"

/* Reads a scene and makes its world; `method` (may be NULL) replaces the scene's, `set` has KEY=VALUE of
 * parameters. The world and the book (initialised, empty) are then the caller's to release; *scene, with
 * the ids of its expectations, to scene_destroy. On failure only what is not NULL is. */
MUST_CHECK enum status batch_world_make(const char *path, const char *method,
					const struct option_list *set, struct shape_library *book,
					struct scene **scene, struct world **world,
					struct reason *why);

#endif
