/* The exact velocity methods on random scenes: conserved quantities, agreement of methods, and choices
 * that must not change the motion. CAIRN_SCENES in the environment is the number of scenes of each kind
 * (default: a few dozen). */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/methods/method.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact" };

static uint32_t scenes(uint32_t otherwise)
{
	const char *text = getenv("CAIRN_SCENES");
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

struct cloud {
	uint32_t bodies;
	double friction; /* negative: none */
	double restitution;
	bool planar,
		round; /* spheres and capsules only: their contacts are the same for (a, b) and (b, a) */
	const uint32_t *order; /* in which bodies are added; NULL: as drawn */
};

static uint32_t cloud_shape(struct stage *stage, uint32_t kind)
{
	static const vec3 corners[] = { { 0.5, 0, 0 },
					{ -0.3, 0.4, 0 },
					{ -0.3, -0.4, 0.1 },
					{ 0.1, 0.1, 0.5 },
					{ 0, -0.1, -0.4 } };
	static const vec3 square[] = { { -0.4, -0.3, 0 }, { 0.4, -0.3, 0 }, { 0.3, 0.3, 0 } };
	switch (kind) {
	case 0:
		return stage_shape(stage, make_sphere(0.4));
	case 1:
		return stage_shape(stage, make_box(0.3, 0.2, 0.5));
	case 2:
		return stage_shape(stage, make_capsule(0.3, 0.2));
	case 3:
		return stage_shape(stage, make_hull(corners, COUNT_OF(corners)));
	default:
		return stage_shape(stage, make_polygon(square, COUNT_OF(square), 0.1));
	}
}

/* Moving bodies of all shapes in a small space, without static bodies and gravity. */
static void add_cloud(struct stage *stage, const struct cloud *cloud, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	struct stage_body bodies[64];
	stage->tables.world.gravity[0] = vec3_zero();
	stage->tables.world.planar[0] = cloud->planar;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 0.1);
	double side = scalar_sqrt((double)cloud->bodies) * 0.6;
	uint32_t shapes[5];
	for (uint32_t k = 0; k < 5; k++)
		shapes[k] = cloud_shape(stage, k);
	for (uint32_t i = 0; i < cloud->bodies; i++) {
		struct stage_body *body = &bodies[i];
		*body = (struct stage_body){ .status = BODY_DYNAMIC,
					     .friction = cloud->friction,
					     .restitution = cloud->restitution };
		double x = rng_range(&rng, -side, side), y = rng_range(&rng, -side, side);
		double z = rng_range(&rng, -side, side), vx = rng_range(&rng, -3, 3);
		double vy = rng_range(&rng, -3, 3), vz = rng_range(&rng, -3, 3);
		body->shape = shapes[cloud->planar  ? 4
				     : cloud->round ? 2 * rng_below(&rng, 2)
						    : rng_below(&rng, 4)];
		body->mass = rng_range(&rng, 0.2, 5);
		body->position = vec3_make(x, y, cloud->planar ? 0 : z);
		body->velocity = vec3_make(vx, vy, cloud->planar ? 0 : vz);
		double wx = rng_range(&rng, -4, 4), wy = rng_range(&rng, -4, 4),
		       wz = rng_range(&rng, -4, 4);
		body->spin = cloud->planar ? vec3_make(0, 0, wz) : vec3_make(wx, wy, wz);
		double a = rng_range(&rng, -1, 1), b = rng_range(&rng, -1, 1),
		       c = rng_range(&rng, -1, 1);
		double d = rng_range(&rng, 0.1, 1);
		body->rotation = cloud->planar ? quat_make(d, 0, 0, c) : quat_make(d, a, b, c);
	}
	for (uint32_t i = 0; i < cloud->bodies; i++)
		stage_add(stage, bodies[cloud->order != NULL ? cloud->order[i] : i]);
}

/* The scales of momentum: Σ m |v| and Σ m |v| r, with the parts of rotation. */
static void scale_of(const struct stage *stage, double *linear, double *angular)
{
	const struct body_table *body = &stage->tables.body;
	*linear = *angular = 0;
	for (uint32_t row = 0; row < body->count; row++) {
		double momentum = body->mass[row] * vec3_length(body->velocity[row]);
		*linear += momentum;
		*angular += momentum * vec3_length(dynamics_centre(&stage->tables, row)) +
			    body->inertia[row][0] * vec3_length(body->angular_velocity[row]);
	}
}

