/* export_mcap.c: MCAP, the container of robotics' viewers (specification: https://mcap.dev/spec), with the
 * messages that Foxglove draws, as JSON.
 *
 *	magic · header · { chunk · its message indexes } … · metadata · attachment · data end ·
 *	schemas, channels, statistics, chunk indexes · summary offsets · footer · magic
 *
 * /scene has a SceneUpdate at the first state and whenever bodies appear or disappear: geometry is written
 * once, in frames "body/N". /tf has the FrameTransforms of each sampled state: motion is small. /totals has
 * energy and momentum. The world's file itself is the attachment, so one file is picture and truth.
 */
#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "server/base/heap.h"
#include "server/commands/export.h"
#include "server/engine/solids.h"
#include "server/store/image.h"

enum { CHANNELS = 3, SCENE = 1, TRANSFORMS = 2, TOTALS = 3 };
enum { CHUNK_BYTES = 1 << 20, ATTACHMENT_MAX_MIB = 1024 };
enum opcode {
	OP_HEADER = 1,
	OP_FOOTER = 2,
	OP_SCHEMA = 3,
	OP_CHANNEL = 4,
	OP_MESSAGE = 5,
	OP_CHUNK = 6,
	OP_MESSAGE_INDEX = 7,
	OP_CHUNK_INDEX = 8,
	OP_ATTACHMENT = 9,
	OP_STATISTICS = 11,
	OP_METADATA = 12,
	OP_SUMMARY_OFFSET = 14,
	OP_DATA_END = 15,
};
static const char magic[8] = "\x89MCAP0\r\n";

struct chunk_index {
	uint64_t first, last, at, bytes, index_bytes, packed, raw;
	uint64_t index_at[CHANNELS + 1];
};
struct message_index {
	uint64_t time, offset;
};

struct mcap {
	struct export_sink sink; /* first */
	uint64_t written;
	struct bytes chunk, json, record;
	ARRAY_OF(struct message_index) index[CHANNELS + 1];
	ARRAY_OF(struct chunk_index) chunks;
	uint64_t chunk_first, chunk_last;
	uint64_t first, last, messages, channel_messages[CHANNELS + 1];
	uint32_t sequence, attachments;
	ARRAY_OF(body_id) shown; /* bodies of the last SceneUpdate */
	bool any;
};

static const char *const topics[CHANNELS + 1] = { "", "/scene", "/tf", "/totals" };
static const char *const schema_names[CHANNELS + 1] = { "", "foxglove.SceneUpdate",
							"foxglove.FrameTransforms",
							"cairn.Totals" };
#define VECTOR3                                                                                    \
	"{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"},\"y\":{\"type\":"        \
	"\"number\"},\"z\":{\"type\":\"number\"}}}"
static const char *const schemas[CHANNELS + 1] = {
	"",
	"{\"title\":\"foxglove.SceneUpdate\",\"type\":\"object\",\"properties\":{\"deletions\":"
	"{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"entities\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\"}}}}",
	"{\"title\":\"foxglove.FrameTransforms\",\"type\":\"object\",\"properties\":{\"transforms\":"
	"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"timestamp\":{\"type\":"
	"\"object\",\"properties\":{\"sec\":{\"type\":\"integer\"},\"nsec\":{\"type\":\"integer\"}}},"
	"\"parent_frame_id\":{\"type\":\"string\"},\"child_frame_id\":{\"type\":\"string\"},"
	"\"translation\":" VECTOR3 ",\"rotation\":{\"type\":\"object\",\"properties\":{\"x\":{"
	"\"type\":\"number\"},\"y\":{\"type\":\"number\"},\"z\":{\"type\":\"number\"},\"w\":{"
	"\"type\":\"number\"}}}}}}}}",
	"{\"title\":\"cairn.Totals\",\"type\":\"object\",\"properties\":{\"tick\":{\"type\":"
	"\"integer\"},\"kinetic\":{\"type\":\"number\"},\"potential\":{\"type\":\"number\"},"
	"\"linear\":" VECTOR3 ",\"angular\":" VECTOR3 "}}",
};

/* ---- bytes --------------------------------------------------------------------------------------- */

