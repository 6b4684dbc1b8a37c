/* articulation.c: the forest of bodies and joints, its axes, velocities and biases.
 *
 * Breadth first: from the ground in the order of joints, then from each link in the order of joints; the
 * first body that no link reaches is a floating base. So the forest is a function of the order of bodies
 * and joints alone.
 *
 * With p the anchor of b and `lever` from it to the centre of the link, w and w_p the spins of link and
 * parent, s = Σ e_k q'_k the slide, and h_j the turns in their order from the parent:
 *
 *   spin bias     β = Σ (w_p + Σ_{i<j} h_i q'_i) × h_j q'_j
 *   a is parent   lever = −(p − r_b)    c = w_p × (w_p × (p − r_a)) + 2 w_p × s + β × lever + w × (w × lever)
 *   b is parent   lever = −(p − r_a)    c = w_p × (w_p × (p − r_b)) + 2 w × s' + β × lever + w × (w × lever)
 *
 * where s' = −s, because the slide then turns with the link.
 */
#include "server/engine/articulated/articulation.h"

#include "server/base/heap.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/spatial_inertia.h"
#include "server/engine/math/trig.h"

/* ---- joints -------------------------------------------------------------------------------------- */

/* Cosine between two turns above which they are one. */
#define AXES_PARALLEL (1 - 1e-8)

struct hinge_axes {
	vec3 axis[3];
	uint8_t number[3]; /* of the joint */
	uint32_t count;
	bool ball;
};

static mat3 axes_of(quat body, quat frame)
{
	return mat3_from_quat(quat_mul(body, frame));
}

/* The y axis between x of a and z of b, where one of the two turns beside it is locked. */
static vec3 middle_axis(const struct joint *joint, mat3 a, mat3 b, bool first_locked)
{
	double at = joint_locked_value(joint, first_locked ? 3 : 5);
	double c = trig_cos(at), s = trig_sin(at);
	return first_locked ? vec3_add(vec3_scale(a.y, c), vec3_scale(a.z, s))
			    : vec3_add(vec3_scale(b.y, c), vec3_scale(b.x, s));
}

/* The free turns from a to b, world axes. */
static struct hinge_axes find_hinges(const struct joint *joint, uint32_t locked, mat3 a, mat3 b)
{
	struct hinge_axes out = { .ball = (locked >> 3 & 7) == 0 };
	if (out.ball) {
		out = (struct hinge_axes){ { a.x, a.y, a.z }, { 3, 4, 5 }, 3, true };
		return out;
	}
	for (uint8_t k = 3; k < 6; k++) {
		if (locked >> k & 1)
			continue;
		out.axis[out.count] = k == 3   ? a.x
				      : k == 5 ? b.z
					       : middle_axis(joint, a, b, (locked >> 3 & 1) != 0);
		out.number[out.count++] = k;
	}
	ASSERT(out.count < 3);
	return out;
}

/* A joint that ties two bodies and whose free axes have independent coordinates. */
static bool joint_is_edge(const struct articulation_joint *from)
{
	const struct joint *joint = &from->joint;
	uint32_t locked = joint_locked_axes(joint);
	if (joint->type == JOINT_DISTANCE || locked == 0)
		return false;
	if (joint->type == JOINT_SPHERICAL && (locked >> 3 & 1) != 0)
		return false;
	mat3 a = axes_of(joint->a.rotation, joint->frame_a),
	     b = axes_of(joint->b.rotation, joint->frame_b);
	struct hinge_axes hinges = find_hinges(joint, locked, a, b);
	return hinges.count != 2 ||
	       scalar_abs(vec3_dot(hinges.axis[0], hinges.axis[1])) < AXES_PARALLEL;
}

/* ---- forest -------------------------------------------------------------------------------------- */

/* Joints of each body: those of body i are list[start[i]] … list[start[i + 1] − 1], ascending; the ground's
 * come last. */
struct adjacency {
	uint32_t *start, *list;
	bool *edge; /* by joint */
	bool *used;
};

static uint32_t place_of(const struct articulation *self, uint32_t joint, uint32_t side)
{
	uint32_t body = self->source.joints[joint].body[side];
	ASSERT(body == ARTICULATION_NONE || body < self->source.body_count);
	return body == ARTICULATION_NONE ? self->source.body_count : body;
}

