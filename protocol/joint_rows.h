/* joint_rows.h: packs, divides into parts and reads rows of joints, the content of ROWS of kind 1.
 *
 * A row is a joint's id, a mask of columns (columns.def, JOINT_COLUMN), and their values. Ids ascend
 * strictly. In the profiles `exact`, `view` and `sim`, `columns` of ROWS is one bin:
 *
 *	count     varint
 *	ids       count × varint: the difference to the id before (the first: to 0), minus 1
 *	masks     count × a mask of bits, not 0: u8, and another one if bit 7 is set
 *	columns   for each bit from 0 up: the values of the joints that have it, in order of ids
 *
 * like the rows of bodies in `exact` (block.h). Numbers are little-endian. In `view` and `sim` every f64
 * is sent as the nearest f32 (of two equally near the even one), limited to ±3.4028235e38. Values are
 * never differences to an earlier frame. Profile `plain` is one array of rows with all columns of the
 * subscription:
 *
 *	[[id, type, flags, a, b, point a x y z, frame a w x y z, point b x y z, frame b w x y z,
 *	  coordinates 0 … 5, force x y z, torque x y z, owner, tag, break force, break torque], …]
 *
 * `removed` is a list of ids as in block.h.
 */
#ifndef CAIRN_PROTOCOL_JOINT_ROWS_H
#define CAIRN_PROTOCOL_JOINT_ROWS_H

#include "protocol/block.h"
#include "protocol/delta.h"

enum wire_joint_column {
#define JOINT_COLUMN(bit, NAME, name, bytes, doc) WIRE_JOINT_##NAME = 1u << (bit),
#include "protocol/columns.def"
};
enum {
#define JOINT_COLUMN(bit, NAME, name, bytes, doc) +1
	WIRE_JOINT_COLUMN_COUNT = 0
#include "protocol/columns.def"
	,
	WIRE_JOINT_COLUMNS_ALL = (1 << WIRE_JOINT_COLUMN_COUNT) - 1,
};

/* wire_joint.flags */
enum wire_joint_flags {
	WIRE_JOINT_BODIES_PASS = 1,
	WIRE_JOINT_ASLEEP = 2, /* all of its bodies are asleep or not dynamic */
};

/* The visible values of a joint; members of unknown columns are zero. */
struct wire_joint {
	uint32_t id, a, b, owner;
	int64_t tag;
	uint8_t type, flags;
	double point_a[3], frame_a[4], point_b[3], frame_b[4];
	double coordinates[6];
	double force[3], torque[3];
	double breaks[2]; /* force, torque; 0 never */
};

/* bit < WIRE_JOINT_COLUMN_COUNT. */
const char *wire_joint_column_name(uint32_t bit);
const char *wire_joint_column_doc(uint32_t bit);
/* Bytes of the columns of `mask`; `plain` as `exact`. */
uint32_t wire_joint_bytes(enum wire_profile profile, wire_mask mask);
/* Columns in which two joints differ, bit by bit. */
wire_mask wire_joint_differs(const struct wire_joint *a, const struct wire_joint *b);
/* Copies the columns of `mask`. */
void wire_joint_copy(struct wire_joint *to, const struct wire_joint *from, wire_mask mask);
/* Rounds the numbers to those that the profile can represent. */
void wire_joint_show(enum wire_profile profile, struct wire_joint *joint);
/* A joint's term of the hash of visible joints: XXH3-64 (seed 0) of u32 id and the columns of `mask` in the
 * encoding of the profile, `plain` as `exact`. body_hash_finish finishes the sum over all joints. */
uint64_t wire_joint_hash(enum wire_profile profile, const struct wire_joint *joint, wire_mask mask);

/* ---- packing ------------------------------------------------------------------------------------ */

struct joint_row {
	const struct wire_joint *joint; /* borrowed */
	wire_mask mask; /* changed columns; for a new joint all columns of the subscription */
};

/* ROWS of one state, before division into parts. */
struct joint_frame {
	enum wire_profile profile;
	wire_mask columns;
	uint8_t flags; /* enum wire_frame_flags */
	uint64_t epoch, tick;
	uint32_t edit;
	struct wire_hash hash;
	const uint32_t *removed; /* ascending (borrowed) */
	uint32_t removed_count;
	const struct joint_row *rows; /* ascending by id (borrowed) */
	uint32_t row_count;
};

/* Bytes of a row of profile `plain`, at most. */
enum { JOINT_ROW_PLAIN_MAX = 3 + 9 * (1 + 4 + 14 + 6 + 6 + 2 + 2) };
/* As delta_plan; there is always at least one part, and every row fits into the least of frames. */
MUST_CHECK enum status joint_rows_plan(const struct joint_frame *frame, uint32_t content_max,
				       struct delta_part *parts, uint32_t capacity,
				       uint32_t *count);
/* As delta_pack_tail, behind message_pack_head(MESSAGE_ROWS, …). */
MUST_CHECK enum status joint_rows_pack_tail(const struct joint_frame *frame,
					    const struct delta_part *parts, uint32_t count,
					    uint32_t index, uint8_t *data, uint32_t capacity,
					    uint32_t *bytes);
/* The value `columns` alone. */
void joint_rows_pack(struct wire_packer *out, enum wire_profile profile, wire_mask columns,
		     const struct joint_row *rows, uint32_t count);

/* ---- reading ------------------------------------------------------------------------------------ */

/* Row by row; nothing is allocated. */
struct joint_reader {
	enum wire_profile profile;
	wire_mask columns;
	uint32_t left; /* rows not yet read */
	uint32_t id;   /* of the last row read */
	const uint8_t *ids, *masks, *end;
	const uint8_t *at[WIRE_JOINT_COLUMN_COUNT]; /* the next value of each column */
	struct wire_cursor rows;		    /* plain */
};
/* `value` (borrowed) is a whole MessagePack value. Structure is checked here: STATUS_MALFORMED. */
MUST_CHECK enum status joint_rows_open(struct joint_reader *self, enum wire_profile profile,
				       wire_mask columns, struct wire_slice value);
/* The next row: sets the id and the columns of *mask in *joint; the other columns are unchanged.
 * STATUS_MISSING after the last row; STATUS_MALFORMED, also for a number that is not finite. */
MUST_CHECK enum status joint_rows_next(struct joint_reader *self, struct wire_joint *joint,
				       wire_mask *mask);

#endif
