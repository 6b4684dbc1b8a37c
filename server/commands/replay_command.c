/* replay_command.c: `cairnd replay`: prints the result of replay_file, as lines and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/json_text.h"
#include "server/base/progress_text.h"
#include "server/commands/command_words.h"
#include "server/commands/replay_command.h"
#include "server/io/parallel_pool.h"
#include "server/store/replay.h"

static const char *const verdicts[] = { "unchecked", "same", "differs", "states" };
static const char *const seen_by[] = { "tick_hash", "state_hash", "image", "step", "length" };
static const char *const longer_one[] = { "null", "\"file\"", "\"against\"" };

static void print_pair(const char *key, const char *text)
{
	printf(", \"%s\": ", key);
	if (text[0] != '\0')
		json_text_print(stdout, text, strlen(text));
	else
		printf("null");
}

static void print_difference(const struct replay_report *report, bool against)
{
	const char *theirs = against ? "file_hash" : "recorded";
	const char *ours = against ? "against_hash" : "replayed";
	printf("{\"seen\": \"%s\", \"epoch\": %" PRIu32 ", \"tick\": %" PRIu64,
	       seen_by[report->seen], report->first_epoch, report->first_tick);
	if (report->seen == REPLAY_TICK_HASH || report->seen == REPLAY_STATE_HASH)
		printf(", \"%s\": \"%016" PRIx64 "\", \"%s\": \"%016" PRIx64 "\"", theirs,
		       report->recorded, ours, report->replayed);
	if (report->located)
		printf(", \"located_tick\": %" PRIu64, report->located_tick);
	print_pair("table", report->table);
	print_pair("column", report->column);
	if (report->row >= 0)
		printf(", \"row\": %" PRId64, report->row);
	else
		printf(", \"row\": null");
	if (report->body != 0)
		printf(", \"body\": %" PRIu32, report->body);
	else
		printf(", \"body\": null");
	print_pair("detail", report->detail);
	if (against) {
		printf(", \"command_tick\": [%" PRIu64 ", %" PRIu64 "]", report->command_tick[0],
		       report->command_tick[1]);
		print_pair("file_command", report->command[0]);
		print_pair("against_command", report->command[1]);
	}
	printf("}");
}

static void print_json(const struct replay_options *options, const struct replay_report *report)
{
	const struct recording_counts *counts = &report->counts;
	printf("{\"file\": ");
	json_text_print(stdout, options->file, strlen(options->file));
	print_pair("build", report->build);
	printf(", \"verdict\": \"%s\", \"holds\": {\"ticks\": %" PRIu64 ", \"epochs\": %" PRIu64
	       ", \"checkpoints\": %" PRIu64 ", \"batches\": %" PRIu64 ", \"commands\": %" PRIu64
	       ", \"shapes\": %" PRIu64 "}",
	       verdicts[report->verdict], counts->ticks, counts->epochs, counts->checkpoints,
	       counts->batches, counts->commands, counts->shapes);
	printf(", \"begins\": {\"epoch\": %" PRIu32 ", \"tick\": %" PRIu64 ", \"pruned\": %s}",
	       report->begins_epoch, report->begins_tick, report->whole ? "false" : "true");
	if (report->verdict != REPLAY_UNCHECKED)
		printf(", \"ticks\": %" PRIu64 ", \"checkpoints\": %" PRIu64
		       ", \"not_made_again\": %" PRIu64 ", \"states\": %" PRIu64
		       ", \"last\": {\"epoch\": %" PRIu32 ", \"tick\": %" PRIu64
		       ", \"hash\": \"%016" PRIx64 "\"}",
		       report->ticks, report->checkpoints, report->skipped, report->states,
		       report->epoch, report->tick, report->state_hash);
	if (options->against != NULL)
		printf(", \"longer\": %s, \"compared_from\": %" PRIu64, longer_one[report->longer],
		       report->started);
	printf(", \"difference\": ");
	if (report->verdict == REPLAY_DIFFERS)
		print_difference(report, options->against != NULL);
	else
		printf("null");
	printf("}\n");
}

static void print_lines(const struct replay_options *options, const struct replay_report *report)
{
	const struct recording_counts *counts = &report->counts;
	printf("%s: %" PRIu64 " ticks in %" PRIu64 " epochs, %" PRIu64 " batches of %" PRIu64
	       " commands, %" PRIu64 " checkpoints, %" PRIu64 " shapes\n",
	       options->file, counts->ticks, counts->epochs, counts->batches, counts->commands,
	       counts->checkpoints, counts->shapes);
	printf("recorded by %s\n", report->build);
	if (!report->whole)
		printf("begins at epoch %" PRIu32 " tick %" PRIu64 ": earlier records were pruned "
		       "(--journal-keep)\n",
		       report->begins_epoch, report->begins_tick);
	if (options->against != NULL && report->begins_differ)
		printf("compared from tick %" PRIu64 " on, where the later of the files begins\n",
		       report->started);
	if (report->verdict == REPLAY_SAME)
		printf("same: %" PRIu64 " ticks recomputed, %" PRIu64 " checkpoints compared; "
		       "state hash %016" PRIx64 " at tick %" PRIu64 "\n",
		       report->ticks, report->checkpoints, report->state_hash, report->tick);
	if (report->verdict == REPLAY_STATES)
		printf("states: %" PRIu64 " stored states verified; %" PRIu64
		       " ticks of incompatible builds skipped; %" PRIu64
		       " ticks recomputed, %" PRIu64 " checkpoints compared\n",
		       report->states, report->skipped, report->ticks, report->checkpoints);
	if (report->verdict != REPLAY_DIFFERS)
		return;
	printf("differs: first at epoch %" PRIu32 " tick %" PRIu64 " (%s)\n", report->first_epoch,
	       report->first_tick, seen_by[report->seen]);
	if (report->located)
		printf("at tick %" PRIu64 ": ", report->located_tick);
	if (report->detail[0] != '\0')
		printf("%s\n", report->detail);
	for (int file = 0; file < 2; file++)
		if (report->command[file][0] != '\0')
			printf("last command before it, in the %s file, at tick %" PRIu64 ": %s\n",
			       file == 0 ? "first" : "second", report->command_tick[file],
			       report->command[file]);
	if (report->detail[0] != '\0')
		return;
	printf("no later checkpoint locates the difference; compare with --against FILE\n");
}

static void show_progress(void *context, uint64_t ticks, uint64_t total)
{
	struct progress_text *text = context;
	text->total = total;
	if (progress_text_at(text, ticks)) {
		fputs(text->line, stderr);
		fflush(stderr);
	}
}

int replay_command(const struct options *options)
{
	struct replay_options replay = {
		.file = options->operands.items[0],
		.against = options->replay_against,
		.bisect = options->replay_bisect,
		.verify = options->replay_verify,
		.from = options->replay_from,
	};
	struct progress_text text;
	struct replay_report report;
	struct reason why;
	progress_text_init(&text, "ticks", 0);
	if (options->replay_progress) {
		replay.progress = show_progress;
		replay.context = &text;
	}
	struct parallel_pool *pool = NULL;
	/* Without a second thread the sides are played one after the other. */
	if (replay.against != NULL && parallel_pool_create(2, &pool) == STATUS_OK)
		replay.parallel = parallel_pool_parallel(pool);
	enum status status = replay_file(&replay, &report, &why);
	if (pool != NULL)
		parallel_pool_destroy(pool);
	if (options->replay_progress)
		fputs(PROGRESS_TEXT_AWAY, stderr);
	if (status != STATUS_OK) {
		command_refused("", replay.file, status_name(status), &why);
		return REPLAY_EXIT_FAILED;
	}
	print_lines(&replay, &report);
	print_json(&replay, &report);
	if (report.verdict == REPLAY_STATES)
		return REPLAY_EXIT_STATES;
	return report.verdict == REPLAY_DIFFERS ? REPLAY_EXIT_DIFFERS : REPLAY_EXIT_SAME;
}
