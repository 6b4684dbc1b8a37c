/* executor_uv.c: the executor with real threads. See executor.h.
 *
 * Each thread has a seat: a lock, a bounded ring of posts, a list of wakeups, an eventfd to wake
 * its loop, and (except LOOP) a timerfd for its alarm, both watched by uv_poll. Each time the
 * eventfd fires the thread runs as many posts as were queued at that moment and then returns to
 * libuv, so that sockets and alarms are served however fast other threads post.
 *
 *	sender: lock, push, first? = !pending, pending = true, unlock; first → write(eventfd)
 *	seat:   lock, pending = false, n = count, unlock; n times: lock, pop, unlock, do; then wakeups
 *
 * uv_async is not used: in libuv 1.44 the woken loop spins through a thousand pauses if it checks
 * before the sender has returned from its write. On one processor this is always so. Round trip,
 * measured (2026-11, two processors): 45 µs with uv_async, 9 µs with an eventfd. The eventfd is
 * written after the lock is released, because the woken thread would otherwise block on it.
 * Therefore the eventfd exists as long as the executor.
 *
 * Ending: a seat with `stopping` set empties its queue, sets `ended` under the lock (from then on
 * posts to it are CLOSED) and leaves its loop.
 */
#include "server/io/executor_uv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "server/base/heap.h"
#include "server/base/ring.h"
#include "server/io/io_uv.h"
#include "server/io/lock.h"
#include "server/io/log.h"
#include "server/io/parallel_pool.h"

enum { NICE = 10 };

struct post {
	executor_work *work;
	void *context;
};

struct executor_uv;

struct thread_seat {
	struct executor_uv *owner;
	enum executor_thread thread;
	uv_loop_t own_loop; /* not for LOOP */
	uv_loop_t *loop;
	int wake_fd; /* −1: none; any thread writes to it */
	uv_poll_t wake_poll;
	uv_poll_t alarm_poll;
	int alarm_fd;	    /* −1: none */
	uint64_t alarm_at;  /* instant of the armed alarm; only this thread uses it */
	executor_work *due; /* may be NULL */
	void *due_context;
	pthread_t handle;
	bool looped; /* own_loop is initialised */
	bool started;
	/* under the lock */
	struct lock lock;
	struct ring posts;
	struct post *storage;
	struct wakeup *wakeups_first, *wakeups_last;
	bool pending; /* the eventfd has been written and not yet read */
	bool stopping;
	bool ended;
	uint64_t accepted, refused, wakeups;
	uint32_t depth_max;
};

struct executor_uv {
	struct executor executor;
	struct parallel_pool *pool; /* NULL: parallel_serial */
	uint32_t count;		    /* seats */
	bool running;
	struct thread_seat seats[EXECUTOR_THREADS_MAX];
};

/* The seat of the running thread. */
static _Thread_local const struct thread_seat *seat_here;
/* The thread holds wakeups of LOOP back; some are held. */
static _Thread_local bool holds_here, held_here;

static struct executor_uv *uv_of(const struct executor *executor)
{
	return (struct executor_uv *)executor;
}

static uint64_t time_now(const struct executor *executor)
{
	UNUSED(executor);
	return instant_now();
}

static uint64_t processor_time_used(const struct executor *executor)
{
	UNUSED(executor);
	return instant_used();
}

static enum executor_thread current_thread(const struct executor *executor)
{
	if (seat_here == NULL || &seat_here->owner->executor != executor)
		return EXECUTOR_THREADS_MAX;
	return seat_here->thread;
}

/* ---- sending --------------------------------------------------------------------------------- */
/* The 64-bit counter of an eventfd cannot overflow between two reads, so a write does not block. */
static void wake_seat(const struct thread_seat *seat)
{
	const uint64_t one = 1;
	while (write(seat->wake_fd, &one, sizeof one) < 0)
		ASSERT(errno == EINTR);
}

