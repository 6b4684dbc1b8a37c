/* test_gauss.c: `gauss` (papers ): the accelerations with which towers begin to fall, which of
 * them stand, the two forms of separation, impacts, energy, mirrored towers, boxes in space against squares
 * in the plane, refusals, and what every method must do. Bricks are squares and cubes of 1 m and 1 kg. */
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include "server/base/bytes.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"

#include <math.h>

#define SPACING 1.002 /* m, of neighbours in a row */
enum { BRICKS_MAX = 64 };

struct tower {
	struct world *world;
	bool planar;
	body_id bricks[BRICKS_MAX];
	uint32_t count;
};

static void set(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

static body_id spawn(struct world *world, enum test_shape shape, vec3 at, uint8_t status,
		     double mass, vec3 velocity)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, at, &item);
	command.spawn.status = status;
	command.spawn.mass = mass;
	command.spawn.velocity = velocity;
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	return test_do(world, &command);
}

static void begin(struct tower *self, bool planar)
{
	*self = (struct tower){ .world = test_world(planar, "gauss"), .planar = planar };
	set(self->world, "sleep.enabled", 0);
	/* The floor is a row of fixed bricks. */
	for (int i = -12; i <= 12; i++)
		spawn(self->world, planar ? TEST_POLYGON : TEST_BOX, vec3_make(i, -0.5, 0),
		      BODY_STATIC, 1, vec3_zero());
}

static void add(struct tower *self, double x, uint32_t row)
{
	ck_assert_uint_lt(self->count, BRICKS_MAX);
	self->bricks[self->count++] =
		spawn(self->world, self->planar ? TEST_POLYGON : TEST_BOX,
		      vec3_make(x, row + 0.5, 0), BODY_DYNAMIC, 1, vec3_zero());
}

static void add_row(struct tower *self, uint32_t bricks, uint32_t row)
{
	for (uint32_t i = 0; i < bricks; i++)
		add(self, SPACING * (i - 0.5 * (bricks - 1)), row);
}

/* Rows of 1, 2, …, m bricks, and of a diamond again m − 1, …, 1. */
static void begin_rows(struct tower *self, bool planar, uint32_t m, bool diamond)
{
	begin(self, planar);
	for (uint32_t k = 1; k <= m; k++)
		add_row(self, k, k - 1);
	for (uint32_t k = m - 1; k >= 1 && diamond; k--)
		add_row(self, k, 2 * m - 1 - k);
}

static double fastest(const struct tower *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		struct body_view body = test_body(self->world, self->bricks[i]);
		most = fmax(most, vec3_length(body.velocity) + vec3_length(body.angular_velocity));
	}
	return most;
}

/* the first step has the exact accelerations of Gauss's principle, which the statics find by another
 * way; also which bricks go up. */
START_TEST(towers_begin_to_fall_with_the_accelerations_of_statics)
{
	struct tower tower;
	begin_rows(&tower, _i % 2 != 0, _i / 2 == 0 ? 3 : 5, _i / 2 != 0);
	set(tower.world, "gauss.rounds", 1);
	struct stability_query query = { .sides = 8, .touch = 1e-3, .direction = { 1, 0, 0 } };
	struct stability_view view;
	struct reason why;
	ck_assert_int_eq(world_stability(tower.world, &query, &view, &why), STATUS_OK);
	ck_assert_uint_eq(view.bodies, tower.count);
	test_step(tower.world, 1);
	double up = 0;
	for (uint32_t i = 0; i < view.bodies; i++) {
		struct body_view body = test_body(tower.world, view.motions[i].body);
		expect_near(vec3_scale(body.velocity, 60), view.motions[i].acceleration, 1e-9);
		expect_near(vec3_scale(body.angular_velocity, 60), view.motions[i].angular, 1e-9);
		up = fmax(up, body.velocity.y);
	}
	ck_assert_double_gt(up, 1e-3);
	ck_assert_double_le(world_stats(tower.world).residual, 1e-10);
	stability_view_release(&view);
	world_destroy(tower.world);
}
END_TEST

/* diamonds stand up to 4 rows, inverted triangles fall from 3 (of 2, bricks are at the limit). */
START_TEST(diamonds_stand_up_to_four_and_triangles_fall)
{
	for (uint32_t m = 1; m <= 6; m++)
		for (uint32_t diamond = 0; diamond < 2; diamond++) {
			if (m == 2 && diamond == 0)
				continue;
			struct tower tower;
			begin_rows(&tower, _i != 0, m, diamond != 0);
			test_step(tower.world, 30);
			bool stands = m <= (diamond ? 4u : 1u);
			if (stands)
				ck_assert_double_le(fastest(&tower), 1e-9);
			else
				ck_assert_double_ge(fastest(&tower), 1e-2);
			world_destroy(tower.world);
		}
}
END_TEST

