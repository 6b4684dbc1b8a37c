/* step_joints.c: joints are read from the tables for a step, and its results stored in the tables.
 *
 * Targets of motors are functions of the integer tick and the time within it, so they do not drift.
 * Breaking is decided after all results are stored, in order of rows. */
#include "server/engine/dynamics/step_joints.h"

#include "server/engine/dynamics/gear.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/math/trig.h"

#include <string.h>

enum { AHEAD = 3 }; /* joints by which reading is ahead of work */

/* ---- motors -------------------------------------------------------------------------------- */

struct motor_target {
	double value, rate;
};

static struct motor_target sine_target(const struct joint_table *table, uint32_t row, uint32_t axis,
				       double time)
{
	double turn = 2 * PI * table->hertz[row][axis];
	double angle = turn * time + table->phase[row][axis],
	       amplitude = table->amplitude[row][axis];
	return (struct motor_target){ table->target[row][axis] + amplitude * trig_sin(angle),
				      amplitude * turn * trig_cos(angle) };
}

/* Straight lines between the points; before the first and after the last one their values hold. */
static struct motor_target table_target(const struct tables *tables, uint32_t row, uint32_t axis,
					double time)
{
	ASSERT(axis < JOINT_AXES);
	const struct joint_point_table *points = &tables->joint_point;
	uint32_t count, first = joint_points_find(tables, row, axis, &count);
	double frequency = tables->joint.hertz[row][axis];
	if (count == 0)
		return (struct motor_target){ tables->joint.target[row][axis], 0 };
	if (frequency > 0)
		time -= scalar_floor(time * frequency) / frequency;
	uint32_t low = 0, high = count; /* points not after `time` */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (points->time[first + middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == count)
		return (struct motor_target){ points->value[first + (low == 0 ? 0 : count - 1)],
					      0 };
	uint32_t at = first + low;
	double span = points->time[at] - points->time[at - 1];
	double slope = (points->value[at] - points->value[at - 1]) / span;
	return (struct motor_target){ points->value[at - 1] + slope * (time - points->time[at - 1]),
				      slope };
}

/* Sets the target of an axis' motor at `time` s from the tick's start. */
static void set_target(const struct tables *tables, uint32_t row, uint32_t axis, double time,
		       struct joint_axis *out)
{
	ASSERT(axis < JOINT_AXES);
	const struct joint_table *table = &tables->joint;
	if (out->motor == JOINT_MOTOR_NONE)
		return;
	uint64_t ticks = tables->world.tick[0] - table->since[row][axis];
	double tick = (double)tables->world.rate_den[0] / (double)tables->world.rate_num[0];
	double since = (double)ticks * tick + time;
	struct motor_target target = { table->target[row][axis], 0 };
	if (table->wave[row][axis] == JOINT_WAVE_SINE)
		target = sine_target(table, row, axis, since);
	else if (table->wave[row][axis] == JOINT_WAVE_TABLE)
		target = table_target(tables, row, axis, since);
	out->target = target.value;
	out->rate = out->motor == JOINT_MOTOR_VELOCITY ? target.value : target.rate;
}

/* ---- data ---------------------------------------------------------------------------------- */

static void fill_axis(const struct tables *tables, uint32_t row, uint32_t axis, double time,
		      struct joint_axis *out)
{
	const struct joint_table *table = &tables->joint;
	/* Of an axis that its type defines nothing else is read. */
	if (!joint_axis_kind((enum joint_type)table->type[row], axis).settable) {
		*out = (struct joint_axis){ .mode = table->mode[row][axis],
					    .lower = table->lower[row][axis] };
		return;
	}
	*out = (struct joint_axis){
		.mode = table->mode[row][axis],
		.spring = table->spring[row][axis],
		.motor = table->motor[row][axis],
		.lower = table->lower[row][axis],
		.upper = table->upper[row][axis],
		.restitution = table->restitution[row][axis],
		.friction = table->friction[row][axis],
		.stiffness = table->stiffness[row][axis],
		.damping = table->damping[row][axis],
		.rest = table->rest[row][axis],
		.spring_limit = table->spring_limit[row][axis],
		.motor_limit = table->motor_limit[row][axis],
		.motor_stiffness = table->motor_stiffness[row][axis],
		.motor_damping = table->motor_damping[row][axis],
		.armature = table->armature[row][axis],
		.lag = table->rotor_lag[row][axis],
	};
	set_target(tables, row, axis, time, out);
}

/* The point relative to the mass centre; for the world unchanged. */
static vec3 point_of(const struct tables *tables, uint32_t body, vec3 point)
{
	return body == DYNAMICS_NONE ? point : vec3_sub(point, tables->body.centre[body]);
}

static struct body_motion motion_of(const struct dynamics *dynamics, uint32_t body)
{
	if (body == DYNAMICS_NONE)
		return (struct body_motion){ .rotation = quat_identity() };
	return dynamics_motion(dynamics, body);
}

void joint_data_from_tables(const struct tables *tables, uint32_t row, double time,
			    struct joint *out)
{
	ASSERT(row < tables->joint.count);
	ASSERT(tables->joint.id[row] != 0);
	const struct joint_table *table = &tables->joint;
	out->type = table->type[row];
	out->gear = NULL;
	out->row = row;
	out->point_a = point_of(tables, joint_body(tables, row, 0), table->point_a[row]);
	out->point_b = point_of(tables, joint_body(tables, row, 1), table->point_b[row]);
	out->frame_a = table->frame_a[row];
	out->frame_b = table->frame_b[row];
	memcpy(out->angle, table->angle[row], sizeof out->angle);
	memcpy(out->multiplier, table->multiplier[row], sizeof table->multiplier[row]);
	memcpy(out->multiplier + JOINT_MULTIPLIERS, table->rotor_multiplier[row],
	       sizeof table->rotor_multiplier[row]);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		fill_axis(tables, row, axis, time, &out->axes[axis]);
	joint_know_layout(out);
}

void joint_from_tables(const struct dynamics *dynamics, uint32_t row, double time,
		       struct joint *out)
{
	joint_data_from_tables(dynamics->tables, row, time, out);
	out->a = motion_of(dynamics, joint_body(dynamics->tables, row, 0));
	out->b = motion_of(dynamics, joint_body(dynamics->tables, row, 1));
}

void joint_standing_rows(const struct dynamics *dynamics, uint32_t row, struct joint_standing *out)
{
	struct row_list list = { .rows = out->rows,
				 .blocks = out->blocks,
				 .parts = out->parts,
				 .row_capacity = COUNT_OF(out->rows),
				 .block_capacity = COUNT_OF(out->blocks),
				 .part_capacity = COUNT_OF(out->parts) };
	struct constraint constraint = {
		.kind = &constraint_joint, .body_a = 0, .body_b = 1, .data = &out->joint
	};
	struct constraint_options options = { .level = CONSTRAINT_POSITION };
	for (uint32_t k = 0; k < 2; k++)
		out->ends[k] = joint_body(dynamics->tables, row, k);
	joint_from_tables(dynamics, row, 0, &out->joint);
	joint_drop_rotors(&out->joint);
	constraint.kind->rows(&constraint, 0, NULL, NULL, &options, &list);
	out->count = list.row_count;
	ASSERT(out->count <= JOINT_ROWS_MAX);
}

/* ---- which of them act --------------------------------------------------------------------- */

static bool is_moved(const struct step *self, uint32_t body)
{
	return body != DYNAMICS_NONE && step_takes_part(self, body);
}

static bool acts(const struct step *self, uint32_t row)
{
	const struct tables *tables = self->dynamics->tables;
	bool moves = false;
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(tables, row, side);
		moves |= is_moved(self, body) && tables->body.status[body] == BODY_DYNAMIC;
	}
	return moves && joint_may_act(tables, row);
}

