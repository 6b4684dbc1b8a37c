/* See options.h. One table from options.def gives kind, range, default and help of every option;
 * values come from the default, the configuration file, the environment and the command line, in
 * this order. */
#include "server/options.h"
#include "server/base/suggestion.h"
#include "server/options_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum option_kind { KIND_FLAG, KIND_COUNT, KIND_BYTES, KIND_TEXT, KIND_LIST, KIND_LEVEL };

struct option {
	enum options_command command;
	enum option_kind kind;
	size_t offset;
	const char *name;
	const char *argument;
	const char *initial;
	uint64_t min, max;
	const char *help;
};

static const struct option OPTIONS[] = {
#define OPTION(command, KIND, field, name, argument, initial, min, max, help)                      \
	{ OPTIONS_##command,                                                                       \
	  KIND_##KIND,                                                                             \
	  offsetof(struct options, field),                                                         \
	  name,                                                                                    \
	  argument,                                                                                \
	  initial,                                                                                 \
	  min,                                                                                     \
	  max,                                                                                     \
	  help },
#include "server/options.def"
};

enum { NAME_BYTES = 48 };

/* ---- values ---------------------------------------------------------------------------------- */
static enum status refuse_value(struct reason *why, enum status status, const struct option *option,
				const char *format, const char *value)
{
	char text[240];
	snprintf(text, sizeof text, "--%s: ", option->name);
	size_t used = strlen(text);
	/* `format` is one of the literals below, each with one %.40s. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text + used, sizeof text - used, format, value);
#pragma GCC diagnostic pop
	return reason_set(why, status, -1, option->name, "%s", text);
}

static uint64_t suffix_factor(char suffix)
{
	switch (suffix) {
	case 'K':
	case 'k':
		return UINT64_C(1) << 10;
	case 'M':
		return UINT64_C(1) << 20;
	case 'G':
		return UINT64_C(1) << 30;
	default:
		return 0;
	}
}

/* Parses decimal digits, with one optional suffix K, M or G if `bytes`. False if `value` is malformed
 * or 2⁶³ or more. */
static bool read_number(const char *value, bool bytes, uint64_t *out)
{
	uint64_t number = 0, factor = 1;
	size_t i = 0;
	for (; value[i] >= '0' && value[i] <= '9'; i++) {
		if (number > (UINT64_MAX >> 1) / 10 - 1)
			return false;
		number = number * 10 + (uint64_t)(value[i] - '0');
	}
	if (i == 0)
		return false;
	if (bytes && value[i] != '\0')
		factor = suffix_factor(value[i++]);
	if (value[i] != '\0' || factor == 0 || number > (UINT64_MAX >> 1) / factor)
		return false;
	*out = number * factor;
	return true;
}

static enum status set_number(const struct option *option, uint64_t *out, const char *value,
			      struct reason *why)
{
	uint64_t number;
	if (!read_number(value, option->kind == KIND_BYTES, &number))
		return refuse_value(
			why, STATUS_TYPE, option,
			option->kind == KIND_BYTES
				? "\"%.40s\" is not a number of bytes below 2^63 such as 65536 or 64K"
				: "\"%.40s\" is not a whole number below 2^63",
			value);
	if (number < option->min || number > option->max)
		return reason_set(why, STATUS_RANGE, -1, option->name,
				  "--%s: %.30s is out of range; allowed is %llu … %llu",
				  option->name, value, (unsigned long long)option->min,
				  (unsigned long long)option->max);
	*out = number;
	return STATUS_OK;
}

static enum status set_flag(const struct option *option, bool *out, const char *value,
			    struct reason *why)
{
	static const char *const YES[] = { "true", "yes", "on", "1" };
	static const char *const NO[] = { "false", "no", "off", "0" };
	for (size_t i = 0; i < COUNT_OF(YES); i++) {
		bool yes = strcmp(value, YES[i]) == 0;
		if (yes || strcmp(value, NO[i]) == 0) {
			*out = yes;
			return STATUS_OK;
		}
	}
	return refuse_value(why, STATUS_TYPE, option, "\"%.40s\" is neither true nor false", value);
}

/* Values NAME=VALUE of one name, or two equal ones, contradict or repeat each other. */
static bool list_has(const struct option_list *list, const char *value, size_t name)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (strcspn(list->items[i], "=") == name &&
		    strncmp(list->items[i], value, name) == 0)
			return true;
	return false;
}

