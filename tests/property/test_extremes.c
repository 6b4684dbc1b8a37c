/* Scenes with extreme values that commands admit (sizes 2e-4 … 1e4 m, masses, speeds, friction, damping
 * and gravity up to their limits): every step returns, no assertion fails, and the stored positions,
 * velocities and impulses are finite and bounded. */
#include <math.h>

#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static double random_log(struct rng *rng, double low, double high)
{
	return exp(rng_range(rng, log(low), log(high)));
}

static uint32_t random_shape(struct stage *stage, struct rng *rng)
{
	double size = random_log(rng, 2e-4, 1e4);
	switch (rng_below(rng, 4)) {
	case 0:
		return stage_shape(stage, make_sphere(size));
	case 1:
		return stage_shape(stage, make_capsule(size, size * 0.5));
	case 2: {
		double y = size * random_log(rng, 1, 10);
		return stage_shape(stage, make_box(size, y, size * 0.7));
	}
	default: {
		vec3 corners[8];
		for (uint32_t i = 0; i < COUNT_OF(corners); i++) {
			vec3 outward = vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
			vec3 corner = vec3_add(outward, random_vector(rng, 0.3));
			corners[i] = vec3_scale(corner, size);
		}
		return stage_shape(stage, make_hull(corners, COUNT_OF(corners)));
	}
	}
}

static void add_random_body(struct stage *stage, struct rng *rng, uint32_t shape, double spread)
{
	struct stage_body body = { .status = (uint8_t)(1 + rng_below(rng, 3)), .shape = shape };
	body.position = random_vector(rng, spread);
	body.rotation = quat_from_rotation_vector(random_vector(rng, 3));
	double speed = random_log(rng, 1e-3, SPEED_MAX);
	body.velocity = random_vector(rng, speed);
	double rate = random_log(rng, 1e-3, ANGULAR_SPEED_MAX);
	body.spin = random_vector(rng, rate);
	body.mass = random_log(rng, MASS_MIN, MASS_MAX);
	body.friction = random_log(rng, 1e-3, FRICTION_MAX);
	body.restitution = rng_double(rng);
	uint32_t row = stage_add(stage, body);
	double damping = random_log(rng, 1e-3, DAMPING_MAX);
	stage->tables.body.linear_damping[row] = rng_below(rng, 2) * damping;
}

static void check_bounded(const struct stage *stage)
{
	const struct body_table *body = &stage->tables.body;
	for (uint32_t row = 0; row < body->count; row++) {
		ck_assert(vec3_is_finite(body->position[row]));
		ck_assert(vec3_max_component(vec3_abs(body->position[row])) <= 2 * LENGTH_MAX);
		ck_assert(scalar_near(quat_length(body->rotation[row]), 1, 1e-9));
		ck_assert(vec3_length(body->velocity[row]) <= SPEED_MAX * 2);
		ck_assert(vec3_length(body->angular_velocity[row]) <= ANGULAR_SPEED_MAX * 2);
	}
	for (uint32_t row = 0; row < stage->tables.contact.count; row++)
		for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX; p++)
			ck_assert(scalar_is_finite(stage->tables.contact.normal_impulse[row][p]));
}

/* 14 bodies in one heap, 30 scenes of 30 ticks. */
START_TEST(extreme_scenes_stay_finite_and_bounded)
{
	for (uint64_t round = 0; round < 30; round++) {
		struct rng rng = rng_seeded(check_seed() + round);
		struct stage stage;
		stage_init(&stage, "soft-step");
		double gravity = random_log(&rng, 1, GRAVITY_MAX);
		stage.tables.world.gravity[0] = random_vector(&rng, gravity);
		double spread = random_log(&rng, 1e-3, 10);
		uint32_t shapes[6];
		for (uint32_t i = 0; i < COUNT_OF(shapes); i++)
			shapes[i] = random_shape(&stage, &rng);
		for (uint32_t i = 0; i < 14; i++)
			add_random_body(&stage, &rng, shapes[rng_below(&rng, COUNT_OF(shapes))],
					spread);
		for (uint32_t tick = 0; tick < 30; tick++) {
			stage_step(&stage);
			check_bounded(&stage);
		}
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("property/extremes");
	TCase *extremes = tcase_create("extremes");
	tcase_add_test(extremes, extreme_scenes_stay_finite_and_bounded);
	suite_add_tcase(suite, extremes);
	return suite;
}

int main(void)
{
	return check_main(make);
}
