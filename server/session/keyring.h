/* keyring.h: who may come in with what: the tokens file, and the connect tokens that have been used.
 *
 * The file is lines of words; # begins a comment:
 *
 *	bearer NAME ROLE HASH [WORLD …]   whoever shows the text whose SHA-256 is HASH (64 hex digits) is
 *	                                  ROLE, in those worlds or all; the text itself is kept nowhere
 *	key    ID   SECRET [ROLE]         connect tokens (protocol/token.h) signed with SECRET (32 to 128 hex
 *	                                  digits) are believed up to ROLE, player where none is said
 *
 * Keys are changed by reading the file again: add the new one, give it to the backend, take the old one
 * away; sessions that came in by it stay. A bearer's line that is taken away, or allows less, ends its
 * sessions (keyring_holds). A file with one wrong line changes nothing.
 *
 * A connect token is good once, and is used up by the HELLO that it lets in, not by one that is refused
 * for its role. Its nonce is remembered until it has expired (nonces.h), so a token may not live longer than
 * KEYRING_LIFE_S; the memory is bounded for each key, and when it is full of living ones further tokens
 * of that key are refused (BUSY), never old ones forgotten. Text that somebody shows is compared as
 * hashes, with all of them, in a time that does not depend on what it is.
 */
#ifndef CAIRN_SESSION_KEYRING_H
#define CAIRN_SESSION_KEYRING_H

#include "protocol/token.h"
#include "server/base/array.h"
#include "server/session/nonces.h"

enum {
	KEYRING_FILE_MAX = 1 << 20, /* bytes */
	KEYRING_LINES_MAX = 4096,
	KEYRING_LIFE_S = 24 * 3600,
	KEYRING_KEPT_MIN = 4096, /* records of the file below which it is left as it is */
	KEYRING_BEARER_MIN = 16, /* bytes of a bearer token, at least */
};

/* What a token allows. */
struct grant {
	enum wire_role role;
	char name[WIRE_NAME_MAX + 1]; /* of the bearer, or "key ID": for logs */
	uint32_t world_count;	      /* 0: all */
	char worlds[TOKEN_WORLDS_MAX][WIRE_NAME_MAX + 1];
	bool once; /* of a connect token: `use` is what is used up */
	struct used_token use;
	uint8_t hash[SHA256_BYTES]; /* of a bearer's: its line */
};

struct bearer {
	uint8_t hash[SHA256_BYTES];
	struct grant grant;
};

struct signing_key {
	uint32_t id;
	enum wire_role role; /* at most */
	uint8_t bytes;
	uint8_t secret[TOKEN_KEY_MAX];
};

struct keyring {
	ARRAY_OF(struct bearer) bearers;
	ARRAY_OF(struct signing_key) keys;
	struct nonces nonces;
	struct used_tokens *kept;   /* owned; NULL: not over a restart */
	uint64_t keep_again_at;	    /* records in it at which it is written anew */
	uint64_t admitted, refused; /* tokens */
};

void keyring_init(struct keyring *self);
void keyring_release(struct keyring *self);
/* Takes the file's text in place of what it said before; nonces stay. On refusal nothing changes and
 * `why` names the line (`index`, from 1). */
enum status keyring_load(struct keyring *self, const char *text, size_t bytes,
			 struct reason *why) MUST_CHECK;
/* Nobody could come in with a token. */
static inline bool keyring_empty(const struct keyring *self)
{
	return self->bearers.count == 0 && self->keys.count == 0;
}
/* What the token allows at that second (since 1970 UTC); nothing is used up. AUTH: not known, not
 * genuine, expired, used; BUSY. `why` never has a part of the token in it. */
enum status keyring_check(struct keyring *self, struct wire_slice token, uint64_t now_s,
			  struct grant *out, struct reason *why) MUST_CHECK;
/* It lets somebody in: a connect token is used up. As keyring_check, and IO where that cannot be kept. */
enum status keyring_use(struct keyring *self, const struct grant *grant, uint64_t now_s,
			struct reason *why) MUST_CHECK;
/* Both. */
enum status keyring_admit(struct keyring *self, struct wire_slice token, uint64_t now_s,
			  struct grant *out, struct reason *why) MUST_CHECK;
/* Whether the file, as it was read last, still gives the bearer of that grant as much. True for connect
 * tokens. */
bool keyring_holds(const struct keyring *self, const struct grant *grant);
/* Used tokens are kept in that directory from that second on, and those of earlier lives are remembered. */
enum status keyring_keep(struct keyring *self, const char *directory, uint64_t now_s,
			 struct reason *why) MUST_CHECK;
/* Whether the grant lets its bearer into that world; NULL lets everybody. */
bool grant_has_world(const struct grant *grant, const char *world);

#endif
