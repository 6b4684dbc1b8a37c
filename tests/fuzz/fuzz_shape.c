/* fuzz_shape.c: arbitrary bytes as a shape. Cooking refuses with a status and a reason and leaves
 * nothing allocated, or gives a shape whose invariants hold and which every routine accepts. */
#include "server/base/heap.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/ray.h"
#include "server/engine/geometry/support.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_mass(const struct shape *shape)
{
	const struct mass_properties *mass = &shape->mass;
	bool solid = !shape_is_ground(shape);
	ASSERT(scalar_is_finite(mass->volume));
	ASSERT(vec3_is_finite(mass->centre));
	ASSERT(!solid || mass->volume > 0);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double own = mat3_get(mass->inertia, axis, axis);
		ASSERT(scalar_is_finite(own));
		ASSERT(!solid || own > 0);
	}
	ASSERT(scalar_is_finite(shape->radius_max) && shape->radius_max > 0);
	ASSERT(shape->extent_min >= 0 && shape->extent_min <= shape->radius_max);
}

/* The bounds contain the farthest points in any pose. */
static void check_bounds(const struct shape *shape)
{
	pose at = pose_make(vec3_make(1, -2, 3), quat_normalize(quat_make(1, 0.5, -0.3, 0.2)));
	struct aabb box = shape_aabb(shape, &at);
	double size = vec3_length(vec3_sub(shape->aabb_max, shape->aabb_min));
	ASSERT(vec3_is_finite(box.min) && vec3_is_finite(box.max));
	if (shape->kind == SHAPE_PLANE)
		return;
	box = aabb_grow(box, 1e-9 * (1 + size));
	/* The first triangle of a heightfield may be in its apron, outside its bounds. */
	if (shape->kind == SHAPE_HEIGHTFIELD)
		return;
	for (uint32_t i = 0; i < 6; i++) {
		vec3 direction = vec3_scale(vec3_axis(i / 2), i % 2 ? -1 : 1);
		struct support far = support_core(shape, 0, direction);
		ASSERT(aabb_contains_point(box, pose_point(at, far.point)));
	}
}

static void check_rays(const struct shape *shape)
{
	vec3 centre = shape->mass.centre;
	for (uint32_t i = 0; i < 6; i++) {
		struct shape_hit hit;
		vec3 along = vec3_scale(vec3_axis(i / 2), i % 2 ? -4e5 : 4e5);
		vec3 from = vec3_mul_sub(centre, along, 0.5);
		if (!ray_shape(shape, from, along, 1, &hit))
			continue;
		ASSERT(hit.fraction >= 0 && hit.fraction <= 1);
		ASSERT(scalar_abs(vec3_length(hit.normal) - 1) < 1e-9);
		if (shape_is_surface(shape))
			ASSERT(hit.child < shape->mesh->triangle_count);
	}
}

static void check_mesh(const struct mesh *mesh)
{
	struct aabb all = aabb_make(mesh->nodes[0].min, mesh->nodes[0].max);
	ASSERT(mesh_query(mesh, all, NULL, 0) == mesh->triangle_count);
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		ASSERT(mesh->order[t] < mesh->triangle_count);
		ASSERT(scalar_abs(vec3_length(mesh_normal(mesh, t)) - 1) < 1e-9);
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t other = mesh->adjacent[t][k];
			if (other == UINT32_MAX)
				continue;
			const uint32_t *back = mesh->adjacent[other];
			ASSERT(back[0] == t || back[1] == t || back[2] == t);
		}
	}
}

/* A walk finds the triangles that can be hit, whose normals and neighbours are well formed. */
static void check_heightfield(const struct mesh *mesh)
{
	struct mesh_walk walk;
	uint32_t t, count = 0;
	mesh_walk_init(&walk, mesh, aabb_of_centre(vec3_zero(), vec3_all(AABB_EVERYWHERE)));
	for (; mesh_walk_next(&walk, &t); count++) {
		ASSERT(scalar_abs(vec3_length(mesh_normal(mesh, t)) - 1) < 1e-9);
		ASSERT(mesh_patch(mesh, t) <= mesh->patch_max);
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t other = mesh_across(mesh, t, k);
			ASSERT(other != UINT32_MAX || mesh_edge_is_open(mesh, t, k));
			ASSERT(other == UINT32_MAX || mesh_across(mesh, other, 0) == t ||
			       mesh_across(mesh, other, 1) == t ||
			       mesh_across(mesh, other, 2) == t);
		}
	}
	ASSERT(count == 2 * mesh->grid->cells_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int64_t live = heap_live();
	struct shape *shape = NULL;
	struct reason why;
	memset(&why, 0xa5, sizeof why);
	enum status status = shape_cook(data, bytes, NULL, &shape, &why);
	if (status != STATUS_OK) {
		ASSERT(shape == NULL);
		ASSERT(why.status == status);
		ASSERT(memchr(why.text, '\0', sizeof why.text) != NULL);
		ASSERT(heap_live() == live);
		return 0;
	}
	ASSERT(shape->canonical_bytes == bytes);
	ASSERT(memcmp(shape->canonical, data, bytes) == 0);
	check_mass(shape);
	check_bounds(shape);
	check_rays(shape);
	if (shape->hull != NULL)
		ASSERT(hull_is_valid(shape->hull, 1e-4, NULL));
	if (shape->kind == SHAPE_MESH)
		check_mesh(shape->mesh);
	if (shape->kind == SHAPE_HEIGHTFIELD)
		check_heightfield(shape->mesh);
	shape_release(shape);
	ASSERT(heap_live() == live);
	return 0;
}
