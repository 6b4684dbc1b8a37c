/* hull_merge.c: merges the triangles of a convex surface into planar faces.
 *
 * Real clouds are flat only up to rounding: the face points of a rotated cube written as floats
 * miss their plane by 10⁻⁷ of its size, and its exact hull is full of slivers. Contact manifolds
 * need the six faces.
 *
 * Method: from the largest triangle not yet assigned, flood across edges to every triangle whose
 * corners all lie within the tolerance of the first one's plane and whose normal does not point the
 * other way. The plane is never refitted, so a chain of small bends cannot creep around a corner. A
 * region must be a disc with a simple border; one that is not (a ring around a bump just higher
 * than the tolerance) is split into single triangles again.
 *
 * Then superfluous vertices are marked: those inside a region, those with fewer than three regions,
 * and corners between their neighbours that protrude from the line through them by no more than the
 * tolerance (or turn the wrong way, which on a convex surface implies being that near as well). Of
 * two neighbours on a border only the first is dropped, so that of a pair that approximates one
 * corner one vertex remains. The caller takes the hull of the remaining vertices and repeats until
 * none is dropped; each round loses at most about twice the tolerance at the dropped vertices.
 *
 * With tolerance 0 everything is exact: regions are the true faces, hence convex discs, and only
 * vertices that are not corners are dropped.
 */
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/geometry/hull_build.h"

#include <string.h>

struct face_merge {
	const vec3 *points;
	const struct hull_surface *surface;
	double tolerance;
	uint32_t *region; /* of each triangle; HULL_NONE: not yet assigned */
	uint32_t *order;  /* triangles by falling area */
	uint32_t *stack;  /* triangles of the region being grown */
	uint32_t *mark;	  /* of each point: last border that ran through it */
	uint32_t *degree; /* of each point: regions around it */
	uint32_t *fixed;  /* of each point: 1 = must stay in this round */
	uint64_t *keys, *scratch_keys;
	uint32_t *scratch;
	struct hull_regions *out;
};

static vec3 corner_of(const struct face_merge *self, uint32_t triangle, uint32_t k)
{
	VALIDATE(triangle < self->surface->count);
	return self->points[self->surface->corner[triangle][k % 3]];
}

static vec3 normal_of(const struct face_merge *self, uint32_t triangle)
{
	vec3 a = corner_of(self, triangle, 0);
	return vec3_cross(vec3_sub(corner_of(self, triangle, 1), a),
			  vec3_sub(corner_of(self, triangle, 2), a));
}

/* Largest first, so that the best-conditioned triangle defines a face's plane; ties in the
 * surface's order. */
static void order_by_area(struct face_merge *self)
{
	uint32_t count = self->surface->count;
	for (uint32_t t = 0; t < count; t++) {
		self->keys[t] = sort_key_of_double(-vec3_length_squared(normal_of(self, t)));
		self->order[t] = t;
	}
	sort_keys(self->keys, self->order, self->scratch_keys, self->scratch, count);
}

/* Whether a triangle lies in the plane of `seed`, with unit normal n, within the tolerance. */
static bool belongs_to_plane(const struct face_merge *self, uint32_t seed, vec3 n,
			     uint32_t triangle)
{
	if (!(vec3_dot(n, normal_of(self, triangle)) > 0))
		return false;
	vec3 a = corner_of(self, seed, 0);
	for (uint32_t k = 0; k < 3; k++) {
		vec3 p = corner_of(self, triangle, k);
		if (self->tolerance > 0) {
			if (scalar_abs(vec3_dot(n, vec3_sub(p, a))) > self->tolerance)
				return false;
		} else if (hull_side(a, corner_of(self, seed, 1), corner_of(self, seed, 2), p)) {
			return false;
		}
	}
	return true;
}

static uint32_t flood_region(struct face_merge *self, uint32_t seed, uint32_t region)
{
	ASSERT(self->region[seed] == HULL_NONE);
	vec3 n = vec3_normalize(normal_of(self, seed));
	uint32_t count = 1;
	self->stack[0] = seed;
	self->region[seed] = region;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t next = self->surface->neighbour[self->stack[i]][k];
			if (self->region[next] != HULL_NONE ||
			    !belongs_to_plane(self, seed, n, next))
				continue;
			self->region[next] = region;
			self->stack[count++] = next;
		}
	ASSERT(count <= self->surface->count);
	return count;
}

