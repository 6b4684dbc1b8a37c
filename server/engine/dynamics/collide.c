/* collide.c: where live contacts touch now.
 *
 * A manifold is a fact about two pieces in one relative pose. It is made by the narrow phase and kept,
 * in A's frame, while the pieces move little relative to each other ("recycling"): its normal and its
 * points on both surfaces then stay, and only separations are measured anew. With T the motion of B
 * relative to A since the manifold was made, n its normal, m and s a point and its separation then:
 *
 *   on A: p = m − n s/2,  on B: q = T (m + n s/2),  now: separation n·(q − p), point (p + q)/2.
 *
 * The pose when it was made is a column, so keeping is exact state: a restored world keeps the same
 * manifolds. A manifold without points says that the pieces were farther apart than the distance it was
 * asked for, which is then kept in its first separation; it holds until they may have come nearer.
 *
 * Round pieces (spheres, capsules) are never kept: rolling, they would carry the normal with them, and
 * their narrow phase costs less than the question.
 *
 * Contacts are independent: each piece of parallel work writes to the rows and to the slots of its own
 * contacts. What touches several (waking) is done afterwards in order of rows. Waking makes more
 * contacts live, which are then collided too, until no more wake.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/tuning.h"

#include <string.h>

enum { COLLIDE_GRAIN = 32 };

struct side {
	uint32_t body, placement;
	const struct shape *shape;
	const struct body_cache *cache;
};

static struct side side_of(const struct dynamics *self, uint32_t placement)
{
	uint32_t body = placement_body(self->tables, placement);
	return (struct side){ body, placement, placement_shape(self, placement),
			      &self->bodies.items[body] };
}

/* ---- how near is near ------------------------------------------------------------------------- */

static bool is_round(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_CAPSULE;
}

/* How fast points of the surface may approach because the piece turns; not that of a sphere. */
static double turning_speed(const struct tables *tables, const struct side *side)
{
	if (tables->body.status[side->body] == BODY_STATIC)
		return 0;
	return vec3_length(tables->body.angular_velocity[side->body]) *
	       (side->cache->reach - side->shape->extent_min);
}

/* m: points farther apart than this do not matter in this step. */
static double needed_distance(const struct tables *tables, const struct side *a,
			      const struct side *b)
{
	double speed = vec3_distance(tables->body.velocity[a->body], tables->body.velocity[b->body]) +
		       turning_speed(tables, a) + turning_speed(tables, b);
	double least = __builtin_inf();
	if (tables->body.status[a->body] == BODY_DYNAMIC)
		least = a->shape->extent_min;
	if (tables->body.status[b->body] == BODY_DYNAMIC)
		least = scalar_min(least, b->shape->extent_min);
	return CONTACT_NEAR +
	       scalar_min(speed * tick_seconds(tables), CONTACT_LOOK_AHEAD * least);
}

/* ---- keeping ---------------------------------------------------------------------------------- */

/* m: how far points of the piece with the lesser reach moved in the other's frame, at most. */
static double relative_motion(const struct side *a, const struct side *b, const pose *before,
			      const pose *now, double *angle)
{
	quat turn = quat_mul(now->rotation, quat_conjugate(before->rotation));
	*angle = 2 * vec3_length(quat_vector(turn));
	if (b->cache->reach <= a->cache->reach)
		return vec3_distance(now->position, before->position) + *angle * b->cache->reach;
	vec3 a_now = quat_rotate_inverse(now->rotation, now->position);
	vec3 a_before = quat_rotate_inverse(before->rotation, before->position);
	return vec3_distance(a_now, a_before) + *angle * a->cache->reach;
}

static bool may_keep(const struct tables *tables, uint32_t row, const struct side *a,
		     const struct side *b, const pose *now, double needed)
{
	const struct contact_table *contact = &tables->contact;
	if (contact->fresh[row])
		return false;
	/* Sides of a field hand contacts to each other while they turn: all are asked at the same
	 * times, or a contact that goes from one that is asked to one that is not would be lost. So
	 * none counts as empty. */
	bool sided = shape_is_sided(a->shape, b->shape) || shape_is_sided(b->shape, a->shape);
	bool empty = contact->point_count[row] == 0 && !sided;
	if (!empty && (is_round(a->shape) || is_round(b->shape)))
		return false;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	double angle;
	double moved = relative_motion(a, b, &before, now, &angle);
	if (empty)
		return moved + needed <= contact->separation[row][0];
	return angle <= CONTACT_KEEP_ANGLE && moved <= CONTACT_KEEP_DISTANCE &&
	       moved + needed <= CONTACT_NEAR + CONTACT_SPARE;
}

