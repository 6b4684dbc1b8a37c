/* verb_replay.c: the verbs replay, export, store, mesh, pack and compare. The daemon's program does them
 * without a network, so it replaces this process. */
#include <string.h>

#include "clients/cli/daemon_words.h"
#include "clients/cli/progress.h"
#include "clients/cli/verbs.h"

int verb_replay(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "replay");
	daemon_words_operands(&words, cli, 0);
	if (progress_wanted(cli))
		daemon_words_add(&words, "--progress");
	return cli_run_daemon(cli, words.items);
}

int verb_export(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "past");
	daemon_words_add(&words, cli->operands[0]);
	daemon_words_add(&words, "--export");
	daemon_words_add(&words, cli->operands[1]);
	return cli_run_daemon(cli, words.items);
}

int verb_store(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count < 2 || cli->operand_count > 3)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "store");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}

/* `--field N OUT` is read as the option --field with value N, followed by the operand OUT. */
int verb_mesh(struct cli *cli)
{
	struct daemon_words words;
	bool field = cli_option(cli, "field", 0) != NULL;
	if (cli->operand_count < 1 || cli->operand_count > (field ? 2u : 1u))
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "mesh");
	daemon_words_add(&words, cli->operands[0]);
	if (cli->operand_count == 2) {
		daemon_words_add(&words, "--surface");
		daemon_words_add(&words, cli->operands[1]);
	}
	return cli_run_daemon(cli, words.items);
}

int verb_pack(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "pack");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}

int verb_compare(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "compare");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}
