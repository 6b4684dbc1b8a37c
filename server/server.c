/* See server.h. In this order: making the parts, the loop's own work (end of a turn, guard,
 * quarter-second check, drain), starting, destroying, and the calls that sessions make upwards. */
#include "server/server.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/past/past.h"
#include "server/requests/requests.h"
#include "server/session/remember.h"
#include "server/session/resume.h"
#include "server/session/session.h"
#include "server/store/session_file.h"
#include "server/worlds/travel.h"

/* Periods of the two timers, ms; the pool is balanced at each BALANCE_CHECKS-th check. GREETING_MIN
 * connections before HELLO are always allowed, because a quarter of a small --sessions-max is too
 * few. */
enum { CHECK_MS = 250, GUARD_MS = 10, BALANCE_CHECKS = 4, GREETING_MIN = 64 };

static const struct service_calls calls;

/* ---- making ------------------------------------------------------------------------------------ */

static enum status make_parts(struct server *self, struct reason *why)
{
	struct pool_options pool = pool_options_default;
	pool.runnables_max = (uint32_t)self->service.options->worlds_max;
	pool.borrow_ns = self->service.options->loop_step_us * NS_PER_US;
	pool.slice_ns = self->service.options->slice_us * NS_PER_US;
	enum status status = frame_pool_create(64u << 20, &self->service.frames);
	if (status == STATUS_OK)
		status = pool_create(self->service.executor, &pool, &self->service.pool);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "server", "%s", status_text(status));
	if (self->service.options->data == NULL)
		return STATUS_OK;
	status = store_create(self->service.options->data, self->service.executor,
			      &self->service.store, why);
	if (status != STATUS_OK)
		return status;
	status = keyring_persist(&self->service.keyring, self->service.options->data,
				 io_wall_s(self->service.io), why);
	if (status != STATUS_OK)
		return status;
	status = remember_open(&self->service, why);
	if (status != STATUS_OK)
		return status;
	self->worlds.next_number = session_file_world_max(self->service.store);
	struct retention retention = { (uint32_t)self->service.options->checkpoints_keep,
				       self->service.options->journal_keep };
	store_set_retention(self->service.store, &retention);
	/* A file that exists is written, whatever new worlds do. */
	store_set_durability(self->service.store,
			     MAX_OF(service_durability(&self->service), DURABILITY_TICK));
	if (strcmp(self->service.options->upgrade, "redo") == 0)
		store_redo(self->service.store);
	status = past_desk_create(self->service.executor, &self->service.past);
	return reason_set(why, status, -1, "server", "%s", status_text(status));
}

static void on_writable(void *context)
{
	outbox_set_resume(&((struct service *)context)->outboxes);
}

enum status server_create(struct io *io, struct executor *executor, struct options *options,
			  uint32_t own_uid, struct server **out, struct reason *why)
{
	struct server *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "server", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->service.calls = &calls;
	self->service.worlds = &self->worlds;
	self->service.io = io;
	self->service.executor = executor;
	self->service.options = options;
	self->service.own_uid = own_uid;
	if (options->drain_redirect != NULL)
		snprintf(self->service.redirect, sizeof self->service.redirect, "%s",
			 options->drain_redirect);
	snprintf(self->service.abi, sizeof self->service.abi, "cairn-%d", ENGINE_CORE);
	shape_library_init(&self->service.library);
	registry_init(&self->service.sessions, 1);
	wakeup_init(&self->service.serving, worlds_serve, &self->service);
	wakeup_init(&self->service.reporting, worlds_deliver_reports, &self->service);
	wakeup_init(&self->service.reading, reading_resume, &self->service);
	wakeup_init(&self->service.writable, on_writable, &self->service);
	for (int role = 0; role < WIRE_ROLES; role++)
		allowance_pool_init(&self->service.watching[role],
				    quota_of((enum wire_role)role, QUOTA_WATCHED_BY_ROLE),
				    io_now(io));
	keyring_init(&self->service.keyring);
	address_limits_init(&self->service.address_limits, (uint32_t)options->address_greetings,
			    (uint32_t)options->address_sessions);
	/* The option has been validated, so the fallback is never taken. */
	if (wire_role_parse(wire_text(options->loopback_role), &self->service.loopback_role) !=
	    STATUS_OK)
		self->service.loopback_role = WIRE_ROLE_NOBODY;
	if (wire_role_parse(wire_text(options->past_role), &self->service.past_role) != STATUS_OK)
		self->service.past_role = WIRE_ROLE_ADMIN;
	enum status status = make_parts(self, why);
	if (status == STATUS_OK)
		status = worlds_open_all(&self->service, why);
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
	io_timer_start(self->guard, io_now(self->service.io) + GUARD_MS * NS_PER_MS);
}

