/* progress_text.h: a progress bar as text for a terminal: `shapes [######........]  42 %`. Pure:
 * the caller writes the text. The text changes only when the whole percent changes, so a million
 * steps cost a hundred writes, and no clock is read. */
#ifndef CAIRN_BASE_PROGRESS_TEXT_H
#define CAIRN_BASE_PROGRESS_TEXT_H

#include "server/base/base.h"

enum { PROGRESS_TEXT_BYTES = 128, PROGRESS_TEXT_CELLS = 30 };
/* Moves to the beginning of the terminal's line and clears it. */
#define PROGRESS_TEXT_AWAY "\r\033[K"

struct progress_text {
	const char *what; /* borrowed */
	uint64_t total;
	uint32_t percent; /* shown by `line`; over 100: none yet */
	char line[PROGRESS_TEXT_BYTES];
};

void progress_text_init(struct progress_text *self, const char *what, uint64_t total);
/* True: `line` has changed; print it. `done` over the total counts as the total. */
bool progress_text_at(struct progress_text *self, uint64_t done);

#endif
