/* pile_basis.c: the basis that `pile` keeps between ticks: where each displacement and each row was
 * in the optimum of the last step. Any basis leads to an optimum, but of several equal ones it decides
 * which; so it is state, and part of images and hashes.
 *
 *   block: u32 bodies, u32 rows, bodies × (u32 id, 6 × u8 place), rows × (u32 low, u32 high, u32 part of the
 *          low one, u32 part of the high one, u8 place + 16 × place of what is left of its overlap), and, if
 *          one is above 0, bodies × (u8 grown,
 *          u8 halved + 8 × waits + 64 × lifts + 128 × whole), and, if one is above 0, bodies ×
 *          (u8 level, u8 damping of its softness), after the counts, which are then there too
 *
 * Bodies ascend by id, rows by key. A row that is not listed did not press, and its programme does not go on
 * in the next step. A block without these
 * counts is what builds without pile.acceleration and polyhedra wrote, and what worlds without them write.
 */
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/methods/pile.h"

#include <string.h>

enum {
	HEAD_BYTES = 8,
	COLUMN_BYTES = 4 + PILE_COLUMNS,
	ROW_BYTES = 17,
	COUNT_BYTES = 2,
	SOFT_BYTES = 2,
	SLACK_SHIFT = 4,
	HALVED_END = 8,
	LIFTS = 64,
	WHOLE = 128
};
/* So each number of three bits is a count that there is. */
_Static_assert(SMOOTH_HALVINGS == HALVED_END - 1 && WAIT_DOUBLINGS == LIFTS / HALVED_END - 1,
	       "the counts of a body fill their bits");

int pile_key_compare(const struct pile_key *a, const struct pile_key *b)
{
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->part_low != b->part_low)
		return a->part_low < b->part_low ? -1 : 1;
	return a->part_high == b->part_high ? 0 : a->part_high < b->part_high ? -1 : 1;
}

struct pile_key pile_key_of(uint32_t placement, uint32_t part, uint32_t other, uint32_t other_part)
{
	ASSERT(placement != other);
	return placement < other ? (struct pile_key){ placement, other, part, other_part }
				 : (struct pile_key){ other, placement, other_part, part };
}

void pile_basis_release(struct pile_basis *self)
{
	heap_free(self->columns);
	heap_free(self->rows);
	*self = (struct pile_basis){ 0 };
}

static enum status allocate_basis(struct pile_basis *self, uint32_t columns, uint32_t rows)
{
	*self = (struct pile_basis){ .column_count = columns, .row_count = rows };
	self->columns = heap_alloc(MAX_OF(columns, 1u) * sizeof *self->columns);
	self->rows = heap_alloc(MAX_OF(rows, 1u) * sizeof *self->rows);
	if (self->columns != NULL && self->rows != NULL)
		return STATUS_OK;
	pile_basis_release(self);
	return STATUS_NO_MEMORY;
}

static int compare_columns(const void *a, const void *b, void *context)
{
	const struct pile_column_places *x = a, *y = b;
	UNUSED(context);
	return x->body < y->body ? -1 : x->body > y->body;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct pile_row_place *x = a, *y = b;
	UNUSED(context);
	return pile_key_compare(&x->key, &y->key);
}

static bool is_kept(const struct pile_row *row)
{
	return row->taken && (row->place != LP_BASIC || row->slack != LP_LOW || row->held);
}

enum status pile_basis_of(const struct pile *self, struct pile_basis *out)
{
	const struct step *step = self->step;
	uint32_t kept = 0;
	ASSERT(self->places != NULL && (self->rows != NULL || self->row_count == 0));
	for (uint32_t i = 0; i < self->row_count; i++)
		kept += is_kept(&self->rows[i]);
	size_t scratch_bytes =
		MAX_OF(step->body_count * sizeof *out->columns, (size_t)kept * sizeof *out->rows);
	void *scratch = arena_push(&step->dynamics->scratch, scratch_bytes);
	if (scratch == NULL || allocate_basis(out, step->body_count, kept) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		struct pile_column_places *to = &out->columns[slot];
		*to = (struct pile_column_places){
			.body = step->dynamics->tables->body.id[step->bodies[slot]],
			.grown = self->bodies[slot].grown,
			.halved = self->bodies[slot].halved,
			.waits = self->bodies[slot].waits,
			.whole = self->bodies[slot].whole,
			.lifts = self->bodies[slot].lifts,
			.softness = self->bodies[slot].softness,
		};
		memcpy(to->place, self->places[slot], sizeof to->place);
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->row_count; i++)
		if (is_kept(&self->rows[i]))
			out->rows[count++] =
				(struct pile_row_place){ self->rows[i].key, self->rows[i].place,
							 self->rows[i].slack };
	ASSERT(count == kept);
	sort_items(out->columns, scratch, out->column_count, sizeof *out->columns, compare_columns,
		   NULL);
	sort_items(out->rows, scratch, out->row_count, sizeof *out->rows, compare_rows, NULL);
	return STATUS_OK;
}

