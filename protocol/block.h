/* block.h: rows of bodies as one MessagePack value: the `columns` of SNAPSHOT and DELTA.
 *
 * A row is a body's id, a mask of columns, and their values. Ids ascend strictly.
 *
 * Profile `exact`, one bin:
 *
 *	count     varint
 *	ids       count × varint: the difference to the id before (the first: to 0), minus 1
 *	masks     count × a mask of bits of columns.def, not 0: u8, and another one if bit 7 is set
 *	columns   for each bit from 0 up: the values of the bodies that have it, in order of ids
 *
 * Values are as in columns.def, little-endian. Varints carry 7 bits a byte, low ones first; the top
 * bit is 1 if more bytes follow. A list of ids (`created`, `removed`) is a bin of count and ids, or
 * nil.
 *
 * Profiles `view` and `sim`: also a bin. Rows with the same mask and consecutive ids form a run, and
 * the quantised columns are changes (quantise.h):
 *
 *	count     varint
 *	runs      until there are count rows, each:
 *		head	varint: (first id − the id before − 1) · 2, and 1 if it has several rows
 *		more	varint, only if so: rows − 2
 *		mask	as above
 *	columns   as above, except contacts (contacts.h) and
 *
 *	position, velocity, spin	3 × zigzag varint: difference in steps
 *	rotation	if the same component is left out: (zigzag of the first difference) · 2,
 *			then two zigzag varints; else: largest · 2 + 1, then 3 × zigzag values
 *
 * Profile `plain`, one array of rows:
 *
 *	[[id, px, py, pz, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, status, flags, owner, tag,
 *	  [[name, px, py, pz, qw, qx, qy, qz], …],
 *	  [[other, child, other child, px, py, pz, nx, ny, nz, separation, impulse, fx, fy, fz], …]], …]
 *
 * with exactly the columns of the subscription, and floats as float 64, so that a client of ten lines
 * needs no masks. A list of ids is an array.
 */
#ifndef CAIRN_PROTOCOL_BLOCK_H
#define CAIRN_PROTOCOL_BLOCK_H

#include "protocol/columns.h"
#include "protocol/cursor.h"
#include "protocol/packer.h"
#include "protocol/quantise.h"

struct block_row {
	const struct wire_body *body; /* borrowed */
	wire_mask mask;		      /* columns that changed; a new body's are all of the fields */
	bool created;		      /* new to the subscription */
	/* Quantised profiles: the present values, and the base of the change (borrowed). A NULL
	 * base is all zeros: for a created row and in an absolute frame. */
	const struct wire_quantised *to, *from;
	/* Quantised profiles: the encoded contacts, if the mask has the column (borrowed). */
	struct wire_slice contacts;
};

/* STATUS_OK or STATUS_RANGE. */
MUST_CHECK enum status block_profile_check(uint64_t profile);

/* Upper bound of the bytes that a row adds to its block. */
uint32_t block_row_bytes_max(enum wire_profile profile, wire_mask fields,
			     const struct block_row *row);
/* The same for many rows: a wider bound that is faster to compute. */
uint64_t block_bytes_max(enum wire_profile profile, wire_mask fields, const struct block_row *rows,
			 uint32_t count);
/* A closer bound, slower to compute, for a row in the quantised profiles. */
uint32_t block_row_bytes(enum wire_profile profile, wire_mask fields, const struct block_row *row);
enum { BLOCK_ID_BYTES_MAX = 5, BLOCK_HEADER_BYTES_MAX = 5 + 5 };

/* Packs the rows as one MessagePack value. Rows ascend by id. Of each row only the columns in `fields`
 * are packed; every row must have at least one of these. */
void block_pack(struct wire_packer *out, enum wire_profile profile, wire_mask fields,
		const struct block_row *rows, uint32_t count);
void block_pack_ids(struct wire_packer *out, enum wire_profile profile, const uint32_t *ids,
		    uint32_t count);
/* The ids of the rows that are `created`. */
void block_pack_created(struct wire_packer *out, enum wire_profile profile,
			const struct block_row *rows, uint32_t count);

/* Reads a block row by row; nothing is allocated. The reader stores the shapes of a `plain` row, so
 * they are valid until the next row; contacts of such a row stay packed (block_take_contacts). */
struct block_reader {
	enum wire_profile profile;
	wire_mask fields;
	uint32_t left; /* rows not yet read */
	uint32_t id;   /* of the last row read */
	const uint8_t *ids, *masks, *end;
	const uint8_t *columns[WIRE_COLUMN_COUNT]; /* the next value of each column */
	bool quantised;
	uint32_t run; /* rows of the present run not yet read */
	wire_mask run_mask;
	struct wire_change change; /* of the last row; wire_change_apply */
	struct wire_cursor rows;
	struct wire_list contacts; /* of the last `plain` row */
	uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
};
/* `value` (borrowed) is a whole MessagePack value. Structure is checked here: STATUS_MALFORMED. */
MUST_CHECK enum status block_open(struct block_reader *self, enum wire_profile profile,
				  wire_mask fields, struct wire_slice value);
/* The next row: sets the id and the columns of *mask in *body; the other columns are unchanged.
 * Quantised columns of *mask go into `change` instead, contacts of `plain` into `contacts`.
 * STATUS_MISSING after the last, STATUS_MALFORMED. */
MUST_CHECK enum status block_next(struct block_reader *self, struct wire_body *body,
				  wire_mask *mask);

/* The size of a plain row's contacts in profile `exact`, 0 for none; and the contacts so encoded. */
uint32_t block_contact_bytes(const struct block_reader *self);
void block_take_contacts(const struct block_reader *self, uint8_t *out);

/* Reads a list of ids the same way. */
struct block_ids {
	enum wire_profile profile;
	uint32_t left;
	uint32_t id;
	struct wire_cursor in; /* plain: values; exact: bytes */
};
MUST_CHECK enum status block_ids_open(struct block_ids *self, enum wire_profile profile,
				      struct wire_slice value);
MUST_CHECK enum status block_ids_next(struct block_ids *self, uint32_t *id);

#endif
