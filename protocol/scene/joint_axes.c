/* joint_axes.c: the axes of an entry of `joints`, as JOINT_AXIS and JOINT_TABLE commands.
 *
 * Angles are in radians, or in degrees for keys that end in _degrees; commands have radians. JOINT_AXIS
 * sets all properties of an axis at once, so every absent key has its initial value.
 */
#include "protocol/scene/compile.h"

/* The inputs and the command of one axis. */
struct axis {
	struct compile *compile;
	const struct yaml_node *node;
	uint32_t type, number;
	double length; /* of a distance, between its anchors, m */
	struct command_JOINT_AXIS *out;
};

static bool turns(const struct axis *self)
{
	return self->number >= 3;
}

/* Refuses a key in degrees if the axis is a length, and both keys of a pair. */
static enum status check_degrees(const struct axis *self, const struct yaml_node *node, bool plain,
				 bool degrees, const char *name, const char *in_degrees)
{
	if (degrees && !turns(self))
		return source_fail(
			&self->compile->source, node_find(node, in_degrees)->line, STATUS_RANGE,
			in_degrees,
			"%s is for an angle, but this axis is a length; give %s, in metres",
			in_degrees, name);
	return compile_refuse_both(self->compile, node, plain && degrees, name, in_degrees);
}

/* ---- limits -------------------------------------------------------------------------------------- */

static enum status read_limits(const struct axis *self, const struct axis_keys *keys)
{
	const struct source *source = &self->compile->source;
	bool degrees = keys->limits_degrees != NULL;
	const struct yaml_node *list = degrees ? keys->limits_degrees : keys->limits;
	const char *name = degrees ? "limits_degrees" : "limits";
	double most = degrees ? 1e6 : LENGTH_MAX, limits[2];
	enum status status = check_degrees(self, self->node, keys->limits != NULL, degrees,
					   "limits", "limits_degrees");
	if (status != STATUS_OK || list == NULL)
		return status;
	status = schema_vector(source, list, name, -most, most, degrees ? "degrees" : "m or rad", 2,
			       limits);
	if (status != STATUS_OK)
		return status;
	if (!(limits[0] <= limits[1]))
		return source_fail(source, list->line, STATUS_RANGE, name,
				   "the lower value of %s, %g, is above the upper value, %g; give "
				   "the lower one first",
				   name, limits[0], limits[1]);
	self->out->lower = limits[0] * (degrees ? RADIANS_PER_DEGREE : 1);
	self->out->upper = limits[1] * (degrees ? RADIANS_PER_DEGREE : 1);
	return STATUS_OK;
}

/* ---- springs ------------------------------------------------------------------------------------- */

static enum status read_spring(const struct axis *self, const struct yaml_node *node)
{
	struct compile *compile = self->compile;
	struct spring_keys spring;
	enum status status = schema_read(&compile->source, node, SCHEMA_SPRING, &spring);
	bool stiff = status == STATUS_OK && KEY_GIVEN(&spring, SPRING, stiffness);
	bool hertz = status == STATUS_OK && KEY_GIVEN(&spring, SPRING, hertz);
	if (status == STATUS_OK)
		status = compile_refuse_both(compile, node, stiff && hertz, "stiffness", "hertz");
	if (status == STATUS_OK)
		status = compile_refuse_both(compile, node,
					     hertz && KEY_GIVEN(&spring, SPRING, damping),
					     "damping", "hertz");
	if (status == STATUS_OK)
		status = compile_refuse_both(compile, node,
					     !hertz && KEY_GIVEN(&spring, SPRING, ratio) && stiff,
					     "ratio", "stiffness");
	bool rest = status == STATUS_OK && KEY_GIVEN(&spring, SPRING, rest);
	bool degrees = status == STATUS_OK && KEY_GIVEN(&spring, SPRING, rest_degrees);
	if (status == STATUS_OK)
		status = check_degrees(self, node, rest, degrees, "rest", "rest_degrees");
	if (status != STATUS_OK)
		return status;
	if (!hertz && !stiff && !KEY_GIVEN(&spring, SPRING, damping))
		return source_fail(
			&compile->source, node->line, STATUS_MISSING, "hertz",
			"spring needs one of the keys 'hertz', 'stiffness' and 'damping'");
	self->out->spring = hertz ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
	self->out->stiffness = hertz ? spring.hertz : spring.stiffness;
	self->out->damping = hertz ? spring.ratio : spring.damping;
	self->out->rest = degrees ? spring.rest_degrees * RADIANS_PER_DEGREE
			  : rest  ? spring.rest
				  : self->length;
	self->out->spring_limit = spring.limit;
	return STATUS_OK;
}

/* ---- motors -------------------------------------------------------------------------------------- */

