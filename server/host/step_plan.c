/* See step_plan.h. */
#include "server/host/step_plan.h"

#include <stdatomic.h>

#include "server/base/heap.h"

static enum status check_values(const struct step_plan *self, const struct wire_slice *values,
				struct reason *why)
{
	uint64_t wanted = (uint64_t)self->actions.places.count * self->worlds * self->steps;
	if (values->bytes == 8 * wanted)
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, -1, "values",
		"values has %u bytes, but %u worlds of %u steps with %u numbers each take %llu",
		(unsigned)values->bytes, (unsigned)self->worlds, (unsigned)self->steps,
		(unsigned)self->actions.places.count, (unsigned long long)(8 * wanted));
}

static enum status copy_values(struct step_plan *self, const struct wire_slice *values,
			       struct reason *why)
{
	self->values = heap_alloc(MAX_OF(values->bytes, 1u));
	if (self->values == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "values", "%s",
				  status_text(STATUS_NO_MEMORY));
	if (values->bytes > 0)
		memcpy(self->values, values->at, values->bytes);
	return STATUS_OK;
}

enum status step_plan_create(const struct msg_step_worlds *message, struct step_plan **out,
			     struct reason *why)
{
	struct step_plan *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "worlds", "%s",
				  status_text(STATUS_NO_MEMORY));
	atomic_init(&self->refs, 1);
	self->worlds = message->worlds.count;
	self->steps = (uint32_t)message->steps;
	self->hash = message->hash != 0;
	enum status status = actions_take(&message->actions, &self->actions, why);
	if (status == STATUS_OK)
		status = observe_take(&message->observe, &self->observe, why);
	if (status == STATUS_OK)
		status = check_values(self, &message->values, why);
	if (status == STATUS_OK)
		status = copy_values(self, &message->values, why);
	if (status != STATUS_OK) {
		step_plan_release(self);
		return status;
	}
	*out = self;
	return STATUS_OK;
}

struct step_plan *step_plan_retain(struct step_plan *self)
{
	if (self != NULL)
		atomic_fetch_add_explicit(&self->refs, 1, memory_order_relaxed);
	return self;
}

void step_plan_release(struct step_plan *self)
{
	if (self == NULL || atomic_fetch_sub_explicit(&self->refs, 1, memory_order_acq_rel) != 1)
		return;
	actions_release(&self->actions);
	observe_release(&self->observe);
	heap_free(self->values);
	heap_free(self);
}
