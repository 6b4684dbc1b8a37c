/* commands_check.c: checks a whole batch before any of it is applied.
 *
 * The check changes no table. The plan records the effects of earlier commands of the batch; a
 * command is checked against tables and plan together. Rules for all commands:
 *
 *   ids        −k refers to the id that the k-th command of the batch yields, which must be an earlier
 *              command. Ids are allocated in order, so the check knows them before anything is made.
 *   owners     a restricted batch may only use shapes, spawn bodies (which its session then owns) and
 *              name bodies and joints that its session owns.
 *   planar     in a planar world the z of positions and velocities is 0, and so are the x and y of
 *              rotations and angular velocities; shapes are polygons, which exist in planar worlds only.
 *   status     bodies with planes or meshes must be static or inactive; velocity needs a dynamic or
 *              animated body, force and impulse a dynamic one; fixed rotation needs angular
 *              velocity 0.
 *   method     the method in force must admit each command, and so must every method that a later
 *              METHOD of the batch names, which must also support the world as it is before the
 *              batch. So one batch cannot remove a body that the new method does not support and
 *              then switch to that method; this is stricter than necessary, but an unsupported state
 *              is never accepted.
 * */
#include "server/base/sort.h"
#include "server/engine/world/command_bytes.h"
#include "server/engine/world/carriers.h"
#include "server/engine/world/controls.h"
#include "server/engine/particles/particles.h"
#include "server/engine/world/force_fields.h"
#include "server/engine/world/particle_systems.h"
#include "server/engine/world/joints.h"
#include "server/engine/world/labels.h"
#include "server/engine/world/locks.h"
#include "server/engine/world/movers.h"
#include "server/engine/world/parameters.h"
#include "server/engine/world/pieces.h"
#include "server/engine/world/plan_find.h"
#include "server/engine/world/surface.h"
#include "server/engine/world/visuals.h"
#include "server/engine/world/walls.h"

#include <string.h>

/* ---- rules of many commands
 * ------------------------------------------------------------------- */

enum status check_world_command(struct check *check)
{
	if (!check->plan->restricted)
		return STATUS_OK;
	return REFUSE(
		check, STATUS_FORBIDDEN, "op",
		"a player may not use %s: it changes the whole world and needs the role controller",
		command_info(check->plan->commands[check->index].op)->name);
}

/* A position, velocity or force of a planar world. */
enum status check_in_plane(struct check *check, vec3 v, const char *field)
{
	if (!check->planar || v.z == 0)
		return STATUS_OK;
	return REFUSE(check, STATUS_PLANAR, field,
		      "%s has z = %.10g: in a planar world z must be 0", field, v.z);
}

/* An angular velocity or torque of a planar world. */
enum status check_about_z(struct check *check, vec3 v, const char *field)
{
	if (!check->planar || (v.x == 0 && v.y == 0))
		return STATUS_OK;
	return REFUSE(check, STATUS_PLANAR, field,
		      "%s has x = %.10g and y = %.10g: in a planar world both must be 0", field,
		      v.x, v.y);
}

enum status check_rotation_plane(struct check *check, quat q, const char *field)
{
	return check_about_z(check, vec3_make(q.x, q.y, 0), field);
}

static enum status check_spin(struct check *check, uint8_t flags, vec3 spin)
{
	if (!(flags & BODY_FIXED_ROTATION) || vec3_equal(spin, vec3_zero()))
		return STATUS_OK;
	return REFUSE(
		check, STATUS_STATUS_WRONG, "angular_velocity",
		"angular_velocity is [%.10g, %.10g, %.10g]: it must be 0 because flags fix the "
		"rotation",
		spin.x, spin.y, spin.z);
}

/* A moving status needs shapes that may move; dynamic also needs a valid mass and inertia. */
static enum status check_status(struct check *check, uint8_t status, const char *field,
				const struct planned_body *body)
{
	bool moves = status == BODY_DYNAMIC || status == BODY_ANIMATED;
	if (moves && body->static_only)
		return REFUSE(
			check, STATUS_STATUS_WRONG, field,
			"%s is %s: a body with a plane or a mesh cannot move, it must be static "
			"or inactive",
			field, command_word(WORDS_BODY_STATUS, status));
	if (status != BODY_DYNAMIC)
		return STATUS_OK;
	return body_mass_check(&body->mass, check->planar, body->flags & BODY_FIXED_ROTATION,
			       check->index, check->why);
}

