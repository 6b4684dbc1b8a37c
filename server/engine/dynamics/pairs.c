/* pairs.c: the pairs of pieces that are near.
 *
 * Two placements are `wanted` as a pair by a function of their bodies' columns and fat boxes:
 * their bodies are solid and different, one of them dynamic, and without a joint that lets them
 * pass; they are no sensors and not filtered out, by what they have of their own or by their
 * bodies; their kinds of shape can collide; their boxes overlap; and, for a plane, whose box may
 * be infinite, the other's box reaches its half-space.
 *
 * Shapes of several pieces (meshes, solids of parts) have a pair for each near piece. Boxes are
 * compared in one frame: the mesh's, else A's, or B's if A has one piece. A piece is near if its
 * box overlaps
 *   the other's fat box                      if the other has one piece,
 *   the box of a piece of the other          if not (two meshes never collide, so that is a solid's part).
 * The pieces of a field are its sides where these are collided separately (shape_is_sided). A field
 * has one piece against planes, meshes and solids of parts, and as the second of two fields. The
 * boxes of parts of solids are grown by the look-ahead of contacts. Parts move within the fat box
 * of the solid, so its placement counts as moved in every step that stores its body (body.c), and
 * `wanted` stays a function of columns.
 *
 * Only pairs with a moved placement are examined. That suffices because of invariant 1
 * (dynamics.h): if neither moved, the pair has a row exactly if it is wanted, as before. So to
 * examine more, as after a rebuild when all count as moved, gives the same result.
 */
#include "server/engine/dynamics/pairs.h"

#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/world/parameters.h"

/* ---- wanted pairs -------------------------------------------------------------------------- */

bool pairs_filter_allows(const struct dynamics *self, uint32_t a, uint32_t b)
{
	const struct tables *tables = self->tables;
	if (tables->body.id[placement_body(tables, a)] == BODY_WALLS ||
	    tables->body.id[placement_body(tables, b)] == BODY_WALLS)
		return true;
	struct piece_filter at_a = piece_filter(self, a), at_b = piece_filter(self, b);
	if (at_a.group == at_b.group && at_a.group != 0)
		return at_a.group > 0;
	return (at_a.category & at_b.mask) != 0 && (at_b.category & at_a.mask) != 0;
}

/* True if the box, moved by at most `motion` m, comes within CONTACT_NEAR of the half-space. */
static bool plane_reaches(const struct dynamics *self, uint32_t plane, struct aabb box,
			  double motion)
{
	ASSERT(placement_shape(self, plane)->kind == SHAPE_PLANE);
	ASSERT(motion >= 0);
	const struct tables *tables = self->tables;
	const struct shape *shape = placement_shape(self, plane);
	pose at = pose_mul(body_pose(tables, placement_body(tables, plane)),
			   placement_pose(tables, plane));
	vec3 normal = pose_vector(at, shape->plane.normal);
	double offset = shape->plane.offset + vec3_dot(normal, at.position);
	double lowest =
		vec3_dot(normal, aabb_centre(box)) - vec3_dot(vec3_abs(normal), aabb_half(box));
	return lowest <= offset + CONTACT_NEAR + motion;
}

/* All conditions of a wanted pair but the overlap of boxes and the reach of a half-space. */
static bool placements_may_meet(const struct dynamics *self, uint32_t a, uint32_t b)
{
	ASSERT(a != b);
	const struct tables *tables = self->tables;
	if (!tables->placement.active[a] || !tables->placement.active[b])
		return false;
	uint32_t body_a = placement_body(tables, a), body_b = placement_body(tables, b);
	if (body_a == body_b || (tables->body.status[body_a] != BODY_DYNAMIC &&
				 tables->body.status[body_b] != BODY_DYNAMIC))
		return false;
	if (piece_is_sensor(self, a) || piece_is_sensor(self, b))
		return false;
	if (!pairs_filter_allows(self, a, b) || dynamics_bodies_pass(self, body_a, body_b))
		return false;
	return collide_supported(placement_shape(self, a)->kind, placement_shape(self, b)->kind);
}

/* True if neither of two placements is a half-space, or the other's box reaches it. */
static bool half_spaces_reached(const struct dynamics *self, const struct pair_reach *a,
				const struct pair_reach *b)
{
	if (placement_shape(self, a->placement)->kind == SHAPE_PLANE)
		return plane_reaches(self, a->placement, b->box, a->motion);
	return placement_shape(self, b->placement)->kind != SHAPE_PLANE ||
	       plane_reaches(self, b->placement, a->box, b->motion);
}

struct pair_reach pair_reach_fat(const struct dynamics *self, uint32_t placement)
{
	return (struct pair_reach){ placement, placement_box(self->tables, placement), 0 };
}

