#include "tests/lib/wire_streams.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/columns.h"
#include "protocol/delta.h"
#include "protocol/pack.h"
#include "protocol/quantise.h"
#include "server/base/rng.h"

const wire_mask WIRE_STREAM_FIELDS = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_VELOCITY |
				     WIRE_COLUMN_SPIN | WIRE_COLUMN_STATUS | WIRE_COLUMN_OWNER;

/* ---- the world ---------------------------------------------------------------------------------- */

struct stage {
	struct rng rng;
	uint32_t epoch, count;
	uint64_t tick;
	struct wire_body bodies[WIRE_STREAM_BODIES];
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
static void move(struct stage *stage)
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

/* One goes, another comes with an id of its own; places in between are taken up. */
static void exchange(struct stage *stage, uint32_t place, uint32_t id)
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
		struct block_row row = { .body = body, .mask = WIRE_STREAM_FIELDS, .created = had == NULL };
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

/* Rows dealt to parts in order; what is removed goes with the first. */
static void cut(const struct telling *self, uint32_t count, struct delta_part *parts)
{
	for (uint32_t p = 0; p < count; p++) {
		uint32_t first = self->row_count * p / count, last = self->row_count * (p + 1) / count;
		parts[p] = (struct delta_part){ 0, p == 0 ? self->removed_count : 0, first, last - first };
	}
}

static void show(const struct telling *self, const struct stage *now, struct wire_stream_frame *frame)
{
	frame->count = now->count;
	memcpy(frame->bodies, now->bodies, now->count * sizeof *now->bodies);
	for (uint32_t i = 0; i < now->count && wire_profile_quantised(self->profile); i++) {
		wire_quantise(self->profile, &now->bodies[i], &frame->steps[i]);
		wire_dequantise(self->profile, &frame->steps[i], WIRE_STREAM_FIELDS, &frame->bodies[i]);
	}
}

static void tell(struct telling *self, const struct stage *now, const char *kind, uint32_t part_count)
{
	static struct wire_stream_frame frame;
	bool snapshot = strcmp(kind, "snapshot") == 0, absolute = strcmp(kind, "absolute") == 0;
	bool exact = !wire_profile_quantised(self->profile);
	gather(self, now, snapshot, absolute);
	struct delta_frame delta = { .snapshot = snapshot,
				     .profile = self->profile,
				     .fields = WIRE_STREAM_FIELDS,
				     .flags = snapshot || absolute || exact ? WIRE_FRAME_ABSOLUTE : 0,
				     .epoch = now->epoch,
				     .tick = now->tick,
				     .base = self->base.tick,
				     .removed = self->removed,
				     .removed_count = self->removed_count,
				     .rows = self->rows,
				     .row_count = self->row_count };
	struct delta_part parts[WIRE_STREAM_PARTS];
	frame = (struct wire_stream_frame){
		.kind = kind, .epoch = now->epoch, .tick = now->tick, .part_count = part_count
	};
	cut(self, part_count, parts);
	for (uint32_t p = 0; p < part_count; p++) {
		uint8_t tail[WIRE_STREAM_BYTES];
		uint32_t bytes;
		enum status status = delta_pack_tail(&delta, parts, part_count, p, tail, sizeof tail, &bytes);
		ASSERT(status == STATUS_OK && bytes + WIRE_HEAD_MAX <= WIRE_STREAM_BYTES);
		uint32_t head = message_pack_head(delta_type(&delta), 9, bytes, true, frame.parts[p]);
		memcpy(frame.parts[p] + head, tail, bytes);
		frame.part_bytes[p] = head + bytes;
	}
	show(self, now, &frame);
	self->take(&frame, self->context);
	self->base = *now;
}

void wire_stream_tell(enum wire_profile profile,
		      void (*take)(const struct wire_stream_frame *frame, void *context), void *context)
{
	static const uint32_t IDS[] = { 2, 3, 7, 300, 301, 70000 };
	struct telling self = { .profile = profile, .take = take, .context = context };
	struct stage now = { .rng = rng_seeded(11), .epoch = 1, .tick = 100, .count = COUNT_OF(IDS) };
	for (uint32_t i = 0; i < COUNT_OF(IDS); i++)
		draw_body(&now, &now.bodies[i], IDS[i]);
	tell(&self, &now, "snapshot", 1);
	static const struct {
		const char *kind;
		uint32_t ticks, parts, gone, comes; /* place of who goes (from 1), id of who comes */
	} FRAMES[] = {
		{ "difference", 1, 1, 0, 0 }, { "difference", 1, 2, 0, 0 }, { "absolute", 1, 1, 0, 0 },
		{ "difference", 1, 1, 0, 0 }, { "absolute", 3, 2, 2, 5 },   { "difference", 1, 1, 0, 0 },
		{ "joined", 5, 1, 1, 301 + 5 }, { "joined", 4, 3, 4, 4 },    { "absolute", 1, 1, 0, 0 },
		{ "absolute", 1, 1, 0, 0 },   { "difference", 1, 1, 0, 0 },
	};
	for (uint32_t i = 0; i < COUNT_OF(FRAMES); i++) {
		for (uint32_t t = 0; t < FRAMES[i].ticks; t++)
			move(&now);
		if (FRAMES[i].gone > 0)
			exchange(&now, FRAMES[i].gone - 1, FRAMES[i].comes);
		tell(&self, &now, FRAMES[i].kind, FRAMES[i].parts);
	}
	/* The world goes back: another epoch, from a snapshot in parts. */
	now.epoch = 2;
	now.tick = 50;
	move(&now);
	tell(&self, &now, "snapshot", 3);
	move(&now);
	tell(&self, &now, "difference", 1);
	move(&now);
	tell(&self, &now, "absolute", 1);
}

/* ---- as a file ---------------------------------------------------------------------------------- */

static void write_values(FILE *out, const char *name, const double *values, uint32_t count)
{
	fprintf(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%.17g", i == 0 ? "" : ", ", values[i]);
	fputc(']', out);
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
		fprintf(out, ", \"status\": %u, \"flags\": %u, \"owner\": %" PRIu32 ", \"tag\": %" PRId64 "}",
			body->status, body->flags, body->owner, body->tag);
	}
	fputs("]}", out);
}

void wire_vectors_streams(FILE *out)
{
	static const char *const PROFILES[] = { "plain", "exact", "view", "sim" };
	fprintf(out, "{\"fields\": %u, \"streams\": [", (unsigned)WIRE_STREAM_FIELDS);
	for (uint32_t profile = 0; profile < COUNT_OF(PROFILES); profile++) {
		fprintf(out, "%s\n    {\"profile\": \"%s\", \"frames\": [", profile == 0 ? "" : ",",
			PROFILES[profile]);
		wire_stream_tell((enum wire_profile)profile, write_frame, out);
		fputs("]}", out);
	}
	fputs("\n]}\n", out);
}
