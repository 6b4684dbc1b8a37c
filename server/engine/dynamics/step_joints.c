/* step_joints.c: joints of the tables as data of a step, and back. */
#include "server/engine/dynamics/step_joints.h"

enum status step_joints_make(struct step *self, double time, struct step_joints *out, struct reason *why)
{
	UNUSED(self); UNUSED(time); UNUSED(why);
	*out = (struct step_joints){ 0 };
	return STATUS_OK;
}
void step_joints_at(const struct step *self, struct step_joints *joints, double time)
{
	UNUSED(self); UNUSED(joints); UNUSED(time);
}
void step_joints_store(struct step *self, const struct step_joints *joints, const struct joint_result *results)
{
	UNUSED(self); UNUSED(joints); UNUSED(results);
}
