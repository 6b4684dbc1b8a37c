/* sphere.c: a ball with its centre at the origin. V = 4/3 π r³, I = 2/5 V r² about any axis. */
#include "server/engine/geometry/cook.h"

enum status sphere_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_SPHERE);
	struct shape *shape = cook->shape;
	enum status status = cook_expect(cook, 8);
	if (status != STATUS_OK)
		return status;
	double r;
	status = cook_number(cook, "radius", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &r);
	if (status != STATUS_OK)
		return status;
	double volume = 4.0 / 3.0 * PI * r * r * r;
	shape->sphere.radius = r;
	shape->mass.volume = volume;
	shape->mass.centre = vec3_zero();
	shape->mass.inertia = mat3_diagonal(vec3_all(0.4 * volume * r * r));
	shape->aabb_min = vec3_all(-r);
	shape->aabb_max = vec3_all(r);
	shape->radius_max = r;
	shape->extent_min = r;
	ASSERT(shape->mass.volume > 0);
	return STATUS_OK;
}
