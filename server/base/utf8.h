/* utf8.h: texts for people, which go over the wire and to terminals. */
#ifndef CAIRN_BASE_UTF8_H
#define CAIRN_BASE_UTF8_H

#include "server/base/base.h"

/* Bytes of the character that begins at `text`, 1 to 4; 0: no valid one begins there (RFC 3629). A zero
 * ends the text, so no byte after it is read. */
uint32_t utf8_bytes(const char *text);
/* Makes a text valid and printable: control characters and bytes that belong to no character, as where a
 * text was cut, become '?'. */
void utf8_mend(char *text);

#endif