static void list_joints(const struct articulation *self, struct adjacency *to)
{
	const struct articulation_source *source = &self->source;
	for (uint32_t i = 0; i < source->joint_count; i++) {
		to->edge[i] = joint_is_edge(&source->joints[i]);
		for (uint32_t side = 0; side < 2 && to->edge[i]; side++)
			to->start[place_of(self, i, side) + 2]++;
	}
	for (uint32_t i = 2; i < source->body_count + 3; i++)
		to->start[i] += to->start[i - 1];
	for (uint32_t i = 0; i < source->joint_count; i++)
		for (uint32_t side = 0; side < 2 && to->edge[i]; side++)
			to->list[to->start[place_of(self, i, side) + 1]++] = i;
}

static void add_link(struct articulation *self, uint32_t body, uint32_t parent, uint32_t joint)
{
	ASSERT(self->link_of[body] == ARTICULATION_NONE);
	struct articulation_link *link = &self->links[self->link_count];
	*link = (struct articulation_link){ .body = body, .parent = parent, .joint = joint };
	link->reversed = joint != ARTICULATION_NONE && self->source.joints[joint].body[0] == body;
	self->link_of[body] = self->link_count++;
}

/* Bodies beyond the joints of `place` that no link has yet. */
static void reach_from(struct articulation *self, struct adjacency *from, uint32_t place)
{
	uint32_t parent =
		place < self->source.body_count ? self->link_of[place] : ARTICULATION_NONE;
	for (uint32_t i = from->start[place]; i < from->start[place + 1]; i++) {
		uint32_t joint = from->list[i];
		const uint32_t *body = self->source.joints[joint].body;
		uint32_t side = place_of(self, joint, 0) == place ? 1 : 0;
		if (body[side] == ARTICULATION_NONE ||
		    self->link_of[body[side]] != ARTICULATION_NONE)
			continue;
		from->used[joint] = true;
		add_link(self, body[side], parent, joint);
	}
}

static void grow_forest(struct articulation *self, struct adjacency *from)
{
	uint32_t bodies = self->source.body_count, done = 0;
	for (uint32_t i = 0; i < bodies; i++)
		self->link_of[i] = ARTICULATION_NONE;
	reach_from(self, from, bodies);
	for (uint32_t base = 0; base <= bodies; base++) {
		if (base > 0 && self->link_of[base - 1] == ARTICULATION_NONE)
			add_link(self, base - 1, ARTICULATION_NONE, ARTICULATION_NONE);
		for (; done < self->link_count; done++)
			reach_from(self, from, self->links[done].body);
	}
	ASSERT(self->link_count == bodies);
	for (uint32_t i = 0; i < self->source.joint_count; i++)
		if (!from->used[i] && joint_locked_axes(&self->source.joints[i].joint) != 0)
			self->closures[self->closure_count++] = i;
}

static enum status make_forest(struct articulation *self)
{
	uint32_t bodies = self->source.body_count, joints = self->source.joint_count;
	struct adjacency work = { heap_alloc_zero((bodies + 3u) * sizeof(uint32_t)),
				  heap_alloc((2u * joints + 1u) * sizeof(uint32_t)),
				  heap_alloc_zero(joints + 1u), heap_alloc_zero(joints + 1u) };
	enum status status = STATUS_NO_MEMORY;
	if (work.start != NULL && work.list != NULL && work.edge != NULL && work.used != NULL) {
		list_joints(self, &work);
		grow_forest(self, &work);
		status = STATUS_OK;
	}
	heap_free(work.start);
	heap_free(work.list);
	heap_free(work.edge);
	heap_free(work.used);
	return status;
}

/* ---- axes ---------------------------------------------------------------------------------------- */

/* Appends an axis and its rate; an axis that the locks hold is left out. */
static void add_axis(struct articulation *self, struct articulation_link *link, struct spatial axis,
		     uint8_t number, double rate, bool *mixed)
{
	ASSERT(link->count < ARTICULATION_AXES_MAX);
	if (!mass_locks_let(axis, self->source.masses[link->body].locks, mixed))
		return;
	link->axis[link->count++] = number;
	self->axes[self->axis_count] = axis;
	self->rates[self->axis_count++] = rate;
}

static void place_base(struct articulation *self, struct articulation_link *link, bool *mixed)
{
	const struct body_motion *motion = &self->source.motions[link->body];
	link->kind = ARTICULATION_BASE;
	for (uint8_t i = 0; i < 6; i++) {
		vec3 axis = vec3_axis(i % 3);
		add_axis(self, link, i < 3 ? spatial_along(vec3_zero(), axis) : spatial_about(axis),
			 i, vec3_get(i < 3 ? motion->velocity : motion->angular_velocity, i % 3),
			 mixed);
	}
	for (uint32_t k = link->first; k < self->axis_count; k++)
		link->velocity = spatial_mul_add(link->velocity, self->axes[k], self->rates[k]);
}