static void end_turn(void *context)
{
	struct server *self = context;
	pool_end_turn(self->service.pool);
	if (outbox_set_flush(&self->service.outboxes))
		executor_wake(self->service.executor, EXECUTOR_LOOP, &self->service.writable);
	if (self->service.rounds.open > 0)
		worlds_end_rounds(&self->service);
	if (self->service.turn.work[TURN_REPORTS] > 0 && !self->guard_armed &&
	    self->worlds.items.count > 1)
		arm_guard(self);
	self->service.turn.number++;
	memset(self->service.turn.work, 0, sizeof self->service.turn.work);
}

static bool runs_anything(const struct server *self)
{
	for (uint32_t i = 0; i < self->worlds.items.count; i++)
		if (self->worlds.items.items[i]->mode == WIRE_MODE_RUNNING)
			return true;
	return false;
}

/* Timer: moves worlds that wait behind a long slice to a free worker. It is armed while a world
 * runs; a paused world gets work only through a turn of the loop, which arms it (end_turn). */
static void on_guard(void *context)
{
	struct server *self = context;
	self->guard_armed = false;
	if (pool_relieve(self->service.pool) > 0 || runs_anything(self))
		arm_guard(self);
}

/* Bytes queued for leaving sessions; they are freed soon, with the sessions. */
static uint64_t leaving_bytes(const struct server *self)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < self->service.sessions.items.count; i++) {
		const struct session *session = self->service.sessions.items.items[i];
		if (session->state == SESSION_LEAVING)
			bytes += outbox_queued(&session->outbox);
	}
	return bytes;
}

static struct session *find_slowest_session(const struct server *self)
{
	struct session *worst = NULL;
	for (uint32_t i = 0; i < self->service.sessions.items.count; i++) {
		struct session *session = self->service.sessions.items.items[i];
		/* A lost session has no queue. */
		if (session->state != SESSION_LEAVING && session->state != SESSION_LOST &&
		    (worst == NULL ||
		     outbox_queued(&session->outbox) > outbox_queued(&worst->outbox)))
			worst = session;
	}
	return worst;
}

/* Keeps the bytes queued for all clients below --queue-bytes-total by ending the sessions with the
 * longest queues. Bytes of the web side's pages belong to no session, so it stops when no session
 * has a queue. */
static void limit_queued_bytes(struct server *self)
{
	uint64_t queued = io_counters(self->service.io)->queued_bytes;
	uint64_t gone = MIN_OF(leaving_bytes(self), queued);
	while (queued - gone > self->service.options->queue_bytes_total) {
		struct session *worst = find_slowest_session(self);
		if (worst == NULL || outbox_queued(&worst->outbox) == 0)
			return;
		gone = MIN_OF(gone + outbox_queued(&worst->outbox), queued);
		session_goodbye(worst, STATUS_SLOW,
				"the server's output queue is full, and this client's is longest");
	}
}

/* Ends sessions first, then worlds, then the loop; called again when a session or world has ended. */
static void finish_drain(struct server *self, uint64_t now)
{
	if (self->service.sessions.items.count > 0 && now >= self->drain_until)
		for (uint32_t i = 0; i < self->service.sessions.items.count; i++)
			stream_close(self->service.sessions.items.items[i]->stream);
	if (self->service.sessions.items.count > 0 || self->worlds.stopping > 0)
		return;
	if (self->worlds.items.count == 0) {
		io_stop(self->service.io);
		return;
	}
	for (uint32_t i = self->worlds.items.count; i-- > 0;)
		worlds_stop(&self->service, self->worlds.items.items[i], false);
}

