/* gjk_exact.h: the distance of two cores where rounding stops gjk.c. Private to collision. */
#ifndef CAIRN_ENGINE_COLLISION_GJK_EXACT_H
#define CAIRN_ENGINE_COLLISION_GJK_EXACT_H

#include "server/engine/collision/gjk.h"

/* Distances below this part of the largest coordinate are those of rounded vertices: a placed vertex
 * itself is off by as much. */
#define GJK_TOUCHING 1e-15

/* Maximum number of iterations of the exact search. */
enum { GJK_EXACT_ROUNDS_MAX = 128 };

/* Arguments as gjk_distance, with out->simplex and out->iterations as the quick search left them.
 * Writes all of *out, handed_over among it. */
void gjk_exact(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
	       vec3 translation, struct gjk_result *out);

/* True if the tetrahedron w contains the origin strictly inside, by exact signs. inner[i] is the sign for
 * the face opposite w[i]: positive if the origin is on the inner side of that face. A flat tetrahedron
 * contains nothing. */
bool gjk_tetrahedron_holds(const vec3 w[4], int inner[4]);

/* The shares of the origin in the point of a simplex of one to three corners that is nearest to it, 0 for
 * corners that do not carry it; returns its distance. */
double gjk_nearest(const vec3 *w, uint32_t count, double parts[3]);

/* The barycentric coordinates of the origin in a tetrahedron that contains it; equal ones if it is flat. */
void gjk_shares(const vec3 w[4], double parts[4]);

/* The unit normal of a b c, counter-clockwise seen from its side, with all its digits; 0 for no area. */
vec3 gjk_normal(vec3 a, vec3 b, vec3 c);

#endif
