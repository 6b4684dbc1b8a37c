/* The body that was made first is the first of a pair. This order must not matter: every property that
 * holds for a body as the first of its pair holds for it as the second. Each scene is built in both (or
 * all) orders, and the test checks the order of the pair in the contact row. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

enum { SHAPES = 3, ASLEEP_TICKS = 300 };

/* A sphere, box or cube hull of half-width 0.5 m. */
static struct shape *make_thing(uint32_t kind)
{
	static const vec3 cube[] = { { -0.5, -0.5, -0.5 }, { 0.5, -0.5, -0.5 }, { -0.5, 0.5, -0.5 },
				     { 0.5, 0.5, -0.5 },   { -0.5, -0.5, 0.5 }, { 0.5, -0.5, 0.5 },
				     { -0.5, 0.5, 0.5 },   { 0.5, 0.5, 0.5 } };
	if (kind == 0)
		return make_sphere(0.5);
	return kind == 1 ? make_box(0.5, 0.5, 0.5) : make_hull(cube, COUNT_OF(cube));
}

/* The shape of a loop's index. Indices from SHAPES on make the thing second in its pair. */
static uint32_t kind_of(int index)
{
	return (uint32_t)index % SHAPES;
}

static bool comes_second(int index)
{
	return index >= SHAPES;
}

/* A stage with a wide floor, top at y = 0. */
static void floor_stage(struct stage *stage)
{
	stage_init(stage, "soft-step");
	uint32_t slab = stage_shape(stage, make_box(20, 0.5, 20));
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
					      .shape = slab,
					      .position = { 0, -0.5, 0 } });
}

static bool is_awake(const struct stage *stage, uint32_t body)
{
	return stage->tables.body.sleep_set[body] == 0;
}

static void run_asleep(struct stage *stage)
{
	for (uint32_t tick = 0; tick < ASLEEP_TICKS && stage->dynamics.awake.count > 0; tick++)
		stage_step(stage);
	ck_assert_uint_eq(stage->dynamics.awake.count, 0);
}

/* Steps and checks at every tick that the body is awake. A check at the end only would miss a body that
 * sleeps and is woken again. */
static void run_awake(struct stage *stage, uint32_t body, uint32_t ticks)
{
	for (uint32_t tick = 0; tick < ticks; tick++) {
		ck_assert_msg(is_awake(stage, body), "asleep at tick %u", tick);
		stage_step(stage);
	}
}

/* Adds a static body far away. Removing it later frees a low row, so that a body made late comes first
 * in its pair. */
static uint32_t reserve_row(struct stage *stage, uint32_t shape)
{
	return stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
						     .shape = shape,
						     .position = { 500, 500, 500 } });
}

/* Checks that the two bodies have one contact and `first` is its body a. */
static void assert_sides(const struct stage *stage, uint32_t first, uint32_t second)
{
	uint32_t found = 0;
	for (uint32_t row = bitset_next(&stage->dynamics.contact_used, 0); row != BITSET_NONE;
	     row = bitset_next(&stage->dynamics.contact_used, row + 1))
		found += contact_body_a(&stage->tables, row) == first &&
			 contact_body_b(&stage->tables, row) == second;
	ck_assert_msg(found == 1, "bodies %u and %u have %u contacts in this order", first, second,
		      found);
}

static void assert_sides_of(const struct stage *stage, int index, uint32_t thing, uint32_t other)
{
	if (comes_second(index))
		assert_sides(stage, other, thing);
	else
		assert_sides(stage, thing, other);
}

/* Adds both bodies; the thing last if it has to be the second. */
static void add_both(struct stage *stage, int index, struct stage_body thing,
		     struct stage_body other, uint32_t rows[2])
{
	if (comes_second(index))
		rows[1] = stage_add(stage, other);
	rows[0] = stage_add(stage, thing);
	if (!comes_second(index))
		rows[1] = stage_add(stage, other);
}

/* ---- staying awake ---------------------------------------------------------------------------- */

