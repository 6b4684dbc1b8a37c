/* scene_world.h: a world made from a scene file without a network, for `--scene` and `cairnd run`. */
#ifndef CAIRN_SCENE_WORLD_H
#define CAIRN_SCENE_WORLD_H

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/store/durability.h"
#include "server/store/shape_library.h"

/* Cooks the scene's shapes into `book` (initialised, empty), makes a world whose shape source is
 * the book, and applies the scene's commands before tick 0. `method` (may be NULL) replaces the
 * scene's. On OK the world and the book are the caller's to release; after a refusal there is
 * nothing to release, and `why` names the line. */
MUST_CHECK enum status scene_world_make(struct scene *scene, const char *method,
					struct shape_library *book, struct world **out,
					struct reason *why);

/* A scene as a world that is not served yet. */
struct made_scene {
	struct world *world; /* owned */
	struct shape_library shapes;
	bool own_durability; /* the scene states one */
	enum durability durability;
	char *notes; /* owned; what the scene asks for and does not get (struct scene), or NULL */
};

/* scene_world_make of `scene`, which is taken in any case. The world is the caller's. */
MUST_CHECK enum status scene_world_take(struct scene *scene, struct made_scene *out,
					struct reason *why);
/* Releases what is left of it. */
void scene_world_release(struct made_scene *self);
/* A line of the log for each note; `name` is the world's. */
void scene_world_log_notes(const struct made_scene *self, const char *name);

#endif
