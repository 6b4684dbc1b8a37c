/* Bodies that are solid from one side only, under every method: a body that comes from below moves as
 * if there were no platform, bit for bit, and lands on it from above as on an ordinary one; bodies that
 * turn back fall out; bodies of several pieces, meshes and planes; sleep, images in mid-passage,
 * commands, refusals. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/math/scalar.h"
#include "server/engine/world/world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

static const char *const METHODS[] = { "soft-step",  "lcp",    "projection",
				       "reflection", "impact", "penalty" };
enum { METHOD_COUNT = 6, SOFT_STEP = 0, IMPACT = 4, PENALTY = 5 };

/* Platforms whose top is at y = 0.5 or, of a plane, 0. */
enum platform { BOX, BOXES, MESH, PLANE, PLATFORMS };

static vec3 up(void)
{
	return vec3_make(0, 1, 0);
}

static body_id spawn_platform(struct world *world, enum platform kind, vec3 one_way)
{
	struct attachment items[3];
	enum test_shape shape = kind == MESH ? TEST_MESH : kind == PLANE ? TEST_PLANE : TEST_BOX;
	struct command spawn = test_spawn_command(world, shape, vec3_zero(), &items[0]);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.one_way = one_way;
	if (kind == BOXES) {
		for (int i = 0; i < 3; i++) {
			items[i] = items[0];
			items[i].position = vec3_make(i - 1, 0, 0);
		}
		spawn.spawn.shapes.items = items;
		spawn.spawn.shapes.count = 3;
	}
	return test_do(world, &spawn);
}

static body_id spawn_moving(struct world *world, enum test_shape shape, vec3 at, vec3 velocity)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.velocity = velocity;
	return test_do(world, &spawn);
}

static uint32_t contact_events(const struct world *world)
{
	uint32_t count, found = 0;
	const struct event *events = world_events(world, &count);
	for (uint32_t i = 0; i < count; i++)
		found += events[i].kind == EVENT_CONTACT_BEGIN || events[i].kind == EVENT_HIT;
	return found;
}

static bool same_motion(const struct body_view *a, const struct body_view *b)
{
	return vec3_equal(a->position, b->position) && quat_equal(a->rotation, b->rotation) &&
	       vec3_equal(a->velocity, b->velocity) &&
	       vec3_equal(a->angular_velocity, b->angular_velocity);
}

/* ---- through and onto ---------------------------------------------------------------------------- */

/* Thrown up, it moves as without a platform until it falls on it, and stays there. */
START_TEST(a_ball_passes_upwards_and_lands)
{
	const char *method = METHODS[_i / PLATFORMS];
	enum platform kind = (enum platform)(_i % PLATFORMS);
	if (kind == MESH && strcmp(method, "reflection") == 0)
		kind = BOX;
	struct world *world = test_world(false, method), *free = test_world(false, method);
	vec3 at = vec3_make(0.1, -1.6, 0.05), velocity = vec3_make(0, 9, 0);
	spawn_platform(world, kind, up());
	body_id ball = spawn_moving(world, TEST_SPHERE, at, velocity);
	body_id other = spawn_moving(free, TEST_SPHERE, at, velocity);
	double top = 0;
	for (uint32_t tick = 0; tick < 80; tick++) {
		test_step(world, 1);
		test_step(free, 1);
		struct body_view a = test_body(world, ball), b = test_body(free, other);
		top = scalar_max(top, a.position.y);
		if (top > 2.2 && a.position.y < 1.6)
			break;
		ck_assert_msg(same_motion(&a, &b), "%s: tick %u: y %.9g, free %.9g", method, tick,
			      a.position.y, b.position.y);
		ck_assert_uint_eq(contact_events(world), 0);
	}
	ck_assert_double_gt(top, 2.2);
	double lowest = top;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		lowest = scalar_min(lowest, test_body(world, ball).position.y);
	}
	struct body_view rest = test_body(world, ball);
	double ground = kind == PLANE ? 0.5 : 1;
	if (kind != MESH) {
		ck_assert_double_gt(lowest, ground - 0.02);
		ck_assert_double_eq_tol(rest.position.y, ground, 0.01);
	}
	/* On the hills it may roll, but stays above them. */
	ck_assert_double_gt(lowest, -0.6);
	struct contact_view contacts[8];
	ck_assert_uint_gt(test_contacts(world, ball, contacts, 8), 0);
	test_check(world);
	world_destroy(free);
	world_destroy(world);
}
END_TEST