/* ---- making ----------------------------------------------------------------------------------- */

/* Multipliers of points whose feature was there before go on; the others begin with none. */
static void match_features(struct contact_table *contact, uint32_t row, const struct manifold *made)
{
	double before[MANIFOLD_POINTS_MAX], now[MANIFOLD_POINTS_MAX] = { 0 };
	uint32_t count = contact->point_count[row];
	for (uint32_t i = 0; i < count; i++)
		before[i] = contact->multiplier[row][3 * i];
	for (uint32_t i = 0; i < made->count; i++)
		for (uint32_t k = 0; k < count; k++)
			if (contact->feature[row][k] == made->points[i].feature)
				now[i] = before[k];
	for (uint32_t i = 0; i < MANIFOLD_POINTS_MAX; i++)
		contact->multiplier[row][3 * i] = now[i];
}

static bool is_identity(const pose *at)
{
	return vec3_equal(at->position, vec3_zero()) && quat_equal(at->rotation, quat_identity());
}

/* Runs the narrow phase; the manifold comes in the frame of A's body. */
static void narrow_phase(const struct dynamics *self, uint32_t row, const struct side *a,
			 const struct side *b, const pose *b_in_a, double margin,
			 struct manifold *made)
{
	struct tables *tables = self->tables;
	struct contact_table *contact = &tables->contact;
	pose on_a = placement_pose(tables, a->placement), on_b = placement_pose(tables, b->placement);
	bool plain = is_identity(&on_a) && is_identity(&on_b);
	pose shapes = plain ? *b_in_a : pose_relative(on_a, pose_mul(*b_in_a, on_b));
	struct pair_cache cache = { .kind = contact->cache_kind[row],
				    .feature_a = contact->cache_a[row],
				    .feature_b = contact->cache_b[row] };
	collide_pieces((struct piece){ a->shape, contact->child_a[row] },
		       (struct piece){ b->shape, contact->child_b[row] }, &shapes, margin, &cache,
		       made);
	contact->cache_kind[row] = cache.kind;
	contact->cache_a[row] = cache.feature_a;
	contact->cache_b[row] = cache.feature_b;
	if (is_identity(&on_a))
		return;
	made->normal = pose_vector(on_a, made->normal);
	for (uint32_t i = 0; i < made->count; i++)
		made->points[i].point = pose_point(on_a, made->points[i].point);
}

static void make_manifold(const struct dynamics *self, uint32_t row, const struct side *a,
			  const struct side *b, const pose *b_in_a, double needed)
{
	struct contact_table *contact = &self->tables->contact;
	double margin = needed + CONTACT_SPARE;
	struct manifold made;
	narrow_phase(self, row, a, b, b_in_a, margin, &made);
	match_features(contact, row, &made);
	contact->point_count[row] = (uint8_t)made.count;
	contact->normal[row] = made.count > 0 ? made.normal : vec3_zero();
	for (uint32_t i = 0; i < MANIFOLD_POINTS_MAX; i++) {
		bool used = i < made.count;
		vec3 point = used ? made.points[i].point : vec3_zero();
		contact->anchor[row][3 * i] = point.x;
		contact->anchor[row][3 * i + 1] = point.y;
		contact->anchor[row][3 * i + 2] = point.z;
		contact->separation[row][i] = used ? made.points[i].separation : 0;
		contact->feature[row][i] = used ? made.points[i].feature : 0;
	}
	if (made.count == 0)
		contact->separation[row][0] = margin;
	contact->relative_position[row] = b_in_a->position;
	contact->relative_rotation[row] = b_in_a->rotation;
	contact->fresh[row] = 0;
}

/* ---- as it stands now ------------------------------------------------------------------------- */

struct contact_motion contact_motion(const struct tables *tables, uint32_t row, const pose *b_in_a)
{
	const struct contact_table *contact = &tables->contact;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	pose since = pose_mul(*b_in_a, pose_inverse(before));
	return (struct contact_motion){ mat3_from_quat(since.rotation), since.position };
}

struct contact_place contact_place(const struct tables *tables, uint32_t row, uint32_t point,
				   const struct contact_motion *motion)
{
	const struct contact_table *contact = &tables->contact;
	const double *anchor = &contact->anchor[row][(size_t)3 * point];
	vec3 normal = contact->normal[row], middle = vec3_make(anchor[0], anchor[1], anchor[2]);
	vec3 half = vec3_scale(normal, 0.5 * contact->separation[row][point]);
	vec3 p = vec3_sub(middle, half);
	vec3 q = vec3_add(mat3_mul_vec(motion->turn, vec3_add(middle, half)), motion->shift);
	return (struct contact_place){ vec3_scale(vec3_add(p, q), 0.5),
				       vec3_dot(normal, vec3_sub(q, p)) };
}

