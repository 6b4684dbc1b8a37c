/* The parts of docs/PROTOCOL.md that are generated from the code: the worked session and the
 * tables. */
#include <inttypes.h>
#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/delta.h"
#include "protocol/handshake.h"
#include "protocol/joint_rows.h"
#include "protocol/particle_columns.h"
#include "protocol/pack.h"
#include "server/base/body_hash.h"
#include "server/engine/engine.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/types.h"
#include "tests/lib/wire_vectors.h"

/* ---- the session ------------------------------------------------------------------------------
 */

static void write_bytes(FILE *out, char who, const char *what, const uint8_t *data, uint32_t bytes)
{
	fprintf(out, "%c  %s\n", who, what);
	for (uint32_t i = 0; i < bytes; i++)
		fprintf(out, "%s%02x%s", i % 24 == 0 ? "   " : " ", data[i],
			i % 24 == 23 || i + 1 == bytes ? "\n" : "");
}

static void write_packed(FILE *out, char who, const char *what, const struct message *message)
{
	uint8_t frame[2048];
	uint32_t bytes;
	ASSERT(message_pack(message, frame, sizeof frame, &bytes) == STATUS_OK);
	write_bytes(out, who, what, frame, bytes);
}

static void write_handshake(FILE *out)
{
	struct handshake client, server;
	struct message message, answer;
	handshake_init(&client, &(struct handshake_offer){ .name = "ten lines",
							   .caps = WIRE_CAP_ACK,
							   .role = WIRE_ROLE_PLAYER });
	handshake_init(&server, &(struct handshake_offer){ .name = "cairnd",
							   .build = "0.1.0",
							   .abi = "1",
							   .caps = WIRE_CAPS_ALL,
							   .role = WIRE_ROLE_CONTROLLER,
							   .session = 7,
							   .time_us = 1000000 });
	handshake_hello(&client, &message);
	write_packed(out, 'C', "HELLO: protocol 1.0, can acknowledge, wants to be a player",
		     &message);
	ASSERT(handshake_receive(&server, &message, &answer) == STATUS_OK);
	write_packed(out, 'S', "WELCOME: session 7", &answer);
}

static void write_join(FILE *out)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_JOIN);
	message.world_join.ref = 1;
	message.world_join.name = wire_text("demo");
	write_packed(out, 'C', "WORLD_JOIN: by name", &message);
	message_init(&message, MESSAGE_WORLD_INFO);
	message.world_info.ref = 1;
	message.world_info.world = 1;
	message.world_info.epoch = 1;
	message.world_info.tick = 118;
	message.world_info.rate = (struct wire_rate){ 60, 1 };
	message.world_info.method = wire_text("soft-step");
	message.world_info.bodies = 2;
	message.world_info.name = wire_text("demo");
	write_packed(out, 'S', "WORLD_INFO: world 1, epoch 1, tick 118, 60 Hz", &message);
}

static void write_state(FILE *out, const char *what, const struct wire_body *bodies, uint32_t count,
			uint64_t base, uint64_t tick)
{
	struct block_row rows[2];
	struct delta_part part;
	uint8_t frame[1024], head[WIRE_HEAD_MAX];
	uint32_t parts, bytes;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		rows[i] = (struct block_row){ .body = &bodies[i], .mask = WIRE_COLUMN_POSITION };
		sum += wire_view_hash(&bodies[i], WIRE_COLUMN_POSITION);
	}
	/* Only the second of the two moves. */
	struct delta_frame delta = { .snapshot = base == 0,
				     .profile = WIRE_PROFILE_PLAIN,
				     .fields = WIRE_COLUMN_POSITION,
				     .flags = WIRE_FRAME_ABSOLUTE,
				     .epoch = 1,
				     .tick = tick,
				     .base = base,
				     .hash = { true, body_hash_finish(tick, sum, count) },
				     .rows = base == 0 ? rows : rows + 1,
				     .row_count = base == 0 ? 2 : 1 };
	ASSERT(delta_plan(&delta, WIRE_FRAME_DOWN, &part, 1, &parts) == STATUS_OK);
	ASSERT(delta_pack_tail(&delta, &part, 1, 0, frame + WIRE_HEAD_MAX,
			       sizeof frame - WIRE_HEAD_MAX, &bytes) == STATUS_OK);
	uint32_t head_bytes = message_pack_head(delta_type(&delta), 5, bytes, true, head);
	uint8_t *start = frame + WIRE_HEAD_MAX - head_bytes;
	memcpy(start, head, head_bytes);
	write_bytes(out, 'S', what, start, head_bytes + bytes);
}

