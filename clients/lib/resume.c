/* resume.c: resuming a session after its connection has been lost.
 *
 * A new connection greets the server with the resume token and the states that the mirrors have.
 * Then the last FOCUS of each subscription and all batches without a result are sent again, under
 * their old numbers, so that the server can ignore those it has already received.
 */
#include <string.h>

#include "clients/lib/client.h"
#include "protocol/frame.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"

void client_subscription_release(struct client_subscription *subscription)
{
	mirror_release(&subscription->mirror);
	bytes_release(&subscription->focus);
}

/* ---- messages to send again ---------------------------------------------------------------------- */

void client_store_batch(struct cairn *self, const struct message *commands)
{
	struct unanswered stored = {
		.world = (uint32_t)commands->commands.world,
		.batch = commands->commands.batch,
	};
	uint32_t bytes = 0;
	size_t room = (size_t)commands->commands.list.bytes + 64;
	if (!self->options.resumes || self->unanswered.count == CLIENT_UNANSWERED_MAX)
		return;
	if (ARRAY_RESERVE(&self->unanswered, self->unanswered.count + 1u) != STATUS_OK ||
	    bytes_reserve(&stored.frame, room) != STATUS_OK ||
	    message_pack(commands, stored.frame.data, (uint32_t)room, &bytes) != STATUS_OK) {
		bytes_release(&stored.frame);
		return;
	}
	stored.frame.count = bytes;
	self->unanswered.items[self->unanswered.count++] = stored;
}

void client_forget_batch(struct cairn *self, uint32_t world, uint64_t batch)
{
	for (uint32_t i = 0; i < self->unanswered.count; i++) {
		struct unanswered *stored = &self->unanswered.items[i];
		if (stored->world != world || stored->batch != batch)
			continue;
		bytes_release(&stored->frame);
		self->unanswered.count--;
		memmove(stored, stored + 1, (self->unanswered.count - i) * sizeof *stored);
		return;
	}
}

/* Unpacks a stored frame and sends it as a message, because the transport packs messages itself. */
static enum status resend_frame(struct cairn *self, const struct bytes *frame, struct reason *why)
{
	struct message message;
	enum status status = message_read(frame->data + WIRE_FRAME_HEADER,
					  (uint32_t)frame->count - WIRE_FRAME_HEADER, &VALIDATE_UP,
					  &message, why);
	return status == STATUS_OK ? cairn_send(self, &message, why) : status;
}

static enum status resend_all(struct cairn *self, struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->subscription_count && status == STATUS_OK; i++)
		if (self->subscriptions[i].focus.count > 0)
			status = resend_frame(self, &self->subscriptions[i].focus, why);
	for (uint32_t i = 0; i < self->unanswered.count && status == STATUS_OK; i++)
		status = resend_frame(self, &self->unanswered.items[i].frame, why);
	return status;
}

/* ---- resuming ------------------------------------------------------------------------------------ */

uint32_t cairn_retry_ms(const struct cairn *self)
{
	return self->retry_ms;
}

enum status cairn_resume(struct cairn *self, struct reason *why)
{
	const char *address = self->redirect[0] != '\0' ? self->redirect : self->address;
	if (self->token_bytes == 0)
		return reason_set(
			why, STATUS_EXPIRED, -1, "resume",
			"the session has no resume token; connect again with `resumes` set");
	connection_release(&self->connection);
	connection_init(&self->connection);
	self->expected = (struct expected){ 0 };
	self->waiting.batch = 0;
	enum status status = connection_open(&self->connection, address, self->options.tls_trusted,
					     self->options.timeout_ms, why);
	if (status == STATUS_OK)
		status = client_handshake(self, true, why);
	if (status == STATUS_OK)
		status = resend_all(self, why);
	if (status == STATUS_EXPIRED)
		self->token_bytes = 0;
	return status;
}
