/* movers_step.c: the movers' part of a tick. See movers.h. */
#include "server/base/sort.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/mover_list.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/support.h"
#include "server/engine/math/trig.h"
#include "server/engine/world/drives.h"
#include "server/engine/world/movers.h"
#include "server/engine/world/parameters.h"

enum { SLIDES = 8, DEMANDS = 16 };

/* Pushes of a mover: one for each contact of its way, and its weight. */
enum { DRIVES_OF_ONE = MOVER_CONTACTS_MAX + 1 };

/* m: rays that tell steps from slopes begin so far beside a hit. */
#define PROBE_ROOM 0.05

/* 1. In a wedge of steep faces a mover that falls no farther than this part of its way stands. */
#define WEDGED 0.01

/* A mover in its tick. */
struct mover_tick {
	struct world *world;
	struct mover_work *work;
	uint32_t row, body;
	double dt;
	vec3 up, gravity; /* unit; m/s² */
	struct mover_options options;
	const struct shape *shape;
	pose on_body; /* of the shape */
	pose start;   /* of the shape */
	struct walker walker;
	struct mover_result result;
	uint32_t ground; /* row of the body on which it stood; ROW_NONE: in the air */
	vec3 carried;	 /* m: displacement by what it stands on */
	double budget;	 /* N: left for pushes */
	struct mover_plan *plan;
};

/* ---- where bodies are at the end ------------------------------------------------------------- */

/* Movers that come later in the order stay for now, whatever velocity the last tick has left them.
 *  */
static bool comes_later(const struct mover_tick *self, uint32_t body)
{
	const struct body_table *table = &self->world->tables.body;
	return table->mover[body] != 0 && table->status[body] == BODY_ANIMATED &&
	       table->id[body] > table->id[self->body];
}

static bool is_moving(const struct mover_tick *self, uint32_t body)
{
	const struct body_table *table = &self->world->tables.body;
	ASSERT(body < table->count);
	bool may = table->status[body] == BODY_ANIMATED || table->status[body] == BODY_DYNAMIC;
	return may && !comes_later(self, body) &&
	       !(vec3_equal(table->velocity[body], vec3_zero()) &&
		 vec3_equal(table->angular_velocity[body], vec3_zero()));
}

/* The pose of a body's origin after `dt` at its present velocities. */
static pose pose_after(const struct mover_tick *self, uint32_t body)
{
	const struct body_table *table = &self->world->tables.body;
	pose at = body_pose(&self->world->tables, body);
	if (!is_moving(self, body))
		return at;
	vec3 way = vec3_scale(table->velocity[body], self->dt);
	vec3 centre = vec3_add(pose_point(at, table->centre[body]), way);
	quat turned = quat_integrate(at.rotation, table->angular_velocity[body], self->dt);
	return pose_make(vec3_sub(centre, quat_rotate(turned, table->centre[body])), turned);
}

/* Where a point goes that a body takes along; exactly the same point if the body does not move. */
static vec3 taken_along(const struct mover_tick *self, uint32_t body, vec3 point)
{
	if (!is_moving(self, body))
		return point;
	pose from = body_pose(&self->world->tables, body), to = pose_after(self, body);
	return pose_point(to, pose_inverse_point(from, point));
}

/* ---- obstacles -------------------------------------------------------------------------------- */

static bool is_obstacle(const struct mover_tick *self, uint32_t placement)
{
	const struct dynamics *dynamics = &self->world->dynamics;
	uint32_t body = placement_body(dynamics->tables, placement);
	uint32_t own = dynamics->tables->body.first_placement[self->body] - 1;
	return body != self->body && !piece_is_sensor(dynamics, placement) &&
	       pairs_filter_allows(dynamics, own, placement) &&
	       !dynamics_bodies_pass(dynamics, self->body, body);
}

static bool visit_near(uint32_t placement, void *context)
{
	struct mover_tick *self = context;
	struct mover_work *work = self->work;
	if (!is_obstacle(self, placement))
		return true;
	work->starved = ARRAY_RESERVE(&work->near, (uint64_t)work->near.count + 1) != STATUS_OK;
	if (work->starved)
		return false;
	work->near.items[work->near.count++] = placement;
	return true;
}

