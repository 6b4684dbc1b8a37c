/* See command_wire.h. One function per kind of field, chosen by the description of the command. */
#include "protocol/command_wire.h"

#include <stdio.h>
#include <string.h>

#include "protocol/complaint.h"
#include "server/base/bytes.h"

/* ---- packing ----------------------------------------------------------------------------- */

static void pack_reals(struct wire_packer *out, const double *values, uint32_t count)
{
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
}

static void pack_vec3(struct wire_packer *out, const vec3 *v)
{
	pack_reals(out, (const double[]){ v->x, v->y, v->z }, 3);
}

static void pack_quat(struct wire_packer *out, const quat *q)
{
	pack_reals(out, (const double[]){ q->w, q->x, q->y, q->z }, 4);
}

static void pack_attachments(struct wire_packer *out, const struct attachment_list *list)
{
	wire_pack_array(out, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		wire_pack_array(out, 3);
		wire_pack_int(out, list->items[i].shape);
		pack_vec3(out, &list->items[i].position);
		pack_quat(out, &list->items[i].rotation);
	}
}

static void pack_targets(struct wire_packer *out, const struct target_list *list)
{
	wire_pack_array(out, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		wire_pack_array(out, 3);
		wire_pack_int(out, list->items[i].joint);
		wire_pack_uint(out, list->items[i].axis);
		wire_pack_real(out, list->items[i].value);
	}
}

static void pack_points(struct wire_packer *out, const struct point_list *list)
{
	wire_pack_array(out, list->count);
	for (uint32_t i = 0; i < list->count; i++)
		pack_reals(out, (const double[]){ list->items[i].time, list->items[i].value }, 2);
}

static void pack_seed(struct wire_packer *out, uint64_t seed)
{
	uint8_t bytes[8];
	put_be64(bytes, seed);
	wire_pack_bin(out, bytes, sizeof bytes);
}

static void pack_field(struct wire_packer *out, const struct command_field *field, const void *at)
{
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		wire_pack_int(out, *(const int64_t *)at);
		return;
	case FIELD_ENUM:
		wire_pack_uint(out, *(const uint8_t *)at);
		return;
	case FIELD_U32:
		wire_pack_uint(out, *(const uint32_t *)at);
		return;
	case FIELD_F64:
		wire_pack_real(out, *(const double *)at);
		return;
	case FIELD_VEC3:
		pack_vec3(out, at);
		return;
	case FIELD_QUAT:
		pack_quat(out, at);
		return;
	case FIELD_TEXT:
		wire_pack_string(out, ((const struct text32 *)at)->text);
		return;
	case FIELD_NAME:
		wire_pack_bin(out, at, sizeof(struct name32));
		return;
	case FIELD_SEED:
		pack_seed(out, *(const uint64_t *)at);
		return;
	case FIELD_ATTACHMENTS:
		pack_attachments(out, at);
		return;
	case FIELD_TARGETS:
		pack_targets(out, at);
		return;
	case FIELD_POINTS:
		pack_points(out, at);
		return;
	}
}

static bool vec3_same(const vec3 *a, const vec3 *b)
{
	return bits_of_f64(a->x) == bits_of_f64(b->x) && bits_of_f64(a->y) == bits_of_f64(b->y) &&
	       bits_of_f64(a->z) == bits_of_f64(b->z);
}

static bool quat_same(const quat *a, const quat *b)
{
	return bits_of_f64(a->w) == bits_of_f64(b->w) &&
	       vec3_same(&(const vec3){ a->x, a->y, a->z }, &(const vec3){ b->x, b->y, b->z });
}

