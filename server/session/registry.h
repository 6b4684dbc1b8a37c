/* registry.h: all sessions, by number. Numbers ascend and are never reused, so an answer for a
 * session that has ended finds no other session in its place. */
#ifndef CAIRN_SESSION_REGISTRY_H
#define CAIRN_SESSION_REGISTRY_H

#include "server/base/array.h"
#include "server/base/table.h"

struct session;

struct registry {
	ARRAY_OF(struct session *) items; /* in no particular order */
	struct table index;		  /* number → position */
	uint32_t next_number;
	uint32_t greeting; /* sessions that have not sent HELLO yet */
	uint32_t lost;	   /* sessions without a connection that may be resumed */
	uint64_t opened, closed;
};

void registry_init(struct registry *self, uint32_t first_number);
void registry_release(struct registry *self);
/* Adds a session (borrowed) and returns its number. NO_MEMORY: nothing is added. */
MUST_CHECK enum status registry_add(struct registry *self, struct session *session,
				    uint32_t *number);
/* Adds a session of the last daemon under its number, and later ones get higher numbers. EXISTS,
 * NO_MEMORY. */
MUST_CHECK enum status registry_restore(struct registry *self, struct session *session,
					uint32_t number);
/* Does nothing if the number is unknown. */
void registry_remove(struct registry *self, uint32_t number);
/* NULL when the session has ended. */
struct session *registry_find(const struct registry *self, uint32_t number);

#endif
