/* What a world tells in its ticks, against all pairs of bodies, in random worlds under every method.
 *
 * Sensors: the lists and the events begin and end against shape_overlap of every pair, and what is crossed
 * within a tick against the way sampled. Contacts: begin and end against the touching pairs of both ticks,
 * and these against the depth and the distance of every pair. Hits: one of each pair of bodies, its impulse
 * against the sum over all contact points, and its speed against the velocities before the tick. Between
 * ticks bodies are removed, moved, and change status, filter and the flag of sensors. Some bodies have two
 * pieces, which may be sensors and have filters by themselves; these change, too.
 *
 * Worlds: 100 a method; CAIRN_POSES=N makes it N times as many (`make soak-streams`: 10 500 worlds). */
#include "server/base/rng.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <string.h>

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };
enum { METHOD_COUNT = 7, FREE = 0, IMPACT = 5 };
enum { BODIES = 10, TICKS = 8, TOUCHING_MAX = 512, WORLDS = 100, SAMPLES = 64 };

/* What one shape of a body does. */
struct part {
	enum test_shape shape;
	pose at; /* in the body */
	bool sensor;
	uint32_t category, mask;
	int64_t group;
};

struct member {
	body_id id;
	enum test_shape shape; /* of the first part */
	uint8_t status;
	bool sensor, gone; /* sensor: the body's flag */
	uint32_t category, mask;
	int64_t group;
	struct part parts[2];
	bool own_sensor[2], own_filter[2]; /* the part's, not the body's */
	uint32_t part_count;
	struct body_view before, after; /* of the tick */
};

struct touching {
	body_id a, b;
	uint32_t child_a, child_b;
	int32_t times; /* begun less ended */
};

struct reference {
	struct world *world;
	uint32_t method;
	double hit_speed;
	struct member members[BODIES];
	bool overlapped[BODIES][BODIES]; /* at the end of the tick before */
	struct touching touching[TOUCHING_MAX];
	uint32_t touching_count;
	/* What was met, so that a test of nothing is noticed. */
	uint32_t overlaps, crossings, contacts, ends, hits;
};

static pose place_of(const struct body_view *body)
{
	return pose_make(body->position, body->rotation);
}

