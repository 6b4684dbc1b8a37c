/* A tick: motion, lists of changes, events, limits and recovery, methods, and the heap. */
#include "server/engine/engine.h"

#include "server/base/heap.h"
#include "server/engine/world/world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/method_probe.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- motion without contact ------------------------------------------------------------------- */

START_TEST(falling_bodies_follow_their_parabolas)
{
	struct world *world = test_world(false, "free");
	body_id one = test_spawn(world, TEST_SPHERE, vec3_make(0, 100, 0));
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(3, 50, -1), &item);
	spawn.spawn.velocity = vec3_make(2, 7, -1);
	body_id other = test_do(world, &spawn);
	for (int tick = 1; tick <= 240; tick++) {
		test_step(world, 1);
		double t = tick / 60.0;
		vec3 a = test_body(world, one).position, b = test_body(world, other).position;
		ck_assert_double_eq_tol(a.y, 100 - 0.5 * 9.81 * t * t, 1e-10);
		ck_assert_double_eq_tol(b.x, 3 + 2 * t, 1e-10);
		ck_assert_double_eq_tol(b.y, 50 + 7 * t - 0.5 * 9.81 * t * t, 1e-10);
		ck_assert_double_eq_tol(b.z, -1 - t, 1e-10);
		ck_assert_double_eq_tol(test_body(world, one).velocity.y, -9.81 * t, 1e-10);
	}
	world_destroy(world);
}
END_TEST

/* A plate with three different moments of inertia, spinning about the unstable middle axis. */
static body_id spawn_tumbler(struct world *world)
{
	struct attachment items[3] = {
		{ test_use(world, TEST_BOX), { 0, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_BOX), { 1, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_CAPSULE), { 0.2, 0.9, 0.1 }, { 1, 0, 0, 0 } }
	};
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.shapes = (struct attachment_list){ items, 3 };
	spawn.spawn.angular_velocity = vec3_make(0.3, 4, 0.1);
	return test_do(world, &spawn);
}

START_TEST(a_tumbling_body_conserves_angular_momentum_and_energy)
{
	struct world_options options = test_options(false, "free");
	options.gravity = vec3_zero();
	options.rate_num = 240;
	struct world *world = test_world_of(&options);
	body_id body = spawn_tumbler(world);
	struct world_energy before = world_energy(world);
	double turned = 0;
	for (int i = 0; i < 240 * 10; i++) {
		test_step(world, 1);
		struct world_energy now = world_energy(world);
		ck_assert_double_le(vec3_distance(now.angular, before.angular),
				    1e-9 * vec3_length(before.angular));
		ck_assert_double_eq_tol(now.kinetic, before.kinetic, 1e-9 * before.kinetic);
		turned = fmax(turned, fabs(test_body(world, body).angular_velocity.x));
	}
	/* The axis has moved, so the plate does tumble. */
	ck_assert_double_gt(turned, 1);
	world_destroy(world);
}
END_TEST

/* The error of the rotation is of second order: a quarter of the step gives a sixteenth of it. */
START_TEST(smaller_ticks_make_tumbling_more_exact)
{
	static const uint32_t rates[] = { 60, 240, 3840 };
	quat end[3];
	for (int i = 0; i < 3; i++) {
		struct world_options options = test_options(false, "free");
		options.gravity = vec3_zero();
		options.rate_num = rates[i];
		struct world *world = test_world_of(&options);
		body_id body = spawn_tumbler(world);
		test_step(world, options.rate_num * 3);
		end[i] = test_body(world, body).rotation;
		world_destroy(world);
	}
	double rough = 1 - fabs(quat_dot(end[0], end[2])),
	       fine = 1 - fabs(quat_dot(end[1], end[2]));
	/* 1 − cos of half the angle is proportional to the square of the angle. */
	ck_assert_double_lt(sqrt(fine), sqrt(rough) / 10);
}
END_TEST

