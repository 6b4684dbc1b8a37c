/* joints.c: prints joints as text or JSON, for the verbs query and watch. */
#include <stdio.h>

#include "clients/cli/verbs.h"

static const char *type_name(uint8_t type)
{
	return command_word(WORDS_JOINT_TYPE, type);
}

static void print_identity(const struct cli *cli, const struct wire_joint *joint)
{
	out_u64(cli, "id", joint->id);
	out_text(cli, "type", type_name(joint->type));
	out_u64(cli, "flags", joint->flags);
	out_u64(cli, "a", joint->a);
	out_u64(cli, "b", joint->b);
}

static void print_state(const struct cli *cli, const struct wire_joint *joint)
{
	out_reals(cli, "coordinates", joint->coordinates, WIRE_JOINT_AXES);
	out_reals(cli, "force", joint->force, 3);
	out_reals(cli, "torque", joint->torque, 3);
}

static double magnitude(const double v[3])
{
	return vec3_length(vec3_make(v[0], v[1], v[2]));
}

void cli_joints_head(void)
{
	printf("%6s  %-11s %8s %8s %12s %12s  %s\n", "id", "type", "a", "b", "force", "torque",
	       "coordinates");
}

/* Text is one line with the magnitudes of force and torque; JSON has all fields. */
bool cli_joints_item(const struct cli *cli, struct wire_cursor *in, uint32_t *id)
{
	struct wire_joint_facts facts;
	const struct wire_joint *joint = &facts.joint;
	if (answer_take_joints_item(in, &facts) != STATUS_OK)
		return false;
	*id = joint->id;
	if (!cli->json) {
		printf("%6u  %-11s %8u %8u %12.5g %12.5g ", (unsigned)joint->id,
		       type_name(joint->type), (unsigned)joint->a, (unsigned)joint->b,
		       magnitude(joint->force), magnitude(joint->torque));
		for (uint32_t i = 0; i < COUNT_OF(joint->coordinates); i++)
			printf(" %.4g", joint->coordinates[i]);
		putchar('\n');
		return true;
	}
	out_begin(cli);
	print_identity(cli, joint);
	print_state(cli, joint);
	out_u64(cli, "owner", joint->owner);
	out_real(cli, "tag", (double)joint->tag);
	out_reals(cli, "anchor_a", facts.anchor_a, 3);
	out_reals(cli, "anchor_b", facts.anchor_b, 3);
	out_end(cli);
	return true;
}

/* Prints the settings of one axis as a record after that of the joint. */
static void print_axis(const struct cli *cli, uint32_t index, const struct wire_joint_axis *axis)
{
	if (!cli->json)
		putchar('\n');
	out_begin(cli);
	out_u64(cli, "axis", index);
	out_text(cli, "mode", command_word(WORDS_JOINT_MODE, axis->mode));
	out_real(cli, "lower", axis->lower);
	out_real(cli, "upper", axis->upper);
	out_real(cli, "friction", axis->friction);
	out_text(cli, "spring", command_word(WORDS_JOINT_SPRING, axis->spring));
	out_real(cli, "stiffness", axis->stiffness);
	out_real(cli, "damping", axis->damping);
	out_real(cli, "rest", axis->rest);
	out_text(cli, "motor", command_word(WORDS_JOINT_MOTOR, axis->motor));
	out_real(cli, "target", axis->target);
	out_real(cli, "motor_limit", axis->motor_limit);
	out_real(cli, "motor_stiffness", axis->motor_stiffness);
	out_real(cli, "motor_damping", axis->motor_damping);
	if (axis->leader != 0) {
		out_u64(cli, "leader", axis->leader);
		out_u64(cli, "leader_axis", axis->leader_axis);
		out_real(cli, "ratio", axis->ratio);
		out_real(cli, "offset", axis->offset);
		out_real(cli, "gear_force", axis->gear_force);
	}
	if (axis->armature > 0) {
		out_real(cli, "armature", axis->armature);
		out_real(cli, "rotor_force", axis->rotor_force);
	}
	out_end(cli);
}

void cli_joint(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_joint_facts facts;
	if (answer_take_joint(in, &facts) != STATUS_OK)
		return;
	const struct wire_joint *joint = &facts.joint;
	out_begin(cli);
	print_identity(cli, joint);
	out_u64(cli, "owner", joint->owner);
	out_reals(cli, "point_a", joint->point_a, 3);
	out_reals(cli, "frame_a", joint->frame_a, 4);
	out_reals(cli, "point_b", joint->point_b, 3);
	out_reals(cli, "frame_b", joint->frame_b, 4);
	print_state(cli, joint);
	out_reals(cli, "anchor_a", facts.anchor_a, 3);
	out_reals(cli, "anchor_b", facts.anchor_b, 3);
	out_real(cli, "break_force", joint->breaks[0]);
	out_real(cli, "break_torque", joint->breaks[1]);
	out_end(cli);
	for (uint32_t i = 0; i < WIRE_JOINT_AXES; i++)
		print_axis(cli, i, &facts.axes[i]);
}

void cli_watched_joints(const struct cli *cli, const struct mirror *mirror)
{
	for (uint32_t i = 0; i < mirror->joints.count; i++) {
		const struct wire_joint *joint = &mirror->joints.items[i];
		const double *q = joint->coordinates, *f = joint->force, *t = joint->torque;
		if (!cli->json) {
			printf("  joint %u %s %u %u at %g %g %g %g %g %g force %g %g %g torque %g %g "
			       "%g%s\n",
			       (unsigned)joint->id, type_name(joint->type), (unsigned)joint->a,
			       (unsigned)joint->b, q[0], q[1], q[2], q[3], q[4], q[5], f[0], f[1],
			       f[2], t[0], t[1], t[2],
			       joint->flags & WIRE_JOINT_ASLEEP ? " asleep" : "");
			continue;
		}
		out_begin(cli);
		out_u64(cli, "tick", mirror->tick);
		print_identity(cli, joint);
		print_state(cli, joint);
		out_end(cli);
	}
}