/* All conditions but the overlap of boxes, which the broad phase has tested. */
bool pair_may_meet(const struct dynamics *self, const struct pair_reach *a,
		   const struct pair_reach *b)
{
	return placements_may_meet(self, a->placement, b->placement) &&
	       half_spaces_reached(self, a, b);
}

static bool placements_wanted(const struct dynamics *self, uint32_t a, uint32_t b)
{
	struct pair_reach at_a = pair_reach_fat(self, a), at_b = pair_reach_fat(self, b);
	return pair_may_meet(self, &at_a, &at_b);
}

static bool is_surface(const struct dynamics *self, uint32_t placement)
{
	return shape_is_surface(placement_shape(self, placement));
}

/* True if the placement is divided against the other: for a field that depends on the other's
 * shape, and of two fields only the frame's is divided. */
static bool has_pieces(const struct dynamics *self, uint32_t placement, uint32_t other)
{
	const struct shape *shape = placement_shape(self, placement);
	if (shape_is_field(shape))
		return shape_is_sided(shape, placement_shape(self, other));
	return shape_is_divided(shape);
}

static bool any_pieces(const struct dynamics *self, uint32_t a, uint32_t b)
{
	return has_pieces(self, a, b) || has_pieces(self, b, a);
}

static pose shape_pose(const struct dynamics *self, uint32_t placement)
{
	const struct tables *tables = self->tables;
	return pose_mul(body_pose(tables, placement_body(tables, placement)),
			placement_pose(tables, placement));
}

/* The box around a turned box. */
static struct aabb box_turned(struct aabb box, mat3 turn, vec3 centre)
{
	vec3 half = aabb_half(box);
	vec3 grown = vec3_add(vec3_add(vec3_scale(vec3_abs(turn.x), half.x),
				       vec3_scale(vec3_abs(turn.y), half.y)),
			      vec3_scale(vec3_abs(turn.z), half.z));
	return aabb_of_centre(centre, grown);
}

/* A piece's box in its shape's frame. */
static struct aabb piece_box(const struct shape *shape, uint32_t piece)
{
	ASSERT(shape_is_divided(shape));
	struct aabb box = shape_piece_aabb(shape, piece);
	if (shape_is_surface(shape))
		return box;
	return aabb_grow(box, CONTACT_NEAR + CONTACT_LOOK_AHEAD * shape->extent_min);
}

/* Two placements of which at least one has pieces. */
struct divided_pair {
	const struct pair_reach *frame, *other;
	bool frame_first; /* the frame's is the pair's A */
	const struct shape *shape, *other_shape;
	bool pieces;   /* the other has pieces too */
	double motion; /* m: bound of the motion of their points from the poses in the tables */
	pose other_in_frame;
	mat3 turn;
};

static struct divided_pair find_frame(const struct dynamics *self, const struct pair_reach *a,
				      const struct pair_reach *b)
{
	ASSERT(a->placement < b->placement);
	struct divided_pair m;
	m.frame_first =
		is_surface(self, a->placement) ||
		(!is_surface(self, b->placement) && has_pieces(self, a->placement, b->placement));
	m.frame = m.frame_first ? a : b;
	m.other = m.frame_first ? b : a;
	m.shape = placement_shape(self, m.frame->placement);
	m.other_shape = placement_shape(self, m.other->placement);
	m.pieces = has_pieces(self, m.other->placement, m.frame->placement) &&
		   !shape_is_field(m.shape);
	pose at = shape_pose(self, m.frame->placement);
	if (m.pieces) {
		m.motion = m.frame->motion + m.other->motion;
		m.other_in_frame = pose_relative(at, shape_pose(self, m.other->placement));
		m.turn = mat3_from_quat(m.other_in_frame.rotation);
	} else {
		m.motion = m.frame->motion;
		m.other_in_frame = pose_inverse(at); /* boxes are in the world's axes */
		m.turn = mat3_from_quat(quat_conjugate(at.rotation));
	}
	return m;
}

/* The box of the other's piece, or of the whole other, in the frame. */
static struct aabb other_box(const struct dynamics *self, const struct divided_pair *m,
			     uint32_t piece)
{
	struct aabb box;
	if (m->pieces) {
		box = piece_box(m->other_shape, piece);
		box = box_turned(box, m->turn, pose_point(m->other_in_frame, aabb_centre(box)));
	} else {
		box = m->other->box;
		box = box_turned(box, m->turn,
				 pose_inverse_point(shape_pose(self, m->frame->placement),
						    aabb_centre(box)));
	}
	return m->motion > 0 ? aabb_grow(box, m->motion) : box;
}

/* Cache of the test whether a pair is wanted. The part that all pieces of two placements share is
 * computed once, because a body on a fine mesh has thousands of rows. The other fields are valid
 * only if `filled`. */