static enum status read_sine(const struct axis *self, const struct yaml_node *node)
{
	struct sine_keys sine;
	enum status status = schema_read(&self->compile->source, node, SCHEMA_SINE, &sine);
	if (status != STATUS_OK)
		return status;
	bool plain = KEY_GIVEN(&sine, SINE, amplitude);
	bool degrees = KEY_GIVEN(&sine, SINE, amplitude_degrees);
	status = check_degrees(self, node, plain, degrees, "amplitude", "amplitude_degrees");
	if (status != STATUS_OK)
		return status;
	if (!plain && !degrees)
		return source_fail(&self->compile->source, node->line, STATUS_MISSING, "amplitude",
				   "sine needs the key 'amplitude' or 'amplitude_degrees'");
	self->out->wave = JOINT_WAVE_SINE;
	self->out->amplitude =
		degrees ? sine.amplitude_degrees * RADIANS_PER_DEGREE : sine.amplitude;
	self->out->hertz = sine.hertz;
	self->out->phase = sine.phase_degrees * RADIANS_PER_DEGREE;
	return STATUS_OK;
}

/* Whether the gains are of the kind of motor. */
static enum status check_gains(const struct axis *self, const struct yaml_node *node,
			       const struct motor_keys *motor)
{
	const struct source *source = &self->compile->source;
	bool velocity = KEY_GIVEN(motor, MOTOR, velocity), force = KEY_GIVEN(motor, MOTOR, force);
	if (motor->stiffness > 0 && (velocity || force))
		return source_fail(source, node->line, STATUS_RANGE, "stiffness",
				   velocity
					   ? "stiffness is %g: a motor of a velocity has none, its "
					     "gain is 'damping'"
					   : "stiffness is %g: a motor of a force has no gains",
				   motor->stiffness);
	if (motor->damping > 0 && force)
		return source_fail(
			source, node->line, STATUS_RANGE, "damping",
			"damping is %g: a motor of a force has no gains; give the axis a "
			"'spring' with damping",
			motor->damping);
	if (motor->damping > 0 && !velocity && !(motor->stiffness > 0))
		return source_fail(
			source, node->line, STATUS_RANGE, "damping",
			"damping is %g: a motor of a position needs a 'stiffness' with it",
			motor->damping);
	return STATUS_OK;
}

/* Which of the targets is given: exactly one. */
static enum status check_targets(const struct axis *self, const struct yaml_node *node,
				 const struct motor_keys *motor)
{
	static const char *const NAMES[] = { "velocity", "position", "position_degrees", "force" };
	const bool given[] = { KEY_GIVEN(motor, MOTOR, velocity), KEY_GIVEN(motor, MOTOR, position),
			       KEY_GIVEN(motor, MOTOR, position_degrees),
			       KEY_GIVEN(motor, MOTOR, force) };
	enum status status =
		check_degrees(self, node, given[1], given[2], "position", "position_degrees");
	uint32_t first = COUNT_OF(given);
	for (uint32_t i = 0; i < COUNT_OF(given) && status == STATUS_OK; i++) {
		if (given[i] && first < i)
			status = compile_refuse_both(self->compile, node, true, NAMES[first],
						     NAMES[i]);
		else if (given[i])
			first = i;
	}
	if (status == STATUS_OK && first == COUNT_OF(given))
		status = source_fail(&self->compile->source, node->line, STATUS_MISSING, "velocity",
				     "motor needs one of the keys 'velocity', 'position', "
				     "'position_degrees' and 'force'");
	return status;
}

/* Sets the motor of the axis; *follow is the mapping of its table, or NULL. */
static enum status read_motor(const struct axis *self, const struct yaml_node *node, bool *degrees,
			      const struct yaml_node **follow)
{
	struct compile *compile = self->compile;
	struct motor_keys motor;
	enum status status = schema_read(&compile->source, node, SCHEMA_MOTOR, &motor);
	if (status != STATUS_OK)
		return status;
	bool velocity = KEY_GIVEN(&motor, MOTOR, velocity);
	bool force = KEY_GIVEN(&motor, MOTOR, force);
	*degrees = KEY_GIVEN(&motor, MOTOR, position_degrees);
	*follow = motor.follow;
	status = check_targets(self, node, &motor);
	if (status == STATUS_OK)
		status = compile_refuse_both(compile, node,
					     motor.sine != NULL && motor.follow != NULL, "sine",
					     "follow");
	if (status == STATUS_OK)
		status = check_gains(self, node, &motor);
	if (status != STATUS_OK)
		return status;
	self->out->motor = velocity ? JOINT_MOTOR_VELOCITY
			   : force  ? JOINT_MOTOR_FORCE
				    : JOINT_MOTOR_POSITION;
	self->out->target = velocity   ? motor.velocity
			    : force    ? motor.force
			    : *degrees ? motor.position_degrees * RADIANS_PER_DEGREE
				       : motor.position;
	self->out->motor_limit = motor.limit;
	self->out->motor_stiffness = motor.stiffness;
	self->out->motor_damping = motor.damping;
	return motor.sine != NULL ? read_sine(self, motor.sine) : STATUS_OK;
}