static bool any_softness(const struct pile_basis *self)
{
	for (uint32_t i = 0; i < self->column_count; i++)
		if (self->columns[i].softness.level > 0 || self->columns[i].softness.damping > 0)
			return true;
	return false;
}

static bool any_counts(const struct pile_basis *self)
{
	if (any_softness(self))
		return true;
	for (uint32_t i = 0; i < self->column_count; i++)
		if (self->columns[i].grown > 0 || self->columns[i].halved > 0 ||
		    self->columns[i].waits > 0 || self->columns[i].whole || self->columns[i].lifts)
			return true;
	return false;
}

uint32_t pile_basis_bytes(const struct pile_basis *self)
{
	ASSERT(self->column_count > 0 || self->row_count == 0);
	if (self->column_count == 0)
		return 0;
	return HEAD_BYTES + self->column_count * COLUMN_BYTES + self->row_count * ROW_BYTES +
	       (any_counts(self) ? self->column_count * COUNT_BYTES : 0) +
	       (any_softness(self) ? self->column_count * SOFT_BYTES : 0);
}

void pile_basis_write(const struct pile_basis *self, uint8_t *block)
{
	struct writer out = writer_over(block, pile_basis_bytes(self));
	if (self->column_count == 0)
		return;
	ASSERT(self->columns != NULL && self->rows != NULL);
	write_u32(&out, self->column_count);
	write_u32(&out, self->row_count);
	for (uint32_t i = 0; i < self->column_count; i++) {
		write_u32(&out, self->columns[i].body);
		write_raw(&out, self->columns[i].place, PILE_COLUMNS);
	}
	for (uint32_t i = 0; i < self->row_count; i++) {
		write_u32(&out, self->rows[i].key.low);
		write_u32(&out, self->rows[i].key.high);
		write_u32(&out, self->rows[i].key.part_low);
		write_u32(&out, self->rows[i].key.part_high);
		write_u8(&out, (uint8_t)(self->rows[i].place | self->rows[i].slack << SLACK_SHIFT));
	}
	for (uint32_t i = 0; any_counts(self) && i < self->column_count; i++) {
		const struct pile_column_places *column = &self->columns[i];
		write_u8(&out, column->grown);
		write_u8(&out,
			 (uint8_t)(column->halved | column->waits * HALVED_END |
				   (column->lifts ? LIFTS : 0) | (column->whole ? WHOLE : 0)));
	}
	for (uint32_t i = 0; any_softness(self) && i < self->column_count; i++) {
		write_u8(&out, self->columns[i].softness.level);
		write_u8(&out, self->columns[i].softness.damping);
	}
}

static enum status refuse_block(struct reason *why, const char *what)
{
	return reason_set(why, STATUS_CORRUPT, -1, "method_block", "no block of pile: %s", what);
}

/* Whether bodies and rows ascend and places exist. */
static bool basis_is_valid(const struct pile_basis *self)
{
	for (uint32_t i = 0; i < self->column_count; i++) {
		if (i > 0 && self->columns[i - 1].body >= self->columns[i].body)
			return false;
		for (uint32_t k = 0; k < PILE_COLUMNS; k++)
			if (self->columns[i].place[k] > LP_BETWEEN)
				return false;
		if (self->columns[i].softness.level > PILE_SOFT_LEVELS ||
		    self->columns[i].softness.damping > PILE_DAMPING_MAX)
			return false;
	}
	for (uint32_t i = 0; i < self->row_count; i++)
		if (self->rows[i].place > LP_BETWEEN || self->rows[i].slack > LP_BETWEEN ||
		    (i > 0 && pile_key_compare(&self->rows[i - 1].key, &self->rows[i].key) >= 0))
			return false;
	return true;
}