static bool filter_allows(const struct part *a, const struct part *b)
{
	if (a->group == b->group && a->group != 0)
		return a->group > 0;
	return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

static bool both_solid(const struct member *a, const struct member *b)
{
	return !a->gone && !b->gone && a->status != BODY_INACTIVE && b->status != BODY_INACTIVE;
}

static double dt_of(void)
{
	return 1.0 / 60;
}

/* ---- worlds ------------------------------------------------------------------------------------ */

/* Parts follow their body in what they do not have of their own. */
static void follow_body(struct member *m)
{
	for (uint32_t i = 0; i < m->part_count; i++) {
		struct part *part = &m->parts[i];
		if (!m->own_sensor[i])
			part->sensor = m->sensor;
		if (m->own_filter[i])
			continue;
		part->category = m->category;
		part->mask = m->mask;
		part->group = m->group;
	}
}

static void change_part(struct reference *self, struct rng *rng, struct member *m)
{
	uint32_t at = rng_below(rng, m->part_count);
	struct part *part = &m->parts[at];
	struct command set = test_command(COMMAND_SET_PIECE);
	m->own_sensor[at] = rng_below(rng, 2);
	m->own_filter[at] = rng_below(rng, 2);
	set.set_piece.body = m->id;
	set.set_piece.piece = at;
	if (m->own_sensor[at]) {
		set.set_piece.own |= OWN_SENSOR;
		part->sensor = rng_below(rng, 2);
		set.set_piece.sensor = part->sensor;
	}
	if (m->own_filter[at]) {
		set.set_piece.own |= OWN_FILTER;
		set.set_piece.category = part->category = 1 + rng_below(rng, 3);
		set.set_piece.mask = part->mask = 1 + rng_below(rng, 3);
		set.set_piece.group = part->group = (int64_t)rng_below(rng, 6) - 1;
	}
	follow_body(m);
	test_do(self->world, &set);
}

static void add_part(struct reference *self, struct rng *rng, struct member *m,
		     struct command_SPAWN *spawn, struct attachment items[2])
{
	struct part *part = &m->parts[1];
	*part = (struct part){ .shape = rng_below(rng, 2) ? TEST_BOX : TEST_SPHERE };
	part->at.position = random_vector(rng, 0.8);
	part->at.rotation = random_rotation(rng);
	items[1] = (struct attachment){ test_use(self->world, part->shape), part->at.position,
					part->at.rotation };
	spawn->shapes = (struct attachment_list){ items, 2 };
	spawn->mass_rule = MASS_WITH_CENTRE; /* at the origin, as of one part */
}

static void make_member(struct reference *self, struct rng *rng, struct member *m, bool ground)
{
	static const enum test_shape shapes[] = { TEST_SPHERE, TEST_CAPSULE, TEST_BOX, TEST_HULL };
	struct attachment items[2];
	*m = (struct member){ .shape = ground ? TEST_PLANE : shapes[rng_below(rng, 4)],
			      .status = ground		    ? BODY_STATIC
					: rng_below(rng, 2) ? BODY_DYNAMIC
							    : (uint8_t)(1 + rng_below(rng, 3)),
			      .sensor = !ground && rng_below(rng, 4) == 0,
			      .category = 1u << rng_below(rng, 2),
			      .mask = rng_below(rng, 6) == 0 ? 1 : UINT32_MAX,
			      .group = (int64_t)rng_below(rng, 12) - 1 };
	struct command spawn = test_spawn_command(self->world, m->shape, vec3_zero(), items);
	m->part_count = !ground && rng_below(rng, 3) == 0 ? 2 : 1;
	m->parts[0] = (struct part){ .shape = m->shape, .at = pose_identity() };
	if (m->part_count == 2)
		add_part(self, rng, m, &spawn.spawn, items);
	spawn.spawn.status = m->status;
	spawn.spawn.category = m->category;
	spawn.spawn.mask = m->mask;
	spawn.spawn.group = m->group;
	spawn.spawn.restitution = rng_range(rng, 0, 1);
	spawn.spawn.flags |= m->sensor ? BODY_SENSOR : 0;
	if (!ground) {
		spawn.spawn.position = vec3_add(random_vector(rng, 1.2), vec3_make(0, 1.3, 0));
		spawn.spawn.rotation = random_rotation(rng);
	}
	if (m->status != BODY_STATIC) {
		double speed = rng_below(rng, 3) == 0 ? 150 : 4;
		spawn.spawn.velocity = random_vector(rng, speed);
		spawn.spawn.angular_velocity = random_vector(rng, 3);
	}
	m->id = test_do(self->world, &spawn);
	follow_body(m);
	if (m->part_count == 2)
		change_part(self, rng, m);
}

static void make_world(struct reference *self, struct rng *rng, uint32_t method)
{
	*self = (struct reference){ .world = test_world(false, METHODS[method]), .method = method };
	self->hit_speed = rng_range(rng, 0.5, 3);
	struct command set = test_command(COMMAND_PARAMETER);
	set.parameter.name = test_text("hit.speed");
	set.parameter.value = self->hit_speed;
	test_do(self->world, &set);
	if (rng_below(rng, 2))
		test_no_gravity(self->world);
	bool ground = rng_below(rng, 2);
	for (uint32_t i = 0; i < BODIES; i++)
		make_member(self, rng, &self->members[i], ground && i == 0);
}

static void change_something(struct reference *self, struct rng *rng)
{
	struct member *one = &self->members[rng_below(rng, BODIES)];
	if (one->gone || one->shape == TEST_PLANE)
		return;
	struct command command;
	switch (rng_below(rng, 5)) {
	case 4:
		change_part(self, rng, one);
		return;
	case 0:
		command = test_command(COMMAND_REMOVE);
		command.remove.body = one->id;
		one->gone = true;
		break;
	case 1:
		command = test_command(COMMAND_SET_FILTER);
		command.set_filter.body = one->id;
		command.set_filter.category = one->category = 1 + rng_below(rng, 3);
		command.set_filter.mask = one->mask = 1 + rng_below(rng, 3);
		command.set_filter.group = one->group = 0;
		one->sensor = rng_below(rng, 2);
		command.set_filter.sensor = one->sensor ? SWITCH_ON : SWITCH_OFF;
		follow_body(one);
		break;
	case 2:
		command = test_command(COMMAND_SET_POSE);
		command.set_pose.body = one->id;
		command.set_pose.position = random_vector(rng, 2);
		break;
	default:
		command = test_command(COMMAND_SET_STATUS);
		command.set_status.body = one->id;
		command.set_status.status = one->status = (uint8_t)rng_below(rng, 4);
		break;
	}
	test_do(self->world, &command);
}

static uint32_t count_events(const struct world *world, uint8_t kind, body_id a, body_id b,
			     struct event *last)
{
	uint32_t count, found = 0;
	const struct event *events = world_events(world, &count);
	for (uint32_t i = 0; i < count; i++)
		if (events[i].kind == kind && events[i].a == a && events[i].b == b) {
			found++;
			*last = events[i];
		}
	return found;
}

/* ---- sensors ----------------------------------------------------------------------------------- */

typedef bool part_relation(const struct part *a, const struct part *b);

static bool part_senses(const struct part *a, const struct part *b)
{
	return a->sensor && !b->sensor && filter_allows(a, b);
}

static bool parts_meet(const struct part *a, const struct part *b)
{
	return !a->sensor && !b->sensor && filter_allows(a, b);
}

/* Whether some parts of two bodies are so related. */
static bool any_parts(const struct member *a, const struct member *b, part_relation *related)
{
	for (uint32_t i = 0; i < a->part_count; i++)
		for (uint32_t k = 0; k < b->part_count; k++)
			if (related(&a->parts[i], &b->parts[k]))
				return true;
	return false;
}

/* Whether a sensor of a overlaps what it tells of b. */
static bool overlap_at(const struct member *a, pose at_a, const struct member *b, pose at_b)
{
	for (uint32_t i = 0; i < a->part_count; i++)
		for (uint32_t k = 0; k < b->part_count; k++) {
			const struct part *x = &a->parts[i], *y = &b->parts[k];
			pose relative = pose_relative(pose_mul(at_a, x->at), pose_mul(at_b, y->at));
			if (part_senses(x, y) &&
			    shape_overlap(test_shape(x->shape), test_shape(y->shape), &relative))
				return true;
		}
	return false;
}

static bool may_sense(const struct member *a, const struct member *b)
{
	return both_solid(a, b) && (a->status != BODY_STATIC || b->status != BODY_STATIC) &&
	       any_parts(a, b, part_senses);
}

static pose along(const struct member *m, double fraction)
{
	vec3 way = vec3_sub(m->after.position, m->before.position);
	return pose_make(vec3_mul_add(m->before.position, way, fraction), m->before.rotation);
}

/* The signed distance with both bodies after `fraction` of their straight ways. */
static double distance_along(const struct member *a, const struct member *b, double fraction,
			     part_relation *related, struct closest_pair *nearest)
{
	nearest->distance = 1e3;
	for (uint32_t i = 0; i < a->part_count; i++)
		for (uint32_t k = 0; k < b->part_count; k++) {
			const struct part *p = &a->parts[i], *q = &b->parts[k];
			struct placed_shape x = { test_shape(p->shape),
						  pose_mul(along(a, fraction), p->at), a->id, 0 };
			struct placed_shape y = { test_shape(q->shape),
						  pose_mul(along(b, fraction), q->at), b->id, 0 };
			struct closest_pair pair;
			if (related(p, q) && placed_closest(&x, 1, &y, 1, 1e3, &pair) &&
			    pair.distance < nearest->distance)
				*nearest = pair;
		}
	return nearest->distance;
}

static double way_of(const struct member *m)
{
	return vec3_length(m->before.velocity) * dt_of();
}

/* A body is sure to be searched for crossings if its way is as long as its size. */
static bool is_fast(const struct member *m)
{
	return m->status != BODY_STATIC && m->shape != TEST_PLANE && !m->before.asleep &&
	       way_of(m) > 0.8;
}

/* m: a body that was slow as the tick began counts as standing at its end, even if it was hit. */
static double standing_error(const struct member *m)
{
	double turn = vec3_length(m->after.angular_velocity) * dt_of();
	double way = vec3_distance(m->before.position, m->after.position);
	return way_of(m) > 0.5 || m->status == BODY_STATIC ? 0 : way + turn;
}

/* m: parts beside the origin turn about it, and are cast along straight lines. A body that was hit within the
 * tick may have turned by more than its speeds before and after tell. */
static double turning_error(const struct member *m)
{
	double spin = scalar_max(vec3_length(m->before.angular_velocity),
				 vec3_length(m->after.angular_velocity));
	double turn;
	vec3 axis;
	quat_to_axis_angle(quat_mul(quat_conjugate(m->before.rotation), m->after.rotation), &axis,
			   &turn);
	turn = scalar_max(turn, spin * dt_of());
	return m->part_count > 1 ? turn * vec3_length(m->parts[1].at.position) : 0;
}

static void compare_crossing(struct reference *self, const struct member *a, const struct member *b,
			     uint32_t begins, double fraction)
{
	struct closest_pair nearest;
	double deepest = 1e3, error = 1e-4 + standing_error(a) + standing_error(b) +
				      turning_error(a) + turning_error(b);
	for (uint32_t i = 0; i <= SAMPLES; i++)
		deepest = scalar_min(
			deepest, distance_along(a, b, (double)i / SAMPLES, part_senses, &nearest));
	if (begins > 0) {
		self->crossings++;
		double met = distance_along(a, b, fraction, part_senses, &nearest);
		ck_assert_msg(met < error, "crossed at a distance of %g m", met);
	} else if (is_fast(a) || is_fast(b)) {
		ck_assert_msg(deepest > -error, "missed a crossing %g m deep, ways of %g and %g m",
			      -deepest, way_of(a), way_of(b));
	}
}

static void compare_sensors(struct reference *self)
{
	for (uint32_t i = 0; i < BODIES; i++) {
		const struct member *a = &self->members[i];
		body_id found[BODIES];
		uint32_t count = 0, expected = 0;
		if (!a->gone)
			ck_assert_int_eq(world_sensed(self->world, a->id, found, BODIES, &count),
					 STATUS_OK);
		for (uint32_t k = 0; k < BODIES; k++) {
			const struct member *b = &self->members[k];
			struct event begin = { 0 }, end;
			bool was = self->overlapped[i][k];
			bool now = i != k && may_sense(a, b) &&
				   overlap_at(a, place_of(&a->after), b, place_of(&b->after));
			self->overlapped[i][k] = now;
			if (now)
				ck_assert_uint_eq(found[expected++], b->id);
			uint32_t begins =
				count_events(self->world, EVENT_SENSOR_BEGIN, a->id, b->id, &begin);
			uint32_t ends =
				count_events(self->world, EVENT_SENSOR_END, a->id, b->id, &end);
			if (now || was || i == k || !may_sense(a, b)) {
				ck_assert_uint_eq(begins, now && !was);
				ck_assert_uint_eq(ends, was && !now);
				continue;
			}
			ck_assert_uint_eq(begins, ends);
			ck_assert_uint_le(begins, 1);
			compare_crossing(self, a, b, begins, begin.fraction);
		}
		ck_assert_uint_eq(count, expected);
		self->overlaps += expected;
	}
}

/* ---- contacts ---------------------------------------------------------------------------------- */

static bool same_pair(const struct touching *x, const struct touching *y)
{
	return x->a == y->a && x->b == y->b && x->child_a == y->child_a && x->child_b == y->child_b;
}

/* `count`: it is not among them. */
static uint32_t find_pair(const struct touching *all, uint32_t count, const struct touching *pair)
{
	uint32_t i = 0;
	while (i < count && !same_pair(&all[i], pair))
		i++;
	return i;
}

static void forget_ended(struct reference *self)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < self->touching_count; i++)
		if (self->touching[i].times > 0)
			self->touching[left++] = self->touching[i];
	self->touching_count = left;
}

