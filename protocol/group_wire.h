/* group_wire.h: what STEP_WORLDS says about every world that it steps: the commands of an action,
 * with places for numbers, and the observation to make after it (observations.def).
 *
 *   actions   [[op, field, …], …] as in COMMANDS. A nil in the place of a number (F64), a vector
 *             (VEC3) or a rotation (QUAT) takes the next 1, 3 or 4 numbers of the action; a nil
 *             inside a vector, a rotation or a target takes 1.
 *   observe   [[kind, [item, …], …], …]
 *
 * Both are decoded once for all worlds. A command with its numbers filled in is again a command as
 * on the wire, so that it is checked, journalled and replayed like any other.
 */
#ifndef CAIRN_PROTOCOL_GROUP_WIRE_H
#define CAIRN_PROTOCOL_GROUP_WIRE_H

#include "protocol/columns.h"
#include "protocol/cursor.h"
#include "protocol/packer.h"
#include "server/base/array.h"
#include "server/base/bytes.h"

/* A place for a number: the byte at which its eight bytes begin (big-endian), its command and
 * field. */
struct action_place {
	uint32_t at, command;
	const char *field;
};

struct wire_actions {
	struct bytes packed; /* the commands, 0 in each place */
	ARRAY_OF(struct action_place) places;
	uint32_t count; /* commands */
};

/* Decodes `actions`. TYPE, RANGE …: `why` has the index of the command and its field. NO_MEMORY. */
MUST_CHECK enum status actions_take(const struct wire_list *list, struct wire_actions *out,
				    struct reason *why);
void actions_release(struct wire_actions *self);
/* Writes the commands into `to` (packed.count bytes) with these numbers (f64 little-endian, one for
 * each place). */
void actions_fill(const struct wire_actions *self, const uint8_t *values, uint8_t *to);
/* NOT_FINITE: one of the numbers is; `why` has its command and its position. */
MUST_CHECK enum status actions_check(const struct wire_actions *self, const uint8_t *values,
				     struct reason *why);

enum observation_kind {
#define OBSERVATION(kind, NAME, name, items, numbers) OBSERVE_##NAME = (kind),
#include "protocol/observations.def"
};

struct observed_item {
	enum observation_kind kind;
	wire_mask columns; /* BODIES */
	uint32_t id,
		other; /* body or joint; CONTACTS: the other body; RAYS: the body of the axes */
	double origin[3], direction[3]; /* RAYS */
	double length;
	uint32_t category, mask, ignore;
};

struct wire_observe {
	ARRAY_OF(struct observed_item) items;
	uint32_t width; /* numbers of an observation */
};

/* Decodes `observe`. TYPE, RANGE …: `why` has the index of the part. NO_MEMORY. */
MUST_CHECK enum status observe_take(const struct wire_list *list, struct wire_observe *out,
				    struct reason *why);
void observe_release(struct wire_observe *self);

/* An item of STEPPED_WORLDS. */
struct wire_group_item {
	uint32_t world;
	uint64_t request;
	enum status code;
	uint32_t epoch, edit, steps;
	uint64_t tick;
	struct wire_hash tick_hash, state_hash;
	struct wire_list values; /* ids that the world's own commands made, 0 for none */
	int64_t index;		 /* of the refused command or action, or −1 */
	struct wire_slice field, text;
};
enum { GROUP_ITEM_BYTES = 128 }; /* of an item, packed, without its values, field and text */
void group_item_pack(struct wire_packer *out, const struct wire_group_item *item);
/* `values`, `field` and `text` are borrowed. */
MUST_CHECK enum status group_item_take(struct wire_cursor *in, struct wire_group_item *item);

#endif
