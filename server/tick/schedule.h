/* schedule.h: decides when a world steps. Pure: a function of the instants passed to it.
 *
 *	        run                     budget: stretch > 8
 *	PAUSED ─────► RUNNING ───────────────────────────────► PAUSED (overrun)
 *	   ▲  pause      │
 *	   └─────────────┘        any mode: schedule_request(n) requests n steps at once (STEP)
 *
 * The step is fixed. A RUNNING world that is late takes up to SCHEDULE_CATCH_UP_MAX missed ticks
 * after the one due. Further missed ticks are dropped from the clock, never from the world, so
 * world time falls behind wall time by `dropped` ticks (dilation).
 *
 * Budget: over a window of steps, need = mean cost / (period · budget). While need > 1 the period
 * is stretched by the next power of two; beyond SCHEDULE_STRETCH_MAX the world is paused. A window ends
 * early if its steps, or a single one, have cost more than the budget of half a window at the slowest
 * pace (two seconds at 60 Hz). The stretch is halved after four windows in a row that would fit half of
 * it. Each change is reported once.
 */
#ifndef CAIRN_TICK_SCHEDULE_H
#define CAIRN_TICK_SCHEDULE_H

#include "server/tick/clock.h"

enum {
	SCHEDULE_CATCH_UP_MAX = 4,
	SCHEDULE_STRETCH_MAX = 8,   /* a power of two */
	SCHEDULE_WINDOW_STEPS = 32, /* a window ends after so many steps, */
	SCHEDULE_WINDOW_MS = 1000,  /* or after this much cost */
	/* but not before this many steps, because one slow step is no trend. */
	SCHEDULE_WINDOW_STEPS_MIN = 4,
	SCHEDULE_RELAX_WINDOWS = 4,
	SCHEDULE_BUDGET_DEFAULT = 900 /* thousandths of the period */
};

enum schedule_mode { SCHEDULE_PAUSED, SCHEDULE_RUNNING };

/* The change of pace that schedule_end reports. */
enum schedule_change {
	SCHEDULE_NO_NEWS,
	SCHEDULE_SLOWED,  /* the stretch grew */
	SCHEDULE_RELAXED, /* the stretch shrank */
	SCHEDULE_OVERRUN  /* paused: over the budget even at the largest stretch */
};

struct schedule {
	struct tick_clock clock;
	uint64_t next;	    /* index on the clock of the next tick to take */
	uint64_t requested; /* steps requested by STEP, not yet taken */
	enum schedule_mode mode;
	uint32_t speed;	  /* requested, thousandths of normal */
	uint32_t stretch; /* by the budget: 1, 2, 4 … SCHEDULE_STRETCH_MAX */
	uint32_t budget;  /* thousandths of the nominal period, 0: unlimited */
	bool overrun;	  /* paused by the budget, until the next run or pause */
	/* the current window */
	uint32_t window_steps;
	uint32_t window_fits; /* windows in a row that would fit half the stretch */
	uint64_t window_cost; /* ns */
	/* counters since the beginning */
	uint64_t steps;	  /* taken */
	uint64_t late;	  /* taken at least one period after their deadline */
	uint64_t dropped; /* ticks that will never be taken */
};

/* The step that schedule_begin decided on. */
struct schedule_turn {
	uint64_t deadline; /* of the step to take; `now` for a requested one */
	uint64_t lateness; /* ns after it */
	uint64_t dropped;  /* ticks dropped just now */
	bool requested;
};

/* Paused at normal speed. `budget` in thousandths of the period, 0 for none. */
void schedule_init(struct schedule *self, struct tick_rate rate, uint32_t budget);
/* The first tick is due one period after `now`. No change if running already. */
void schedule_run(struct schedule *self, uint64_t now);
/* Requested steps are still taken. */
void schedule_pause(struct schedule *self);
/* Speed 1 … TICK_SPEED_MAX; from the last tick on. */
void schedule_set_speed(struct schedule *self, uint32_t speed, uint64_t now);
/* n steps as soon as possible, whatever the mode. */
void schedule_request(struct schedule *self, uint64_t n);

/* When to call schedule_begin next: 0 for at once, INSTANT_NEVER for not at all. */
uint64_t schedule_due(const struct schedule *self);
/* True when one step is to be taken now; `turn` is then set. Requested steps go first. */
MUST_CHECK bool schedule_begin(struct schedule *self, uint64_t now, struct schedule_turn *turn);
/* After that step. `cost`: its processor time, ns (executor_used). `now`: read after it. */
enum schedule_change schedule_end(struct schedule *self, uint64_t cost, uint64_t now);

/* World time per wall time at which steps are now scheduled, in thousandths: speed / stretch. */
uint32_t schedule_pace(const struct schedule *self);

#endif
