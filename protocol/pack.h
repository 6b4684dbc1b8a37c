/* pack.h: packs a message into bytes; the inverse of unpack.h; derived from messages.def.
 *
 * Values that unpack refuses are refused here too (STATUS_RANGE, STATUS_TYPE, STATUS_NOT_FINITE), so no
 * side can send a message that the other refuses. Lists and raw values are given packed (packer.h) and
 * are copied. Every field is written, also one that has its fallback.
 */
#ifndef CAIRN_PROTOCOL_PACK_H
#define CAIRN_PROTOCOL_PACK_H

#include "protocol/message.h"
#include "protocol/packer.h"

/* One whole frame, header included, into `data`. STATUS_FULL when it does not fit. */
MUST_CHECK enum status message_pack(const struct message *message, uint8_t *data, uint32_t capacity,
				    uint32_t *bytes);
/* The content only: for WebSocket and recordings. */
MUST_CHECK enum status message_pack_content(const struct message *message, uint8_t *data,
					    uint32_t capacity, uint32_t *bytes);

/* Why a message was not packed: the first field at fault with its value and limit, else what the status
 * says. Returns the status. */
enum status message_explain(const struct message *message, enum status status, struct reason *why);

/* One frame for many subscriptions. SNAPSHOT, DELTA, EVENTS and NOTICE begin [type, sub, …]: all
 * that follows `sub` is the same for all subscriptions and is packed once (the tail); each peer is sent
 * its own head and then the tail. */
enum { WIRE_HEAD_MAX = WIRE_FRAME_HEADER + 1 + 1 + 9 };

MUST_CHECK enum status message_pack_tail(const struct message *message, uint8_t *data,
					 uint32_t capacity, uint32_t *bytes);
/* Returns the size of the head. With `framed` false the frame header is left out (WebSocket). */
uint32_t message_pack_head(enum message_type type, uint64_t sub, uint32_t tail_bytes, bool framed,
			   uint8_t head[WIRE_HEAD_MAX]);

#endif