static enum status post_work(struct executor *executor, enum executor_thread to,
			     executor_work *work, void *context)
{
	struct thread_seat *seat = &uv_of(executor)->seats[to];
	struct post item = { work, context };
	lock_take(&seat->lock);
	enum status status = seat->ended ? STATUS_CLOSED : ring_push(&seat->posts, &item);
	bool first = status == STATUS_OK && !seat->pending;
	if (status == STATUS_OK) {
		seat->pending = true;
		seat->accepted++;
		seat->depth_max = MAX_OF(seat->depth_max, seat->posts.count);
	} else {
		seat->refused++;
	}
	lock_give(&seat->lock);
	if (first)
		wake_seat(seat);
	return status;
}

static void make_pending(struct executor *executor, enum executor_thread to, struct wakeup *wakeup)
{
	struct thread_seat *seat = &uv_of(executor)->seats[to];
	if (atomic_exchange_explicit(&wakeup->pending, true, memory_order_acq_rel))
		return;
	bool first = false, held = holds_here && to == EXECUTOR_LOOP;
	lock_take(&seat->lock);
	if (!seat->ended) {
		wakeup->next = NULL;
		if (seat->wakeups_last != NULL)
			seat->wakeups_last->next = wakeup;
		else
			seat->wakeups_first = wakeup;
		seat->wakeups_last = wakeup;
		seat->wakeups++;
		first = !seat->pending && !held;
		seat->pending = seat->pending || first;
	}
	lock_give(&seat->lock);
	held_here = held_here || held;
	if (first)
		wake_seat(seat);
}

static void hold_wakeups(struct executor *executor)
{
	UNUSED(executor);
	holds_here = true;
}

static void ring_held(struct executor *executor)
{
	struct thread_seat *seat = &uv_of(executor)->seats[EXECUTOR_LOOP];
	bool held = held_here;
	holds_here = held_here = false;
	if (!held)
		return;
	lock_take(&seat->lock);
	bool first = !seat->pending && seat->wakeups_first != NULL;
	seat->pending = seat->pending || first;
	lock_give(&seat->lock);
	if (first)
		wake_seat(seat);
}

/* ---- receiving ------------------------------------------------------------------------------- */
static uint32_t serve_posts(struct thread_seat *seat, uint32_t count)
{
	struct post item;
	for (uint32_t i = 0; i < count; i++) {
		lock_take(&seat->lock);
		bool some = ring_pop(&seat->posts, &item);
		lock_give(&seat->lock);
		if (!some)
			return i;
		item.work(item.context);
	}
	return count;
}

static struct wakeup *take_wakeups(struct thread_seat *seat)
{
	lock_take(&seat->lock);
	struct wakeup *first = seat->wakeups_first;
	seat->wakeups_first = seat->wakeups_last = NULL;
	lock_give(&seat->lock);
	return first;
}

static bool serve_wakeups(struct thread_seat *seat)
{
	struct wakeup *wakeup = take_wakeups(seat);
	bool some = wakeup != NULL;
	while (wakeup != NULL) {
		/* `next` is read before the wakeup can become pending again, because it is then
		 * in another list. */
		struct wakeup *next = wakeup->next;
		executor_work *callback = wakeup->callback;
		void *context = wakeup->context;
		atomic_exchange_explicit(&wakeup->pending, false, memory_order_acq_rel);
		callback(context);
		wakeup = next;
	}
	return some;
}

/* Runs all queued work, and the work queued by it. */
static void serve_all(struct thread_seat *seat)
{
	bool some = true;
	while (some) {
		some = serve_posts(seat, UINT32_MAX) > 0;
		some = serve_wakeups(seat) || some;
	}
}

static bool try_end(struct thread_seat *seat)
{
	lock_take(&seat->lock);
	bool empty = seat->posts.count == 0 && seat->wakeups_first == NULL;
	seat->ended = empty;
	lock_give(&seat->lock);
	return empty;
}

static void on_wake(uv_poll_t *handle, int error, int events)
{
	struct thread_seat *seat = handle->data;
	uint64_t wakes;
	UNUSED(events);
	if (error < 0 || read(seat->wake_fd, &wakes, sizeof wakes) < 0)
		return;
	lock_take(&seat->lock);
	seat->pending = false;
	uint32_t count = seat->posts.count;
	bool stopping = seat->stopping;
	lock_give(&seat->lock);
	serve_posts(seat, count);
	serve_wakeups(seat);
	if (!stopping)
		return;
	do
		serve_all(seat);
	while (!try_end(seat));
	uv_stop(seat->loop);
}

