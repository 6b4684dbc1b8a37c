/* rounded.h: rounded boxes and hulls: all points within a radius r of a convex core.
 *
 * The solid is the core and, outside of it, a prism of height r on each face, a wedge of a cylinder
 * on each edge, between the normals of its two faces, and at each vertex the sector of a ball that
 * has the directions of the vertex's normal cone. All that is computed about it is the sum of these
 * parts. */
#ifndef CAIRN_ENGINE_GEOMETRY_ROUNDED_H
#define CAIRN_ENGINE_GEOMETRY_ROUNDED_H

#include "server/engine/geometry/shape.h"

/* A wedge: between `normal` and that direction turned by `angle` about `along`, towards `across`. */
struct rounded_wedge {
	vec3 from, along;    /* the edge begins here, and runs along this unit vector */
	double length;	     /* m */
	vec3 normal, across; /* unit, of the face on the left of the edge; along × normal */
	double sine, cosine; /* of the angle between the normals of the two faces */
	double angle;	     /* rad */
};
/* The wedge of half-edge `h`, seen from its face. */
struct rounded_wedge rounded_wedge_of(const struct hull *core, uint32_t h);

/* The solid angle of three unit directions (Oosterom and Strackee), negative if they run clockwise. */
double rounded_solid_angle(vec3 a, vec3 b, vec3 c);

/* Whether the point is in the solid. */
bool rounded_holds(const struct hull *core, double radius, vec3 p);

#endif