START_TEST(a_body_on_a_moving_animated_body_stays_awake_until_it_stops)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(2, 0.5, 2));
	uint32_t shape = stage_shape(&stage, make_thing(kind_of(_i)));
	uint32_t rows[2];
	add_both(&stage, _i,
		 (struct stage_body){
			 .status = BODY_DYNAMIC, .shape = shape, .position = { 0, 1, 0 } },
		 (struct stage_body){
			 .status = BODY_ANIMATED, .shape = slab, .velocity = { 0, 0.02, 0 } },
		 rows);
	run_awake(&stage, rows[0], 120);
	assert_sides_of(&stage, _i, rows[0], rows[1]);
	ck_assert(scalar_near(stage.tables.body.position[rows[0]].y, 1.04, 0.01));
	stage.tables.body.velocity[rows[1]] = vec3_zero();
	dynamics_body_moved(&stage.dynamics, rows[1]);
	stage_run(&stage, 120);
	ck_assert(!is_awake(&stage, rows[0]));
	stage_release(&stage);
}
END_TEST

/* Three piles of two bodies on one floor; one pile may not sleep. The floor is made first, between or
 * last. */
START_TEST(piles_on_one_floor_fall_asleep_separately)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t rows[6];
	for (int i = 0; i < 7; i++) {
		if (i == _i)
			stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
							       .shape = slab,
							       .position = { 0, -0.5, 0 } });
		if (i < 6)
			rows[i] = stage_add(
				&stage,
				(struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = box,
						     .position = { 4 * (i % 3), 0.5 + i / 3, 0 },
						     .wakeful = i == 4 });
	}
	stage_run(&stage, 10);
	ck_assert_uint_eq(stage.dynamics.report.islands, 3);
	stage_run(&stage, 170);
	for (int i = 0; i < 6; i++)
		ck_assert_msg(is_awake(&stage, rows[i]) == (i % 3 == 1), "body %d of pile %d",
			      i / 3, i % 3);
	ck_assert_uint_ne(stage.tables.body.sleep_set[rows[0]],
			  stage.tables.body.sleep_set[rows[2]]);
	ck_assert_uint_eq(stage.tables.body.sleep_set[rows[0]],
			  stage.tables.body.sleep_set[rows[3]]);
	ck_assert_uint_eq(stage.dynamics.report.islands, 1);
	/* Waking a body wakes its pile and no other pile on the floor. */
	dynamics_wake(&stage.dynamics, rows[3]);
	ck_assert(is_awake(&stage, rows[0]) && !is_awake(&stage, rows[2]));
	stage_release(&stage);
}
END_TEST

START_TEST(a_resting_animated_or_static_body_keeps_no_body_awake)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(2, 0.5, 2));
	uint32_t shape = stage_shape(&stage, make_thing(kind_of(_i)));
	uint32_t rows[2];
	add_both(&stage, _i,
		 (struct stage_body){
			 .status = BODY_DYNAMIC, .shape = shape, .position = { 0, 1, 0 } },
		 (struct stage_body){ .status = BODY_ANIMATED, .shape = slab }, rows);
	run_asleep(&stage);
	assert_sides_of(&stage, _i, rows[0], rows[1]);
	/* An animated body that begins to turn about its own axis wakes the body on it. */
	stage.tables.body.angular_velocity[rows[1]] = vec3_make(0, 0.1, 0);
	dynamics_body_moved(&stage.dynamics, rows[1]);
	run_awake(&stage, rows[0], 90);
	stage_release(&stage);
}
END_TEST

/* ---- being woken ------------------------------------------------------------------------------ */

enum loss { REMOVED, MOVED_AWAY, SWITCHED_OFF, LOSSES };

/* A sleeping body loses its static support in one of three ways. */
static void lose_support(int index, enum loss loss)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(2, 0.5, 2));
	uint32_t shape = stage_shape(&stage, make_thing(kind_of(index)));
	uint32_t rows[2];
	add_both(&stage, index,
		 (struct stage_body){
			 .status = BODY_DYNAMIC, .shape = shape, .position = { 0, 1, 0 } },
		 (struct stage_body){ .status = BODY_STATIC, .shape = slab }, rows);
	run_asleep(&stage);
	assert_sides_of(&stage, index, rows[0], rows[1]);
	struct body_table *body = &stage.tables.body;
	if (loss == REMOVED) {
		stage_remove(&stage, rows[1]);
	} else if (loss == MOVED_AWAY) {
		body->position[rows[1]] = vec3_make(50, 0, 0);
		dynamics_body_moved(&stage.dynamics, rows[1]);
	} else {
		body->status[rows[1]] = BODY_INACTIVE;
		dynamics_body_changed(&stage.dynamics, rows[1]);
	}
	ck_assert_msg(is_awake(&stage, rows[0]), "loss %d does not wake the body", loss);
	stage_run(&stage, 30);
	ck_assert_double_lt(body->position[rows[0]].y, 0.5);
	stage_release(&stage);
}

