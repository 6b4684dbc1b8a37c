/* velocity_reflect.c: generalized reflections over an island's rows (papers C-09).
 *
 * Dense islands are solvers/reflection.h's. Larger ones make the same rounds over the sparse solver, and
 * those with joints over whichever fits:
 *
 *   repeat:  V = rows that approach faster than ε;  stop when there are none
 *            x += the least impulse on V alone with w = A x + 2 u ≥ 0;  u += A x
 *
 * What joints hold is in every V with w = A x + u = 0.
 *
 * ε is EPSILON of the fastest row, because nothing is known of a velocity beyond its own rounding.
 * What the cap of rounds leaves ends inelastically, and is a fallback. With restitution c the
 * impulse is (1 − c) of the inelastic one and c of the reflected one.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/solvers/reflection.h"

#include <string.h>

#define EPSILON 1e-14

struct reflecting {
	struct velocity_island *island;
	const bool *taken;
	bool *approaching;
	double *u, *b, *x;
	double least; /* m/s: slower approaches count as none */
};

static double fastest_row(const struct reflecting *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->island->count; i++)
		if (self->taken[i])
			most = scalar_max(most, scalar_abs(self->u[i]));
	return most;
}

static bool find_approaching(const struct reflecting *self)
{
	bool any = false;
	for (uint32_t i = 0; i < self->island->count; i++) {
		bool holds = velocity_holds(self->island, i);
		self->approaching[i] = self->taken[i] && (holds || self->u[i] < -self->least);
		any |= self->approaching[i] && !holds;
	}
	return any;
}

/* One impact of `rows`: `times` 1 stops them, 2 reflects them. Adds to `total`; u are the speeds after. */
static enum status impact_once(struct reflecting *self, const bool *rows, double times,
			       double *total)
{
	struct velocity_island *island = self->island;
	struct spatial *change = island->step->push; /* the way is gone */
	for (uint32_t i = 0; i < island->count; i++) {
		self->b[i] = (velocity_holds(island, i) ? 1 : times) * self->u[i];
		self->x[i] = 0;
	}
	struct velocity_question question = { rows, self->b, self->x };
	enum status status = velocity_island_solve(island, &question);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < island->island->slot_count; i++)
		change[island->island->slots[i]] = spatial_zero();
	row_system_apply(&island->system, self->x, change);
	for (uint32_t i = 0; i < island->count; i++) {
		total[i] += self->x[i];
		self->u[i] += jacobian_speed(island->rows[i].j, change);
	}
	return STATUS_OK;
}

static enum status reflect_all(struct reflecting *self, double *total)
{
	uint32_t rounds = 0;
	enum status status = STATUS_OK;
	self->least = EPSILON * fastest_row(self);
	while (status == STATUS_OK && find_approaching(self)) {
		if (rounds++ == self->island->step->settings.rounds_max) {
			self->island->outcome->fallbacks++;
			return impact_once(self, self->taken, 1, total);
		}
		status = impact_once(self, self->approaching, 2, total);
	}
	self->island->outcome->iterations += rounds;
	return status;
}

static double restitution_of(const struct velocity_island *island, const bool *taken,
			     const double *u)
{
	double most = 0;
	for (uint32_t i = 0; i < island->count; i++)
		if (taken[i] && !velocity_holds(island, i) &&
		    u[i] < -island->step->settings.restitution_speed)
			most = scalar_max(most,
					  island->step->rows.blocks[island->block[i]].restitution);
	return most;
}

