/* gauss_carried.c: bodies that points carry, in a step of `gauss` (dynamics/carrier.h).
 *
 * A contact's row has its parts on the points, by the derivative of where they put the body, so that
 * bars, contacts and points are one problem, and a body of a rigid framework has the accelerations of a
 * rigid body with the same moments (papers R-02). After each motion of the points the body is put where
 * they are, which is what later rounds measure gaps at.
 *
 * A contact joins the points of both bodies, but a constraint names two slots; so the islands are made
 * from the constraints and from links between the points of each body, which have no rows. */
#include "server/engine/methods/gauss.h"

#include <string.h>

#define ALLOCATE(type, count) ARENA_ARRAY(&solve->step->dynamics->scratch, type, count)

/* ---- bodies ----------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct step *step, uint32_t body)
{
	return step_takes_part(step, body) ? step->dynamics->bodies.items[body].slot : ROW_NO_BODY;
}

/* Whether the body of a carrier row and all its points take part. */
static bool find_slots(const struct step *step, uint32_t row, struct gauss_carried *out)
{
	const struct tables *tables = step->dynamics->tables;
	out->frame = carrier_frame_of(tables, row);
	out->slot = slot_of(step, tables->carrier.body[row] - 1);
	bool all = out->slot != ROW_NO_BODY;
	for (uint32_t k = 0; k < out->frame.count; k++) {
		out->points[k] = slot_of(step, carrier_point(tables, row, k));
		all &= out->points[k] != ROW_NO_BODY;
	}
	return all;
}

static void place(const struct gauss_carried *of, struct body_motion *motions)
{
	struct body_motion points[CARRIER_POINTS];
	for (uint32_t k = 0; k < of->frame.count; k++)
		points[k] = motions[of->points[k]];
	motions[of->slot] = carrier_place(&of->frame, points, &motions[of->slot]);
}

enum status gauss_carriers_find(struct gauss_carriers *self, const struct velocity_step *solve,
				struct body_motion *start)
{
	const struct step *step = solve->step;
	const struct bitset *used = &step->dynamics->carrier_used;
	*self = (struct gauss_carriers){ .items = NULL };
	if (used->count == 0)
		return STATUS_OK;
	self->items = ALLOCATE(struct gauss_carried, used->count);
	self->of_slot = ALLOCATE(uint32_t, step->body_count);
	if (self->items == NULL || self->of_slot == NULL)
		return STATUS_NO_MEMORY;
	memset(self->of_slot, 0xff, step->body_count * sizeof *self->of_slot);
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE;
	     row = bitset_next(used, row + 1)) {
		struct gauss_carried *item = &self->items[self->count];
		if (!find_slots(step, row, item))
			continue;
		ASSERT(self->of_slot[item->slot] == UINT32_MAX);
		self->of_slot[item->slot] = self->count++;
		/* Commands may have changed velocities of points since the last step. */
		place(item, start);
	}
	return STATUS_OK;
}

