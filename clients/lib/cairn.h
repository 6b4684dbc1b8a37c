/* cairn.h: the C client: connect to a cairnd, watch its worlds, command them. Computes no physics.
 *
 * One `struct cairn` is one connection, used by one thread. It sends and receives only inside
 * cairn_poll and the calls that wait; messages that answer no request go to the callbacks. Typical
 * use:
 *
 * *       cairn_connect("unix:/run/cairnd.sock", NULL, &client, &why); *  cairn_join(client,
 * "demo", &world, &why); *     cairn_subscribe(client, &(struct cairn_subscription){ .sub = 1,
 * .world = world.number }, &why); *       while (cairn_poll(client, 1000, &why) == STATUS_OK) *
 * draw(cairn_mirror(client, 1));
 *
 * The client acknowledges frames, applies them to one mirror for each subscription and checks the
 * hash that they carry: the tick hash for an `exact` subscription to a whole world, otherwise the
 * view hash. A hash that differs is reported to `diverged`; a mirror that cannot apply a DELTA
 * requests a RESYNC.
 *
 * A call that fails returns a status and fills `why` (may be NULL everywhere); a refusal by the
 * server has the server's status and text. Results point into the client's buffer: they are
 * borrowed until the next call.
 * */
#ifndef CAIRN_CLIENTS_LIB_CAIRN_H
#define CAIRN_CLIENTS_LIB_CAIRN_H

#include "protocol/area.h"
#include "protocol/group_wire.h"
#include "protocol/message.h"
#include "protocol/mirror.h"
#include "protocol/query_wire.h"
#include "protocol/result_wire.h"
#include "server/base/status.h"
#include "server/engine/world/command.h"

struct cairn;

enum { CAIRN_TIMEOUT_MS = 10000 };

/* Each may be NULL. */
struct cairn_callbacks {
	/* The mirror of a subscription has reached a new state. */
	void (*frame)(void *context, uint64_t sub, const struct mirror *mirror);
	void (*event)(void *context, uint64_t sub, uint64_t tick, const struct event *event);
	/* The result of a batch. */
	void (*result)(void *context, uint32_t world, const struct wire_result *result);
	void (*durable)(void *context, uint32_t world, uint64_t epoch, uint64_t tick,
			uint64_t edit);
	void (*notice)(void *context, const struct msg_notice *notice);
	/* A world changed mode, pace or epoch. */
	void (*world)(void *context, const struct msg_world_info *info);
	/* A message that some client sent, reported by MONITOR. */
	void (*monitor)(void *context, const struct msg_monitor_line *line);
	/* The mirror's hash differs from the server's: the replica is wrong. */
	void (*diverged)(void *context, uint64_t sub, uint64_t tick);
	void *context;
};

struct cairn_options {
	const char *name;	 /* of the program, for the server's log */
	enum wire_role role;	 /* WIRE_ROLE_NOBODY: the highest that the server grants */
	const char *tls_trusted; /* file of certificates to trust (PEM); NULL: the system's */
	const char *token;	 /* as its issuer gave it; NULL: none */
	uint32_t caps;		 /* bits of enum wire_cap; 0: all */
	uint32_t frame_down;	 /* largest frame to receive, bytes; 0: 1 MiB */
	uint32_t timeout_ms;	 /* of every call that waits; 0: CAIRN_TIMEOUT_MS */
	bool no_acks;		 /* for tests: frames are not acknowledged */
	bool resumes;		 /* the server keeps the session for cairn_resume */
	struct cairn_callbacks callbacks;
};

/* `address`: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT. Waits for
 * WELCOME. */
MUST_CHECK enum status cairn_connect(const char *address, const struct cairn_options *options,
				     struct cairn **out, struct reason *why);
/* Closes the connection and frees the client. A resumable session ends too. NULL is ignored. */
void cairn_close(struct cairn *self);
/* After CLOSED, IO, SLOW or a redirect: connects again (to the address that GOODBYE gave, otherwise
 * to the same one) and resumes the session. Mirrors, the numbers of batches and STEPs, and the
 * ownership of bodies are kept; batches without a result are sent again under their numbers, and so
 * is the last FOCUS; a request that was waiting must be repeated by the caller. EXPIRED: the server
 * no longer has the session; only cairn_close may follow. After other errors cairn_resume may be
 * called again, cairn_retry_ms later. */
MUST_CHECK enum status cairn_resume(struct cairn *self, struct reason *why);
/* The delay before a reconnect that the last GOODBYE requested, ms; 0: none. */
uint32_t cairn_retry_ms(const struct cairn *self);

struct cairn_session {
	uint32_t number;
	enum wire_role role;
	uint32_t caps;
	char server[64], build[64], abi[64];
	struct wire_limits limits;
};
const struct cairn_session *cairn_session(const struct cairn *self);
/* For poll(2) beside other descriptors; call cairn_poll(…, 0, …) when it is readable. */
int cairn_fd(const struct cairn *self);

