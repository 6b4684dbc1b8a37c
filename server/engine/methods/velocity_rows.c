/* velocity_rows.c: near contacts and joints as constraints, and their rows at velocity level.
 *
 * Constraints of contacts come first, in the order of the list, those of joints after them, so that a
 * binary search finds a contact's constraints. Contacts without points, and contacts between bodies
 * that cannot move, have none. The rows of a state are the blocks of its constraints, in the same
 * order.
 */
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/methods/velocity.h"

#include <string.h>

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* Slot of a body; ROW_NO_BODY if it takes no part in the step. */
static uint32_t slot_of(const struct step *step, uint32_t body)
{
	return step_takes_part(step, body) ? step->dynamics->bodies.items[body].slot : ROW_NO_BODY;
}

static struct body_motion motion_of(const struct velocity_step *self, uint32_t body,
				    const struct body_motion *motions)
{
	uint32_t slot = slot_of(self->step, body);
	return motions != NULL && slot != ROW_NO_BODY ? motions[slot]
						      : dynamics_motion(self->step->dynamics, body);
}

static bool has_movable_body(const struct velocity_step *self, const struct contact_state *contact)
{
	uint32_t a = slot_of(self->step, contact->body_a), b = slot_of(self->step, contact->body_b);
	return (a != ROW_NO_BODY && mass_moves(&self->mass, a)) ||
	       (b != ROW_NO_BODY && mass_moves(&self->mass, b));
}

void velocity_find_contact(const struct velocity_step *self, const struct contact_state *contact,
			   struct body_motion a, struct body_motion b, struct contact_found *out,
			   struct contact_found_point *points)
{
	struct contact_material material =
		contact_material(self->step->dynamics, contact->a, contact->b);
	*out = (struct contact_found){
		.a = a,
		.b = b,
		.normal = contact->normal,
		.normal_of = CONTACT_NORMAL_GIVEN,
		.child_a = contact->a.child,
		.child_b = contact->b.child,
		.surface = { .static_friction = { material.static_friction,
						  material.static_friction },
			     .dynamic_friction = { material.dynamic_friction,
						   material.dynamic_friction },
			     .restitution = material.restitution,
			     .velocity =
				     belt_velocity(self->step->dynamics, contact->a, contact->b) },
		.points = points,
		.point_count = contact->point_count,
	};
	ASSERT(contact->point_count <= MANIFOLD_POINTS_MAX);
	VALIDATE(!(material.static_friction < material.dynamic_friction));
	for (uint32_t p = 0; p < contact->point_count; p++) {
		const struct contact_point *from = &contact->points[p];
		points[p] = (struct contact_found_point){ from->arm_a, from->arm_b,
							  from->separation, from->feature };
	}
}

void velocity_find_turning(const struct velocity_step *self, const struct contact_state *contact,
			   bool fixed_a, bool fixed_b, const struct contact_corner *by,
			   struct contact_found *out)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct shape *a = placement_shape(dynamics, contact->a.placement);
	const struct shape *b = placement_shape(dynamics, contact->b.placement);
	ASSERT(out->point_count > 0);
	double radius_a = shape_is_smooth(a)
				  ? placement_rounding(dynamics, contact->a.placement, out->normal)
				  : 0;
	double radius_b = shape_is_smooth(b) ? placement_rounding(dynamics, contact->b.placement,
								  vec3_negate(out->normal))
					     : 0;
	bool by_b = fixed_b || (radius_a > 0 && !(radius_b > 0));
	out->normal_of = by_b && !fixed_a ? CONTACT_NORMAL_OF_B : CONTACT_NORMAL_OF_A;
	out->radius_a = radius_a;
	out->radius_b = radius_b;
	if (by == NULL || by->normal_of == CONTACT_NORMAL_GIVEN)
		return;
	out->normal_of = by->normal_of;
	out->edge_a = by->edge_a;
	out->edge_b = by->edge_b;
	if (by->normal_of == CONTACT_NORMAL_OF_CENTRES) {
		out->ball_a = vec3_sub(by->ball_a, out->a.centre);
		out->ball_b = vec3_sub(by->ball_b, out->b.centre);
	}
}

/* The level of the rows that a state has. */
static enum constraint_level level_of(const struct velocity_step *self)
{
	return self->settings.accelerations ? CONSTRAINT_ACCELERATION : CONSTRAINT_VELOCITY;
}

static struct constraint_options options_of(const struct velocity_step *self,
					    enum constraint_level level)
{
	return (struct constraint_options){
		.level = level,
		.friction = self->settings.method.friction ? CONSTRAINT_PYRAMID : CONSTRAINT_SMOOTH,
	};
}

static void append_rows(const struct velocity_step *self, uint32_t index,
			const struct body_motion *motions, const struct constraint_options *options,
			struct row_list *out)
{
	ASSERT(index < self->constraint_count);
	const struct constraint *of = &self->constraints[index];
	bool given_a = motions == NULL || of->body_a == ROW_NO_BODY;
	bool given_b = motions == NULL || of->body_b == ROW_NO_BODY;
	ASSERT(options->motions == motions);
	of->kind->rows(of, index, given_a ? NULL : &motions[of->body_a],
		       given_b ? NULL : &motions[of->body_b], options, out);
}

void velocity_constraint_rows(const struct velocity_step *self, uint32_t index,
			      const struct body_motion *motions, struct row_list *out)
{
	struct constraint_options options = options_of(self, level_of(self));
	options.motions = motions;
	append_rows(self, index, motions, &options, out);
}

