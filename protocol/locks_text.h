/* locks_text.h: locked axes as people write them: "x z rx". Scenes and the command line read them. */
#ifndef CAIRN_PROTOCOL_LOCKS_TEXT_H
#define CAIRN_PROTOCOL_LOCKS_TEXT_H

#include "server/base/status.h"

/* Reads axes x, y, z (along) and rx, ry, rz (about), separated by commas or spaces, or "none", into the bits
 * of SPAWN's `locks`. RANGE with `why`: another word; EXISTS: an axis twice. */
MUST_CHECK enum status locks_read(const char *text, uint32_t *locks, struct reason *why);

#endif
