/* Clusters: the many contacts of a pair of bodies, merged into few manifolds. Rest, sliding, sleep and
 * reported impulses must be as without merging. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/methods/soft_cluster.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdlib.h>

enum { SIDE = 4 };
#define HALF 0.25

static struct stage stage;

static void set_up(void)
{
	stage_init(&stage, "soft-step");
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
}

static void tear_down(void)
{
	stage_release(&stage);
}

/* A slab of 16 cubes on a mesh of 0.15 m with bumps. */
static uint32_t add_slab(struct stage *self, double bump)
{
	stage_terrain(self, 24, 0.15, bump);
	return stage_slab(self, SIDE, HALF, vec3_make(0.03, HALF + 0.01 + bump, 0.02),
			  quat_identity());
}

/* Solves every contact separately, as the slow reference. The flag is a cache that only commands
 * refresh. */
static void forbid_clusters(struct stage *self)
{
	for (uint32_t body = 0; body < self->tables.body.count; body++)
		self->dynamics.bodies.items[body].divided = false;
}

/* ---- making clusters -------------------------------------------------------------------------- */

static uint64_t clusters_need(uint64_t bodies, uint64_t contacts)
{
	UNUSED(bodies);
	return soft_clusters_need(contacts);
}

/* Collides the present state; the caller abandons the step. */
static void begin_step(struct step *step)
{
	struct reason why;
	stage.dynamics.parallel = &parallel_serial;
	struct collide_options options = collide_options_default(stage.dt);
	options.carry = CARRY_NORMALS;
	ck_assert_int_eq(step_begin(step, &stage.dynamics, stage.dt, true, clusters_need, &why),
			 STATUS_OK);
	step_collide(step, &step->contacts, 0, &options);
	step_wake_reached(step, &options);
	step_number(step);
}

/* The clusters of the present state; the caller abandons the step. */
static void make_clusters(struct step *step, struct soft_clusters *clusters)
{
	begin_step(step);
	soft_clusters_make(clusters, step, stage.dt);
}

START_TEST(a_pair_with_one_contact_is_not_clustered)
{
	stage_stack(&stage, 6);
	stage_run(&stage, 10);
	struct step step;
	struct soft_clusters clusters;
	make_clusters(&step, &clusters);
	ck_assert_uint_eq(soft_manifolds(&clusters), step.contacts.count);
	for (uint32_t i = 0; i < step.contacts.count; i++) {
		ck_assert(!soft_is_clustered(&clusters, i));
		ck_assert_ptr_eq(soft_manifold(&clusters, &step, i), &step.contacts.items[i]);
	}
	step_abandon(&step);
}
END_TEST

/* The stored normal impulses and friction of all clustered contacts, less the warm starts of clusters. */
static void check_warm_starts(const struct step *step, const struct soft_clusters *clusters)
{
	static const uint32_t friction[] = { 1, 2, 4, 5 };
	double normal = 0, left = 0, shared[4] = { 0 };
	for (uint32_t i = 0; i < clusters->plain; i++) {
		if (!soft_is_clustered(clusters, i))
			continue;
		const double *stored = step_multipliers(step, &step->contacts, i);
		for (uint32_t p = 0; p < step->contacts.items[i].point_count; p++)
			normal += stored[3 * p];
		for (uint32_t k = 0; k < 4; k++)
			shared[k] += stored[friction[k]];
	}
	left = normal;
	for (uint32_t i = clusters->plain; i < soft_manifolds(clusters); i++) {
		const double *begins = soft_multipliers(clusters, step, i);
		for (uint32_t n = 0; n < MANIFOLD_POINTS_MAX; n++)
			left -= begins[3 * n];
		for (uint32_t k = 0; k < 4; k++)
			shared[k] -= begins[friction[k]];
	}
	ck_assert_double_gt(normal, 0);
	ck_assert_double_lt(scalar_abs(left), 1e-9 * normal);
	for (uint32_t k = 0; k < 4; k++)
		ck_assert_double_lt(scalar_abs(shared[k]), 1e-9 * normal);
}

