/* The parts of a step that every method uses: pairs, limits, quarantine, sleep, caches and contact
 * events. */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/step.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

/* ---- pairs ------------------------------------------------------------------------------------ */

static bool boxes_meet(const struct tables *tables, uint32_t a, uint32_t b)
{
	struct aabb x = { tables->placement.fat_min[a], tables->placement.fat_max[a] };
	struct aabb y = { tables->placement.fat_min[b], tables->placement.fat_max[b] };
	return aabb_overlaps(x, y);
}

/* The contact rows are the pairs that brute force finds. Each body has one placement here. */
static void check_pairs(const struct stage *stage)
{
	const struct tables *tables = &stage->tables;
	uint32_t wanted = 0;
	for (uint32_t a = 0; a < tables->placement.count; a++)
		for (uint32_t b = a + 1; b < tables->placement.count; b++) {
			if (tables->placement.body[a] == 0 || tables->placement.body[b] == 0)
				continue;
			bool dynamic =
				tables->body.status[placement_body(tables, a)] == BODY_DYNAMIC ||
				tables->body.status[placement_body(tables, b)] == BODY_DYNAMIC;
			struct contact_pair pair = { { a, 0 }, { b, 0 } };
			bool there = contact_find(&stage->dynamics, &pair) != DYNAMICS_NONE;
			ck_assert_int_eq(there, dynamic && boxes_meet(tables, a, b));
			wanted += there;
		}
	ck_assert_uint_eq(stage->dynamics.contact_used.count, wanted);
}

static void scatter_spheres(struct stage *stage, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	uint32_t sphere = stage_shape(stage, make_sphere(0.4));
	for (uint32_t i = 0; i < count; i++) {
		struct stage_body body = { .status = i % 4 == 0 ? BODY_STATIC : BODY_DYNAMIC,
					   .shape = sphere };
		body.position = vec3_make(rng_range(&rng, -2, 2), rng_range(&rng, -2, 2),
					  rng_range(&rng, -2, 2));
		body.velocity = vec3_make(rng_range(&rng, -2, 2), rng_range(&rng, -2, 2), 0);
		stage_add(stage, body);
	}
}

/* A step that moves no body; only the contact rows are updated. */
static void commit_rows_only(struct stage *stage)
{
	struct step step;
	ck_assert_int_eq(step_begin(&step, &stage->dynamics, stage->dt, true, NULL, NULL),
			 STATUS_OK);
	struct collide_options options = collide_options_default(stage->dt);
	step_collide(&step, &step.contacts, 0, &options);
	step_number(&step);
	ck_assert_int_eq(step_commit(&step, &step.contacts, NULL), STATUS_OK);
	step_finish(&step);
}

START_TEST(contact_rows_are_exactly_the_pairs_whose_boxes_overlap)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage.tables.world.gravity[0] = vec3_zero();
	scatter_spheres(&stage, 60, check_seed());
	for (uint32_t tick = 0; tick < 40; tick++) {
		if (tick % 10 == 5)
			stage_remove(&stage, tick);
		stage_step(&stage);
	}
	commit_rows_only(&stage);
	check_pairs(&stage);
	stage_release(&stage);
}
END_TEST

START_TEST(new_pairs_take_the_lowest_free_rows_in_the_order_of_their_placements)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 12, 1);
	stage_step(&stage);
	const struct contact_table *contact = &stage.tables.contact;
	ck_assert_uint_eq(contact->count, 66);
	for (uint32_t row = 1; row < contact->count; row++) {
		uint64_t before = (uint64_t)contact->placement_a[row - 1] << 32 |
				  contact->placement_b[row - 1];
		uint64_t here =
			(uint64_t)contact->placement_a[row] << 32 | contact->placement_b[row];
		ck_assert(before < here);
	}
	/* Row 5 is (0, 6): with body 0 gone, rows 0 … 10 are free, and the next pairs start there. */
	stage_remove(&stage, 0);
	ck_assert_uint_eq(stage.tables.contact.used[5], 0);
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .position = { 0, 3, 0 } });
	stage_step(&stage);
	ck_assert_uint_eq(stage.tables.contact.used[5], 1);
	ck_assert_uint_eq(stage.tables.contact.placement_a[0], 0);
	stage_release(&stage);
}
END_TEST

