/* mass.h: volume integrals of solids bounded by planar polygons (app D), and sums of placed shapes. */
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

/* Adds one face's share: `count` ≥ 3 vertices, counter-clockwise from outside, in a plane. A face
 * without area adds nothing. */
void mass_add_face(struct volume_integrals *sum, const vec3 *vertices, uint32_t count);

/* D-01's assembly for unit density; `origin` is added to the centre (integrals were taken about it).
 * A volume that is not positive gives all zeros. */
struct mass_properties mass_of_integrals(const struct volume_integrals *sum, vec3 origin);

struct mass_properties mass_of_hull(const struct hull *hull);
/* Of the solid a closed mesh bounds; all zeros for an open one, and for one whose volume is not above what
 * rounding may give (folded flat). */
struct mass_properties mass_of_mesh(const struct mesh *mesh);

/* One shape of a body: where it sits in the body's frame and what it is made of. */
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

/* Sums parts in the order given (app D-01: homogeneous parts). No mass at all: everything 0. */
struct mass_total mass_combine(const struct mass_part *parts, uint32_t count);

#endif