/* Invariant 1 of soft_cluster.c, and no point of a contact is in two manifolds. */
START_TEST(a_clusters_points_are_points_of_its_contacts)
{
	uint32_t slab = add_slab(&stage, 0.05 * _i);
	stage_run(&stage, 60);
	stage.tables.body.velocity[slab] = vec3_make(0.3, 0, 0.6);
	stage_run(&stage, 2);
	struct step step;
	struct soft_clusters clusters;
	make_clusters(&step, &clusters);
	uint32_t taken = 0;
	uint8_t *seen = calloc(step.contacts.count, 1);
	for (uint32_t i = 0; i < step.contacts.count; i++)
		taken += soft_is_clustered(&clusters, i);
	ck_assert_uint_gt(taken, _i == 0 ? 200 : 20);
	ck_assert_uint_ge(clusters.count, 1);
	ck_assert_uint_le(clusters.count, taken / 2);
	check_warm_starts(&step, &clusters);
	for (uint32_t i = clusters.plain; i < soft_manifolds(&clusters); i++) {
		const struct soft_cluster *cluster = soft_cluster_of(&clusters, i);
		ck_assert(scalar_near(vec3_length(cluster->state.normal), 1, 1e-12));
		for (uint32_t n = 0; n < cluster->state.point_count; n++) {
			const struct contact_state *of = &step.contacts.items[cluster->contact[n]];
			ck_assert(soft_is_clustered(&clusters, cluster->contact[n]));
			ck_assert_uint_lt(cluster->point[n], of->point_count);
			ck_assert_double_eq(cluster->state.points[n].separation,
					    of->points[cluster->point[n]].separation);
			ck_assert_double_gt(vec3_dot(of->normal, cluster->state.normal), 0.92);
			ck_assert_uint_eq(seen[cluster->contact[n]] >> cluster->point[n] & 1, 0);
			seen[cluster->contact[n]] |= (uint8_t)(1 << cluster->point[n]);
		}
	}
	free(seen);
	step_abandon(&step);
}
END_TEST

/* Every point and row has a stored impulse. The clusters keep all of it; friction goes to the manifold
 * that has points of its row. */
START_TEST(stored_impulses_are_kept_for_any_choice_of_points)
{
	add_slab(&stage, 0);
	stage_run(&stage, 60);
	struct contact_table *contact = &stage.tables.contact;
	for (uint32_t row = 0; row < contact->count; row++)
		for (uint32_t k = 0; k < 3u * contact->point_count[row]; k++)
			contact->multiplier[row][k] = k % 3 == 0 ? 1 + 0.01 * row : 0.001 * row;
	struct step step;
	struct soft_clusters clusters;
	make_clusters(&step, &clusters);
	check_warm_starts(&step, &clusters);
	ck_assert_uint_eq(clusters.count, 2);
	for (uint32_t i = clusters.plain; i < soft_manifolds(&clusters); i++)
		ck_assert_double_gt(soft_multipliers(&clusters, &step, i)[1], 0);
	step_abandon(&step);
}
END_TEST

/* A body of four cubes, with one face on each side of a groove. */
START_TEST(sides_of_a_groove_are_clusters_of_their_own)
{
	static const vec3 vertices[] = { { -2, 2, -2 }, { 0, 0, -2 }, { 2, 2, -2 },
					 { -2, 2, 2 },	{ 0, 0, 2 },  { 2, 2, 2 } };
	static const uint32_t triangles[][3] = {
		{ 0, 3, 1 }, { 1, 3, 4 }, { 1, 4, 2 }, { 2, 4, 5 }
	};
	uint32_t groove = stage_shape(&stage, make_mesh(vertices, 6, triangles, 4));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = groove });
	quat turned = quat_from_axis_angle(vec3_make(0, 0, 1), PI / 4);
	double along = scalar_sqrt(0.5);
	vec3 place = vec3_make(along * 0.25, along * 0.75 + 1e-3, 0);
	uint32_t slab = stage_slab(&stage, 2, HALF, place, turned);
	stage_run(&stage, 120);
	ck_assert_double_lt(vec3_distance(stage.tables.body.position[slab], place), 3e-3);
	struct step step;
	struct soft_clusters clusters;
	make_clusters(&step, &clusters);
	ck_assert_uint_ge(clusters.count, 2);
	for (uint32_t i = clusters.plain; i < soft_manifolds(&clusters); i++)
		ck_assert_double_gt(scalar_abs(soft_manifold(&clusters, &step, i)->normal.x), 0.7);
	step_abandon(&step);
}
END_TEST