struct wanted_test {
	bool filled, wanted, pieces, boxed;
	uint32_t a, b; /* placements */
	struct pair_reach at_a, at_b;
	struct divided_pair divided;
	uint32_t other; /* the other's piece of `box`, if `boxed` */
	struct aabb box;
};

static void open_test(const struct dynamics *self, struct wanted_test *q, uint32_t a, uint32_t b)
{
	q->filled = true;
	q->boxed = false;
	q->a = a;
	q->b = b;
	q->wanted = placements_wanted(self, a, b) &&
		    aabb_overlaps(placement_box(self->tables, a), placement_box(self->tables, b));
	q->pieces = q->wanted && any_pieces(self, a, b);
	if (!q->pieces)
		return;
	q->at_a = pair_reach_fat(self, a);
	q->at_b = pair_reach_fat(self, b);
	q->divided = find_frame(self, &q->at_a, &q->at_b);
}

static bool test_wanted(const struct dynamics *self, struct wanted_test *q,
			const struct contact_pair *pair)
{
	uint32_t a = pair->a.placement, b = pair->b.placement;
	if (!q->filled || q->a != a || q->b != b)
		open_test(self, q, a, b);
	if (!q->pieces)
		return q->wanted;
	uint32_t own = q->divided.frame_first ? pair->a.child : pair->b.child;
	uint32_t other = q->divided.frame_first ? pair->b.child : pair->a.child;
	if (!q->boxed || q->other != other) {
		q->box = other_box(self, &q->divided, other);
		q->other = other;
		q->boxed = true;
	}
	return aabb_overlaps(piece_box(q->divided.shape, own), q->box);
}

bool pair_wanted(const struct dynamics *self, const struct contact_pair *pair)
{
	ASSERT(pair->a.placement < pair->b.placement);
	struct wanted_test test;
	test.filled = false;
	return test_wanted(self, &test, pair);
}

static struct contact_pair row_pair(const struct contact_table *contact, uint32_t row)
{
	ASSERT(contact->used[row]);
	return (struct contact_pair){ { contact->placement_a[row], contact->child_a[row] },
				      { contact->placement_b[row], contact->child_b[row] } };
}

/* Filter of the broad phase. A pair with pieces passes each time, because other pieces may be near
 * now. Most pairs found have a row, which is seen sooner than whether they are wanted. */
static bool pair_filter(uint32_t a, uint32_t b, const void *context)
{
	const struct dynamics *self = context;
	struct contact_pair pair = { { a, 0 }, { b, 0 } };
	if (contact_find(self, &pair) != DYNAMICS_NONE && !any_pieces(self, a, b))
		return false;
	return placements_wanted(self, a, b);
}

/* ---- finding ------------------------------------------------------------------------------- */

/* Rows that are no longer wanted. Each is tested once: through the list of a's body if a moved,
 * else of b's. */
static enum status find_gone(struct dynamics *self)
{
	const struct tables *tables = self->tables;
	struct wanted_test test;
	test.filled = false;
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
			struct contact_pair pair = row_pair(&tables->contact, row);
			if (test_wanted(self, &test, &pair))
				continue;
			if (ARRAY_RESERVE(&self->gone, (uint64_t)self->gone.count + 1) != STATUS_OK)
				return STATUS_NO_MEMORY;
			self->gone.items[self->gone.count++] = row;
		}
	}
	return STATUS_OK;
}

