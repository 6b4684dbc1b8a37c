/* See wire_streams.h. */
#include "tests/lib/wire_streams.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/columns.h"
#include "protocol/delta.h"
#include "protocol/pack.h"
#include "protocol/quantise.h"
#include "server/base/body_hash.h"
#include "server/base/rng.h"

const wire_mask WIRE_STREAM_FIELDS = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION |
				     WIRE_COLUMN_VELOCITY | WIRE_COLUMN_SPIN | WIRE_COLUMN_STATUS |
				     WIRE_COLUMN_OWNER;
const wire_mask WIRE_STREAM_JOINTS = WIRE_JOINT_COLUMNS_ALL;

/* ---- the world ---------------------------------------------------------------------------------- */

struct stage {
	struct rng rng;
	uint32_t epoch, count;
	uint64_t tick;
	struct wire_body bodies[WIRE_STREAM_BODIES];
	struct rng
		joint_rng; /* apart, so that bodies are what they were before there were joints */
	uint32_t joint_count;
	struct wire_joint joints[WIRE_STREAM_JOINTS_MAX];
};

static void draw_three(struct rng *rng, double values[3], double most)
{
	for (int i = 0; i < 3; i++)
		values[i] = rng_range(rng, -most, most);
}

static void draw_rotation(struct rng *rng, double values[4])
{
	double square = 0;
	for (int i = 0; i < 4; i++) {
		values[i] = rng_range(rng, -1, 1);
		square += values[i] * values[i];
	}
	for (int i = 0; i < 4; i++)
		values[i] /= __builtin_sqrt(square);
}

static void draw_body(struct stage *stage, struct wire_body *body, uint32_t id)
{
	*body = (struct wire_body){ .id = id };
	draw_three(&stage->rng, body->position, 30);
	draw_rotation(&stage->rng, body->rotation);
	draw_three(&stage->rng, body->velocity, 5);
	draw_three(&stage->rng, body->spin, 5);
	body->status = (uint8_t)rng_below(&stage->rng, 4);
	body->owner = rng_below(&stage->rng, 5);
	body->tag = (int64_t)rng_below(&stage->rng, 2000) - 1000;
}

/* About half of the columns of about half of the bodies. */
static void move_bodies(struct stage *stage)
{
	struct rng *rng = &stage->rng;
	for (uint32_t i = 0; i < stage->count; i++) {
		struct wire_body *body = &stage->bodies[i];
		if (rng_below(rng, 2) == 0)
			draw_three(rng, body->position, 30);
		if (rng_below(rng, 2) == 0)
			draw_rotation(rng, body->rotation);
		if (rng_below(rng, 2) == 0)
			draw_three(rng, body->velocity, 5);
		if (rng_below(rng, 3) == 0)
			draw_three(rng, body->spin, 5);
		if (rng_below(rng, 4) == 0)
			body->flags ^= WIRE_BODY_ASLEEP;
		if (rng_below(rng, 4) == 0)
			body->owner++;
	}
	stage->tick++;
}

static void draw_joint(struct stage *stage, struct wire_joint *joint, uint32_t id)
{
	struct rng *rng = &stage->joint_rng;
	*joint = (struct wire_joint){ .id = id,
				      .type = (uint8_t)(1 + rng_below(rng, 10)),
				      .flags = (uint8_t)rng_below(rng, 4),
				      .a = rng_below(rng, 3) == 0 ? 0 : stage->bodies[0].id,
				      .b = stage->bodies[1 + rng_below(rng, stage->count - 1)].id,
				      .owner = rng_below(rng, 5),
				      .tag = (int64_t)rng_below(rng, 2000) - 1000,
				      .breaks = { rng_range(rng, 0, 1e6), 0 } };
	draw_three(rng, joint->point_a, 3);
	draw_rotation(rng, joint->frame_a);
	draw_three(rng, joint->point_b, 3);
	draw_rotation(rng, joint->frame_b);
	draw_three(rng, joint->coordinates, 1);
	/* Beyond the range of a float 32, and below its least positive value. */
	joint->coordinates[4] = 1e200;
	joint->coordinates[5] = -1e-300;
	draw_three(rng, joint->force, 1e4);
}

