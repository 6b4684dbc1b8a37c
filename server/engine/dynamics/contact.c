/* contact.c: contact rows: taking, hanging on bodies, giving back; materials; and rows for solvers.
 *
 * Each body has a list of the contacts it has an end in, doubly linked through the edges of the rows
 * (edge 2r and 2r+1). With it a body is removed, woken or moved in time of its own contacts, and a pair
 * is looked up by walking the two lists side by side until the shorter one ends, which needs no hash
 * of four numbers and so knows no collisions of hashes.
 */
#include "server/engine/dynamics/contact.h"

bool body_is_solid(const struct tables *tables, uint32_t body)
{
	return tables->body.id[body] != 0 && tables->body.status[body] != BODY_INACTIVE &&
	       !tables->body.quarantined[body];
}

bool body_is_awake(const struct tables *tables, uint32_t body)
{
	if (!body_is_solid(tables, body))
		return false;
	if (tables->body.status[body] == BODY_DYNAMIC)
		return tables->body.sleep_set[body] == 0;
	if (tables->body.status[body] != BODY_ANIMATED)
		return false;
	return !vec3_equal(tables->body.velocity[body], vec3_zero()) ||
	       !vec3_equal(tables->body.angular_velocity[body], vec3_zero());
}

/* ---- lists ------------------------------------------------------------------------------------ */

static void edge_push(struct dynamics *self, uint32_t edge, uint32_t body)
{
	struct body_cache *cache = &self->bodies.items[body];
	struct contact_edge *edges = self->edges.items;
	edges[edge] = (struct contact_edge){ cache->first_edge, DYNAMICS_NONE };
	if (cache->first_edge != DYNAMICS_NONE)
		edges[cache->first_edge].previous = edge;
	cache->first_edge = edge;
}

static void edge_pull(struct dynamics *self, uint32_t edge, uint32_t body)
{
	struct contact_edge *edges = self->edges.items;
	struct contact_edge at = edges[edge];
	if (at.previous != DYNAMICS_NONE)
		edges[at.previous].next = at.next;
	else
		self->bodies.items[body].first_edge = at.next;
	if (at.next != DYNAMICS_NONE)
		edges[at.next].previous = at.previous;
	edges[edge] = (struct contact_edge){ DYNAMICS_NONE, DYNAMICS_NONE };
}

uint32_t contact_take(struct dynamics *self, struct contact_pair pair)
{
	struct tables *tables = self->tables;
	uint32_t row = bitset_lowest_clear(&self->contact_used);
	if (row >= tables->contact.count) {
		uint32_t appended = tables_append(tables, TABLE_CONTACT);
		ASSERT(appended == row);
	}
	struct contact_table *contact = &tables->contact;
	contact->used[row] = 1;
	contact->placement_a[row] = (uint32_t)(pair.placements >> 32);
	contact->placement_b[row] = (uint32_t)pair.placements;
	contact->child_a[row] = (uint32_t)(pair.children >> 32);
	contact->child_b[row] = (uint32_t)pair.children;
	contact->relative_rotation[row] = quat_identity();
	contact->fresh[row] = 1;
	contact_link(self, row);
	return row;
}

void contact_link(struct dynamics *self, uint32_t row)
{
	bitset_set(&self->contact_used, row);
	edge_push(self, 2 * row, contact_body_a(self->tables, row));
	edge_push(self, 2 * row + 1, contact_body_b(self->tables, row));
	contact_refresh_live(self, row);
}

void contact_refresh_live(struct dynamics *self, uint32_t row)
{
	bool live = bitset_get(&self->awake, contact_body_a(self->tables, row)) ||
		    bitset_get(&self->awake, contact_body_b(self->tables, row));
	if (live)
		bitset_set(&self->live, row);
	else
		bitset_clear(&self->live, row);
}

void contact_drop(struct dynamics *self, uint32_t row)
{
	struct tables *tables = self->tables;
	uint32_t a = contact_body_a(tables, row), b = contact_body_b(tables, row);
	if (tables->contact.touching[row])
		dynamics_event(self, (struct event){ .kind = EVENT_CONTACT_END,
						     .a = tables->body.id[a],
						     .b = tables->body.id[b],
						     .child_a = tables->contact.child_a[row],
						     .child_b = tables->contact.child_b[row],
						     .fraction = 1 });
	if (tables->contact.point_count[row] > 0) {
		bitset_set(&self->parted, a);
		bitset_set(&self->parted, b);
	}
	edge_pull(self, 2 * row, a);
	edge_pull(self, 2 * row + 1, b);
	bitset_clear(&self->live, row);
	bitset_clear(&self->contact_used, row);
	tables_clear_row(tables, TABLE_CONTACT, row);
}

