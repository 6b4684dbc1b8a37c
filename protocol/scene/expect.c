/* expect.c: the sections `compare` and `expect` of a scene file: what `cairn compare` runs, and the bounds
 * that it checks. They make no command, so a scene with and without them makes the same world.
 */
#include "protocol/scene/compile.h"

#include <stdio.h>
#include <string.h>

static const char *const MEASURES[SCENE_MEASURES] = {
	[MEASURE_POSITION] = "position",
	[MEASURE_VELOCITY] = "velocity",
	[MEASURE_SPIN] = "spin",
	[MEASURE_POINTING] = "pointing",
	[MEASURE_SPEED] = "speed",
	[MEASURE_FORCE] = "force",
	[MEASURE_ENERGY] = "energy",
	[MEASURE_KINETIC] = "kinetic",
	[MEASURE_ENERGY_CHANGE] = "energy_change",
	[MEASURE_MOMENTUM] = "momentum",
	[MEASURE_ANGULAR_MOMENTUM] = "angular_momentum",
	[MEASURE_MOMENTUM_CHANGE] = "momentum_change",
	[MEASURE_ANGULAR_MOMENTUM_CHANGE] = "angular_momentum_change",
	[MEASURE_PENETRATION] = "penetration",
	[MEASURE_RESIDUAL] = "residual",
	[MEASURE_FALLBACKS] = "fallbacks",
	[MEASURE_JOINT_ERROR] = "joint_error",
	[MEASURE_PUSH_WORK] = "push_work",
	[MEASURE_AWAKE] = "awake",
	[MEASURE_IMPACT_ERROR] = "impact_error",
};

const char *scene_measure_name(enum scene_measure measure)
{
	ASSERT(measure < SCENE_MEASURES);
	return MEASURES[measure];
}

/* A list of names; `list` may be NULL. Whether there are such methods is the engine's knowledge. */
static enum status take_methods(struct compile *self, const struct yaml_node *list,
				struct scene_methods *out)
{
	out->count = 0;
	for (const struct yaml_node *at = list != NULL ? list->first : NULL; at != NULL;
	     at = at->next) {
		if (at->kind != NODE_SCALAR || strlen(at->text) >= SCENE_METHOD_BYTES ||
		    at->text[0] == '\0')
			return source_fail(&self->source, at->line, STATUS_TYPE, "methods",
					   "methods must be a list of names, each of 1 to %d bytes",
					   SCENE_METHOD_BYTES - 1);
		for (uint32_t i = 0; i < out->count; i++)
			if (strcmp(out->names[i], at->text) == 0)
				return source_fail(
					&self->source, at->line, STATUS_EXISTS, "methods",
					"method '%.31s' is listed twice; name it once", at->text);
		ASSERT(out->count < SCENE_METHODS_MAX);
		snprintf(out->names[out->count++], SCENE_METHOD_BYTES, "%s", at->text);
	}
	return STATUS_OK;
}

enum status compile_compare(struct compile *self, const struct yaml_node *node,
			    struct scene_compare *out)
{
	struct compare_keys keys;
	schema_defaults(SCHEMA_COMPARE, &keys);
	enum status status =
		node == NULL ? STATUS_OK : schema_read(&self->source, node, SCHEMA_COMPARE, &keys);
	out->ticks = keys.ticks;
	return status == STATUS_OK ? take_methods(self, keys.methods, &out->methods) : status;
}

/* ---- expectations -------------------------------------------------------------------------------- */

/* One body by its name. */
static enum status take_body(struct compile *self, const struct yaml_node *node, const char *key,
			     const char *text, uint32_t *out)
{
	struct body_range range;
	enum status status = compile_find_bodies(self, node, key, text, &range);
	if (status != STATUS_OK)
		return status;
	uint32_t line = node_find(node, key)->line;
	if (range.first == COMPILE_WORLD)
		return source_fail(&self->source, line, STATUS_RANGE, key,
				   "%s is the world, which has no numbers of its own; name a body",
				   key);
	if (range.count != 1)
		return source_fail(&self->source, line, STATUS_RANGE, key,
				   "%s '%.32s' is %u bodies; give one of them as '%.32s[i]'", key,
				   text, (unsigned)range.count, text);
	*out = range.first;
	return STATUS_OK;
}

static enum status take_bodies(struct compile *self, const struct yaml_node *node,
			       const struct expect_keys *keys, struct scene_expectation *out)
{
	bool of_body = keys->measure < MEASURES_OF_BODIES;
	const char *measure = MEASURES[keys->measure];
	if (of_body != (keys->body != NULL))
		return source_fail(&self->source, node->line,
				   of_body ? STATUS_MISSING : STATUS_RANGE, "body",
				   of_body ? "%s is a measure of a body: give 'body'"
					   : "%s is a measure of the world: leave out 'body'",
				   measure);
	bool relative = keys->measure == MEASURE_POSITION || keys->measure == MEASURE_VELOCITY;
	if (keys->other != NULL && !relative)
		return source_fail(
			&self->source, node_find(node, "other")->line, STATUS_RANGE, "other",
			"%s has no second body; only position and velocity have", measure);
	out->body = out->other = UINT32_MAX;
	enum status status = STATUS_OK;
	if (of_body)
		status = take_body(self, node, "body", keys->body, &out->body);
	if (status == STATUS_OK && keys->other != NULL)
		status = take_body(self, node, "other", keys->other, &out->other);
	return status;
}

