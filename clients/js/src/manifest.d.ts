// Types of manifest.js. Written by make_manifest.py; do not edit.

import type { ACTION } from "./index.js";

/** A number, or in a command of Client.stepWorlds the place of one. */
export type Placed = number | typeof ACTION;
export type Vector = readonly Placed[] | typeof ACTION;
/** w, x, y, z */
export type Rotation = readonly Placed[] | typeof ACTION;
/** A shape on a body: its id, and its place in body axes. */
export type Attachment = readonly [shape: number, position?: Vector, rotation?: Rotation];

export type StatusName =
  | "ok"
  | "no_memory"
  | "io"
  | "closed"
  | "full"
  | "again"
  | "corrupt"
  | "version"
  | "exists"
  | "missing"
  | "malformed"
  | "too_large"
  | "too_deep"
  | "protocol"
  | "handshake"
  | "slow"
  | "draining"
  | "framing"
  | "unknown_message"
  | "unsupported"
  | "type"
  | "forbidden"
  | "busy"
  | "expired"
  | "sequence"
  | "auth"
  | "range"
  | "not_finite"
  | "unknown_world"
  | "unknown_body"
  | "unknown_shape"
  | "unknown_command"
  | "unknown_method"
  | "unknown_parameter"
  | "not_owner"
  | "limit"
  | "late"
  | "tick"
  | "method_refuses"
  | "degenerate"
  | "in_use"
  | "status_wrong"
  | "back_reference"
  | "paused"
  | "quarantined"
  | "planar"
  | "unknown_snapshot"
  | "unknown_subscription"
  | "leased"
  | "diverged"
  | "running"
  | "not_joined"
  | "waiting"
  | "unknown_joint"
  | "not_stored"
  | "unknown_particles"
  | "carried"
  | "unknown_field"
  | "not_carried"
  | "unknown_particle"
  | "linked"
  | "fluid"
  | "not_fluid"
  | "unknown_sink";

export type Column =
  | "position"
  | "rotation"
  | "velocity"
  | "spin"
  | "status"
  | "owner"
  | "shapes"
  | "contacts";

export type JointColumn =
  | "bodies"
  | "frames"
  | "coordinates"
  | "force"
  | "owner"
  | "break";

export type ParticleColumn =
  | "velocity"
  | "position"
  | "size"
  | "life"
  | "count"
  | "density"
  | "pressure";

export type BodyStatus =
  | "inactive"
  | "static"
  | "dynamic"
  | "animated";

export type Integrator =
  | "automatic"
  | "euler"
  | "implicit_euler"
  | "rk2"
  | "rk4"
  | "rk45";

export type MassRule =
  | "shapes"
  | "centre"
  | "given";

export type Shadow =
  | "none"
  | "static";

export type JointType =
  | "spherical"
  | "revolute"
  | "prismatic"
  | "cylindrical"
  | "universal"
  | "fixed"
  | "distance"
  | "six_dof"
  | "wheel"
  | "drag";

export type JointMode =
  | "free"
  | "locked"
  | "limited";

export type JointSpring =
  | "none"
  | "stiffness"
  | "hertz";

export type JointMotor =
  | "none"
  | "velocity"
  | "position"
  | "force";

export type JointWave =
  | "constant"
  | "sine"
  | "table";

export type FieldKind =
  | "wind"
  | "vortex"
  | "attractor"
  | "drag"
  | "fluid"
  | "mutual";

export type FieldRegion =
  | "everywhere"
  | "ball"
  | "box";

export type FieldFalloff =
  | "constant"
  | "linear"
  | "components";

export type Emitter =
  | "none"
  | "point"
  | "planar"
  | "box"
  | "sphere"
  | "body";

export type Interact =
  | "none"
  | "internal"
  | "external"
  | "both";

export type FluidSolver =
  | "explicit"
  | "incompressible";

export type LinkKind =
  | "rod"
  | "rope"
  | "volume";

export type Pinned =
  | "free"
  | "held";

export type Contacts =
  | "after"
  | "within";

export type HoldPlace =
  | "here"
  | "point"
  | "far";

export type MountPlace =
  | "here"
  | "point";

export type SinkRegion =
  | "none"
  | "ball"
  | "box"
  | "body";

export type Recoil =
  | "none"
  | "pushes";

export type Room =
  | "bodies"
  | "all";

export type Spend =
  | "lives"
  | "ends";

export type Switch =
  | "keep"
  | "off"
  | "on";

