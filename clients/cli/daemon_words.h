/* daemon_words.h: a command of cairnd with the operands and options of a verb. The options of such verbs
 * have the names that they have in server/options.def. */
#ifndef CAIRN_CLIENTS_CLI_DAEMON_WORDS_H
#define CAIRN_CLIENTS_CLI_DAEMON_WORDS_H

#include "clients/cli/cli.h"

struct daemon_words {
	const char *items[CLI_OPERANDS_MAX + 2 * CLI_OPTIONS_MAX + 8]; /* ends with NULL */
	uint32_t count;
	char flags[CLI_OPTIONS_MAX][40];
};

/* `cairnd COMMAND`, and `--report json` if --json is given, so that refusals are JSON, too. */
void daemon_words_command(struct daemon_words *self, const struct cli *cli, const char *command);
/* The same with the options of the verb; operands are added afterwards. */
void daemon_words_begin(struct daemon_words *self, struct cli *cli, const char *command);
void daemon_words_add(struct daemon_words *self, const char *word);
/* Adds the operands from `first` on. */
void daemon_words_operands(struct daemon_words *self, const struct cli *cli, uint32_t first);

/* Replaces this process by cairnd with these words, "cairnd" first and NULL last; returns only on
 * failure. */
int cli_run_daemon(struct cli *cli, const char *const *words);

#endif
