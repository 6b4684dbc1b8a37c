/* view_joints.h: the joints of a view, while the host reports them, with enough history to find the
 * changes since an earlier frame.
 *
 * Rows ascend by id, as ids do within an epoch. Every row has the serial of its creation and, for
 * each column, that of its last change. A ring holds the last VIEW_JOINT_REMOVALS_MAX removals; an
 * entry includes the bodies, because a client had the joint if it saw one of them. `changed` is the
 * serial of the last change of any joint: a base at or after it needs no ROWS, and no joint is
 * visited.
 *
 * The joints of a body form a list of ends, so that an interest in few bodies visits few joints.
 *
 * A base older than `since`, or than the ring, is served with all joints (WIRE_FRAME_WHOLE): the
 * history of joints never causes a SNAPSHOT of the bodies.
 */
#ifndef CAIRN_SYNC_VIEW_JOINTS_H
#define CAIRN_SYNC_VIEW_JOINTS_H

#include "protocol/joint_rows.h"
#include "server/base/array.h"
#include "server/base/table.h"
#include "server/host/report.h"

enum { VIEW_JOINT_REMOVALS_MAX = 65536 };

struct view_joint {
	struct wire_joint joint;
	uint64_t created;			   /* serial */
	uint64_t changed[WIRE_JOINT_COLUMN_COUNT]; /* serial, by column */
	uint32_t slot; /* its ends are 2 slot, at a, and 2 slot + 1, at b */
};

/* One end in the list of its body; links are index + 1, 0 none. Fields of an unused slot are
 * undefined. */
struct view_joint_end {
	uint32_t id; /* the joint's */
	uint32_t next, previous;
};

struct view_joint_removal {
	uint64_t serial, created;
	uint32_t id, a, b;
};

struct view_joints {
	bool valid;	  /* rows are valid: the last report contained the joints */
	uint64_t since;	  /* serial of the report that contained all joints */
	uint64_t changed; /* serial of the last change */
	ARRAY_OF(struct view_joint) rows;
	ARRAY_OF(struct view_joint_end) ends;
	ARRAY_OF(uint32_t) idle; /* unused slots */
	struct table firsts;	 /* body → first end + 1 */
	/* Owned ring; it doubles as it fills, up to VIEW_JOINT_REMOVALS_MAX. */
	struct view_joint_removal *removals;
	uint32_t removal_capacity;
	uint64_t removal_count; /* since `since`; entry i is at i % removal_capacity */
};

void view_joints_release(struct view_joints *self);
/* Applies the joints of the report of that serial. CORRUPT: they do not fit the rows; NO_MEMORY. */
MUST_CHECK enum status view_joints_apply(struct view_joints *self, const struct tick_report *report,
					 uint64_t serial);
/* Joints at a body: for (end = view_joints_first(…); end != 0; end = view_joints_next(…)). */
uint32_t view_joints_first(const struct view_joints *self, uint32_t body);
uint32_t view_joints_next(const struct view_joints *self, uint32_t end);
/* True if the end is at the joint's body a. */
static inline bool view_joints_at_a(uint32_t end)
{
	return end % 2 == 1;
}
/* The row of an end; valid until the rows change. */
const struct view_joint *view_joints_at(const struct view_joints *self, uint32_t end);
/* True if the ring has every removal after `base`. */
bool view_joints_reach(const struct view_joints *self, uint64_t base);
/* Columns of a row that changed after `base`. */
wire_mask view_joint_since(const struct view_joint *row, uint64_t base);

#endif
