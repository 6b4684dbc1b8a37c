/* decompose_piece.c: half-edge surfaces: from meshes, by components, splitting an edge, notches.
 *
 * Surfaces consist of triangles only: however points are rounded, a surface of triangles is exactly
 * defined by its points, so no face has to be planar within a tolerance and volumes add up. The
 * book's faces are convex polygons (app F-01); its conditions on them hold for triangles, and edges
 * between coplanar triangles are no notches.
 */
#include "server/engine/geometry/decompose_piece.h"

#include "server/base/heap.h"
#include "server/base/sort.h"

#include <string.h>

struct decompose_piece *piece_create(uint32_t points, uint32_t triangles)
{
	struct decompose_piece *self = heap_alloc_zero(sizeof *self);
	if (self != NULL && !piece_reserve(self, points, triangles)) {
		piece_destroy(self);
		return NULL;
	}
	return self;
}

void piece_destroy(struct decompose_piece *self)
{
	if (self == NULL)
		return;
	heap_free(self->points);
	heap_free(self->corner);
	heap_free(self->twin);
	heap_free(self);
}

static bool grow_block(void *address, size_t bytes)
{
	void *block;
	memcpy(&block, address, sizeof block);
	block = heap_realloc(block, bytes);
	if (block == NULL)
		return false;
	memcpy(address, &block, sizeof block);
	return true;
}

bool piece_reserve(struct decompose_piece *self, uint32_t points, uint32_t triangles)
{
	if (points > self->point_room) {
		if (!grow_block(&self->points, points * sizeof *self->points))
			return false;
		self->point_room = points;
	}
	if (triangles > self->triangle_room) {
		size_t bytes = (size_t)triangles * 3 * sizeof *self->corner;
		if (!grow_block(&self->corner, bytes) || !grow_block(&self->twin, bytes))
			return false;
		self->triangle_room = triangles;
	}
	return true;
}

void piece_list_release(piece_list *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		piece_destroy(self->items[i]);
	ARRAY_RELEASE(self);
}

/* ---- components ------------------------------------------------------------------------------- */

/* Search for connected components. `number` is UINT32_MAX for a triangle not yet reached, then its
 * number in its component; `stack` has room for all triangles, `point_of` for all half-edges. */
struct component_search {
	const struct decompose_piece *whole;
	uint32_t *number, *stack, *point_of;
};

static uint32_t flood_component(struct component_search *self, uint32_t first)
{
	ASSERT(self->number[first] == UINT32_MAX);
	uint32_t count = 0, done = 0;
	self->stack[count++] = first;
	self->number[first] = 0;
	/* The stack is not popped: it becomes the list of triangles in the order they were reached. */
	while (done < count) {
		uint32_t t = self->stack[done++];
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t other = self->whole->twin[3 * t + k] / 3;
			if (self->number[other] != UINT32_MAX)
				continue;
			self->number[other] = count;
			self->stack[count++] = other;
		}
	}
	ASSERT(count <= self->whole->triangle_count);
	return count;
}

/* Numbers the points: one for each cycle of triangles around a corner. Returns the count. */
static uint32_t number_points(struct component_search *self, uint32_t triangles)
{
	const struct decompose_piece *whole = self->whole;
	uint32_t points = 0;
	for (uint32_t i = 0; i < triangles; i++)
		for (uint32_t k = 0; k < 3; k++)
			self->point_of[3 * self->stack[i] + k] = UINT32_MAX;
	for (uint32_t i = 0; i < triangles; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t first = 3 * self->stack[i] + k, h = first;
			if (self->point_of[h] != UINT32_MAX)
				continue;
			do {
				self->point_of[h] = points;
				h = whole->twin[half_previous(h)];
			} while (h != first);
			points++;
		}
	}
	return points;
}

static struct decompose_piece *extract_component(struct component_search *self, uint32_t triangles)
{
	ASSERT(triangles > 0);
	const struct decompose_piece *whole = self->whole;
	uint32_t points = number_points(self, triangles);
	struct decompose_piece *out = piece_create(points, triangles);
	if (out == NULL)
		return NULL;
	out->point_count = points;
	out->triangle_count = triangles;
	out->level = whole->level;
	out->convex = whole->convex;
	for (uint32_t i = 0; i < triangles; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t h = 3 * self->stack[i] + k, twin = whole->twin[h];
			uint32_t point = self->point_of[h];
			out->points[point] = whole->points[whole->corner[h]];
			out->corner[3 * i + k] = point;
			out->twin[3 * i + k] = 3 * self->number[twin / 3] + twin % 3;
		}
	}
	return out;
}

