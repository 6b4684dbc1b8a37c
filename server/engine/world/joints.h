/* joints.h: commands about joints, for the tables of commands_check.c and commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_JOINTS_H
#define CAIRN_ENGINE_WORLD_JOINTS_H

#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/world/plan_find.h"

/* The effect of JOINT_CREATE if the bodies' poses or velocities violate the joint. */
enum joint_violated {
	JOINT_VIOLATED_PLACE = 0,   /* refuses violated positions */
	JOINT_VIOLATED_STRICT = 1,  /* refuses violated positions and velocities */
	JOINT_VIOLATED_PROJECT = 2, /* moves the bodies and changes their velocities */
};

enum status check_joint_create(struct check *check, struct command *command);
enum status check_joint_remove(struct check *check, struct command *command);
enum status check_joint_set(struct check *check, struct command *command);
enum status check_joint_axis(struct check *check, struct command *command);
enum status check_joint_gear(struct check *check, struct command *command);
enum status check_joint_armature(struct check *check, struct command *command);
enum status check_joint_targets(struct check *check, struct command *command);
enum status check_joint_table(struct check *check, struct command *command);
enum status check_joint_move(struct check *check, struct command *command);

/* Removes the drags owned by `session`, or by any session if it is 0. True if there were any.
 * The lists of removed joints have room already. */
bool joints_remove_drags(struct world *world, uint32_t session);

void apply_joint_create(const struct apply_context *context, const struct command *command);
void apply_joint_remove(const struct apply_context *context, const struct command *command);
void apply_joint_set(const struct apply_context *context, const struct command *command);
void apply_joint_axis(const struct apply_context *context, const struct command *command);
void apply_joint_gear(const struct apply_context *context, const struct command *command);
void apply_joint_armature(const struct apply_context *context, const struct command *command);
void apply_joint_targets(const struct apply_context *context, const struct command *command);
void apply_joint_table(const struct apply_context *context, const struct command *command);
void apply_joint_move(const struct apply_context *context, const struct command *command);

#endif
