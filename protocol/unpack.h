/* unpack.h: unpacks bytes into a message; strict and bounded.
 *
 * Runs after validate_content. It refuses an unknown number (STATUS_UNKNOWN_MESSAGE), a reserved number
 * (STATUS_UNSUPPORTED), a field that is missing or of another type (STATUS_TYPE), and a value out of bounds
 * (STATUS_RANGE). The reason names field, value and bound. Items beyond the known fields are ignored.
 */
#ifndef CAIRN_PROTOCOL_UNPACK_H
#define CAIRN_PROTOCOL_UNPACK_H

#include "protocol/message.h"
#include "protocol/validate.h"

/* `message` borrows from `content`. After a refusal it holds the fields before the faulty one, so
 * that message_ref still names the request. `why` may be NULL. Bytes that were not validated are
 * safe, too: they give STATUS_MALFORMED. */
MUST_CHECK enum status message_unpack(const uint8_t *content, uint32_t bytes,
				      struct message *message, struct reason *why);

/* validate_content and message_unpack in one. If the validator refuses, `message` holds the fields
 * that could be read, and the reason names the faulty field if it is known. */
MUST_CHECK enum status message_read(const uint8_t *content, uint32_t bytes,
				    const struct validate_limits *limits, struct message *message,
				    struct reason *why);

/* The `ref` of an ERROR about this message: its ref, sub, batch, id or request; else 0. */
uint64_t message_ref(const struct message *message);

/* Fills an ERROR for a refused message (`about` may be NULL). Texts are borrowed from `why`. */
void message_error(struct message *error, const struct message *about, const struct reason *why);

/* The value of a key in the pairs of a MAP; STATUS_MISSING if the key is absent. */
MUST_CHECK enum status wire_map_find(const struct wire_list *map, const char *key,
				     struct wire_slice *value);
/* Exactly `count` numbers of a REALS or LIST. */
MUST_CHECK enum status wire_list_reals(const struct wire_list *list, double *values,
				       uint32_t count);
/* True if the bytes are those of this C string. */
bool wire_slice_is(struct wire_slice slice, const char *text);

#endif
