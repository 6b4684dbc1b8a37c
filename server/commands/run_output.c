/* See run_output.h. */
#include "server/commands/run_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/heap.h"

/* Ticks of one transaction of the recording, and between two of its checkpoints. */
enum { TICKS_A_TRANSACTION = 1024, CHECKPOINT_TICKS = 3600 };

/* ---- the condition ----------------------------------------------------------------------------- */

static bool take_number(const char *text, const char *head, double *value)
{
	size_t length = strlen(head);
	char *end;
	if (strncmp(text, head, length) != 0)
		return false;
	*value = strtod(text + length, &end);
	return end != text + length && *end == '\0' && *value >= 0;
}

enum status run_condition_parse(const char *text, struct run_condition *out, struct reason *why)
{
	*out = (struct run_condition){ .kind = UNTIL_NEVER };
	if (text == NULL)
		return STATUS_OK;
	if (strcmp(text, "asleep") == 0)
		out->kind = UNTIL_ASLEEP;
	else if (take_number(text, "energy<", &out->value))
		out->kind = UNTIL_ENERGY;
	else if (take_number(text, "tick>=", &out->value))
		out->kind = UNTIL_TICK;
	else
		return reason_set(why, STATUS_RANGE, -1, "until",
				  "--until: \"%.40s\" is no condition; use asleep, energy<JOULE or "
				  "tick>=N",
				  text);
	return STATUS_OK;
}

bool run_condition_holds(const struct run_condition *self, const struct world *world)
{
	switch (self->kind) {
	case UNTIL_ASLEEP:
		return world_stats(world).awake == 0;
	case UNTIL_ENERGY:
		return world_energy(world).kinetic < self->value;
	case UNTIL_TICK:
		return (double)world_info(world).tick >= self->value;
	case UNTIL_NEVER:
		break;
	}
	return false;
}

/* ---- the trajectory ---------------------------------------------------------------------------- */

void run_print_bodies(FILE *file, const struct world *world, const body_id *ids, uint32_t count,
		      int64_t tick)
{
	for (uint32_t i = 0; i < count; i++) {
		struct body_view b;
		if (world_body(world, ids[i], &b) != STATUS_OK)
			continue;
		const double values[] = {
			b.position.x,	      b.position.y,	    b.position.z,
			b.rotation.w,	      b.rotation.x,	    b.rotation.y,
			b.rotation.z,	      b.velocity.x,	    b.velocity.y,
			b.velocity.z,	      b.angular_velocity.x, b.angular_velocity.y,
			b.angular_velocity.z,
		};
		if (tick >= 0)
			fprintf(file, "%" PRId64 ",", tick);
		fprintf(file, "%" PRIu32, b.id);
		for (size_t k = 0; k < COUNT_OF(values); k++)
			fprintf(file, ",%.17g", values[k]);
		fputc('\n', file);
	}
}

static enum status fail_trajectory(const struct run_output *self, struct reason *why)
{
	return reason_set(why, STATUS_IO, -1, "trajectory",
			  "cannot write %s; check the path and free space",
			  self->options->run_trajectory);
}

static enum status write_trajectory(struct run_output *self, const struct world *world,
				    struct reason *why)
{
	uint64_t tick = world_info(world).tick;
	if (self->trajectory == NULL || tick % MAX_OF(self->options->run_every, 1u) != 0)
		return STATUS_OK;
	uint32_t count = world_bodies(world, NULL, 0);
	enum status status =
		array_reserve(&self->ids, &self->ids_room, MAX_OF(count, 1u), sizeof *self->ids);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "trajectory", "%s", status_text(status));
	world_bodies(world, self->ids, count);
	run_print_bodies(self->trajectory, world, self->ids, count, (int64_t)tick);
	return ferror(self->trajectory) ? fail_trajectory(self, why) : STATUS_OK;
}

/* ---- the recording ----------------------------------------------------------------------------- */

static enum status flush_records(struct run_output *self, struct reason *why)
{
	struct world_file_progress progress = { 0 };
	if (record_buffer_is_empty(&self->records_waiting))
		return STATUS_OK;
	enum status status = world_file_write(&self->file, &self->records_waiting, &progress, why);
	record_buffer_reset(&self->records_waiting);
	self->waiting = 0;
	return status;
}

