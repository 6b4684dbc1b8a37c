/* body.c: caches and boxes of bodies; what commands change in them; storing the motions of a step.
 *
 * Boxes. A placement's fat box holds its shape's tight box now and after the motion of one tick, turning
 * included, with a margin of half of CONTACT_NEAR. When it no longer does, a larger one is made. So two
 * pieces that could come within CONTACT_NEAR of each other in the next tick have a contact row before
 * that tick.
 *
 * Turning. With ω the angular velocity, t the time ahead and ρ the distance of a point from the mass
 * centre, the point goes no farther than its arc |ω| t ρ, nor than 2ρ; and it goes at right angles to
 * ω, so that along world axis k it goes at most
 *
 *   min(t, 2/|ω|) ρ √(|ω|² − ω_k²),
 *
 * and stays in the ball of radius ρ about the mass centre. Of round pieces only the centre line turns:
 * the radius is no part of ρ, and a ball about its mass centre has none.
 */
#include "server/engine/dynamics/body.h"

#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/particles/particle_birth.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_sinks.h"
#include "server/engine/dynamics/mover_list.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/dynamics/labels.h"

vec3 dynamics_centre(const struct tables *tables, uint32_t body)
{
	ASSERT(body < tables->body.count);
	return vec3_add(tables->body.position[body],
			quat_rotate(tables->body.rotation[body], tables->body.centre[body]));
}

uint8_t dynamics_all_flags(const struct tables *tables)
{
	const struct body_table *table = &tables->body;
	uint64_t words = 0, word;
	uint8_t rest = 0;
	uint32_t row = 0;
	for (; row + sizeof word <= table->count; row += (uint32_t)sizeof word) {
		memcpy(&word, &table->flags[row], sizeof word);
		words |= word;
	}
	for (; row < table->count; row++)
		rest |= table->flags[row];
	words |= words >> 32;
	words |= words >> 16;
	words |= words >> 8;
	return (uint8_t)words | rest;
}

/* Updates the cached rotation matrix and mass centre from the columns. */
static void body_cache_pose(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->bodies.capacity);
	struct body_cache *cache = &self->bodies.items[body];
	cache->rotation = mat3_from_quat(self->tables->body.rotation[body]);
	cache->centre = dynamics_centre(self->tables, body);
}

/* m: distance of the farthest point of its shapes from the mass centre; infinite with a plane. */
static double body_reach(const struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	double reach = 0;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		const struct shape *shape = placement_shape(self, p - 1);
		if (shape->kind == SHAPE_PLANE)
			return __builtin_inf();
		vec3 centre = pose_point(placement_pose(tables, p - 1), shape->mass.centre);
		double away = vec3_distance(centre, tables->body.centre[body]);
		reach = scalar_max(reach, away + shape->radius_max);
	}
	return reach;
}

/* m: the least extent_min of its shapes, which is the scale for fast motion. */
static double body_inner(const struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	double inner = __builtin_inf();
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		inner = scalar_min(inner, placement_shape(self, p - 1)->extent_min);
	if (tables->body.first_placement[body] == 0)
		return 0;
	return scalar_max(inner, SHAPE_LENGTH_MIN);
}

/* True with several placements, or with one whose shape is divided. */
static bool is_divided(const struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	uint32_t first = tables->body.first_placement[body];
	return first != 0 && (tables->placement.next[first - 1] != 0 ||
			      shape_is_divided(placement_shape(self, first - 1)));
}

/* True for one sphere about the origin whose centre is the mass centre: else the reach is larger. */
static bool is_ball(const struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	uint32_t first = tables->body.first_placement[body];
	if (first == 0 || tables->placement.next[first - 1] != 0)
		return false;
	const struct shape *shape = placement_shape(self, first - 1);
	pose at = placement_pose(tables, first - 1);
	return shape->kind == SHAPE_SPHERE && pose_is_identity(&at) &&
	       self->bodies.items[body].reach == shape->sphere.radius;
}

