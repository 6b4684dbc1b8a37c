/* query_wire.c: answers to rays, contacts, totals, bodies and geometry. */
#include "protocol/query_items.h"

#include <string.h>

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

static void pack_contact_fields(struct wire_packer *out, const struct wire_contact *contact)
{
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

void answer_pack_contact(struct wire_packer *out, const struct wire_contact *contact)
{
	wire_pack_array(out, 9);
	pack_contact_fields(out, contact);
}

void answer_pack_force(struct wire_packer *out, const struct wire_force *force)
{
	wire_pack_array(out, 10);
	pack_contact_fields(out, &force->contact);
	wire_pack_uint(out, force->known);
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

static void pack_mover(struct wire_packer *out, const struct wire_mover *mover)
{
	wire_pack_array(out, 10);
	wire_pack_uint(out, mover->flags);
	wire_pack_uint(out, mover->ground);
	wire_pack_uint(out, mover->squeezes);
	pack_vector(out, mover->normal, 3);
	pack_vector(out, mover->velocity, 3);
	pack_vector(out, mover->wish, 3);
	wire_pack_real(out, mover->step_height);
	wire_pack_real(out, mover->slope);
	wire_pack_real(out, mover->push_force);
	wire_pack_real(out, mover->snap);
}

void answer_pack_body(struct wire_packer *out, const struct wire_body_facts *facts)
{
	const struct wire_body *body = &facts->body;
	wire_pack_array(out, facts->walks ? 13 : 12);
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
	if (facts->walks)
		pack_mover(out, &facts->mover);
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

static void take_contact_fields(struct taker *taker, struct wire_contact *contact)
{
	memset(contact, 0, sizeof *contact);
	take_u32(taker, "a", true, UINT32_MAX, &contact->a);
	take_u32(taker, "b", true, UINT32_MAX, &contact->b);
	take_u32(taker, "child_a", true, UINT32_MAX, &contact->child_a);
	take_u32(taker, "child_b", true, UINT32_MAX, &contact->child_b);
	take_vector(taker, "point", true, contact->point, 3);
	take_vector(taker, "normal", true, contact->normal, 3);
	take_real(taker, "separation", &contact->separation);
	take_real(taker, "impulse", &contact->impulse);
	take_vector(taker, "friction", true, contact->friction, 3);
}

enum status answer_take_contact(struct wire_cursor *in, struct wire_contact *contact)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_contact_fields(&taker, contact);
	return taker.status;
}

enum status answer_take_force(struct wire_cursor *in, struct wire_force *force)
{
	struct taker taker;
	uint32_t known = 0;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_contact_fields(&taker, &force->contact);
	take_u32(&taker, "known", true, FORCE_KNOWN_KINDS - 1, &known);
	force->known = (uint8_t)known;
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
	struct wire_slice name = { NULL, 0 };
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

/* Only the facts of a mover have it. */
static enum status take_mover(struct taker *outer, struct wire_body_facts *facts)
{
	struct taker taker;
	struct wire_mover *mover = &facts->mover;
	facts->walks = more(outer, "mover", false);
	if (!facts->walks || outer->status != STATUS_OK)
		return outer->status;
	enum status status = open_item(&outer->in, &taker);
	if (status != STATUS_OK)
		return status;
	take_u32(&taker, "flags", true, UINT32_MAX, &mover->flags);
	take_u32(&taker, "ground", true, UINT32_MAX, &mover->ground);
	take_u32(&taker, "squeezes", true, UINT32_MAX, &mover->squeezes);
	take_vector(&taker, "normal", true, mover->normal, 3);
	take_vector(&taker, "velocity", true, mover->velocity, 3);
	take_vector(&taker, "wish", true, mover->wish, 3);
	take_real(&taker, "step_height", &mover->step_height);
	take_real(&taker, "slope", &mover->slope);
	take_real(&taker, "push_force", &mover->push_force);
	take_real(&taker, "snap", &mover->snap);
	return taker.status;
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
	status = take_placements(&taker, body, shapes);
	if (status == STATUS_OK)
		status = take_mover(&taker, facts);
	return status;
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
