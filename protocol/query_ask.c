/* query_ask.c: queries on the wire: tables derived from queries.def, and the functions that pack, read and
 * check queries by them. */
#include "protocol/query_items.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/engine/types.h"

/* ---- the list ----------------------------------------------------------------------------------- */

/* One row more than there are fields, because a query may have none. */
#define QUERY(number, NAME, name_, where, doc, answer, about)                                      \
	static const struct query_field fields_##name_[] = {
#define NEED(type_, member, field, min_, max_)                                                     \
	{ .name = #field,                                                                          \
	  .type = WIRE_ASK_##type_,                                                                \
	  .offset = offsetof(struct wire_query, member),                                           \
	  .needed = true,                                                                          \
	  .min = (min_),                                                                           \
	  .max = (max_) },
#define FIELD(type_, member, field, min_, max_, fallback_)                                         \
	{ .name = #field,                                                                          \
	  .type = WIRE_ASK_##type_,                                                                \
	  .offset = offsetof(struct wire_query, member),                                           \
	  .min = (min_),                                                                           \
	  .max = (max_),                                                                           \
	  .fallback = (fallback_) },
#define END(name_)                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}                                                                                          \
	}                                                                                          \
	;
#include "protocol/queries.def"

/* The columns `placed` and `past` of each place. */
#define IS_TABLES false, .past = false
#define IS_PLACED true, .past = false
#define IS_PAST false, .past = true