/* What depends on its shapes and its mass centre. */
static void body_cache_shapes(struct dynamics *self, uint32_t body)
{
	struct body_cache *cache = &self->bodies.items[body];
	ASSERT(body < self->bodies.capacity);
	cache->reach = body_reach(self, body);
	cache->inner = body_inner(self, body);
	cache->divided = is_divided(self, body);
	self->any_divided |= cache->divided;
	cache->ball = is_ball(self, body);
}

void body_cache_init(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->bodies.capacity);
	struct body_cache *cache = &self->bodies.items[body];
	*cache = (struct body_cache){ .first_edge = DYNAMICS_NONE, .slot = DYNAMICS_NONE };
	body_cache_shapes(self, body);
	body_cache_pose(self, body);
}

/* ---- boxes --------------------------------------------------------------------------------- */

static struct aabb aabb_reach(struct aabb box, vec3 travel)
{
	return aabb_make(vec3_add(box.min, vec3_min(travel, vec3_zero())),
			 vec3_add(box.max, vec3_max(travel, vec3_zero())));
}

/* m. Where turning moves points less far than this, the box grows by the arc on all sides, which is
 * quicker than aabb_turn. Larger: larger boxes, so more pairs, around slowly turning bodies. */
#define TURN_SLOW (0.25 * CONTACT_NEAR)

/* The box, extended to hold its points while they turn for `seconds`. `radius`: ρ of the head, m;
 * `skin`: the radius of a round piece, else 0, m. */
static struct aabb aabb_turn(struct aabb box, vec3 centre, double radius, double skin, vec3 spin,
			     double seconds)
{
	ASSERT(seconds >= 0);
	vec3 squared = vec3_make(spin.x * spin.x, spin.y * spin.y, spin.z * spin.z);
	double fast = squared.x + squared.y + squared.z;
	double way = radius * scalar_min(seconds, 2 / scalar_sqrt(fast));
	vec3 along = vec3_make(way * scalar_sqrt(squared.y + squared.z),
			       way * scalar_sqrt(squared.z + squared.x),
			       way * scalar_sqrt(squared.x + squared.y));
	struct aabb grown = aabb_make(vec3_sub(box.min, along), vec3_add(box.max, along));
	vec3 ball = vec3_all(radius + skin);
	return aabb_make(vec3_max(grown.min, vec3_min(box.min, vec3_sub(centre, ball))),
			 vec3_min(grown.max, vec3_max(box.max, vec3_add(centre, ball))));
}

/* A placement's tight box, extended to hold its turning for `ticks` ≤ BOX_TICKS_AHEAD ticks of `dt` s. */
static struct aabb placement_turn(const struct dynamics *self, uint32_t body,
				  const struct shape *shape, struct aabb tight, double ticks,
				  double dt)
{
	ASSERT(ticks >= 0 && ticks <= BOX_TICKS_AHEAD);
	const struct body_cache *cache = &self->bodies.items[body];
	vec3 spin = self->tables->body.angular_velocity[body];
	double skin = shape_is_round(shape) ? shape->extent_min : 0;
	double fast = vec3_dot(spin, spin);
	if (fast == 0 || cache->reach <= skin)
		return tight;
	/* The branch does not depend on `ticks`, so the box of more ticks holds that of fewer. */
	double arc = scalar_sqrt(fast) * dt * (cache->reach - skin);
	if (BOX_TICKS_AHEAD * arc <= TURN_SLOW)
		return aabb_grow(tight, ticks * arc);
	/* The corners of a small part's box may be nearer to the mass centre than the body's reach. */
	vec3 far = vec3_max(vec3_abs(vec3_sub(tight.min, cache->centre)),
			    vec3_abs(vec3_sub(tight.max, cache->centre)));
	double radius = scalar_min(cache->reach, vec3_length(far)) - skin;
	return aabb_turn(tight, cache->centre, radius, skin, spin, ticks * dt);
}

/* Makes the placement's fat box anew, for `dt` seconds ahead, if it no longer suffices or on `force`.
 * Returns true if it did. Reads and writes only rows of this body, because bodies are stored in
 * parallel. */
