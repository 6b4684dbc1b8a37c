"""Robots in reduced coordinates over the wire: ROBOT, INERTIA, JACOBIAN and DYNAMICS by Python, asyncio and the CLI."""
import asyncio
import math
import struct

import pytest
from cairn import aio
from support import SOURCE, Cli, cairn, daemon, refused

ROBOTS = SOURCE / "clients/scenes/robots"
# Two rods (m, kg): a compound pendulum under another one; both hinges are along z.
PENDULUM = """
world: { name: pendulum, gravity: [0, -9.81, 0] }
shapes: { rod: { kind: box, size: [0.1, 1, 0.1] } }
bodies:
  - { name: upper, shape: rod, at: [0, -0.5, 0], mass: 2 }
  - { name: lower, shape: rod, at: [0.5, -1, 0], rotation: [0.7071067811865476, 0, 0, 0.7071067811865476], mass: 3 }
joints:
  - { type: revolute, b: upper, at: [0, 0, 0], axis: [0, 0, 1] }
  - { type: revolute, a: upper, b: lower, at: [0, -1, 0], axis: [0, 0, 1] }
"""


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


@pytest.fixture(scope="module")
def client(cli):
    with cairn.connect(cli.address) as made:
        yield made


def load(cli, client, name, *words):
    cli.text("load", name, *words)
    return client.join(name)


def check_motion(world, body, tolerance=1e-9):
    """M q'' + b = 0 where nothing is a loop; M is symmetric with a positive diagonal."""
    found, mass = world.robot(body), world.inertia(body)
    size = max(map(abs, found["bias"]), default=1) + 1
    assert len(mass) == len(found["rates"]) == len(found["accelerations"]) == sum(len(link[4]) for link in found["links"])
    for i, row in enumerate(mass):
        assert row[i] > 0
        if found["closure_rows"] == 0:
            assert abs(sum(map(float.__mul__, row, found["accelerations"])) + found["bias"][i]) <= tolerance * size
    assert found["regular"]
    return found


def test_a_double_pendulum_is_that_of_the_textbook(cli, client, tmp_path):
    scene = tmp_path / "pendulum.yaml"
    scene.write_text(PENDULUM, encoding="utf-8")
    world = load(cli, client, "pendulum", scene)
    found = check_motion(world, 1)
    assert [link[:4] for link in found["links"]] == [(1, 0, 1, "axes"), (2, 1, 2, "axes")]
    # Inertia of a box about its centre; the lower one is level, a right angle from the upper one.
    turn = [m * (1 + 0.01) / 12 for m in (2, 3)]
    lower = turn[1] + 3 * 0.25
    both = turn[0] + 2 * 0.25 + turn[1] + 3 * (1 + 0.25)
    mass = world.inertia(1)
    assert mass[0][0] == pytest.approx(both, rel=1e-12) and mass[1][1] == pytest.approx(lower, rel=1e-12)
    assert mass[0][1] == mass[1][0] == pytest.approx(lower, rel=1e-12)
    assert found["bias"] == pytest.approx([3 * 9.81 * 0.5] * 2, rel=1e-12)
    assert world.robot(0) == found


def test_robots_of_files_have_their_links_axes_and_loops(cli, client):
    for name, base in (("arm.urdf", False), ("quadruped.xml", True), ("excavator.xml", False)):
        world = load(cli, client, name.split(".")[0], ROBOTS / name)
        whole = world.robot()
        body = whole["links"][-1][0]
        found = check_motion(world, body)
        assert any(link[3] == "base" for link in found["links"]) == base
        assert (found["closure_rows"] > 0) == (name == "excavator.xml")
        assert found["residual"] <= 1e-8 and found["closure_rank"] <= found["closure_rows"]
        place = world.body(body)["position"]
        jacobian = world.jacobian(body, place)
        assert len(jacobian) == 6 and all(math.isfinite(x) for row in jacobian for x in row)


def test_a_jacobian_gives_the_velocity_of_a_point(cli, client):
    world = client.join("pendulum")
    world.step(20)
    found, facts = world.robot(2), world.body(2)
    jacobian = world.jacobian(2, facts["position"])
    speed = [sum(map(float.__mul__, row, found["rates"])) for row in jacobian]
    assert speed == pytest.approx([*facts["velocity"], *facts["spin"]], abs=1e-4)
    assert abs(found["rates"][0]) > 0.1


def test_the_cli_and_asyncio_tell_the_same(cli, client):
    world = client.join("pendulum")
    found = world.robot(1)
    *links, columns = cli.lines("query", "pendulum", "robot", 1)
    assert [link["body"] for link in links] == [1, 2]
    assert columns["bias"] == pytest.approx(found["bias"]) and columns["regular"] == 1
    assert cli.json("query", "pendulum", "inertia", 1)["axes"] == 2
    assert len(cli.json("query", "pendulum", "jacobian", 2, "0,0,0")["entries"]) == 12

    async def ask():
        async with aio.connect(cli.address) as other:
            joined = await other.join("pendulum")
            return await joined.robot(1), await joined.inertia(1), await joined.jacobian(2, (0, 0, 0))
    assert asyncio.run(ask()) == (found, world.inertia(1), world.jacobian(2, (0, 0, 0)))


