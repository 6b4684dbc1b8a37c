/* See plan_find.h. The plan holds a copy of each body, shape and joint that a command of the
 * batch names: it is made from the tables at the first look-up and changed by every command
 * after that, while the tables stay as they are. A row that an earlier command of the batch
 * removed is not found.
 */
#include "server/engine/world/plan_find.h"

#include "server/engine/world/carriers.h"
#include "server/engine/world/visuals.h"

#include "server/engine/fluids/fluid.h"
#include "server/engine/dynamics/force_field.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/particles/particles.h"

#include <string.h>

uint64_t plan_body_key(body_id id)
{
	return id;
}

uint64_t plan_shape_key(shape_id id)
{
	return (uint64_t)1 << 32 | id;
}

uint64_t plan_joint_key(joint_id id)
{
	return (uint64_t)2 << 32 | id;
}

uint64_t plan_field_key(field_id id)
{
	return (uint64_t)3 << 32 | id;
}

uint64_t plan_system_key(system_id id)
{
	return (uint64_t)4 << 32 | id;
}

void plan_index_put(struct check *check, uint64_t key, uint32_t value)
{
	enum status status = table_insert(&check->world->plan_index, key, value);
	ASSERT(status == STATUS_OK);
}

struct planned_body *plan_body(struct check *check, body_id id)
{
	struct batch_plan *plan = check->plan;
	uint32_t at;
	if (table_find(&check->world->plan_index, plan_body_key(id), &at))
		return plan->bodies[at].removed ? NULL : &plan->bodies[at];
	uint32_t row = id < IDS_END ? dynamics_find_body(&check->world->dynamics, id) : ROW_NONE;
	if (row == ROW_NONE)
		return NULL;
	const struct tables *tables = &check->world->tables;
	const struct body_table *table = &tables->body;
	struct planned_body *body = &plan->bodies[plan->body_count];
	*body = (struct planned_body){ .id = id,
				       .row = row,
				       .owner = table->owner[row],
				       .ends_with = table->ends_with[row],
				       .status = table->status[row],
				       .flags = table->flags[row],
				       .locks = table->locks[row],
				       .quarantined = table->quarantined[row] != 0,
				       .mover = table->mover[row] != 0,
				       .carried = table->carrier[row] != 0,
				       .carries = table->first_carried[row] != 0,
				       .joined = table->first_joint[row] != 0,
				       .visuals = visuals_of(tables, row),
				       .position = table->position[row],
				       .rotation = table->rotation[row],
				       .velocity = table->velocity[row],
				       .angular_velocity = table->angular_velocity[row],
				       .density = table->density[row],
				       .mass.mass = table->mass[row],
				       .mass.centre = table->centre[row] };
	memcpy(body->mass.inertia, table->inertia[row], sizeof body->mass.inertia);
	for (uint32_t p = table->first_placement[row]; p != 0; p = tables->placement.next[p - 1])
		body->static_only |=
			shape_is_static_only(check->world->shapes[tables->placement.shape[p - 1]]);
	plan_index_put(check, plan_body_key(id), plan->body_count++);
	return body;
}

struct planned_shape *plan_shape(struct check *check, shape_id id)
{
	struct batch_plan *plan = check->plan;
	uint32_t at;
	if (table_find(&check->world->plan_index, plan_shape_key(id), &at))
		return plan->shapes[at].dropped ? NULL : &plan->shapes[at];
	uint32_t row = id < IDS_END ? shapes_find(check->world, id) : ROW_NONE;
	if (row == ROW_NONE)
		return NULL;
	struct planned_shape *shape = &plan->shapes[plan->shape_count];
	*shape = (struct planned_shape){ .id = id,
					 .row = row,
					 .shape = check->world->shapes[row],
					 .uses = check->world->tables.shape.uses[row] };
	plan_index_put(check, plan_shape_key(id), plan->shape_count++);
	return shape;
}

/* Replaces a back reference −k by the id that command k − 1 of the batch yields; other ids stay
 * as they are. */
static enum status resolve_id(struct check *check, int64_t *id, enum command_result kind,
			      const char *field)
{
	if (*id > 0)
		return STATUS_OK;
	int64_t earlier = -*id - 1;
	if (earlier >= check->index)
		return REFUSE(
			check, STATUS_BACK_REFERENCE, field,
			"%s is %lld: this is command %u of the batch, a back reference must be "
			"within -%u and -1",
			field, (long long)*id, check->index, check->index);
	if (command_info(check->plan->commands[earlier].op)->result != kind)
		return REFUSE(check, STATUS_BACK_REFERENCE, field,
			      "%s is %lld: command %lld of the batch makes no %s", field,
			      (long long)*id, (long long)earlier, command_result_name(kind));
	ASSERT(earlier >= 0 && earlier < check->index);
	*id = check->plan->values[earlier];
	ASSERT(*id > 0);
	return STATUS_OK;
}

/* The body may be commanded by the batch's session. */
static enum status check_owned(const struct check *check, body_id id, uint32_t owner,
			       const char *field)
{
	if (check->plan->restricted && owner != check->plan->session)
		return REFUSE(check, STATUS_NOT_OWNER, field,
			      "%s is %u: it belongs to session %u, and a player (session %u) may "
			      "command only its own; a controller may give it away (set_owner)",
			      field, id, owner, check->plan->session);
	return STATUS_OK;
}