/* With an infinite speed the points of a cluster have no order, so no point is chosen. */
START_TEST(points_of_infinite_speed_make_no_cluster)
{
	uint32_t slab = add_slab(&stage, 0);
	stage_run(&stage, 60);
	struct step step;
	struct soft_clusters clusters;
	begin_step(&step);
	stage.tables.body.velocity[slab].y = -__builtin_inf();
	soft_clusters_make(&clusters, &step, stage.dt);
	ck_assert_uint_gt(step.contacts.count, 200);
	ck_assert(soft_is_clustered(&clusters, 0));
	ck_assert_uint_eq(clusters.count, 0);
	ck_assert_uint_eq(soft_manifolds(&clusters), step.contacts.count);
	step_abandon(&step);
}
END_TEST

/* ---- rest ------------------------------------------------------------------------------------- */

struct rest {
	double drift, turn, penetration, energy, height;
};

static struct rest rest_of(double bump, bool clustered)
{
	struct stage alone;
	stage_init(&alone, "soft-step");
	stage_parameter(&alone, PARAMETER_SLEEP_ENABLED, 0);
	uint32_t slab = add_slab(&alone, bump);
	if (!clustered)
		forbid_clusters(&alone);
	/* A slope, so that friction works, too. */
	alone.tables.world.gravity[0] = vec3_make(1.5, -9.6, 1);
	stage_run(&alone, 300);
	vec3 place = alone.tables.body.position[slab];
	quat rotation = alone.tables.body.rotation[slab];
	struct rest rest = { 0 };
	for (uint32_t tick = 0; tick < 200; tick++) {
		stage_step(&alone);
		rest.energy = scalar_max(rest.energy, stage_kinetic(&alone));
		rest.penetration =
			scalar_max(rest.penetration, alone.dynamics.report.penetration_max);
	}
	quat turn = quat_mul(alone.tables.body.rotation[slab], quat_conjugate(rotation));
	rest.drift = vec3_distance(alone.tables.body.position[slab], place);
	rest.turn = 2 * vec3_length(quat_vector(turn));
	rest.height = alone.tables.body.position[slab].y;
	stage_release(&alone);
	return rest;
}

/* The depth at which one box as wide as the slab rests in a plane, on four points as a cluster has. */
static double depth_of_one(void)
{
	struct stage alone;
	stage_init(&alone, "soft-step");
	stage_parameter(&alone, PARAMETER_SLEEP_ENABLED, 0);
	stage_ground(&alone);
	uint32_t box = stage_shape(&alone, make_box(SIDE * HALF, HALF, SIDE * HALF));
	stage_add(&alone, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = box,
					       .position = { 0, HALF + 0.01, 0 } });
	stage_run(&alone, 300);
	double depth = alone.dynamics.report.penetration_max;
	stage_release(&alone);
	return depth;
}

/* The slab does not creep, and no point is deeper than twice the depth at which one box rests in a plane.
 * Most of the test's two seconds are spent in the reference, which solves every contact. */
START_TEST(a_slab_on_a_mesh_rests_as_with_every_contact_solved)
{
	static const double bumps[] = { 0, 0.003, 0.01, 0.03, 0.06 };
	struct rest few = rest_of(bumps[_i], true), all = rest_of(bumps[_i], false);
	ck_assert_double_lt(few.drift, scalar_max(all.drift, 1e-9));
	ck_assert_double_lt(few.turn, scalar_max(all.turn, 1e-9));
	ck_assert_double_lt(few.energy, scalar_max(all.energy, 1e-12));
	ck_assert_double_lt(few.penetration, 2 * depth_of_one() + 1e-4);
	ck_assert_double_lt(scalar_abs(few.height - all.height), 1e-3);
}
END_TEST

/* ---- reported impulses ------------------------------------------------------------------------ */

