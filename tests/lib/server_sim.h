/* server_sim.h: the whole daemon on the simulated twin, with scripted clients that exchange real
 * bytes.
 *
 *	struct server_sim ── server (server_create on io_sim and its executor, inline, virtual clock)
 *	                  ── truth: every state of every world, read after every event
 *	                  ── clients: each a host of its own, a stream, mirrors, delayed ACKs
 *
 * Everything follows from one seed, printed first: delays, torn reads and writes, the order of
 * threads, and which of them makes the steps on request. A client packs and unpacks with protocol/,
 * has a mirror per subscription, checks its hashes and compares every complete frame with the
 * truth, bit for bit. Errors are counted; server_sim_sound returns whether there were any.
 *
 * Memory: with `fail_in` the daemon's n-th allocation from now fails (allocations of the simulation
 * and of clients never do). */
#ifndef CAIRN_TESTS_SERVER_SIM_H
#define CAIRN_TESTS_SERVER_SIM_H

#include "protocol/area.h"
#include "protocol/capabilities.h"
#include "protocol/handshake.h"
#include "protocol/mirror.h"
#include "protocol/result_wire.h"
#include "server/base/rng.h"
#include "server/server.h"
#include "tests/lib/io_sim.h"

enum { SERVER_SIM_CLIENTS_MAX = 250, SIM_SUBSCRIPTIONS_MAX = 8, SIM_WORLDS_MAX = 64 };

#define SIM_TCP "tcp:127.0.0.1:7411"
#define SIM_UNIX "unix:/sim/cairnd.sock"
/* The daemon's own user; a peer on the Unix socket has this one (an administrator). */
#define SIM_UID 1000

/* Which thread makes steps on request in small worlds: drawn from the seed, always a worker, or
 * LOOP where it may. */
enum sim_stepper { SIM_STEPPER_DRAWN, SIM_STEPPER_WORKER, SIM_STEPPER_LOOP };

struct server_sim_options {
	struct io_sim_options io;
	const char *arguments[16]; /* further options of cairnd; NULL ends them */
	enum sim_stepper stepper;
	bool one_tick_a_slice; /* of a worker; false: drawn from the seed */
	bool truth;	       /* keep states and compare mirrors with them */
};
/* io_sim's defaults; quiet logs; the truth is kept. */
struct server_sim_options server_sim_options_default(uint64_t seed);

/* The state of a world at (epoch, tick). */
struct sim_state {
	uint64_t tick, tick_hash;
	uint32_t epoch, edit, count;
	struct wire_body *bodies; /* owned, with their shapes */
	uint32_t joint_count;
	struct wire_joint *joints; /* owned */
	uint32_t particle_count;
	struct particle_row *particles; /* owned */
};
struct sim_truth {
	uint32_t world;
	ARRAY_OF(struct sim_state) states;
};

struct sim_client;

struct server_sim {
	struct io_sim *sim;
	struct server *server; /* NULL once it has ended */
	struct options *options;
	struct frame_pool *frames; /* of the clients */
	struct rng rng;		   /* for scripts */
	bool keeps_truth;
	ARRAY_OF(struct sim_truth) truths;
	struct sim_client *clients[SERVER_SIM_CLIENTS_MAX];
	uint32_t client_count;
	ARRAY_OF(struct sim_client *)
	ghosts;		       /* at the ends of connections that clients have left */
	uint64_t fail_in;      /* allocations of the daemon until the failing one; 0: none fails */
	bool failed;	       /* the allocation has failed */
	uint64_t calls_before; /* of the heap, before the daemon's present turn */
	uint64_t daemon_calls; /* allocating calls of the daemon so far */
	/* Errors of all clients together. */
	uint64_t malformed;	 /* frames that cannot be read, or larger than agreed */
	uint64_t diverged;	 /* hashes that differ */
	uint64_t false_states;	 /* mirrors that differ from the world at that tick */
	uint64_t unknown_states; /* complete frames of a state that the truth lacks */
	/* Activity. */
	uint64_t compared;
};

/* Creates and starts the daemon. A failure ends the program (unless an allocation was made to fail:
 * then NULL). */
struct server_sim *server_sim_create(const struct server_sim_options *options);
/* The same with allocation `fail_in` of the daemon failing, counted from its creation. */
struct server_sim *server_sim_create_failing(const struct server_sim_options *options,
					     uint64_t fail_in);
void server_sim_destroy(struct server_sim *self);
/* Ends the daemon at once; the clients' connections are reset. */
void server_sim_end(struct server_sim *self);
/* Starts another daemon at the same address, with files in `data` (borrowed; NULL: as before). The
 * states of the previous daemon's worlds are kept until server_sim_forget. Ends the program if the
 * start fails. */
