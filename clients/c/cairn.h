/* cairn.h: a client of Cairn, for C and C++. It connects to a `cairnd`, commands its worlds and
 * sees their bodies. It computes no physics.
 *
 *	cairn_client *client;
 *	cairn_world *world;
 *	cairn_error error;
 *	if (cairn_client_open("tcp:127.0.0.1:7411", NULL, &client, &error) != CAIRN_STATUS_OK ||
 *	    cairn_client_join(client, "tower", &world, &error) != CAIRN_STATUS_OK)
 *		die(error.text);
 *	cairn_command push = cairn_command_make(CAIRN_COMMAND_IMPULSE);
 *	push.impulse.body = 7;
 *	push.impulse.impulse.y = 50;
 *	cairn_world_apply(world, &push, 1, NULL, &error);
 *
 * A function that can fail returns CAIRN_STATUS_OK or another number of enum cairn_status, and
 * fills `error` (which may be NULL everywhere). A refusal by the server has the server's number,
 * field and text, and the connection continues.
 *
 * One client is one connection and belongs to one thread. Its worlds belong to it. What a
 * function returns through a pointer to const is borrowed: it lasts until the next call with the
 * same client.
 *
 * Units are m, kg, s, rad and N. Vectors are in world axes unless said otherwise; y points up,
 * if gravity has its default. Quaternions turn body axes into world axes.
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

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

/* ---- from the manifests: make_header.py writes this part ---- */
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
	CAIRN_STATUS_NOT_STORED = 68
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
	CAIRN_EVENT_DEATHS = 11
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

/* Values of fast fields. */
enum cairn_fast { CAIRN_FAST_SAME = 0, CAIRN_FAST_NO = 1, CAIRN_FAST_YES = 2 };

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
	CAIRN_JOINT_MOTOR_POSITION = 2
};

/* Values of joint wave fields. */
enum cairn_joint_wave {
	CAIRN_JOINT_WAVE_CONSTANT = 0,
	CAIRN_JOINT_WAVE_SINE = 1,
	CAIRN_JOINT_WAVE_TABLE = 2
};

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
	/* flags: bit 0 may sleep, bit 1 fixed rotation, bit 2 fast: does not pass through dynamic
	 * bodies either */
	uint32_t flags;
	/* rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of
	 * load; of two bodies the larger */
	double rolling_friction;
	/* spinning_friction (0 … 1000 m): the same about the normal */
	double spinning_friction;
	/* friction_axis (-1 … 1): body axes, any length; along it axis_friction replaces the
	 * frictions; zero: none */
	cairn_vec3 friction_axis;
	/* axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
	double axis_friction;
	/* integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; read by method
	 * impact */
	uint8_t integrator;
	/* tolerance (0 … 1 m): largest estimated error of its motion in a tick; 0: that of
	 * impact.accuracy; read by method impact */
	double tolerance;
	/* substeps: least number of equal parts of a tick; 0: one; read by method impact */
	uint32_t substeps;
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
	/* friction_axis (-1 … 1): body axes, any length; along it axis_friction replaces the
	 * frictions; zero: none */
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
	/* fast: 0 leave bit 2 of its flags as it is, 1 clear it, 2 set it: under soft-step it does
	 * not pass through dynamic bodies either */
	uint8_t fast;
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
	/* motor: 0 none, 1 holds a velocity, 2 holds a position */
	uint8_t motor;
	/* target (-1000000 … 1000000 m/s, rad/s, m, rad): velocity or position that the motor holds */
	double target;
	/* motor_limit (0 … 1e+12 N, N m): greatest force of the motor; 0 any */
	double motor_limit;
	/* wave: 0 the target is constant, 1 target + amplitude sin(2 pi hertz t + phase); joint_table
	 * sets a table */
	uint8_t wave;
	/* amplitude (-1000000 … 1000000 m/s, rad/s, m, rad): of the sine */
	double amplitude;
	/* hertz (0 … 10000 Hz): of the sine */
	double hertz;
	/* phase (-1000000 … 1000000 rad): of the sine */
	double phase;
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
	CAIRN_COMMAND_GRAVITY = 30,
	CAIRN_COMMAND_PARAMETER = 31,
	CAIRN_COMMAND_METHOD = 32,
	CAIRN_COMMAND_SEED = 33,
	CAIRN_COMMAND_BOUNDS = 34,
	CAIRN_COMMAND_JOINT_CREATE = 50,
	CAIRN_COMMAND_JOINT_REMOVE = 51,
	CAIRN_COMMAND_JOINT_SET = 52,
	CAIRN_COMMAND_JOINT_AXIS = 53,
	CAIRN_COMMAND_JOINT_TARGETS = 54,
	CAIRN_COMMAND_JOINT_TABLE = 55,
	CAIRN_COMMAND_JOINT_MOVE = 56
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
		struct cairn_command_gravity gravity;
		struct cairn_command_parameter parameter;
		struct cairn_command_method method;
		struct cairn_command_seed seed;
		struct cairn_command_bounds bounds;
		struct cairn_command_joint_create joint_create;
		struct cairn_command_joint_remove joint_remove;
		struct cairn_command_joint_set joint_set;
		struct cairn_command_joint_axis joint_axis;
		struct cairn_command_joint_targets joint_targets;
		struct cairn_command_joint_table joint_table;
		struct cairn_command_joint_move joint_move;
		uint64_t reserved[64]; /* for fields of later versions */
	};
} cairn_command;
/* ---- end of that part ---- */

