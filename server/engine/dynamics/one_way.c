/* See one_way.h. */
#include "server/engine/dynamics/one_way.h"

#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/tuning.h"

#include <string.h>

/* 1. Least cosine between the normal at a first touch and the direction: 60 degrees. Larger: bodies
 * fall past the edges of platforms; smaller: they hang on their flanks. */
#define ONE_WAY_FACING 0.5
/* m, and part of the least extent of the pieces that move. An overlap that counts as none at a first
 * touch. Larger: bodies that turn back just below the surface land; smaller: the rounding of positions
 * lets resting ones through. */
#define ONE_WAY_SLOP 1e-3
#define ONE_WAY_SLOP_PART 0.05

enum passage one_way_between(const struct dynamics *self, uint32_t a, uint32_t b)
{
	ASSERT(a != b);
	const struct tables *tables = self->tables;
	uint32_t at_a = self->bodies.items[a].first_edge, at_b = self->bodies.items[b].first_edge;
	/* Both lists at once, so that the shorter one bounds the cost. Any row of the pair tells
	 * (invariant 1). */
	while (at_a != DYNAMICS_NONE && at_b != DYNAMICS_NONE) {
		if (edge_other(tables, at_a) == b)
			return (enum passage)tables->contact.passage[edge_row(at_a)];
		if (edge_other(tables, at_b) == a)
			return (enum passage)tables->contact.passage[edge_row(at_b)];
		at_a = self->edges.items[at_a].next;
		at_b = self->edges.items[at_b].next;
	}
	return PASSAGE_OPEN;
}

enum passage one_way_passage(const struct dynamics *self, const struct contact_state *contact)
{
	if (contact->is_new)
		return one_way_between(self, contact->body_a, contact->body_b);
	ASSERT(contact->row < self->tables->contact.count);
	return (enum passage)self->tables->contact.passage[contact->row];
}

/* Unit, world axes; zero: the body is solid from all sides. */
static vec3 direction_of(const struct dynamics *self, uint32_t body)
{
	const struct body_table *table = &self->tables->body;
	if (!bitset_get(&self->one_way, body))
		return vec3_zero();
	return quat_rotate(table->rotation[body], table->one_way[body]);
}

bool one_way_faces(const struct dynamics *self, uint32_t a, uint32_t b, vec3 normal)
{
	bool one_a = bitset_get(&self->one_way, a), one_b = bitset_get(&self->one_way, b);
	ASSERT(one_a || one_b);
	if (one_a && !(vec3_dot(direction_of(self, a), normal) >= ONE_WAY_FACING))
		return false;
	return !one_b || -vec3_dot(direction_of(self, b), normal) >= ONE_WAY_FACING;
}

bool one_way_ends_path(const struct dynamics *self, uint32_t a, uint32_t b, vec3 normal, bool core)
{
	if (!one_way_concerns(self, a, b))
		return true;
	enum passage passage = one_way_between(self, a, b);
	if (passage == PASSAGE_THROUGH || passage == PASSAGE_SOLID)
		return passage == PASSAGE_SOLID;
	/* A search without an answer, of which no normal is known, ends where it is. */
	if (vec3_length_squared(normal) == 0)
		return true;
	/* Pieces that touched as the path began have met already: if they landed, their contact acts. */
	return (!core || passage == PASSAGE_ABOVE) && one_way_faces(self, a, b, normal);
}

/* ---- the first touch ----------------------------------------------------------------------------- */

/* m: an overlap that counts as none. */
static double slop_of(const struct dynamics *self, const struct contact_state *contact)
{
	const struct tables *tables = self->tables;
	double least = ONE_WAY_SLOP / ONE_WAY_SLOP_PART;
	if (tables->body.status[contact->body_a] == BODY_DYNAMIC)
		least = scalar_min(least, placement_shape(self, contact->a.placement)->extent_min);
	if (tables->body.status[contact->body_b] == BODY_DYNAMIC)
		least = scalar_min(least, placement_shape(self, contact->b.placement)->extent_min);
	return ONE_WAY_SLOP_PART * least;
}

