/* See group_wire.h. */
#include "protocol/group_wire.h"

#include "protocol/command_wire.h"
#include "protocol/complaint.h"
#include "server/engine/types.h"

/* ---- actions ------------------------------------------------------------------------------------ */

/* The commands while they are decoded. */
struct action_reader {
	struct wire_actions *out;
	struct wire_packer packer; /* over the room of out->packed */
	uint32_t command;
	const char *field;
};

static enum status put_place(struct action_reader *self)
{
	struct wire_actions *out = self->out;
	enum status status = ARRAY_RESERVE(&out->places, out->places.count + 1u);
	if (status != STATUS_OK)
		return status;
	out->places.items[out->places.count++] =
		(struct action_place){ self->packer.bytes + 1, self->command, self->field };
	wire_pack_real(&self->packer, 0);
	return STATUS_OK;
}

static enum status put_places(struct action_reader *self, uint32_t count)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = put_place(self);
	return status;
}

/* Copies a value of one token, or an array of such values, with a place for every nil; deeper
 * arrays are those of targets. */
static enum status copy_value(struct action_reader *self, struct wire_cursor *in, uint32_t depth)
{
	struct wire_cursor before = *in;
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status != STATUS_OK)
		return status;
	if (token.type == WIRE_TOKEN_NIL)
		return put_place(self);
	if (token.type != WIRE_TOKEN_ARRAY || depth == 0) {
		*in = before;
		status = wire_skip(in, NULL);
		wire_pack_raw(&self->packer, before.at, (uint32_t)(in->at - before.at));
		return status;
	}
	wire_pack_array(&self->packer, token.count);
	for (uint32_t i = 0; i < token.count && status == STATUS_OK; i++)
		status = copy_value(self, in, depth - 1);
	return status;
}

static enum status copy_field(struct action_reader *self, struct wire_cursor *in,
			      const struct command_field *field, struct reason *why)
{
	const struct wire_cursor before = *in;
	struct wire_cursor ahead = *in;
	struct wire_token token;
	bool nil = wire_next(&ahead, &token) == STATUS_OK && token.type == WIRE_TOKEN_NIL;
	self->field = field->name;
	if (!nil)
		return copy_value(self, in, field->type == FIELD_TARGETS ? 2 : 1);
	*in = ahead;
	switch (field->type) {
	case FIELD_F64:
		return put_place(self);
	case FIELD_VEC3:
		wire_pack_array(&self->packer, 3);
		return put_places(self, 3);
	case FIELD_QUAT:
		wire_pack_array(&self->packer, 4);
		return put_places(self, 4);
	default:
		return wire_complain(why, STATUS_TYPE, self->command, field->name, "actions",
				     before,
				     "given; values fill only numbers, vectors and rotations");
	}
}

static enum status copy_command(struct action_reader *self, struct wire_cursor *in,
				struct reason *why)
{
	static const struct command_field BEYOND = { .name = "", .type = FIELD_F64 };
	uint32_t count;
	uint64_t op;
	enum status status = wire_take_array(in, &count);
	if (status != STATUS_OK || count == 0 || wire_take_uint(in, UINT16_MAX, &op) != STATUS_OK)
		return reason_set(why, STATUS_TYPE, self->command, "actions",
				  "a command is [op, field, …]");
	const struct command_info *info = command_info((uint32_t)op);
	uint32_t fields = info != NULL ? info->field_count : 0;
	wire_pack_array(&self->packer, count);
	wire_pack_uint(&self->packer, op);
	for (uint32_t i = 0; i + 1 < count && status == STATUS_OK; i++)
		status = copy_field(self, in, i < fields ? &info->fields[i] : &BEYOND, why);
	return status;
}

