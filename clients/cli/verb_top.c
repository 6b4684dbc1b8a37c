/* verb_top.c: the verb top: the worlds, sessions and store of a server, again and again. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/verbs.h"

/* The value of a key of a map of INFO; false if it has none. */
static bool find_key(struct wire_slice map, const char *key, struct wire_slice *out)
{
	struct wire_cursor in = wire_cursor_of(map);
	struct wire_token token;
	if (wire_next(&in, &token) != STATUS_OK || token.type != WIRE_TOKEN_MAP)
		return false;
	for (uint32_t i = token.count; i > 0; i--) {
		struct wire_token name;
		if (wire_next(&in, &name) != STATUS_OK || name.type != WIRE_TOKEN_TEXT ||
		    wire_skip(&in, out) != STATUS_OK)
			return false;
		if (name.count == strlen(key) && memcmp(name.at, key, name.count) == 0)
			return true;
	}
	return false;
}

static double number_of(struct wire_slice map, const char *key)
{
	struct wire_slice value;
	double number = 0;
	if (find_key(map, key, &value)) {
		struct wire_cursor in = wire_cursor_of(value);
		if (wire_take_real(&in, &number) != STATUS_OK)
			number = 0;
	}
	return number;
}

static void text_of(struct wire_slice map, const char *key, char *text, size_t bytes)
{
	struct wire_slice value;
	struct wire_token token;
	text[0] = '\0';
	if (!find_key(map, key, &value))
		return;
	struct wire_cursor in = wire_cursor_of(value);
	if (wire_next(&in, &token) == STATUS_OK && token.type == WIRE_TOKEN_TEXT)
		snprintf(text, bytes, "%.*s", (int)token.count, (const char *)token.at);
}

/* ---- what is printed ----------------------------------------------------------------------------- */

struct world_line {
	char name[WIRE_NAME_MAX + 1], method[WIRE_NAME_MAX + 1];
	double tick, bodies, awake, contacts, iterations, p50_ms, p99_ms, late, dropped, behind,
		file_kib;
	enum wire_mode mode;
};

static struct world_line read_line(struct wire_slice world)
{
	const double ns_per_ms = 1e6;
	struct world_line line = {
		.tick = number_of(world, "tick"),
		.bodies = number_of(world, "bodies"),
		.awake = number_of(world, "awake"),
		.contacts = number_of(world, "contacts"),
		.iterations = number_of(world, "iterations"),
		.p50_ms = number_of(world, "cost_ns_p50") / ns_per_ms,
		.p99_ms = number_of(world, "cost_ns_p99") / ns_per_ms,
		.late = number_of(world, "ticks_late"),
		.dropped = number_of(world, "ticks_dropped"),
		.file_kib = number_of(world, "file_bytes") / 1024,
		.mode = (enum wire_mode)number_of(world, "mode"),
	};
	/* A world without a file has nothing to write. */
	if (line.file_kib > 0)
		line.behind = line.tick - number_of(world, "durable_tick");
	text_of(world, "name", line.name, sizeof line.name);
	text_of(world, "method", line.method, sizeof line.method);
	return line;
}

static void print_world(const struct cli *cli, struct wire_slice world)
{
	const struct world_line line = read_line(world);
	if (!cli->json) {
		printf("%-20.20s %-8s %-10.10s %10.0f %7.0f %7.0f %8.0f %5.0f %8.3f %8.3f "
		       "%6.0f %7.0f %6.0f %9.0f\n",
		       line.name, mode_name(line.mode), line.method, line.tick, line.bodies,
		       line.awake, line.contacts, line.iterations, line.p50_ms, line.p99_ms,
		       line.late, line.dropped, line.behind, line.file_kib);
		return;
	}
	out_begin(cli);
	out_text(cli, "world", line.name);
	out_text(cli, "mode", mode_name(line.mode));
	out_text(cli, "method", line.method);
	out_real(cli, "tick", line.tick);
	out_real(cli, "bodies", line.bodies);
	out_real(cli, "awake", line.awake);
	out_real(cli, "contacts", line.contacts);
	out_real(cli, "iterations", line.iterations);
	out_real(cli, "step_ms_p50", line.p50_ms);
	out_real(cli, "step_ms_p99", line.p99_ms);
	out_real(cli, "ticks_late", line.late);
	out_real(cli, "ticks_dropped", line.dropped);
	out_real(cli, "ticks_not_on_disk", line.behind);
	out_real(cli, "file_kib", line.file_kib);
	out_end(cli);
}

