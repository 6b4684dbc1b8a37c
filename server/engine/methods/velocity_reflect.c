/* velocity_reflect.c: generalized reflections over an island's rows (papers C-09).
 *
 * Dense islands without joints are solved by solvers/reflection.h. Others make the same rounds with
 * velocity_island_solve:
 *
 *   repeat:  V = rows that approach faster than ε;  stop when there are none
 *            x += the least impulse on V alone with w = A x + 2 u ≥ 0;  u += A x
 *
 * The rigid rows of joints are in every V, with w = A x + u = 0.
 *
 * ε is EPSILON times the speed of the fastest row, because slower approaches are rounding. If
 * rounds_max rounds are not enough, the rest of the impact is inelastic, which counts as a fallback.
 * With restitution c the impulse is (1 − c) of the inelastic one and c of the reflected one.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/solvers/reflection.h"

#include <string.h>

/* 1, of the fastest row's speed. Smaller: rounding is reflected without end; larger: slow bodies of a
 * fast impact stay together. */
#define EPSILON 1e-14

struct reflection_rounds {
	struct velocity_island *island;
	const bool *selected;
	bool *approaching;
	double *u, *b, *x;
	double least; /* m/s: ε, slower approaches count as none */
};

static double fastest_row(const struct reflection_rounds *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->island->count; i++)
		if (self->selected[i])
			most = scalar_max(most, scalar_abs(self->u[i]));
	return most;
}

/* Fills `approaching` with V; false if no row approaches. */
static bool find_approaching(const struct reflection_rounds *self)
{
	bool any = false;
	for (uint32_t i = 0; i < self->island->count; i++) {
		bool holds = velocity_holds(self->island, i);
		self->approaching[i] = self->selected[i] && (holds || self->u[i] < -self->least);
		any |= self->approaching[i] && !holds;
	}
	return any;
}

/* One impact of `rows`: `times` 1 stops them, 2 reflects them. Adds its impulse to `total` and updates
 * u. */
static enum status impact_once(struct reflection_rounds *self, const bool *rows, double times,
			       double *total)
{
	struct velocity_island *island = self->island;
	struct spatial *change = island->step->push; /* scratch: bodies have moved already */
	ASSERT(times == 1 || times == 2);
	for (uint32_t i = 0; i < island->count; i++) {
		self->b[i] = (velocity_holds(island, i) ? 1 : times) * self->u[i];
		self->x[i] = 0;
	}
	struct velocity_problem problem = { rows, self->b, self->x };
	enum status status = velocity_island_solve(island, &problem);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < island->island->slot_count; i++)
		change[island->island->slots[i]] = spatial_zero();
	row_system_apply(&island->system, self->x, change);
	for (uint32_t i = 0; i < island->count; i++) {
		total[i] += self->x[i];
		if (!velocity_is_rotor(island, i)) /* a rotor keeps up with its axis */
			self->u[i] += jacobian_speed(island->rows[i].j, change);
	}
	return STATUS_OK;
}

static enum status reflect_all(struct reflection_rounds *self, double *total)
{
	uint32_t rounds = 0;
	enum status status = STATUS_OK;
	self->least = EPSILON * fastest_row(self);
	ASSERT(!(self->least < 0));
	while (status == STATUS_OK && find_approaching(self)) {
		if (rounds++ == self->island->step->settings.rounds_max) {
			self->island->outcome->fallbacks++;
			return impact_once(self, self->selected, 1, total);
		}
		status = impact_once(self, self->approaching, 2, total);
	}
	self->island->outcome->iterations += rounds;
	return status;
}

/* The greatest restitution of the rows that arrive faster than restitution_speed, 0 … 1. */
static double restitution_of(const struct velocity_island *island, const bool *selected,
			     const double *u)
{
	double most = 0;
	for (uint32_t i = 0; i < island->count; i++)
		if (selected[i] && !velocity_holds(island, i) &&
		    u[i] < -island->step->settings.restitution_speed)
			most = scalar_max(most,
					  island->step->rows.blocks[island->block[i]].restitution);
	return most;
}

/* The rounds of the head, then the mixture with the inelastic impulse. */
static enum status reflect_rounds(struct velocity_island *island, const bool *selected,
				  const double *u, double c, double *b, double *x)
{
	ASSERT(c >= 0 && c <= 1);
	uint32_t n = island->count;
	struct arena *arena = island->arena;
	struct reflection_rounds self = { .island = island,
					  .selected = selected,
					  .approaching = ARENA_ARRAY(arena, bool, n),
					  .u = ARENA_ARRAY(arena, double, n),
					  .b = b,
					  .x = ARENA_ARRAY(arena, double, n) };
	double *stopped = arena_push_zero(arena, n * sizeof *stopped);
	double *reflected = arena_push_zero(arena, n * sizeof *reflected);
	if (self.approaching == NULL || self.u == NULL || self.x == NULL || stopped == NULL ||
	    reflected == NULL)
		return STATUS_NO_MEMORY;
	enum status status = STATUS_OK;
	memcpy(self.u, u, n * sizeof *u);
	if (c > 0)
		status = reflect_all(&self, reflected);
	memcpy(self.u, u, n * sizeof *u);
	if (c < 1 && status == STATUS_OK)
		status = impact_once(&self, selected, 1, stopped);
	for (uint32_t i = 0; i < n; i++)
		x[i] = (1 - c) * stopped[i] + c * reflected[i];
	return status;
}

/* The selected rows as a problem of solvers/reflection.h. */
static enum status pose_problem(struct velocity_island *island, const uint32_t *row, uint32_t count,
				const double *u, struct reflection_problem *out)
{
	struct arena *arena = island->arena;
	double *a = arena_push_array(arena, (size_t)count * count, sizeof(double));
	double *speeds = ARENA_ARRAY(arena, double, count);
	if (a == NULL || speeds == NULL)
		return STATUS_NO_MEMORY;
	*out = (struct reflection_problem){ .count = count, .stride = count, .a = a, .u = speeds };
	for (uint32_t i = 0; i < count; i++) {
		speeds[i] = u[row[i]];
		out->speed = scalar_max(out->speed, scalar_abs(speeds[i]));
		ASSERT(row[i] < island->count);
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

static enum status reflect_dense(struct velocity_island *island, const bool *selected,
				 const double *u, double c, double *x)
{
	ASSERT(island->joints == NULL);
	struct arena *arena = island->arena;
	uint32_t count = 0, *row = ARENA_ARRAY(arena, uint32_t, island->count);
	double *impulses = ARENA_ARRAY(arena, double, island->count);
	if (row == NULL || impulses == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < island->count; i++)
		if (selected[i])
			row[count++] = i;
	ASSERT(count <= island->count && island->a != NULL);
	struct reflection_problem problem;
	enum status status = pose_problem(island, row, count, u, &problem);
	if (status != STATUS_OK)
		return status;
	struct reflection_sizes sizes = { count, problem.variables };
	void *memory = arena_push(arena, reflection_bytes(sizes));
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

enum status velocity_reflect(struct velocity_island *island, const bool *selected, const double *u,
			     double *b, double *x)
{
	double c = restitution_of(island, selected, u);
	ASSERT(c >= 0 && c <= 1);
	return island->outcome->dense && island->joints == NULL
		       ? reflect_dense(island, selected, u, c, x)
		       : reflect_rounds(island, selected, u, c, b, x);
}