/* ---- shapes
 * ----------------------------------------------------------------------------------- */

/* The shape with this name after the commands checked so far, or NULL. */
static struct planned_shape *find_named_shape(struct check *check, const uint8_t *name)
{
	struct batch_plan *plan = check->plan;
	for (uint32_t i = 0; i < plan->shape_count; i++)
		if (!plan->shapes[i].dropped &&
		    memcmp(plan->shapes[i].shape->name, name, SHAPE_NAME_BYTES) == 0)
			return &plan->shapes[i];
	uint32_t row = shapes_find_name(check->world, name);
	return row == ROW_NONE ? NULL : plan_shape(check, check->world->tables.shape.id[row]);
}

static enum status check_shape_use(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	struct world *world = check->world;
	const uint8_t *name = command->shape_use.name.bytes;
	struct planned_shape *known = find_named_shape(check, name);
	if (known != NULL) {
		plan->values[check->index] = known->id;
		return STATUS_OK;
	}
	const struct shape *shape = NULL;
	if (world->source.find != NULL)
		shape = world->source.find(world->source.context, name);
	if (shape == NULL)
		return REFUSE(
			check, STATUS_UNKNOWN_SHAPE, "name", "%s",
			plan->restricted
				? "the world has no such shape; a player may use shapes that it has, and a "
				  "controller may upload one"
				: "no shape with this name is in the library: upload it before shape_use");
	if (plan->shapes_after >= world->tables.world.shapes_max[0])
		return REFUSE(check, STATUS_LIMIT, "shapes",
			      "the world uses %u shapes, its limit is %u: shape_drop makes room",
			      plan->shapes_after, world->tables.world.shapes_max[0]);
	if (plan->shape_bytes_after + shape->canonical_bytes >
	    world->tables.world.shape_bytes_max[0])
		return REFUSE(
			check, STATUS_LIMIT, "shape_bytes",
			"shapes would take %llu bytes, the world's limit is %llu: shape_drop "
			"makes room",
			(unsigned long long)(plan->shape_bytes_after + shape->canonical_bytes),
			(unsigned long long)world->tables.world.shape_bytes_max[0]);
	if (plan->next_shape >= IDS_END)
		return REFUSE(check, STATUS_LIMIT, "shapes",
			      "the world has used all %u shape ids: create a new world",
			      IDS_END - 1);
	struct planned_shape *added = &plan->shapes[plan->shape_count];
	*added =
		(struct planned_shape){ .id = plan->next_shape++, .row = ROW_NONE, .shape = shape };
	plan_index_put(check, plan_shape_key(added->id), plan->shape_count++);
	plan->values[check->index] = added->id;
	plan->added[check->index] = shape;
	plan->shapes_after++;
	plan->new_shapes++;
	plan->shape_bytes_after += shape->canonical_bytes;
	return STATUS_OK;
}

static enum status check_shape_drop(struct check *check, struct command *command)
{
	struct planned_shape *shape;
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = plan_find_shape(check, &command->shape_drop.shape, &shape, "shape");
	if (status != STATUS_OK)
		return status;
	if (shape->uses > 0)
		return REFUSE(check, STATUS_IN_USE, "shape",
			      "shape %u is used by %lld placements: remove their bodies first",
			      shape->id, (long long)shape->uses);
	shape->dropped = true;
	check->plan->shapes_after--;
	check->plan->shape_bytes_after -= shape->shape->canonical_bytes;
	return STATUS_OK;
}

/* ---- bodies
 * ----------------------------------------------------------------------------------- */

