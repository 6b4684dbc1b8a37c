/* See wire_vectors.h. */
#include "tests/lib/wire_vectors.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/command_wire.h"
#include "protocol/cursor.h"
#include "protocol/delta.h"
#include "protocol/group_wire.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "protocol/validate.h"
#include "server/base/body_hash.h"
#include "tests/lib/wire_streams.h"

const struct wire_vectors_file WIRE_VECTORS_FILES[] = {
	{ "messages.json", wire_vectors_messages },
	{ "bodies.json", wire_vectors_bodies },
	{ "hostile.json", wire_vectors_hostile },
	{ "queries.json", wire_vectors_queries },
	{ "streams.json", wire_vectors_streams },
	{ "particles.json", wire_vectors_particles },
	{ NULL, NULL },
};

static void write_hex(FILE *out, const uint8_t *data, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		fprintf(out, "%02x", data[i]);
}

/* ---- a MessagePack value as JSON --------------------------------------------------------------
 */

static void write_text(FILE *out, const struct wire_token *token)
{
	/* No text in the vectors needs escaping. */
	fprintf(out, "\"%.*s\"", (int)token->count, (const char *)token->at);
}

static void write_real(FILE *out, double value)
{
	char text[40];
	snprintf(text, sizeof text, "%.17g", value);
	fprintf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

static void write_items(FILE *out, struct wire_cursor *in, const struct wire_token *token)
{
	bool map = token->type == WIRE_TOKEN_MAP;
	fputc(map ? '{' : '[', out);
	for (uint32_t i = 0; i < token->count; i++) {
		if (i > 0)
			fputs(", ", out);
		if (map) {
			wire_vectors_value(out, in);
			fputs(": ", out);
		}
		wire_vectors_value(out, in);
	}
	fputc(map ? '}' : ']', out);
}

void wire_vectors_value(FILE *out, struct wire_cursor *in)
{
	struct wire_token token;
	ASSERT(wire_next(in, &token) == STATUS_OK);
	switch (token.type) {
	case WIRE_TOKEN_NIL:
		fputs("null", out);
		return;
	case WIRE_TOKEN_BOOL:
		fputs(token.truth ? "true" : "false", out);
		return;
	case WIRE_TOKEN_INTEGER:
		fprintf(out, "%" PRId64, token.integer);
		return;
	case WIRE_TOKEN_REAL:
		write_real(out, token.real);
		return;
	case WIRE_TOKEN_TEXT:
		write_text(out, &token);
		return;
	case WIRE_TOKEN_BIN:
		fputs("{\"bin\": \"", out);
		write_hex(out, token.at, token.count);
		fputs("\"}", out);
		return;
	default:
		write_items(out, in, &token);
	}
}

static void write_frame(FILE *out, const uint8_t *frame, uint32_t bytes)
{
	struct wire_cursor in =
		wire_cursor_over(frame + WIRE_FRAME_HEADER, bytes - WIRE_FRAME_HEADER);
	fputs("\"frame\": \"", out);
	write_hex(out, frame, bytes);
	fputs("\", \"content\": ", out);
	wire_vectors_value(out, &in);
}

/* ---- examples ---------------------------------------------------------------------------------
 */

static struct wire_slice slice_of(struct wire_packer *scratch, uint32_t start)
{
	return (struct wire_slice){ scratch->data + start, scratch->bytes - start };
}

static struct wire_list list_of(struct wire_packer *scratch, uint32_t start, uint32_t count)
{
	return (struct wire_list){ scratch->data + start, scratch->bytes - start, count };
}

static void pack_vec3(struct wire_packer *out, double x, double y, double z)
{
	wire_pack_array(out, 3);
	wire_pack_real(out, x);
	wire_pack_real(out, y);
	wire_pack_real(out, z);
}

/* [impulse, body 1, (0, 2.5, 0)] and [spawn, dynamic, (0, 10, 0)] */
static struct wire_list example_commands(struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	wire_pack_array(scratch, 3);
	wire_pack_uint(scratch, 17);
	wire_pack_uint(scratch, 1);
	pack_vec3(scratch, 0, 2.5, 0);
	wire_pack_array(scratch, 3);
	wire_pack_uint(scratch, 10);
	wire_pack_uint(scratch, 2);
	pack_vec3(scratch, 0, 10, 0);
	return list_of(scratch, start, 2);
}

static void pack_result(struct wire_packer *out, uint64_t batch, uint64_t tick, enum status code,
			uint32_t id)
{
	bool done = code == STATUS_OK;
	wire_pack_array(out, 7);
	wire_pack_uint(out, batch);
	wire_pack_uint(out, tick);
	wire_pack_uint(out, (uint64_t)code);
	wire_pack_int(out, done ? -1 : 0);
	wire_pack_array(out, done ? 2 : 0);
	if (done) {
		wire_pack_uint(out, 0);
		wire_pack_uint(out, id);
	}
	wire_pack_string(out, done ? "" : "body");
	wire_pack_string(out, done ? "" : "no such body");
}

static struct wire_list example_results(struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	pack_result(scratch, 1, 120, STATUS_OK, 2);
	pack_result(scratch, 2, 120, STATUS_UNKNOWN_BODY, 0);
	return list_of(scratch, start, 2);
}

/* [contact begin, 1, 2, 0.25 N s, at the end of the tick, point, normal] */
static struct wire_list example_events(struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	wire_pack_array(scratch, 7);
	wire_pack_uint(scratch, 1);
	wire_pack_uint(scratch, 1);
	wire_pack_uint(scratch, 2);
	wire_pack_real(scratch, 0.25);
	wire_pack_real(scratch, 1);
	pack_vec3(scratch, 0.5, 1, 0);
	pack_vec3(scratch, 0, 1, 0);
	return list_of(scratch, start, 1);
}

/* A ray from (0, 10, 0) down, 20 m. */
static struct wire_list example_query(struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	wire_pack_uint(scratch, 1);
	pack_vec3(scratch, 0, 10, 0);
	pack_vec3(scratch, 0, -1, 0);
	wire_pack_real(scratch, 20);
	return list_of(scratch, start, 4);
}

static struct wire_list example_list(enum wire_kind kind, struct wire_packer *scratch)
{
	static const double REALS[] = { 0.5, -1.25, 3 };
	uint32_t start = scratch->bytes;
	for (uint32_t i = 0; i < 3; i++) {
		if (kind == WIRE_KIND_IDS)
			wire_pack_uint(scratch, 1 + 150 * i * i);
		else if (kind == WIRE_KIND_REALS)
			wire_pack_real(scratch, REALS[i]);
	}
	if (kind == WIRE_KIND_IDS || kind == WIRE_KIND_REALS)
		return list_of(scratch, start, 3);
	wire_pack_string(scratch, kind == WIRE_KIND_MAP ? "planar" : "coplanar faces merged");
	if (kind == WIRE_KIND_MAP)
		wire_pack_bool(scratch, true);
	return list_of(scratch, start, 1);
}

/* 00 01 02 … */
static struct wire_slice example_bytes(uint32_t bytes, struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	for (uint32_t i = 0; i < bytes; i++)
		wire_pack_raw(scratch, &(uint8_t){ (uint8_t)i }, 1);
	return slice_of(scratch, start);
}

static const char *example_text(const char *field)
{
	if (strcmp(field, "role") == 0)
		return "observer";
	if (strcmp(field, "method") == 0)
		return "soft-step";
	return field;
}

static void example_structured(const struct message_field *field, void *at,
			       struct wire_packer *scratch)
{
	switch (field->kind) {
	case WIRE_KIND_VERSION:
		*(struct wire_version *)at = (struct wire_version){ WIRE_MAJOR, WIRE_MINOR };
		return;
	case WIRE_KIND_RATE:
		*(struct wire_rate *)at = (struct wire_rate){ 60, 1 };
		return;
	case WIRE_KIND_BOX:
		*(struct wire_box *)at = (struct wire_box){ true, { -1, -2, -3 }, { 1, 2, 3.5 } };
		return;
	case WIRE_KIND_CAPS:
		*(uint32_t *)at = WIRE_CAP_ACK | WIRE_CAP_EXACT;
		return;
	case WIRE_KIND_LIMITS:
		*(struct wire_limits *)at = (struct wire_limits){ WIRE_FRAME_UP, WIRE_FRAME_DOWN };
		return;
	case WIRE_KIND_RAW:
		*(struct wire_slice *)at = (struct wire_slice){ NULL, 0 };
		return;
	default:
		*(struct wire_list *)at = example_list(field->kind, scratch);
	}
}

static void example_field(const struct message_field *field, uint32_t index, void *at,
			  struct wire_packer *scratch)
{
	switch (field->kind) {
	case WIRE_KIND_UINT:
		*(uint64_t *)at = (uint64_t)MIN_OF((double)(index + 1), field->max);
		return;
	case WIRE_KIND_INT:
		*(int64_t *)at = -1;
		return;
	case WIRE_KIND_REAL:
		*(double *)at = 0.5;
		return;
	case WIRE_KIND_TEXT:
		*(struct wire_slice *)at = wire_text(example_text(field->name));
		return;
	case WIRE_KIND_BIN:
		*(struct wire_slice *)at =
			example_bytes((uint32_t)MIN_OF(field->max, 16.0), scratch);
		return;
	case WIRE_KIND_NAME:
		for (int i = 0; i < 32; i++)
			((struct wire_name *)at)->bytes[i] = (uint8_t)i;
		return;
	case WIRE_KIND_HASH:
		*(struct wire_hash *)at = (struct wire_hash){ true, UINT64_C(0x0123456789abcdef) };
		return;
	case WIRE_KIND_OPTION:
		*(struct wire_option *)at = (struct wire_option){ true, 120 };
		return;
	default:
		example_structured(field, at, scratch);
	}
}

/* Worlds 7 and 8 push body 1 by a force of the action each, and observe its position and the
 * contacts with body 2. */
static void example_group(struct msg_step_worlds *group, struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	for (uint32_t world = 7; world <= 8; world++) {
		wire_pack_array(scratch, 2);
		wire_pack_uint(scratch, world);
		wire_pack_uint(scratch, 1);
	}
	group->worlds = list_of(scratch, start, 2);
	start = scratch->bytes;
	wire_pack_array(scratch, 3);
	wire_pack_uint(scratch, COMMAND_FORCE);
	wire_pack_uint(scratch, 1);
	wire_pack_array(scratch, 3);
	wire_pack_nil(scratch);
	wire_pack_real(scratch, 0);
	wire_pack_real(scratch, 0);
	group->actions = list_of(scratch, start, 1);
	start = scratch->bytes;
	wire_pack_array(scratch, 3);
	wire_pack_uint(scratch, OBSERVE_BODIES);
	wire_pack_array(scratch, 1);
	wire_pack_uint(scratch, 1);
	wire_pack_uint(scratch, WIRE_COLUMN_POSITION);
	wire_pack_array(scratch, 2);
	wire_pack_uint(scratch, OBSERVE_CONTACTS);
	wire_pack_array(scratch, 1);
	wire_pack_array(scratch, 2);
	wire_pack_uint(scratch, 1);
	wire_pack_uint(scratch, 2);
	group->observe = list_of(scratch, start, 2);
}

/* One world that was stepped, and one that was refused. */
static struct wire_list example_group_items(struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	const struct wire_group_item items[] = {
		{ .world = 7,
		  .request = 1,
		  .epoch = 1,
		  .tick = 120,
		  .steps = 1,
		  .tick_hash = { true, UINT64_C(0x0123456789abcdef) },
		  .index = -1 },
		{ .world = 8,
		  .request = 1,
		  .code = STATUS_NOT_FINITE,
		  .epoch = 1,
		  .tick = 119,
		  .index = 0,
		  .field = wire_text("force"),
		  .text = wire_text("not finite") },
	};
	for (size_t i = 0; i < COUNT_OF(items); i++)
		group_item_pack(scratch, &items[i]);
	return list_of(scratch, start, COUNT_OF(items));
}

/* Lists whose items have a meaning of their own. */
static void example_contents(struct message *message, struct wire_packer *scratch)
{
	uint32_t start;
	switch (message->type) {
	case MESSAGE_COMMANDS:
		message->commands.list = example_commands(scratch);
		return;
	case MESSAGE_STEP:
		message->step.commands = example_commands(scratch);
		return;
	case MESSAGE_STEP_WORLDS:
		example_group(&message->step_worlds, scratch);
		return;
	case MESSAGE_STEPPED_WORLDS:
		message->stepped_worlds.worlds = example_group_items(scratch);
		return;
	case MESSAGE_RESULT:
		message->result.list = example_results(scratch);
		return;
	case MESSAGE_STEPPED:
		message->stepped.results = example_results(scratch);
		return;
	case MESSAGE_EVENTS:
		message->events.list = example_events(scratch);
		return;
	case MESSAGE_QUERY:
		message->query.query = example_query(scratch);
		return;
	case MESSAGE_ANSWER: /* to that ray: body 1, shape 0, fraction 0.5 */
		start = scratch->bytes;
		wire_pack_array(scratch, 1);
		wire_pack_array(scratch, 6);
		wire_pack_uint(scratch, 1);
		wire_pack_uint(scratch, 0);
		wire_pack_uint(scratch, 0);
		wire_pack_real(scratch, 0.5);
		pack_vec3(scratch, 0, 0, 0);
		pack_vec3(scratch, 0, 1, 0);
		message->answer.answer = slice_of(scratch, start);
		return;
	default:
		return;
	}
}

static void example(const struct message_info *info, bool all, struct message *message,
		    struct wire_packer *scratch)
{
	message_init(message, info->type);
	for (uint32_t i = 0; i < info->field_count; i++) {
		if (all || info->fields[i].needed)
			example_field(&info->fields[i], i,
				      (uint8_t *)message + info->fields[i].offset, scratch);
	}
	if (all)
		example_contents(message, scratch);
}

static void write_message(FILE *out, const struct message_info *info, bool all)
{
	uint8_t scratch_bytes[4096], frame[4096];
	struct wire_packer scratch = wire_packer_over(scratch_bytes, sizeof scratch_bytes);
	struct message message;
	uint32_t bytes;
	example(info, all, &message, &scratch);
	ASSERT(message_pack(&message, frame, sizeof frame, &bytes) == STATUS_OK);
	fprintf(out, "  {\"name\": \"%s%s\", \"from\": \"%s\", ", info->name,
		all ? "" : " with fallbacks",
		info->from == WIRE_FROM_CLIENT	 ? "client"
		: info->from == WIRE_FROM_SERVER ? "server"
						 : "either");
	write_frame(out, frame, bytes);
	fputc('}', out);
}

void wire_vectors_messages(FILE *out)
{
	fputs("[\n", out);
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		if (message_info_at(i)->reserved)
			continue;
		fputs(i == 0 ? "" : ",\n", out);
		write_message(out, message_info_at(i), true);
		fputs(",\n", out);
		write_message(out, message_info_at(i), false);
	}
	fputs("\n]\n", out);
}

