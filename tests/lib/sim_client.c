/* A client's half: bytes to messages, mirrors, delayed acknowledgements. Messages other than state
 * are kept, so that a script can look for its answer. */
#include "tests/lib/sim_client.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"

enum { BODIES_MAX = 1 << 20 };

struct sim_client_options sim_client_options_default(void)
{
	return (struct sim_client_options){
		.address = SIM_TCP,
		.caps = WIRE_CAPS_ALL,
		.ack_delay_max = 5 * NS_PER_MS,
	};
}

/* ---- sending ------------------------------------------------------------------------------------ */

void sim_send_bytes(struct sim_client *self, const void *bytes, size_t count)
{
	struct frame *frame;
	if (self->stream == NULL)
		return;
	if (frame_create(self->owner->frames, (uint32_t)count, &frame) != STATUS_OK)
		sim_fail("no frame", NULL);
	memcpy(frame->data, bytes, count);
	frame->bytes = (uint32_t)count;
	/* A full queue drops the frame. */
	if (stream_write(self->stream, &frame, 1) != STATUS_OK)
		self->errors++;
	frame_release(frame);
}

void sim_send_content(struct sim_client *self, const void *bytes, size_t count)
{
	uint8_t *framed = sim_memory(heap_alloc(count + WIRE_FRAME_HEADER));
	frame_header_put(framed, (uint32_t)count);
	memcpy(framed + WIRE_FRAME_HEADER, bytes, count);
	sim_send_bytes(self, framed, count + WIRE_FRAME_HEADER);
	heap_free(framed);
}

void sim_send(struct sim_client *self, const struct message *message)
{
	static uint8_t bytes[1 << 20];
	uint32_t count;
	if (message_pack(message, bytes, sizeof bytes, &count) != STATUS_OK)
		sim_fail("a client's message cannot be packed", NULL);
	sim_send_bytes(self, bytes, count);
}

static void arm_acks(struct sim_client *self)
{
	uint64_t at = self->acks.count > 0 ? self->acks.items[0].due : INSTANT_NEVER;
	io_timer_start(self->timer, at);
}

static void send_acks(void *context)
{
	struct sim_client *self = context;
	uint64_t now = io_now(self->io);
	uint32_t sent = 0;
	while (sent < self->acks.count && self->acks.items[sent].due <= now) {
		const struct sim_ack *due = &self->acks.items[sent++];
		struct message ack;
		message_init(&ack, MESSAGE_ACK);
		ack.ack.sub = due->sub;
		ack.ack.epoch = due->epoch;
		ack.ack.tick = due->tick;
		ack.ack.edit = due->edit;
		sim_send(self, &ack);
	}
	self->acks.count -= sent;
	memmove(self->acks.items, self->acks.items + sent,
		self->acks.count * sizeof *self->acks.items);
	arm_acks(self);
}

static void acknowledge(struct sim_client *self, const struct sim_subscription *subscription)
{
	if (self->options.no_acks || !(self->handshake.caps & WIRE_CAP_ACK))
		return;
	uint64_t delay = 0;
	if (self->options.ack_delay_max > 0)
		delay = rng_u64(&self->owner->rng) % self->options.ack_delay_max;
	self->ack_at = MAX_OF(self->ack_at, io_now(self->io) + delay);
	if (ARRAY_RESERVE(&self->acks, self->acks.count + 1u) != STATUS_OK)
		sim_fail("out of memory", NULL);
	self->acks.items[self->acks.count++] =
		(struct sim_ack){ subscription->sub, subscription->mirror.epoch,
				  subscription->mirror.tick, subscription->mirror.edit,
				  self->ack_at };
	arm_acks(self);
}

/* ---- state -------------------------------------------------------------------------------------- */

struct sim_subscription *sim_subscription(struct sim_client *self, uint64_t sub)
{
	for (uint32_t i = 0; i < self->subscription_count; i++)
		if (self->subscriptions[i].sub == sub)
			return &self->subscriptions[i];
	return NULL;
}

