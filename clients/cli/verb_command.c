/* verb_command.c: the verb command: any command of docs/COMMANDS.md, with its fields by name.
 *
 * A field is NAME=VALUE. Vectors and rotations are numbers separated by commas; lists are rows of
 * numbers, the rows separated by semicolons. The server checks the range of each value.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"

enum { ROWS_MAX = 4096, ROW_NUMBERS_MAX = 8 };

/* Storage of the lists of the one command. */
static struct attachment attachments[ATTACHMENTS_MAX];
static struct joint_target targets[ROWS_MAX];
static struct joint_point points[ROWS_MAX];

/* ---- one value ----------------------------------------------------------------------------------- */

static bool take_integer(struct cli *cli, const char *text, const char *name, int64_t *value)
{
	char *end;
	errno = 0;
	*value = strtoll(text, &end, 10);
	if (end != text && *end == '\0' && errno == 0)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, name,
		   "%s is %.70s: it must be a whole number within ±9223372036854775807", name,
		   text);
	return false;
}

/* A count of at most `most`, the maximum of the field's type. */
static bool take_small(struct cli *cli, const char *text, const struct command_field *field,
		       uint64_t most, uint64_t *value)
{
	if (!cli_count(cli, text, field->name, value))
		return false;
	if (*value <= most)
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, field->name, "%s=%s: at most %.10g is allowed",
		   field->name, text, field->max);
	return false;
}

static bool take_hex(struct cli *cli, const char *text, const char *name, struct name32 *out)
{
	bool good = strlen(text) == 2 * sizeof out->bytes &&
		    strspn(text, "0123456789abcdef") == 2 * sizeof out->bytes;
	for (size_t i = 0; good && i < sizeof out->bytes; i++) {
		const char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };
		out->bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	if (!good)
		reason_set(&cli->why, STATUS_TYPE, -1, name,
			   "%s is %.90s: it must be 64 lower-case hexadecimal digits", name, text);
	return good;
}

/* ---- lists --------------------------------------------------------------------------------------- */

/* Parses the next row of *text and advances; returns the count of its numbers, 0 at the end, −1 if
 * it is malformed. */
static int next_row(const char **text, double values[ROW_NUMBERS_MAX])
{
	int count = 0;
	while (**text != '\0' && count < ROW_NUMBERS_MAX) {
		char *end;
		values[count++] = strtod(*text, &end);
		if (end == *text || (*end != ',' && *end != ';' && *end != '\0'))
			return -1;
		*text = end + (*end != '\0');
		if (*end != ',')
			return count;
	}
	return count == 0 ? 0 : -1;
}

/* Stores a row of numbers as item `index` of a list; false if the type has no row of that many
 * numbers. */
static bool put_row(enum field_type type, uint32_t index, const double *v, int count)
{
	if (type == FIELD_POINTS && count == 2) {
		points[index] = (struct joint_point){ v[0], v[1] };
		return true;
	}
	if (type == FIELD_TARGETS && count == 3 && v[1] >= 0 && v[1] < JOINT_AXES) {
		targets[index] = (struct joint_target){ (int64_t)v[0], (uint8_t)v[1], v[2] };
		return true;
	}
	if (type != FIELD_ATTACHMENTS || (count != 1 && count != 4 && count != 8))
		return false;
	attachments[index] =
		(struct attachment){ .shape = (int64_t)v[0], .rotation = quat_identity() };
	if (count > 1)
		attachments[index].position = vec3_make(v[1], v[2], v[3]);
	if (count > 4)
		attachments[index].rotation = quat_make(v[4], v[5], v[6], v[7]);
	return true;
}

static bool take_list(struct cli *cli, const char *text, const struct command_field *field,
		      void *out)
{
	static const char *const ROWS[] = {
		[FIELD_ATTACHMENTS] = "SHAPE[,X,Y,Z[,W,X,Y,Z]];…",
		[FIELD_TARGETS] = "JOINT,AXIS,VALUE;… with AXIS from 0 to 5",
		[FIELD_POINTS] = "TIME,VALUE;…",
	};
	const char *at = text;
	uint32_t count = 0, most = field->type == FIELD_ATTACHMENTS ? ATTACHMENTS_MAX : ROWS_MAX;
	double values[ROW_NUMBERS_MAX];
	int numbers;
	while ((numbers = next_row(&at, values)) > 0 && count < most &&
	       put_row(field->type, count, values, numbers))
		count++;
	if (numbers > 0 && count == most) {
		reason_set(&cli->why, STATUS_LIMIT, -1, field->name,
			   "%s has more than %u rows: leave some out", field->name, (unsigned)most);
		return false;
	}
	if (numbers != 0) {
		reason_set(&cli->why, STATUS_TYPE, -1, field->name,
			   "%s: row %u, from 0, is not of the form %s", field->name,
			   (unsigned)count, ROWS[field->type]);
		return false;
	}
	if (field->type == FIELD_ATTACHMENTS)
		*(struct attachment_list *)out = (struct attachment_list){ attachments, count };
	else if (field->type == FIELD_TARGETS)
		*(struct target_list *)out = (struct target_list){ targets, count };
	else
		*(struct point_list *)out = (struct point_list){ points, count };
	return true;
}

