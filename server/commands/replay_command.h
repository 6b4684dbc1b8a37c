/* replay_command.h: `cairnd replay FILE`: replays a recording and compares it with its hashes. */
#ifndef CAIRN_COMMANDS_REPLAY_COMMAND_H
#define CAIRN_COMMANDS_REPLAY_COMMAND_H

#include "server/options.h"

/* Exit statuses of the command. */
enum {
	REPLAY_EXIT_SAME = 0,
	REPLAY_EXIT_FAILED = 1,
	REPLAY_EXIT_DIFFERS = 2,
	REPLAY_EXIT_STATES = 3
};
/* The command: lines for people, one JSON object on the last line of standard output. */
int replay_command(const struct options *options);

#endif
