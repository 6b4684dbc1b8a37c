/* fluid_solve.c: pressures; see fluid_work.h.
 *
 * A pressure p changes velocities in a sub-step of s seconds, with P = p s, by
 *
 *   Δv_i = −V_i/m_i [Σ_j V_j (P_i + P_j) ∇W + Σ_B P_i G_iB]
 *
 * This is the transpose of the rates of density, so pressures do no work that the densities do not
 * see, and a floating body feels the weight of the volume that it takes from the fluid. A wall has no
 * pressure of its own. To give the wall the particle's pressure instead was tried: the operator is not
 * symmetric then, and a pool at rest heats up without end.
 *
 * The incompressible solver solves two problems of complementarity in a sub-step, for P ≥ 0:
 *
 *   velocities   dδ_i/dt (v + Δv) ≤ max(1 − δ_i, 0)/s, equal where P_i > 0. Its pressure is that of the
 *                fluid, so the next sub-step begins with it; a calm pool needs few sweeps.
 *   places       particles move by s Δv in addition, without velocity, until densities after the sub-step
 *                are at most 1. At most FLUID_RECOVERY of the volume is given back in a sub-step, so that
 *                particles that were born or shut in too densely do not explode. Bodies do not feel it.
 *
 * If both were one, as in the paper of Bender and Koschier (2015), what corrects densities would be kept as
 * velocity, and the pressure of a pool would swing from tick to tick.
 *
 * The iteration is that of conjugate residuals, among the places that are free: P > 0 or r > 0, r the
 * residual. With the diagonal D of the operator A, which is symmetric when weighted by volumes, z = r/D, and
 * products weighted by V/D,
 *
 *   p' = z + β p,  f' = e + β f,  P' = max(P + α p', 0),  r' = r − α f',
 *   e = A z,  β = −e·f/f·f,  α = r·f'/f'·f'
 *
 * so r, which is what the tolerance is for, shrinks as fast as it can; conjugate gradients let it grow
 * first. A is applied once, at P + z. Where P' is cut off at 0, r' is not the residual: it is computed anew
 * where that took more than CUT_PART of the step (without this a splash burst), and before the end. The
 * products, and the mean excess that ends the iteration, go over blocks in their order.
 *
 * The explicit solver takes p from the equation of state at once (fluid_press). */
#include "server/base/inline.h"
#include "server/engine/fluids/fluid_work.h"

#define FLUID_RECOVERY 0.02
#define CUT_PART 0.03
/* Of the tolerance: what the compression in a sub-step may be. A mean compression of 0.1 % in 1/60 s lets the
 * top of 1 m of water fall a third as fast as if there were no pressure. */
#define RATE_PART 0.1
/* Of the pressure, with which the next sub-step begins if there is no solution. */
#define UNSOLVED_PART 0.5
enum { ITERATIONS_MIN = 2, ITERATIONS_MAX = 100 };

/* ---- what pressures do ----------------------------------------------------------------------------- */

/* What the walls of a place give it, and what it gives them. */
static vec3 wall_pushes(struct fluid_work *self, uint32_t place, double pressure)
{
	vec3 sum = vec3_zero(), at = self->x.items[place];
	if (pressure == 0)
		return sum;
	VALIDATE(self->wall_ends.items[place] <= self->walls.capacity);
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_ends.items[place]; k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		const struct fluid_body *body = &self->bodies.items[wall->body];
		vec3 push = vec3_scale(wall->slope, -pressure * self->volume.items[place]);
		struct fluid_push *out = &self->pushes.items[wall->sum];
		sum = vec3_add(sum, push);
		out->push = vec3_sub(out->push, push);
		out->twist = vec3_sub(out->twist, vec3_cross(vec3_sub(at, body->centre), push));
	}
	return sum;
}

/* The change of velocities by all pressures, with doubles: equal and opposite for the two of a pair. */
static void give_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		uint32_t count;
		const struct fluid_pair *pairs = fluid_pairs(self, i, &count);
		double pressure = self->pressure.items[i], volume = self->volume.items[i];
		vec3 sum = self->kernels->sum_pushes(pairs, count, self->sites.items,
						     self->load.items, i, pressure);
		sum = vec3_scale(sum, -volume / self->radius);
		sum = vec3_add(sum, wall_pushes(self, i, pressure));
		self->v.items[i] = vec3_mul_add(self->v.items[i], sum, 1 / self->mass.items[i]);
	}
}

static void give_pressures(struct fluid_work *self)
{
	fluid_run(self, give_blocks);
	fluid_collect(self);
	fluid_give(self);
}