/* From above it is an ordinary platform, bit for bit; fast balls do not pass it. */
START_TEST(from_its_side_it_is_an_ordinary_body)
{
	static const double speeds[] = { 0, 1, 5, 20, 100, 400 };
	uint32_t method = (uint32_t)_i;
	/* Without sweeps, a fast ball is inside an ordinary platform, too. Springs throw the box so high
	 * that the ball strikes it while it rises, and it lands a tick later (one_way.h). */
	uint32_t count = method == SOFT_STEP || method == IMPACT ? 6 : method == PENALTY ? 3 : 4;
	for (uint32_t i = 0; i < count; i++) {
		struct world *one = test_world(false, METHODS[method]);
		struct world *plain = test_world(false, METHODS[method]);
		enum platform kind = i % 2 == 0 ? BOX : BOXES;
		vec3 at = vec3_make(0.05, 4.013, 0.02), velocity = vec3_make(0.3, -speeds[i], 0);
		spawn_platform(one, kind, up());
		spawn_platform(plain, kind, vec3_zero());
		body_id ball = spawn_moving(one, TEST_SPHERE, at, velocity);
		body_id box = spawn_moving(one, TEST_BOX, vec3_make(0, 1.002, 0), vec3_zero());
		spawn_moving(plain, TEST_SPHERE, at, velocity);
		spawn_moving(plain, TEST_BOX, vec3_make(0, 1.002, 0), vec3_zero());
		for (uint32_t tick = 0; tick < 120; tick++) {
			test_step(one, 1);
			test_step(plain, 1);
			struct body_view a = test_body(one, ball), b = test_body(plain, ball);
			struct body_view c = test_body(one, box), d = test_body(plain, box);
			/* Off the edge, the flank of one is not solid. */
			if (scalar_abs(b.position.x) > 0.5 || scalar_abs(d.position.x) > 0.45)
				break;
			ck_assert_msg(same_motion(&a, &b) && same_motion(&c, &d),
				      "%s, %g m/s, tick %u: y %.9g and %.9g", METHODS[method],
				      speeds[i], tick, a.position.y, b.position.y);
		}
		world_destroy(plain);
		world_destroy(one);
	}
}
END_TEST

/* One that turns back inside falls out where it came in, as if there were nothing. */
START_TEST(a_ball_that_turns_back_inside_falls_out)
{
	struct world *world = test_world(false, METHODS[_i]),
		     *free = test_world(false, METHODS[_i]);
	for (int k = 0; k < 7; k++) {
		/* Its highest point is from 0.4 m below the top to 1 mm below it. */
		double most = k == 6 ? 0.999 : 0.6 + 0.06 * k, from = -1.3;
		vec3 at = vec3_make(4.0 * k, from, 0);
		vec3 velocity = vec3_make(0, sqrt(2 * 9.81 * (most - from)), 0);
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, TEST_BOX, vec3_make(4.0 * k, 0, 0), &item);
		spawn.spawn.status = BODY_STATIC;
		spawn.spawn.one_way = up();
		test_do(world, &spawn);
		body_id ball = spawn_moving(world, TEST_SPHERE, at, velocity);
		body_id other = spawn_moving(free, TEST_SPHERE, at, velocity);
		for (uint32_t tick = 0; tick < 100; tick++) {
			test_step(world, 1);
			test_step(free, 1);
			struct body_view a = test_body(world, ball), b = test_body(free, other);
			ck_assert_msg(same_motion(&a, &b), "%s, top %g: tick %u: y %.9g, free %.9g",
				      METHODS[_i], most, tick, a.position.y, b.position.y);
		}
		ck_assert_double_lt(test_body(world, ball).position.y, -1.2);
	}
	test_check(world);
	world_destroy(free);
	world_destroy(world);
}
END_TEST

