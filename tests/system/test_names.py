"""Names of bodies and joints, and the view of a robot by the names of its axes."""
import asyncio
import math

import pytest
from cairn import aio
from support import SOURCE, Cli, cairn, daemon

ROBOTS = SOURCE / "clients/scenes/robots"
SCENE = """
world: { names: true }
shapes: { rod: { kind: box, size: [0.1, 1, 0.1] } }
bodies:
  - { name: upper, shape: rod, at: [0, -0.5, 0], mass: 2 }
  - { name: "lower", shape: rod, at: [0, -1.5, 0], mass: 3 }
  - { name: bead, shape: { kind: sphere, radius: 0.1 }, at: [5, 0, 0], array: { count: 2, step: [1, 0, 0] } }
  - { shape: rod, at: [9, 0, 0] }
joints:
  - { type: revolute, name: shoulder, b: upper, at: [0, 0, 0], axis: [0, 0, 1] }
  - { type: revolute, name: elbow, a: upper, b: "lower", at: [0, -1, 0], axis: [0, 0, 1], motor: { position: 0.5, limit: 200 } }
  - { type: distance, name: link, chain: bead, at_a: [0, 0, 0], at_b: [0, 0, 0] }
"""


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


@pytest.fixture(scope="module")
def client(cli):
    with cairn.connect(cli.address) as made:
        yield made


@pytest.fixture(scope="module")
def world(cli, client, tmp_path_factory):
    scene = tmp_path_factory.mktemp("names") / "arm.yaml"
    scene.write_text(SCENE, encoding="utf-8")
    cli.text("load", "arm", scene)
    return client.join("arm")


def test_names_of_a_scene_and_of_commands_are_kept_in_every_state_and_change_no_hash(cli, client, world):
    bodies = {1: "upper", 2: "lower", 3: "bead[0]", 4: "bead[1]"}
    joints = {1: "shoulder", 2: "elbow", 3: "link"}
    assert (world.names(), world.joint_names()) == (bodies, joints)
    cli.text("save", "arm", "before")
    before = world.step(0).hash
    cli.text("name", "arm", 5, "loose rod")
    cli.text("name", "arm", 2, "knee", "--joint")
    assert world.step(0).hash == before
    assert world.names() == bodies | {5: "loose rod"} and world.joint_names() == joints | {2: "knee"}
    assert cli.lines("name", "arm")[-1] == {"body": 5, "name": "loose rod"}
    assert cli.lines("name", "arm", "--joint")[1] == {"joint": 2, "name": "knee"}
    cli.text("fork", "arm", "arm-too")
    fork = client.join("arm-too")
    assert fork.names() == world.names() and fork.joint_names() == world.joint_names()
    # Names go with their bodies and joints, and new ones do not get them.
    fork.apply(cairn.command("remove", 2))
    fork.apply(cairn.command("spawn", 2, (0, 9, 0), []))
    assert fork.joint_names() == {1: "shoulder", 3: "link"} and 2 not in fork.names() and len(fork.names()) == 4
    cli.text("restore", "arm", "before")
    assert (world.names(), world.joint_names()) == (bodies, joints)

    async def ask():
        async with aio.connect(cli.address) as other:
            joined = await other.join("arm")
            return await joined.names(), await joined.joint_names()
    assert asyncio.run(ask()) == (bodies, joints)


def test_names_that_cannot_be_are_refused(cli, world):
    for command, status, field in ((("name_body", 99, "x"), "unknown_body", "body"), (("name_joint", 99, "x"), "unknown_joint", "joint")):
        with pytest.raises(cairn.Refused) as why:
            world.apply(cairn.command(*command))
        assert (why.value.status, why.value.field) == (status, field)
    for name in ("", "x" * 32, "\u00e9", "a\nb"):
        with pytest.raises((cairn.Refused, ValueError)):
            world.apply(cairn.command("name_body", 1, name))
    text, code = cli.error("name", "arm", 1, "x" * 40)
    assert code == 1 and "31 bytes" in text
    assert world.names()[1] == "upper"


def test_a_robot_is_seen_by_the_names_of_its_axes(cli, client, world):
    world.step(30)
    view = world.robot_view(2)
    assert view.names == view.q_names == ["shoulder", "elbow"] and view.bodies == {"upper": 1, "lower": 2}
    assert view.axes == [(1, 3), (2, 3)]
    state = world.robot(2)
    assert (view.q, view.qd, view.tau) == (state["q"], state["rates"], state["forces"])
    # Only the motor of the elbow exerts a force along an axis; it is that of inverse dynamics.
    assert abs(view.tau[0]) < 1e-6 * abs(view.tau[1])
    view.target({"elbow": 0.25})
    world.step(240)
    assert view.refresh().q[1] == pytest.approx(0.25, abs=1e-3)
    for name in ("knee", 3):
        with pytest.raises(KeyError):
            view.target({name: 0})
    with pytest.raises(cairn.Refused, match="no motor"):
        view.target({"shoulder": 0})
    held = view.inverse(still=True)
    assert view.forward(held, still=True) == pytest.approx((0, 0), abs=1e-9)


def test_the_forces_of_a_robot_at_rest_are_those_that_hold_it(cli, client):
    """An arm whose motors hold it: tau is the inverse dynamics of rest, under an exact method."""
    text = SCENE.replace("axis: [0, 0, 1] }", "axis: [0, 0, 1], motor: { position: 0.7 } }", 1)
    world = load(cli, client, text, "held")
    world.set_method("lcp")
    world.step(600)
    view = world.robot_view(1)
    assert max(map(abs, view.qd)) < 1e-6
    assert view.tau == pytest.approx(view.inverse(still=True), abs=1e-6)
    assert max(map(abs, view.tau)) > 1


def load(cli, client, text, name):
    import tempfile
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as scene:
        scene.write(text)
        scene.flush()
        cli.text("load", name, scene.name)
    return client.join(name)


def test_robots_of_files_have_the_names_of_their_links_and_joints(cli, client):
    cli.text("load", "dog", ROBOTS / "quadruped.xml")
    world = client.join("dog")
    view = world.robot_view(next(iter(world.names())))
    assert len(view.names) == len(set(view.names)) == 18 and len(view.q_names) == len(view.q) == 19
    assert view.names[:6] == [view.names[0][:-1] + word for word in ("x", "y", "z", "rx", "ry", "rz")]
    assert all("." not in name and not name.startswith("joint") for name in view.names[6:])
    cli.text("load", "man", ROBOTS / "humanoid.xml")
    man = client.join("man")
    view = man.robot_view(next(iter(man.names())), arrays=False)
    assert len(view.names) == len(set(view.names)) == len(view.qd) and len(view.q_names) == len(set(view.q_names)) == len(view.q)
    assert any(name.endswith(".rx") for name in view.names[6:]) and math.isfinite(sum(view.tau))
