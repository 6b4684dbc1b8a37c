/* See placed.h. Regions in which closed solids of two bodies overlap, by regions.h.
 *
 * The mesh of a shape: of a closed mesh, the mesh itself; of a solid of parts or a field, the mesh it was
 * made from; of a box, a hull or a convex solid, a fan of triangles for each face, made for the query.
 * Spheres, capsules and half-spaces have no faces and are skipped.
 */
#include "server/base/heap.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/regions.h"
#include "server/engine/geometry/solid.h"

/* The mesh of a shape; `made` is NULL if the mesh belongs to the shape. */
struct faces {
	const struct mesh *mesh;
	struct mesh *made; /* owned */
};

static enum status mesh_of_hull(const struct hull *hull, struct mesh **out)
{
	ASSERT(hull->face_count >= 4);
	uint32_t count = 0, most = hull->edge_count - 2 * hull->face_count;
	uint32_t(*triangles)[3] = heap_alloc(most * sizeof *triangles);
	if (triangles == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t first = hull->faces[f].edge, h = hull->edges[first].next;
		for (uint32_t i = 2; i < hull->faces[f].edge_count; i++, count++) {
			triangles[count][0] = hull->edges[first].origin;
			triangles[count][1] = hull->edges[h].origin;
			h = hull->edges[h].next;
			triangles[count][2] = hull->edges[h].origin;
		}
	}
	enum status status = mesh_of_triangles(hull->vertices, hull->vertex_count,
					       (const uint32_t(*)[3])triangles, count, out, NULL);
	heap_free(triangles);
	return status;
}

/* Finds or makes the mesh of a shape. UNSUPPORTED: the shape has no faces. */
static enum status faces_of(const struct shape *shape, struct faces *out)
{
	const struct hull *hull = shape->hull;
	*out = (struct faces){ NULL, NULL };
	if (shape->kind == SHAPE_MESH && shape->mesh->closed)
		out->mesh = shape->mesh;
	if (shape->kind == SHAPE_SOLID && shape->solid->mesh != NULL)
		out->mesh = shape->solid->mesh;
	else if (shape->kind == SHAPE_SOLID)
		hull = shape->solid->parts[0]->hull;
	if (out->mesh != NULL)
		return STATUS_OK;
	if (hull == NULL)
		return STATUS_UNSUPPORTED;
	enum status status = mesh_of_hull(hull, &out->made);
	out->mesh = out->made;
	return status;
}

struct overlap_list {
	struct overlap_region *out;
	uint32_t capacity, found;
};

/* Deepest first; of equally deep ones the earlier. */
static void insert_region(struct overlap_list *list, const struct overlap_region *region)
{
	ASSERT(list->capacity == 0 || list->out != NULL);
	uint32_t count = MIN_OF(list->found, list->capacity), at = count;
	list->found++;
	while (at > 0 && region->depth > list->out[at - 1].depth) {
		if (at < list->capacity)
			list->out[at] = list->out[at - 1];
		at--;
	}
	if (at < list->capacity)
		list->out[at] = *region;
}

static enum status add_regions(const struct placed_shape *a, const struct faces *faces_a,
			       const struct placed_shape *b, const struct faces *faces_b,
			       struct overlap_list *list)
{
	struct regions found;
	struct regions_options options = regions_options_default();
	pose b_in_a = pose_relative(a->at, b->at);
	regions_init(&found);
	enum status status = regions_find(&found, faces_a->mesh, faces_b->mesh, &b_in_a, &options);
	for (uint32_t i = 0; status == STATUS_OK && i < found.region_count; i++) {
		const struct region *from = &found.regions[i];
		struct overlap_region region = {
			.placement_a = a->placement,
			.placement_b = b->placement,
			.depth = from->depth,
			.volume = from->volume,
			.point_a = pose_point(a->at, from->point_a),
			.point_b = pose_point(a->at, from->point_b),
			.normal = pose_vector(a->at, from->normal),
			.contours = from->contour_count,
		};
		region.centre = from->volume > 0
					? pose_point(a->at, from->centre)
					: vec3_scale(vec3_add(region.point_a, region.point_b), 0.5);
		insert_region(list, &region);
	}
	regions_release(&found);
	return status;
}

enum status placed_regions(const struct placed_shape *a, uint32_t a_count,
			   const struct placed_shape *b, uint32_t b_count,
			   struct overlap_region *out, uint32_t capacity, uint32_t *found)
{
	struct overlap_list list = { out, capacity, 0 };
	enum status status = STATUS_OK;
	bool any = false;
	for (uint32_t i = 0; i < a_count && status == STATUS_OK; i++) {
		struct faces faces_a, faces_b;
		status = faces_of(a[i].shape, &faces_a);
		for (uint32_t k = 0; k < b_count && status == STATUS_OK; k++) {
			status = faces_of(b[k].shape, &faces_b);
			if (status == STATUS_OK)
				status = add_regions(&a[i], &faces_a, &b[k], &faces_b, &list);
			any |= status == STATUS_OK;
			heap_free(faces_b.made);
			if (status == STATUS_UNSUPPORTED)
				status = STATUS_OK;
		}
		heap_free(faces_a.made);
		if (status == STATUS_UNSUPPORTED)
			status = STATUS_OK;
	}
	*found = list.found;
	return status == STATUS_OK && !any ? STATUS_UNSUPPORTED : status;
}
