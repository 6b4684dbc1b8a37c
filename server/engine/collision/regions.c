/* See regions.h. The stages (ch1-3 2.5.13, 2.5.14, G-29):
 *
 *   regions_cross    finds, exactly, which edges pierce which faces        regions_cross.c
 *   regions_trace    follows the contours
 *   regions_flood    joins contours along surfaces that are inside         regions_flood.c
 *   regions_holes    joins contours that lie in the same face
 *   regions_shells   finds shells that are inside and have no contour
 *   regions_measure  volume, area and depth of each region                 regions_measure.c
 *   regions_write    writes the result, deepest region first
 *
 * The arrays of marks on triangles, edges and vertices outlive a call. The next call clears only
 * the marks that were set, so the cost of a call depends on the size of the overlap, not on the
 * size of the meshes.
 */
#include "server/engine/collision/regions_work.h"

struct regions_options regions_options_default(void)
{
	return (struct regions_options){ .depth_min = 0, .pairs_max = 1u << 22 };
}

void regions_init(struct regions *self)
{
	*self = (struct regions){ 0 };
}

static void marks_release(struct body_marks *marks)
{
	heap_free(marks->triangle);
	heap_free(marks->edge);
	heap_free(marks->vertex);
	*marks = (struct body_marks){ 0 };
}

void regions_release(struct regions *self)
{
	struct regions_work *work = self->work;
	if (work != NULL) {
		for (uint32_t i = 0; i < 2; i++) {
			marks_release(&work->marks[i]);
			ARRAY_RELEASE(&work->inside[i]);
			ARRAY_RELEASE(&work->keys[i]);
			ARRAY_RELEASE(&work->values[i]);
		}
		ARRAY_RELEASE(&work->segments);
		ARRAY_RELEASE(&work->nodes);
		ARRAY_RELEASE(&work->heights);
		ARRAY_RELEASE(&work->groups);
		ARRAY_RELEASE(&work->group_nodes);
		ARRAY_RELEASE(&work->contour_first);
		ARRAY_RELEASE(&work->elements);
		ARRAY_RELEASE(&work->touched);
		ARRAY_RELEASE(&work->stack);
		ARRAY_RELEASE(&work->sums);
		ARRAY_RELEASE(&work->ends);
		ARRAY_RELEASE(&work->facets);
		ARRAY_RELEASE(&work->extents);
		ARRAY_RELEASE(&work->regions);
		ARRAY_RELEASE(&work->sorted);
		ARRAY_RELEASE(&work->contours);
		ARRAY_RELEASE(&work->points);
		heap_free(work);
	}
	regions_init(self);
}

/* ---- shared by the stages --------------------------------------------------------------------- */

uint32_t work_twin(const struct mesh *mesh, uint32_t half_edge)
{
	VALIDATE(half_edge / 3 < mesh->triangle_count);
	uint32_t triangle = half_edge / 3, k = half_edge % 3, across = mesh->adjacent[triangle][k];
	if (across == UINT32_MAX)
		return NONE;
	vec3 from = mesh_corner(mesh, triangle, k), to = mesh_corner(mesh, triangle, (k + 1) % 3);
	for (uint32_t i = 0; i < 3; i++)
		if (mesh->adjacent[across][i] == triangle &&
		    vec3_equal(mesh_corner(mesh, across, i), to) &&
		    vec3_equal(mesh_corner(mesh, across, (i + 1) % 3), from))
			return 3 * across + i;
	return NONE;
}

uint32_t work_root(struct regions_work *work, uint32_t element)
{
	VALIDATE(element < work->elements.count);
	struct element *items = work->elements.items;
	while (items[element].parent != element) {
		items[element].parent = items[items[element].parent].parent;
		element = items[element].parent;
	}
	VALIDATE(work->elements.items[element].parent == element);
	return element;
}

void work_join(struct regions_work *work, uint32_t a, uint32_t b)
{
	a = work_root(work, a);
	b = work_root(work, b);
	work->elements.items[MAX_OF(a, b)].parent = MIN_OF(a, b);
	VALIDATE(work_root(work, a) == work_root(work, b));
}

enum status work_new_element(struct regions_work *work, enum region_kind kind, uint32_t *out)
{
	enum status status = ARRAY_RESERVE(&work->elements, (uint64_t)work->elements.count + 1);
	if (status != STATUS_OK)
		return status;
	*out = work->elements.count;
	work->elements.items[work->elements.count++] = (struct element){ *out, NONE, kind };
	return STATUS_OK;
}

