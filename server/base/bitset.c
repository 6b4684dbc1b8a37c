/* bitset.c: see bitset.h for the two invariants. */
#include "server/base/bitset.h"

#include "server/base/heap.h"

#include <string.h>

static const uint64_t ALL = UINT64_MAX;

/* Words needed for `bits` bits. */
static uint32_t words_for(uint32_t bits)
{
	return bits / 64 + (bits % 64 != 0);
}

static uint32_t lowest_bit(uint64_t word)
{
	VALIDATE(word != 0);
	return (uint32_t)__builtin_ctzll(word);
}

void bitset_init(struct bitset *self)
{
	*self = (struct bitset){ 0 };
}

void bitset_release(struct bitset *self)
{
	heap_free(self->words);
	*self = (struct bitset){ 0 };
}

/* The three levels share one allocation, one after the other. */
enum status bitset_reserve(struct bitset *self, uint32_t size)
{
	VALIDATE(self->size % 64 == 0);
	VALIDATE(self->count <= self->size);
	if (size <= self->size)
		return STATUS_OK;
	if (size > BITSET_NONE)
		return STATUS_NO_MEMORY;
	size = words_for(size) * 64;
	uint32_t words = size / 64, full = words_for(words), packed = words_for(full);
	uint64_t *memory = heap_alloc_zero(((size_t)words + full + packed) * sizeof(uint64_t));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	struct bitset grown = { memory, memory + words, memory + words + full, size, self->count };
	if (self->size > 0) {
		uint32_t old_words = self->size / 64, old_full = words_for(old_words);
		memcpy(grown.words, self->words, old_words * sizeof(uint64_t));
		memcpy(grown.full, self->full, old_full * sizeof(uint64_t));
		memcpy(grown.packed, self->packed, words_for(old_full) * sizeof(uint64_t));
	}
	ASSERT(grown.size > self->size);
	heap_free(self->words);
	*self = grown;
	return STATUS_OK;
}

void bitset_reset(struct bitset *self)
{
	uint32_t words = self->size / 64, full = words_for(words);
	if (words > 0)
		memset(self->words, 0, ((size_t)words + full + words_for(full)) * sizeof(uint64_t));
	self->count = 0;
}

static void note_full(struct bitset *self, uint32_t word)
{
	uint32_t group = word / 64;
	if (self->words[word] != ALL)
		return;
	self->full[group] |= (uint64_t)1 << (word % 64);
	if (self->full[group] == ALL)
		self->packed[group / 64] |= (uint64_t)1 << (group % 64);
}

void bitset_set(struct bitset *self, uint32_t index)
{
	ASSERT(index < self->size);
	uint32_t word = index / 64;
	uint64_t bit = (uint64_t)1 << (index % 64);
	if (self->words[word] & bit)
		return;
	self->words[word] |= bit;
	self->count++;
	VALIDATE(self->count <= self->size);
	note_full(self, word);
}

void bitset_set_word(struct bitset *self, uint32_t word, uint64_t bits)
{
	ASSERT(word < self->size / 64);
	uint64_t added = bits & ~self->words[word];
	if (added == 0)
		return;
	self->words[word] |= added;
	self->count += bits_count(added);
	VALIDATE(self->count <= self->size);
	note_full(self, word);
}

void bitset_clear(struct bitset *self, uint32_t index)
{
	ASSERT(index < self->size);
	uint32_t word = index / 64, group = word / 64;
	uint64_t bit = (uint64_t)1 << (index % 64);
	if (!(self->words[word] & bit))
		return;
	self->words[word] &= ~bit;
	ASSERT(self->count > 0);
	self->count--;
	self->full[group] &= ~((uint64_t)1 << (word % 64));
	self->packed[group / 64] &= ~((uint64_t)1 << (group % 64));
}

uint32_t bitset_lowest_clear(const struct bitset *self)
{
	VALIDATE(self->count <= self->size);
	uint32_t words = self->size / 64, groups = words_for(words), heads = words_for(groups);
	for (uint32_t head = 0; head < heads; head++) {
		if (self->packed[head] == ALL)
			continue;
		uint32_t group = head * 64 + lowest_bit(~self->packed[head]);
		if (group >= groups)
			break;
		uint32_t word = group * 64 + lowest_bit(~self->full[group]);
		if (word >= words)
			break;
		return word * 64 + lowest_bit(~self->words[word]);
	}
	return self->size;
}

uint32_t bitset_next_word(const struct bitset *self, uint32_t word)
{
	for (; word < self->size / 64; word++)
		if (self->words[word] != 0)
			return word * 64 + lowest_bit(self->words[word]);
	return BITSET_NONE;
}
