/* Weight and drives: what acts on a body now, asked of one body and of all. */
#include "server/base/rng.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/world/drives.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static vec3 draw(struct rng *rng, double most)
{
	vec3 v;
	v.x = rng_range(rng, -most, most);
	v.y = rng_range(rng, -most, most);
	v.z = rng_range(rng, -most, most);
	return v;
}

static void near(vec3 found, vec3 wanted)
{
	ck_assert_double_lt(vec3_distance(found, wanted), 1e-9 * (1 + vec3_length(wanted)));
}

START_TEST(a_body_feels_its_weight_and_its_own_drives_at_points_that_turn_with_it)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.3, 0.4));
	uint32_t rows[3];
	vec3 force[3], torque[3];
	for (uint32_t i = 0; i < 3; i++) {
		double w = rng_range(&rng, 0.1, 1);
		vec3 v = draw(&rng, 1);
		rows[i] = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								 .shape = box,
								 .position = { 3.0 * i, 0, 0 },
								 .rotation = quat_make(w, v.x, v.y, v.z) });
		force[i] = vec3_make(0, -9.81 * stage.tables.body.mass[rows[i]], 0);
		torque[i] = vec3_zero();
	}
	ck_assert_int_eq(tables_reserve(&stage.tables, TABLE_DRIVE, 12), STATUS_OK);
	for (uint32_t k = 0; k < 12; k++) {
		uint32_t i = k % 3;
		vec3 f = draw(&rng, 50), point = draw(&rng, 1), t = draw(&rng, 20);
		/* Every fourth has had its time. */
		drives_add(&stage.tables, rows[i], f, point, t, k % 4 == 3 ? 0 : 1 + k);
		if (k % 4 == 3)
			continue;
		vec3 arm = quat_rotate(stage.tables.body.rotation[rows[i]], point);
		force[i] = vec3_add(force[i], f);
		torque[i] = vec3_add(torque[i], vec3_add(t, vec3_cross(arm, f)));
	}
	uint32_t numbered[3];
	vec3 forces[3], torques[3];
	dynamics_number_awake(&stage.dynamics, numbered);
	dynamics_forces(&stage.dynamics, forces, torques, 3);
	for (uint32_t i = 0; i < 3; i++) {
		vec3 f, t;
		dynamics_force(&stage.dynamics, rows[i], &f, &t);
		near(f, force[i]);
		near(t, torque[i]);
		uint32_t slot = stage.dynamics.bodies.items[rows[i]].slot;
		ck_assert_uint_eq(numbered[slot], rows[i]);
		near(forces[slot], force[i]);
		near(torques[slot], torque[i]);
	}
	stage_release(&stage);
}
END_TEST

START_TEST(what_is_not_dynamic_feels_nothing)
{
	static const uint8_t statuses[] = { BODY_STATIC, BODY_ANIMATED, BODY_INACTIVE };
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.3, 0.4));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = statuses[_i],
							      .shape = box,
							      .velocity = { 1, 0, 0 } });
	ck_assert_int_eq(tables_reserve(&stage.tables, TABLE_DRIVE, 1), STATUS_OK);
	drives_add(&stage.tables, row, vec3_make(1, 2, 3), vec3_make(1, 0, 0), vec3_make(4, 5, 6), 9);
	vec3 force = vec3_all(7), torque = vec3_all(7);
	dynamics_force(&stage.dynamics, row, &force, &torque);
	ck_assert(vec3_equal(force, vec3_zero()) && vec3_equal(torque, vec3_zero()));
	uint32_t numbered[1];
	vec3 forces[1] = { vec3_all(7) }, torques[1] = { vec3_all(7) };
	uint32_t awake = stage.dynamics.awake.count;
	ck_assert_uint_eq(awake, statuses[_i] == BODY_ANIMATED);
	dynamics_number_awake(&stage.dynamics, numbered);
	dynamics_forces(&stage.dynamics, forces, torques, awake);
	if (awake > 0)
		ck_assert(vec3_equal(forces[0], vec3_zero()) && vec3_equal(torques[0], vec3_zero()));
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/force");
	TCase *forces = tcase_create("forces");
	tcase_add_test(forces, a_body_feels_its_weight_and_its_own_drives_at_points_that_turn_with_it);
	tcase_add_loop_test(forces, what_is_not_dynamic_feels_nothing, 0, 3);
	suite_add_tcase(suite, forces);
	return suite;
}

int main(void)
{
	return check_main(make);
}
