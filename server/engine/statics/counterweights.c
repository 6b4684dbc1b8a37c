/* See counterweights.h. */
#include "server/engine/statics/counterweights.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lp_dual_simplex.h"

/* In lengths times weights of a brick, by brick: less is rounding. */
#define BALANCED 1e-13
/* The trust region begins with TRUST_FIRST. A program that leaves more than STIFF of the moments
 * needs a larger one; otherwise NEAR times the moments are enough, because longer ways along what
 * does not matter would only bring errors of the second order. Below TRUST_MIN the search has
 * failed. */
#define TRUST_FIRST 0.5
#define TRUST_MIN 1e-9
#define STIFF 0.1
#define NEAR 8
#define SHRINK 0.25
#define TOLERANCE 1e-12
enum { PROGRAMS_MAX = 80, NOBODY = UINT32_MAX };
enum {
	POINTS_MAX = 4 * COUNTERWEIGHTS_MAX,
	ORDERS_MAX = 3 * COUNTERWEIGHTS_MAX,
	ROWS_MAX = 2 * COUNTERWEIGHTS_MAX + ORDERS_MAX,
	COLUMNS_MAX = 3 * COUNTERWEIGHTS_MAX + POINTS_MAX,
};

/* A point at which `lower` carries `upper`: at `offset` from the centre of `owner`. A lower NOBODY
 * is a brick of the spine. */
struct press_point {
	uint32_t lower, upper, owner;
	double offset, low, high; /* bounds of its force */
};

/* low ≤ x_right − x_left ≤ high; a right NOBODY is at `place`. */
struct brick_order {
	uint32_t right, left;
	double place, low, high;
};

/* The columns of a program are dx, F, and the positive and negative moments left; its rows the
 * balance of forces, the moments, and the orders. */
struct layout {
	uint32_t bricks, points, orders, row_count, column_count;
	double room;
	double x[COUNTERWEIGHTS_MAX], force[POINTS_MAX];
	struct press_point point[POINTS_MAX];
	struct brick_order order[ORDERS_MAX];
	double dense[COLUMNS_MAX][ROWS_MAX];
	uint32_t starts[COLUMNS_MAX + 1], index[COLUMNS_MAX * ROWS_MAX];
	double values[COLUMNS_MAX * ROWS_MAX], cost[COLUMNS_MAX];
	double column_low[COLUMNS_MAX], column_high[COLUMNS_MAX];
	double row_low[ROWS_MAX], row_high[ROWS_MAX];
	double found[COLUMNS_MAX], dual[ROWS_MAX];
	uint8_t places[COLUMNS_MAX + ROWS_MAX];
	struct lp_dual_simplex solver;
};

static void add_press(struct layout *self, struct press_point point)
{
	ASSERT(self->points < POINTS_MAX);
	ASSERT(point.upper != NOBODY && point.low <= point.high);
	self->point[self->points++] = point;
}

static void add_order(struct layout *self, struct brick_order order)
{
	ASSERT(self->orders < ORDERS_MAX);
	self->order[self->orders++] = order;
}

/* `upper` rests on `lower` and overhangs it to the right. */
static void rest_right(struct layout *self, uint32_t upper, uint32_t lower)
{
	add_order(self, (struct brick_order){ upper, lower, 0, 0, 1 - self->room });
	add_press(self, (struct press_point){ lower, upper, upper, -0.5, 0, LP_INFINITY });
	add_press(self, (struct press_point){ lower, upper, lower, 0.5, 0, LP_INFINITY });
}

static void rest_left(struct layout *self, uint32_t upper, uint32_t lower)
{
	add_order(self, (struct brick_order){ lower, upper, 0, 0, 1 - self->room });
	add_press(self, (struct press_point){ lower, upper, lower, -0.5, 0, LP_INFINITY });
	add_press(self, (struct press_point){ lower, upper, upper, 0.5, 0, LP_INFINITY });
}

/* Presses with the wanted weight on the left end of the spine's brick, if there is any. */
static void rest_on_spine(struct layout *self, uint32_t upper, double x, double weight)
{
	if (weight <= 0)
		return;
	add_order(self, (struct brick_order){ NOBODY, upper, x, 0, 1 - self->room });
	add_press(self, (struct press_point){ NOBODY, upper, NOBODY, x - 0.5, weight, weight });
}

