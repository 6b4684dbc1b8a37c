/* cairn_manifest.h: the part of cairn.h that follows from the server's lists: statuses, commands and queries.
 * cairn.h includes it. Written by make_header.py; do not edit. */
/* table */
#ifndef CAIRN_MANIFEST_H
#define CAIRN_MANIFEST_H

#include <stdint.h>

typedef struct cairn_vec3 {
	double x, y, z;
} cairn_vec3;
typedef struct cairn_quat {
	double w, x, y, z;
} cairn_quat;
/* Zero-terminated. */
typedef struct cairn_text {
	char text[32];
} cairn_text;
/* SHA-256 of the canonical bytes of a shape. */
typedef struct cairn_name {
	uint8_t bytes[32];
} cairn_name;
/* A shape on a body: its id in the world, and its place in body axes. A rotation of all zeros is
 * none. */
typedef struct cairn_attachment {
	int64_t shape;
	cairn_vec3 position;
	cairn_quat rotation;
} cairn_attachment;
/* A target of one axis (0 … 5) of a joint. */
typedef struct cairn_joint_target {
	int64_t joint;
	uint8_t axis;
	double value;
} cairn_joint_target;
/* A point of a motor's table: s since the table was set, and the value. */
typedef struct cairn_joint_point {
	double time;
	double value;
} cairn_joint_point;
/* Lists are borrowed for the call that gets the command. */
typedef struct cairn_attachments {
	const cairn_attachment *items;
	uint32_t count;
} cairn_attachments;
typedef struct cairn_joint_targets {
	const cairn_joint_target *items;
	uint32_t count;
} cairn_joint_targets;
typedef struct cairn_joint_points {
	const cairn_joint_point *items;
	uint32_t count;
} cairn_joint_points;
/* Borrowed for the call that gets the query. */
typedef struct cairn_bodies {
	const uint32_t *items;
	uint32_t count;
} cairn_bodies;
typedef struct cairn_numbers {
	const double *items;
	uint32_t count;
} cairn_numbers;

#define CAIRN_VERSION "0.1.0"

/* Results; numbers are permanent (cairn_status_text explains them). */
enum cairn_status {
	CAIRN_STATUS_OK = 0,
	CAIRN_STATUS_NO_MEMORY = 1,
	CAIRN_STATUS_IO = 2,
	CAIRN_STATUS_CLOSED = 3,
	CAIRN_STATUS_FULL = 4,
	CAIRN_STATUS_AGAIN = 5,
	CAIRN_STATUS_CORRUPT = 6,
	CAIRN_STATUS_VERSION = 7,
	CAIRN_STATUS_EXISTS = 8,
	CAIRN_STATUS_MISSING = 9,
	CAIRN_STATUS_MALFORMED = 20,
	CAIRN_STATUS_TOO_LARGE = 21,
	CAIRN_STATUS_TOO_DEEP = 22,
	CAIRN_STATUS_PROTOCOL = 23,
	CAIRN_STATUS_HANDSHAKE = 24,
	CAIRN_STATUS_SLOW = 25,
	CAIRN_STATUS_DRAINING = 26,
	CAIRN_STATUS_FRAMING = 27,
	CAIRN_STATUS_UNKNOWN_MESSAGE = 30,
	CAIRN_STATUS_UNSUPPORTED = 31,
	CAIRN_STATUS_TYPE = 32,
	CAIRN_STATUS_FORBIDDEN = 33,
	CAIRN_STATUS_BUSY = 34,
	CAIRN_STATUS_EXPIRED = 35,
	CAIRN_STATUS_SEQUENCE = 36,
	CAIRN_STATUS_AUTH = 37,
	CAIRN_STATUS_RANGE = 40,
	CAIRN_STATUS_NOT_FINITE = 41,
	CAIRN_STATUS_UNKNOWN_WORLD = 42,
	CAIRN_STATUS_UNKNOWN_BODY = 43,
	CAIRN_STATUS_UNKNOWN_SHAPE = 44,
	CAIRN_STATUS_UNKNOWN_COMMAND = 45,
	CAIRN_STATUS_UNKNOWN_METHOD = 46,
	CAIRN_STATUS_UNKNOWN_PARAMETER = 47,
	CAIRN_STATUS_NOT_OWNER = 48,
	CAIRN_STATUS_LIMIT = 49,
	CAIRN_STATUS_LATE = 50,
	CAIRN_STATUS_TICK = 51,
	CAIRN_STATUS_METHOD_REFUSES = 52,
	CAIRN_STATUS_DEGENERATE = 53,
	CAIRN_STATUS_IN_USE = 54,
	CAIRN_STATUS_STATUS_WRONG = 55,
	CAIRN_STATUS_BACK_REFERENCE = 56,
	CAIRN_STATUS_PAUSED = 57,
	CAIRN_STATUS_QUARANTINED = 58,
	CAIRN_STATUS_PLANAR = 59,
	CAIRN_STATUS_UNKNOWN_SNAPSHOT = 60,
	CAIRN_STATUS_UNKNOWN_SUBSCRIPTION = 61,
	CAIRN_STATUS_LEASED = 62,
	CAIRN_STATUS_DIVERGED = 63,
	CAIRN_STATUS_RUNNING = 64,
	CAIRN_STATUS_NOT_JOINED = 65,
	CAIRN_STATUS_WAITING = 66,
	CAIRN_STATUS_UNKNOWN_JOINT = 67,
	CAIRN_STATUS_NOT_STORED = 68,
	CAIRN_STATUS_UNKNOWN_PARTICLES = 69,
	CAIRN_STATUS_CARRIED = 70,
	CAIRN_STATUS_UNKNOWN_FIELD = 71,
	CAIRN_STATUS_NOT_CARRIED = 72,
	CAIRN_STATUS_UNKNOWN_PARTICLE = 73,
	CAIRN_STATUS_LINKED = 74,
	CAIRN_STATUS_FLUID = 80,
	CAIRN_STATUS_NOT_FLUID = 81,
	CAIRN_STATUS_UNKNOWN_SINK = 83
};

/* Kinds of events (docs/PROTOCOL.md, EVENTS). */
enum cairn_event_kind {
	CAIRN_EVENT_CONTACT_BEGIN = 1,
	CAIRN_EVENT_CONTACT_END = 2,
	CAIRN_EVENT_SLEEP = 3,
	CAIRN_EVENT_WAKE = 4,
	CAIRN_EVENT_OUT_OF_BOUNDS = 5,
	CAIRN_EVENT_QUARANTINE = 6,
	CAIRN_EVENT_FALLBACK = 7,
	CAIRN_EVENT_LIMIT = 8,
	CAIRN_EVENT_JOINT_BREAK = 9,
	CAIRN_EVENT_BIRTHS = 10,
	CAIRN_EVENT_DEATHS = 11,
	CAIRN_EVENT_SENSOR_BEGIN = 12,
	CAIRN_EVENT_SENSOR_END = 13,
	CAIRN_EVENT_HIT = 14,
	CAIRN_EVENT_SQUEEZED = 15,
	CAIRN_EVENT_LINK_TORN = 16
};

/* Values of body status fields. */
enum cairn_body_status {
	CAIRN_BODY_STATUS_INACTIVE = 0,
	CAIRN_BODY_STATUS_STATIC = 1,
	CAIRN_BODY_STATUS_DYNAMIC = 2,
	CAIRN_BODY_STATUS_ANIMATED = 3
};

/* Values of integrator fields. */
enum cairn_integrator {
	CAIRN_INTEGRATOR_AUTOMATIC = 0,
	CAIRN_INTEGRATOR_EULER = 1,
	CAIRN_INTEGRATOR_IMPLICIT_EULER = 2,
	CAIRN_INTEGRATOR_RK2 = 3,
	CAIRN_INTEGRATOR_RK4 = 4,
	CAIRN_INTEGRATOR_RK45 = 5
};

/* Values of mass rule fields. */
enum cairn_mass_rule {
	CAIRN_MASS_RULE_SHAPES = 0,
	CAIRN_MASS_RULE_CENTRE = 1,
	CAIRN_MASS_RULE_GIVEN = 2
};

/* Values of shadow fields. */
enum cairn_shadow { CAIRN_SHADOW_NONE = 0, CAIRN_SHADOW_STATIC = 1 };

/* Values of joint type fields. */
enum cairn_joint_type {
	CAIRN_JOINT_TYPE_SPHERICAL = 1,
	CAIRN_JOINT_TYPE_REVOLUTE = 2,
	CAIRN_JOINT_TYPE_PRISMATIC = 3,
	CAIRN_JOINT_TYPE_CYLINDRICAL = 4,
	CAIRN_JOINT_TYPE_UNIVERSAL = 5,
	CAIRN_JOINT_TYPE_FIXED = 6,
	CAIRN_JOINT_TYPE_DISTANCE = 7,
	CAIRN_JOINT_TYPE_SIX_DOF = 8,
	CAIRN_JOINT_TYPE_WHEEL = 9,
	CAIRN_JOINT_TYPE_DRAG = 10
};

/* Values of joint mode fields. */
enum cairn_joint_mode {
	CAIRN_JOINT_MODE_FREE = 0,
	CAIRN_JOINT_MODE_LOCKED = 1,
	CAIRN_JOINT_MODE_LIMITED = 2
};

/* Values of joint spring fields. */
enum cairn_joint_spring {
	CAIRN_JOINT_SPRING_NONE = 0,
	CAIRN_JOINT_SPRING_STIFFNESS = 1,
	CAIRN_JOINT_SPRING_HERTZ = 2
};

/* Values of joint motor fields. */
enum cairn_joint_motor {
	CAIRN_JOINT_MOTOR_NONE = 0,
	CAIRN_JOINT_MOTOR_VELOCITY = 1,
	CAIRN_JOINT_MOTOR_POSITION = 2,
	CAIRN_JOINT_MOTOR_FORCE = 3
};

/* Values of joint wave fields. */
enum cairn_joint_wave {
	CAIRN_JOINT_WAVE_CONSTANT = 0,
	CAIRN_JOINT_WAVE_SINE = 1,
	CAIRN_JOINT_WAVE_TABLE = 2
};

/* Values of field kind fields. */
enum cairn_field_kind {
	CAIRN_FIELD_KIND_WIND = 1,
	CAIRN_FIELD_KIND_VORTEX = 2,
	CAIRN_FIELD_KIND_ATTRACTOR = 3,
	CAIRN_FIELD_KIND_DRAG = 4,
	CAIRN_FIELD_KIND_FLUID = 5,
	CAIRN_FIELD_KIND_MUTUAL = 6
};

/* Values of field region fields. */
enum cairn_field_region {
	CAIRN_FIELD_REGION_EVERYWHERE = 0,
	CAIRN_FIELD_REGION_BALL = 1,
	CAIRN_FIELD_REGION_BOX = 2
};

/* Values of field falloff fields. */
enum cairn_field_falloff {
	CAIRN_FIELD_FALLOFF_CONSTANT = 0,
	CAIRN_FIELD_FALLOFF_LINEAR = 1,
	CAIRN_FIELD_FALLOFF_COMPONENTS = 2
};

