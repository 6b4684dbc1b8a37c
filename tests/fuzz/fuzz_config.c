/* fuzz_config.c: texts of an operator, as arbitrary bytes. The first byte chooses:
 *
 *	0	a configuration file
 *	1	the command line, one argument a line
 *	2	the environment, one variable a line
 *	3	a configuration file, then (after a line of "===") a change name=value while running
 *
 * A text is refused with a reason that names an option, and nothing is allocated any more; or it is
 * accepted. Then every option prints as a text, and a live option accepts its own text. */
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/config_file.h"
#include "server/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

enum { LINES_MAX = 300, BYTES_MAX = 1 << 16 };

static char text[BYTES_MAX + 1];
static const char *lines[LINES_MAX + 1];

/* Splits the input into lines, ended by NULL, with `first` before them. */
static int split(const char *first)
{
	int count = 0;
	if (first != NULL)
		lines[count++] = first;
	for (char *line = text; line != NULL && count < LINES_MAX;) {
		char *end = strchr(line, '\n');
		if (end != NULL)
			*end = '\0';
		lines[count++] = line;
		line = end != NULL ? end + 1 : NULL;
	}
	lines[count] = NULL;
	return count;
}

static void check_reason(enum status status, const struct reason *why)
{
	ASSERT(why->status == status);
	ASSERT(memchr(why->text, '\0', sizeof why->text) != NULL && why->text[0] != '\0');
	ASSERT(memchr(why->field, '\0', sizeof why->field) != NULL && why->field[0] != '\0');
}

static void check_taken(struct options *options)
{
	static char help[1 << 16];
	struct address addresses[OPTION_ADDRESSES_MAX];
	struct option_view view;
	struct reason why;
	uint32_t count = 0;
	if (options->command == OPTIONS_HELP) {
		size_t bytes = options_help(options->help_for, help, sizeof help);
		ASSERT(bytes > 0 && bytes < sizeof help);
	}
	if (options->command != OPTIONS_SERVE)
		return;
	if (options_addresses(options, addresses, &count, &why) == STATUS_OK)
		ASSERT((count > 0 || options->tls.count > 0) && count <= OPTION_ADDRESSES_MAX);
	if (options_tls_addresses(options, addresses, &count, &why) == STATUS_OK)
		ASSERT(count <= OPTION_ADDRESSES_MAX);
	for (uint32_t i = 0; options_view(options, i, &view); i++) {
		ASSERT(memchr(view.value, '\0', sizeof view.value) != NULL);
		if (!view.live)
			continue;
		enum status status = options_change(options, view.name, view.value, &why);
		ASSERT(status == STATUS_OK || strlen(view.value) == 0 ||
		       strlen(view.value) == sizeof view.value - 1);
	}
}

static void change(struct options *options, char *line)
{
	struct reason why = { 0 };
	char *value = strchr(line, '=');
	if (value == NULL)
		return;
	*value++ = '\0';
	enum status status = options_change(options, line, value, &why);
	if (status != STATUS_OK)
		check_reason(status, &why);
}

static void read_file(struct options *options, char *then)
{
	static const char *const NOTHING[] = { "cairnd", NULL };
	struct config_file file;
	struct reason why = { 0 };
	int64_t live = heap_live();
	enum status status = config_file_parse(&file, "fuzz.yaml", text, strlen(text), &why);
	if (status != STATUS_OK) {
		check_reason(status, &why);
		ASSERT(heap_live() == live);
		return;
	}
	for (uint32_t i = 0; i < file.count; i++)
		ASSERT(strchr(file.settings[i], '=') != NULL);
	ASSERT(file.settings == NULL || file.settings[file.count] == NULL);
	status = options_parse_with(options, 1, NOTHING, NULL, (const char *const *)file.settings,
				    &why);
	if (status == STATUS_OK)
		check_taken(options);
	else
		check_reason(status, &why);
	if (status == STATUS_OK && then != NULL) {
		change(options, then);
		check_taken(options);
	}
	config_file_release(&file);
	ASSERT(heap_live() == live);
}

static void read_lines(struct options *options, bool environment)
{
	static const char *const NOTHING[] = { "cairnd", NULL };
	struct reason why = { 0 };
	int count = split(environment ? NULL : "cairnd");
	enum status status =
		options_parse(options, environment ? 1 : count, environment ? NOTHING : lines,
			      environment ? lines : NULL, &why);
	if (!environment)
		(void)options_config_path(count, lines, NULL);
	if (status == STATUS_OK)
		check_taken(options);
	else
		check_reason(status, &why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	static struct options options;
	if (count == 0 || count > BYTES_MAX)
		return 0;
	memcpy(text, data + 1, count - 1);
	text[count - 1] = '\0';
	memset(&options, 0xa5, sizeof options);
	uint8_t what = data[0] & 3;
	char *then = what == 3 ? strstr(text, "===\n") : NULL;
	if (then != NULL) {
		*then = '\0';
		then += 4;
	}
	if (what == 0 || what == 3)
		read_file(&options, then);
	else
		read_lines(&options, what == 2);
	return 0;
}