/* From the side, at any height of its flank, and fast from below. */
START_TEST(from_other_sides_it_is_not_there)
{
	static const vec3 from[][2] = {
		{ { -3, 0, 0 }, { 6, 0, 0 } },	   { { -3, 0.8, 0 }, { 6, 0, 0 } },
		{ { 3, -0.4, 1 }, { -9, 0, -3 } }, { { 0, -4, 0 }, { 0, 60, 0 } },
		{ { 0, -4, 0.3 }, { 1, 300, 0 } }, { { -4, 0.2, 0 }, { 300, 0, 0 } },
	};
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct world *world = test_world(false, METHODS[_i]);
		struct world *free = test_world(false, METHODS[_i]);
		test_no_gravity(world);
		test_no_gravity(free);
		spawn_platform(world, BOX, up());
		enum test_shape shape = i % 2 == 0 ? TEST_SPHERE : TEST_CAPSULE;
		body_id ball = spawn_moving(world, shape, from[i][0], from[i][1]);
		body_id other = spawn_moving(free, shape, from[i][0], from[i][1]);
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			test_step(free, 1);
			struct body_view a = test_body(world, ball), b = test_body(free, other);
			ck_assert_msg(same_motion(&a, &b), "%s, case %zu, tick %u", METHODS[_i], i,
				      tick);
			ck_assert_uint_eq(contact_events(world), 0);
		}
		world_destroy(free);
		world_destroy(world);
	}
}
END_TEST

/* A body of two balls: while one is let through, the other is, too, also if it has been above. */
START_TEST(all_pieces_of_a_body_pass_together)
{
	struct world *world = test_world(false, METHODS[_i]),
		     *free = test_world(false, METHODS[_i]);
	body_id ids[2];
	for (int k = 0; k < 2; k++) {
		struct world *in = k == 0 ? world : free;
		struct attachment items[2];
		if (k == 0)
			spawn_platform(in, BOXES, up());
		struct command spawn =
			test_spawn_command(in, TEST_SPHERE, vec3_make(0, -2.6, 0), &items[0]);
		items[1] = items[0];
		items[0].position = up();
		items[1].position = vec3_negate(up());
		spawn.spawn.shapes.items = items;
		spawn.spawn.shapes.count = 2;
		/* Its mass centre rises to 0.2 m: the upper ball to 1.2 m, out of the top. */
		spawn.spawn.velocity = vec3_make(0, sqrt(2 * 9.81 * 2.8), 0);
		spawn.spawn.angular_velocity = vec3_make(0, 1, 0);
		ids[k] = test_do(in, &spawn);
	}
	double top = -9;
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		test_step(free, 1);
		struct body_view a = test_body(world, ids[0]), b = test_body(free, ids[1]);
		top = scalar_max(top, a.position.y);
		ck_assert_msg(same_motion(&a, &b), "%s: tick %u", METHODS[_i], tick);
	}
	ck_assert_double_gt(top, 0.1);
	world_destroy(free);
	world_destroy(world);
}
END_TEST

/* ---- bodies that move ---------------------------------------------------------------------------- */

/* A lift takes up what lies on it and passes what it comes up under. */
START_TEST(an_animated_platform_lifts_what_is_on_it)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.one_way = vec3_make(0, 0.3, 0);
	spawn.spawn.velocity = vec3_make(0, 1, 0);
	body_id lift = test_do(world, &spawn);
	body_id box = spawn_moving(world, TEST_BOX, vec3_make(0, 1.001, 0), up());
	test_step(world, 90);
	double height = test_body(world, lift).position.y;
	ck_assert_double_eq_tol(test_body(world, box).position.y, height + 1, 0.01);
	/* It goes down faster than the box falls, and comes from above onto another: through it. */
	struct command set = test_command(COMMAND_SET_VELOCITY);
	set.set_velocity.body = lift;
	set.set_velocity.velocity = vec3_make(0, -30, 0);
	body_id below = spawn_moving(world, TEST_SPHERE, vec3_make(0, -2, 0), vec3_make(0, 3, 0));
	struct body_view before = test_body(world, below);
	test_do(world, &set);
	test_step(world, 20);
	struct body_view after = test_body(world, below);
	ck_assert_double_eq_tol(after.position.y, before.position.y + 1 - 0.5 * 9.81 / 9, 0.03);
	ck_assert_double_eq_tol(after.velocity.y, 3 - 9.81 / 3, 1e-9);
	world_destroy(world);
}
END_TEST

