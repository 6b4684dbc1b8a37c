/* See unpack.h. One function per kind of field, driven by the description of the message (messages.def). */
#include "protocol/unpack.h"

#include <stdio.h>
#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/complaint.h"
#include "protocol/validate.h"
#include "server/base/bytes.h"

/* Every reader below takes one value from the cursor into the field at `at`. */

static enum status take_uint(struct wire_cursor *in, double max, uint64_t *at)
{
	return wire_take_uint(in, (uint64_t)max, at);
}

static enum status take_int(struct wire_cursor *in, double max, int64_t *at)
{
	enum status status = wire_take_int(in, at);
	if (status == STATUS_OK && ((double)*at > max || (double)*at < -max))
		return STATUS_RANGE;
	return status;
}

static enum status take_real(struct wire_cursor *in, double max, double *at)
{
	enum status status = wire_take_real(in, at);
	if (status == STATUS_OK && (*at > max || *at < -max))
		return STATUS_RANGE;
	return status;
}

static enum status take_text(struct wire_cursor *in, double max, struct wire_slice *at)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	if ((double)token.count > max)
		return STATUS_RANGE;
	*at = (struct wire_slice){ token.at, token.count };
	return STATUS_OK;
}

/* A bin of at most `max` bytes, or nil, which gives an empty slice. */
static enum status take_bin(struct wire_cursor *in, double max, struct wire_slice *at)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	*at = (struct wire_slice){ NULL, 0 };
	if (token.type == WIRE_TOKEN_NIL)
		return STATUS_OK;
	if (token.type != WIRE_TOKEN_BIN)
		return STATUS_TYPE;
	if ((double)token.count > max)
		return STATUS_RANGE;
	if (token.count > 0)
		*at = (struct wire_slice){ token.at, token.count };
	return STATUS_OK;
}

static enum status take_name(struct wire_cursor *in, struct wire_name *at)
{
	struct wire_slice slice;
	enum status status = take_bin(in, sizeof at->bytes, &slice);
	if (status != STATUS_OK)
		return status;
	if (slice.bytes != sizeof at->bytes)
		return slice.at == NULL ? STATUS_TYPE : STATUS_RANGE;
	memcpy(at->bytes, slice.at, sizeof at->bytes);
	return STATUS_OK;
}

static enum status take_hash(struct wire_cursor *in, struct wire_hash *at)
{
	struct wire_slice slice;
	enum status status = take_bin(in, 8, &slice);
	if (status != STATUS_OK)
		return status;
	at->set = slice.at != NULL;
	if (!at->set)
		return STATUS_OK;
	if (slice.bytes != 8)
		return STATUS_RANGE;
	at->value = get_be64(slice.at);
	return STATUS_OK;
}

/* Is the next value nil? If so it is taken. */
static bool take_nil(struct wire_cursor *in)
{
	struct wire_cursor walk = *in;
	struct wire_token token;
	if (wire_next(&walk, &token) != STATUS_OK || token.type != WIRE_TOKEN_NIL)
		return false;
	*in = walk;
	return true;
}

static enum status take_option(struct wire_cursor *in, double max, struct wire_option *at)
{
	at->set = !take_nil(in);
	return at->set ? take_uint(in, max, &at->value) : STATUS_OK;
}

/* An array of exactly `count` values; the cursor is left at the first. */
static enum status take_tuple(struct wire_cursor *in, uint32_t count)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type != WIRE_TOKEN_ARRAY)
		return STATUS_TYPE;
	return token.count == count ? STATUS_OK : STATUS_RANGE;
}

static enum status take_pair(struct wire_cursor *in, uint64_t max, uint32_t *first,
			     uint32_t *second)
{
	uint64_t values[2];
	enum status status = take_tuple(in, 2);
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = wire_take_uint(in, max, &values[i]);
	if (status != STATUS_OK)
		return status;
	*first = (uint32_t)values[0];
	*second = (uint32_t)values[1];
	return STATUS_OK;
}

static enum status take_rate(struct wire_cursor *in, struct wire_rate *at)
{
	enum status status = take_pair(in, UINT64_C(1) << 31, &at->num, &at->den);
	if (status == STATUS_OK && at->den == 0)
		return STATUS_RANGE;
	return status;
}