START_TEST(a_sleeper_that_loses_its_static_support_wakes_and_falls)
{
	for (int loss = 0; loss < LOSSES; loss++)
		lose_support(_i, (enum loss)loss);
}
END_TEST

/* A ball that is spawned after the body fell asleep rolls into it. */
START_TEST(a_sleeper_that_is_reached_wakes_before_it_is_hit)
{
	struct stage stage;
	floor_stage(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t shape = stage_shape(&stage, make_thing(kind_of(_i)));
	uint32_t reserved = comes_second(_i) ? reserve_row(&stage, ball) : 0;
	uint32_t sleeper = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								  .shape = shape,
								  .position = { 0, 0.5, 0 } });
	run_asleep(&stage);
	if (comes_second(_i))
		stage_remove(&stage, reserved);
	uint32_t mover = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								.shape = ball,
								.position = { -3, 0.5, 0 },
								.velocity = { 6, 0, 0 },
								.friction = -1 });
	ck_assert(!is_awake(&stage, sleeper));
	for (uint32_t tick = 0; tick < 40 && !is_awake(&stage, sleeper); tick++) {
		stage_step(&stage);
		if (!is_awake(&stage, sleeper))
			ck_assert_double_gt(stage.tables.body.velocity[mover].x, 5.9);
	}
	assert_sides_of(&stage, _i, sleeper, mover);
	ck_assert(is_awake(&stage, sleeper));
	stage_run(&stage, 3);
	ck_assert_double_gt(stage.tables.body.velocity[sleeper].x, 1);
	stage_release(&stage);
}
END_TEST

/* The ball passes at 2 cm: close enough for a pair, but without touching. */
START_TEST(a_body_that_passes_a_sleeper_does_not_wake_it)
{
	struct stage stage;
	floor_stage(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.3));
	uint32_t shape = stage_shape(&stage, make_thing(kind_of(_i)));
	uint32_t reserved = comes_second(_i) ? reserve_row(&stage, ball) : 0;
	uint32_t sleeper = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								  .shape = shape,
								  .position = { 0, 0.5, 0 } });
	run_asleep(&stage);
	if (comes_second(_i))
		stage_remove(&stage, reserved);
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t mover = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								.shape = ball,
								.position = { 0.82, 0.5, -1 },
								.velocity = { 0, 0, 1 },
								.wakeful = true });
	uint32_t met = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		stage_step(&stage);
		ck_assert_msg(!is_awake(&stage, sleeper), "awake at tick %u", tick);
		for (uint32_t row = 0; row < stage.tables.contact.count; row++)
			met += stage.tables.contact.used[row] &&
			       (contact_body_a(&stage.tables, row) == mover ||
				contact_body_b(&stage.tables, row) == mover);
	}
	ck_assert_uint_gt(met, 5);
	stage_release(&stage);
}
END_TEST

/* The bodies of a pile that a hit wakes take part in the step of the hit. */
START_TEST(bodies_that_a_hit_wakes_take_part_in_that_step)
{
	struct stage stage;
	floor_stage(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.2));
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t rows[3], awake = 0;
	for (uint32_t i = 0; i < 3; i++)
		rows[i] = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								 .shape = box,
								 .position = { 0, 0.5 + i, 0 } });
	run_asleep(&stage);
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { -2, 0.5 + _i, 0 },
					       .velocity = { 12, 0, 0 } });
	for (uint32_t tick = 0; tick < 20 && awake == 0; tick++) {
		stage_step(&stage);
		for (uint32_t i = 0; i < 3; i++)
			awake += is_awake(&stage, rows[i]);
		ck_assert_uint_eq(stage.dynamics.report.awake_bodies, 1 + awake);
	}
	ck_assert(is_awake(&stage, rows[_i]));
	stage_release(&stage);
}
END_TEST

/* Sleeping balls in a row that do not touch. The first is hit, and each wakes the next. The balls are
 * made in all orders. */
