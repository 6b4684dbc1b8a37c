/* projection.c: `projection`: the velocity nearest to the one without contact, in the metric of mass,
 * that violates no contact (papers C-06 … C-08, R-11). Its velocities are those of `lcp` without
 * friction; velocity.c describes the method.
 *
 * The projection itself has no friction. With projection.friction_rounds, each round bounds tangents by
 * μ times the normal impulses of the previous round. */
#include "server/engine/methods/method.h"
#include "server/engine/methods/velocity.h"

static enum status step_projection(void *state, struct dynamics *dynamics, double dt,
				   struct reason *why)
{
	UNUSED(state);
	return velocity_step_make(dynamics, dt,
				  (struct velocity_method){ .core = VELOCITY_PROJECTION }, why);
}

const struct method method_projection = {
	.name = "projection",
	.summary = "projection of velocities onto those that contacts permit; frictionless unless "
		   "projection.friction_rounds is above 0",
	.number = 4,
	.motion = 3,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step_projection,
	.shapes = VELOCITY_SHAPES,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
	.refuses = MATERIAL_ROLLING | MATERIAL_SPINNING | MATERIAL_AXIS,
};
