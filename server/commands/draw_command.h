/* draw_command.h: `cairnd draw`: a planar scene or recording as SVG. */
#ifndef CAIRN_COMMANDS_DRAW_COMMAND_H
#define CAIRN_COMMANDS_DRAW_COMMAND_H

#include "server/options.h"

int draw_command(const struct options *options);

#endif