START_TEST(two_hundred_overlapping_spheres_have_all_19900_pairs)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 200, 7);
	stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 19900);
	ck_assert_uint_eq(stage.dynamics.report.pairs_new, 19900);
	stage_release(&stage);
}
END_TEST

START_TEST(filters_decide_which_bodies_pair)
{
	static const struct {
		uint32_t category_a, mask_a, category_b, mask_b;
		int64_t group_a, group_b;
		bool meet;
	} cases[] = {
		{ 1, 1, 1, 1, 0, 0, true },   { 1, 2, 1, 1, 0, 0, false },
		{ 1, 1, 2, 1, 0, 0, false },  { 1, 2, 2, 1, 0, 0, true },
		{ 1, 0, 1, 0, 3, 3, true },   { 1, 1, 1, 1, -3, -3, false },
		{ 1, 1, 1, 1, -3, -4, true }, { 1, 0, 1, 0, 3, 4, false },
	};
	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		struct stage stage;
		stage_init(&stage, "soft-step");
		stage_bomb(&stage, 2, 1);
		struct body_table *body = &stage.tables.body;
		body->category[0] = cases[i].category_a;
		body->category[1] = cases[i].category_b;
		body->mask[0] = cases[i].mask_a;
		body->mask[1] = cases[i].mask_b;
		body->group[0] = cases[i].group_a;
		body->group[1] = cases[i].group_b;
		stage_step(&stage);
		ck_assert_int_eq(stage.dynamics.contact_used.count == 1, cases[i].meet);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_changed_filter_ends_a_touching_contact)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t lowest = stage_stack(&stage, 2);
	stage_run(&stage, 10);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 2);
	stage.tables.body.mask[lowest] = 0;
	ck_assert_int_eq(dynamics_body_reserve(&stage.dynamics, 0, 0), STATUS_OK);
	dynamics_body_changed(&stage.dynamics, lowest);
	stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 0);
	ck_assert_uint_eq(stage_events(&stage, EVENT_CONTACT_END), 2);
	stage_release(&stage);
}
END_TEST

START_TEST(two_static_or_animated_bodies_are_no_pair)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 3, 1);
	stage.tables.body.status[0] = BODY_STATIC;
	stage.tables.body.status[1] = BODY_ANIMATED;
	ck_assert_int_eq(dynamics_rebuild(&stage.dynamics), STATUS_OK);
	stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 2);
	stage_release(&stage);
}
END_TEST

/* ---- limits ----------------------------------------------------------------------------------- */

START_TEST(a_step_over_the_limit_of_contacts_changes_nothing)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 30, 5);
	stage.tables.world.contacts_max[0] = 434;
	uint64_t before = stage_hash(&stage);
	ck_assert_int_eq(stage_try(&stage), STATUS_LIMIT);
	ck_assert_int_eq(stage_try(&stage), STATUS_LIMIT);
	ck_assert_uint_eq(stage_hash(&stage), before);
	stage.tables.world.contacts_max[0] = 435;
	ck_assert_int_eq(stage_try(&stage), STATUS_OK);
	ck_assert_uint_eq(stage.dynamics.contact_used.count, 435);
	stage_release(&stage);
}
END_TEST

START_TEST(a_step_over_the_limit_of_memory_changes_nothing)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 30, 5);
	stage.tables.world.memory_max[0] = tables_charge(&stage.tables) + 1000;
	uint64_t before = stage_hash(&stage);
	ck_assert_int_eq(stage_try(&stage), STATUS_LIMIT);
	ck_assert_uint_eq(stage_hash(&stage), before);
	stage_release(&stage);
}
END_TEST