static void ask_again(struct sim_client *self, struct sim_subscription *subscription,
		      enum status cause)
{
	struct message resync;
	self->owner->diverged += cause == STATUS_DIVERGED || cause == STATUS_MALFORMED;
	if (subscription->lost)
		return;
	subscription->lost = true;
	self->resyncs++;
	message_init(&resync, MESSAGE_RESYNC);
	resync.resync.sub = subscription->sub;
	sim_send(self, &resync);
}

static void take_state(struct sim_client *self, const struct message *message)
{
	bool rows = message->type == MESSAGE_ROWS, blocks = message->type == MESSAGE_BLOCKS;
	bool last = false;
	/* `sub` is the first field of each of them. */
	struct sim_subscription *subscription = sim_subscription(self, message->snapshot.sub);
	if (subscription == NULL)
		return; /* unsubscribed */
	if (!rows && !blocks)
		subscription->snapshot = message->type == MESSAGE_SNAPSHOT;
	if (subscription->lost && !subscription->snapshot)
		return; /* useless until the SNAPSHOT arrives */
	enum status status = mirror_take(&subscription->mirror, message, &last);
	if (status != STATUS_OK) {
		ask_again(self, subscription, status);
		return;
	}
	if (!last)
		return;
	subscription->lost = false;
	subscription->frames++;
	subscription->snapshots += subscription->snapshot;
	subscription->last_at = io_now(self->io);
	uint64_t flags = rows			  ? message->rows.flags
			 : blocks		  ? message->blocks.flags
			 : subscription->snapshot ? message->snapshot.flags
						  : message->delta.flags;
	subscription->partial = flags & WIRE_FRAME_PARTIAL;
	subscription->focus_frames += subscription->focus_t == 0;
	server_sim_compare(self->owner, subscription);
	acknowledge(self, subscription);
}

static void take_events(struct sim_client *self, const struct msg_events *events)
{
	struct sim_subscription *subscription = sim_subscription(self, events->sub);
	struct wire_cursor in = wire_cursor_list(&events->list);
	struct event event;
	for (uint32_t i = 0; i < events->list.count && subscription != NULL; i++) {
		if (event_take(&in, &event) != STATUS_OK) {
			self->owner->malformed++;
			return;
		}
		subscription->events++;
		subscription->event_kinds |= UINT64_C(1) << event.kind;
	}
}

/* ---- what is kept ------------------------------------------------------------------------------- */

struct sim_result *sim_result(struct sim_client *self, uint32_t world, uint64_t batch)
{
	for (uint32_t i = self->results.count; i-- > 0;)
		if (self->results.items[i].world == world && self->results.items[i].batch == batch)
			return &self->results.items[i];
	return NULL;
}

static void keep_result(struct sim_client *self, uint32_t world, const struct wire_result *from)
{
	struct sim_result *result = sim_result(self, world, from->batch);
	if (result == NULL) {
		if (ARRAY_RESERVE(&self->results, self->results.count + 1u) != STATUS_OK)
			sim_fail("out of memory", NULL);
		result = &self->results.items[self->results.count++];
		memset(result, 0, sizeof *result);
		result->world = world;
		result->batch = from->batch;
	}
	heap_free(result->values);
	result->arrivals++;
	result->tick = from->tick;
	result->edit = from->edit;
	result->code = from->code;
	result->index = from->index;
	result->value_count = from->value_list.count;
	result->values = sim_memory(heap_alloc(from->value_list.count * sizeof *result->values));
	for (uint32_t i = 0; i < result->value_count; i++)
		result->values[i] = result_value(from, i);
	uint32_t bytes = MIN_OF(from->field.bytes, 32u);
	memcpy(result->field, from->field.at, bytes);
	result->field[bytes] = '\0';
}

static void take_results(struct sim_client *self, uint32_t world, const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_result result;
	for (uint32_t i = 0; i < list->count; i++) {
		if (result_take(&in, &result) != STATUS_OK) {
			self->owner->malformed++;
			return;
		}
		keep_result(self, world, &result);
	}
}

