/* See usage.h. */
#include "clients/cli/usage.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
