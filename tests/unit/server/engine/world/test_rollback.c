/* Rollback images: a world that is rolled back again and again has the history of one that never was,
 * whatever happened in between; images stay within their bounds, and bad ones are refused. */
#include "server/engine/world/rollback.h"

#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/joined.h"
#include "tests/lib/method_probe.h"

#include "server/base/hash.h"
#include "server/base/heap.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const methods[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };

static struct rollback_base *make_base(const struct world *world)
{
	struct rollback_base *base;
	ck_assert_int_eq(rollback_base_create(world, &base), STATUS_OK);
	return base;
}

static struct bytes save(struct world *world, const struct rollback_base *base)
{
	struct bytes image = { 0 };
	ck_assert_int_eq(world_save_rollback(world, base, &image), STATUS_OK);
	return image;
}

static void restore(struct world *world, const struct rollback_base *base,
		    const struct bytes *image)
{
	struct reason why;
	enum status status = world_restore_rollback(world, base, image->data, image->count, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
}

/* ---- a world in which everything happens ------------------------------------------------------ */

/* A chain that a motor turns, of bodies that collide. */
static void add_chain(struct world *world, vec3 at)
{
	body_id before = 0;
	for (uint32_t i = 0; i < 5; i++) {
		at.x += 0.7;
		body_id link = joined_put(world, (struct joined_thing){ .shape = TEST_CAPSULE,
									.at = at,
									.mass = 100,
									.meets = i > 2 });
		joint_id joint =
			joined_join(world, i == 0 ? JOINT_REVOLUTE : JOINT_SPHERICAL, before, link,
				    vec3_make(at.x - 0.35, at.y, at.z), joined_about_z());
		struct command motor = joined_axis(joint, i == 0 ? 3 : 4);
		motor.joint_axis.motor = i == 0 ? JOINT_MOTOR_VELOCITY : JOINT_MOTOR_NONE;
		motor.joint_axis.target = 3;
		motor.joint_axis.motor_limit = 1e4;
		if (i == 0)
			test_do(world, &motor);
		before = link;
	}
}

/* Tiles and a mesh with seams, a tower with a heavy top, bullets against a wall, a chain, sleepers, a force
 * for some ticks. */
static struct world *everything(const char *method)
{
	struct world_options options = test_options(false, method);
	options.limits.memory_bytes = 8 << 20; /* what a forged image may claim */
	struct world *world = test_world_of(&options);
	for (int x = -3; x < 4; x++)
		joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							 .at = vec3_make(x, -0.5, 0),
							 .meets = true,
							 .status = BODY_STATIC });
	test_spawn(world, TEST_MESH, vec3_make(14, -2, 0));
	for (uint32_t i = 0; i < 4; i++)
		joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							 .at = vec3_make(-1, 0.5 + i, 0),
							 .mass = i == 3 ? 50000 : 100,
							 .meets = true });
	for (uint32_t i = 0; i < 6; i++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, i % 2 ? TEST_SPHERE : TEST_HULL,
					   vec3_make(12 + 1.1 * i, 1 + i % 3, 0.4 * i), &item);
		test_do(world, &spawn);
	}
	joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
						 .at = vec3_make(2, 0.5, 0),
						 .mass = 10,
						 .meets = true,
						 .velocity = vec3_make(1, 0, 0.1) });
	if (strcmp(method, "free") != 0 && strcmp(method, "penalty") != 0)
		add_chain(world, vec3_make(-2, 7, 0));
	struct command push = test_command(COMMAND_FORCE);
	push.force.body = 9;
	push.force.force = vec3_make(30, 0, 5);
	push.force.ticks = 500;
	test_do(world, &push);
	return world;
}

/* A bullet that the flag `fast` sweeps, at the tower. */
static void fire(struct world *world, uint64_t tick)
{
	struct attachment item;
	struct command spawn = test_spawn_command(
		world, TEST_SPHERE, vec3_make(-6, 1.5, 0.01 * (double)(tick % 7)), &item);
	spawn.spawn.velocity = vec3_make(300, 10, 0);
	spawn.spawn.mass = 0.5;
	spawn.spawn.flags |= BODY_FAST;
	(void)test_try(world, &spawn);
}

/* Old bodies are removed, so that rows are taken again. */
static void remove_one(struct world *world, uint64_t draw)
{
	body_id ids[256];
	uint32_t count = world_bodies(world, ids, COUNT_OF(ids));
	struct command remove = test_command(COMMAND_REMOVE);
	ck_assert_uint_le(count, COUNT_OF(ids));
	remove.remove.body = ids[draw % count];
	if (count > 26)
		(void)test_try(world, &remove);
}

