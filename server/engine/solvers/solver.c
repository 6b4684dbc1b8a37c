/* solver.c: defaults, names and the carving of workspaces. */
#include "server/engine/solvers/solver.h"

#include "server/engine/math/scalar.h"

struct solver_options solver_options_default(void)
{
	return (struct solver_options){.tolerance = 1e-10, .regularisation = 1e-9};
}

const char *solver_status_name(enum solver_status status)
{
	static const char *const names[] = {
		"solved", "stopped", "inexact", "limit", "infeasible", "unbounded", "not finite",
	};
	_Static_assert(COUNT_OF(names) == SOLVER_STATUSES, "a name for each");
	return (uint32_t)status < SOLVER_STATUSES ? names[status] : "?";
}

void *solver_carve(struct solver_memory *self, size_t count, size_t item_bytes)
{
	ASSERT(item_bytes == 0 || count <= (SIZE_MAX / 2 - self->used) / item_bytes);
	unsigned char *at = self->memory != NULL ? self->memory + self->used : NULL;
	self->used += (count * item_bytes + 63) / 64 * 64;
	return at;
}

bool solver_finite(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!scalar_is_finite(values[i]))
			return false;
	return true;
}
