/* cairn.h: a client of Cairn, for C and C++. It connects to a `cairnd`, commands its worlds and
 * sees their bodies. It computes no physics.
 *
 *	cairn_client *client;
 *	cairn_world *world;
 *	cairn_error error;
 *	if (cairn_client_open("tcp:127.0.0.1:7411", NULL, &client, &error) != CAIRN_STATUS_OK ||
 *	    cairn_client_join(client, "tower", &world, &error) != CAIRN_STATUS_OK)
 *		die(error.text);
 *	cairn_command push = cairn_command_make(CAIRN_COMMAND_IMPULSE);
 *	push.impulse.body = 7;
 *	push.impulse.impulse.y = 50;
 *	cairn_world_apply(world, &push, 1, NULL, &error);
 *
 * A function that can fail returns CAIRN_STATUS_OK or another number of enum cairn_status, and
 * fills `error` (which may be NULL everywhere). A refusal by the server has the server's number,
 * field and text, and the connection continues.
 *
 * One client is one connection and belongs to one thread. Its worlds belong to it. What a
 * function returns through a pointer to const is borrowed: it lasts until the next call with the
 * same client.
 *
 * Units are m, kg, s, rad and N. Vectors are in world axes unless said otherwise; y points up,
 * if gravity has its default. Quaternions turn body axes into world axes.
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn_manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

typedef struct cairn_error {
	int status;	/* enum cairn_status */
	int64_t index;	/* of the refused command in its list, or −1 */
	char field[32]; /* what was wrong; "" if no single field was */
	char text[160]; /* for a person */
} cairn_error;

/* "unknown_body", and a line for a person. Never NULL. */
CAIRN_API const char *cairn_status_name(int status);
CAIRN_API const char *cairn_status_text(int status);
/* The version of the library, e.g. "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* ---- the connection
 * ------------------------------------------------------------------------------ */

typedef struct cairn_connected cairn_client;
typedef struct cairn_joined cairn_world;
struct cairn_frame;
struct cairn_event;
struct cairn_value;

typedef struct cairn_client_options {
	const char *name;	 /* of the program, for the server's log; NULL: "libcairn" */
	const char *token;	 /* as its issuer gave it; NULL: none */
	const char *tls_trusted; /* file of certificates to trust (PEM); NULL: the system's */
	uint32_t timeout_ms;	 /* of every call that waits; 0: 10 000 */
	/* Called by cairn_client_poll and by the calls that wait; each may be NULL. They must
	 * not call a function with the same client, except those that only read it. */
	void (*frame)(void *context, cairn_world *world, const struct cairn_frame *frame);
	void (*event)(void *context, cairn_world *world, const struct cairn_event *event);
	void *context;
	bool resumes; /* the server keeps the session for cairn_client_resume, for 30 s */
} cairn_client_options;

/* `address`: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT.
 * `options` may be NULL. Ends with cairn_client_close, which also frees the client's worlds;
 * NULL is ignored. */
CAIRN_API int cairn_client_open(const char *address, const cairn_client_options *options,
				cairn_client **client, cairn_error *error);
CAIRN_API void cairn_client_close(cairn_client *client);
/* For poll(2) or epoll(7): readable if cairn_client_poll(client, 0, …) has something to do. */
CAIRN_API int cairn_client_fd(const cairn_client *client);
/* Handles what has arrived, waiting at most `timeout_ms` for the first of it.
 * CAIRN_STATUS_AGAIN: nothing arrived; call it until then, because an edge-triggered loop is
 * told once. Others than CAIRN_STATUS_OK and CAIRN_STATUS_AGAIN end the connection, or report
 * that the server refused an earlier cairn_world_watch. */
CAIRN_API int cairn_client_poll(cairn_client *client, int timeout_ms, cairn_error *error);

/* After a call has returned that the connection has ended, for a client opened with `resumes`:
 * connects again, to the address that the server gave when it ended the connection, or to the same
 * one. Handles, watched worlds with their areas, and the ownership of bodies are kept; commands
 * without a result are sent again and applied once; the call that failed is the caller's to repeat.
 * CAIRN_STATUS_EXPIRED: the server no longer has the session; only cairn_client_close may follow.
 * After other errors it may be called again. */
