/* See joint_turn.h. Each function finds value, rate and, if requested, bend of one angle or of the
 * function that replaces it where it is locked. */
#include "server/engine/dynamics/joint_turn.h"

#include "server/engine/math/trig.h"

/* 1: sine of the angle between the first and last axis of an order below which it counts as gimbal lock.
 * Smaller: rates up to its inverse, and J with them. */
#define GIMBAL 1e-3
/* 1: cosine of half the angle between two axes below which they count as opposite. */
#define OPPOSITE 1e-5
/* 1: least divisor in bends of a normal to two nearly parallel axes, which keeps them bounded. */
#define PARALLEL 1e-6

static vec3 axis_of(const mat3 *axes, uint32_t axis)
{
	ASSERT(axis < 3);
	return axis == 0 ? axes->x : axis == 1 ? axes->y : axes->z;
}

/* ---- angles in an order -------------------------------------------------------------------- */

/* The axes of an order, and the sign of the middle one: its axis is side × (l × p). */
struct angle_order {
	uint32_t first, middle, last;
	double side;
};

static const struct angle_order ORDERS[] = {
	[JOINT_COUNTS_XYZ] = { 0, 1, 2, 1 },
	[JOINT_COUNTS_XZY] = { 0, 2, 1, -1 },
	[JOINT_COUNTS_YXZ] = { 1, 0, 2, -1 },
};

/* The angle of `other` about `axis`, of which one is fixed in b. At gimbal lock, where the angle is
 * undefined, the rate is the turning about the axis itself. */
static struct joint_angle end_angle(const struct joint_turn *self, vec3 axis, vec3 other,
				    bool axis_of_b)
{
	double along = vec3_dot(axis, other), across = 1 - along * along;
	if (across < GIMBAL * GIMBAL)
		return (struct joint_angle){ 0, axis,
					     self->bends ? vec3_dot(axis, self->spin_rate) : 0 };
	double over = 1 / across;
	struct joint_angle angle = { .rate = vec3_scale(vec3_mul_sub(axis, other, along), over) };
	if (!self->bends)
		return angle;
	double along_rate = vec3_triple(self->spin, axis, other);
	if (!axis_of_b)
		along_rate = -along_rate;
	double speed = vec3_dot(angle.rate, self->spin);
	angle.bend = along_rate * (2 * along * speed - vec3_dot(other, self->spin)) * over +
		     vec3_dot(angle.rate, self->spin_rate);
	return angle;
}

/* The middle angle; its sine and cosine. */
static struct joint_angle middle_angle(const struct joint_turn *self,
				       const struct angle_order *order, double *sine,
				       double *cosine)
{
	vec3 first = vec3_axis(order->first), last = axis_of(&self->axes, order->last);
	vec3 normal = vec3_normalize_length(vec3_cross(last, first), cosine);
	*sine = order->side * vec3_get(last, order->first);
	struct joint_angle angle = { .rate = vec3_scale(normal, order->side) };
	if (*cosine == 0)
		angle.rate = axis_of(&self->axes, order->middle);
	if (!self->bends)
		return angle;
	vec3 normal_rate = vec3_cross(vec3_cross(self->spin, last), first);
	double speed = vec3_dot(angle.rate, self->spin);
	double turning = order->side * vec3_dot(normal_rate, self->spin) + *sine * speed * speed;
	angle.bend = turning / scalar_max(*cosine, GIMBAL) + vec3_dot(angle.rate, self->spin_rate);
	return angle;
}

/* ---- twist and swing ----------------------------------------------------------------------- */

static struct joint_angle find_twist(const struct joint_turn *self)
{
	quat r = self->turn;
	double both = 2 * (r.w * r.w + r.x * r.x); /* 1 + x_a · x_b */
	vec3 x = self->axes.x;
	if (both < OPPOSITE * OPPOSITE)
		return (struct joint_angle){ .rate = vec3_axis(0) };
	double over = 1 / both;
	struct joint_angle angle = { .rate = vec3_scale(vec3_add(vec3_axis(0), x), over) };
	if (!self->bends)
		return angle;
	double both_rate = self->spin.y * x.z - self->spin.z * x.y;
	angle.bend = vec3_dot(angle.rate, self->spin_rate) -
		     vec3_dot(angle.rate, self->spin) * both_rate * over;
	return angle;
}