static void move_joints(struct stage *stage)
{
	struct rng *rng = &stage->joint_rng;
	for (uint32_t i = 0; i < stage->joint_count; i++) {
		struct wire_joint *joint = &stage->joints[i];
		if (rng_below(rng, 2) == 0)
			draw_three(rng, joint->coordinates, 1);
		if (rng_below(rng, 2) == 0)
			draw_three(rng, joint->torque, 1e4);
		if (rng_below(rng, 4) == 0)
			joint->flags ^= WIRE_JOINT_ASLEEP;
		if (rng_below(rng, 4) == 0)
			joint->tag++;
		if (rng_below(rng, 6) == 0)
			draw_three(rng, joint->point_a, 3);
	}
}

/* Removes the first joint and adds another at the end. */
static void exchange_joints(struct stage *stage)
{
	uint32_t last = stage->joint_count - 1, id = stage->joints[last].id + 150;
	memmove(&stage->joints[0], &stage->joints[1], last * sizeof *stage->joints);
	draw_joint(stage, &stage->joints[last], id);
}

/* Removes one body and adds another with an id of its own; the places between are filled. */
static void exchange_body(struct stage *stage, uint32_t place, uint32_t id)
{
	memmove(&stage->bodies[place], &stage->bodies[place + 1],
		(stage->count - place - 1) * sizeof *stage->bodies);
	uint32_t at = stage->count - 1;
	while (at > 0 && stage->bodies[at - 1].id > id) {
		stage->bodies[at] = stage->bodies[at - 1];
		at--;
	}
	draw_body(stage, &stage->bodies[at], id);
}

/* ---- frames ------------------------------------------------------------------------------------- */

struct telling {
	enum wire_profile profile;
	void (*take)(const struct wire_stream_frame *frame, void *context);
	void *context;
	struct stage base; /* what the client has */
	struct wire_quantised to[WIRE_STREAM_BODIES], from[WIRE_STREAM_BODIES];
	struct block_row rows[WIRE_STREAM_BODIES];
	uint32_t row_count, removed[WIRE_STREAM_BODIES], removed_count;
	struct joint_row joint_rows[WIRE_STREAM_JOINTS_MAX];
	uint32_t joint_row_count, joints_removed[WIRE_STREAM_JOINTS_MAX], joints_removed_count;
};

static const struct wire_body *find(const struct stage *stage, uint32_t id)
{
	for (uint32_t i = 0; i < stage->count; i++)
		if (stage->bodies[i].id == id)
			return &stage->bodies[i];
	return NULL;
}

static void gather(struct telling *self, const struct stage *now, bool snapshot, bool absolute)
{
	bool quantised = wire_profile_quantised(self->profile);
	self->row_count = self->removed_count = 0;
	for (uint32_t i = 0; i < self->base.count && !snapshot; i++)
		if (find(now, self->base.bodies[i].id) == NULL)
			self->removed[self->removed_count++] = self->base.bodies[i].id;
	for (uint32_t i = 0; i < now->count; i++) {
		const struct wire_body *body = &now->bodies[i];
		const struct wire_body *had = snapshot ? NULL : find(&self->base, body->id);
		uint32_t at = self->row_count;
		struct block_row row = { .body = body,
					 .mask = WIRE_STREAM_FIELDS,
					 .created = had == NULL };
		if (had != NULL)
			row.mask = wire_columns_differ(had, body) & WIRE_STREAM_FIELDS;
		if (row.mask == 0)
			continue;
		/* `plain` has no masks: always all columns. */
		if (self->profile == WIRE_PROFILE_PLAIN)
			row.mask = WIRE_STREAM_FIELDS;
		if (quantised) {
			wire_quantise(self->profile, body, &self->to[at]);
			row.to = &self->to[at];
		}
		if (quantised && had != NULL && !absolute) {
			wire_quantise(self->profile, had, &self->from[at]);
			row.from = &self->from[at];
		}
		self->rows[self->row_count++] = row;
	}
}

static const struct wire_joint *find_joint(const struct stage *stage, uint32_t id)
{
	for (uint32_t i = 0; i < stage->joint_count; i++)
		if (stage->joints[i].id == id)
			return &stage->joints[i];
	return NULL;
}

