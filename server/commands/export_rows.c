/* export_rows.c: the sinks of CSV, NumPy and JSON lines, and what all sinks share. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/base/json_text.h"
#include "server/base/output_file.h"
#include "server/commands/export.h"

/* ---- shared -------------------------------------------------------------------------------------- */

enum status export_failed(enum status status, struct reason *why)
{
	return reason_set(why, status, -1, "export", "the export cannot be written: %s",
			  status_text(status));
}

double export_time(const struct world *world, uint64_t tick)
{
	struct world_info info = world_info(world);
	return (double)tick * info.rate_den / info.rate_num;
}

void export_name(const struct export_sink *self, body_id body, char name[SCENE_BODY_NAME])
{
	name[0] = '\0';
	if (self->names != NULL)
		(void)scene_body_name(self->names, body, name);
}

/* Ids of all bodies, in self->ids. NO_MEMORY. */
static enum status export_bodies(struct export_sink *self, const struct world *world)
{
	uint32_t count = world_bodies(world, NULL, 0);
	enum status status = ARRAY_RESERVE(&self->ids, count);
	if (status == STATUS_OK)
		self->ids.count = world_bodies(world, self->ids.items, count);
	return status;
}

static void release_rows(struct export_sink *self)
{
	heap_free(self);
}

static enum status nothing(struct export_sink *self, struct reason *why)
{
	UNUSED(self);
	UNUSED(why);
	return STATUS_OK;
}

