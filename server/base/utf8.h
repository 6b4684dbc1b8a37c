/* utf8.h: texts for people, which go over the wire and to terminals. */
#ifndef CAIRN_BASE_UTF8_H
#define CAIRN_BASE_UTF8_H

#include "server/base/base.h"

/* Most bytes of a character. */
#define UTF8_BYTES_MAX 4u

/* Bytes of the character that begins at `text` and ends within `room` bytes; 0: no valid one does
 * (RFC 3629). A zero is none, and no byte after it is read: the room of a text that ends with one is
 * UTF8_BYTES_MAX. */
uint32_t utf8_bytes(const char *text, size_t room);
/* Makes a text valid and printable: control characters and bytes that belong to no character, as where a
 * text was cut, become '?'. */
void utf8_mend(char *text);

#endif
