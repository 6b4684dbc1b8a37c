/* stability_command.h: `cairnd stability`: whether the bodies of a scene stand. */
#ifndef CAIRN_COMMANDS_STABILITY_COMMAND_H
#define CAIRN_COMMANDS_STABILITY_COMMAND_H

#include "server/options.h"

/* The exit codes of the program. */
enum { STABILITY_EXIT_STANDS = 0, STABILITY_EXIT_FAILED = 1, STABILITY_EXIT_NOT = 3 };
int stability_command(const struct options *options);

#endif
