/* decompose_measure.h: how concave a piece is. Private to decompose*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_MEASURE_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_MEASURE_H

#include "server/engine/geometry/decompose_piece.h"

/* The planes of a piece's hull. */
struct piece_hull {
	struct hull *
		hull; /* owned; its vertices are those of the points less `middle`, times `factor` */
	vec3 middle;
	double factor;
	uint32_t plane_count, vertex_count;
	vec3 *normals;	 /* owned, unit */
	double *offsets; /* owned with normals */
	double volume;	 /* m³ */
	bool sampled;	 /* of some of its points only: a little too small */
	bool thin;	 /* no hull: all points lie in a plane, but for a 10⁻⁷th of the size */
};

/* Of all points, or, when there are many, of those farthest in 258 directions. NO_MEMORY; TOO_LARGE: over
 * SHAPE_HULL_VERTICES_MAX vertices, and `exact` asked for all points. */
MUST_CHECK enum status piece_hull_init(struct piece_hull *self, const vec3 *points, uint32_t count,
				       bool exact);
void piece_hull_release(struct piece_hull *self);

/* How far the hull stands off the surface: over all points of it, how far one goes along the normal until
 * one is out of the hull; at most this is answered, from above. Stops once it is over `enough`. */
double piece_concavity(const struct decompose_piece *piece, const struct piece_hull *hull,
		       double enough);
/* The same at the middle of an edge. */
double piece_depth(const struct decompose_piece *piece, const struct piece_hull *hull, uint32_t h,
		   vec3 normal);

/* From above: how far a point of the hull can be from a closed mesh's solid, within `slack`. Gives up with
 * a larger number as soon as it is over `enough`. */
double hull_deviation(const struct mesh *mesh, const struct piece_hull *hull, struct aabb box,
		      double enough, double slack);

#endif
