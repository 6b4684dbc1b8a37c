/* Bodies that are small beside the springs of soft-step's contacts: how deep they lie, and that they are
 * counted. */
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

/* Two cubes of half width `half`, one on the other, that cannot turn; after some seconds. */
struct pair_of_cubes {
	double lower, upper; /* m: how far each is too low */
	uint32_t sagging;    /* in the last tick */
};

static struct pair_of_cubes stack_two(double half, double substeps, double hertz)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(&stage, PARAMETER_SUBSTEPS, substeps);
	stage_parameter(&stage, PARAMETER_CONTACT_HERTZ, hertz);
	stage_ground(&stage);
	uint32_t cube = stage_shape(&stage, make_box(half, half, half)), rows[2];
	for (uint32_t i = 0; i < 2; i++)
		rows[i] = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = cube,
						     .position = { 0, (1 + 2 * i) * half, 0 } });
	stage_run(&stage, 300);
	const vec3 *at = stage.tables.body.position;
	struct pair_of_cubes out = { half - at[rows[0]].y, 3 * half - at[rows[1]].y,
				     stage.dynamics.report.sagging };
	stage_release(&stage);
	return out;
}

static double depth_at(double substeps, double hertz)
{
	double rate = TWO_PI * scalar_min(hertz, 0.16 * 60 * substeps);
	return 2 * 9.81 / (rate * rate);
}

/* The lower cube carries two on a spring of twice the frequency, the upper one lies 2 g / ω² in it; the
 * depths do not depend on the size. */
START_TEST(contacts_give_way_by_a_length_of_their_own)
{
	static const double halves[] = { 0.5, 0.02, 0.002 };
	for (uint32_t k = 0; k < COUNT_OF(halves); k++) {
		struct pair_of_cubes at = stack_two(halves[k], 4, 60);
		double depth = depth_at(4, 60);
		ck_assert_double_eq_tol(at.upper - at.lower, depth, 0.15 * depth);
		ck_assert_double_eq_tol(at.lower, 0.25 * depth, 0.15 * depth);
		ck_assert_uint_eq(at.sagging, 0);
	}
}
END_TEST

START_TEST(bodies_that_contacts_do_not_carry_are_counted)
{
	struct pair_of_cubes at = stack_two(2e-4, 4, 60);
	ck_assert_uint_eq(at.sagging, 2);
	ck_assert_double_gt(at.upper, 2e-4); /* it is in the lower one */
	/* 64 sub-steps and stiff springs carry them. */
	at = stack_two(2e-4, 64, 1000);
	ck_assert_uint_eq(at.sagging, 0);
	ck_assert_double_lt(at.upper, 1e-5);
	/* The count begins at four depths. */
	double least = 4 * depth_at(4, 60);
	ck_assert_uint_eq(stack_two(0.99 * least, 4, 60).sagging, 2);
	ck_assert_uint_eq(stack_two(1.01 * least, 4, 60).sagging, 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/soft_small");
	TCase *tcase = tcase_create("small");
	tcase_add_test(tcase, contacts_give_way_by_a_length_of_their_own);
	tcase_add_test(tcase, bodies_that_contacts_do_not_carry_are_counted);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
