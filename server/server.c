#include "server/server.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/resume.h"
#include "server/session/session.h"

enum { LOOK_MS = 250, GUARD_MS = 10, BALANCE_LOOKS = 4, GREETING_MIN = 64 };

/* ---- making ------------------------------------------------------------------------------------ */

static enum status make_parts(struct server *self, struct reason *why)
{
	struct pool_options pool = pool_options_default;
	pool.runnables_max = (uint32_t)self->options->worlds_max;
	pool.borrow_ns = self->options->loop_step_us * NS_PER_US;
	enum status status = frame_pool_create(64u << 20, &self->frames);
	if (status == STATUS_OK)
		status = pool_create(self->executor, &pool, &self->pool);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "server", "%s", status_text(status));
	if (self->options->data == NULL)
		return STATUS_OK;
	status = store_create(self->options->data, self->executor, &self->store, why);
	if (status != STATUS_OK)
		return status;
	status = keyring_keep(&self->keyring, self->options->data, io_wall_s(self->io), why);
	if (status != STATUS_OK)
		return status;
	struct retention retention = { (uint32_t)self->options->checkpoints_keep,
				       self->options->journal_keep };
	store_set_retention(self->store, &retention);
	if (strcmp(self->options->upgrade, "redo") == 0)
		store_redo(self->store);
	return STATUS_OK;
}

static void on_room(void *context)
{
	outbox_set_go_on(&((struct server *)context)->outboxes);
}

enum status server_create(struct io *io, struct executor *executor, struct options *options,
			  uint32_t own_uid, struct server **out, struct reason *why)
{
	struct server *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "server", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->io = io;
	self->executor = executor;
	self->options = options;
	self->own_uid = own_uid;
	if (options->drain_redirect != NULL)
		snprintf(self->redirect, sizeof self->redirect, "%s", options->drain_redirect);
	snprintf(self->abi, sizeof self->abi, "cairn-%d", ENGINE_CORE);
	shape_book_init(&self->library);
	registry_init(&self->sessions, 1);
	bell_init(&self->serving, worlds_serve, self);
	bell_init(&self->reporting, worlds_take_reports, self);
	bell_init(&self->reading, reading_go_on, self);
	bell_init(&self->roomy, on_room, self);
	for (int role = 0; role < WIRE_ROLES; role++)
		allowance_pool_init(&self->watching[role],
				    quota_of((enum wire_role)role, QUOTA_WATCHED_BY_ROLE),
				    io_now(io));
	keyring_init(&self->keyring);
	crowd_init(&self->crowd, (uint32_t)options->address_greetings,
		   (uint32_t)options->address_sessions);
	/* Checked with the options. */
	if (wire_role_parse(wire_text(options->loopback_role), &self->loopback_role) != STATUS_OK)
		self->loopback_role = WIRE_ROLE_NOBODY;
	enum status status = make_parts(self, why);
	if (status == STATUS_OK)
		status = worlds_open_all(self, why);
	if (status != STATUS_OK) {
		server_destroy(self);
		return status;
	}
	*out = self;
	return STATUS_OK;
}

/* ---- the loop's own work ----------------------------------------------------------------------- */

static void arm_guard(struct server *self)
{
	self->guard_armed = true;
	io_timer_start(self->guard, io_now(self->io) + GUARD_MS * NS_PER_MS);
}

static void flush(void *context)
{
	struct server *self = context;
	pool_end_turn(self->pool);
	if (outbox_set_flush(&self->outboxes))
		executor_ring(self->executor, EXECUTOR_LOOP, &self->roomy);
	if (self->rounds.open > 0)
		worlds_end_rounds(self);
	if (self->turn.work[TURN_REPORTS] > 0 && !self->guard_armed && self->worlds.items.count > 1)
		arm_guard(self);
	self->turn.number++;
	memset(self->turn.work, 0, sizeof self->turn.work);
}

static bool runs_anything(const struct server *self)
{
	for (uint32_t i = 0; i < self->worlds.items.count; i++)
		if (self->worlds.items.items[i]->mode == WIRE_MODE_RUNNING)
			return true;
	return false;
}

/* While a world runs another may keep it waiting. What stands still is asked for something by a turn. */
static void guard(void *context)
{
	struct server *self = context;
	self->guard_armed = false;
	if (pool_relieve(self->pool) > 0 || runs_anything(self))
		arm_guard(self);
}


/* What waits for sessions that are on their way out goes with them, soon. */
static uint64_t leaving_bytes(const struct server *self)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < self->sessions.items.count; i++) {
		const struct session *session = self->sessions.items.items[i];
		if (session->state == SESSION_LEAVING)
			bytes += outbox_queued(&session->outbox);
	}
	return bytes;
}

