/* client.c: connecting, the handshake, handling of every received message, and waiting for answers.
 *
 * Each message either is the answer that the current call waits for, or goes to its handler: frames to
 * mirrors, events, results and notices to callbacks, PING to a PONG, GOODBYE and ERROR to the status of
 * the call that polls.
 */
#include "clients/lib/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/capabilities.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"

static enum status connection_closed(struct reason *why)
{
	return reason_set(why, STATUS_CLOSED, -1, "connection", "%s", status_text(STATUS_CLOSED));
}

static uint64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void copy_text(char *to, size_t room, struct wire_slice from)
{
	snprintf(to, room, "%.*s", (int)from.bytes, (const char *)from.at);
}

/* ---- unsolicited messages ------------------------------------------------------------------------ */

struct client_subscription *client_find_subscription(struct cairn *self, uint64_t sub)
{
	for (uint32_t i = 0; i < self->subscription_count; i++)
		if (self->subscriptions[i].sub == sub)
			return &self->subscriptions[i];
	return NULL;
}

static enum status acknowledge(struct cairn *self, const struct client_subscription *subscription,
			       struct reason *why)
{
	if (self->options.no_acks || !(self->session.caps & WIRE_CAP_ACK))
		return STATUS_OK;
	struct message ack;
	message_init(&ack, MESSAGE_ACK);
	ack.ack.sub = subscription->sub;
	ack.ack.epoch = subscription->mirror.epoch;
	ack.ack.tick = subscription->mirror.tick;
	ack.ack.edit = subscription->mirror.edit;
	return cairn_send(self, &ack, why);
}

/* Requests a SNAPSHOT for a mirror that could not apply a frame. */
static enum status request_resync(struct cairn *self, struct client_subscription *subscription,
				  enum status cause, uint64_t tick, struct reason *why)
{
	if (cause == STATUS_DIVERGED && self->options.callbacks.diverged != NULL)
		self->options.callbacks.diverged(self->options.callbacks.context, subscription->sub,
						 tick);
	self->resyncs++;
	struct message request;
	message_init(&request, MESSAGE_RESYNC);
	request.resync.sub = subscription->sub;
	return cairn_send(self, &request, why);
}

/* The subscription that a SNAPSHOT, DELTA, ROWS or BLOCKS belongs to, and the tick that it describes. */
static uint64_t frame_sub(const struct message *message, uint64_t *tick)
{
	switch (message->type) {
	case MESSAGE_SNAPSHOT:
		*tick = message->snapshot.tick;
		return message->snapshot.sub;
	case MESSAGE_DELTA:
		*tick = message->delta.tick;
		return message->delta.sub;
	case MESSAGE_ROWS:
		*tick = message->rows.tick;
		return message->rows.sub;
	default:
		*tick = message->blocks.tick;
		return message->blocks.sub;
	}
}

static enum status take_frame(struct cairn *self, const struct message *message, struct reason *why)
{
	uint64_t tick;
	struct client_subscription *subscription =
		client_find_subscription(self, frame_sub(message, &tick));
	if (subscription == NULL)
		return STATUS_OK; /* sent before the server received UNSUBSCRIBE */
	bool last = false;
	enum status status = mirror_take(&subscription->mirror, message, &last);
	if (status != STATUS_OK)
		return request_resync(self, subscription, status, tick, why);
	if (!last)
		return STATUS_OK;
	self->frames++;
	if (self->options.callbacks.frame != NULL)
		self->options.callbacks.frame(self->options.callbacks.context, subscription->sub,
					      &subscription->mirror);
	return acknowledge(self, subscription, why);
}

static void take_events(struct cairn *self, const struct msg_events *events)
{
	struct wire_cursor in = wire_cursor_list(&events->list);
	struct event event;
	for (uint32_t i = 0; i < events->list.count; i++) {
		struct client_subscription *subscription =
			client_find_subscription(self, events->sub);
		if (event_take(&in, &event) != STATUS_OK)
			return;
		if (subscription != NULL)
			subscription->events++;
		if (self->options.callbacks.event != NULL)
			self->options.callbacks.event(self->options.callbacks.context, events->sub,
						      events->tick, &event);
	}
}

