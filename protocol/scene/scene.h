/* scene.h: a scene file as shapes and commands, for a client that sends them and for a daemon that applies
 * them at its start. Texts from the network are parsed only where the operator allows it (--scene-folder).
 * docs/SCENES.md has the schema.
 *
 * A scene is applied in order: every shape is uploaded (or cooked) by name, SHAPE_USE commands make
 * available in the world and return their ids, scene_resolve puts those ids into the commands, and the
 * commands are sent in batches, each prepared by scene_link.
 */
#ifndef CAIRN_PROTOCOL_SCENE_SCENE_H
#define CAIRN_PROTOCOL_SCENE_SCENE_H

#include "server/base/status.h"
#include "server/engine/math/pose.h"
#include "server/engine/world/command.h"

struct scene_shape {
	struct name32 name; /* SHA-256 of the bytes */
	uint8_t *canonical; /* owned */
	size_t bytes;
	char label[64]; /* its key in the file, for messages */
	uint32_t line;	/* of the file */
};

/* Options fixed at creation of the world; those that the file does not give have the engine's defaults. */
struct scene_world {
	char name[65];
	uint32_t rate_num, rate_den; /* 0: default */
	bool planar;
	vec3 gravity;
	bool gravity_given;
	uint64_t seed;
	bool seed_given;
	char method[32];					       /* "": default */
	char broad_phase[16];					       /* "": default */
	char durability[8];					       /* "": the daemon's */
	uint32_t bodies_max, placements_max, contacts_max, shapes_max; /* 0: default */
	uint32_t joints_max, events_max;
};

enum { SCENE_METHODS_MAX = 8, SCENE_METHOD_BYTES = 32 };
/* Names of methods; the scene's own if count is 0. */
struct scene_methods {
	char names[SCENE_METHODS_MAX][SCENE_METHOD_BYTES];
	uint32_t count;
};
struct scene_compare {
	uint32_t ticks;
	struct scene_methods methods;
};

/* A number that the scene must give (schema.def, table EXPECT); words are in the manifest's order. */
enum scene_measure {
	MEASURE_POSITION, /* m, vectors: of a body's mass centre, */
	MEASURE_VELOCITY, /* m/s, of its velocity, */
	MEASURE_SPIN,	  /* rad/s, of its angular velocity, */
	MEASURE_POINTING, /* 1, and of its y axis */
	MEASURE_SPEED,	  /* m/s, of the mass centre */
	MEASURE_FORCE,	  /* N: sum of the normal forces at the body's contacts */
	MEASURE_ENERGY,	  /* J, kinetic and potential of all dynamic bodies */
	MEASURE_KINETIC,
	MEASURE_ENERGY_CHANGE, /* 1: relative to the first state's energy, or to 1 J where that is less */
	MEASURE_MOMENTUM, /* kg m/s, vectors */
	MEASURE_ANGULAR_MOMENTUM,
	MEASURE_MOMENTUM_CHANGE, /* length of the difference from the first state's */
	MEASURE_ANGULAR_MOMENTUM_CHANGE,
	MEASURE_PENETRATION, /* m, the deepest */
	MEASURE_RESIDUAL,
	MEASURE_FALLBACKS, /* since the beginning */
	MEASURE_JOINT_ERROR,
	MEASURE_PUSH_WORK,    /* J, since the beginning */
	MEASURE_AWAKE,	      /* bodies */
	MEASURE_IMPACT_ERROR, /* m: estimated, of impact; 0: nothing was estimated */
	SCENE_MEASURES,
};
enum { MEASURES_OF_BODIES = MEASURE_ENERGY };
enum scene_axis { AXIS_X, AXIS_Y, AXIS_Z, AXIS_LENGTH };
enum scene_take { TAKE_END, TAKE_LARGEST, TAKE_LEAST, TAKE_MEAN };
struct scene_expectation {
	uint32_t line;
	char name[64];
	uint8_t measure, axis, take;
	/* A command of the file that makes the body; after scene_expect_link the body's id. `other`
	 * UINT32_MAX, then 0: none; likewise `body` where the measure has none. */
	uint32_t body, other;
	uint32_t from, until; /* ticks; until UINT32_MAX: the end */
	double least, most;   /* ±infinity: no bound */
	struct scene_methods methods;
};

/* The bodies of an entry with a name: those of the file's SPAWNs `first` …
 * `first + count − 1`, from 1. */
enum { SCENE_BODY_NAME = 80 }; /* bytes of NAME[i] with its end */
struct scene_name {
	char name[64];
	uint32_t first, count;
	bool several; /* bodies of a generator: NAME[0], NAME[1], … */
};

