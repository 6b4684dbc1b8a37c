/* verb_operations.c: sessions, kick, config, monitor, drain: an administrator's verbs; and completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "protocol/packer.h"

/* Sends a request that REPLY answers. */
static enum status ask(struct cli *cli, struct message *request, struct message *reply)
{
	return cairn_request(cli->client, request, MESSAGE_REPLY, reply, &cli->why);
}

int verb_sessions(struct cli *cli)
{
	uint64_t from = 0;
	if (!cli_options_known(cli))
		return cli_fail(cli);
	/* Page by page: an answer has a bounded number of sessions. */
	for (;;) {
		struct message request, reply;
		message_init(&request, MESSAGE_SESSIONS);
		request.sessions.ref = cairn_next_ref(cli->client);
		request.sessions.from = from;
		if (ask(cli, &request, &reply) != STATUS_OK)
			return cli_fail(cli);
		struct wire_cursor in = wire_cursor_of(reply.reply.value), first;
		struct wire_list list;
		if (wire_take_list(&in, &list) != STATUS_OK || list.count == 0)
			return EXIT_SUCCESS;
		struct wire_cursor items = wire_cursor_list(&list);
		for (uint32_t i = 0; i < list.count; i++) {
			struct wire_slice item = { 0 };
			struct wire_token token;
			if (wire_skip(&items, &item) != STATUS_OK)
				return EXIT_SUCCESS;
			out_value(cli, item);
			/* {"session": number, …} */
			first = wire_cursor_of(item);
			for (int k = 0; k < 3; k++)
				if (wire_next(&first, &token) != STATUS_OK)
					return EXIT_SUCCESS;
			from = (uint64_t)token.integer + 1;
		}
	}
}

int verb_kick(struct cli *cli)
{
	struct message request, reply;
	uint64_t session;
	const char *text = cli_option(cli, "text", 0);
	if (cli->operand_count != 1)
		return cli_usage(cli, "kick SESSION [--text WHY]");
	message_init(&request, MESSAGE_KICK);
	if (!cli_count(cli, cli->operands[0], "SESSION", &session) || !cli_options_known(cli))
		return cli_fail(cli);
	request.kick.ref = cairn_next_ref(cli->client);
	request.kick.session = session;
	request.kick.text = wire_text(text != NULL ? text : "");
	return ask(cli, &request, &reply) == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}

int verb_config(struct cli *cli)
{
	uint8_t packed[4096];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct message request, reply;
	if (cli->operand_count % 2 != 0)
		return cli_usage(cli, "config [NAME VALUE]…");
	message_init(&request, MESSAGE_CONFIG);
	for (uint32_t i = 0; i < cli->operand_count; i++)
		wire_pack_string(&out, cli->operands[i]);
	if (!cli_options_known(cli))
		return cli_fail(cli);
	request.config.ref = cairn_next_ref(cli->client);
	request.config.set = (struct wire_list){ packed, out.bytes, cli->operand_count / 2 };
	if (ask(cli, &request, &reply) != STATUS_OK)
		return cli_fail(cli);
	out_value(cli, reply.reply.value);
	return EXIT_SUCCESS;
}

int verb_drain(struct cli *cli)
{
	struct message request, reply;
	const char *redirect = cli_option(cli, "redirect", 0);
	if (cli->operand_count != 0)
		return cli_usage(cli, "drain [--redirect ADDRESS]");
	if (!cli_options_known(cli))
		return cli_fail(cli);
	message_init(&request, MESSAGE_DRAIN);
	request.drain.ref = cairn_next_ref(cli->client);
	request.drain.redirect = wire_text(redirect != NULL ? redirect : "");
	return ask(cli, &request, &reply) == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
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
		return cli_usage(cli, "monitor [--lines N]");
	if ((lines != NULL && !cli_count(cli, lines, "lines", &most)) || !cli_options_known(cli))
		return cli_fail(cli);
	message_init(&request, MESSAGE_MONITOR);
	request.monitor.ref = cairn_next_ref(cli->client);
	request.monitor.on = 1;
	enum status status = ask(cli, &request, &reply);
	while (status == STATUS_OK && cli_monitored() < most) {
		status = cairn_poll(cli->client, 1000, &cli->why);
		if (status == STATUS_AGAIN)
			status = STATUS_OK;
		fflush(stdout);
	}
	return status == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}

/* ---- completion ---------------------------------------------------------------------------------- */

/* For bash and for zsh's bashcompinit: verbs, then names of worlds where a verb takes one. */
int verb_completion(struct cli *cli)
{
	uint32_t count;
	const struct cli_verb_info *verbs = cli_verbs(&count);
	if (cli->operand_count != 0)
		return cli_usage(cli, "completion");
	if (!cli_options_known(cli))
		return cli_fail(cli);
	puts("_cairn()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} verb= i\n"
	     "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	     "\t\tcase ${COMP_WORDS[i]} in\n"
	     "\t\t--connect | --unix | --token | --timeout) ((i++)) ;;\n"
	     "\t\t-*) ;;\n"
	     "\t\t*) verb=${COMP_WORDS[i]}; break ;;\n"
	     "\t\tesac\n\tdone");
	printf("\tif [ -z \"$verb\" ]; then\n\t\tCOMPREPLY=($(compgen -W \"");
	for (uint32_t i = 0; i < count; i++)
		printf("%s%s", i > 0 ? " " : "", verbs[i].name);
	puts("\" -- \"$word\"))\n\t\treturn\n\tfi\n\tcase $verb in");
	for (uint32_t i = 0; i < count; i++) {
		if (strncmp(verbs[i].usage, "WORLD", 5) == 0 && verbs[i].connects)
			printf("\t%s) ((COMP_CWORD == i + 1)) && COMPREPLY=($(compgen -W \"$(cairn --json "
			       "worlds 2>/dev/null | sed -n 's/.*\"name\": *\"\\([^\"]*\\)\".*/\\1/p')\" -- "
			       "\"$word\")) ;;\n",
			       verbs[i].name);
	}
	puts("\tesac\n\tif [ ${#COMPREPLY[@]} -eq 0 ]; then\n\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	     "\tfi\n}\ncomplete -F _cairn cairn");
	return EXIT_SUCCESS;
}
