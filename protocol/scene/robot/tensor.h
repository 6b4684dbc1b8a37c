/* tensor.h: symmetric tensors of inertia and their principal axes. */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_TENSOR_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_TENSOR_H

#include "server/engine/types.h"

struct tensor {
	double xx, yy, zz, xy, xz, yz; /* kg m² */
};

struct tensor tensor_diagonal(vec3 d);
struct tensor tensor_add(struct tensor a, struct tensor b);
struct tensor tensor_scale(struct tensor a, double s);
/* R a Rᵀ. */
struct tensor tensor_turn(struct tensor a, quat rotation);
/* m (|d|² 1 − d dᵀ): what a mass adds at the distance d (Steiner). */
struct tensor tensor_of_point(double mass, vec3 d);
/* Principal moments, and the rotation of their axes: a = R diag(moments) Rᵀ. Jacobi's
 * rotations in a fixed order; a tensor that is diagonal already has the identity. */
vec3 tensor_principal(struct tensor a, quat *axes);

#endif
