/* See progress_text.h. */
#include "server/base/progress_text.h"

#include <stdio.h>
#include <string.h>

void progress_text_init(struct progress_text *self, const char *what, uint64_t total)
{
	*self = (struct progress_text){ .what = what, .total = total, .percent = UINT32_MAX };
}

bool progress_text_at(struct progress_text *self, uint64_t done)
{
	double share = done < self->total ? (double)done / (double)self->total : 1;
	uint32_t percent = (uint32_t)(share * 100);
	char bar[PROGRESS_TEXT_CELLS + 1];
	if (percent == self->percent)
		return false;
	self->percent = percent;
	memset(bar, '.', PROGRESS_TEXT_CELLS);
	memset(bar, '#', percent * PROGRESS_TEXT_CELLS / 100);
	bar[PROGRESS_TEXT_CELLS] = '\0';
	snprintf(self->line, sizeof self->line, PROGRESS_TEXT_AWAY "%.40s [%s] %3u %%", self->what,
		 bar, (unsigned)percent);
	return true;
}
