/* lcp.c: `lcp`: contact as a linear complementarity problem of velocities, with Coulomb friction and
 * Newton's restitution (papers C-03 … C-08, app I). velocity.c describes the method. */
#include "server/engine/methods/method.h"
#include "server/engine/methods/velocity.h"

static enum status step_lcp(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	UNUSED(state);
	struct velocity_method method = { .core = VELOCITY_LCP, .friction = true };
	return velocity_step_make(dynamics, dt, method, why);
}

const struct method method_lcp = {
	.name = "lcp",
	.summary = "velocity-level complementarity, exact, with friction",
	.number = 3,
	.motion = 3,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step_lcp,
	.shapes = VELOCITY_SHAPES,
	.friction = true,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
	.refuses = MATERIAL_ROLLING | MATERIAL_SPINNING | MATERIAL_AXIS,
};
