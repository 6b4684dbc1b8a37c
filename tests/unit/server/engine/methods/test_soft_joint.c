/* Joints under soft-step, through engine.h: pendulums against the elliptic integral, chains and heavy
 * loads, rods, ropes and springs, limits, motors, momenta, joints far from the origin, displaced joints,
 * and equal results for any number of workers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/poses.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#define GRAVITY 9.81
/* m², of the catalogue's cube and of its ball about their centres. */
#define BOX_GYRATION (1.0 / 6)
#define BALL_GYRATION 0.1

static struct world *world;

/* ---- worlds ----------------------------------------------------------------------------------- */

static void begin_in(bool planar, uint32_t rate)
{
	struct world_options options = test_options(planar, "soft-step");
	options.rate_num = rate;
	options.rate_den = 1;
	world = test_world_of(&options);
	joined_set(world, "sleep.enabled", 0);
}

static void open_world(uint32_t rate)
{
	begin_in(false, rate);
}

static void weightless(void)
{
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = vec3_zero();
	test_do(world, &command);
}

static void close_world(void)
{
	test_check(world);
	world_destroy(world);
	world = NULL;
}

/* A body that collides with none. */
static body_id add_body(enum test_shape shape, vec3 position, double mass, vec3 velocity, vec3 spin)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, position, &item);
	spawn.spawn.mass = mass;
	spawn.spawn.mask = 0;
	spawn.spawn.velocity = velocity;
	spawn.spawn.angular_velocity = spin;
	return test_do(world, &spawn);
}

static body_id add_box(vec3 position)
{
	return add_body(TEST_BOX, position, 1, vec3_zero(), vec3_zero());
}

/* The joint's x axis along `axis` of the world. */
static joint_id join(enum joint_type type, body_id a, body_id b, vec3 point, vec3 axis)
{
	return joined_join(world, type, a, b, point, quat_between(vec3_axis(0), axis));
}

/* JOINT_DISTANCE between a place in the world and a body's centre. */
static joint_id tie_to_world(vec3 place, body_id b, vec3 centre)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = JOINT_DISTANCE;
	command.joint_create.body_b = b;
	command.joint_create.place = 1;
	command.joint_create.point_a = place;
	command.joint_create.point_b = centre;
	return test_do(world, &command);
}

static double gap_of(joint_id id)
{
	struct joint_view at = joined_view(world, id);
	return vec3_distance(at.anchor_a, at.anchor_b);
}

/* The farthest apart of `count` joints from `first` on. */
static double worst_gap(joint_id first, uint32_t count)
{
	double worst = 0;
	for (uint32_t i = 0; i < count; i++)
		worst = fmax(worst, gap_of(first + i));
	return worst;
}

static double energy_of(body_id id, double gyration)
{
	struct body_view at = test_body(world, id);
	return at.mass * (0.5 * vec3_length_squared(at.velocity) +
			  0.5 * gyration * vec3_length_squared(at.angular_velocity) +
			  GRAVITY * at.position.y);
}

/* ---- pendulums -------------------------------------------------------------------------------- */

/* The exact period, s, of a body whose mass centre is 1 m from its axis, released at `angle` from
 * hanging. */
static double true_period(double angle, double gyration)
{
	double a = 1, b = cos(angle / 2);
	for (uint32_t i = 0; i < 8; i++) {
		double mean = sqrt(a * b);
		a = (a + b) / 2;
		b = mean;
	}
	return 2 * PI / a * sqrt((1 + gyration) / GRAVITY);
}

/* Mean period of `swings`, from passages through the lowest place, where no force acts along the path. */
static double period_of(uint32_t rate, body_id body, uint32_t swings)
{
	double before = test_body(world, body).position.x, first = 0, last = 0;
	uint32_t passed = 0;
	for (uint32_t tick = 1; passed < 2 * swings + 1; tick++) {
		test_step(world, 1);
		double x = test_body(world, body).position.x;
		if (before * x < 0) {
			last = (tick - x / (x - before)) / rate;
			first = passed == 0 ? last : first;
			passed++;
		}
		before = x;
	}
	return (last - first) / swings;
}

static const uint32_t RATES[] = { 30, 60, 120, 240, 480 };

/* The period has an error of second order in the step: a quarter at twice the rate. */
START_TEST(a_pendulum_has_its_exact_period_to_second_order)
{
	double truth = true_period(PI / 2, BOX_GYRATION), errors[COUNT_OF(RATES)];
	for (uint32_t r = 0; r < COUNT_OF(RATES); r++) {
		open_world(RATES[r]);
		body_id box = add_box(vec3_make(1, 0, 0));
		enum joint_type type = _i == 0 ? JOINT_REVOLUTE : JOINT_SPHERICAL;
		joint_id joint = join(type, 0, box, vec3_zero(), vec3_axis(2));
		errors[r] = fabs(period_of(RATES[r], box, 5) - truth) / truth;
		printf("# %u Hz: %g, gap %g\n", RATES[r], errors[r], gap_of(joint));
		close_world();
	}
	for (uint32_t r = 1; r < COUNT_OF(RATES); r++)
		ck_assert_double_lt(errors[r], 0.4 * errors[r - 1]);
	ck_assert_double_lt(errors[1], 1e-3);
}
END_TEST

