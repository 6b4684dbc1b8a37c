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

enum field_type {
	FIELD_BODY,
	FIELD_SHAPE,
	FIELD_JOINT,
	FIELD_ENUM,
	FIELD_U32,
	FIELD_INTEGER,
	FIELD_F64,
	FIELD_VEC3,
	FIELD_QUAT,
	FIELD_TEXT,
	FIELD_NAME,
	FIELD_SEED,
	FIELD_ATTACHMENTS,
	FIELD_TARGETS,
	FIELD_POINTS,
};
typedef int64_t field_c_BODY;
typedef int64_t field_c_SHAPE;
typedef int64_t field_c_JOINT;
typedef uint8_t field_c_ENUM;
typedef uint32_t field_c_U32;
typedef int64_t field_c_INTEGER;
typedef double field_c_F64;
typedef vec3 field_c_VEC3;
typedef quat field_c_QUAT;
typedef struct text32 field_c_TEXT;
typedef struct name32 field_c_NAME;
typedef uint64_t field_c_SEED;
typedef struct attachment_list field_c_ATTACHMENTS;
typedef struct target_list field_c_TARGETS;
typedef struct point_list field_c_POINTS;

/* enum command_op { COMMAND_SPAWN = 10, … } */
enum command_op {
#define COMMAND(number, NAME, name, needed, result, doc) COMMAND_##NAME = (number),
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc)
#define END(NAME)
#define RESERVED(number, name)
#include "server/engine/world/commands.def"
#undef COMMAND
#undef FIELD
#undef END
#undef RESERVED
};
enum { COMMAND_OPS_MAX = 128 }; /* every number is below */

/* struct command_SPAWN { uint8_t status; vec3 position; … }; */
#define COMMAND(number, NAME, name, needed, result, doc) struct command_##NAME {
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc) field_c_##TYPE name;
#define END(NAME)                                                                                  \
	}                                                                                          \
	;
#define RESERVED(number, name)
#include "server/engine/world/commands.def"
#undef COMMAND
#undef FIELD
#undef END
#undef RESERVED

struct command {
	uint16_t op; /* enum command_op */
	union {
#define COMMAND(number, NAME, name, needed, result, doc) struct command_##NAME name;
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc)
#define END(NAME)
#define RESERVED(number, name)
#include "server/engine/world/commands.def"
#undef COMMAND
#undef FIELD
#undef END
#undef RESERVED
	};
};

enum command_result { RESULT_NOTHING, RESULT_BODY, RESULT_SHAPE, RESULT_JOINT };

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
	WORDS_FAST,
	WORDS_JOINT_TYPE,
	WORDS_JOINT_MODE,
	WORDS_JOINT_SPRING,
	WORDS_JOINT_MOTOR,
	WORDS_JOINT_WAVE,
};
/* "revolute"; "?" where the list has no such number. */
const char *command_word(enum word_list list, uint32_t number);

/* One line for a person, e.g. "spawn status=2 position=(0,1,0) …". Returns what snprintf would. */
int command_describe(const struct command *command, char *text, size_t bytes);

#endif