static void on_check(void *context)
{
	struct server *self = context;
	uint64_t now = io_now(self->service.io);
	for (uint32_t i = self->service.sessions.items.count; i-- > 0;)
		session_check_deadlines(self->service.sessions.items.items[i], now);
	reading_release_refused(&self->service);
	log_flush();
	limit_queued_bytes(self);
	worlds_check(&self->service, now);
	remember_check(&self->service, now);
	pool_relieve(self->service.pool);
	if (++self->checks % BALANCE_CHECKS == 0)
		pool_balance(self->service.pool);
	if (self->service.draining)
		finish_drain(self, now);
	io_timer_start(self->timer, now + CHECK_MS * NS_PER_MS);
}

static struct server *server_of(struct service *service)
{
	return (struct server *)service; /* its first member */
}

static void session_ended(struct service *service)
{
	struct server *self = server_of(service);
	if (self->service.closing && self->service.sessions.items.count == 0)
		io_stop(self->service.io);
	else if (self->service.draining)
		finish_drain(self, io_now(self->service.io));
}

void server_revoke(struct server *self)
{
	/* Backwards, because a lost session is removed at once and the last one moves to its place. */
	for (uint32_t i = self->service.sessions.items.count; i-- > 0;) {
		struct session *session = self->service.sessions.items.items[i];
		if (session->grant == NULL || keyring_holds(&self->service.keyring, session->grant))
			continue;
		log_audit("token_revoked", "session=%u token=\"%s\"", (unsigned)session->number,
			  session->grant->name);
		bool lost = session->state == SESSION_LOST;
		session->ended = true; /* a session that is leaving must not be resumed either */
		session_goodbye(session, STATUS_AUTH, "the token was revoked");
		if (lost)
			session_destroy(session);
	}
}

static void world_ended(struct service *service)
{
	struct server *self = server_of(service);
	if (self->service.draining)
		finish_drain(self, io_now(self->service.io));
}

void server_drain(struct server *self)
{
	if (self->service.draining) {
		io_stop(self->service.io);
		return;
	}
	log_info("draining", "sessions=%u worlds=%u", (unsigned)self->service.sessions.items.count,
		 (unsigned)self->worlds.items.count);
	self->service.draining = true;
	self->drain_until = io_now(self->service.io) + self->service.options->drain_ms * NS_PER_MS;
	for (uint32_t i = 0; i < self->listener_count; i++)
		io_listener_close(self->listeners[i]);
	self->listener_count = 0;
	resume_end_lost(&self->service);
	for (uint32_t i = self->service.sessions.items.count; i-- > 0;)
		session_goodbye(self->service.sessions.items.items[i], STATUS_DRAINING,
				"the server is shutting down");
	finish_drain(self, io_now(self->service.io));
}

/* ---- starting ---------------------------------------------------------------------------------- */

/* True if another connection may be accepted. Those before HELLO are at most a quarter of
 * --sessions-max, so that peers without a token cannot keep others out. */
static bool has_room(const struct server *self)
{
	uint64_t greeting_max =
		MAX_OF(self->service.options->sessions_max / 4, (uint64_t)GREETING_MIN);
	return self->service.sessions.items.count <
		       self->service.options->sessions_max + self->service.sessions.lost &&
	       self->service.sessions.greeting < greeting_max;
}

static void accept_stream(struct service *service, struct stream *stream)
{
	struct server *self = server_of(service);
	/* Live sessions take priority over resumable ones. */
	while (self->service.sessions.items.count >= self->service.options->sessions_max &&
	       resume_end_oldest_lost(&self->service))
		;
	if (has_room(self))
		session_open(&self->service, stream);
	else
		stream_close(stream);
}

static void on_accepted(void *context, struct stream *stream)
{
	struct server *self = context;
	accept_stream(&self->service, stream);
}

static void on_accepted_tls(void *context, struct stream *stream)
{
	struct server *self = context;
	/* Refused before the TLS handshake costs anything. */
	if (!has_room(self)) {
		stream_close(stream);
		return;
	}
	struct stream *secure = tls_stream_create(self->service.tls, stream, self->service.frames);
	if (secure != NULL)
		accept_stream(&self->service, secure);
}