/* Appends the points of a table to the list of points. */
static enum status read_points(const struct axis *self, const struct yaml_node *list, bool degrees)
{
	struct compile *compile = self->compile;
	double before = -1;
	for (const struct yaml_node *at = list->first; at != NULL; at = at->next) {
		double point[2];
		enum status status = schema_vector(&compile->source, at, "points", -LENGTH_MAX,
						   LENGTH_MAX, "", 2, point);
		if (status != STATUS_OK)
			return status;
		if (!(point[0] >= 0 && point[0] > before))
			return source_fail(&compile->source, at->line, STATUS_RANGE, "points",
					   "time %g of points is not above %g, the one before it",
					   point[0], MAX_OF(before, 0));
		before = point[0];
		if (compile->points.count >= SCENE_POINTS_MAX)
			return source_fail(
				&compile->source, at->line, STATUS_LIMIT, "points",
				"the tables of motors have more than %d points, the limit of a file",
				SCENE_POINTS_MAX);
		if (ARRAY_RESERVE(&compile->points, (uint64_t)compile->points.count + 1) !=
		    STATUS_OK)
			return source_no_memory(&compile->source);
		compile->points.items[compile->points.count++] =
			(struct joint_point){ point[0],
					      point[1] * (degrees ? RADIANS_PER_DEGREE : 1) };
	}
	return STATUS_OK;
}

static enum status make_table(const struct axis *self, const struct yaml_node *node, int64_t joint,
			      bool degrees)
{
	struct compile *compile = self->compile;
	struct follow_keys follow;
	uint32_t first = compile->points.count;
	enum status status = schema_read(&compile->source, node, SCHEMA_FOLLOW, &follow);
	if (status == STATUS_OK)
		status = read_points(self, follow.points, degrees);
	if (status != STATUS_OK)
		return status;
	double last = compile->points.items[compile->points.count - 1].time;
	if (follow.period != 0 && follow.period < last)
		return source_fail(&compile->source, node->line, STATUS_RANGE, "period",
				   "period %g is shorter than the time of the last point, %g",
				   follow.period, last);
	struct command *command = compile_command(compile, COMMAND_JOINT_TABLE, node->line);
	if (command == NULL)
		return source_no_memory(&compile->source);
	command->joint_table.joint = joint;
	command->joint_table.axis = self->number;
	command->joint_table.period = follow.period;
	command->joint_table.points.count = compile->points.count - first;
	compile->firsts.items[compile->firsts.count - 1] = first;
	return STATUS_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static uint8_t mode_of(const struct axis *self, const struct axis_keys *keys)
{
	if (KEY_GIVEN(keys, AXIS, mode))
		return (uint8_t)keys->mode;
	if (keys->limits != NULL || keys->limits_degrees != NULL)
		return JOINT_LIMITED;
	return self->type == JOINT_DISTANCE && keys->spring == NULL ? JOINT_LOCKED : JOINT_FREE;
}

enum status compile_axis(struct compile *self, const struct yaml_node *node,
			 const struct axis_keys *keys, uint32_t joint, uint32_t type, uint32_t axis,
			 double length)
{
	struct command values;
	command_defaults(&values, COMMAND_JOINT_AXIS);
	struct command_JOINT_AXIS *out = &values.joint_axis;
	const struct axis whole = { self, node, type, axis, length, out };
	const struct yaml_node *follow = NULL;
	bool degrees = false;
	out->joint = -(int64_t)joint - 1;
	out->axis = axis;
	out->mode = mode_of(&whole, keys);
	out->restitution = keys->restitution;
	out->friction = keys->friction;
	out->rest = length;
	enum status status = read_limits(&whole, keys);
	if (status == STATUS_OK && out->mode == JOINT_LIMITED && keys->limits == NULL &&
	    keys->limits_degrees == NULL)
		status = source_fail(&self->source, node->line, STATUS_MISSING, "limits",
				     "a limited axis needs the key 'limits'");
	if (status == STATUS_OK && keys->spring != NULL)
		status = read_spring(&whole, keys->spring);
	if (status == STATUS_OK && keys->motor != NULL)
		status = read_motor(&whole, keys->motor, &degrees, &follow);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_JOINT_AXIS, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	*command = values;
	if (keys->armature > 0) {
		struct command *rotor = compile_command(self, COMMAND_JOINT_ARMATURE, node->line);
		if (rotor == NULL)
			return source_no_memory(&self->source);
		rotor->joint_armature = (struct command_JOINT_ARMATURE){
			.joint = out->joint, .axis = axis, .armature = keys->armature
		};
	}
	if (keys->gear != NULL) {
		if (ARRAY_RESERVE(&self->geared, self->geared.count + 1u) != STATUS_OK)
			return source_no_memory(&self->source);
		struct geared_axis *geared = &self->geared.items[self->geared.count++];
		*geared = (struct geared_axis){ .node = keys->gear,
						.joint = self->joint_commands.count - 1,
						.axis = axis };
		uint32_t names = self->named_joints.count;
		if (names > 0 && geared->joint - self->named_joints.items[names - 1].first <
					 self->named_joints.items[names - 1].count)
			geared->own = self->named_joints.items[names - 1];
	}
	return follow != NULL ? make_table(&whole, follow, out->joint, degrees) : STATUS_OK;
}
