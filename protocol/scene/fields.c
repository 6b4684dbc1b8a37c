/* fields.c: force fields of a scene. See compile.h. */
#include "protocol/scene/compile.h"

static uint8_t region_of(const struct force_field_keys *keys)
{
	if (KEY_GIVEN(keys, FORCE_FIELD, radius))
		return FIELD_BALL;
	return KEY_GIVEN(keys, FORCE_FIELD, size) ? FIELD_BOX : FIELD_EVERYWHERE;
}

static enum status compile_field(struct compile *self, const struct yaml_node *node)
{
	struct force_field_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_FORCE_FIELD, &keys);
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node,
					     KEY_GIVEN(&keys, FORCE_FIELD, radius) &&
						     KEY_GIVEN(&keys, FORCE_FIELD, size),
					     "radius", "size");
	pose frame;
	if (status == STATUS_OK)
		status = compile_frame(&self->source, keys.frame, &frame);
	if (status != STATUS_OK)
		return status;
	if (keys.frame != NULL) {
		keys.at = pose_point(frame, keys.at);
		keys.rotation = quat_normalize(quat_mul(frame.rotation, keys.rotation));
		keys.velocity = quat_rotate(frame.rotation, keys.velocity);
	}
	struct command *command = compile_command(self, COMMAND_FIELD_CREATE, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	struct command_FIELD_CREATE *out = &command->field_create;
	out->kind = (uint8_t)(keys.kind + FIELD_WIND);
	out->region = region_of(&keys);
	out->falloff = (uint8_t)keys.falloff;
	out->position = keys.at;
	out->rotation = keys.rotation;
	if (out->region == FIELD_BALL)
		out->half = vec3_all(keys.radius);
	else if (out->region == FIELD_BOX)
		out->half = vec3_scale(keys.size, 0.5);
	out->strength = keys.strength;
	out->velocity = keys.velocity;
	out->linear = keys.linear;
	out->quadratic = keys.quadratic;
	out->angular = keys.angular;
	out->power = keys.power;
	out->core = keys.core;
	out->flags = keys.per_mass ? (uint32_t)FIELD_PER_MASS : 0;
	out->mask = keys.mask;
	out->tag = keys.tag;
	out->density = keys.density;
	return STATUS_OK;
}

enum status compile_fields(struct compile *self, const struct yaml_node *fields)
{
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = fields != NULL ? fields->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_field(self, at);
	return status;
}
