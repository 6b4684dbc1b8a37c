/* See outbox.h. */
#include "server/io/outbox.h"

#include <string.h>

#include "protocol/pack.h"

void outbox_init(struct outbox *self, struct outbox_set *set, struct stream *stream,
		 struct frame_pool *pool)
{
	memset(self, 0, sizeof *self);
	self->set = set;
	self->stream = stream;
	self->pool = pool;
	self->soft_since = INSTANT_NEVER;
	self->frame_max = WIRE_FRAME_DOWN;
}

static void drop_frames(struct outbox *self)
{
	for (uint32_t i = 0; i < self->frames.count; i++)
		frame_release(self->frames.items[i]);
	self->frames.count = 0;
	self->bytes = 0;
}

static void drop_list(struct outbox *self)
{
	while (self->listed < self->list.count)
		frame_release(self->list.items[self->listed++]);
	self->listed = self->list.count = 0;
	self->list_bytes = 0;
}

static void leave_set(struct outbox *self)
{
	struct outbox *before = NULL;
	if (!self->dirty)
		return;
	struct outbox **link = &self->set->dirty;
	while (*link != self) {
		before = *link;
		link = &before->next_dirty;
	}
	*link = self->next_dirty;
	if (self->set->last == self)
		self->set->last = before;
	self->dirty = false;
}

static void leave_roomy(struct outbox *self)
{
	if (!self->roomy)
		return;
	struct outbox **link = &self->set->roomy;
	while (*link != self)
		link = &(*link)->next_roomy;
	*link = self->next_roomy;
	self->roomy = false;
}

void outbox_release(struct outbox *self)
{
	leave_set(self);
	leave_roomy(self);
	drop_frames(self);
	drop_list(self);
	ARRAY_RELEASE(&self->frames);
	ARRAY_RELEASE(&self->list);
	self->stream = NULL;
}

void outbox_detach(struct outbox *self)
{
	leave_set(self);
	leave_roomy(self);
	self->parts_wait = false;
	drop_frames(self);
	drop_list(self);
	self->stream = NULL;
}

void outbox_attach(struct outbox *self, struct stream *stream)
{
	self->stream = stream;
	self->state_bytes = 0;
	self->soft_since = INSTANT_NEVER;
	self->failed = false;
}

void outbox_put(struct outbox *self, struct frame *frame)
{
	if (self->stream == NULL || self->failed ||
	    ARRAY_RESERVE(&self->frames, self->frames.count + 1u) != STATUS_OK) {
		self->failed = self->failed || self->stream != NULL;
		frame_release(frame);
		return;
	}
	self->frames.items[self->frames.count++] = frame;
	self->bytes += frame->bytes;
	if (!self->dirty) {
		self->dirty = true;
		self->next_dirty = NULL;
		if (self->set->last != NULL)
			self->set->last->next_dirty = self;
		else
			self->set->dirty = self;
		self->set->last = self;
	}
	/* One turn may produce hundreds of answers. They are flushed in between, so that the
	 * stream's queue stays within its bound. */
	if (self->bytes > OUTBOX_HARD_BYTES)
		outbox_flush(self);
}

void outbox_put_state(struct outbox *self, struct frame *frame)
{
	if (outbox_idle(self))
		self->state_bytes = 0;
	/* Limited, because otherwise a client that is never idle could queue without bound. */
	uint64_t most = MAX_OF(3 * (uint64_t)OUTBOX_STATE_BYTES, (uint64_t)frame->bytes);
	self->state_bytes = MIN_OF(self->state_bytes + frame->bytes, most);
	outbox_put(self, frame);
}

bool outbox_takes_state(const struct outbox *self)
{
	return outbox_queued(self) <= OUTBOX_STATE_BYTES;
}

bool outbox_keeps_up(const struct outbox *self)
{
	return outbox_queued(self) == self->bytes && outbox_takes_state(self);
}

enum status outbox_pack(struct outbox *self, const struct message *message, struct frame **out)
{
	/* Most answers are small; a long one is packed again into a frame of the largest size. */
	const uint32_t capacity_max = self->frame_max + WIRE_FRAME_HEADER;
	for (uint32_t capacity = 512;; capacity = MIN_OF(capacity * 16, capacity_max)) {
		struct frame *frame;
		enum status status = frame_create(self->pool, capacity, &frame);
		if (status != STATUS_OK)
			return status;
		status = message_pack(message, frame->data, MIN_OF(frame->capacity, capacity_max),
				      &frame->bytes);
		if (status == STATUS_OK) {
			*out = frame;
			return STATUS_OK;
		}
		frame_release(frame);
		if (status != STATUS_FULL || capacity == capacity_max)
			return status;
	}
}

