/* method.c: the list of methods, their aliases, and the life of a world's method. See method.h. */
#include "server/engine/methods/method.h"

#include "server/engine/dynamics/step.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* In ascending order of numbers. */
static const struct method *const METHODS[] = {
	&method_free,	&method_soft_step, &method_lcp,	  &method_projection, &method_reflection,
	&method_impact, &method_penalty,   &method_gauss, &method_pile
};

const struct method *const *method_list(uint32_t *count)
{
	for (uint32_t i = 1; i < COUNT_OF(METHODS); i++)
		VALIDATE(METHODS[i - 1]->number < METHODS[i]->number);
	*count = (uint32_t)COUNT_OF(METHODS);
	return METHODS;
}

const struct method *method_unlisted;

/* Names that papers C-01 uses. */
static const struct method_alias ALIASES[] = {
	{ "velocity-projection", "projection", UINT32_MAX, 0 },
	{ "gr-lcp", "reflection", PARAMETER_REFLECTION_CORE, 0 },
	{ "gr-velocity-projection", "reflection", PARAMETER_REFLECTION_CORE, 1 },
};

const struct method_alias *method_aliases(uint32_t *count)
{
	*count = (uint32_t)COUNT_OF(ALIASES);
	return ALIASES;
}

const struct method_alias *method_alias(const char *name)
{
	for (uint32_t i = 0; i < COUNT_OF(ALIASES); i++)
		if (strcmp(ALIASES[i].name, name) == 0)
			return &ALIASES[i];
	return NULL;
}

const struct method *method_find(const char *name)
{
	const struct method_alias *alias = method_alias(name);
	name = alias != NULL ? alias->method : name;
	for (uint32_t i = 0; i < COUNT_OF(METHODS); i++)
		if (strcmp(METHODS[i]->name, name) == 0)
			return METHODS[i];
	return method_unlisted != NULL && strcmp(method_unlisted->name, name) == 0 ? method_unlisted
										   : NULL;
}

const struct method *method_by_number(uint16_t number)
{
	for (uint32_t i = 0; i < COUNT_OF(METHODS); i++)
		if (METHODS[i]->number == number)
			return METHODS[i];
	ASSERT(method_unlisted == NULL || method_unlisted->number != 0);
	return method_unlisted != NULL && method_unlisted->number == number ? method_unlisted
									    : NULL;
}

/* ---- properties of materials that a method does not have ------------------------------------------ */

/* Of a body, a piece or a command: what it is asked for. */
struct asked_material {
	double friction, restitution, rolling, spinning;
	vec3 axis;
};

static uint8_t properties_of(const struct asked_material *of)
{
	return (uint8_t)((of->rolling > 0 ? MATERIAL_ROLLING : 0) |
			 (of->spinning > 0 ? MATERIAL_SPINNING : 0) |
			 (vec3_length_squared(of->axis) > 0 ? MATERIAL_AXIS : 0) |
			 (of->friction > 0 ? MATERIAL_FRICTION : 0) |
			 (of->restitution > 0 ? MATERIAL_RESTITUTION : 0));
}

/* Of a row of the table of bodies or of pieces. */
#define MATERIAL_AT(table, row)                                                                    \
	((struct asked_material){                                                                  \
		scalar_max((table)->static_friction[row], (table)->dynamic_friction[row]),         \
		(table)->restitution[row], (table)->rolling_friction[row],                         \
		(table)->spinning_friction[row], (table)->friction_axis[row] })

/* Of the fields of a command. */
#define MATERIAL_OF(fields)                                                                        \
	((struct asked_material){                                                                  \
		scalar_max((fields)->static_friction, (fields)->dynamic_friction),                 \
		(fields)->restitution, (fields)->rolling_friction, (fields)->spinning_friction,    \
		(fields)->friction_axis })

/* Commands that set no material ask for nothing. */
static struct asked_material material_of_command(const struct command *command)
{
	if (command->op == COMMAND_SPAWN)
		return MATERIAL_OF(&command->spawn);
	if (command->op == COMMAND_SET_MATERIAL)
		return MATERIAL_OF(&command->set_material);
	if (command->op == COMMAND_SET_PIECE && (command->set_piece.own & OWN_MATERIAL) != 0)
		return MATERIAL_OF(&command->set_piece);
	return (struct asked_material){ .axis = vec3_zero() };
}

uint8_t material_properties(const struct command *command)
{
	struct asked_material asked = material_of_command(command);
	return properties_of(&asked);
}

/* The name and value, or length, of the first of some properties. */
static const char *name_property(uint8_t properties, const struct asked_material *of, double *value)
{
	const struct {
		uint8_t property;
		const char *name;
		double value;
	} names[] = {
		{ MATERIAL_ROLLING, "rolling_friction", of->rolling },
		{ MATERIAL_SPINNING, "spinning_friction", of->spinning },
		{ MATERIAL_AXIS, "friction_axis", vec3_length(of->axis) },
		{ MATERIAL_FRICTION, "static_friction", of->friction },
		{ MATERIAL_RESTITUTION, "restitution", of->restitution },
	};
	uint32_t i = 0;
	ASSERT(properties != 0 && properties < 2 * MATERIAL_RESTITUTION);
	while ((names[i].property & properties) == 0)
		i++;
	*value = names[i].value;
	return names[i].name;
}