static enum status check_spawn_shapes(struct check *check, struct command_SPAWN *spawn,
				      struct planned_body *body)
{
	struct batch_plan *plan = check->plan;
	struct attachment *items = &plan->attachments[plan->attachment_count];
	const struct shape **shapes = &plan->attached[plan->attachment_count];
	for (uint32_t i = 0; i < spawn->shapes.count; i++) {
		struct planned_shape *shape;
		items[i] = spawn->shapes.items[i];
		items[i].rotation = command_rotation(items[i].rotation);
		enum status status = plan_find_shape(check, &items[i].shape, &shape, "shapes");
		if (status == STATUS_OK)
			status = check_in_plane(check, items[i].position, "shapes");
		if (status == STATUS_OK)
			status = check_rotation_plane(check, items[i].rotation, "shapes");
		if (status != STATUS_OK)
			return status;
		if (check->planar != (shape->shape->kind == SHAPE_POLYGON))
			return REFUSE(check, STATUS_PLANAR, "shapes",
				      "shape %u of the body is a %s: a %s", i,
				      shape_kind_name(shape->shape->kind),
				      check->planar ? "planar world takes polygons only"
						    : "polygon needs a planar world");
		shape->uses++;
		shapes[i] = shape->shape;
		body->static_only |= shape_is_static_only(shape->shape);
	}
	spawn->shapes.items = items;
	plan->attachment_count += spawn->shapes.count;
	body->mass = body_mass_of(spawn, shapes, check->planar);
	return STATUS_OK;
}

static enum status check_spawn_motion(struct check *check, const struct command_SPAWN *spawn)
{
	bool moves = spawn->status == BODY_DYNAMIC || spawn->status == BODY_ANIMATED;
	bool moving = !vec3_equal(spawn->velocity, vec3_zero()) ||
		      !vec3_equal(spawn->angular_velocity, vec3_zero());
	if (moving && !moves)
		return REFUSE(check, STATUS_STATUS_WRONG, "velocity",
			      "status is %s: velocity and angular_velocity must be 0 unless it is "
			      "dynamic or animated",
			      command_word(WORDS_BODY_STATUS, spawn->status));
	enum status status = check_in_plane(check, spawn->position, "position");
	if (status == STATUS_OK)
		status = check_rotation_plane(check, spawn->rotation, "rotation");
	if (status == STATUS_OK)
		status = check_in_plane(check, spawn->velocity, "velocity");
	if (status == STATUS_OK)
		status = check_about_z(check, spawn->angular_velocity, "angular_velocity");
	if (status == STATUS_OK)
		status = check_spin(check, (uint8_t)spawn->flags, spawn->angular_velocity);
	if (status == STATUS_OK && spawn->status == BODY_DYNAMIC)
		status = locks_check(check, spawn->locks, spawn->velocity, spawn->angular_velocity);
	if (status == STATUS_OK)
		status = surface_check(check, spawn->one_way, spawn->surface_velocity);
	return status;
}

/* Moments of mass_rule 2: those of a body that can be. In a planar world only z counts. */
static enum status check_spawn_mass(struct check *check, const struct command_SPAWN *spawn)
{
	bool centred = spawn->mass_rule != MASS_OF_SHAPES;
	if (!centred && !vec3_equal(spawn->centre, vec3_zero()))
		return REFUSE(
			check, STATUS_RANGE, "mass_rule",
			"centre is given and mass_rule is shapes: it must be centre or given");
	if (spawn->mass_rule != MASS_GIVEN && !vec3_equal(spawn->inertia, vec3_zero()))
		return REFUSE(check, STATUS_RANGE, "mass_rule",
			      "inertia is given and mass_rule is %s: it must be given",
			      command_word(WORDS_MASS_RULE, spawn->mass_rule));
	if (!centred)
		return STATUS_OK;
	enum status status = check_in_plane(check, spawn->centre, "centre");
	if (status != STATUS_OK || spawn->mass_rule != MASS_GIVEN)
		return status;
	vec3 m = spawn->inertia;
	double most = vec3_max_component(m), sum = m.x + m.y + m.z;
	if (!(spawn->mass > 0))
		return REFUSE(check, STATUS_RANGE, "mass",
			      "mass_rule is given: mass must be above 0 kg, too");
	if (check->planar ? !(m.z > 0) : !(m.x > 0 && m.y > 0 && m.z > 0))
		return REFUSE(
			check, STATUS_RANGE, "inertia",
			"inertia is [%.10g, %.10g, %.10g] kg m2: %s must be above 0; to keep a "
			"body from rotating, fix its rotation",
			m.x, m.y, m.z, check->planar ? "z" : "each");
	if (!check->planar && most > (sum - most) * (1 + 1e-9))
		return REFUSE(
			check, STATUS_DEGENERATE, "inertia",
			"inertia is [%.10g, %.10g, %.10g] kg m2: no body has a principal moment "
			"above the sum of the others",
			m.x, m.y, m.z);
	return STATUS_OK;
}