static void take_results(struct cairn *self, const struct msg_result *results)
{
	struct wire_cursor in = wire_cursor_list(&results->list);
	struct wire_result result;
	for (uint32_t i = 0; i < results->list.count; i++) {
		if (result_take(&in, &result) != STATUS_OK)
			return;
		/* A batch that waits for its tick has a second result later. */
		bool final = result.code != STATUS_WAITING;
		if (final)
			client_forget_batch(self, (uint32_t)results->world, result.batch);
		if (final && self->waiting.world == results->world &&
		    self->waiting.batch == result.batch) {
			self->waiting.result = result;
			self->waiting.done = true;
		}
		if (self->options.callbacks.result != NULL)
			self->options.callbacks.result(self->options.callbacks.context,
						       (uint32_t)results->world, &result);
	}
}

static enum status answer_ping(struct cairn *self, uint64_t t, struct reason *why)
{
	struct message pong;
	message_init(&pong, MESSAGE_PONG);
	pong.pong.t = t;
	return cairn_send(self, &pong, why);
}

static enum status take_goodbye(struct cairn *self, const struct msg_goodbye *message,
				struct reason *why)
{
	self->retry_ms = (uint32_t)MIN_OF(message->retry_ms, (uint64_t)UINT32_MAX);
	copy_text(self->redirect, sizeof self->redirect, message->redirect);
	return reason_set(why, message->code != 0 ? (enum status)message->code : STATUS_CLOSED, -1,
			  "connection", "the server closed the connection: %.*s",
			  (int)message->text.bytes, (const char *)message->text.at);
}

/* Puts a server's ERROR into `why` and returns its status. */
static enum status client_refusal(const struct msg_error *error, struct reason *why)
{
	struct reason own;
	reason_set(&own, (enum status)error->code, error->index, "", "%.*s", (int)error->text.bytes,
		   (const char *)error->text.at);
	copy_text(own.field, sizeof own.field, error->field);
	if (why != NULL)
		*why = own;
	return own.status != STATUS_OK ? own.status : STATUS_PROTOCOL;
}

/* Handles one message that no call waits for. */
static enum status take_unsolicited(struct cairn *self, const struct message *message,
				    struct reason *why)
{
	const struct cairn_callbacks *call = &self->options.callbacks;
	switch (message->type) {
	case MESSAGE_SNAPSHOT:
	case MESSAGE_DELTA:
	case MESSAGE_ROWS:
	case MESSAGE_BLOCKS:
		return take_frame(self, message, why);
	case MESSAGE_EVENTS:
		take_events(self, &message->events);
		return STATUS_OK;
	case MESSAGE_RESULT:
		take_results(self, &message->result);
		return STATUS_OK;
	case MESSAGE_PING:
		return answer_ping(self, message->ping.t, why);
	case MESSAGE_NOTICE:
		if (call->notice != NULL)
			call->notice(call->context, &message->notice);
		return STATUS_OK;
	case MESSAGE_DURABLE:
		if (call->durable != NULL)
			call->durable(call->context, (uint32_t)message->durable.world,
				      message->durable.epoch, message->durable.tick,
				      message->durable.edit);
		return STATUS_OK;
	case MESSAGE_WORLD_INFO:
		if (call->world != NULL && message->world_info.ref == 0)
			call->world(call->context, &message->world_info);
		return STATUS_OK;
	case MESSAGE_MONITOR_LINE:
		if (call->monitor != NULL)
			call->monitor(call->context, &message->monitor_line);
		return STATUS_OK;
	case MESSAGE_GOODBYE:
		return take_goodbye(self, &message->goodbye, why);
	case MESSAGE_ERROR:
		self->waiting.refused = self->waiting.batch != 0 &&
					message->error.about == MESSAGE_COMMANDS &&
					message->error.ref == self->waiting.batch;
		return client_refusal(&message->error, why);
	default:
		return STATUS_OK;
	}
}

/* ---- polling and waiting ------------------------------------------------------------------------- */

/* True for the answer, or the ERROR, to the request that a call waits for. */
static bool is_answer(const struct cairn *self, const struct message *message)
{
	const struct expected *expected = &self->expected;
	if (expected->type == MESSAGE_NONE)
		return false;
	if (message->type == MESSAGE_ERROR)
		return message->error.ref == expected->ref &&
		       (message->error.about == expected->request || message->error.about == 0);
	return message->type == expected->type && client_ref(message) == expected->ref;
}

