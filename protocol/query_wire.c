#include "protocol/query_items.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/engine/types.h"

void query_init(struct wire_query *self, enum wire_query_kind kind)
{
	bool one = kind == WIRE_QUERY_RAY || kind == WIRE_QUERY_CAST;
	*self = (struct wire_query){.kind = kind,
				    .limit = one ? 1 : kind == WIRE_QUERY_REGIONS ? 64 : 1024,
				    .length = kind == WIRE_QUERY_CLOSEST ? 1000 : 0,
				    .iterations = 4,
				    .slope = 0.7,
				    .skin = 0.001,
				    .rotation = {1, 0, 0, 0},
				    .category = UINT32_MAX,
				    .mask = UINT32_MAX};
}

static void pack_filter(struct wire_packer *out, const struct wire_query *query)
{
	wire_pack_uint(out, query->limit);
	wire_pack_uint(out, query->category);
	wire_pack_uint(out, query->mask);
	wire_pack_uint(out, query->ignore);
}

uint32_t query_pack(struct wire_packer *out, const struct wire_query *query)
{
	wire_pack_uint(out, (uint64_t)query->kind);
	switch (query->kind) {
	case WIRE_QUERY_RAY:
		pack_vector(out, query->origin, 3);
		pack_vector(out, query->direction, 3);
		wire_pack_real(out, query->length);
		pack_filter(out, query);
		return 8;
	case WIRE_QUERY_OVERLAP:
		wire_pack_bin(out, query->shape.at, query->shape.bytes);
		pack_vector(out, query->origin, 3);
		pack_vector(out, query->rotation, 4);
		pack_filter(out, query);
		return 8;
	case WIRE_QUERY_CONTACTS:
		wire_pack_uint(out, query->body);
		wire_pack_uint(out, query->limit);
		return 3;
	case WIRE_QUERY_TOTALS:
		return 1;
	case WIRE_QUERY_BODY:
		wire_pack_uint(out, query->body);
		return 2;
	case WIRE_QUERY_GEOMETRY:
		wire_pack_bin(out, query->name.bytes, sizeof query->name.bytes);
		wire_pack_uint(out, query->part);
		return 3;
	default:
		return query_pack_long(out, query);
	}
}

/* ---- taking ------------------------------------------------------------------------------- */

static void take_filter(struct taker *self, struct wire_query *query)
{
	take_u32(self, "limit", false, WIRE_QUERY_LIMIT_MAX, &query->limit);
	take_u32(self, "category", false, UINT32_MAX, &query->category);
	take_u32(self, "mask", false, UINT32_MAX, &query->mask);
	take_u32(self, "ignore", false, UINT32_MAX, &query->ignore);
}

static void take_name(struct taker *self, struct wire_name *name)
{
	struct wire_slice bytes;
	if (!more(self, "name", true))
		return;
	self->allowed = "a bin of 32 bytes";
	self->status = wire_take_bin(&self->in, &bytes);
	if (self->status == STATUS_OK && bytes.bytes != sizeof name->bytes)
		self->status = STATUS_RANGE;
	if (self->status == STATUS_OK)
		memcpy(name->bytes, bytes.at, sizeof name->bytes);
}

static void take_by_kind(struct taker *self, struct wire_query *query)
{
	switch (query->kind) {
	case WIRE_QUERY_RAY:
		take_vector(self, "origin", true, query->origin, 3);
		take_vector(self, "direction", true, query->direction, 3);
		take_real(self, "length", &query->length);
		take_filter(self, query);
		return;
	case WIRE_QUERY_OVERLAP:
		take_shape(self, &query->shape);
		take_vector(self, "position", true, query->origin, 3);
		take_vector(self, "rotation", false, query->rotation, 4);
		take_filter(self, query);
		return;
	case WIRE_QUERY_CONTACTS:
		take_u32(self, "body", false, UINT32_MAX, &query->body);
		take_u32(self, "limit", false, WIRE_QUERY_LIMIT_MAX, &query->limit);
		return;
	case WIRE_QUERY_TOTALS:
		return;
	case WIRE_QUERY_BODY:
		take_u32(self, "body", true, UINT32_MAX, &query->body);
		return;
	case WIRE_QUERY_GEOMETRY:
		take_name(self, &query->name);
		take_u32(self, "part", false, WIRE_SHAPE_PARTS, &query->part);
		return;
	default:
		query_take_long(self, query);
		return;
	}
}