/* The pendulum is released askew. The first step loses energy as an impact does, because the body is at
 * rest. */
START_TEST(a_pendulum_conserves_energy)
{
	open_world(60);
	body_id box = add_box(vec3_make(1, 0, 0));
	joint_id joint = join(JOINT_SPHERICAL, 0, box, vec3_zero(), vec3_axis(1));
	struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
	turn.angular_impulse.body = box;
	turn.angular_impulse.impulse = vec3_make(0.2, 0.1, 0.3);
	test_do(world, &turn);
	test_step(world, 1);
	double start = energy_of(box, BOX_GYRATION), worst = 0, gap = 0;
	for (uint32_t tick = 0; tick < 60 * 60; tick++) {
		test_step(world, 1);
		worst = fmax(worst, fabs(energy_of(box, BOX_GYRATION) - start));
		gap = fmax(gap, gap_of(joint));
	}
	printf("# energy %g of %g, gap %g\n", worst, start, gap);
	ck_assert_double_lt(worst, 0.02 * GRAVITY);
	ck_assert_double_lt(gap, 5e-4);
	close_world();
}
END_TEST

START_TEST(a_planar_pendulum_swings_as_a_spatial_one)
{
	vec3 places[2];
	for (uint32_t planar = 0; planar < 2; planar++) {
		begin_in(planar, 60);
		body_id box = add_body(planar ? TEST_POLYGON : TEST_BOX, vec3_make(1, 0, 0), 1,
				       vec3_zero(), vec3_zero());
		join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
		test_step(world, 60);
		places[planar] = test_body(world, box).position;
		close_world();
	}
	ck_assert_double_lt(vec3_distance(places[0], places[1]), 1e-5);
}
END_TEST

/* ---- chains ----------------------------------------------------------------------------------- */

enum { LINKS_MAX = 100 };

struct chain {
	body_id bodies;
	joint_id joints;
	uint32_t count;
};

/* Cubes from the origin along `way`, the first one hung on the world. */
static struct chain hang_chain(uint32_t count, vec3 way, double last)
{
	struct chain chain = { 0, 0, count };
	vec3 places[LINKS_MAX];
	for (uint32_t i = 0; i < count; i++) {
		places[i] = vec3_scale(way, i);
		body_id body = add_body(TEST_BOX, vec3_scale(way, i + 0.5),
					i == count - 1 ? last : 1, vec3_zero(), vec3_zero());
		chain.bodies = i == 0 ? body : chain.bodies;
	}
	for (uint32_t i = 0; i < count; i++) {
		joint_id joint = join(JOINT_SPHERICAL, i == 0 ? 0 : chain.bodies + i - 1,
				      chain.bodies + i, places[i], vec3_axis(0));
		chain.joints = i == 0 ? joint : chain.joints;
	}
	return chain;
}

static double chain_energy(const struct chain *chain)
{
	double sum = 0;
	for (uint32_t i = 0; i < chain->count; i++)
		sum += energy_of(chain->bodies + i, BOX_GYRATION);
	return sum;
}

/* A hundred links, the last of `load` kg, swing down from level. Energy is measured in that of a
 * fall by the chain's length. */
static const struct {
	double load, gap, rise, loss;
} swings[] = { { 1, 0.02, 1e-3, 0.05 }, { 1e3, 0.01, 1e-3, 0.03 }, { 1e5, 0.01, 1e-3, 0.03 } };

START_TEST(a_chain_of_a_hundred_links_swings_down)
{
	open_world(60);
	double load = swings[_i].load;
	struct chain chain = hang_chain(100, vec3_axis(0), load);
	double start = chain_energy(&chain), worst = 0, size = (99 * 49.5 + load * 99.5) * GRAVITY;
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		worst = fmax(worst, worst_gap(chain.joints, chain.count));
		ck_assert_double_lt(chain_energy(&chain) - start, swings[_i].rise * size);
	}
	printf("# load %g: gap %g, energy %g of %g\n", load, worst, chain_energy(&chain) - start,
	       size);
	ck_assert_double_lt(worst, swings[_i].gap);
	ck_assert_double_gt(chain_energy(&chain) - start, -swings[_i].loss * size);
	close_world();
}
END_TEST

/* The greatest error of energy, J, of a mass at a speed: velocities include a whole sub-step of gravity,
 * positions only half of it. */
static double half_push(double mass, double speed)
{
	return 0.5 / (4 * 60) * mass * GRAVITY * speed;
}