static bool is_vector(uint32_t measure)
{
	return measure <= MEASURE_POINTING || measure == MEASURE_MOMENTUM ||
	       measure == MEASURE_ANGULAR_MOMENTUM;
}

static enum status take_limits(struct compile *self, const struct yaml_node *node,
			       const struct expect_keys *keys, struct scene_expectation *out)
{
	bool value = KEY_GIVEN(keys, EXPECT, value), within = KEY_GIVEN(keys, EXPECT, within);
	bool least = KEY_GIVEN(keys, EXPECT, at_least), most = KEY_GIVEN(keys, EXPECT, at_most);
	enum status status = compile_refuse_both(self, node, value && least, "value", "at_least");
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node, value && most, "value", "at_most");
	if (status != STATUS_OK)
		return status;
	if (!value && !least && !most)
		return source_fail(&self->source, node->line, STATUS_MISSING, "value",
				   "an expectation needs a bound: value, at_least or at_most");
	if (value != within)
		return source_fail(&self->source, node->line, STATUS_MISSING,
				   value ? "within" : "value",
				   value ? "value needs 'within': no method gives a number exactly"
					 : "within needs a value");
	out->least =
		value ? keys->value - keys->within : (least ? keys->at_least : -__builtin_inf());
	out->most = value ? keys->value + keys->within : (most ? keys->at_most : __builtin_inf());
	if (out->least > out->most)
		return source_fail(&self->source, node_find(node, "at_most")->line, STATUS_RANGE,
				   "at_most", "at_most %g is below at_least %g; give a larger one",
				   out->most, out->least);
	return STATUS_OK;
}

static void name_expectation(const struct expect_keys *keys, struct scene_expectation *out)
{
	static const char *const AXES[] = { " x", " y", " z", "" };
	static const char *const TAKES[] = { "", "largest ", "least ", "mean " };
	bool body = keys->body != NULL;
	if (keys->name != NULL)
		snprintf(out->name, sizeof out->name, "%s", keys->name);
	else
		snprintf(out->name, sizeof out->name, "%s%.24s%s%s%.20s", TAKES[out->take],
			 MEASURES[out->measure], is_vector(out->measure) ? AXES[out->axis] : "",
			 body ? " of " : "", body ? keys->body : "");
}

static enum status compile_expectation(struct compile *self, const struct yaml_node *node)
{
	struct expect_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_EXPECT, &keys);
	if (status != STATUS_OK)
		return status;
	struct scene_expectation out = { .line = node->line,
					 .measure = (uint8_t)keys.measure,
					 .axis = (uint8_t)keys.axis,
					 .take = (uint8_t)keys.take,
					 .from = keys.from,
					 .until = KEY_GIVEN(&keys, EXPECT, until) ? keys.until
										  : UINT32_MAX };
	if (KEY_GIVEN(&keys, EXPECT, axis) && !is_vector(keys.measure))
		return source_fail(&self->source, node_find(node, "axis")->line, STATUS_RANGE,
				   "axis", "%s has no axes: it is one number",
				   MEASURES[keys.measure]);
	if (out.from > out.until)
		return source_fail(&self->source, node_find(node, "until")->line, STATUS_RANGE,
				   "until", "until %u is before from %u; give a later one",
				   (unsigned)out.until, (unsigned)out.from);
	status = take_bodies(self, node, &keys, &out);
	if (status == STATUS_OK)
		status = take_limits(self, node, &keys, &out);
	if (status == STATUS_OK)
		status = take_methods(self, keys.methods, &out.methods);
	name_expectation(&keys, &out);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&self->expectations, self->expectations.count + 1u) != STATUS_OK)
		return source_no_memory(&self->source);
	self->expectations.items[self->expectations.count++] = out;
	return STATUS_OK;
}

enum status compile_expect(struct compile *self, const struct yaml_node *expect)
{
	enum status status = STATUS_OK;
	const struct yaml_node *at = expect != NULL ? expect->first : NULL;
	for (; at != NULL && status == STATUS_OK; at = at->next)
		status = compile_expectation(self, at);
	return status;
}

void scene_expect_link(struct scene *scene, const uint32_t *values)
{
	for (uint32_t i = 0; i < scene->expectation_count; i++) {
		struct scene_expectation *expectation = &scene->expectations[i];
		uint32_t *bodies[2] = { &expectation->body, &expectation->other };
		for (uint32_t k = 0; k < 2; k++)
			*bodies[k] = *bodies[k] == UINT32_MAX ? 0 : values[*bodies[k]];
	}
}