static enum status open_listener(struct server *self, const struct address *address,
				 io_accepted *accepted, struct reason *why)
{
	struct io_listener **listener = &self->listeners[self->listener_count];
	enum status status = io_listen(self->service.io, address, accepted, self, listener, why);
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
	enum status status = options_addresses(self->service.options, addresses, &count, why);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = open_listener(self, &addresses[i], on_accepted, why);
	if (status == STATUS_OK)
		status = options_tls_addresses(self->service.options, addresses, &count, why);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = open_listener(self, &addresses[i], on_accepted_tls, why);
	return status;
}

enum status server_start(struct server *self, struct reason *why)
{
	enum status status = io_timer_create(self->service.io, on_check, self, &self->timer);
	if (status == STATUS_OK)
		status = io_timer_create(self->service.io, worlds_show_resting, &self->service,
					 &self->service.rest);
	if (status == STATUS_OK)
		status = io_timer_create(self->service.io, travels_play, &self->service,
					 &self->service.travel);
	if (status == STATUS_OK)
		status = io_timer_create(self->service.io, on_guard, self, &self->guard);
	if (status == STATUS_OK)
		status = io_timer_create(self->service.io, reading_end_pause, &self->service,
					 &self->service.pause);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "server", "%s", status_text(status));
	status = executor_start(self->service.executor, why);
	if (status != STATUS_OK)
		return status;
	self->executor_started = true;
	io_set_flush(self->service.io, end_turn, self);
	io_timer_start(self->timer, io_now(self->service.io) + CHECK_MS * NS_PER_MS);
	for (uint32_t i = 0; i < self->worlds.items.count; i++) {
		struct served_world *world = self->worlds.items.items[i];
		status = worlds_start(&self->service, world);
		if (status != STATUS_OK)
			return reason_set(why, status, -1, "world", "%s: %s", world->name,
					  status_text(status));
	}
	return listen_all(self, why);
}

/* Closes every stream and waits for their last callbacks. */
static void close_sessions(struct server *self)
{
	self->service.closing = true;
	resume_end_lost(&self->service);
	if (self->service.sessions.items.count == 0)
		return;
	for (uint32_t i = 0; i < self->service.sessions.items.count; i++)
		stream_close(self->service.sessions.items.items[i]->stream);
	io_run(self->service.io);
}

void server_destroy(struct server *self)
{
	for (uint32_t i = 0; i < self->listener_count; i++)
		io_listener_close(self->listeners[i]);
	io_set_flush(self->service.io, NULL, NULL);
	if (self->timer != NULL)
		io_timer_destroy(self->timer);
	if (self->service.rest != NULL)
		io_timer_destroy(self->service.rest);
	if (self->service.travel != NULL)
		io_timer_destroy(self->service.travel);
	if (self->guard != NULL)
		io_timer_destroy(self->guard);
	if (self->service.pause != NULL)
		io_timer_destroy(self->service.pause);
	if (self->service.past != NULL)
		past_desk_stop(self->service.past);
	if (self->executor_started)
		executor_stop(self->service.executor);
	self->service.executor_stopped = true;
	close_sessions(self);
	/* The pool refers to the worlds, so it is destroyed before them. */
	if (self->service.pool != NULL)
		pool_destroy(self->service.pool);
	worlds_release(&self->worlds);
	past_desk_destroy(self->service.past);
	registry_release(&self->service.sessions);
	keyring_release(&self->service.keyring);
	address_limits_release(&self->service.address_limits);
	if (self->service.store != NULL)
		store_destroy(self->service.store);
	tls_context_destroy(self->service.tls);
	shape_library_release(&self->service.library);
	if (self->service.frames != NULL)
		frame_pool_destroy(self->service.frames);
	heap_free(self);
}

/* ---- calls from sessions ----------------------------------------------------------------------- */

static void drain(struct service *service)
{
	server_drain(server_of(service));
}

static const struct service_calls calls = {
	.dispatch = requests_dispatch,
	.refuse_commands = requests_refuse_commands,
	.has_world = worlds_have,
	.on_writable = worlds_on_writable,
	.resume = worlds_resume,
	.leave_worlds = worlds_leave_all,
	.accept = accept_stream,
	.drain = drain,
	.session_ended = session_ended,
	.world_ended = world_ended,
};
