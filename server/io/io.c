/* See io.h: checks the arguments and passes each call to the implementation. */
#include "server/io/io.h"

const struct io_limits io_limits_default = {
	.streams_max = 4096,
	.queue_bytes = 2 << 20,
	.send_buffer = 64 << 10,
	.notsent_lowat = 16 << 10,
	.user_timeout_ms = 20000,
	.linger_ms = 1000,
};

void io_run(struct io *io)
{
	io->ops->run(io);
}

void io_stop(struct io *io)
{
	io->ops->stop(io);
}

uint64_t io_now(const struct io *io)
{
	return io->ops->now(io);
}

uint64_t io_wall_s(const struct io *io)
{
	return io->ops->wall_s(io);
}

void io_set_flush(struct io *io, io_called *flush, void *context)
{
	io->flush = flush;
	io->flush_context = context;
}

enum status io_set_signals(struct io *io, io_signalled *signalled, void *context)
{
	return io->ops->set_signals(io, signalled, context);
}

const struct io_counters *io_counters(const struct io *io)
{
	return &io->counters;
}

const struct io_limits *io_limits(const struct io *io)
{
	return &io->limits;
}

enum status io_listen(struct io *io, const struct address *address, io_accepted *accepted,
		      void *context, struct io_listener **out, struct reason *why)
{
	return io->ops->listen(io, address, accepted, context, out, why);
}

void io_listener_address(const struct io_listener *listener, struct address *out)
{
	listener->io->ops->listener_address(listener, out);
}

void io_listener_close(struct io_listener *listener)
{
	listener->io->ops->listener_close(listener);
}

static bool has_all_events(const struct stream_events *events)
{
	return events->space != NULL && events->received != NULL && events->closed != NULL;
}

enum status io_connect(struct io *io, const struct address *address,
		       const struct stream_events *events, void *context, struct stream **out)
{
	ASSERT(has_all_events(events));
	return io->ops->connect(io, address, events, context, out);
}

void stream_start(struct stream *stream, const struct stream_events *events, void *context)
{
	ASSERT(stream->events == NULL);
	ASSERT(has_all_events(events));
	stream->ops->start(stream, events, context);
}

enum status stream_write(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	ASSERT(count > 0);
	ASSERT(count <= STREAM_FRAMES_MAX);
	return stream->ops->write(stream, frames, count);
}

size_t stream_queued(const struct stream *stream)
{
	return stream->ops->queued(stream);
}

void stream_resume(struct stream *stream)
{
	stream->ops->resume(stream);
}

void stream_finish(struct stream *stream)
{
	stream->ops->finish(stream);
}

void stream_close(struct stream *stream)
{
	stream->ops->close(stream);
}

void stream_peer(const struct stream *stream, struct peer *out)
{
	stream->ops->peer(stream, out);
}

enum status io_timer_create(struct io *io, io_called *fired, void *context, struct io_timer **out)
{
	return io->ops->timer_create(io, fired, context, out);
}

void io_timer_start(struct io_timer *timer, uint64_t at)
{
	timer->io->ops->timer_start(timer, at);
}

void io_timer_destroy(struct io_timer *timer)
{
	timer->io->ops->timer_destroy(timer);
}
