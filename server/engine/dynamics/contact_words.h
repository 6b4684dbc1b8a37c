/* contact_words.h: chooses contacts of a step's list, 64 in a word, so that a pass over all of them is shared
 * among workers and only those chosen are visited in order. */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_WORDS_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_WORDS_H

#include "server/base/inline.h"
#include "server/engine/dynamics/step.h"

enum { CONTACT_WORD = 64, CONTACT_WORD_GRAIN = 2 /* words in a piece of work, at least */ };

static inline uint32_t contact_words(uint32_t contacts)
{
	return (contacts + CONTACT_WORD - 1) / CONTACT_WORD;
}

typedef bool contact_wanted(const struct step *step, const struct contact_state *contact);

/* Bit i: whether contact 64 w + i of the list is wanted. */
ALWAYS_INLINE uint64_t contact_word(const struct step *step, uint32_t w, contact_wanted *wanted)
{
	const struct contact_state *items = &step->contacts.items[(size_t)w * CONTACT_WORD];
	uint32_t count = MIN_OF(step->contacts.count - w * CONTACT_WORD, (uint32_t)CONTACT_WORD);
	uint64_t bits = 0;
	for (uint32_t i = 0; i < count; i++)
		bits |= (uint64_t)wanted(step, &items[i]) << i;
	return bits;
}

#endif
