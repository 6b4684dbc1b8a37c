/* See changes.h. Growth comes first: after changes_reserve no function of this file allocates,
 * so marks and lists always fit. `sum` is a sum modulo 2⁶⁴ of the hashes of all bodies, so that
 * a body is replaced in it by one subtraction and one addition and the order of updates does not
 * matter.
 */
#include "server/engine/world/changes.h"

#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/base/sort.h"

#include <string.h>

enum { MARK_CREATED = 1, MARK_MOVED = 2, MARK_CHANGED = 4 };
enum { SEEN = 1, SEEN_ASLEEP = 2, SEEN_QUARANTINED = 4, SEEN_FAST = 8, SEEN_SENSOR = 16 };

void changes_release(struct changes *self)
{
	heap_free(self->hash);
	heap_free(self->seen);
	heap_free(self->marks);
	heap_free(self->keys);
	heap_free(self->scratch);
	heap_free(self->news);
	heap_free(self->created.items);
	heap_free(self->moved.items);
	heap_free(self->changed.items);
	heap_free(self->removed.items);
	bitset_release(&self->candidates);
	bitset_release(&self->marked);
	memset(self, 0, sizeof *self);
}

static bool grow_array(void *array_address, uint32_t old, uint32_t rows, size_t bytes)
{
	void *array;
	memcpy(&array, array_address, sizeof array);
	array = heap_realloc(array, rows * bytes);
	if (array == NULL)
		return false;
	memset((char *)array + old * bytes, 0, (rows - old) * bytes);
	memcpy(array_address, &array, sizeof array);
	return true;
}

static uint32_t words_of(uint32_t rows)
{
	return (rows + 63) / 64;
}

enum status changes_reserve(struct changes *self, uint32_t rows)
{
	if (rows <= self->rows)
		return STATUS_OK;
	uint32_t old = self->rows;
	rows = MAX_OF(rows, MIN_OF(old, UINT32_MAX / 2) * 2);
	if (!grow_array(&self->hash, old, rows, sizeof *self->hash) ||
	    !grow_array(&self->seen, old, rows, sizeof *self->seen) ||
	    !grow_array(&self->marks, old, rows, sizeof *self->marks) ||
	    !grow_array(&self->keys, old, rows, sizeof *self->keys) ||
	    !grow_array(&self->scratch, old, rows, sizeof *self->scratch) ||
	    !grow_array(&self->news, words_of(old), words_of(rows), sizeof *self->news) ||
	    !grow_array(&self->created.items, old, rows, sizeof(body_id)) ||
	    !grow_array(&self->moved.items, old, rows, sizeof(body_id)) ||
	    !grow_array(&self->changed.items, old, rows, sizeof(body_id)) ||
	    !grow_array(&self->removed.items, old, rows, sizeof(body_id)))
		return STATUS_NO_MEMORY;
	enum status status = bitset_reserve(&self->candidates, rows);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->marked, rows);
	if (status == STATUS_OK)
		self->rows = rows;
	return status;
}

void changes_open(struct changes *self, uint32_t next_body)
{
	for (uint32_t row = bitset_next(&self->marked, 0); row != BITSET_NONE;
	     row = bitset_next_word(&self->marked, row / 64 + 1)) {
		uint32_t first = row / 64 * 64;
		memset(&self->marks[first], 0, MIN_OF(self->rows - first, 64u));
	}
	bitset_reset(&self->marked);
	bitset_reset(&self->candidates);
	self->first_new = next_body;
	self->stale = false;
	self->created.count = self->moved.count = self->changed.count = self->removed.count = 0;
}

static void set_mark(struct changes *self, uint32_t row, uint8_t what)
{
	ASSERT(row < self->rows);
	self->stale = true;
	self->marks[row] |= what;
	bitset_set(&self->marked, row);
}

void changes_mark(struct changes *self, uint32_t row)
{
	set_mark(self, row, MARK_CHANGED);
}

static uint64_t row_hash(const struct body_table *body, uint32_t row)
{
	vec3 p = body->position[row], v = body->velocity[row], w = body->angular_velocity[row];
	quat q = body->rotation[row];
	return body_hash(body->id[row], body->status[row], (double[3]){ p.x, p.y, p.z },
			 (double[4]){ q.w, q.x, q.y, q.z }, (double[3]){ v.x, v.y, v.z },
			 (double[3]){ w.x, w.y, w.z });
}

static uint8_t row_seen_flags(const struct body_table *body, uint32_t row)
{
	return (uint8_t)(SEEN | (body->sleep_set[row] != 0 ? SEEN_ASLEEP : 0) |
			 (body->quarantined[row] != 0 ? SEEN_QUARANTINED : 0) |
			 ((body->flags[row] & BODY_FAST) != 0 ? SEEN_FAST : 0) |
			 ((body->flags[row] & BODY_SENSOR) != 0 ? SEEN_SENSOR : 0));
}

/* What happened to a row since its last update, whose hash is replaced. */
static uint8_t update_row(struct changes *self, const struct body_table *body, uint32_t row,
			  struct word_news *news)
{
	VALIDATE(row < body->count && row < self->rows);
	VALIDATE(body->id[row] != 0 && body->id[row] != BODY_WALLS);
	uint64_t hash = row_hash(body, row);
	uint8_t seen = row_seen_flags(body, row), before = self->seen[row], what = 0;
	if (before == 0)
		what |= MARK_CREATED;
	if (self->hash[row] != hash)
		what |= MARK_MOVED;
	if (before != seen)
		what |= MARK_CHANGED;
	news->created += before == 0;
	news->sum += hash - self->hash[row];
	self->hash[row] = hash;
	self->seen[row] = seen;
	return what;
}