/* ---- alarms ---------------------------------------------------------------------------------- */
static void on_alarm_ready(uv_poll_t *handle, int status, int events)
{
	struct thread_seat *seat = handle->data;
	uint64_t expirations;
	UNUSED(events);
	if (status < 0 || read(seat->alarm_fd, &expirations, sizeof expirations) < 0)
		return;
	seat->alarm_at = INSTANT_NEVER;
	if (seat->due != NULL)
		seat->due(seat->due_context);
}

static void on_alarm(struct executor *executor, enum executor_thread thread, executor_work *due,
		     void *context)
{
	struct executor_uv *self = uv_of(executor);
	ASSERT(!self->running);
	self->seats[thread].due = due;
	self->seats[thread].due_context = context;
}

static void set_alarm(struct executor *executor, uint64_t at)
{
	ASSERT(current_thread(executor) < EXECUTOR_THREADS_MAX &&
	       current_thread(executor) != EXECUTOR_LOOP);
	struct thread_seat *seat = &uv_of(executor)->seats[current_thread(executor)];
	if (seat->alarm_at == at)
		return;
	seat->alarm_at = at;
	struct itimerspec when = { 0 };
	if (at != INSTANT_NEVER) {
		/* 0 would disarm the timer; 1 ns is in the past, too. */
		uint64_t instant = MAX_OF(at, 1);
		when.it_value.tv_sec = (time_t)(instant / NS_PER_S);
		when.it_value.tv_nsec = (long)(instant % NS_PER_S);
	}
	ASSERT(timerfd_settime(seat->alarm_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
}

/* ---- threads --------------------------------------------------------------------------------- */
static void set_fifo(const struct thread_seat *seat)
{
	int priority = seat->owner->executor.options.fifo_priority;
	if (priority <= 0 || seat->thread < EXECUTOR_WORKER)
		return;
	struct sched_param parameters = { .sched_priority = priority };
	int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
	if (error != 0)
		log_warn("fifo_refused", "worker=%d priority=%d error=\"%s\"",
			 (int)seat->thread - EXECUTOR_WORKER, priority, strerror(error));
}

/* On Linux a nice value belongs to a thread. If it cannot be set, all threads have the same priority. */
static void set_nice(const struct thread_seat *seat)
{
	if (seat->thread == EXECUTOR_HELPER || seat->thread == EXECUTOR_ANSWERS)
		(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
}

/* For `top -H` and debuggers; LOOP keeps the program's name. */
static void set_name(const struct thread_seat *seat)
{
	static const char *const names[] = { [EXECUTOR_STORE] = "store",
					     [EXECUTOR_HELPER] = "helper",
					     [EXECUTOR_ANSWERS] = "answers" };
	char name[16];
	if (seat->thread >= EXECUTOR_WORKER)
		snprintf(name, sizeof name, "worker-%u",
			 (unsigned)(seat->thread - EXECUTOR_WORKER) % 100);
	else
		snprintf(name, sizeof name, "%s", names[seat->thread]);
	(void)pthread_setname_np(pthread_self(), name);
}

static void *thread_main(void *context)
{
	struct thread_seat *seat = context;
	seat_here = seat;
	set_name(seat);
	set_fifo(seat);
	set_nice(seat);
	uv_run(seat->loop, UV_RUN_DEFAULT);
	seat_here = NULL;
	return NULL;
}

/* Only LOOP receives signals: every other thread starts with all of them blocked. */
static int seat_start(struct thread_seat *seat)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&seat->handle, NULL, thread_main, seat);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	seat->started = error == 0;
	return error;
}

static void seat_request_stop(struct thread_seat *seat)
{
	lock_take(&seat->lock);
	seat->stopping = true;
	seat->pending = true;
	lock_give(&seat->lock);
	wake_seat(seat);
}

static bool seat_ended(struct thread_seat *seat)
{
	lock_take(&seat->lock);
	bool ended = seat->ended;
	lock_give(&seat->lock);
	return ended;
}

/* Waits for a thread to empty its queue. Work posted to LOOP is run meanwhile, so that no thread
 * finds its queue full. Polling every 0.2 ms is cheap enough, because this happens once, at the
 * end. */
static void seat_stop(struct thread_seat *seat)
{
	static const struct timespec MOMENT = { 0, 200 * 1000 };
	if (!seat->started)
		return;
	seat_request_stop(seat);
	while (!seat_ended(seat)) {
		serve_all(&seat->owner->seats[EXECUTOR_LOOP]);
		nanosleep(&MOMENT, NULL);
	}
	ASSERT(pthread_join(seat->handle, NULL) == 0);
	seat->started = false;
}

static enum status start_threads(struct executor *executor, struct reason *why)
{
	struct executor_uv *self = uv_of(executor);
	ASSERT(current_thread(executor) == EXECUTOR_LOOP);
	ASSERT(!self->running);
	self->running = true;
	for (uint32_t i = EXECUTOR_STORE; i < self->count; i++) {
		int error = seat_start(&self->seats[i]);
		if (error == 0)
			continue;
		executor_stop(executor);
		return reason_set(why, STATUS_IO, i, "thread", "cannot start: %s", strerror(error));
	}
	return STATUS_OK;
}

static void stop_threads(struct executor *executor)
{
	struct executor_uv *self = uv_of(executor);
	struct thread_seat *loop = &self->seats[EXECUTOR_LOOP];
	ASSERT(current_thread(executor) == EXECUTOR_LOOP);
	for (uint32_t i = EXECUTOR_WORKER; i < self->count; i++)
		seat_stop(&self->seats[i]);
	seat_stop(&self->seats[EXECUTOR_ANSWERS]);
	seat_stop(&self->seats[EXECUTOR_HELPER]);
	seat_stop(&self->seats[EXECUTOR_STORE]);
	do
		serve_all(loop);
	while (!try_end(loop));
}

static void copy_counters(struct executor *executor, struct executor_counters *out)
{
	struct executor_uv *self = uv_of(executor);
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < self->count; i++) {
		struct thread_seat *seat = &self->seats[i];
		lock_take(&seat->lock);
		out->posts[i] = seat->accepted;
		out->refused[i] = seat->refused;
		out->wakeups[i] = seat->wakeups;
		out->depth_max[i] = seat->depth_max;
		lock_give(&seat->lock);
	}
}

