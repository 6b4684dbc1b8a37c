/* image.h: a world's image as stored in a file: zstd over the bytes of world_save, with the count and the
 * XXH3 of those bytes beside it. */
#ifndef CAIRN_STORE_IMAGE_H
#define CAIRN_STORE_IMAGE_H

#include "server/base/bytes.h"
#include "server/base/status.h"

/* A larger image is refused: no world's limits allow it. */
#define IMAGE_BYTES_MAX ((uint64_t)4 << 30)

/* Appends the compressed form. NO_MEMORY. */
MUST_CHECK enum status image_pack(const struct bytes *image, struct bytes *out);
/* Appends the image in `data`, which must have `image_bytes` bytes and that hash, and no more
 * bytes than the limits in the image itself allow. CORRUPT, NO_MEMORY. */
MUST_CHECK enum status image_unpack(const uint8_t *data, size_t bytes, uint64_t image_bytes,
				    uint64_t image_hash, struct bytes *out, struct reason *why);

#endif