CAIRN_API int cairn_client_resume(cairn_client *client, cairn_error *error);
/* ms to wait before cairn_client_resume, as the server asked when it ended the connection; 0:
 * none. */
CAIRN_API uint32_t cairn_client_retry_ms(const cairn_client *client);

typedef struct cairn_client_info {
	uint32_t session;   /* its number on the server: the owner of what it spawns as a player */
	uint32_t role;	    /* 1 observer, 2 player, 3 controller, 4 admin */
	const char *server; /* its name and build */
	const char *build;
} cairn_client_info;
CAIRN_API cairn_client_info cairn_client_facts(const cairn_client *client);

/* ---- worlds
 * -------------------------------------------------------------------------------------- */

enum cairn_mode {
	CAIRN_RUNNING = 0,
	CAIRN_PAUSED = 1,
	CAIRN_LOCKSTEP = 2,
	CAIRN_BARRIER = 3,
	CAIRN_FAILED = 4
};

typedef struct cairn_world_info {
	uint32_t number;
	const char *name;
	const char *method;
	uint64_t epoch, tick, bodies;
	int mode;				   /* enum cairn_mode */
	uint32_t rate_numerator, rate_denominator; /* ticks per second */
} cairn_world_info;

typedef struct cairn_world_options {
	const char *method;			   /* NULL: "soft-step" */
	uint32_t rate_numerator, rate_denominator; /* ticks per second; 0: 60 and 1 */
	bool gravity_given;			   /* else 0, −9.81, 0 */
	cairn_vec3 gravity;
	bool seed_given; /* else 1 */
	uint64_t seed;
	bool planar;
	bool running; /* else the world waits for cairn_world_step */
} cairn_world_options;

/* `options` may be NULL. The client has joined the new world. */
CAIRN_API int cairn_client_create(cairn_client *client, const char *name,
				  const cairn_world_options *options, cairn_world **world,
				  cairn_error *error);
CAIRN_API int cairn_client_join(cairn_client *client, const char *name, cairn_world **world,
				cairn_error *error);
/* Sends the shapes, bodies and joints of a scene file (cairn-scene(5)) to a world, which is
 * created if it does not exist; it then has the tick and the hashes of `cairnd --scene`. */
CAIRN_API int cairn_client_load(cairn_client *client, const char *name, const char *path,
				cairn_world **world, cairn_error *error);
/* The same with other values of `count` variables of the scene, each "NAME=NUMBER" or
 * "NAME=FORMULA". */
CAIRN_API int cairn_client_load_with(cairn_client *client, const char *name, const char *path,
				     const char *const *variables, uint32_t count,
				     cairn_world **world, cairn_error *error);
typedef struct cairn_scene_info {
	const char *name;  /* of the file */
	const char *title; /* the first sentence of the comment that it begins with */
	uint64_t bytes;
} cairn_scene_info;
/* The scenes of the server's folder (`cairnd --scene-folder`), each a callback. */
CAIRN_API int cairn_client_scenes(cairn_client *client,
				  void (*each)(void *context, const cairn_scene_info *scene),
				  void *context, cairn_error *error);
/* The server makes a world `name` of a scene of that folder; variables as of cairn_client_load_with.
 * The client has joined the new world. A fault in the file is told with its line. */
CAIRN_API int cairn_client_open_scene(cairn_client *client, const char *name, const char *scene,
				      const char *const *variables, uint32_t count, bool running,
				      cairn_world **world, cairn_error *error);
/* Counters and facts as `cairn info` prints them: "server", "worlds", "refused", "quotas", or ""
 * for the first two, by name (cairn_value_get). *facts is borrowed. */
CAIRN_API int cairn_client_inspect(cairn_client *client, const char *what,
				   const struct cairn_value **facts, cairn_error *error);
/* The names of the server's worlds, each a callback. */
CAIRN_API int cairn_client_worlds(cairn_client *client,
				  void (*each)(void *context, const cairn_world_info *info),
				  void *context, cairn_error *error);

