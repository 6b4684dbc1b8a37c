/* queries.c: queries of the state at a boundary.
 *
 * The broad phase visits candidates in an order that depends on its history. Lists of candidates
 * are therefore sorted, and every answer is chosen by a unique key (collision/placed.h), so the
 * result depends on the state alone, also when more answers exist than the caller has room for.
 * Queries never find the walls; only the lists of contacts contain them.
 */
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/support.h"
#include "server/engine/linalg/eigen3.h"
#include "server/engine/math/sym3.h"
#include "server/engine/world/world.h"

#include <string.h>

static void set_status(enum status *status, enum status value)
{
	if (status != NULL)
		*status = value;
}

static pose placement_at(const struct tables *tables, uint32_t placement)
{
	uint32_t body = tables->placement.body[placement] - 1;
	return pose_mul(pose_make(tables->body.position[body], tables->body.rotation[body]),
			pose_make(tables->placement.position[placement],
				  tables->placement.rotation[placement]));
}

static bool passes_filter(const struct dynamics *dynamics, uint32_t placement,
			  struct query_filter filter)
{
	const struct tables *tables = dynamics->tables;
	uint32_t body = tables->placement.body[placement] - 1;
	if (tables->body.id[body] == BODY_WALLS || tables->body.id[body] == filter.ignore ||
	    piece_is_sensor(dynamics, placement))
		return false;
	struct piece_filter own = piece_filter(dynamics, placement);
	return (filter.category & own.mask) != 0 && (own.category & filter.mask) != 0;
}

/* The index of a placement among its body's placements. */
static uint32_t placement_ordinal(const struct tables *tables, uint32_t placement)
{
	uint32_t body = tables->placement.body[placement] - 1, count = 0;
	for (uint32_t p = tables->body.first_placement[body]; p != placement + 1;
	     p = tables->placement.next[p - 1])
		count++;
	return count;
}

/* ---- placed shapes near a box or a ray --------------------------------------------------------- */

struct near_work {
	const struct world *world;
	struct query_filter filter;
	struct placed_shape *out;
	uint32_t capacity, count;
};

static struct placed_shape placed_of(const struct world *world, uint32_t placement)
{
	const struct tables *tables = &world->tables;
	ASSERT(placement < tables->placement.count && tables->placement.body[placement] != 0);
	return (struct placed_shape){
		.shape = world->shapes[tables->placement.shape[placement]],
		.at = placement_at(tables, placement),
		.body = tables->body.id[tables->placement.body[placement] - 1],
		.placement = placement_ordinal(tables, placement),
	};
}

static bool visit_near(uint32_t placement, void *context)
{
	struct near_work *work = context;
	if (!passes_filter(&work->world->dynamics, placement, work->filter))
		return true;
	if (work->count < work->capacity)
		work->out[work->count] = placed_of(work->world, placement);
	work->count++;
	return true;
}

static double visit_ray(uint32_t placement, double fraction_max, void *context)
{
	visit_near(placement, context);
	return fraction_max;
}

/* Sorts by (body, placement), which is unique. NO_MEMORY. */
static enum status sort_placed(struct placed_shape *list, uint32_t count)
{
	if (count < 2)
		return STATUS_OK;
	uint64_t *keys = heap_alloc(2 * ((size_t)count + 1) * sizeof *keys);
	uint32_t *from = heap_alloc(2 * ((size_t)count + 1) * sizeof *from);
	struct placed_shape *copy = heap_alloc(((size_t)count + 1) * sizeof *copy);
	enum status status = STATUS_NO_MEMORY;
	if (keys != NULL && from != NULL && copy != NULL) {
		for (uint32_t i = 0; i < count; i++) {
			keys[i] = (uint64_t)list[i].body << 32 | list[i].placement;
			from[i] = i;
		}
		memcpy(copy, list, count * sizeof *copy);
		sort_keys(keys, from, keys + count, from + count, count);
		for (uint32_t i = 0; i < count; i++)
			list[i] = copy[from[i]];
		status = STATUS_OK;
	}
	heap_free(keys);
	heap_free(from);
	heap_free(copy);
	return status;
}

enum status world_near(const struct world *world, const struct aabb *box,
		       struct query_filter filter, struct placed_shape *out, uint32_t capacity,
		       uint32_t *count)
{
	struct near_work work = { world, filter, out, capacity, 0 };
	broad_phase_query(world->dynamics.broad_phase, box, visit_near, &work);
	*count = work.count;
	return work.count <= capacity ? sort_placed(out, work.count) : STATUS_LIMIT;
}

