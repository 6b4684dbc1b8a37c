/* hull_exact.c: the exact convex hull of points on a grid, as triangles.
 *
 * Problem: given n points with whole-numbered coordinates up to 2^41, the triangles of their hull.
 * Method: incremental insertion in random order with conflict lists (Clarkson and Shor): each facet
 * lists the points that see it, each point stores one facet it sees. A point is inserted by
 * searching the facets it sees, replacing them by a fan from their horizon, and passing their
 * points on: a new facet over the ridge between a removed facet and a remaining one can only be
 * seen by points that see one of those two. Expected O(n log n) for every input, because the order
 * is random, not the input. The order comes from a hash of the points themselves: the same cloud
 * gives the same hull everywhere, and a cloud with a bad order can be found only by searching for
 * one.
 *
 * Correctness: whether a point sees a facet is decided exactly. A floating-point value with an
 * error bound decides almost always; otherwise 128-bit integers do (41-bit differences: products of
 * two below 2^83, of three below 2^124, their sum below 2^126). "Sees" is strict: a point in a
 * facet's plane does not see it. Therefore
 *   E-1  the seen facets form a disc whose border is a simple cycle (move the point slightly inwards:
 *        it strictly sees the same facets, and lies in no facet's plane any more);
 *   E-2  a new facet is never degenerate (a point on a ridge's line lies in both planes at the ridge);
 *   E-3  a point that saw a removed facet and sees no new one is inside: it sees no facet at all.
 * Coplanar points give coplanar triangles, and may leave vertices within flat faces; hull_merge.c
 * merges those.
 *
 * Refused: clouds thinner than SHAPE_LENGTH_MIN (points, lines, planes).
 */
#include "server/base/array.h"
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/hull_build.h"

/* Bound of the filter's rounding error relative to Σ|d_i| max m_i (below): 5 units of 2⁻⁵³ are
 * needed, 8 are used. Below 5 the filter could return a wrong sign. */
#define FILTER_ERROR 0x1p-50

struct hull_facet {
	uint32_t corner[3], neighbour[3];
	vec3 normal;	  /* (b − a) × (c − a), rounded */
	double error;	  /* FILTER_ERROR × the largest sum of products in a component of it */
	uint32_t seen_by; /* first node of its conflict list */
	uint32_t visit;	  /* number of the insertion that last visited it */
	bool seen;	  /* whether that insertion's point sees it */
	bool alive;
};

struct conflict {
	uint32_t point, next;
};

struct hull_insertion {
	const vec3 *points; /* borrowed */
	uint32_t count;
	ARRAY_OF(struct hull_facet) facets;
	ARRAY_OF(struct conflict) nodes;
	ARRAY_OF(uint32_t) stack; /* the facets seen by the point being inserted */
	ARRAY_OF(uint32_t) fresh; /* the facets made for it */
	uint32_t *facet_of;	  /* a facet each point sees, or HULL_NONE */
	uint32_t *stamp;	  /* last new facet each point was tested against */
	uint32_t *fan;		  /* the new facet whose outer edge starts at a vertex */
	uint32_t *order;
	uint32_t facets_free, nodes_free; /* heads of lists of unused ones */
	uint32_t facets_made;
	uint32_t inserting;
};

/* ---- the predicate ---------------------------------------------------------------------------- */

typedef __int128 wide;

static wide exact_minor(double a, double b, double c, double d)
{
	return (wide)(int64_t)a * (int64_t)b - (wide)(int64_t)c * (int64_t)d;
}

