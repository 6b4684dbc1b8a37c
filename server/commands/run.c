/* run.c: batch mode. Reads a scene, creates the world, steps it as fast as possible, prints the result.
 *
 * Only world_step is timed. The other figures are those of the last tick and are computed
 * afterwards.
 */
#include "server/commands/run.h"

#include "server/commands/command_words.h"
#include "server/commands/run_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/base/json_text.h"
#include "server/base/processor.h"
#include "server/commands/batch_world.h"
#include "server/io/instant.h"
#include "server/io/parallel_pool.h"

struct run {
	const struct options *options;
	struct shape_library shapes;
	struct world *world;
	struct parallel_pool *pool;
	double *ms; /* duration of every tick */
	uint64_t ticks;
	double joint_error; /* m or rad: the largest after any tick */
	uint32_t sagging;   /* the most of any tick */
	struct run_condition until;
	bool stopped; /* by the condition */
	struct run_output output;
	struct profile profile; /* with --profile */
};

/* ---- making and stepping ------------------------------------------------------------------------- */

static enum status check_lanes(uint64_t lanes, struct reason *why)
{
	if (lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "lanes",
			  "--lanes: %" PRIu64 " is no width of vectors; use 1, 4, 8 or 16", lanes);
}

static enum status prepare_run(struct run *run, struct reason *why)
{
	const struct options *options = run->options;
	struct scene *scene;
	shape_library_init(&run->shapes);
	enum status status = run_condition_parse(options->run_until, &run->until, why);
	if (status == STATUS_OK)
		status = check_lanes(options->run_lanes, why);
	if (status == STATUS_OK)
		status = run_output_init(&run->output, options, why);
	if (status != STATUS_OK)
		return status;
	status = batch_world_make(
		&(struct batch_scene){ .path = options->operands.items[0],
				       .method = options->run_method,
				       .rate = options->run_rate,
				       .seed = options->run_seed_given ? &options->run_seed : NULL,
				       .set = &options->run_set,
				       .let = &options->run_let },
		&run->shapes, &scene, &run->world, why);
	if (scene != NULL)
		scene_destroy(scene);
	if (status != STATUS_OK)
		return status;
	run->ms = heap_alloc(MAX_OF(options->run_ticks, 1u) * sizeof *run->ms);
	if (run->ms == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "ticks", "%s",
				  status_text(STATUS_NO_MEMORY));
	processor_limit_lanes((uint32_t)options->run_lanes);
	status = parallel_pool_create((uint32_t)options->run_workers, &run->pool);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "workers", "%s", status_text(status));
	return run_output_open(&run->output, run->world, &run->shapes, why);
}

static uint64_t read_clock(const void *context)
{
	UNUSED(context);
	return instant_now();
}

static enum status step_once(struct run *run, struct reason *why)
{
	const struct parallel *parallel = parallel_pool_parallel(run->pool);
	struct profile *profile = run->options->run_profile ? &run->profile : NULL;
	uint64_t begun = instant_now();
	if (profile != NULL)
		profile_begin(profile, PROFILE_APPLY);
	enum status status = world_step(run->world, parallel, why);
	if (profile != NULL)
		profile_end(profile, 1);
	run->ms[run->ticks] = (double)(instant_now() - begun) / (double)NS_PER_MS;
	return status;
}

static enum status step_all(struct run *run, struct reason *why)
{
	if (run->options->run_profile) {
		run->profile.now = read_clock;
		world_set_profile(run->world, &run->profile);
	}
	for (; run->ticks < run->options->run_ticks && !run->stopped; run->ticks++) {
		enum status status = step_once(run, why);
		struct world_stats stats = world_stats(run->world);
		run->joint_error = MAX_OF(run->joint_error, stats.joint_error);
		run->sagging = MAX_OF(run->sagging, stats.sagging);
		if (status == STATUS_OK)
			status = run_output_tick(&run->output, run->world, why);
		if (status != STATUS_OK)
			return status;
		run->stopped = run_condition_holds(&run->until, run->world);
	}
	return STATUS_OK;
}