/* The rates of the turns that are nearest to the spin. */
static void find_turn_rates(const struct hinge_axes *hinges, vec3 spin, double rates[3])
{
	double first = vec3_dot(hinges->axis[0], spin), second = vec3_dot(hinges->axis[1], spin);
	rates[0] = first;
	rates[1] = second;
	rates[2] = vec3_dot(hinges->axis[2], spin);
	if (hinges->count != 2)
		return;
	double between = vec3_dot(hinges->axis[0], hinges->axis[1]), d = 1 - between * between;
	rates[0] = (first - between * second) / d;
	rates[1] = (second - between * first) / d;
}

struct link_placing {
	const struct joint *joint;
	vec3 lever,
		reach; /* from b's anchor to the link's centre, and from the parent's centre to it */
	vec3 slide, spin; /* s, and the spin so far, world axes */
	vec3 turning;	  /* β */
	double sign;	  /* −1: reversed */
};

static void place_slides(struct articulation *self, struct articulation_link *link,
			 struct link_placing *at, uint32_t locked, mat3 frame, bool *mixed)
{
	const struct body_motion *a = &at->joint->a, *b = &at->joint->b;
	vec3 p = joint_anchor_b(at->joint, b);
	vec3 speed = vec3_add(b->velocity, vec3_cross(b->angular_velocity, vec3_sub(p, b->centre)));
	speed = vec3_sub(speed, a->velocity);
	speed = vec3_sub(speed, vec3_cross(a->angular_velocity, vec3_sub(p, a->centre)));
	for (uint8_t k = 0; k < 3; k++) {
		vec3 e = k == 0 ? frame.x : k == 1 ? frame.y : frame.z;
		double rate = vec3_dot(e, speed);
		if (locked >> k & 1)
			continue;
		uint32_t before = self->axis_count;
		add_axis(self, link, spatial_along(vec3_zero(), vec3_scale(e, at->sign)), k, rate,
			 mixed);
		if (self->axis_count > before)
			at->slide = vec3_mul_add(at->slide, e, at->sign * rate);
	}
}

/* Turns in their order from the parent; their biases. */
static void place_turns(struct articulation *self, struct articulation_link *link,
			struct link_placing *at, const struct hinge_axes *hinges, bool *mixed)
{
	double rates[3];
	vec3 spin = vec3_sub(at->joint->b.angular_velocity, at->joint->a.angular_velocity);
	vec3 base = at->spin;
	find_turn_rates(hinges, spin, rates);
	for (uint32_t i = 0; i < hinges->count; i++) {
		uint32_t k = at->sign < 0 && !hinges->ball ? hinges->count - 1 - i : i;
		vec3 h = vec3_scale(hinges->axis[k], at->sign);
		uint32_t before = self->axis_count;
		add_axis(self, link, (struct spatial){ vec3_cross(h, at->lever), h },
			 hinges->number[k], rates[k], mixed);
		if (self->axis_count == before)
			continue;
		vec3 turn = vec3_scale(h, rates[k]);
		at->turning =
			vec3_add(at->turning, vec3_cross(hinges->ball ? base : at->spin, turn));
		at->spin = vec3_add(at->spin, turn);
	}
}

static vec3 turn_arm(vec3 spin, vec3 arm)
{
	return vec3_cross(spin, vec3_cross(spin, arm));
}