/* What is given beside a file: the rest is what a robot file (docs/ROBOTS.md) does not say. */
enum scene_base { SCENE_BASE_UNKNOWN, SCENE_BASE_FIXED, SCENE_BASE_FLOATING };
#define JOINT_LINK_SHARE 0.01
#define JOINT_LINK_SHARE_MIN 1e-15
#define JOINT_LINK_SHARE_MAX 0.1
struct scene_options {
	enum scene_base
		base; /* of an URDF without a link `world`, which is refused if this is unknown */
	bool balance; /* moments of inertia that no body has are made equal, not refused */
	/* The share of a body's mass and inertia that each link between two of its joints has:
	 * JOINT_LINK_SHARE_MIN … JOINT_LINK_SHARE_MAX; 0: JOINT_LINK_SHARE. */
	double joint_link_share;
	/* Of a scene file: "NAME=FORMULA" in the place of its variables; borrowed. */
	const char *const *lets;
	uint32_t let_count;
	/* The folder of a server, for scenes that its clients choose: messages leave it out of the names of
	 * files; borrowed; NULL: none. */
	const char *hidden;
	uint64_t formula_samples_max; /* of heightfields by formulas; 0: no limit */
};

struct included_files;
struct scene {
	struct scene_world world;
	struct scene_shape *shapes; /* owned */
	uint32_t shape_count;
	/* Parameters, bounds, bodies, joints, each followed by the commands of its axes, then force
	 * fields; without SHAPE_USE. Until scene_resolve, a shape −k is the k-th of `shapes` (from 1).
	 * Until scene_link, a body or a joint −k is that which the k-th of all commands makes. */
	struct command *commands; /* owned */
	uint32_t *lines;	  /* owned; for each command: its line in the file */
	uint32_t command_count;
	uint32_t *entry_bodies; /* owned; for each entry of `bodies`: how many it makes */
	uint32_t entry_count;
	struct attachment *attachments; /* owned; the commands' lists point in here */
	uint32_t attachment_count;
	struct joint_point *points; /* owned, likewise */
	struct scene_compare compare;
	struct scene_expectation *expectations; /* owned */
	uint32_t expectation_count;
	char file[60];		  /* its name in messages */
	struct scene_name *names; /* owned; ascending bodies */
	uint32_t name_count;
	/* Owned; what a robot file or an included file asks for and does not get, lines "FILE:LINE: …";
	 * NULL: nothing. */
	char *notes;
	struct included_files *included; /* owned, private: the files of lines */
};

/* "FILE:N": `line` as commands, shapes and expectations have it. */
enum { SCENE_PLACE_BYTES = 80 };
const char *scene_place(const struct scene *scene, uint32_t line, char out[SCENE_PLACE_BYTES]);

/* The name of the body that the file's SPAWN number `body` makes: its id in a world of its own. False: it has
 * none. */
bool scene_body_name(const struct scene *scene, uint32_t body, char name[SCENE_BODY_NAME]);
/* Reads a file: YAML, so also JSON; or a robot, URDF or MJCF. Mesh files are searched beside it, then in
 * the directories of CAIRN_MESH_PATH (colon-separated), then in /usr/share/glmark2/models. On a refusal,
 * `why->text` starts with "FILE:LINE: ", `field` is the key, and the limit is named. *out is returned
 * owned. */
MUST_CHECK enum status scene_load(const char *path, struct scene **out, struct reason *why);
/* The same with options, which may be NULL. */
MUST_CHECK enum status scene_load_with(const char *path, const struct scene_options *options,
				       struct scene **out, struct reason *why);
/* The flat scene file that a robot file, or a scene file with variables, included files and assemblies,
 * stands for, returned owned with a zero byte at its end; *notes as
 * in struct scene, "" for nothing. */
MUST_CHECK enum status scene_convert(const char *path, const struct scene_options *options,
				     char **text, char **notes, struct reason *why);
/* The flat copy of a scene file with its dynamic bodies at rest elsewhere: places[i] is the pose of
 * the body that the file's SPAWN number i + 1 makes; those of other bodies are not read. Reading the
 * text makes the same commands but for these poses and their velocities, which are 0. UNSUPPORTED: a
 * robot file. CORRUPT: the file has no longer `count` bodies, as when it was loaded. The text is returned
 * owned. */
MUST_CHECK enum status scene_convert_placed(const char *path, const struct scene_options *options,
					    const pose *places, uint32_t count, char **text,
					    struct reason *why);
/* The same as scene_load from memory; `base` is the directory for meshes (may be NULL). */
MUST_CHECK enum status scene_parse(const char *text, size_t bytes, const char *base,
				   struct scene **out, struct reason *why);
/* The same with options (may be NULL) and the name of the text in messages. */
MUST_CHECK enum status scene_parse_with(const char *text, size_t bytes, const char *name,
					const char *base, const struct scene_options *options,
					struct scene **out, struct reason *why);
/* NULL is ignored. */
void scene_destroy(struct scene *scene);

/* Replaces the −k of shapes by ids (one per shape, in order). Call it once. */
void scene_resolve(struct scene *scene, const uint32_t *shape_ids);
/* Prepares commands first … end − 1 to be sent as one batch: a body or joint of an earlier command
 * gets its id from `values` (by command), one of this batch becomes −k within the batch. Call it
 * once for each command. */
void scene_link(struct scene *scene, uint32_t first, uint32_t end, const uint32_t *values);
/* Replaces the commands of expectations by the ids that they made (by command). Call it once. */
void scene_expect_link(struct scene *scene, const uint32_t *values);
/* The keys' words. */
const char *scene_measure_name(enum scene_measure measure);

#endif
