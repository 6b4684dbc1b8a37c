/* See daemon_words.h. */
#include "clients/cli/daemon_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/usage.h"

static bool is_global(const char *name)
{
	struct usage_option option;
	for (const char *at = CLI_GLOBALS; usage_next_option(&at, &option);)
		if (strcmp(option.name, name) == 0)
			return true;
	return false;
}

void daemon_words_add(struct daemon_words *self, const char *word)
{
	ASSERT(self->count + 1 < COUNT_OF(self->items));
	self->items[self->count++] = word;
	self->items[self->count] = NULL;
}

void daemon_words_command(struct daemon_words *self, const struct cli *cli, const char *command)
{
	self->count = 0;
	daemon_words_add(self, "cairnd");
	daemon_words_add(self, command);
	if (!cli->json)
		return;
	daemon_words_add(self, "--report");
	daemon_words_add(self, "json");
}

void daemon_words_begin(struct daemon_words *self, struct cli *cli, const char *command)
{
	daemon_words_command(self, cli, command);
	for (uint32_t i = 0; i < cli->option_count; i++) {
		if (is_global(cli->options[i].name))
			continue;
		snprintf(self->flags[i], sizeof self->flags[i], "--%s", cli->options[i].name);
		daemon_words_add(self, self->flags[i]);
		if (cli->options[i].value != NULL)
			daemon_words_add(self, cli->options[i].value);
	}
}

void daemon_words_operands(struct daemon_words *self, const struct cli *cli, uint32_t first)
{
	for (uint32_t i = first; i < cli->operand_count; i++)
		daemon_words_add(self, cli->operands[i]);
}

/* From the folder of this program, else from the PATH. */
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
		   "cairnd is neither in the folder of cairn nor on the PATH: install both");
	return cli_fail(cli);
}