/* Sends queued bytes, handles received messages and runs callbacks. OK: bytes were sent or
 * received, or a message was handled; AGAIN: nothing within `timeout_ms`; otherwise the connection
 * has ended, with the status of GOODBYE (SLOW, DRAINING …) if the server sent one, or the server
 * refused an earlier message. */
MUST_CHECK enum status cairn_poll(struct cairn *self, int timeout_ms, struct reason *why);

/* ---- messages
 * ------------------------------------------------------------------------------------ */

/* Queues a message; the next cairn_poll sends it. */
MUST_CHECK enum status cairn_send(struct cairn *self, const struct message *message,
				  struct reason *why);
/* A new number for the ref, id or request of a message. */
uint64_t cairn_next_ref(struct cairn *self);
/* Sends a request and waits for its answer: a message of type `answer` with the same ref, or an
 * ERROR, which becomes the status of the call. *out borrows from the client. */
MUST_CHECK enum status cairn_request(struct cairn *self, const struct message *request,
				     enum message_type answer, struct message *out,
				     struct reason *why);

/* ---- worlds
 * -------------------------------------------------------------------------------------- */

struct cairn_world {
	uint32_t number;
	char name[WIRE_NAME_MAX + 1];
	char method[WIRE_NAME_MAX + 1];
	uint64_t epoch, tick, bodies;
	enum wire_mode mode;
	struct wire_rate rate;
};
/* Writes at most `capacity` worlds; *count is the number of worlds on the server. */
MUST_CHECK enum status cairn_worlds(struct cairn *self, struct cairn_world *worlds,
				    uint32_t capacity, uint32_t *count, struct reason *why);
/* `options`: packed pairs of WORLD_CREATE (docs/PROTOCOL.md), or NULL. */
MUST_CHECK enum status cairn_create(struct cairn *self, const char *name,
				    const struct wire_list *options, struct cairn_world *out,
				    struct reason *why);
struct cairn_scene {
	char name[WIRE_NAME_MAX + 1];
	char title[256];
	uint64_t bytes;
};
/* Calls `each` for every scene of the server's folder, in order of names. UNSUPPORTED: it has none. */
MUST_CHECK enum status cairn_scenes(struct cairn *self,
				    void (*each)(void *context, const struct cairn_scene *scene),
				    void *context, struct reason *why);
struct scene_options; /* protocol/scene/scene.h */
/* Makes a world `name` of a scene of that folder. *notes (borrowed; may be NULL): what it asks for and
 * does not get. */
MUST_CHECK enum status cairn_open_scene(struct cairn *self, const char *name, const char *scene,
					const struct scene_options *options, bool running,
					struct cairn_world *out, struct wire_slice *notes,
					struct reason *why);
MUST_CHECK enum status cairn_join(struct cairn *self, const char *name, struct cairn_world *out,
				  struct reason *why);
MUST_CHECK enum status cairn_destroy(struct cairn *self, uint32_t world, struct reason *why);
MUST_CHECK enum status cairn_control(struct cairn *self, uint32_t world, enum wire_control action,
				     double value, struct cairn_world *out, struct reason *why);

/* ---- shapes and commands
 * ------------------------------------------------------------------------- */

/* Uploads canonical bytes (server/engine/geometry/shape.h); `name` gets their SHA-256. A player
 * may not upload: for its session only the name is computed, by which SHAPE_USE finds a shape
 * that the world has. */
MUST_CHECK enum status cairn_shape(struct cairn *self, uint32_t world, const uint8_t *canonical,
				   size_t bytes, struct name32 *name, struct reason *why);

/* Sends a batch for tick `at`; *batch is its number. Its result goes to the callback; a batch whose
 * result is WAITING (for its tick) has a second result later. */
#define CAIRN_NEXT_TICK ((struct wire_option){ false, 0 })
MUST_CHECK enum status cairn_commands(struct cairn *self, uint32_t world,
				      const struct command *commands, uint32_t count,
				      struct wire_option at, enum wire_late late, uint64_t *batch,
				      struct reason *why);
/* The status of a result; if the batch was refused, `why` gets its index, field and text. */
enum status cairn_result_status(const struct wire_result *result, struct reason *why);
/* Like cairn_commands for the next tick, but waits for the result and returns cairn_result_status.
 * *result borrows from the client. */
MUST_CHECK enum status cairn_apply(struct cairn *self, uint32_t world,
				   const struct command *commands, uint32_t count,
				   struct wire_result *result, struct reason *why);