/* Bricks without gaps to the left of the spine, which is thought to go on with a steep lean. */
static void begin_layout(struct layout *self, const struct counterweights *task)
{
	const double lean = 0.3;
	uint32_t below = 0, top = task->spine - 1; /* below: the first of the row below */
	memset(self, 0, offsetof(struct layout, solver));
	self->room = task->room;
	for (uint32_t row = 1; row < task->rows; row++) {
		uint32_t first = self->bricks, lower = task->in_row[row - 1];
		double x =
			row <= top ? task->spine_x[row] : task->spine_x[top] + lean * (row - top);
		for (uint32_t k = 0; k < task->in_row[row]; k++) {
			uint32_t brick = self->bricks++;
			self->x[brick] = x - (k + 1) * (1 + task->room);
			if (k > 0)
				add_order(self,
					  (struct brick_order){ brick - 1, brick, 0, 1 + task->room,
								LP_INFINITY });
			else if (row <= top)
				add_order(self,
					  (struct brick_order){ NOBODY, brick, x, 1 + task->room,
								LP_INFINITY });
			if (k < lower)
				rest_right(self, brick, below + k);
			if (k > 0 && k - 1 < lower)
				rest_left(self, brick, below + k - 1);
			else if (k == 0 && row - 1 <= top)
				rest_on_spine(self, brick, task->spine_x[row - 1],
					      task->weight[row - 1]);
		}
		below = first;
	}
	ASSERT(self->bricks <= COUNTERWEIGHTS_MAX);
	self->row_count = 2 * self->bricks + self->orders;
	self->column_count = 3 * self->bricks + self->points;
}

static double point_place(const struct layout *self, const struct press_point *point)
{
	return (point->owner == NOBODY ? 0 : self->x[point->owner]) + point->offset;
}

/* The moments about x = 0 of the forces on each brick, summed without sign. */
static double sum_moments(const struct layout *self)
{
	double moment[COUNTERWEIGHTS_MAX], sum = 0;
	for (uint32_t i = 0; i < self->bricks; i++)
		moment[i] = -self->x[i];
	for (uint32_t p = 0; p < self->points; p++) {
		const struct press_point *point = &self->point[p];
		double turn = self->force[p] * point_place(self, point);
		moment[point->upper] += turn;
		if (point->lower != NOBODY)
			moment[point->lower] -= turn;
	}
	for (uint32_t i = 0; i < self->bricks; i++)
		sum += scalar_abs(moment[i]);
	return sum;
}

/* The force of a point on one of its bricks: sign 1 on the upper, −1 on the lower one. */
static void write_press(struct layout *self, uint32_t p, uint32_t brick, double sign)
{
	ASSERT(p < self->points);
	ASSERT(brick < self->bricks);
	const struct press_point *point = &self->point[p];
	uint32_t force = self->bricks + p, moments = self->bricks;
	self->dense[force][brick] += sign;
	self->dense[force][moments + brick] += sign * point_place(self, point);
	if (point->owner != NOBODY)
		self->dense[point->owner][moments + brick] += sign * self->force[p];
}

static void write_order(struct layout *self, uint32_t index)
{
	ASSERT(index < self->orders);
	const struct brick_order *order = &self->order[index];
	uint32_t row = 2 * self->bricks + index;
	double now = (order->right == NOBODY ? order->place : self->x[order->right]) -
		     self->x[order->left];
	if (order->right != NOBODY)
		self->dense[order->right][row] = 1;
	self->dense[order->left][row] = -1;
	self->row_low[row] = order->low - now;
	self->row_high[row] = order->high >= LP_INFINITY ? LP_INFINITY : order->high - now;
}