/* A load of 100 times the mass of a link does not tear the chain, at rest (loop 0) or swinging (1). */
START_TEST(a_heavy_load_stays_joined)
{
	open_world(60);
	struct chain chain = hang_chain(10, _i == 0 ? vec3_make(0, -1, 0) : vec3_axis(0), 100);
	double worst = 0, start = chain_energy(&chain);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		worst = fmax(worst, worst_gap(chain.joints, chain.count));
		ck_assert_double_lt(chain_energy(&chain) - start,
				    half_push(109, sqrt(2 * GRAVITY * 10)));
	}
	printf("# gap %g, energy %g\n", worst, chain_energy(&chain) - start);
	ck_assert_double_lt(worst, 6e-4);
	close_world();
}
END_TEST

/* ---- distances -------------------------------------------------------------------------------- */

START_TEST(a_rod_keeps_its_length)
{
	open_world(60);
	body_id ball = add_body(TEST_SPHERE, vec3_make(2, 0, 0), 1, vec3_zero(), vec3_zero());
	joint_id joint = tie_to_world(vec3_zero(), ball, vec3_make(2, 0, 0));
	double worst = 0, start = energy_of(ball, BALL_GYRATION);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		worst = fmax(worst, fabs(joined_view(world, joint).coordinates[0] - 2));
	}
	printf("# rod %g, energy %g\n", worst, energy_of(ball, BALL_GYRATION) - start);
	ck_assert_double_lt(worst, 5e-4);
	ck_assert_double_lt(fabs(energy_of(ball, BALL_GYRATION) - start), 0.01 * 2 * GRAVITY);
	close_world();
}
END_TEST

START_TEST(a_slack_rope_is_free_and_a_taut_rope_holds)
{
	open_world(60);
	body_id ball = add_body(TEST_SPHERE, vec3_make(0, -1, 0), 1, vec3_zero(), vec3_zero());
	joint_id joint = tie_to_world(vec3_zero(), ball, vec3_make(0, -1, 0));
	struct command rope = joined_axis(joint, 0);
	rope.joint_axis.mode = JOINT_LIMITED;
	rope.joint_axis.upper = 2;
	test_do(world, &rope);
	/* While the rope is slack the body falls exactly freely. */
	test_step(world, 20);
	double fallen = 0.5 * GRAVITY / 9;
	ck_assert_double_lt(fabs(test_body(world, ball).position.y + 1 + fallen), 1e-12);
	double worst = 0;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		worst = fmax(worst, joined_view(world, joint).coordinates[0] - 2);
	}
	struct joint_view at = joined_view(world, joint);
	ck_assert_double_lt(worst, 1e-3);
	ck_assert_double_lt(fabs(at.coordinates[0] - 2), 2e-4);
	ck_assert_double_lt(vec3_distance(at.force, vec3_make(0, GRAVITY, 0)), 1e-3);
	close_world();
}
END_TEST

START_TEST(a_distance_spring_pulls_with_its_stiffness_up_to_its_limit)
{
	open_world(60);
	body_id ball = add_body(TEST_SPHERE, vec3_make(0, -1, 0), 2, vec3_zero(), vec3_zero());
	joint_id joint = tie_to_world(vec3_zero(), ball, vec3_make(0, -1, 0));
	struct command spring = joined_axis(joint, 0);
	spring.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	spring.joint_axis.stiffness = 100;
	spring.joint_axis.damping = 10;
	spring.joint_axis.rest = 1;
	test_do(world, &spring);
	test_step(world, 1200);
	ck_assert_double_lt(
		fabs(joined_view(world, joint).coordinates[0] - (1 + 2 * GRAVITY / 100)), 1e-6);
	/* Its force limit is less than the ball's weight: the ball falls. */
	spring.joint_axis.spring_limit = GRAVITY;
	test_do(world, &spring);
	test_step(world, 60);
	ck_assert_double_lt(fabs(test_body(world, ball).velocity.y + GRAVITY / 2), 1e-3);
	close_world();
}
END_TEST

/* ---- springs ---------------------------------------------------------------------------------- */

struct oscillation {
	double hertz, kept; /* kept: of the amplitude, in a period */
};

/* Measures the oscillation of coordinate `axis` about `rest` over ten periods. */
static struct oscillation measure_oscillation(joint_id joint, uint32_t axis, double rest,
					      uint32_t rate)
{
	double before = joined_view(world, joint).coordinates[axis] - rest, first = 0, last = 0,
	       most = 0;
	double peaks[22] = { 0 };
	uint32_t passed = 0;
	for (uint32_t tick = 1; passed < 21 && tick < 100 * rate; tick++) {
		test_step(world, 1);
		double now = joined_view(world, joint).coordinates[axis] - rest;
		most = fmax(most, fabs(now));
		if (before * now < 0) {
			last = (tick - now / (now - before)) / rate;
			first = passed == 0 ? last : first;
			peaks[passed++] = most;
			most = 0;
		}
		before = now;
	}
	double halves = passed - 1;
	return (struct oscillation){ halves / 2 / (last - first),
				     pow(peaks[passed - 1] / peaks[1], 2 / (halves - 1)) };
}

