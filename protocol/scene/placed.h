/* placed.h: a flat scene tree with its dynamic bodies at given places. */
#ifndef CAIRN_PROTOCOL_SCENE_PLACED_H
#define CAIRN_PROTOCOL_SCENE_PLACED_H

#include "protocol/scene/nodes.h"
#include "protocol/scene/scene.h"

/* Changes the entries of `bodies`: those that make dynamic bodies get the places (places[i] of the
 * SPAWN number i + 1, world axes), and no velocities. `scene` is that of the tree. NO_MEMORY, or LIMIT:
 * more nodes than a file may have. */
MUST_CHECK enum status place_bodies(const struct source *source, struct nodes *nodes,
				    struct yaml_node *root, const struct scene *scene,
				    const pose *places);

#endif
