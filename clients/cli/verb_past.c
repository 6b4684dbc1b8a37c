/* verb_past.c: the verbs past, when and diff: questions to the past of a world, or of a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/daemon_words.h"
#include "clients/cli/verbs.h"
#include "protocol/condition.h"

/* Sends a query and opens the list of its answer. False with cli->why set. */
static bool ask_world(struct cli *cli, const struct wire_query *query, struct message *answer,
		      struct wire_list *list)
{
	struct cairn_world world;
	if (!cli_join(cli, &world) ||
	    cairn_ask(cli->client, world.number, query, answer, &cli->why) != STATUS_OK)
		return false;
	struct wire_cursor in = wire_cursor_of(answer->answer.answer);
	if (wire_take_list(&in, list) == STATUS_OK)
		return true;
	reason_set(&cli->why, STATUS_MALFORMED, -1, "answer", "the answer is malformed");
	return false;
}

/* Takes a list of three numbers and perhaps a text. */
static bool take_row(struct wire_cursor *in, uint64_t numbers[3], char text[WIRE_NAME_MAX + 1])
{
	struct wire_list row;
	struct wire_token token = { 0 };
	if (wire_take_list(in, &row) != STATUS_OK)
		return false;
	struct wire_cursor fields = wire_cursor_list(&row);
	for (uint32_t i = 0; i < 3; i++)
		if (wire_take_uint(&fields, WIRE_INTEGER_MAX, &numbers[i]) != STATUS_OK)
			return false;
	text[0] = '\0';
	if (row.count < 4)
		return true;
	if (wire_next(&fields, &token) != STATUS_OK || token.type != WIRE_TOKEN_TEXT)
		return false;
	snprintf(text, WIRE_NAME_MAX + 1, "%.*s", (int)token.count, (const char *)token.at);
	return true;
}

/* A line for each epoch, for the keyframes, and for each mark, the latest first. */
static void print_past(const struct wire_list *list)
{
	static const char *const KINDS[] = { "", "snapshot ", "commands " };
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_list rows;
	uint64_t n[3];
	char text[WIRE_NAME_MAX + 1];
	if (wire_take_list(&in, &rows) != STATUS_OK)
		return;
	struct wire_cursor at = wire_cursor_list(&rows);
	for (uint32_t i = 0; i < rows.count && take_row(&at, n, text); i++)
		printf("epoch %" PRIu64 " tick %" PRIu64 " to %" PRIu64 " %s\n", n[0], n[1], n[2],
		       text);
	if (!take_row(&in, n, text))
		return;
	printf("keyframes %" PRIu64 ", %" PRIu64 " bytes, one every %" PRIu64 " ticks\n", n[1],
	       n[2], n[0]);
	if (wire_take_list(&in, &rows) != STATUS_OK)
		return;
	at = wire_cursor_list(&rows);
	for (uint32_t i = 0; i < rows.count && take_row(&at, n, text); i++)
		printf("mark epoch %" PRIu64 " tick %" PRIu64 " %s%s\n", n[0], n[1],
		       n[2] < COUNT_OF(KINDS) ? KINDS[n[2]] : "", text);
}

int verb_past(struct cli *cli)
{
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	const char *limit = cli_option(cli, "limit", 0);
	uint64_t most = 64;
	query_init(&query, WIRE_QUERY_PAST);
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	if ((limit != NULL && !cli_count(cli, limit, "limit", &most)) || !cli_options_known(cli))
		return cli_fail(cli);
	query.limit = (uint32_t)MIN_OF(most, (uint64_t)WIRE_QUERY_LIMIT_MAX);
	if (!ask_world(cli, &query, &answer, &list))
		return cli_fail(cli);
	if (cli->json)
		out_value(cli, answer.answer.answer);
	else
		print_past(&list);
	return EXIT_SUCCESS;
}

/* ---- when ---------------------------------------------------------------------------------------- */

static void print_command(const struct cli *cli, const struct wire_token *op, uint64_t batch,
			  uint64_t session)
{
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)op->count, (const char *)op->at);
	if (!cli->json) {
		printf("command      %s, batch %llu of session %llu\n", name,
		       (unsigned long long)batch, (unsigned long long)session);
		return;
	}
	out_item_begin(cli);
	out_text(cli, "op", name);
	out_u64(cli, "batch", batch);
	out_u64(cli, "session", session);
	out_item_end(cli);
}

static void print_commands(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_list items, item;
	if (wire_take_list(in, &items) != STATUS_OK)
		return;
	struct wire_cursor cursor = wire_cursor_list(&items);
	for (uint32_t i = 0; i < items.count; i++) {
		uint64_t session, batch;
		struct wire_token name;
		if (wire_take_list(&cursor, &item) != STATUS_OK)
			return;
		struct wire_cursor fields = wire_cursor_list(&item);
		if (wire_take_uint(&fields, UINT32_MAX, &session) != STATUS_OK ||
		    wire_take_uint(&fields, WIRE_INTEGER_MAX, &batch) != STATUS_OK ||
		    wire_next(&fields, &name) != STATUS_OK || name.type != WIRE_TOKEN_TEXT)
			return;
		print_command(cli, &name, batch, session);
	}
}

