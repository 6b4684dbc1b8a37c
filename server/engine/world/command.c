/* command.c: commands.def as descriptors, and everything about a command that needs no world.
 *
 * Descriptors are derived by including the list; defaults, checks, description and the flat form
 * (command_bytes.c) walk them. Rules that relate fields of one command (dynamic_friction at most
 * static_friction, maximum above minimum) are at the end of command_check_values.
 */
#include "server/engine/world/command.h"

#include "server/engine/world/command_bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Every command's fields begin where the union does. */
#define COMMAND(number, NAME, name, needed, result, doc)                                           \
	static const struct command_field NAME##_fields[] = {
#define FIELD(NAME, TYPE, name_, min_, max_, initial_, unit_, doc_)                                \
	{ .name = #name_,                                                                          \
	  .unit = unit_,                                                                           \
	  .doc = doc_,                                                                             \
	  .type = FIELD_##TYPE,                                                                    \
	  .offset = offsetof(struct command, spawn) + offsetof(struct command_##NAME, name_),      \
	  .min = min_,                                                                             \
	  .max = max_,                                                                             \
	  .initial = initial_ },
#define END(NAME)                                                                                  \
	}                                                                                          \
	;
#include "server/engine/world/commands.def"

static const struct command_info infos[] = {
#define COMMAND(number, NAME, name_, needed_, result_, doc_)                                       \
	{ .op = number,                                                                            \
	  .name = #name_,                                                                          \
	  .doc = doc_,                                                                             \
	  .result = RESULT_##result_,                                                              \
	  .needed = needed_,                                                                       \
	  .field_count = (uint32_t)COUNT_OF(NAME##_fields),                                        \
	  .fields = NAME##_fields },
#define RESERVED(number, name_) { .op = number, .name = #name_, .doc = "", .reserved = true },
#include "server/engine/world/commands.def"
};

/* 1 + index in `infos`, by number of the command; 0: no such command. */
enum {
#define COMMAND(number, NAME, name, needed, result, doc) PLACE_##number,
#define RESERVED(number, name) PLACE_##number,
#include "server/engine/world/commands.def"
};
static const uint8_t places[COMMAND_OPS_MAX] = {
#define COMMAND(number, NAME, name, needed, result, doc) [number] = 1 + PLACE_##number,
#define RESERVED(number, name) [number] = 1 + PLACE_##number,
#include "server/engine/world/commands.def"
};

const struct command_info *command_info(uint32_t op)
{
	return op < COMMAND_OPS_MAX && places[op] > 0 ? &infos[places[op] - 1] : NULL;
}

const char *field_type_name(enum field_type type)
{
	static const char *const names[] = {
#define TYPE(NAME, ctype, name) [FIELD_##NAME] = name,
		FIELD_TYPES(TYPE)
#undef TYPE
	};
	ASSERT((size_t)type < COUNT_OF(names));
	return names[type];
}

const char *command_result_name(enum command_result result)
{
	static const char *const names[] = {
		[RESULT_NOTHING] = "nothing",
		[RESULT_BODY] = "body",
		[RESULT_SHAPE] = "shape",
		[RESULT_JOINT] = "joint",
		[RESULT_FORCE_FIELD] = "force field",
		[RESULT_PARTICLES] = "particles",
	};
	ASSERT((size_t)result < COUNT_OF(names));
	return names[result];
}

const struct command_info *command_find(const char *name)
{
	for (uint32_t i = 0; i < COUNT_OF(infos); i++)
		if (strcmp(infos[i].name, name) == 0)
			return &infos[i];
	return NULL;
}

const struct command_info *command_list(uint32_t *count)
{
	*count = (uint32_t)COUNT_OF(infos);
	return infos;
}

/* Reads or writes a field at its offset; memcpy has no requirements of alignment and aliasing. */
#define FIELD_GET(command, field, type, value)                                                     \
	type value;                                                                                \
	memcpy(&value, (const char *)(command) + (field)->offset, sizeof value)

static void field_set(struct command *command, const struct command_field *field, const void *value,
		      size_t bytes)
{
	memcpy((char *)command + field->offset, value, bytes);
}

/* Each command with every field at its default. */
#define INITIAL_BODY(initial) (int64_t)(initial)
#define INITIAL_SHAPE(initial) (int64_t)(initial)
#define INITIAL_JOINT(initial) (int64_t)(initial)
#define INITIAL_FORCE_FIELD(initial) (int64_t)(initial)
#define INITIAL_PARTICLES(initial) (int64_t)(initial)
#define INITIAL_INTEGER(initial) (int64_t)(initial)
#define INITIAL_ENUM(initial) (uint8_t)(initial)
#define INITIAL_U32(initial) (uint32_t)(initial)
#define INITIAL_F64(initial) (initial)
#define INITIAL_VEC3(initial)                                                                      \
	{                                                                                          \
		(initial), (initial), (initial)                                                    \
	}
#define INITIAL_QUAT(initial)                                                                      \
	{                                                                                          \
		.w = 1                                                                             \
	}
#define INITIAL_TEXT(initial)                                                                      \
	{                                                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define INITIAL_NAME(initial)                                                                      \
	{                                                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define INITIAL_SEED(initial) 0
#define INITIAL_ATTACHMENTS(initial)                                                               \
	{                                                                                          \
		NULL, 0                                                                            \
	}
#define INITIAL_TARGETS(initial)                                                                   \
	{                                                                                          \
		NULL, 0                                                                            \
	}
#define INITIAL_POINTS(initial)                                                                    \
	{                                                                                          \
		NULL, 0                                                                            \
	}
static const struct command default_commands[] = {
#define COMMAND(number, NAME, name_, needed, result, doc)                                          \
	{                                                                                          \
		.op = number, .name_ = {
#define FIELD(NAME, TYPE, name_, min, max, initial, unit, doc) .name_ = INITIAL_##TYPE(initial),
#define END(NAME)                                                                                  \
	}                                                                                          \
	}                                                                                          \
	,
#define RESERVED(number, name_) { .op = number },
#include "server/engine/world/commands.def"
};

void command_defaults(struct command *command, uint16_t op)
{
	if (op < COMMAND_OPS_MAX && places[op] > 0) {
		memcpy(command, &default_commands[places[op] - 1], sizeof *command);
		return;
	}
	memset(command, 0, sizeof *command);
	command->op = op;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static enum status check_number(double value, const struct command_field *field, int64_t index,
				struct reason *why)
{
	if (!scalar_is_finite(value))
		return reason_set(why, STATUS_NOT_FINITE, index, field->name,
				  "%s is infinite or not a number: it must be finite", field->name);
	if (value >= field->min && value <= field->max)
		return STATUS_OK;
	char given[REASON_NUMBER_BYTES], min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	return reason_set(why, STATUS_RANGE, index, field->name,
			  "%s is %s: it must be from %s to %s", field->name,
			  reason_number(value, given), reason_number(field->min, min),
			  reason_number(field->max, max));
}

static enum status check_vector(vec3 v, const struct command_field *field, int64_t index,
				struct reason *why)
{
	enum status status = check_number(v.x, field, index, why);
	if (status == STATUS_OK)
		status = check_number(v.y, field, index, why);
	if (status == STATUS_OK)
		status = check_number(v.z, field, index, why);
	return status;
}

static enum status check_rotation(quat q, const char *name, int64_t index, struct reason *why)
{
	if (!quat_is_finite(q))
		return reason_set(why, STATUS_NOT_FINITE, index, name,
				  "%s is [%g, %g, %g, %g]: each of its four numbers must be finite",
				  name, q.w, q.x, q.y, q.z);
	double size = scalar_max(scalar_max(scalar_abs(q.w), scalar_abs(q.x)),
				 scalar_max(scalar_abs(q.y), scalar_abs(q.z)));
	double length = size > 2 ? size : quat_length(q);
	if (length < 0.5 || length > 2)
		return reason_set(
			why, STATUS_RANGE, index, name,
			"%s has length %.10g: it must be within 0.5 and 2, and is then made 1",
			name, length);
	return STATUS_OK;
}

quat command_rotation(quat q)
{
	return scalar_near(quat_dot(q, q), 1.0, 4 * SCALAR_EPSILON) ? q : quat_normalize(q);
}

static enum status check_id(int64_t id, const struct command_field *field, int64_t index,
			    struct reason *why)
{
	enum status unknown = field->type == FIELD_BODY	       ? STATUS_UNKNOWN_BODY
			      : field->type == FIELD_SHAPE     ? STATUS_UNKNOWN_SHAPE
			      : field->type == FIELD_JOINT     ? STATUS_UNKNOWN_JOINT
			      : field->type == FIELD_PARTICLES ? STATUS_UNKNOWN_PARTICLES
							       : STATUS_UNKNOWN_FIELD;
	if (id == 0 && field->max == 1)
		return STATUS_OK; /* the world, or none */
	if (id == 0 || id > (int64_t)UINT32_MAX)
		return reason_set(why, unknown, index, field->name,
				  "%s is %lld: an id is from 1 to %u, or a back reference below 0",
				  field->name, (long long)id, UINT32_MAX);
	if (id < -(int64_t)UINT32_MAX)
		return reason_set(
			why, STATUS_BACK_REFERENCE, index, field->name,
			"%s is %lld: a back reference -1 is command 0 of the batch, -2 command "
			"1, and so on",
			field->name, (long long)id);
	return STATUS_OK;
}

static enum status check_text(const struct text32 *text, const struct command_field *field,
			      int64_t index, struct reason *why)
{
	uint32_t length = 0;
	while (length < sizeof text->text && text->text[length] != '\0') {
		if (text->text[length] < 0x20 || text->text[length] > 0x7e)
			return reason_set(
				why, STATUS_RANGE, index, field->name,
				"%s has byte %u at position %u: it must be printable ASCII, 32 to 126",
				field->name, (unsigned)(uint8_t)text->text[length], length);
		length++;
	}
	if (length == 0 || length == sizeof text->text)
		return reason_set(why, STATUS_RANGE, index, field->name,
				  "%s %s: it must have 1 to 31 characters", field->name,
				  length == 0 ? "is empty" : "is longer than 31 characters");
	return STATUS_OK;
}

static enum status check_attachments(const struct attachment_list *list,
				     const struct command_field *field, int64_t index,
				     struct reason *why)
{
	if (list->count > ATTACHMENTS_MAX)
		return reason_set(why, STATUS_RANGE, index, field->name,
				  "%s has %u entries: a body may have at most %u shapes",
				  field->name, list->count, ATTACHMENTS_MAX);
	const struct command_field id = { .name = field->name, .type = FIELD_SHAPE };
	const struct command_field place = { .name = field->name,
					     .min = -LENGTH_MAX,
					     .max = LENGTH_MAX };
	for (uint32_t i = 0; i < list->count; i++) {
		const struct attachment *item = &list->items[i];
		enum status status = check_id(item->shape, &id, index, why);
		if (status == STATUS_OK)
			status = check_vector(item->position, &place, index, why);
		if (status == STATUS_OK)
			status = check_rotation(item->rotation, field->name, index, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status check_targets(const struct target_list *list, const struct command_field *field,
				 int64_t index, struct reason *why)
{
	if (list->count > field->max)
		return reason_set(why, STATUS_RANGE, index, field->name,
				  "%s has %u entries, the limit is %.10g: send several commands",
				  field->name, list->count, field->max);
	const struct command_field id = { .name = field->name, .type = FIELD_JOINT };
	const struct command_field value = { .name = field->name,
					     .min = -LENGTH_MAX,
					     .max = LENGTH_MAX };
	const struct command_field axis = { .name = field->name, .max = JOINT_AXES - 1 };
	for (uint32_t i = 0; i < list->count; i++) {
		enum status status = check_id(list->items[i].joint, &id, index, why);
		if (status == STATUS_OK)
			status = check_number(list->items[i].axis, &axis, index, why);
		if (status == STATUS_OK)
			status = check_number(list->items[i].value, &value, index, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status check_points(const struct point_list *list, const struct command_field *field,
				int64_t index, struct reason *why)
{
	if (list->count < field->min || list->count > field->max)
		return reason_set(why, STATUS_RANGE, index, field->name,
				  "%s has %u points: a table has %.10g to %.10g", field->name,
				  list->count, field->min, field->max);
	const struct command_field time = { .name = field->name, .max = LENGTH_MAX };
	double most = field->initial > 0 ? field->initial : LENGTH_MAX;
	const struct command_field value = { .name = field->name, .min = -most, .max = most };
	for (uint32_t i = 0; i < list->count; i++) {
		enum status status = check_number(list->items[i].time, &time, index, why);
		if (status == STATUS_OK)
			status = check_number(list->items[i].value, &value, index, why);
		if (status != STATUS_OK)
			return status;
		if (i > 0 && list->items[i].time <= list->items[i - 1].time)
			return reason_set(
				why, STATUS_RANGE, index, field->name,
				"point %u is at %.10g s: it must be later than point %u at %.10g s",
				i, list->items[i].time, i - 1, list->items[i - 1].time);
	}
	return STATUS_OK;
}

static enum status check_field(struct command *command, const struct command_field *field,
			       int64_t index, struct reason *why)
{
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES: {
		FIELD_GET(command, field, int64_t, id);
		return check_id(id, field, index, why);
	}
	case FIELD_ENUM: {
		FIELD_GET(command, field, uint8_t, value);
		return check_number(value, field, index, why);
	}
	case FIELD_U32: {
		FIELD_GET(command, field, uint32_t, value);
		return check_number(value, field, index, why);
	}
	case FIELD_INTEGER: {
		FIELD_GET(command, field, int64_t, value);
		return check_number((double)value, field, index, why);
	}
	case FIELD_F64: {
		FIELD_GET(command, field, double, value);
		return check_number(value, field, index, why);
	}
	case FIELD_VEC3: {
		FIELD_GET(command, field, vec3, value);
		return check_vector(value, field, index, why);
	}
	case FIELD_QUAT: {
		FIELD_GET(command, field, quat, value);
		enum status status = check_rotation(value, field->name, index, why);
		value = status == STATUS_OK ? command_rotation(value) : value;
		field_set(command, field, &value, sizeof value);
		return status;
	}
	case FIELD_TEXT: {
		FIELD_GET(command, field, struct text32, text);
		return check_text(&text, field, index, why);
	}
	case FIELD_ATTACHMENTS: {
		FIELD_GET(command, field, struct attachment_list, list);
		return check_attachments(&list, field, index, why);
	}
	case FIELD_TARGETS: {
		FIELD_GET(command, field, struct target_list, list);
		return check_targets(&list, field, index, why);
	}
	case FIELD_POINTS: {
		FIELD_GET(command, field, struct point_list, list);
		return check_points(&list, field, index, why);
	}
	case FIELD_NAME:
	case FIELD_SEED:
		return STATUS_OK;
	}
	return STATUS_OK;
}

static enum status check_friction(double dynamic_friction, double static_friction, int64_t index,
				  struct reason *why)
{
	if (dynamic_friction <= static_friction)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, index, "dynamic_friction",
			  "dynamic_friction is %.10g: it must be at most static_friction, %.10g",
			  dynamic_friction, static_friction);
}

static enum status check_bounds(const struct command_BOUNDS *bounds, int64_t index,
				struct reason *why)
{
	vec3 size = vec3_sub(bounds->maximum, bounds->minimum);
	if (vec3_min_component(size) > 0)
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, index, "maximum",
		"maximum is [%.10g, %.10g, %.10g]: each component must be above that of minimum",
		bounds->maximum.x, bounds->maximum.y, bounds->maximum.z);
}

/* Only a position motor has a stiffness, and no motor without it a damping but a velocity motor. */
static enum status check_gains(const struct command_JOINT_AXIS *axis, int64_t index,
			       struct reason *why)
{
	bool position = axis->motor == JOINT_MOTOR_POSITION;
	ASSERT(axis->motor <= JOINT_MOTOR_FORCE);
	if (axis->motor_stiffness > 0 && !position)
		return reason_set(why, STATUS_RANGE, index, "motor_stiffness",
				  "motor_stiffness is %.10g: only a position motor (2) has one, of "
				  "another it must be 0",
				  axis->motor_stiffness);
	if (axis->motor_damping > 0 && axis->motor != JOINT_MOTOR_VELOCITY &&
	    !(axis->motor_stiffness > 0))
		return reason_set(why, STATUS_RANGE, index, "motor_damping",
				  "motor_damping is %.10g: it must be 0 without a motor, of a "
				  "position motor whose motor_stiffness is 0, and of a force",
				  axis->motor_damping);
	return STATUS_OK;
}

/* Limits in ascending order, stiffness within the range of the kind of spring. */
static enum status check_axis(const struct command_JOINT_AXIS *axis, int64_t index,
			      struct reason *why)
{
	if (axis->mode == JOINT_LIMITED && axis->upper < axis->lower)
		return reason_set(why, STATUS_RANGE, index, "upper",
				  "upper is %.10g: it must be at least lower, %.10g", axis->upper,
				  axis->lower);
	if (axis->spring == JOINT_SPRING_HERTZ && axis->stiffness > JOINT_HERTZ_MAX)
		return reason_set(
			why, STATUS_RANGE, index, "stiffness",
			"stiffness is %.10g Hz: with spring 2 it must be within 0 and %.10g Hz",
			axis->stiffness, JOINT_HERTZ_MAX);
	return check_gains(axis, index, why);
}

static enum status check_table(const struct command_JOINT_TABLE *table, int64_t index,
			       struct reason *why)
{
	double last = table->points.items[table->points.count - 1].time;
	if (table->period == 0 || (table->period >= last && table->period > 0))
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, index, "period",
		"period is %.10g s: it must be 0 (no repetition) or at least the last point's "
		"time, %.10g s",
		table->period, last);
}

enum status command_check_values(struct command *command, int64_t index, struct reason *why)
{
	const struct command_info *info = command_info(command->op);
	if (info == NULL)
		return reason_set(
			why, STATUS_UNKNOWN_COMMAND, index, "op",
			"op is %u: no command has this number; docs/COMMANDS.md lists them",
			command->op);
	if (info->reserved)
		return reason_set(why, STATUS_UNSUPPORTED, index, "op", "%s is not supported yet",
				  info->name);
	for (uint32_t i = 0; i < info->field_count; i++) {
		enum status status = check_field(command, &info->fields[i], index, why);
		if (status != STATUS_OK)
			return status;
	}
	switch (command->op) {
	case COMMAND_SPAWN:
		return check_friction(command->spawn.dynamic_friction,
				      command->spawn.static_friction, index, why);
	case COMMAND_SET_MATERIAL:
		return check_friction(command->set_material.dynamic_friction,
				      command->set_material.static_friction, index, why);
	case COMMAND_SET_PIECE:
		return check_friction(command->set_piece.dynamic_friction,
				      command->set_piece.static_friction, index, why);
	case COMMAND_BOUNDS:
		return check_bounds(&command->bounds, index, why);
	case COMMAND_JOINT_AXIS:
		return check_axis(&command->joint_axis, index, why);
	case COMMAND_JOINT_TABLE:
		return check_table(&command->joint_table, index, why);
	default:
		return STATUS_OK;
	}
}

/* ---- words ------------------------------------------------------------------------------------- */

const char *command_word(enum word_list list, uint32_t number)
{
	static const struct {
		enum word_list list;
		uint32_t number;
		const char *word;
	} words[] = {
#define WORD(LIST, number, word) { WORDS_##LIST, number, #word },
#include "server/engine/world/words.def"
	};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (words[i].list == list && words[i].number == number)
			return words[i].word;
	return "?";
}

/* ---- description ------------------------------------------------------------------------------ */

/* Text in a buffer of `bytes`. Text beyond the buffer is cut, but still counted, as by snprintf. */
struct text_line {
	char *text;
	size_t bytes;
	size_t count;
};

PRINTF_LIKE(2, 3) static void append_text(struct text_line *line, const char *format, ...)
{
	size_t left = line->count < line->bytes ? line->bytes - line->count : 0;
	va_list arguments;
	va_start(arguments, format);
	int count = vsnprintf(left > 0 ? line->text + line->count : NULL, left, format, arguments);
	va_end(arguments);
	line->count += count > 0 ? (size_t)count : 0;
}

static void describe_attachments(struct text_line *line, const struct attachment_list *list)
{
	append_text(line, "[");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct attachment *item = &list->items[i];
		append_text(line, "%s%lld@(%g,%g,%g)", i > 0 ? " " : "", (long long)item->shape,
			    item->position.x, item->position.y, item->position.z);
	}
	append_text(line, "]");
}

static void describe_targets(struct text_line *line, const struct target_list *list)
{
	append_text(line, "[");
	for (uint32_t i = 0; i < list->count; i++)
		append_text(line, "%s%lld.%u=%g", i > 0 ? " " : "", (long long)list->items[i].joint,
			    (unsigned)list->items[i].axis, list->items[i].value);
	append_text(line, "]");
}

static void describe_points(struct text_line *line, const struct point_list *list)
{
	append_text(line, "[");
	for (uint32_t i = 0; i < list->count; i++)
		append_text(line, "%s(%g,%g)", i > 0 ? " " : "", list->items[i].time,
			    list->items[i].value);
	append_text(line, "]");
}

static void describe_field(struct text_line *line, const struct command *command,
			   const struct command_field *field)
{
	const char *at = (const char *)command + field->offset;
	vec3 v;
	quat q;
	int64_t integer;
	uint64_t seed;
	uint32_t u32;
	double number;
	struct attachment_list list;
	struct target_list targets;
	struct point_list points;
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		memcpy(&integer, at, sizeof integer);
		append_text(line, "%lld", (long long)integer);
		return;
	case FIELD_ENUM:
		append_text(line, "%u", (unsigned)(uint8_t)*at);
		return;
	case FIELD_U32:
		memcpy(&u32, at, sizeof u32);
		append_text(line, "%u", u32);
		return;
	case FIELD_F64:
		memcpy(&number, at, sizeof number);
		append_text(line, "%g", number);
		return;
	case FIELD_VEC3:
		memcpy(&v, at, sizeof v);
		append_text(line, "(%g,%g,%g)", v.x, v.y, v.z);
		return;
	case FIELD_QUAT:
		memcpy(&q, at, sizeof q);
		append_text(line, "(%g,%g,%g,%g)", q.w, q.x, q.y, q.z);
		return;
	case FIELD_TEXT:
		append_text(line, "%.31s", at);
		return;
	case FIELD_NAME:
		for (uint32_t i = 0; i < 8; i++)
			append_text(line, "%02x", (unsigned)(uint8_t)at[i]);
		return;
	case FIELD_SEED:
		memcpy(&seed, at, sizeof seed);
		append_text(line, "%016llx", (unsigned long long)seed);
		return;
	case FIELD_ATTACHMENTS:
		memcpy(&list, at, sizeof list);
		describe_attachments(line, &list);
		return;
	case FIELD_TARGETS:
		memcpy(&targets, at, sizeof targets);
		describe_targets(line, &targets);
		return;
	case FIELD_POINTS:
		memcpy(&points, at, sizeof points);
		describe_points(line, &points);
		return;
	}
}

int command_describe(const struct command *command, char *text, size_t bytes)
{
	struct text_line line = { text, bytes, 0 };
	const struct command_info *info = command_info(command->op);
	if (bytes > 0)
		text[0] = '\0';
	if (info == NULL)
		append_text(&line, "command %u", command->op);
	else
		append_text(&line, "%s", info->name);
	for (uint32_t i = 0; info != NULL && i < info->field_count; i++) {
		append_text(&line, " %s=", info->fields[i].name);
		describe_field(&line, command, &info->fields[i]);
	}
	return (int)line.count;
}