static enum status refuse_unknown_body(const struct check *check, int64_t id, const char *field)
{
	return REFUSE(check, STATUS_UNKNOWN_BODY, field,
		      "%s is %lld: there is no such body in this world; it may have been removed",
		      field, (long long)id);
}

enum status plan_find_named_body(struct check *check, int64_t *id, struct planned_body **body,
				 const char *field)
{
	enum status status = resolve_id(check, id, RESULT_BODY, field);
	if (status != STATUS_OK)
		return status;
	*body = plan_body(check, (body_id)*id);
	if (*body == NULL)
		return refuse_unknown_body(check, *id, field);
	return check_owned(check, (*body)->id, (*body)->owner, field);
}

enum status plan_find_body(struct check *check, int64_t *id, struct planned_body **body)
{
	return plan_find_named_body(check, id, body, "body");
}

/* An earlier command of the batch removed this body. */
static bool body_is_gone(const struct check *check, body_id id)
{
	uint32_t at;
	return id != 0 && table_find(&check->world->plan_index, plan_body_key(id), &at) &&
	       check->plan->bodies[at].removed;
}

static body_id joint_body_id(const struct tables *tables, uint32_t row, uint32_t side)
{
	uint32_t body = joint_body(tables, row, side);
	return body == DYNAMICS_NONE ? 0 : tables->body.id[body];
}

static struct planned_joint *plan_joint(struct check *check, joint_id id)
{
	struct batch_plan *plan = check->plan;
	uint32_t at;
	struct planned_joint *joint;
	if (table_find(&check->world->plan_index, plan_joint_key(id), &at)) {
		joint = &plan->joints[at];
	} else {
		uint32_t row = dynamics_find_joint(&check->world->dynamics, id);
		if (row == ROW_NONE)
			return NULL;
		const struct tables *tables = &check->world->tables;
		joint = &plan->joints[plan->joint_count];
		*joint = (struct planned_joint){ .id = id,
						 .row = row,
						 .owner = tables->joint.owner[row],
						 .type = tables->joint.type[row],
						 .a = joint_body_id(tables, row, 0),
						 .b = joint_body_id(tables, row, 1) };
		memcpy(joint->motor, tables->joint.motor[row], sizeof joint->motor);
		plan_index_put(check, plan_joint_key(id), plan->joint_count++);
	}
	bool gone =
		joint->removed || body_is_gone(check, joint->a) || body_is_gone(check, joint->b);
	return gone ? NULL : joint;
}

enum status plan_find_joint(struct check *check, int64_t *id, struct planned_joint **joint,
			    const char *field)
{
	enum status status = resolve_id(check, id, RESULT_JOINT, field);
	if (status != STATUS_OK)
		return status;
	*joint = plan_joint(check, (joint_id)*id);
	if (*joint == NULL)
		return REFUSE(
			check, STATUS_UNKNOWN_JOINT, field,
			"%s is %lld: there is no such joint in this world; it may have broken or "
			"been removed",
			field, (long long)*id);
	if (check->plan->restricted && (*joint)->owner != check->plan->session)
		return REFUSE(check, STATUS_NOT_OWNER, field,
			      "%s is %u: it belongs to session %u, and a player (session %u) may "
			      "command only its own; a controller may command it",
			      field, (*joint)->id, (*joint)->owner, check->plan->session);
	return STATUS_OK;
}

static struct planned_field *plan_field(struct check *check, field_id id)
{
	struct batch_plan *plan = check->plan;
	uint32_t at;
	if (table_find(&check->world->plan_index, plan_field_key(id), &at))
		return plan->fields[at].removed ? NULL : &plan->fields[at];
	if (dynamics_find_field(&check->world->dynamics, id) == ROW_NONE)
		return NULL;
	struct planned_field *field = &plan->fields[plan->field_count];
	*field = (struct planned_field){ .id = id };
	plan_index_put(check, plan_field_key(id), plan->field_count++);
	return field;
}

enum status plan_find_field(struct check *check, int64_t *id, struct planned_field **field)
{
	enum status status = resolve_id(check, id, RESULT_FORCE_FIELD, "field");
	if (status != STATUS_OK)
		return status;
	*field = plan_field(check, (field_id)*id);
	if (*field == NULL)
		return REFUSE(
			check, STATUS_UNKNOWN_FIELD, "field",
			"field is %lld: there is no such force field in this world; it may have "
			"been removed",
			(long long)*id);
	return STATUS_OK;
}

