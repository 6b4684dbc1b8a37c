/* verb_load.c: the verb load: sends the shapes, bodies and joints of a scene to a world. */
#include <stdlib.h>
#include <string.h>

#include "clients/cli/progress.h"
#include "clients/cli/verbs.h"

struct shown {
	const struct cli *cli;
	const char *what; /* NULL: no bar yet */
	struct progress bar;
};

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct shown *shown = context;
	if (shown->what == NULL || strcmp(shown->what, what) != 0) {
		progress_stop(&shown->bar);
		progress_start(&shown->bar, shown->cli, what, total);
		shown->what = what;
	}
	progress_at(&shown->bar, done);
}

int verb_load(struct cli *cli)
{
	struct cairn_world world;
	struct shown shown = { .cli = cli };
	const struct cairn_progress progress = { show_progress, &shown };
	if (cli->operand_count != 2)
		return cli_usage(cli, "load WORLD SCENE");
	if (!cli_options_known(cli))
		return cli_fail(cli);
	enum status status = cairn_load(cli->client, cli->operands[0], cli->operands[1], &progress,
					&world, &cli->why);
	progress_stop(&shown.bar);
	if (status != STATUS_OK)
		return cli_fail(cli);
	out_world(cli, &world);
	return EXIT_SUCCESS;
}
