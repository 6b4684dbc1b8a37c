/* unpack.h: bytes as a message; strict and bounded.
 *
 * Comes after validate_content. What is found here: an unknown number (STATUS_UNKNOWN_MESSAGE), one of
 * a later version (STATUS_UNSUPPORTED), a field that is missing or of another type (STATUS_TYPE), a value
 * out of bounds (STATUS_RANGE). The reason names field, value and bound. Items beyond the fields we know are
 * ignored.
 */
#ifndef CAIRN_PROTOCOL_UNPACK_H
#define CAIRN_PROTOCOL_UNPACK_H

#include "protocol/message.h"
#include "protocol/validate.h"

/* `message` borrows from `content`. After a refusal it holds what stood before the field that is
 * wrong, so that message_ref still names the request. `why` may be NULL. Bytes that were not
 * validated are safe, too: they give STATUS_MALFORMED. */
MUST_CHECK enum status message_unpack(const uint8_t *content, uint32_t bytes,
				      struct message *message, struct reason *why);

/* validate_content and message_unpack in one. Of what the validator refuses, `message` holds what could be
 * read all the same, and the reason names the field where it can be told. */
MUST_CHECK enum status message_read(const uint8_t *content, uint32_t bytes,
				    const struct validate_limits *limits, struct message *message,
				    struct reason *why);

/* What an ERROR about this message gives as `ref`: its ref, sub, batch, id or request; else 0. */
uint64_t message_ref(const struct message *message);

/* Fills an ERROR for a refused message (`about` may be NULL). Texts are borrowed from `why`. */
void message_error(struct message *error, const struct message *about, const struct reason *why);

/* The value of a key in the pairs of a MAP; STATUS_MISSING where there is none. */
MUST_CHECK enum status wire_map_find(const struct wire_list *map, const char *key,
				     struct wire_slice *value);
/* Exactly `count` numbers of a REALS or LIST. */
MUST_CHECK enum status wire_list_reals(const struct wire_list *list, double *values,
				       uint32_t count);
/* Are the bytes those of this C string? */
bool wire_slice_is(struct wire_slice slice, const char *text);

#endif
