/* reflection.c: `reflection`: simultaneous elastic impacts by generalized reflections (papers C-09,
 * C-10), frictionless; between impacts contact is as in `lcp` or `projection` (reflection.core).
 * velocity.c describes the method.
 *
 * Touching bodies separate, symmetric arrangements stay symmetric, and energy and momentum are
 * conserved. A cluster of contacts has one coefficient of restitution c: the greatest of those that
 * arrive faster than restitution.speed. Its velocities are (1 − c) of the inelastic ones and c of the
 * reflected ones. */
#include "server/engine/dynamics/dynamics.h"
#include "server/engine/methods/method.h"
#include "server/engine/methods/velocity.h"
#include "server/engine/world/parameters.h"

static enum status step_reflection(void *state, struct dynamics *dynamics, double dt,
				   struct reason *why)
{
	UNUSED(state);
	bool projects = dynamics->tables->parameter.value[PARAMETER_REFLECTION_CORE] != 0;
	struct velocity_method method = { .core = projects ? VELOCITY_PROJECTION : VELOCITY_LCP,
					  .reflects = true };
	return velocity_step_make(dynamics, dt, method, why);
}

const struct method method_reflection = {
	.name = "reflection",
	.summary =
		"generalized reflections: elastic impacts of many contacts at once; frictionless",
	.number = 5,
	.motion = 3,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step_reflection,
	.shapes = VELOCITY_SHAPES,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
};
