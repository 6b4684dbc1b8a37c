/* compare_command.h: `cairnd compare SCENE`: the scene under several methods side by side, without a
 * network: divergence, energy, momenta, penetration, residuals, fallbacks and times; the bounds that the
 * scene states. */
#ifndef CAIRN_COMMANDS_COMPARE_COMMAND_H
#define CAIRN_COMMANDS_COMPARE_COMMAND_H

#include "server/options.h"

enum {
	COMPARE_HOLDS = 0,  /* every method ran, and every bound holds */
	COMPARE_BROKEN = 1, /* a bound does not hold, or a method refused the scene */
	COMPARE_FAILED = 2, /* nothing was compared: standard error says why */
};
/* Returns the exit status of the process. */
int compare_command(const struct options *options);

#endif