static void print_contacts(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_list items;
	if (wire_take_list(in, &items) != STATUS_OK)
		return;
	struct wire_cursor cursor = wire_cursor_list(&items);
	for (uint32_t i = 0; i < items.count; i++) {
		double pair[2];
		if (wire_take_tuple(&cursor, pair, 2) != STATUS_OK)
			return;
		if (!cli->json) {
			printf("contact      body %.0f, impulse %.6g N s\n", pair[0], pair[1]);
			continue;
		}
		out_item_begin(cli);
		out_u64(cli, "body", (uint64_t)pair[0]);
		out_real(cli, "impulse", pair[1]);
		out_item_end(cli);
	}
}

static int print_when(const struct cli *cli, const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	double numbers[4];
	if (list->count == 0) {
		out_begin(cli);
		out_text(cli, "found", "no");
		out_end(cli);
		return EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < 4; i++)
		if (wire_take_real(&in, &numbers[i]) != STATUS_OK)
			return EXIT_FAILURE;
	out_begin(cli);
	out_u64(cli, "epoch", (uint64_t)numbers[0]);
	out_u64(cli, "tick", (uint64_t)numbers[1]);
	out_u64(cli, "body", (uint64_t)numbers[2]);
	out_real(cli, "value", numbers[3]);
	if (!cli->json) {
		out_end(cli);
		print_commands(cli, &in);
		print_contacts(cli, &in);
		return EXIT_SUCCESS;
	}
	out_list_begin(cli, "commands");
	print_commands(cli, &in);
	out_list_end(cli);
	out_list_begin(cli, "contacts");
	print_contacts(cli, &in);
	out_list_end(cli);
	out_end(cli);
	return EXIT_SUCCESS;
}

int verb_when(struct cli *cli)
{
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	bool last = cli_flag(cli, "last"), first = cli_flag(cli, "first");
	if (cli->operand_count != 2 || (first && last))
		return cli_wrong_words(cli);
	if (!cli_options_known(cli) ||
	    condition_parse(cli->operands[1], &query, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	if (cli_names_file(cli)) {
		struct daemon_words words;
		daemon_words_command(&words, cli, "past");
		daemon_words_add(&words, cli->operands[0]);
		daemon_words_add(&words, last ? "--when-last" : "--when");
		daemon_words_add(&words, cli->operands[1]);
		return cli_run_daemon(cli, words.items);
	}
	query.latest = last;
	return ask_world(cli, &query, &answer, &list) ? print_when(cli, &list) : cli_fail(cli);
}

/* ---- diff ---------------------------------------------------------------------------------------- */

/* The field that differs: table, row (-1: none) and column. */
static void print_field(const struct cli *cli, const char *text, struct wire_cursor *in)
{
	struct wire_token table, column;
	double row;
	char name[64];
	out_text(cli, "first", text);
	if (wire_next(in, &table) != STATUS_OK || table.type != WIRE_TOKEN_TEXT ||
	    wire_take_real(in, &row) != STATUS_OK || wire_next(in, &column) != STATUS_OK ||
	    column.type != WIRE_TOKEN_TEXT)
		return;
	snprintf(name, sizeof name, "%.*s", (int)table.count, (const char *)table.at);
	out_text(cli, "table", name);
	out_real(cli, "row", row);
	snprintf(name, sizeof name, "%.*s", (int)column.count, (const char *)column.at);
	out_text(cli, "column", name);
}

/* `diff` ends like diff(1): 0 equal, 1 different. */
static int print_difference(const struct cli *cli, const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_token text;
	char line[320] = "";
	if (list->count > 0 && wire_next(&in, &text) == STATUS_OK && text.type == WIRE_TOKEN_TEXT)
		snprintf(line, sizeof line, "%.*s", (int)text.count, (const char *)text.at);
	out_begin(cli);
	out_text(cli, "equal", list->count == 0 ? "yes" : "no");
	if (list->count > 0)
		print_field(cli, line, &in);
	out_end(cli);
	return list->count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool take_epoch(struct cli *cli, const char *name, uint32_t *epoch)
{
	const char *text = cli_option(cli, name, 0);
	return text == NULL || cli_u32(cli, text, name, epoch);
}

int verb_diff(struct cli *cli)
{
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	uint64_t tick, other;
	query_init(&query, WIRE_QUERY_DIFFERENCE);
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!take_epoch(cli, "epoch", &query.epoch) ||
	    !take_epoch(cli, "other-epoch", &query.other_epoch) || !cli_options_known(cli))
		return cli_fail(cli);
	if (cli_names_file(cli)) {
		struct daemon_words words;
		daemon_words_begin(&words, cli, "past");
		daemon_words_add(&words, cli->operands[0]);
		daemon_words_add(&words, "--diff");
		daemon_words_add(&words, "--from");
		daemon_words_add(&words, cli->operands[1]);
		daemon_words_add(&words, "--to");
		daemon_words_add(&words, cli->operands[2]);
		return cli_run_daemon(cli, words.items);
	}
	if (!cli_count(cli, cli->operands[1], "TICK", &tick) ||
	    !cli_count(cli, cli->operands[2], "TICK", &other))
		return cli_fail(cli);
	query.tick = (double)tick;
	query.other_tick = (double)other;
	return ask_world(cli, &query, &answer, &list) ? print_difference(cli, &list)
						      : cli_fail(cli);
}
