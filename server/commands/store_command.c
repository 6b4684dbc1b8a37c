/* store_command.c: `cairnd store`: prints the outcome of store/care.h, as lines and as JSON. */
#include "server/commands/store_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/json_text.h"
#include "server/commands/command_words.h"
#include "server/store/care.h"

enum { EXIT_DAMAGED = 2 };

static enum status run_verb(const struct options *options, struct care_report *report,
			    struct reason *why)
{
	const char *const *words = options->operands.items;
	uint32_t count = options->operands.count;
	if (count == 2 && strcmp(words[0], "check") == 0)
		return care_check(words[1], report, why);
	if (count == 3 && strcmp(words[0], "repair") == 0)
		return care_repair(words[1], words[2], report, why);
	if (count == 3 && strcmp(words[0], "backup") == 0)
		return care_backup(words[1], words[2], report, why);
	if (count == 3 && strcmp(words[0], "restore") == 0)
		return care_restore(words[1], words[2], report, why);
	*report = (struct care_report){ 0 };
	return reason_set(
		why, STATUS_RANGE, -1, "store",
		"give check FILE, repair FILE NEW, backup FILE NEW, or restore BACKUP FILE");
}

static void print_lines(const char *verb, const struct care_report *report)
{
	bool checks = strcmp(verb, "backup") != 0;
	if (report->damage[0] != '\0')
		printf("damage: %s\n", report->damage);
	if (checks && report->proved)
		printf("proved up to epoch %u tick %" PRIu64 ": %" PRIu64 " ticks recomputed\n",
		       (unsigned)report->epoch, report->tick, report->ticks);
	if (checks && report->skipped > 0)
		printf("not recomputed: %" PRIu64 " ticks of incompatible builds\n",
		       report->skipped);
	if (strcmp(verb, "repair") == 0)
		printf("left out: %" PRIu64 " rows\n", report->rows_cut);
	if (strcmp(verb, "check") != 0)
		printf("written: %" PRIu64 " bytes\n", report->bytes);
	else
		printf("%s\n", report->sound ? "sound" : "damaged");
}

static void print_json(const char *verb, const struct care_report *report)
{
	bool checks = strcmp(verb, "backup") != 0;
	printf("{\"verb\": \"%s\"", verb);
	if (checks && report->proved)
		printf(", \"epoch\": %u, \"tick\": %" PRIu64 ", \"ticks\": %" PRIu64
		       ", \"not_made_again\": %" PRIu64,
		       (unsigned)report->epoch, report->tick, report->ticks, report->skipped);
	if (checks) {
		printf(", \"sound\": %s, \"damage\": ", report->sound ? "true" : "false");
		if (report->damage[0] != '\0')
			json_text_print(stdout, report->damage, strlen(report->damage));
		else
			printf("null");
	}
	if (strcmp(verb, "repair") == 0)
		printf(", \"rows_cut\": %" PRIu64, report->rows_cut);
	if (strcmp(verb, "check") != 0)
		printf(", \"bytes\": %" PRIu64, report->bytes);
	printf("}\n");
}

int store_command(const struct options *options)
{
	struct care_report report;
	struct reason why = { 0 };
	enum status status = run_verb(options, &report, &why);
	if (status != STATUS_OK) {
		command_refused("store", "", status_name(status), &why);
		return EXIT_FAILURE;
	}
	const char *verb = options->operands.items[0];
	if (strcmp(options->store_report, "json") == 0)
		print_json(verb, &report);
	else
		print_lines(verb, &report);
	return strcmp(verb, "check") == 0 && !report.sound ? EXIT_DAMAGED : EXIT_SUCCESS;
}
