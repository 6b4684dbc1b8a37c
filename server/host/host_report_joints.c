/* host_report_joints.c: the joints that a boundary changed, for a TICK report, while they are watched. */
#include <string.h>

#include "server/host/host_state.h"
#include "server/host/report_world.h"

/* The three ascending lists of the change set, merged into one by id. */
static enum status add_changes(const struct host *host, struct tick_report *ticked,
			       const struct world_joint_changes *changes)
{
	const joint_id *const lists[3] = { changes->created, changes->moved, changes->changed };
	const uint32_t counts[3] = { changes->created_count, changes->moved_count,
				     changes->changed_count };
	static const uint8_t reasons[3] = { REPORT_CREATED, REPORT_MOVED, REPORT_CHANGED };
	uint32_t next[3] = { 0, 0, 0 };
	enum status status = array_reserve(&ticked->joint_list, &ticked->joint_room,
					   (uint64_t)counts[0] + counts[1] + counts[2],
					   sizeof *ticked->joint_list);
	while (status == STATUS_OK) {
		joint_id least = UINT32_MAX;
		uint8_t why = 0;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k])
				least = MIN_OF(least, lists[k][next[k]]);
		if (least == UINT32_MAX)
			break;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k] && lists[k][next[k]] == least) {
				why |= reasons[k];
				next[k]++;
			}
		status = report_add_joint(host->world, ticked, least, why);
	}
	return status;
}

enum status host_report_joints(struct host *host, bool stepping, struct tick_report *ticked)
{
	ticked->joints = host->joints_watched;
	ticked->joints_all = host->joints_watched && (host->joints_due || ticked->whole);
	if (!ticked->joints)
		return STATUS_OK;
	if (ticked->joints_all)
		return report_add_joints(host->world, ticked);
	/* A report about control alone repeats no change. */
	if (!stepping)
		return STATUS_OK;
	struct world_joint_changes changes;
	enum status status = world_joint_changes(host->world, &changes);
	if (status == STATUS_OK)
		status = array_reserve(&ticked->joints_removed, &ticked->joint_removed_room,
				       changes.removed_count, sizeof *ticked->joints_removed);
	if (status != STATUS_OK)
		return status;
	ticked->joint_removed_count = changes.removed_count;
	if (changes.removed_count > 0)
		memcpy(ticked->joints_removed, changes.removed,
		       changes.removed_count * sizeof *ticked->joints_removed);
	return add_changes(host, ticked, &changes);
}