/* ---- bodies -----------------------------------------------------------------------------------
 */

enum { BODIES = 3 };

/* Body 300 touches the ground (body 1) with two points, and body 2. */
static struct wire_slice example_contacts(void)
{
	static uint8_t packed[1 + 3 * WIRE_TOUCH_BYTES];
	static const struct wire_touch touches[3] = {
		{ .other = 1,
		  .point = { 0.5, 1.5, 2.75 },
		  .normal = { 0, 1, 0 },
		  .separation = -0.005,
		  .impulse = 0.0817,
		  .friction = { 0.25, 0, -1e-3 } },
		{ .other = 1,
		  .point = { 1.5, 1.5, 2.75 },
		  .normal = { 0, 1, 0 },
		  .separation = 0.002,
		  .impulse = 0 },
		{ .other = 2,
		  .child = 3,
		  .other_child = 200,
		  .point = { 1, 2, 2.5 },
		  .normal = { 0.48, -0.64, 0.6 },
		  .separation = -0.25,
		  .impulse = 1234.5 },
	};
	struct wire_touches_writer writer;
	wire_touches_begin(&writer, WIRE_PROFILE_EXACT, packed, COUNT_OF(touches));
	for (size_t i = 0; i < COUNT_OF(touches); i++)
		wire_touches_put(&writer, &touches[i]);
	return (struct wire_slice){ packed, sizeof packed };
}