/* ---- fields -------------------------------------------------------------------------------------- */

static bool take_text(struct cli *cli, const char *text, const char *name, struct text32 *out)
{
	if (strlen(text) >= sizeof out->text) {
		reason_set(&cli->why, STATUS_RANGE, -1, name,
			   "%s=%s: at most %zu bytes are allowed", name, text,
			   sizeof out->text - 1);
		return false;
	}
	snprintf(out->text, sizeof out->text, "%s", text);
	return true;
}

static bool take_value(struct cli *cli, const char *text, const struct command_field *field,
		       void *out)
{
	uint64_t count = 0;
	double q[4];
	bool good;
	switch (field->type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		return take_integer(cli, text, field->name, out);
	case FIELD_ENUM:
		good = take_small(cli, text, field, UINT8_MAX, &count);
		*(uint8_t *)out = (uint8_t)count;
		return good;
	case FIELD_U32:
		good = take_small(cli, text, field, UINT32_MAX, &count);
		*(uint32_t *)out = (uint32_t)count;
		return good;
	case FIELD_SEED:
		return cli_count(cli, text, field->name, out);
	case FIELD_F64:
		return cli_number(cli, text, field->name, out);
	case FIELD_VEC3:
		return cli_vec3(cli, text, field->name, out);
	case FIELD_QUAT:
		good = cli_numbers(cli, text, field->name, q, 4);
		if (good)
			*(quat *)out = quat_make(q[0], q[1], q[2], q[3]);
		return good;
	case FIELD_TEXT:
		return take_text(cli, text, field->name, out);
	case FIELD_NAME:
		return take_hex(cli, text, field->name, out);
	default:
		return take_list(cli, text, field, out);
	}
}

/* Parses one word NAME=VALUE; sets the field's bit in *given. */
static bool take_field(struct cli *cli, const struct command_info *info, const char *word,
		       struct command *command, uint64_t *given)
{
	size_t bytes = strcspn(word, "=");
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct command_field *field = &info->fields[i];
		if (word[bytes] != '=' || strlen(field->name) != bytes ||
		    strncmp(field->name, word, bytes) != 0)
			continue;
		if ((*given >> i & 1) != 0) {
			reason_set(&cli->why, STATUS_EXISTS, -1, field->name,
				   "%s is given twice, now as \"%.60s\": give it once", field->name,
				   word);
			return false;
		}
		*given |= UINT64_C(1) << i;
		return take_value(cli, word + bytes + 1, field, (char *)command + field->offset);
	}
	reason_set(&cli->why, STATUS_UNKNOWN_PARAMETER, -1, info->name,
		   "%s is not FIELD=VALUE with a field of %s; see docs/COMMANDS.md", word,
		   info->name);
	return false;
}

static bool take_command(struct cli *cli, struct command *command)
{
	const struct command_info *info = command_find(cli->operands[1]);
	uint64_t given = 0;
	if (info == NULL || info->reserved) {
		reason_set(&cli->why, STATUS_UNKNOWN_COMMAND, -1, "COMMAND",
			   "command %s does not exist; docs/COMMANDS.md lists the commands",
			   cli->operands[1]);
		return false;
	}
	command_defaults(command, info->op);
	for (uint32_t i = 2; i < cli->operand_count; i++)
		if (!take_field(cli, info, cli->operands[i], command, &given))
			return false;
	for (uint32_t i = 0; i < info->needed; i++)
		if (!(given >> i & 1)) {
			reason_set(&cli->why, STATUS_MISSING, -1, info->fields[i].name,
				   "command %s needs %s=VALUE", info->name, info->fields[i].name);
			return false;
		}
	return true;
}

int verb_command(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	if (cli->operand_count < 2)
		return cli_wrong_words(cli);
	if (!take_command(cli, &command) || !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}
