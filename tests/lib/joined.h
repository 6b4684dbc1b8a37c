/* joined.h: worlds with joints for tests, through the engine's public header. An unexpected failure
 * ends the program, as in worlds.h. */
#ifndef CAIRN_TESTS_JOINED_H
#define CAIRN_TESTS_JOINED_H

#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

struct world *joined_world(const char *method, uint32_t rate, vec3 gravity);
void joined_set(struct world *world, const char *parameter, double value);

/* A body that never sleeps; it collides only if the fields say so. */
struct joined_thing {
	enum test_shape shape;
	vec3 at;
	double mass;
	vec3 velocity, spin;
	double restitution;
	bool meets, smooth;
	uint8_t status; /* 0: as the shape implies */
};
body_id joined_put(struct world *world, struct joined_thing thing);

/* JOINT_CREATE with anchors and axes at one place of the world; to be completed and sent. */
struct command joined_create(enum joint_type type, body_id a, body_id b, vec3 at, quat frame);
joint_id joined_join(struct world *world, enum joint_type type, body_id a, body_id b, vec3 at,
		     quat frame);
/* JOINT_AXIS, to be completed and sent. */
struct command joined_axis(joint_id joint, uint32_t axis);
struct joint_view joined_view(const struct world *world, joint_id id);
/* A force that acts until it is removed. */
void joined_push(struct world *world, body_id body, vec3 force, vec3 torque);
/* The frame of a joint whose x axis is the world's z. */
quat joined_about_z(void);

/* No fallback, no quarantine, residuals and joint errors at rounding level: what exact methods
 * guarantee. */
void joined_assert_exact(const struct world *world);

#define ASSERT_VEC3(a, b, tolerance)                                                               \
	do {                                                                                       \
		vec3 a_ = (a), b_ = (b);                                                           \
		ck_assert_msg(vec3_distance(a_, b_) <= (tolerance), "%s: (%.17g %.17g %.17g)", #a, \
			      a_.x, a_.y, a_.z);                                                   \
	} while (0)

#endif