static enum status new_push(struct dynamics *self, struct contact_pair pair)
{
	if (ARRAY_RESERVE(&self->new_pairs, (uint64_t)self->new_pairs.count + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	ASSERT(pair.a.placement < pair.b.placement);
	self->new_pairs.items[self->new_pairs.count++] = pair;
	return STATUS_OK;
}

/* Appends the pieces of the frame's shape near a box to sort_scratch, as keys (child a, child b). */
static enum status near_pieces(struct dynamics *self, const struct divided_pair *m, struct aabb box,
			       uint64_t other, uint32_t *count)
{
	ASSERT(*count <= self->sort_scratch.capacity);
	uint32_t pieces = shape_piece_count(m->shape), found = 0;
	if (shape_is_surface(m->shape)) {
		const struct mesh *mesh = m->shape->mesh;
		found = mesh_query(mesh, box, self->triangles.items, self->triangles.capacity);
		if (found > self->triangles.capacity) {
			if (ARRAY_RESERVE(&self->triangles, found) != STATUS_OK)
				return STATUS_NO_MEMORY;
			found = mesh_query(mesh, box, self->triangles.items,
					   self->triangles.capacity);
		}
	} else {
		if (ARRAY_RESERVE(&self->triangles, pieces) != STATUS_OK)
			return STATUS_NO_MEMORY;
		for (uint32_t i = 0; i < pieces; i++)
			if (aabb_overlaps(piece_box(m->shape, i), box))
				self->triangles.items[found++] = i;
	}
	if (ARRAY_RESERVE(&self->sort_scratch, 2 * ((uint64_t)*count + found)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < found; i++) {
		uint64_t own = self->triangles.items[i];
		self->sort_scratch.items[(*count)++] =
			m->frame_first ? own << 32 | other : other << 32 | own;
	}
	return STATUS_OK;
}

enum status pairs_between(struct dynamics *self, const struct pair_reach *a,
			  const struct pair_reach *b)
{
	ASSERT(a->placement < b->placement);
	struct contact_pair pair = { { a->placement, 0 }, { b->placement, 0 } };
	if (!any_pieces(self, a->placement, b->placement))
		return new_push(self, pair);
	struct divided_pair m = find_frame(self, a, b);
	uint32_t others = m.pieces ? shape_piece_count(m.other_shape) : 1, count = 0;
	struct aabb bounds = aabb_grow(aabb_make(m.shape->aabb_min, m.shape->aabb_max),
				       CONTACT_NEAR + CONTACT_LOOK_AHEAD * m.shape->extent_min);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < others && status == STATUS_OK; i++) {
		struct aabb box = other_box(self, &m, i);
		if (aabb_overlaps(bounds, box))
			status = near_pieces(self, &m, box, i, &count);
	}
	if (status == STATUS_OK && count > 1)
		sort_keys(self->sort_scratch.items, NULL, self->sort_scratch.items + count, NULL,
			  count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		pair.a.child = (uint32_t)(self->sort_scratch.items[i] >> 32);
		pair.b.child = (uint32_t)self->sort_scratch.items[i];
		status = new_push(self, pair);
	}
	return status;
}

/* Removes from new_pairs, from `first` on, the pairs that have a row. */
static void remove_known(struct dynamics *self, uint32_t first)
{
	ASSERT(first <= self->new_pairs.count);
	uint32_t kept = first;
	for (uint32_t i = first; i < self->new_pairs.count; i++)
		if (contact_find(self, &self->new_pairs.items[i]) == DYNAMICS_NONE)
			self->new_pairs.items[kept++] = self->new_pairs.items[i];
	ASSERT(kept <= self->new_pairs.count);
	self->new_pairs.count = kept;
}

/* Upper bound of the pairs with pieces. The broad phase returns them even without a new pair of
 * pieces, so they must not count against the limit, which would then depend on how many placements
 * moved. */
static uint64_t bound_divided_pairs(const struct dynamics *self)
{
	const struct shape_table *shape = &self->tables->shape;
	uint64_t owners = 0;
	for (uint32_t row = 0; row < shape->count; row++)
		if (shape->id[row] != 0 && shape_is_divided(self->shapes[row]))
			owners += shape->uses[row];
	return owners * self->placement_used.count;
}

/* Wanted pairs without a row, ascending: the broad phase's order is (a, b), and children ascend. */
static enum status find_new(struct dynamics *self, struct reason *why)
{
	uint32_t most = self->tables->world.contacts_max[0];
	uint64_t room = most + bound_divided_pairs(self);
	self->new_pairs.count = 0;
	const double *parameter = self->tables->parameter.value;
	broad_phase_set_cells(
		self->broad_phase,
		(struct broad_cells){ parameter[PARAMETER_BROAD_PHASE_CELL],
				      (uint32_t)parameter[PARAMETER_BROAD_PHASE_LEVELS] });
	enum status status =
		broad_phase_pairs(self->broad_phase, self->parallel, pair_filter, self,
				  (uint32_t)MIN_OF(room, (uint64_t)UINT32_MAX), &self->near_pairs);
	if (status == STATUS_LIMIT) {
		self->limit_met = most;
		return reason_set(why, status, -1, "contacts",
				  "more pairs are near than the world's contacts_max of %u", most);
	}
	for (uint32_t i = 0; status == STATUS_OK && i < self->near_pairs.count; i++) {
		uint64_t key = self->near_pairs.items[i];
		struct pair_reach a = pair_reach_fat(self, proxy_pair_a(key));
		struct pair_reach b = pair_reach_fat(self, proxy_pair_b(key));
		uint32_t first = self->new_pairs.count;
		status = pairs_between(self, &a, &b);
		if (any_pieces(self, a.placement, b.placement))
			remove_known(self, first);
	}
	return status;
}

enum status pairs_find(struct dynamics *self, struct reason *why)
{
	enum status status = find_gone(self);
	return status == STATUS_OK ? find_new(self, why) : status;
}

/* ---- change of method ---------------------------------------------------------------------- */

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
