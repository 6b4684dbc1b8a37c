/* stability_text.h: the answer to STABILITY as text or as one JSON object, for `cairn stability`. */
#ifndef CAIRN_PROTOCOL_STABILITY_TEXT_H
#define CAIRN_PROTOCOL_STABILITY_TEXT_H

#include "protocol/query_wire.h"
#include "server/base/bytes.h"

/* The number of a word; UINT32_MAX: none has it. */
uint32_t stability_margin_number(const char *word);

/* Appends the answer's text, ended by a line feed. `state`: the epoch and tick, or NULL. The tick
 * is that of the answer. MALFORMED; NO_MEMORY. */
struct stability_state {
	uint32_t epoch;
	uint64_t tick;
};
MUST_CHECK enum status stability_text(struct wire_cursor answer, uint32_t margin,
				      const struct stability_state *state, bool json,
				      struct bytes *out);

#endif
