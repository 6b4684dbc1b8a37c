/* recordings.h: RECORD on LOOP: recordings of worlds are started, stopped, saved, removed, sent and
 * received.
 *
 *	start  host: checkpoint, KEEP ─► on disk ─► RECORDED
 *	stop   host: checkpoint ─► on disk ─► past_ask(ARCHIVE copy) ─► host: KEEP "" , RECORDED
 *	save, remove, read, write    past_ask(ARCHIVE) ─► RECORDED
 *
 * A stop that fails (a full disk) leaves the recording running. At most one runs in a world, and at most
 * one of its requests that make a file is under way.
 */
#ifndef CAIRN_RECORDINGS_H
#define CAIRN_RECORDINGS_H

#include "server/past/past.h"
#include "server/session/session.h"
#include "server/worlds/worlds.h"

/* Answered later; not OK: refused, with the reason. `name` and `title` are valid. */
MUST_CHECK enum status recordings_request(struct session *session, struct served_world *world,
					  const struct msg_record *ask, const char *name,
					  const char *title, struct reason *why);
/* The host has done its part of a start or a stop. */
void recordings_reply(struct served_world *world, const struct reply_report *reply);
/* A past of the world's recording `name`, for past_release or past_let_go. MISSING, UNSUPPORTED,
 * NO_MEMORY. */
MUST_CHECK enum status recordings_past(const struct served_world *world, struct wire_slice name,
				       struct past **out, struct reason *why);

#endif