/* ---- making and ending ----------------------------------------------------------------------- */
static void executor_free(struct executor_uv *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		lock_release(&self->seats[i].lock);
		if (self->seats[i].wake_fd >= 0)
			close(self->seats[i].wake_fd);
		heap_free(self->seats[i].storage);
	}
	if (self->pool != NULL)
		parallel_pool_destroy(self->pool);
	heap_free(self);
}

static void on_loop_wake_closed(uv_handle_t *handle)
{
	struct thread_seat *seat = handle->data;
	executor_free(seat->owner);
}

static void seat_release(struct thread_seat *seat)
{
	if (!seat->looped)
		return;
	if (seat->wake_fd >= 0)
		uv_close((uv_handle_t *)&seat->wake_poll, NULL);
	if (seat->alarm_fd >= 0)
		uv_close((uv_handle_t *)&seat->alarm_poll, NULL);
	while (uv_run(&seat->own_loop, UV_RUN_DEFAULT) != 0)
		;
	ASSERT(uv_loop_close(&seat->own_loop) == 0);
	if (seat->alarm_fd >= 0)
		close(seat->alarm_fd);
}

/* Memory is freed after the io's loop has closed the handle of the eventfd. */
static void destroy_executor(struct executor *executor)
{
	struct executor_uv *self = uv_of(executor);
	for (uint32_t i = EXECUTOR_STORE; i < self->count; i++) {
		ASSERT(!self->seats[i].started);
		seat_release(&self->seats[i]);
	}
	if (seat_here != NULL && seat_here->owner == self)
		seat_here = NULL;
	struct thread_seat *loop = &self->seats[EXECUTOR_LOOP];
	if (loop->wake_fd >= 0)
		uv_close((uv_handle_t *)&loop->wake_poll, on_loop_wake_closed);
	else
		executor_free(self);
}