START_TEST(a_step_without_memory_changes_nothing_and_succeeds_later)
{
	struct stage stage, straight;
	stage_init(&stage, "soft-step");
	stage_init(&straight, "soft-step");
	stage_bomb(&stage, 20, 5);
	stage_bomb(&straight, 20, 5);
	uint64_t before = stage_hash(&stage);
	enum status status = STATUS_NO_MEMORY;
	for (uint64_t nth = 1; status != STATUS_OK; nth++) {
		ck_assert_uint_lt(nth, 200);
		heap_fail_at(nth);
		status = stage_try(&stage);
		heap_fail_at(0);
		if (status != STATUS_OK) {
			ck_assert_int_eq(status, STATUS_NO_MEMORY);
			ck_assert_uint_eq(stage_hash(&stage), before);
		}
	}
	stage_step(&straight);
	ck_assert_uint_eq(stage_hash(&stage), stage_hash(&straight));
	stage_release(&stage);
	stage_release(&straight);
}
END_TEST

START_TEST(a_steady_tick_makes_no_heap_call)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_stack(&stage, 6);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_run(&stage, 5);
	uint64_t before = heap_calls_total();
	stage_run(&stage, 100);
	ck_assert_uint_eq(heap_calls_total() - before, 0);
	stage_release(&stage);
}
END_TEST

/* ---- bad numbers ------------------------------------------------------------------------------ */

START_TEST(a_body_that_is_not_finite_is_quarantined_and_the_others_continue)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t lowest = stage_stack(&stage, 3), top = lowest + 2;
	stage_run(&stage, 3);
	vec3 place = stage.tables.body.position[top];
	stage.tables.body.velocity[top].x = __builtin_nan("");
	/* Without contacts, because touching bodies could be quarantined too. */
	stage.tables.body.mask[top] = 0;
	ck_assert_int_eq(dynamics_body_reserve(&stage.dynamics, 0, 0), STATUS_OK);
	dynamics_body_changed(&stage.dynamics, top);
	stage_step(&stage);
	ck_assert_uint_eq(stage_events(&stage, EVENT_QUARANTINE), 1);
	ck_assert_uint_eq(stage.dynamics.report.quarantined, 1);
	ck_assert_uint_eq(stage.tables.body.quarantined[top], 1);
	ck_assert_uint_eq(stage.tables.body.status[top], BODY_INACTIVE);
	ck_assert(vec3_equal(stage.tables.body.position[top], place));
	ck_assert(vec3_equal(stage.tables.body.velocity[top], vec3_zero()));
	ck_assert(!bitset_get(&stage.dynamics.awake, top));
	stage_run(&stage, 60);
	ck_assert_uint_eq(stage.tables.body.quarantined[lowest], 0);
	ck_assert(scalar_near(stage.tables.body.position[lowest].y, 0.5, 0.01));
	stage_release(&stage);
}
END_TEST

START_TEST(a_body_beyond_the_largest_coordinate_is_quarantined)
{
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t sphere = stage_shape(&stage, make_sphere(1));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = sphere,
							      .position = { 0, -999990, 0 },
							      .velocity = { 0, -9000, 0 } });
	stage_step(&stage);
	ck_assert_uint_eq(stage.tables.body.quarantined[row], 1);
	ck_assert(stage.tables.body.position[row].y >= -LENGTH_MAX);
	stage_release(&stage);
}
END_TEST

/* ---- sleep ------------------------------------------------------------------------------------ */

START_TEST(a_stack_falls_asleep_as_one_set_and_leaves_the_active_sets)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t lowest = stage_stack(&stage, 10);
	for (uint32_t tick = 0; tick < 240 && stage.dynamics.awake.count > 0; tick++)
		stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.awake.count, 0);
	ck_assert_uint_eq(stage.dynamics.live.count, 0);
	ck_assert_uint_eq(stage_events(&stage, EVENT_SLEEP), 10);
	uint32_t set = stage.tables.body.sleep_set[lowest], at = lowest, length = 0;
	ck_assert_uint_ne(set, 0);
	do {
		ck_assert_uint_eq(stage.tables.body.sleep_set[at], set);
		at = stage.tables.body.sleep_next[at];
		length++;
	} while (at != lowest && length < 100);
	ck_assert_uint_eq(length, 10);
	ck_assert(scalar_near(stage.tables.body.position[lowest + 9].y, 9.5, 0.05));
	uint64_t hash = stage_hash(&stage);
	stage_step(&stage);
	stage.tables.world.tick[0]--;
	ck_assert_uint_eq(stage_hash(&stage), hash);
	stage_release(&stage);
}
END_TEST

