/* Energy over many bounces on a floor under gravity: of one body of any convex kind, and of several.
 * What elastic bounces gain is at most what the removal of penetration is counted with (push_work).
 *
 * CAIRN_ENERGY=METHOD prints a line for each kind instead of asserting. More of the environment:
 * SECONDS, HZ, HZMAX, E (restitution), MU (friction; negative: none), SIZE, BODIES, RATIO (of
 * masses), FREE (1: no floor and no gravity), KIND, SEED, PARAM (NUMBER:VALUE,… of parameters). */
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	KIND_BALL,
	KIND_CAPSULE,
	KIND_BOX,
	KIND_HULL,
	KIND_DRUM,
	KIND_CONE,
	KIND_EGG,
	KIND_ROUNDED,
	KINDS
};
static const char *const KIND_NAMES[KINDS] = { "ball", "capsule", "box",       "hull",
					       "drum", "cone",	  "ellipsoid", "rounded box" };

struct drop {
	const char *method;
	enum kind kind;
	double rate;	    /* Hz */
	double restitution; /* 1 */
	double friction;    /* negative: none */
	double size;	    /* m: of half axes */
	double height;	    /* m; 0: three sizes */
	uint32_t bodies;
	double ratio; /* of masses of neighbours */
	uint64_t seed;
	bool no_floor;
	/* Parameters, `count` of them. */
	struct setting {
		uint32_t parameter;
		double value;
	} settings[4];
	uint32_t setting_count;
};

static struct shape *kind_shape(enum kind kind, double s)
{
	const vec3 corners[] = { { 0.5 * s, 0, 0 },
				 { -0.3 * s, 0.4 * s, 0 },
				 { -0.3 * s, -0.4 * s, 0.1 * s },
				 { 0.1 * s, 0.1 * s, 0.5 * s },
				 { 0, -0.1 * s, -0.4 * s } };
	switch (kind) {
	case KIND_BALL:
		return make_sphere(0.5 * s);
	case KIND_CAPSULE:
		return make_capsule(0.5 * s, 0.3 * s);
	case KIND_BOX:
		return make_box(0.5 * s, 0.25 * s, 0.4 * s);
	case KIND_HULL:
		return make_hull(corners, COUNT_OF(corners));
	case KIND_DRUM:
		return make_cylinder(0.3 * s, 0.5 * s);
	case KIND_CONE:
		return make_cone(0.4 * s, 0.4 * s);
	case KIND_EGG:
		return make_ellipsoid(s, 0.5 * s, 0.3 * s);
	default:
		return make_rounded_box(0.4 * s, 0.2 * s, 0.3 * s, 0.1 * s);
	}
}

static void open_drop(struct stage *stage, const struct drop *drop)
{
	struct rng rng = rng_seeded(drop->seed);
	stage_init(stage, drop->method);
	stage->dt = 1 / drop->rate;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	for (uint32_t i = 0; i < drop->setting_count; i++)
		stage_parameter(stage, (enum parameter_row)drop->settings[i].parameter,
				drop->settings[i].value);
	if (drop->no_floor)
		stage->tables.world.gravity[0] = vec3_zero();
	else
		stage_add(stage, (struct stage_body){
					 .status = BODY_STATIC,
					 .shape = stage_shape(stage, make_plane(vec3_axis(1), 0)),
					 .friction = drop->friction,
					 .restitution = drop->restitution });
	double mass = 1;
	for (uint32_t i = 0; i < drop->bodies; i++) {
		enum kind kind = (enum kind)((drop->kind + i) % KINDS);
		double s = drop->size;
		vec3 spin = i == 0 ? vec3_make(1, 2, 3) : random_vector(&rng, 4);
		vec3 at = { 0, drop->height > 0 ? drop->height : (3 + 2.2 * i) * s, 0 };
		vec3 velocity = vec3_zero();
		if (drop->no_floor) {
			at = vec3_scale(random_vector(&rng, 1), 2 * s * (1 + 0.3 * i));
			velocity = vec3_scale(at, -1 - rng_range(&rng, 0, 1));
		}
		stage_add(stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = stage_shape(stage, kind_shape(kind, s)),
					       .position = at,
					       .rotation = i == 0 ? quat_identity()
								  : random_rotation(&rng),
					       .velocity = velocity,
					       .spin = spin,
					       .mass = mass,
					       .friction = drop->friction,
					       .restitution = drop->restitution });
		mass = i % 2 == 0 ? mass * drop->ratio : 1;
	}
}