/* With the quaternion (w, v): w' = −v·spin/2, v' = (w spin + spin × v)/2, and both '' are the same of
 * spin_rate, less spin²/4 of themselves. */
struct joint_angle joint_turn_twist_from(const struct joint_turn *self, double from)
{
	quat r = self->turn;
	double sine, cosine;
	trig_sincos(0.5 * from, &sine, &cosine);
	vec3 v = quat_vector(r);
	vec3 rate = vec3_mul_add(vec3_cross(v, vec3_axis(0)), vec3_axis(0), r.w);
	struct joint_angle angle = { .value = 2 * (r.x * cosine - r.w * sine),
				     .rate = vec3_mul_add(vec3_scale(rate, cosine), v, sine) };
	if (self->bends)
		angle.bend = vec3_dot(angle.rate, self->spin_rate) -
			     0.25 * vec3_length_squared(self->spin) * angle.value;
	return angle;
}

static struct joint_angle find_swing(const struct joint_turn *self)
{
	vec3 x = self->axes.x;
	double sine;
	vec3 normal = vec3_normalize_length(vec3_make(0, -x.z, x.y), &sine);
	struct joint_angle angle = { .rate = sine > 0 ? normal : vec3_axis(1) };
	if (!self->bends)
		return angle;
	vec3 normal_rate = vec3_cross(vec3_axis(0), vec3_cross(self->spin, x));
	double speed = vec3_dot(angle.rate, self->spin);
	double turning = vec3_dot(normal_rate, self->spin) - x.x * speed * speed;
	angle.bend = turning / scalar_max(sine, PARALLEL) + vec3_dot(angle.rate, self->spin_rate);
	return angle;
}

/* The third rate: about x_b − x_a, perpendicular to the axes of twist and swing. */
static struct joint_angle find_swing_direction(const struct joint_turn *self)
{
	vec3 x = self->axes.x, apart = vec3_sub(x, vec3_axis(0));
	double length;
	vec3 along = vec3_normalize_length(apart, &length);
	struct joint_angle angle = { .rate = length > 0 ? along : vec3_axis(2) };
	if (!self->bends)
		return angle;
	vec3 change = vec3_cross(self->spin, x);
	change = vec3_mul_sub(change, angle.rate, vec3_dot(angle.rate, change));
	angle.bend = vec3_dot(change, self->spin) / scalar_max(length, PARALLEL) +
		     vec3_dot(angle.rate, self->spin_rate);
	return angle;
}

/* ---- by order and number ------------------------------------------------------------------- */

/* The angle is atan2(y, x). */
static void sides_of(const struct joint_turn *self, enum joint_counting counting, uint32_t angle,
		     double *y, double *x)
{
	const mat3 *r = &self->axes;
	const struct angle_order *order = &ORDERS[counting];
	vec3 last = axis_of(r, order->last);
	double across = vec3_get(last, order->middle), along = vec3_get(last, order->last);
	if (angle == order->middle) {
		*y = order->side * vec3_get(last, order->first);
		*x = scalar_sqrt(across * across + along * along);
	} else if (angle == order->first) {
		*y = -order->side * across;
		*x = along;
	} else {
		*y = -order->side * vec3_get(axis_of(r, order->middle), order->first);
		*x = vec3_get(axis_of(r, order->first), order->first);
	}
}

double joint_turn_value(const struct joint_turn *self, enum joint_counting counting, uint32_t angle)
{
	ASSERT(counting <= JOINT_COUNTS_SWING && angle < 3);
	const mat3 *r = &self->axes;
	if (counting == JOINT_COUNTS_SWING)
		return angle == 0
			       ? 2 * trig_atan2(self->turn.x, self->turn.w)
			       : trig_atan2(scalar_sqrt(r->x.y * r->x.y + r->x.z * r->x.z), r->x.x);
	double y, x;
	sides_of(self, counting, angle, &y, &x);
	return trig_atan2(y, x);
}

bool joint_turn_is_near(const struct joint_turn *self, enum joint_counting counting, uint32_t angle,
			double near)
{
	ASSERT(counting <= JOINT_COUNTS_SWING && angle < 3);
	if (counting == JOINT_COUNTS_SWING)
		return false;
	double y, x;
	sides_of(self, counting, angle, &y, &x);
	/* An angle is less than its tangent; the factor is for rounding. */
	return x > 0 && scalar_abs(y) < 0.999 * near * x;
}