/* As the server last told it. */
CAIRN_API cairn_world_info cairn_world_facts(const cairn_world *world);
CAIRN_API int cairn_world_pause(cairn_world *world, cairn_error *error);
CAIRN_API int cairn_world_resume(cairn_world *world, cairn_error *error);
/* World time per wall time. */
CAIRN_API int cairn_world_speed(cairn_world *world, double factor, cairn_error *error);
CAIRN_API int cairn_world_save(cairn_world *world, const char *name, cairn_error *error);
CAIRN_API int cairn_world_restore(cairn_world *world, const char *name, cairn_error *error);
/* A tick of the world's past, kept by the server or in its file. */
typedef struct cairn_instant {
	uint64_t tick;
	uint32_t epoch; /* 0: the last one that has the tick */
} cairn_instant;
CAIRN_API int cairn_world_restore_tick(cairn_world *world, cairn_instant tick, cairn_error *error);
/* Makes a new world `name` from the present state, from a snapshot, or from a tick of the past:
 * `snapshot` and `tick` may be NULL, and at most one is given. The client has joined *copy. */
CAIRN_API int cairn_world_fork(cairn_world *world, const char *name, const char *snapshot,
			       const cairn_instant *tick, cairn_world **copy, cairn_error *error);
/* Ends the world on the server and removes its file. The handle remains until the client is
 * closed. */
CAIRN_API int cairn_world_destroy(cairn_world *world, cairn_error *error);

/* ---- shapes and commands
 * ------------------------------------------------------------------------- */

/* Makes a shape known to the world; *shape is its id for attachments. `text`, lengths in m:
 *
 *	sphere:RADIUS
 *	capsule:length=L,radius=R (along y, L between the centres of its ends; or capsule:L/2,R)
 *	box:X,Y,Z (full sizes)
 *	plane:NX,NY,NZ,D
 *	hull:X,Y,Z,X,Y,Z,…
 *	rounded:X,Y,Z,R (a box of these full sizes, rounded outwards by R)
 *	cylinder:length=L,radius=R, cone:length=L,radius=R (along y; or cylinder:L/2,R, cone:L/2,R)
 *	ellipsoid:X,Y,Z (full sizes)
 */
CAIRN_API int cairn_world_shape(cairn_world *world, const char *text, int64_t *shape,
				cairn_error *error);

/* A command with the defaults of docs/COMMANDS.md. */
CAIRN_API cairn_command cairn_command_make(int op);
/* Applies commands together, or none of them: in a running world at its next tick, otherwise at
 * once and without a tick. ids[i] (may be NULL) is the id that the i-th made, or 0. An id of −k
 * in a command names what the k-th command of the list makes. */
CAIRN_API int cairn_world_apply(cairn_world *world, const cairn_command *commands, uint32_t count,
				uint32_t *ids, cairn_error *error);
/* Sets a parameter, e.g. "sleep.enabled" (cairn parameters WORLD lists them). */
CAIRN_API int cairn_world_set(cairn_world *world, const char *name, double value,
			      cairn_error *error);
CAIRN_API int cairn_world_method(cairn_world *world, const char *name, cairn_error *error);

/* ---- steps and states
 * ---------------------------------------------------------------------------- */

typedef struct cairn_body {
	uint32_t id;
	uint8_t status; /* 0 inactive, 1 static, 2 dynamic, 3 animated */
	bool asleep;
	bool fast;	/* it does not pass through dynamic bodies either */
	bool sensor;	/* it has no contacts and tells which bodies it overlaps */
	uint32_t owner; /* session; 0 none */
	int64_t tag;
	cairn_vec3 position; /* m, of the body's origin */
	cairn_quat rotation;
	cairn_vec3 velocity; /* m/s, of the mass centre */
	cairn_vec3 spin;     /* rad/s */
} cairn_body;

typedef struct cairn_state {
	uint64_t epoch, tick;
	uint64_t edit;	    /* times that commands were applied since that tick */
	uint64_t hash;	    /* of everything that determines the world's future */
	uint64_t tick_hash; /* of all visible bodies, when the tick ended: before later commands */
	uint32_t count;
	const cairn_body *bodies; /* by ascending ids; borrowed */
} cairn_state;

