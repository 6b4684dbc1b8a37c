/* soft_contact.h: the kernels of soft_solve.c, which explains them, for LANES_WIDTH lanes at a time. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_CONTACT_H
#define CAIRN_ENGINE_METHODS_SOFT_CONTACT_H

#include "server/engine/methods/soft_sides.h"

/* m/s. Slower hits do not bounce, whatever their restitution: they are what a sweep leaves at rest. */
#define BOUNCE_LEAST 1e-2f

#if LANES_WIDTH == 16
ALWAYS_INLINE size_t lanes_next_block(void)
{
	return sizeof(struct soft_block);
}
#endif

/* ---- bodies of LANES_WIDTH lanes -------------------------------------------------------------- */

struct sides {
	struct lanes3 v_a, w_a, v_b, w_b;
	bool locks; /* the block's; a pass is compiled for blocks without locks, too */
};

/* Numbers of the lanes' bodies on a side (body_a or body_b of a block), and the lanes that write theirs. */
struct lane_bodies {
	uint32_t number[LANES_WIDTH];
};

ALWAYS_INLINE struct lane_bodies lane_bodies(const uint32_t *side, uint32_t first)
{
	struct lane_bodies bodies;
#if LANES_WIDTH == 16
	UNUSED(first);
	const uint32_t *next =
		(const uint32_t *)(const void *)((const char *)side + lanes_next_block());
	LANES_UNROLL
	for (uint32_t i = 0; i < BLOCK_LANES; i++) {
		bodies.number[i] = side[i];
		bodies.number[BLOCK_LANES + i] = next[i];
	}
#else
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		bodies.number[i] = side[first + i];
#endif
	return bodies;
}

ALWAYS_INLINE uint32_t lane_writes(const uint8_t *side, uint32_t first)
{
#if LANES_WIDTH == 16
	UNUSED(first);
	return (uint32_t)*side | (uint32_t)side[lanes_next_block()] << BLOCK_LANES;
#else
	return (uint32_t)*side >> first;
#endif
}

ALWAYS_INLINE struct sides sides_gather(const struct soft_body *bodies,
					const struct soft_block *block, uint32_t first)
{
	struct lane_bodies a = lane_bodies(block->body_a, first);
	struct lane_bodies b = lane_bodies(block->body_b, first);
	return (struct sides){ GATHER(bodies, a.number, velocity), GATHER(bodies, a.number, spin),
			       GATHER(bodies, b.number, velocity), GATHER(bodies, b.number, spin),
			       block->locks };
}

ALWAYS_INLINE void scatter_lanes(struct soft_body *bodies, const uint32_t *index, uint32_t writes,
				 struct lanes3 v, struct lanes3 w)
{
	float4 vs[LANES_WIDTH], ws[LANES_WIDTH];
	lanes_rows(v, vs);
	lanes_rows(w, ws);
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		if (writes >> i & 1) {
			bodies[index[i]].velocity = vs[i];
			bodies[index[i]].spin = ws[i];
		}
}

ALWAYS_INLINE void sides_scatter(struct soft_body *bodies, const struct soft_block *block,
				 uint32_t first, uint32_t only, const struct sides *s)
{
	struct lane_bodies a = lane_bodies(block->body_a, first);
	struct lane_bodies b = lane_bodies(block->body_b, first);
	scatter_lanes(bodies, a.number, lane_writes(&block->writes_a, first) & only, s->v_a,
		      s->w_a);
	scatter_lanes(bodies, b.number, lane_writes(&block->writes_b, first) & only, s->v_b,
		      s->w_b);
}

/* ---- one point, one manifold ------------------------------------------------------------------ */