/** The fields of each command; one with `?` has the default of docs/COMMANDS.md. */
export interface CommandFields {
  /** make an uploaded shape usable in this world; yields its id in the world */
  shape_use: {
    /** name: SHA-256 of the canonical bytes */
    name: Uint8Array;
  };
  /** remove a shape that no body uses from the world */
  shape_drop: {
    /** shape: the shape */
    shape: number;
  };
  /** make a body */
  spawn: {
    /** status: 0 inactive, 1 static, 2 dynamic, 3 animated */
    status: number | "inactive" | "static" | "dynamic" | "animated";
    /** position (-1000000 … 1000000 m): of the body's origin */
    position: Vector;
    /** shapes: shapes and their places on the body; none: a point mass */
    shapes?: Attachment[];
    /** rotation: body axes to world axes, w first */
    rotation?: Rotation;
    /** velocity (-10000 … 10000 m/s): of the mass centre */
    velocity?: Vector;
    /** angular_velocity (-10000 … 10000 rad/s): world axes */
    angular_velocity?: Vector;
    /** density (0.001 … 1000000 kg/m3): of all shapes (kg/m2 in a planar world) */
    density?: Placed;
    /** mass (0 … 1000000000 kg): in place of density if above 0; a point mass with mass 0 has 1 kg */
    mass?: Placed;
    /** static_friction (0 … 10): Coulomb, sticking */
    static_friction?: Placed;
    /** dynamic_friction (0 … 10): Coulomb, sliding; not above static */
    dynamic_friction?: Placed;
    /** restitution (0 … 1): of normal speed */
    restitution?: Placed;
    /** friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
    friction_rule?: number;
    /** restitution_rule: as friction_rule */
    restitution_rule?: number;
    /** category: bits: the groups this body belongs to */
    category?: number;
    /** mask: bits: the groups this body collides with */
    mask?: number;
    /** group: two bodies with the same: > 0 always collide, < 0 never */
    group?: number;
    /** owner: session that may command it; 0 none */
    owner?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
    /** linear_damping (0 … 1000 1/s): velocity decay rate */
    linear_damping?: Placed;
    /** angular_damping (0 … 1000 1/s): angular velocity decay rate */
    angular_damping?: Placed;
    /** flags: bit 0 may sleep, 1 fixed rotation, 2 fast: does not pass dynamic bodies either, 3 sensor */
    flags?: number;
    /** rolling_friction (0 … 1000 m): greatest rolling torque a newton of load, N m; of two the larger */
    rolling_friction?: Placed;
    /** spinning_friction (0 … 1000 m): the same about the normal */
    spinning_friction?: Placed;
    /** friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none */
    friction_axis?: Vector;
    /** axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
    axis_friction?: Placed;
    /** integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; read by method impact */
    integrator?: number | "automatic" | "euler" | "implicit_euler" | "rk2" | "rk4" | "rk45";
    /** tolerance (0 … 1 m): largest estimated error of a tick; 0: impact.accuracy; read by method impact */
    tolerance?: Placed;
    /** substeps: least number of equal parts of a tick; 0: one; read by method impact */
    substeps?: number;
    /** gravity_scale (-1000 … 1000): factor of gravity; 0: none */
    gravity_scale?: Placed;
    /** speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none */
    speed_max?: Placed;
    /** angular_speed_max (0 … 10000 rad/s): the same of its angular velocity */
    angular_speed_max?: Placed;
    /** mass_rule: 0 shapes, 1 centre: it is given, 2 given: centre, inertia and mass */
    mass_rule?: number | "shapes" | "centre" | "given";
    /** centre (-1000000 … 1000000 m): of mass, from the origin, body axes; read with mass_rule 1, 2 */
    centre?: Vector;
    /** inertia (0 … 1e+18 kg m2): principal (planar: z); read with mass_rule 2 */
    inertia?: Vector;
    /** inertia_rotation: principal axes to body axes; read with mass_rule 2 */
    inertia_rotation?: Rotation;
    /** ends_with: body with which it is removed; it goes with no other; 0 none */
    ends_with?: number;
    /** ends_with_owner: 1: removed when the session that owns it ends */
    ends_with_owner?: number;
    /** one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all sides */
    one_way?: Vector;
    /** surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes */
    surface_velocity?: Vector;
    /** locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre) or turn about (bits 3, 4, 5), while it is dynamic */
    locks?: number;
    /** friction: static_friction and dynamic_friction, where they are not given, as in scenes */
    friction?: Placed;
  };
  /** remove a body and its contacts */
  remove: {
    /** body: the body */
    body: number;
  };
  /** move a body to a pose; wakes it and the bodies it touched */
  set_pose: {
    /** body: the body */
    body: number;
    /** position (-1000000 … 1000000 m): of the body's origin */
    position: Vector;
    /** rotation: body axes to world axes, w first */
    rotation?: Rotation;
  };
  /** set velocities; wakes the body */
  set_velocity: {
    /** body: the body, dynamic or animated */
    body: number;
    /** velocity (-10000 … 10000 m/s): of the mass centre */
    velocity: Vector;
    /** angular_velocity (-10000 … 10000 rad/s): world axes */
    angular_velocity?: Vector;
  };
  /** change a body's status; lifts quarantine */
  set_status: {
    /** body: the body */
    body: number;
    /** status: 0 inactive, 1 static, 2 dynamic, 3 animated */
    status: number | "inactive" | "static" | "dynamic" | "animated";
    /** fast: 0 keep, 1 off, 2 on: whether it does not pass through dynamic bodies either (bit 2 of spawn's flags) */
    fast?: number | "keep" | "off" | "on";
  };
  /** apply a constant force for a number of ticks */
  force: {
    /** body: the body, dynamic */
    body: number;
    /** force (-1e+12 … 1e+12 N): world axes */
    force: Vector;
    /** point (-1000000 … 1000000 m): where, from the mass centre in body axes; moves with the body */
    point?: Vector;
    /** ticks (ticks): how long; 4294967295 until the body is removed */
    ticks?: number;
  };
  /** apply a constant torque for a number of ticks */
  torque: {
    /** body: the body, dynamic */
    body: number;
    /** torque (-1e+12 … 1e+12 N m): world axes */
    torque: Vector;
    /** ticks (ticks): how long; 4294967295 until the body is removed */
    ticks?: number;
  };
  /** change momentum at once */
  impulse: {
    /** body: the body, dynamic */
    body: number;
    /** impulse (-1e+12 … 1e+12 N s): world axes */
    impulse: Vector;
    /** point (-1000000 … 1000000 m): where, from the mass centre in body axes */
    point?: Vector;
  };
  /** change angular momentum at once */
  angular_impulse: {
    /** body: the body, dynamic */
    body: number;
    /** impulse (-1e+12 … 1e+12 N m s): world axes */
    impulse: Vector;
  };
  /** change friction and restitution */
  set_material: {
    /** body: the body */
    body: number;
    /** static_friction (0 … 10): Coulomb, sticking */
    static_friction?: Placed;
    /** dynamic_friction (0 … 10): Coulomb, sliding; not above static */
    dynamic_friction?: Placed;
    /** restitution (0 … 1): of normal speed */
    restitution: Placed;
    /** friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
    friction_rule?: number;
    /** restitution_rule: as friction_rule */
    restitution_rule?: number;
    /** rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of load; of two bodies the larger */
    rolling_friction?: Placed;
    /** spinning_friction (0 … 1000 m): the same about the normal */
    spinning_friction?: Placed;
    /** friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none */
    friction_axis?: Vector;
    /** axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
    axis_friction?: Placed;
    /** friction: static_friction and dynamic_friction, where they are not given, as in scenes */
    friction?: Placed;
  };
  /** change what a body collides with */
  set_filter: {
    /** body: the body */
    body: number;
    /** category: bits: the groups this body belongs to */
    category: number;
    /** mask: bits: the groups this body collides with */
    mask: number;
    /** group: two bodies with the same: > 0 always collide, < 0 never */
    group: number;
    /** sensor: 0 keep, 1 off, 2 on: whether it has no contacts and tells which bodies it overlaps (bit 3 of spawn's flags) */
    sensor?: number | "keep" | "off" | "on";
  };
  /** give a body to a session */
  set_owner: {
    /** body: the body */
    body: number;
    /** owner: session that may command it; 0 none */
    owner: number;
  };
  /** set the number for the user's own purpose */
  set_tag: {
    /** body: the body */
    body: number;
    /** tag: number for the user's own purpose */
    tag: number;
  };
  /** change the damping of a body's motion */
  set_damping: {
    /** body: the body */
    body: number;
    /** linear_damping (0 … 1000 1/s): velocity decay rate */
    linear_damping: Placed;
    /** angular_damping (0 … 1000 1/s): angular velocity decay rate */
    angular_damping: Placed;
  };
  /** wake a sleeping body and its sleep set */
  wake: {
    /** body: the body */
    body: number;
  };
  /** choose how method impact integrates a body's motion; other methods do not read it */
  set_integrator: {
    /** body: the body */
    body: number;
    /** integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; linked bodies: implicit_euler if any has it, else the highest */
    integrator: number | "automatic" | "euler" | "implicit_euler" | "rk2" | "rk4" | "rk45";
    /** tolerance (0 … 1 m): largest estimated error of its motion in a tick, by step doubling (rk45: by its embedded pair); 0: that of impact.accuracy; linked bodies take the smallest */
    tolerance?: Placed;
    /** substeps: least number of equal parts of a tick, each with its own contacts and forces; linked bodies take the largest; 0: one */
    substeps?: number;
  };
  /** change how gravity acts on a body, and its greatest speeds; wakes it */
  set_motion: {
    /** body: the body */
    body: number;
    /** gravity_scale (-1000 … 1000): factor of gravity; 0: none */
    gravity_scale: Placed;
    /** speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none */
    speed_max?: Placed;
    /** angular_speed_max (0 … 10000 rad/s): the same of its angular velocity */
    angular_speed_max?: Placed;
  };
  /** give an animated body the pose of the next tick's end: it gets the velocities that take it there, and stops after that tick unless it gets another target */
  move_to: {
    /** body: the body, animated */
    body: number;
    /** position (-1000000 … 1000000 m): of the body's origin */
    position: Vector;
    /** rotation: body axes to world axes, w first; the shorter way */
    rotation?: Rotation;
  };
  /** push the dynamic bodies around a point away from it at once; wakes them */
  explode: {
    /** position (-1000000 … 1000000 m): the centre */
    position: Vector;
    /** radius (0 … 1000000 m): bodies whose nearest point is farther get nothing */
    radius: Placed;
    /** impulse (-1e+12 … 1e+12 N s): on each body whose nearest point is within core, along the line from the centre to that point; negative: towards the centre */
    impulse: Placed;
    /** core (0 … 1000000 m): from here to radius the impulse falls off linearly; at most radius */
    core?: Placed;
    /** mask: bits: the groups of bodies it acts on */
    mask?: number;
    /** shadow: 1: a static body between the centre and a body's nearest point shields it */
    shadow?: number | "none" | "static";
  };
  /** set gravity; wakes everything */
  gravity: {
    /** gravity (-10000 … 10000 m/s2): acceleration of free fall */
    gravity: Vector;
  };
  /** set a parameter of the table below; wakes everything */
  parameter: {
    /** name: its name, e.g. soft_step.substeps */
    name: string;
    /** value (-1e+300 … 1e+300): within the parameter's own limits */
    value: Placed;
  };
  /** choose the method that makes the steps from this tick on */
  method: {
    /** name: its name, e.g. soft-step */
    name: string;
  };
  /** restart the world's random numbers from a seed */
  seed: {
    /** seed: 64 bits */
    seed: number;
  };
  /** set the world's bounds */
  bounds: {
    /** mode: 0 none, 1 a body that leaves becomes inactive, 2 walls */
    mode: number;
    /** minimum (-1000000 … 1000000 m): lowest corner */
    minimum?: Vector;
    /** maximum (-1000000 … 1000000 m): highest corner */
    maximum?: Vector;
  };
  /** give a body a colour; no motion and no hash depends on it */
  set_colour: {
    /** body: the body */
    body: number;
    /** colour: 0xRRGGBB, as on screens (sRGB) */
    colour: number;
    /** given: 0: take the colour away */
    given?: number;
  };
  /** join two bodies, or one and the world */
  joint_create: {
    /** type: 1 spherical, 2 revolute, 3 prismatic, 4 cylindrical, 5 universal, 6 fixed, 7 distance, 8 six_dof, 9 wheel, 10 drag */
    type: number | "spherical" | "revolute" | "prismatic" | "cylindrical" | "universal" | "fixed" | "distance" | "six_dof" | "wheel" | "drag";
    /** body_a: the first body; 0 the world */
    body_a: number;
    /** body_b: the second body; 0 the world */
    body_b: number;
    /** point_a (-1000000 … 1000000 m): a's anchor, from its origin in its axes; of the world, or with place 1: in world axes */
    point_a?: Vector;
    /** frame_a: the joint's axes to a's; of the world, or with place 1: to the world's */
    frame_a?: Rotation;
    /** point_b (-1000000 … 1000000 m): b's anchor, likewise */
    point_b?: Vector;
    /** frame_b: the joint's axes to b's; with place 1 it is frame_a, in the world */
    frame_b?: Rotation;
    /** place: 0 each side in its body's axes; 1 point_a and frame_a are in the world, and both sides take them from there (a distance and a drag: point_b, too) */
    place?: number;
    /** violated: 0 refuse poses that violate the joint; 1 refuse such poses and velocities; 2 move the bodies and change their velocities */
    violated?: number;
    /** flags: bit 0: its bodies do not collide with each other */
    flags?: number;
    /** break_force (0 … 1e+12 N): the joint breaks above it; 0 never */
    break_force?: Placed;
    /** break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never */
    break_torque?: Placed;
    /** owner: session that may command it; 0 none */
    owner?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
  };
  /** remove a joint; its bodies keep pose and velocity */
  joint_remove: {
    /** joint: the joint */
    joint: number;
  };
  /** change the properties of a joint that belong to no axis */
  joint_set: {
    /** joint: the joint */
    joint: number;
    /** flags: bit 0: its bodies do not collide with each other */
    flags?: number;
    /** break_force (0 … 1e+12 N): the joint breaks above it; 0 never */
    break_force?: Placed;
    /** break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never */
    break_torque?: Placed;
    /** owner: session that may command it; 0 none */
    owner?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
  };
  /** set all properties of one axis of a joint */
  joint_axis: {
    /** joint: the joint */
    joint: number;
    /** axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; see the types of joints */
    axis: number;
    /** mode: 0 free, 1 locked, 2 limited; locked, where the type does not lock it, only of a six_dof and a distance */
    mode?: number | "free" | "locked" | "limited";
    /** lower (-1000000 … 1000000 m, rad): lower limit */
    lower?: Placed;
    /** upper (-1000000 … 1000000 m, rad): upper limit, not below lower */
    upper?: Placed;
    /** restitution (0 … 1): of its limits */
    restitution?: Placed;
    /** friction (0 … 1e+12 N, N m): greatest friction against motion along the axis */
    friction?: Placed;
    /** spring: 0 none, 1 by stiffness and damping, 2 by hertz and damping ratio */
    spring?: number | "none" | "stiffness" | "hertz";
    /** stiffness (0 … 1e+12 N/m, N m/rad, Hz): of the spring; with spring 2 hertz */
    stiffness?: Placed;
    /** damping (0 … 1e+12 N s/m, N m s/rad, 1): of the spring; with spring 2 the ratio */
    damping?: Placed;
    /** rest (-1000000 … 1000000 m, rad): coordinate at which the spring has no force; the length of a locked distance */
    rest?: Placed;
    /** spring_limit (0 … 1e+12 N, N m): greatest pull of the spring; 0 any */
    spring_limit?: Placed;
    /** motor: 0 none, 1 holds a velocity, 2 holds a position, 3 exerts a force */
    motor?: number | "none" | "velocity" | "position" | "force";
    /** target (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): velocity or position that the motor holds, or the force that it exerts */
    target?: Placed;
    /** motor_limit (0 … 1e+12 N, N m): greatest force of the motor; 0 any */
    motor_limit?: Placed;
    /** wave: 0 the target is constant, 1 target + amplitude sin(2 pi hertz t + phase); joint_table sets a table */
    wave?: number | "constant" | "sine" | "table";
    /** amplitude (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): of the sine */
    amplitude?: Placed;
    /** hertz (0 … 10000 Hz): of the sine */
    hertz?: Placed;
    /** phase (-1000000 … 1000000 rad): of the sine */
    phase?: Placed;
    /** motor_stiffness (0 … 1e+12 N/m, N m/rad): above 0 a position motor is a servo, of force motor_stiffness (target - coordinate) + motor_damping (rate of the target - rate), up to motor_limit; 0: it holds its target as far as motor_limit allows */
    motor_stiffness?: Placed;
    /** motor_damping (0 … 1e+12 N s/m, N m s/rad): of a servo; above 0 a velocity motor is a servo, of force motor_damping (target - rate) */
    motor_damping?: Placed;
  };
  /** set the targets of motors of many joints */
  joint_targets: {
    /** targets: [joint, axis, value] each; this ends the axis's sine or table */
    targets: [joint: number, axis: number, value: Placed][];
  };
  /** set a motor's target as a function of time, by a table of points */
  joint_table: {
    /** joint: the joint */
    joint: number;
    /** axis: an axis with a motor */
    axis: number;
    /** points: [time s, value] each, times ascending from 0 on */
    points: [time: number, value: number][];
    /** period (0 … 1000000 s): the table repeats after this time, at least the last point's; 0: no repetition, the last value stays */
    period?: Placed;
  };
  /** move the anchor of a joint that is in the world, such as a drag's */
  joint_move: {
    /** joint: a joint whose body a is the world */
    joint: number;
    /** point (-1000000 … 1000000 m): the new point_a, world axes */
    point: Vector;
  };
  /** make a particle system: an emitter and its particles */
  particles_create: {
    /** name: a name for people, need not be unique */
    name: string;
    /** emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body (the faces of all shapes of the body that carries it, particles_emitter; without one there are no births) */
    emitter?: number | "none" | "point" | "planar" | "box" | "sphere" | "body";
    /** position (-1000000 … 1000000 m): centre of the emitter */
    position?: Vector;
    /** rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a sphere outwards */
    rotation?: Rotation;
    /** half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar emitter's largest side, or radius of a sphere (a circle) */
    half?: Vector;
    /** capacity: most particles alive; with recycle 0 also most ever emitted */
    capacity?: number;
    /** recycle: 1: particles that have died make room for new ones */
    recycle?: number;
    /** rate: particles of an emission; a planar emitter has room for fewer, if its side is small */
    rate?: number;
    /** rate_deviation: largest deviation of rate */
    rate_deviation?: number;
    /** delay (ticks): from one emission to the next; the first is in the first tick */
    delay?: number;
    /** size (0.0001 … 100 m): diameter */
    size?: Placed;
    /** size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean, with a third of this as standard deviation */
    size_deviation?: Placed;
    /** mass (1e-09 … 1000000000 kg): of a particle */
    mass?: Placed;
    /** mass_deviation (0 … 1000000000 kg): largest deviation */
    mass_deviation?: Placed;
    /** life (0 … 1000000 s): age at which a particle is removed; 0: never */
    life?: Placed;
    /** life_deviation (0 … 1000000 s): largest deviation */
    life_deviation?: Placed;
    /** speed (0 … 10000 m/s): at birth */
    speed?: Placed;
    /** speed_deviation (0 … 10000 m/s): largest deviation */
    speed_deviation?: Placed;
    /** spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's direction there */
    spread?: Placed;
    /** drag (0 … 1e+12 N s/m): force against the velocity, by the velocity */
    drag?: Placed;
    /** gravity_scale (-1000 … 1000): factor of gravity; 0: none */
    gravity_scale?: Placed;
    /** static_friction (0 … 10): of a contact with a body: the mean of both partners */
    static_friction?: Placed;
    /** dynamic_friction (0 … 10): likewise, at most static_friction */
    dynamic_friction?: Placed;
    /** restitution (0 … 1): of an impact on a body, combined by the body's rule */
    restitution?: Placed;
    /** category: bits: force fields whose mask has one of them act on the particles */
    category?: number;
    /** mask: bits: the particles collide with bodies whose category has one of them; 0: with none */
    mask?: number;
    /** colours: [age s, 0xRRGGBB] each: from this age on it has this colour */
    colours?: [time: number, value: number][];
    /** owner: session that may command it; 0 none */
    owner?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
    /** seed: of the random numbers of its births, with its id */
    seed?: number;
    /** friction: static_friction and dynamic_friction, where they are not given, as in scenes */
    friction?: Placed;
  };
  /** remove a particle system and its particles; impulses that they gave in the last tick are lost */
  particles_remove: {
    /** system: the system */
    system: number;
  };
  /** set all properties of a particle system but its name; its particles keep size, mass and age of death */
  particles_set: {
    /** system: the system */
    system: number;
    /** emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body (the faces of all shapes of the body that carries it, particles_emitter; without one there are no births) */
    emitter?: number | "none" | "point" | "planar" | "box" | "sphere" | "body";
    /** position (-1000000 … 1000000 m): centre of the emitter */
    position?: Vector;
    /** rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a sphere outwards */
    rotation?: Rotation;
    /** half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar emitter's largest side, or radius of a sphere (a circle) */
    half?: Vector;
    /** capacity: most particles alive; with recycle 0 also most ever emitted */
    capacity?: number;
    /** recycle: 1: particles that have died make room for new ones */
    recycle?: number;
    /** rate: particles of an emission; a planar emitter has room for fewer, if its side is small */
    rate?: number;
    /** rate_deviation: largest deviation of rate */
    rate_deviation?: number;
    /** delay (ticks): from one emission to the next; the first is in the first tick */
    delay?: number;
    /** size (0.0001 … 100 m): diameter */
    size?: Placed;
    /** size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean, with a third of this as standard deviation */
    size_deviation?: Placed;
    /** mass (1e-09 … 1000000000 kg): of a particle */
    mass?: Placed;
    /** mass_deviation (0 … 1000000000 kg): largest deviation */
    mass_deviation?: Placed;
    /** life (0 … 1000000 s): age at which a particle is removed; 0: never */
    life?: Placed;
    /** life_deviation (0 … 1000000 s): largest deviation */
    life_deviation?: Placed;
    /** speed (0 … 10000 m/s): at birth */
    speed?: Placed;
    /** speed_deviation (0 … 10000 m/s): largest deviation */
    speed_deviation?: Placed;
    /** spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's direction there */
    spread?: Placed;
    /** drag (0 … 1e+12 N s/m): force against the velocity, by the velocity */
    drag?: Placed;
    /** gravity_scale (-1000 … 1000): factor of gravity; 0: none */
    gravity_scale?: Placed;
    /** static_friction (0 … 10): of a contact with a body: the mean of both partners */
    static_friction?: Placed;
    /** dynamic_friction (0 … 10): likewise, at most static_friction */
    dynamic_friction?: Placed;
    /** restitution (0 … 1): of an impact on a body, combined by the body's rule */
    restitution?: Placed;
    /** category: bits: force fields whose mask has one of them act on the particles */
    category?: number;
    /** mask: bits: the particles collide with bodies whose category has one of them; 0: with none */
    mask?: number;
    /** colours: [age s, 0xRRGGBB] each: from this age on it has this colour */
    colours?: [time: number, value: number][];
    /** owner: session that may command it; 0 none */
    owner?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
    /** seed: of the random numbers of its births, with its id */
    seed?: number;
    /** friction: static_friction and dynamic_friction, where they are not given, as in scenes */
    friction?: Placed;
  };
  /** add one particle to a system, with the system's mean size, mass and life */
  particles_add: {
    /** system: the system */
    system: number;
    /** position (-1000000 … 1000000 m): of its centre */
    position: Vector;
    /** velocity (-10000 … 10000 m/s) */
    velocity?: Vector;
  };
  /** set whether and how the particles of a system split: into particles of the next generation, at their place */
  particles_split: {
    /** system: the system */
    system: number;
    /** number: particles into which one splits; 0: none splits any more */
    number?: number;
    /** number_deviation: largest deviation of number */
    number_deviation?: number;
    /** age (0 … 1000000 s): of a particle when it splits first; one that dies before does not split */
    age?: Placed;
    /** age_deviation (0 … 1000000 s): largest deviation of age */
    age_deviation?: Placed;
    /** delay (ticks): it splits again each time after so many; 0: only once */
    delay?: number;
    /** depth: generations: the emitter makes particles of generation 0, and those of this generation do not split */
    depth?: number;
    /** velocity (0 … 100): of a child, as a share of the parent's velocity */
    velocity?: Placed;
    /** velocity_deviation (0 … 100): largest deviation of velocity */
    velocity_deviation?: Placed;
    /** spread (0 … 3.141592654 rad): largest angle between that velocity and the parent's */
    spread?: Placed;
    /** burst (0 … 10000 m/s): a velocity that is added, in any direction */
    burst?: Placed;
    /** burst_deviation (0 … 10000 m/s): largest deviation of burst */
    burst_deviation?: Placed;
    /** size (0 … 100): diameter of a child, as a share of the parent's; its mass goes with the cube, in a planar world with the square */
    size?: Placed;
    /** size_deviation (0 … 100): largest deviation of size */
    size_deviation?: Placed;
    /** life (0 … 100): life of a child, as a share of the parent's whole life */
    life?: Placed;
    /** life_deviation (0 … 100): largest deviation of life */
    life_deviation?: Placed;
    /** spend: 1: a particle that has split is removed in the next tick */
    spend?: number | "lives" | "ends";
  };
  /** make a force field; wakes the bodies in its region */
  field_create: {
    /** kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every two bodies attract each other (pile) */
    kind: number | "wind" | "vortex" | "attractor" | "drag" | "fluid" | "mutual";
    /** region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no ball, and reaches from the top of its box, or from its position, down */
    region?: number | "everywhere" | "ball" | "box";
    /** position (-1000000 … 1000000 m): centre of the field */
    position?: Vector;
    /** rotation: the field's axes to the world's */
    rotation?: Rotation;
    /** half (0 … 1000000 m): half sizes of a box; x is the radius of a ball */
    half?: Vector;
    /** falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box) */
    falloff?: number | "constant" | "linear" | "components";
    /** strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis; attractor: x, towards the centre */
    strength?: Vector;
    /** velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes */
    velocity?: Vector;
    /** linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity */
    linear?: Placed;
    /** quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square */
    quadratic?: Placed;
    /** angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity */
    angular?: Placed;
    /** power: of an attractor: its force falls with this power of the distance */
    power?: number;
    /** core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at the centre */
    core?: Placed;
    /** flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m */
    flags?: number;
    /** mask: bodies whose category has one of these bits feel the field */
    mask?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
    /** density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world) */
    density?: Placed;
  };
  /** remove a force field; wakes the bodies in its region */
  field_remove: {
    /** field: the field */
    field: number;
  };
  /** set all properties of a force field; wakes the bodies in its old and new region */
  field_set: {
    /** field: the field */
    field: number;
    /** kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every two bodies attract each other (pile) */
    kind: number | "wind" | "vortex" | "attractor" | "drag" | "fluid" | "mutual";
    /** region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no ball, and reaches from the top of its box, or from its position, down */
    region?: number | "everywhere" | "ball" | "box";
    /** position (-1000000 … 1000000 m): centre of the field */
    position?: Vector;
    /** rotation: the field's axes to the world's */
    rotation?: Rotation;
    /** half (0 … 1000000 m): half sizes of a box; x is the radius of a ball */
    half?: Vector;
    /** falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box) */
    falloff?: number | "constant" | "linear" | "components";
    /** strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis; attractor: x, towards the centre */
    strength?: Vector;
    /** velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes */
    velocity?: Vector;
    /** linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity */
    linear?: Placed;
    /** quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square */
    quadratic?: Placed;
    /** angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity */
    angular?: Placed;
    /** power: of an attractor: its force falls with this power of the distance */
    power?: number;
    /** core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at the centre */
    core?: Placed;
    /** flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m */
    flags?: number;
    /** mask: bodies whose category has one of these bits feel the field */
    mask?: number;
    /** tag: number for the user's own purpose */
    tag?: number;
    /** density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world) */
    density?: Placed;
  };
  /** set from which side a body is solid, and how its surface moves; wakes it and the bodies it touches */
  set_surface: {
    /** body: the body */
    body: number;
    /** one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all sides */
    one_way?: Vector;
    /** surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes */
    surface_velocity?: Vector;
  };
  /** set all that a piece of a body has of its own; the rest it has from its body; wakes the body and what it touches */
  set_piece: {
    /** body: the body */
    body: number;
    /** piece: which of its shapes, in the order of spawn, from 0 */
    piece: number;
    /** own: what it has of its own: bit 0 friction and restitution, 1 category, mask and group, 2 sensor, 3 surface_velocity, 4 density; 0: nothing */
    own: number;
    /** patch: 0 the whole piece; else the triangles of a mesh with this number, which have bits 0 and 3 only */
    patch?: number;
    /** static_friction (0 … 10): Coulomb, sticking */
    static_friction?: Placed;
    /** dynamic_friction (0 … 10): Coulomb, sliding; not above static */
    dynamic_friction?: Placed;
    /** restitution (0 … 1): of normal speed */
    restitution?: Placed;
    /** friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean */
    friction_rule?: number;
    /** restitution_rule: as friction_rule */
    restitution_rule?: number;
    /** rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of load; of two pieces the larger */
    rolling_friction?: Placed;
    /** spinning_friction (0 … 1000 m): the same about the normal */
    spinning_friction?: Placed;
    /** friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none */
    friction_axis?: Vector;
    /** axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding */
    axis_friction?: Placed;
    /** category: bits: the groups this piece belongs to */
    category?: number;
    /** mask: bits: the groups this piece collides with */
    mask?: number;
    /** group: two pieces with the same: > 0 always collide, < 0 never */
    group?: number;
    /** sensor: 1: it has no contacts, and tells which bodies it overlaps; 0: it has contacts */
    sensor?: number;
    /** surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes */
    surface_velocity?: Vector;
    /** density (0.001 … 1000000 kg/m3): of its shape (kg/m2 in a planar world); the body's mass, centre and inertia become those of all its shapes */
    density?: Placed;
    /** friction: static_friction and dynamic_friction, where they are not given, as in scenes */
    friction?: Placed;
  };
  /** make an animated body with one convex shape a mover: it walks, climbs steps, falls and rides on what it stands on; or change what it can */
  set_mover: {
    /** body: the body, animated */
    body: number;
    /** step_height (0 … 100 m): the highest step that it climbs */
    step_height?: Placed;
    /** slope (0 … 1.5 rad): the steepest ground on which it stands */
    slope?: Placed;
    /** push_force (0 … 1e+12 N): the most with which it pushes dynamic bodies in its way or below it */
    push_force?: Placed;
    /** snap (0 … 100 m): it stays on ground that falls away by so much in a tick */
    snap?: Placed;
    /** enabled: 0: it is no mover any more */
    enabled?: number;
  };
  /** take all its visuals from a body */
  clear_visuals: {
    /** body: the body */
    body: number;
  };
  /** lock axes of a body; its velocity along and about them becomes 0; wakes it and the bodies it touches */
  set_locks: {
    /** body: the body */
    body: number;
    /** locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre) or turn about (bits 3, 4, 5), while it is dynamic */
    locks: number;
  };
  /** give a body a shape that pictures show in place of its own; no motion and no hash depends on it */
  add_visual: {
    /** body: the body; it may have 64 */
    body: number;
    /** shape: the shape; where it is dropped, its visuals go with it */
    shape: number;
    /** position (-1000000 … 1000000 m): of the shape's origin, body axes */
    position?: Vector;
    /** rotation: shape axes to body axes, w first */
    rotation?: Rotation;
    /** colour: 0xRRGGBB, as on screens (sRGB) */
    colour?: number;
    /** given: 1: it has that colour; 0: the body's */
    given?: number;
  };
  /** say where a mover is to go */
  steer: {
    /** body: the mover */
    body: number;
    /** velocity (-10000 … 10000 m/s): against its ground; the part along gravity counts only without gravity */
    velocity: Vector;
    /** jump (0 … 10000 m/s): speed at which it leaves its ground in the next tick, if it is on ground then; 0: it stays */
    jump?: Placed;
    /** ticks (ticks): how long it has that velocity; 4294967295 until another is given */
    ticks?: number;
  };
  /** set all that the particles of a system do to each other and to those of other systems */
  particles_interact: {
    /** system: the system */
    system: number;
    /** forces: on which particles its own exert forces: 0 none, 1 internal (of the system), 2 external (of other systems that say so too), 3 both */
    forces?: number | "none" | "internal" | "external" | "both";
    /** collisions: with which particles its own collide, likewise */
    collisions?: number | "none" | "internal" | "external" | "both";
    /** cutoff (0 … 100000 m): particles farther apart exert no forces; of two systems the smaller; 0: no forces */
    cutoff?: Placed;
    /** core (1e-06 … 100000 m): nearer than this, attraction and repulsion at a distance fall to 0 with the distance; of two systems the larger */
    core?: Placed;
    /** substeps: of a tick, for forces between particles; all systems use the most of all */
    substeps?: number;
    /** charge (-1000 … 1000 C): of each particle: Coulomb's force */
    charge?: Placed;
    /** gravitation (0 … 1e+12 m3/(kg s2)): Newton's constant between the particles; of two systems the geometric mean */
    gravitation?: Placed;
    /** well_depth (0 … 1e+12 J): of the Lennard-Jones potential; of two systems the geometric mean; 0: none */
    well_depth?: Placed;
    /** well_distance (0 … 100 m): at which that potential is 0; of two systems the mean */
    well_distance?: Placed;
    /** repulsion (0 … 1e+12 N/m): of overlapping particles, by their overlap; of two systems the mean */
    repulsion?: Placed;
    /** repulsion_damping (0 … 10): of overlapping particles, 1: critical for the reduced mass; of two systems the mean */
    repulsion_damping?: Placed;
  };
  /** add particles in a lattice to a system, with links between neighbours: a rope, a cloth, a block of jelly */
  particles_lattice: {
    /** system: the system: its size, mass and life are the particles' */
    system: number;
    /** position (-1000000 … 1000000 m): of the first particle; serial numbers ascend along columns, then rows, then layers */
    position?: Vector;
    /** rotation: the lattice's axes to the world's: columns are along x, rows along y, layers along z */
    rotation?: Rotation;
    /** columns: particles along x */
    columns?: number;
    /** rows: particles along y */
    rows?: number;
    /** layers: particles along z; 1 in a planar world */
    layers?: number;
    /** spacing (0.0001 … 100 m): between neighbours */
    spacing?: Placed;
    /** links: bit 0 edges, 1 diagonals of faces (against shear), 2 to the next but one (against bending), 3 volumes of cells (in a planar world areas) */
    links?: number;
    /** compliance (0 … 1000000 m/N): of edges: 1 by stiffness; 0: rigid */
    compliance?: Placed;
    /** shear_compliance (0 … 1000000 m/N): of diagonals */
    shear_compliance?: Placed;
    /** bend_compliance (0 … 1000000 m/N): of links to the next but one */
    bend_compliance?: Placed;
    /** damping_ratio (0 … 10): of all these, 1: critical for the reduced mass; rigid links have none */
    damping_ratio?: Placed;
    /** tear (0 … 1000): relative elongation beyond which an edge or diagonal tears; 0: never */
    tear?: Placed;
    /** substeps: of a tick; a system uses the most that it was given */
    substeps?: number;
    /** tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which an edge or diagonal tears; 0: never */
    tear_force?: Placed;
  };
  /** link particles of a system: a spring, a rope, a volume */
  particles_link: {
    /** system: the system */
    system: number;
    /** a: serial number of a particle */
    a: number;
    /** b: of another one */
    b: number;
    /** kind: 0 rod: keeps the distance; 1 rope: only pulls; 2 volume: of the tetrahedron a, b, c, d, in a planar world the area of the triangle a, b, c */
    kind?: number | "rod" | "rope" | "volume";
    /** c: of a volume */
    c?: number;
    /** d: of a volume; 0 in a planar world */
    d?: number;
    /** length (0 … 1000000 m): at rest; 0: as it is now, and so is a volume */
    length?: Placed;
    /** compliance (0 … 1000000 m/N): 1 by stiffness; of a volume m3/Pa; 0: rigid */
    compliance?: Placed;
    /** damping_ratio (0 … 10): 1: critical for the reduced mass; a rigid link has none */
    damping_ratio?: Placed;
    /** tear (0 … 1000): relative elongation beyond which it tears; 0: never */
    tear?: Placed;
    /** substeps: of a tick; a system uses the most that it was given */
    substeps?: number;
    /** tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which it tears; 0: never */
    tear_force?: Placed;
  };
  /** hold a particle of a system with links where it is, or let it go */
  particles_pin: {
    /** system: the system */
    system: number;
    /** particle: serial number */
    particle: number;
    /** pinned: 1: held; 0: free */
    pinned?: number | "free" | "held";
  };
  /** give a body a name for people, or another one; no motion and no hash depends on it */
  name_body: {
    /** body: the body */
    body: number;
    /** name: need not be unique */
    name: string;
  };
  /** give a joint a name for people, or another one; no motion and no hash depends on it */
  name_joint: {
    /** joint: the joint */
    joint: number;
    /** name: need not be unique */
    name: string;
  };
  /** set whether the linked particles of a system meet each other, so that cloth, ropes and jelly do not pass through themselves */
  particles_self: {
    /** system: the system; no fluid, without forces and collisions between its particles */
    system: number;
    /** thickness (0 … 100 m): least distance of the centres of two particles that share no link; at least 0.87 of the longest edge closes a cloth; 0: they do not meet */
    thickness: Placed;
    /** friction (0 … 10): between them */
    friction?: Placed;
  };
  /** mount a system's emitter on a body, or take it off; set whether births push the body and need room among particles */
  particles_emitter: {
    /** system: the system */
    system: number;
    /** body: the body that carries the emitter; 0: none, it stays where it is in the world */
    body?: number;
    /** place: 0 here: the emitter stays where it is as it is mounted; 1 point: its position and rotation are meant in the body's axes */
    place?: number | "here" | "point";
    /** velocity (0 … 1): share of the body's velocity at the place of birth that a particle has besides its own speed */
    velocity?: Placed;
    /** recoil: 1: the next tick begins with the opposite of the momentum that births had relative to the body, at the places of birth */
    recoil?: number | "none" | "pushes";
    /** room: 1: births that would overlap another particle do not happen either, and are counted as refused */
    room?: number | "bodies" | "all";
  };
  /** let the particles of a system leave a trail: particles of another system, which has their size, life and colours */
  particles_trail: {
    /** system: the system that leaves it */
    system: number;
    /** trail: the system whose particles are left behind; 0: no trail any more */
    trail: number;
    /** delay (ticks): from one particle of a trail to the next */
    delay?: number;
    /** velocity (0 … 100): of the trail, as a share of the velocity of the particle that leaves it */
    velocity?: Placed;
    /** depth: generation up to which particles leave a trail */
    depth?: number;
  };
  /** set when the linked particles of a system meet bodies */
  particles_contacts: {
    /** system: the system */
    system: number;
    /** contacts: 0 after: once a tick, after the sub-steps; 1 within: in each sub-step, so that cloth holds bodies */
    contacts: number | "after" | "within";
  };
  /** let a body hold a particle of a system with links, at a point of the body; the body feels what pulls at it */
  particles_hold: {
    /** system: the system */
    system: number;
    /** particle: serial number */
    particle: number;
    /** body: the body; 0: none holds it any more */
    body: number;
    /** place: 0 here: at the point where the particle is; 1 point: it is moved to `point`; 2 far: at `point`, and the particle stays where it is */
    place?: number | "here" | "point" | "far";
    /** point (-1000000 … 1000000 m): with place 1 or 2: body axes */
    point?: Vector;
    /** stiffness (0 … 1e+12 N/m): of a spring of length 0 between the particle and that point; 0: rigid */
    stiffness?: Placed;
    /** damping_ratio (0 … 10): of that spring, 1: critical for the reduced mass */
    damping_ratio?: Placed;
  };
  /** make a particle system of a spatial world a fluid, or set all that it has as one; kernel_radius 0: it is none any more */
  particles_fluid: {
    /** system: the system; without links and forces between its particles */
    system: number;
    /** kernel_radius (0 … 1000 m): how far particles act on each other, about twice their spacing; systems with the same one and the same solver are one fluid; 0, or at least 0.001 */
    kernel_radius: Placed;
    /** rest_density (0.001 … 100000 kg/m3): that it has without pressure; a particle's volume is its mass by this */
    rest_density?: Placed;
    /** viscosity (0 … 1000000 Pa s): of two systems the mean */
    viscosity?: Placed;
    /** surface_tension (0 … 1000 N/m): of the free surface; each particle has its own */
    surface_tension?: Placed;
    /** solver: 0 explicit: the pressure follows from the density, in small sub-steps; 1 incompressible: the pressure keeps the density */
    solver?: number | "explicit" | "incompressible";
    /** tolerance (1e-08 … 0.1): incompressible: mean excess of density at which the iteration ends */
    tolerance?: Placed;
    /** wall_viscosity (0 … 1000000 Pa s): against bodies; 0: it slides along them, the viscosity: it sticks to them */
    wall_viscosity?: Placed;
    /** compression (0.0001 … 1): explicit, a liquid: compression at the expected speed; 1 by the square of Mach's number */
    compression?: Placed;
    /** speed (0 … 10000 m/s): explicit, a liquid: expected largest speed; 0: what the energy of the tick allows */
    speed?: Placed;
    /** stiffness (0 … 100000000 m2/s2): explicit, a gas: pressure by excess of density; 0: a liquid */
    stiffness?: Placed;
    /** step_ratio (0.01 … 1): of kernel_radius: how far a particle may go in a sub-step */
    step_ratio?: Placed;
    /** substeps_max: of a tick; a tick that wants more is counted, and softer if explicit */
    substeps_max?: number;
  };
  /** fill a box with particles of a fluid, in a cubic lattice; places inside bodies stay free and are counted */
  particles_fill: {
    /** system: the system, a fluid */
    system: number;
    /** position (-1000000 … 1000000 m): centre of the box */
    position: Vector;
    /** size (0 … 1000000 m): its lengths; each side has as many particles as spacings, rounded, at least 1 */
    size: Vector;
    /** spacing (0.0001 … 100 m): of the lattice, about half of kernel_radius; a particle has the mass of that cube at rest density */
    spacing: Placed;
    /** rotation: the box's axes to the world's; serial numbers ascend along x, then y, then z */
    rotation?: Rotation;
    /** velocity (-10000 … 10000 m/s): of all of them */
    velocity?: Vector;
  };
  /** make the coordinate of an axis of a joint follow that of another axis, or no longer */
  joint_gear: {
    /** joint: the joint whose axis follows */
    joint: number;
    /** axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z */
    axis: number;
    /** leader: the joint that it follows, also the same one; 0: it follows none, and the rest is ignored */
    leader?: number;
    /** leader_axis: the leader's axis */
    leader_axis?: number;
    /** ratio (-1000000 … 1000000): coordinate = ratio x the leader's + offset, in m and rad */
    ratio?: Placed;
    /** offset (-1000000 … 1000000 m, rad): coordinate where the leader's is 0; what is missing closes at contact.push_speed at most */
    offset?: Placed;
  };
  /** set whether the linked particles of two systems meet each other: cloth on cloth, a rope over a cloth, jelly on it */
  particles_meet: {
    /** system: a system; no fluid, without forces and collisions between its particles */
    system: number;
    /** other: another one, likewise; a system meets at most 8 others */
    other: number;
    /** thickness (0 … 100 m): least distance of the centres of two of their particles; at least 0.87 of the longest edge of both closes them for each other; 0: they do not meet */
    thickness?: Placed;
    /** friction (0 … 10): between them */
    friction?: Placed;
  };
  /** limit the elongation of a system's links: in each sub-step until none is longer, with tethers to what holds the system */
  particles_limit: {
    /** system: the system */
    system: number;
    /** stretch (0 … 1): largest relative elongation of rods and ropes, also of compliant ones; at least 0.001; 0: none, links are corrected once a sub-step */
    stretch: Placed;
  };
  /** let points carry a body: its place is theirs, and what touches it pushes them */
  carry: {
    /** body: a dynamic body of a planar world, without joints; its mass does not count while points carry it */
    body: number;
    /** a: a dynamic body of which the mass centre is the point; several bodies may share it */
    a: number;
    /** b: another one */
    b: number;
    /** c: a third one; 0: none */
    c?: number;
    /** d: a fourth one; 0: none */
    d?: number;
  };
  /** let a body move by its own mass again */
  uncarry: {
    /** body: a body that points carry */
    body: number;
  };
  /** make a sink of a system, set it anew, or remove it: a region or a body that takes the system's particles away; those that it took are counted */
  particles_sink: {
    /** system: the system */
    system: number;
    /** sink: number of the sink within the system */
    sink: number;
    /** region: 0 none: the sink is removed; 1 ball; 2 box; 3 body: all that is nearer to `body` than `radius`, or in it */
    region?: number | "none" | "ball" | "box" | "body";
    /** position (-1000000 … 1000000 m): centre of a ball or box, in the axes of `body` if that is given */
    position?: Vector;
    /** size (0 … 1000000 m): of a box: its lengths, above 0 */
    size?: Vector;
    /** radius (0 … 1000000 m): of a ball, or around a body, above 0 */
    radius?: Placed;
    /** rotation: of a box, its axes to those of the world or of `body` */
    rotation?: Rotation;
    /** body: carries a ball or box, 0: none does; or is the sink itself. The sink goes with it */
    body?: number;
  };
  /** set the inertia of the rotor that turns with an axis of a joint */
  joint_armature: {
    /** joint: the joint */
    joint: number;
    /** axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; not of a spherical joint */
    axis: number;
    /** armature (0 … 1e+18 kg m2, kg): at the axis, so the rotor's own times the square of its gear; kg of an axis along; 0: there is none */
    armature?: Placed;
  };
}

export const STATUS: Readonly<Record<number, readonly [StatusName, string]>>;
export const COMMAND: Readonly<Record<keyof CommandFields, { number: number, fields: readonly (readonly [string, unknown])[] }>>;
export const COLUMN: Readonly<Record<Column, number>>;
export const JOINT_COLUMN: Readonly<Record<JointColumn, number>>;
export const PARTICLE_COLUMN: Readonly<Record<ParticleColumn, number>>;