static enum status check_spawn_limits(struct check *check, const struct command_SPAWN *spawn)
{
	struct batch_plan *plan = check->plan;
	const struct world_table *limits = &check->world->tables.world;
	if (plan->bodies_after >= limits->bodies_max[0])
		return REFUSE(check, STATUS_LIMIT, "bodies",
			      "the world has %u bodies, its limit is %u: remove bodies first",
			      plan->bodies_after, limits->bodies_max[0]);
	if (plan->placements_after + spawn->shapes.count > limits->placements_max[0])
		return REFUSE(
			check, STATUS_LIMIT, "placements",
			"bodies would have %llu placements of shapes, the world's limit is %u: "
			"remove bodies first",
			(unsigned long long)plan->placements_after + spawn->shapes.count,
			limits->placements_max[0]);
	if (plan->next_body >= IDS_END)
		return REFUSE(check, STATUS_LIMIT, "bodies",
			      "the world has used all %u body ids: create a new world",
			      IDS_END - 1);
	return STATUS_OK;
}

/* A body that goes with another has none that goes with it, so one pass removes all (removal.h). */
static enum status check_spawn_end(struct check *check, struct command_SPAWN *spawn)
{
	struct planned_body *with;
	if (spawn->ends_with == 0)
		return STATUS_OK;
	enum status status = plan_find_named_body(check, &spawn->ends_with, &with, "ends_with");
	if (status == STATUS_OK && with->ends_with != 0)
		return REFUSE(
			check, STATUS_RANGE, "ends_with",
			"ends_with is %u, a body that goes with body %u itself: name that one",
			with->id, with->ends_with);
	return status;
}

static enum status check_spawn(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	struct command_SPAWN *spawn = &command->spawn;
	if (plan->restricted)
		spawn->owner = plan->session;
	enum status status = check_spawn_end(check, spawn);
	if (status != STATUS_OK)
		return status;
	struct planned_body *body = &plan->bodies[plan->body_count];
	*body = (struct planned_body){ .row = ROW_NONE,
				       .spawn = check->index,
				       .owner = spawn->owner,
				       .ends_with = (body_id)spawn->ends_with,
				       .status = spawn->status,
				       .flags = (uint8_t)spawn->flags,
				       .locks = (uint8_t)spawn->locks,
				       .position = spawn->position,
				       .rotation = spawn->rotation,
				       .velocity = spawn->velocity,
				       .angular_velocity = spawn->angular_velocity };
	status = check_spawn_limits(check, spawn);
	if (status == STATUS_OK)
		status = check_spawn_motion(check, spawn);
	if (status == STATUS_OK)
		status = check_spawn_mass(check, spawn);
	if (status == STATUS_OK)
		status = check_spawn_shapes(check, spawn, body);
	if (status == STATUS_OK)
		status = check_status(check, spawn->status, "status", body);
	if (status != STATUS_OK)
		return status;
	body->id = plan->next_body++;
	plan_index_put(check, plan_body_key(body->id), plan->body_count++);
	plan->values[check->index] = body->id;
	plan->bodies_after++;
	plan->born_followers += spawn->ends_with != 0;
	plan->new_bodies++;
	plan->placements_after += spawn->shapes.count;
	plan->new_placements += spawn->shapes.count;
	return STATUS_OK;
}

/* Decrements the uses of a removed body's shapes. */
static void release_shape_uses(struct check *check, const struct planned_body *body)
{
	struct batch_plan *plan = check->plan;
	const struct tables *tables = &check->world->tables;
	if (body->row == ROW_NONE) {
		const struct attachment_list *list = &plan->commands[body->spawn].spawn.shapes;
		for (uint32_t i = 0; i < list->count; i++)
			plan_shape(check, (shape_id)list->items[i].shape)->uses--;
		plan->placements_after -= list->count;
		return;
	}
	for (uint32_t p = tables->body.first_placement[body->row]; p != 0;
	     p = tables->placement.next[p - 1]) {
		uint32_t row = tables->placement.shape[p - 1];
		plan_shape(check, tables->shape.id[row])->uses--;
		plan->placements_after--;
	}
}

static void remove_follower(struct check *check, struct planned_body *body)
{
	struct batch_plan *plan = check->plan;
	ASSERT(!body->removed && plan->bodies_after > 0);
	release_shape_uses(check, body);
	body->removed = true;
	plan->bodies_after--;
	plan->gone[plan->gone_count++] = body->id;
}