static enum status reflect_rounds(struct velocity_island *island, const bool *taken,
				  const double *u, double c, double *b, double *x)
{
	uint32_t n = island->count;
	struct arena *room = island->room;
	struct reflecting self = { .island = island,
				   .taken = taken,
				   .approaching = ARENA_ARRAY(room, bool, n),
				   .u = ARENA_ARRAY(room, double, n),
				   .b = b,
				   .x = ARENA_ARRAY(room, double, n) };
	double *stopped = arena_push_zero(room, n * sizeof *stopped);
	double *reflected = arena_push_zero(room, n * sizeof *reflected);
	if (self.approaching == NULL || self.u == NULL || self.x == NULL || stopped == NULL ||
	    reflected == NULL)
		return STATUS_NO_MEMORY;
	enum status status = STATUS_OK;
	memcpy(self.u, u, n * sizeof *u);
	if (c > 0)
		status = reflect_all(&self, reflected);
	memcpy(self.u, u, n * sizeof *u);
	if (c < 1 && status == STATUS_OK)
		status = impact_once(&self, taken, 1, stopped);
	for (uint32_t i = 0; i < n; i++)
		x[i] = (1 - c) * stopped[i] + c * reflected[i];
	return status;
}

/* The rows taken, as the solver's problem. */
static enum status pose_problem(struct velocity_island *island, const uint32_t *row, uint32_t count,
				const double *u, struct reflection_problem *out)
{
	struct arena *room = island->room;
	double *a = arena_push_array(room, (size_t)count * count, sizeof(double));
	double *speeds = ARENA_ARRAY(room, double, count);
	if (a == NULL || speeds == NULL)
		return STATUS_NO_MEMORY;
	*out = (struct reflection_problem){ .count = count, .stride = count, .a = a, .u = speeds };
	for (uint32_t i = 0; i < count; i++) {
		speeds[i] = u[row[i]];
		out->speed = scalar_max(out->speed, scalar_abs(speeds[i]));
		for (uint32_t k = 0; k < count; k++)
			a[(size_t)i * count + k] =
				island->a[(size_t)row[i] * island->count + row[k]];
	}
	if (island->step->settings.method.core == VELOCITY_LCP)
		return STATUS_OK;
	struct velocity_coordinates over;
	enum status status = velocity_island_coordinates(island, row, count, &over);
	if (status != STATUS_OK)
		return status;
	out->variables = over.count;
	out->mass = over.mass;
	out->rows = over.rows;
	return STATUS_OK;
}

static enum status reflect_dense(struct velocity_island *island, const bool *taken, const double *u,
				 double c, double *x)
{
	struct arena *room = island->room;
	uint32_t count = 0, *row = ARENA_ARRAY(room, uint32_t, island->count);
	double *impulses = ARENA_ARRAY(room, double, island->count);
	if (row == NULL || impulses == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < island->count; i++)
		if (taken[i])
			row[count++] = i;
	struct reflection_problem problem;
	enum status status = pose_problem(island, row, count, u, &problem);
	if (status != STATUS_OK)
		return status;
	struct reflection_sizes sizes = { count, problem.variables };
	void *memory = arena_push(room, reflection_bytes(sizes));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	struct reflection solver;
	reflection_init(&solver, memory, sizes);
	struct solver_options options = solver_options_default();
	options.rounds_max = island->step->settings.rounds_max;
	enum reflection_core core = problem.variables > 0 ? REFLECTION_PROJECTION : REFLECTION_LCP;
	struct solver_result result =
		reflection_solve(&solver, &problem, core, c, &options, impulses);
	island->outcome->iterations += result.rounds;
	island->outcome->fallbacks += result.fallbacks + (result.status != SOLVER_SOLVED);
	island->outcome->residual =
		scalar_max(island->outcome->residual, result.residual * problem.speed);
	memset(x, 0, island->count * sizeof *x);
	for (uint32_t i = 0; i < count; i++)
		x[row[i]] = impulses[i];
	return STATUS_OK;
}

enum status velocity_reflect(struct velocity_island *island, const bool *taken, const double *u,
			     double *b, double *x)
{
	double c = restitution_of(island, taken, u);
	return island->outcome->dense && island->joints == NULL
		       ? reflect_dense(island, taken, u, c, x)
		       : reflect_rounds(island, taken, u, c, b, x);
}
