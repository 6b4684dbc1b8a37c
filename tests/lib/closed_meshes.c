/* closed_meshes.c: closed meshes for tests. */
#include "tests/lib/closed_meshes.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/geometry/orient.h"
#include "server/engine/math/trig.h"

#include <string.h>

enum { CORNERS_MAX = 64 };

typedef struct {
	ARRAY_OF(vec3) points;
	struct {
		uint32_t (*items)[3];
		uint32_t count, capacity;
	} triangles;
} soup;

static uint32_t add_point(soup *self, vec3 p)
{
	ASSERT(ARRAY_RESERVE(&self->points, self->points.count + 1u) == STATUS_OK);
	self->points.items[self->points.count] = p;
	return self->points.count++;
}

static void add_triangle(soup *self, uint32_t a, uint32_t b, uint32_t c)
{
	ASSERT(ARRAY_RESERVE(&self->triangles, self->triangles.count + 1u) == STATUS_OK);
	uint32_t *corner = self->triangles.items[self->triangles.count++];
	corner[0] = a;
	corner[1] = b;
	corner[2] = c;
}

static struct shape *finish(soup *self)
{
	struct shape *shape =
		make_mesh(self->points.items, self->points.count,
			  (const uint32_t(*)[3])self->triangles.items, self->triangles.count);
	ARRAY_RELEASE(&self->points);
	ARRAY_RELEASE(&self->triangles);
	return shape;
}

/* ---- prisms ----------------------------------------------------------------------------------- */

static bool is_ear(const vec3 *corners, const uint32_t *left, uint32_t count, uint32_t i)
{
	vec3 a = corners[left[(i + count - 1) % count]], b = corners[left[i]],
	     c = corners[left[(i + 1) % count]];
	if (orient_line(2, a, b, c) <= 0)
		return false;
	for (uint32_t j = 0; j < count; j++) {
		vec3 p = corners[left[j]];
		if (vec3_equal(p, a) || vec3_equal(p, b) || vec3_equal(p, c))
			continue;
		if (orient_line(2, a, b, p) >= 0 && orient_line(2, b, c, p) >= 0 &&
		    orient_line(2, c, a, p) >= 0)
			return false;
	}
	return true;
}

struct shape *make_prism(const vec3 *corners, uint32_t count, double height)
{
	soup self = { 0 };
	uint32_t left[CORNERS_MAX], n = count;
	ASSERT(count <= CORNERS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		left[i] = i;
		add_point(&self, corners[i]);
		add_point(&self, vec3_make(corners[i].x, corners[i].y, height));
	}
	while (n > 2) {
		uint32_t i = 0;
		while (i < n && !is_ear(corners, left, n, i))
			i++;
		ASSERT(i < n);
		uint32_t a = left[(i + n - 1) % n], b = left[i], c = left[(i + 1) % n];
		add_triangle(&self, 2 * a + 1, 2 * b + 1, 2 * c + 1);
		add_triangle(&self, 2 * a, 2 * c, 2 * b);
		for (n--; i < n; i++)
			left[i] = left[i + 1];
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t j = (i + 1) % count;
		add_triangle(&self, 2 * i, 2 * j, 2 * j + 1);
		add_triangle(&self, 2 * i, 2 * j + 1, 2 * i + 1);
	}
	return finish(&self);
}

struct shape *make_star(uint32_t points, double inner)
{
	vec3 corners[CORNERS_MAX];
	for (uint32_t i = 0; i < 2 * points; i++) {
		double angle = PI * i / points, radius = i % 2 == 0 ? 1 : inner;
		corners[i] = vec3_make(radius * trig_cos(angle), radius * trig_sin(angle), 0);
	}
	return make_prism(corners, 2 * points, 1);
}

struct shape *make_l(void)
{
	static const vec3 L[6] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 },
				   { 1, 1, 0 }, { 1, 2, 0 }, { 0, 2, 0 } };
	return make_prism(L, 6, 1);
}

