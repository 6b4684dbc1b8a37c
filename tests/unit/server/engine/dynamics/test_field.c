/* Solids as distance fields in motion: a small ball falls through a hole, a bowl holds marbles, stacks
 * rest and sleep, collisions gain no energy, and a restored world has the same future (app G-08). */
#include "server/engine/geometry/solid.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/stage.h"

static struct stage stage;

static void set_up(void)
{
	stage_init(&stage, "soft-step");
}

static void tear_down(void)
{
	stage_release(&stage);
}

static uint32_t field_row(struct stage *s, struct shape *mesh, uint32_t cells)
{
	uint32_t row = stage_shape(s, make_field_solid(mesh->mesh, cells));
	shape_release(mesh);
	return row;
}

static uint32_t floor_row(void)
{
	uint32_t row = stage_shape(&stage, make_plane(vec3_make(0, 1, 0), 0));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = row });
	return row;
}

static uint32_t drop(uint32_t shape, vec3 position, double mass)
{
	return stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						      .shape = shape,
						      .position = position,
						      .mass = mass });
}

static vec3 place_of(uint32_t body)
{
	return stage.tables.body.position[body];
}

static bool all_asleep(void)
{
	bool all = true;
	for (uint32_t b = 0; b < stage.tables.body.count; b++)
		all = all && (stage.tables.body.status[b] != BODY_DYNAMIC ||
			      stage.tables.body.sleep_set[b] != 0);
	return all;
}

START_TEST(a_ball_falls_through_the_hole_of_a_ring_and_rests_in_it)
{
	floor_row();
	uint32_t torus = field_row(&stage, make_torus(1, 0.25, 48, 24), 48);
	uint32_t ring = drop(torus, vec3_make(0, 0.3, 0), 0);
	uint32_t small = stage_shape(&stage, make_sphere(0.3));
	uint32_t large = stage_shape(&stage, make_sphere(1.5));
	uint32_t inside = drop(small, vec3_make(0.1, 1.5, 0.05), 0);
	stage_run(&stage, 180);
	/* The ball lies on the floor; a hull of the ring would hold it up at 0.55 m. */
	ck_assert_double_eq_tol(place_of(inside).y, 0.3, 0.02);
	/* A ball too large for the hole rests on the ring. */
	stage_remove(&stage, inside);
	uint32_t above = drop(large, vec3_make(0.02, 2.2, 0.01), 20);
	stage_run(&stage, 300);
	double high = 0.25 + scalar_sqrt(1.75 * 1.75 - 1);
	ck_assert_double_eq_tol(place_of(above).y, high, 0.03);
	ck_assert_double_eq_tol(place_of(ring).y, 0.25, 0.01);
	ck_assert(all_asleep());
}
END_TEST

START_TEST(a_bowl_holds_marbles)
{
	floor_row();
	uint32_t bowl = field_row(&stage, make_bowl(1, 1.2, 32, 8), 40);
	uint32_t dish = drop(bowl, vec3_make(0, 1.2, 0), 0);
	uint32_t marble = stage_shape(&stage, make_sphere(0.12));
	uint32_t peg = stage_shape(&stage, make_capsule(0.1, 0.1));
	uint32_t die = stage_shape(&stage, make_box(0.1, 0.1, 0.1));
	const uint32_t kinds[] = { marble, peg, die };
	uint32_t bodies[9];
	for (uint32_t i = 0; i < 9; i++) {
		double angle = TWO_PI * i / 9;
		double x = 0.35 * trig_cos(angle), z = 0.35 * trig_sin(angle);
		bodies[i] = drop(kinds[i % 3], vec3_make(x, 1.2 + 0.1 * i, z), 0);
	}
	stage_run(&stage, 600);
	vec3 middle = place_of(dish);
	for (uint32_t i = 0; i < 9; i++) {
		vec3 in = vec3_sub(place_of(bodies[i]), middle);
		/* Each marble is below the rim and above the bottom. */
		ck_assert_double_lt(vec3_length(vec3_make(in.x, 0, in.z)), 1);
		ck_assert_double_gt(place_of(bodies[i]).y, 0.2 + 0.08);
		ck_assert_double_lt(place_of(bodies[i]).y, 1);
	}
}
END_TEST

START_TEST(a_stack_of_cubes_comes_to_rest_and_sleeps)
{
	floor_row();
	uint32_t cube = field_row(&stage, make_unit_cube(), 16), bodies[4];
	for (uint32_t i = 0; i < 4; i++)
		bodies[i] =
			drop(cube, vec3_make(0.03 * (i % 2), 0.52 + 1.02 * i, 0.02 * (i / 2)), 0);
	stage_run(&stage, 240);
	for (uint32_t i = 0; i < 4; i++) {
		vec3 p = place_of(bodies[i]);
		ck_assert_double_eq_tol(p.y, 0.5 + i, 0.03);
		ck_assert_double_lt(scalar_abs(p.x) + scalar_abs(p.z), 0.1);
		ck_assert_double_gt(
			quat_rotate(stage.tables.body.rotation[bodies[i]], vec3_make(0, 1, 0)).y,
			0.999);
	}
	ck_assert(all_asleep());
}
END_TEST

