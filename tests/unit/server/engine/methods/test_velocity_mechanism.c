/* Mechanisms in the exact velocity methods, through the engine's door: what joints, limits, springs
 * and contacts do together, and what of it every method must do alike. */
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/worlds.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection", "soft-step" };

/* ---- springs ------------------------------------------------------------------------------------- */

enum spring_case { SPRING_DOOR, SPRING_WINGS, SPRING_TRAIN, SPRING_CASES };

/* A spring of 1 Hz, and what it moves set swinging: a door in the world; two cubes on one hinge, of
 * which one is heavy; two on a slider, off their centres. Weightless. */
static joint_id make_spring(struct world *world, enum spring_case kind)
{
	bool slides = kind == SPRING_TRAIN;
	vec3 at = slides ? vec3_make(0.2, 0.3, 0) : vec3_zero();
	body_id a = 0;
	if (kind != SPRING_DOOR)
		a = put(world, (struct thing){ .shape = TEST_BOX, .at = { -0.5, 0, 0 }, .mass = 5 });
	body_id b = put(world, (struct thing){ .shape = TEST_BOX,
					       .at = { 0.5, slides ? 0.6 : 0, 0 },
					       .mass = 1 });
	joint_id joint = join(world, slides ? JOINT_PRISMATIC : JOINT_REVOLUTE, a, b, at,
			      slides ? quat_identity() : about_z());
	struct command axis = axis_of(joint, slides ? 0 : 3);
	axis.joint_axis.spring = JOINT_SPRING_HERTZ;
	axis.joint_axis.stiffness = 1;
	test_do(world, &axis);
	struct command kick = test_command(COMMAND_IMPULSE);
	kick.impulse.body = b;
	kick.impulse.impulse = slides ? vec3_make(0.1, 0, 0) : vec3_make(0, 0.01, 0);
	test_do(world, &kick);
	return joint;
}

START_TEST(a_spring_has_the_period_that_it_was_given)
{
	/* Whatever moves with it, under every method: hertz are of the mass that the joint leaves free. */
	enum { RATE = 480, TURNS = 3 };
	const char *method = METHODS[_i / SPRING_CASES];
	struct world *world = begin(method, RATE, vec3_zero());
	joint_id joint = make_spring(world, (enum spring_case)(_i % SPRING_CASES));
	uint32_t axis = _i % SPRING_CASES == SPRING_TRAIN ? 0 : 3, crossings = 0;
	double last = 0, first = 0, now = 0;
	for (uint32_t tick = 1; crossings <= 2 * TURNS && tick < 2 * TURNS * RATE; tick++) {
		test_step(world, 1);
		double q = see(world, joint).coordinates[axis];
		if (q * last < 0) {
			now = (tick - q / (q - last)) / RATE;
			first = crossings++ == 0 ? now : first;
		}
		last = q;
	}
	ck_assert_uint_eq(crossings, 2 * TURNS + 1);
	ck_assert_double_eq_tol((now - first) / TURNS, 1, 1e-3);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/velocity_mechanism");
	TCase *springs = tcase_create("springs");
	tcase_set_timeout(springs, 60);
	tcase_add_loop_test(springs, a_spring_has_the_period_that_it_was_given, 0,
			    COUNT_OF(METHODS) * SPRING_CASES);
	suite_add_tcase(suite, springs);
	return suite;
}

int main(void)
{
	return check_main(make);
}
