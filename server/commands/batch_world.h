/* batch_world.h: worlds of the commands that step a scene without a network. */
#ifndef CAIRN_COMMANDS_BATCH_WORLD_H
#define CAIRN_COMMANDS_BATCH_WORLD_H

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/options.h"
#include "server/store/shape_library.h"

/* A scene, and what the command line gives in place of its values. All borrowed. */
struct batch_scene {
	const char *path, *method;     /* NULL: the scene's method */
	const char *rate;	       /* N or N/D, 1/s; NULL: the scene's */
	const uint64_t *seed;	       /* NULL: the scene's */
	const struct option_list *set; /* KEY=VALUE of parameters */
	const struct option_list *let; /* NAME=FORMULA of the scene's variables */
};

/* Reads a scene and makes its world. The world and the book (initialised, empty) are then the caller's to
 * release; *scene, with the ids of its expectations, to scene_destroy. On failure only what is not NULL
 * is. */
MUST_CHECK enum status batch_world_make(const struct batch_scene *from, struct shape_library *book,
					struct scene **scene, struct world **world,
					struct reason *why);

/* The names of --methods, "A,B,C". TYPE: an empty or long name; LIMIT: too many; EXISTS: one twice. Whether
 * there is such a method is not asked. */
MUST_CHECK enum status batch_methods_read(const char *text, struct scene_methods *out,
					  struct reason *why);

/* Sets a parameter of a world: KEY=VALUE. */
MUST_CHECK enum status batch_world_set(struct world *world, const char *text, struct reason *why);
/* The same of the option --set. EXISTS: two name one parameter, the one by its earlier name. */
MUST_CHECK enum status batch_world_set_all(struct world *world, const struct option_list *set,
					   struct reason *why);

#endif
