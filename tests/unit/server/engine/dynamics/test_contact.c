/* What a contact says of its two bodies: the rows that solvers get of it, and the material they make
 * together. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
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

/* The velocity of b's point against a's: what every row of a contact measures along its axis. */
static vec3 relative(const vec3 velocity[2], const vec3 spin[2], const struct contact_point *point)
{
	vec3 at_a = vec3_add(velocity[0], vec3_cross(spin[0], point->arm_a));
	vec3 at_b = vec3_add(velocity[1], vec3_cross(spin[1], point->arm_b));
	return vec3_sub(at_b, at_a);
}

START_TEST(a_row_measures_the_relative_velocity_of_its_point_along_its_axis)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	for (int i = 0; i < 2; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball });
	for (uint32_t round = 0; round < 200; round++) {
		struct contact_state contact = { .body_a = round % 2, .body_b = 1 - round % 2 };
		contact.normal = vec3_normalize(draw(&rng, 1));
		contact.point_count = 2;
		for (int p = 0; p < 2; p++)
			contact.points[p] = (struct contact_point){ .arm_a = draw(&rng, 2),
								    .arm_b = draw(&rng, 2),
								    .separation = 0.1 * p };
		struct row rows[6];
		ck_assert_uint_eq(contact_rows(&stage.dynamics, &contact, true, 10, rows), 6);
		vec3 velocity[2], spin[2];
		for (int i = 0; i < 2; i++) {
			velocity[i] = draw(&rng, 3);
			spin[i] = draw(&rng, 3);
		}
		for (int r = 0; r < 6; r++) {
			const struct row *row = &rows[r];
			ck_assert_uint_eq(row->body_a, contact.body_a);
			ck_assert_uint_eq(row->body_b, contact.body_b);
			vec3 wanted = relative(velocity, spin, &contact.points[r / 3]);
			double found = vec3_dot(row->linear_a, velocity[0]) +
				       vec3_dot(row->angular_a, spin[0]) +
				       vec3_dot(row->linear_b, velocity[1]) +
				       vec3_dot(row->angular_b, spin[1]);
			/* The axis of a row is what it does to b. */
			ck_assert_double_eq_tol(found, vec3_dot(row->linear_b, wanted), 1e-12);
			ck_assert_double_eq_tol(vec3_length(row->linear_b), 1, 1e-12);
			double along = vec3_dot(row->linear_b, contact.normal);
			ck_assert_double_eq_tol(along, r % 3 == 0 ? 1 : 0, 1e-12);
			if (r % 3 != 0)
				ck_assert_uint_eq(row->friction_of, 10 + 3 * (uint32_t)(r / 3));
		}
		ck_assert_double_eq(rows[0].gap, contact.points[0].separation);
		ck_assert_double_eq(rows[3].gap, contact.points[1].separation);
	}
	stage_release(&stage);
}
END_TEST

static double mix(uint8_t rule, double x, double y)
{
	const double mixed[] = { (x + y) / 2, x < y ? x : y, x * y, x > y ? x : y, scalar_sqrt(x * y) };
	return mixed[rule];
}

/* Of two rules the lower one holds, whoever of the two has it and whichever comes first. */
START_TEST(materials_mix_by_the_lower_rule_from_both_sides)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	for (int i = 0; i < 2; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball });
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
				contact_material(&stage.tables, first, 1 - first);
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
	tcase_add_test(contacts, a_row_measures_the_relative_velocity_of_its_point_along_its_axis);
	tcase_add_test(contacts, materials_mix_by_the_lower_rule_from_both_sides);
	suite_add_tcase(suite, contacts);
	return suite;
}

int main(void)
{
	return check_main(make);
}