START_TEST(the_same_commands_make_the_same_hashes)
{
	uint64_t hashes[2][3];
	for (int run = 0; run < 2; run++) {
		struct world *world = test_world(false, "soft-step");
		test_spawn(world, TEST_PLANE, vec3_zero());
		for (int i = 0; i < 5; i++)
			test_spawn(world, TEST_BOX, vec3_make(0.1 * i, 1 + 1.1 * i, 0));
		for (int i = 0; i < 3; i++) {
			test_step(world, 40);
			hashes[run][i] = world_tick_hash(world);
		}
		test_check(world);
		world_destroy(world);
	}
	ck_assert_int_eq(memcmp(hashes[0], hashes[1], sizeof hashes[0]), 0);
	ck_assert_uint_ne(hashes[0][0], hashes[0][1]);
}
END_TEST

/* ---- changes and events ----------------------------------------------------------------------- */

static bool is_listed(const body_id *ids, uint32_t count, body_id id)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

START_TEST(changes_list_exactly_the_bodies_that_changed)
{
	struct world *world = test_world(false, "free");
	body_id falls = test_spawn(world, TEST_SPHERE, vec3_zero());
	struct attachment item;
	struct command fixed = test_spawn_command(world, TEST_BOX, vec3_make(5, 0, 0), &item);
	fixed.spawn.status = BODY_STATIC;
	body_id stands = test_do(world, &fixed);
	struct world_changes changes = world_changes(world);
	ck_assert_uint_eq(changes.created_count, 2);
	ck_assert_uint_eq(changes.moved_count, 0);
	test_step(world, 1);
	changes = world_changes(world);
	ck_assert_uint_eq(changes.created_count, 2); /* since the last boundary */
	ck_assert_uint_eq(changes.moved_count, 0);   /* new bodies are in `created` only */
	test_step(world, 1);
	changes = world_changes(world);
	ck_assert_uint_eq(changes.created_count, 0);
	ck_assert_uint_eq(changes.moved_count, 1);
	ck_assert(is_listed(changes.moved, 1, falls));
	struct command tag = test_command(COMMAND_SET_TAG), remove = test_command(COMMAND_REMOVE);
	tag.set_tag.body = stands;
	tag.set_tag.tag = 4;
	test_do(world, &tag);
	remove.remove.body = falls;
	test_do(world, &remove);
	/* A body made and removed between two boundaries is in no list. */
	remove.remove.body = test_spawn(world, TEST_SPHERE, vec3_zero());
	test_do(world, &remove);
	test_step(world, 1);
	changes = world_changes(world);
	ck_assert_uint_eq(changes.created_count, 0);
	ck_assert_uint_eq(changes.moved_count, 0);
	ck_assert_uint_eq(changes.changed_count, 1);
	ck_assert_uint_eq(changes.changed[0], stands);
	ck_assert_uint_eq(changes.removed_count, 1);
	ck_assert_uint_eq(changes.removed[0], falls);
	world_destroy(world);
}
END_TEST

/* A copy of the body views that is updated from the lists of changes only: of every boundary, or of three
 * boundaries together. */
enum { COPY_MAX = 400 };

