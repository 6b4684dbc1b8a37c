/* io.h: the event loop of one thread: sockets, coarse timers, signals and the clock.
 *
 * There are two implementations: `io_uv.h` (libuv) and `tests/lib/io_sim.h` (a virtual clock, delays, torn
 * writes, lost peers, all from one seed). All other code uses only this header and runs on both. All
 * functions and callbacks are called on the loop's thread; other threads reach it through executor.h.
 *
 *	struct io (a loop) ──listen──► struct io_listener ──accepted──► struct stream
 *	                   ──connect────────────────────────────────► struct stream
 *
 * A stream's life, with the calls (→) and the callbacks (←):
 *
 *	accepted ─→ stream_start ─ open ─→ stream_finish ─ flushing ─ half closed ─┐
 *	                             │ end of file, error, → stream_close            ▼
 *	                             └───────────────────────────────────────► ← closed, handle gone
 *
 * `closed` is called exactly once, never from inside a call, and is the last callback. Memory is bounded:
 * incoming bytes go only into the owner's buffer (if it gives none, reading stops and the peer's window
 * fills); outgoing bytes wait up to `io_limits.queue_bytes`, beyond it a write is refused whole.
 */
#ifndef CAIRN_IO_IO_H
#define CAIRN_IO_IO_H

#include "server/base/base.h"
#include "server/base/status.h"
#include "server/io/address.h"
#include "server/io/frame.h"
#include "server/io/instant.h"

struct io_limits {
	uint32_t streams_max;	  /* open at the same time; a further one is closed and counted */
	uint32_t queue_bytes;	  /* waiting per stream in this process */
	uint32_t send_buffer;	  /* SO_SNDBUF, bytes; 0 leaves the system's */
	uint32_t notsent_lowat;	  /* TCP_NOTSENT_LOWAT, bytes */
	uint32_t user_timeout_ms; /* TCP_USER_TIMEOUT: for unacknowledged bytes */
	/* After stream_finish: wait this long for the peer's end of file. */
	uint32_t linger_ms;
};

/* 4096 streams, 2 MiB, 64 KiB, 16 KiB, 20 s, 1 s. */
extern const struct io_limits io_limits_default;

struct io_counters {
	uint64_t accepted, refused, closed; /* streams */
	uint64_t bytes_in, bytes_out;
	uint64_t writes;	 /* calls that reached the kernel */
	uint64_t writes_short;	 /* of these, not accepted whole by the kernel */
	uint64_t writes_refused; /* queue_bytes would have been exceeded */
	uint32_t streams;	 /* open now */
	uint64_t queued_bytes;	 /* waiting in this process now, all streams */
};

enum { STREAM_FRAMES_MAX = 64 }; /* per stream_write */

struct io;
struct io_listener;
struct io_timer;
struct stream;

/* The peer of a stream. */
struct peer {
	enum address_kind kind;
	uint8_t octets[16]; /* TCP: its address, as in struct address */
	bool web;	    /* a WebSocket */
	bool local;	    /* on this machine: loopback or a Unix socket */
	bool secure;	    /* encrypted: TLS */
	bool known;	    /* uid, gid and pid are the peer's (Unix sockets, SO_PEERCRED) */
	uint32_t uid, gid;
	int32_t pid;
	char text[ADDRESS_TEXT_MAX]; /* for logs */
};

struct stream_events {
	/* The connection requested by io_connect is established. May be NULL. */
	void (*connected)(void *context);
	/* Sets `into` to a buffer for incoming bytes (borrowed until `received`) and returns its
	 * size. 0 pauses the stream until stream_resume. */
	size_t (*space)(void *context, uint8_t **into);
	/* `bytes` (> 0) bytes of that buffer are filled. The owner only copies and enqueues
	 * here. */
	void (*received)(void *context, size_t bytes);
	/* The queue has become empty again after a write that left a tail. May be NULL. */
	void (*drained)(void *context);
	/* The stream has ended: OK end of file or own close, CLOSED reset by the peer, IO
	 * otherwise, SLOW when TCP_USER_TIMEOUT ended it. */
	void (*closed)(void *context, enum status why);
};

typedef void io_accepted(void *context, struct stream *stream);
typedef void io_called(void *context);
typedef void io_signalled(void *context, int signal);

/* ---- the loop -------------------------------------------------------------------------------- */
/* Runs callbacks until io_stop; may be run again. */
void io_run(struct io *io);
/* Makes io_run return after the present round of callbacks. */
void io_stop(struct io *io);
/* The present instant; each call reads the clock. */
uint64_t io_now(const struct io *io);
static inline uint64_t io_now_us(const struct io *io)
{
	return io_now(io) / NS_PER_US;
}
/* Seconds since 1970 UTC, to compare with dates of other machines. The simulation never uses it. */
uint64_t io_wall_s(const struct io *io);
/* Calls `flush` once after every round of callbacks, before the loop waits again, so that all
 * output of a round for one client is sent in one write. NULL removes it. Borrowed context. */