static enum status reserve_obstacles(struct mover_work *work)
{
	uint32_t count = work->near.count;
	ASSERT(count <= work->near.capacity);
	enum status status = work->starved ? STATUS_NO_MEMORY : STATUS_OK;
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->near_scratch, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->placed, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->traits, count);
	return status == STATUS_OK ? ARRAY_RESERVE(&work->bodies, count) : status;
}

/* A dynamic body that the mover may follow: the one on which it stands, or one that moves away. */
static bool recedes(const struct mover_tick *self, uint32_t body)
{
	const struct dynamics *dynamics = &self->world->dynamics;
	vec3 from = vec3_sub(self->start.position, dynamics->bodies.items[body].centre);
	return body == self->ground || vec3_dot(from, self->world->tables.body.velocity[body]) < 0;
}

/* Lists what is near the mover's box, grown by `reach`, in the order of placements. *moving gets
 * the longest way of an animated one. */
static enum status find_obstacles(struct mover_tick *self, vec3 reach, double *moving)
{
	const struct tables *tables = &self->world->tables;
	const struct dynamics *dynamics = &self->world->dynamics;
	struct mover_work *work = self->work;
	struct aabb box = shape_aabb(self->shape, &self->start);
	box = aabb_make(vec3_sub(box.min, reach), vec3_add(box.max, reach));
	work->near.count = 0;
	work->starved = false;
	broad_phase_query(dynamics->broad_phase, &box, visit_near, self);
	enum status status = reserve_obstacles(work);
	if (status != STATUS_OK)
		return status;
	sort_keys(work->near.items, NULL, work->near_scratch.items, NULL, work->near.count);
	*moving = 0;
	for (uint32_t i = 0; i < work->near.count; i++) {
		uint32_t p = (uint32_t)work->near.items[i], body = placement_body(tables, p);
		bool soft = tables->body.status[body] == BODY_DYNAMIC;
		pose at = soft && !recedes(self, body) ? body_pose(tables, body)
						       : pose_after(self, body);
		vec3 side = tables->body.one_way[body];
		work->placed.items[i] = (struct placed_shape){
			.shape = placement_shape(dynamics, p),
			.at = pose_mul(at, placement_pose(tables, p)),
			.body = tables->body.id[body],
		};
		work->traits.items[i] = (struct walker_trait){
			.one_way = quat_rotate(at.rotation, side),
			.soft = soft,
		};
		work->bodies.items[i] = body;
		if (!soft && is_moving(self, body)) {
			double turn = vec3_length(tables->body.angular_velocity[body]) *
				      dynamics->bodies.items[body].reach;
			*moving = scalar_max(
				*moving,
				self->dt * (vec3_length(tables->body.velocity[body]) + turn));
		}
	}
	return STATUS_OK;
}

/* ---- 1. carried ---------------------------------------------------------------------------- */

/* The row of a ground that is still there. */
static uint32_t ground_of(const struct mover_tick *self)
{
	const struct tables *tables = &self->world->tables;
	body_id id = tables->mover.ground[self->row];
	uint32_t body = id == 0 ? ROW_NONE : dynamics_find_body(&self->world->dynamics, id);
	if (body == ROW_NONE || !body_is_solid(tables, body))
		return ROW_NONE;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		if (is_obstacle(self, p - 1))
			return body;
	return ROW_NONE;
}

static vec3 carried_by(const struct mover_tick *self, uint32_t ground)
{
	const struct body_table *table = &self->world->tables.body;
	vec3 p = self->start.position;
	vec3 belt = quat_rotate(table->rotation[ground], table->surface_velocity[ground]);
	vec3 way = vec3_sub(taken_along(self, ground, p), p);
	return vec3_mul_add(way, belt, self->dt);
}

static void be_carried(struct mover_tick *self)
{
	if (vec3_equal(self->carried, vec3_zero()))
		return;
	for (uint32_t i = 0; i < self->walker.count; i++)
		if (self->work->bodies.items[i] == self->ground)
			walker_pass(&self->walker, i);
	walker_slide(&self->walker, self->carried, false, false);
	walker_pass_none(&self->walker);
	self->result.contact_count = 0;
}

/* ---- 2. pushed out ------------------------------------------------------------------------- */