/* Joints relative to the client's state, or (whole) to an empty one. */
static void gather_joints(struct telling *self, const struct stage *now, bool whole)
{
	self->joint_row_count = self->joints_removed_count = 0;
	for (uint32_t i = 0; i < self->base.joint_count && !whole; i++)
		if (find_joint(now, self->base.joints[i].id) == NULL)
			self->joints_removed[self->joints_removed_count++] =
				self->base.joints[i].id;
	for (uint32_t i = 0; i < now->joint_count; i++) {
		const struct wire_joint *joint = &now->joints[i];
		const struct wire_joint *had = whole ? NULL : find_joint(&self->base, joint->id);
		wire_mask mask = had != NULL ? wire_joint_differs(had, joint) : WIRE_STREAM_JOINTS;
		if (mask != 0)
			self->joint_rows[self->joint_row_count++] =
				(struct joint_row){ joint, mask };
	}
}

/* Rows are distributed over parts in order; removed ids are in the first part. */
static void split_rows(uint32_t rows, uint32_t removed, uint32_t count, struct delta_part *parts)
{
	for (uint32_t p = 0; p < count; p++) {
		uint32_t first = rows * p / count, last = rows * (p + 1) / count;
		parts[p] = (struct delta_part){ 0, p == 0 ? removed : 0, first, last - first };
	}
}

static void add_part(struct wire_stream_frame *frame, enum message_type type, const uint8_t *tail,
		     uint32_t bytes)
{
	uint8_t *part = frame->parts[frame->part_count];
	uint32_t head = message_pack_head(type, 9, bytes, true, part);
	ASSERT(head + bytes <= WIRE_STREAM_BYTES);
	memcpy(part + head, tail, bytes);
	frame->part_bytes[frame->part_count++] = head + bytes;
}

static void add_joints(struct telling *self, const struct stage *now, bool whole,
		       struct wire_stream_frame *frame)
{
	struct delta_part parts[WIRE_STREAM_PARTS];
	uint32_t count = self->joint_row_count > 2 ? 2 : 1;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < now->joint_count; i++)
		sum += wire_joint_hash(self->profile, &now->joints[i], WIRE_STREAM_JOINTS);
	const struct joint_frame rows = {
		.profile = self->profile,
		.columns = WIRE_STREAM_JOINTS,
		.flags = whole ? WIRE_FRAME_WHOLE : 0,
		.epoch = now->epoch,
		.tick = now->tick,
		.hash = { true, body_hash_finish(now->tick, sum, now->joint_count) },
		.removed = self->joints_removed,
		.removed_count = self->joints_removed_count,
		.rows = self->joint_rows,
		.row_count = self->joint_row_count,
	};
	split_rows(rows.row_count, rows.removed_count, count, parts);
	for (uint32_t p = 0; p < count; p++) {
		uint8_t tail[WIRE_STREAM_BYTES];
		uint32_t bytes;
		enum status status =
			joint_rows_pack_tail(&rows, parts, count, p, tail, sizeof tail, &bytes);
		ASSERT(status == STATUS_OK);
		add_part(frame, MESSAGE_ROWS, tail, bytes);
	}
}

static void copy_shown_state(const struct telling *self, const struct stage *now,
			     struct wire_stream_frame *frame)
{
	frame->count = now->count;
	memcpy(frame->bodies, now->bodies, now->count * sizeof *now->bodies);
	for (uint32_t i = 0; i < now->count && wire_profile_quantised(self->profile); i++) {
		wire_quantise(self->profile, &now->bodies[i], &frame->steps[i]);
		wire_dequantise(self->profile, &frame->steps[i], WIRE_STREAM_FIELDS,
				&frame->bodies[i]);
	}
	frame->joint_count = now->joint_count;
	memcpy(frame->joints, now->joints, now->joint_count * sizeof *now->joints);
	for (uint32_t i = 0; i < now->joint_count; i++)
		wire_joint_show(self->profile, &frame->joints[i]);
}

