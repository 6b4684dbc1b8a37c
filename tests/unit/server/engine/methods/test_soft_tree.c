/* Trees of joints in reduced coordinates under soft-step (soft_tree.c). */
#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"
#include "tests/lib/joined.h"
#include "tests/lib/mechanisms.h"
#include "tests/lib/poses.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAXIMAL, AUTO, REDUCED, BODIES = 7 };

static struct world *make_world(const char *method, uint32_t rate, int coordinates)
{
	struct world *world = joined_world(method, rate, vec3_make(0, -9.81, 0));
	joined_set(world, "articulated.coordinates", coordinates);
	return world;
}

static double distance_between(const struct world *a, const struct world *b, const body_id *bodies,
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

/* What acts on the axis of a joint, by number. */
static void drive_axis(struct world *world, joint_id joint, uint32_t axis, uint32_t what)
{
	struct command command = joined_axis(joint, axis);
	struct command_JOINT_AXIS *set = &command.joint_axis;
	set->mode = what % 7 == 6 ? JOINT_LIMITED : JOINT_FREE;
	set->lower = -0.15;
	set->upper = 0.1;
	switch (what % 7) {
	case 0:
		set->spring = JOINT_SPRING_STIFFNESS;
		set->stiffness = 40;
		set->damping = 1;
		break;
	case 1: /* within its bound, and beyond it */
	case 2:
		set->motor = JOINT_MOTOR_POSITION;
		set->target = 0.4;
		set->motor_stiffness = 60;
		set->motor_damping = 3;
		set->motor_limit = what % 7 == 1 ? 1000 : 4;
		break;
	case 3:
		set->motor = JOINT_MOTOR_VELOCITY;
		set->target = 1;
		set->motor_limit = 500;
		break;
	case 4:
		set->motor = JOINT_MOTOR_VELOCITY;
		set->target = 2;
		set->motor_limit = 3;
		break;
	case 5:
		set->friction = 2;
		break;
	}
	test_do(world, &command);
}

/* A tree of hinges, slides and universal joints on which something acts. */
static void make_driven(struct world *world, uint64_t seed, body_id *out)
{
	static const enum joint_type TYPES[] = { JOINT_REVOLUTE, JOINT_PRISMATIC, JOINT_UNIVERSAL };
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < BODIES; i++) {
		uint32_t parent = i == 0 ? 0 : (i - 1) / 2, kind = rng_below(&rng, 3);
		vec3 at = vec3_make(1.2 * i, 0.3 * (i % 3), 0.5 * (i % 2));
		out[i] = joined_put(
			world,
			(struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = 1 + 0.2 * i });
		bool reversed = rng_below(&rng, 2) == 1;
		body_id on = i == 0 ? 0 : out[parent];
		joint_id joint = joined_join(
			world, TYPES[kind], reversed ? out[i] : on, reversed ? on : out[i],
			vec3_sub(at, vec3_make(0.5, 0.1, 0)), random_rotation(&rng));
		if (TYPES[kind] != JOINT_PRISMATIC)
			drive_axis(world, joint, 3, rng_below(&rng, 7));
		else
			drive_axis(world, joint, 0, rng_below(&rng, 7));
		if (TYPES[kind] == JOINT_UNIVERSAL)
			drive_axis(world, joint, 4, rng_below(&rng, 7));
	}
}

/* How far a mechanism is from the same under lcp at 2 kHz, after a quarter of a second. */
static double error_at(uint32_t rate, enum extras extras, uint64_t seed, uint32_t *reduced)
{
	struct world *worlds[2];
	body_id bodies[2][BODIES];
	for (uint32_t w = 0; w < 2; w++) {
		worlds[w] = make_world(w == 0 ? "soft-step" : "lcp", w == 0 ? rate : 2000, REDUCED);
		if (extras == DRIVES)
			make_driven(worlds[w], seed, bodies[w]);
		else
			make_mechanism(worlds[w], seed, BODIES, extras, bodies[w]);
		test_step(worlds[w], 1);
		if (w == 0)
			*reduced = world_stats(worlds[0]).islands_reduced;
		if (*reduced > 0)
			test_step(worlds[w], (w == 0 ? rate : 2000) / 4 - 1);
	}
	if (*reduced > 0)
		ck_assert_double_le(world_stats(worlds[0]).joint_error,
				    extras == DRIVES ? 1e-3 : 1e-12);
	double error = distance_between(worlds[0], worlds[1], bodies[0], BODIES);
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
	return error;
}

START_TEST(mechanisms_approach_the_exact_motion)
{
	enum extras extras = _i == 0 ? NOTHING : _i == 1 ? FLOATING : DRIVES;
	uint32_t told = 0;
	for (uint32_t k = 0; k < 6; k++) {
		uint32_t reduced;
		double coarse = error_at(60, extras, 1000 + k, &reduced), fine;
		fine = error_at(480, extras, 1000 + k, &reduced);
		if (getenv("CAIRN_MECHANISMS") != NULL)
			fprintf(stderr, "# %d %u: %.3g %.3g reduced %u\n", extras, k, coarse, fine,
				reduced);
		told += reduced > 0;
		if (reduced > 0)
			ck_assert_msg(fine < 0.25 * coarse || fine < 1e-4, "%u: %g then %g", k,
				      coarse, fine);
	}
	ck_assert_uint_gt(told, 2);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_tree");
	TCase *agree = tcase_create("agree");
	tcase_set_timeout(agree, 60);
	tcase_add_loop_test(agree, mechanisms_approach_the_exact_motion, 0, 3);
	suite_add_tcase(suite, agree);
	return suite;
}

int main(void)
{
	return check_main(make);
}
