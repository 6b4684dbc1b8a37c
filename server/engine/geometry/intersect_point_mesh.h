/* intersect_point_mesh.h: whether a point lies inside a closed mesh, or one mesh inside another
 * (ch1-3 G-28, G-16); the depth of a vertex in a mesh (G-29).
 */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_POINT_MESH_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_POINT_MESH_H

#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/math/pose.h"

enum point_mesh { POINT_MESH_OUTSIDE, POINT_MESH_ON, POINT_MESH_INSIDE };

/* The position of p. Exact for the doubles given, for a closed mesh (mesh->closed): inside is where
 * the surface winds round the point a positive number of times, so a void whose walls face it is
 * outside. For an open mesh only ON is reliable. Allocates nothing. */
enum point_mesh intersect_point_mesh(const struct mesh *mesh, vec3 p);

struct mesh_point {
	vec3 point;	   /* the nearest point of the surface */
	double distance;   /* m, ≥ 0 */
	uint32_t triangle; /* of equally near ones the least */
	enum triangle_feature feature;
};

/* The surface's point nearest to p. Allocates nothing. */
struct mesh_point intersect_nearest_on_mesh(const struct mesh *mesh, vec3 p);

/* The depth of a vertex in a closed mesh (ch1-3 G-29): its distance to the surface, m; 0 on the
 * surface or outside. *nearest (may be NULL) is set in any case. */
double intersect_vertex_depth(const struct mesh *mesh, vec3 p, struct mesh_point *nearest);

#endif
