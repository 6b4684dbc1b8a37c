/* verb_draw.c: the verb draw. cairnd draws scenes and recordings without a network; the past of a world
 * is saved as a recording first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/cli/daemon_words.h"
#include "clients/cli/verbs.h"
#include "server/base/base.h"

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
	struct daemon_words words;
	snprintf(directory, sizeof directory, "%s/cairn-draw-XXXXXX",
		 folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	if (mkdtemp(directory) == NULL)
		return fail_system(cli, directory);
	snprintf(path, sizeof path, "%s/world.cairn", directory);
	daemon_words_begin(&words, cli, "draw");
	daemon_words_add(&words, path);
	int code = fetch_past(cli, path) ? run_beside(cli, words.items) : cli_fail(cli);
	(void)remove(path);
	(void)rmdir(directory);
	return code;
}

int verb_draw(struct cli *cli)
{
	struct daemon_words words;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	if (!cli_names_file(cli))
		return draw_world(cli);
	daemon_words_begin(&words, cli, "draw");
	daemon_words_operands(&words, cli, 0);
	return cli_run_daemon(cli, words.items);
}
