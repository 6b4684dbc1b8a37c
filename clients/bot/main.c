/* main.c: the program cairn-bot: reads the options, starts the bad network if requested, runs the
 * fleet and prints the report. See bot.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "clients/bot/network.h"
#include "server/base/heap.h"

enum { EXIT_FAILED = 1, EXIT_UNABLE = 2, DESCRIPTORS = 3 * BOT_SESSIONS_MAX + 64 };

static int unable(const struct reason *why)
{
	fprintf(stderr, "cairn-bot: %s\n", why->text);
	return EXIT_UNABLE;
}

/* Raises the limit of descriptors as far as the system allows, because a session behind the relay
 * needs three. */
static void raise_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = MIN_OF(limit.rlim_max, (rlim_t)DESCRIPTORS);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool bad_network(const struct bot_options *options)
{
	return options->network.delay_ms > 0 || options->network.jitter_ms > 0 ||
	       options->network.stall_ms > 0 || options->network.half_open_s > 0;
}

int main(int argc, char *argv[])
{
	struct bot_options options;
	struct bad_network *network = NULL;
	char relay[64];
	struct reason why;
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("cairn-bot " PACKAGE_VERSION);
		return 0;
	}
	enum status status = bot_options_parse(&options, argc, argv, &why);
	if (status == STATUS_AGAIN) {
		bot_usage();
		return 0;
	}
	if (status != STATUS_OK)
		return unable(&why);
	struct tally *tally = heap_alloc_zero(BOT_KINDS * sizeof *tally);
	if (tally == NULL)
		return EXIT_UNABLE;
	raise_limit();
	/* The relay connects to the address of the options, the fleet connects to the relay. */
	struct bot_options behind = options;
	if (bad_network(&options)) {
		status = network_start(&options, &network, relay, &why);
		behind.address = relay;
	}
	if (status == STATUS_OK)
		status = fleet_run(&behind, tally, &why);
	network_stop(network);
	bool passed = status == STATUS_OK && report_print(&options, tally);
	if (status == STATUS_OK && options.json != NULL)
		status = report_json(&options, tally, passed, &why);
	heap_free(tally);
	if (status != STATUS_OK)
		return unable(&why);
	return passed ? 0 : EXIT_FAILED;
}
