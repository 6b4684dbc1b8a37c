/* The rows of the checklists that need a world, under `impact` (METHODS.md has their names):
 * each case has the row's numbers. What closed forms say beyond the rows is in test_impact. */
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static void open_stage(struct stage *stage, double dt, vec3 gravity)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	stage->tables.world.gravity[0] = gravity;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
}

static uint32_t add(struct stage *stage, uint8_t status, uint32_t shape, vec3 at, vec3 velocity,
		    double mass, double restitution)
{
	return stage_add(stage, (struct stage_body){ .status = status,
						     .shape = shape,
						     .position = at,
						     .velocity = velocity,
						     .mass = mass,
						     .friction = -1,
						     .restitution = restitution });
}

/* The part of the tick at which the first contact of the last step began; infinite: none. */
static double first_begin(const struct stage *stage)
{
	double first = __builtin_inf();
	for (uint32_t i = 0; i < stage->dynamics.events.count; i++)
		if (stage->dynamics.events.items[i].kind == EVENT_CONTACT_BEGIN)
			first = scalar_min(first, stage->dynamics.events.items[i].fraction);
	return first;
}

/* N: the normal forces of a body's contacts in the last tick. */
static double force_on(const struct stage *stage, uint32_t body)
{
	const struct contact_table *contact = &stage->tables.contact;
	double sum = 0;
	for (uint32_t row = 0; row < contact->count; row++)
		if (contact->used[row] && (contact_body_a(&stage->tables, row) == body ||
					   contact_body_b(&stage->tables, row) == body))
			for (uint32_t k = 0; k < MANIFOLD_POINTS_MAX; k++)
				sum += contact->normal_impulse[row][k];
	return sum / stage->dt;
}

START_TEST(a_particle_between_walls_ends_within_its_cap)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 24, vec3_zero());
	uint32_t wall = stage_shape(&stage, make_box(0.5, 1, 1));
	uint32_t dot = stage_shape(&stage, make_sphere(1e-3));
	add(&stage, BODY_STATIC, wall, vec3_make(-0.551, 0, 0), vec3_zero(), 0, 1);
	add(&stage, BODY_STATIC, wall, vec3_make(0.551, 0, 0), vec3_zero(), 0, 1);
	uint32_t ball = add(&stage, BODY_DYNAMIC, dot, vec3_zero(), vec3_make(1000, 0, 0), 1, 1);
	stage_step(&stage);
	ck_assert_uint_gt(stage.dynamics.report.fallbacks, 0);
	ck_assert_double_le(scalar_abs(stage.tables.body.velocity[ball].x), 1e-9);
	ck_assert_double_le(scalar_abs(stage.tables.body.position[ball].x), 0.05 + 1e-6);
	stage_release(&stage);
}
END_TEST

