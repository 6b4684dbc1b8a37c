/* schema.c: reading a mapping by its table of the manifest.
 *
 * Numbers are decimal, with an optional fraction and exponent, as in JSON; a leading "+" and a bare
 * ".5" are also allowed. Other forms of YAML (hexadecimal, underscores, 1:30) are refused, because
 * authors rarely mean the value that a YAML parser gives them. NaN and infinities have an error
 * text of their own.
 */
#include "protocol/scene/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TABLE(NAME, name, doc)                                                                     \
	typedef struct name##_keys NAME##_values;                                                  \
	static const struct schema_key NAME##_keys[] = {
#define KEY(NAME, TYPE, key, need_, min_, max_, initial_, unit_, doc_)                             \
	{ .name = #key,                                                                            \
	  .unit = unit_,                                                                           \
	  .doc = doc_,                                                                             \
	  .type = TYPE_##TYPE,                                                                     \
	  .need = (need_) != 0,                                                                    \
	  .min = min_,                                                                             \
	  .max = max_,                                                                             \
	  .initial = initial_,                                                                     \
	  .offset = offsetof(NAME##_values, key),                                                  \
	  .bytes = sizeof(key_c_##TYPE) },
#define END(NAME)                                                                                  \
	}                                                                                          \
	;
#include "protocol/scene/schema.def"

const struct schema_table schema_tables[SCHEMA_TABLES] = {
#define TABLE(NAME, name_, doc_)                                                                   \
	[SCHEMA_##NAME] = { .name = #name_,                                                        \
			    .doc = doc_,                                                           \
			    .keys = NAME##_keys,                                                   \
			    .key_count = COUNT_OF(NAME##_keys),                                    \
			    .given_offset = offsetof(NAME##_values, given),                        \
			    .bytes = sizeof(NAME##_values) },
#include "protocol/scene/schema.def"
};

/* `given` has one bit for each key. */
_Static_assert(COUNT_OF(BODY_keys) <= 64, "given has 64 bits");
_Static_assert(COUNT_OF(JOINT_keys) <= 64, "given has 64 bits");

static bool has_key(const struct schema_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->key_count; i++)
		if (strcmp(table->keys[i].name, name) == 0)
			return true;
	return false;
}

/* "; body, joint have it": up to three other tables with a key of this name; "" if there is none. */
static const char *tables_text(const char *name, char *room, size_t bytes)
{
	uint32_t found = 0;
	size_t length = 0;
	for (uint32_t t = 0; t < SCHEMA_TABLES && found < 3; t++)
		if (has_key(&schema_tables[t], name))
			length += (size_t)snprintf(room + length, bytes - length, "%s %s",
						   found++ == 0 ? ";" : ",", schema_tables[t].name);
	if (found == 0)
		return "";
	snprintf(room + length, bytes - length, " %s it", found == 1 ? "has" : "have");
	return room;
}

static enum status unknown_key(const struct source *source, const struct yaml_node *key,
			       const struct schema_table *table)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(key->text);
	for (uint32_t i = 0; i < table->key_count; i++)
		schema_offer(&suggestion, table->keys[i].name);
	return source_fail(source, key->line, STATUS_MALFORMED, key->text,
			   "%s has no key '%.32s'%s", table->name, key->text,
			   suggestion.nearest != NULL
				   ? suggestion_text(&suggestion, room, sizeof room)
				   : tables_text(key->text, room, sizeof room));
}

/* ---- numbers ------------------------------------------------------------------------------------- */

/* ", the value of $n" for errors about a number that a formula gave. */
enum { FORMULA_ROOM = 64 };
static const char *of_formula(const struct yaml_node *node, char room[FORMULA_ROOM])
{
	if (node->formula == NULL)
		return "";
	snprintf(room, FORMULA_ROOM, ", the value of %.40s,", node->formula);
	return room;
}

static enum status wrong_type(const struct source *source, const struct yaml_node *node,
			      const char *name, const char *wanted)
{
	char room[FORMULA_ROOM];
	if (node->kind == NODE_SCALAR)
		return source_fail(source, node->line, STATUS_TYPE, name,
				   "%s must be %s, not %s%.24s%s%s", name, wanted,
				   node->quoted ? "\"" : "'", node->text, node->quoted ? "\"" : "'",
				   of_formula(node, room));
	return source_fail(source, node->line, STATUS_TYPE, name, "%s must be %s, not %s", name,
			   wanted, node_kind_text(node));
}

static const char *skip_digits(const char *at)
{
	while (*at >= '0' && *at <= '9')
		at++;
	return at;
}

static bool is_number(const char *text)
{
	const char *at = text + (*text == '+' || *text == '-');
	const char *whole = at;
	at = skip_digits(at);
	size_t digits = (size_t)(at - whole);
	if (*at == '.') {
		const char *fraction = ++at;
		at = skip_digits(at);
		digits += (size_t)(at - fraction);
	}
	if (digits == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		const char *exponent = at;
		at = skip_digits(at);
		if (at == exponent)
			return false;
	}
	return *at == '\0';
}

/* The forms of YAML (".nan", "-.inf") and common ones ("NaN", "inf"). */
static bool is_not_finite(const char *text)
{
	static const char *const WORDS[] = { ".nan", ".inf", "nan", "inf", "infinity" };
	text += *text == '+' || *text == '-';
	for (size_t i = 0; i < COUNT_OF(WORDS); i++)
		if (strcasecmp(text, WORDS[i]) == 0)
			return true;
	return false;
}

static enum status out_of_range(const struct source *source, const struct yaml_node *node,
				const char *name, double min, double max, const char *unit)
{
	char room[FORMULA_ROOM];
	return source_fail(source, node->line, STATUS_RANGE, name,
			   "%s %.24s%s is not between %.10g and %.10g%s%s", name, node->text,
			   of_formula(node, room), min, max, unit[0] != '\0' ? " " : "", unit);
}

enum status schema_number(const struct source *source, const struct yaml_node *node,
			  const char *name, double min, double max, const char *unit, double *out)
{
	if (node->kind != NODE_SCALAR || node->quoted)
		return wrong_type(source, node, name, "a number");
	if (is_not_finite(node->text))
		return source_fail(
			source, node->line, STATUS_NOT_FINITE, name,
			"%s %.16s is not a finite number; it must be between %.10g and %.10g", name,
			node->text, min, max);
	if (!is_number(node->text))
		return wrong_type(source, node, name, "a number");
	*out = strtod(node->text, NULL);
	/* Negated, so that a NaN fails too; 1e999 is read as infinity. */
	if (!(*out >= min && *out <= max))
		return out_of_range(source, node, name, min, max, unit);
	return STATUS_OK;
}

enum status schema_integer(const struct source *source, const struct yaml_node *node,
			   const char *name, double min, double max, int64_t *out)
{
	double value;
	enum status status = schema_number(source, node, name, min, max, "", &value);
	if (status != STATUS_OK)
		return status;
	ASSERT(min >= -INTEGER_MAX);
	ASSERT(max <= INTEGER_MAX);
	*out = (int64_t)value;
	if ((double)*out != value)
		return wrong_type(source, node, name, "a whole number");
	return STATUS_OK;
}

enum status schema_vector(const struct source *source, const struct yaml_node *node,
			  const char *name, double min, double max, const char *unit,
			  uint32_t count, double *out)
{
	static const char *const WANTED[] = { "", "", "a list of 2 numbers", "a list of 3 numbers",
					      "a list of 4 numbers" };
	ASSERT(count >= 2 && count < COUNT_OF(WANTED));
	if (node->kind != NODE_LIST)
		return wrong_type(source, node, name, WANTED[count]);
	if (node->count != count)
		return source_fail(source, node->line, STATUS_TYPE, name,
				   "%s must be %s, not of %u", name, WANTED[count],
				   (unsigned)node->count);
	const struct yaml_node *at = node->first;
	for (uint32_t i = 0; i < count; i++, at = at->next) {
		enum status status = schema_number(source, at, name, min, max, unit, &out[i]);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* ---- one function per type ----------------------------------------------------------------------- */

typedef enum status key_read(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out);

static enum status read_real(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	return schema_number(source, node, key->name, key->min, key->max, key->unit, out);
}

static enum status read_integer(const struct source *source, const struct yaml_node *node,
				const struct schema_key *key, void *out)
{
	return schema_integer(source, node, key->name, key->min, key->max, out);
}

static enum status read_count(const struct source *source, const struct yaml_node *node,
			      const struct schema_key *key, void *out)
{
	int64_t value;
	enum status status = read_integer(source, node, key, &value);
	if (status == STATUS_OK)
		*(uint32_t *)out = (uint32_t)value;
	return status;
}

static enum status read_seed(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	enum { DIGITS_MAX = 20 };
	bool good = node->kind == NODE_SCALAR && !node->quoted && node->text[0] != '\0' &&
		    *skip_digits(node->text) == '\0';
	if (!good)
		return wrong_type(source, node, key->name, "a whole number from 0 to 2^64 - 1");
	uint64_t value = 0;
	for (const char *at = node->text; *at != '\0'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return source_fail(source, node->line, STATUS_RANGE, key->name,
					   "%s %.24s is above 2^64 - 1", key->name, node->text);
		value = value * 10 + digit;
	}
	*(uint64_t *)out = value;
	return STATUS_OK;
}

static enum status read_bool(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	bool plain = node->kind == NODE_SCALAR && !node->quoted;
	bool yes = plain && strcmp(node->text, "true") == 0;
	if (!yes && !(plain && strcmp(node->text, "false") == 0))
		return wrong_type(source, node, key->name, "true or false");
	*(bool *)out = yes;
	return STATUS_OK;
}

static enum status read_text(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	if (node->kind != NODE_SCALAR)
		return wrong_type(source, node, key->name, "text");
	size_t bytes = strlen(node->text);
	if ((double)bytes < key->min || (double)bytes > key->max)
		return source_fail(source, node->line, STATUS_RANGE, key->name,
				   "%s has %zu bytes; it must have from %.10g to %.10g", key->name,
				   bytes, key->min, key->max);
	for (size_t i = 0; i < bytes; i++)
		if (node->text[i] < 0x20 || node->text[i] > 0x7e)
			return wrong_type(source, node, key->name, "printable ASCII");
	*(const char **)out = node->text;
	return STATUS_OK;
}

/* Position of `text` among words separated by bars, or UINT32_MAX. */
static uint32_t word_index(const char *words, const char *text)
{
	size_t bytes = strlen(text);
	for (uint32_t i = 0;; i++) {
		size_t word = strcspn(words, "|");
		if (word == bytes && memcmp(words, text, bytes) == 0)
			return i;
		if (words[word] == '\0')
			return UINT32_MAX;
		words += word + 1;
	}
}

static enum status read_word(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	if (node->kind != NODE_SCALAR)
		return wrong_type(source, node, key->name, "a word");
	uint32_t index = word_index(key->unit, node->text);
	if (index == UINT32_MAX)
		return source_fail(source, node->line, STATUS_RANGE, key->name,
				   "%s '%.16s' is not one of %s", key->name, node->text, key->unit);
	*(uint32_t *)out = index;
	return STATUS_OK;
}

static enum status read_vec3(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	double v[3];
	enum status status =
		schema_vector(source, node, key->name, key->min, key->max, key->unit, 3, v);
	if (status == STATUS_OK)
		*(vec3 *)out = vec3_make(v[0], v[1], v[2]);
	return status;
}

static enum status read_scale(const struct source *source, const struct yaml_node *node,
			      const struct schema_key *key, void *out)
{
	double v;
	if (node->kind == NODE_LIST)
		return read_vec3(source, node, key, out);
	enum status status = read_real(source, node, key, &v);
	if (status == STATUS_OK)
		*(vec3 *)out = vec3_all(v);
	return status;
}

static enum status read_counts(const struct source *source, const struct yaml_node *node,
			       const struct schema_key *key, void *out)
{
	uint32_t v[3];
	if (node->kind != NODE_LIST || node->count != 3)
		return wrong_type(source, node, key->name, "a list of 3 whole numbers");
	const struct yaml_node *at = node->first;
	for (uint32_t i = 0; i < 3; i++, at = at->next) {
		enum status status = read_count(source, at, key, &v[i]);
		if (status != STATUS_OK)
			return status;
	}
	*(struct counts *)out = (struct counts){ v[0], v[1], v[2] };
	return STATUS_OK;
}

/* About x, then y, then z, fixed axes: R = Rz Ry Rx. */
static quat turn_from_euler(vec3 degrees)
{
	quat x = quat_from_axis_angle(vec3_make(1, 0, 0), degrees.x * RADIANS_PER_DEGREE);
	quat y = quat_from_axis_angle(vec3_make(0, 1, 0), degrees.y * RADIANS_PER_DEGREE);
	quat z = quat_from_axis_angle(vec3_make(0, 0, 1), degrees.z * RADIANS_PER_DEGREE);
	return quat_mul(z, quat_mul(y, x));
}

static enum status read_axis_turn(const struct source *source, const struct yaml_node *node,
				  const struct schema_key *key, quat *out)
{
	struct rotation_keys turn;
	double length;
	enum status status = schema_read(source, node, SCHEMA_TURNING, &turn);
	if (status != STATUS_OK)
		return status;
	bool euler = (turn.given >> KEY_TURNING_euler & 1) != 0;
	bool axis_given = (turn.given >> KEY_TURNING_axis & 1) != 0;
	bool degrees_given = (turn.given >> KEY_TURNING_degrees & 1) != 0;
	if (euler && (axis_given || degrees_given))
		return source_fail(source, node->line, STATUS_EXISTS, "euler",
				   "%s has euler and an axis or degrees: give one of them",
				   key->name);
	if (euler) {
		*out = turn_from_euler(turn.euler);
		return STATUS_OK;
	}
	if (!axis_given || !degrees_given)
		return source_fail(source, node->line, STATUS_MISSING,
				   axis_given ? "degrees" : "axis",
				   "rotation needs the key '%s', or euler in place of both",
				   axis_given ? "degrees" : "axis");
	vec3 axis = vec3_normalize_length(turn.axis, &length);
	if (!(length > 1e-9))
		return source_fail(source, node->line, STATUS_DEGENERATE, key->name,
				   "the axis of %s has length %g; it must be at least 1e-09",
				   key->name, length);
	*out = quat_from_axis_angle(axis, turn.degrees * RADIANS_PER_DEGREE);
	return STATUS_OK;
}

static enum status read_turn(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	if (node->kind == NODE_MAP)
		return read_axis_turn(source, node, key, out);
	double v[4];
	if (node->kind != NODE_LIST)
		return wrong_type(source, node, key->name,
				  "[w, x, y, z], {axis, degrees} or {euler}");
	enum status status = schema_vector(source, node, key->name, -2, 2, "", 4, v);
	if (status != STATUS_OK)
		return status;
	quat q = quat_make(v[0], v[1], v[2], v[3]);
	double length = quat_length(q);
	if (!(length >= 0.5 && length <= 2))
		return source_fail(
			source, node->line, STATUS_RANGE, key->name,
			"%s has length %.15g: it must be between 0.5 and 2, and is then made 1",
			key->name, length);
	*(quat *)out = quat_normalize(q);
	return STATUS_OK;
}

enum status schema_turn(const struct source *source, const struct yaml_node *node, const char *name,
			quat *out)
{
	const struct schema_key key = { .name = name, .type = TYPE_TURN };
	return read_turn(source, node, &key, out);
}

static enum status read_rate(const struct source *source, const struct yaml_node *node,
			     const struct schema_key *key, void *out)
{
	int64_t num, den = 1;
	enum status status;
	if (node->kind == NODE_LIST && node->count == 2) {
		status = schema_integer(source, node->first, key->name, 1, 1e9, &num);
		if (status == STATUS_OK)
			status = schema_integer(source, node->first->next, key->name, 1, 1e9, &den);
	} else {
		status = schema_integer(source, node, key->name, key->min, key->max, &num);
	}
	if (status != STATUS_OK)
		return status;
	double rate = (double)num / (double)den;
	if (!(rate >= key->min && rate <= key->max))
		return source_fail(
			source, node->line, STATUS_RANGE, key->name,
			"%s [%u, %u] is the fraction %.10g: it must be between %.10g and %.10g %s",
			key->name, (unsigned)num, (unsigned)den, rate, key->min, key->max,
			key->unit);
	*(struct rate *)out = (struct rate){ (uint32_t)num, (uint32_t)den };
	return STATUS_OK;
}

static enum status read_nodes(const struct source *source, const struct yaml_node *node,
			      const struct schema_key *key, void *out)
{
	bool map = key->type == TYPE_MAP;
	if (node->kind != (map ? NODE_MAP : NODE_LIST))
		return wrong_type(source, node, key->name, map ? "a mapping" : "a list");
	/* For a mapping with its own table, the check of the keys gives a better error for too many
	 * keys. */
	if ((double)node->count < key->min || (!map && (double)node->count > key->max))
		return source_fail(source, node->line, STATUS_LIMIT, key->name,
				   "%s has %u entries; it must have from %.10g to %.10g", key->name,
				   (unsigned)node->count, key->min, key->max);
	*(const struct yaml_node **)out = node;
	return STATUS_OK;
}

static enum status read_any(const struct source *source, const struct yaml_node *node,
			    const struct schema_key *key, void *out)
{
	UNUSED(source);
	UNUSED(key);
	*(const struct yaml_node **)out = node;
	return STATUS_OK;
}

static key_read *const READERS[KEY_TYPES] = {
	[TYPE_REAL] = read_real,     [TYPE_COUNT] = read_count, [TYPE_INTEGER] = read_integer,
	[TYPE_SEED] = read_seed,     [TYPE_BOOL] = read_bool,	[TYPE_TEXT] = read_text,
	[TYPE_WORD] = read_word,     [TYPE_VEC3] = read_vec3,	[TYPE_SCALE] = read_scale,
	[TYPE_COUNTS] = read_counts, [TYPE_TURN] = read_turn,	[TYPE_RATE] = read_rate,
	[TYPE_MAP] = read_nodes,     [TYPE_LIST] = read_nodes,	[TYPE_ANY] = read_any,
};

/* ---- tables -------------------------------------------------------------------------------------- */

static void key_default(const struct schema_key *key, void *out)
{
	double value = key->initial;
	memset(out, 0, key->bytes);
	switch (key->type) {
	case TYPE_REAL:
		*(double *)out = value;
		return;
	case TYPE_COUNT:
	case TYPE_WORD:
		*(uint32_t *)out = (uint32_t)value;
		return;
	case TYPE_INTEGER:
		*(int64_t *)out = (int64_t)value;
		return;
	case TYPE_SEED:
		*(uint64_t *)out = (uint64_t)value;
		return;
	case TYPE_BOOL:
		*(bool *)out = value != 0;
		return;
	case TYPE_VEC3:
	case TYPE_SCALE:
		*(vec3 *)out = vec3_all(value);
		return;
	case TYPE_COUNTS:
		*(struct counts *)out =
			(struct counts){ (uint32_t)value, (uint32_t)value, (uint32_t)value };
		return;
	case TYPE_TURN:
		*(quat *)out = quat_identity();
		return;
	case TYPE_RATE:
		*(struct rate *)out = (struct rate){ (uint32_t)value, 1 };
		return;
	default:
		return;
	}
}

void schema_defaults(enum schema_name name, void *values)
{
	const struct schema_table *table = &schema_tables[name];
	memset(values, 0, table->bytes);
	for (uint32_t i = 0; i < table->key_count; i++)
		key_default(&table->keys[i], (char *)values + table->keys[i].offset);
}

/* Other words for keys: those that commands and clients have. */
static const struct {
	enum schema_name table;
	const char *word, *key;
} ALIASES[] = {
	{ SCHEMA_BODY, "position", "at" },
	{ SCHEMA_PLACEMENT, "position", "at" },
};

static const char *key_of(const struct schema_table *table, const char *word)
{
	for (size_t i = 0; i < COUNT_OF(ALIASES); i++)
		if (table == &schema_tables[ALIASES[i].table] && strcmp(ALIASES[i].word, word) == 0)
			return ALIASES[i].key;
	return word;
}

static enum status read_pair(const struct source *source, const struct yaml_node *pair,
			     const struct schema_table *table, void *values, uint64_t *given)
{
	const char *name = key_of(table, pair->text);
	for (uint32_t i = 0; i < table->key_count; i++) {
		const struct schema_key *key = &table->keys[i];
		if (strcmp(key->name, name) != 0)
			continue;
		if ((*given >> i & 1) != 0)
			return source_fail(source, pair->line, STATUS_EXISTS, pair->text,
					   "%.32s is another word for %s: give one of them",
					   pair->text, name);
		*given |= (uint64_t)1 << i;
		struct schema_key named = *key;
		named.name = pair->text; /* errors have the file's word */
		return READERS[key->type](source, pair->next, &named, (char *)values + key->offset);
	}
	return unknown_key(source, pair, table);
}

enum status schema_read(const struct source *source, const struct yaml_node *map,
			enum schema_name name, void *values)
{
	const struct schema_table *table = &schema_tables[name];
	uint64_t given = 0;
	if (map->kind != NODE_MAP)
		return wrong_type(source, map, table->name, "a mapping");
	schema_defaults(name, values);
	for (const struct yaml_node *pair = map->first; pair != NULL; pair = pair->next->next) {
		enum status status = read_pair(source, pair, table, values, &given);
		if (status != STATUS_OK)
			return status;
	}
	for (uint32_t i = 0; i < table->key_count; i++)
		if (table->keys[i].need && (given >> i & 1) == 0)
			return source_fail(source, map->line, STATUS_MISSING, table->keys[i].name,
					   "%s needs the key '%s'", table->name,
					   table->keys[i].name);
	memcpy((char *)values + table->given_offset, &given, sizeof given);
	return STATUS_OK;
}

void schema_merge(enum schema_name name, void *into, const void *from)
{
	const struct schema_table *table = &schema_tables[name];
	uint64_t given, before;
	memcpy(&given, (const char *)from + table->given_offset, sizeof given);
	memcpy(&before, (const char *)into + table->given_offset, sizeof before);
	for (uint32_t i = 0; i < table->key_count; i++)
		if ((given >> i & 1) != 0)
			memcpy((char *)into + table->keys[i].offset,
			       (const char *)from + table->keys[i].offset, table->keys[i].bytes);
	before |= given;
	memcpy((char *)into + table->given_offset, &before, sizeof before);
}
