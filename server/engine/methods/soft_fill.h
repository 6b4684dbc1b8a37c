/* soft_fill.h: fills the lanes of a block from eight contacts with as many points each, LANES_WIDTH / 2
 * doubles at a time. Each number is that of write_lane (soft_prepare.c) without axis of friction, belts and
 * locks, by the same operations in the same order. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_FILL_H
#define CAIRN_ENGINE_METHODS_SOFT_FILL_H

#include "server/engine/dynamics/tuning.h"
#include "server/engine/methods/soft_sides.h"
#include "server/engine/methods/soft_wide_lanes.h"

/* Half as long as `wide`: its numbers as floats. */
typedef float fill_floats __attribute__((vector_size(4 * WIDE)));
typedef float fill_stored __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));

ALWAYS_INLINE void fill_store(struct lane8 *to, uint32_t first, wide v)
{
	*(fill_stored *)&to->at[first] = __builtin_convertvector(v, fill_floats);
}

ALWAYS_INLINE void fill_store3(struct lane8x3 *to, uint32_t first, struct wide3 v)
{
	fill_store(&to->x, first, v.x);
	fill_store(&to->y, first, v.y);
	fill_store(&to->z, first, v.z);
}

ALWAYS_INLINE wide fill_sqrt(wide v)
{
#if LANES_WIDTH == 8 && defined(__x86_64__)
	return __builtin_ia32_sqrtpd256(v);
#elif LANES_WIDTH == 4 && defined(__x86_64__)
	return __builtin_ia32_sqrtpd(v);
#else
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		v[i] = __builtin_sqrt(v[i]);
	return v;
#endif
}

/* The first tangent of vec3_frame. */
ALWAYS_INLINE struct wide3 fill_tangent(struct wide3 n)
{
	wide x = wide_abs(n.x), y = wide_abs(n.y), z = wide_abs(n.z), zero = wide_all(0);
	wide_mask drop_x = (x <= y) & (x <= z), drop_y = (y <= x) & (y <= z);
	struct wide3 without_x = { zero, n.z, -n.y }, without_y = { -n.z, zero, n.x };
	struct wide3 without_z = { n.y, -n.x, zero };
	struct wide3 a =
		wide3_select(drop_x, without_x, wide3_select(drop_y, without_y, without_z));
	wide length = fill_sqrt(wide3_dot(a, a)), one = wide_all(1);
	wide_mask some = length > zero;
	struct wide3 unit = wide3_scale(a, one / wide_select(some, length, one));
	return wide3_select(some, unit, (struct wide3){ zero, zero, zero });
}

/* Velocities of both bodies at the step's start. */
struct fill_motion {
	struct wide3 drift, spin_a, spin_b;
};

ALWAYS_INLINE struct fill_motion fill_motion(const struct soft_step *step,
					     const struct soft_block *block, uint32_t first)
{
	_Static_assert(offsetof(struct soft_drive, start) == 0 &&
			       offsetof(struct body_start, velocity) == 0 &&
			       sizeof(struct spatial) == 6 * sizeof(double),
		       "six numbers");
	const double *a[WIDE], *b[WIDE];
	wide of_a[6], of_b[6];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++) {
		a[i] = (const double *)(const void *)&step->drives[block->body_a[first + i]];
		b[i] = (const double *)(const void *)&step->drives[block->body_b[first + i]];
	}
	wide_gather(a, 6, of_a);
	wide_gather(b, 6, of_b);
	return (struct fill_motion){
		{ of_b[0] - of_a[0], of_b[1] - of_a[1], of_b[2] - of_a[2] },
		{ of_a[3], of_a[4], of_a[5] },
		{ of_b[3], of_b[4], of_b[5] },
	};
}

ALWAYS_INLINE struct wide3 fill_velocity(const struct fill_motion *motion, struct wide3 arm_a,
					 struct wide3 arm_b)
{
	struct wide3 at_a = wide3_cross(motion->spin_a, arm_a);
	struct wide3 at_b = wide3_cross(motion->spin_b, arm_b);
	return wide3_add(motion->drift, wide3_sub(at_b, at_a));
}