static enum status complain(const struct taker *taker, struct reason *why)
{
	char allowed[96], min[REASON_NUMBER_BYTES], max[REASON_NUMBER_BYTES];
	if (wire_at_end(&taker->value))
		return reason_set(why, taker->status, -1, taker->field, "%s of the query is missing",
				  taker->field);
	if (taker->max == 0)
		snprintf(allowed, sizeof allowed, "%s", taker->allowed);
	else
		snprintf(allowed, sizeof allowed, "%s within %s and %s", taker->allowed,
			 reason_number(taker->min, min), reason_number(taker->max, max));
	return wire_complain(why, taker->status, -1, taker->field, "the query", taker->value, allowed);
}

/* ---- what every question holds to ---------------------------------------------------------- */

static double length_of(const double *values, uint32_t count)
{
	double largest = 0, sum = 0;
	for (uint32_t i = 0; i < count; i++)
		largest = MAX_OF(largest, fabs(values[i]));
	for (uint32_t i = 0; i < count && largest > 0; i++)
		sum += (values[i] / largest) * (values[i] / largest);
	return largest * sqrt(sum);
}

static enum status check_place(const char *field, const double *place, struct reason *why)
{
	for (int axis = 0; axis < 3; axis++)
		if (!(fabs(place[axis]) <= LENGTH_MAX))
			return reason_set(why, STATUS_RANGE, -1, field,
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
			  "%s of the query is %s m: it must be %s, at most %.10g",
			  field, reason_number(length, text), zero ? "0 or more" : "over 0",
			  4 * LENGTH_MAX);
}

static enum status check_rotation(const double *rotation, struct reason *why)
{
	double length = length_of(rotation, 4);
	if (length >= 0.5 && length <= 2)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "rotation",
			  "rotation of the query has length %.10g: it must be within 0.5 and 2", length);
}

static enum status check_ray(const struct wire_query *query, struct reason *why)
{
	enum status status = check_place("origin", query->origin, why);
	if (status == STATUS_OK && !(length_of(query->direction, 3) > 0))
		status = reason_set(why, STATUS_RANGE, -1, "direction",
				    "direction of the query is [0, 0, 0]: it must not be");
	return status == STATUS_OK ? check_length("length", query->length, false, why) : status;
}

/* Values that may be asked about; whether there is a body of a number is the world's to say. */
static enum status check_values(const struct wire_query *query, struct reason *why)
{
	enum status status;
	switch (query->kind) {
	case WIRE_QUERY_RAY:
		return check_ray(query, why);
	case WIRE_QUERY_OVERLAP:
	case WIRE_QUERY_CAST:
	case WIRE_QUERY_MOVE:
		status = check_place("position", query->origin, why);
		if (status == STATUS_OK && query->kind != WIRE_QUERY_OVERLAP)
			status = check_length("way", length_of(query->direction, 3), true, why);
		return status == STATUS_OK ? check_rotation(query->rotation, why) : status;
	default:
		return STATUS_OK;
	}
}

enum status query_take(const struct wire_list *list, struct wire_query *query, struct reason *why)
{
	struct taker taker;
	uint32_t kind = 0;
	taker_open(&taker, list);
	take_u32(&taker, "kind", true, UINT8_MAX, &kind);
	if (taker.status == STATUS_OK && (kind < WIRE_QUERY_RAY || kind > WIRE_QUERY_LAST))
		return reason_set(why, STATUS_UNSUPPORTED, -1, "kind", "no query has number %d",
				  (int)kind);
	query_init(query, (enum wire_query_kind)kind);
	if (taker.status == STATUS_OK)
		take_by_kind(&taker, query);
	return taker.status == STATUS_OK ? check_values(query, why) : complain(&taker, why);
}