bool piece_list_of_piece(const struct decompose_piece *piece, piece_list *out)
{
	VALIDATE(piece_is_closed(piece));
	size_t count = piece->triangle_count;
	struct component_search self = { .whole = piece };
	self.number = heap_alloc(count * 5 * sizeof *self.number);
	if (self.number == NULL)
		return false;
	self.stack = self.number + count;
	self.point_of = self.stack + count;
	memset(self.number, 0xff, count * sizeof *self.number);
	bool good = true;
	for (uint32_t t = 0; t < count && good; t++) {
		if (self.number[t] != UINT32_MAX)
			continue;
		uint32_t triangles = flood_component(&self, t);
		good = ARRAY_RESERVE(out, out->count + 1u) == STATUS_OK;
		struct decompose_piece *found = good ? extract_component(&self, triangles) : NULL;
		good = found != NULL;
		if (good)
			out->items[out->count++] = found;
	}
	heap_free(self.number);
	return good;
}

/* ---- from a mesh ------------------------------------------------------------------------------ */

/* The half-edge of the neighbour that runs back along edge k of t; UINT32_MAX: none. */
static uint32_t half_across(const struct mesh *mesh, uint32_t t, uint32_t k)
{
	ASSERT(mesh->adjacent[t][k] < mesh->triangle_count);
	uint32_t other = mesh->adjacent[t][k];
	vec3 a = mesh_corner(mesh, t, k), b = mesh_corner(mesh, t, (k + 1) % 3);
	for (uint32_t i = 0; i < 3; i++)
		if (vec3_equal(mesh_corner(mesh, other, i), b) &&
		    vec3_equal(mesh_corner(mesh, other, (i + 1) % 3), a))
			return 3 * other + i;
	return UINT32_MAX;
}

static int compare_places(const void *a, const void *b, void *context)
{
	const vec3 *p = a, *q = b;
	UNUSED(context);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double x = vec3_get(*p, axis), y = vec3_get(*q, axis);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

bool piece_list_find_pinch(const piece_list *self, bool *found, vec3 *place)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->count; i++)
		count += self->items[i]->point_count;
	vec3 *places = heap_alloc((size_t)count * 2 * sizeof *places);
	if (places == NULL)
		return false;
	count = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		const struct decompose_piece *piece = self->items[i];
		memcpy(places + count, piece->points, piece->point_count * sizeof *places);
		count += piece->point_count;
	}
	sort_items(places, places + count, count, sizeof *places, compare_places, NULL);
	*found = false;
	for (uint32_t i = 1; i < count && !*found; i++) {
		*found = compare_places(&places[i - 1], &places[i], NULL) == 0;
		*place = places[i];
	}
	heap_free(places);
	return true;
}

bool piece_list_of_mesh(const struct mesh *mesh, piece_list *out)
{
	ASSERT(mesh->closed);
	struct decompose_piece *whole = piece_create(mesh->vertex_count, mesh->triangle_count);
	if (whole == NULL)
		return false;
	whole->point_count = mesh->vertex_count;
	whole->triangle_count = mesh->triangle_count;
	memcpy(whole->points, mesh->vertices, mesh->vertex_count * sizeof *whole->points);
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		for (uint32_t k = 0; k < 3; k++) {
			whole->corner[3 * t + k] = mesh->triangles[t][k];
			whole->twin[3 * t + k] = half_across(mesh, t, k);
			ASSERT(whole->twin[3 * t + k] != UINT32_MAX);
		}
	}
	bool good = piece_list_of_piece(whole, out);
	piece_destroy(whole);
	return good;
}

/* ---- measures --------------------------------------------------------------------------------- */

double piece_volume(const struct decompose_piece *self, vec3 origin)
{
	double six = 0;
	for (uint32_t t = 0; t < self->triangle_count; t++)
		six += vec3_triple(vec3_sub(piece_start(self, 3 * t), origin),
				   vec3_sub(piece_start(self, 3 * t + 1), origin),
				   vec3_sub(piece_start(self, 3 * t + 2), origin));
	return six / 6;
}