static enum status list_add(const struct option *option, struct option_list *list,
			    const char *value, struct reason *why)
{
	size_t name = strcspn(value, "=");
	if (list_has(list, value, name))
		return reason_set(why, STATUS_EXISTS, -1, option->name,
				  "--%s: \"%.*s\" is given twice, now as \"%.40s\"; give it once",
				  option->name, (int)MIN_OF(name, (size_t)40), value, value);
	if (list->count == OPTION_LIST_MAX)
		return reason_set(why, STATUS_LIMIT, -1, option->name,
				  "--%s: \"%.40s\" is value %d: at most %d are allowed",
				  option->name, value, OPTION_LIST_MAX + 1, OPTION_LIST_MAX);
	list->items[list->count++] = value;
	return STATUS_OK;
}

static enum status set_value(struct options *options, const struct option *option,
			     const char *value, struct reason *why)
{
	void *field = (char *)options + option->offset;
	switch (option->kind) {
	case KIND_FLAG:
		return set_flag(option, field, value, why);
	case KIND_COUNT:
	case KIND_BYTES:
		return set_number(option, field, value, why);
	case KIND_TEXT:
		if (value[0] == '\0')
			return refuse_value(why, STATUS_MISSING, option, "needs a value%s", "");
		*(const char **)field = value;
		return STATUS_OK;
	case KIND_LIST:
		return list_add(option, field, value, why);
	case KIND_LEVEL:
		if (log_level_parse(value, field))
			return STATUS_OK;
		return refuse_value(why, STATUS_TYPE, option,
				    "\"%.40s\" is not one of error, warn, info, debug", value);
	}
	return STATUS_TYPE;
}

/* ---- the environment ------------------------------------------------------------------------- */
/* "step-workers" → "CAIRN_STEP_WORKERS". */
static void environment_name(const struct option *option, char name[NAME_BYTES])
{
	size_t used = (size_t)snprintf(name, NAME_BYTES, "CAIRN_%s", option->name);
	for (size_t i = 0; i < used; i++) {
		if (name[i] == '-')
			name[i] = '_';
		else if (name[i] >= 'a' && name[i] <= 'z')
			name[i] = (char)(name[i] - 'a' + 'A');
	}
}

static const char *environment_value(const struct option *option, const char *const environment[])
{
	char name[NAME_BYTES];
	environment_name(option, name);
	size_t length = strlen(name);
	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
			return environment[i] + length + 1;
	return NULL;
}

static enum status set_list(struct options *options, const struct option *option, const char *value,
			    struct reason *why)
{
	size_t length = strlen(value);
	enum status status = STATUS_OK;
	if (length + 1 > sizeof options->texts - options->texts_used)
		return reason_set(
			why, STATUS_LIMIT, -1, option->name,
			"--%s: the list needs %zu bytes, %zu are left of %zu for all lists: shorten one",
			option->name, length + 1, sizeof options->texts - options->texts_used,
			sizeof options->texts);
	char *text = options->texts + options->texts_used;
	options->texts_used += (uint32_t)length + 1;
	memcpy(text, value, length + 1);
	for (char *item = text; status == STATUS_OK && item != NULL;) {
		char *comma = strchr(item, ',');
		if (comma != NULL)
			*comma = '\0';
		if (item[0] != '\0')
			status = set_value(options, option, item, why);
		item = comma != NULL ? comma + 1 : NULL;
	}
	return status;
}

static enum status read_environment(struct options *options, const char *const environment[],
				    struct reason *why)
{
	enum status status = STATUS_OK;
	for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(OPTIONS); i++) {
		const struct option *option = &OPTIONS[i];
		const char *value = environment_value(option, environment);
		/* An empty variable counts as unset, because some shells cannot unset one. */
		if (option->command != options->command || value == NULL || value[0] == '\0')
			continue;
		/* A list in the environment replaces the list of the file. */
		if (option->kind == KIND_LIST)
			((struct option_list *)((char *)options + option->offset))->count = 0;
		if (option->kind == KIND_LIST)
			status = set_list(options, option, value, why);
		else
			status = set_value(options, option, value, why);
	}
	return status;
}