static void place_link(struct articulation *self, struct articulation_link *link, bool *mixed)
{
	const struct joint *joint = &self->source.joints[link->joint].joint;
	uint32_t locked = joint_locked_axes(joint);
	bool on_ground = link->parent == ARTICULATION_NONE;
	const struct body_motion *parent = link->reversed ? &joint->b : &joint->a;
	const struct body_motion *child = link->reversed ? &joint->a : &joint->b;
	struct spatial base =
		on_ground ? (struct spatial){ parent->velocity, parent->angular_velocity }
			  : self->links[link->parent].velocity;
	vec3 p = joint_anchor_b(joint, &joint->b);
	struct link_placing at = { .joint = joint,
				   .lever = vec3_sub(child->centre, p),
				   .reach = vec3_sub(p, parent->centre),
				   .spin = base.angular,
				   .sign = link->reversed ? -1 : 1 };
	mat3 a = axes_of(joint->a.rotation, joint->frame_a),
	     b = axes_of(joint->b.rotation, joint->frame_b);
	struct hinge_axes hinges = find_hinges(joint, locked, a, b);
	link->kind = hinges.ball ? ARTICULATION_BALL : ARTICULATION_AXES;
	link->arm = vec3_sub(child->centre, parent->centre);
	place_slides(self, link, &at, locked, a, mixed);
	place_turns(self, link, &at, &hinges, mixed);
	link->velocity = spatial_carry(link->arm, base);
	for (uint32_t k = link->first; k < self->axis_count; k++)
		link->velocity = spatial_mul_add(link->velocity, self->axes[k], self->rates[k]);
	vec3 carrier = link->reversed ? link->velocity.angular : base.angular;
	vec3 bias = turn_arm(base.angular, at.reach);
	bias = vec3_mul_add(bias, vec3_cross(carrier, at.slide), 2);
	bias = vec3_add(bias, vec3_cross(at.turning, at.lever));
	bias = vec3_add(bias, turn_arm(link->velocity.angular, at.lever));
	link->bias = (struct spatial){ bias, at.turning };
}

/* Whether the locks are none, or those of a plane. */
static bool locks_fit(uint32_t locks)
{
	return locks == 0 || locks == MASS_LOCK_PLANAR;
}

static enum status place_links(struct articulation *self, struct reason *why)
{
	for (uint32_t i = 0; i < self->link_count; i++) {
		struct articulation_link *link = &self->links[i];
		const struct mass_body *mass = &self->source.masses[link->body];
		bool mixed = !locks_fit(mass->locks);
		link->first = self->axis_count;
		link->centre = self->source.motions[link->body].centre;
		link->mass = mass->mass.x;
		link->inertia = mass->inertia;
		ASSERT(link->parent == ARTICULATION_NONE || link->parent < i); /* invariant 1 */
		if (!mixed && link->joint == ARTICULATION_NONE)
			place_base(self, link, &mixed);
		else if (!mixed)
			place_link(self, link, &mixed);
		if (mixed)
			return reason_set(
				why, STATUS_UNSUPPORTED, (int32_t)link->body, "locks",
				"a body's locks hold a part of an axis of its joint: reduced "
				"coordinates need bodies without locks, or a planar world "
				"whose joints stay in the plane");
	}
	return STATUS_OK;
}

/* ---- rotors -------------------------------------------------------------------------------------- */

/* The rotor of one axis of a link's joint. */
static void add_rotor(struct articulation *self, const struct articulation_link *link,
		      uint32_t number)
{
	const struct joint *joint = &self->source.joints[link->joint].joint;
	double gains[ARTICULATION_AXES_MAX], a = joint->axes[number].armature, bend = 0;
	bool ball = link->kind == ARTICULATION_BALL && number >= 3;
	if (ball) {
		struct joint_axis_motion q;
		joint_axis_motion(joint, number, &joint->a, &joint->b, CONSTRAINT_ACCELERATION, &q);
		struct spatial on = q.on[link->reversed ? 0 : 1];
		for (uint32_t k = 0; k < link->count; k++)
			gains[k] = spatial_dot(on, self->axes[link->first + k]);
		bend = q.bend + spatial_dot(on, link->bias);
	} else {
		for (uint32_t k = 0; k < link->count; k++)
			gains[k] = link->axis[k] == number ? 1 : 0;
	}
	ASSERT(a > 0);
	for (uint32_t i = 0; i < link->count; i++) {
		double *row = self->armature + (size_t)(link->first + i) * ARTICULATION_AXES_MAX;
		for (uint32_t j = 0; j <= i; j++)
			row[j] += a * gains[i] * gains[j];
		self->rotor_bias[link->first + i] += a * gains[i] * bend;
	}
}

static bool has_rotor(const struct joint *joint, uint32_t axis)
{
	return joint->axes[axis].armature > 0 &&
	       joint_axis_kind((enum joint_type)joint->type, axis).settable &&
	       !(joint_locked_axes(joint) >> axis & 1);
}

static bool has_rotors(const struct joint *joint)
{
	bool any = false;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		any |= has_rotor(joint, axis);
	return any;
}

