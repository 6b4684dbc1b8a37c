/* query_lists.c: answers that list methods and parameters. */
#include "protocol/query_items.h"

#include <string.h>

static void pack_list(struct wire_packer *out, const struct wire_list *list)
{
	wire_pack_array(out, list->count);
	wire_pack_raw(out, list->at, list->bytes);
}

enum status answer_take_text(struct wire_cursor *in, struct wire_slice *text)
{
	struct wire_token token;
	struct wire_cursor after = *in;
	enum status status = wire_next(&after, &token);
	if (status != STATUS_OK)
		return status;
	if (token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	*text = (struct wire_slice){ token.at, token.count };
	*in = after;
	return STATUS_OK;
}

static void take_text(struct taker *self, const char *field, struct wire_slice *text)
{
	if (more(self, field, true))
		self->status = answer_take_text(&self->in, text);
}

/* A text or nil. */
static void take_option(struct taker *self, const char *field, struct wire_slice *text)
{
	struct wire_token token;
	if (!more(self, field, true))
		return;
	struct wire_cursor after = self->in;
	self->status = wire_next(&after, &token);
	if (self->status == STATUS_OK && token.type == WIRE_TOKEN_NIL)
		self->in = after;
	else if (self->status == STATUS_OK)
		self->status = answer_take_text(&self->in, text);
}

static void take_list(struct taker *self, const char *field, struct wire_list *list)
{
	if (more(self, field, true))
		self->status = wire_take_list(&self->in, list);
}

void answer_pack_method(struct wire_packer *out, const struct wire_method *method)
{
	wire_pack_array(out, 9);
	wire_pack_uint(out, method->number);
	wire_pack_text(out, method->name);
	wire_pack_uint(out, method->motion);
	wire_pack_uint(out, method->shapes);
	wire_pack_uint(out, method->abilities);
	wire_pack_uint(out, method->code);
	wire_pack_text(out, method->why);
	wire_pack_text(out, method->summary);
	pack_list(out, &method->names);
}

enum status answer_take_method(struct wire_cursor *in, struct wire_method *method)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(method, 0, sizeof *method);
	take_u32(&taker, "number", true, UINT32_MAX, &method->number);
	take_text(&taker, "name", &method->name);
	take_u32(&taker, "motion", true, UINT32_MAX, &method->motion);
	take_u32(&taker, "shapes", true, UINT32_MAX, &method->shapes);
	take_u32(&taker, "abilities", true, UINT32_MAX, &method->abilities);
	take_u32(&taker, "code", true, UINT8_MAX, &method->code);
	take_text(&taker, "why", &method->why);
	take_text(&taker, "summary", &method->summary);
	take_list(&taker, "names", &method->names);
	return taker.status;
}

void answer_pack_method_name(struct wire_packer *out, const struct wire_method_name *name)
{
	wire_pack_array(out, 3);
	wire_pack_text(out, name->name);
	if (name->parameter.bytes > 0)
		wire_pack_text(out, name->parameter);
	else
		wire_pack_nil(out);
	wire_pack_real(out, name->value);
}

enum status answer_take_method_name(struct wire_cursor *in, struct wire_method_name *name)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(name, 0, sizeof *name);
	take_text(&taker, "name", &name->name);
	take_option(&taker, "parameter", &name->parameter);
	take_real(&taker, "value", &name->value);
	return taker.status;
}

void answer_pack_parameter(struct wire_packer *out, const struct wire_parameter *parameter)
{
	wire_pack_array(out, 11);
	wire_pack_uint(out, parameter->number);
	wire_pack_text(out, parameter->name);
	wire_pack_real(out, parameter->value);
	wire_pack_real(out, parameter->initial);
	wire_pack_real(out, parameter->min);
	wire_pack_real(out, parameter->max);
	wire_pack_uint(out, parameter->whole);
	wire_pack_text(out, parameter->unit);
	pack_list(out, &parameter->methods);
	pack_list(out, &parameter->old);
	wire_pack_text(out, parameter->doc);
}

enum status answer_take_parameter(struct wire_cursor *in, struct wire_parameter *parameter)
{
	struct taker taker;
	uint32_t whole = 0;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(parameter, 0, sizeof *parameter);
	take_u32(&taker, "number", true, UINT32_MAX, &parameter->number);
	take_text(&taker, "name", &parameter->name);
	take_real(&taker, "value", &parameter->value);
	take_real(&taker, "initial", &parameter->initial);
	take_real(&taker, "least", &parameter->min);
	take_real(&taker, "most", &parameter->max);
	take_u32(&taker, "whole", true, 1, &whole);
	take_text(&taker, "unit", &parameter->unit);
	take_list(&taker, "methods", &parameter->methods);
	take_list(&taker, "old", &parameter->old);
	take_text(&taker, "meaning", &parameter->doc);
	parameter->whole = whole != 0;
	return taker.status;
}
