/* report.c: the result of a run of cairn-bot as text and as one JSON object, and the check of the
 * thresholds that the options set. */
#include <stdio.h>
#include <string.h>

#include "clients/bot/bot.h"
#include "server/base/output_file.h"

static double ms(uint64_t us)
{
	return (double)us / 1000;
}

static double late_part(const struct tally *tally)
{
	return tally->lateness.count > 0 ? (double)tally->late / (double)tally->lateness.count : 0;
}

static struct tally sum_kinds(const struct tally tally[BOT_KINDS])
{
	struct tally all = { 0 };
	for (uint32_t kind = 0; kind < BOT_KINDS; kind++) {
		all.frames += tally[kind].frames;
		all.diverged += tally[kind].diverged;
		all.late += tally[kind].late;
		histogram_merge(&all.latency, &tally[kind].latency);
		histogram_merge(&all.lateness, &tally[kind].lateness);
	}
	return all;
}

static void print_histogram(const char *what, const struct latency_histogram *histogram)
{
	if (histogram->count > 0)
		printf("  %-9s p50 %.2f  p90 %.2f  p99 %.2f  max %.2f ms, of %llu\n", what,
		       ms(histogram_at(histogram, 0.5)), ms(histogram_at(histogram, 0.9)),
		       ms(histogram_at(histogram, 0.99)), ms(histogram->max),
		       (unsigned long long)histogram->count);
}

/* Prints a threshold if it is set; true if it held or is not set. */
static bool check_threshold(const char *what, bool set, double value, double limit)
{
	if (set)
		printf("%s %s: %.3f of at most %.3f\n", value <= limit ? "held" : "FAILED", what,
		       value, limit);
	return !set || value <= limit;
}

bool report_print(const struct bot_options *options, const struct tally tally[BOT_KINDS])
{
	for (uint32_t kind = 0; kind < BOT_KINDS; kind++) {
		const struct tally *t = &tally[kind];
		if (t->sessions == 0)
			continue;
		printf("%u %s: %llu frames, %llu skipped, %llu events lost, %llu ended by the "
		       "server\n",
		       t->sessions, BOT_KIND_NAMES[kind], (unsigned long long)t->frames,
		       (unsigned long long)t->skipped, (unsigned long long)t->lost,
		       (unsigned long long)t->ended);
		if (kind == BOT_LIAR)
			printf("  %llu lies, %llu tolerated\n", (unsigned long long)t->lies,
			       (unsigned long long)t->tolerated);
		if (t->batches > 0)
			printf("  %llu batches answered, %llu refused\n",
			       (unsigned long long)t->batches, (unsigned long long)t->refused);
		print_histogram("latency", &t->latency);
		print_histogram("lateness", &t->lateness);
		print_histogram("catch-up", &t->catch_up);
	}
	struct tally all = sum_kinds(tally);
	bool passed = check_threshold("diverged mirrors", true, (double)all.diverged, 0);
	passed &= check_threshold("latency p99, ms", options->limit.latency_p99_ms > 0,
				  ms(histogram_at(&all.latency, 0.99)),
				  options->limit.latency_p99_ms);
	passed &= check_threshold("lateness p99, ms", options->limit.lateness_p99_ms > 0,
				  ms(histogram_at(&all.lateness, 0.99)),
				  options->limit.lateness_p99_ms);
	passed &= check_threshold("part of frames over a tick late", options->limit.late < 1,
				  late_part(&all), options->limit.late);
	return passed;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_histogram(FILE *file, const char *name, const struct latency_histogram *histogram)
{
	fprintf(file,
		", \"%s_us\": {\"count\": %llu, \"mean\": %.1f, \"p50\": %llu, \"p90\": %llu, "
		"\"p99\": %llu, \"max\": %llu}",
		name, (unsigned long long)histogram->count,
		histogram->count > 0 ? histogram->sum / (double)histogram->count : 0.0,
		(unsigned long long)histogram_at(histogram, 0.5),
		(unsigned long long)histogram_at(histogram, 0.9),
		(unsigned long long)histogram_at(histogram, 0.99),
		(unsigned long long)histogram->max);
}

static void json_kind(FILE *file, const struct tally *t)
{
#define NUMBER(field) fprintf(file, ", \"" #field "\": %llu", (unsigned long long)t->field)
	fprintf(file, "{\"sessions\": %u", t->sessions);
	NUMBER(frames);
	NUMBER(batches);
	NUMBER(refused);
	NUMBER(skipped);
	NUMBER(lost);
	NUMBER(diverged);
	NUMBER(ended);
	NUMBER(lies);
	NUMBER(tolerated);
	NUMBER(late);
	NUMBER(catch_ups);
#undef NUMBER
	json_histogram(file, "latency", &t->latency);
	json_histogram(file, "lateness", &t->lateness);
	json_histogram(file, "catch_up", &t->catch_up);
	fputc('}', file);
}

enum status report_json(const struct bot_options *options, const struct tally tally[BOT_KINDS],
			bool passed, struct reason *why)
{
	const struct output_file out = { .path = options->json, .field = "json" };
	FILE *file;
	enum status status = output_file_open(&out, &file, why);
	if (status != STATUS_OK)
		return status;
	fprintf(file, "{\"passed\": %s, \"seed\": %llu, \"seconds\": %g", passed ? "true" : "false",
		(unsigned long long)options->seed, options->seconds);
	for (uint32_t kind = 0; kind < BOT_KINDS; kind++) {
		fprintf(file, ",\n \"%s\": ", BOT_KIND_NAMES[kind]);
		json_kind(file, &tally[kind]);
	}
	fputs("}\n", file);
	return output_file_close(&out, file, why);
}
