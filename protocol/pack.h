/* pack.h: a message as bytes. The opposite of unpack.h; derived from messages.def.
 *
 * What unpack would refuse is refused here too (STATUS_RANGE, STATUS_TYPE, STATUS_NOT_FINITE), so a
 * side cannot send what it would not accept; lists and raw values were packed before, with
 * packer.h, and are copied. Every field is written, whether it holds its fallback or not.
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

/* One frame for many subscriptions. SNAPSHOT, DELTA, EVENTS and NOTICE begin [type, sub, …]: all
 * that follows `sub` is the same for everybody and is packed once (the tail); each peer is sent its
 * own head and then the tail. */
enum { WIRE_HEAD_MAX = WIRE_FRAME_HEADER + 1 + 1 + 9 };

MUST_CHECK enum status message_pack_tail(const struct message *message, uint8_t *data,
					 uint32_t capacity, uint32_t *bytes);
/* Returns the head's bytes. With `framed` false the frame header is left out (WebSocket). */
uint32_t message_pack_head(enum message_type type, uint64_t sub, uint32_t tail_bytes, bool framed,
			   uint8_t head[WIRE_HEAD_MAX]);

#endif