/* overhangs of ½, ¼, …, 1/(2 n) are the limit of a stack of 30. */
START_TEST(a_harmonic_stack_of_30_stands_and_just_beyond_falls)
{
	static const double FACTORS[] = { 1 - 1e-6, 1.0001 };
	for (uint32_t k = 0; k < 2; k++) {
		struct tower tower;
		begin(&tower, true);
		double x = 0;
		for (uint32_t row = 0; row < 30; row++) {
			add(&tower, x, row);
			if (row < 29)
				x += FACTORS[k] / (2.0 * (29 - row));
		}
		test_step(tower.world, 60);
		if (k == 0)
			ck_assert_double_le(fastest(&tower), 1e-9);
		else
			ck_assert_double_ge(fastest(&tower), 1e-5);
		world_destroy(tower.world);
	}
}
END_TEST

/* Theorem 5.1: a corner that slides on an edge which turns. gap'' = J a + q, q = −1.9 at these velocities
 * (a point of the edge falls towards the axis, the edge turns under the corner), so contact needs
 * λ = 1.9 / (J M⁻¹ Jᵀ). (S′) gives v + h a; the default, half of q, the gap to second order. */
START_TEST(the_whole_bend_leads_to_the_accelerations_of_contact)
{
	double h = 1.0 / 60, along = 0.3, halves[] = { 0.5, 1 };
	struct tower tower = { .world = test_world(true, "gauss"), .planar = true };
	test_no_gravity(tower.world);
	set(tower.world, "gauss.rounds", 1);
	set(tower.world, "gauss.separation", _i);
	body_id edge = spawn(tower.world, TEST_POLYGON, vec3_zero(), BODY_DYNAMIC, 1, vec3_zero());
	struct command turn = test_command(COMMAND_SET_VELOCITY);
	turn.set_velocity.body = edge;
	turn.set_velocity.angular_velocity = vec3_make(0, 0, 1);
	test_do(tower.world, &turn);
	struct attachment item;
	struct command corner = test_spawn_command(tower.world, TEST_POLYGON,
						   vec3_make(along, 0.5 + sqrt(0.5), 0), &item);
	corner.spawn.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), PI / 4);
	corner.spawn.velocity = vec3_make(0.7, along, 0);
	corner.spawn.mass = 1;
	corner.spawn.static_friction = corner.spawn.dynamic_friction = 0;
	body_id slider = test_do(tower.world, &corner);
	test_step(tower.world, 1);
	double lambda = 1.9 / (1 + 6 * along * along + 1), part = halves[_i];
	expect_near(test_body(tower.world, slider).velocity,
		    vec3_make(0.7, along + part * h * lambda, 0), 1e-12);
	expect_near(test_body(tower.world, edge).velocity, vec3_make(0, -part * h * lambda, 0),
		    1e-12);
	expect_near(test_body(tower.world, edge).angular_velocity,
		    vec3_make(0, 0, 1 - part * h * lambda * 6 * along), 1e-12);
	world_destroy(tower.world);
}
END_TEST

/* 1 kg at 1 m/s meets 3 kg: both 0.25 m/s, without an event, momentum to rounding. */
START_TEST(impacts_are_inelastic_and_conserve_momentum)
{
	struct world *world = test_world(_i != 0, "gauss");
	enum test_shape shape = _i != 0 ? TEST_POLYGON : TEST_BOX;
	test_no_gravity(world);
	body_id light =
		spawn(world, shape, vec3_make(-1.03, 0, 0), BODY_DYNAMIC, 1, vec3_make(1, 0, 0));
	body_id heavy = spawn(world, shape, vec3_zero(), BODY_DYNAMIC, 3, vec3_zero());
	for (uint32_t i = 0; i < 10; i++) {
		test_step(world, 1);
		expect_near(world_energy(world).linear, vec3_make(1, 0, 0), 1e-13);
	}
	expect_near(test_body(world, light).velocity, vec3_make(0.25, 0, 0), 1e-12);
	expect_near(test_body(world, heavy).velocity, vec3_make(0.25, 0, 0), 1e-12);
	double apart = test_body(world, heavy).position.x - test_body(world, light).position.x;
	ck_assert_double_eq_tol(apart, 1, 1e-9);
	world_destroy(world);
}
END_TEST

