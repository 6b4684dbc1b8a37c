/* What is stored of a motion, whatever a method made of it. */
#include "server/engine/dynamics/body.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static const char *const METHODS[] = { "free", "soft-step" };

/* The broad phase and the wire rely on it. */
START_TEST(no_body_is_faster_than_the_bound_and_its_direction_stays)
{
	struct stage stage;
	stage_init(&stage, METHODS[_i]);
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	vec3 way = vec3_normalize(vec3_make(1, -2, 3));
	uint32_t fast = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = ball,
							       .velocity = vec3_scale(way, 3 * SPEED_MAX),
							       .spin = { 0, 2 * ANGULAR_SPEED_MAX, 0 } });
	vec3 half = vec3_scale(way, 0.5 * SPEED_MAX);
	uint32_t slow = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = ball,
							       .position = { 0, 0, 900 },
							       .velocity = half });
	stage_step(&stage);
	const struct body_table *body = &stage.tables.body;
	ck_assert_double_eq_tol(vec3_length(body->velocity[fast]), SPEED_MAX, 1e-2);
	ck_assert_double_gt(vec3_dot(vec3_normalize(body->velocity[fast]), way), 1 - 1e-6);
	ck_assert_double_eq_tol(vec3_length(body->angular_velocity[fast]), ANGULAR_SPEED_MAX, 1e-2);
	ck_assert_double_eq_tol(vec3_length(body->velocity[slow]), 0.5 * SPEED_MAX, 1e-2);
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/body");
	TCase *store = tcase_create("store");
	tcase_add_loop_test(store, no_body_is_faster_than_the_bound_and_its_direction_stays, 0, 2);
	suite_add_tcase(suite, store);
	return suite;
}

int main(void)
{
	return check_main(make);
}
