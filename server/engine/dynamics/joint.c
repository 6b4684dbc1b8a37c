/* joint.c: a joint's axes, coordinates and rows.
 *
 * The parts of an axis follow from its data alone (struct joint_layout), so that rows, their number
 * and their places agree. joint_turn.c finds angles; here they become rows: J of a function of the
 * rotation of b in a is its rate, in world axes, on b, and the negative of it on a.
 *
 * Along an axis e of a, with d = p_b − p_a:
 *
 *   q = e·d      q' = e·(d' − w_a × d)      q'' = e·(d'' − 2 w_a × d' + w_a × (w_a × d))
 *
 * the last without the terms of the bodies' accelerations, which J a contains.
 */
#include "server/engine/dynamics/joint.h"

#include "server/engine/dynamics/joint_turn.h"
#include "server/engine/math/trig.h"

/* ---- layout of axes ------------------------------------------------------------------------ */

#define KIND_UNUSED                                                                                \
	{                                                                                          \
		false, false, false, false, JOINT_FREE                                             \
	}
#define KIND_LOCKED                                                                                \
	{                                                                                          \
		true, false, false, true, JOINT_LOCKED                                             \
	}
#define KIND_FREE                                                                                  \
	{                                                                                          \
		true, true, false, true, JOINT_FREE                                                \
	}
#define KIND_SWING                                                                                 \
	{                                                                                          \
		true, true, false, false, JOINT_FREE                                               \
	}
#define KIND_ANY                                                                                   \
	{                                                                                          \
		true, true, true, true, JOINT_LOCKED                                               \
	}

static const struct joint_axis_kind KINDS[JOINT_TYPES_END][JOINT_AXES] = {
	[JOINT_SPHERICAL] = { KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_FREE, KIND_SWING,
			      KIND_UNUSED },
	[JOINT_REVOLUTE] = { KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_FREE, KIND_LOCKED,
			     KIND_LOCKED },
	[JOINT_PRISMATIC] = { KIND_FREE, KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_LOCKED,
			      KIND_LOCKED },
	[JOINT_CYLINDRICAL] = { KIND_FREE, KIND_LOCKED, KIND_LOCKED, KIND_FREE, KIND_LOCKED,
				KIND_LOCKED },
	[JOINT_UNIVERSAL] = { KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_FREE, KIND_FREE,
			      KIND_LOCKED },
	[JOINT_FIXED] = { KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_LOCKED, KIND_LOCKED,
			  KIND_LOCKED },
	[JOINT_DISTANCE] = { KIND_ANY, KIND_UNUSED, KIND_UNUSED, KIND_UNUSED, KIND_UNUSED,
			     KIND_UNUSED },
	[JOINT_SIX_DOF] = { KIND_ANY, KIND_ANY, KIND_ANY, KIND_ANY, KIND_ANY, KIND_ANY },
	[JOINT_WHEEL] = { KIND_FREE, KIND_LOCKED, KIND_LOCKED, KIND_FREE, KIND_LOCKED, KIND_FREE },
	[JOINT_DRAG] = { KIND_FREE, KIND_FREE, KIND_FREE, KIND_UNUSED, KIND_UNUSED, KIND_UNUSED },
};

struct joint_axis_kind joint_axis_kind(enum joint_type type, uint32_t axis)
{
	ASSERT((uint32_t)type < JOINT_TYPES_END && axis < JOINT_AXES);
	return KINDS[type][axis];
}

double joint_locked_value(const struct joint *self, uint32_t axis)
{
	ASSERT(axis < JOINT_AXES);
	const struct joint_axis *data = &self->axes[axis];
	if (data->mode == JOINT_LIMITED)
		return data->lower;
	return self->type == JOINT_DISTANCE ? data->rest : 0;
}

static uint32_t find_parts(const struct joint_axis *axis, bool lower)
{
	uint32_t parts = 0;
	if (axis->mode == JOINT_LIMITED)
		parts |= (lower ? 1u << JOINT_HOLD : 0) | 1u << JOINT_UPPER;
	if (axis->spring != JOINT_SPRING_NONE)
		parts |= 1u << JOINT_SPRING;
	if (axis->motor != JOINT_MOTOR_NONE && axis->motor != JOINT_MOTOR_FORCE)
		parts |= 1u << JOINT_MOTOR;
	if (axis->friction > 0)
		parts |= 1u << JOINT_FRICTION;
	if (axis->armature > 0)
		parts |= 1u << JOINT_ROTOR;
	return parts;
}

/* Chooses the order of the angles, and the function of those locked at 0: of all three together, of
 * two, or of the middle one. */
