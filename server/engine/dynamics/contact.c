/* contact.c: contact rows are taken, linked to their bodies and freed; materials are combined.
 *
 * Each body has a list of its contacts, doubly linked through the edges of the rows (edges 2r and 2r+1).
 * So removing, waking or moving a body costs time in its own contacts only. A pair is looked up in
 * contact_index, because a body on a mesh may have thousands of contacts and every new pair is looked up.
 */
#include "server/engine/dynamics/contact.h"

#include "server/base/inline.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/support.h"

double placement_rounding(const struct dynamics *self, uint32_t placement, vec3 normal)
{
	const struct shape *shape = placement_shape(self, placement);
	if (!shape_is_curved(shape))
		return support_radius(shape);
	uint32_t body = placement_body(self->tables, placement);
	vec3 local = mat3_transposed_mul_vec(self->bodies.items[body].rotation, normal);
	quat own = self->tables->placement.rotation[placement];
	return curve_rounding(shape, quat_rotate_inverse(own, local));
}

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

/* ---- lists --------------------------------------------------------------------------------- */

static void edge_push(struct dynamics *self, uint32_t edge, uint32_t body)
{
	ASSERT(edge < self->edges.capacity);
	struct body_cache *cache = &self->bodies.items[body];
	struct contact_edge *edges = self->edges.items;
	edges[edge] = (struct contact_edge){ cache->first_edge, DYNAMICS_NONE };
	if (cache->first_edge != DYNAMICS_NONE)
		edges[cache->first_edge].previous = edge;
	cache->first_edge = edge;
}