struct cairn_step {
	uint32_t n;
	const struct command *commands;
	uint32_t command_count;
	uint8_t want; /* enum wire_want bits */
	struct wire_option from;
	/* Names of moments, states in the server's memory: to return to before the commands, and
	 * to keep the state after the ticks as (not kept: STEPPED's code says why). NULL or "":
	 * none. */
	const char *restore, *save;
};
/* One round trip. *out (MESSAGE_STEPPED) borrows from the client. The status does not tell whether
 * the batch was refused: read the results and pass them to cairn_result_status. */
MUST_CHECK enum status cairn_step(struct cairn *self, uint32_t world, const struct cairn_step *step,
				  struct message *out, struct reason *why);

/* Applies a batch in a world of any mode, as `world->mode` says: a running world at its next
 * tick (cairn_apply), any other at once and without a tick (a STEP of 0 ticks, which a player
 * may not send: its commands wait for the next tick). */
MUST_CHECK enum status cairn_apply_now(struct cairn *self, const struct cairn_world *world,
				       const struct command *commands, uint32_t count,
				       struct wire_result *result, struct reason *why);

/* `at` is called now and then: `done` of `total` shapes' bytes ("shapes") or commands ("bodies")
 * are sent. */
struct cairn_progress {
	void (*at)(void *context, const char *what, uint64_t done, uint64_t total);
	void *context;
	/* Once, if a robot file asks for what it does not get: lines "FILE:LINE: …"; may be
	 * NULL. */
	void (*notes)(void *context, const char *text);
};
/* Reads a scene file, or a robot file with `options` (may be NULL), and sends its shapes, bodies
 * and joints to a world, which is created with the scene's options if it does not exist.
 * `progress` may be NULL. *world is the world afterwards. */
MUST_CHECK enum status cairn_load(struct cairn *self, const char *name, const char *path,
				  const struct scene_options *options,
				  const struct cairn_progress *progress, struct cairn_world *world,
				  struct reason *why);

struct cairn_group {
	const uint32_t *worlds; /* numbers of `count` worlds, joined and not running */
	uint32_t count;
	uint32_t n, steps; /* ticks after each action; actions of each world, 0: 1 */
	struct wire_list
		actions;      /* packed commands with nil in the place of numbers (group_wire.h) */
	const double *values; /* these numbers, by world, step, command */
	uint32_t value_count;
	struct wire_list observe; /* packed parts (group_wire.h) */
	bool hash;		  /* with state hashes */
};
/* Steps many worlds in one round trip. *out (MESSAGE_STEPPED_WORLDS) borrows from the client: read
 * its worlds with group_item_take, and its observations with cairn_observed. The status is that of
 * the whole; a world that was refused has a code of its own. */
MUST_CHECK enum status cairn_step_worlds(struct cairn *self, const struct cairn_group *group,
					 struct message *out, struct reason *why);
/* Number `index` of the observations of a STEPPED_WORLDS: ((world · steps) + step) · width + i. 0
 * beyond the end. */
double cairn_observed(const struct message *stepped, uint64_t index);

MUST_CHECK enum status cairn_save(struct cairn *self, uint32_t world, const char *name,
				  struct message *out, struct reason *why);
MUST_CHECK enum status cairn_restore(struct cairn *self, uint32_t world, const char *name,
				     struct message *out, struct reason *why);
/* The same for a moment: a state in the server's memory, for rollbacks. */
MUST_CHECK enum status cairn_save_moment(struct cairn *self, uint32_t world, const char *name,
					 struct message *out, struct reason *why);
MUST_CHECK enum status cairn_restore_moment(struct cairn *self, uint32_t world, const char *name,
					    struct message *out, struct reason *why);
/* `snapshot`: the name of a saved state; "" or NULL: the current state. */
MUST_CHECK enum status cairn_fork(struct cairn *self, uint32_t world, const char *name,
				  const char *snapshot, struct message *out, struct reason *why);
/* A tick of a world's past; epoch 0: the last epoch that has it. */
struct cairn_tick {
	uint64_t tick;
	uint32_t epoch;
	const char *recording; /* of the world, in place of its past; NULL: none */
};
MUST_CHECK enum status cairn_restore_tick(struct cairn *self, uint32_t world,
					  struct cairn_tick tick, struct message *out,
					  struct reason *why);
MUST_CHECK enum status cairn_fork_tick(struct cairn *self, uint32_t world, const char *name,
				       struct cairn_tick tick, struct message *out,
				       struct reason *why);
/* Shows a tick of the past in a subscription, or plays from there: `speed` is world time per
 * wall time, negative backward. NULL: the present again. *out (MESSAGE_SOUGHT) comes before the
 * first such frame. */
MUST_CHECK enum status cairn_seek(struct cairn *self, uint64_t sub, const struct cairn_tick *tick,
				  double speed, struct message *out, struct reason *why);