/* Steps a world that does not run, and returns its state afterwards. 0 ticks: its present state.
 * `state` may be NULL. CAIRN_STATUS_RUNNING: pause the world first. */
CAIRN_API int cairn_world_step(cairn_world *world, uint32_t ticks, cairn_state *state,
			       cairn_error *error);
/* NULL if the state has no such body. */
CAIRN_API const cairn_body *cairn_state_find(const cairn_state *state, uint32_t id);
/* Computes the tick hash from the bodies of a state, so that a replica can be compared with the
 * server. */
CAIRN_API uint64_t cairn_state_tick_hash(const cairn_state *state);

/* ---- queries
 * ------------------------------------------------------------------------------------- */

typedef struct cairn_hit {
	uint32_t body;
	double distance; /* m */
	cairn_vec3 point, normal;
} cairn_hit;
/* The first body on a ray; hit->body is 0 if there is none. `direction` need not be a unit
 * vector. */
CAIRN_API int cairn_world_ray(cairn_world *world, cairn_vec3 origin, cairn_vec3 direction,
			      double length, cairn_hit *hit, cairn_error *error);

typedef struct cairn_contact {
	uint32_t a, b;
	cairn_vec3 point, normal; /* world; the normal points from a to b */
	double separation;	  /* m; negative: penetration */
	double impulse; /* N·s over the last tick, along the normal; times the rate it is a force */
	cairn_vec3 friction; /* N·s over the last tick */
} cairn_contact;
/* The contacts of a body, or with 0 of all bodies: at most 4096. *contacts is borrowed. */
CAIRN_API int cairn_world_contacts(cairn_world *world, uint32_t body,
				   const cairn_contact **contacts, uint32_t *count,
				   cairn_error *error);

typedef struct cairn_body_facts {
	cairn_body body;
	double mass;	   /* kg */
	cairn_vec3 centre; /* of mass, body axes */
	uint32_t shapes;
} cairn_body_facts;
CAIRN_API int cairn_world_body(cairn_world *world, uint32_t body, cairn_body_facts *facts,
			       cairn_error *error);

/* A mover's state after the last tick, and what it can (CAIRN_COMMAND_SET_MOVER,
 * CAIRN_COMMAND_STEER). */
typedef struct cairn_mover {
	uint32_t on_ground, blocked, squeezed, pushes, rests; /* 0 or 1 */
	uint32_t ground;				      /* body on which it stands, 0 none */
	uint32_t squeezes;				      /* ticks in which it had no place */
	cairn_vec3 normal;				      /* of its ground */
	cairn_vec3 velocity;				      /* m/s, in the air beside the wish */
	cairn_vec3 wish;				      /* m/s */
	double step_height;				      /* m */
	double slope;					      /* rad */
	double push_force;				      /* N */
	double snap;					      /* m */
} cairn_mover;
/* Error status_wrong if the body is no mover. */
CAIRN_API int cairn_world_mover(cairn_world *world, uint32_t body, cairn_mover *mover,
				cairn_error *error);

/* Bodies first … first + count − 1 have this colour, 0xRRGGBB. */
typedef struct cairn_colour_run {
	uint32_t first, count, colour;
} cairn_colour_run;
/* The colours of the bodies with ids from `from` on; bodies in no run have none. *runs is
 * borrowed. If *count is 1024 there may be more, from the last run's last id + 1 on. Commands
 * set them (CAIRN_COMMAND_SET_COLOUR). */
CAIRN_API int cairn_world_colours(cairn_world *world, uint32_t from, const cairn_colour_run **runs,
				  uint32_t *count, cairn_error *error);

/* A shape that pictures show of a body in place of its own. */
typedef struct cairn_visual {
	uint32_t body;
	uint8_t shape[32];   /* its name: SHA-256 of its canonical bytes */
	cairn_vec3 position; /* m, body axes */
	cairn_quat rotation; /* shape axes to body axes */
	bool coloured;	     /* it has a colour of its own */
	uint32_t colour;     /* 0xRRGGBB */
} cairn_visual;
/* The visuals of the bodies with ids from `from` on, of whole bodies. *visuals is borrowed. If
 * *count is not 0 there may be more, from the last body's id + 1 on. Commands make them
 * (CAIRN_COMMAND_ADD_VISUAL). */