/* What an animated body asks for that has met the mover on its way: in the frame of that body, the
 * mover has come from where the body would have taken it along. */
static bool met_on_its_way(const struct mover_tick *self, uint32_t index, struct walker_demand *out)
{
	uint32_t body = self->work->bodies.items[index];
	const struct walker *walker = &self->walker;
	pose from = self->start;
	struct cast_hit hit;
	from.position = taken_along(self, body, from.position);
	vec3 way = vec3_sub(walker->at.position, from.position);
	if (vec3_equal(way, vec3_zero()) || !walker_cast_one(walker, index, from, way, &hit) ||
	    hit.depth > 0)
		return false;
	double deep = -vec3_dot(hit.normal, way) * (1 - hit.fraction);
	*out = (struct walker_demand){ hit.normal, deep + self->options.skin };
	return deep > 0;
}

static bool be_pushed(struct mover_tick *self)
{
	struct walker_demand demands[DEMANDS];
	const struct body_table *table = &self->world->tables.body;
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->walker.count && count < DEMANDS; i++) {
		uint32_t body = self->work->bodies.items[i];
		if (table->status[body] != BODY_ANIMATED ||
		    !met_on_its_way(self, i, &demands[count]))
			continue;
		walker_pass(&self->walker, i);
		count++;
	}
	bool free = walker_free(&self->walker, demands, count);
	walker_pass_none(&self->walker);
	self->result.contact_count = 0;
	return free;
}

/* ---- 4. pushing ---------------------------------------------------------------------------- */

static void push(struct mover_tick *self, uint32_t body, vec3 force, vec3 point)
{
	struct tables *tables = &self->world->tables;
	vec3 arm = vec3_sub(point, dynamics_centre(tables, body));
	ASSERT(tables->body.status[body] == BODY_DYNAMIC);
	ASSERT(vec3_is_finite(force));
	drives_add(tables, body, force, quat_rotate_inverse(tables->body.rotation[body], arm),
		   vec3_zero(), 1);
}

/* The force along the contact that takes the point of a body to the mover's speed within the tick,
 * as far as the mover's force goes. */
static void push_contact(struct mover_tick *self, const struct cast_hit *hit, uint32_t body,
			 vec3 wish)
{
	struct world *world = self->world;
	const struct body_table *table = &world->tables.body;
	vec3 ahead = vec3_negate(hit->normal);
	vec3 arm = vec3_sub(hit->point, dynamics_centre(&world->tables, body));
	vec3 speed =
		vec3_add(table->velocity[body], vec3_cross(table->angular_velocity[body], arm));
	double lack = vec3_dot(vec3_sub(wish, speed), ahead);
	vec3 twist = vec3_cross(arm, ahead);
	double give =
		table->mass_inv[body] +
		vec3_dot(twist, mat3_mul_vec(integrate_inertia_inv(&world->dynamics, body), twist));
	if (!(lack > 0) || !(give > 0) || !(self->budget > 0))
		return;
	double force = scalar_min(self->budget, lack / (give * self->dt));
	self->budget -= force;
	ASSERT(self->budget >= 0);
	self->plan->flags |= MOVER_PUSHES;
	dynamics_wake(&world->dynamics, body);
	push(self, body, vec3_scale(ahead, force), hit->point);
}

/* Whether the mover has come near enough to a body that it has met to touch it. */
static bool is_near(const struct mover_tick *self, const struct cast_hit *hit, uint32_t index)
{
	struct cast_hit near;
	return walker_cast_one(&self->walker, index, self->walker.at,
			       vec3_scale(hit->normal, -CONTACT_NEAR), &near);
}

/* Pushes each dynamic body that the way has met, once. */
static void push_contacts(struct mover_tick *self, vec3 wish)
{
	const struct mover_result *result = &self->result;
	for (uint32_t i = 0; i < result->contact_count; i++) {
		uint32_t index = self->walker.contact_index[i], k = 0;
		while (self->walker.contact_index[k] != index)
			k++;
		if (k == i && self->work->traits.items[index].soft &&
		    is_near(self, &result->contacts[i], index))
			push_contact(self, &result->contacts[i], self->work->bodies.items[index],
				     wish);
	}
}