typedef struct cairn_error {
	int status;	/* enum cairn_status */
	int64_t index;	/* of the refused command in its list, or −1 */
	char field[32]; /* what was wrong; "" if no single field was */
	char text[160]; /* for a person */
} cairn_error;

/* "unknown_body", and a line for a person. Never NULL. */
CAIRN_API const char *cairn_status_name(int status);
CAIRN_API const char *cairn_status_text(int status);
/* The version of the library, e.g. "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* ---- the connection ------------------------------------------------------------------------------ */

typedef struct cairn_connected cairn_client;
typedef struct cairn_joined cairn_world;
struct cairn_frame;
struct cairn_event;

typedef struct cairn_client_options {
	const char *name;	 /* of the program, for the server's log; NULL: "libcairn" */
	const char *token;	 /* as its issuer gave it; NULL: none */
	const char *tls_trusted; /* file of certificates to trust (PEM); NULL: the system's */
	uint32_t timeout_ms;	 /* of every call that waits; 0: 10 000 */
	/* Called by cairn_client_poll and by the calls that wait; each may be NULL. They must
	 * not call a function with the same client, except those that only read it. */
	void (*frame)(void *context, cairn_world *world, const struct cairn_frame *frame);
	void (*event)(void *context, cairn_world *world, const struct cairn_event *event);
	void *context;
	bool resumes; /* the server keeps the session for cairn_client_resume, for 30 s */
} cairn_client_options;

/* `address`: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT.
 * `options` may be NULL. Ends with cairn_client_close, which also frees the client's worlds;
 * NULL is ignored. */
CAIRN_API int cairn_client_open(const char *address, const cairn_client_options *options,
				cairn_client **client, cairn_error *error);
CAIRN_API void cairn_client_close(cairn_client *client);
/* For poll(2) or epoll(7): readable if cairn_client_poll(client, 0, …) has something to do. */
CAIRN_API int cairn_client_fd(const cairn_client *client);
/* Handles what has arrived, waiting at most `timeout_ms` for the first of it.
 * CAIRN_STATUS_AGAIN: nothing arrived; call it until then, because an edge-triggered loop is
 * told once. Others than CAIRN_STATUS_OK and CAIRN_STATUS_AGAIN end the connection, or report
 * that the server refused an earlier cairn_world_watch. */
CAIRN_API int cairn_client_poll(cairn_client *client, int timeout_ms, cairn_error *error);

/* After a call has returned that the connection has ended, for a client opened with `resumes`:
 * connects again, to the address that the server gave when it ended the connection, or to the same
 * one. Handles, watched worlds with their areas, and the ownership of bodies are kept; commands
 * without a result are sent again and applied once; the call that failed is the caller's to repeat.
 * CAIRN_STATUS_EXPIRED: the server no longer has the session; only cairn_client_close may follow.
 * After other errors it may be called again. */
CAIRN_API int cairn_client_resume(cairn_client *client, cairn_error *error);
/* ms to wait before cairn_client_resume, as the server asked when it ended the connection; 0: none. */
CAIRN_API uint32_t cairn_client_retry_ms(const cairn_client *client);

typedef struct cairn_client_info {
	uint32_t session;   /* its number on the server: the owner of what it spawns as a player */
	uint32_t role;	    /* 1 observer, 2 player, 3 controller, 4 admin */
	const char *server; /* its name and build */
	const char *build;
} cairn_client_info;
CAIRN_API cairn_client_info cairn_client_facts(const cairn_client *client);

/* ---- worlds -------------------------------------------------------------------------------------- */

enum cairn_mode {
	CAIRN_RUNNING = 0,
	CAIRN_PAUSED = 1,
	CAIRN_LOCKSTEP = 2,
	CAIRN_BARRIER = 3,
	CAIRN_FAILED = 4
};

typedef struct cairn_world_info {
	uint32_t number;
	const char *name;
	const char *method;
	uint64_t epoch, tick, bodies;
	int mode;				   /* enum cairn_mode */
	uint32_t rate_numerator, rate_denominator; /* ticks per second */
} cairn_world_info;

