/* particle_path.c: the motion of a block of particles in a tick: free flight, then bodies on the
 * way.
 *
 * Bodies were moved by their method before. A particle's path is straight (P-15) and seen from
 * the body as it is at the tick's end: it begins where the particle was, carried along with the
 * body, so a body that moves finds particles at rest (P-20), turning included. Candidates come
 * from the broad phase, for groups of particles (P-16): a group whose box meets too many proxies
 * is split in the middle, down to one particle. Which group a particle is in changes no bit,
 * because the earliest hit counts, and of equally early ones that of the lowest placement.
 *
 * At a hit an impulse acts (P-25, P-26, P-33), by the exact effective mass of the body at that
 * point. Slower impacts than restitution.speed are contacts: then the rest of the tick's change
 * of velocity cannot press the particle in, and adds to the load of friction (P-30, P-31, P-34).
 * The body gets the opposite impulse as the next tick begins (P-22), so for the rest of this tick
 * the particle meets it with the velocity that it will have, but at the place where it is. A
 * particle has one such body in a tick. If it meets another, its path ends there, and the next
 * tick goes on; likewise after PARTICLE_HITS_MAX hits (P-04). Both are counted. */
#include "server/engine/particles/particles.h"

#include "server/engine/collision/swept_ball.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force_field.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/particles/particle_pairs.h"
#include "server/engine/dynamics/piece.h"

#include <string.h>

/* A group with more candidates is split. */
enum { CANDIDATES_MAX = 16 };
/* A body that is solid from one side is met where the normal is within 60° of that side
 * (one_way.c). */
#define ONE_WAY_COSINE 0.5
/* m: deeper inside such a body a particle passes through. */
#define ONE_WAY_DEPTH 1e-6
/* The part of the frictionless denominator below which friction is left out, because it would
 * wedge. */
#define WEDGE 0.1

struct near_shape {
	uint32_t placement, body;
	pose at;	 /* of the shape, world */
	struct aabb box; /* of its placement */
};

/* The placements near a group, if `complete`. */
struct candidates {
	const struct dynamics *dynamics;
	struct near_shape items[CANDIDATES_MAX];
	uint32_t count;
	bool complete;
	struct aabb box; /* they are complete within it */
};

struct block {
	const struct particle_motion *motion;
	uint32_t first;
	struct aabb box; /* of all paths of centres in free flight */
	double largest;	 /* m: radius */
	bool stays, cut; /* stays: nobody leaves the world or is too fast; cut: some path is */
	vec3 to[PARTICLE_BLOCK], velocity[PARTICLE_BLOCK]; /* at the tick's end, in free flight */
};

/* One particle on its way through bodies. */
struct flight {
	const struct particle_motion *motion;
	const struct candidates *near;
	uint32_t row, system;
	double radius, mass;
	vec3 from, to;	     /* the rest of the path */
	vec3 velocity, gain; /* at `from`, and its change until the tick's end */
	double left;	     /* part of the tick */
	bool carried;	     /* no hit yet: bodies' motions count */
	/* What a dynamic body gets. */
	uint32_t partner; /* its row, DYNAMICS_NONE none yet */
	vec3 impulse, twist;
};

/* A hit: the ball's centre, the normal out of the body, and the part of the path before it. */
struct strike {
	uint32_t placement, body;
	double fraction;
	vec3 at, normal;
};

/* ---- free flight -------------------------------------------------------------------------------- */

vec3 particle_field_acceleration(const struct particle_motion *motion, uint32_t system, vec3 at,
				 vec3 velocity, double mass)
{
	const struct tables *tables = motion->dynamics->tables;
	const struct force_state state = { at, quat_identity(), velocity, vec3_zero(), mass };
	struct force_sum sum = { vec3_zero(), vec3_zero(), vec3_zero() };
	ASSERT(mass > 0);
	for (uint32_t i = 0; i < motion->field_count; i++)
		if (tables->field.mask[motion->fields[i]] & tables->system.category[system])
			force_field_at(tables, motion->fields[i], &state, motion->dt, &sum);
	vec3 a = vec3_mul_add(sum.acceleration, sum.force, 1 / mass);
	if (tables->world.planar[0])
		a.z = 0; /* of a field whose centre is not in the plane */
	return a;
}

