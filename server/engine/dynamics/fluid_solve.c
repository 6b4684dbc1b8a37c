/* fluid_solve.c: pressures; see fluid_work.h.
 *
 * A pressure p changes velocities in a sub-step of s seconds, with P = p s, by
 *
 *   Δv_i = −V_i/m_i [Σ_j V_j (P_i + P_j) ∇W + Σ_B P_i G_iB]
 *
 * This is the transpose of the rates of density, so pressures do no work that the densities do not
 * see, and a floating body feels the weight of the volume that it takes from the fluid. A wall has no
 * pressure of its own, so the layer of particles at a wall has about twice the pressure of the
 * fluid there. To give the wall the particle's pressure instead was tried: the operator is not symmetric
 * then, and a pool at rest heats up without end.
 *
 * The incompressible solver looks for P ≥ 0 with  dδ_i/dt (v + Δv) ≤ target_i,  equal where P_i > 0:
 * a complementarity problem, for which it iterates with half a Jacobi step (Bender and Koschier
 * 2015). For densities the target is (1 − δ_i)/s, at most FLUID_RECOVERY of the volume in a
 * sub-step, so that particles that were born or shut in too densely do not explode; for the
 * divergence it is 0. The pressure begins with what the last tick had; the mean excess over all
 * particles is summed over blocks in their order and ends the iteration at the tolerance.
 *
 * The explicit solver takes p from the equation of state at once (fluid_press). */
#include "server/engine/dynamics/fluid_work.h"

#define FLUID_RECOVERY 0.02
#define RELAXATION 0.5
#define PRESSED                                                                                    \
	10.0 /* explicit: excess of density beyond so many times the allowed one has no effect */
/* Part of the last pressure with which the iteration begins; near 1 pressures of alternate ticks swing. */
#define WARM 0.75
enum { ITERATIONS_MIN = 2, ITERATIONS_MAX = 100 };

/* ---- what pressures do ----------------------------------------------------------------------------- */

static vec3 wall_pushes(struct fluid_work *self, uint32_t place, double pressure)
{
	vec3 sum = vec3_zero(), at = self->x.items[place];
	if (!(pressure > 0))
		return sum;
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_starts.items[place + 1];
	     k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		if (!(wall->part > 0))
			continue;
		vec3 push = vec3_scale(wall->slope, -pressure * self->volume.items[place]);
		vec3 arm = vec3_sub(at, self->bodies.items[wall->body].centre);
		struct fluid_push *out = &self->pushes.items[wall->sum];
		out->push = vec3_sub(out->push, push);
		out->twist = vec3_sub(out->twist, vec3_cross(arm, push));
		sum = vec3_add(sum, push);
	}
	return sum;
}

/* The Δv of all pressures. */
static void press_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const double *pressure = self->pressure.items, *volume = self->volume.items;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		vec3 sum = vec3_zero();
		for (uint32_t k = self->starts.items[i]; k < self->starts.items[i + 1]; k++) {
			const struct fluid_pair *pair = &self->pairs.items[k];
			uint32_t j = pair->place;
			sum = vec3_mul_add(sum, fluid_slope(pair),
					   volume[i] * volume[j] * (pressure[i] + pressure[j]));
		}
		sum = vec3_sub(wall_pushes(self, i, pressure[i]), sum);
		self->gain.items[i] = vec3_scale(sum, 1 / self->mass.items[i]);
	}
}

static void add_gain(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->points.count; i++)
		self->v.items[i] = vec3_add(self->v.items[i], self->gain.items[i]);
	fluid_give(self);
}

/* ---- the incompressible solver ---------------------------------------------------------------------- */

static double rate_of(const struct fluid_work *self, uint32_t place)
{
	vec3 own = vec3_add(self->v.items[place], self->gain.items[place]);
	double rate = 0;
	for (uint32_t k = self->starts.items[place]; k < self->starts.items[place + 1]; k++) {
		const struct fluid_pair *pair = &self->pairs.items[k];
		uint32_t j = pair->place;
		vec3 other = vec3_add(self->v.items[j], self->gain.items[j]);
		rate += self->volume.items[j] * vec3_dot(vec3_sub(own, other), fluid_slope(pair));
	}
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_starts.items[place + 1];
	     k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		vec3 body =
			fluid_body_velocity(&self->bodies.items[wall->body], self->x.items[place]);
		rate += vec3_dot(vec3_sub(own, body), wall->slope);
	}
	return rate;
}

