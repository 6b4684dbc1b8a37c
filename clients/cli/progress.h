/* progress.h: a progress bar on standard error for slow verbs. It is shown only on a terminal and
 * without
 * --json, and removed when the verb ends. */
#ifndef CAIRN_CLIENTS_CLI_PROGRESS_H
#define CAIRN_CLIENTS_CLI_PROGRESS_H

#include "clients/cli/cli.h"
#include "server/base/progress_text.h"

struct progress {
	bool shown;
	struct progress_text text;
};

/* True if this run may show progress bars. */
bool progress_wanted(const struct cli *cli);
/* `what` names the counted things and is borrowed. With `total` 0 no bar is shown. */
void progress_start(struct progress *self, const struct cli *cli, const char *what, uint64_t total);
/* Reports that `done` of `total` are done; draws the bar if its picture changes. */
void progress_at(struct progress *self, uint64_t done);
/* Removes the bar. */
void progress_stop(struct progress *self);

#endif
