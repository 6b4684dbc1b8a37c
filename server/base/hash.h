/* hash.h: XXH3, 64 bits. For checking that two states are equal and for content nobody attacks;
 * names that must resist forgery are SHA-256 (below). Values are the published ones, everywhere. */
#ifndef CAIRN_BASE_HASH_H
#define CAIRN_BASE_HASH_H

#include "server/base/base.h"

uint64_t hash64(const void *data, size_t bytes, uint64_t seed);

/* A hash of bytes that come in pieces; equal to hash64 of their concatenation with the same seed.
 * Lives on the stack or in static storage (it is aligned to 64 bytes); uses no heap. */
struct hasher {
	_Alignas(64) uint8_t state[576];
};

void hasher_init(struct hasher *self, uint64_t seed);
void hasher_update(struct hasher *self, const void *data, size_t bytes);
/* May be asked at any time and more than once. */
uint64_t hasher_digest(const struct hasher *self);

/* Single values, fed as little-endian bytes. */
void hasher_u32(struct hasher *self, uint32_t value);
void hasher_u64(struct hasher *self, uint64_t value);
void hasher_f64(struct hasher *self, double value);

enum { SHA256_BYTES = 32 };

/* SHA-256, for content names: nobody can make two contents with one name. Not for the tick: the
 * library behind it may allocate. */
void hash_sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);
enum { HMAC_BYTES_MAX = 4096 };
/* HMAC-SHA-256 (RFC 2104) of at most HMAC_BYTES_MAX bytes: only who has the key can make it. */
void hash_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *data, size_t bytes,
		      uint8_t mac[SHA256_BYTES]);
/* Whether two secrets or digests are equal, in a time that does not tell where they differ. */
bool hash_same(const void *left, const void *right, size_t bytes);

#endif