static void example_bodies(struct wire_body bodies[BODIES], uint8_t shapes[WIRE_SHAPE_BYTES])
{
	struct wire_slice contacts = example_contacts();
	struct wire_placement placement = { .position = { 0, 0.5, 0 }, .rotation = { 1, 0, 0, 0 } };
	for (int i = 0; i < 32; i++)
		placement.shape.bytes[i] = (uint8_t)(0xa0 + i);
	wire_placement_put(shapes, &placement);
	memset(bodies, 0, BODIES * sizeof *bodies);
	bodies[0] = (struct wire_body){ .id = 1, .status = 1, .rotation = { 1, 0, 0, 0 } };
	bodies[1] = (struct wire_body){ .id = 2,
					.status = 2,
					.owner = 7,
					.tag = -42,
					.shapes = shapes,
					.shape_count = 1,
					.position = { 0.5, 10, -0.25 },
					.rotation = { 0.5, 0.5, -0.5, 0.5 },
					.velocity = { 0, -9.8100000000000005, 0 },
					.spin = { 1e-300, -0.0, 3.1415926535897931 } };
	bodies[2] = (struct wire_body){ .id = 300,
					.status = 2,
					.flags = WIRE_BODY_ASLEEP,
					.contacts = contacts.at,
					.contact_bytes = contacts.bytes,
					.position = { 1, 2, 3 },
					.rotation = { 1, 0, 0, 0 } };
}

