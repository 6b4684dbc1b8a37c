/* mesh_corner.h: a polyhedron against the convex surroundings of a triangle. Private to collision. */
#ifndef CAIRN_ENGINE_COLLISION_MESH_CORNER_H
#define CAIRN_ENGINE_COLLISION_MESH_CORNER_H

#include "server/engine/collision/sat.h"

enum { MESH_FAN_MAX = 64 };

/* The triangles that share a corner with one, itself first. */
struct mesh_fan {
	uint32_t count;
	uint32_t triangles[MESH_FAN_MAX];
};

/* False, and the fan is of no use, when there are more than MESH_FAN_MAX. */
bool mesh_fan_of(const struct mesh *mesh, uint32_t triangle, struct mesh_fan *out);

struct mesh_corner {
	double separation; /* greatest over the fan's outward axes, m */
	vec3 normal;	   /* unit, hull → mesh, hull's frame */
	vec3 on_hull;	   /* where, hull's frame */
	uint32_t feature;  /* as pairs.h has them */
};

/* The best axis along which hull and fan can be parted outwards: normals of the fan's triangles, faces of
 * the hull over the triangle's corners, and pairs of a hull's edge and an edge that leaves one of the
 * corners. False: the surface is not convex there (by more than `slop`), or there is none. */
bool mesh_corner_axis(const struct hull *hull, const struct mesh *mesh, const struct mesh_fan *fan,
		      const struct placing *mesh_in_hull, double slop, struct mesh_corner *out);

/* Separation of hull and fan along a unit normal, hull → mesh, hull's frame. */
double mesh_corner_along(const struct hull *hull, const struct mesh *mesh,
			 const struct mesh_fan *fan, const struct placing *mesh_in_hull,
			 vec3 normal);

#endif