static bool body_moves(const struct step *self, uint32_t body)
{
	struct mass_body mass;
	if (!is_moved(self, body) || self->dynamics->tables->body.status[body] != BODY_DYNAMIC)
		return false;
	struct body_motion motion = dynamics_motion(self->dynamics, body);
	mass_bodies_from_tables(self->dynamics->tables, &body, 1, &motion, &mass);
	struct mass_operator one = mass_operator_free(&mass, 1);
	return mass_moves(&one, 0);
}

static uint32_t slot_of(const struct step *self, uint32_t body)
{
	return is_moved(self, body) ? self->dynamics->bodies.items[body].slot : ROW_NO_BODY;
}

/* ---- gears --------------------------------------------------------------------------------- */

void gear_from_tables(const struct dynamics *dynamics, uint32_t row, uint32_t axis, double time,
		      struct gear *out)
{
	const struct joint_table *table = &dynamics->tables->joint;
	ASSERT(axis < JOINT_AXES && table->leader[row][axis] != 0);
	uint32_t leader = table->leader[row][axis] - 1;
	joint_from_tables(dynamics, row, time, &out->joints[GEAR_FOLLOWER]);
	joint_from_tables(dynamics, leader, time, &out->joints[GEAR_LEADER]);
	out->axis[GEAR_FOLLOWER] = axis;
	out->axis[GEAR_LEADER] = table->leader_axis[row][axis];
	out->ratio = table->gear_ratio[row][axis];
	out->offset = table->gear_offset[row][axis];
}

