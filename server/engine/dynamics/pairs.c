/* pairs.c: the first half of a step: which pieces are near, and room for all that follows.
 *
 * Whether two placements are `wanted` as a pair is a function of their bodies' columns and fat boxes:
 * different solid bodies, one of them dynamic; not filtered out; kinds that can meet; boxes that
 * overlap; and, for a plane, whose box may be everything, a box that reaches into its half-space. A mesh
 * makes one pair for each triangle whose box overlaps the other's box, both in the mesh's frame.
 *
 * Only what moved is asked. That suffices because of invariant 1 (dynamics.h): of a pair of which
 * neither moved, both questions (is it there, is it wanted) had the same answer before. So the result
 * is the same when more is asked, as after a rebuild, when all count as moved.
 *
 * Everything is found first, then held against the limits, then room is made, and only then changed.
 */
#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/mesh.h"

#include <string.h>

enum { EVENTS_SPARE = 16, SCRATCH_PUSHES = 32 };

/* ---- what is wanted --------------------------------------------------------------------------- */

static bool filter_allows(const struct body_table *body, uint32_t a, uint32_t b)
{
	if (body->id[a] == BODY_WALLS || body->id[b] == BODY_WALLS)
		return true;
	if (body->group[a] == body->group[b] && body->group[a] != 0)
		return body->group[a] > 0;
	return (body->category[a] & body->mask[b]) != 0 && (body->category[b] & body->mask[a]) != 0;
}

/* Whether the box comes within CONTACT_NEAR of the half-space. */
static bool plane_reaches(const struct dynamics *self, uint32_t plane, struct aabb box)
{
	const struct tables *tables = self->tables;
	const struct shape *shape = placement_shape(self, plane);
	pose at = pose_mul(body_pose(tables, placement_body(tables, plane)),
			   placement_pose(tables, plane));
	vec3 normal = pose_vector(at, shape->plane.normal);
	double offset = shape->plane.offset + vec3_dot(normal, at.position);
	double lowest = vec3_dot(normal, aabb_centre(box)) - vec3_dot(vec3_abs(normal), aabb_half(box));
	return lowest <= offset + CONTACT_NEAR;
}

/* All but the boxes' overlap, which the broad phase knows already. */
static bool placements_wanted(const struct dynamics *self, uint32_t a, uint32_t b)
{
	const struct tables *tables = self->tables;
	if (!tables->placement.active[a] || !tables->placement.active[b])
		return false;
	uint32_t body_a = placement_body(tables, a), body_b = placement_body(tables, b);
	if (body_a == body_b || (tables->body.status[body_a] != BODY_DYNAMIC &&
				 tables->body.status[body_b] != BODY_DYNAMIC))
		return false;
	if (!filter_allows(&tables->body, body_a, body_b))
		return false;
	enum shape_kind kind_a = placement_shape(self, a)->kind;
	enum shape_kind kind_b = placement_shape(self, b)->kind;
	if (!collide_supported(kind_a, kind_b))
		return false;
	if (kind_a == SHAPE_PLANE)
		return plane_reaches(self, a, placement_box(tables, b));
	return kind_b != SHAPE_PLANE || plane_reaches(self, b, placement_box(tables, a));
}

static bool is_mesh(const struct dynamics *self, uint32_t placement)
{
	return placement_shape(self, placement)->kind == SHAPE_MESH;
}

/* The other's fat box, seen from the mesh. */
static struct aabb box_in_mesh(const struct dynamics *self, uint32_t mesh, uint32_t other)
{
	const struct tables *tables = self->tables;
	pose at = pose_mul(body_pose(tables, placement_body(tables, mesh)),
			   placement_pose(tables, mesh));
	struct aabb box = placement_box(tables, other);
	vec3 half = aabb_half(box), centre = pose_inverse_point(at, aabb_centre(box));
	mat3 turn = mat3_from_quat(quat_conjugate(at.rotation));
	vec3 grown = vec3_add(vec3_add(vec3_scale(vec3_abs(turn.x), half.x),
				       vec3_scale(vec3_abs(turn.y), half.y)),
			      vec3_scale(vec3_abs(turn.z), half.z));
	return aabb_of_centre(centre, grown);
}

