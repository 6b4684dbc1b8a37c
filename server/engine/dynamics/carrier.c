/* carrier.c: see carrier.h.
 *
 * With anchors d_i about their mean, points x_i about theirs, s = Σ d_i · x_i and c = Σ d_i × x_i, the
 * sum of squares Σ |x_i − R d_i|² is least where R turns by the angle with cosine s / r and sine
 * c / r, r² = s² + c². No other term has R, because the means are subtracted. */
#include "server/engine/dynamics/carrier.h"

#include "server/engine/dynamics/body.h"

#include <string.h>

/* ---- places and velocities ------------------------------------------------------------------ */

static double cross_z(vec3 a, vec3 b)
{
	return a.x * b.y - a.y * b.x;
}

/* About z by the angle with this cosine and sine. The half angle is found from the larger of both
 * terms, so that no digits are lost. */
static quat turn_by(double cosine, double sine)
{
	double w, z;
	if (cosine >= 0) {
		w = scalar_sqrt(0.5 * (1 + cosine));
		z = 0.5 * sine / w;
	} else {
		z = sine < 0 ? -scalar_sqrt(0.5 * (1 - cosine)) : scalar_sqrt(0.5 * (1 - cosine));
		w = 0.5 * sine / z;
	}
	return quat_make(w, 0, 0, z);
}

struct carrier_frame carrier_frame_of(const struct tables *tables, uint32_t row)
{
	struct carrier_frame frame = { .middle = vec3_zero() };
	ASSERT(row < tables->carrier.count && tables->carrier.body[row] != 0);
	while (frame.count < CARRIER_POINTS && tables->carrier.point[row][frame.count] != 0)
		frame.count++;
	ASSERT(frame.count >= 2);
	const double *at = tables->carrier.anchor[row];
	for (uint32_t k = 0; k < frame.count; k++)
		frame.middle = vec3_add(frame.middle, vec3_make(at[2 * k], at[2 * k + 1], 0));
	frame.middle = vec3_scale(frame.middle, 1.0 / frame.count);
	for (uint32_t k = 0; k < frame.count; k++) {
		frame.spot[k] = vec3_sub(vec3_make(at[2 * k], at[2 * k + 1], 0), frame.middle);
		frame.spread += vec3_length_squared(frame.spot[k]);
	}
	return frame;
}

struct spatial carrier_speed(const struct carrier_frame *frame, quat rotation, const vec3 *points)
{
	vec3 velocity = vec3_zero();
	double turning = 0;
	for (uint32_t k = 0; k < frame->count; k++)
		velocity = vec3_add(velocity, points[k]);
	velocity = vec3_scale(velocity, 1.0 / frame->count);
	for (uint32_t k = 0; k < frame->count; k++)
		turning += cross_z(quat_rotate(rotation, frame->spot[k]),
				   vec3_sub(points[k], velocity));
	vec3 arm = quat_rotate(rotation, frame->middle);
	vec3 spin = vec3_make(0, 0, turning / frame->spread);
	return (struct spatial){ vec3_sub(velocity, vec3_cross(spin, arm)), spin };
}

struct body_motion carrier_place(const struct carrier_frame *frame,
				 const struct body_motion *points, const struct body_motion *last)
{
	struct body_motion out = *last;
	vec3 middle = vec3_zero(), velocities[CARRIER_POINTS];
	double s = 0, c = 0;
	ASSERT(frame->count >= 2 && frame->count <= CARRIER_POINTS);
	for (uint32_t k = 0; k < frame->count; k++) {
		middle = vec3_add(middle, points[k].centre);
		velocities[k] = points[k].velocity;
	}
	middle = vec3_scale(middle, 1.0 / frame->count);
	for (uint32_t k = 0; k < frame->count; k++) {
		vec3 at = vec3_sub(points[k].centre, middle);
		s += vec3_dot(frame->spot[k], at);
		c += cross_z(frame->spot[k], at);
	}
	double r = scalar_sqrt(s * s + c * c);
	if (r > CARRIER_SPREAD_MIN * CARRIER_SPREAD_MIN) {
		quat turn = turn_by(s / r, c / r);
		bool far = turn.w * last->rotation.w + turn.z * last->rotation.z < 0;
		out.rotation = far ? quat_negate(turn) : turn;
	}
	struct spatial moving = carrier_speed(frame, out.rotation, velocities);
	out.centre = vec3_sub(middle, quat_rotate(out.rotation, frame->middle));
	out.velocity = moving.linear;
	out.angular_velocity = moving.angular;
	return out;
}

struct spatial carrier_part(const struct carrier_frame *frame, quat rotation, struct spatial on,
			    uint32_t k)
{
	VALIDATE(k < frame->count);
	vec3 arm = quat_rotate(rotation, frame->middle);
	double torque = on.angular.z - cross_z(arm, on.linear);
	vec3 spot = quat_rotate(rotation, frame->spot[k]);
	vec3 turn = vec3_scale(vec3_make(-spot.y, spot.x, 0), torque / frame->spread);
	return (struct spatial){ vec3_mul_add(turn, on.linear, 1.0 / frame->count), vec3_zero() };
}

/* The points' motions in the tables; returns their number. */
static uint32_t motions_of(const struct dynamics *self, uint32_t row, struct body_motion *out)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < CARRIER_POINTS; k++) {
		uint32_t point = carrier_point(self->tables, row, k);
		if (point != DYNAMICS_NONE)
			out[count++] = dynamics_motion(self, point);
	}
	ASSERT(count >= 2);
	return count;
}

