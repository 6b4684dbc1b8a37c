/* manual.c: writes the manual pages and the completion scripts of the programs from the lists
 * that the programs are made of: verbs.def, options.def, schema.def, commands.def, status.def,
 * the options of cairn-bot, and cairn.h.
 *
 *	manual page cairn | cairnd | cairn-bot | cairnd.yaml | cairn-scene | libcairn HEADER
 *	manual completion bash | zsh | fish cairn | cairnd | cairn-bot
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/bot/bot.h"
#include "clients/cli/cli.h"
#include "clients/cli/completion.h"
#include "protocol/scene/schema.h"
#include "server/package/pages.h"

/* ---- lists --------------------------------------------------------------------------------------- */

struct daemon_option {
	const char *command, *kind, *name, *argument, *initial, *help;
	double min, max;
};
static const struct daemon_option OPTIONS[] = {
#define OPTION(command, KIND, field, name, argument, initial, min, max, help)                      \
	{ #command, #KIND, name, argument, initial, help, (double)(min), (double)(max) },
#include "server/options.def"
};

static const struct completion_verb VERBS[] = {
#define VERB(connects, name, usage, help) { #name, usage, help },
#include "clients/cli/verbs.def"
};

/* ---- pages --------------------------------------------------------------------------------------- */

static void say_daemon_options(const char *command)
{
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
		const struct daemon_option *option = &OPTIONS[i];
		if (strcmp(option->command, command) != 0)
			continue;
		roff_item();
		roff_bold("--");
		roff_bold(option->name);
		if (option->argument != NULL) {
			roff_text(" ");
			roff_italic(option->argument);
		}
		roff_line();
		roff_sentence(option->help);
		if (option->initial != NULL && strcmp(option->kind, "FLAG") != 0) {
			roff_text(" Default: ");
			roff_text(option->initial);
			roff_text(".");
		}
		roff_line();
	}
}

static void page_cairn(void)
{
	roff_title("CAIRN", "1", "command line client of a Cairn physics server");
	roff_section("SYNOPSIS");
	roff_paragraph("cairn " CLI_GLOBALS " VERB …");
	roff_section("DESCRIPTION");
	roff_paragraph(
		"cairn connects to a cairnd(8), sends one request and prints the answer. ADDRESS is "
		"tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT, wss://HOST:PORT or unix:PATH. A token is "
		"read from a file or from the environment, because every user of a machine can read "
		"command lines. With --json each record is one line of JSON with the same names, and an "
		"error is one object on standard error.");
	roff_section("VERBS");
	for (size_t i = 0; i < COUNT_OF(VERBS); i++) {
		roff_item();
		roff_bold(VERBS[i].name);
		roff_text(" ");
		roff_text(VERBS[i].usage);
		roff_line();
		roff_sentence(VERBS[i].help);
		roff_line();
	}
	roff_section("EXIT STATUS");
	roff_paragraph(
		"0 if the request was carried out, 1 if it was refused or the connection failed, also for "
		"a value that cannot be and options that exclude each other; 2 if the verb does not have "
		"such words or options. compare, replay, stability and store have answers of their own.");
	roff_section("ENVIRONMENT");
	roff_entry("CAIRN_ADDRESS", "the address of the server, if no option gives one; without it "
				    "tcp:127.0.0.1:7411.");
	roff_entry("CAIRN_TIMEOUT",
		   "milliseconds that an answer is waited for, if --timeout does not "
		   "say; without it 10000.");
	roff_entry("CAIRN_TOKEN", "the token, if no file is given.");
	roff_entry("CAIRN_MESH_PATH", "directories of mesh files of scenes, separated by colons.");
	roff_section("SEE ALSO");
	roff_paragraph("cairnd(8), cairn-bot(1), cairn-scene(5), libcairn(3)");
}