static int32_t parts_of(const struct reference *self, body_id id)
{
	for (uint32_t i = 0; i < BODIES; i++)
		if (self->members[i].id == id)
			return (int32_t)self->members[i].part_count;
	return 1;
}

/* Adds the events of the tick to the touching pairs: in it a pair may begin and end, or end by a command
 * and begin anew, and events are sorted by kind. Pairs that ended stay for this tick, with 0 times. */
static void follow_events(struct reference *self)
{
	uint32_t count;
	const struct event *events = world_events(self->world, &count);
	forget_ended(self);
	for (uint32_t i = 0; i < count; i++) {
		const struct event *event = &events[i];
		bool begins = event->kind == EVENT_CONTACT_BEGIN;
		if (!begins && event->kind != EVENT_CONTACT_END)
			continue;
		struct touching pair = { event->a, event->b, event->child_a, event->child_b, 0 };
		uint32_t at = find_pair(self->touching, self->touching_count, &pair);
		ck_assert_uint_lt(at, TOUCHING_MAX);
		if (at == self->touching_count)
			self->touching[self->touching_count++] = pair;
		self->touching[at].times += begins ? 1 : -1;
		self->contacts += begins;
		self->ends += !begins;
	}
	for (uint32_t i = 0; i < self->touching_count; i++) {
		ck_assert_int_ge(self->touching[i].times, 0);
		ck_assert_int_le(self->touching[i].times,
				 parts_of(self, self->touching[i].a) *
					 parts_of(self, self->touching[i].b));
	}
}

