/* decompose_measure.h: the hull of a piece and how far the piece deviates from it. Private to
 * decompose*.c. */
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
	bool sampled;	 /* made from a sample of the points: slightly too small */
	bool thin;	 /* no hull: the points lie in a plane within 10⁻⁷ of their size */
};

/* The hull of all points, or, above 3000 points and unless `exact`, of those farthest in 258
 * directions. A set too flat for a hull gives OK and `thin`. Errors: NO_MEMORY; TOO_LARGE: `exact`
 * and the hull has more than SHAPE_HULL_VERTICES_MAX vertices. */
MUST_CHECK enum status piece_hull_init(struct piece_hull *self, const vec3 *points, uint32_t count,
				       bool exact);
void piece_hull_release(struct piece_hull *self);

/* How far the hull deviates from the surface, m, from above: the greatest length, over all surface
 * points, of the ray along the normal within the hull. Stops once the value exceeds `enough`. */
double piece_concavity(const struct decompose_piece *piece, const struct piece_hull *hull,
		       double enough);
/* The same at the middle of half-edge h along `normal`. */
double piece_depth(const struct decompose_piece *piece, const struct piece_hull *hull, uint32_t h,
		   vec3 normal);

/* Upper bound, within `slack` metres, of the distance from any point of the hull to a closed mesh's
 * solid. Returns a larger number early once it exceeds `enough`. */
double hull_deviation(const struct mesh *mesh, const struct piece_hull *hull, struct aabb box,
		      double enough, double slack);

#endif