static void lay_out_angles(const struct joint *self, struct joint_layout *layout)
{
	static const uint8_t FOLD[8][3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 }, { 4, 4, 0 },
					    { 0, 0, 2 }, { 4, 0, 4 }, { 0, 4, 4 }, { 4, 4, 4 } };
	uint32_t zero = 0;
	if (self->type == JOINT_SPHERICAL) {
		layout->counting = JOINT_COUNTS_SWING;
		return;
	}
	for (uint32_t k = 0; k < 3; k++)
		if (layout->locked >> (3 + k) & 1 && joint_locked_value(self, 3 + k) == 0)
			zero |= 1u << k;
	if ((zero & 6) == 4)
		layout->counting = JOINT_COUNTS_XZY;
	else if (zero == 1)
		layout->counting = JOINT_COUNTS_YXZ;
	memcpy(layout->fold, FOLD[zero], sizeof layout->fold);
}

static struct joint_layout lay_out_joint(const struct joint *self)
{
	ASSERT(self->type < JOINT_TYPES_END);
	struct joint_layout layout = { .counting = JOINT_COUNTS_XYZ };
	const struct joint_axis_kind *kinds = KINDS[self->type];
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		const struct joint_axis *data = &self->axes[axis];
		if (!kinds[axis].settable) {
			layout.locked |= (uint32_t)kinds[axis].used << axis;
			continue;
		}
		if (data->mode == JOINT_LOCKED ||
		    (data->mode == JOINT_LIMITED && kinds[axis].limits &&
		     data->lower == data->upper))
			layout.locked |= 1u << axis;
		else
			layout.parts[axis] = (uint8_t)find_parts(data, kinds[axis].limits);
		layout.angles |= axis >= 3 && layout.parts[axis] != 0;
		layout.rotors |= layout.parts[axis] >> JOINT_ROTOR & 1;
	}
	layout.angles |= layout.locked >> 3 != 0;
	/* Friction of a spherical joint also acts across the swing. */
	if (self->type == JOINT_SPHERICAL)
		layout.parts[5] = layout.parts[4] & 1u << JOINT_FRICTION;
	lay_out_angles(self, &layout);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		ASSERT(!(layout.locked >> axis & 1) || layout.parts[axis] == 0);
		if (layout.locked >> axis & 1)
			layout.at[axis] = joint_locked_value(self, axis);
	}
	return layout;
}

void joint_know_layout(struct joint *self)
{
	self->layout = lay_out_joint(self);
	self->layout.known = true;
}

void joint_drop_rotors(struct joint *self)
{
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		self->axes[axis].armature = 0;
	if (self->layout.known)
		joint_know_layout(self);
}

/* The joint's own layout, or what is found now, in `found`. */
static inline const struct joint_layout *layout_of(const struct joint *self,
						   struct joint_layout *found)
{
	if (self->layout.known)
		return &self->layout;
	*found = lay_out_joint(self);
	return found;
}

uint32_t joint_locked_axes(const struct joint *self)
{
	struct joint_layout found;
	return layout_of(self, &found)->locked;
}

static uint32_t places_of(const struct joint_layout *layout, uint8_t places[JOINT_ROWS_MAX])
{
	uint32_t count = 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (layout->locked >> axis & 1)
			places[count++] = (uint8_t)(JOINT_PARTS * axis + JOINT_HOLD);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		for (uint32_t part = 0; part < JOINT_PARTS && layout->parts[axis] >> part != 0;
		     part++)
			if (layout->parts[axis] >> part & 1)
				places[count++] = (uint8_t)(JOINT_PARTS * axis + part);
	for (uint32_t axis = 0; axis < JOINT_AXES && layout->rotors; axis++)
		if (layout->parts[axis] >> JOINT_ROTOR & 1)
			places[count++] = (uint8_t)(JOINT_MULTIPLIERS + axis);
	ASSERT(count <= JOINT_ROWS_MAX);
	return count;
}

uint32_t joint_places(const struct joint *self, uint8_t places[JOINT_ROWS_MAX])
{
	struct joint_layout found;
	return places_of(layout_of(self, &found), places);
}

/* ---- a joint at given motions -------------------------------------------------------------- */

struct joint_at {
	const struct joint *joint;
	const struct body_motion *a, *b;
	mat3 axes;		   /* a's, world */
	quat frame_a;		   /* the same rotation */
	vec3 arm_a, arm_b, reach;  /* p_a − r_a, p_b − r_b, p_b − r_a */
	vec3 apart;		   /* d */
	vec3 speed;		   /* d' − w_a × d */
	vec3 point_speed, turning; /* d'; d'' without the bodies' accelerations */
	vec3 bend;		   /* d'' − 2 w_a × d' + w_a × (w_a × d), likewise */
	struct joint_turn turn;
};

static vec3 centripetal(vec3 spin, vec3 arm)
{
	return vec3_cross(spin, vec3_cross(spin, arm));
}

vec3 joint_anchor_a(const struct joint *self, const struct body_motion *a)
{
	return vec3_add(a->centre, quat_rotate(a->rotation, self->point_a));
}

vec3 joint_anchor_b(const struct joint *self, const struct body_motion *b)
{
	return vec3_add(b->centre, quat_rotate(b->rotation, self->point_b));
}

