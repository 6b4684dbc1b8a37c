/* soft_solve.c: the passes of a sub-step over contacts, four lanes at a time.
 *
 * Colours are solved one after the other, blocks of a colour in any order or at once, because they
 * write to no common body. Of a block, four lanes at a time are gathered from their bodies, solved
 * point after point, and scattered back; bodies that are not dynamic are gathered and never written.
 *
 * Velocities are differences from the step's start; J v of the start is a constant (`approach`),
 * computed in double. soft_arms.c computes the separation s at the start and the end of each sub-step.
 *
 *   solve   s > 0: may close by s within the sub-step: λ ← max(λ − m (J v + s/h), 0)
 *           s ≤ 0: the soft constraint of soft_prepare.c, pushed apart by at most push_speed
 *   relax   s > 0 as above, s ≤ 0: J v = 0 without bias, which removes the speed of the push; then
 *           friction, because only after relaxing does a new soft contact carry its whole load, which
 *           bounds it
 *   bounce  before `solve`: points that would pass their gap within the sub-step and are fast enough leave
 *           with e times their speed. Until then relaxation does not slow them down.
 *
 * Friction on the whole manifold: |λ_t| ≤ μ Σλ_n, and for the twist |λ| ≤ Σ((μ lever + spinning)·λ_n);
 * against rolling |λ| ≤ rolling Σλ_n. With a friction axis each tangent has a coefficient of its own.
 */
#include "server/engine/methods/soft_sides.h"

/* Blocks. A block takes 0.1 to 0.2 µs, waking the other workers several µs, so a colour of at most
 * SOLVE_ALONE blocks is faster on the calling thread. SOLVE_GRAIN is a worker's share at a time. */
enum { SOLVE_ALONE = 64, SOLVE_GRAIN = 16 };

/* Sweeps of restitution in a sub-step, and over the points of a manifold. */
enum { BOUNCE_ROUNDS = 4, BOUNCE_SWEEPS = 8 };

/* m/s. Slower hits do not bounce, whatever their restitution: they are what a sweep leaves at rest. */
#define BOUNCE_LEAST 1e-2f

/* ---- bodies of four lanes --------------------------------------------------------------------- */

struct sides {
	struct lanes3 v_a, w_a, v_b, w_b;
};

LANES_INLINE struct sides sides_gather(const struct soft_body *bodies,
				       const struct soft_block *block, uint32_t first)
{
	const uint32_t *a = &block->body_a[first], *b = &block->body_b[first];
	return (struct sides){ GATHER(bodies, a, velocity), GATHER(bodies, a, spin),
			       GATHER(bodies, b, velocity), GATHER(bodies, b, spin) };
}

LANES_INLINE void scatter_lanes(struct soft_body *bodies, const uint32_t *index, uint32_t writes,
				struct lanes3 v, struct lanes3 w)
{
	lanes v3 = lanes_all(0), w3 = lanes_all(0);
	lanes_transpose(&v.x, &v.y, &v.z, &v3);
	lanes_transpose(&w.x, &w.y, &w.z, &w3);
	const lanes vs[LANES_WIDTH] = { v.x, v.y, v.z, v3 };
	const lanes ws[LANES_WIDTH] = { w.x, w.y, w.z, w3 };
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		if (writes >> i & 1) {
			bodies[index[i]].velocity = vs[i];
			bodies[index[i]].spin = ws[i];
		}
}

LANES_INLINE void sides_scatter(struct soft_body *bodies, const struct soft_block *block,
				uint32_t first, uint32_t only, const struct sides *s)
{
	scatter_lanes(bodies, &block->body_a[first], (uint32_t)block->writes_a >> first & only,
		      s->v_a, s->w_a);
	scatter_lanes(bodies, &block->body_b[first], (uint32_t)block->writes_b >> first & only,
		      s->v_b, s->w_b);
}

/* ---- one point, one manifold ------------------------------------------------------------------ */

struct colour_work {
	struct soft_step *step;
	const struct soft_colour *colour;
};

/* Applies the normal impulse λ n of a point to both bodies. */
LANES_INLINE void apply_normal(struct sides *s, const struct soft_block *block,
			       const struct soft_point *point, uint32_t first, struct lanes3 normal,
			       lanes impulse)
{
	lanes m_a = lanes_load(&block->mass_inv_a, first);
	lanes m_b = lanes_load(&block->mass_inv_b, first);
	s->v_a = lanes3_mul_sub(s->v_a, normal, impulse * m_a);
	s->v_b = lanes3_mul_add(s->v_b, normal, impulse * m_b);
	s->w_a = lanes3_mul_sub(s->w_a, lanes3_load(&point->spin_a, first), impulse);
	s->w_b = lanes3_mul_add(s->w_b, lanes3_load(&point->spin_b, first), impulse);
}