/* What carries an impulse touches. Single points may be below 0 where `lcp` takes back the impulses of
 * a bounce, so the sum counts. */
static void compare_impulses(const struct reference *self)
{
	struct contact_view views[TOUCHING_MAX];
	uint32_t count;
	double sum = 0;
	ck_assert_int_eq(world_contacts(self->world, 0, views, TOUCHING_MAX, &count), STATUS_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct touching pair = { views[i].a, views[i].b, views[i].child_a, views[i].child_b,
					 0 };
		struct touching next = { 0 };
		if (i + 1 < count)
			next = (struct touching){ views[i + 1].a, views[i + 1].b,
						  views[i + 1].child_a, views[i + 1].child_b, 0 };
		sum += views[i].normal_impulse;
		if (same_pair(&pair, &next))
			continue;
		uint32_t at = find_pair(self->touching, self->touching_count, &pair);
		ck_assert_msg(!(sum > 0) ||
				      (at < self->touching_count && self->touching[at].times > 0),
			      "%s: %g N s between %u and %u that do not touch",
			      METHODS[self->method], sum, pair.a, pair.b);
		sum = 0;
	}
}

/* m: how far the farthest points of a body may have gone in the tick. */
static double reach_of(const struct member *m)
{
	double speed = scalar_max(vec3_length(m->before.velocity), vec3_length(m->after.velocity));
	double turn = scalar_max(vec3_length(m->before.angular_velocity),
				 vec3_length(m->after.angular_velocity));
	double way = vec3_distance(m->before.position, m->after.position);
	return way + (speed + 1.5 * turn + 20 * dt_of()) * dt_of();
}