/* ---- answers ----------------------------------------------------------------------------- */

void answer_pack_hit(struct wire_packer *out, const struct wire_ray_hit *hit)
{
	wire_pack_array(out, 6);
	wire_pack_uint(out, hit->body);
	wire_pack_uint(out, hit->placement);
	wire_pack_uint(out, hit->child);
	wire_pack_real(out, hit->fraction);
	pack_vector(out, hit->point, 3);
	pack_vector(out, hit->normal, 3);
}

void answer_pack_contact(struct wire_packer *out, const struct wire_contact *contact)
{
	wire_pack_array(out, 9);
	wire_pack_uint(out, contact->a);
	wire_pack_uint(out, contact->b);
	wire_pack_uint(out, contact->child_a);
	wire_pack_uint(out, contact->child_b);
	pack_vector(out, contact->point, 3);
	pack_vector(out, contact->normal, 3);
	wire_pack_real(out, contact->separation);
	wire_pack_real(out, contact->impulse);
	pack_vector(out, contact->friction, 3);
}

void answer_pack_totals(struct wire_packer *out, const struct wire_totals *totals)
{
	wire_pack_array(out, 4);
	wire_pack_real(out, totals->kinetic);
	wire_pack_real(out, totals->potential);
	pack_vector(out, totals->linear, 3);
	pack_vector(out, totals->angular, 3);
}

static void pack_placements(struct wire_packer *out, const struct wire_body *body)
{
	wire_pack_array(out, body->shape_count);
	for (uint32_t i = 0; i < body->shape_count; i++) {
		struct wire_placement placement;
		wire_placement_get(body->shapes + (size_t)i * WIRE_SHAPE_BYTES, &placement);
		wire_pack_array(out, 3);
		wire_pack_bin(out, placement.shape.bytes, sizeof placement.shape.bytes);
		pack_vector(out, placement.position, 3);
		pack_vector(out, placement.rotation, 4);
	}
}

void answer_pack_body(struct wire_packer *out, const struct wire_body_facts *facts)
{
	const struct wire_body *body = &facts->body;
	wire_pack_array(out, 12);
	wire_pack_uint(out, body->id);
	wire_pack_uint(out, body->status);
	wire_pack_uint(out, body->flags);
	wire_pack_uint(out, body->owner);
	wire_pack_int(out, body->tag);
	pack_vector(out, body->position, 3);
	pack_vector(out, body->rotation, 4);
	pack_vector(out, body->velocity, 3);
	pack_vector(out, body->spin, 3);
	wire_pack_real(out, facts->mass);
	pack_vector(out, facts->centre, 3);
	pack_placements(out, body);
}

void answer_pack_geometry(struct wire_packer *out, const struct wire_geometry *geometry)
{
	wire_pack_array(out, 3);
	wire_pack_uint(out, geometry->part);
	wire_pack_uint(out, geometry->of);
	wire_pack_bin(out, geometry->data.at, geometry->data.bytes);
}

enum status answer_take_hit(struct wire_cursor *in, struct wire_ray_hit *hit)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(hit, 0, sizeof *hit);
	take_u32(&taker, "body", true, UINT32_MAX, &hit->body);
	take_u32(&taker, "placement", true, UINT32_MAX, &hit->placement);
	take_u32(&taker, "child", true, UINT32_MAX, &hit->child);
	take_real(&taker, "fraction", &hit->fraction);
	take_vector(&taker, "point", true, hit->point, 3);
	take_vector(&taker, "normal", true, hit->normal, 3);
	return taker.status;
}