START_TEST(a_copy_updated_from_the_changes_stays_equal)
{
	static struct body_view copy[COPY_MAX];
	memset(copy, 0, sizeof copy);
	struct world *world = test_world(false, "soft-step");
	uint64_t random = check_seed();
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (uint32_t tick = 0; tick < 250; tick++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint32_t pick = (uint32_t)(random >> 33);
		if (tick % 5 == 0)
			test_spawn(world, (enum test_shape)(pick % 4),
				   vec3_make(pick % 7 * 0.5, 2, pick % 5 * 0.5));
		struct command remove = test_command(COMMAND_REMOVE);
		remove.remove.body = 1 + pick % 60;
		if (tick % 7 == 0)
			(void)test_try(world, &remove);
		test_step(world, 1);
		if (_i == 1 && tick % 3 != 0) {
			world_keep_changes(world);
			continue;
		}
		struct world_changes c = world_changes(world);
		for (uint32_t i = 0; i < c.removed_count; i++)
			copy[c.removed[i]].id = 0;
		for (uint32_t i = 0; i < c.created_count; i++)
			copy[c.created[i]] = test_body(world, c.created[i]);
		for (uint32_t i = 0; i < c.moved_count; i++)
			copy[c.moved[i]] = test_body(world, c.moved[i]);
		for (uint32_t i = 0; i < c.changed_count; i++)
			copy[c.changed[i]] = test_body(world, c.changed[i]);
		for (uint32_t i = 1; i < c.moved_count; i++)
			ck_assert_uint_lt(c.moved[i - 1], c.moved[i]);
		for (body_id id = 1; id < COPY_MAX; id++) {
			struct body_view now;
			bool there = world_body(world, id, &now) == STATUS_OK;
			ck_assert_int_eq(there, copy[id].id != 0);
			if (!there)
				continue;
			ck_assert_int_eq(now.asleep, copy[id].asleep);
			ck_assert(vec3_equal(now.position, copy[id].position));
			ck_assert(quat_equal(now.rotation, copy[id].rotation));
			ck_assert(vec3_equal(now.velocity, copy[id].velocity));
		}
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(events_are_sorted_by_kind_and_ids)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 9; i >= 0; i--)
		test_spawn(world, TEST_SPHERE, vec3_make(2.0 * i, 0.51, 0));
	uint32_t begins = 0, sleeps = 0, most = 0;
	for (int tick = 0; tick < 200; tick++) {
		test_step(world, 1);
		uint32_t count;
		const struct event *events = world_events(world, &count);
		most = count > most ? count : most;
		for (uint32_t i = 0; i < count; i++) {
			begins += events[i].kind == EVENT_CONTACT_BEGIN;
			sleeps += events[i].kind == EVENT_SLEEP;
			if (i == 0)
				continue;
			const struct event *a = &events[i - 1], *b = &events[i];
			ck_assert(a->kind < b->kind ||
				  (a->kind == b->kind &&
				   (a->a < b->a || (a->a == b->a && a->b <= b->b))));
		}
	}
	ck_assert_uint_eq(begins, 10);
	ck_assert_uint_eq(sleeps, 10);
	ck_assert_uint_ge(most, 10);
	ck_assert_uint_eq(world_stats(world).awake, 0);
	struct command wake = test_command(COMMAND_WAKE);
	wake.wake.body = 5;
	test_do(world, &wake);
	uint32_t count;
	const struct event *events = world_events(world, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(events[0].kind, EVENT_WAKE);
	ck_assert_uint_eq(events[0].a, 5);
	ck_assert_uint_eq(world_changes(world).changed_count, 1);
	world_destroy(world);
}
END_TEST

START_TEST(a_body_held_by_a_force_wakes_when_the_force_ends)
{
	struct world_options options = test_options(false, "soft-step");
	options.gravity = vec3_zero();
	struct world *world = test_world_of(&options);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command force = test_command(COMMAND_FORCE);
	force.force.body = body;
	force.force.force = vec3_make(0, 0, 0);
	force.force.ticks = 100;
	test_do(world, &force);
	test_step(world, 99);
	ck_assert(test_body(world, body).asleep);
	test_step(world, 1);
	ck_assert(!test_body(world, body).asleep);
	world_destroy(world);
}
END_TEST

/* ---- limits and recovery ---------------------------------------------------------------------- */

/* An event finds no memory, nor does the report of its loss: the next list of events has the report. */
START_TEST(a_loss_of_events_is_reported_once_there_is_memory)
{
	struct world *world = test_world(false, "free");
	struct event sleeping = { .kind = EVENT_SLEEP };
	uint32_t count;
	uint32_t room = world->dynamics.events.capacity;
	for (uint32_t i = 0; i < room; i++)
		dynamics_event(&world->dynamics, sleeping);
	heap_fail_at(1);
	dynamics_event(&world->dynamics, sleeping);
	ck_assert(!heap_fail_pending());
	world_sort_events(world);
	(void)world_events(world, &count);
	ck_assert_uint_eq(count, room);
	dynamics_event(&world->dynamics, sleeping);
	world_sort_events(world);
	const struct event *events = world_events(world, &count);
	ck_assert_uint_eq(count, room + 2);
	uint32_t reports = 0;
	for (uint32_t i = 0; i < count; i++)
		if (events[i].kind == EVENT_LIMIT) {
			ck_assert_uint_eq(events[i].child_a, 1);
			reports++;
		}
	ck_assert_uint_eq(reports, 1);
	ck_assert_uint_eq(world->dynamics.events.lost, 0);
	world->dynamics.events.count = 0;
	world_destroy(world);
}
END_TEST

START_TEST(a_step_over_a_limit_is_refused_and_the_world_recovers)
{
	struct world_options options = test_options(false, "soft-step");
	options.limits.contacts = 3;
	struct world *world = test_world_of(&options);
	test_spawn(world, TEST_PLANE, vec3_zero());
	body_id ids[6];
	for (int i = 0; i < 6; i++)
		ids[i] = test_spawn(world, TEST_SPHERE, vec3_make(3.0 * i, 0.5, 0));
	struct reason why;
	struct body_view before = test_body(world, ids[0]);
	for (int attempt = 0; attempt < 3; attempt++) {
		ck_assert_int_eq(world_step(world, &parallel_serial, &why), STATUS_LIMIT);
		ck_assert(world_stopped(world));
		ck_assert_uint_eq(world_info(world).tick, 0);
		uint32_t count;
		const struct event *events = world_events(world, &count);
		ck_assert_uint_eq(count, 1);
		ck_assert_int_eq(events[0].kind, EVENT_LIMIT);
		ck_assert_double_eq(events[0].value, 3);
	}
	struct body_view after = test_body(world, ids[0]);
	ck_assert(vec3_equal(before.position, after.position));
	test_check(world);
	struct command remove = test_command(COMMAND_REMOVE);
	for (int i = 3; i < 6; i++) {
		remove.remove.body = ids[i];
		test_do(world, &remove);
	}
	ck_assert_int_eq(world_step(world, &parallel_serial, &why), STATUS_OK);
	ck_assert(!world_stopped(world));
	ck_assert_uint_eq(world_info(world).tick, 1);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_whole_pile_may_leave_the_bounds_in_one_tick)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 0; i < 125; i++)
		test_spawn(world, TEST_SPHERE,
			   vec3_make(0.99 * (i % 5), 0.5 + 0.99 * (i / 25), 0.99 * (i / 5 % 5)));
	test_step(world, 10);
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = BOUNDS_INACTIVE;
	bounds.bounds.maximum.y = -10;
	test_do(world, &bounds);
	test_step(world, 1);
	uint32_t count, left = 0, ends = 0;
	const struct event *events = world_events(world, &count);
	for (uint32_t i = 0; i < count; i++) {
		left += events[i].kind == EVENT_OUT_OF_BOUNDS;
		ends += events[i].kind == EVENT_CONTACT_END;
	}
	ck_assert_uint_eq(left, 125);
	ck_assert_uint_gt(ends, 125);
	ck_assert_uint_eq(world_stats(world).awake, 0);
	ck_assert_uint_eq(world_stats(world).contacts, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(bodies_stay_inside_the_walls)
{
	for (int planar = 0; planar < 2; planar++) {
		struct world *world = test_world(planar, "soft-step");
		struct command bounds = test_command(COMMAND_BOUNDS);
		bounds.bounds.mode = BOUNDS_WALLS;
		bounds.bounds.minimum = vec3_make(-3, 0, -3);
		bounds.bounds.maximum = vec3_make(3, 8, 3);
		test_do(world, &bounds);
		struct attachment item;
		for (int i = 0; i < 6; i++) {
			struct command spawn = test_spawn_command(
				world, planar ? TEST_POLYGON : (enum test_shape)(i % 4),
				vec3_make(0, 1 + 1.1 * i, 0), &item);
			spawn.spawn.velocity = vec3_make(8, 3, planar ? 0 : -6);
			spawn.spawn.mask = 0; /* filters do not apply to walls */
			test_do(world, &spawn);
		}
		test_step(world, 300);
		body_id ids[8];
		uint32_t count = world_bodies(world, ids, 8);
		ck_assert_uint_eq(count, 6);
		for (uint32_t i = 0; i < count; i++) {
			struct body_view view = test_body(world, ids[i]);
			ck_assert_double_le(fabs(view.position.x), 3);
			ck_assert_double_le(fabs(view.position.z), 3);
			ck_assert_double_ge(view.position.y, 0);
			ck_assert_double_lt(view.position.y, 1);
		}
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

START_TEST(a_body_at_infinity_is_quarantined_and_a_command_brings_it_back)
{
	struct world *world = test_world(false, "free");
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.mass = 1e-6;
	spawn.spawn.position.x = 999990;
	body_id body = test_do(world, &spawn);
	struct command push = test_command(COMMAND_IMPULSE);
	push.impulse.body = body;
	push.impulse.impulse.x = 1e12;
	test_do(world, &push);
	test_step(world, 1);
	struct body_view view = test_body(world, body);
	ck_assert(view.quarantined);
	ck_assert_int_eq(view.status, BODY_INACTIVE);
	ck_assert_double_eq(view.position.x, 999990);
	uint32_t count;
	const struct event *events = world_events(world, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(events[0].kind, EVENT_QUARANTINE);
	ck_assert_uint_eq(world_stats(world).quarantined_total, 1);
	ck_assert_int_eq(test_try(world, &push), STATUS_QUARANTINED);
	test_check(world);
	struct command status = test_command(COMMAND_SET_STATUS);
	status.set_status.body = body;
	status.set_status.status = BODY_DYNAMIC;
	test_do(world, &status);
	test_step(world, 1);
	ck_assert(!test_body(world, body).quarantined);
	ck_assert_double_lt(test_body(world, body).velocity.y, 0);
	world_destroy(world);
}
END_TEST

/* ---- methods ---------------------------------------------------------------------------------- */

START_TEST(methods_are_listed_and_may_refuse_a_world)
{
	struct method_info list[16];
	uint32_t count = world_methods(list, COUNT_OF(list));
	ck_assert_uint_ge(count, 3);
	method_probe_install();
	struct world *world = test_world(false, "free");
	struct reason why;
	for (uint32_t i = 0; i < count; i++)
		ck_assert_int_eq(world_supports(world, list[i].name, &why), STATUS_OK);
	ck_assert_int_eq(world_supports(world, "magic", &why), STATUS_UNKNOWN_METHOD);
	test_spawn(world, TEST_HULL, vec3_zero());
	ck_assert_int_eq(world_supports(world, "probe", &why), STATUS_METHOD_REFUSES);
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("probe");
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_try(world, &method), STATUS_METHOD_REFUSES);
	ck_assert_uint_eq(test_hash(world), before);
	ck_assert_str_eq(world_info(world).method, "free");
	world_destroy(world);
}
END_TEST

START_TEST(a_method_may_refuse_every_command_of_its_batch)
{
	method_probe_install();
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command hull = test_spawn_command(world, TEST_HULL, vec3_zero(), &item);
	struct command probe = test_command(COMMAND_METHOD), soft = test_command(COMMAND_METHOD);
	probe.method.name = test_text("probe");
	soft.method.name = test_text("soft-step");
	struct command before[2] = { hull, probe }, after[2] = { probe, hull },
		       back[3] = { probe, soft, hull };
	struct batch_result result;
	/* The METHOD is refused, as it would be alone after the SPAWN. */
	ck_assert_int_eq(test_batch(world, before, 2, &result), STATUS_METHOD_REFUSES);
	ck_assert_int_eq(result.why.index, 1);
	ck_assert_int_eq(test_batch(world, after, 2, &result), STATUS_METHOD_REFUSES);
	ck_assert_int_eq(result.why.index, 1);
	ck_assert_int_eq(test_batch(world, back, 3, &result), STATUS_OK);
	ck_assert_str_eq(world_info(world).method, "soft-step");
	world_destroy(world);
}
END_TEST

START_TEST(worlds_that_switch_methods_fork_and_restore_with_equal_hashes)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 0; i < 8; i++)
		test_spawn(world, TEST_SPHERE, vec3_make(0.3 * (i % 3), 0.6 + i, 0.2 * (i % 2)));
	static const char *const names[] = { "lcp",	   "soft-step", "projection", "free",
					     "reflection", "impact",	"lcp" };
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		test_step(world, 17);
		struct command method = test_command(COMMAND_METHOD);
		method.method.name = test_text(names[i]);
		struct bytes image = test_save(world);
		struct world *fork;
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &fork, NULL),
			STATUS_OK);
		test_do(world, &method);
		test_do(fork, &method);
		test_step(fork, 20);
		test_step(world, 20);
		ck_assert_uint_eq(test_hash(fork), test_hash(world));
		ck_assert_int_eq(world_restore(world, image.data, image.count, NULL), STATUS_OK);
		test_do(world, &method);
		test_step(world, 20);
		ck_assert_uint_eq(test_hash(fork), test_hash(world));
		test_check(world);
		bytes_release(&image);
		world_destroy(fork);
	}
	world_destroy(world);
}
END_TEST