static bool contact_is(const struct contact_table *contact, uint32_t row, struct contact_pair pair)
{
	return ((uint64_t)contact->placement_a[row] << 32 | contact->placement_b[row]) ==
		       pair.placements &&
	       ((uint64_t)contact->child_a[row] << 32 | contact->child_b[row]) == pair.children;
}

uint32_t contact_find(const struct dynamics *self, struct contact_pair pair)
{
	const struct tables *tables = self->tables;
	uint32_t a = placement_body(tables, (uint32_t)(pair.placements >> 32));
	uint32_t b = placement_body(tables, (uint32_t)pair.placements);
	uint32_t at_a = self->bodies.items[a].first_edge;
	uint32_t at_b = self->bodies.items[b].first_edge;
	while (at_a != DYNAMICS_NONE && at_b != DYNAMICS_NONE) {
		if (contact_is(&tables->contact, edge_row(at_a), pair))
			return edge_row(at_a);
		if (contact_is(&tables->contact, edge_row(at_b), pair))
			return edge_row(at_b);
		at_a = self->edges.items[at_a].next;
		at_b = self->edges.items[at_b].next;
	}
	return DYNAMICS_NONE;
}

/* ---- materials -------------------------------------------------------------------------------- */

static double combine(uint8_t rule, double a, double b)
{
	switch (rule) {
	case COMBINE_AVERAGE:
		return 0.5 * (a + b);
	case COMBINE_MINIMUM:
		return scalar_min(a, b);
	case COMBINE_MULTIPLY:
		return a * b;
	case COMBINE_MAXIMUM:
		return scalar_max(a, b);
	default:
		return scalar_sqrt(a * b);
	}
}

struct contact_material contact_material(const struct tables *tables, uint32_t a, uint32_t b)
{
	const struct body_table *body = &tables->body;
	uint8_t friction = MIN_OF(body->friction_rule[a], body->friction_rule[b]);
	uint8_t restitution = MIN_OF(body->restitution_rule[a], body->restitution_rule[b]);
	struct contact_material mixed = {
		combine(friction, body->static_friction[a], body->static_friction[b]),
		combine(friction, body->dynamic_friction[a], body->dynamic_friction[b]),
		combine(restitution, body->restitution[a], body->restitution[b]),
	};
	/* A mean of lesser numbers is never the greater one; rounding of the square root might be. */
	mixed.dynamic_friction = scalar_min(mixed.dynamic_friction, mixed.static_friction);
	return mixed;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static struct row row_along(const struct contact_state *contact, const struct contact_point *point,
			    vec3 axis)
{
	return (struct row){
		.body_a = contact->body_a,
		.body_b = contact->body_b,
		.linear_a = vec3_negate(axis),
		.angular_a = vec3_negate(vec3_cross(point->arm_a, axis)),
		.linear_b = axis,
		.angular_b = vec3_cross(point->arm_b, axis),
		.source = contact->row,
	};
}

uint32_t contact_rows(const struct dynamics *self, const struct contact_state *contact, bool friction,
		      uint32_t first, struct row *rows)
{
	struct contact_material material =
		contact_material(self->tables, contact->body_a, contact->body_b);
	vec3 tangents[2];
	vec3_frame(contact->normal, &tangents[0], &tangents[1]);
	uint32_t count = 0;
	for (uint8_t p = 0; p < contact->point_count; p++) {
		const struct contact_point *point = &contact->points[p];
		uint32_t normal = first + count;
		struct row *row = &rows[count++];
		*row = row_along(contact, point, contact->normal);
		row->kind = ROW_CONTACT;
		row->point = p;
		row->gap = point->separation;
		row->upper = __builtin_inf();
		for (uint32_t t = 0; friction && t < 2; t++) {
			row = &rows[count++];
			*row = row_along(contact, point, tangents[t]);
			row->kind = ROW_FRICTION;
			row->point = p;
			row->friction = material.dynamic_friction;
			row->friction_of = normal;
			row->lower = -__builtin_inf();
			row->upper = __builtin_inf();
		}
	}
	return count;
}