/* CRC-32 (ISO 3309), as MCAP uses it; `crc` continues an earlier sum. */
static uint32_t crc32_of(uint32_t crc, const uint8_t *data, size_t bytes)
{
	static uint32_t table[256];
	for (uint32_t i = 0; table[1] == 0 || (i > 0 && i < 256); i++) {
		uint32_t value = i;
		for (int k = 0; k < 8; k++)
			value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
		table[i] = value;
		if (i == 255)
			break;
	}
	crc = ~crc;
	for (size_t i = 0; i < bytes; i++)
		crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void put_text(struct writer *out, const char *text)
{
	write_blob(out, text, (uint32_t)strlen(text));
}

static enum status put_file(struct mcap *self, const void *data, size_t bytes)
{
	self->written += bytes;
	return fwrite(data, 1, bytes, self->sink.file) == bytes ? STATUS_OK : STATUS_IO;
}

/* Writes `record` with its opcode and length. */
static enum status put_record(struct mcap *self, enum opcode opcode, const struct bytes *record)
{
	uint8_t head[9] = { (uint8_t)opcode };
	for (int i = 0; i < 8; i++)
		head[1 + i] = (uint8_t)((uint64_t)record->count >> 8 * i);
	enum status status = put_file(self, head, sizeof head);
	return status == STATUS_OK ? put_file(self, record->data, record->count) : status;
}

static struct writer begin_record(struct mcap *self)
{
	bytes_reset(&self->record);
	return writer_into(&self->record);
}

/* Appends the record to `to`, if that is not NULL; else writes it. */
static enum status end_record(struct mcap *self, const struct writer *writer, enum opcode opcode,
			      struct bytes *to)
{
	enum status status = writer_status(writer);
	if (status != STATUS_OK || to == NULL)
		return status == STATUS_OK ? put_record(self, opcode, &self->record) : status;
	struct writer out = writer_into(to);
	write_u8(&out, (uint8_t)opcode);
	write_u64(&out, self->record.count);
	status = writer_status(&out);
	return status == STATUS_OK ? bytes_append(to, self->record.data, self->record.count)
				   : status;
}

/* ---- schemas and channels ------------------------------------------------------------------------ */

static enum status put_schema(struct mcap *self, uint16_t id, struct bytes *to)
{
	struct writer out = begin_record(self);
	write_u16(&out, id);
	put_text(&out, schema_names[id]);
	put_text(&out, "jsonschema");
	put_text(&out, schemas[id]);
	return end_record(self, &out, OP_SCHEMA, to);
}

static enum status put_channel(struct mcap *self, uint16_t id, struct bytes *to)
{
	struct writer out = begin_record(self);
	write_u16(&out, id);
	write_u16(&out, id);
	put_text(&out, topics[id]);
	put_text(&out, "json");
	write_u32(&out, 0); /* no metadata */
	return end_record(self, &out, OP_CHANNEL, to);
}

static enum status put_definitions(struct mcap *self, struct bytes *to)
{
	enum status status = STATUS_OK;
	for (uint16_t id = 1; id <= CHANNELS && status == STATUS_OK; id++)
		status = put_schema(self, id, to);
	for (uint16_t id = 1; id <= CHANNELS && status == STATUS_OK; id++)
		status = put_channel(self, id, to);
	return status;
}

/* ---- chunks -------------------------------------------------------------------------------------- */

static enum status put_indexes(struct mcap *self, struct chunk_index *chunk)
{
	enum status status = STATUS_OK;
	uint64_t begin = self->written;
	for (uint16_t id = 1; id <= CHANNELS && status == STATUS_OK; id++) {
		chunk->index_at[id] = 0;
		if (self->index[id].count == 0)
			continue;
		chunk->index_at[id] = self->written;
		struct writer out = begin_record(self);
		write_u16(&out, id);
		write_u32(&out, self->index[id].count * 16);
		for (uint32_t i = 0; i < self->index[id].count; i++) {
			write_u64(&out, self->index[id].items[i].time);
			write_u64(&out, self->index[id].items[i].offset);
		}
		status = end_record(self, &out, OP_MESSAGE_INDEX, NULL);
		self->index[id].count = 0;
	}
	chunk->index_bytes = self->written - begin;
	return status;
}

/* Writes the present chunk, compressed, and its message indexes. */
static enum status flush_chunk(struct mcap *self)
{
	struct bytes packed = { 0 };
	struct chunk_index chunk = { .first = self->chunk_first,
				     .last = self->chunk_last,
				     .at = self->written,
				     .raw = self->chunk.count };
	if (self->chunk.count == 0)
		return STATUS_OK;
	enum status status = image_pack(&self->chunk, &packed);
	chunk.packed = packed.count;
	struct writer out = begin_record(self);
	write_u64(&out, chunk.first);
	write_u64(&out, chunk.last);
	write_u64(&out, chunk.raw);
	write_u32(&out, crc32_of(0, self->chunk.data, self->chunk.count));
	put_text(&out, "zstd");
	write_u64(&out, packed.count);
	if (status == STATUS_OK)
		status = writer_status(&out);
	if (status == STATUS_OK)
		status = bytes_append(&self->record, packed.data, packed.count);
	if (status == STATUS_OK)
		status = put_record(self, OP_CHUNK, &self->record);
	chunk.bytes = self->written - chunk.at;
	bytes_release(&packed);
	if (status == STATUS_OK)
		status = put_indexes(self, &chunk);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->chunks, self->chunks.count + 1u);
	if (status == STATUS_OK)
		self->chunks.items[self->chunks.count++] = chunk;
	bytes_reset(&self->chunk);
	return status;
}