static void contact_now(const struct dynamics *self, const struct side *a, const struct side *b,
			const pose *b_in_a, struct contact_state *out)
{
	const struct tables *tables = self->tables;
	const struct contact_table *contact = &tables->contact;
	uint32_t row = out->row;
	vec3 centre_a = tables->body.centre[a->body];
	vec3 a_to_b = vec3_sub(b->cache->centre, a->cache->centre);
	struct contact_motion motion = { mat3_identity(), vec3_zero() };
	if (out->kept)
		motion = contact_motion(tables, row, b_in_a);
	out->normal = mat3_mul_vec(a->cache->rotation, contact->normal[row]);
	out->point_count = contact->point_count[row];
	for (uint32_t i = 0; i < out->point_count; i++) {
		const double *anchor = &contact->anchor[row][3 * i];
		struct contact_place place = { vec3_make(anchor[0], anchor[1], anchor[2]),
					       contact->separation[row][i] };
		if (out->kept)
			place = contact_place(tables, row, i, &motion);
		vec3 arm = mat3_mul_vec(a->cache->rotation, vec3_sub(place.point, centre_a));
		out->points[i] =
			(struct contact_point){ arm, vec3_sub(arm, a_to_b), place.separation };
	}
}

static vec3 point_velocity(const struct tables *tables, uint32_t body, vec3 arm)
{
	return vec3_add(tables->body.velocity[body],
			vec3_cross(tables->body.angular_velocity[body], arm));
}

/* Whether one body is awake, the other a sleeper, and a point may close within this tick. */
static bool reaches_sleeper(const struct dynamics *self, const struct contact_state *contact)
{
	const struct tables *tables = self->tables;
	uint32_t a = contact->body_a, b = contact->body_b;
	if (tables->body.sleep_set[a] == 0 && tables->body.sleep_set[b] == 0)
		return false;
	for (uint32_t i = 0; i < contact->point_count; i++) {
		const struct contact_point *point = &contact->points[i];
		vec3 closing = vec3_sub(point_velocity(tables, a, point->arm_a),
					point_velocity(tables, b, point->arm_b));
		double way = vec3_dot(closing, contact->normal) * tick_seconds(tables);
		if (point->separation <= scalar_max(0, CONTACT_WAKE_REACH * way))
			return true;
	}
	return false;
}

static void collide_one(const struct dynamics *self, struct contact_state *out)
{
	struct tables *tables = self->tables;
	uint32_t row = out->row;
	struct side a = side_of(self, tables->contact.placement_a[row]);
	struct side b = side_of(self, tables->contact.placement_b[row]);
	pose b_in_a = pose_relative(body_pose(tables, a.body), body_pose(tables, b.body));
	double needed = needed_distance(tables, &a, &b);
	out->body_a = a.body;
	out->body_b = b.body;
	out->kept = may_keep(tables, row, &a, &b, &b_in_a, needed);
	if (!out->kept)
		make_manifold(self, row, &a, &b, &b_in_a, needed);
	contact_now(self, &a, &b, &b_in_a, out);
	out->wakes = reaches_sleeper(self, out);
	/* Not near in this step: the method need not look at it. */
	double nearest = __builtin_inf();
	for (uint32_t i = 0; i < out->point_count; i++)
		nearest = scalar_min(nearest, out->points[i].separation);
	if (nearest > needed)
		out->point_count = 0;
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void collide_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct contact_state *contacts = *(struct contact_state **)context;
	const struct dynamics *self = ((void **)context)[1];
	for (uint32_t i = first; i < last; i++)
		collide_one(self, &contacts[i]);
}

/* Live contacts that are not in the list yet follow at its end, in order of rows. */
static void append_live(struct dynamics *self, uint64_t *listed)
{
	uint32_t first = self->contact_count;
	for (uint32_t row = bitset_next(&self->live, 0); row != BITSET_NONE;
	     row = bitset_next(&self->live, row + 1)) {
		if (listed[row / 64] >> (row % 64) & 1)
			continue;
		listed[row / 64] |= UINT64_C(1) << (row % 64);
		self->contacts[self->contact_count++].row = row;
	}
	void *context[2] = { self->contacts + first, self };
	parallel_run(self->parallel, self->contact_count - first, COLLIDE_GRAIN, collide_piece,
		     context);
}