/* The bodies that go with a body: of the tables, then of the batch, by ids. */
static void remove_followers(struct check *check, body_id with)
{
	struct batch_plan *plan = check->plan;
	uint32_t low = 0, high = plan->follower_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (plan->followers[middle].with < with)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < plan->follower_count && plan->followers[low].with == with; low++) {
		struct planned_body *body = plan_body(check, plan->followers[low].id);
		if (body != NULL)
			remove_follower(check, body);
	}
	uint32_t known = plan->born_followers > 0 ? plan->body_count : 0;
	for (uint32_t i = 0; i < known; i++) {
		struct planned_body *body = &plan->bodies[i];
		if (body->row == ROW_NONE && body->ends_with == with && !body->removed)
			remove_follower(check, body);
	}
}

static enum status check_remove(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->remove.body, &body);
	if (status != STATUS_OK)
		return status;
	release_shape_uses(check, body);
	body->removed = true;
	check->plan->bodies_after--;
	remove_followers(check, body->id);
	return STATUS_OK;
}

static enum status check_set_pose(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_pose.body, &body);
	if (status == STATUS_OK)
		status = check_not_carried(check, body);
	if (status == STATUS_OK)
		status = check_in_plane(check, command->set_pose.position, "position");
	if (status == STATUS_OK)
		status = check_rotation_plane(check, command->set_pose.rotation, "rotation");
	if (status != STATUS_OK)
		return status;
	body->position = command->set_pose.position;
	body->rotation = command->set_pose.rotation;
	return STATUS_OK;
}

static enum status check_set_velocity(struct check *check, struct command *command)
{
	struct command_SET_VELOCITY *set = &command->set_velocity;
	struct planned_body *body;
	enum status status = plan_find_moving(check, &set->body, &body);
	if (status == STATUS_OK)
		status = check_no_mover(check, body);
	if (status == STATUS_OK)
		status = check_in_plane(check, set->velocity, "velocity");
	if (status == STATUS_OK)
		status = check_about_z(check, set->angular_velocity, "angular_velocity");
	if (status == STATUS_OK)
		status = check_spin(check, body->flags, set->angular_velocity);
	if (status == STATUS_OK && body->status == BODY_DYNAMIC)
		status = locks_check(check, body->locks, set->velocity, set->angular_velocity);
	if (status != STATUS_OK)
		return status;
	body->velocity = set->velocity;
	body->angular_velocity = set->angular_velocity;
	return STATUS_OK;
}

static enum status check_set_status(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_status.body, &body);
	if (status == STATUS_OK)
		status = check_not_carried(check, body);
	if (status == STATUS_OK)
		status = check_status(check, command->set_status.status, "status", body);
	if (status != STATUS_OK)
		return status;
	body->status = command->set_status.status;
	body->quarantined = false;
	if (body->status == BODY_STATIC)
		body->velocity = body->angular_velocity = vec3_zero();
	locks_hold_planned(body);
	return STATUS_OK;
}

static enum status check_force(struct check *check, struct command *command)
{
	enum status status = plan_find_pushed(check, &command->force.body);
	if (status == STATUS_OK)
		status = check_in_plane(check, command->force.force, "force");
	if (status == STATUS_OK)
		status = check_in_plane(check, command->force.point, "point");
	check->plan->new_drives++;
	return status;
}

static enum status check_torque(struct check *check, struct command *command)
{
	enum status status = plan_find_pushed(check, &command->torque.body);
	if (status == STATUS_OK)
		status = check_about_z(check, command->torque.torque, "torque");
	check->plan->new_drives++;
	return status;
}

static enum status check_impulse(struct check *check, struct command *command)
{
	enum status status = plan_find_pushed(check, &command->impulse.body);
	if (status == STATUS_OK)
		status = check_in_plane(check, command->impulse.impulse, "impulse");
	if (status == STATUS_OK)
		status = check_in_plane(check, command->impulse.point, "point");
	return status;
}

static enum status check_angular_impulse(struct check *check, struct command *command)
{
	enum status status = plan_find_pushed(check, &command->angular_impulse.body);
	if (status == STATUS_OK)
		status = check_about_z(check, command->angular_impulse.impulse, "impulse");
	return status;
}

static enum status check_set_material(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_material.body, &body);
}