/* Handles the received frames until none is left or the awaited answer has arrived. */
static enum status take_frames(struct cairn *self, struct reason *why)
{
	while (!self->expected.arrived && !self->waiting.done) {
		struct wire_slice content;
		enum status status = connection_next(&self->connection, &content);
		if (status == STATUS_AGAIN)
			return STATUS_OK;
		struct message message;
		if (status == STATUS_OK)
			status = message_read(content.at, content.bytes, &VALIDATE_DOWN, &message,
					      why);
		else
			reason_set(why, status, -1, "connection", "%s", status_text(status));
		/* Messages of a later version of the protocol are ignored. */
		if (status == STATUS_UNKNOWN_MESSAGE || status == STATUS_UNSUPPORTED)
			continue;
		if (status != STATUS_OK)
			return status;
		self->messages++;
		if (is_answer(self, &message)) {
			self->expected.message = message;
			self->expected.arrived = true;
			return STATUS_OK;
		}
		status = take_unsolicited(self, &message, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status cairn_poll(struct cairn *self, int timeout_ms, struct reason *why)
{
	/* Frames that the previous call left in the buffer are handled first: an answer among them
	 * must not wait for more bytes, and connection_move would overwrite the bytes that it
	 * borrows. */
	uint64_t messages = self->messages;
	enum status status = take_frames(self, why);
	if (status != STATUS_OK)
		return status;
	if (self->messages != messages)
		return connection_flush(&self->connection) == STATUS_OK ? STATUS_OK
									: connection_closed(why);
	status = connection_move(&self->connection, timeout_ms);
	if (status == STATUS_CLOSED || status == STATUS_IO)
		return connection_closed(why);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "connection", "no message arrived within %d ms",
				  timeout_ms);
	status = take_frames(self, why);
	/* Acknowledgements do not wait for the next call. Flushing does not touch received bytes. */
	if (status == STATUS_OK && connection_flush(&self->connection) != STATUS_OK)
		return connection_closed(why);
	return status;
}

enum status cairn_send(struct cairn *self, const struct message *message, struct reason *why)
{
	return connection_queue(&self->connection, message, why);
}

uint64_t cairn_next_ref(struct cairn *self)
{
	return ++self->last_ref;
}

/* Polls until `*done` or the client's timeout. */
static enum status wait_for(struct cairn *self, const bool *done, struct reason *why)
{
	uint64_t end = now_ms() + self->options.timeout_ms;
	while (!*done) {
		uint64_t now = now_ms();
		if (now >= end)
			return reason_set(why, STATUS_AGAIN, -1, "connection",
					  "no answer within %u ms",
					  (unsigned)self->options.timeout_ms);
		enum status status = cairn_poll(self, (int)(end - now), why);
		if (status != STATUS_OK && status != STATUS_AGAIN)
			return status;
	}
	return STATUS_OK;
}

enum status client_wait_answer(struct cairn *self, enum message_type answer,
			       const struct message *request, struct message *out,
			       struct reason *why)
{
	self->expected = (struct expected){
		.type = answer,
		.request = request->type,
		.ref = message_ref(request),
	};
	enum status status = wait_for(self, &self->expected.arrived, why);
	bool arrived = self->expected.arrived;
	self->expected.type = MESSAGE_NONE;
	self->expected.arrived = false;
	if (!arrived)
		return status;
	*out = self->expected.message;
	return out->type == MESSAGE_ERROR ? client_refusal(&out->error, why) : STATUS_OK;
}

enum status cairn_request(struct cairn *self, const struct message *request,
			  enum message_type answer, struct message *out, struct reason *why)
{
	enum status status = cairn_send(self, request, why);
	return status == STATUS_OK ? client_wait_answer(self, answer, request, out, why) : status;
}

enum status client_wait_result(struct cairn *self, struct reason *why)
{
	return wait_for(self, &self->waiting.done, why);
}

/* ---- connecting and closing ---------------------------------------------------------------------- */

/* The last state that each complete mirror has applied, as `applied` of HELLO. */
static struct wire_list pack_applied(const struct cairn *self, uint8_t *packed, uint32_t room)
{
	struct wire_packer out = wire_packer_over(packed, room);
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->subscription_count; i++) {
		const struct client_subscription *subscription = &self->subscriptions[i];
		if (!subscription->mirror.complete)
			continue;
		wire_pack_array(&out, 5);
		wire_pack_uint(&out, subscription->sub);
		wire_pack_uint(&out, subscription->mirror.epoch);
		wire_pack_uint(&out, subscription->mirror.tick);
		wire_pack_uint(&out, subscription->events);
		wire_pack_uint(&out, subscription->mirror.edit);
		count++;
	}
	return (struct wire_list){ packed, out.bytes, count };
}

static uint32_t choose_caps(const struct cairn_options *options)
{
	uint32_t caps = options->caps != 0 ? options->caps : WIRE_CAPS_ALL;
	return options->resumes ? caps | WIRE_CAP_RESUME : caps & ~(uint32_t)WIRE_CAP_RESUME;
}

static void store_session(struct cairn *self, const struct handshake *handshake,
			  const struct msg_welcome *welcome)
{
	self->session.number = handshake->session;
	self->session.role = handshake->role;
	self->session.caps = handshake->caps;
	self->session.limits = handshake->limits;
	self->connection.frame_up = handshake->limits.frame_up;
	copy_text(self->session.server, sizeof self->session.server, welcome->server);
	copy_text(self->session.build, sizeof self->session.build, welcome->build);
	copy_text(self->session.abi, sizeof self->session.abi, welcome->abi);
	self->token_bytes = MIN_OF(welcome->resume_token.bytes, (uint32_t)sizeof self->token);
	if (self->token_bytes > 0)
		memcpy(self->token, welcome->resume_token.at, self->token_bytes);
}

enum status client_handshake(struct cairn *self, bool resumes, struct reason *why)
{
	struct handshake handshake;
	uint8_t applied[CAIRN_SUBSCRIPTIONS_MAX * 40];
	struct handshake_offer offer = {
		.name = self->options.name != NULL ? self->options.name : "libcairn",
		.caps = choose_caps(&self->options),
		.limits = { WIRE_FRAME_UP, self->options.frame_down },
		.role = self->options.role,
		.token = wire_text(self->options.token != NULL ? self->options.token : ""),
	};
	struct message message;
	if (resumes) {
		offer.resume = (struct wire_slice){ self->token, self->token_bytes };
		offer.applied = pack_applied(self, applied, sizeof applied);
		offer.token = wire_text("");
	}
	handshake_init(&handshake, &offer);
	handshake_hello(&handshake, &message);
	enum status status = cairn_send(self, &message, why);
	uint64_t end = now_ms() + self->options.timeout_ms;
	struct wire_slice content;
	while (status == STATUS_OK &&
	       (status = connection_next(&self->connection, &content)) == STATUS_AGAIN) {
		uint64_t now = now_ms();
		status = now < end ? connection_move(&self->connection, (int)(end - now))
				   : STATUS_CLOSED;
	}
	if (status == STATUS_CLOSED || status == STATUS_AGAIN)
		return reason_set(why, STATUS_HANDSHAKE, -1, "connection",
				  "the server sent no WELCOME within %u ms",
				  (unsigned)self->options.timeout_ms);
	if (status == STATUS_OK)
		status = message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, why);
	if (status != STATUS_OK)
		return status;
	status = handshake_welcome(&handshake, &message);
	if (status != STATUS_OK) {
		if (why != NULL)
			*why = handshake.why;
		return status;
	}
	store_session(self, &handshake, &message.welcome);
	return STATUS_OK;
}

