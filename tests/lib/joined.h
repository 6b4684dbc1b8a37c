/* joined.h: worlds with joined bodies for tests, through the engine's door. What a test expects to succeed
 * and does not ends the program, as in worlds.h. */
#ifndef CAIRN_TESTS_JOINED_H
#define CAIRN_TESTS_JOINED_H

#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

struct world *joined_world(const char *method, uint32_t rate, vec3 gravity);
void joined_set(struct world *world, const char *parameter, double value);

/* What never sleeps; it meets nothing unless it is said to. */
struct joined_thing {
	enum test_shape shape;
	vec3 at;
	double mass;
	vec3 velocity, spin;
	double restitution;
	bool meets, smooth;
	uint8_t status; /* 0: as the shape likes it */
};
body_id joined_put(struct world *world, struct joined_thing thing);

/* With its anchors and axes at one place of the world; to be filled in and done. */
struct command joined_create(enum joint_type type, body_id a, body_id b, vec3 at, quat frame);
joint_id joined_join(struct world *world, enum joint_type type, body_id a, body_id b, vec3 at,
		     quat frame);
/* To be filled in and done. */
struct command joined_axis(joint_id joint, uint32_t axis);
struct joint_view joined_view(const struct world *world, joint_id id);
/* For good. */
void joined_push(struct world *world, body_id body, vec3 force, vec3 torque);
/* Of a joint whose x axis is the world's z. */
quat joined_about_z(void);

/* No fallback, no quarantine, residuals and joint errors of rounding: what exact methods promise. */
void joined_assert_exact(const struct world *world);

#define ASSERT_VEC3(a, b, tolerance)                                                               \
	do {                                                                                       \
		vec3 a_ = (a), b_ = (b);                                                           \
		ck_assert_msg(vec3_distance(a_, b_) <= (tolerance), "%s: (%.17g %.17g %.17g)", #a, \
			      a_.x, a_.y, a_.z);                                                   \
	} while (0)

#endif
