/* mesh_command.h: `cairnd mesh FILE`: the solid in a mesh file, its facts, and its hull, parts and
 * field as OBJ. */
#ifndef CAIRN_COMMANDS_MESH_COMMAND_H
#define CAIRN_COMMANDS_MESH_COMMAND_H

#include "server/options.h"

/* Returns the exit status of the process: failure if the mesh is refused. The findings are printed
 * in any case, with the edges at fault. */
int mesh_command(const struct options *options);

#endif
