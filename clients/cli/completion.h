/* completion.h: completion scripts for bash, zsh and fish, from the usages of a program's verbs. */
#ifndef CAIRN_CLIENTS_CLI_COMPLETION_H
#define CAIRN_CLIENTS_CLI_COMPLETION_H

#include "server/base/base.h"

struct completion_verb {
	const char *name, *usage, *help;
};
struct completion_program {
	const char *name, *options; /* `options`: a usage with those that stand before the verb */
	const struct completion_verb *verbs;
	uint32_t verb_count;
	/* The first operand of a verb whose usage begins with WORLD is the name of a world of the server that
	 * `cairn` finds. */
	bool worlds;
};

/* Prints the script of a shell (bash, zsh or fish) to standard output; false for another name. */
MUST_CHECK bool completion_print(const struct completion_program *program, const char *shell);

#endif
