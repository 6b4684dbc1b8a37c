/* See interest_grid.h and invariants I1 and I2 of interest.h. */
#include "server/sync/interest_grid.h"

#include <string.h>

enum { NO_CELL = UINT32_MAX, LEVEL_MIN = -6, LEVEL_MAX = 16 };

/* 2^level. */
static double power(int32_t level)
{
	double value = 1;
	for (; level > 0; level--)
		value *= 2;
	for (; level < 0; level++)
		value /= 2;
	return value;
}

int32_t grid_index(const struct interest_map *self, double at)
{
	double cells = at * self->cells_per_metre;
	if (!(cells > -GRID_INDEX_MAX))
		return -GRID_INDEX_MAX;
	if (cells >= GRID_INDEX_MAX)
		return GRID_INDEX_MAX;
	int32_t index = (int32_t)cells;
	return index - (cells < index);
}

uint64_t grid_key(int32_t x, int32_t y, int32_t z)
{
	uint64_t mask = (UINT64_C(1) << 21) - 1;
	return ((uint64_t)(uint32_t)x & mask) | ((uint64_t)(uint32_t)y & mask) << 21 |
	       ((uint64_t)(uint32_t)z & mask) << 42;
}

static uint64_t key_of(const struct interest_map *self, const double at[3])
{
	return grid_key(grid_index(self, at[0]), grid_index(self, at[1]), grid_index(self, at[2]));
}

/* ---- cells ------------------------------------------------------------------------------------- */

