/* See tower.h. */
#include "server/commands/tower.h"

#include "server/base/heap.h"
#include "server/base/suggestion.h"
#include "server/engine/statics/overhang.h"
#include "server/engine/math/scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The largest piece list needs rows of at most this many. */
enum { COUNT_MAX = 10000 };

uint32_t tower_add_shape(struct tower *self, const struct tower_shape *shape)
{
	ASSERT(self->shape_count < TOWER_SHAPES_MAX);
	ASSERT(shape->point_count >= 3 && shape->point_count <= TOWER_POINTS_MAX);
	self->shapes[self->shape_count] = *shape;
	return self->shape_count++;
}

uint32_t tower_add_rectangle(struct tower *self, const char *name, double width, double height)
{
	double x = 0.5 * width, y = 0.5 * height;
	struct tower_shape shape = { .name = name,
				     .points = { { -x, -y }, { x, -y }, { x, y }, { -x, y } },
				     .point_count = 4,
				     .rectangle = true };
	return tower_add_shape(self, &shape);
}

void tower_add(struct tower *self, uint32_t shape, double x, double y, double degrees)
{
	ASSERT(shape < self->shape_count);
	if (self->status != STATUS_OK)
		return;
	if (self->count == TOWER_PIECES_MAX) {
		self->status = STATUS_LIMIT;
		return;
	}
	if (self->count == self->capacity) {
		uint32_t capacity = MAX_OF(64u, 2 * self->capacity);
		struct tower_piece *pieces =
			heap_realloc(self->pieces, capacity * sizeof *self->pieces);
		if (pieces == NULL) {
			self->status = STATUS_NO_MEMORY;
			return;
		}
		self->pieces = pieces;
		self->capacity = capacity;
	}
	self->pieces[self->count++] = (struct tower_piece){ x, y, degrees, shape };
}