static void write_stream_frame(struct telling *self, const struct stage *now, const char *kind,
			       uint32_t part_count)
{
	static struct wire_stream_frame frame;
	bool snapshot = strcmp(kind, "snapshot") == 0, absolute = strcmp(kind, "absolute") == 0;
	bool exact = !wire_profile_quantised(self->profile);
	/* An absolute frame carries all joints again, as if their history did not reach back. */
	bool whole = snapshot || absolute;
	gather(self, now, snapshot, absolute);
	gather_joints(self, now, whole);
	bool rows = self->joint_row_count > 0 || self->joints_removed_count > 0;
	struct delta_frame delta = { .snapshot = snapshot,
				     .profile = self->profile,
				     .fields = WIRE_STREAM_FIELDS,
				     .flags = (uint8_t)((whole || exact ? WIRE_FRAME_ABSOLUTE : 0) |
							(rows ? WIRE_FRAME_ROWS : 0)),
				     .epoch = now->epoch,
				     .tick = now->tick,
				     .base = self->base.tick,
				     .removed = self->removed,
				     .removed_count = self->removed_count,
				     .rows = self->rows,
				     .row_count = self->row_count };
	struct delta_part parts[WIRE_STREAM_PARTS];
	frame = (struct wire_stream_frame){ .kind = kind, .epoch = now->epoch, .tick = now->tick };
	split_rows(self->row_count, self->removed_count, part_count, parts);
	for (uint32_t p = 0; p < part_count; p++) {
		uint8_t tail[WIRE_STREAM_BYTES];
		uint32_t bytes;
		enum status status =
			delta_pack_tail(&delta, parts, part_count, p, tail, sizeof tail, &bytes);
		ASSERT(status == STATUS_OK);
		add_part(&frame, delta_type(&delta), tail, bytes);
	}
	if (rows)
		add_joints(self, now, whole, &frame);
	copy_shown_state(self, now, &frame);
	self->take(&frame, self->context);
	self->base = *now;
}

void wire_stream_tell(enum wire_profile profile,
		      void (*take)(const struct wire_stream_frame *frame, void *context),
		      void *context)
{
	static const uint32_t IDS[] = { 2, 3, 7, 300, 301, 70000 };
	struct telling self = { .profile = profile, .take = take, .context = context };
	struct stage now = {
		.rng = rng_seeded(11), .epoch = 1, .tick = 100, .count = COUNT_OF(IDS)
	};
	now.joint_rng = rng_seeded(12);
	for (uint32_t i = 0; i < COUNT_OF(IDS); i++)
		draw_body(&now, &now.bodies[i], IDS[i]);
	for (; now.joint_count < WIRE_STREAM_JOINTS_MAX - 1; now.joint_count++)
		draw_joint(&now, &now.joints[now.joint_count], 1 + 60 * now.joint_count);
	write_stream_frame(&self, &now, "snapshot", 1);
	static const struct {
		const char *kind;
		uint32_t ticks, parts, gone,
			comes; /* place of the body that leaves (from 1), id of the new body */
	} FRAMES[] = {
		{ "difference", 1, 1, 0, 0 },	{ "difference", 1, 2, 0, 0 },
		{ "absolute", 1, 1, 0, 0 },	{ "difference", 1, 1, 0, 0 },
		{ "absolute", 3, 2, 2, 5 },	{ "difference", 1, 1, 0, 0 },
		{ "joined", 5, 1, 1, 301 + 5 }, { "joined", 4, 3, 4, 4 },
		{ "absolute", 1, 1, 0, 0 },	{ "absolute", 1, 1, 0, 0 },
		{ "difference", 1, 1, 0, 0 },
	};
	for (uint32_t i = 0; i < COUNT_OF(FRAMES); i++) {
		for (uint32_t t = 0; t < FRAMES[i].ticks; t++)
			move_bodies(&now);
		/* Every fourth frame has no changes of joints. */
		if (i % 4 != 1)
			move_joints(&now);
		if (i % 3 == 2)
			exchange_joints(&now);
		if (FRAMES[i].gone > 0)
			exchange_body(&now, FRAMES[i].gone - 1, FRAMES[i].comes);
		write_stream_frame(&self, &now, FRAMES[i].kind, FRAMES[i].parts);
	}
	/* The world is restored: another epoch, beginning with a snapshot in parts. */
	now.epoch = 2;
	now.tick = 50;
	now.joint_count--;
	move_bodies(&now);
	move_joints(&now);
	write_stream_frame(&self, &now, "snapshot", 3);
	now.joint_count = 0;
	move_bodies(&now);
	write_stream_frame(&self, &now, "difference", 1);
	move_bodies(&now);
	write_stream_frame(&self, &now, "absolute", 1);
}

