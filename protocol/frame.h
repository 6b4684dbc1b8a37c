/* frame.h: frames in a stream of bytes.
 *
 *   C6  l3 l2 l1 l0  content…        one MessagePack bin 32; l is big-endian, 1 ≤ l ≤ limit
 *
 * Memory is bounded before anything is parsed, and another protocol is refused at its first byte.
 */
#ifndef CAIRN_PROTOCOL_FRAME_H
#define CAIRN_PROTOCOL_FRAME_H

#include "protocol/message.h"

/* Looks for one frame at the start of `data` (borrowed).
 *   STATUS_OK         `content` is the frame's content within `data`; `bytes` is the whole frame's
 *                     length, to be taken off the stream
 *   STATUS_AGAIN      more bytes are needed: `bytes` is the total needed, as far as known
 *   STATUS_FRAMING    the first byte starts no frame, or the frame is empty
 *   STATUS_TOO_LARGE  the header announces more than `content_max`; `bytes` is the whole frame's length,
 *                     so that the caller can skip the frame */
MUST_CHECK enum status frame_split(const uint8_t *data, size_t count, uint32_t content_max,
				   struct wire_slice *content, size_t *bytes);

/* Writes the header of a frame with `content_bytes` of content. */
void frame_header_put(uint8_t header[WIRE_FRAME_HEADER], uint32_t content_bytes);

#endif
