/* assets.h: the files of the viewer, read once at the start and served from memory.
 *
 * The path of a request is only compared with the table and never opened, so no request can leave
 * the directory, and the loop thread never waits for the disk. Each file has its content type, an
 * ETag made of its bytes, and a gzip form where that is smaller.
 */
#ifndef CAIRN_WEB_ASSETS_H
#define CAIRN_WEB_ASSETS_H

#include "server/base/array.h"
#include "server/base/base.h"
#include "server/base/status.h"

enum {
	ASSETS_MAX = 1024, /* files */
	ASSETS_BYTES_MAX = 64 << 20,
	ASSETS_DEPTH_MAX = 8, /* directories below the first; deeper ones are left out */
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
/* Adds every regular file below `directory` but names that begin with a dot and symbolic links. A
 * missing directory adds nothing and is OK. LIMIT, IO, NO_MEMORY; the error names the file. */
MUST_CHECK enum status assets_load(struct assets *self, const char *directory, struct reason *why);
/* The file of a URL's path; "/" finds "/index.html". NULL: there is none. */
const struct asset *assets_find(const struct assets *self, const char *path);
/* The content type by a name's ending; application/octet-stream for unknown endings. */
const char *asset_type(const char *path);

#endif