static void keep_message(struct sim_client *self, const uint8_t *content, uint32_t bytes)
{
	if (ARRAY_RESERVE(&self->received, self->received.count + 1u) != STATUS_OK)
		sim_fail("out of memory", NULL);
	struct sim_received *received = &self->received.items[self->received.count++];
	struct reason why;
	memset(received, 0, sizeof *received);
	received->at = io_now(self->io);
	if (bytes_append(&received->content, content, bytes) != STATUS_OK ||
	    message_read(received->content.data, bytes, &VALIDATE_DOWN, &received->message, &why) !=
		    STATUS_OK)
		sim_fail("a message reads otherwise the second time", NULL);
}

/* ---- receiving ---------------------------------------------------------------------------------- */

static void answer_ping(struct sim_client *self, uint64_t t)
{
	struct message pong;
	message_init(&pong, MESSAGE_PONG);
	pong.pong.t = t;
	sim_send(self, &pong);
}

static void take_notice(struct sim_client *self, const struct msg_notice *notice)
{
	struct sim_subscription *subscription = sim_subscription(self, notice->sub);
	if (subscription == NULL)
		return;
	subscription->skipped += notice->skipped;
	subscription->events_lost += notice->lost;
	subscription->divisor = (uint32_t)notice->divisor;
}

static void take_welcome(struct sim_client *self, const struct message *message)
{
	const struct msg_welcome *welcome = &message->welcome;
	self->open = handshake_welcome(&self->handshake, message) == STATUS_OK;
	self->session = (uint32_t)welcome->session;
	self->token_bytes = MIN_OF(welcome->resume_token.bytes, (uint32_t)sizeof self->token);
	if (self->token_bytes > 0)
		memcpy(self->token, welcome->resume_token.at, self->token_bytes);
}

static void take_error(struct sim_client *self, const struct msg_error *error)
{
	self->errors++;
	self->refused = self->refused || (error->about == MESSAGE_HELLO);
	/* The subscription continues with what it watched before, which may be either part. */
	struct sim_subscription *refused = sim_subscription(self, error->ref);
	if (error->about == MESSAGE_FOCUS && refused != NULL)
		refused->focus_t = UINT64_MAX;
	if (error->about != MESSAGE_SUBSCRIBE || error->code != STATUS_UNKNOWN_SUBSCRIPTION)
		return;
	for (uint32_t i = self->subscription_count; i-- > 0;) {
		if (self->subscriptions[i].sub != error->ref)
			continue;
		mirror_release(&self->subscriptions[i].mirror);
		self->subscriptions[i] = self->subscriptions[--self->subscription_count];
	}
}

static void take_message(struct sim_client *self, const struct message *message)
{
	switch (message->type) {
	case MESSAGE_WELCOME:
		take_welcome(self, message);
		break;
	case MESSAGE_PONG:
		for (uint32_t i = 0; i < self->subscription_count; i++)
			if (self->subscriptions[i].focus_t == message->pong.t)
				self->subscriptions[i].focus_t =
					self->subscriptions[i].focus_frames = 0;
		break;
	case MESSAGE_SNAPSHOT:
	case MESSAGE_DELTA:
	case MESSAGE_ROWS:
	case MESSAGE_BLOCKS:
		take_state(self, message);
		break;
	case MESSAGE_EVENTS:
		take_events(self, &message->events);
		break;
	case MESSAGE_NOTICE:
		take_notice(self, &message->notice);
		break;
	case MESSAGE_RESULT:
		take_results(self, (uint32_t)message->result.world, &message->result.list);
		break;
	case MESSAGE_DURABLE:
		self->durable_epoch = (uint32_t)message->durable.epoch;
		self->durable_tick = message->durable.tick;
		if (message->durable.world < SIM_WORLDS_MAX)
			self->durable[message->durable.world] =
				(struct sim_durable){ (uint32_t)message->durable.epoch,
						      message->durable.tick,
						      message->durable.edit };
		break;
	case MESSAGE_PING:
		if (!self->options.raw)
			answer_ping(self, message->ping.t);
		break;
	case MESSAGE_GOODBYE:
		self->goodbye = (enum status)message->goodbye.code;
		break;
	case MESSAGE_ERROR:
		take_error(self, &message->error);
		break;
	default:
		break;
	}
}

