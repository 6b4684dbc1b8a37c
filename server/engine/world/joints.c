/* joints.c: what may be seen of joints. */
#include "server/engine/world/world.h"

enum status world_joint(const struct world *world, joint_id id, struct joint_view *out)
{
	UNUSED(world); UNUSED(id); UNUSED(out);
	return STATUS_UNKNOWN_JOINT;
}
uint32_t world_joints(const struct world *world, body_id body, joint_id *ids, uint32_t capacity)
{
	UNUSED(world); UNUSED(body); UNUSED(ids); UNUSED(capacity);
	return 0;
}
enum status world_linked(const struct world *world, body_id body, body_id *ids, uint32_t capacity, uint32_t *count)
{
	UNUSED(world); UNUSED(body); UNUSED(ids); UNUSED(capacity);
	*count = 0;
	return STATUS_OK;
}
enum status world_joint_axis(const struct world *world, joint_id id, uint32_t axis, struct joint_axis_view *out)
{
	UNUSED(world); UNUSED(id); UNUSED(axis); UNUSED(out);
	return STATUS_UNKNOWN_JOINT;
}
enum status world_joint_changes(const struct world *world, struct world_joint_changes *out)
{
	UNUSED(world);
	*out = (struct world_joint_changes){ 0 };
	return STATUS_OK;
}
