/* See image.h. The size stated in a file is checked against the limits of its world before memory
 * is allocated. */
#include "server/store/image.h"

#include <zstd.h>

#include "server/base/hash.h"
#include "server/engine/engine.h"

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

/* Beside the rows that count towards a world's limit an image contains the names of its columns
 * (HEAD_BYTES). The batches queued for later ticks may exceed the limit by one batch
 * (BESIDES_BYTES). */
enum { HEAD_BYTES = 4096, BESIDES_BYTES = 1 << 20 };

/* The bytes that the limits of the world allow; the image begins with them. So a few compressed
 * bytes cannot request more memory than such a world could. 0: the beginning is malformed. */
static uint64_t bytes_allowed(const uint8_t *data, size_t bytes)
{
	uint8_t head[HEAD_BYTES];
	ZSTD_outBuffer out = { head, sizeof head, 0 };
	ZSTD_inBuffer in = { data, bytes, 0 };
	uint64_t memory_max = 0;
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t left = stream != NULL ? 1 : 0;
	while (left != 0 && !ZSTD_isError(left) && out.pos < out.size && in.pos < in.size)
		left = ZSTD_decompressStream(stream, &out, &in);
	ZSTD_freeDStream(stream);
	if (!world_image_memory_max(head, out.pos, &memory_max))
		return 0;
	return memory_max > IMAGE_BYTES_MAX / 2 ? IMAGE_BYTES_MAX : 2 * memory_max + BESIDES_BYTES;
}

enum status image_unpack(const uint8_t *data, size_t bytes, uint64_t image_bytes,
			 uint64_t image_hash, struct bytes *out, struct reason *why)
{
	/* Both sizes must agree before memory is allocated. */
	if (image_bytes > IMAGE_BYTES_MAX || ZSTD_getFrameContentSize(data, bytes) != image_bytes)
		return reason_set(
			why, STATUS_CORRUPT, -1, "image",
			"the compressed image does not have the stated size of %llu bytes",
			(unsigned long long)image_bytes);
	uint64_t most = bytes_allowed(data, bytes);
	if (image_bytes > most)
		return reason_set(
			why, STATUS_CORRUPT, -1, "image",
			"the image states %llu bytes, and its world's memory_max allows %llu",
			(unsigned long long)image_bytes, (unsigned long long)most);
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
