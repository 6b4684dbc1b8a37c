"""Method `pile` by every way to ask: scenes, the CLI, the wire, replay, other methods after it, and the commands of docs/PILES.md."""
import json
import math
import re
import subprocess

import pytest
from support import BUILD, SOURCE, Cli, cairn, daemon
from test_tutorials import Shell, pattern, steps

BOX = SOURCE / "clients" / "scenes" / "pile-box.yaml"
SMALL = """
world: { name: small, rate: 10, gravity: [0, -1, 0], method: pile }
shapes: { ball: { kind: sphere, radius: 0.5 }, ground: { kind: plane }, hill: { kind: box, size: [1, 1, 1] } }
bodies:
  - { shape: ground, status: static, friction: 0 }
  - { shape: hill, status: static, friction: 0, at: [0, 0.2, 0], rotation: { axis: [1, 0.5, 0], degrees: 30 } }
  - { shape: ball, friction: 0, mass: 1, at: [0.1, 2, 0], grid: { count: [2, 2, 2], spacing: 1.1 }, jitter: 0.02 }
"""


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


def run(*words):
    done = subprocess.run([str(BUILD / "cairnd"), "run", *map(str, words)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_world_of_the_server_steps_as_the_batch_run_does(cli, tmp_path):
    scene = tmp_path / "small.yaml"
    scene.write_text(SMALL, encoding="utf-8")
    batch = run(scene, "--ticks", 12)
    assert batch["method"] == "pile" and batch["penetration"]["max"] <= 1e-9 and batch["fallbacks"] == 0
    assert run(scene, "--ticks", 12, "--workers", 3)["hash"] == batch["hash"]
    cli.text("load", "small", scene)
    with cairn.connect(cli.address) as client:
        world = client.join("small")
        world.step(12)
        places = [world.body(b)["position"] for b in range(3, 11)]
        assert all(math.dist(a, b) >= 1 - 1e-9 for i, a in enumerate(places) for b in places[:i])
        assert all(speed == 0 for b in range(3, 11) for speed in world.body(b)["velocity"])
        with pytest.raises(cairn.Refused) as refused:
            world.set_velocity(3, (1, 0, 0))
        assert "velocities" in str(refused.value)
    assert "pile" in cli.text("methods", "small")
    # Another method takes over, and pile takes back.
    cli.text("set", "small", "method", "soft-step")
    cli.text("step", "small", "5")
    cli.text("set", "small", "method", "pile")
    cli.text("step", "small", "5")


@pytest.mark.parametrize("n,steps", [(3, 21), (4, 25), (5, 39), (6, 54)])
def test_boxes_are_filled_in_about_the_steps_of_the_source(n, steps, tmp_path):
    """The papers' table: 27, 64, 125 and 216 spheres, at most 1.5 times its steps, no overlap, none outside."""
    side = 1.25 * n
    text = f"""
world: {{ name: fill, rate: 10, gravity: [0, -1, 0], method: pile, parameters: {{ sleep.time: 0 }} }}
shapes: {{ floor: {{ kind: plane }}, wall: {{ kind: box, size: [0.5, 30, 60] }}, ball: {{ kind: sphere, radius: 0.5 }} }}
bodies:
  - {{ shape: floor, status: static, friction: 0 }}
  - {{ shape: wall, status: static, friction: 0, at: [{-side / 2 - 0.25}, 0, 0], array: {{ count: 2, step: [{side + 0.5}, 0, 0] }} }}
  - {{ shape: wall, status: static, friction: 0, rotation: {{ axis: [0, 1, 0], degrees: 90 }}, at: [0, 0, {-side / 2 - 0.25}], array: {{ count: 2, step: [0, 0, {side + 0.5}] }} }}
  - {{ shape: ball, mass: 1, friction: 0, at: [0, 1, 0], grid: {{ count: [{n}, {n}, {n}], spacing: 1.2 }}, jitter: 0.09 }}
"""
    scene, poses = tmp_path / "fill.yaml", tmp_path / "poses.csv"
    scene.write_text(text, encoding="utf-8")
    ran = run(scene, "--ticks", int(1.5 * steps), "--until", "asleep", "--poses", poses)
    assert ran["stopped"] == "until" and ran["penetration"]["max"] <= 1e-9
    assert ran["fallbacks"] == 0 or n == 6  # a step may use up pile.work, and goes on in the next
    rows = [tuple(map(float, line.split(",")))[1:4] for line in poses.read_text().splitlines()[1:]][5:]
    assert len(rows) == n**3 and all(abs(x) <= side / 2 - 0.5 + 1e-9 and y >= 0.5 - 1e-9 and abs(z) <= side / 2 - 0.5 + 1e-9 for x, y, z in rows)


def test_what_pile_cannot_move_is_refused_at_the_switch(cli, tmp_path):
    scene = tmp_path / "capsules.yaml"
    scene.write_text(SMALL.replace("kind: sphere, radius: 0.5", "kind: capsule, length: 1, radius: 0.2").replace("name: small", "name: capsules")
                     .replace("method: pile", "method: soft-step"), encoding="utf-8")
    cli.text("load", "capsules", scene)
    text, code = cli.error("set", "capsules", "method", "pile")
    assert code == 1 and "a capsule, where pile needs spheres" in text and "body 3" in text
    # A body that a batch is to make has no id yet, so none is named.
    with cairn.connect(cli.address) as client:
        world = client.create("unmade", method="pile")
        rod, ball = world.shape(capsule=(1, 0.2)), world.shape(sphere=0.5)
        spawns = [cairn.pack.given_command("spawn", {"status": 2, "position": (0, 0, 0), "shapes": [[shape]], "static_friction": 0, "dynamic_friction": 0})
                  for shape in (ball, rod)]
        with pytest.raises(cairn.Refused) as refused:
            world.apply(*spawns)
        assert "the body has a capsule" in str(refused.value) and "body 1" not in str(refused.value)


CRATE = """
world: { name: crate, gravity: [0, -9.81, 0], parameters: { sleep.enabled: 0 } }
variables: { size: 0.28 }
materials: { wood: { density: 600, friction: 0.5, restitution: 0.2 } }
shapes:
  floor: { kind: box, size: [3, 0.2, 3] }
  wall: { kind: box, size: [0.2, 4, 2.6] }
  end: { kind: box, size: [3, 4, 0.2] }
  ball: { kind: sphere, radius: $size }
  brick: { kind: box, size: [0.7, 0.3, 0.4] }
prototypes:
  toy: { material: wood, grid: { count: [3, 1, 3], spacing: 0.8 }, jitter: 0.04, colour: [0xD95F4B, 0x4B8BD9] }
bodies:
  - { shape: floor, material: wood, status: static, at: [0, -0.1, 0] }
  - { shape: wall, material: wood, status: static, at: [-1.4, 2, 0], array: { count: 2, step: [2.8, 0, 0] } }
  - { shape: end, material: wood, status: static, at: [0, 2, -1.4], array: { count: 2, step: [0, 0, 2.8] } }
  - { name: balls, like: toy, shape: ball, at: [0, 0.5, 0] }
  - { name: bricks, like: toy, shape: brick, at: [0, 1.4, 0], jitter_degrees: 30, velocity: [0, -1, 0] }
  - { name: lid, shape: brick, material: wood, at: [0.2, 2.8, 0.1], frame: { at: [0, 0.2, 0], rotation: { axis: [0, 1, 0], degrees: 30 } } }
"""


def pack(*words):
    return subprocess.run([str(BUILD / "cairn"), "pack", *map(str, words)], capture_output=True, text=True)


def test_a_scene_is_packed_and_stands_under_other_methods(tmp_path):
    (tmp_path / "crate.yaml").write_text(CRATE, encoding="utf-8")
    told = [json.loads(pack(tmp_path / "crate.yaml", tmp_path / f"{'ab'[n]}.yaml", "--workers", n + 1, "--json").stdout) for n in range(2)]
    assert told[0] == told[1] and (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    assert told[0]["stopped"] == "rest" and told[0]["overlap"] <= 1e-9 and told[0]["moving"] == 19
    assert told[0]["energy"][1] < told[0]["energy"][0]
    # What is at rest stays as it is, materials are as before, and a body has its name.
    again = json.loads(pack(tmp_path / "a.yaml", tmp_path / "again.yaml", "--json").stdout)
    assert again["stopped"] == "rest" and again["energy"][1] <= again["energy"][0] == pytest.approx(told[0]["energy"][1], abs=1e-6)
    text = (tmp_path / "a.yaml").read_text(encoding="utf-8")
    assert "friction: 0.5" in text and "name: balls" in text and "jitter: 0," in text
    # Spheres stand under every method; polyhedra, which do not turn under pile, may tip.
    assert pack(BOX, tmp_path / "box.yaml").returncode == 0
    for method in ("soft-step", "lcp", "projection", "gauss"):
        ran = run(tmp_path / "box.yaml", "--method", method, "--rate", 60, "--ticks", 10)
        assert ran["energy"]["kinetic"] < 1e-2 and ran["penetration"]["max"] < 2e-3, method
    assert run(tmp_path / "a.yaml", "--method", "soft-step", "--ticks", 1)["penetration"]["max"] < 2e-3
    # Another value of a variable makes another heap; `pile` takes its parameters.
    other = json.loads(pack(tmp_path / "crate.yaml", tmp_path / "c.yaml", "--let", "size=0.2", "--set", "pile.box=1", "--json").stdout)
    assert other["stopped"] == "rest" and other["energy"][1] < told[0]["energy"][1]


def test_what_cannot_be_packed_is_refused_by_name(tmp_path):
    (tmp_path / "crate.yaml").write_text(CRATE, encoding="utf-8")
    big = pack(tmp_path / "crate.yaml", tmp_path / "out.yaml", "--let", "size=1.6")
    assert big.returncode == 1 and "overlap by" in big.stderr and "balls" in big.stderr and not (tmp_path / "out.yaml").exists()
    foreign = pack(tmp_path / "crate.yaml", tmp_path / "out.yaml", "--height", "3")
    assert foreign.returncode == 1 and "--height is of drawings" in foreign.stderr
    (tmp_path / "joined.yaml").write_text(CRATE + "joints:\n  - { type: spherical, a: lid, at: [0, 0, 0] }\n", encoding="utf-8")
    joined = pack(tmp_path / "joined.yaml", tmp_path / "out.yaml")
    assert joined.returncode == 1 and "joined.yaml:21" in joined.stderr and "joints" in joined.stderr
    # What would be refused at the end is refused before the first step, as the bodies that overlap here are at the end.
    away = pack(tmp_path / "crate.yaml", tmp_path / "no" / "out.yaml", "--let", "size=1.6")
    assert away.returncode == 1 and "cannot be written" in away.stderr
    awake = pack(tmp_path / "crate.yaml", tmp_path / "out.yaml", "--set", "sleep.enabled=0")
    assert awake.returncode == 1 and "sleep.enabled is 0" in awake.stderr and not (tmp_path / "out.yaml").exists()
    robot = pack(SOURCE / "clients" / "scenes" / "robots" / "crane.xml", tmp_path / "out.yaml")
    assert robot.returncode == 1 and "crane.xml" in robot.stderr and "pile" in robot.stderr and "SVG" not in robot.stderr
    piped = subprocess.run([str(BUILD / "cairn"), "pack", "/dev/stdin", str(tmp_path / "out.yaml")], input=CRATE, capture_output=True, text=True)
    assert piped.returncode == 1 and "read more than once" in piped.stderr
    # What leaves the world's bounds is at rest nowhere, and is told; what falls for ever is told, and written as it is.
    (tmp_path / "edge.yaml").write_text("world: { bounds: { mode: inactive, minimum: [-9, -9, -9], maximum: [9, 9, 9] } }\n"
                                        "bodies: [{ shape: { kind: sphere, radius: 0.5 }, name: stray }]\n", encoding="utf-8")
    edge = pack(tmp_path / "edge.yaml", tmp_path / "out.yaml")
    assert edge.returncode == 0 and "gone: 1 bodies" in edge.stdout and "stray" in edge.stdout
    assert json.loads(pack(tmp_path / "edge.yaml", tmp_path / "out.yaml", "--json").stdout)["gone"] == 1
    (tmp_path / "open.yaml").write_text("bodies: [{ shape: { kind: sphere, radius: 0.5 }, name: stray }]\n", encoding="utf-8")
    open_ = pack(tmp_path / "open.yaml", tmp_path / "out.yaml", "--jumps", "5")
    assert open_.returncode == 0 and "stopped: by --jumps after 5 steps" in open_.stdout and "stray" in open_.stdout


def test_a_scene_with_a_mesh_is_written_only_where_it_loads(tmp_path):
    """Files of meshes are searched beside the written scene. That is found out before bodies move, here those that never part."""
    (tmp_path / "other").mkdir()
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    sides = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    (tmp_path / "cube.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {side}\n" for side in sides))
    text = """
world: { gravity: [0, -1, 0] }
shapes: { cube: { kind: hull, file: cube.obj }, ground: { kind: plane }, wall: { kind: box, size: [1, 9, 9] }, ball: { kind: sphere, radius: 0.5 } }
bodies:
  - { shape: ground, status: static }
  - { shape: cube, at: [9, 1, 0] }
"""
    tight = "  - { shape: wall, status: static, at: [-0.9, 4, 0], array: { count: 2, step: [1.8, 0, 0] } }\n  - { shape: ball, at: [0, 1, 0] }\n"
    (tmp_path / "in.yaml").write_text(text, encoding="utf-8")
    assert pack(tmp_path / "in.yaml", tmp_path / "beside.yaml").returncode == 0
    (tmp_path / "in.yaml").write_text(text + tight, encoding="utf-8")
    assert "overlap by" in pack(tmp_path / "in.yaml", tmp_path / "never.yaml").stderr
    away = pack(tmp_path / "in.yaml", tmp_path / "other" / "out.yaml")
    assert away.returncode == 1 and "cube.obj" in away.stderr and "overlap by" not in away.stderr
    assert not (tmp_path / "never.yaml").exists() and not (tmp_path / "other" / "out.yaml").exists()


def test_materials_and_velocities_of_pieces_are_left_out_while_places_are_sought(tmp_path):
    """Pieces with densities make the scene set velocities once more, behind them."""
    (tmp_path / "in.yaml").write_text("""
world: { gravity: [0, -1, 0] }
shapes: { ball: { kind: sphere, radius: 0.5 }, ground: { kind: plane } }
bodies:
  - { shape: ground, status: static }
  - shapes: [{ shape: ball }, { shape: ball, at: [0, 1, 0] }]
    at: [0, 3, 0]
    velocity: [1, 0, 0]
    angular_velocity: [0, 0, 2]
    pieces: [{ piece: 0, density: 8000, friction: 0.3, restitution: 0.4 }, { piece: 1, density: 100 }]
""", encoding="utf-8")
    done = pack(tmp_path / "in.yaml", tmp_path / "out.yaml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.yaml").read_text(encoding="utf-8")
    assert "density: 8000" in text and "restitution: 0.4" in text and "velocity" not in text
    told = run(tmp_path / "out.yaml", "--ticks", 0)
    assert told["energy"]["kinetic"] == 0


def test_each_command_of_the_page_does_what_it_says(tmp_path):
    for link, target in (("build", BUILD.resolve()), ("clients", SOURCE / "clients"), ("docs", SOURCE / "docs")):
        (tmp_path / link).symlink_to(target)
    shell, ran = Shell(tmp_path), 0
    try:
        for kind, name, rest in steps(SOURCE / "docs" / "PILES.md"):
            assert kind == "run"
            output, status = shell.run(name)
            ran += 1
            assert status == 0 and re.fullmatch(pattern(rest), output), f"$ {name}\n{output}"
    finally:
        shell.end()
    assert ran > 2
