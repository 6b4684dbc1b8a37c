/* See compare.h. The worlds take their ticks in turn, so that divergence needs only the present states. */
#include "server/commands/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/commands/batch_world.h"
#include "server/io/instant.h"
#include "server/io/parallel_pool.h"

const struct compare_figure_info compare_figures[FIGURES] = {
	[FIGURE_DIVERGENCE] = { "divergence", "divergence from the first method", "m" },
	[FIGURE_ENERGY] = { "energy_change", "change of energy", "" },
	[FIGURE_MOMENTUM] = { "momentum_change", "change of momentum", "kg m/s" },
	[FIGURE_ANGULAR_MOMENTUM] = { "angular_momentum_change", "change of angular momentum",
				      "kg m2/s" },
	[FIGURE_PENETRATION] = { "penetration", "deepest penetration", "m" },
	[FIGURE_RESIDUAL] = { "residual", "residual", "m/s" },
	[FIGURE_FALLBACKS] = { "fallbacks", "fallbacks so far", "" },
	[FIGURE_IMPACT_ERROR] = { "impact_error", "estimated error of a part", "m" },
	[FIGURE_MS] = { "ms", "time of a step", "ms" },
};

static double length_of(vec3 v)
{
	return __builtin_sqrt(vec3_dot(v, v));
}

/* ---- measuring ----------------------------------------------------------------------------------- */

static double energy_change(const struct world_energy *now, const struct world_energy *first)
{
	double from = first->kinetic + first->potential;
	double size = from < 0 ? -from : from;
	return (now->kinetic + now->potential - from) / MAX_OF(size, 1.0);
}

static double component(vec3 v, uint8_t axis)
{
	return axis == AXIS_LENGTH ? length_of(v) : vec3_get(v, axis);
}

/* Sum of the normal forces at a body's contacts, N. */
static double pressed(const struct world *world, body_id body, double rate)
{
	enum { CONTACTS_MAX = 1024 };
	struct contact_view *views = heap_alloc(CONTACTS_MAX * sizeof *views);
	uint32_t count = 0;
	double sum = 0;
	if (views == NULL || world_contacts(world, body, views, CONTACTS_MAX, &count) != STATUS_OK)
		count = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += views[i].normal_impulse * rate;
	heap_free(views);
	return sum;
}

static vec3 centre_of(const struct body_view *view)
{
	return vec3_add(view->position, quat_rotate(view->rotation, view->centre));
}

static double measure_body(const struct world *world, const struct scene_expectation *of,
			   double rate)
{
	struct body_view view, other;
	vec3 none = vec3_zero();
	/* A body that is gone has no numbers: no bound holds for it. */
	if (world_body(world, of->body, &view) != STATUS_OK)
		return __builtin_nan("");
	bool relative = of->other != 0;
	if (relative && world_body(world, of->other, &other) != STATUS_OK)
		return __builtin_nan("");
	switch ((enum scene_measure)of->measure) {
	case MEASURE_POSITION:
		return component(vec3_sub(centre_of(&view), relative ? centre_of(&other) : none),
				 of->axis);
	case MEASURE_VELOCITY:
		return component(vec3_sub(view.velocity, relative ? other.velocity : none),
				 of->axis);
	case MEASURE_SPIN:
		return component(view.angular_velocity, of->axis);
	case MEASURE_POINTING:
		return component(quat_rotate(view.rotation, vec3_axis(1)), of->axis);
	case MEASURE_SPEED:
		return length_of(view.velocity);
	default:
		return pressed(world, of->body, rate);
	}
}

static double measure_world(const struct compare_run *run, const struct scene_expectation *of,
			    const struct world_energy *now)
{
	struct world_stats stats = world_stats(run->world);
	const struct world_energy *first = &run->first;
	switch ((enum scene_measure)of->measure) {
	case MEASURE_ENERGY:
		return now->kinetic + now->potential;
	case MEASURE_KINETIC:
		return now->kinetic;
	case MEASURE_ENERGY_CHANGE:
		return energy_change(now, first);
	case MEASURE_MOMENTUM:
		return component(now->linear, of->axis);
	case MEASURE_ANGULAR_MOMENTUM:
		return component(now->angular, of->axis);
	case MEASURE_MOMENTUM_CHANGE:
		return length_of(vec3_sub(now->linear, first->linear));
	case MEASURE_ANGULAR_MOMENTUM_CHANGE:
		return length_of(vec3_sub(now->angular, first->angular));
	case MEASURE_PENETRATION:
		return stats.penetration_max;
	case MEASURE_RESIDUAL:
		return stats.residual;
	case MEASURE_FALLBACKS:
		return (double)stats.fallbacks_total;
	case MEASURE_JOINT_ERROR:
		return stats.joint_error;
	case MEASURE_PUSH_WORK:
		return stats.push_work_total;
	case MEASURE_AWAKE:
		return stats.awake;
	case MEASURE_IMPACT_ERROR:
		return stats.impact_error;
	default:
		ASSERT(false);
		return 0;
	}
}