static vec3 velocity_before(const struct member *m, vec3 point)
{
	vec3 arm =
		vec3_sub(point, m->before.position); /* the catalogue's centres are its origins */
	return vec3_add(m->before.velocity, vec3_cross(m->before.angular_velocity, arm));
}

static uint32_t contacts_of(const struct reference *self, body_id id)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->touching_count; i++)
		count += self->touching[i].a == id || self->touching[i].b == id;
	return count;
}

/* Whether two that overlap are sure to collide. Under `impact` what parts, perhaps because another body hit
 * it, collides when it approaches again; deep inside, along which axis is a matter of choice. */
static bool must_meet(const struct reference *self, const struct member *a, const struct member *b,
		      const struct closest_pair *at)
{
	if (self->method != IMPACT)
		return at->distance < -1e-6;
	if (contacts_of(self, a->id) + contacts_of(self, b->id) > 0)
		return false;
	vec3 apart = vec3_sub(velocity_before(a, at->a.point), velocity_before(b, at->b.point));
	return at->distance < -1e-6 && at->distance > -0.05 && vec3_dot(apart, at->normal) > 0.1;
}

/* What overlaps as the tick begins touches in it; what touches can have come so near. */
static void compare_depths(const struct reference *self)
{
	for (uint32_t i = 0; i < BODIES; i++)
		for (uint32_t k = i + 1; k < BODIES; k++) {
			const struct member *a = &self->members[i], *b = &self->members[k];
			bool met = false, touches = false;
			for (uint32_t n = 0; n < self->touching_count; n++) {
				const struct touching *pair = &self->touching[n];
				if ((pair->a == a->id && pair->b == b->id) ||
				    (pair->a == b->id && pair->b == a->id)) {
					met = true;
					touches |= pair->times > 0;
				}
			}
			bool may = both_solid(a, b) && any_parts(a, b, parts_meet) &&
				   (a->status == BODY_DYNAMIC || b->status == BODY_DYNAMIC) &&
				   self->method != FREE;
			ck_assert(may || !touches);
			if (!may || (a->after.asleep && b->after.asleep))
				continue;
			struct closest_pair nearest = { 0 };
			double distance = distance_along(a, b, 0, parts_meet, &nearest);
			if (must_meet(self, a, b, &nearest))
				ck_assert_msg(met, "%s: %g m deep and no contact",
					      METHODS[self->method], -distance);
			if (touches)
				ck_assert_msg(distance < 0.01 + reach_of(a) + reach_of(b),
					      "%s: a contact over %g m", METHODS[self->method],
					      distance);
		}
}