/* Applies the normal impulse λ n of a point to both bodies. */
ALWAYS_INLINE void apply_normal(struct sides *s, const struct soft_block *block,
				const struct soft_point *point, uint32_t first,
				struct lanes3 normal, lanes impulse)
{
	lanes m_a = lanes_load(&block->mass_inv_a, first);
	lanes m_b = lanes_load(&block->mass_inv_b, first);
	struct lanes3 on_a = free_part(s->locks, &block->free_a, first, normal);
	struct lanes3 on_b = free_part(s->locks, &block->free_b, first, normal);
	s->v_a = lanes3_mul_sub(s->v_a, on_a, impulse * m_a);
	s->v_b = lanes3_mul_add(s->v_b, on_b, impulse * m_b);
	s->w_a = lanes3_mul_sub(s->w_a, lanes3_load(&point->spin_a, first), impulse);
	s->w_b = lanes3_mul_add(s->w_b, lanes3_load(&point->spin_b, first), impulse);
}

/* m/s: normal speed of a point by the differences of velocities; `approach` is that at the start. */
ALWAYS_INLINE lanes normal_change(const struct sides *s, const struct soft_point *point,
				  uint32_t first, struct lanes3 normal)
{
	return lanes3_dot(normal, lanes3_sub(s->v_b, s->v_a)) +
	       (lanes3_dot(lanes3_load(&point->j_b, first), s->w_b) -
		lanes3_dot(lanes3_load(&point->j_a, first), s->w_a));
}

ALWAYS_INLINE lanes normal_speed(const struct sides *s, const struct soft_point *point,
				 uint32_t first, struct lanes3 normal)
{
	return lanes_load(&point->approach, first) + normal_change(s, point, first, normal);
}

/* m/s: points that approach faster than this bounce; without end where there is no restitution. */
ALWAYS_INLINE lanes bounce_speed(const struct soft_step *step, const struct soft_block *block,
				 uint32_t first)
{
	lanes e = lanes_load(&block->restitution, first), one = lanes_all(1);
	lanes speed = lanes_all(step->restitution_speed) * (one - e);
	return lanes_select(e > lanes_all(0), lanes_max(speed, lanes_all(BOUNCE_LEAST)),
			    lanes_all(SOFT_NOWHERE));
}

ALWAYS_INLINE void solve_normals(const struct soft_step *step, struct soft_block *block,
				 uint32_t first, struct sides *s, bool biased, lanes_mask only)
{
	VALIDATE(block->point_count >= 1 && block->point_count <= MANIFOLD_POINTS_MAX);
	struct lanes3 normal = lanes3_load(&block->normal, first);
	lanes zero = lanes_all(0), one = lanes_all(1);
	lanes h_inv = lanes_all(step->h_inv), push_most = lanes_all(-step->push_speed);
	lanes rate = lanes_load(&block->bias_rate, first);
	lanes mass_scale = lanes_load(&block->mass_scale, first);
	lanes impulse_scale = lanes_load(&block->impulse_scale, first);
	lanes most = zero, rest = zero;
	bool waits = !biased && block->bounces;
	/* Points that turned into the other body, which no bounce saw coming. */
	lanes_mask late = lanes_all(step->energy ? 1 : 0) > zero;
	if (waits)
		rest = bounce_speed(step, block, first);
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		lanes separation = lanes_load(&point->gap, first);
		lanes_mask apart = separation > zero;
		lanes bias = lanes_select(apart, separation * h_inv, zero);
		lanes hard = one, kept = zero;
		if (biased) {
			lanes pushed = lanes_max(separation * rate, push_most);
			bias = lanes_select(apart, bias, pushed);
			hard = lanes_select(apart, one, mass_scale);
			kept = lanes_select(apart, zero, impulse_scale);
		}
		lanes present = normal_speed(s, point, first, normal), speed = present + bias;
		lanes before = lanes_load(&point->impulse, first);
		lanes after =
			before - (lanes_load(&point->mass, first) * hard * speed + kept * before);
		lanes_mask acts = only;
		if (waits) /* for its bounce, in the next sub-step */
			acts &= ~((apart | late) & (present < -rest));
		after = lanes_select(acts, lanes_max(after, zero), before);
		lanes_store(&point->impulse, first, after);
		most = lanes_max(most, after);
		if (!biased)
			lanes_store(&point->total, first,
				    lanes_load(&point->total, first) +
					    lanes_select(only, after, zero));
		apply_normal(s, block, point, first, normal, after - before);
	}
	lanes_store(&block->pushed, first, lanes_max(most, lanes_load(&block->pushed, first)));
}