static void write_ack(FILE *out, const char *what, uint64_t tick)
{
	struct message message;
	message_init(&message, MESSAGE_ACK);
	message.ack = (struct msg_ack){ .sub = 5, .epoch = 1, .tick = tick };
	write_packed(out, 'C', what, &message);
}

static void write_commands_and_result(FILE *out)
{
	struct message message;
	uint8_t data[256];
	struct wire_packer list = wire_packer_over(data, sizeof data);
	wire_pack_array(&list, 3);
	wire_pack_uint(&list, 17);
	wire_pack_uint(&list, 2);
	wire_pack_array(&list, 3);
	wire_pack_uint(&list, 0);
	wire_pack_real(&list, 2.5);
	wire_pack_uint(&list, 0);
	message_init(&message, MESSAGE_COMMANDS);
	message.commands.world = 1;
	message.commands.batch = 1;
	message.commands.list = (struct wire_list){ data, list.bytes, 1 };
	write_packed(out, 'C',
		     "COMMANDS: batch 1 at the next tick: [impulse, body 2, [0, 2.5, 0] N s]",
		     &message);
	list = wire_packer_over(data, sizeof data);
	wire_pack_array(&list, 7);
	wire_pack_uint(&list, 1);
	wire_pack_uint(&list, 119);
	wire_pack_uint(&list, STATUS_OK);
	wire_pack_int(&list, -1);
	wire_pack_array(&list, 1);
	wire_pack_uint(&list, 0);
	wire_pack_string(&list, "");
	wire_pack_string(&list, "");
	message_init(&message, MESSAGE_RESULT);
	message.result.world = 1;
	message.result.list = (struct wire_list){ data, list.bytes, 1 };
	write_packed(out, 'S', "RESULT: batch 1 applied at tick 119; it made no id", &message);
}

static void write_refusal(FILE *out)
{
	struct message message;
	message_init(&message, MESSAGE_SAVE);
	message.save.ref = 2;
	message.save.world = 1;
	message.save.name = wire_text("mine");
	write_packed(out, 'C', "SAVE: which a player may not", &message);
	message_init(&message, MESSAGE_ERROR);
	message.error.ref = 2;
	message.error.code = STATUS_FORBIDDEN;
	message.error.text = wire_text(status_text(STATUS_FORBIDDEN));
	message.error.about = MESSAGE_SAVE;
	write_packed(out, 'S', "ERROR: forbidden; the connection lives", &message);
	message_init(&message, MESSAGE_GOODBYE);
	message.goodbye.code = STATUS_DRAINING;
	message.goodbye.retry_ms = 1500;
	message.goodbye.text = wire_text(status_text(STATUS_DRAINING));
	write_packed(out, 'S', "GOODBYE: the server is shutting down; come back in 1.5 s",
		     &message);
}