/* ---- the command line ------------------------------------------------------------------------ */
static const struct option *find_option(enum options_command command, const char *name,
					size_t length)
{
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
		const struct option *option = &OPTIONS[i];
		if (option->command == command && strlen(option->name) == length &&
		    memcmp(option->name, name, length) == 0)
			return option;
	}
	return NULL;
}

static enum status refuse_unknown(enum options_command command, const char *name, size_t length,
				  struct reason *why)
{
	char wrong[NAME_BYTES];
	int shown = (int)MIN_OF(length, 40);
	snprintf(wrong, sizeof wrong, "%.*s", (int)length, name);
	struct suggestion suggestion = suggestion_for(wrong);
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++)
		if (OPTIONS[i].command == command)
			suggestion_offer(&suggestion, OPTIONS[i].name);
	if (suggestion.nearest != NULL)
		return reason_set(why, STATUS_MISSING, -1, "option",
				  "unknown option --%.*s; did you mean --%s?", shown, name,
				  suggestion.nearest);
	return reason_set(why, STATUS_MISSING, -1, "option",
			  "unknown option --%.*s; --help lists them", shown, name);
}

struct command_line {
	int argc;
	const char *const *argv;
	int at;
	bool given[COUNT_OF(OPTIONS)];
};

/* One `--name`, `--name=value` or `--name value`. */
static enum status read_option(struct options *options, struct command_line *line,
			       struct reason *why)
{
	const char *name = line->argv[line->at] + 2;
	const char *value = strchr(name, '=');
	size_t length = value != NULL ? (size_t)(value - name) : strlen(name);
	const struct option *option = find_option(options->command, name, length);
	if (option == NULL)
		return refuse_unknown(options->command, name, length, why);
	bool *given = &line->given[option - OPTIONS];
	if (*given && option->kind != KIND_LIST)
		return refuse_value(why, STATUS_EXISTS, option, "given twice; give it once%s", "");
	/* A list on the command line replaces the list of the environment. */
	if (!*given && option->kind == KIND_LIST)
		((struct option_list *)((char *)options + option->offset))->count = 0;
	*given = true;
	if (value != NULL)
		return set_value(options, option, value + 1, why);
	if (option->kind == KIND_FLAG)
		return set_value(options, option, "true", why);
	if (line->at + 1 >= line->argc)
		return refuse_value(why, STATUS_MISSING, option, "needs a value: %.40s",
				    option->argument);
	return set_value(options, option, line->argv[++line->at], why);
}

static bool take_help(struct options *options, const char *word)
{
	bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
	if (!help && strcmp(word, "--version") != 0)
		return false;
	options->help_for = options->command;
	options->command = help ? OPTIONS_HELP : OPTIONS_VERSION;
	return true;
}

static enum status read_operand(struct options *options, const char *word, struct reason *why)
{
	if (options->command == OPTIONS_SERVE)
		return reason_set(why, STATUS_TYPE, -1, "option",
				  "\"%.40s\" is not an option; give a scene with --scene", word);
	const char *what = options->command == OPTIONS_RUN || options->command == OPTIONS_COMPARE
				   ? "scene"
				   : "file";
	uint32_t most = options->command == OPTIONS_STORE  ? 3
			: options->command == OPTIONS_PACK ? 2
							   : 1;
	if (options->operands.count == most)
		return reason_set(why, STATUS_LIMIT, -1, what,
				  most == 1 ? "only one %s is accepted; \"%.40s\" is a second one"
					    : "too many words for %ss; \"%.40s\" is one too many",
				  what, word);
	options->operands.items[options->operands.count++] = word;
	return STATUS_OK;
}