static void page_cairnd(void)
{
	roff_title("CAIRND", "8", "physics server with deterministic worlds");
	roff_section("SYNOPSIS");
	roff_paragraph("cairnd [OPTION]…");
	roff_paragraph("cairnd run SCENE --ticks N [OPTION]…");
	roff_paragraph("cairnd compare SCENE [OPTION]…");
	roff_paragraph("cairnd replay FILE [OPTION]…");
	roff_paragraph("cairnd past FILE [OPTION]…");
	roff_paragraph("cairnd store check|repair|backup|restore FILE [NEW]");
	roff_paragraph("cairnd mesh FILE [OPTION]…");
	roff_paragraph("cairnd stability SCENE [OPTION]…");
	roff_paragraph("cairnd scene tower [OPTION]…");
	roff_paragraph("cairnd draw SCENE|FILE.cairn [OPTION]…");
	roff_paragraph("cairnd pack IN.svg OUT.svg [OPTION]…");
	roff_section("DESCRIPTION");
	roff_paragraph(
		"cairnd owns worlds of rigid bodies and joints, advances each at a fixed rate with a step "
		"whose result is the same bit for bit on every machine, and streams the changes to "
		"clients. Each option can also be set in the environment (--step-workers as "
		"CAIRN_STEP_WORKERS) and in the file of --config (cairnd.yaml(5)). The command line takes "
		"priority over the environment, the environment over the file.");
	roff_section("OPTIONS");
	say_daemon_options("SERVE");
	roff_section("CAIRND RUN");
	roff_paragraph("Steps a scene as fast as possible, without a network.");
	say_daemon_options("RUN");
	roff_section("CAIRND COMPARE");
	roff_paragraph(
		"Steps a scene under several methods side by side, and checks the bounds that it "
		"states.");
	say_daemon_options("COMPARE");
	roff_section("CAIRND REPLAY");
	roff_paragraph("Prints the contents of a world's journal file and verifies its replay.");
	say_daemon_options("REPLAY");
	roff_section("CAIRND PAST");
	roff_paragraph("Answers a question about the past of a world's file, or exports it.");
	say_daemon_options("PAST");
	roff_section("CAIRND STORE");
	roff_paragraph(
		"Checks, repairs, backs up or restores the file of a world. No file is overwritten.");
	say_daemon_options("STORE");
	roff_section("CAIRND MESH");
	roff_paragraph(
		"Checks whether a mesh is a solid, and prints its mass properties and parts.");
	say_daemon_options("MESH");
	roff_section("CAIRND STABILITY");
	roff_paragraph(
		"Whether the bodies of a scene stand, with which forces, and how they begin to "
		"fall.");
	say_daemon_options("STABILITY");
	roff_section("CAIRND SCENE");
	roff_paragraph("Prints the scene of a tower, an arch, dominoes or a card house.");
	say_daemon_options("SCENE");
	roff_section("CAIRND DRAW");
	roff_paragraph("Prints what happens in a planar scene or recording as SVG.");
	say_daemon_options("DRAW");
	roff_section("CAIRND PACK");
	roff_paragraph(
		"Moves the polygons of a drawing together, without overlap at any instant, until the "
		"strip that they lie in cannot become shorter.");
	say_daemon_options("PACK");
	roff_section("SIGNALS");
	roff_entry("SIGTERM, SIGINT",
		   "drain: clients are told to disconnect, worlds are written, the daemon ends; "
		   "a second signal ends it at once.");
	roff_entry("SIGHUP", "read the configuration file, the tokens and the certificate again.");
	roff_section("SEE ALSO");
	roff_paragraph("cairn(1), cairnd.yaml(5), cairn-scene(5), cairn-bot(1)");
}

static void page_bot(void)
{
	struct bot_option option;
	roff_title("CAIRN-BOT", "1", "load generator for a Cairn physics server");
	roff_section("SYNOPSIS");
	roff_paragraph(
		"cairn-bot --world NAME [--players N] [--observers N] [--stallers N] [--liars N] …");
	roff_section("DESCRIPTION");
	roff_paragraph(
		"cairn-bot connects many sessions from one process, lets them play, watch, stop reading or "
		"send hostile bytes, optionally through a bad network that it makes itself without root, and "
		"reports latencies, bytes and hashes.");
	roff_section("OPTIONS");
	for (uint32_t i = 0; bot_option(i, &option); i++) {
		roff_item();
		roff_bold("--");
		roff_bold(option.name);
		roff_text(" ");
		roff_italic(option.argument);
		roff_line();
		roff_sentence(option.help);
		roff_line();
	}
	roff_section("EXIT STATUS");
	roff_paragraph(
		"0 if no threshold was exceeded, 1 if one was or a mirror diverged, 2 if the run was not "
		"possible.");
	roff_section("SEE ALSO");
	roff_paragraph("cairn(1), cairnd(8)");
}

