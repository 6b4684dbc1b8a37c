/* words.c: parses the operands and options of a verb: flags, counts, numbers, vectors and shapes.
 * See cli.h. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/verbs.h"
#include "clients/lib/shape_text.h"
#include "server/base/json_text.h"

/* An error under --json is one object on standard error. */
int cli_fail(const struct cli *cli)
{
	const struct reason *why = &cli->why;
	if (cli->json) {
		json_reason_print(stderr, why);
		return EXIT_FAILURE;
	}
	fprintf(stderr, "cairn: %s", why->text);
	if (why->field[0] != '\0')
		fprintf(stderr, " (%s)", why->field);
	if (why->index >= 0)
		fprintf(stderr, " in item %lld", (long long)why->index);
	fprintf(stderr, " [%s]\n", status_name(why->status));
	bool no_world = why->status == STATUS_IO || why->status == STATUS_UNKNOWN_WORLD;
	if (cli->no_file != NULL && no_world)
		fprintf(stderr, "cairn: and there is no file '%s'\n", cli->no_file);
	return EXIT_FAILURE;
}

int cli_usage(struct cli *cli, const char *format, ...)
{
	struct reason why;
	va_list arguments;
	va_start(arguments, format);
	reason_set_list(&why, STATUS_TYPE, -1, "usage", format, arguments);
	va_end(arguments);
	if (cli->json)
		json_reason_print(stderr, &why);
	else
		fprintf(stderr, "cairn: %s\nTry `cairn help`.\n", why.text);
	return 2;
}

int cli_wrong_words(struct cli *cli)
{
	const struct cli_verb_info *verb = cli->verb;
	if (cli->json) /* a reason has no room for a long usage */
		return cli_usage(cli, "wrong words: `cairn help %s` has the usage", verb->name);
	fprintf(stderr, "cairn: wrong words: the usage is\n  cairn %s %s\nTry `cairn help %s`.\n",
		verb->name, verb->usage, verb->name);
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
		const char *name = cli->options[i].name;
		bool twice = false;
		for (uint32_t k = 0; k < i; k++)
			twice = twice || strcmp(cli->options[k].name, name) == 0;
		if (twice)
			reason_set(&cli->why, STATUS_EXISTS, -1, name,
				   "--%s is given twice: give it once", name);
		else
			reason_set(&cli->why, STATUS_UNKNOWN_PARAMETER, -1, name,
				   "--%s has no effect beside the other words: leave it out", name);
		return false;
	}
	return true;
}

bool cli_number(struct cli *cli, const char *text, const char *what, double *value)
{
	char *end;
	*value = strtod(text, &end);
	if (end == text || *end != '\0')
		reason_set(&cli->why, STATUS_TYPE, -1, what, "%s is %.70s: it must be a number",
			   what, text);
	else if (!isfinite(*value))
		reason_set(&cli->why, STATUS_NOT_FINITE, -1, what, "%s is %.70s: it must be finite",
			   what, text);
	else
		return true;
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

bool cli_u32(struct cli *cli, const char *text, const char *what, uint32_t *value)
{
	uint64_t number;
	if (!cli_count(cli, text, what, &number))
		return false;
	*value = (uint32_t)number;
	if (number == *value)
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, what, "%s is %.70s: it must be at most 4294967295",
		   what, text);
	return false;
}

bool cli_numbers(struct cli *cli, const char *text, const char *what, double *values,
		 uint32_t count)
{
	if (numbers_text_parse(text, values, count) == (int)count)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, what,
		   "%s is %.70s: it must be %u finite numbers separated by commas", what, text,
		   (unsigned)count);
	return false;
}

bool cli_list(struct cli *cli, const char *text, const char *what, double *values,
	      uint32_t capacity, uint32_t *count)
{
	int found = numbers_text_parse(text, values, capacity);
	*count = found > 0 ? (uint32_t)found : 0;
	if (found > 0)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, what,
		   "%s is %.70s: it must be 1 to %u finite numbers separated by commas", what, text,
		   (unsigned)capacity);
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

bool cli_shape(struct cli *cli, const char *text, struct bytes *canonical)
{
	return shape_text_parse(text, canonical, &cli->why) == STATUS_OK;
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

bool cli_names_file(const struct cli *cli)
{
	return cli->operand_count > 0 && access(cli->operands[0], F_OK) == 0;
}
