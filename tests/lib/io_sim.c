/* Events in a heap by (instant, drawn number, serial): the seed decides the order of events of
 * one instant. An event whose thread is busy is postponed to the instant at which the thread is free. */
#include "tests/lib/io_sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "tests/lib/io_sim_internal.h"

struct sim_timer {
	struct sim_object object;
	struct io_timer timer;
	io_called *fired;
	void *context;
	uint64_t generation;
	bool dead;
};

/* ---- chance -------------------------------------------------------------------------------- */
uint64_t sim_draw(struct io_sim *sim, uint64_t max)
{
	return max == UINT64_MAX ? rng_u64(&sim->rng) : rng_u64(&sim->rng) % (max + 1);
}

bool sim_chance(struct io_sim *sim, uint32_t thousandths)
{
	return rng_below(&sim->rng, 1000) < thousandths;
}

uint64_t sim_now(const struct io_sim *sim)
{
	return sim->now + sim->spent;
}

/* ---- events -------------------------------------------------------------------------------- */
static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->tie != b->tie)
		return a->tie < b->tie;
	return a->serial < b->serial;
}

void *sim_realloc(void *block, size_t bytes)
{
	void *memory = heap_realloc(block, bytes);
	if (memory == NULL)
		memory = heap_realloc(block, bytes);
	ASSERT(memory != NULL);
	return memory;
}

static void event_push(struct io_sim *sim, struct sim_event event)
{
	if (sim->event_count == sim->event_capacity) {
		uint32_t capacity = MAX_OF(sim->event_capacity * 2, 256);
		sim->events = sim_realloc(sim->events, capacity * sizeof *sim->events);
		sim->event_capacity = capacity;
	}
	uint32_t slot = sim->event_count++;
	while (slot > 0 && earlier(&event, &sim->events[(slot - 1) / 2])) {
		sim->events[slot] = sim->events[(slot - 1) / 2];
		slot = (slot - 1) / 2;
	}
	sim->events[slot] = event;
}

static struct sim_event event_pop(struct io_sim *sim)
{
	struct sim_event first = sim->events[0], last = sim->events[--sim->event_count];
	uint32_t slot = 0;
	for (;;) {
		uint32_t child = 2 * slot + 1;
		if (child + 1 < sim->event_count &&
		    earlier(&sim->events[child + 1], &sim->events[child]))
			child++;
		if (child >= sim->event_count || !earlier(&sim->events[child], &last))
			break;
		sim->events[slot] = sim->events[child];
		slot = child;
	}
	sim->events[slot] = last;
	return first;
}

void sim_schedule(struct io_sim *sim, uint32_t actor, uint64_t at, sim_fire *fire,
		  struct sim_object *target, uint64_t argument)
{
	struct sim_event event = {
		.at = MAX_OF(at, sim_now(sim)),
		.tie = rng_u64(&sim->rng),
		.serial = sim->serial++,
		.fire = fire,
		.target = target,
		.argument = argument,
		.actor = actor,
	};
	target->refs++;
	event_push(sim, event);
}

void sim_drop(struct sim_object *object)
{
	ASSERT(object->refs > 0);
	if (--object->refs == 0 && object->destroy != NULL)
		object->destroy(object);
}

static void fire_flush(struct io_sim *sim, void *target, uint64_t argument)
{
	UNUSED(sim);
	UNUSED(target);
	UNUSED(argument);
}

/* After any event of a host its round may be over, or more events may come first. */
static void flush_perhaps(struct io_sim *sim, struct sim_host *host, bool now)
{
	if (host->io.flush == NULL)
		return;
	if (!now && sim_chance(sim, 500)) {
		if (!host->flush_due)
			sim_schedule(sim, host->index, sim_now(sim), fire_flush, &host->object, 0);
		host->flush_due = true;
		return;
	}
	host->flush_due = false;
	host->io.flush(host->io.flush_context);
}

static void note(struct io_sim *sim, const struct sim_event *event)
{
	uint64_t what = event->at ^ (uint64_t)event->actor << 48 ^ event->serial << 20;
	sim->trace = rng_mix(sim->trace ^ rng_mix(what));
	sim->fired++;
}