static enum status take_box(struct wire_cursor *in, struct wire_box *at)
{
	at->set = !take_nil(in);
	if (!at->set)
		return STATUS_OK;
	enum status status = take_tuple(in, 6);
	if (status == STATUS_OK)
		status = wire_take_reals(in, at->min, 3);
	if (status == STATUS_OK)
		status = wire_take_reals(in, at->max, 3);
	for (int i = 0; i < 3 && status == STATUS_OK; i++) {
		if (at->min[i] > at->max[i])
			status = STATUS_RANGE;
	}
	return status;
}

static enum status take_caps(struct wire_cursor *in, double max, uint32_t *at)
{
	struct wire_list list;
	enum status status = wire_take_list(in, &list);
	if (status != STATUS_OK)
		return status;
	if ((double)list.count > max)
		return STATUS_RANGE;
	struct wire_cursor items = wire_cursor_list(&list);
	*at = 0;
	for (uint32_t i = 0; i < list.count && status == STATUS_OK; i++) {
		struct wire_slice name = { NULL, 0 };
		status = take_text(&items, WIRE_STRING_DOWN, &name);
		if (status == STATUS_OK)
			*at |= wire_cap_find(name);
	}
	return status;
}

static enum status take_map(struct wire_cursor *in, double max, struct wire_list *at)
{
	struct wire_cursor walk = *in;
	struct wire_token token;
	struct wire_slice whole;
	if (wire_next(&walk, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type != WIRE_TOKEN_MAP)
		return STATUS_TYPE;
	if ((double)token.count > max)
		return STATUS_RANGE;
	const uint8_t *items = walk.at;
	if (wire_skip(in, &whole) != STATUS_OK)
		return STATUS_MALFORMED;
	*at = (struct wire_list){ items, (uint32_t)(whole.at + whole.bytes - items), token.count };
	return STATUS_OK;
}

static enum status take_limits(struct wire_cursor *in, struct wire_limits *at)
{
	static const char *const KEYS[] = { "frame_up", "frame_down" };
	uint32_t *const values[] = { &at->frame_up, &at->frame_down };
	struct wire_list map;
	enum status status = take_map(in, 64, &map);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < COUNT_OF(KEYS); i++) {
		struct wire_slice value;
		if (wire_map_find(&map, KEYS[i], &value) != STATUS_OK)
			continue;
		struct wire_cursor cursor = wire_cursor_of(value);
		uint64_t number;
		status = wire_take_uint(&cursor, UINT32_MAX, &number);
		if (status != STATUS_OK)
			return status;
		*values[i] = (uint32_t)number;
	}
	return STATUS_OK;
}