/* The sum of the reported impulses on body b (the slab), in world axes. */
static vec3 reported_impulse(void)
{
	const struct contact_table *contact = &stage.tables.contact;
	vec3 sum = vec3_zero();
	for (uint32_t row = 0; row < contact->count; row++) {
		if (!contact->used[row])
			continue;
		uint32_t a = contact_body_a(&stage.tables, row);
		vec3 normal = quat_rotate(stage.tables.body.rotation[a], contact->normal[row]);
		for (uint32_t k = 0; k < MANIFOLD_POINTS_MAX; k++)
			sum = vec3_mul_add(sum, normal, contact->normal_impulse[row][k]);
		const double *friction = contact->friction_impulse[row];
		sum = vec3_add(sum, vec3_make(friction[0], friction[1], friction[2]));
	}
	return sum;
}

/* At rest, then sliding: the sum of the pair's rows is the change of momentum. */
START_TEST(the_reported_impulses_sum_to_the_change_of_momentum)
{
	uint32_t slab = add_slab(&stage, 0);
	const struct body_table *body = &stage.tables.body;
	stage_run(&stage, 120);
	stage.tables.body.velocity[slab] = vec3_make(0.8, 0, 0.4);
	double mass = body->mass[slab], weight = mass * 9.81 * stage.dt;
	for (uint32_t tick = 0; tick < 30; tick++) {
		vec3 before = body->velocity[slab];
		stage_step(&stage);
		vec3 change = vec3_scale(vec3_sub(body->velocity[slab], before), mass);
		change.y += weight;
		ck_assert_double_lt(vec3_distance(reported_impulse(), change), 2e-3 * weight);
	}
}
END_TEST

/* Friction of 0.6 holds the slab up to 31°. Beyond, the slab slides, with friction exact to 2 %: contact
 * points on a mesh begin and end during sliding, which costs 1.1 to 1.7 % in the reference too. */
START_TEST(a_slab_sticks_or_slides_on_a_slope_by_coulombs_law)
{
	static const double slopes[] = { 0.5, 0.58, 0.62, 0.8 };
	uint32_t slab = add_slab(&stage, 0);
	double length = scalar_sqrt(1 + slopes[_i] * slopes[_i]), g = 9.81;
	stage_run(&stage, 120);
	vec3 from = stage.tables.body.position[slab];
	stage.tables.world.gravity[0] = vec3_make(g * slopes[_i] / length, -g / length, 0);
	stage_run(&stage, 60);
	double speed = stage.tables.body.velocity[slab].x;
	double slides = scalar_max(slopes[_i] - 0.6, 0) * g / length;
	ck_assert_double_eq_tol(speed, slides, slides > 0 ? 0.02 * 0.6 * g / length : 0.01);
	if (slides == 0)
		ck_assert_double_lt(vec3_distance(stage.tables.body.position[slab], from), 2e-3);
}
END_TEST

/* ---- state, workers, sleep -------------------------------------------------------------------- */

/* Slabs, clubs of several parts and balls, on rough ground. */
static void add_heap(struct stage *self)
{
	static const vec3 club[][2] = { { { 0, 0, 0 }, { 0.6, 0.1, 0.1 } },
					{ { 0.6, 0.2, 0 }, { 0.2, 0.3, 0.25 } } };
	stage_terrain(self, 60, 0.15, 0.05);
	uint32_t solid = stage_shape(self, make_boxes_solid(club, 2));
	uint32_t ball = stage_shape(self, make_sphere(0.3));
	struct rng rng = rng_seeded(5);
	for (uint32_t i = 0; i < 12; i++) {
		double x = rng_range(&rng, -1, 1), z = rng_range(&rng, -1, 1),
		       spin = rng_range(&rng, -3, 3);
		quat turn = quat_from_rotation_vector(vec3_make(x, spin, z));
		if (i % 4 == 0)
			stage_slab(self, 3, 0.2, vec3_make(x, 1 + 0.8 * i, z), turn);
		else
			stage_add(self, (struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = i % 4 == 1 ? ball : solid,
							     .position = { x, 1 + 0.8 * i, z },
							     .rotation = turn,
							     .spin = { spin, z, x } });
	}
}