/* A dynamic body bears the weight of the mover; a sleeping one did so when it fell asleep. */
static void press_ground(struct mover_tick *self, uint32_t index)
{
	const struct body_table *table = &self->world->tables.body;
	uint32_t body = self->work->bodies.items[index];
	if (table->status[body] != BODY_DYNAMIC)
		return;
	if (body != self->ground)
		dynamics_wake(&self->world->dynamics, body);
	if (table->sleep_set[body] == 0)
		push(self, body, vec3_scale(self->gravity, table->mass[self->body]),
		     self->result.ground.point);
}

/* ---- 3. its own way ------------------------------------------------------------------------ */

static void stand(struct mover_tick *self, uint32_t index)
{
	ASSERT(index < self->walker.count);
	ASSERT(!(self->plan->flags & MOVER_SQUEEZED));
	self->plan->flags |= MOVER_ON_GROUND;
	self->plan->ground = self->work->placed.items[index].body;
	self->plan->normal = self->result.ground.normal;
	self->plan->velocity = vec3_zero();
	press_ground(self, index);
}

/* The wish's displacement; along the ground, if that is no edge. */
static void walk(struct mover_tick *self, vec3 wish, bool grounded)
{
	vec3 normal = self->world->tables.mover.normal[self->row];
	vec3 way = vec3_scale(wish, self->dt), from = self->walker.at.position;
	if (vec3_equal(way, vec3_zero()))
		return;
	if (grounded && vec3_dot(normal, self->up) >= self->options.slope_cosine)
		way = walker_along(&self->walker, way, normal);
	walker_slide(&self->walker, way, true, false);
	vec3 gone = vec3_sub(self->walker.at.position, from);
	if (vec3_dot(gone, wish) < 0.5 * self->dt * vec3_dot(wish, wish))
		self->plan->flags |= MOVER_BLOCKED;
	push_contacts(self, wish);
}

static double speed_limit(const struct mover_tick *self)
{
	const struct body_table *table = &self->world->tables.body;
	return table->speed_max[self->body] > 0 ? table->speed_max[self->body] : SPEED_MAX;
}

static vec3 limited(vec3 v, double most)
{
	double length = vec3_length(v);
	return length > most ? vec3_scale(v, most / length) : v;
}

static void walk_on_ground(struct mover_tick *self, vec3 wish)
{
	uint32_t index;
	double snap = self->world->tables.mover.snap[self->row];
	walk(self, wish, true);
	if (walker_land(&self->walker, snap + 3 * MOVER_SKIN, &index))
		stand(self, index);
	else
		self->plan->velocity =
			limited(vec3_scale(self->carried, 1 / self->dt), speed_limit(self));
}

/* A parabola; it ends on ground, and in a wedge that holds the mover. */
static void fall(struct mover_tick *self, vec3 velocity)
{
	uint32_t index = 0;
	struct walker *walker = &self->walker;
	struct mover_result *result = &self->result;
	vec3 way = vec3_scale(vec3_mul_add(velocity, self->gravity, 0.5 * self->dt), self->dt);
	vec3 from = walker->at.position;
	result->contact_count = 0;
	bool landed = walker_slide(walker, way, false, true);
	push_contacts(self, velocity);
	if (landed && walker_land(walker, 4 * MOVER_SKIN, &index)) {
		stand(self, index);
		return;
	}
	double gone = vec3_distance(walker->at.position, from);
	if (walker->plane_count > walker->held + 1 && vec3_dot(way, self->up) < 0 &&
	    gone < WEDGED * vec3_length(way)) {
		result->ground = result->contacts[result->contact_count - 1];
		stand(self, walker->contact_index[result->contact_count - 1]);
		return;
	}
	velocity = walker_clip(walker, vec3_mul_add(velocity, self->gravity, self->dt));
	self->plan->velocity = limited(velocity, speed_limit(self));
}

static void go_through_air(struct mover_tick *self, vec3 wish, vec3 velocity)
{
	struct mover_options options = self->options;
	options.step_height = 0;
	self->walker.options = &options;
	walk(self, wish, false);
	self->walker.options = &self->options;
	fall(self, velocity);
}

/* ---- one mover ------------------------------------------------------------------------------- */

