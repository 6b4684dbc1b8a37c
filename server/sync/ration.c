/* See ration.h. In this order: the list of bodies with possible changes, their priority, the choice
 * of rows. */
#include "server/sync/ration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/io/instant.h"

enum { FOCI_MAX = 8, FRAME_BYTES_MIN = 1024, HEAD_BYTES = 64 };

enum status ration_create(uint64_t rate, uint64_t now, struct ration **out)
{
	struct ration *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->rate = (double)rate;
	self->filled_at = now;
	self->tokens = MAX_OF(self->rate / 4, (double)FRAME_BYTES_MIN);
	table_init(&self->index);
	*out = self;
	return STATUS_OK;
}

void ration_destroy(struct ration *self)
{
	if (self == NULL)
		return;
	ARRAY_RELEASE(&self->bodies);
	ARRAY_RELEASE(&self->waiting);
	ARRAY_RELEASE(&self->turns);
	table_release(&self->index);
	heap_free(self);
}

bool ration_allows(struct ration *self, uint64_t now)
{
	/* The bucket holds a quarter second: more would be a burst that the client's link cannot
	 * take. */
	double most = MAX_OF(self->rate / 4, (double)FRAME_BYTES_MIN);
	double seconds = (double)(now - self->filled_at) / (double)NS_PER_S;
	self->filled_at = now;
	self->tokens = MIN_OF(self->tokens + seconds * self->rate, most);
	return self->tokens >= HEAD_BYTES;
}

void ration_spend(struct ration *self, uint64_t bytes)
{
	self->tokens -= (double)bytes;
}

/* ---- bodies with possible changes -------------------------------------------------------------- */

static enum status add_waiting(struct ration *self, uint32_t id)
{
	uint32_t at;
	if (!table_find(&self->index, id, &at)) {
		if (ARRAY_RESERVE(&self->bodies, self->bodies.count + 1u) != STATUS_OK ||
		    table_insert(&self->index, id, self->bodies.count) != STATUS_OK)
			return STATUS_NO_MEMORY;
		at = self->bodies.count++;
		self->bodies.items[at] = (struct ration_body){ .id = id };
	}
	if (self->bodies.items[at].waiting)
		return STATUS_OK;
	enum status status = ARRAY_RESERVE(&self->waiting, self->waiting.count + 1u);
	if (status != STATUS_OK)
		return status;
	self->bodies.items[at].waiting = true;
	self->waiting.items[self->waiting.count++] = id;
	return STATUS_OK;
}

static void forget_body(struct ration *self, uint32_t id)
{
	uint32_t at;
	if (!table_find(&self->index, id, &at))
		return;
	table_remove(&self->index, id);
	self->bodies.items[at] = self->bodies.items[--self->bodies.count];
	if (at == self->bodies.count)
		return;
	/* The key is in the table, so the put needs no memory. */
	enum status status = table_put(&self->index, self->bodies.items[at].id, at);
	ASSERT(status == STATUS_OK);
}

/* Marks every body that the client has, or that the interest sees. */
static enum status add_all_waiting(struct ration *self, const struct interest *interest)
{
	enum status status = STATUS_OK;
	uint32_t had = self->bodies.count;
	for (uint32_t i = 0; i < had && status == STATUS_OK; i++)
		status = add_waiting(self, self->bodies.items[i].id);
	for (uint32_t i = 0; i < interest->members.count && status == STATUS_OK; i++)
		status = add_waiting(self, interest->members.items[i]);
	return status;
}

static enum status add_changed_waiting(struct ration *self, const struct interest *interest)
{
	enum status status = STATUS_OK;
	struct interest_mark mark = self->mark;
	if (mark.turns < interest->turn_first || mark.changes < interest->change_first)
		return add_all_waiting(self, interest);
	for (uint64_t n = mark.turns; n < interest->turn_next && status == STATUS_OK; n++)
		status = add_waiting(self, interest->turns[n % interest->turn_capacity].id);
	for (uint64_t n = mark.changes; n < interest->change_next && status == STATUS_OK; n++)
		status = add_waiting(self, interest->changes[n % interest->change_capacity]);
	return status;
}

/* Removes bodies that the interest no longer sees; those that the client has go into delta->removed. */
static enum status collect_removed(struct ration *self, const struct interest *interest,
				   struct view_delta *delta)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->waiting.count; i++) {
		uint32_t at, id = self->waiting.items[i];
		if (interest_sees(interest, id)) {
			self->waiting.items[kept++] = id;
			continue;
		}
		if (!table_find(&self->index, id, &at))
			continue;
		if (self->bodies.items[at].has) {
			if (ARRAY_RESERVE(&delta->removed, delta->removed.count + 1u) != STATUS_OK)
				return STATUS_NO_MEMORY;
			delta->removed.items[delta->removed.count++] = id;
		}
		forget_body(self, id);
	}
	self->waiting.count = kept;
	return STATUS_OK;
}

/* ---- priority ---------------------------------------------------------------------------------- */

struct ration_foci {
	double points[FOCI_MAX][3];
	uint32_t count;
	double square; /* of the scale */
};

static double priority_gain(const struct ration_foci *foci, const struct wire_body *body, bool has)
{
	double nearest = INFINITY, speed = 0;
	for (uint32_t i = 0; i < foci->count; i++) {
		double square = 0;
		for (int c = 0; c < 3; c++) {
			double way = body->position[c] - foci->points[i][c];
			square += way * way;
		}
		nearest = MIN_OF(nearest, square);
	}
	for (int c = 0; c < 3; c++)
		speed += body->velocity[c] * body->velocity[c];
	speed = sqrt(speed);
	double weight = 1 + speed / (1 + speed);
	if (foci->count > 0 && foci->square > 0)
		weight /= 1 + 4 * nearest / foci->square;
	return has ? weight : 2 * weight;
}

