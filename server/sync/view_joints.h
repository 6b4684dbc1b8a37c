/* view_joints.h: the joints of a view, while the host tells them, with enough history to say what
 * changed since an earlier frame.
 *
 * Rows ascend by id, as ids do within an epoch. For every row: the serial at which it came and
 * those at which each column last changed. A ring of removals reaches back VIEW_JOINT_REMOVALS_MAX
 * entries; an entry keeps the bodies, because who saw one of them had the joint. `changed` is the
 * serial of the last change of all: what stands on that or later is told nothing, and nothing is
 * looked at.
 *
 * The joints of a body hang in a list of ends, so that who sees few bodies looks at few joints.
 *
 * A base older than `since`, or than the ring, is served by all the joints there are
 * (WIRE_FRAME_WHOLE): the history of joints never costs a SNAPSHOT of the bodies.
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

/* One end in the list of its body; index + 1, 0 none. Of a slot that is not in use nothing holds. */
struct view_joint_end {
	uint32_t id; /* the joint's */
	uint32_t next, previous;
};

struct view_joint_removal {
	uint64_t serial, created;
	uint32_t id, a, b;
};

struct view_joints {
	bool told;	  /* rows are the world's: the last report told them */
	uint64_t since;	  /* serial at which all were told */
	uint64_t changed; /* serial of the last change */
	ARRAY_OF(struct view_joint) rows;
	ARRAY_OF(struct view_joint_end) ends;
	ARRAY_OF(uint32_t) idle; /* slots */
	struct table firsts;	 /* body → first end + 1 */
	/* Owned ring; it doubles as it fills, up to VIEW_JOINT_REMOVALS_MAX. */
	struct view_joint_removal *removals;
	uint32_t removal_capacity;
	uint64_t removal_count; /* since then; entry i stands at i % removal_capacity */
};

void view_joints_release(struct view_joints *self);
/* What the report of that serial tells. CORRUPT where it does not fit the rows; NO_MEMORY. */
MUST_CHECK enum status view_joints_apply(struct view_joints *self, const struct tick_report *report,
					 uint64_t serial);
/* Joints at a body: for (end = view_joints_first(…); end != 0; end = view_joints_next(…)). */
uint32_t view_joints_first(const struct view_joints *self, uint32_t body);
uint32_t view_joints_next(const struct view_joints *self, uint32_t end);
/* Whether it is the end at the joint's a. */
static inline bool view_joints_at_a(uint32_t end)
{
	return end % 2 == 1;
}
/* The row of an end; until the rows change. */
const struct view_joint *view_joints_at(const struct view_joints *self, uint32_t end);
/* Whether the removals after `base` are all there. */
bool view_joints_reach(const struct view_joints *self, uint64_t base);
/* Columns of a row that changed after `base`. */
wire_mask view_joint_since(const struct view_joint *row, uint64_t base);

#endif
