/* query_joints.c: answers about joints. */
#include "protocol/query_items.h"

#include <string.h>

static void take_six(struct taker *self, const char *field, double values[6])
{
	if (!more(self, field, true))
		return;
	self->allowed = "six finite numbers";
	self->status = wire_take_tuple(&self->in, values, 6);
}

/* id, type, flags, a, b */
static void pack_head(struct wire_packer *out, const struct wire_joint *joint)
{
	wire_pack_uint(out, joint->id);
	wire_pack_uint(out, joint->type);
	wire_pack_uint(out, joint->flags);
	wire_pack_uint(out, joint->a);
	wire_pack_uint(out, joint->b);
}

static void take_head(struct taker *taker, struct wire_joint *joint)
{
	take_u32(taker, "id", true, UINT32_MAX, &joint->id);
	take_u8(taker, "type", &joint->type);
	take_u8(taker, "flags", &joint->flags);
	take_u32(taker, "a", true, UINT32_MAX, &joint->a);
	take_u32(taker, "b", true, UINT32_MAX, &joint->b);
}

/* coordinates, force, torque, anchors */
static void pack_state(struct wire_packer *out, const struct wire_joint_facts *facts)
{
	pack_vector(out, facts->joint.coordinates, 6);
	pack_vector(out, facts->joint.force, 3);
	pack_vector(out, facts->joint.torque, 3);
	pack_vector(out, facts->anchor_a, 3);
	pack_vector(out, facts->anchor_b, 3);
}

static void take_state(struct taker *taker, struct wire_joint_facts *facts)
{
	take_six(taker, "coordinates", facts->joint.coordinates);
	take_vector(taker, "force", true, facts->joint.force, 3);
	take_vector(taker, "torque", true, facts->joint.torque, 3);
	take_vector(taker, "anchor a", true, facts->anchor_a, 3);
	take_vector(taker, "anchor b", true, facts->anchor_b, 3);
}

void answer_pack_joints_item(struct wire_packer *out, const struct wire_joint_facts *facts)
{
	wire_pack_array(out, 12);
	pack_head(out, &facts->joint);
	pack_state(out, facts);
	wire_pack_uint(out, facts->joint.owner);
	wire_pack_int(out, facts->joint.tag);
}

enum status answer_take_joints_item(struct wire_cursor *in, struct wire_joint_facts *facts)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(facts, 0, sizeof *facts);
	take_head(&taker, &facts->joint);
	take_state(&taker, facts);
	take_u32(&taker, "owner", true, UINT32_MAX, &facts->joint.owner);
	take_tag(&taker, &facts->joint.tag);
	return taker.status;
}

static void pack_axis(struct wire_packer *out, const struct wire_joint_axis *axis)
{
	wire_pack_array(out, 26);
	wire_pack_uint(out, axis->mode);
	wire_pack_real(out, axis->lower);
	wire_pack_real(out, axis->upper);
	wire_pack_real(out, axis->restitution);
	wire_pack_real(out, axis->friction);
	wire_pack_uint(out, axis->spring);
	wire_pack_real(out, axis->stiffness);
	wire_pack_real(out, axis->damping);
	wire_pack_real(out, axis->rest);
	wire_pack_real(out, axis->spring_limit);
	wire_pack_uint(out, axis->motor);
	wire_pack_real(out, axis->target);
	wire_pack_real(out, axis->motor_limit);
	wire_pack_uint(out, axis->wave);
	wire_pack_real(out, axis->amplitude);
	wire_pack_real(out, axis->hertz);
	wire_pack_real(out, axis->phase);
	wire_pack_real(out, axis->motor_stiffness);
	wire_pack_real(out, axis->motor_damping);
	wire_pack_uint(out, axis->leader);
	wire_pack_uint(out, axis->leader_axis);
	wire_pack_real(out, axis->ratio);
	wire_pack_real(out, axis->offset);
	wire_pack_real(out, axis->gear_force);
	wire_pack_real(out, axis->armature);
	wire_pack_real(out, axis->rotor_force);
}