/* Applies an impulse in the tangent plane at the friction centre. */
ALWAYS_INLINE void apply_tangent(struct sides *s, const struct soft_block *block, uint32_t first,
				 struct lanes3 impulse)
{
	struct lanes3 arm_a = lanes3_load(&block->arm_a, first);
	struct lanes3 arm_b = lanes3_load(&block->arm_b, first);
	struct lanes3 on_a = free_part(s->locks, &block->free_a, first, impulse);
	struct lanes3 on_b = free_part(s->locks, &block->free_b, first, impulse);
	s->v_a = lanes3_mul_sub(s->v_a, on_a, lanes_load(&block->mass_inv_a, first));
	s->v_b = lanes3_mul_add(s->v_b, on_b, lanes_load(&block->mass_inv_b, first));
	s->w_a = lanes3_sub(
		s->w_a, tensor_lanes(block->inertia_inv_a, first, lanes3_cross(arm_a, impulse)));
	s->w_b = lanes3_add(
		s->w_b, tensor_lanes(block->inertia_inv_b, first, lanes3_cross(arm_b, impulse)));
}

ALWAYS_INLINE void apply_twist(struct sides *s, const struct soft_block *block, uint32_t first,
			       lanes impulse)
{
	s->w_a = lanes3_mul_sub(s->w_a, lanes3_load(&block->twist_a, first), impulse);
	s->w_b = lanes3_mul_add(s->w_b, lanes3_load(&block->twist_b, first), impulse);
}

/* `most`: N m s, the bound. */
ALWAYS_INLINE void solve_twist(struct soft_block *block, uint32_t first, struct sides *s,
			       struct lanes3 normal, lanes most, lanes_mask only)
{
	lanes speed = lanes_load(&block->spin_slip, first) +
		      lanes3_dot(normal, lanes3_sub(s->w_b, s->w_a));
	lanes before = lanes_load(&block->twist_impulse, first);
	lanes after = before - lanes_load(&block->twist_mass, first) * speed;
	after = lanes_min(lanes_max(after, -most), most);
	after = lanes_select(only, after, before);
	lanes_store(&block->twist_impulse, first, after);
	apply_twist(s, block, first, after - before);
}

/* Friction with a coefficient of its own along the first tangent: each axis is bounded by itself (ch1-3
 * P-26), the second after the first. */
ALWAYS_INLINE void bound_by_axis(const struct soft_block *block, const struct soft_rough *rough,
				 uint32_t first, lanes load, lanes free1, lanes free2,
				 lanes *after1, lanes *after2)
{
	lanes_mask axis = lanes_load(&rough->has_axis, first) > lanes_all(0);
	lanes most1 = lanes_load(&rough->along, first) * load;
	lanes most2 = lanes_load(&block->friction, first) * load;
	lanes bound1 = lanes_min(lanes_max(free1, -most1), most1);
	lanes m11 = lanes_load(&block->tangent_mass[0], first);
	lanes turn = lanes_load(&block->tangent_mass[2], first) * lanes_inverse(m11);
	lanes bound2 = free2 + turn * (bound1 - free1);
	bound2 = lanes_min(lanes_max(bound2, -most2), most2);
	*after1 = lanes_select(axis, bound1, *after1);
	*after2 = lanes_select(axis, bound2, *after2);
}