/* What happens at a tick: a function of `seed`, the tick and the state alone. A batch is dated for later now
 * and then, so batches wait in the world. */
static void act(struct world *world, uint64_t seed)
{
	uint64_t tick = world_info(world).tick;
	struct gen_commands gen;
	struct command commands[3];
	struct attachment items[COUNT_OF(commands)][COUNT_OF(gen.items)];
	gen_commands_init(&gen, world, seed * 1000003 + tick);
	uint32_t count = rng_below(&gen.rng, COUNT_OF(commands));
	if (tick % 9 == seed % 9)
		fire(world, tick);
	if (tick % 2 == 1)
		remove_one(world, rng_below(&gen.rng, 1000));
	for (uint32_t i = 0; i < count; i++) {
		gen_any_command(&gen, &commands[i]);
		/* The walls push everything out of the scene, so they come rarely. */
		if (commands[i].op == COMMAND_BOUNDS && tick % 50 != 7)
			command_defaults(&commands[i], COMMAND_WAKE);
		if (commands[i].op != COMMAND_SPAWN)
			continue;
		memcpy(items[i], gen.items, sizeof items[i]);
		commands[i].spawn.shapes.items = items[i];
	}
	struct batch batch = { .session = 1 + rng_below(&gen.rng, 3),
			       .number = tick + 1,
			       .commands = commands,
			       .count = count };
	if (rng_below(&gen.rng, 3) == 0)
		batch.at = tick + rng_below(&gen.rng, 9);
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
}

static void play(struct world *world, uint64_t seed, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++) {
		struct reason why;
		act(world, seed);
		enum status status = world_step(world, &parallel_serial, &why);
		ck_assert_msg(status == STATUS_OK, "%s", why.text);
	}
}

static void assert_same(struct world *world, struct world *other)
{
	uint64_t tables[WORLD_TABLES_MAX], others[WORLD_TABLES_MAX];
	uint32_t count;
	uint64_t hash = world_state_hash(world, tables, &count);
	uint64_t expected = world_state_hash(other, others, &count);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_msg(tables[i] == others[i], "tick %llu: table %s differs",
			      (unsigned long long)world_info(world).tick, world_table_name(i));
	ck_assert_uint_eq(hash, expected);
	ck_assert_uint_eq(world_tick_hash(world), world_tick_hash(other));
	ck_assert_uint_eq(world_info(world).edit, world_info(other).edit);
}

/* Guesses `guess` ticks wrongly, rolls back and plays what really happened: `rounds` times, `stride` ticks
 * each. Every few rounds a new base. */
static void roll_back(const char *method, uint32_t rounds, uint32_t stride)
{
	struct world *world = everything(method), *undisturbed = everything(method);
	struct rollback_base *base = make_base(world);
	uint64_t seed = check_seed();
	uint32_t asleep = 0, joints = 0, pending = 0, different = 0;
	double bytes = 0, full = 0;
	for (uint32_t round = 0; round < rounds; round++) {
		if (round % 16 == 15) {
			rollback_base_destroy(base);
			base = make_base(world);
		}
		/* In the middle of a boundary, with commands applied and no tick made, now and then. */
		if (round % 5 == 4) {
			fire(world, 3);
			fire(undisturbed, 3);
		}
		struct bytes image = save(world, base);
		uint64_t then = test_hash(world);
		play(world, seed + 1 + round, 1 + round % 8);
		different += test_hash(world) != then;
		restore(world, base, &image);
		ck_assert_uint_eq(test_hash(world), then);
		test_check(world);
		struct bytes again = save(world, base);
		ck_assert_uint_eq(again.count, image.count);
		ck_assert_int_eq(memcmp(again.data, image.data, image.count), 0);
		play(world, seed, stride);
		play(undisturbed, seed, stride);
		assert_same(world, undisturbed);
		struct world_stats stats = world_stats(world);
		asleep += stats.bodies - stats.awake > 8;
		joints += stats.joints > 0;
		pending += world_pending(world, NULL, 0) > 0;
		struct bytes whole = test_save(world);
		bytes += (double)image.count / stats.bodies;
		full += (double)whole.count / stats.bodies;
		bytes_release(&whole);
		bytes_release(&image);
		bytes_release(&again);
	}
	printf("# %s: %u rollbacks, %.0f bytes a body with contacts and joints, a full image %.0f\n",
	       method, (unsigned)rounds, bytes / rounds, full / rounds);
	ck_assert(bytes < full / 2);
	ck_assert_uint_eq(different, rounds);
	ck_assert(asleep > 0 || rounds < 50);
	bool joined = strcmp(method, "free") != 0 && strcmp(method, "penalty") != 0;
	ck_assert_uint_ge(joints, joined ? rounds / 20
					 : 0); /* of the random commands, enough make joints */
	ck_assert_uint_gt(pending, rounds / 10);
	rollback_base_destroy(base);
	world_destroy(world);
	world_destroy(undisturbed);
}

