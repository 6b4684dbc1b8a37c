/* compare_plot.c: a comparison as SVG: one panel a figure and a bound, one line a method.
 *
 * Figures are drawn by size on a logarithmic axis, because errors span decades: sizes below 10^-16 of 1 are
 * drawn there. Times and measured numbers have a linear axis, and a bound is a shaded band over its ticks.
 * A line has at most BUCKETS steps: of the values in one both the least and the largest are drawn, so that
 * no peak is lost.
 */
#include "server/commands/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"

enum { BUCKETS = 60, PANEL_WIDTH = 320, PANEL_HEIGHT = 190, COLUMNS = 3, HEAD = 56 };
enum { LEFT = 58, RIGHT = 10, TOP = 24, BOTTOM = 26 };
#define SIZE_MIN 1e-16

/* Colours that differ for every kind of colour vision (Okabe and Ito). */
static const char *const COLOURS[SCENE_METHODS_MAX] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"
};

/* What a panel shows. */
struct panel {
	const struct comparison *comparison;
	uint32_t figure; /* FIGURES: an expectation */
	uint32_t expectation;
	const struct scene_expectation *bound; /* of an expectation */
	bool logarithmic;
	double low, high; /* of the axis; decades if it is logarithmic */
	double x, y;
};

static const double *series_of(const struct panel *panel, uint32_t run)
{
	const struct compare_run *of = &panel->comparison->runs[run];
	if (of->world == NULL)
		return NULL;
	return panel->figure < FIGURES
		       ? of->series[panel->figure]
		       : comparison_measured(panel->comparison, run, panel->expectation);
}

static double decades(double size)
{
	size = size < 0 ? -size : size;
	return log10(MAX_OF(size, SIZE_MIN));
}

static double height_of(const struct panel *panel, double value)
{
	return panel->logarithmic ? decades(value) : value;
}

static void widen_axis(struct panel *panel, double value)
{
	if (value - value != 0)
		return;
	panel->low = MIN_OF(panel->low, height_of(panel, value));
	panel->high = MAX_OF(panel->high, height_of(panel, value));
}

static void scale_panel(struct panel *panel)
{
	panel->low = __builtin_inf();
	panel->high = -__builtin_inf();
	for (uint32_t i = 0; i < panel->comparison->count; i++) {
		const double *series = series_of(panel, i);
		uint64_t first = panel->figure == FIGURE_MS;
		for (uint64_t t = first; series != NULL && t <= panel->comparison->ticks; t++)
			widen_axis(panel, series[t]);
	}
	if (panel->figure == FIGURES) {
		widen_axis(panel, panel->bound->least);
		widen_axis(panel, panel->bound->most);
	}
	if (panel->low > panel->high)
		panel->low = panel->high = 0;
	double room = 0.05 * (panel->high - panel->low);
	double size = MAX_OF(panel->high, -panel->low);
	/* A constant gets an axis around it. */
	room = MAX_OF(room, MAX_OF(1e-12 * size, 1e-12));
	panel->low -= room;
	panel->high += room;
}

static double place_x(const struct panel *panel, double tick)
{
	double width = PANEL_WIDTH - LEFT - RIGHT;
	return panel->x + LEFT + width * tick / (double)panel->comparison->ticks;
}

static double place_y(const struct panel *panel, double height)
{
	double part = (height - panel->low) / (panel->high - panel->low);
	part = MAX_OF(0.0, MIN_OF(part, 1.0));
	return panel->y + PANEL_HEIGHT - BOTTOM - part * (PANEL_HEIGHT - TOP - BOTTOM);
}

/* Text of a scene or a path, escaped for XML. */
static void print_escaped(FILE *file, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else
			fputc(*text, file);
	}
}

static void print_label(FILE *file, double x, double y, const char *anchor, double value,
			bool logarithmic)
{
	fprintf(file, "<text x='%.0f' y='%.0f' text-anchor='%s'>", x, y, anchor);
	if (logarithmic)
		fprintf(file, "1e%+.1f", value);
	else
		fprintf(file, "%.4g", value);
	fputs("</text>\n", file);
}

/* The least and the largest value of one bucket. */
static void print_bucket(FILE *file, const struct panel *panel, const double *series,
			 uint64_t first, uint64_t end)
{
	uint64_t low = first, high = first;
	for (uint64_t t = first; t < end; t++) {
		low = series[t] < series[low] ? t : low;
		high = series[t] > series[high] ? t : high;
	}
	uint64_t ends[2] = { MIN_OF(low, high), MAX_OF(low, high) };
	for (uint32_t k = 0; k < 1 + (uint32_t)(low != high); k++)
		if (series[ends[k]] - series[ends[k]] == 0)
			fprintf(file, "%.1f,%.1f ", place_x(panel, (double)ends[k]),
				place_y(panel, height_of(panel, series[ends[k]])));
}

static void print_line(FILE *file, const struct panel *panel, uint32_t run)
{
	const double *series = series_of(panel, run);
	if (series == NULL)
		return;
	uint64_t first = panel->figure == FIGURE_MS, count = panel->comparison->ticks + 1 - first;
	uint64_t buckets = MIN_OF(count, (uint64_t)BUCKETS);
	fprintf(file, "<polyline stroke='%s' points='", COLOURS[run]);
	for (uint64_t b = 0; b < buckets; b++)
		print_bucket(file, panel, series, first + count * b / buckets,
			     first + count * (b + 1) / buckets);
	fputs("'/>\n", file);
}