static enum status check_items(enum wire_kind kind, const struct wire_list *list)
{
	struct wire_cursor items = wire_cursor_list(list);
	for (uint32_t i = 0; i < list->count && kind != WIRE_KIND_LIST; i++) {
		uint64_t id;
		double real;
		enum status status = kind == WIRE_KIND_IDS ? wire_take_uint(&items, UINT32_MAX, &id)
							   : wire_take_real(&items, &real);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status take_list(struct wire_cursor *in, const struct message_field *field,
			     struct wire_list *at)
{
	enum status status = wire_take_list(in, at);
	if (status != STATUS_OK)
		return status;
	if ((double)at->count > field->max)
		return STATUS_RANGE;
	return check_items(field->kind, at);
}

static enum status take_raw(struct wire_cursor *in, struct wire_slice *at)
{
	if (take_nil(in)) {
		*at = (struct wire_slice){ NULL, 0 };
		return STATUS_OK;
	}
	return wire_skip(in, at);
}

static enum status take_structured(struct wire_cursor *in, const struct message_field *field,
				   void *at)
{
	switch (field->kind) {
	case WIRE_KIND_VERSION:
		return take_pair(in, UINT16_MAX, &((struct wire_version *)at)->major,
				 &((struct wire_version *)at)->minor);
	case WIRE_KIND_RATE:
		return take_rate(in, at);
	case WIRE_KIND_BOX:
		return take_box(in, at);
	case WIRE_KIND_CAPS:
		return take_caps(in, field->max, at);
	case WIRE_KIND_LIMITS:
		return take_limits(in, at);
	case WIRE_KIND_MAP:
		return take_map(in, field->max, at);
	case WIRE_KIND_RAW:
		return take_raw(in, at);
	default:
		return take_list(in, field, at);
	}
}

static enum status take_field(struct wire_cursor *in, const struct message_field *field, void *at)
{
	switch (field->kind) {
	case WIRE_KIND_UINT:
		return take_uint(in, field->max, at);
	case WIRE_KIND_INT:
		return take_int(in, field->max, at);
	case WIRE_KIND_REAL:
		return take_real(in, field->max, at);
	case WIRE_KIND_TEXT:
		return take_text(in, field->max, at);
	case WIRE_KIND_BIN:
		return take_bin(in, field->max, at);
	case WIRE_KIND_NAME:
		return take_name(in, at);
	case WIRE_KIND_HASH:
		return take_hash(in, at);
	case WIRE_KIND_OPTION:
		return take_option(in, field->max, at);
	default:
		return take_structured(in, field, at);
	}
}

/* The largest of the C types that a field may have. */
union any_field {
	uint64_t number;
	double real;
	struct wire_slice slice;
	struct wire_name name;
	struct wire_option option;
	struct wire_box box;
	struct wire_list list;
};

static const uint8_t FIELD_BYTES[] = {
	[WIRE_KIND_UINT] = sizeof(WIRE_TYPE_UINT),
	[WIRE_KIND_INT] = sizeof(WIRE_TYPE_INT),
	[WIRE_KIND_REAL] = sizeof(WIRE_TYPE_REAL),
	[WIRE_KIND_TEXT] = sizeof(WIRE_TYPE_TEXT),
	[WIRE_KIND_BIN] = sizeof(WIRE_TYPE_BIN),
	[WIRE_KIND_NAME] = sizeof(WIRE_TYPE_NAME),
	[WIRE_KIND_HASH] = sizeof(WIRE_TYPE_HASH),
	[WIRE_KIND_OPTION] = sizeof(WIRE_TYPE_OPTION),
	[WIRE_KIND_VERSION] = sizeof(WIRE_TYPE_VERSION),
	[WIRE_KIND_RATE] = sizeof(WIRE_TYPE_RATE),
	[WIRE_KIND_BOX] = sizeof(WIRE_TYPE_BOX),
	[WIRE_KIND_CAPS] = sizeof(WIRE_TYPE_CAPS),
	[WIRE_KIND_LIMITS] = sizeof(WIRE_TYPE_LIMITS),
	[WIRE_KIND_IDS] = sizeof(WIRE_TYPE_IDS),
	[WIRE_KIND_REALS] = sizeof(WIRE_TYPE_REALS),
	[WIRE_KIND_LIST] = sizeof(WIRE_TYPE_LIST),
	[WIRE_KIND_MAP] = sizeof(WIRE_TYPE_MAP),
	[WIRE_KIND_RAW] = sizeof(WIRE_TYPE_RAW),
};

/* Takes the last list of a validated message. It ends at the end of the bytes, so its items need
 * not be walked. */
static enum status take_last_list(struct wire_cursor *in, const struct message_field *field,
				  struct wire_list *at)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status != STATUS_OK)
		return status;
	*at = (struct wire_list){ in->at, (uint32_t)(in->end - in->at), count };
	in->at = in->end;
	return (double)count > field->max ? STATUS_RANGE : STATUS_OK;
}

/* Takes a field into a copy first, so that a refused field leaves its fallback in the message. */
static enum status take_beside(struct wire_cursor *in, bool last, const struct message_field *field,
			       uint8_t *at)
{
	union any_field value;
	memcpy(&value, at, FIELD_BYTES[field->kind]);
	enum status status = last && field->kind == WIRE_KIND_LIST
				     ? take_last_list(in, field, &value.list)
				     : take_field(in, field, &value);
	if (status == STATUS_OK)
		memcpy(at, &value, FIELD_BYTES[field->kind]);
	return status;
}

enum { ALLOWED_BYTES = 80 };

