/* The guarantees of a step to its method: collide is a pure function, nothing is written before the
 * commit, and the pairs cover the requested reach. */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/step.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <string.h>

static struct collide_options begin_step(struct stage *stage, struct step *step)
{
	ck_assert_int_eq(step_begin(step, &stage->dynamics, stage->dt, true, NULL, NULL),
			 STATUS_OK);
	struct collide_options options = collide_options_default(stage->dt);
	step_collide(step, &step->contacts, 0, &options);
	step_wake_reached(step, &options);
	step_number(step);
	return options;
}

static bool points_equal(const struct contact_state *a, const struct contact_state *b)
{
	if (a->row != b->row || a->point_count != b->point_count || a->kept != b->kept)
		return false;
	for (uint32_t p = 0; p < a->point_count; p++)
		if (a->points[p].separation != b->points[p].separation ||
		    a->points[p].feature != b->points[p].feature ||
		    !vec3_equal(a->points[p].arm_a, b->points[p].arm_a))
			return false;
	return a->point_count == 0 || vec3_equal(a->normal, b->normal);
}

START_TEST(collide_is_a_function_of_its_arguments_alone)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_mixed(&stage, 60, check_seed());
	stage_run(&stage, 40);
	uint64_t before = stage_hash(&stage);
	struct step step;
	struct collide_options here = begin_step(&stage, &step), there = here;
	struct contact_list first, elsewhere, again;
	ck_assert_int_eq(step_list_copy(&step, &first), STATUS_OK);
	ck_assert_int_eq(step_list_copy(&step, &elsewhere), STATUS_OK);
	ck_assert_int_eq(step_list_copy(&step, &again), STATUS_OK);
	struct body_motion *motions =
		ARENA_ARRAY(&stage.dynamics.scratch, struct body_motion, step.body_count);
	for (uint32_t slot = 0; slot < step.body_count; slot++) {
		motions[slot] = dynamics_motion(&stage.dynamics, step.bodies[slot]);
		motions[slot].centre.y -= 0.01;
		motions[slot].rotation =
			quat_integrate(motions[slot].rotation, vec3_make(1, 2, 3), 0.05);
	}
	there.motions = motions;
	step_collide(&step, &first, 0, &here);
	step_collide(&step, &elsewhere, 0, &there); /* a trial in between leaves nothing behind */
	step_collide(&step, &again, 0, &here);
	uint32_t points = 0, moved = 0;
	for (uint32_t i = 0; i < first.count; i++) {
		ck_assert(points_equal(&first.items[i], &again.items[i]));
		ck_assert(points_equal(&first.items[i], &step.contacts.items[i]));
		points += first.items[i].point_count;
		moved += !points_equal(&first.items[i], &elsewhere.items[i]);
	}
	ck_assert_uint_gt(points, 20);
	ck_assert_uint_gt(moved, 20);
	ck_assert_uint_eq(stage_hash(&stage), before);
	step_abandon(&step);
	stage_step(&stage);
	stage_release(&stage);
}
END_TEST

START_TEST(motions_equal_to_the_tables_give_the_same_contacts)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_mixed(&stage, 40, check_seed() + 1);
	stage_run(&stage, 30);
	struct step step;
	struct collide_options options = begin_step(&stage, &step);
	struct contact_list list;
	ck_assert_int_eq(step_list_copy(&step, &list), STATUS_OK);
	struct body_motion *motions =
		ARENA_ARRAY(&stage.dynamics.scratch, struct body_motion, step.body_count);
	for (uint32_t slot = 0; slot < step.body_count; slot++)
		motions[slot] = dynamics_motion(&stage.dynamics, step.bodies[slot]);
	options.motions = motions;
	step_collide(&step, &list, 0, &options);
	for (uint32_t i = 0; i < list.count; i++) {
		const struct contact_state *a = &step.contacts.items[i], *b = &list.items[i];
		/* The origin is computed from the mass centre, so the last bits differ. A manifold
		 * close to its limits may therefore be kept in one list and remade in the other. */
		for (uint32_t p = 0; p < a->point_count && a->point_count == b->point_count; p++)
			ck_assert(scalar_near(a->points[p].separation, b->points[p].separation,
					      1e-9) ||
				  a->kept != b->kept);
	}
	step_abandon(&step);
	stage_release(&stage);
}
END_TEST

