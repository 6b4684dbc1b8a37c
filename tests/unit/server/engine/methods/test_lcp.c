/* The prototype of lcp, its agreement with soft-step, and that methods can be switched. */
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <string.h>

static uint32_t add_ball(struct stage *stage, vec3 at, double radius)
{
	uint32_t ball = stage_shape(stage, make_sphere(radius));
	return stage_add(stage, (struct stage_body){
					.status = BODY_DYNAMIC, .shape = ball, .position = at });
}

/* Impulse of the ground on everything, of the last tick. */
static double ground_impulse(const struct stage *stage)
{
	double sum = 0;
	for (uint32_t row = 0; row < stage->tables.contact.count; row++)
		if (stage->tables.contact.used[row] && stage->tables.contact.placement_a[row] == 0)
			for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX; p++)
				sum += stage->tables.contact.normal_impulse[row][p];
	return sum;
}

START_TEST(lcp_and_soft_step_agree_on_the_force_under_a_resting_ball)
{
	static const char *const names[] = { "lcp", "soft-step" };
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		struct stage stage;
		stage_init(&stage, names[i]);
		stage_ground(&stage);
		uint32_t ball = add_ball(&stage, vec3_make(0, 0.5, 0), 0.5);
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		stage_run(&stage, 180);
		double weight = stage.tables.body.mass[ball] * 9.81 * stage.dt;
		double carried = ground_impulse(&stage);
		ck_assert_msg(scalar_near(carried, weight, 1e-4 * weight), "%s: %g of %g", names[i],
			      carried, weight);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(the_residual_is_small_where_there_are_enough_sweeps)
{
	struct stage stage;
	stage_init(&stage, "lcp");
	stage_ground(&stage);
	for (uint32_t i = 0; i < 4; i++)
		add_ball(&stage, vec3_make(0, 0.5 + i, 0), 0.5);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(&stage, PARAMETER_LCP_ITERATIONS, 2000);
	stage_run(&stage, 60);
	ck_assert(stage.dynamics.report.residual <= 1e-12);
	ck_assert_uint_lt(stage.dynamics.report.iterations, 2000);
	stage_parameter(&stage, PARAMETER_LCP_ITERATIONS, 1);
	stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.report.iterations, 1);
	stage_release(&stage);
}
END_TEST

START_TEST(an_inelastic_impact_leaves_no_approach)
{
	struct stage stage;
	stage_init(&stage, "lcp");
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t a = add_ball(&stage, vec3_make(-1, 0, 0), 0.5);
	uint32_t b = add_ball(&stage, vec3_make(0.5, 0, 0), 0.5);
	stage.tables.body.velocity[a] = vec3_make(3, 0, 0);
	vec3 momentum = stage_momentum(&stage);
	stage_run(&stage, 30);
	ck_assert(scalar_near(stage.tables.body.velocity[a].x, 1.5, 1e-9));
	ck_assert(scalar_near(stage.tables.body.velocity[b].x, 1.5, 1e-9));
	ck_assert(vec3_distance(stage_momentum(&stage), momentum) < 1e-9 * momentum.x);
	stage_release(&stage);
}
END_TEST

START_TEST(planar_polygons_stack_under_lcp)
{
	static const vec3 ground[] = { { -20, -1, 0 }, { 20, -1, 0 }, { 20, 0, 0 }, { -20, 0, 0 } };
	static const vec3 square[] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	struct stage stage;
	stage_init(&stage, "free");
	stage.tables.world.planar[0] = 1;
	uint32_t floor = stage_shape(&stage, make_polygon(ground, 4, 0));
	uint32_t piece = stage_shape(&stage, make_polygon(square, 4, 0));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	for (uint32_t i = 0; i < 3; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = piece,
						       .position = { 0.1 * i, 0.5 + i, 0 } });
	stage_method(&stage, "lcp");
	stage_run(&stage, 120);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert(scalar_near(stage.tables.body.position[i + 1].y, 0.5 + i, 0.02));
	stage_release(&stage);
}
END_TEST