static bool placement_refresh_box(struct dynamics *self, uint32_t body, uint32_t placement,
				  double dt, bool force)
{
	ASSERT(placement < self->tables->placement.count);
	ASSERT(placement_body(self->tables, placement) == body);
	struct tables *tables = self->tables;
	const struct shape *shape = placement_shape(self, placement);
	pose at = pose_mul(body_pose(tables, body), placement_pose(tables, placement));
	struct aabb tight = shape_aabb(shape, &at);
	struct aabb soon = placement_turn(self, body, shape, tight, 1, dt);
	vec3 travel = vec3_scale(tables->body.velocity[body], dt);
	struct aabb needed = aabb_grow(aabb_reach(soon, travel), 0.5 * CONTACT_NEAR);
	if (!force && aabb_contains(placement_box(tables, placement), needed))
		return false;
	struct aabb later = placement_turn(self, body, shape, tight, BOX_TICKS_AHEAD, dt);
	double side = vec3_max_component(vec3_sub(tight.max, tight.min));
	double room = scalar_min(BOX_ROOM_MAX, BOX_ROOM_PART * side);
	struct aabb fat = aabb_grow(aabb_reach(later, vec3_scale(travel, BOX_TICKS_AHEAD)),
				    0.5 * CONTACT_NEAR + room);
	VALIDATE(aabb_contains(fat, needed));
	tables->placement.fat_min[placement] = fat.min;
	tables->placement.fat_max[placement] = fat.max;
	return true;
}

/* An unchanged box costs only a comparison. */
static void mark_moved(struct dynamics *self, uint32_t placement)
{
	ASSERT(self->tables->placement.active[placement]);
	struct aabb fat = placement_box(self->tables, placement);
	broad_phase_move(self->broad_phase, placement, &fat);
	bitset_set(&self->moved, placement);
}

void body_refresh_proxies(struct dynamics *self, uint32_t body)
{
	struct tables *tables = self->tables;
	bool solid = body_is_solid(tables, body);
	uint32_t flags = tables->body.status[body] == BODY_STATIC ? PROXY_STATIC : 0;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		/* PROXY_STATIC may have changed: the proxy is removed and added again. */
		if (broad_phase_has(self->broad_phase, p - 1))
			broad_phase_remove(self->broad_phase, p - 1);
		bitset_clear(&self->moved, p - 1);
		tables->placement.active[p - 1] = solid;
		if (!solid)
			continue;
		struct aabb fat = placement_box(tables, p - 1);
		broad_phase_add(self->broad_phase, p - 1, &fat, flags);
		bitset_set(&self->moved, p - 1);
	}
}

void body_refresh_awake(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	bool awake = body_is_awake(self->tables, body);
	if (awake == bitset_get(&self->awake, body))
		return;
	if (awake)
		bitset_set(&self->awake, body);
	else
		bitset_clear(&self->awake, body);
	for (uint32_t e = self->bodies.items[body].first_edge; e != DYNAMICS_NONE;
	     e = self->edges.items[e].next)
		contact_refresh_live(self, edge_row(e));
}

/* ---- contacts of one body ------------------------------------------------------------------ */

/* Marks the manifolds of its contacts stale: the next step makes them anew. */
static void body_contacts_stale(struct dynamics *self, uint32_t body)
{
	for (uint32_t e = self->bodies.items[body].first_edge; e != DYNAMICS_NONE;
	     e = self->edges.items[e].next)
		self->tables->contact.fresh[edge_row(e)] = 1;
}

/* Removes all contacts of a body, with end events of those that touch. */
static void body_contacts_drop(struct dynamics *self, uint32_t body)
{
	while (self->bodies.items[body].first_edge != DYNAMICS_NONE)
		contact_drop(self, edge_row(self->bodies.items[body].first_edge));
	ASSERT(self->bodies.items[body].first_edge == DYNAMICS_NONE);
}

/* Wakes the sleep sets of the bodies it touches or is joined to. */
static void body_wake_touched(struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	for (uint32_t e = self->bodies.items[body].first_edge; e != DYNAMICS_NONE;
	     e = self->edges.items[e].next)
		if (tables->contact.touching[edge_row(e)])
			dynamics_wake(self, edge_other(tables, e));
	joints_wake_neighbours(self, body);
}