/* Adds the JSON text as a message of a channel. */
static enum status put_message(struct mcap *self, uint16_t channel, uint64_t time)
{
	enum status status = STATUS_OK;
	if (self->chunk.count == 0) {
		status = put_definitions(self, &self->chunk);
		self->chunk_first = time;
	}
	self->chunk_last = time;
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->index[channel], self->index[channel].count + 1u);
	if (status != STATUS_OK)
		return status;
	self->index[channel].items[self->index[channel].count++] =
		(struct message_index){ time, self->chunk.count };
	struct writer out = begin_record(self);
	write_u16(&out, channel);
	write_u32(&out, self->sequence++);
	write_u64(&out, time);
	write_u64(&out, time);
	status = writer_status(&out);
	if (status == STATUS_OK)
		status = bytes_append(&self->record, self->json.data, self->json.count);
	if (status == STATUS_OK)
		status = end_record(self, &out, OP_MESSAGE, &self->chunk);
	self->first = self->messages == 0 ? time : self->first;
	self->last = time;
	self->messages++;
	self->channel_messages[channel]++;
	return status == STATUS_OK && self->chunk.count >= CHUNK_BYTES ? flush_chunk(self) : status;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

PRINTF_LIKE(2, 3) static void say(struct mcap *self, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	/* Without memory the text is cut, and the file's end reports it. */
	if (length < 0 || (size_t)length >= sizeof text ||
	    bytes_append(&self->json, text, (size_t)length) != STATUS_OK)
		self->sink.range.every = 0;
}

static void say_pose(struct mcap *self, vec3 p, quat q)
{
	say(self,
	    "\"pose\":{\"position\":{\"x\":%.9g,\"y\":%.9g,\"z\":%.9g},\"orientation\":{\"x\":%.9g,"
	    "\"y\":%.9g,\"z\":%.9g,\"w\":%.9g}}",
	    p.x, p.y, p.z, q.x, q.y, q.z, q.w);
}

static void say_time(struct mcap *self, const char *key, uint64_t time)
{
	say(self, "\"%s\":{\"sec\":%" PRIu64 ",\"nsec\":%" PRIu64 "}", key, time / 1000000000,
	    time % 1000000000);
}

static const char color_text[] = "\"color\":{\"r\":0.62,\"g\":0.68,\"b\":0.75,\"a\":1}";

static void say_point(struct mcap *self, vec3 p, bool comma)
{
	say(self, "%s{\"x\":%.9g,\"y\":%.9g,\"z\":%.9g}", comma ? "," : "", p.x, p.y, p.z);
}

static void say_points(struct mcap *self, const vec3 *points, uint32_t count)
{
	say(self, "\"points\":[");
	for (uint32_t i = 0; i < count; i++)
		say_point(self, points[i], i > 0);
	say(self, "],");
}

static void say_hull(struct mcap *self, const struct hull *hull)
{
	bool first = true;
	say_points(self, hull->vertices, hull->vertex_count);
	say(self, "\"indices\":[");
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t start = hull->faces[f].edge, edge = hull->edges[start].next;
		for (; hull->edges[edge].next != start;
		     edge = hull->edges[edge].next, first = false)
			say(self, "%s%u,%u,%u", first ? "" : ",",
			    (unsigned)hull->edges[start].origin, (unsigned)hull->edges[edge].origin,
			    (unsigned)hull->edges[hull->edges[edge].next].origin);
	}
	say(self, "]");
}