static struct session *worst_session(const struct server *self)
{
	struct session *worst = NULL;
	for (uint32_t i = 0; i < self->sessions.items.count; i++) {
		struct session *session = self->sessions.items.items[i];
		/* One that has lost its connection has nothing that waits, and stays as it is. */
		if (session->state != SESSION_LEAVING && session->state != SESSION_LOST &&
		    (worst == NULL ||
		     outbox_queued(&session->outbox) > outbox_queued(&worst->outbox)))
			worst = session;
	}
	return worst;
}

/* A cap for all clients together: the one with the most waiting goes first. What waits for nobody's
 * session (pages of the web side) is not relieved by this, so it ends where no session has anything. */
static void relieve(struct server *self)
{
	uint64_t queued = io_counters(self->io)->queued_bytes;
	uint64_t gone = MIN_OF(leaving_bytes(self), queued);
	while (queued - gone > self->options->queue_bytes_total) {
		struct session *worst = worst_session(self);
		if (worst == NULL || outbox_queued(&worst->outbox) == 0)
			return;
		gone = MIN_OF(gone + outbox_queued(&worst->outbox), queued);
		session_goodbye(worst, STATUS_SLOW, "all clients together wait for too much");
	}
}

/* Sessions first, then worlds, then the loop; called again whenever one of them has gone. */
static void finish_drain(struct server *self, uint64_t now)
{
	if (self->sessions.items.count > 0 && now >= self->drain_until)
		for (uint32_t i = 0; i < self->sessions.items.count; i++)
			stream_close(self->sessions.items.items[i]->stream);
	if (self->sessions.items.count > 0 || self->worlds.stopping > 0)
		return;
	if (self->worlds.items.count == 0) {
		io_stop(self->io);
		return;
	}
	for (uint32_t i = self->worlds.items.count; i-- > 0;)
		worlds_stop(self, self->worlds.items.items[i], false);
}

static void look_after(void *context)
{
	struct server *self = context;
	uint64_t now = io_now(self->io);
	for (uint32_t i = self->sessions.items.count; i-- > 0;)
		session_look_after(self->sessions.items.items[i], now);
	reading_look_after(self);
	log_flush();
	relieve(self);
	worlds_look_after(self, now);
	pool_relieve(self->pool);
	if (++self->looks % BALANCE_LOOKS == 0)
		pool_balance(self->pool);
	if (self->draining)
		finish_drain(self, now);
	io_timer_start(self->timer, now + LOOK_MS * NS_PER_MS);
}

void server_session_ended(struct server *self)
{
	if (self->closing && self->sessions.items.count == 0)
		io_stop(self->io);
	else if (self->draining)
		finish_drain(self, io_now(self->io));
}

void server_revoke(struct server *self)
{
	/* Backwards: a lost session goes at once, and the last one takes its place. */
	for (uint32_t i = self->sessions.items.count; i-- > 0;) {
		struct session *session = self->sessions.items.items[i];
		if (session->grant == NULL || keyring_holds(&self->keyring, session->grant))
			continue;
		log_audit("token_revoked", "session=%u token=\"%s\"", (unsigned)session->number,
			  session->grant->name);
		bool lost = session->state == SESSION_LOST;
		session->ended = true; /* also where it is leaving and might have come back */
		session_goodbye(session, STATUS_AUTH, "the token has been taken back");
		if (lost)
			session_destroy(session);
	}
}

void server_world_ended(struct server *self)
{
	if (self->draining)
		finish_drain(self, io_now(self->io));
}

void server_drain(struct server *self)
{
	if (self->draining) {
		io_stop(self->io);
		return;
	}
	log_info("draining", "sessions=%u worlds=%u", (unsigned)self->sessions.items.count,
		 (unsigned)self->worlds.items.count);
	self->draining = true;
	self->drain_until = io_now(self->io) + self->options->drain_ms * NS_PER_MS;
	for (uint32_t i = 0; i < self->listener_count; i++)
		io_listener_close(self->listeners[i]);
	self->listener_count = 0;
	resume_end_all(self);
	for (uint32_t i = self->sessions.items.count; i-- > 0;)
		session_goodbye(self->sessions.items.items[i], STATUS_DRAINING,
				"the server is shutting down");
	finish_drain(self, io_now(self->io));
}

/* ---- starting ---------------------------------------------------------------------------------- */

/* Who has not said who he is must not keep others out. */
static bool has_room(const struct server *self)
{
	uint64_t greeting_max = MAX_OF(self->options->sessions_max / 4, (uint64_t)GREETING_MIN);
	return self->sessions.items.count < self->options->sessions_max + self->sessions.lost &&
	       self->sessions.greeting < greeting_max;
}

