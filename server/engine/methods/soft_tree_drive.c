/* soft_tree_drive.c: what acts on the axes of trees: springs, servos, drives, friction, limits.
 *
 * Impulses of a sub-step on a coordinate q, with a bound b:
 *
 *   spring  −h k (q − rest) − (h c + h² k) q'     at the end's speed: h c + h² k adds to the axis' mass
 *   servo   −h k (q − target) − (h c + h² k)(q' − rate), as long as that is within its bound; else ± b
 *   drive   (a motor without gains, or friction) holds the axis at a speed, as long as what that
 *           needs is within its bound; else ± b
 *   limit   holds the axis at the speed that reaches it, as long as it pushes
 *
 * A held axis gives way to nothing: it has no row in any system. Who holds is found anew after each
 * pass, and the pass is solved again if somebody else is to. In relaxation all are told what they
 * have exerted before and give the rest.
 */
#include "server/engine/methods/soft_step.h"

/* 1. Of a bound or speed: nearer is rounding. */
#define EXACT 1e-9

static double bound_of(double most, double h)
{
	return most > 0 ? h * most : (double)__builtin_inf();
}

static bool is_elastic(const struct joint_axis *axis)
{
	return joint_axis_is_servo(axis);
}

/* ---- the tick's start ------------------------------------------------------------------------ */

/* `most`: N s in the tick. */
static int8_t at_bound(double multiplier, double most)
{
	if (!(most < (double)__builtin_inf()) || !(scalar_abs(multiplier) > (1 - 1e-6) * most))
		return 0;
	return multiplier > 0 ? 1 : -1;
}

/* Who held the axis in the last tick. */
static void begin_holds(struct tree_part *part, const double *multiplier, double ticks)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	const double *last = multiplier + (size_t)JOINT_PARTS * part->axis;
	part->hold = TREE_FREE;
	part->servo_at = part->drive_at = 0;
	if (part->servo)
		part->servo_at = at_bound(last[JOINT_MOTOR], part->servo_most * ticks);
	if (part->drive) {
		double by = last[part->friction ? JOINT_FRICTION : JOINT_MOTOR];
		part->drive_at = at_bound(by, part->drive_most * ticks);
		part->hold = part->drive_at == 0 ? TREE_BY_DRIVE : TREE_FREE;
	}
}

static void begin_part(struct tree_part *part, const struct joint *joint, double h, double dt)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	const struct joint_axis *axis = part->data;
	uint32_t parts = joint->layout.parts[part->axis];
	part->lower = parts >> JOINT_HOLD & 1;
	part->upper = parts >> JOINT_UPPER & 1;
	part->spring = parts >> JOINT_SPRING & 1;
	bool motor = parts >> JOINT_MOTOR & 1;
	part->servo = motor && is_elastic(axis);
	part->friction = parts >> JOINT_FRICTION & 1;
	part->drive = (motor && !part->servo) || part->friction;
	part->armature = parts >> JOINT_ROTOR & 1 ? axis->armature : 0;
	part->spring_stiff = part->spring_damp = part->servo_stiff = part->servo_damp = 0;
	if (part->spring) {
		part->spring_stiff = h * axis->stiffness;
		part->spring_damp = h * axis->damping + h * h * axis->stiffness;
	}
	if (part->servo) {
		part->servo_stiff = h * axis->motor_stiffness;
		part->servo_damp = h * axis->motor_damping + h * h * axis->motor_stiffness;
	}
	part->servo_most = bound_of(axis->motor_limit, h);
	part->drive_most = part->friction ? h * axis->friction : bound_of(axis->motor_limit, h);
	begin_holds(part, joint->multiplier, dt / h);
	part->spring_push = part->servo_push = part->drive_push = part->limit_push = 0;
	part->spring_total = part->servo_total = part->drive_total = 0;
	part->lower_total = part->upper_total = 0;
}

void soft_tree_drive_begin(struct soft_step *self, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		struct tree_part *part = all->axes[k].part;
		if (part != NULL)
			begin_part(part, &all->list.joints[part->joint], all->h, self->dt);
	}
}

/* As a step begins, velocities are made such as joints allow, by the masses of bodies and
 * rotors alone: nothing else has time to act. */
void soft_tree_start_rotors(struct soft_step *self, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		struct tree_axis *axis = &all->axes[k];
		struct tree_part *part = axis->part;
		axis->given = 0;
		if (part == NULL)
			continue;
		part->held_before = part->hold;
		part->damp_before[0] = part->spring_damp;
		part->damp_before[1] = part->servo_damp;
		part->hold = TREE_FREE;
		part->spring_damp = part->servo_damp = 0;
		if (!(part->armature > 0))
			continue;
		const struct joint *joint = &all->list.joints[part->joint];
		struct joint_axis_motion q;
		joint_axis_motion(joint, part->axis, &joint->a, &joint->b, CONSTRAINT_VELOCITY, &q);
		axis->given = part->armature * (q.speed - joint->axes[part->axis].lag);
	}
}