static void say_mesh(struct mcap *self, const struct mesh *mesh)
{
	struct aabb everywhere = aabb_of_centre(vec3_zero(), vec3_all(AABB_EVERYWHERE));
	struct mesh_walk walk;
	uint32_t t;
	bool first = true;
	say(self, "\"points\":[");
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		say_point(self, mesh_vertex(mesh, v), v > 0);
	say(self, "],\"indices\":[");
	/* A walk passes over holes and the apron of a heightfield. */
	for (mesh_walk_init(&walk, mesh, everywhere); mesh_walk_next(&walk, &t); first = false)
		say(self, "%s%u,%u,%u", first ? "" : ",", (unsigned)mesh_vertex_of(mesh, t, 0),
		    (unsigned)mesh_vertex_of(mesh, t, 1), (unsigned)mesh_vertex_of(mesh, t, 2));
	say(self, "]");
}

/* A shape's kind of primitive. */
enum primitive {
	PRIMITIVE_CUBE,
	PRIMITIVE_SPHERE,
	PRIMITIVE_CYLINDER,
	PRIMITIVE_TRIANGLES,
	PRIMITIVES
};
static const char *const primitive_names[PRIMITIVES] = { "cubes", "spheres", "cylinders",
							 "triangles" };

static void say_sized(struct mcap *self, vec3 p, quat q, vec3 size, const char *more)
{
	say(self, "{");
	say_pose(self, p, q);
	say(self, ",\"size\":{\"x\":%.9g,\"y\":%.9g,\"z\":%.9g},%s%s}", size.x, size.y, size.z,
	    more, color_text);
}

/* A box that contains a shape without a primitive: solids, planes, polygons, rounded hulls. */
static void say_bounds(struct mcap *self, const struct shape *shape, vec3 p, quat q)
{
	vec3 half = vec3_scale(vec3_sub(shape->aabb_max, shape->aabb_min), 0.5);
	vec3 centre = vec3_scale(vec3_add(shape->aabb_max, shape->aabb_min), 0.5);
	vec3 size = vec3_scale(half, 2);
	if (shape->kind == SHAPE_PLANE) {
		size = (vec3){ 100, 0.01, 100 };
		centre = vec3_scale(shape->plane.normal, shape->plane.offset);
	}
	say_sized(self, vec3_add(p, quat_rotate(q, centre)), q, size, "");
}

static enum primitive primitive_of(const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return PRIMITIVE_SPHERE;
	case SHAPE_ELLIPSOID:
		return PRIMITIVE_SPHERE;
	case SHAPE_CAPSULE:
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
		return PRIMITIVE_CYLINDER;
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
	case SHAPE_HULL:
		return PRIMITIVE_TRIANGLES;
	default:
		return PRIMITIVE_CUBE;
	}
}

