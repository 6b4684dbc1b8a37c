/* verb_draw.c: the verb draw. cairnd draws scenes and recordings without a network; the past of a world
 * is saved as a recording first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/cli/verbs.h"
#include "server/base/base.h"

static const char *const VALUES[][2] = {
	{ "pictures", "--pictures" }, { "ticks", "--ticks" }, { "every", "--every" },
	{ "methods", "--methods" },   { "from", "--from" },   { "to", "--to" },
	{ "epoch", "--epoch" },	      { "width", "--width" }, { "touch", "--touch" },
};
static const char *const LISTS[][2] = { { "set", "--set" }, { "let", "--let" } };
static const char *const FLAGS[][2] = { { "animate", "--animate" }, { "forces", "--forces" } };
enum {
	LIST_MAX = 64,
	WORDS_MAX = 4 + 2 * COUNT_OF(VALUES) + COUNT_OF(FLAGS) + 2 * LIST_MAX * COUNT_OF(LISTS)
};

/* The words of `cairnd draw FILE` with the options of this command. */
static bool take_words(struct cli *cli, const char *file, const char *words[WORDS_MAX])
{
	size_t count = 0;
	words[count++] = "cairnd";
	words[count++] = "draw";
	words[count++] = file;
	for (size_t i = 0; i < COUNT_OF(VALUES); i++) {
		const char *value = cli_option(cli, VALUES[i][0], 0);
		if (value == NULL)
			continue;
		words[count++] = VALUES[i][1];
		words[count++] = value;
	}
	for (size_t i = 0; i < COUNT_OF(LISTS); i++) {
		const char *value;
		for (uint32_t k = 0;
		     k < LIST_MAX && (value = cli_option(cli, LISTS[i][0], k)) != NULL; k++) {
			words[count++] = LISTS[i][1];
			words[count++] = value;
		}
	}
	for (size_t i = 0; i < COUNT_OF(FLAGS); i++)
		if (cli_flag(cli, FLAGS[i][0]))
			words[count++] = FLAGS[i][1];
	ASSERT(count < WORDS_MAX);
	words[count] = NULL;
	return cli_options_known(cli);
}

static int fail_system(struct cli *cli, const char *what)
{
	reason_set(&cli->why, STATUS_IO, -1, "draw", "%s: %s", what, strerror(errno));
	return cli_fail(cli);
}

/* Runs cairnd beside this process, because the file is to be removed afterwards. */
static int run_beside(struct cli *cli, const char *const *words)
{
	int status = 0;
	pid_t child = fork();
	if (child < 0)
		return fail_system(cli, "cannot start cairnd");
	if (child == 0)
		_exit(cli_run_daemon(cli, words));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fail_system(cli, "cannot wait for cairnd");
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

/* Saves the world's past under a name on the server and copies it into `path`. */
static bool fetch_past(struct cli *cli, const char *path)
{
	struct cairn_world world;
	struct message done;
	char name[40];
	snprintf(name, sizeof name, "draw-%ld", (long)getpid());
	struct cairn_recording recording = { .name = name, .action = WIRE_RECORD_SAVE };
	if (!cli_join(cli, &world))
		return false;
	recording.world = world.number;
	if (cairn_record(cli->client, &recording, &done, &cli->why) != STATUS_OK)
		return false;
	bool good = cli_recording_get(cli, &recording, path);
	struct reason why;
	recording.action = WIRE_RECORD_REMOVE;
	if (cairn_record(cli->client, &recording, &done, good ? &cli->why : &why) != STATUS_OK)
		return false;
	return good;
}

static int draw_world(struct cli *cli)
{
	const char *folder = getenv("TMPDIR");
	char directory[4000], path[4096];
	const char *words[WORDS_MAX];
	snprintf(directory, sizeof directory, "%s/cairn-draw-XXXXXX",
		 folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	if (mkdtemp(directory) == NULL)
		return fail_system(cli, directory);
	snprintf(path, sizeof path, "%s/world.cairn", directory);
	int code = EXIT_FAILURE;
	if (!take_words(cli, path, words) || !fetch_past(cli, path))
		code = cli_fail(cli);
	else
		code = run_beside(cli, words);
	(void)remove(path);
	(void)rmdir(directory);
	return code;
}

int verb_draw(struct cli *cli)
{
	const char *words[WORDS_MAX];
	if (cli->operand_count != 1)
		return cli_usage(
			cli,
			"draw WORLD|SCENE|FILE.cairn [--pictures N | --animate] [--ticks N] "
			"[--every N] [--methods A,B,C] [--set KEY=VALUE]… "
			"[--let NAME=FORMULA]… [--forces [--touch M]] [--from TICK] [--to TICK] "
			"[--epoch N] [--width PIXELS]");
	if (!cli_names_file(cli))
		return draw_world(cli);
	if (!take_words(cli, cli->operands[0], words))
		return cli_fail(cli);
	return cli_run_daemon(cli, words);
}