/* Which methods have the property, for the remedy of a refusal. */
static const char *methods_with(const char *property)
{
	bool common =
		strcmp(property, "static_friction") == 0 || strcmp(property, "restitution") == 0;
	return common					? "soft-step, lcp or impact"
	       : strcmp(property, "friction_axis") == 0 ? "soft-step or impact"
							: "soft-step";
}

static const char *kind_of(const char *property)
{
	return strcmp(property, "friction_axis") == 0 ? "a vector of length " : "";
}

/* A body, or a piece of it, that has some of the properties. `what`: "" or "a piece of ". */
static enum status refuse_material(const struct method *method, uint8_t properties,
				   const struct asked_material *of, const char *what, body_id body,
				   struct reason *why)
{
	char given[REASON_NUMBER_BYTES];
	double value;
	uint8_t has = properties_of(of) & properties;
	if (has == 0)
		return STATUS_OK;
	const char *name = name_property(has, of, &value);
	return reason_set(why, STATUS_METHOD_REFUSES, -1, name,
			  "%s of %sbody %u is %s%s, which %s does not support: set it to 0, "
			  "or choose %s",
			  name, what, body, kind_of(name), reason_number(value, given),
			  method->name, methods_with(name));
}

static enum status refuse_world(const struct method *method, uint8_t properties,
				const struct tables *tables, struct reason *why)
{
	ASSERT(properties < 2 * MATERIAL_RESTITUTION);
	const struct body_table *bodies = &tables->body;
	const struct piece_table *pieces = &tables->piece;
	enum status status = STATUS_OK;
	if (properties == 0)
		return status;
	for (uint32_t row = 0; row < bodies->count && status == STATUS_OK; row++) {
		struct asked_material asked = MATERIAL_AT(bodies, row);
		if (bodies->id[row] != 0)
			status = refuse_material(method, properties, &asked, "", bodies->id[row],
						 why);
	}
	for (uint32_t row = 0; row < pieces->count && status == STATUS_OK; row++) {
		struct asked_material asked = MATERIAL_AT(pieces, row);
		if (pieces->body[row] > 0)
			status = refuse_material(method, properties, &asked, "a piece of ",
						 bodies->id[pieces->body[row] - 1], why);
	}
	return status;
}

static enum status refuse_command(const struct method *method, uint8_t properties,
				  const struct command *command, struct reason *why)
{
	struct asked_material asked = material_of_command(command);
	uint8_t has = properties_of(&asked) & properties;
	if (has == 0)
		return STATUS_OK;
	char given[REASON_NUMBER_BYTES];
	double value;
	const char *name = name_property(has, &asked, &value);
	const char *remedy =
		has & (MATERIAL_FRICTION | MATERIAL_RESTITUTION) ? "set it to 0" : "leave it out";
	return reason_set(why, STATUS_METHOD_REFUSES, -1, name,
			  "%s is %s%s, which %s does not support: %s, or choose %s", name,
			  kind_of(name), reason_number(value, given), method->name, remedy,
			  methods_with(name));
}

enum status method_asks_world(const struct method *method, const struct tables *tables,
			      struct reason *why)
{
	return refuse_world(method, method->ignores, tables, why);
}

enum status method_asks_command(const struct method *method, const struct command *command,
				struct reason *why)
{
	return refuse_command(method, method->ignores, command, why);
}

/* ---- locked axes ------------------------------------------------------------------------------------ */

static enum status refuse_locked_body(const struct method *method, const struct body_table *bodies,
				      struct reason *why)
{
	for (uint32_t row = 0; row < bodies->count && method->no_locks; row++)
		if (bodies->id[row] != 0 && bodies->locks[row] != 0)
			return reason_set(
				why, STATUS_METHOD_REFUSES, -1, "locks",
				"locks of body %u is %u, which %s does not support: set it "
				"to 0 (set_locks), or choose another method",
				bodies->id[row], bodies->locks[row], method->name);
	return STATUS_OK;
}

static enum status refuse_locking(const struct method *method, const struct command *command,
				  struct reason *why)
{
	ASSERT(method->name != NULL);
	uint32_t locks = command->op == COMMAND_SPAWN	    ? command->spawn.locks
			 : command->op == COMMAND_SET_LOCKS ? command->set_locks.locks
							    : 0;
	if (!method->no_locks || locks == 0)
		return STATUS_OK;
	return reason_set(why, STATUS_METHOD_REFUSES, -1, "locks",
			  "locks is %u, which %s does not support: leave it out, or choose another "
			  "method first",
			  locks, method->name);
}

/* ---- mutual fields ------------------------------------------------------------------------------ */

static enum status refuse_mutual(const struct method *method, const struct field_table *fields,
				 struct reason *why)
{
	for (uint32_t row = 0; row < fields->count && !method->mutual; row++)
		if (fields->id[row] != 0 && fields->kind[row] == FIELD_MUTUAL)
			return reason_set(why, STATUS_METHOD_REFUSES, -1, "kind",
					  "force field %u is mutual, which %s does not support: "
					  "remove it (field_remove), or choose pile",
					  fields->id[row], method->name);
	return STATUS_OK;
}