/* ---- the incompressible solver ---------------------------------------------------------------------- */

static struct fluid_iteration iteration_of(const struct fluid_work *self)
{
	return (struct fluid_iteration){
		.pairs = self->pairs.items,
		.starts = self->starts.items,
		.ends = self->pair_ends.items,
		.spots = self->spots.items,
		.sides = self->sides.items,
		.speeds = self->speeds.items,
		.pressures = self->pressures.items,
		.flows = self->flows.items,
	};
}

/* The flows that all pressures lead to, with floats. */
static void press_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_iteration it = iteration_of(self);
	for (uint32_t block = first; block < last; block++) {
		uint32_t start = block * FLUID_BLOCK, end = fluid_block_end(self, block);
		self->kernels->press_places(&it, start, end);
		if (self->shift || !self->sums.items[block].dynamic)
			continue;
		for (uint32_t i = start; i < end; i++)
			wall_pushes(self, i, (double)self->pressures.items[i]);
	}
}

/* How fast the bodies beside a place come towards it, by the slopes of their walls. */
static double rate_of_bodies(const struct fluid_work *self, uint32_t place)
{
	double rate = 0;
	VALIDATE(self->wall_ends.items[place] <= self->walls.capacity);
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_ends.items[place]; k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		const struct fluid_body *body = &self->bodies.items[wall->body];
		if (body->moves)
			rate -= vec3_dot(fluid_body_velocity(body, self->x.items[place]),
					 wall->slope);
	}
	return rate;
}

/* Arrays of the iteration by place. Loops hold them in registers, because a store could change the items of
 * `self` in the eyes of the compiler. */
struct fluid_columns {
	double *pressure, *residual, *course, *effect;
	const double *trial, *diagonal, *volume;
};

static struct fluid_columns fluid_columns_of(const struct fluid_work *self)
{
	return (struct fluid_columns){
		.pressure = self->pressure.items,
		.residual = self->beyond.items,
		.course = self->course.items,
		.effect = self->effect.items,
		.trial = self->trial.items,
		.diagonal = self->diagonal.items,
		.volume = self->volume.items,
	};
}

ALWAYS_INLINE bool is_free(double pressure, double residual, double diagonal)
{
	return (pressure > 0 || residual > 0) && diagonal > 0;
}

/* z */
ALWAYS_INLINE double free_step(double pressure, double residual, double diagonal)
{
	return is_free(pressure, residual, diagonal) ? residual / diagonal : 0;
}

/* `trial`: the residual at P + z. */
ALWAYS_INLINE void add_products(const struct fluid_columns *at, uint32_t place, double trial,
				struct fluid_sum *sum)
{
	double r = at->residual[place], e = r - trial, f = at->effect[place];
	if (!is_free(at->pressure[place], r, at->diagonal[place]))
		return;
	double weight = at->volume[place] / at->diagonal[place];
	sum->ee += weight * e * e;
	sum->ef += weight * e * f;
	sum->ff += weight * f * f;
	sum->re += weight * r * e;
	sum->rf += weight * r * f;
}

/* Rates beyond the targets. */
static void rate_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_iteration it = iteration_of(self);
	const double inverse = 1 / self->radius;
	const struct fluid_columns at = fluid_columns_of(self);
	const double *targets = self->target.items;
	double *trials = self->trial.items;
	const bool fresh = self->fresh;
	float rates[FLUID_BLOCK] = { 0 };
	for (uint32_t block = first; block < last; block++) {
		struct fluid_sum *out = &self->sums.items[block], sum = { 0 };
		uint32_t start = block * FLUID_BLOCK, end = fluid_block_end(self, block);
		const bool moves = out->moves && !self->shift;
		if (!self->still)
			self->kernels->rate_places(&it, start, end, rates);
		for (uint32_t i = start; i < end; i++) {
			double rate = (double)rates[i - start] * inverse;
			if (moves)
				rate += rate_of_bodies(self, i);
			double trial = rate - targets[i];
			trials[i] = trial;
			if (!fresh)
				add_products(&at, i, trial, &sum);
		}
		out->ee = sum.ee, out->ef = sum.ef, out->ff = sum.ff;
		out->re = sum.re, out->rf = sum.rf;
	}
}