START_TEST(a_woken_body_wakes_the_next_sleeper)
{
	static const uint32_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct stage stage;
	floor_stage(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t rows[3];
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t place = orders[_i][i];
		rows[place] = stage_add(&stage,
					(struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = ball,
							     .friction = -1,
							     .position = { 1.2 * place, 0.5, 0 } });
	}
	run_asleep(&stage);
	ck_assert_uint_ne(stage.tables.body.sleep_set[rows[0]],
			  stage.tables.body.sleep_set[rows[1]]);
	ck_assert_uint_ne(stage.tables.body.sleep_set[rows[1]],
			  stage.tables.body.sleep_set[rows[2]]);
	dynamics_wake(&stage.dynamics, rows[0]);
	stage.tables.body.velocity[rows[0]] = vec3_make(4, 0, 0);
	dynamics_body_moved(&stage.dynamics, rows[0]);
	stage_run(&stage, 30);
	for (uint32_t place = 0; place < 3; place++)
		ck_assert_msg(is_awake(&stage, rows[place]), "ball %u is asleep", place);
	ck_assert_double_gt(stage.tables.body.velocity[rows[2]].x, 0.5);
	stage_release(&stage);
}
END_TEST

/* A sleeping body, a wall that is added at distance `gap` from it, and one step. */
static uint32_t add_wall_beside(struct stage *stage, int index, double gap)
{
	floor_stage(stage);
	uint32_t block = stage_shape(stage, make_box(0.5, 0.5, 0.5));
	uint32_t shape = stage_shape(stage, make_thing(kind_of(index)));
	uint32_t reserved = comes_second(index) ? reserve_row(stage, block) : 0;
	uint32_t sleeper = stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
								 .shape = shape,
								 .position = { 0, 0.5, 0 } });
	run_asleep(stage);
	if (comes_second(index))
		stage_remove(stage, reserved);
	uint32_t wall = stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
							      .shape = block,
							      .position = { 1 + gap, 0.5, 0 } });
	stage_step(stage);
	assert_sides_of(stage, index, sleeper, wall);
	return sleeper;
}

START_TEST(a_wall_added_in_a_sleeper_wakes_it)
{
	struct stage stage;
	uint32_t sleeper = add_wall_beside(&stage, _i, -0.2);
	ck_assert(is_awake(&stage, sleeper));
	/* The body takes part in the same step, not only in the next. */
	ck_assert_double_lt(stage.tables.body.position[sleeper].x, -1e-4);
	stage_run(&stage, 30);
	ck_assert_double_lt(stage.tables.body.position[sleeper].x, -0.1);
	stage_release(&stage);
}
END_TEST

/* A wall 1 mm beside the body does not push it. */
START_TEST(a_wall_added_beside_a_sleeper_does_not_move_it)
{
	struct stage stage;
	uint32_t sleeper = add_wall_beside(&stage, _i, 1e-3);
	stage_run(&stage, 30);
	ck_assert_double_lt(
		vec3_distance(stage.tables.body.position[sleeper], vec3_make(0, 0.5, 0)), 1e-3);
	stage_release(&stage);
}
END_TEST

/* ---- one collision in both orders ------------------------------------------------------------- */

struct collision {
	struct shape *(*make[2])(void);
	struct stage_body bodies[2];
};

static struct shape *make_ball(void)
{
	return make_thing(0);
}

static struct shape *make_block(void)
{
	return make_thing(1);
}

static struct shape *make_cube_hull(void)
{
	return make_thing(2);
}

static struct shape *make_rod(void)
{
	return make_capsule(0.5, 0.3);
}

/* Runs the collision with the bodies made in the given order; the motions at its end. */
static void run_collision(const struct collision *collision, bool swapped, vec3 positions[2],
			  vec3 velocities[2], uint32_t *touched)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t rows[2];
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t which = i ^ swapped;
		struct stage_body body = collision->bodies[which];
		body.shape = stage_shape(&stage, collision->make[which]());
		rows[which] = stage_add(&stage, body);
	}
	stage_run(&stage, 24);
	*touched += stage_events(&stage, EVENT_CONTACT_BEGIN) > 0 ||
		    vec3_distance(stage.tables.body.velocity[rows[0]],
				  collision->bodies[0].velocity) > 0.01;
	for (uint32_t i = 0; i < 2; i++) {
		positions[i] = stage.tables.body.position[rows[i]];
		velocities[i] = stage.tables.body.velocity[rows[i]];
	}
	stage_release(&stage);
}

