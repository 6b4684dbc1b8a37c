/* tower_kinds.c: where the pieces of each kind of tower are. The letters are those of papers R-06
 * and R-13: l and h are the length and height of a brick. */
#include "server/engine/statics/overhang.h"
#include "server/commands/tower.h"
#include "server/engine/math/trig.h"

#define HALF_TURN 3.14159265358979323846
#define DEGREES (180 / HALF_TURN)
/* The thickness over the mean radius at which a semicircular arch of many stones is about
 * to fall (Heyman 1969). */
#define ARCH_THICKNESS 0.1075
/* Of a card from upright. */
#define LEAN (15 / DEGREES)

static double tangent(double angle)
{
	return trig_sin(angle) / trig_cos(angle);
}

static double length_of(const struct tower *self)
{
	return self->order.brick[0];
}

static double height_of(const struct tower *self)
{
	return self->order.brick[1];
}

static uint32_t add_brick_shape(struct tower *self, double gap)
{
	return tower_add_rectangle(self, "brick", length_of(self) - gap, height_of(self));
}

/* A row of bricks about x = 0, lengths apart. */
static void add_row(struct tower *self, uint32_t shape, uint32_t bricks, uint32_t row)
{
	for (uint32_t i = 0; i < bricks; i++)
		tower_add(self, shape, length_of(self) * (i - 0.5 * (bricks - 1)),
			  height_of(self) * (row + 0.5), 0);
}

/* A table whose top is y = 0 and which ends at x = edge, to the left (side −1) or to the right.
 * The floor is so deep that a tower of this height may fall. */
static void add_table(struct tower *self, double edge, double side, double high)
{
	double width = 4 * length_of(self), deep = 0.5 * high + 2 * length_of(self);
	uint32_t shape = self->shape_count > 0 && self->shapes[0].fixed
				 ? 0
				 : tower_add_rectangle(self, "table", width, deep);
	self->shapes[shape].fixed = true;
	self->floor = -deep;
	tower_add(self, shape, edge + side * 0.5 * width, -0.5 * deep, 0);
}

static double harmonic_reach(const struct tower *self)
{
	double reach = 0;
	for (uint32_t k = 1; k <= self->order.count; k++)
		reach += 0.5 * self->order.factor * length_of(self) / k;
	return reach;
}

/* From the table's edge, brick k from the top reaches l/(2k) farther than the one below. */
static void add_harmonic(struct tower *self, uint32_t shape, double edge, double side)
{
	double reach = harmonic_reach(self);
	uint32_t n = self->order.count;
	for (uint32_t k = 1; k <= n; k++) {
		tower_add(self, shape, edge + side * (reach - 0.5 * length_of(self)),
			  height_of(self) * (n - k + 0.5), 0);
		reach -= 0.5 * self->order.factor * length_of(self) / k;
	}
}

static void make_harmonic(struct tower *self)
{
	add_table(self, 0, -1, self->order.count * height_of(self));
	add_harmonic(self, add_brick_shape(self, 0), 0, 1);
}

/* The bricks that reach farthest; the right end of each is the factor times as far out. */
static void make_overhang(struct tower *self)
{
	struct overhang found;
	enum status status = overhang_find(&found, self->order.count);
	if (status != STATUS_OK) {
		self->status = status;
		return;
	}
	add_table(self, 0, -1, self->order.count * height_of(self));
	uint32_t shape = add_brick_shape(self, 0);
	for (uint32_t i = 0; i < found.count; i++) {
		double right = self->order.factor * (found.x[i] + 0.5);
		tower_add(self, shape, length_of(self) * (right - 0.5),
			  height_of(self) * (found.row[i] + 0.5), 0);
	}
}