/* Components from −most to most. */
/* Balls of three sizes in a heap, some static, thrown and turning. */
static void add_balls(struct stage *stage, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	uint32_t plane = stage_shape(stage, make_plane(vec3_make(0, 1, 0), 0)), shapes[3];
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC, .shape = plane });
	for (uint32_t i = 0; i < COUNT_OF(shapes); i++)
		shapes[i] = stage_shape(stage, make_sphere(0.2 + 0.1 * i));
	for (uint32_t i = 0; i < count; i++) {
		vec3 at = vec3_add(random_vector(&rng, 1.5), vec3_make(0, 2, 0));
		vec3 turn = random_vector(&rng, 3), velocity = random_vector(&rng, 1);
		vec3 spin = random_vector(&rng, 2);
		stage_add(stage,
			  (struct stage_body){ .status = i % 9 == 0 ? BODY_STATIC : BODY_DYNAMIC,
					       .shape = shapes[i % COUNT_OF(shapes)],
					       .position = at,
					       .rotation = quat_from_rotation_vector(turn),
					       .velocity = i % 9 == 0 ? vec3_zero() : velocity,
					       .spin = i % 9 == 0 ? vec3_zero() : spin,
					       .wakeful = true });
	}
}

/* At motions that are those of the tables, pairs of balls are collided one by one. */
START_TEST(balls_collide_side_by_side_as_one_by_one)
{
	static const enum collide_carry carries[] = { CARRY_NOTHING, CARRY_NORMALS, CARRY_POINTS };
	struct stage stage;
	uint32_t points = 0, kept = 0, apart = 0;
	stage_init(&stage, "soft-step");
	add_balls(&stage, 80, check_seed() + 7);
	for (uint32_t trial = 0; trial < 24; trial++) {
		struct step step;
		struct collide_options options = begin_step(&stage, &step);
		struct contact_list single, several;
		ck_assert_int_eq(step_list_copy(&step, &single), STATUS_OK);
		ck_assert_int_eq(step_list_copy(&step, &several), STATUS_OK);
		struct body_motion *motions =
			ARENA_ARRAY(&stage.dynamics.scratch, struct body_motion, step.body_count);
		for (uint32_t slot = 0; slot < step.body_count; slot++)
			motions[slot] = dynamics_motion(&stage.dynamics, step.bodies[slot]);
		options.carry = carries[trial % COUNT_OF(carries)];
		options.anew = trial % 4 == 1;
		step_collide(&step, &several, 0, &options);
		options.motions = motions;
		step_collide(&step, &single, 0, &options);
		for (uint32_t i = 0; i < single.count; i++) {
			const struct contact_state *a = &single.items[i], *b = &several.items[i];
			const struct contact_made *of_a = &single.made[i], *of_b = &several.made[i];
			ck_assert(points_equal(a, b) && vec3_equal(a->normal, b->normal));
			ck_assert(a->holds == b->holds && a->reaches == b->reaches);
			kept += a->kept;
			points += a->point_count;
			apart += a->point_count == 0;
			if (a->kept)
				continue;
			uint32_t made = of_a->manifold.count;
			ck_assert_uint_eq(made, of_b->manifold.count);
			ck_assert(of_a->margin == of_b->margin);
			ck_assert_mem_eq(&of_a->b_in_a, &of_b->b_in_a, sizeof of_a->b_in_a);
			ck_assert_mem_eq(of_a->multiplier, of_b->multiplier,
					 sizeof of_a->multiplier);
			for (uint32_t p = 0; p < made; p++)
				ck_assert(vec3_equal(of_a->manifold.points[p].point,
						     of_b->manifold.points[p].point));
		}
		step_abandon(&step);
		stage_run(&stage, 3);
	}
	ck_assert_uint_gt(points, 500);
	ck_assert_uint_gt(kept, 10);
	ck_assert_uint_gt(apart, 500);
	stage_release(&stage);
}
END_TEST

