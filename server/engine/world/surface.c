/* See surface.h. */
#include "server/engine/world/surface.h"

/* 1. Shorter vectors have no direction that rounding leaves alone. */
#define DIRECTION_LEAST 1e-6

enum status surface_check(struct check *check, vec3 direction, vec3 velocity)
{
	double length = vec3_length(direction);
	if (!vec3_equal(direction, vec3_zero()) && length < DIRECTION_LEAST)
		return REFUSE(
			check, STATUS_RANGE, "one_way",
			"one_way has the length %.10g: a direction has at least %g; 0,0,0 makes "
			"all sides solid",
			length, DIRECTION_LEAST);
	enum status status = check_in_plane(check, direction, "one_way");
	return status == STATUS_OK ? check_in_plane(check, velocity, "surface_velocity") : status;
}

void surface_set(struct body_table *body, uint32_t row, vec3 direction, vec3 velocity)
{
	ASSERT(row < body->count);
	bool any = !vec3_equal(direction, vec3_zero());
	body->one_way[row] = any ? vec3_normalize(direction) : vec3_zero();
	body->surface_velocity[row] = velocity;
}

enum status check_set_surface(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_surface.body, &body);
	if (status == STATUS_OK)
		status = surface_check(check, command->set_surface.one_way,
				       command->set_surface.surface_velocity);
	return status;
}

void apply_set_surface(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct command_SET_SURFACE *set = &command->set_surface;
	uint32_t row = dynamics_find_body(&world->dynamics, (body_id)set->body);
	ASSERT(row != ROW_NONE);
	vec3 before = world->tables.body.one_way[row];
	surface_set(&world->tables.body, row, set->one_way, set->surface_velocity);
	dynamics_surface_changed(&world->dynamics, row,
				 !vec3_equal(before, world->tables.body.one_way[row]));
}
