/* packing_region.c: the convex set of displacements in which two polygons stay apart.
 *
 * Parts A of the one and B of the other overlap exactly if c = place_b − place_a is inside A ⊕ −B, a convex
 * polygon. All these sums together are the obstacle for c. The set is made greedily (papers P-09): of the
 * sums that are left, the one nearest to c gives a half-plane along one of its sides, namely the side that is
 * farthest from c on its outside; what the half-plane cuts off is done with; of a sum that is cut, only the
 * part on c's side is left. When nothing is left, no point of the set is inside a sum.
 *
 *         ╲  left  ╱
 *    ──────╲──────╱────── the half-plane of the nearest sum
 *     cut   ╲____╱
 *                  · c
 *
 * Coordinates of sums are relative to c, so c is 0. Where c is at a corner, two sides are equally far; then
 * the one that lets the right polygon move farther to the left is taken.
 */
#include "server/engine/packing/packing_work.h"

/* Of the scale. What sticks out of a half-plane by less is cut off with the rest: the error of the sums'
 * corners. */
#define SLIVER 1e-13
/* Of the scale. Sides of a sum whose distances differ by less are equally far. */
#define EQUALLY_FAR 1e-10

/* The sum of two parts: corners and sides, counter-clockwise. */
struct outline {
	vec2 *corners;
	uint32_t count;
	vec2 *normals; /* of all sides of the whole sum, outward, of length 1 */
	uint32_t normal_count;
};

struct difference_sum {
	uint32_t part_a, part_b;
	double distance; /* of c from the side; < 0: c is inside */
	vec2 normal;
	bool cut; /* `outline` is what is left */
	struct outline outline;
};

struct pair_region {
	struct packing *packing;
	const struct packing_shape *a, *b;
	vec2 c;
	struct difference_sum *sums;
	uint32_t count;
	struct outline whole; /* scratch */
};

static const vec2 *corners_of(const struct packing *self, const struct packing_part *part)
{
	ASSERT(part->first + part->count <= self->corners.count);
	return self->corners.items + part->first;
}

/* The index of the highest corner of B, which is the lowest of −B. */
static uint32_t highest_corner(const vec2 *corners, uint32_t count)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++)
		if (corners[i].y > corners[best].y ||
		    (corners[i].y == corners[best].y && corners[i].x > corners[best].x))
			best = i;
	return best;
}

/* A ⊕ −B − c: the sides of both, merged by direction, from the lowest corner on. */
static void add_parts(const struct packing *self, const struct packing_part *a,
		      const struct packing_part *b, vec2 c, struct outline *out)
{
	const vec2 *p = corners_of(self, a), *q = corners_of(self, b);
	uint32_t first = highest_corner(q, b->count), i = 0, k = 0;
	out->count = 0;
	while (i < a->count || k < b->count) {
		vec2 at_a = p[i % a->count], at_b = q[(first + k) % b->count];
		vec2 side_a = vec2_sub(p[(i + 1) % a->count], at_a);
		vec2 side_b = vec2_sub(at_b, q[(first + k + 1) % b->count]);
		out->corners[out->count] = vec2_sub(vec2_sub(at_a, at_b), c);
		double turn = i == a->count ? -1 : k == b->count ? 1 : vec2_cross(side_a, side_b);
		vec2 side = turn > 0 ? side_a : turn < 0 ? side_b : vec2_add(side_a, side_b);
		i += turn >= 0;
		k += turn <= 0;
		out->normals[out->count++] = vec2_normalize(vec2_right(side));
	}
	out->normal_count = out->count;
	ASSERT(out->count <= a->count + b->count);
}

/* Of sides that are equally far, whether one lets the right polygon move farther left. */
static bool frees_more(const struct pair_region *self, vec2 normal, vec2 other)
{
	return self->c.x >= 0 ? normal.x < other.x : normal.x > other.x;
}

/* The normal along which c is farthest outside what is left of a sum. */
static void find_farthest(const struct pair_region *self, const struct outline *outline,
			  struct difference_sum *sum)
{
	double equal = EQUALLY_FAR * self->packing->scale;
	sum->distance = -LENGTH_NONE;
	for (uint32_t n = 0; n < outline->normal_count; n++) {
		vec2 normal = outline->normals[n];
		double reach;
		if (outline == &self->whole)
			reach = vec2_dot(normal, outline->corners[n]);
		else {
			reach = -LENGTH_NONE;
			for (uint32_t v = 0; v < outline->count; v++)
				reach = scalar_max(reach, vec2_dot(normal, outline->corners[v]));
		}
		bool better = -reach > sum->distance + equal;
		bool as_good = -reach >= sum->distance - equal;
		if (better || (as_good && frees_more(self, normal, sum->normal))) {
			sum->distance = -reach;
			sum->normal = normal;
		}
	}
	ASSERT(sum->distance > -LENGTH_NONE);
}