/* The allowed values of a field, for an error text. */
static void allowed_of(const struct message_field *field, char text[ALLOWED_BYTES])
{
	static const char *const FORMATS[] = {
		[WIRE_KIND_UINT] = "an integer within 0 and %s",
		[WIRE_KIND_INT] = "an integer within ±%s",
		[WIRE_KIND_REAL] = "a finite number within ±%s",
		[WIRE_KIND_TEXT] = "a text of at most %s bytes",
		[WIRE_KIND_BIN] = "a bin of at most %s bytes, or nil",
		[WIRE_KIND_NAME] = "a bin of 32 bytes",
		[WIRE_KIND_HASH] = "a bin of 8 bytes, or nil",
		[WIRE_KIND_OPTION] = "nil, or an integer within 0 and %s",
		[WIRE_KIND_VERSION] = "[major, minor], both within 0 and 65535",
		[WIRE_KIND_RATE] = "[numerator, denominator], within 0 and 2^31, over at least 1",
		[WIRE_KIND_BOX] = "nil, or six finite numbers",
		[WIRE_KIND_CAPS] = "an array of at most %s texts",
		[WIRE_KIND_LIMITS] = "a map of integers within 0 and 4294967295",
		[WIRE_KIND_IDS] = "an array of at most %s integers within 0 and 4294967295",
		[WIRE_KIND_REALS] = "an array of at most %s finite numbers",
		[WIRE_KIND_LIST] = "an array of at most %s items",
		[WIRE_KIND_MAP] = "a map of at most %s keys",
		[WIRE_KIND_RAW] = "any value",
	};
	char bound[REASON_NUMBER_BYTES];
	const char *format = FORMATS[field->kind], *gap = strstr(format, "%s");
	if (gap == NULL)
		snprintf(text, ALLOWED_BYTES, "%s", format);
	else
		snprintf(text, ALLOWED_BYTES, "%.*s%s%s", (int)(gap - format), format,
			 reason_number(field->max, bound), gap + 2);
}

static enum status unpack_field(struct wire_cursor *in, bool last,
				const struct message_field *field, struct message *message,
				struct reason *why)
{
	uint8_t *at = (uint8_t *)message + field->offset;
	const struct wire_cursor before = *in;
	char allowed[ALLOWED_BYTES];
	/* Most fields are numbers, and a refused number is not written. */
	enum status status = field->kind == WIRE_KIND_UINT
				     ? take_uint(in, field->max, (uint64_t *)(void *)at)
				     : take_beside(in, last, field, at);
	if (status == STATUS_OK)
		return STATUS_OK;
	allowed_of(field, allowed);
	return wire_complain(why, status, -1, field->name,
			     message_info((uint32_t)message->type)->name, before, allowed);
}

static enum status missing(const struct message_info *info, const struct message_field *field,
			   struct reason *why)
{
	return reason_set(why, STATUS_TYPE, -1, field->name, "%s of %s is missing", field->name,
			  info->name);
}

static enum status unpack_array(struct wire_cursor *in, uint32_t items, bool validated,
				const struct message_info *info, struct message *message,
				struct reason *why)
{
	for (uint32_t i = 0; i < info->field_count; i++) {
		if (i < items) {
			enum status status = unpack_field(in, validated && i + 1 == items,
							  &info->fields[i], message, why);
			if (status != STATUS_OK)
				return status;
		} else if (info->fields[i].needed) {
			return missing(info, &info->fields[i], why);
		}
	}
	return STATUS_OK;
}

static enum status unpack_map(struct wire_cursor *in, const struct message_info *info,
			      struct message *message, struct reason *why)
{
	struct wire_list map;
	enum status status = take_map(in, WIRE_ELEMENTS_DOWN, &map);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "", "%s needs a map", info->name);
	for (uint32_t i = 0; i < info->field_count; i++) {
		struct wire_slice value;
		if (wire_map_find(&map, info->fields[i].name, &value) == STATUS_OK) {
			struct wire_cursor cursor = wire_cursor_of(value);
			status = unpack_field(&cursor, false, &info->fields[i], message, why);
			if (status != STATUS_OK)
				return status;
		} else if (info->fields[i].needed) {
			return missing(info, &info->fields[i], why);
		}
	}
	return STATUS_OK;
}

