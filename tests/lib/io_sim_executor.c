/* The executor simulated on one thread. A seat with work has one turn scheduled; a turn
 * runs one item (a post, or any one of the wakeups) and schedules the next, so that turns of
 * different seats interleave as the seed draws. The order of posts to one seat is kept, as executor.h
 * promises. */
#include <string.h>

#include "server/base/heap.h"
#include "tests/lib/io_sim_internal.h"

struct sim_post {
	executor_work *work;
	void *context;
};

static struct io_sim *sim_of(const struct executor *executor)
{
	return ((const struct sim_executor *)executor)->sim;
}

static struct sim_seat *seat_of(struct executor *executor, enum executor_thread thread)
{
	return &((struct sim_executor *)executor)->seats[thread];
}

static enum executor_thread current(const struct executor *executor)
{
	const struct io_sim *sim = sim_of(executor);
	/* Between events the test itself runs, as the thread LOOP. */
	if (sim->actor == 0 || sim->actor == SIM_ACTORS)
		return EXECUTOR_LOOP;
	if (sim->actor < IO_SIM_HOSTS_MAX)
		return EXECUTOR_THREADS_MAX;
	return (enum executor_thread)(sim->actor - IO_SIM_HOSTS_MAX);
}

static bool has_work(const struct sim_seat *seat)
{
	return seat->posts.count > 0 || seat->wakeup_count > 0;
}

static struct wakeup *take_wakeups(struct sim_seat *seat)
{
	uint64_t which = sim_draw(seat->sim, seat->wakeup_count - 1);
	struct wakeup **place = &seat->wakeups_first, *previous = NULL;
	while (which-- > 0) {
		previous = *place;
		place = &previous->next;
	}
	struct wakeup *wakeup = *place;
	*place = wakeup->next;
	if (wakeup->next == NULL)
		seat->wakeups_last = previous;
	seat->wakeup_count--;
	return wakeup;
}

static void do_one(struct sim_seat *seat)
{
	bool wakeup_first =
		seat->wakeup_count > 0 && (seat->posts.count == 0 || sim_chance(seat->sim, 500));
	if (wakeup_first) {
		struct wakeup *wakeup = take_wakeups(seat);
		atomic_store(&wakeup->pending, false);
		wakeup->callback(wakeup->context);
		return;
	}
	struct sim_post post;
	ASSERT(ring_pop(&seat->posts, &post));
	post.work(post.context);
}

static void fire_turn(struct io_sim *sim, void *target, uint64_t argument);

static void schedule_turn(struct sim_seat *seat)
{
	struct io_sim *sim = seat->sim;
	if (seat->turn_due || !seat->running || !has_work(seat))
		return;
	seat->turn_due = true;
	sim_schedule(sim, sim_actor_of_thread(seat->thread),
		     sim_now(sim) + sim_draw(sim, sim->options.hand_off_max), fire_turn,
		     &seat->object, 0);
}

static void fire_turn(struct io_sim *sim, void *target, uint64_t argument)
{
	struct sim_seat *seat = target;
	UNUSED(sim);
	UNUSED(argument);
	seat->turn_due = false;
	/* executor_stop may have run all of it. */
	if (has_work(seat) && !seat->ended)
		do_one(seat);
	schedule_turn(seat);
}

static enum status post(struct executor *executor, enum executor_thread to, executor_work *work,
			void *context)
{
	struct sim_seat *seat = seat_of(executor, to);
	struct sim_post item = { work, context };
	enum status status = seat->ended ? STATUS_CLOSED : ring_push(&seat->posts, &item);
	if (status != STATUS_OK) {
		seat->refused++;
		return status;
	}
	seat->accepted++;
	seat->depth_max = MAX_OF(seat->depth_max, seat->posts.count);
	schedule_turn(seat);
	return STATUS_OK;
}

static void make_pending(struct executor *executor, enum executor_thread to, struct wakeup *wakeup)
{
	struct sim_seat *seat = seat_of(executor, to);
	if (atomic_exchange(&wakeup->pending, true) || seat->ended)
		return;
	wakeup->next = NULL;
	if (seat->wakeups_last != NULL)
		seat->wakeups_last->next = wakeup;
	else
		seat->wakeups_first = wakeup;
	seat->wakeups_last = wakeup;
	seat->wakeup_count++;
	seat->wakeups_made++;
	schedule_turn(seat);
}

static void on_alarm(struct executor *executor, enum executor_thread thread, executor_work *due,
		     void *context)
{
	seat_of(executor, thread)->due = due;
	seat_of(executor, thread)->due_context = context;
}

static void fire_alarm(struct io_sim *sim, void *target, uint64_t generation)
{
	struct sim_seat *seat = target;
	UNUSED(sim);
	if (generation != seat->alarm_generation || seat->ended)
		return;
	seat->alarm_at = INSTANT_NEVER;
	if (seat->due != NULL)
		seat->due(seat->due_context);
}

static void set_alarm(struct executor *executor, uint64_t at)
{
	struct io_sim *sim = sim_of(executor);
	enum executor_thread thread = current(executor);
	ASSERT(thread != EXECUTOR_LOOP && thread < EXECUTOR_THREADS_MAX);
	struct sim_seat *seat = seat_of(executor, thread);
	if (seat->alarm_at == at)
		return;
	seat->alarm_at = at;
	seat->alarm_generation++;
	if (at == INSTANT_NEVER)
		return;
	uint64_t late = sim_draw(sim, sim->options.alarm_late_max);
	sim_schedule(sim, sim_actor_of_thread(thread), MAX_OF(at, sim_now(sim)) + late, fire_alarm,
		     &seat->object, seat->alarm_generation);
}