static int by_weight(const void *a, const void *b)
{
	const struct ration_turn *x = a, *y = b;
	if (x->weight < y->weight || x->weight > y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static enum status sort_by_priority(struct ration *self, const struct view *view,
				    const struct interest *interest)
{
	struct ration_foci foci;
	double scale = interest_scale(interest);
	foci.count = interest_foci(interest, view, foci.points, FOCI_MAX);
	foci.square = scale > 0 ? scale * scale : 64 * 64;
	self->turns.count = 0;
	if (ARRAY_RESERVE(&self->turns, self->waiting.count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->waiting.count; i++) {
		uint32_t at, row, id = self->waiting.items[i];
		if (!table_find(&self->index, id, &at) || !table_find(&view->index, id, &row))
			continue;
		struct ration_body *body = &self->bodies.items[at];
		body->weight += priority_gain(&foci, &view->rows[row].body, body->has);
		self->turns.items[self->turns.count++] =
			(struct ration_turn){ body->weight, id, at };
	}
	if (self->turns.count > 1)
		qsort(self->turns.items, self->turns.count, sizeof *self->turns.items, by_weight);
	return STATUS_OK;
}

/* ---- choice ------------------------------------------------------------------------------------ */

static wire_mask mask_of(const struct view_row *row, const struct ration_body *body,
			 wire_mask fields)
{
	return body->has ? view_row_since(row, body->sent) & fields : fields;
}

/* Makes the row one of its profile, relative to the body's own base; false: rounding hides all
 * changes. */
static bool refine_row(const struct quantised *quantised, const struct view *view, uint64_t base,
		       struct block_row *row, bool *absolute)
{
	struct view_delta one = { 0 };
	if (quantised == NULL) {
		*absolute = true;
		return true;
	}
	one.rows.items = row;
	one.rows.count = one.rows.capacity = 1;
	quantised_refine(quantised, view, row->created ? UINT64_MAX : base, &one);
	*absolute = *absolute || one.absolute;
	return one.rows.count > 0;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct block_row *)a)->body->id;
	uint32_t y = ((const struct block_row *)b)->body->id;
	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Chooses rows in the order of priority while the bucket lasts, at least one; the others remain
 * waiting. */
static enum status choose_rows(struct ration *self, const struct view *view,
			       const struct quantised *quantised, enum wire_profile profile,
			       wire_mask fields, struct view_delta *delta)
{
	double room = self->tokens - HEAD_BYTES - (double)delta->removed.count * BLOCK_ID_BYTES_MAX;
	self->waiting.count = 0;
	for (uint32_t i = 0; i < self->turns.count; i++) {
		struct ration_body *body = &self->bodies.items[self->turns.items[i].at];
		uint32_t index;
		if (!table_find(&view->index, body->id, &index))
			continue;
		const struct view_row *from = &view->rows[index];
		struct block_row row = { .body = &from->body,
					 .mask = mask_of(from, body, fields),
					 .created = !body->has };
		bool full = room <= 0 && delta->rows.count > 0;
		bool shown = row.mask != 0 && !full &&
			     refine_row(quantised, view, body->sent, &row, &delta->absolute);
		if (row.mask != 0 && full) {
			self->waiting.items[self->waiting.count++] = body->id;
			continue;
		}
		body->sent = view->serial;
		body->weight = 0;
		body->waiting = false;
		body->has = true;
		if (!shown)
			continue;
		if (ARRAY_RESERVE(&delta->rows, delta->rows.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		delta->rows.items[delta->rows.count++] = row;
		room -= block_row_bytes(profile, fields, &row) +
			(row.created ? BLOCK_ID_BYTES_MAX : 0);
	}
	return STATUS_OK;
}

static void reset_bodies(struct ration *self)
{
	self->bodies.count = self->waiting.count = 0;
	table_reset(&self->index);
}

enum status ration_collect(struct ration *self, struct interest_map *map, struct view *view,
			   struct interest *interest, const struct quantised *quantised,
			   bool snapshot, enum wire_profile profile, wire_mask fields,
			   struct view_delta *delta, bool *partial)
{
	delta->rows.count = delta->removed.count = 0;
	delta->absolute = false;
	if (!map->standing || interest->stale)
		return STATUS_NO_MEMORY;
	if (snapshot)
		reset_bodies(self);
	enum status status =
		snapshot ? add_all_waiting(self, interest) : add_changed_waiting(self, interest);
	self->mark = interest_mark(interest);
	if (status == STATUS_OK)
		status = collect_removed(self, interest, delta);
	if (status == STATUS_OK)
		status = sort_by_priority(self, view, interest);
	if (status == STATUS_OK)
		status = choose_rows(self, view, quantised, profile, fields, delta);
	/* Ids are unique: total orders. The rows of an absolute frame have no base. */
	if (delta->rows.count > 1)
		qsort(delta->rows.items, delta->rows.count, sizeof *delta->rows.items, by_id);
	if (delta->removed.count > 1)
		qsort(delta->removed.items, delta->removed.count, sizeof *delta->removed.items,
		      by_number);
	delta->absolute = delta->absolute || snapshot;
	for (uint32_t i = 0; i < delta->rows.count && delta->absolute; i++)
		delta->rows.items[i].from = NULL;
	*partial = self->waiting.count > 0;
	return status;
}