START_TEST(workers_and_restored_states_give_the_same_motion)
{
	struct stage threads, restored;
	stage_init(&threads, "soft-step");
	stage_init(&restored, "soft-step");
	stage_parameter(&threads, PARAMETER_SLEEP_ENABLED, 0);
	add_heap(&stage);
	add_heap(&threads);
	struct parallel *four = parallel_threads_create(4);
	threads.parallel = four;
	for (uint32_t tick = 0; tick < 180; tick++) {
		bool restore = tick % 11 == 0;
		if (restore)
			stage_restore(&restored, &stage);
		stage_step(&stage);
		stage_step(&threads);
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&threads));
		if (tick >= 11 || restore) {
			stage_step(&restored);
			ck_assert_uint_eq(stage_hash(&stage), stage_hash(&restored));
		}
	}
	parallel_threads_destroy(four);
	stage_release(&threads);
	stage_release(&restored);
}
END_TEST

START_TEST(a_slab_falls_asleep_and_wakes)
{
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 1);
	uint32_t slab = add_slab(&stage, 0.01);
	stage_run(&stage, 240);
	ck_assert_uint_ne(stage.tables.body.sleep_set[slab], 0);
	vec3 weight = reported_impulse();
	ck_assert_double_eq_tol(weight.y, stage.tables.body.mass[slab] * 9.81 * stage.dt,
				0.02 * weight.y);
	uint32_t ball = stage_shape(&stage, make_sphere(0.3));
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .mass = stage.tables.body.mass[slab],
					       .position = { -SIDE * HALF - 0.35, 0.35, 0.2 },
					       .velocity = { 3, 0, 0 } });
	uint32_t woken = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		woken += stage_events(&stage, EVENT_WAKE);
	}
	ck_assert_uint_eq(woken, 1);
	stage_run(&stage, 600);
	ck_assert_uint_ne(stage.tables.body.sleep_set[slab], 0);
}
END_TEST

/* Begin and end events name pieces. The touching rows are those with a begin and no end. */
START_TEST(events_name_the_pieces_that_touch)
{
	add_heap(&stage);
	uint32_t begins = 0, ends = 0, other_child = 0, touching = 0;
	for (uint32_t tick = 0; tick < 240; tick++) {
		stage_step(&stage);
		for (uint32_t i = 0; i < stage.dynamics.events.count; i++) {
			const struct event *event = &stage.dynamics.events.items[i];
			begins += event->kind == EVENT_CONTACT_BEGIN;
			ends += event->kind == EVENT_CONTACT_END;
			other_child += event->kind == EVENT_CONTACT_BEGIN && event->child_a > 0;
		}
	}
	for (uint32_t row = 0; row < stage.tables.contact.count; row++)
		touching += stage.tables.contact.used[row] && stage.tables.contact.touching[row];
	ck_assert_uint_eq(begins - ends, touching);
	ck_assert_uint_gt(other_child, 100);
	ck_assert_uint_gt(touching, 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/methods/soft_cluster");
	TCase *made = tcase_create("made");
	tcase_add_checked_fixture(made, set_up, tear_down);
	tcase_add_test(made, a_pair_with_one_contact_is_not_clustered);
	tcase_add_loop_test(made, a_clusters_points_are_points_of_its_contacts, 0, 3);
	tcase_add_test(made, stored_impulses_are_kept_for_any_choice_of_points);
	tcase_add_test(made, sides_of_a_groove_are_clusters_of_their_own);
	tcase_add_test(made, points_of_infinite_speed_make_no_cluster);
	suite_add_tcase(suite, made);
	TCase *rest = tcase_create("rest");
	tcase_set_timeout(rest, 60);
	tcase_add_checked_fixture(rest, set_up, tear_down);
	tcase_add_loop_test(rest, a_slab_on_a_mesh_rests_as_with_every_contact_solved, 0, 5);
	tcase_add_test(rest, the_reported_impulses_sum_to_the_change_of_momentum);
	tcase_add_loop_test(rest, a_slab_sticks_or_slides_on_a_slope_by_coulombs_law, 0, 4);
	suite_add_tcase(suite, rest);
	TCase *state = tcase_create("state");
	tcase_set_timeout(state, 60);
	tcase_add_checked_fixture(state, set_up, tear_down);
	tcase_add_test(state, workers_and_restored_states_give_the_same_motion);
	tcase_add_test(state, a_slab_falls_asleep_and_wakes);
	tcase_add_test(state, events_name_the_pieces_that_touch);
	suite_add_tcase(suite, state);
	return suite;
}

int main(void)
{
	return check_main(make);
}