/* ---- the heap --------------------------------------------------------------------------------- */

static struct world *busy_world(const char *method)
{
	struct world *world = test_world(false, method);
	struct command awake = test_command(COMMAND_PARAMETER);
	awake.parameter.name = test_text("sleep.enabled");
	test_do(world, &awake);
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 0; i < 60; i++)
		test_spawn(world, (enum test_shape)(strcmp(method, "lcp") == 0 ? 0 : i % 4),
			   vec3_make(1.2 * (i % 5), 0.6 + 1.1 * (i / 5), 0.1 * i));
	return world;
}

START_TEST(a_steady_tick_makes_no_heap_call)
{
	static const char *const names[] = { "free", "soft-step", "lcp", "projection",
					     "reflection" };
	struct world *world = busy_world(names[_i]);
	test_step(world, 400);
	struct command tag = test_command(COMMAND_SET_TAG);
	tag.set_tag.body = 3;
	test_do(world, &tag);
	uint64_t before = heap_calls_total();
	for (uint32_t i = 0; i < 50; i++) {
		tag.set_tag.tag = i;
		test_do(world, &tag);
		test_step(world, 1);
		(void)test_hash(world);
		(void)world_changes(world);
	}
	ck_assert_uint_eq(heap_calls_total() - before, 0);
	ck_assert_uint_eq(world_stats(world).awake, 60);
	world_destroy(world);
}
END_TEST

