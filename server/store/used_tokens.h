/* used_tokens.h: connect tokens that have been used, in a file, so that a restart revives none.
 *
 * DIR/cairnd.tokens is records of USED_TOKEN_BYTES, one after the other as they were used:
 *
 *	 0   4  key, big-endian
 *	 4   8  expiry, seconds since 1970 UTC, big-endian
 *	12  16  nonce
 *	28   8  XXH3 of the bytes before, big-endian
 *
 * A record is written before its token lets anybody in. It is with the system then: it outlives the
 * process, however that ends, and not a loss of power in the same second. A record that is torn or
 * damaged is passed over and counted. When most of them have expired the file is written anew beside
 * and put in its place.
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
/* Hands every record to `take` and is ready for more. Whoever opens it holds the lock on the directory. IO,
 * NO_MEMORY, or what `take` said. */
enum status used_tokens_open(const char *directory, used_tokens_take *take, void *context,
			     struct used_tokens **out, struct reason *why) MUST_CHECK;
void used_tokens_close(struct used_tokens *self);
/* IO: it could not be written, and must not be believed. */
enum status used_tokens_add(struct used_tokens *self, const struct used_token *token) MUST_CHECK;
/* Records in the file. */
uint64_t used_tokens_count(const struct used_tokens *self);
/* Writes it anew: begin, add_fresh for each, end. Where any of them is not OK, the file stays as it was. */
enum status used_tokens_begin(struct used_tokens *self) MUST_CHECK;
enum status used_tokens_add_fresh(struct used_tokens *self,
				  const struct used_token *token) MUST_CHECK;
enum status used_tokens_end(struct used_tokens *self, bool keep) MUST_CHECK;

#endif