static joint_id add_spring(bool turning, double hertz, double ratio)
{
	weightless();
	body_id box =
		add_body(TEST_BOX, vec3_make(1, 0, 0), 3, turning ? vec3_zero() : vec3_axis(0),
			 turning ? vec3_axis(2) : vec3_zero());
	joint_id joint = join(turning ? JOINT_SPHERICAL : JOINT_PRISMATIC, 0, box,
			      turning ? vec3_make(1, 0, 0) : vec3_make(0.5, 2, 1),
			      vec3_axis(turning ? 2 : 0));
	struct command spring = joined_axis(joint, turning ? 3 : 0);
	spring.joint_axis.spring = JOINT_SPRING_HERTZ;
	spring.joint_axis.stiffness = hertz;
	spring.joint_axis.damping = ratio;
	test_do(world, &spring);
	return joint;
}

/* The slider's distance from the mass centre does not matter, because the whole body translates. */
START_TEST(a_spring_of_given_hertz_oscillates_at_it)
{
	static const double hertz[] = { 0.5, 2, 5 };
	for (uint32_t i = 0; i < COUNT_OF(hertz); i++) {
		open_world(60);
		joint_id joint = add_spring(_i == 1, hertz[i], 0);
		struct oscillation seen = measure_oscillation(joint, _i == 1 ? 3 : 0, 0, 60);
		printf("# %g Hz: %g, kept %g\n", hertz[i], seen.hertz, seen.kept);
		ck_assert_double_lt(fabs(seen.hertz / hertz[i] - 1), 2e-3);
		ck_assert_double_lt(fabs(seen.kept - 1), 0.01);
		close_world();
	}
}
END_TEST

START_TEST(a_damped_spring_decays_at_its_ratio)
{
	double ratio = 0.1, left = sqrt(1 - ratio * ratio);
	open_world(240);
	joint_id joint = add_spring(false, 2, ratio);
	struct oscillation seen = measure_oscillation(joint, 0, 0, 240);
	printf("# %g Hz, kept %g, %g\n", seen.hertz, seen.kept, exp(-2 * PI * ratio / left));
	ck_assert_double_lt(fabs(seen.hertz / (2 * left) - 1), 5e-3);
	ck_assert_double_lt(fabs(seen.kept / exp(-2 * PI * ratio / left) - 1), 0.02);
	close_world();
}
END_TEST

/* A spring far stiffer than sub-steps can resolve. */
START_TEST(no_spring_is_too_stiff)
{
	open_world(60);
	body_id box = add_box(vec3_make(0, 0, 0));
	joint_id joint = join(JOINT_PRISMATIC, 0, box, vec3_zero(), vec3_axis(1));
	struct command spring = joined_axis(joint, 0);
	spring.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	spring.joint_axis.stiffness = 1e9;
	test_do(world, &spring);
	test_step(world, 60);
	ck_assert_double_lt(fabs(joined_view(world, joint).coordinates[0] + GRAVITY / 1e9), 1e-9);
	close_world();
}
END_TEST

/* ---- limits ----------------------------------------------------------------------------------- */

/* A body on a slider hits its limit, without gravity. */
/* ---- several springs on a body ---------------------------------------------------------------- */

enum { SPRINGS = 4 };

/* Springs without damping between places of the world and of a cube of 1 kg, of 10² to 10⁷ N/m. */
struct held_cube {
	vec3 from[SPRINGS], to[SPRINGS];
	double stiffness[SPRINGS];
	vec3 velocity, spin;
};

static struct held_cube draw_held_cube(uint32_t seed)
{
	struct rng rng = rng_seeded(seed);
	struct held_cube self;
	for (uint32_t i = 0; i < SPRINGS; i++) {
		self.to[i] = random_vector(&rng, 0.5);
		self.from[i] = vec3_mul_add(self.to[i], random_direction(&rng), 3);
		self.stiffness[i] = pow(10, rng_range(&rng, 2, 7));
	}
	self.velocity = random_vector(&rng, 2);
	self.spin = random_vector(&rng, 3);
	return self;
}

/* The greatest kinetic energy in 3 s, as a part of that at the start, when all springs are at
 * rest. They are made in the order of `order`, as servos if `servos`. */
static double energy_of_held_cube(const struct held_cube *self, const uint32_t order[SPRINGS],
				  bool servos)
{
	open_world(60);
	weightless();
	struct joined_thing cube = {
		.shape = TEST_BOX, .mass = 1, .velocity = self->velocity, .spin = self->spin
	};
	body_id body = joined_put(world, cube);
	for (uint32_t k = 0; k < SPRINGS; k++) {
		uint32_t i = order[k];
		struct command create =
			joined_create(JOINT_DISTANCE, 0, body, self->from[i], quat_identity());
		create.joint_create.point_b = self->to[i];
		struct command axis = joined_axis(test_do(world, &create), 0);
		axis.joint_axis.spring = servos ? JOINT_SPRING_NONE : JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = servos ? 0 : self->stiffness[i];
		axis.joint_axis.rest = 3;
		axis.joint_axis.motor = servos ? JOINT_MOTOR_POSITION : JOINT_MOTOR_NONE;
		axis.joint_axis.motor_stiffness = servos ? self->stiffness[i] : 0;
		axis.joint_axis.target = 3;
		test_do(world, &axis);
	}
	double start = world_energy(world).kinetic, most = 0;
	for (uint32_t tick = 0; tick < 180; tick++) {
		test_step(world, 1);
		most = fmax(most, world_energy(world).kinetic);
	}
	close_world();
	return most / start;
}

