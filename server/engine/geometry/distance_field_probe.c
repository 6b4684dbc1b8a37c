/* distance_field_probe.c: which triangle of a mesh owns each of its vertices and edges, so that a
 * test against a distance field meets each of them once (app G-08). */
#include "server/engine/geometry/distance_field.h"

#include "server/base/heap.h"
#include "server/engine/geometry/distance_field_cell.h"

enum { OWN_CORNER = 1, OWN_EDGE = 8 };

/* Whether `triangle` is the least around its corner k, reached across the edges there. */
static bool owns_corner(const struct mesh *mesh, uint32_t triangle, uint32_t k)
{
	VALIDATE(triangle < mesh->triangle_count && k < 3);
	vec3 place = mesh_corner(mesh, triangle, k);
	uint32_t t = triangle;
	do {
		/* Across the edge that ends in the corner. */
		for (k = 0; !vec3_equal(mesh_corner(mesh, t, k), place); k++)
			;
		t = mesh->adjacent[t][(k + 2) % 3];
		if (t < triangle)
			return false;
	} while (t != triangle && t != UINT32_MAX);
	return true;
}

enum status distance_field_probe_init(struct distance_field_probe *self, const struct mesh *mesh)
{
	*self = (struct distance_field_probe){ .mesh = mesh };
	self->owns = heap_alloc_zero(mesh->triangle_count);
	if (self->owns == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		for (uint32_t k = 0; k < 3; k++) {
			bool corner = owns_corner(mesh, t, k), edge = mesh->adjacent[t][k] > t;
			self->vertices += corner;
			self->edges += edge;
			self->owns[t] |= (uint8_t)((corner ? OWN_CORNER : 0) << k);
			self->owns[t] |= (uint8_t)((edge ? OWN_EDGE : 0) << k);
		}
	}
	return STATUS_OK;
}

void distance_field_probe_release(struct distance_field_probe *self)
{
	heap_free(self->owns);
	self->owns = NULL;
}