static void edge_pull(struct dynamics *self, uint32_t edge, uint32_t body)
{
	ASSERT(edge < self->edges.capacity);
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

void contact_take(struct dynamics *self, uint32_t row, const struct contact_pair *pair)
{
	struct tables *tables = self->tables;
	ASSERT(pair->a.placement < pair->b.placement);
	ASSERT(row < tables->contact.capacity);
	while (row >= tables->contact.count)
		tables_append(tables, TABLE_CONTACT);
	struct contact_table *contact = &tables->contact;
	ASSERT(!contact->used[row]);
	contact->used[row] = 1;
	contact->placement_a[row] = pair->a.placement;
	contact->placement_b[row] = pair->b.placement;
	contact->child_a[row] = pair->a.child;
	contact->child_b[row] = pair->b.child;
	contact->relative_rotation[row] = quat_identity();
	contact->fresh[row] = 1;
	contact_link(self, row);
}

void contact_link(struct dynamics *self, uint32_t row)
{
	ASSERT(self->tables->contact.used[row]);
	ASSERT(contact_body_a(self->tables, row) != contact_body_b(self->tables, row));
	bitset_set(&self->contact_used, row);
	contact_index_add(&self->contact_index, &self->tables->contact, row);
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
	ASSERT(self->tables->contact.used[row]);
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
	contact_index_remove(&self->contact_index, &tables->contact, row);
	tables_free_row(tables, TABLE_CONTACT, row, &self->contact_used, NULL);
}

uint32_t contact_find(const struct dynamics *self, const struct contact_pair *pair)
{
	return contact_index_find(&self->contact_index, &self->tables->contact, pair->a.placement,
				  pair->b.placement, pair->a.child, pair->b.child);
}

int contact_compare_pairs(const struct contact_pair *x, const struct contact_pair *y)
{
	const uint32_t at_x[4] = { x->a.placement, x->b.placement, x->a.child, x->b.child };
	const uint32_t at_y[4] = { y->a.placement, y->b.placement, y->a.child, y->b.child };
	for (uint32_t i = 0; i < 4; i++)
		if (at_x[i] != at_y[i])
			return at_x[i] < at_y[i] ? -1 : 1;
	return 0;
}

/* ---- materials ----------------------------------------------------------------------------- */

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

double contact_combine(uint8_t rule, double a, double b)
{
	ASSERT(rule <= COMBINE_GEOMETRIC);
	return combine(rule, a, b);
}

/* Where the material of one piece is: in its own row, or in that of its body. */
struct material_place {
	uint32_t body, own;
};

/* No struct is copied: a contact of most materials reads a few columns only. */
#define MATERIAL_OF(tables, column, place)                                                         \
	((place).own == DYNAMICS_NONE ? (tables)->body.column[(place).body]                        \
				      : (tables)->piece.column[(place).own])

static inline struct material_place find_material(const struct dynamics *self,
						  struct contact_piece piece)
{
	return (struct material_place){ placement_body(self->tables, piece.placement),
					piece_own(self, piece, OWN_MATERIAL) };
}

struct piece_surface piece_surface(const struct dynamics *self, struct contact_piece piece)
{
	const struct tables *tables = self->tables;
	struct material_place at = find_material(self, piece);
	return (struct piece_surface){ MATERIAL_OF(tables, static_friction, at),
				       MATERIAL_OF(tables, dynamic_friction, at),
				       MATERIAL_OF(tables, restitution, at),
				       MATERIAL_OF(tables, restitution_rule, at) };
}

static inline bool has_axis(const struct tables *tables, struct material_place place)
{
	return vec3_length_squared(MATERIAL_OF(tables, friction_axis, place)) > 0;
}

/* Friction along the axis of one of the pieces, against the other's ordinary friction. */
static inline struct contact_axis find_axis(const struct tables *tables, struct material_place a,
					    struct material_place b)
{
	bool axis_a = has_axis(tables, a), axis_b = has_axis(tables, b);
	if (!axis_a && !axis_b)
		return (struct contact_axis){ .body = DYNAMICS_NONE };
	bool from_a = axis_a && (!axis_b || tables->body.id[a.body] < tables->body.id[b.body]);
	struct material_place of = from_a ? a : b, other = from_a ? b : a;
	uint8_t rule = MIN_OF(MATERIAL_OF(tables, friction_rule, a),
			      MATERIAL_OF(tables, friction_rule, b));
	double along = MATERIAL_OF(tables, axis_friction, of);
	struct contact_axis axis = {
		.body = of.body,
		.axis = MATERIAL_OF(tables, friction_axis, of),
		.resting = combine(rule, along, MATERIAL_OF(tables, static_friction, other)),
		.sliding = combine(rule, along, MATERIAL_OF(tables, dynamic_friction, other)),
	};
	VALIDATE(axis.resting >= 0 && axis.sliding >= 0);
	return axis;
}

struct contact_axis contact_axis(const struct dynamics *self, struct contact_piece a,
				 struct contact_piece b)
{
	return find_axis(self->tables, find_material(self, a), find_material(self, b));
}

ALWAYS_INLINE struct contact_material
mix_materials(const struct tables *tables, struct material_place a, struct material_place b)
{
	uint8_t friction = MIN_OF(MATERIAL_OF(tables, friction_rule, a),
				  MATERIAL_OF(tables, friction_rule, b));
	uint8_t restitution = MIN_OF(MATERIAL_OF(tables, restitution_rule, a),
				     MATERIAL_OF(tables, restitution_rule, b));
	struct contact_material mixed = {
		.static_friction = combine(friction, MATERIAL_OF(tables, static_friction, a),
					   MATERIAL_OF(tables, static_friction, b)),
		.dynamic_friction = combine(friction, MATERIAL_OF(tables, dynamic_friction, a),
					    MATERIAL_OF(tables, dynamic_friction, b)),
		.restitution = combine(restitution, MATERIAL_OF(tables, restitution, a),
				       MATERIAL_OF(tables, restitution, b)),
		.rolling = scalar_max(MATERIAL_OF(tables, rolling_friction, a),
				      MATERIAL_OF(tables, rolling_friction, b)),
		.spinning = scalar_max(MATERIAL_OF(tables, spinning_friction, a),
				       MATERIAL_OF(tables, spinning_friction, b)),
	};
	if (has_axis(tables, a) || has_axis(tables, b)) { /* few */
		struct contact_axis axis = find_axis(tables, a, b);
		mixed.axis = quat_rotate(tables->body.rotation[axis.body], axis.axis);
		mixed.axis_static = axis.resting;
		mixed.axis_dynamic = axis.sliding;
	}
	/* Each rule is monotone, so dynamic ≤ static holds but for the rounding of the square root. */
	mixed.dynamic_friction = scalar_min(mixed.dynamic_friction, mixed.static_friction);
	ASSERT(mixed.dynamic_friction <= mixed.static_friction);
	return mixed;
}

struct contact_material contact_material(const struct dynamics *self, struct contact_piece a,
					 struct contact_piece b)
{
	/* Most worlds: the choice of places is made when this is compiled. */
	if (self->piece_used.count == 0)
		return mix_materials(
			self->tables,
			(struct material_place){ placement_body(self->tables, a.placement),
						 DYNAMICS_NONE },
			(struct material_place){ placement_body(self->tables, b.placement),
						 DYNAMICS_NONE });
	return mix_materials(self->tables, find_material(self, a), find_material(self, b));
}