/* Rates beyond the targets, in `target` from now on as residuals of the sweep. */
static void rate_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t block = first; block < last; block++) {
		struct fluid_sum sum = { 0 };
		for (uint32_t i = block * FLUID_BLOCK; i < fluid_block_end(self, block); i++) {
			double beyond = rate_of(self, i) - self->target.items[i];
			if (self->divergence && self->sparse.items[i])
				beyond = 0;
			self->beyond.items[i] = beyond;
			sum.error += scalar_max(beyond, 0) * self->step;
			sum.error_max = scalar_max(sum.error_max, beyond * self->step);
		}
		self->sums.items[block] = sum;
	}
}

static double mean_error(struct fluid_work *self, double *most)
{
	double sum = 0;
	*most = 0;
	for (uint32_t block = 0; block < fluid_blocks(self); block++) {
		sum += self->sums.items[block].error;
		*most = scalar_max(*most, self->sums.items[block].error_max);
	}
	ASSERT(!(sum < 0));
	return sum / self->points.count;
}

static void begin_solution(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->points.count; i++) {
		double room = 1 - self->density.items[i];
		self->target.items[i] =
			self->divergence ? 0 : scalar_max(room, -FLUID_RECOVERY) / self->step;
		self->kept.items[i] = self->pressure.items[i];
		self->pressure.items[i] =
			self->divergence ? 0 : WARM * self->pressure.items[i] * self->step;
		ASSERT(self->pressure.items[i] >= 0);
	}
}

static void update(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->points.count; i++) {
		double diagonal = self->diagonal.items[i];
		double change = diagonal > 0 ? RELAXATION * self->beyond.items[i] / diagonal : 0;
		self->pressure.items[i] = scalar_max(self->pressure.items[i] + change, 0);
	}
}

void fluid_solve(struct fluid_work *self)
{
	uint32_t iterations = 0;
	double error, most;
	ASSERT(self->solver == FLUID_INCOMPRESSIBLE && self->step > 0);
	begin_solution(self);
	for (;;) {
		fluid_run(self, press_blocks);
		fluid_collect(self);
		fluid_run(self, rate_blocks);
		error = mean_error(self, &most);
		if ((iterations >= ITERATIONS_MIN && error <= self->tolerance) ||
		    iterations == ITERATIONS_MAX)
			break;
		update(self);
		iterations++;
	}
	add_gain(self);
	self->now.iterations += iterations;
	self->now.unconverged += !(error <= self->tolerance);
	if (self->divergence)
		self->now.divergence_error = error;
	else
		self->now.residual = error;
	/* Without a solution (a vessel that is overfull) the next iteration must begin anew. */
	bool solved = error <= self->tolerance;
	for (uint32_t i = 0; i < self->points.count; i++) {
		double pressure = solved ? self->pressure.items[i] / self->step : 0;
		self->pressure.items[i] = self->divergence ? self->kept.items[i] : pressure;
	}
}

/* ---- the explicit solver ---------------------------------------------------------------------------- */

/* P-48; tensions, which would draw the surface together into clumps, are left out. */
static double state_pressure(const struct fluid_work *self, uint32_t place)
{
	const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[place]];
	double excess = self->density.items[place] - 1;
	if (liquid->stiffness > 0)
		return liquid->stiffness * liquid->rest_density * scalar_max(excess, 0);
	/* A particle that a fast one has pressed into a wall must not come out as a shot. */
	double most = 1 + PRESSED * self->compression;
	double power = scalar_min(self->density.items[place], most);
	double cube = power * power * power;
	ASSERT(self->bulk >= 0);
	return liquid->rest_density * self->bulk * scalar_max(cube * cube * power - 1, 0);
}

void fluid_press(struct fluid_work *self)
{
	self->divergence = false;
	ASSERT(self->solver == FLUID_EXPLICIT);
	for (uint32_t i = 0; i < self->points.count; i++)
		self->pressure.items[i] = state_pressure(self, i) * self->step;
	fluid_run(self, press_blocks);
	fluid_collect(self);
	add_gain(self);
	for (uint32_t i = 0; i < self->points.count; i++)
		self->pressure.items[i] /= self->step;
}