double carrier_off(const struct dynamics *self, uint32_t row)
{
	struct body_motion points[CARRIER_POINTS];
	uint32_t count = motions_of(self, row, points);
	const double *at = self->tables->carrier.anchor[row];
	struct body_motion body = dynamics_motion(self, self->tables->carrier.body[row] - 1);
	double off = 0;
	for (uint32_t k = 0; k < count; k++) {
		vec3 anchor = vec3_make(at[2 * k], at[2 * k + 1], 0);
		vec3 place = vec3_add(body.centre, quat_rotate(body.rotation, anchor));
		off = scalar_max(off, vec3_distance(points[k].centre, place));
	}
	return off;
}

/* ---- rows ------------------------------------------------------------------------------------- */

enum status dynamics_carrier_reserve(struct dynamics *self, uint32_t carriers)
{
	enum status status =
		tables_reserve(self->tables, TABLE_CARRIER, self->tables->carrier.count + carriers);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->carrier_used, self->tables->carrier.capacity);
	return status;
}

/* Takes a place of a carrier out of its point's list. */
static void unlink_place(struct tables *tables, uint32_t row, uint32_t k)
{
	uint32_t place = CARRIER_POINTS * row + k + 1, point = carrier_point(tables, row, k);
	uint32_t *link = &tables->body.first_carried[point];
	while (*link != place) {
		ASSERT(*link != 0);
		uint32_t at = *link - 1;
		link = &tables->carrier.next[at / CARRIER_POINTS][at % CARRIER_POINTS];
	}
	*link = tables->carrier.next[row][k];
	tables->carrier.next[row][k] = 0;
	tables->carrier.point[row][k] = 0;
}

static void unlink_all(struct dynamics *self, uint32_t row)
{
	for (uint32_t k = 0; k < CARRIER_POINTS; k++) {
		uint32_t point = carrier_point(self->tables, row, k);
		if (point == DYNAMICS_NONE)
			continue;
		dynamics_wake(self, point);
		unlink_place(self->tables, row, k);
	}
}

void dynamics_carry(struct dynamics *self, uint32_t body, const uint32_t *points, uint32_t count)
{
	struct tables *tables = self->tables;
	struct body_motion motions[CARRIER_POINTS], at = dynamics_motion(self, body);
	uint32_t row = carrier_of(tables, body);
	ASSERT(count >= 2 && count <= CARRIER_POINTS);
	if (row == DYNAMICS_NONE)
		row = tables_take_row(tables, TABLE_CARRIER, &self->carrier_used);
	else
		unlink_all(self, row);
	tables->carrier.body[row] = body + 1;
	tables->body.carrier[body] = row + 1;
	memset(tables->carrier.anchor[row], 0, sizeof tables->carrier.anchor[row]);
	for (uint32_t k = 0; k < count; k++) {
		ASSERT(points[k] != body);
		motions[k] = dynamics_motion(self, points[k]);
		vec3 anchor =
			quat_rotate_inverse(at.rotation, vec3_sub(motions[k].centre, at.centre));
		tables->carrier.anchor[row][2 * k] = anchor.x;
		tables->carrier.anchor[row][2 * k + 1] = anchor.y;
		tables->carrier.point[row][k] = points[k] + 1;
		tables->carrier.next[row][k] = tables->body.first_carried[points[k]];
		tables->body.first_carried[points[k]] = CARRIER_POINTS * row + k + 1;
		dynamics_wake(self, points[k]);
	}
	struct carrier_frame frame = carrier_frame_of(tables, row);
	struct body_motion moving = carrier_place(&frame, motions, &at);
	tables->body.velocity[body] = moving.velocity;
	tables->body.angular_velocity[body] = moving.angular_velocity;
	dynamics_body_moved(self, body);
}

void dynamics_uncarry(struct dynamics *self, uint32_t body)
{
	struct tables *tables = self->tables;
	uint32_t row = carrier_of(tables, body);
	if (row == DYNAMICS_NONE)
		return;
	ASSERT(tables->carrier.body[row] == body + 1);
	dynamics_wake(self, body);
	unlink_all(self, row);
	tables->body.carrier[body] = 0;
	tables_free_row(tables, TABLE_CARRIER, row, &self->carrier_used, NULL);
}

void dynamics_carriers_drop(struct dynamics *self, uint32_t body)
{
	struct tables *tables = self->tables;
	dynamics_uncarry(self, body);
	while (tables->body.first_carried[body] != 0) {
		uint32_t row = (tables->body.first_carried[body] - 1) / CARRIER_POINTS;
		dynamics_uncarry(self, tables->carrier.body[row] - 1);
	}
	ASSERT(!carrier_is_point(tables, body));
}

void dynamics_carried_follow(struct dynamics *self, uint32_t point)
{
	struct tables *tables = self->tables;
	for (uint32_t at = tables->body.first_carried[point]; at != 0;
	     at = tables->carrier.next[(at - 1) / CARRIER_POINTS][(at - 1) % CARRIER_POINTS]) {
		uint32_t row = (at - 1) / CARRIER_POINTS, body = tables->carrier.body[row] - 1;
		struct body_motion points[CARRIER_POINTS], last = dynamics_motion(self, body);
		struct carrier_frame frame = carrier_frame_of(tables, row);
		uint32_t count = motions_of(self, row, points);
		ASSERT(count == frame.count);
		struct body_motion now = carrier_place(&frame, points, &last);
		tables->body.rotation[body] = now.rotation;
		tables->body.position[body] =
			vec3_sub(now.centre, quat_rotate(now.rotation, tables->body.centre[body]));
		tables->body.velocity[body] = now.velocity;
		tables->body.angular_velocity[body] = now.angular_velocity;
		dynamics_body_moved(self, body);
	}
}
