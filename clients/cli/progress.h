/* progress.h: a progress bar on standard error for slow verbs. It is shown only on a terminal and without
 * --json, and removed when the verb ends. */
#ifndef CAIRN_CLIENTS_CLI_PROGRESS_H
#define CAIRN_CLIENTS_CLI_PROGRESS_H

#include "clients/cli/cli.h"
#include "server/base/progress_text.h"

struct progress {
	bool shown;
	struct progress_text text;
};

/* Whether this run may show bars. */
bool progress_wanted(const struct cli *cli);
/* `what` is borrowed: what is counted. `total` of 0 is nothing to do. */
void progress_start(struct progress *self, const struct cli *cli, const char *what, uint64_t total);
/* So much is done; draws where that changes the picture. */
void progress_at(struct progress *self, uint64_t done);
/* Takes the bar away. */
void progress_stop(struct progress *self);

#endif