static enum status add_rotors(struct articulation *self, struct reason *why)
{
	const struct articulation_source *source = &self->source;
	bool any = false;
	for (uint32_t i = 0; i < source->joint_count; i++)
		any |= has_rotors(&source->joints[i].joint);
	if (!any)
		return STATUS_OK;
	size_t axes = (size_t)self->axis_count + 1;
	self->armature = heap_alloc_zero(axes * ARTICULATION_AXES_MAX * sizeof *self->armature);
	self->rotor_bias = heap_alloc_zero(axes * sizeof *self->rotor_bias);
	bool *edge = heap_alloc_zero((size_t)source->joint_count + 1);
	if (self->armature == NULL || self->rotor_bias == NULL || edge == NULL) {
		heap_free(edge);
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	}
	for (uint32_t i = 0; i < self->link_count; i++) {
		const struct articulation_link *link = &self->links[i];
		if (link->joint == ARTICULATION_NONE)
			continue;
		const struct joint *joint = &source->joints[link->joint].joint;
		edge[link->joint] = true;
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			if (has_rotor(joint, axis))
				add_rotor(self, link, axis);
	}
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < source->joint_count && status == STATUS_OK; i++)
		if (!edge[i] && has_rotors(&source->joints[i].joint))
			status = reason_set(
				why, STATUS_UNSUPPORTED, -1, "armature",
				"a joint that closes a loop, or leaves all axes free, has armature, "
				"which reduced coordinates do not have: give it to a joint that "
				"closes none");
	heap_free(edge);
	return status;
}

enum status articulation_make(struct articulation *self, const struct articulation_source *source,
			      struct reason *why)
{
	uint32_t bodies = source->body_count;
	*self = (struct articulation){ .source = *source };
	self->links = heap_alloc((bodies + 1u) * sizeof *self->links);
	self->axes = heap_alloc((ARTICULATION_AXES_MAX * bodies + 1u) * sizeof *self->axes);
	self->rates = heap_alloc((ARTICULATION_AXES_MAX * bodies + 1u) * sizeof *self->rates);
	self->link_of = heap_alloc((bodies + 1u) * sizeof *self->link_of);
	self->closures = heap_alloc((source->joint_count + 1u) * sizeof *self->closures);
	enum status status = STATUS_NO_MEMORY;
	if (self->links != NULL && self->axes != NULL && self->rates != NULL &&
	    self->link_of != NULL && self->closures != NULL)
		status = make_forest(self);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "out of memory");
	status = place_links(self, why);
	return status == STATUS_OK ? add_rotors(self, why) : status;
}

void articulation_release(struct articulation *self)
{
	heap_free(self->links);
	heap_free(self->axes);
	heap_free(self->rates);
	heap_free(self->armature);
	heap_free(self->rotor_bias);
	heap_free(self->link_of);
	heap_free(self->closures);
	*self = (struct articulation){ 0 };
}

/* ---- coordinates --------------------------------------------------------------------------------- */

uint32_t articulation_coordinate_count(const struct articulation *self)
{
	uint32_t count = self->axis_count;
	for (uint32_t i = 0; i < self->link_count; i++) {
		const struct articulation_link *link = &self->links[i];
		uint32_t turns = 0;
		for (uint32_t k = 0; k < link->count; k++)
			turns += link->axis[k] >= 3;
		count += link->kind != ARTICULATION_AXES && turns == 3;
	}
	return count;
}

static uint32_t put_quat(quat q, double *out)
{
	out[0] = q.w;
	out[1] = q.x;
	out[2] = q.y;
	out[3] = q.z;
	return 4;
}

void articulation_coordinates(const struct articulation *self, double *q)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < self->link_count; i++) {
		const struct articulation_link *link = &self->links[i];
		bool base = link->joint == ARTICULATION_NONE;
		double own[JOINT_AXES];
		quat turn = self->source.motions[link->body].rotation;
		if (base) {
			for (uint32_t k = 0; k < 3; k++)
				own[k] = vec3_get(link->centre, k);
			own[3] = own[4] = 0;
			own[5] = 2 * trig_atan2(turn.z, turn.w);
		} else {
			const struct joint *joint = &self->source.joints[link->joint].joint;
			joint_coordinates(joint, &joint->a, &joint->b, own);
			turn = quat_mul(quat_conjugate(quat_mul(joint->a.rotation, joint->frame_a)),
					quat_mul(joint->b.rotation, joint->frame_b));
		}
		uint32_t turns = 0;
		for (uint32_t k = 0; k < link->count; k++)
			turns += link->axis[k] >= 3;
		bool whole = link->kind != ARTICULATION_AXES && turns == 3;
		for (uint32_t k = 0; k < link->count; k++)
			if (!whole || link->axis[k] < 3)
				q[at++] = own[link->axis[k]];
		if (whole)
			at += put_quat(turn, q + at);
	}
	ASSERT(at == articulation_coordinate_count(self));
}
