/* test_pile_spring.c: springs between bodies under `pile` (papers P-11, P-12, P-14): places of rest known
 * beforehand, a net that carries a ball, energy that never grows, refusals. Spheres have a radius of ½ m and
 * a mass of 1 kg. */
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include "server/engine/math/scalar.h"

#include <string.h>

#define OVERLAP 1e-9 /* m: none above it, at any instant */
enum { BALLS_MAX = 80, SPRINGS_MAX = 120, INTERPOLANTS = 10 };

struct spring {
	uint32_t a, b; /* of the balls; a UINT32_MAX: the world, at `anchor` */
	vec3 anchor;
	double stiffness, rest, limit;
	joint_id id;
};

struct net {
	struct world *world;
	body_id balls[BALLS_MAX];
	vec3 at[BALLS_MAX];
	bool fixed[BALLS_MAX];
	uint32_t count, springs;
	struct spring spring[SPRINGS_MAX];
	double gravity;
};

static void begin(struct net *self, double gravity)
{
	*self = (struct net){ .world = test_world(false, "pile"), .gravity = gravity };
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = vec3_make(0, -gravity, 0);
	test_do(self->world, &command);
	command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text("sleep.time");
	test_do(self->world, &command);
}

static uint32_t add_ball(struct net *self, vec3 at, bool fixed)
{
	struct attachment item;
	struct command command = test_spawn_command(self->world, TEST_SPHERE, at, &item);
	ck_assert_uint_lt(self->count, BALLS_MAX);
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	command.spawn.mass = 1;
	command.spawn.status = fixed ? BODY_STATIC : BODY_DYNAMIC;
	self->at[self->count] = at;
	self->fixed[self->count] = fixed;
	self->balls[self->count] = test_do(self->world, &command);
	return self->count++;
}

static struct command joint_between(body_id a, body_id b)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = JOINT_DISTANCE;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.flags = 0;
	return command;
}

static struct command axis_of(joint_id joint, double stiffness, double rest, double limit)
{
	struct command command = test_command(COMMAND_JOINT_AXIS);
	command.joint_axis.joint = joint;
	command.joint_axis.mode = JOINT_FREE;
	command.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	command.joint_axis.stiffness = stiffness;
	command.joint_axis.rest = rest;
	command.joint_axis.spring_limit = limit;
	return command;
}

static void add_spring(struct net *self, struct spring spring)
{
	ck_assert_uint_lt(self->springs, SPRINGS_MAX);
	bool world = spring.a == UINT32_MAX;
	struct command command =
		joint_between(world ? 0 : self->balls[spring.a], self->balls[spring.b]);
	if (world)
		command.joint_create.point_a = spring.anchor;
	spring.id = test_do(self->world, &command);
	command = axis_of(spring.id, spring.stiffness, spring.rest, spring.limit);
	test_do(self->world, &command);
	self->spring[self->springs++] = spring;
}

static vec3 end_of(const struct net *self, const struct spring *spring, const vec3 *at)
{
	UNUSED(self);
	return spring->a == UINT32_MAX ? spring->anchor : at[spring->a];
}

/* J: gravity and springs. */
static double energy_of(const struct net *self, const vec3 *at)
{
	double energy = 0;
	for (uint32_t i = 0; i < self->count; i++)
		energy += self->fixed[i] ? 0 : self->gravity * at[i].y;
	for (uint32_t i = 0; i < self->springs; i++) {
		const struct spring *spring = &self->spring[i];
		double length = vec3_distance(end_of(self, spring, at), at[spring->b]);
		double stretch = scalar_abs(length - spring->rest);
		double most = spring->limit > 0 ? spring->limit / spring->stiffness : 1e300;
		double within = scalar_min(stretch, most);
		energy += 0.5 * spring->stiffness * within * within;
		if (stretch > most)
			energy += spring->limit * (stretch - most);
	}
	return energy;
}

