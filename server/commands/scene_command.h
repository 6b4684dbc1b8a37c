/* scene_command.h: `cairnd scene tower`: prints a scene. */
#ifndef CAIRN_COMMANDS_SCENE_COMMAND_H
#define CAIRN_COMMANDS_SCENE_COMMAND_H

#include "server/options.h"

int scene_command(const struct options *options);

#endif
