/* joint_torque.h: the forces of joints' motors of kind force (JOINT_MOTOR_FORCE), as an entry of
 * the list of forces.
 *
 * A motor of kind force exerts its target along (about) its axis, cut to motor_limit: J^T target,
 * J that of the axis' coordinate at the present poses (joint_axis_jacobian). It is given and no
 * unknown, so it is a force like a drive and no row of a method: every method integrates it as it
 * integrates gravity, and what the joint's locked axes exert follows from it. On a and b it is
 * opposite in force and moment, so momentum is kept.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_TORQUE_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_TORQUE_H

#include "server/engine/dynamics/force.h"

/* Appends the forces of all force motors of a world; nothing if there are none. Targets are those
 * at the time of the evaluation plus `ahead` of the list. O(joints). */
void force_list_push_joints(struct force_list *self);

#endif
