/* pack_text.h: MessagePack from a JSON-like text: numbers, nil, true, nan, inf, 'text', <hex of a
 * bin>, [...], {k v ...}. Values are separated by blanks; a number with a point or exponent is a
 * float. */
#ifndef CAIRN_TESTS_LIB_PACK_TEXT_H
#define CAIRN_TESTS_LIB_PACK_TEXT_H

#include "protocol/packer.h"

/* Packs one value. The caller checks wire_packer_status. */
void pack_text(struct wire_packer *out, const char *text);

#endif
