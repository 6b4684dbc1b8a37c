/* See progress.h. */
#include "clients/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

bool progress_wanted(const struct cli *cli)
{
	return !cli->json && isatty(STDERR_FILENO) == 1;
}

static void draw_progress(const char *line)
{
	fputs(line, stderr);
	fflush(stderr);
}

void progress_start(struct progress *self, const struct cli *cli, const char *what, uint64_t total)
{
	self->shown = total > 0 && progress_wanted(cli);
	progress_text_init(&self->text, what, total);
	progress_at(self, 0);
}

void progress_at(struct progress *self, uint64_t done)
{
	if (self->shown && progress_text_at(&self->text, done))
		draw_progress(self->text.line);
}

void progress_stop(struct progress *self)
{
	if (self->shown)
		draw_progress(PROGRESS_TEXT_AWAY);
	self->shown = false;
}