/* The items of the outermost array. */
static enum status unpack_items(struct wire_cursor *items, uint32_t count, bool validated,
				struct message *message, struct reason *why)
{
	uint64_t type;
	bool typed = count > 0 && wire_take_uint(items, 127, &type) == STATUS_OK;
	const struct message_info *info = typed ? message_info((uint32_t)type) : NULL;
	message_init(message, info != NULL ? info->type : MESSAGE_NONE);
	if (!typed)
		return reason_set(
			why, STATUS_MALFORMED, 0, "frame",
			"the content is not an array [type, …] with a type from 0 to 127");
	if (info == NULL)
		return reason_set(why, STATUS_UNKNOWN_MESSAGE, -1, "type",
				  "there is no message with number %d", (int)type);
	if (info->reserved)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "type", "%s is not supported yet",
				  info->name);
	if (info->layout == WIRE_LAYOUT_ARRAY)
		return unpack_array(items, count - 1, validated, info, message, why);
	if (count < 2)
		return reason_set(why, STATUS_TYPE, -1, "", "%s needs a map", info->name);
	return unpack_map(items, info, message, why);
}

enum status message_unpack(const uint8_t *content, uint32_t bytes, struct message *message,
			   struct reason *why)
{
	struct wire_cursor in = wire_cursor_over(content, bytes);
	struct wire_list list;
	if (wire_take_list(&in, &list) != STATUS_OK) {
		message_init(message, MESSAGE_NONE);
		return reason_set(
			why, STATUS_MALFORMED, 0, "frame",
			"the content is not an array [type, …] with a type from 0 to 127");
	}
	struct wire_cursor items = wire_cursor_list(&list);
	return unpack_items(&items, list.count, false, message, why);
}

enum status message_read(const uint8_t *content, uint32_t bytes,
			 const struct validate_limits *limits, struct message *message,
			 struct reason *why)
{
	enum status status = validate_content(content, bytes, limits, why);
	if (status != STATUS_OK) {
		struct reason inner;
		/* Reads the request's ref and the faulty field, if possible. */
		if (message_unpack(content, bytes, message, &inner) == status && why != NULL &&
		    message->type != MESSAGE_NONE)
			*why = inner;
		return status;
	}
	struct wire_cursor items = wire_cursor_over(content, bytes);
	uint32_t count;
	status = wire_take_array(&items, &count);
	ASSERT(status == STATUS_OK);
	return unpack_items(&items, count, true, message, why);
}

uint64_t message_ref(const struct message *message)
{
	static const char *const NAMES[] = { "ref", "sub", "batch", "id", "request" };
	const struct message_info *info = message_info(message->type);
	if (info == NULL)
		return 0;
	for (uint32_t i = 0; i < info->field_count; i++) {
		for (uint32_t j = 0; j < COUNT_OF(NAMES); j++) {
			if (strcmp(info->fields[i].name, NAMES[j]) == 0)
				return *(const uint64_t *)((const uint8_t *)message +
							   info->fields[i].offset);
		}
	}
	return 0;
}

void message_error(struct message *error, const struct message *about, const struct reason *why)
{
	message_init(error, MESSAGE_ERROR);
	error->error.ref = about == NULL ? 0 : message_ref(about);
	error->error.about = about == NULL ? 0 : (uint64_t)about->type;
	error->error.code = (uint64_t)why->status;
	error->error.index = why->index;
	error->error.text = wire_text(why->text);
	error->error.field = wire_text(why->field);
}

bool wire_slice_is(struct wire_slice slice, const char *text)
{
	return slice.bytes == strlen(text) && memcmp(slice.at, text, slice.bytes) == 0;
}

enum status wire_map_find(const struct wire_list *map, const char *key, struct wire_slice *value)
{
	struct wire_cursor items = wire_cursor_list(map);
	for (uint32_t i = 0; i < map->count; i++) {
		struct wire_slice name = { NULL, 0 };
		struct wire_slice found;
		if (take_text(&items, WIRE_STRING_DOWN, &name) != STATUS_OK ||
		    wire_skip(&items, &found) != STATUS_OK)
			return STATUS_MALFORMED;
		if (wire_slice_is(name, key)) {
			*value = found;
			return STATUS_OK;
		}
	}
	return STATUS_MISSING;
}

enum status wire_list_reals(const struct wire_list *list, double *values, uint32_t count)
{
	if (list->count != count)
		return STATUS_RANGE;
	struct wire_cursor items = wire_cursor_list(list);
	return wire_take_reals(&items, values, count);
}