static enum status cell_for(struct interest_map *self, uint64_t key, uint32_t *out)
{
	if (table_find(&self->table, key, out))
		return STATUS_OK;
	if (self->idle.count == 0) {
		if (ARRAY_RESERVE(&self->cells, self->cells.count + 1u) != STATUS_OK ||
		    ARRAY_RESERVE(&self->idle, self->cells.capacity) != STATUS_OK)
			return STATUS_NO_MEMORY;
		memset(&self->cells.items[self->cells.count], 0, sizeof *self->cells.items);
		self->idle.items[self->idle.count++] = self->cells.count++;
	}
	uint32_t at = self->idle.items[self->idle.count - 1];
	if (table_insert(&self->table, key, at) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->idle.count--;
	self->cells.items[at].key = key;
	self->cells.items[at].used = true;
	*out = at;
	return STATUS_OK;
}

/* Makes an empty cell without watchers idle; its lists keep their memory. */
static void release_if_empty(struct interest_map *self, uint32_t at)
{
	struct interest_cell *cell = &self->cells.items[at];
	if (!cell->used || cell->rows.count > 0 || cell->watchers.count > 0)
		return;
	table_remove(&self->table, cell->key);
	cell->used = false;
	self->idle.items[self->idle.count++] = at;
}

enum status grid_watch(struct interest_map *self, uint64_t key, struct interest *interest)
{
	uint32_t at;
	enum status status = ARRAY_RESERVE(&interest->cells, interest->cells.count + 1u);
	if (status == STATUS_OK)
		status = cell_for(self, key, &at);
	if (status != STATUS_OK)
		return status;
	struct interest_cell *cell = &self->cells.items[at];
	/* Areas of one interest may overlap. Then this interest is the latest watcher of the cell.
	 * A second entry would only cost a second test. */
	for (uint32_t i = cell->watchers.count; i-- > 0 && interest->set.area_count > 1;)
		if (cell->watchers.items[i] == interest)
			return STATUS_OK;
	status = ARRAY_RESERVE(&cell->watchers, cell->watchers.count + 1u);
	if (status != STATUS_OK) {
		release_if_empty(self, at);
		return status;
	}
	cell->watchers.items[cell->watchers.count++] = interest;
	interest->cells.items[interest->cells.count++] = at;
	return STATUS_OK;
}

void grid_unwatch(struct interest_map *self, uint32_t at, struct interest *interest)
{
	struct interest_cell *cell = &self->cells.items[at];
	for (uint32_t i = cell->watchers.count; i-- > 0;)
		if (cell->watchers.items[i] == interest) {
			cell->watchers.items[i] = cell->watchers.items[--cell->watchers.count];
			break;
		}
	release_if_empty(self, at);
}

/* The list has room for all interests (interest_acquire reserved it). */
void grid_widen(struct interest_map *self, struct interest *interest)
{
	interest->wide = true;
	self->wides.items[self->wides.count++] = interest;
}

void grid_narrow(struct interest_map *self, struct interest *interest)
{
	interest->wide = false;
	for (uint32_t i = 0; i < self->wides.count; i++)
		if (self->wides.items[i] == interest)
			self->wides.items[i] = self->wides.items[--self->wides.count];
}

static void remove_from_cell(struct interest_map *self, uint32_t row)
{
	struct interest_place *place = &self->places.items[row];
	if (place->cell == NO_CELL)
		return;
	struct interest_cell *cell = &self->cells.items[place->cell];
	uint32_t last = cell->rows.items[--cell->rows.count];
	cell->rows.items[place->slot] = last;
	self->places.items[last].slot = place->slot;
	release_if_empty(self, place->cell);
	place->cell = NO_CELL;
}

static enum status add_to_cell(struct interest_map *self, uint32_t row, uint64_t key)
{
	uint32_t at;
	enum status status = cell_for(self, key, &at);
	if (status != STATUS_OK)
		return status;
	struct interest_cell *cell = &self->cells.items[at];
	status = ARRAY_RESERVE(&cell->rows, cell->rows.count + 1u);
	if (status != STATUS_OK) {
		release_if_empty(self, at);
		return status;
	}
	self->places.items[row].cell = at;
	self->places.items[row].slot = cell->rows.count;
	cell->rows.items[cell->rows.count++] = row;
	return STATUS_OK;
}

/* ---- followers --------------------------------------------------------------------------------- */

/* The bodies that an interest names: followed ones, and those its areas are attached to. */
static uint32_t bodies_of(const struct interest *interest, uint32_t index)
{
	const struct interest_set *set = &interest->set;
	if (index < set->follow_count)
		return set->follow[index];
	return set->areas[index - set->follow_count].body;
}

static enum status followers_for(struct interest_map *self, uint32_t id, uint32_t *out)
{
	if (table_find(&self->followed, id, out))
		return STATUS_OK;
	if (self->idle_followers.count == 0) {
		if (ARRAY_RESERVE(&self->followers, self->followers.count + 1u) != STATUS_OK ||
		    ARRAY_RESERVE(&self->idle_followers, self->followers.capacity) != STATUS_OK)
			return STATUS_NO_MEMORY;
		memset(&self->followers.items[self->followers.count], 0,
		       sizeof *self->followers.items);
		self->idle_followers.items[self->idle_followers.count++] = self->followers.count++;
	}
	uint32_t at = self->idle_followers.items[self->idle_followers.count - 1];
	if (table_insert(&self->followed, id, at) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->idle_followers.count--;
	*out = at;
	return STATUS_OK;
}

enum status grid_follow(struct interest_map *self, struct interest *interest)
{
	uint32_t count = interest->set.follow_count + interest->set.area_count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at, id = bodies_of(interest, i);
		if (id == 0)
			continue;
		enum status status = followers_for(self, id, &at);
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&self->followers.items[at].interests,
					       self->followers.items[at].interests.count + 1u);
		if (status != STATUS_OK)
			return status;
		struct interest_followers *list = &self->followers.items[at];
		list->interests.items[list->interests.count++] = interest;
	}
	return STATUS_OK;
}

void grid_unfollow(struct interest_map *self, struct interest *interest)
{
	uint32_t count = interest->set.follow_count + interest->set.area_count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at, id = bodies_of(interest, i);
		if (id == 0 || !table_find(&self->followed, id, &at))
			continue;
		struct interest_followers *list = &self->followers.items[at];
		for (uint32_t k = list->interests.count; k-- > 0;)
			if (list->interests.items[k] == interest)
				list->interests.items[k] =
					list->interests.items[--list->interests.count];
		if (list->interests.count > 0)
			continue;
		table_remove(&self->followed, id);
		self->idle_followers.items[self->idle_followers.count++] = at;
	}
}

/* ---- the map ----------------------------------------------------------------------------------- */

void interest_map_init(struct interest_map *self)
{
	memset(self, 0, sizeof *self);
	table_init(&self->table);
	table_init(&self->followed);
}

void grid_clear(struct interest_map *self)
{
	for (uint32_t i = 0; i < self->interests.count; i++) {
		self->interests.items[i]->cells.count = 0;
		self->interests.items[i]->wide = false;
	}
	for (uint32_t i = 0; i < self->cells.count; i++) {
		ARRAY_RELEASE(&self->cells.items[i].rows);
		ARRAY_RELEASE(&self->cells.items[i].watchers);
	}
	self->cells.count = self->idle.count = self->places.count = self->wides.count = 0;
	table_reset(&self->table);
	self->standing = false;
}