void gear_row_from_tables(const struct dynamics *dynamics, uint32_t row, uint32_t axis,
			  struct gear *gear, struct gear_row *out)
{
	const struct body_motion *motions[GEAR_ENDS][2];
	gear_from_tables(dynamics, row, axis, 0, gear);
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		motions[end][0] = &gear->joints[end].a;
		motions[end][1] = &gear->joints[end].b;
	}
	gear_row_at(gear, motions, CONSTRAINT_POSITION, out);
}

/* The most gears that may act. */
static uint32_t count_gears(const struct dynamics *dynamics)
{
	const struct bitset *geared = &dynamics->joint_geared;
	uint32_t count = 0;
	for (uint32_t row = bitset_next(geared, 0); row != BITSET_NONE;
	     row = bitset_next(geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			count += dynamics->tables->joint.leader[row][axis] != 0;
	return count;
}

/* Slots of the constraint: one that the follower moves and another one that the leader moves. */
static void link_gear(const struct step *self, const struct gear *gear, struct constraint *out)
{
	const struct tables *tables = self->dynamics->tables;
	out->body_a = out->body_b = ROW_NO_BODY;
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t follower = joint_body(tables, gear->joints[GEAR_FOLLOWER].row, k / 2);
		uint32_t leader = joint_body(tables, gear->joints[GEAR_LEADER].row, k % 2);
		bool moves_f = body_moves(self, follower), moves_l = body_moves(self, leader);
		if (moves_f && out->body_a == ROW_NO_BODY)
			out->body_a = slot_of(self, follower);
		if (moves_l && out->body_b == ROW_NO_BODY)
			out->body_b = slot_of(self, leader);
		if (moves_f && moves_l && follower != leader) {
			out->body_a = slot_of(self, follower);
			out->body_b = slot_of(self, leader);
			return;
		}
	}
	if (out->body_a == out->body_b)
		out->body_b = ROW_NO_BODY;
}

/* Appends the gear of an axis, in the storage `gear`; false: it does not act. */
static bool add_gear(struct step *self, uint32_t row, uint32_t axis, double time, struct gear *gear,
		     struct step_joints *out)
{
	const struct tables *tables = self->dynamics->tables;
	uint32_t leader = tables->joint.leader[row][axis] - 1;
	if (leader == DYNAMICS_NONE || !joint_may_act(tables, row) ||
	    !joint_may_act(tables, leader) || !(acts(self, row) || acts(self, leader)))
		return false;
	gear_from_tables(self->dynamics, row, axis, time, gear);
	for (uint32_t end = 0; end < GEAR_ENDS; end++)
		for (uint32_t side = 0; side < 2; side++)
			gear->slots[end][side] =
				slot_of(self, joint_body(tables, gear->joints[end].row, side));
	struct joint *joint = &out->joints[out->count];
	struct constraint *constraint = &out->constraints[out->count];
	*joint = gear_entry(gear, row, tables->joint.gear_multiplier[row][axis]);
	*constraint = (struct constraint){ .kind = &constraint_gear, .source = row, .data = joint };
	link_gear(self, gear, constraint);
	out->count++;
	out->gears++;
	return true;
}

static enum status add_gears(struct step *self, double time, uint32_t count,
			     struct step_joints *out)
{
	const struct bitset *geared = &self->dynamics->joint_geared;
	struct gear *gears = ARENA_ARRAY(&self->dynamics->scratch, struct gear, count);
	if (gears == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = bitset_next(geared, 0); row != BITSET_NONE;
	     row = bitset_next(geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			if (add_gear(self, row, axis, time, &gears[out->gears], out))
				ASSERT(out->gears <= count);
	return STATUS_OK;
}

enum status step_joints_make(struct step *self, double time, struct step_joints *out,
			     struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	const struct tables *tables = dynamics->tables;
	const struct bitset *used = &dynamics->joint_used;
	*out = (struct step_joints){ 0 };
	if (used->count == 0)
		return STATUS_OK;
	uint32_t gears = count_gears(dynamics), most = used->count + gears;
	out->joints = ARENA_ARRAY(&dynamics->scratch, struct joint, most);
	out->constraints = ARENA_ARRAY(&dynamics->scratch, struct constraint, most);
	if (out->joints == NULL || out->constraints == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for %u joints",
				  used->count);
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE;
	     row = bitset_next(used, row + 1)) {
		if (!acts(self, row))
			continue;
		struct joint *joint = &out->joints[out->count];
		joint_from_tables(dynamics, row, time, joint);
		out->constraints[out->count++] = (struct constraint){
			.kind = &constraint_joint,
			.body_a = slot_of(self, joint_body(tables, row, 0)),
			.body_b = slot_of(self, joint_body(tables, row, 1)),
			.source = row,
			.data = joint,
		};
	}
	if (gears > 0 && add_gears(self, time, gears, out) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for %u gears",
				  gears);
	return STATUS_OK;
}

void step_joints_at(const struct step *self, struct step_joints *joints, double time)
{
	for (uint32_t i = 0; i < joints->count - joints->gears; i++)
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			set_target(self->dynamics->tables, joints->joints[i].row, axis, time,
				   &joints->joints[i].axes[axis]);
}

/* ---- back ---------------------------------------------------------------------------------- */

static bool is_good(const struct joint_result *result)
{
	bool good = vec3_is_finite(result->on_b.linear) && vec3_is_finite(result->on_b.angular) &&
		    vec3_is_finite(result->point);
	for (uint32_t i = 0; i < JOINT_PLACES && good; i++)
		good = scalar_abs(result->multiplier[i]) <= JOINT_MULTIPLIER_MAX;
	return good;
}

/* Load as a part of the limit at which the joint breaks; 0 if it has no limit. */
static double load_of(const struct joint_table *table, uint32_t row)
{
	ASSERT(row < table->count);
	double load = 0;
	if (table->break_force[row] > 0)
		load = vec3_length(table->force[row]) / table->break_force[row];
	if (table->break_torque[row] > 0)
		load = scalar_max(load, vec3_length(table->torque[row]) / table->break_torque[row]);
	return load;
}

static void break_joint(struct dynamics *dynamics, uint32_t row, vec3 point, double load)
{
	ASSERT(load > 1);
	const struct tables *tables = dynamics->tables;
	body_id ids[2] = { 0, 0 };
	for (uint32_t side = 0; side < 2; side++)
		if (joint_body(tables, row, side) != DYNAMICS_NONE)
			ids[side] = tables->body.id[joint_body(tables, row, side)];
	dynamics_event(dynamics, (struct event){ .kind = EVENT_JOINT_BREAK,
						 .a = ids[0],
						 .b = ids[1],
						 .child_a = tables->joint.id[row],
						 .fraction = 1,
						 .point = point,
						 .value = load });
	dynamics->report.joints_broken++;
	dynamics_joint_removed(dynamics, row);
}

/* Adds what the force motors of a joint exerted on b: no rows of a method, because it is given.
 * Its mean is that of the tick's middle. */
static void add_given_forces(struct step *self, struct joint *joint)
{
	struct joint_table *table = &self->dynamics->tables->joint;
	uint32_t row = joint->row;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		if (table->motor[row][axis] != JOINT_MOTOR_FORCE)
			continue;
		struct spatial on[2];
		set_target(self->dynamics->tables, row, axis, 0.5 * self->dt, &joint->axes[axis]);
		double force = joint_axis_force(joint, axis);
		if (force == 0)
			continue;
		joint_axis_jacobian(joint, axis, &joint->a, &joint->b, on);
		table->multiplier[row][JOINT_PARTS * axis + JOINT_MOTOR] = force * self->dt;
		table->force[row] = vec3_mul_add(table->force[row], on[1].linear, force);
		/* A force along an axis acts at b's anchor. */
		if (axis >= 3)
			table->torque[row] = vec3_mul_add(table->torque[row], on[1].angular, force);
	}
}

/* How far rotors are behind their axes at the end. */
static void store_lags(struct joint_table *table, const struct joint *joint,
		       const struct joint_result *result)
{
	ASSERT(joint->layout.known);
	for (uint32_t axis = 0; axis < JOINT_AXES && result->lags; axis++) {
		struct joint_axis_motion q;
		if (!(joint->layout.parts[axis] >> JOINT_ROTOR & 1))
			continue;
		joint_axis_motion(joint, axis, &joint->a, &joint->b, CONSTRAINT_VELOCITY, &q);
		double lag = q.speed - result->rotor[axis];
		table->rotor_lag[joint->row][axis] = scalar_is_finite(lag) ? lag : 0;
	}
}

/* The columns of a joint that the step leaves behind. */
static void store_result(struct step *self, struct joint *joint, const struct joint_result *result)
{
	ASSERT(joint->row < self->dynamics->tables->joint.count);
	struct dynamics *dynamics = self->dynamics;
	struct joint_table *table = &dynamics->tables->joint;
	uint32_t row = joint->row;
	memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
	memset(table->rotor_multiplier[row], 0, sizeof table->rotor_multiplier[row]);
	memset(table->rotor_lag[row], 0, sizeof table->rotor_lag[row]);
	table->force[row] = table->torque[row] = vec3_zero();
	/* If the result is not finite, the bodies are in quarantine. */
	if (is_good(result)) {
		vec3 arm = vec3_sub(result->point, joint->b.centre);
		vec3 turning = vec3_sub(result->on_b.angular, vec3_cross(arm, result->on_b.linear));
		memcpy(table->multiplier[row], result->multiplier, sizeof table->multiplier[row]);
		memcpy(table->rotor_multiplier[row], result->multiplier + JOINT_MULTIPLIERS,
		       sizeof table->rotor_multiplier[row]);
		table->force[row] = vec3_scale(result->on_b.linear, 1 / self->dt);
		table->torque[row] = vec3_scale(turning, 1 / self->dt);
		add_given_forces(self, joint);
		store_lags(table, joint, result);
	}
	dynamics->report.joint_error = joint_end(joint, &joint->a, &joint->b,
						 dynamics->report.joint_error, table->angle[row]);
}

/* m, rad: by how much a gear is violated at the motions in the tables, after the angles are stored. */
static double gear_error(const struct dynamics *dynamics, const struct gear *gear)
{
	struct gear now = *gear;
	struct body_motion at[GEAR_ENDS][2];
	const struct body_motion *motions[GEAR_ENDS][2];
	struct gear_row row;
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		uint32_t joint = now.joints[end].row;
		memcpy(now.joints[end].angle, dynamics->tables->joint.angle[joint],
		       sizeof now.joints[end].angle);
		for (uint32_t side = 0; side < 2; side++) {
			at[end][side] =
				motion_of(dynamics, joint_body(dynamics->tables, joint, side));
			motions[end][side] = &at[end][side];
		}
	}
	gear_row_at(&now, motions, CONSTRAINT_POSITION, &row);
	return scalar_abs(row.gap);
}

