/* verb_replay.c: the verbs replay, export, store, mesh, pack and compare; when and diff of a file. The
 * daemon's program does them without a network, so it replaces this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/progress.h"
#include "clients/cli/verbs.h"

/* Executes cairnd from the folder of this program, else from the PATH; returns only if neither has
 * it. */
int cli_run_daemon(struct cli *cli, const char *const *words)
{
	char path[4096], directory[4096];
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
	reason_set(&cli->why, STATUS_MISSING, -1, "cairnd",
		   "cairnd is neither in the folder of cairn nor on the PATH");
	return cli_fail(cli);
}

int verb_replay(struct cli *cli)
{
	const char *words[12] = { "cairnd", "replay" };
	size_t count = 2;
	const char *against = cli_option(cli, "against", 0);
	if (cli->operand_count != 1)
		return cli_usage(cli, "replay FILE [--verify] [--against FILE [--bisect]]");
	words[count++] = cli->operands[0];
	if (cli_flag(cli, "verify"))
		words[count++] = "--verify";
	if (against != NULL) {
		words[count++] = "--against";
		words[count++] = against;
	}
	if (cli_flag(cli, "bisect"))
		words[count++] = "--bisect";
	if (progress_wanted(cli))
		words[count++] = "--progress";
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}

bool cli_names_file(const struct cli *cli)
{
	return cli->operand_count > 0 && access(cli->operands[0], F_OK) == 0;
}

int verb_export(struct cli *cli)
{
	static const char *const names[] = { "from", "to", "epoch", "every", "names" };
	static const char *const options[] = { "--from", "--to", "--epoch", "--every", "--names" };
	const char *words[16] = { "cairnd", "past" };
	size_t count = 2;
	if (cli->operand_count != 2)
		return cli_usage(cli, "export FILE OUT [--from TICK] [--to TICK] [--epoch N] "
				      "[--every N] [--names SCENE]");
	words[count++] = cli->operands[0];
	words[count++] = "--export";
	words[count++] = cli->operands[1];
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *value = cli_option(cli, names[i], 0);
		if (value == NULL)
			continue;
		words[count++] = options[i];
		words[count++] = value;
	}
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}

int verb_store(struct cli *cli)
{
	const char *words[8] = { "cairnd", "store" };
	size_t count = 2;
	if (cli->operand_count < 2 || cli->operand_count > 3)
		return cli_usage(cli, "store check FILE | repair FILE NEW | backup FILE NEW | "
				      "restore BACKUP FILE");
	for (uint32_t i = 0; i < cli->operand_count; i++)
		words[count++] = cli->operands[i];
	if (cli->json) {
		words[count++] = "--report";
		words[count++] = "json";
	}
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}

/* `--field N OUT` is read as the option --field with value N, followed by the operand OUT. */
int verb_mesh(struct cli *cli)
{
	static const char *const names[] = { "weld", "tolerance", "parts-max",
					     "hull", "parts",	  "field" };
	static const char *const flags[] = { "--weld", "--tolerance", "--parts-max",
					     "--hull", "--parts",     "--field" };
	const char *words[24] = { "cairnd", "mesh" };
	size_t count = 2;
	bool field = false;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *value = cli_option(cli, names[i], 0);
		if (value == NULL)
			continue;
		words[count++] = flags[i];
		words[count++] = value;
		field |= strcmp(names[i], "field") == 0;
	}
	if (cli->operand_count < 1 || cli->operand_count > (field ? 2u : 1u))
		return cli_usage(
			cli, "mesh FILE [--weld M] [--tolerance M] [--parts-max N] [--hull OUT] "
			     "[--parts OUT] [--field N [OUT]]");
	words[count++] = cli->operands[0];
	if (cli->operand_count == 2) {
		words[count++] = "--surface";
		words[count++] = cli->operands[1];
	}
	if (cli->json) {
		words[count++] = "--report";
		words[count++] = "json";
	}
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}

int verb_pack(struct cli *cli)
{
	static const char *const names[] = { "jumps", "height", "pull", "rest" };
	static const char *const flags[] = { "--jumps", "--height", "--pull", "--rest" };
	static const char *const lists[] = { "set", "let" };
	static const char *const list_flags[] = { "--set", "--let" };
	enum { SETS_MAX = 64 };
	const char *words[4 * SETS_MAX + 16] = { "cairnd", "pack" }, *value;
	size_t count = 2;
	if (cli->operand_count != 2)
		return cli_usage(cli, "pack IN.svg OUT.svg [--jumps N] [--height N] [--pull N] "
				      "[--rest N], or pack IN.yaml OUT.yaml [--jumps N] [--set "
				      "KEY=VALUE]… [--let NAME=FORMULA]…");
	for (uint32_t i = 0; i < 2; i++)
		words[count++] = cli->operands[i];
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		value = cli_option(cli, names[i], 0);
		if (value == NULL)
			continue;
		words[count++] = flags[i];
		words[count++] = value;
	}
	for (size_t k = 0; k < COUNT_OF(lists); k++)
		for (uint32_t i = 0; i < SETS_MAX && (value = cli_option(cli, lists[k], i)) != NULL;
		     i++) {
			words[count++] = list_flags[k];
			words[count++] = value;
		}
	if (cli->json) {
		words[count++] = "--report";
		words[count++] = "json";
	}
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}

int verb_compare(struct cli *cli)
{
	static const char *const names[] = { "methods", "ticks", "workers", "plot" };
	static const char *const flags[] = { "--methods", "--ticks", "--workers", "--plot" };
	enum { SETS_MAX = 64 };
	const char *words[4 * SETS_MAX + 16] = { "cairnd", "compare" }, *value;
	size_t count = 2;
	if (cli->operand_count != 1)
		return cli_usage(cli,
				 "compare SCENE [--methods A,B,C] [--ticks N] [--set KEY=VALUE]… "
				 "[--let NAME=FORMULA]… [--workers N] [--plot FILE]");
	words[count++] = cli->operands[0];
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		value = cli_option(cli, names[i], 0);
		if (value == NULL)
			continue;
		words[count++] = flags[i];
		words[count++] = value;
	}
	for (uint32_t i = 0; i < SETS_MAX && (value = cli_option(cli, "set", i)) != NULL; i++) {
		words[count++] = "--set";
		words[count++] = value;
	}
	for (uint32_t i = 0; i < SETS_MAX && (value = cli_option(cli, "let", i)) != NULL; i++) {
		words[count++] = "--let";
		words[count++] = value;
	}
	if (cli->json) {
		words[count++] = "--report";
		words[count++] = "json";
	}
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}
