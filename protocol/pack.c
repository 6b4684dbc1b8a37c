/* See pack.h. One function per kind of field, driven by the description of the message (messages.def). */
#include "protocol/pack.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/frame.h"
#include "protocol/validate.h"

static void refuse_packing(struct wire_packer *out, enum status status)
{
	if (out->status == STATUS_OK)
		out->status = status;
}

static void pack_reals(struct wire_packer *out, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
}

static void pack_box(struct wire_packer *out, const struct wire_box *box)
{
	if (!box->set) {
		wire_pack_nil(out);
		return;
	}
	for (int i = 0; i < 3; i++) {
		if (box->min[i] > box->max[i])
			refuse_packing(out, STATUS_RANGE);
	}
	wire_pack_array(out, 6);
	pack_reals(out, box->min, 3);
	pack_reals(out, box->max, 3);
}

static void pack_list(struct wire_packer *out, const struct message_field *field,
		      const struct wire_list *list)
{
	if ((double)list->count > field->max)
		refuse_packing(out, STATUS_RANGE);
	if (field->kind == WIRE_KIND_MAP)
		wire_pack_map(out, list->count);
	else
		wire_pack_array(out, list->count);
	wire_pack_raw(out, list->at, list->bytes);
}

static void pack_caps(struct wire_packer *out, uint32_t caps)
{
	uint32_t known = caps & WIRE_CAPS_ALL;
	wire_pack_array(out, (uint32_t)__builtin_popcount(known));
	for (uint32_t bit = 0; bit < 32; bit++) {
		if (known >> bit & 1)
			wire_pack_string(out, wire_cap_name(bit));
	}
}

static void pack_slice(struct wire_packer *out, const struct message_field *field,
		       struct wire_slice slice)
{
	if ((double)slice.bytes > field->max)
		refuse_packing(out, STATUS_RANGE);
	if (field->kind == WIRE_KIND_BIN && slice.bytes == 0)
		wire_pack_nil(out);
	else if (field->kind == WIRE_KIND_BIN)
		wire_pack_bin(out, slice.at, slice.bytes);
	else if (!validate_utf8(slice.at, slice.bytes))
		refuse_packing(out, STATUS_TYPE);
	else
		wire_pack_text(out, slice);
}

static void pack_pair(struct wire_packer *out, uint32_t first, uint32_t second)
{
	wire_pack_array(out, 2);
	wire_pack_uint(out, first);
	wire_pack_uint(out, second);
}

static void pack_limits(struct wire_packer *out, const struct wire_limits *limits)
{
	wire_pack_map(out, 2);
	wire_pack_string(out, "frame_up");
	wire_pack_uint(out, limits->frame_up);
	wire_pack_string(out, "frame_down");
	wire_pack_uint(out, limits->frame_down);
}

/* Packs numbers, hashes and options. */
static void pack_number(struct wire_packer *out, const struct message_field *field, const void *at)
{
	const struct wire_option *option = at;
	const struct wire_hash *hash = at;
	switch (field->kind) {
	case WIRE_KIND_UINT:
		if ((double)*(const uint64_t *)at > field->max)
			refuse_packing(out, STATUS_RANGE);
		wire_pack_uint(out, *(const uint64_t *)at);
		return;
	case WIRE_KIND_INT:
		wire_pack_int(out, *(const int64_t *)at);
		return;
	case WIRE_KIND_REAL:
		if (*(const double *)at > field->max || *(const double *)at < -field->max)
			refuse_packing(out, STATUS_RANGE);
		wire_pack_real(out, *(const double *)at);
		return;
	case WIRE_KIND_HASH:
		if (hash->set)
			wire_pack_hash(out, hash->value);
		else
			wire_pack_nil(out);
		return;
	default:
		ASSERT(field->kind == WIRE_KIND_OPTION);
		if (!option->set) {
			wire_pack_nil(out);
			return;
		}
		if ((double)option->value > field->max)
			refuse_packing(out, STATUS_RANGE);
		wire_pack_uint(out, option->value);
	}
}

static void pack_rate(struct wire_packer *out, const struct wire_rate *rate)
{
	/* An unset rate is sent as 0/1, "no rate". */
	pack_pair(out, rate->num, rate->den == 0 ? 1 : rate->den);
}

static void pack_field(struct wire_packer *out, const struct message_field *field, const void *at)
{
	const struct wire_slice *slice = at;
	switch (field->kind) {
	case WIRE_KIND_TEXT:
	case WIRE_KIND_BIN:
		pack_slice(out, field, *slice);
		return;
	case WIRE_KIND_NAME:
		wire_pack_bin(out, at, sizeof(struct wire_name));
		return;
	case WIRE_KIND_VERSION:
		pack_pair(out, ((const struct wire_version *)at)->major,
			  ((const struct wire_version *)at)->minor);
		return;
	case WIRE_KIND_RATE:
		pack_rate(out, at);
		return;
	case WIRE_KIND_BOX:
		pack_box(out, at);
		return;
	case WIRE_KIND_CAPS:
		pack_caps(out, *(const uint32_t *)at);
		return;
	case WIRE_KIND_LIMITS:
		pack_limits(out, at);
		return;
	case WIRE_KIND_IDS:
	case WIRE_KIND_REALS:
	case WIRE_KIND_LIST:
	case WIRE_KIND_MAP:
		pack_list(out, field, at);
		return;
	case WIRE_KIND_RAW:
		if (slice->bytes == 0)
			wire_pack_nil(out);
		else
			wire_pack_raw(out, slice->at, slice->bytes);
		return;
	default:
		pack_number(out, field, at);
	}
}