static void compare_contacts(struct reference *self)
{
	follow_events(self);
	compare_impulses(self);
	compare_depths(self);
}

/* ---- hits -------------------------------------------------------------------------------------- */

static const struct member *member_of(const struct reference *self, body_id id)
{
	for (uint32_t i = 0; i < BODIES; i++)
		if (self->members[i].id == id)
			return &self->members[i];
	return NULL;
}

/* Where a point of the body was before the tick. */
static vec3 carried_back(const struct member *m, vec3 point)
{
	return pose_point(place_of(&m->before), pose_inverse_point(place_of(&m->after), point));
}

/* The impulse between two bodies by all their contact points, and how fast these approached before the
 * tick, both by the contacts as they are read. */
static double impulse_between(const struct reference *self, body_id a, body_id b, double *speed)
{
	struct contact_view views[TOUCHING_MAX];
	uint32_t count;
	double impulse = 0;
	*speed = 0;
	ck_assert_int_eq(world_contacts(self->world, 0, views, TOUCHING_MAX, &count), STATUS_OK);
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_view *at = &views[i];
		if (!((at->a == a && at->b == b) || (at->a == b && at->b == a)) ||
		    !(at->normal_impulse > 0))
			continue;
		const struct member *x = member_of(self, at->a), *y = member_of(self, at->b);
		vec3 apart = vec3_sub(velocity_before(x, carried_back(x, at->point)),
				      velocity_before(y, carried_back(y, at->point)));
		vec3 normal = quat_rotate(x->before.rotation,
					  quat_rotate_inverse(x->after.rotation, at->normal));
		*speed = scalar_max(*speed, vec3_dot(apart, normal));
		impulse += at->normal_impulse;
	}
	return impulse;
}

