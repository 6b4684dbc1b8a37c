/* row.h: scalar constraints (rows), the same for every method, and blocks of rows.
 *
 * A row constrains one coordinate q of a few bodies: a gap between surfaces, a distance or an
 * angle; or only a speed along a direction (a tangent has no q).
 *
 *   q' = J v      J in parts, one per body with a slot; v = velocity of its mass centre and its spin
 *   q'' = J a + bias                bias = J' v
 *   Jᵀ λ          the force of multiplier λ: N (or N·m) at the level of accelerations, N·s at that of
 *                 velocities
 *
 * The row's set says which λ are allowed. With w the row's residual (q'' − wanted, q' − wanted or q):
 *
 *   ROW_FREE      any λ, w = 0                                       joints, bars, rods
 *   ROW_POSITIVE  λ ≥ 0, w ≥ 0, λ w = 0                              contacts, limits, ropes
 *   ROW_BOX       lower ≤ λ ≤ upper; w = 0 inside, w ≥ 0 at lower, w ≤ 0 at upper
 *                                                                    motors, springs with a greatest force
 *   ROW_PYRAMID   the same with ∓ limit, limit = μ λ_of + limit_min  friction, each axis separately
 *   ROW_CONE      the row and the next: (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_of², w against λ on the border
 *                                                                    friction, both axes together
 *
 * Normals point from the constraint's body a to its body b: positive λ parts them.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ROW_H
#define CAIRN_ENGINE_DYNAMICS_ROW_H

#include "server/base/base.h"
#include "server/engine/math/vec3.h"

/* In place of a body's slot: the world, or a body that does not take part. */
#define ROW_NO_BODY UINT32_MAX

/* A velocity (m/s, rad/s), a force (N, N·m), or one body's part of J; about the mass centre, world
 * axes. */
struct spatial {
	vec3 linear, angular;
};

static inline struct spatial spatial_zero(void)
{
	return (struct spatial){ vec3_zero(), vec3_zero() };
}

static inline double spatial_dot(struct spatial a, struct spatial b)
{
	return vec3_dot(a.linear, b.linear) + vec3_dot(a.angular, b.angular);
}

static inline struct spatial spatial_scale(struct spatial a, double s)
{
	return (struct spatial){ vec3_scale(a.linear, s), vec3_scale(a.angular, s) };
}

/* a + s b. */
static inline struct spatial spatial_mul_add(struct spatial a, struct spatial b, double s)
{
	return (struct spatial){ vec3_mul_add(a.linear, b.linear, s),
				 vec3_mul_add(a.angular, b.angular, s) };
}

/* J on one body, by its slot in the step. The world has no part, because it does not move. Most
 * rows have two parts; one between two bodies that points carry has up to eight. A body has at most
 * one part of a row. */
struct row_part {
	uint32_t slot;
	struct spatial on;
};

enum { ROW_PARTS_MAX = 8 };

struct jacobian {
	const struct row_part *parts; /* borrowed from the list that contains the row */
	uint32_t count;		      /* 0 … ROW_PARTS_MAX */
};

/* J v, with velocities by slot. */
static inline double jacobian_speed(struct jacobian j, const struct spatial *velocities)
{
	VALIDATE(j.count <= ROW_PARTS_MAX);
	double speed = 0;
	for (uint32_t k = 0; k < j.count; k++)
		speed += spatial_dot(j.parts[k].on, velocities[j.parts[k].slot]);
	return speed;
}

/* Adds Jᵀ λ to forces (or impulses) by slot. */
static inline void jacobian_push(struct jacobian j, double lambda, struct spatial *forces)
{
	VALIDATE(j.count <= ROW_PARTS_MAX);
	for (uint32_t k = 0; k < j.count; k++) {
		struct spatial *force = &forces[j.parts[k].slot];
		*force = spatial_mul_add(*force, j.parts[k].on, lambda);
	}
}

/* Two tangents of a unit normal that are the same for n and −n, so that they do not change when a and
 * b are swapped: those of vec3_frame for the one of n and −n whose largest component (of equal ones
 * the first) is positive. (n, t, k) is right-handed for that one. The largest, because rounding
 * decides the sign of a small component, and a floor's tangents must not flip from step to step. */
static inline vec3 row_frame_side(vec3 n)
{
	return vec3_get(n, vec3_largest_axis(vec3_abs(n))) < 0 ? vec3_negate(n) : n;
}

static inline void row_frame(vec3 n, vec3 *t, vec3 *k)
{
	vec3_frame(row_frame_side(n), t, k);
}

enum row_set { ROW_FREE, ROW_POSITIVE, ROW_BOX, ROW_PYRAMID, ROW_CONE };

/* Compliance of a row. The solver applies its own time step h. */
enum row_softness {
	ROW_RIGID,
	ROW_SPRING,    /* λ = −stiffness q − damping (q' − wanted): N/m (N·m/rad), N·s/m */
	ROW_FREQUENCY, /* hertz and ratio: the spring that the mass along the row makes of them */
	ROW_ROTOR, /* λ = −stiffness (q' − wanted), an impulse: kg, kg m²; wanted: the rotor's speed */
};