/* Without gravity up is y, and the wish has all directions. */
static void find_up(struct mover_tick *self)
{
	const struct tables *tables = &self->world->tables;
	bool scaled = (tables->body.flags[self->body] & BODY_SCALED) != 0;
	double scale = scaled ? tables->body.gravity_scale[self->body] : 1;
	vec3 world = force_gravity(tables);
	double length;
	self->gravity = vec3_scale(world, scale);
	vec3 down = vec3_normalize_length(self->gravity, &length);
	if (!(length > 0))
		down = vec3_normalize_length(world, &length);
	self->up = length > 0 ? vec3_negate(down) : vec3_make(0, 1, 0);
}

static vec3 wish_of(const struct mover_tick *self)
{
	vec3 wish = self->world->tables.mover.wish[self->row];
	if (!vec3_equal(self->gravity, vec3_zero()))
		wish = vec3_mul_sub(wish, self->up, vec3_dot(wish, self->up));
	return limited(wish, speed_limit(self));
}

static void prepare(struct mover_tick *self)
{
	const struct tables *tables = &self->world->tables;
	const struct mover_table *mover = &tables->mover;
	uint32_t placement = tables->body.first_placement[self->body] - 1;
	ASSERT(placement < tables->placement.count);
	ASSERT(tables->placement.next[placement] == 0);
	find_up(self);
	self->options = (struct mover_options){ .up = self->up,
						.iterations = SLIDES,
						.skin = MOVER_SKIN,
						.slope_cosine = trig_cos(mover->slope[self->row]),
						.step_height = mover->step_height[self->row] };
	self->shape = placement_shape(&self->world->dynamics, placement);
	self->on_body = placement_pose(tables, placement);
	self->start = pose_mul(body_pose(tables, self->body), self->on_body);
	self->ground = ground_of(self);
	self->carried = self->ground == ROW_NONE ? vec3_zero() : carried_by(self, self->ground);
	self->budget = mover->push_force[self->row];
}

/* The obstacles within reach of its ways, and of the ways on which they may push it. */
static enum status look_around(struct mover_tick *self, vec3 wish)
{
	const struct mover_table *mover = &self->world->tables.mover;
	double most = vec3_length(self->carried) + 4 * MOVER_SKIN + PROBE_ROOM;
	most += self->dt * (vec3_length(wish) + vec3_length(mover->velocity[self->row]) +
			    mover->jump[self->row] + self->dt * vec3_length(self->gravity));
	double high = mover->step_height[self->row] + mover->snap[self->row];
	vec3 reach = vec3_mul_add(vec3_all(most), vec3_abs(self->up), high);
	double moving, again;
	enum status status = find_obstacles(self, reach, &moving);
	if (status == STATUS_OK && moving > 0)
		status = find_obstacles(self, vec3_add(reach, vec3_all(moving)), &again);
	if (status != STATUS_OK)
		return status;
	walker_init(&self->walker, self->work->placed.items, self->work->traits.items,
		    self->work->near.count, self->shape, self->start, &self->options,
		    &self->result);
	vec3 down = pose_inverse_vector(self->start, vec3_negate(self->up));
	vec3 lowest = pose_vector(self->start, support_core(self->shape, 0, down).point);
	self->walker.foot = vec3_dot(lowest, self->up) - support_radius(self->shape);
	self->walker.edges = true;
	/* The springs of `penalty` begin at its thickness. */
	if (self->world->method.method == &method_penalty)
		self->walker.soft_skin +=
			self->world->tables.parameter.value[PARAMETER_PENALTY_THICKNESS];
	return STATUS_OK;
}

static void go(struct mover_tick *self, vec3 wish)
{
	const struct mover_table *mover = &self->world->tables.mover;
	bool grounded = self->ground != ROW_NONE, jumps = grounded && mover->jump[self->row] > 0;
	vec3 velocity = mover->velocity[self->row];
	if (!jumps)
		be_carried(self);
	if (!be_pushed(self)) {
		self->walker.at = self->start;
		self->plan->flags |= MOVER_SQUEEZED;
		return;
	}
	walker_hold_soft(&self->walker);
	if (jumps)
		velocity = limited(vec3_mul_add(vec3_scale(self->carried, 1 / self->dt), self->up,
						mover->jump[self->row]),
				   speed_limit(self));
	if (grounded && !jumps)
		walk_on_ground(self, wish);
	else
		go_through_air(self, wish, velocity);
}

