/* See solver.h. Defaults, names of statuses, and the division of memory into workspaces. */
#include "server/engine/solvers/solver.h"

#include "server/engine/math/scalar.h"

struct solver_options solver_options_default(void)
{
	return (struct solver_options){ .tolerance = 1e-10, .regularisation = 1e-9 };
}

struct solver_options solver_options_used(const struct solver_options *options)
{
	struct solver_options used = *options;
	if (!(used.tolerance > 0))
		used.tolerance = solver_options_default().tolerance;
	used.tolerance = scalar_min(used.tolerance, 1);
	ASSERT(used.tolerance > 0 && used.tolerance <= 1);
	return used;
}

struct solver_result solver_invalid(void)
{
	double inf = __builtin_inf();
	return (struct solver_result){
		.status = SOLVER_INVALID, .residual = inf, .violation = inf, .stationarity = inf
	};
}

const char *solver_status_name(enum solver_status status)
{
	static const char *const names[] = {
		"solved", "stopped", "inexact", "limit", "infeasible", "unbounded", "invalid",
	};
	_Static_assert(COUNT_OF(names) == SOLVER_STATUSES, "each status has a name");
	return (uint32_t)status < SOLVER_STATUSES ? names[status] : "?";
}

bool solver_memory_good(const void *memory)
{
	return memory != NULL && (uintptr_t)memory % 64 == 0;
}

void solver_carve_none(struct solver_memory *self)
{
	self->used = SIZE_MAX;
}

void *solver_carve(struct solver_memory *self, size_t count, size_t item_bytes)
{
	if (self->used > SIZE_MAX / 2 ||
	    (item_bytes > 0 && count > (SIZE_MAX / 2 - self->used) / item_bytes)) {
		solver_carve_none(self);
		return NULL;
	}
	unsigned char *at = self->memory != NULL ? self->memory + self->used : NULL;
	self->used += (count * item_bytes + 63) / 64 * 64;
	ASSERT(self->used % 64 == 0);
	return at;
}

bool solver_finite(const double *values, size_t count)
{
	/* A finite number times 0 is 0, any other is NaN. In four sums, so that none waits for the last. */
	double sums[4] = { 0, 0, 0, 0 };
	size_t i = 0;
	for (; i + 4 <= count; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += values[i + k] * 0;
	for (; i < count; i++)
		sums[0] += values[i] * 0;
	return sums[0] + sums[1] + sums[2] + sums[3] == 0;
}
