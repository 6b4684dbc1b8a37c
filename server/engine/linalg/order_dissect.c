/* order_dissect.c: nested dissection (George 1973) by places of bodies.
 *
 * A set of bodies that few others, the separator, divide into two parts is ordered part after part, and the
 * separator last: then no column of one part has a row in the other. Both parts are divided in the same
 * way. What is smaller than LEAF is ordered by approximate minimum degree.
 *
 * A separator is a smallest one within a band: bodies are sorted into slices across the longest side of
 * the box around them, those of the middle slices are the band, which part lies on each side is known. The
 * smallest set of bodies of the band whose removal parts both sides is as large as the number of ways from
 * side to side through the band that share no body (Menger). They are found as a flow (Dinic 1970) in the
 * graph in which each body is two nodes, IN and OUT, with an edge of capacity 1 between them. Bodies
 * whose IN, but not OUT, can be reached from the first side by what is left of the capacities are the
 * separator.
 *
 * Coordinates are only compared, and sorted into slices by one subtraction and one product, so that the
 * order is the same on every machine. Where no side of the box has a length, or a part would have next to
 * nothing, the set is a leaf: the order is then worse, but one.
 */
#include "server/engine/linalg/order_dissect.h"

#include <string.h>

#include "server/engine/linalg/order_amd.h"

#define NONE UINT32_MAX
#define END (UINT32_MAX - 1) /* of a way: a side */

/* Bodies of a leaf at most. Larger: faster; smaller: less fill-in, down to some 50. */
enum { LEAF = 100, SLICES = 256, DEPTH_MAX = 64 };
/* Of the bodies of a set: how many are on each side of the band at least. Larger: parts of more equal size;
 * smaller: smaller separators. */
#define ASIDE 0.35
/* The same of a part beside its separator; else the set is a leaf. */
#define PART_LEAST 0.125

enum band_side { OUTSIDE, LOWER, UPPER, BAND, SEPARATOR };

struct dissection {
	uint32_t count;
	const uint32_t *start, *column;
	const vec3 *place;
	uint32_t *item;	  /* the order in the making: sets are ranges of it */
	uint8_t *side;	  /* of each body in the set: enum band_side */
	bool *touches[2]; /* a body of the band has neighbours of LOWER, UPPER */
	/* Ways through the band: the body before and after; NONE: no way leads through it. */
	uint32_t *before, *after;
	/* Nodes: 2 × body is IN, the next OUT. */
	uint32_t *level, *next, *queue;
	uint32_t *leaf, leaves; /* where each begins and ends in `item` */
	uint32_t *other;	/* by bodies: of the set */
};

static bool allocate_dissection(struct dissection *self, struct arena *arena)
{
	size_t n = self->count;
	uint32_t **lists[] = { &self->before, &self->after, &self->other };
	uint32_t **doubles[] = { &self->level, &self->next, &self->queue, &self->leaf };
	bool good = true;
	for (uint32_t i = 0; i < COUNT_OF(lists); i++)
		good = (*lists[i] = ARENA_ARRAY(arena, uint32_t, n)) != NULL && good;
	for (uint32_t i = 0; i < COUNT_OF(doubles); i++)
		good = (*doubles[i] = ARENA_ARRAY(arena, uint32_t, 2 * n)) != NULL && good;
	self->side = ARENA_ARRAY(arena, uint8_t, n);
	self->touches[0] = ARENA_ARRAY(arena, bool, n);
	self->touches[1] = ARENA_ARRAY(arena, bool, n);
	return good && self->side != NULL && self->touches[0] != NULL && self->touches[1] != NULL;
}

/* ---- the band ---------------------------------------------------------------------------------- */

/* The longest side of the box around a set; from where to where. False: it is a point. */
static bool find_axis(const struct dissection *self, const uint32_t *item, uint32_t count,
		      uint32_t *axis, double *low, double *high)
{
	*low = *high = 0;
	for (uint32_t k = 0; k < 3; k++) {
		double least = vec3_get(self->place[item[0]], k), most = least;
		for (uint32_t i = 1; i < count; i++) {
			double at = vec3_get(self->place[item[i]], k);
			least = at < least ? at : least;
			most = at > most ? at : most;
		}
		if (most - least > *high - *low) {
			*axis = k;
			*low = least;
			*high = most;
		}
	}
	return *high > *low;
}

/* Sorts bodies of a set into LOWER, BAND and UPPER. False: it is a point. */
static bool find_band(struct dissection *self, const uint32_t *item, uint32_t count)
{
	uint32_t inside[SLICES] = { 0 }, axis = 0, first = 0, last = SLICES - 1;
	uint32_t below = 0, above = 0;
	double low, high;
	if (!find_axis(self, item, count, &axis, &low, &high))
		return false;
	double scale = SLICES / (high - low);
	uint32_t *slice = self->other, aside = (uint32_t)(ASIDE * count);
	for (uint32_t i = 0; i < count; i++) {
		double at = (vec3_get(self->place[item[i]], axis) - low) * scale;
		slice[i] = at < SLICES - 1 ? (uint32_t)at : SLICES - 1;
		inside[slice[i]]++;
	}
	while (first < last && below < aside)
		below += inside[first++];
	while (last > first && above < aside)
		above += inside[last--];
	for (uint32_t i = 0; i < count; i++)
		self->side[item[i]] = slice[i] < first ? LOWER : slice[i] > last ? UPPER : BAND;
	return true;
}

