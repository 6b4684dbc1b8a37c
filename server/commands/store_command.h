/* store_command.h: `cairnd store check|repair|backup|restore`. */
#ifndef CAIRN_COMMANDS_STORE_COMMAND_H
#define CAIRN_COMMANDS_STORE_COMMAND_H

#include "server/options.h"

/* Prints the outcome and returns the exit status: 0 sound or done, 2 damaged, 1 refused. */
int store_command(const struct options *options);

#endif
