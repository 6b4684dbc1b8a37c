/* mirror_joints.h: the joints of a mirror (mirror.h), ascending by id.
 *
 * The joints are exactly those of the server: a joint that is no longer visible is listed in
 * `removed`, also if it leaves because none of its bodies is visible. So a removed joint must exist
 * here, and the row of a joint that does not exist here must have all columns.
 */
#ifndef CAIRN_PROTOCOL_MIRROR_JOINTS_H
#define CAIRN_PROTOCOL_MIRROR_JOINTS_H

#include "protocol/joint_rows.h"

struct mirror_joints {
	enum wire_profile profile;
	wire_mask columns;	       /* as subscribed; 0 none */
	uint32_t count, capacity, max; /* a server that sends more is refused */
	struct wire_joint *items;      /* owned */
	uint32_t *fresh;	       /* owned scratch: ids of one part that are new */
	uint32_t fresh_capacity;
	struct joint_reader reader;
};

void mirror_joints_release(struct mirror_joints *self);
/* Applies one message. MALFORMED, LIMIT, NO_MEMORY. */
MUST_CHECK enum status mirror_joints_apply(struct mirror_joints *self,
					   const struct msg_rows *frame);
/* Hash of all of them, as the last part of ROWS carries it. */
uint64_t mirror_joints_hash(const struct mirror_joints *self, uint64_t tick);
/* NULL when there is none. Borrowed until the next frame. */
const struct wire_joint *mirror_joints_find(const struct mirror_joints *self, uint32_t id);

#endif
