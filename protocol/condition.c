/* See condition.h. */
#include "protocol/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const QUANTITIES[] = { "x", "y", "z", "speed", "spin" };

static enum status refuse(const char *text, struct reason *why)
{
	return reason_set(
		why, STATUS_RANGE, -1, "condition",
		"\"%.60s\": it must be `body N QUANTITY > VALUE` or `any QUANTITY < VALUE`, "
		"with QUANTITY x, y, z, speed or spin",
		text);
}

enum status condition_parse(const char *text, struct wire_query *query, struct reason *why)
{
	char subject[8], id[16] = "0", quantity[8], relation[4], value[40], rest[2], *end;
	query_init(query, WIRE_QUERY_WHEN);
	int any = sscanf(text, " any %7[a-z] %1[<>] %39s %1s", quantity, relation, value, rest);
	int body = sscanf(text, " %7[a-z] %15[0-9] %7[a-z] %1[<>] %39s %1s", subject, id, quantity,
			  relation, value, rest);
	if (any != 3) {
		if (body != 5 || strcmp(subject, "body") != 0)
			return refuse(text, why);
	} else {
		sscanf(text, " any %7[a-z] %1[<>] %39s", quantity, relation, value);
	}
	unsigned long long number = strtoull(id, NULL, 10);
	uint32_t found = 0;
	while (found < COUNT_OF(QUANTITIES) && strcmp(QUANTITIES[found], quantity) != 0)
		found++;
	query->value = strtod(value, &end);
	bool finite = query->value - query->value == 0;
	if (found == COUNT_OF(QUANTITIES) || number > UINT32_MAX || *end != '\0' || !finite ||
	    (any != 3 && number == 0))
		return refuse(text, why);
	query->body = (uint32_t)number;
	query->quantity = found;
	query->above = relation[0] == '>';
	return STATUS_OK;
}