static uint32_t most_corners(const struct packing *self, const struct packing_shape *shape)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < shape->part_count; i++)
		most = MAX_OF(most, self->parts.items[shape->first_part + i].count);
	return most;
}

static bool allocate_outline(struct packing *self, struct outline *out, uint32_t count)
{
	out->corners = ARENA_ARRAY(&self->arena, vec2, count);
	out->normals = ARENA_ARRAY(&self->arena, vec2, count);
	return out->corners != NULL && out->normals != NULL;
}

static bool begin_region(struct pair_region *self, struct packing *packing, uint32_t a, uint32_t b)
{
	*self = (struct pair_region){ .packing = packing,
				      .a = &packing->shapes[a],
				      .b = &packing->shapes[b] };
	self->c = vec2_sub(self->b->place, self->a->place);
	return allocate_outline(packing, &self->whole,
				most_corners(packing, self->a) + most_corners(packing, self->b));
}

/* ---- cutting ----------------------------------------------------------------------------------- */

/* The least and greatest of normal · v over a whole sum. */
static void sum_extent(const struct pair_region *self, const struct difference_sum *sum,
		       vec2 normal, double *low, double *high)
{
	const struct packing *packing = self->packing;
	const struct packing_part *a = &packing->parts.items[sum->part_a];
	const struct packing_part *b = &packing->parts.items[sum->part_b];
	double a_low = LENGTH_NONE, a_high = -LENGTH_NONE, b_low = LENGTH_NONE,
	       b_high = -LENGTH_NONE;
	for (uint32_t i = 0; i < a->count; i++) {
		double at = vec2_dot(normal, corners_of(packing, a)[i]);
		a_low = scalar_min(a_low, at);
		a_high = scalar_max(a_high, at);
	}
	for (uint32_t i = 0; i < b->count; i++) {
		double at = vec2_dot(normal, corners_of(packing, b)[i]);
		b_low = scalar_min(b_low, at);
		b_high = scalar_max(b_high, at);
	}
	double c = vec2_dot(normal, self->c);
	*low = a_low - b_high - c;
	*high = a_high - b_low - c;
}

static void outline_extent(const struct outline *outline, vec2 normal, double *low, double *high)
{
	*low = LENGTH_NONE;
	*high = -LENGTH_NONE;
	for (uint32_t i = 0; i < outline->count; i++) {
		double at = vec2_dot(normal, outline->corners[i]);
		*low = scalar_min(*low, at);
		*high = scalar_max(*high, at);
	}
}

/* Keeps what has normal · v ≥ bound. One corner more at most. */
static bool clip_outline(struct packing *packing, struct outline *outline, vec2 normal,
			 double bound)
{
	vec2 *kept = ARENA_ARRAY(&packing->arena, vec2, outline->count + 1);
	uint32_t count = 0;
	if (kept == NULL)
		return false;
	for (uint32_t i = 0; i < outline->count; i++) {
		vec2 p = outline->corners[i], q = outline->corners[(i + 1) % outline->count];
		double at_p = vec2_dot(normal, p) - bound, at_q = vec2_dot(normal, q) - bound;
		ASSERT(count <= outline->count);
		if (at_p >= 0)
			kept[count++] = p;
		if ((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0))
			kept[count++] = vec2_lerp(p, q, at_p / (at_p - at_q));
	}
	outline->corners = kept;
	outline->count = count;
	return true;
}

/* The corners of a sum that is cut for the first time. */
static bool copy_whole(struct pair_region *self, struct difference_sum *sum)
{
	struct packing *packing = self->packing;
	const struct packing_part *a = &packing->parts.items[sum->part_a];
	const struct packing_part *b = &packing->parts.items[sum->part_b];
	if (!allocate_outline(packing, &sum->outline, a->count + b->count))
		return false;
	add_parts(packing, a, b, self->c, &sum->outline);
	sum->cut = true;
	return true;
}

