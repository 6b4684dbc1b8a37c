/* soft_solve.c: the passes of a sub-step over contacts, LANES_WIDTH lanes at a time.
 *
 * Colours are solved one after the other, blocks of a colour in any order or at once, because they
 * write to no common body. Of a block, 4 or 8 lanes at a time (16 of two blocks) are gathered from
 * their bodies, solved point after point, and scattered back; bodies that are not dynamic are gathered
 * and never written.
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
#include "server/engine/methods/soft_contact.h"

/* Blocks. A block takes 0.1 to 0.2 µs, waking the other workers several µs, so a colour of at most
 * SOLVE_ALONE blocks is faster on the calling thread. SOLVE_GRAIN is a worker's share at a time. */
enum { SOLVE_ALONE = 64, SOLVE_GRAIN = 16 };

/* Sweeps of restitution in a sub-step, and over the points of a manifold. */
enum { BOUNCE_ROUNDS = 4, BOUNCE_SWEEPS = 8 };

/* ---- restitution: before the bodies move ---- */

/* A point is hit in a sub-step if it would pass its gap s. It bounces before the bodies move: with u its
 * speed before the sub-step's forces and a the acceleration between the bodies, it would arrive at the
 * surface with √(u² − 2 a s) and pass the place where it is now on its way back with
 *   √(e² (u² − 2 a s) + 2 a s),
 * so no energy is lost by where in the sub-step it turns. n a² h² is what a tick of n sub-steps loses of
 * u². Sets `leave` to that speed, or to 0 for a point that is not hit. */
ALWAYS_INLINE lanes_mask find_hits(const struct soft_step *step, const struct soft_block *block,
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
ALWAYS_INLINE void rub(const struct soft_step *step, struct soft_block *block, uint32_t first,
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

/* Scales the impulses p of a manifold's points, which sweeps leave inexact, by t, so that the bodies get the
 * energy of exact ones: t pᵀ A p = p·g, where g is what speeds should gain, and A p what they did. Sweeps
 * lower ½ pᵀ A p − p·g from 0, and t p is its least value along p, so t ≥ ½. Without, four points of bodies
 * with unequal inertias gain up to 4 % of the energy in a bounce. */
ALWAYS_INLINE void keep_energy(const struct soft_block *block, uint32_t first, struct sides *s,
			       struct lanes3 normal, const lanes start[MANIFOLD_POINTS_MAX],
			       const lanes leave[MANIFOLD_POINTS_MAX],
			       lanes push[MANIFOLD_POINTS_MAX])
{
	lanes zero = lanes_all(0), one = lanes_all(1), wanted = zero, got = zero;
	for (uint32_t p = 0; p < block->point_count; p++) {
		lanes now = normal_speed(s, &block->points[p], first, normal);
		wanted += push[p] * (leave[p] - start[p]);
		got += push[p] * (now - start[p]);
	}
	lanes_mask some = got > zero;
	lanes more = lanes_select(some, wanted / lanes_select(some, got, one), one) - one;
	for (uint32_t p = 0; p < block->point_count; p++) {
		apply_normal(s, block, &block->points[p], first, normal, push[p] * more);
		push[p] += push[p] * more;
	}
}

/* The points of a manifold bounce together, manifolds one after the other: each of these conserves what
 * it should. Impulses are added to the totals at once, because they are no guess for what follows. */
ALWAYS_INLINE void half_bounce(const struct soft_step *step, struct soft_block *block,
			       uint32_t first, struct sides *s, lanes_mask only)
{
	lanes leave[MANIFOLD_POINTS_MAX], push[MANIFOLD_POINTS_MAX], start[MANIFOLD_POINTS_MAX];
	if (!block->bounces || !lanes_any(find_hits(step, block, first, s, only, leave)))
		return;
	struct lanes3 normal = lanes3_load(&block->normal, first);
	lanes zero = lanes_all(0), load = zero;
	block->strikes = true;
	for (uint32_t p = 0; p < block->point_count; p++) {
		push[p] = zero;
		start[p] = normal_speed(s, &block->points[p], first, normal);
	}
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
	if (step->energy && block->point_count > 1)
		keep_energy(block, first, s, normal, start, leave, push);
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		lanes_store(&point->total, first, lanes_load(&point->total, first) + push[p]);
		load += push[p];
	}
	lanes_store(&block->pushed, first, lanes_max(load, lanes_load(&block->pushed, first)));
	rub(step, block, first, s, normal, load);
}

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
	run_pass(self, self->kernels->warm);
}

void soft_solve(struct soft_step *self)
{
	run_pass(self, self->kernels->solve);
}

void soft_relax(struct soft_step *self)
{
	run_pass(self, self->kernels->relax);
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

/* Set by any worker that has a block of the body: the order does not matter. */
static void set_pushed(struct soft_drive *drive)
{
	if (!__atomic_load_n(&drive->pushed, __ATOMIC_RELAXED))
		__atomic_store_n(&drive->pushed, true, __ATOMIC_RELAXED);
}

/* Marks the bodies on which some impulse of the block acted. */
static void mark_pushed(const struct soft_step *self, const struct soft_block *block)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (!(block->pushed.at[lane] > 0))
			continue;
		VALIDATE(block->contact[lane] != DYNAMICS_NONE);
		if (block->writes_a >> lane & 1)
			set_pushed(&self->drives[block->body_a[lane]]);
		if (block->writes_b >> lane & 1)
			set_pushed(&self->drives[block->body_b[lane]]);
	}
}

static void residual_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *step = context;
	for (uint32_t i = from; i < to; i++) {
		step->blocks[i].residual = step->kernels->residual(step, &step->blocks[i]);
		mark_pushed(step, &step->blocks[i]);
	}
}

void soft_residual(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->block_count, SOLVE_GRAIN, residual_piece,
		     self);
	float most = 0;
	uint32_t colours = self->colour_count;
	ASSERT(colours == 0 || self->colours[colours - 1].last <= self->block_count);
	for (uint32_t b = 0; b < self->block_count; b++)
		most = MAX_OF(most, self->blocks[b].residual);
	self->dynamics->report.residual = scalar_max((double)most, soft_joints_residual(self));
}