static enum status check_set_filter(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_filter.body, &body);
}

static enum status check_set_owner(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_owner.body, &body);
	if (status == STATUS_OK)
		body->owner = command->set_owner.owner;
	return status;
}

static enum status check_set_tag(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_tag.body, &body);
}

static enum status check_set_integrator(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_integrator.body, &body);
}

static enum status check_set_colour(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_colour.body, &body);
}

static enum status check_set_damping(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->set_damping.body, &body);
}

static enum status check_wake(struct check *check, struct command *command)
{
	struct planned_body *body;
	return plan_find_body(check, &command->wake.body, &body);
}

/* ---- the world
 * -------------------------------------------------------------------------------- */

static enum status check_gravity(struct check *check, struct command *command)
{
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = check_in_plane(check, command->gravity.gravity, "gravity");
	return status;
}

static enum status check_parameter(struct check *check, struct command *command)
{
	enum status status = check_world_command(check);
	if (status != STATUS_OK)
		return status;
	uint32_t row = parameter_find(command->parameter.name.text);
	if (row == PARAMETER_COUNT)
		return REFUSE(check, STATUS_UNKNOWN_PARAMETER, "name",
			      "name is %s: there is no such parameter; docs/COMMANDS.md lists them",
			      command->parameter.name.text);
	const struct parameter_entry *entry = &parameter_entries[row];
	double value = command->parameter.value;
	char given[REASON_NUMBER_BYTES], min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	bool fits = value >= entry->min && value <= entry->max;
	if (!fits || (entry->whole && value != (double)(int64_t)value))
		return REFUSE(check, STATUS_RANGE, "value",
			      "%s is %s: it must be %s within %s and %s", entry->name,
			      reason_number(value, given), entry->whole ? "an integer" : "a number",
			      reason_number(entry->min, min), reason_number(entry->max, max));
	return STATUS_OK;
}

static enum status check_method_admits(struct check *check, const struct method *method,
				       uint32_t index)
{
	const struct command *command = &check->plan->commands[index];
	const struct shape **shapes = NULL;
	uint32_t count = 0;
	if (command->op == COMMAND_SPAWN) {
		count = command->spawn.shapes.count;
		shapes = check->plan->attached +
			 (command->spawn.shapes.items - check->plan->attachments);
	}
	enum status status =
		method_admit(method, &check->world->dynamics, command, shapes, count, check->why);
	if (status != STATUS_OK && check->why != NULL)
		check->why->index = index;
	return status;
}

static enum status check_method(struct check *check, struct command *command)
{
	enum status status = check_world_command(check);
	if (status != STATUS_OK)
		return status;
	const struct method *method = method_find(command->method.name.text);
	if (method == NULL)
		return REFUSE(check, STATUS_UNKNOWN_METHOD, "name",
			      "name is %s: there is no such method; docs/METHODS.md lists them",
			      command->method.name.text);
	status = method_supports(method, &check->world->dynamics, check->why);
	for (uint32_t i = 0; i < check->index && status == STATUS_OK; i++)
		status = check_method_admits(check, method, i);
	/* Also if it is an earlier command of the batch that the method refuses. */
	if (status != STATUS_OK && check->why != NULL)
		check->why->index = check->index;
	check->plan->method = method;
	return status;
}

static enum status check_seed(struct check *check, struct command *command)
{
	UNUSED(command);
	return check_world_command(check);
}

static enum status check_bounds(struct check *check, struct command *command)
{
	const struct command_BOUNDS *bounds = &command->bounds;
	enum status status = check_world_command(check);
	if (status == STATUS_OK && bounds->mode == BOUNDS_WALLS &&
	    !walls_fit_bounds(check->planar, bounds->minimum, bounds->maximum))
		return REFUSE(
			check, STATUS_RANGE, "maximum",
			"bounds are %.10g m by %.10g m: walls of a planar world may be at most "
			"%.10g m apart",
			bounds->maximum.x - bounds->minimum.x,
			bounds->maximum.y - bounds->minimum.y, WALL_SPAN_MAX);
	return status;
}

/* ---- a batch
 * ---------------------------------------------------------------------------------- */

typedef enum status check_function(struct check *check, struct command *command);

/* Every command of the list has its check_<name>; a missing one does not link. */
static check_function *const checks[COMMAND_OPS_MAX] = {
#define COMMAND(number, NAME, name, needed, result, doc) [number] = check_##name,
#include "server/engine/world/commands.def"
};

