/* token.h: connect tokens: what a game's own backend gives a player to come in with.
 *
 * The text form is "c1." and base64url (RFC 4648 §5, no padding) of these bytes:
 *
 *	 0   1  version, 1
 *	 1   1  role: 1 observer, 2 player, 3 controller, 4 admin
 *	 2   4  id of the key it is signed with, big-endian
 *	 6   8  expiry, seconds since 1970 UTC, big-endian
 *	14  16  nonce: random, never twice under a key
 *	30   1  n, number of worlds; 0: all of them
 *	31   …  n times: length (1 … 64) and as many bytes of a name
 *	 …  32  HMAC-SHA-256 under the key, of all bytes before
 *
 * It is good for one HELLO before its expiry, and says who its bearer may be and where. Pure: no clock,
 * no memory of nonces (session/keyring.h has both), no secret is kept.
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
	/* As read: what is signed, and by what. */
	uint8_t bytes[TOKEN_BYTES_MAX];
	uint32_t signed_bytes;
	uint8_t mac[TOKEN_MAC_BYTES];
};

/* Takes a text apart; nothing is believed of it yet. MALFORMED: it is no connect token, to the bit. */
MUST_CHECK enum status token_read(struct wire_slice text, struct connect_token *out);
/* Whether it was signed with this key. Takes the same time wherever they differ. */
bool token_genuine(const struct connect_token *self, const uint8_t *key, size_t key_bytes);
/* Writes role, key, expires_s, nonce and worlds, signed; `text` gets a zero at its end. RANGE: a name that
 * is none, too many worlds, or no role. */
MUST_CHECK enum status token_write(const struct connect_token *self, const uint8_t *key,
				   size_t key_bytes, char text[TOKEN_TEXT_MAX + 1]);

/* ---- letters ---------------------------------------------------------------------------------- */
/* base64url without padding: writes the text and a zero; `text` has room for ⌈4/3 bytes⌉ + 1. */
void token_encode(const uint8_t *data, size_t bytes, char *text);
/* The other way; false for a letter that is none, bits that mean nothing, or more than `room`. */
bool token_decode(const uint8_t *text, size_t count, uint8_t *out, size_t room, size_t *bytes);

#endif