/* Stores the multiplier of a gear, and adds what it exerts to the forces of its joints, as if it were a
 * force motor of each. */
static void store_gear(struct step *self, const struct gear *gear,
		       const struct joint_result *result)
{
	const struct dynamics *dynamics = self->dynamics;
	struct joint_table *table = &dynamics->tables->joint;
	uint32_t follower = gear->joints[GEAR_FOLLOWER].row;
	double impulse = result->multiplier[0];
	if (!(scalar_abs(impulse) <= JOINT_MULTIPLIER_MAX))
		impulse = 0; /* its bodies are in quarantine */
	table->gear_multiplier[follower][gear->axis[GEAR_FOLLOWER]] = impulse;
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		const struct joint *joint = &gear->joints[end];
		uint32_t row = joint->row;
		double force = (end == GEAR_FOLLOWER ? 1 : -gear->ratio) * impulse / self->dt;
		struct spatial on[2];
		if (!acts(self, row))
			continue;
		struct body_motion a = motion_of(dynamics, joint_body(dynamics->tables, row, 0));
		struct body_motion b = motion_of(dynamics, joint_body(dynamics->tables, row, 1));
		joint_axis_jacobian(joint, gear->axis[end], &a, &b, on);
		table->force[row] = vec3_mul_add(table->force[row], on[1].linear, force);
		if (gear->axis[end] >= 3)
			table->torque[row] = vec3_mul_add(table->torque[row], on[1].angular, force);
	}
}