/* Whether the speed before the tick at the points after it is that of the meeting. */
static bool meet_alone(const struct reference *self, const struct member *a, const struct member *b)
{
	double turn =
		vec3_length(a->before.angular_velocity) + vec3_length(b->before.angular_velocity);
	return a->part_count + b->part_count == 2 && contacts_of(self, a->id) == 1 &&
	       contacts_of(self, b->id) == 1 && way_of(a) < 0.2 && way_of(b) < 0.2 && turn < 7;
}

static void compare_hits(struct reference *self)
{
	for (uint32_t i = 0; i < BODIES; i++)
		for (uint32_t k = 0; k < BODIES; k++) {
			const struct member *a = &self->members[i], *b = &self->members[k];
			struct event hit;
			if (a->id >= b->id || a->gone || b->gone)
				continue;
			double speed, impulse = impulse_between(self, a->id, b->id, &speed);
			uint32_t hits = count_events(self->world, EVENT_HIT, a->id, b->id, &hit);
			ck_assert_uint_le(hits, 1);
			self->hits += hits;
			if (hits > 0) {
				ck_assert_double_gt(hit.speed, self->hit_speed);
				ck_assert_double_gt(hit.value, 0);
				if (a->part_count + b->part_count > 2)
					/* Single contacts may be forgotten by the tick's end. */
					ck_assert_double_ge(hit.value, impulse * (1 - 1e-9));
				else if (impulse >
					 0) /* else apart and forgotten by the tick's end */
					ck_assert_double_eq_tol(hit.value, impulse, 1e-9 * impulse);
			} else if (meet_alone(self, a, b)) {
				ck_assert_msg(speed < 2 * self->hit_speed,
					      "%s: no hit of %u and %u at %g m/s",
					      METHODS[self->method], a->id, b->id, speed);
			}
		}
}

/* ---- the property ------------------------------------------------------------------------------ */

static void run_world(struct reference *self, struct rng *rng)
{
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		if (tick > 2 && rng_below(rng, 2))
			change_something(self, rng);
		for (uint32_t i = 0; i < BODIES; i++)
			if (!self->members[i].gone)
				self->members[i].before =
					test_body(self->world, self->members[i].id);
		test_step(self->world, 1);
		for (uint32_t i = 0; i < BODIES; i++)
			if (!self->members[i].gone)
				self->members[i].after =
					test_body(self->world, self->members[i].id);
		compare_sensors(self);
		compare_contacts(self);
		compare_hits(self);
	}
	test_check(self->world);
}

START_TEST(every_event_is_that_of_all_pairs)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t overlaps = 0, crossings = 0, contacts = 0, ends = 0, hits = 0;
	for (uint32_t run = oracle_runs(WORLDS); run > 0; run--) {
		struct reference self;
		make_world(&self, &rng, (uint32_t)_i);
		run_world(&self, &rng);
		world_destroy(self.world);
		overlaps += self.overlaps;
		crossings += self.crossings;
		contacts += self.contacts;
		ends += self.ends;
		hits += self.hits;
	}
	printf("# %s: %u overlaps, %u crossings, %u contacts, %u ends, %u hits\n", METHODS[_i],
	       overlaps, crossings, contacts, ends, hits);
	ck_assert_uint_gt(overlaps, 100);
	ck_assert_uint_gt(crossings, 5);
	ck_assert(_i == FREE || (contacts > 100 && ends > 50 && hits > 50));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("streams");
	TCase *tests = tcase_create("streams");
	tcase_set_timeout(tests, 0);
	tcase_add_loop_test(tests, every_event_is_that_of_all_pairs, 0, METHOD_COUNT);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
