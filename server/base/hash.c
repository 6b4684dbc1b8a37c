/* hash.c: xxHash, compiled in (its one-header form), so that the hashes cannot depend on a library
 * installed at run time. SHA-256 is in sha256.c. */
#include "server/base/hash.h"

#include "server/base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct hasher), "the state fits into a hasher");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct hasher),
	       "the state is aligned in a hasher");

uint64_t hash64(const void *data, size_t bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, bytes, seed);
}

void hasher_init(struct hasher *self, uint64_t seed)
{
	memset(self, 0, sizeof *self);
	XXH3_64bits_reset_withSeed((XXH3_state_t *)(void *)self->state, seed);
}

void hasher_update(struct hasher *self, const void *data, size_t bytes)
{
	if (bytes > 0)
		XXH3_64bits_update((XXH3_state_t *)(void *)self->state, data, bytes);
}

uint64_t hasher_digest(const struct hasher *self)
{
	return XXH3_64bits_digest((const XXH3_state_t *)(const void *)self->state);
}

void hasher_u32(struct hasher *self, uint32_t value)
{
	uint8_t at[4];
	put_le32(at, value);
	hasher_update(self, at, sizeof at);
}

void hasher_u64(struct hasher *self, uint64_t value)
{
	uint8_t at[8];
	put_le64(at, value);
	hasher_update(self, at, sizeof at);
}

void hasher_f64(struct hasher *self, double value)
{
	hasher_u64(self, bits_of_f64(value));
}