struct shape *make_u(void)
{
	static const vec3 U[8] = { { 0, 0, 0 }, { 3, 0, 0 }, { 3, 2, 0 }, { 2, 2, 0 },
				   { 2, 1, 0 }, { 1, 1, 0 }, { 1, 2, 0 }, { 0, 2, 0 } };
	return make_prism(U, 8, 1);
}

struct shape *make_plus(void)
{
	static const vec3 PLUS[12] = { { 1, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 1, 0 },
				       { 3, 2, 0 }, { 2, 2, 0 }, { 2, 3, 0 }, { 1, 3, 0 },
				       { 1, 2, 0 }, { 0, 2, 0 }, { 0, 1, 0 }, { 1, 1, 0 } };
	return make_prism(PLUS, 12, 1);
}

/* ---- cubes ------------------------------------------------------------------------------------ */

struct shape *make_voxels(uint32_t nx, uint32_t ny, uint32_t nz, const uint8_t *filled)
{
	soup self = { 0 };
	const int size[3] = { (int)nx, (int)ny, (int)nz };
	for (uint32_t i = 0; i < nx * ny * nz; i++) {
		int at[3] = { (int)(i % nx), (int)(i / nx % ny), (int)(i / nx / ny) };
		for (uint32_t side = 0; filled[i] && side < 6; side++) {
			uint32_t axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
			int next[3] = { at[0], at[1], at[2] };
			next[axis] += side % 2 ? 1 : -1;
			bool inside = next[axis] >= 0 && next[axis] < size[axis];
			if (inside && filled[next[0] + (int)nx * (next[1] + (int)ny * next[2])])
				continue;
			uint32_t corner[4];
			for (uint32_t k = 0; k < 4; k++) {
				double p[3] = { at[0], at[1], at[2] };
				p[axis] += side % 2;
				p[u] += k == 1 || k == 2;
				p[v] += k >= 2;
				corner[k] = add_point(&self, vec3_make(p[0], p[1], p[2]));
			}
			uint32_t one = side % 2 ? 1 : 3, three = side % 2 ? 3 : 1;
			add_triangle(&self, corner[0], corner[one], corner[2]);
			add_triangle(&self, corner[0], corner[2], corner[three]);
		}
	}
	struct shape *shape = finish(&self);
	if (shape->mesh->closed)
		return shape;
	shape_release(shape);
	return NULL;
}

struct shape *make_ring(void)
{
	static const uint8_t RING[9] = { 1, 1, 1, 1, 0, 1, 1, 1, 1 };
	return make_voxels(3, 3, 1, RING);
}

struct shape *make_hollow(void)
{
	uint8_t filled[27];
	for (uint32_t i = 0; i < 27; i++)
		filled[i] = i != 13;
	return make_voxels(3, 3, 3, filled);
}

/* An edge with two filled cubes diagonally across, or a corner where cubes meet only in that
 * corner, would make two surfaces touch. Therefore the filled cubes around each corner must be
 * connected by faces, and so must the empty ones. */
static bool corner_is_clean(const uint8_t *filled, int x, int y, int z)
{
	uint32_t set = 0;
	for (int k = 0; k < 8; k++) {
		int cx = x - (k & 1), cy = y - (k >> 1 & 1), cz = z - (k >> 2);
		bool in = cx >= 0 && cy >= 0 && cz >= 0 && cx < 4 && cy < 4 && cz < 3;
		set |= (uint32_t)(in && filled[cx + 4 * (cy + 4 * cz)]) << k;
	}
	for (uint32_t value = 0; value < 2; value++) {
		uint32_t want = value ? set : ~set & 255u, reached = want & (0u - want);
		for (uint32_t round = 0; round < 8; round++)
			for (uint32_t k = 0; k < 8; k++)
				if (reached >> k & 1)
					reached |= want &
						   (1u << (k ^ 1) | 1u << (k ^ 2) | 1u << (k ^ 4));
		if (reached != want)
			return false;
	}
	return true;
}

static bool is_clean(const uint8_t *filled)
{
	for (int i = 0; i < 5 * 5 * 4; i++)
		if (!corner_is_clean(filled, i % 5, i / 5 % 5, i / 25))
			return false;
	return true;
}