static struct stage_body random_body(struct rng *rng, vec3 position, vec3 velocity)
{
	struct stage_body body = { .status = BODY_DYNAMIC,
				   .position = position,
				   .velocity = velocity };
	vec3 axis = random_vector(rng, 1);
	body.rotation = quat_make(rng_range(rng, -1, 1), axis.x, axis.y, axis.z);
	body.mass = rng_range(rng, 0.5, 5);
	body.friction = rng_range(rng, 0.1, 1);
	body.restitution = rng_range(rng, 0, 0.8);
	body.wakeful = true;
	return body;
}

/* The solver works in single precision. The order of the bodies decides the order of its sums and which
 * of two similar faces is the reference face. Mostly the results differ by a few units in the last
 * place; where two faces or directions tie, they may differ by more, in at most 4 of 40 rounds. */
START_TEST(two_bodies_collide_alike_in_either_order_of_creation)
{
	static struct shape *(*const makes[])(void) = { make_ball, make_block, make_cube_hull,
							make_rod };
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t touched = 0, near = 0;
	for (uint32_t round = 0; round < 40; round++) {
		struct collision collision = { { makes[_i / 4], makes[_i % 4] }, { { 0 }, { 0 } } };
		collision.bodies[0] = random_body(&rng, vec3_zero(), random_vector(&rng, 0.5));
		vec3 way = vec3_normalize(random_vector(&rng, 1));
		collision.bodies[1] = random_body(&rng, vec3_scale(way, 2.2), vec3_scale(way, -4));
		if (rng_below(&rng, 4) == 0)
			collision.bodies[1].status = BODY_ANIMATED;
		vec3 there[2], back[2], there_v[2], back_v[2];
		run_collision(&collision, false, there, there_v, &touched);
		run_collision(&collision, true, back, back_v, &touched);
		double way_off = 0, speed_off = 0;
		for (uint32_t i = 0; i < 2; i++) {
			way_off = scalar_max(way_off, vec3_distance(there[i], back[i]));
			speed_off = scalar_max(speed_off, vec3_distance(there_v[i], back_v[i]));
		}
		near += way_off < 1e-4 && speed_off < 1e-3;
	}
	ck_assert_uint_gt(touched, 60);
	ck_assert_uint_ge(near, 36);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/pair_sides");
	TCase *awake = tcase_create("awake");
	tcase_add_loop_test(awake, a_body_on_a_moving_animated_body_stays_awake_until_it_stops, 0,
			    2 * SHAPES);
	tcase_add_loop_test(awake, a_resting_animated_or_static_body_keeps_no_body_awake, 0,
			    2 * SHAPES);
	tcase_add_loop_test(awake, piles_on_one_floor_fall_asleep_separately, 0, 7);
	suite_add_tcase(suite, awake);
	TCase *woken = tcase_create("woken");
	tcase_add_loop_test(woken, a_sleeper_that_loses_its_static_support_wakes_and_falls, 0,
			    2 * SHAPES);
	tcase_add_loop_test(woken, a_sleeper_that_is_reached_wakes_before_it_is_hit, 0, 2 * SHAPES);
	tcase_add_loop_test(woken, a_woken_body_wakes_the_next_sleeper, 0, 6);
	tcase_add_loop_test(woken, a_body_that_passes_a_sleeper_does_not_wake_it, 0, 2 * SHAPES);
	tcase_add_loop_test(woken, bodies_that_a_hit_wakes_take_part_in_that_step, 0, 3);
	tcase_add_loop_test(woken, a_wall_added_in_a_sleeper_wakes_it, 0, 2 * SHAPES);
	tcase_add_loop_test(woken, a_wall_added_beside_a_sleeper_does_not_move_it, 0, 2 * SHAPES);
	suite_add_tcase(suite, woken);
	TCase *meetings = tcase_create("meetings");
	tcase_add_loop_test(meetings, two_bodies_collide_alike_in_either_order_of_creation, 0, 16);
	suite_add_tcase(suite, meetings);
	return suite;
}

int main(void)
{
	return check_main(make);
}
