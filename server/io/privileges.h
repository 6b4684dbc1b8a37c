/* privileges.h: gives up root's privileges after the start, because the daemon needs none of them. */
#ifndef CAIRN_IO_PRIVILEGES_H
#define CAIRN_IO_PRIVILEGES_H

#include "server/base/base.h"
#include "server/base/status.h"

/* Becomes that user, with the user's groups only, for good, in every thread that starts later; no
 * program run from here could be given a capability either (the bounding set is empty). MISSING:
 * no such user; FORBIDDEN: the system does not allow it. Does nothing where the process is that user. */
MUST_CHECK enum status privileges_drop(const char *user, struct reason *why);

/* Other processes cannot read this one's memory, and it leaves no core, because it contains keys
 * and tokens. For good. */
MUST_CHECK enum status privileges_seal(struct reason *why);

#endif
