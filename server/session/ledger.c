#include "server/session/ledger.h"

#include "server/base/heap.h"

void ledger_release(struct ledger *self)
{
	for (uint32_t i = 0; self->entries != NULL && i < WIRE_RESULTS_KEPT; i++)
		bytes_release(&self->entries[i].packed);
	heap_free(self->entries);
	self->entries = NULL;
}

static struct ledger_entry *entry_of(struct ledger *self, uint64_t batch)
{
	return &self->entries[batch % WIRE_RESULTS_KEPT];
}

static enum ledger_verdict offer_old(struct ledger *self, uint64_t batch,
				     struct wire_slice *packed, struct reason *why)
{
	struct ledger_entry *entry = entry_of(self, batch);
	if (entry->batch != batch) {
		reason_set(why, STATUS_EXPIRED, -1, "batch", "only the last %d results are kept",
			   WIRE_RESULTS_KEPT);
		return LEDGER_REFUSED;
	}
	if (!entry->answered)
		return LEDGER_WAITING;
	*packed = (struct wire_slice){ entry->packed.data, (uint32_t)entry->packed.count };
	return LEDGER_REPEATED;
}

enum ledger_verdict ledger_offer(struct ledger *self, uint64_t batch, uint64_t at,
				 struct wire_slice *packed, struct reason *why)
{
	if (self->entries == NULL) {
		self->entries = heap_alloc_zero(WIRE_RESULTS_KEPT * sizeof *self->entries);
		if (self->entries == NULL) {
			reason_set(why, STATUS_NO_MEMORY, -1, "batch", "%s",
				   status_text(STATUS_NO_MEMORY));
			return LEDGER_REFUSED;
		}
	}
	if (batch != 0 && batch <= self->last)
		return offer_old(self, batch, packed, why);
	if (batch != self->last + 1) {
		reason_set(why, STATUS_SEQUENCE, -1, "batch", "the next batch is number %llu",
			   (unsigned long long)self->last + 1);
		return LEDGER_REFUSED;
	}
	if (at != 0 && at < self->last_at) {
		reason_set(why, STATUS_SEQUENCE, -1, "at",
			   "an earlier batch was for tick %llu already",
			   (unsigned long long)self->last_at);
		return LEDGER_REFUSED;
	}
	self->last = batch;
	self->last_at = at != 0 ? at : self->last_at;
	struct ledger_entry *entry = entry_of(self, batch);
	entry->batch = batch;
	entry->answered = false;
	entry->packed.count = 0;
	return LEDGER_NEW;
}

struct wire_slice ledger_answer(struct ledger *self, const struct wire_result *result)
{
	struct wire_slice none = { NULL, 0 };
	if (self->entries == NULL)
		return none;
	struct ledger_entry *entry = entry_of(self, result->batch);
	/* Five small integers, two short texts, and five bytes a value at most. */
	uint32_t room = 512 + 5 * result->value_count;
	entry->packed.count = 0;
	if (entry->batch != result->batch || bytes_reserve(&entry->packed, room) != STATUS_OK)
		return none;
	struct wire_packer packer = wire_packer_over(entry->packed.data, room);
	result_pack(&packer, result);
	if (wire_packer_status(&packer) != STATUS_OK)
		return none;
	entry->packed.count = packer.bytes;
	entry->answered = true;
	return (struct wire_slice){ entry->packed.data, packer.bytes };
}
