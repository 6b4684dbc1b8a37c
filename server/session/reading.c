/* See reading.h. */
#include "server/session/reading.h"

#include "server/session/service.h"
#include "server/session/session.h"

static void reset_counts(struct session *session)
{
	struct reading *self = &session->reading;
	if (self->turn == session->service->turn.number)
		return;
	self->turn = session->service->turn.number;
	self->messages = self->bytes = 0;
	self->refused = false;
}

bool reading_allowed(struct session *session)
{
	const struct reading *self = &session->reading;
	reset_counts(session);
	return !outbox_has_list(&session->outbox) && self->messages < READING_MESSAGES &&
	       self->bytes < READING_BYTES &&
	       (self->messages == 0 || service_turn_has_budget(session->service, TURN_READING));
}

void reading_count_message(struct session *session, uint32_t bytes)
{
	session->reading.messages++;
	session->reading.bytes += bytes;
	service_turn_spend(session->service, TURN_READING,
			   READING_WORK + bytes / READING_WORK_BYTES);
}

static bool must_wait(const struct session *session)
{
	const struct reading *self = &session->reading;
	return self->paused || self->over_quota || outbox_has_list(&session->outbox);
}

void reading_hold(struct session *session)
{
	struct service *service = session->service;
	struct reading *self = &session->reading;
	self->over_quota = self->refused;
	self->paused = self->messages >= READING_MESSAGES;
	if (!self->held) {
		self->held = true;
		self->next = NULL;
		if (service->held_last != NULL)
			service->held_last->reading.next = session;
		else
			service->held_first = session;
		service->held_last = session;
	}
	if (self->paused && !service->pause_armed) {
		service->pause_armed = true;
		io_timer_start(service->pause, io_now(service->io) + READING_PAUSE_MS * NS_PER_MS);
	}
	if (!must_wait(session))
		executor_wake(service->executor, EXECUTOR_LOOP, &service->reading);
}

void reading_release(struct session *session)
{
	struct service *service = session->service;
	struct session *before = NULL;
	if (!session->reading.held)
		return;
	struct session **link = &service->held_first;
	while (*link != session) {
		before = *link;
		link = &before->reading.next;
	}
	*link = session->reading.next;
	if (service->held_last == session)
		service->held_last = before;
	session->reading.held = session->reading.paused = session->reading.over_quota = false;
}

void reading_resume(void *context)
{
	struct service *service = context;
	struct session *last = service->held_last, *session = service->held_first;
	bool more = false;
	/* A session that is held again is behind `last`, so one call resumes each session at most
	 * once. */
	while (session != NULL && service_turn_has_budget(service, TURN_READING)) {
		struct session *next = session == last ? NULL : session->reading.next;
		if (!must_wait(session)) {
			reading_release(session);
			session_resume_reading(session);
		}
		session = next;
	}
	for (session = service->held_first; session != NULL && !more;
	     session = session->reading.next)
		more = !must_wait(session);
	if (more)
		executor_wake(service->executor, EXECUTOR_LOOP, &service->reading);
}

void reading_continue(struct service *service)
{
	if (service->held_first != NULL)
		executor_wake(service->executor, EXECUTOR_LOOP, &service->reading);
}

void reading_end_pause(void *context)
{
	struct service *service = context;
	service->pause_armed = false;
	for (struct session *session = service->held_first; session != NULL;
	     session = session->reading.next)
		session->reading.paused = false;
	reading_continue(service);
}

void reading_release_refused(struct service *service)
{
	for (struct session *session = service->held_first; session != NULL;
	     session = session->reading.next)
		session->reading.over_quota = false;
	reading_continue(service);
}