static bool row_wanted(const struct dynamics *self, uint32_t row)
{
	const struct contact_table *contact = &self->tables->contact;
	uint32_t a = contact->placement_a[row], b = contact->placement_b[row];
	if (!placements_wanted(self, a, b) ||
	    !aabb_overlaps(placement_box(self->tables, a), placement_box(self->tables, b)))
		return false;
	if (!is_mesh(self, a) && !is_mesh(self, b))
		return true;
	bool first = is_mesh(self, a);
	struct aabb box = box_in_mesh(self, first ? a : b, first ? b : a);
	const struct mesh *mesh = placement_shape(self, first ? a : b)->mesh;
	uint32_t child = first ? contact->child_a[row] : contact->child_b[row];
	return aabb_overlaps(mesh_triangle_aabb(mesh, child), box);
}

/* For the broad phase. A pair with a mesh is looked into each time: other triangles may be near now. */
static bool pair_filter(uint32_t a, uint32_t b, const void *context)
{
	const struct dynamics *self = context;
	if (!placements_wanted(self, a, b))
		return false;
	if (is_mesh(self, a) || is_mesh(self, b))
		return true;
	struct contact_pair pair = { (uint64_t)a << 32 | b, 0 };
	return contact_find(self, pair) == DYNAMICS_NONE;
}

/* ---- finding ---------------------------------------------------------------------------------- */

/* Rows that are there and no longer wanted. Each is looked at once: through a's list if a moved. */
static enum status find_gone(struct dynamics *self)
{
	const struct tables *tables = self->tables;
	self->gone.count = 0;
	for (uint32_t p = bitset_next(&self->moved, 0); p != BITSET_NONE;
	     p = bitset_next(&self->moved, p + 1)) {
		uint32_t e = self->bodies.items[placement_body(tables, p)].first_edge;
		for (; e != DYNAMICS_NONE; e = self->edges.items[e].next) {
			uint32_t row = edge_row(e);
			uint32_t a = tables->contact.placement_a[row];
			uint32_t b = tables->contact.placement_b[row];
			if (p != a && (p != b || bitset_get(&self->moved, a)))
				continue;
			if (row_wanted(self, row))
				continue;
			if (ARRAY_RESERVE(&self->gone, (uint64_t)self->gone.count + 1) != STATUS_OK)
				return STATUS_NO_MEMORY;
			self->gone.items[self->gone.count++] = row;
		}
	}
	return STATUS_OK;
}