/* A step of this size along the course. */
ALWAYS_INLINE void take_step(const struct fluid_columns *at, uint32_t place, double alpha,
			     double beta, struct fluid_sum *sum)
{
	double r = at->residual[place], pressure = at->pressure[place];
	double diagonal = at->diagonal[place];
	double course = free_step(pressure, r, diagonal) + beta * at->course[place];
	double effect = r - at->trial[place] + beta * at->effect[place];
	double step = alpha * course, wanted = pressure + step;
	at->course[place] = course;
	at->effect[place] = effect;
	at->pressure[place] = scalar_max(wanted, 0);
	at->residual[place] = r - alpha * effect;
	double weight = at->volume[place] * diagonal;
	double cut = at->pressure[place] - wanted;
	sum->cut += weight * cut * cut;
	sum->step += weight * step * step;
}

static void step_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_columns at = fluid_columns_of(self);
	const struct fluid_trial trial = fluid_trial_of(self);
	const double alpha = self->alpha, beta = self->beta, seconds = self->step;
	const bool fresh = self->fresh;
	for (uint32_t block = first; block < last; block++) {
		struct fluid_sum *out = &self->sums.items[block], sum = { 0 };
		const uint32_t end = fluid_block_end(self, block);
		for (uint32_t i = block * FLUID_BLOCK; i < end; i++) {
			if (fresh)
				at.course[i] = at.effect[i] = 0, at.residual[i] = at.trial[i];
			else
				take_step(&at, i, alpha, beta, &sum);
			double r = at.residual[i], p = at.pressure[i];
			/* A pressure that parts its particles pushes too much. */
			double error = p > 0 ? scalar_abs(r) : scalar_max(r, 0);
			sum.error += error * seconds;
			sum.error_max = scalar_max(sum.error_max, error * seconds);
			fluid_try_load(&trial, i, p + free_step(p, r, at.diagonal[i]));
		}
		out->cut = sum.cut, out->step = sum.step;
		out->error = sum.error, out->error_max = sum.error_max;
	}
}

static struct fluid_sum sum_blocks(const struct fluid_work *self)
{
	struct fluid_sum sum = { 0 };
	for (uint32_t block = 0; block < fluid_blocks(self); block++) {
		const struct fluid_sum *part = &self->sums.items[block];
		sum.error += part->error;
		sum.error_max = scalar_max(sum.error_max, part->error_max);
		sum.ee += part->ee, sum.ef += part->ef, sum.ff += part->ff;
		sum.re += part->re, sum.rf += part->rf;
		sum.cut += part->cut, sum.step += part->step;
	}
	sum.error /= self->points.count;
	ASSERT(!(sum.error < 0));
	return sum;
}

static void begin_solution(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		double room = 1 - self->density.items[i];
		vec3 v = self->v.items[i];
		self->target.items[i] = scalar_max(room, 0) / self->step;
		self->pressure.items[i] = self->pressure.items[i] * self->step;
		self->speeds.items[i] = (struct fluid_speed){
			{ (float)v.x, (float)v.y, (float)v.z },
			(float)(self->volume.items[i] / (self->mass.items[i] * self->radius)),
		};
		ASSERT(self->pressure.items[i] >= 0);
	}
}

/* After the velocities: rates are in `beyond` and `target`. */
static void begin_shift(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		double room = 1 - self->density.items[i];
		double rate = self->beyond.items[i] + self->target.items[i];
		self->kept.items[i] = self->pressure.items[i];
		self->target.items[i] = scalar_max(room, -FLUID_RECOVERY) / self->step - rate;
		self->pressure.items[i] = 0;
		self->drift.items[i] = vec3_zero();
		memset(self->speeds.items[i].v, 0, sizeof self->speeds.items[i].v);
	}
}

/* The way of each place. */
static void drift_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		uint32_t count;
		const struct fluid_pair *pairs = fluid_pairs(self, i, &count);
		const float *slope = self->sides.items[i].slope;
		vec3 all = vec3_make((double)slope[0], (double)slope[1], (double)slope[2]);
		vec3 sum = self->kernels->sum_pushes(pairs, count, self->sites.items,
						     self->load.items, i, 0);
		sum = vec3_mul_add(sum, all, self->pressure.items[i]);
		double unit = self->volume.items[i] / (self->radius * self->mass.items[i]);
		self->drift.items[i] = vec3_scale(sum, -unit);
	}
}

/* Without a solution (a vessel that is overfull) pressures would grow without end. */
static void end_shift(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	bool solved = self->now.divergence_error <= self->tolerance;
	double keep = (solved ? 1 : UNSOLVED_PART) / self->step;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++)
		self->pressure.items[i] = keep * self->kept.items[i];
}

static void load_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++)
		fluid_set_load(self, i, self->pressure.items[i]);
}

