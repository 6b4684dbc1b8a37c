/* durability.h: how far the answers about a world wait for its file.
 *
 *	off      the world has no file; it ends with the daemon
 *	tick     answers wait for nothing; DURABLE tells which state is on disk, at most some 50 ms later
 *	command  RESULT, STEPPED and every other answer to a request that changed the world wait until the
 *	         change is on disk: what was acknowledged survives kill -9 and a loss of power
 */
#ifndef CAIRN_STORE_DURABILITY_H
#define CAIRN_STORE_DURABILITY_H

#include "server/base/base.h"

enum durability { DURABILITY_OFF, DURABILITY_TICK, DURABILITY_COMMAND };

/* off, tick or command. */
const char *durability_name(enum durability durability);
/* False: no level has that name. `name` has `bytes` bytes and needs no terminator. */
MUST_CHECK bool durability_parse(const char *name, size_t bytes, enum durability *out);

#endif