def test_arrays_have_the_numbers_of_the_tuples(cli, client):
    numpy = pytest.importorskip("numpy")
    for name in ("quadruped.xml", "excavator.xml"):
        world = load(cli, client, "arrays-" + name.split(".")[0], ROBOTS / name)
        world.set_method("lcp")  # joints hold exactly: bodies have the velocities that the rates give
        world.step(10)
        found, plain = world.robot(arrays=True), world.robot()
        body = plain["links"][-1][0]
        for key, value in plain.items():
            assert numpy.array_equal(found[key], value) if key in ("q", "rates", "accelerations", "bias", "forces") else found[key] == value
        mass, place = world.inertia(body, arrays=True), world.body(body)["position"]
        assert (mass == mass.T).all() and mass.tolist() == world.inertia(body)
        rows = world.jacobian(body, place, arrays=True)
        assert rows.shape == (6, len(mass)) and rows.tolist() == world.jacobian(body, place)
        # A robot moves with the kinetic energy of its bodies.
        own = world.robot(body, arrays=True)
        assert 0.5 * own["rates"] @ mass @ own["rates"] == pytest.approx(world.totals()[0], rel=1e-6)

    async def ask():
        async with aio.connect(cli.address) as other:
            joined = await other.join("arrays-excavator")
            return await joined.robot(arrays=True), await joined.inertia(body, arrays=True)
    state, matrix = asyncio.run(ask())
    assert (state["q"] == found["q"]).all() and (matrix == mass).all()


def bodies_of(world):
    """One body of each robot of a world: its links hang on none that came before."""
    links = world.robot()["links"]
    parents = {body: parent for body, parent, *_ in links}
    return [body for body, parent, joint, *_ in links if parent == 0 and (joint != 0 or body in parents.values())]


def test_forces_and_accelerations_are_those_of_each_other(cli, client):
    """tau = M q'' + b, and back, of several robots in one question and in one each; loops take accelerations that they can have."""
    for name in ("arm.urdf", "quadruped.xml", "humanoid.xml", "excavator.xml"):
        world = load(cli, client, "dynamics-" + name.split(".")[0], ROBOTS / name)
        world.step(40)  # they move
        robots = bodies_of(world)
        sizes = [len(world.robot(body)["rates"]) for body in robots]
        wanted = [math.sin(1 + 7 * i) for i in range(sum(sizes))]
        inverse = world.inverse_dynamics(robots, wanted)
        forces = [force for one in inverse for force in one["forces"]]
        forward = world.forward_dynamics(robots, forces)
        assert [len(one["accelerations"]) for one in forward] == sizes and all(one["regular"] for one in forward)
        at = 0
        for body, one, back in zip(robots, inverse, forward):
            state, own = world.robot(body), wanted[at:at + len(one["forces"])]
            loops = state["closure_rows"] > 0
            assert world.inverse_dynamics([body], own) == [one] and world.inverse_dynamics([body])[0]["forces"] == state["bias"]
            assert world.forward_dynamics([body])[0]["accelerations"] == state["accelerations"]
            if len(own) <= 96:
                for row, bias, force in zip(world.inertia(body), state["bias"], one["forces"]):
                    size = 1 + abs(bias) + sum(map(abs, row))
                    assert sum(map(float.__mul__, row, own)) + bias == pytest.approx(force, abs=1e-11 * size)
            if loops:
                # These accelerations open the loops, which tells the residual; those found by forward dynamics do not.
                assert one["residual"] > 1e-3 and back["residual"] < 1e-8
                assert world.inverse_dynamics([body], back["accelerations"])[0]["residual"] < 1e-8
                assert (back["closure_rows"], back["closure_rank"]) == (state["closure_rows"], state["closure_rank"])
            else:
                assert back["accelerations"] == pytest.approx(own, abs=1e-7) and one["residual"] == back["residual"] == 0
            at += len(own)


