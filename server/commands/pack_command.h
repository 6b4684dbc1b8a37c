/* pack_command.h: `cairnd pack IN.svg OUT.svg`: moves the polygons of a drawing together. */
#ifndef CAIRN_COMMANDS_PACK_COMMAND_H
#define CAIRN_COMMANDS_PACK_COMMAND_H

#include "server/options.h"

/* Returns the exit status of the process. Nothing is written unless all of it succeeds. */
int pack_command(const struct options *options);

#endif
