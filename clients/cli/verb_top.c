/* verb_top.c: the verb top: the worlds, sessions and store of a server, again and again. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/verbs.h"
#include "server/base/array.h"

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

/* ---- stages -------------------------------------------------------------------------------------- */

enum { STAGES_KEPT = 32, STAGES_SHOWN = 3 };

/* Time in each stage of a world's ticks, of those that the server profiled. */
struct stage_times {
	char world[WIRE_NAME_MAX + 1];
	uint32_t count;
	struct stage_time {
		char name[WIRE_NAME_MAX + 1];
		double ns;
	} items[STAGES_KEPT];
};

/* A page's worlds as they were on the page before. */
struct top {
	double bytes_in, bytes_out; /* of the server, so far */
	ARRAY_OF(struct stage_times) worlds;
};

static struct stage_times read_stages(struct wire_slice world)
{
	struct stage_times times = { .count = 0 };
	struct wire_slice map;
	struct wire_token token;
	text_of(world, "name", times.world, sizeof times.world);
	if (!find_key(world, "stage_ns", &map))
		return times;
	struct wire_cursor in = wire_cursor_of(map);
	if (wire_next(&in, &token) != STATUS_OK || token.type != WIRE_TOKEN_MAP)
		return times;
	while (times.count < MIN_OF(token.count, (uint32_t)STAGES_KEPT)) {
		struct stage_time *item = &times.items[times.count];
		struct wire_token name;
		if (wire_next(&in, &name) != STATUS_OK || name.type != WIRE_TOKEN_TEXT ||
		    wire_take_real(&in, &item->ns) != STATUS_OK)
			break;
		snprintf(item->name, sizeof item->name, "%.*s", (int)name.count,
			 (const char *)name.at);
		times.count++;
	}
	return times;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct stage_time *)a)->ns, y = ((const struct stage_time *)b)->ns;
	return (x < y) - (x > y);
}

/* What was spent since the page before, as parts of 1, the largest first. A world whose ticks were not
 * profiled since then has what was spent since it began. */
static struct stage_times shares_since(struct top *top, struct wire_slice world)
{
	struct stage_times now = read_stages(world), shares = now;
	struct stage_times *before = NULL;
	double sum = 0, all = 0;
	for (uint32_t i = 0; i < top->worlds.count && before == NULL; i++)
		if (strcmp(top->worlds.items[i].world, now.world) == 0)
			before = &top->worlds.items[i];
	for (uint32_t i = 0; i < now.count; i++) {
		double earlier = before != NULL && i < before->count ? before->items[i].ns : 0;
		/* A world that was made anew under its name begins at 0. */
		shares.items[i].ns = now.items[i].ns >= earlier ? now.items[i].ns - earlier : 0;
		sum += shares.items[i].ns;
		all += now.items[i].ns;
	}
	for (uint32_t i = 0; i < now.count; i++)
		shares.items[i].ns = sum > 0   ? shares.items[i].ns / sum
				     : all > 0 ? now.items[i].ns / all
					       : 0;
	if (before == NULL && ARRAY_RESERVE(&top->worlds, top->worlds.count + 1u) == STATUS_OK)
		before = &top->worlds.items[top->worlds.count++];
	if (before != NULL)
		*before = now;
	qsort(shares.items, shares.count, sizeof *shares.items, by_time);
	return shares;
}

static void print_shares(const struct cli *cli, const struct stage_times *shares)
{
	uint32_t shown = cli->json ? shares->count : MIN_OF(shares->count, (uint32_t)STAGES_SHOWN);
	for (uint32_t i = 0; i < shown; i++) {
		const struct stage_time *share = &shares->items[i];
		char key[sizeof share->name + sizeof "stage_"];
		snprintf(key, sizeof key, "stage_%s", share->name);
		if (cli->json)
			out_real(cli, key, share->ns);
		else if (share->ns > 0)
			printf(" %s %.0f%%", share->name, 100 * share->ns);
	}
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

static void print_world(const struct cli *cli, struct top *top, struct wire_slice world)
{
	const struct world_line line = read_line(world);
	const struct stage_times shares = shares_since(top, world);
	if (!cli->json) {
		printf("%-20.20s %-8s %-10.10s %10.0f %7.0f %7.0f %8.0f %5.0f %8.3f %8.3f "
		       "%6.0f %7.0f %6.0f %9.0f ",
		       line.name, mode_name(line.mode), line.method, line.tick, line.bodies,
		       line.awake, line.contacts, line.iterations, line.p50_ms, line.p99_ms,
		       line.late, line.dropped, line.behind, line.file_kib);
		print_shares(cli, &shares);
		putchar('\n');
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
	print_shares(cli, &shares);
	out_end(cli);
}

static void print_server(const struct cli *cli, struct top *top, struct wire_slice server,
			 double seconds)
{
	double all_in = number_of(server, "bytes_in"), all_out = number_of(server, "bytes_out");
	double in = seconds > 0 ? (all_in - top->bytes_in) / seconds : 0;
	double out = seconds > 0 ? (all_out - top->bytes_out) / seconds : 0;
	top->bytes_in = all_in;
	top->bytes_out = all_out;
	if (!cli->json) {
		printf("sessions %.0f  lost %.0f  queued %.0f B  in %.0f B/s  out %.0f B/s  "
		       "workers %.0f  files refused %.0f\n\n",
		       number_of(server, "sessions"), number_of(server, "sessions_lost"),
		       number_of(server, "queued_bytes"), in, out, number_of(server, "workers"),
		       number_of(server, "files_refused"));
		printf("%-20s %-8s %-10s %10s %7s %7s %8s %5s %8s %8s %6s %7s %6s %9s  %s\n",
		       "world", "mode", "method", "tick", "bodies", "awake", "contacts", "iter",
		       "ms p50", "ms p99", "late", "dropped", "behind", "file KiB", "stages");
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

static enum status print_page(struct cli *cli, struct top *top, double seconds)
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
	print_server(cli, top, server, seconds);
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count && wire_skip(&items, &worlds) == STATUS_OK; i++)
		print_world(cli, top, worlds);
	fflush(stdout);
	return STATUS_OK;
}

int verb_top(struct cli *cli)
{
	const char *every = cli_option(cli, "every", 0), *times = cli_option(cli, "times", 0);
	struct top top = { 0 };
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
		if (print_page(cli, &top, passed) != STATUS_OK)
			break;
	}
	ARRAY_RELEASE(&top.worlds);
	return cli->why.status == STATUS_OK ? EXIT_SUCCESS : cli_fail(cli);
}