CAIRN_API int cairn_world_visuals(cairn_world *world, uint32_t from, const cairn_visual **visuals,
				  uint32_t *count, cairn_error *error);

/* The name of a body or joint. */
typedef struct cairn_label {
	uint32_t id;
	char text[32];
} cairn_label;
/* The names of the bodies, or with `joints` of the joints, with ids from `from` on; those that have
 * none are left out. *labels is borrowed. If *count is not 0 there may be more, from the last id + 1
 * on. Commands make them (CAIRN_COMMAND_NAME_BODY, CAIRN_COMMAND_NAME_JOINT). */
CAIRN_API int cairn_world_names(cairn_world *world, bool joints, uint32_t from,
				const cairn_label **labels, uint32_t *count, cairn_error *error);

typedef struct cairn_totals {
	double kinetic, potential;  /* J */
	cairn_vec3 linear, angular; /* N·s and N·m·s, about the world's origin */
} cairn_totals;
CAIRN_API int cairn_world_totals(cairn_world *world, cairn_totals *totals, cairn_error *error);

typedef struct cairn_joint {
	uint32_t id, a, b; /* body 0: the world */
	uint8_t type;	   /* 1 spherical, 2 revolute … as joint_create has them */
	double coordinates[6];
	cairn_vec3 force, torque; /* N, N·m: what it exerts on b */
	cairn_vec3 anchor_a, anchor_b;
} cairn_joint;
/* The joints of a body, or with 0 all joints: at most 1024 from id `first` on. *joints is
 * borrowed. */
CAIRN_API int cairn_world_joints(cairn_world *world, uint32_t body, uint32_t first,
				 const cairn_joint **joints, uint32_t *count, cairn_error *error);

/* A value of an answer. */
enum cairn_value_type {
	CAIRN_VALUE_NIL = 0,
	CAIRN_VALUE_BOOLEAN = 1,
	CAIRN_VALUE_INTEGER = 2,
	CAIRN_VALUE_REAL = 3,
	CAIRN_VALUE_TEXT = 4,
	CAIRN_VALUE_BYTES = 5,
	CAIRN_VALUE_LIST = 6,
	CAIRN_VALUE_MAP = 7
};
typedef struct cairn_value {
	int type;	 /* enum cairn_value_type */
	uint32_t count;	 /* of bytes, or of items; a map has a key and a value for each entry */
	double number;	 /* also of an integer and a boolean; 0 of other types */
	int64_t integer; /* of an integer and a boolean */
	const uint8_t *bytes; /* of a text, without a zero at its end, and of bytes */
	const struct cairn_value *items;
} cairn_value;
/* Never NULL: nil for an index or a key that the value does not have, so that calls can be
 * nested. */
CAIRN_API const cairn_value *cairn_value_at(const cairn_value *value, uint32_t index);
CAIRN_API const cairn_value *cairn_value_get(const cairn_value *value, const char *key);
CAIRN_API cairn_vec3 cairn_value_vec3(const cairn_value *value);

/* A query with the defaults of its kind. */
CAIRN_API cairn_query cairn_query_make(int kind);
/* Any query of enum cairn_query_kind, e.g. the bodies that a sphere at a point overlaps:
 *
 *	cairn_query query = cairn_query_make(CAIRN_QUERY_OVERLAP);
 *	query.shape = "sphere:2";
 *	query.origin.y = 1;
 *	const cairn_value *ids;
 *	if (cairn_world_query(world, &query, &ids, &error) == CAIRN_STATUS_OK)
 *		for (uint32_t i = 0; i < ids->count; i++)
 *			printf("%g\n", ids->items[i].number);
 *
 * *answer is borrowed. */
CAIRN_API int cairn_world_query(cairn_world *world, const cairn_query *query,
				const cairn_value **answer, cairn_error *error);

