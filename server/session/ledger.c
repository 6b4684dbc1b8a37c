/* See ledger.h. The entry of a batch is its number modulo WIRE_RESULTS_KEPT: a new batch overwrites the
 * oldest. */
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

static enum status reserve_entries(struct ledger *self)
{
	if (self->entries == NULL)
		self->entries = heap_alloc_zero(WIRE_RESULTS_KEPT * sizeof *self->entries);
	return self->entries != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum ledger_verdict answer_repeat(struct ledger *self, uint64_t batch,
					 struct wire_slice *packed, struct reason *why)
{
	struct ledger_entry *entry = entry_of(self, batch);
	if (entry->batch != batch) {
		reason_set(why, STATUS_EXPIRED, -1, "batch",
			   "batch %llu is too old: only the last %d results are stored",
			   (unsigned long long)batch, WIRE_RESULTS_KEPT);
		return LEDGER_REFUSED;
	}
	if (!entry->answered)
		return LEDGER_WAITING;
	*packed = (struct wire_slice){ entry->packed.data, (uint32_t)entry->packed.count };
	return LEDGER_REPEATED;
}

enum ledger_verdict ledger_offer(struct ledger *self, uint64_t batch, bool dated, uint64_t at,
				 struct wire_slice *packed, struct reason *why)
{
	if (reserve_entries(self) != STATUS_OK) {
		reason_set(why, STATUS_NO_MEMORY, -1, "batch", "%s", status_text(STATUS_NO_MEMORY));
		return LEDGER_REFUSED;
	}
	if (batch != 0 && batch <= self->last)
		return answer_repeat(self, batch, packed, why);
	if (batch != self->last + 1 && !(self->gaps && batch > self->last)) {
		reason_set(why, STATUS_SEQUENCE, -1, "batch",
			   "batch %llu is out of order: the next number is %llu",
			   (unsigned long long)batch, (unsigned long long)self->last + 1);
		return LEDGER_REFUSED;
	}
	if (dated && at < self->last_at) {
		reason_set(why, STATUS_SEQUENCE, -1, "at",
			   "tick %llu is too early: an earlier batch is dated for tick %llu",
			   (unsigned long long)at, (unsigned long long)self->last_at);
		return LEDGER_REFUSED;
	}
	self->last = batch;
	self->last_at = dated ? at : self->last_at;
	struct ledger_entry *entry = entry_of(self, batch);
	entry->batch = batch;
	entry->answered = false;
	entry->packed.count = 0;
	return LEDGER_NEW;
}

static void store_result(struct ledger *self, uint64_t batch, const uint8_t *packed, uint32_t bytes)
{
	struct ledger_entry *entry = self->entries != NULL ? entry_of(self, batch) : NULL;
	if (entry == NULL || entry->batch != batch)
		return;
	entry->packed.count = 0;
	if (entry->packed.capacity < bytes)
		bytes_release(&entry->packed);
	entry->answered = true;
	if (bytes_append(&entry->packed, packed, bytes) != STATUS_OK)
		*entry = (struct ledger_entry){ 0 };
}

struct wire_slice ledger_answer(struct ledger *self, const struct wire_result *result,
				uint8_t packed[LEDGER_RESULT_BYTES])
{
	/* Five small integers, two short texts, and five bytes a value at most. */
	struct wire_packer packer = wire_packer_over(packed, LEDGER_RESULT_BYTES);
	result_pack(&packer, result);
	ASSERT(wire_packer_status(&packer) == STATUS_OK);
	store_result(self, result->batch, packed, packer.bytes);
	return (struct wire_slice){ packed, packer.bytes };
}

void ledger_accept_gaps(struct ledger *self)
{
	self->gaps = true;
}

void ledger_saw(struct ledger *self, uint64_t batch)
{
	self->last = MAX_OF(self->last, batch);
}

enum status ledger_restore(struct ledger *self, const struct wire_result *result)
{
	uint8_t packed[LEDGER_RESULT_BYTES];
	ledger_saw(self, result->batch);
	if (result->code == STATUS_WAITING)
		self->last_at = MAX_OF(self->last_at, result->tick);
	if (result->batch + WIRE_RESULTS_KEPT <= self->last)
		return STATUS_OK; /* it would be too old */
	if (reserve_entries(self) != STATUS_OK)
		return STATUS_NO_MEMORY;
	entry_of(self, result->batch)->batch = result->batch;
	(void)ledger_answer(self, result, packed);
	return STATUS_OK;
}

void ledger_start_epoch(struct ledger *self)
{
	self->last_at = 0;
}