/* Where a particle is after a tick alone. Fields are taken at the middle of the way, which is of
 * second order. */
static void fly_alone(const struct particle_motion *motion, uint32_t row, vec3 *to, vec3 *velocity)
{
	const struct particle_table *table = &motion->dynamics->tables->particle;
	const struct particle_law *law = &motion->laws[table->system[row]];
	struct particle_law own;
	vec3 x = table->position[row], v = table->velocity[row], a = law->acceleration;
	double h = motion->dt;
	ASSERT(row < table->count);
	if (law->drag > 0 && table->mass[row] != law->mass) {
		own = *law;
		particle_law_of_mass(&own, table->mass[row], h);
		law = &own;
	}
	if (law->fields)
		a = vec3_add(a, particle_field_acceleration(motion, table->system[row],
							    vec3_mul_add(x, v, 0.5 * h), v,
							    table->mass[row]));
	x = vec3_mul_add(x, v, law->coast * h);
	*to = vec3_mul_add(x, a, law->fall * h * h);
	*velocity = vec3_mul_add(vec3_scale(v, law->decay), a, law->coast * h);
}

/* Whether a particle stays in the world; false also if a number overflowed. */
static bool stays_within(const struct particle_motion *motion, vec3 position, vec3 velocity)
{
	double most = vec3_max_component(vec3_abs(velocity));
	return (most <= SPEED_MAX) & aabb_contains_point(motion->bounds, position);
}

static void fly_free(struct block *block, uint32_t last)
{
	const struct particle_motion *motion = block->motion;
	const struct particle_table *table = &motion->dynamics->tables->particle;
	const struct particle_end *ends = motion->ends;
	struct aabb box = aabb_empty();
	double largest = 0;
	bool stays = true, cut = false;
	ASSERT(motion->dt > 0 && last <= table->count);
	for (uint32_t row = block->first; row < last; row++) {
		uint32_t index = row - block->first;
		vec3 to, velocity;
		if (ends != NULL && ends[row].known) {
			to = ends[row].to;
			velocity = ends[row].velocity;
			cut |= ends[row].cut;
		} else {
			fly_alone(motion, row, &to, &velocity);
		}
		box = aabb_add_point(aabb_add_point(box, table->position[row]), to);
		largest = scalar_max(largest, table->radius[row]);
		stays &= stays_within(motion, to, velocity);
		block->to[index] = to;
		block->velocity[index] = velocity;
	}
	block->box = box;
	block->largest = largest;
	block->stays = stays;
	block->cut = cut;
}

/* ---- what is near -------------------------------------------------------------------------------- */

static bool is_obstacle(const struct dynamics *dynamics, uint32_t placement)
{
	return body_is_solid(dynamics->tables, placement_body(dynamics->tables, placement)) &&
	       !piece_is_sensor(dynamics, placement);
}

static bool is_met(const struct dynamics *dynamics, uint32_t placement, uint32_t mask)
{
	const struct tables *tables = dynamics->tables;
	ASSERT(placement < tables->placement.count);
	return (piece_filter(dynamics, placement).category & mask) != 0 ||
	       (tables->body.id[placement_body(tables, placement)] == BODY_WALLS && mask != 0);
}

bool particle_meets(const struct dynamics *self, uint32_t placement, uint32_t mask)
{
	return is_obstacle(self, placement) && is_met(self, placement, mask);
}