START_TEST(a_step_abandoned_before_its_commit_changes_nothing)
{
	struct stage stage, straight;
	stage_init(&stage, "soft-step");
	stage_init(&straight, "soft-step");
	stage_mixed(&stage, 50, 9);
	stage_mixed(&straight, 50, 9);
	for (uint32_t tick = 0; tick < 60; tick++) {
		struct step step;
		begin_step(&stage, &step); /* pairs found, sleepers woken, slots given … */
		step_abandon(&step);
		stage_step(&stage);
		stage_step(&straight);
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&straight));
	}
	stage_release(&stage);
	stage_release(&straight);
}
END_TEST

START_TEST(the_length_of_a_step_is_the_callers_argument)
{
	/* One world has a rate of 60 Hz, the other of 240 Hz; both are stepped by 1/240 s. */
	struct stage slow, fast;
	stage_init(&slow, "soft-step");
	stage_init(&fast, "soft-step");
	fast.tables.world.rate_num[0] = 240;
	slow.dt = fast.dt = slow.dynamics.ahead = fast.dynamics.ahead = 1.0 / 240;
	stage_mixed(&slow, 40, 5);
	stage_mixed(&fast, 40, 5);
	for (uint32_t tick = 0; tick < 200; tick++) {
		stage_step(&slow);
		stage_step(&fast);
		slow.tables.world.rate_num[0] = 240;
		ck_assert_uint_eq(stage_hash(&slow), stage_hash(&fast));
		slow.tables.world.rate_num[0] = 60;
	}
	stage_release(&slow);
	stage_release(&fast);
}
END_TEST

START_TEST(the_motion_of_a_body_is_summed_over_all_stores_of_a_step)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t sphere = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = sphere,
							      .position = { 0, 5, 0 } });
	struct step step;
	begin_step(&stage, &step);
	ck_assert_int_eq(step_commit(&step, &step.contacts, NULL), STATUS_OK);
	struct body_motion motion = dynamics_motion(&stage.dynamics, row);
	motion.centre.x += 0.25;
	step_store_all(&step, &motion);
	motion.centre.x -= 0.5; /* and back past where it was */
	step_store_all(&step, &motion);
	ck_assert_double_eq_tol(stage.dynamics.bodies.items[row].motion, 0.75, 1e-15);
	step_finish(&step);
	stage_release(&stage);
}
END_TEST

/* ---- pairs ------------------------------------------------------------------------------------ */

static bool is_listed(const struct contact_list *list, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].a.placement == MIN_OF(a, b) &&
		    list->items[i].b.placement == MAX_OF(a, b))
			return true;
	return false;
}

static struct aabb box_of(const struct stage *stage, const struct step_way *ways, uint32_t count,
			  const struct step *step, uint32_t placement)
{
	uint32_t body = placement_body(&stage->tables, placement);
	for (uint32_t i = 0; i < count; i++)
		if (step->bodies[ways[i].slot] == body)
			return ways[i].box;
	return placement_box(&stage->tables, placement);
}

