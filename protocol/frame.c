/* See frame.h. */
#include "protocol/frame.h"

#include "server/base/bytes.h"

enum { BIN32 = 0xC6 };

enum status frame_split(const uint8_t *data, size_t count, uint32_t content_max,
			struct wire_slice *content, size_t *bytes)
{
	*bytes = WIRE_FRAME_HEADER;
	if (count == 0)
		return STATUS_AGAIN;
	if (data[0] != BIN32)
		return STATUS_FRAMING;
	if (count < WIRE_FRAME_HEADER)
		return STATUS_AGAIN;
	uint32_t length = get_be32(data + 1);
	if (length == 0)
		return STATUS_FRAMING;
	*bytes = (size_t)WIRE_FRAME_HEADER + length;
	if (length > content_max)
		return STATUS_TOO_LARGE;
	if (count < *bytes)
		return STATUS_AGAIN;
	*content = (struct wire_slice){ data + WIRE_FRAME_HEADER, length };
	return STATUS_OK;
}

void frame_header_put(uint8_t header[WIRE_FRAME_HEADER], uint32_t content_bytes)
{
	header[0] = BIN32;
	put_be32(header + 1, content_bytes);
}