/* In whatever order they are made: with stiff ones first a cube gained 180 % when implicit
 * springs were solved in that order, and 10⁴ times its energy when several implicit ones were
 * solved once. */
START_TEST(springs_gain_no_energy_from_each_other_in_any_order)
{
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct held_cube cube = draw_held_cube(seed);
		uint32_t up[SPRINGS] = { 0, 1, 2, 3 }, down[SPRINGS];
		for (uint32_t i = 0; i < SPRINGS; i++)
			for (uint32_t k = i;
			     k > 0 && cube.stiffness[up[k]] < cube.stiffness[up[k - 1]]; k--) {
				uint32_t other = up[k];
				up[k] = up[k - 1];
				up[k - 1] = other;
			}
		for (uint32_t i = 0; i < SPRINGS; i++)
			down[i] = up[SPRINGS - 1 - i];
		double rise = fmax(energy_of_held_cube(&cube, up, _i != 0),
				   energy_of_held_cube(&cube, down, _i != 0));
		ck_assert_msg(rise < 1.05, "seed %u: %g of the energy", seed, rise);
	}
}
END_TEST

START_TEST(a_limit_bounces_with_its_restitution)
{
	static const double restitutions[] = { 0, 0.5, 1 };
	for (uint32_t i = 0; i < COUNT_OF(restitutions); i++) {
		open_world(60);
		weightless();
		body_id box =
			add_body(TEST_BOX, vec3_make(0, 0, 0), 1, vec3_make(3, 0, 0), vec3_zero());
		joint_id joint = join(JOINT_PRISMATIC, 0, box, vec3_make(0.3, 1, 0), vec3_axis(0));
		struct command limit = joined_axis(joint, 0);
		limit.joint_axis.mode = JOINT_LIMITED;
		limit.joint_axis.lower = -5;
		limit.joint_axis.upper = 0.52;
		limit.joint_axis.restitution = restitutions[i];
		test_do(world, &limit);
		double worst = 0;
		for (uint32_t tick = 0; tick < 30; tick++) {
			test_step(world, 1);
			worst = fmax(worst, joined_view(world, joint).coordinates[0] - 0.52);
		}
		struct body_view at = test_body(world, box);
		printf("# %g: %g, %g beyond\n", restitutions[i], at.velocity.x, worst);
		ck_assert_double_lt(fabs(at.velocity.x + 3 * restitutions[i]), 1e-5);
		ck_assert_double_lt(vec3_length(at.angular_velocity), 1e-5);
		ck_assert_double_lt(worst, 1e-4);
		close_world();
	}
}
END_TEST

/* An arm falls on its limit and rests there; the torque of the limit balances the weight. */
START_TEST(an_arm_rests_on_its_limit)
{
	open_world(60);
	body_id box = add_box(vec3_make(2, 0, 0));
	joint_id joint = join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	struct command limit = joined_axis(joint, 3);
	limit.joint_axis.mode = JOINT_LIMITED;
	limit.joint_axis.lower = -0.5;
	limit.joint_axis.upper = 2;
	test_do(world, &limit);
	double least = 0;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		least = fmin(least, joined_view(world, joint).coordinates[3]);
	}
	struct joint_view at = joined_view(world, joint);
	printf("# %g, %g, torque %g\n", least + 0.5, at.coordinates[3] + 0.5, at.torque.z);
	ck_assert_double_lt(fabs(at.coordinates[3] + 0.5), 2e-4);
	ck_assert_double_gt(least, -0.505);
	ck_assert_double_lt(fabs(at.torque.z - 2 * cos(0.5) * GRAVITY), 0.02);
	close_world();
}
END_TEST

/* ---- motors ----------------------------------------------------------------------------------- */

/* A cube whose hinge is 1 m from its centre. */
static joint_id add_arm(double target, double limit, enum joint_motor motor)
{
	body_id box = add_box(vec3_make(1, 0, 0));
	joint_id joint = join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	struct command drive = joined_axis(joint, 3);
	drive.joint_axis.motor = (uint8_t)motor;
	drive.joint_axis.target = target;
	drive.joint_axis.motor_limit = limit;
	test_do(world, &drive);
	return joint;
}