void server_sim_begin(struct server_sim *self, const char *data);
/* Drops all states of the truth; it begins again with the present ones. */
void server_sim_forget(struct server_sim *self);
bool server_sim_step(struct server_sim *self);
/* Runs for `ns` of virtual time. */
void server_sim_run(struct server_sim *self, uint64_t ns);
/* Runs until `done`; false if that takes more than `ns`. */
MUST_CHECK bool server_sim_until(struct server_sim *self, bool (*done)(void *context),
				 void *context, uint64_t ns);
/* SIGTERM: drains, runs until the daemon stops (false: not within `ns`), and destroys it. */
MUST_CHECK bool server_sim_drain(struct server_sim *self, uint64_t ns);
/* Whether no error was counted; prints the errors. */
bool server_sim_sound(const struct server_sim *self);
uint64_t server_sim_now(const struct server_sim *self);
/* The state that a world had; NULL if it never had it. */
const struct sim_state *server_sim_state(const struct server_sim *self, uint32_t world,
					 uint32_t epoch, uint64_t tick);
/* Whether a world had that tick hash at that tick, in any epoch. */
bool server_sim_was(const struct server_sim *self, uint32_t world, uint64_t tick, uint64_t edit,
		    uint64_t tick_hash);
/* The engine's world with this number, NULL if there is none. */
struct world *server_sim_world(const struct server_sim *self, uint32_t world);

/* ---- clients --------------------------------------------------------------------------------- */

struct sim_client_options {
	const char *address; /* SIM_TCP: a controller; SIM_UNIX: an administrator */
	const char *role;    /* a lower role than the default */
	const char *token;   /* to present; NULL none; borrowed */
	uint32_t caps;
	uint32_t frame_down;	/* 0: the maximum */
	uint64_t ack_delay_max; /* ns; drawn for each frame, order kept */
	bool raw;		/* sends nothing by itself, not even HELLO */
	bool no_acks;
	bool resumes;	     /* offers the capability to resume */
	wire_mask joints;    /* columns of joints that its subscriptions ask for from now on */
	wire_mask particles; /* the same of particles */
	uint32_t sample;     /* of particles; 0: 1 */
};
struct sim_client_options sim_client_options_default(void);

struct sim_subscription {
	uint64_t sub;
	uint32_t world;
	struct mirror mirror;
	bool lost;     /* RESYNC was sent */
	bool snapshot; /* the last or current frame is a SNAPSHOT */
	uint64_t frames, snapshots, events, event_kinds, last_at;
	uint64_t skipped, events_lost; /* as in NOTICE */
	uint32_t divisor;
	uint32_t sample; /* of particles */
	/* For a part of the world. */
	bool part, partial; /* it watches a part; its last frame was partial */
	struct wire_area areas[WIRE_AREAS_MAX];
	uint32_t area_count, follow[8], follow_count;
	/* Time of the PING sent behind a FOCUS; the FOCUS is in transit until the PONG and one more
	 * frame have come. */
	uint64_t focus_t;
	uint32_t focus_frames;
};

/* A received message, except frames of state and PING. */
struct sim_received {
	struct bytes content; /* owned */
	struct message message;
	uint64_t at;
};

struct sim_result {
	uint32_t world;
	uint64_t batch, tick, edit;
	enum status code;
	int64_t index;
	uint32_t value_count;
	uint32_t *values; /* owned */
	uint32_t arrivals;
	char field[33];
};

struct sim_ack {
	uint64_t sub, epoch, tick, edit, due;
};

struct sim_client {
	struct server_sim *owner;
	uint32_t index;
	struct sim_client_options options;
	struct io *io;
	struct stream *stream; /* NULL: gone */
	struct io_timer *timer;
	struct handshake handshake;
	bool open;    /* WELCOME was received */
	bool refused; /* a resume was refused */
	uint8_t token[16];
	uint32_t token_bytes, session, resumes;
	bool closed;			 /* the connection is closed */
	enum status closed_why, goodbye; /* GOODBYE's code, OK: none was received */
	struct bytes in;
	ARRAY_OF(struct sim_received) received;
	uint32_t looked; /* sim_wait continues from here */
	ARRAY_OF(struct sim_result) results;
	struct sim_subscription subscriptions[SIM_SUBSCRIPTIONS_MAX];
	uint32_t subscription_count;
	ARRAY_OF(struct sim_ack) acks;
	uint64_t ack_at; /* later ACKs are not due before this */
	uint64_t next_ref;
	uint64_t batches[SIM_WORLDS_MAX], steps[SIM_WORLDS_MAX]; /* last numbers used, by world */
	uint64_t bytes_in, errors, resyncs;
	uint64_t durable_tick; /* of the world that reported last */
	uint32_t durable_epoch;
	struct sim_durable {
		uint32_t epoch;
		uint64_t tick, edit;
	} durable[SIM_WORLDS_MAX];
};

