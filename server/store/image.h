/* image.h: a world's image as it lies in a file: zstd over the bytes of world_save, beside the count
 * and the XXH3 of those bytes. */
#ifndef CAIRN_STORE_IMAGE_H
#define CAIRN_STORE_IMAGE_H

#include "server/base/bytes.h"
#include "server/base/status.h"

/* A larger image is not believed. */
#define IMAGE_BYTES_MAX ((uint64_t)4 << 30)

/* Appends the compressed form. NO_MEMORY. */
MUST_CHECK enum status image_pack(const struct bytes *image, struct bytes *out);
/* Appends what `data` holds, which must be `image_bytes` bytes of that hash, and no more than the
 * limits of the world that it is of allow. CORRUPT, NO_MEMORY. */
MUST_CHECK enum status image_unpack(const uint8_t *data, size_t bytes, uint64_t image_bytes,
				    uint64_t image_hash, struct bytes *out, struct reason *why);

#endif
