/* The shipped scenes with joints (clients/scenes): their joint errors stay small, and the mechanism of each
 * scene works. */
#include "protocol/scene/scene.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct scene_run {
	struct shape_library shapes;
	struct world *world;
	double error;	 /* m, rad: the largest joint error of any tick */
	uint32_t broken; /* joints */
};

static void run_make(struct scene_run *self, const char *name, const char *method)
{
	char path[2048];
	struct scene *scene;
	struct reason why = { 0 };
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/clients/scenes/%s.yaml", source != NULL ? source : ".",
		 name);
	*self = (struct scene_run){ 0 };
	shape_library_init(&self->shapes);
	enum status status = scene_load(path, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	status = scene_world_make(scene, method, &self->shapes, &self->world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", status_name(status), why.field, why.text);
	scene_destroy(scene);
}

static void run_step(struct scene_run *self)
{
	struct reason why = { 0 };
	uint32_t count;
	enum status status = world_step(self->world, &parallel_serial, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	struct world_stats stats = world_stats(self->world);
	ck_assert_uint_eq(stats.quarantined_total, 0);
	self->error = fmax(self->error, stats.joint_error);
	const struct event *events = world_events(self->world, &count);
	for (uint32_t i = 0; i < count; i++)
		self->broken += events[i].kind == EVENT_JOINT_BREAK;
}

static struct body_view body(const struct scene_run *self, body_id id)
{
	struct body_view view;
	ck_assert_int_eq(world_body(self->world, id, &view), STATUS_OK);
	return view;
}

static void run_release(struct scene_run *self)
{
	world_destroy(self->world);
	shape_library_release(&self->shapes);
}

/* The angle in rad of a body that turns about coordinate axis `axis` only. */
static double angle(const struct body_view *view, uint32_t axis)
{
	return 2 * atan2(vec3_get(quat_vector(view->rotation), axis), view->rotation.w);
}

/* ---- joint errors of all scenes ------------------------------------------------------------------ */

static const struct {
	const char *scene, *method; /* NULL: the scene's own */
	uint32_t ticks;
	double error;	 /* m, rad: upper limit of the joint error in every tick */
	uint32_t broken; /* joints */
} RUNS[] = {
	{ "door", NULL, 400, 0.02, 1 },
	{ "bridge", NULL, 600, 0.1, 0 },
	{ "chain", NULL, 600, 0.05, 0 },
	{ "crane", NULL, 1320, 0.02, 0 },
	{ "car", NULL, 900, 0.02, 0 },
	{ "ragdolls", NULL, 600, 0.2, 0 },
	{ "escapement", NULL, 1200, 2e-3, 0 },
	{ "cradle", NULL, 1200, 1e-3, 0 },
	{ "door", "lcp", 400, 1e-6, 1 },
	{ "chain", "lcp", 300, 0.01, 0 },
	{ "cradle", "lcp", 1200, 1e-6, 0 },
	{ "joints", NULL, 600, 0.02, 1 },
	{ "joints", "lcp", 600, 1e-6, 1 },
	{ "joints", "projection", 600, 1e-6, 1 },
	{ "joints", "reflection", 600, 1e-6, 1 },
};

START_TEST(joint_errors_stay_below_the_limit_of_the_scene)
{
	struct scene_run run;
	run_make(&run, RUNS[_i].scene, RUNS[_i].method);
	for (uint32_t i = 0; i < RUNS[_i].ticks; i++)
		run_step(&run);
	ck_assert_msg(run.error < RUNS[_i].error, "%s: %g is not below %g", RUNS[_i].scene,
		      run.error, RUNS[_i].error);
	ck_assert_uint_eq(run.broken, RUNS[_i].broken);
	run_release(&run);
}
END_TEST

/* ---- the mechanisms ------------------------------------------------------------------------------ */

/* The light ball bounces off the door (body 3), which stays shut to 0.01 rad for 70 ticks. The heavy ball
 * breaks the latch and opens the door by more than 0.5 rad. The closer shuts it again. Method lcp is not
 * tested, because it breaks the latch at the end of the tick, after the latch has stopped the ball. */
START_TEST(the_heavy_ball_breaks_the_latch_and_the_door_closes_again)
{
	struct scene_run run;
	double widest = 0;
	run_make(&run, "door", NULL);
	for (uint32_t i = 0; i < 600; i++) {
		run_step(&run);
		struct body_view leaf = body(&run, 3);
		if (i < 70)
			ck_assert_double_lt(fabs(angle(&leaf, 1)), 0.01);
		widest = fmax(widest, angle(&leaf, 1));
	}
	struct body_view leaf = body(&run, 3);
	ck_assert_double_gt(widest, 0.5);
	ck_assert_double_lt(fabs(angle(&leaf, 1)), 0.01);
	run_release(&run);
}
END_TEST

/* Before anything strikes, the shelf's root weld (joint 1) carries the torque of six blocks of
 * 300 kg, and holds. What falls on the shelf and what is shot at the columns breaks welds, but
 * not all. */
START_TEST(welds_carry_their_load_and_break_under_more)
{
	static const struct {
		const char *method;
		uint32_t ticks;
	} runs[] = { { "soft-step", 150 }, { "lcp", 20 }, { "impact", 20 } };
	struct scene_run run;
	struct joint_view root;
	run_make(&run, "fracture", runs[_i].method);
	uint32_t welds = world_joints(run.world, 0, NULL, 0);
	for (uint32_t i = 0; i < 20; i++)
		run_step(&run);
	ck_assert_uint_eq(run.broken, 0);
	ck_assert_int_eq(world_joint(run.world, 1, &root), STATUS_OK);
	double load = 300 * 9.81 * 9;
	ck_assert_double_eq_tol(vec3_length(root.torque), load, 0.02 * load);
	ck_assert_double_eq_tol(vec3_length(root.force), 6 * 300 * 9.81, 0.02 * 6 * 300 * 9.81);
	for (uint32_t i = 20; i < runs[_i].ticks; i++)
		run_step(&run);
	if (runs[_i].ticks > 20) {
		ck_assert_uint_gt(run.broken, 5);
		ck_assert_uint_eq(world_joints(run.world, 0, NULL, 0), welds - run.broken);
		ck_assert_uint_lt(run.broken, welds);
		ck_assert_double_lt(body(&run, 8).position.y, 2.5); /* the shelf's last block */
	}
	run_release(&run);
}
END_TEST

/* No plank (bodies 4 … 43) hangs lower than 1.5 m, and at least 3 of the 8 loads stay on the bridge. */
START_TEST(the_bridge_carries_its_loads)
{
	struct scene_run run;
	run_make(&run, "bridge", NULL);
	for (uint32_t i = 0; i < 1200; i++)
		run_step(&run);
	uint32_t loads = 0;
	for (body_id id = 4; id < 44; id++) {
		double y = body(&run, id).position.y;
		ck_assert_msg(y > 1.5 && y < 6.2, "plank %u hangs at %g m", id - 4, y);
	}
	for (body_id id = 44; id < 52; id++)
		loads += body(&run, id).position.y > 1.5;
	ck_assert_uint_ge(loads, 3);
	run_release(&run);
}
END_TEST

/* The ball on the chain throws a brick of the wall (bodies 19 … 30) beyond x = 2.5 m. */
START_TEST(the_ball_breaks_the_wall)
{
	struct scene_run run;
	double farthest = 0;
	run_make(&run, "chain", NULL);
	for (uint32_t i = 0; i < 300; i++)
		run_step(&run);
	for (body_id id = 19; id < 31; id++)
		farthest = fmax(farthest, body(&run, id).position.x);
	ck_assert_double_gt(farthest, 2.5);
	run_release(&run);
}
END_TEST

/* The load (body 5) is picked up below 2 m and lifted above 4.5 m, and the jib (body 3) turns by 70°. */
START_TEST(the_crane_lifts_and_turns_its_load)
{
	struct scene_run run;
	double lowest = 9, highest = 0, turned = 0;
	run_make(&run, "crane", NULL);
	for (uint32_t i = 0; i < 1320; i++) {
		run_step(&run);
		struct body_view jib = body(&run, 3);
		double y = body(&run, 5).position.y;
		lowest = fmin(lowest, y);
		highest = fmax(highest, y);
		turned = fmax(turned, fabs(angle(&jib, 1)));
	}
	ck_assert_double_lt(lowest, 2);
	ck_assert_double_gt(highest, 4.5);
	ck_assert_double_eq_tol(turned, 70 * RADIANS_PER_DEGREE, 0.05);
	run_release(&run);
}
END_TEST

/* The car (body 3) rises above 1.5 m on the ramp, passes x = 16 m, keeps its lane and lands upright. */
START_TEST(the_car_drives_over_the_ramp_and_lands_upright)
{
	struct scene_run run;
	double highest = 0;
	run_make(&run, "car", NULL);
	for (uint32_t i = 0; i < 480; i++) {
		run_step(&run);
		highest = fmax(highest, body(&run, 3).position.y);
	}
	struct body_view car = body(&run, 3);
	ck_assert_double_gt(highest, 1.5);
	ck_assert_double_gt(car.position.x, 16);
	ck_assert_double_lt(fabs(car.position.z), 0.5);
	ck_assert_double_gt(quat_rotate(car.rotation, vec3_axis(1)).y, 0.98);
	run_release(&run);
}
END_TEST

START_TEST(all_ragdolls_sleep_after_1800_ticks)
{
	struct scene_run run;
	run_make(&run, "ragdolls", NULL);
	for (uint32_t i = 0; i < 1800; i++)
		run_step(&run);
	ck_assert_uint_eq(world_stats(run.world).awake, 0);
	run_release(&run);
}
END_TEST

/* From second 30 to 60, the pendulum (body 2) crosses its middle to the right at least 15 times. Each
 * period is 1.6 … 2.1 s long, all are equal to 2 %, and the wheel (body 1) advances one tooth of 30° a
 * period. The time of a crossing is interpolated between two ticks. */
START_TEST(the_escapement_advances_one_tooth_in_each_equal_period)
{
	enum { RATE = 120, SECONDS = 60, FROM = 30 };
	struct scene_run run;
	double before = 0, wheel = 0, teeth = 0, last = -1, shortest = 9, longest = 0, first = 0;
	uint32_t beats = 0;
	run_make(&run, "escapement", NULL);
	struct body_view view = body(&run, 1);
	wheel = angle(&view, 2);
	for (uint32_t i = 1; i <= RATE * SECONDS; i++) {
		run_step(&run);
		view = body(&run, 1);
		teeth -= remainder(angle(&view, 2) - wheel, 360 * RADIANS_PER_DEGREE) /
			 (30 * RADIANS_PER_DEGREE);
		wheel = angle(&view, 2);
		view = body(&run, 2);
		double swing = angle(&view, 2);
		bool passes = before < 0 && swing >= 0;
		double time = (i - swing / (swing - before)) / RATE;
		before = swing;
		if (!passes || i < RATE * FROM)
			continue;
		if (last < 0) {
			first = teeth;
		} else {
			shortest = fmin(shortest, time - last);
			longest = fmax(longest, time - last);
			beats++;
		}
		ck_assert_double_eq_tol(teeth - first, beats, 0.1);
		last = time;
	}
	ck_assert_uint_ge(beats, 14);
	ck_assert_double_gt(shortest, 1.6);
	ck_assert_double_lt(longest, 2.1);
	ck_assert_msg(longest < shortest * 1.02, "periods of %g to %g s", shortest, longest);
	run_release(&run);
}
END_TEST

/* The last ball (body 6) swings out by more than `least` m, and the energy of all balls never exceeds that
 * of the first ball at the start by more than 1 %. Energy is a height in m: v²/2g + y. */
static void check_cradle(const char *method, double least)
{
	struct scene_run run;
	double farthest = 0, start = 0;
	run_make(&run, "cradle", method);
	start = body(&run, 2).position.y - 1;
	for (uint32_t i = 0; i < 1200; i++) {
		double energy = 0;
		run_step(&run);
		for (body_id id = 2; id < 7; id++) {
			struct body_view ball = body(&run, id);
			energy += vec3_length_squared(ball.velocity) / (2 * 9.81) +
				  ball.position.y - 1;
			farthest = fmax(farthest, id == 6 ? ball.position.x - 1.004 : 0);
		}
		ck_assert_msg(energy < start * 1.01, "energy %g m, at the start %g m", energy,
			      start);
	}
	ck_assert_double_gt(farthest, least);
	run_release(&run);
}

START_TEST(the_last_ball_of_the_cradle_swings_out)
{
	check_cradle(NULL, 0.5);
	check_cradle("lcp", 0.3);
}
END_TEST

static const char *const METHODS[] = { "soft-step", "lcp", "projection", "reflection" };

static double coordinate(const struct scene_run *self, joint_id id, uint32_t axis)
{
	struct joint_view view;
	ck_assert_int_eq(world_joint(self->world, id, &view), STATUS_OK);
	return view.coordinates[axis];
}

/* In every tick, limits hold to 1e-6 (soft-step: 0.01) and ropes do not exceed their lengths. From tick 60
 * on, motors follow their tables and speeds. One joint, the latch, breaks. */
START_TEST(every_type_of_joint_reaches_its_targets_and_limits)
{
	enum {
		FAN = 14,
		FIRST_WHEEL = 23,
		WIPER = 14,
		PISTON,
		DRILL,
		DOLL,
		DRAWN = 19,
		GANTRY,
		ROPE = 29
	};
	struct scene_run run;
	run_make(&run, "joints", METHODS[_i]);
	double slack = _i == 0 ? 0.01 : 1e-6, driven = 0;
	for (uint32_t tick = 1; tick <= 360; tick++) {
		run_step(&run);
		double swing = coordinate(&run, DOLL, 4) / RADIANS_PER_DEGREE;
		double twist = fabs(coordinate(&run, DOLL, 3)) / RADIANS_PER_DEGREE;
		ck_assert_msg(swing < 60 + 60 * slack && twist < 40 + 60 * slack,
			      "%g and %g degrees", swing, twist);
		ck_assert_double_lt(fabs(coordinate(&run, GANTRY, 0)), 0.5 + slack);
		ck_assert_double_lt(coordinate(&run, ROPE, 0), 2 + slack);
		ck_assert_double_lt(coordinate(&run, ROPE + 1, 0), 0.4 + slack);
		ck_assert_double_lt(coordinate(&run, ROPE + 2, 0), 0.4 + slack);
		driven = fmax(driven, fabs(coordinate(&run, GANTRY, 0)));
		if (tick < 60)
			continue;
		double wanted = 50 * RADIANS_PER_DEGREE * sin(PI * tick / 60);
		ck_assert_double_eq_tol(coordinate(&run, WIPER, 3), wanted, 2e-3);
		ck_assert_double_eq_tol(body(&run, FAN).angular_velocity.y, 5, 1e-6);
		ck_assert_double_eq_tol(coordinate(&run, DRILL, 0), -0.5, slack);
		if (tick % 60 == 0) {
			static const double table[] = { 0, 0.8, -0.8 };
			ck_assert_double_eq_tol(coordinate(&run, PISTON, 0), table[tick / 60 % 3],
						2e-3);
		}
	}
	ck_assert_double_gt(driven, 0.5 - 1e-3);
	ck_assert_uint_eq(run.broken, 1);
	ck_assert_double_eq_tol(body(&run, FIRST_WHEEL).angular_velocity.z, -5, 0.1);
	run_release(&run);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("property/joint_scenes");
	TCase *test = tcase_create("joint_scenes");
	tcase_set_timeout(test, 120);
	tcase_add_loop_test(test, joint_errors_stay_below_the_limit_of_the_scene, 0,
			    COUNT_OF(RUNS));
	tcase_add_test(test, the_heavy_ball_breaks_the_latch_and_the_door_closes_again);
	tcase_add_loop_test(test, welds_carry_their_load_and_break_under_more, 0, 3);
	tcase_add_test(test, the_bridge_carries_its_loads);
	tcase_add_test(test, the_ball_breaks_the_wall);
	tcase_add_test(test, the_crane_lifts_and_turns_its_load);
	tcase_add_test(test, the_car_drives_over_the_ramp_and_lands_upright);
	tcase_add_test(test, all_ragdolls_sleep_after_1800_ticks);
	tcase_add_test(test, the_escapement_advances_one_tooth_in_each_equal_period);
	tcase_add_test(test, the_last_ball_of_the_cradle_swings_out);
	tcase_add_loop_test(test, every_type_of_joint_reaches_its_targets_and_limits, 0,
			    COUNT_OF(METHODS));
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
