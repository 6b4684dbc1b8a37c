/* Motion without contact, against closed forms. */
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <math.h>

START_TEST(a_thrown_body_follows_its_parabola_exactly)
{
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = ball,
							      .position = { 1, 2, 3 },
							      .velocity = { 4, 5, 6 } });
	stage_run(&stage, 120);
	vec3 at = stage.tables.body.position[row];
	ck_assert(vec3_distance(at, vec3_make(9, 12 - 0.5 * 9.81 * 4, 15)) < 1e-11);
	ck_assert(scalar_near(stage.tables.body.velocity[row].y, 5 - 19.62, 1e-12));
	stage_release(&stage);
}
END_TEST

START_TEST(a_force_off_the_centre_turns_the_body_and_moves_its_centre)
{
	struct stage stage;
	stage_init(&stage, "free");
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball, .mass = 2 });
	ck_assert_int_eq(tables_reserve(&stage.tables, TABLE_DRIVE, 2), STATUS_OK);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t drive = tables_append(&stage.tables, TABLE_DRIVE);
		stage.tables.drive.body[drive] = row;
		stage.tables.drive.force[drive] = vec3_make(0, 3, 0);
		stage.tables.drive.point[drive] = vec3_make(0.5, 0, 0);
		stage.tables.drive.ticks[drive] = 1;
	}
	stage_step(&stage);
	double inertia = 0.4 * 2 * 0.25;
	ck_assert(scalar_near(stage.tables.body.velocity[row].y, 6.0 / 2 / 60, 1e-12));
	ck_assert(
		scalar_near(stage.tables.body.angular_velocity[row].z, 3.0 / inertia / 60, 1e-12));
	stage_release(&stage);
}
END_TEST

/* φ = φ₀ + ω t + α t²/2: the angle follows it as a falling body follows its parabola. */
START_TEST(a_body_under_torque_follows_its_parabola_of_angles_exactly)
{
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = ball,
							      .spin = { 0, 0, 0.5 },
							      .mass = 2 });
	ck_assert_int_eq(tables_reserve(&stage.tables, TABLE_DRIVE, 1), STATUS_OK);
	uint32_t drive = tables_append(&stage.tables, TABLE_DRIVE);
	double inertia = 0.4 * 2 * 0.25;
	stage.tables.drive.body[drive] = row;
	stage.tables.drive.torque[drive] = vec3_make(0, 0, inertia * 0.8);
	stage.tables.drive.ticks[drive] = UINT32_MAX;
	stage_run(&stage, 60);
	quat turned = stage.tables.body.rotation[row];
	ck_assert_double_eq_tol(stage.tables.body.angular_velocity[row].z, 0.5 + 0.8, 1e-12);
	ck_assert_double_eq_tol(2 * atan2(turned.z, turned.w), 0.5 + 0.5 * 0.8, 1e-9);
	stage_release(&stage);
}
END_TEST

START_TEST(energy_neither_grows_nor_decays_in_a_throw)
{
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .velocity = { 3, 12, -4 },
					       .spin = { 1, 2, 3 } });
	double before = stage_kinetic(&stage) + stage_potential(&stage);
	for (uint32_t tick = 0; tick < 240; tick++) {
		stage_step(&stage);
		double now = stage_kinetic(&stage) + stage_potential(&stage);
		ck_assert(scalar_near(now, before, 1e-11 * before));
	}
	stage_release(&stage);
}
END_TEST

START_TEST(bodies_pass_through_each_other)
{
	struct stage stage;
	stage_init(&stage, "free");
	stage_stack(&stage, 3);
	stage_run(&stage, 60);
	for (uint32_t row = 1; row < stage.tables.body.count; row++)
		ck_assert(stage.tables.body.position[row].y < row - 4.5);
	ck_assert_uint_eq(stage.tables.contact.count, 0);
	stage_release(&stage);
}
END_TEST

START_TEST(soft_step_equals_free_where_nothing_touches)
{
	struct stage free, soft;
	stage_init(&free, "free");
	stage_init(&soft, "soft-step");
	struct stage *both[] = { &free, &soft };
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t brick = stage_shape(both[i], make_box(0.2, 0.4, 0.6));
		stage_add(both[i], (struct stage_body){ .status = BODY_DYNAMIC,
							.shape = brick,
							.velocity = { 1, 5, 2 },
							.spin = { 1, 2, 3 } });
		stage_run(both[i], 60);
	}
	/* Positions differ by the steps' first order in h: g t h / 2 over four sub-steps. */
	ck_assert(vec3_distance(free.tables.body.position[0], soft.tables.body.position[0]) < 0.03);
	ck_assert(vec3_distance(free.tables.body.velocity[0], soft.tables.body.velocity[0]) < 1e-5);
	double energy = stage_kinetic(&free);
	ck_assert(scalar_near(stage_kinetic(&soft), energy, 0.02 * energy));
	stage_release(&free);
	stage_release(&soft);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/free");
	TCase *free = tcase_create("free");
	tcase_add_test(free, a_thrown_body_follows_its_parabola_exactly);
	tcase_add_test(free, a_force_off_the_centre_turns_the_body_and_moves_its_centre);
	tcase_add_test(free, a_body_under_torque_follows_its_parabola_of_angles_exactly);
	tcase_add_test(free, energy_neither_grows_nor_decays_in_a_throw);
	tcase_add_test(free, bodies_pass_through_each_other);
	tcase_add_test(free, soft_step_equals_free_where_nothing_touches);
	suite_add_tcase(suite, free);
	return suite;
}

int main(void)
{
	return check_main(make);
}
