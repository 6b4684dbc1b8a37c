/* orient.h: exact signs of determinants of points: on which side of a line or plane a point lies.
 *
 * Every result is the sign of the exact value for the doubles given, never of a rounded one, so
 * results about the same points cannot contradict each other. Coordinates must be 0 or of size
 * 1e-60 … 1e60 (and so must the differences that are not 0); beyond that products underflow or
 * overflow and the sign is not reliable.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_ORIENT_H
#define CAIRN_ENGINE_GEOMETRY_ORIENT_H

#include "server/engine/math/vec3.h"

/* Sign of ((b − a) × (c − a)) · (p − a): 1 when p lies on the side from which a b c run
 * counter-clockwise, −1 on the other side, 0 in the plane, and 0 for collinear a b c. */
int orient_plane(vec3 a, vec3 b, vec3 c, vec3 p);

/* Sign of component `axis` (0, 1, 2) of (b − a) × (p − a): seen along −axis, 1 when p lies to the
 * left of the line a → b, 0 when on it. */
int orient_line(uint32_t axis, vec3 a, vec3 b, vec3 p);

/* Sign of component `axis` of (b − a) × (d − c). */
int orient_vectors(uint32_t axis, vec3 a, vec3 b, vec3 c, vec3 d);

/* Whether a b c lie on one line (or in one point). */
bool orient_collinear(vec3 a, vec3 b, vec3 c);

#endif
