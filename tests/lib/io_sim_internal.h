/* io_sim_internal.h: declarations shared by the files of the simulated twin. */
#ifndef CAIRN_TESTS_IO_SIM_INTERNAL_H
#define CAIRN_TESTS_IO_SIM_INTERNAL_H

#include "server/base/ring.h"
#include "server/base/rng.h"
#include "tests/lib/io_sim.h"

/* A target of events; the last event frees it once its owner has released it. */
struct sim_object {
	uint32_t refs;
	void (*destroy)(void *object);
};

typedef void sim_fire(struct io_sim *sim, void *target, uint64_t argument);

struct sim_event {
	uint64_t at;
	uint64_t tie; /* drawn: the order among events of one instant */
	uint64_t serial;
	sim_fire *fire;
	struct sim_object *target; /* a reference; the first member of what `fire` gets */
	uint64_t argument;
	uint32_t actor;
};

/* An actor runs events, one at a time: a host, or a thread of the executor other than LOOP. */
enum { SIM_ACTORS = IO_SIM_HOSTS_MAX + EXECUTOR_THREADS_MAX };

struct sim_host {
	struct io io;
	struct sim_object object;
	struct io_sim *sim;
	uint32_t index;
	bool stopped;
	bool flush_due; /* an event for it is scheduled */
	io_signalled *signalled;
	void *signal_context;
};

struct sim_seat {
	struct sim_object object;
	struct io_sim *sim;
	enum executor_thread thread;
	struct ring posts;
	struct wakeup *wakeups_first, *wakeups_last;
	uint32_t wakeup_count; /* in that list */
	bool turn_due;
	bool running;
	bool ended;
	executor_work *due;
	void *due_context;
	uint64_t alarm_at;
	uint64_t alarm_generation;
	uint64_t accepted, refused, wakeups_made;
	uint32_t depth_max;
};

struct sim_executor {
	struct executor executor;
	struct io_sim *sim;
	struct parallel parallel;
	struct sim_seat seats[EXECUTOR_THREADS_MAX];
};

struct io_sim {
	struct io_sim_options options;
	struct rng rng;
	uint64_t now;
	uint64_t spent; /* by the current event */
	uint32_t actor; /* of the current event; SIM_ACTORS: none */
	uint64_t busy_until[SIM_ACTORS];
	struct sim_event *events; /* a heap */
	uint32_t event_count, event_capacity;
	uint64_t serial, fired, trace;
	struct sim_host *hosts[IO_SIM_HOSTS_MAX];
	struct sim_ear *ears;
	struct sim_link *links;
	uint16_t next_port;
	struct sim_executor executor;
};

static inline uint32_t sim_actor_of_thread(enum executor_thread thread)
{
	return thread == EXECUTOR_LOOP ? 0 : IO_SIM_HOSTS_MAX + (uint32_t)thread;
}

static inline struct sim_host *sim_host_of(const struct io *io)
{
	return (struct sim_host *)io;
}

/* Memory of the simulation itself. A test that makes an allocation fail means one of the daemon, so
 * a failure that occurs here is consumed by a second try, which succeeds. */
void *sim_realloc(void *block, size_t bytes);
/* `target` is referenced while the event waits. Most targets begin with their sim_object; hosts and
 * links begin with their public struct, and `fire` finds them from the member. */
void sim_schedule(struct io_sim *sim, uint32_t actor, uint64_t at, sim_fire *fire,
		  struct sim_object *target, uint64_t argument);
void sim_drop(struct sim_object *object);
/* 0 … max, both possible. */
uint64_t sim_draw(struct io_sim *sim, uint64_t max);
/* True with a probability of `thousandths` / 1000. */
bool sim_chance(struct io_sim *sim, uint32_t thousandths);
/* The instant as the current event sees it. */
uint64_t sim_now(const struct io_sim *sim);

/* Streams. */
enum status sim_listen(struct io *io, const struct address *address, io_accepted *accepted,
		       void *context, struct io_listener **out, struct reason *why);
void sim_listener_address(const struct io_listener *listener, struct address *out);
void sim_listener_close(struct io_listener *listener);
enum status sim_connect(struct io *io, const struct address *address,
			const struct stream_events *events, void *context, struct stream **out);
extern const struct stream_ops sim_stream_ops;
/* Closes everything that is open. */
void sim_network_end(struct io_sim *sim);

/* Threads. */
enum status sim_executor_init(struct io_sim *sim);
void sim_executor_release(struct io_sim *sim);

#endif
