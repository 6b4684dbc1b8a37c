/* See io_uv.h. The loop, its timers and its signals; streams are in uv_stream.c, listeners in
 * uv_listener.c. */
#include "server/io/io_uv.h"

#include <signal.h>
#include <time.h>

#include "server/base/heap.h"
#include "server/io/uv_internal.h"

struct uv_deadline {
	struct io_timer timer;
	uv_timer_t uv;
	io_called *fired;
	void *context;
};

static void run_loop(struct io *io)
{
	uv_run(&uv_io_of(io)->loop, UV_RUN_DEFAULT);
}

static void stop_loop(struct io *io)
{
	uv_stop(&uv_io_of(io)->loop);
}

static uint64_t loop_time_now(const struct io *io)
{
	UNUSED(io);
	return instant_now();
}

static uint64_t wall_s(const struct io *io)
{
	struct timespec time;
	UNUSED(io);
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec;
}

/* Runs just before the loop waits, after every callback of the round. */
static void on_prepare(uv_prepare_t *handle)
{
	struct io *io = handle->data;
	if (io->flush != NULL)
		io->flush(io->flush_context);
}

static void on_signal(uv_signal_t *handle, int signal)
{
	struct uv_io *self = handle->data;
	self->signalled(self->signal_context, signal);
}

static enum status set_signals(struct io *io, io_signalled *signalled, void *context)
{
	static const int SIGNALS[UV_SIGNALS] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	struct uv_io *self = uv_io_of(io);
	ASSERT(!self->signals_on);
	self->signals_on = true;
	self->signalled = signalled;
	self->signal_context = context;
	int error = 0;
	for (uint32_t i = 0; i < UV_SIGNALS; i++) {
		uv_signal_init(&self->loop, &self->signals[i]);
		self->signals[i].data = self;
		if (error == 0)
			error = uv_signal_start(&self->signals[i], on_signal, SIGNALS[i]);
	}
	return error == 0 ? STATUS_OK : STATUS_IO;
}

/* ---- timers ---------------------------------------------------------------------------------- */
static void on_timer(uv_timer_t *handle)
{
	struct uv_deadline *self = handle->data;
	self->fired(self->context);
}

static enum status timer_create_uv(struct io *io, io_called *fired, void *context,
				   struct io_timer **out)
{
	struct uv_deadline *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->timer.io = io;
	self->fired = fired;
	self->context = context;
	uv_timer_init(&uv_io_of(io)->loop, &self->uv);
	self->uv.data = self;
	*out = &self->timer;
	return STATUS_OK;
}

/* libuv counts whole milliseconds from a loop time taken before the callbacks and rounded down:
 * the time is refreshed, and one is added so that it never fires early. */
static void timer_start_uv(struct io_timer *timer, uint64_t at)
{
	struct uv_deadline *self = (struct uv_deadline *)timer;
	if (at == INSTANT_NEVER) {
		uv_timer_stop(&self->uv);
		return;
	}
	uint64_t current = loop_time_now(timer->io);
	uint64_t delay_ms = at > current ? (at - current + NS_PER_MS - 1) / NS_PER_MS + 1 : 0;
	uv_update_time(&uv_io_of(timer->io)->loop);
	uv_timer_start(&self->uv, on_timer, delay_ms, 0);
}

static void on_timer_closed(uv_handle_t *handle)
{
	heap_free(handle->data);
}

static void timer_destroy_uv(struct io_timer *timer)
{
	struct uv_deadline *self = (struct uv_deadline *)timer;
	uv_close((uv_handle_t *)&self->uv, on_timer_closed);
}

/* ---- making and ending ----------------------------------------------------------------------- */
static const struct io_ops OPS = {
	.run = run_loop,
	.stop = stop_loop,
	.now = loop_time_now,
	.wall_s = wall_s,
	.set_signals = set_signals,
	.listen = uv_listen_on,
	.listener_address = uv_listener_address,
	.listener_close = uv_listener_close,
	.connect = uv_link_connect,
	.timer_create = timer_create_uv,
	.timer_start = timer_start_uv,
	.timer_destroy = timer_destroy_uv,
};

enum status io_uv_create(const struct io_limits *limits, struct io **out)
{
	struct uv_io *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	if (uv_loop_init(&self->loop) != 0) {
		heap_free(self);
		return STATUS_IO;
	}
	/* A write to a closed connection must fail with an error, not end the process. */
	signal(SIGPIPE, SIG_IGN);
	self->io.ops = &OPS;
	self->io.limits = *limits;
	uv_prepare_init(&self->loop, &self->prepare);
	self->prepare.data = &self->io;
	uv_prepare_start(&self->prepare, on_prepare);
	*out = &self->io;
	return STATUS_OK;
}

void io_uv_destroy(struct io *io)
{
	struct uv_io *self = uv_io_of(io);
	io->flush = NULL;
	for (struct uv_link *link = self->links; link != NULL; link = link->next)
		uv_link_end(link, STATUS_OK);
	uv_close((uv_handle_t *)&self->prepare, NULL);
	for (uint32_t i = 0; self->signals_on && i < UV_SIGNALS; i++)
		uv_close((uv_handle_t *)&self->signals[i], NULL);
	/* An io_stop before io_run would otherwise end the first run at once. */
	while (uv_run(&self->loop, UV_RUN_DEFAULT) != 0)
		;
	uv_writes_free(self);
	ASSERT(uv_loop_close(&self->loop) == 0);
	heap_free(self);
}

struct uv_loop_s *io_uv_loop(struct io *io)
{
	return &uv_io_of(io)->loop;
}
