/* query_long.c: answers to casts, nearest points, mass properties, moves of characters, overlap regions. */
#include "protocol/query_items.h"

#include <string.h>

/* ---- answers ---------------------------------------------------------------------------------- */

void answer_pack_cast_hit(struct wire_packer *out, const struct wire_cast_hit *hit)
{
	wire_pack_array(out, 8);
	wire_pack_uint(out, hit->body);
	wire_pack_uint(out, hit->placement);
	wire_pack_uint(out, hit->child);
	wire_pack_real(out, hit->fraction);
	pack_vector(out, hit->point, 3);
	pack_vector(out, hit->normal, 3);
	wire_pack_real(out, hit->depth);
	wire_pack_uint(out, hit->own_child);
}

enum status answer_take_cast_hit(struct wire_cursor *in, struct wire_cast_hit *hit)
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
	take_real(&taker, "depth", &hit->depth);
	take_u32(&taker, "own_child", true, UINT32_MAX, &hit->own_child);
	return taker.status;
}

static void pack_side(struct wire_packer *out, const struct wire_closest_side *side)
{
	wire_pack_array(out, 5);
	wire_pack_uint(out, side->body);
	wire_pack_uint(out, side->placement);
	wire_pack_uint(out, side->child);
	pack_vector(out, side->point, 3);
	wire_pack_array(out, side->feature_count);
	for (uint32_t i = 0; i < side->feature_count; i++)
		wire_pack_uint(out, side->feature[i]);
}

void answer_pack_closest(struct wire_packer *out, const struct wire_closest *closest)
{
	wire_pack_array(out, closest->found ? 4 : 0);
	if (!closest->found)
		return;
	wire_pack_real(out, closest->distance);
	pack_vector(out, closest->normal, 3);
	pack_side(out, &closest->a);
	pack_side(out, &closest->b);
}

static void take_side(struct taker *outer, const char *field, struct wire_closest_side *side)
{
	struct taker taker;
	struct wire_list list;
	if (!more(outer, field, true))
		return;
	outer->status = open_item(&outer->in, &taker);
	if (outer->status != STATUS_OK)
		return;
	take_u32(&taker, "body", true, UINT32_MAX, &side->body);
	take_u32(&taker, "placement", true, UINT32_MAX, &side->placement);
	take_u32(&taker, "child", true, UINT32_MAX, &side->child);
	take_vector(&taker, "point", true, side->point, 3);
	if (more(&taker, "feature", true))
		taker.status = wire_take_list(&taker.in, &list);
	if (taker.status == STATUS_OK && list.count > WIRE_FEATURE_MAX)
		taker.status = STATUS_RANGE;
	if (taker.status == STATUS_OK) {
		struct taker items;
		taker_open(&items, &list);
		for (; side->feature_count < list.count; side->feature_count++)
			take_u32(&items, "feature", true, UINT32_MAX,
				 &side->feature[side->feature_count]);
		taker.status = items.status;
	}
	outer->status = taker.status;
}

enum status answer_take_closest(struct wire_cursor *in, struct wire_closest *closest)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(closest, 0, sizeof *closest);
	closest->found = taker.left > 0;
	if (!closest->found)
		return STATUS_OK;
	take_real(&taker, "distance", &closest->distance);
	take_vector(&taker, "normal", true, closest->normal, 3);
	take_side(&taker, "a", &closest->a);
	take_side(&taker, "b", &closest->b);
	return taker.status;
}

void answer_pack_mass(struct wire_packer *out, const struct wire_mass *mass)
{
	wire_pack_array(out, 7);
	wire_pack_real(out, mass->mass);
	pack_vector(out, mass->centre, 3);
	pack_vector(out, mass->inertia, 6);
	pack_vector(out, mass->moments, 3);
	pack_vector(out, mass->axes, 4);
	wire_pack_real(out, mass->radius);
	wire_pack_uint(out, mass->bodies);
}

