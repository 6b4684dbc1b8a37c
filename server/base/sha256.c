/* sha256.c: hash_sha256 from OpenSSL, apart from hash.c so that what names no content links without it. */
#include <openssl/sha.h>

#include "server/base/hash.h"

_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH, "both count in bytes");

void hash_sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES])
{
	SHA256(data, bytes, digest);
}