ALWAYS_INLINE void solve_tangents(const struct soft_step *step, struct soft_block *block,
				  uint32_t first, struct sides *s, struct lanes3 normal, lanes load,
				  lanes_mask only)
{
	struct lanes3 t1 = lanes3_load(&block->tangent, first), t2 = lanes3_cross(normal, t1);
	struct lanes3 at_a = lanes3_cross(s->w_a, lanes3_load(&block->arm_a, first));
	struct lanes3 at_b = lanes3_cross(s->w_b, lanes3_load(&block->arm_b, first));
	struct lanes3 slip = lanes3_sub(lanes3_add(s->v_b, at_b), lanes3_add(s->v_a, at_a));
	lanes slip1 = lanes_load(&block->slip[0], first) + lanes3_dot(slip, t1);
	lanes slip2 = lanes_load(&block->slip[1], first) + lanes3_dot(slip, t2);
	lanes m11 = lanes_load(&block->tangent_mass[0], first);
	lanes m22 = lanes_load(&block->tangent_mass[1], first);
	lanes m12 = lanes_load(&block->tangent_mass[2], first);
	lanes before1 = lanes_load(&block->tangent_impulse[0], first);
	lanes before2 = lanes_load(&block->tangent_impulse[1], first);
	lanes after1 = before1 - (m11 * slip1 + m12 * slip2);
	lanes after2 = before2 - (m12 * slip1 + m22 * slip2);
	lanes most = lanes_load(&block->friction, first) * load, one = lanes_all(1);
	lanes squared = after1 * after1 + after2 * after2;
	lanes_mask slides = squared > most * most;
	lanes scale =
		lanes_select(slides, most / lanes_sqrt(lanes_select(slides, squared, one)), one);
	lanes free1 = after1, free2 = after2;
	after1 *= scale;
	after2 *= scale;
	if (block->rough)
		bound_by_axis(block, &step->roughs[block - step->blocks], first, load, free1, free2,
			      &after1, &after2);
	after1 = lanes_select(only, after1, before1);
	after2 = lanes_select(only, after2, before2);
	lanes_store(&block->tangent_impulse[0], first, after1);
	lanes_store(&block->tangent_impulse[1], first, after2);
	lanes zero = lanes_all(0);
	lanes_store(&block->tangent_total[0], first,
		    lanes_load(&block->tangent_total[0], first) + lanes_select(only, after1, zero));
	lanes_store(&block->tangent_total[1], first,
		    lanes_load(&block->tangent_total[1], first) + lanes_select(only, after2, zero));
	struct lanes3 impulse =
		lanes3_mul_add(lanes3_scale(t1, after1 - before1), t2, after2 - before2);
	apply_tangent(s, block, first, impulse);
}

/* Applies an angular impulse about an axis. */
ALWAYS_INLINE void apply_couple(struct sides *s, const struct soft_block *block, uint32_t first,
				struct lanes3 couple)
{
	s->w_a = lanes3_sub(s->w_a, tensor_lanes(block->inertia_inv_a, first, couple));
	s->w_b = lanes3_add(s->w_b, tensor_lanes(block->inertia_inv_b, first, couple));
}

/* Rolling friction: a couple in the tangent plane against the relative spin, of at most the rolling
 * length times the load. It begins each sub-step without an impulse, and therefore acts in both sweeps. */