/* Two harmonic stacks that meet over a gorge. */
static void make_bridge(struct tower *self)
{
	double edge = harmonic_reach(self) + 0.5 * self->order.gap;
	add_table(self, -edge, -1, self->order.count * height_of(self));
	add_table(self, edge, 1, self->order.count * height_of(self));
	uint32_t shape = add_brick_shape(self, 0);
	add_harmonic(self, shape, -edge, 1);
	add_harmonic(self, shape, edge, -1);
}

static void make_triangle(struct tower *self)
{
	uint32_t shape = add_brick_shape(self, self->order.gap);
	for (uint32_t k = 1; k <= self->order.count; k++)
		add_row(self, shape, k, k - 1);
}

static void make_diamond(struct tower *self)
{
	uint32_t m = self->order.count;
	make_triangle(self);
	for (uint32_t k = m - 1; k >= 1; k--)
		add_row(self, 0, k, 2 * m - 1 - k);
}

/* A brick over the table's edge, on it slabs of 2, 3, …, d: a slab of r has rows of r and r − 1
 * by turns, r − 1 and r − 2 of them. It reaches d/2 with (d − 1) d (2d − 1)/3 + 1 bricks: as the
 * third root of their number. */
static void make_parabola(struct tower *self)
{
	uint32_t row = 0, d = self->order.count;
	add_table(self, 0, -1, d * d * height_of(self));
	uint32_t shape = add_brick_shape(self, self->order.gap);
	add_row(self, shape, 1, row++);
	for (uint32_t r = 2; r <= d && self->status == STATUS_OK; r++)
		for (uint32_t k = 0; k < 2 * r - 3 && self->status == STATUS_OK; k++)
			add_row(self, shape, r - k % 2, row++);
}

static void make_wall(struct tower *self)
{
	const struct tower_order *order = &self->order;
	uint32_t brick = add_brick_shape(self, order->gap);
	uint32_t half = tower_add_rectangle(self, "half", 0.5 * length_of(self) - order->gap,
					    height_of(self));
	double left = -0.5 * order->columns * length_of(self);
	for (uint32_t row = 0; row < order->count; row++) {
		uint32_t odd = row % 2, last = order->columns - 1 + odd;
		for (uint32_t i = 0; i <= last; i++) {
			bool ends = odd && (i == 0 || i == last);
			double x = left + (i + 0.5 - 0.5 * odd) * length_of(self);
			if (ends)
				x += (i == 0 ? 0.25 : -0.25) * length_of(self);
			if (order->without && row == order->without_row &&
			    i == order->without_column)
				continue;
			tower_add(self, ends ? half : brick, x, height_of(self) * (row + 0.5), 0);
		}
	}
}

/* A half circle of n stones, each h wide at its mean radius. */
static void make_arch(struct tower *self)
{
	uint32_t n = self->order.count;
	double half = HALF_TURN / (2 * n), radius = 0.5 * height_of(self) / tangent(half);
	double thick = self->order.factor * ARCH_THICKNESS * radius;
	double inner = radius - 0.5 * thick, outer = radius + 0.5 * thick;
	struct tower_shape stone = { .name = "stone", .point_count = 4 };
	const double radii[4] = { inner, inner, outer, outer }, sides[4] = { -1, 1, 1, -1 };
	for (uint32_t k = 0; k < 4; k++) {
		stone.points[k][0] = sides[k] * radii[k] * trig_sin(half);
		stone.points[k][1] = radii[k] * trig_cos(half) - radius;
	}
	uint32_t shape = tower_add_shape(self, &stone);
	for (uint32_t i = 0; i < n; i++) {
		double turn = (2 * i + 1.0 - n) * half; /* from the crown, to the left */
		tower_add(self, shape, -radius * trig_sin(turn), radius * trig_cos(turn),
			  turn * DEGREES);
	}
}