static struct joint *stored_joint(const struct step_joints *all, uint32_t i)
{
	ASSERT(i < all->count && (all->order == NULL || all->gears == 0));
	return &all->joints[all->order != NULL ? all->order[i] : i];
}

void step_joints_store(struct step *self, const struct step_joints *all,
		       const struct joint_result *results)
{
	struct dynamics *dynamics = self->dynamics;
	const struct tables *tables = dynamics->tables;
	uint32_t count = all->count - all->gears;
	for (uint32_t i = 0; i < count; i++) {
		struct joint *joint = stored_joint(all, i);
		uint32_t row = joint->row;
		joint_prefetch(stored_joint(all, MIN_OF(i + AHEAD, count - 1)));
		joint->a = motion_of(dynamics, joint_body(tables, row, 0));
		joint->b = motion_of(dynamics, joint_body(tables, row, 1));
		store_result(self, joint, &results[i]);
	}
	for (uint32_t i = count; i < all->count; i++) {
		store_gear(self, all->joints[i].gear, &results[i]);
		dynamics->report.joint_error = scalar_max(
			dynamics->report.joint_error, gear_error(dynamics, all->joints[i].gear));
	}
	/* Breaking a joint changes the lists of bodies, so it follows after all columns are stored. */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = stored_joint(all, i)->row;
		double load = load_of(&tables->joint, row);
		if (load > 1)
			break_joint(dynamics, row, results[i].point, load);
	}
}