START_TEST(a_motor_holds_its_speed_under_load)
{
	open_world(60);
	joint_id joint = add_arm(2, 0, JOINT_MOTOR_VELOCITY);
	body_id box = joined_view(world, joint).b;
	double worst = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		worst = fmax(worst, fabs(test_body(world, box).angular_velocity.z - 2));
	}
	printf("# off by %g, turned %g\n", worst, joined_view(world, joint).coordinates[3] - 20);
	ck_assert_double_lt(worst, 1e-6);
	ck_assert_double_lt(fabs(joined_view(world, joint).coordinates[3] - 20), 2e-3);
	close_world();
}
END_TEST

/* Without gravity the motor's torque limit accelerates the arm uniformly. */
START_TEST(a_motor_gives_at_most_its_torque_limit)
{
	open_world(60);
	weightless();
	joint_id joint = add_arm(50, 3, JOINT_MOTOR_VELOCITY);
	body_id box = joined_view(world, joint).b;
	test_step(world, 60);
	double expected = 3 / (1 + BOX_GYRATION);
	printf("# %g of %g\n", test_body(world, box).angular_velocity.z, expected);
	double speed = test_body(world, box).angular_velocity.z;
	ck_assert_double_lt(fabs(speed - expected), 1e-3 * expected);
	ck_assert_double_lt(fabs(joined_view(world, joint).torque.z - 3), 1e-2);
	close_world();
}
END_TEST

START_TEST(a_motor_follows_a_sine)
{
	open_world(60);
	joint_id joint = add_arm(0, 0, JOINT_MOTOR_POSITION);
	struct command drive = joined_axis(joint, 3);
	drive.joint_axis.motor = JOINT_MOTOR_POSITION;
	drive.joint_axis.wave = JOINT_WAVE_SINE;
	drive.joint_axis.amplitude = 0.8;
	drive.joint_axis.hertz = 1;
	test_do(world, &drive);
	double worst = 0;
	/* The first ticks accelerate the body to the motor's full speed. */
	for (uint32_t tick = 1; tick <= 240; tick++) {
		test_step(world, 1);
		double target = 0.8 * sin(2 * PI * tick / 60);
		if (tick > 30)
			worst = fmax(worst,
				     fabs(joined_view(world, joint).coordinates[3] - target));
	}
	printf("# off by %g\n", worst);
	ck_assert_double_lt(worst, 1e-3);
	close_world();
}
END_TEST

START_TEST(joint_friction_sticks_or_slides)
{
	open_world(60);
	body_id box = add_box(vec3_make(1, 0, 0));
	joint_id joint = join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	struct command rub = joined_axis(joint, 3);
	rub.joint_axis.friction = 1.01 * GRAVITY;
	test_do(world, &rub);
	test_step(world, 120);
	ck_assert_double_lt(fabs(joined_view(world, joint).coordinates[3]), 1e-9);
	rub.joint_axis.friction = 5;
	test_do(world, &rub);
	test_step(world, 6);
	double expected = (GRAVITY - 5) / (1 + BOX_GYRATION) * 0.1;
	double speed = -test_body(world, box).angular_velocity.z;
	printf("# %g of %g\n", speed, expected);
	ck_assert_double_lt(fabs(speed - expected), 0.01 * expected);
	close_world();
}
END_TEST

/* In both directions the body stops where friction has used up its energy, also within a tick. */
START_TEST(friction_stops_a_sliding_body_where_its_energy_ends)
{
	const double spin = _i == 0 ? 6 : -6, inertia = 1 + BOX_GYRATION, torque = 5;
	open_world(60);
	weightless();
	body_id box = add_body(TEST_BOX, vec3_make(1, 0, 0), 1, vec3_make(0, spin, 0),
			       vec3_make(0, 0, spin));
	joint_id joint = join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	struct command rub = joined_axis(joint, 3);
	rub.joint_axis.friction = torque;
	test_do(world, &rub);
	for (uint32_t tick = 0; tick < 240; tick++) {
		test_step(world, 1);
		ck_assert_double_ge(test_body(world, box).angular_velocity.z / spin, -1e-9);
	}
	double turned = 0.5 * inertia * spin * fabs(spin) / torque;
	ck_assert_double_eq_tol(joined_view(world, joint).coordinates[3], turned,
				0.01 * fabs(turned));
	ck_assert_double_lt(fabs(test_body(world, box).angular_velocity.z), 1e-9);
	close_world();
}
END_TEST

/* A limit stops even an unbounded motor, and releases the body when the motor reverses. */
START_TEST(a_limit_stops_a_motor)
{
	const double sign = _i == 0 ? 1 : -1;
	open_world(60);
	joint_id joint = add_arm(3 * sign, 0, JOINT_MOTOR_VELOCITY);
	struct command axis = joined_axis(joint, 3);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = -1;
	axis.joint_axis.upper = 1;
	axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	axis.joint_axis.target = 3 * sign;
	test_do(world, &axis);
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(sign * joined_view(world, joint).coordinates[3], 1 + 1e-3);
	}
	ck_assert_double_gt(sign * joined_view(world, joint).coordinates[3], 1 - 1e-3);
	ck_assert_double_lt(fabs(test_body(world, joined_view(world, joint).b).angular_velocity.z),
			    1e-6);
	axis.joint_axis.target = -3 * sign;
	test_do(world, &axis);
	test_step(world, 30);
	ck_assert_double_eq_tol(sign * joined_view(world, joint).coordinates[3], 1 - 1.5, 0.01);
	close_world();
}
END_TEST

