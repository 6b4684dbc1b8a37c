/* A schedule driven by a made-up clock; every step takes the time that the test gives. */
#include "server/tick/schedule.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static const struct tick_rate SIXTY = { 60, 1 };
#define PERIOD tick_rate_period(SIXTY)

struct drive {
	struct schedule schedule;
	uint64_t now;
	uint64_t steps;
	uint64_t lateness_max;
	uint64_t busy; /* ns spent in steps */
	uint32_t slowed, relaxed, overruns;
	uint64_t
		inconsistent_turns; /* turns that did not begin, or whose lateness is not now - deadline */
};

static void drive_init(struct drive *drive, struct tick_rate rate, uint32_t budget)
{
	*drive = (struct drive){ .now = 5 * NS_PER_S };
	schedule_init(&drive->schedule, rate, budget);
	schedule_run(&drive->schedule, drive->now);
}

/* Waits until the schedule is due and makes one step of `cost` ns. False if nothing is due before
 * `limit`. */
static bool step_when_due(struct drive *drive, uint64_t cost, uint64_t limit)
{
	struct schedule_turn turn;
	uint64_t due = schedule_due(&drive->schedule);
	if (due > limit)
		return false;
	drive->now = MAX_OF(drive->now, due);
	drive->inconsistent_turns += !schedule_begin(&drive->schedule, drive->now, &turn);
	drive->inconsistent_turns += turn.lateness != drive->now - turn.deadline;
	drive->lateness_max = MAX_OF(drive->lateness_max, turn.lateness);
	drive->now += cost;
	drive->busy += cost;
	drive->steps++;
	enum schedule_change news = schedule_end(&drive->schedule, cost, drive->now);
	drive->slowed += news == SCHEDULE_SLOWED;
	drive->relaxed += news == SCHEDULE_RELAXED;
	drive->overruns += news == SCHEDULE_OVERRUN;
	return true;
}

static void drive_schedule_for(struct drive *drive, uint64_t cost, uint64_t ns)
{
	uint64_t limit = drive->now + ns;
	while (drive->now <= limit && step_when_due(drive, cost, limit))
		;
	drive->now = MAX_OF(drive->now, limit);
	ck_assert_uint_eq(drive->inconsistent_turns, 0);
}

START_TEST(an_hour_at_sixty_hertz_is_exactly_216000_ticks)
{
	struct drive drive;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	/* Each step takes _i eighths of the period. */
	drive_schedule_for(&drive, PERIOD * (uint64_t)_i / 8, 3600 * NS_PER_S);
	ck_assert_uint_eq(drive.steps, 216000);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
	ck_assert_uint_eq(drive.schedule.late, 0);
	ck_assert_uint_eq(drive.lateness_max, 0);
}
END_TEST

START_TEST(a_fractional_rate_is_exact)
{
	struct drive drive;
	drive_init(&drive, (struct tick_rate){ 30000, 1001 }, 0);
	drive_schedule_for(&drive, NS_PER_MS, 1001 * NS_PER_S);
	ck_assert_uint_eq(drive.steps, 30000);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
}
END_TEST

START_TEST(after_a_stall_at_most_four_steps_are_caught_up_and_the_rest_is_dropped)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	drive_schedule_for(&drive, 0, NS_PER_S);
	uint64_t steps = drive.steps;
	/* For one second, 60 ticks, the schedule is not called. */
	drive.now += NS_PER_S;
	uint64_t resumed = drive.now;
	while (schedule_due(&drive.schedule) <= resumed)
		ck_assert(step_when_due(&drive, 0, resumed));
	ck_assert_uint_eq(drive.steps - steps, 1 + SCHEDULE_CATCH_UP_MAX);
	ck_assert_uint_eq(drive.schedule.dropped, 60 - (1 + SCHEDULE_CATCH_UP_MAX));
	/* The stall has no further effect: ticks keep the deadlines they had before it. */
	drive.lateness_max = 0;
	steps = drive.steps;
	drive_schedule_for(&drive, 0, NS_PER_S);
	ck_assert_uint_eq(drive.steps - steps, 60);
	ck_assert_uint_eq(drive.lateness_max, 0);
}
END_TEST