/* Bit for bit, so that −0 is written where the default is 0. */
static bool field_same(const struct command_field *field, const void *a, const void *b)
{
	switch (field->type) {
	case FIELD_ENUM:
		return *(const uint8_t *)a == *(const uint8_t *)b;
	case FIELD_U32:
		return *(const uint32_t *)a == *(const uint32_t *)b;
	case FIELD_VEC3:
		return vec3_same(a, b);
	case FIELD_QUAT:
		return quat_same(a, b);
	case FIELD_TEXT:
		return strcmp(((const struct text32 *)a)->text, ((const struct text32 *)b)->text) ==
		       0;
	case FIELD_NAME:
		return memcmp(a, b, sizeof(struct name32)) == 0;
	case FIELD_ATTACHMENTS:
		return ((const struct attachment_list *)a)->count == 0;
	case FIELD_TARGETS:
		return ((const struct target_list *)a)->count == 0;
	case FIELD_POINTS:
		return ((const struct point_list *)a)->count == 0;
	default: /* eight bytes without padding */
		return memcmp(a, b, sizeof(uint64_t)) == 0;
	}
}

void command_pack(struct wire_packer *out, const struct command *command)
{
	const struct command_info *info = command_info(command->op);
	if (info == NULL || info->reserved) {
		if (out->status == STATUS_OK)
			out->status = STATUS_UNSUPPORTED;
		return;
	}
	struct command blank;
	command_defaults(&blank, command->op);
	uint32_t count = info->field_count;
	for (; count > info->needed; count--) {
		const struct command_field *field = &info->fields[count - 1];
		if (!field_same(field, (const uint8_t *)command + field->offset,
				(const uint8_t *)&blank + field->offset))
			break;
	}
	wire_pack_array(out, 1 + count);
	wire_pack_uint(out, command->op);
	for (uint32_t i = 0; i < count; i++)
		pack_field(out, &info->fields[i],
			   (const uint8_t *)command + info->fields[i].offset);
}

/* ---- reading ----------------------------------------------------------------------------- */

static enum status take_vec3(struct wire_cursor *in, vec3 *v)
{
	double values[3];
	enum status status = wire_take_tuple(in, values, 3);
	if (status == STATUS_OK)
		*v = (vec3){ values[0], values[1], values[2] };
	return status;
}

static enum status take_quat(struct wire_cursor *in, quat *q)
{
	double values[4];
	enum status status = wire_take_tuple(in, values, 4);
	if (status == STATUS_OK)
		*q = (quat){ values[0], values[1], values[2], values[3] };
	return status;
}

static enum status take_text(struct wire_cursor *in, struct text32 *text)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	if (token.count == 0 || token.count >= sizeof text->text)
		return STATUS_RANGE;
	memset(text, 0, sizeof *text);
	memcpy(text->text, token.at, token.count);
	return STATUS_OK;
}

static enum status take_name(struct wire_cursor *in, struct name32 *name)
{
	struct wire_slice bin;
	enum status status = wire_take_bin(in, &bin);
	if (status != STATUS_OK)
		return status;
	if (bin.bytes != sizeof name->bytes)
		return STATUS_RANGE;
	memcpy(name->bytes, bin.at, sizeof name->bytes);
	return STATUS_OK;
}

static enum status take_seed(struct wire_cursor *in, uint64_t *seed)
{
	struct wire_slice bin;
	enum status status = wire_take_bin(in, &bin);
	if (status == STATUS_TYPE)
		return wire_take_uint(in, (uint64_t)WIRE_INTEGER_MAX, seed);
	if (status != STATUS_OK)
		return status;
	if (bin.bytes != 8)
		return STATUS_RANGE;
	*seed = get_be64(bin.at);
	return STATUS_OK;
}

static enum status take_attachment(struct wire_cursor *in, struct attachment *attachment)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status != STATUS_OK)
		return status;
	*attachment = (struct attachment){ .rotation = { 1, 0, 0, 0 } };
	if (count == 0)
		return STATUS_TYPE;
	status = wire_take_int(in, &attachment->shape);
	if (status == STATUS_OK && count > 1)
		status = take_vec3(in, &attachment->position);
	if (status == STATUS_OK && count > 2)
		status = take_quat(in, &attachment->rotation);
	if (status == STATUS_OK && count > 3)
		status = wire_skip_many(in, count - 3);
	return status;
}

static enum status take_attachments(struct wire_cursor *in, struct arena *arena,
				    struct attachment_list *attachments)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status != STATUS_OK)
		return status;
	if (count > ATTACHMENTS_MAX)
		return STATUS_RANGE;
	*attachments = (struct attachment_list){ NULL, 0 };
	if (count == 0)
		return STATUS_OK;
	struct attachment *items = ARENA_ARRAY(arena, struct attachment, count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = take_attachment(in, &items[i]);
	if (status == STATUS_OK)
		*attachments = (struct attachment_list){ items, count };
	return status;
}

