/* verb_schema.c: the verb schema: every list of the wire as one JSON document, so that a client
 * in another language is generated and not copied from docs/PROTOCOL.md. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "protocol/capabilities.h"
#include "protocol/columns.h"
#include "protocol/handshake.h"
#include "server/base/json_text.h"

/* ---- JSON ---------------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 8 };
static struct {
	int depth;
	bool empty[DEPTH_MAX]; /* the container has no member yet */
} document;

/* Begins a member; `key` is NULL in a list. Containers of the first two levels get lines of
 * their own. */
static void begin_member(const char *key)
{
	if (document.depth > 0 && !document.empty[document.depth])
		putchar(',');
	document.empty[document.depth] = false;
	if (document.depth > 0 && document.depth <= 2)
		printf("\n%*s", document.depth, "");
	if (key == NULL)
		return;
	json_text_print(stdout, key, strlen(key));
	fputs(": ", stdout);
}

static void open_with(const char *key, char bracket)
{
	begin_member(key);
	putchar(bracket);
	document.empty[++document.depth] = true;
}

static void close_with(char bracket)
{
	if (document.depth <= 2)
		printf("\n%*s", document.depth - 1, "");
	document.depth--;
	putchar(bracket);
}

static void say_text(const char *key, const char *value)
{
	begin_member(key);
	json_text_print(stdout, value, strlen(value));
}

static void say_number(const char *key, double value)
{
	begin_member(key);
	printf("%.17g", value);
}

static void say_truth(const char *key, bool value)
{
	begin_member(key);
	fputs(value ? "true" : "false", stdout);
}

static void say_numbered(double value, const char *name, const char *doc)
{
	open_with(NULL, '{');
	say_number("number", value);
	say_text("name", name);
	say_text("doc", doc);
	close_with('}');
}

/* ---- lists --------------------------------------------------------------------------------------- */

static void say_statuses(void)
{
	open_with("statuses", '[');
#define STATUS(value, NAME, name, doc) say_numbered(value, #name, doc);
#include "server/base/status.def"
	close_with(']');
}

static void say_events(void)
{
	open_with("events", '[');
	for (uint8_t kind = 1; strcmp(event_name(kind), "?") != 0; kind++)
		say_numbered(kind, event_name(kind), "");
	close_with(']');
}

static const char *kind_name(enum wire_kind kind)
{
	static const char *const names[] = {
		[WIRE_KIND_UINT] = "uint",	 [WIRE_KIND_INT] = "int",
		[WIRE_KIND_REAL] = "real",	 [WIRE_KIND_TEXT] = "text",
		[WIRE_KIND_BIN] = "bin",	 [WIRE_KIND_NAME] = "name",
		[WIRE_KIND_HASH] = "hash",	 [WIRE_KIND_OPTION] = "option",
		[WIRE_KIND_VERSION] = "version", [WIRE_KIND_RATE] = "rate",
		[WIRE_KIND_BOX] = "box",	 [WIRE_KIND_CAPS] = "caps",
		[WIRE_KIND_LIMITS] = "limits",	 [WIRE_KIND_IDS] = "ids",
		[WIRE_KIND_REALS] = "reals",	 [WIRE_KIND_LIST] = "list",
		[WIRE_KIND_MAP] = "map",	 [WIRE_KIND_RAW] = "raw",
	};
	return names[kind];
}

static bool has_fallback(enum wire_kind kind)
{
	return kind == WIRE_KIND_UINT || kind == WIRE_KIND_INT || kind == WIRE_KIND_REAL;
}

static void say_message(const struct message_info *info)
{
	static const char *const from[] = {
		[WIRE_FROM_CLIENT] = "client",
		[WIRE_FROM_SERVER] = "server",
		[WIRE_FROM_EITHER] = "either",
	};
	open_with(NULL, '{');
	say_number("number", info->type);
	say_text("name", info->name);
	say_text("doc", info->doc);
	say_text("from", from[info->from]);
	say_text("layout", info->layout == WIRE_LAYOUT_MAP ? "map" : "array");
	say_text("role", wire_role_name(info->role));
	say_truth("reserved", info->reserved);
	open_with("fields", '[');
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct message_field *field = &info->fields[i];
		open_with(NULL, '{');
		say_text("name", field->name);
		say_text("kind", kind_name(field->kind));
		say_truth("needed", field->needed);
		say_number("max", field->max);
		if (!field->needed && has_fallback(field->kind))
			say_number("fallback", (double)field->fallback);
		say_text("doc", field->doc);
		close_with('}');
	}
	close_with(']');
	close_with('}');
}

static void say_command(const struct command_info *info)
{
	open_with(NULL, '{');
	say_number("number", info->op);
	say_text("name", info->name);
	say_truth("reserved", info->reserved);
	if (!info->reserved) {
		say_text("doc", info->doc);
		say_text("result", command_result_name(info->result));
		say_number("needed", info->needed);
	}
	open_with("fields", '[');
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct command_field *field = &info->fields[i];
		open_with(NULL, '{');
		say_text("name", field->name);
		say_text("type", field_type_name(field->type));
		say_number("min", field->min);
		say_number("max", field->max);
		say_number("default", field->initial);
		say_text("unit", field->unit);
		say_text("doc", field->doc);
		close_with('}');
	}
	close_with(']');
	close_with('}');
}