/* The largest distance of a body from its place in the other world. */
static double divergence(const struct world *world, const struct world *from, body_id *ids,
			 uint32_t capacity)
{
	uint32_t count = MIN_OF(world_bodies(from, ids, capacity), capacity);
	double most = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view here, there;
		if (world_body(world, ids[i], &here) != STATUS_OK ||
		    world_body(from, ids[i], &there) != STATUS_OK)
			continue;
		double distance = length_of(vec3_sub(centre_of(&here), centre_of(&there)));
		most = MAX_OF(most, distance);
	}
	return most;
}

static void measure_run(struct comparison *self, struct compare_run *run, uint64_t tick, double ms)
{
	struct world_energy now = world_energy(run->world);
	struct world_stats stats = world_stats(run->world);
	if (tick == 0)
		run->first = now;
	run->series[FIGURE_ENERGY][tick] = energy_change(&now, &run->first);
	run->series[FIGURE_MOMENTUM][tick] = length_of(vec3_sub(now.linear, run->first.linear));
	run->series[FIGURE_ANGULAR_MOMENTUM][tick] =
		length_of(vec3_sub(now.angular, run->first.angular));
	run->series[FIGURE_PENETRATION][tick] = stats.penetration_max;
	run->series[FIGURE_RESIDUAL][tick] = stats.residual;
	run->series[FIGURE_FALLBACKS][tick] = (double)stats.fallbacks_total;
	run->series[FIGURE_IMPACT_ERROR][tick] = stats.impact_error;
	run->series[FIGURE_MS][tick] = ms;
	for (uint32_t i = 0; i < run->scene->expectation_count; i++) {
		const struct scene_expectation *of = &run->scene->expectations[i];
		run->measured[i * (self->ticks + 1) + tick] =
			of->measure < MEASURES_OF_BODIES ? measure_body(run->world, of, self->rate)
							 : measure_world(run, of, &now);
	}
}

/* ---- worlds -------------------------------------------------------------------------------------- */

static enum status no_memory(struct reason *why)
{
	return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
			  "no memory for the figures; take fewer ticks");
}

static bool is_method(const char *name)
{
	enum { METHODS_MAX = 64 };
	struct method_info methods[METHODS_MAX];
	struct method_name names[METHODS_MAX];
	uint32_t count = world_methods(methods, METHODS_MAX);
	uint32_t others = world_method_names(names, METHODS_MAX);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(methods[i].name, name) == 0)
			return true;
	for (uint32_t i = 0; i < others; i++)
		if (strcmp(names[i].name, name) == 0)
			return true;
	return false;
}

/* Bounds must lie within the run, and name methods that exist. */
static enum status check_expectations(const struct comparison *self, const struct scene *scene,
				      struct reason *why)
{
	for (uint32_t i = 0; i < scene->expectation_count; i++) {
		const struct scene_expectation *of = &scene->expectations[i];
		uint64_t last = of->until == UINT32_MAX ? of->from : of->until;
		if (last > self->ticks)
			return reason_set(
				why, STATUS_RANGE, i, "until",
				"%s:%u: tick %llu is after the last tick, %llu; take more "
				"ticks",
				self->path, (unsigned)of->line, (unsigned long long)last,
				(unsigned long long)self->ticks);
		for (uint32_t k = 0; k < of->methods.count; k++)
			if (!is_method(of->methods.names[k]))
				return reason_set(why, STATUS_UNKNOWN_METHOD, i, "methods",
						  "%s:%u: there is no method '%s'; `cairn methods` "
						  "lists them",
						  self->path, (unsigned)of->line,
						  of->methods.names[k]);
	}
	return STATUS_OK;
}

