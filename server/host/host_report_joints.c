/* host_report_joints.c: the joints that a boundary changed, for a TICK report, while they are watched. */
#include <string.h>

#include "server/host/host_state.h"

struct wire_joint report_wire_joint(const struct joint_view *from)
{
	struct wire_joint to = {
		.id = from->id,
		.a = from->a,
		.b = from->b,
		.owner = from->owner,
		.tag = from->tag,
		.type = from->type,
		.flags = (uint8_t)((from->flags & JOINT_BODIES_PASS ? WIRE_JOINT_BODIES_PASS : 0) |
				   (from->asleep ? WIRE_JOINT_ASLEEP : 0)),
		.breaks = { from->break_force, from->break_torque },
	};
	memcpy(to.point_a, &from->point_a, sizeof to.point_a);
	memcpy(to.frame_a, &from->frame_a, sizeof to.frame_a);
	memcpy(to.point_b, &from->point_b, sizeof to.point_b);
	memcpy(to.frame_b, &from->frame_b, sizeof to.frame_b);
	memcpy(to.coordinates, from->coordinates, sizeof to.coordinates);
	memcpy(to.force, &from->force, sizeof to.force);
	memcpy(to.torque, &from->torque, sizeof to.torque);
	return to;
}

static enum status add_joint(const struct world *world, struct tick_report *ticked, joint_id id,
			     uint8_t why)
{
	struct report_joint *joint = &ticked->joint_list[ticked->joint_count];
	enum status status = world_joint(world, id, &joint->view);
	joint->why = why;
	ticked->joint_count += status == STATUS_OK;
	return status;
}

/* Every joint, as created. */
static enum status add_all(struct host *host, struct tick_report *ticked)
{
	uint32_t count = world_joints(host->world, 0, NULL, 0);
	joint_id *ids = ARENA_ARRAY(&host->scratch, joint_id, MAX_OF(count, 1u));
	enum status status = ids != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = array_reserve(&ticked->joint_list, &ticked->joint_room, count,
				       sizeof *ticked->joint_list);
	if (status == STATUS_OK)
		world_joints(host->world, 0, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = add_joint(host->world, ticked, ids[i], REPORT_CREATED);
	return status;
}

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
		status = add_joint(host->world, ticked, least, why);
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
		return add_all(host, ticked);
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