static void say_query(const struct query_info *info)
{
	static const char *const types[] = {
		[WIRE_ASK_U32] = "u32",
		[WIRE_ASK_REAL] = "real",
		[WIRE_ASK_LENGTH] = "length",
		[WIRE_ASK_PLACE] = "place",
		[WIRE_ASK_DIRECTION] = "direction",
		[WIRE_ASK_WAY] = "way",
		[WIRE_ASK_ROTATION] = "rotation",
		[WIRE_ASK_SHAPE] = "shape",
		[WIRE_ASK_NAME] = "name",
		[WIRE_ASK_BODIES] = "bodies",
		[WIRE_ASK_NUMBERS] = "numbers",
	};
	open_with(NULL, '{');
	say_number("number", info->number);
	say_text("name", info->name);
	say_truth("reserved", info->reserved);
	say_text("doc", info->doc);
	if (!info->reserved) {
		say_text("answer", info->answer);
		say_text("about", info->about);
	}
	open_with("fields", '[');
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct query_field *field = &info->fields[i];
		open_with(NULL, '{');
		say_text("name", field->name);
		say_text("type", types[field->type]);
		say_truth("needed", field->needed);
		say_number("min", field->min);
		say_number("max", field->max);
		if (!field->needed)
			say_number("fallback", field->fallback);
		close_with('}');
	}
	close_with(']');
	close_with('}');
}

static void say_column(double bit, const char *name, double bytes, const char *doc)
{
	open_with(NULL, '{');
	say_number("bit", bit);
	say_text("name", name);
	say_number("bytes", bytes);
	say_text("doc", doc);
	close_with('}');
}

static void say_columns(void)
{
	open_with("columns", '[');
#define COLUMN(bit, NAME, name, bytes, doc) say_column(bit, #name, bytes, doc);
#include "protocol/columns.def"
	close_with(']');
	open_with("joint_columns", '[');
#define JOINT_COLUMN(bit, NAME, name, bytes, doc) say_column(bit, #name, bytes, doc);
#include "protocol/columns.def"
	close_with(']');
}

static void say_parameter(double row, const char *name, const char *kind, double initial,
			  double min, double max, const char *unit, const char *methods,
			  const char *doc)
{
	open_with(NULL, '{');
	say_number("number", row);
	say_text("name", name);
	say_truth("whole", strcmp(kind, "WHOLE") == 0);
	say_number("initial", initial);
	say_number("min", min);
	say_number("max", max);
	say_text("unit", unit);
	say_text("methods", methods);
	say_text("doc", doc);
	close_with('}');
}

static void say_parameters(void)
{
	open_with("parameters", '[');
#define PARAMETER(row, NAME, name, KIND, absent, initial, min, max, unit, methods, doc)            \
	say_parameter(row, name, #KIND, initial, min, max, unit, methods, doc);
#include "server/engine/world/parameters.def"
	close_with(']');
}

/* Words of ENUM fields: which list a field has, and each list by number. */
static void say_words(void)
{
	open_with("words", '[');
#define WORD(LIST, value, word)                                                                    \
	open_with(NULL, '{');                                                                      \
	say_text("list", #LIST);                                                                   \
	say_number("number", value);                                                               \
	say_text("word", #word);                                                                   \
	close_with('}');
#include "server/engine/world/words.def"
	close_with(']');
	open_with("worded", '[');
#define WORDED(COMMAND, field, LIST)                                                               \
	open_with(NULL, '{');                                                                      \
	say_text("command", #COMMAND);                                                             \
	say_text("field", #field);                                                                 \
	say_text("list", #LIST);                                                                   \
	close_with('}');
#include "server/engine/world/words.def"
	close_with(']');
}

int verb_schema(struct cli *cli)
{
	uint32_t count;
	if (!cli_options_known(cli))
		return cli_fail(cli);
	open_with(NULL, '{');
	say_text("version", PACKAGE_VERSION);
	open_with("protocol", '[');
	say_number(NULL, WIRE_MAJOR);
	say_number(NULL, WIRE_MINOR);
	close_with(']');
	say_text("framing",
		 "a frame is a MessagePack bin 32 whose content is [number, field, …] (layout "
		 "array) or [number, {name: field}] (layout map)");
	say_statuses();
	open_with("capabilities", '[');
#define CAPABILITY(bit, NAME, name, doc) say_numbered(bit, #name, doc);
#include "protocol/capabilities.def"
	close_with(']');
	open_with("messages", '[');
	for (size_t i = 0; message_info_at(i) != NULL; i++)
		say_message(message_info_at(i));
	close_with(']');
	open_with("commands", '[');
	const struct command_info *commands = command_list(&count);
	for (uint32_t i = 0; i < count; i++)
		say_command(&commands[i]);
	close_with(']');
	open_with("queries", '[');
	const struct query_info *queries = query_list(&count);
	for (uint32_t i = 0; i < count; i++)
		say_query(&queries[i]);
	close_with(']');
	say_columns();
	say_parameters();
	say_words();
	say_events();
	close_with('}');
	putchar('\n');
	return ferror(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