void body_refresh_pairs(struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		if (tables->placement.active[p - 1])
			mark_moved(self, p - 1);
}

/* ---- what commands do ---------------------------------------------------------------------- */

void dynamics_body_added(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.id[body] != 0);
	self->disturbed = true;
	struct tables *tables = self->tables;
	enum status status = table_insert(&self->body_index, tables->body.id[body], body);
	ASSERT(status == STATUS_OK);
	tables->body.sleep_next[body] = body;
	body_cache_init(self, body);
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		placement_refresh_box(self, body, p - 1, self->ahead, true);
	body_refresh_proxies(self, body);
	body_refresh_awake(self, body);
	one_way_refresh(self, body);
	belt_refresh(self, body);
}

void dynamics_body_moved(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.id[body] != 0);
	struct tables *tables = self->tables;
	self->disturbed = true;
	body_wake_touched(self, body);
	dynamics_wake(self, body);
	body_cache_pose(self, body);
	joints_note_moved(self, body);
	body_contacts_stale(self, body);
	if (self->one_way.count > 0)
		one_way_forget(self, body);
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		placement_refresh_box(self, body, p - 1, self->ahead, true);
		if (tables->placement.active[p - 1])
			mark_moved(self, p - 1);
	}
	body_refresh_awake(self, body);
}

void dynamics_body_steered(struct dynamics *self, uint32_t body, vec3 velocity)
{
	struct tables *tables = self->tables;
	ASSERT(tables->body.status[body] == BODY_ANIMATED);
	ASSERT(vec3_is_finite(velocity));
	if (vec3_equal(tables->body.velocity[body], velocity) &&
	    vec3_equal(tables->body.angular_velocity[body], vec3_zero()))
		return;
	tables->body.velocity[body] = velocity;
	tables->body.angular_velocity[body] = vec3_zero();
	body_wake_touched(self, body);
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		if (placement_refresh_box(self, body, p - 1, self->ahead, false) &&
		    tables->placement.active[p - 1])
			mark_moved(self, p - 1);
	body_refresh_awake(self, body);
}

void dynamics_body_changed(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.id[body] != 0);
	struct tables *tables = self->tables;
	self->disturbed = true;
	body_wake_touched(self, body);
	dynamics_wake(self, body);
	body_cache_pose(self, body);
	body_cache_shapes(self, body);
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		placement_refresh_box(self, body, p - 1, self->ahead, true);
	joints_note_moved(self, body);
	if (!body_is_solid(tables, body))
		body_contacts_drop(self, body);
	body_contacts_stale(self, body);
	body_refresh_proxies(self, body);
	body_refresh_awake(self, body);
}

void dynamics_surface_changed(struct dynamics *self, uint32_t body, bool direction)
{
	ASSERT(self->tables->body.id[body] != 0);
	one_way_refresh(self, body);
	belt_refresh(self, body);
	if (direction)
		one_way_forget(self, body);
	dynamics_body_changed(self, body);
}

void dynamics_body_removed(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.id[body] != 0);
	struct tables *tables = self->tables;
	body_wake_touched(self, body);
	dynamics_wake(self, body);
	body_contacts_drop(self, body);
	dynamics_joints_drop(self, body);
	dynamics_holds_drop(self, tables->body.id[body]);
	dynamics_mounts_drop(self, tables->body.id[body]);
	dynamics_sinks_drop(self, tables->body.id[body]);
	for (uint32_t p = tables->body.first_placement[body], next; p != 0; p = next) {
		next = tables->placement.next[p - 1];
		if (broad_phase_has(self->broad_phase, p - 1))
			broad_phase_remove(self->broad_phase, p - 1);
		bitset_clear(&self->moved, p - 1);
		dynamics_pieces_drop(self, p - 1);
		tables_free_row(tables, TABLE_PLACEMENT, p - 1, &self->placement_used, NULL);
	}
	bitset_clear(&self->awake, body);
	bitset_clear(&self->one_way, body);
	bitset_clear(&self->belts, body);
	self->disturbed = true;
	dynamics_mover_free(self, body);
	dynamics_carriers_drop(self, body);
	dynamics_label_drop(self, LABEL_BODY, body);
	bitset_clear(&self->sensing, body);
	tables_free_row(tables, TABLE_BODY, body, &self->body_used, &self->body_index);
}

