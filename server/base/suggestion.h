/* suggestion.h: "did you mean": the nearest of a set of names to one that is not in it, for errors.
 *
 *	struct suggestion suggestion = suggestion_for(wrong);
 *	for (…)
 *		suggestion_offer(&suggestion, name);
 *	reason_set(…, "no key '%s'%s", wrong, suggestion_text(&suggestion, room, sizeof room));
 *
 * A name is near if at most half of its letters differ, and at most three (Levenshtein distance).
 */
#ifndef CAIRN_BASE_SUGGESTION_H
#define CAIRN_BASE_SUGGESTION_H

#include "server/base/base.h"

struct suggestion {
	const char *wrong;   /* borrowed */
	const char *nearest; /* so far, or NULL; borrowed */
	uint32_t distance;
};
struct suggestion suggestion_for(const char *wrong);
void suggestion_offer(struct suggestion *self, const char *name);
/* "; did you mean 'radius'?", or "" if no name is near. Written to `room`. */
const char *suggestion_text(const struct suggestion *self, char *room, size_t bytes);

#endif