static void find_anchors(struct joint_at *at, enum constraint_level level)
{
	const struct body_motion *a = at->a, *b = at->b;
	at->frame_a = quat_mul(a->rotation, at->joint->frame_a);
	at->axes = mat3_from_quat(at->frame_a);
	at->arm_a = quat_rotate(a->rotation, at->joint->point_a);
	at->arm_b = quat_rotate(b->rotation, at->joint->point_b);
	at->reach = vec3_add(vec3_sub(b->centre, a->centre), at->arm_b);
	at->apart = vec3_sub(at->reach, at->arm_a);
	at->speed = at->point_speed = at->turning = at->bend = vec3_zero();
	if (level == CONSTRAINT_POSITION)
		return;
	vec3 wa = a->angular_velocity, wb = b->angular_velocity;
	at->point_speed = vec3_sub(vec3_add(b->velocity, vec3_cross(wb, at->arm_b)),
				   vec3_add(a->velocity, vec3_cross(wa, at->arm_a)));
	vec3 carried = vec3_cross(wa, at->apart);
	at->speed = vec3_sub(at->point_speed, carried);
	if (level != CONSTRAINT_ACCELERATION)
		return;
	at->turning = vec3_sub(centripetal(wb, at->arm_b), centripetal(wa, at->arm_a));
	vec3 falls = vec3_mul_sub(carried, at->point_speed, 2);
	at->bend = vec3_add(at->turning, vec3_cross(wa, falls));
}

static void find_turn(struct joint_at *at, enum constraint_level level)
{
	quat frame_b = quat_mul(at->b->rotation, at->joint->frame_b);
	quat turn = quat_mul(quat_conjugate(at->frame_a), frame_b);
	at->turn.turn = turn.w < 0 ? quat_negate(turn) : turn;
	at->turn.axes = mat3_from_quat(turn);
	at->turn.spin = at->turn.spin_rate = vec3_zero();
	at->turn.bends = level == CONSTRAINT_ACCELERATION;
	if (level == CONSTRAINT_POSITION)
		return;
	vec3 wa = at->a->angular_velocity;
	vec3 spin = vec3_sub(at->b->angular_velocity, wa);
	at->turn.spin = mat3_transposed_mul_vec(at->axes, spin);
	if (at->turn.bends)
		at->turn.spin_rate = mat3_transposed_mul_vec(at->axes, vec3_cross(spin, wa));
}

/* ---- coordinates --------------------------------------------------------------------------- */

struct joint_coordinate {
	double value, speed, bend;
	vec3 axis; /* of the motion of b's anchor, or of the turn of b; world */
	bool turns;
};

static struct joint_coordinate distance_coordinate(const struct joint_at *at)
{
	struct joint_coordinate q = { .turns = false };
	q.axis = vec3_normalize_length(at->apart, &q.value);
	if (!(q.value > 0))
		q.axis = at->axes.x;
	q.speed = vec3_dot(q.axis, at->point_speed);
	q.bend = vec3_dot(q.axis, at->turning);
	vec3 across = vec3_mul_sub(at->point_speed, q.axis, q.speed);
	if (q.value > 0)
		q.bend += vec3_length_squared(across) / q.value;
	return q;
}

static struct joint_coordinate linear_coordinate(const struct joint_at *at, uint32_t axis)
{
	ASSERT(axis < 3);
	if (at->joint->type == JOINT_DISTANCE)
		return distance_coordinate(at);
	vec3 e = axis == 0 ? at->axes.x : axis == 1 ? at->axes.y : at->axes.z;
	return (struct joint_coordinate){ vec3_dot(e, at->apart), vec3_dot(e, at->speed),
					  vec3_dot(e, at->bend), e, false };
}

static struct joint_coordinate angular_coordinate(const struct joint_at *at,
						  const struct joint_angle *angle)
{
	return (struct joint_coordinate){ angle->value, vec3_dot(angle->rate, at->turn.spin),
					  angle->bend, mat3_mul_vec(at->axes, angle->rate), true };
}

/* rad: the angle with whole turns, nearest to the previous one. */
static double with_whole_turns(const struct joint_at *at, uint32_t angle, double value)
{
	ASSERT(angle < 3);
	double change = at->joint->angle[angle] - value;
	/* Less than half a turn is none; of 0 the sum has a sign. */
	if (scalar_abs(change) < 3 && value != 0)
		return value;
	return value + TWO_PI * scalar_round(change / TWO_PI);
}

static double angle_value(const struct joint_at *at, enum joint_counting counting, uint32_t angle)
{
	double value = joint_turn_value(&at->turn, counting, angle);
	if (counting == JOINT_COUNTS_SWING && angle == 1)
		return value;
	return with_whole_turns(at, angle, value);
}

/* rad, < π. A bound that is farther away is taken at this distance, because sin(x/2) would change
 * its sign at 2π and the row would point the other way. */
#define TWIST_FAR 2.0

/* The coordinate that replaces the twist of a spherical joint in a row that locks or limits it at
 * `bound`; `twist`: without whole turns. */