static void write_reals(FILE *out, const char *name, const double *values, uint32_t count)
{
	fprintf(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i == 0 ? "" : ", ", out);
		write_real(out, values[i]);
	}
	fputc(']', out);
}

/* As a profile encodes them. */
static void write_contacts(FILE *out, enum wire_profile profile, struct wire_slice value)
{
	struct wire_touches touches;
	struct wire_touch touch;
	fputs(", \"contacts\": [", out);
	wire_touches_open(&touches, profile, value);
	for (uint32_t i = 0; wire_touches_next(&touches, &touch); i++) {
		fprintf(out,
			"%s{\"other\": %" PRIu32 ", \"child\": %" PRIu32
			", \"other_child\": %" PRIu32,
			i == 0 ? "" : ",\n          ", touch.other, touch.child, touch.other_child);
		write_reals(out, "point", touch.point, 3);
		write_reals(out, "normal", touch.normal, 3);
		fputs(", \"separation\": ", out);
		write_real(out, touch.separation);
		fputs(", \"impulse\": ", out);
		write_real(out, touch.impulse);
		write_reals(out, "friction", touch.friction, 3);
		fputc('}', out);
	}
	fputc(']', out);
}

static void write_body(FILE *out, const struct wire_body *body)
{
	fprintf(out,
		"    {\"id\": %" PRIu32 ", \"status\": %u, \"flags\": %u, \"owner\": %" PRIu32
		", \"tag\": %" PRId64,
		body->id, body->status, body->flags, body->owner, body->tag);
	write_reals(out, "position", body->position, 3);
	write_reals(out, "rotation", body->rotation, 4);
	write_reals(out, "velocity", body->velocity, 3);
	write_reals(out, "spin", body->spin, 3);
	fputs(", \"shapes\": [", out);
	for (uint32_t i = 0; i < body->shape_count; i++) {
		struct wire_placement placement;
		wire_placement_get(body->shapes + i * WIRE_SHAPE_BYTES, &placement);
		fputs("{\"name\": \"", out);
		write_hex(out, placement.shape.bytes, 32);
		fputc('"', out);
		write_reals(out, "position", placement.position, 3);
		write_reals(out, "rotation", placement.rotation, 4);
		fputc('}', out);
	}
	fputc(']', out);
	write_contacts(out, WIRE_PROFILE_EXACT,
		       (struct wire_slice){ body->contacts, body->contact_bytes });
	fputc('}', out);
}

