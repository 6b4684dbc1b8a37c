/* replay_main.c: replaces libFuzzer in ordinary builds. It runs a fuzz target on every file of its
 * committed corpus, so that an input that once found a bug is a test from then on.
 *
 *	fuzz_frame            every file of $CAIRN_SRCDIR/tests/fuzz/corpus/frame, in order of name
 *	fuzz_frame FILE…      these files
 *
 * Prints TAP. A crash of the target ends the program, which is a failed test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limit of tests/fuzz/targets is below this. */
#define INPUT_BYTES_MAX ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int replayed;

static void result(int good, const char *path, const char *remark)
{
	replayed++;
	printf("%sok %d - %s%s\n", good ? "" : "not ", replayed, path, remark);
	fflush(stdout);
}

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *buffer = malloc(INPUT_BYTES_MAX);
	if (file == NULL || buffer == NULL) {
		result(0, path, ": cannot read");
	} else {
		/* A copy of exactly this size, so that a read past the end is a read past the
		 * allocation. */
		size_t bytes = fread(buffer, 1, INPUT_BYTES_MAX, file);
		uint8_t *input = malloc(bytes > 0 ? bytes : 1);
		if (input != NULL && bytes > 0)
			memcpy(input, buffer, bytes);
		if (input != NULL)
			LLVMFuzzerTestOneInput(input, bytes);
		result(input != NULL, path, "");
		free(input);
	}
	free(buffer);
	if (file != NULL)
		fclose(file);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_corpus(const char *program)
{
	const char *source = getenv("CAIRN_SRCDIR");
	const char *base = strrchr(program, '/');
	base = base == NULL ? program : base + 1;
	const char *noun = strncmp(base, "fuzz_", 5) == 0 ? base + 5 : base;
	char folder[2048];
	source = source == NULL ? "." : source;
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", source, noun);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_visible, alphasort);
	if (count <= 0)
		result(0, folder, ": no corpus here");
	for (int i = 0; i < count; i++) {
		char path[2048 + 300];
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		replay(path);
		free(entries[i]);
	}
	free(entries);
}

int main(int argument_count, char **arguments)
{
	for (int i = 1; i < argument_count; i++)
		replay(arguments[i]);
	if (argument_count < 2)
		replay_corpus(arguments[0]);
	printf("1..%d\n", replayed);
	return EXIT_SUCCESS;
}