/* Bricks on end with l · factor between them. The first leans a tenth farther than it can. */
static void make_dominoes(struct tower *self)
{
	double l = length_of(self), h = height_of(self), turn = 1.1 * trig_atan2(h, l);
	uint32_t shape = tower_add_rectangle(self, "domino", h, l);
	/* The turn is about the lower right corner. */
	tower_add(self, shape, 0.5 * h + 0.5 * (l * trig_sin(turn) - h * trig_cos(turn)),
		  0.5 * (h * trig_sin(turn) + l * trig_cos(turn)), -turn * DEGREES);
	for (uint32_t i = 1; i < self->order.count; i++)
		tower_add(self, shape, i * (h + l * self->order.factor), 0.5 * l, 0);
}

/* A leaning card, cut flat at its ends, and upright where it meets its neighbour at
 * `reach` from its foot. */
static uint32_t add_leaning(struct tower *self, const char *name, double side, double wide,
			    double reach, double high)
{
	double slope = tangent(LEAN);
	const double x[5] = { 0, wide, reach, reach, high * slope };
	const double y[5] = { 0, 0, (reach - wide) / slope, high, high };
	struct tower_shape card = { .name = name, .point_count = 5 };
	for (uint32_t k = 0; k < 5; k++) {
		uint32_t at = side > 0 ? k : 4 - k;
		card.points[k][0] = side * (x[at] - 0.5 * reach);
		card.points[k][1] = y[at] - 0.5 * high;
	}
	return tower_add_shape(self, &card);
}

/* Pairs of leaning cards; a flat card lies on each two neighbours, and the next floor
 * stands on those. */
static void make_cards(struct tower *self)
{
	double l = length_of(self), thick = height_of(self), high = l * trig_cos(LEAN);
	double wide = thick / trig_cos(LEAN), reach = high * tangent(LEAN) + 0.5 * wide, y = 0;
	double apart = 2 * reach + self->order.gap;
	uint32_t left = add_leaning(self, "left", 1, wide, reach, high);
	uint32_t right = add_leaning(self, "right", -1, wide, reach, high);
	uint32_t flat = tower_add_rectangle(self, "flat", apart - self->order.gap, thick);
	for (uint32_t pairs = self->order.count; pairs > 0; pairs--) {
		for (uint32_t i = 0; i < pairs; i++) {
			double x = apart * (i - 0.5 * (pairs - 1));
			tower_add(self, left, x - 0.5 * reach, y + 0.5 * high, 0);
			tower_add(self, right, x + 0.5 * reach, y + 0.5 * high, 0);
		}
		for (uint32_t i = 0; i + 1 < pairs; i++)
			tower_add(self, flat, apart * (i - 0.5 * (pairs - 2.0)),
				  y + high + 0.5 * thick, 0);
		y += high + thick;
	}
}

#define BRICK                                                                                      \
	{                                                                                          \
		1, 0.25, 0.5                                                                       \
	}
/* A factor of 0: the kind has none. Kinds whose rows reach exactly as far as they can have
 * no gap. */
static const struct tower_kind KINDS[] = {
	{ "harmonic", 30, 1, 0, 0, BRICK, make_harmonic },
	{ "overhang", 8, 1, 0, 0, BRICK, make_overhang },
	{ "parabola", 4, 0, 0, 0, BRICK, make_parabola },
	{ "diamond", 5, 0, 0, 0.002, BRICK, make_diamond },
	{ "triangle", 3, 0, 0, 0, BRICK, make_triangle },
	{ "wall", 10, 0, 0, 0.002, BRICK, make_wall },
	{ "arch", 25, 1.5, 0.6, 0, BRICK, make_arch },
	{ "bridge", 10, 1, 0, 0.002, BRICK, make_bridge },
	{ "dominoes", 20, 0.5, 0.3, 0, { 1, 0.15, 0.5 }, make_dominoes },
	{ "cards", 3, 0, 0.6, 0.002, { 1, 0.03, 0.7 }, make_cards },
};

const struct tower_kind *tower_kinds(uint32_t *count)
{
	*count = COUNT_OF(KINDS);
	return KINDS;
}
