/* compare_report.c: a comparison as a table for people, or as one JSON object. */
#include "server/commands/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/json_text.h"

/* ---- text ---------------------------------------------------------------------------------------- */

static void print_run(const struct comparison *self, uint32_t i)
{
	const struct compare_run *run = &self->runs[i];
	if (run->world == NULL) {
		printf("%-24s refused: %s\n", run->method, run->refusal.text);
		return;
	}
	struct world_stats stats = world_stats(run->world);
	printf("%-24s %10.3g %10.3g %10.3g %10.3g %11.3g %9.3g %9" PRIu64 " %9.3g %8.3g",
	       run->method, comparison_last(self, i, FIGURE_DIVERGENCE),
	       comparison_last(self, i, FIGURE_ENERGY), comparison_last(self, i, FIGURE_MOMENTUM),
	       comparison_last(self, i, FIGURE_ANGULAR_MOMENTUM),
	       comparison_largest(self, i, FIGURE_PENETRATION),
	       comparison_largest(self, i, FIGURE_RESIDUAL), stats.fallbacks_total,
	       stats.push_work_total, comparison_ms(self, i, 0.5));
	if (comparison_has(self, i, FIGURE_IMPACT_ERROR))
		printf(" %9.3g", comparison_largest(self, i, FIGURE_IMPACT_ERROR));
	else if (comparison_shows(self, FIGURE_IMPACT_ERROR))
		printf(" %9s", "-");
	putchar('\n');
}

/* What method impact counted: those that are not 0 as text, all as JSON. */
static void print_counts(const struct compare_run *run, bool json)
{
	struct impact_figures counts = world_stats(run->world).impact_total;
	const struct {
		const char *name;
		uint64_t value;
	} list[] = {
#define COUNT(name, NAME, text) { #name, counts.name },
		IMPACT_COUNTS(COUNT)
#undef COUNT
	};
	bool any = false;
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		if (json)
			printf("%s\"%s\": %" PRIu64, any ? ", " : "", list[i].name, list[i].value);
		else if (list[i].value > 0)
			printf("%s%s %" PRIu64, any ? ", " : "", list[i].name, list[i].value);
		any |= json || list[i].value > 0;
	}
	if (!any)
		printf("nothing");
}

/* The counts of each run that has any. */
static void print_all_counts(const struct comparison *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		const struct compare_run *run = &self->runs[i];
		if (run->world == NULL || strcmp(run->method, "impact") != 0)
			continue;
		printf("\ncounted by %s: ", run->method);
		print_counts(run, false);
		putchar('\n');
	}
}

static void print_bound(double least, double most)
{
	if (least == -__builtin_inf())
		printf("at most %.6g", most);
	else if (most == __builtin_inf())
		printf("at least %.6g", least);
	else
		printf("%.9g ± %.2g", 0.5 * (least + most), 0.5 * (most - least));
}

static void print_expectation(const struct comparison *self, const struct scene *scene, uint32_t k)
{
	const struct scene_expectation *bound = &scene->expectations[k];
	printf("\n%s (line %u): ", bound->name, (unsigned)bound->line);
	print_bound(bound->least, bound->most);
	putchar('\n');
	for (uint32_t i = 0; i < self->count; i++) {
		struct compare_verdict verdict = comparison_verdict(self, i, k);
		if (self->runs[i].world != NULL)
			printf("  %-24s %17.9g  %s\n", self->runs[i].method, verdict.found,
			       !verdict.applies ? "not asked"
			       : verdict.holds	? "holds"
						: "BROKEN");
	}
}

