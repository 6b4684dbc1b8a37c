/* See towers.h. */
#include "tests/lib/towers.h"

#include <stdlib.h>

#include "server/base/rng.h"

void towers_init(struct towers *self, double width, double height, double density, double gravity)
{
	*self = (struct towers){ .width = width,
				 .height = height,
				 .mass = density * width * height,
				 .gravity = gravity };
}

void towers_release(struct towers *self)
{
	free(self->bricks);
	free(self->bodies);
	free(self->points);
	free(self->loads);
	*self = (struct towers){ 0 };
}

void towers_brick(struct towers *self, double x, uint32_t row)
{
	if (self->count == self->capacity) {
		self->capacity = 2 * self->capacity + 16;
		self->bricks = realloc(self->bricks, self->capacity * sizeof *self->bricks);
		if (self->bricks == NULL)
			abort();
	}
	self->bricks[self->count++] = (struct tower_brick){ x, row };
}

static vec3 place_of(const struct towers *self, uint32_t brick)
{
	return vec3_make(self->bricks[brick].x, (self->bricks[brick].row + 0.5) * self->height, 0);
}

/* The ends of an interval at height y are points; a: below, or ROW_NO_BODY. */
static void put_points(struct towers *self, uint32_t a, uint32_t b, double low, double high,
		       double y)
{
	uint32_t count = self->problem.point_count;
	self->points = realloc(self->points, (count + 2) * sizeof *self->points);
	if (self->points == NULL)
		abort();
	for (uint32_t k = 0; k < 2; k++) {
		vec3 at = vec3_make(k == 0 ? low : high, y, 0);
		self->points[count + k] = (struct statics_point){
			.a = a,
			.b = b,
			.arm_a = a == ROW_NO_BODY ? at : vec3_sub(at, place_of(self, a)),
			.arm_b = vec3_sub(at, place_of(self, b)),
			.normal = vec3_make(0, 1, 0),
			.friction = self->friction,
		};
	}
	self->problem.point_count = count + 2;
}

static void put_body(struct towers *self, uint32_t i)
{
	double w = self->width, h = self->height, m = self->mass;
	struct statics_body *body = &self->bodies[i];
	*body = (struct statics_body){ .gyration = __builtin_sqrt((w * w + h * h) / 12) };
	body->mass_inv[0][0] = body->mass_inv[1][1] = 1 / m;
	body->mass_inv[5][5] = 12 / (m * (w * w + h * h));
	self->loads[i] = (struct spatial){ vec3_make(0, -m * self->gravity, 0), vec3_zero() };
}

void towers_make(struct towers *self)
{
	free(self->bodies);
	free(self->loads);
	self->bodies = calloc(self->count + 1, sizeof *self->bodies);
	self->loads = calloc(self->count + 1, sizeof *self->loads);
	self->problem = (struct statics_problem){ .planar = true, .sides = 2 };
	if (self->bodies == NULL || self->loads == NULL)
		abort();
	double half = 0.5 * self->width;
	for (uint32_t b = 0; b < self->count; b++) {
		const struct tower_brick *top = &self->bricks[b];
		put_body(self, b);
		if (top->row == 0)
			put_points(self, ROW_NO_BODY, b, top->x - half, top->x + half, 0);
		for (uint32_t a = 0; a < self->count; a++) {
			const struct tower_brick *low = &self->bricks[a];
			double from = (top->x > low->x ? top->x : low->x) - half;
			double to = (top->x < low->x ? top->x : low->x) + half;
			if (low->row + 1 == top->row && from < to)
				put_points(self, a, b, from, to, top->row * self->height);
		}
	}
	self->problem.bodies = self->bodies;
	self->problem.points = self->points;
	self->problem.body_count = self->count;
}

static void put_row(struct towers *self, uint32_t row, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		towers_brick(self, (i - 0.5 * (count - 1)) * self->width, row);
}

void towers_triangle(struct towers *self, uint32_t m)
{
	for (uint32_t row = 0; row < m; row++)
		put_row(self, row, row + 1);
	towers_make(self);
}

void towers_diamond(struct towers *self, uint32_t m)
{
	for (uint32_t row = 0; row < 2 * m - 1; row++)
		put_row(self, row, row < m ? row + 1 : 2 * m - 1 - row);
	towers_make(self);
}

void towers_harmonic(struct towers *self, uint32_t n, double factor)
{
	/* Brick k from the top leans out by w / 2k over the one below; the floor ends under the
	 * lowest, as a brick of its own. */
	double x = 0;
	for (uint32_t row = 0; row <= n; row++) {
		towers_brick(self, x, row);
		if (row < n)
			x += factor * self->width / (2 * (n - row));
	}
	towers_make(self);
}

void towers_wall(struct towers *self, uint32_t rows, uint32_t columns, int hole)
{
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t k = 0; k < columns; k++)
			if (row != 0 || (int)k != hole)
				towers_brick(self, (k + 0.5 * (row % 2)) * self->width, row);
	towers_make(self);
}

void towers_random(struct towers *self, struct rng *rng, uint32_t rows, uint32_t across)
{
	for (uint32_t row = 0; row < rows; row++) {
		double x = self->width * 2 * (rng_double(rng) - 0.5);
		uint32_t count = 1 + rng_below(rng, across);
		for (uint32_t k = 0; k < count; k++) {
			x += self->width * (1 + (rng_below(rng, 2) ? 0 : 0.9 * rng_double(rng)));
			towers_brick(self, x - 0.5 * across * self->width, row);
		}
	}
	towers_make(self);
}
