/* main.c: the program `cairn`: reads options and operands, connects if the verb needs it, runs the
 * verb. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/cli.h"
#include "clients/cli/verbs.h"

#define DEFAULT_ADDRESS "tcp:127.0.0.1:7411"

static const struct cli_verb_info verbs[] = {
#define VERB(connects, name, usage, help) { #name, usage, help, verb_##name, connects },
#include "clients/cli/verbs.def"
#undef VERB
};

const struct cli_verb_info *cli_verbs(uint32_t *count)
{
	*count = COUNT_OF(verbs);
	return verbs;
}

static const struct cli_verb_info *find_verb(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int verb_help(struct cli *cli)
{
	const struct cli_verb_info *one =
		cli->operand_count > 0 ? find_verb(cli->operands[0]) : NULL;
	if (cli->operand_count > 0 && one == NULL)
		return cli_usage(cli, "verb %s does not exist", cli->operands[0]);
	if (one == NULL)
		puts("usage: cairn [--unix PATH | --connect ADDRESS] [--json] [--role NAME] "
		     "[--timeout MS] [--token-file FILE] [--tls-ca FILE] VERB …\n\n"
		     "  ADDRESS is tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT, wss://HOST:PORT "
		     "or unix:PATH;\n"
		     "  the default is CAIRN_ADDRESS, or " DEFAULT_ADDRESS " if that is not set.\n"
		     "  The token is read from FILE, or from CAIRN_TOKEN.\n");
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (one == NULL || one == &verbs[i])
			printf("  %s %s\n      %s\n", verbs[i].name, verbs[i].usage, verbs[i].help);
	return EXIT_SUCCESS;
}

static const char *const flags[] = { "json",   "planar", "running",  "impulse", "bodies",
				     "totals", "events", "contacts", "joints",	"verify",
				     "bisect", "first",	 "last",     "help" };

const char *const *cli_flags(uint32_t *count)
{
	*count = COUNT_OF(flags);
	return flags;
}

static bool is_flag(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(flags); i++)
		if (strcmp(flags[i], name) == 0)
			return true;
	return false;
}

/* Separates the words into operands and options. Returns 0, or the exit code after an error. */
static int read_words(struct cli *cli, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (strncmp(word, "--", 2) != 0 || word[2] == '\0') {
			if (cli->operand_count == COUNT_OF(cli->operands))
				return cli_usage(cli, "%.40s: at most %d operands are allowed",
						 word, CLI_OPERANDS_MAX);
			cli->operands[cli->operand_count++] = word;
			continue;
		}
		if (cli->option_count == CLI_OPTIONS_MAX)
			return cli_usage(cli, "%.40s: at most %d options are allowed", word,
					 CLI_OPTIONS_MAX);
		cli->options[cli->option_count].name = word + 2;
		cli->options[cli->option_count].value = NULL;
		if (!is_flag(word + 2)) {
			if (i + 1 == argc)
				return cli_usage(cli, "%.40s needs a value", word);
			cli->options[cli->option_count].value = argv[++i];
		}
		cli->option_count++;
	}
	return 0;
}

/* Reads the token from a file or the environment, because every user of the machine can read
 * command lines. */
static bool read_token(struct cli *cli)
{
	static char text[WIRE_TOKEN_MAX + 2];
	const char *path = cli_option(cli, "token-file", 0), *environment = getenv("CAIRN_TOKEN");
	if (path == NULL && environment == NULL)
		return true;
	if (path == NULL) {
		cli->token = environment;
		return true;
	}
	FILE *file = fopen(path, "r");
	if (file == NULL || fgets(text, sizeof text, file) == NULL) {
		reason_set(&cli->why, STATUS_IO, -1, "token-file",
			   "--token-file %.90s: the file cannot be read or is empty", path);
		if (file != NULL)
			fclose(file);
		return false;
	}
	fclose(file);
	text[strcspn(text, "\r\n")] = '\0';
	cli->token = text;
	return true;
}

static bool read_globals(struct cli *cli, enum wire_role *role)
{
	static char unix_address[256];
	const char *path = cli_option(cli, "unix", 0);
	const char *address = cli_option(cli, "connect", 0);
	const char *environment = getenv("CAIRN_ADDRESS");
	const char *role_name = cli_option(cli, "role", 0);
	const char *timeout = cli_option(cli, "timeout", 0);
	cli->json = cli_flag(cli, "json");
	cli->tls_trusted = cli_option(cli, "tls-ca", 0);
	cli->address = address != NULL	     ? address
		       : environment != NULL ? environment
					     : DEFAULT_ADDRESS;
	if (path != NULL) {
		snprintf(unix_address, sizeof unix_address, "unix:%s", path);
		cli->address = unix_address;
	}
	uint64_t ms = CAIRN_TIMEOUT_MS;
	if (timeout != NULL && !cli_count(cli, timeout, "timeout", &ms))
		return false;
	cli->timeout_ms = (uint32_t)ms;
	*role = WIRE_ROLE_NOBODY;
	if (role_name == NULL || wire_role_parse(wire_text(role_name), role) == STATUS_OK)
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, "role",
		   "--role %.40s: it must be observer, player, controller or admin", role_name);
	return false;
}

int main(int argc, char **argv)
{
	struct cli cli = { .why = { .index = -1 } };
	enum wire_role role;
	int code = read_words(&cli, argc, argv);
	if (code != 0)
		return code;
	if (cli.operand_count == 0 || cli_flag(&cli, "help"))
		return verb_help(&cli);
	const struct cli_verb_info *verb = find_verb(cli.operands[0]);
	if (verb == NULL)
		return cli_usage(&cli, "verb %s does not exist", cli.operands[0]);
	cli.operand_count--;
	memmove(cli.operands, cli.operands + 1, cli.operand_count * sizeof *cli.operands);
	if (!read_globals(&cli, &role) || !read_token(&cli))
		return cli_fail(&cli);
	struct cairn_options options = {
		.name = "cairn",
		.role = role,
		.token = cli.token,
		.tls_trusted = cli.tls_trusted,
		.timeout_ms = cli.timeout_ms,
		.callbacks = verb_callbacks(&cli),
	};
	/* A verb for WORLD|FILE reads a file without a server. */
	bool offline = strstr(verb->usage, "|FILE") != NULL && cli_names_file(&cli);
	if (verb->connects && !offline &&
	    cairn_connect(cli.address, &options, &cli.client, &cli.why) != STATUS_OK)
		return cli_fail(&cli);
	code = verb->run(&cli);
	cairn_close(cli.client);
	return code;
}