void interest_map_release(struct interest_map *self)
{
	ASSERT(self->interests.count == 0);
	grid_clear(self);
	for (uint32_t i = 0; i < self->followers.count; i++)
		ARRAY_RELEASE(&self->followers.items[i].interests);
	ARRAY_RELEASE(&self->followers);
	ARRAY_RELEASE(&self->idle_followers);
	ARRAY_RELEASE(&self->interests);
	ARRAY_RELEASE(&self->wides);
	ARRAY_RELEASE(&self->cells);
	ARRAY_RELEASE(&self->idle);
	ARRAY_RELEASE(&self->places);
	ARRAY_RELEASE(&self->sorted);
	table_release(&self->table);
	table_release(&self->followed);
}

void interest_map_invalidate(struct interest_map *self)
{
	grid_clear(self);
}

/* The level at which areas span two or three cells each way, on average over the interests. */
static int32_t level_wanted(const struct interest_map *self)
{
	int64_t sum = 0, count = 0;
	for (uint32_t i = 0; i < self->interests.count; i++) {
		double scale = interest_scale(self->interests.items[i]);
		int32_t level = LEVEL_MIN;
		if (scale == 0)
			continue;
		while (level < LEVEL_MAX && power(level) < scale)
			level++;
		sum += level - LEVEL_MIN;
		count++;
	}
	return count > 0 ? LEVEL_MIN + (int32_t)((sum + count / 2) / count) : 3;
}

static bool place_all(struct interest_map *self, const struct view *view)
{
	if (ARRAY_RESERVE(&self->places, view->row_capacity) != STATUS_OK)
		return false;
	for (uint32_t row = 0; row < view->row_count; row++) {
		self->places.items[row] = (struct interest_place){ .cell = NO_CELL };
		self->places.count = row + 1;
		if (view->rows[row].live &&
		    add_to_cell(self, row, key_of(self, view->rows[row].body.position)) !=
			    STATUS_OK)
			return false;
	}
	return true;
}

/* Rebuilds the cells; interests keep their members and watch the new cells. */
static bool build_cells(struct interest_map *self, const struct view *view)
{
	grid_clear(self);
	self->level = level_wanted(self);
	self->cells_per_metre = power(-self->level);
	self->built = view->serial;
	self->compacted = view->compacted;
	if (!place_all(self, view)) {
		grid_clear(self);
		return false;
	}
	self->standing = true;
	return true;
}

void grid_build(struct interest_map *self, const struct view *view)
{
	if (!build_cells(self, view))
		return; /* without memory: retried with the next report */
	/* Every interest is stale: its members are found with the next frame. */
	for (uint32_t i = 0; i < self->interests.count; i++) {
		interest_rest(self, self->interests.items[i]);
		self->interests.items[i]->stale = true;
	}
}

/* ---- following the view ------------------------------------------------------------------------ */

static void show_to_followers(struct interest_map *self, const struct wire_body *body)
{
	uint32_t at;
	if (self->followed.count == 0 || !table_find(&self->followed, body->id, &at))
		return;
	const struct interest_followers *list = &self->followers.items[at];
	for (uint32_t i = 0; i < list->interests.count; i++) {
		interest_test_body(self, list->interests.items[i], body);
		list->interests.items[i]->due = true;
	}
}

static void show_to_watchers(struct interest_map *self, uint32_t at, const struct wire_body *body)
{
	for (uint32_t i = 0; i < self->cells.items[at].watchers.count; i++)
		interest_test_body(self, self->cells.items[at].watchers.items[i], body);
}