bool io_sim_step(struct io_sim *sim)
{
	ASSERT(sim->actor == SIM_ACTORS);
	if (sim->event_count == 0)
		return false;
	struct sim_event event = event_pop(sim);
	sim->now = MAX_OF(sim->now, event.at);
	if (sim->busy_until[event.actor] > sim->now) {
		event.at = sim->busy_until[event.actor];
		event_push(sim, event);
		return true;
	}
	note(sim, &event);
	sim->actor = event.actor;
	sim->spent = 0;
	event.fire(sim, event.target, event.argument);
	if (event.actor < IO_SIM_HOSTS_MAX)
		flush_perhaps(sim, sim->hosts[event.actor], event.fire == fire_flush);
	sim->busy_until[event.actor] = sim_now(sim);
	sim->actor = SIM_ACTORS;
	sim->spent = 0;
	sim_drop(event.target);
	return true;
}

void io_sim_run_until(struct io_sim *sim, uint64_t instant)
{
	while (sim->event_count > 0 && sim->events[0].at <= instant)
		(void)io_sim_step(sim);
	sim->now = MAX_OF(sim->now, instant);
}

bool io_sim_run_for(struct io_sim *sim, bool (*done)(void *context), void *context, uint64_t limit)
{
	while (!done(context)) {
		if (sim->event_count == 0 || sim->events[0].at > limit)
			return false;
		(void)io_sim_step(sim);
	}
	return true;
}

void io_sim_spend(struct io_sim *sim, uint64_t ns)
{
	ASSERT(sim->actor != SIM_ACTORS);
	sim->spent += ns;
}

uint64_t io_sim_now(const struct io_sim *sim)
{
	return sim_now(sim);
}

uint64_t io_sim_events(const struct io_sim *sim)
{
	return sim->fired;
}

uint64_t io_sim_trace(const struct io_sim *sim)
{
	return sim->trace;
}

/* ---- hosts --------------------------------------------------------------------------------- */
static void host_run(struct io *io)
{
	struct sim_host *host = sim_host_of(io);
	host->stopped = false;
	while (!host->stopped && io_sim_step(host->sim))
		;
}

static void host_stop(struct io *io)
{
	sim_host_of(io)->stopped = true;
}

/* A simulated date, so that no result depends on the machine's clock. */
static uint64_t host_wall_s(const struct io *io)
{
	return IO_SIM_EPOCH_S + io_now(io) / NS_PER_S;
}

static uint64_t host_now(const struct io *io)
{
	return sim_now(sim_host_of(io)->sim);
}

static enum status host_set_signals(struct io *io, io_signalled *signalled, void *context)
{
	sim_host_of(io)->signalled = signalled;
	sim_host_of(io)->signal_context = context;
	return STATUS_OK;
}

static struct sim_host *host_of_object(void *object)
{
	return (struct sim_host *)((char *)object - offsetof(struct sim_host, object));
}

static void fire_signal(struct io_sim *sim, void *target, uint64_t signal)
{
	struct sim_host *host = host_of_object(target);
	UNUSED(sim);
	if (host->signalled != NULL)
		host->signalled(host->signal_context, (int)signal);
}

void io_sim_signal(struct io *io, int signal)
{
	struct sim_host *host = sim_host_of(io);
	sim_schedule(host->sim, host->index, 0, fire_signal, &host->object, (uint64_t)signal);
}

/* ---- timers -------------------------------------------------------------------------------- */
static struct sim_timer *timer_of(struct io_timer *timer)
{
	return (struct sim_timer *)((char *)timer - offsetof(struct sim_timer, timer));
}

static void fire_timer(struct io_sim *sim, void *target, uint64_t generation)
{
	struct sim_timer *timer = target;
	UNUSED(sim);
	if (timer->dead || generation != timer->generation)
		return;
	timer->generation++;
	timer->fired(timer->context);
}