static struct joint_coordinate twist_coordinate(const struct joint_at *at, double twist,
						double bound)
{
	ASSERT(at->joint->type == JOINT_SPHERICAL);
	double apart = with_whole_turns(at, 0, twist) - bound;
	struct joint_angle angle = joint_turn_twist_from(
		&at->turn, twist - scalar_clamp(apart, -TWIST_FAR, TWIST_FAR));
	angle.value += bound;
	return angular_coordinate(at, &angle);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Where rows go: the next one. */
struct joint_writer {
	enum constraint_level level;
	struct measured_row *next;
};

/* Writes the row of a coordinate, or of its negative. The axes turn with a, so for a linear
 * coordinate the arm on a ends at b's anchor. */
static inline void add_row(const struct joint_at *at, struct joint_writer *to,
			   const struct joint_coordinate *q, bool negative, double gap)
{
	ASSERT(to->level <= CONSTRAINT_ACCELERATION);
	struct measured_row *row = to->next++;
	vec3 forth = negative ? vec3_negate(q->axis) : q->axis, back = vec3_negate(forth);
	if (q->turns) {
		row->on_a = spatial_about(back);
		row->on_b = spatial_about(forth);
	} else {
		row->on_a = spatial_along(at->reach, back);
		row->on_b = spatial_along(at->arm_b, forth);
	}
	row->gap = gap;
	row->approach = row->bias = 0;
	if (to->level != CONSTRAINT_POSITION)
		row->approach = negative ? -q->speed : q->speed;
	if (to->level == CONSTRAINT_ACCELERATION)
		row->bias = negative ? -q->bend : q->bend;
}

static void add_locked_angles(const struct joint_at *at, const struct joint_layout *layout,
			      struct joint_writer *to)
{
	struct joint_angle angle[3];
	uint32_t together = 0, alone = 0;
	for (uint32_t k = 0; k < 3; k++)
		if (layout->fold[k] == 4)
			together++;
		else
			alone = k;
	if (together == 3)
		joint_turn_weld(&at->turn, angle);
	if (together == 2) {
		struct joint_angle lean[2];
		joint_turn_lean(&at->turn, alone, lean);
		angle[(alone + 1) % 3] = lean[0];
		angle[(alone + 2) % 3] = lean[1];
	}
	for (uint32_t k = 0; k < 3; k++) {
		if (!(layout->locked >> (3 + k) & 1))
			continue;
		double at_rest = 0;
		if (layout->fold[k] == 2)
			angle[k] = joint_turn_square(&at->turn, layout->counting);
		if (layout->fold[k] == 0) {
			angle[k] = joint_turn_angle(&at->turn, layout->counting, k);
			angle[k].value = angle_value(at, layout->counting, k);
			at_rest = layout->at[3 + k];
		}
		struct joint_coordinate q;
		if (layout->counting == JOINT_COUNTS_SWING)
			q = twist_coordinate(at, joint_turn_value(&at->turn, JOINT_COUNTS_SWING, 0),
					     at_rest);
		else
			q = angular_coordinate(at, &angle[k]);
		add_row(at, to, &q, false, q.value - at_rest);
	}
}

static void add_locked_rows(const struct joint_at *at, const struct joint_layout *layout,
			    struct joint_writer *to)
{
	ASSERT(layout->locked != 0);
	for (uint32_t axis = 0; axis < 3; axis++)
		if (layout->locked >> axis & 1) {
			struct joint_coordinate q = linear_coordinate(at, axis);
			add_row(at, to, &q, false, q.value - layout->at[axis]);
		}
	if (layout->locked >> 3 != 0)
		add_locked_angles(at, layout, to);
}

static double part_gap(const struct joint_axis *axis, enum joint_part part, double value)
{
	ASSERT((uint32_t)part <= JOINT_ROTOR);
	switch (part) {
	case JOINT_HOLD:
		return value - axis->lower;
	case JOINT_UPPER:
		return axis->upper - value;
	case JOINT_SPRING:
		return value - axis->rest;
	case JOINT_MOTOR:
		return axis->motor == JOINT_MOTOR_POSITION ? value - axis->target : 0;
	case JOINT_ROTOR:
		return value;
	default:
		return 0;
	}
}

/* True if a part of the axis needs its coordinate and not only the rate. */
static bool needs_coordinate(const struct joint_axis *axis, uint32_t parts)
{
	return parts & (1u << JOINT_HOLD | 1u << JOINT_UPPER | 1u << JOINT_SPRING) ||
	       (parts >> JOINT_MOTOR & 1 && axis->motor == JOINT_MOTOR_POSITION);
}

/* The coordinate of an axis without a locked value; `counted`: with whole turns. */
static struct joint_coordinate
coordinate_of(const struct joint_at *at, enum joint_counting counting, uint32_t axis, bool counted)
{
	ASSERT(axis < JOINT_AXES);
	if (axis < 3)
		return linear_coordinate(at, axis);
	struct joint_angle angle = joint_turn_angle(&at->turn, counting, axis - 3);
	if (counted)
		angle.value = angle_value(at, counting, axis - 3);
	return angular_coordinate(at, &angle);
}

static void add_rotor_rows(const struct joint_at *at, const struct joint_layout *layout,
			   struct joint_writer *to)
{
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		if (!(layout->parts[axis] >> JOINT_ROTOR & 1))
			continue;
		struct joint_coordinate q =
			coordinate_of(at, (enum joint_counting)layout->counting, axis, true);
		add_row(at, to, &q, false, q.value);
	}
}

