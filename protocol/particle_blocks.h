/* particle_blocks.h: the content of BLOCKS: particles of all systems, as ranges of serial numbers.
 *
 * A *block* covers the particles of one system with serial numbers from `first` to `last`. It lists
 * those that are gone and those that are new since the frame before; all others of the range are
 * *kept*, and the columns that follow have a value, or a change, for each of them in their order.
 * Over all parts of a frame blocks ascend by (system, first) and do not overlap. A particle that no
 * block covers stays as it is, except that the particles of a system that `systems` does not list
 * are gone.
 *
 * In the profiles `exact`, `view` and `sim`, `blocks` is one bin of blocks:
 *
 *	system, first, last    varints
 *	removed                varint count, then for each the difference to the serial before (at
 *	                       first: to first − 1), minus 1: varints
 *	created                likewise
 *	forecast               view and sim: u8; 1: 8 f64 follow, carry, shift x y z, decay, gain
 *	                       x y z (struct wire_forecast); 0: that of the block before in the
 *	                       frame, at first none
 *	kept                   by column: velocity and position in view and sim as *changes*,
 *	                       else as *values*
 *	new                    by column: velocity and position in view and sim as 3 zigzag varints
 *	                       for each new particle, else the value of each
 *
 * *Values* are u8 how: 0 none differs; 1 the values of all kept ones; 2 a bit for each kept one
 * (the first in bit 0 of the first byte), 1 if it differs, and the values of those.
 *
 * *Changes* are codes for the kept particles in their order. The difference of each axis to the
 * forecast:
 *
 *	0 … 124      d = code: x = d mod 5 − 2, y = ⌊d / 5⌋ mod 5 − 2, z = ⌊d / 25⌋ − 2
 *	125 n        varint n: this and the next n particles have the value of the frame before
 *	126 x y z    3 zigzag varints
 *
 * Numbers are little-endian. Profile `plain` is an array of
 *
 *	[system, first, last, [removed, …], [[serial, velocity x y z, position x y z, radius, mass, birth,
 *	 death, density, pressure], …]]
 *
 * with the subscribed columns of new particles and of those that differ, ascending.
 */
#ifndef CAIRN_PROTOCOL_PARTICLE_BLOCKS_H
#define CAIRN_PROTOCOL_PARTICLE_BLOCKS_H

#include "protocol/particle_columns.h"
#include "server/base/array.h"
#include "server/base/bytes.h"

enum {
	PARTICLE_CODES = 125, /* three differences of −2 … 2 */
	PARTICLE_SAME = 125,
	PARTICLE_FAR = 126,
	PARTICLE_VALUES_NONE = 0,
	PARTICLE_VALUES_ALL = 1,
	PARTICLE_VALUES_SOME = 2,
};

/* BLOCKS of one state, before division into parts. Everything is borrowed; both lists of particles
 * ascend. */
struct particle_frame {
	enum wire_profile profile;
	wire_mask columns;
	uint8_t flags; /* enum wire_frame_flags; WHOLE: there is no base */
	uint64_t epoch, tick;
	uint32_t edit;
	struct wire_hash hash;
	const struct wire_system_count *systems; /* ids ascending */
	const struct wire_forecast *forecasts;	 /* of each; NULL: none. Read in view and sim */
	uint32_t system_count;
	const struct wire_particle *base, *now; /* as the frame before showed them, and today's */
	uint32_t base_count, now_count;
};

/* Encoded blocks, divided into parts. */
struct particle_part {
	size_t first, bytes; /* in `data` */
	uint32_t blocks;
};
struct particle_parts {
	struct bytes data; /* owned */
	ARRAY_OF(struct particle_part) items;
	uint64_t rows; /* particles that were compared or packed */
};
void particle_parts_release(struct particle_parts *self);

/* Encodes all blocks; `content_max` ≥ WIRE_FRAME_PARTICLES bounds the content of a part. There is
 * at least one part. FULL: more than WIRE_PARTS_MAX; NO_MEMORY. */
MUST_CHECK enum status particle_parts_make(const struct particle_frame *frame, uint32_t content_max,
					   struct particle_parts *out);
/* As delta_pack_tail, behind message_pack_head(MESSAGE_BLOCKS, …). */
MUST_CHECK enum status particle_parts_pack_tail(const struct particle_frame *frame,
						const struct particle_parts *parts, uint32_t index,
						uint8_t *data, uint32_t capacity, uint32_t *bytes);
/* The hash of all particles of `now`. */
uint64_t particle_frame_hash(const struct particle_frame *frame);

#endif