static struct near_shape candidate_of(const struct dynamics *dynamics, uint32_t placement)
{
	const struct tables *tables = dynamics->tables;
	uint32_t body = placement_body(tables, placement);
	ASSERT(body < tables->body.count);
	pose frame = pose_make(tables->body.position[body], tables->body.rotation[body]);
	pose in_body = pose_make(tables->placement.position[placement],
				 tables->placement.rotation[placement]);
	return (struct near_shape){ placement, body, pose_mul(frame, in_body),
				    aabb_make(tables->placement.fat_min[placement],
					      tables->placement.fat_max[placement]) };
}

static bool collect_shape(uint32_t placement, void *context)
{
	struct candidates *near = context;
	if (!is_obstacle(near->dynamics, placement))
		return true;
	if (near->count == CANDIDATES_MAX) {
		near->complete = false;
		return false;
	}
	near->items[near->count++] = candidate_of(near->dynamics, placement);
	return true;
}

/* ---- hits ---------------------------------------------------------------------------------------- */

bool particle_passes(const struct dynamics *dynamics, uint32_t body, const struct swept_hit *hit)
{
	const struct body_table *table = &dynamics->tables->body;
	if (!bitset_get(&dynamics->one_way, body))
		return false;
	vec3 side = quat_rotate(table->rotation[body], table->one_way[body]);
	return hit->depth > ONE_WAY_DEPTH || !(vec3_dot(side, hit->normal) >= ONE_WAY_COSINE);
}

/* Keeps the hit on a candidate in *best if it is earlier. */
static void try_candidate(const struct flight *flight, const struct near_shape *candidate,
			  struct strike *best)
{
	const struct dynamics *dynamics = flight->motion->dynamics;
	const struct tables *tables = dynamics->tables;
	uint32_t body = candidate->body, placement = candidate->placement;
	const struct body_start_state *start = &dynamics->starts.items[body];
	if (!is_met(dynamics, placement, tables->system.mask[flight->system]))
		return;
	vec3 from = flight->from;
	if (flight->carried && start->moved)
		from = pose_point(
			pose_make(tables->body.position[body], tables->body.rotation[body]),
			pose_inverse_point(start->at, from));
	struct aabb path = aabb_union(aabb_of_point(from), aabb_of_point(flight->to));
	if (!aabb_overlaps(aabb_grow(path, flight->radius), candidate->box))
		return;
	struct swept_hit hit;
	const struct ball_path ball = { from, vec3_sub(flight->to, from), flight->radius };
	if (!swept_ball(dynamics->shapes[tables->placement.shape[placement]], &candidate->at, &ball,
			best->fraction, &hit) ||
	    particle_passes(dynamics, body, &hit))
		return;
	if (best->body != DYNAMICS_NONE && hit.fraction == best->fraction &&
	    placement > best->placement)
		return;
	vec3 at = vec3_mul_add(from, ball.way, hit.fraction);
	*best = (struct strike){ placement, body, hit.fraction,
				 vec3_mul_add(at, hit.normal, hit.depth), hit.normal };
}

struct visit {
	const struct flight *flight;
	struct strike *best;
};

static bool visit_candidate(uint32_t placement, void *context)
{
	const struct visit *visit = context;
	const struct dynamics *dynamics = visit->flight->motion->dynamics;
	if (is_obstacle(dynamics, placement)) {
		struct near_shape candidate = candidate_of(dynamics, placement);
		try_candidate(visit->flight, &candidate, visit->best);
	}
	return true;
}

/* The box around a path, with what bodies may have moved. */
static struct aabb box_of_path(const struct particle_motion *motion, vec3 from, vec3 to,
			       double radius)
{
	struct aabb box = aabb_union(aabb_of_point(from), aabb_of_point(to));
	return aabb_grow(box, radius + motion->reach);
}

static bool find_strike(const struct flight *flight, struct strike *best)
{
	*best = (struct strike){ .body = DYNAMICS_NONE, .fraction = 1 };
	struct aabb box = box_of_path(flight->motion, flight->from, flight->to, flight->radius);
	if (flight->near->complete && aabb_contains(flight->near->box, box)) {
		for (uint32_t i = 0; i < flight->near->count; i++)
			try_candidate(flight, &flight->near->items[i], best);
	} else {
		struct visit visit = { flight, best };
		broad_phase_query(flight->motion->dynamics->broad_phase, &box, visit_candidate,
				  &visit);
	}
	return best->body != DYNAMICS_NONE;
}