struct shape *make_random_cubes(struct rng *rng, uint32_t cubes)
{
	uint8_t filled[48] = { 0 };
	filled[rng_below(rng, 48)] = 1;
	for (uint32_t count = 1, tries = 0; count < cubes && tries < 1000; tries++) {
		uint32_t i = rng_below(rng, 48), x = i % 4, y = i / 4 % 4, z = i / 16;
		bool beside = (x > 0 && filled[i - 1]) || (x < 3 && filled[i + 1]) ||
			      (y > 0 && filled[i - 4]) || (y < 3 && filled[i + 4]) ||
			      (z > 0 && filled[i - 16]) || (z < 2 && filled[i + 16]);
		if (filled[i] || !beside)
			continue;
		filled[i] = 1;
		if (is_clean(filled))
			count++;
		else
			filled[i] = 0;
	}
	struct shape *shape = make_voxels(4, 4, 3, filled);
	ASSERT(shape != NULL);
	return shape;
}

/* ---- balls ------------------------------------------------------------------------------------ */

struct shape *make_ball(uint32_t steps, double radius, double bump, struct rng *rng)
{
	/* The octahedron |x| + |y| + |z| = n: n² triangles for each face. Points are found by place. */
	soup self = { 0 };
	int n = 1 << steps, width = 2 * n + 1;
	uint32_t *at = heap_alloc((size_t)width * width * 2 * sizeof *at);
	ASSERT(at != NULL);
	for (int k = 0; k < width * width * 2; k++) {
		int x = k % width - n, y = k / width % width - n;
		int z = n - (x < 0 ? -x : x) - (y < 0 ? -y : y);
		at[k] = UINT32_MAX;
		if (z < 0)
			continue;
		if (z == 0 && k >= width * width) {
			at[k] = at[k - width * width];
			continue;
		}
		vec3 p = vec3_normalize(vec3_make(x, y, k >= width * width ? -z : z));
		double size = rng == NULL ? radius : radius * (1 + bump * rng_range(rng, -1, 1));
		at[k] = add_point(&self, vec3_scale(p, size));
	}
	for (int face = 0; face < 8; face++) {
		int sx = face & 1 ? -1 : 1, sy = face & 2 ? -1 : 1;
		const uint32_t *layer = at + (face & 4 ? width * width : 0);
		bool turn = (sx < 0) != (sy < 0);
		turn = turn != ((face & 4) != 0);
		for (int i = 0; i < n; i++) {
			for (int j = 0; i + j < n; j++) {
				uint32_t p[4];
				for (int c = 0; c < 4; c++)
					p[c] = layer[sx * (i + (c & 1)) + n +
						     width * (sy * (j + (c >> 1)) + n)];
				add_triangle(&self, p[0], turn ? p[2] : p[1], turn ? p[1] : p[2]);
				if (i + j + 1 < n)
					add_triangle(&self, p[1], turn ? p[2] : p[3],
						     turn ? p[3] : p[2]);
			}
		}
	}
	heap_free(at);
	struct shape *shape = finish(&self);
	ASSERT(shape->mesh->closed);
	return shape;
}

struct shape *make_unit_cube(void)
{
	const uint8_t filled = 1;
	struct shape *corner = make_voxels(1, 1, 1, &filled);
	pose middle = pose_make(vec3_all(-0.5), quat_identity());
	struct shape *mesh = make_moved(corner->mesh, &middle);
	shape_release(corner);
	return mesh;
}

struct shape *make_moved(const struct mesh *mesh, const pose *at)
{
	soup self = { 0 };
	for (uint32_t i = 0; i < mesh->vertex_count; i++)
		add_point(&self, pose_point(*at, mesh->vertices[i]));
	for (uint32_t t = 0; t < mesh->triangle_count; t++)
		add_triangle(&self, mesh->triangles[t][0], mesh->triangles[t][1],
			     mesh->triangles[t][2]);
	return finish(&self);
}

vec3 random_in_box(struct rng *rng, struct aabb box)
{
	double x = rng_range(rng, box.min.x, box.max.x);
	double y = rng_range(rng, box.min.y, box.max.y);
	double z = rng_range(rng, box.min.z, box.max.z);
	return vec3_make(x, y, z);
}