START_TEST(a_hundred_rollbacks_in_a_thousand_ticks_leave_no_trace)
{
	roll_back("soft-step", 100, 10);
}
END_TEST

START_TEST(rollbacks_leave_no_trace_under_any_method)
{
	roll_back(methods[_i], 8, 2);
}
END_TEST

/* ---- ids -------------------------------------------------------------------------------------- */

START_TEST(old_ids_live_again_and_younger_ones_die)
{
	struct world *world = test_world(false, "soft-step");
	body_id first = test_spawn(world, TEST_BOX, vec3_zero());
	body_id second = test_spawn(world, TEST_BOX, vec3_make(0, 3, 0));
	struct rollback_base *base = make_base(world);
	test_step(world, 3);
	body_id third = test_spawn(world, TEST_SPHERE, vec3_make(0, 6, 0));
	joint_id joint =
		joined_join(world, JOINT_SPHERICAL, first, third, vec3_zero(), quat_identity());
	struct body_view then = test_body(world, third), view;
	struct bytes image = save(world, base);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = first;
	test_do(world, &remove);
	remove.remove.body = third;
	test_do(world, &remove);
	body_id fourth = test_spawn(world, TEST_HULL, vec3_make(5, 0, 0));
	test_step(world, 5);
	restore(world, base, &image);
	body_id ids[8];
	ck_assert_uint_eq(world_bodies(world, ids, COUNT_OF(ids)), 3);
	ck_assert_uint_eq(ids[0], first);
	ck_assert_uint_eq(ids[1], second);
	ck_assert_uint_eq(ids[2], third);
	ck_assert_int_eq(world_body(world, fourth, &view), STATUS_UNKNOWN_BODY);
	view = test_body(world, third);
	ck_assert_int_eq(memcmp(&view.position, &then.position, sizeof view.position), 0);
	ck_assert_uint_eq(world_joints(world, third, &joint, 1), 1);
	/* The same spawn gets the same id as before; no two bodies have one. */
	ck_assert_uint_eq(test_spawn(world, TEST_HULL, vec3_make(5, 0, 0)), fourth);
	ck_assert_uint_eq(world_bodies(world, ids, COUNT_OF(ids)), 4);
	test_check(world);
	bytes_release(&image);
	rollback_base_destroy(base);
	world_destroy(world);
}
END_TEST

/* Another world with the shapes of the base gets the state: a planner tries a branch there. */
START_TEST(an_image_is_restored_into_another_world)
{
	struct world *world = everything("soft-step"), *other = test_world(false, "soft-step");
	play(world, check_seed(), 5);
	struct rollback_base *base = make_base(world);
	play(world, check_seed(), 5);
	struct bytes image = save(world, base);
	struct command command = test_command(COMMAND_GRAVITY);
	test_do(other, &command);
	world_new_epoch(other, 9);
	restore(other, base, &image);
	ck_assert_uint_eq(world_info(other).epoch, 9);
	ck_assert_uint_eq(world_changes(other).created_count, 0);
	test_check(other);
	play(world, check_seed(), 10);
	play(other, check_seed(), 10);
	assert_same(other, world);
	bytes_release(&image);
	rollback_base_destroy(base);
	world_destroy(world);
	world_destroy(other);
}
END_TEST

START_TEST(the_block_of_a_method_is_restored)
{
	method_probe_install();
	struct world *world = test_world(false, "probe");
	test_spawn(world, TEST_BOX, vec3_zero());
	struct rollback_base *base = make_base(world);
	test_step(world, 7);
	struct bytes image = save(world, base);
	uint64_t then = test_hash(world);
	test_step(world, 5);
	uint64_t later = test_hash(world);
	restore(world, base, &image);
	ck_assert_uint_eq(test_hash(world), then);
	test_step(world, 5);
	ck_assert_uint_eq(test_hash(world), later);
	bytes_release(&image);
	rollback_base_destroy(base);
	world_destroy(world);
	ck_assert_uint_eq(method_probe_counts.created, method_probe_counts.destroyed);
}
END_TEST