void gauss_carriers_place(const struct gauss_carriers *self, const struct velocity_step *solve,
			  uint32_t island, struct body_motion *motions)
{
	UNUSED(solve);
	ASSERT(island == UINT32_MAX || self->count == 0 || island < solve->islands.count);
	if (self->count == 0)
		return;
	uint32_t first = island == UINT32_MAX ? 0 : self->first[island];
	uint32_t last = island == UINT32_MAX ? self->count : self->first[island + 1];
	for (uint32_t i = first; i < last; i++)
		place(&self->items[island == UINT32_MAX ? i : self->order[i]], motions);
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* Adds to the part of the last row on a slot, or appends it: two bodies may share a point. */
static void add_part(struct row_list *out, uint32_t slot, struct spatial on)
{
	struct constraint_row *row = &out->rows[out->row_count - 1];
	struct row_part *parts = out->parts + out->part_count - row->j.count;
	ASSERT(row->j.parts == parts);
	for (uint32_t k = 0; k < row->j.count; k++)
		if (parts[k].slot == slot) {
			parts[k].on = spatial_mul_add(parts[k].on, on, 1);
			return;
		}
	row_list_part(out, slot, on);
}

/* The contact as one of bodies that move by themselves. */
static struct constraint plain_contact(const struct constraint *self)
{
	struct constraint plain = *self;
	const struct gauss_carried_contact *contact = self->data;
	plain.kind = &constraint_contact;
	plain.data = &contact->found;
	return plain;
}

static struct constraint_room carried_room(const struct constraint *self,
					   const struct constraint_options *options)
{
	struct constraint plain = plain_contact(self);
	struct constraint_room room = constraint_contact.room(&plain, options);
	room.parts = ROW_PARTS_MAX * room.rows;
	return room;
}

static void carried_rows(const struct constraint *self, uint32_t index, const struct body_motion *a,
			 const struct body_motion *b, const struct constraint_options *options,
			 struct row_list *out)
{
	const struct gauss_carried_contact *contact = self->data;
	const quat rotations[2] = { (a != NULL ? a : &contact->found.a)->rotation,
				    (b != NULL ? b : &contact->found.b)->rotation };
	uint32_t first = out->row_count;
	struct constraint plain = plain_contact(self);
	constraint_contact.rows(&plain, index, a, b, options, out);
	ASSERT(out->row_count == first + 1); /* one point, no friction */
	struct constraint_row *row = &out->rows[first];
	struct row_part parts[2];
	uint32_t count = row->j.count;
	ASSERT(count <= 2 && row->j.parts == out->parts + out->part_count - count);
	memcpy(parts, row->j.parts, count * sizeof *parts);
	out->part_count -= count;
	row->j.count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t side = parts[i].slot == self->body_a ? 0 : 1;
		const struct gauss_carried *of = contact->sides[side];
		if (of == NULL)
			add_part(out, parts[i].slot, parts[i].on);
		for (uint32_t k = 0; of != NULL && k < of->frame.count; k++)
			add_part(out, of->points[k],
				 carrier_part(&of->frame, rotations[side], parts[i].on, k));
	}
}

const struct constraint_kind gauss_contact_carried = { "carried contact", carried_room,
						       carried_rows };

/* ---- islands ------------------------------------------------------------------------------------ */

static uint32_t linked_slot(const struct gauss_carriers *self, uint32_t slot)
{
	const struct gauss_carried *of = gauss_carried_at(self, slot);
	return of != NULL ? of->points[0] : slot;
}

/* Sorts the carried bodies by their islands, which count. */
static enum status sort_by_islands(struct gauss_carriers *self, const struct velocity_step *solve)
{
	uint32_t islands = solve->islands.count;
	self->order = ALLOCATE(uint32_t, self->count);
	self->first = ALLOCATE(uint32_t, islands + 2);
	if (self->order == NULL || self->first == NULL)
		return STATUS_NO_MEMORY;
	memset(self->first, 0, (islands + 2) * sizeof *self->first);
	for (uint32_t i = 0; i < self->count; i++)
		self->first[solve->islands.island_of[self->items[i].points[0]] + 2]++;
	for (uint32_t i = 2; i < islands + 2; i++)
		self->first[i] += self->first[i - 1];
	for (uint32_t i = 0; i < self->count; i++)
		self->order[self->first[solve->islands.island_of[self->items[i].points[0]] + 1]++] =
			i;
	ASSERT(self->first[islands] == self->count);
	return STATUS_OK;
}

enum status gauss_carriers_islands(struct gauss_carriers *self, struct velocity_step *solve)
{
	uint32_t count = solve->constraint_count;
	struct arena *arena = &solve->step->dynamics->scratch;
	if (self->count == 0)
		return islands_make(arena, &solve->mass, solve->constraints, count,
				    &solve->islands);
	size_t most = (size_t)count + (size_t)(CARRIER_POINTS - 1) * self->count;
	struct constraint *linked = ALLOCATE(struct constraint, most);
	if (linked == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		linked[i] = solve->constraints[i];
		linked[i].body_a = linked_slot(self, linked[i].body_a);
		linked[i].body_b = linked_slot(self, linked[i].body_b);
	}
	uint32_t all = count;
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t k = 1; k < self->items[i].frame.count; k++)
			linked[all++] = (struct constraint){ .body_a = self->items[i].points[k - 1],
							     .body_b = self->items[i].points[k] };
	enum status status = islands_make(arena, &solve->mass, linked, all, &solve->islands);
	for (uint32_t i = 0; status == STATUS_OK && i < solve->islands.count; i++) {
		struct island *island = &solve->islands.items[i];
		while (island->constraint_count > 0 &&
		       island->constraints[island->constraint_count - 1] >= count)
			island->constraint_count--; /* the links come last */
	}
	return status == STATUS_OK ? sort_by_islands(self, solve) : status;
}