/* ---- impulses ------------------------------------------------------------------------------------ */

struct particle_touch {
	const struct tables *tables;
	uint32_t body;
	bool dynamic;
	vec3 normal, arm; /* arm: from the body's mass centre */
	mat3 inertia_inv; /* world; of a dynamic body */
	vec3 belt;	  /* m/s, world: of the surface against the body */
	double restitution, sticking, sliding;
};

static struct particle_touch touch_of(const struct flight *flight, const struct strike *strike)
{
	const struct dynamics *dynamics = flight->motion->dynamics;
	const struct tables *tables = dynamics->tables;
	const struct body_table *body = &tables->body;
	const struct system_table *system = &tables->system;
	uint32_t row = strike->body, of = flight->system;
	ASSERT(row < tables->body.count && of < tables->system.count);
	vec3 point = vec3_mul_sub(strike->at, strike->normal, flight->radius);
	/* Patches of a mesh are not told apart: the search does not name the triangle. */
	struct contact_piece piece = { strike->placement, PIECE_WHOLE };
	struct piece_surface surface = piece_surface(dynamics, piece);
	struct particle_touch touch = {
		.tables = tables,
		.body = row,
		.belt = belt_surface(dynamics, piece),
		.dynamic = body->status[row] == BODY_DYNAMIC,
		.normal = strike->normal,
		.arm = vec3_sub(point, dynamics_centre(tables, row)),
		.inertia_inv = mat3_zero(),
		.restitution = contact_combine(surface.restitution_rule, surface.restitution,
					       system->restitution[of]),
		.sticking = 0.5 * (surface.static_friction + system->static_friction[of]),
		.sliding = 0.5 * (surface.dynamic_friction + system->dynamic_friction[of]),
	};
	if (touch.dynamic)
		touch.inertia_inv = integrate_inertia_inv(dynamics, row);
	return touch;
}

/* Of the body's surface, with what the particle's own impulses will change. */
static vec3 surface_velocity(const struct flight *flight, const struct particle_touch *touch)
{
	const struct body_table *body = &touch->tables->body;
	uint32_t row = touch->body;
	vec3 v = body->velocity[row], w = body->angular_velocity[row];
	if (flight->partner == row) {
		v = vec3_mul_add(v, flight->impulse, body->mass_inv[row]);
		w = vec3_add(w, mat3_mul_vec(touch->inertia_inv, flight->twist));
	}
	v = vec3_add(v, vec3_cross(w, touch->arm));
	return vec3_add(v, touch->belt);
}

/* The relative velocity that an impulse on the particle gives: K p. */
static mat3 response_of(const struct particle_touch *touch, double mass)
{
	mat3 k = mat3_scale(mat3_identity(), 1 / mass);
	if (!touch->dynamic)
		return k;
	mat3 skew = mat3_skew(touch->arm);
	mat3 turn = mat3_mul(skew, mat3_mul(touch->inertia_inv, skew));
	k = mat3_add(k, mat3_scale(mat3_identity(), touch->tables->body.mass_inv[touch->body]));
	return mat3_sub(k, turn);
}

/* P-25, P-26: the impulse that turns the relative velocity u into −e (u·n) n, sticking; if that
 * needs more friction than there is, sliding along u's tangential part. */