static enum status seat_open_wake(struct thread_seat *seat)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0)
		return STATUS_IO;
	if (uv_poll_init(seat->loop, &seat->wake_poll, fd) != 0) {
		close(fd);
		return STATUS_IO;
	}
	seat->wake_fd = fd;
	seat->wake_poll.data = seat;
	return uv_poll_start(&seat->wake_poll, UV_READABLE, on_wake) == 0 ? STATUS_OK : STATUS_IO;
}

static enum status seat_open_alarm(struct thread_seat *seat)
{
	seat->alarm_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (seat->alarm_fd < 0)
		return STATUS_IO;
	uv_poll_init(&seat->own_loop, &seat->alarm_poll, seat->alarm_fd);
	seat->alarm_poll.data = seat;
	return uv_poll_start(&seat->alarm_poll, UV_READABLE, on_alarm_ready) == 0 ? STATUS_OK
										  : STATUS_IO;
}

/* `loop` is borrowed for LOOP and NULL for the others, which get their own. */
static enum status seat_init(struct thread_seat *seat, uv_loop_t *loop)
{
	uint32_t length = seat->owner->executor.options.queue_length;
	seat->storage = heap_alloc(length * sizeof *seat->storage);
	if (seat->storage == NULL)
		return STATUS_NO_MEMORY;
	ring_init(&seat->posts, seat->storage, length, sizeof *seat->storage);
	if (loop == NULL && uv_loop_init(&seat->own_loop) != 0)
		return STATUS_IO;
	seat->loop = loop != NULL ? loop : &seat->own_loop;
	seat->looped = loop == NULL;
	enum status status = seat_open_wake(seat);
	return status == STATUS_OK && loop == NULL ? seat_open_alarm(seat) : status;
}

static const struct executor_ops OPS = {
	.post = post_work,
	.wake = make_pending,
	.hold = hold_wakeups,
	.ring = ring_held,
	.on_alarm = on_alarm,
	.set_alarm = set_alarm,
	.start = start_threads,
	.stop = stop_threads,
	.destroy = destroy_executor,
	.current = current_thread,
	.now = time_now,
	.used = processor_time_used,
	.counters = copy_counters,
};

static bool options_valid(const struct executor_options *options)
{
	return options->workers >= 1 && options->workers <= EXECUTOR_WORKERS_MAX &&
	       options->step_workers >= 1 && options->step_workers <= PARALLEL_WORKERS_MAX &&
	       options->queue_length >= 1 && options->queue_length <= 1u << 20;
}

static enum status seats_init(struct executor_uv *self, struct io *io)
{
	for (uint32_t i = 0; i < self->count; i++) {
		struct thread_seat *seat = &self->seats[i];
		enum status status = seat_init(seat, i == EXECUTOR_LOOP ? io_uv_loop(io) : NULL);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status executor_uv_create(struct io *io, const struct executor_options *options,
			       struct executor **out)
{
	if (!options_valid(options))
		return STATUS_RANGE;
	struct executor_uv *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->executor.ops = &OPS;
	self->executor.options = *options;
	self->executor.parallel = &parallel_serial;
	self->count = EXECUTOR_WORKER + options->workers;
	for (uint32_t i = 0; i < self->count; i++) {
		self->seats[i].owner = self;
		self->seats[i].thread = (enum executor_thread)i;
		self->seats[i].wake_fd = -1;
		self->seats[i].alarm_fd = -1;
		self->seats[i].alarm_at = INSTANT_NEVER;
		lock_init(&self->seats[i].lock);
	}
	enum status status = STATUS_OK;
	if (options->step_workers > 1)
		status = parallel_pool_create(options->step_workers, &self->pool);
	if (status == STATUS_OK && self->pool != NULL)
		self->executor.parallel = parallel_pool_parallel(self->pool);
	if (status == STATUS_OK)
		status = seats_init(self, io);
	if (status != STATUS_OK) {
		destroy_executor(&self->executor);
		return status;
	}
	seat_here = &self->seats[EXECUTOR_LOOP];
	*out = &self->executor;
	return STATUS_OK;
}