/* The data of an axis: friction of a spherical joint across the swing is that of the swing. */
static const struct joint_axis *axis_data(const struct joint *self,
					  const struct joint_layout *layout, uint32_t axis)
{
	ASSERT(axis < JOINT_AXES);
	bool across = layout->counting == JOINT_COUNTS_SWING && axis == 5;
	return &self->axes[across ? 4 : axis];
}

static void add_part_rows(const struct joint_at *at, const struct joint_layout *layout,
			  uint32_t axis, struct joint_writer *to)
{
	ASSERT(axis < JOINT_AXES && layout->parts[axis] != 0);
	const struct joint_axis *data = axis_data(at->joint, layout, axis);
	uint32_t parts = layout->parts[axis];
	bool twists = layout->counting == JOINT_COUNTS_SWING && axis == 3;
	bool counted = needs_coordinate(data, parts);
	/* Found once, because each limit needs it. */
	double twist = twists && counted ? joint_turn_value(&at->turn, JOINT_COUNTS_SWING, 0) : 0;
	struct joint_coordinate q =
		coordinate_of(at, (enum joint_counting)layout->counting, axis, counted && !twists);
	if (twists && counted)
		q.value = with_whole_turns(at, 0, twist);
	for (uint32_t part = 0; part < JOINT_PARTS; part++) {
		if (!(parts >> part & 1))
			continue;
		if (twists && part <= JOINT_UPPER) {
			struct joint_coordinate bounded = twist_coordinate(
				at, twist, part == JOINT_HOLD ? data->lower : data->upper);
			add_row(at, to, &bounded, part == JOINT_UPPER,
				part_gap(data, (enum joint_part)part, bounded.value));
		} else {
			add_row(at, to, &q, part == JOINT_UPPER,
				part_gap(data, (enum joint_part)part, q.value));
		}
	}
}

static void measure_rows(const struct joint *self, const struct joint_layout *layout,
			 const struct body_motion *a, const struct body_motion *b,
			 enum constraint_level level, struct measured_row *rows)
{
	struct joint_writer to = { level, rows };
	struct joint_at at;
	at.joint = self;
	at.a = a;
	at.b = b;
	ASSERT(a != NULL && b != NULL);
	find_anchors(&at, level);
	if (layout->angles)
		find_turn(&at, level);
	if (layout->locked != 0)
		add_locked_rows(&at, layout, &to);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if ((layout->parts[axis] & ~(1u << JOINT_ROTOR)) != 0)
			add_part_rows(&at, layout, axis, &to);
	if (layout->rotors)
		add_rotor_rows(&at, layout, &to);
}

void joint_measure(const struct joint *self, const struct body_motion *a,
		   const struct body_motion *b, enum constraint_level level,
		   struct measured_row *rows)
{
	struct joint_layout found;
	measure_rows(self, layout_of(self, &found), a, b, level, rows);
}

/* ---- what rows may exert ------------------------------------------------------------------- */

static struct joint_law bounded_law(double limit)
{
	return (struct joint_law){ .set = ROW_BOX, .lower = -limit, .upper = limit };
}

struct joint_law joint_row_law(const struct joint *self, uint32_t place)
{
	struct joint_layout found;
	const struct joint_axis *axis =
		axis_data(self, layout_of(self, &found), joint_place_axis(place));
	struct joint_law law = { .set = ROW_FREE };
	switch ((enum joint_part)joint_place_part(place)) {
	case JOINT_HOLD:
	case JOINT_UPPER:
		law.set = ROW_POSITIVE;
		law.upper = __builtin_inf();
		law.restitution = axis->restitution;
		break;
	case JOINT_SPRING:
		if (axis->spring_limit > 0)
			law = bounded_law(axis->spring_limit);
		law.softness = axis->spring == JOINT_SPRING_HERTZ ? ROW_FREQUENCY : ROW_SPRING;
		law.stiffness = axis->stiffness;
		law.damping = axis->damping;
		break;
	case JOINT_MOTOR:
		law = bounded_law(axis->motor_limit > 0 ? axis->motor_limit : __builtin_inf());
		law.wanted = axis->rate;
		if (joint_axis_is_servo(axis)) {
			law.softness = ROW_SPRING;
			law.stiffness = axis->motor_stiffness;
			law.damping = axis->motor_damping;
		}
		break;
	case JOINT_FRICTION:
		law = bounded_law(axis->friction);
		break;
	case JOINT_ROTOR:
		law.softness = ROW_ROTOR;
		law.stiffness = axis->armature;
		law.wanted = axis->rotor;
		break;
	}
	return law;
}