/* Half widths, places, velocities (a tick is 1 s), and the part of it at which they meet. */
static const struct meeting {
	vec3 half_a, half_b, at_a, at_b, moves_a, moves_b;
	double when;
} MEETINGS[] = {
	{ { 0.05, 0.05, 0.05 },
	  { 0.005, 1, 1 },
	  { -5, 0, 0 },
	  { 0, 0, 0 },
	  { 10, 0, 0 },
	  { 0, 0, 0 },
	  0.4945 },
	{ { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, { 10, 0, 0 }, { 8, 0, 0 }, { -8, 0, 0 }, 0.5 },
	{ { 1, 1, 1 },
	  { 1, 1, 1 },
	  { 0, 0, 0 },
	  { 10, 0, 0 },
	  { 2, 0, 0 },
	  { -2, 0, 0 },
	  __builtin_inf() },
	{ { 0.5, 0.5, 0.5 },
	  { 0.5, 0.5, 0.5 },
	  { 0, 0, 0 },
	  { 2, 0, 0 },
	  { 4, 0, 0 },
	  { 0, 0, 0 },
	  0.25 },
	{ { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, { 10, 0.5, 0 }, { 10, 0, 0 }, { 0, 0, 0 }, 0.8 },
	{ { 1, 1, 1 },
	  { 1, 1, 1 },
	  { 0, 0, 0 },
	  { 10, 2.5, 0 },
	  { 10, 0, 0 },
	  { 0, 0, 0 },
	  __builtin_inf() },
	/* Plates that pass each other by 1 mm, and overlap by as much. */
	{ { 1, 0.005, 1 },
	  { 1, 0.005, 1 },
	  { -5, 0, 0 },
	  { 5, 0.011, 0 },
	  { 100, 0, 0 },
	  { -100, 0, 0 },
	  __builtin_inf() },
	{ { 1, 0.005, 1 },
	  { 1, 0.005, 1 },
	  { -5, 0, 0 },
	  { 5, 0.009, 0 },
	  { 100, 0, 0 },
	  { -100, 0, 0 },
	  0.04 },
};

START_TEST(events_have_the_times_of_the_book)
{
	for (uint32_t k = 0; k < COUNT_OF(MEETINGS); k++) {
		struct stage stage;
		open_stage(&stage, 1, vec3_zero());
		vec3 a = MEETINGS[k].half_a, b = MEETINGS[k].half_b;
		add(&stage, BODY_DYNAMIC, stage_shape(&stage, make_box(a.x, a.y, a.z)),
		    MEETINGS[k].at_a, MEETINGS[k].moves_a, 1, 1);
		bool rests = vec3_equal(MEETINGS[k].moves_b, vec3_zero());
		add(&stage, rests ? BODY_STATIC : BODY_DYNAMIC,
		    stage_shape(&stage, make_box(b.x, b.y, b.z)), MEETINGS[k].at_b,
		    MEETINGS[k].moves_b, 1, 1);
		stage_step(&stage);
		double when = first_begin(&stage);
		ck_assert_msg(when == MEETINGS[k].when ||
				      scalar_abs(when - MEETINGS[k].when) <= 1e-9,
			      "row %u: met at %.12g, expected %g", k, when, MEETINGS[k].when);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(the_remainder_of_a_tick_is_moved)
{
	struct stage stage;
	open_stage(&stage, 0.1, vec3_zero());
	add(&stage, BODY_STATIC, stage_shape(&stage, make_box(0.5, 1, 1)), vec3_make(-1, 0, 0),
	    vec3_zero(), 0, 1);
	uint32_t ball = add(&stage, BODY_DYNAMIC, stage_shape(&stage, make_sphere(0.1)),
			    vec3_make(0.1, 0, 0), vec3_make(-10, 0, 0), 1, 1);
	stage_step(&stage);
	ck_assert_double_eq_tol(stage.tables.body.position[ball].x, 0.1, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x, 10, 1e-12);
	stage_release(&stage);
}
END_TEST

START_TEST(two_balls_exchange_what_restitution_says)
{
	static const double expected[2][2] = { { -1, -1 }, { 1, -2 } };
	for (uint32_t e = 0; e < 2; e++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, vec3_zero());
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		uint32_t one = add(&stage, BODY_DYNAMIC, ball, vec3_make(1.01, 0, 0),
				   vec3_make(-3, 0, 0), 1, e);
		uint32_t two = add(&stage, BODY_DYNAMIC, ball, vec3_zero(), vec3_zero(), 2, e);
		stage_step(&stage);
		ck_assert_double_eq_tol(stage.tables.body.velocity[one].x, expected[e][0], 1e-12);
		ck_assert_double_eq_tol(stage.tables.body.velocity[two].x, -1 * (e == 0 ? 1 : 2),
					1e-12);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(an_impact_off_centre_turns_a_cube)
{
	struct stage stage;
	open_stage(&stage, 1e-3, vec3_zero());
	add(&stage, BODY_STATIC, stage_shape(&stage, make_sphere(0.25)),
	    vec3_make(0.5, -0.75005, 0), vec3_zero(), 0, 0.5);
	uint32_t cube = add(&stage, BODY_DYNAMIC, stage_shape(&stage, make_box(0.5, 0.5, 0.5)),
			    vec3_zero(), vec3_make(0, -1, 0), 1, 0.5);
	stage_step(&stage);
	ck_assert_double_eq_tol(stage.tables.body.velocity[cube].y, -0.4, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.angular_velocity[cube].z, 1.8, 1e-9);
	stage_release(&stage);
}
END_TEST

START_TEST(a_sphere_slides_or_sticks_by_the_critical_friction)
{
	static const double frictions[] = { 0.1, 0.5 }, slips[] = { 0.475, 0 };
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		open_stage(&stage, 1e-3, vec3_zero());
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] = frictions[k];
		stage.tables.body.dynamic_friction[ground] = frictions[k];
		uint32_t ball = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = stage_shape(&stage, make_sphere(1)),
						     .position = { 0, 1.0001, 0 },
						     .velocity = { 1, -1, 0 },
						     .mass = 1,
						     .friction = frictions[k],
						     .restitution = 0.5 });
		stage_step(&stage);
		double slip = stage.tables.body.velocity[ball].x +
			      stage.tables.body.angular_velocity[ball].z;
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].y, 0.5, 1e-12);
		ck_assert_double_eq_tol(slip, slips[k], 1e-12);
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x,
					1 - (k == 0 ? 0.15 : 2.0 / 7), 1e-12);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(three_balls_are_one_group)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_zero());
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	static const double before[] = { 1, 0, -0.5 }, after[] = { -2.0 / 3, 1.0 / 3, 5.0 / 6 };
	for (uint32_t i = 0; i < 3; i++)
		add(&stage, BODY_DYNAMIC, ball, vec3_make(i, 0, 0), vec3_make(before[i], 0, 0), 1,
		    1);
	stage_step(&stage);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_eq_tol(stage.tables.body.velocity[i].x, after[i], 1e-12);
	stage_release(&stage);
}
END_TEST

