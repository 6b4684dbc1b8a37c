/* mesh_corner.h: a polyhedron against the convex surroundings of a triangle. Private to collision. */
#ifndef CAIRN_ENGINE_COLLISION_MESH_CORNER_H
#define CAIRN_ENGINE_COLLISION_MESH_CORNER_H

#include "server/engine/collision/sat.h"

enum { MESH_FAN_MAX = 64 };

/* A triangle (first) and all triangles that share a corner with it. */
struct mesh_fan {
	uint32_t count;
	uint32_t triangles[MESH_FAN_MAX];
};

/* Collects the fan of a triangle. False, and *out is incomplete, if the fan has more than MESH_FAN_MAX
 * triangles. */
bool mesh_fan_of(const struct mesh *mesh, uint32_t triangle, struct mesh_fan *out);

struct mesh_corner {
	double separation; /* greatest over the fan's outward axes, m */
	vec3 normal;	   /* unit, hull → mesh, hull's frame */
	vec3 on_hull;	   /* the contact point on the hull, hull's frame */
	uint32_t feature;  /* feature id, see pairs.h */
};

/* The outward axis of the greatest separation of hull and fan. Candidates are the normals of the fan's
 * triangles, faces of the hull over the triangle's corners, and pairs of an edge of the hull and an edge of
 * the mesh at one of the corners. False if the surface is not convex there (`slop`, m). */
bool mesh_corner_axis(const struct hull *hull, const struct mesh *mesh, const struct mesh_fan *fan,
		      const struct placing *mesh_in_hull, double slop, struct mesh_corner *out);

/* Separation of hull and fan along a unit normal, hull → mesh, hull's frame. */
double mesh_corner_along(const struct hull *hull, const struct mesh *mesh,
			 const struct mesh_fan *fan, const struct placing *mesh_in_hull,
			 vec3 normal);

#endif