struct outcome {
	double most, last; /* of the energy at the beginning */
	double tick;	   /* largest gain in a tick, likewise */
	uint32_t at;	   /* its tick */
	uint32_t fallbacks;
	uint64_t redone; /* parts of ticks */
	double work;
	double momentum, angular;
	double deep; /* of the size */
};

static struct outcome run_drop(const struct drop *drop, double seconds)
{
	struct stage stage;
	struct outcome out = { .most = 0 };
	open_drop(&stage, drop);
	double first = stage_kinetic(&stage) + stage_potential(&stage), before = first;
	vec3 p = stage_momentum(&stage), l = stage_angular_momentum(&stage);
	double scale = 0, turning = 0;
	for (uint32_t row = 0; row < stage.tables.body.count; row++) {
		double m =
			stage.tables.body.mass[row] * vec3_length(stage.tables.body.velocity[row]);
		scale += m;
		turning += m * vec3_length(stage.tables.body.position[row]) +
			   stage.tables.body.inertia[row][0] *
				   vec3_length(stage.tables.body.angular_velocity[row]);
	}
	for (uint32_t tick = 0; tick < seconds * drop->rate; tick++) {
		stage_step(&stage);
		double now = stage_kinetic(&stage) + stage_potential(&stage);
		if ((now - before) / first > out.tick) {
			out.tick = (now - before) / first;
			out.at = tick;
		}
		out.most = scalar_max(out.most, now / first);
		out.last = now / first;
		out.fallbacks += stage.dynamics.report.fallbacks;
		out.redone += stage.dynamics.report.impact.redone;
		out.work += stage.dynamics.report.push_work / first;
		out.deep = scalar_max(out.deep, stage.dynamics.report.penetration_max / drop->size);
		before = now;
	}
	if (drop->no_floor) {
		out.momentum = vec3_distance(p, stage_momentum(&stage)) / scale;
		out.angular = vec3_distance(l, stage_angular_momentum(&stage)) / turning;
	}
	stage_release(&stage);
	return out;
}

/* ---- what is asserted ------------------------------------------------------------------------- */

static const char *const VELOCITY[] = { "lcp", "projection", "reflection" };

static struct drop elastic(const char *method, enum kind kind)
{
	return (struct drop){ .method = method,
			      .kind = kind,
			      .rate = 60,
			      .restitution = 1,
			      .friction = -1,
			      .size = 1,
			      .bodies = 1,
			      .ratio = 1,
			      .seed = check_seed() };
}

static void set(struct drop *drop, enum parameter_row parameter, double value)
{
	ASSERT(drop->setting_count < COUNT_OF(drop->settings));
	drop->settings[drop->setting_count++] = (struct setting){ parameter, value };
}

START_TEST(elastic_bounces_keep_their_energy_where_work_is_exact)
{
	for (uint32_t k = 0; k < KINDS; k++) {
		struct drop drop = elastic(VELOCITY[_i], (enum kind)k), early = drop;
		/* By the work of whole steps a bounce gains m g h v / 2, of first order. */
		set(&early, PARAMETER_EXACT_WORK, 0);
		ck_assert_double_gt(run_drop(&early, 10).most, k == KIND_BALL ? 1.004 : 1.05);
		struct outcome out = run_drop(&drop, 10);
		ck_assert_msg(out.most <= 1 + out.work + 1e-9, "%s, %s: %g of its energy, work %g",
			      VELOCITY[_i], KIND_NAMES[k], out.most, out.work);
		ck_assert_msg(out.last > 0.9, "%s, %s: %g is left", VELOCITY[_i], KIND_NAMES[k],
			      out.last);
	}
}
END_TEST

/* Each bounce leaves e² of the energy, with the speed of the fall to the floor, at any length of the step. */
START_TEST(a_ball_bounces_as_its_fall_says)
{
	static const double rates[] = { 30, 60, 240 };
	for (uint32_t k = 0; k < COUNT_OF(rates); k++) {
		struct drop drop = elastic(VELOCITY[_i], KIND_BALL);
		struct stage stage;
		drop.rate = rates[k];
		drop.restitution = 0.8;
		open_drop(&stage, &drop);
		struct body_table *body = &stage.tables.body;
		uint32_t bounces = 0, ball = body->count - 1;
		double fall = 2.5 * 9.81, before = 0;
		body->angular_velocity[ball] = vec3_zero();
		while (bounces < 4) {
			stage_step(&stage);
			double v = body->velocity[ball].y;
			bounces += before < 0 && v > 0;
			double energy = 0.5 * v * v + 9.81 * (body->position[ball].y - 0.5);
			for (uint32_t i = 0; i < bounces; i++)
				energy /= 0.64;
			ck_assert_double_eq_tol(energy, fall, 1e-9 * fall);
			before = v;
		}
		stage_release(&stage);
	}
}
END_TEST

