/* See keyframes.h. Entries are sorted by (epoch, tick); an entry without an image has only the bounds of its
 * span. */
#include "server/store/keyframes.h"

#include <string.h>

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/io/lock.h"
#include "server/store/image.h"

enum entry_state { ENTRY_BOUNDS, ENTRY_RAW, ENTRY_PACKING, ENTRY_PACKED };

struct key_entry {
	struct recorded_place place;
	uint64_t from; /* its span: the ticks after it, up to place.tick */
	enum entry_state state;
	struct bytes image; /* raw or packed */
	uint64_t image_bytes, image_hash;
	struct keyframe_bounds_list bounds;
	bool bounded; /* the bounds are complete */
};

struct keyframes {
	struct keyframe_policy policy;
	struct lock lock; /* guards the rest */
	uint32_t references, spacing;
	ARRAY_OF(struct key_entry) entries;
	uint64_t bytes, refused;
	uint32_t raw, images;
};

void keyframe_quantities(const struct body_view *body, double out[KEYFRAME_QUANTITIES])
{
	out[0] = body->position.x;
	out[1] = body->position.y;
	out[2] = body->position.z;
	out[3] = vec3_length(body->velocity);
	out[4] = vec3_length(body->angular_velocity);
}

/* ---- life -------------------------------------------------------------------------------------- */

enum status keyframes_create(const struct keyframe_policy *policy, struct keyframes **out)
{
	struct keyframes *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->policy = *policy;
	self->references = 1;
	self->spacing = policy->bytes > 0 ? MAX_OF(policy->spacing, 1u) : 0;
	lock_init(&self->lock);
	*out = self;
	return STATUS_OK;
}

struct keyframes *keyframes_retain(struct keyframes *self)
{
	lock_take(&self->lock);
	self->references++;
	lock_give(&self->lock);
	return self;
}

static void release_entry(struct keyframes *self, struct key_entry *entry)
{
	self->bytes -= entry->image.count + entry->bounds.count * sizeof *entry->bounds.items;
	self->raw -= entry->state == ENTRY_RAW || entry->state == ENTRY_PACKING;
	self->images -= entry->state != ENTRY_BOUNDS;
	bytes_release(&entry->image);
	ARRAY_RELEASE(&entry->bounds);
}

void keyframes_release(struct keyframes *self)
{
	if (self == NULL)
		return;
	lock_take(&self->lock);
	bool last = --self->references == 0;
	lock_give(&self->lock);
	if (!last)
		return;
	for (uint32_t i = 0; i < self->entries.count; i++)
		release_entry(self, &self->entries.items[i]);
	ARRAY_RELEASE(&self->entries);
	lock_release(&self->lock);
	heap_free(self);
}

uint32_t keyframes_spacing(struct keyframes *self)
{
	lock_take(&self->lock);
	uint32_t spacing = self->spacing;
	lock_give(&self->lock);
	return spacing;
}

struct keyframe_figures keyframes_figures(struct keyframes *self)
{
	lock_take(&self->lock);
	struct keyframe_figures figures = { self->bytes, self->images, self->spacing,
					    self->refused };
	lock_give(&self->lock);
	return figures;
}

/* ---- the list ---------------------------------------------------------------------------------- */

static int compare_places(struct recorded_place a, struct recorded_place b)
{
	if (a.epoch != b.epoch)
		return a.epoch < b.epoch ? -1 : 1;
	return a.tick < b.tick ? -1 : a.tick > b.tick;
}

