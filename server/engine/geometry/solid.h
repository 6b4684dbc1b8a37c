/* solid.h: a closed mesh that moves: as its hull, as convex parts, as a distance field (ch1-3
 * app F, G), or as the boxes of its hierarchy at a depth (ch4-5 X2).
 *
 * The form is part of the canonical bytes, hence of the name, so that a replay cooks the same
 * shape. Mass properties are always those of the (repaired) mesh, whatever the form. Each part is a
 * hull of its own; a piece of the shape (collision/manifold.h) is one of them. A field's pieces are
 * its sides (distance_field_sides.h): its contacts come from the field, while rays, casts and
 * nearest points use its mesh, triangle by triangle; its only part is the hull that bounds it.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_SOLID_H
#define CAIRN_ENGINE_GEOMETRY_SOLID_H

#include "server/engine/geometry/mesh_repair.h"
#include "server/engine/geometry/shape.h"

enum solid_form { SOLID_HULL = 1, SOLID_PARTS = 2, SOLID_FIELD = 3, SOLID_BOXES = 4 };

enum {
	SOLID_HULL_LEAST = 16, /* least number of directions of a simplified hull */
	SOLID_PARTS_MAX = 512,
	SOLID_PARTS_DEFAULT = 64,
	SOLID_CELLS_MAX = 256,
	SOLID_CELLS_DEFAULT = 64,
	SOLID_DEPTH_MAX = 9, /* 2^9 boxes are SOLID_PARTS_MAX */
	SOLID_DEPTH_DEFAULT = 5,
};

struct distance_field;
struct field_sides;

struct solid {
	enum solid_form form;
	uint32_t part_count;
	struct shape **parts;	      /* owned; of kind SHAPE_HULL, unnamed, in the shape's frame */
	struct mesh *mesh;	      /* owned; repaired; of SOLID_HULL NULL */
	struct distance_field *field; /* owned; of SOLID_FIELD, else NULL */
	struct field_sides *sides;    /* owned; of SOLID_FIELD: directions of its contacts */
	struct shape *surface;	      /* owned; of SOLID_FIELD: the mesh as a shape, for queries */
	struct mesh_report report;    /* of the registration */
	struct solid_frame frame;     /* principal axes and rotation sphere of the mesh */
	uint32_t vertices, faces;     /* of the mesh, repaired */
	double volume_parts;	      /* m³, sum over the parts */
	double deviation; /* m: no point of the parts is farther from the mesh; 0 where not known */
	uint32_t approximated; /* pieces that could not be cut exactly and were approximated */
	uint32_t parts_thin;   /* parts too thin for a hull, left out */
};

/* For shape.c. The i-th finding of cooking as a sentence; false when there are no more. */
bool solid_warning(const struct shape *shape, uint32_t i, char *text, size_t bytes);
void solid_destroy(struct solid *self);

#endif
