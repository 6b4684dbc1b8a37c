/* mass.h: volume integrals of solids bounded by planar polygons (app D), and mass of compound
 * bodies. */
#ifndef CAIRN_ENGINE_GEOMETRY_MASS_H
#define CAIRN_ENGINE_GEOMETRY_MASS_H

#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

/* The ten integrals of D-01 over a solid: t1 = ∫dV, t = ∫(x, y, z)dV, squares = ∫(x², y², z²)dV,
 * products = ∫(xy, yz, zx)dV. */
struct volume_integrals {
	double t1;
	vec3 t, squares, products;
};

/* Adds the contribution of one face: `count` ≥ 3 vertices in a plane, counter-clockwise from
 * outside. A face without area contributes nothing. */
void mass_add_face(struct volume_integrals *sum, const vec3 *vertices, uint32_t count);

/* Mass properties at unit density from the integrals (D-01); `origin`, about which they were taken,
 * is added to the centre. A volume that is not positive gives all zeros. */
struct mass_properties mass_of_integrals(const struct volume_integrals *sum, vec3 origin);

/* Mass properties of a convex polyhedron. */
struct mass_properties mass_of_hull(const struct hull *hull);
/* Mass properties of the solid that a closed mesh bounds. All zeros for an open mesh, and for one
 * whose volume does not exceed its rounding error (a mesh folded flat). */
struct mass_properties mass_of_mesh(const struct mesh *mesh);

/* One shape of a compound body. */
struct mass_part {
	const struct shape *shape; /* borrowed */
	pose at;		   /* shape → body */
	double density;		   /* kg/m³ (kg/m² for polygons), ≥ 0 */
};

/* A body's mass, kg, centre and inertia about it, in the body's frame. */
struct mass_total {
	double mass;
	vec3 centre;
	mat3 inertia;
};

/* Sums the parts in the order given (app D-01, homogeneous parts). Total mass 0 gives all zeros. */
struct mass_total mass_combine(const struct mass_part *parts, uint32_t count);

#endif
