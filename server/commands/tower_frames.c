/* tower_frames.c: pieces of a tower as points and bars that carry them (see docs/TOWERS.md).
 *
 * A rectangle is nine points with the weights 1, 4 and 16 of 36 (Simpson's rule in both directions) and 16
 * bars. Any other piece is cut into triangles from its first corner; each gives a third of its mass to the
 * midpoint of each of its edges, which has the moments of the triangle to degree two. A diagonal's
 * midpoint is common to two triangles, which bars of their own would leave to turn about it: one bar more
 * joins them, between the pair of other midpoints that is farthest from the diagonal's. */
#include "server/commands/tower.h"
#include "server/engine/math/scalar.h"

#include <string.h>

static void add_point(struct tower_frame *self, double x, double y, double mass)
{
	ASSERT(self->point_count < TOWER_FRAME_POINTS);
	self->points[self->point_count++] = (struct tower_point){ x, y, mass };
}

static void add_bar(struct tower_frame *self, uint32_t a, uint32_t b)
{
	ASSERT(self->bar_count < TOWER_FRAME_BARS);
	ASSERT(a < self->point_count && b < self->point_count && a != b);
	self->bars[self->bar_count][0] = (uint8_t)a;
	self->bars[self->bar_count++][1] = (uint8_t)b;
}

static void make_nine_points(struct tower_frame *self, double a, double b, double mass)
{
	static const double weights[3] = { 1, 4, 1 };
	static const uint8_t corners[4] = { 0, 2, 6, 8 };
	for (uint32_t i = 0; i < 9; i++)
		add_point(self, a * ((double)(i % 3) - 1), b * ((double)(i / 3) - 1),
			  mass * weights[i % 3] * weights[i / 3] / 36);
	for (uint32_t i = 0; i < 9; i++) {
		if (i % 3 < 2)
			add_bar(self, i, i + 1);
		if (i / 3 < 2)
			add_bar(self, i, i + 3);
		if (i % 3 < 2 && i / 3 < 2)
			add_bar(self, i, i + 4);
	}
	memcpy(self->carriers, corners, sizeof corners);
	self->carrier_count = COUNT_OF(corners);
}

/* m: distance of point h from the line through points a and b. */
static double lever_of(const struct tower_frame *self, uint32_t h, uint32_t a, uint32_t b)
{
	const struct tower_point *p = &self->points[a], *q = &self->points[b],
				 *o = &self->points[h];
	double x = q->x - p->x, y = q->y - p->y;
	double length = scalar_sqrt(x * x + y * y);
	ASSERT(length > 0);
	return scalar_abs((o->x - p->x) * y - (o->y - p->y) * x) / length;
}

/* Midpoints of the edges of triangle t (corners 0, t, t + 1) of n corners: sides of the piece come
 * first, then the diagonals from corner 0. */
static void edges_of(uint32_t n, uint32_t t, uint32_t edges[3])
{
	edges[0] = t == 1 ? 0 : n + t - 2;
	edges[1] = t;
	edges[2] = t + 2 == n ? n - 1 : n + t - 1;
}

static void brace(struct tower_frame *self, uint32_t n, uint32_t t)
{
	uint32_t before[3], after[3], best[2] = { 0, 0 };
	double most = -1;
	edges_of(n, t - 1, before);
	edges_of(n, t, after);
	ASSERT(before[2] == after[0]);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 1; k < 3; k++) {
			double lever = lever_of(self, after[0], before[i], after[k]);
			if (lever <= most)
				continue;
			most = lever;
			best[0] = before[i];
			best[1] = after[k];
		}
	add_bar(self, best[0], best[1]);
}

static void make_triangles(struct tower_frame *self, const struct tower_shape *shape, double mass)
{
	uint32_t n = shape->point_count;
	double area = 0, shares[TOWER_POINTS_MAX] = { 0 };
	ASSERT(n >= 3 && n <= TOWER_POINTS_MAX);
	for (uint32_t i = 0; i < 2 * n - 3; i++) {
		const double *p = shape->points[i < n ? i : 0];
		const double *q = shape->points[i < n ? (i + 1) % n : i - n + 2];
		add_point(self, 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0);
	}
	for (uint32_t t = 1; t + 1 < n; t++) {
		const double *o = shape->points[0], *p = shape->points[t],
			     *q = shape->points[t + 1];
		shares[t] = (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
		area += shares[t];
	}
	for (uint32_t t = 1; t + 1 < n; t++) {
		uint32_t edges[3];
		edges_of(n, t, edges);
		for (uint32_t k = 0; k < 3; k++) {
			self->points[edges[k]].mass += mass * shares[t] / area / 3;
			add_bar(self, edges[k], edges[(k + 1) % 3]);
		}
		if (t > 1)
			brace(self, n, t);
	}
	self->carrier_count = MIN_OF(n, 4u);
	for (uint32_t k = 0; k < self->carrier_count; k++)
		self->carriers[k] = (uint8_t)(k * n / self->carrier_count);
}

void tower_frame_make(struct tower_frame *self, const struct tower_shape *shape, bool nine_points,
		      double mass)
{
	*self = (struct tower_frame){ .point_count = 0 };
	ASSERT(mass > 0);
	if (nine_points && shape->rectangle)
		make_nine_points(self, shape->points[2][0], shape->points[2][1], mass);
	else
		make_triangles(self, shape, mass);
	ASSERT(self->carrier_count >= 2 && self->carrier_count <= 4);
}
