/* resume.c: taking a session up again after its connection has been lost. */
#include <string.h>

#include "clients/lib/client.h"
#include "protocol/frame.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"

void client_release_watched(struct watched *watched)
{
	mirror_release(&watched->mirror);
	bytes_release(&watched->focus);
}

/* ---- what has to be said again ------------------------------------------------------------------- */

void client_keep(struct cairn *self, const struct message *commands)
{
	struct unanswered kept = {
		.world = (uint32_t)commands->commands.world,
		.batch = commands->commands.batch,
	};
	uint32_t bytes = 0;
	size_t room = (size_t)commands->commands.list.bytes + 64;
	if (!self->options.resumes || self->unanswered.count == CLIENT_UNANSWERED_MAX)
		return;
	if (ARRAY_RESERVE(&self->unanswered, self->unanswered.count + 1u) != STATUS_OK ||
	    bytes_reserve(&kept.frame, room) != STATUS_OK ||
	    message_pack(commands, kept.frame.data, (uint32_t)room, &bytes) != STATUS_OK) {
		bytes_release(&kept.frame);
		return;
	}
	kept.frame.count = bytes;
	self->unanswered.items[self->unanswered.count++] = kept;
}

void client_answered(struct cairn *self, uint32_t world, uint64_t batch)
{
	for (uint32_t i = 0; i < self->unanswered.count; i++) {
		struct unanswered *kept = &self->unanswered.items[i];
		if (kept->world != world || kept->batch != batch)
			continue;
		bytes_release(&kept->frame);
		self->unanswered.count--;
		memmove(kept, kept + 1, (self->unanswered.count - i) * sizeof *kept);
		return;
	}
}

/* A frame that was packed before, as a message again: the transport wraps messages. */
static enum status say_again(struct cairn *self, const struct bytes *frame, struct reason *why)
{
	struct message message;
	enum status status = message_read(frame->data + WIRE_FRAME_HEADER,
					  (uint32_t)frame->count - WIRE_FRAME_HEADER, &VALIDATE_UP,
					  &message, why);
	return status == STATUS_OK ? cairn_send(self, &message, why) : status;
}

static enum status say_all_again(struct cairn *self, struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->watched_count && status == STATUS_OK; i++)
		if (self->watched[i].focus.count > 0)
			status = say_again(self, &self->watched[i].focus, why);
	for (uint32_t i = 0; i < self->unanswered.count && status == STATUS_OK; i++)
		status = say_again(self, &self->unanswered.items[i].frame, why);
	return status;
}

/* ---- coming back --------------------------------------------------------------------------------- */

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
			"the server gave no resume token; connect anew with `resumes` set");
	connection_release(&self->connection);
	connection_init(&self->connection);
	self->expected = (struct expected){ 0 };
	self->waiting.batch = 0;
	enum status status = connection_open(&self->connection, address, self->options.tls_trusted,
					     self->options.timeout_ms, why);
	if (status == STATUS_OK)
		status = client_greet(self, true, why);
	if (status == STATUS_OK)
		status = say_all_again(self, why);
	if (status == STATUS_EXPIRED)
		self->token_bytes = 0;
	return status;
}
