"""Robots on motors with gains (servos), under every method that has contacts: they sag as their gains say, and stand on rough
ground for a minute."""
import random
import re

import pytest
from support import SOURCE, Cli, cairn, daemon

ROBOTS = SOURCE / "clients/scenes/robots"
METHODS = ("soft-step", "soft-step-reduced", "lcp", "impact")
GAIN = 400
# Three rods in a row, level, each hinged to the one before; the first to the world.
ARM = """
world: { gravity: [0, -9.81, 0], names: true, parameters: { sleep.enabled: 0 } }
shapes: { rod: { kind: box, size: [0.5, 0.1, 0.1] } }
bodies:
  - { name: rod, shape: rod, at: [0.25, 0, 0], mass: 1, mask: 0, array: { count: 3, step: [0.5, 0, 0] } }
joints:
  - { type: revolute, name: base, b: "rod[0]", at: [0, 0, 0], axis: [0, 0, 1], motor: { position: 0.2, stiffness: GAIN, damping: 40 } }
  - { type: revolute, name: middle, a: "rod[0]", b: "rod[1]", at: [0.5, 0, 0], axis: [0, 0, 1], motor: { position: -0.1, stiffness: GAIN, damping: 40 } }
  - { type: revolute, name: end, a: "rod[1]", b: "rod[2]", at: [1, 0, 0], axis: [0, 0, 1], motor: { position: 0.3, stiffness: GAIN, damping: 40 } }
""".replace("GAIN", str(GAIN))


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


@pytest.fixture(scope="module")
def client(cli):
    with cairn.connect(cli.address) as made:
        yield made


def load(cli, client, name, scene, method, rate):
    cli.text("create", name, "--method", method.removesuffix("-reduced"), "--rate", rate)
    cli.text("load", name, scene)
    if method.endswith("-reduced"):
        cli.text("set", name, "soft_step.coordinates" if method.startswith("soft-step") else "articulated.coordinates", 2)
    return client.join(name)


@pytest.mark.parametrize("method", METHODS)
def test_an_arm_sags_until_its_servos_bear_it(cli, client, tmp_path, method):
    """At rest gain (target - q) is the force of inverse dynamics, which is also what the joints exerted."""
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    world = load(cli, client, "arm-" + method, tmp_path / "arm.yaml", method, 120)
    world.step(120 * 5)
    view = world.robot_view(1)
    held = view.inverse(still=True)
    asked = [GAIN * (target - q) for target, q in zip((0.2, -0.1, 0.3), view.q)]
    exact = not method.startswith("soft-step")
    assert asked == pytest.approx(held, abs=1e-6 if exact else 1e-3)
    assert view.tau == pytest.approx(held, abs=1e-6 if exact else 1e-3) and view.tau[0] > 20