/* ---- borders ---------------------------------------------------------------------------------- */

struct border_edge {
	uint32_t triangle, k;
};

static uint32_t index_of_neighbour(const struct face_merge *self, uint32_t triangle,
				   uint32_t neighbour)
{
	const uint32_t *list = self->surface->neighbour[triangle];
	return list[0] == neighbour ? 0 : list[1] == neighbour ? 1 : 2;
}

/* The border's next edge: turn around the end of this one, inside the region. */
static struct border_edge next_on_border(const struct face_merge *self, struct border_edge at)
{
	uint32_t region = self->region[at.triangle];
	at.k = (at.k + 1) % 3;
	for (;;) {
		uint32_t across = self->surface->neighbour[at.triangle][at.k];
		if (self->region[across] != region)
			return at;
		at.k = (index_of_neighbour(self, across, at.triangle) + 1) % 3;
		at.triangle = across;
	}
}

/* Appends the border of a region of `count` triangles (in `stack`) to the loops. False when it is
 * not one simple loop. `stamp` is new for every call. */
static bool trace_border(struct face_merge *self, uint32_t region, uint32_t count, uint32_t stamp)
{
	ASSERT(count > 0 && stamp > 0);
	struct border_edge start = { HULL_NONE, 0 };
	uint32_t edges = 0, length = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t triangle = self->stack[i];
			if (self->region[self->surface->neighbour[triangle][k]] == region)
				continue;
			if (edges++ == 0)
				start = (struct border_edge){ triangle, k };
		}
	if (edges == 0)
		return false;
	struct border_edge at = start;
	uint32_t *loop = self->out->loop + self->out->corners;
	do {
		uint32_t point = self->surface->corner[at.triangle][at.k];
		if (self->mark[point] == stamp)
			return false;
		self->mark[point] = stamp;
		loop[length++] = point;
		at = next_on_border(self, at);
	} while (at.triangle != start.triangle || at.k != start.k);
	if (length != edges)
		return false;
	ASSERT(length >= 3);
	self->out->corners += length;
	return true;
}

static void close_region(struct face_merge *self)
{
	ASSERT(self->out->count < self->surface->count);
	self->out->count++;
	self->out->first[self->out->count] = self->out->corners;
}

/* Makes every triangle of the stack a region of its own. */
static void make_singles(struct face_merge *self, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t triangle = self->stack[i];
		self->region[triangle] = self->out->count;
		for (uint32_t k = 0; k < 3; k++)
			self->out->loop[self->out->corners++] = self->surface->corner[triangle][k];
		close_region(self);
	}
}

#ifdef CAIRN_VALIDATE
static bool all_assigned(const struct face_merge *self)
{
	for (uint32_t t = 0; t < self->surface->count; t++)
		if (self->region[t] >= self->out->count)
			return false;
	return true;
}
#endif

/* Each border marks its points with a stamp of its own. */
static void make_regions(struct face_merge *self)
{
	uint32_t stamp = 0;
	for (uint32_t i = 0; i < self->surface->count; i++) {
		uint32_t seed = self->order[i];
		if (self->region[seed] != HULL_NONE)
			continue;
		uint32_t count = flood_region(self, seed, self->out->count);
		if (trace_border(self, self->out->count, count, ++stamp)) {
			close_region(self);
			continue;
		}
		make_singles(self, count);
	}
}

/* ---- superfluous vertices --------------------------------------------------------------------- */

/* Whether b is a corner between a and c, seen along n: it protrudes to the left of the line a → c
 * by more than the tolerance, or lies beyond one of its ends, as the far end of a needle does. */
static bool is_corner(vec3 a, vec3 b, vec3 c, vec3 n, double tolerance)
{
	ASSERT(tolerance > 0);
	vec3 d = vec3_sub(c, a);
	double along = vec3_dot(vec3_sub(b, a), d), whole = vec3_dot(d, d);
	if (along <= 0 || along >= whole)
		return true;
	double area = vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(c, b)));
	return area > tolerance * scalar_sqrt(whole);
}

static vec3 region_normal(const struct face_merge *self, const uint32_t *loop, uint32_t length)
{
	ASSERT(length >= 3);
	vec3 sum = vec3_zero(), a = self->points[loop[0]];
	for (uint32_t i = 1; i + 1 < length; i++)
		sum = vec3_add(sum, vec3_cross(vec3_sub(self->points[loop[i]], a),
					       vec3_sub(self->points[loop[i + 1]], a)));
	return vec3_normalize(sum);
}

