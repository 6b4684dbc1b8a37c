/* mirror.h: a subscription's bodies, joints and particles as a client sees them; applies frames and
 * checks hashes.
 *
 * Bodies are in ascending order of ids. A frame in several parts is applied as it arrives;
 * `complete` is false from its first part until its last (the last part of ROWS and of BLOCKS, if
 * the frame announces them). Only a complete mirror is a state of the world. After any refusal the
 * mirror is incomplete until the next SNAPSHOT (request one with RESYNC).
 */
#ifndef CAIRN_PROTOCOL_MIRROR_H
#define CAIRN_PROTOCOL_MIRROR_H

#include "protocol/block.h"
#include "protocol/mirror_joints.h"
#include "protocol/mirror_particles.h"

struct mirror {
	enum wire_profile profile;
	wire_mask fields;
	uint64_t epoch;
	uint64_t tick; /* of the last complete frame */
	uint32_t edit; /* of it */
	bool complete;
	bool checked; /* the last complete frame carried hashes, and they were right */
	uint32_t count, capacity;
	struct wire_body
		*bodies; /* owned; shapes and contacts of each as well (contacts.h reads them) */
	/* Profiles `view` and `sim`: the quantised values, one for each body; else NULL. Owned. */
	struct wire_quantised *quantised;
	uint32_t body_max;		   /* a server that sends more than this many is refused */
	struct mirror_joints joints;	   /* `columns` is 0 until mirror_watch_joints */
	struct mirror_particles particles; /* likewise, mirror_watch_particles */

	/* The frame that is arriving. */
	enum message_type
		arriving; /* MESSAGE_NONE between frames; ROWS, BLOCKS once what precedes them has come */
	bool blocks_follow;
	uint64_t arriving_tick;
	uint32_t arriving_edit;
	uint32_t next_part, of;
	uint32_t *scratch; /* owned: ids of one part */
	uint32_t scratch_capacity;
	struct block_reader reader;
};

void mirror_init(struct mirror *self, enum wire_profile profile, wire_mask fields,
		 uint32_t body_max);
/* Before the first frame: the subscription is to these columns of joints (JOINT_COLUMN) as well. */
void mirror_watch_joints(struct mirror *self, wire_mask columns, uint32_t joint_max);
/* The same for columns of particles (PARTICLE_COLUMN). */
void mirror_watch_particles(struct mirror *self, wire_mask columns, uint32_t particle_max);
void mirror_release(struct mirror *self);

/* Applies one message. *last (may be NULL) is true if it completed its frame: then send ACK.
 *   STATUS_MALFORMED  contents do not decode, an id is missing or twice, rows or blocks without a
 *                     subscription
 *   STATUS_SEQUENCE   parts out of order, or another base or epoch than the mirror's
 *   STATUS_DIVERGED   the hash it carried is not the mirror's
 *   STATUS_LIMIT      more than body_max bodies, joint_max joints or particle_max particles
 *   STATUS_NO_MEMORY */
MUST_CHECK enum status mirror_snapshot(struct mirror *self, const struct msg_snapshot *frame,
				       bool *last);
MUST_CHECK enum status mirror_delta(struct mirror *self, const struct msg_delta *frame, bool *last);
MUST_CHECK enum status mirror_rows(struct mirror *self, const struct msg_rows *frame, bool *last);
MUST_CHECK enum status mirror_blocks(struct mirror *self, const struct msg_blocks *frame,
				     bool *last);
/* Whichever of the four it is. */
MUST_CHECK enum status mirror_take(struct mirror *self, const struct message *message, bool *last);

/* NULL when there is none. Borrowed until the next frame. */
const struct wire_body *mirror_find(const struct mirror *self, uint32_t id);

/* Hashes of the bodies; in `view` and `sim`, of the integers. The view hash covers `fields`. The
 * tick hash can be compared only if the subscription is to the whole world with
 * WIRE_COLUMNS_TICK. */
uint64_t mirror_view_hash(const struct mirror *self, uint64_t tick);
uint64_t mirror_tick_hash(const struct mirror *self, uint64_t tick);

#endif