START_TEST(contact_forces_carry_weights)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_make(0, -9.81, 0));
	uint32_t ground = stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	add(&stage, BODY_DYNAMIC, box, vec3_make(0, 0.5, 0), vec3_zero(), 2, 0);
	uint32_t top = add(&stage, BODY_DYNAMIC, box, vec3_make(0, 1.5, 0), vec3_zero(), 1, 0);
	uint32_t falls = add(&stage, BODY_DYNAMIC, box, vec3_make(50, 100, 0), vec3_zero(), 1, 0);
	stage_run(&stage, 60);
	ck_assert_double_eq_tol(force_on(&stage, top), 9.81, 1e-9);
	ck_assert_double_eq_tol(force_on(&stage, ground), 29.43, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.position[falls].y, 100 - 4.905, 1e-11);
	/* Pulled up by 20 N a kilogram in all: no force, 10.19 m/s². */
	stage.tables.world.gravity[0] = vec3_make(0, 10.19, 0);
	stage_step(&stage);
	ck_assert_double_eq(force_on(&stage, ground), 0);
	ck_assert_double_eq_tol(stage.tables.body.velocity[top].y, 10.19 / 60, 1e-12);
	stage_release(&stage);
}
END_TEST

START_TEST(a_sphere_on_a_slope_rolls_or_slides)
{
	static const double frictions[] = { 0.5, 0.1 }, a[] = { 3.503571, 4.055429 },
			    forces[] = { 1.401429, 0.849571 }, alphas[] = { 3.503571, 2.123928 };
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		double angle = PI / 6;
		open_stage(&stage, 1.0 / 240,
			   vec3_make(9.81 * trig_sin(angle), -9.81 * trig_cos(angle), 0));
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] = frictions[k];
		stage.tables.body.dynamic_friction[ground] = frictions[k];
		uint32_t ball = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = stage_shape(&stage, make_sphere(1)),
						     .position = { 0, 1, 0 },
						     .mass = 1,
						     .friction = frictions[k] });
		stage_run(&stage, 240);
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x, a[k], 1e-6);
		ck_assert_double_eq_tol(-stage.tables.body.angular_velocity[ball].z, alphas[k],
					1e-6);
		ck_assert_double_eq_tol(9.81 * 0.5 - stage.tables.body.velocity[ball].x, forces[k],
					1e-6);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_contact_that_an_impulse_opens_has_no_force)
{
	/* A ball rests on another, which another hits from above at its side, or not at all. */
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_zero());
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t a = add(&stage, BODY_DYNAMIC, ball, vec3_zero(), vec3_zero(), 1, 1);
	uint32_t b = add(&stage, BODY_DYNAMIC, ball, vec3_make(1, 0, 0), vec3_zero(), 1, 1);
	add(&stage, BODY_DYNAMIC, ball, vec3_make(0.01, 1.05, 0), vec3_make(0, -9, 0), 1, 1);
	stage_step(&stage);
	ck_assert_double_eq(force_on(&stage, b), 0);
	ck_assert_double_eq(vec3_length(stage.tables.body.velocity[b]), 0);
	ck_assert_double_lt(stage.tables.body.velocity[a].y, -8);
	stage_release(&stage);
}
END_TEST

START_TEST(packed_balls_above_the_cap_end_inelastic)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_zero());
	stage_parameter(&stage, PARAMETER_IMPACT_ROUNDS, 3);
	uint32_t ball = stage_shape(&stage, make_sphere(0.1));
	for (uint32_t i = 0; i < 50; i++) {
		vec3 at = vec3_make(0.22 * (i % 4), 0.22 * (i / 4 % 4), 0.22 * (i / 16));
		vec3 inward = vec3_scale(vec3_sub(vec3_all(0.33), at), 80);
		add(&stage, BODY_DYNAMIC, ball, at,
		    vec3_add(inward, vec3_make(0.1 * (i % 3), 0.07 * (i % 5), 0)), 1, 1);
	}
	double before = stage_kinetic(&stage);
	vec3 momentum = stage_momentum(&stage);
	stage_run(&stage, 3);
	ck_assert_double_lt(stage_kinetic(&stage), before);
	ck_assert_double_le(vec3_distance(stage_momentum(&stage), momentum), 1e-12 * 50 * 40);
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: the book's rows");
	TCase *tcase = tcase_create("book");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_particle_between_walls_ends_within_its_cap);
	tcase_add_test(tcase, events_have_the_times_of_the_book);
	tcase_add_test(tcase, the_remainder_of_a_tick_is_moved);
	tcase_add_test(tcase, two_balls_exchange_what_restitution_says);
	tcase_add_test(tcase, an_impact_off_centre_turns_a_cube);
	tcase_add_test(tcase, a_sphere_slides_or_sticks_by_the_critical_friction);
	tcase_add_test(tcase, three_balls_are_one_group);
	tcase_add_test(tcase, contact_forces_carry_weights);
	tcase_add_test(tcase, a_sphere_on_a_slope_rolls_or_slides);
	tcase_add_test(tcase, a_contact_that_an_impulse_opens_has_no_force);
	tcase_add_test(tcase, packed_balls_above_the_cap_end_inelastic);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
