/* sha256.c: hash_sha256 from OpenSSL, in a file of its own so that programs without content
 * names link without OpenSSL. */
#include <openssl/sha.h>
#include <string.h>

#include "server/base/hash.h"

_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH, "a digest has SHA256_BYTES bytes");

void hash_sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES])
{
	SHA256(data, bytes, digest);
}

enum { BLOCK = 64 };

/* The digest of key ⊕ pad followed by data. */
static void hash_padded(const uint8_t key[BLOCK], uint8_t pad, const void *data, size_t bytes,
			uint8_t digest[SHA256_BYTES])
{
	ASSERT(bytes <= HMAC_BYTES_MAX);
	uint8_t whole[BLOCK + HMAC_BYTES_MAX];
	for (int i = 0; i < BLOCK; i++)
		whole[i] = key[i] ^ pad;
	memcpy(whole + BLOCK, data, bytes);
	SHA256(whole, BLOCK + bytes, digest);
}

void hash_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *data, size_t bytes,
		      uint8_t mac[SHA256_BYTES])
{
	enum { INNER = 0x36, OUTER = 0x5c };
	uint8_t block[BLOCK] = { 0 }, inner[SHA256_BYTES];
	ASSERT(bytes <= HMAC_BYTES_MAX);
	if (key_bytes > BLOCK)
		SHA256(key, key_bytes, block);
	else
		memcpy(block, key, key_bytes);
	hash_padded(block, INNER, data, bytes, inner);
	hash_padded(block, OUTER, inner, sizeof inner, mac);
}

bool hash_same(const void *left, const void *right, size_t bytes)
{
	const volatile uint8_t *a = left, *b = right;
	uint8_t difference = 0;
	for (size_t i = 0; i < bytes; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}