static enum status timer_make(struct io *io, io_called *fired, void *context, struct io_timer **out)
{
	struct sim_timer *timer = heap_alloc_zero(sizeof *timer);
	if (timer == NULL)
		return STATUS_NO_MEMORY;
	timer->object = (struct sim_object){ 1, heap_free };
	timer->timer.io = io;
	timer->fired = fired;
	timer->context = context;
	*out = &timer->timer;
	return STATUS_OK;
}

static void timer_set(struct io_timer *door, uint64_t at)
{
	struct sim_timer *timer = timer_of(door);
	struct sim_host *host = sim_host_of(door->io);
	struct io_sim *sim = host->sim;
	timer->generation++;
	if (at == INSTANT_NEVER)
		return;
	uint64_t late = sim_draw(sim, sim->options.alarm_late_max);
	sim_schedule(sim, host->index, MAX_OF(at, sim_now(sim)) + late, fire_timer, &timer->object,
		     timer->generation);
}

static void timer_end(struct io_timer *door)
{
	struct sim_timer *timer = timer_of(door);
	timer->dead = true;
	sim_drop(&timer->object);
}

static const struct io_ops HOST_OPS = {
	.run = host_run,
	.stop = host_stop,
	.now = host_now,
	.wall_s = host_wall_s,
	.set_signals = host_set_signals,
	.listen = sim_listen,
	.listener_address = sim_listener_address,
	.listener_close = sim_listener_close,
	.connect = sim_connect,
	.timer_create = timer_make,
	.timer_start = timer_set,
	.timer_destroy = timer_end,
};

struct io *io_sim_host(struct io_sim *sim, uint32_t index)
{
	ASSERT(index < IO_SIM_HOSTS_MAX);
	struct sim_host *host = sim->hosts[index];
	if (host != NULL)
		return &host->io;
	host = heap_alloc_zero(sizeof *host);
	ASSERT(host != NULL);
	host->io.ops = &HOST_OPS;
	host->io.limits = sim->options.limits;
	host->object.refs = 1;
	host->sim = sim;
	host->index = index;
	sim->hosts[index] = host;
	return &host->io;
}

/* ---- making and ending --------------------------------------------------------------------- */
struct io_sim_options io_sim_options_default(uint64_t seed)
{
	return (struct io_sim_options){
		.seed = seed,
		.delay_min = 20 * NS_PER_US,
		.delay_max = 2 * NS_PER_MS,
		.kernel_bytes = 172544,
		.torn = 500,
		.reset = 0,
		.hand_off_max = 100 * NS_PER_US,
		.alarm_late_max = 50 * NS_PER_US,
		.limits = io_limits_default,
		.executor = { .workers = 2, .step_workers = 4, .queue_length = 4096 },
	};
}

enum status io_sim_create(const struct io_sim_options *options, struct io_sim **out)
{
	ASSERT(options->delay_min <= options->delay_max);
	struct io_sim *sim = heap_alloc_zero(sizeof *sim);
	if (sim == NULL)
		return STATUS_NO_MEMORY;
	if (!options->quiet) {
		printf("# io_sim seed %" PRIu64 "\n", options->seed);
		fflush(stdout);
	}
	sim->options = *options;
	sim->rng = rng_seeded(options->seed);
	sim->actor = SIM_ACTORS;
	/* The origin is not zero, because zero would hide a missing subtraction of the origin. */
	sim->now = NS_PER_S + sim_draw(sim, NS_PER_S);
	sim->next_port = 49152;
	(void)io_sim_host(sim, 0);
	enum status status = sim_executor_init(sim);
	if (status != STATUS_OK) {
		heap_free(sim->hosts[0]);
		heap_free(sim);
		return status;
	}
	*out = sim;
	return STATUS_OK;
}

void io_sim_destroy(struct io_sim *sim)
{
	ASSERT(sim->actor == SIM_ACTORS);
	sim_network_end(sim);
	for (uint32_t i = 0; i < sim->event_count; i++)
		sim_drop(sim->events[i].target);
	sim_executor_release(sim);
	for (uint32_t i = 0; i < IO_SIM_HOSTS_MAX; i++)
		heap_free(sim->hosts[i]);
	heap_free(sim->events);
	heap_free(sim);
}
