/* verb_load.c: the verbs load, open, scenes and convert: send the shapes, bodies and joints of a scene
 * or a robot to a world, let the server make a world of a scene that it has, and print the flat scene
 * that a scene or robot file stands for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/progress.h"
#include "clients/cli/verbs.h"
#include "protocol/scene/scene.h"
#include "server/base/heap.h"

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

static void show_notes(void *context, const char *text)
{
	UNUSED(context);
	fputs(text, stderr);
}

enum { LETS_MAX = 64 };
struct load_options {
	struct scene_options scene; /* its list is `lets` */
	const char *lets[LETS_MAX];
};

/* --let, --base, --balance and --joint-link-share; false with cli->why set. */
static bool read_options(struct cli *cli, struct load_options *out)
{
	const char *base = cli_option(cli, "base", 0), *let;
	const char *share = cli_option(cli, "joint-link-share", 0);
	struct scene_options *options = &out->scene;
	*options = (struct scene_options){ .balance = cli_flag(cli, "balance"), .lets = out->lets };
	while (options->let_count < LETS_MAX &&
	       (let = cli_option(cli, "let", options->let_count)) != NULL)
		out->lets[options->let_count++] = let;
	if (share != NULL &&
	    !cli_number(cli, share, "--joint-link-share", &options->joint_link_share))
		return false;
	if (share != NULL && options->joint_link_share == 0) {
		reason_set(&cli->why, STATUS_RANGE, -1, "joint_link_share",
			   "--joint-link-share is 0; it must be from %g to %g",
			   JOINT_LINK_SHARE_MIN, JOINT_LINK_SHARE_MAX);
		return false;
	}
	if (base == NULL)
		return true;
	options->base = strcmp(base, "fixed") == 0	? SCENE_BASE_FIXED
			: strcmp(base, "floating") == 0 ? SCENE_BASE_FLOATING
							: SCENE_BASE_UNKNOWN;
	if (options->base != SCENE_BASE_UNKNOWN)
		return true;
	reason_set(&cli->why, STATUS_TYPE, -1, "base",
		   "--base is '%.40s'; it must be fixed or floating", base);
	return false;
}

/* The notes as comments, then the text. */
static void print_scene(const char *text, const char *notes)
{
	for (const char *at = notes; *at != '\0';) {
		size_t bytes = strcspn(at, "\n");
		printf("# %.*s\n", (int)bytes, at);
		at += bytes + (at[bytes] == '\n');
	}
	fputs(text, stdout);
}

int verb_convert(struct cli *cli)
{
	struct load_options options;
	char *text, *notes;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	if (!read_options(cli, &options) || !cli_options_known(cli))
		return cli_fail(cli);
	if (scene_convert(cli->operands[0], &options.scene, &text, &notes, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	print_scene(text, notes);
	fputs(notes, stderr);
	heap_free(text);
	heap_free(notes);
	return ferror(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int verb_load(struct cli *cli)
{
	struct load_options options;
	struct cairn_world world;
	struct shown shown = { .cli = cli };
	const struct cairn_progress progress = { show_progress, &shown, show_notes };
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!read_options(cli, &options) || !cli_options_known(cli))
		return cli_fail(cli);
	enum status status = cairn_load(cli->client, cli->operands[0], cli->operands[1],
					&options.scene, &progress, &world, &cli->why);
	progress_stop(&shown.bar);
	if (status != STATUS_OK)
		return cli_fail(cli);
	out_world(cli, &world);
	return EXIT_SUCCESS;
}

static void print_listed(void *context, const struct cairn_scene *scene)
{
	const struct cli *cli = context;
	if (!cli->json) {
		printf("%-28s %s\n", scene->name, scene->title);
		return;
	}
	out_begin(cli);
	out_text(cli, "name", scene->name);
	out_u64(cli, "bytes", scene->bytes);
	out_text(cli, "title", scene->title);
	out_end(cli);
}

int verb_scenes(struct cli *cli)
{
	if (cli->operand_count != 0)
		return cli_wrong_words(cli);
	if (!cli_options_known(cli) ||
	    cairn_scenes(cli->client, print_listed, cli, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	return EXIT_SUCCESS;
}

int verb_open(struct cli *cli)
{
	struct load_options options;
	struct cairn_world world;
	struct wire_slice notes;
	bool running = !cli_flag(cli, "paused");
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!read_options(cli, &options) || !cli_options_known(cli) ||
	    cairn_open_scene(cli->client, cli->operands[0], cli->operands[1], &options.scene,
			     running, &world, &notes, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	fprintf(stderr, "%.*s", (int)notes.bytes, notes.bytes > 0 ? (const char *)notes.at : "");
	out_world(cli, &world);
	return EXIT_SUCCESS;
}
