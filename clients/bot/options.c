/* options.c: the command line of cairn-bot, parsed with one table. Contradictory options are
 * refused before any connection is made. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/bot/bot.h"
#include "server/base/output_file.h"
#include "server/base/suggestion.h"

enum value { VALUE_TEXT, VALUE_COUNT, VALUE_SEED, VALUE_REAL, VALUE_PROFILE };

struct option_row {
	const char *name, *argument, *help;
	enum value value;
	size_t offset;
	double least, most;
};

#define ROW(VALUE, field, name, argument, least, most, help)                                       \
	{                                                                                          \
		name, argument, help, VALUE_##VALUE, offsetof(struct bot_options, field), least,   \
			most                                                                       \
	}

static const struct option_row ROWS[] = {
	ROW(TEXT, address, "address", "ADDRESS", 0, 0,
	    "unix:PATH or tcp:HOST:PORT of the server (tcp:127.0.0.1:7411)"),
	ROW(TEXT, world, "world", "NAME", 0, 0, "world to join; it must be running"),
	ROW(COUNT, count[BOT_PLAYER], "players", "N", 0, BOT_SESSIONS_MAX,
	    "sessions that spawn a ball and push it"),
	ROW(COUNT, count[BOT_OBSERVER], "observers", "N", 0, BOT_SESSIONS_MAX,
	    "sessions that only watch"),
	ROW(COUNT, count[BOT_STALLER], "stallers", "N", 0, BOT_SESSIONS_MAX,
	    "sessions that watch and sometimes stop reading"),
	ROW(COUNT, count[BOT_LIAR], "liars", "N", 0, BOT_SESSIONS_MAX,
	    "peers that send hostile or malformed bytes"),
	ROW(REAL, seconds, "seconds", "S", 0.1, 86400, "duration of the run, seconds (10)"),
	ROW(SEED, seed, "seed", "N", 0, 0, "seed of the bots' actions (1)"),
	ROW(REAL, commands, "commands", "HZ", 0.01, 1000, "batches a second of each player (10)"),
	ROW(PROFILE, profile, "profile", "NAME", 0, 0, "plain, exact, view or sim (view)"),
	ROW(COUNT, network.delay_ms, "delay", "MS", 0, 10000, "network: delay in each direction"),
	ROW(COUNT, network.jitter_ms, "jitter", "MS", 0, 10000,
	    "network: random extra delay, at most this much"),
	ROW(COUNT, network.stall_ms, "stall", "MS", 0, 60000, "network: length of a stall"),
	ROW(COUNT, network.stall_every_ms, "stall-every", "MS", 0, 600000,
	    "network: time between stalls; more than --stall"),
	ROW(COUNT, network.half_open_s, "half-open", "S", 0, 86400,
	    "network: connections carry nothing after this time, but stay open; less than --seconds"),
	ROW(COUNT, limit.latency_p99_ms, "max-latency", "MS", 0, 60000,
	    "fail if the 99th percentile of command latency is above"),
	ROW(COUNT, limit.lateness_p99_ms, "max-lateness", "MS", 0, 60000,
	    "fail if the 99th percentile of frame lateness is above"),
	ROW(REAL, limit.late, "max-late", "PART", 0, 1,
	    "fail if a larger share of frames is more than a tick late"),
	ROW(TEXT, json, "json", "FILE", 0, 0, "also write the report to this file"),
};

bool bot_option(uint32_t index, struct bot_option *out)
{
	if (index >= COUNT_OF(ROWS))
		return false;
	*out = (struct bot_option){ ROWS[index].name, ROWS[index].argument, ROWS[index].help };
	return true;
}

void bot_usage(void)
{
	puts("usage: cairn-bot --world NAME [--players N] [--observers N] [--stallers N] [--liars N] …\n");
	struct bot_option option;
	for (uint32_t i = 0; bot_option(i, &option); i++) {
		char left[32];
		snprintf(left, sizeof left, "--%s %s", option.name, option.argument);
		printf("  %-22s %s\n", left, option.help);
	}
	puts("\nExit status: 0 no threshold was exceeded, 1 one was or a mirror diverged, 2 the run "
	     "was not possible.");
}

static enum status set_number(const struct option_row *row, void *field, const char *text,
			      struct reason *why)
{
	char *end = NULL;
	double number = strtod(text, &end);
	if (end == text || *end != '\0' || !(number >= row->least && number <= row->most))
		return reason_set(why, STATUS_RANGE, -1, row->name,
				  "--%s: %.40s must be a number within %g … %g", row->name, text,
				  row->least, row->most);
	if (row->value == VALUE_COUNT && number != (uint32_t)number)
		return reason_set(why, STATUS_TYPE, -1, row->name,
				  "--%s: %.40s must be a whole number within %g … %g", row->name,
				  text, row->least, row->most);
	if (row->value == VALUE_REAL)
		*(double *)field = number;
	else
		*(uint32_t *)field = (uint32_t)number;
	return STATUS_OK;
}

static enum status set_profile(enum wire_profile *field, const char *text, struct reason *why)
{
	static const char *const NAMES[] = { "plain", "exact", "view", "sim" };
	for (uint32_t i = 0; i < COUNT_OF(NAMES); i++)
		if (strcmp(text, NAMES[i]) == 0) {
			*field = (enum wire_profile)i;
			return STATUS_OK;
		}
	return reason_set(why, STATUS_RANGE, -1, "profile",
			  "--profile: %.40s is not one of plain, exact, view, sim", text);
}

static enum status set_seed(uint64_t *field, const char *text, struct reason *why)
{
	char *end;
	errno = 0;
	*field = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
		return STATUS_OK;
	return reason_set(why, STATUS_TYPE, -1, "seed",
			  "--seed: %.40s must be a whole number from 0 to 18446744073709551615",
			  text);
}

static enum status set_option(struct bot_options *options, const struct option_row *row,
			      const char *text, struct reason *why)
{
	void *field = (char *)options + row->offset;
	switch (row->value) {
	case VALUE_TEXT:
		*(const char **)field = text;
		return STATUS_OK;
	case VALUE_SEED:
		return set_seed(field, text, why);
	case VALUE_PROFILE:
		return set_profile(field, text, why);
	case VALUE_COUNT:
	case VALUE_REAL:
		break;
	}
	return set_number(row, field, text, why);
}

static enum status check_options(const struct bot_options *options, struct reason *why)
{
	uint64_t all = 0;
	for (uint32_t kind = 0; kind < BOT_KINDS; kind++)
		all += options->count[kind];
	if (all == 0 || all > BOT_SESSIONS_MAX)
		return reason_set(
			why, STATUS_RANGE, -1, "players",
			"--players, --observers, --stallers and --liars: %llu in all, not "
			"within 1 … %d",
			(unsigned long long)all, BOT_SESSIONS_MAX);
	if (options->world == NULL && all > options->count[BOT_LIAR])
		return reason_set(why, STATUS_MISSING, -1, "world",
				  "--world NAME is missing; only liars run without a world");
	/* Liars and the relay handle raw bytes, so TLS and WebSocket are excluded. */
	bool plain = strncmp(options->address, "tls:", 4) != 0 &&
		     strncmp(options->address, "ws", 2) != 0;
	if (!plain && (options->count[BOT_LIAR] > 0 || options->network.delay_ms > 0 ||
		       options->network.jitter_ms > 0 || options->network.stall_ms > 0 ||
		       options->network.half_open_s > 0))
		return reason_set(why, STATUS_UNSUPPORTED, -1, "address",
				  "liars and a bad network need --address tcp:… or unix:…");
	if (options->network.stall_ms > 0 &&
	    options->network.stall_every_ms <= options->network.stall_ms)
		return reason_set(why, STATUS_RANGE, -1, "stall-every",
				  "--stall-every %u ms must be longer than --stall %u ms",
				  options->network.stall_every_ms, options->network.stall_ms);
	if (options->network.stall_ms == 0 && options->network.stall_every_ms > 0)
		return reason_set(
			why, STATUS_MISSING, -1, "stall-every",
			"--stall-every %u ms has no effect without --stall MS: give both, "
			"or leave it out",
			options->network.stall_every_ms);
	if (options->network.half_open_s >= options->seconds && options->network.half_open_s > 0)
		return reason_set(why, STATUS_RANGE, -1, "half-open",
				  "--half-open %u s comes after the end of the run: give less than "
				  "--seconds %g",
				  options->network.half_open_s, options->seconds);
	const struct output_file json = { options->json, "json", "JSON", ".json", false };
	return output_files_check(&json, 1, NULL, why);
}