/* Drops a vertex unless the drop of a neighbour has fixed it; fixes its own neighbours. */
static void drop_vertex(struct face_merge *self, uint32_t before, uint32_t point, uint32_t after)
{
	VALIDATE(before != point && point != after);
	if (self->fixed[point] || !self->out->keep[point])
		return;
	self->out->keep[point] = 0;
	self->out->dropped++;
	self->fixed[before] = self->fixed[after] = 1;
}

static void drop_on_loop(struct face_merge *self, const uint32_t *loop, uint32_t length)
{
	vec3 n = region_normal(self, loop, length);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t before = loop[i == 0 ? length - 1 : i - 1], point = loop[i];
		uint32_t after = loop[i + 1 == length ? 0 : i + 1];
		bool corner = self->degree[point] >= 3;
		if (corner && self->tolerance > 0)
			corner = is_corner(self->points[before], self->points[point],
					   self->points[after], n, self->tolerance);
		if (!corner)
			drop_vertex(self, before, point, after);
	}
}

static void select_vertices(struct face_merge *self, uint32_t points)
{
	struct hull_regions *out = self->out;
	for (uint32_t i = 0; i < out->corners; i++)
		self->degree[out->loop[i]]++;
	/* A vertex of the surface that no border runs through lies inside a region. */
	for (uint32_t t = 0; t < self->surface->count; t++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t point = self->surface->corner[t][k];
			self->mark[point] = HULL_NONE;
		}
	for (uint32_t i = 0; i < points; i++) {
		bool vertex = self->mark[i] == HULL_NONE;
		out->keep[i] = vertex && self->degree[i] > 0;
		out->dropped += vertex && self->degree[i] == 0;
	}
	ASSERT(out->dropped <= points);
	for (uint32_t f = 0; f < out->count; f++)
		drop_on_loop(self, out->loop + out->first[f], out->first[f + 1] - out->first[f]);
}

/* ---- the merge -------------------------------------------------------------------------------- */

void hull_regions_release(struct hull_regions *self)
{
	heap_free(self->first);
	heap_free(self->loop);
	heap_free(self->keep);
	*self = (struct hull_regions){ 0 };
}

static bool allocate_merge(struct face_merge *self, uint32_t points, uint8_t **block)
{
	uint32_t t = self->surface->count;
	size_t bytes = (size_t)t * (2 * sizeof(uint64_t) + 4 * sizeof(uint32_t)) +
		       (size_t)points * 3 * sizeof(uint32_t);
	*block = heap_alloc_zero(bytes);
	self->out->first = heap_alloc(((size_t)t + 1) * sizeof(uint32_t));
	self->out->loop = heap_alloc((size_t)t * 3 * sizeof(uint32_t));
	self->out->keep = heap_alloc(points);
	if (*block == NULL || self->out->first == NULL || self->out->loop == NULL ||
	    self->out->keep == NULL)
		return false;
	self->keys = (uint64_t *)*block;
	self->scratch_keys = self->keys + t;
	self->region = (uint32_t *)(self->scratch_keys + t);
	self->order = self->region + t;
	self->stack = self->order + t;
	self->scratch = self->stack + t;
	self->mark = self->scratch + t;
	self->degree = self->mark + points;
	self->fixed = self->degree + points;
	return true;
}

enum status hull_merge(const vec3 *points, uint32_t count, const struct hull_surface *surface,
		       double tolerance, struct hull_regions *out)
{
	ASSERT(tolerance >= 0);
	struct face_merge self = {
		.points = points, .surface = surface, .tolerance = tolerance, .out = out
	};
	uint8_t *block;
	*out = (struct hull_regions){ 0 };
	if (!allocate_merge(&self, count, &block)) {
		heap_free(block);
		hull_regions_release(out);
		return STATUS_NO_MEMORY;
	}
	memset(self.region, 0xff, surface->count * sizeof *self.region);
	out->first[0] = 0;
	order_by_area(&self);
	make_regions(&self);
	select_vertices(&self, count);
	ASSERT(out->corners <= 3 * surface->count);
	VALIDATE(all_assigned(&self));
	heap_free(block);
	return STATUS_OK;
}