/* `fresh`: there are no forces yet, so they are free. */
static void write_program(struct layout *self, double trust, bool fresh)
{
	uint32_t n = self->bricks, left = n + self->points;
	memset(self->dense, 0, sizeof self->dense);
	memset(self->cost, 0, sizeof self->cost);
	for (uint32_t i = 0; i < n; i++) {
		self->column_low[i] = -trust;
		self->column_high[i] = trust;
		self->row_low[i] = self->row_high[i] = 1;
		self->row_low[n + i] = self->row_high[n + i] = self->x[i];
		self->dense[i][n + i] = -1;
		self->dense[left + i][n + i] = 1;
		self->dense[left + n + i][n + i] = -1;
	}
	for (uint32_t p = 0; p < self->points; p++) {
		const struct press_point *point = &self->point[p];
		double now = self->force[p];
		self->column_low[n + p] =
			fresh ? point->low : scalar_max(point->low, now - 2 * trust);
		self->column_high[n + p] =
			fresh ? point->high : scalar_min(point->high, now + 2 * trust);
		write_press(self, p, point->upper, 1);
		if (point->lower != NOBODY)
			write_press(self, p, point->lower, -1);
	}
	for (uint32_t j = left; j < self->column_count; j++) {
		self->cost[j] = 1;
		self->column_low[j] = 0;
		self->column_high[j] = LP_INFINITY;
	}
	for (uint32_t k = 0; k < self->orders; k++)
		write_order(self, k);
}

static struct solver_result solve_program(struct layout *self)
{
	uint32_t used = 0;
	for (uint32_t j = 0; j < self->column_count; j++) {
		self->starts[j] = used;
		for (uint32_t i = 0; i < self->row_count; i++)
			if (self->dense[j][i] != 0) {
				self->index[used] = i;
				self->values[used++] = self->dense[j][i];
			}
	}
	self->starts[self->column_count] = used;
	const struct lp_problem problem = {
		.matrix = { self->row_count, self->column_count, self->starts, self->index,
			    self->values },
		.cost = self->cost,
		.column_low = self->column_low,
		.column_high = self->column_high,
		.row_low = self->row_low,
		.row_high = self->row_high,
	};
	struct lp_solution solution = { self->found, self->dual, self->places };
	struct solver_options options = solver_options_default();
	options.tolerance = TOLERANCE;
	return lp_dual_simplex_solve(&self->solver, &problem, &options, &solution);
}

/* Takes the program's places and forces if less is left than `before`; returns what is left. */
static double try_program(struct layout *self, double before)
{
	double x[COUNTERWEIGHTS_MAX], force[POINTS_MAX];
	memcpy(x, self->x, sizeof x);
	memcpy(force, self->force, sizeof force);
	for (uint32_t i = 0; i < self->bricks; i++)
		self->x[i] += self->found[i];
	memcpy(self->force, self->found + self->bricks, self->points * sizeof *force);
	double left = sum_moments(self);
	if (left < before)
		return left;
	memcpy(self->x, x, sizeof x);
	memcpy(self->force, force, sizeof force);
	return before;
}

static bool balance_layout(struct layout *self)
{
	double trust = TRUST_FIRST, before = __builtin_inf();
	for (uint32_t k = 0; k < PROGRAMS_MAX && trust >= TRUST_MIN; k++) {
		write_program(self, trust, k == 0);
		struct solver_result result = solve_program(self);
		if (k == 0 && result.status != SOLVER_SOLVED)
			return false;
		double left = before;
		if (result.status == SOLVER_SOLVED)
			left = try_program(self, before);
		if (left <= BALANCED * self->bricks)
			return true;
		if (!(left < before))
			trust *= SHRINK;
		else if (k > 0 && result.objective > STIFF * before)
			trust = scalar_min(1, trust / SHRINK);
		else
			trust = scalar_max(TRUST_MIN, scalar_min(trust, NEAR * left));
		before = left;
	}
	return false;
}

enum status counterweights_place(struct counterweights *self, bool *placed)
{
	const struct lp_sizes sizes = { ROWS_MAX, COLUMNS_MAX, ROWS_MAX * COLUMNS_MAX, 0 };
	ASSERT(self->spine > 0);
	ASSERT(self->rows <= COUNTERWEIGHT_ROWS_MAX);
	struct layout *layout = heap_alloc(sizeof *layout);
	void *memory = heap_alloc_aligned(lp_dual_simplex_bytes(sizes));
	enum status status = STATUS_NO_MEMORY;
	if (layout != NULL && memory != NULL) {
		begin_layout(layout, self);
		lp_dual_simplex_init(&layout->solver, memory, sizes);
		*placed = balance_layout(layout);
		memcpy(self->x, layout->x, sizeof self->x);
		self->count = layout->bricks;
		status = STATUS_OK;
	}
	heap_free(memory);
	heap_free(layout);
	return status;
}
