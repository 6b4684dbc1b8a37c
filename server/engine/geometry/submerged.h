/* submerged.h: how much of a shape lies in a half-space, and where: what it displaces of a fluid
 * with a level surface.
 *
 * Spheres, ellipsoids, boxes, hulls, solids and polygons in closed form; capsules, cylinders and
 * cones by Gauss's quadrature along the axis between the places where the plane enters and leaves
 * the sections (relative error below 1e-10). Rounded hulls: core and prisms in closed form, wedges
 * by the same quadrature along their edges; of vertices that the plane passes within the radius,
 * the sectors of balls by cells, with an error of at most 1e-3 r³ each (submerged_rounded.c).
 * Source: polyhedra by the divergence theorem with the apex in the plane, so that the cut face adds
 * nothing. */
#ifndef CAIRN_ENGINE_GEOMETRY_SUBMERGED_H
#define CAIRN_ENGINE_GEOMETRY_SUBMERGED_H

#include "server/engine/geometry/shape.h"

/* Part of a shape. */
struct submerged {
	double volume; /* m³; m² of a polygon; 0 … the shape's */
	vec3 centre;   /* m, of that part, in the shape's frame; zero if the volume is 0 */
};

/* The part with normal·x <= offset, in the shape's frame; `normal` is a unit vector, of a polygon
 * in its plane. A solid in the form of its hull: the hull's part, scaled to the solid's volume.
 * Planes and meshes, which never move, have none: volume 0. O(faces). */
struct submerged shape_submerged(const struct shape *shape, vec3 normal, double offset);

#endif