START_TEST(a_reach_adds_the_pairs_that_brute_force_finds)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 20; round++) {
		struct stage stage;
		stage_init(&stage, "soft-step");
		uint32_t sphere = stage_shape(&stage, make_sphere(0.3));
		for (uint32_t i = 0; i < 60; i++) {
			double x = rng_range(&rng, -6, 6), y = rng_range(&rng, -6, 6),
			       z = rng_range(&rng, -6, 6);
			stage_add(&stage, (struct stage_body){ .status = i % 5 == 0 ? BODY_STATIC
										    : BODY_DYNAMIC,
							       .shape = sphere,
							       .position = { x, y, z } });
		}
		struct step step;
		begin_step(&stage, &step);
		struct step_way ways[64];
		uint32_t count = 0, before = step.contacts.count;
		for (uint32_t slot = 0; slot < step.body_count; slot++)
			if (rng_below(&rng, 3) == 0) {
				vec3 at =
					dynamics_motion(&stage.dynamics, step.bodies[slot]).centre;
				double far = rng_range(&rng, 0.5, 4);
				ways[count++] =
					(struct step_way){ slot, aabb_of_centre(at, vec3_all(far)),
							   far };
			}
		uint64_t hash = stage_hash(&stage);
		ck_assert_int_eq(step_reach(&step, &step.contacts, ways, count, NULL), STATUS_OK);
		/* A second call with the same boxes adds no pair. */
		uint32_t found = step.contacts.count;
		ck_assert_int_eq(step_reach(&step, &step.contacts, ways, count, NULL), STATUS_OK);
		ck_assert_uint_eq(step.contacts.count, found);
		ck_assert_uint_eq(stage_hash(&stage), hash);
		uint32_t wanted = 0;
		for (uint32_t a = 0; a < 60; a++)
			for (uint32_t b = a + 1; b < 60; b++) {
				bool dynamic = a % 5 != 0 || b % 5 != 0;
				bool meet = dynamic &&
					    aabb_overlaps(box_of(&stage, ways, count, &step, a),
							  box_of(&stage, ways, count, &step, b));
				ck_assert_msg(meet == is_listed(&step.contacts, a, b),
					      "round %u: %u and %u", round, a, b);
				wanted += meet;
			}
		ck_assert_uint_eq(found, wanted);
		ck_assert_uint_gt(found, before);
		/* The added pairs come last, in ascending order, without rows. The commit gives them
		 * rows; the end of the step frees the rows of pairs whose boxes do not overlap. */
		for (uint32_t i = before; i < found; i++)
			ck_assert_uint_eq(step.contacts.items[i].row, STEP_NO_ROW);
		struct collide_options options = collide_options_default(stage.dt);
		step_collide(&step, &step.contacts, before, &options);
		ck_assert_int_eq(step_commit(&step, &step.contacts, NULL), STATUS_OK);
		ck_assert_uint_eq(stage.dynamics.contact_used.count, found);
		step_finish(&step);
		ck_assert_uint_eq(stage.dynamics.contact_used.count, before);
		uint64_t after = stage_hash(&stage);
		ck_assert_int_eq(dynamics_rebuild(&stage.dynamics), STATUS_OK);
		ck_assert_uint_eq(stage_hash(&stage), after);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_body_that_reaches_a_mesh_pairs_with_each_triangle_once)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t terrain = stage_shape(&stage, make_terrain(12, 0.5, 0.1, 3));
	uint32_t sphere = stage_shape(&stage, make_sphere(0.3));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = terrain });
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = sphere,
							      .position = { 0, 4, 0 } });
	struct step step;
	begin_step(&stage, &step);
	ck_assert_uint_eq(step.contacts.count, 0);
	vec3 at = dynamics_motion(&stage.dynamics, row).centre;
	struct step_way way = {
		0, aabb_make(vec3_sub(at, vec3_make(0.3, 4.5, 0.3)), vec3_add(at, vec3_all(0.3))),
		4.5
	};
	ck_assert_int_eq(step_reach(&step, &step.contacts, &way, 1, NULL), STATUS_OK);
	uint32_t found = step.contacts.count;
	ck_assert_uint_ge(found, 8);
	for (uint32_t i = 1; i < found; i++)
		ck_assert_uint_lt(step.contacts.items[i - 1].a.child,
				  step.contacts.items[i].a.child);
	step_abandon(&step);
	stage_release(&stage);
}
END_TEST

START_TEST(a_reach_over_the_limit_of_contacts_leaves_the_list_as_it_was)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t sphere = stage_shape(&stage, make_sphere(0.3));
	for (uint32_t i = 0; i < 10; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = sphere,
						       .position = { 3.0 * i, 0, 0 } });
	stage.tables.world.contacts_max[0] = 8;
	struct step step;
	struct reason why;
	begin_step(&stage, &step);
	struct step_way way = { 0, aabb_of_centre(vec3_zero(), vec3_all(100)), 100 };
	ck_assert_int_eq(step_reach(&step, &step.contacts, &way, 1, &why), STATUS_LIMIT);
	ck_assert_uint_eq(step.contacts.count, 0);
	stage.tables.world.contacts_max[0] = 9;
	ck_assert_int_eq(step_reach(&step, &step.contacts, &way, 1, &why), STATUS_OK);
	ck_assert_uint_eq(step.contacts.count, 9);
	step_abandon(&step);
	stage_release(&stage);
}
END_TEST