static void page_yaml(void)
{
	roff_title("CAIRND.YAML", "5", "configuration file of cairnd");
	roff_section("DESCRIPTION");
	roff_paragraph(
		"One mapping from names of options of cairnd(8), without their dashes, to a "
		"value, or to a list of values where the option may be given several times. "
		"cairnd reads the file of --config at its start and at SIGHUP; `cairnd --config"
		" FILE --check-config` checks it and the files that it names.");
	roff_section("KEYS");
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
		const struct daemon_option *option = &OPTIONS[i];
		if (strcmp(option->command, "SERVE") != 0 || strcmp(option->name, "config") == 0 ||
		    strcmp(option->name, "check-config") == 0)
			continue;
		roff_item();
		roff_bold(option->name);
		roff_text(": ");
		roff_italic(option->argument != NULL ? option->argument : "true|false");
		roff_line();
		roff_sentence(option->help);
		if (option->max > 0)
			roff_range(option->min, option->max);
		if (option->initial != NULL) {
			roff_text(" Default: ");
			roff_text(option->initial);
			roff_text(".");
		}
		roff_line();
	}
	roff_section("EXAMPLE");
	roff_code("listen: [tcp:127.0.0.1:7411, unix:/run/cairnd/cairnd.sock]\n"
		  "data: /var/lib/cairnd\n"
		  "slow-tick-us: 8000\n");
	roff_section("SEE ALSO");
	roff_paragraph("cairnd(8)");
}

static void say_schema_key(const struct schema_key *key)
{
	roff_item();
	roff_bold(key->name);
	if (key->type == TYPE_WORD) {
		roff_text(": ");
		roff_italic(key->unit);
	}
	roff_line();
	if (key->need)
		roff_text("Required. ");
	roff_sentence(key->doc);
	bool number = key->type == TYPE_REAL || key->type == TYPE_COUNT ||
		      key->type == TYPE_INTEGER || key->type == TYPE_VEC3;
	if (number)
		roff_range(key->min, key->max);
	if (number && key->unit[0] != '\0') {
		roff_text(" Unit: ");
		roff_text(key->unit);
		roff_text(".");
	}
	roff_line();
}

static void page_scene(void)
{
	roff_title("CAIRN-SCENE", "5", "scene files of Cairn");
	roff_section("DESCRIPTION");
	roff_paragraph(
		"A scene is a YAML (or JSON) file with the properties of a world, its shapes, bodies and "
		"joints. `cairnd --scene FILE`, `cairnd run FILE` and `cairn load WORLD FILE` read it and "
		"end in the same state. Lengths are metres, masses kilograms, times seconds. In bodies and "
		"placements `position` may stand for `at`.");
	roff_section("TABLES");
	for (uint32_t i = 0; i < SCHEMA_TABLES; i++) {
		roff_subsection(schema_tables[i].name);
		roff_sentence(schema_tables[i].doc);
		roff_line();
		for (uint32_t k = 0; k < schema_tables[i].key_count; k++)
			say_schema_key(&schema_tables[i].keys[k]);
	}
	roff_section("FILES");
	roff_paragraph("PREFIX/share/cairn/scenes has the scenes that are shipped.");
	roff_section("SEE ALSO");
	roff_paragraph("cairnd(8), cairn(1)");
}

static void page_library(const char *header)
{
	roff_title("LIBCAIRN", "3", "client library of Cairn for C and C++");
	roff_section("SYNOPSIS");
	roff_code("#include <cairn.h>\ncc FILE.c $(pkg-config --cflags --libs cairn)\n");
	roff_header(header);
	roff_section("COMMANDS");
	roff_paragraph(
		"cairn_command_make(CAIRN_COMMAND_NAME) makes each of these with its defaults; cairn.h has "
		"their fields, units and ranges.");
#define COMMAND(number, NAME, name, needed, result, doc) roff_entry(#name, doc);
#include "server/engine/world/commands.def"
	roff_section("QUERIES");
	roff_paragraph(
		"cairn_query_make(CAIRN_QUERY_NAME) makes each of these with its defaults for "
		"cairn_world_query; cairn_manifest.h has their members and answers.");
#define QUERY(number, NAME, name, where, doc, answer, about) roff_entry(#name, doc);
#include "protocol/queries.def"
	roff_section("ERRORS");
#define STATUS(number, NAME, name, text) roff_entry("CAIRN_STATUS_" #NAME, text);
#include "server/base/status.def"
	roff_section("SEE ALSO");
	roff_paragraph("cairn(1), cairnd(8), cairn-scene(5)");
}

