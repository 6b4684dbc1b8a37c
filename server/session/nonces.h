/* nonces.h: the nonces of used connect tokens, so that no token is used twice.
 *
 * Each key has a set of its own, so a backend that signs tokens without end fills only its own set
 * and does not keep the players of other keys out. A nonce is stored until its token expires. When
 * it is dropped, its expiry remains as the set's floor: a token that expires at or before the floor
 * is refused. So no used token becomes valid again if the clock is set back. If the clock was set
 * forward by mistake, valid tokens may be refused for at most a day, the longest life of a token.
 *
 * Pure: the caller passes the time, and stores used tokens on disk (store/used_tokens.h).
 */
#ifndef CAIRN_SESSION_NONCES_H
#define CAIRN_SESSION_NONCES_H

#include "server/base/array.h"
#include "server/store/used_tokens.h"

enum { NONCES_MAX = 1 << 16 }; /* unexpired nonces of one key */

struct nonce_set {
	uint32_t key;
	uint32_t room, count;	  /* slots, a power of two; slots in use */
	uint64_t floor_s;	  /* latest expiry of the dropped nonces, seconds since 1970 */
	struct used_token *slots; /* slots by open addressing; expires_s 0: empty */
};

struct nonces {
	ARRAY_OF(struct nonce_set)
	sets; /* one a key, in the order of first use */
};

void nonces_init(struct nonces *self);
void nonces_release(struct nonces *self);
/* OK: the token may be used at second `now_s`, and there is a slot for it. AUTH: it was used, or
 * may have been; BUSY: its key has NONCES_MAX unexpired nonces; NO_MEMORY. */
MUST_CHECK enum status nonces_check(struct nonces *self, const struct used_token *token,
				    uint64_t now_s);
/* Marks the token as used, after nonces_check returned OK for it. */
void nonces_put(struct nonces *self, const struct used_token *token);
/* Adds a record of an earlier run of the daemon, read at second `now_s`. NO_MEMORY. */
MUST_CHECK enum status nonces_restore(struct nonces *self, const struct used_token *token,
				      uint64_t now_s);
/* Calls `each` with every record that must be on disk at second `now_s`: the unexpired nonces, and
 * for each key a nonce of zeros with the latest expiry of the others. Stops at the first status
 * that is not OK and returns it. */
MUST_CHECK enum status
nonces_each(const struct nonces *self, uint64_t now_s,
	    enum status (*each)(void *context, const struct used_token *token), void *context);

#endif