/* ---- size and memory -------------------------------------------------------------------------- */

/* A heap of boxes and spheres that all move, far from the base. */
static struct world *heap_of(uint32_t count)
{
	struct world *world = test_world(false, "soft-step");
	struct rng rng = rng_seeded(check_seed());
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (uint32_t i = 0; i < count; i++)
		test_spawn(world, i % 2 ? TEST_BOX : TEST_SPHERE,
			   vec3_make(rng_range(&rng, -3, 3), 1 + 0.3 * i, rng_range(&rng, -3, 3)));
	return world;
}

START_TEST(an_image_is_within_its_bounds)
{
	enum { HEAD = 256 };
	struct world *world = heap_of(80);
	struct rollback_base *base = make_base(world);
	for (uint32_t i = 0; i < 12; i++) {
		test_step(world, 10);
		struct bytes image = save(world, base);
		struct world_stats stats = world_stats(world);
		uint32_t bound = 176 * stats.bodies + 344 * stats.touching +
				 96 * (stats.contacts - stats.touching) + HEAD;
		ck_assert_msg(image.count <= bound, "%zu bytes, bound %u", image.count, bound);
		bytes_release(&image);
	}
	/* At the base nothing differs. */
	struct rollback_base *now = make_base(world);
	struct bytes nothing = save(world, now);
	ck_assert_uint_le(nothing.count, 32);
	ck_assert_uint_gt(rollback_base_bytes(now), 1000);
	bytes_release(&nothing);
	rollback_base_destroy(now);
	rollback_base_destroy(base);
	world_destroy(world);
}
END_TEST

START_TEST(a_steady_series_of_rollbacks_does_not_allocate)
{
	struct world *world = heap_of(30);
	test_step(world, 60);
	struct rollback_base *base = make_base(world);
	struct bytes image = { 0 };
	uint64_t before = 0;
	for (uint32_t i = 0; i < 40; i++) {
		if (i == 20)
			before = heap_calls();
		bytes_reset(&image);
		ck_assert_int_eq(world_save_rollback(world, base, &image), STATUS_OK);
		test_step(world, 1 + i % 3);
		restore(world, base, &image);
	}
	ck_assert_uint_eq(heap_calls() - before, 0);
	bytes_release(&image);
	rollback_base_destroy(base);
	world_destroy(world);
}
END_TEST

/* Each allocation of a restore fails once. */
START_TEST(without_memory_nothing_changes)
{
	for (uint32_t anew = 0; anew < 2; anew++) {
		struct world *world = everything("soft-step");
		struct rollback_base *base = make_base(world);
		test_step(world, 5);
		struct bytes image = save(world, base);
		play(world, check_seed(), 30);
		if (anew)
			test_use(world, TEST_CAPSULE + TEST_PLANE);
		uint64_t then = test_hash(world);
		uint32_t failed = 0;
		for (uint64_t n = 1;; n++) {
			struct bytes out = { 0 };
			heap_fail_at(n);
			enum status status =
				world_restore_rollback(world, base, image.data, image.count, NULL);
			bool pending = heap_fail_pending();
			heap_fail_at(0);
			bytes_release(&out);
			if (status == STATUS_OK && pending)
				break;
			ck_assert_int_eq(status, STATUS_NO_MEMORY);
			ck_assert_uint_eq(test_hash(world), then);
			test_check(world);
			failed++;
		}
		ck_assert_uint_gt(failed, 0);
		bytes_release(&image);
		rollback_base_destroy(base);
		world_destroy(world);
	}
}
END_TEST

/* ---- bad images ------------------------------------------------------------------------------- */

START_TEST(a_damaged_image_is_refused_at_every_byte)
{
	struct world *world = everything("soft-step");
	struct rollback_base *base = make_base(world);
	play(world, check_seed(), 3);
	struct bytes image = save(world, base);
	play(world, check_seed(), 3);
	uint64_t then = test_hash(world);
	struct reason why;
	for (size_t i = 0; i < image.count; i++) {
		image.data[i] ^= (uint8_t)(1u << i % 8);
		ck_assert_int_eq(world_restore_rollback(world, base, image.data, image.count, &why),
				 STATUS_CORRUPT);
		image.data[i] ^= (uint8_t)(1u << i % 8);
	}
	for (size_t count = 0; count < image.count; count += 1 + count / 50) {
		uint8_t *cut = malloc(count + 1);
		memcpy(cut, image.data, count);
		ck_assert_int_eq(world_restore_rollback(world, base, cut, count, &why),
				 STATUS_CORRUPT);
		free(cut);
	}
	ck_assert_uint_eq(test_hash(world), then);
	test_check(world);
	bytes_release(&image);
	rollback_base_destroy(base);
	world_destroy(world);
}
END_TEST