enum status actions_take(const struct wire_list *list, struct wire_actions *out, struct reason *why)
{
	*out = (struct wire_actions){ .count = list->count };
	struct action_reader reader = { .out = out };
	struct wire_cursor in = wire_cursor_list(list);
	struct reason none = { .status = STATUS_OK };
	/* A nil is one byte and becomes at most four numbers in an array. */
	uint32_t room = list->bytes * 40u;
	enum status status = bytes_reserve(&out->packed, MAX_OF(room, 1u));
	*why = none;
	reader.packer = wire_packer_over(out->packed.data, room);
	for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
		reader.command = i;
		status = copy_command(&reader, &in, why);
	}
	if (status == STATUS_OK)
		status = wire_packer_status(&reader.packer);
	out->packed.count = reader.packer.bytes;
	const struct wire_list packed = { out->packed.data, reader.packer.bytes, list->count };
	if (status == STATUS_OK)
		status = command_check_list(&packed, why);
	if (status == STATUS_OK)
		return STATUS_OK;
	if (why->status != status)
		reason_set(why, status, reader.command, "actions", "%s", status_text(status));
	actions_release(out);
	return status;
}

void actions_release(struct wire_actions *self)
{
	bytes_release(&self->packed);
	ARRAY_RELEASE(&self->places);
}

void actions_fill(const struct wire_actions *self, const uint8_t *values, uint8_t *to)
{
	if (self->packed.count > 0)
		memcpy(to, self->packed.data, self->packed.count);
	for (uint32_t i = 0; i < self->places.count; i++)
		put_be64(to + self->places.items[i].at, get_le64(values + 8 * i));
}

enum status actions_check(const struct wire_actions *self, const uint8_t *values,
			  struct reason *why)
{
	for (uint32_t i = 0; i < self->places.count; i++) {
		double value = f64_of_bits(get_le64(values + 8 * i));
		const struct action_place *place = &self->places.items[i];
		if (!(value - value == 0))
			return reason_set(
				why, STATUS_NOT_FINITE, place->command, place->field,
				"number %u of the action, %s of command %u, is %f: it must be finite",
				(unsigned)i, place->field, (unsigned)place->command, value);
	}
	return STATUS_OK;
}

/* ---- observations ------------------------------------------------------------------------------- */

static const wire_mask COLUMNS_OBSERVED = WIRE_COLUMNS_TICK;

/* The numbers that an item contributes. */
static uint32_t observed_width(const struct observed_item *item)
{
	switch (item->kind) {
	case OBSERVE_BODIES:
		return 3u * (item->columns / WIRE_COLUMN_POSITION % 2) +
		       4u * (item->columns / WIRE_COLUMN_ROTATION % 2) +
		       3u * (item->columns / WIRE_COLUMN_VELOCITY % 2) +
		       3u * (item->columns / WIRE_COLUMN_SPIN % 2) +
		       2u * (item->columns / WIRE_COLUMN_STATUS % 2);
	case OBSERVE_RAYS:
		return 2;
	case OBSERVE_CONTACTS:
		return 5;
	case OBSERVE_JOINTS:
		return 12;
	case OBSERVE_TOTALS:
		return 8;
	}
	return 0;
}

static enum status take_u32(struct wire_cursor *in, uint32_t *to)
{
	uint64_t value;
	enum status status = wire_take_uint(in, UINT32_MAX, &value);
	if (status == STATUS_OK)
		*to = (uint32_t)value;
	return status;
}

static enum status take_ray(struct wire_cursor *in, struct observed_item *item)
{
	uint32_t *const optional[] = { &item->id, &item->category, &item->mask, &item->ignore };
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 3)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_tuple(in, item->origin, 3);
	if (status == STATUS_OK)
		status = wire_take_tuple(in, item->direction, 3);
	if (status == STATUS_OK)
		status = wire_take_real(in, &item->length);
	for (uint32_t i = 3; i < count && status == STATUS_OK; i++)
		status = i < 3 + COUNT_OF(optional) ? take_u32(in, optional[i - 3])
						    : wire_skip(in, NULL);
	const double *d = item->direction, *o = item->origin;
	bool still = d[0] == 0 && d[1] == 0 && d[2] == 0;
	bool far = false;
	for (uint32_t i = 0; i < 3; i++)
		far = far || o[i] > LENGTH_MAX || o[i] < -LENGTH_MAX;
	bool reaches = item->length > 0 && item->length <= 4 * LENGTH_MAX;
	if (status == STATUS_OK && (still || far || !reaches))
		status = STATUS_RANGE;
	return status;
}