# Two wheels; the second one turns three times as fast the other way.
WHEELS = """
world: { gravity: [0, 0, 0], names: true, parameters: { sleep.enabled: 0 } }
shapes: { rod: { kind: box, size: [0.5, 0.1, 0.1] } }
bodies: [{ name: wheel, shape: rod, mass: 1, mask: 0, array: { count: 2, step: [2, 0, 0] } }]
joints:
  - { type: revolute, name: first, b: "wheel[0]", at: [0, 0, 0], axis: [0, 0, 1], motor: { force: 0.1 } }
  - { type: revolute, name: second, b: "wheel[1]", at: [2, 0, 0], axis: [0, 0, 1], gear: { leader: first, ratio: -3 } }
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_gear_is_kept_told_forked_and_ended_by_a_client(cli, client, tmp_path, method):
    (tmp_path / "wheels.yaml").write_text(WHEELS, encoding="utf-8")
    world = load(cli, client, "wheels-" + method, tmp_path / "wheels.yaml", method, 120)
    world.step(120)
    first, second = (world.joint(number) for number in (1, 2))
    gear = second["gears"][3]
    turn = first["coordinates"][3]
    assert second["coordinates"][3] == pytest.approx(-3 * turn, abs=1e-9 if not method.startswith("soft-step") else 1e-4) and turn > 0.1
    assert (gear["leader"], gear["leader_axis"], gear["ratio"], gear["offset"]) == (1, 3, -3, 0) and first["gears"] == [None] * 6
    # I (1 + 9) q'' = 0.1, of which the follower needs 9/10 by a force of -0.03.
    assert gear["force"] == pytest.approx(-0.03, rel=1e-3)
    robot = world.robot_view(1)
    assert len(robot.q) == 2 and robot.tau[0] == pytest.approx(0.1 - 0.09, rel=1e-2)
    world.fork("fork-" + method)
    fork = client.join("fork-" + method)
    fork.step(60)
    world.step(60)
    assert [fork.joint(2)[key] for key in ("coordinates", "force", "torque", "gears")] == [
        world.joint(2)[key] for key in ("coordinates", "force", "torque", "gears")]
    world.apply(cairn.command("joint_gear", 2, 3))
    assert world.joint(2)["gears"][3] is None


@pytest.mark.parametrize("method", METHODS)
def test_a_rotor_is_kept_told_and_forked(cli, client, tmp_path, method):
    """I = 0.52 / 24 kg m2 and the armature turn as one; tau is the motor's, as inverse dynamics with the rotor in M has it."""
    (tmp_path / "rotor.yaml").write_text(WHEELS.replace("motor: { force: 0.1 }", "motor: { force: 0.1 }, armature: 0.3").replace(
        ", gear: { leader: first, ratio: -3 }", ""), encoding="utf-8")
    world = load(cli, client, "rotor-" + method, tmp_path / "rotor.yaml", method, 120)
    world.step(120)
    first, second = (world.joint(number) for number in (1, 2))
    inertia, rate = 0.26 / 12, first["coordinates"][3] * 2
    assert rate == pytest.approx(0.1 / (inertia + 0.3), rel=2e-2)
    assert first["rotors"][3]["armature"] == 0.3 and second["rotors"] == [None] * 6
    assert first["rotors"][3]["force"] == pytest.approx(-0.1 * 0.3 / (inertia + 0.3), rel=1e-4)
    robot = world.robot_view(1)
    assert robot.tau[0] == pytest.approx(0.1, rel=1e-4) and world.inertia(1)[0][0] == pytest.approx(inertia + 0.3)
    assert "armature" in cli.text("query", "rotor-" + method, "joint", "1")
    world.fork("rotor-fork-" + method)
    fork = client.join("rotor-fork-" + method)
    fork.step(60)
    world.step(60)
    assert [fork.joint(1)[key] for key in ("coordinates", "torque", "rotors")] == [
        world.joint(1)[key] for key in ("coordinates", "torque", "rotors")]
    world.apply(cairn.command("joint_armature", 1, 3))
    assert world.joint(1)["rotors"][3] is None


@pytest.mark.parametrize("method", METHODS)
def test_a_quadruped_stands_on_servos_on_rough_ground_for_a_minute(cli, client, method):
    chance = random.Random(4)
    world = load(cli, client, "rough-" + method, ROBOTS / "quadruped.xml", method, 60)
    torso, stone = min(world.names()), world.shape(sphere=0.05)
    world.apply(*(cairn.command("spawn", 1, (0.06 * i, -0.05 + chance.random() * 0.02, 0.06 * k), [(stone,)])
                  for i in range(-8, 9) for k in range(-6, 7)))
    for joint in world.joint_names():
        for axis, facts in enumerate(world.joint(joint)["axes"]):
            if facts["motor"] == "position":
                world.apply(cairn.command("joint_axis", joint, axis, **facts | {"motor_stiffness": 300, "motor_damping": 9}))
    for _ in range(60):
        world.step(60)
        facts = world.body(torso)
        w, x, y, z = facts["rotation"]
        assert facts["position"][1] > 0.35 and 2 * (y * z - w * x) > 0.97  # the torso's z axis points up
    assert max(map(abs, facts["position"][::2])) < 0.05
    assert max(map(abs, world.robot_view(torso).qd)) < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_torques_of_inverse_dynamics_move_an_arm_as_asked(cli, client, tmp_path, method):
    """Computed torque: at each tick the forces of the wanted accelerations, q'' = 8 (goal - q) - 6 q', which ends at the goal."""
    text = re.sub("motor: {[^}]*}", "motor: { force: 0 }", ARM)
    (tmp_path / "arm.yaml").write_text(text, encoding="utf-8")
    world = load(cli, client, "torque-" + method, tmp_path / "arm.yaml", method, 240)
    goal, view = (0.5, -0.4, 0.3), world.robot_view(1)
    assert [axis["motor"] for axis in world.joint(next(iter(world.joint_names())))["axes"] if axis["motor"] != "none"] == ["force"]
    for _ in range(480):
        view.refresh()
        wanted = [8 * (to - q) - 6 * qd for to, q, qd in zip(goal, view.q, view.qd)]
        forces = view.inverse(wanted)
        view.target(dict(zip(view.names, forces)))
        world.step(1)
    view.refresh()
    assert view.tau == pytest.approx(forces, abs=1e-9)
    assert view.q == pytest.approx(goal, abs=0.02)
