/* method.c: the list of methods, their aliases, and the life of a world's method. See method.h. */
#include "server/engine/methods/method.h"

#include "server/engine/dynamics/step.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* In ascending order of numbers. */
static const struct method *const METHODS[] = { &method_free,	    &method_soft_step,
						&method_lcp,	    &method_projection,
						&method_reflection, &method_impact,
						&method_penalty };

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

enum status method_supports(const struct method *method, const struct dynamics *dynamics,
			    struct reason *why)
{
	if (!method->joints && dynamics->joint_used.count > 0)
		return reason_set(
			why, STATUS_METHOD_REFUSES, -1, "method",
			"%s does not support joints: remove the world's %u, or choose another method",
			method->name, dynamics->joint_used.count);
	return method->supports != NULL ? method->supports(dynamics, why) : STATUS_OK;
}

enum status method_admit(const struct method *method, const struct dynamics *dynamics,
			 const struct command *command, const struct shape *const *spawn_shapes,
			 uint32_t spawn_shape_count, struct reason *why)
{
	if (!method->joints && command->op == COMMAND_JOINT_CREATE)
		return reason_set(why, STATUS_METHOD_REFUSES, -1, "op",
				  "%s does not support joints: choose another method first",
				  method->name);
	return method->admit != NULL
		       ? method->admit(dynamics, command, spawn_shapes, spawn_shape_count, why)
		       : STATUS_OK;
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