/* Rows of boxes on each other. A second pile in the same world finds its memory, too; bodies that touch
 * nothing take none. */
START_TEST(the_first_tick_of_a_pile_takes_no_memory_for_contacts)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
	for (uint32_t pile = 0; pile < 2; pile++) {
		for (uint32_t i = 0; i < 100; i++)
			test_spawn(world, TEST_BOX,
				   vec3_make(40.0 * pile + i % 10, 0.5 + i / 10, 0));
		const struct dynamics *dynamics = &world->dynamics;
		const double *rows = world->tables.contact.anchor[0];
		const struct arena_block *block = dynamics->scratch.first;
		uint64_t growths = dynamics->scratch.growths;
		ck_assert_ptr_nonnull(rows);
		test_step(world, 1);
		ck_assert_uint_gt(dynamics->contact_used.count, 100 * (pile + 1));
		ck_assert_ptr_eq(world->tables.contact.anchor[0], rows);
		ck_assert_ptr_eq(dynamics->scratch.first, block);
		ck_assert_uint_eq(dynamics->scratch.growths, growths);
	}
	world_destroy(world);
	world = test_world(false, "soft-step");
	for (uint32_t i = 0; i < 100; i++)
		test_spawn(world, TEST_BOX, vec3_make(10 * i, 5, 0));
	ck_assert_uint_eq(world->tables.contact.capacity, 0);
	world_destroy(world);
}
END_TEST

