/* verb_scene.c: the verb scene: cairnd prints a scene. */
#include "clients/cli/verbs.h"
#include "server/base/base.h"

int verb_scene(struct cli *cli)
{
	static const char *const names[] = { "kind", "count",	 "columns", "brick",   "factor",
					     "gap",  "friction", "gravity", "without", "carried" };
	static const char *const flags[] = { "--kind",	  "--count",  "--columns",  "--brick",
					     "--factor",  "--gap",    "--friction", "--gravity",
					     "--without", "--carried" };
	const char *words[2 * COUNT_OF(names) + 5] = { "cairnd", "scene" };
	size_t count = 2;
	if (cli->operand_count != 1)
		return cli_usage(
			cli, "scene tower --kind KIND [--count N] [--columns N] [--brick X,Y,Z] "
			     "[--factor F] [--gap M] [--friction N] [--gravity N] "
			     "[--without ROW,COLUMN] [--carried nine-points|triangles] [--space]");
	words[count++] = cli->operands[0];
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *value = cli_option(cli, names[i], 0);
		if (value == NULL)
			continue;
		words[count++] = flags[i];
		words[count++] = value;
	}
	if (cli_flag(cli, "space"))
		words[count++] = "--space";
	return cli_options_known(cli) ? cli_run_daemon(cli, words) : cli_fail(cli);
}
