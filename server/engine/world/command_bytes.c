/* See command_bytes.h. Writer and reader walk the same descriptors (command.h), one case for
 * each field type; the reader checks counts of lists before it allocates, because the bytes may
 * come from a file.
 */
#include "server/engine/world/command_bytes.h"

#include <string.h>

static void write_vec3(struct writer *writer, const vec3 *v)
{
	write_f64(writer, v->x);
	write_f64(writer, v->y);
	write_f64(writer, v->z);
}

static void write_quat(struct writer *writer, const quat *q)
{
	write_f64(writer, q->w);
	write_f64(writer, q->x);
	write_f64(writer, q->y);
	write_f64(writer, q->z);
}

static vec3 read_vec3(struct reader *reader)
{
	vec3 v;
	v.x = read_f64(reader);
	v.y = read_f64(reader);
	v.z = read_f64(reader);
	return v;
}

static quat read_quat(struct reader *reader)
{
	quat q;
	q.w = read_f64(reader);
	q.x = read_f64(reader);
	q.y = read_f64(reader);
	q.z = read_f64(reader);
	return q;
}

static void write_attachments(struct writer *writer, const struct attachment_list *list)
{
	write_u32(writer, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		write_i64(writer, list->items[i].shape);
		write_vec3(writer, &list->items[i].position);
		write_quat(writer, &list->items[i].rotation);
	}
}

static void write_targets(struct writer *writer, const struct target_list *list)
{
	write_u32(writer, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		write_i64(writer, list->items[i].joint);
		write_u8(writer, list->items[i].axis);
		write_f64(writer, list->items[i].value);
	}
}

static void write_points(struct writer *writer, const struct point_list *list)
{
	write_u32(writer, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		write_f64(writer, list->items[i].time);
		write_f64(writer, list->items[i].value);
	}
}

static void write_field(struct writer *writer, const struct command *command,
			const struct command_field *field)
{
	const void *at = (const char *)command + field->offset;
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		write_i64(writer, *(const int64_t *)at);
		return;
	case FIELD_ENUM:
		write_u8(writer, *(const uint8_t *)at);
		return;
	case FIELD_U32:
		write_u32(writer, *(const uint32_t *)at);
		return;
	case FIELD_F64:
		write_f64(writer, *(const double *)at);
		return;
	case FIELD_VEC3:
		write_vec3(writer, at);
		return;
	case FIELD_QUAT:
		write_quat(writer, at);
		return;
	case FIELD_TEXT:
	case FIELD_NAME:
		write_raw(writer, at, 32);
		return;
	case FIELD_SEED:
		write_u64(writer, *(const uint64_t *)at);
		return;
	case FIELD_ATTACHMENTS:
		write_attachments(writer, at);
		return;
	case FIELD_TARGETS:
		write_targets(writer, at);
		return;
	case FIELD_POINTS:
		write_points(writer, at);
		return;
	}
}

void command_write(struct writer *writer, const struct command *command)
{
	const struct command_info *info = command_info(command->op);
	ASSERT(info != NULL);
	write_u16(writer, command->op);
	write_u8(writer, (uint8_t)info->field_count);
	for (uint32_t i = 0; i < info->field_count; i++)
		write_field(writer, command, &info->fields[i]);
}

static enum status read_attachments(struct reader *reader, struct arena *arena,
				    struct attachment_list *list)
{
	list->count = read_u32(reader);
	list->items = NULL;
	if (reader->failed || list->count > ATTACHMENTS_MAX)
		return STATUS_MALFORMED;
	struct attachment *items = ARENA_ARRAY(arena, struct attachment, list->count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		items[i].shape = read_i64(reader);
		items[i].position = read_vec3(reader);
		items[i].rotation = read_quat(reader);
	}
	list->items = items;
	return STATUS_OK;
}

static enum status read_targets(struct reader *reader, struct arena *arena,
				struct target_list *list)
{
	list->count = read_u32(reader);
	list->items = NULL;
	if (reader->failed || list->count > JOINT_TARGETS_MAX)
		return STATUS_MALFORMED;
	struct joint_target *items = ARENA_ARRAY(arena, struct joint_target, list->count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		items[i].joint = read_i64(reader);
		items[i].axis = read_u8(reader);
		items[i].value = read_f64(reader);
	}
	list->items = items;
	return STATUS_OK;
}

static enum status read_points(struct reader *reader, struct arena *arena, struct point_list *list)
{
	list->count = read_u32(reader);
	list->items = NULL;
	if (reader->failed || list->count > JOINT_POINTS_MAX)
		return STATUS_MALFORMED;
	struct joint_point *items = ARENA_ARRAY(arena, struct joint_point, list->count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		items[i].time = read_f64(reader);
		items[i].value = read_f64(reader);
	}
	list->items = items;
	return STATUS_OK;
}

static enum status read_field(struct reader *reader, struct arena *arena, struct command *command,
			      const struct command_field *field)
{
	void *at = (char *)command + field->offset;
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		*(int64_t *)at = read_i64(reader);
		return STATUS_OK;
	case FIELD_ENUM:
		*(uint8_t *)at = read_u8(reader);
		return STATUS_OK;
	case FIELD_U32:
		*(uint32_t *)at = read_u32(reader);
		return STATUS_OK;
	case FIELD_F64:
		*(double *)at = read_f64(reader);
		return STATUS_OK;
	case FIELD_VEC3:
		*(vec3 *)at = read_vec3(reader);
		return STATUS_OK;
	case FIELD_QUAT:
		*(quat *)at = read_quat(reader);
		return STATUS_OK;
	case FIELD_TEXT:
	case FIELD_NAME:
		read_raw(reader, at, 32);
		return STATUS_OK;
	case FIELD_SEED:
		*(uint64_t *)at = read_u64(reader);
		return STATUS_OK;
	case FIELD_ATTACHMENTS:
		return read_attachments(reader, arena, at);
	case FIELD_TARGETS:
		return read_targets(reader, arena, at);
	case FIELD_POINTS:
		return read_points(reader, arena, at);
	}
	return STATUS_MALFORMED;
}

enum status command_read(struct reader *reader, struct arena *arena, struct command *command)
{
	uint16_t op = read_u16(reader);
	uint8_t field_count = read_u8(reader);
	const struct command_info *info = reader->failed ? NULL : command_info(op);
	if (info == NULL || field_count > info->field_count)
		return STATUS_MALFORMED;
	command_defaults(command, op);
	for (uint32_t i = 0; i < field_count; i++) {
		enum status status = read_field(reader, arena, command, &info->fields[i]);
		if (status != STATUS_OK)
			return status;
	}
	return reader->failed ? STATUS_MALFORMED : STATUS_OK;
}