static const char *const PROFILE_NAMES[] = { "plain", "exact", "view", "sim" };

/* Contacts as the profile writes them; `out` has room for two points. */
static struct wire_slice contacts_in(enum wire_profile profile, const struct wire_body *body,
				     uint8_t out[256])
{
	struct wire_slice exact = { body->contacts, body->contact_bytes };
	if (!wire_profile_quantised(profile))
		return exact;
	return (struct wire_slice){ out, wire_touches_quantise(profile, exact, out) };
}

static uint64_t hash_of(const struct wire_body *bodies, uint32_t count, uint64_t tick,
			enum wire_profile profile, wire_mask fields)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct wire_quantised steps;
		if (wire_profile_quantised(profile)) {
			wire_quantise(profile, &bodies[i], &steps);
			uint8_t packed[256];
			sum += wire_quantised_hash(&bodies[i], &steps,
						   contacts_in(profile, &bodies[i], packed),
						   fields);
		} else {
			sum += fields == WIRE_COLUMNS_TICK ? wire_tick_hash(&bodies[i])
							   : wire_view_hash(&bodies[i], fields);
		}
	}
	return body_hash_finish(tick, sum, count);
}

static void write_integers(FILE *out, const char *name, const int64_t values[3])
{
	fprintf(out, ", \"%s\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]", name, values[0],
		values[1], values[2]);
}