static struct constraint_room joint_room(const struct constraint *self,
					 const struct constraint_options *options)
{
	UNUSED(options);
	struct joint_layout found;
	const struct joint_layout *layout = layout_of(self->data, &found);
	struct constraint_room room = { 0, layout->locked != 0, 0 };
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		uint32_t parts = 0;
		for (uint32_t part = 0; layout->parts[axis] >> part != 0; part++)
			parts += layout->parts[axis] >> part & 1;
		room.rows += parts + (layout->locked >> axis & 1);
		room.blocks += parts;
	}
	ASSERT(room.rows <= JOINT_ROWS_MAX && room.blocks <= JOINT_ROWS_MAX);
	room.parts = 2 * room.rows;
	return room;
}

static void append_row(const struct constraint *self, const struct measured_row *from,
		       struct row_list *out)
{
	struct constraint_row *row = row_list_row(out);
	row_list_part(out, self->body_a, from->on_a);
	row_list_part(out, self->body_b, from->on_b);
	row->gap = from->gap;
	row->approach = from->approach;
	row->bias = from->bias;
}

static void append_part(const struct constraint *self, uint32_t index, uint32_t place,
			const struct measured_row *from, struct row_list *out)
{
	ASSERT(place < JOINT_PLACES);
	struct joint_law law = joint_row_law(self->data, place);
	struct row_block *block = row_list_block(out, index, (struct row_key){ 0, 0, 1 + place });
	block->restitution = law.restitution;
	append_row(self, from, out);
	struct constraint_row *row = &out->rows[out->row_count - 1];
	row->wanted = law.wanted;
	row->lower = law.lower;
	row->upper = law.upper;
	row->stiffness = law.stiffness;
	row->damping = law.damping;
	row->set = law.set;
	row->softness = law.softness;
}

static void write_joint_rows(const struct constraint *self, uint32_t index,
			     const struct body_motion *a, const struct body_motion *b,
			     const struct constraint_options *options, struct row_list *out)
{
	ASSERT(self->kind == &constraint_joint);
	const struct joint *joint = self->data;
	struct joint_layout found;
	const struct joint_layout *layout = layout_of(joint, &found);
	struct measured_row rows[JOINT_ROWS_MAX];
	uint8_t places[JOINT_ROWS_MAX];
	uint32_t count = joint_places(joint, places), i = 0;
	measure_rows(joint, layout, a != NULL ? a : &joint->a, b != NULL ? b : &joint->b,
		     options->level, rows);
	if (layout->locked != 0)
		row_list_block(out, index, (struct row_key){ 0, 0, 0 });
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (layout->locked >> axis & 1)
			append_row(self, &rows[i++], out);
	for (; i < count; i++)
		append_part(self, index, places[i], &rows[i], out);
}

const struct constraint_kind constraint_joint = {
	.name = "joint",
	.room = joint_room,
	.rows = write_joint_rows,
};

/* ---- coordinates and error ----------------------------------------------------------------- */

static void find_angles(const struct joint_at *at, const struct joint_layout *layout, double out[3])
{
	for (uint32_t k = 0; k < 3; k++)
		out[k] = KINDS[at->joint->type][3 + k].used ? angle_value(at, layout->counting, k)
							    : 0;
}

void joint_coordinates(const struct joint *self, const struct body_motion *a,
		       const struct body_motion *b, double out[JOINT_AXES])
{
	ASSERT(self->type < JOINT_TYPES_END);
	struct joint_at at;
	at.joint = self;
	at.a = a;
	at.b = b;
	struct joint_layout found;
	const struct joint_layout *layout = layout_of(self, &found);
	find_anchors(&at, CONSTRAINT_POSITION);
	find_turn(&at, CONSTRAINT_POSITION);
	for (uint32_t axis = 0; axis < 3; axis++)
		out[axis] = KINDS[self->type][axis].used ? linear_coordinate(&at, axis).value : 0;
	find_angles(&at, layout, out + 3);
}

void joint_coordinates_near(const struct joint *self, const struct body_motion *a,
			    const struct body_motion *b, double near, double out[JOINT_AXES])
{
	ASSERT(self->type < JOINT_TYPES_END);
	struct joint_layout found;
	struct joint_at at;
	const struct joint_layout *layout = layout_of(self, &found);
	enum joint_counting counting = (enum joint_counting)layout->counting;
	at.joint = self;
	at.a = a;
	at.b = b;
	find_anchors(&at, CONSTRAINT_POSITION);
	find_turn(&at, CONSTRAINT_POSITION);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		if (!KINDS[self->type][axis].used)
			out[axis] = 0;
		else if (axis < 3)
			out[axis] = linear_coordinate(&at, axis).value;
		else if (layout->locked >> axis & 1 && layout->at[axis] == 0 &&
			 scalar_abs(self->angle[axis - 3]) < 3 - near &&
			 joint_turn_is_near(&at.turn, counting, axis - 3, near))
			out[axis] = 0;
		else
			out[axis] = angle_value(&at, counting, axis - 3);
	}
}