/* Values of emitter fields. */
enum cairn_emitter {
	CAIRN_EMITTER_NONE = 0,
	CAIRN_EMITTER_POINT = 1,
	CAIRN_EMITTER_PLANAR = 2,
	CAIRN_EMITTER_BOX = 3,
	CAIRN_EMITTER_SPHERE = 4,
	CAIRN_EMITTER_BODY = 5
};

/* Values of interact fields. */
enum cairn_interact {
	CAIRN_INTERACT_NONE = 0,
	CAIRN_INTERACT_INTERNAL = 1,
	CAIRN_INTERACT_EXTERNAL = 2,
	CAIRN_INTERACT_BOTH = 3
};

/* Values of fluid solver fields. */
enum cairn_fluid_solver { CAIRN_FLUID_SOLVER_EXPLICIT = 0, CAIRN_FLUID_SOLVER_INCOMPRESSIBLE = 1 };

/* Values of link kind fields. */
enum cairn_link_kind {
	CAIRN_LINK_KIND_ROD = 0,
	CAIRN_LINK_KIND_ROPE = 1,
	CAIRN_LINK_KIND_VOLUME = 2
};

/* Values of pinned fields. */
enum cairn_pinned { CAIRN_PINNED_FREE = 0, CAIRN_PINNED_HELD = 1 };

/* Values of contacts fields. */
enum cairn_contacts { CAIRN_CONTACTS_AFTER = 0, CAIRN_CONTACTS_WITHIN = 1 };

/* Values of hold place fields. */
enum cairn_hold_place {
	CAIRN_HOLD_PLACE_HERE = 0,
	CAIRN_HOLD_PLACE_POINT = 1,
	CAIRN_HOLD_PLACE_FAR = 2
};

/* Values of mount place fields. */
enum cairn_mount_place { CAIRN_MOUNT_PLACE_HERE = 0, CAIRN_MOUNT_PLACE_POINT = 1 };

/* Values of sink region fields. */
enum cairn_sink_region {
	CAIRN_SINK_REGION_NONE = 0,
	CAIRN_SINK_REGION_BALL = 1,
	CAIRN_SINK_REGION_BOX = 2,
	CAIRN_SINK_REGION_BODY = 3
};

/* Values of recoil fields. */
enum cairn_recoil { CAIRN_RECOIL_NONE = 0, CAIRN_RECOIL_PUSHES = 1 };

/* Values of room fields. */
enum cairn_room { CAIRN_ROOM_BODIES = 0, CAIRN_ROOM_ALL = 1 };

/* Values of spend fields. */
enum cairn_spend { CAIRN_SPEND_LIVES = 0, CAIRN_SPEND_ENDS = 1 };

/* Values of switch fields. */
enum cairn_switch { CAIRN_SWITCH_KEEP = 0, CAIRN_SWITCH_OFF = 1, CAIRN_SWITCH_ON = 2 };

/* `ticks` of a force that lasts until its body is removed. */
#define CAIRN_FOREVER UINT32_MAX

/* make an uploaded shape usable in this world; yields its id in the world; yields a shape. */
struct cairn_command_shape_use {
	/* name: SHA-256 of the canonical bytes */
	cairn_name name;
};

/* remove a shape that no body uses from the world. */
struct cairn_command_shape_drop {
	/* shape: the shape */
	int64_t shape;
};

/* make a body; yields a body. */
struct cairn_command_spawn {
	/* status: 0 inactive, 1 static, 2 dynamic, 3 animated */
	uint8_t status;
	/* position (-1000000 … 1000000 m): of the body's origin */
	cairn_vec3 position;
	/* shapes: shapes and their places on the body; none: a point mass */
	cairn_attachments shapes;
	/* rotation: body axes to world axes, w first */
	cairn_quat rotation;
	/* velocity (-10000 … 10000 m/s): of the mass centre */
	cairn_vec3 velocity;
	/* angular_velocity (-10000 … 10000 rad/s): world axes */
	cairn_vec3 angular_velocity;
	/* density (0.001 … 1000000 kg/m3): of all shapes (kg/m2 in a planar world) */
	double density;
	/* mass (0 … 1000000000 kg): in place of density if above 0; a point mass with mass 0 has 1 kg */
	double mass;
	/* static_friction (0 … 10): Coulomb, sticking */
	double static_friction;
	/* dynamic_friction (0 … 10): Coulomb, sliding; not above static */
	double dynamic_friction;
	/* restitution (0 … 1): of normal speed */
	double restitution;
	/* friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
	uint8_t friction_rule;
	/* restitution_rule: as friction_rule */
	uint8_t restitution_rule;
	/* category: bits: the groups this body belongs to */
	uint32_t category;
	/* mask: bits: the groups this body collides with */
	uint32_t mask;
	/* group: two bodies with the same: > 0 always collide, < 0 never */
	int64_t group;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
	/* tag: number for the user's own purpose */
	int64_t tag;
	/* linear_damping (0 … 1000 1/s): velocity decay rate */
	double linear_damping;
	/* angular_damping (0 … 1000 1/s): angular velocity decay rate */
	double angular_damping;
	/* flags: bit 0 may sleep, 1 fixed rotation, 2 fast: does not pass dynamic bodies either, 3
	 * sensor */
	uint32_t flags;
	/* rolling_friction (0 … 1000 m): greatest rolling torque a newton of load, N m; of two the
	 * larger */
	double rolling_friction;
	/* spinning_friction (0 … 1000 m): the same about the normal */
	double spinning_friction;
	/* friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero:
	 * none */
	cairn_vec3 friction_axis;
	/* axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
	double axis_friction;
	/* integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; read by method
	 * impact */
	uint8_t integrator;
	/* tolerance (0 … 1 m): largest estimated error of a tick; 0: impact.accuracy; read by method
	 * impact */
	double tolerance;
	/* substeps: least number of equal parts of a tick; 0: one; read by method impact */
	uint32_t substeps;
	/* gravity_scale (-1000 … 1000): factor of gravity; 0: none */
	double gravity_scale;
	/* speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none */
	double speed_max;
	/* angular_speed_max (0 … 10000 rad/s): the same of its angular velocity */
	double angular_speed_max;
	/* mass_rule: 0 shapes, 1 centre: it is given, 2 given: centre, inertia and mass */
	uint8_t mass_rule;
	/* centre (-1000000 … 1000000 m): of mass, from the origin, body axes; read with mass_rule 1,
	 * 2 */
	cairn_vec3 centre;
	/* inertia (0 … 1e+18 kg m2): principal (planar: z); read with mass_rule 2 */
	cairn_vec3 inertia;
	/* inertia_rotation: principal axes to body axes; read with mass_rule 2 */
	cairn_quat inertia_rotation;
	/* ends_with: body with which it is removed; it goes with no other; 0 none */
	int64_t ends_with;
	/* ends_with_owner: 1: removed when the session that owns it ends */
	uint8_t ends_with_owner;
	/* one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all
	 * sides */
	cairn_vec3 one_way;
	/* surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body
	 * axes */
	cairn_vec3 surface_velocity;
	/* locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre)
	 * or turn about (bits 3, 4, 5), while it is dynamic */
	uint32_t locks;
};

/* remove a body and its contacts. */
struct cairn_command_remove {
	/* body: the body */
	int64_t body;
};

/* move a body to a pose; wakes it and the bodies it touched. */
struct cairn_command_set_pose {
	/* body: the body */
	int64_t body;
	/* position (-1000000 … 1000000 m): of the body's origin */
	cairn_vec3 position;
	/* rotation: body axes to world axes, w first */
	cairn_quat rotation;
};

/* set velocities; wakes the body. */
struct cairn_command_set_velocity {
	/* body: the body, dynamic or animated */
	int64_t body;
	/* velocity (-10000 … 10000 m/s): of the mass centre */
	cairn_vec3 velocity;
	/* angular_velocity (-10000 … 10000 rad/s): world axes */
	cairn_vec3 angular_velocity;
};

/* change a body's status; lifts quarantine. */
struct cairn_command_set_status {
	/* body: the body */
	int64_t body;
	/* status: 0 inactive, 1 static, 2 dynamic, 3 animated */
	uint8_t status;
	/* fast: 0 keep, 1 off, 2 on: whether it does not pass through dynamic bodies either (bit 2 of
	 * spawn's flags) */
	uint8_t fast;
};

/* apply a constant force for a number of ticks. */
struct cairn_command_force {
	/* body: the body, dynamic */
	int64_t body;
	/* force (-1e+12 … 1e+12 N): world axes */
	cairn_vec3 force;
	/* point (-1000000 … 1000000 m): where, from the mass centre in body axes; moves with the body */
	cairn_vec3 point;
	/* ticks (ticks): how long; 4294967295 until the body is removed */
	uint32_t ticks;
};

/* apply a constant torque for a number of ticks. */
struct cairn_command_torque {
	/* body: the body, dynamic */
	int64_t body;
	/* torque (-1e+12 … 1e+12 N m): world axes */
	cairn_vec3 torque;
	/* ticks (ticks): how long; 4294967295 until the body is removed */
	uint32_t ticks;
};

/* change momentum at once. */
struct cairn_command_impulse {
	/* body: the body, dynamic */
	int64_t body;
	/* impulse (-1e+12 … 1e+12 N s): world axes */
	cairn_vec3 impulse;
	/* point (-1000000 … 1000000 m): where, from the mass centre in body axes */
	cairn_vec3 point;
};

/* change angular momentum at once. */
struct cairn_command_angular_impulse {
	/* body: the body, dynamic */
	int64_t body;
	/* impulse (-1e+12 … 1e+12 N m s): world axes */
	cairn_vec3 impulse;
};