/* The integers that a mirror must have after a frame of a quantised profile. */
static void write_steps(FILE *out, enum wire_profile profile, const struct wire_body *bodies,
			uint32_t count)
{
	if (!wire_profile_quantised(profile))
		return;
	fputs(",\n       \"steps\": [", out);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_quantised steps;
		int64_t rotation[3], velocity[3], spin[3];
		wire_quantise(profile, &bodies[i], &steps);
		for (int k = 0; k < 3; k++) {
			rotation[k] = steps.rotation[k];
			velocity[k] = steps.velocity[k];
			spin[k] = steps.spin[k];
		}
		fprintf(out, "%s{\"id\": %" PRIu32, i == 0 ? "" : ",\n         ", bodies[i].id);
		write_integers(out, "position", steps.position);
		fprintf(out, ", \"largest\": %u", steps.largest);
		write_integers(out, "rotation", rotation);
		write_integers(out, "velocity", velocity);
		write_integers(out, "spin", spin);
		uint8_t packed[256];
		write_contacts(out, profile, contacts_in(profile, &bodies[i], packed));
		fputc('}', out);
	}
	fputc(']', out);
}

/* The only part of a frame. */
static uint32_t frame_of(const struct delta_frame *frame, uint64_t sub, uint8_t *data,
			 uint32_t capacity)
{
	struct delta_part part;
	uint32_t count, bytes;
	uint8_t head[WIRE_HEAD_MAX];
	ASSERT(delta_plan(frame, WIRE_FRAME_DOWN, &part, 1, &count) == STATUS_OK);
	ASSERT(delta_pack_tail(frame, &part, 1, 0, data + WIRE_HEAD_MAX, capacity - WIRE_HEAD_MAX,
			       &bytes) == STATUS_OK);
	uint32_t head_bytes = message_pack_head(delta_type(frame), sub, bytes, true, head);
	memcpy(data, head, head_bytes);
	memmove(data + head_bytes, data + WIRE_HEAD_MAX, bytes);
	return head_bytes + bytes;
}

/* A row, and in a quantised profile the integers that it encodes and its base. */
struct example_row {
	struct wire_quantised to, from;
	uint8_t contacts[256];
};

static struct block_row row_of(struct example_row *example, enum wire_profile profile,
			       const struct wire_body *body, wire_mask mask,
			       const struct wire_body *base)
{
	struct block_row row = { .body = body, .mask = mask, .created = base == NULL };
	if (!wire_profile_quantised(profile))
		return row;
	wire_quantise(profile, body, &example->to);
	row.to = &example->to;
	row.contacts = contacts_in(profile, body, example->contacts);
	if (base != NULL) {
		wire_quantise(profile, base, &example->from);
		row.from = &example->from;
	}
	return row;
}

/* Body 1 is removed, body 2 has fallen and turned a little, body 300 is at rest, and body 301 is
 * new. */
