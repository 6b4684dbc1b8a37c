/* velocity_reflect.c: generalized reflections over an island's rows (papers C-09).
 *
 *   repeat:  V = rows that approach faster than ε;  stop when there are none
 *            x += the least impulse on V alone with w = A x + 2 u ≥ 0;  u += A x
 *
 * ε is EPSILON of the fastest row, because nothing is known of a velocity beyond its own rounding. What the cap of
 * rounds leaves ends inelastically, and is a fallback. With restitution c the impulse is (1 − c) of the inelastic one and
 * c of the reflected one.
 */
#include "server/engine/methods/velocity.h"

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
		self->approaching[i] = self->taken[i] && self->u[i] < -self->least;
		any |= self->approaching[i];
	}
	return any;
}

/* One impact of `rows`: `times` 1 stops them, 2 reflects them. Adds to `total`; u are the speeds after. */
static enum status impact_once(struct reflecting *self, const bool *rows, double times, double *total)
{
	struct velocity_island *island = self->island;
	struct spatial *change = island->step->push; /* the way is gone */
	for (uint32_t i = 0; i < island->count; i++) {
		self->b[i] = times * self->u[i];
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

static double restitution_of(const struct velocity_island *island, const bool *taken, const double *u)
{
	double most = 0;
	for (uint32_t i = 0; i < island->count; i++)
		if (taken[i] && u[i] < -island->step->settings.restitution_speed)
			most = scalar_max(most, island->step->rows.blocks[island->block[i]].restitution);
	return most;
}

enum status velocity_reflect(struct velocity_island *island, const bool *taken, const double *u, double *b,
			     double *x)
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
	double c = restitution_of(island, taken, u);
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
