/* surface_points.h: points that are evenly distributed over the surface of a shape, with normals.
 *
 * The surface is cut into patches of which each has an area and a way to draw a point of it evenly: a
 * triangle of a mesh, a heightfield or the faces of a hull; the parts of a sphere, capsule, cylinder, cone,
 * ellipsoid; of a rounded shape its faces, the wedges of its edges, and the corners, which together
 * are a sphere. A solid has the surface of its mesh, or of its hull in that form. In a polygon areas
 * are lengths (m). A half-space has no patch. A point drawn in a patch, which is itself drawn by area,
 * is drawn evenly. */
#ifndef CAIRN_ENGINE_GEOMETRY_SURFACE_POINTS_H
#define CAIRN_ENGINE_GEOMETRY_SURFACE_POINTS_H

#include "server/base/rng.h"
#include "server/engine/geometry/shape.h"

struct surface_point {
	vec3 at, normal; /* in the shape's frame; the normal is unit, outward */
};

/* Patches of area 0 are among them. */
uint32_t surface_patches(const struct shape *shape);
/* m² (m in a polygon), at least 0. Exact but for an ellipsoid: within 1e-3 up to a ratio of its axes
 * of 10. */
double surface_area(const struct shape *shape, uint32_t patch);
/* A point of a patch with an area above 0. */
struct surface_point surface_draw(const struct shape *shape, uint32_t patch, struct rng *rng);

#endif
