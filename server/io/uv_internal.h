/* uv_internal.h: shared by the files that implement io_uv.h. */
#ifndef CAIRN_IO_UV_INTERNAL_H
#define CAIRN_IO_UV_INTERNAL_H

#include <uv.h>

#include "server/io/io.h"

enum { UV_SIGNALS = 4, UV_DISCARD_BYTES = 64 << 10 };

struct uv_write;
struct uv_link;

/* The loop. */
struct uv_io {
	struct io io;
	uv_loop_t loop;
	uv_prepare_t prepare; /* calls the flush; also keeps the loop alive */
	uv_signal_t signals[UV_SIGNALS];
	io_signalled *signalled;
	void *signal_context;
	bool signals_on;
	struct uv_link *links;	      /* every open stream, newest first */
	struct uv_write *writes_idle; /* write requests to use again */
	uint8_t discard[UV_DISCARD_BYTES];
};

enum uv_link_state {
	LINK_NEW,	/* accepted, its owner has not started it */
	LINK_OPEN,	/* reading; connecting counts as open */
	LINK_FINISHING, /* sending the queue, dropping incoming bytes */
	LINK_LINGERING, /* our half is closed, waiting for the peer's */
	LINK_CLOSING	/* waiting for libuv's close callbacks */
};

/* One stream. */
struct uv_link {
	/* First the members that each read and write uses. */
	struct stream stream;
	enum uv_link_state state;
	enum address_kind kind;
	bool reading;
	bool ended;  /* the peer has closed its half */
	bool tailed; /* a tail of a write is queued; `drained` is due */
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} uv;
	uv_timer_t linger;
	uv_connect_t connect;
	uv_shutdown_t shutdown;
	struct uv_link *next, *previous;
	enum status why;  /* for `closed` */
	uint32_t handles; /* number of open handles: the socket, the linger timer */
};

static inline struct uv_io *uv_io_of(struct io *io)
{
	return (struct uv_io *)io;
}

static inline struct uv_link *uv_link_of(const struct stream *stream)
{
	return (struct uv_link *)stream;
}

/* A stream without a connection, in state NEW and in the list. NULL: out of memory. */
struct uv_link *uv_link_create(struct uv_io *io, enum address_kind kind);
/* Sets the socket's options, once it is connected. */
void uv_link_tune(struct uv_link *link);
/* Begins to close with that status, unless it is closing already. */
void uv_link_end(struct uv_link *link, enum status why);
void uv_writes_free(struct uv_io *io);

enum status uv_listen_on(struct io *io, const struct address *address, io_accepted *accepted,
			 void *context, struct io_listener **out, struct reason *why);
void uv_listener_address(const struct io_listener *listener, struct address *out);
void uv_listener_close(struct io_listener *listener);
/* Fills a sockaddr; returns its length. */
uint32_t uv_sockaddr(const struct address *address, struct sockaddr_storage *out);

enum status uv_link_connect(struct io *io, const struct address *address,
			    const struct stream_events *events, void *context, struct stream **out);
extern const struct stream_ops uv_link_ops;

#endif