START_TEST(fields_rest_on_a_mesh_and_on_parts)
{
	static const vec3 SLABS[2][2] = { { { -0.6, 0.2, 0 }, { 0.5, 0.2, 1 } },
					  { { 0.6, 0.2, 0 }, { 0.5, 0.2, 1 } } };
	uint32_t ground = stage_shape(&stage, make_terrain(16, 1, 0, 1));
	uint32_t slabs = stage_shape(&stage, make_boxes_solid(SLABS, 2));
	uint32_t cube = field_row(&stage, make_unit_cube(), 16);
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = ground });
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = slabs });
	uint32_t over_gap = drop(cube, vec3_make(0, 1, 0), 0);
	uint32_t on_mesh = drop(cube, vec3_make(4.2, 1, 0.3), 0);
	stage_run(&stage, 240);
	ck_assert_double_eq_tol(place_of(over_gap).y, 0.9, 0.02);
	ck_assert_double_eq_tol(place_of(on_mesh).y, 0.5, 0.02);
	ck_assert(all_asleep());
}
END_TEST

START_TEST(a_collision_of_fields_gains_no_energy_and_conserves_momentum)
{
	uint32_t ring = field_row(&stage, make_torus(1, 0.25, 32, 16), 40);
	stage.tables.world.gravity[0] = vec3_zero();
	for (uint32_t i = 0; i < 3; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = ring,
						       .position = { 1.6 * i, 0.2 * i, 0.3 * i },
						       .rotation = quat_from_axis_angle(
							       vec3_axis(0), HALF_PI * (i % 2)),
						       .velocity = { 2.0 - 2 * i, 0, 0 },
						       .spin = { 0.2 * i, 0.5, 0.1 } });
	vec3 momentum = stage_momentum(&stage);
	double most = stage_kinetic(&stage);
	uint32_t touching = 0;
	for (uint32_t tick = 0; tick < 240; tick++) {
		stage_step(&stage);
		touching = MAX_OF(touching, stage.dynamics.report.touching);
		ck_assert_double_le(stage_kinetic(&stage), 1.02 * most);
	}
	ck_assert_uint_gt(touching, 0);
	/* Each body had 2500 kg m/s. */
	ck_assert_double_lt(vec3_distance(stage_momentum(&stage), momentum), 0.02);
}
END_TEST

/* The close pairs and their manifolds are a function of the tables. */
START_TEST(a_restored_heap_of_fields_has_the_same_future)
{
	struct stage other;
	stage_init(&other, "soft-step");
	floor_row();
	uint32_t ring = field_row(&stage, make_torus(0.5, 0.15, 24, 12), 32);
	uint32_t cube = field_row(&stage, make_unit_cube(), 16);
	uint32_t box = stage_shape(&stage, make_box(0.3, 0.2, 0.25));
	uint32_t ball = stage_shape(&stage, make_sphere(0.2));
	for (uint32_t i = 0; i < 5; i++)
		stage_shape(&other, shape_retain(stage.shapes[i]));
	const uint32_t kinds[] = { ring, box, cube, ball };
	for (uint32_t i = 0; i < 10; i++)
		stage_add(&stage, (struct stage_body){
					  .status = BODY_DYNAMIC,
					  .shape = kinds[i % 4],
					  .position = { 0.3 * (i % 2), 1 + 0.8 * i, 0.2 * (i % 3) },
					  .spin = { 0.3 * i, 1, -0.2 * i } });
	uint32_t contacts = 0;
	for (uint32_t tick = 0; tick < 150; tick++) {
		if (tick % 7 == 0)
			stage_restore(&other, &stage);
		stage_step(&stage);
		stage_step(&other);
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&other));
		contacts = MAX_OF(contacts, stage.dynamics.report.contacts);
	}
	ck_assert_uint_gt(contacts, 20);
	for (uint32_t b = 1; b < stage.tables.body.count; b++)
		ck_assert_double_gt(stage.tables.body.position[b].y, -0.1);
	stage_release(&other);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/field");
	TCase *all = tcase_create("fields");
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 20);
	tcase_add_test(all, a_ball_falls_through_the_hole_of_a_ring_and_rests_in_it);
	tcase_add_test(all, a_bowl_holds_marbles);
	tcase_add_test(all, a_stack_of_cubes_comes_to_rest_and_sleeps);
	tcase_add_test(all, fields_rest_on_a_mesh_and_on_parts);
	tcase_add_test(all, a_collision_of_fields_gains_no_energy_and_conserves_momentum);
	tcase_add_test(all, a_restored_heap_of_fields_has_the_same_future);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
