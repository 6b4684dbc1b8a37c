/* distance_field_surface.c: triangles where a field is 0 (app G-10), by marching tetrahedra.
 *
 * Each cell is six tetrahedra around its diagonal, one for each order of the axes on a path from
 * corner 000 to 111; two cells that share a side split it alike, so their triangles fit. Zero
 * counts as inside. A tetrahedron with corners both inside and outside is crossed in a triangle or
 * a quadrangle, and every crossed edge has one vertex, identified by the edge's lower node and its
 * direction. Hence the surface is closed whatever the values are, and no case is ambiguous, as it
 * would be for cubes. Only bricks are visited: bare blocks contain no surface.
 *
 * A vertex stays 1/64 of the edge away from its ends: at a node of value 0 the vertices of all its
 * edges would coincide and their triangles would have no area. That moves a vertex by less than
 * c/37.
 */
#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/geometry/distance_field.h"

enum { N = DISTANCE_FIELD_BRICK, SIDE = N + 1, TETRAHEDRA = 6 };

#define END_MARGIN (1.0 / 64)

/* Corners 000, one axis step, two axis steps, 111; ordered so that determinants are positive. */
static const uint8_t TETRAHEDRON[TETRAHEDRA][4] = {
	{ 0, 1, 3, 7 }, { 0, 2, 6, 7 }, { 0, 4, 5, 7 },
	{ 0, 7, 3, 2 }, { 0, 7, 6, 4 }, { 0, 7, 5, 1 },
};
/* Even permutations that bring one corner, or two, to the front. */
static const uint8_t ONE_FIRST[4][4] = {
	{ 0, 1, 2, 3 }, { 1, 0, 3, 2 }, { 2, 3, 0, 1 }, { 3, 2, 1, 0 }
};
static const uint8_t TWO_FIRST[6][4] = { { 0, 1, 2, 3 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 },
					 { 1, 2, 0, 3 }, { 1, 3, 2, 0 }, { 2, 3, 0, 1 } };

/* An edge of the grid: lower node · 8 + the bits of its direction. */
typedef ARRAY_OF(uint64_t) key_list;

struct surface_march {
	const struct distance_field *field;
	uint64_t nodes[2]; /* of an axis x, y */
	key_list keys;	   /* three a triangle */
	enum status status;
};

struct march_cell {
	uint64_t node; /* corner 000 */
	const int16_t *at;
	uint32_t inside; /* a bit a corner */
};

static uint64_t key_of(const struct surface_march *self, const struct march_cell *cell, uint32_t a,
		       uint32_t b)
{
	VALIDATE(a < 8 && b < 8 && a != b);
	VALIDATE((a & b) == MIN_OF(a, b));
	/* Along a tetrahedron's edge all bits of the lower corner are bits of the upper. */
	uint32_t low = MIN_OF(a, b), high = MAX_OF(a, b);
	uint64_t node = cell->node + (low & 1) +
			self->nodes[0] * ((low >> 1 & 1) + self->nodes[1] * (low >> 2));
	return node << 3 | (high ^ low);
}

static void add_triangle(struct surface_march *self, uint64_t a, uint64_t b, uint64_t c)
{
	VALIDATE(a != b && b != c && c != a);
	if (self->status != STATUS_OK)
		return;
	if (self->keys.count / 3 >= SHAPE_MESH_TRIANGLES_MAX)
		self->status = STATUS_LIMIT;
	else
		self->status = ARRAY_RESERVE(&self->keys, self->keys.count + 3u);
	if (self->status != STATUS_OK)
		return;
	self->keys.items[self->keys.count++] = a;
	self->keys.items[self->keys.count++] = b;
	self->keys.items[self->keys.count++] = c;
}

/* Emits the triangles of one tetrahedron, counter-clockwise seen from outside: for corner p inside
 * and q r s outside of a positive tetrahedron, pq pr ps; the other cases are rotated into that one
 * or are its mirror image. */
