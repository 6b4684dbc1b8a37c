/* condition.h: a condition on a body as people write it: "body 17 speed > 5", "any y < -1". */
#ifndef CAIRN_PROTOCOL_CONDITION_H
#define CAIRN_PROTOCOL_CONDITION_H

#include "protocol/query_wire.h"

/* Sets kind, body, quantity, above and value of a query WHEN. RANGE: `why` says what was expected. */
MUST_CHECK enum status condition_parse(const char *text, struct wire_query *query,
				       struct reason *why);

#endif
