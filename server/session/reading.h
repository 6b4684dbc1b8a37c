/* reading.h: how much of what clients say is taken in at a turn of the loop.
 *
 *	bytes ─► frames ─► within the turn? ─ yes ─► dispatch
 *	                                    └ no ──► held: the stream is not read, what has come waits in
 *	                                             the session's input until a later turn
 *
 * A connection has READING_MESSAGES and READING_BYTES a turn, so that a flood of tiny messages, or of
 * large ones, keeps others from the loop for some hundred microseconds; the turn as a whole has
 * TURN_WORK_MAX. Who has said READING_MESSAGES in one turn pauses for READING_PAUSE_MS: 16 000 messages a
 * second without waiting for an answer are more than anybody needs, and a loop that had to read on at
 * once would use up its share of a busy machine, whose scheduler then lets everybody's frames wait. Who
 * was refused for its quota is held until the next look after the sessions (a quarter second): it is
 * neither parsed nor answered more often than that. A held client feels its own pressure,
 * since its kernel's buffers fill; nothing it has said is lost.
 */
#ifndef CAIRN_SESSION_READING_H
#define CAIRN_SESSION_READING_H

#include "server/base/base.h"

struct service;
struct session;

enum {
	READING_MESSAGES =
		64, /* of one connection in a turn; the last read may bring some more bytes */
	READING_BYTES = 64 << 10,
	READING_PAUSE_MS = 4,
	READING_WORK =
		4, /* of a message, in the turn's work; and one for each READING_WORK_BYTES */
	READING_WORK_BYTES = 128,
};

/* A session's place among those that are held, and what it has been read of in this turn. */
struct reading {
	uint64_t turn;
	uint32_t messages, bytes;
	bool refused; /* for its quota, in this turn */
	bool held;
	bool paused, punished; /* held until the pause is over, or until the next look */
	struct session *next;
};

/* Whether another message of it may be taken in. */
bool reading_may(struct session *session);
/* One has been. */
void reading_note(struct session *session, uint32_t bytes);
/* It has more to say than the turn allows: it waits. */
void reading_hold(struct session *session);
/* It ends, or has nothing to wait for any more. */
void reading_let_go(struct session *session);
/* Answer to service->reading: those that wait go on, in order. `context` is the server. */
void reading_go_on(void *context);
/* The pause of those who have said READING_MESSAGES is over. `context` is the server. */
void reading_end_pause(void *context);
/* Now and then: those who were refused go on, too. */
void reading_look_after(struct service *service);

#endif