static double worst_overlap(const struct net *self, const vec3 *at)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t j = 0; j < i; j++)
			worst = scalar_max(worst, 1 - vec3_distance(at[i], at[j]));
	return worst;
}

/* Steps to rest: energy never grows, and nothing overlaps on the way. */
static uint32_t step_to_rest(struct net *self, uint32_t most)
{
	uint32_t steps = 0;
	vec3 before[BALLS_MAX], between[BALLS_MAX];
	while (world_stats(self->world).awake > 0) {
		memcpy(before, self->at, sizeof before);
		double energy = energy_of(self, before);
		test_step(self->world, 1);
		for (uint32_t i = 0; i < self->count; i++)
			self->at[i] = test_body(self->world, self->balls[i]).position;
		ck_assert_double_le(energy_of(self, self->at), energy + 1e-9);
		for (uint32_t k = 1; k <= INTERPOLANTS; k++) {
			for (uint32_t i = 0; i < self->count; i++)
				between[i] =
					vec3_lerp(before[i], self->at[i], (double)k / INTERPOLANTS);
			ck_assert_double_le(worst_overlap(self, between), OVERLAP);
		}
		ck_assert_uint_le(++steps, most);
	}
	ck_assert_uint_eq(world_stats(self->world).fallbacks_total, 0);
	return steps;
}

/* A weight on a spring of the world hangs at rest + weight / stiffness below the anchor. */
START_TEST(a_weight_hangs_below_its_spring)
{
	struct net net;
	begin(&net, 2);
	uint32_t ball = add_ball(&net, vec3_make(0.3, 1.2, -0.2), false);
	add_spring(&net, (struct spring){ .a = UINT32_MAX,
					  .b = ball,
					  .anchor = vec3_make(0, 3, 0),
					  .stiffness = 5,
					  .rest = 1.5 * _i,
					  .limit = _i == 2 ? 2.5 : 0 });
	step_to_rest(&net, 100);
	expect_near(net.at[ball], vec3_make(0, 3 - (1.5 * _i + 0.4), 0), 1e-3);
	struct joint_view view;
	ck_assert_int_eq(world_joint(net.world, net.spring[0].id, &view), STATUS_OK);
	expect_near(view.force, vec3_make(0, 2, 0), 3e-3);
	world_destroy(net.world);
}
END_TEST

/* Two free spheres come to the rest of their spring from either side, or touch where it is below a
 * diameter; a spring with a limit does so too. */
START_TEST(two_spheres_come_to_their_distance)
{
	static const double RESTS[] = { 0, 2, 4, 3 };
	struct net net;
	begin(&net, 0);
	double rest = RESTS[_i];
	uint32_t a = add_ball(&net, vec3_make(-1.5, 0.1, 0), false);
	uint32_t b = add_ball(&net, vec3_make(1.2, 0.4, 0.7), false);
	add_spring(
		&net,
		(struct spring){
			.a = a, .b = b, .stiffness = 3, .rest = rest, .limit = _i == 3 ? 0.1 : 0 });
	step_to_rest(&net, 100);
	double wanted = scalar_max(rest, 1);
	ck_assert_double_le(scalar_abs(vec3_distance(net.at[a], net.at[b]) - wanted), 1e-3);
	world_destroy(net.world);
}
END_TEST

/* Anchors that contradict each other share the sphere by their stiffnesses, or by their limits: of two
 * constant pulls the stronger one wins. */
START_TEST(anchors_that_contradict_share_a_sphere)
{
	struct net net;
	begin(&net, 0);
	uint32_t ball = add_ball(&net, vec3_make(0.2, 0.3, 0.1), false);
	for (uint32_t k = 0; k < 2; k++)
		add_spring(&net, (struct spring){ .a = UINT32_MAX,
						  .b = ball,
						  .anchor = vec3_make(k == 0 ? -2 : 2, 0, 0),
						  .stiffness = _i == 0 ? 1 + 2 * k : 100,
						  .limit = _i == 0 ? 0 : 1 + k });
	step_to_rest(&net, 100);
	expect_near(net.at[ball], vec3_make(_i == 0 ? 1 : 1.99, 0, 0), 2e-3);
	world_destroy(net.world);
}
END_TEST

