/* See pack_scene.h. The scene is stepped under `pile`, whatever its own method is, until all bodies are at
 * rest; then its flat copy is written with the bodies there. Friction, restitution and velocities have no
 * meaning while places alone are sought, and are left out for as long; the written scene has the materials as
 * before, and no velocities.
 *
 * The text is read again before it is written, as it will be where it lies, and its bodies are compared with
 * those of the world. */
#include "server/commands/pack_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scene/files.h"
#include "server/base/heap.h"
#include "server/base/json_text.h"
#include "server/commands/batch_world.h"
#include "server/io/instant.h"
#include "server/io/parallel_pool.h"
#include "server/worlds/scene_world.h"

/* m. Larger overlaps are refused; that of rows closed up to rounding is smaller. */
#define OVERLAP_MAX 1e-9
/* 1. Rotations are made unit again when they are read. */
#define SAME_TURN 1e-15
/* Steps without any motion and without rest: then no later one moves a body. Groups that wait get more work
 * within fewer. */
#define STEPS_STUCK 256
/* ns, between two lines about a heap that takes long. */
#define TELLS_EVERY 10000000000u

struct pack_scene_job {
	const struct options *options;
	struct scene_options given;
	struct scene *scene;
	struct world *world;
	struct parallel_pool *pool; /* owned */
	struct shape_library shapes;
	pose *places; /* owned; of the bodies, by id */
	bool *moves;  /* owned; by id: it is dynamic in the scene */
	uint32_t count, moved, steps, still, left;
	uint32_t awake; /* bodies that are not at rest */
	body_id first_awake;
	uint32_t gone; /* bodies that moved and left the world or its bounds: they are inactive */
	body_id first_gone;
	bool rest;
	double energy_before, energy;
	/* The deepest overlap at the end. */
	double overlap;
	body_id a, b;
};

/* ---- the world --------------------------------------------------------------------------------- */

static void leave_out_material(struct command_SET_PIECE *piece)
{
	piece->static_friction = piece->dynamic_friction = piece->axis_friction = 0;
	piece->rolling_friction = piece->spinning_friction = piece->restitution = 0;
	piece->friction_axis = vec3_zero();
}

static void leave_out_motion(struct command *command)
{
	struct command_SPAWN *spawn = &command->spawn;
	if (command->op == COMMAND_SET_VELOCITY)
		command->set_velocity.velocity = command->set_velocity.angular_velocity =
			vec3_zero();
	if (command->op == COMMAND_SET_PIECE && (command->set_piece.own & OWN_MATERIAL) != 0)
		leave_out_material(&command->set_piece);
	if (command->op != COMMAND_SPAWN)
		return;
	spawn->static_friction = spawn->dynamic_friction = spawn->axis_friction = 0;
	spawn->rolling_friction = spawn->spinning_friction = spawn->restitution = 0;
	spawn->friction_axis = vec3_zero();
	if (spawn->status == BODY_DYNAMIC)
		spawn->velocity = spawn->angular_velocity = vec3_zero();
	spawn->flags |= BODY_MAY_SLEEP;
}

/* Bodies at rest are those that sleep. */
static enum status check_sleep(const struct world *world, struct reason *why)
{
	if (world_parameter(world, "sleep.enabled") > 0)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "set",
			  "sleep.enabled is 0: it must be 1 while bodies come to rest, which ends "
			  "when all sleep; leave it out");
}

/* Room for places, and which bodies the scene lets move. */
static enum status list_bodies(struct pack_scene_job *job, struct reason *why)
{
	uint32_t body = 0;
	job->places = heap_alloc_zero(MAX_OF(job->count, 1u) * sizeof *job->places);
	job->moves = heap_alloc_zero(MAX_OF(job->count, 1u) * sizeof *job->moves);
	if (job->places == NULL || job->moves == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for %u bodies",
				  job->count);
	for (uint32_t i = 0; i < job->scene->command_count; i++)
		if (job->scene->commands[i].op == COMMAND_SPAWN)
			job->moves[body++] = job->scene->commands[i].spawn.status == BODY_DYNAMIC;
	return STATUS_OK;
}