static void write_example_delta(FILE *out, struct delta_frame *frame,
				const struct wire_body before[BODIES])
{
	uint8_t data[4096];
	struct example_row examples[BODIES];
	struct wire_body after[BODIES] = { before[1], before[2], before[2] };
	wire_mask moved = WIRE_COLUMN_POSITION & frame->fields;
	after[0].position[1] = 9.75;
	after[2].id = 301;
	if (wire_profile_quantised(frame->profile)) {
		const double turned[4] = { 0.5, 0.75, -0.25, 0.35355339059327379 };
		memcpy(after[0].rotation, turned, sizeof turned);
		moved |= WIRE_COLUMN_ROTATION & frame->fields;
	}
	struct block_row rows[2];
	uint32_t removed[] = { 1 }, count = 0;
	if (moved != 0)
		rows[count++] = row_of(&examples[0], frame->profile, &after[0], moved, &before[1]);
	rows[count++] = row_of(&examples[1], frame->profile, &after[2], frame->fields, NULL);
	if (wire_profile_quantised(frame->profile))
		frame->flags &= (uint8_t)~WIRE_FRAME_ABSOLUTE;
	frame->snapshot = false;
	frame->base = 120;
	frame->tick = 121;
	frame->rows = rows;
	frame->row_count = count;
	frame->removed = removed;
	frame->removed_count = 1;
	frame->hash.value = hash_of(after, BODIES, 121, frame->profile, frame->fields);
	fputs("},\n     \"delta\": {", out);
	write_frame(out, data, frame_of(frame, 9, data, sizeof data));
	write_steps(out, frame->profile, after, BODIES);
	fputs("}}", out);
}

static void write_frames(FILE *out, enum wire_profile profile, wire_mask fields)
{
	uint8_t shapes[WIRE_SHAPE_BYTES], data[4096];
	struct wire_body bodies[BODIES];
	struct example_row examples[BODIES];
	struct block_row rows[BODIES];
	example_bodies(bodies, shapes);
	for (int i = 0; i < BODIES; i++)
		rows[i] = row_of(&examples[i], profile, &bodies[i], fields, NULL);
	struct delta_frame frame = { .snapshot = true,
				     .profile = profile,
				     .fields = fields,
				     .flags = WIRE_FRAME_ABSOLUTE,
				     .epoch = 1,
				     .tick = 120,
				     .rows = rows,
				     .row_count = BODIES };
	if (fields == WIRE_COLUMNS_TICK && !wire_profile_quantised(profile))
		frame.flags |= WIRE_FRAME_TICK_HASH;
	frame.hash = (struct wire_hash){ true, hash_of(bodies, BODIES, 120, profile, fields) };
	fprintf(out, "    {\"profile\": \"%s\", \"fields\": %u, \"snapshot\": {",
		PROFILE_NAMES[profile], fields);
	write_frame(out, data, frame_of(&frame, 9, data, sizeof data));
	write_steps(out, profile, bodies, BODIES);
	write_example_delta(out, &frame, bodies);
}

void wire_vectors_bodies(FILE *out)
{
	static const wire_mask FIELDS[] = { WIRE_COLUMNS_TICK,
					    WIRE_COLUMNS_ALL,
					    WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION,
					    WIRE_COLUMN_STATUS,
					    WIRE_COLUMNS_SERVED,
					    WIRE_COLUMN_CONTACTS };
	uint8_t shapes[WIRE_SHAPE_BYTES];
	struct wire_body bodies[BODIES];
	example_bodies(bodies, shapes);
	fputs("{\n  \"bodies\": [\n", out);
	for (int i = 0; i < BODIES; i++) {
		fputs(i == 0 ? "" : ",\n", out);
		write_body(out, &bodies[i]);
	}
	fprintf(out,
		"\n  ],\n  \"tick\": 120, \"tick_hash\": \"%016" PRIx64 "\",\n  \"frames\": [\n",
		hash_of(bodies, BODIES, 120, WIRE_PROFILE_EXACT, WIRE_COLUMNS_TICK));
	for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
		static const enum wire_profile PROFILES[] = { WIRE_PROFILE_EXACT,
							      WIRE_PROFILE_PLAIN, WIRE_PROFILE_VIEW,
							      WIRE_PROFILE_SIM };
		for (size_t k = 0; k < COUNT_OF(PROFILES); k++) {
			fputs(i + k == 0 ? "" : ",\n", out);
			write_frames(out, PROFILES[k], FIELDS[i]);
		}
	}
	fputs("\n  ]\n}\n", out);
}

