/* world_reports.h: what comes back from a world's worker and from its file, on its way to sessions. */
#ifndef CAIRN_WORLD_REPORTS_H
#define CAIRN_WORLD_REPORTS_H

#include "server/worlds/worlds.h"

/* Takes the reports of a host, with those of others, as far as the turn goes (worlds_deliver_reports);
 * `context` is its served_world (host_create). */
void world_reports(struct host *host, void *context);
/* The world ends: its reports are not taken. */
void world_reports_forget(struct served_world *world);
/* The mirror is lost: asks the host for everything, unless it has been asked. */
void world_reports_request_whole(struct served_world *world);
/* What the world's journal calls. */
struct journal_events world_journal_events(struct served_world *world);

#endif
