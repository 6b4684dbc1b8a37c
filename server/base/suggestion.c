/* See suggestion.h. */
#include "server/base/suggestion.h"

#include <stdio.h>
#include <string.h>

/* The Levenshtein distance, by the full table; names of more than 31 letters are never near. */
static uint32_t edit_distance(const char *a, const char *b)
{
	enum { LETTERS_MAX = 32 };
	uint32_t row[LETTERS_MAX + 1];
	uint32_t length_a = (uint32_t)strlen(a), length_b = (uint32_t)strlen(b);
	if (length_a > LETTERS_MAX || length_b > LETTERS_MAX)
		return UINT32_MAX;
	for (uint32_t j = 0; j <= length_b; j++)
		row[j] = j;
	for (uint32_t i = 1; i <= length_a; i++) {
		uint32_t diagonal = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= length_b; j++) {
			uint32_t change = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = MIN_OF(change, MIN_OF(row[j], row[j - 1]) + 1);
		}
	}
	return row[length_b];
}

struct suggestion suggestion_for(const char *wrong)
{
	/* At most half of the letters may differ, and at most three. */
	uint32_t letters = (uint32_t)strlen(wrong);
	return (struct suggestion){ .wrong = wrong, .distance = MIN_OF((letters + 1) / 2, 3u) + 1 };
}

void suggestion_offer(struct suggestion *self, const char *name)
{
	uint32_t distance = edit_distance(self->wrong, name);
	if (distance < self->distance) {
		self->distance = distance;
		self->nearest = name;
	}
}

const char *suggestion_text(const struct suggestion *self, char *room, size_t bytes)
{
	if (self->nearest == NULL)
		return "";
	snprintf(room, bytes, "; did you mean '%s'?", self->nearest);
	return room;
}