/* The number of entries at or before `place`. */
static uint32_t count_until(const struct keyframes *self, struct recorded_place place)
{
	uint32_t low = 0, high = self->entries.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_places(self->entries.items[middle].place, place) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Widens `into` to contain `more`; both ascend. Without memory the span is unbounded. */
static bool merge_bounds(struct keyframe_bounds_list *into, const struct keyframe_bounds_list *more)
{
	struct keyframe_bounds_list both = { 0 };
	uint32_t i = 0, k = 0;
	if (ARRAY_RESERVE(&both, (uint64_t)into->count + more->count) != STATUS_OK)
		return false;
	while (i < into->count || k < more->count) {
		bool first = k == more->count ||
			     (i < into->count && into->items[i].body <= more->items[k].body);
		bool second = i == into->count ||
			      (k < more->count && more->items[k].body <= into->items[i].body);
		struct keyframe_bounds bounds = first ? into->items[i] : more->items[k];
		for (uint32_t q = 0; first && second && q < KEYFRAME_QUANTITIES; q++) {
			bounds.low[q] = MIN_OF(bounds.low[q], more->items[k].low[q]);
			bounds.high[q] = MAX_OF(bounds.high[q], more->items[k].high[q]);
		}
		both.items[both.count++] = bounds;
		i += first;
		k += second;
	}
	ARRAY_RELEASE(into);
	*into = both;
	return true;
}

/* Gives the span of `entry` to the next entry, which follows it without a gap, or forgets it. */
static void pass_span_on(struct keyframes *self, struct key_entry *entry, struct key_entry *next)
{
	if (next == NULL || next->place.epoch != entry->place.epoch ||
	    next->from != entry->place.tick)
		return;
	uint64_t before = next->bounds.count;
	next->bounded =
		next->bounded && entry->bounded && merge_bounds(&next->bounds, &entry->bounds);
	self->bytes += (next->bounds.count - before) * sizeof *next->bounds.items;
	next->from = entry->from;
}

/* Doubles the spacing and drops the keyframes that are nearer than that to the one kept before. */
static void widen_spacing(struct keyframes *self)
{
	uint32_t stored = 0, count = self->entries.count;
	self->spacing = self->spacing < UINT32_MAX / 2 ? 2 * self->spacing : self->spacing;
	const struct key_entry *kept = NULL;
	for (uint32_t i = 0; i < count; i++) {
		struct key_entry *entry = &self->entries.items[i];
		bool near = kept != NULL && kept->place.epoch == entry->place.epoch &&
			    entry->place.tick - kept->place.tick < self->spacing;
		if (near && entry->state != ENTRY_PACKING) {
			pass_span_on(self, entry, i + 1 < count ? entry + 1 : NULL);
			release_entry(self, entry);
			continue;
		}
		self->entries.items[stored] = *entry;
		kept = &self->entries.items[stored++];
	}
	self->entries.count = stored;
}

static void drop_first(struct keyframes *self, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		release_entry(self, &self->entries.items[i]);
	self->entries.count -= count;
	if (count > 0)
		memmove(self->entries.items, self->entries.items + count,
			self->entries.count * sizeof *self->entries.items);
}

/* Within the bytes of the policy. Where wider spacing does not help, the oldest entries are dropped. */
static void limit_bytes(struct keyframes *self)
{
	while (self->bytes > self->policy.bytes && self->entries.count > 0) {
		uint32_t before = self->entries.count;
		widen_spacing(self);
		if (self->entries.count == before && self->entries.items[0].state != ENTRY_PACKING)
			drop_first(self, 1);
		else if (self->entries.count == before)
			return;
	}
}

void keyframes_forget(struct keyframes *self, struct recorded_place place)
{
	lock_take(&self->lock);
	uint32_t count = 0;
	while (count < self->entries.count &&
	       compare_places(self->entries.items[count].place, place) < 0 &&
	       self->entries.items[count].state != ENTRY_PACKING)
		count++;
	drop_first(self, count);
	lock_give(&self->lock);
}

/* ---- putting ----------------------------------------------------------------------------------- */

bool keyframes_has_room(struct keyframes *self)
{
	lock_take(&self->lock);
	bool room = self->raw < KEYFRAMES_RAW_MAX;
	self->refused += !room;
	lock_give(&self->lock);
	return room;
}

void keyframes_put(struct keyframes *self, struct recorded_place place, uint64_t from,
		   struct bytes *image, struct keyframe_bounds_list *bounds, bool bounded)
{
	struct key_entry entry = { .place = place,
				   .from = from,
				   .state = image != NULL ? ENTRY_RAW : ENTRY_BOUNDS,
				   .bounds = *bounds,
				   .bounded = bounded };
	memset(bounds, 0, sizeof *bounds);
	if (image != NULL) {
		entry.image = *image;
		bytes_init(image);
	}
	lock_take(&self->lock);
	self->bytes += entry.image.count + entry.bounds.count * sizeof *entry.bounds.items;
	self->raw += entry.state == ENTRY_RAW;
	self->images += entry.state == ENTRY_RAW;
	uint32_t at = count_until(self, place);
	bool known = at > 0 && compare_places(self->entries.items[at - 1].place, place) == 0;
	if (known || ARRAY_RESERVE(&self->entries, self->entries.count + 1u) != STATUS_OK) {
		release_entry(self, &entry);
	} else {
		memmove(&self->entries.items[at + 1], &self->entries.items[at],
			(self->entries.count - at) * sizeof *self->entries.items);
		self->entries.items[at] = entry;
		self->entries.count++;
	}
	limit_bytes(self);
	lock_give(&self->lock);
}

static struct key_entry *entry_in_state(struct keyframes *self, enum entry_state state)
{
	for (uint32_t i = self->entries.count; i-- > 0;)
		if (self->entries.items[i].state == state)
			return &self->entries.items[i];
	return NULL;
}

bool keyframes_pack(struct keyframes *self)
{
	struct bytes raw = { 0 }, packed = { 0 };
	lock_take(&self->lock);
	struct key_entry *entry = entry_in_state(self, ENTRY_RAW);
	struct recorded_place place = { 0, 0 };
	if (entry != NULL) {
		/* While it is being packed nobody else changes or drops the entry. */
		place = entry->place;
		raw = entry->image;
		entry->state = ENTRY_PACKING;
	}
	lock_give(&self->lock);
	if (entry == NULL)
		return false;
	world_image_seal(&raw);
	enum status status = image_pack(&raw, &packed);
	lock_take(&self->lock);
	entry = &self->entries.items[count_until(self, place) - 1];
	ASSERT(compare_places(entry->place, place) == 0 && entry->state == ENTRY_PACKING);
	entry->image_bytes = raw.count;
	entry->image_hash = hash64(raw.data, raw.count, 0);
	self->bytes += packed.count;
	self->bytes -= raw.count;
	self->raw--;
	entry->state = status == STATUS_OK ? ENTRY_PACKED : ENTRY_BOUNDS;
	self->images -= status != STATUS_OK;
	entry->image = packed;
	lock_give(&self->lock);
	bytes_release(&raw);
	return true;
}

/* ---- finding ----------------------------------------------------------------------------------- */

static const struct key_entry *packed_entry(const struct keyframes *self,
					    struct recorded_place place)
{
	for (uint32_t i = count_until(self, place); i-- > 0;) {
		const struct key_entry *entry = &self->entries.items[i];
		if (entry->place.epoch != place.epoch)
			return NULL;
		if (entry->state == ENTRY_PACKED)
			return entry;
	}
	return NULL;
}

bool keyframes_nearest(struct keyframes *self, struct recorded_place place,
		       struct recorded_place *found)
{
	lock_take(&self->lock);
	const struct key_entry *entry = packed_entry(self, place);
	if (entry != NULL)
		*found = entry->place;
	lock_give(&self->lock);
	return entry != NULL;
}

enum status keyframes_find(struct keyframes *self, struct recorded_place place,
			   struct recorded_place *found, struct bytes *image)
{
	struct bytes packed = { 0 };
	uint64_t bytes = 0, hash = 0;
	struct reason why;
	enum status status = STATUS_MISSING;
	lock_take(&self->lock);
	const struct key_entry *entry = packed_entry(self, place);
	if (entry != NULL) {
		*found = entry->place;
		bytes = entry->image_bytes;
		hash = entry->image_hash;
		status = bytes_append(&packed, entry->image.data, entry->image.count);
	}
	lock_give(&self->lock);
	if (status == STATUS_OK)
		status = image_unpack(packed.data, packed.count, bytes, hash, image, &why);
	bytes_release(&packed);
	return status;
}

/* ---- conditions -------------------------------------------------------------------------------- */

bool keyframe_holds(const struct keyframe_condition *condition, double quantity)
{
	return condition->above ? quantity > condition->value : quantity < condition->value;
}

/* Whether the condition may hold in one of the span's states for a body that the span lists. */
static bool may_hold(const struct key_entry *entry, const struct keyframe_condition *condition)
{
	uint32_t q = condition->quantity;
	if (!entry->bounded)
		return true;
	for (uint32_t i = 0; i < entry->bounds.count; i++) {
		const struct keyframe_bounds *bounds = &entry->bounds.items[i];
		if (condition->body != 0 && bounds->body != condition->body)
			continue;
		if (keyframe_holds(condition,
				   (double)(condition->above ? bounds->high[q] : bounds->low[q])))
			return true;
	}
	return false;
}

uint64_t keyframes_excluded(struct keyframes *self, struct recorded_place place,
			    const struct keyframe_condition *condition)
{
	uint64_t tick = place.tick;
	lock_take(&self->lock);
	for (uint32_t i = count_until(self, place); i < self->entries.count; i++) {
		const struct key_entry *entry = &self->entries.items[i];
		if (entry->place.epoch != place.epoch || entry->from > tick ||
		    may_hold(entry, condition))
			break;
		tick = entry->place.tick;
	}
	lock_give(&self->lock);
	return tick;
}

uint64_t keyframes_span_end(struct keyframes *self, struct recorded_place place, uint64_t fallback)
{
	lock_take(&self->lock);
	uint32_t at = count_until(self, place);
	if (at < self->entries.count && self->entries.items[at].place.epoch == place.epoch)
		fallback = self->entries.items[at].place.tick;
	lock_give(&self->lock);
	return fallback;
}

uint64_t keyframes_excluded_before(struct keyframes *self, struct recorded_place place,
				   const struct keyframe_condition *condition)
{
	uint64_t tick = place.tick;
	lock_take(&self->lock);
	for (uint32_t i = count_until(self, place); i-- > 0;) {
		const struct key_entry *entry = &self->entries.items[i];
		if (entry->place.epoch != place.epoch || entry->place.tick != tick ||
		    may_hold(entry, condition))
			break;
		tick = entry->from;
	}
	lock_give(&self->lock);
	return tick;
}