/* Whether it stands still on ground that does, and no dynamic body is near. */
static bool rests(const struct mover_tick *self, vec3 velocity)
{
	const struct tables *tables = &self->world->tables;
	const struct mover_plan *plan = self->plan;
	uint32_t ground = dynamics_find_body(&self->world->dynamics, plan->ground);
	return plan->flags == MOVER_ON_GROUND && vec3_equal(velocity, vec3_zero()) &&
	       vec3_equal(tables->mover.wish[self->row], vec3_zero()) && ground != ROW_NONE &&
	       ground == self->ground && tables->body.status[ground] != BODY_DYNAMIC &&
	       vec3_equal(self->carried, vec3_zero()) &&
	       self->world->dynamics.bodies.items[self->body].first_edge == DYNAMICS_NONE;
}

static enum status make_plan(struct mover_tick *self)
{
	struct world *world = self->world;
	const struct body_table *table = &world->tables.body;
	prepare(self);
	vec3 wish = wish_of(self);
	enum status status = look_around(self, wish);
	if (status != STATUS_OK)
		return status;
	go(self, wish);
	vec3 way = vec3_sub(self->walker.at.position, self->start.position);
	vec3 velocity = limited(vec3_scale(way, 1 / self->dt), SPEED_MAX);
	if (self->ground != ROW_NONE && table->id[self->ground] != self->plan->ground &&
	    table->status[self->ground] == BODY_DYNAMIC)
		dynamics_wake(&world->dynamics, self->ground);
	if (rests(self, velocity))
		self->plan->flags |= MOVER_RESTS;
	ASSERT(vec3_is_finite(velocity));
	ASSERT(!(self->plan->flags & MOVER_SQUEEZED) || vec3_equal(velocity, vec3_zero()));
	dynamics_body_steered(&world->dynamics, self->body, velocity);
	changes_update(&world->changes, &world->tables, self->body);
	return STATUS_OK;
}

/* ---- all movers ------------------------------------------------------------------------------ */

static bool visit_roused(uint32_t placement, void *context)
{
	struct world *world = context;
	uint32_t row = dynamics_mover_of(&world->tables, placement_body(&world->tables, placement));
	if (row != DYNAMICS_NONE)
		bitset_set(&world->mover_work.roused, row);
	return true;
}

/* Notes the movers that an animated body comes near in this tick. */
static void rouse(struct world *world)
{
	const struct tables *tables = &world->tables;
	const struct bitset *awake = &world->dynamics.awake;
	bitset_reset(&world->mover_work.roused);
	for (uint32_t body = bitset_next(awake, 0); body != BITSET_NONE;
	     body = bitset_next(awake, body + 1)) {
		if (tables->body.status[body] != BODY_ANIMATED)
			continue;
		for (uint32_t p = tables->body.first_placement[body]; p != 0;
		     p = tables->placement.next[p - 1]) {
			struct aabb box = placement_box(tables, p - 1);
			broad_phase_query(world->dynamics.broad_phase, &box, visit_roused, world);
		}
	}
}

/* A mover with something to do in this tick. */
static bool is_busy(const struct world *world, uint32_t row)
{
	const struct tables *tables = &world->tables;
	const struct mover_table *mover = &tables->mover;
	uint32_t body = mover->body[row] - 1;
	ASSERT(body < tables->body.count);
	if (tables->body.status[body] != BODY_ANIMATED || tables->body.quarantined[body])
		return false;
	return !(mover->flags[row] & MOVER_RESTS) || world->dynamics.disturbed ||
	       !vec3_equal(mover->wish[row], vec3_zero()) || mover->jump[row] > 0 ||
	       bitset_get(&world->mover_work.roused, row) ||
	       world->dynamics.bodies.items[body].first_edge != DYNAMICS_NONE;
}