static enum status make_run(struct comparison *self, struct compare_run *run,
			    const struct options *options, struct reason *why)
{
	if (!is_method(run->method))
		return reason_set(why, STATUS_UNKNOWN_METHOD, -1, "methods",
				  "there is no method '%s'; `cairn methods` lists them",
				  run->method);
	shape_library_init(&run->shapes);
	enum status status =
		batch_world_make(&(struct batch_scene){ .path = self->path,
							.method = run->method,
							.set = &options->compare_set,
							.let = &options->compare_let },
				 &run->shapes, &run->scene, &run->world, &run->refusal);
	if (status == STATUS_METHOD_REFUSES && run->world == NULL)
		return STATUS_OK;
	if (status != STATUS_OK) {
		*why = run->refusal;
		return status;
	}
	struct world_info info = world_info(run->world);
	size_t ticks = self->ticks + 1;
	self->rate = (double)info.rate_num / info.rate_den;
	run->measured =
		heap_alloc((run->scene->expectation_count * ticks + 1) * sizeof *run->measured);
	bool missing = run->measured == NULL;
	for (uint32_t f = 0; f < FIGURES; f++) {
		run->series[f] = heap_alloc_zero(ticks * sizeof *run->series[f]);
		missing |= run->series[f] == NULL;
	}
	if (missing)
		return no_memory(why);
	measure_run(self, run, 0, 0);
	return STATUS_OK;
}

/* The names of --methods, else of the scene, else its method. */
static enum status take_methods(struct comparison *self, const struct options *options,
				const struct scene *scene, struct reason *why)
{
	struct scene_methods methods = scene->compare.methods;
	enum status status = STATUS_OK;
	if (options->compare_methods != NULL)
		status = batch_methods_read(options->compare_methods, &methods, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < methods.count; i++)
		memcpy(self->runs[self->count++].method, methods.names[i], SCENE_METHOD_BYTES);
	if (methods.count == 0)
		snprintf(self->runs[self->count++].method, SCENE_METHOD_BYTES, "%s",
			 scene->world.method[0] != '\0' ? scene->world.method : "soft-step");
	return STATUS_OK;
}

static const struct compare_run *reference(const struct comparison *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (self->runs[i].world != NULL)
			return &self->runs[i];
	return NULL;
}

static enum status step_tick(struct comparison *self, uint64_t tick,
			     const struct parallel *parallel, body_id *ids, uint32_t capacity,
			     struct reason *why)
{
	const struct compare_run *first = reference(self);
	for (uint32_t i = 0; i < self->count; i++) {
		struct compare_run *run = &self->runs[i];
		if (run->world == NULL)
			continue;
		struct reason inner;
		uint64_t begun = instant_now();
		enum status status = world_step(run->world, parallel, &inner);
		double ms = (double)(instant_now() - begun) / (double)NS_PER_MS;
		if (status != STATUS_OK)
			return reason_set(why, status, -1, inner.field, "%s, tick %llu: %s",
					  run->method, (unsigned long long)tick, inner.text);
		measure_run(self, run, tick, ms);
		run->series[FIGURE_DIVERGENCE][tick] =
			run == first ? 0 : divergence(run->world, first->world, ids, capacity);
	}
	return STATUS_OK;
}

static enum status step_all(struct comparison *self, const struct options *options,
			    struct reason *why)
{
	struct parallel_pool *pool;
	if (reference(self) == NULL)
		return STATUS_OK;
	enum status status = parallel_pool_create((uint32_t)options->compare_workers, &pool);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "workers", "%s", status_text(status));
	uint32_t capacity = world_bodies(reference(self)->world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(capacity, 1u) * sizeof *ids);
	if (ids == NULL)
		status = no_memory(why);
	for (uint64_t tick = 1; tick <= self->ticks && status == STATUS_OK; tick++)
		status = step_tick(self, tick, parallel_pool_parallel(pool), ids, capacity, why);
	heap_free(ids);
	parallel_pool_destroy(pool);
	return status;
}

