/* See locks.h. */
#include "server/engine/world/locks.h"

#include "server/engine/dynamics/locks.h"

static const char *const AXES[3] = { "x", "y", "z" };

static enum status check_components(struct check *check, uint32_t locks, vec3 v, const char *field,
				    const char *how)
{
	ASSERT(locks < 8);
	for (uint32_t axis = 0; axis < 3; axis++)
		if (locks >> axis & 1 && vec3_get(v, axis) != 0)
			return REFUSE(check, STATUS_RANGE, field,
				      "%s has %s = %.10g, and locks hold the body %s %s: it must "
				      "be 0; set_locks frees the axis",
				      field, AXES[axis], vec3_get(v, axis), how, AXES[axis]);
	return STATUS_OK;
}

enum status locks_check(struct check *check, uint32_t locks, vec3 velocity, vec3 spin)
{
	ASSERT(locks < 64);
	enum status status = check_components(check, locks & 7, velocity, "velocity", "along");
	return status != STATUS_OK
		       ? status
		       : check_components(check, locks >> 3, spin, "angular_velocity", "about");
}

void locks_hold_planned(struct planned_body *body)
{
	if (body->status != BODY_DYNAMIC)
		return;
	body->velocity = locks_along(body->locks, body->velocity);
	body->angular_velocity = locks_about(body->locks, body->angular_velocity);
}

enum status check_set_locks(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_locks.body, &body);
	if (status != STATUS_OK)
		return status;
	body->locks = (uint8_t)command->set_locks.locks;
	locks_hold_planned(body);
	return STATUS_OK;
}

void apply_set_locks(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	uint32_t row = dynamics_find_body(&world->dynamics, (body_id)command->set_locks.body);
	ASSERT(row != ROW_NONE && command->set_locks.locks < 64);
	world->tables.body.locks[row] = (uint8_t)command->set_locks.locks;
	locks_hold(&world->tables, row);
	dynamics_body_changed(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}