/* The velocity of b's point against a's. */
static vec3 speed_apart(const struct body_motion *a, const struct body_motion *b,
			const struct contact_point *point)
{
	vec3 at_a = vec3_add(a->velocity, vec3_cross(a->angular_velocity, point->arm_a));
	vec3 at_b = vec3_add(b->velocity, vec3_cross(b->angular_velocity, point->arm_b));
	return vec3_sub(at_b, at_a);
}

/* Whether every point was outside a tick before the step, and one comes against the directions: by the
 * velocities of the tables, which also bring the pieces back to where they were, or of these motions. */
static bool comes_from_outside(const struct step *step, const struct contact_state *contact,
			       const struct body_motion *a, const struct body_motion *b,
			       double slop)
{
	const struct dynamics *dynamics = step->dynamics;
	struct body_motion a0 = dynamics_motion(dynamics, contact->body_a);
	struct body_motion b0 = dynamics_motion(dynamics, contact->body_b);
	vec3 way = vec3_sub(vec3_sub(b->centre, b0.centre), vec3_sub(a->centre, a0.centre));
	double opened = vec3_dot(contact->normal, way);
	/* The other body moves against the direction of a if its speed along it is not positive. */
	vec3 along_a = direction_of(dynamics, contact->body_a);
	vec3 along_b = vec3_negate(direction_of(dynamics, contact->body_b));
	bool against = false;
	for (uint32_t k = 0; k < contact->point_count; k++) {
		const struct contact_point *point = &contact->points[k];
		vec3 before = speed_apart(&a0, &b0, point), now = speed_apart(a, b, point);
		double closing = scalar_max(-vec3_dot(contact->normal, before), 0);
		if (!(point->separation - scalar_min(opened, 0) + closing * step->dt >= -slop))
			return false;
		against |= (vec3_dot(along_a, before) <= 0 && vec3_dot(along_b, before) <= 0) ||
			   (vec3_dot(along_a, now) <= 0 && vec3_dot(along_b, now) <= 0);
	}
	return against;
}

void one_way_judge(const struct step *step, struct contact_state *contact,
		   const struct body_motion *a, const struct body_motion *b)
{
	const struct dynamics *dynamics = step->dynamics;
	enum passage passage = one_way_passage(dynamics, contact);
	contact->one_way = ONE_WAY;
	if (contact->point_count == 0)
		return;
	double least = __builtin_inf(), slop = slop_of(dynamics, contact);
	for (uint32_t k = 0; k < contact->point_count; k++)
		least = scalar_min(least, contact->points[k].separation);
	if (least <= 0)
		contact->one_way |= ONE_WAY_OVERLAPS;
	if (least <= CONTACT_NEAR)
		contact->one_way |= ONE_WAY_NEAR;
	bool faces = one_way_faces(dynamics, contact->body_a, contact->body_b, contact->normal);
	if (faces && least > 0)
		contact->one_way |= ONE_WAY_ABOVE;
	if (passage == PASSAGE_SOLID)
		return;
	if (passage != PASSAGE_THROUGH && faces &&
	    ((passage == PASSAGE_ABOVE && least <= 0) ||
	     comes_from_outside(step, contact, a, b, slop)))
		return;
	/* A body that leaves the solid side and overlaps by rounding is not let through: it may come back. */
	if (least <= 0 && !(faces && least >= -slop))
		contact->one_way |= ONE_WAY_ENTERS;
	contact->one_way |= ONE_WAY_REFUSED;
	contact->point_count = 0;
}

/* ---- the states ---------------------------------------------------------------------------------- */

void one_way_refresh(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	bool is = self->tables->body.id[body] != 0 &&
		  vec3_length_squared(self->tables->body.one_way[body]) > 0;
	if (is && !bitset_get(&self->one_way, body))
		bitset_set(&self->one_way, body);
	if (!is && bitset_get(&self->one_way, body))
		bitset_clear(&self->one_way, body);
}

void one_way_forget(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	for (uint32_t e = self->bodies.items[body].first_edge; e != DYNAMICS_NONE;
	     e = self->edges.items[e].next)
		self->tables->contact.passage[edge_row(e)] = PASSAGE_OPEN;
}