struct body_motion dynamics_motion(const struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	const struct body_table *table = &self->tables->body;
	return (struct body_motion){ self->bodies.items[body].centre, table->rotation[body],
				     table->velocity[body], table->angular_velocity[body] };
}

/* ---- store --------------------------------------------------------------------------------- */

static void shorten(vec3 *v, double most)
{
	ASSERT(most > 0);
	double length = vec3_length(*v);
	if (length > most)
		*v = vec3_scale(*v, most / length);
}

/* The square tells of most vectors that they are short. */
static inline void clamp_length(vec3 *v, double most)
{
	if (!(vec3_length_squared(*v) < 0.5 * most * most))
		shorten(v, most);
}

static bool motion_is_good(const struct body_motion *motion)
{
	vec3 far = vec3_abs(motion->centre);
	return vec3_is_finite(motion->centre) && quat_is_finite(motion->rotation) &&
	       vec3_is_finite(motion->velocity) && vec3_is_finite(motion->angular_velocity) &&
	       vec3_max_component(far) <= LENGTH_MAX &&
	       quat_dot(motion->rotation, motion->rotation) > 0.25;
}

/* Of the vector `kept` the locked components, of `v` the others. */
static vec3 lock_components(uint32_t locks, vec3 kept, vec3 v)
{
	return vec3_make(locks & MASS_LOCK_X ? kept.x : v.x, locks & MASS_LOCK_Y ? kept.y : v.y,
			 locks & MASS_LOCK_Z ? kept.z : v.z);
}

/* Removes what rounding and the removal of penetration have moved along locked axes. */
static void lock_motion(const struct tables *tables, uint32_t body, uint32_t locks, vec3 centre,
			struct body_motion *motion)
{
	ASSERT(locks != 0);
	motion->centre = lock_components(locks, centre, motion->centre);
	motion->velocity = locks_along(locks, motion->velocity);
	motion->angular_velocity = locks_about(locks, motion->angular_velocity);
	if ((locks & MASS_LOCK_TURNING) == MASS_LOCK_TURNING)
		motion->rotation = tables->body.rotation[body];
}

/* Makes a motion storable: in the plane of a planar world, a unit rotation, speeds within the limits. */
static void bound_motion(const struct tables *tables, uint32_t body,
			 const struct body_cache *before, uint32_t locks,
			 struct body_motion *motion)
{
	if (tables->world.planar[0]) {
		motion->centre.z = before->centre.z;
		motion->rotation.x = motion->rotation.y = 0;
		motion->velocity.z = 0;
		motion->angular_velocity.x = motion->angular_velocity.y = 0;
	}
	motion->rotation = quat_normalize(motion->rotation);
	if (locks != 0)
		lock_motion(tables, body, locks, before->centre, motion);
	clamp_length(&motion->velocity, dynamics_speed_max(tables, body));
	clamp_length(&motion->angular_velocity, dynamics_angular_speed_max(tables, body));
}

/* m: bound of how far any point of the body moved: the centre's path plus the arc at its reach. */
static double motion_length(const struct body_cache *before, quat rotation_before,
			    const struct body_motion *motion)
{
	quat turn = quat_mul(motion->rotation, quat_conjugate(rotation_before));
	double arc = 2 * vec3_length(quat_vector(turn)) * before->reach;
	return vec3_distance(motion->centre, before->centre) + arc;
}

/* The part of a store that runs in parallel, because it writes only the body's own rows. Bit i of the
 * result: the i-th placement's box changed, or its shape is divided, so that its pieces have moved
 * within the box. The last bit stands for all later placements; to mark one too many changes nothing
 * (`moved` in dynamics.h). STORE_QUARANTINE: the motion was not storable and nothing was written. */
#define STORE_QUARANTINE (UINT64_C(1) << 63)
#define STORE_BIT(i) (UINT64_C(1) << MIN_OF(i, 62u))

