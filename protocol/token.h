/* token.h: connect tokens: a game's backend signs one, and a player presents it in HELLO.
 *
 * The text form is "c1." and base64url (RFC 4648 §5, no padding) of these bytes:
 *
 *	 0   1  version, 1
 *	 1   1  role: 1 observer, 2 player, 3 controller, 4 admin
 *	 2   4  id of the signing key, big-endian
 *	 6   8  expiry, seconds since 1970 UTC, big-endian
 *	14  16  nonce: random, never twice under a key
 *	30   1  n, number of worlds; 0: all of them
 *	31   …  n times: length (1 … 64) and that many bytes of a name
 *	 …  32  HMAC-SHA-256 under the key, of all bytes before
 *
 * A token is valid for one HELLO before its expiry, and gives its bearer a role in the listed worlds. The
 * functions here are pure: they read no clock and store neither nonces (session/keyring.h has both) nor keys.
 */
#ifndef CAIRN_PROTOCOL_TOKEN_H
#define CAIRN_PROTOCOL_TOKEN_H

#include "protocol/message.h"
#include "server/base/hash.h"

#define TOKEN_CONNECT_PREFIX "c1."
#define TOKEN_BEARER_PREFIX "b1."

enum {
	TOKEN_NONCE_BYTES = 16,
	TOKEN_MAC_BYTES = SHA256_BYTES,
	TOKEN_KEY_MIN = 16, /* bytes of a key */
	TOKEN_KEY_MAX = 64,
	TOKEN_WORLDS_MAX = 8,
	TOKEN_HEAD_BYTES = 31,
	TOKEN_BYTES_MAX =
		TOKEN_HEAD_BYTES + TOKEN_WORLDS_MAX * (1 + WIRE_NAME_MAX) + TOKEN_MAC_BYTES,
	TOKEN_TEXT_MAX = 3 + (TOKEN_BYTES_MAX * 4 + 2) / 3,
};

struct connect_token {
	enum wire_role role;
	uint32_t key;
	uint64_t expires_s; /* since 1970 UTC */
	uint8_t nonce[TOKEN_NONCE_BYTES];
	uint32_t world_count; /* 0: all */
	char worlds[TOKEN_WORLDS_MAX][WIRE_NAME_MAX + 1];
	/* As read: the signed bytes and their signature. */
	uint8_t bytes[TOKEN_BYTES_MAX];
	uint32_t signed_bytes;
	uint8_t mac[TOKEN_MAC_BYTES];
};

/* Decodes a text, without a check of the signature. MALFORMED: the text is not exactly a connect token. */
MUST_CHECK enum status token_read(struct wire_slice text, struct connect_token *out);
/* True if the token was signed with this key. The time does not depend on the position of a difference. */
bool token_genuine(const struct connect_token *self, const uint8_t *key, size_t key_bytes);
/* Writes role, key, expires_s, nonce and worlds, and signs them; `text` ends with a NUL. RANGE: an
 * invalid world name, too many worlds, or no role. */
MUST_CHECK enum status token_write(const struct connect_token *self, const uint8_t *key,
				   size_t key_bytes, char text[TOKEN_TEXT_MAX + 1]);

/* ---- base64url -------------------------------------------------------------------------------- */
/* base64url without padding: writes the text and a NUL; `text` has space for ⌈4/3 bytes⌉ + 1. */
void token_encode(const uint8_t *data, size_t bytes, char *text);
/* Decodes; false for a character outside the alphabet, unused bits that are not 0, or more than
 * `room` bytes. */
bool token_decode(const uint8_t *text, size_t count, uint8_t *out, size_t room, size_t *bytes);

#endif