void io_set_flush(struct io *io, io_called *flush, void *context);
/* Calls `signalled` for SIGTERM, SIGINT, SIGHUP and SIGUSR1 from now on. Once per loop. */
MUST_CHECK enum status io_set_signals(struct io *io, io_signalled *signalled, void *context);
/* Borrowed; changes as the loop runs. */
const struct io_counters *io_counters(const struct io *io);
const struct io_limits *io_limits(const struct io *io);

/* ---- listening and connecting ---------------------------------------------------------------- */
/* `accepted` owns each new stream, and starts or closes it. A stale Unix socket file is replaced;
 * one with a live server is EXISTS. The file has mode 0600. EXISTS for a TCP port in use. */
MUST_CHECK enum status io_listen(struct io *io, const struct address *address,
				 io_accepted *accepted, void *context, struct io_listener **out,
				 struct reason *why);
/* The address in use, with the port the system chose. */
void io_listener_address(const struct io_listener *listener, struct address *out);
/* Stops accepting; open streams continue; the Unix socket file is removed; the handle is
 * invalid. */
void io_listener_close(struct io_listener *listener);
/* Starts connecting; returned owned and already started. If the peer refuses, `closed` is
 * called. */
MUST_CHECK enum status io_connect(struct io *io, const struct address *address,
				  const struct stream_events *events, void *context,
				  struct stream **out);

/* ---- streams --------------------------------------------------------------------------------- */
/* Begins to read. `events` is borrowed for the stream's life. */
void stream_start(struct stream *stream, const struct stream_events *events, void *context);
/* Sends the frames in order by one call to the kernel. The tail that the kernel does not accept is
 * queued (with references of the stream's own) and sent later. `frames` and the caller's references
 * stay the caller's. count ≤ STREAM_FRAMES_MAX. FULL: over queue_bytes, nothing was sent. CLOSED:
 * finished, closing or failed. */
MUST_CHECK enum status stream_write(struct stream *stream, struct frame *const frames[],
				    uint32_t count);
/* Bytes queued in this process. At 0 the kernel may still have unsent bytes. */
size_t stream_queued(const struct stream *stream);
/* Calls `space` again after it returned 0. */
void stream_resume(struct stream *stream);
/* Sends the queued bytes, closes our half, drops incoming bytes, and closes when the peer does or
 * linger_ms later. The caller bounds the time for sending, with stream_close. */
void stream_finish(struct stream *stream);
/* Drops the queue and closes. A stream that was never started gets no `closed`. */
void stream_close(struct stream *stream);
void stream_peer(const struct stream *stream, struct peer *out);

/* ---- timers ---------------------------------------------------------------------------------- */
/* One shot, coarse (a millisecond): deadlines of sessions, never ticks. Returned owned, unarmed. */
MUST_CHECK enum status io_timer_create(struct io *io, io_called *fired, void *context,
				       struct io_timer **out);
/* Fires once at or shortly after `at`; a second start moves it; INSTANT_NEVER disarms. */
void io_timer_start(struct io_timer *timer, uint64_t at);
/* Never fires again. */
void io_timer_destroy(struct io_timer *timer);

/* ---- for implementations --------------------------------------------------------------------- */
struct io_ops {
	void (*run)(struct io *);
	void (*stop)(struct io *);
	uint64_t (*now)(const struct io *);
	uint64_t (*wall_s)(const struct io *);
	enum status (*set_signals)(struct io *, io_signalled *, void *);
	enum status (*listen)(struct io *, const struct address *, io_accepted *, void *,
			      struct io_listener **, struct reason *);
	void (*listener_address)(const struct io_listener *, struct address *);
	void (*listener_close)(struct io_listener *);
	enum status (*connect)(struct io *, const struct address *, const struct stream_events *,
			       void *, struct stream **);
	enum status (*timer_create)(struct io *, io_called *, void *, struct io_timer **);
	void (*timer_start)(struct io_timer *, uint64_t);
	void (*timer_destroy)(struct io_timer *);
};

/* Per stream, not per loop: one loop has sockets, WebSockets, and TLS over either. */
struct stream_ops {
	void (*start)(struct stream *, const struct stream_events *, void *);
	enum status (*write)(struct stream *, struct frame *const[], uint32_t);
	size_t (*queued)(const struct stream *);
	void (*resume)(struct stream *);
	void (*finish)(struct stream *);
	void (*close)(struct stream *);
	void (*peer)(const struct stream *, struct peer *);
};

/* Each struct below is the first member of the implementation's own struct. */
struct io {
	const struct io_ops *ops;
	struct io_limits limits;
	struct io_counters counters;
	io_called *flush; /* may be NULL */
	void *flush_context;
};
struct io_listener {
	struct io *io;
};
struct stream {
	struct io *io;
	const struct stream_ops *ops;
	void *context;			    /* the owner's */
	const struct stream_events *events; /* NULL until started */
};
struct io_timer {
	struct io *io;
};

#endif