static enum status take_target(struct wire_cursor *in, struct joint_target *target)
{
	uint32_t count;
	uint64_t axis = 0;
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 3)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_int(in, &target->joint);
	if (status == STATUS_OK)
		status = wire_take_uint(in, UINT8_MAX, &axis);
	target->axis = (uint8_t)axis;
	if (status == STATUS_OK)
		status = wire_take_real(in, &target->value);
	if (status == STATUS_OK && count > 3)
		status = wire_skip_many(in, count - 3);
	return status;
}

static enum status take_targets(struct wire_cursor *in, struct arena *arena,
				struct target_list *targets)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	*targets = (struct target_list){ NULL, 0 };
	if (status != STATUS_OK || count == 0)
		return status;
	if (count > JOINT_TARGETS_MAX)
		return STATUS_RANGE;
	struct joint_target *items = ARENA_ARRAY(arena, struct joint_target, count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = take_target(in, &items[i]);
	if (status == STATUS_OK)
		*targets = (struct target_list){ items, count };
	return status;
}

static enum status take_points(struct wire_cursor *in, struct arena *arena,
			       struct point_list *points)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	*points = (struct point_list){ NULL, 0 };
	if (status != STATUS_OK || count == 0)
		return status;
	if (count > JOINT_POINTS_MAX)
		return STATUS_RANGE;
	struct joint_point *items = ARENA_ARRAY(arena, struct joint_point, count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		double values[2] = { 0 };
		status = wire_take_tuple(in, values, 2);
		items[i] = (struct joint_point){ values[0], values[1] };
	}
	if (status == STATUS_OK)
		*points = (struct point_list){ items, count };
	return status;
}

static enum status take_field(struct wire_cursor *in, struct arena *arena,
			      const struct command_field *field, void *at)
{
	uint64_t number = 0;
	enum status status;
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		return wire_take_int(in, at);
	case FIELD_ENUM:
		status = wire_take_uint(in, UINT8_MAX, &number);
		*(uint8_t *)at = (uint8_t)number;
		return status;
	case FIELD_U32:
		status = wire_take_uint(in, UINT32_MAX, &number);
		*(uint32_t *)at = (uint32_t)number;
		return status;
	case FIELD_F64:
		return wire_take_real(in, at);
	case FIELD_VEC3:
		return take_vec3(in, at);
	case FIELD_QUAT:
		return take_quat(in, at);
	case FIELD_TEXT:
		return take_text(in, at);
	case FIELD_NAME:
		return take_name(in, at);
	case FIELD_SEED:
		return take_seed(in, at);
	case FIELD_ATTACHMENTS:
		return take_attachments(in, arena, at);
	case FIELD_TARGETS:
		return take_targets(in, arena, at);
	case FIELD_POINTS:
		return take_points(in, arena, at);
	}
	return STATUS_TYPE;
}

enum { ALLOWED_BYTES = 96 };

/* The allowed values of a field, for an error text. */
static void allowed_of(const struct command_field *field, char text[ALLOWED_BYTES])
{
	char min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	reason_number(field->min, min);
	reason_number(field->max, max);
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
		snprintf(text, ALLOWED_BYTES, "an id, or -k for what the k-th command makes");
		return;
	case FIELD_ENUM:
	case FIELD_U32:
	case FIELD_INTEGER:
		snprintf(text, ALLOWED_BYTES, "an integer within %s and %s", min, max);
		return;
	case FIELD_F64:
		snprintf(text, ALLOWED_BYTES, "a finite number within %s and %s", min, max);
		return;
	case FIELD_VEC3:
		snprintf(text, ALLOWED_BYTES, "three finite numbers within %s and %s", min, max);
		return;
	case FIELD_QUAT:
		snprintf(text, ALLOWED_BYTES, "four finite numbers w, x, y, z of length 0.5 to 2");
		return;
	case FIELD_TEXT:
		snprintf(text, ALLOWED_BYTES, "a text of 1 to 31 printable ASCII characters");
		return;
	case FIELD_NAME:
		snprintf(text, ALLOWED_BYTES, "a bin of 32 bytes");
		return;
	case FIELD_SEED:
		snprintf(text, ALLOWED_BYTES, "a bin of 8 bytes, or an integer within 0 and 2^53");
		return;
	case FIELD_ATTACHMENTS:
		snprintf(text, ALLOWED_BYTES, "an array of at most %d [shape, position, rotation]",
			 ATTACHMENTS_MAX);
		return;
	case FIELD_TARGETS:
		snprintf(text, ALLOWED_BYTES, "an array of at most %s [joint, axis, value]", max);
		return;
	case FIELD_POINTS:
		snprintf(text, ALLOWED_BYTES, "an array of %s to %s [time, value]", min, max);
		return;
	}
}