enum status work_touch(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	VALIDATE(body <= BODY_B);
	VALIDATE(triangle < work->marks[body].triangles);
	uint8_t *state = &work->marks[body].triangle[triangle];
	if (*state & TRIANGLE_TOUCHED)
		return STATUS_OK;
	enum status status = ARRAY_RESERVE(&work->touched, (uint64_t)work->touched.count + 1);
	if (status != STATUS_OK)
		return status;
	*state |= TRIANGLE_TOUCHED;
	work->touched.items[work->touched.count++] = (struct body_triangle){ body, triangle };
	return STATUS_OK;
}

/* ---- a call ----------------------------------------------------------------------------------- */

/* Clears the marks of the last call without reading its meshes, which may have been released:
 * marked edges are those of touched triangles, marked vertices are those listed as inside. */
static void clear_marks(struct regions_work *work)
{
	for (uint32_t i = 0; i < work->touched.count; i++) {
		struct body_triangle at = work->touched.items[i];
		work->marks[at.body].triangle[at.triangle] = 0;
		for (uint32_t k = 0; k < 3; k++)
			work->marks[at.body].edge[3 * at.triangle + k] = 0;
	}
	for (uint32_t body = 0; body < 2; body++) {
		for (uint32_t i = 0; i < work->inside[body].count; i++)
			work->marks[body].vertex[work->inside[body].items[i].vertex] = 0;
		work->inside[body].count = 0;
	}
	work->segments.count = work->nodes.count = work->groups.count = work->group_nodes.count = 0;
	work->contour_first.count = work->elements.count = work->touched.count = 0;
	work->stack.count = work->regions.count = work->sorted.count = 0;
	work->contours.count = work->points.count = 0;
	work->broken = 0;
	work->nodes_tested = 0;
}

static enum status reserve_marks(struct body_marks *marks, const struct mesh *mesh)
{
	if (mesh->triangle_count <= marks->triangles && mesh->vertex_count <= marks->vertices)
		return STATUS_OK;
	marks_release(marks);
	marks->triangle = heap_alloc_zero(mesh->triangle_count);
	marks->edge = heap_alloc_zero(3 * sizeof *marks->edge * mesh->triangle_count);
	marks->vertex = heap_alloc_zero(mesh->vertex_count);
	if (marks->triangle == NULL || marks->edge == NULL || marks->vertex == NULL) {
		marks_release(marks);
		return STATUS_NO_MEMORY;
	}
	marks->triangles = mesh->triangle_count;
	marks->vertices = mesh->vertex_count;
	ASSERT(marks->triangles >= mesh->triangle_count);
	ASSERT(marks->vertices >= mesh->vertex_count);
	return STATUS_OK;
}

static enum status begin_regions(struct regions *self, const struct mesh *a, const struct mesh *b,
				 const pose *b_in_a)
{
	if (self->work == NULL) {
		self->work = heap_alloc_zero(sizeof *self->work);
		if (self->work == NULL)
			return STATUS_NO_MEMORY;
	}
	struct regions_work *work = self->work;
	clear_marks(work);
	work->mesh[BODY_A] = a;
	work->mesh[BODY_B] = b;
	work->at[BODY_A] = pose_identity();
	work->at[BODY_B] = *b_in_a;
	enum status status = reserve_marks(&work->marks[BODY_A], a);
	return status == STATUS_OK ? reserve_marks(&work->marks[BODY_B], b) : status;
}

enum status regions_find(struct regions *self, const struct mesh *a, const struct mesh *b,
			 const pose *b_in_a, const struct regions_options *options)
{
	self->region_count = self->contour_count = self->point_count = 0;
	self->pairs = self->broken = 0;
	self->nodes_tested = 0;
	if (!a->closed || !b->closed)
		return STATUS_UNSUPPORTED;
	enum status status = begin_regions(self, a, b, b_in_a);
	struct regions_work *work = self->work;
	if (status == STATUS_OK)
		status = regions_cross(work, options->pairs_max);
	if (status == STATUS_OK)
		status = regions_trace(work);
	if (status == STATUS_OK)
		status = regions_flood(work);
	if (status == STATUS_OK)
		status = regions_holes(work);
	if (status == STATUS_OK)
		status = regions_shells(work);
	if (status == STATUS_OK)
		status = regions_measure(work);
	if (status == STATUS_OK)
		status = regions_ways(work);
	if (status == STATUS_OK)
		status = regions_write(work, options->depth_min);
	if (status != STATUS_OK)
		return status;
	self->regions = work->sorted.items;
	self->contours = work->contours.items;
	self->points = work->points.items;
	self->region_count = work->sorted.count;
	self->contour_count = work->contours.count;
	self->point_count = work->points.count;
	self->pairs = work->segments.count;
	self->nodes_tested = work->nodes_tested;
	self->broken = work->broken;
	ASSERT(self->region_count == 0 || self->regions != NULL);
	return STATUS_OK;
}
