/* compare.h: a scene stepped under several methods in lockstep: what was measured. Private to the command
 * `compare`. */
#ifndef CAIRN_COMMANDS_COMPARE_H
#define CAIRN_COMMANDS_COMPARE_H

#include <stdio.h>

#include "protocol/scene/scene.h"
#include "server/engine/engine.h"
#include "server/options.h"
#include "server/store/shape_library.h"

/* What is measured of every method after every tick, and at tick 0. */
enum compare_figure {
	FIGURE_DIVERGENCE, /* m: largest distance of a body from where the first method has it */
	FIGURE_ENERGY,	   /* 1: change, as MEASURE_ENERGY_CHANGE */
	FIGURE_MOMENTUM,   /* kg m/s: length of the change */
	FIGURE_ANGULAR_MOMENTUM, /* kg m²/s */
	FIGURE_PENETRATION,	 /* m */
	FIGURE_RESIDUAL,
	FIGURE_FALLBACKS,    /* since the beginning */
	FIGURE_IMPACT_ERROR, /* m: largest estimate of a part of the tick; 0: none was estimated */
	FIGURE_MS,	     /* of the step; 0 at tick 0 */
	FIGURES,
};
struct compare_figure_info {
	const char *name, *title, *unit;
};
extern const struct compare_figure_info compare_figures[FIGURES];

/* One method's world. */
struct compare_run {
	char method[SCENE_METHOD_BYTES];
	struct scene *scene; /* owned; its expectations have this world's ids */
	struct shape_library shapes;
	struct world *world;   /* owned; NULL: the method refused the scene */
	struct reason refusal; /* then */
	struct world_energy first;
	double *series[FIGURES]; /* owned; by tick, ticks + 1 each */
	double *measured;	 /* owned; by expectation, then tick */
};

struct comparison {
	const char *path;
	uint64_t ticks;
	double rate; /* ticks per second */
	struct compare_run runs[SCENE_METHODS_MAX];
	uint32_t count;
};

/* Makes the worlds and steps them. Errors of scenes and of steps; RANGE: a bound beyond the last tick;
 * UNKNOWN_METHOD. A method that refuses the scene is no error. Release it in any case. */
MUST_CHECK enum status comparison_make(struct comparison *self, const struct options *options,
				       struct reason *why);
void comparison_release(struct comparison *self);

/* An expectation under one method. */
struct compare_verdict {
	bool applies; /* the method is among the expectation's, and has run */
	bool holds;
	double found;
};
struct compare_verdict comparison_verdict(const struct comparison *self, uint32_t run,
					  uint32_t expectation);
/* Every method has run and every bound holds. */
bool comparison_holds(const struct comparison *self);
/* By tick, of a run that has a world. */
const double *comparison_measured(const struct comparison *self, uint32_t run,
				  uint32_t expectation);

/* Figures of a run: the last value, and the largest by size. */
double comparison_last(const struct comparison *self, uint32_t run, enum compare_figure figure);
double comparison_largest(const struct comparison *self, uint32_t run, enum compare_figure figure);
/* Whether a run has the figure: FIGURE_IMPACT_ERROR only if something was estimated. */
bool comparison_has(const struct comparison *self, uint32_t run, enum compare_figure figure);
/* Whether any run has it: tables and plots have no place for what nobody has. */
bool comparison_shows(const struct comparison *self, enum compare_figure figure);
/* Milliseconds a step: the value that `share` of the steps do not exceed. */
double comparison_ms(const struct comparison *self, uint32_t run, double share);

/* compare_report.c */
void compare_print_text(const struct comparison *self);
void compare_print_json(const struct comparison *self);
/* compare_plot.c: an SVG. */
void compare_plot(const struct comparison *self, FILE *file);

#endif
