/* joints_apply.c: commands about joints, done. */
#include "server/engine/world/joints.h"
#define STUB(name) void apply_##name(const struct doing *doing, const struct command *command) { UNUSED(doing); UNUSED(command); }
STUB(joint_create) STUB(joint_remove) STUB(joint_set) STUB(joint_axis) STUB(joint_targets) STUB(joint_table) STUB(joint_move)