double joint_axis_force(const struct joint *self, uint32_t axis)
{
	ASSERT(axis < JOINT_AXES);
	const struct joint_axis *data = &self->axes[axis];
	if (data->motor != JOINT_MOTOR_FORCE || !KINDS[self->type][axis].settable ||
	    joint_locked_axes(self) >> axis & 1)
		return 0;
	double most = data->motor_limit > 0 ? data->motor_limit : __builtin_inf();
	return scalar_clamp(data->target, -most, most);
}

void joint_axis_jacobian(const struct joint *self, uint32_t axis, const struct body_motion *a,
			 const struct body_motion *b, struct spatial on[2])
{
	ASSERT(axis < JOINT_AXES);
	struct joint_at at;
	struct joint_layout found;
	const struct joint_layout *layout = layout_of(self, &found);
	at.joint = self;
	at.a = a;
	at.b = b;
	find_anchors(&at, CONSTRAINT_POSITION);
	if (axis < 3) {
		vec3 along = linear_coordinate(&at, axis).axis;
		on[0] = spatial_along(at.reach, vec3_negate(along));
		on[1] = spatial_along(at.arm_b, along);
		return;
	}
	find_turn(&at, CONSTRAINT_POSITION);
	struct joint_angle angle = joint_turn_angle(&at.turn, layout->counting, axis - 3);
	vec3 about = angular_coordinate(&at, &angle).axis;
	on[0] = spatial_about(vec3_negate(about));
	on[1] = spatial_about(about);
}

void joint_axis_motion(const struct joint *self, uint32_t axis, const struct body_motion *a,
		       const struct body_motion *b, enum constraint_level level,
		       struct joint_axis_motion *out)
{
	ASSERT(axis < JOINT_AXES && KINDS[self->type][axis].used);
	struct joint_at at;
	struct joint_layout found;
	struct joint_coordinate q;
	enum joint_counting counting = (enum joint_counting)layout_of(self, &found)->counting;
	at.joint = self;
	at.a = a;
	at.b = b;
	find_anchors(&at, level);
	if (axis >= 3)
		find_turn(&at, level);
	q = coordinate_of(&at, counting, axis, true);
	vec3 back = vec3_negate(q.axis);
	*out = (struct joint_axis_motion){ .value = q.value };
	if (level != CONSTRAINT_POSITION)
		out->speed = q.speed;
	if (level == CONSTRAINT_ACCELERATION)
		out->bend = q.bend;
	out->on[0] = q.turns ? spatial_about(back) : spatial_along(at.reach, back);
	out->on[1] = q.turns ? spatial_about(q.axis) : spatial_along(at.arm_b, q.axis);
}

/* Counts the gap of an axis, m or rad, and the speed at which it grows; `worst`: the largest so far. */
static void note_error(struct joint_error *error, double *worst, uint32_t axis, double off,
		       double leaves)
{
	double *distance = axis < 3 ? &error->along : &error->about;
	double *speed = axis < 3 ? &error->along_speed : &error->about_speed;
	*distance = scalar_max(*distance, off);
	*speed = scalar_max(*speed, leaves);
	if (off > *worst) {
		*worst = off;
		error->axis = axis;
	}
}

/* The rows that may be violated: of axes that are locked or have limits. */
static struct joint_layout layout_of_bounds(const struct joint_layout *layout)
{
	struct joint_layout out = *layout;
	const uint32_t limits = 1u << JOINT_HOLD | 1u << JOINT_UPPER;
	out.rotors = false;
	out.angles = layout->locked >> 3 != 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		if ((layout->parts[axis] & limits) == 0)
			out.parts[axis] = 0;
		ASSERT(out.parts[axis] == 0 || !(out.locked >> axis & 1));
		out.angles |= axis >= 3 && out.parts[axis] != 0;
	}
	return out;
}

/* Whether a joint locks axes along and has no other rows, as most do: rows need not be made. */
static bool locks_along_only(const struct joint_layout *layout)
{
	return !layout->angles && (layout->parts[0] | layout->parts[1] | layout->parts[2]) == 0;
}

static struct joint_error error_along(const struct joint *self, const struct joint_layout *layout,
				      const struct body_motion *a, const struct body_motion *b)
{
	struct joint_error error = { 0, 0, 0, 0, 0 };
	struct joint_at at;
	double worst = 0;
	at.joint = self;
	at.a = a;
	at.b = b;
	find_anchors(&at, CONSTRAINT_VELOCITY);
	for (uint32_t axis = 0; axis < 3; axis++) {
		if (!(layout->locked >> axis & 1))
			continue;
		struct joint_coordinate q = linear_coordinate(&at, axis);
		note_error(&error, &worst, axis, scalar_abs(q.value - layout->at[axis]),
			   scalar_abs(q.speed));
	}
	return error;
}

