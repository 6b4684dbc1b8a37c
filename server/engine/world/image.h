/* image.h: what the writer and the reader of images share. */
#ifndef CAIRN_ENGINE_WORLD_IMAGE_H
#define CAIRN_ENGINE_WORLD_IMAGE_H

#include "server/engine/world/world.h"

#define IMAGE_MAGIC "CAIRNIMG"
enum { IMAGE_MAGIC_BYTES = 8, IMAGE_VERSION = 2 };

/* Reads an image into fresh tables. `about` may be NULL: what is not asked for is not hashed.
 * CORRUPT, VERSION, NO_MEMORY: the tables are released. */
MUST_CHECK enum status image_read(const uint8_t *data, size_t bytes, struct tables *tables,
				  struct image_about *about, struct reason *why);

#endif