/* Stalls of 1 to 12 ticks; the schedule catches up SCHEDULE_CATCH_UP_MAX of them and drops the
 * rest. */
START_TEST(ticks_caught_up_and_dropped_sum_to_the_length_of_the_stall)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	drive_schedule_for(&drive, 0, NS_PER_S);
	uint64_t steps = drive.steps, due = (uint64_t)_i;
	drive.now += due * PERIOD + PERIOD / 2;
	while (schedule_due(&drive.schedule) <= drive.now)
		ck_assert(step_when_due(&drive, 0, drive.now));
	ck_assert_uint_eq(drive.steps - steps, MIN_OF(due, (uint64_t)SCHEDULE_CATCH_UP_MAX + 1));
	ck_assert_uint_eq(drive.schedule.dropped + drive.steps - steps, due);
}
END_TEST

START_TEST(four_missed_ticks_are_caught_up_and_none_is_dropped)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	drive_schedule_for(&drive, 0, NS_PER_S);
	drive.now += 4 * PERIOD + PERIOD / 2;
	drive_schedule_for(&drive, 0, NS_PER_S - 4 * PERIOD - PERIOD / 2);
	ck_assert_uint_eq(drive.steps, 120);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
	ck_assert_uint_gt(drive.schedule.late, 0);
}
END_TEST

START_TEST(a_step_of_twice_the_period_halves_the_rate_and_counts_dropped_ticks)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	drive_schedule_for(&drive, 2 * PERIOD, 100 * NS_PER_S);
	ck_assert_uint_ge(drive.steps, 2990);
	ck_assert_uint_le(drive.steps, 3010);
	/* Steps and dropped ticks together are the ticks of the wall clock: 100 s at 60 Hz. */
	uint64_t all = drive.steps + drive.schedule.dropped;
	ck_assert_uint_ge(all, 6000 - SCHEDULE_CATCH_UP_MAX - 2);
	ck_assert_uint_le(all, 6000);
	ck_assert_uint_le(drive.lateness_max, (SCHEDULE_CATCH_UP_MAX + 3) * PERIOD);
}
END_TEST

START_TEST(a_paused_world_is_due_only_for_requested_steps)
{
	struct drive drive;
	struct schedule_turn turn;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	schedule_pause(&drive.schedule);
	ck_assert_uint_eq(schedule_due(&drive.schedule), INSTANT_NEVER);
	ck_assert(!schedule_begin(&drive.schedule, drive.now + NS_PER_S, &turn));
	schedule_request(&drive.schedule, 1000);
	uint64_t limit = drive.now + 1000 * NS_PER_S;
	/* Each step takes ten periods; requested steps are not slowed, because a client waits for
	 * them. */
	while (step_when_due(&drive, 10 * PERIOD, limit))
		;
	ck_assert_uint_eq(drive.steps, 1000);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
	ck_assert_uint_eq(drive.slowed + drive.overruns, 0);
	ck_assert_uint_eq(schedule_due(&drive.schedule), INSTANT_NEVER);
}
END_TEST

START_TEST(the_first_tick_after_run_comes_one_period_later)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	ck_assert_uint_eq(schedule_due(&drive.schedule), drive.now + PERIOD);
	schedule_pause(&drive.schedule);
	drive.now += 1000 * NS_PER_S;
	schedule_run(&drive.schedule, drive.now);
	ck_assert_uint_eq(schedule_due(&drive.schedule), drive.now + PERIOD);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
}
END_TEST

