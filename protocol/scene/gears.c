/* gears.c: gears between the axes of a scene's joints (table gear), as JOINT_GEAR commands. */
#include "protocol/scene/compile.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/base/sort.h"

static int compare_names(const void *a, const void *b, void *context)
{
	UNUSED(context);
	return strcmp(((const struct named_joints *)a)->name,
		      ((const struct named_joints *)b)->name);
}

/* Sorts the names, and refuses one that two entries have. Equal ones stay in the order of their joints. */
static enum status sort_names(struct compile *self)
{
	uint32_t count = self->named_joints.count;
	struct named_joints *items = self->named_joints.items;
	struct named_joints *scratch = heap_alloc(MAX_OF(count, 1u) * sizeof *scratch);
	if (scratch == NULL)
		return source_no_memory(&self->source);
	sort_items(items, scratch, count, sizeof *scratch, compare_names, NULL);
	heap_free(scratch);
	for (uint32_t i = 1; i < count; i++)
		if (strcmp(items[i - 1].name, items[i].name) == 0)
			return compile_refuse_name(self, items[i].line, items[i].name,
						   items[i - 1].line);
	return STATUS_OK;
}

/* The joints of the entry whose name is the first `bytes` characters; NULL: no joint has the name. */
static const struct named_joints *find_name(const struct compile *self, const char *name,
					    size_t bytes)
{
	const struct named_joints *items = self->named_joints.items;
	uint32_t low = 0, high = self->named_joints.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strncmp(items[middle].name, name, bytes);
		if (order == 0)
			order = items[middle].name[bytes] != '\0';
		if (order == 0)
			return &items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The number of the joint that the leader's name stands for. */
static enum status find_leader(struct compile *self, const struct geared_axis *geared,
			       const char *text, uint32_t *out)
{
	const char *bracket = strchr(text, '[');
	size_t bytes = bracket != NULL ? (size_t)(bracket - text) : strlen(text);
	const struct named_joints *joints = find_name(self, text, bytes);
	if (joints == NULL)
		return source_fail(&self->source, geared->node->line, STATUS_MISSING, "leader",
				   "no joint has the name '%.*s'; give the name of one", (int)bytes,
				   text);
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
		if (geared->own.count != joints->count)
			return source_fail(
				&self->source, geared->node->line, STATUS_RANGE, "leader",
				"'%s' is %u joints: give one of them as %s[0] … %s[%u]", text,
				(unsigned)joints->count, text, text, (unsigned)joints->count - 1);
		index = geared->joint - geared->own.first;
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
	enum status status = self->named_joints.count > 0 ? sort_names(self) : STATUS_OK;
	for (uint32_t i = 0; i < self->geared.count && status == STATUS_OK; i++)
		status = compile_gear(self, &self->geared.items[i]);
	return status;
}
