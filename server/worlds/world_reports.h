/* world_reports.h: from the reports of a world's host and journal to messages of the sessions
 * concerned. */
#ifndef CAIRN_WORLD_REPORTS_H
#define CAIRN_WORLD_REPORTS_H

#include "server/worlds/worlds.h"

/* Callback of host_create: delivers the host's reports, with those of other worlds, within the
 * turn's budget (worlds_deliver_reports). `context` is the served_world. */
void world_reports(struct host *host, void *context);
/* The world ends: takes it out of the list of reporting worlds. */
void world_reports_forget(struct served_world *world);
/* The mirror is lost: requests a whole report from the host, unless one is pending. */
void world_reports_request_whole(struct served_world *world);
/* Answers WORLD_CREATE or FORK, `about`, whose world has just been made: with durability `command` when its
 * beginning is on disk. `hash`: of a FORK, else NULL. */
void world_reports_created(struct served_world *world, struct session *session,
			   const struct message *about, const struct wire_hash *hash);
/* Sends a reply that did not come from the host; its parts stay the caller's. */
void world_reports_reply(struct served_world *world, struct reply_report *reply);
/* Callbacks for the world's journal. */
struct journal_events world_journal_events(struct served_world *world);

#endif
