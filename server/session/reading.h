/* reading.h: limits on the input that is processed in one turn of the loop.
 *
 *	bytes ─► frames ─► within the turn? ─ yes ─► dispatch
 *	                                    └ no ──► held: the stream is not read, received bytes stay in the
 *	                                             session's input until a later turn
 *
 * A connection may use READING_MESSAGES and READING_BYTES a turn, so that a flood of small or of
 * large messages delays other sessions by some hundred microseconds only. All connections together
 * may use TURN_WORK_MAX. A connection that used up READING_MESSAGES pauses for READING_PAUSE_MS: 16
 * 000 messages a second without waiting for an answer are more than a client needs, and a loop that
 * continued at once would use up its share of a busy machine, so that the scheduler would delay the
 * frames of all clients. A session that was refused for its quota is held until the next
 * quarter-second check, so it costs no more parsing or answers than that. A session whose list is not
 * sent yet (outbox.h) is held until it is. TCP flow control slows a
 * held client down, because its kernel buffers fill; no byte it has sent is lost.
 */
#ifndef CAIRN_SESSION_READING_H
#define CAIRN_SESSION_READING_H

#include "server/base/base.h"

struct service;
struct session;

enum {
	READING_MESSAGES = 64,	  /* of one connection in a turn */
	READING_BYTES = 64 << 10, /* of one connection in a turn; the last message may exceed it */
	READING_PAUSE_MS = 4,
	READING_WORK = 4, /* turn work of a message, plus 1 for each READING_WORK_BYTES */
	READING_WORK_BYTES = 128,
};

/* What a session has used of the turn, and its place in the queue of held sessions. */
struct reading {
	uint64_t turn; /* number of the turn that the counts are of */
	uint32_t messages, bytes;
	bool refused; /* a message was refused for the quota in this turn */
	bool held;    /* in service->held_first's list; its stream is not read */
	bool paused,
		over_quota; /* held until the pause ends, or until the next quarter-second check */
	struct session *next;
};

/* True if another message of the session may be processed in this turn. */
bool reading_allowed(struct session *session);
/* Counts a message of `bytes` against the turn. */
void reading_count_message(struct session *session, uint32_t bytes);
/* Puts the session at the end of the queue of held ones. */
void reading_hold(struct session *session);
/* Takes the session out of the queue; does nothing if it is not held. */
void reading_release(struct session *session);
/* Callback of service->reading: resumes held sessions in order, while the turn has budget left.
 * `context` is the service. */
void reading_resume(void *context);
/* A session may be resumed now: calls reading_resume soon. */
void reading_continue(struct service *service);
/* Callback of service->pause: ends the pause of all paused sessions. `context` is the service. */
void reading_end_pause(void *context);
/* Each quarter second: sessions held for their quota may be resumed. */
void reading_release_refused(struct service *service);

#endif
