/* field_pair.h: a pair whose a has a distance field, shared by the files of its narrow phase. Private to
 * collision. */
#ifndef CAIRN_ENGINE_COLLISION_FIELD_PAIR_H
#define CAIRN_ENGINE_COLLISION_FIELD_PAIR_H

#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/distance_field_sides.h"
#include "server/engine/geometry/solid.h"

/* A candidate contact point, in the frame of the pair's a. */
struct field_candidate {
	struct manifold_point point;
	vec3 normal; /* out of a */
};

/* pair->a is a solid with a field. */
struct field_pair {
	const struct pair *pair;
	const struct distance_field *field;
	const struct field_sides *sides;
	struct placing b_in_a;
	double reach; /* m: features that are farther apart are ignored */
	struct field_candidate *candidates;
	uint32_t count;
};

/* Adds a candidate. `on_b`: the point of b's surface; separation in m. Points beyond the margin are
 * ignored. */
void field_add(struct field_pair *self, vec3 on_b, vec3 normal, double separation,
	       uint32_t feature);

/* Add the candidates of pair->b, whose kind is that of the name; in field_features.c. */
void field_gather_plane(struct field_pair *self);
void field_gather_triangle(struct field_pair *self);
void field_gather_hull(struct field_pair *self);
void field_gather_field(struct field_pair *self);

#endif