struct joint_angle joint_turn_angle(const struct joint_turn *self, enum joint_counting counting,
				    uint32_t angle)
{
	ASSERT(counting <= JOINT_COUNTS_SWING && angle < 3);
	double sine, cosine;
	if (counting == JOINT_COUNTS_SWING)
		return angle == 0   ? find_twist(self)
		       : angle == 1 ? find_swing(self)
				    : find_swing_direction(self);
	const struct angle_order *order = &ORDERS[counting];
	if (angle == order->middle)
		return middle_angle(self, order, &sine, &cosine);
	vec3 first = vec3_axis(order->first), last = axis_of(&self->axes, order->last);
	return angle == order->first ? end_angle(self, first, last, false)
				     : end_angle(self, last, first, true);
}

/* ---- functions of locked angles ------------------------------------------------------------ */

/* With σ = v/(1 + w) of the quaternion: 4 σ' = (1 − σ²) w + 2 w × σ + 2 σ (σ · w). */
void joint_turn_weld(const struct joint_turn *self, struct joint_angle out[3])
{
	vec3 s = vec3_scale(quat_vector(self->turn), 1 / (1 + self->turn.w));
	vec3 spin = self->spin, rate = vec3_zero(), bend = vec3_zero();
	double even = 1 - vec3_length_squared(s);
	for (uint32_t k = 0; k < 3; k++) {
		vec3 e = vec3_axis(k);
		vec3 along = vec3_mul_add(vec3_cross(s, e), s, vec3_get(s, k));
		along = vec3_mul_add(vec3_scale(e, even), along, 2);
		out[k] = (struct joint_angle){ 4 * vec3_get(s, k), along, 0 };
		vec3_set(&rate, k, 0.25 * vec3_dot(along, spin));
	}
	if (!self->bends)
		return;
	bend = vec3_mul_add(vec3_cross(spin, rate), rate, vec3_dot(s, spin));
	bend = vec3_mul_add(bend, s, vec3_dot(rate, spin));
	bend = vec3_mul_sub(bend, spin, vec3_dot(s, rate));
	for (uint32_t k = 0; k < 3; k++)
		out[k].bend = 2 * vec3_get(bend, k) + vec3_dot(out[k].rate, self->spin_rate);
}

void joint_turn_weld_values(const struct joint_turn *self, double out[3])
{
	vec3 s = vec3_scale(quat_vector(self->turn), 1 / (1 + self->turn.w));
	for (uint32_t k = 0; k < 3; k++)
		out[k] = 4 * vec3_get(s, k);
}

/* The component of an axis of b along axes[0] of a, its gradient along the other two (it is 0 along
 * axes[0]), its rate and bend. */
struct cosine {
	double value, rate, bend;
	double gradient[2];
};

static inline struct cosine cosine_of(const struct joint_turn *self, vec3 f, const uint32_t axes[3])
{
	VALIDATE(axes[0] != axes[1] && axes[1] != axes[2] && axes[2] != axes[0]);
	struct cosine c = {
		vec3_get(f, axes[0]), 0, 0, { vec3_get(f, axes[2]), -vec3_get(f, axes[1]) }
	};
	if (!self->bends)
		return c;
	vec3 spin = self->spin, spin_rate = self->spin_rate;
	c.rate = c.gradient[0] * vec3_get(spin, axes[1]) + c.gradient[1] * vec3_get(spin, axes[2]);
	c.bend = c.gradient[0] * vec3_get(spin_rate, axes[1]) +
		 c.gradient[1] * vec3_get(spin_rate, axes[2]) +
		 vec3_get(spin, axes[0]) * vec3_dot(f, spin) - c.value * vec3_length_squared(spin);
	return c;
}

/* Opposite axes: the direction of the tilt is undefined. It is taken from the sines, or from the
 * first axis if they are 0, with the value and slope at half a turn. */