enum status world_near_ray(const struct world *world, vec3 origin, vec3 way,
			   struct query_filter filter, struct placed_shape *out, uint32_t capacity,
			   uint32_t *count)
{
	struct near_work work = { world, filter, out, capacity, 0 };
	broad_phase_ray(world->dynamics.broad_phase, origin, way, 1.0, visit_ray, &work);
	*count = work.count;
	return work.count <= capacity ? sort_placed(out, work.count) : STATUS_LIMIT;
}

/* ---- rays and overlaps ------------------------------------------------------------------------- */

static struct placed_shape *allocate_placed(uint32_t count)
{
	return heap_alloc(((size_t)count + 1) * sizeof(struct placed_shape));
}

uint32_t world_ray(const struct world *world, vec3 origin, vec3 direction, double length,
		   struct query_filter filter, struct ray_hit *hits, uint32_t capacity,
		   enum status *status)
{
	vec3 way;
	uint32_t near = 0, count = 0;
	struct placed_shape *list = NULL;
	enum status found = placed_ray_way(origin, direction, length, &way);
	if (found == STATUS_OK)
		found = world_near_ray(world, origin, way, filter, NULL, 0, &near);
	if (found == STATUS_LIMIT) {
		list = allocate_placed(near);
		found = list == NULL
				? STATUS_NO_MEMORY
				: world_near_ray(world, origin, way, filter, list, near, &near);
		if (found == STATUS_OK)
			count = placed_ray(list, near, origin, way, hits, capacity);
	}
	heap_free(list);
	set_status(status, found);
	return count;
}

uint32_t world_overlap(const struct world *world, const struct shape *shape, vec3 position,
		       quat rotation, struct query_filter filter, body_id *ids, uint32_t capacity,
		       enum status *status)
{
	pose at;
	uint32_t near = 0, count = 0;
	struct aabb box;
	struct placed_shape *list = NULL;
	enum status found = placed_overlap_at(position, rotation, &at);
	if (found == STATUS_OK) {
		box = shape_aabb(shape, &at);
		found = world_near(world, &box, filter, NULL, 0, &near);
	}
	if (found == STATUS_LIMIT) {
		list = allocate_placed(near);
		found = list == NULL ? STATUS_NO_MEMORY
				     : world_near(world, &box, filter, list, near, &near);
		if (found == STATUS_OK)
			count = placed_overlap(list, near, shape, at, ids, capacity);
	}
	heap_free(list);
	set_status(status, found);
	return count;
}

uint32_t world_placed(const struct world *world, body_id body, struct placed_shape *out,
		      uint32_t capacity)
{
	const struct tables *tables = &world->tables;
	uint32_t row, count = 0;
	if (!table_find(&world->dynamics.body_index, body, &row))
		return 0;
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = tables->placement.next[p - 1]) {
		if (count < capacity)
			out[count] = placed_of(world, p - 1);
		count++;
	}
	return count;
}

/* ---- mass ------------------------------------------------------------------------------------- */

static mat3 point_tensor(double mass, vec3 arm)
{
	mat3 square = mat3_scale(mat3_identity(), vec3_dot(arm, arm));
	return mat3_scale(mat3_sub(square, mat3_outer(arm, arm)), mass);
}

static void add_body_mass(const struct tables *tables, uint32_t row, vec3 centre,
			  struct mass_view *sum)
{
	mat3 turn = mat3_from_quat(tables->body.rotation[row]);
	mat3 own = mat3_rotate_tensor(turn, sym3_matrix(sym3_load(tables->body.inertia[row])));
	own = mat3_scale(mat3_add(own, mat3_transpose(own)), 0.5);
	vec3 arm = vec3_sub(dynamics_centre(tables, row), centre);
	sum->inertia =
		mat3_add(sum->inertia, mat3_add(own, point_tensor(tables->body.mass[row], arm)));
}

static void find_principal_axes(struct mass_view *mass)
{
	struct eigen3 axes = eigen3_symmetric(mass->inertia);
	mass->moments = axes.values;
	mass->axes = quat_from_mat3(axes.vectors);
}