def test_a_robot_that_is_held_still_bears_only_its_weight(cli, client, tmp_path):
    """The forces that hold a pendulum do not depend on how fast it, and the body on which it hangs, move."""
    scene = tmp_path / "swing.yaml"
    scene.write_text(PENDULUM.replace("joints:\n", """  - { name: post, status: animated, shape: rod, at: [0, 3, 0], velocity: [1, 0, 0] }
joints:
""").replace("{ type: revolute, b: upper,", "{ type: revolute, a: post, b: upper,").replace("mass: 2 }", "mass: 2, angular_velocity: [0, 0, 3] }"), encoding="utf-8")
    world = load(cli, client, "swing", scene)
    [held], [moving] = world.inverse_dynamics([1], still=True), world.inverse_dynamics([1])
    assert held["forces"] == pytest.approx([3 * 9.81 * 0.5] * 2, rel=1e-12)
    assert max(abs(a - b) for a, b in zip(held["forces"], moving["forces"])) > 0.1
    rest = world.forward_dynamics([1], held["forces"], still=True)[0]["accelerations"]
    assert rest == pytest.approx([0, 0], abs=1e-12)


def test_questions_about_dynamics_that_have_no_answer_are_refused(client):
    world = client.join("pendulum")
    number = cairn.manifest.QUERY["dynamics"]
    for ask, status, field in ((lambda: world.inverse_dynamics([]), "range", "bodies"), (lambda: world.inverse_dynamics([0]), "unknown_body", "bodies"),
                               (lambda: world.inverse_dynamics([77]), "unknown_body", "body"), (lambda: world.forward_dynamics([1], [1.0]), "range", "values"),
                               (lambda: world.forward_dynamics([1], [1.0] * 3), "range", "values"), (lambda: world.forward_dynamics([1] * 1025), "range", "bodies"),
                               (lambda: world.forward_dynamics([1, 1], [1.0] * 3), "range", "values"), (lambda: world.forward_dynamics([1], [1e16, 0.0]), "range", "values"),
                               (lambda: world.query(number, b"\1\0\0\0\1"), "range", "bodies"), (lambda: world.query(number, b"\1\0\0\0", 2), "range", "inverse")):
        with pytest.raises((cairn.Refused, cairn.BadNumber)) as why:
            ask()
        assert (why.value.status, why.value.field) == (status, field)
    for bad in (math.nan, math.inf):
        with pytest.raises(cairn.BadNumber):
            world.forward_dynamics([1], [0.0, bad])
        with pytest.raises(cairn.Refused) as why:
            world.client.ask("answer", "query", world.number, [number, struct.pack("<I", 1), 0, struct.pack("<2d", 0, bad)])
        assert (why.value.status, why.value.field) == ("not_finite", "values")
    # The same robot may be asked for as often as the answer has room.
    assert len(world.inverse_dynamics([1] * 1024)) == 1024


def test_dynamics_by_arrays_asyncio_and_the_cli_are_the_same(cli, client):
    world = client.join("pendulum")
    bodies, forces = [1, 2], [0.5, -1.0, 2.0, 0.25]
    found = world.forward_dynamics(bodies, forces)
    lines = cli.lines("query", "pendulum", "dynamics", "1,2", "0.5,-1,2,0.25")
    assert [tuple(line["values"]) for line in lines] == [one["accelerations"] for one in found]
    still = cli.json("query", "pendulum", "dynamics", "1", "--inverse", "--still")
    assert tuple(still["values"]) == world.inverse_dynamics([1], still=True)[0]["forces"] and still["regular"] == 1
    for words in (("1,x",), ("1.5",), ("1", "2,,3"), ("0",)):
        assert cli.run("query", "pendulum", "dynamics", *words).returncode == 1

    async def ask():
        async with aio.connect(cli.address) as other:
            joined = await other.join("pendulum")
            return await joined.forward_dynamics(bodies, forces), await joined.inverse_dynamics([1], still=True)
    assert asyncio.run(ask()) == (found, world.inverse_dynamics([1], still=True))
    numpy = pytest.importorskip("numpy")
    arrays = world.forward_dynamics(numpy.array(bodies), numpy.array(forces), arrays=True)
    assert all((a["accelerations"] == b["accelerations"]).all() for a, b in zip(arrays, found))


def test_bodies_without_a_robot_are_refused(client):
    world = client.join("pendulum")
    for ask in (lambda: world.robot(77), lambda: world.inertia(77), lambda: world.jacobian(0, (0, 0, 0))):
        with pytest.raises(cairn.Refused, match="body"):
            ask()


def test_the_work_of_loops_counts_against_the_quota(cli, client, tmp_path):
    """255 closures cost a world some ten milliseconds: an observer, who has 120 queries a second, cannot ask that often."""
    (tmp_path / "net.yaml").write_text("""
bodies:
  - { name: c, shape: { kind: sphere, radius: 0.1 }, array: { count: 256, step: [0.3, 0, 0] } }
joints:
  - { type: distance, chain: c, at_a: [0, 0, 0], at_b: [0, 0, 0] }
""")
    load(cli, client, "net", str(tmp_path / "net.yaml"))
    with cairn.connect(cli.address, role="observer") as observer:
        world = observer.join("net")
        assert world.robot(1)["closure_rows"] == 255
        with refused("busy"):
            for _ in range(20):
                world.robot(1)
