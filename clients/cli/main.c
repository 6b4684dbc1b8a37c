/* main.c: the program `cairn`: reads options and operands, connects if the verb needs it, runs the
 * verb. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/cli.h"
#include "clients/cli/usage.h"
#include "clients/cli/verbs.h"
#include "server/base/suggestion.h"

#define DEFAULT_ADDRESS "tcp:127.0.0.1:7411"

static const struct cli_verb_info verbs[] = {
#define VERB(connects, name, usage, help) { #name, usage, help, verb_##name, connects },
#include "clients/cli/verbs.def"
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

static int refuse_verb(struct cli *cli, const char *name)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(name);
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		suggestion_offer(&suggestion, verbs[i].name);
	return cli_usage(cli, "verb %.40s does not exist%s", name,
			 suggestion_text(&suggestion, room, sizeof room));
}

static int print_help(struct cli *cli, const struct cli_verb_info *one)
{
	if (one == NULL)
		puts("usage: cairn " CLI_GLOBALS " VERB …\n\n"
		     "  ADDRESS is tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT, wss://HOST:PORT "
		     "or unix:PATH;\n"
		     "  the default is CAIRN_ADDRESS, or " DEFAULT_ADDRESS " if that is not set.\n"
		     "  The token is read from FILE, or from CAIRN_TOKEN. MS are milliseconds to wait "
		     "for an\n"
		     "  answer; the default is CAIRN_TIMEOUT, or 10000 if that is not set.\n"
		     "  `cairn VERB -h` or `cairn help VERB`: one verb. `cairn --version`: the "
		     "version.\n");
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (one == NULL || one == &verbs[i])
			printf("  %s %s\n      %s\n", verbs[i].name, verbs[i].usage, verbs[i].help);
	UNUSED(cli);
	return EXIT_SUCCESS;
}

int verb_help(struct cli *cli)
{
	const struct cli_verb_info *one =
		cli->operand_count > 0 ? find_verb(cli->operands[0]) : NULL;
	if (cli->operand_count > 0 && one == NULL)
		return refuse_verb(cli, cli->operands[0]);
	return print_help(cli, one);
}

/* ---- words --------------------------------------------------------------------------------------- */

static bool find_option(const char *usage, const char *name, struct usage_option *out)
{
	while (usage_next_option(&usage, out))
		if (strcmp(out->name, name) == 0)
			return true;
	return false;
}

/* Finds an option in the usage of any verb, because the verb may come after it. */
static bool is_option(const char *name, struct usage_option *out)
{
	static const char *const always[] = { "help", "version" };
	*out = (struct usage_option){ 0 };
	for (size_t i = 0; i < COUNT_OF(always); i++)
		if (strcmp(always[i], name) == 0)
			return true;
	if (find_option(CLI_GLOBALS, name, out))
		return true;
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (find_option(verbs[i].usage, name, out))
			return true;
	return false;
}

/* Names the nearest option of the verb; NULL: of any verb. */
static int refuse_option(struct cli *cli, const struct cli_verb_info *verb, const char *name)
{
	struct usage_option option[COUNT_OF(verbs) * CLI_OPTIONS_MAX];
	size_t count = 0;
	char room[64] = "";
	struct suggestion suggestion = suggestion_for(name);
	for (const char *at = CLI_GLOBALS; usage_next_option(&at, &option[count]); count++)
		suggestion_offer(&suggestion, option[count].name);
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (verb != NULL && verb != &verbs[i])
			continue;
		for (const char *at = verbs[i].usage; usage_next_option(&at, &option[count]);
		     count++)
			suggestion_offer(&suggestion, option[count].name);
	}
	if (suggestion.nearest != NULL)
		snprintf(room, sizeof room, "; did you mean --%s?", suggestion.nearest);
	if (verb != NULL)
		return cli_usage(cli, "verb %s has no option --%.40s%s", verb->name, name, room);
	return cli_usage(cli, "no verb has an option --%.40s%s", name, room);
}

/* Other names of options, which scenes or earlier versions use. */
static const struct {
	const char *name, *now;
} ALIASES[] = { { "h", "help" }, { "at", "position" } };

/* The word with the present name of its option. */
static const char *present_name(const char *word)
{
	static char names[CLI_OPTIONS_MAX][32];
	static uint32_t used;
	const char *name = word + strspn(word, "-");
	for (size_t i = 0; i < COUNT_OF(ALIASES) && name > word && used < CLI_OPTIONS_MAX; i++)
		if (strcmp(ALIASES[i].name, name) == 0) {
			snprintf(names[used], sizeof names[used], "--%s", ALIASES[i].now);
			return names[used++];
		}
	return word;
}

/* Separates the words into operands and options. Returns 0, or the exit code after an error. */
static int read_words(struct cli *cli, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		cli->json = cli->json || strcmp(argv[i], "--json") == 0; /* for the errors below */
	for (int i = 1; i < argc; i++) {
		const char *word = present_name(argv[i]);
		struct usage_option option;
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
		if (!is_option(word + 2, &option))
			return refuse_option(
				cli, cli->operand_count > 0 ? find_verb(cli->operands[0]) : NULL,
				word + 2);
		cli->options[cli->option_count].name = word + 2;
		cli->options[cli->option_count].value = NULL;
		if (option.has_value) {
			if (i + 1 == argc)
				return cli_usage(cli, "%.40s needs a value", word);
			cli->options[cli->option_count].value = argv[++i];
		}
		cli->option_count++;
	}
	return 0;
}