void wire_vectors_session(FILE *out)
{
	struct wire_body bodies[2] = { { .id = 1 }, { .id = 2, .position = { 0.5, 10, 0 } } };
	struct message message;
	write_handshake(out);
	write_join(out);
	message_init(&message, MESSAGE_SUBSCRIBE);
	message.subscribe.sub = 5;
	message.subscribe.world = 1;
	message.subscribe.fields = WIRE_COLUMN_POSITION;
	write_packed(out, 'C', "SUBSCRIBE: sub 5, positions, profile plain", &message);
	write_state(out, "SNAPSHOT: tick 118, [[1, 0, 0, 0], [2, 0.5, 10, 0]], view hash", bodies,
		    2, 0, 118);
	write_ack(out, "ACK", 118);
	write_commands_and_result(out);
	bodies[1].position[1] = 10.0625;
	write_state(out, "DELTA: tick 120 on 118, [[2, 0.5, 10.0625, 0]], view hash", bodies, 2,
		    118, 120);
	write_ack(out, "ACK", 120);
	write_refusal(out);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static const char *kind_name(enum wire_kind kind)
{
	static const char *const NAMES[] = {
		"uint",	  "int",    "real",	      "text",	    "bin",  "name",
		"hash",	  "uint?",  "[major, minor]", "[num, den]", "box?", "[text]",
		"limits", "[uint]", "[real]",	      "list",	    "map",  "any"
	};
	return NAMES[kind];
}

static void write_bound(FILE *out, const struct message_field *field)
{
	if (field->max == 0)
		return;
	if (field->max == (double)WIRE_INTEGER_MAX)
		fputs(" ≤ 2^53", out);
	else if (field->max == UINT32_MAX)
		fputs(" ≤ 2^32−1", out);
	else
		fprintf(out, " ≤ %.15g", field->max);
}

static void write_message(FILE *out, const struct message_info *info)
{
	static const char *const FROM[] = { "", "client", "server", "either" };
	fprintf(out, "\n**%d %s** (%s", (int)info->type, info->name, FROM[info->from]);
	if (info->from & WIRE_FROM_CLIENT)
		fprintf(out, ", %s",
			info->role == WIRE_ROLE_NOBODY ? "anybody" : wire_role_name(info->role));
	fprintf(out, "%s): %s.\n\n", info->layout == WIRE_LAYOUT_MAP ? ", map" : "", info->doc);
	fputs("| field | kind | missing | meaning |\n|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct message_field *field = &info->fields[i];
		fprintf(out, "| %s | %s", field->name, kind_name(field->kind));
		write_bound(out, field);
		if (field->needed)
			fputs(" | – |", out);
		else if (field->kind == WIRE_KIND_UINT || field->kind == WIRE_KIND_INT ||
			 field->kind == WIRE_KIND_REAL)
			fprintf(out, " | %" PRId64 " |", field->fallback);
		else
			fputs(" | none |", out);
		fprintf(out, " %s |\n", field->doc);
	}
}

static void write_reserved(FILE *out)
{
	fputs("\nReserved: numbers that are taken, answered ERROR(unsupported).\n\n", out);
	fputs("| number | name | for |\n|---|---|---|\n", out);
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		if (info->reserved)
			fprintf(out, "| %d | %s | %s |\n", (int)info->type, info->name, info->doc);
	}
}

void wire_vectors_tables(FILE *out)
{
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		if (!message_info_at(i)->reserved)
			write_message(out, message_info_at(i));
	}
	write_reserved(out);
}

