/* See used_tokens.h. */
#include "server/store/used_tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/bytes.h"
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/io/log.h"

enum { PATH_BYTES = 4096 + 32, HASHED_BYTES = USED_TOKEN_BYTES - 8 };

struct used_tokens {
	char path[PATH_BYTES], fresh_path[PATH_BYTES];
	int file, fresh;	     /* descriptors; −1: none */
	uint64_t count, fresh_count; /* records */
};

static void pack_token(const struct used_token *token, uint8_t out[USED_TOKEN_BYTES])
{
	put_be32(out, token->key);
	put_be64(out + 4, token->expires_s);
	memcpy(out + 12, token->nonce, TOKEN_NONCE_BYTES);
	put_be64(out + HASHED_BYTES, hash64(out, HASHED_BYTES, 0));
}

static bool unpack_token(const uint8_t in[USED_TOKEN_BYTES], struct used_token *out)
{
	*out = (struct used_token){ .key = get_be32(in), .expires_s = get_be64(in + 4) };
	memcpy(out->nonce, in + 12, TOKEN_NONCE_BYTES);
	return get_be64(in + HASHED_BYTES) == hash64(in, HASHED_BYTES, 0);
}

/* Opens or creates the file, readable by its owner only. */
static int open_private(const char *path, int flags)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
	if (file >= 0 && fchmod(file, 0600) != 0) {
		close(file);
		return -1;
	}
	return file;
}

/* A torn record at the end is removed, so that the next one begins at a multiple of
 * USED_TOKEN_BYTES. */
static enum status read_all(struct used_tokens *self, used_tokens_take *take, void *context)
{
	uint8_t bytes[USED_TOKEN_BYTES * 256];
	uint64_t damaged = 0;
	off_t at = 0;
	ssize_t got;
	while ((got = pread(self->file, bytes, sizeof bytes, at)) >= USED_TOKEN_BYTES) {
		size_t whole = (size_t)got / USED_TOKEN_BYTES;
		for (size_t i = 0; i < whole; i++) {
			struct used_token token;
			bool good = unpack_token(bytes + i * USED_TOKEN_BYTES, &token);
			enum status status = good ? take(context, &token) : STATUS_OK;
			if (status != STATUS_OK)
				return status;
			damaged += !good;
		}
		self->count += whole;
		at += (off_t)(whole * USED_TOKEN_BYTES);
	}
	damaged += got > 0;
	if (damaged > 0)
		log_warn("used_tokens_damaged", "file=%s records=%llu", LOG_TEXT(self->path),
			 (unsigned long long)damaged);
	return got >= 0 && ftruncate(self->file, at) == 0 && lseek(self->file, at, SEEK_SET) == at
		       ? STATUS_OK
		       : STATUS_IO;
}

enum status used_tokens_open(const char *directory, used_tokens_take *take, void *context,
			     struct used_tokens **out, struct reason *why)
{
	struct used_tokens *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "data", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->fresh = -1;
	snprintf(self->path, sizeof self->path, "%s/cairnd.tokens", directory);
	snprintf(self->fresh_path, sizeof self->fresh_path, "%s/cairnd.tokens-new", directory);
	self->file = open_private(self->path, 0);
	enum status status = self->file >= 0 ? read_all(self, take, context) : STATUS_IO;
	if (status != STATUS_OK) {
		reason_set(why, status, -1, "data", "%s: %s", self->path,
			   status == STATUS_IO ? strerror(errno) : status_text(status));
		used_tokens_close(self);
		return status;
	}
	*out = self;
	return STATUS_OK;
}

void used_tokens_close(struct used_tokens *self)
{
	if (self == NULL)
		return;
	if (self->file >= 0)
		close(self->file);
	if (self->fresh >= 0)
		close(self->fresh);
	heap_free(self);
}

static enum status write_token(int file, const struct used_token *token)
{
	uint8_t bytes[USED_TOKEN_BYTES];
	pack_token(token, bytes);
	ssize_t written = write(file, bytes, sizeof bytes);
	if (written == (ssize_t)sizeof bytes)
		return STATUS_OK;
	/* A partly written record is removed, because it would shift every later one. */
	if (written > 0 && lseek(file, -written, SEEK_CUR) >= 0 &&
	    ftruncate(file, lseek(file, 0, SEEK_CUR)) != 0)
		log_error("used_tokens", "text=%s", LOG_TEXT(strerror(errno)));
	return STATUS_IO;
}

enum status used_tokens_add(struct used_tokens *self, const struct used_token *token)
{
	enum status status = write_token(self->file, token);
	self->count += status == STATUS_OK;
	return status;
}

uint64_t used_tokens_count(const struct used_tokens *self)
{
	return self->count;
}

/* ---- rewriting -------------------------------------------------------------------------------------- */

enum status used_tokens_begin(struct used_tokens *self)
{
	self->fresh = open_private(self->fresh_path, O_TRUNC);
	self->fresh_count = 0;
	return self->fresh >= 0 ? STATUS_OK : STATUS_IO;
}

enum status used_tokens_add_fresh(struct used_tokens *self, const struct used_token *token)
{
	self->fresh_count++;
	return write_token(self->fresh, token);
}

enum status used_tokens_end(struct used_tokens *self, bool keep)
{
	int old = self->file;
	if (self->fresh < 0)
		return STATUS_IO;
	/* The new file must be on disk before it replaces the old one. */
	keep = keep && fdatasync(self->fresh) == 0 && rename(self->fresh_path, self->path) == 0;
	if (keep) {
		self->file = self->fresh;
		self->count = self->fresh_count;
		close(old);
	} else {
		close(self->fresh);
		(void)unlink(self->fresh_path);
	}
	self->fresh = -1;
	return keep ? STATUS_OK : STATUS_IO;
}