static enum status record_state(struct run_output *self, const struct world *world,
				struct reason *why)
{
	struct world_info info = world_info(world);
	struct bytes image = { 0 };
	uint64_t tables[WORLD_TABLES_MAX];
	uint32_t count;
	uint64_t hash = world_state_hash(world, tables, &count);
	enum status status = world_save(world, &image);
	if (status == STATUS_OK)
		status = record_buffer_put_checkpoint(&self->records_waiting, info.epoch, info.tick,
						      info.edit, NULL, &image, hash, tables, count);
	bytes_release(&image);
	self->since_checkpoint = 0;
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "record", "%s", status_text(status));
	return flush_records(self, why);
}

static enum status claim_recording(const char *path, struct reason *why)
{
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return reason_set(why, errno == EEXIST ? STATUS_EXISTS : STATUS_IO, -1, "record",
				  "%s: %s", path, strerror(errno));
	close(file);
	return STATUS_OK;
}

static enum status open_recording(struct run_output *self, const struct world *world,
				  const struct shape_library *shapes, struct reason *why)
{
	const char *path = self->options->run_record;
	struct world_info info = world_info(world);
	enum status status = claim_recording(path, why);
	if (status == STATUS_OK)
		status = world_file_create(&self->file, path, "run", NULL, why);
	self->records = status == STATUS_OK;
	for (uint32_t i = 0; i < shapes->count && status == STATUS_OK; i++) {
		status = record_buffer_put_shape(&self->records_waiting, info.epoch, info.tick,
						 shape_library_at(shapes, i));
		if (status != STATUS_OK)
			reason_set(why, status, -1, "record", "%s", status_text(status));
	}
	return status == STATUS_OK ? record_state(self, world, why) : status;
}

static enum status record_tick(struct run_output *self, const struct world *world,
			       struct reason *why)
{
	struct world_info info = world_info(world);
	if (!self->records)
		return STATUS_OK;
	enum status status = record_buffer_put_tick(&self->records_waiting, info.epoch, info.tick,
						    world_tick_hash(world));
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "record", "%s", status_text(status));
	if (++self->since_checkpoint == CHECKPOINT_TICKS)
		return record_state(self, world, why);
	return ++self->waiting == TICKS_A_TRANSACTION ? flush_records(self, why) : STATUS_OK;
}

/* ---- both -------------------------------------------------------------------------------------- */

enum status run_output_open(struct run_output *self, const struct options *options,
			    const struct world *world, const struct shape_library *shapes,
			    struct reason *why)
{
	enum status status = STATUS_OK;
	*self = (struct run_output){ .options = options };
	if (options->run_trajectory != NULL) {
		self->trajectory = fopen(options->run_trajectory, "w");
		if (self->trajectory == NULL)
			return fail_trajectory(self, why);
		fputs("tick," RUN_BODY_COLUMNS "\n", self->trajectory);
		status = write_trajectory(self, world, why);
	}
	if (status == STATUS_OK && options->run_record != NULL)
		status = open_recording(self, world, shapes, why);
	return status;
}

enum status run_output_tick(struct run_output *self, const struct world *world, struct reason *why)
{
	enum status status = record_tick(self, world, why);
	return status == STATUS_OK ? write_trajectory(self, world, why) : status;
}

enum status run_output_close(struct run_output *self, const struct world *world, enum status status,
			     struct reason *why)
{
	struct reason ignored, *reason = status == STATUS_OK ? why : &ignored;
	/* A step that failed may have left the state between two ticks. */
	enum status closed = STATUS_OK;
	if (self->records)
		closed = status == STATUS_OK && self->since_checkpoint > 0
				 ? record_state(self, world, reason)
				 : flush_records(self, reason);
	world_file_close(&self->file);
	record_buffer_release(&self->records_waiting);
	if (self->trajectory != NULL && fclose(self->trajectory) != 0 && closed == STATUS_OK)
		closed = fail_trajectory(self, reason);
	heap_free(self->ids);
	return status == STATUS_OK ? closed : status;
}