static enum status take_axis(struct wire_cursor *in, struct wire_joint_axis *axis)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_u8(&taker, "mode", &axis->mode);
	take_real(&taker, "lower", &axis->lower);
	take_real(&taker, "upper", &axis->upper);
	take_real(&taker, "restitution", &axis->restitution);
	take_real(&taker, "friction", &axis->friction);
	take_u8(&taker, "spring", &axis->spring);
	take_real(&taker, "stiffness", &axis->stiffness);
	take_real(&taker, "damping", &axis->damping);
	take_real(&taker, "rest", &axis->rest);
	take_real(&taker, "spring_limit", &axis->spring_limit);
	take_u8(&taker, "motor", &axis->motor);
	take_real(&taker, "target", &axis->target);
	take_real(&taker, "motor_limit", &axis->motor_limit);
	take_u8(&taker, "wave", &axis->wave);
	take_real(&taker, "amplitude", &axis->amplitude);
	take_real(&taker, "hertz", &axis->hertz);
	take_real(&taker, "phase", &axis->phase);
	take_real(&taker, "motor_stiffness", &axis->motor_stiffness);
	take_real(&taker, "motor_damping", &axis->motor_damping);
	take_u32(&taker, "leader", true, UINT32_MAX, &axis->leader);
	take_u8(&taker, "leader_axis", &axis->leader_axis);
	take_real(&taker, "ratio", &axis->ratio);
	take_real(&taker, "offset", &axis->offset);
	take_real(&taker, "gear_force", &axis->gear_force);
	take_real(&taker, "armature", &axis->armature);
	take_real(&taker, "rotor_force", &axis->rotor_force);
	return taker.status;
}

void answer_pack_joint(struct wire_packer *out, const struct wire_joint_facts *facts)
{
	const struct wire_joint *joint = &facts->joint;
	wire_pack_array(out, 18);
	pack_head(out, joint);
	wire_pack_uint(out, joint->owner);
	wire_pack_int(out, joint->tag);
	pack_vector(out, joint->point_a, 3);
	pack_vector(out, joint->frame_a, 4);
	pack_vector(out, joint->point_b, 3);
	pack_vector(out, joint->frame_b, 4);
	pack_state(out, facts);
	pack_vector(out, joint->breaks, 2);
	wire_pack_array(out, WIRE_JOINT_AXES);
	for (uint32_t i = 0; i < WIRE_JOINT_AXES; i++)
		pack_axis(out, &facts->axes[i]);
}

static void take_axes(struct taker *taker, struct wire_joint_axis axes[WIRE_JOINT_AXES])
{
	struct wire_list list;
	if (!more(taker, "axes", true))
		return;
	taker->allowed = "a list of six axes";
	taker->status = wire_take_list(&taker->in, &list);
	if (taker->status == STATUS_OK && list.count != WIRE_JOINT_AXES)
		taker->status = STATUS_TYPE;
	if (taker->status != STATUS_OK)
		return;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < WIRE_JOINT_AXES && taker->status == STATUS_OK; i++)
		taker->status = take_axis(&items, &axes[i]);
}

enum status answer_take_joint(struct wire_cursor *in, struct wire_joint_facts *facts)
{
	struct taker taker;
	struct wire_joint *joint = &facts->joint;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(facts, 0, sizeof *facts);
	take_head(&taker, joint);
	take_u32(&taker, "owner", true, UINT32_MAX, &joint->owner);
	take_tag(&taker, &joint->tag);
	take_vector(&taker, "point a", true, joint->point_a, 3);
	take_vector(&taker, "frame a", true, joint->frame_a, 4);
	take_vector(&taker, "point b", true, joint->point_b, 3);
	take_vector(&taker, "frame b", true, joint->frame_b, 4);
	take_state(&taker, facts);
	if (more(&taker, "break", true))
		taker.status = wire_take_tuple(&taker.in, joint->breaks, 2);
	take_axes(&taker, facts->axes);
	return taker.status;
}