enum status cairn_connect(const char *address, const struct cairn_options *options,
			  struct cairn **out, struct reason *why)
{
	struct cairn *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "connection", "%s",
				  status_text(STATUS_NO_MEMORY));
	if (options != NULL)
		self->options = *options;
	if (self->options.timeout_ms == 0)
		self->options.timeout_ms = CAIRN_TIMEOUT_MS;
	connection_init(&self->connection);
	copy_text(self->address, sizeof self->address, wire_text(address));
	enum status status = connection_open(&self->connection, address, self->options.tls_trusted,
					     self->options.timeout_ms, why);
	if (status == STATUS_OK)
		status = client_handshake(self, false, why);
	if (status != STATUS_OK) {
		cairn_close(self);
		return status;
	}
	*out = self;
	return STATUS_OK;
}

/* Ends a resumable session, which the server would otherwise keep for half a minute. */
static void send_goodbye(struct cairn *self)
{
	struct message goodbye;
	message_init(&goodbye, MESSAGE_GOODBYE);
	if (self->token_bytes > 0 && cairn_send(self, &goodbye, NULL) == STATUS_OK &&
	    connection_flush(&self->connection) != STATUS_OK)
		return; /* the connection is lost; the session expires on the server */
}

void cairn_close(struct cairn *self)
{
	if (self == NULL)
		return;
	send_goodbye(self);
	for (uint32_t i = 0; i < self->subscription_count; i++)
		client_subscription_release(&self->subscriptions[i]);
	for (uint32_t i = 0; i < self->unanswered.count; i++)
		bytes_release(&self->unanswered.items[i].frame);
	ARRAY_RELEASE(&self->unanswered);
	heap_free(self->batches);
	connection_release(&self->connection);
	heap_free(self);
}

const struct cairn_session *cairn_session(const struct cairn *self)
{
	return &self->session;
}

int cairn_fd(const struct cairn *self)
{
	return self->connection.transport.fd;
}
