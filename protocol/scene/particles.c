/* particles.c: particle systems of a scene. See compile.h. */
#include <stdio.h>

#include "protocol/scene/compile.h"

static vec3 half_of(const struct particles_keys *keys)
{
	if (keys->emitter == EMITTER_SPHERE)
		return vec3_all(keys->radius);
	return keys->emitter == EMITTER_PLANAR ? vec3_all(0.5 * keys->side)
					       : vec3_scale(keys->box, 0.5);
}

/* Appends [age, colour] to the list of points. */
static enum status read_colour(struct compile *self, const struct yaml_node *node)
{
	double age;
	uint32_t colour;
	if (node->kind != NODE_LIST || node->count != 2)
		return source_fail(&self->source, node->line, STATUS_TYPE, "colours",
				   "an item of colours is [age, colour], as [0.5, 0xC87941]");
	enum status status =
		schema_number(&self->source, node->first, "colours", 0, LENGTH_MAX, "s", &age);
	if (status == STATUS_OK)
		status = compile_colour(self, node->first->next, &colour);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&self->points, (uint64_t)self->points.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->points.items[self->points.count++] = (struct joint_point){ age, colour };
	return STATUS_OK;
}

static enum status read_colours(struct compile *self, const struct yaml_node *list)
{
	enum status status = STATUS_OK;
	double before = -1;
	for (const struct yaml_node *at = list != NULL ? list->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next) {
		status = read_colour(self, at);
		double age = status == STATUS_OK ? self->points.items[self->points.count - 1].time
						 : SCALAR_MAX;
		if (!(age > before))
			return source_fail(&self->source, at->line, STATUS_RANGE, "colours",
					   "age %g of colours is not above %g, the one before it",
					   age, before);
		before = age;
	}
	return status;
}

static void fill(struct command_PARTICLES_CREATE *out, const struct particles_keys *keys)
{
	snprintf(out->name.text, sizeof out->name.text, "%s", keys->name);
	out->emitter = (uint8_t)keys->emitter;
	out->position = keys->at;
	out->rotation = keys->rotation;
	out->half = half_of(keys);
	out->capacity = keys->capacity;
	out->recycle = keys->recycle;
	out->rate = keys->rate;
	out->rate_deviation = keys->rate_deviation;
	out->delay = keys->delay;
	out->size = keys->size;
	out->size_deviation = keys->size_deviation;
	out->mass = keys->mass;
	out->mass_deviation = keys->mass_deviation;
	out->life = keys->life;
	out->life_deviation = keys->life_deviation;
	out->speed = keys->speed;
	out->speed_deviation = keys->speed_deviation;
	out->spread = scalar_min(keys->spread * RADIANS_PER_DEGREE, PARTICLE_SPREAD_MAX);
	out->drag = keys->drag;
	out->gravity_scale = keys->gravity_scale;
	out->static_friction = out->dynamic_friction = keys->friction;
	out->restitution = keys->restitution;
	out->category = keys->category;
	out->mask = keys->mask;
	out->tag = keys->tag;
	out->seed = keys->seed;
}

static enum status compile_system(struct compile *self, const struct yaml_node *node)
{
	struct particles_keys keys;
	uint32_t first = self->points.count;
	enum status status = schema_read(&self->source, node, SCHEMA_PARTICLES, &keys);
	if (status == STATUS_OK)
		status = read_colours(self, keys.colours);
	pose frame;
	if (status == STATUS_OK)
		status = compile_frame(&self->source, keys.frame, &frame);
	if (status != STATUS_OK)
		return status;
	if (keys.frame != NULL) {
		keys.at = pose_point(frame, keys.at);
		keys.rotation = quat_normalize(quat_mul(frame.rotation, keys.rotation));
	}
	struct command *command = compile_command(self, COMMAND_PARTICLES_CREATE, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	fill(&command->particles_create, &keys);
	command->particles_create.colours.count = self->points.count - first;
	self->firsts.items[self->firsts.count - 1] = first;
	return STATUS_OK;
}

enum status compile_particles(struct compile *self, const struct yaml_node *systems)
{
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = systems != NULL ? systems->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_system(self, at);
	return status;
}
