/* past_archive.c: ARCHIVE: recordings of a world are made, listed, removed, read and received
 * (store/archive.h), here because it takes long and reads files. */
#include <stdio.h>
#include <string.h>

#include "protocol/packer.h"
#include "server/base/heap.h"
#include "server/past/past_state.h"

/* ---- LIST ---------------------------------------------------------------------------------------- */

enum { ENTRY_BYTES_MAX = 64 + 5 + WIRE_NAME_MAX + 5 + WIRE_TITLE_MAX + 40 };

static void pack_place(struct wire_packer *out, struct recorded_place place)
{
	wire_pack_array(out, 2);
	wire_pack_uint(out, place.epoch);
	wire_pack_uint(out, place.tick);
}

static void pack_entry(struct wire_packer *out, const struct archive_entry *entry)
{
	wire_pack_array(out, 7);
	wire_pack_string(out, entry->name);
	wire_pack_string(out, entry->title);
	wire_pack_string(out, entry->since);
	wire_pack_uint(out, entry->bytes);
	pack_place(out, entry->first);
	pack_place(out, entry->last);
	wire_pack_uint(out, entry->running);
}

/* One that cannot be read is listed with the reason as its title. */
static void describe_stored(const char *world, const char *name, struct archive_entry *entry)
{
	struct reason why;
	sqlite3 *db;
	if (archive_open(world, name, &db, entry, &why) == STATUS_OK) {
		sql_close(db);
		return;
	}
	memset(entry, 0, sizeof *entry);
	snprintf(entry->name, sizeof entry->name, "%s", name);
	snprintf(entry->title, sizeof entry->title, "cannot be read: %.120s", why.text);
}

static enum status list_recordings(struct past_job *job)
{
	struct reason *why = &job->answer.why;
	struct bytes *raw = &job->answer.raw;
	uint32_t limit = MAX_OF(job->ask.limit, 1u), count = 0;
	struct archive_entry entry;
	char(*names)[WIRE_NAME_MAX + 1] = heap_alloc((size_t)limit * sizeof *names);
	size_t room = 16 + ((size_t)limit + 1) * ENTRY_BYTES_MAX;
	if (names == NULL || bytes_reserve(raw, room) != STATUS_OK) {
		heap_free(names);
		return reason_set(why, STATUS_NO_MEMORY, -1, "query", "%s",
				  status_text(STATUS_NO_MEMORY));
	}
	struct wire_packer out = wire_packer_over(raw->data, (uint32_t)room);
	struct keep keep;
	enum status status = archive_names(job->past->path, names, limit, &count, why);
	if (status == STATUS_OK)
		status = keep_read(job->walk.db, &keep, why);
	bool running = status == STATUS_OK && job->ask.archive.running && keep.is.name[0] != '\0';
	if (running)
		status = archive_describe(job->walk.db, true, &entry, why);
	count = MIN_OF(count, limit);
	wire_pack_array(&out, count + running);
	if (running)
		pack_entry(&out, &entry);
	for (uint32_t i = 0; i < count; i++) {
		describe_stored(job->past->path, names[i], &entry);
		pack_entry(&out, &entry);
	}
	heap_free(names);
	raw->count = out.bytes;
	return status == STATUS_OK ? wire_packer_status(&out) : status;
}

/* ---- COPY ---------------------------------------------------------------------------------------- */

static enum status find_beginning(struct past_job *job, uint64_t *seq)
{
	const struct past_archive *ask = &job->ask.archive;
	struct reason *why = &job->answer.why;
	struct past_stretch stretch;
	struct recorded_place from = job->ask.other;
	struct keep keep;
	enum status status;
	if (ask->running) {
		status = keep_read(job->walk.db, &keep, why);
		if (status == STATUS_OK && keep.is.name[0] == '\0')
			status = reason_set(why, STATUS_MISSING, -1, "name",
					    "no recording of the world runs");
		if (status == STATUS_OK)
			memcpy(job->ask.archive.title, keep.is.title, sizeof keep.is.title);
		return status == STATUS_OK ? keep_floor(job->walk.db, &keep, seq, why) : status;
	}
	if (!ask->has_from)
		return recording_first(job->walk.recording, seq, why);
	status = past_walk_find(&job->walk, false, &from, &stretch, why);
	if (status == STATUS_OK)
		status = recording_before(job->walk.recording, from, seq, why);
	return status;
}

static enum status begin_copy(struct past_job *job)
{
	struct reason *why = &job->answer.why;
	struct archive_order order = { .room = job->ask.archive.room };
	enum status status = find_beginning(job, &order.begins);
	if (status == STATUS_OK && order.begins == 0)
		status = reason_set(why, STATUS_RANGE, -1, "tick",
				    "no stored state is at or before it");
	if (status != STATUS_OK)
		return status;
	memcpy(order.name, job->ask.archive.name, sizeof order.name);
	memcpy(order.title, job->ask.archive.title, sizeof order.title);
	return archive_copy_begin(job->past->path, job->walk.db, &order, &job->copy, why);
}

static enum status copy_rows(struct past_job *job, uint64_t until)
{
	struct reason *why = &job->answer.why;
	uint32_t steps = 0;
	bool done = false;
	enum status status = job->copy == NULL ? begin_copy(job) : STATUS_OK;
	while (status == STATUS_OK && !done) {
		status = archive_copy_step(job->copy, &done, why);
		if (!done && past_slice_over(job, until, &steps))
			return status;
	}
	if (status == STATUS_OK)
		status = archive_copy_end(job->copy, &job->answer.entry, why);
	job->stage = STAGE_DONE;
	return status;
}

/* ---- the others ---------------------------------------------------------------------------------- */

static enum status take_part(struct past_job *job)
{
	const struct past_archive *ask = &job->ask.archive;
	struct past_answer *answer = &job->answer;
	const char *world = job->past->path;
	if (ask->part.count > 0)
		return archive_put(world, ask->name, ask->offset, &ask->part, ask->room,
				   &answer->why);
	return archive_put_end(world, ask->name, &answer->entry, &answer->why);
}

enum status past_play_archive(struct past_job *job, uint64_t until)
{
	const struct past_archive *ask = &job->ask.archive;
	struct past_answer *answer = &job->answer;
	const char *world = job->past->path;
	if (ask->action == PAST_ARCHIVE_COPY)
		return copy_rows(job, until);
	job->stage = STAGE_DONE;
	switch (ask->action) {
	case PAST_ARCHIVE_LIST:
		return list_recordings(job);
	case PAST_ARCHIVE_REMOVE:
		return archive_remove(world, ask->name, &answer->why);
	case PAST_ARCHIVE_READ:
		return archive_read(world, ask->name, ask->offset, WIRE_SHAPE_PART, &answer->raw,
				    &answer->entry.bytes, &answer->why);
	case PAST_ARCHIVE_PUT:
		return take_part(job);
	case PAST_ARCHIVE_COPY:
		break;
	}
	return STATUS_UNSUPPORTED;
}
