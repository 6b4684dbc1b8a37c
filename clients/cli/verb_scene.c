/* verb_scene.c: the verb scene: cairnd prints a scene. */
#include "clients/cli/daemon_words.h"
#include "clients/cli/verbs.h"

int verb_scene(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	daemon_words_begin(&words, cli, "scene");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}
