/* distance_field_sides.h: what contacts ask of a field: a value with its slope anywhere near,
 * and the directions into which they are sorted.  A contact of two bodies has one normal; a
 * field that is concave may touch in several directions at once. So contacts of a field are
 * sorted by `sides`: 26 directions, those to the faces, edges and corners of a cube in the
 * field's frame; a normal belongs to the nearest. Only sides that the surface can show exist,
 * and each knows the box of what of the surface can show it. A smooth or flat thing touches with
 * one side nearly always; the middle of a side is where axes are, so that what stands straight
 * does not change sides. */
#ifndef CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_SIDES_H
#define CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_SIDES_H

#include "server/engine/geometry/distance_field.h"

enum { FIELD_SIDES = 26 };

/* In order of directions. */
struct field_sides {
	uint32_t count;
	vec3 direction[FIELD_SIDES]; /* unit */
	struct aabb box[FIELD_SIDES];
	struct distance_field_probe probe; /* the field's own mesh; owned */
};

/* `mesh` is borrowed. To be given to field_sides_release. Error: NO_MEMORY. */
MUST_CHECK enum status field_sides_init(struct field_sides *self, const struct mesh *mesh);
void field_sides_release(struct field_sides *self);
/* The one nearest to a unit normal. */
uint32_t field_sides_of(const struct field_sides *self, vec3 normal);

struct field_sample {
	double value; /* m */
	vec3 normal;  /* unit, along the steepest rise */
	bool flat;    /* the field rises there as it does over a plane: no edge within a cell */
};

/* The field at p. Outside the grid it is carried on from the nearest point of the grid along the
 * slope there, and is at least the way to the solid's box. False when that way is more than
 * `reach`. */
bool distance_field_sample(const struct distance_field *self, vec3 p, double reach,
			   struct field_sample *out);

#endif