static const struct query_info LIST[] = {
#define QUERY(number_, NAME, name_, where, doc_, answer_, about_)                                  \
	{ .number = (number_),                                                                     \
	  .name = #name_,                                                                          \
	  .doc = (doc_),                                                                           \
	  .answer = (answer_),                                                                     \
	  .about = (about_),                                                                       \
	  .placed = IS_##where,                                                                    \
	  .fields = fields_##name_,                                                                \
	  .field_count = COUNT_OF(fields_##name_) - 1 },
#define RESERVED(number_, name_, doc_)                                                             \
	{ .number = (number_),                                                                     \
	  .name = #name_,                                                                          \
	  .doc = (doc_),                                                                           \
	  .answer = "",                                                                            \
	  .about = "",                                                                             \
	  .reserved = true },
#include "protocol/queries.def"
};

const struct query_info *query_list(uint32_t *count)
{
	*count = COUNT_OF(LIST);
	return LIST;
}

const struct query_info *query_info(uint32_t number)
{
	for (uint32_t i = 0; i < COUNT_OF(LIST); i++)
		if (LIST[i].number == number)
			return &LIST[i];
	return NULL;
}

/* Sets the defaults: for fields that a query leaves out, and for members without a field in its kind. */
static const struct wire_query DEFAULTS = {
#define INITIAL_VALUE(name, fallback) .name = (fallback),
#define INITIAL_VECTOR(name, fallback) .name = { fallback },
#define INITIAL_QUATERNION(name, fallback) .name = { fallback },
#define INITIAL_STRUCT(name, fallback)
#define MEMBER(ctype, name, form, fallback, doc) INITIAL_##form(name, fallback)
#include "protocol/queries.def"
};

static void *member_of(struct wire_query *query, const struct query_field *field)
{
	return (uint8_t *)query + field->offset;
}

void query_init(struct wire_query *self, enum wire_query_kind kind)
{
	const struct query_info *info = query_info((uint32_t)kind);
	*self = DEFAULTS;
	self->kind = kind;
	for (uint32_t i = 0; info != NULL && i < info->field_count; i++) {
		const struct query_field *field = &info->fields[i];
		if (field->type == WIRE_ASK_U32)
			*(uint32_t *)member_of(self, field) = (uint32_t)field->fallback;
		if (field->type == WIRE_ASK_REAL)
			*(double *)member_of(self, field) = field->fallback;
	}
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void pack_field(struct wire_packer *out, const struct query_field *field, const void *value)
{
	const struct wire_slice *slice = value;
	switch (field->type) {
	case WIRE_ASK_U32:
		wire_pack_uint(out, *(const uint32_t *)value);
		return;
	case WIRE_ASK_REAL:
	case WIRE_ASK_LENGTH:
		wire_pack_real(out, *(const double *)value);
		return;
	case WIRE_ASK_PLACE:
	case WIRE_ASK_DIRECTION:
	case WIRE_ASK_WAY:
		pack_vector(out, value, 3);
		return;
	case WIRE_ASK_ROTATION:
		pack_vector(out, value, 4);
		return;
	case WIRE_ASK_SHAPE:
	case WIRE_ASK_BODIES:
	case WIRE_ASK_NUMBERS:
		wire_pack_bin(out, slice->at, slice->bytes);
		return;
	case WIRE_ASK_NAME:
		wire_pack_bin(out, ((const struct wire_name *)value)->bytes,
			      sizeof(struct wire_name));
		return;
	}
}

uint32_t query_pack(struct wire_packer *out, const struct wire_query *query)
{
	const struct query_info *info = query_info((uint32_t)query->kind);
	uint32_t count = info != NULL ? info->field_count : 0;
	wire_pack_uint(out, (uint64_t)query->kind);
	for (uint32_t i = 0; i < count; i++)
		pack_field(out, &info->fields[i], (const uint8_t *)query + info->fields[i].offset);
	return 1 + count;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static void take_name(struct taker *self, const char *field, struct wire_name *name)
{
	struct wire_slice bytes;
	if (!more(self, field, true))
		return;
	self->allowed = "a bin of 32 bytes";
	self->status = wire_take_bin(&self->in, &bytes);
	if (self->status == STATUS_OK && bytes.bytes != sizeof name->bytes)
		self->status = STATUS_RANGE;
	if (self->status == STATUS_OK)
		memcpy(name->bytes, bytes.at, sizeof name->bytes);
}

/* Bytes of one item of a bin. */
static uint32_t item_bytes(enum wire_query_type type)
{
	return type == WIRE_ASK_BODIES ? sizeof(uint32_t) : sizeof(double);
}

static void take_items(struct taker *self, const struct query_field *field,
		       struct wire_slice *items)
{
	uint32_t bytes = item_bytes(field->type);
	if (!more(self, field->name, field->needed))
		return;
	self->allowed = field->type == WIRE_ASK_BODIES ? "a bin of 32-bit integers, their number"
						       : "a bin of 64-bit floats, their number";
	self->min = field->min;
	self->max = field->max;
	self->status = wire_take_bin(&self->in, items);
	if (self->status == STATUS_OK &&
	    (items->bytes % bytes != 0 || items->bytes / bytes < field->min ||
	     items->bytes / bytes > field->max))
		self->status = STATUS_RANGE;
}

static void take_bounded(struct taker *self, const struct query_field *field, double *value)
{
	if (!more(self, field->name, field->needed))
		return;
	self->allowed = "a finite number";
	self->min = field->min;
	self->max = field->max;
	self->status = wire_take_real(&self->in, value);
	if (self->status == STATUS_OK && !(*value >= field->min && *value <= field->max))
		self->status = STATUS_RANGE;
}

static void take_whole(struct taker *self, const struct query_field *field, uint32_t *value)
{
	take_u32(self, field->name, field->needed, (uint32_t)field->max, value);
	if (self->status != STATUS_OK || *value >= field->min)
		return;
	self->min = field->min;
	self->status = STATUS_RANGE;
}

static void take_field(struct taker *self, const struct query_field *field, void *value)
{
	switch (field->type) {
	case WIRE_ASK_U32:
		take_whole(self, field, value);
		return;
	case WIRE_ASK_REAL:
		take_bounded(self, field, value);
		return;
	case WIRE_ASK_LENGTH:
		take_real(self, field->name, value);
		return;
	case WIRE_ASK_PLACE:
	case WIRE_ASK_DIRECTION:
	case WIRE_ASK_WAY:
		take_vector(self, field->name, field->needed, value, 3);
		return;
	case WIRE_ASK_ROTATION:
		take_vector(self, field->name, field->needed, value, 4);
		return;
	case WIRE_ASK_SHAPE:
		take_shape(self, value);
		return;
	case WIRE_ASK_NAME:
		take_name(self, field->name, value);
		return;
	case WIRE_ASK_BODIES:
	case WIRE_ASK_NUMBERS:
		take_items(self, field, value);
		return;
	}
}

static enum status complain(const struct taker *taker, struct reason *why)
{
	char allowed[96], min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	if (wire_at_end(&taker->value))
		return reason_set(why, taker->status, -1, taker->field,
				  "%s of the query is missing", taker->field);
	if (taker->max == 0)
		snprintf(allowed, sizeof allowed, "%s", taker->allowed);
	else
		snprintf(allowed, sizeof allowed, "%s within %s and %s", taker->allowed,
			 reason_number(taker->min, min), reason_number(taker->max, max));
	return wire_complain(why, taker->status, -1, taker->field, "the query", taker->value,
			     allowed);
}

/* ---- checks of all queries ----------------------------------------------------------------- */

/* Numbers of a field; 0: it has none. */
static uint32_t numbers_of(enum wire_query_type type)
{
	switch (type) {
	case WIRE_ASK_U32:
	case WIRE_ASK_REAL:
	case WIRE_ASK_LENGTH:
		return 1;
	case WIRE_ASK_PLACE:
	case WIRE_ASK_DIRECTION:
	case WIRE_ASK_WAY:
		return 3;
	case WIRE_ASK_ROTATION:
		return 4;
	case WIRE_ASK_SHAPE:
	case WIRE_ASK_NAME:
	case WIRE_ASK_BODIES:
	case WIRE_ASK_NUMBERS:
		return 0;
	}
	return 0;
}

static double length_of(const double *values, uint32_t count)
{
	double largest = 0, sum = 0;
	for (uint32_t i = 0; i < count; i++)
		largest = MAX_OF(largest, scalar_abs(values[i]));
	for (uint32_t i = 0; i < count && largest > 0; i++)
		sum += (values[i] / largest) * (values[i] / largest);
	return largest * scalar_sqrt(sum);
}

static enum status check_place(const char *field, const double *place, struct reason *why)
{
	for (int axis = 0; axis < 3; axis++)
		if (!(scalar_abs(place[axis]) <= LENGTH_MAX))
			return reason_set(
				why, STATUS_RANGE, -1, field,
				"%s of the query is [%.10g, %.10g, %.10g]: it must be within "
				"±%.10g m on each axis",
				field, place[0], place[1], place[2], LENGTH_MAX);
	return STATUS_OK;
}

static enum status check_length(const char *field, double length, bool zero, struct reason *why)
{
	char text[REASON_NUMBER_BYTES];
	if (length <= 4 * LENGTH_MAX && (zero ? length >= 0 : length > 0))
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, field,
			  "%s of the query is %s m: it must be %s and at most %.10g m", field,
			  reason_number(length, text), zero ? "0 or more" : "over 0",
			  4 * LENGTH_MAX);
}

static enum status check_rotation(const double *rotation, struct reason *why)
{
	double length = length_of(rotation, 4);
	if (length >= 0.5 && length <= 2)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "rotation",
			  "rotation of the query has length %.10g: it must be within 0.5 and 2",
			  length);
}

static enum status check_each(const char *field, const struct wire_slice *column,
			      struct reason *why)
{
	char text[REASON_NUMBER_BYTES];
	for (uint32_t i = 0; i < column->bytes / sizeof(double); i++) {
		double value = wire_column_real(*column, i);
		if (!(scalar_abs(value) <= ROBOT_VALUE_MAX))
			return reason_set(
				why, scalar_is_finite(value) ? STATUS_RANGE : STATUS_NOT_FINITE, -1,
				field,
				"number %u of %s of the query is %s: it must be finite "
				"and within ±%g",
				(unsigned)i, field, reason_number(value, text), ROBOT_VALUE_MAX);
	}
	return STATUS_OK;
}

static enum status check_count(const struct query_field *field, const struct wire_slice *items,
			       struct reason *why)
{
	uint32_t bytes = item_bytes(field->type), count = items->bytes / bytes;
	if (count < field->min || count > field->max)
		return reason_set(why, STATUS_RANGE, -1, field->name,
				  "%s of the query has %u items: it must have %.0f to %.0f",
				  field->name, (unsigned)count, field->min, field->max);
	return field->type == WIRE_ASK_NUMBERS ? check_each(field->name, items, why) : STATUS_OK;
}

/* Checks the values of a query; the world checks later that the bodies exist. */
static enum status check_field(const struct query_field *field, const void *member,
			       struct reason *why)
{
	const double *value = member;
	switch (field->type) {
	case WIRE_ASK_PLACE:
		return check_place(field->name, value, why);
	case WIRE_ASK_DIRECTION:
		if (length_of(value, 3) > 0)
			return STATUS_OK;
		return reason_set(why, STATUS_RANGE, -1, field->name,
				  "%s of the query is [0, 0, 0]: it must not be zero", field->name);
	case WIRE_ASK_LENGTH:
		return check_length(field->name, *value, false, why);
	case WIRE_ASK_WAY:
		return check_length(field->name, length_of(value, 3), true, why);
	case WIRE_ASK_ROTATION:
		return check_rotation(value, why);
	case WIRE_ASK_BODIES:
	case WIRE_ASK_NUMBERS:
		return check_count(field, member, why);
	default:
		return STATUS_OK;
	}
}

/* The first number of a field that its bounds exclude. */
static enum status check_numbers(const struct query_field *field, const void *value,
				 struct reason *why)
{
	char given[REASON_NUMBER_BYTES], min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	uint32_t count = numbers_of(field->type);
	bool whole = field->type == WIRE_ASK_U32;
	bool bounded = whole || field->type == WIRE_ASK_REAL;
	for (uint32_t i = 0; i < count; i++) {
		double number = whole ? *(const uint32_t *)value : ((const double *)value)[i];
		if (!scalar_is_finite(number))
			return reason_set(why, STATUS_NOT_FINITE, -1, field->name,
					  "%s of the query is %s: it must be a finite number",
					  field->name, reason_number(number, given));
		if (bounded && !(number >= field->min && number <= field->max))
			return reason_set(why, STATUS_RANGE, -1, field->name,
					  "%s of the query is %s: it must be within %s and %s",
					  field->name, reason_number(number, given),
					  reason_number(field->min, min),
					  reason_number(field->max, max));
	}
	return STATUS_OK;
}

/* NULL with `why` for a number without a query. */
static const struct query_info *find_query(uint32_t kind, struct reason *why)
{
	const struct query_info *info = query_info(kind);
	if (info == NULL)
		reason_set(why, STATUS_UNSUPPORTED, -1, "kind", "no query has number %d",
			   (int)kind);
	else if (info->reserved)
		reason_set(why, STATUS_UNSUPPORTED, -1, "kind",
			   "query %d (%s) is reserved: this server has no answer to it", (int)kind,
			   info->name);
	return info == NULL || info->reserved ? NULL : info;
}

enum status query_check(const struct wire_query *query, struct reason *why)
{
	const struct query_info *info = find_query((uint32_t)query->kind, why);
	enum status status = info != NULL ? STATUS_OK : STATUS_UNSUPPORTED;
	for (uint32_t i = 0; status == STATUS_OK && i < info->field_count; i++) {
		const struct query_field *field = &info->fields[i];
		const void *value = (const uint8_t *)query + field->offset;
		status = check_numbers(field, value, why);
		if (status == STATUS_OK)
			status = check_field(field, value, why);
	}
	return status;
}

enum status query_take(const struct wire_list *list, struct wire_query *query, struct reason *why)
{
	struct taker taker;
	uint32_t kind = 0;
	taker_open(&taker, list);
	take_u32(&taker, "kind", true, UINT8_MAX, &kind);
	const struct query_info *info = NULL;
	if (taker.status == STATUS_OK && (info = find_query(kind, why)) == NULL)
		return STATUS_UNSUPPORTED;
	query_init(query, (enum wire_query_kind)kind);
	for (uint32_t i = 0; taker.status == STATUS_OK && i < info->field_count; i++)
		take_field(&taker, &info->fields[i], member_of(query, &info->fields[i]));
	if (taker.status != STATUS_OK)
		return complain(&taker, why);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; status == STATUS_OK && i < info->field_count; i++)
		status = check_field(&info->fields[i], member_of(query, &info->fields[i]), why);
	return status;
}