static enum status take_pair(struct wire_cursor *in, struct observed_item *item)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 1)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		status = take_u32(in, &item->id);
	if (status == STATUS_OK && count > 1)
		status = take_u32(in, &item->other);
	if (status == STATUS_OK && count > 2)
		status = wire_skip_many(in, count - 2);
	return status;
}

static enum status take_item(struct wire_cursor *in, struct observed_item *item)
{
	switch (item->kind) {
	case OBSERVE_BODIES:
	case OBSERVE_JOINTS:
		return take_u32(in, &item->id);
	case OBSERVE_RAYS:
		return take_ray(in, item);
	case OBSERVE_CONTACTS:
		return take_pair(in, item);
	case OBSERVE_TOTALS:
		break;
	}
	return STATUS_TYPE;
}

static enum status push_item(struct wire_observe *out, const struct observed_item *item)
{
	enum status status = ARRAY_RESERVE(&out->items, out->items.count + 1u);
	if (status != STATUS_OK)
		return status;
	out->items.items[out->items.count++] = *item;
	out->width += observed_width(item);
	return out->width <= WIRE_OBSERVE_NUMBERS ? STATUS_OK : STATUS_LIMIT;
}

/* The mask behind the list of a part, which of all kinds BODIES alone has. */
static enum status take_columns(struct wire_cursor in, uint32_t count, struct observed_item *item)
{
	uint64_t columns;
	if (item->kind != OBSERVE_BODIES)
		return STATUS_OK;
	if (count < 3)
		return STATUS_TYPE;
	enum status status = wire_take_uint(&in, UINT16_MAX, &columns);
	if (status == STATUS_OK && (columns == 0 || (columns & ~(uint64_t)COLUMNS_OBSERVED) != 0))
		status = STATUS_RANGE;
	item->columns = status == STATUS_OK ? (wire_mask)columns : 0;
	return status;
}

static enum status take_part(struct wire_cursor *in, struct wire_observe *out)
{
	struct observed_item item = { .category = UINT32_MAX, .mask = UINT32_MAX };
	uint32_t count;
	uint64_t kind;
	struct wire_list list;
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 2)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_uint(in, OBSERVE_TOTALS, &kind);
	if (status == STATUS_OK)
		status = wire_take_list(in, &list);
	if (status != STATUS_OK)
		return status;
	item.kind = (enum observation_kind)kind;
	status = take_columns(*in, count, &item);
	if (item.kind == OBSERVE_TOTALS && status == STATUS_OK)
		status = list.count > 0 ? STATUS_TYPE : push_item(out, &item);
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count && status == STATUS_OK; i++) {
		struct observed_item one = item;
		status = take_item(&items, &one);
		if (status == STATUS_OK)
			status = push_item(out, &one);
	}
	return status == STATUS_OK ? wire_skip_many(in, count - 2) : status;
}

enum status observe_take(const struct wire_list *list, struct wire_observe *out, struct reason *why)
{
	static const char allowed[] =
		"[kind, items] with a kind from 0 to 4 and its items (docs/PROTOCOL.md)";
	struct wire_cursor in = wire_cursor_list(list);
	*out = (struct wire_observe){ 0 };
	for (uint32_t i = 0; i < list->count; i++) {
		const struct wire_cursor before = in;
		enum status status = take_part(&in, out);
		if (status == STATUS_OK)
			continue;
		observe_release(out);
		if (status == STATUS_LIMIT)
			return reason_set(why, status, i, "observe",
					  "an observation has more than %d numbers: observe less",
					  WIRE_OBSERVE_NUMBERS);
		if (status == STATUS_NO_MEMORY)
			return reason_set(why, status, i, "observe", "%s", status_text(status));
		return wire_complain(why, status, i, "observe", "STEP_WORLDS", before, allowed);
	}
	return STATUS_OK;
}