static bool is_kept(enum message_type type)
{
	return type != MESSAGE_SNAPSHOT && type != MESSAGE_DELTA && type != MESSAGE_ROWS &&
	       type != MESSAGE_BLOCKS && type != MESSAGE_EVENTS && type != MESSAGE_PING &&
	       type != MESSAGE_RESULT && type != MESSAGE_DURABLE;
}

static void take_content(struct sim_client *self, struct wire_slice content)
{
	struct message message;
	struct reason why;
	uint32_t most = self->open ? self->handshake.limits.frame_down : WIRE_FRAME_DOWN;
	if (content.bytes > most ||
	    message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, &why) != STATUS_OK) {
		self->owner->malformed++;
		return;
	}
	take_message(self, &message);
	if (is_kept(message.type))
		keep_message(self, content.at, content.bytes);
}

static size_t on_space(void *context, uint8_t **into)
{
	struct sim_client *self = context;
	if (bytes_reserve(&self->in, 1 << 16) != STATUS_OK)
		sim_fail("out of memory", NULL);
	*into = self->in.data + self->in.count;
	return 1 << 16;
}

static void on_received(void *context, size_t bytes)
{
	struct sim_client *self = context;
	struct wire_slice content;
	size_t taken = 0, frame;
	self->in.count += bytes;
	self->bytes_in += bytes;
	enum status status;
	while ((status = frame_split(self->in.data + taken, self->in.count - taken, WIRE_FRAME_DOWN,
				     &content, &frame)) == STATUS_OK) {
		take_content(self, content);
		taken += frame;
	}
	if (status != STATUS_AGAIN)
		self->owner->malformed++;
	bytes_consume(&self->in, taken);
}

