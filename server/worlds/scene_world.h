/* scene_world.h: a world made from a scene file without a network, for `--scene` and `cairnd run`. */
#ifndef CAIRN_SCENE_WORLD_H
#define CAIRN_SCENE_WORLD_H

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/store/shape_library.h"

/* Cooks the scene's shapes into `book` (initialised, empty), makes a world whose shape source is
 * the book, and applies the scene's commands before tick 0. `method` (may be NULL) replaces the
 * scene's. On OK the world and the book are the caller's to release; after a refusal there is
 * nothing to release, and `why` names the line. */
MUST_CHECK enum status scene_world_make(struct scene *scene, const char *method,
					struct shape_library *book, struct world **out,
					struct reason *why);

#endif