static enum status refuse_word(const char *word, struct reason *why)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(word + strspn(word, "-"));
	for (size_t i = 0; i < COUNT_OF(ROWS); i++)
		suggestion_offer(&suggestion, ROWS[i].name);
	bool known = suggestion.nearest != NULL && suggestion.distance == 0;
	return reason_set(why, STATUS_TYPE, -1, "options", "%.60s: %s%s; see --help", word,
			  known ? "its value is missing" : "there is no such option",
			  known ? "" : suggestion_text(&suggestion, room, sizeof room));
}

enum status bot_options_parse(struct bot_options *options, int argc, char *const argv[],
			      struct reason *why)
{
	struct option table[COUNT_OF(ROWS) + 2] = { 0 };
	for (size_t i = 0; i < COUNT_OF(ROWS); i++)
		table[i] = (struct option){ ROWS[i].name, required_argument, NULL, (int)i };
	table[COUNT_OF(ROWS)] = (struct option){ "help", no_argument, NULL, COUNT_OF(ROWS) };
	*options = (struct bot_options){ .address = "tcp:127.0.0.1:7411",
					 .seed = 1,
					 .seconds = 10,
					 .commands = 10,
					 .profile = WIRE_PROFILE_VIEW,
					 .limit.late = 1 };
	opterr = 0;
	for (int found; (found = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
		if (found == 'h' || found == COUNT_OF(ROWS))
			return STATUS_AGAIN;
		if (found == '?')
			return refuse_word(argv[optind - 1], why);
		enum status status = set_option(options, &ROWS[found], optarg, why);
		if (status != STATUS_OK)
			return status;
	}
	if (optind < argc)
		return reason_set(why, STATUS_TYPE, -1, "options", "%s: not an option; see --help",
				  argv[optind]);
	return check_options(options, why);
}
