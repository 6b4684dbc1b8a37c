/* bitset.h: a growing set of small numbers, walked in index order.
 *
 * Two summary levels mark the words that are full, so that the lowest free number among millions is
 * found by reading a few words. Tables use it to assign slots. Invariant 1: a summary bit is set
 * exactly when all 64 bits below it are. Invariant 2: bits at and past `size` are clear.
 */
#ifndef CAIRN_BASE_BITSET_H
#define CAIRN_BASE_BITSET_H

#include "server/base/status.h"

struct bitset {
	uint64_t *words;  /* owned: one bit a member */
	uint64_t *full;	  /* owned: one bit a word of `words`, set when it is full */
	uint64_t *packed; /* owned: one bit a word of `full`, set when it is full */
	uint32_t size;	  /* numbers 0 … size-1 may be members; a multiple of 64 */
	uint32_t count;	  /* members */
};

/* Bits that are set. The compiler's own function would need a part of its library. */
static inline uint32_t bits_count(uint64_t word)
{
	const uint64_t ones = UINT64_MAX / 255; /* 1 in each byte */
	word -= word >> 1 & ones * 0x55;
	word = (word & ones * 0x33) + (word >> 2 & ones * 0x33);
	word = (word + (word >> 4)) & ones * 0x0f;
	return (uint32_t)(word * ones >> 56);
}

#define BITSET_NONE (UINT32_MAX - 63) /* no such number; also the largest size */

/* Zero initialisation is a valid empty set of size 0 as well. */
void bitset_init(struct bitset *self);
void bitset_release(struct bitset *self);
/* Grows to at least `size` numbers (rounded up to 64), keeping members. Never shrinks. */
MUST_CHECK enum status bitset_reserve(struct bitset *self, uint32_t size);
/* Empties the set; the memory stays. */
void bitset_reset(struct bitset *self);

/* index < size. */
void bitset_set(struct bitset *self, uint32_t index);
void bitset_clear(struct bitset *self, uint32_t index);
/* Adds the members of a word of `words`; word < size / 64. */
void bitset_set_word(struct bitset *self, uint32_t word, uint64_t bits);
/* False for any index at or past `size`. */
static inline bool bitset_get(const struct bitset *self, uint32_t index)
{
	return index < self->size && (self->words[index / 64] >> (index % 64) & 1);
}

/* The lowest number that is not a member; `size` when all are (reserve, then use it). */
uint32_t bitset_lowest_clear(const struct bitset *self);
/* The lowest member in word `word` or a later one, else BITSET_NONE. */
uint32_t bitset_next_word(const struct bitset *self, uint32_t word);
/* The lowest member at or above `from`; BITSET_NONE when there is none. To walk in index order:
 * for (i = bitset_next(s, 0); i != BITSET_NONE; i = bitset_next(s, i + 1)) */
static inline uint32_t bitset_next(const struct bitset *self, uint32_t from)
{
	if (from >= self->size)
		return BITSET_NONE;
	uint64_t bits = self->words[from / 64] >> (from % 64);
	if (bits != 0)
		return from + (uint32_t)__builtin_ctzll(bits);
	return bitset_next_word(self, from / 64 + 1);
}

#endif