/* ---- printing ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_times(struct run *run)
{
	double total = 0;
	for (uint64_t i = 0; i < run->ticks; i++)
		total += run->ms[i];
	qsort(run->ms, run->ticks, sizeof *run->ms, by_value);
	double median = run->ticks > 0 ? run->ms[run->ticks / 2] : 0;
	double p99 = run->ticks > 0 ? run->ms[run->ticks - 1 - run->ticks / 100] : 0;
	double max = run->ticks > 0 ? run->ms[run->ticks - 1] : 0;
	printf("\"ms\": {\"median\": %.6g, \"p99\": %.6g, \"max\": %.6g, \"total\": %.6g}, ",
	       median, p99, max, total);
}

/* ms of all ticks by stage. Together they are the total of "ms" but for what reading the clock takes. */
static void print_stages(const struct run *run)
{
	printf("\"stages\": {");
	for (int stage = 0; stage < PROFILE_STAGES; stage++)
		printf("%s\"%s\": %.6g", stage > 0 ? ", " : "",
		       profile_stage_name((enum profile_stage)stage),
		       (double)run->profile.sums.ns[stage] / (double)NS_PER_MS);
	printf("}, ");
}

/* Contacts of the state. Unlike world_stats they include the contacts of sleeping bodies. */
struct contact_summary {
	uint32_t contacts;
	double max, mean; /* m, penetration depth over the points with separation < 0 */
};

static enum status summarize_contacts(const struct world *world, struct contact_summary *out,
				      struct reason *why)
{
	struct contact_summary summary = { 0 };
	uint32_t capacity = 4 * world_stats(world).contacts, count = 0, deep = 0;
	struct contact_view *views = heap_alloc(MAX_OF(capacity, 1u) * sizeof *views);
	if (views == NULL || world_contacts(world, 0, views, capacity, &count) != STATUS_OK) {
		heap_free(views);
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory to list %u contact points", (unsigned)capacity);
	}
	const struct contact_view *counted = NULL; /* a point of the contact counted last */
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_view *view = &views[i];
		if (view->separation > 0 && view->normal_impulse <= 0)
			continue;
		bool same = counted != NULL && counted->a == view->a && counted->b == view->b &&
			    counted->child_a == view->child_a && counted->child_b == view->child_b;
		summary.contacts += !same;
		counted = view;
		if (view->separation >= 0)
			continue;
		summary.max = MAX_OF(summary.max, -view->separation);
		summary.mean -= view->separation;
		deep++;
	}
	summary.mean = deep > 0 ? summary.mean / deep : 0;
	heap_free(views);
	*out = summary;
	return STATUS_OK;
}

