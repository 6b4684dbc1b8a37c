/* capsule.c: a capsule: the points within r of a segment of half length h along y.
 *
 * A cylinder of length 2h and two half balls. With C = 2π r² h and S = 4/3 π r³:
 *   about y:      C r²/2 + 2/5 S r²
 *   across:       C (r²/4 + h²/3) + S (2/5 r² + 3/4 r h + h²)
 * where the second bracket moves each half ball from its own centre of mass, 3/8 r from its flat
 * face, out to h + 3/8 r: 2/5 r² − (3/8 r)² + (h + 3/8 r)².
 */
#include "server/engine/geometry/cook.h"

enum status capsule_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_CAPSULE);
	struct shape *shape = cook->shape;
	enum status status = cook_expect(cook, 16);
	if (status != STATUS_OK)
		return status;
	double h, r;
	status = cook_number(cook, "half_length", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &h);
	if (status == STATUS_OK)
		status = cook_number(cook, "radius", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &r);
	if (status != STATUS_OK)
		return status;
	double cylinder = 2.0 * PI * r * r * h, ball = 4.0 / 3.0 * PI * r * r * r;
	double along = 0.5 * cylinder * r * r + 0.4 * ball * r * r;
	double across = cylinder * (0.25 * r * r + h * h / 3.0) +
			ball * (0.4 * r * r + 0.75 * r * h + h * h);
	shape->capsule.half_length = h;
	shape->capsule.radius = r;
	shape->mass.volume = cylinder + ball;
	shape->mass.centre = vec3_zero();
	shape->mass.inertia = mat3_diagonal(vec3_make(across, along, across));
	shape->aabb_max = vec3_make(r, h + r, r);
	shape->aabb_min = vec3_negate(shape->aabb_max);
	shape->radius_max = h + r;
	shape->extent_min = r;
	ASSERT(shape->mass.volume > 0);
	ASSERT(shape->extent_min < shape->radius_max);
	return STATUS_OK;
}
