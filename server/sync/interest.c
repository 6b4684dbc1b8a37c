/* See interest.h. Here: sets, members and logs, areas on bodies, and collecting; cells and
 * followers are in interest_grid.c. */
#include "server/sync/interest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/cursor.h"
#include "server/sync/interest_grid.h"

/* ---- what is watched --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static enum status take_follow(const struct wire_list *list, struct interest_set *out,
			       struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(list);
	for (uint32_t i = 0; i < list->count; i++) {
		uint64_t id = 0;
		if (wire_take_uint(&in, UINT32_MAX, &id) != STATUS_OK || id == 0)
			return reason_set(why, STATUS_RANGE, (int32_t)i, "follow",
					  "%llu is no body's id: ids are within 1 and 4294967295",
					  (unsigned long long)id);
		out->follow[out->follow_count++] = (uint32_t)id;
	}
	if (out->follow_count < 2)
		return STATUS_OK;
	qsort(out->follow, out->follow_count, sizeof *out->follow, by_number);
	uint32_t kept = 1;
	for (uint32_t i = 1; i < out->follow_count; i++)
		if (out->follow[i] != out->follow[kept - 1])
			out->follow[kept++] = out->follow[i];
	/* Unused entries are 0, so that sets compare as bytes. */
	memset(out->follow + kept, 0, (out->follow_count - kept) * sizeof *out->follow);
	out->follow_count = kept;
	return STATUS_OK;
}

enum status interest_set_take(const struct wire_box *area, const struct wire_list *follow,
			      const struct wire_list *areas, struct interest_set *out,
			      bool *limited, struct reason *why)
{
	memset(out, 0, sizeof *out);
	enum status status = wire_areas_take(areas, out->areas, &out->area_count, why);
	if (status == STATUS_OK)
		status = take_follow(follow, out, why);
	if (status == STATUS_OK && area->set) {
		struct wire_area *box = &out->areas[out->area_count++];
		box->kind = WIRE_AREA_BOX;
		memcpy(box->numbers, area->min, sizeof area->min);
		memcpy(box->numbers + 3, area->max, sizeof area->max);
		for (int i = 0; i < 6; i++)
			if (!(fabs(box->numbers[i]) <= 1e12))
				return reason_set(
					why, STATUS_RANGE, -1, "area",
					"%g is too large: coordinates must be within -1e12 and 1e12",
					box->numbers[i]);
	}
	*limited = out->area_count > 0 || out->follow_count > 0;
	return status;
}

