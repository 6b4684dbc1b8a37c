/* joints_check.c: commands about joints, checked. */
#include "server/engine/world/joints.h"
#include "server/engine/world/plan_find.h"

#define STUB(name) enum status check_##name(struct check *check, struct command *command) { UNUSED(command); return REFUSE(check, STATUS_UNSUPPORTED, "op", "not yet"); }
STUB(joint_create) STUB(joint_remove) STUB(joint_set) STUB(joint_axis) STUB(joint_targets) STUB(joint_table) STUB(joint_move)