/* Says the shape's part of that kind; a capsule is a cylinder and two spheres. Returns how many. */
static uint32_t say_shape(struct mcap *self, const struct placement_view *at, enum primitive kind,
			  bool comma)
{
	const struct shape *shape = at->shape;
	vec3 p = at->position;
	quat q = at->rotation;
	bool ends = kind == PRIMITIVE_SPHERE && shape->kind == SHAPE_CAPSULE;
	if (primitive_of(shape) != kind && !ends)
		return 0;
	if (comma)
		say(self, ",");
	if (shape->kind == SHAPE_SPHERE) {
		double d = 2 * shape->sphere.radius;
		say_sized(self, p, q, (vec3){ d, d, d }, "");
	} else if (shape->kind == SHAPE_ELLIPSOID) {
		say_sized(self, p, q, vec3_scale(shape->ellipsoid.half, 2), "");
	} else if (shape->kind == SHAPE_CYLINDER || shape->kind == SHAPE_CONE) {
		/* Along −z, turned to y: the top of Foxglove's cylinder is the lower end. */
		double d = 2 * shape->cylinder.radius, length = 2 * shape->cylinder.half_length;
		quat turned = quat_mul(q, (quat){ 0.70710678118654752, 0.70710678118654752, 0, 0 });
		say_sized(self, p, turned, (vec3){ d, d, length },
			  shape->kind == SHAPE_CONE ? "\"bottom_scale\":0,\"top_scale\":1,"
						    : "\"bottom_scale\":1,\"top_scale\":1,");
	} else if (shape->kind == SHAPE_CAPSULE) {
		double d = 2 * shape->capsule.radius, half = shape->capsule.half_length;
		/* Foxglove's cylinders are along z, capsules along y: a quarter turn about x. */
		quat turned = quat_mul(q, (quat){ 0.70710678118654752, 0.70710678118654752, 0, 0 });
		vec3 end = quat_rotate(q, (vec3){ 0, half, 0 });
		if (!ends) {
			say_sized(self, p, turned, (vec3){ d, d, 2 * half },
				  "\"bottom_scale\":1,\"top_scale\":1,");
			return 1;
		}
		say_sized(self, vec3_add(p, end), q, (vec3){ d, d, d }, "");
		say(self, ",");
		say_sized(self, vec3_sub(p, end), q, (vec3){ d, d, d }, "");
	} else if (kind == PRIMITIVE_TRIANGLES) {
		say(self, "{");
		say_pose(self, p, q);
		say(self, ",");
		if (shape_is_surface(shape))
			say_mesh(self, shape->mesh);
		else
			say_hull(self, shape->hull);
		say(self, ",%s,\"colors\":[]}", color_text);
	} else if (shape->kind == SHAPE_BOX) {
		say_sized(self, p, q, vec3_scale(shape->box.half, 2), "");
	} else {
		say_bounds(self, shape, p, q);
	}
	return 1;
}

/* A string of JSON without control characters. */
static void say_name(struct mcap *self, body_id body)
{
	char name[SCENE_BODY_NAME], text[2 * SCENE_BODY_NAME];
	size_t bytes = 0;
	export_name(&self->sink, body, name);
	for (const char *at = name; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			text[bytes++] = '\\';
		text[bytes++] = (unsigned char)*at < 0x20 ? ' ' : *at;
	}
	text[bytes] = '\0';
	if (bytes > 0)
		say(self, "{\"key\":\"name\",\"value\":\"%s\"}", text);
}

static void say_entity(struct mcap *self, const struct world *world, body_id body, uint64_t time)
{
	struct placement_view placements[ATTACHMENTS_MAX];
	uint32_t count = world_body_placements(world, body, placements, ATTACHMENTS_MAX);
	say(self, "{");
	say_time(self, "timestamp", time);
	say(self,
	    ",\"frame_id\":\"body/%u\",\"id\":\"%u\",\"lifetime\":{\"sec\":0,\"nsec\":0},"
	    "\"frame_locked\":true,\"metadata\":[",
	    (unsigned)body, (unsigned)body);
	say_name(self, body);
	say(self, "],\"arrows\":[],\"lines\":[],\"texts\":[],\"models\":[]");
	for (enum primitive kind = PRIMITIVE_CUBE; kind < PRIMITIVES; kind++) {
		uint32_t said = 0;
		say(self, ",\"%s\":[", primitive_names[kind]);
		for (uint32_t i = 0; i < count; i++)
			said += say_shape(self, &placements[i], kind, said > 0);
		say(self, "]");
	}
	say(self, "}");
}

/* ---- messages ------------------------------------------------------------------------------------ */

static bool has_body(const body_id *ids, uint32_t count, body_id body)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (ids[middle] < body)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ids[low] == body;
}

/* The bodies that have appeared and disappeared since the last SceneUpdate; none: no message. */
static enum status put_scene(struct mcap *self, const struct world *world, uint64_t time)
{
	const body_id *now = self->sink.ids.items;
	uint32_t count = self->sink.ids.count, said = 0, gone = 0;
	bytes_reset(&self->json);
	say(self, "{\"deletions\":[");
	for (uint32_t i = 0; i < self->shown.count; i++) {
		if (has_body(now, count, self->shown.items[i]))
			continue;
		say(self, "%s{", gone++ > 0 ? "," : "");
		say_time(self, "timestamp", time);
		say(self, ",\"type\":0,\"id\":\"%u\"}", (unsigned)self->shown.items[i]);
	}
	say(self, "],\"entities\":[");
	for (uint32_t i = 0; i < count; i++) {
		if (has_body(self->shown.items, self->shown.count, now[i]))
			continue;
		if (said++ > 0)
			say(self, ",");
		say_entity(self, world, now[i], time);
	}
	say(self, "]}");
	if (said == 0 && gone == 0)
		return STATUS_OK;
	enum status status = ARRAY_RESERVE(&self->shown, count);
	if (status != STATUS_OK)
		return status;
	if (count > 0)
		memcpy(self->shown.items, now, count * sizeof *now);
	self->shown.count = count;
	return put_message(self, SCENE, time);
}