static int compare_followers(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct planned_follower *x = a, *y = b;
	if (x->with != y->with)
		return x->with < y->with ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void list_followers(struct batch_plan *plan, const struct world *world)
{
	const struct body_table *body = &world->tables.body;
	for (uint32_t row = 0; row < body->count; row++)
		if (body->ends_with[row] != 0)
			plan->followers[plan->follower_count++] =
				(struct planned_follower){ body->ends_with[row], body->id[row] };
	ASSERT(plan->follower_count == world->follower_count);
	sort_items(plan->followers, plan->follower_scratch, plan->follower_count,
		   sizeof *plan->followers, compare_followers, NULL);
}

static void start_systems(struct batch_plan *plan, const struct world *world)
{
	plan->next_system = world->tables.world.next_system[0];
	plan->systems_after = world->dynamics.system_used.count;
	plan->capacity_after = dynamics_system_capacity(&world->dynamics);
	plan->new_systems = plan->new_particles = plan->new_links = plan->new_pins = 0;
	plan->new_fluids = plan->new_holds = plan->new_meetings = plan->new_sinks = 0;
	plan->links_after = world->tables.link.count;
}

static void start_plan(struct batch_plan *plan, const struct world *world,
		       const struct batch *batch)
{
	plan->source = batch->commands;
	plan->count = batch->count;
	plan->session = batch->session;
	plan->restricted = batch->restricted;
	plan->attachment_count = plan->body_count = plan->shape_count = 0;
	plan->joint_count = plan->field_count = plan->target_count = plan->weight_count = 0;
	plan->system_count = 0;
	plan->next_joint = world->tables.world.next_joint[0];
	plan->joints_after = world->dynamics.joint_used.count;
	plan->new_joints = plan->new_points = plan->new_fields = plan->new_pieces = 0;
	plan->new_visuals = plan->new_labels = 0;
	plan->new_movers = plan->new_carriers = 0;
	plan->next_field = world->tables.world.next_field[0];
	plan->fields_after = world->dynamics.field_used.count;
	start_systems(plan, world);
	plan->next_body = world->tables.world.next_body[0];
	plan->next_shape = world->tables.world.next_shape[0];
	plan->bodies_after = world_body_count(world);
	plan->placements_after = world_placement_count(world);
	plan->shapes_after = shapes_count(world);
	plan->shape_bytes_after = world->shape_bytes;
	plan->new_bodies = plan->new_placements = plan->new_shapes = plan->new_drives = 0;
	plan->method = world->method.method;
	plan->follower_count = plan->gone_count = plan->born_followers = 0;
	bool removes = false;
	for (uint32_t i = 0; i < batch->count && world->follower_count > 0; i++)
		removes |= batch->commands[i].op == COMMAND_REMOVE;
	if (removes)
		list_followers(plan, world);
}

/* The memory limit. New rows are counted as if no row were free, so that the answer depends only
 * on state and batch. */
static enum status check_memory(const struct batch_plan *plan, const struct world *world,
				struct reason *why)
{
	const struct tables *tables = &world->tables;
	uint64_t before = tables_charge(tables), bytes = before;
	bytes += (uint64_t)plan->new_bodies * table_row_charge(TABLE_BODY);
	bytes += (uint64_t)plan->new_placements * table_row_charge(TABLE_PLACEMENT);
	bytes += (uint64_t)plan->new_shapes * table_row_charge(TABLE_SHAPE);
	bytes += (uint64_t)plan->new_drives * table_row_charge(TABLE_DRIVE);
	bytes += (uint64_t)plan->new_joints * table_row_charge(TABLE_JOINT);
	bytes += (uint64_t)plan->new_points * table_row_charge(TABLE_JOINT_POINT);
	bytes += (uint64_t)plan->new_fields * table_row_charge(TABLE_FIELD);
	bytes += (uint64_t)plan->new_pieces * table_row_charge(TABLE_PIECE);
	bytes += (uint64_t)plan->new_movers * table_row_charge(TABLE_MOVER);
	bytes += (uint64_t)plan->new_systems * table_row_charge(TABLE_SYSTEM);
	bytes += (uint64_t)plan->new_particles * table_row_charge(TABLE_PARTICLE);
	bytes += (uint64_t)plan->new_visuals * table_row_charge(TABLE_VISUAL);
	bytes += (uint64_t)plan->new_labels * table_row_charge(TABLE_LABEL);
	bytes += (uint64_t)plan->new_links * table_row_charge(TABLE_LINK);
	bytes += (uint64_t)plan->new_pins * table_row_charge(TABLE_PIN);
	bytes += (uint64_t)plan->new_holds * table_row_charge(TABLE_HOLD);
	bytes += (uint64_t)plan->new_carriers * table_row_charge(TABLE_CARRIER);
	bytes += (uint64_t)plan->new_meetings * table_row_charge(TABLE_MEETING);
	bytes += (uint64_t)plan->new_fluids * table_row_charge(TABLE_FLUID);
	bytes += (uint64_t)plan->new_sinks * table_row_charge(TABLE_SINK);
	bool grows = bytes > before;
	if (!grows || bytes <= tables->world.memory_max[0])
		return STATUS_OK;
	return reason_set(
		why, STATUS_LIMIT, -1, "memory",
		"tables would take %llu bytes, the world's limit memory_max is %llu: remove "
		"bodies first",
		(unsigned long long)bytes, (unsigned long long)tables->world.memory_max[0]);
}

static enum status check_commands(struct batch_plan *plan, struct world *world,
				  const struct batch *batch, struct reason *why)
{
	struct check check = { .world = world,
			       .plan = plan,
			       .planar = world->tables.world.planar[0] != 0,
			       .why = why };
	for (uint32_t i = 0; i < batch->count; i++) {
		check.index = i;
		enum status status = command_check_values(&batch->commands[i], i, why);
		plan->commands[i] = batch->commands[i];
		plan->values[i] = 0;
		plan->added[i] = NULL;
		if (status == STATUS_OK)
			status = checks[batch->commands[i].op](&check, &plan->commands[i]);
		plan->gone_end[i] = plan->gone_count;
		if (status == STATUS_OK)
			status = check_method_admits(&check, plan->method, i);
		if (status != STATUS_OK)
			return status;
	}
	return check_memory(plan, world, why);
}

enum status batch_asks(const struct world *world, const struct batch *batch, struct reason *why)
{
	const struct method *method = world->method.method;
	enum status status = STATUS_OK;
	uint8_t asked = 0; /* by earlier commands */
	for (uint32_t i = 0; i < batch->count && status == STATUS_OK; i++) {
		const struct command *command = &batch->commands[i];
		if (command->op == COMMAND_METHOD) {
			method = method_find(command->method.name.text);
			if (method == NULL)
				return STATUS_OK; /* refused when it is checked */
			status = method_asks_world(method, &world->tables, why);
			for (uint32_t k = 0; (asked & method->ignores) != 0 && k < i; k++)
				if (status == STATUS_OK)
					status = method_asks_command(method, &batch->commands[k],
								     why);
		} else {
			status = method_asks_command(method, command, why);
			asked |= material_properties(command);
		}
		if (status != STATUS_OK && why != NULL)
			why->index = (int32_t)i;
	}
	return status;
}

enum status plan_check(struct batch_plan *plan, struct world *world, const struct batch *batch,
		       struct reason *why)
{
	if (batch->count > BATCH_COMMANDS_MAX)
		return reason_set(
			why, STATUS_RANGE, -1, "count",
			"the batch has %u commands, the limit is %u: send several batches",
			batch->count, BATCH_COMMANDS_MAX);
	start_plan(plan, world, batch);
	enum status status = check_commands(plan, world, batch, why);
	for (uint32_t i = 0; i < plan->body_count; i++)
		table_remove(&world->plan_index, plan_body_key(plan->bodies[i].id));
	for (uint32_t i = 0; i < plan->shape_count; i++)
		table_remove(&world->plan_index, plan_shape_key(plan->shapes[i].id));
	for (uint32_t i = 0; i < plan->joint_count; i++)
		table_remove(&world->plan_index, plan_joint_key(plan->joints[i].id));
	for (uint32_t i = 0; i < plan->field_count; i++)
		table_remove(&world->plan_index, plan_field_key(plan->fields[i].id));
	for (uint32_t i = 0; i < plan->system_count; i++)
		table_remove(&world->plan_index, plan_system_key(plan->systems[i].id));
	return status;
}