START_TEST(momentum_is_conserved_and_energy_not_gained_without_friction)
{
	static const double bounces[] = { 0, 0.4, 1 };
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++)
		for (uint32_t seed = 0; seed < scenes(24); seed++) {
			struct stage stage;
			stage_init(&stage, METHODS[m]);
			bool rough = m == 0 && seed % 2 == 0;
			struct cloud cloud = { 3 + seed % 14,
					       rough ? 0.5 : -1,
					       bounces[seed % 3],
					       seed % 5 == 4,
					       false,
					       NULL };
			add_cloud(&stage, &cloud, check_seed() + seed);
			vec3 linear = stage_momentum(&stage),
			     angular = stage_angular_momentum(&stage);
			double energy = stage_kinetic(&stage), size, turning;
			scale_of(&stage, &size, &turning);
			for (uint32_t tick = 0; tick < 12; tick++) {
				stage_step(&stage);
				double now = stage_kinetic(&stage),
				       worked = stage.dynamics.report.push_work;
				ck_assert_msg(vec3_distance(stage_momentum(&stage), linear) <=
						      1e-12 * size,
					      "%s, seed %u, tick %u: momentum", METHODS[m], seed,
					      tick);
				ck_assert_msg(
					vec3_distance(stage_angular_momentum(&stage), angular) <=
						1e-12 * turning,
					"%s, seed %u, tick %u: angular momentum off by %g",
					METHODS[m], seed, tick,
					vec3_distance(stage_angular_momentum(&stage), angular) /
						turning);
				ck_assert_msg(rough || now <= energy * (1 + 1e-11) + worked,
					      "%s, seed %u, tick %u: energy %.15g after %.15g",
					      METHODS[m], seed, tick, now, energy);
				energy = now;
			}
			stage_release(&stage);
		}
}
END_TEST

static double difference(const struct stage *a, const struct stage *b, const uint32_t *order)
{
	double most = 0;
	for (uint32_t i = 0; i < a->tables.body.count; i++) {
		uint32_t there = order != NULL ? order[i] : i;
		most = scalar_max(most, vec3_distance(a->tables.body.velocity[there],
						      b->tables.body.velocity[i]));
		most = scalar_max(most, vec3_distance(a->tables.body.angular_velocity[there],
						      b->tables.body.angular_velocity[i]));
	}
	return most;
}

/* The largest difference of velocities, m/s, between a cloud of round bodies and the same cloud made in
 * another order, after one step. */
static double difference_by_numbering(const char *method, uint32_t seed, double friction)
{
	uint32_t order[16], count = 4 + seed % 12;
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = rng_below(&rng, i + 1);
		order[i] = order[at];
		order[at] = i;
	}
	struct stage first, second;
	stage_init(&first, method);
	stage_init(&second, method);
	struct cloud cloud = { count, friction, seed % 2 ? 1 : 0, false, true, NULL };
	add_cloud(&first, &cloud, check_seed() + seed);
	cloud.order = order;
	add_cloud(&second, &cloud, check_seed() + seed);
	stage_step(&first);
	stage_step(&second);
	double off = difference(&first, &second, order);
	stage_release(&first);
	stage_release(&second);
	return off;
}

START_TEST(frictionless_velocities_do_not_depend_on_numbering)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++)
		for (uint32_t seed = 0; seed < scenes(24); seed++) {
			double off = difference_by_numbering(METHODS[m], seed, -1);
			ck_assert_msg(off < 1e-9, "%s, seed %u: %g m/s", METHODS[m], seed, off);
		}
}
END_TEST

/* With friction the solution is not unique. The test prints the difference and requires finite
 * velocities. */
START_TEST(with_friction_velocities_stay_finite_for_any_numbering)
{
	double most = 0;
	uint32_t apart = 0, count = scenes(24);
	for (uint32_t seed = 0; seed < count; seed++) {
		double off = difference_by_numbering("lcp", seed, 0.5);
		ck_assert(scalar_is_finite(off));
		most = scalar_max(most, off);
		apart += off > 1e-9;
	}
	printf("# friction 0.5: %u of %u clouds differ by numbering, by at most %g m/s\n", apart,
	       count, most);
}
END_TEST

START_TEST(lcp_and_projection_find_the_same_velocities)
{
	for (uint32_t seed = 0; seed < scenes(60); seed++) {
		struct stage lcp, projection;
		stage_init(&lcp, "lcp");
		stage_init(&projection, "projection");
		struct cloud cloud = { 3 + seed % 20, -1, 0, seed % 4 == 3, false, NULL };
		add_cloud(&lcp, &cloud, check_seed() + seed);
		add_cloud(&projection, &cloud, check_seed() + seed);
		stage_step(&lcp);
		stage_step(&projection);
		double off = difference(&lcp, &projection, NULL);
		ck_assert_msg(off < 1e-10, "seed %u: %g m/s", seed, off);
		stage_release(&lcp);
		stage_release(&projection);
	}
}
END_TEST