void observe_release(struct wire_observe *self)
{
	ARRAY_RELEASE(&self->items);
}

/* ---- items of the answer ------------------------------------------------------------------------ */

static void pack_hash(struct wire_packer *out, const struct wire_hash *hash)
{
	if (hash->set)
		wire_pack_hash(out, hash->value);
	else
		wire_pack_nil(out);
}

void group_item_pack(struct wire_packer *out, const struct wire_group_item *item)
{
	bool done = item->code == STATUS_OK;
	wire_pack_array(out, done ? 10 : 13);
	wire_pack_uint(out, item->world);
	wire_pack_uint(out, item->request);
	wire_pack_uint(out, item->code);
	wire_pack_uint(out, item->epoch);
	wire_pack_uint(out, item->tick);
	wire_pack_uint(out, item->edit);
	wire_pack_uint(out, item->steps);
	pack_hash(out, &item->tick_hash);
	pack_hash(out, &item->state_hash);
	wire_pack_array(out, item->values.count);
	wire_pack_raw(out, item->values.at, item->values.bytes);
	if (done)
		return;
	wire_pack_int(out, item->index);
	wire_pack_text(out, item->field);
	wire_pack_text(out, item->text);
}

static enum status take_hash(struct wire_cursor *in, struct wire_hash *hash)
{
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status != STATUS_OK)
		return status;
	*hash = (struct wire_hash){ false, 0 };
	if (token.type == WIRE_TOKEN_NIL)
		return STATUS_OK;
	if (token.type != WIRE_TOKEN_BIN || token.count != 8)
		return STATUS_TYPE;
	*hash = (struct wire_hash){ true, get_be64(token.at) };
	return STATUS_OK;
}

static enum status take_text(struct wire_cursor *in, struct wire_slice *text)
{
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status == STATUS_OK && token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		*text = (struct wire_slice){ token.at, token.count };
	return status;
}

static enum status take_refusal(struct wire_cursor *in, struct wire_group_item *item)
{
	enum status status = wire_take_int(in, &item->index);
	if (status == STATUS_OK)
		status = take_text(in, &item->field);
	if (status == STATUS_OK)
		status = take_text(in, &item->text);
	return status;
}

enum status group_item_take(struct wire_cursor *in, struct wire_group_item *item)
{
	uint32_t count, code = 0;
	*item = (struct wire_group_item){ .index = -1 };
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 10)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		status = take_u32(in, &item->world);
	if (status == STATUS_OK)
		status = wire_take_uint(in, WIRE_INTEGER_MAX, &item->request);
	if (status == STATUS_OK)
		status = take_u32(in, &code);
	item->code = (enum status)code;
	if (status == STATUS_OK)
		status = take_u32(in, &item->epoch);
	if (status == STATUS_OK)
		status = wire_take_uint(in, WIRE_INTEGER_MAX, &item->tick);
	if (status == STATUS_OK)
		status = take_u32(in, &item->edit);
	if (status == STATUS_OK)
		status = take_u32(in, &item->steps);
	if (status == STATUS_OK)
		status = take_hash(in, &item->tick_hash);
	if (status == STATUS_OK)
		status = take_hash(in, &item->state_hash);
	if (status == STATUS_OK)
		status = wire_take_list(in, &item->values);
	uint32_t left = count - 10;
	if (status == STATUS_OK && left >= 3) {
		status = take_refusal(in, item);
		left -= 3;
	}
	return status == STATUS_OK ? wire_skip_many(in, left) : status;
}