static void pack_fields(struct wire_packer *out, const struct message_info *info,
			const struct message *message, uint32_t first)
{
	for (uint32_t i = first; i < info->field_count; i++) {
		const struct message_field *field = &info->fields[i];
		if (info->layout == WIRE_LAYOUT_MAP)
			wire_pack_string(out, field->name);
		pack_field(out, field, (const uint8_t *)message + field->offset);
	}
}

static enum status finish_message(const struct wire_packer *out, uint32_t *bytes)
{
	*bytes = out->bytes;
	return out->status;
}

enum status message_pack_content(const struct message *message, uint8_t *data, uint32_t capacity,
				 uint32_t *bytes)
{
	struct wire_packer out = wire_packer_over(data, capacity);
	const struct message_info *info = message_info(message->type);
	*bytes = 0;
	if (info == NULL || info->reserved)
		return STATUS_UNSUPPORTED;
	bool map = info->layout == WIRE_LAYOUT_MAP;
	wire_pack_array(&out, map ? 2 : 1 + info->field_count);
	wire_pack_uint(&out, (uint64_t)info->type);
	if (map)
		wire_pack_map(&out, info->field_count);
	pack_fields(&out, info, message, 0);
	return finish_message(&out, bytes);
}

/* Tells what of a field is at fault. */
static void explain_field(const struct message_field *field, const void *at, enum status status,
			  struct reason *why)
{
	const struct wire_slice *slice = at;
	const struct wire_list *list = at;
	const struct wire_option *option = at;
	bool is_option = field->kind == WIRE_KIND_OPTION, real = field->kind == WIRE_KIND_REAL;
	bool text = field->kind == WIRE_KIND_TEXT || field->kind == WIRE_KIND_BIN;
	if (text && status == STATUS_RANGE)
		reason_set(why, status, -1, field->name,
			   "%s has %u bytes: it must have at most %.0f", field->name,
			   (unsigned)slice->bytes, field->max);
	else if (real && status == STATUS_RANGE)
		reason_set(why, status, -1, field->name, "%s is %.10g: it must be within ±%.10g",
			   field->name, *(const double *)at, field->max);
	else if ((is_option || field->kind == WIRE_KIND_UINT) && status == STATUS_RANGE)
		reason_set(why, status, -1, field->name, "%s is %llu: it must be at most %.0f",
			   field->name,
			   (unsigned long long)(is_option ? option->value : *(const uint64_t *)at),
			   field->max);
	else if (field->kind >= WIRE_KIND_IDS && field->kind <= WIRE_KIND_MAP &&
		 status == STATUS_RANGE)
		reason_set(why, status, -1, field->name,
			   "%s has %u items: it must have at most %.0f", field->name,
			   (unsigned)list->count, field->max);
	else
		reason_set(why, status, -1, field->name, "%s: %s", field->name,
			   status_text(status));
}

enum status message_explain(const struct message *message, enum status status, struct reason *why)
{
	uint8_t room[32];
	const struct message_info *info = message_info(message->type);
	for (uint32_t i = 0; info != NULL && !info->reserved && i < info->field_count; i++) {
		const struct message_field *field = &info->fields[i];
		const void *at = (const uint8_t *)message + field->offset;
		struct wire_packer out = wire_packer_over(room, sizeof room);
		pack_field(&out, field, at);
		if (out.status != STATUS_OK && out.status != STATUS_FULL) {
			explain_field(field, at, out.status, why);
			return status;
		}
	}
	return reason_set(why, status, -1, "message", "%s", status_text(status));
}

enum status message_pack(const struct message *message, uint8_t *data, uint32_t capacity,
			 uint32_t *bytes)
{
	*bytes = 0;
	if (capacity < WIRE_FRAME_HEADER)
		return STATUS_FULL;
	uint32_t content;
	enum status status = message_pack_content(message, data + WIRE_FRAME_HEADER,
						  capacity - WIRE_FRAME_HEADER, &content);
	if (status != STATUS_OK)
		return status;
	frame_header_put(data, content);
	*bytes = WIRE_FRAME_HEADER + content;
	return STATUS_OK;
}

enum status message_pack_tail(const struct message *message, uint8_t *data, uint32_t capacity,
			      uint32_t *bytes)
{
	const struct message_info *info = message_info(message->type);
	ASSERT(info != NULL && !info->reserved && info->layout == WIRE_LAYOUT_ARRAY);
	ASSERT(strcmp(info->fields[0].name, "sub") == 0);
	struct wire_packer out = wire_packer_over(data, capacity);
	pack_fields(&out, info, message, 1);
	return finish_message(&out, bytes);
}

uint32_t message_pack_head(enum message_type type, uint64_t sub, uint32_t tail_bytes, bool framed,
			   uint8_t head[WIRE_HEAD_MAX])
{
	const struct message_info *info = message_info(type);
	ASSERT(info != NULL && info->field_count > 0);
	uint32_t start = framed ? WIRE_FRAME_HEADER : 0;
	struct wire_packer out = wire_packer_over(head + start, WIRE_HEAD_MAX - start);
	wire_pack_array(&out, 1 + info->field_count);
	wire_pack_uint(&out, (uint64_t)type);
	wire_pack_uint(&out, sub);
	ASSERT(out.status == STATUS_OK);
	if (framed)
		frame_header_put(head, out.bytes + tail_bytes);
	return start + out.bytes;
}
