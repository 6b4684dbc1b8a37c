/* tree_place.c: the pose of a link from its joint's free coordinates.
 *
 * R_A⁻¹ R_B is a product of free turns (joint.h). One free turn is the part of the quaternion about its
 * axis; two are found from the axis that only the first moves: no angle is computed.
 */
#include "server/engine/dynamics/tree_mass.h"

#include "server/base/inline.h"

/* The turn about an axis of the frame by an angle with cosine c and sine s, of any common length. */
static quat turn_about(uint32_t axis, double c, double s)
{
	ASSERT(axis < 3);
	double w = c >= 0 ? scalar_sqrt(c * c + s * s) + c : scalar_abs(s);
	double v = c >= 0 ? s : scalar_sqrt(c * c + s * s) - c;
	vec3 vector = vec3_zero();
	vec3_set(&vector, axis, c < 0 && s < 0 ? -v : v);
	if (!(w * w + v * v > 0))
		return quat_identity();
	return quat_normalize(quat_from_parts(w, vector));
}

/* The part of a turn about one axis of the frame. */
static quat part_about(quat turn, uint32_t axis)
{
	ASSERT(axis < 3);
	double along = vec3_get(quat_vector(turn), axis);
	vec3 vector = vec3_zero();
	vec3_set(&vector, axis, along);
	if (!(turn.w * turn.w + along * along > 0))
		return quat_identity();
	return quat_normalize(quat_from_parts(turn.w, vector));
}

/* Of the turns that the locks permit, the one that `turn` is, but for its error. */
static quat permitted_turn(quat turn, uint32_t locked)
{
	ASSERT(locked < 8);
	mat3 m = mat3_from_quat(turn);
	quat first;
	uint32_t second;
	switch (locked) {
	case 0:
		return turn;
	case 1: /* about y, then z */
		first = turn_about(1, m.z.z, m.z.x);
		second = 2;
		break;
	case 2: /* about x, then z */
		first = turn_about(0, m.z.z, -m.z.y);
		second = 2;
		break;
	case 4: /* about x, then y */
		first = turn_about(0, m.y.y, m.y.z);
		second = 1;
		break;
	case 7:
		return quat_identity();
	default: /* one is free */
		return part_about(turn, locked == 6 ? 0 : locked == 5 ? 1 : 2);
	}
	return quat_mul(first, part_about(quat_mul(quat_conjugate(first), turn), second));
}

ALWAYS_INLINE quat with_sign_of(quat q, quat like)
{
	q = quat_normalize(q);
	return quat_dot(q, like) < 0 ? quat_negate(q) : q;
}

struct body_motion tree_place(const struct joint *joint, const struct tree_link *link,
			      const struct body_motion *a, const struct body_motion *b)
{
	ASSERT(link->joint != TREE_NONE && joint->gear == NULL);
	struct body_motion out = link->reversed ? *a : *b;
	quat frame_a = quat_mul(a->rotation, joint->frame_a);
	quat frame_b = quat_mul(b->rotation, joint->frame_b);
	vec3 p_a = joint_anchor_a(joint, a), p_b = joint_anchor_b(joint, b);
	vec3 apart = quat_rotate_inverse(frame_a, vec3_sub(p_b, p_a));
	for (uint32_t k = 0; k < 3; k++)
		if (link->locked >> k & 1)
			vec3_set(&apart, k, joint_locked_value(joint, k));
	quat turn = quat_mul(quat_conjugate(frame_a), frame_b);
	turn = permitted_turn(turn, link->locked >> 3 & 7);
	if (link->reversed) {
		frame_a = quat_mul(frame_b, quat_conjugate(turn));
		out.rotation = with_sign_of(quat_mul(frame_a, quat_conjugate(joint->frame_a)),
					    a->rotation);
		p_a = vec3_sub(p_b, quat_rotate(frame_a, apart));
		out.centre = vec3_sub(p_a, quat_rotate(out.rotation, joint->point_a));
		return out;
	}
	frame_b = quat_mul(frame_a, turn);
	out.rotation = with_sign_of(quat_mul(frame_b, quat_conjugate(joint->frame_b)), b->rotation);
	p_b = vec3_add(p_a, quat_rotate(frame_a, apart));
	out.centre = vec3_sub(p_b, quat_rotate(out.rotation, joint->point_b));
	return out;
}

struct spatial tree_displacement(const struct body_motion *from, const struct body_motion *to)
{
	quat turn = quat_mul(to->rotation, quat_conjugate(from->rotation));
	double sign = turn.w < 0 ? -2 : 2;
	return (struct spatial){ vec3_sub(to->centre, from->centre),
				 vec3_scale(quat_vector(turn), sign) };
}
