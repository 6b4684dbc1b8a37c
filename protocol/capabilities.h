/* capabilities.h: capabilities.def as bits and names. */
#ifndef CAIRN_PROTOCOL_CAPABILITIES_H
#define CAIRN_PROTOCOL_CAPABILITIES_H

#include "protocol/message.h"

enum wire_cap {
#define CAPABILITY(bit, NAME, name, doc) WIRE_CAP_##NAME = 1u << (bit),
#include "protocol/capabilities.def"
};

/* Every capability this build knows. */
#define CAPABILITY(bit, NAME, name, doc) | WIRE_CAP_##NAME
enum {
	WIRE_CAPS_ALL = 0
#include "protocol/capabilities.def"
};

/* The name of the capability with a bit number; NULL if there is none. */
const char *wire_cap_name(uint32_t bit);
/* Its mask, 0 for a name this build does not know. */
uint32_t wire_cap_find(struct wire_slice name);

#endif