static enum status new_push(struct dynamics *self, uint64_t placements, uint64_t children)
{
	if (ARRAY_RESERVE(&self->new_pairs, (uint64_t)self->new_pairs.count + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->new_pairs.items[self->new_pairs.count++] =
		(struct contact_pair){ placements, children };
	return STATUS_OK;
}

/* The triangles near, ascending, as sort keys in the first half of sort_scratch. */
static enum status near_triangles(struct dynamics *self, uint32_t mesh_at, uint32_t other, uint32_t *count)
{
	const struct mesh *mesh = placement_shape(self, mesh_at)->mesh;
	struct aabb box = box_in_mesh(self, mesh_at, other);
	*count = mesh_query(mesh, box, self->triangles.items, self->triangles.capacity);
	if (*count > self->triangles.capacity) {
		if (ARRAY_RESERVE(&self->triangles, *count) != STATUS_OK)
			return STATUS_NO_MEMORY;
		*count = mesh_query(mesh, box, self->triangles.items, self->triangles.capacity);
	}
	if (ARRAY_RESERVE(&self->sort_scratch, (uint64_t)*count * 2) != STATUS_OK)
		return STATUS_NO_MEMORY;
	uint64_t *keys = self->sort_scratch.items;
	for (uint32_t i = 0; i < *count; i++)
		keys[i] = self->triangles.items[i];
	if (*count > 1)
		sort_keys(keys, NULL, keys + *count, NULL, *count);
	return STATUS_OK;
}

static enum status find_new_with_mesh(struct dynamics *self, uint64_t placements)
{
	uint32_t a = proxy_pair_a(placements), b = proxy_pair_b(placements);
	bool first = is_mesh(self, a);
	uint32_t count;
	enum status status = near_triangles(self, first ? a : b, first ? b : a, &count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		uint64_t triangle = self->sort_scratch.items[i];
		struct contact_pair pair = { placements, first ? triangle << 32 : triangle };
		if (contact_find(self, pair) == DYNAMICS_NONE)
			status = new_push(self, pair.placements, pair.children);
	}
	return status;
}

/* Pairs with a mesh come from the broad phase also when they bring nothing new; they must not count
 * against the limit, or it would depend on how many happened to move. */
static uint64_t pairs_with_mesh_max(const struct dynamics *self)
{
	const struct shape_table *shape = &self->tables->shape;
	uint64_t meshes = 0;
	for (uint32_t row = 0; row < shape->count; row++)
		if (shape->id[row] != 0 && self->shapes[row]->kind == SHAPE_MESH)
			meshes += shape->uses[row];
	return meshes * self->placement_used.count;
}

/* Pairs wanted and not there, in their order: the broad phase's is (a, b), triangles ascend. */
static enum status find_new(struct dynamics *self, struct reason *why)
{
	uint32_t most = self->tables->world.contacts_max[0];
	uint64_t room = most + pairs_with_mesh_max(self);
	self->new_pairs.count = 0;
	enum status status = broad_phase_pairs(self->broad_phase, self->parallel, pair_filter, self,
					       (uint32_t)MIN_OF(room, (uint64_t)UINT32_MAX),
					       &self->near_pairs);
	if (status == STATUS_LIMIT)
		return reason_set(why, status, -1, "contacts", "more than %u pairs are near", most);
	for (uint32_t i = 0; status == STATUS_OK && i < self->near_pairs.count; i++) {
		uint64_t pair = self->near_pairs.items[i];
		if (is_mesh(self, proxy_pair_a(pair)) || is_mesh(self, proxy_pair_b(pair)))
			status = find_new_with_mesh(self, pair);
		else
			status = new_push(self, pair, 0);
	}
	return status;
}

/* ---- room ------------------------------------------------------------------------------------- */

static enum status check_limits(const struct dynamics *self, uint64_t contacts, struct reason *why)
{
	uint32_t most = self->tables->world.contacts_max[0];
	if (contacts > most)
		return reason_set(why, STATUS_LIMIT, -1, "contacts", "%llu contacts, the limit is %u",
				  (unsigned long long)contacts, most);
	uint32_t rows = MAX_OF((uint32_t)contacts, self->tables->contact.count);
	if (!tables_fit(self->tables, TABLE_CONTACT, rows))
		return reason_set(why, STATUS_LIMIT, -1, "memory",
				  "the tables would pass the limit of memory");
	return STATUS_OK;
}

/* Bytes that a step pushes on the arena at most; SCRATCH_PUSHES covers rounding. Contacts asleep are
 * counted too, because collide may wake any of them. */
static uint64_t scratch_bytes(const struct dynamics *self, step_need *need, uint64_t contacts)
{
	uint64_t own_per_body = 2 * sizeof(uint64_t) + 4 * sizeof(uint32_t) + sizeof(double);
	uint64_t own_per_contact = sizeof(struct contact_state) + sizeof(uint32_t) + 1;
	if (self->live.count < self->contact_used.count) /* collide may have to sort its list */
		own_per_contact += sizeof(struct contact_state) + sizeof(uint32_t);
	uint64_t rows = MAX_OF(contacts, (uint64_t)self->tables->contact.count);
	uint64_t bodies = self->tables->body.count;
	return SCRATCH_PUSHES * 64 + need(bodies, rows) + bodies * own_per_body +
	       rows * own_per_contact;
}

static enum status make_room(struct dynamics *self, step_need *need, uint64_t contacts)
{
	const struct tables *tables = self->tables;
	/* A contact may begin and, its body put out by bounds or quarantine, end; a body may wake, fall
	 * asleep, be put out and, by a neighbour that is, wake again. */
	uint64_t events = self->events.count + 2 * contacts + self->gone.count +
			  4 * (uint64_t)self->body_used.count + EVENTS_SPARE;
	enum status status = ARRAY_RESERVE(&self->events, events);
	if (status == STATUS_OK)
		status = dynamics_contact_reserve(
			self, MAX_OF((uint32_t)contacts, tables->contact.count));
	uint64_t bytes = scratch_bytes(self, need, contacts);
	if (status == STATUS_OK)
		status = bytes <= SIZE_MAX ? arena_reserve(&self->scratch, (size_t)bytes) :
					     STATUS_NO_MEMORY;
	return status;
}

/* A sleeper that something which is not awake was put beside (a wall set down in a pile). */
static void wake_met(struct dynamics *self, uint32_t row)
{
	if (bitset_get(&self->live, row))
		return;
	dynamics_wake(self, contact_body_a(self->tables, row));
	dynamics_wake(self, contact_body_b(self->tables, row));
}

enum status dynamics_prepare(struct dynamics *self, step_need *need, struct reason *why)
{
	enum status status = find_gone(self);
	if (status == STATUS_OK)
		status = find_new(self, why);
	if (status == STATUS_LIMIT)
		return status;
	uint64_t contacts = (uint64_t)self->contact_used.count - self->gone.count +
			    self->new_pairs.count;
	if (status == STATUS_OK)
		status = check_limits(self, contacts, why);
	if (status == STATUS_OK)
		status = make_room(self, need, contacts);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory", "no memory for %llu contacts",
				  (unsigned long long)contacts);
	if (status != STATUS_OK)
		return status;
	self->report = (struct step_report){ .pairs_new = self->new_pairs.count,
					     .pairs_gone = self->gone.count };
	for (uint32_t i = 0; i < self->gone.count; i++)
		contact_drop(self, self->gone.items[i]);
	for (uint32_t i = 0; i < self->new_pairs.count; i++)
		wake_met(self, contact_take(self, self->new_pairs.items[i]));
	broad_phase_settle(self->broad_phase);
	bitset_reset(&self->moved);
	return STATUS_OK;
}

enum status dynamics_prepare_bodies(struct dynamics *self, step_need *need, struct reason *why)
{
	self->gone.count = self->new_pairs.count = 0;
	if (make_room(self, need, self->contact_used.count) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for a step");
	self->report = (struct step_report){ 0 };
	return STATUS_OK;
}

void dynamics_finish(struct dynamics *self)
{
	self->contacts = NULL;
	self->contact_count = 0;
	arena_reset(&self->scratch);
}

/* ---- for methods that begin ------------------------------------------------------------------- */

void dynamics_contacts_forget(struct dynamics *self)
{
	for (uint32_t row = bitset_next(&self->contact_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->contact_used, row + 1))
		contact_drop(self, row);
	for (uint32_t p = bitset_next(&self->placement_used, 0); p != BITSET_NONE;
	     p = bitset_next(&self->placement_used, p + 1))
		if (self->tables->placement.active[p]) {
			broad_phase_touch(self->broad_phase, p);
			bitset_set(&self->moved, p);
		}
}

void dynamics_contacts_reset(struct dynamics *self)
{
	struct contact_table *contact = &self->tables->contact;
	for (uint32_t row = bitset_next(&self->contact_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->contact_used, row + 1)) {
		contact->fresh[row] = 1;
		contact->point_count[row] = 0;
		contact->cache_kind[row] = 0;
		contact->cache_a[row] = contact->cache_b[row] = 0;
		memset(contact->normal_impulse[row], 0, sizeof contact->normal_impulse[row]);
		memset(contact->friction_impulse[row], 0, sizeof contact->friction_impulse[row]);
		memset(contact->multiplier[row], 0, sizeof contact->multiplier[row]);
	}
}
