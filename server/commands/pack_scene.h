/* pack_scene.h: `cairnd pack IN.yaml OUT.yaml`: the bodies of a scene come to rest. */
#ifndef CAIRN_COMMANDS_PACK_SCENE_H
#define CAIRN_COMMANDS_PACK_SCENE_H

#include "server/base/output_file.h"
#include "server/options.h"

/* Nothing is written unless all of it succeeds: a scene whose bodies overlap at the end, or that would
 * not load where it is to be written, is refused by name. */
MUST_CHECK enum status pack_scene(const struct options *options, const struct output_file *out,
				  struct reason *why);

#endif
