/* image.h: format constants and entry points shared by the writer and the reader of images. */
#ifndef CAIRN_ENGINE_WORLD_IMAGE_H
#define CAIRN_ENGINE_WORLD_IMAGE_H

#include "server/engine/world/world.h"

#define IMAGE_MAGIC "CAIRNIMG"
enum { IMAGE_MAGIC_BYTES = 8, IMAGE_VERSION = 2 };

/* Reads an image into fresh tables. `about` may be NULL: then nothing is hashed. CORRUPT,
 * VERSION, NO_MEMORY: the tables are released. */
MUST_CHECK enum status image_read(const uint8_t *data, size_t bytes, struct tables *tables,
				  struct image_about *about, struct reason *why);

#endif
