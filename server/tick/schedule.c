/* See schedule.h. A change of speed or stretch never moves a tick that was taken, because it starts
 * a new clock at that tick (rebase). */
#include "server/tick/schedule.h"

/* Starts a new clock at the last tick taken (or at `now`, if that is earlier) with the present speed and
 * stretch. Index 0 of the new clock is that tick. */
static void rebase(struct schedule *self, uint64_t now)
{
	uint64_t last = self->next > 0 ? tick_clock_deadline(&self->clock, self->next - 1) : now;
	self->clock.start = MIN_OF(last, now);
	self->clock.speed = schedule_pace(self);
	self->next = 1;
}

void schedule_init(struct schedule *self, struct tick_rate rate, uint32_t budget)
{
	ASSERT(tick_rate_valid(rate));
	*self = (struct schedule){
		.clock = { .rate = rate, .speed = TICK_SPEED_NORMAL },
		.mode = SCHEDULE_PAUSED,
		.speed = TICK_SPEED_NORMAL,
		.stretch = 1,
		.budget = budget,
	};
}

uint32_t schedule_pace(const struct schedule *self)
{
	return MAX_OF(self->speed / self->stretch, 1);
}

static void reset_window(struct schedule *self)
{
	self->window_steps = 0;
	self->window_cost = 0;
}

void schedule_run(struct schedule *self, uint64_t now)
{
	if (self->mode == SCHEDULE_RUNNING)
		return;
	/* After an overrun the full speed is tried again, because its cause may be over. */
	if (self->overrun)
		self->stretch = 1;
	self->overrun = false;
	self->mode = SCHEDULE_RUNNING;
	self->window_fits = 0;
	reset_window(self);
	self->clock.start = now;
	self->clock.speed = schedule_pace(self);
	self->next = 1;
}

void schedule_pause(struct schedule *self)
{
	self->mode = SCHEDULE_PAUSED;
	self->overrun = false;
}

void schedule_set_speed(struct schedule *self, uint32_t speed, uint64_t now)
{
	ASSERT(speed >= 1 && speed <= TICK_SPEED_MAX);
	self->speed = speed;
	if (self->mode == SCHEDULE_RUNNING)
		rebase(self, now);
}

void schedule_request(struct schedule *self, uint64_t n)
{
	self->requested = n > UINT64_MAX - self->requested ? UINT64_MAX : self->requested + n;
}

uint64_t schedule_due(const struct schedule *self)
{
	if (self->requested > 0)
		return 0;
	if (self->mode == SCHEDULE_PAUSED)
		return INSTANT_NEVER;
	return tick_clock_deadline(&self->clock, self->next);
}

bool schedule_begin(struct schedule *self, uint64_t now, struct schedule_turn *turn)
{
	*turn = (struct schedule_turn){ .deadline = now };
	if (self->requested > 0) {
		self->requested--;
		self->steps++;
		turn->requested = true;
		return true;
	}
	if (schedule_due(self) > now)
		return false;
	/* Ticks from next+1 to the index were missed; at most SCHEDULE_CATCH_UP_MAX are caught up. */
	uint64_t missed = tick_clock_index(&self->clock, now) - self->next;
	if (missed > SCHEDULE_CATCH_UP_MAX)
		turn->dropped = missed - SCHEDULE_CATCH_UP_MAX;
	self->next += turn->dropped;
	self->dropped += turn->dropped;
	turn->deadline = tick_clock_deadline(&self->clock, self->next);
	turn->lateness = now - turn->deadline;
	if (missed > 0)
		self->late++;
	self->next++;
	self->steps++;
	return true;
}

/* The smallest power of two by which the period must be stretched for the window's mean cost, or
 * twice SCHEDULE_STRETCH_MAX if none is enough. The budget is a share of the period at the requested
 * speed, also above normal speed. */
static uint32_t stretch_needed(const struct schedule *self)
{
	uint64_t period = tick_rate_period(self->clock.rate) * TICK_SPEED_NORMAL / self->speed;
	uint64_t allowed = MAX_OF(period / 1000 * self->budget, 1) * self->window_steps;
	uint32_t stretch = 1;
	while (stretch <= SCHEDULE_STRETCH_MAX && self->window_cost / stretch > allowed)
		stretch *= 2;
	return stretch;
}

static enum schedule_change judge_window(struct schedule *self, uint64_t now)
{
	uint32_t needed = stretch_needed(self);
	reset_window(self);
	if (needed > SCHEDULE_STRETCH_MAX) {
		schedule_pause(self);
		self->overrun = true;
		return SCHEDULE_OVERRUN;
	}
	if (needed > self->stretch) {
		self->stretch = needed;
		self->window_fits = 0;
		rebase(self, now);
		return SCHEDULE_SLOWED;
	}
	self->window_fits = needed < self->stretch ? self->window_fits + 1 : 0;
	if (self->window_fits < SCHEDULE_RELAX_WINDOWS)
		return SCHEDULE_NO_NEWS;
	self->window_fits = 0;
	self->stretch /= 2;
	rebase(self, now);
	return SCHEDULE_RELAXED;
}

/* The window's cost already exceeds the budget of half a window of steps at the slowest pace, so
 * its result is already certain. */
static bool is_runaway(const struct schedule *self)
{
	uint64_t period = tick_rate_period(self->clock.rate) * TICK_SPEED_NORMAL / self->speed;
	uint64_t slowest = MAX_OF(period / 1000 * self->budget, 1) * SCHEDULE_STRETCH_MAX;
	return self->window_cost / (SCHEDULE_WINDOW_STEPS / 2) > slowest;
}

enum schedule_change schedule_end(struct schedule *self, uint64_t cost, uint64_t now)
{
	/* Steps on request have no budget: only their client waits for them, and slices keep them
	 * from starving other worlds. */
	if (self->mode != SCHEDULE_RUNNING || self->budget == 0)
		return SCHEDULE_NO_NEWS;
	self->window_steps++;
	self->window_cost = MIN_OF(self->window_cost + cost, UINT64_MAX / 2);
	bool enough = self->window_steps >= SCHEDULE_WINDOW_STEPS || is_runaway(self);
	bool costly = self->window_steps >= SCHEDULE_WINDOW_STEPS_MIN &&
		      self->window_cost >= SCHEDULE_WINDOW_MS * NS_PER_MS;
	return enough || costly ? judge_window(self, now) : SCHEDULE_NO_NEWS;
}
