/* shape_library.h: cooked shapes by name; holds one reference to each. Not shared between threads. */
#ifndef CAIRN_STORE_SHAPE_LIBRARY_H
#define CAIRN_STORE_SHAPE_LIBRARY_H

#include "protocol/message.h"
#include "server/base/table.h"
#include "server/engine/engine.h"

struct shape_library {
	struct shape_library_entry *entries; /* owned */
	uint32_t count, capacity;
	struct table index; /* first eight bytes of the name → newest entry with them */
	uint64_t bytes;	    /* memory of the shapes held */
};

void shape_library_init(struct shape_library *self);
void shape_library_release(struct shape_library *self);
/* Retains `shape`. EXISTS if it has a shape of this name; NO_MEMORY. */
MUST_CHECK enum status shape_library_add(struct shape_library *self, const struct shape *shape);
/* Puts every shape of `from` into `self` (which is empty). NO_MEMORY: self is empty. */
MUST_CHECK enum status shape_library_copy(struct shape_library *self,
					  const struct shape_library *from);
/* Removes shapes without further references, oldest first, until the library's memory is at most `bytes` or
 * only shapes in use are left. Indices change. */
void shape_library_trim(struct shape_library *self, uint64_t bytes);
/* Borrowed, or NULL. */
const struct shape *shape_library_find(const struct shape_library *self,
				       const uint8_t name[SHAPE_NAME_BYTES]);
/* The i-th, in the order they were added; borrowed. */
const struct shape *shape_library_at(const struct shape_library *self, uint32_t index);
/* shape_cook of bytes that a peer sent in a valid frame: malformed bytes give CORRUPT instead of MALFORMED,
 * which would end the connection. `name` may be NULL. */
MUST_CHECK enum status shape_library_cook(struct wire_slice canonical, const uint8_t *name,
					  struct shape **out, struct reason *why);
/* For world_options.shapes: finds shapes in this library, which must not move. */
struct shape_source shape_library_source(struct shape_library *self);

#endif