static void total_mass(const struct world *world, struct mass_view *out)
{
	const struct body_table *body = &world->tables.body;
	vec3 moment = vec3_zero();
	for (uint32_t row = 0; row < body->count; row++) {
		if (body->id[row] == 0 || body->status[row] != BODY_DYNAMIC)
			continue;
		out->bodies++;
		out->mass += body->mass[row];
		moment =
			vec3_mul_add(moment, dynamics_centre(&world->tables, row), body->mass[row]);
	}
	if (!(out->mass > 0))
		return;
	out->centre = vec3_scale(moment, 1.0 / out->mass);
	for (uint32_t row = 0; row < body->count; row++)
		if (body->id[row] != 0 && body->status[row] == BODY_DYNAMIC)
			add_body_mass(&world->tables, row, out->centre, out);
}

enum status world_mass(const struct world *world, body_id body, struct mass_view *out)
{
	const struct tables *tables = &world->tables;
	uint32_t row;
	*out = (struct mass_view){ .axes = quat_identity() };
	if (body == 0) {
		total_mass(world, out);
	} else {
		if (body == BODY_WALLS || !table_find(&world->dynamics.body_index, body, &row))
			return STATUS_UNKNOWN_BODY;
		out->bodies = 1;
		out->mass = tables->body.mass[row];
		out->centre = dynamics_centre(tables, row);
		double reach = world->dynamics.bodies.items[row].reach;
		out->radius = scalar_is_finite(reach) ? reach : 0;
		add_body_mass(tables, row, out->centre, out);
	}
	find_principal_axes(out);
	return STATUS_OK;
}

/* ---- contacts --------------------------------------------------------------------------------- */

/* The sort key of a contact in an answer. */
struct contact_key {
	body_id a, b;
	uint32_t child_a, child_b, row;
};

