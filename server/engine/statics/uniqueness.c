/* uniqueness.c: see uniqueness.h. */
#include "server/engine/statics/uniqueness.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/engine/statics/stability.h"

/* 1, of the largest force by the norm: a λ this near to its bound is there. */
#define AT_BOUND 1e-8
/* 1, of the entries of r: a smaller change is none. Rounding leaves 1e-11, and 3e-8 in
 * a stack of a thousand. */
#define LOOSE 1e-7
enum { CONES_MAX = 8 };
#define SEED 24

/* What is known of a row. */
enum row_place { ROW_HELD, ROW_INSIDE, ROW_AT_LOWER, ROW_AT_UPPER };

struct uniqueness {
	struct equilibrium *of;
	double *lambda, *lower, *upper; /* of the answer, by row; with those below in one block */
	double *target, *weight;	/* weight: √softness */
	struct spatial *free, *acceleration;
	uint8_t *place; /* by row */
};

static enum status allocate_rooms(struct uniqueness *self, struct equilibrium *of)
{
	size_t rows = of->rows + 1u, bodies = of->problem->body_count + 1u;
	*self = (struct uniqueness){ .of = of };
	self->lambda = heap_alloc_zero(5 * rows * sizeof *self->lambda);
	self->free = heap_alloc(2 * bodies * sizeof *self->free);
	self->place = heap_alloc(rows);
	if (self->lambda == NULL || self->free == NULL || self->place == NULL)
		return STATUS_NO_MEMORY;
	self->lower = self->lambda + rows;
	self->upper = self->lower + rows;
	self->target = self->upper + rows;
	self->weight = self->target + rows;
	self->acceleration = self->free + bodies;
	return STATUS_OK;
}

static void release_rooms(struct uniqueness *self)
{
	heap_free(self->lambda);
	heap_free(self->free);
	heap_free(self->place);
}

static void keep_answer(struct uniqueness *self)
{
	const struct equilibrium *of = self->of;
	size_t rows = of->rows * sizeof *of->lambda;
	size_t bodies = of->problem->body_count * sizeof *of->free;
	ASSERT(of->solver_memory != NULL);
	memcpy(self->lambda, of->lambda, rows);
	memcpy(self->lower, of->lower, rows);
	memcpy(self->upper, of->upper, rows);
	memcpy(self->free, of->free, bodies);
	memcpy(self->acceleration, of->acceleration, bodies);
}

/* All but λ. */
static void restore_answer(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	size_t rows = of->rows * sizeof *of->lambda;
	size_t bodies = of->problem->body_count * sizeof *of->free;
	memcpy(of->lower, self->lower, rows);
	memcpy(of->upper, self->upper, rows);
	memcpy(of->free, self->free, bodies);
	memcpy(of->acceleration, self->acceleration, bodies);
}

/* Where λ of a row is. It is held where the row opens, and where it moves nothing. */
static enum row_place place_of(const struct uniqueness *self, uint32_t row, double shift,
			       double force)
{
	const struct equilibrium *of = self->of;
	double speed = equilibrium_row_parting(of, row) + shift;
	ASSERT(of->lower[row] <= of->lambda[row] && of->lambda[row] <= of->upper[row]);
	if (!(self->weight[row] > 0) || scalar_abs(speed) > STABILITY_FALLING * of->scale)
		return ROW_HELD;
	double near = AT_BOUND * force / self->weight[row];
	if (of->lambda[row] - of->lower[row] <= near)
		return of->upper[row] - of->lambda[row] <= near ? ROW_HELD : ROW_AT_LOWER;
	return of->upper[row] - of->lambda[row] <= near ? ROW_AT_UPPER : ROW_INSIDE;
}

static void place_rows(struct uniqueness *self)
{
	const struct equilibrium *of = self->of;
	uint32_t points = of->problem->point_count;
	double force = 0;
	for (uint32_t i = 0; i < of->rows; i++) {
		self->weight[i] = scalar_sqrt(of->softness[i]);
		force = scalar_max(force, self->weight[i] * scalar_abs(of->lambda[i]));
	}
	for (uint32_t p = 0; p < points; p++)
		for (uint32_t i = of->first[p]; i < of->first[p + 1]; i++)
			self->place[i] = (uint8_t)place_of(self, i, of->shift[p], force);
	for (uint32_t i = of->first[points]; i < of->rows; i++)
		self->place[i] = (uint8_t)place_of(self, i, 0, force);
}