static enum status follow_row(struct interest_map *self, const struct view *view, uint32_t row)
{
	const struct wire_body *body = &view->rows[row].body;
	while (self->places.count <= row) {
		if (ARRAY_RESERVE(&self->places, self->places.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		self->places.items[self->places.count++] =
			(struct interest_place){ .cell = NO_CELL };
	}
	uint64_t key = key_of(self, body->position);
	uint32_t before = self->places.items[row].cell;
	if (before == NO_CELL || self->cells.items[before].key != key) {
		/* The watchers of the cell that it leaves test its new position, too. */
		if (before != NO_CELL) {
			show_to_watchers(self, before, body);
			remove_from_cell(self, row);
		}
		enum status status = add_to_cell(self, row, key);
		if (status != STATUS_OK)
			return status;
	}
	show_to_watchers(self, self->places.items[row].cell, body);
	for (uint32_t i = 0; i < self->wides.count; i++)
		interest_test_body(self, self->wides.items[i], body);
	show_to_followers(self, body);
	return STATUS_OK;
}

void interest_map_before(struct interest_map *self, const struct view *view,
			 const struct tick_report *report)
{
	if (!self->standing || report->whole)
		return;
	for (uint32_t i = 0; i < report->removed_count; i++) {
		uint32_t row, at, id = report->removed[i];
		if (!table_find(&view->index, id, &row) || row >= self->places.count)
			continue;
		uint32_t cell = self->places.items[row].cell;
		for (uint32_t k = 0; cell != NO_CELL && k < self->cells.items[cell].watchers.count;
		     k++)
			interest_remove_member(self->cells.items[cell].watchers.items[k], id);
		for (uint32_t k = 0; k < self->wides.count; k++)
			interest_remove_member(self->wides.items[k], id);
		if (table_find(&self->followed, id, &at))
			for (uint32_t k = 0; k < self->followers.items[at].interests.count; k++)
				interest_remove_member(self->followers.items[at].interests.items[k],
						       id);
		remove_from_cell(self, row);
	}
}

static void enter_cells(struct interest_map *self)
{
	for (uint32_t i = 0; i < self->interests.count; i++)
		if (!self->interests.items[i]->rests)
			interest_enter_cells(self, self->interests.items[i]);
}

/* After a compaction of the view: rebuilds the places; changed rows are found by their columns'
 * serials. */
static bool follow_compaction(struct interest_map *self, const struct view *view)
{
	if (!build_cells(self, view))
		return false;
	enter_cells(self);
	for (uint32_t row = 0; row < view->row_count; row++) {
		bool changed = false;
		for (uint32_t c = 0; c < WIRE_COLUMN_COUNT && !changed; c++)
			changed = view->rows[row].changed[c] == view->serial;
		if (!view->rows[row].live || !changed)
			continue;
		if (follow_row(self, view, row) != STATUS_OK)
			return false;
		/* Its old cell is unknown, so interests that have it as a member test it here. */
		for (uint32_t i = 0; i < self->interests.count; i++)
			if (!self->interests.items[i]->rests &&
			    interest_sees(self->interests.items[i], view->rows[row].body.id))
				interest_test_body(self, self->interests.items[i],
						   &view->rows[row].body);
	}
	return true;
}

static bool follow_changes(struct interest_map *self, const struct view *view)
{
	const struct view_changes *changes = &view->ring[view->serial % WIRE_RING_TICKS];
	for (uint32_t i = 0; i < changes->rows.count; i++)
		if (follow_row(self, view, changes->rows.items[i]) != STATUS_OK)
			return false;
	return true;
}

/* Rebuilds the cells when the wanted size differs by a factor of four. */
static void fit_cells(struct interest_map *self, const struct view *view)
{
	int32_t away = self->level - level_wanted(self);
	if (away > -2 && away < 2)
		return;
	if (build_cells(self, view))
		enter_cells(self);
}

/* At the end of a report. */
static void refresh_interest(struct interest_map *self, const struct view *view,
			     struct interest *interest)
{
	interest->cost = interest->shown;
	if (interest->rests)
		interest_rest(self, interest);
	else if (interest_needs_settling(interest, view))
		interest_settle(self, view, interest, interest->stale);
	else
		interest->due = false;
}

void interest_map_after(struct interest_map *self, const struct view *view,
			const struct tick_report *report)
{
	if (self->interests.count == 0)
		return;
	for (uint32_t i = 0; i < self->interests.count; i++)
		self->interests.items[i]->shown = 0;
	if (report->whole || !self->standing) {
		grid_build(self, view);
		return;
	}
	bool good = self->compacted != view->compacted ? follow_compaction(self, view)
						       : follow_changes(self, view);
	if (!good) {
		grid_clear(self);
		return;
	}
	for (uint32_t i = 0; i < self->interests.count; i++)
		refresh_interest(self, view, self->interests.items[i]);
	if (view->serial % GRID_REBUILD_SERIALS == 0)
		fit_cells(self, view);
}
