#include "server/engine/methods/method.h"

#include <string.h>

/* In order of numbers. */
static const struct method *const METHODS[] = { &method_free, &method_soft_step, &method_lcp };

const struct method *const *method_list(uint32_t *count)
{
	*count = (uint32_t)COUNT_OF(METHODS);
	return METHODS;
}

const struct method *method_find(const char *name)
{
	for (uint32_t i = 0; i < COUNT_OF(METHODS); i++)
		if (strcmp(METHODS[i]->name, name) == 0)
			return METHODS[i];
	return NULL;
}

const struct method *method_by_number(uint16_t number)
{
	for (uint32_t i = 0; i < COUNT_OF(METHODS); i++)
		if (METHODS[i]->number == number)
			return METHODS[i];
	return NULL;
}

enum status method_supports(const struct method *method, const struct dynamics *dynamics,
			    struct reason *why)
{
	return method->supports != NULL ? method->supports(dynamics, why) : STATUS_OK;
}

enum status method_admit(const struct method *method, const struct dynamics *dynamics,
			 const struct command *command, const struct shape *const *spawn_shapes,
			 uint32_t spawn_shape_count, struct reason *why)
{
	return method->admit != NULL ? method->admit(dynamics, command, spawn_shapes,
						     spawn_shape_count, why)
				     : STATUS_OK;
}