/* Options that have no effect without another one, or beside another one. */
static const struct {
	enum options_command command;
	const char *name, *other;
	bool needs; /* false: excludes */
} PAIRS[] = {
	{ OPTIONS_RUN, "every", "trajectory", true },
	{ OPTIONS_REPLAY, "bisect", "against", true },
	{ OPTIONS_PAST, "names", "export", true },
	{ OPTIONS_PAST, "every", "export", true },
	{ OPTIONS_PAST, "other-epoch", "diff", true },
	{ OPTIONS_PAST, "from", "when", false },
	{ OPTIONS_PAST, "from", "when-last", false },
	{ OPTIONS_PAST, "to", "when", false },
	{ OPTIONS_PAST, "to", "when-last", false },
	{ OPTIONS_PAST, "epoch", "when", false },
	{ OPTIONS_PAST, "epoch", "when-last", false },
	{ OPTIONS_STABILITY, "body", "margin", true },
	{ OPTIONS_STABILITY, "direction", "margin", true },
	{ OPTIONS_DRAW, "pictures", "animate", false },
	{ OPTIONS_DRAW, "touch", "forces", true },
	{ OPTIONS_MESH, "surface", "field", true },
};

static bool is_set(const struct options *options, const struct option *option)
{
	const void *field = (const char *)options + option->offset;
	switch (option->kind) {
	case KIND_FLAG:
		return *(const bool *)field;
	case KIND_COUNT:
	case KIND_BYTES:
		return *(const uint64_t *)field != 0;
	case KIND_TEXT:
		return *(const char *const *)field != NULL;
	case KIND_LIST:
		return ((const struct option_list *)field)->count > 0;
	case KIND_LEVEL:
		break;
	}
	return true;
}

/* Of the first option only its place on the command line counts: the environment is for many commands. */
static enum status check_pairs(const struct options *options, const struct command_line *line,
			       struct reason *why)
{
	for (size_t i = 0; i < COUNT_OF(PAIRS); i++) {
		const char *name = PAIRS[i].name, *other = PAIRS[i].other;
		const struct option *first = find_option(PAIRS[i].command, name, strlen(name));
		const struct option *second = find_option(PAIRS[i].command, other, strlen(other));
		ASSERT(first != NULL && second != NULL);
		if (PAIRS[i].command != options->command || !line->given[first - OPTIONS] ||
		    is_set(options, second) == PAIRS[i].needs)
			continue;
		if (PAIRS[i].needs)
			return reason_set(why, STATUS_MISSING, -1, name,
					  "--%s has no effect without --%s%s%s: give both, or "
					  "leave it out",
					  name, other, second->argument != NULL ? " " : "",
					  second->argument != NULL ? second->argument : "");
		return reason_set(why, STATUS_RANGE, -1, name,
				  "--%s has no effect beside --%s: leave one of them out", name,
				  other);
	}
	return STATUS_OK;
}

static enum status read_line(struct options *options, struct command_line *line, struct reason *why)
{
	enum status status = STATUS_OK;
	for (; status == STATUS_OK && line->at < line->argc; line->at++) {
		const char *word = line->argv[line->at];
		if (take_help(options, word))
			return STATUS_OK;
		if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
			status = read_option(options, line, why);
		else if (word[0] == '-')
			status = refuse_unknown(options->command, word + 1, strlen(word + 1), why);
		else
			status = read_operand(options, word, why);
	}
	return status;
}

static void set_defaults(struct options *options)
{
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++)
		if (OPTIONS[i].initial != NULL)
			ASSERT(set_value(options, &OPTIONS[i], OPTIONS[i].initial, NULL) ==
			       STATUS_OK);
}

/* Sets the options of `cairnd serve` from the lines of a configuration file, each `name=value`. */
static enum status read_setting(struct options *options, const char *setting, struct reason *why)
{
	const char *value = strchr(setting, '=');
	size_t length = value != NULL ? (size_t)(value - setting) : 0;
	const struct option *option = find_option(OPTIONS_SERVE, setting, length);
	if (option == NULL)
		return refuse_unknown(OPTIONS_SERVE, setting, length, why);
	if (strcmp(option->name, "config") == 0)
		return refuse_value(
			why, STATUS_UNSUPPORTED, option,
			"not allowed in a configuration file: give it on the command line%s", "");
	return set_value(options, option, value + 1, why);
}