ALWAYS_INLINE void solve_rolling(const struct soft_step *step, struct soft_block *block,
				 uint32_t first, struct sides *s, struct lanes3 normal, lanes load,
				 bool begins, lanes_mask only)
{
	struct soft_rough *rough = &step->roughs[block - step->blocks];
	struct lanes3 t1 = lanes3_load(&block->tangent, first), t2 = lanes3_cross(normal, t1);
	struct lanes3 spin =
		lanes3_add(lanes3_load(&rough->spin, first), lanes3_sub(s->w_b, s->w_a));
	struct lanes3 r1 = lanes3_add(tensor_lanes(block->inertia_inv_a, first, t1),
				      tensor_lanes(block->inertia_inv_b, first, t1));
	struct lanes3 r2 = lanes3_add(tensor_lanes(block->inertia_inv_a, first, t2),
				      tensor_lanes(block->inertia_inv_b, first, t2));
	lanes k11 = lanes3_dot(t1, r1), k22 = lanes3_dot(t2, r2), k12 = lanes3_dot(t1, r2);
	lanes inverse = lanes_inverse(k11 * k22 - k12 * k12), zero = lanes_all(0);
	struct lanes3 rolled = lanes3_load(&rough->rolled, first);
	lanes_mask kept = begins ? ~only : only | ~only;
	lanes before1 = lanes_select(kept, lanes3_dot(rolled, t1), zero);
	lanes before2 = lanes_select(kept, lanes3_dot(rolled, t2), zero);
	lanes w1 = lanes3_dot(spin, t1), w2 = lanes3_dot(spin, t2);
	lanes after1 = before1 - inverse * (k22 * w1 - k12 * w2);
	lanes after2 = before2 - inverse * (k11 * w2 - k12 * w1);
	lanes most = lanes_load(&rough->rolling, first) * load, one = lanes_all(1);
	lanes square = after1 * after1 + after2 * after2;
	lanes_mask rolls = square > most * most;
	lanes scale = lanes_select(rolls, most / lanes_sqrt(lanes_select(rolls, square, one)), one);
	after1 = lanes_select(only, after1 * scale, before1);
	after2 = lanes_select(only, after2 * scale, before2);
	struct lanes3 after = lanes3_mul_add(lanes3_scale(t1, after1), t2, after2);
	lanes3_store(&rough->rolled, first, after);
	apply_couple(s, block, first,
		     lanes3_mul_add(lanes3_scale(t1, after1 - before1), t2, after2 - before2));
}

ALWAYS_INLINE lanes load_of(const struct soft_block *block, uint32_t first)
{
	lanes load = lanes_all(0);
	for (uint32_t p = 0; p < block->point_count; p++)
		load += lanes_load(&block->points[p].impulse, first);
	return load;
}

ALWAYS_INLINE void solve_friction(const struct soft_step *step, struct soft_block *block,
				  uint32_t first, struct sides *s, lanes_mask only)
{
	struct lanes3 normal = lanes3_load(&block->normal, first);
	if (!block->twists && !block->rough) {
		solve_tangents(step, block, first, s, normal, load_of(block, first), only);
		return;
	}
	lanes load = lanes_all(0), moment = lanes_all(0);
	for (uint32_t p = 0; p < block->point_count; p++) {
		lanes impulse = lanes_load(&block->points[p].impulse, first);
		load += impulse;
		moment += impulse * lanes_load(&block->points[p].lever, first);
	}
	moment *= lanes_load(&block->friction, first);
	if (block->rough)
		moment += load * lanes_load(&step->roughs[block - step->blocks].spinning, first);
	solve_twist(block, first, s, normal, moment, only);
	solve_tangents(step, block, first, s, normal, load, only);
	if (block->rough)
		solve_rolling(step, block, first, s, normal, load, false, only);
}

/* ---- passes ----------------------------------------------------------------------------------- */

/* Each pass on LANES_WIDTH lanes of a block; `only` masks the lanes that change. */

ALWAYS_INLINE void half_warm(const struct soft_step *step, struct soft_block *block, uint32_t first,
			     struct sides *s, lanes_mask only)
{
	UNUSED(step);
	lanes zero = lanes_all(0);
	struct lanes3 normal = lanes3_load(&block->normal, first);
	struct lanes3 t1 = lanes3_load(&block->tangent, first), t2 = lanes3_cross(normal, t1);
	for (uint32_t p = 0; p < block->point_count; p++) {
		lanes impulse = lanes_load(&block->points[p].impulse, first);
		apply_normal(s, block, &block->points[p], first, normal,
			     lanes_select(only, impulse, zero));
	}
	lanes along1 = lanes_load(&block->tangent_impulse[0], first);
	lanes along2 = lanes_load(&block->tangent_impulse[1], first);
	apply_tangent(s, block, first,
		      lanes3_mul_add(lanes3_scale(t1, lanes_select(only, along1, zero)), t2,
				     lanes_select(only, along2, zero)));
	if (!block->twists && !block->rough)
		return;
	lanes turning = lanes_load(&block->twist_impulse, first);
	apply_twist(s, block, first, lanes_select(only, turning, zero));
}

