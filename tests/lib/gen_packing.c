/* See gen_packing.h. */
#include "tests/lib/gen_packing.h"

#include <math.h>

#include "server/base/heap.h"
#include "server/engine/geometry/orient.h"

#define CELL 2.1
#define JITTER 0.04

static void draw_star(struct rng *rng, vec2 *corners, uint32_t count, double inner)
{
	for (uint32_t k = 0; k < count; k++) {
		double step = 6.283185307179586 / count;
		double angle = (k + rng_range(rng, -0.3, 0.3)) * step;
		double radius = rng_range(rng, inner, 1);
		corners[k] = vec2_make(radius * cos(angle), radius * sin(angle));
	}
}

void gen_packing_stars(struct gen_packing *self, struct rng *rng, uint32_t count, uint32_t rows,
		       uint32_t corners_most, bool all, double inner)
{
	*self = (struct gen_packing){ .count = count };
	self->polygons = heap_alloc_zero(count * sizeof *self->polygons);
	self->corners = heap_alloc_zero((size_t)count * corners_most * sizeof *self->corners);
	ASSERT(self->polygons != NULL);
	ASSERT(self->corners != NULL);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t corners = all ? corners_most : 3 + rng_below(rng, corners_most - 2);
		vec2 *first = self->corners + self->corner_count;
		draw_star(rng, first, corners, inner);
		double x = rng_range(rng, -JITTER, JITTER), y = rng_range(rng, -JITTER, JITTER);
		self->polygons[i] = (struct packing_polygon){
			first, corners, { (i / rows + 0.5) * CELL + x, (i % rows + 0.5) * CELL + y }
		};
		self->corner_count += corners;
	}
	self->problem = (struct packing_problem){ .polygons = self->polygons,
						  .count = count,
						  .y_max = rows * CELL,
						  .pull = 0.1,
						  .rest = 1e-6 };
}

void gen_packing_release(struct gen_packing *self)
{
	heap_free(self->polygons);
	heap_free(self->corners);
	*self = (struct gen_packing){ .count = 0 };
}

static vec3 corner_at(const struct packing_polygon *polygon, vec2 at, uint32_t i)
{
	vec2 p = vec2_add(polygon->corners[i % polygon->count], at);
	return (vec3){ p.x, p.y, 0 };
}

static bool sides_meet(vec3 a, vec3 b, vec3 c, vec3 d)
{
	if (fmax(a.x, b.x) < fmin(c.x, d.x) || fmax(c.x, d.x) < fmin(a.x, b.x) ||
	    fmax(a.y, b.y) < fmin(c.y, d.y) || fmax(c.y, d.y) < fmin(a.y, b.y))
		return false;
	return orient_line(2, a, b, c) * orient_line(2, a, b, d) <= 0 &&
	       orient_line(2, c, d, a) * orient_line(2, c, d, b) <= 0;
}

/* By the crossings of a ray to the right. The point is on no side. */
static bool is_inside(const struct packing_polygon *polygon, vec2 at, vec3 p)
{
	bool inside = false;
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec3 a = corner_at(polygon, at, i), b = corner_at(polygon, at, i + 1);
		if ((a.y > p.y) != (b.y > p.y))
			inside ^= orient_line(2, a, b, p) == (b.y > a.y ? 1 : -1);
	}
	return inside;
}

bool gen_packing_meet(const struct packing_polygon *a, vec2 at_a, const struct packing_polygon *b,
		      vec2 at_b)
{
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t k = 0; k < b->count; k++)
			if (sides_meet(corner_at(a, at_a, i), corner_at(a, at_a, i + 1),
				       corner_at(b, at_b, k), corner_at(b, at_b, k + 1)))
				return true;
	return is_inside(a, at_a, corner_at(b, at_b, 0)) ||
	       is_inside(b, at_b, corner_at(a, at_a, 0));
}