static void cross_tetrahedron(struct surface_march *self, const struct march_cell *cell,
			      const uint8_t *corner)
{
	uint32_t inside[4], count = 0;
	for (uint32_t i = 0; i < 4; i++) {
		inside[i] = cell->inside >> corner[i] & 1;
		count += inside[i];
	}
	if (count == 1 || count == 3) {
		uint32_t odd = 0;
		while (inside[odd] != (count == 1))
			odd++;
		const uint8_t *p = ONE_FIRST[odd];
		uint64_t a = key_of(self, cell, corner[p[0]], corner[p[1]]);
		uint64_t b = key_of(self, cell, corner[p[0]], corner[p[2]]);
		uint64_t c = key_of(self, cell, corner[p[0]], corner[p[3]]);
		add_triangle(self, a, count == 1 ? b : c, count == 1 ? c : b);
	} else if (count == 2) {
		uint32_t which = 0;
		while (!inside[TWO_FIRST[which][0]] || !inside[TWO_FIRST[which][1]])
			which++;
		const uint8_t *p = TWO_FIRST[which];
		uint64_t a = key_of(self, cell, corner[p[0]], corner[p[2]]);
		uint64_t b = key_of(self, cell, corner[p[0]], corner[p[3]]);
		uint64_t c = key_of(self, cell, corner[p[1]], corner[p[3]]);
		uint64_t d = key_of(self, cell, corner[p[1]], corner[p[2]]);
		add_triangle(self, a, b, c);
		add_triangle(self, a, c, d);
	}
}

static void cross_block(struct surface_march *self, uint32_t block, const int16_t *brick)
{
	ASSERT(block < self->field->blocks[0] * self->field->blocks[1] * self->field->blocks[2]);
	const struct distance_field *field = self->field;
	uint64_t x = block % field->blocks[0] * N,
		 y = block / field->blocks[0] % field->blocks[1] * N;
	uint64_t z = block / field->blocks[0] / field->blocks[1] * (uint64_t)N;
	for (uint32_t i = 0; i < N * N * N; i++) {
		uint32_t u = i % N, v = i / N % N, w = i / N / N;
		struct march_cell cell = { (x + u) + self->nodes[0] *
							     ((y + v) + self->nodes[1] * (z + w)),
					   brick + u + SIDE * (v + SIDE * w), 0 };
		for (uint32_t c = 0; c < 8; c++) {
			int16_t value = cell.at[(c & 1) + SIDE * ((c >> 1 & 1) + SIDE * (c >> 2))];
			cell.inside |= (uint32_t)(value <= 0) << c;
		}
		if (cell.inside == 0 || cell.inside == 255)
			continue;
		for (uint32_t t = 0; t < TETRAHEDRA; t++)
			cross_tetrahedron(self, &cell, TETRAHEDRON[t]);
	}
}

/* ---- vertices --------------------------------------------------------------------------------- */

static void node_of(const struct surface_march *self, uint64_t node, uint32_t at[3])
{
	at[0] = (uint32_t)(node % self->nodes[0]);
	at[1] = (uint32_t)(node / self->nodes[0] % self->nodes[1]);
	at[2] = (uint32_t)(node / self->nodes[0] / self->nodes[1]);
}

/* Reads the values at both ends of the edge from one brick that contains both nodes. That is the
 * brick of the cell whose lowest corner is `low`. An edge along a border of bricks is in several,
 * and any of them that is stored serves. */
static void ends_of(const struct surface_march *self, const uint32_t low[3], uint32_t direction,
		    int16_t end[2])
{
	VALIDATE(direction > 0 && direction < 8);
	const struct distance_field *field = self->field;
	for (uint32_t back = 0; back < 8; back++) {
		uint32_t block[3], local[3];
		bool good = true;
		for (uint32_t axis = 0; axis < 3; axis++) {
			uint32_t step = back >> axis & 1;
			good = good && (step == 0 || (low[axis] > 0 && !(direction >> axis & 1)));
			uint32_t cell = low[axis] - (good ? step : 0);
			block[axis] = cell / N;
			local[axis] = low[axis] - block[axis] * N;
			good = good && block[axis] < field->blocks[axis];
		}
		if (!good)
			continue;
		uint32_t brick =
			field->brick_of[block[0] +
					field->blocks[0] *
						(block[1] + (size_t)field->blocks[1] * block[2])];
		if (brick == UINT32_MAX)
			continue;
		const int16_t *at =
			field->bricks[brick] + local[0] + SIDE * (local[1] + SIDE * local[2]);
		end[0] = at[0];
		end[1] = at[(direction & 1) +
			    SIDE * ((direction >> 1 & 1) + SIDE * (direction >> 2))];
		return;
	}
	ASSERT(false);
}

