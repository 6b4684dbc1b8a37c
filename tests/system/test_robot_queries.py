"""Robots in reduced coordinates over the wire: ROBOT, INERTIA and JACOBIAN by Python, asyncio and the CLI."""
import asyncio
import math

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
            assert numpy.array_equal(found[key], value) if key in ("q", "rates", "accelerations", "bias") else found[key] == value
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