START_TEST(every_contact_row_is_found_by_its_pieces)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_mixed(&stage, 80, check_seed() + 7);
	for (uint32_t tick = 0; tick < 50; tick++) {
		stage_step(&stage);
		if (tick % 9 == 8)
			stage_remove(&stage, 5 + tick / 9);
		const struct contact_table *contact = &stage.tables.contact;
		uint32_t used = 0;
		for (uint32_t row = 0; row < contact->count; row++) {
			if (!contact->used[row])
				continue;
			struct contact_pair pair = {
				{ contact->placement_a[row], contact->child_a[row] },
				{ contact->placement_b[row], contact->child_b[row] }
			};
			ck_assert_uint_eq(contact_find(&stage.dynamics, &pair), row);
			pair.b.child += 100000;
			ck_assert_uint_eq(contact_find(&stage.dynamics, &pair), DYNAMICS_NONE);
			used++;
		}
		ck_assert_uint_eq(stage.dynamics.contact_index.count, used);
	}
	stage_release(&stage);
}
END_TEST

/* The ball moves from pair to pair. The row that its old pair frees is the row of its new pair. */
START_TEST(a_new_pair_takes_the_row_that_an_ended_pair_frees_in_the_same_step)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	for (uint32_t i = 0; i < 5; i++)
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = box,
						       .position = { 10.0 * i, 0, 0 } });
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = ball,
							      .position = { 0, 1, 0 } });
	for (uint32_t i = 0; i < 5; i++) {
		stage.tables.body.position[row] = vec3_make(10.0 * i, 1, 0);
		dynamics_body_moved(&stage.dynamics, row);
		stage_step(&stage);
		ck_assert_uint_eq(stage.tables.contact.count, 1);
		ck_assert(stage.tables.contact.used[0]);
		ck_assert_uint_eq(
			placement_body(&stage.tables, stage.tables.contact.placement_a[0]), i);
	}
	stage_release(&stage);
}
END_TEST

/* The stored multipliers of the point with this feature; NULL without such a point. */
static const double *stored_multipliers(const struct contact_table *table, uint32_t row,
					uint32_t feature)
{
	for (uint32_t k = 0; k < table->point_count[row]; k++)
		if (table->feature[row][k] == feature)
			return &table->multiplier[row][3 * k];
	return NULL;
}

/* A box on a floor. The tables hold its points in another order, and one point has another feature. */
START_TEST(a_remade_point_starts_from_the_multipliers_of_its_feature)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	uint32_t slab = stage_shape(&stage, make_box(5, 0.5, 5)),
		 box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = slab });
	stage_add(&stage, (struct stage_body){
				  .status = BODY_DYNAMIC, .shape = box, .position = { 0, 1, 0 } });
	stage_run(&stage, 5);
	struct contact_table *table = &stage.tables.contact;
	ck_assert_uint_eq(table->count, 1);
	ck_assert_uint_eq(table->point_count[0], 4);
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t feature = table->feature[0][k];
		table->feature[0][k] = table->feature[0][3 - k];
		table->feature[0][3 - k] = feature;
	}
	table->feature[0][2] ^= 0x5a5a;
	for (uint32_t i = 0; i < 3 * MANIFOLD_POINTS_MAX; i++)
		table->multiplier[0][i] = 10 + i;
	struct step step;
	ck_assert_int_eq(step_begin(&step, &stage.dynamics, stage.dt, true, NULL, NULL), STATUS_OK);
	struct collide_options options = collide_options_default(stage.dt);
	options.anew = true;
	uint32_t fresh = 0;
	for (uint32_t width = 1; width <= 3; width += 2) {
		options.carry = width == 3 ? CARRY_POINTS : CARRY_NORMALS;
		step_collide(&step, &step.contacts, 0, &options);
		ck_assert(step.contacts.count == 1 && !step.contacts.items[0].kept);
		const struct contact_made *made = &step.contacts.made[0];
		ck_assert_uint_eq(made->manifold.count, 4);
		for (uint32_t p = 0; p < made->manifold.count; p++) {
			const double *kept =
				stored_multipliers(table, 0, made->manifold.points[p].feature);
			fresh += kept == NULL;
			for (uint32_t i = 0; i < width; i++)
				ck_assert_double_eq(made->multiplier[3 * p + i],
						    kept != NULL ? kept[i] : 0);
			/* The other multipliers of the row keep their places. */
			for (uint32_t i = width; i < 3; i++)
				ck_assert_double_eq(made->multiplier[3 * p + i],
						    table->multiplier[0][3 * p + i]);
		}
	}
	ck_assert_uint_eq(fresh, 2);
	step_abandon(&step);
	stage_release(&stage);
}
END_TEST

