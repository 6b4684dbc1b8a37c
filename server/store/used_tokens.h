/* used_tokens.h: the file of connect tokens that have been used, so that none is valid again after a
 * restart.
 *
 * DIR/cairnd.tokens is a sequence of records of USED_TOKEN_BYTES, in the order of use:
 *
 *	 0   4  key, big-endian
 *	 4   8  expiry, seconds since 1970 UTC, big-endian
 *	12  16  nonce
 *	28   8  XXH3 of the bytes before, big-endian
 *
 * A record is written before its session is admitted. It is then in the system's cache: it survives
 * any end of the process, but perhaps not a loss of power within the next seconds. A torn or damaged
 * record is skipped and counted. When most tokens have expired, a new file is written and renamed
 * over the old one.
 */
#ifndef CAIRN_STORE_USED_TOKENS_H
#define CAIRN_STORE_USED_TOKENS_H

#include "protocol/token.h"

enum { USED_TOKEN_BYTES = 36 };

struct used_token {
	uint64_t expires_s;
	uint32_t key;
	uint8_t nonce[TOKEN_NONCE_BYTES];
};

struct used_tokens;
typedef enum status used_tokens_take(void *context, const struct used_token *token);
/* Passes every record to `take`, then accepts new ones. The caller holds the lock on the directory.
 * IO, NO_MEMORY, or the status that `take` returned. */
MUST_CHECK enum status used_tokens_open(const char *directory, used_tokens_take *take,
					void *context, struct used_tokens **out,
					struct reason *why);
void used_tokens_close(struct used_tokens *self);
/* IO: the record was not written, so the token must be refused. */
MUST_CHECK enum status used_tokens_add(struct used_tokens *self, const struct used_token *token);
/* Records in the file. */
uint64_t used_tokens_count(const struct used_tokens *self);
/* Rewrites the file: begin, add_fresh for each token, end. If one of them fails, the file stays as
 * it was. */
MUST_CHECK enum status used_tokens_begin(struct used_tokens *self);
MUST_CHECK enum status used_tokens_add_fresh(struct used_tokens *self,
					     const struct used_token *token);
MUST_CHECK enum status used_tokens_end(struct used_tokens *self, bool keep);

#endif
