/* nonces.h: connect tokens that have been used, so that none is used twice.
 *
 * Each key has a book of its own: a backend that signs without end fills its own, and no other's players are
 * kept out. A nonce is remembered until its token has expired. What is forgotten then leaves its expiry
 * behind: no token that expires at or before it is believed any more, so that a clock that is set back
 * revives nothing. Tokens live a day at most, and so does the harm of a clock that was set forward by
 * mistake.
 *
 * Pure: who calls says what time it is, and keeps on disk what must outlive the process
 * (store/used_tokens.h).
 */
#ifndef CAIRN_SESSION_NONCES_H
#define CAIRN_SESSION_NONCES_H

#include "server/base/array.h"
#include "server/store/used_tokens.h"

enum { NONCES_MAX = 1 << 16 }; /* remembered of one key */

struct nonce_book {
	uint32_t key;
	uint32_t room, count;	   /* places, a power of two; used ones */
	uint64_t floor_s;	   /* the latest expiry of those forgotten */
	struct used_token *places; /* open addressing; expires_s 0: an empty one */
};

struct nonces {
	ARRAY_OF(struct nonce_book)
	books; /* of keys that have been used, in the order of their first use */
};

void nonces_init(struct nonces *self);
void nonces_release(struct nonces *self);
/* Whether the token may still be used at that second: AUTH it was, or might have been; BUSY its key's
 * book is full of living ones; NO_MEMORY. OK: there is room for it. */
enum status nonces_check(struct nonces *self, const struct used_token *token,
			 uint64_t now_s) MUST_CHECK;
/* It is used; after nonces_check said OK. */
void nonces_put(struct nonces *self, const struct used_token *token);
/* What was kept of an earlier life, read at that second. NO_MEMORY. */
enum status nonces_restore(struct nonces *self, const struct used_token *token,
			   uint64_t now_s) MUST_CHECK;
/* Calls `each` with what must be kept at that second: living ones, and for each book, with a nonce of
 * zeros, the latest expiry of those that are not. Stops at the first that is not OK. */
enum status nonces_each(const struct nonces *self, uint64_t now_s,
			enum status (*each)(void *context, const struct used_token *token),
			void *context) MUST_CHECK;

#endif