enum status outbox_send(struct outbox *self, const struct message *message)
{
	struct frame *frame;
	enum status status = outbox_pack(self, message, &frame);
	if (status == STATUS_OK)
		outbox_put(self, frame);
	self->failed = self->failed || status == STATUS_NO_MEMORY;
	return status;
}

enum status outbox_send_listed(struct outbox *self, const struct message *message)
{
	struct frame *frame;
	enum status status = ARRAY_RESERVE(&self->list, self->list.count + 1u);
	if (status == STATUS_OK)
		status = outbox_pack(self, message, &frame);
	self->failed = self->failed || status == STATUS_NO_MEMORY;
	if (status != STATUS_OK)
		return status;
	self->list.items[self->list.count++] = frame;
	self->list_bytes += frame->bytes;
	return STATUS_OK;
}

void outbox_list_more(struct outbox *self)
{
	while (outbox_has_list(self) && outbox_takes_state(self)) {
		struct frame *frame = self->list.items[self->listed++];
		self->list_bytes -= frame->bytes;
		outbox_put(self, frame);
	}
	if (outbox_has_list(self))
		self->parts_wait = true;
	else
		drop_list(self);
}

void outbox_flush(struct outbox *self)
{
	uint32_t done = 0;
	while (done < self->frames.count && self->stream != NULL && !self->failed) {
		uint32_t count = MIN_OF(self->frames.count - done, (uint32_t)STREAM_FRAMES_MAX);
		enum status status = stream_write(self->stream, self->frames.items + done, count);
		if (status != STATUS_OK) {
			self->failed = true;
			break;
		}
		for (uint32_t i = 0; i < count; i++)
			self->sent_bytes += self->frames.items[done + i]->bytes;
		self->sent_frames += count;
		done += count;
	}
	drop_frames(self);
}

/* Appends an idle outbox whose owner has more parts to send to the list `roomy`, because a
 * stream that accepted all bytes does not call `drained`. */
static void list_roomy(struct outbox *self)
{
	if (!self->parts_wait || self->roomy || self->on_room == NULL || !outbox_idle(self))
		return;
	self->roomy = true;
	self->next_roomy = self->set->roomy;
	self->set->roomy = self;
}

void outbox_set_resume(struct outbox_set *set)
{
	struct outbox *list = set->roomy;
	/* The callbacks put frames, whose flush may append outboxes to a new list. */
	set->roomy = NULL;
	for (struct outbox *outbox = list; outbox != NULL; outbox = outbox->next_roomy)
		outbox->roomy = false;
	while (list != NULL) {
		struct outbox *next = list->next_roomy;
		list->parts_wait = false;
		list->on_room(list->context);
		list = next;
	}
}

bool outbox_set_flush(struct outbox_set *set)
{
	struct outbox *list = set->dirty;
	set->dirty = set->last = NULL;
	while (list != NULL) {
		struct outbox *next = list->next_dirty;
		if (next != NULL)
			outbox_prefetch_stream(next);
		list->dirty = false;
		outbox_flush(list);
		list_roomy(list);
		list = next;
	}
	return set->roomy != NULL;
}

uint64_t outbox_queued(const struct outbox *self)
{
	return self->bytes + (self->stream != NULL ? stream_queued(self->stream) : 0);
}

enum status outbox_verdict(struct outbox *self, uint64_t now)
{
	uint64_t queued = outbox_queued(self);
	queued -= MIN_OF(queued, self->state_bytes);
	if (self->failed || queued > OUTBOX_HARD_BYTES)
		return STATUS_SLOW;
	if (queued + self->list_bytes <= OUTBOX_SOFT_BYTES) {
		self->soft_since = INSTANT_NEVER;
		return STATUS_OK;
	}
	if (self->soft_since == INSTANT_NEVER)
		self->soft_since = now;
	return now - self->soft_since > OUTBOX_SOFT_MS * (uint64_t)1000000 ? STATUS_SLOW
									   : STATUS_OK;
}
