/* past_command.h: `cairnd past FILE`: questions to the past of a world's file, and exports of it. */
#ifndef CAIRN_COMMANDS_PAST_COMMAND_H
#define CAIRN_COMMANDS_PAST_COMMAND_H

#include "server/options.h"

/* Exit statuses: found, equal or written; failed; not found or different. */
enum { PAST_EXIT_YES = 0, PAST_EXIT_FAILED = 1, PAST_EXIT_NO = 2 };
/* Lines for people, one JSON value on the last line of standard output: the answer of the query. */
int past_command(const struct options *options);

#endif
