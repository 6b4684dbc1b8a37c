/* gears.c: gears between the axes of a scene's joints (table gear), as JOINT_GEAR commands. */
#include "protocol/scene/compile.h"

#include <stdlib.h>
#include <string.h>

/* The joints that NAME stands for, seen from joint number `from`: the last up to it, else the first. */
static const struct named_joints *find_name(const struct compile *self, const char *name,
					    size_t bytes, uint32_t from)
{
	const struct named_joints *found = NULL;
	for (uint32_t i = 0; i < self->named_joints.count; i++) {
		const struct named_joints *at = &self->named_joints.items[i];
		if (strncmp(at->name, name, bytes) != 0 || at->name[bytes] != '\0')
			continue;
		if (found == NULL || at->first <= from)
			found = at;
	}
	return found;
}

/* The number of the joint that the leader's name stands for. */
static enum status find_leader(struct compile *self, const struct geared_axis *geared,
			       const char *text, uint32_t *out)
{
	const char *bracket = strchr(text, '[');
	size_t bytes = bracket != NULL ? (size_t)(bracket - text) : strlen(text);
	const struct named_joints *joints = find_name(self, text, bytes, geared->joint);
	const struct named_joints *own = NULL;
	if (joints == NULL)
		return source_fail(&self->source, geared->node->line, STATUS_MISSING, "leader",
				   "no joint has the name '%.*s'", (int)bytes, text);
	for (uint32_t i = 0; i < self->named_joints.count; i++)
		if (self->named_joints.items[i].first <= geared->joint &&
		    geared->joint <
			    self->named_joints.items[i].first + self->named_joints.items[i].count)
			own = &self->named_joints.items[i];
	uint32_t index = 0;
	if (bracket != NULL) {
		char *end;
		unsigned long number = strtoul(bracket + 1, &end, 10);
		if (end == bracket + 1 || strcmp(end, "]") != 0 || number >= joints->count)
			return source_fail(&self->source, geared->node->line, STATUS_RANGE,
					   "leader",
					   "leader is '%s': joint '%.*s' has numbers 0 to %u", text,
					   (int)bytes, text, (unsigned)joints->count - 1);
		index = (uint32_t)number;
	} else if (joints->count > 1) {
		if (own == NULL || own->count != joints->count)
			return source_fail(
				&self->source, geared->node->line, STATUS_RANGE, "leader",
				"'%s' is %u joints: give one of them as %s[0] … %s[%u]", text,
				(unsigned)joints->count, text, text, (unsigned)joints->count - 1);
		index = geared->joint - own->first;
	}
	*out = joints->first + index;
	return STATUS_OK;
}

/* The leader's axis: that of the word, or the only one of its type. */
static enum status find_axis(struct compile *self, const struct yaml_node *node,
			     const struct gear_keys *keys, uint32_t type, uint32_t *out)
{
	*out = type == JOINT_REVOLUTE				   ? 3
	       : type == JOINT_PRISMATIC || type == JOINT_DISTANCE ? 0
								   : UINT32_MAX;
	if (KEY_GIVEN(keys, GEAR, axis))
		*out = compile_axis_number(keys->axis, type);
	if (*out != UINT32_MAX)
		return STATUS_OK;
	return source_fail(&self->source, node->line, STATUS_RANGE, "axis",
			   KEY_GIVEN(keys, GEAR, axis)
				   ? "the leader has no such axis"
				   : "the leader has several axes: give one of them as 'axis'");
}

static enum status compile_gear(struct compile *self, const struct geared_axis *geared)
{
	struct gear_keys keys;
	uint32_t leader = 0, axis;
	const struct source *source = &self->source;
	enum status status = schema_read(source, geared->node, SCHEMA_GEAR, &keys);
	bool plain = status == STATUS_OK && KEY_GIVEN(&keys, GEAR, offset);
	bool degrees = status == STATUS_OK && KEY_GIVEN(&keys, GEAR, offset_degrees);
	if (status == STATUS_OK)
		status = compile_refuse_both(self, geared->node, plain && degrees, "offset",
					     "offset_degrees");
	if (status == STATUS_OK && degrees && geared->axis < 3)
		status = source_fail(source, geared->node->line, STATUS_RANGE, "offset_degrees",
				     "offset_degrees is for an angle, but this axis is a length; "
				     "give offset, in metres");
	if (status == STATUS_OK && keys.ratio == 0)
		status = source_fail(source, geared->node->line, STATUS_RANGE, "ratio",
				     "ratio is 0: the axis would follow nothing; give it limits "
				     "[x, x] to hold it");
	if (status == STATUS_OK)
		status = find_leader(self, geared, keys.leader, &leader);
	if (status != STATUS_OK)
		return status;
	uint32_t maker = self->joint_commands.items[leader];
	uint32_t type = self->commands.items[maker].joint_create.type;
	status = find_axis(self, geared->node, &keys, type, &axis);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_JOINT_GEAR, geared->node->line);
	if (command == NULL)
		return source_no_memory(source);
	struct command_JOINT_GEAR *out = &command->joint_gear;
	out->joint = -(int64_t)self->joint_commands.items[geared->joint] - 1;
	out->axis = geared->axis;
	out->leader = -(int64_t)maker - 1;
	out->leader_axis = axis;
	out->ratio = keys.ratio;
	out->offset = degrees ? keys.offset_degrees * RADIANS_PER_DEGREE : keys.offset;
	return STATUS_OK;
}

enum status compile_gears(struct compile *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->geared.count && status == STATUS_OK; i++)
		status = compile_gear(self, &self->geared.items[i]);
	return status;
}