/* Neighbours on opposite sides: the lower one joins the band. Then who touches what. */
static void close_band(struct dissection *self, const uint32_t *item, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t v = item[i];
		for (uint32_t p = self->start[v]; p < self->start[v + 1]; p++)
			if (self->side[v] == LOWER && self->side[self->column[p]] == UPPER)
				self->side[v] = BAND;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t v = item[i];
		self->touches[0][v] = self->touches[1][v] = false;
		self->before[v] = self->after[v] = NONE;
		for (uint32_t p = self->start[v]; p < self->start[v + 1]; p++) {
			uint8_t side = self->side[self->column[p]];
			self->touches[0][v] = self->touches[0][v] || side == LOWER;
			self->touches[1][v] = self->touches[1][v] || side == UPPER;
		}
	}
}

/* ---- the flow ---------------------------------------------------------------------------------- */

static bool is_out(uint32_t node)
{
	return node % 2 == 1;
}

/* The k-th node that can be reached from a node in one step; NONE: k is too large; END: there is none at
 * this k. */
static uint32_t step_from(const struct dissection *self, uint32_t node, uint32_t k)
{
	uint32_t v = node / 2;
	bool used = self->before[v] != NONE;
	if (!is_out(node)) {
		if (k > 0)
			return NONE;
		if (!used)
			return 2 * v + 1;
		return self->before[v] == END ? NONE : 2 * self->before[v] + 1;
	}
	if (k == 0)
		return used ? 2 * v : END;
	uint32_t p = self->start[v] + k - 1;
	if (p >= self->start[v + 1])
		return NONE;
	uint32_t w = self->column[p];
	return self->side[w] == BAND ? 2 * w : END;
}

/* Levels of nodes by steps from the lower side, up to the first from which the upper one is touched. Whether
 * there is one. */
static bool find_levels(struct dissection *self, const uint32_t *item, uint32_t count)
{
	uint32_t head = 0, tail = 0, most = NONE;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t v = item[i];
		self->level[2 * v] = self->level[2 * v + 1] = NONE;
		self->next[2 * v] = self->next[2 * v + 1] = 0;
		if (self->side[v] != BAND || !self->touches[0][v])
			continue;
		self->level[2 * v] = 0;
		self->queue[tail++] = 2 * v;
	}
	while (head < tail && self->level[self->queue[head]] < most) {
		uint32_t node = self->queue[head++], to;
		if (is_out(node) && self->touches[1][node / 2]) {
			most = self->level[node];
			continue;
		}
		for (uint32_t k = 0; (to = step_from(self, node, k)) != NONE; k++) {
			if (to == END || self->level[to] != NONE)
				continue;
			self->level[to] = self->level[node] + 1;
			self->queue[tail++] = to;
		}
	}
	return most != NONE;
}

/* Lets a way go along a path of nodes, which takes back what leads against it. */
static void take_path(struct dissection *self, const uint32_t *path, uint32_t length)
{
	uint32_t from = END;
	for (uint32_t i = 0; i < length; i++) {
		uint32_t v = path[i] / 2, to = i + 1 < length ? path[i + 1] / 2 : END;
		if (!is_out(path[i])) {
			/* From another body, or from its own OUT: then its way is taken back. */
			if (from != v)
				self->before[v] = from;
			else
				self->before[v] = self->after[v] = NONE;
		} else if (to != v) {
			self->after[v] = to;
		}
		from = v;
	}
}

/* Follows levels from a body to the upper side. */
static void find_path(struct dissection *self, uint32_t body)
{
	uint32_t *path = self->queue, length = 1;
	path[0] = 2 * body;
	while (length > 0) {
		uint32_t node = path[length - 1];
		if (is_out(node) && self->touches[1][node / 2]) {
			take_path(self, path, length);
			for (uint32_t i = 0; i < length; i++)
				self->level[path[i]] = NONE;
			return;
		}
		uint32_t to = step_from(self, node, self->next[node]++);
		if (to == NONE) {
			self->level[node] = NONE;
			length--;
		} else if (to != END && self->level[to] != NONE &&
			   self->level[to] == self->level[node] + 1) {
			path[length++] = to;
		}
	}
}

static void find_flow(struct dissection *self, const uint32_t *item, uint32_t count)
{
	while (find_levels(self, item, count))
		for (uint32_t i = 0; i < count; i++) {
			uint32_t v = item[i];
			if (self->side[v] == BAND && self->touches[0][v] && self->level[2 * v] == 0)
				find_path(self, v);
		}
}