/* Two dynamic bodies: momentum passes only from the solid side. */
START_TEST(a_dynamic_body_may_be_one_way)
{
	for (int side = -1; side <= 1; side += 2) {
		struct world *world = test_world(false, METHODS[_i]);
		test_no_gravity(world);
		struct attachment item;
		struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
		spawn.spawn.one_way = vec3_make(1, 0, 0);
		/* Its axes are turned: what is x for it is y in the world. */
		spawn.spawn.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), 0.5 * PI);
		body_id box = test_do(world, &spawn);
		body_id ball = spawn_moving(world, TEST_SPHERE, vec3_make(0, 3.0 * side, 0),
					    vec3_make(0, -4.0 * side, 0));
		test_step(world, 60);
		double moved = test_body(world, box).velocity.y;
		if (side > 0)
			ck_assert_double_lt(moved, -0.5);
		else
			ck_assert(moved == 0 && test_body(world, ball).velocity.y == 4);
		world_destroy(world);
	}
}
END_TEST

/* ---- state --------------------------------------------------------------------------------------- */

/* In mid-passage and at rest, a copy has the same future, and so has the world after a rollback. */
START_TEST(images_keep_who_is_let_through)
{
	struct world *world = test_world(false, METHODS[_i]);
	spawn_platform(world, BOXES, up());
	/* Two in passage, one of which turns back; one at rest, pressed by a box on it. */
	spawn_moving(world, TEST_SPHERE, vec3_make(-1, -1.4, 0), vec3_make(0, 8, 0));
	spawn_moving(world, TEST_BOX, vec3_make(0.5, -1.4, 0), vec3_make(0, 6, 0));
	spawn_moving(world, TEST_SPHERE, vec3_make(1.3, 1, 0.3), vec3_zero());
	for (uint32_t tick = 0; tick < 60; tick++) {
		struct world *copy;
		struct bytes image = test_save(world);
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			STATUS_OK);
		bytes_release(&image);
		test_step(world, 1);
		test_step(copy, 1);
		ck_assert_uint_eq(test_hash(copy), test_hash(world));
		if (tick % 10 == 3) {
			struct world *later;
			image = test_save(world);
			ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(),
						    &later, NULL),
					 STATUS_OK);
			bytes_release(&image);
			test_step(later, 40);
			test_step(copy, 40);
			struct bytes x = test_save(later), y = test_save(copy);
			ck_assert_uint_eq(x.count, y.count);
			ck_assert_int_eq(memcmp(x.data, y.data, x.count), 0);
			bytes_release(&x);
			bytes_release(&y);
			world_destroy(later);
		}
		world_destroy(copy);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* What sleeps on a platform stays on it when it wakes, and falls when the platform turns over. */
START_TEST(sleepers_stay_until_the_direction_changes)
{
	struct world *world = test_world(false, METHODS[_i]);
	body_id platform = spawn_platform(world, BOXES, up());
	body_id box = spawn_moving(world, TEST_BOX, vec3_make(0, 1, 0), vec3_zero());
	test_step(world, 120);
	if (strcmp(METHODS[_i], "penalty") != 0)
		ck_assert(test_body(world, box).asleep);
	struct command wake = test_command(COMMAND_WAKE);
	wake.wake.body = box;
	test_do(world, &wake);
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, box).position.y, 1, 0.02);
	struct command set = test_command(COMMAND_SET_SURFACE);
	set.set_surface.body = platform;
	set.set_surface.one_way = vec3_make(0, -1, 0);
	test_do(world, &set);
	test_step(world, 60);
	ck_assert_double_lt(test_body(world, box).position.y, -1);
	/* Solid from all sides again: a box put into it is pushed out, and one on it stays. */
	set.set_surface.one_way = vec3_zero();
	test_do(world, &set);
	body_id next = spawn_moving(world, TEST_BOX, vec3_make(0, 0.98, 0), vec3_zero());
	test_step(world, 60);
	ck_assert_double_gt(test_body(world, next).position.y, 0.97);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A change of the method in mid-passage changes nothing for the ball. */
