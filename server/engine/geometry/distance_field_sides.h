/* distance_field_sides.h: what contacts need of a field: its value with slope near the solid, and
 * the directions by which its contacts are sorted.
 *
 * A contact of two bodies has one normal, but a concave field may touch in several directions at
 * once. So contacts of a field are sorted into `sides`: 26 directions, to the faces, edges and
 * corners of a cube in the field's frame; a normal belongs to the nearest one. Only sides that some
 * part of the surface can face exist, and each stores the box of that part. A smooth or flat object
 * nearly always touches with one side; the coordinate axes are in the middle of sides, so that an
 * upright object does not change sides.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_SIDES_H
#define CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_SIDES_H

#include "server/engine/geometry/distance_field.h"

enum { FIELD_SIDES = 26 };

/* Sides in the order of their directions. */
struct field_sides {
	uint32_t count;
	vec3 direction[FIELD_SIDES]; /* unit */
	struct aabb box[FIELD_SIDES];
	struct distance_field_probe probe; /* the field's own mesh; owned */
};

/* `mesh` is borrowed. Release with field_sides_release. Error: NO_MEMORY. */
MUST_CHECK enum status field_sides_init(struct field_sides *self, const struct mesh *mesh);
void field_sides_release(struct field_sides *self);
/* The side whose direction is nearest to a unit normal, < count. */
uint32_t field_sides_of(const struct field_sides *self, vec3 normal);

struct field_sample {
	double value; /* m */
	vec3 normal;  /* unit, along the steepest rise */
	bool flat;    /* the slope is that of a plane: no edge within a cell */
};

/* The field at p. Outside the grid it is extrapolated from the nearest point of the grid along the
 * slope there, and is at least the distance to the solid's box. False when that distance is more
 * than `reach`. */
bool distance_field_sample(const struct distance_field *self, vec3 p, double reach,
			   struct field_sample *out);

#endif
