/* keyring.h: the tokens that the daemon accepts: the tokens file, and the connect tokens already used.
 *
 * The file is lines of words; # begins a comment:
 *
 *	bearer NAME ROLE HASH [WORLD …]   a peer that shows the text whose SHA-256 is HASH (64 hex
 *	                                  digits) gets ROLE, in those worlds or in all; the text itself
 *	                                  is not stored
 *	key    ID   SECRET [ROLE]         connect tokens (protocol/token.h) signed with SECRET (32 to 128 hex
 *	                                  digits) are accepted up to ROLE, player by default
 *
 * A key is replaced by reading the file again: add the new key, give it to the backend, remove the
 * old one. Sessions that the old key admitted stay. Where a bearer line is removed, or allows less
 * than before, its sessions end (keyring_holds). A file with one wrong line changes nothing.
 *
 * A connect token is good for one session. The HELLO that it admits uses it up; a HELLO that is
 * refused for its role does not. The nonce of a used token is remembered until the token expires
 * (nonces.h), so tokens that live longer than KEYRING_LIFE_S are refused. The memory is bounded for
 * each key: when a key has NONCES_MAX unexpired nonces, further tokens of that key are refused
 * (BUSY), and no nonce is forgotten early. Bearer tokens are compared as hashes, and with every
 * line, so the time taken does not depend on the text.
 */
#ifndef CAIRN_SESSION_KEYRING_H
#define CAIRN_SESSION_KEYRING_H

#include "protocol/token.h"
#include "server/base/array.h"
#include "server/session/nonces.h"

enum {
	KEYRING_FILE_MAX = 1 << 20, /* bytes */
	KEYRING_LINES_MAX = 4096,
	/* A connect token may expire at most this many seconds from now. A longer life keeps more
	 * nonces in memory. */
	KEYRING_LIFE_S = 24 * 3600,
	KEYRING_KEPT_MIN =
		4096, /* the file of used tokens is not compacted below this many records */
	KEYRING_BEARER_MIN = 16, /* bytes of a bearer token, at least */
};

/* What a token allows. */
struct grant {
	enum wire_role role;
	char name[WIRE_NAME_MAX + 1]; /* of the bearer, or "key ID": for logs */
	uint32_t world_count;	      /* 0: all */
	char worlds[TOKEN_WORLDS_MAX][WIRE_NAME_MAX + 1];
	bool once; /* a connect token: admission uses up `use` */
	struct used_token use;
	uint8_t hash[SHA256_BYTES]; /* a bearer token: the HASH of its line */
};

struct bearer {
	uint8_t hash[SHA256_BYTES];
	struct grant grant;
};

struct signing_key {
	uint32_t id;
	int32_t line;	     /* of the file */
	enum wire_role role; /* at most */
	uint8_t bytes;
	uint8_t secret[TOKEN_KEY_MAX];
};

struct keyring {
	ARRAY_OF(struct bearer) bearers;
	ARRAY_OF(struct signing_key) keys;
	struct nonces nonces;
	struct used_tokens *kept;   /* owned; NULL: used tokens are forgotten at a restart */
	uint64_t compact_at;	    /* number of records at which the file is compacted */
	uint64_t admitted, refused; /* tokens */
};

void keyring_init(struct keyring *self);
void keyring_release(struct keyring *self);
/* Replaces the lines by those of `text`; used nonces stay. A refusal changes nothing, and `why`
 * names the line (`index`, from 1). TYPE, NO_MEMORY. */
MUST_CHECK enum status keyring_load(struct keyring *self, const char *text, size_t bytes,
				    struct reason *why);
/* True if no token can be accepted, because the file has no line. */
static inline bool keyring_empty(const struct keyring *self)
{
	return self->bearers.count == 0 && self->keys.count == 0;
}
/* Writes to `out` what the token allows at second `now_s` (since 1970 UTC) and uses nothing up.
 * AUTH: the token is unknown, not genuine, expired or used; BUSY: its key has too many used tokens;
 * NO_MEMORY. `why` never contains any part of the token. */
MUST_CHECK enum status keyring_check(struct keyring *self, struct wire_slice token, uint64_t now_s,
				     struct grant *out, struct reason *why);
/* Admits a peer: a connect token is used up. Errors as keyring_check, and IO where the use cannot be
 * written to disk. */
MUST_CHECK enum status keyring_use(struct keyring *self, const struct grant *grant, uint64_t now_s,
				   struct reason *why);
/* keyring_check, then keyring_use. */
MUST_CHECK enum status keyring_admit(struct keyring *self, struct wire_slice token, uint64_t now_s,
				     struct grant *out, struct reason *why);
/* True if the file, as last read, still gives the bearer of that grant the same role and worlds, or
 * more. Always true for connect tokens. */
bool keyring_holds(const struct keyring *self, const struct grant *grant);
/* Opens the file of used tokens in that directory, restores those that have not expired at `now_s`, and
 * records every later use there. Errors of used_tokens_open. */
MUST_CHECK enum status keyring_persist(struct keyring *self, const char *directory, uint64_t now_s,
				       struct reason *why);
/* True if the grant allows that world. A NULL grant, or one without a list of worlds, allows all. */
bool grant_allows_world(const struct grant *grant, const char *world);

#endif
