/* block_quantised.h: the packing side of blocks in `view` and `sim` (block.h has their layout). */
#ifndef CAIRN_PROTOCOL_BLOCK_QUANTISED_H
#define CAIRN_PROTOCOL_BLOCK_QUANTISED_H

#include "protocol/block.h"

/* Upper bound of the bytes of rows, by their masks; and the bytes of one row, by its numbers. */
uint64_t block_quantised_bytes_max(wire_mask fields, const struct block_row *rows, uint32_t count);
uint32_t block_quantised_row_bytes(wire_mask fields, const struct block_row *row);
void block_quantised_pack(struct wire_packer *out, wire_mask fields, const struct block_row *rows,
			  uint32_t count);

#endif