/* ---- sets -------------------------------------------------------------------------------------- */

/* Whether the body is a separator's, or on which side of it; by the levels that the last search reached. */
static uint8_t side_of(const struct dissection *self, uint32_t v)
{
	if (self->side[v] != BAND)
		return self->side[v];
	if (self->level[2 * v + 1] != NONE)
		return LOWER;
	return self->level[2 * v] != NONE ? SEPARATOR : UPPER;
}

/* Divides a set: its items become those of the lower part, of the upper one and of the separator. */
static bool divide_set(struct dissection *self, uint32_t *item, uint32_t count, uint32_t *lower,
		       uint32_t *upper)
{
	static const uint8_t TURN[] = { LOWER, UPPER, SEPARATOR };
	uint32_t at = 0, sizes[COUNT_OF(TURN)];
	if (!find_band(self, item, count))
		return false;
	close_band(self, item, count);
	find_flow(self, item, count);
	for (uint32_t turn = 0; turn < COUNT_OF(TURN); turn++) {
		uint32_t begin = at;
		for (uint32_t i = 0; i < count; i++)
			if (side_of(self, item[i]) == TURN[turn])
				self->other[at++] = item[i];
		sizes[turn] = at - begin;
	}
	ASSERT(at == count);
	*lower = sizes[0];
	*upper = sizes[1];
	return true;
}

static void dissect_set(struct dissection *self, uint32_t begin, uint32_t end)
{
	struct {
		uint32_t begin, end;
	} stack[DEPTH_MAX];
	uint32_t depth = 0;
	stack[depth].begin = begin;
	stack[depth++].end = end;
	while (depth > 0) {
		depth--;
		begin = stack[depth].begin;
		end = stack[depth].end;
		uint32_t *item = self->item + begin, count = end - begin, lower = 0, upper = 0;
		bool good = count > LEAF && depth + 2 <= DEPTH_MAX &&
			    divide_set(self, item, count, &lower, &upper);
		good = good && MIN_OF(lower, upper) > PART_LEAST * count;
		if (good)
			memcpy(item, self->other, count * sizeof *item);
		for (uint32_t i = 0; i < count; i++)
			self->side[item[i]] = OUTSIDE;
		if (!good) {
			self->leaf[2 * self->leaves] = begin;
			self->leaf[2 * self->leaves++ + 1] = end;
			continue;
		}
		stack[depth].begin = begin;
		stack[depth++].end = begin + lower;
		stack[depth].begin = begin + lower;
		stack[depth++].end = begin + lower + upper;
	}
}

/* ---- leaves ------------------------------------------------------------------------------------ */

/* Orders the bodies of all leaves by approximate minimum degree, each leaf in its range. */
static enum status order_leaves(struct dissection *self, struct arena *arena)
{
	uint32_t n = 0, entries = 0, *number = self->before, *at = self->after;
	memset(number, 0xff, self->count * sizeof *number);
	for (uint32_t l = 0; l < self->leaves; l++)
		for (uint32_t i = self->leaf[2 * l]; i < self->leaf[2 * l + 1]; i++) {
			self->other[n] = self->item[i];
			at[n] = l;
			number[self->item[i]] = n++;
		}
	for (uint32_t i = 0; i < n; i++)
		entries += self->start[self->other[i] + 1] - self->start[self->other[i]];
	size_t words = order_amd_words(n, entries);
	uint32_t *work = ARENA_ARRAY(arena, uint32_t, words);
	uint32_t *start = ARENA_ARRAY(arena, uint32_t, n + 1);
	uint32_t *column = ARENA_ARRAY(arena, uint32_t, entries);
	uint32_t *order = ARENA_ARRAY(arena, uint32_t, n);
	if (work == NULL || start == NULL || column == NULL || order == NULL)
		return STATUS_NO_MEMORY;
	entries = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = self->other[i];
		start[i] = entries;
		for (uint32_t p = self->start[v]; p < self->start[v + 1]; p++)
			if (number[self->column[p]] != NONE)
				column[entries++] = number[self->column[p]];
	}
	start[n] = entries;
	order_amd(n, start, column, order, work);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t l = at[order[k]];
		self->item[self->leaf[2 * l]++] = self->other[order[k]];
	}
	return STATUS_OK;
}

enum status order_dissect(struct arena *arena, uint32_t count, const uint32_t *start,
			  const uint32_t *column, const vec3 *place, uint32_t *order)
{
	struct dissection self = {
		.count = count, .start = start, .column = column, .place = place, .item = order
	};
	struct arena_mark mark = arena_mark(arena);
	enum status status = STATUS_NO_MEMORY;
	if (allocate_dissection(&self, arena)) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = i;
		memset(self.side, OUTSIDE, count);
		dissect_set(&self, 0, count);
		status = order_leaves(&self, arena);
	}
	arena_rewind(arena, mark);
	return status;
}