enum status comparison_make(struct comparison *self, const struct options *options,
			    struct reason *why)
{
	struct scene *scene;
	memset(self, 0, sizeof *self);
	self->path = options->operands.items[0];
	const struct scene_options given = { .lets = options->compare_let.items,
					     .let_count = options->compare_let.count };
	enum status status = scene_load_with(self->path, &given, &scene, why);
	if (status != STATUS_OK)
		return status;
	self->ticks = options->compare_ticks != 0 ? options->compare_ticks : scene->compare.ticks;
	status = take_methods(self, options, scene, why);
	if (status == STATUS_OK)
		status = check_expectations(self, scene, why);
	scene_destroy(scene);
	for (uint32_t i = 0; i < self->count && status == STATUS_OK; i++)
		status = make_run(self, &self->runs[i], options, why);
	return status == STATUS_OK ? step_all(self, options, why) : status;
}

void comparison_release(struct comparison *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		struct compare_run *run = &self->runs[i];
		for (uint32_t f = 0; f < FIGURES; f++)
			heap_free(run->series[f]);
		heap_free(run->measured);
		if (run->world != NULL) {
			world_destroy(run->world);
			shape_library_release(&run->shapes);
		}
		if (run->scene != NULL)
			scene_destroy(run->scene);
	}
	self->count = 0;
}

/* ---- results ------------------------------------------------------------------------------------- */

const double *comparison_measured(const struct comparison *self, uint32_t run, uint32_t expectation)
{
	ASSERT(self->runs[run].world != NULL);
	return self->runs[run].measured + expectation * (self->ticks + 1);
}

struct compare_verdict comparison_verdict(const struct comparison *self, uint32_t run,
					  uint32_t expectation)
{
	const struct compare_run *of = &self->runs[run];
	struct compare_verdict verdict = { 0 };
	if (of->world == NULL)
		return verdict;
	const struct scene_expectation *bound = &of->scene->expectations[expectation];
	verdict.applies = bound->methods.count == 0;
	for (uint32_t i = 0; i < bound->methods.count; i++)
		verdict.applies |= strcmp(bound->methods.names[i], of->method) == 0;
	const double *values = comparison_measured(self, run, expectation);
	uint64_t until = MIN_OF((uint64_t)bound->until, self->ticks);
	double least = values[bound->from], most = least, sum = 0;
	for (uint64_t tick = bound->from; tick <= until; tick++) {
		/* Not MIN_OF: a NaN must stay. */
		least = values[tick] >= least ? least : values[tick];
		most = values[tick] <= most ? most : values[tick];
		sum += values[tick];
	}
	verdict.found = bound->take == TAKE_END	      ? values[until]
			: bound->take == TAKE_LARGEST ? most
			: bound->take == TAKE_LEAST   ? least
						      : sum / (double)(until - bound->from + 1);
	verdict.holds = verdict.found >= bound->least && verdict.found <= bound->most;
	return verdict;
}

bool comparison_holds(const struct comparison *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->runs[i].world == NULL)
			return false;
		for (uint32_t k = 0; k < self->runs[i].scene->expectation_count; k++) {
			struct compare_verdict verdict = comparison_verdict(self, i, k);
			if (verdict.applies && !verdict.holds)
				return false;
		}
	}
	return true;
}

double comparison_last(const struct comparison *self, uint32_t run, enum compare_figure figure)
{
	return self->runs[run].series[figure][self->ticks];
}

double comparison_largest(const struct comparison *self, uint32_t run, enum compare_figure figure)
{
	const double *series = self->runs[run].series[figure];
	double most = series[0];
	for (uint64_t tick = 1; tick <= self->ticks; tick++)
		if (series[tick] * series[tick] > most * most)
			most = series[tick];
	return most;
}

bool comparison_has(const struct comparison *self, uint32_t run, enum compare_figure figure)
{
	ASSERT(figure < FIGURES);
	if (self->runs[run].world == NULL)
		return false;
	return figure != FIGURE_IMPACT_ERROR || comparison_largest(self, run, figure) > 0;
}

bool comparison_shows(const struct comparison *self, enum compare_figure figure)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (comparison_has(self, i, figure))
			return true;
	return figure != FIGURE_IMPACT_ERROR;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double comparison_ms(const struct comparison *self, uint32_t run, double share)
{
	double *sorted = heap_alloc((self->ticks + 1) * sizeof *sorted);
	if (sorted == NULL)
		return comparison_last(self, run, FIGURE_MS);
	memcpy(sorted, self->runs[run].series[FIGURE_MS] + 1, self->ticks * sizeof *sorted);
	qsort(sorted, self->ticks, sizeof *sorted, by_value);
	double found = sorted[(uint64_t)(share * (double)(self->ticks - 1))];
	heap_free(sorted);
	return found;
}
