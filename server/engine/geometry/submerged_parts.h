/* submerged_parts.h: what the parts of submerged.c share. Private to geometry. */
#ifndef CAIRN_ENGINE_GEOMETRY_SUBMERGED_PARTS_H
#define CAIRN_ENGINE_GEOMETRY_SUBMERGED_PARTS_H

#include "server/engine/geometry/submerged.h"

/* Volume (area) and first moment about the shape's origin. */
struct part_sum {
	double volume;
	vec3 moment;
};

/* Half-space and apex: a point in its plane near the shape. */
struct cut {
	vec3 normal, apex;
};

/* Nodes and weights of Gauss and Legendre on [−1, 1], of 16 points; the other half has the signs
 * changed. */
enum { NODES = 8 };
extern const double submerged_node[NODES], submerged_weight[NODES];

/* The 16 nodes of the interval from … to, transformed so that square roots at its ends do no harm:
 * x = (3 s − s³) / 2. Returns the place, *weight its weight. */
double submerged_place(uint32_t k, double from, double to, double *weight);

/* Adds the pyramids over the part of a flat face, counter-clockwise from outside, that is below the
 * cut. */
void submerged_face(struct part_sum *sum, const struct cut *cut, const vec3 *points,
		    uint32_t count);

/* In the plane z = 0: the triangle between apex and the part of a side that is below; the same for
 * the arc of radius r about c from angle a to b. */
void submerged_side(struct part_sum *sum, const struct cut *cut, vec3 p, vec3 q);
void submerged_arc(struct part_sum *sum, const struct cut *cut, vec3 c, double r, double a,
		   double b);

/* A rounded box or hull. */
struct part_sum submerged_rounded(const struct hull *core, double radius, const struct cut *cut);

#endif