/* The last applied state of every subscription whose mirror is complete. */
static struct wire_list applied_of(const struct sim_client *self, uint8_t packed[1024])
{
	struct wire_packer out = wire_packer_over(packed, 1024);
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->subscription_count; i++) {
		const struct sim_subscription *subscription = &self->subscriptions[i];
		if (!subscription->mirror.complete || subscription->lost)
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

static void greet(struct sim_client *self)
{
	struct message hello;
	uint8_t packed[1024];
	handshake_hello(&self->handshake, &hello);
	if (self->resumes > 0 && !self->refused) {
		hello.hello.resume = (struct wire_slice){ self->token, self->token_bytes };
		hello.hello.applied = applied_of(self, packed);
	}
	if (self->options.role != NULL)
		hello.hello.role = wire_text(self->options.role);
	sim_send(self, &hello);
}

static void on_connected(void *context)
{
	struct sim_client *self = context;
	if (!self->options.raw)
		greet(self);
}

static void on_closed(void *context, enum status why)
{
	struct sim_client *self = context;
	self->stream = NULL;
	self->closed = true;
	self->closed_why = why;
}

static const struct stream_events client_events = {
	.connected = on_connected,
	.space = on_space,
	.received = on_received,
	.closed = on_closed,
};

/* ---- life --------------------------------------------------------------------------------------- */

static void connect_to(struct sim_client *client)
{
	struct address address;
	struct reason why;
	if (address_parse(client->options.address, &address, &why) != STATUS_OK ||
	    io_connect(client->io, &address, &client_events, client, &client->stream) != STATUS_OK)
		sim_fail("a client cannot connect", &why);
}

struct sim_client *server_sim_client(struct server_sim *self,
				     const struct sim_client_options *options)
{
	struct sim_client *client = sim_memory(heap_alloc_zero(sizeof *client));
	struct handshake_offer offer = {
		.token = wire_text(options->token != NULL ? options->token : ""),
		.name = "sim",
		.caps = options->resumes ? options->caps
					 : options->caps & ~(uint32_t)WIRE_CAP_RESUME,
		.limits = { WIRE_FRAME_UP, options->frame_down },
	};
	ASSERT(self->client_count < SERVER_SIM_CLIENTS_MAX);
	client->owner = self;
	client->index = self->client_count;
	client->options = *options;
	client->io = io_sim_host(self->sim, self->client_count + 1);
	handshake_init(&client->handshake, &offer);
	self->clients[self->client_count++] = client;
	if (io_timer_create(client->io, send_acks, client, &client->timer) != STATUS_OK)
		sim_fail("a client has no timer", NULL);
	connect_to(client);
	return client;
}

/* The abandoned stream gets a dummy client, because its last callbacks still come. */
static void leave_stream(struct sim_client *self)
{
	struct server_sim *owner = self->owner;
	if (self->stream == NULL)
		return;
	struct sim_client *ghost = sim_memory(heap_alloc_zero(sizeof *ghost));
	if (ARRAY_RESERVE(&owner->ghosts, owner->ghosts.count + 1u) != STATUS_OK)
		sim_fail("out of memory", NULL);
	owner->ghosts.items[owner->ghosts.count++] = ghost;
	ghost->owner = owner;
	ghost->io = self->io;
	ghost->options.raw = ghost->options.no_acks = true;
	ghost->stream = self->stream;
	ghost->in = self->in;
	self->in = (struct bytes){ 0 };
	self->stream->context = ghost;
	self->stream = NULL;
}

void sim_resume(struct sim_client *self)
{
	struct handshake_offer offer = self->handshake.offer;
	leave_stream(self);
	handshake_init(&self->handshake, &offer);
	self->in.count = 0;
	self->acks.count = 0;
	self->open = self->closed = self->refused = false;
	self->goodbye = STATUS_OK;
	self->resumes++;
	/* RESYNC may have been lost with the connection. */
	for (uint32_t i = 0; i < self->subscription_count; i++) {
		self->subscriptions[i].lost = !self->subscriptions[i].mirror.complete;
		/* A FOCUS may have been lost too: until the next one it is unknown which part is
		 * shown. */
		self->subscriptions[i].focus_t = self->subscriptions[i].part ? UINT64_MAX : 0;
	}
	connect_to(self);
}

static bool is_let_in(void *context)
{
	const struct sim_client *client = context;
	return client->open || client->closed || client->refused;
}

bool sim_resumed(struct sim_client *self)
{
	sim_resume(self);
	return server_sim_until(self->owner, is_let_in, self, 10 * NS_PER_S) && self->open;
}

static bool is_open(void *context)
{
	const struct sim_client *client = context;
	return client->open || client->closed;
}

struct sim_client *server_sim_guest(struct server_sim *self,
				    const struct sim_client_options *options)
{
	struct sim_client *client = server_sim_client(self, options);
	if (!server_sim_until(self, is_open, client, 10 * NS_PER_S) || !client->open)
		sim_fail("a client is not let in", NULL);
	return client;
}

void sim_disconnect(struct sim_client *self)
{
	if (self->stream != NULL)
		stream_close(self->stream);
}

void sim_vanish(struct sim_client *self)
{
	if (self->stream != NULL)
		io_sim_vanish(self->stream);
}

void sim_stall(struct sim_client *self, bool stalled)
{
	if (self->stream != NULL)
		io_sim_stall(self->stream, stalled);
}

void sim_client_release(struct sim_client *self)
{
	/* The dummy client of an abandoned connection has no timer. */
	if (self->timer != NULL)
		io_timer_destroy(self->timer);
	for (uint32_t i = 0; i < self->received.count; i++)
		bytes_release(&self->received.items[i].content);
	ARRAY_RELEASE(&self->received);
	for (uint32_t i = 0; i < self->results.count; i++)
		heap_free(self->results.items[i].values);
	ARRAY_RELEASE(&self->results);
	for (uint32_t i = 0; i < self->subscription_count; i++)
		mirror_release(&self->subscriptions[i].mirror);
	ARRAY_RELEASE(&self->acks);
	bytes_release(&self->in);
}

/* A new entry of the list, and the message that subscribes. */
static struct sim_subscription *add_subscription(struct sim_client *self, struct message *ask,
						 uint64_t sub, uint32_t world, wire_mask fields,
						 enum wire_profile profile, uint64_t events)
{
	ASSERT(self->subscription_count < SIM_SUBSCRIPTIONS_MAX);
	struct sim_subscription *subscription = &self->subscriptions[self->subscription_count++];
	memset(subscription, 0, sizeof *subscription);
	subscription->sub = sub;
	subscription->world = world;
	mirror_init(&subscription->mirror, profile, fields, BODIES_MAX);
	mirror_watch_joints(&subscription->mirror, self->options.joints, BODIES_MAX);
	mirror_watch_particles(&subscription->mirror, self->options.particles, BODIES_MAX);
	subscription->sample = MAX_OF(self->options.sample, 1u);
	message_init(ask, MESSAGE_SUBSCRIBE);
	ask->subscribe.sub = sub;
	ask->subscribe.world = world;
	ask->subscribe.fields = fields;
	ask->subscribe.joints = self->options.joints;
	ask->subscribe.particles = self->options.particles;
	ask->subscribe.sample = subscription->sample;
	ask->subscribe.profile = profile;
	ask->subscribe.events = events;
	return subscription;
}

struct sim_subscription *sim_subscribe(struct sim_client *self, uint64_t sub, uint32_t world,
				       wire_mask fields, enum wire_profile profile,
				       uint32_t divisor, uint64_t events)
{
	struct message ask;
	struct sim_subscription *subscription =
		add_subscription(self, &ask, sub, world, fields, profile, events);
	ask.subscribe.divisor = divisor;
	sim_send(self, &ask);
	return subscription;
}

/* Stores what is watched in the subscription, and packs it. */
static void watch(struct sim_subscription *subscription, const struct wire_area *areas,
		  uint32_t area_count, const uint32_t *follow, uint32_t follow_count,
		  uint8_t packed[4096], struct wire_list *area_list, struct wire_list *follow_list)
{
	struct wire_packer out = wire_packer_over(packed, 4096);
	struct wire_area as_taken[WIRE_AREAS_MAX];
	uint32_t count;
	for (uint32_t i = 0; i < area_count; i++)
		wire_area_pack(&out, &areas[i]);
	*area_list = (struct wire_list){ packed, out.bytes, area_count };
	/* As the server stores them: rotations are normalised. */
	if (wire_areas_take(area_list, as_taken, &count, NULL) != STATUS_OK)
		sim_fail("an area is none", NULL);
	memcpy(subscription->areas, as_taken, area_count * sizeof *areas);
	subscription->area_count = area_count;
	uint32_t from = out.bytes;
	for (uint32_t i = 0; i < follow_count; i++) {
		subscription->follow[i] = follow[i];
		wire_pack_uint(&out, follow[i]);
	}
	subscription->follow_count = follow_count;
	*follow_list = (struct wire_list){ packed + from, out.bytes - from, follow_count };
}

struct sim_subscription *sim_subscribe_part(struct sim_client *self, uint64_t sub, uint32_t world,
					    wire_mask fields, enum wire_profile profile,
					    uint64_t events, uint64_t budget,
					    const struct wire_area *areas, uint32_t area_count,
					    const uint32_t *follow, uint32_t follow_count)
{
	uint8_t packed[4096];
	struct message ask;
	struct sim_subscription *subscription =
		add_subscription(self, &ask, sub, world, fields, profile, events);
	subscription->part = true;
	subscription->focus_frames = 2;
	watch(subscription, areas, area_count, follow, follow_count, packed, &ask.subscribe.areas,
	      &ask.subscribe.follow);
	ask.subscribe.budget = budget;
	sim_send(self, &ask);
	return subscription;
}

void sim_focus(struct sim_client *self, struct sim_subscription *subscription,
	       const struct wire_area *areas, uint32_t area_count, const uint32_t *follow,
	       uint32_t follow_count)
{
	uint8_t packed[4096];
	struct message focus, ping;
	message_init(&focus, MESSAGE_FOCUS);
	focus.focus.sub = subscription->sub;
	watch(subscription, areas, area_count, follow, follow_count, packed, &focus.focus.areas,
	      &focus.focus.follow);
	sim_send(self, &focus);
	message_init(&ping, MESSAGE_PING);
	ping.ping.t = subscription->focus_t = sim_ref(self);
	sim_send(self, &ping);
}