static vec3 impulse_of(const struct particle_touch *touch, double mass, vec3 u, double restitution)
{
	vec3 n = touch->normal, impulse = vec3_zero();
	double closing = -vec3_dot(u, n);
	ASSERT(closing > 0);
	mat3 k = response_of(touch, mass), inverse;
	vec3 change = vec3_sub(vec3_scale(n, restitution * closing), u);
	if (!touch->dynamic)
		impulse = vec3_scale(change, mass);
	else if (mat3_inverse(k, &inverse))
		impulse = mat3_mul_vec(inverse, change);
	double normal = vec3_dot(impulse, n);
	vec3 tangent = vec3_mul_sub(impulse, n, normal), slip = vec3_mul_add(u, n, closing);
	if (normal > 0 && vec3_length(tangent) <= touch->sticking * normal)
		return impulse;
	vec3 way = vec3_mul_sub(n, vec3_normalize(slip), touch->sliding);
	double straight = vec3_dot(n, mat3_mul_vec(k, n));
	double along = vec3_dot(n, mat3_mul_vec(k, way));
	double wanted = (1 + restitution) * closing;
	if (!(along > WEDGE * straight))
		return vec3_scale(n, wanted / straight);
	return vec3_scale(way, wanted / along);
}

/* Changes velocity and gain of the particle at a hit, and the body's share. False: it has given
 * another body an impulse in this tick, so the path must end. */
static bool respond(struct flight *flight, const struct strike *strike)
{
	struct particle_touch touch = touch_of(flight, strike);
	if (touch.dynamic && flight->partner != DYNAMICS_NONE && flight->partner != strike->body)
		return false;
	vec3 u = vec3_sub(flight->velocity, surface_velocity(flight, &touch));
	double speed = -vec3_dot(u, touch.normal), press = -vec3_dot(flight->gain, touch.normal);
	bool bounces = touch.restitution > 0 && speed >= flight->motion->bounce_speed;
	/* In a contact the rest of the tick presses, too. */
	if (!bounces && press > 0) {
		u = vec3_add(u, flight->gain);
		flight->velocity = vec3_add(flight->velocity, flight->gain);
		flight->gain = vec3_zero();
		speed += press;
	}
	if (!(speed > 0))
		return true;
	vec3 impulse = impulse_of(&touch, flight->mass, u, bounces ? touch.restitution : 0);
	flight->velocity = vec3_mul_add(flight->velocity, impulse, 1 / flight->mass);
	if (touch.dynamic) {
		flight->partner = strike->body;
		flight->impulse = vec3_sub(flight->impulse, impulse);
		flight->twist = vec3_sub(flight->twist, vec3_cross(touch.arm, impulse));
	}
	return true;
}

/* After a hit: the rest of the path, which does not lead into the surface. */
static void go_on(struct flight *flight, const struct strike *strike)
{
	const struct tables *tables = flight->motion->dynamics->tables;
	ASSERT(flight->left >= 0 && flight->left <= 1);
	flight->from = strike->at;
	flight->carried = false;
	vec3 mean = vec3_mul_add(flight->velocity, flight->gain, 0.5);
	/* The path is seen from the body's place at the tick's end. */
	vec3 arm = vec3_sub(strike->at, dynamics_centre(tables, strike->body));
	vec3 body = vec3_add(tables->body.velocity[strike->body],
			     vec3_cross(tables->body.angular_velocity[strike->body], arm));
	vec3 way = vec3_scale(vec3_sub(mean, body), flight->left * flight->motion->dt);
	double inwards = -vec3_dot(way, strike->normal);
	if (inwards > 0)
		way = vec3_mul_add(way, strike->normal, inwards);
	flight->to = vec3_add(strike->at, way);
}

/* ---- a particle ----------------------------------------------------------------------------------- */

/* What the body `partner` (DYNAMICS_NONE: none) gets as the next tick begins. */
static void note_reaction(const struct tables *tables, uint32_t row, uint32_t partner, vec3 impulse,
			  vec3 twist)
{
	ASSERT(partner == DYNAMICS_NONE || partner < tables->body.count);
	tables->particle.hit[row] = partner != DYNAMICS_NONE ? tables->body.id[partner] : 0;
	tables->particle.impulse[row] = impulse;
	tables->particle.twist[row] = twist;
}

