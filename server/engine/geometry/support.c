/* See support.h. */
#include "server/engine/geometry/support.h"

#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/solid.h"

struct support support_core(const struct shape *shape, uint32_t child, vec3 direction)
{
	shape = shape_part(shape, &child);
	if (shape->kind == SHAPE_SOLID) /* a field: its bounding hull */
		shape = shape->solid->parts[0];
	switch (shape->kind) {
	case SHAPE_CAPSULE:
		return support_segment(shape->capsule.half_length, direction);
	case SHAPE_BOX:
		return support_box(shape->box.half, direction);
	case SHAPE_HULL:
		return support_hull(shape->hull, direction);
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
		return support_triangle(shape->mesh, child, direction);
	case SHAPE_POLYGON:
		return support_points(shape->polygon->vertices, shape->polygon->count, direction);
	case SHAPE_ROUNDED:
		return support_hull(shape->stand_in->hull, direction);
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_ELLIPSOID: {
		struct curve curve = curve_of(shape);
		return (struct support){ curve_support(&curve, direction), 0 };
	}
	case SHAPE_SPHERE:
	case SHAPE_SOLID:
	case SHAPE_PLANE:
	case SHAPE_KINDS:
		break;
	}
	ASSERT(shape->kind == SHAPE_SPHERE);
	return (struct support){ vec3_zero(), 0 };
}

double support_radius(const struct shape *shape)
{
	ASSERT(shape->kind < SHAPE_KINDS);
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return shape->sphere.radius;
	case SHAPE_CAPSULE:
		return shape->capsule.radius;
	case SHAPE_POLYGON:
		return shape->polygon->radius;
	case SHAPE_ROUNDED:
		return shape->rounded.radius;
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_ELLIPSOID:
	case SHAPE_BOX:
	case SHAPE_HULL:
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
	case SHAPE_SOLID:
	case SHAPE_PLANE:
	case SHAPE_KINDS:
		break;
	}
	return 0;
}