void server_accept(struct server *self, struct stream *stream)
{
	/* Who is here comes before who may come back. */
	while (self->sessions.items.count >= self->options->sessions_max &&
	       resume_end_oldest(self))
		;
	if (has_room(self))
		session_open(self, stream);
	else
		stream_close(stream);
}

static void on_accepted(void *context, struct stream *stream)
{
	server_accept(context, stream);
}

static void on_accepted_tls(void *context, struct stream *stream)
{
	struct server *self = context;
	/* Before it costs a handshake. */
	if (!has_room(self)) {
		stream_close(stream);
		return;
	}
	struct stream *private = tls_stream_create(self->tls, stream, self->frames);
	if (private != NULL)
		server_accept(self, private);
}

static enum status listen_at(struct server *self, const struct address *address,
			     io_accepted *accepted, struct reason *why)
{
	struct io_listener **listener = &self->listeners[self->listener_count];
	enum status status = io_listen(self->io, address, accepted, self, listener, why);
	if (status != STATUS_OK)
		return status;
	struct address bound;
	char text[ADDRESS_TEXT_MAX];
	self->listener_count++;
	io_listener_address(*listener, &bound);
	address_print(&bound, text);
	log_info("listening", "address=%s%s", accepted == on_accepted_tls ? "tls" : "",
		 accepted == on_accepted_tls ? text + strlen("tcp") : text);
	return STATUS_OK;
}

static enum status listen_all(struct server *self, struct reason *why)
{
	struct address addresses[OPTION_ADDRESSES_MAX];
	uint32_t count;
	enum status status = options_addresses(self->options, addresses, &count, why);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = listen_at(self, &addresses[i], on_accepted, why);
	if (status == STATUS_OK)
		status = options_tls_addresses(self->options, addresses, &count, why);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = listen_at(self, &addresses[i], on_accepted_tls, why);
	return status;
}

enum status server_start(struct server *self, struct reason *why)
{
	enum status status = io_timer_create(self->io, look_after, self, &self->timer);
	if (status == STATUS_OK)
		status = io_timer_create(self->io, worlds_rest, self, &self->rest);
	if (status == STATUS_OK)
		status = io_timer_create(self->io, guard, self, &self->guard);
	if (status == STATUS_OK)
		status = io_timer_create(self->io, reading_end_pause, self, &self->pause);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "server", "%s", status_text(status));
	status = executor_start(self->executor, why);
	if (status != STATUS_OK)
		return status;
	self->executor_started = true;
	io_set_flush(self->io, flush, self);
	io_timer_start(self->timer, io_now(self->io) + LOOK_MS * NS_PER_MS);
	for (uint32_t i = 0; i < self->worlds.items.count; i++) {
		struct served_world *world = self->worlds.items.items[i];
		status = worlds_start(self, world);
		if (status != STATUS_OK)
			return reason_set(why, status, -1, "world", "%s: %s", world->name,
					  status_text(status));
	}
	return listen_all(self, why);
}

/* Closes every stream and waits for their last callbacks. */
static void close_sessions(struct server *self)
{
	self->closing = true;
	resume_end_all(self);
	if (self->sessions.items.count == 0)
		return;
	for (uint32_t i = 0; i < self->sessions.items.count; i++)
		stream_close(self->sessions.items.items[i]->stream);
	io_run(self->io);
}

void server_destroy(struct server *self)
{
	for (uint32_t i = 0; i < self->listener_count; i++)
		io_listener_close(self->listeners[i]);
	io_set_flush(self->io, NULL, NULL);
	if (self->timer != NULL)
		io_timer_destroy(self->timer);
	if (self->rest != NULL)
		io_timer_destroy(self->rest);
	if (self->guard != NULL)
		io_timer_destroy(self->guard);
	if (self->pause != NULL)
		io_timer_destroy(self->pause);
	if (self->executor_started)
		executor_stop(self->executor);
	self->executor_stopped = true;
	close_sessions(self);
	/* The pool forgets the worlds that are still in it, so it goes before them. */
	if (self->pool != NULL)
		pool_destroy(self->pool);
	worlds_release(&self->worlds);
	registry_release(&self->sessions);
	keyring_release(&self->keyring);
	crowd_release(&self->crowd);
	if (self->store != NULL)
		store_destroy(self->store);
	tls_context_destroy(self->tls);
	shape_book_release(&self->library);
	if (self->frames != NULL)
		frame_pool_destroy(self->frames);
	heap_free(self);
}