void soft_tree_drive_wake(struct soft_step *self, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		struct tree_part *part = all->axes[k].part;
		if (part == NULL)
			continue;
		part->hold = part->held_before;
		part->spring_damp = part->damp_before[0];
		part->servo_damp = part->damp_before[1];
		part->rotor_start = all->axes[k].rate;
	}
}

/* ---- a pass ------------------------------------------------------------------------------------------ */

/* The speed of a drive. That of a bounded position motor is one from which half of its force
 * can stop. */
static double drive_speed_of(const struct soft_trees *all, const struct tree_axis *axis,
			     bool biased)
{
	VALIDATE(axis->kind <= TREE_BASE);
	const struct tree_part *part = axis->part;
	const struct joint_axis *data = part->data;
	if (part->friction)
		return 0;
	if (data->motor != JOINT_MOTOR_POSITION)
		return data->rate;
	double gap = axis->q - (biased ? part->target : data->target);
	if (!(part->drive_most < (double)__builtin_inf()))
		return biased ? data->rate - all->bias_rate * gap : data->rate;
	double push = part->drive_most / all->h, far = scalar_abs(gap);
	double speed = scalar_min(far * all->bias_rate, scalar_sqrt(push * far / axis->mass));
	return data->rate + (gap < 0 ? speed : -speed);
}

/* m/s, rad/s: at most of an approach to a limit at distance `gap`. */
static double limit_speed(const struct soft_step *self, double gap, bool biased)
{
	const struct soft_trees *all = &self->trees;
	if (gap > 0)
		return gap / all->h;
	return biased ? scalar_max(gap * all->bias_rate, -(double)self->push_speed) : 0;
}

/* A drive towards what a limit forbids presses against the limit, which holds; and the other
 * way round. */
static void settle_hold(struct tree_part *part)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	double w = part->drive_speed;
	bool below = w<part->speed_least, above = w> part->speed_most;
	if (!part->drive)
		return;
	if (part->hold == TREE_BY_DRIVE && (below || above)) {
		part->hold = below ? TREE_BY_LOWER : TREE_BY_UPPER;
		part->drive_at = 0;
		if (part->drive_most < (double)__builtin_inf())
			part->drive_at = below ? -1 : 1;
	} else if ((part->hold == TREE_BY_LOWER && !below && part->drive_at <= 0) ||
		   (part->hold == TREE_BY_UPPER && !above && part->drive_at >= 0)) {
		part->hold = TREE_BY_DRIVE;
		part->drive_at = 0;
	}
}

static void aim_at(struct soft_step *self, const struct tree_part *part, double now)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	struct step_joints one = { .joints = &self->trees.list.joints[part->joint], .count = 1 };
	step_joints_at(self->step, &one, now);
}

void soft_tree_drive_aim(struct soft_step *self, struct soft_tree *tree, double now, bool biased)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	double inf = (double)__builtin_inf();
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		struct tree_axis *axis = &all->axes[k];
		struct tree_part *part = axis->part;
		if (part == NULL)
			continue;
		axis->before = axis->rate;
		/* Gaps are those of the sub-step's start, rates those of its middle; then of its end.
		 * */
		if (tree->driven && biased)
			aim_at(self, part, now - 0.5 * all->h);
		double target = part->data->target;
		if (tree->driven)
			aim_at(self, part, now);
		if (biased) {
			part->target = target;
			part->spring_push = part->servo_push = 0;
			part->drive_push = part->limit_push = 0;
			part->spring_from = -part->spring_stiff * (axis->q - part->data->rest);
			part->servo_from = part->servo ? -part->servo_stiff * (axis->q - target) +
								 part->servo_damp * part->data->rate
						       : 0;
		}
		part->speed_least = -inf;
		part->speed_most = inf;
		if (part->lower)
			part->speed_least = -limit_speed(self, axis->q - part->data->lower, biased);
		if (part->upper)
			part->speed_most = limit_speed(self, part->data->upper - axis->q, biased);
		if (part->drive)
			part->drive_speed = drive_speed_of(all, axis, biased);
		uint8_t before = part->hold;
		settle_hold(part);
		if (part->hold != before)
			tree->factored = false;
	}
}

/* What a drive that does not hold exerts. */
static double slack_of(const struct tree_part *part)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	if (!part->drive || part->hold == TREE_BY_DRIVE || part->drive_at == 0 ||
	    !(part->drive_most < (double)__builtin_inf()))
		return 0;
	return part->drive_at * part->drive_most;
}

