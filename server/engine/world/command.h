/* command.h: commands.def as C: one struct per command, their union, and the table that
 * describes them.
 *
 * A `struct command` is a plain value except for lists (shapes of SPAWN, targets, points), which
 * borrow memory of the decoder. Absent optional fields hold their defaults (command_defaults).
 */
#ifndef CAIRN_ENGINE_WORLD_COMMAND_H
#define CAIRN_ENGINE_WORLD_COMMAND_H

#include "server/engine/types.h"

struct text32 {
	char text[32]; /* always ends in zero */
};
struct name32 {
	uint8_t bytes[32];
};
struct attachment_list {
	const struct attachment *items; /* borrowed */
	uint32_t count;
};

struct target_list {
	const struct joint_target *items; /* borrowed */
	uint32_t count;
};
struct point_list {
	const struct joint_point *items; /* borrowed */
	uint32_t count;
};

/* TYPE(NAME, C type, name): the name is that in docs/COMMANDS.md and in the schema of the wire. */
#define FIELD_TYPES(TYPE)                                                                          \
	TYPE(BODY, int64_t, "body")                                                                \
	TYPE(SHAPE, int64_t, "shape")                                                              \
	TYPE(JOINT, int64_t, "joint")                                                              \
	TYPE(FORCE_FIELD, int64_t, "field")                                                        \
	TYPE(PARTICLES, int64_t, "particles")                                                      \
	TYPE(ENUM, uint8_t, "enum")                                                                \
	TYPE(U32, uint32_t, "u32")                                                                 \
	TYPE(INTEGER, int64_t, "integer")                                                          \
	TYPE(F64, double, "f64")                                                                   \
	TYPE(VEC3, vec3, "vec3")                                                                   \
	TYPE(QUAT, quat, "quat")                                                                   \
	TYPE(TEXT, struct text32, "text")                                                          \
	TYPE(NAME, struct name32, "name")                                                          \
	TYPE(SEED, uint64_t, "seed")                                                               \
	TYPE(ATTACHMENTS, struct attachment_list, "attachments")                                   \
	TYPE(TARGETS, struct target_list, "targets")                                               \
	TYPE(POINTS, struct point_list, "points")

enum field_type {
#define TYPE(NAME, ctype, name) FIELD_##NAME,
	FIELD_TYPES(TYPE)
#undef TYPE
};
#define TYPE(NAME, ctype, name) typedef ctype field_c_##NAME;
FIELD_TYPES(TYPE)
#undef TYPE

/* enum command_op { COMMAND_SPAWN = 10, … } */
enum command_op {
#define COMMAND(number, NAME, name, needed, result, doc) COMMAND_##NAME = (number),
#include "server/engine/world/commands.def"
};
enum { COMMAND_OPS_MAX = 128 }; /* every number is below */

/* struct command_SPAWN { uint8_t status; vec3 position; … }; */
#define COMMAND(number, NAME, name, needed, result, doc) struct command_##NAME {
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc) field_c_##TYPE name;
#define END(NAME)                                                                                  \
	}                                                                                          \
	;
#include "server/engine/world/commands.def"

struct command {
	uint16_t op; /* enum command_op */
	union {
#define COMMAND(number, NAME, name, needed, result, doc) struct command_##NAME name;
#include "server/engine/world/commands.def"
	};
};

enum command_result {
	RESULT_NOTHING,
	RESULT_BODY,
	RESULT_SHAPE,
	RESULT_JOINT,
	RESULT_FORCE_FIELD,
	RESULT_PARTICLES
};

struct command_field {
	const char *name, *unit, *doc;
	enum field_type type;
	size_t offset; /* into struct command */
	double min, max, initial;
};
struct command_info {
	uint16_t op;
	const char *name, *doc;
	enum command_result result;
	uint32_t needed, field_count;
	const struct command_field *fields; /* NULL for a reserved number */
	bool reserved;
};

/* NULL for a number that is not in the list. */
const struct command_info *command_info(uint32_t op);
/* "vec3", "attachments", … */
const char *field_type_name(enum field_type type);
/* "body": what the command makes; "nothing". */
const char *command_result_name(enum command_result result);
/* By name ("spawn"); NULL when there is none. */
const struct command_info *command_find(const char *name);
/* The list in order of numbers, for documentation and help. */
const struct command_info *command_list(uint32_t *count);

/* Sets op and every field to its default. */
void command_defaults(struct command *command, uint16_t op);

/* Makes the checks that depend on no world: known op, finite numbers, ranges, text, lengths of
 * quaternions. Quaternions are normalised, except those of attachments, which are normalised where
 * they are used. `index` is put into *why. */
MUST_CHECK enum status command_check_values(struct command *command, int64_t index,
					    struct reason *why);

/* Lists of words for the numbers of ENUM fields (words.def). */
enum word_list {
	WORDS_BODY_STATUS,
	WORDS_INTEGRATOR,
	WORDS_MASS_RULE,
	WORDS_SHADOW,
	WORDS_JOINT_TYPE,
	WORDS_JOINT_MODE,
	WORDS_JOINT_SPRING,
	WORDS_JOINT_MOTOR,
	WORDS_JOINT_WAVE,
	WORDS_FIELD_KIND,
	WORDS_FIELD_REGION,
	WORDS_FIELD_FALLOFF,
	WORDS_EMITTER,
	WORDS_INTERACT,
	WORDS_FLUID_SOLVER,
	WORDS_LINK_KIND,
	WORDS_PINNED,
	WORDS_SPEND,
	WORDS_CONTACTS,
	WORDS_HOLD_PLACE,
	WORDS_MOUNT_PLACE,
	WORDS_SINK_REGION,
	WORDS_RECOIL,
	WORDS_ROOM,
	WORDS_SWITCH,
};
/* "revolute"; "?" where the list has no such number. */
const char *command_word(enum word_list list, uint32_t number);

/* One line for a person, e.g. "spawn status=2 position=(0,1,0) …". Returns what snprintf would. */
int command_describe(const struct command *command, char *text, size_t bytes);

#endif