START_TEST(a_change_of_speed_continues_from_the_last_tick_without_a_burst)
{
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	drive_schedule_for(&drive, 0, NS_PER_S + PERIOD / 2);
	ck_assert_uint_eq(drive.steps, 60);
	schedule_set_speed(&drive.schedule, 2000, drive.now);
	uint64_t steps = drive.steps;
	drive_schedule_for(&drive, 0, 10 * NS_PER_S);
	ck_assert_uint_ge(drive.steps - steps, 1200);
	ck_assert_uint_le(drive.steps - steps, 1201);
	schedule_set_speed(&drive.schedule, 100, drive.now);
	steps = drive.steps;
	drive_schedule_for(&drive, 0, 10 * NS_PER_S);
	ck_assert_uint_ge(drive.steps - steps, 60);
	ck_assert_uint_le(drive.steps - steps, 61);
	ck_assert_uint_eq(drive.schedule.dropped, 0);
	ck_assert_uint_eq(drive.lateness_max, 0);
}
END_TEST

START_TEST(a_world_over_its_budget_is_slowed_until_it_fits)
{
	struct drive drive;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	drive_schedule_for(&drive, 3 * PERIOD, 20 * NS_PER_S);
	ck_assert_uint_eq(drive.slowed, 1);
	ck_assert_uint_eq(drive.schedule.stretch, 4);
	uint64_t busy = drive.busy, dropped = drive.schedule.dropped;
	drive_schedule_for(&drive, 3 * PERIOD, 100 * NS_PER_S);
	/* A step of three periods in every four: 75 s of work in 100 s. */
	ck_assert_uint_le(drive.busy - busy, 76 * NS_PER_S);
	ck_assert_uint_eq(drive.schedule.dropped, dropped);
	ck_assert_uint_eq(drive.overruns, 0);
}
END_TEST

START_TEST(a_runaway_world_is_paused_and_can_be_run_again)
{
	struct drive drive;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	drive_schedule_for(&drive, NS_PER_S, 3600 * NS_PER_S);
	ck_assert_uint_eq(drive.overruns, 1);
	ck_assert_uint_le(drive.steps, SCHEDULE_WINDOW_STEPS_MIN);
	ck_assert_int_eq(drive.schedule.mode, SCHEDULE_PAUSED);
	ck_assert(drive.schedule.overrun);
	schedule_run(&drive.schedule, drive.now);
	ck_assert(!drive.schedule.overrun);
	uint64_t steps = drive.steps;
	drive_schedule_for(&drive, PERIOD / 2, 10 * NS_PER_S);
	ck_assert_uint_eq(drive.steps - steps, 600);
}
END_TEST

/* A world is paused when its steps have taken half a window at the slowest pace; it may finish the
 * step in which that happens. One step of 4 s is therefore enough, one of 1 s is not. */
START_TEST(a_runaway_world_is_paused_after_a_bounded_time_not_a_number_of_steps)
{
	const uint64_t most = SCHEDULE_WINDOW_STEPS / 2 * SCHEDULE_STRETCH_MAX * (PERIOD / 1000) *
			      SCHEDULE_BUDGET_DEFAULT;
	for (uint64_t cost = NS_PER_S / 4; cost <= 64 * NS_PER_S; cost *= 2) {
		struct drive drive;
		drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
		drive_schedule_for(&drive, cost, 3600 * NS_PER_S);
		ck_assert_uint_eq(drive.overruns, 1);
		ck_assert_uint_le(drive.steps * cost, most + cost);
		ck_assert_uint_eq(drive.steps, cost > most ? 1 : cost >= NS_PER_S ? 2 : 4);
	}
}
END_TEST