void soft_tree_drive_set(struct soft_trees *all, struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		struct tree_axis *axis = &all->axes[k];
		struct tree_part *part = axis->part;
		axis->given = 0;
		if (part == NULL)
			continue;
		axis->given = part->armature * axis->before + part->spring_from + slack_of(part);
		axis->given +=
			part->servo_at == 0 ? part->servo_from : part->servo_at * part->servo_most;
		if (!biased)
			axis->given -= part->spring_push + part->servo_push + part->drive_push +
				       part->limit_push;
		if (part->hold == TREE_BY_DRIVE)
			axis->speed = part->drive_speed;
		else if (part->hold == TREE_BY_LOWER)
			axis->speed = part->speed_least;
		else if (part->hold == TREE_BY_UPPER)
			axis->speed = part->speed_most;
	}
}

/* ---- after a pass ---------------------------------------------------------------------------- */

static bool change_servo(struct tree_part *part, double rate)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	double would = part->servo_from - part->servo_damp * rate;
	int8_t before = part->servo_at;
	if (!part->servo || !(part->servo_most < (double)__builtin_inf()))
		return false;
	if (before == 0 && scalar_abs(would) > part->servo_most * (1 + EXACT))
		part->servo_at = would > 0 ? 1 : -1;
	else if (before != 0 && before * would < part->servo_most * (1 - EXACT))
		part->servo_at = 0;
	return part->servo_at != before;
}

/* Whether a drive without a bound presses against the limit that holds: it then gives
 * whatever the limit cannot. */
static bool presses(const struct tree_part *part)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	if (!part->drive || part->drive_most < (double)__builtin_inf())
		return false;
	return part->hold == TREE_BY_LOWER ? part->drive_speed < part->speed_least
					   : part->drive_speed > part->speed_most;
}

static bool change_hold(struct tree_part *part, double rate, double held_by)
{
	VALIDATE(part->hold <= TREE_BY_UPPER);
	double w = part->drive_speed, near = EXACT * (1 + scalar_abs(rate));
	uint8_t before = part->hold;
	switch (part->hold) {
	case TREE_BY_DRIVE:
		if (scalar_abs(held_by) > part->drive_most * (1 + EXACT)) {
			part->hold = TREE_FREE;
			part->drive_at = held_by > 0 ? 1 : -1;
		}
		break;
	case TREE_BY_LOWER:
		if (held_by < 0 && !presses(part))
			part->hold = TREE_FREE;
		break;
	case TREE_BY_UPPER:
		if (held_by > 0 && !presses(part))
			part->hold = TREE_FREE;
		break;
	default:
		if (rate < part->speed_least - near)
			part->hold = TREE_BY_LOWER;
		else if (rate > part->speed_most + near)
			part->hold = TREE_BY_UPPER;
		else if (part->drive && ((part->drive_at >= 0 && rate > w + near) ||
					 (part->drive_at <= 0 && rate < w - near))) {
			part->hold = TREE_BY_DRIVE;
			part->drive_at = 0;
		}
	}
	return part->hold != before;
}

bool soft_tree_drive_take(struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	bool changed = false;
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		const struct tree_axis *axis = &all->axes[k];
		struct tree_part *part = axis->part;
		if (part == NULL)
			continue;
		changed |= change_servo(part, axis->rate);
		changed |= change_hold(part, axis->rate, axis->given);
	}
	if (changed)
		tree->factored = false;
	return changed;
}

/* Notes what parts exert, as holds were in the pass. */
void soft_tree_drive_count(struct soft_trees *all, struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		const struct tree_axis *axis = &all->axes[k];
		struct tree_part *part = axis->part;
		if (part == NULL)
			continue;
		part->spring_push = part->spring_from - part->spring_damp * axis->rate;
		part->servo_push = part->servo_at == 0
					   ? part->servo_from - part->servo_damp * axis->rate
					   : part->servo_at * part->servo_most;
		part->drive_push = part->hold == TREE_BY_DRIVE ? axis->given : slack_of(part);
		part->limit_push = 0;
		if (part->hold == TREE_BY_LOWER || part->hold == TREE_BY_UPPER) {
			bool limit =
				part->hold == TREE_BY_LOWER ? axis->given >= 0 : axis->given <= 0;
			*(limit ? &part->limit_push : &part->drive_push) = axis->given;
		}
		if (biased)
			continue;
		part->spring_total += part->spring_push;
		part->servo_total += part->servo_push;
		part->drive_total += part->drive_push;
		part->lower_total += scalar_max(part->limit_push, 0);
		part->upper_total += scalar_max(-part->limit_push, 0);
	}
}