/* A refusal has the index of the setting. */
static enum status read_settings(struct options *options, const char *const settings[],
				 struct reason *why)
{
	for (size_t i = 0; settings != NULL && settings[i] != NULL; i++) {
		enum status status = read_setting(options, settings[i], why);
		if (status == STATUS_OK)
			continue;
		if (why != NULL)
			why->index = (int64_t)i;
		return status;
	}
	return STATUS_OK;
}

static const struct {
	const char *word;
	enum options_command command;
} COMMANDS[] = {
	{ "run", OPTIONS_RUN },	  { "compare", OPTIONS_COMPARE },     { "replay", OPTIONS_REPLAY },
	{ "mesh", OPTIONS_MESH }, { "stability", OPTIONS_STABILITY }, { "scene", OPTIONS_SCENE },
	{ "draw", OPTIONS_DRAW }, { "store", OPTIONS_STORE },	      { "past", OPTIONS_PAST },
	{ "pack", OPTIONS_PACK },
};

enum status options_parse_with(struct options *out, int argc, const char *const argv[],
			       const char *const environment[], const char *const settings[],
			       struct reason *why)
{
	struct command_line line = { .argc = argc, .argv = argv, .at = 1 };
	memset(out, 0, sizeof *out);
	set_defaults(out);
	out->run_ticks = out->run_seed = UINT64_MAX;
	out->draw_ticks = DRAW_TICKS_OPEN;
	for (size_t i = 0; argc > 1 && i < COUNT_OF(COMMANDS); i++)
		if (strcmp(argv[1], COMMANDS[i].word) == 0) {
			out->command = COMMANDS[i].command;
			line.at = 2;
		}
	enum status status = read_settings(out, settings, why);
	if (status == STATUS_OK)
		status = read_environment(out, environment, why);
	if (status == STATUS_OK)
		status = read_line(out, &line, why);
	out->run_ticks_given = out->run_ticks != UINT64_MAX;
	out->run_seed_given = out->run_seed != UINT64_MAX;
	if (status == STATUS_OK)
		status = options_check(out, why);
	return status == STATUS_OK ? check_pairs(out, &line, why) : status;
}

enum status options_parse(struct options *out, int argc, const char *const argv[],
			  const char *const environment[], struct reason *why)
{
	return options_parse_with(out, argc, argv, environment, NULL, why);
}

const char *options_config_path(int argc, const char *const argv[], const char *const environment[])
{
	const struct option *config = find_option(OPTIONS_SERVE, "config", strlen("config"));
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--config=", 9) == 0)
			return argv[i] + 9;
		if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
			return argv[i + 1];
	}
	const char *value = environment_value(config, environment);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- live changes ---------------------------------------------------------------------------- */

/* True for an option whose value is read at each use: a change takes effect without a restart. */
static bool is_live(const struct option *option)
{
	static const char *const LIVE[] = { "log",
					    "handshake-ms",
					    "ping-ms",
					    "drain-ms",
					    "queue-bytes-total",
					    "slow-tick-us",
					    "recording-bytes",
					    "recordings-bytes" };
	for (size_t i = 0; i < COUNT_OF(LIVE); i++)
		if (strcmp(option->name, LIVE[i]) == 0)
			return true;
	return false;
}

static void print_list(const struct option_list *list, char text[OPTION_VALUE_BYTES])
{
	size_t used = 0;
	for (uint32_t i = 0; i < list->count && used < OPTION_VALUE_BYTES; i++)
		used += (size_t)snprintf(text + used, OPTION_VALUE_BYTES - used, "%s%s",
					 i > 0 ? "," : "", list->items[i]);
}

static void print_value(const struct options *options, const struct option *option,
			char text[OPTION_VALUE_BYTES])
{
	const void *field = (const char *)options + option->offset;
	const char *word = NULL;
	text[0] = '\0';
	switch (option->kind) {
	case KIND_FLAG:
		word = *(const bool *)field ? "true" : "false";
		break;
	case KIND_COUNT:
	case KIND_BYTES:
		snprintf(text, OPTION_VALUE_BYTES, "%llu", *(const unsigned long long *)field);
		return;
	case KIND_TEXT:
		word = *(const char *const *)field;
		break;
	case KIND_LEVEL:
		word = log_level_name(*(const enum log_level *)field);
		break;
	case KIND_LIST:
		print_list(field, text);
		return;
	}
	snprintf(text, OPTION_VALUE_BYTES, "%s", word != NULL ? word : "");
}