static enum status make_world(struct pack_scene_job *job, struct reason *why)
{
	static const char *const SETTINGS[] = { "sleep.enabled=1", "sleep.time=0" };
	const struct options *options = job->options;
	enum status status =
		scene_load_with(options->operands.items[0], &job->given, &job->scene, why);
	if (status != STATUS_OK)
		return status;
	if (job->scene->notes != NULL)
		fputs(job->scene->notes, stderr);
	for (uint32_t i = 0; i < job->scene->command_count; i++) {
		job->count += job->scene->commands[i].op == COMMAND_SPAWN;
		leave_out_motion(&job->scene->commands[i]);
	}
	status = scene_world_make(job->scene, "pile", &job->shapes, &job->world, why);
	for (size_t i = 0; i < COUNT_OF(SETTINGS) && status == STATUS_OK; i++)
		status = batch_world_set(job->world, SETTINGS[i], why);
	if (status == STATUS_OK)
		status = batch_world_set_all(job->world, &options->pack_set, why);
	if (status == STATUS_OK)
		status = check_sleep(job->world, why);
	return status == STATUS_OK ? list_bodies(job, why) : status;
}

/* Where all bodies are; *moved: whether one is elsewhere than before. */
static enum status read_places(struct pack_scene_job *job, bool *moved, struct reason *why)
{
	*moved = false;
	job->moved = job->left = job->awake = job->first_awake = job->gone = 0;
	for (uint32_t i = 0; i < job->count; i++) {
		struct body_view body;
		if (world_body(job->world, i + 1, &body) != STATUS_OK)
			return reason_set(why, STATUS_CORRUPT, -1, "bodies",
					  "body %u of the scene has gone", i + 1);
		*moved = *moved || !vec3_equal(body.position, job->places[i].position);
		job->places[i] = pose_make(body.position, body.rotation);
		job->moved += body.status == BODY_DYNAMIC;
		job->left += body.status == BODY_INACTIVE;
		if (body.status == BODY_INACTIVE && job->moves[i] && job->gone++ == 0)
			job->first_gone = i + 1;
		if (body.status != BODY_DYNAMIC || body.asleep)
			continue;
		if (job->awake++ == 0)
			job->first_awake = i + 1;
	}
	return STATUS_OK;
}

/* A line now and then, so that one who waits for minutes at a terminal sees what goes on. */
static void tell_progress(const struct pack_scene_job *job, uint64_t *told)
{
	uint64_t now = instant_now();
	if (now - *told < TELLS_EVERY || isatty(STDERR_FILENO) != 1)
		return;
	*told = now;
	fprintf(stderr, "step %u: energy %.6g J, %u bodies not at rest, residual %.3g\n",
		job->steps, world_energy(job->world).potential, job->awake,
		world_stats(job->world).residual);
}

static enum status start_workers(struct pack_scene_job *job, struct reason *why)
{
	uint32_t workers = (uint32_t)job->options->pack_workers;
	enum status status = parallel_pool_create(workers, &job->pool);
	return status == STATUS_OK ? STATUS_OK
				   : reason_set(why, status, -1, "workers",
						"%u threads cannot be started (%s); give fewer",
						workers, status_text(status));
}

static enum status step_to_rest(struct pack_scene_job *job, struct reason *why)
{
	uint64_t most = job->options->pack_jumps;
	bool moved;
	const struct parallel *parallel = parallel_pool_parallel(job->pool);
	uint64_t told = instant_now();
	enum status status = read_places(job, &moved, why);
	job->energy_before = world_energy(job->world).potential;
	while (status == STATUS_OK && !job->rest && job->steps < most && job->still < STEPS_STUCK) {
		status = world_step(job->world, parallel, why);
		if (status == STATUS_OK)
			status = read_places(job, &moved, why);
		job->steps++;
		job->still = moved ? 0 : job->still + 1;
		job->rest = world_stats(job->world).awake == 0;
		tell_progress(job, &told);
	}
	job->energy = world_energy(job->world).potential;
	return status;
}

/* ---- checks ------------------------------------------------------------------------------------ */

enum { BODY_TEXT = 192 };
/* A body in texts: its file without folders, so that two bodies fit into one text, its line, and its
 * name if it has one. */