static void store_motion(const struct particle_motion *motion, uint32_t row, vec3 position,
			 vec3 velocity)
{
	const struct particle_table *table = &motion->dynamics->tables->particle;
	/* It left the world: it goes in the next tick, after its impulse. */
	if (!stays_within(motion, position, velocity)) {
		table->death[row] = 1;
		table->velocity[row] = vec3_zero();
		return;
	}
	table->position[row] = position;
	table->velocity[row] = velocity;
}

/* Where nothing is near. */
static void coast(const struct block *block, uint32_t index)
{
	struct dynamics *dynamics = block->motion->dynamics;
	uint32_t row = block->first + index;
	dynamics->cuts.items[row] = block->motion->ends != NULL && block->motion->ends[row].cut;
	if (dynamics->tables->particle.hit[row] != 0)
		note_reaction(dynamics->tables, row, DYNAMICS_NONE, vec3_zero(), vec3_zero());
	store_motion(block->motion, row, block->to[index], block->velocity[index]);
}

static void fly(const struct block *block, uint32_t index, const struct candidates *near)
{
	const struct particle_motion *motion = block->motion;
	const struct tables *tables = motion->dynamics->tables;
	uint32_t row = block->first + index;
	ASSERT(row < tables->particle.count && row < motion->dynamics->cuts.capacity);
	struct flight flight = {
		.motion = motion,
		.near = near,
		.row = row,
		.system = tables->particle.system[row],
		.radius = tables->particle.radius[row],
		.mass = tables->particle.mass[row],
		.from = tables->particle.position[row],
		.to = block->to[index],
		.velocity = tables->particle.velocity[row],
		.gain = vec3_sub(block->velocity[index], tables->particle.velocity[row]),
		.left = 1,
		.carried = true,
		.partner = DYNAMICS_NONE,
	};
	const struct particle_end *end = motion->ends != NULL ? &motion->ends[row] : NULL;
	if (end != NULL && end->known && end->struck) {
		flight.velocity = end->velocity;
		flight.gain = vec3_zero();
	}
	if (end != NULL && end->core > 0)
		flight.radius = end->core;
	struct strike strike;
	uint32_t hits = 0;
	bool cut = false;
	while (!cut && find_strike(&flight, &strike)) {
		double rest = 1 - strike.fraction;
		flight.velocity = vec3_mul_add(flight.velocity, flight.gain, strike.fraction);
		flight.gain = vec3_scale(flight.gain, rest);
		flight.left *= rest;
		cut = !respond(&flight, &strike);
		go_on(&flight, &strike);
		cut |= ++hits == PARTICLE_HITS_MAX;
		if (cut) {
			flight.to = flight.from;
			flight.gain = vec3_zero();
		}
	}
	motion->dynamics->cuts.items[row] = cut || (end != NULL && end->cut);
	if (flight.partner != DYNAMICS_NONE || tables->particle.hit[row] != 0)
		note_reaction(tables, row, flight.partner, flight.impulse, flight.twist);
	if (hits == 0) /* in its own bits, not as a sum of parts */
		store_motion(motion, row, block->to[index], block->velocity[index]);
	else
		store_motion(motion, row, flight.to, vec3_add(flight.velocity, flight.gain));
}

/* ---- groups --------------------------------------------------------------------------------------- */

/* Puts the members beyond the middle of the longest side of the box around their ends last;
 * returns how many come first. */
static uint32_t split(const struct block *block, uint16_t *members, uint32_t count)
{
	struct aabb box = aabb_empty();
	ASSERT(count > 1);
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, block->to[members[i]]);
	uint32_t axis = vec3_largest_axis(aabb_half(box)), first = 0;
	double middle = vec3_get(aabb_centre(box), axis);
	for (uint32_t i = 0; i < count; i++) {
		if (vec3_get(block->to[members[i]], axis) > middle)
			continue;
		uint16_t member = members[i];
		members[i] = members[first];
		members[first++] = member;
	}
	return first > 0 && first < count ? first : count / 2;
}

