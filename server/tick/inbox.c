/* See inbox.h. Each entry is inserted at its sorted place: arrivals are nearly in order, so the place is
 * nearly always the end, and a duplicate is found at once. Two arrays are swapped at each take, so the
 * worker reads one while the loop thread fills the other. They double up to the limit as needed: a
 * thousand idle worlds take no memory. */
#include "server/tick/inbox.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/io/lock.h"

enum { CAPACITY_FIRST = 16 };

struct entry_array {
	struct inbox_entry *entries;
	uint32_t capacity;
};

struct inbox {
	struct lock lock;
	struct inbox_limits limits;
	struct inbox_counters counters; /* entries and bytes are those of `waiting` */
	struct entry_array waiting;
	struct entry_array taken; /* read by the worker until the next take */
};

enum status inbox_create(const struct inbox_limits *limits, struct inbox **out)
{
	ASSERT(limits->entries > 0);
	struct inbox *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->limits = *limits;
	lock_init(&self->lock);
	*out = self;
	return STATUS_OK;
}

void inbox_destroy(struct inbox *inbox, inbox_drop *drop, void *context)
{
	for (uint32_t i = 0; drop != NULL && i < inbox->counters.entries; i++)
		drop(inbox->waiting.entries[i].payload, context);
	lock_release(&inbox->lock);
	heap_free(inbox->waiting.entries);
	heap_free(inbox->taken.entries);
	heap_free(inbox);
}

/* −1, 0, 1: the total order of entries. */
static int compare(const struct inbox_entry *entry, uint64_t session, uint64_t batch)
{
	if (entry->session != session)
		return entry->session < session ? -1 : 1;
	return entry->batch == batch ? 0 : entry->batch < batch ? -1 : 1;
}

/* The first index whose entry is not before (session, batch). Compares with the last entry first. */
static uint32_t place_of(const struct inbox *inbox, uint64_t session, uint64_t batch)
{
	const struct inbox_entry *entries = inbox->waiting.entries;
	uint32_t low = 0, high = inbox->counters.entries;
	if (high > 0 && compare(&entries[high - 1], session, batch) < 0)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare(&entries[middle], session, batch) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Grows the array for one more entry. */
static enum status make_room(struct inbox *inbox)
{
	struct entry_array *array = &inbox->waiting;
	if (inbox->counters.entries < array->capacity)
		return STATUS_OK;
	uint32_t capacity = array->capacity > 0 ? array->capacity * 2 : CAPACITY_FIRST;
	capacity = MIN_OF(capacity, inbox->limits.entries);
	void *entries = heap_realloc(array->entries, capacity * sizeof *array->entries);
	if (entries == NULL)
		return STATUS_NO_MEMORY;
	*array = (struct entry_array){ entries, capacity };
	return STATUS_OK;
}

static enum status insert_entry(struct inbox *inbox, const struct inbox_entry *entry)
{
	struct inbox_counters *counters = &inbox->counters;
	uint32_t place = place_of(inbox, entry->session, entry->batch);
	if (place < counters->entries &&
	    compare(&inbox->waiting.entries[place], entry->session, entry->batch) == 0)
		return STATUS_SEQUENCE;
	if (counters->entries == inbox->limits.entries ||
	    entry->bytes > inbox->limits.bytes - counters->bytes) {
		counters->refused++;
		return STATUS_BUSY;
	}
	enum status status = make_room(inbox);
	if (status != STATUS_OK)
		return status;
	struct inbox_entry *here = &inbox->waiting.entries[place];
	memmove(here + 1, here, (counters->entries - place) * sizeof *here);
	*here = *entry;
	counters->entries++;
	counters->bytes += entry->bytes;
	counters->accepted++;
	return STATUS_OK;
}

enum status inbox_put(struct inbox *inbox, uint64_t session, uint64_t batch, void *payload,
		      uint32_t bytes)
{
	struct inbox_entry entry = { session, batch, payload, bytes };
	lock_take(&inbox->lock);
	enum status status = insert_entry(inbox, &entry);
	lock_give(&inbox->lock);
	return status;
}

bool inbox_has(struct inbox *inbox, uint64_t session)
{
	lock_take(&inbox->lock);
	uint32_t place = place_of(inbox, session, 0);
	bool has =
		place < inbox->counters.entries && inbox->waiting.entries[place].session == session;
	lock_give(&inbox->lock);
	return has;
}

const struct inbox_entry *inbox_take(struct inbox *inbox, uint32_t *count)
{
	lock_take(&inbox->lock);
	struct entry_array filled = inbox->waiting;
	*count = inbox->counters.entries;
	inbox->waiting = inbox->taken;
	inbox->taken = filled;
	inbox->counters.entries = 0;
	inbox->counters.bytes = 0;
	lock_give(&inbox->lock);
	return *count > 0 ? filled.entries : NULL;
}

void inbox_counters(struct inbox *inbox, struct inbox_counters *out)
{
	lock_take(&inbox->lock);
	*out = inbox->counters;
	lock_give(&inbox->lock);
}
