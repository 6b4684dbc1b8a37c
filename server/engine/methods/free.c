/* free.c: `free`: motion without contact, integrate_free over the whole step.
 *
 * It is a baseline for tests: every other method must give the same motion while nothing touches. The
 * linear path is exact under constant force and damping; a body with unequal principal inertias
 * conserves its angular momentum (integrate.c). An animated body follows its script. There are no
 * contacts, and no body sleeps.
 */
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/methods/method.h"

static void attach_free(struct dynamics *dynamics)
{
	dynamics_contacts_forget(dynamics);
}

static void detach_free(struct dynamics *dynamics)
{
	dynamics_wake_all(dynamics);
}

/* Scratch bytes that a step needs. */
static uint64_t scratch_needed(uint64_t bodies, uint64_t contacts)
{
	UNUSED(contacts);
	return bodies * (sizeof(struct force_sum) + sizeof(struct body_motion));
}

static enum status step_free(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	UNUSED(state);
	struct step step;
	enum status status = step_begin(&step, dynamics, dt, false, scratch_needed, why);
	if (status != STATUS_OK)
		return status;
	step_number(&step);
	uint32_t count = step.body_count;
	struct force_sum *sums = ARENA_ARRAY(&dynamics->scratch, struct force_sum, count);
	struct body_motion *motions = ARENA_ARRAY(&dynamics->scratch, struct body_motion, count);
	ASSERT(sums != NULL && motions != NULL); /* step_begin reserved scratch_needed */
	force_all(dynamics, step.bodies, count, dt, sums);
	profile_enter(dynamics->profile, PROFILE_INTEGRATE);
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = step.bodies[slot];
		ASSERT(row < dynamics->tables->body.count);
		struct body_start start = integrate_start(dynamics, row, &sums[slot], dt);
		motions[slot] = integrate_free(dynamics, row, &start, dt, 1);
	}
	status = step_commit(&step, NULL, why);
	if (status != STATUS_OK)
		return status;
	step_store_all(&step, motions);
	step_finish(&step);
	return STATUS_OK;
}

const struct method method_free = {
	.name = "free",
	.summary = "no contact: everything passes through everything",
	.number = 1,
	.motion = 2,
	.attach = attach_free,
	.detach = detach_free,
	.step = step_free,
	.shapes = (1u << SHAPE_KINDS) - 2,
	.planar = true,
	.three_d = true,
};