static struct planned_system *plan_system(struct check *check, system_id id)
{
	struct batch_plan *plan = check->plan;
	uint32_t at;
	if (table_find(&check->world->plan_index, plan_system_key(id), &at))
		return plan->systems[at].removed ? NULL : &plan->systems[at];
	uint32_t row = dynamics_find_system(&check->world->dynamics, id);
	if (row == ROW_NONE)
		return NULL;
	const struct system_table *table = &check->world->tables.system;
	const struct sink_table *sink = &check->world->tables.sink;
	struct planned_system *system = &plan->systems[plan->system_count];
	*system = (struct planned_system){
		.id = id,
		.born = table->born[row],
		.refused = table->refused[row],
		.recycle = table->recycle[row],
		.meets = particle_meetings(&check->world->tables, id),
		.linked = table->links[row] + table->pins[row] + table->holds[row] > 0,
		.interacts = (table->forces[row] != 0 && table->cutoff[row] > 0) ||
			     table->collisions[row] != 0,
		.fluid = fluid_find(&check->world->tables, row) != ROW_NONE,
		.owner = table->owner[row],
		.capacity = table->most[row],
		.alive = table->alive[row]
	};
	for (uint32_t i = 0; i < sink->count; i++)
		if (sink->system[i] == row)
			system->sinks |= 1u << (sink->number[i] - 1);
	plan_index_put(check, plan_system_key(id), plan->system_count++);
	return system;
}

enum status plan_find_named_system(struct check *check, int64_t *id, struct planned_system **system,
				   const char *field)
{
	enum status status = resolve_id(check, id, RESULT_PARTICLES, field);
	if (status != STATUS_OK)
		return status;
	*system = plan_system(check, (system_id)*id);
	if (*system == NULL)
		return REFUSE(check, STATUS_UNKNOWN_PARTICLES, field,
			      "%s is %lld: there is no such particle system in this world; it "
			      "may have been removed",
			      field, (long long)*id);
	if (check->plan->restricted && (*system)->owner != check->plan->session)
		return REFUSE(check, STATUS_NOT_OWNER, field,
			      "%s is %u: it belongs to session %u, and a player (session %u) may "
			      "command only its own; a controller may command it",
			      field, (*system)->id, (*system)->owner, check->plan->session);
	return STATUS_OK;
}

enum status plan_find_system(struct check *check, int64_t *id, struct planned_system **system)
{
	return plan_find_named_system(check, id, system, "system");
}

enum status plan_find_shape(struct check *check, int64_t *id, struct planned_shape **shape,
			    const char *field)
{
	enum status status = resolve_id(check, id, RESULT_SHAPE, field);
	if (status != STATUS_OK)
		return status;
	*shape = plan_shape(check, (shape_id)*id);
	if (*shape == NULL)
		return REFUSE(
			check, STATUS_UNKNOWN_SHAPE, field,
			"%s is %lld: there is no such shape in this world; shape_use adds one",
			field, (long long)*id);
	return STATUS_OK;
}

/* The body may be given velocity, or, if `dynamic`, force. */
static enum status check_moving(const struct check *check, body_id id, bool quarantined,
				uint8_t body_status, bool dynamic)
{
	if (quarantined)
		return REFUSE(check, STATUS_QUARANTINED, "body",
			      "body %u is in quarantine: set_status returns it to the simulation",
			      id);
	bool fits = body_status == BODY_DYNAMIC || (!dynamic && body_status == BODY_ANIMATED);
	if (!fits)
		return REFUSE(check, STATUS_STATUS_WRONG, "body",
			      "body %u is %s: it must be dynamic%s; set_status changes that", id,
			      command_word(WORDS_BODY_STATUS, body_status),
			      dynamic ? "" : " or animated");
	return STATUS_OK;
}

enum status plan_find_moving(struct check *check, int64_t *id, struct planned_body **body)
{
	enum status status = plan_find_body(check, id, body);
	if (status == STATUS_OK)
		status = check_not_carried(check, *body);
	if (status != STATUS_OK)
		return status;
	return check_moving(check, (*body)->id, (*body)->quarantined, (*body)->status, false);
}

enum status plan_find_pushed(struct check *check, int64_t *id)
{
	enum status status = resolve_id(check, id, RESULT_BODY, "body");
	if (status != STATUS_OK)
		return status;
	const struct batch_plan *plan = check->plan;
	const struct body_table *table = &check->world->tables.body;
	body_id body = (body_id)*id;
	uint32_t at, owner;
	uint8_t body_status;
	bool quarantined, carried;
	if (plan->body_count > 0 &&
	    table_find(&check->world->plan_index, plan_body_key(body), &at)) {
		const struct planned_body *planned = &plan->bodies[at];
		if (planned->removed)
			return refuse_unknown_body(check, *id, "body");
		owner = planned->owner;
		body_status = planned->status;
		quarantined = planned->quarantined;
		carried = planned->carried;
	} else {
		uint32_t row = body < IDS_END ? dynamics_find_body(&check->world->dynamics, body)
					      : ROW_NONE;
		if (row == ROW_NONE)
			return refuse_unknown_body(check, *id, "body");
		owner = table->owner[row];
		body_status = table->status[row];
		quarantined = table->quarantined[row] != 0;
		carried = table->carrier[row] != 0;
	}
	status = check_owned(check, body, owner, "body");
	if (status == STATUS_OK && carried)
		status = check_not_carried(check,
					   &(struct planned_body){ .id = body, .carried = true });
	if (status != STATUS_OK)
		return status;
	return check_moving(check, body, quarantined, body_status, true);
}