enum status answer_take_contact(struct wire_cursor *in, struct wire_contact *contact)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(contact, 0, sizeof *contact);
	take_u32(&taker, "a", true, UINT32_MAX, &contact->a);
	take_u32(&taker, "b", true, UINT32_MAX, &contact->b);
	take_u32(&taker, "child_a", true, UINT32_MAX, &contact->child_a);
	take_u32(&taker, "child_b", true, UINT32_MAX, &contact->child_b);
	take_vector(&taker, "point", true, contact->point, 3);
	take_vector(&taker, "normal", true, contact->normal, 3);
	take_real(&taker, "separation", &contact->separation);
	take_real(&taker, "impulse", &contact->impulse);
	take_vector(&taker, "friction", true, contact->friction, 3);
	return taker.status;
}

enum status answer_take_totals(struct wire_cursor *in, struct wire_totals *totals)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(totals, 0, sizeof *totals);
	take_real(&taker, "kinetic", &totals->kinetic);
	take_real(&taker, "potential", &totals->potential);
	take_vector(&taker, "linear", true, totals->linear, 3);
	take_vector(&taker, "angular", true, totals->angular, 3);
	return taker.status;
}

static enum status take_placement(struct wire_cursor *in, struct wire_placement *placement)
{
	struct taker taker;
	struct wire_slice name = {NULL, 0};
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_shape(&taker, &name);
	if (taker.status == STATUS_OK && name.bytes != sizeof placement->shape.bytes)
		return STATUS_RANGE;
	take_vector(&taker, "position", true, placement->position, 3);
	take_vector(&taker, "rotation", true, placement->rotation, 4);
	if (taker.status == STATUS_OK)
		memcpy(placement->shape.bytes, name.at, sizeof placement->shape.bytes);
	return taker.status;
}

static enum status take_placements(struct taker *taker, struct wire_body *body, uint8_t *shapes)
{
	struct wire_list list;
	if (!more(taker, "shapes", true))
		return taker->status;
	enum status status = wire_take_list(&taker->in, &list);
	if (status == STATUS_OK && list.count > WIRE_BODY_SHAPES)
		status = STATUS_RANGE;
	if (status != STATUS_OK)
		return status;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_placement placement;
		status = take_placement(&items, &placement);
		if (status != STATUS_OK)
			return status;
		wire_placement_put(shapes + (size_t)i * WIRE_SHAPE_BYTES, &placement);
	}
	body->shape_count = (uint8_t)list.count;
	body->shapes = shapes;
	return STATUS_OK;
}

enum status answer_take_body(struct wire_cursor *in, struct wire_body_facts *facts, uint8_t *shapes)
{
	struct taker taker;
	struct wire_body *body = &facts->body;
	uint32_t body_status = 0, flags = 0;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(facts, 0, sizeof *facts);
	take_u32(&taker, "id", true, UINT32_MAX, &body->id);
	take_u32(&taker, "status", true, UINT8_MAX, &body_status);
	take_u32(&taker, "flags", true, UINT8_MAX, &flags);
	take_u32(&taker, "owner", true, UINT32_MAX, &body->owner);
	if (more(&taker, "tag", true))
		taker.status = wire_take_int(&taker.in, &body->tag);
	take_vector(&taker, "position", true, body->position, 3);
	take_vector(&taker, "rotation", true, body->rotation, 4);
	take_vector(&taker, "velocity", true, body->velocity, 3);
	take_vector(&taker, "spin", true, body->spin, 3);
	take_real(&taker, "mass", &facts->mass);
	take_vector(&taker, "centre", true, facts->centre, 3);
	body->status = (uint8_t)body_status;
	body->flags = (uint8_t)flags;
	return take_placements(&taker, body, shapes);
}

enum status answer_take_geometry(struct wire_cursor *in, struct wire_geometry *geometry)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(geometry, 0, sizeof *geometry);
	take_u32(&taker, "part", true, UINT32_MAX, &geometry->part);
	take_u32(&taker, "of", true, UINT32_MAX, &geometry->of);
	if (more(&taker, "data", true))
		taker.status = wire_take_bin(&taker.in, &geometry->data);
	return taker.status;
}
