/* registry.h: every session, by number. Numbers ascend and are not reused, so an answer for a session
 * that is gone finds nobody. */
#ifndef CAIRN_SESSION_REGISTRY_H
#define CAIRN_SESSION_REGISTRY_H

#include "server/base/array.h"
#include "server/base/table.h"

struct session;

struct registry {
	ARRAY_OF(struct session *) items; /* in no particular order */
	struct table index;		  /* number → position */
	uint32_t next_number;
	uint32_t greeting; /* sessions that have not said HELLO yet */
	uint32_t lost;	   /* sessions without a connection, kept for it */
	uint64_t opened, closed;
};

void registry_init(struct registry *self, uint32_t first_number);
void registry_release(struct registry *self);
/* Gives the session its number. NO_MEMORY. */
MUST_CHECK enum status registry_add(struct registry *self, struct session *session,
				    uint32_t *number);
void registry_remove(struct registry *self, uint32_t number);
/* NULL when it is gone. */
struct session *registry_find(const struct registry *self, uint32_t number);

#endif