START_TEST(a_world_that_becomes_cheap_again_regains_its_speed_in_steps)
{
	struct drive drive;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	drive_schedule_for(&drive, 6 * PERIOD, 20 * NS_PER_S);
	ck_assert_uint_eq(drive.schedule.stretch, 8);
	/* Relaxing takes four windows that fit, so that the stretch does not oscillate; the first
	 * may have begun before `before`. */
	uint64_t before = drive.steps;
	while (drive.relaxed == 0)
		ck_assert(step_when_due(&drive, PERIOD / 10, UINT64_MAX));
	ck_assert_uint_gt(drive.steps - before,
			  (SCHEDULE_RELAX_WINDOWS - 1) * SCHEDULE_WINDOW_STEPS);
	drive_schedule_for(&drive, PERIOD / 10, 300 * NS_PER_S);
	ck_assert_uint_eq(drive.schedule.stretch, 1);
	ck_assert_uint_eq(drive.relaxed, 3);
	uint64_t steps = drive.steps;
	drive_schedule_for(&drive, PERIOD / 10, 10 * NS_PER_S);
	ck_assert_uint_ge(drive.steps - steps, 600);
	ck_assert_uint_le(drive.steps - steps, 601);
}
END_TEST

START_TEST(one_slow_step_does_not_slow_the_world)
{
	struct drive drive;
	drive_init(&drive, SIXTY, SCHEDULE_BUDGET_DEFAULT);
	drive_schedule_for(&drive, PERIOD / 10, NS_PER_S);
	ck_assert(step_when_due(&drive, 15 * PERIOD, INSTANT_NEVER - 1));
	drive_schedule_for(&drive, PERIOD / 10, 100 * NS_PER_S);
	ck_assert_uint_eq(drive.slowed, 0);
}
END_TEST

START_TEST(steps_and_drops_never_exceed_the_ticks_of_the_wall_clock)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct drive drive;
	drive_init(&drive, SIXTY, 0);
	uint64_t start = drive.now;
	for (uint32_t round = 0; round < 3000; round++) {
		drive.now += rng_below(&rng, 20) == 0 ? rng_below(&rng, 1000000000) : 0;
		(void)step_when_due(&drive, rng_below(&rng, (uint32_t)(2 * PERIOD)),
				    INSTANT_NEVER - 1);
		uint64_t ticks = tick_clock_index(&drive.schedule.clock, drive.now);
		ck_assert_uint_eq(drive.schedule.clock.start, start);
		ck_assert_uint_le(drive.schedule.steps + drive.schedule.dropped, ticks);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/schedule");
	TCase *pace = tcase_create("pace");
	tcase_add_loop_test(pace, an_hour_at_sixty_hertz_is_exactly_216000_ticks, 0, 7);
	tcase_add_test(pace, a_fractional_rate_is_exact);
	tcase_add_test(pace,
		       after_a_stall_at_most_four_steps_are_caught_up_and_the_rest_is_dropped);
	tcase_add_loop_test(pace, ticks_caught_up_and_dropped_sum_to_the_length_of_the_stall, 1,
			    13);
	tcase_add_test(pace, four_missed_ticks_are_caught_up_and_none_is_dropped);
	tcase_add_test(pace, a_step_of_twice_the_period_halves_the_rate_and_counts_dropped_ticks);
	tcase_add_test(pace, a_paused_world_is_due_only_for_requested_steps);
	tcase_add_test(pace, the_first_tick_after_run_comes_one_period_later);
	tcase_add_test(pace, a_change_of_speed_continues_from_the_last_tick_without_a_burst);
	tcase_add_loop_test(pace, steps_and_drops_never_exceed_the_ticks_of_the_wall_clock, 0, 5);
	suite_add_tcase(suite, pace);
	TCase *budget = tcase_create("budget");
	tcase_add_test(budget, a_world_over_its_budget_is_slowed_until_it_fits);
	tcase_add_test(budget, a_runaway_world_is_paused_and_can_be_run_again);
	tcase_add_test(budget,
		       a_runaway_world_is_paused_after_a_bounded_time_not_a_number_of_steps);
	tcase_add_test(budget, a_world_that_becomes_cheap_again_regains_its_speed_in_steps);
	tcase_add_test(budget, one_slow_step_does_not_slow_the_world);
	suite_add_tcase(suite, budget);
	return suite;
}

int main(void)
{
	return check_main(make);
}