void velocity_constraint_gaps(const struct velocity_step *self, uint32_t index,
			      const struct body_motion *motions, struct row_list *out)
{
	bool contact = index < self->contact_count;
	struct constraint_options options =
		options_of(self, contact ? CONSTRAINT_POSITION : level_of(self));
	options.motions = motions;
	append_rows(self, index, motions, &options, out);
}

enum status velocity_rows(struct velocity_step *self, const struct body_motion *motions, bool moved,
			  enum constraint_level level)
{
	struct constraint_options options = options_of(self, level);
	options.motions = motions;
	self->at = motions;
	struct constraint_room room =
		constraint_room(self->constraints, self->constraint_count, &options);
	self->rows = (struct row_list){ .rows = ALLOCATE(struct constraint_row, room.rows),
					.blocks = ALLOCATE(struct row_block, room.blocks),
					.parts = ALLOCATE(struct row_part, room.parts),
					.row_capacity = room.rows,
					.block_capacity = room.blocks,
					.part_capacity = room.parts };
	self->first_block = ALLOCATE(uint32_t, self->constraint_count + 1);
	self->impulses = ALLOCATE(struct velocity_impulse, room.blocks);
	if (self->rows.rows == NULL || self->rows.blocks == NULL || self->rows.parts == NULL ||
	    self->first_block == NULL || self->impulses == NULL)
		return STATUS_NO_MEMORY;
	constraint_rows(self->constraints, self->contact_count, moved ? motions : NULL, &options,
			&self->rows);
	for (uint32_t c = self->contact_count; c < self->constraint_count; c++)
		append_rows(self, c, motions, &options, &self->rows);
	ASSERT(self->rows.block_count <= room.blocks && self->rows.row_count <= room.rows);
	memset(self->impulses, 0, self->rows.block_count * sizeof *self->impulses);
	for (uint32_t block = 0, c = 0; c <= self->constraint_count; c++) {
		while (block < self->rows.block_count && self->rows.blocks[block].constraint < c)
			block++;
		self->first_block[c] = block;
	}
	ASSERT(self->first_block[self->constraint_count] == self->rows.block_count);
	return STATUS_OK;
}

/* The most constraints and points that a contact makes. */
static uint32_t capacity_of(const struct velocity_step *self, const struct contact_state *contact,
			    uint32_t *points)
{
	ASSERT(contact->point_count <= MANIFOLD_POINTS_MAX);
	*points = 0;
	if (contact->point_count == 0 || !has_movable_body(self, contact))
		return 0;
	bool prints = velocity_is_printed(self, contact);
	*points = prints ? velocity_printed_max(self, contact) : contact->point_count;
	return prints ? *points : 1;
}

void velocity_add_contact(struct velocity_step *self, uint32_t index,
			  const struct contact_found *found, uint32_t slot_a, uint32_t slot_b)
{
	uint32_t at = self->constraint_count++;
	VALIDATE(at == 0 || self->contact_of[at - 1] <= index);
	self->contact_of[at] = index;
	self->constraints[at] = (struct constraint){ .kind = &constraint_contact,
						     .body_a = slot_a,
						     .body_b = slot_b,
						     .source = self->list->items[index].row,
						     .data = found };
}

enum status velocity_state(struct velocity_step *self, struct contact_list *list,
			   const struct body_motion *motions)
{
	uint32_t count = 0, points = 0, more;
	self->list = list; /* borrowed */
	for (uint32_t i = 0; i < list->count; i++) {
		count += capacity_of(self, &list->items[i], &more);
		points += more;
	}
	struct contact_found *found = ALLOCATE(struct contact_found, count);
	struct contact_found_point *point = ALLOCATE(struct contact_found_point, points);
	self->constraints = ALLOCATE(struct constraint, (size_t)count + self->joints.count);
	self->contact_of = ALLOCATE(uint32_t, count);
	if (found == NULL || point == NULL || self->constraints == NULL || self->contact_of == NULL)
		return STATUS_NO_MEMORY;
	self->constraint_count = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct contact_state *contact = &list->items[i];
		if (capacity_of(self, contact, &more) == 0)
			continue;
		uint32_t made = 1;
		velocity_find_contact(self, contact, motion_of(self, contact->body_a, motions),
				      motion_of(self, contact->body_b, motions), found, point);
		if (velocity_is_printed(self, contact)) {
			struct contact_found like = *found;
			made = velocity_find_printed(self, contact, &like, found, point);
			ASSERT(made <= more);
			more = made;
		}
		for (uint32_t k = 0; k < made; k++)
			velocity_add_contact(self, i, &found[k],
					     slot_of(self->step, contact->body_a),
					     slot_of(self->step, contact->body_b));
		found += made;
		point += more;
	}
	self->contact_count = self->constraint_count;
	ASSERT(self->contact_count <= count);
	for (uint32_t j = 0; j < self->joints.count; j++)
		self->constraints[self->constraint_count++] = self->joints.constraints[j];
	return velocity_rows(self, motions, false, level_of(self));
}

enum status velocity_state_moved(struct velocity_step *self, const struct body_motion *motions)
{
	return velocity_rows(self, motions, true, level_of(self));
}

/* The first constraint of a contact at or after `contact`; contact_count if there is none. */
static uint32_t first_constraint(const struct velocity_step *self, uint32_t contact)
{
	uint32_t low = 0, high = self->contact_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->contact_of[middle] < contact)
			low = middle + 1;
		else
			high = middle;
	}
	VALIDATE(low == self->contact_count || self->contact_of[low] >= contact);
	return low;
}

void velocity_blocks_of(const struct velocity_step *self, uint32_t index, uint32_t *first,
			uint32_t *last)
{
	*first = self->first_block[first_constraint(self, index)];
	*last = self->first_block[first_constraint(self, index + 1)];
	ASSERT(*first <= *last && *last <= self->rows.block_count);
}