static enum status start(struct executor *executor, struct reason *why)
{
	UNUSED(why);
	for (uint32_t i = EXECUTOR_STORE; i < EXECUTOR_WORKER + executor->options.workers; i++) {
		struct sim_seat *seat = seat_of(executor, (enum executor_thread)i);
		seat->running = true;
		schedule_turn(seat);
	}
	return STATUS_OK;
}

/* Runs all remaining work of a seat, as that seat. */
static void work_off(struct sim_seat *seat)
{
	struct io_sim *sim = seat->sim;
	uint32_t before = sim->actor;
	sim->actor = sim_actor_of_thread(seat->thread);
	while (has_work(seat))
		do_one(seat);
	sim->actor = before;
}

static void stop_seat(struct sim_executor *self, enum executor_thread thread)
{
	struct sim_seat *seat = &self->seats[thread];
	/* Work that one seat posts to LOOP may post more work in turn. */
	do {
		work_off(seat);
		work_off(&self->seats[EXECUTOR_LOOP]);
	} while (has_work(seat));
	seat->ended = true;
	seat->running = false;
}

static void stop(struct executor *executor)
{
	struct sim_executor *self = (struct sim_executor *)executor;
	ASSERT(current(executor) == EXECUTOR_LOOP);
	for (uint32_t i = 0; i < executor->options.workers; i++)
		stop_seat(self, (enum executor_thread)(EXECUTOR_WORKER + i));
	stop_seat(self, EXECUTOR_ANSWERS);
	stop_seat(self, EXECUTOR_HELPER);
	stop_seat(self, EXECUTOR_STORE);
	stop_seat(self, EXECUTOR_LOOP);
}

/* Storage is the simulation's. */
static void destroy(struct executor *executor)
{
	UNUSED(executor);
}

static uint64_t now(const struct executor *executor)
{
	return sim_now(sim_of(executor));
}

static void counters(struct executor *executor, struct executor_counters *out)
{
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < EXECUTOR_WORKER + executor->options.workers; i++) {
		const struct sim_seat *seat = seat_of(executor, (enum executor_thread)i);
		out->posts[i] = seat->accepted;
		out->refused[i] = seat->refused;
		out->wakeups[i] = seat->wakeups_made;
		out->depth_max[i] = seat->depth_max;
	}
}

/* ---- inside a step ------------------------------------------------------------------------- */
enum { PIECES_MAX = 64 };

/* Cuts the range at drawn places and does the pieces in a drawn order as drawn workers: what is
 * allowed by the contract and unlikely on real threads. */
static void run_pieces(const struct parallel *parallel, uint32_t count, uint32_t grain,
		       parallel_piece *piece, void *context)
{
	struct io_sim *sim = parallel->pool;
	uint32_t starts[PIECES_MAX + 1], order[PIECES_MAX], pieces = 0, next = 0;
	uint32_t least = MAX_OF(MAX_OF(grain, 1), count / PIECES_MAX + 1);
	while (next < count) {
		starts[pieces] = next;
		order[pieces] = pieces;
		pieces++;
		uint32_t length = least + (uint32_t)sim_draw(sim, least);
		next = count - next <= length ? count : next + length;
	}
	starts[pieces] = count;
	for (uint32_t i = pieces; i > 1; i--) {
		uint32_t other = rng_below(&sim->rng, i), kept = order[i - 1];
		order[i - 1] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < pieces; i++)
		piece(starts[order[i]], starts[order[i] + 1],
		      rng_below(&sim->rng, parallel->workers), context);
}

/* ---- making and ending --------------------------------------------------------------------- */
static const struct executor_ops OPS = {
	.post = post,
	.wake = make_pending,
	.on_alarm = on_alarm,
	.set_alarm = set_alarm,
	.start = start,
	.stop = stop,
	.destroy = destroy,
	.current = current,
	.now = now,
	.used = now,
	.counters = counters,
};

enum status sim_executor_init(struct io_sim *sim)
{
	struct sim_executor *self = &sim->executor;
	const struct executor_options *options = &sim->options.executor;
	self->executor.ops = &OPS;
	self->executor.options = *options;
	self->sim = sim;
	self->parallel = (struct parallel){ run_pieces, MAX_OF(options->step_workers, 1), sim };
	self->executor.parallel = &self->parallel;
	for (uint32_t i = 0; i < EXECUTOR_WORKER + options->workers; i++) {
		struct sim_seat *seat = &self->seats[i];
		void *storage = heap_alloc(options->queue_length * sizeof(struct sim_post));
		if (storage == NULL) {
			sim_executor_release(sim);
			return STATUS_NO_MEMORY;
		}
		ring_init(&seat->posts, storage, options->queue_length, sizeof(struct sim_post));
		seat->object.refs = 1;
		seat->sim = sim;
		seat->thread = (enum executor_thread)i;
		seat->alarm_at = INSTANT_NEVER;
	}
	self->seats[EXECUTOR_LOOP].running = true;
	return STATUS_OK;
}

void sim_executor_release(struct io_sim *sim)
{
	for (uint32_t i = 0; i < EXECUTOR_THREADS_MAX; i++)
		heap_free(sim->executor.seats[i].posts.items);
}

struct executor *io_sim_executor(struct io_sim *sim)
{
	return &sim->executor.executor;
}

void io_sim_executor_anew(struct io_sim *sim)
{
	for (uint32_t i = 0; i < EXECUTOR_WORKER + sim->options.executor.workers; i++) {
		struct sim_seat *seat = &sim->executor.seats[i];
		ASSERT(seat->ended && !has_work(seat));
		seat->ended = false;
		seat->running = i == EXECUTOR_LOOP;
		seat->due = NULL;
		seat->alarm_at = INSTANT_NEVER;
		seat->alarm_generation++;
	}
}
