"""A method for each command. Written by make_manifest.py; do not edit."""
from typing import Optional, Sequence, Tuple, Union

Vector = Sequence[float]
Rotation = Tuple[float, float, float, float]


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
              velocity: Optional[Vector] = None, angular_velocity: Optional[Vector] = None,
              density: Optional[float] = None, mass: Optional[float] = None, static_friction: Optional[float] = None,
              dynamic_friction: Optional[float] = None, restitution: Optional[float] = None,
              friction_rule: Optional[int] = None, restitution_rule: Optional[int] = None,
              category: Optional[int] = None, mask: Optional[int] = None, group: Optional[int] = None,
              owner: Optional[int] = None, tag: Optional[int] = None, linear_damping: Optional[float] = None,
              angular_damping: Optional[float] = None, flags: Optional[int] = None,
              rolling_friction: Optional[float] = None, spinning_friction: Optional[float] = None,
              friction_axis: Optional[Vector] = None, axis_friction: Optional[float] = None,
              integrator: Optional[Union[int, str]] = None, tolerance: Optional[float] = None,
              substeps: Optional[int] = None, gravity_scale: Optional[float] = None,
              speed_max: Optional[float] = None, angular_speed_max: Optional[float] = None,
              mass_rule: Optional[Union[int, str]] = None, centre: Optional[Vector] = None,
              inertia: Optional[Vector] = None, inertia_rotation: Optional[Rotation] = None,
              friction: Optional[float] = None):
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
        - rolling_friction (0 … 1000 m): greatest torque against rolling, N m for each newton of load; of two
          bodies the larger
        - spinning_friction (0 … 1000 m): the same about the normal
        - friction_axis (-1 … 1): body axes; along it axis_friction replaces the frictions; zero: none
        - axis_friction (0 … 10): Coulomb, along friction_axis, sticking and sliding
        - integrator: 0 automatic, 1 euler, 2 implicit_euler, 3 rk2, 4 rk4, 5 rk45; read by method impact
        - tolerance (0 … 1 m): largest estimated error of its motion in a tick; 0: that of impact.accuracy; read
          by method impact
        - substeps: least number of equal parts of a tick; 0: one; read by method impact
        - gravity_scale (-1000 … 1000): factor of gravity; 0: none
        - speed_max (0 … 10000 m/s): bound of its velocity at both ends of a tick; 0: none
        - angular_speed_max (0 … 10000 rad/s): the same of its angular velocity
        - mass_rule: 0 shapes, 1 centre: it is given, 2 given: centre, inertia and mass
        - centre (-1000000 … 1000000 m): of mass, from the origin, body axes; read with mass_rule 1, 2
        - inertia (0 … 1e+18 kg m2): principal (planar: z); read with mass_rule 2
        - inertia_rotation: principal axes to body axes; read with mass_rule 2
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
                             inertia=inertia, inertia_rotation=inertia_rotation, friction=friction)

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

    def force(self, body: int, force: Vector, point: Optional[Vector] = None, ticks: Optional[int] = None):
        """Apply a constant force for a number of ticks. Raises Refused.

        - body: the body, dynamic
        - force (-1e+12 … 1e+12 N): world axes
        - point (-1000000 … 1000000 m): where, from the mass centre in body axes; moves with the body
        - ticks (ticks): how long; 4294967295 until the body is removed
        """
        return self._command("force", body=body, force=force, point=point, ticks=ticks)

    def torque(self, body: int, torque: Vector, ticks: Optional[int] = None):
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

    def set_material(self, body: int, static_friction: Optional[float] = None,
                     dynamic_friction: Optional[float] = None, restitution: Optional[float] = None,
                     friction_rule: Optional[int] = None, restitution_rule: Optional[int] = None,
                     rolling_friction: Optional[float] = None, spinning_friction: Optional[float] = None,
                     friction_axis: Optional[Vector] = None, axis_friction: Optional[float] = None,
                     friction: Optional[float] = None):
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

    def set_integrator(self, body: int, integrator: Union[int, str], tolerance: Optional[float] = None,
                       substeps: Optional[int] = None):
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

    def set_motion(self, body: int, gravity_scale: float, speed_max: Optional[float] = None,
                   angular_speed_max: Optional[float] = None):
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

    def explode(self, position: Vector, radius: float, impulse: float, core: Optional[float] = None,
                mask: Optional[int] = None, shadow: Optional[Union[int, str]] = None):
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

    def joint_create(self, type: Union[int, str], body_a: int, body_b: int, point_a: Optional[Vector] = None,
                     frame_a: Optional[Rotation] = None, point_b: Optional[Vector] = None,
                     frame_b: Optional[Rotation] = None, place: Optional[int] = None, violated: Optional[int] = None,
                     flags: Optional[int] = None, break_force: Optional[float] = None,
                     break_torque: Optional[float] = None, owner: Optional[int] = None, tag: Optional[int] = None):
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

    def joint_set(self, joint: int, flags: Optional[int] = None, break_force: Optional[float] = None,
                  break_torque: Optional[float] = None, owner: Optional[int] = None, tag: Optional[int] = None):
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

    def joint_axis(self, joint: int, axis: int, mode: Optional[Union[int, str]] = None,
                   lower: Optional[float] = None, upper: Optional[float] = None, restitution: Optional[float] = None,
                   friction: Optional[float] = None, spring: Optional[Union[int, str]] = None,
                   stiffness: Optional[float] = None, damping: Optional[float] = None, rest: Optional[float] = None,
                   spring_limit: Optional[float] = None, motor: Optional[Union[int, str]] = None,
                   target: Optional[float] = None, motor_limit: Optional[float] = None,
                   wave: Optional[Union[int, str]] = None, amplitude: Optional[float] = None,
                   hertz: Optional[float] = None, phase: Optional[float] = None):
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
        - motor: 0 none, 1 holds a velocity, 2 holds a position
        - target (-1000000 … 1000000 m/s, rad/s, m, rad): velocity or position that the motor holds
        - motor_limit (0 … 1e+12 N, N m): greatest force of the motor; 0 any
        - wave: 0 the target is constant, 1 target + amplitude sin(2 pi hertz t + phase); joint_table sets a
          table
        - amplitude (-1000000 … 1000000 m/s, rad/s, m, rad): of the sine
        - hertz (0 … 10000 Hz): of the sine
        - phase (-1000000 … 1000000 rad): of the sine
        """
        return self._command("joint_axis", joint=joint, axis=axis, mode=mode, lower=lower, upper=upper,
                             restitution=restitution, friction=friction, spring=spring, stiffness=stiffness,
                             damping=damping, rest=rest, spring_limit=spring_limit, motor=motor, target=target,
                             motor_limit=motor_limit, wave=wave, amplitude=amplitude, hertz=hertz, phase=phase)

    def joint_targets(self, targets: Sequence):
        """Set the targets of motors of many joints. Raises Refused.

        - targets: [joint, axis, value] each; this ends the axis's sine or table
        """
        return self._command("joint_targets", targets=targets)

    def joint_table(self, joint: int, axis: int, points: Sequence, period: Optional[float] = None):
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

    def field_create(self, kind: Union[int, str], region: Optional[Union[int, str]] = None,
                     position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                     half: Optional[Vector] = None, falloff: Optional[Union[int, str]] = None,
                     strength: Optional[Vector] = None, velocity: Optional[Vector] = None,
                     linear: Optional[float] = None, quadratic: Optional[float] = None,
                     angular: Optional[float] = None, power: Optional[int] = None, core: Optional[float] = None,
                     flags: Optional[int] = None, mask: Optional[int] = None, tag: Optional[int] = None):
        """Make a force field; wakes the bodies in its region. Returns the field's id. Raises Refused.

        - kind: 1 wind, 2 vortex, 3 attractor, 4 drag
        - region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre
        - position (-1000000 … 1000000 m): centre of the field
        - rotation: the field's axes to the world's
        - half (0 … 1000000 m): half sizes of a box; x is the radius of a ball
        - falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box)
        - strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis;
          attractor: x, towards the centre
        - velocity (-10000 … 10000 m/s): of a drag's medium, world axes
        - linear (0 … 1e+12 N s/m): of a drag: force by relative velocity
        - quadratic (0 … 1e+12 N s2/m2): of a drag: force by its square
        - angular (0 … 1000 1/s): of a drag: decay rate of angular velocity
        - power: of an attractor: its force falls with this power of the distance
        - core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at
          the centre
        - flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m
        - mask: bodies whose category has one of these bits feel the field
        - tag: number for the user's own purpose
        """
        return self._command("field_create", kind=kind, region=region, position=position, rotation=rotation,
                             half=half, falloff=falloff, strength=strength, velocity=velocity, linear=linear,
                             quadratic=quadratic, angular=angular, power=power, core=core, flags=flags,
                             mask=mask, tag=tag)

    def field_remove(self, field: int):
        """Remove a force field; wakes the bodies in its region. Raises Refused.

        - field: the field
        """
        return self._command("field_remove", field=field)

    def field_set(self, field: int, kind: Union[int, str], region: Optional[Union[int, str]] = None,
                  position: Optional[Vector] = None, rotation: Optional[Rotation] = None,
                  half: Optional[Vector] = None, falloff: Optional[Union[int, str]] = None,
                  strength: Optional[Vector] = None, velocity: Optional[Vector] = None,
                  linear: Optional[float] = None, quadratic: Optional[float] = None, angular: Optional[float] = None,
                  power: Optional[int] = None, core: Optional[float] = None, flags: Optional[int] = None,
                  mask: Optional[int] = None, tag: Optional[int] = None):
        """Set all properties of a force field; wakes the bodies in its old and new region. Raises Refused.

        - field: the field
        - kind: 1 wind, 2 vortex, 3 attractor, 4 drag
        - region: 0 everywhere, 1 ball, 2 box: a body is in it with its mass centre
        - position (-1000000 … 1000000 m): centre of the field
        - rotation: the field's axes to the world's
        - half (0 … 1000000 m): half sizes of a box; x is the radius of a ball
        - falloff: 0 none, 1 linear to 0 at the border, 2 each component of a wind by itself (in a box)
        - strength (-1e+12 … 1e+12 N): in the field's axes; vortex: around, along and towards its y axis;
          attractor: x, towards the centre
        - velocity (-10000 … 10000 m/s): of a drag's medium, world axes
        - linear (0 … 1e+12 N s/m): of a drag: force by relative velocity
        - quadratic (0 … 1e+12 N s2/m2): of a drag: force by its square
        - angular (0 … 1000 1/s): of a drag: decay rate of angular velocity
        - power: of an attractor: its force falls with this power of the distance
        - core (0.001 … 1000000 m): of an attractor: within about this distance the force falls again, to 0 at
          the centre
        - flags: bit 0: per mass, so strength is in m/s2, linear in 1/s, quadratic in 1/m
        - mask: bodies whose category has one of these bits feel the field
        - tag: number for the user's own purpose
        """
        return self._command("field_set", field=field, kind=kind, region=region, position=position,
                             rotation=rotation, half=half, falloff=falloff, strength=strength,
                             velocity=velocity, linear=linear, quadratic=quadratic, angular=angular,
                             power=power, core=core, flags=flags, mask=mask, tag=tag)
