/* mechanisms.c: trees of boxes and random joints. */
#include "tests/lib/mechanisms.h"

#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"
#include "tests/lib/poses.h"

static void set_random_axes(struct world *world, struct rng *rng, joint_id joint,
			    enum joint_type type, uint32_t drives)
{
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct joint_axis_kind kind = joint_axis_kind(type, axis);
		struct command command = joined_axis(joint, axis);
		struct command_JOINT_AXIS *set = &command.joint_axis;
		uint32_t what = rng_below(rng, 8);
		double stiffness = rng_range(rng, 1, 300), limit = rng_range(rng, 0.02, 0.2);
		if (!kind.used || !kind.settable)
			continue;
		set->mode = kind.mode;
		if (type == JOINT_SIX_DOF && kind.locks)
			set->mode = what < 3 ? JOINT_FREE : JOINT_LOCKED;
		if (set->mode == JOINT_LOCKED) {
			test_do(world, &command);
			continue;
		}
		/* Turns about the axes of two locked ones may be singular with limits. */
		bool plain = kind.limits && type != JOINT_SIX_DOF && type != JOINT_WHEEL;
		if (drives > 0 && what < 3) {
			set->spring = what == 2 ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
			set->stiffness = what == 2 ? 2 : stiffness;
			set->damping = what == 1 ? 3 : 0.1;
		} else if (drives > 0 && what == 3) {
			set->motor = JOINT_MOTOR_VELOCITY;
			set->target = 1;
			set->motor_limit = 5;
		} else if (drives > 0 && what == 4) {
			set->motor = JOINT_MOTOR_POSITION;
			set->target = 0.3;
			set->motor_stiffness = stiffness;
			set->motor_damping = 2;
		} else if (drives > 0 && what == 5)
			set->friction = 0.3;
		else if (drives > 0 && what == 6 && plain) {
			set->mode = JOINT_LIMITED;
			set->lower = -limit;
			set->upper = limit;
		}
		test_do(world, &command);
	}
}

void make_mechanism(struct world *world, uint64_t seed, uint32_t count, enum extras extras,
		    body_id *out)
{
	static const enum joint_type TYPES[] = { JOINT_REVOLUTE,  JOINT_SPHERICAL,
						 JOINT_FIXED,	  JOINT_CYLINDRICAL,
						 JOINT_UNIVERSAL, JOINT_PRISMATIC,
						 JOINT_WHEEL,	  JOINT_SIX_DOF };
	/* A loop of few freedoms is locked, or nearly. */
	static const enum joint_type LOOSE[] = { JOINT_SPHERICAL, JOINT_CYLINDRICAL,
						 JOINT_UNIVERSAL };
	struct rng rng = rng_seeded(seed);
	vec3 at[16];
	ASSERT(count <= COUNT_OF(at));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = i == 0 ? 0 : extras == LOOPS ? i - 1 : rng_below(&rng, i);
		vec3 by = vec3_scale(random_direction(&rng), 1.3);
		at[i] = vec3_add(i == 0 ? vec3_zero() : at[parent], by);
		struct joined_thing thing = { .shape = TEST_BOX,
					      .at = at[i],
					      .mass = rng_range(&rng, 0.5, 2) };
		thing.velocity = random_vector(&rng, 1);
		thing.spin = random_vector(&rng, 1);
		out[i] = joined_put(world, thing);
		uint32_t first = rng_below(&rng, 3), kind = rng_below(&rng, COUNT_OF(TYPES));
		enum joint_type type =
			extras == LOOPS ? LOOSE[kind % COUNT_OF(LOOSE)] : TYPES[kind];
		quat frame = random_rotation(&rng);
		if (i == 0 && (first == 0 || extras == FLOATING))
			continue;
		body_id on = i == 0 ? 0 : out[parent];
		bool reversed = rng_below(&rng, 2) == 1;
		joint_id joint =
			joined_join(world, type, reversed ? out[i] : on, reversed ? on : out[i],
				    vec3_mul_add(at[i], by, -0.5), frame);
		set_random_axes(world, &rng, joint, type, extras == DRIVES);
	}
	if (extras == LOOPS)
		joined_join(world, JOINT_SPHERICAL, out[0], out[count - 1],
			    vec3_lerp(at[0], at[count - 1], 0.5), quat_identity());
}

double mechanisms_apart(const struct world *a, const struct world *b, const body_id *bodies,
			uint32_t count)
{
	double worst = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view x = test_body(a, bodies[i]), y = test_body(b, bodies[i]);
		worst = scalar_max(worst, vec3_distance(x.position, y.position));
		quat turn = quat_mul(x.rotation, quat_conjugate(y.rotation));
		worst = scalar_max(worst, 2 * vec3_length(quat_vector(turn)));
	}
	return worst;
}