void wire_vectors_columns(FILE *out)
{
	fputs("| bit | name | bytes | content |\n|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < WIRE_COLUMN_COUNT; i++) {
		const struct wire_column_info *info = wire_column_info(i);
		fprintf(out, "| %d (%u) | %s | %u%s | %s |\n", __builtin_ctz(info->bit), info->bit,
			info->name, info->bytes,
			info->bit == WIRE_COLUMN_SHAPES	    ? " + 88 each"
			: info->bit == WIRE_COLUMN_CONTACTS ? " or 2, + 100 each"
							    : "",
			info->doc);
	}
#define COLUMN_RETIRED(bit, name, doc)                                                             \
	fprintf(out, "| %u (%u) | %s | – | retired, refused: %s |\n", bit, 1u << (bit), #name, doc);
#include "protocol/columns.def"
	fputs("\nThese are the columns of bodies. Each other kind has columns, a mask and a hash of "
	      "its own. Numbers never change their\nmeaning:\n\n"
	      "| kind | name | told | |\n|---|---|---|---|\n",
	      out);
#define ROWS "row by row"
#define BLOCKS "by ranges of serial numbers"
#define KIND(number, NAME, name, layout, doc)                                                      \
	fprintf(out, "| %u | %s | %s | %s |\n", number, #name, layout, doc);
#include "protocol/columns.def"
#undef ROWS
#undef BLOCKS
}

void wire_vectors_joint_columns(FILE *out)
{
	fputs("| bit | name | bytes: plain, exact; view, sim | content |\n|---|---|---|---|\n",
	      out);
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++) {
		wire_mask bit = (wire_mask)(1u << i);
		fprintf(out, "| %u (%u) | %s | %u; %u | %s |\n", i, bit, wire_joint_column_name(i),
			wire_joint_bytes(WIRE_PROFILE_EXACT, bit),
			wire_joint_bytes(WIRE_PROFILE_VIEW, bit), wire_joint_column_doc(i));
	}
}

void wire_vectors_particle_columns(FILE *out)
{
	fputs("| bit | name | bytes in exact | content |\n|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT; i++) {
		wire_mask bit = (wire_mask)(1u << i);
		fprintf(out, "| %u (%u) | %s | %u | %s |\n", i, bit, wire_particle_column_name(i),
			wire_particle_bytes(WIRE_PROFILE_EXACT, bit), wire_particle_column_doc(i));
	}
}

void wire_vectors_statuses(FILE *out)
{
	static const int NUMBERS[] = {
#define STATUS(number, NAME, name, text) number,
#include "server/base/status.def"
	};
	fputs("| number | name | ERROR closes | meaning | in GOODBYE |\n|---|---|---|---|---|\n",
	      out);
	for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
		enum status status = (enum status)NUMBERS[i];
		const char *goodbye = wire_status_goodbye(status);
		fprintf(out, "| %d | %s | %s | %s | %s |\n", NUMBERS[i], status_name(status),
			wire_status_closes(status) ? "yes" : "no", status_text(status),
			goodbye != NULL ? goodbye : "");
	}
}

/* Columns of a command's field table; an X-macro of commands.def fills it. */
static void write_command_field(FILE *out, const char *type, const char *name, double min,
				double max, double initial, const char *unit, const char *doc,
				bool needed)
{
	char low[REASON_NUMBER_BYTES], high[REASON_NUMBER_BYTES];
	bool ranged = strcmp(type, "ENUM") == 0 || strcmp(type, "U32") == 0 ||
		      strcmp(type, "INTEGER") == 0 || strcmp(type, "F64") == 0 ||
		      strcmp(type, "VEC3") == 0;
	fprintf(out, "| %s | %s |", name, type);
	if (ranged)
		fprintf(out, " %s … %s |", reason_number(min, low), reason_number(max, high));
	else
		fputs(" |", out);
	if (needed)
		fputs(" – |", out);
	else if (strcmp(type, "VEC3") == 0)
		fprintf(out, " [%g, %g, %g] |", initial, initial, initial);
	else if (strcmp(type, "QUAT") == 0)
		fputs(" [1, 0, 0, 0] |", out);
	else if (strcmp(type, "ATTACHMENTS") == 0 || strcmp(type, "TARGETS") == 0 ||
		 strcmp(type, "POINTS") == 0)
		fputs(" [] |", out);
	else
		fprintf(out, " %.10g |", initial);
	fprintf(out, " %s%s%s |\n", doc, unit[0] == '\0' ? "" : ", ", unit);
}

void wire_vectors_commands(FILE *out)
{
	uint32_t needed_left = 0;
#define COMMAND(number, NAME, name, needed, result, doc)                                           \
	fprintf(out, "\n**%d %s**: %s.\n\n", number, #name, doc);                                  \
	fputs("| field | type | range | missing | meaning |\n|---|---|---|---|---|\n", out);       \
	needed_left = needed;
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc)                                      \
	write_command_field(out, #TYPE, #name, (double)(min), (double)(max), (double)(initial),    \
			    unit, doc, needed_left > 0);                                           \
	needed_left -= needed_left > 0;
#include "server/engine/world/commands.def"
	fputs("\nReserved, refused with UNSUPPORTED:", out);
#define RESERVED(number, name) fprintf(out, " %d %s;", number, #name);
#include "server/engine/world/commands.def"
	fputc('\n', out);
}

void wire_vectors_capabilities(FILE *out)
{
	fputs("| name | meaning |\n|---|---|\n", out);
#define CAPABILITY(bit, NAME, name, doc) fputs("| " #name " | " doc " |\n", out);
#include "protocol/capabilities.def"
}