static enum status refuse_making_mutual(const struct method *method, const struct command *command,
					struct reason *why)
{
	uint8_t kind = command->op == COMMAND_FIELD_CREATE ? command->field_create.kind
		       : command->op == COMMAND_FIELD_SET  ? command->field_set.kind
							   : 0;
	ASSERT(method->name != NULL);
	if (method->mutual || kind != FIELD_MUTUAL)
		return STATUS_OK;
	return reason_set(
		why, STATUS_METHOD_REFUSES, -1, "kind",
		"kind is mutual, which %s does not support: use an attractor, or choose pile "
		"first",
		method->name);
}

/* ---- what a method supports ----------------------------------------------------------------------- */

enum status method_supports(const struct method *method, const struct dynamics *dynamics,
			    struct reason *why)
{
	if (!method->joints && dynamics->joint_used.count > 0)
		return reason_set(
			why, STATUS_METHOD_REFUSES, -1, "method",
			"%s does not support joints: remove the world's %u, or choose another method",
			method->name, dynamics->joint_used.count);
	if (!method->carriers && dynamics->carrier_used.count > 0)
		return reason_set(
			why, STATUS_METHOD_REFUSES, -1, "method",
			"%s does not support bodies that points carry: uncarry the world's %u, "
			"or choose gauss",
			method->name, dynamics->carrier_used.count);
	enum status status = refuse_world(method, method->refuses, dynamics->tables, why);
	if (status == STATUS_OK)
		status = refuse_locked_body(method, &dynamics->tables->body, why);
	if (status == STATUS_OK)
		status = refuse_mutual(method, &dynamics->tables->field, why);
	if (status != STATUS_OK || method->supports == NULL)
		return status;
	return method->supports(dynamics, why);
}

enum status method_admit(const struct method *method, const struct dynamics *dynamics,
			 const struct command *command, const struct shape *const *spawn_shapes,
			 uint32_t spawn_shape_count, struct reason *why)
{
	if (!method->joints && command->op == COMMAND_JOINT_CREATE)
		return reason_set(why, STATUS_METHOD_REFUSES, -1, "op",
				  "%s does not support joints: choose another method first",
				  method->name);
	if (!method->carriers && command->op == COMMAND_CARRY)
		return reason_set(
			why, STATUS_METHOD_REFUSES, -1, "op",
			"%s does not support bodies that points carry: choose gauss first",
			method->name);
	enum status status = refuse_command(method, method->refuses, command, why);
	if (status == STATUS_OK)
		status = refuse_locking(method, command, why);
	if (status == STATUS_OK)
		status = refuse_making_mutual(method, command, why);
	if (status != STATUS_OK || method->admit == NULL)
		return status;
	return method->admit(dynamics, command, spawn_shapes, spawn_shape_count, why);
}

/* ---- a world's method ------------------------------------------------------------------------- */

enum status method_ready(struct method_instance *self, const struct dynamics *dynamics,
			 struct reason *why)
{
	const struct method *method = self->method;
	if (self->state != NULL || method->create == NULL)
		return STATUS_OK;
	ASSERT(method->destroy != NULL && method->save != NULL);
	const struct method_block_table *block = &dynamics->tables->method_block;
	return method->create(dynamics, block->byte, block->count, &self->state, why);
}

void method_touch(const struct method_instance *self, struct dynamics *dynamics)
{
	if (self->method->need != NULL)
		step_touch(dynamics, self->method->need, self->method->usual);
}

enum status method_step(struct method_instance *self, struct dynamics *dynamics, double dt,
			struct reason *why)
{
	ASSERT(dt > 0);
	enum status status = method_ready(self, dynamics, why);
	if (status == STATUS_OK)
		status = self->method->step(self->state, dynamics, dt, why);
	if (status != STATUS_OK) {
		arena_reset(&dynamics->scratch);
		return status;
	}
	if (self->method->slept != NULL && dynamics->slept.count > 0)
		self->method->slept(self->state, dynamics, dynamics->slept.items,
				    dynamics->slept.count);
	return STATUS_OK;
}

void method_save(const struct method_instance *self, const struct dynamics *dynamics)
{
	/* If there is no state, the block is unchanged, because a state would be made from it. */
	if (self->state != NULL && self->method->save != NULL)
		self->method->save(self->state, dynamics, dynamics->tables->method_block.byte);
}

void method_release(struct method_instance *self)
{
	ASSERT(self->state == NULL || self->method->destroy != NULL);
	if (self->state != NULL)
		self->method->destroy(self->state);
	self->state = NULL;
}

void method_switch(struct method_instance *self, const struct method *to, struct dynamics *dynamics)
{
	method_release(self);
	ASSERT(self->state == NULL && to->attach != NULL);
	self->method->detach(dynamics);
	tables_truncate(dynamics->tables, TABLE_METHOD_BLOCK, 0);
	self->method = to;
	dynamics->tables->world.method[0] = to->number;
	to->attach(dynamics);
}