struct constraint_row {
	struct jacobian j;
	/* Error of q, m or rad: 0 satisfied, > 0 apart, < 0 violated (of a ROW_FREE row: violated
	 * if not 0). 0 if the row has no q. */
	double gap;
	/* Target of J v, m/s or rad/s: of a motor or a moving surface. */
	double wanted;
	/* J v at the given motions, m/s or rad/s: a contact's normal speed or slip speed. */
	double approach;
	/* J' v, m/s²; stated at ROW_ACCELERATION, else 0. */
	double bias;
	/* Of a tangent, 1: the component of the unit slip direction (cone) or its sign (pyramid); 0
	 * where it slips slower than slip_speed. Where it is not 0, λ = −slip μ_dynamic λ_of is
	 * data. */
	double slip;
	double lower, upper; /* of ROW_BOX: N or N·m, ±infinity allowed */
	/* Of ROW_PYRAMID and ROW_CONE: μ of `of`, 1; of a row about an axis (twist, rolling) a
	 * length, m. */
	double static_friction, dynamic_friction;
	double limit_min; /* N or N·m: the part of the limit independent of λ_of (a joint's dry friction) */
	double stiffness, damping; /* or hertz, ratio: as `softness` says */
	uint8_t set;		   /* enum row_set */
	uint8_t softness;	   /* enum row_softness */
	uint8_t of;		   /* of a friction row: the row of its block whose λ bounds it */
};

/* Identity of a block from tick to tick, by which a method finds the multipliers of its last solution. */
struct row_key {
	uint32_t child_a, child_b; /* pieces of the two shapes; 0 of a joint */
	uint32_t feature;	   /* of a contact's point; number of a joint's block */
};

/* Rows that belong together: one point of a contact (normal, then its tangents, then what turns),
 * the equalities of a joint, one limit, one motor. */
struct row_block {
	uint32_t constraint;   /* its index in the caller's list */
	uint32_t first, count; /* in the list of rows */
	struct row_key key;
	double restitution; /* 0 … 1, of its first row, applied to that row's `approach` */
	/* Of a contact with a friction axis: cosine and sine of the angle from the first tangent to it. The
	 * coefficients of the tangents' rows are those along the axis and across it, so a solver rotates
	 * both rows by this angle first. 0, 0: there is no axis. */
	double along[2];
};

/* A list of rows in the caller's arrays. */
struct row_list {
	struct constraint_row *rows; /* borrowed, as the others are */
	struct row_block *blocks;
	struct row_part *parts;
	uint32_t row_count, block_count, part_count;
	uint32_t row_capacity, block_capacity, part_capacity;
};

/* The next block, with no rows yet. */
static inline struct row_block *row_list_block(struct row_list *self, uint32_t constraint,
					       struct row_key key)
{
	ASSERT(self->block_count < self->block_capacity);
	struct row_block *block = &self->blocks[self->block_count++];
	*block = (struct row_block){ .constraint = constraint,
				     .first = self->row_count,
				     .key = key };
	return block;
}

/* The next row of the last block: free and rigid, all else 0, without parts. */
static inline struct constraint_row *row_list_row(struct row_list *self)
{
	ASSERT(self->block_count > 0);
	ASSERT(self->row_count < self->row_capacity);
	struct constraint_row *row = &self->rows[self->row_count++];
	self->blocks[self->block_count - 1].count++;
	/* Field by field, because compilers clear a struct of this size by a string instruction
	 * that costs more than the rest of a row. */
	row->j = (struct jacobian){ self->parts + self->part_count, 0 };
	row->gap = row->wanted = row->approach = row->bias = row->slip = 0;
	row->lower = row->upper = 0;
	row->static_friction = row->dynamic_friction = row->limit_min = 0;
	row->stiffness = row->damping = 0;
	row->set = ROW_FREE;
	row->softness = ROW_RIGID;
	row->of = 0;
	return row;
}

/* The next part of the last row; none for ROW_NO_BODY. */
static inline void row_list_part(struct row_list *self, uint32_t slot, struct spatial on)
{
	ASSERT(self->row_count > 0);
	if (slot == ROW_NO_BODY)
		return;
	ASSERT(self->part_count < self->part_capacity);
	VALIDATE(self->rows[self->row_count - 1].j.count < ROW_PARTS_MAX);
	self->parts[self->part_count++] = (struct row_part){ slot, on };
	self->rows[self->row_count - 1].j.count++;
}

/* J on body b of the motion of its point at `arm` along `axis`, and of its turning about `axis`. On
 * body a, from which the axis points away, J is the negative. */
static inline struct spatial spatial_along(vec3 arm, vec3 axis)
{
	return (struct spatial){ axis, vec3_cross(arm, axis) };
}
static inline struct spatial spatial_about(vec3 axis)
{
	return (struct spatial){ vec3_zero(), axis };
}
static inline struct spatial spatial_negate(struct spatial a)
{
	return (struct spatial){ vec3_negate(a.linear), vec3_negate(a.angular) };
}

#endif