/* The point of T nearest to the target, into λ. */
static bool nearest_change(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	for (uint32_t i = 0; i < of->rows; i++) {
		uint8_t place = self->place[i];
		bool down = place == ROW_INSIDE || place == ROW_AT_UPPER;
		bool up = place == ROW_INSIDE || place == ROW_AT_LOWER;
		of->lower[i] = down ? -__builtin_inf() : 0;
		of->upper[i] = up ? __builtin_inf() : 0;
		of->lambda[i] = 0;
	}
	return equilibrium_project(of, self->target);
}

static bool is_loose(const struct uniqueness *self, uint32_t row)
{
	return self->weight[row] * scalar_abs(self->of->lambda[row]) > LOOSE;
}

/* Frees all rows at bounds that can leave them. False: it was not found out. */
static bool leave_bounds(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	for (uint32_t cone = 0; cone < CONES_MAX; cone++) {
		uint32_t bound = 0, left = 0;
		for (uint32_t i = 0; i < of->rows; i++) {
			uint8_t place = self->place[i];
			bool at = place == ROW_AT_LOWER || place == ROW_AT_UPPER;
			double sign = place == ROW_AT_UPPER ? -1 : 1;
			self->target[i] = at ? sign / self->weight[i] : 0;
			bound += at;
		}
		if (bound == 0)
			return true;
		if (!nearest_change(self))
			return false;
		for (uint32_t i = 0; i < of->rows; i++) {
			uint8_t place = self->place[i];
			bool at = place == ROW_AT_LOWER || place == ROW_AT_UPPER;
			if (!at || !is_loose(self, i))
				continue;
			self->place[i] = ROW_INSIDE;
			left++;
		}
		if (left == 0)
			return true;
	}
	return false;
}

/* A random change of the rows that are free now, into λ. */
static bool random_change(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	struct rng rng = rng_seeded(SEED);
	for (uint32_t i = 0; i < of->rows; i++) {
		double size = rng_range(&rng, 0.5, 1), side = rng_double(&rng);
		uint8_t *place = &self->place[i];
		if (*place != ROW_INSIDE)
			*place = ROW_HELD;
		self->target[i] =
			*place == ROW_HELD ? 0 : (side < 0.5 ? -size : size) / self->weight[i];
	}
	return nearest_change(self);
}

/* Sets `known` by the change in λ; returns whether all forces are unique. */
static bool tell_known(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	uint32_t points = of->problem->point_count;
	bool all = true;
	for (uint32_t p = 0; p < points; p++) {
		struct statics_force change = equilibrium_force_of(of, p, of->lambda);
		double most = scalar_abs(change.normal) + vec3_length(change.friction);
		bool unique = !(self->weight[of->first[p]] * most > LOOSE);
		of->known[p] = unique ? FORCE_UNIQUE : FORCE_AS_FOUND;
		all &= unique;
	}
	for (uint32_t i = of->first[points]; i < of->rows; i++) {
		bool unique = !is_loose(self, i);
		of->known[points + i - of->first[points]] = unique ? FORCE_UNIQUE : FORCE_AS_FOUND;
		all &= unique;
	}
	return all;
}

/* λ := that of least norm, within the bounds of the answer and 0 where it is held; as it was if it is not
 * found. */
static bool take_least(struct uniqueness *self)
{
	struct equilibrium *of = self->of;
	memset(self->target, 0, of->rows * sizeof *self->target);
	for (uint32_t i = 0; i < of->rows; i++) {
		bool held = self->place[i] == ROW_HELD;
		of->lambda[i] = self->lambda[i];
		of->lower[i] = held ? self->lambda[i] : self->lower[i];
		of->upper[i] = held ? self->lambda[i] : self->upper[i];
	}
	return equilibrium_project(of, self->target);
}

enum status uniqueness_find(struct equilibrium *of, enum stability_law law)
{
	struct uniqueness self;
	bool settled = law == STABILITY_SETTLED;
	uint32_t forces = of->problem->point_count + of->problem->row_count;
	if (of->rows == 0)
		return STATUS_OK;
	enum status status = allocate_rooms(&self, of);
	if (status == STATUS_OK) {
		keep_answer(&self);
		place_rows(&self);
		bool told = leave_bounds(&self) && random_change(&self);
		bool unique = told && tell_known(&self);
		bool taken = told && !unique && !settled && take_least(&self);
		bool least = taken || (settled && !of->frictional);
		for (uint32_t i = 0; i < forces; i++)
			if (least && of->known[i] == FORCE_AS_FOUND)
				of->known[i] = FORCE_LEAST_NORM;
		if (!taken)
			memcpy(of->lambda, self.lambda, of->rows * sizeof *of->lambda);
		restore_answer(&self);
	}
	release_rooms(&self);
	return status;
}