/* ---- as a file ---------------------------------------------------------------------------------- */

static void write_values(FILE *out, const char *name, const double *values, uint32_t count)
{
	fprintf(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%.17g", i == 0 ? "" : ", ", values[i]);
	fputc(']', out);
}

static void write_joint(const struct wire_joint *joint, const char *before, FILE *out)
{
	fprintf(out,
		"%s{\"id\": %" PRIu32 ", \"type\": %u, \"flags\": %u, \"a\": %" PRIu32
		", \"b\": %" PRIu32,
		before, joint->id, joint->type, joint->flags, joint->a, joint->b);
	write_values(out, "point_a", joint->point_a, 3);
	write_values(out, "frame_a", joint->frame_a, 4);
	write_values(out, "point_b", joint->point_b, 3);
	write_values(out, "frame_b", joint->frame_b, 4);
	write_values(out, "coordinates", joint->coordinates, 6);
	write_values(out, "force", joint->force, 3);
	write_values(out, "torque", joint->torque, 3);
	fprintf(out, ", \"owner\": %" PRIu32 ", \"tag\": %" PRId64, joint->owner, joint->tag);
	write_values(out, "breaks", joint->breaks, 2);
	fputc('}', out);
}

static void write_frame(const struct wire_stream_frame *frame, void *context)
{
	FILE *out = context;
	fprintf(out,
		"%s\n      {\"kind\": \"%s\", \"epoch\": %" PRIu32 ", \"tick\": %" PRIu64
		",\n       \"parts\": [",
		strcmp(frame->kind, "snapshot") == 0 && frame->epoch == 1 ? "" : ",", frame->kind,
		frame->epoch, frame->tick);
	for (uint32_t p = 0; p < frame->part_count; p++) {
		fputs(p == 0 ? "\"" : ", \"", out);
		for (uint32_t i = 0; i < frame->part_bytes[p]; i++)
			fprintf(out, "%02x", frame->parts[p][i]);
		fputc('"', out);
	}
	fputs("],\n       \"bodies\": [", out);
	for (uint32_t i = 0; i < frame->count; i++) {
		const struct wire_body *body = &frame->bodies[i];
		fprintf(out, "%s{\"id\": %" PRIu32, i == 0 ? "" : ",\n         ", body->id);
		write_values(out, "position", body->position, 3);
		write_values(out, "rotation", body->rotation, 4);
		write_values(out, "velocity", body->velocity, 3);
		write_values(out, "spin", body->spin, 3);
		fprintf(out,
			", \"status\": %u, \"flags\": %u, \"owner\": %" PRIu32 ", \"tag\": %" PRId64
			"}",
			body->status, body->flags, body->owner, body->tag);
	}
	fputs("],\n       \"joints\": [", out);
	for (uint32_t i = 0; i < frame->joint_count; i++)
		write_joint(&frame->joints[i], i == 0 ? "" : ",\n         ", out);
	fputs("]}", out);
}

void wire_vectors_streams(FILE *out)
{
	static const char *const PROFILES[] = { "plain", "exact", "view", "sim" };
	fprintf(out, "{\"fields\": %u, \"joints\": %u, \"streams\": [",
		(unsigned)WIRE_STREAM_FIELDS, (unsigned)WIRE_STREAM_JOINTS);
	for (uint32_t profile = 0; profile < COUNT_OF(PROFILES); profile++) {
		fprintf(out, "%s\n    {\"profile\": \"%s\", \"frames\": [", profile == 0 ? "" : ",",
			PROFILES[profile]);
		wire_stream_tell((enum wire_profile)profile, write_frame, out);
		fputs("]}", out);
	}
	fputs("\n]}\n", out);
}
