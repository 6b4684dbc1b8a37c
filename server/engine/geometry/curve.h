/* curve.h: cylinders, cones and ellipsoids by their support functions.
 *
 * The axis of a cylinder and of a cone is y; the cone's apex is (0, h, 0), its base at y = −h. The
 * support point along a direction d, in closed form:
 *
 *   cylinder   (r dx/s, ±h, r dz/s) with s = √(dx² + dz²) and the sign of dy; on the axis if s = 0
 *   cone       the apex if h dy > −h dy + r s, else the point of the rim, (r dx/s, −h, r dz/s)
 *   ellipsoid  (a² dx, b² dy, c² dz) / √(a² dx² + b² dy² + c² dz²)
 *
 * The stand-in of a curved shape is the hull of points of its surface: CURVE_RIM_SIDES on each rim
 * (an ellipsoid: CURVE_SIDES on each of CURVE_RINGS circles). It lies inside the shape and is at
 * most 1 % of the greatest half length away from its surface. */
#ifndef CAIRN_ENGINE_GEOMETRY_CURVE_H
#define CAIRN_ENGINE_GEOMETRY_CURVE_H

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/shape.h"

enum { CURVE_SIDES = 32, CURVE_RIM_SIDES = 64, CURVE_RINGS = 15 };

/* A curved shape somewhere. */
struct curve {
	enum shape_kind kind;
	double half_length, radius; /* of cylinder and cone, m */
	vec3 half;		    /* of the ellipsoid, m */
	mat3 rotation; /* of the shape in the frame that directions and points are in */
	vec3 translation;
};

/* The curve of a cylinder, cone or ellipsoid in its own frame. */
struct curve curve_of(const struct shape *shape);
/* The same curve, moved on by a placement. */
struct curve curve_placed(const struct curve *self, mat3 rotation, vec3 translation);

/* The farthest point along `direction`, which need not be unit and may be zero. */
vec3 curve_support(const struct curve *self, vec3 direction);
/* m: how far any point is from the origin of the frame, at most; exact if the shape is not moved. */
double curve_reach(const struct curve *self);
/* The least box of the curve, moved on by a placement. */
struct aabb curve_box(const struct curve *self, const mat3 *rotation, vec3 translation);

/* m: the mean radius of curvature at the point whose outward normal is `normal` (unit, the shape's
 * frame): how far behind the surface the point is that a rolling contact turns about. 0 on flat
 * ends and at edges. */
double curve_rounding(const struct shape *shape, vec3 normal);
/* m: the same for a normal that turns along `direction` (of any length, the shape's frame; 0: the
 * mean), the radius of curvature in that direction: dᵀ H d with H the second derivative of the support
 * function and d the unit tangent along it. */
double curve_rounding_along(const struct shape *shape, vec3 normal, vec3 direction);

#endif