static const struct tower_kind *find_kind(const char *name)
{
	uint32_t count;
	const struct tower_kind *kinds = tower_kinds(&count);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static enum status refuse_kind(const char *name, struct reason *why)
{
	char words[200] = "", near[64];
	uint32_t count, used = 0;
	const struct tower_kind *kinds = tower_kinds(&count);
	struct suggestion suggestion = suggestion_for(name);
	for (uint32_t i = 0; i < count; i++) {
		suggestion_offer(&suggestion, kinds[i].name);
		used += (uint32_t)snprintf(words + used, sizeof words - used, "%s%s",
					   i > 0 ? ", " : "", kinds[i].name);
	}
	return reason_set(why, STATUS_RANGE, -1, "kind",
			  "--kind: there is no tower \"%.40s\"%s; there are %s", name,
			  suggestion_text(&suggestion, near, sizeof near), words);
}

/* The best places are those of bricks without a gap, which a factor below 1 would push into each
 * other. */
static enum status check_overhang(const struct tower_order *order, struct reason *why)
{
	if (order->count > OVERHANG_MAX)
		return reason_set(why, STATUS_RANGE, -1, "count",
				  "--count %u: the best overhang is known of 1 to %d bricks; take "
				  "--kind parabola for more",
				  order->count, OVERHANG_MAX);
	if (order->gap > 0)
		return reason_set(why, STATUS_RANGE, -1, "gap",
				  "--gap %g: bricks of a stack of kind overhang have no gap",
				  order->gap);
	if (order->factor != 0 && !(order->factor >= 1 && order->factor <= 10))
		return reason_set(
			why, STATUS_RANGE, -1, "factor",
			"--factor %g: of a stack of kind overhang it must be 1 to 10, because "
			"bricks beside each other would overlap",
			order->factor);
	return STATUS_OK;
}

/* What only a wall has: columns, and a brick that is missing. */
static enum status check_wall(const struct tower_order *order, const struct tower_kind *kind,
			      struct reason *why)
{
	bool wall = strcmp(kind->name, "wall") == 0;
	if (order->columns != 0 && !wall)
		return reason_set(why, STATUS_RANGE, -1, "columns",
				  "--columns %u: a tower of kind %s has none, a wall has",
				  order->columns, kind->name);
	if (order->without && !wall)
		return reason_set(why, STATUS_RANGE, -1, "without",
				  "--without: of a tower of kind %s no brick can be left out, of a "
				  "wall it can",
				  kind->name);
	if (!order->without)
		return STATUS_OK;
	uint32_t rows = order->count == 0 ? kind->count : order->count;
	uint32_t columns = order->columns == 0 ? TOWER_COLUMNS : order->columns;
	if (order->without_row >= rows)
		return reason_set(
			why, STATUS_RANGE, -1, "without",
			"--without %u,%u: the wall has no such brick; its rows are 0 to %u",
			order->without_row, order->without_column, rows - 1);
	columns += order->without_row % 2; /* half bricks at the ends of odd rows */
	if (order->without_column >= columns)
		return reason_set(
			why, STATUS_RANGE, -1, "without",
			"--without %u,%u: the wall has no such brick; row %u has bricks 0 "
			"to %u",
			order->without_row, order->without_column, order->without_row, columns - 1);
	return STATUS_OK;
}

/* Refuses what no kind, or not this one, can be made of. */
static enum status check_order(const struct tower_order *order, const struct tower_kind *kind,
			       struct reason *why)
{
	if (order->factor != 0 && kind->factor == 0)
		return reason_set(why, STATUS_RANGE, -1, "factor",
				  "--factor: a tower of kind %s has none", kind->name);
	enum status status = check_wall(order, kind, why);
	if (status != STATUS_OK)
		return status;
	if (strcmp(kind->name, "overhang") == 0)
		return check_overhang(order, why);
	if (order->count > COUNT_MAX || order->columns > COUNT_MAX)
		return reason_set(why, STATUS_RANGE, -1, "count",
				  "--count %u --columns %u: each must be 1 to %d", order->count,
				  order->columns, COUNT_MAX);
	if (!(order->factor >= 0 && order->factor <= 10))
		return reason_set(why, STATUS_RANGE, -1, "factor",
				  "--factor %g: it must be above 0 and at most 10", order->factor);
	return STATUS_OK;
}

/* Takes the kind's values where the order has none, and refuses sizes that no brick can have. */
static enum status complete_order(struct tower_order *order, const struct tower_kind *kind,
				  struct reason *why)
{
	order->count = order->count == 0 ? kind->count : order->count;
	order->columns = order->columns == 0 ? TOWER_COLUMNS : order->columns;
	order->factor = order->factor == 0 ? kind->factor : order->factor;
	order->friction = order->friction < 0 ? kind->friction : order->friction;
	if (order->brick[0] == 0)
		memcpy(order->brick, kind->brick, sizeof order->brick);
	if (order->gap < 0)
		order->gap = kind->gap * order->brick[0];
	for (uint32_t k = 0; k < 3; k++)
		if (!(order->brick[k] >= 1e-3 && order->brick[k] <= 1e3))
			return reason_set(why, STATUS_RANGE, -1, "brick",
					  "--brick: %g m is no size of a brick; give 0.001 to 1000",
					  order->brick[k]);
	if (order->carried != TOWER_RIGID && order->space)
		return reason_set(
			why, STATUS_PLANAR, -1, "carried",
			"--carried: points carry pieces in the plane only; leave --space out");
	if (order->carried != TOWER_RIGID && order->friction > 0)
		return reason_set(
			why, STATUS_RANGE, -1, "friction",
			"--friction %g: method gauss, under which points carry pieces, has none; "
			"give --friction 0",
			order->friction);
	if (!(order->gap < 0.25 * order->brick[0]))
		return reason_set(why, STATUS_RANGE, -1, "gap",
				  "--gap %g: it must be less than a quarter of the brick's %g m",
				  order->gap, order->brick[0]);
	return STATUS_OK;
}

static double area_of(const struct tower_shape *shape)
{
	double twice = 0;
	for (uint32_t k = 0; k < shape->point_count; k++) {
		const double *p = shape->points[k],
			     *q = shape->points[(k + 1) % shape->point_count];
		twice += p[0] * q[1] - p[1] * q[0];
	}
	return 0.5 * twice;
}

/* kg: a brick has 1. */
static double mass_of(const struct tower *self, const struct tower_shape *shape)
{
	return area_of(shape) / (self->order.brick[0] * self->order.brick[1]);
}

/* Sizes that each may be can leave nothing of a piece, as cards that lean thicker than they are long. */
static enum status check_shapes(const struct tower *self, struct reason *why)
{
	for (uint32_t i = 0; i < self->shape_count; i++)
		if (!(area_of(&self->shapes[i]) > 0))
			return reason_set(why, STATUS_DEGENERATE, -1, "brick",
					  "--kind %s --count %u: the %s has no area with bricks of "
					  "%g x %g m; take more of them, or another --brick",
					  self->order.kind, self->order.count, self->shapes[i].name,
					  self->order.brick[0], self->order.brick[1]);
	return STATUS_OK;
}

enum status tower_make(struct tower *self, const struct tower_order *order, struct reason *why)
{
	*self = (struct tower){ .order = *order };
	const struct tower_kind *kind = find_kind(order->kind);
	if (kind == NULL)
		return refuse_kind(order->kind, why);
	enum status status = check_order(order, kind, why);
	if (status == STATUS_OK)
		status = complete_order(&self->order, kind, why);
	if (status != STATUS_OK)
		return status;
	kind->make(self);
	if (self->status == STATUS_LIMIT)
		return reason_set(why, STATUS_LIMIT, -1, "count",
				  "--count %u: a tower has at most %d pieces; take fewer",
				  self->order.count, TOWER_PIECES_MAX);
	return self->status == STATUS_OK ? check_shapes(self, why)
					 : reason_set(why, self->status, -1, "memory",
						      "no memory for %u pieces", self->count);
}

void tower_release(struct tower *self)
{
	heap_free(self->pieces);
	self->pieces = NULL;
}

/* ---- the text ------------------------------------------------------------------------------------ */

/* Lines of at most 400 bytes. */
struct tower_writer {
	struct bytes *out;
	enum status status;
};

__attribute__((format(printf, 2, 3))) static void put(struct tower_writer *text, const char *format,
						      ...)
{
	char line[400];
	va_list list;
	va_start(list, format);
	int count = vsnprintf(line, sizeof line, format, list);
	va_end(list);
	ASSERT(count >= 0 && (size_t)count < sizeof line);
	if (text->status == STATUS_OK)
		text->status = bytes_append(text->out, line, (size_t)count);
}

static double depth_of(const struct tower *self, const struct tower_shape *shape)
{
	return shape->fixed ? 4 * self->order.brick[2] : self->order.brick[2];
}

static void put_shape(struct tower_writer *text, const struct tower *self,
		      const struct tower_shape *shape)
{
	double deep = 0.5 * depth_of(self, shape);
	if (self->order.space && shape->rectangle) {
		put(text, "  %s: { kind: box, size: [%.15g, %.15g, %.15g] }\n", shape->name,
		    2 * shape->points[2][0], 2 * shape->points[2][1], 2 * deep);
		return;
	}
	put(text, "  %s: { kind: %s, points: [", shape->name,
	    self->order.space ? "hull" : "polygon");
	for (uint32_t k = 0; k < shape->point_count; k++) {
		const double *p = shape->points[k];
		const char *comma = k > 0 ? ", " : "";
		if (self->order.space)
			put(text, "%s[%.15g, %.15g, %.15g], [%.15g, %.15g, %.15g]", comma, p[0],
			    p[1], -deep, p[0], p[1], deep);
		else
			put(text, "%s[%.15g, %.15g]", comma, p[0], p[1]);
	}
	put(text, "] }\n");
}

/* How far the ground must reach to both sides: what falls may slide as far again as the
 * tower is wide and high. */
static double reach_of(const struct tower *self)
{
	double most = 10 * self->order.brick[0];
	for (uint32_t i = 0; i < self->count; i++)
		most = scalar_max(
			most, 4 * (scalar_abs(self->pieces[i].x) + scalar_abs(self->pieces[i].y)));
	return most;
}

static void put_head(struct tower_writer *text, const struct tower *self)
{
	const struct tower_order *order = &self->order;
	double reach = reach_of(self);
	put(text, "# cairn scene tower --kind %s --count %u: %u pieces.\n", order->kind,
	    order->count, self->count);
	put(text, "world: { name: %s, rate: 60%s%s, gravity: [0, %.15g, 0] }\n\nshapes:\n",
	    order->kind, order->space ? "" : ", planar: true",
	    order->carried != TOWER_RIGID ? ", method: gauss" : "", -order->gravity);
	if (order->space)
		put(text, "  ground: { kind: plane, offset: %.15g }\n", self->floor);
	else
		put(text,
		    "  ground: { kind: polygon, points: [[%.15g, %.15g], [%.15g, %.15g], "
		    "[%.15g, %.15g], [%.15g, %.15g]] }\n",
		    -reach, self->floor - order->brick[0], reach, self->floor - order->brick[0],
		    reach, self->floor, -reach, self->floor);
	for (uint32_t i = 0; i < self->shape_count; i++)
		put_shape(text, self, &self->shapes[i]);
	put(text, "\nprototypes:\n");
	for (uint32_t i = 0; i < self->shape_count; i++) {
		const struct tower_shape *shape = &self->shapes[i];
		put(text, "  %s: { shape: %s, ", shape->name, shape->name);
		if (shape->fixed)
			put(text, "status: static");
		else
			put(text, "mass: %.15g", mass_of(self, shape));
		put(text, ", friction: %.15g }\n", order->friction);
	}
	put(text, "\nbodies:\n  - { shape: ground, status: static, friction: %.15g }\n",
	    order->friction);
}

/* The key of a piece's turn; "" without one. */
static void put_turn(struct tower_writer *text, const struct tower_piece *piece)
{
	if (piece->degrees != 0)
		put(text, ", rotation: { axis: [0, 0, 1], degrees: %.15g }", piece->degrees);
}

/* The name of piece i and its points, in its frame; then the end of its own entry. */
static void put_points(struct tower_writer *text, const struct tower *self, uint32_t i)
{
	const struct tower_piece *piece = &self->pieces[i];
	const struct tower_shape *shape = &self->shapes[piece->shape];
	struct tower_frame frame;
	tower_frame_make(&frame, shape, self->order.carried == TOWER_NINE_POINTS,
			 mass_of(self, shape));
	put(text, ", name: b%u, carried_by: [", i);
	for (uint32_t k = 0; k < frame.carrier_count; k++)
		put(text, "%sb%up%u", k > 0 ? ", " : "", i, frame.carriers[k]);
	put(text, "] }\n");
	for (uint32_t k = 0; k < frame.point_count; k++) {
		const struct tower_point *point = &frame.points[k];
		put(text,
		    "  - { name: b%up%u, mass: %.15g, friction: 0, frame: { at: [%.15g, %.15g, 0]",
		    i, k, point->mass, piece->x, piece->y);
		put_turn(text, piece);
		put(text, " }, at: [%.15g, %.15g, 0] }\n", point->x, point->y);
	}
}

static void put_bars(struct tower_writer *text, const struct tower *self, uint32_t i)
{
	const struct tower_shape *shape = &self->shapes[self->pieces[i].shape];
	struct tower_frame frame;
	tower_frame_make(&frame, shape, self->order.carried == TOWER_NINE_POINTS,
			 mass_of(self, shape));
	for (uint32_t k = 0; k < frame.bar_count; k++)
		put(text,
		    "  - { type: distance, a: b%up%u, b: b%up%u, at_a: [0, 0, 0], at_b: [0, 0, 0] }\n",
		    i, frame.bars[k][0], i, frame.bars[k][1]);
}

enum status tower_text(const struct tower *self, struct bytes *out)
{
	static const char *const COLOURS[] = { "0xC08552", "0xB5764A", "0xCB9462" };
	struct tower_writer text = { .out = out };
	bool framed = self->order.carried != TOWER_RIGID;
	put_head(&text, self);
	for (uint32_t i = 0; i < self->count; i++) {
		const struct tower_piece *piece = &self->pieces[i];
		const struct tower_shape *shape = &self->shapes[piece->shape];
		put(&text, "  - { like: %s, at: [%.15g, %.15g, 0]", shape->name, piece->x,
		    piece->y);
		put_turn(&text, piece);
		put(&text, ", colour: %s", shape->fixed ? "0x777777" : COLOURS[i % 3]);
		if (framed && !shape->fixed)
			put_points(&text, self, i);
		else
			put(&text, " }\n");
	}
	if (framed)
		put(&text, "\njoints:\n");
	for (uint32_t i = 0; framed && i < self->count; i++)
		if (!self->shapes[self->pieces[i].shape].fixed)
			put_bars(&text, self, i);
	return text.status;
}