/* The impulses of the last sub-step; of friction a vector in A's axes, put along the tangents. */
ALWAYS_INLINE void fill_warm(const struct soft_fill *from, struct soft_block *block, uint32_t first,
			     struct wide3 t1, struct wide3 t2, uint32_t count)
{
	_Static_assert(sizeof(mat3) == 9 * sizeof(double), "nine numbers");
	const double *turn[WIDE], *multiplier[WIDE];
	wide r[9], m[3 * MANIFOLD_POINTS_MAX];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++) {
		turn[i] = (const double *)(const void *)from->rotation[first + i];
		multiplier[i] = from->multiplier[first + i];
	}
	wide_gather(turn, 9, r);
	if (count <= 2)
		wide_gather(multiplier, 6, m);
	else
		wide_gather(multiplier, 3 * MANIFOLD_POINTS_MAX, m);
	struct wide3 warm = { r[0] * m[1] + r[3] * m[2] + r[6] * m[4],
			      r[1] * m[1] + r[4] * m[2] + r[7] * m[4],
			      r[2] * m[1] + r[5] * m[2] + r[8] * m[4] };
	fill_store(&block->tangent_impulse[0], first, wide3_dot(warm, t1));
	fill_store(&block->tangent_impulse[1], first, wide3_dot(warm, t2));
	fill_store(&block->twist_impulse, first, m[5]);
	for (uint32_t p = 0; p < count; p++)
		fill_store(&block->points[p].impulse, first, m[3 * p]);
}

/* Points of as many manifolds as there are lanes. */
struct fill_points {
	struct wide3 a[MANIFOLD_POINTS_MAX], b[MANIFOLD_POINTS_MAX]; /* arms */
	wide separation[MANIFOLD_POINTS_MAX], weight[MANIFOLD_POINTS_MAX];
};

/* Returns the normals. */
ALWAYS_INLINE struct wide3 fill_read(const struct soft_fill *from, uint32_t first, uint32_t count,
				     struct fill_points *out)
{
	_Static_assert(offsetof(struct contact_state, points) ==
				       offsetof(struct contact_state, normal) + sizeof(vec3) &&
			       offsetof(struct contact_point, separation) == 6 * sizeof(double),
		       "ten numbers");
	const double *at[WIDE];
	wide c[10];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		at[i] = (const double *)(const void *)&from->contact[first + i]->normal;
	wide_gather(at, 10, c);
	out->a[0] = (struct wide3){ c[3], c[4], c[5] };
	out->b[0] = (struct wide3){ c[6], c[7], c[8] };
	out->separation[0] = c[9];
	for (uint32_t p = 1; p < count; p++) {
		wide v[7];
		LANES_UNROLL
		for (uint32_t i = 0; i < WIDE; i++)
			at[i] = (const double *)(const void *)&from->contact[first + i]->points[p];
		wide_gather(at, 7, v);
		out->a[p] = (struct wide3){ v[0], v[1], v[2] };
		out->b[p] = (struct wide3){ v[3], v[4], v[5] };
		out->separation[p] = v[6];
	}
	return (struct wide3){ c[0], c[1], c[2] };
}

/* friction_weights; that of a single point is 1. */
ALWAYS_INLINE void fill_weights(struct fill_points *points, uint32_t count)
{
	wide zero = wide_all(0), one = wide_all(1), nearest = points->separation[0], sum = zero;
	points->weight[0] = one;
	if (count == 1)
		return;
	for (uint32_t p = 1; p < count; p++)
		nearest = wide_min(points->separation[p], nearest);
	nearest = wide_max(nearest, zero);
	for (uint32_t p = 0; p < count; p++) {
		wide beyond = points->separation[p] - nearest;
		wide faded = wide_max(one - beyond / wide_all(FRICTION_FADE), zero);
		points->weight[p] = wide_select(beyond > zero, faded, one);
		sum += points->weight[p];
	}
	for (uint32_t p = 0; p < count; p++)
		points->weight[p] /= sum;
}

/* Masses and inertias, which lie together in a drive; those of a body that is not dynamic are 0. */
ALWAYS_INLINE void fill_masses(const struct soft_step *step, const uint32_t *index, uint32_t first,
			       struct lane8 *mass_inv, struct lane8 inertia_inv[6])
{
	VALIDATE(first < BLOCK_LANES && index[first] <= step->body_count);
	enum { MASS = offsetof(struct soft_drive, mass_inv) };
	_Static_assert(offsetof(struct soft_drive, inertia_inv) == MASS + sizeof(float) &&
			       sizeof(sym3f) == 6 * sizeof(float) &&
			       MASS + 10 * sizeof(float) <= sizeof(struct soft_drive),
		       "seven numbers, and five that are not used");
	const float4 *rows[LANES_WIDTH];
	struct lanes3 v;
	lanes w;
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		rows[i] = (const float4 *)(const void *)((const char *)&step
								 ->drives[index[first + i]] +
							 MASS - 2 * sizeof(float));
	v = lanes_gather(rows, &w);
	lanes_store(mass_inv, first, v.z);
	lanes_store(&inertia_inv[0], first, w);
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		rows[i]++;
	v = lanes_gather(rows, &w);
	lanes_store(&inertia_inv[1], first, v.x);
	lanes_store(&inertia_inv[2], first, v.y);
	lanes_store(&inertia_inv[3], first, v.z);
	lanes_store(&inertia_inv[4], first, w);
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		rows[i]++;
	v = lanes_gather(rows, &w);
	lanes_store(&inertia_inv[5], first, v.x);
}