static double total_energy(const struct world *world)
{
	struct world_energy energy = world_energy(world);
	return energy.kinetic + energy.potential;
}

/* How deep two unit squares overlap at most, along the normals of their edges; negative: apart. */
static double overlap_of(const struct body_view *a, const struct body_view *b)
{
	double least = 2;
	for (uint32_t k = 0; k < 4; k++) {
		const struct body_view *of = k < 2 ? a : b, *other = k < 2 ? b : a;
		vec3 n = quat_rotate(of->rotation, vec3_axis(k % 2));
		vec3 x = quat_rotate_inverse(other->rotation, n);
		double reach = 0.5 + 0.5 * (fabs(x.x) + fabs(x.y));
		least = fmin(least, reach - fabs(vec3_dot(n, vec3_sub(b->position, a->position))));
	}
	return least;
}

static void expect_apart(const struct tower *tower, double tolerance)
{
	for (uint32_t i = 0; i < tower->count; i++) {
		struct body_view a = test_body(tower->world, tower->bricks[i]);
		for (uint32_t k = 0; k < i; k++) {
			struct body_view b = test_body(tower->world, tower->bricks[k]);
			ck_assert_double_le(overlap_of(&a, &b), tolerance);
		}
	}
}

/* R-10, R-all: a tower of 25 bricks, in the plane and in space: KKT, energy, overlap in every step. */
START_TEST(energy_of_a_falling_tower_never_grows_and_nothing_overlaps)
{
	struct tower tower;
	begin_rows(&tower, _i == 0, 5, true);
	ck_assert_uint_eq(tower.count, 25);
	double last = total_energy(tower.world), first = last;
	for (uint32_t tick = 0; tick < 400; tick++) {
		test_step(tower.world, 1);
		double now = total_energy(tower.world);
		struct world_stats stats = world_stats(tower.world);
		ck_assert_double_le(now, last + 1e-11 * first);
		ck_assert_double_le(stats.residual, 1e-10);
		if (tower.planar)
			expect_apart(&tower, 1e-6);
		last = now;
	}
	ck_assert_double_lt(last, 0.9 * first);
	test_check(tower.world);
	world_destroy(tower.world);
}
END_TEST

/* A symmetric tower stays symmetric: the place and turn of every brick and of its image. */
START_TEST(a_mirrored_tower_falls_mirrored)
{
	struct tower tower;
	begin_rows(&tower, _i != 0, 4, false);
	test_step(tower.world, 200);
	ck_assert_double_ge(fastest(&tower), 1e-2);
	for (uint32_t row = 0, at = 0; row < 4; at += ++row)
		for (uint32_t i = 0; i <= row; i++) {
			struct body_view body = test_body(tower.world, tower.bricks[at + i]);
			struct body_view other = test_body(tower.world, tower.bricks[at + row - i]);
			expect_near(body.position,
				    vec3_make(-other.position.x, other.position.y, 0), 1e-9);
			ck_assert_double_eq_tol(body.rotation.z, -other.rotation.z, 1e-9);
		}
	world_destroy(tower.world);
}
END_TEST

/* A body alone is its own image, but a hair of a slope or of wind is not mirrored: it is felt. */
START_TEST(a_hair_of_asymmetry_is_felt)
{
	enum { STEPS = 120 };
	const double lean = 1e-5, h = 1.0 / 60;
	struct tower tower = { .world = test_world(false, "gauss"), .planar = false };
	set(tower.world, "sleep.enabled", 0);
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_make(_i == 0 ? 9.81 * lean : 0, -9.81, 0);
	test_do(tower.world, &gravity);
	/* The second case: a plane that leans, under a ball. */
	struct attachment item;
	struct command floor = test_spawn_command(tower.world, TEST_PLANE, vec3_zero(), &item);
	floor.spawn.status = BODY_STATIC;
	floor.spawn.static_friction = floor.spawn.dynamic_friction = 0;
	floor.spawn.restitution = 0;
	if (_i != 0)
		floor.spawn.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), -lean);
	test_do(tower.world, &floor);
	body_id ball =
		spawn(tower.world, TEST_SPHERE, vec3_make(0, 0.5, 0), BODY_DYNAMIC, 1, vec3_zero());
	test_step(tower.world, STEPS);
	double expected = 9.81 * lean * h * STEPS; /* less where the first steps settle */
	ck_assert_double_eq_tol(test_body(tower.world, ball).velocity.x, expected, 0.01 * expected);
	world_destroy(tower.world);
}
END_TEST

