/* soft_tree_lanes.h: TREE_LANES links of trees side by side: 1, 2 or 4 vectors of doubles, and members of
 * links and axes in them. Every operation is the IEEE one per lane, in the order of the plain
 * computation, so results do not depend on which links share a vector. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_TREE_LANES_H
#define CAIRN_ENGINE_METHODS_SOFT_TREE_LANES_H

#include "server/engine/methods/soft_step.h"

#ifndef TREE_LANES
#define TREE_LANES 1
#endif

#define VECTOR tv
#define VECTOR_ELEMENT double
#define VECTOR_BITS int64_t
#define VECTOR_BYTES (8 * TREE_LANES)
#if TREE_LANES == 1
#define VECTOR_PLAIN
#endif
#include "server/engine/math/vector_lanes.h"

struct tv_spatial {
	struct tv3 linear, angular;
};
struct tv_inertia {
	struct tv_sym3 along, about;
	struct tv_mat3 cross;
};
/* As quat rotation, vec3 centre. */
struct tv_pose {
	struct tv4 rotation;
	struct tv3 centre;
};

/* Addresses, by lane. */
struct tree_places {
	char *at[TREE_LANES];
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Rows into columns, or back. */
ALWAYS_INLINE void tv_transpose(tv v[TREE_LANES])
{
#if TREE_LANES == 4
	VECTOR_TRANSPOSE_4(tv, v);
#elif TREE_LANES == 2
	VECTOR_TRANSPOSE_2(tv, v);
#else
	UNUSED(v);
#endif
}

/* `count` ≥ TREE_LANES numbers of each lane. Parts may overlap. */
ALWAYS_INLINE void tv_gather(const struct tree_places *from, size_t offset, uint32_t count,
			     void *out)
{
	tv *to = out;
	LANES_UNROLL
	for (uint32_t c = 0; c < count; c += TREE_LANES) {
		uint32_t at = MIN_OF(c, count - TREE_LANES);
		tv v[TREE_LANES];
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++)
			v[i] = *(const tv_stored *)(from->at[i] + offset + 8 * (size_t)at);
		tv_transpose(v);
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++)
			to[at + i] = v[i];
	}
}

/* Back. */
ALWAYS_INLINE void tv_scatter(const struct tree_places *to, size_t offset, uint32_t count,
			      const void *from)
{
	const tv *in = from;
	LANES_UNROLL
	for (uint32_t c = 0; c < count; c += TREE_LANES) {
		uint32_t at = MIN_OF(c, count - TREE_LANES);
		tv v[TREE_LANES];
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++)
			v[i] = in[at + i];
		tv_transpose(v);
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++)
			*(tv_stored *)(to->at[i] + offset + 8 * (size_t)at) = v[i];
	}
}

/* One number of each lane. */
ALWAYS_INLINE tv tv_gather_one(const struct tree_places *from, size_t offset)
{
#if TREE_LANES == 4
	return (tv){ *(const double *)(from->at[0] + offset),
		     *(const double *)(from->at[1] + offset),
		     *(const double *)(from->at[2] + offset),
		     *(const double *)(from->at[3] + offset) };
#elif TREE_LANES == 2
	return (tv){ *(const double *)(from->at[0] + offset),
		     *(const double *)(from->at[1] + offset) };
#else
	return *(const double *)(from->at[0] + offset);
#endif
}

ALWAYS_INLINE void tv_scatter_one(const struct tree_places *to, size_t offset, tv v)
{
#if TREE_LANES == 1
	*(double *)(to->at[0] + offset) = v;
#else
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		*(double *)(to->at[i] + offset) = v[i];
#endif
}

#define TV_GATHER(places, type, member, count, out)                                                \
	tv_gather(places, offsetof(type, member), count, out)
#define TV_SCATTER(places, type, member, count, from)                                              \
	tv_scatter(places, offsetof(type, member), count, from)
#define TV_ONE(places, type, member) tv_gather_one(places, offsetof(type, member))

ALWAYS_INLINE struct tv_spatial tv_gather_spatial(const struct tree_places *from, size_t offset)
{
	struct tv_spatial out;
	tv_gather(from, offset, 6, &out);
	return out;
}

ALWAYS_INLINE struct tree_places tree_link_places(const struct soft_trees *all,
						  const uint32_t link[TREE_LANES])
{
	struct tree_places out;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		out.at[i] = (char *)&all->links[link[i]];
	return out;
}

