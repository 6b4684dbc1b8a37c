/* verb_stability.c: the verb stability: of a world, asked of the server; of a scene, by cairnd
 * without a network. */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/daemon_words.h"
#include "clients/cli/verbs.h"
#include "protocol/stability_text.h"
#include "server/base/bytes.h"

enum { EXIT_NOT = 3 }; /* the bodies do not stand */

static int ask_cairnd(struct cli *cli)
{
	struct daemon_words words;
	daemon_words_begin(&words, cli, "stability");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}

static bool take_number(struct cli *cli, const char *option, uint32_t *value)
{
	const char *text = cli_option(cli, option, 0);
	return text == NULL || cli_u32(cli, text, option, value);
}

static bool read_question(struct cli *cli, struct wire_query *query)
{
	const char *margin = cli_option(cli, "margin", 0);
	const char *direction = cli_option(cli, "direction", 0);
	const char *touch = cli_option(cli, "touch", 0);
	query_init(query, WIRE_QUERY_STABILITY);
	query->limit = WIRE_QUERY_LIMIT_MAX;
	query->lowest = cli_flag(cli, "lowest");
	if (margin != NULL) {
		query->margin = stability_margin_number(margin);
		if (query->margin == UINT32_MAX) {
			reason_set(&cli->why, STATUS_RANGE, -1, "margin",
				   "\"%.40s\" is no margin: use load, push or tilt", margin);
			return false;
		}
	}
	return take_number(cli, "body", &query->body) && take_number(cli, "sides", &query->sides) &&
	       take_number(cli, "limit", &query->limit) &&
	       (touch == NULL || cli_number(cli, touch, "touch", &query->touch)) &&
	       (direction == NULL || cli_numbers(cli, direction, "direction", query->direction, 3));
}

int verb_stability(struct cli *cli)
{
	struct cairn_world world;
	struct wire_query query;
	struct message answer;
	struct bytes text = { 0 };
	struct wire_stability head;
	cli->why.status = STATUS_OK;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	if (cli_names_file(cli))
		return ask_cairnd(cli);
	if (!read_question(cli, &query) || !cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_ask(cli->client, world.number, &query, &answer, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	struct wire_cursor in = wire_cursor_of(answer.answer.answer), again = in;
	struct stability_state state = { answer.answer.epoch, answer.answer.tick };
	enum status status = answer_take_stability(&again, &head);
	if (status == STATUS_OK)
		status = stability_text(in, query.margin, &state, cli->json, &text);
	if (status == STATUS_OK)
		fwrite(text.data, 1, text.count, stdout);
	bytes_release(&text);
	if (status != STATUS_OK) {
		reason_set(&cli->why, STATUS_MALFORMED, -1, "stability",
			   "the server's answer to STABILITY is malformed");
		return cli_fail(cli);
	}
	return head.verdict == STABILITY_STANDS ? EXIT_SUCCESS : EXIT_NOT;
}