void compare_print_text(const struct comparison *self)
{
	printf("%s: %" PRIu64 " ticks", self->path, self->ticks);
	if (self->rate > 0) /* a method has made a world */
		printf(" at %g/s", self->rate);
	printf("\n\n");
	bool estimates = comparison_shows(self, FIGURE_IMPACT_ERROR);
	printf("%-24s %10s %10s %10s %10s %11s %9s %9s %9s %8s%s\n", "method", "diverged", "energy",
	       "momentum", "angular", "penetration", "residual", "fallbacks", "push", "ms",
	       estimates ? "  estimate" : "");
	printf("%-24s %10s %10s %10s %10s %11s %9s %9s %9s %8s%s\n", "", "m", "change", "kg m/s",
	       "kg m2/s", "m", "largest", "", "J", "median", estimates ? "         m" : "");
	const struct scene *scene = NULL;
	for (uint32_t i = 0; i < self->count; i++) {
		print_run(self, i);
		if (scene == NULL && self->runs[i].world != NULL)
			scene = self->runs[i].scene;
	}
	print_all_counts(self);
	for (uint32_t k = 0; scene != NULL && k < scene->expectation_count; k++)
		print_expectation(self, scene, k);
	if (!comparison_holds(self))
		puts("\nnot every bound holds");
	else if (scene != NULL && scene->expectation_count > 0)
		puts("\nevery bound holds");
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void print_text(const char *key, const char *text)
{
	printf("\"%s\": ", key);
	json_text_print(stdout, text, strlen(text));
}

/* A number; JSON has neither infinities nor NaN. */
static void print_number(const char *key, double value)
{
	if (value - value == 0)
		printf("\"%s\": %.17g", key, value);
	else
		printf("\"%s\": null", key);
}

static void print_run_json(const struct comparison *self, uint32_t i)
{
	const struct compare_run *run = &self->runs[i];
	printf("%s{", i > 0 ? ", " : "");
	print_text("method", run->method);
	if (run->world == NULL) {
		printf(", ");
		print_text("refused", run->refusal.text);
		putchar('}');
		return;
	}
	printf(", \"refused\": null, \"tick_hash\": \"%016" PRIx64 "\"",
	       world_tick_hash(run->world));
	for (uint32_t f = 0; f < FIGURE_MS; f++) {
		if (!comparison_has(self, i, f)) {
			printf(", \"%s\": null", compare_figures[f].name);
			continue;
		}
		printf(", \"%s\": {", compare_figures[f].name);
		print_number("last", comparison_last(self, i, f));
		printf(", ");
		print_number("largest", comparison_largest(self, i, f));
		putchar('}');
	}
	printf(", \"push_work\": %.17g, \"impact\": {", world_stats(run->world).push_work_total);
	print_counts(run, true);
	putchar('}');
	printf(", \"ms\": {\"median\": %.6g, \"p99\": %.6g, \"max\": %.6g}}",
	       comparison_ms(self, i, 0.5), comparison_ms(self, i, 0.99),
	       comparison_ms(self, i, 1));
}

static void print_verdict_json(const struct comparison *self, uint32_t i, uint32_t k, bool first)
{
	const struct scene_expectation *bound = &self->runs[i].scene->expectations[k];
	struct compare_verdict verdict = comparison_verdict(self, i, k);
	printf("%s{", first ? "" : ", ");
	print_text("name", bound->name);
	printf(", \"line\": %u, ", (unsigned)bound->line);
	print_text("method", self->runs[i].method);
	printf(", ");
	print_number("found", verdict.found);
	printf(", ");
	print_number("least", bound->least);
	printf(", ");
	print_number("most", bound->most);
	printf(", \"asked\": %s, \"holds\": %s}", verdict.applies ? "true" : "false",
	       verdict.holds ? "true" : "false");
}

void compare_print_json(const struct comparison *self)
{
	bool first = true;
	printf("{");
	print_text("scene", self->path);
	printf(", \"ticks\": %" PRIu64 ", \"rate\": %.17g, \"methods\": [", self->ticks,
	       self->rate);
	for (uint32_t i = 0; i < self->count; i++)
		print_run_json(self, i);
	printf("], \"bounds\": [");
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t k = 0;
		     self->runs[i].world != NULL && k < self->runs[i].scene->expectation_count;
		     k++) {
			print_verdict_json(self, i, k, first);
			first = false;
		}
	printf("], \"holds\": %s}\n", comparison_holds(self) ? "true" : "false");
}
