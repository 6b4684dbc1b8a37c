/* See token.h. Texts are decoded strictly: one text for each token, no padding, no other alphabet. */
#include "protocol/token.h"

#include "protocol/validate.h"
#include "server/base/bytes.h"

enum { VERSION = 1, NOTHING = 255 };

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* ---- base64url -------------------------------------------------------------------------------- */
void token_encode(const uint8_t *data, size_t bytes, char *text)
{
	uint32_t held = 0, bits = 0;
	for (size_t i = 0; i < bytes; i++) {
		held = held << 8 | data[i];
		for (bits += 8; bits >= 6; bits -= 6)
			*text++ = LETTERS[held >> (bits - 6) & 63];
	}
	if (bits > 0)
		*text++ = LETTERS[held << (6 - bits) & 63];
	*text = '\0';
}

static uint8_t value_of(uint8_t letter)
{
	if (letter >= 'A' && letter <= 'Z')
		return letter - 'A';
	if (letter >= 'a' && letter <= 'z')
		return letter - 'a' + 26;
	if (letter >= '0' && letter <= '9')
		return letter - '0' + 52;
	return letter == '-' ? 62 : letter == '_' ? 63 : NOTHING;
}

bool token_decode(const uint8_t *text, size_t count, uint8_t *out, size_t room, size_t *bytes)
{
	uint32_t held = 0, bits = 0;
	*bytes = 0;
	for (size_t i = 0; i < count; i++) {
		uint8_t value = value_of(text[i]);
		if (value == NOTHING)
			return false;
		held = (held << 6 | value) & 0xffff;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (*bytes == room)
			return false;
		out[(*bytes)++] = (uint8_t)(held >> bits);
	}
	/* Each token has exactly one text, so that a used token cannot return with another spelling. */
	return bits < 6 && (held & ((1u << bits) - 1)) == 0;
}

/* ---- reading ---------------------------------------------------------------------------------- */
/* Reads the world names from `at` on; returns the index after them, 0 if they are invalid. */
static size_t read_worlds(struct connect_token *out, size_t at, size_t end)
{
	for (uint32_t i = 0; i < out->world_count; i++) {
		size_t length = at < end ? out->bytes[at] : 0;
		if (at + 1 + length > end ||
		    !validate_name((const char *)out->bytes + at + 1, length))
			return 0;
		memcpy(out->worlds[i], out->bytes + at + 1, length);
		out->worlds[i][length] = '\0';
		at += 1 + length;
	}
	return at;
}

enum status token_read(struct wire_slice text, struct connect_token *out)
{
	const size_t prefix = sizeof TOKEN_CONNECT_PREFIX - 1;
	size_t bytes;
	memset(out, 0, sizeof *out);
	if (text.bytes <= prefix || memcmp(text.at, TOKEN_CONNECT_PREFIX, prefix) != 0 ||
	    !token_decode(text.at + prefix, text.bytes - prefix, out->bytes, sizeof out->bytes,
			  &bytes))
		return STATUS_MALFORMED;
	if (bytes < TOKEN_HEAD_BYTES + TOKEN_MAC_BYTES || out->bytes[0] != VERSION)
		return STATUS_MALFORMED;
	size_t end = bytes - TOKEN_MAC_BYTES;
	out->role = (enum wire_role)out->bytes[1];
	out->key = get_be32(out->bytes + 2);
	out->expires_s = get_be64(out->bytes + 6);
	memcpy(out->nonce, out->bytes + 14, TOKEN_NONCE_BYTES);
	out->world_count = out->bytes[30];
	if (out->bytes[1] < WIRE_ROLE_OBSERVER || out->bytes[1] > WIRE_ROLE_ADMIN ||
	    out->world_count > TOKEN_WORLDS_MAX || read_worlds(out, TOKEN_HEAD_BYTES, end) != end)
		return STATUS_MALFORMED;
	out->signed_bytes = (uint32_t)end;
	memcpy(out->mac, out->bytes + end, TOKEN_MAC_BYTES);
	return STATUS_OK;
}

bool token_genuine(const struct connect_token *self, const uint8_t *key, size_t key_bytes)
{
	uint8_t mac[TOKEN_MAC_BYTES];
	hash_hmac_sha256(key, key_bytes, self->bytes, self->signed_bytes, mac);
	return hash_same(mac, self->mac, sizeof mac);
}

/* ---- writing ---------------------------------------------------------------------------------- */
enum status token_write(const struct connect_token *self, const uint8_t *key, size_t key_bytes,
			char text[TOKEN_TEXT_MAX + 1])
{
	uint8_t bytes[TOKEN_BYTES_MAX];
	size_t used = TOKEN_HEAD_BYTES;
	if (self->role < WIRE_ROLE_OBSERVER || self->role > WIRE_ROLE_ADMIN ||
	    self->world_count > TOKEN_WORLDS_MAX)
		return STATUS_RANGE;
	bytes[0] = VERSION;
	bytes[1] = (uint8_t)self->role;
	put_be32(bytes + 2, self->key);
	put_be64(bytes + 6, self->expires_s);
	memcpy(bytes + 14, self->nonce, TOKEN_NONCE_BYTES);
	bytes[30] = (uint8_t)self->world_count;
	for (uint32_t i = 0; i < self->world_count; i++) {
		size_t length = strnlen(self->worlds[i], WIRE_NAME_MAX + 1);
		if (!validate_name(self->worlds[i], length))
			return STATUS_RANGE;
		bytes[used] = (uint8_t)length;
		memcpy(bytes + used + 1, self->worlds[i], length);
		used += 1 + length;
	}
	hash_hmac_sha256(key, key_bytes, bytes, used, bytes + used);
	memcpy(text, TOKEN_CONNECT_PREFIX, sizeof TOKEN_CONNECT_PREFIX);
	token_encode(bytes, used + TOKEN_MAC_BYTES, text + sizeof TOKEN_CONNECT_PREFIX - 1);
	return STATUS_OK;
}