/* A position motor arrives no faster than it can stop. */
START_TEST(a_motor_does_not_overshoot)
{
	const double target = _i == 0 ? 2 : -2;
	open_world(60);
	weightless();
	joint_id joint = add_arm(target, 2, JOINT_MOTOR_POSITION);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(joined_view(world, joint).coordinates[3] / target, 1.001);
	}
	ck_assert_double_eq_tol(joined_view(world, joint).coordinates[3], target, 1e-3);
	close_world();
}
END_TEST

/* 3000 rpm: five radians a tick. */
START_TEST(turns_of_five_radians_a_tick_are_counted)
{
	open_world(60);
	weightless();
	body_id box = add_body(TEST_BOX, vec3_zero(), 1, vec3_zero(), vec3_make(0, 0, 314));
	joint_id joint = join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	test_step(world, 60);
	ck_assert_double_lt(fabs(joined_view(world, joint).coordinates[3] - 314), 1e-3);
	close_world();
}
END_TEST

/* ---- invariance ------------------------------------------------------------------------------- */

struct momenta {
	vec3 linear, angular;
};

static struct momenta momenta_of(body_id first, uint32_t count)
{
	struct momenta sum = { vec3_zero(), vec3_zero() };
	for (uint32_t i = 0; i < count; i++) {
		struct body_view at = test_body(world, first + i);
		vec3 own = vec3_scale(at.angular_velocity, at.mass * BOX_GYRATION);
		vec3 linear = vec3_scale(at.velocity, at.mass);
		sum.linear = vec3_add(sum.linear, linear);
		sum.angular = vec3_add(sum.angular, vec3_add(own, vec3_cross(at.position, linear)));
	}
	return sum;
}

/* A free pair with a joint of every type, with a motor if the type has motors. */
START_TEST(a_free_pair_conserves_its_momenta)
{
	open_world(60);
	weightless();
	body_id first =
		add_body(TEST_BOX, vec3_make(-1, 0, 0), 1, vec3_make(1, 2, 0), vec3_make(1, 0, 2));
	add_body(TEST_BOX, vec3_make(1, 0, 0), 5, vec3_make(0, -1, 1), vec3_make(0, 3, 0));
	join((enum joint_type)_i, first, first + 1, vec3_make(0.2, 0.1, 0), vec3_axis(0));
	struct momenta start = momenta_of(first, 2);
	test_step(world, 600);
	struct momenta last = momenta_of(first, 2);
	printf("# %d: %g, %g\n", _i, vec3_distance(start.linear, last.linear),
	       vec3_distance(start.angular, last.angular));
	ck_assert_double_lt(vec3_distance(start.linear, last.linear), 1e-5);
	ck_assert_double_lt(vec3_distance(start.angular, last.angular), 1e-4);
	close_world();
}
END_TEST

/* Two hinges on one axis have ten rows, of which five are independent. */
START_TEST(two_hinges_on_one_axis_act_as_one)
{
	open_world(60);
	body_id box = add_box(vec3_make(1, 0, 0));
	join(JOINT_REVOLUTE, 0, box, vec3_zero(), vec3_axis(2));
	joint_id second = join(JOINT_REVOLUTE, 0, box, vec3_make(0, 0, 0.5), vec3_axis(2));
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(gap_of(second), 1e-3);
	}
	close_world();
}
END_TEST

/* A displaced link comes back, no faster than 3 m/s (contact.push_speed). */
START_TEST(a_displaced_link_returns_at_push_speed_at_most)
{
	open_world(60);
	weightless();
	struct chain chain = hang_chain(5, vec3_make(0, -1, 0), 1);
	struct command put = test_command(COMMAND_SET_POSE);
	put.set_pose.body = chain.bodies + 2;
	put.set_pose.position = vec3_make(4, 1, 3);
	put.set_pose.rotation = quat_identity();
	test_do(world, &put);
	test_step(world, 600);
	double most = 0;
	for (uint32_t i = 0; i < chain.count; i++)
		most = fmax(most, vec3_length(test_body(world, chain.bodies + i).velocity));
	printf("# gap %g, speed %g\n", worst_gap(chain.joints, 5), most);
	ck_assert_double_lt(worst_gap(chain.joints, 5), 1e-3);
	ck_assert_double_lt(most, 3);
	close_world();
}
END_TEST