static enum status take_fields(struct wire_cursor *in, uint32_t count, struct arena *arena,
			       const struct command_info *info, int64_t index,
			       struct command *command, struct reason *why)
{
	if (count < info->needed)
		return reason_set(why, STATUS_TYPE, index, info->fields[count].name, "%s needs %s",
				  info->name, info->fields[count].name);
	for (uint32_t i = 0; i < MIN_OF(count, info->field_count); i++) {
		const struct command_field *field = &info->fields[i];
		const struct wire_cursor before = *in;
		char allowed[ALLOWED_BYTES];
		enum status status =
			take_field(in, arena, field, (uint8_t *)command + field->offset);
		if (status == STATUS_OK)
			continue;
		if (status == STATUS_NO_MEMORY)
			return reason_set(why, status, index, field->name, "%s",
					  status_text(status));
		allowed_of(field, allowed);
		return wire_complain(why, status, index, field->name, info->name, before, allowed);
	}
	return STATUS_OK;
}

enum status command_take(struct wire_cursor *in, struct arena *arena, int64_t index,
			 struct command *command, struct reason *why)
{
	uint32_t count;
	uint64_t op;
	if (wire_take_array(in, &count) != STATUS_OK || count == 0)
		return reason_set(why, STATUS_TYPE, index, "", "a command is [op, field, …]");
	if (wire_take_uint(in, UINT16_MAX, &op) != STATUS_OK)
		return reason_set(why, STATUS_TYPE, index, "op", "a command is [op, field, …]");
	const struct command_info *info = command_info((uint32_t)op);
	if (info == NULL)
		return reason_set(why, STATUS_UNKNOWN_COMMAND, index, "op",
				  "no command has number %d", (int)op);
	if (info->reserved)
		return reason_set(why, STATUS_UNSUPPORTED, index, "op", "%s is not supported yet",
				  info->name);
	command_defaults(command, (uint16_t)op);
	return take_fields(in, count - 1, arena, info, index, command, why);
}

enum status command_check_list(const struct wire_list *list, struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct arena arena;
	struct command command;
	enum status status = arena_init(&arena, 0);
	for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
		status = command_take(&in, &arena, i, &command, why);
		arena_reset(&arena);
	}
	arena_release(&arena);
	return status;
}

enum status command_take_list(const struct wire_list *list, struct arena *arena,
			      struct command **commands, struct reason *why)
{
	struct arena_mark mark = arena_mark(arena);
	struct wire_cursor in = wire_cursor_list(list);
	*commands = NULL;
	if (list->count > WIRE_BATCH_MAX)
		return reason_set(why, STATUS_RANGE, -1, "list",
				  "%u commands: a batch has at most %d; send several batches",
				  list->count, WIRE_BATCH_MAX);
	if (list->count == 0)
		return STATUS_OK;
	struct command *items = ARENA_ARRAY(arena, struct command, list->count);
	if (items == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "list", "out of memory");
	for (uint32_t i = 0; i < list->count; i++) {
		enum status status = command_take(&in, arena, i, &items[i], why);
		if (status != STATUS_OK) {
			arena_rewind(arena, mark);
			return status;
		}
	}
	*commands = items;
	return STATUS_OK;
}
