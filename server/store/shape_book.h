/* shape_book.h: cooked shapes by name; holds one reference to each. Not shared between threads. */
#ifndef CAIRN_STORE_SHAPE_BOOK_H
#define CAIRN_STORE_SHAPE_BOOK_H

#include "protocol/message.h"
#include "server/base/table.h"
#include "server/engine/engine.h"

struct shape_book {
	struct shape_book_entry *entries; /* owned */
	uint32_t count, capacity;
	struct table index; /* first eight bytes of the name → newest entry with them */
	uint64_t bytes;	    /* memory of the shapes held */
};

void shape_book_init(struct shape_book *self);
void shape_book_release(struct shape_book *self);
/* Retains `shape`. EXISTS when the name is there already; NO_MEMORY. */
MUST_CHECK enum status shape_book_add(struct shape_book *self, const struct shape *shape);
/* Puts every shape of `from` into `self` (which is empty). NO_MEMORY: self is empty. */
MUST_CHECK enum status shape_book_copy(struct shape_book *self, const struct shape_book *from);
/* Takes out shapes that nobody else holds, those added first before others, until the book's memory is at
 * most `bytes` or only shapes in use are left. Indices move. */
void shape_book_trim(struct shape_book *self, uint64_t bytes);
/* Borrowed, or NULL. */
const struct shape *shape_book_find(const struct shape_book *self,
				    const uint8_t name[SHAPE_NAME_BYTES]);
/* The i-th, in the order they were added; borrowed. */
const struct shape *shape_book_at(const struct shape_book *self, uint32_t index);
/* shape_cook of bytes that a peer sent, whose frame was whole: where they make no sense the answer is
 * CORRUPT, not MALFORMED, which would end the connection. `name` may be NULL. */
MUST_CHECK enum status shape_book_cook(struct wire_slice canonical, const uint8_t *name,
				       struct shape **out, struct reason *why);
/* For world_options.shapes: looks into this book. */
struct shape_source shape_book_source(struct shape_book *self);

#endif
