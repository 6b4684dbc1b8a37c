/* verb_lists.c: the verbs methods and parameters: the methods a world may use, its parameters and
 * their values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"

enum { TEXT_MAX = 1024 };

static void out_slice(const struct cli *cli, const char *key, struct wire_slice value)
{
	char text[TEXT_MAX];
	snprintf(text, sizeof text, "%.*s", (int)value.bytes, (const char *)value.at);
	out_text(cli, key, text);
}

/* Appends a word to a text, after a space. */
static void add_word(char text[TEXT_MAX], const char *word)
{
	size_t length = strlen(text);
	snprintf(text + length, TEXT_MAX - length, "%s%s", length > 0 ? " " : "", word);
}

/* Prints the texts of a list as one text, separated by spaces. */
static void out_words(const struct cli *cli, const char *key, const struct wire_list *list)
{
	char text[TEXT_MAX] = "", word[128];
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_slice item;
	for (uint32_t i = 0; i < list->count && answer_take_text(&in, &item) == STATUS_OK; i++) {
		snprintf(word, sizeof word, "%.*s", (int)item.bytes, (const char *)item.at);
		add_word(text, word);
	}
	out_text(cli, key, text);
}

static void out_names(const struct cli *cli, const struct wire_list *list)
{
	char text[TEXT_MAX] = "", word[256];
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_method_name name;
	for (uint32_t i = 0; i < list->count && answer_take_method_name(&in, &name) == STATUS_OK;
	     i++) {
		if (name.parameter.bytes > 0)
			snprintf(word, sizeof word, "%.*s (%.*s %.10g)", (int)name.name.bytes,
				 (const char *)name.name.at, (int)name.parameter.bytes,
				 (const char *)name.parameter.at, name.value);
		else
			snprintf(word, sizeof word, "%.*s", (int)name.name.bytes,
				 (const char *)name.name.at);
		add_word(text, word);
	}
	out_text(cli, "other_names", text);
}

static bool print_method(const struct cli *cli, struct wire_cursor *in)
{
	/* Bits of `abilities` in the answer to the query METHODS (queries.def). */
	static const char *const ABILITIES[] = { "friction", "restitution", "sleep",
						 "planar",   "spatial",	    "joints" };
	struct wire_method method;
	char abilities[TEXT_MAX] = "";
	if (answer_take_method(in, &method) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < COUNT_OF(ABILITIES); i++)
		if (method.abilities >> i & 1)
			add_word(abilities, ABILITIES[i]);
	out_begin(cli);
	out_slice(cli, "name", method.name);
	out_u64(cli, "number", method.number);
	out_u64(cli, "motion", method.motion);
	out_text(cli, "abilities", abilities);
	out_u64(cli, "shapes", method.shapes);
	out_u64(cli, "code", method.code);
	out_slice(cli, "why", method.why);
	out_names(cli, &method.names);
	out_slice(cli, "summary", method.summary);
	out_end(cli);
	return true;
}

static bool print_parameter(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_parameter parameter;
	if (answer_take_parameter(in, &parameter) != STATUS_OK)
		return false;
	out_begin(cli);
	out_slice(cli, "name", parameter.name);
	out_u64(cli, "number", parameter.number);
	out_real(cli, "value", parameter.value);
	out_real(cli, "initial", parameter.initial);
	out_real(cli, "min", parameter.min);
	out_real(cli, "max", parameter.max);
	out_u64(cli, "whole", parameter.whole);
	out_slice(cli, "unit", parameter.unit);
	out_words(cli, "read_by", &parameter.methods);
	out_words(cli, "old_names", &parameter.old);
	out_slice(cli, "meaning", parameter.doc);
	out_end(cli);
	return true;
}

static int print_list(struct cli *cli, enum wire_query_kind kind,
		      bool (*print)(const struct cli *cli, struct wire_cursor *in))
{
	struct cairn_world world;
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	query_init(&query, kind);
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_ask(cli->client, world.number, &query, &answer, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	struct wire_cursor in = wire_cursor_of(answer.answer.answer);
	if (wire_take_list(&in, &list) != STATUS_OK)
		return EXIT_FAILURE;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count && print(cli, &items); i++)
		if (!cli->json && i + 1 < list.count)
			putchar('\n');
	return EXIT_SUCCESS;
}

int verb_methods(struct cli *cli)
{
	return print_list(cli, WIRE_QUERY_METHODS, print_method);
}

int verb_parameters(struct cli *cli)
{
	return print_list(cli, WIRE_QUERY_PARAMETERS, print_parameter);
}