static void print_band(FILE *file, const struct panel *panel)
{
	const struct scene_expectation *bound = panel->bound;
	double until = (double)MIN_OF((uint64_t)bound->until, panel->comparison->ticks);
	double from = bound->take == TAKE_END ? until : bound->from;
	double left = place_x(panel, from) - 2, right = place_x(panel, until) + 2;
	double top = place_y(panel, MIN_OF(bound->most, panel->high));
	double bottom = place_y(panel, MAX_OF(bound->least, panel->low));
	fprintf(file,
		"<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#009e73' "
		"fill-opacity='.25' stroke='none'/>\n",
		left, top - 1, right - left, bottom - top + 2);
}

static void print_panel(FILE *file, struct panel *panel)
{
	double left = panel->x + LEFT, bottom = panel->y + PANEL_HEIGHT - BOTTOM;
	scale_panel(panel);
	fprintf(file, "<text x='%.0f' y='%.0f' font-weight='bold'>", left, panel->y + 16);
	if (panel->figure < FIGURES) {
		const struct compare_figure_info *info = &compare_figures[panel->figure];
		fprintf(file, "%s%s%s", info->title, info->unit[0] != '\0' ? ", " : "", info->unit);
	} else {
		print_escaped(file, panel->bound->name);
	}
	fputs("</text>\n", file);
	fprintf(file,
		"<rect x='%.0f' y='%.0f' width='%d' height='%d' fill='none' stroke='#ccc'/>\n",
		left, panel->y + TOP, PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM);
	print_label(file, left - 4, panel->y + TOP + 10, "end", panel->high, panel->logarithmic);
	print_label(file, left - 4, bottom, "end", panel->low, panel->logarithmic);
	print_label(file, left, bottom + 14, "middle", 0, false);
	fprintf(file, "<text x='%.0f' y='%.0f' text-anchor='end'>%.4g s</text>\n",
		panel->x + PANEL_WIDTH - RIGHT, bottom + 14,
		(double)panel->comparison->ticks / panel->comparison->rate);
	if (panel->figure == FIGURES)
		print_band(file, panel);
	for (uint32_t i = 0; i < panel->comparison->count; i++)
		if (panel->figure == FIGURES || comparison_has(panel->comparison, i, panel->figure))
			print_line(file, panel, i);
}

static void print_head(FILE *file, const struct comparison *self, uint32_t panels)
{
	uint32_t rows = (panels + COLUMNS - 1) / COLUMNS;
	const char *slash = strrchr(self->path, '/');
	fprintf(file,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %u' "
		"font-family='sans-serif' font-size='11'>\n"
		"<rect width='100%%' height='100%%' fill='white'/>\n<text x='16' y='22' "
		"font-size='16'>",
		COLUMNS * PANEL_WIDTH + 8, HEAD + rows * PANEL_HEIGHT + 8);
	print_escaped(file, slash != NULL ? slash + 1 : self->path);
	fputs("</text>\n", file);
	for (uint32_t i = 0; i < self->count; i++) {
		fprintf(file, "<text x='%u' y='44' fill='%s' font-weight='bold'>", 16 + 118 * i,
			COLOURS[i]);
		print_escaped(file, self->runs[i].method);
		fputs(self->runs[i].world != NULL ? "</text>\n" : " (refused)</text>\n", file);
	}
	fputs("<style>.p text{fill:#333;stroke:none}</style>\n"
	      "<g class='p' fill='none' stroke-width='1.4' stroke-linejoin='round'>\n",
	      file);
}

void compare_plot(const struct comparison *self, FILE *file)
{
	const struct scene *scene = NULL;
	for (uint32_t i = 0; i < self->count && scene == NULL; i++)
		scene = self->runs[i].scene != NULL && self->runs[i].world != NULL
				? self->runs[i].scene
				: NULL;
	uint32_t bounds = scene != NULL ? scene->expectation_count : 0;
	uint32_t figures[FIGURES], count = 0;
	for (uint32_t f = 0; f < FIGURES; f++)
		if (comparison_shows(self, f))
			figures[count++] = f;
	print_head(file, self, count + bounds);
	for (uint32_t p = 0; p < count + bounds && scene != NULL; p++) {
		/* Bounds first: they are what the scene is about. */
		bool bound = p < bounds;
		uint32_t figure = bound ? (uint32_t)FIGURES : figures[p - bounds];
		struct panel panel = { .comparison = self,
				       .figure = figure,
				       .expectation = p,
				       .bound = bound ? &scene->expectations[p] : NULL,
				       .logarithmic = !bound && figure != FIGURE_MS &&
						      figure != FIGURE_FALLBACKS,
				       .x = PANEL_WIDTH * (p % COLUMNS),
				       .y = HEAD + PANEL_HEIGHT * (p / COLUMNS) };
		print_panel(file, &panel);
	}
	fputs("</g>\n</svg>\n", file);
}