/* Bytes that the server has sent and received so far. */
struct traffic {
	double in, out;
};

static void print_server(const struct cli *cli, struct wire_slice server, struct traffic *before,
			 double seconds)
{
	const struct traffic now = { number_of(server, "bytes_in"),
				     number_of(server, "bytes_out") };
	double in = seconds > 0 ? (now.in - before->in) / seconds : 0;
	double out = seconds > 0 ? (now.out - before->out) / seconds : 0;
	*before = now;
	if (!cli->json) {
		printf("sessions %.0f  lost %.0f  queued %.0f B  in %.0f B/s  out %.0f B/s  "
		       "workers %.0f  files refused %.0f\n\n",
		       number_of(server, "sessions"), number_of(server, "sessions_lost"),
		       number_of(server, "queued_bytes"), in, out, number_of(server, "workers"),
		       number_of(server, "files_refused"));
		printf("%-20s %-8s %-10s %10s %7s %7s %8s %5s %8s %8s %6s %7s %6s %9s\n", "world",
		       "mode", "method", "tick", "bodies", "awake", "contacts", "iter", "ms p50",
		       "ms p99", "late", "dropped", "behind", "file KiB");
		return;
	}
	out_begin(cli);
	out_real(cli, "sessions", number_of(server, "sessions"));
	out_real(cli, "sessions_lost", number_of(server, "sessions_lost"));
	out_real(cli, "queued_bytes", number_of(server, "queued_bytes"));
	out_real(cli, "bytes_in_per_second", in);
	out_real(cli, "bytes_out_per_second", out);
	out_real(cli, "workers", number_of(server, "workers"));
	out_real(cli, "files_refused", number_of(server, "files_refused"));
	out_end(cli);
}

static enum status print_page(struct cli *cli, struct traffic *before, double seconds)
{
	struct message reply;
	struct wire_slice server, worlds;
	struct wire_list list;
	enum status status = cairn_info(cli->client, "", &reply, &cli->why);
	if (status != STATUS_OK)
		return status;
	struct wire_slice info = reply.reply.value;
	struct wire_cursor in = { 0 };
	if (find_key(info, "worlds", &worlds))
		in = wire_cursor_of(worlds);
	if (!find_key(info, "server", &server) || wire_take_list(&in, &list) != STATUS_OK)
		return reason_set(&cli->why, STATUS_MALFORMED, -1, "info",
				  "the server's answer to INFO has no worlds");
	if (!cli->json && isatty(STDOUT_FILENO) == 1)
		fputs("\033[H\033[J", stdout); /* clears the screen */
	print_server(cli, server, before, seconds);
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count && wire_skip(&items, &worlds) == STATUS_OK; i++)
		print_world(cli, worlds);
	fflush(stdout);
	return STATUS_OK;
}

int verb_top(struct cli *cli)
{
	const char *every = cli_option(cli, "every", 0), *times = cli_option(cli, "times", 0);
	struct traffic before = { 0 };
	uint64_t left = UINT64_MAX;
	double seconds = 2;
	if ((every != NULL && !cli_number(cli, every, "every", &seconds)) ||
	    (times != NULL && !cli_count(cli, times, "times", &left)) || !cli_options_known(cli))
		return cli_fail(cli);
	if (!(seconds >= 0.1 && seconds <= 3600)) {
		reason_set(&cli->why, STATUS_RANGE, -1, "every",
			   "--every %s: it must be 0.1 to 3600 s", every);
		return cli_fail(cli);
	}
	for (double passed = 0; left > 0; left--, passed = seconds) {
		if (passed > 0)
			poll(NULL, 0, (int)(seconds * 1000));
		if (print_page(cli, &before, passed) != STATUS_OK)
			return cli_fail(cli);
	}
	return EXIT_SUCCESS;
}