/* ---- methods after methods -------------------------------------------------------------------- */

START_TEST(switching_restoring_and_rebuilding_give_equal_hashes)
{
	static const char *const names[] = { "soft-step",  "lcp",  "projection",
					     "reflection", "free", "gr-velocity-projection" };
	struct rng rng = rng_seeded(check_seed());
	struct stage first, second;
	stage_init(&first, "soft-step");
	stage_init(&second, "soft-step");
	stage_ground(&first);
	struct cloud cloud = { 20, 0.4, 0.3, false, false, NULL };
	add_cloud(&first, &cloud, check_seed());
	first.tables.world.gravity[0] = vec3_make(0, -9.81, 0);
	stage_restore(&second, &first);
	for (uint32_t tick = 0; tick < 120; tick++) {
		if (rng_below(&rng, 8) == 0) {
			const char *name = names[rng_below(&rng, COUNT_OF(names))];
			stage_method(&first, name);
			stage_method(&second, name);
		}
		if (rng_below(&rng, 5) == 0)
			stage_restore(&second, &first);
		else if (rng_below(&rng, 5) == 0)
			ck_assert_int_eq(dynamics_rebuild(&second.dynamics), STATUS_OK);
		if (rng_below(&rng, 5) == 0)
			method_release(&second.method);
		stage_step(&first);
		stage_step(&second);
		ck_assert_msg(stage_hash(&second) == stage_hash(&first), "tick %u", tick);
	}
	stage_release(&first);
	stage_release(&second);
}
END_TEST

START_TEST(a_method_ignores_the_multipliers_of_another_method)
{
	/* Two stages with equal bodies and different multipliers of another method: the next method must
	 * not use them. */
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage first, second;
		stage_init(&first, "soft-step");
		stage_init(&second, "soft-step");
		stage_stack(&first, 3);
		stage_run(&first, 20);
		stage_restore(&second, &first);
		memset(second.tables.contact.multiplier[0], 0,
		       sizeof second.tables.contact.multiplier[0]);
		second.tables.contact.multiplier[0][0] = 7;
		stage_method(&first, METHODS[m]);
		stage_method(&second, METHODS[m]);
		stage_step(&first);
		stage_step(&second);
		ck_assert_uint_eq(stage_hash(&second), stage_hash(&first));
		stage_release(&first);
		stage_release(&second);
	}
}
END_TEST

START_TEST(methods_are_found_by_name_number_and_alias)
{
	uint32_t count;
	const struct method *const *list = method_list(&count);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_ptr_eq(method_find(list[i]->name), list[i]);
		ck_assert_ptr_eq(method_by_number(list[i]->number), list[i]);
	}
	const struct method_alias *aliases = method_aliases(&count);
	ck_assert_uint_eq(count, 3);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_ptr_eq(method_find(aliases[i].name), method_find(aliases[i].method));
	ck_assert_ptr_eq(method_find("velocity-projection"), &method_projection);
	ck_assert_ptr_null(method_find("soft"));
	ck_assert_ptr_null(method_by_number(0));
}
END_TEST

/* ---- without memory, with workers ------------------------------------------------------------- */

START_TEST(a_step_without_memory_changes_nothing_and_succeeds_later)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage, straight;
		stage_init(&stage, METHODS[m]);
		stage_init(&straight, METHODS[m]);
		struct cloud cloud = { 12, 0.5, 1, false, false, NULL };
		add_cloud(&stage, &cloud, 5);
		add_cloud(&straight, &cloud, 5);
		uint64_t before = stage_hash(&stage);
		enum status status = STATUS_NO_MEMORY;
		for (uint64_t nth = 1; status != STATUS_OK; nth++) {
			ck_assert_uint_lt(nth, 400);
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
}
END_TEST

START_TEST(a_steady_tick_makes_no_heap_call)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		stage_init(&stage, METHODS[m]);
		stage_stack(&stage, 6);
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		stage_run(&stage, 20);
		uint64_t before = heap_calls_total();
		stage_run(&stage, 40);
		ck_assert_uint_eq(heap_calls_total() - before, 0);
		stage_release(&stage);
	}
}
END_TEST