void one_way_note_end(struct step *step, const struct contact_list *end)
{
	ASSERT(end->count == step->contacts.count);
	for (uint32_t i = 0; step->dynamics->one_way.count > 0 && i < end->count; i++)
		if ((end->items[i].one_way & ONE_WAY_OVERLAPS) && end->items[i].point_count > 0)
			step->contacts.items[i].one_way |= ONE_WAY_MET;
}

static uint32_t count_concerned(const struct contact_list *list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < list->count; i++)
		count += (list->items[i].one_way & ONE_WAY) != 0;
	return count;
}

enum status one_way_reserve(struct step *step, const struct contact_list *list)
{
	struct arena *scratch = &step->dynamics->scratch;
	uint32_t count = step->dynamics->one_way.count > 0 ? count_concerned(list) : 0;
	step->one_way.count = count;
	if (count == 0)
		return STATUS_OK;
	step->one_way.keys = ARENA_ARRAY(scratch, uint64_t, 2 * (uint64_t)count);
	step->one_way.items = ARENA_ARRAY(scratch, uint32_t, 2 * (uint64_t)count);
	return step->one_way.keys != NULL && step->one_way.items != NULL ? STATUS_OK
									 : STATUS_NO_MEMORY;
}

/* The state after the step of a pair whose contacts have these bits, all together. */
static enum passage passage_after(enum passage before, uint8_t bits, bool touching)
{
	enum passage apart =
		bits & ONE_WAY_ABOVE && !(bits & ONE_WAY_OVERLAPS) ? PASSAGE_ABOVE : PASSAGE_OPEN;
	if (before == PASSAGE_THROUGH)
		return bits & ONE_WAY_OVERLAPS ? PASSAGE_THROUGH : apart;
	/* It lands if any of its pieces does. */
	if (touching || bits & ONE_WAY_MET || (before == PASSAGE_SOLID && (bits & ONE_WAY_NEAR)))
		return PASSAGE_SOLID;
	return bits & ONE_WAY_ENTERS ? PASSAGE_THROUGH : apart;
}

/* A refused contact shows no points, and its manifold is made again. */
static void clear_refused(struct contact_table *table, uint32_t row)
{
	table->point_count[row] = 0;
	table->fresh[row] = 1;
	table->normal[row] = vec3_zero();
	memset(table->anchor[row], 0, sizeof table->anchor[row]);
	memset(table->separation[row], 0, sizeof table->separation[row]);
	memset(table->feature[row], 0, sizeof table->feature[row]);
}

/* The contacts of one pair of bodies. */
static void store_pair(struct dynamics *self, const struct contact_list *list,
		       const uint32_t *items, uint32_t count)
{
	ASSERT(count > 0);
	struct contact_table *table = &self->tables->contact;
	enum passage before = PASSAGE_OPEN;
	uint8_t bits = 0;
	bool touching = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &list->items[items[i]];
		before = MAX_OF(before, (enum passage)table->passage[contact->row]);
		bits |= contact->one_way;
		touching |= table->touching[contact->row] != 0;
	}
	enum passage after = passage_after(before, bits, touching);
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &list->items[items[i]];
		table->passage[contact->row] = (uint8_t)after;
		if (contact->one_way & ONE_WAY_REFUSED)
			clear_refused(table, contact->row);
	}
}

void one_way_store(struct step *step, const struct contact_list *list)
{
	uint32_t count = step->one_way.count, found = 0;
	if (count == 0)
		return;
	uint64_t *keys = step->one_way.keys;
	uint32_t *items = step->one_way.items;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct contact_state *contact = &list->items[i];
		if (!(contact->one_way & ONE_WAY))
			continue;
		uint32_t low = MIN_OF(contact->body_a, contact->body_b);
		uint32_t high = MAX_OF(contact->body_a, contact->body_b);
		keys[found] = (uint64_t)low << 32 | high;
		items[found++] = i;
	}
	ASSERT(found == count);
	sort_keys(keys, items, keys + count, items + count, count);
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && keys[end] == keys[first];)
			end++;
		store_pair(step->dynamics, list, items + first, end - first);
	}
}