START_TEST(a_thousand_empty_worlds_need_little_memory)
{
	static struct world *worlds[1000];
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < COUNT_OF(worlds); i++) {
		worlds[i] = test_world(false, "soft-step");
		test_step(worlds[i], 2);
		bytes += world_stats(worlds[i]).memory_bytes;
	}
	ck_assert_uint_lt(bytes, 20u << 20);
	for (uint32_t i = 0; i < COUNT_OF(worlds); i++)
		world_destroy(worlds[i]);
}
END_TEST

/* Runs `act` with the n-th allocation failing, for n from 1 until none fails. `act` returns whether it
 * succeeded; if not, the state must be unchanged. */
static void fail_everywhere(struct world *world, bool (*act)(struct world *), const char *what)
{
	uint32_t failed = 0;
	for (uint64_t n = 1;; n++) {
		uint64_t state = test_hash(world), tick = world_tick_hash(world);
		heap_fail_at(n);
		bool done = act(world);
		bool pending = heap_fail_pending();
		heap_fail_at(0);
		if (done && pending)
			break;
		if (!done) {
			failed++;
			ck_assert_msg(test_hash(world) == state, "%s, allocation %d", what, (int)n);
			ck_assert_uint_eq(world_tick_hash(world), tick);
			test_check(world);
		}
		ck_assert_uint_lt(n, 500);
	}
	ck_assert_msg(failed > 0, "%s never failed", what);
}