bool options_view(const struct options *options, uint32_t index, struct option_view *out)
{
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
		if (OPTIONS[i].command != OPTIONS_SERVE || index-- > 0)
			continue;
		out->name = OPTIONS[i].name;
		out->live = is_live(&OPTIONS[i]);
		print_value(options, &OPTIONS[i], out->value);
		return true;
	}
	return false;
}

enum status options_change(struct options *options, const char *name, const char *value,
			   struct reason *why)
{
	const struct option *option = find_option(OPTIONS_SERVE, name, strlen(name));
	if (option == NULL)
		return refuse_unknown(OPTIONS_SERVE, name, strlen(name), why);
	if (!is_live(option))
		return refuse_value(why, STATUS_UNSUPPORTED, option,
				    "the daemon needs a restart to change it to \"%.40s\"", value);
	return set_value(options, option, value, why);
}

/* ---- help ------------------------------------------------------------------------------------ */
struct text_writer {
	char *text;
	size_t bytes, used;
};

PRINTF_LIKE(2, 3) static void put(struct text_writer *writer, const char *format, ...)
{
	size_t room = writer->used < writer->bytes ? writer->bytes - writer->used : 0;
	va_list arguments;
	va_start(arguments, format);
	char *end = room > 0 ? writer->text + writer->used : NULL;
	int length = vsnprintf(end, room, format, arguments);
	va_end(arguments);
	writer->used += (size_t)length;
}

/* What a command is for, before the list of its options. */
static void put_command(struct text_writer *writer, enum options_command command)
{
	if (command == OPTIONS_RUN)
		put(writer, "cairnd run SCENE --ticks N [OPTION]…\n"
			    "Steps a scene as fast as possible, without a network.\n\n");
	else if (command == OPTIONS_COMPARE)
		put(writer,
		    "cairnd compare SCENE [OPTION]…\n"
		    "Steps a scene under several methods side by side, and checks the bounds "
		    "that it states.\n\n");
	else if (command == OPTIONS_REPLAY)
		put(writer, "cairnd replay FILE [OPTION]…\n"
			    "Prints the contents of a world's journal file and verifies its "
			    "replay.\n\n");
	else if (command == OPTIONS_MESH)
		put(writer, "cairnd mesh FILE [OPTION]…\n"
			    "Checks whether a mesh is a solid, and prints its mass properties "
			    "and parts.\n\n");
	else if (command == OPTIONS_STABILITY)
		put(writer, "cairnd stability SCENE [OPTION]…\n"
			    "Whether the bodies of a scene stand, with which forces, and how they "
			    "begin to fall.\n\n");
	else if (command == OPTIONS_SCENE)
		put(writer, "cairnd scene tower [OPTION]…\n"
			    "Prints the scene of a tower, an arch, dominoes or a card house.\n\n");
	else if (command == OPTIONS_DRAW)
		put(writer, "cairnd draw SCENE|FILE.cairn [OPTION]…\n"
			    "Prints what happens in a planar scene or recording as SVG.\n\n");
	else if (command == OPTIONS_PACK)
		put(writer,
		    "cairnd pack IN.svg OUT.svg [OPTION]…\n"
		    "cairnd pack IN.yaml OUT.yaml [OPTION]…\n"
		    "Moves the polygons of a drawing together, without overlap at any "
		    "instant, until the strip that they lie in cannot become shorter; or lets "
		    "the bodies of a scene come to rest, and writes the scene with them "
		    "there.\n\n");
	else if (command == OPTIONS_STORE)
		put(writer, "cairnd store check FILE\n"
			    "cairnd store repair FILE NEW\n"
			    "cairnd store backup FILE NEW\n"
			    "cairnd store restore BACKUP FILE\n"
			    "Checks, repairs, backs up or restores the file of a world. No file is "
			    "overwritten.\n\n");
	else if (command == OPTIONS_PAST)
		put(writer,
		    "cairnd past FILE [OPTION]…\n"
		    "Answers a question about the past of a world's file, or exports it.\n\n");
	else
		put(writer,
		    "cairnd [OPTION]…\n"
		    "Serves physics worlds. Other commands, each with its own --help:\n"
		    "`cairnd run` steps a scene without a network, `cairnd compare` does so under\n"
		    "several methods, `cairnd replay` and `cairnd past` read recordings, `cairnd\n"
		    "store` cares for files of worlds, `cairnd mesh` reads meshes, `cairnd\n"
		    "stability` tells whether a scene stands, `cairnd scene` prints one, `cairnd draw`\n"
		    "draws it, `cairnd pack` moves the polygons of a drawing together, or the\n"
		    "bodies of a scene to rest.\n\n");
}