static int compare_contacts(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct contact_key *a = x, *b = y;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	if (a->child_a != b->child_a)
		return a->child_a < b->child_a ? -1 : 1;
	if (a->child_b != b->child_b)
		return a->child_b < b->child_b ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* The axis and a point of a contact now, in the axes of A's body. */
struct view_place {
	vec3 normal, point;
	double separation; /* m */
};

/* A point of surfaces that stay with their bodies. */
static struct view_place view_still(const struct tables *tables, uint32_t row, uint32_t point,
				    const struct contact_motion *motion)
{
	struct contact_place place = contact_place(tables, row, point, motion);
	return (struct view_place){ tables->contact.normal[row], place.point, place.separation };
}

/* 1. A normal is across the axis of a drum or cone if this part of it is. */
#define ROLLS_ACROSS 0.1

/* m: how far behind a point of its surface is what stays with a shape that rolls: the core of a ball or
 * capsule, the axis of a cylinder or cone. The point and its outward normal are in the axes of the
 * body. 0 of shapes that do not roll. */
static double rolling_radius(const struct dynamics *dynamics, uint32_t placement, vec3 at,
			     vec3 outward)
{
	const struct shape *shape = placement_shape(dynamics, placement);
	if (shape_is_round(shape))
		return support_radius(shape);
	if (shape->kind != SHAPE_CYLINDER && shape->kind != SHAPE_CONE)
		return 0;
	pose own = placement_pose(dynamics->tables, placement);
	vec3 n = quat_rotate_inverse(own.rotation, outward);
	vec3 p = quat_rotate_inverse(own.rotation, vec3_sub(at, own.position));
	double across = scalar_sqrt(n.x * n.x + n.z * n.z);
	return across > ROLLS_ACROSS ? scalar_sqrt(p.x * p.x + p.z * p.z) / across : 0;
}

/* A side of a contact, in the axes of A's body. */
struct view_side {
	uint32_t placement;
	vec3 at;       /* what stays with its body: on the surface, or so far behind it */
	double behind; /* m */
	bool ball, ellipsoid;
};

static struct view_side view_side(const struct dynamics *dynamics, uint32_t placement, vec3 at,
				  vec3 outward)
{
	const struct shape *shape = placement_shape(dynamics, placement);
	double behind = rolling_radius(dynamics, placement, at, outward);
	ASSERT(behind >= 0);
	return (struct view_side){ placement, vec3_mul_add(at, outward, -behind), behind,
				   shape->kind == SHAPE_SPHERE, shape->kind == SHAPE_ELLIPSOID };
}

/* The point of an ellipsoid that is farthest along `outward`, in the axes of its body. */
static vec3 farthest_point(const struct dynamics *dynamics, uint32_t placement, vec3 outward)
{
	pose own = placement_pose(dynamics->tables, placement);
	struct curve curve = curve_of(placement_shape(dynamics, placement));
	return pose_point(own, curve_support(&curve, quat_rotate_inverse(own.rotation, outward)));
}

/* What stays with a ball, a capsule, a drum is not the point on its surface, which rolls away, but the one
 * behind it. The normal goes with the body that does not roll, or from ball to ball. */
static struct view_place view_rolling(const struct dynamics *dynamics, uint32_t row, uint32_t point,
				      const pose *b_in_a)
{
	const struct contact_table *contact = &dynamics->tables->contact;
	ASSERT(row < contact->count && point < contact->point_count[row]);
	const double *anchor = &contact->anchor[row][(size_t)3 * point];
	vec3 normal = contact->normal[row], middle = vec3_make(anchor[0], anchor[1], anchor[2]);
	double half = 0.5 * contact->separation[row][point], length;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	vec3 on_b = pose_point(pose_inverse(before), vec3_mul_add(middle, normal, half));
	vec3 out_b = vec3_scale(quat_rotate_inverse(before.rotation, normal), -1);
	struct view_side a = view_side(dynamics, contact->placement_a[row],
				       vec3_mul_add(middle, normal, -half), normal);
	struct view_side b = view_side(dynamics, contact->placement_b[row], on_b, out_b);
	pose now = *b_in_a;
	vec3 to = pose_point(now, b.at);
	bool a_rolls = a.behind > 0 || a.ellipsoid, b_rolls = b.behind > 0 || b.ellipsoid;
	if (a_rolls && (!b_rolls || a.ball))
		normal = vec3_scale(quat_rotate(now.rotation, out_b), -1);
	if (a.ball && b.ball) {
		vec3 way = vec3_normalize_length(vec3_sub(to, a.at), &length);
		normal = length > 0 ? way : normal;
	}
	vec3 p = vec3_mul_add(a.at, normal, a.behind), q = vec3_mul_add(to, normal, -b.behind);
	if (a.ellipsoid && !b_rolls)
		p = farthest_point(dynamics, a.placement, normal);
	if (b.ellipsoid && !a_rolls)
		q = pose_point(now, farthest_point(dynamics, b.placement,
						   quat_rotate_inverse(now.rotation,
								       vec3_scale(normal, -1))));
	double apart = vec3_dot(normal, vec3_sub(q, p));
	vec3 at = a.ball || (a_rolls && !b_rolls)   ? vec3_mul_add(p, normal, apart / 2)
		  : b.ball || (b_rolls && !a_rolls) ? vec3_mul_add(q, normal, -apart / 2)
						    : vec3_scale(vec3_add(p, q), 0.5);
	return (struct view_place){ normal, at, apart };
}

/* Points at the bodies' present poses: a manifold may be of an earlier tick, and the step has moved
 * the bodies since. */
static void view_points(const struct dynamics *dynamics, const struct contact_key *key,
			struct contact_view *out, uint32_t capacity)
{
	const struct tables *tables = dynamics->tables;
	const struct contact_table *contact = &tables->contact;
	uint32_t row = key->row;
	const struct shape *shape_a = placement_shape(dynamics, contact->placement_a[row]);
	const struct shape *shape_b = placement_shape(dynamics, contact->placement_b[row]);
	pose at = body_pose(tables, contact_body_a(tables, row));
	pose b_in_a = pose_relative(at, body_pose(tables, contact_body_b(tables, row)));
	struct contact_motion motion = contact_motion(tables, row, &b_in_a);
	bool rolls = shape_is_round(shape_a) || shape_is_round(shape_b) ||
		     shape_is_curved(shape_a) || shape_is_curved(shape_b);
	const double *friction = contact->friction_impulse[row];
	for (uint32_t i = 0; i < MIN_OF((uint32_t)contact->point_count[row], capacity); i++) {
		struct view_place place = rolls ? view_rolling(dynamics, row, i, &b_in_a)
						: view_still(tables, row, i, &motion);
		out[i] = (struct contact_view){
			.a = key->a,
			.b = key->b,
			.child_a = key->child_a,
			.child_b = key->child_b,
			.point = pose_point(at, place.point),
			.normal = pose_vector(at, place.normal),
			.separation = place.separation,
			.normal_impulse = contact->normal_impulse[row][i],
			.friction_impulse =
				i == 0 ? vec3_make(friction[0], friction[1], friction[2])
				       : vec3_zero(),
		};
	}
}

static struct contact_key key_of(const struct tables *tables, uint32_t row)
{
	const struct contact_table *contact = &tables->contact;
	return (struct contact_key){ tables->body.id[contact_body_a(tables, row)],
				     tables->body.id[contact_body_b(tables, row)],
				     contact->child_a[row], contact->child_b[row], row };
}

uint32_t contact_views(const struct dynamics *dynamics, uint32_t row, struct contact_view *out)
{
	const struct tables *tables = dynamics->tables;
	struct contact_key key = key_of(tables, row);
	view_points(dynamics, &key, out, tables->contact.point_count[row]);
	return tables->contact.point_count[row];
}

/* Keys of the contacts that have points; returns how many. */
static uint32_t collect_contacts(const struct tables *tables, body_id body,
				 struct contact_key *keys)
{
	const struct contact_table *contact = &tables->contact;
	uint32_t count = 0;
	for (uint32_t row = 0; row < contact->count; row++) {
		if (!contact->used[row] || contact->point_count[row] == 0)
			continue;
		struct contact_key key = key_of(tables, row);
		if (body == 0 || key.a == body || key.b == body)
			keys[count++] = key;
	}
	return count;
}

enum status world_contacts(const struct world *world, body_id body, struct contact_view *out,
			   uint32_t capacity, uint32_t *count)
{
	const struct tables *tables = &world->tables;
	size_t rows = tables->contact.count;
	struct contact_key *keys = heap_alloc((2 * rows + 1) * sizeof *keys);
	*count = 0;
	if (keys == NULL)
		return STATUS_NO_MEMORY;
	uint32_t found = collect_contacts(tables, body, keys), points = 0;
	ASSERT(found <= rows);
	sort_items(keys, keys + rows, found, sizeof *keys, compare_contacts, NULL);
	for (uint32_t i = 0; i < found && points < capacity; i++) {
		view_points(&world->dynamics, &keys[i], out + points, capacity - points);
		points += MIN_OF((uint32_t)tables->contact.point_count[keys[i].row],
				 capacity - points);
	}
	heap_free(keys);
	ASSERT(points <= capacity);
	*count = points;
	return STATUS_OK;
}

/* The contact of bodies `row` and `other` is assigned to `row`: to the dynamic body, or to the one
 * with the higher id if both are dynamic. */
static bool contact_belongs_to(const struct body_table *body, uint32_t row, uint32_t other)
{
	return body->status[row] == BODY_DYNAMIC &&
	       (body->status[other] != BODY_DYNAMIC || body->id[other] < body->id[row]);
}

/* Keys of the contacts assigned to a body, which is b in them; returns how many. `keys` may be
 * NULL: then they are only counted. */
static uint32_t collect_assigned(const struct world *world, uint32_t row, struct contact_key *keys)
{
	const struct dynamics *dynamics = &world->dynamics;
	const struct tables *tables = &world->tables;
	const struct contact_table *contact = &tables->contact;
	uint32_t count = 0;
	for (uint32_t e = dynamics->bodies.items[row].first_edge; e != DYNAMICS_NONE;
	     e = dynamics->edges.items[e].next) {
		uint32_t at = edge_row(e), other = edge_other(tables, e);
		if (contact->point_count[at] == 0 || !contact_belongs_to(&tables->body, row, other))
			continue;
		bool is_b = e % 2 != 0;
		if (keys != NULL)
			keys[count] = (struct contact_key){
				tables->body.id[other], tables->body.id[row],
				is_b ? contact->child_b[at] : contact->child_a[at],
				is_b ? contact->child_a[at] : contact->child_b[at], at
			};
		count++;
	}
	return count;
}

/* Points of a contact with the body it is assigned to as b. If that body is a in the contact's row,
 * normals and friction impulses change direction; the key has the children in the new order. */
static void view_assigned(const struct dynamics *dynamics, const struct contact_key *key,
			  struct contact_view *out, uint32_t count)
{
	const struct tables *tables = dynamics->tables;
	bool turned = tables->body.id[contact_body_b(tables, key->row)] != key->b;
	view_points(dynamics, key, out, count);
	for (uint32_t i = 0; i < count; i++) {
		out[i].child_a = key->child_b;
		out[i].child_b = key->child_a;
		if (!turned)
			continue;
		/* 0 - x, not -x: a component of 0 stays +0, so equal states give equal bytes. */
		out[i].normal = vec3_sub(vec3_zero(), out[i].normal);
		out[i].friction_impulse = vec3_sub(vec3_zero(), out[i].friction_impulse);
	}
}

enum { KEYS_ON_STACK = 32 }; /* contacts of one body whose keys fit on the stack */

enum status world_assigned_contacts(const struct world *world, body_id body,
				    struct contact_view *out, uint32_t capacity, uint32_t *count)
{
	const struct tables *tables = &world->tables;
	struct contact_key few[2 * KEYS_ON_STACK], *keys = few;
	uint32_t row, points = 0;
	*count = 0;
	if (body == BODY_WALLS || !table_find(&world->dynamics.body_index, body, &row) ||
	    tables->body.status[row] != BODY_DYNAMIC)
		return STATUS_OK;
	uint32_t contacts = collect_assigned(world, row, NULL);
	if (contacts > KEYS_ON_STACK)
		keys = heap_alloc((size_t)2 * contacts * sizeof *keys);
	if (keys == NULL)
		return STATUS_NO_MEMORY;
	uint32_t collected = collect_assigned(world, row, keys);
	ASSERT(collected == contacts);
	/* By (other body, own piece, piece of the other): a pair of pieces has one contact, so the
	 * order is total. */
	sort_items(keys, keys + contacts, contacts, sizeof *keys, compare_contacts, NULL);
	for (uint32_t i = 0; i < contacts; i++) {
		uint32_t of = tables->contact.point_count[keys[i].row];
		if (points < capacity)
			view_assigned(&world->dynamics, &keys[i], out + points,
				      MIN_OF(of, capacity - points));
		points += of;
	}
	if (keys != few)
		heap_free(keys);
	*count = points;
	return STATUS_OK;
}

struct changed_bodies {
	body_id *out;
	uint32_t count, capacity;
};

static void add_changed(struct changed_bodies *self, body_id id)
{
	if (id == 0 || id == BODY_WALLS)
		return;
	if (self->count < self->capacity)
		self->out[self->count] = id;
	self->count++;
}

/* Adds a body, and the sleeping bodies to which contacts with it are assigned. */
static void add_changed_around(struct changed_bodies *self, const struct world *world, uint32_t row)
{
	const struct dynamics *dynamics = &world->dynamics;
	const struct body_table *body = &world->tables.body;
	add_changed(self, body->id[row]);
	for (uint32_t e = dynamics->bodies.items[row].first_edge; e != DYNAMICS_NONE;
	     e = dynamics->edges.items[e].next) {
		uint32_t other = edge_other(&world->tables, e);
		if (!bitset_get(&dynamics->awake, other) && contact_belongs_to(body, other, row))
			add_changed(self, body->id[other]);
	}
}

uint32_t world_contacts_changed(const struct world *world, body_id *out, uint32_t capacity)
{
	const struct bitset *sets[] = { &world->changes.candidates, &world->changes.marked };
	const struct bitset *parted = &world->dynamics.parted;
	struct changed_bodies changed = { .out = out, .capacity = capacity };
	for (uint32_t i = 0; i < COUNT_OF(sets); i++)
		for (uint32_t row = bitset_next(sets[i], 0); row != BITSET_NONE;
		     row = bitset_next(sets[i], row + 1))
			add_changed_around(&changed, world, row);
	for (uint32_t row = bitset_next(parted, 0); row != BITSET_NONE;
	     row = bitset_next(parted, row + 1))
		add_changed(&changed, world->tables.body.id[row]);
	return changed.count;
}

/* ---- energy and momentum ---------------------------------------------------------------------- */

struct world_energy world_energy(const struct world *world)
{
	const struct tables *tables = &world->tables;
	const struct body_table *body = &tables->body;
	struct world_energy sum = { 0 };
	for (uint32_t row = 0; row < body->count; row++) {
		bool carried = body->carrier[row] != 0; /* its points have its mass */
		if (body->id[row] == 0 || body->status[row] != BODY_DYNAMIC || carried)
			continue;
		double mass = body->mass[row];
		vec3 v = body->velocity[row], at = dynamics_centre(tables, row);
		vec3 w = quat_rotate_inverse(body->rotation[row], body->angular_velocity[row]);
		vec3 spin = sym3_apply(sym3_load(body->inertia[row]), w);
		vec3 momentum = vec3_scale(v, mass);
		double factor =
			(body->flags[row] & BODY_SCALED) != 0 ? body->gravity_scale[row] : 1;
		sum.kinetic += 0.5 * mass * vec3_dot(v, v) + 0.5 * vec3_dot(w, spin);
		sum.potential -= factor * mass * vec3_dot(tables->world.gravity[0], at);
		sum.linear = vec3_add(sum.linear, momentum);
		sum.angular =
			vec3_add(sum.angular, vec3_add(vec3_cross(at, momentum),
						       quat_rotate(body->rotation[row], spin)));
	}
	return sum;
}