quat random_turn(struct rng *rng)
{
	double part[4];
	for (uint32_t i = 0; i < 4; i++)
		part[i] = rng_range(rng, -1, 1);
	return quat_normalize(quat_make(part[0], part[1], part[2], part[3] + 1e-3));
}

/* ---- turned ----------------------------------------------------------------------------------- */

struct shape *make_turned(const vec3 *profile, uint32_t count, bool closed, uint32_t around)
{
	vec3 *vertices = heap_alloc(((size_t)count * around + 2) * sizeof *vertices);
	uint32_t(*triangles)[3] = heap_alloc((size_t)2 * count * around * sizeof *triangles);
	uint32_t rings = closed ? count : count - 2, used = 0, made = 0, first = closed ? 0 : 1;
	ASSERT(vertices != NULL && triangles != NULL);
	for (uint32_t r = 0; r < rings; r++)
		for (uint32_t k = 0; k < around; k++) {
			double angle = TWO_PI * k / around, x = profile[first + r].x;
			vertices[used++] = vec3_make(x * trig_cos(angle), profile[first + r].y,
						     -x * trig_sin(angle));
		}
	for (uint32_t r = 0; r < (closed ? rings : rings - 1); r++)
		for (uint32_t k = 0; k < around; k++) {
			uint32_t n = (k + 1) % around, up = (r + 1) % rings * around,
				 low = r * around;
			const uint32_t quad[2][3] = { { low + k, low + n, up + n },
						      { low + k, up + n, up + k } };
			memcpy(triangles[made], quad, sizeof quad);
			made += 2;
		}
	for (uint32_t k = 0; k < around && !closed; k++) {
		uint32_t n = (k + 1) % around, top = (rings - 1) * around;
		const uint32_t caps[2][3] = { { used, n, k }, { used + 1, top + k, top + n } };
		memcpy(triangles[made], caps, sizeof caps);
		made += 2;
	}
	if (!closed) {
		vertices[used++] = profile[0];
		vertices[used++] = profile[count - 1];
	}
	struct shape *shape = make_mesh(vertices, used, (const uint32_t(*)[3])triangles, made);
	heap_free(vertices);
	heap_free(triangles);
	return shape;
}

struct shape *make_torus(double radius, double thick, uint32_t around, uint32_t across)
{
	vec3 profile[128];
	ASSERT(across <= COUNT_OF(profile));
	for (uint32_t k = 0; k < across; k++) {
		double angle = TWO_PI * k / across;
		profile[k] =
			vec3_make(radius + thick * trig_cos(angle), thick * trig_sin(angle), 0);
	}
	return make_turned(profile, across, true, around);
}

struct shape *make_bowl(double inner, double outer, uint32_t around, uint32_t up)
{
	vec3 profile[130];
	uint32_t count = 0;
	ASSERT(up <= 64);
	for (uint32_t k = 0; k <= up; k++) {
		double angle = HALF_PI * k / up;
		profile[count++] = vec3_make(k == 0 ? 0 : outer * trig_sin(angle),
					     k == up ? 0 : -outer * trig_cos(angle), 0);
	}
	for (uint32_t k = up + 1; k-- > 0;) {
		double angle = HALF_PI * k / up;
		profile[count++] = vec3_make(k == 0 ? 0 : inner * trig_sin(angle),
					     k == up ? 0 : -inner * trig_cos(angle), 0);
	}
	return make_turned(profile, count, false, around);
}

static struct shape *make_form(const struct mesh *mesh, uint32_t form, uint32_t detail)
{
	struct bytes bytes = { 0 };
	bytes_of_solid(&bytes, form, detail, mesh->vertices, mesh->vertex_count,
		       (const uint32_t(*)[3])mesh->triangles, mesh->triangle_count);
	return shape_of_bytes(&bytes);
}

struct shape *make_field_solid(const struct mesh *mesh, uint32_t cells)
{
	return make_form(mesh, SOLID_FIELD, cells);
}

struct shape *make_parts_solid(const struct mesh *mesh, uint32_t parts)
{
	return make_form(mesh, SOLID_PARTS, parts);
}