static const char *body_text(const struct pack_scene_job *job, body_id body, char *text,
			     size_t bytes)
{
	char name[SCENE_BODY_NAME], place[SCENE_PLACE_BYTES];
	uint32_t spawn = 0, at = 0;
	for (uint32_t i = 0; i < job->scene->command_count && at < body; i++) {
		at += job->scene->commands[i].op == COMMAND_SPAWN;
		spawn = i;
	}
	bool named = scene_body_name(job->scene, body, name);
	scene_place(job->scene, job->scene->lines[spawn], place);
	const char *folder = strrchr(place, '/');
	snprintf(text, bytes, "body %u (%s%s%s)", body, named ? name : "", named ? ", " : "",
		 folder != NULL ? folder + 1 : place);
	return text;
}

/* m: how deep two bodies overlap. Points of a contact may lie behind its face where the two are apart along
 * another axis, so they are not asked. */
static double overlap_of(const struct world *world, body_id a, body_id b)
{
	struct placed_shape first[ATTACHMENTS_MAX], second[ATTACHMENTS_MAX];
	uint32_t first_count = world_placed(world, a, first, ATTACHMENTS_MAX);
	uint32_t second_count = world_placed(world, b, second, ATTACHMENTS_MAX);
	struct closest_pair pair;
	bool near = placed_closest(first, first_count, second, second_count, OVERLAP_MAX, &pair);
	return near && pair.distance < 0 ? -pair.distance : 0;
}

static enum status check_overlap(struct pack_scene_job *job, struct reason *why)
{
	char a[BODY_TEXT], b[BODY_TEXT];
	uint32_t capacity = 4 * world_stats(job->world).contacts, count = 0;
	struct contact_view *views = heap_alloc(MAX_OF(capacity, 1u) * sizeof *views);
	if (views == NULL || world_contacts(job->world, 0, views, capacity, &count) != STATUS_OK) {
		heap_free(views);
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory to list %u contact points", capacity);
	}
	for (uint32_t i = 0; i < count; i++) {
		bool same = i > 0 && views[i].a == views[i - 1].a && views[i].b == views[i - 1].b;
		double overlap = same ? 0 : overlap_of(job->world, views[i].a, views[i].b);
		if (overlap <= job->overlap)
			continue;
		job->overlap = overlap;
		job->a = views[i].a;
		job->b = views[i].b;
	}
	heap_free(views);
	if (job->overlap <= OVERLAP_MAX)
		return STATUS_OK;
	return reason_set(why, STATUS_LIMIT, -1, "bodies",
			  "%s and %s overlap by %.3g m after %u steps; make the container larger, "
			  "or the bodies fewer",
			  body_text(job, job->a, a, sizeof a), body_text(job, job->b, b, sizeof b),
			  job->overlap, job->steps);
}

static bool same_place(pose a, pose b)
{
	return vec3_equal(a.position, b.position) &&
	       scalar_abs(a.rotation.w - b.rotation.w) <= SAME_TURN &&
	       vec3_distance(quat_vector(a.rotation), quat_vector(b.rotation)) <= SAME_TURN;
}