/* By the work that is left for this sub-step and those after it. */
static uint32_t iterations_max(const struct fluid_work *self)
{
	double each = FLUID_WORK_ITERATION * scalar_max(self->pair_count, 1);
	ASSERT(self->substeps_left > 0);
	double most = self->work / (self->substeps_left * each);
	return (uint32_t)scalar_clamp(most, ITERATIONS_MIN, ITERATIONS_MAX);
}

/* The residual at the pressures that are loaded. */
static struct fluid_sum find_residual(struct fluid_work *self)
{
	if (!self->still) {
		fluid_run(self, press_blocks);
		fluid_collect(self);
	}
	fluid_run(self, rate_blocks);
	return sum_blocks(self);
}

/* Begins a course at the pressures as they are; `still`: they are all 0, and so are velocities. */
static struct fluid_sum begin_course(struct fluid_work *self, bool still)
{
	fluid_run(self, load_blocks);
	self->still = still;
	self->fresh = true;
	find_residual(self);
	self->still = false;
	fluid_run(self, step_blocks);
	return sum_blocks(self);
}

static struct fluid_sum follow_course(struct fluid_work *self)
{
	ASSERT(!self->still);
	self->fresh = false;
	struct fluid_sum sum = find_residual(self);
	double beta = sum.ff > 0 ? -sum.ef / sum.ff : 0;
	double ff = sum.ee + beta * (2 * sum.ef + beta * sum.ff);
	self->beta = beta;
	self->alpha = ff > 0 ? (sum.re + beta * sum.rf) / ff : 0;
	fluid_run(self, step_blocks);
	return sum_blocks(self);
}

/* The mean excess that is left. */
static double iterate(struct fluid_work *self)
{
	const uint32_t least = self->shift ? 0 : ITERATIONS_MIN, most = iterations_max(self);
	const double tolerance = self->tolerance * (self->shift ? 1 : RATE_PART);
	struct fluid_sum sum = begin_course(self, self->shift);
	uint32_t iterations = 0;
	bool exact = true;
	ASSERT(most >= least && tolerance >= 0);
	for (;; iterations++) {
		bool last = iterations >= most || (iterations >= least && sum.error <= tolerance);
		if (last && exact)
			break;
		bool again = last || sum.cut > CUT_PART * sum.step;
		sum = again ? begin_course(self, false) : follow_course(self);
		exact = again || (exact && sum.cut == 0);
	}
	fluid_run(self, load_blocks);
	self->work -= iterations * FLUID_WORK_ITERATION * self->pair_count;
	self->now.iterations += iterations;
	self->now.unconverged += !(sum.error <= tolerance);
	if (self->shift && iterations > 0)
		fluid_run(self, drift_blocks);
	return sum.error;
}

void fluid_solve(struct fluid_work *self)
{
	ASSERT(self->solver == FLUID_INCOMPRESSIBLE && self->step > 0);
	self->shift = false;
	fluid_run(self, begin_solution);
	self->now.divergence_error = iterate(self);
	give_pressures(self);
	self->shift = true;
	fluid_run(self, begin_shift);
	self->now.residual = iterate(self);
	fluid_run(self, end_shift);
	self->shift = false;
}

/* ---- the explicit solver ---------------------------------------------------------------------------- */

/* P-48; tensions, which would draw the surface together into clumps, are left out. */
static double state_pressure(const struct fluid_work *self, uint32_t place)
{
	const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[place]];
	double density = self->density.items[place], cube = density * density * density;
	ASSERT(self->bulk >= 0);
	if (liquid->stiffness > 0)
		return liquid->stiffness * liquid->rest_density * scalar_max(density - 1, 0);
	return liquid->rest_density * self->bulk * scalar_max(cube * cube * density - 1, 0);
}

/* Beside walls, and in crowds, a particle is stiffer than in the fluid for which the sub-step is chosen. More
 * than what takes the excess of density away in the sub-step would throw it out faster than it came. */
static void state_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		double excess = scalar_max(self->density.items[i] - 1, 0);
		double pressure = state_pressure(self, i) * self->step;
		double most = excess / (self->step * self->diagonal.items[i]);
		bool bounded = self->diagonal.items[i] > 0;
		self->pressure.items[i] = bounded ? scalar_min(pressure, most) : 0;
		fluid_set_load(self, i, self->pressure.items[i]);
	}
}

void fluid_press(struct fluid_work *self)
{
	ASSERT(self->solver == FLUID_EXPLICIT && self->step > 0);
	ASSERT(self->points.count > 0);
	fluid_run(self, state_blocks);
	give_pressures(self);
	for (uint32_t i = 0; i < self->points.count; i++)
		self->pressure.items[i] /= self->step;
}