/* ---- hostile ----------------------------------------------------------------------------------
 */

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct {
	const char *what;
	const uint8_t *at;
	uint32_t bytes;
} HOSTILE[] = {
	{ "empty array", BYTES(0x90) },
	{ "not an array", BYTES(0x81, 0xa1, 't', 4) },
	{ "type is a text", BYTES(0x92, 0xa1, 't', 1) },
	{ "type beyond 127", BYTES(0x92, 0xcc, 0x80, 1) },
	{ "negative type", BYTES(0x92, 0xff, 1) },
	{ "an array of 268 million", BYTES(0xdd, 0x0f, 0xff, 0xff, 0xff) },
	{ "a map of 268 million pairs", BYTES(0xdf, 0x0f, 0xff, 0xff, 0xff) },
	{ "an inner array that lies", BYTES(0x92, 4, 0xdd, 0x0f, 0xff, 0xff, 0xff) },
	{ "counts that lie together", BYTES(0x94, 4, 0x93, 0x93, 1, 2, 3) },
	{ "a text that lies", BYTES(0x92, 4, 0xdb, 0x7f, 0xff, 0xff, 0xff, 'x') },
	{ "a bin that lies", BYTES(0x92, 4, 0xc6, 0x7f, 0xff, 0xff, 0xff, 0) },
	{ "bytes after the end", BYTES(0x92, 4, 1, 0xc0) },
	{ "nine levels", BYTES(0x92, 4, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0xc0) },
	{ "a number that is not one", BYTES(0x92, 4, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0) },
	{ "an infinity", BYTES(0x92, 4, 0xcb, 0xff, 0xf0, 0, 0, 0, 0, 0, 0) },
	{ "a float 32 infinity", BYTES(0x92, 4, 0xca, 0x7f, 0x80, 0, 0) },
	{ "2^53 + 1", BYTES(0x92, 4, 0xcf, 0, 0x20, 0, 0, 0, 0, 0, 1) },
	{ "-2^53 - 1", BYTES(0x92, 4, 0xd3, 0xff, 0xdf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) },
	{ "2^64 - 1", BYTES(0x92, 4, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) },
	{ "an ext", BYTES(0x92, 4, 0xd4, 1, 1) },
	{ "a timestamp", BYTES(0x92, 4, 0xd6, 0xff, 0, 0, 0, 1) },
	{ "the byte that is never used", BYTES(0x92, 4, 0xc1) },
	{ "a text that is not UTF-8", BYTES(0x92, 4, 0xa2, 0xc3, 0x28) },
	{ "a text with a NUL", BYTES(0x92, 4, 0xa1, 0) },
	{ "a key that is a number", BYTES(0x92, 1, 0x81, 1, 2) },
	{ "an unknown message", BYTES(0x92, 9, 1) },
	{ "a reserved message", BYTES(0x92, 70, 1) },
	{ "a missing field", BYTES(0x91, 4) },
	{ "a field of another type", BYTES(0x92, 4, 0xa1, 'x') },
	{ "a field that is nil", BYTES(0x92, 4, 0xc0) },
	{ "a value below its range", BYTES(0x92, 4, 0xff) },
	{ "a value above its range", BYTES(0x95, 61, 1, 1, 0xc0, 0xcd, 0x27, 0x11) },
	{ "a float where an integer belongs", BYTES(0x92, 4, 0xca, 0x3f, 0x80, 0, 0) },
};

void wire_vectors_hostile(FILE *out)
{
	fputs("[\n", out);
	for (size_t i = 0; i < COUNT_OF(HOSTILE); i++) {
		struct message message;
		enum status status =
			message_read(HOSTILE[i].at, HOSTILE[i].bytes, &VALIDATE_UP, &message, NULL);
		ASSERT(status != STATUS_OK);
		fprintf(out, "%s  {\"what\": \"%s\", \"content\": \"", i == 0 ? "" : ",\n",
			HOSTILE[i].what);
		write_hex(out, HOSTILE[i].at, HOSTILE[i].bytes);
		fprintf(out, "\", \"status\": \"%s\", \"closes\": %s}", status_name(status),
			wire_status_closes(status) ? "true" : "false");
	}
	fputs("\n]\n", out);
}