static uint32_t sleeping_stack(struct stage *stage, uint32_t count)
{
	stage_init(stage, "soft-step");
	uint32_t lowest = stage_stack(stage, count);
	for (uint32_t tick = 0; tick < 300 && stage->dynamics.awake.count > 0; tick++)
		stage_step(stage);
	ck_assert_uint_eq(stage->dynamics.awake.count, 0);
	return lowest;
}

START_TEST(waking_one_body_wakes_its_set)
{
	struct stage stage;
	uint32_t lowest = sleeping_stack(&stage, 5);
	stage.dynamics.events.count = 0;
	dynamics_wake(&stage.dynamics, lowest + 2);
	ck_assert_uint_eq(stage.dynamics.awake.count, 5);
	ck_assert_uint_eq(stage.dynamics.live.count, 5);
	ck_assert_uint_eq(stage_events(&stage, EVENT_WAKE), 5);
	for (uint32_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(stage.tables.body.sleep_set[lowest + i], 0);
		ck_assert_uint_eq(stage.tables.body.sleep_next[lowest + i], lowest + i);
	}
	stage_release(&stage);
}
END_TEST

START_TEST(a_ball_that_hits_a_sleeping_stack_wakes_it_before_it_bounces)
{
	struct stage stage;
	uint32_t lowest = sleeping_stack(&stage, 5);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { -3, 2.5, 0 },
					       .velocity = { 10, 0, 0 } });
	uint32_t tick = 0;
	while (stage.tables.body.sleep_set[lowest] != 0 && tick++ < 60)
		stage_step(&stage);
	ck_assert_uint_lt(tick, 30);
	ck_assert_uint_eq(stage.dynamics.awake.count, 6);
	/* The box takes its share of the momentum in the tick of the hit, as an awake box does. */
	const vec3 *velocity = stage.tables.body.velocity;
	ck_assert_double_gt(velocity[lowest + 2].x, 2.5);
	ck_assert_double_lt(velocity[lowest + 5].x, 5);
	stage_run(&stage, 5);
	ck_assert_double_gt(stage.tables.body.velocity[lowest + 2].x, 0.5);
	stage_release(&stage);
}
END_TEST

START_TEST(removing_the_support_of_a_sleeper_wakes_it)
{
	struct stage stage;
	uint32_t lowest = sleeping_stack(&stage, 3);
	stage_remove(&stage, lowest);
	ck_assert_uint_eq(stage.dynamics.awake.count, 2);
	stage_run(&stage, 60);
	ck_assert(stage.tables.body.position[lowest + 1].y < 0.6);
	stage_release(&stage);
}
END_TEST

START_TEST(a_static_body_set_down_in_a_sleeping_stack_wakes_it)
{
	struct stage stage;
	uint32_t lowest = sleeping_stack(&stage, 3);
	uint32_t box = stage.tables.placement.shape[stage.tables.body.first_placement[lowest] - 1];
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
					       .shape = box,
					       .position = { 0.8, 0.5, 0 } });
	stage_step(&stage);
	ck_assert_uint_eq(stage.dynamics.awake.count, 3);
	stage_run(&stage, 30);
	ck_assert(stage.tables.body.position[lowest].x < -0.1);
	stage_release(&stage);
}
END_TEST

START_TEST(a_body_that_may_not_sleep_keeps_its_island_awake)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t lowest = stage_stack(&stage, 3);
	stage.tables.body.flags[lowest + 1] = 0;
	stage_run(&stage, 120);
	ck_assert_uint_eq(stage.dynamics.awake.count, 3);
	stage_release(&stage);
}
END_TEST