/* Cubes move as squares, until they slide over the seams of the floor, which have more features in space. */
START_TEST(boxes_of_depth_one_fall_as_in_the_plane)
{
	struct tower flat, deep;
	begin_rows(&flat, true, 3, false);
	begin_rows(&deep, false, 3, false);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(flat.world, 1);
		test_step(deep.world, 1);
		for (uint32_t i = 0; i < flat.count; i++)
			expect_near(test_body(deep.world, deep.bricks[i]).position,
				    test_body(flat.world, flat.bricks[i]).position, 1e-9);
	}
	ck_assert_double_ge(fastest(&flat), 0.1);
	world_destroy(flat.world);
	world_destroy(deep.world);
}
END_TEST

/* Bodies that begin in one another part slowly and gain nothing. */
START_TEST(overlaps_are_removed_without_energy)
{
	struct tower tower;
	begin(&tower, _i != 0);
	add(&tower, 0, 0);
	add(&tower, 0.1, 0);
	set(tower.world, "contact.push_speed", 1);
	double first = total_energy(tower.world);
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(tower.world, 1);
		/* The bricks part to the sides or one is lifted, by no more than the push. */
		ck_assert_double_le(total_energy(tower.world), first + (tick + 1) * 9.81 / 60);
		ck_assert_double_le(fastest(&tower), 12);
	}
	if (tower.planar)
		expect_apart(&tower, 1e-6);
	world_destroy(tower.world);
}
END_TEST

START_TEST(what_it_does_not_do_is_refused_by_name)
{
	struct world *world = test_world(false, "gauss");
	struct attachment item;
	struct command command = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, &command, 1, &result), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(result.why.field, "static_friction");
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0.5;
	ck_assert_int_eq(test_batch(world, &command, 1, &result), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(result.why.field, "restitution");
	ck_assert_uint_eq(world_stats(world).bodies, 0);
	command.spawn.restitution = 0;
	test_do(world, &command);
	struct world *rough = test_world(false, "soft-step");
	test_spawn(rough, TEST_BOX, vec3_zero());
	struct reason why;
	ck_assert_int_eq(world_supports(rough, "gauss", &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.field, "static_friction");
	world_destroy(rough);
	world_destroy(world);
}
END_TEST

/* A state has no history: saved in mid-fall, it goes on alike. */
START_TEST(a_fall_continues_after_a_load)
{
	struct tower tower;
	begin_rows(&tower, _i != 0, 3, false);
	test_step(tower.world, 70);
	struct bytes image = test_save(tower.world);
	struct world *loaded;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	for (uint32_t i = 0; i < 60; i++) {
		test_step(tower.world, 1);
		test_step(loaded, 1);
		ck_assert_uint_eq(test_hash(tower.world), test_hash(loaded));
	}
	bytes_release(&image);
	world_destroy(loaded);
	world_destroy(tower.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("gauss");
	TCase *tcase = tcase_create("gauss");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, towers_begin_to_fall_with_the_accelerations_of_statics, 0, 4);
	tcase_add_loop_test(tcase, diamonds_stand_up_to_four_and_triangles_fall, 0, 2);
	tcase_add_test(tcase, a_harmonic_stack_of_30_stands_and_just_beyond_falls);
	tcase_add_loop_test(tcase, the_whole_bend_leads_to_the_accelerations_of_contact, 0, 2);
	tcase_add_loop_test(tcase, impacts_are_inelastic_and_conserve_momentum, 0, 2);
	tcase_add_loop_test(tcase, energy_of_a_falling_tower_never_grows_and_nothing_overlaps, 0,
			    2);
	tcase_add_loop_test(tcase, a_mirrored_tower_falls_mirrored, 0, 2);
	tcase_add_loop_test(tcase, a_hair_of_asymmetry_is_felt, 0, 2);
	tcase_add_test(tcase, boxes_of_depth_one_fall_as_in_the_plane);
	tcase_add_loop_test(tcase, overlaps_are_removed_without_energy, 0, 2);
	tcase_add_test(tcase, what_it_does_not_do_is_refused_by_name);
	tcase_add_loop_test(tcase, a_fall_continues_after_a_load, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