/* ---- numbers of fields -------------------------------------------------------------- */

struct number_row {
	int number;
	const char *name, *doc;
};

static void write_numbers(FILE *out, const char *title, const struct number_row *rows, size_t count)
{
	fprintf(out, "\n**%s**\n\n| number | name | meaning |\n|---|---|---|\n", title);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %d | %s | %s |\n", rows[i].number, rows[i].name, rows[i].doc);
}

/* table: one line a number. */
void wire_vectors_numbers(FILE *out)
{
	static const struct number_row MODES[] = {
		{ WIRE_MODE_RUNNING, "running", "a tick a period" },
		{ WIRE_MODE_PAUSED, "paused", "no tick but by STEP, of any controller" },
		{ WIRE_MODE_LOCKSTEP, "lock-step",
		  "as paused, by STEP of the session that has the lease; after a restart it is "
		  "nobody's" },
		{ WIRE_MODE_BARRIER, "barrier", "a tick when k sessions have sent STEP for it" },
		{ WIRE_MODE_FAILED, "failed",
		  "as paused: a limit was met, ticks cost more than the world's budget, or its file "
		  "cannot be written" },
	};
	static const struct number_row CONTROLS[] = {
		{ WIRE_CONTROL_PAUSE, "pause", "no value" },
		{ WIRE_CONTROL_RESUME, "resume",
		  "no value; STEPs that wait are refused (running)" },
		{ WIRE_CONTROL_SPEED, "speed", "times real time, 0.001 … 100; the mode stays" },
		{ WIRE_CONTROL_LOCKSTEP, "lock-step",
		  "no value; the lease lasts until this session pauses or resumes, leaves the "
		  "world, or ends" },
		{ WIRE_CONTROL_BARRIER, "barrier", "k, an integer within 1 and 256" },
	};
	static const struct number_row LATE[] = {
		{ WIRE_LATE_APPLY, "apply", "at the next boundary" },
		{ WIRE_LATE_REFUSE, "refuse", "RESULT(late)" },
	};
	static const struct number_row PROFILES[] = {
		{ WIRE_PROFILE_PLAIN, "plain", "arrays of numbers" },
		{ WIRE_PROFILE_EXACT, "exact", "bits of doubles, by column; needs the capability" },
		{ WIRE_PROFILE_VIEW, "view", "steps of 1/512 m, differences" },
		{ WIRE_PROFILE_SIM, "sim", "steps of 1/4096 m, differences" },
	};
	static const struct number_row FLAGS[] = {
		{ WIRE_FRAME_ABSOLUTE, "absolute",
		  "columns are values, not differences to the mirror" },
		{ WIRE_FRAME_TICK_HASH, "tick hash",
		  "`hash` is the tick hash; without it the view hash" },
		{ WIRE_FRAME_ROWS, "rows",
		  "ROWS of the same state follow the last part; the frame is whole with theirs" },
		{ WIRE_FRAME_WHOLE, "whole",
		  "of ROWS and BLOCKS: part 0 empties the set; what follows is all of it" },
		{ WIRE_FRAME_BLOCKS, "blocks",
		  "BLOCKS of the same state follow the last part, and the ROWS; the frame is whole "
		  "with theirs" },
		{ WIRE_FRAME_PARTIAL, "partial",
		  "the budget did not let everything through; there is no hash, the rest follows" },
	};
	static const struct number_row WANTS[] = {
		{ WIRE_WANT_HASH, "hash", "`state_hash`" },
		{ WIRE_WANT_BODIES, "bodies", "observation: rows of profile plain, fields 31" },
		{ WIRE_WANT_TOTALS, "totals", "observation: as the answer to QUERY 4" },
		{ WIRE_WANT_EXACT, "exact", "observation: a bin of profile exact, fields 31" },
		{ WIRE_WANT_JOINTS, "joints",
		  "observation: rows of joints, profile plain, all columns" },
		{ WIRE_WANT_JOINTS_HASH, "joints hash", "`joints_hash`" },
	};
	write_numbers(out, "WORLD_INFO.mode", MODES, COUNT_OF(MODES));
	write_numbers(out, "CONTROL.action, with what CONTROL.value is", CONTROLS,
		      COUNT_OF(CONTROLS));
	write_numbers(out, "COMMANDS.late: what to do where `at` has passed", LATE, COUNT_OF(LATE));
	write_numbers(out, "SUBSCRIBE.profile", PROFILES, COUNT_OF(PROFILES));
	write_numbers(out, "SNAPSHOT.flags, DELTA.flags, ROWS.flags, BLOCKS.flags: a sum", FLAGS,
		      COUNT_OF(FLAGS));
	write_numbers(out, "STEP.want: a sum", WANTS, COUNT_OF(WANTS));
}

