/* result_wire.h: items of the lists in RESULT and STEPPED, and of EVENTS.
 *
 *   result  [batch, tick, code, index, values, field, text, edit]
 *   event   [kind, a, b, value, fraction, point, normal, child a, child b]
 *
 * A result's `tick` is the boundary at which the batch was applied or refused, and (tick, edit) names
 * the first state with its effects. `index` is the refused command (from 0) or −1. `values` has one integer
 * per command: the id it made, else 0. `values` is empty for a refused batch, and for a batch stored for a
 * later tick, which gets a second result at that tick. Events have the fields of the engine's (types.h);
 * point and normal are [x, y, z]; items left out at the end are 0.
 */
#ifndef CAIRN_PROTOCOL_RESULT_WIRE_H
#define CAIRN_PROTOCOL_RESULT_WIRE_H

#include "protocol/cursor.h"
#include "protocol/packer.h"
#include "server/engine/types.h"

struct wire_result {
	uint64_t batch;
	uint64_t tick;
	uint64_t edit;
	enum status code;
	int64_t index;		/* of the refused command, or -1 */
	const uint32_t *values; /* to pack (borrowed) */
	uint32_t value_count;
	struct wire_list value_list; /* as read: integers */
	struct wire_slice field;     /* for a program and a person; empty when applied */
	struct wire_slice text;
};

void result_pack(struct wire_packer *out, const struct wire_result *result);
/* STATUS_TYPE or STATUS_RANGE when it is not a result. Fills value_list, not values. */
MUST_CHECK enum status result_take(struct wire_cursor *in, struct wire_result *result);
/* The i-th value, 0 where there is none. */
uint32_t result_value(const struct wire_result *result, uint32_t index);

void event_pack(struct wire_packer *out, const struct event *event);
MUST_CHECK enum status event_take(struct wire_cursor *in, struct event *event);

/* "contact_begin", …; "?" for an unknown kind. */
const char *event_name(uint8_t kind);

#endif
