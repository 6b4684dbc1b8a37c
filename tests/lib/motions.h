/* motions.h: motions and turns of bodies for tests of rows. */
#ifndef CAIRN_TESTS_MOTIONS_H
#define CAIRN_TESTS_MOTIONS_H

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/math/mat3.h"
#include "tests/lib/poses.h"

static inline struct body_motion still(void)
{
	return (struct body_motion){ .rotation = quat_identity() };
}

static inline struct body_motion random_motion(struct rng *rng)
{
	struct body_motion motion;
	motion.centre = random_vector(rng, 2);
	motion.rotation = random_rotation(rng);
	motion.velocity = random_vector(rng, 1);
	motion.angular_velocity = random_vector(rng, 1);
	return motion;
}

/* Moments of 0.7 to 1.3 kg m2 about its own axes, in a rotation that is not the body's. */
static inline struct mass_body random_mass(struct rng *rng)
{
	double mass = rng_range(rng, 0.5, 3);
	vec3 moments = vec3_add(random_vector(rng, 0.3), vec3_all(1));
	mat3 axes = mat3_from_quat(random_rotation(rng));
	sym3 inertia = sym3_rotate(axes, sym3_diagonal(moments));
	vec3 reciprocal = vec3_make(1 / moments.x, 1 / moments.y, 1 / moments.z);
	sym3 inverse = sym3_rotate(axes, sym3_diagonal(reciprocal));
	return mass_body_make(mass, 1 / mass, inertia, inverse, quat_identity(), 0);
}

/* The body's motion after `time` at constant velocities. */
static inline struct body_motion after(struct body_motion from, double time)
{
	from.centre = vec3_mul_add(from.centre, from.velocity, time);
	quat turn = quat_from_rotation_vector(vec3_scale(from.angular_velocity, time));
	from.rotation = quat_normalize(quat_mul(turn, from.rotation));
	return from;
}

static inline mat3 world_frame(quat rotation, quat frame)
{
	return mat3_from_quat(quat_mul(rotation, frame));
}

static inline quat turn_about(uint32_t axis, double angle)
{
	return quat_from_axis_angle(vec3_axis(axis), angle);
}

/* About the world's origin. `mass` is that of the rotated body, here and below. */
static inline struct spatial momentum_of(const struct mass_body *mass,
					 const struct body_motion *motion)
{
	vec3 linear = vec3_hadamard(mass->mass, motion->velocity);
	vec3 spin = sym3_apply(mass->inertia, motion->angular_velocity);
	return (struct spatial){ linear, vec3_add(spin, vec3_cross(motion->centre, linear)) };
}

static inline double kinetic_energy_of(const struct mass_body *mass,
				       const struct body_motion *motion)
{
	vec3 linear = vec3_hadamard(mass->mass, motion->velocity);
	return 0.5 * vec3_dot(linear, motion->velocity) +
	       0.5 * sym3_quadratic(mass->inertia, motion->angular_velocity);
}

#endif
