/* scene_world.h: a world made from a scene file without a network: `--scene` at start-up and
 * `cairnd run`. */
#ifndef CAIRN_SCENE_WORLD_H
#define CAIRN_SCENE_WORLD_H

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/store/shape_library.h"

/* Cooks the shapes into `book` (initialised, empty) and applies the scene to a new world, whose
 * shape source is the book. `method` (may be NULL) in place of the scene's. Both are the caller's
 * to release; on refusal there is nothing to release. */
MUST_CHECK enum status scene_world_make(struct scene *scene, const char *method,
					struct shape_library *book, struct world **out,
					struct reason *why);

#endif