struct aabb piece_box(const struct decompose_piece *self)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < self->point_count; i++)
		box = aabb_add_point(box, self->points[i]);
	return box;
}

double piece_mean_edge(const struct decompose_piece *self)
{
	double sum = 0;
	uint32_t count = 3 * self->triangle_count;
	for (uint32_t h = 0; h < count; h++)
		sum += vec3_distance(piece_start(self, h), piece_end(self, h));
	return count > 0 ? sum / count : 0;
}

/* F-02 without the angle: with n1, n2 the normals of both sides and c, d their far corners, the
 * inner angle exceeds π iff d lies outside the plane of c's side, and equally iff c lies outside
 * d's. Both are required, because the normal of a sliver is rounding noise and the other plane then
 * decides. */
bool piece_is_notch(const struct decompose_piece *self, uint32_t h, double slack, vec3 *normal)
{
	ASSERT(slack >= 0);
	VALIDATE(self->twin[self->twin[h]] == h);
	uint32_t g = self->twin[h];
	vec3 a = piece_start(self, h), c = piece_start(self, half_previous(h));
	vec3 d = piece_start(self, half_previous(g));
	double size1, size2;
	vec3 n1 = vec3_normalize_length(piece_area(self, h / 3), &size1);
	vec3 n2 = vec3_normalize_length(piece_area(self, g / 3), &size2);
	double up1 = vec3_dot(n1, vec3_sub(d, a)), up2 = vec3_dot(n2, vec3_sub(c, a));
	if (!(up1 > slack && up2 > slack))
		return false;
	double length = vec3_distance(a, piece_end(self, h));
	*normal = vec3_normalize(vec3_add(n1, n2));
	return up1 * length > DECOMPOSE_FLAT_SINE * size2 &&
	       up2 * length > DECOMPOSE_FLAT_SINE * size1;
}

uint32_t piece_count_notches(const struct decompose_piece *self, double slack)
{
	uint32_t count = 0;
	vec3 normal;
	for (uint32_t h = 0; h < 3 * self->triangle_count; h++)
		count += h < self->twin[h] && piece_is_notch(self, h, slack, &normal);
	return count;
}

#ifdef CAIRN_VALIDATE
bool piece_is_closed(const struct decompose_piece *self)
{
	for (uint32_t h = 0; h < 3 * self->triangle_count; h++) {
		uint32_t twin = self->twin[h];
		if (self->corner[h] >= self->point_count || twin >= 3 * self->triangle_count ||
		    twin == h || self->twin[twin] != h)
			return false;
	}
	return true;
}
#endif

/* ---- splitting -------------------------------------------------------------------------------- */

static void link_twins(struct decompose_piece *self, uint32_t h, uint32_t g)
{
	ASSERT(h != g);
	self->twin[h] = g;
	self->twin[g] = h;
}

/* Turns triangle (p q r) of half-edge h: p → q into (p m r) and adds (m q r). Returns the new
 * triangle's first half-edge, m → q; its twin and h's are set by the caller. */
static uint32_t split_side(struct decompose_piece *self, uint32_t h, uint32_t m, uint32_t *from,
			   uint32_t *to)
{
	uint32_t next = half_next(h), made = 3 * self->triangle_count++;
	uint32_t beyond = self->twin[next];
	self->corner[made] = m;
	self->corner[made + 1] = self->corner[next];
	self->corner[made + 2] = self->corner[half_previous(h)];
	self->corner[next] = m;
	link_twins(self, made + 1, beyond);
	link_twins(self, next, made + 2);
	*from = next;
	*to = made + 1;
	return made;
}

uint32_t piece_split(struct decompose_piece *self, uint32_t h, vec3 at, struct piece_moved *moved)
{
	ASSERT(h < 3 * self->triangle_count);
	uint32_t g = self->twin[h], m = self->point_count++;
	ASSERT(self->point_count <= self->point_room);
	ASSERT(self->triangle_count + 2 <= self->triangle_room);
	self->points[m] = at;
	uint32_t ahead = split_side(self, h, m, &moved->from[0], &moved->to[0]);
	uint32_t behind = split_side(self, g, m, &moved->from[1], &moved->to[1]);
	link_twins(self, h, behind);
	link_twins(self, g, ahead);
	return m;
}
