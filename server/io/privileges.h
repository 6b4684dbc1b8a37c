/* privileges.h: nothing of root is needed, so nothing of it is kept. */
#ifndef CAIRN_IO_PRIVILEGES_H
#define CAIRN_IO_PRIVILEGES_H

#include "server/base/base.h"
#include "server/base/status.h"

/* Becomes that user, with his groups and nothing else, for good, in every thread that starts after. MISSING:
 * no such user; FORBIDDEN: the system does not allow it. Does nothing where the process is that user. */
enum status privileges_drop(const char *user, struct reason *why) MUST_CHECK;

#endif
