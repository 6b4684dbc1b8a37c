/* See result_wire.h. */
#include "protocol/result_wire.h"

#include <string.h>

void result_pack(struct wire_packer *out, const struct wire_result *result)
{
	wire_pack_array(out, 8);
	wire_pack_uint(out, result->batch);
	wire_pack_uint(out, result->tick);
	wire_pack_uint(out, (uint64_t)result->code);
	wire_pack_int(out, result->index);
	wire_pack_array(out, result->value_count);
	for (uint32_t i = 0; i < result->value_count; i++)
		wire_pack_uint(out, result->values[i]);
	wire_pack_text(out, result->field);
	wire_pack_text(out, result->text);
	wire_pack_uint(out, result->edit);
}

static enum status take_text(struct wire_cursor *in, struct wire_slice *text)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	*text = (struct wire_slice){ token.at, token.count };
	return STATUS_OK;
}

static enum status take_result(struct wire_cursor *items, uint32_t count,
			       struct wire_result *result)
{
	uint64_t code = 0;
	enum status status = wire_take_uint(items, WIRE_INTEGER_MAX, &result->batch);
	if (status == STATUS_OK)
		status = wire_take_uint(items, WIRE_INTEGER_MAX, &result->tick);
	if (status == STATUS_OK)
		status = wire_take_uint(items, UINT8_MAX, &code);
	if (status == STATUS_OK)
		status = wire_take_int(items, &result->index);
	if (status == STATUS_OK)
		status = wire_take_list(items, &result->value_list);
	if (status == STATUS_OK && count > 5)
		status = take_text(items, &result->field);
	if (status == STATUS_OK && count > 6)
		status = take_text(items, &result->text);
	if (status == STATUS_OK && count > 7)
		status = wire_take_uint(items, UINT32_MAX, &result->edit);
	result->code = (enum status)code;
	return status;
}

enum status result_take(struct wire_cursor *in, struct wire_result *result)
{
	struct wire_list list;
	memset(result, 0, sizeof *result);
	enum status status = wire_take_list(in, &list);
	if (status != STATUS_OK)
		return status;
	if (list.count < 5)
		return STATUS_TYPE;
	struct wire_cursor items = wire_cursor_list(&list);
	status = take_result(&items, list.count, result);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor values = wire_cursor_list(&result->value_list);
	for (uint32_t i = 0; i < result->value_list.count && status == STATUS_OK; i++) {
		uint64_t value;
		status = wire_take_uint(&values, UINT32_MAX, &value);
	}
	return status;
}

uint32_t result_value(const struct wire_result *result, uint32_t index)
{
	struct wire_cursor values = wire_cursor_list(&result->value_list);
	uint64_t value = 0;
	if (index >= result->value_list.count)
		return 0;
	for (uint32_t i = 0; i <= index; i++) {
		if (wire_take_uint(&values, UINT32_MAX, &value) != STATUS_OK)
			return 0;
	}
	return (uint32_t)value;
}

/* ---- events ------------------------------------------------------------------------------ */

static bool is_zero(vec3 v)
{
	return v.x == 0 && v.y == 0 && v.z == 0;
}

/* Items up to the last that is not zero; kind and both bodies always. */
static uint32_t event_items(const struct event *event)
{
	if (event->speed != 0)
		return 10;
	if (event->child_b != 0)
		return 9;
	if (event->child_a != 0)
		return 8;
	if (!is_zero(event->normal))
		return 7;
	if (!is_zero(event->point))
		return 6;
	if (event->fraction != 0)
		return 5;
	return event->value != 0 ? 4 : 3;
}

static void pack_vec3(struct wire_packer *out, vec3 v)
{
	wire_pack_array(out, 3);
	wire_pack_real(out, v.x);
	wire_pack_real(out, v.y);
	wire_pack_real(out, v.z);
}

void event_pack(struct wire_packer *out, const struct event *event)
{
	uint32_t items = event_items(event);
	wire_pack_array(out, items);
	wire_pack_uint(out, event->kind);
	wire_pack_uint(out, event->a);
	wire_pack_uint(out, event->b);
	if (items > 3)
		wire_pack_real(out, event->value);
	if (items > 4)
		wire_pack_real(out, event->fraction);
	if (items > 5)
		pack_vec3(out, event->point);
	if (items > 6)
		pack_vec3(out, event->normal);
	if (items > 7)
		wire_pack_uint(out, event->child_a);
	if (items > 8)
		wire_pack_uint(out, event->child_b);
	if (items > 9)
		wire_pack_real(out, event->speed);
}

static enum status take_vec3(struct wire_cursor *in, vec3 *v)
{
	double values[3];
	enum status status = wire_take_tuple(in, values, 3);
	if (status == STATUS_OK)
		*v = (vec3){ values[0], values[1], values[2] };
	return status;
}

static enum status take_whos(struct wire_cursor *items, struct event *event)
{
	uint64_t kind = 0, a = 0, b = 0;
	enum status status = wire_take_uint(items, UINT8_MAX, &kind);
	if (status == STATUS_OK)
		status = wire_take_uint(items, UINT32_MAX, &a);
	if (status == STATUS_OK)
		status = wire_take_uint(items, UINT32_MAX, &b);
	event->kind = (uint8_t)kind;
	event->a = (body_id)a;
	event->b = (body_id)b;
	return status;
}

enum status event_take(struct wire_cursor *in, struct event *event)
{
	struct wire_list list;
	uint64_t child_a = 0, child_b = 0;
	memset(event, 0, sizeof *event);
	enum status status = wire_take_list(in, &list);
	if (status != STATUS_OK)
		return status;
	if (list.count < 3)
		return STATUS_TYPE;
	struct wire_cursor items = wire_cursor_list(&list);
	status = take_whos(&items, event);
	if (status == STATUS_OK && list.count > 3)
		status = wire_take_real(&items, &event->value);
	if (status == STATUS_OK && list.count > 4)
		status = wire_take_real(&items, &event->fraction);
	if (status == STATUS_OK && list.count > 5)
		status = take_vec3(&items, &event->point);
	if (status == STATUS_OK && list.count > 6)
		status = take_vec3(&items, &event->normal);
	if (status == STATUS_OK && list.count > 7)
		status = wire_take_uint(&items, UINT32_MAX, &child_a);
	if (status == STATUS_OK && list.count > 8)
		status = wire_take_uint(&items, UINT32_MAX, &child_b);
	if (status == STATUS_OK && list.count > 9)
		status = wire_take_real(&items, &event->speed);
	event->child_a = (uint32_t)child_a;
	event->child_b = (uint32_t)child_b;
	return status;
}

const char *event_name(uint8_t kind)
{
	static const char *const names[] = { "?",
					     "contact_begin",
					     "contact_end",
					     "sleep",
					     "wake",
					     "out_of_bounds",
					     "quarantine",
					     "fallback",
					     "limit",
					     "joint_break",
					     "births",
					     "deaths",
					     "sensor_begin",
					     "sensor_end",
					     "hit",
					     "squeezed",
					     "link_torn" };
	return kind < COUNT_OF(names) ? names[kind] : "?";
}