static vec3 vertex_of(const struct surface_march *self, uint64_t key)
{
	const struct distance_field *field = self->field;
	uint32_t low[3], direction = key & 7;
	int16_t end[2];
	node_of(self, key >> 3, low);
	ends_of(self, low, direction, end);
	VALIDATE((end[0] <= 0) != (end[1] <= 0));
	double t = (double)end[0] / ((double)end[0] - end[1]);
	t = scalar_clamp(t, END_MARGIN, 1 - END_MARGIN);
	return vec3_make(field->origin.x + field->cell * (low[0] + t * (direction & 1)),
			 field->origin.y + field->cell * (low[1] + t * (direction >> 1 & 1)),
			 field->origin.z + field->cell * (low[2] + t * (direction >> 2)));
}

/* Equal keys are one vertex; vertices are numbered in ascending order of keys. */
static enum status number_vertices(struct surface_march *self, struct distance_field_mesh *out)
{
	ASSERT(self->keys.count % 3 == 0);
	uint32_t count = self->keys.count;
	uint64_t *keys = heap_alloc(2 * (size_t)count * sizeof *keys);
	uint32_t *order = heap_alloc(2 * (size_t)count * sizeof *order);
	enum status status = keys == NULL || order == NULL ? STATUS_NO_MEMORY : STATUS_OK;
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		keys[i] = self->keys.items[i];
		order[i] = i;
	}
	if (status == STATUS_OK) {
		sort_keys(keys, order, keys + count, order + count, count);
		for (uint32_t i = 0; i < count; i++)
			out->vertex_count += i == 0 || keys[i] != keys[i - 1];
		out->triangle_count = count / 3;
		out->vertices = heap_alloc(out->vertex_count * sizeof *out->vertices);
		out->triangles = heap_alloc(out->triangle_count * sizeof *out->triangles);
		if (out->vertices == NULL || out->triangles == NULL)
			status = STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0, vertex = 0; status == STATUS_OK && i < count; i++) {
		if (i > 0 && keys[i] != keys[i - 1])
			vertex++;
		if (i == 0 || keys[i] != keys[i - 1])
			out->vertices[vertex] = vertex_of(self, keys[i]);
		out->triangles[order[i] / 3][order[i] % 3] = vertex;
	}
	heap_free(keys);
	heap_free(order);
	return status;
}

enum status distance_field_surface(const struct distance_field *self,
				   struct distance_field_mesh *out)
{
	struct surface_march march = { .field = self };
	*out = (struct distance_field_mesh){ 0 };
	for (uint32_t axis = 0; axis < 2; axis++)
		march.nodes[axis] = (uint64_t)self->blocks[axis] * N + 1;
	uint32_t blocks = self->blocks[0] * self->blocks[1] * self->blocks[2];
	for (uint32_t b = 0; b < blocks && march.status == STATUS_OK; b++)
		if (self->brick_of[b] != UINT32_MAX)
			cross_block(&march, b, self->bricks[self->brick_of[b]]);
	if (march.status == STATUS_OK)
		march.status = number_vertices(&march, out);
	ARRAY_RELEASE(&march.keys);
	if (march.status != STATUS_OK)
		distance_field_mesh_release(out);
	return march.status;
}

void distance_field_mesh_release(struct distance_field_mesh *self)
{
	heap_free(self->vertices);
	heap_free(self->triangles);
	*self = (struct distance_field_mesh){ 0 };
}
