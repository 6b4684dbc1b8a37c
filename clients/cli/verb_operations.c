/* verb_operations.c: the administrator's verbs sessions, kick, config, monitor and drain; and
 * completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/completion.h"
#include "clients/cli/verbs.h"
#include "protocol/packer.h"
#include "protocol/unpack.h"

/* Sends a request whose answer is a REPLY. */
static enum status request_reply(struct cli *cli, struct message *request, struct message *reply)
{
	return cairn_request(cli->client, request, MESSAGE_REPLY, reply, &cli->why);
}

/* One item of the answer to SESSIONS: a map. */
struct session_row {
	struct wire_slice packed;
	uint64_t number;
	struct wire_slice token; /* name of the bearer line or key that authenticated it */
};

static bool read_row(struct wire_slice packed, struct session_row *out)
{
	struct wire_cursor in = wire_cursor_of(packed);
	struct wire_token map, key, value;
	*out = (struct session_row){ .packed = packed };
	if (wire_next(&in, &map) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < map.count; i++) {
		if (wire_next(&in, &key) != STATUS_OK || wire_next(&in, &value) != STATUS_OK)
			return false;
		struct wire_slice name = { .at = key.at, .bytes = key.count };
		if (wire_slice_is(name, "session"))
			out->number = (uint64_t)value.integer;
		if (wire_slice_is(name, "token"))
			out->token = (struct wire_slice){ .at = value.at, .bytes = value.count };
	}
	return out->number > 0;
}

/* Requests one page of sessions, from number *from on, and sets *from to the start of the next
 * page. MISSING: there are no more. */
static enum status next_page(struct cli *cli, uint64_t *from, struct session_row *rows,
			     uint32_t capacity, uint32_t *count)
{
	struct message request, reply;
	struct wire_list list;
	*count = 0;
	message_init(&request, MESSAGE_SESSIONS);
	request.sessions.ref = cairn_next_ref(cli->client);
	request.sessions.from = *from;
	enum status status = request_reply(cli, &request, &reply);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_of(reply.reply.value);
	if (wire_take_list(&in, &list) != STATUS_OK || list.count == 0)
		return STATUS_MISSING;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < MIN_OF(list.count, capacity); i++) {
		struct wire_slice item = { 0 };
		if (wire_skip(&items, &item) != STATUS_OK || !read_row(item, &rows[i]))
			return STATUS_MISSING;
		*from = rows[i].number + 1;
		(*count)++;
	}
	return STATUS_OK;
}

enum { PAGE_MAX = 256 }; /* sessions in one answer; the server sends at most as many */

int verb_sessions(struct cli *cli)
{
	static struct session_row rows[PAGE_MAX];
	uint64_t from = 0;
	uint32_t count;
	enum status status;
	if (!cli_options_known(cli))
		return cli_fail(cli);
	while ((status = next_page(cli, &from, rows, PAGE_MAX, &count)) == STATUS_OK)
		for (uint32_t i = 0; i < count; i++)
			out_value(cli, rows[i].packed);
	return status == STATUS_MISSING ? EXIT_SUCCESS : cli_fail(cli);
}

static enum status kick_session(struct cli *cli, uint64_t session, const char *text)
{
	struct message request, reply;
	message_init(&request, MESSAGE_KICK);
	request.kick.ref = cairn_next_ref(cli->client);
	request.kick.session = session;
	request.kick.text = wire_text(text != NULL ? text : "");
	return request_reply(cli, &request, &reply);
}

/* Kicks every session that a line of the tokens file authenticated, disconnected ones too, except
 * this one. */
static int kick_token(struct cli *cli, const char *name, const char *text)
{
	static struct session_row rows[PAGE_MAX];
	static uint64_t numbers[PAGE_MAX];
	uint64_t from = 0, kicked = 0, own = cairn_session(cli->client)->number;
	uint32_t count;
	enum status status;
	while ((status = next_page(cli, &from, rows, PAGE_MAX, &count)) == STATUS_OK) {
		uint32_t found = 0;
		/* The rows borrow the answer, which the next request overwrites; numbers are copied
		 * first. */
		for (uint32_t i = 0; i < count; i++)
			if (wire_slice_is(rows[i].token, name) && rows[i].number != own)
				numbers[found++] = rows[i].number;
		for (uint32_t i = 0; i < found; i++) {
			status = kick_session(cli, numbers[i], text);
			/* MISSING: the session ended in the meantime. */
			if (status != STATUS_OK && status != STATUS_MISSING)
				return cli_fail(cli);
			kicked += status == STATUS_OK;
		}
	}
	if (status != STATUS_MISSING)
		return cli_fail(cli);
	out_begin(cli);
	out_u64(cli, "kicked", kicked);
	out_end(cli);
	return EXIT_SUCCESS;
}

