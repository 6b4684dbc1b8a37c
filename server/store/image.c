#include "server/store/image.h"

#include <zstd.h>

#include "server/base/hash.h"

/* Level 3: 1000 bodies in about a millisecond, to a third; higher levels gain little on doubles. */
enum { IMAGE_LEVEL = 3 };

enum status image_pack(const struct bytes *image, struct bytes *out)
{
	size_t bound = ZSTD_compressBound(image->count);
	enum status status = bytes_reserve(out, bound);
	if (status != STATUS_OK)
		return status;
	size_t bytes = ZSTD_compress(out->data + out->count, bound, image->data, image->count,
				     IMAGE_LEVEL);
	if (ZSTD_isError(bytes))
		return STATUS_NO_MEMORY;
	out->count += bytes;
	return STATUS_OK;
}

enum status image_unpack(const uint8_t *data, size_t bytes, uint64_t image_bytes,
			 uint64_t image_hash, struct bytes *out, struct reason *why)
{
	/* Both must agree before memory is asked for. */
	if (image_bytes > IMAGE_BYTES_MAX || ZSTD_getFrameContentSize(data, bytes) != image_bytes)
		return reason_set(why, STATUS_CORRUPT, -1, "image",
				  "the compressed image is not of the size stated");
	enum status status = bytes_reserve(out, (size_t)image_bytes + 1);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "image", "%s", status_text(status));
	uint8_t *at = out->data + out->count;
	size_t got = ZSTD_decompress(at, (size_t)image_bytes, data, bytes);
	if (ZSTD_isError(got) || got != image_bytes ||
	    hash64(at, (size_t)image_bytes, 0) != image_hash)
		return reason_set(why, STATUS_CORRUPT, -1, "image",
				  "the image does not match its checksum");
	out->count += (size_t)image_bytes;
	return STATUS_OK;
}
