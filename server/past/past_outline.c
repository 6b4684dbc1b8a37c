/* past_outline.c: OUTLINE: the epochs of the file, the keyframes in memory, and marks for a timeline. */
#include <stdio.h>
#include <string.h>

#include "protocol/packer.h"
#include "server/past/past_state.h"

enum { MARK_EPOCH, MARK_SNAPSHOT, MARK_COMMANDS, MARK_BYTES_MAX = 96 };

static const char *const causes[] = { "created", "restored", "recovered", "upgraded" };

static void pack_epochs(const struct past_walk *walk, struct wire_packer *out)
{
	wire_pack_array(out, walk->epochs.count);
	for (uint32_t i = 0; i < walk->epochs.count; i++) {
		const struct recorded_epoch *epoch = &walk->epochs.items[i];
		wire_pack_array(out, 4);
		wire_pack_uint(out, epoch->begin.epoch);
		wire_pack_uint(out, epoch->begin.tick);
		wire_pack_uint(out, epoch->last);
		wire_pack_string(out, causes[epoch->cause]);
	}
}

static void pack_mark(struct wire_packer *out, uint64_t epoch, uint64_t tick, uint32_t kind,
		      const char *text)
{
	wire_pack_array(out, 4);
	wire_pack_uint(out, epoch);
	wire_pack_uint(out, tick);
	wire_pack_uint(out, kind);
	wire_pack_string(out, text != NULL ? text : "");
}

/* Rows of `text`, each (epoch, tick, text), at most `limit` (?1), as marks of that kind. */
static enum status pack_marks(struct past_job *job, uint32_t kind, const char *text,
			      struct wire_packer *out, uint32_t *count)
{
	struct past_walk *walk = &job->walk;
	struct reason *why = &job->answer.why;
	sqlite3_stmt *rows = NULL;
	enum status status = sql_prepare(walk->db, text, &rows, why);
	if (status == STATUS_OK)
		sql_bind(rows, 1, job->ask.limit);
	while (status == STATUS_OK && (status = sql_row(walk->db, rows, why)) == STATUS_OK) {
		char label[MARK_BYTES_MAX - 32];
		const char *from = (const char *)sqlite3_column_text(rows, 2);
		snprintf(label, sizeof label, "%s", from != NULL ? from : "");
		pack_mark(out, sql_column(rows, 0), sql_column(rows, 1), kind, label);
		(*count)++;
	}
	sqlite3_finalize(rows);
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status pack_all_marks(struct past_job *job, struct wire_packer *out, uint32_t *count)
{
	*count = 0;
	enum status status =
		pack_marks(job, MARK_EPOCH,
			   "SELECT epoch, tick, cause || coalesce(' ' || snapshot, '') FROM epochs"
			   " ORDER BY epoch DESC LIMIT ?1",
			   out, count);
	if (status == STATUS_OK)
		status = pack_marks(
			job, MARK_SNAPSHOT,
			"SELECT epoch, tick, name FROM checkpoints WHERE name IS NOT NULL"
			" ORDER BY seq DESC LIMIT ?1",
			out, count);
	/* An application without batches only applied what had been sent before. */
	if (status == STATUS_OK)
		status = pack_marks(job, MARK_COMMANDS,
				    "SELECT epoch, tick, batches FROM applies WHERE batches > 0"
				    " ORDER BY seq DESC LIMIT ?1",
				    out, count);
	return status;
}

enum status past_play_outline(struct past_job *job)
{
	struct bytes marks = { 0 };
	struct bytes *raw = &job->answer.raw;
	size_t room = 64 + (size_t)job->walk.epochs.count * 64;
	size_t mark_room = 64 + 3 * (size_t)job->ask.limit * MARK_BYTES_MAX;
	struct keyframe_figures figures = { 0 };
	uint32_t count;
	if (job->past->keyframes != NULL)
		figures = keyframes_figures(job->past->keyframes);
	enum status status = bytes_reserve(&marks, mark_room);
	if (status == STATUS_OK)
		status = bytes_reserve(raw, room + mark_room);
	if (status != STATUS_OK) {
		bytes_release(&marks);
		return reason_set(&job->answer.why, status, -1, "query", "%s", status_text(status));
	}
	struct wire_packer list = wire_packer_over(marks.data, (uint32_t)mark_room);
	struct wire_packer out = wire_packer_over(raw->data, (uint32_t)(room + mark_room));
	status = pack_all_marks(job, &list, &count);
	wire_pack_array(&out, 3);
	pack_epochs(&job->walk, &out);
	wire_pack_array(&out, 3);
	wire_pack_uint(&out, figures.spacing);
	wire_pack_uint(&out, figures.count);
	wire_pack_uint(&out, figures.bytes);
	wire_pack_array(&out, count);
	wire_pack_raw(&out, marks.data, list.bytes);
	bytes_release(&marks);
	if (status == STATUS_OK)
		status = wire_packer_status(&out);
	raw->count = out.bytes;
	const struct recorded_epoch *newest = &job->walk.epochs.items[job->walk.epochs.count - 1];
	job->answer.place = (struct recorded_place){ newest->begin.epoch, newest->last };
	job->stage = STAGE_DONE;
	return status;
}