static enum status reserve(struct world *world)
{
	struct tables *tables = &world->tables;
	struct mover_work *work = &world->mover_work;
	uint32_t count = world->dynamics.mover_used.count;
	enum status status = bitset_reserve(&work->roused, tables->mover.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->plans, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->order, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->order_scratch, count);
	uint64_t drives = (uint64_t)tables->drive.count + (uint64_t)count * DRIVES_OF_ONE;
	if (status == STATUS_OK && drives > UINT32_MAX)
		status = STATUS_NO_MEMORY;
	return status == STATUS_OK ? tables_reserve(tables, TABLE_DRIVE, (uint32_t)drives) : status;
}

/* By ascending ids of bodies. */
static void find_busy(struct world *world)
{
	struct mover_work *work = &world->mover_work;
	const struct tables *tables = &world->tables;
	const struct bitset *used = &world->dynamics.mover_used;
	work->order.count = 0;
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE;
	     row = bitset_next(used, row + 1))
		if (is_busy(world, row))
			work->order.items[work->order.count++] =
				(uint64_t)tables->body.id[tables->mover.body[row] - 1] << 32 | row;
	sort_keys(work->order.items, NULL, work->order_scratch.items, NULL, work->order.count);
}

enum status movers_begin(struct world *world)
{
	struct tables *tables = &world->tables;
	struct mover_work *work = &world->mover_work;
	work->plans.count = 0;
	work->drives = tables->drive.count;
	if (world->dynamics.mover_used.count == 0)
		return STATUS_OK;
	enum status status = reserve(world);
	if (status != STATUS_OK)
		return status;
	rouse(world);
	find_busy(world);
	for (uint32_t i = 0; i < work->order.count; i++) {
		uint32_t row = (uint32_t)work->order.items[i], body = tables->mover.body[row] - 1;
		struct mover_plan *plan = &work->plans.items[work->plans.count++];
		*plan = (struct mover_plan){ .row = row,
					     .body = body,
					     .before = tables->body.velocity[body] };
		struct mover_tick tick = { .world = world,
					   .work = work,
					   .row = row,
					   .body = body,
					   .dt = world_dt(world),
					   .plan = plan };
		status = make_plan(&tick);
		if (status != STATUS_OK) {
			movers_undo(world);
			return status;
		}
	}
	return STATUS_OK;
}

void movers_undo(struct world *world)
{
	struct mover_work *work = &world->mover_work;
	ASSERT(work->drives <= world->tables.drive.count);
	tables_truncate(&world->tables, TABLE_DRIVE, work->drives);
	for (uint32_t i = 0; i < work->plans.count; i++) {
		const struct mover_plan *plan = &work->plans.items[i];
		dynamics_body_steered(&world->dynamics, plan->body, plan->before);
		changes_update(&world->changes, &world->tables, plan->body);
	}
	work->plans.count = 0;
}

/* The wish has been followed for one more tick. */
static void count_wish(struct mover_table *mover, uint32_t row)
{
	ASSERT(row < mover->count && mover->ticks[row] > 0);
	mover->jump[row] = 0;
	if (mover->ticks[row] == UINT32_MAX || --mover->ticks[row] > 0)
		return;
	mover->ticks[row] = UINT32_MAX;
	mover->wish[row] = vec3_zero();
}

void movers_end(struct world *world)
{
	struct tables *tables = &world->tables;
	struct mover_work *work = &world->mover_work;
	struct mover_table *mover = &tables->mover;
	ASSERT(work->drives <= tables->drive.count);
	tables_truncate(tables, TABLE_DRIVE, work->drives);
	for (uint32_t i = 0; i < work->plans.count; i++) {
		const struct mover_plan *plan = &work->plans.items[i];
		uint32_t row = plan->row;
		ASSERT(mover->body[row] == plan->body + 1);
		bool squeezed = (plan->flags & MOVER_SQUEEZED) != 0;
		if (squeezed && !(mover->flags[row] & MOVER_SQUEEZED))
			dynamics_event(
				&world->dynamics,
				(struct event){ .kind = EVENT_SQUEEZED,
						.a = tables->body.id[plan->body],
						.fraction = 1,
						.point = tables->body.position[plan->body] });
		mover->squeezes[row] += squeezed;
		mover->flags[row] = plan->flags;
		mover->ground[row] = plan->ground;
		mover->normal[row] = plan->normal;
		mover->velocity[row] = plan->velocity;
		count_wish(mover, row);
	}
	work->plans.count = 0;
	world->dynamics.disturbed = false;
}