static enum status put_transforms(struct mcap *self, const struct world *world, uint64_t time)
{
	bytes_reset(&self->json);
	say(self, "{\"transforms\":[");
	for (uint32_t i = 0; i < self->sink.ids.count; i++) {
		struct body_view view;
		if (world_body(world, self->sink.ids.items[i], &view) != STATUS_OK)
			continue;
		say(self, "%s{", i > 0 ? "," : "");
		say_time(self, "timestamp", time);
		say(self,
		    ",\"parent_frame_id\":\"world\",\"child_frame_id\":\"body/%u\",\"translation\":"
		    "{\"x\":%.17g,\"y\":%.17g,\"z\":%.17g},\"rotation\":{\"x\":%.17g,\"y\":%.17g,"
		    "\"z\":%.17g,\"w\":%.17g}}",
		    (unsigned)view.id, view.position.x, view.position.y, view.position.z,
		    view.rotation.x, view.rotation.y, view.rotation.z, view.rotation.w);
		self->sink.rows++;
	}
	say(self, "]}");
	return put_message(self, TRANSFORMS, time);
}

static enum status put_totals(struct mcap *self, const struct world *world, uint64_t tick,
			      uint64_t time)
{
	struct world_energy energy = world_energy(world);
	bytes_reset(&self->json);
	say(self,
	    "{\"tick\":%" PRIu64 ",\"kinetic\":%.17g,\"potential\":%.17g,\"linear\":{\"x\":%.17g,"
	    "\"y\":%.17g,\"z\":%.17g},\"angular\":{\"x\":%.17g,\"y\":%.17g,\"z\":%.17g}}",
	    tick, energy.kinetic, energy.potential, energy.linear.x, energy.linear.y,
	    energy.linear.z, energy.angular.x, energy.angular.y, energy.angular.z);
	return put_message(self, TOTALS, time);
}

/* Metadata of the world, as of its first state. */
static enum status put_metadata(struct mcap *self, const struct world *world)
{
	char rate[32], motion[MOTION_TEXT_MAX];
	struct motion_numbers numbers = engine_motion();
	struct world_info info = world_info(world);
	struct bytes map = { 0 };
	struct writer pairs = writer_into(&map);
	motion_text(&numbers, motion);
	snprintf(rate, sizeof rate, "%u/%u", (unsigned)info.rate_num, (unsigned)info.rate_den);
	const char *const texts[][2] = { { "build", PACKAGE_NAME " " PACKAGE_VERSION },
					 { "motion", motion },
					 { "method", info.method },
					 { "rate", rate } };
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		put_text(&pairs, texts[i][0]);
		put_text(&pairs, texts[i][1]);
	}
	struct writer out = begin_record(self);
	put_text(&out, "cairn");
	write_blob(&out, map.data, (uint32_t)map.count);
	enum status status = writer_status(&pairs);
	if (status == STATUS_OK)
		status = end_record(self, &out, OP_METADATA, NULL);
	bytes_release(&map);
	return status;
}

static enum status begin_mcap(struct export_sink *sink, struct reason *why)
{
	struct mcap *self = (struct mcap *)sink;
	enum status status = put_file(self, magic, sizeof magic);
	struct writer out = begin_record(self);
	put_text(&out, "");
	put_text(&out, PACKAGE_NAME " " PACKAGE_VERSION);
	if (status == STATUS_OK)
		status = end_record(self, &out, OP_HEADER, NULL);
	return status == STATUS_OK ? status : export_failed(status, why);
}