typedef struct cairn_world_options {
	const char *method;			   /* NULL: "soft-step" */
	uint32_t rate_numerator, rate_denominator; /* ticks per second; 0: 60 and 1 */
	bool gravity_given;			   /* else 0, −9.81, 0 */
	cairn_vec3 gravity;
	bool seed_given; /* else 1 */
	uint64_t seed;
	bool planar;
	bool running; /* else the world waits for cairn_world_step */
} cairn_world_options;

/* `options` may be NULL. The client has joined the new world. */
CAIRN_API int cairn_client_create(cairn_client *client, const char *name,
				  const cairn_world_options *options, cairn_world **world,
				  cairn_error *error);
CAIRN_API int cairn_client_join(cairn_client *client, const char *name, cairn_world **world,
				cairn_error *error);
/* Sends the shapes, bodies and joints of a scene file (cairn-scene(5)) to a world, which is
 * created if it does not exist; it then has the tick and the hashes of `cairnd --scene`. */
CAIRN_API int cairn_client_load(cairn_client *client, const char *name, const char *path,
				cairn_world **world, cairn_error *error);
/* The names of the server's worlds, each a callback. */
CAIRN_API int cairn_client_worlds(cairn_client *client,
				  void (*each)(void *context, const cairn_world_info *info),
				  void *context, cairn_error *error);

/* As the server last told it. */
CAIRN_API cairn_world_info cairn_world_facts(const cairn_world *world);
CAIRN_API int cairn_world_pause(cairn_world *world, cairn_error *error);
CAIRN_API int cairn_world_resume(cairn_world *world, cairn_error *error);
/* World time per wall time. */
CAIRN_API int cairn_world_speed(cairn_world *world, double factor, cairn_error *error);
CAIRN_API int cairn_world_save(cairn_world *world, const char *name, cairn_error *error);
CAIRN_API int cairn_world_restore(cairn_world *world, const char *name, cairn_error *error);
/* Ends the world on the server and removes its file. The handle remains until the client is closed. */
CAIRN_API int cairn_world_destroy(cairn_world *world, cairn_error *error);

/* ---- shapes and commands ------------------------------------------------------------------------- */

/* Makes a shape known to the world; *shape is its id for attachments. `text`, lengths in m:
 *
 *	sphere:RADIUS
 *	capsule:length=L,radius=R (along y, L between the centres of its ends; or capsule:L/2,R)
 *	box:X,Y,Z (full sizes)
 *	plane:NX,NY,NZ,D
 *	hull:X,Y,Z,X,Y,Z,…
 */
CAIRN_API int cairn_world_shape(cairn_world *world, const char *text, int64_t *shape,
				cairn_error *error);

/* A command with the defaults of docs/COMMANDS.md. */
CAIRN_API cairn_command cairn_command_make(int op);
/* Applies commands together, or none of them: in a running world at its next tick, otherwise at
 * once and without a tick. ids[i] (may be NULL) is the id that the i-th made, or 0. An id of −k
 * in a command names what the k-th command of the list makes. */
CAIRN_API int cairn_world_apply(cairn_world *world, const cairn_command *commands, uint32_t count,
				uint32_t *ids, cairn_error *error);
/* Sets a parameter, e.g. "sleep.enabled" (cairn parameters WORLD lists them). */
CAIRN_API int cairn_world_set(cairn_world *world, const char *name, double value,
			      cairn_error *error);
CAIRN_API int cairn_world_method(cairn_world *world, const char *name, cairn_error *error);

/* ---- steps and states ---------------------------------------------------------------------------- */

typedef struct cairn_body {
	uint32_t id;
	uint8_t status; /* 0 inactive, 1 static, 2 dynamic, 3 animated */
	bool asleep;
	uint32_t owner; /* session; 0 none */
	int64_t tag;
	cairn_vec3 position; /* m, of the body's origin */
	cairn_quat rotation;
	cairn_vec3 velocity; /* m/s, of the mass centre */
	cairn_vec3 spin;     /* rad/s */
} cairn_body;

typedef struct cairn_state {
	uint64_t epoch, tick;
	uint64_t edit;	    /* times that commands were applied since that tick */
	uint64_t hash;	    /* of everything that determines the world's future */
	uint64_t tick_hash; /* of all visible bodies, when the tick ended: before later commands */
	uint32_t count;
	const cairn_body *bodies; /* by ascending ids; borrowed */
} cairn_state;

/* Steps a world that does not run, and returns its state afterwards. 0 ticks: its present state.
 * `state` may be NULL. CAIRN_STATUS_RUNNING: pause the world first. */
CAIRN_API int cairn_world_step(cairn_world *world, uint32_t ticks, cairn_state *state,
			       cairn_error *error);
/* NULL if the state has no such body. */
CAIRN_API const cairn_body *cairn_state_find(const cairn_state *state, uint32_t id);
/* Computes the tick hash from the bodies of a state, so that a replica can be compared with the
 * server. */