/* The axes number `k` of links. */
ALWAYS_INLINE struct tree_places tree_axis_places(const struct soft_trees *all,
						  const uint32_t link[TREE_LANES], uint32_t k)
{
	struct tree_places out;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		out.at[i] = (char *)&all->axes[all->links[link[i]].first + k];
	return out;
}

/* ---- arithmetic, as that of spatial, sym3.h, mat3.h ------------------------------------------------- */

ALWAYS_INLINE tv tv_spatial_dot(struct tv_spatial a, struct tv_spatial b)
{
	return tv3_dot(a.linear, b.linear) + tv3_dot(a.angular, b.angular);
}

ALWAYS_INLINE struct tv_spatial tv_spatial_mul_add(struct tv_spatial a, struct tv_spatial b, tv s)
{
	return (struct tv_spatial){ tv3_mul_add(a.linear, b.linear, s),
				    tv3_mul_add(a.angular, b.angular, s) };
}

ALWAYS_INLINE struct tv_spatial tv_spatial_add(struct tv_spatial a, struct tv_spatial b)
{
	return (struct tv_spatial){ tv3_add(a.linear, b.linear), tv3_add(a.angular, b.angular) };
}

/* a − b: the bits of a + b (−1). */
ALWAYS_INLINE struct tv_spatial tv_spatial_sub(struct tv_spatial a, struct tv_spatial b)
{
	return (struct tv_spatial){ tv3_sub(a.linear, b.linear), tv3_sub(a.angular, b.angular) };
}

ALWAYS_INLINE struct tv_spatial tv_spatial_negate(struct tv_spatial a)
{
	return (struct tv_spatial){ tv3_negate(a.linear), tv3_negate(a.angular) };
}

ALWAYS_INLINE struct tv_spatial tv_spatial_zero(void)
{
	tv zero = tv_all(0);
	return (struct tv_spatial){ { zero, zero, zero }, { zero, zero, zero } };
}

ALWAYS_INLINE struct tv_spatial tv_inertia_apply(const struct tv_inertia *a, struct tv_spatial m)
{
	const struct tv_mat3 *c = &a->cross;
	struct tv3 v = m.linear, w = m.angular;
	struct tv3 moment = { tv3_dot(c->x, v), tv3_dot(c->y, v), tv3_dot(c->z, v) };
	return (struct tv_spatial){ tv3_add(tv_sym3_apply(&a->along, v), tv_mat3_mul_vec(c, w)),
				    tv3_add(moment, tv_sym3_apply(&a->about, w)) };
}

ALWAYS_INLINE struct tv_sym3 tv_sym3_take(struct tv_sym3 a, struct tv3 x, struct tv3 s)
{
	return (struct tv_sym3){ a.xx - x.x * s.x, a.yy - x.y * s.y, a.zz - x.z * s.z,
				 a.xy - x.x * s.y, a.yz - x.y * s.z, a.zx - x.z * s.x };
}

/* a − x xᵀ scale. */
ALWAYS_INLINE struct tv_inertia tv_inertia_take(const struct tv_inertia *a, struct tv_spatial x,
						tv scale)
{
	struct tv3 f = x.linear, n = x.angular, sf = tv3_scale(f, scale), sn = tv3_scale(n, scale);
	const struct tv_mat3 *c = &a->cross;
	return (struct tv_inertia){ tv_sym3_take(a->along, f, sf),
				    tv_sym3_take(a->about, n, sn),
				    { tv3_sub(c->x, tv3_scale(f, sn.x)),
				      tv3_sub(c->y, tv3_scale(f, sn.y)),
				      tv3_sub(c->z, tv3_scale(f, sn.z)) } };
}

ALWAYS_INLINE struct tv_inertia tv_inertia_add(const struct tv_inertia *a,
					       const struct tv_inertia *b)
{
	return (struct tv_inertia){ tv_sym3_add(a->along, b->along),
				    tv_sym3_add(a->about, b->about),
				    { tv3_add(a->cross.x, b->cross.x),
				      tv3_add(a->cross.y, b->cross.y),
				      tv3_add(a->cross.z, b->cross.z) } };
}

ALWAYS_INLINE struct tv_inertia tv_inertia_select(tv_mask mask, const struct tv_inertia *a,
						  const struct tv_inertia *b)
{
	return (struct tv_inertia){ tv_sym3_select(mask, a->along, b->along),
				    tv_sym3_select(mask, a->about, b->about),
				    { tv3_select(mask, a->cross.x, b->cross.x),
				      tv3_select(mask, a->cross.y, b->cross.y),
				      tv3_select(mask, a->cross.z, b->cross.z) } };
}

#endif