static struct world *copied;
static struct bytes image;

static bool act_create(struct world *world)
{
	UNUSED(world);
	struct world_options options = test_options(false, "soft-step");
	struct world *made = NULL;
	int64_t live = heap_live();
	enum status status = world_create(&options, &made, NULL);
	ck_assert(status == STATUS_OK || status == STATUS_NO_MEMORY);
	ck_assert((status == STATUS_OK) == (made != NULL));
	world_destroy(made);
	ck_assert_int_eq(heap_live(), live);
	return status == STATUS_OK;
}

static bool act_load(struct world *world)
{
	UNUSED(world);
	int64_t live = heap_live();
	copied = NULL;
	enum status status =
		world_load(image.data, image.count, test_shape_source(), &copied, NULL);
	ck_assert(status == STATUS_OK || status == STATUS_NO_MEMORY);
	world_destroy(copied);
	ck_assert_int_eq(heap_live(), live);
	return status == STATUS_OK;
}

static bool act_restore(struct world *world)
{
	int64_t live = heap_live();
	enum status status = world_restore(world, image.data, image.count, NULL);
	ck_assert(status == STATUS_OK || status == STATUS_NO_MEMORY);
	if (status != STATUS_OK)
		ck_assert_int_eq(heap_live(), live);
	return status == STATUS_OK;
}

static bool act_apply(struct world *world)
{
	static uint32_t round;
	enum { SPAWNS = 100 };
	static struct command commands[SPAWNS + 3], later;
	struct attachment item = { .shape = -1, .rotation = quat_identity() };
	round++;
	commands[0] = test_command(COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_CAPSULE);
	commands[1] = test_command(COMMAND_BOUNDS);
	commands[1].bounds.mode = BOUNDS_WALLS;
	for (uint32_t i = 0; i < SPAWNS; i++) {
		commands[2 + i] = test_command(COMMAND_SPAWN);
		commands[2 + i].spawn.position = vec3_make(2.0 * i, 5, round);
		commands[2 + i].spawn.shapes = (struct attachment_list){ &item, 1 };
	}
	commands[SPAWNS + 2] = test_command(COMMAND_FORCE);
	commands[SPAWNS + 2].force.body = -3;
	later = test_command(COMMAND_SPAWN);
	struct batch batches[2] = {
		{ .session = 1, .number = 1, .commands = commands, .count = COUNT_OF(commands) },
		{ .session = 2, .number = 1, .at = 100, .commands = &later, .count = 1 }
	};
	struct batch_result results[2];
	enum status status = world_apply(world, batches, 2, results);
	ck_assert(status == STATUS_OK || status == STATUS_NO_MEMORY);
	if (status == STATUS_OK) {
		ck_assert_int_eq(results[0].status, STATUS_OK);
		ck_assert_int_eq(results[1].status, STATUS_OK);
	}
	return status == STATUS_OK;
}