/* An ellipsoid that comes to turn by half a radian a tick touches without a bounce, and what holds it
 * there is of second order: with undivided ticks it gains. */
START_TEST(a_spinning_ellipsoid_gains_nothing_under_impact)
{
	struct drop drop = elastic("impact", KIND_EGG);
	drop.size = 0.5;
	drop.height = 3;
	struct outcome out = run_drop(&drop, 30);
	ck_assert_double_le(out.most, 1 + 1e-9);
	ck_assert_double_gt(out.last, 0.99);
	ck_assert_uint_gt(out.redone, 0);
	ck_assert_uint_eq(out.fallbacks, 0);
	set(&drop, PARAMETER_IMPACT_SUBSTEPS_MAX, 1);
	out = run_drop(&drop, 30);
	ck_assert_double_gt(out.most, 1.005);
	ck_assert_uint_eq(out.redone, 0);
}
END_TEST

static struct drop light_and_heavy(enum kind kind, uint32_t bodies)
{
	struct drop drop = elastic("soft-step", kind);
	drop.restitution = 0;
	drop.friction = 1;
	drop.bodies = bodies;
	drop.ratio = 1e4;
	drop.seed = 1;
	return drop;
}

/* Light bodies between bodies of 10⁴ times their mass that fall: friction of the last sub-step's load would
 * throw them about. */
START_TEST(light_bodies_under_heavy_ones_gain_nothing_with_friction)
{
	double without = 0;
	for (uint32_t k = 0; k < KINDS; k++) {
		struct drop drop = light_and_heavy((enum kind)k, 5), early = drop;
		set(&early, PARAMETER_SOFT_ENERGY, 0);
		without = scalar_max(without, run_drop(&early, 4).most);
		struct outcome out = run_drop(&drop, 4);
		ck_assert_msg(out.most <= 1.001, "%s: %g", KIND_NAMES[k], out.most);
	}
	ck_assert_double_gt(without, 10);
}
END_TEST

/* The same with restitution: bodies bounce with the speeds that they have, not with those that the last
 * sub-step's impulses would give them. Without friction the energy of elastic ones stays. */
START_TEST(light_bodies_under_heavy_ones_gain_nothing_in_bounces)
{
	static const double parts[] = { 0.5, 1 };
	double without = 0, kept = 1;
	for (uint32_t k = 0; k < KINDS * COUNT_OF(parts); k++) {
		struct drop drop = light_and_heavy((enum kind)(k % KINDS), 5);
		drop.restitution = parts[k / KINDS];
		drop.friction = _i ? 0.5 : -1;
		struct drop early = drop;
		set(&early, PARAMETER_SOFT_ENERGY, 0);
		struct outcome before = run_drop(&early, 4), out = run_drop(&drop, 4);
		without = scalar_max(without, before.most);
		ck_assert_msg(out.most <= (_i ? 1.001 : 1.01), "%s, e = %g: %g",
			      KIND_NAMES[drop.kind], drop.restitution, out.most);
		if (_i || drop.restitution < 1)
			continue;
		kept = scalar_min(kept, before.last);
		ck_assert_msg(out.last > 0.98, "%s: %g", KIND_NAMES[drop.kind], out.last);
	}
	ck_assert(_i ? without > 10 : kept < 0.98);
}
END_TEST

/* Without a floor their momentum stays, to rounding to float. */
START_TEST(light_bodies_between_heavy_ones_keep_the_momentum)
{
	double without = 0;
	for (uint32_t k = 0; k < KINDS; k++) {
		struct drop drop = light_and_heavy((enum kind)k, 6);
		drop.no_floor = true;
		struct drop early = drop;
		set(&early, PARAMETER_SOFT_ENERGY, 0);
		without = scalar_max(without, run_drop(&early, 2).momentum);
		struct outcome out = run_drop(&drop, 2);
		ck_assert_msg(out.momentum <= 1e-6, "%s: %g", KIND_NAMES[k], out.momentum);
		ck_assert_msg(out.most <= 1 + 1e-6, "%s: %g", KIND_NAMES[k], out.most);
	}
	ck_assert_double_gt(without, 0.01);
}
END_TEST

