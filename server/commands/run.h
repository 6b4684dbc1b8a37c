/* run.h: `cairnd run SCENE`: batch mode: no network, as fast as possible, one JSON object on the last
 * line of standard output. Tests, benchmarks and comparisons all go through it. */
#ifndef CAIRN_COMMANDS_RUN_H
#define CAIRN_COMMANDS_RUN_H

#include "server/options.h"

/* Returns the exit status of the process; refusals are printed to standard error. */
int run_scene(const struct options *options);

#endif