/* change friction and restitution. */
struct cairn_command_set_material {
	/* body: the body */
	int64_t body;
	/* static_friction (0 … 10): Coulomb, sticking */
	double static_friction;
	/* dynamic_friction (0 … 10): Coulomb, sliding; not above static */
	double dynamic_friction;
	/* restitution (0 … 1): of normal speed */
	double restitution;
	/* friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
	uint8_t friction_rule;
	/* restitution_rule: as friction_rule */
	uint8_t restitution_rule;
	/* rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of
	 * load; of two bodies the larger */
	double rolling_friction;
	/* spinning_friction (0 … 1000 m): the same about the normal */
	double spinning_friction;
	/* friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero:
	 * none */
	cairn_vec3 friction_axis;
	/* axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
	double axis_friction;
};

/* change what a body collides with. */
struct cairn_command_set_filter {
	/* body: the body */
	int64_t body;
	/* category: bits: the groups this body belongs to */
	uint32_t category;
	/* mask: bits: the groups this body collides with */
	uint32_t mask;
	/* group: two bodies with the same: > 0 always collide, < 0 never */
	int64_t group;
	/* sensor: 0 keep, 1 off, 2 on: whether it has no contacts and tells which bodies it overlaps
	 * (bit 3 of spawn's flags) */
	uint8_t sensor;
};

/* give a body to a session. */
struct cairn_command_set_owner {
	/* body: the body */
	int64_t body;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
};

/* set the number for the user's own purpose. */
struct cairn_command_set_tag {
	/* body: the body */
	int64_t body;
	/* tag: number for the user's own purpose */
	int64_t tag;
};

/* change the damping of a body's motion. */
struct cairn_command_set_damping {
	/* body: the body */
	int64_t body;
	/* linear_damping (0 … 1000 1/s): velocity decay rate */
	double linear_damping;
	/* angular_damping (0 … 1000 1/s): angular velocity decay rate */
	double angular_damping;
};

/* wake a sleeping body and its sleep set. */
struct cairn_command_wake {
	/* body: the body */
	int64_t body;
};

/* choose how method impact integrates a body's motion; other methods do not read it. */
struct cairn_command_set_integrator {
	/* body: the body */
	int64_t body;
	/* integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; linked bodies:
	 * implicit_euler if any has it, else the highest */
	uint8_t integrator;
	/* tolerance (0 … 1 m): largest estimated error of its motion in a tick, by step doubling
	 * (rk45: by its embedded pair); 0: that of impact.accuracy; linked bodies take the smallest */
	double tolerance;
	/* substeps: least number of equal parts of a tick, each with its own contacts and forces;
	 * linked bodies take the largest; 0: one */
	uint32_t substeps;
};

/* change how gravity acts on a body, and its greatest speeds; wakes it. */
struct cairn_command_set_motion {
	/* body: the body */
	int64_t body;
	/* gravity_scale (-1000 … 1000): factor of gravity; 0: none */
	double gravity_scale;
	/* speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none */
	double speed_max;
	/* angular_speed_max (0 … 10000 rad/s): the same of its angular velocity */
	double angular_speed_max;
};

/* give an animated body the pose of the next tick's end: it gets the velocities that take it
 * there, and stops after that tick unless it gets another target. */
struct cairn_command_move_to {
	/* body: the body, animated */
	int64_t body;
	/* position (-1000000 … 1000000 m): of the body's origin */
	cairn_vec3 position;
	/* rotation: body axes to world axes, w first; the shorter way */
	cairn_quat rotation;
};

/* push the dynamic bodies around a point away from it at once; wakes them. */
struct cairn_command_explode {
	/* position (-1000000 … 1000000 m): the centre */
	cairn_vec3 position;
	/* radius (0 … 1000000 m): bodies whose nearest point is farther get nothing */
	double radius;
	/* impulse (-1e+12 … 1e+12 N s): on each body whose nearest point is within core, along the
	 * line from the centre to that point; negative: towards the centre */
	double impulse;
	/* core (0 … 1000000 m): from here to radius the impulse falls off linearly; at most radius */
	double core;
	/* mask: bits: the groups of bodies it acts on */
	uint32_t mask;
	/* shadow: 1: a static body between the centre and a body's nearest point shields it */
	uint8_t shadow;
};

/* set gravity; wakes everything. */
struct cairn_command_gravity {
	/* gravity (-10000 … 10000 m/s2): acceleration of free fall */
	cairn_vec3 gravity;
};

/* set a parameter of the table below; wakes everything. */
struct cairn_command_parameter {
	/* name: its name, e.g. soft_step.substeps */
	cairn_text name;
	/* value (-1e+300 … 1e+300): within the parameter's own limits */
	double value;
};

/* choose the method that makes the steps from this tick on. */
struct cairn_command_method {
	/* name: its name, e.g. soft-step */
	cairn_text name;
};

/* restart the world's random numbers from a seed. */
struct cairn_command_seed {
	/* seed: 64 bits */
	uint64_t seed;
};

/* set the world's bounds. */
struct cairn_command_bounds {
	/* mode: 0 none, 1 a body that leaves becomes inactive, 2 walls */
	uint8_t mode;
	/* minimum (-1000000 … 1000000 m): lowest corner */
	cairn_vec3 minimum;
	/* maximum (-1000000 … 1000000 m): highest corner */
	cairn_vec3 maximum;
};

/* give a body a colour; no motion and no hash depends on it. */
struct cairn_command_set_colour {
	/* body: the body */
	int64_t body;
	/* colour: 0xRRGGBB, as on screens (sRGB) */
	uint32_t colour;
	/* given: 0: take the colour away */
	uint8_t given;
};

/* join two bodies, or one and the world; yields a joint. */
struct cairn_command_joint_create {
	/* type: 1 spherical, 2 revolute, 3 prismatic, 4 cylindrical, 5 universal, 6 fixed, 7
	 * distance, 8 six_dof, 9 wheel, 10 drag */
	uint8_t type;
	/* body_a: the first body; 0 the world */
	int64_t body_a;
	/* body_b: the second body; 0 the world */
	int64_t body_b;
	/* point_a (-1000000 … 1000000 m): a's anchor, from its origin in its axes; of the world, or
	 * with place 1: in world axes */
	cairn_vec3 point_a;
	/* frame_a: the joint's axes to a's; of the world, or with place 1: to the world's */
	cairn_quat frame_a;
	/* point_b (-1000000 … 1000000 m): b's anchor, likewise */
	cairn_vec3 point_b;
	/* frame_b: the joint's axes to b's; with place 1 it is frame_a, in the world */
	cairn_quat frame_b;
	/* place: 0 each side in its body's axes; 1 point_a and frame_a are in the world, and both
	 * sides take them from there (a distance and a drag: point_b, too) */
	uint8_t place;
	/* violated: 0 refuse poses that violate the joint; 1 refuse such poses and velocities; 2 move
	 * the bodies and change their velocities */
	uint8_t violated;
	/* flags: bit 0: its bodies do not collide with each other */
	uint32_t flags;
	/* break_force (0 … 1e+12 N): the joint breaks above it; 0 never */
	double break_force;
	/* break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never */
	double break_torque;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
	/* tag: number for the user's own purpose */
	int64_t tag;
};

/* remove a joint; its bodies keep pose and velocity. */
struct cairn_command_joint_remove {
	/* joint: the joint */
	int64_t joint;
};

/* change the properties of a joint that belong to no axis. */
struct cairn_command_joint_set {
	/* joint: the joint */
	int64_t joint;
	/* flags: bit 0: its bodies do not collide with each other */
	uint32_t flags;
	/* break_force (0 … 1e+12 N): the joint breaks above it; 0 never */
	double break_force;
	/* break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never */
	double break_torque;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
	/* tag: number for the user's own purpose */
	int64_t tag;
};

/* set all properties of one axis of a joint. */
struct cairn_command_joint_axis {
	/* joint: the joint */
	int64_t joint;
	/* axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; see the types of joints */
	uint32_t axis;
	/* mode: 0 free, 1 locked, 2 limited; locked, where the type does not lock it, only of a
	 * six_dof and a distance */
	uint8_t mode;
	/* lower (-1000000 … 1000000 m, rad): lower limit */
	double lower;
	/* upper (-1000000 … 1000000 m, rad): upper limit, not below lower */
	double upper;
	/* restitution (0 … 1): of its limits */
	double restitution;
	/* friction (0 … 1e+12 N, N m): greatest friction against motion along the axis */
	double friction;
	/* spring: 0 none, 1 by stiffness and damping, 2 by hertz and damping ratio */
	uint8_t spring;
	/* stiffness (0 … 1e+12 N/m, N m/rad, Hz): of the spring; with spring 2 hertz */
	double stiffness;
	/* damping (0 … 1e+12 N s/m, N m s/rad, 1): of the spring; with spring 2 the ratio */
	double damping;
	/* rest (-1000000 … 1000000 m, rad): coordinate at which the spring has no force; the length
	 * of a locked distance */
	double rest;
	/* spring_limit (0 … 1e+12 N, N m): greatest pull of the spring; 0 any */
	double spring_limit;
	/* motor: 0 none, 1 holds a velocity, 2 holds a position, 3 exerts a force */
	uint8_t motor;
	/* target (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): velocity or position that the motor
	 * holds, or the force that it exerts */
	double target;
	/* motor_limit (0 … 1e+12 N, N m): greatest force of the motor; 0 any */
	double motor_limit;
	/* wave: 0 the target is constant, 1 target + amplitude sin(2 pi hertz t + phase); joint_table
	 * sets a table */
	uint8_t wave;
	/* amplitude (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): of the sine */
	double amplitude;
	/* hertz (0 … 10000 Hz): of the sine */
	double hertz;
	/* phase (-1000000 … 1000000 rad): of the sine */
	double phase;
	/* motor_stiffness (0 … 1e+12 N/m, N m/rad): above 0 a position motor is a servo, of force
	 * motor_stiffness (target - coordinate) + motor_damping (rate of the target - rate), up to
	 * motor_limit; 0: it holds its target as far as motor_limit allows */
	double motor_stiffness;
	/* motor_damping (0 … 1e+12 N s/m, N m s/rad): of a servo; above 0 a velocity motor is a
	 * servo, of force motor_damping (target - rate) */
	double motor_damping;
};

/* set the targets of motors of many joints. */
struct cairn_command_joint_targets {
	/* targets: [joint, axis, value] each; this ends the axis's sine or table */
	cairn_joint_targets targets;
};

/* set a motor's target as a function of time, by a table of points. */
struct cairn_command_joint_table {
	/* joint: the joint */
	int64_t joint;
	/* axis: an axis with a motor */
	uint32_t axis;
	/* points: [time s, value] each, times ascending from 0 on */
	cairn_joint_points points;
	/* period (0 … 1000000 s): the table repeats after this time, at least the last point's; 0: no
	 * repetition, the last value stays */
	double period;
};

/* move the anchor of a joint that is in the world, such as a drag's. */
struct cairn_command_joint_move {
	/* joint: a joint whose body a is the world */
	int64_t joint;
	/* point (-1000000 … 1000000 m): the new point_a, world axes */
	cairn_vec3 point;
};

/* make a particle system: an emitter and its particles; yields a particles. */
struct cairn_command_particles_create {
	/* name: a name for people, need not be unique */
	cairn_text name;
	/* emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body
	 * (the faces of all shapes of the body that carries it, particles_emitter; without one there
	 * are no births) */
	uint8_t emitter;
	/* position (-1000000 … 1000000 m): centre of the emitter */
	cairn_vec3 position;
	/* rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a
	 * sphere outwards */
	cairn_quat rotation;
	/* half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar
	 * emitter's largest side, or radius of a sphere (a circle) */
	cairn_vec3 half;
	/* capacity: most particles alive; with recycle 0 also most ever emitted */
	uint32_t capacity;
	/* recycle: 1: particles that have died make room for new ones */
	uint8_t recycle;
	/* rate: particles of an emission; a planar emitter has room for fewer, if its side is small */
	uint32_t rate;
	/* rate_deviation: largest deviation of rate */
	uint32_t rate_deviation;
	/* delay (ticks): from one emission to the next; the first is in the first tick */
	uint32_t delay;
	/* size (0.0001 … 100 m): diameter */
	double size;
	/* size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean,
	 * with a third of this as standard deviation */
	double size_deviation;
	/* mass (1e-09 … 1000000000 kg): of a particle */
	double mass;
	/* mass_deviation (0 … 1000000000 kg): largest deviation */
	double mass_deviation;
	/* life (0 … 1000000 s): age at which a particle is removed; 0: never */
	double life;
	/* life_deviation (0 … 1000000 s): largest deviation */
	double life_deviation;
	/* speed (0 … 10000 m/s): at birth */
	double speed;
	/* speed_deviation (0 … 10000 m/s): largest deviation */
	double speed_deviation;
	/* spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's
	 * direction there */
	double spread;
	/* drag (0 … 1e+12 N s/m): force against the velocity, by the velocity */
	double drag;
	/* gravity_scale (-1000 … 1000): factor of gravity; 0: none */
	double gravity_scale;
	/* static_friction (0 … 10): of a contact with a body: the mean of both partners */
	double static_friction;
	/* dynamic_friction (0 … 10): likewise, at most static_friction */
	double dynamic_friction;
	/* restitution (0 … 1): of an impact on a body, combined by the body's rule */
	double restitution;
	/* category: bits: force fields whose mask has one of them act on the particles */
	uint32_t category;
	/* mask: bits: the particles collide with bodies whose category has one of them; 0: with none */
	uint32_t mask;
	/* colours: [age s, 0xRRGGBB] each: from this age on it has this colour */
	cairn_joint_points colours;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
	/* tag: number for the user's own purpose */
	int64_t tag;
	/* seed: of the random numbers of its births, with its id */
	uint64_t seed;
};

/* remove a particle system and its particles; impulses that they gave in the last tick are
 * lost. */
struct cairn_command_particles_remove {
	/* system: the system */
	int64_t system;
};

/* set all properties of a particle system but its name; its particles keep size, mass and age
 * of death. */
struct cairn_command_particles_set {
	/* system: the system */
	int64_t system;
	/* emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body
	 * (the faces of all shapes of the body that carries it, particles_emitter; without one there
	 * are no births) */
	uint8_t emitter;
	/* position (-1000000 … 1000000 m): centre of the emitter */
	cairn_vec3 position;
	/* rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a
	 * sphere outwards */
	cairn_quat rotation;
	/* half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar
	 * emitter's largest side, or radius of a sphere (a circle) */
	cairn_vec3 half;
	/* capacity: most particles alive; with recycle 0 also most ever emitted */
	uint32_t capacity;
	/* recycle: 1: particles that have died make room for new ones */
	uint8_t recycle;
	/* rate: particles of an emission; a planar emitter has room for fewer, if its side is small */
	uint32_t rate;
	/* rate_deviation: largest deviation of rate */
	uint32_t rate_deviation;
	/* delay (ticks): from one emission to the next; the first is in the first tick */
	uint32_t delay;
	/* size (0.0001 … 100 m): diameter */
	double size;
	/* size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean,
	 * with a third of this as standard deviation */
	double size_deviation;
	/* mass (1e-09 … 1000000000 kg): of a particle */
	double mass;
	/* mass_deviation (0 … 1000000000 kg): largest deviation */
	double mass_deviation;
	/* life (0 … 1000000 s): age at which a particle is removed; 0: never */
	double life;
	/* life_deviation (0 … 1000000 s): largest deviation */
	double life_deviation;
	/* speed (0 … 10000 m/s): at birth */
	double speed;
	/* speed_deviation (0 … 10000 m/s): largest deviation */
	double speed_deviation;
	/* spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's
	 * direction there */
	double spread;
	/* drag (0 … 1e+12 N s/m): force against the velocity, by the velocity */
	double drag;
	/* gravity_scale (-1000 … 1000): factor of gravity; 0: none */
	double gravity_scale;
	/* static_friction (0 … 10): of a contact with a body: the mean of both partners */
	double static_friction;
	/* dynamic_friction (0 … 10): likewise, at most static_friction */
	double dynamic_friction;
	/* restitution (0 … 1): of an impact on a body, combined by the body's rule */
	double restitution;
	/* category: bits: force fields whose mask has one of them act on the particles */
	uint32_t category;
	/* mask: bits: the particles collide with bodies whose category has one of them; 0: with none */
	uint32_t mask;
	/* colours: [age s, 0xRRGGBB] each: from this age on it has this colour */
	cairn_joint_points colours;
	/* owner: session that may command it; 0 none */
	uint32_t owner;
	/* tag: number for the user's own purpose */
	int64_t tag;
	/* seed: of the random numbers of its births, with its id */
	uint64_t seed;
};

/* add one particle to a system, with the system's mean size, mass and life. */
struct cairn_command_particles_add {
	/* system: the system */
	int64_t system;
	/* position (-1000000 … 1000000 m): of its centre */
	cairn_vec3 position;
	/* velocity (-10000 … 10000 m/s) */
	cairn_vec3 velocity;
};

/* set whether and how the particles of a system split: into particles of the next generation,
 * at their place. */
struct cairn_command_particles_split {
	/* system: the system */
	int64_t system;
	/* number: particles into which one splits; 0: none splits any more */
	uint32_t number;
	/* number_deviation: largest deviation of number */
	uint32_t number_deviation;
	/* age (0 … 1000000 s): of a particle when it splits first; one that dies before does not
	 * split */
	double age;
	/* age_deviation (0 … 1000000 s): largest deviation of age */
	double age_deviation;
	/* delay (ticks): it splits again each time after so many; 0: only once */
	uint32_t delay;
	/* depth: generations: the emitter makes particles of generation 0, and those of this
	 * generation do not split */
	uint32_t depth;
	/* velocity (0 … 100): of a child, as a share of the parent's velocity */
	double velocity;
	/* velocity_deviation (0 … 100): largest deviation of velocity */
	double velocity_deviation;
	/* spread (0 … 3.141592654 rad): largest angle between that velocity and the parent's */
	double spread;
	/* burst (0 … 10000 m/s): a velocity that is added, in any direction */
	double burst;
	/* burst_deviation (0 … 10000 m/s): largest deviation of burst */
	double burst_deviation;
	/* size (0 … 100): diameter of a child, as a share of the parent's; its mass goes with the
	 * cube, in a planar world with the square */
	double size;
	/* size_deviation (0 … 100): largest deviation of size */
	double size_deviation;
	/* life (0 … 100): life of a child, as a share of the parent's whole life */
	double life;
	/* life_deviation (0 … 100): largest deviation of life */
	double life_deviation;
	/* spend: 1: a particle that has split is removed in the next tick */
	uint8_t spend;
};

/* make a force field; wakes the bodies in its region; yields a force_field. */
struct cairn_command_field_create {
	/* kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every
	 * two bodies attract each other (pile) */
	uint8_t kind;
	/* region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no
	 * ball, and reaches from the top of its box, or from its position, down */
	uint8_t region;
	/* position (-1000000 … 1000000 m): centre of the field */
	cairn_vec3 position;
	/* rotation: the field's axes to the world's */
	cairn_quat rotation;
	/* half (0 … 1000000 m): half sizes of a box; x is the radius of a ball */
	cairn_vec3 half;
	/* falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a
	 * box) */
	uint8_t falloff;
	/* strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y
	 * axis; attractor: x, towards the centre */
	cairn_vec3 strength;
	/* velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes */
	cairn_vec3 velocity;
	/* linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity */
	double linear;
	/* quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square */
	double quadratic;
	/* angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity */
	double angular;
	/* power: of an attractor: its force falls with this power of the distance */
	uint32_t power;
	/* core (0.001 … 1000000 m): of an attractor: within about this distance the force falls
	 * again, to 0 at the centre */
	double core;
	/* flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m */
	uint32_t flags;
	/* mask: bodies whose category has one of these bits feel the field */
	uint32_t mask;
	/* tag: number for the user's own purpose */
	int64_t tag;
	/* density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world) */
	double density;
};

/* remove a force field; wakes the bodies in its region. */
struct cairn_command_field_remove {
	/* field: the field */
	int64_t field;
};

/* set all properties of a force field; wakes the bodies in its old and new region. */
struct cairn_command_field_set {
	/* field: the field */
	int64_t field;
	/* kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every
	 * two bodies attract each other (pile) */
	uint8_t kind;
	/* region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no
	 * ball, and reaches from the top of its box, or from its position, down */
	uint8_t region;
	/* position (-1000000 … 1000000 m): centre of the field */
	cairn_vec3 position;
	/* rotation: the field's axes to the world's */
	cairn_quat rotation;
	/* half (0 … 1000000 m): half sizes of a box; x is the radius of a ball */
	cairn_vec3 half;
	/* falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a
	 * box) */
	uint8_t falloff;
	/* strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y
	 * axis; attractor: x, towards the centre */
	cairn_vec3 strength;
	/* velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes */
	cairn_vec3 velocity;
	/* linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity */
	double linear;
	/* quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square */
	double quadratic;
	/* angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity */
	double angular;
	/* power: of an attractor: its force falls with this power of the distance */
	uint32_t power;
	/* core (0.001 … 1000000 m): of an attractor: within about this distance the force falls
	 * again, to 0 at the centre */
	double core;
	/* flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m */
	uint32_t flags;
	/* mask: bodies whose category has one of these bits feel the field */
	uint32_t mask;
	/* tag: number for the user's own purpose */
	int64_t tag;
	/* density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world) */
	double density;
};

/* set from which side a body is solid, and how its surface moves; wakes it and the bodies it
 * touches. */
struct cairn_command_set_surface {
	/* body: the body */
	int64_t body;
	/* one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all
	 * sides */
	cairn_vec3 one_way;
	/* surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body
	 * axes */
	cairn_vec3 surface_velocity;
};

/* set all that a piece of a body has of its own; the rest it has from its body; wakes the body
 * and what it touches. */
struct cairn_command_set_piece {
	/* body: the body */
	int64_t body;
	/* piece: which of its shapes, in the order of spawn, from 0 */
	uint32_t piece;
	/* own: what it has of its own: bit 0 friction and restitution, 1 category, mask and group, 2
	 * sensor, 3 surface_velocity, 4 density; 0: nothing */
	uint32_t own;
	/* patch: 0 the whole piece; else the triangles of a mesh with this number, which have bits 0
	 * and 3 only */
	uint32_t patch;
	/* static_friction (0 … 10): Coulomb, sticking */
	double static_friction;
	/* dynamic_friction (0 … 10): Coulomb, sliding; not above static */
	double dynamic_friction;
	/* restitution (0 … 1): of normal speed */
	double restitution;
	/* friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
	uint8_t friction_rule;
	/* restitution_rule: as friction_rule */
	uint8_t restitution_rule;
	/* rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of
	 * load; of two pieces the larger */
	double rolling_friction;
	/* spinning_friction (0 … 1000 m): the same about the normal */
	double spinning_friction;
	/* friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero:
	 * none */
	cairn_vec3 friction_axis;
	/* axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
	double axis_friction;
	/* category: bits: the groups this piece belongs to */
	uint32_t category;
	/* mask: bits: the groups this piece collides with */
	uint32_t mask;
	/* group: two pieces with the same: > 0 always collide, < 0 never */
	int64_t group;
	/* sensor: 1: it has no contacts, and tells which bodies it overlaps; 0: it has contacts */
	uint8_t sensor;
	/* surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body
	 * axes */
	cairn_vec3 surface_velocity;
	/* density (0.001 … 1000000 kg/m3): of its shape (kg/m2 in a planar world); the body's mass,
	 * centre and inertia become those of all its shapes */
	double density;
};

/* make an animated body with one convex shape a mover: it walks, climbs steps, falls and rides
 * on what it stands on; or change what it can. */
struct cairn_command_set_mover {
	/* body: the body, animated */
	int64_t body;
	/* step_height (0 … 100 m): the highest step that it climbs */
	double step_height;
	/* slope (0 … 1.5 rad): the steepest ground on which it stands */
	double slope;
	/* push_force (0 … 1e+12 N): the most with which it pushes dynamic bodies in its way or below
	 * it */
	double push_force;
	/* snap (0 … 100 m): it stays on ground that falls away by so much in a tick */
	double snap;
	/* enabled: 0: it is no mover any more */
	uint8_t enabled;
};

/* take all its visuals from a body. */
struct cairn_command_clear_visuals {
	/* body: the body */
	int64_t body;
};

/* lock axes of a body; its velocity along and about them becomes 0; wakes it and the bodies it
 * touches. */
struct cairn_command_set_locks {
	/* body: the body */
	int64_t body;
	/* locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre)
	 * or turn about (bits 3, 4, 5), while it is dynamic */
	uint32_t locks;
};

/* give a body a shape that pictures show in place of its own; no motion and no hash depends on
 * it. */
struct cairn_command_add_visual {
	/* body: the body; it may have 64 */
	int64_t body;
	/* shape: the shape; where it is dropped, its visuals go with it */
	int64_t shape;
	/* position (-1000000 … 1000000 m): of the shape's origin, body axes */
	cairn_vec3 position;
	/* rotation: shape axes to body axes, w first */
	cairn_quat rotation;
	/* colour: 0xRRGGBB, as on screens (sRGB) */
	uint32_t colour;
	/* given: 1: it has that colour; 0: the body's */
	uint8_t given;
};

/* say where a mover is to go. */
struct cairn_command_steer {
	/* body: the mover */
	int64_t body;
	/* velocity (-10000 … 10000 m/s): against its ground; the part along gravity counts only
	 * without gravity */
	cairn_vec3 velocity;
	/* jump (0 … 10000 m/s): speed at which it leaves its ground in the next tick, if it is on
	 * ground then; 0: it stays */
	double jump;
	/* ticks (ticks): how long it has that velocity; 4294967295 until another is given */
	uint32_t ticks;
};

/* set all that the particles of a system do to each other and to those of other systems. */
struct cairn_command_particles_interact {
	/* system: the system */
	int64_t system;
	/* forces: on which particles its own exert forces: 0 none, 1 internal (of the system), 2
	 * external (of other systems that say so too), 3 both */
	uint8_t forces;
	/* collisions: with which particles its own collide, likewise */
	uint8_t collisions;
	/* cutoff (0 … 100000 m): particles farther apart exert no forces; of two systems the smaller;
	 * 0: no forces */
	double cutoff;
	/* core (1e-06 … 100000 m): nearer than this, attraction and repulsion at a distance fall to 0
	 * with the distance; of two systems the larger */
	double core;
	/* substeps: of a tick, for forces between particles; all systems use the most of all */
	uint32_t substeps;
	/* charge (-1000 … 1000 C): of each particle: Coulomb's force */
	double charge;
	/* gravitation (0 … 1e+12 m3/(kg s2)): Newton's constant between the particles; of two systems
	 * the geometric mean */
	double gravitation;
	/* well_depth (0 … 1e+12 J): of the Lennard-Jones potential; of two systems the geometric
	 * mean; 0: none */
	double well_depth;
	/* well_distance (0 … 100 m): at which that potential is 0; of two systems the mean */
	double well_distance;
	/* repulsion (0 … 1e+12 N/m): of overlapping particles, by their overlap; of two systems the
	 * mean */
	double repulsion;
	/* repulsion_damping (0 … 10): of overlapping particles, 1: critical for the reduced mass; of
	 * two systems the mean */
	double repulsion_damping;
};

/* add particles in a lattice to a system, with links between neighbours: a rope, a cloth, a
 * block of jelly. */
struct cairn_command_particles_lattice {
	/* system: the system: its size, mass and life are the particles' */
	int64_t system;
	/* position (-1000000 … 1000000 m): of the first particle; serial numbers ascend along
	 * columns, then rows, then layers */
	cairn_vec3 position;
	/* rotation: the lattice's axes to the world's: columns are along x, rows along y, layers
	 * along z */
	cairn_quat rotation;
	/* columns: particles along x */
	uint32_t columns;
	/* rows: particles along y */
	uint32_t rows;
	/* layers: particles along z; 1 in a planar world */
	uint32_t layers;
	/* spacing (0.0001 … 100 m): between neighbours */
	double spacing;
	/* links: bit 0 edges, 1 diagonals of faces (against shear), 2 to the next but one (against
	 * bending), 3 volumes of cells (in a planar world areas) */
	uint32_t links;
	/* compliance (0 … 1000000 m/N): of edges: 1 by stiffness; 0: rigid */
	double compliance;
	/* shear_compliance (0 … 1000000 m/N): of diagonals */
	double shear_compliance;
	/* bend_compliance (0 … 1000000 m/N): of links to the next but one */
	double bend_compliance;
	/* damping_ratio (0 … 10): of all these, 1: critical for the reduced mass; rigid links have
	 * none */
	double damping_ratio;
	/* tear (0 … 1000): relative elongation beyond which an edge or diagonal tears; 0: never */
	double tear;
	/* substeps: of a tick; a system uses the most that it was given */
	uint32_t substeps;
	/* tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which an edge or diagonal
	 * tears; 0: never */
	double tear_force;
};

/* link particles of a system: a spring, a rope, a volume. */
struct cairn_command_particles_link {
	/* system: the system */
	int64_t system;
	/* a: serial number of a particle */
	uint32_t a;
	/* b: of another one */
	uint32_t b;
	/* kind: 0 rod: keeps the distance; 1 rope: only pulls; 2 volume: of the tetrahedron a, b, c,
	 * d, in a planar world the area of the triangle a, b, c */
	uint8_t kind;
	/* c: of a volume */
	uint32_t c;
	/* d: of a volume; 0 in a planar world */
	uint32_t d;
	/* length (0 … 1000000 m): at rest; 0: as it is now, and so is a volume */
	double length;
	/* compliance (0 … 1000000 m/N): 1 by stiffness; of a volume m3/Pa; 0: rigid */
	double compliance;
	/* damping_ratio (0 … 10): 1: critical for the reduced mass; a rigid link has none */
	double damping_ratio;
	/* tear (0 … 1000): relative elongation beyond which it tears; 0: never */
	double tear;
	/* substeps: of a tick; a system uses the most that it was given */
	uint32_t substeps;
	/* tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which it tears; 0: never */
	double tear_force;
};

/* hold a particle of a system with links where it is, or let it go. */
struct cairn_command_particles_pin {
	/* system: the system */
	int64_t system;
	/* particle: serial number */
	uint32_t particle;
	/* pinned: 1: held; 0: free */
	uint8_t pinned;
};

/* give a body a name for people, or another one; no motion and no hash depends on it. */
struct cairn_command_name_body {
	/* body: the body */
	int64_t body;
	/* name: need not be unique */
	cairn_text name;
};

/* give a joint a name for people, or another one; no motion and no hash depends on it. */
struct cairn_command_name_joint {
	/* joint: the joint */
	int64_t joint;
	/* name: need not be unique */
	cairn_text name;
};

/* set whether the linked particles of a system meet each other, so that cloth, ropes and jelly
 * do not pass through themselves. */
struct cairn_command_particles_self {
	/* system: the system; no fluid, without forces and collisions between its particles */
	int64_t system;
	/* thickness (0 … 100 m): least distance of the centres of two particles that share no link;
	 * at least 0.87 of the longest edge closes a cloth; 0: they do not meet */
	double thickness;
	/* friction (0 … 10): between them */
	double friction;
};

/* mount a system's emitter on a body, or take it off; set whether births push the body and
 * need room among particles. */
struct cairn_command_particles_emitter {
	/* system: the system */
	int64_t system;
	/* body: the body that carries the emitter; 0: none, it stays where it is in the world */
	int64_t body;
	/* place: 0 here: the emitter stays where it is as it is mounted; 1 point: its position and
	 * rotation are meant in the body's axes */
	uint8_t place;
	/* velocity (0 … 1): share of the body's velocity at the place of birth that a particle has
	 * besides its own speed */
	double velocity;
	/* recoil: 1: the next tick begins with the opposite of the momentum that births had relative
	 * to the body, at the places of birth */
	uint8_t recoil;
	/* room: 1: births that would overlap another particle do not happen either, and are counted
	 * as refused */
	uint8_t room;
};

/* let the particles of a system leave a trail: particles of another system, which has their
 * size, life and colours. */
struct cairn_command_particles_trail {
	/* system: the system that leaves it */
	int64_t system;
	/* trail: the system whose particles are left behind; 0: no trail any more */
	int64_t trail;
	/* delay (ticks): from one particle of a trail to the next */
	uint32_t delay;
	/* velocity (0 … 100): of the trail, as a share of the velocity of the particle that leaves it */
	double velocity;
	/* depth: generation up to which particles leave a trail */
	uint32_t depth;
};

/* set when the linked particles of a system meet bodies. */
struct cairn_command_particles_contacts {
	/* system: the system */
	int64_t system;
	/* contacts: 0 after: once a tick, after the sub-steps; 1 within: in each sub-step, so that
	 * cloth holds bodies */
	uint8_t contacts;
};

/* let a body hold a particle of a system with links, at a point of the body; the body feels
 * what pulls at it. */
struct cairn_command_particles_hold {
	/* system: the system */
	int64_t system;
	/* particle: serial number */
	uint32_t particle;
	/* body: the body; 0: none holds it any more */
	int64_t body;
	/* place: 0 here: at the point where the particle is; 1 point: it is moved to `point`; 2 far:
	 * at `point`, and the particle stays where it is */
	uint8_t place;
	/* point (-1000000 … 1000000 m): with place 1 or 2: body axes */
	cairn_vec3 point;
	/* stiffness (0 … 1e+12 N/m): of a spring of length 0 between the particle and that point; 0:
	 * rigid */
	double stiffness;
	/* damping_ratio (0 … 10): of that spring, 1: critical for the reduced mass */
	double damping_ratio;
};

/* make a particle system of a spatial world a fluid, or set all that it has as one;
 * kernel_radius 0: it is none any more. */
struct cairn_command_particles_fluid {
	/* system: the system; without links and forces between its particles */
	int64_t system;
	/* kernel_radius (0 … 1000 m): how far particles act on each other, about twice their spacing;
	 * systems with the same one and the same solver are one fluid; 0, or at least 0.001 */
	double kernel_radius;
	/* rest_density (0.001 … 100000 kg/m3): that it has without pressure; a particle's volume is
	 * its mass by this */
	double rest_density;
	/* viscosity (0 … 1000000 Pa s): of two systems the mean */
	double viscosity;
	/* surface_tension (0 … 1000 N/m): of the free surface; each particle has its own */
	double surface_tension;
	/* solver: 0 explicit: the pressure follows from the density, in small sub-steps; 1
	 * incompressible: the pressure keeps the density */
	uint8_t solver;
	/* tolerance (1e-08 … 0.1): incompressible: mean excess of density at which the iteration ends */
	double tolerance;
	/* wall_viscosity (0 … 1000000 Pa s): against bodies; 0: it slides along them, the viscosity:
	 * it sticks to them */
	double wall_viscosity;
	/* compression (0.0001 … 1): explicit, a liquid: compression at the expected speed; 1 by the
	 * square of Mach's number */
	double compression;
	/* speed (0 … 10000 m/s): explicit, a liquid: expected largest speed; 0: what the energy of
	 * the tick allows */
	double speed;
	/* stiffness (0 … 100000000 m2/s2): explicit, a gas: pressure by excess of density; 0: a
	 * liquid */
	double stiffness;
	/* step_ratio (0.01 … 1): of kernel_radius: how far a particle may go in a sub-step */
	double step_ratio;
	/* substeps_max: of a tick; a tick that wants more is counted, and softer if explicit */
	uint32_t substeps_max;
};

/* fill a box with particles of a fluid, in a cubic lattice; places inside bodies stay free and
 * are counted. */
struct cairn_command_particles_fill {
	/* system: the system, a fluid */
	int64_t system;
	/* position (-1000000 … 1000000 m): centre of the box */
	cairn_vec3 position;
	/* size (0 … 1000000 m): its lengths; each side has as many particles as spacings, rounded, at
	 * least 1 */
	cairn_vec3 size;
	/* spacing (0.0001 … 100 m): of the lattice, about half of kernel_radius; a particle has the
	 * mass of that cube at rest density */
	double spacing;
	/* rotation: the box's axes to the world's; serial numbers ascend along x, then y, then z */
	cairn_quat rotation;
	/* velocity (-10000 … 10000 m/s): of all of them */
	cairn_vec3 velocity;
};

/* make the coordinate of an axis of a joint follow that of another axis, or no longer. */
struct cairn_command_joint_gear {
	/* joint: the joint whose axis follows */
	int64_t joint;
	/* axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z */
	uint32_t axis;
	/* leader: the joint that it follows, also the same one; 0: it follows none, and the rest is
	 * ignored */
	int64_t leader;
	/* leader_axis: the leader's axis */
	uint32_t leader_axis;
	/* ratio (-1000000 … 1000000): coordinate = ratio x the leader's + offset, in m and rad */
	double ratio;
	/* offset (-1000000 … 1000000 m, rad): coordinate where the leader's is 0; what is missing
	 * closes at contact.push_speed at most */
	double offset;
};

/* set whether the linked particles of two systems meet each other: cloth on cloth, a rope over
 * a cloth, jelly on it. */
struct cairn_command_particles_meet {
	/* system: a system; no fluid, without forces and collisions between its particles */
	int64_t system;
	/* other: another one, likewise; a system meets at most 8 others */
	int64_t other;
	/* thickness (0 … 100 m): least distance of the centres of two of their particles; at least
	 * 0.87 of the longest edge of both closes them for each other; 0: they do not meet */
	double thickness;
	/* friction (0 … 10): between them */
	double friction;
};

/* limit the elongation of a system's links: in each sub-step until none is longer, with
 * tethers to what holds the system. */
struct cairn_command_particles_limit {
	/* system: the system */
	int64_t system;
	/* stretch (0 … 1): largest relative elongation of rods and ropes, also of compliant ones; at
	 * least 0.001; 0: none, links are corrected once a sub-step */
	double stretch;
};

/* let points carry a body: its place is theirs, and what touches it pushes them. */
struct cairn_command_carry {
	/* body: a dynamic body of a planar world, without joints; its mass does not count while
	 * points carry it */
	int64_t body;
	/* a: a dynamic body of which the mass centre is the point; several bodies may share it */
	int64_t a;
	/* b: another one */
	int64_t b;
	/* c: a third one; 0: none */
	int64_t c;
	/* d: a fourth one; 0: none */
	int64_t d;
};

/* let a body move by its own mass again. */
struct cairn_command_uncarry {
	/* body: a body that points carry */
	int64_t body;
};

/* make a sink of a system, set it anew, or remove it: a region or a body that takes the
 * system's particles away; those that it took are counted. */
struct cairn_command_particles_sink {
	/* system: the system */
	int64_t system;
	/* sink: number of the sink within the system */
	uint32_t sink;
	/* region: 0 none: the sink is removed; 1 ball; 2 box; 3 body: all that is nearer to `body`
	 * than `radius`, or in it */
	uint8_t region;
	/* position (-1000000 … 1000000 m): centre of a ball or box, in the axes of `body` if that is
	 * given */
	cairn_vec3 position;
	/* size (0 … 1000000 m): of a box: its lengths, above 0 */
	cairn_vec3 size;
	/* radius (0 … 1000000 m): of a ball, or around a body, above 0 */
	double radius;
	/* rotation: of a box, its axes to those of the world or of `body` */
	cairn_quat rotation;
	/* body: carries a ball or box, 0: none does; or is the sink itself. The sink goes with it */
	int64_t body;
};

/* set the inertia of the rotor that turns with an axis of a joint. */
struct cairn_command_joint_armature {
	/* joint: the joint */
	int64_t joint;
	/* axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; not of a spherical joint */
	uint32_t axis;
	/* armature (0 … 1e+18 kg m2, kg): at the axis, so the rotor's own times the square of its
	 * gear; kg of an axis along; 0: there is none */
	double armature;
};

/* Commands (docs/COMMANDS.md). */
enum cairn_command_op {
	CAIRN_COMMAND_SHAPE_USE = 1,
	CAIRN_COMMAND_SHAPE_DROP = 2,
	CAIRN_COMMAND_SPAWN = 10,
	CAIRN_COMMAND_REMOVE = 11,
	CAIRN_COMMAND_SET_POSE = 12,
	CAIRN_COMMAND_SET_VELOCITY = 13,
	CAIRN_COMMAND_SET_STATUS = 14,
	CAIRN_COMMAND_FORCE = 15,
	CAIRN_COMMAND_TORQUE = 16,
	CAIRN_COMMAND_IMPULSE = 17,
	CAIRN_COMMAND_ANGULAR_IMPULSE = 18,
	CAIRN_COMMAND_SET_MATERIAL = 19,
	CAIRN_COMMAND_SET_FILTER = 20,
	CAIRN_COMMAND_SET_OWNER = 21,
	CAIRN_COMMAND_SET_TAG = 22,
	CAIRN_COMMAND_SET_DAMPING = 23,
	CAIRN_COMMAND_WAKE = 24,
	CAIRN_COMMAND_SET_INTEGRATOR = 26,
	CAIRN_COMMAND_SET_MOTION = 27,
	CAIRN_COMMAND_MOVE_TO = 28,
	CAIRN_COMMAND_EXPLODE = 29,
	CAIRN_COMMAND_GRAVITY = 30,
	CAIRN_COMMAND_PARAMETER = 31,
	CAIRN_COMMAND_METHOD = 32,
	CAIRN_COMMAND_SEED = 33,
	CAIRN_COMMAND_BOUNDS = 34,
	CAIRN_COMMAND_SET_COLOUR = 40,
	CAIRN_COMMAND_JOINT_CREATE = 50,
	CAIRN_COMMAND_JOINT_REMOVE = 51,
	CAIRN_COMMAND_JOINT_SET = 52,
	CAIRN_COMMAND_JOINT_AXIS = 53,
	CAIRN_COMMAND_JOINT_TARGETS = 54,
	CAIRN_COMMAND_JOINT_TABLE = 55,
	CAIRN_COMMAND_JOINT_MOVE = 56,
	CAIRN_COMMAND_PARTICLES_CREATE = 60,
	CAIRN_COMMAND_PARTICLES_REMOVE = 61,
	CAIRN_COMMAND_PARTICLES_SET = 62,
	CAIRN_COMMAND_PARTICLES_ADD = 63,
	CAIRN_COMMAND_PARTICLES_SPLIT = 64,
	CAIRN_COMMAND_FIELD_CREATE = 70,
	CAIRN_COMMAND_FIELD_REMOVE = 71,
	CAIRN_COMMAND_FIELD_SET = 72,
	CAIRN_COMMAND_SET_SURFACE = 73,
	CAIRN_COMMAND_SET_PIECE = 74,
	CAIRN_COMMAND_SET_MOVER = 75,
	CAIRN_COMMAND_CLEAR_VISUALS = 76,
	CAIRN_COMMAND_SET_LOCKS = 77,
	CAIRN_COMMAND_ADD_VISUAL = 78,
	CAIRN_COMMAND_STEER = 79,
	CAIRN_COMMAND_PARTICLES_INTERACT = 83,
	CAIRN_COMMAND_PARTICLES_LATTICE = 84,
	CAIRN_COMMAND_PARTICLES_LINK = 85,
	CAIRN_COMMAND_PARTICLES_PIN = 86,
	CAIRN_COMMAND_NAME_BODY = 87,
	CAIRN_COMMAND_NAME_JOINT = 88,
	CAIRN_COMMAND_PARTICLES_SELF = 89,
	CAIRN_COMMAND_PARTICLES_EMITTER = 90,
	CAIRN_COMMAND_PARTICLES_TRAIL = 91,
	CAIRN_COMMAND_PARTICLES_CONTACTS = 92,
	CAIRN_COMMAND_PARTICLES_HOLD = 93,
	CAIRN_COMMAND_PARTICLES_FLUID = 94,
	CAIRN_COMMAND_PARTICLES_FILL = 95,
	CAIRN_COMMAND_JOINT_GEAR = 96,
	CAIRN_COMMAND_PARTICLES_MEET = 97,
	CAIRN_COMMAND_PARTICLES_LIMIT = 98,
	CAIRN_COMMAND_CARRY = 100,
	CAIRN_COMMAND_UNCARRY = 101,
	CAIRN_COMMAND_PARTICLES_SINK = 102,
	CAIRN_COMMAND_JOINT_ARMATURE = 104
};

/* Made by cairn_command_make; then set the fields of the member of the same name. */
typedef struct cairn_command {
	uint16_t op; /* enum cairn_command_op */
	union {
		struct cairn_command_shape_use shape_use;
		struct cairn_command_shape_drop shape_drop;
		struct cairn_command_spawn spawn;
		struct cairn_command_remove remove;
		struct cairn_command_set_pose set_pose;
		struct cairn_command_set_velocity set_velocity;
		struct cairn_command_set_status set_status;
		struct cairn_command_force force;
		struct cairn_command_torque torque;
		struct cairn_command_impulse impulse;
		struct cairn_command_angular_impulse angular_impulse;
		struct cairn_command_set_material set_material;
		struct cairn_command_set_filter set_filter;
		struct cairn_command_set_owner set_owner;
		struct cairn_command_set_tag set_tag;
		struct cairn_command_set_damping set_damping;
		struct cairn_command_wake wake;
		struct cairn_command_set_integrator set_integrator;
		struct cairn_command_set_motion set_motion;
		struct cairn_command_move_to move_to;
		struct cairn_command_explode explode;
		struct cairn_command_gravity gravity;
		struct cairn_command_parameter parameter;
		struct cairn_command_method method;
		struct cairn_command_seed seed;
		struct cairn_command_bounds bounds;
		struct cairn_command_set_colour set_colour;
		struct cairn_command_joint_create joint_create;
		struct cairn_command_joint_remove joint_remove;
		struct cairn_command_joint_set joint_set;
		struct cairn_command_joint_axis joint_axis;
		struct cairn_command_joint_targets joint_targets;
		struct cairn_command_joint_table joint_table;
		struct cairn_command_joint_move joint_move;
		struct cairn_command_particles_create particles_create;
		struct cairn_command_particles_remove particles_remove;
		struct cairn_command_particles_set particles_set;
		struct cairn_command_particles_add particles_add;
		struct cairn_command_particles_split particles_split;
		struct cairn_command_field_create field_create;
		struct cairn_command_field_remove field_remove;
		struct cairn_command_field_set field_set;
		struct cairn_command_set_surface set_surface;
		struct cairn_command_set_piece set_piece;
		struct cairn_command_set_mover set_mover;
		struct cairn_command_clear_visuals clear_visuals;
		struct cairn_command_set_locks set_locks;
		struct cairn_command_add_visual add_visual;
		struct cairn_command_steer steer;
		struct cairn_command_particles_interact particles_interact;
		struct cairn_command_particles_lattice particles_lattice;
		struct cairn_command_particles_link particles_link;
		struct cairn_command_particles_pin particles_pin;
		struct cairn_command_name_body name_body;
		struct cairn_command_name_joint name_joint;
		struct cairn_command_particles_self particles_self;
		struct cairn_command_particles_emitter particles_emitter;
		struct cairn_command_particles_trail particles_trail;
		struct cairn_command_particles_contacts particles_contacts;
		struct cairn_command_particles_hold particles_hold;
		struct cairn_command_particles_fluid particles_fluid;
		struct cairn_command_particles_fill particles_fill;
		struct cairn_command_joint_gear joint_gear;
		struct cairn_command_particles_meet particles_meet;
		struct cairn_command_particles_limit particles_limit;
		struct cairn_command_carry carry;
		struct cairn_command_uncarry uncarry;
		struct cairn_command_particles_sink particles_sink;
		struct cairn_command_joint_armature joint_armature;
		uint64_t reserved[64]; /* for fields of later versions */
	};
} cairn_command;

/* Queries (docs/PROTOCOL.md). */
enum cairn_query_kind {
	CAIRN_QUERY_RAY = 1,
	CAIRN_QUERY_OVERLAP = 2,
	CAIRN_QUERY_CONTACTS = 3,
	CAIRN_QUERY_TOTALS = 4,
	CAIRN_QUERY_BODY = 5,
	CAIRN_QUERY_GEOMETRY = 6,
	CAIRN_QUERY_CAST = 7,
	CAIRN_QUERY_CLOSEST = 8,
	CAIRN_QUERY_MASS = 9,
	CAIRN_QUERY_MOVE = 10,
	CAIRN_QUERY_REGIONS = 11,
	CAIRN_QUERY_METHODS = 12,
	CAIRN_QUERY_PARAMETERS = 13,
	CAIRN_QUERY_JOINT = 14,
	CAIRN_QUERY_STABILITY = 17,
	CAIRN_QUERY_FIELDS = 18,
	CAIRN_QUERY_RECORDINGS = 19,
	CAIRN_QUERY_JOINTS = 20,
	CAIRN_QUERY_LINKED = 21,
	CAIRN_QUERY_WHEN = 22,
	CAIRN_QUERY_PAST = 23,
	CAIRN_QUERY_DIFFERENCE = 24,
	CAIRN_QUERY_FORCES = 25,
	CAIRN_QUERY_SENSED = 26,
	CAIRN_QUERY_LINKS = 27,
	CAIRN_QUERY_SYSTEMS = 28,
	CAIRN_QUERY_PARTICLES = 29,
	CAIRN_QUERY_ROBOT = 30,
	CAIRN_QUERY_INERTIA = 31,
	CAIRN_QUERY_JACOBIAN = 32,
	CAIRN_QUERY_CARRIERS = 33,
	CAIRN_QUERY_PIECES = 34,
	CAIRN_QUERY_DYNAMICS = 35,
	CAIRN_QUERY_FLUIDS = 36
};

/* Made by cairn_query_make; then set what the kind reads. In brackets: what may stay as it is.
 * Below each kind is the layout of its answer (cairn_world_query).
 *
 * CAIRN_QUERY_RAY: ray
 *	reads origin, direction, length, [limit, category, mask, ignore]
 *	[[body, placement, child, fraction, point, normal], …]
 *	nearest first
 *
 * CAIRN_QUERY_OVERLAP: overlap
 *	reads shape, origin, [rotation, limit, category, mask, ignore]
 *	[id, …]
 *	ascending
 *
 * CAIRN_QUERY_CONTACTS: contacts of a body, or of all
 *	reads [body, limit]
 *	[[a, b, child a, child b, point, normal, separation, impulse, friction], …]
 *
 * CAIRN_QUERY_TOTALS: totals
 *	reads nothing
 *	[kinetic, potential, linear momentum, angular momentum]
 *
 * CAIRN_QUERY_BODY: body
 *	reads body
 *	[id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre,
 *	[[name, position, rotation], …], mover]
 *	only a mover has the last one: [flags, ground, squeezes, normal, velocity, wish,
 *	step height, slope, push force, snap]; its flags: 1 on ground, 2 blocked, 4
 *	squeezed, 8 it pushes, 16 it rests; `squeezes` counts ticks without a place;
 *	`velocity` (m/s) is what fall, jump and the ground it left add to the wish
 *
 * CAIRN_QUERY_GEOMETRY: geometry of a shape that the world has
 *	reads name, [part]
 *	[part, of, bin]
 *	canonical bytes, 57344 to a part
 *
 * CAIRN_QUERY_CAST: cast: hits of a shape that moves along `way` (m) without turning
 *	reads shape, origin, direction, [rotation, limit, category, mask, ignore]
 *	[[body, placement, child, fraction, point, normal, depth, own child], …]
 *	nearest first; an overlap at the start has fraction 0 and its depth
 *
 * CAIRN_QUERY_CLOSEST: nearest points of two bodies; other 0: of the body and its nearest
 * neighbour
 *	reads body, [other, length]
 *	[] or [distance, normal, side, side]
 *	a side is `[body, placement, child, point, [vertex, …]]`; a negative distance is a
 *	depth
 *
 * CAIRN_QUERY_MASS: mass properties of a body; 0: of all dynamic bodies
 *	reads [body]
 *	[mass, centre, [xx, yy, zz, xy, xz, yz], moments, axes, radius, bodies]
 *
 * CAIRN_QUERY_MOVE: move of a walking character
 *	reads shape, origin, direction, [rotation, iterations, slope, step, skin, category,
 *	mask, ignore]
 *	[position, left, flags, iterations, climbed, ground or nil, [contact, …]]
 *	ground and contacts have the form of a cast's hits; flags: 1 grounded, 2 stuck
 *
 * CAIRN_QUERY_REGIONS: overlap regions of two closed solids
 *	reads body, other, [limit]
 *	[[placement, other's placement, depth, volume, point, other's point, normal,
 *	contours], …]
 *	deepest first
 *
 * CAIRN_QUERY_METHODS: methods of this build
 *	reads nothing
 *	[[number, name, motion, shapes, abilities, code, why, summary, [[name, parameter,
 *	value], …]], …]
 *	`motion` is the number of its motion, `shapes` a sum of 2^kind, `abilities` a sum of
 *	1 friction, 2 restitution, 4 sleep, 8 planar, 16 spatial, 32 joints; `code` is 0 if
 *	the world can switch to it now, else the status, and `why` is its text; the other
 *	names of the method come last, each with the parameter that it sets or nil
 *
 * CAIRN_QUERY_PARAMETERS: parameters, and their values in this world
 *	reads nothing
 *	[[number, name, value, initial, least, most, whole, unit, [method, …], [old name,
 *	…], meaning], …]
 *	the methods are those that read the parameter; old names are accepted for good
 *
 * CAIRN_QUERY_JOINT: joint
 *	reads joint
 *	[id, type, flags, a, b, owner, tag, point a, frame a, point b, frame b, coordinates,
 *	force, torque, anchor a, anchor b, [break force, break torque], [axis, …]]
 *	six axes, each with the fields of JOINT_AXIS from mode to motor_damping, then those
 *	of JOINT_GEAR from leader to offset and the gear's force along the axis, then the
 *	armature and the force of its rotor; for a motor that follows a table, `wave` is 2
 *	and `hertz` is 1 / period; anchors are present positions in the world
 *
 * CAIRN_QUERY_STABILITY: whether the bodies stand, at rest where they are, with which forces,
 * and how they begin to fall
 *	reads [limit, touch, sides, margin, body, direction, lowest]
 *	[verdict, law, [residual, kkt, gap, witness], rounds, fallbacks, [bodies, points,
 *	rows], [lower, upper, stands], [[body, acceleration, angular acceleration], …], [[a,
 *	b, child a, child b, point, normal, separation, normal force, friction force,
 *	parting, breaks, known], …], [[joint, point, force, torque, known], …], [] or
 *	[[drop, residual], limited, programmes, [[body, rise, slope, across], …]], [known,
 *	open]]
 *	verdict: 0 falls, 1 stands, 2 may stand, 3 undecided; law of the forces: 0 settled,
 *	1 Coulomb's, 2 associative; a margin without end is 1e300; `body` bears the load or
 *	push along `direction` (0: along x); at most `limit` items of each list; what a
 *	joint exerts on b about its anchor there, at `point`; with `lowest` by how much the
 *	energy can fall if nothing slides sideways (J), in how many programmes, how many
 *	bodies are at a limit, and where each goes (m, and slopes along x and z); `known` of
 *	a force as in FORCES, of all that of the least known one, and `open`: how many
 *	contacts and joints are not unique; TOWERS has the meaning
 *
 * CAIRN_QUERY_FIELDS: force fields of the world, and what they exert at a place
 *	reads [origin, direction, value]
 *	[acceleration, force, [[id, kind, region, falloff, flags, power, mask, tag,
 *	position, rotation, half, strength, velocity, linear, quadratic, angular, core], …]]
 *	m/s2, and N to be added: on a point of `mass` kg that moves at `velocity` m/s and is
 *	of every category; fields as field_create sets them, ids ascend
 *
 * CAIRN_QUERY_RECORDINGS: recordings of the world
 *	reads [limit]
 *	[[name, title, since, bytes, [epoch, tick], [epoch, tick], running], …]
 *	since when it was begun or made (UTC), first and last state; one that runs comes
 *	first, the others by name; one that cannot be read has no ticks and the reason as
 *	its title
 *
 * CAIRN_QUERY_JOINTS: joints of a body, or of all
 *	reads [body, limit, first]
 *	[[id, type, flags, a, b, coordinates, force, torque, anchor a, anchor b, owner,
 *	tag], …]
 *	ids ascend; if there are `limit` of them, query the next page with `first` above the
 *	last id
 *
 * CAIRN_QUERY_LINKED: bodies that joints connect with a body
 *	reads body, [limit, first]
 *	[id, …]
 *	ascending, with the body itself; a body that is not dynamic is listed if a joint
 *	ends at it, but it connects no further bodies; `limit` and `first` as in joints
 *
 * CAIRN_QUERY_WHEN: first or last tick of the past at which a quantity of a body (0: of any)
 * is above or below a value
 *	reads body, quantity, above, value, [latest]
 *	[] or [epoch, tick, body, value, [[session, batch, op], …], [[other body, impulse],
 *	…]]
 *	the commands that name the body, applied at the boundary before the tick, and the
 *	bodies that it touches at the tick, strongest first
 *
 * CAIRN_QUERY_PAST: what there is of the past
 *	reads [limit]
 *	[[[epoch, first tick, last tick, cause], …], [spacing, keyframes, bytes], [[epoch,
 *	tick, kind, text], …]]
 *	the keyframes of this run of the server: ticks between them, their number and size;
 *	marks: kind 0 an epoch, 1 a snapshot, 2 commands, at most `limit` of each, the
 *	latest
 *
 * CAIRN_QUERY_DIFFERENCE: first difference between the states of two ticks of the past
 *	reads epoch, tick, other_epoch, other_tick
 *	[] or [text, table, row or -1, column]
 *	nothing where the states are equal apart from the epoch
 *
 * CAIRN_QUERY_FORCES: forces of the touching contact points of a body, or of all
 *	reads [body, limit, representative]
 *	[[a, b, child a, child b, point, normal, separation, normal force, friction force,
 *	known], …]
 *	N, means over the last tick, on b; friction is that of the whole pair, in its first
 *	point; `known`: 0 not unique, as the method found it, 1 unique, 2 as found, its
 *	island is too large to examine, 3 not unique, of least norm; `representative` 1 asks
 *	for the least norm
 *
 * CAIRN_QUERY_SENSED: bodies that a sensor overlapped at the end of the last tick
 *	reads body, [limit]
 *	[id, …]
 *	ascending; none for a body that is no sensor
 *
 * CAIRN_QUERY_LINKS: links between the particles of a system, in the order in which they are
 * solved
 *	reads system, [after, limit]
 *	[count, bin]
 *	u32, little-endian, five for each link: kind (0 rod, 1 rope, 2 volume) and the
 *	serial numbers of its particles, 0 where a distance, or a volume of a planar world
 *	(an area), has none; `after`: how many links to pass over; a page that is not full
 *	is the last one
 *
 * CAIRN_QUERY_SYSTEMS: particle systems of the world
 *	reads nothing
 *	[[id, name, owner, tag, emitter, alive, capacity, born, lost, refused, cut,
 *	position, rotation, half, [size, deviation], [mass, deviation], [life, deviation],
 *	[speed, deviation], spread, drag, gravity scale, category, mask, [[age, colour], …],
 *	forces, collisions, substeps, cutoff, core, charge, gravitation, well depth, well
 *	distance, repulsion, repulsion damping, crowded, links, pins, link substeps, torn,
 *	stretch, volume error, [split number, deviation], [split age, deviation], split
 *	delay, split depth, [split velocity, deviation], split spread, [split burst,
 *	deviation], [split size, deviation], [split life, deviation], split spend, splits,
 *	trail, trail delay, trail depth, trail velocity, contacts, holds, self thickness,
 *	self friction, self overlap, mount, mount velocity, recoil, room, stretch limit,
 *	limit passes, [[other system, thickness, friction, overlap], …], taken, [[number,
 *	region, body, position, rotation, size, radius, taken, mass], …]], …]
 *	as particles_create, particles_interact, particles_split, particles_trail,
 *	particles_self, particles_limit, particles_emitter, particles_meet and
 *	particles_sink set them (substeps 0: not given; trail, mount 0: none; with a mount,
 *	position and rotation are in that body's axes), ids ascend; counts so far: births,
 *	births beyond a limit, births inside a body, paths that ended before their tick,
 *	particles left out of a search for neighbours because too many were at one place,
 *	links that tore, splits, passes of a limit, particles that sinks took, and their
 *	mass in kg; stretch, volume error and overlaps: of its links and linked particles
 *	after the last tick, relative
 *
 * CAIRN_QUERY_PARTICLES: particles of a system, in the order of their serial numbers
 *	reads system, [after, limit, form]
 *	exact: [0, count, serials, positions, velocities, radii, masses, ages, generations];
 *	view: [1, count, last serial, corner, step, positions, colours]
 *	columns are bins, little-endian: serials u64, generations u8, the others f64,
 *	positions and velocities with three each; in view positions are three u16 in steps
 *	(m) from the corner, and colours u8: how many of the system's colours have begun.
 *	Query the next page with `after`; a page that is not full is the last one, and pages
 *	are of one state if their ticks are equal
 *
 * CAIRN_QUERY_ROBOT: the bodies that joints link with a body, in reduced coordinates; 0: all
 * dynamic bodies
 *	reads [body]
 *	[[[body, parent, joint, kind, [axis, …]], …], q, rates, accelerations, bias,
 *	[closure rows, rank, residual], regular, forces]
 *	a link comes after its parent; parent 0: the world, or what is not dynamic; joint 0:
 *	a floating base; kind: 0 floating base, 1 axes with a coordinate each, 2 slides and
 *	then a ball; the columns are bins of f64, little-endian: q has one for each axis, a
 *	ball four and a floating base seven (position, rotation), the others one for each
 *	axis; accelerations are those without forces of joints and contacts, loops closed;
 *	forces (N, N m) are what the joint of each axis exerted along it in the last tick;
 *	ROBOTS has the meaning
 *
 * CAIRN_QUERY_INERTIA: mass matrix of a robot over the axes of its links
 *	reads body
 *	[axes, bin]
 *	f64, little-endian: the lower triangle by rows
 *
 * CAIRN_QUERY_JACOBIAN: Jacobian of a point (m, world) of a body over the axes of its robot
 *	reads body, origin
 *	[axes, bin]
 *	f64, little-endian: six rows, of the velocity of the point and of the spin
 *
 * CAIRN_QUERY_CARRIERS: bodies that points carry
 *	reads [body, limit, first]
 *	[[body, [point, …], off], …]
 *	`body` 0: all, by rows; off (m) is the largest distance of a point from its place in
 *	the body; if there are `limit` of them, query the next page with `first` that many
 *	later
 *
 * CAIRN_QUERY_PIECES: what pieces of a body have of their own
 *	reads body, [limit, first]
 *	[[74, body, piece, own, …], …]
 *	the commands set_piece that give it to them, by piece and patch; a body whose pieces
 *	have nothing of their own has none; if there are `limit` of them, query the next
 *	page with `first` that many later
 *
 * CAIRN_QUERY_DYNAMICS: accelerations of given forces of axes, or (inverse) forces of given
 * accelerations, of many robots
 *	reads bodies, [inverse, values, still]
 *	[[[axes, closure rows, rank, residual, regular], …], bin]
 *	`bodies` is a bin of u32, `values` one of f64, little-endian; one item for each of
 *	`bodies` (also for a robot that is named again, with values of its own), then f64 of
 *	the axes of all, in the order of ROBOT's; without `values` all are 0, so that the
 *	inverse is the bias, and with `still` what holds the robot against gravity; ROBOTS
 *	has the meaning
 *
 * CAIRN_QUERY_FLUIDS: particle systems that are fluids, and the figures of their last tick
 *	reads nothing
 *	[[system, particles, solver, kernel radius, rest density, viscosity, wall viscosity,
 *	surface tension, tolerance, compression, speed, stiffness, step ratio, most
 *	substeps, substeps, iterations, density error, largest density error, residual,
 *	divergence error, largest speed, capped, unconverged, inside, crowded, lost, bad,
 *	blocked, unsampled, coarse], …]
 *	as particles_fluid set them, then figures: mean and largest excess of density before
 *	the last sub-step, what the last solutions left of density and divergence (all
 *	relative), m/s; counts so far: ticks that wanted more sub-steps, solutions above the
 *	tolerance, particles found inside bodies, left out of a search, lost, stopped
 *	because a number overflowed, places of fills inside bodies; then shapes near it in
 *	the last tick that are too large to be walls of it, and those that are coarse walls
 *
 */
typedef struct cairn_query {
	int kind; /* enum cairn_query_kind */
	/* m; start of the ray, or position of the shape */
	cairn_vec3 origin;
	/* a direction, or a displacement in m */
	cairn_vec3 direction;
	/* m; length of the ray, or the largest distance */
	double length;
	/* w first */
	cairn_quat rotation;
	/* as in cairn_world_shape; borrowed */
	const char *shape;
	/* of a shape */
	cairn_name name;
	/* 0: all bodies, or any, if the query allows it */
	uint32_t body;
	/* the second body; 0: any */
	uint32_t other;
	/* most straight segments of a move; 4 unless set */
	uint32_t iterations;
	/* cosine of the steepest ground to walk on; 0.7 unless set */
	double slope;
	/* m; highest step to climb */
	double step;
	/* m; distance kept from surfaces; 0.001 unless set */
	double skin;
	/* most items of the answer; 1024 unless set */
	uint32_t limit;
	/* bits */
	uint32_t category;
	/* bits */
	uint32_t mask;
	/* a body to leave out */
	uint32_t ignore;
	/* a joint */
	uint32_t joint;
	/* ids below it are left out: for the next page */
	uint32_t first;
	/* index of the part of the canonical bytes, from 0 */
	uint32_t part;
	/* which of several possible solutions */
	uint32_t representative;
	/* of a body: 0 x, 1 y, 2 z (m), 3 speed (m/s), 4 spin (rad/s) */
	uint32_t quantity;
	/* 1: the quantity is above the value, 0: below; 1 unless set */
	uint32_t above;
	/* compared with the quantity */
	double value;
	/* 0: the first tick, 1: the last one */
	uint32_t latest;
	/* of the tick; 0: the last epoch that has it */
	uint32_t epoch;
	/* an integer */
	double tick;
	/* of the other tick */
	uint32_t other_epoch;
	/* an integer */
	double other_tick;
	/* m; pieces no farther apart touch; 0: 1 % of the smaller one's least half-width */
	double touch;
	/* of a pyramid of friction in space; even; 8 unless set */
	uint32_t sides;
	/* a particle system */
	uint32_t system;
	/* serial numbers up to it are left out: for the next page */
	double after;
	/* of particles: 0 exact, 1 view */
	uint32_t form;
	/* 1: the state of lowest energy as well */
	uint32_t lowest;
	/* 0 none, 1 load (N, along gravity), 2 push (N), 3 tilt (tangent) */
	uint32_t margin;
	/* one body of each robot (borrowed) */
	cairn_bodies bodies;
	/* 1: from accelerations to forces */
	uint32_t inverse;
	/* of the axes of the robots, one after another (borrowed) */
	cairn_numbers values;
	/* 1: as if no body moved */
	uint32_t still;
	uint64_t reserved[11]; /* for members of later versions */
} cairn_query;

#endif