static uint64_t store_columns(struct dynamics *self, uint32_t body, struct body_motion motion,
			      double dt)
{
	struct tables *tables = self->tables;
	if (!motion_is_good(&motion))
		return STORE_QUARANTINE;
	struct body_cache *cache = &self->bodies.items[body];
	uint32_t locks = locks_of(tables, body);
	bound_motion(tables, body, cache, locks, &motion);
	cache->motion += motion_length(cache, tables->body.rotation[body], &motion);
	tables->body.rotation[body] = motion.rotation;
	tables->body.velocity[body] = motion.velocity;
	tables->body.angular_velocity[body] = motion.angular_velocity;
	vec3 origin =
		vec3_sub(motion.centre, quat_rotate(motion.rotation, tables->body.centre[body]));
	/* The origin of a body that does not turn is held with its centre, to the last bit. */
	if ((locks & MASS_LOCK_TURNING) == MASS_LOCK_TURNING)
		origin = lock_components(locks, tables->body.position[body], origin);
	tables->body.position[body] = origin;
	body_cache_pose(self, body);
	uint64_t changed = 0;
	uint32_t i = 0;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1], i++)
		if (placement_refresh_box(self, body, p - 1, dt, false) ||
		    shape_is_divided(placement_shape(self, p - 1)))
			changed |= STORE_BIT(i);
	return changed;
}

/* Stops the body at its last good pose and makes it inactive, with an event. */
static void quarantine(struct dynamics *self, uint32_t body)
{
	struct tables *tables = self->tables;
	tables->body.quarantined[body] = 1;
	tables->body.status[body] = BODY_INACTIVE;
	tables->body.mass_inv[body] = 0;
	for (uint32_t i = 0; i < 6; i++)
		tables->body.inertia_inv[body][i] = 0;
	tables->body.velocity[body] = tables->body.angular_velocity[body] = vec3_zero();
	dynamics_carriers_drop(self, body);
	dynamics_body_changed(self, body);
	ASSERT(!body_is_solid(tables, body));
	self->report.quarantined++;
	dynamics_event(self, (struct event){ .kind = EVENT_QUARANTINE,
					     .a = tables->body.id[body],
					     .fraction = 1,
					     .point = self->bodies.items[body].centre });
}

/* The serial part of a store: quarantine, and the broad phase. */
static void store_shared(struct dynamics *self, uint32_t body, uint64_t changed)
{
	ASSERT(body < self->tables->body.count);
	if (changed == 0)
		return;
	if (changed == STORE_QUARANTINE) {
		quarantine(self, body);
		return;
	}
	uint32_t i = 0;
	for (uint32_t p = self->tables->body.first_placement[body]; p != 0;
	     p = self->tables->placement.next[p - 1], i++)
		if (changed & STORE_BIT(i))
			mark_moved(self, p - 1);
}

struct store_work {
	const struct step *step;
	const struct body_motion *motions;
	uint64_t *changed;
};

static void store_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	ASSERT(last <= ((const struct store_work *)context)->step->body_count);
	UNUSED(worker);
	const struct store_work *work = context;
	const uint32_t *sleep_set = work->step->dynamics->tables->body.sleep_set;
	for (uint32_t i = first; i < last; i++) {
		uint32_t body = work->step->bodies[i];
		work->changed[i] = sleep_set[body] != 0
					   ? 0
					   : store_columns(work->step->dynamics, body,
							   work->motions[i], work->step->dt);
	}
}

void step_store_all(struct step *self, const struct body_motion *motions)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena_mark mark = arena_mark(&dynamics->scratch);
	struct store_work work = { self, motions,
				   ARENA_ARRAY(&dynamics->scratch, uint64_t, self->body_count) };
	ASSERT(work.changed != NULL); /* step_begin reserved it */
	parallel_run(self->parallel, self->body_count, 64, store_piece, &work);
	/* In order of rows, so that the order of events does not depend on the workers. */
	for (uint32_t i = 0; i < self->body_count; i++)
		store_shared(dynamics, self->bodies[i], work.changed[i]);
	arena_rewind(&dynamics->scratch, mark);
}