static bool print_page(const char *name, const char *header)
{
	if (strcmp(name, "cairn") == 0)
		page_cairn();
	else if (strcmp(name, "cairnd") == 0)
		page_cairnd();
	else if (strcmp(name, "cairn-bot") == 0)
		page_bot();
	else if (strcmp(name, "cairnd.yaml") == 0)
		page_yaml();
	else if (strcmp(name, "cairn-scene") == 0)
		page_scene();
	else if (strcmp(name, "libcairn") == 0 && header != NULL)
		page_library(header);
	else
		return false;
	return true;
}

/* ---- completions --------------------------------------------------------------------------------- */

/* The options of a command of cairnd, as a usage. */
static void daemon_usage(const char *command, char *text, size_t bytes)
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(OPTIONS) && used < bytes; i++)
		if (strcmp(OPTIONS[i].command, command) == 0)
			used += (size_t)snprintf(
				text + used, bytes - used, "[--%s%s%s] ", OPTIONS[i].name,
				OPTIONS[i].argument != NULL ? " " : "",
				OPTIONS[i].argument != NULL ? OPTIONS[i].argument : "");
	ASSERT(used < bytes);
}

static bool print_completion(const char *shell, const char *program)
{
	enum { USAGE_BYTES = 8192 };
	static char serve[USAGE_BYTES], run[USAGE_BYTES], compare[USAGE_BYTES], replay[USAGE_BYTES];
	static char past[USAGE_BYTES], store[USAGE_BYTES], mesh[USAGE_BYTES];
	static char stability[USAGE_BYTES], scene[USAGE_BYTES], draw[USAGE_BYTES],
		pack[USAGE_BYTES];
	struct completion_program out = { .name = program };
	const struct completion_verb commands[] = {
		{ "run", run, "step a scene without a network" },
		{ "compare", compare, "step a scene under several methods" },
		{ "replay", replay, "print and verify a world's file" },
		{ "past", past, "ask a world's file about its past, or export it" },
		{ "store", store, "check, repair, back up or restore a world's file" },
		{ "mesh", mesh, "report a mesh file as a solid" },
		{ "stability", stability, "tell whether a scene stands" },
		{ "scene", scene, "print the scene of a tower" },
		{ "draw", draw, "draw a planar scene or recording" },
		{ "pack", pack, "move the polygons of a drawing together" },
	};
	if (strcmp(program, "cairn") == 0) {
		out.options = CLI_GLOBALS;
		out.verbs = VERBS;
		out.verb_count = COUNT_OF(VERBS);
		out.worlds = true;
	} else if (strcmp(program, "cairnd") == 0) {
		daemon_usage("SERVE", serve, sizeof serve);
		daemon_usage("RUN", run, sizeof run);
		daemon_usage("COMPARE", compare, sizeof compare);
		daemon_usage("REPLAY", replay, sizeof replay);
		daemon_usage("PAST", past, sizeof past);
		daemon_usage("STORE", store, sizeof store);
		daemon_usage("MESH", mesh, sizeof mesh);
		daemon_usage("STABILITY", stability, sizeof stability);
		daemon_usage("SCENE", scene, sizeof scene);
		daemon_usage("DRAW", draw, sizeof draw);
		daemon_usage("PACK", pack, sizeof pack);
		out.options = serve;
		out.verbs = commands;
		out.verb_count = COUNT_OF(commands);
	} else if (strcmp(program, "cairn-bot") == 0) {
		struct bot_option option;
		size_t used = 0;
		for (uint32_t i = 0; bot_option(i, &option); i++)
			used += (size_t)snprintf(serve + used, sizeof serve - used, "[--%s %s] ",
						 option.name, option.argument);
		out.options = serve;
	} else {
		return false;
	}
	return completion_print(&out, shell);
}

int main(int argc, char **argv)
{
	bool known = (argc >= 3 && strcmp(argv[1], "page") == 0 &&
		      print_page(argv[2], argc > 3 ? argv[3] : NULL)) ||
		     (argc == 4 && strcmp(argv[1], "completion") == 0 &&
		      print_completion(argv[2], argv[3]));
	if (!known)
		fputs("usage: manual page NAME [HEADER] | completion SHELL PROGRAM\n", stderr);
	return known && ferror(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
