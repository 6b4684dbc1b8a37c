/* The question of stability about worlds: contacts from shapes, joints, loads, refusals; boxes in
 * space against polygons in the plane. */
#include <math.h>

#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static const struct stability_query PLAIN = { .sides = 8, .direction = { 1, 0, 0 } };

static enum status refusal(const struct world *world, struct stability_query query,
			   const char *field)
{
	struct stability_view view;
	struct reason why = { 0 };
	enum status status = world_stability(world, &query, &view, &why);
	ck_assert_int_ne(status, STATUS_OK);
	ck_assert_str_eq(why.field, field);
	return status;
}

static body_id spawn(struct world *world, enum test_shape shape, vec3 at, double mass,
		     double friction, bool moves)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, at, &item);
	command.spawn.status = moves ? BODY_DYNAMIC : BODY_STATIC;
	command.spawn.mass = mass;
	command.spawn.static_friction = friction;
	command.spawn.dynamic_friction = friction;
	return test_do(world, &command);
}

/* A cube on a plane, or a square on a larger static square. */
static struct world *ground(bool planar, double friction)
{
	struct world *world = test_world(planar, "soft-step");
	enum test_shape shape = planar ? TEST_POLYGON : TEST_BOX;
	spawn(world, shape, vec3_make(0, -0.5, 0), 0, friction, false);
	return world;
}

