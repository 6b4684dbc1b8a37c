/* The shipped scenes with joints: they hold together, and do what they are for. */
#include "protocol/scene/scene.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct show {
	struct shape_library book;
	struct world *world;
	double error; /* m, rad: the worst so far */
	uint32_t broken;
};

static void show_make(struct show *self, const char *name, const char *method)
{
	char path[2048];
	struct scene *scene;
	struct reason why = { 0 };
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/clients/scenes/%s.yaml", source != NULL ? source : ".",
		 name);
	*self = (struct show){ 0 };
	shape_library_init(&self->book);
	enum status status = scene_load(path, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	status = scene_world_make(scene, method, &self->book, &self->world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", status_name(status), why.field, why.text);
	scene_destroy(scene);
}

static void show_step(struct show *self)
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

static struct body_view body(const struct show *self, body_id id)
{
	struct body_view view;
	ck_assert_int_eq(world_body(self->world, id, &view), STATUS_OK);
	return view;
}

static void show_release(struct show *self)
{
	world_destroy(self->world);
	shape_library_release(&self->book);
}

/* The angle about `axis` of a body that turns about nothing else, rad. */
static double angle(const struct body_view *view, uint32_t axis)
{
	return 2 * atan2(vec3_get(quat_vector(view->rotation), axis), view->rotation.w);
}

/* ---- all of them --------------------------------------------------------------------------------- */

static const struct {
	const char *scene, *method; /* NULL: the scene's own */
	uint32_t ticks;
	double error; /* m, rad: no joint is farther apart in any tick */
	uint32_t broken;
} SHOWS[] = {
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

START_TEST(joints_hold_together)
{
	struct show show;
	show_make(&show, SHOWS[_i].scene, SHOWS[_i].method);
	for (uint32_t i = 0; i < SHOWS[_i].ticks; i++)
		show_step(&show);
	ck_assert_msg(show.error < SHOWS[_i].error, "%s: %g is not below %g", SHOWS[_i].scene,
		      show.error, SHOWS[_i].error);
	ck_assert_uint_eq(show.broken, SHOWS[_i].broken);
	show_release(&show);
}
END_TEST

/* ---- what each is for ---------------------------------------------------------------------------- */

/* The light ball bounces off, the heavy one breaks the latch, and the closer shuts the door again.
 * (Not by lcp: there the latch has stopped the ball when it breaks at the end of the tick.) */
START_TEST(the_door_is_broken_open_and_closes)
{
	struct show show;
	double widest = 0;
	show_make(&show, "door", NULL);
	for (uint32_t i = 0; i < 600; i++) {
		show_step(&show);
		struct body_view leaf = body(&show, 3);
		if (i < 70)
			ck_assert_double_lt(fabs(angle(&leaf, 1)), 0.01);
		widest = fmax(widest, angle(&leaf, 1));
	}
	struct body_view leaf = body(&show, 3);
	ck_assert_double_gt(widest, 0.5);
	ck_assert_double_lt(fabs(angle(&leaf, 1)), 0.01);
	show_release(&show);
}
END_TEST

START_TEST(the_bridge_holds)
{
	struct show show;
	show_make(&show, "bridge", NULL);
	for (uint32_t i = 0; i < 1200; i++)
		show_step(&show);
	uint32_t loads = 0;
	for (body_id id = 4; id < 44; id++) {
		double y = body(&show, id).position.y;
		ck_assert_msg(y > 1.5 && y < 6.2, "plank %u hangs at %g m", id - 4, y);
	}
	for (body_id id = 44; id < 52; id++)
		loads += body(&show, id).position.y > 1.5;
	ck_assert_uint_ge(loads, 3);
	show_release(&show);
}
END_TEST

START_TEST(the_ball_breaks_the_wall)
{
	struct show show;
	double farthest = 0;
	show_make(&show, "chain", NULL);
	for (uint32_t i = 0; i < 300; i++)
		show_step(&show);
	for (body_id id = 19; id < 31; id++)
		farthest = fmax(farthest, body(&show, id).position.x);
	ck_assert_double_gt(farthest, 2.5);
	show_release(&show);
}
END_TEST

START_TEST(the_crane_lifts_its_load)
{
	struct show show;
	double lowest = 9, highest = 0, turned = 0;
	show_make(&show, "crane", NULL);
	for (uint32_t i = 0; i < 1320; i++) {
		show_step(&show);
		struct body_view jib = body(&show, 3);
		double y = body(&show, 5).position.y;
		lowest = fmin(lowest, y);
		highest = fmax(highest, y);
		turned = fmax(turned, fabs(angle(&jib, 1)));
	}
	ck_assert_double_lt(lowest, 2);
	ck_assert_double_gt(highest, 4.5);
	ck_assert_double_eq_tol(turned, 70 * RADIANS_PER_DEGREE, 0.05);
	show_release(&show);
}
END_TEST

START_TEST(the_car_gets_over_the_ramp)
{
	struct show show;
	double highest = 0;
	show_make(&show, "car", NULL);
	for (uint32_t i = 0; i < 480; i++) {
		show_step(&show);
		highest = fmax(highest, body(&show, 3).position.y);
	}
	struct body_view car = body(&show, 3);
	ck_assert_double_gt(highest, 1.5);
	ck_assert_double_gt(car.position.x, 16);
	ck_assert_double_lt(fabs(car.position.z), 0.5);
	ck_assert_double_gt(quat_rotate(car.rotation, vec3_axis(1)).y, 0.98);
	show_release(&show);
}
END_TEST

START_TEST(the_ragdolls_fall_asleep)
{
	struct show show;
	show_make(&show, "ragdolls", NULL);
	for (uint32_t i = 0; i < 1800; i++)
		show_step(&show);
	ck_assert_uint_eq(world_stats(show.world).awake, 0);
	show_release(&show);
}
END_TEST

/* The pendulum's times of passing its middle to the right, and the teeth that have gone by. */
START_TEST(the_escapement_ticks_steadily)
{
	enum { RATE = 120, SECONDS = 60, FROM = 30 };
	struct show show;
	double before = 0, wheel = 0, teeth = 0, last = -1, shortest = 9, longest = 0, first = 0;
	uint32_t beats = 0;
	show_make(&show, "escapement", NULL);
	struct body_view view = body(&show, 1);
	wheel = angle(&view, 2);
	for (uint32_t i = 1; i <= RATE * SECONDS; i++) {
		show_step(&show);
		view = body(&show, 1);
		teeth -= remainder(angle(&view, 2) - wheel, 360 * RADIANS_PER_DEGREE) /
			 (30 * RADIANS_PER_DEGREE);
		wheel = angle(&view, 2);
		view = body(&show, 2);
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
	show_release(&show);
}
END_TEST

/* The last ball takes over what the first one had, and no energy is made. */
static void watch_cradle(const char *method, double least)
{
	struct show show;
	double farthest = 0, start = 0;
	show_make(&show, "cradle", method);
	start = body(&show, 2).position.y - 1;
	for (uint32_t i = 0; i < 1200; i++) {
		double energy = 0;
		show_step(&show);
		for (body_id id = 2; id < 7; id++) {
			struct body_view ball = body(&show, id);
			energy += vec3_length_squared(ball.velocity) / (2 * 9.81) +
				  ball.position.y - 1;
			farthest = fmax(farthest, id == 6 ? ball.position.x - 1.004 : 0);
		}
		ck_assert_msg(energy < start * 1.01, "%g m of %g m", energy, start);
	}
	ck_assert_double_gt(farthest, least);
	show_release(&show);
}

START_TEST(the_cradle_hands_its_swing_on)
{
	watch_cradle(NULL, 0.5);
	watch_cradle("lcp", 0.3);
}
END_TEST

static const char *const METHODS[] = { "soft-step", "lcp", "projection", "reflection" };

static double coordinate(const struct show *self, joint_id id, uint32_t axis)
{
	struct joint_view view;
	ck_assert_int_eq(world_joint(self->world, id, &view), STATUS_OK);
	return view.coordinates[axis];
}

/* Motors are where and as fast as they are to be, limits hold, the latch breaks, ropes get no longer. */
START_TEST(every_type_does_its_work)
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
	struct show show;
	show_make(&show, "joints", METHODS[_i]);
	double slack = _i == 0 ? 0.01 : 1e-6, driven = 0;
	for (uint32_t tick = 1; tick <= 360; tick++) {
		show_step(&show);
		double swing = coordinate(&show, DOLL, 4) / RADIANS_PER_DEGREE;
		double twist = fabs(coordinate(&show, DOLL, 3)) / RADIANS_PER_DEGREE;
		ck_assert_msg(swing < 60 + 60 * slack && twist < 40 + 60 * slack,
			      "%g and %g degrees", swing, twist);
		ck_assert_double_lt(fabs(coordinate(&show, GANTRY, 0)), 0.5 + slack);
		ck_assert_double_lt(coordinate(&show, ROPE, 0), 2 + slack);
		ck_assert_double_lt(coordinate(&show, ROPE + 1, 0), 0.4 + slack);
		ck_assert_double_lt(coordinate(&show, ROPE + 2, 0), 0.4 + slack);
		driven = fmax(driven, fabs(coordinate(&show, GANTRY, 0)));
		if (tick < 60)
			continue;
		double wanted = 50 * RADIANS_PER_DEGREE * sin(PI * tick / 60);
		ck_assert_double_eq_tol(coordinate(&show, WIPER, 3), wanted, 2e-3);
		ck_assert_double_eq_tol(body(&show, FAN).angular_velocity.y, 5, 1e-6);
		ck_assert_double_eq_tol(coordinate(&show, DRILL, 0), -0.5, slack);
		if (tick % 60 == 0) {
			static const double table[] = { 0, 0.8, -0.8 };
			ck_assert_double_eq_tol(coordinate(&show, PISTON, 0), table[tick / 60 % 3],
						2e-3);
		}
	}
	ck_assert_double_gt(driven, 0.5 - 1e-3);
	ck_assert_uint_eq(show.broken, 1);
	ck_assert_double_eq_tol(body(&show, FIRST_WHEEL).angular_velocity.z, -5, 0.1);
	show_release(&show);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("property/joint_scenes");
	TCase *test = tcase_create("joint_scenes");
	tcase_set_timeout(test, 120);
	tcase_add_loop_test(test, joints_hold_together, 0, COUNT_OF(SHOWS));
	tcase_add_test(test, the_door_is_broken_open_and_closes);
	tcase_add_test(test, the_bridge_holds);
	tcase_add_test(test, the_ball_breaks_the_wall);
	tcase_add_test(test, the_crane_lifts_its_load);
	tcase_add_test(test, the_car_gets_over_the_ramp);
	tcase_add_test(test, the_ragdolls_fall_asleep);
	tcase_add_test(test, the_escapement_ticks_steadily);
	tcase_add_test(test, the_cradle_hands_its_swing_on);
	tcase_add_loop_test(test, every_type_does_its_work, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