size_t options_help(enum options_command command, char *text, size_t bytes)
{
	struct text_writer writer = { text, bytes, 0 };
	put_command(&writer, command);
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
		const struct option *option = &OPTIONS[i];
		if (option->command != command)
			continue;
		char left[NAME_BYTES * 2];
		snprintf(left, sizeof left, "--%s%s%s", option->name,
			 option->argument != NULL ? " " : "",
			 option->argument != NULL ? option->argument : "");
		put(&writer, "  %-28s %s", left, option->help);
		if (option->initial != NULL && option->kind != KIND_FLAG)
			put(&writer, " (default %s)", option->initial);
		put(&writer, "\n");
	}
	put(&writer, "  %-28s %s\n", "--help", "print this");
	put(&writer, "  %-28s %s\n", "--version", "print the version");
	put(&writer, "\nEach option can also be set in the environment: --step-workers as "
		     "CAIRN_STEP_WORKERS.\n");
	return writer.used;
}

/* ---- addresses ------------------------------------------------------------------------------- */
enum status options_web_address(const char *text, const char *option, struct address *out,
				struct reason *why)
{
	char full[ADDRESS_TEXT_MAX + 8];
	if (strncmp(text, "unix:", 5) == 0)
		return reason_set(why, STATUS_TYPE, -1, option,
				  "--%s: \"%.40s\" is not allowed; give HOST:PORT", option, text);
	snprintf(full, sizeof full, "%s%s", strncmp(text, "tcp:", 4) == 0 ? "" : "tcp:", text);
	enum status status = address_parse(full, out, why);
	if (status != STATUS_OK && why != NULL)
		snprintf(why->field, sizeof why->field, "%s", option);
	return status;
}

enum status options_addresses(const struct options *options, struct address *out, uint32_t *count,
			      struct reason *why)
{
	enum status status = STATUS_OK;
	char text[ADDRESS_TEXT_MAX + 8];
	*count = 0;
	for (uint32_t i = 0; status == STATUS_OK && i < options->listen.count; i++) {
		const char *item = options->listen.items[i];
		bool bare = strncmp(item, "tcp:", 4) != 0 && strncmp(item, "unix:", 5) != 0;
		snprintf(text, sizeof text, "%s%s", bare ? "tcp:" : "", item);
		status = address_parse(text, &out[(*count)++], why);
	}
	if (status == STATUS_OK && options->unix_path != NULL) {
		snprintf(text, sizeof text, "unix:%s", options->unix_path);
		status = address_parse(text, &out[(*count)++], why);
	}
	if (status == STATUS_OK && *count == 0 && options->tls.count == 0)
		status = address_parse("tcp:127.0.0.1:7411", &out[(*count)++], why);
	return status;
}

bool options_proxy_from(const struct options *options, enum address_kind kind,
			const uint8_t octets[16], bool local)
{
	struct address_network network;
	for (uint32_t i = 0; i < options->proxy_from.count; i++)
		if (network_parse(options->proxy_from.items[i], &network, NULL) == STATUS_OK &&
		    network_has(&network, kind, octets))
			return true;
	return options->proxy_from.count == 0 && local;
}

enum status options_tls_addresses(const struct options *options, struct address *out,
				  uint32_t *count, struct reason *why)
{
	enum status status = STATUS_OK;
	*count = 0;
	for (uint32_t i = 0; status == STATUS_OK && i < options->tls.count; i++)
		status = options_web_address(options->tls.items[i], "tls", &out[(*count)++], why);
	return status;
}