void changes_update(struct changes *self, const struct tables *tables, uint32_t row)
{
	ASSERT(row < tables->body.count);
	struct word_news news = { 0 };
	uint8_t what = update_row(self, &tables->body, row, &news);
	if (what != 0)
		set_mark(self, row, what);
	self->sum += news.sum;
	self->count += news.created;
}

struct update_work {
	struct changes *self;
	const struct body_table *body;
};

enum { WORD_GRAIN = 2 };

/* The candidates in these words of the set. */
static void update_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct update_work *work = context;
	struct changes *self = work->self;
	for (uint32_t w = first; w < last; w++) {
		struct word_news news = { 0 };
		for (uint64_t bits = self->candidates.words[w]; bits != 0; bits &= bits - 1) {
			uint32_t row = w * 64 + (uint32_t)__builtin_ctzll(bits);
			uint8_t what = update_row(self, work->body, row, &news);
			self->marks[row] |= what;
			news.marked |= what != 0 ? bits & -bits : 0;
		}
		self->news[w] = news;
	}
}

void changes_update_candidates(struct changes *self, const struct tables *tables,
			       const struct parallel *parallel)
{
	struct update_work work = { self, &tables->body };
	uint32_t words = words_of(tables->body.count);
	parallel_run(parallel, words, WORD_GRAIN, update_piece, &work);
	for (uint32_t w = 0; w < words; w++) {
		const struct word_news *news = &self->news[w];
		self->sum += news->sum;
		self->count += news->created;
		if (news->marked == 0)
			continue;
		self->stale = true;
		bitset_set_word(&self->marked, w, news->marked);
	}
}

void changes_update_sleep(struct changes *self, const struct tables *tables, uint32_t row)
{
	if (self->seen[row] != row_seen_flags(&tables->body, row))
		changes_update(self, tables, row);
}

void changes_remove(struct changes *self, const struct tables *tables, uint32_t row)
{
	body_id id = tables->body.id[row];
	ASSERT(row < self->rows && id != 0);
	ASSERT(self->seen[row] == 0 || self->count > 0);
	self->sum -= self->hash[row];
	self->count -= self->seen[row] != 0;
	self->hash[row] = 0;
	self->seen[row] = 0;
	self->marks[row] = 0;
	self->stale = true;
	bitset_clear(&self->marked, row);
	bitset_clear(&self->candidates, row);
	/* A body created and removed between two boundaries is in no list. */
	if (id < self->first_new) {
		ASSERT(self->removed.count < self->rows);
		self->removed.items[self->removed.count++] = id;
	}
}

/* Ids are unique, so ascending is a total order. */
static void sort_ids(struct changes *self, struct id_list *list)
{
	bool sorted = true;
	for (uint32_t i = 1; i < list->count && sorted; i++)
		sorted = list->items[i - 1] < list->items[i];
	if (sorted)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		self->keys[i] = list->items[i];
	sort_keys(self->keys, NULL, self->scratch, NULL, list->count);
	for (uint32_t i = 0; i < list->count; i++)
		list->items[i] = (body_id)self->keys[i];
}

static void append_id(struct id_list *list, body_id id)
{
	list->items[list->count++] = id;
}

void changes_list(struct changes *self, const struct tables *tables)
{
	if (!self->stale)
		return;
	self->stale = false;
	self->created.count = self->moved.count = self->changed.count = 0;
	for (uint32_t row = bitset_next(&self->marked, 0); row != BITSET_NONE;
	     row = bitset_next(&self->marked, row + 1)) {
		uint8_t marks = self->marks[row];
		body_id id = tables->body.id[row];
		if (marks & MARK_CREATED) {
			append_id(&self->created, id);
			continue;
		}
		if (marks & MARK_MOVED)
			append_id(&self->moved, id);
		if (marks & MARK_CHANGED)
			append_id(&self->changed, id);
	}
	sort_ids(self, &self->created);
	sort_ids(self, &self->moved);
	sort_ids(self, &self->changed);
	sort_ids(self, &self->removed);
}

void changes_rebuild(struct changes *self, const struct tables *tables)
{
	const struct body_table *body = &tables->body;
	ASSERT(body->count <= self->rows);
	self->sum = 0;
	self->count = 0;
	for (uint32_t row = 0; row < self->rows; row++) {
		bool used = row < body->count && body->id[row] != 0 && body->id[row] != BODY_WALLS;
		self->hash[row] = used ? row_hash(body, row) : 0;
		self->seen[row] = used ? row_seen_flags(body, row) : 0;
		self->sum += self->hash[row];
		self->count += used;
	}
}

uint64_t changes_memory(const struct changes *self)
{
	size_t row = sizeof *self->hash + sizeof *self->seen + sizeof *self->marks +
		     sizeof *self->keys + sizeof *self->scratch + 4 * sizeof(body_id);
	return (uint64_t)self->rows * row + words_of(self->rows) * sizeof *self->news +
	       (self->candidates.size + self->marked.size) / 8;
}
