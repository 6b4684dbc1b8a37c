/* See method_probe.h. */
#include "tests/lib/method_probe.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/step.h"

#include <string.h>

struct method_probe_counts method_probe_counts;

/* The block's size changes with the random numbers: `length` bytes in all, of which the first 32
 * are the generator. */
struct probe {
	struct rng rng;
	uint32_t length;
};

static enum status refuse(struct reason *why, body_id id)
{
	return reason_set(why, STATUS_METHOD_REFUSES, -1, "method",
			  "probe takes no hulls: body %u is one", id);
}

static enum status supports(const struct dynamics *dynamics, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	for (uint32_t p = 0; p < tables->placement.count; p++)
		if (tables->placement.body[p] != 0 &&
		    dynamics->shapes[tables->placement.shape[p]]->kind == SHAPE_HULL)
			return refuse(why, tables->body.id[tables->placement.body[p] - 1]);
	return STATUS_OK;
}

static enum status admit(const struct dynamics *dynamics, const struct command *command,
			 const struct shape *const *shapes, uint32_t count, struct reason *why)
{
	for (uint32_t i = 0; command->op == COMMAND_SPAWN && i < count; i++)
		if (shapes[i]->kind == SHAPE_HULL)
			return refuse(why, dynamics->tables->world.next_body[0]);
	return STATUS_OK;
}

static void attach(struct dynamics *dynamics)
{
	dynamics_contacts_forget(dynamics);
}

static void detach(struct dynamics *dynamics)
{
	dynamics_wake_all(dynamics);
}

static enum status create(const struct dynamics *dynamics, const uint8_t *block, uint32_t bytes,
			  void **state, struct reason *why)
{
	if (bytes != 0 && (bytes < sizeof(struct rng) || block[bytes - 1] != 0x5a))
		return reason_set(why, STATUS_CORRUPT, -1, "method_block",
				  "this is no block of probe's");
	struct probe *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	self->rng = rng_seeded(dynamics->tables->world.rng[0][0]);
	if (bytes != 0)
		memcpy(&self->rng, block, sizeof self->rng);
	self->length = bytes;
	*state = self;
	method_probe_counts.created++;
	return STATUS_OK;
}

static void destroy(void *state)
{
	heap_free(state);
	method_probe_counts.destroyed++;
}

static void save(const void *state, const struct dynamics *dynamics, uint8_t *block)
{
	const struct probe *self = state;
	uint32_t bytes = dynamics->tables->method_block.count;
	ASSERT(bytes == self->length);
	memset(block, 0x5a, bytes);
	if (bytes >= sizeof self->rng)
		memcpy(block, &self->rng, sizeof self->rng);
	method_probe_counts.saved++;
}

static void slept(void *state, const struct dynamics *dynamics, const uint32_t *bodies,
		  uint32_t count)
{
	UNUSED(state);
	for (uint32_t i = 0; i < count; i++)
		ASSERT(dynamics->tables->body.sleep_set[bodies[i]] != 0);
	method_probe_counts.slept += count;
}

static enum status step(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	struct probe *self = state, drawn = *self;
	struct step step;
	enum status status = step_begin(&step, dynamics, dt, false, NULL, why);
	if (status != STATUS_OK)
		return status;
	step_number(&step);
	struct body_motion *motions =
		ARENA_ARRAY(&dynamics->scratch, struct body_motion, step.body_count);
	if (motions == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	for (uint32_t slot = 0; slot < step.body_count; slot++) {
		struct body_motion start = dynamics_motion(dynamics, step.bodies[slot]);
		struct spatial v = { start.velocity, start.angular_velocity };
		v.linear.x += rng_range(&drawn.rng, -1e-3, 1e-3);
		motions[slot] = integrate_motion(dynamics, step.bodies[slot], &start, v, v, dt);
	}
	drawn.length = (uint32_t)sizeof drawn.rng + 1 + rng_below(&drawn.rng, 100);
	step.block_bytes = drawn.length;
	status = step_commit(&step, NULL, why);
	if (status != STATUS_OK)
		return status;
	*self = drawn;
	step_store_all(&step, motions);
	step_sleep(&step);
	step_finish(&step);
	return STATUS_OK;
}

const struct method method_probe = {
	.name = "probe",
	.summary = "for tests",
	.number = METHOD_PROBE_NUMBER,
	.motion = 1,
	.supports = supports,
	.admit = admit,
	.attach = attach,
	.detach = detach,
	.create = create,
	.destroy = destroy,
	.step = step,
	.save = save,
	.slept = slept,
	.shapes = (1u << SHAPE_KINDS) - 2,
	.planar = true,
	.three_d = true,
};

void method_probe_install(void)
{
	method_unlisted = &method_probe;
}
