/* synonyms.c: see synonyms.def. */
#include <string.h>

#include "protocol/scene/schema.h"

static const struct {
	const char *word, *ours;
} SYNONYMS[] = {
#define SYNONYM(word, ours) { word, ours },
#include "protocol/scene/synonyms.def"
};

void schema_offer(struct suggestion *self, const char *name)
{
	ASSERT(self->wrong != NULL);
	suggestion_offer(self, name);
	for (size_t i = 0; i < COUNT_OF(SYNONYMS); i++)
		if (strcmp(SYNONYMS[i].word, self->wrong) == 0 &&
		    strcmp(SYNONYMS[i].ours, name) == 0) {
			self->nearest = name;
			self->distance = 0;
		}
}