/* What the half-plane normal · v ≥ bound leaves of the sums. False: no memory. */
static bool cut_sums(struct pair_region *self, vec2 normal, double bound)
{
	double sliver = SLIVER * self->packing->scale;
	uint32_t left = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		struct difference_sum *sum = &self->sums[i];
		double low, high;
		if (sum->cut)
			outline_extent(&sum->outline, normal, &low, &high);
		else
			sum_extent(self, sum, normal, &low, &high);
		if (high <= bound + sliver)
			continue;
		if (low < bound) {
			if (!sum->cut && !copy_whole(self, sum))
				return false;
			if (!clip_outline(self->packing, &sum->outline, normal, bound))
				return false;
			if (sum->outline.count < 3)
				continue;
			find_farthest(self, &sum->outline, sum);
		}
		self->sums[left++] = *sum;
	}
	self->count = left;
	return true;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static bool make_sums(struct pair_region *self)
{
	uint32_t most = self->a->part_count * self->b->part_count;
	self->sums = ARENA_ARRAY(&self->packing->arena, struct difference_sum, most);
	if (self->sums == NULL)
		return false;
	for (uint32_t i = 0; i < self->a->part_count; i++)
		for (uint32_t k = 0; k < self->b->part_count; k++) {
			struct difference_sum *sum = &self->sums[self->count++];
			*sum = (struct difference_sum){ .part_a = self->a->first_part + i,
							.part_b = self->b->first_part + k };
			add_parts(self->packing, &self->packing->parts.items[sum->part_a],
				  &self->packing->parts.items[sum->part_b], self->c, &self->whole);
			find_farthest(self, &self->whole, sum);
		}
	return true;
}

static enum status append_row(struct packing *self, const struct packing_row *row)
{
	if (ARRAY_RESERVE(&self->rows, self->rows.count + UINT64_C(1)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->rows.items[self->rows.count++] = *row;
	return STATUS_OK;
}

static enum status add_half_planes(struct pair_region *self, uint32_t a, uint32_t b)
{
	while (self->count > 0) {
		uint32_t nearest = 0;
		for (uint32_t i = 1; i < self->count; i++)
			if (self->sums[i].distance < self->sums[nearest].distance)
				nearest = i;
		struct difference_sum sum = self->sums[nearest];
		struct packing_row row = {
			.a = a, .b = b, .normal = sum.normal, .gap = sum.distance
		};
		if (append_row(self->packing, &row) != STATUS_OK)
			return STATUS_NO_MEMORY;
		/* Its own sum is cut off by definition, whatever rounding says. */
		self->sums[nearest] = self->sums[--self->count];
		if (!cut_sums(self, sum.normal, -sum.distance))
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

enum status packing_add_rows(struct packing *self, uint32_t a, uint32_t b)
{
	struct arena_mark mark = arena_mark(&self->arena);
	struct pair_region region;
	ASSERT(a < b && b < self->count);
	enum status status = STATUS_NO_MEMORY;
	if (begin_region(&region, self, a, b) && make_sums(&region))
		status = add_half_planes(&region, a, b);
	arena_rewind(&self->arena, mark);
	return status;
}

/* ---- depth ------------------------------------------------------------------------------------- */

static bool parts_meet(const struct packing_part *a, const struct packing_part *b, vec2 c)
{
	return b->low.x + c.x <= a->high.x && a->low.x <= b->high.x + c.x &&
	       b->low.y + c.y <= a->high.y && a->low.y <= b->high.y + c.y;
}

enum status packing_depth(struct packing *self, uint32_t a, uint32_t b, double *depth)
{
	struct arena_mark mark = arena_mark(&self->arena);
	struct pair_region region;
	struct difference_sum sum = { 0 };
	*depth = -LENGTH_NONE;
	bool begun = begin_region(&region, self, a, b);
	for (uint32_t i = 0; begun && i < region.a->part_count; i++)
		for (uint32_t k = 0; k < region.b->part_count; k++) {
			const struct packing_part *p = &self->parts.items[region.a->first_part + i];
			const struct packing_part *q = &self->parts.items[region.b->first_part + k];
			if (!parts_meet(p, q, region.c))
				continue;
			add_parts(self, p, q, region.c, &region.whole);
			find_farthest(&region, &region.whole, &sum);
			*depth = scalar_max(*depth, -sum.distance);
		}
	arena_rewind(&self->arena, mark);
	return begun ? STATUS_OK : STATUS_NO_MEMORY;
}
