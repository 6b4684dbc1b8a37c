/* commands_apply.c: applies a checked batch. Nothing here can fail: rows, look-ups and lists
 * were reserved before the first batch of the call was checked, ids are resolved, shapes are in
 * memory.
 *
 * Waking: a command that moves, pushes or changes a body wakes it with its whole sleeping set; a
 * command that affects all bodies (gravity, a parameter, bounds, a method) wakes all of them.
 */
#include "server/base/rng.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/world/carriers.h"
#include "server/engine/world/command_bytes.h"
#include "server/engine/world/controls.h"
#include "server/engine/world/drives.h"
#include "server/engine/world/force_fields.h"
#include "server/engine/world/particle_systems.h"
#include "server/engine/world/joints.h"
#include "server/engine/world/labels.h"
#include "server/engine/world/locks.h"
#include "server/engine/world/movers.h"
#include "server/engine/world/parameters.h"
#include "server/engine/world/pieces.h"
#include "server/engine/world/plan.h"
#include "server/engine/world/removal.h"
#include "server/engine/world/surface.h"
#include "server/engine/world/visuals.h"
#include "server/engine/world/walls.h"

#include <string.h>

/* Row of a body that the check found. */
static uint32_t body_row(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_body(&context->world->dynamics, (body_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

/* ---- shapes
 * ----------------------------------------------------------------------------------- */

static void apply_shape_use(const struct apply_context *context, const struct command *command)
{
	UNUSED(command);
	const struct shape *shape = context->plan->added[context->index];
	if (shape == NULL)
		return;
	struct world_table *table = &context->world->tables.world;
	uint32_t row = shapes_add(context->world, table->next_shape[0]++, shape);
	ASSERT(context->world->tables.shape.id[row] == context->plan->values[context->index]);
}

static void apply_shape_drop(const struct apply_context *context, const struct command *command)
{
	uint32_t row = shapes_find(context->world, (shape_id)command->shape_drop.shape);
	ASSERT(row != ROW_NONE);
	shapes_remove(context->world, row);
}

/* ---- bodies
 * ----------------------------------------------------------------------------------- */

static void place_shapes(struct world *world, uint32_t row, const struct attachment_list *list)
{
	struct tables *tables = &world->tables;
	uint32_t *link = &tables->body.first_placement[row];
	for (uint32_t i = 0; i < list->count; i++) {
		const struct attachment *item = &list->items[i];
		uint32_t at = dynamics_placement_take(&world->dynamics);
		uint32_t shape = shapes_find(world, (shape_id)item->shape);
		ASSERT(shape != ROW_NONE);
		ASSERT(shape < tables->shape.count && at < tables->placement.count);
		tables->shape.uses[shape]++;
		tables->placement.body[at] = row + 1;
		tables->placement.shape[at] = shape;
		tables->placement.position[at] = item->position;
		tables->placement.rotation[at] = item->rotation;
		*link = at + 1;
		link = &tables->placement.next[at];
	}
}

static void fill_body(struct body_table *body, uint32_t row, const struct command_SPAWN *spawn,
		      const struct body_mass *mass)
{
	ASSERT(row < body->count);
	ASSERT(spawn->status <= BODY_ANIMATED);
	body->status[row] = spawn->status;
	body->flags[row] = (uint8_t)spawn->flags;
	body->owner[row] = spawn->owner;
	body->ends_with[row] = (uint32_t)spawn->ends_with;
	body->ends_with_owner[row] = spawn->ends_with_owner;
	body->tag[row] = spawn->tag;
	body->position[row] = spawn->position;
	body->rotation[row] = spawn->rotation;
	controls_set_motion(body, row, spawn->gravity_scale, spawn->speed_max,
			    spawn->angular_speed_max);
	body->velocity[row] = spawn->velocity;
	body->angular_velocity[row] = spawn->angular_velocity;
	body->mass[row] = mass->mass;
	body->centre[row] = mass->centre;
	memcpy(body->inertia[row], mass->inertia, sizeof mass->inertia);
	body->static_friction[row] = spawn->static_friction;
	body->dynamic_friction[row] = spawn->dynamic_friction;
	body->restitution[row] = spawn->restitution;
	body->friction_rule[row] = spawn->friction_rule;
	body->restitution_rule[row] = spawn->restitution_rule;
	body->rolling_friction[row] = spawn->rolling_friction;
	body->spinning_friction[row] = spawn->spinning_friction;
	body->friction_axis[row] = spawn->friction_axis;
	body->axis_friction[row] = spawn->axis_friction;
	surface_set(body, row, spawn->one_way, spawn->surface_velocity);
	body->locks[row] = (uint8_t)spawn->locks;
	body->integrator[row] = spawn->integrator;
	body->tolerance[row] = spawn->tolerance;
	body->substeps[row] = (uint16_t)spawn->substeps;
	body->category[row] = spawn->category;
	body->mask[row] = spawn->mask;
	body->group[row] = spawn->group;
	body->linear_damping[row] = spawn->linear_damping;
	body->angular_damping[row] = spawn->angular_damping;
}

static void apply_spawn(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct tables *tables = &world->tables;
	const struct command_SPAWN *spawn = &command->spawn;
	const struct shape *const *shapes =
		context->plan->attached + (spawn->shapes.items - context->plan->attachments);
	struct body_mass mass = body_mass_of(spawn, shapes, tables->world.planar[0] != 0);
	uint32_t row = dynamics_body_take(&world->dynamics);
	tables->body.id[row] = tables->world.next_body[0]++;
	ASSERT(tables->body.id[row] == context->plan->values[context->index]);
	fill_body(&tables->body, row, spawn, &mass);
	world->follower_count += spawn->ends_with != 0;
	body_inverses_set(tables, row);
	place_shapes(world, row, &spawn->shapes);
	dynamics_body_added(&world->dynamics, row);
	changes_update(&world->changes, tables, row);
}

static void apply_remove(const struct apply_context *context, const struct command *command)
{
	const struct batch_plan *plan = context->plan;
	removal_body(context->world, body_row(context, command->remove.body));
	uint32_t at = context->index > 0 ? plan->gone_end[context->index - 1] : 0;
	for (; at < plan->gone_end[context->index]; at++)
		removal_body(context->world, body_row(context, plan->gone[at]));
}

static void apply_set_pose(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	uint32_t row = body_row(context, command->set_pose.body);
	world->tables.body.position[row] = command->set_pose.position;
	world->tables.body.rotation[row] = command->set_pose.rotation;
	movers_displaced(&world->tables, row);
	dynamics_body_moved(&world->dynamics, row);
	dynamics_carried_follow(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

/* A new velocity changes the box swept in the tick, and may start or stop an animated body, so
 * the body counts as moved. */
static void apply_set_velocity(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	uint32_t row = body_row(context, command->set_velocity.body);
	world->tables.body.flags[row] &= (uint8_t) ~(BODY_AIMED | BODY_ARRIVES);
	world->tables.body.velocity[row] = command->set_velocity.velocity;
	world->tables.body.angular_velocity[row] = command->set_velocity.angular_velocity;
	dynamics_body_moved(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

static void apply_set_status(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct body_table *body = &world->tables.body;
	uint32_t row = body_row(context, command->set_status.body);
	ASSERT(command->set_status.status <= BODY_ANIMATED);
	body->status[row] = command->set_status.status;
	if (command->set_status.fast == SWITCH_ON)
		body->flags[row] |= BODY_FAST;
	else if (command->set_status.fast == SWITCH_OFF)
		body->flags[row] &= (uint8_t)~BODY_FAST;
	body->flags[row] &= (uint8_t) ~(BODY_AIMED | BODY_ARRIVES);
	body->quarantined[row] = 0;
	if (body->status[row] == BODY_STATIC)
		body->velocity[row] = body->angular_velocity[row] = vec3_zero();
	body_inverses_set(&world->tables, row);
	locks_hold(&world->tables, row);
	if (body->status[row] != BODY_DYNAMIC)
		dynamics_carriers_drop(&world->dynamics, row);
	dynamics_body_changed(&world->dynamics, row);
	changes_update(&world->changes, &world->tables, row);
}

static void apply_force(const struct apply_context *context, const struct command *command)
{
	uint32_t row = body_row(context, command->force.body);
	dynamics_wake(&context->world->dynamics, row);
	drives_add(&context->world->tables, row, command->force.force, command->force.point,
		   vec3_zero(), command->force.ticks);
}

static void apply_torque(const struct apply_context *context, const struct command *command)
{
	uint32_t row = body_row(context, command->torque.body);
	dynamics_wake(&context->world->dynamics, row);
	drives_add(&context->world->tables, row, vec3_zero(), vec3_zero(), command->torque.torque,
		   command->torque.ticks);
}

static void apply_impulse(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct body_table *body = &world->tables.body;
	uint32_t row = body_row(context, command->impulse.body);
	ASSERT(body->status[row] == BODY_DYNAMIC);
	controls_push(world, row, command->impulse.impulse,
		      quat_rotate(body->rotation[row], command->impulse.point));
}

static void apply_angular_impulse(const struct apply_context *context,
				  const struct command *command)
{
	struct world *world = context->world;
	uint32_t row = body_row(context, command->angular_impulse.body);
	dynamics_wake(&world->dynamics, row);
	controls_turn(world, row, command->angular_impulse.impulse);
	changes_update(&world->changes, &world->tables, row);
}

static void apply_set_material(const struct apply_context *context, const struct command *command)
{
	struct body_table *body = &context->world->tables.body;
	const struct command_SET_MATERIAL *set = &command->set_material;
	uint32_t row = body_row(context, set->body);
	ASSERT(set->dynamic_friction <= set->static_friction);
	body->static_friction[row] = set->static_friction;
	body->dynamic_friction[row] = set->dynamic_friction;
	body->restitution[row] = set->restitution;
	body->friction_rule[row] = set->friction_rule;
	body->restitution_rule[row] = set->restitution_rule;
	body->rolling_friction[row] = set->rolling_friction;
	body->spinning_friction[row] = set->spinning_friction;
	body->friction_axis[row] = set->friction_axis;
	body->axis_friction[row] = set->axis_friction;
	dynamics_body_changed(&context->world->dynamics, row);
}

static void apply_set_filter(const struct apply_context *context, const struct command *command)
{
	struct body_table *body = &context->world->tables.body;
	uint32_t row = body_row(context, command->set_filter.body);
	body->category[row] = command->set_filter.category;
	body->mask[row] = command->set_filter.mask;
	body->group[row] = command->set_filter.group;
	if (command->set_filter.sensor == SWITCH_ON)
		body->flags[row] |= BODY_SENSOR;
	else if (command->set_filter.sensor == SWITCH_OFF)
		body->flags[row] &= (uint8_t)~BODY_SENSOR;
	dynamics_body_changed(&context->world->dynamics, row);
	changes_update(&context->world->changes, &context->world->tables, row);
}

static void apply_set_owner(const struct apply_context *context, const struct command *command)
{
	uint32_t row = body_row(context, command->set_owner.body);
	context->world->tables.body.owner[row] = command->set_owner.owner;
	changes_mark(&context->world->changes, row);
}

static void apply_set_tag(const struct apply_context *context, const struct command *command)
{
	uint32_t row = body_row(context, command->set_tag.body);
	context->world->tables.body.tag[row] = command->set_tag.tag;
	changes_mark(&context->world->changes, row);
}

/* A colour is for pictures only: it neither wakes the body nor reports a change. */
static void apply_set_colour(const struct apply_context *context, const struct command *command)
{
	const struct command_SET_COLOUR *set = &command->set_colour;
	ASSERT(set->colour < COLOUR_GIVEN);
	context->world->tables.body.colour[body_row(context, set->body)] =
		set->given != 0 ? set->colour + COLOUR_GIVEN : 0;
}

static void apply_set_damping(const struct apply_context *context, const struct command *command)
{
	struct body_table *body = &context->world->tables.body;
	uint32_t row = body_row(context, command->set_damping.body);
	dynamics_wake(&context->world->dynamics, row);
	body->linear_damping[row] = command->set_damping.linear_damping;
	body->angular_damping[row] = command->set_damping.angular_damping;
}

static void apply_set_integrator(const struct apply_context *context, const struct command *command)
{
	struct body_table *body = &context->world->tables.body;
	const struct command_SET_INTEGRATOR *set = &command->set_integrator;
	uint32_t row = body_row(context, set->body);
	dynamics_wake(&context->world->dynamics, row);
	body->integrator[row] = set->integrator;
	body->tolerance[row] = set->tolerance;
	body->substeps[row] = (uint16_t)set->substeps;
}

static void apply_wake(const struct apply_context *context, const struct command *command)
{
	dynamics_wake(&context->world->dynamics, body_row(context, command->wake.body));
}

/* ---- the world
 * -------------------------------------------------------------------------------- */

static void apply_gravity(const struct apply_context *context, const struct command *command)
{
	context->world->tables.world.gravity[0] = command->gravity.gravity;
	dynamics_wake_all(&context->world->dynamics);
}

static void apply_parameter(const struct apply_context *context, const struct command *command)
{
	uint32_t row = parameter_find(command->parameter.name.text);
	ASSERT(row < PARAMETER_COUNT);
	context->world->tables.parameter.value[row] = command->parameter.value;
	dynamics_wake_all(&context->world->dynamics);
}

static void apply_method(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct method *method = method_find(command->method.name.text);
	const struct method_alias *alias = method_alias(command->method.name.text);
	ASSERT(method != NULL);
	ASSERT(alias == NULL || alias->parameter == UINT32_MAX ||
	       alias->parameter < PARAMETER_COUNT);
	dynamics_wake_all(&world->dynamics);
	if (alias != NULL && alias->parameter != UINT32_MAX)
		world->tables.parameter.value[alias->parameter] = alias->value;
	method_switch(&world->method, method, &world->dynamics);
}

static void apply_seed(const struct apply_context *context, const struct command *command)
{
	struct rng rng = rng_seeded(command->seed.seed);
	memcpy(context->world->tables.world.rng[0], rng.state, sizeof rng.state);
}

static void apply_bounds(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct world_table *table = &world->tables.world;
	walls_remove(world);
	ASSERT(command->bounds.mode <= BOUNDS_WALLS);
	table->bounds_mode[0] = command->bounds.mode;
	table->bounds_min[0] = command->bounds.minimum;
	table->bounds_max[0] = command->bounds.maximum;
	if (command->bounds.mode == BOUNDS_WALLS)
		walls_put(world);
	dynamics_wake_all(&world->dynamics);
}

/* ---- a batch
 * ---------------------------------------------------------------------------------- */

typedef void apply_function(const struct apply_context *context, const struct command *command);

static apply_function *const functions[COMMAND_OPS_MAX] = {
#define COMMAND(number, NAME, name, needed, result, doc) [number] = apply_##name,
#include "server/engine/world/commands.def"
};

void plan_apply(const struct batch_plan *plan, struct world *world)
{
	struct apply_context context = { .world = world, .plan = plan };
	for (context.index = 0; context.index < plan->count; context.index++) {
		const struct command *command = &plan->commands[context.index];
		ASSERT(command->op < COMMAND_OPS_MAX && functions[command->op] != NULL);
		functions[command->op](&context, command);
	}
	ASSERT(world->tables.world.next_body[0] == plan->next_body);
	ASSERT(world->tables.world.next_shape[0] == plan->next_shape);
	ASSERT(world->tables.world.next_joint[0] == plan->next_joint);
	ASSERT(world->tables.world.next_field[0] == plan->next_field);
	ASSERT(world->tables.world.next_system[0] == plan->next_system);
}
