/* See assets.h. */
#include "server/web/assets.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "server/base/hash.h"
#include "server/base/heap.h"

void assets_init(struct assets *self)
{
	memset(self, 0, sizeof *self);
}

void assets_release(struct assets *self)
{
	for (uint32_t i = 0; i < self->items.count; i++) {
		heap_free(self->items.items[i].data);
		heap_free(self->items.items[i].packed);
	}
	ARRAY_RELEASE(&self->items);
	memset(self, 0, sizeof *self);
}

/* table: content types by ending. */
static const char *const TYPES[][2] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".mjs", "text/javascript; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".json", "application/json" },
	{ ".map", "application/json" },
	{ ".webmanifest", "application/manifest+json" },
	{ ".wasm", "application/wasm" },
	{ ".svg", "image/svg+xml" },
	{ ".png", "image/png" },
	{ ".jpg", "image/jpeg" },
	{ ".webp", "image/webp" },
	{ ".ico", "image/x-icon" },
	{ ".woff2", "font/woff2" },
	{ ".glb", "model/gltf-binary" },
	{ ".yaml", "text/plain; charset=utf-8" },
	{ ".txt", "text/plain; charset=utf-8" },
	{ ".md", "text/plain; charset=utf-8" },
};

const char *asset_type(const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
		size_t ending = strlen(TYPES[i][0]);
		if (length > ending && strcmp(path + length - ending, TYPES[i][0]) == 0)
			return TYPES[i][1];
	}
	return "application/octet-stream";
}

static enum status out_of_memory(struct reason *why)
{
	return reason_set(why, STATUS_NO_MEMORY, -1, "web-files", "out of memory");
}

static enum status read_all(const char *name, size_t bytes, uint8_t **out, struct reason *why)
{
	FILE *file = fopen(name, "rb");
	if (file == NULL)
		return reason_set(why, STATUS_IO, -1, "web-files", "%.90s: %s", name,
				  strerror(errno));
	uint8_t *data = heap_alloc(bytes + 1);
	size_t got = data != NULL ? fread(data, 1, bytes, file) : 0;
	fclose(file);
	if (data == NULL)
		return out_of_memory(why);
	if (got != bytes) {
		heap_free(data);
		return reason_set(why, STATUS_IO, -1, "web-files",
				  "%.90s: the file changed or cannot be read", name);
	}
	*out = data;
	return STATUS_OK;
}

/* Makes the gzip form, where it is smaller; pictures and fonts are compressed already. */
static void compress_asset(struct asset *asset)
{
	enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };
	z_stream stream;
	memset(&stream, 0, sizeof stream);
	if (asset->bytes < 256 || deflateInit2(&stream, 6, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
					       Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	uint8_t *packed = heap_alloc(asset->bytes);
	stream.next_in = asset->data;
	stream.avail_in = (uInt)asset->bytes;
	stream.next_out = packed;
	stream.avail_out = packed != NULL ? (uInt)asset->bytes : 0;
	if (packed != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END) {
		asset->packed = packed;
		asset->packed_bytes = stream.total_out;
	} else {
		heap_free(packed);
	}
	deflateEnd(&stream);
}

static enum status add_file(struct assets *self, const char *name, const char *path, size_t bytes,
			    struct reason *why)
{
	if (self->items.count == ASSETS_MAX || self->total_bytes + bytes > ASSETS_BYTES_MAX)
		return reason_set(why, STATUS_LIMIT, -1, "web-files",
				  "the directory has more than %d files or %d MiB", ASSETS_MAX,
				  ASSETS_BYTES_MAX >> 20);
	if (ARRAY_RESERVE(&self->items, self->items.count + 1u) != STATUS_OK)
		return out_of_memory(why);
	struct asset *asset = &self->items.items[self->items.count];
	memset(asset, 0, sizeof *asset);
	snprintf(asset->path, sizeof asset->path, "%s", path);
	asset->type = asset_type(path);
	asset->bytes = bytes;
	enum status status = read_all(name, bytes, &asset->data, why);
	if (status != STATUS_OK)
		return status;
	uint8_t digest[32];
	hash_sha256(asset->data, bytes, digest);
	asset->etag[0] = '"';
	for (int i = 0; i < 16; i++)
		snprintf(asset->etag + 1 + 2 * i, 3, "%02x", digest[i]);
	memcpy(asset->etag + 33, "\"", 2);
	compress_asset(asset);
	self->items.count++;
	self->total_bytes += bytes;
	return STATUS_OK;
}

static enum status add_directory(struct assets *self, const char *directory, const char *prefix,
				 int depth, struct reason *why)
{
	DIR *listing = opendir(directory);
	enum status status = STATUS_OK;
	if (listing == NULL && depth == 0 && errno == ENOENT)
		return STATUS_OK;
	if (listing == NULL)
		return reason_set(why, STATUS_IO, -1, "web-files", "%.90s: %s", directory,
				  strerror(errno));
	const struct dirent *entry;
	while (status == STATUS_OK && (entry = readdir(listing)) != NULL) {
		char name[4096], path[ASSET_PATH_MAX + 1];
		struct stat found;
		int length = snprintf(name, sizeof name, "%s/%s", directory, entry->d_name);
		int used = snprintf(path, sizeof path, "%s/%s", prefix, entry->d_name);
		if (entry->d_name[0] == '.' || length >= (int)sizeof name ||
		    used >= (int)sizeof path || lstat(name, &found) != 0)
			continue;
		if (S_ISDIR(found.st_mode) && depth < ASSETS_DEPTH_MAX)
			status = add_directory(self, name, path, depth + 1, why);
		else if (S_ISREG(found.st_mode))
			status = add_file(self, name, path, (size_t)found.st_size, why);
	}
	closedir(listing);
	return status;
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(((const struct asset *)left)->path, ((const struct asset *)right)->path);
}

enum status assets_load(struct assets *self, const char *directory, struct reason *why)
{
	enum status status = add_directory(self, directory, "", 0, why);
	if (self->items.count > 1)
		qsort(self->items.items, self->items.count, sizeof self->items.items[0],
		      compare_paths);
	return status;
}

const struct asset *assets_find(const struct assets *self, const char *path)
{
	struct asset wanted;
	if (strlen(path) > ASSET_PATH_MAX || self->items.count == 0)
		return NULL;
	snprintf(wanted.path, sizeof wanted.path, "%s",
		 strcmp(path, "/") == 0 ? "/index.html" : path);
	return bsearch(&wanted, self->items.items, self->items.count, sizeof wanted, compare_paths);
}
