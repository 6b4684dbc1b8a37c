/* hash.h: XXH3, 64 bits, to compare states and to detect damage. It does not resist forgery; names
 * that must are SHA-256 (below). Values equal the published ones on every machine. */
#ifndef CAIRN_BASE_HASH_H
#define CAIRN_BASE_HASH_H

#include "server/base/base.h"

uint64_t hash64(const void *data, size_t bytes, uint64_t seed);

/* The hash of bytes given in pieces; equal to hash64 of their concatenation with the same seed.
 * Lives on the stack or in static storage (it is aligned to 64 bytes); uses no heap. */
struct hasher {
	_Alignas(64) uint8_t state[576];
};

void hasher_init(struct hasher *self, uint64_t seed);
void hasher_update(struct hasher *self, const void *data, size_t bytes);
/* The hash of the bytes so far; more bytes may follow. */
uint64_t hasher_digest(const struct hasher *self);

/* Single values, fed as little-endian bytes. */
void hasher_u32(struct hasher *self, uint32_t value);
void hasher_u64(struct hasher *self, uint64_t value);
void hasher_f64(struct hasher *self, double value);

enum { SHA256_BYTES = 32 };

/* SHA-256, for content names: no two contents with one name can be made. Not for use in a tick,
 * because OpenSSL may allocate. */
void hash_sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);
enum { HMAC_BYTES_MAX = 4096 };
/* HMAC-SHA-256 (RFC 2104) of at most HMAC_BYTES_MAX bytes: it cannot be computed without the
 * key. */
void hash_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *data, size_t bytes,
		      uint8_t mac[SHA256_BYTES]);
/* Whether two secrets or digests are equal, in a time that does not depend on where they differ. */
bool hash_same(const void *left, const void *right, size_t bytes);

#endif