/* Returns the lanes that slip faster than from->slide. */
ALWAYS_INLINE uint32_t fill_friction(const struct fill_motion *motion, struct soft_block *block,
				     uint32_t first, const struct soft_fill *from,
				     struct wide3 normal, const struct fill_points *points,
				     uint32_t count)
{
	wide zero = wide_all(0), reach = zero;
	struct wide3 arm_a = { zero, zero, zero };
	for (uint32_t p = 0; p < count; p++)
		arm_a = wide3_add(arm_a, wide3_scale(points->a[p], points->weight[p]));
	struct wide3 arm_b = wide3_add(arm_a, wide3_sub(points->b[0], points->a[0]));
	struct wide3 t1 = fill_tangent(normal), t2 = wide3_cross(normal, t1);
	struct wide3 slip = fill_velocity(motion, arm_a, arm_b);
	wide slip1 = wide3_dot(slip, t1), slip2 = wide3_dot(slip, t2);
	wide twist = wide3_dot(wide3_sub(motion->spin_b, motion->spin_a), normal);
	for (uint32_t p = 0; p < count; p++) {
		struct wide3 lever = wide3_sub(points->a[p], arm_a);
		reach = wide_max(reach, wide3_dot(lever, lever));
	}
	wide speed = slip1 * slip1 + slip2 * slip2 + twist * twist * reach;
	fill_store3(&block->tangent, first, t1);
	fill_store3(&block->arm_a, first, arm_a);
	fill_store3(&block->arm_b, first, arm_b);
	fill_store(&block->slip[0], first, slip1);
	fill_store(&block->slip[1], first, slip2);
	fill_store(&block->spin_slip, first, twist);
	fill_warm(from, block, first, t1, t2, count);
	return bits_of(speed > wide_all(from->slide * from->slide), first);
}

ALWAYS_INLINE uint32_t fill_some(const struct soft_step *step, struct soft_block *block,
				 uint32_t first, const struct soft_fill *from, uint32_t count)
{
	VALIDATE(from->slide > 0 && first + WIDE <= BLOCK_LANES);
	struct fill_points points;
	struct wide3 normal = fill_read(from, first, count, &points);
	struct fill_motion motion = fill_motion(step, block, first);
	fill_weights(&points, count);
	fill_store3(&block->normal, first, normal);
	fill_store3(&block->drift, first, motion.drift);
	for (uint32_t p = 0; p < count; p++) {
		struct soft_point *to = &block->points[p];
		struct wide3 velocity = fill_velocity(&motion, points.a[p], points.b[p]);
		fill_store3(&to->j_a, first, points.a[p]);
		fill_store3(&to->j_b, first, points.b[p]);
		fill_store(&to->separation, first, points.separation[p]);
		fill_store(&to->gap, first, points.separation[p]);
		fill_store(&to->weight, first, points.weight[p]);
		fill_store(&to->approach, first, wide3_dot(normal, velocity));
	}
	return fill_friction(&motion, block, first, from, normal, &points, count);
}

static inline uint32_t fill_block(const struct soft_step *step, struct soft_block *block,
				  const struct soft_fill *from)
{
	uint32_t slips = 0, count = block->point_count;
	VALIDATE(count >= 1 && count <= MANIFOLD_POINTS_MAX);
	for (uint32_t first = 0; first < BLOCK_LANES; first += WIDE)
		slips |= count == 1 ? fill_some(step, block, first, from, 1)
				    : fill_some(step, block, first, from, count);
	for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {
		lanes zero = lanes_all(0);
		fill_masses(step, block->body_a, first, &block->mass_inv_a, block->inertia_inv_a);
		fill_masses(step, block->body_b, first, &block->mass_inv_b, block->inertia_inv_b);
		lanes_store(&block->tangent_total[0], first, zero);
		lanes_store(&block->tangent_total[1], first, zero);
		lanes_store(&block->pushed, first, zero);
		for (uint32_t p = 0; p < count; p++)
			lanes_store(&block->points[p].total, first, zero);
	}
	return slips;
}

#endif