static void report_run(struct run *run, const struct contact_summary *contacts)
{
	const struct world *world = run->world;
	struct world_stats stats = world_stats(world);
	struct world_energy energy = world_energy(world);
	struct world_info info = world_info(world);
	const char *scene = run->options->operands.items[0];
	printf("{\"scene\": ");
	json_text_print(stdout, scene, strlen(scene));
	printf(", \"ticks\": %" PRIu64 ", \"hash\": \"%016" PRIx64 "\", ", info.tick,
	       world_state_hash(world, NULL, NULL));
	printf("\"tick_hash\": \"%016" PRIx64 "\", ", world_tick_hash(world));
	printf("\"stopped\": \"%s\", ", run->stopped ? "until" : "ticks");
	print_times(run);
	if (run->options->run_profile)
		print_stages(run);
	printf("\"bodies\": %u, \"awake\": %u, \"contacts\": %u, ", (unsigned)stats.bodies,
	       (unsigned)stats.awake, (unsigned)contacts->contacts);
	printf("\"penetration\": {\"max\": %.9g, \"mean\": %.9g}, ", contacts->max, contacts->mean);
	printf("\"energy\": {\"kinetic\": %.17g, \"potential\": %.17g}, ", energy.kinetic,
	       energy.potential);
	printf("\"momentum\": {\"linear\": [%.17g, %.17g, %.17g], "
	       "\"angular\": [%.17g, %.17g, %.17g]}, ",
	       energy.linear.x, energy.linear.y, energy.linear.z, energy.angular.x,
	       energy.angular.y, energy.angular.z);
	printf("\"residual\": %.9g, \"iterations\": %u, \"fallbacks\": %" PRIu64 ", ",
	       stats.residual, (unsigned)stats.iterations, stats.fallbacks_total);
	printf("\"islands\": {\"all\": %u, \"dense\": %u, \"sparse\": %u, \"dependent\": %u, "
	       "\"reduced\": %u, \"maximal\": %u}, \"sagging\": %u, "
	       "\"push_work\": %.9g, ",
	       (unsigned)stats.islands, (unsigned)stats.islands_dense,
	       (unsigned)stats.islands_sparse, (unsigned)stats.islands_dependent,
	       (unsigned)stats.islands_reduced, (unsigned)stats.islands_maximal,
	       (unsigned)run->sagging, stats.push_work_total);
	printf("\"joints\": {\"count\": %u, \"broken\": %" PRIu64
	       ", \"error\": %.9g, \"taut\": %u}, ",
	       (unsigned)stats.joints, stats.joints_broken_total, run->joint_error,
	       (unsigned)stats.taut);
#define PRINT_COUNT(name, NAME, text)                                                              \
	printf("\"" #name "\": %" PRIu64 ", ", stats.impact_total.name);
	printf("\"impact\": {");
	IMPACT_COUNTS(PRINT_COUNT)
#undef PRINT_COUNT
	printf("\"error\": %.9g}, ", stats.impact_error);
	const struct sweep_totals *sweeps = &stats.sweeps_total;
	printf("\"sweeps\": {\"bodies\": %" PRIu64 ", \"stops\": %" PRIu64 ", \"cores\": %" PRIu64
	       ", \"pairs\": %" PRIu64 ", \"limits\": %" PRIu64 "}, ",
	       sweeps->bodies, sweeps->stops, sweeps->cores, sweeps->pairs, sweeps->limits);
	printf("\"quarantined\": %" PRIu64 ", \"workers\": %" PRIu64 ", ", stats.quarantined_total,
	       run->options->run_workers);
	printf("\"method\": \"%s\"}\n", info.method);
}

/* What a user has to know of a run that nothing refuses. */
static void warn_of_run(const struct run *run)
{
	if (run->sagging > 0)
		fprintf(stderr,
			"cairnd run: %u bodies are too thin for the contact springs of soft-step "
			"and sink into others: set soft_step.substeps and soft_step.contact_hertz "
			"higher, or choose lcp or impact\n",
			(unsigned)run->sagging);
}

static enum status write_poses(struct run *run, struct reason *why)
{
	const struct output_file *poses = &run->output.files[RUN_POSES];
	FILE *file;
	if (poses->path == NULL)
		return STATUS_OK;
	uint32_t count = world_bodies(run->world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	if (ids == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, poses->field, "%s",
				  status_text(STATUS_NO_MEMORY));
	enum status status = output_file_open(poses, &file, why);
	if (status == STATUS_OK) {
		world_bodies(run->world, ids, count);
		fputs(RUN_BODY_COLUMNS "\n", file);
		run_print_bodies(file, run->world, ids, count, -1);
		status = output_file_close(poses, file, why);
	}
	heap_free(ids);
	return status;
}

int run_scene(const struct options *options)
{
	struct run run = { .options = options };
	struct reason why = { 0 };
	struct contact_summary contacts = { 0 };
	enum status status = prepare_run(&run, &why);
	if (status == STATUS_OK)
		status = step_all(&run, &why);
	status = run_output_close(&run.output, run.world, status, &why);
	if (status == STATUS_OK)
		status = write_poses(&run, &why);
	if (status == STATUS_OK)
		status = summarize_contacts(run.world, &contacts, &why);
	if (status == STATUS_OK) {
		report_run(&run, &contacts);
		warn_of_run(&run);
	} else
		command_refused("run", "", why.field, &why);
	heap_free(run.ms);
	if (run.pool != NULL)
		parallel_pool_destroy(run.pool);
	if (run.world != NULL)
		world_destroy(run.world);
	shape_library_release(&run.shapes);
	return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
