/* See solids.h. */
#include "tests/lib/solids.h"

#include "server/engine/math/trig.h"
#include "tests/lib/shapes.h"

void solid_reset(struct solid *solid)
{
	solid->vertices = solid->triangles = 0;
}

static uint32_t add_vertex(struct solid *solid, vec3 p)
{
	ASSERT(solid->vertices < SOLID_VERTICES_MAX);
	solid->vertex[solid->vertices] = p;
	return solid->vertices++;
}

static void add_triangle(struct solid *solid, uint32_t a, uint32_t b, uint32_t c)
{
	ASSERT(solid->triangles < SOLID_TRIANGLES_MAX);
	uint32_t *corner = solid->triangle[solid->triangles++];
	corner[0] = a;
	corner[1] = b;
	corner[2] = c;
}

static void add_quad(struct solid *solid, const uint32_t q[4], bool turned)
{
	add_triangle(solid, q[0], turned ? q[2] : q[1], turned ? q[1] : q[2]);
	add_triangle(solid, q[0], turned ? q[3] : q[2], turned ? q[2] : q[3]);
}

/* Corners by bits x, y, z; faces −x, +x, −y, +y, −z, +z, counter-clockwise from outside. */
static const uint32_t QUADS[6][4] = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 },
				      { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } };

static void add_corners(struct solid *solid, const vec3 corner[8], bool inwards)
{
	uint32_t base = solid->vertices;
	for (uint32_t i = 0; i < 8; i++)
		add_vertex(solid, corner[i]);
	for (uint32_t f = 0; f < 6; f++) {
		uint32_t quad[4];
		for (uint32_t k = 0; k < 4; k++)
			quad[k] = base + QUADS[f][k];
		add_quad(solid, quad, inwards);
	}
}

static vec3 corner_of(vec3 low, vec3 high, uint32_t i)
{
	return vec3_make(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
}

void solid_add_box(struct solid *solid, vec3 low, vec3 high, bool inwards)
{
	vec3 corner[8];
	for (uint32_t i = 0; i < 8; i++)
		corner[i] = corner_of(low, high, i);
	add_corners(solid, corner, inwards);
}

void solid_add_box_at(struct solid *solid, vec3 half, pose at)
{
	vec3 corner[8];
	for (uint32_t i = 0; i < 8; i++)
		corner[i] = pose_point(at, corner_of(vec3_negate(half), half, i));
	add_corners(solid, corner, false);
}

static bool is_filled(const struct solid_lines lines[3], solid_cell *filled, const void *context,
		      const uint32_t cell[3])
{
	for (uint32_t axis = 0; axis < 3; axis++)
		if (cell[axis] >= lines[axis].count - 1) /* Also what wrapped below 0. */
			return false;
	return filled(cell[0], cell[1], cell[2], context);
}

/* One face of one cell; vertices of neighbouring faces coincide, which joins them. */
static void add_cell_face(struct solid *solid, const struct solid_lines lines[3],
			  const uint32_t cell[3], uint32_t face)
{
	vec3 low = vec3_make(lines[0].at[cell[0]], lines[1].at[cell[1]], lines[2].at[cell[2]]);
	vec3 high = vec3_make(lines[0].at[cell[0] + 1], lines[1].at[cell[1] + 1],
			      lines[2].at[cell[2] + 1]);
	uint32_t quad[4];
	for (uint32_t k = 0; k < 4; k++)
		quad[k] = add_vertex(solid, corner_of(low, high, QUADS[face][k]));
	add_quad(solid, quad, false);
}

void solid_add_cells(struct solid *solid, const struct solid_lines lines[3], solid_cell *filled,
		     const void *context)
{
	uint32_t cell[3];
	for (cell[2] = 0; cell[2] + 1 < lines[2].count; cell[2]++)
		for (cell[1] = 0; cell[1] + 1 < lines[1].count; cell[1]++)
			for (cell[0] = 0; cell[0] + 1 < lines[0].count; cell[0]++) {
				if (!is_filled(lines, filled, context, cell))
					continue;
				for (uint32_t face = 0; face < 6; face++) {
					uint32_t next[3] = { cell[0], cell[1], cell[2] };
					next[face / 2] += face % 2 ? 1 : UINT32_MAX;
					if (!is_filled(lines, filled, context, next))
						add_cell_face(solid, lines, cell, face);
				}
			}
}

void solid_add_ring(struct solid *solid, double radius, double thick, uint32_t around,
		    uint32_t across)
{
	uint32_t base = solid->vertices;
	for (uint32_t i = 0; i < around; i++)
		for (uint32_t j = 0; j < across; j++) {
			double u = 2 * PI * i / around, v = 2 * PI * j / across;
			double out = radius + thick * trig_cos(v);
			add_vertex(solid, vec3_make(out * trig_cos(u), out * trig_sin(u),
						    thick * trig_sin(v)));
		}
	for (uint32_t i = 0; i < around; i++)
		for (uint32_t j = 0; j < across; j++) {
			uint32_t i1 = (i + 1) % around, j1 = (j + 1) % across;
			uint32_t quad[4] = { base + i * across + j, base + i1 * across + j,
					     base + i1 * across + j1, base + i * across + j1 };
			add_quad(solid, quad, false);
		}
}

void solid_add_octahedron(struct solid *solid, vec3 centre, double r)
{
	uint32_t base = solid->vertices;
	for (uint32_t i = 0; i < 6; i++)
		add_vertex(solid, vec3_mul_add(centre, vec3_axis(i / 2), i % 2 ? r : -r));
	for (uint32_t octant = 0; octant < 8; octant++) {
		uint32_t x = base + (octant & 1), y = base + 2 + (octant >> 1 & 1);
		uint32_t z = base + 4 + (octant >> 2);
		bool turned = ((octant ^ octant >> 1 ^ octant >> 2) & 1) == 0;
		add_triangle(solid, x, turned ? z : y, turned ? y : z);
	}
}

struct shape *solid_shape(const struct solid *solid)
{
	return make_mesh(solid->vertex, solid->vertices, (const uint32_t(*)[3])solid->triangle,
			 solid->triangles);
}