/* The list in order of rows again: its runs ascend, and each row of `live` stands in one of them. */
static void sort_contacts(struct dynamics *self)
{
	uint32_t *place = ARENA_ARRAY(&self->scratch, uint32_t, self->tables->contact.count);
	struct contact_state *to =
		ARENA_ARRAY(&self->scratch, struct contact_state, self->contact_count);
	ASSERT(place != NULL && to != NULL);
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->contact_count; i++)
		place[self->contacts[i].row] = i;
	for (uint32_t row = bitset_next(&self->live, 0); row != BITSET_NONE;
	     row = bitset_next(&self->live, row + 1))
		to[count++] = self->contacts[place[row]];
	ASSERT(count == self->contact_count);
	self->contacts = to;
}

static bool wake_reached(struct dynamics *self)
{
	uint32_t awake = self->awake.count;
	for (uint32_t i = 0; i < self->contact_count; i++) {
		if (!self->contacts[i].wakes)
			continue;
		dynamics_wake(self, self->contacts[i].body_a);
		dynamics_wake(self, self->contacts[i].body_b);
		self->contacts[i].wakes = 0;
	}
	return self->awake.count != awake;
}

static void report_contacts(struct dynamics *self)
{
	struct step_report *report = &self->report;
	double sum = 0;
	uint32_t deep = 0;
	report->contacts = self->contact_count;
	report->awake_bodies = self->awake.count;
	for (uint32_t i = 0; i < self->contact_count; i++) {
		const struct contact_state *contact = &self->contacts[i];
		*(contact->kept ? &report->manifolds_kept : &report->manifolds_made) += 1;
		report->points += contact->point_count;
		for (uint32_t k = 0; k < contact->point_count; k++) {
			double depth = -contact->points[k].separation;
			if (depth <= 0)
				continue;
			sum += depth;
			deep++;
			report->penetration_max = scalar_max(report->penetration_max, depth);
		}
	}
	report->penetration_mean = deep > 0 ? sum / deep : 0;
}

void dynamics_collide(struct dynamics *self)
{
	uint32_t words = (self->tables->contact.count + 63) / 64;
	uint64_t *listed = arena_push_zero(&self->scratch, words * sizeof *listed);
	self->contacts =
		ARENA_ARRAY(&self->scratch, struct contact_state, self->contact_used.count);
	ASSERT(listed != NULL && self->contacts != NULL);
	self->contact_count = 0;
	append_live(self, listed);
	bool woken = false;
	while (wake_reached(self)) {
		append_live(self, listed);
		woken = true;
	}
	if (woken)
		sort_contacts(self);
	report_contacts(self);
}

/* ---- after the solve -------------------------------------------------------------------------- */

static void note_change(struct dynamics *self, const struct contact_state *contact, bool begins,
			double impulse)
{
	const struct tables *tables = self->tables;
	struct event event = { .kind = begins ? EVENT_CONTACT_BEGIN : EVENT_CONTACT_END,
			       .a = tables->body.id[contact->body_a],
			       .b = tables->body.id[contact->body_b],
			       .child_a = tables->contact.child_a[contact->row],
			       .child_b = tables->contact.child_b[contact->row],
			       .fraction = 1 };
	if (begins) {
		event.value = impulse;
		event.point = vec3_add(self->bodies.items[contact->body_a].centre,
				       contact->points[0].arm_a);
		event.normal = contact->normal;
	}
	dynamics_event(self, event);
}

/* What a method left in a contact that is too far apart to be solved now. */
static void clear_impulses(struct contact_table *table, uint32_t row)
{
	memset(table->normal_impulse[row], 0, sizeof table->normal_impulse[row]);
	memset(table->friction_impulse[row], 0, sizeof table->friction_impulse[row]);
	memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
}

void dynamics_contacts_solved(struct dynamics *self)
{
	struct contact_table *table = &self->tables->contact;
	for (uint32_t i = 0; i < self->contact_count; i++) {
		const struct contact_state *contact = &self->contacts[i];
		bool touched = table->touching[contact->row], touching = false;
		if (touched && contact->point_count == 0)
			clear_impulses(table, contact->row);
		double impulse = 0;
		for (uint32_t k = 0; k < contact->point_count; k++) {
			impulse += table->normal_impulse[contact->row][k];
			touching |= contact->points[k].separation <= 0;
		}
		touching |= impulse > 0;
		self->report.touching += touching;
		if (touching != touched)
			note_change(self, contact, touching, impulse);
		table->touching[contact->row] = touching;
	}
}