/* With a right checksum: refused with nothing changed, or another valid state. */
START_TEST(a_forged_image_is_refused_or_harmless)
{
	struct world *world = everything("soft-step");
	struct rollback_base *base = make_base(world);
	play(world, check_seed(), 20);
	struct bytes image = save(world, base), full = test_save(world);
	struct rng rng = rng_seeded(check_seed() + 5);
	uint32_t refused = 0, accepted = 0;
	for (uint32_t i = 0; i < 1200; i++) {
		struct reason why;
		size_t at = rng_below(&rng, i % 2 ? (uint32_t)image.count - 8 : 400);
		uint8_t old = image.data[at];
		image.data[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
		put_le64(image.data + image.count - 8, hash64(image.data, image.count - 8, 0));
		enum status status =
			world_restore_rollback(world, base, image.data, image.count, &why);
		image.data[at] = old;
		if (status != STATUS_OK) {
			refused++;
			continue;
		}
		accepted++;
		test_check(world);
		status = world_step(world, &parallel_serial, &why);
		ck_assert(status == STATUS_OK || status == STATUS_LIMIT);
		ck_assert_int_eq(world_restore(world, full.data, full.count, &why), STATUS_OK);
	}
	ck_assert_uint_gt(refused, 200);
	ck_assert_uint_gt(accepted, 100);
	bytes_release(&image);
	bytes_release(&full);
	rollback_base_destroy(base);
	world_destroy(world);
}
END_TEST

START_TEST(an_image_of_another_base_world_or_library_is_refused_by_name)
{
	struct world *world = everything("soft-step"), *flat = test_world(true, "soft-step");
	struct rollback_base *base = make_base(world), *own = make_base(flat);
	struct bytes image = save(world, base);
	struct reason why;
	ck_assert_int_eq(world_restore_rollback(flat, own, image.data, image.count, &why),
			 STATUS_CORRUPT);
	ck_assert_ptr_nonnull(strstr(why.text, "another base"));
	ck_assert_int_eq(world_restore_rollback(flat, base, image.data, image.count, &why),
			 STATUS_RANGE);
	struct world *empty = joined_world("soft-step", 60, vec3_zero());
	world_set_shape_source(empty, (struct shape_source){ 0 });
	uint64_t then = test_hash(empty);
	ck_assert_int_eq(world_restore_rollback(empty, base, image.data, image.count, &why),
			 STATUS_UNKNOWN_SHAPE);
	ck_assert_uint_eq(test_hash(empty), then);
	test_check(empty);
	test_check(flat);
	bytes_release(&image);
	rollback_base_destroy(base);
	rollback_base_destroy(own);
	world_destroy(world);
	world_destroy(flat);
	world_destroy(empty);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/rollback");
	TCase *same = tcase_create("same future");
	tcase_set_timeout(same, 60);
	tcase_add_test(same, a_hundred_rollbacks_in_a_thousand_ticks_leave_no_trace);
	tcase_add_loop_test(same, rollbacks_leave_no_trace_under_any_method, 0, COUNT_OF(methods));
	tcase_add_test(same, old_ids_live_again_and_younger_ones_die);
	tcase_add_test(same, an_image_is_restored_into_another_world);
	tcase_add_test(same, the_block_of_a_method_is_restored);
	suite_add_tcase(suite, same);
	TCase *size = tcase_create("size and memory");
	tcase_set_timeout(size, 60);
	tcase_add_test(size, an_image_is_within_its_bounds);
	tcase_add_test(size, a_steady_series_of_rollbacks_does_not_allocate);
	tcase_add_test(size, without_memory_nothing_changes);
	suite_add_tcase(suite, size);
	TCase *bad = tcase_create("bad images");
	tcase_set_timeout(bad, 60);
	tcase_add_test(bad, a_damaged_image_is_refused_at_every_byte);
	tcase_add_test(bad, a_forged_image_is_refused_or_harmless);
	tcase_add_test(bad, an_image_of_another_base_world_or_library_is_refused_by_name);
	suite_add_tcase(suite, bad);
	return suite;
}

int main(void)
{
	return check_main(make);
}
