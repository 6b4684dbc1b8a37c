/* spatial_inertia.h: inertias of bodies, and of what hangs on them, as 6×6 matrices about a point. */
#ifndef CAIRN_ENGINE_DYNAMICS_SPATIAL_INERTIA_H
#define CAIRN_ENGINE_DYNAMICS_SPATIAL_INERTIA_H

#include "server/engine/dynamics/row.h"
#include "server/engine/math/mat3.h"

/* 6×6, symmetric: force = along · linear + cross · angular, torque = crossᵀ linear + about · angular. */
struct spatial_inertia {
	mat3 along, cross, about;
};

static inline struct spatial spatial_inertia_apply(const struct spatial_inertia *self,
						   struct spatial a)
{
	return (struct spatial){
		vec3_add(mat3_mul_vec(self->along, a.linear), mat3_mul_vec(self->cross, a.angular)),
		vec3_add(mat3_transposed_mul_vec(self->cross, a.linear),
			 mat3_mul_vec(self->about, a.angular)),
	};
}

/* to += Xᵀ from X, X v = (v + w × arm, w). With K = [arm]×: cross − along K, and
 * about − crossᵀ K + K cross − K along K. */
static inline void spatial_inertia_bear(struct spatial_inertia *to,
					const struct spatial_inertia *from, vec3 arm)
{
	mat3 k = mat3_skew(arm), carried = mat3_mul(from->along, k);
	mat3 turned = mat3_mul(k, mat3_sub(from->cross, carried));
	mat3 crossed = mat3_mul(mat3_transpose(from->cross), k);
	to->along = mat3_add(to->along, from->along);
	to->cross = mat3_add(to->cross, mat3_sub(from->cross, carried));
	to->about = mat3_add(to->about, mat3_add(mat3_sub(from->about, crossed), turned));
}

/* self −= x yᵀ of spatials. */
static inline void spatial_inertia_take(struct spatial_inertia *self, struct spatial x,
					struct spatial y)
{
	self->along = mat3_sub(self->along, mat3_outer(x.linear, y.linear));
	self->cross = mat3_sub(self->cross, mat3_outer(x.linear, y.angular));
	self->about = mat3_sub(self->about, mat3_outer(x.angular, y.angular));
}

/* X v of a point at `arm` from the one that moves with v; Xᵀ f: a force there as a force here. */
static inline struct spatial spatial_carry(vec3 arm, struct spatial v)
{
	return (struct spatial){ vec3_add(v.linear, vec3_cross(v.angular, arm)), v.angular };
}
static inline struct spatial spatial_bear(vec3 arm, struct spatial force)
{
	return (struct spatial){ force.linear,
				 vec3_add(force.angular, vec3_cross(arm, force.linear)) };
}

#endif