/* A heap of jointed pairs on the ground: contacts and joints share bodies. */
START_TEST(joints_and_contacts_hold_together)
{
	open_world(60);
	test_spawn(world, TEST_PLANE, vec3_zero());
	joint_id joints[20];
	for (uint32_t i = 0; i < COUNT_OF(joints); i++) {
		double height = 1 + 1.2 * (i / 4);
		body_id a = test_spawn(world, TEST_BOX, vec3_make(2.5 * (i % 4), height, 0));
		body_id b =
			test_spawn(world, TEST_SPHERE, vec3_make(2.5 * (i % 4) + 1.1, height, 0.1));
		joints[i] = join(JOINT_SPHERICAL, a, b, vec3_make(2.5 * (i % 4) + 0.6, height, 0),
				 vec3_axis(0));
	}
	double worst = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		for (uint32_t i = 0; i < COUNT_OF(joints); i++)
			worst = fmax(worst, gap_of(joints[i]));
	}
	printf("# gap %g, residual %g\n", worst, world_stats(world).residual);
	ck_assert_double_lt(worst, 0.02);
	close_world();
}
END_TEST

static uint64_t hash_after(const struct parallel *parallel)
{
	struct reason why;
	open_world(60);
	test_spawn(world, TEST_PLANE, vec3_make(0, -6, 0));
	for (uint32_t c = 0; c < 20; c++) {
		body_id before = 0;
		for (uint32_t i = 0; i < 10; i++) {
			vec3 place = vec3_make(1.1 * i, 0, 2 * c);
			body_id body = test_spawn(world, i % 2 == 0 ? TEST_BOX : TEST_CAPSULE,
						  vec3_add(place, vec3_make(0.55, 0, 0)));
			joint_id joint = join(1 + (i + c) % 6, before, body, place, vec3_axis(0));
			struct command spring = joined_axis(joint, 3);
			spring.joint_axis.friction = 0.1;
			spring.joint_axis.motor = JOINT_MOTOR_VELOCITY;
			spring.joint_axis.target = 1;
			spring.joint_axis.motor_limit = 10;
			(void)test_try(world, &spring);
			before = body;
		}
	}
	for (uint32_t tick = 0; tick < 200; tick++)
		ck_assert_uint_eq(world_step(world, parallel, &why), STATUS_OK);
	uint64_t hash = test_hash(world);
	close_world();
	return hash;
}

START_TEST(the_state_is_the_same_for_any_number_of_workers)
{
	struct parallel *four = parallel_threads_create(4);
	ck_assert_uint_eq(hash_after(&parallel_serial), hash_after(four));
	parallel_threads_destroy(four);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_joint");
	TCase *tcase = tcase_create("joints");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, a_pendulum_has_its_exact_period_to_second_order, 0, 2);
	tcase_add_test(tcase, a_pendulum_conserves_energy);
	tcase_add_test(tcase, a_planar_pendulum_swings_as_a_spatial_one);
	tcase_add_loop_test(tcase, a_chain_of_a_hundred_links_swings_down, 0, COUNT_OF(swings));
	tcase_add_loop_test(tcase, a_heavy_load_stays_joined, 0, 2);
	tcase_add_test(tcase, a_rod_keeps_its_length);
	tcase_add_test(tcase, a_slack_rope_is_free_and_a_taut_rope_holds);
	tcase_add_test(tcase, a_distance_spring_pulls_with_its_stiffness_up_to_its_limit);
	tcase_add_loop_test(tcase, a_spring_of_given_hertz_oscillates_at_it, 0, 2);
	tcase_add_test(tcase, a_damped_spring_decays_at_its_ratio);
	tcase_add_test(tcase, no_spring_is_too_stiff);
	tcase_add_loop_test(tcase, springs_gain_no_energy_from_each_other_in_any_order, 0, 2);
	tcase_add_test(tcase, a_limit_bounces_with_its_restitution);
	tcase_add_test(tcase, an_arm_rests_on_its_limit);
	tcase_add_test(tcase, a_motor_holds_its_speed_under_load);
	tcase_add_test(tcase, a_motor_gives_at_most_its_torque_limit);
	tcase_add_test(tcase, a_motor_follows_a_sine);
	tcase_add_test(tcase, joint_friction_sticks_or_slides);
	tcase_add_loop_test(tcase, friction_stops_a_sliding_body_where_its_energy_ends, 0, 2);
	tcase_add_loop_test(tcase, a_limit_stops_a_motor, 0, 2);
	tcase_add_loop_test(tcase, a_motor_does_not_overshoot, 0, 2);
	tcase_add_test(tcase, turns_of_five_radians_a_tick_are_counted);
	tcase_add_loop_test(tcase, a_free_pair_conserves_its_momenta, JOINT_SPHERICAL, JOINT_DRAG);
	tcase_add_test(tcase, two_hinges_on_one_axis_act_as_one);
	tcase_add_test(tcase, a_displaced_link_returns_at_push_speed_at_most);
	tcase_add_test(tcase, joints_and_contacts_hold_together);
	tcase_add_test(tcase, the_state_is_the_same_for_any_number_of_workers);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