START_TEST(a_new_method_knows_who_is_let_through)
{
	struct world *world = test_world(false, METHODS[_i]);
	spawn_platform(world, BOX, up());
	body_id ball = spawn_moving(world, TEST_SPHERE, vec3_make(0, -1.3, 0),
				    vec3_make(0, sqrt(2 * 9.81 * 2), 0));
	for (uint32_t tick = 0; tick < 80; tick++) {
		struct command method = test_command(COMMAND_METHOD);
		method.method.name = test_text(METHODS[(_i + tick) % METHOD_COUNT]);
		test_do(world, &method);
		test_step(world, 1);
		ck_assert_uint_eq(contact_events(world), 0);
	}
	ck_assert_double_lt(test_body(world, ball).position.y, -0.9);
	world_destroy(world);
}
END_TEST

/* A heap that strikes itself while it bounces: what moves away from the platform is thrown back within the
 * tick, and nothing falls through. */
START_TEST(nothing_of_a_heap_falls_through)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct world *world = test_world(false, METHODS[_i]);
	struct attachment items[64];
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &items[0]);
	for (int i = 0; i < 64; i++) {
		items[i] = items[0];
		items[i].position = vec3_make(i % 8 - 3.5, 0, i / 8 - 3.5);
	}
	spawn.spawn.shapes.items = items;
	spawn.spawn.shapes.count = 64;
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.one_way = up();
	test_do(world, &spawn);
	body_id ids[24];
	for (int i = 0; i < 24; i++) {
		vec3 at = vec3_mul_add(random_vector(&rng, 0.4), up(), 1.5 + 1.2 * (i / 2));
		at.x += i % 2 == 0 ? -0.7 : 0.7;
		struct command drop = test_spawn_command(world, i % 3 == 0 ? TEST_BOX : TEST_SPHERE,
							 at, &items[0]);
		drop.spawn.restitution = 0.6;
		drop.spawn.density = i % 3 == 0 ? 5000 : 500;
		drop.spawn.velocity = vec3_make(0, -20, 0);
		ids[i] = test_do(world, &drop);
	}
	for (uint32_t tick = 0; tick < 150; tick++) {
		test_step(world, 1);
		for (int i = 0; i < 24; i++) {
			vec3 at = test_body(world, ids[i]).position;
			if (scalar_abs(at.x) < 3 && scalar_abs(at.z) < 3)
				ck_assert_msg(at.y > 0.4, "%s, tick %u: body %u at %g", METHODS[_i],
					      tick, ids[i], at.y);
		}
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Random bodies of several pieces, many of them one-way: all rows of a pair of bodies have one state,
 * and only pairs with a one-way body have any; caches made anew change nothing. */
START_TEST(all_rows_of_a_pair_have_one_state)
{
	static const enum test_shape shapes[] = { TEST_SPHERE, TEST_CAPSULE, TEST_BOX, TEST_HULL };
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct world *world = test_world(false, METHODS[_i]), *copy;
	spawn_platform(world, MESH, up());
	for (int i = 0; i < 24; i++) {
		enum test_shape shape = shapes[rng_below(&rng, 4)];
		vec3 at = random_vector(&rng, 3);
		struct attachment items[3];
		struct command spawn = test_spawn_command(world, shape, at, &items[0]);
		items[1] = items[2] = items[0];
		items[1].position = random_vector(&rng, 1);
		items[2].position = random_vector(&rng, 1);
		spawn.spawn.shapes.items = items;
		spawn.spawn.shapes.count = 1 + rng_below(&rng, 3);
		spawn.spawn.status = rng_below(&rng, 4) == 0 ? BODY_STATIC : BODY_DYNAMIC;
		if (spawn.spawn.status == BODY_DYNAMIC)
			spawn.spawn.velocity = random_vector(&rng, 9);
		if (rng_below(&rng, 2) == 0)
			spawn.spawn.one_way = vec3_normalize(random_vector(&rng, 1));
		test_do(world, &spawn);
	}
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	bytes_release(&image);
	uint32_t let_through = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		test_step(copy, 1);
		if (tick % 7 == 3)
			ck_assert_int_eq(world_rebuild_caches(copy), STATUS_OK);
		const struct tables *tables = &world->tables;
		const struct contact_table *contact = &tables->contact;
		for (uint32_t x = 0; x < contact->count; x++) {
			if (!contact->used[x])
				continue;
			uint32_t a = contact_body_a(tables, x), b = contact_body_b(tables, x);
			let_through += contact->passage[x] == PASSAGE_THROUGH;
			if (!one_way_concerns(&world->dynamics, a, b))
				ck_assert_uint_eq(contact->passage[x], PASSAGE_OPEN);
			ck_assert_uint_eq(contact->passage[x],
					  one_way_between(&world->dynamics, a, b));
			if (contact->passage[x] == PASSAGE_THROUGH)
				ck_assert_uint_eq(contact->touching[x], 0);
		}
		ck_assert_uint_eq(test_hash(world), test_hash(copy));
	}
	ck_assert_uint_gt(let_through, 20);
	test_check(world);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

START_TEST(directions_that_are_none_are_refused)
{
	struct world *world = test_world(false, "soft-step"),
		     *planar = test_world(true, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.one_way = vec3_make(0, 1e-9, 0);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.one_way = vec3_make(0, 2, 0);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	struct command set = test_command(COMMAND_SET_SURFACE);
	set.set_surface.body = 77;
	ck_assert_int_eq(test_try(world, &set), STATUS_UNKNOWN_BODY);
	set.set_surface.body = test_spawn(world, TEST_BOX, vec3_zero());
	set.set_surface.one_way = vec3_make(1e-7, 0, 0);
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set.set_surface.body = test_spawn(planar, TEST_POLYGON, vec3_zero());
	set.set_surface.one_way = vec3_make(0, 1, 0.5);
	ck_assert_int_eq(test_try(planar, &set), STATUS_PLANAR);
	set.set_surface.one_way = up();
	ck_assert_int_eq(test_try(planar, &set), STATUS_OK);
	world_destroy(planar);
	world_destroy(world);
}
END_TEST

/* In a planar world. */
START_TEST(a_polygon_passes_upwards_and_lands)
{
	struct world *world = test_world(true, METHODS[_i]);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, vec3_zero(), &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.one_way = up();
	test_do(world, &spawn);
	body_id box =
		spawn_moving(world, TEST_POLYGON, vec3_make(0.1, -1.6, 0), vec3_make(0, 9, 0));
	double top = 0;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		top = scalar_max(top, test_body(world, box).position.y);
	}
	ck_assert_double_gt(top, 2.2);
	ck_assert_double_eq_tol(test_body(world, box).position.y, 1, 0.02);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("one_way");
	TCase *tests = tcase_create("one_way");
	tcase_add_loop_test(tests, a_ball_passes_upwards_and_lands, 0, METHOD_COUNT * PLATFORMS);
	tcase_add_loop_test(tests, from_its_side_it_is_an_ordinary_body, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_ball_that_turns_back_inside_falls_out, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, from_other_sides_it_is_not_there, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, all_pieces_of_a_body_pass_together, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, an_animated_platform_lifts_what_is_on_it, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_dynamic_body_may_be_one_way, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, images_keep_who_is_let_through, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, sleepers_stay_until_the_direction_changes, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_new_method_knows_who_is_let_through, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_polygon_passes_upwards_and_lands, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, all_rows_of_a_pair_have_one_state, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, nothing_of_a_heap_falls_through, 0, METHOD_COUNT);
	tcase_add_test(tests, directions_that_are_none_are_refused);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