/* A spring whose limit is below the weight cannot hold it: it falls away, as far as a step goes. */
START_TEST(a_spring_pulls_no_more_than_its_limit)
{
	struct net net;
	begin(&net, 2);
	uint32_t ball = add_ball(&net, vec3_make(0, 0, 0), false);
	add_spring(&net, (struct spring){ .a = UINT32_MAX,
					  .b = ball,
					  .anchor = vec3_make(0, 2, 0),
					  .stiffness = 50,
					  .limit = 1.9 });
	test_step(net.world, 10);
	ck_assert_double_lt(test_body(net.world, net.balls[ball]).position.y, -5);
	world_destroy(net.world);
}
END_TEST

/* n × n spheres whose border is fixed, with springs of constant pull; the last ball falls in. */
static void make_net(struct net *net, uint32_t n)
{
	double pitch = 1.02;
	begin(net, 1);
	for (uint32_t i = 0; i < n * n; i++) {
		uint32_t x = i % n, z = i / n;
		bool border = x == 0 || z == 0 || x == n - 1 || z == n - 1;
		(void)add_ball(net, vec3_make(pitch * x, 0, pitch * z), border);
		const struct spring spring = { .a = i, .stiffness = 100, .limit = 10 };
		struct spring to = spring;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t step = k == 0 ? 1 : n;
			if ((k == 0 ? x : z) == 0)
				continue;
			to.b = i - step;
			if (!net->fixed[i] || !net->fixed[to.b])
				add_spring(net, to);
		}
	}
	double middle = 0.5 * pitch * (n - 1);
	(void)add_ball(net, vec3_make(middle + 0.1, 2, middle), false);
}

/* The forces on each moving ball balance: gravity, springs as the table tells them, and contacts. */
static double worst_imbalance(const struct net *net)
{
	double worst = 0;
	for (uint32_t i = 0; i < net->count; i++) {
		if (net->fixed[i])
			continue;
		vec3 sum = vec3_make(0, -net->gravity, 0);
		for (uint32_t s = 0; s < net->springs; s++) {
			struct joint_view view;
			if (world_joint(net->world, net->spring[s].id, &view) != STATUS_OK)
				continue;
			if (view.b == net->balls[i])
				sum = vec3_add(sum, view.force);
			else if (view.a == net->balls[i])
				sum = vec3_sub(sum, view.force);
		}
		struct force_view forces[64];
		uint32_t count = 0;
		ck_assert_int_eq(world_forces(net->world, net->balls[i], false, forces, 64, &count),
				 STATUS_OK);
		for (uint32_t k = 0; k < count; k++)
			sum = vec3_mul_add(sum, forces[k].normal,
					   forces[k].b == net->balls[i] ? forces[k].normal_force
									: -forces[k].normal_force);
		worst = scalar_max(worst, vec3_length(sum));
	}
	return worst;
}

/* With tangents, and as the net is larger by the interior method. */
static const uint32_t NETS[] = { 5, 8 };

START_TEST(a_net_carries_a_ball)
{
	struct net net;
	make_net(&net, NETS[_i]);
	uint32_t guest = net.count - 1;
	step_to_rest(&net, 60);
	/* It lies on the net, which sags, and the springs tell the forces that hold it. */
	ck_assert_double_gt(net.at[guest].y, 0);
	ck_assert_double_lt(net.at[_i == 0 ? 12 : 28].y, -0.1);
	ck_assert_double_le(worst_imbalance(&net), 0.01);
	world_destroy(net.world);
}
END_TEST

