/* words.c: parses the operands and options of a verb: flags, counts, numbers, vectors and shapes.
 * See cli.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/cli.h"
#include "server/base/bytes.h"

int cli_fail(const struct cli *cli)
{
	const struct reason *why = &cli->why;
	fprintf(stderr, "cairn: %s", why->text);
	if (why->field[0] != '\0')
		fprintf(stderr, " (%s)", why->field);
	if (why->index >= 0)
		fprintf(stderr, " in item %lld", (long long)why->index);
	fprintf(stderr, " [%s]\n", status_name(why->status));
	return EXIT_FAILURE;
}

int cli_usage(struct cli *cli, const char *format, ...)
{
	va_list arguments;
	UNUSED(cli);
	va_start(arguments, format);
	fputs("cairn: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\nTry `cairn help`.\n", stderr);
	va_end(arguments);
	return 2;
}

const char *cli_option(struct cli *cli, const char *name, uint32_t index)
{
	for (uint32_t i = 0; i < cli->option_count; i++) {
		if (strcmp(cli->options[i].name, name) != 0 || index-- > 0)
			continue;
		cli->used |= 1u << i;
		return cli->options[i].value != NULL ? cli->options[i].value : "";
	}
	return NULL;
}

bool cli_flag(struct cli *cli, const char *name)
{
	return cli_option(cli, name, 0) != NULL;
}

bool cli_options_known(struct cli *cli)
{
	for (uint32_t i = 0; i < cli->option_count; i++) {
		if (cli->used >> i & 1)
			continue;
		reason_set(&cli->why, STATUS_UNKNOWN_PARAMETER, -1, cli->options[i].name,
			   "this verb has no option --%s", cli->options[i].name);
		return false;
	}
	return true;
}

bool cli_number(struct cli *cli, const char *text, const char *what, double *value)
{
	char *end;
	*value = strtod(text, &end);
	if (end != text && *end == '\0')
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, what, "%s is not a number", text);
	return false;
}

bool cli_count(struct cli *cli, const char *text, const char *what, uint64_t *value)
{
	char *end;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*end == '\0' && text[0] >= '0' && text[0] <= '9' && errno == 0)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, what,
		   "%s is %.70s: it must be a whole number from 0 to 18446744073709551615", what,
		   text);
	return false;
}

/* Parses numbers separated by commas; returns their count, −1 if they are malformed or more than
 * `capacity`. */
static int split_numbers(const char *text, double *values, uint32_t capacity)
{
	uint32_t count = 0;
	for (;;) {
		char *end;
		double value = strtod(text, &end);
		if (end == text || count == capacity)
			return -1;
		values[count++] = value;
		if (*end == '\0')
			return (int)count;
		if (*end != ',')
			return -1;
		text = end + 1;
	}
}

bool cli_numbers(struct cli *cli, const char *text, const char *what, double *values,
		 uint32_t count)
{
	if (split_numbers(text, values, count) == (int)count)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, what, "%s is not %u numbers separated by commas",
		   text, (unsigned)count);
	return false;
}

bool cli_vec3(struct cli *cli, const char *text, const char *what, vec3 *value)
{
	double values[3];
	if (!cli_numbers(cli, text, what, values, 3))
		return false;
	*value = (vec3){ values[0], values[1], values[2] };
	return true;
}

/* ---- shapes -------------------------------------------------------------------------------------- */

enum { HULL_NUMBERS_MAX = 768 };

/* table: kinds of shapes by name: their number in canonical bytes, and how many numbers follow the
 * colon. */
static const struct {
	const char *name;
	uint8_t kind;
	int numbers; /* −1: a multiple of three */
} kinds[] = {
	{ "sphere", 1, 1 }, { "capsule", 2, 2 }, { "box", 3, 3 },
	{ "hull", 4, -1 },  { "plane", 5, 4 },
};

bool cli_shape(struct cli *cli, const char *text, struct bytes *canonical)
{
	double numbers[HULL_NUMBERS_MAX];
	const char *colon = strchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		if (length != strlen(kinds[k].name) || strncmp(text, kinds[k].name, length) != 0)
			continue;
		int count = split_numbers(colon + 1, numbers, HULL_NUMBERS_MAX);
		bool fits = kinds[k].numbers >= 0 ? count == kinds[k].numbers
						  : count > 0 && count % 3 == 0;
		if (!fits)
			break;
		/* A box is given by full sizes; canonical bytes contain half sizes. */
		for (int i = 0; kinds[k].kind == 3 && i < count; i++)
			numbers[i] /= 2;
		struct writer writer = writer_into(canonical);
		write_u8(&writer, kinds[k].kind);
		write_u8(&writer, 1);
		if (kinds[k].numbers < 0)
			write_u32(&writer, (uint32_t)count / 3);
		for (int i = 0; i < count; i++)
			write_f64(&writer, numbers[i]);
		if (writer_status(&writer) == STATUS_OK)
			return true;
	}
	reason_set(
		&cli->why, STATUS_TYPE, -1, "shape",
		"shape %s is not one of sphere:R capsule:HALF,R box:X,Y,Z hull:X,Y,Z,… plane:NX,NY,NZ,D",
		text);
	return false;
}

bool cli_join(struct cli *cli, struct cairn_world *world)
{
	if (cli->operand_count == 0) {
		reason_set(&cli->why, STATUS_MISSING, -1, "WORLD",
			   "WORLD is missing; `cairn worlds` lists the names");
		return false;
	}
	return cairn_join(cli->client, cli->operands[0], world, &cli->why) == STATUS_OK;
}