START_TEST(a_moving_animated_body_keeps_the_body_on_it_awake)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(2, 0.5, 2));
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t lift = stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
							       .shape = slab,
							       .velocity = { 0.02, 0, 0 } });
	uint32_t load = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = box,
							       .position = { 0, 1, 0 } });
	stage_run(&stage, 120);
	ck_assert_uint_eq(stage.tables.body.sleep_set[load], 0);
	ck_assert(scalar_near(stage.tables.body.position[lift].x, 0.04, 1e-12));
	ck_assert(scalar_near(stage.tables.body.position[load].x, 0.04, 0.002));
	stage.tables.body.velocity[lift] = vec3_zero();
	dynamics_body_moved(&stage.dynamics, lift);
	stage_run(&stage, 120);
	ck_assert_uint_ne(stage.tables.body.sleep_set[load], 0);
	stage_release(&stage);
}
END_TEST

/* ---- caches ----------------------------------------------------------------------------------- */

START_TEST(rebuilding_caches_at_random_ticks_changes_no_hash)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage straight, rebuilt;
	stage_init(&straight, "soft-step");
	stage_init(&rebuilt, "soft-step");
	stage_mixed(&straight, 60, 11);
	stage_mixed(&rebuilt, 60, 11);
	for (uint32_t tick = 0; tick < 150; tick++) {
		stage_step(&straight);
		if (rng_below(&rng, 5) == 0)
			ck_assert_int_eq(dynamics_rebuild(&rebuilt.dynamics), STATUS_OK);
		stage_step(&rebuilt);
		ck_assert_uint_eq(stage_hash(&rebuilt), stage_hash(&straight));
	}
	stage_release(&straight);
	stage_release(&rebuilt);
}
END_TEST

START_TEST(a_restored_stage_has_the_same_future)
{
	struct stage first, second;
	stage_init(&first, "soft-step");
	stage_init(&second, "soft-step");
	stage_mixed(&first, 50, 3);
	stage_run(&first, 70);
	stage_restore(&second, &first);
	ck_assert_uint_eq(stage_hash(&second), stage_hash(&first));
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&first);
		stage_step(&second);
		ck_assert_uint_eq(stage_hash(&second), stage_hash(&first));
	}
	stage_release(&first);
	stage_release(&second);
}
END_TEST

START_TEST(manifolds_of_resting_bodies_are_kept_and_move_them_under_1_mm)
{
	struct stage kept, made;
	stage_init(&kept, "soft-step");
	stage_init(&made, "soft-step");
	uint32_t lowest = stage_stack(&kept, 8);
	stage_stack(&made, 8);
	stage_parameter(&kept, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(&made, PARAMETER_SLEEP_ENABLED, 0);
	for (uint32_t tick = 0; tick < 200; tick++) {
		stage_step(&kept);
		for (uint32_t row = 0; row < made.tables.contact.count; row++)
			made.tables.contact.fresh[row] = made.tables.contact.used[row];
		stage_step(&made);
	}
	ck_assert_uint_eq(kept.dynamics.report.manifolds_made, 0);
	ck_assert_uint_eq(kept.dynamics.report.manifolds_kept, 8);
	ck_assert_uint_eq(made.dynamics.report.manifolds_kept, 0);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert(vec3_distance(kept.tables.body.position[lowest + i],
					made.tables.body.position[lowest + i]) < 1e-3);
	stage_release(&kept);
	stage_release(&made);
}
END_TEST

START_TEST(touching_begins_and_ends_once)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { 0, 1.5, 0 },
					       .restitution = 0.9 });
	uint32_t begins = 0, ends = 0, before_end = 0;
	double impulse = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		begins += stage_events(&stage, EVENT_CONTACT_BEGIN);
		ends += stage_events(&stage, EVENT_CONTACT_END);
		if (begins == 1 && stage_events(&stage, EVENT_CONTACT_BEGIN) == 1)
			impulse = stage.dynamics.events.items[0].value;
		if (ends == 0)
			before_end = begins;
	}
	ck_assert_uint_eq(before_end, 1);
	ck_assert_uint_eq(ends, 1);
	/* m (1 + e) v with v² = 2 g h. */
	double mass = stage.tables.body.mass[1], speed = scalar_sqrt(2 * 9.81 * 1.0);
	ck_assert(scalar_near(impulse, mass * 1.9 * speed, 0.05 * mass * 1.9 * speed));
	stage_release(&stage);
}
END_TEST