CAIRN_API uint64_t cairn_state_tick_hash(const cairn_state *state);

/* ---- queries ------------------------------------------------------------------------------------- */

typedef struct cairn_hit {
	uint32_t body;
	double distance; /* m */
	cairn_vec3 point, normal;
} cairn_hit;
/* The first body on a ray; hit->body is 0 if there is none. `direction` need not be a unit vector. */
CAIRN_API int cairn_world_ray(cairn_world *world, cairn_vec3 origin, cairn_vec3 direction,
			      double length, cairn_hit *hit, cairn_error *error);

typedef struct cairn_contact {
	uint32_t a, b;
	cairn_vec3 point, normal; /* world; the normal points from a to b */
	double separation;	  /* m; negative: penetration */
	double impulse; /* N·s over the last tick, along the normal; times the rate it is a force */
	cairn_vec3 friction; /* N·s over the last tick */
} cairn_contact;
/* The contacts of a body, or with 0 of all bodies: at most 4096. *contacts is borrowed. */
CAIRN_API int cairn_world_contacts(cairn_world *world, uint32_t body,
				   const cairn_contact **contacts, uint32_t *count,
				   cairn_error *error);

typedef struct cairn_body_facts {
	cairn_body body;
	double mass;	   /* kg */
	cairn_vec3 centre; /* of mass, body axes */
	uint32_t shapes;
} cairn_body_facts;
CAIRN_API int cairn_world_body(cairn_world *world, uint32_t body, cairn_body_facts *facts,
			       cairn_error *error);

typedef struct cairn_totals {
	double kinetic, potential;  /* J */
	cairn_vec3 linear, angular; /* N·s and N·m·s, about the world's origin */
} cairn_totals;
CAIRN_API int cairn_world_totals(cairn_world *world, cairn_totals *totals, cairn_error *error);

typedef struct cairn_joint {
	uint32_t id, a, b; /* body 0: the world */
	uint8_t type;	   /* 1 spherical, 2 revolute … as joint_create has them */
	double coordinates[6];
	cairn_vec3 force, torque; /* N, N·m: what it exerts on b */
	cairn_vec3 anchor_a, anchor_b;
} cairn_joint;
/* The joints of a body, or with 0 all joints: at most 1024 from id `first` on. *joints is borrowed. */
CAIRN_API int cairn_world_joints(cairn_world *world, uint32_t body, uint32_t first,
				 const cairn_joint **joints, uint32_t *count, cairn_error *error);

/* ---- frames of a running world ------------------------------------------------------------------- */

typedef struct cairn_frame {
	cairn_state state; /* `hash` is 0: frames carry the tick hash alone */
	bool verified;	   /* the hash that the server sent is that of these bodies */
} cairn_frame;
typedef struct cairn_event {
	uint64_t tick;
	int kind; /* enum cairn_event_kind */
	uint32_t a, b;
	double value;
	cairn_vec3 point, normal;
} cairn_event;
/* Every `divisor`-th tick of the world becomes a call of options.frame from now on, with every
 * bit of every body, and events of the kinds in `events` (a sum of 1 << kind; 0: none) become
 * calls of options.event. */
CAIRN_API int cairn_world_watch(cairn_world *world, uint32_t divisor, uint64_t events,
				cairn_error *error);
CAIRN_API int cairn_world_unwatch(cairn_world *world, cairn_error *error);

/* A part of space. Set `body` (an id) to let it move with that body: it is then relative to the
 * body's position, but not to its rotation. */
typedef struct cairn_area {
	int kind;      /* set by the functions below */
	uint32_t body; /* 0: fixed in the world */
	double numbers[11];
} cairn_area;
CAIRN_API cairn_area cairn_area_box(cairn_vec3 minimum, cairn_vec3 maximum);
CAIRN_API cairn_area cairn_area_ball(cairn_vec3 centre, double radius);
/* Looks along −z of its rotation, with +y up; half width and height are those at distance 1. */
CAIRN_API cairn_area cairn_area_frustum(cairn_vec3 eye, cairn_quat rotation, double half_width,
					double half_height, double near_distance,
					double far_distance);
/* From now on frames of a watched world have only the bodies in any of the areas (at most 16) and
 * the followed bodies (ids, at most 64) at any place; without both, all bodies again. Cheap enough
 * for every move of a camera. A body near an edge may be in the frame although it is outside, by at
 * most an eighth of the area's size. A refusal is the status of a later cairn_client_poll. */
CAIRN_API int cairn_world_focus(cairn_world *world, const cairn_area *areas, uint32_t area_count,
				const uint32_t *follow, uint32_t follow_count, cairn_error *error);

#ifdef __cplusplus
}
#endif

#endif