/* Whether the text makes the bodies at these places. */
static enum status check_text(const struct pack_scene_job *job, const char *text,
			      struct reason *why)
{
	const char *path = job->options->operands.items[1];
	struct scene *scene;
	char *folder = scene_file_folder(path);
	if (folder == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for a path");
	enum status status = scene_parse_with(text, strlen(text), path, folder, NULL, &scene, why);
	heap_free(folder);
	if (status != STATUS_OK)
		return status;
	uint32_t body = 0;
	for (uint32_t i = 0; i < scene->command_count && status == STATUS_OK; i++) {
		const struct command_SPAWN *spawn = &scene->commands[i].spawn;
		if (scene->commands[i].op != COMMAND_SPAWN)
			continue;
		bool same =
			body < job->count &&
			same_place(pose_make(spawn->position, spawn->rotation), job->places[body]);
		body++;
		if (!same && spawn->status == BODY_DYNAMIC)
			status = reason_set(why, STATUS_CORRUPT, -1, "bodies",
					    "body %u of the written scene is elsewhere", body);
	}
	scene_destroy(scene);
	return status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

/* The scene with the bodies where they are; NULL, or a text that loads. */
static enum status make_text(const struct pack_scene_job *job, char **text, struct reason *why)
{
	*text = NULL;
	enum status status = scene_convert_placed(job->options->operands.items[0], &job->given,
						  job->places, job->count, text, why);
	if (status == STATUS_OK)
		status = check_text(job, *text, why);
	if (status != STATUS_OK) {
		heap_free(*text);
		*text = NULL;
	}
	return status;
}

/* Before the steps, which may take minutes: whether the scene loads where it is to be written. */
static enum status try_text(struct pack_scene_job *job, struct reason *why)
{
	char *text;
	bool moved;
	enum status status = read_places(job, &moved, why);
	if (status == STATUS_OK)
		status = make_text(job, &text, why);
	if (status == STATUS_OK)
		heap_free(text);
	return status;
}

static enum status write_scene(const struct pack_scene_job *job, struct reason *why)
{
	const char *path = job->options->operands.items[1];
	char *text;
	enum status status = make_text(job, &text, why);
	if (status == STATUS_OK) {
		FILE *file = fopen(path, "wb");
		bool failed = file == NULL || fputs(text, file) == EOF;
		if (file != NULL)
			failed |= fclose(file) != 0;
		if (failed)
			status = reason_set(why, STATUS_IO, -1, "file",
					    "%s cannot be written; check the path and free space",
					    path);
	}
	heap_free(text);
	return status;
}

static void print_report(const struct pack_scene_job *job)
{
	char text[BODY_TEXT];
	const char *file = job->options->operands.items[0];
	const char *stopped = job->rest ? "rest" : job->still >= STEPS_STUCK ? "stuck" : "jumps";
	struct world_stats stats = world_stats(job->world);
	if (strcmp(job->options->pack_report, "json") == 0) {
		printf("{\"file\": ");
		json_text_print(stdout, file, strlen(file));
		printf(", \"bodies\": %u, \"moving\": %u, \"inactive\": %u, \"steps\": %u, "
		       "\"stopped\": \"%s\", \"not at rest\": %u, \"gone\": %u, \"overlap\": %.3g, "
		       "\"residual\": %.3g, \"energy\": [%.12g, %.12g], \"fallbacks\": %llu}\n",
		       job->count, job->moved, job->left, job->steps, stopped, job->awake,
		       job->gone, job->overlap, stats.residual, job->energy_before, job->energy,
		       (unsigned long long)stats.fallbacks_total);
		return;
	}
	printf("bodies: %u, of which %u move and %u are inactive\n", job->count, job->moved,
	       job->left);
	printf("stopped: %s after %u steps; the forces at the end balance to a residual of %.3g\n",
	       job->rest		   ? "at rest"
	       : job->still >= STEPS_STUCK ? "because nothing moves"
					   : "by --jumps",
	       job->steps, stats.residual);
	if (!job->rest)
		printf("not at rest: %u bodies, the first is %s\n", job->awake,
		       body_text(job, job->first_awake, text, sizeof text));
	if (job->gone > 0)
		printf("gone: %u bodies left the world or its bounds, the first is %s\n", job->gone,
		       body_text(job, job->first_gone, text, sizeof text));
	printf("energy: %.12g J, before %.12g J\noverlap: %.3g\n", job->energy, job->energy_before,
	       job->overlap);
}

enum status pack_scene(const struct options *options, struct reason *why)
{
	struct pack_scene_job job = { .options = options };
	job.given.lets = options->pack_let.items;
	job.given.let_count = options->pack_let.count;
	shape_library_init(&job.shapes);
	enum status status = make_world(&job, why);
	if (status == STATUS_OK)
		status = try_text(&job, why);
	if (status == STATUS_OK)
		status = start_workers(&job, why);
	if (status == STATUS_OK)
		status = step_to_rest(&job, why);
	if (status == STATUS_OK)
		status = check_overlap(&job, why);
	if (status == STATUS_OK)
		status = write_scene(&job, why);
	if (status == STATUS_OK)
		print_report(&job);
	heap_free(job.places);
	heap_free(job.moves);
	scene_destroy(job.scene);
	if (job.pool != NULL)
		parallel_pool_destroy(job.pool);
	if (job.world != NULL) {
		world_destroy(job.world);
		shape_library_release(&job.shapes);
	}
	return status;
}