START_TEST(the_lower_rule_mixes_two_materials)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_bomb(&stage, 2, 1);
	struct body_table *body = &stage.tables.body;
	struct contact_piece a = { body->first_placement[0] - 1, 0 };
	struct contact_piece b = { body->first_placement[1] - 1, 0 };
	static const double expected[] = { 0.5, 0.2, 0.16, 0.8, 0.4 };
	for (uint8_t rule = COMBINE_AVERAGE; rule <= COMBINE_GEOMETRIC; rule++) {
		body->static_friction[0] = body->dynamic_friction[0] = 0.2;
		body->static_friction[1] = body->dynamic_friction[1] = 0.8;
		body->friction_rule[0] = rule;
		body->friction_rule[1] = COMBINE_GEOMETRIC;
		struct contact_material mixed = contact_material(&stage.dynamics, a, b);
		ck_assert(scalar_near(mixed.static_friction, expected[rule], 1e-15));
		mixed = contact_material(&stage.dynamics, b, a);
		ck_assert(scalar_near(mixed.dynamic_friction, expected[rule], 1e-15));
	}
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("dynamics");
	TCase *pairs = tcase_create("pairs");
	tcase_add_test(pairs, contact_rows_are_exactly_the_pairs_whose_boxes_overlap);
	tcase_add_test(pairs, new_pairs_take_the_lowest_free_rows_in_the_order_of_their_placements);
	tcase_add_test(pairs, two_hundred_overlapping_spheres_have_all_19900_pairs);
	tcase_add_test(pairs, filters_decide_which_bodies_pair);
	tcase_add_test(pairs, a_changed_filter_ends_a_touching_contact);
	tcase_add_test(pairs, two_static_or_animated_bodies_are_no_pair);
	suite_add_tcase(suite, pairs);
	TCase *limits = tcase_create("limits");
	tcase_add_test(limits, a_step_over_the_limit_of_contacts_changes_nothing);
	tcase_add_test(limits, a_step_over_the_limit_of_memory_changes_nothing);
	tcase_add_test(limits, a_step_without_memory_changes_nothing_and_succeeds_later);
	tcase_add_test(limits, a_steady_tick_makes_no_heap_call);
	tcase_add_test(limits, a_body_that_is_not_finite_is_quarantined_and_the_others_continue);
	tcase_add_test(limits, a_body_beyond_the_largest_coordinate_is_quarantined);
	suite_add_tcase(suite, limits);
	TCase *sleep = tcase_create("sleep");
	tcase_add_test(sleep, a_stack_falls_asleep_as_one_set_and_leaves_the_active_sets);
	tcase_add_test(sleep, waking_one_body_wakes_its_set);
	tcase_add_test(sleep, a_ball_that_hits_a_sleeping_stack_wakes_it_before_it_bounces);
	tcase_add_test(sleep, removing_the_support_of_a_sleeper_wakes_it);
	tcase_add_test(sleep, a_static_body_set_down_in_a_sleeping_stack_wakes_it);
	tcase_add_test(sleep, a_body_that_may_not_sleep_keeps_its_island_awake);
	tcase_add_test(sleep, a_moving_animated_body_keeps_the_body_on_it_awake);
	suite_add_tcase(suite, sleep);
	TCase *caches = tcase_create("caches");
	tcase_add_test(caches, rebuilding_caches_at_random_ticks_changes_no_hash);
	tcase_add_test(caches, a_restored_stage_has_the_same_future);
	tcase_add_test(caches, manifolds_of_resting_bodies_are_kept_and_move_them_under_1_mm);
	tcase_add_test(caches, touching_begins_and_ends_once);
	tcase_add_test(caches, the_lower_rule_mixes_two_materials);
	suite_add_tcase(suite, caches);
	return suite;
}

int main(void)
{
	return check_main(make);
}
