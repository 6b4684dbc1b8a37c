/* joint_torque.c: given forces of joints are summed for each body over the joints in its list.
 *
 * Each joint is evaluated once for each of its bodies, at the same poses, so that both sides get
 * the same numbers with opposite signs. Bodies that are not in the caller's set are where the
 * tables have them. The list of a body's joints is a column of the tables, so the order of the
 * sum is a function of the tables.
 */
#include "server/engine/dynamics/joint_torque.h"

#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"

/* Where a body of a joint is. */
static struct body_motion motion_in(const struct tables *tables, const struct force_bodies *bodies,
				    uint32_t body)
{
	struct body_motion motion = { .rotation = quat_identity() };
	if (body == DYNAMICS_NONE)
		return motion;
	ASSERT(body < tables->body.count);
	uint32_t i = force_bodies_find(bodies, body);
	if (bodies->motions != NULL && i < bodies->count)
		return bodies->motions[i];
	motion.centre = dynamics_centre(tables, body);
	motion.rotation = tables->body.rotation[body];
	return motion;
}

static bool exerts(const struct joint_table *table, uint32_t row)
{
	ASSERT(row < table->count);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (table->motor[row][axis] == JOINT_MOTOR_FORCE)
			return true;
	return false;
}

/* Adds what a joint exerts on the body at one of its ends. */
static void add_joint(const struct force_list *list, const struct force_bodies *bodies,
		      uint32_t end, double time, struct force_sum *sum)
{
	const struct tables *tables = list->tables;
	uint32_t row = end / 2, side = end % 2;
	if (!exerts(&tables->joint, row) || !joint_may_act(tables, row))
		return;
	struct joint joint;
	joint_data_from_tables(tables, row, time + list->ahead, &joint);
	joint.a = motion_in(tables, bodies, joint_body(tables, row, 0));
	joint.b = motion_in(tables, bodies, joint_body(tables, row, 1));
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		double force = joint_axis_force(&joint, axis);
		if (force == 0)
			continue;
		struct spatial on[2];
		joint_axis_jacobian(&joint, axis, &joint.a, &joint.b, on);
		sum->force = vec3_mul_add(sum->force, on[side].linear, force);
		sum->torque = vec3_mul_add(sum->torque, on[side].angular, force);
	}
}

static void joints_add_all(const struct force *self, const struct force_bodies *bodies, double time,
			   struct force_sum *sums)
{
	const struct force_list *list = self->context;
	const struct tables *tables = list->tables;
	for (uint32_t i = 0; i < bodies->count; i++) {
		uint32_t body = bodies->rows[i];
		ASSERT(body < tables->body.count);
		if (tables->body.status[body] != BODY_DYNAMIC)
			continue;
		for (uint32_t end = joint_first(tables, body); end != DYNAMICS_NONE;
		     end = joint_next(tables, end))
			add_joint(list, bodies, end, time, &sums[i]);
	}
}

void force_list_push_joints(struct force_list *self)
{
	const struct joint_table *table = &self->tables->joint;
	bool any = false;
	for (uint32_t row = 0; row < table->count && !any; row++)
		any = exerts(table, row); /* a free row has no motor */
	if (any)
		force_list_push(self, (struct force){ .add_all = joints_add_all, .context = self });
}