/* Connects and sends HELLO; does not wait. */
struct sim_client *server_sim_client(struct server_sim *self,
				     const struct sim_client_options *options);
/* The same, and waits until the session is open; a refusal ends the program. */
struct sim_client *server_sim_guest(struct server_sim *self,
				    const struct sim_client_options *options);
void sim_send(struct sim_client *self, const struct message *message);
void sim_send_bytes(struct sim_client *self, const void *bytes, size_t count);
/* Bytes as the content of one frame. */
void sim_send_content(struct sim_client *self, const void *bytes, size_t count);
void sim_disconnect(struct sim_client *self);
void sim_vanish(struct sim_client *self);
void sim_stall(struct sim_client *self, bool stalled);

/* Waits for the answer to a request: that message, or an ERROR about it; NULL if none arrives
 * within half a minute of virtual time or the connection ends. Borrowed until the next call on the
 * client. */
const struct message *sim_wait(struct sim_client *self, enum message_type answer, uint64_t ref);
const struct message *sim_ask(struct sim_client *self, const struct message *request,
			      enum message_type answer);
/* The same if only the status matters: OK, the ERROR's code, or CLOSED. */
enum status sim_try(struct sim_client *self, const struct message *request,
		    enum message_type answer);
uint64_t sim_ref(struct sim_client *self);
/* Whether a message other than ERROR answers the request with that ref. */
bool sim_answers(const struct message *message, uint64_t ref);
/* The first ERROR with this ref since the client was created, NULL none. */
const struct msg_error *sim_error(const struct sim_client *self, uint64_t ref);

/* ---- shortcuts; an unexpected failure ends the program ----------------------------------- */

/* Creates a paused world with option pairs (packed; NULL none) and joins it. */
uint32_t sim_make_world(struct sim_client *self, const char *name, const struct wire_list *options);
void sim_join(struct sim_client *self, uint32_t world);
enum status sim_control(struct sim_client *self, uint32_t world, enum wire_control action,
			double value);
/* Does not wait. */
struct sim_subscription *sim_subscribe(struct sim_client *self, uint64_t sub, uint32_t world,
				       wire_mask fields, enum wire_profile profile,
				       uint32_t divisor, uint64_t events);
/* Subscribes to a part of the world, with a budget or 0. Does not wait. */
struct sim_subscription *sim_subscribe_part(struct sim_client *self, uint64_t sub, uint32_t world,
					    wire_mask fields, enum wire_profile profile,
					    uint64_t events, uint64_t budget,
					    const struct wire_area *areas, uint32_t area_count,
					    const uint32_t *follow, uint32_t follow_count);
/* FOCUS on another part. */
void sim_focus(struct sim_client *self, struct sim_subscription *subscription,
	       const struct wire_area *areas, uint32_t area_count, const uint32_t *follow,
	       uint32_t follow_count);
/* Abandons the connection, if there is one, and resumes on another; does not wait. */
void sim_resume(struct sim_client *self);
/* The same, and waits; whether the resume was accepted. */
MUST_CHECK bool sim_resumed(struct sim_client *self);
/* NULL if the client has no such subscription. */
struct sim_subscription *sim_subscription(struct sim_client *self, uint64_t sub);
/* Sends the next batch for that world; returns its number. Does not wait. */
uint64_t sim_commands(struct sim_client *self, uint32_t world, const struct command *commands,
		      uint32_t count, uint64_t at, enum wire_late late);
/* The same with a given batch number. */
void sim_commands_as(struct sim_client *self, uint32_t world, uint64_t batch,
		     const struct command *commands, uint32_t count, uint64_t at,
		     enum wire_late late);
/* The known result of a batch; NULL: none yet. */
struct sim_result *sim_result(struct sim_client *self, uint32_t world, uint64_t batch);
/* Waits for a result; NULL if none arrives. */
struct sim_result *sim_await_result(struct sim_client *self, uint32_t world, uint64_t batch);
/* Uploads a shape of the catalogue (tests/lib/worlds.h) and waits. */
void sim_upload(struct sim_client *self, uint32_t world, int shape);
/* Sends STEP and waits for the answer (STEPPED or ERROR). */
const struct message *sim_step(struct sim_client *self, uint32_t world, uint32_t n, uint8_t want,
			       const struct command *commands, uint32_t count);
/* The present state hash, queried over the wire. The world must be paused. */
uint64_t sim_hash(struct sim_client *self, uint32_t world);
/* SPAWN of a point mass (or a body with the catalogue's sphere as shape id 1) with a tag. */
struct command sim_spawn(double x, double y, double z, int64_t tag, bool sphere);
/* Runs until the mirror is at its world's tick (the world must be paused); false: not in time. */
MUST_CHECK bool sim_caught_up(struct sim_client *self, uint64_t sub, uint64_t ns);

#endif
