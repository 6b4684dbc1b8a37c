/* box.c: a box with half extents a, b, c. V = 8abc, I = V/3 diag(b² + c², c² + a², a² + b²).
 *
 * A box has a hull as well, so that every algorithm for hulls works on boxes.
 */
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/hull.h"

/* Corners of each face, counter-clockwise seen from outside, the least first. */
static const uint16_t FACES[6][4] = {
	{ 0, 4, 6, 2 }, { 1, 3, 7, 5 }, /* −x, +x */
	{ 0, 1, 5, 4 }, { 2, 6, 7, 3 }, /* −y, +y */
	{ 0, 2, 3, 1 }, { 4, 5, 7, 6 }, /* −z, +z */
};

struct hull *box_hull(vec3 half)
{
	struct hull *hull = hull_alloc(8, 6, 24);
	if (hull == NULL)
		return NULL;
	for (uint32_t i = 0; i < 8; i++)
		hull->vertices[i] = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
					      i & 4 ? half.z : -half.z);
	for (uint32_t f = 0; f < 6; f++) {
		hull->faces[f].edge = (uint16_t)(4 * f);
		hull->faces[f].edge_count = 4;
		for (uint32_t k = 0; k < 4; k++)
			hull->edges[4 * f + k] = (struct half_edge){
				.origin = FACES[f][k],
				.next = (uint16_t)(4 * f + (k + 1) % 4),
				.face = (uint16_t)f,
			};
	}
	bool closed = hull_finish(hull);
	ASSERT(closed);
	return hull;
}

enum status box_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_BOX);
	struct shape *shape = cook->shape;
	enum status status = cook_expect(cook, 24);
	if (status != STATUS_OK)
		return status;
	vec3 h;
	status = cook_number(cook, "half_x", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &h.x);
	if (status == STATUS_OK)
		status = cook_number(cook, "half_y", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &h.y);
	if (status == STATUS_OK)
		status = cook_number(cook, "half_z", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &h.z);
	if (status != STATUS_OK)
		return status;
	shape->hull = box_hull(h);
	if (shape->hull == NULL)
		return cook_no_memory(cook);
	shape->memory_bytes += hull_bytes(8, 6, 24);
	double volume = 8.0 * h.x * h.y * h.z;
	vec3 q = vec3_hadamard(h, h);
	shape->box.half = h;
	shape->mass.volume = volume;
	shape->mass.centre = vec3_zero();
	shape->mass.inertia =
		mat3_diagonal(vec3_scale(vec3_make(q.y + q.z, q.z + q.x, q.x + q.y), volume / 3.0));
	shape->aabb_min = vec3_negate(h);
	shape->aabb_max = h;
	shape->radius_max = vec3_length(h);
	shape->extent_min = vec3_min_component(h);
	ASSERT(shape->mass.volume > 0);
	ASSERT(shape->extent_min <= shape->radius_max);
	return STATUS_OK;
}
