/* field_pair.h: what the files of a field's narrow phase share. Private to collision. */
#ifndef CAIRN_ENGINE_COLLISION_FIELD_PAIR_H
#define CAIRN_ENGINE_COLLISION_FIELD_PAIR_H

#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/distance_field_sides.h"
#include "server/engine/geometry/solid.h"

/* One place where the two might touch, in the frame of the pair's a. */
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
	double reach; /* m: what is farther apart is not looked at */
	struct field_candidate *candidates;
	uint32_t count;
};

/* `on_b`: of b's surface; beyond the margin it is left out. */
void field_add(struct field_pair *self, vec3 on_b, vec3 normal, double separation,
	       uint32_t feature);

/* Gather candidates against what pair->b is. field_features.c */
void field_meet_plane(struct field_pair *self);
void field_meet_triangle(struct field_pair *self);
void field_meet_hull(struct field_pair *self);
void field_meet_field(struct field_pair *self);

#endif