/* Whether a path's box meets none of the shapes near. */
static bool is_clear(const struct block *block, uint32_t index, const struct candidates *near)
{
	const struct particle_motion *motion = block->motion;
	const struct particle_table *table = &motion->dynamics->tables->particle;
	uint32_t row = block->first + index;
	double radius = table->radius[row];
	if (motion->ends != NULL)
		radius = scalar_max(radius, motion->ends[row].core);
	struct aabb box = box_of_path(motion, table->position[row], block->to[index], radius);
	for (uint32_t i = 0; i < near->count; i++)
		if (aabb_overlaps(box, near->items[i].box))
			return false;
	return near->complete;
}

static bool is_held(const struct block *block, uint32_t index)
{
	const struct particle_end *ends = block->motion->ends;
	return ends != NULL && ends[block->first + index].held;
}

static struct aabb box_of_members(const struct block *block, const uint16_t *members,
				  uint32_t count)
{
	const struct particle_table *table = &block->motion->dynamics->tables->particle;
	struct aabb box = aabb_empty();
	ASSERT(count > 0);
	for (uint32_t i = 0; i < count; i++) {
		box = aabb_add_point(box, table->position[block->first + members[i]]);
		box = aabb_add_point(box, block->to[members[i]]);
	}
	return box;
}

static void find_candidates(const struct block *block, struct aabb box, struct candidates *near)
{
	const struct particle_motion *motion = block->motion;
	near->dynamics = motion->dynamics;
	near->count = 0;
	near->complete = true;
	/* Twice the radius, so that most paths after a hit are within it, too. */
	near->box = aabb_grow(box, 2 * block->largest + motion->reach);
	broad_phase_query(motion->dynamics->broad_phase, &near->box, collect_shape, near);
}

/* Moves members that have these shapes near, or parts of them that have fewer. */
static void fly_group(const struct block *block, uint16_t *members, uint32_t count,
		      const struct candidates *near)
{
	ASSERT(count > 0 && count <= PARTICLE_BLOCK);
	if (!near->complete && count > 1) {
		uint32_t first = split(block, members, count);
		struct candidates half;
		find_candidates(block, box_of_members(block, members, first), &half);
		fly_group(block, members, first, &half);
		members += first;
		count -= first;
		find_candidates(block, box_of_members(block, members, count), &half);
		fly_group(block, members, count, &half);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (is_held(block, members[i]) || is_clear(block, members[i], near))
			coast(block, members[i]);
		else
			fly(block, members[i], near);
	}
}

/* All of a block where nothing is near. */
static void coast_block(const struct block *block, uint32_t count)
{
	struct dynamics *dynamics = block->motion->dynamics;
	struct particle_table *table = &dynamics->tables->particle;
	uint32_t first = block->first, met = 0;
	ASSERT(count <= PARTICLE_BLOCK && first + count <= table->count);
	for (uint32_t i = 0; i < count; i++)
		met |= table->hit[first + i];
	if (met != 0 || block->cut || !block->stays) {
		for (uint32_t i = 0; i < count; i++)
			coast(block, i);
		return;
	}
	memset(dynamics->cuts.items + first, 0, count * sizeof *dynamics->cuts.items);
	memcpy(table->position + first, block->to, count * sizeof *block->to);
	memcpy(table->velocity + first, block->velocity, count * sizeof *block->velocity);
}

void particle_path_block(const struct particle_motion *motion, uint32_t first, uint32_t last)
{
	struct block block; /* not cleared: it is large */
	struct candidates near;
	uint16_t members[PARTICLE_BLOCK];
	ASSERT(first < last && last - first <= PARTICLE_BLOCK);
	block.motion = motion;
	block.first = first;
	fly_free(&block, last);
	find_candidates(&block, block.box, &near);
	if (near.complete && near.count == 0) {
		coast_block(&block, last - first);
		return;
	}
	for (uint32_t i = 0; i < last - first; i++)
		members[i] = (uint16_t)i;
	fly_group(&block, members, last - first, &near);
}
