/* projection.c: `projection`: the velocity nearest to the one without contact, in the metric of
 * mass, that violates no contact (papers C-06 … C-08, R-11). The same velocities as `lcp` without
 * friction; velocity.c tells the story.
 *
 * It has no friction of its own. With projection.friction_rounds, each round bounds tangents by μ
 * times the normal impulses of the round before. */
#include "server/engine/methods/method.h"
#include "server/engine/methods/velocity.h"

static enum status step(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	UNUSED(state);
	return velocity_step_make(dynamics, dt,
				  (struct velocity_method){ .core = VELOCITY_PROJECTION }, why);
}

const struct method method_projection = {
	.name = "projection",
	.summary = "projection of velocities onto what contacts allow; frictionless",
	.number = 4,
	.motion = 2,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step,
	.shapes = VELOCITY_SHAPES,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
};
