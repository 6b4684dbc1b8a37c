#include "server/session/reading.h"

#include "server/server.h"
#include "server/session/session.h"

static void begin_turn(struct session *session)
{
	struct reading *self = &session->reading;
	if (self->turn == session->server->turn.number)
		return;
	self->turn = session->server->turn.number;
	self->messages = self->bytes = 0;
	self->refused = false;
}

bool reading_may(struct session *session)
{
	const struct reading *self = &session->reading;
	begin_turn(session);
	return self->messages < READING_MESSAGES && self->bytes < READING_BYTES &&
	       (self->messages == 0 || server_turn_has_room(session->server, TURN_READING));
}

void reading_note(struct session *session, uint32_t bytes)
{
	session->reading.messages++;
	session->reading.bytes += bytes;
	server_turn_spend(session->server, TURN_READING,
			  READING_WORK + bytes / READING_WORK_BYTES);
}

static bool waits(const struct reading *self)
{
	return self->paused || self->punished;
}

void reading_hold(struct session *session)
{
	struct server *server = session->server;
	struct reading *self = &session->reading;
	self->punished = self->refused;
	self->paused = self->messages >= READING_MESSAGES;
	if (!self->held) {
		self->held = true;
		self->next = NULL;
		if (server->held_last != NULL)
			server->held_last->reading.next = session;
		else
			server->held_first = session;
		server->held_last = session;
	}
	if (self->paused && !server->pause_armed) {
		server->pause_armed = true;
		io_timer_start(server->pause,
			       io_now(server->io) + READING_PAUSE_MS * NS_PER_MS);
	}
	if (!waits(self))
		executor_ring(server->executor, EXECUTOR_LOOP, &server->reading);
}

void reading_let_go(struct session *session)
{
	struct server *server = session->server;
	struct session *before = NULL;
	if (!session->reading.held)
		return;
	struct session **link = &server->held_first;
	while (*link != session) {
		before = *link;
		link = &before->reading.next;
	}
	*link = session->reading.next;
	if (server->held_last == session)
		server->held_last = before;
	session->reading.held = session->reading.paused = session->reading.punished = false;
}

void reading_go_on(void *context)
{
	struct server *server = context;
	struct session *last = server->held_last, *session = server->held_first;
	bool more = false;
	/* Who is held again stands behind those who have waited until now. */
	while (session != NULL && server_turn_has_room(server, TURN_READING)) {
		struct session *next = session == last ? NULL : session->reading.next;
		if (!waits(&session->reading)) {
			reading_let_go(session);
			session_read_on(session);
		}
		session = next;
	}
	for (session = server->held_first; session != NULL && !more; session = session->reading.next)
		more = !waits(&session->reading);
	if (more)
		executor_ring(server->executor, EXECUTOR_LOOP, &server->reading);
}

void reading_end_pause(void *context)
{
	struct server *server = context;
	server->pause_armed = false;
	for (struct session *session = server->held_first; session != NULL;
	     session = session->reading.next)
		session->reading.paused = false;
	if (server->held_first != NULL)
		executor_ring(server->executor, EXECUTOR_LOOP, &server->reading);
}

void reading_look_after(struct server *server)
{
	for (struct session *session = server->held_first; session != NULL;
	     session = session->reading.next)
		session->reading.punished = false;
	if (server->held_first != NULL)
		executor_ring(server->executor, EXECUTOR_LOOP, &server->reading);
}
