"""A method for each command. Written by make_manifest.py; do not edit."""
# table: methods have a line for each field
from typing import Optional, Sequence, Tuple, Union

Vector = Sequence[float]
Rotation = Tuple[float, float, float, float]
Whole, Real = Optional[int], Optional[float]


class Commands:
    """The commands as methods. A call sends a batch of this command alone and waits for its result; of the asyncio
    client it is a coroutine. Several commands in one batch: World.apply(command(...), ...). A field that is not given
    has the default of docs/COMMANDS.md. Numbers are in SI units, rotations (w, x, y, z)."""

    def shape_use(self, name: bytes):
        """Make an uploaded shape usable in this world; yields its id in the world. Returns the shape's id in
        the world. Raises Refused.

        - name: SHA-256 of the canonical bytes
        """
        return self._command("shape_use", name=name)

    def shape_drop(self, shape: int):
        """Remove a shape that no body uses from the world. Raises Refused.

        - shape: the shape
        """
        return self._command("shape_drop", shape=shape)

    def spawn(self, status: Union[int, str] = "dynamic", position: Vector = (0, 0, 0),
              shapes: Optional[Sequence] = None, rotation: Optional[Rotation] = None,
              velocity: Optional[Vector] = None, angular_velocity: Optional[Vector] = None, density: Real = None,
              mass: Real = None, static_friction: Real = None, dynamic_friction: Real = None,
              restitution: Real = None, friction_rule: Whole = None, restitution_rule: Whole = None,
              category: Whole = None, mask: Whole = None, group: Whole = None, owner: Whole = None,
              tag: Whole = None, linear_damping: Real = None, angular_damping: Real = None, flags: Whole = None,
              rolling_friction: Real = None, spinning_friction: Real = None, friction_axis: Optional[Vector] = None,
              axis_friction: Real = None, integrator: Optional[Union[int, str]] = None, tolerance: Real = None,
              substeps: Whole = None, gravity_scale: Real = None, speed_max: Real = None,
              angular_speed_max: Real = None, mass_rule: Optional[Union[int, str]] = None,
              centre: Optional[Vector] = None, inertia: Optional[Vector] = None,
              inertia_rotation: Optional[Rotation] = None, ends_with: Whole = None, ends_with_owner: Whole = None,
              one_way: Optional[Vector] = None, surface_velocity: Optional[Vector] = None, locks: Whole = None,
              friction: Real = None):
        """Make a body. Returns the body's id. Raises Refused.

        - status: 0 inactive, 1 static, 2 dynamic, 3 animated
        - position (-1000000 … 1000000 m): of the body's origin
        - shapes: shapes and their places on the body; none: a point mass
        - rotation: body axes to world axes, w first
        - velocity (-10000 … 10000 m/s): of the mass centre
        - angular_velocity (-10000 … 10000 rad/s): world axes
        - density (0.001 … 1000000 kg/m3): of all shapes (kg/m2 in a planar world)
        - mass (0 … 1000000000 kg): in place of density if above 0; a point mass with mass 0 has 1 kg
        - static_friction (0 … 10): Coulomb, sticking
        - dynamic_friction (0 … 10): Coulomb, sliding; not above static
        - restitution (0 … 1): of normal speed
        - friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean
        - restitution_rule: as friction_rule
        - category: bits: the groups this body belongs to
        - mask: bits: the groups this body collides with
        - group: two bodies with the same: > 0 always collide, < 0 never
        - owner: session that may command it; 0 none
        - tag: number for the user's own purpose
        - linear_damping (0 … 1000 1/s): velocity decay rate
        - angular_damping (0 … 1000 1/s): angular velocity decay rate
        - flags: bit 0 may sleep, 1 fixed rotation, 2 fast: does not pass dynamic bodies either, 3 sensor
        - rolling_friction (0 … 1000 m): greatest rolling torque a newton of load, N m; of two the larger
        - spinning_friction (0 … 1000 m): the same about the normal
        - friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none
        - axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding
        - integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; read by method impact
        - tolerance (0 … 1 m): largest estimated error of a tick; 0: impact.accuracy; read by method impact
        - substeps: least number of equal parts of a tick; 0: one; read by method impact
        - gravity_scale (-1000 … 1000): factor of gravity; 0: none
        - speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none
        - angular_speed_max (0 … 10000 rad/s): the same of its angular velocity
        - mass_rule: 0 shapes, 1 centre: it is given, 2 given: centre, inertia and mass
        - centre (-1000000 … 1000000 m): of mass, from the origin, body axes; read with mass_rule 1, 2
        - inertia (0 … 1e+18 kg m2): principal (planar: z); read with mass_rule 2
        - inertia_rotation: principal axes to body axes; read with mass_rule 2
        - ends_with: body with which it is removed; it goes with no other; 0 none
        - ends_with_owner: 1: removed when the session that owns it ends
        - one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all sides
        - surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes
        - locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre) or turn
          about (bits 3, 4, 5), while it is dynamic
        - friction: static_friction and dynamic_friction, where they are not given, as in scenes
        """
        return self._command("spawn", status=status, position=position, shapes=shapes, rotation=rotation,
                             velocity=velocity, angular_velocity=angular_velocity, density=density, mass=mass,
                             static_friction=static_friction, dynamic_friction=dynamic_friction,
                             restitution=restitution, friction_rule=friction_rule,
                             restitution_rule=restitution_rule, category=category, mask=mask, group=group,
                             owner=owner, tag=tag, linear_damping=linear_damping,
                             angular_damping=angular_damping, flags=flags, rolling_friction=rolling_friction,
                             spinning_friction=spinning_friction, friction_axis=friction_axis,
                             axis_friction=axis_friction, integrator=integrator, tolerance=tolerance,
                             substeps=substeps, gravity_scale=gravity_scale, speed_max=speed_max,
                             angular_speed_max=angular_speed_max, mass_rule=mass_rule, centre=centre,
                             inertia=inertia, inertia_rotation=inertia_rotation, ends_with=ends_with,
                             ends_with_owner=ends_with_owner, one_way=one_way,
                             surface_velocity=surface_velocity, locks=locks, friction=friction)

    def remove(self, body: int):
        """Remove a body and its contacts. Raises Refused.

        - body: the body
        """
        return self._command("remove", body=body)

    def set_pose(self, body: int, position: Vector, rotation: Optional[Rotation] = None):
        """Move a body to a pose; wakes it and the bodies it touched. Raises Refused.

        - body: the body
        - position (-1000000 … 1000000 m): of the body's origin
        - rotation: body axes to world axes, w first
        """
        return self._command("set_pose", body=body, position=position, rotation=rotation)

    def set_velocity(self, body: int, velocity: Vector, angular_velocity: Optional[Vector] = None):
        """Set velocities; wakes the body. Raises Refused.

        - body: the body, dynamic or animated
        - velocity (-10000 … 10000 m/s): of the mass centre
        - angular_velocity (-10000 … 10000 rad/s): world axes
        """
        return self._command("set_velocity", body=body, velocity=velocity, angular_velocity=angular_velocity)

    def set_status(self, body: int, status: Union[int, str], fast: Optional[Union[int, str]] = None):
        """Change a body's status; lifts quarantine. Raises Refused.

        - body: the body
        - status: 0 inactive, 1 static, 2 dynamic, 3 animated
        - fast: 0 keep, 1 off, 2 on: whether it does not pass through dynamic bodies either (bit 2 of spawn's
          flags)
        """
        return self._command("set_status", body=body, status=status, fast=fast)

    def force(self, body: int, force: Vector, point: Optional[Vector] = None, ticks: Whole = None):
        """Apply a constant force for a number of ticks. Raises Refused.

        - body: the body, dynamic
        - force (-1e+12 … 1e+12 N): world axes
        - point (-1000000 … 1000000 m): where, from the mass centre in body axes; moves with the body
        - ticks (ticks): how long; 4294967295 until the body is removed
        """
        return self._command("force", body=body, force=force, point=point, ticks=ticks)

    def torque(self, body: int, torque: Vector, ticks: Whole = None):
        """Apply a constant torque for a number of ticks. Raises Refused.

        - body: the body, dynamic
        - torque (-1e+12 … 1e+12 N m): world axes
        - ticks (ticks): how long; 4294967295 until the body is removed
        """
        return self._command("torque", body=body, torque=torque, ticks=ticks)

    def impulse(self, body: int, impulse: Vector, point: Optional[Vector] = None):
        """Change momentum at once. Raises Refused.

        - body: the body, dynamic
        - impulse (-1e+12 … 1e+12 N s): world axes
        - point (-1000000 … 1000000 m): where, from the mass centre in body axes
        """
        return self._command("impulse", body=body, impulse=impulse, point=point)

    def angular_impulse(self, body: int, impulse: Vector):
        """Change angular momentum at once. Raises Refused.

        - body: the body, dynamic
        - impulse (-1e+12 … 1e+12 N m s): world axes
        """
        return self._command("angular_impulse", body=body, impulse=impulse)

    def set_material(self, body: int, static_friction: Real = None, dynamic_friction: Real = None,
                     restitution: Real = None, friction_rule: Whole = None, restitution_rule: Whole = None,
                     rolling_friction: Real = None, spinning_friction: Real = None,
                     friction_axis: Optional[Vector] = None, axis_friction: Real = None, friction: Real = None):
        """Change friction and restitution. Raises Refused.

        - body: the body
        - static_friction (0 … 10): Coulomb, sticking
        - dynamic_friction (0 … 10): Coulomb, sliding; not above static
        - restitution (0 … 1): of normal speed
        - friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean
        - restitution_rule: as friction_rule
        - rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of load; of two
          bodies the larger
        - spinning_friction (0 … 1000 m): the same about the normal
        - friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none
        - axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding
        - friction: static_friction and dynamic_friction, where they are not given, as in scenes
        """
        return self._command("set_material", body=body, static_friction=static_friction,
                             dynamic_friction=dynamic_friction, restitution=restitution,
                             friction_rule=friction_rule, restitution_rule=restitution_rule,
                             rolling_friction=rolling_friction, spinning_friction=spinning_friction,
                             friction_axis=friction_axis, axis_friction=axis_friction, friction=friction)

    def set_filter(self, body: int, category: int, mask: int, group: int, sensor: Optional[Union[int, str]] = None):
        """Change what a body collides with. Raises Refused.

        - body: the body
        - category: bits: the groups this body belongs to
        - mask: bits: the groups this body collides with
        - group: two bodies with the same: > 0 always collide, < 0 never
        - sensor: 0 keep, 1 off, 2 on: whether it has no contacts and tells which bodies it overlaps (bit 3 of
          spawn's flags)
        """
        return self._command("set_filter", body=body, category=category, mask=mask, group=group, sensor=sensor)

    def set_owner(self, body: int, owner: int):
        """Give a body to a session. Raises Refused.

        - body: the body
        - owner: session that may command it; 0 none
        """
        return self._command("set_owner", body=body, owner=owner)

    def set_tag(self, body: int, tag: int):
        """Set the number for the user's own purpose. Raises Refused.

        - body: the body
        - tag: number for the user's own purpose
        """
        return self._command("set_tag", body=body, tag=tag)

    def set_damping(self, body: int, linear_damping: float, angular_damping: float):
        """Change the damping of a body's motion. Raises Refused.

        - body: the body
        - linear_damping (0 … 1000 1/s): velocity decay rate
        - angular_damping (0 … 1000 1/s): angular velocity decay rate
        """
        return self._command("set_damping", body=body, linear_damping=linear_damping,
                             angular_damping=angular_damping)

    def wake(self, body: int):
        """Wake a sleeping body and its sleep set. Raises Refused.

        - body: the body
        """
        return self._command("wake", body=body)

    def set_integrator(self, body: int, integrator: Union[int, str], tolerance: Real = None, substeps: Whole = None):
        """Choose how method impact integrates a body's motion; other methods do not read it. Raises Refused.

        - body: the body
        - integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; linked bodies:
          implicit_euler if any has it, else the highest
        - tolerance (0 … 1 m): largest estimated error of its motion in a tick, by step doubling (rk45: by its
          embedded pair); 0: that of impact.accuracy; linked bodies take the smallest
        - substeps: least number of equal parts of a tick, each with its own contacts and forces; linked bodies
          take the largest; 0: one
        """
        return self._command("set_integrator", body=body, integrator=integrator, tolerance=tolerance,
                             substeps=substeps)

    def set_motion(self, body: int, gravity_scale: float, speed_max: Real = None, angular_speed_max: Real = None):
        """Change how gravity acts on a body, and its greatest speeds; wakes it. Raises Refused.

        - body: the body
        - gravity_scale (-1000 … 1000): factor of gravity; 0: none
        - speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none
        - angular_speed_max (0 … 10000 rad/s): the same of its angular velocity
        """
        return self._command("set_motion", body=body, gravity_scale=gravity_scale, speed_max=speed_max,
                             angular_speed_max=angular_speed_max)

    def move_to(self, body: int, position: Vector, rotation: Optional[Rotation] = None):
        """Give an animated body the pose of the next tick's end: it gets the velocities that take it there, and
        stops after that tick unless it gets another target. Raises Refused.

        - body: the body, animated
        - position (-1000000 … 1000000 m): of the body's origin
        - rotation: body axes to world axes, w first; the shorter way
        """
        return self._command("move_to", body=body, position=position, rotation=rotation)

    def explode(self, position: Vector, radius: float, impulse: float, core: Real = None, mask: Whole = None,
                shadow: Optional[Union[int, str]] = None):
        """Push the dynamic bodies around a point away from it at once; wakes them. Raises Refused.

        - position (-1000000 … 1000000 m): the centre
        - radius (0 … 1000000 m): bodies whose nearest point is farther get nothing
        - impulse (-1e+12 … 1e+12 N s): on each body whose nearest point is within core, along the line from the
          centre to that point; negative: towards the centre
        - core (0 … 1000000 m): from here to radius the impulse falls off linearly; at most radius
        - mask: bits: the groups of bodies it acts on
        - shadow: 1: a static body between the centre and a body's nearest point shields it
        """
        return self._command("explode", position=position, radius=radius, impulse=impulse, core=core, mask=mask,
                             shadow=shadow)

    def set_gravity(self, gravity: Vector):
        """Set gravity; wakes everything. Raises Refused.

        - gravity (-10000 … 10000 m/s2): acceleration of free fall
        """
        return self._command("gravity", gravity=gravity)

    def set_parameter(self, name: str, value: float):
        """Set a parameter of the table below; wakes everything. Raises Refused.

        - name: its name, e.g. soft_step.substeps
        - value (-1e+300 … 1e+300): within the parameter's own limits
        """
        return self._command("parameter", name=name, value=value)

    def set_method(self, name: str):
        """Choose the method that makes the steps from this tick on. Raises Refused.

        - name: its name, e.g. soft-step
        """
        return self._command("method", name=name)

    def set_seed(self, seed: int):
        """Restart the world's random numbers from a seed. Raises Refused.

        - seed: 64 bits
        """
        return self._command("seed", seed=seed)

    def set_bounds(self, mode: int, minimum: Optional[Vector] = None, maximum: Optional[Vector] = None):
        """Set the world's bounds. Raises Refused.

        - mode: 0 none, 1 a body that leaves becomes inactive, 2 walls
        - minimum (-1000000 … 1000000 m): lowest corner
        - maximum (-1000000 … 1000000 m): highest corner
        """
        return self._command("bounds", mode=mode, minimum=minimum, maximum=maximum)

    def set_colour(self, body: int, colour: int, given: Whole = None):
        """Give a body a colour; no motion and no hash depends on it. Raises Refused.

        - body: the body
        - colour: 0xRRGGBB, as on screens (sRGB)
        - given: 0: take the colour away
        """
        return self._command("set_colour", body=body, colour=colour, given=given)

    def joint_create(self, type: Union[int, str], body_a: int, body_b: int, point_a: Optional[Vector] = None,
                     frame_a: Optional[Rotation] = None, point_b: Optional[Vector] = None,
                     frame_b: Optional[Rotation] = None, place: Whole = None, violated: Whole = None,
                     flags: Whole = None, break_force: Real = None, break_torque: Real = None, owner: Whole = None,
                     tag: Whole = None):
        """Join two bodies, or one and the world. Returns the joint's id. Raises Refused.

        - type: 1 spherical, 2 revolute, 3 prismatic, 4 cylindrical, 5 universal, 6 fixed, 7 distance, 8
          six_dof, 9 wheel, 10 drag
        - body_a: the first body; 0 the world
        - body_b: the second body; 0 the world
        - point_a (-1000000 … 1000000 m): a's anchor, from its origin in its axes; of the world, or with place
          1: in world axes
        - frame_a: the joint's axes to a's; of the world, or with place 1: to the world's
        - point_b (-1000000 … 1000000 m): b's anchor, likewise
        - frame_b: the joint's axes to b's; with place 1 it is frame_a, in the world
        - place: 0 each side in its body's axes; 1 point_a and frame_a are in the world, and both sides take
          them from there (a distance and a drag: point_b, too)
        - violated: 0 refuse poses that violate the joint; 1 refuse such poses and velocities; 2 move the bodies
          and change their velocities
        - flags: bit 0: its bodies do not collide with each other
        - break_force (0 … 1e+12 N): the joint breaks above it; 0 never
        - break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never
        - owner: session that may command it; 0 none
        - tag: number for the user's own purpose
        """
        return self._command("joint_create", type=type, body_a=body_a, body_b=body_b, point_a=point_a,
                             frame_a=frame_a, point_b=point_b, frame_b=frame_b, place=place, violated=violated,
                             flags=flags, break_force=break_force, break_torque=break_torque, owner=owner,
                             tag=tag)

    def joint_remove(self, joint: int):
        """Remove a joint; its bodies keep pose and velocity. Raises Refused.

        - joint: the joint
        """
        return self._command("joint_remove", joint=joint)

    def joint_set(self, joint: int, flags: Whole = None, break_force: Real = None, break_torque: Real = None,
                  owner: Whole = None, tag: Whole = None):
        """Change the properties of a joint that belong to no axis. Raises Refused.

        - joint: the joint
        - flags: bit 0: its bodies do not collide with each other
        - break_force (0 … 1e+12 N): the joint breaks above it; 0 never
        - break_torque (0 … 1e+12 N m): the joint breaks above it; 0 never
        - owner: session that may command it; 0 none
        - tag: number for the user's own purpose
        """
        return self._command("joint_set", joint=joint, flags=flags, break_force=break_force,
                             break_torque=break_torque, owner=owner, tag=tag)

    def joint_axis(self, joint: int, axis: int, mode: Optional[Union[int, str]] = None, lower: Real = None,
                   upper: Real = None, restitution: Real = None, friction: Real = None,
                   spring: Optional[Union[int, str]] = None, stiffness: Real = None, damping: Real = None,
                   rest: Real = None, spring_limit: Real = None, motor: Optional[Union[int, str]] = None,
                   target: Real = None, motor_limit: Real = None, wave: Optional[Union[int, str]] = None,
                   amplitude: Real = None, hertz: Real = None, phase: Real = None, motor_stiffness: Real = None,
                   motor_damping: Real = None):
        """Set all properties of one axis of a joint. Raises Refused.

        - joint: the joint
        - axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; see the types of joints
        - mode: 0 free, 1 locked, 2 limited; locked, where the type does not lock it, only of a six_dof and a
          distance
        - lower (-1000000 … 1000000 m, rad): lower limit
        - upper (-1000000 … 1000000 m, rad): upper limit, not below lower
        - restitution (0 … 1): of its limits
        - friction (0 … 1e+12 N, N m): greatest friction against motion along the axis
        - spring: 0 none, 1 by stiffness and damping, 2 by hertz and damping ratio
        - stiffness (0 … 1e+12 N/m, N m/rad, Hz): of the spring; with spring 2 hertz
        - damping (0 … 1e+12 N s/m, N m s/rad, 1): of the spring; with spring 2 the ratio
        - rest (-1000000 … 1000000 m, rad): coordinate at which the spring has no force; the length of a locked
          distance
        - spring_limit (0 … 1e+12 N, N m): greatest pull of the spring; 0 any
        - motor: 0 none, 1 holds a velocity, 2 holds a position, 3 exerts a force
        - target (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): velocity or position that the motor holds, or
          the force that it exerts
        - motor_limit (0 … 1e+12 N, N m): greatest force of the motor; 0 any
        - wave: 0 the target is constant, 1 target + amplitude sin(2 pi hertz t + phase); joint_table sets a
          table
        - amplitude (-1000000 … 1000000 m/s, rad/s, m, rad, N, N m): of the sine
        - hertz (0 … 10000 Hz): of the sine
        - phase (-1000000 … 1000000 rad): of the sine
        - motor_stiffness (0 … 1e+12 N/m, N m/rad): above 0 a position motor is a servo, of force
          motor_stiffness (target - coordinate) + motor_damping (rate of the target - rate), up to motor_limit;
          0: it holds its target as far as motor_limit allows
        - motor_damping (0 … 1e+12 N s/m, N m s/rad): of a servo; above 0 a velocity motor is a servo, of force
          motor_damping (target - rate)
        """
        return self._command("joint_axis", joint=joint, axis=axis, mode=mode, lower=lower, upper=upper,
                             restitution=restitution, friction=friction, spring=spring, stiffness=stiffness,
                             damping=damping, rest=rest, spring_limit=spring_limit, motor=motor, target=target,
                             motor_limit=motor_limit, wave=wave, amplitude=amplitude, hertz=hertz, phase=phase,
                             motor_stiffness=motor_stiffness, motor_damping=motor_damping)

    def joint_targets(self, targets: Sequence):
        """Set the targets of motors of many joints. Raises Refused.

        - targets: [joint, axis, value] each; this ends the axis's sine or table
        """
        return self._command("joint_targets", targets=targets)

    def joint_table(self, joint: int, axis: int, points: Sequence, period: Real = None):
        """Set a motor's target as a function of time, by a table of points. Raises Refused.

        - joint: the joint
        - axis: an axis with a motor
        - points: [time s, value] each, times ascending from 0 on
        - period (0 … 1000000 s): the table repeats after this time, at least the last point's; 0: no
          repetition, the last value stays
        """
        return self._command("joint_table", joint=joint, axis=axis, points=points, period=period)

    def joint_move(self, joint: int, point: Vector):
        """Move the anchor of a joint that is in the world, such as a drag's. Raises Refused.

        - joint: a joint whose body a is the world
        - point (-1000000 … 1000000 m): the new point_a, world axes
        """
        return self._command("joint_move", joint=joint, point=point)

    def particles_create(self, name: str, emitter: Optional[Union[int, str]] = None,
                         position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                         half: Optional[Vector] = None, capacity: Whole = None, recycle: Whole = None,
                         rate: Whole = None, rate_deviation: Whole = None, delay: Whole = None, size: Real = None,
                         size_deviation: Real = None, mass: Real = None, mass_deviation: Real = None,
                         life: Real = None, life_deviation: Real = None, speed: Real = None,
                         speed_deviation: Real = None, spread: Real = None, drag: Real = None,
                         gravity_scale: Real = None, static_friction: Real = None, dynamic_friction: Real = None,
                         restitution: Real = None, category: Whole = None, mask: Whole = None,
                         colours: Optional[Sequence] = None, owner: Whole = None, tag: Whole = None,
                         seed: Whole = None, friction: Real = None):
        """Make a particle system: an emitter and its particles. Returns the system's id. Raises Refused.

        - name: a name for people, need not be unique
        - emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body (the faces of
          all shapes of the body that carries it, particles_emitter; without one there are no births)
        - position (-1000000 … 1000000 m): centre of the emitter
        - rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a sphere
          outwards
        - half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar emitter's
          largest side, or radius of a sphere (a circle)
        - capacity: most particles alive; with recycle 0 also most ever emitted
        - recycle: 1: particles that have died make room for new ones
        - rate: particles of an emission; a planar emitter has room for fewer, if its side is small
        - rate_deviation: largest deviation of rate
        - delay (ticks): from one emission to the next; the first is in the first tick
        - size (0.0001 … 100 m): diameter
        - size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean, with a third
          of this as standard deviation
        - mass (1e-09 … 1000000000 kg): of a particle
        - mass_deviation (0 … 1000000000 kg): largest deviation
        - life (0 … 1000000 s): age at which a particle is removed; 0: never
        - life_deviation (0 … 1000000 s): largest deviation
        - speed (0 … 10000 m/s): at birth
        - speed_deviation (0 … 10000 m/s): largest deviation
        - spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's direction
          there
        - drag (0 … 1e+12 N s/m): force against the velocity, by the velocity
        - gravity_scale (-1000 … 1000): factor of gravity; 0: none
        - static_friction (0 … 10): of a contact with a body: the mean of both partners
        - dynamic_friction (0 … 10): likewise, at most static_friction
        - restitution (0 … 1): of an impact on a body, combined by the body's rule
        - category: bits: force fields whose mask has one of them act on the particles
        - mask: bits: the particles collide with bodies whose category has one of them; 0: with none
        - colours: [age s, 0xRRGGBB] each: from this age on it has this colour
        - owner: session that may command it; 0 none
        - tag: number for the user's own purpose
        - seed: of the random numbers of its births, with its id
        - friction: static_friction and dynamic_friction, where they are not given, as in scenes
        """
        return self._command("particles_create", name=name, emitter=emitter, position=position,
                             rotation=rotation, half=half, capacity=capacity, recycle=recycle, rate=rate,
                             rate_deviation=rate_deviation, delay=delay, size=size,
                             size_deviation=size_deviation, mass=mass, mass_deviation=mass_deviation, life=life,
                             life_deviation=life_deviation, speed=speed, speed_deviation=speed_deviation,
                             spread=spread, drag=drag, gravity_scale=gravity_scale,
                             static_friction=static_friction, dynamic_friction=dynamic_friction,
                             restitution=restitution, category=category, mask=mask, colours=colours,
                             owner=owner, tag=tag, seed=seed, friction=friction)

    def particles_remove(self, system: int):
        """Remove a particle system and its particles; impulses that they gave in the last tick are lost. Raises
        Refused.

        - system: the system
        """
        return self._command("particles_remove", system=system)

    def particles_set(self, system: int, emitter: Optional[Union[int, str]] = None,
                      position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                      half: Optional[Vector] = None, capacity: Whole = None, recycle: Whole = None,
                      rate: Whole = None, rate_deviation: Whole = None, delay: Whole = None, size: Real = None,
                      size_deviation: Real = None, mass: Real = None, mass_deviation: Real = None, life: Real = None,
                      life_deviation: Real = None, speed: Real = None, speed_deviation: Real = None,
                      spread: Real = None, drag: Real = None, gravity_scale: Real = None,
                      static_friction: Real = None, dynamic_friction: Real = None, restitution: Real = None,
                      category: Whole = None, mask: Whole = None, colours: Optional[Sequence] = None,
                      owner: Whole = None, tag: Whole = None, seed: Whole = None, friction: Real = None):
        """Set all properties of a particle system but its name; its particles keep size, mass and age of death.
        Raises Refused.

        - system: the system
        - emitter: 0 none, 1 point, 2 planar, 3 box (its surface), 4 sphere (its surface), 5 body (the faces of
          all shapes of the body that carries it, particles_emitter; without one there are no births)
        - position (-1000000 … 1000000 m): centre of the emitter
        - rotation: the emitter's axes to the world's; a point and a plane emit along y, a box and a sphere
          outwards
        - half (0 … 1000000 m): half sizes of a box (in a planar world a rectangle); x: of a planar emitter's
          largest side, or radius of a sphere (a circle)
        - capacity: most particles alive; with recycle 0 also most ever emitted
        - recycle: 1: particles that have died make room for new ones
        - rate: particles of an emission; a planar emitter has room for fewer, if its side is small
        - rate_deviation: largest deviation of rate
        - delay (ticks): from one emission to the next; the first is in the first tick
        - size (0.0001 … 100 m): diameter
        - size_deviation (0 … 100 m): largest deviation: drawn numbers are normal about the mean, with a third
          of this as standard deviation
        - mass (1e-09 … 1000000000 kg): of a particle
        - mass_deviation (0 … 1000000000 kg): largest deviation
        - life (0 … 1000000 s): age at which a particle is removed; 0: never
        - life_deviation (0 … 1000000 s): largest deviation
        - speed (0 … 10000 m/s): at birth
        - speed_deviation (0 … 10000 m/s): largest deviation
        - spread (0 … 3.141592654 rad): largest angle between the velocity at birth and the emitter's direction
          there
        - drag (0 … 1e+12 N s/m): force against the velocity, by the velocity
        - gravity_scale (-1000 … 1000): factor of gravity; 0: none
        - static_friction (0 … 10): of a contact with a body: the mean of both partners
        - dynamic_friction (0 … 10): likewise, at most static_friction
        - restitution (0 … 1): of an impact on a body, combined by the body's rule
        - category: bits: force fields whose mask has one of them act on the particles
        - mask: bits: the particles collide with bodies whose category has one of them; 0: with none
        - colours: [age s, 0xRRGGBB] each: from this age on it has this colour
        - owner: session that may command it; 0 none
        - tag: number for the user's own purpose
        - seed: of the random numbers of its births, with its id
        - friction: static_friction and dynamic_friction, where they are not given, as in scenes
        """
        return self._command("particles_set", system=system, emitter=emitter, position=position,
                             rotation=rotation, half=half, capacity=capacity, recycle=recycle, rate=rate,
                             rate_deviation=rate_deviation, delay=delay, size=size,
                             size_deviation=size_deviation, mass=mass, mass_deviation=mass_deviation, life=life,
                             life_deviation=life_deviation, speed=speed, speed_deviation=speed_deviation,
                             spread=spread, drag=drag, gravity_scale=gravity_scale,
                             static_friction=static_friction, dynamic_friction=dynamic_friction,
                             restitution=restitution, category=category, mask=mask, colours=colours,
                             owner=owner, tag=tag, seed=seed, friction=friction)

    def particles_add(self, system: int, position: Vector, velocity: Optional[Vector] = None):
        """Add one particle to a system, with the system's mean size, mass and life. Raises Refused.

        - system: the system
        - position (-1000000 … 1000000 m): of its centre
        - velocity (-10000 … 10000 m/s)
        """
        return self._command("particles_add", system=system, position=position, velocity=velocity)

    def particles_split(self, system: int, number: Whole = None, number_deviation: Whole = None, age: Real = None,
                        age_deviation: Real = None, delay: Whole = None, depth: Whole = None, velocity: Real = None,
                        velocity_deviation: Real = None, spread: Real = None, burst: Real = None,
                        burst_deviation: Real = None, size: Real = None, size_deviation: Real = None,
                        life: Real = None, life_deviation: Real = None, spend: Optional[Union[int, str]] = None):
        """Set whether and how the particles of a system split: into particles of the next generation, at their
        place. Raises Refused.

        - system: the system
        - number: particles into which one splits; 0: none splits any more
        - number_deviation: largest deviation of number
        - age (0 … 1000000 s): of a particle when it splits first; one that dies before does not split
        - age_deviation (0 … 1000000 s): largest deviation of age
        - delay (ticks): it splits again each time after so many; 0: only once
        - depth: generations: the emitter makes particles of generation 0, and those of this generation do not
          split
        - velocity (0 … 100): of a child, as a share of the parent's velocity
        - velocity_deviation (0 … 100): largest deviation of velocity
        - spread (0 … 3.141592654 rad): largest angle between that velocity and the parent's
        - burst (0 … 10000 m/s): a velocity that is added, in any direction
        - burst_deviation (0 … 10000 m/s): largest deviation of burst
        - size (0 … 100): diameter of a child, as a share of the parent's; its mass goes with the cube, in a
          planar world with the square
        - size_deviation (0 … 100): largest deviation of size
        - life (0 … 100): life of a child, as a share of the parent's whole life
        - life_deviation (0 … 100): largest deviation of life
        - spend: 1: a particle that has split is removed in the next tick
        """
        return self._command("particles_split", system=system, number=number, number_deviation=number_deviation,
                             age=age, age_deviation=age_deviation, delay=delay, depth=depth, velocity=velocity,
                             velocity_deviation=velocity_deviation, spread=spread, burst=burst,
                             burst_deviation=burst_deviation, size=size, size_deviation=size_deviation,
                             life=life, life_deviation=life_deviation, spend=spend)

    def field_create(self, kind: Union[int, str], region: Optional[Union[int, str]] = None,
                     position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                     half: Optional[Vector] = None, falloff: Optional[Union[int, str]] = None,
                     strength: Optional[Vector] = None, velocity: Optional[Vector] = None, linear: Real = None,
                     quadratic: Real = None, angular: Real = None, power: Whole = None, core: Real = None,
                     flags: Whole = None, mask: Whole = None, tag: Whole = None, density: Real = None):
        """Make a force field; wakes the bodies in its region. Returns the field's id. Raises Refused.

        - kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every two bodies
          attract each other (pile)
        - region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no ball, and
          reaches from the top of its box, or from its position, down
        - position (-1000000 … 1000000 m): centre of the field
        - rotation: the field's axes to the world's
        - half (0 … 1000000 m): half sizes of a box; x is the radius of a ball
        - falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box)
        - strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis;
          attractor: x, towards the centre
        - velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes
        - linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity
        - quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square
        - angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity
        - power: of an attractor: its force falls with this power of the distance
        - core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at
          the centre
        - flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m
        - mask: bodies whose category has one of these bits feel the field
        - tag: number for the user's own purpose
        - density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world)
        """
        return self._command("field_create", kind=kind, region=region, position=position, rotation=rotation,
                             half=half, falloff=falloff, strength=strength, velocity=velocity, linear=linear,
                             quadratic=quadratic, angular=angular, power=power, core=core, flags=flags,
                             mask=mask, tag=tag, density=density)

    def field_remove(self, field: int):
        """Remove a force field; wakes the bodies in its region. Raises Refused.

        - field: the field
        """
        return self._command("field_remove", field=field)

    def field_set(self, field: int, kind: Union[int, str], region: Optional[Union[int, str]] = None,
                  position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                  half: Optional[Vector] = None, falloff: Optional[Union[int, str]] = None,
                  strength: Optional[Vector] = None, velocity: Optional[Vector] = None, linear: Real = None,
                  quadratic: Real = None, angular: Real = None, power: Whole = None, core: Real = None,
                  flags: Whole = None, mask: Whole = None, tag: Whole = None, density: Real = None):
        """Set all properties of a force field; wakes the bodies in its old and new region. Raises Refused.

        - field: the field
        - kind: 1 wind, 2 vortex, 3 attractor, 4 drag, 5 fluid: bodies float in it, 6 mutual: every two bodies
          attract each other (pile)
        - region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre; a fluid has no ball, and
          reaches from the top of its box, or from its position, down
        - position (-1000000 … 1000000 m): centre of the field
        - rotation: the field's axes to the world's
        - half (0 … 1000000 m): half sizes of a box; x is the radius of a ball
        - falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box)
        - strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis;
          attractor: x, towards the centre
        - velocity (-10000 … 10000 m/s): of the medium of a drag or fluid, world axes
        - linear (0 … 1e+12 N s/m): of a drag or fluid: force by relative velocity
        - quadratic (0 … 1e+12 N s2/m2): of a drag or fluid: force by its square
        - angular (0 … 1000 1/s): of a drag or fluid: decay rate of angular velocity
        - power: of an attractor: its force falls with this power of the distance
        - core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at
          the centre
        - flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m
        - mask: bodies whose category has one of these bits feel the field
        - tag: number for the user's own purpose
        - density (0 … 1000000 kg/m3): of a fluid, above 0 (kg/m2 in a planar world)
        """
        return self._command("field_set", field=field, kind=kind, region=region, position=position,
                             rotation=rotation, half=half, falloff=falloff, strength=strength,
                             velocity=velocity, linear=linear, quadratic=quadratic, angular=angular,
                             power=power, core=core, flags=flags, mask=mask, tag=tag, density=density)

    def set_surface(self, body: int, one_way: Optional[Vector] = None, surface_velocity: Optional[Vector] = None):
        """Set from which side a body is solid, and how its surface moves; wakes it and the bodies it touches.
        Raises Refused.

        - body: the body
        - one_way (-1 … 1): body axes: bodies land from this side, others pass; zero: solid from all sides
        - surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes
        """
        return self._command("set_surface", body=body, one_way=one_way, surface_velocity=surface_velocity)

    def set_piece(self, body: int, piece: int, own: int, patch: Whole = None, static_friction: Real = None,
                  dynamic_friction: Real = None, restitution: Real = None, friction_rule: Whole = None,
                  restitution_rule: Whole = None, rolling_friction: Real = None, spinning_friction: Real = None,
                  friction_axis: Optional[Vector] = None, axis_friction: Real = None, category: Whole = None,
                  mask: Whole = None, group: Whole = None, sensor: Whole = None,
                  surface_velocity: Optional[Vector] = None, density: Real = None, friction: Real = None):
        """Set all that a piece of a body has of its own; the rest it has from its body; wakes the body and what
        it touches. Raises Refused.

        - body: the body
        - piece: which of its shapes, in the order of spawn, from 0
        - own: what it has of its own: bit 0 friction and restitution, 1 category, mask and group, 2 sensor, 3
          surface_velocity, 4 density; 0: nothing
        - patch: 0 the whole piece; else the triangles of a mesh with this number, which have bits 0 and 3 only
        - static_friction (0 … 10): Coulomb, sticking
        - dynamic_friction (0 … 10): Coulomb, sliding; not above static
        - restitution (0 … 1): of normal speed
        - friction_rule: 0 average, 1 least, 2 product, 3 largest, 4 geometric mean
        - restitution_rule: as friction_rule
        - rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of load; of two
          pieces the larger
        - spinning_friction (0 … 1000 m): the same about the normal
        - friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none
        - axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding
        - category: bits: the groups this piece belongs to
        - mask: bits: the groups this piece collides with
        - group: two pieces with the same: > 0 always collide, < 0 never
        - sensor: 1: it has no contacts, and tells which bodies it overlaps; 0: it has contacts
        - surface_velocity (-10000 … 10000 m/s): of its surface against the body (conveyor), body axes
        - density (0.001 … 1000000 kg/m3): of its shape (kg/m2 in a planar world); the body's mass, centre and
          inertia become those of all its shapes
        - friction: static_friction and dynamic_friction, where they are not given, as in scenes
        """
        return self._command("set_piece", body=body, piece=piece, own=own, patch=patch,
                             static_friction=static_friction, dynamic_friction=dynamic_friction,
                             restitution=restitution, friction_rule=friction_rule,
                             restitution_rule=restitution_rule, rolling_friction=rolling_friction,
                             spinning_friction=spinning_friction, friction_axis=friction_axis,
                             axis_friction=axis_friction, category=category, mask=mask, group=group,
                             sensor=sensor, surface_velocity=surface_velocity, density=density,
                             friction=friction)

    def set_mover(self, body: int, step_height: Real = None, slope: Real = None, push_force: Real = None,
                  snap: Real = None, enabled: Whole = None):
        """Make an animated body with one convex shape a mover: it walks, climbs steps, falls and rides on what
        it stands on; or change what it can. Raises Refused.

        - body: the body, animated
        - step_height (0 … 100 m): the highest step that it climbs
        - slope (0 … 1.5 rad): the steepest ground on which it stands
        - push_force (0 … 1e+12 N): the most with which it pushes dynamic bodies in its way or below it
        - snap (0 … 100 m): it stays on ground that falls away by so much in a tick
        - enabled: 0: it is no mover any more
        """
        return self._command("set_mover", body=body, step_height=step_height, slope=slope,
                             push_force=push_force, snap=snap, enabled=enabled)

    def clear_visuals(self, body: int):
        """Take all its visuals from a body. Raises Refused.

        - body: the body
        """
        return self._command("clear_visuals", body=body)

    def set_locks(self, body: int, locks: int):
        """Lock axes of a body; its velocity along and about them becomes 0; wakes it and the bodies it touches.
        Raises Refused.

        - body: the body
        - locks: world axes that it does not move along (bits 0, 1, 2: x, y, z, of the mass centre) or turn
          about (bits 3, 4, 5), while it is dynamic
        """
        return self._command("set_locks", body=body, locks=locks)

    def add_visual(self, body: int, shape: int, position: Optional[Vector] = None,
                   rotation: Optional[Rotation] = None, colour: Whole = None, given: Whole = None):
        """Give a body a shape that pictures show in place of its own; no motion and no hash depends on it.
        Raises Refused.

        - body: the body; it may have 64
        - shape: the shape; where it is dropped, its visuals go with it
        - position (-1000000 … 1000000 m): of the shape's origin, body axes
        - rotation: shape axes to body axes, w first
        - colour: 0xRRGGBB, as on screens (sRGB)
        - given: 1: it has that colour; 0: the body's
        """
        return self._command("add_visual", body=body, shape=shape, position=position, rotation=rotation,
                             colour=colour, given=given)

    def steer(self, body: int, velocity: Vector, jump: Real = None, ticks: Whole = None):
        """Say where a mover is to go. Raises Refused.

        - body: the mover
        - velocity (-10000 … 10000 m/s): against its ground; the part along gravity counts only without gravity
        - jump (0 … 10000 m/s): speed at which it leaves its ground in the next tick, if it is on ground then;
          0: it stays
        - ticks (ticks): how long it has that velocity; 4294967295 until another is given
        """
        return self._command("steer", body=body, velocity=velocity, jump=jump, ticks=ticks)

    def particles_interact(self, system: int, forces: Optional[Union[int, str]] = None,
                           collisions: Optional[Union[int, str]] = None, cutoff: Real = None, core: Real = None,
                           substeps: Whole = None, charge: Real = None, gravitation: Real = None,
                           well_depth: Real = None, well_distance: Real = None, repulsion: Real = None,
                           repulsion_damping: Real = None):
        """Set all that the particles of a system do to each other and to those of other systems. Raises
        Refused.

        - system: the system
        - forces: on which particles its own exert forces: 0 none, 1 internal (of the system), 2 external (of
          other systems that say so too), 3 both
        - collisions: with which particles its own collide, likewise
        - cutoff (0 … 100000 m): particles farther apart exert no forces; of two systems the smaller; 0: no
          forces
        - core (1e-06 … 100000 m): nearer than this, attraction and repulsion at a distance fall to 0 with the
          distance; of two systems the larger
        - substeps: of a tick, for forces between particles; all systems use the most of all
        - charge (-1000 … 1000 C): of each particle: Coulomb's force
        - gravitation (0 … 1e+12 m3/(kg s2)): Newton's constant between the particles; of two systems the
          geometric mean
        - well_depth (0 … 1e+12 J): of the Lennard-Jones potential; of two systems the geometric mean; 0: none
        - well_distance (0 … 100 m): at which that potential is 0; of two systems the mean
        - repulsion (0 … 1e+12 N/m): of overlapping particles, by their overlap; of two systems the mean
        - repulsion_damping (0 … 10): of overlapping particles, 1: critical for the reduced mass; of two systems
          the mean
        """
        return self._command("particles_interact", system=system, forces=forces, collisions=collisions,
                             cutoff=cutoff, core=core, substeps=substeps, charge=charge,
                             gravitation=gravitation, well_depth=well_depth, well_distance=well_distance,
                             repulsion=repulsion, repulsion_damping=repulsion_damping)

    def particles_lattice(self, system: int, position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                          columns: Whole = None, rows: Whole = None, layers: Whole = None, spacing: Real = None,
                          links: Whole = None, compliance: Real = None, shear_compliance: Real = None,
                          bend_compliance: Real = None, damping_ratio: Real = None, tear: Real = None,
                          substeps: Whole = None, tear_force: Real = None):
        """Add particles in a lattice to a system, with links between neighbours: a rope, a cloth, a block of
        jelly. Raises Refused.

        - system: the system: its size, mass and life are the particles'
        - position (-1000000 … 1000000 m): of the first particle; serial numbers ascend along columns, then
          rows, then layers
        - rotation: the lattice's axes to the world's: columns are along x, rows along y, layers along z
        - columns: particles along x
        - rows: particles along y
        - layers: particles along z; 1 in a planar world
        - spacing (0.0001 … 100 m): between neighbours
        - links: bit 0 edges, 1 diagonals of faces (against shear), 2 to the next but one (against bending), 3
          volumes of cells (in a planar world areas)
        - compliance (0 … 1000000 m/N): of edges: 1 by stiffness; 0: rigid
        - shear_compliance (0 … 1000000 m/N): of diagonals
        - bend_compliance (0 … 1000000 m/N): of links to the next but one
        - damping_ratio (0 … 10): of all these, 1: critical for the reduced mass; rigid links have none
        - tear (0 … 1000): relative elongation beyond which an edge or diagonal tears; 0: never
        - substeps: of a tick; a system uses the most that it was given
        - tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which an edge or diagonal tears; 0:
          never
        """
        return self._command("particles_lattice", system=system, position=position, rotation=rotation,
                             columns=columns, rows=rows, layers=layers, spacing=spacing, links=links,
                             compliance=compliance, shear_compliance=shear_compliance,
                             bend_compliance=bend_compliance, damping_ratio=damping_ratio, tear=tear,
                             substeps=substeps, tear_force=tear_force)

    def particles_link(self, system: int, a: int, b: int, kind: Optional[Union[int, str]] = None, c: Whole = None,
                       d: Whole = None, length: Real = None, compliance: Real = None, damping_ratio: Real = None,
                       tear: Real = None, substeps: Whole = None, tear_force: Real = None):
        """Link particles of a system: a spring, a rope, a volume. Raises Refused.

        - system: the system
        - a: serial number of a particle
        - b: of another one
        - kind: 0 rod: keeps the distance; 1 rope: only pulls; 2 volume: of the tetrahedron a, b, c, d, in a
          planar world the area of the triangle a, b, c
        - c: of a volume
        - d: of a volume; 0 in a planar world
        - length (0 … 1000000 m): at rest; 0: as it is now, and so is a volume
        - compliance (0 … 1000000 m/N): 1 by stiffness; of a volume m3/Pa; 0: rigid
        - damping_ratio (0 … 10): 1: critical for the reduced mass; a rigid link has none
        - tear (0 … 1000): relative elongation beyond which it tears; 0: never
        - substeps: of a tick; a system uses the most that it was given
        - tear_force (0 … 1e+12 N): pull, as the mean of a tick, beyond which it tears; 0: never
        """
        return self._command("particles_link", system=system, a=a, b=b, kind=kind, c=c, d=d, length=length,
                             compliance=compliance, damping_ratio=damping_ratio, tear=tear, substeps=substeps,
                             tear_force=tear_force)

    def particles_pin(self, system: int, particle: int, pinned: Optional[Union[int, str]] = None):
        """Hold a particle of a system with links where it is, or let it go. Raises Refused.

        - system: the system
        - particle: serial number
        - pinned: 1: held; 0: free
        """
        return self._command("particles_pin", system=system, particle=particle, pinned=pinned)

    def name_body(self, body: int, name: str):
        """Give a body a name for people, or another one; no motion and no hash depends on it. Raises Refused.

        - body: the body
        - name: need not be unique
        """
        return self._command("name_body", body=body, name=name)

    def name_joint(self, joint: int, name: str):
        """Give a joint a name for people, or another one; no motion and no hash depends on it. Raises Refused.

        - joint: the joint
        - name: need not be unique
        """
        return self._command("name_joint", joint=joint, name=name)

    def particles_self(self, system: int, thickness: float, friction: Real = None):
        """Set whether the linked particles of a system meet each other, so that cloth, ropes and jelly do not
        pass through themselves. Raises Refused.

        - system: the system; no fluid, without forces and collisions between its particles
        - thickness (0 … 100 m): least distance of the centres of two particles that share no link; at least
          0.87 of the longest edge closes a cloth; 0: they do not meet
        - friction (0 … 10): between them
        """
        return self._command("particles_self", system=system, thickness=thickness, friction=friction)

    def particles_emitter(self, system: int, body: Whole = None, place: Optional[Union[int, str]] = None,
                          velocity: Real = None, recoil: Optional[Union[int, str]] = None,
                          room: Optional[Union[int, str]] = None):
        """Mount a system's emitter on a body, or take it off; set whether births push the body and need room
        among particles. Raises Refused.

        - system: the system
        - body: the body that carries the emitter; 0: none, it stays where it is in the world
        - place: 0 here: the emitter stays where it is as it is mounted; 1 point: its position and rotation are
          meant in the body's axes
        - velocity (0 … 1): share of the body's velocity at the place of birth that a particle has besides its
          own speed
        - recoil: 1: the next tick begins with the opposite of the momentum that births had relative to the
          body, at the places of birth
        - room: 1: births that would overlap another particle do not happen either, and are counted as refused
        """
        return self._command("particles_emitter", system=system, body=body, place=place, velocity=velocity,
                             recoil=recoil, room=room)

    def particles_trail(self, system: int, trail: int, delay: Whole = None, velocity: Real = None,
                        depth: Whole = None):
        """Let the particles of a system leave a trail: particles of another system, which has their size, life
        and colours. Raises Refused.

        - system: the system that leaves it
        - trail: the system whose particles are left behind; 0: no trail any more
        - delay (ticks): from one particle of a trail to the next
        - velocity (0 … 100): of the trail, as a share of the velocity of the particle that leaves it
        - depth: generation up to which particles leave a trail
        """
        return self._command("particles_trail", system=system, trail=trail, delay=delay, velocity=velocity,
                             depth=depth)

    def particles_contacts(self, system: int, contacts: Union[int, str]):
        """Set when the linked particles of a system meet bodies. Raises Refused.

        - system: the system
        - contacts: 0 after: once a tick, after the sub-steps; 1 within: in each sub-step, so that cloth holds
          bodies
        """
        return self._command("particles_contacts", system=system, contacts=contacts)

    def particles_hold(self, system: int, particle: int, body: int, place: Optional[Union[int, str]] = None,
                       point: Optional[Vector] = None, stiffness: Real = None, damping_ratio: Real = None):
        """Let a body hold a particle of a system with links, at a point of the body; the body feels what pulls
        at it. Raises Refused.

        - system: the system
        - particle: serial number
        - body: the body; 0: none holds it any more
        - place: 0 here: at the point where the particle is; 1 point: it is moved to `point`; 2 far: at `point`,
          and the particle stays where it is
        - point (-1000000 … 1000000 m): with place 1 or 2: body axes
        - stiffness (0 … 1e+12 N/m): of a spring of length 0 between the particle and that point; 0: rigid
        - damping_ratio (0 … 10): of that spring, 1: critical for the reduced mass
        """
        return self._command("particles_hold", system=system, particle=particle, body=body, place=place,
                             point=point, stiffness=stiffness, damping_ratio=damping_ratio)

    def particles_fluid(self, system: int, kernel_radius: float, rest_density: Real = None, viscosity: Real = None,
                        surface_tension: Real = None, solver: Optional[Union[int, str]] = None,
                        tolerance: Real = None, wall_viscosity: Real = None, compression: Real = None,
                        speed: Real = None, stiffness: Real = None, step_ratio: Real = None,
                        substeps_max: Whole = None):
        """Make a particle system of a spatial world a fluid, or set all that it has as one; kernel_radius 0: it
        is none any more. Raises Refused.

        - system: the system; without links and forces between its particles
        - kernel_radius (0 … 1000 m): how far particles act on each other, about twice their spacing; systems
          with the same one and the same solver are one fluid; 0, or at least 0.001
        - rest_density (0.001 … 100000 kg/m3): that it has without pressure; a particle's volume is its mass by
          this
        - viscosity (0 … 1000000 Pa s): of two systems the mean
        - surface_tension (0 … 1000 N/m): of the free surface; each particle has its own
        - solver: 0 explicit: the pressure follows from the density, in small sub-steps; 1 incompressible: the
          pressure keeps the density
        - tolerance (1e-08 … 0.1): incompressible: mean excess of density at which the iteration ends
        - wall_viscosity (0 … 1000000 Pa s): against bodies; 0: it slides along them, the viscosity: it sticks
          to them
        - compression (0.0001 … 1): explicit, a liquid: compression at the expected speed; 1 by the square of
          Mach's number
        - speed (0 … 10000 m/s): explicit, a liquid: expected largest speed; 0: what the energy of the tick
          allows
        - stiffness (0 … 100000000 m2/s2): explicit, a gas: pressure by excess of density; 0: a liquid
        - step_ratio (0.01 … 1): of kernel_radius: how far a particle may go in a sub-step
        - substeps_max: of a tick; a tick that wants more is counted, and softer if explicit
        """
        return self._command("particles_fluid", system=system, kernel_radius=kernel_radius,
                             rest_density=rest_density, viscosity=viscosity, surface_tension=surface_tension,
                             solver=solver, tolerance=tolerance, wall_viscosity=wall_viscosity,
                             compression=compression, speed=speed, stiffness=stiffness, step_ratio=step_ratio,
                             substeps_max=substeps_max)

    def particles_fill(self, system: int, position: Vector, size: Vector, spacing: float,
                       rotation: Optional[Rotation] = None, velocity: Optional[Vector] = None):
        """Fill a box with particles of a fluid, in a cubic lattice; places inside bodies stay free and are
        counted. Raises Refused.

        - system: the system, a fluid
        - position (-1000000 … 1000000 m): centre of the box
        - size (0 … 1000000 m): its lengths; each side has as many particles as spacings, rounded, at least 1
        - spacing (0.0001 … 100 m): of the lattice, about half of kernel_radius; a particle has the mass of that
          cube at rest density
        - rotation: the box's axes to the world's; serial numbers ascend along x, then y, then z
        - velocity (-10000 … 10000 m/s): of all of them
        """
        return self._command("particles_fill", system=system, position=position, size=size, spacing=spacing,
                             rotation=rotation, velocity=velocity)

    def joint_gear(self, joint: int, axis: int, leader: Whole = None, leader_axis: Whole = None, ratio: Real = None,
                   offset: Real = None):
        """Make the coordinate of an axis of a joint follow that of another axis, or no longer. Raises Refused.

        - joint: the joint whose axis follows
        - axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z
        - leader: the joint that it follows, also the same one; 0: it follows none, and the rest is ignored
        - leader_axis: the leader's axis
        - ratio (-1000000 … 1000000): coordinate = ratio x the leader's + offset, in m and rad
        - offset (-1000000 … 1000000 m, rad): coordinate where the leader's is 0; what is missing closes at
          contact.push_speed at most
        """
        return self._command("joint_gear", joint=joint, axis=axis, leader=leader, leader_axis=leader_axis,
                             ratio=ratio, offset=offset)

    def particles_meet(self, system: int, other: int, thickness: Real = None, friction: Real = None):
        """Set whether the linked particles of two systems meet each other: cloth on cloth, a rope over a cloth,
        jelly on it. Raises Refused.

        - system: a system; no fluid, without forces and collisions between its particles
        - other: another one, likewise; a system meets at most 8 others
        - thickness (0 … 100 m): least distance of the centres of two of their particles; at least 0.87 of the
          longest edge of both closes them for each other; 0: they do not meet
        - friction (0 … 10): between them
        """
        return self._command("particles_meet", system=system, other=other, thickness=thickness,
                             friction=friction)

    def particles_limit(self, system: int, stretch: float):
        """Limit the elongation of a system's links: in each sub-step until none is longer, with tethers to what
        holds the system. Raises Refused.

        - system: the system
        - stretch (0 … 1): largest relative elongation of rods and ropes, also of compliant ones; at least
          0.001; 0: none, links are corrected once a sub-step
        """
        return self._command("particles_limit", system=system, stretch=stretch)

    def carry(self, body: int, a: int, b: int, c: Whole = None, d: Whole = None):
        """Let points carry a body: its place is theirs, and what touches it pushes them. Raises Refused.

        - body: a dynamic body of a planar world, without joints; its mass does not count while points carry it
        - a: a dynamic body of which the mass centre is the point; several bodies may share it
        - b: another one
        - c: a third one; 0: none
        - d: a fourth one; 0: none
        """
        return self._command("carry", body=body, a=a, b=b, c=c, d=d)

    def uncarry(self, body: int):
        """Let a body move by its own mass again. Raises Refused.

        - body: a body that points carry
        """
        return self._command("uncarry", body=body)

    def particles_sink(self, system: int, sink: int, region: Optional[Union[int, str]] = None,
                       position: Optional[Vector] = None, size: Optional[Vector] = None, radius: Real = None,
                       rotation: Optional[Rotation] = None, body: Whole = None):
        """Make a sink of a system, set it anew, or remove it: a region or a body that takes the system's
        particles away; those that it took are counted. Raises Refused.

        - system: the system
        - sink: number of the sink within the system
        - region: 0 none: the sink is removed; 1 ball; 2 box; 3 body: all that is nearer to `body` than
          `radius`, or in it
        - position (-1000000 … 1000000 m): centre of a ball or box, in the axes of `body` if that is given
        - size (0 … 1000000 m): of a box: its lengths, above 0
        - radius (0 … 1000000 m): of a ball, or around a body, above 0
        - rotation: of a box, its axes to those of the world or of `body`
        - body: carries a ball or box, 0: none does; or is the sink itself. The sink goes with it
        """
        return self._command("particles_sink", system=system, sink=sink, region=region, position=position,
                             size=size, radius=radius, rotation=rotation, body=body)

    def joint_armature(self, joint: int, axis: int, armature: Real = None):
        """Set the inertia of the rotor that turns with an axis of a joint. Raises Refused.

        - joint: the joint
        - axis: its axis: 0, 1, 2 along, 3, 4, 5 about x, y, z; not of a spherical joint
        - armature (0 … 1e+18 kg m2, kg): at the axis, so the rotor's own times the square of its gear; kg of an
          axis along; 0: there is none
        """
        return self._command("joint_armature", joint=joint, axis=axis, armature=armature)