static enum status state_mcap(struct export_sink *sink, const struct world *world,
			      struct recorded_place place, bool sampled, struct reason *why)
{
	struct mcap *self = (struct mcap *)sink;
	double seconds = export_time(world, place.tick);
	uint64_t time = (uint64_t)(seconds * 1e9 + 0.5);
	enum status status = STATUS_OK;
	if (!self->any)
		status = put_metadata(self, world);
	self->any = true;
	if (status == STATUS_OK)
		status = put_scene(self, world, time);
	if (status == STATUS_OK && sampled)
		status = put_transforms(self, world, time);
	if (status == STATUS_OK && sampled)
		status = put_totals(self, world, place.tick, time);
	if (status == STATUS_OK && sink->range.every == 0)
		status = STATUS_NO_MEMORY;
	return status == STATUS_OK ? status : export_failed(status, why);
}

/* ---- the end ------------------------------------------------------------------------------------- */

/* The world's file as an attachment. A file that is being written, or a large one, is left out. */
static enum status put_attachment(struct mcap *self)
{
	struct bytes data = { 0 };
	char part[65536];
	size_t got;
	FILE *source = fopen(self->sink.source, "rb");
	enum status status = source != NULL ? STATUS_OK : STATUS_IO;
	while (status == STATUS_OK && (got = fread(part, 1, sizeof part, source)) > 0 &&
	       data.count < (size_t)ATTACHMENT_MAX_MIB << 20)
		status = bytes_append(&data, part, got);
	bool whole = status == STATUS_OK && feof(source);
	if (source != NULL)
		fclose(source);
	if (!whole) {
		bytes_release(&data);
		return status == STATUS_IO ? STATUS_IO : STATUS_OK;
	}
	const char *slash = strrchr(self->sink.source, '/');
	struct writer out = begin_record(self);
	write_u64(&out, self->first);
	write_u64(&out, self->first);
	put_text(&out, slash != NULL ? slash + 1 : self->sink.source);
	put_text(&out, "application/vnd.sqlite3");
	write_u64(&out, data.count);
	status = writer_status(&out);
	if (status == STATUS_OK)
		status = bytes_append(&self->record, data.data, data.count);
	bytes_release(&data);
	struct bytes crc = { 0 };
	struct writer sum = writer_into(&crc);
	write_u32(&sum, crc32_of(0, self->record.data, self->record.count));
	if (status == STATUS_OK)
		status = writer_status(&sum);
	if (status == STATUS_OK)
		status = bytes_append(&self->record, crc.data, crc.count);
	bytes_release(&crc);
	self->attachments++;
	return status == STATUS_OK ? put_record(self, OP_ATTACHMENT, &self->record) : status;
}

static enum status put_statistics(struct mcap *self, struct bytes *to)
{
	struct writer out = begin_record(self);
	write_u64(&out, self->messages);
	write_u16(&out, CHANNELS);
	write_u32(&out, CHANNELS);
	write_u32(&out, self->attachments);
	write_u32(&out, 1); /* metadata */
	write_u32(&out, self->chunks.count);
	write_u64(&out, self->first);
	write_u64(&out, self->last);
	write_u32(&out, CHANNELS * 10);
	for (uint16_t id = 1; id <= CHANNELS; id++) {
		write_u16(&out, id);
		write_u64(&out, self->channel_messages[id]);
	}
	return end_record(self, &out, OP_STATISTICS, to);
}

static enum status put_chunk_index(struct mcap *self, const struct chunk_index *chunk,
				   struct bytes *to)
{
	uint32_t channels = 0;
	for (uint16_t id = 1; id <= CHANNELS; id++)
		channels += chunk->index_at[id] != 0;
	struct writer out = begin_record(self);
	write_u64(&out, chunk->first);
	write_u64(&out, chunk->last);
	write_u64(&out, chunk->at);
	write_u64(&out, chunk->bytes);
	write_u32(&out, channels * 10);
	for (uint16_t id = 1; id <= CHANNELS; id++) {
		if (chunk->index_at[id] == 0)
			continue;
		write_u16(&out, id);
		write_u64(&out, chunk->index_at[id]);
	}
	write_u64(&out, chunk->index_bytes);
	put_text(&out, "zstd");
	write_u64(&out, chunk->packed);
	write_u64(&out, chunk->raw);
	return end_record(self, &out, OP_CHUNK_INDEX, to);
}