struct joint_error joint_error(const struct joint *self, const struct body_motion *a,
			       const struct body_motion *b)
{
	struct joint_layout found;
	const struct joint_layout *layout = layout_of(self, &found);
	if (locks_along_only(layout))
		return error_along(self, layout, a, b);
	const struct joint_layout bounds = layout_of_bounds(layout);
	layout = &bounds;
	if (locks_along_only(layout))
		return error_along(self, layout, a, b);
	struct measured_row rows[JOINT_ROWS_MAX];
	uint8_t places[JOINT_ROWS_MAX];
	uint32_t count = places_of(layout, places);
	struct joint_error error = { 0, 0, 0, 0, 0 };
	double worst = 0;
	measure_rows(self, layout, a, b, CONSTRAINT_VELOCITY, rows);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t axis = joint_place_axis(places[i]), part = joint_place_part(places[i]);
		bool locked = layout->locked >> axis & 1;
		if (part > JOINT_UPPER || (!locked && rows[i].gap >= 0))
			continue;
		double off = scalar_abs(rows[i].gap), fold = axis < 3 ? 0 : layout->fold[axis - 3];
		if (locked && fold > 0)
			off = fold * trig_atan(off / fold);
		double leaves =
			locked ? scalar_abs(rows[i].approach) : scalar_max(0, -rows[i].approach);
		note_error(&error, &worst, axis, off, leaves);
	}
	return error;
}

/* By how much a limit of an axis is passed. */
static double passed_limit(const struct joint_at *at, const struct joint_layout *layout,
			   uint32_t axis, enum joint_part part, const double angles[3])
{
	ASSERT(axis < JOINT_AXES && part <= JOINT_UPPER);
	const struct joint_axis *data = axis_data(at->joint, layout, axis);
	double value = axis < 3 ? linear_coordinate(at, axis).value : angles[axis - 3];
	if (layout->counting == JOINT_COUNTS_SWING && axis == 3)
		value = twist_coordinate(at, joint_turn_value(&at->turn, JOINT_COUNTS_SWING, 0),
					 part == JOINT_HOLD ? data->lower : data->upper)
				.value;
	return -part_gap(data, part, value);
}

/* The gaps of locked angles, as their rows have them. */
static void locked_gaps(const struct joint_at *at, const struct joint_layout *layout,
			const double angles[3], double out[3])
{
	uint32_t together = 0, alone = 0;
	ASSERT(layout->locked != 0);
	for (uint32_t k = 0; k < 3; k++) {
		together += layout->fold[k] == 4;
		alone = layout->fold[k] == 4 ? alone : k;
		if (layout->fold[k] == 0)
			out[k] = angles[k] - layout->at[3 + k];
		if (layout->fold[k] == 2)
			out[k] = joint_turn_square(&at->turn, (enum joint_counting)layout->counting)
					 .value;
	}
	if (layout->counting == JOINT_COUNTS_SWING)
		out[0] = twist_coordinate(at, joint_turn_value(&at->turn, JOINT_COUNTS_SWING, 0),
					  layout->at[3])
				 .value -
			 layout->at[3];
	if (together == 3)
		joint_turn_weld_values(&at->turn, out);
	if (together == 2) {
		double lean[2];
		joint_turn_lean_values(&at->turn, alone, lean);
		out[(alone + 1) % 3] = lean[0];
		out[(alone + 2) % 3] = lean[1];
	}
}

double joint_end(const struct joint *self, const struct body_motion *a, const struct body_motion *b,
		 double least, double angles[3])
{
	ASSERT(self->type < JOINT_TYPES_END);
	struct joint_layout found;
	struct joint_at at;
	const struct joint_layout *layout = layout_of(self, &found);
	double worst = least, gaps[3];
	at.joint = self;
	at.a = a;
	at.b = b;
	find_anchors(&at, CONSTRAINT_POSITION);
	find_turn(&at, CONSTRAINT_POSITION);
	find_angles(&at, layout, angles);
	if (layout->locked >> 3 != 0)
		locked_gaps(&at, layout, angles, gaps);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		if (layout->locked >> axis & 1) {
			double off = axis < 3
					     ? linear_coordinate(&at, axis).value - layout->at[axis]
					     : gaps[axis - 3];
			off = scalar_abs(off);
			double fold = axis < 3 ? 0 : layout->fold[axis - 3];
			if (fold > 0 && off > worst) /* an arctangent is less */
				off = fold * trig_atan(off / fold);
			worst = scalar_max(worst, off);
			continue;
		}
		for (uint32_t part = JOINT_HOLD; part <= JOINT_UPPER; part++)
			if (layout->parts[axis] >> part & 1)
				worst = scalar_max(worst,
						   passed_limit(&at, layout, axis,
								(enum joint_part)part, angles));
	}
	return worst;
}
