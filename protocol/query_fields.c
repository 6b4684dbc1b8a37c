/* query_fields.c: the answer about force fields. */
#include "protocol/query_items.h"

#include <string.h>

void answer_pack_fields(struct wire_packer *out, const struct wire_field_force *head)
{
	wire_pack_array(out, 3);
	pack_vector(out, head->acceleration, 3);
	pack_vector(out, head->force, 3);
	wire_pack_array(out, head->count);
}

enum status answer_take_fields(struct wire_cursor *in, struct wire_field_force *head)
{
	uint32_t items;
	memset(head, 0, sizeof *head);
	enum status status = wire_take_array(in, &items);
	if (status == STATUS_OK && items < 3)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_tuple(in, head->acceleration, 3);
	if (status == STATUS_OK)
		status = wire_take_tuple(in, head->force, 3);
	return status == STATUS_OK ? wire_take_array(in, &head->count) : status;
}

void answer_pack_field(struct wire_packer *out, const struct wire_force_field *field)
{
	wire_pack_array(out, 18);
	wire_pack_uint(out, field->id);
	wire_pack_uint(out, field->kind);
	wire_pack_uint(out, field->region);
	wire_pack_uint(out, field->falloff);
	wire_pack_uint(out, field->flags);
	wire_pack_uint(out, field->power);
	wire_pack_uint(out, field->mask);
	wire_pack_int(out, field->tag);
	pack_vector(out, field->position, 3);
	pack_vector(out, field->rotation, 4);
	pack_vector(out, field->half, 3);
	pack_vector(out, field->strength, 3);
	pack_vector(out, field->velocity, 3);
	wire_pack_real(out, field->linear);
	wire_pack_real(out, field->quadratic);
	wire_pack_real(out, field->angular);
	wire_pack_real(out, field->core);
	wire_pack_real(out, field->density);
}

enum status answer_take_field(struct wire_cursor *in, struct wire_force_field *field)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(field, 0, sizeof *field);
	take_u32(&taker, "id", true, UINT32_MAX, &field->id);
	take_u8(&taker, "kind", &field->kind);
	take_u8(&taker, "region", &field->region);
	take_u8(&taker, "falloff", &field->falloff);
	take_u8(&taker, "flags", &field->flags);
	take_u8(&taker, "power", &field->power);
	take_u32(&taker, "mask", true, UINT32_MAX, &field->mask);
	take_tag(&taker, &field->tag);
	take_vector(&taker, "position", true, field->position, 3);
	take_vector(&taker, "rotation", true, field->rotation, 4);
	take_vector(&taker, "half", true, field->half, 3);
	take_vector(&taker, "strength", true, field->strength, 3);
	take_vector(&taker, "velocity", true, field->velocity, 3);
	take_real(&taker, "linear", &field->linear);
	take_real(&taker, "quadratic", &field->quadratic);
	take_real(&taker, "angular", &field->angular);
	take_real(&taker, "core", &field->core);
	take_real(&taker, "density", &field->density);
	return taker.status;
}
