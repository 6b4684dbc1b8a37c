/* Hits: how fast bodies met and with which impulse, against m (1 + e) v under every method; one of each
 * pair of bodies, whatever their pieces; none where nobody asks, and none of what is slow or rests. */
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/near.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <math.h>

static const char *const METHODS[] = { "soft-step",  "lcp",    "projection",
				       "reflection", "impact", "penalty" };
enum { SOFT_STEP = 0, IMPACT = 4, PENALTY = 5 };

static struct stage stage;

static void begin(uint32_t method, double hit_speed)
{
	stage_init(&stage, METHODS[method]);
	stage.tables.world.gravity[0] = vec3_zero();
	stage_parameter(&stage, PARAMETER_HIT_SPEED, hit_speed);
}

static uint32_t add(uint8_t status, struct shape *shape, vec3 position, vec3 velocity, double e)
{
	return stage_add(&stage, (struct stage_body){ .status = status,
						      .shape = stage_shape(&stage, shape),
						      .position = position,
						      .velocity = velocity,
						      .friction = -1,
						      .restitution = e });
}

struct heard {
	uint32_t count;
	double impulse;
	struct event first;
};

static struct heard run(uint32_t ticks)
{
	struct heard heard = { 0 };
	for (uint32_t tick = 0; tick < ticks; tick++) {
		stage.dynamics.events.count = 0;
		stage_step(&stage);
		for (uint32_t i = 0; i < stage.dynamics.events.count; i++) {
			const struct event *event = &stage.dynamics.events.items[i];
			if (event->kind != EVENT_HIT)
				continue;
			if (heard.count++ == 0)
				heard.first = *event;
			heard.impulse += event->value;
		}
	}
	return heard;
}

/* `lcp` and `projection` stop a body that does not bounce within two ticks: at the tick's end it touches with
 * the speed that its gap needed, and the next tick takes that. `penalty` has a spring for some ticks. */
static uint32_t hits_of_collision(uint32_t method, double e)
{
	return method == PENALTY ? 100 : e == 0 && method != SOFT_STEP && method != IMPACT ? 2 : 1;
}

/* Under `penalty` the ticks in which the bodies part already are no hits, and springs are rough. */
static void expect_impulse(uint32_t method, double heard, double wanted)
{
	double accuracy = method == PENALTY ? 0.5 : method == SOFT_STEP ? 5e-3 : 1e-6;
	ck_assert_double_le(heard, wanted * (1 + (method == PENALTY ? 0.2 : accuracy)));
	ck_assert_double_ge(heard, wanted * (1 - accuracy));
}

START_TEST(a_ball_hits_the_ground_with_m_times_1_plus_e_times_v)
{
	for (uint32_t k = 0; k < 12; k++) {
		double e = 0.5 * (k % 3), v = k / 3 % 2 == 0 ? 3 : 12, high = 0.73 + 0.05 * (k / 6);
		begin((uint32_t)_i, 0.5);
		add(BODY_STATIC, make_plane(vec3_make(0, 1, 0), 0), vec3_zero(), vec3_zero(), e);
		uint32_t ball = add(BODY_DYNAMIC, make_sphere(0.25), vec3_make(1, high, 2),
				    vec3_make(0.5, -v, 0), e);
		double mass = stage.tables.body.mass[ball];
		struct heard heard = run(40);
		ck_assert_uint_ge(heard.count, 1);
		ck_assert_uint_le(heard.count, hits_of_collision((uint32_t)_i, e));
		ck_assert_double_eq_tol(heard.first.speed, v, 1e-6 * v);
		expect_impulse((uint32_t)_i, heard.impulse, mass * (1 + e) * v);
		ck_assert_double_lt(heard.first.a, heard.first.b);
		expect_near(heard.first.normal, vec3_make(0, 1, 0), 1e-9);
		ck_assert_double_eq_tol(heard.first.point.y, 0,
					_i == IMPACT ? 1e-6 : v / 60 + 0.01);
		ck_assert_double_eq_tol(heard.first.point.x, 1, 0.5 * 0.2);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(two_balls_hit_each_other_once)
{
	begin((uint32_t)_i, 0.5);
	uint32_t a =
		add(BODY_DYNAMIC, make_sphere(0.3), vec3_make(-1, 0, 0), vec3_make(4, 0, 0), 1);
	uint32_t b =
		add(BODY_DYNAMIC, make_sphere(0.2), vec3_make(1, 0, 0), vec3_make(-2, 0, 0), 1);
	double inverse = stage.tables.body.mass_inv[a] + stage.tables.body.mass_inv[b];
	struct heard heard = run(40);
	ck_assert_uint_ge(heard.count, 1);
	ck_assert_uint_le(heard.count, hits_of_collision((uint32_t)_i, 1));
	ck_assert_double_eq_tol(heard.first.speed, 6, 1e-6);
	expect_impulse((uint32_t)_i, heard.impulse, 2 * 6 / inverse);
	expect_near(heard.first.normal, vec3_make(1, 0, 0), 1e-9);
	stage_release(&stage);
}
END_TEST

/* 9 placements on one side and some of 200 triangles on the other: one hit with the whole impulse. */
START_TEST(pieces_of_two_bodies_are_one_hit)
{
	begin((uint32_t)_i, 0.5);
	stage_terrain(&stage, 10, 4, 0);
	uint32_t slab = stage_slab(&stage, 3, 0.2, vec3_make(0.03, 0.36, 0.02), quat_identity());
	stage.tables.body.velocity[slab] = vec3_make(0, -5, 0);
	double mass = stage.tables.body.mass[slab];
	struct heard heard = run(20);
	ck_assert_uint_ge(heard.count, 1);
	/* Under soft-step the fastest of so many pieces still moves a little in the next tick. */
	ck_assert_uint_le(heard.count, hits_of_collision((uint32_t)_i, 0) + (_i == SOFT_STEP));
	ck_assert_double_eq_tol(heard.first.speed, 5, 1e-6);
	expect_impulse((uint32_t)_i, heard.impulse, 5 * mass);
	stage_release(&stage);
}
END_TEST

START_TEST(none_without_the_parameter_nor_of_what_is_slow_or_rests)
{
	for (uint32_t k = 0; k < 3; k++) {
		begin((uint32_t)_i, k == 0 ? 0 : 3.5);
		uint32_t lowest = stage_stack(&stage, 3);
		stage.tables.world.gravity[0] = vec3_make(0, -9.81, 0);
		uint32_t ball = add(BODY_DYNAMIC, make_sphere(0.25), vec3_make(5, 0.5, 0),
				    vec3_make(0,
					      k == 0   ? -20
					      : k == 1 ? -2
						       : -4,
					      0),
				    0);
		struct heard heard = run(30);
		ck_assert_uint_eq(heard.count > 0, k == 2);
		if (k == 2)
			ck_assert_uint_eq(heard.first.b, stage.tables.body.id[ball]);
		ck_assert_double_eq_tol(stage.tables.body.position[lowest].y, 0.5, 0.02);
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	int methods = (int)COUNT_OF(METHODS);
	Suite *suite = suite_create("hits");
	TCase *tcase = tcase_create("hits");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_ball_hits_the_ground_with_m_times_1_plus_e_times_v, 0,
			    methods);
	tcase_add_loop_test(tcase, two_balls_hit_each_other_once, 0, methods);
	tcase_add_loop_test(tcase, pieces_of_two_bodies_are_one_hit, 0, methods);
	tcase_add_loop_test(tcase, none_without_the_parameter_nor_of_what_is_slow_or_rests, 0,
			    methods);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