/* The kinetic energy after one tick of gravity without contacts. */
static double kinetic_after_gravity(const struct stage *stage)
{
	struct body_table *body = &((struct stage *)stage)->tables.body;
	vec3 change = vec3_scale(stage->tables.world.gravity[0], stage->dt);
	for (uint32_t row = 0; row < body->count; row++)
		if (body->status[row] == BODY_DYNAMIC)
			body->velocity[row] = vec3_add(body->velocity[row], change);
	double kinetic = stage_kinetic(stage);
	for (uint32_t row = 0; row < body->count; row++)
		if (body->status[row] == BODY_DYNAMIC)
			body->velocity[row] = vec3_sub(body->velocity[row], change);
	return kinetic;
}

/* One island of hundreds of rows, with friction, from the first tick on, which has no warm start. */
START_TEST(contacts_of_a_heap_add_no_energy)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		struct rng rng = rng_seeded(check_seed());
		stage_init(&stage, "soft-step");
		stage_ground(&stage);
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.3, 0.4));
		for (uint32_t k = 0; k < 80; k++) {
			double w = rng_range(&rng, -1, 1), x = rng_range(&rng, -1, 1);
			double y = rng_range(&rng, -1, 1), z = rng_range(&rng, -1, 1);
			stage_add(&stage, (struct stage_body){
						  .status = BODY_DYNAMIC,
						  .shape = box,
						  .rotation = quat_normalize(quat_make(w, x, y, z)),
						  .position = { 1.4 * (k % 3), 1 + 1.4 * (k / 9),
								1.4 * (k / 3 % 3) } });
		}
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		stage_run(&stage, 500);
		stage_method(&stage, METHODS[m]);
		/* `impact` solves the heap several times a tick. */
		uint32_t ticks = strcmp(METHODS[m], "impact") == 0 ? 2 : 40;
		for (uint32_t tick = 0; tick < ticks; tick++) {
			double most = kinetic_after_gravity(&stage);
			stage_step(&stage);
			const struct step_report *report = &stage.dynamics.report;
			double now = stage_kinetic(&stage);
			ck_assert_msg(now <= most * (1 + 1e-9) + report->push_work + 1e-6,
				      "%s, tick %u: kinetic energy %g of at most %g", METHODS[m],
				      tick, now, most);
			ck_assert(scalar_is_finite(report->residual));
			/* With friction the heap rests; without friction it slides apart. */
			if (m == 0)
				ck_assert_msg(now < 100, "%s, tick %u: %g J", METHODS[m], tick,
					      now);
		}
		stage_release(&stage);
	}
}
END_TEST

START_TEST(islands_are_solved_equally_by_any_number_of_workers)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage one, many;
		stage_init(&one, METHODS[m]);
		stage_init(&many, METHODS[m]);
		many.parallel = parallel_threads_create(3);
		struct cloud cloud = { 60, 0.5, 0.5, false, false, NULL };
		add_cloud(&one, &cloud, check_seed());
		add_cloud(&many, &cloud, check_seed());
		for (uint32_t tick = 0; tick < 8; tick++) {
			stage_step(&one);
			stage_step(&many);
			ck_assert_uint_eq(stage_hash(&one), stage_hash(&many));
			ck_assert(one.dynamics.report.residual == many.dynamics.report.residual);
			ck_assert_uint_eq(one.dynamics.report.fallbacks,
					  many.dynamics.report.fallbacks);
		}
		parallel_threads_destroy((struct parallel *)many.parallel);
		stage_release(&one);
		stage_release(&many);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/velocity scenes");
	TCase *clouds = tcase_create("clouds");
	tcase_set_timeout(clouds, getenv("CAIRN_SCENES") != NULL ? 0 : 60);
	tcase_add_test(clouds, momentum_is_conserved_and_energy_not_gained_without_friction);
	tcase_add_test(clouds, frictionless_velocities_do_not_depend_on_numbering);
	tcase_add_test(clouds, with_friction_velocities_stay_finite_for_any_numbering);
	tcase_add_test(clouds, lcp_and_projection_find_the_same_velocities);
	suite_add_tcase(suite, clouds);
	TCase *methods = tcase_create("methods");
	tcase_set_timeout(methods, 60);
	tcase_add_test(methods, switching_restoring_and_rebuilding_give_equal_hashes);
	tcase_add_test(methods, a_method_ignores_the_multipliers_of_another_method);
	tcase_add_test(methods, methods_are_found_by_name_number_and_alias);
	tcase_add_test(methods, a_step_without_memory_changes_nothing_and_succeeds_later);
	tcase_add_test(methods, a_steady_tick_makes_no_heap_call);
	tcase_add_test(methods, contacts_of_a_heap_add_no_energy);
	tcase_add_test(methods, islands_are_solved_equally_by_any_number_of_workers);
	suite_add_tcase(suite, methods);
	return suite;
}

int main(void)
{
	return check_main(make);
}