/* RECORD (PROTOCOL.md): recordings of a world on the server. *out is MESSAGE_RECORDED. */
struct cairn_recording {
	uint32_t world;
	enum wire_record action;
	const char *name, *title; /* title: NULL none */
	bool has_from;		  /* save: from that tick on */
	struct cairn_tick from;
	uint64_t seconds, bytes, offset;
	struct wire_slice data;
};
MUST_CHECK enum status cairn_record(struct cairn *self, const struct cairn_recording *recording,
				    struct message *out, struct reason *why);
MUST_CHECK enum status cairn_ask(struct cairn *self, uint32_t world, const struct wire_query *query,
				 struct message *out, struct reason *why);
/* `what`: "server", "worlds" or "" for both; *out (MESSAGE_REPLY). */
MUST_CHECK enum status cairn_info(struct cairn *self, const char *what, struct message *out,
				  struct reason *why);

/* The colours of the bodies from id `from` on, as runs of consecutive ids: one page, into an
 * array of CAIRN_RUNS_MAX. A full page may be followed by another one, from its last id + 1 on. */
enum { CAIRN_RUNS_MAX = 1024 };
struct cairn_run {
	uint32_t first, count, colour; /* 0xRRGGBB */
};
MUST_CHECK enum status cairn_colours(struct cairn *self, uint32_t world, uint32_t from,
				     struct cairn_run *runs, uint32_t *count, struct reason *why);

/* A shape that pictures show of a body in place of its own. */
struct cairn_look {
	uint32_t body;
	struct name32 shape;
	vec3 position; /* m, body axes */
	quat rotation; /* shape axes to body axes */
	bool coloured; /* it has a colour of its own */
	uint32_t colour;
};
/* The visuals of the bodies from id `from` on: one page of whole bodies, into an array of
 * CAIRN_VISUALS_MAX. The next page begins after the last body; an empty one is the last. */
enum { CAIRN_VISUALS_MAX = 2 * VISUALS_MAX };
MUST_CHECK enum status cairn_visuals(struct cairn *self, uint32_t world, uint32_t from,
				     struct cairn_look *visuals, uint32_t *count,
				     struct reason *why);

/* The name of a body or joint. */
struct cairn_named {
	uint32_t id;
	char text[LABEL_BYTES];
};
/* The names of bodies, or of joints, with ids from `from` on: one page, into an array of
 * CAIRN_LABELS_MAX. The next page begins after the last id; an empty one is the last. */
enum { CAIRN_LABELS_MAX = 1024 };
MUST_CHECK enum status cairn_labels(struct cairn *self, uint32_t world, bool joints, uint32_t from,
				    struct cairn_named *labels, uint32_t *count,
				    struct reason *why);

/* ---- subscriptions
 * ------------------------------------------------------------------------------- */

/* A part of a world: the bodies in any of the areas, and the followed bodies at any place. Borrowed
 * for the call. */
struct cairn_sight {
	const struct wire_area *areas; /* protocol/area.h */
	uint32_t area_count;
	const uint32_t *follow;
	uint32_t follow_count;
};
struct cairn_subscription {
	uint64_t sub; /* the caller's number, not 0 */
	uint32_t world;
	uint16_t fields; /* columns; 0: all except contacts, which are large */
	enum wire_profile profile;
	uint32_t divisor;   /* 0: 1 */
	uint64_t events;    /* mask of kinds */
	uint64_t budget;    /* bytes a second; 0: no limit */
	uint16_t joints;    /* columns of joints (protocol/joint_rows.h); 0: none */
	uint16_t particles; /* of particles (protocol/particle_columns.h); 0: none */
	uint32_t sample;    /* particles whose serial number is a multiple of it; 0: 1, all */
	const struct cairn_sight *sight; /* NULL: the whole world */
};
enum {
	CAIRN_SUBSCRIPTIONS_MAX = 64,
	CAIRN_BODIES_MAX = 1 << 20,
	CAIRN_JOINTS_MAX = 1 << 20,
	CAIRN_PARTICLES_MAX = 1 << 20
};
/* Does not wait: a refusal is the status of a later cairn_poll; the first frame arrives as a
 * callback. */
MUST_CHECK enum status cairn_subscribe(struct cairn *self, const struct cairn_subscription *ask,
				       struct reason *why);
/* Replaces the areas and followed bodies (NULL: the whole world); cheap enough for every move of a
 * camera. A refusal is the status of a later cairn_poll. */
MUST_CHECK enum status cairn_focus(struct cairn *self, uint64_t sub,
				   const struct cairn_sight *sight, struct reason *why);
MUST_CHECK enum status cairn_unsubscribe(struct cairn *self, uint64_t sub, struct reason *why);
/* NULL for a number that is not subscribed. */
const struct mirror *cairn_mirror(const struct cairn *self, uint64_t sub);

#endif
