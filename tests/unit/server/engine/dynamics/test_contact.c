/* The material of a contact, mixed from the materials of its two pieces. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static double mix(uint8_t rule, double x, double y)
{
	const double mixed[] = { (x + y) / 2, x < y ? x : y, x * y, x > y ? x : y,
				 scalar_sqrt(x * y) };
	return mixed[rule];
}

/* The lower of the two pieces' rules applies, whichever piece has it. The mix is symmetric. */
START_TEST(materials_mix_by_the_lower_rule_from_both_sides)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	for (int i = 0; i < 2; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball });
	const struct contact_piece piece[2] = { { .placement = 0 }, { .placement = 1 } };
	struct body_table *body = &stage.tables.body;
	for (uint32_t round = 0; round < 1000; round++) {
		for (int i = 0; i < 2; i++) {
			body->static_friction[i] = rng_range(&rng, 0, 2);
			body->dynamic_friction[i] = body->static_friction[i] * rng_double(&rng);
			body->restitution[i] = rng_double(&rng);
			body->friction_rule[i] = (uint8_t)rng_below(&rng, 5);
			body->restitution_rule[i] = (uint8_t)rng_below(&rng, 5);
		}
		uint8_t friction = MIN_OF(body->friction_rule[0], body->friction_rule[1]);
		uint8_t restitution = MIN_OF(body->restitution_rule[0], body->restitution_rule[1]);
		double held = mix(friction, body->static_friction[0], body->static_friction[1]);
		double slid = mix(friction, body->dynamic_friction[0], body->dynamic_friction[1]);
		double back = mix(restitution, body->restitution[0], body->restitution[1]);
		for (uint32_t first = 0; first < 2; first++) {
			struct contact_material found =
				contact_material(&stage.dynamics, piece[first], piece[1 - first]);
			ck_assert_double_eq_tol(found.static_friction, held, 1e-14);
			ck_assert_double_eq_tol(found.dynamic_friction, slid, 1e-14);
			ck_assert_double_eq_tol(found.restitution, back, 1e-14);
		}
	}
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/contact");
	TCase *contacts = tcase_create("contacts");
	tcase_add_test(contacts, materials_mix_by_the_lower_rule_from_both_sides);
	suite_add_tcase(suite, contacts);
	return suite;
}

int main(void)
{
	return check_main(make);
}