START_TEST(a_stack_stands_until_its_overhang_is_too_large)
{
	bool planar = _i % 2 != 0;
	double friction = _i / 2 % 2 == 0 ? 0.5 : 0, over = _i / 4 == 0 ? 0.49 : 0.51;
	struct world *world = ground(planar, friction);
	enum test_shape shape = planar ? TEST_POLYGON : TEST_BOX;
	spawn(world, shape, vec3_make(0, 0.5, 0), 2, friction, true);
	body_id top = spawn(world, shape, vec3_make(over, 1.5, 0), 3, friction, true);
	struct stability_view view = test_stability(world, PLAIN);
	bool stands = over < 0.5;
	double pressed = 0, leaning = 0;
	ck_assert_int_eq(view.verdict, stands ? STABILITY_STANDS : STABILITY_FALLS);
	ck_assert_uint_eq(view.bodies, 2);
	ck_assert_uint_eq(view.points, planar ? 4 : 8);
	ck_assert_uint_eq(view.motions[1].body, top);
	for (uint32_t i = 0; i < view.points; i++)
		if (view.contacts[i].b == top || view.contacts[i].a == top) {
			pressed += view.contacts[i].normal_force;
			leaning += view.contacts[i].normal_force * view.contacts[i].point.x;
		}
	if (stands) {
		ck_assert(fabs(pressed - 3 * 9.81) < 1e-8);
		ck_assert(fabs(leaning - 3 * 9.81 * over) < 1e-8);
	} else {
		/* It turns about the edge at x = ½, on which all of its support lies; without
		 * friction the edge slides, and the centre falls straight down. */
		double arm2 = 1.0 / 6 + (friction > 0 ? 0.25 : 0) + 0.01 * 0.01;
		ck_assert(fabs(view.motions[1].angular.z + 9.81 * 0.01 / arm2) < 1e-6);
		ck_assert(view.motions[1].acceleration.y < 0);
	}
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

START_TEST(a_cube_tips_at_one_and_slides_at_its_friction)
{
	static const double frictions[] = { 3, 0.25 };
	bool planar = _i % 2 != 0;
	double friction = frictions[_i / 2], limit = fmin(1, friction);
	struct world *world = ground(planar, friction);
	body_id cube = spawn(world, planar ? TEST_POLYGON : TEST_BOX, vec3_make(0, 0.5, 0), 2,
			     friction, true);
	struct stability_query query = PLAIN;
	query.margin = STABILITY_TILT;
	struct stability_view view = test_stability(world, query);
	ck_assert_msg(fabs(view.lower - limit) < 2e-6 * limit, "%.9g", view.lower);
	ck_assert(fabs(view.upper - limit) < 2e-6 * limit);
	ck_assert(fabs(view.stands - limit) < 4e-6 * limit);
	stability_view_release(&view);
	/* A push on the centre is the same but for the weight. */
	query.margin = STABILITY_PUSH;
	query.body = cube;
	view = test_stability(world, query);
	ck_assert(fabs(view.lower - limit * 2 * 9.81) < 1e-4);
	stability_view_release(&view);
	query.margin = STABILITY_LOAD;
	view = test_stability(world, query);
	ck_assert(isinf(view.lower) && isinf(view.upper));
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

START_TEST(bodies_without_support_fall_freely)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_SPHERE, vec3_make(0, 5, 0));
	test_spawn(world, TEST_HULL, vec3_make(9, 5, 0));
	struct stability_view view = test_stability(world, PLAIN);
	ck_assert_int_eq(view.verdict, STABILITY_FALLS);
	ck_assert(view.residual == 1);
	ck_assert_uint_eq(view.points, 0);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert(fabs(view.motions[i].acceleration.y + 9.81) < 1e-12);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

START_TEST(a_body_on_a_joint_hangs)
{
	struct world *world = test_world(false, "soft-step");
	body_id ball = test_spawn(world, TEST_SPHERE, vec3_make(0, 5, 0));
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_FIXED;
	joint.joint_create.body_a = ball;
	joint.joint_create.frame_a = joint.joint_create.frame_b = quat_identity();
	joint.joint_create.point_b = vec3_make(0, 5, 0);
	test_do(world, &joint);
	struct stability_view view = test_stability(world, PLAIN);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_uint_eq(view.rows, 6);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

START_TEST(the_answer_leaves_the_world_as_it_is)
{
	struct world *world = ground(false, 0.5);
	for (uint32_t i = 0; i < 4; i++)
		spawn(world, TEST_BOX, vec3_make(0.02 * i, 0.5 + i, 0), 1, 0.5, true);
	for (uint32_t round = 0; round < 3; round++) {
		uint64_t before = test_hash(world);
		struct stability_view view = test_stability(world, PLAIN);
		ck_assert_int_eq(view.verdict, STABILITY_STANDS);
		stability_view_release(&view);
		ck_assert_uint_eq(before, test_hash(world));
		test_step(world, 100); /* asleep in the end */
	}
	world_destroy(world);
}
END_TEST

START_TEST(what_it_cannot_answer_is_refused_by_name)
{
	struct world *world = ground(false, 0.5);
	body_id cube = spawn(world, TEST_BOX, vec3_make(0, 0.5, 0), 1, 0.5, true);
	struct stability_query query = PLAIN;
	query.sides = 7;
	ck_assert_int_eq(refusal(world, query, "sides"), STATUS_RANGE);
	query = PLAIN;
	query.margin = STABILITY_PUSH;
	query.body = 99;
	ck_assert_int_eq(refusal(world, query, "body"), STATUS_UNKNOWN_BODY);
	query.body = 1;
	ck_assert_int_eq(refusal(world, query, "body"), STATUS_RANGE);
	query.body = cube;
	query.direction = vec3_zero();
	ck_assert_int_eq(refusal(world, query, "direction"), STATUS_RANGE);
	query.margin = STABILITY_TILT;
	query.direction = vec3_make(0, 2, 0);
	ck_assert_int_eq(refusal(world, query, "direction"), STATUS_RANGE);
	spawn(world, TEST_BOX, vec3_make(0, 0.7, 0), 1, 0.5, true);
	ck_assert_int_eq(refusal(world, PLAIN, "body"), STATUS_DEGENERATE);
	world_destroy(world);
	world = test_world(false, "soft-step");
	spawn(world, TEST_MESH, vec3_zero(), 0, 0.5, false);
	spawn(world, TEST_BOX, vec3_make(0, 0.5, 0), 1, 0.5, true);
	ck_assert_int_eq(refusal(world, PLAIN, "body"), STATUS_UNSUPPORTED);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("stability_world");
	TCase *tests = tcase_create("stability_world");
	tcase_add_loop_test(tests, a_stack_stands_until_its_overhang_is_too_large, 0, 8);
	tcase_add_loop_test(tests, a_cube_tips_at_one_and_slides_at_its_friction, 0, 4);
	tcase_add_test(tests, bodies_without_support_fall_freely);
	tcase_add_test(tests, a_body_on_a_joint_hangs);
	tcase_add_test(tests, the_answer_leaves_the_world_as_it_is);
	tcase_add_test(tests, what_it_cannot_answer_is_refused_by_name);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
