/* assets.h: the files of the viewer, read once at the start and served from memory.
 *
 * What is not in the table does not exist: a path in a request is only compared, never opened, so there
 * is no way out of the directory and no disk on the loop's thread. Each file has its content type, an
 * ETag made of its bytes, and a gzip form where that is smaller.
 */
#ifndef CAIRN_WEB_ASSETS_H
#define CAIRN_WEB_ASSETS_H

#include "server/base/array.h"
#include "server/base/base.h"
#include "server/base/status.h"

enum {
	ASSETS_MAX = 1024,
	ASSETS_BYTES_MAX = 64 << 20,
	ASSETS_DEPTH_MAX = 8,
	ASSET_PATH_MAX = 255,
};

struct asset {
	char path[ASSET_PATH_MAX + 1]; /* as in a URL: "/index.html" */
	const char *type;	       /* content type */
	char etag[36];		       /* quoted */
	uint8_t *data;
	size_t bytes;
	uint8_t *packed; /* gzip; NULL where it would not be smaller */
	size_t packed_bytes;
};

struct assets {
	ARRAY_OF(struct asset) items; /* by path, ascending */
	uint64_t total_bytes;
};

void assets_init(struct assets *self);
void assets_release(struct assets *self);
/* Adds every regular file below `directory`; names that begin with a dot and symbolic links are left
 * out. A directory that is not there adds nothing and is OK. LIMIT, IO, NO_MEMORY. */
enum status assets_load(struct assets *self, const char *directory, struct reason *why) MUST_CHECK;
/* "/" finds "/index.html". NULL: there is none. */
const struct asset *assets_find(const struct assets *self, const char *path);
/* The content type by the end of a name; application/octet-stream for others. */
const char *asset_type(const char *path);

#endif
