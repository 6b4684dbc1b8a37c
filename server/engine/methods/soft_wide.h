/* soft_wide.h: joints side by side: what kernels of several lanes read of trees and loose joints.
 * soft_wide.c describes the waves. Private to soft-step. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_H

#include "server/engine/methods/soft_lanes.h"

struct soft_joint;
struct soft_joints;
struct soft_pass;
struct soft_row;
struct body_motion;

/* Eight doubles of a block. */
struct wide8 {
	_Alignas(64) double at[BLOCK_LANES];
};

/* One row of eight joints, as in soft_joint. */
struct wide_row {
	struct wide8 on_a[6], on_b[6]; /* J: linear, then angular */
	struct wide8 bias, impulse, total, pivot_inv;
	struct wide8 change; /* of a tree: μ, then λ */
};

/* The rest of eight joints, as in soft_joint and joint. */
struct wide_joint {
	struct wide8 pushed[6], total_pushed[6], arm[3], open;
	struct wide8 point_a[3], point_b[3];
	struct wide8 frame_a[4], at[3]; /* of a block of balls; frame_a: w x y z */
	/* Of a tree: from the mass centres to the anchors, m; as in soft_joint. */
	struct wide8 arm_a[3], arm_b[3], pull[3], pull_before[3];
};

/* Up to eight joints of one wave with as many locked rows and no others; no two share a body that
 * impulses move. The first lanes are used; the others see the motions of the first one, and their rows are 0.
 * From the plan on, all that changes in these joints is here; soft_wide_return copies it. */
struct wide_block {
	uint32_t number[BLOCK_LANES]; /* of the joint in the list */
	const struct body_motion *motion_a[BLOCK_LANES], *motion_b[BLOCK_LANES];
	uint32_t a[BLOCK_LANES], b[BLOCK_LANES]; /* jointed bodies; 0 in unused lanes */
	uint8_t lanes, rows;
	uint8_t has_a, has_b;	    /* bit per lane: a, b is not number 0 */
	uint8_t moves_a, moves_b;   /* bit per lane: impulses move the body */
	uint8_t acted;		    /* bit per lane */
	bool child_b, moves_parent; /* of a tree, as in soft_joint */
	bool loose;		    /* else of a tree */
	bool balls;		    /* the rows are the three axes along, which the kernels make */
	double open;		    /* m, rad: the largest of a lane */
	struct wide_row *row;
	struct wide_joint *more;
	struct wide8 *factor; /* L, as in soft_joint */
	struct wide8 *reach;  /* of a tree: T, six of each row */
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
	struct wide_block *blocks;		 /* of trees, then of loose joints */
	uint32_t block_count, loose_first;
	struct wide_run *runs;
	uint32_t run_count;
	struct wide_item *items; /* all that is solved one by one; NULL: the rest, in order */
	uint32_t item_count;
	uint32_t *rest; /* joints in no block, ascending; NULL: all */
	uint32_t rest_count;
	uint32_t *apart; /* of these, the ones in no closed group (soft_closed.c); NULL: all */
	uint32_t apart_count;
};

/* What rows are made of, besides motions. */
struct wide_measure {
	struct soft_joints *joints;
	double bias_rate, push_speed; /* 1/s; m/s, rad/s: of biases */
	double half;		      /* s: half a sub-step */
	double dt;		      /* s: of the step */
};

/* The passes over blocks, for one width of vectors (soft_wide_rows.h, soft_wide_passes.h). */
struct soft_wide_kernels {
	/* Rows and biases at the present motions. Returns a bit per lane of balls that spin so fast that
	 * whole turns are to be counted. */
	uint32_t (*measure)(const struct wide_measure *measure, struct wide_block *block);
	void (*tighten)(struct soft_joints *joints, const struct wide_block *block, double h);
	void (*factor)(struct soft_joints *joints, struct wide_block *block);
	void (*warm)(struct soft_joints *joints, struct wide_block *block);
	void (*upward)(const struct soft_pass *pass, struct wide_block *block);
	void (*downward)(struct soft_joints *joints, struct wide_block *block);
	void (*locks)(const struct soft_pass *pass, struct wide_block *block);
	void (*add_totals)(struct wide_block *block);
	/* m/s, rad/s: the greatest speed of a row. */
	double (*residual)(const struct soft_joints *joints, const struct wide_block *block);
};

#endif