START_TEST(a_failed_allocation_changes_nothing)
{
	struct world *world = test_world(false, "soft-step");
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 0; i < 20; i++)
		test_spawn(world, (enum test_shape)(i % 4), vec3_make(0, 1 + i, 0));
	test_step(world, 30);
	image = test_save(world);
	fail_everywhere(world, act_create, "create");
	fail_everywhere(world, act_load, "load");
	fail_everywhere(world, act_restore, "restore");
	fail_everywhere(world, act_apply, "apply");
	bytes_release(&image);
	test_step(world, 5);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_step_without_memory_is_refused_and_succeeds_later)
{
	struct world *world = busy_world("soft-step"), *twin = busy_world("soft-step");
	uint32_t failed = 0;
	for (uint64_t n = 1; n < 400; n++) {
		uint64_t tick = world_info(world).tick, hash = test_hash(world);
		heap_fail_at(n % 9 + 1);
		struct reason why;
		enum status status = world_step(world, &parallel_serial, &why);
		heap_fail_at(0);
		if (status == STATUS_OK)
			continue;
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_uint_eq(world_info(world).tick, tick);
		/* The failure of an allocation is no input, so it must not change the state. */
		ck_assert_uint_eq(test_hash(world), hash);
		ck_assert(world_stopped(world) && world_info(world).stopped);
		failed++;
	}
	ck_assert_uint_gt(failed, 5);
	test_step(world, 1);
	test_step(twin, (uint32_t)world_info(world).tick);
	ck_assert_uint_eq(test_hash(world), test_hash(twin));
	world_destroy(world);
	world_destroy(twin);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/step");
	TCase *motion = tcase_create("motion");
	tcase_add_test(motion, falling_bodies_follow_their_parabolas);
	tcase_add_test(motion, a_tumbling_body_conserves_angular_momentum_and_energy);
	tcase_add_test(motion, smaller_ticks_make_tumbling_more_exact);
	tcase_add_test(motion, the_same_commands_make_the_same_hashes);
	suite_add_tcase(suite, motion);
	TCase *told = tcase_create("told");
	tcase_add_test(told, changes_list_exactly_the_bodies_that_changed);
	tcase_add_loop_test(told, a_copy_updated_from_the_changes_stays_equal, 0, 2);
	tcase_add_test(told, events_are_sorted_by_kind_and_ids);
	tcase_add_test(told, a_body_held_by_a_force_wakes_when_the_force_ends);
	suite_add_tcase(suite, told);
	TCase *limits = tcase_create("limits");
	tcase_add_test(limits, a_loss_of_events_is_reported_once_there_is_memory);
	tcase_add_test(limits, a_step_over_a_limit_is_refused_and_the_world_recovers);
	tcase_add_test(limits, a_whole_pile_may_leave_the_bounds_in_one_tick);
	tcase_add_test(limits, bodies_stay_inside_the_walls);
	tcase_add_test(limits, a_body_at_infinity_is_quarantined_and_a_command_brings_it_back);
	suite_add_tcase(suite, limits);
	TCase *methods = tcase_create("methods");
	tcase_add_test(methods, methods_are_listed_and_may_refuse_a_world);
	tcase_add_test(methods, a_method_may_refuse_every_command_of_its_batch);
	tcase_add_test(methods, worlds_that_switch_methods_fork_and_restore_with_equal_hashes);
	suite_add_tcase(suite, methods);
	TCase *heap = tcase_create("heap");
	tcase_add_loop_test(heap, a_steady_tick_makes_no_heap_call, 0, 5);
	tcase_add_test(heap, the_first_tick_of_a_pile_takes_no_memory_for_contacts);
	tcase_add_test(heap, a_thousand_empty_worlds_need_little_memory);
	tcase_add_test(heap, a_failed_allocation_changes_nothing);
	tcase_add_test(heap, a_step_without_memory_is_refused_and_succeeds_later);
	suite_add_tcase(suite, heap);
	return suite;
}

int main(void)
{
	return check_main(make);
}