enum status pile_basis_read(const uint8_t *block, uint32_t bytes, struct pile_basis *out,
			    struct reason *why)
{
	struct reader in = reader_over(block, bytes);
	*out = (struct pile_basis){ 0 };
	if (bytes == 0)
		return STATUS_OK;
	if (bytes < HEAD_BYTES)
		return refuse_block(why, "its head is cut");
	uint32_t columns = read_u32(&in), rows = read_u32(&in);
	uint64_t least = HEAD_BYTES + (uint64_t)columns * COLUMN_BYTES + (uint64_t)rows * ROW_BYTES;
	bool soft = bytes == least + (uint64_t)columns * (COUNT_BYTES + SOFT_BYTES);
	bool counted = soft || bytes == least + (uint64_t)columns * COUNT_BYTES;
	if ((bytes != least && !counted) || columns == 0)
		return refuse_block(why, "its length is wrong");
	if (allocate_basis(out, columns, rows) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	for (uint32_t i = 0; i < columns; i++) {
		out->columns[i] = (struct pile_column_places){ .body = read_u32(&in) };
		read_raw(&in, out->columns[i].place, PILE_COLUMNS);
	}
	for (uint32_t i = 0; i < rows; i++) {
		struct pile_key key;
		key.low = read_u32(&in);
		key.high = read_u32(&in);
		key.part_low = read_u32(&in);
		key.part_high = read_u32(&in);
		uint8_t place = read_u8(&in);
		out->rows[i] = (struct pile_row_place){ key, place & ((1u << SLACK_SHIFT) - 1),
							(uint8_t)(place >> SLACK_SHIFT) };
	}
	for (uint32_t i = 0; counted && i < columns; i++) {
		out->columns[i].grown = read_u8(&in);
		uint8_t halved = read_u8(&in);
		out->columns[i].halved = halved % HALVED_END;
		out->columns[i].waits = halved % LIFTS / HALVED_END;
		out->columns[i].lifts = (halved & LIFTS) != 0;
		out->columns[i].whole = (halved & WHOLE) != 0;
	}
	for (uint32_t i = 0; soft && i < columns; i++) {
		out->columns[i].softness.level = read_u8(&in);
		out->columns[i].softness.damping = read_u8(&in);
	}
	if (basis_is_valid(out) && counted == any_counts(out) && soft == any_softness(out))
		return STATUS_OK;
	pile_basis_release(out);
	return refuse_block(
		why, "its entries do not ascend, a place does not exist, or all counts are 0");
}

/* The first of `count` items for which the key is not below `key`. */
static uint32_t find_row(const struct pile_basis *self, const struct pile_key *key)
{
	uint32_t low = 0, high = self->row_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (pile_key_compare(&self->rows[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(low == high && low <= self->row_count);
	return low;
}

static uint32_t find_column(const struct pile_basis *self, body_id body)
{
	uint32_t low = 0, high = self->column_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->columns[middle].body < body)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(low == high && low <= self->column_count);
	return low;
}

void pile_basis_counts(const struct pile_basis *self, body_id body, struct pile_body *out)
{
	uint32_t at = find_column(self, body);
	ASSERT(body != 0);
	bool known = at < self->column_count && self->columns[at].body == body;
	out->grown = known ? self->columns[at].grown : 0;
	out->halved = known ? self->columns[at].halved : 0;
	out->waits = known ? self->columns[at].waits : 0;
	out->whole = known && self->columns[at].whole;
	out->lifts = known && self->columns[at].lifts;
	out->softness = known ? self->columns[at].softness : (struct pile_softness){ 0 };
}

void pile_basis_recall(struct pile *self)
{
	const struct pile_basis *before = self->before;
	const struct step *step = self->step;
	ASSERT(before != NULL && self->places != NULL);
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		body_id id = step->dynamics->tables->body.id[step->bodies[slot]];
		uint32_t at = find_column(before, id);
		bool known = at < before->column_count && before->columns[at].body == id;
		for (uint32_t k = 0; k < PILE_COLUMNS; k++)
			self->places[slot][k] = known ? before->columns[at].place[k] : LP_LOW;
	}
	for (uint32_t i = 0; i < self->row_count; i++) {
		struct pile_row *row = &self->rows[i];
		uint32_t at = find_row(before, &row->key);
		row->taken = at < before->row_count &&
			     pile_key_compare(&before->rows[at].key, &row->key) == 0;
		row->place = row->taken ? before->rows[at].place : LP_BASIC;
		row->slack = row->taken ? before->rows[at].slack : LP_LOW;
		ASSERT(row->place <= LP_BETWEEN);
	}
}
