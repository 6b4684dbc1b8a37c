/* privileges.h: drops root's privileges after the start, because the daemon needs none of them. */
#ifndef CAIRN_IO_PRIVILEGES_H
#define CAIRN_IO_PRIVILEGES_H

#include "server/base/base.h"
#include "server/base/status.h"

/* Switches to that user permanently, with the user's groups only, in every thread that starts
 * later. Programs run from here cannot gain a capability (the bounding set is empty). MISSING: no
 * such user; FORBIDDEN: the system does not allow it. Does nothing if the process is that user. */
MUST_CHECK enum status privileges_drop(const char *user, struct reason *why);

/* Makes this process unreadable for others and disables core dumps, because its memory contains
 * keys and tokens. Permanent. */
MUST_CHECK enum status privileges_seal(struct reason *why);

#endif