/* An ellipsoid's far end turns into the floor faster than a straight motion says: it bounces all the same. */
START_TEST(a_curved_body_keeps_its_energy_under_soft_step)
{
	static const enum kind kinds[] = { KIND_DRUM, KIND_EGG };
	for (uint32_t k = 0; k < COUNT_OF(kinds); k++) {
		struct drop drop = elastic("soft-step", kinds[k]), early = drop;
		set(&early, PARAMETER_SOFT_ENERGY, 0);
		ck_assert_double_lt(run_drop(&early, 100).last, 0.5);
		struct outcome out = run_drop(&drop, 100);
		ck_assert_double_gt(out.last, 0.9);
		ck_assert_double_lt(out.most, 1.01);
	}
}
END_TEST

/* A small ellipsoid that lands turns by radians a tick and goes deep. What lifts it out is counted. */
START_TEST(what_lifts_a_body_out_is_counted_under_gauss)
{
	struct drop drop = elastic("gauss", KIND_EGG);
	drop.restitution = 0;
	drop.size = 0.01;
	struct outcome out = run_drop(&drop, 8);
	ck_assert_double_gt(out.most, 1.05);
	ck_assert_double_le(out.most, 1 + out.work);
}
END_TEST

/* ---- a table ---------------------------------------------------------------------------------- */

static double number(const char *name, double otherwise)
{
	const char *text = getenv(name);
	return text != NULL ? strtod(text, NULL) : otherwise;
}

static struct drop drop_of_environment(void)
{
	struct drop drop = elastic(getenv("CAIRN_ENERGY"), KIND_BALL);
	drop.restitution = number("E", 1);
	drop.friction = number("MU", -1);
	drop.size = number("SIZE", 1);
	drop.bodies = (uint32_t)number("BODIES", 1);
	drop.ratio = number("RATIO", 1);
	drop.no_floor = number("FREE", 0) > 0;
	drop.seed = (uint64_t)number("SEED", 1);
	for (const char *at = getenv("PARAM"); at != NULL && *at != 0; at++) {
		char *end;
		uint32_t parameter = (uint32_t)strtoul(at, &end, 10);
		set(&drop, (enum parameter_row)parameter, strtod(end + 1, &end));
		at = strchr(end, ',');
		if (at == NULL)
			break;
	}
	return drop;
}

static void print_table(void)
{
	struct drop drop = drop_of_environment();
	double only = number("KIND", KINDS), seconds = number("SECONDS", 100);
	double fastest = number("HZMAX", number("HZ", 60));
	for (drop.rate = number("HZ", 60); drop.rate <= fastest; drop.rate *= 4)
		for (uint32_t k = 0; k < KINDS; k++) {
			if (only < KINDS && k != only)
				continue;
			drop.kind = (enum kind)k;
			struct outcome out = run_drop(&drop, seconds);
			printf("# %-10s %-11s %4g Hz: most %.4g last %.4g tick %.3g at %u "
			       "work %.3g fallbacks %u deep %.3g p %.2g L %.2g\n",
			       drop.method, KIND_NAMES[k], drop.rate, out.most, out.last, out.tick,
			       out.at, out.work, out.fallbacks, out.deep, out.momentum,
			       out.angular);
			fflush(stdout);
		}
}

static Suite *make(void)
{
	Suite *suite = suite_create("energy");
	TCase *tcase = tcase_create("bounces");
	tcase_set_timeout(tcase, 300);
	if (getenv("CAIRN_ENERGY") != NULL)
		print_table();
	tcase_add_loop_test(tcase, elastic_bounces_keep_their_energy_where_work_is_exact, 0,
			    COUNT_OF(VELOCITY));
	tcase_add_loop_test(tcase, a_ball_bounces_as_its_fall_says, 0, COUNT_OF(VELOCITY));
	tcase_add_test(tcase, a_spinning_ellipsoid_gains_nothing_under_impact);
	tcase_add_test(tcase, light_bodies_under_heavy_ones_gain_nothing_with_friction);
	tcase_add_loop_test(tcase, light_bodies_under_heavy_ones_gain_nothing_in_bounces, 0, 2);
	tcase_add_test(tcase, light_bodies_between_heavy_ones_keep_the_momentum);
	tcase_add_test(tcase, a_curved_body_keeps_its_energy_under_soft_step);
	tcase_add_test(tcase, what_lifts_a_body_out_is_counted_under_gauss);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
