/* velocity_rotor.c: speeds and energy of rotors, which turn with the axes of joints (armature).
 *
 * A rotor has the speed of its axis whenever a step ends, so no column keeps it, and what commands set
 * bodies to it has as well. Impulses on bodies between two steps are not on it: it lags behind its axis by
 * what they changed (column rotor_lag), and its row shares it out. Within a step its speed is
 * joint_axis.rotor, which loses λ/a with every impulse λ of its row (velocity_joint.c).
 */
#include "server/engine/methods/velocity.h"

static void rotor_motions(const struct velocity_step *self, uint32_t joint,
			  const struct body_motion *motions, const struct spatial *velocities,
			  struct body_motion at[2])
{
	const struct constraint *of = &self->joints.constraints[joint];
	const uint32_t slots[2] = { of->body_a, of->body_b };
	ASSERT(joint < self->joints.count);
	at[0] = self->joints.joints[joint].a;
	at[1] = self->joints.joints[joint].b;
	for (uint32_t side = 0; side < 2; side++) {
		if (slots[side] == ROW_NO_BODY)
			continue;
		at[side] = motions[slots[side]];
		at[side].velocity = velocities[slots[side]].linear;
		at[side].angular_velocity = velocities[slots[side]].angular;
	}
}

void velocity_rotors_follow(struct velocity_step *self, uint32_t joint, bool begins)
{
	struct joint *data = &self->joints.joints[joint];
	struct body_motion at[2];
	ASSERT(joint < self->joints.count);
	if (!data->layout.rotors)
		return;
	rotor_motions(self, joint, self->start, self->before, at);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct joint_axis_motion q;
		if (!(data->layout.parts[axis] >> JOINT_ROTOR & 1))
			continue;
		joint_axis_motion(data, axis, &at[0], &at[1], CONSTRAINT_VELOCITY, &q);
		data->axes[axis].rotor = q.speed - (begins ? data->axes[axis].lag : 0);
	}
}

void velocity_rotors_start(struct velocity_step *self, bool begins)
{
	for (uint32_t i = 0; i < self->joints.count; i++)
		velocity_rotors_follow(self, i, begins);
}

double velocity_rotors_energy(const struct velocity_step *self, const struct island *island,
			      const struct body_motion *motions, const struct spatial *velocities)
{
	double sum = 0;
	for (uint32_t i = 0; i < island->constraint_count; i++) {
		uint32_t c = island->constraints[i];
		if (c < self->contact_count ||
		    !self->joints.joints[c - self->contact_count].layout.rotors)
			continue;
		const struct joint *data = &self->joints.joints[c - self->contact_count];
		VALIDATE(c - self->contact_count < self->joints.count);
		struct body_motion at[2];
		rotor_motions(self, c - self->contact_count, motions, velocities, at);
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			struct joint_axis_motion q;
			if (!(data->layout.parts[axis] >> JOINT_ROTOR & 1))
				continue;
			joint_axis_motion(data, axis, &at[0], &at[1], CONSTRAINT_VELOCITY, &q);
			sum += 0.5 * data->axes[axis].armature * q.speed * q.speed;
		}
	}
	return sum;
}