START_TEST(a_loaded_net_has_the_same_future)
{
	struct net net;
	make_net(&net, _i == 0 ? 4 : NETS[1]);
	for (uint32_t step = 0; step < 8; step++) {
		struct bytes image = test_save(net.world);
		struct world *loaded;
		struct reason why;
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			STATUS_OK);
		test_step(net.world, 2);
		test_step(loaded, 2);
		ck_assert_uint_eq(test_hash(net.world), test_hash(loaded));
		world_destroy(loaded);
		bytes_release(&image);
	}
	world_destroy(net.world);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------- */

static void expect_refused(struct world *world, struct command *command, const char *field)
{
	struct batch_result result;
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_batch(world, command, 1, &result), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(result.why.field, field);
	ck_assert_uint_eq(test_hash(world), before);
}

START_TEST(other_joints_are_refused_by_name)
{
	struct net net;
	begin(&net, 1);
	(void)add_ball(&net, vec3_zero(), false);
	(void)add_ball(&net, vec3_make(2, 0, 0), false);
	struct command joint = joint_between(net.balls[0], net.balls[1]);
	joint.joint_create.break_force = 5;
	expect_refused(net.world, &joint, "break_force");
	joint.joint_create.type = JOINT_SPHERICAL;
	joint.joint_create.point_a = vec3_make(2, 0, 0);
	expect_refused(net.world, &joint, "type");
	joint = joint_between(net.balls[0], net.balls[1]);
	joint_id id = test_do(net.world, &joint);
	/* Until it has a spring it exerts no force, which is counted. */
	test_step(net.world, 1);
	ck_assert_uint_eq(world_stats(net.world).fallbacks, 1);
	struct command axis = axis_of(id, 5, 0, 0);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.upper = 5;
	expect_refused(net.world, &axis, "mode");
	axis.joint_axis.mode = JOINT_FREE;
	axis.joint_axis.spring = JOINT_SPRING_HERTZ;
	expect_refused(net.world, &axis, "spring");
	axis = axis_of(id, 5, 0, 0);
	axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	expect_refused(net.world, &axis, "motor");
	axis = axis_of(id, 5, 0, 0);
	axis.joint_axis.friction = 1;
	expect_refused(net.world, &axis, "friction");
	axis = axis_of(id, 5, 0, 0);
	test_do(net.world, &axis);
	test_step(net.world, 1);
	ck_assert_uint_eq(world_stats(net.world).fallbacks, 0);
	world_destroy(net.world);
}
END_TEST

START_TEST(a_world_with_other_joints_keeps_its_method)
{
	struct net net;
	struct reason why;
	begin(&net, 1);
	world_destroy(net.world);
	net = (struct net){ .world = test_world(false, "soft-step"), .gravity = 1 };
	(void)add_ball(&net, vec3_zero(), false);
	(void)add_ball(&net, vec3_make(2, 0, 0), false);
	struct command joint = joint_between(net.balls[0], net.balls[1]);
	joint_id id = test_do(net.world, &joint);
	ck_assert_int_eq(world_supports(net.world, "pile", &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.field, "mode");
	struct command axis = axis_of(id, 5, 0, 0);
	test_do(net.world, &axis);
	ck_assert_int_eq(world_supports(net.world, "pile", &why), STATUS_OK);
	world_destroy(net.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pile_spring");
	TCase *tcase = tcase_create("pile_spring");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_weight_hangs_below_its_spring, 0, 3);
	tcase_add_loop_test(tcase, two_spheres_come_to_their_distance, 0, 4);
	tcase_add_loop_test(tcase, anchors_that_contradict_share_a_sphere, 0, 2);
	tcase_add_test(tcase, a_spring_pulls_no_more_than_its_limit);
	tcase_add_loop_test(tcase, a_net_carries_a_ball, 0, COUNT_OF(NETS));
	tcase_add_loop_test(tcase, a_loaded_net_has_the_same_future, 0, COUNT_OF(NETS));
	tcase_add_test(tcase, other_joints_are_refused_by_name);
	tcase_add_test(tcase, a_world_with_other_joints_keeps_its_method);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
