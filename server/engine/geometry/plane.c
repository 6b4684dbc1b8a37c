/* plane.c: the half-space normal · x ≤ offset. Static, so it has no mass. */
#include "server/engine/geometry/cook.h"

/* Allowed deviation of a normal's length from 1; the normal is then normalised. Wide enough for
 * data written as floats. */
#define UNIT_TOLERANCE 1e-6

enum status plane_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_PLANE);
	struct shape *shape = cook->shape;
	enum status status = cook_expect(cook, 32);
	if (status != STATUS_OK)
		return status;
	vec3 n;
	double offset, length;
	status = cook_number(cook, "normal_x", -2, 2, &n.x);
	if (status == STATUS_OK)
		status = cook_number(cook, "normal_y", -2, 2, &n.y);
	if (status == STATUS_OK)
		status = cook_number(cook, "normal_z", -2, 2, &n.z);
	if (status == STATUS_OK)
		status = cook_number(cook, "offset", -SHAPE_LENGTH_MAX, SHAPE_LENGTH_MAX, &offset);
	if (status != STATUS_OK)
		return status;
	n = vec3_normalize_length(n, &length);
	if (scalar_abs(length - 1.0) > UNIT_TOLERANCE)
		return reason_set(cook->why, STATUS_RANGE, -1, "normal",
				  "the normal's length is %g, not 1 within %g", length,
				  UNIT_TOLERANCE);
	shape->plane.normal = n;
	shape->plane.offset = offset;
	shape->mass = (struct mass_properties){ 0, vec3_zero(), mat3_zero() };
	shape->aabb_min = vec3_all(-SHAPE_LENGTH_MAX);
	shape->aabb_max = vec3_all(SHAPE_LENGTH_MAX);
	shape->radius_max = SHAPE_LENGTH_MAX;
	shape->extent_min = 0;
	return STATUS_OK;
}