/* The numbers of a body in the order of the columns: position, rotation, velocity, angular velocity. */
enum { NUMBERS = 13 };
static void numbers_of(const struct body_view *view, double out[NUMBERS])
{
	memcpy(out, &view->position, 3 * sizeof *out);
	memcpy(out + 3, &view->rotation, 4 * sizeof *out);
	memcpy(out + 7, &view->velocity, 3 * sizeof *out);
	memcpy(out + 10, &view->angular_velocity, 3 * sizeof *out);
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

static enum status begin_csv(struct export_sink *self, struct reason *why)
{
	UNUSED(why);
	fprintf(self->file,
		"epoch,tick,time,body,tag,asleep,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz%s\n",
		self->names != NULL ? ",name" : "");
	return STATUS_OK;
}

/* In quotes, with quotes in it doubled (RFC 4180). */
static void put_csv_name(struct export_sink *self, body_id body)
{
	char name[SCENE_BODY_NAME];
	export_name(self, body, name);
	fputs(",\"", self->file);
	for (const char *at = name; *at != '\0'; at++)
		fprintf(self->file, *at == '"' ? "\"\"" : "%c", *at);
	fputs("\"", self->file);
}

static enum status state_csv(struct export_sink *self, const struct world *world,
			     struct recorded_place place, bool sampled, struct reason *why)
{
	UNUSED(why);
	for (uint32_t i = 0; sampled && i < self->ids.count; i++) {
		struct body_view view;
		double numbers[NUMBERS];
		if (world_body(world, self->ids.items[i], &view) != STATUS_OK)
			continue;
		numbers_of(&view, numbers);
		fprintf(self->file, "%u,%" PRIu64 ",%.17g,%u,%" PRId64 ",%d", (unsigned)place.epoch,
			place.tick, export_time(world, place.tick), (unsigned)view.id, view.tag,
			(int)view.asleep);
		for (int k = 0; k < NUMBERS; k++)
			fprintf(self->file, ",%.17g", numbers[k]);
		if (self->names != NULL)
			put_csv_name(self, view.id);
		fputc('\n', self->file);
		self->rows++;
	}
	return STATUS_OK;
}

const struct export_ops export_csv = { begin_csv, state_csv, nothing, release_rows };

/* ---- NumPy --------------------------------------------------------------------------------------- */

/* One structured array; its header has a fixed length, and the number of rows is written at the end. */
enum { NPY_HEADER = 512 };

static enum status write_npy_header(struct export_sink *self)
{
	char header[NPY_HEADER];
	memset(header, ' ', sizeof header);
	memcpy(header, "\x93NUMPY\x01\x00", 8);
	header[8] = (char)((NPY_HEADER - 10) & 0xff);
	header[9] = (char)((NPY_HEADER - 10) >> 8);
	int used = snprintf(header + 10, sizeof header - 10,
			    "{'descr': [('epoch', '<u4'), ('tick', '<u8'), ('time', '<f8'), "
			    "('body', '<u4'), ('tag', '<i8'), ('position', '<f8', (3,)), "
			    "('rotation', '<f8', (4,)), ('velocity', '<f8', (3,)), "
			    "('spin', '<f8', (3,))%s], 'fortran_order': False, 'shape': (%" PRIu64
			    ",), }",
			    self->names != NULL ? ", ('name', 'S80')" : "", self->rows);
	header[10 + used] = ' ';
	header[NPY_HEADER - 1] = '\n';
	return fwrite(header, 1, sizeof header, self->file) == sizeof header ? STATUS_OK
									     : STATUS_IO;
}

static enum status begin_npy(struct export_sink *self, struct reason *why)
{
	enum status status = write_npy_header(self);
	return status == STATUS_OK ? status : export_failed(status, why);
}

static enum status state_npy(struct export_sink *self, const struct world *world,
			     struct recorded_place place, bool sampled, struct reason *why)
{
	bytes_reset(&self->bytes);
	struct writer writer = writer_into(&self->bytes);
	for (uint32_t i = 0; sampled && i < self->ids.count; i++) {
		struct body_view view;
		double numbers[NUMBERS];
		if (world_body(world, self->ids.items[i], &view) != STATUS_OK)
			continue;
		numbers_of(&view, numbers);
		write_u32(&writer, place.epoch);
		write_u64(&writer, place.tick);
		write_f64(&writer, export_time(world, place.tick));
		write_u32(&writer, view.id);
		write_u64(&writer, (uint64_t)view.tag);
		for (int k = 0; k < NUMBERS; k++)
			write_f64(&writer, numbers[k]);
		if (self->names != NULL) {
			char name[SCENE_BODY_NAME] = "";
			export_name(self, view.id, name);
			memset(name + strlen(name), 0, sizeof name - strlen(name));
			write_raw(&writer, name, sizeof name);
		}
		self->rows++;
	}
	if (writer_status(&writer) != STATUS_OK)
		return export_failed(STATUS_NO_MEMORY, why);
	if (fwrite(self->bytes.data, 1, self->bytes.count, self->file) != self->bytes.count)
		return export_failed(STATUS_IO, why);
	return STATUS_OK;
}

static enum status end_npy(struct export_sink *self, struct reason *why)
{
	enum status status = fseek(self->file, 0, SEEK_SET) == 0 ? STATUS_OK : STATUS_IO;
	if (status == STATUS_OK)
		status = write_npy_header(self);
	return status == STATUS_OK ? status : export_failed(status, why);
}

const struct export_ops export_npy = { begin_npy, state_npy, end_npy, release_rows };

/* ---- JSON lines ---------------------------------------------------------------------------------- */

static void put_numbers(FILE *file, const char *key, const double *numbers, int count)
{
	fprintf(file, ", \"%s\": [", key);
	for (int i = 0; i < count; i++)
		fprintf(file, "%s%.17g", i > 0 ? ", " : "", numbers[i]);
	fputs("]", file);
}

static enum status state_json(struct export_sink *self, const struct world *world,
			      struct recorded_place place, bool sampled, struct reason *why)
{
	UNUSED(why);
	if (!sampled)
		return STATUS_OK;
	fprintf(self->file, "{\"epoch\": %u, \"tick\": %" PRIu64 ", \"time\": %.17g, \"bodies\": [",
		(unsigned)place.epoch, place.tick, export_time(world, place.tick));
	for (uint32_t i = 0; i < self->ids.count; i++) {
		struct body_view view;
		double numbers[NUMBERS];
		if (world_body(world, self->ids.items[i], &view) != STATUS_OK)
			continue;
		numbers_of(&view, numbers);
		fprintf(self->file, "%s{\"body\": %u, \"tag\": %" PRId64, i > 0 ? ", " : "",
			(unsigned)view.id, view.tag);
		char name[SCENE_BODY_NAME];
		export_name(self, view.id, name);
		if (name[0] != '\0') {
			fputs(", \"name\": ", self->file);
			json_text_print(self->file, name, strlen(name));
		}
		put_numbers(self->file, "position", numbers, 3);
		put_numbers(self->file, "rotation", numbers + 3, 4);
		put_numbers(self->file, "velocity", numbers + 7, 3);
		put_numbers(self->file, "spin", numbers + 10, 3);
		fputs("}", self->file);
		self->rows++;
	}
	fputs("]}\n", self->file);
	return STATUS_OK;
}

const struct export_ops export_json = { nothing, state_json, nothing, release_rows };

/* ---- writing a file ------------------------------------------------------------------------------ */

static struct export_sink *make_rows(const struct export_ops *ops)
{
	struct export_sink *sink = heap_alloc_zero(sizeof *sink);
	if (sink != NULL)
		sink->ops = ops;
	return sink;
}

/* By the ending of `path`; RANGE: none of .csv, .npy, .json, .mcap, .sqlite. Returned owned. */
static enum status export_sink_create(const char *path, struct export_sink **out,
				      struct reason *why)
{
	if (path_ends(path, ".csv"))
		*out = make_rows(&export_csv);
	else if (path_ends(path, ".npy"))
		*out = make_rows(&export_npy);
	else if (path_ends(path, ".json"))
		*out = make_rows(&export_json);
	else if (path_ends(path, ".mcap"))
		*out = export_mcap_create();
	else if (path_ends(path, ".sqlite"))
		*out = export_sqlite_create();
	else
		return reason_set(why, STATUS_RANGE, -1, "export",
				  "%s: the ending must be .csv, .npy, .json, .mcap or .sqlite",
				  path);
	return *out != NULL ? STATUS_OK : export_failed(STATUS_NO_MEMORY, why);
}

static enum status visit_state(void *context, const struct world *world,
			       struct recorded_place place, bool sampled, struct reason *why)
{
	struct export_sink *self = context;
	if (export_bodies(self, world) != STATUS_OK)
		return export_failed(STATUS_NO_MEMORY, why);
	enum status status = self->ops->state(self, world, place, sampled, why);
	if (status == STATUS_OK && self->file != NULL)
		status = output_file_written(&self->out, self->file, why);
	self->states += sampled;
	return status;
}

static enum status open_export(struct export_sink *self, struct reason *why)
{
	enum status status = output_files_check(&self->out, 1, NULL, why);
	if (status != STATUS_OK || path_ends(self->out.path, ".sqlite"))
		return status;
	return output_file_open(&self->out, &self->file, why);
}

enum status export_file(const char *source, const char *path, const char *names,
			const struct past_range *range, uint64_t *states, uint64_t *rows,
			struct reason *why)
{
	struct export_sink *self;
	struct scene *scene = NULL;
	enum status status = names != NULL ? scene_load(names, &scene, why) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	status = export_sink_create(path, &self, why);
	if (status != STATUS_OK) {
		if (scene != NULL)
			scene_destroy(scene);
		return status;
	}
	self->names = scene;
	self->source = source;
	self->out = (struct output_file){ .path = path, .field = "export", .fresh = true };
	self->range = *range;
	status = open_export(self, why);
	bool made = status == STATUS_OK;
	if (status == STATUS_OK)
		status = self->ops->begin(self, why);
	if (status == STATUS_OK)
		status = past_play_file(source, range, visit_state, self, why);
	if (status == STATUS_OK)
		status = self->ops->end(self, why);
	if (self->file != NULL) {
		struct reason ignored;
		enum status closed = output_file_close(&self->out, self->file,
						       status == STATUS_OK ? why : &ignored);
		status = status == STATUS_OK ? closed : status;
	}
	*states = self->states;
	*rows = self->rows;
	ARRAY_RELEASE(&self->ids);
	bytes_release(&self->bytes);
	self->ops->release(self);
	if (scene != NULL)
		scene_destroy(scene);
	if (made && status != STATUS_OK)
		unlink(path);
	return status;
}
