/* See usage.h. */
#include "clients/cli/usage.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------------- */

bool usage_next_option(const char **at, struct usage_option *out)
{
	const char *from = strstr(*at, "--");
	if (from == NULL)
		return false;
	from += 2;
	size_t length = strspn(from, "abcdefghijklmnopqrstuvwxyz0123456789-");
	snprintf(out->name, sizeof out->name, "%.*s", (int)length, from);
	*at = from + length;
	out->has_value = (*at)[0] == ' ' && isalnum((unsigned char)(*at)[1]) != 0;
	return true;
}

/* ---- options that stand together ----------------------------------------------------------------- */

enum { DEPTH_MAX = 8, PLACES_MAX = 96 };

/* A bracket around a place of a usage; number 0: the whole usage. */
struct usage_bracket {
	uint32_t number, choice; /* which of its alternatives the place is in */
	char head[32];		 /* the option that this one begins with; "": it begins otherwise */
	bool begins;		 /* nothing of the alternative was read yet */
};
struct usage_place {
	char name[32];
	struct usage_bracket around[DEPTH_MAX];
	uint32_t depth;
};
struct usage_reading {
	struct usage_bracket open[DEPTH_MAX];
	uint32_t depth, numbers;
	struct usage_place *places;
	uint32_t count;
};

static void read_option(struct usage_reading *self, const char **at)
{
	struct usage_option option;
	struct usage_bracket *top = &self->open[self->depth - 1];
	struct usage_place *place = &self->places[self->count++];
	ASSERT(self->count <= PLACES_MAX);
	usage_next_option(at, &option);
	if (top->begins)
		memcpy(top->head, option.name, sizeof top->head);
	top->begins = false;
	memcpy(place->name, option.name, sizeof place->name);
	memcpy(place->around, self->open, sizeof place->around);
	place->depth = self->depth;
}

/* Finds all places of options; returns how many there are. */
static uint32_t read_places(const char *usage, struct usage_place places[PLACES_MAX])
{
	struct usage_reading self = { .depth = 1, .places = places };
	self.open[0].begins = true;
	for (const char *at = usage; *at != '\0';) {
		struct usage_bracket *top = &self.open[self.depth - 1];
		if (strncmp(at, "--", 2) == 0) {
			read_option(&self, &at);
			continue;
		}
		if (*at == '[' || *at == '(') {
			ASSERT(self.depth < DEPTH_MAX);
			top->begins = false;
			self.open[self.depth++] =
				(struct usage_bracket){ .number = ++self.numbers, .begins = true };
		} else if (*at == ']' || *at == ')') {
			ASSERT(self.depth > 1);
			self.depth--;
		} else if (strncmp(at, " | ", 3) == 0) {
			*top = (struct usage_bracket){ top->number, top->choice + 1, "", true };
			at += 2;
		} else if (*at != ' ') {
			top->begins = false;
		}
		at++;
	}
	return self.count;
}

static bool is_given(const char *const *given, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(given[i], name) == 0)
			return true;
	return false;
}

/* The option that a place needs beside it and that is not given; NULL: none. */
static const char *missing_head(const struct usage_place *place, const char *const *given,
				uint32_t count)
{
	for (uint32_t d = 0; d < place->depth; d++) {
		const char *head = place->around[d].head;
		if (head[0] != '\0' && strcmp(head, place->name) != 0 &&
		    !is_given(given, count, head))
			return head;
	}
	return NULL;
}

/* Whether two places are in different alternatives of one bracket. */
static bool are_alternatives(const struct usage_place *a, const struct usage_place *b)
{
	for (uint32_t d = 0; d < MIN_OF(a->depth, b->depth); d++) {
		if (a->around[d].number != b->around[d].number)
			return false;
		if (a->around[d].choice != b->around[d].choice)
			return true;
	}
	return false;
}

/* Whether no place of one option can stand beside any place of the other. */
static bool exclude_each_other(const struct usage_place *places, uint32_t count, const char *one,
			       const char *other)
{
	bool found = false;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++) {
			if (strcmp(places[i].name, one) != 0 || strcmp(places[k].name, other) != 0)
				continue;
			found = true;
			if (!are_alternatives(&places[i], &places[k]))
				return false;
		}
	return found;
}

bool usage_allows(const char *usage, const char *const *given, uint32_t count, char *text,
		  size_t bytes)
{
	struct usage_place places[PLACES_MAX];
	uint32_t place_count = read_places(usage, places);
	for (uint32_t g = 0; g < count; g++) {
		const char *missing = NULL;
		bool stands = false;
		for (uint32_t i = 0; i < place_count && !stands; i++) {
			if (strcmp(places[i].name, given[g]) != 0)
				continue;
			const char *head = missing_head(&places[i], given, count);
			stands = head == NULL;
			missing = missing == NULL ? head : missing;
		}
		if (!stands && missing != NULL) {
			snprintf(text, bytes,
				 "--%s has no effect without --%s: give both, or leave it out",
				 given[g], missing);
			return false;
		}
	}
	for (uint32_t g = 0; g < count; g++)
		for (uint32_t h = 0; h < g; h++)
			if (exclude_each_other(places, place_count, given[h], given[g])) {
				snprintf(text, bytes,
					 "--%s and --%s exclude each other: leave one of them out",
					 given[h], given[g]);
				return false;
			}
	return true;
}

/* ---- operands ------------------------------------------------------------------------------------ */

uint32_t usage_operands_max(const char *usage)
{
	uint32_t count = 0;
	bool after_option = false, within_option = false;
	for (const char *at = usage; *at != '\0';) {
		size_t length = strcspn(at, " ");
		int depth = 0;
		for (size_t i = 0; i < length; i++)
			depth += (at[i] == '[') - (at[i] == ']');
		bool ends = depth < 0 || (depth == 0 && at[0] == '[');
		if (strncmp(at, "--", 2) == 0 || strncmp(at, "[--", 3) == 0) {
			struct usage_option option;
			const char *name = at;
			usage_next_option(&name, &option);
			after_option = option.has_value;
			within_option = !ends;
		} else if (after_option) {
			after_option = false;
			within_option = within_option && !ends;
		} else if (!within_option) {
			if (strncmp(at, "|", 1) == 0 || strncmp(at, "…", strlen("…")) == 0 ||
			    (length > 3 && strncmp(at + length - 3, "…", 3) == 0))
				return UINT32_MAX;
			count++;
		} else {
			count += at[0] == '['; /* `[--field N [OUT]]` */
			within_option = !ends;
		}
		at += length + strspn(at + length, " ");
	}
	return count;
}
