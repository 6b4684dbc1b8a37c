/* verb_replay.c: replay is the daemon's own work, without a network: its program is run in this one's
 * place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/verbs.h"

int verb_replay(struct cli *cli)
{
	char path[4096], directory[4096];
	const char *words[8] = { "cairnd", "replay" };
	size_t count = 2;
	const char *against = cli_option(cli, "against", 0);
	if (cli->operand_count != 1)
		return cli_usage(cli, "replay FILE [--verify] [--against FILE]");
	words[count++] = cli->operands[0];
	if (cli_flag(cli, "verify"))
		words[count++] = "--verify";
	if (against != NULL) {
		words[count++] = "--against";
		words[count++] = against;
	}
	if (!cli_options_known(cli))
		return cli_fail(cli);
	/* Beside this program first, then on the PATH. */
	ssize_t bytes = readlink("/proc/self/exe", directory, sizeof directory - 1);
	if (bytes > 0) {
		directory[bytes] = '\0';
		char *slash = strrchr(directory, '/');
		if (slash != NULL)
			*slash = '\0';
		if ((size_t)snprintf(path, sizeof path, "%s/cairnd", directory) < sizeof path)
			execv(path, (char *const *)(uintptr_t)words);
	}
	execvp("cairnd", (char *const *)(uintptr_t)words);
	reason_set(&cli->why, STATUS_MISSING, -1, "cairnd", "cairnd is neither beside cairn nor on "
							   "the PATH");
	return cli_fail(cli);
}