int verb_kick(struct cli *cli)
{
	uint64_t session;
	const char *text = cli_option(cli, "text", 0), *token = cli_option(cli, "token", 0);
	if (cli->operand_count != (token != NULL ? 0 : 1))
		return cli_wrong_words(cli);
	if (token == NULL && !cli_count(cli, cli->operands[0], "SESSION", &session))
		return cli_fail(cli);
	if (!cli_options_known(cli))
		return cli_fail(cli);
	if (token != NULL)
		return kick_token(cli, token, text);
	return kick_session(cli, session, text) == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}

int verb_config(struct cli *cli)
{
	uint8_t packed[4096];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct message request, reply;
	if (cli->operand_count % 2 != 0)
		return cli_wrong_words(cli);
	message_init(&request, MESSAGE_CONFIG);
	for (uint32_t i = 0; i < cli->operand_count; i++) {
		for (uint32_t k = i % 2; k < i; k += 2)
			if (i % 2 == 0 && strcmp(cli->operands[k], cli->operands[i]) == 0)
				return cli_usage(cli, "config: %.40s is given twice; give it once",
						 cli->operands[i]);
		wire_pack_string(&out, cli->operands[i]);
	}
	if (!cli_options_known(cli))
		return cli_fail(cli);
	request.config.ref = cairn_next_ref(cli->client);
	request.config.set = (struct wire_list){ packed, out.bytes, cli->operand_count / 2 };
	if (request_reply(cli, &request, &reply) != STATUS_OK)
		return cli_fail(cli);
	out_value(cli, reply.reply.value);
	return EXIT_SUCCESS;
}

int verb_drain(struct cli *cli)
{
	struct message request, reply;
	const char *redirect = cli_option(cli, "redirect", 0);
	if (cli->operand_count != 0)
		return cli_wrong_words(cli);
	if (!cli_options_known(cli))
		return cli_fail(cli);
	message_init(&request, MESSAGE_DRAIN);
	request.drain.ref = cairn_next_ref(cli->client);
	request.drain.redirect = wire_text(redirect != NULL ? redirect : "");
	return request_reply(cli, &request, &reply) == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}

/* ---- monitor ------------------------------------------------------------------------------------- */

static uint64_t monitored;

uint64_t cli_monitored(void)
{
	return monitored;
}

void cli_monitor_line(void *context, const struct msg_monitor_line *line)
{
	const struct cli *cli = context;
	const struct message_info *info = message_info((uint32_t)line->message);
	monitored++;
	if (!cli->json) {
		printf("%llu.%06llu session %llu %s ref %llu, %llu bytes\n",
		       (unsigned long long)(line->time_us / 1000000),
		       (unsigned long long)(line->time_us % 1000000),
		       (unsigned long long)line->session, info != NULL ? info->name : "?",
		       (unsigned long long)line->ref, (unsigned long long)line->bytes);
		if (line->lost > 0)
			printf("%llu lines were left out before this one\n",
			       (unsigned long long)line->lost);
		return;
	}
	out_begin(cli);
	out_u64(cli, "time_us", line->time_us);
	out_u64(cli, "session", line->session);
	out_text(cli, "message", info != NULL ? info->name : "?");
	out_u64(cli, "ref", line->ref);
	out_u64(cli, "bytes", line->bytes);
	out_u64(cli, "lost", line->lost);
	out_end(cli);
}

int verb_monitor(struct cli *cli)
{
	struct message request, reply;
	const char *lines = cli_option(cli, "lines", 0);
	uint64_t most = UINT64_MAX;
	if (cli->operand_count != 0)
		return cli_wrong_words(cli);
	if ((lines != NULL && !cli_count(cli, lines, "lines", &most)) || !cli_options_known(cli))
		return cli_fail(cli);
	message_init(&request, MESSAGE_MONITOR);
	request.monitor.ref = cairn_next_ref(cli->client);
	request.monitor.on = 1;
	enum status status = request_reply(cli, &request, &reply);
	while (status == STATUS_OK && cli_monitored() < most) {
		status = cairn_poll(cli->client, 1000, &cli->why);
		if (status == STATUS_AGAIN)
			status = STATUS_OK;
		fflush(stdout);
	}
	return status == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}

/* ---- completion ---------------------------------------------------------------------------------- */

int verb_completion(struct cli *cli)
{
	enum { VERBS_MAX = 64 };
	uint32_t count;
	const struct cli_verb_info *verbs = cli_verbs(&count);
	struct completion_verb words[VERBS_MAX];
	const char *shell = cli->operand_count > 0 ? cli->operands[0] : "bash";
	if (!cli_options_known(cli))
		return cli_fail(cli);
	ASSERT(count <= VERBS_MAX);
	for (uint32_t i = 0; i < count; i++)
		words[i] = (struct completion_verb){ verbs[i].name, verbs[i].usage, verbs[i].help };
	const struct completion_program program = { "cairn", CLI_GLOBALS, words, count, true };
	if (cli->operand_count > 1 || !completion_print(&program, shell))
		return cli_usage(cli, "completion %.20s: the shell must be bash, zsh or fish",
				 shell);
	return EXIT_SUCCESS;
}