/* ---- separated contacts ----------------------------------------------------------------------- */

static bool has_impulses(const struct contact_table *contact, uint32_t row)
{
	double most = 0;
	for (uint32_t i = 0; i < 4; i++)
		most = scalar_max(most, scalar_abs(contact->normal_impulse[row][i]));
	for (uint32_t i = 0; i < 3; i++)
		most = scalar_max(most, scalar_abs(contact->friction_impulse[row][i]));
	for (uint32_t i = 0; i < 12; i++)
		most = scalar_max(most, scalar_abs(contact->multiplier[row][i]));
	return most > 0;
}

/* A last solve may end with friction and no normal impulse. The contact then does not touch; its
 * stored impulses must be 0, or clients would receive them as long as the boxes overlap. */
START_TEST(a_contact_without_points_has_no_impulse_left)
{
	for (uint32_t substeps = 1; substeps <= 4; substeps += 3) {
		struct stage stage;
		stage_init(&stage, "soft-step");
		stage_mixed(&stage, 60, check_seed());
		stage_parameter(&stage, PARAMETER_SUBSTEPS, substeps);
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		const struct contact_table *contact = &stage.tables.contact;
		uint32_t parted = 0;
		for (uint32_t tick = 0; tick < 240; tick++) {
			stage_step(&stage);
			for (uint32_t row = 0; row < contact->count; row++) {
				if (!contact->used[row] || contact->point_count[row] > 0)
					continue;
				ck_assert_msg(!has_impulses(contact, row),
					      "%u sub-steps, tick %u, row %u", substeps, tick, row);
				parted++;
			}
		}
		ck_assert_uint_gt(parted, 1000);
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("dynamics/step");
	TCase *stages = tcase_create("stages");
	tcase_set_timeout(stages, 30);
	tcase_add_test(stages, collide_is_a_function_of_its_arguments_alone);
	tcase_add_test(stages, motions_equal_to_the_tables_give_the_same_contacts);
	tcase_add_test(stages, balls_collide_side_by_side_as_one_by_one);
	tcase_add_test(stages, a_new_pair_takes_the_row_that_an_ended_pair_frees_in_the_same_step);
	tcase_add_test(stages, a_remade_point_starts_from_the_multipliers_of_its_feature);
	tcase_add_test(stages, a_step_abandoned_before_its_commit_changes_nothing);
	tcase_add_test(stages, the_length_of_a_step_is_the_callers_argument);
	tcase_add_test(stages, the_motion_of_a_body_is_summed_over_all_stores_of_a_step);
	tcase_add_test(stages, a_contact_without_points_has_no_impulse_left);
	suite_add_tcase(suite, stages);
	TCase *pairs = tcase_create("pairs");
	tcase_set_timeout(pairs, 30);
	tcase_add_test(pairs, a_reach_adds_the_pairs_that_brute_force_finds);
	tcase_add_test(pairs, a_body_that_reaches_a_mesh_pairs_with_each_triangle_once);
	tcase_add_test(pairs, a_reach_over_the_limit_of_contacts_leaves_the_list_as_it_was);
	tcase_add_test(pairs, every_contact_row_is_found_by_its_pieces);
	suite_add_tcase(suite, pairs);
	return suite;
}

int main(void)
{
	return check_main(make);
}