void wire_vectors_observations(FILE *out)
{
	fputs("| kind | name | items | numbers of an item |\n|---|---|---|---|\n", out);
#define OBSERVATION(kind, NAME, name, items, numbers)                                              \
	fprintf(out, "| %d | %s | %s | %s |\n", kind, #name, items, numbers);
#include "protocol/observations.def"
}

void wire_vectors_parameters(FILE *out)
{
	fputs("| name | values | initially | read by | meaning |\n|---|---|---|---|---|\n", out);
#define WHOLE "integer, "
#define REAL ""
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, methods, doc)         \
	fprintf(out, "| %s | %s%.10g … %.10g%s%s | %.10g | %s | %s |\n", name, kind,               \
		(double)(min), (double)(max), unit[0] == '\0' ? "" : " ", unit, (double)(initial), \
		methods[0] == '\0' ? "–" : methods, doc);
#include "server/engine/world/parameters.def"
	fputs("\n| old name, taken for good | of |\n|---|---|\n", out);
	struct parameter_info list[64];
	uint32_t count = world_parameters(list, COUNT_OF(list));
	for (uint32_t i = 0; i < count; i++)
		if (list[i].old != NULL)
			fprintf(out, "| %s | %s |\n", list[i].old, list[i].name);
#undef WHOLE
#undef REAL
}

void wire_vectors_shape_limits(FILE *out)
{
	fputs("| | least | most |\n|---|---|---|\n", out);
	fprintf(out, "| a length (radius, half extent, side of a box) | %g m | %g m |\n",
		SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX);
	fprintf(out, "| points given for a hull | 4 | %d |\n", SHAPE_CLOUD_MAX);
	fprintf(out, "| vertices of the hull that is found | 4 | %d |\n", SHAPE_HULL_VERTICES_MAX);
	fprintf(out, "| corners of a polygon | 3 | %d |\n", SHAPE_POLYGON_VERTICES_MAX);
	fprintf(out, "| vertices of a mesh or solid | 3 | %d |\n", SHAPE_MESH_VERTICES_MAX);
	fprintf(out, "| triangles of a mesh or solid | 1 | %d |\n", SHAPE_MESH_TRIANGLES_MAX);
	fprintf(out, "| samples of a heightfield along x and along z | 2 | %d |\n",
		SHAPE_HEIGHTFIELD_SIDE_MAX);
	fprintf(out, "| parts of a solid | 1 | %d |\n", SOLID_PARTS_MAX);
	fprintf(out, "| cells of a solid's field along its longest side | 2 | %d |\n",
		SOLID_CELLS_MAX);
}

const struct wire_vectors_file WIRE_VECTORS_SECTIONS[] = {
	{ "session", wire_vectors_session },
	{ "messages", wire_vectors_tables },
	{ "commands", wire_vectors_commands },
	{ "columns", wire_vectors_columns },
	{ "statuses", wire_vectors_statuses },
	{ "capabilities", wire_vectors_capabilities },
	{ "joint_columns", wire_vectors_joint_columns },
	{ "particle_columns", wire_vectors_particle_columns },
	{ "numbers", wire_vectors_numbers },
	{ "observations", wire_vectors_observations },
	{ "parameters", wire_vectors_parameters },
	{ "queries", wire_vectors_query_table },
	{ "shape_limits", wire_vectors_shape_limits },
	{ NULL, NULL },
};