enum status answer_take_mass(struct wire_cursor *in, struct wire_mass *mass)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(mass, 0, sizeof *mass);
	take_real(&taker, "mass", &mass->mass);
	take_vector(&taker, "centre", true, mass->centre, 3);
	take_vector(&taker, "inertia", true, mass->inertia, 6);
	take_vector(&taker, "moments", true, mass->moments, 3);
	take_vector(&taker, "axes", true, mass->axes, 4);
	take_real(&taker, "radius", &mass->radius);
	take_u32(&taker, "bodies", true, UINT32_MAX, &mass->bodies);
	return taker.status;
}

void answer_pack_move(struct wire_packer *out, const struct wire_move *move)
{
	wire_pack_array(out, 7);
	pack_vector(out, move->position, 3);
	pack_vector(out, move->left, 3);
	wire_pack_uint(out, move->flags);
	wire_pack_uint(out, move->iterations);
	wire_pack_real(out, move->climbed);
	if (move->flags & WIRE_MOVE_GROUNDED)
		answer_pack_cast_hit(out, &move->ground);
	else
		wire_pack_nil(out);
	wire_pack_array(out, move->contact_count);
	for (uint32_t i = 0; i < move->contact_count; i++)
		answer_pack_cast_hit(out, &move->contacts[i]);
}

static void take_contacts(struct taker *self, struct wire_move *move)
{
	struct wire_list list;
	if (!more(self, "contacts", true))
		return;
	self->status = wire_take_list(&self->in, &list);
	if (self->status == STATUS_OK && list.count > WIRE_MOVE_CONTACTS_MAX)
		self->status = STATUS_RANGE;
	if (self->status != STATUS_OK)
		return;
	struct wire_cursor items = wire_cursor_list(&list);
	for (; self->status == STATUS_OK && move->contact_count < list.count; move->contact_count++)
		self->status = answer_take_cast_hit(&items, &move->contacts[move->contact_count]);
}

enum status answer_take_move(struct wire_cursor *in, struct wire_move *move)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(move, 0, sizeof *move);
	take_vector(&taker, "position", true, move->position, 3);
	take_vector(&taker, "left", true, move->left, 3);
	take_u32(&taker, "flags", true, UINT32_MAX, &move->flags);
	take_u32(&taker, "iterations", true, UINT32_MAX, &move->iterations);
	take_real(&taker, "climbed", &move->climbed);
	if (more(&taker, "ground", true))
		taker.status = move->flags & WIRE_MOVE_GROUNDED
				       ? answer_take_cast_hit(&taker.in, &move->ground)
				       : wire_skip(&taker.in, NULL);
	take_contacts(&taker, move);
	return taker.status;
}

void answer_pack_region(struct wire_packer *out, const struct wire_region *region)
{
	wire_pack_array(out, 8);
	wire_pack_uint(out, region->placement);
	wire_pack_uint(out, region->other_placement);
	wire_pack_real(out, region->depth);
	wire_pack_real(out, region->volume);
	pack_vector(out, region->point, 3);
	pack_vector(out, region->other_point, 3);
	pack_vector(out, region->normal, 3);
	wire_pack_uint(out, region->contours);
}

enum status answer_take_region(struct wire_cursor *in, struct wire_region *region)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(region, 0, sizeof *region);
	take_u32(&taker, "placement", true, UINT32_MAX, &region->placement);
	take_u32(&taker, "other_placement", true, UINT32_MAX, &region->other_placement);
	take_real(&taker, "depth", &region->depth);
	take_real(&taker, "volume", &region->volume);
	take_vector(&taker, "point", true, region->point, 3);
	take_vector(&taker, "other_point", true, region->other_point, 3);
	take_vector(&taker, "normal", true, region->normal, 3);
	take_u32(&taker, "contours", true, UINT32_MAX, &region->contours);
	return taker.status;
}
