/* schema.h: schema.def as C: one struct per table, and the reader that fills them.
 *
 *   struct body_keys { const char *like; const struct yaml_node *shape; …; uint64_t given; };
 *
 * `given` has a bit for each key of the table (KEY_BODY_mass …), 1 if the file has the key.
 */
#ifndef CAIRN_PROTOCOL_SCENE_SCHEMA_H
#define CAIRN_PROTOCOL_SCENE_SCHEMA_H

#include "protocol/scene/yaml.h"
#include "server/base/suggestion.h"
#include "server/engine/types.h"

/* Lengths of shapes, in metres: the engine's limits (engine/geometry/shape.h, which this folder must not
 * include; a test compares them). */
#define SCENE_LENGTH_MIN 1e-4
#define SCENE_LENGTH_MAX 1e5

struct counts {
	uint32_t x, y, z;
};
struct rate {
	uint32_t num, den;
};

enum key_type {
	TYPE_REAL,
	TYPE_COUNT,
	TYPE_INTEGER,
	TYPE_SEED,
	TYPE_BOOL,
	TYPE_TEXT,
	TYPE_WORD,
	TYPE_VEC3,
	TYPE_SCALE,
	TYPE_COUNTS,
	TYPE_TURN,
	TYPE_RATE,
	TYPE_MAP,
	TYPE_LIST,
	TYPE_ANY,
	KEY_TYPES,
};
typedef double key_c_REAL;
typedef uint32_t key_c_COUNT;
typedef int64_t key_c_INTEGER;
typedef uint64_t key_c_SEED;
typedef bool key_c_BOOL;
typedef const char *key_c_TEXT;
typedef uint32_t key_c_WORD;
typedef vec3 key_c_VEC3;
typedef vec3 key_c_SCALE;
typedef struct counts key_c_COUNTS;
typedef quat key_c_TURN;
typedef struct rate key_c_RATE;
typedef const struct yaml_node *key_c_MAP;
typedef const struct yaml_node *key_c_LIST;
typedef const struct yaml_node *key_c_ANY;

/* enum { KEY_BODY_like, … }; */
#define TABLE(NAME, name, doc) enum { KEY_##NAME##_BEFORE = -1,
#define KEY(NAME, TYPE, key, need, min, max, initial, unit, doc) KEY_##NAME##_##key,
#define END(NAME)                                                                                  \
	KEY_##NAME##_AFTER                                                                         \
	}                                                                                          \
	;
#include "protocol/scene/schema.def"

/* struct body_keys { … }; */
#define TABLE(NAME, name, doc) struct name##_keys {
#define KEY(NAME, TYPE, key, need, min, max, initial, unit, doc) key_c_##TYPE key;
#define END(NAME)                                                                                  \
	uint64_t given;                                                                            \
	}                                                                                          \
	;
#include "protocol/scene/schema.def"

struct schema_key {
	const char *name, *unit, *doc;
	enum key_type type;
	bool need;
	double min, max, initial;
	size_t offset, bytes; /* into the table's struct */
};
struct schema_table {
	const char *name, *doc;
	const struct schema_key *keys;
	uint32_t key_count;
	size_t given_offset, bytes;
};

enum schema_name {
#define TABLE(NAME, name, doc) SCHEMA_##NAME,
#include "protocol/scene/schema.def"
	SCHEMA_TABLES,
};
extern const struct schema_table schema_tables[SCHEMA_TABLES];

#define KEY_GIVEN(values, NAME, key) (((values)->given >> KEY_##NAME##_##key & 1) != 0)

/* Sets every key to its initial value, and none as given. `values` is the table's struct. */
void schema_defaults(enum schema_name table, void *values);

/* Reads a mapping into `values` (defaults first) and checks it by its table. Strings and nodes
 * are borrowed from the document. Errors: TYPE, RANGE, NOT_FINITE, MISSING, MALFORMED (unknown key,
 * with the nearest known one), TOO_LARGE. */
MUST_CHECK enum status schema_read(const struct source *source, const struct yaml_node *map,
				   enum schema_name table, void *values);

/* Offers a known name to an error about an unknown one, as suggestion_offer() does; a name for which other
 * engines and formats have the unknown word is the nearest. */
void schema_offer(struct suggestion *self, const char *name);

/* Copies the keys that `from` has given over those of `into`. */
void schema_merge(enum schema_name table, void *into, const void *from);

/* A number; `name` is its name in error texts. */
MUST_CHECK enum status schema_number(const struct source *source, const struct yaml_node *node,
				     const char *name, double min, double max, const char *unit,
				     double *out);
/* A whole number in [min, max], at most 2^53 in size. */
MUST_CHECK enum status schema_integer(const struct source *source, const struct yaml_node *node,
				      const char *name, double min, double max, int64_t *out);
/* A rotation, as of type TURN. */
MUST_CHECK enum status schema_turn(const struct source *source, const struct yaml_node *node,
				   const char *name, quat *out);
/* A list of `count` numbers (at most 4). */
MUST_CHECK enum status schema_vector(const struct source *source, const struct yaml_node *node,
				     const char *name, double min, double max, const char *unit,
				     uint32_t count, double *out);

#endif
