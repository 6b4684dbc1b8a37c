/* output.c: prints records and MessagePack values as text or, with --json, as JSON, with the same
 * names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clients/cli/cli.h"
#include "server/base/json_text.h"

/* True if the current JSON record has a member already, so that the next one needs a comma before
 * it. */
static bool has_members;

static void write_key(const struct cli *cli, const char *name)
{
	if (!cli->json) {
		printf("%-14s ", name);
		return;
	}
	if (has_members)
		fputs(", ", stdout);
	has_members = true;
	json_text_print(stdout, name, strlen(name));
	fputs(": ", stdout);
}

static void end_member(const struct cli *cli)
{
	if (!cli->json)
		putchar('\n');
}

void out_begin(const struct cli *cli)
{
	has_members = false;
	if (cli->json)
		putchar('{');
}

void out_end(const struct cli *cli)
{
	if (cli->json)
		puts("}");
	fflush(stdout);
}

void out_text(const struct cli *cli, const char *name, const char *value)
{
	write_key(cli, name);
	if (cli->json)
		json_text_print(stdout, value, strlen(value));
	else
		fputs(value, stdout);
	end_member(cli);
}

void out_u64(const struct cli *cli, const char *name, uint64_t value)
{
	write_key(cli, name);
	printf("%" PRIu64, value);
	end_member(cli);
}

/* Text has seven digits; JSON has all, so that a program reads the same bits. */
static void print_real(const struct cli *cli, double value)
{
	printf(cli->json ? "%.17g" : "%.7g", value);
}

void out_real(const struct cli *cli, const char *name, double value)
{
	write_key(cli, name);
	print_real(cli, value);
	end_member(cli);
}

void out_reals(const struct cli *cli, const char *name, const double *values, uint32_t count)
{
	write_key(cli, name);
	if (cli->json)
		putchar('[');
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			fputs(cli->json ? ", " : " ", stdout);
		print_real(cli, values[i]);
	}
	if (cli->json)
		putchar(']');
	end_member(cli);
}

void out_hash(const struct cli *cli, const char *name, uint64_t value)
{
	char text[17];
	snprintf(text, sizeof text, "%016" PRIx64, value);
	out_text(cli, name, text);
}

/* ---- any value ----------------------------------------------------------------------------------- */

static void print_value(const struct cli *cli, struct wire_cursor *in, int depth);

static void print_bin(const struct wire_token *token)
{
	putchar('"');
	for (uint32_t i = 0; i < token->count; i++)
		printf("%02x", token->at[i]);
	putchar('"');
}

static void indent(int depth)
{
	putchar('\n');
	for (int i = 0; i < depth; i++)
		fputs("  ", stdout);
}

/* Prints the items of an array, or the keys and values of a map. In text a map is indented lines. */
static void print_items(const struct cli *cli, struct wire_cursor *in,
			const struct wire_token *token, int depth)
{
	bool map = token->type == WIRE_TOKEN_MAP;
	bool plain = !cli->json;
	if (!plain)
		putchar(map ? '{' : '[');
	for (uint32_t i = 0; i < token->count; i++) {
		if (!plain && i > 0)
			fputs(", ", stdout);
		if (plain && (map || depth == 0))
			indent(depth);
		else if (plain && i > 0)
			putchar(' ');
		if (map) {
			print_value(cli, in, depth);
			fputs(plain ? " " : ": ", stdout);
		}
		print_value(cli, in, depth + 1);
	}
	if (!plain)
		putchar(map ? '}' : ']');
}

static void print_value(const struct cli *cli, struct wire_cursor *in, int depth)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return;
	switch (token.type) {
	case WIRE_TOKEN_NIL:
		fputs("null", stdout);
		break;
	case WIRE_TOKEN_BOOL:
		fputs(token.truth ? "true" : "false", stdout);
		break;
	case WIRE_TOKEN_INTEGER:
		printf("%" PRId64, token.integer);
		break;
	case WIRE_TOKEN_REAL:
		print_real(cli, token.real);
		break;
	case WIRE_TOKEN_TEXT:
		if (cli->json)
			json_text_print(stdout, (const char *)token.at, token.count);
		else
			printf("%-16.*s", (int)token.count, (const char *)token.at);
		break;
	case WIRE_TOKEN_BIN:
		print_bin(&token);
		break;
	case WIRE_TOKEN_ARRAY:
	case WIRE_TOKEN_MAP:
		print_items(cli, in, &token, depth);
		break;
	}
}

void out_value(const struct cli *cli, struct wire_slice value)
{
	struct wire_cursor in = wire_cursor_of(value);
	print_value(cli, &in, 0);
	putchar('\n');
	fflush(stdout);
}

void out_ids(const struct cli *cli, const char *name, struct wire_slice value)
{
	if (!cli->json) {
		out_value(cli, value);
		return;
	}
	struct wire_cursor in = wire_cursor_of(value);
	out_begin(cli);
	write_key(cli, name);
	print_value(cli, &in, 0);
	out_end(cli);
}

/* Within a list has_members tells whether it has an item. */
void out_list_begin(const struct cli *cli, const char *name)
{
	write_key(cli, name);
	putchar('[');
	has_members = false;
}

void out_list_end(const struct cli *cli)
{
	UNUSED(cli);
	putchar(']');
	has_members = true;
}

void out_item_begin(const struct cli *cli)
{
	UNUSED(cli);
	fputs(has_members ? ", {" : "{", stdout);
	has_members = false;
}

void out_item_end(const struct cli *cli)
{
	UNUSED(cli);
	putchar('}');
	has_members = true;
}

void out_world(const struct cli *cli, const struct cairn_world *world)
{
	out_begin(cli);
	out_u64(cli, "world", world->number);
	out_text(cli, "name", world->name);
	out_text(cli, "mode", mode_name(world->mode));
	out_text(cli, "method", world->method);
	out_u64(cli, "epoch", world->epoch);
	out_u64(cli, "tick", world->tick);
	out_u64(cli, "bodies", world->bodies);
	out_real(cli, "rate_hz", (double)world->rate.num / (double)MAX_OF(world->rate.den, 1u));
	out_end(cli);
}

/* ---- names --------------------------------------------------------------------------------------- */

const char *mode_name(enum wire_mode mode)
{
	static const char *const names[] = { "running", "paused", "lockstep", "barrier", "failed" };
	return (size_t)mode < COUNT_OF(names) ? names[mode] : "?";
}
