/* random_joint.h: joints with random frames, anchors, limits, springs and motors. */
#ifndef CAIRN_TESTS_RANDOM_JOINT_H
#define CAIRN_TESTS_RANDOM_JOINT_H

#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"

/* Frames and anchors; the length of a distance joint. */
void random_joint_place(struct rng *rng, struct joint *joint);
/* Limits, spring, motor and friction of a free axis; `lower`: it may have a lower limit. */
void random_joint_axis(struct rng *rng, struct joint_axis *axis, bool lower);
/* Of all axes that commands may change: some are locked, some by equal limits. */
void random_joint_axes(struct rng *rng, struct joint *joint);

#endif