static void lean_opposite(const struct joint_turn *self, const uint32_t axes[3],
			  const double sines[2], struct joint_angle out[2])
{
	ASSERT(axes[0] < 3 && axes[1] < 3 && axes[2] < 3);
	double sine = scalar_sqrt(sines[0] * sines[0] + sines[1] * sines[1]);
	for (uint32_t k = 0; k < 2; k++) {
		double part = sine > 0 ? sines[k] / sine : k == 0;
		vec3 axis = axis_of(&self->axes, axes[1 + k]);
		out[k] = (struct joint_angle){ 4 * part, vec3_scale(axis, 2), 0 };
	}
}

/* With c the cosine of θ, h = cos(θ/2) and the two sines P: 4 tan(θ/4) P / sin θ = s P, where s = 2
 * / (h + h²), ds/dc = −(1 + 2 h) / (2 h (h + h²)²). */
void joint_turn_lean(const struct joint_turn *self, uint32_t axis, struct joint_angle out[2])
{
	ASSERT(axis < 3);
	const uint32_t axes[3] = { axis, (axis + 1) % 3, (axis + 2) % 3 };
	struct cosine c = cosine_of(self, axis_of(&self->axes, axis), axes);
	struct cosine p[2] = { cosine_of(self, axis_of(&self->axes, axes[2]), axes),
			       cosine_of(self, vec3_negate(axis_of(&self->axes, axes[1])), axes) };
	double sines[2] = { p[0].value, p[1].value };
	double sine2 = sines[0] * sines[0] + sines[1] * sines[1];
	double h = scalar_sqrt(c.value < 0 ? 0.5 * sine2 / (1 - c.value) : 0.5 * (1 + c.value));
	if (h < OPPOSITE) {
		lean_opposite(self, axes, sines, out);
		return;
	}
	double over = 1 / (h + h * h), over_h = (1 + h) * over;
	double s = 2 * over, slope = -0.5 * (1 + 2 * h) * over * over * over_h;
	for (uint32_t k = 0; k < 2; k++) {
		double change = slope * sines[k];
		out[k] = (struct joint_angle){ .value = s * sines[k] };
		for (uint32_t i = 0; i < 2; i++)
			vec3_set(&out[k].rate, axes[1 + i],
				 s * p[k].gradient[i] + change * c.gradient[i]);
	}
	if (!self->bends)
		return;
	/* d²s/dc² by the logarithm of ds/dc, and dh/dc = 1 / (4 h). */
	double curve = 0.25 * slope * over_h * (2 / (1 + 2 * h) - 3 * over_h - 2 / (1 + h));
	for (uint32_t k = 0; k < 2; k++)
		out[k].bend = s * p[k].bend + 2 * slope * c.rate * p[k].rate +
			      (slope * c.bend + curve * c.rate * c.rate) * sines[k];
}

/* The same terms as in joint_turn_lean. */
void joint_turn_lean_values(const struct joint_turn *self, uint32_t axis, double out[2])
{
	ASSERT(axis < 3);
	const uint32_t axes[3] = { axis, (axis + 1) % 3, (axis + 2) % 3 };
	double along = vec3_get(axis_of(&self->axes, axis), axis);
	double sines[2] = { vec3_get(axis_of(&self->axes, axes[2]), axis),
			    -vec3_get(axis_of(&self->axes, axes[1]), axis) };
	double sine2 = sines[0] * sines[0] + sines[1] * sines[1];
	double h = scalar_sqrt(along < 0 ? 0.5 * sine2 / (1 - along) : 0.5 * (1 + along));
	struct joint_angle opposite[2];
	if (h < OPPOSITE)
		lean_opposite(self, axes, sines, opposite);
	for (uint32_t k = 0; k < 2; k++)
		out[k] = h < OPPOSITE ? opposite[k].value : 2 * (1 / (h + h * h)) * sines[k];
}

struct joint_angle joint_turn_square(const struct joint_turn *self, enum joint_counting counting)
{
	ASSERT(counting != JOINT_COUNTS_SWING);
	double sine, cosine;
	struct joint_angle angle = middle_angle(self, &ORDERS[counting], &sine, &cosine);
	double slope = 2 / (1 + cosine), speed = vec3_dot(angle.rate, self->spin);
	angle.value = sine * slope;
	angle.rate = vec3_scale(angle.rate, slope);
	if (self->bends)
		angle.bend = slope * (angle.bend + 0.5 * angle.value * speed * speed);
	return angle;
}