/* Refuses options that exclude or need each other, and one name with two values, such as
 * --let a=1 --let a=2. The exit code is that of a failure, because 2 is an answer of some verbs. */
static int check_together(struct cli *cli, const struct cli_verb_info *verb)
{
	const char *given[CLI_OPTIONS_MAX];
	char text[120];
	for (uint32_t i = 0; i < cli->option_count; i++) {
		const char *name = cli->options[i].name, *value = cli->options[i].value;
		size_t key = value != NULL ? strcspn(value, "=") : 0;
		given[i] = name;
		for (uint32_t k = 0; k < i && value != NULL; k++) {
			const char *other = cli->options[k].value;
			if (strcmp(cli->options[k].name, name) != 0 || strcspn(other, "=") != key ||
			    strncmp(other, value, key) != 0)
				continue;
			reason_set(&cli->why, STATUS_EXISTS, -1, name,
				   "--%s: \"%.*s\" is given twice, now as \"%.40s\"; give it once",
				   name, (int)MIN_OF(key, (size_t)40), value, value);
			return cli_fail(cli);
		}
	}
	if (usage_allows(CLI_GLOBALS, given, cli->option_count, text, sizeof text) &&
	    usage_allows(verb->usage, given, cli->option_count, text, sizeof text))
		return 0;
	reason_set(&cli->why, STATUS_RANGE, -1, "options", "%s", text);
	return cli_fail(cli);
}

/* Refuses options and operands that the verb's usage does not have, before a connection is made. */
static int check_words(struct cli *cli, const struct cli_verb_info *verb)
{
	struct usage_option option;
	for (uint32_t i = 0; i < cli->option_count; i++)
		if (!find_option(verb->usage, cli->options[i].name, &option) &&
		    !find_option(CLI_GLOBALS, cli->options[i].name, &option))
			return refuse_option(cli, verb, cli->options[i].name);
	int code = check_together(cli, verb);
	if (code != 0)
		return code;
	uint32_t most = usage_operands_max(verb->usage);
	if (cli->operand_count > most)
		return cli_usage(cli, "%.40s is one operand too many: cairn %s %s",
				 cli->operands[most], verb->name, verb->usage);
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

static bool read_timeout(struct cli *cli)
{
	const char *option = cli_option(cli, "timeout", 0), *environment = getenv("CAIRN_TIMEOUT");
	const char *text = option != NULL ? option : environment;
	cli->timeout_ms = CAIRN_TIMEOUT_MS;
	if (text == NULL)
		return true;
	if (!cli_u32(cli, text, option != NULL ? "timeout" : "CAIRN_TIMEOUT", &cli->timeout_ms))
		return false;
	if (cli->timeout_ms > 0 && cli->timeout_ms <= INT_MAX)
		return true;
	reason_set(&cli->why, STATUS_RANGE, -1, "timeout",
		   "the timeout is %u ms: it must be from 1 to %d", (unsigned)cli->timeout_ms,
		   INT_MAX);
	return false;
}

static bool read_globals(struct cli *cli, enum wire_role *role)
{
	static char unix_address[256];
	const char *path = cli_option(cli, "unix", 0);
	const char *address = cli_option(cli, "connect", 0);
	const char *environment = getenv("CAIRN_ADDRESS");
	const char *role_name = cli_option(cli, "role", 0);
	cli->json = cli_flag(cli, "json");
	cli->tls_trusted = cli_option(cli, "tls-ca", 0);
	cli->address = address != NULL	     ? address
		       : environment != NULL ? environment
					     : DEFAULT_ADDRESS;
	if (path != NULL) {
		snprintf(unix_address, sizeof unix_address, "unix:%s", path);
		cli->address = unix_address;
	}
	if (!read_timeout(cli))
		return false;
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
	if (cli_flag(&cli, "version")) {
		puts("cairn " PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	if (cli.operand_count == 0 && !cli_flag(&cli, "help") && argc > 1)
		return cli_usage(&cli, "the verb is missing");
	if (cli.operand_count == 0)
		return print_help(&cli, NULL);
	const struct cli_verb_info *verb = find_verb(cli.operands[0]);
	if (verb == NULL)
		return refuse_verb(&cli, cli.operands[0]);
	if (cli_flag(&cli, "help"))
		return print_help(&cli, verb->run == verb_help ? NULL : verb);
	cli.operand_count--;
	memmove(cli.operands, cli.operands + 1, cli.operand_count * sizeof *cli.operands);
	cli.verb = verb;
	code = check_words(&cli, verb);
	if (code != 0)
		return code;
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
	/* A verb for WORLD|FILE or WORLD|SCENE reads a file without a server. */
	bool reads = strstr(verb->usage, "|FILE") != NULL || strstr(verb->usage, "|SCENE") != NULL;
	bool offline = reads && cli_names_file(&cli);
	cli.no_file = reads && !offline && cli.operand_count > 0 ? cli.operands[0] : NULL;
	if (verb->connects && !offline &&
	    cairn_connect(cli.address, &options, &cli.client, &cli.why) != STATUS_OK)
		return cli_fail(&cli);
	code = verb->run(&cli);
	cairn_close(cli.client);
	return code;
}