ALWAYS_INLINE void half_solve(const struct soft_step *step, struct soft_block *block,
			      uint32_t first, struct sides *s, lanes_mask only)
{
	solve_normals(step, block, first, s, true, only);
	if (block->rough)
		solve_rolling(step, block, first, s, lanes3_load(&block->normal, first),
			      load_of(block, first), true, only);
}

ALWAYS_INLINE void half_relax(const struct soft_step *step, struct soft_block *block,
			      uint32_t first, struct sides *s, lanes_mask only)
{
	solve_normals(step, block, first, s, false, only);
	solve_friction(step, block, first, s, only);
}

#if LANES_WIDTH == 16
/* Whether a block and the next one are solved together: as many points, and nothing that is of a block
 * (its row of rough friction, its bounces) or of few. */
ALWAYS_INLINE bool is_pair(const struct soft_block *block)
{
	const struct soft_block *next = block + 1;
	bool plain = !block->serial && !block->bounces && !block->rough && !block->locks;
	return plain && !next->serial && !next->bounces && !next->rough && !next->locks &&
	       next->twists == block->twists && next->point_count == block->point_count;
}

/* The functions of a pass: pairs of blocks here, others by `eight`, the same pass of eight lanes. */
#define PASS_PAIR(half, eight)                                                                     \
	static void half##_pair(const struct soft_step *step, struct soft_block *block)            \
	{                                                                                          \
		struct sides s = sides_gather(step->bodies, block, 0);                             \
		s.locks = false;                                                                   \
		half(step, block, 0, &s, ~(lanes_mask){ 0 });                                      \
		sides_scatter(step->bodies, block, 0, ~0u, &s);                                    \
	}                                                                                          \
	static void half##_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)       \
	{                                                                                          \
		const struct colour_work *work = context;                                          \
		for (uint32_t i = from; i < to;) {                                                 \
			struct soft_block *block = &work->step->blocks[work->colour->first + i];   \
			bool pair = i + 1 < to && is_pair(block);                                  \
			if (pair)                                                                  \
				half##_pair(work->step, block);                                    \
			else                                                                       \
				eight(i, i + 1, worker, context);                                  \
			i += pair ? 2 : 1;                                                         \
		}                                                                                  \
	}
#endif

/* The functions of a pass: gather, solve, scatter; of a serial block lane by lane. */
#define PASS_BLOCK(half)                                                                           \
	static void half##_block(const struct soft_step *step, struct soft_block *block)           \
	{                                                                                          \
		const lanes_mask all = ~(lanes_mask){ 0 };                                         \
		for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {              \
			struct sides s = sides_gather(step->bodies, block, first);                 \
			if (s.locks)                                                               \
				half(step, block, first, &s, all);                                 \
			else                                                                       \
				half(step, block, first, &s, all);                                 \
			sides_scatter(step->bodies, block, first, ~0u, &s);                        \
		}                                                                                  \
	}                                                                                          \
	static void half##_serial(const struct soft_step *step, struct soft_block *block)          \
	{                                                                                          \
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {                              \
			uint32_t first = lane / LANES_WIDTH * LANES_WIDTH, at = lane - first;      \
			lanes_mask only = { 0 };                                                   \
			only[at] = -1;                                                             \
			struct sides s = sides_gather(step->bodies, block, first);                 \
			half(step, block, first, &s, only);                                        \
			sides_scatter(step->bodies, block, first, 1u << at, &s);                   \
		}                                                                                  \
	}                                                                                          \
	static void half##_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)       \
	{                                                                                          \
		UNUSED(worker);                                                                    \
		const struct colour_work *work = context;                                          \
		for (uint32_t i = from; i < to; i++) {                                             \
			struct soft_block *block = &work->step->blocks[work->colour->first + i];   \
			(block->serial ? half##_serial : half##_block)(work->step, block);         \
		}                                                                                  \
	}

#endif