/* ---- frames of a running world
 * ------------------------------------------------------------------- */

typedef struct cairn_particle {
	uint32_t system;
	uint64_t serial; /* within its system, ascending from 1 */
	cairn_vec3 position, velocity;
	double radius, mass;
	uint64_t birth, death;	  /* ticks at whose end it was made and dies; death 0: never */
	double density, pressure; /* of the fluid there, kg/m3, Pa; 0: of no fluid */
} cairn_particle;
typedef struct cairn_frame {
	cairn_state state;		 /* `hash` is 0: frames carry the tick hash alone */
	bool verified;			 /* the hash that the server sent is that of these bodies */
	uint32_t joint_count;		 /* 0 unless the joints are watched */
	const cairn_joint *joints;	 /* by ascending ids; borrowed; without anchors */
	uint32_t particle_count;	 /* 0 unless the particles are watched */
	const cairn_particle *particles; /* by ascending (system, serial); borrowed */
} cairn_frame;
typedef struct cairn_event {
	uint64_t tick;
	int kind; /* enum cairn_event_kind */
	uint32_t a, b;
	double value;
	cairn_vec3 point, normal;
	double speed; /* m/s, of a hit */
} cairn_event;
/* A part of space. Set `body` (an id) to let it move with that body: it is then relative to the
 * body's position, but not to its rotation. */
typedef struct cairn_area {
	int kind;      /* set by the functions below */
	uint32_t body; /* 0: fixed in the world */
	double numbers[11];
} cairn_area;
CAIRN_API cairn_area cairn_area_box(cairn_vec3 minimum, cairn_vec3 maximum);
CAIRN_API cairn_area cairn_area_ball(cairn_vec3 centre, double radius);
/* Looks along −z of its rotation, with +y up; half width and height are those at distance 1. */
CAIRN_API cairn_area cairn_area_frustum(cairn_vec3 eye, cairn_quat rotation, double half_width,
					double half_height, double near_distance,
					double far_distance);

/* Every `divisor`-th tick of the world becomes a call of options.frame from now on, with every
 * bit of every body, and events of the kinds in `events` (a sum of 1 << kind; 0: none) become
 * calls of options.event. */
CAIRN_API int cairn_world_watch(cairn_world *world, uint32_t divisor, uint64_t events,
				cairn_error *error);
typedef struct cairn_watch_options {
	uint32_t divisor;	 /* 0: 1 */
	uint64_t events;	 /* as in cairn_world_watch */
	uint64_t budget;	 /* bytes a second; 0: that of the session */
	bool joints;		 /* frames have joints */
	const cairn_area *areas; /* as in cairn_world_focus */
	uint32_t area_count;
	const uint32_t *follow;
	uint32_t follow_count;
	bool particles;	 /* frames have the particles in the areas */
	uint32_t sample; /* only those whose serial number is a multiple of it; 0: 1 */
} cairn_watch_options;
/* The same with more options; NULL: none. */
CAIRN_API int cairn_world_watch_with(cairn_world *world, const cairn_watch_options *options,
				     cairn_error *error);
/* Frames of a watched world show a tick of its past from now on, and then, with a `speed` that
 * is not 0, the ticks after it (below 0: before it), at world time per wall time. NULL: the
 * present again. */
CAIRN_API int cairn_world_seek(cairn_world *world, const cairn_instant *tick, double speed,
			       cairn_error *error);
CAIRN_API int cairn_world_unwatch(cairn_world *world, cairn_error *error);

/* From now on frames of a watched world have only the bodies in any of the areas (at most 16) and
 * the followed bodies (ids, at most 64) at any place; without both, all bodies again. Cheap enough
 * for every move of a camera. A body near an edge may be in the frame although it is outside, by at
 * most an eighth of the area's size. A refusal is the status of a later cairn_client_poll. */
CAIRN_API int cairn_world_focus(cairn_world *world, const cairn_area *areas, uint32_t area_count,
				const uint32_t *follow, uint32_t follow_count, cairn_error *error);

#ifdef __cplusplus
}
#endif

#endif