static int exact_side(vec3 u, vec3 v, vec3 d)
{
	wide sum = exact_minor(u.y, v.z, u.z, v.y) * (int64_t)d.x +
		   exact_minor(u.z, v.x, u.x, v.z) * (int64_t)d.y +
		   exact_minor(u.x, v.y, u.y, v.x) * (int64_t)d.z;
	return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

int hull_side(vec3 a, vec3 b, vec3 c, vec3 p)
{
	return exact_side(vec3_sub(b, a), vec3_sub(c, a), vec3_sub(p, a));
}

static bool point_sees_facet(const struct hull_insertion *self, uint32_t point,
			     const struct hull_facet *facet)
{
	VALIDATE(point < self->count);
	vec3 a = self->points[facet->corner[0]];
	vec3 d = vec3_sub(self->points[point], a);
	double height = vec3_dot(facet->normal, d);
	double bound = facet->error * (scalar_abs(d.x) + scalar_abs(d.y) + scalar_abs(d.z));
	if (height > bound)
		return true;
	if (height < -bound)
		return false;
	return exact_side(vec3_sub(self->points[facet->corner[1]], a),
			  vec3_sub(self->points[facet->corner[2]], a), d) > 0;
}

/* ---- facets and conflict lists ---------------------------------------------------------------- */

static enum status facet_make(struct hull_insertion *self, uint32_t a, uint32_t b, uint32_t c,
			      uint32_t *out)
{
	ASSERT(a != b && b != c && c != a);
	uint32_t id = self->facets_free;
	if (id != HULL_NONE) {
		self->facets_free = self->facets.items[id].seen_by;
	} else {
		if (ARRAY_RESERVE(&self->facets, self->facets.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		id = self->facets.count++;
	}
	vec3 u = vec3_sub(self->points[b], self->points[a]);
	vec3 v = vec3_sub(self->points[c], self->points[a]);
	vec3 p = vec3_abs(u), q = vec3_abs(v);
	double largest = scalar_max(scalar_max(p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z),
				    p.x * q.y + p.y * q.x);
	self->facets.items[id] = (struct hull_facet){
		.corner = { a, b, c },
		.neighbour = { HULL_NONE, HULL_NONE, HULL_NONE },
		.normal = vec3_cross(u, v),
		.error = FILTER_ERROR * largest,
		.seen_by = HULL_NONE,
		.alive = true,
	};
	self->facets_made++;
	*out = id;
	return STATUS_OK;
}

static enum status add_conflict(struct hull_insertion *self, uint32_t facet, uint32_t point)
{
	VALIDATE(point < self->count);
	VALIDATE(self->facets.items[facet].alive);
	uint32_t id = self->nodes_free;
	if (id != HULL_NONE) {
		self->nodes_free = self->nodes.items[id].next;
	} else {
		if (ARRAY_RESERVE(&self->nodes, self->nodes.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		id = self->nodes.count++;
	}
	self->nodes.items[id] = (struct conflict){ point, self->facets.items[facet].seen_by };
	self->facets.items[facet].seen_by = id;
	self->facet_of[point] = facet;
	return STATUS_OK;
}

/* Tests the points of `source`'s conflict list against a new facet and adds those that see it. */
static enum status pass_conflicts(struct hull_insertion *self, uint32_t source, uint32_t facet)
{
	ASSERT(source != facet);
	uint32_t id = self->facets.items[source].seen_by;
	while (id != HULL_NONE) {
		struct conflict node = self->nodes.items[id];
		id = node.next;
		if (self->stamp[node.point] == self->facets_made)
			continue;
		self->stamp[node.point] = self->facets_made;
		if (!point_sees_facet(self, node.point, &self->facets.items[facet]))
			continue;
		if (add_conflict(self, facet, node.point) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

/* Clears the facet its points see; points that see a new facet get that one later (E-3). */
static void clear_conflicts(struct hull_insertion *self, uint32_t facet)
{
	for (uint32_t id = self->facets.items[facet].seen_by; id != HULL_NONE;
	     id = self->nodes.items[id].next)
		self->facet_of[self->nodes.items[id].point] = HULL_NONE;
}

static void free_facet(struct hull_insertion *self, uint32_t facet)
{
	ASSERT(self->facets.items[facet].alive);
	uint32_t id = self->facets.items[facet].seen_by;
	while (id != HULL_NONE) {
		uint32_t next = self->nodes.items[id].next;
		self->nodes.items[id].next = self->nodes_free;
		self->nodes_free = id;
		id = next;
	}
	self->facets.items[facet].alive = false;
	self->facets.items[facet].seen_by = self->facets_free;
	self->facets_free = facet;
}

/* ---- insertion -------------------------------------------------------------------------------- */

/* All facets the point sees, from one of them over shared edges (E-1: they are connected). */
static enum status find_seen(struct hull_insertion *self, uint32_t point)
{
	ASSERT(self->facet_of[point] != HULL_NONE);
	uint32_t start = self->facet_of[point];
	self->inserting++;
	self->facets.items[start].visit = self->inserting;
	self->facets.items[start].seen = true;
	self->stack.count = 0;
	if (ARRAY_RESERVE(&self->stack, 4) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->stack.items[self->stack.count++] = start;
	for (uint32_t i = 0; i < self->stack.count; i++) {
		if (ARRAY_RESERVE(&self->stack, self->stack.count + 3u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t id = self->facets.items[self->stack.items[i]].neighbour[k];
			struct hull_facet *facet = &self->facets.items[id];
			if (facet->visit == self->inserting)
				continue;
			facet->visit = self->inserting;
			facet->seen = point_sees_facet(self, point, facet);
			if (facet->seen)
				self->stack.items[self->stack.count++] = id;
		}
	}
	return STATUS_OK;
}

static uint32_t edge_to(const struct hull_facet *facet, uint32_t neighbour)
{
	VALIDATE(facet->neighbour[0] == neighbour || facet->neighbour[1] == neighbour ||
		 facet->neighbour[2] == neighbour);
	return facet->neighbour[0] == neighbour ? 0 : facet->neighbour[1] == neighbour ? 1 : 2;
}

/* Creates a new facet over every ridge between a seen facet and one that stays. */
static enum status raise_fan(struct hull_insertion *self, uint32_t point)
{
	ASSERT(self->stack.count > 0);
	self->fresh.count = 0;
	for (uint32_t i = 0; i < self->stack.count; i++) {
		uint32_t inner = self->stack.items[i];
		for (uint32_t k = 0; k < 3; k++) {
			struct hull_facet facet = self->facets.items[inner];
			uint32_t outer = facet.neighbour[k], id;
			if (self->facets.items[outer].seen &&
			    self->facets.items[outer].visit == self->inserting)
				continue;
			uint32_t a = facet.corner[k], b = facet.corner[(k + 1) % 3];
			if (facet_make(self, a, b, point, &id) != STATUS_OK ||
			    ARRAY_RESERVE(&self->fresh, self->fresh.count + 1u) != STATUS_OK)
				return STATUS_NO_MEMORY;
			self->fresh.items[self->fresh.count++] = id;
			self->facets.items[id].neighbour[0] = outer;
			struct hull_facet *stays = &self->facets.items[outer];
			stays->neighbour[edge_to(stays, inner)] = id;
			self->fan[a] = id;
			if (pass_conflicts(self, inner, id) != STATUS_OK ||
			    pass_conflicts(self, outer, id) != STATUS_OK)
				return STATUS_NO_MEMORY;
		}
	}
	/* Euler: the horizon of a disc of seen facets has at least three ridges (E-1). */
	ASSERT(self->fresh.count >= 3);
	for (uint32_t i = 0; i < self->fresh.count; i++) {
		uint32_t id = self->fresh.items[i];
		uint32_t next = self->fan[self->facets.items[id].corner[1]];
		self->facets.items[id].neighbour[1] = next;
		self->facets.items[next].neighbour[2] = id;
	}
	return STATUS_OK;
}

static enum status insert_point(struct hull_insertion *self, uint32_t point)
{
	if (find_seen(self, point) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->stack.count; i++)
		clear_conflicts(self, self->stack.items[i]);
	if (raise_fan(self, point) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->facet_of[point] = HULL_NONE;
	for (uint32_t i = 0; i < self->stack.count; i++)
		free_facet(self, self->stack.items[i]);
	return STATUS_OK;
}

/* ---- the first tetrahedron -------------------------------------------------------------------- */

/* The farthest pair of the six extreme points along the axes, the first on ties. */
static void farthest_pair(const struct hull_insertion *self, uint32_t pair[2])
{
	ASSERT(self->count >= 2);
	uint32_t extreme[6] = { 0 };
	for (uint32_t i = 1; i < self->count; i++)
		for (uint32_t axis = 0; axis < 3; axis++) {
			double x = vec3_get(self->points[i], axis);
			if (x < vec3_get(self->points[extreme[2 * axis]], axis))
				extreme[2 * axis] = i;
			if (x > vec3_get(self->points[extreme[2 * axis + 1]], axis))
				extreme[2 * axis + 1] = i;
		}
	double farthest = -1;
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = i + 1; k < 6; k++) {
			double distance = vec3_distance_squared(self->points[extreme[i]],
								self->points[extreme[k]]);
			if (distance <= farthest)
				continue;
			farthest = distance;
			pair[0] = extreme[i];
			pair[1] = extreme[k];
		}
}

static enum status refuse_flat(struct reason *why, const char *what, double width)
{
	return reason_set(why, STATUS_DEGENERATE, -1, "points",
			  "all points lie %s: the width is %g m, at least %g m are needed", what,
			  width, SHAPE_LENGTH_MIN);
}

static enum status first_corners(const struct hull_insertion *self, double unit, uint32_t corner[4],
				 struct reason *why)
{
	farthest_pair(self, corner);
	vec3 a = self->points[corner[0]], line;
	double length, width = -1, low = 0, high = 0;
	line = vec3_normalize_length(vec3_sub(self->points[corner[1]], a), &length);
	if (length * unit < SHAPE_LENGTH_MIN)
		return refuse_flat(why, "in one place", length * unit);
	for (uint32_t i = 0; i < self->count; i++) {
		double far = vec3_length(vec3_cross(line, vec3_sub(self->points[i], a)));
		if (far <= width)
			continue;
		width = far;
		corner[2] = i;
	}
	if (width * unit < SHAPE_LENGTH_MIN)
		return refuse_flat(why, "on a line", width * unit);
	vec3 normal = vec3_normalize(vec3_cross(line, vec3_sub(self->points[corner[2]], a)));
	uint32_t lowest = corner[0], highest = corner[0];
	for (uint32_t i = 0; i < self->count; i++) {
		double height = vec3_dot(normal, vec3_sub(self->points[i], a));
		if (height < low) {
			low = height;
			lowest = i;
		}
		if (height > high) {
			high = height;
			highest = i;
		}
	}
	if ((high - low) * unit < SHAPE_LENGTH_MIN)
		return refuse_flat(why, "in a plane", (high - low) * unit);
	corner[3] = high >= -low ? highest : lowest;
	return STATUS_OK;
}

static enum status first_facets(struct hull_insertion *self, double unit, struct reason *why)
{
	/* Facet i is opposite corner i of a tetrahedron whose corner 3 lies inside facet 0 1 2. */
	static const uint8_t FACETS[4][3] = { { 1, 3, 2 }, { 0, 2, 3 }, { 0, 3, 1 }, { 0, 1, 2 } };
	uint32_t corner[4] = { 0 };
	enum status status = first_corners(self, unit, corner, why);
	if (status != STATUS_OK)
		return status;
	ASSERT(corner[0] != corner[1] && corner[2] != corner[3]);
	int side = hull_side(self->points[corner[0]], self->points[corner[1]],
			     self->points[corner[2]], self->points[corner[3]]);
	if (side == 0)
		return refuse_flat(why, "in a plane", 0);
	if (side > 0) {
		uint32_t kept = corner[0];
		corner[0] = corner[1];
		corner[1] = kept;
	}
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t id;
		if (facet_make(self, corner[FACETS[i][0]], corner[FACETS[i][1]],
			       corner[FACETS[i][2]], &id) != STATUS_OK)
			return STATUS_NO_MEMORY;
		/* Across the edge from corner k to k+1 lies the facet opposite corner k+2. */
		for (uint32_t k = 0; k < 3; k++)
			self->facets.items[id].neighbour[k] = FACETS[i][(k + 2) % 3];
	}
	for (uint32_t point = 0; point < self->count; point++)
		for (uint32_t i = 0; i < 4; i++)
			if (point_sees_facet(self, point, &self->facets.items[i]) &&
			    add_conflict(self, i, point) != STATUS_OK)
				return STATUS_NO_MEMORY;
	return STATUS_OK;
}

/* ---- the hull --------------------------------------------------------------------------------- */

static void shuffle(struct hull_insertion *self)
{
	struct rng rng = rng_seeded(hash64(self->points, self->count * sizeof *self->points, 0));
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t k = rng_below(&rng, i + 1);
		self->order[i] = self->order[k];
		self->order[k] = i;
	}
}

/* Copies the live facets, renumbered in their order. */
static enum status take_surface(const struct hull_insertion *self, struct hull_surface *out)
{
	uint32_t alive = 0, total = self->facets.count;
	for (uint32_t i = 0; i < total; i++)
		alive += self->facets.items[i].alive;
	uint32_t *number = heap_alloc(total * sizeof *number);
	out->corner = heap_alloc(alive * sizeof *out->corner);
	out->neighbour = heap_alloc(alive * sizeof *out->neighbour);
	if (number == NULL || out->corner == NULL || out->neighbour == NULL) {
		heap_free(number);
		hull_surface_release(out);
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < total; i++)
		number[i] = self->facets.items[i].alive ? out->count++ : HULL_NONE;
	for (uint32_t i = 0; i < total; i++) {
		if (number[i] == HULL_NONE)
			continue;
		const struct hull_facet *facet = &self->facets.items[i];
		for (uint32_t k = 0; k < 3; k++) {
			out->corner[number[i]][k] = facet->corner[k];
			out->neighbour[number[i]][k] = number[facet->neighbour[k]];
			VALIDATE(number[facet->neighbour[k]] != HULL_NONE);
		}
	}
	ASSERT(out->count == alive);
	heap_free(number);
	return STATUS_OK;
}

void hull_surface_release(struct hull_surface *self)
{
	heap_free(self->corner);
	heap_free(self->neighbour);
	*self = (struct hull_surface){ 0 };
}

static enum status build_run(struct hull_insertion *self, double unit, struct hull_surface *out,
			     struct reason *why)
{
	if (self->facet_of == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->count; i++) {
		self->facet_of[i] = HULL_NONE;
		self->stamp[i] = 0;
		self->order[i] = i;
	}
	enum status status = first_facets(self, unit, why);
	if (status != STATUS_OK)
		return status;
	shuffle(self);
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->facet_of[self->order[i]] == HULL_NONE)
			continue;
		if (insert_point(self, self->order[i]) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return take_surface(self, out);
}

enum status hull_triangulate(const vec3 *points, uint32_t count, double unit,
			     struct hull_surface *out, uint64_t *facets_made, struct reason *why)
{
	ASSERT(unit > 0);
	struct hull_insertion self = {
		.points = points, .count = count, .facets_free = HULL_NONE, .nodes_free = HULL_NONE
	};
	*out = (struct hull_surface){ 0 };
	/* Four lists in one block. */
	self.facet_of = heap_alloc((size_t)count * 4 * sizeof *self.facet_of);
	if (self.facet_of != NULL) {
		self.stamp = self.facet_of + count;
		self.fan = self.stamp + count;
		self.order = self.fan + count;
	}
	enum status status = build_run(&self, unit, out, why);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "points", "out of memory");
	*facets_made += self.facets_made;
	heap_free(self.facet_of);
	ARRAY_RELEASE(&self.facets);
	ARRAY_RELEASE(&self.nodes);
	ARRAY_RELEASE(&self.stack);
	ARRAY_RELEASE(&self.fresh);
	return status;
}