START_TEST(lcp_says_which_body_it_cannot_move)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_stack(&stage, 1);
	struct reason why;
	ck_assert_int_eq(method_lcp.supports(&stage.dynamics, &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.text, "lcp needs spheres, planes or polygons: body 2 is a box");
	struct command command = { .op = COMMAND_SPAWN };
	const struct shape *box = stage.shapes[1], *plane = stage.shapes[0];
	ck_assert_int_eq(method_lcp.admit(&stage.dynamics, &command, &box, 1, &why),
			 STATUS_METHOD_REFUSES);
	ck_assert(strstr(why.text, "box") != NULL);
	ck_assert_int_eq(method_lcp.admit(&stage.dynamics, &command, &plane, 1, &why), STATUS_OK);
	command.op = COMMAND_REMOVE;
	ck_assert_int_eq(method_lcp.admit(&stage.dynamics, &command, &box, 1, &why), STATUS_OK);
	stage_release(&stage);
}
END_TEST

/* Soft-step, lcp, free, lcp, soft-step, with a restored copy beside it and its caches made anew. */
START_TEST(switching_methods_and_restoring_give_equal_hashes)
{
	static const char *const order[] = { "soft-step", "lcp", "free", "lcp", "soft-step" };
	struct stage first, second;
	stage_init(&first, "soft-step");
	stage_init(&second, "soft-step");
	stage_ground(&first);
	stage_bomb(&first, 20, 4);
	stage_run(&first, 10);
	stage_restore(&second, &first);
	for (uint32_t i = 0; i < COUNT_OF(order); i++) {
		stage_method(&first, order[i]);
		stage_method(&second, order[i]);
		for (uint32_t tick = 0; tick < 15; tick++) {
			stage_step(&first);
			stage_step(&second);
			ck_assert_uint_eq(stage_hash(&second), stage_hash(&first));
		}
		stage_restore(&second, &first);
	}
	for (uint32_t row = 1; row < first.tables.body.count; row++)
		ck_assert_uint_eq(first.tables.body.quarantined[row], 0);
	stage_release(&first);
	stage_release(&second);
}
END_TEST

START_TEST(a_method_begins_from_what_is_neutral_alone)
{
	/* Two ways to the same bodies: resting under soft-step and lcp leaves different multipliers, which
	 * must not reach the method that follows. */
	struct stage first, second;
	stage_init(&first, "soft-step");
	stage_init(&second, "soft-step");
	stage_ground(&first);
	add_ball(&first, vec3_make(0, 0.5, 0), 0.5);
	stage_run(&first, 20);
	stage_restore(&second, &first);
	memset(second.tables.contact.multiplier[0], 0, sizeof second.tables.contact.multiplier[0]);
	second.tables.contact.multiplier[0][0] = 7;
	stage_method(&first, "lcp");
	stage_method(&second, "lcp");
	stage_step(&first);
	stage_step(&second);
	ck_assert_uint_eq(stage_hash(&second), stage_hash(&first));
	stage_release(&first);
	stage_release(&second);
}
END_TEST

START_TEST(methods_are_found_by_name_and_by_number)
{
	uint32_t count;
	const struct method *const *list = method_list(&count);
	ck_assert_uint_eq(count, 3);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_ptr_eq(method_find(list[i]->name), list[i]);
		ck_assert_ptr_eq(method_by_number(list[i]->number), list[i]);
	}
	ck_assert_ptr_null(method_find("soft"));
	ck_assert_ptr_null(method_by_number(0));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/lcp");
	TCase *lcp = tcase_create("lcp");
	tcase_add_test(lcp, lcp_and_soft_step_agree_on_the_force_under_a_resting_ball);
	tcase_add_test(lcp, the_residual_is_small_where_there_are_enough_sweeps);
	tcase_add_test(lcp, an_inelastic_impact_leaves_no_approach);
	tcase_add_test(lcp, planar_polygons_stack_under_lcp);
	tcase_add_test(lcp, lcp_says_which_body_it_cannot_move);
	suite_add_tcase(suite, lcp);
	TCase *methods = tcase_create("methods");
	tcase_add_test(methods, switching_methods_and_restoring_give_equal_hashes);
	tcase_add_test(methods, a_method_begins_from_what_is_neutral_alone);
	tcase_add_test(methods, methods_are_found_by_name_and_by_number);
	suite_add_tcase(suite, methods);
	return suite;
}

int main(void)
{
	return check_main(make);
}
