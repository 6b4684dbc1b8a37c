/* soft_wide.h: joints side by side: what kernels of several lanes read of trees and loose joints.
 * soft_wide.c describes the waves. Private to soft-step. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_H

#include "server/engine/methods/soft_lanes.h"

struct soft_joint;
struct soft_joints;
struct soft_pass;
struct soft_row;

/* Eight doubles of a block. */
struct wide8 {
	_Alignas(64) double at[BLOCK_LANES];
};

/* One row of eight joints of trees, as in soft_joint. */
struct wide_row {
	struct wide8 reach[6], pivot_inv, change;
};

/* Up to eight joints of one wave with as many locked rows and no others; no two share a body that
 * impulses move. The first lanes are used; the others read what the first one does, and write nothing. */
struct wide_block {
	struct soft_joint *joint[BLOCK_LANES];
	const struct soft_row *locks[BLOCK_LANES];
	uint32_t a[BLOCK_LANES], b[BLOCK_LANES]; /* jointed bodies; 0 in unused lanes */
	uint8_t lanes, rows;
	uint8_t moves_a, moves_b;   /* bit per lane: impulses move the body */
	bool child_b, moves_parent; /* of a tree, as in soft_joint */
	struct wide_row *row;	    /* of a tree */
	struct wide8 *factor;	    /* of a tree: L, as in soft_joint */
};

/* What comes next among the joints that are solved one by one: a block, or a joint that is in none. */
struct wide_item {
	uint32_t at;
	bool block;
};

/* Consecutive groups that are trees of locked rows, and their blocks, a wave after the other. */
struct wide_run {
	uint32_t group_first, group_last;
	uint32_t block_first, block_last;
};

struct soft_wide {
	const struct soft_wide_kernels *kernels; /* NULL: no lanes */
	struct wide_block *blocks;
	uint32_t block_count;
	struct wide_run *runs;
	uint32_t run_count;
	struct wide_item *items; /* all that is solved one by one; NULL: all joints, in order */
	uint32_t item_count;
};

/* The passes over blocks, for one width of vectors (soft_wide_passes.h). */
struct soft_wide_kernels {
	void (*factor)(struct soft_joints *joints, struct wide_block *block);
	void (*upward)(const struct soft_pass *pass, struct wide_block *block);
	void (*downward)(struct soft_joints *joints, const struct wide_block *block);
	void (*locks)(const struct soft_pass *pass, struct wide_block *block);
};

#endif