static bool follows(const struct interest_set *set, uint32_t id)
{
	uint32_t low = 0, high = set->follow_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (set->follow[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->follow_count && set->follow[low] == id;
}

/* An area on a body may lag behind it by half a margin, and is as much larger. */
static double pad_of(const struct wire_area *area, bool was)
{
	double margin = wire_area_margin(area);
	return (was ? margin : 0) + (area->body != 0 ? margin / 2 : 0);
}

static bool wants(const struct interest *self, uint32_t id, const double position[3], bool was)
{
	for (uint32_t i = 0; i < self->set.area_count; i++) {
		const struct wire_area *area = &self->set.areas[i];
		if ((area->body == 0 || self->placed[i]) &&
		    wire_area_holds(area, self->origins[i], position, pad_of(area, was)))
			return true;
	}
	return self->set.follow_count > 0 && follows(&self->set, id);
}

/* ---- members and logs -------------------------------------------------------------------------- */

/* Empties both logs; every mark made before is void. */
static void forget_logs(struct interest *self)
{
	self->turn_first = ++self->turn_next;
	self->change_first = ++self->change_next;
}

static uint32_t log_room(const struct interest *self, uint32_t least)
{
	uint32_t wanted = MAX_OF(least, 4 * self->members.count);
	uint32_t room = least;
	while (room < wanted)
		room *= 2;
	return room;
}

/* Doubles a ring until it has the wanted capacity and moves its entries. Without memory it stays as
 * it is. */
static void grow_turns(struct interest *self)
{
	uint32_t room = log_room(self, 256);
	if (room <= self->turn_capacity)
		return;
	struct interest_turn *turns = heap_alloc(room * sizeof *turns);
	if (turns == NULL)
		return;
	for (uint64_t n = self->turn_first; n < self->turn_next; n++)
		turns[n % room] = self->turns[n % self->turn_capacity];
	heap_free(self->turns);
	self->turns = turns;
	self->turn_capacity = room;
}

static void grow_changes(struct interest *self)
{
	uint32_t room = log_room(self, 256);
	if (room <= self->change_capacity)
		return;
	uint32_t *changes = heap_alloc(room * sizeof *changes);
	if (changes == NULL)
		return;
	for (uint64_t n = self->change_first; n < self->change_next; n++)
		changes[n % room] = self->changes[n % self->change_capacity];
	heap_free(self->changes);
	self->changes = changes;
	self->change_capacity = room;
}

static void note_turn(struct interest *self, uint32_t id, bool entered)
{
	if (self->turn_next - self->turn_first >= self->turn_capacity)
		grow_turns(self);
	if (self->turn_capacity == 0) {
		forget_logs(self);
		return;
	}
	self->turns[self->turn_next++ % self->turn_capacity] =
		(struct interest_turn){ id, entered };
	if (self->turn_next - self->turn_first > self->turn_capacity)
		self->turn_first++;
}

static void note_change(struct interest *self, uint32_t id)
{
	if (self->change_next - self->change_first >= self->change_capacity)
		grow_changes(self);
	if (self->change_capacity == 0) {
		self->change_first = ++self->change_next;
		return;
	}
	self->changes[self->change_next++ % self->change_capacity] = id;
	if (self->change_next - self->change_first > self->change_capacity)
		self->change_first++;
}

static void add_member(struct interest *self, uint32_t id)
{
	if (ARRAY_RESERVE(&self->members, self->members.count + 1u) != STATUS_OK ||
	    table_insert(&self->index, id, self->members.count) != STATUS_OK) {
		self->stale = true;
		return;
	}
	self->members.items[self->members.count++] = id;
	note_turn(self, id, true);
}

static void remove_member(struct interest *self, uint32_t id, uint32_t at)
{
	table_remove(&self->index, id);
	uint32_t last = self->members.items[--self->members.count];
	if (at < self->members.count) {
		self->members.items[at] = last;
		/* Its key is there, so the put needs no memory. */
		enum status status = table_put(&self->index, last, at);
		ASSERT(status == STATUS_OK);
	}
	note_turn(self, id, false);
}

bool interest_sees(const struct interest *self, uint32_t id)
{
	return table_find(&self->index, id, NULL);
}

static void test_member(struct interest_map *map, struct interest *self,
			const struct wire_body *body)
{
	uint32_t at;
	map->looked++;
	bool was = table_find(&self->index, body->id, &at);
	bool now = wants(self, body->id, body->position, was);
	if (now && was)
		note_change(self, body->id);
	else if (now)
		add_member(self, body->id);
	else if (was)
		remove_member(self, body->id, at);
}

void interest_test_body(struct interest_map *map, struct interest *self,
			const struct wire_body *body)
{
	if (self->rests)
		return;
	/* The interest begins to rest in the middle of a report; it leaves its cells at the end of
	 * it. */
	if (self->shown == self->allowed)
		self->rests = true;
	else
		self->shown++;
	if (!self->rests)
		test_member(map, self, body);
}

void interest_remove_member(struct interest *self, uint32_t id)
{
	uint32_t at;
	if (table_find(&self->index, id, &at))
		remove_member(self, id, at);
}

/* ---- placing areas ----------------------------------------------------------------------------- */

/* Finds the bodies that areas are attached to. True if one has moved so far that its area must
 * follow. */
static bool find_origins(struct interest *self, const struct view *view)
{
	bool gone = false;
	for (uint32_t i = 0; i < self->set.area_count; i++) {
		const struct wire_area *area = &self->set.areas[i];
		uint32_t row;
		if (area->body == 0 || !table_find(&view->index, area->body, &row))
			continue;
		const double *at = view->rows[row].body.position;
		double reach = wire_area_margin(area) / 2, square = 0;
		for (int c = 0; c < 3; c++)
			square += (at[c] - self->origins[i][c]) * (at[c] - self->origins[i][c]);
		if (self->placed[i] && square <= reach * reach)
			continue;
		memcpy(self->origins[i], at, sizeof self->origins[i]);
		gone = self->placed[i] = true;
	}
	return gone;
}

static void leave_cells(struct interest_map *map, struct interest *self)
{
	for (uint32_t i = 0; i < self->cells.count; i++)
		grid_unwatch(map, self->cells.items[i], self);
	self->cells.count = 0;
	if (self->wide)
		grid_narrow(map, self);
}

/* The cells of its areas with their margins; false: too many. */
static bool find_ranges(const struct interest_map *map, const struct interest *self,
			int32_t ranges[][6])
{
	uint64_t cells = 0;
	for (uint32_t i = 0; i < self->set.area_count; i++) {
		const struct wire_area *area = &self->set.areas[i];
		double min[3], max[3];
		if (area->kind == WIRE_AREA_EVERYTHING)
			return false;
		wire_area_box(area, self->origins[i], pad_of(area, true), min, max);
		uint64_t volume = area->body == 0 || self->placed[i];
		for (int c = 0; c < 3; c++) {
			ranges[i][c] = grid_index(map, min[c]);
			ranges[i][3 + c] = volume > 0 ? grid_index(map, max[c]) : ranges[i][c] - 1;
			volume *= (uint64_t)(ranges[i][3 + c] - ranges[i][c] + 1);
		}
		cells += volume;
		if (cells > GRID_CELLS_MAX)
			return false;
	}
	return true;
}

static enum status watch_range(struct interest_map *map, struct interest *self,
			       const int32_t range[6])
{
	for (int32_t x = range[0]; x <= range[3]; x++)
		for (int32_t y = range[1]; y <= range[4]; y++)
			for (int32_t z = range[2]; z <= range[5]; z++) {
				enum status status = grid_watch(map, grid_key(x, y, z), self);
				if (status != STATUS_OK)
					return status;
			}
	return STATUS_OK;
}

void interest_enter_cells(struct interest_map *map, struct interest *self)
{
	int32_t ranges[WIRE_AREAS_MAX + 1][6] = { { 0 } };
	bool wide = !find_ranges(map, self, ranges);
	bool same = memcmp(ranges, self->ranges, sizeof ranges) == 0 && self->cells.count > 0;
	if (!wide && !self->wide && same)
		return;
	leave_cells(map, self);
	memcpy(self->ranges, ranges, sizeof ranges);
	for (uint32_t i = 0; i < self->set.area_count && !wide; i++)
		/* Without memory for its cells it becomes wide and tests every change. */
		wide = watch_range(map, self, ranges[i]) != STATUS_OK;
	if (!wide)
		return;
	leave_cells(map, self);
	grid_widen(map, self);
}

/* Tests members and all bodies in its cells: members outside leave, other bodies inside enter. */
static void test_all_bodies(struct interest_map *map, const struct view *view,
			    struct interest *self)
{
	map->looked += self->members.count;
	for (uint32_t i = self->members.count; i-- > 0;) {
		uint32_t id = self->members.items[i], row;
		if (!table_find(&view->index, id, &row) ||
		    !wants(self, id, view->rows[row].body.position, true))
			remove_member(self, id, i);
	}
	for (uint32_t i = 0; i < self->set.follow_count; i++) {
		uint32_t row;
		if (table_find(&view->index, self->set.follow[i], &row) &&
		    !interest_sees(self, self->set.follow[i]))
			add_member(self, self->set.follow[i]);
	}
	if (self->wide) {
		for (uint32_t row = 0; row < view->row_count; row++)
			if (view->rows[row].live && !interest_sees(self, view->rows[row].body.id))
				test_member(map, self, &view->rows[row].body);
		return;
	}
	for (uint32_t i = 0; i < self->cells.count; i++) {
		const struct interest_cell *cell = &map->cells.items[self->cells.items[i]];
		for (uint32_t k = 0; k < cell->rows.count; k++) {
			const struct wire_body *body = &view->rows[cell->rows.items[k]].body;
			if (!interest_sees(self, body->id))
				test_member(map, self, body);
		}
	}
}

void interest_settle(struct interest_map *map, const struct view *view, struct interest *self,
		     bool anew)
{
	if (anew || self->stale) {
		self->stale = false;
		table_reset(&self->index);
		self->members.count = 0;
		memset(self->placed, 0, sizeof self->placed);
		memset(self->origins, 0, sizeof self->origins);
	}
	find_origins(self, view);
	interest_enter_cells(map, self);
	test_all_bodies(map, view, self);
	self->due = false;
	self->settled = view->serial;
	if (anew || self->stale)
		forget_logs(self);
}

void interest_rest(struct interest_map *map, struct interest *self)
{
	leave_cells(map, self);
	self->rests = true;
	self->due = false;
	self->settled = 0;
}

void interest_settle_now(struct interest_map *map, const struct view *view, struct interest *self)
{
	if (!self->rests || !map->standing || (self->settled == view->serial && !self->stale))
		return;
	interest_settle(map, view, self, self->stale);
	leave_cells(map, self);
	/* Changes were not logged, so a subscription with an earlier mark must iterate all members. */
	self->change_first = ++self->change_next;
}

void interest_wake(struct interest_map *map, const struct view *view, struct interest *self)
{
	if (!self->rests || !map->standing || self->stale || self->settled != view->serial)
		return;
	self->rests = false;
	interest_enter_cells(map, self);
}

bool interest_needs_settling(struct interest *self, const struct view *view)
{
	return self->stale || (self->due && find_origins(self, view));
}

/* ---- life -------------------------------------------------------------------------------------- */

static void destroy_interest(struct interest *self)
{
	table_release(&self->index);
	ARRAY_RELEASE(&self->members);
	ARRAY_RELEASE(&self->cells);
	heap_free(self->turns);
	heap_free(self->changes);
	heap_free(self->sights);
	heap_free(self);
}

static bool set_same(const struct interest_set *a, const struct interest_set *b)
{
	if (a->area_count != b->area_count || a->follow_count != b->follow_count)
		return false;
	for (uint32_t i = 0; i < a->area_count; i++)
		if (!wire_area_same(&a->areas[i], &b->areas[i]))
			return false;
	return memcmp(a->follow, b->follow, a->follow_count * sizeof *a->follow) == 0;
}

enum status interest_acquire(struct interest_map *self, const struct view *view, bool standing,
			     const struct interest_set *set, struct interest **out)
{
	for (uint32_t i = 0; i < self->interests.count; i++) {
		struct interest *interest = self->interests.items[i];
		if (interest->moved || !set_same(&interest->set, set))
			continue;
		interest->refs++;
		*out = interest;
		return STATUS_OK;
	}
	struct interest *interest = heap_alloc_zero(sizeof *interest);
	if (interest == NULL)
		return STATUS_NO_MEMORY;
	table_init(&interest->index);
	interest->set = *set;
	interest->refs = 1;
	forget_logs(interest);
	/* Members are found with the first frame. */
	interest->rests = interest->stale = true;
	interest->allowed = UINT32_MAX;
	if (ARRAY_RESERVE(&self->interests, self->interests.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->wides, self->interests.count + 1u) != STATUS_OK ||
	    grid_follow(self, interest) != STATUS_OK) {
		destroy_interest(interest);
		return STATUS_NO_MEMORY;
	}
	self->interests.items[self->interests.count++] = interest;
	if (standing && !self->standing)
		grid_build(self, view);
	*out = interest;
	return STATUS_OK;
}

void interest_release(struct interest_map *self, struct interest *interest)
{
	if (interest == NULL || --interest->refs > 0)
		return;
	leave_cells(self, interest);
	grid_unfollow(self, interest);
	for (uint32_t i = 0; i < self->interests.count; i++)
		if (self->interests.items[i] == interest)
			self->interests.items[i] = self->interests.items[--self->interests.count];
	destroy_interest(interest);
	if (self->interests.count == 0)
		grid_clear(self);
}

/* Copies an interest with its members and logs. */
static enum status copy_interest(struct interest_map *self, const struct interest *from,
				 struct interest **out)
{
	struct interest *to = heap_alloc_zero(sizeof *to);
	if (to == NULL)
		return STATUS_NO_MEMORY;
	to->set = from->set;
	to->refs = 1;
	to->moved = true;
	memcpy(to->origins, from->origins, sizeof to->origins);
	memcpy(to->placed, from->placed, sizeof to->placed);
	table_init(&to->index);
	enum status status = ARRAY_RESERVE(&to->members, from->members.count);
	for (uint32_t i = 0; i < from->members.count && status == STATUS_OK; i++) {
		status = table_insert(&to->index, from->members.items[i], i);
		to->members.items[to->members.count++] = from->members.items[i];
	}
	to->turn_first = to->turn_next = from->turn_first;
	to->change_first = to->change_next = from->change_first;
	to->turns = heap_alloc(MAX_OF(from->turn_capacity, 1u) * sizeof *to->turns);
	to->changes = heap_alloc(MAX_OF(from->change_capacity, 1u) * sizeof *to->changes);
	if (status != STATUS_OK || to->turns == NULL || to->changes == NULL ||
	    ARRAY_RESERVE(&self->interests, self->interests.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->wides, self->interests.count + 1u) != STATUS_OK) {
		destroy_interest(to);
		return STATUS_NO_MEMORY;
	}
	to->turn_capacity = from->turn_capacity;
	to->change_capacity = from->change_capacity;
	if (from->turn_capacity > 0)
		memcpy(to->turns, from->turns, from->turn_capacity * sizeof *to->turns);
	if (from->change_capacity > 0)
		memcpy(to->changes, from->changes, from->change_capacity * sizeof *to->changes);
	to->turn_next = from->turn_next;
	to->change_next = from->change_next;
	to->stale = from->stale;
	to->rests = from->rests;
	to->settled = from->settled;
	to->allowed = UINT32_MAX;
	*out = to;
	return STATUS_OK;
}

enum status interest_move(struct interest_map *self, const struct view *view,
			  struct interest **interest, const struct interest_set *set)
{
	struct interest *moving = *interest;
	if (set_same(&moving->set, set))
		return STATUS_OK;
	bool shared = moving->refs > 1;
	if (shared && copy_interest(self, moving, &moving) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct interest_set before = moving->set;
	if (!shared)
		grid_unfollow(self, moving);
	moving->set = *set;
	enum status status = grid_follow(self, moving);
	if (status != STATUS_OK) {
		grid_unfollow(self, moving);
		if (shared) {
			destroy_interest(moving);
			return status;
		}
		/* Restoring what it followed may fail for lack of memory as well: then it becomes
		 * wide. */
		moving->set = before;
		if (grid_follow(self, moving) != STATUS_OK)
			moving->stale = true;
		return status;
	}
	if (shared) {
		self->interests.items[self->interests.count++] = moving;
		interest_release(self, *interest);
		*interest = moving;
	}
	moving->moved = true;
	memset(moving->placed, 0, sizeof moving->placed);
	memset(moving->origins, 0, sizeof moving->origins);
	/* A resting interest finds its members with the next frame. */
	moving->settled = 0;
	if (self->standing && !moving->rests)
		interest_settle(self, view, moving, false);
	return STATUS_OK;
}

/* ---- collecting -------------------------------------------------------------------------------- */

static enum status take_row(struct view_delta *delta, const struct view_row *row, uint64_t base,
			    wire_mask fields, bool created)
{
	wire_mask mask = created ? fields : view_row_since(row, base) & fields;
	if (mask == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&delta->rows, delta->rows.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	delta->rows.items[delta->rows.count++] =
		(struct block_row){ .body = &row->body, .mask = mask, .created = created };
	return STATUS_OK;
}

/* Marks a row as taken in this collection; false: it was taken already. */
static bool take_part(struct interest_map *self, uint32_t row)
{
	struct interest_place *place = &self->places.items[row];
	bool first = place->stamp != self->stamp;
	place->stamp = self->stamp;
	return first;
}

static int by_turn(const void *a, const void *b)
{
	const struct interest_first *x = a, *y = b;
	if (x->id != y->id)
		return x->id > y->id ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The first turn of each body behind the mark, ascending by id. */
static enum status first_turns(struct interest_map *self, const struct interest *interest,
			       uint64_t mark)
{
	uint64_t count = interest->turn_next - mark;
	self->sorted.count = 0;
	if (ARRAY_RESERVE(&self->sorted, count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint64_t i = 0; i < count; i++) {
		struct interest_turn turn = interest->turns[(mark + i) % interest->turn_capacity];
		self->sorted.items[self->sorted.count++] =
			(struct interest_first){ turn.id, (uint32_t)i, turn.entered };
	}
	if (count > 1)
		qsort(self->sorted.items, count, sizeof *self->sorted.items, by_turn);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->sorted.count; i++)
		if (kept == 0 || self->sorted.items[kept - 1].id != self->sorted.items[i].id)
			self->sorted.items[kept++] = self->sorted.items[i];
	self->sorted.count = kept;
	return STATUS_OK;
}

enum status interest_look_back(struct interest_map *self, const struct interest *interest,
			       struct interest_mark mark)
{
	if (!self->standing || interest->stale || mark.turns < interest->turn_first)
		return STATUS_MISSING;
	return first_turns(self, interest, mark.turns);
}

bool interest_saw(const struct interest_map *self, const struct interest *interest, uint32_t id)
{
	uint32_t low = 0, high = self->sorted.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->sorted.items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	/* The first turn after the mark changes the state at the mark; without one the present
	 * state is the same. */
	if (low < self->sorted.count && self->sorted.items[low].id == id)
		return !self->sorted.items[low].entered;
	return interest_sees(interest, id);
}

static enum status take_turns(struct interest_map *self, const struct view *view,
			      const struct interest *interest, uint64_t base, wire_mask fields,
			      struct view_delta *delta)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->sorted.count && status == STATUS_OK; i++) {
		const struct interest_first *turn = &self->sorted.items[i];
		bool now = interest_sees(interest, turn->id);
		uint32_t row;
		if (!turn->entered && !now) {
			status = ARRAY_RESERVE(&delta->removed, delta->removed.count + 1u);
			if (status == STATUS_OK)
				delta->removed.items[delta->removed.count++] = turn->id;
		} else if (now && table_find(&view->index, turn->id, &row) &&
			   take_part(self, row)) {
			status = take_row(delta, &view->rows[row], base, fields, turn->entered);
		}
	}
	return status;
}

static enum status take_changes(struct interest_map *self, const struct view *view,
				const struct interest *interest, uint64_t mark, uint64_t base,
				wire_mask fields, struct view_delta *delta)
{
	/* If the log is too short, or longer than the list of members, the members are iterated
	 * instead. */
	bool all = mark < interest->change_first ||
		   interest->change_next - mark > interest->members.count;
	uint64_t count = all ? interest->members.count : interest->change_next - mark;
	self->looked += count;
	enum status status = STATUS_OK;
	for (uint64_t i = 0; i < count && status == STATUS_OK; i++) {
		uint32_t row, id = all ? interest->members.items[i]
				       : interest->changes[(mark + i) % interest->change_capacity];
		if (table_find(&view->index, id, &row) && interest_sees(interest, id) &&
		    take_part(self, row))
			status = take_row(delta, &view->rows[row], base, fields, false);
	}
	return status;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct block_row *)a)->body->id;
	uint32_t y = ((const struct block_row *)b)->body->id;
	return (x > y) - (x < y);
}

static void sort_rows(struct view_delta *delta)
{
	/* Ids are unique: a total order. */
	if (delta->rows.count > 1)
		qsort(delta->rows.items, delta->rows.count, sizeof *delta->rows.items, by_id);
}

enum status interest_collect(struct interest_map *self, struct view *view,
			     struct interest *interest, struct interest_mark mark, uint64_t base,
			     wire_mask fields, struct view_delta *delta)
{
	delta->rows.count = delta->removed.count = 0;
	delta->absolute = false;
	if (!self->standing || interest->stale || mark.turns < interest->turn_first ||
	    base < view->epoch_serial || base == 0)
		return STATUS_MISSING;
	self->stamp++;
	enum status status = first_turns(self, interest, mark.turns);
	if (status == STATUS_OK)
		status = take_turns(self, view, interest, base, fields, delta);
	if (status == STATUS_OK)
		status = take_changes(self, view, interest, mark.changes, base, fields, delta);
	sort_rows(delta);
	return status;
}

enum status interest_collect_all(struct interest_map *self, const struct view *view,
				 struct interest *interest, wire_mask fields,
				 struct view_delta *delta)
{
	delta->rows.count = delta->removed.count = 0;
	delta->absolute = true;
	if (self->standing && interest->stale && !interest->rests)
		interest_settle(self, view, interest, true);
	if (!self->standing || interest->stale)
		return STATUS_NO_MEMORY; /* tried again with the next report */
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < interest->members.count && status == STATUS_OK; i++) {
		uint32_t row;
		if (table_find(&view->index, interest->members.items[i], &row))
			status = take_row(delta, &view->rows[row], 0, fields, true);
	}
	sort_rows(delta);
	return status;
}

/* ---- for priorities ---------------------------------------------------------------------------- */

uint32_t interest_foci(const struct interest *self, const struct view *view, double foci[][3],
		       uint32_t capacity)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->set.follow_count && count < capacity; i++) {
		uint32_t row;
		if (table_find(&view->index, self->set.follow[i], &row))
			memcpy(foci[count++], view->rows[row].body.position, sizeof foci[0]);
	}
	for (uint32_t i = 0; i < self->set.area_count && count < capacity; i++)
		if ((self->set.areas[i].body == 0 || self->placed[i]) &&
		    wire_area_focus(&self->set.areas[i], self->origins[i], foci[count]))
			count++;
	return count;
}

double interest_scale(const struct interest *self)
{
	double scale = 0;
	for (uint32_t i = 0; i < self->set.area_count; i++)
		if (self->set.areas[i].kind != WIRE_AREA_EVERYTHING)
			scale = MAX_OF(scale, wire_area_size(&self->set.areas[i]));
	return scale;
}