static enum status put_offset(struct mcap *self, enum opcode group, uint64_t at, uint64_t bytes,
			      struct bytes *to)
{
	struct writer out = begin_record(self);
	write_u8(&out, (uint8_t)group);
	write_u64(&out, at);
	write_u64(&out, bytes);
	return end_record(self, &out, OP_SUMMARY_OFFSET, to);
}

/* The summary: groups of records of one opcode, then where each group is. */
static enum status make_summary(struct mcap *self, struct bytes *summary, uint64_t *offsets_at)
{
	static const enum opcode groups[] = { OP_SCHEMA, OP_CHANNEL, OP_STATISTICS,
					      OP_CHUNK_INDEX };
	uint64_t ends[COUNT_OF(groups) + 1] = { 0 };
	enum status status = STATUS_OK;
	for (size_t g = 0; g < COUNT_OF(groups) && status == STATUS_OK; g++) {
		for (uint16_t id = 1; id <= CHANNELS && status == STATUS_OK; id++) {
			if (groups[g] == OP_SCHEMA)
				status = put_schema(self, id, summary);
			if (groups[g] == OP_CHANNEL)
				status = put_channel(self, id, summary);
		}
		if (status == STATUS_OK && groups[g] == OP_STATISTICS)
			status = put_statistics(self, summary);
		for (uint32_t i = 0;
		     groups[g] == OP_CHUNK_INDEX && i < self->chunks.count && status == STATUS_OK;
		     i++)
			status = put_chunk_index(self, &self->chunks.items[i], summary);
		ends[g + 1] = summary->count;
	}
	*offsets_at = self->written + summary->count;
	for (size_t g = 0; g < COUNT_OF(groups) && status == STATUS_OK; g++)
		if (ends[g + 1] > ends[g])
			status = put_offset(self, groups[g], self->written + ends[g],
					    ends[g + 1] - ends[g], summary);
	return status;
}

static enum status put_footer(struct mcap *self, struct bytes *summary, uint64_t offsets_at)
{
	uint64_t summary_at = self->written;
	struct bytes head = { 0 };
	struct writer out = writer_into(&head);
	write_u8(&out, OP_FOOTER);
	write_u64(&out, 20);
	write_u64(&out, summary_at);
	write_u64(&out, offsets_at);
	enum status status = writer_status(&out);
	if (status == STATUS_OK)
		status = bytes_append(summary, head.data, head.count);
	bytes_release(&head);
	struct bytes sum = { 0 };
	out = writer_into(&sum);
	write_u32(&out, crc32_of(0, summary->data, summary->count));
	if (status == STATUS_OK)
		status = writer_status(&out);
	if (status == STATUS_OK)
		status = put_file(self, summary->data, summary->count);
	if (status == STATUS_OK)
		status = put_file(self, sum.data, sum.count);
	bytes_release(&sum);
	return status == STATUS_OK ? put_file(self, magic, sizeof magic) : status;
}

static enum status end_mcap(struct export_sink *sink, struct reason *why)
{
	struct mcap *self = (struct mcap *)sink;
	struct bytes summary = { 0 };
	uint64_t offsets_at = 0;
	enum status status = flush_chunk(self);
	if (status == STATUS_OK)
		status = put_attachment(self);
	struct writer out = begin_record(self);
	write_u32(&out, 0); /* no checksum of the data section: every chunk has its own */
	if (status == STATUS_OK)
		status = end_record(self, &out, OP_DATA_END, NULL);
	if (status == STATUS_OK)
		status = make_summary(self, &summary, &offsets_at);
	if (status == STATUS_OK)
		status = put_footer(self, &summary, offsets_at);
	bytes_release(&summary);
	return status == STATUS_OK ? status : export_failed(status, why);
}

static void release_mcap(struct export_sink *sink)
{
	struct mcap *self = (struct mcap *)sink;
	bytes_release(&self->chunk);
	bytes_release(&self->json);
	bytes_release(&self->record);
	for (uint32_t i = 0; i <= CHANNELS; i++)
		ARRAY_RELEASE(&self->index[i]);
	ARRAY_RELEASE(&self->chunks);
	ARRAY_RELEASE(&self->shown);
	heap_free(self);
}

struct export_sink *export_mcap_create(void)
{
	static const struct export_ops ops = { begin_mcap, state_mcap, end_mcap, release_mcap };
	struct mcap *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return NULL;
	self->sink.ops = &ops;
	return &self->sink;
}