/* m/s: normal speed of a point by the differences of velocities; `approach` is that at the start. */
LANES_INLINE lanes normal_change(const struct sides *s, const struct soft_point *point,
				 uint32_t first, struct lanes3 normal)
{
	return lanes3_dot(normal, lanes3_sub(s->v_b, s->v_a)) +
	       (lanes3_dot(lanes3_load(&point->j_b, first), s->w_b) -
		lanes3_dot(lanes3_load(&point->j_a, first), s->w_a));
}

LANES_INLINE lanes normal_speed(const struct sides *s, const struct soft_point *point,
				uint32_t first, struct lanes3 normal)
{
	return lanes_load(&point->approach, first) + normal_change(s, point, first, normal);
}

/* m/s: points that approach faster than this bounce; without end where there is no restitution. */
LANES_INLINE lanes bounce_speed(const struct soft_step *step, const struct soft_block *block,
				uint32_t first)
{
	lanes e = lanes_load(&block->restitution, first), one = lanes_all(1);
	lanes speed = lanes_all(step->restitution_speed) * (one - e);
	return lanes_select(e > lanes_all(0), lanes_max(speed, lanes_all(BOUNCE_LEAST)),
			    lanes_all(SOFT_NOWHERE));
}

LANES_INLINE void solve_normals(const struct soft_step *step, struct soft_block *block,
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
			acts &= ~(apart & (present < -rest));
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
LANES_INLINE void apply_tangent(struct sides *s, const struct soft_block *block, uint32_t first,
				struct lanes3 impulse)
{
	struct lanes3 arm_a = lanes3_load(&block->arm_a, first);
	struct lanes3 arm_b = lanes3_load(&block->arm_b, first);
	s->v_a = lanes3_mul_sub(s->v_a, impulse, lanes_load(&block->mass_inv_a, first));
	s->v_b = lanes3_mul_add(s->v_b, impulse, lanes_load(&block->mass_inv_b, first));
	s->w_a = lanes3_sub(
		s->w_a, tensor_lanes(block->inertia_inv_a, first, lanes3_cross(arm_a, impulse)));
	s->w_b = lanes3_add(
		s->w_b, tensor_lanes(block->inertia_inv_b, first, lanes3_cross(arm_b, impulse)));
}

LANES_INLINE void apply_twist(struct sides *s, const struct soft_block *block, uint32_t first,
			      lanes impulse)
{
	s->w_a = lanes3_mul_sub(s->w_a, lanes3_load(&block->twist_a, first), impulse);
	s->w_b = lanes3_mul_add(s->w_b, lanes3_load(&block->twist_b, first), impulse);
}

/* `most`: N m s, the bound. */
LANES_INLINE void solve_twist(struct soft_block *block, uint32_t first, struct sides *s,
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
LANES_INLINE void bound_by_axis(const struct soft_block *block, const struct soft_rough *rough,
				uint32_t first, lanes load, lanes free1, lanes free2, lanes *after1,
				lanes *after2)
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

LANES_INLINE void solve_tangents(const struct soft_step *step, struct soft_block *block,
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
LANES_INLINE void apply_couple(struct sides *s, const struct soft_block *block, uint32_t first,
			       struct lanes3 couple)
{
	s->w_a = lanes3_sub(s->w_a, tensor_lanes(block->inertia_inv_a, first, couple));
	s->w_b = lanes3_add(s->w_b, tensor_lanes(block->inertia_inv_b, first, couple));
}

/* Rolling friction: a couple in the tangent plane against the relative spin, of at most the rolling
 * length times the load. It begins each sub-step without an impulse, and therefore acts in both sweeps. */
LANES_INLINE void solve_rolling(const struct soft_step *step, struct soft_block *block,
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

LANES_INLINE lanes load_of(const struct soft_block *block, uint32_t first)
{
	lanes load = lanes_all(0);
	for (uint32_t p = 0; p < block->point_count; p++)
		load += lanes_load(&block->points[p].impulse, first);
	return load;
}

LANES_INLINE void solve_friction(const struct soft_step *step, struct soft_block *block,
				 uint32_t first, struct sides *s, lanes_mask only)
{
	struct lanes3 normal = lanes3_load(&block->normal, first);
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

/* Each pass on four lanes of a block; `only` masks the lanes that change. */

LANES_INLINE void half_warm(const struct soft_step *step, struct soft_block *block, uint32_t first,
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
	lanes turning = lanes_load(&block->twist_impulse, first);
	apply_twist(s, block, first, lanes_select(only, turning, zero));
}

LANES_INLINE void half_solve(const struct soft_step *step, struct soft_block *block, uint32_t first,
			     struct sides *s, lanes_mask only)
{
	solve_normals(step, block, first, s, true, only);
	if (block->rough)
		solve_rolling(step, block, first, s, lanes3_load(&block->normal, first),
			      load_of(block, first), true, only);
}

LANES_INLINE void half_relax(const struct soft_step *step, struct soft_block *block, uint32_t first,
			     struct sides *s, lanes_mask only)
{
	solve_normals(step, block, first, s, false, only);
	solve_friction(step, block, first, s, only);
}

/* ---- restitution: before the bodies move ---- */

/* A point is hit in a sub-step if it would pass its gap s. It bounces before the bodies move: with u its
 * speed before the sub-step's forces and a the acceleration between the bodies, it would arrive at the
 * surface with √(u² − 2 a s) and pass the place where it is now on its way back with
 *   √(e² (u² − 2 a s) + 2 a s),
 * so no energy is lost by where in the sub-step it turns. n a² h² is what a tick of n sub-steps loses of
 * u². Sets `leave` to that speed, or to 0 for a point that is not hit. */
LANES_INLINE lanes_mask find_hits(const struct soft_step *step, const struct soft_block *block,
				  uint32_t first, const struct sides *s, lanes_mask only,
				  lanes leave[MANIFOLD_POINTS_MAX])
{
	const uint32_t *a = &block->body_a[first], *b = &block->body_b[first];
	struct lanes3 normal = lanes3_load(&block->normal, first);
	struct lanes3 forced =
		lanes3_sub(GATHER(step->drives, b, change), GATHER(step->drives, a, change));
	lanes zero = lanes_all(0), e = lanes_load(&block->restitution, first);
	lanes pull = lanes3_dot(normal, forced); /* m/s a sub-step */
	lanes lost = pull * pull * lanes_all((float)step->substeps);
	lanes least = bounce_speed(step, block, first);
	lanes_mask any = zero > zero;
	for (uint32_t p = 0; p < block->point_count; p++) {
		const struct soft_point *point = &block->points[p];
		lanes gap = lanes_load(&point->gap, first);
		lanes speed = normal_speed(s, point, first, normal), before = speed - pull;
		lanes fall = pull * lanes_all(2 * step->h_inv) * gap;
		lanes square = lanes_max(before * before - fall + lost, zero);
		square = lanes_max(e * e * square + fall, zero);
		lanes_mask hit = only & (before < -least) & (speed < -gap * lanes_all(step->h_inv));
		any |= hit;
		leave[p] = lanes_select(hit, lanes_sqrt(square) + pull, zero);
	}
	return any;
}

/* Friction of a bounce: it may stop the slip at the friction centre. */
LANES_INLINE void rub(const struct soft_step *step, struct soft_block *block, uint32_t first,
		      struct sides *s, struct lanes3 normal, lanes load)
{
	lanes kept1 = lanes_load(&block->tangent_impulse[0], first), zero = lanes_all(0);
	lanes kept2 = lanes_load(&block->tangent_impulse[1], first);
	lanes_store(&block->tangent_impulse[0], first, zero);
	lanes_store(&block->tangent_impulse[1], first, zero);
	solve_tangents(step, block, first, s, normal, load, load > zero);
	lanes_store(&block->tangent_impulse[0], first, kept1);
	lanes_store(&block->tangent_impulse[1], first, kept2);
}

/* The points of a manifold bounce together, manifolds one after the other: each of these conserves what
 * it should. Impulses are added to the totals at once, because they are no guess for what follows. */
LANES_INLINE void half_bounce(const struct soft_step *step, struct soft_block *block,
			      uint32_t first, struct sides *s, lanes_mask only)
{
	lanes leave[MANIFOLD_POINTS_MAX], push[MANIFOLD_POINTS_MAX];
	if (!block->bounces || !lanes_any(find_hits(step, block, first, s, only, leave)))
		return;
	struct lanes3 normal = lanes3_load(&block->normal, first);
	lanes zero = lanes_all(0), load = zero;
	block->strikes = true;
	for (uint32_t p = 0; p < block->point_count; p++)
		push[p] = zero;
	uint32_t rounds = block->point_count > 1 ? BOUNCE_SWEEPS : 1;
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t p = 0; p < block->point_count; p++) {
			struct soft_point *point = &block->points[p];
			lanes short_of = leave[p] - normal_speed(s, point, first, normal);
			lanes after = push[p] + lanes_load(&point->mass, first) * short_of;
			after = lanes_select(leave[p] > zero, lanes_max(after, zero), zero);
			apply_normal(s, block, point, first, normal, after - push[p]);
			push[p] = after;
		}
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		lanes_store(&point->total, first, lanes_load(&point->total, first) + push[p]);
		load += push[p];
	}
	lanes_store(&block->pushed, first, lanes_max(load, lanes_load(&block->pushed, first)));
	rub(step, block, first, s, normal, load);
}

/* The greatest speed at which touching points with an impulse still close or separate, by block. */
static void residual_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *step = context;
	lanes zero = lanes_all(0);
	for (uint32_t i = from; i < to; i++) {
		struct soft_block *block = &step->blocks[i];
		lanes most = zero;
		for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {
			struct sides s = sides_gather(step->bodies, block, first);
			struct lanes3 normal = lanes3_load(&block->normal, first);
			for (uint32_t p = 0; p < block->point_count; p++) {
				const struct soft_point *point = &block->points[p];
				lanes speed = normal_speed(&s, point, first, normal);
				lanes_mask counts = (lanes_load(&point->impulse, first) > zero) &
						    (lanes_load(&point->gap, first) <= zero);
				speed = lanes_select(counts, lanes_max(speed, -speed), zero);
				most = lanes_max(most, speed);
			}
		}
		block->residual = 0;
		for (uint32_t lane = 0; lane < LANES_WIDTH; lane++)
			block->residual = MAX_OF(block->residual, most[lane]);
	}
}

/* The functions of a pass: gather four lanes, solve, scatter; of a serial block lane by lane. */
#define PASS_BLOCK(half)                                                                           \
	static void half##_block(const struct soft_step *step, struct soft_block *block)           \
	{                                                                                          \
		const lanes_mask all = { -1, -1, -1, -1 };                                         \
		for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {              \
			struct sides s = sides_gather(step->bodies, block, first);                 \
			half(step, block, first, &s, all);                                         \
			sides_scatter(step->bodies, block, first, 0xf, &s);                        \
		}                                                                                  \
	}                                                                                          \
	static void half##_serial(const struct soft_step *step, struct soft_block *block)          \
	{                                                                                          \
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {                              \
			uint32_t first = lane / LANES_WIDTH * LANES_WIDTH, at = lane - first;      \
			lanes_mask only = { -(at == 0), -(at == 1), -(at == 2), -(at == 3) };      \
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

PASS_BLOCK(half_warm)
PASS_BLOCK(half_solve)
PASS_BLOCK(half_relax)
PASS_BLOCK(half_bounce)

/* Runs a pass, colour after colour. The serial colour is one piece, because its blocks share bodies. */
static void run_pass(struct soft_step *self, parallel_piece *piece)
{
	for (uint32_t c = 0; c < self->colour_count; c++) {
		const struct soft_colour *colour = &self->colours[c];
		struct colour_work work = { self, colour };
		ASSERT(colour->first < colour->last && colour->last <= self->block_count);
		uint32_t count = colour->last - colour->first;
		if (self->blocks[colour->first].serial || count <= SOLVE_ALONE)
			piece(0, count, 0, &work);
		else
			parallel_run(self->dynamics->parallel, count, SOLVE_GRAIN, piece, &work);
	}
}

void soft_warm_start(struct soft_step *self)
{
	run_pass(self, half_warm_piece);
}

void soft_solve(struct soft_step *self)
{
	run_pass(self, half_solve_piece);
}

void soft_relax(struct soft_step *self)
{
	run_pass(self, half_relax_piece);
}

/* Repeated, because a body that bounces may hit the next one within the sub-step. */
void soft_bounce(struct soft_step *self)
{
	bool any = self->bounces;
	for (uint32_t round = 0; round < BOUNCE_ROUNDS && any; round++) {
		run_pass(self, half_bounce_piece);
		any = false;
		for (uint32_t b = 0; b < self->block_count; b++) {
			any |= self->blocks[b].strikes;
			self->blocks[b].strikes = false;
		}
	}
}

/* Marks the bodies on which some impulse of the block acted. */
static void mark_pushed(struct soft_step *self, const struct soft_block *block)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (!(block->pushed.at[lane] > 0))
			continue;
		VALIDATE(block->contact[lane] != DYNAMICS_NONE);
		if (block->writes_a >> lane & 1)
			self->drives[block->body_a[lane]].pushed = true;
		if (block->writes_b >> lane & 1)
			self->drives[block->body_b[lane]].pushed = true;
	}
}

void soft_residual(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->block_count, SOLVE_GRAIN, residual_piece,
		     self);
	float most = 0;
	uint32_t colours = self->colour_count;
	ASSERT(colours == 0 || self->colours[colours - 1].last == self->block_count);
	for (uint32_t b = 0; b < self->block_count; b++) {
		most = MAX_OF(most, self->blocks[b].residual);
		mark_pushed(self, &self->blocks[b]);
	}
	self->dynamics->report.residual = scalar_max((double)most, soft_joints_residual(self));
}
