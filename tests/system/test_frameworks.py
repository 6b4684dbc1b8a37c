"""Bricks of nine points as scenes have them (R-02), and which edge of a pair keeps two bodies apart (R-10)."""
import csv
import json
import math
import subprocess

import pytest
import yaml
from support import BUILD, SEEDLESS, SOURCE, Cli, cairn, daemon

BRICK = """
world: {{ name: brick, method: gauss }}
include: {parts}
bodies: [{{ name: brick, assembly: brick, variables: {{ a: 1.7, b: 0.6, mass: 1 }} }}]
"""
TIP = """
world: {{ name: tip, planar: true, rate: 60, method: gauss, gravity: [0, {gravity}, 0] }}
shapes:
  slab: {{ kind: polygon, points: [[-2, -1], [2, -1], [2, 0], [-2, 0]] }}
  square: {{ kind: polygon, points: [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] }}
bodies:
  - {{ shape: slab, status: static, friction: 0 }}
  - {{ shape: square, mass: 1, friction: 0, at: [0, {height!r}, 0], rotation: {{ axis: [0, 0, 1], degrees: 45 }} }}
"""


def rank(rows):
    """By elimination with the largest pivot."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = max(range(found, len(rows)), key=lambda i: abs(rows[i][column]), default=None)
        if pivot is None or abs(rows[pivot][column]) < 1e-9:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            part = rows[i][column] / rows[found][column]
            rows[i] = [x - part * y for x, y in zip(rows[i], rows[found])]
        found += 1
        if found == len(rows):
            break
    return found


def test_nine_points_have_the_moments_of_a_brick_and_one_bar_too_many(tmp_path):
    scene = tmp_path / "brick.yaml"
    (tmp_path / "frameworks.yaml").write_text((SOURCE / "clients/scenes/parts/frameworks.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    scene.write_text(BRICK.format(parts="frameworks.yaml"), encoding="utf-8")
    done = subprocess.run([str(BUILD / "cairn"), "convert", str(scene)], capture_output=True, text=True, check=True)
    flat = yaml.safe_load(done.stdout)
    a, b = 1.7, 0.6
    points = {p["name"]: (p["mass"], p["at"][0], p["at"][1] - b) for p in flat["bodies"]}
    assert len(points) == 9 and len(flat["joints"]) == 16
    for power, exact in [((0, 0), 1), ((1, 0), 0), ((0, 1), 0), ((2, 0), a * a / 3), ((1, 1), 0), ((0, 2), b * b / 3), ((2, 2), a * a * b * b / 9)]:
        assert sum(m * x**power[0] * y**power[1] for m, x, y in points.values()) == pytest.approx(exact, abs=1e-12)
    order, rows = sorted(points), []
    for bar in flat["joints"]:
        row = [0.0] * 18
        for end, other in (("a", "b"), ("b", "a")):
            for k in (1, 2):
                row[2 * order.index(bar[end]) + k - 1] = points[bar[end]][k] - points[bar[other]][k]
        rows.append(row)
    assert rank(rows) == 15


def run(scene, ticks, folder):
    poses = folder / "poses.csv"
    done = subprocess.run([str(BUILD / "cairnd"), "run", str(scene), "--ticks", str(ticks), "--poses", str(poses)],
                          capture_output=True, text=True, check=True, env=SEEDLESS)
    with poses.open(encoding="utf-8") as file:
        return json.loads(done.stdout), list(csv.DictReader(file))[1]


def test_a_square_on_its_tip_is_kept_from_a_slab_by_the_slabs_edge(tmp_path):
    """The square's own edges would say that the two overlap by 1.34 m, and push it away."""
    scene, height = tmp_path / "tip.yaml", 0.1 + math.sqrt(0.5)
    scene.write_text(TIP.format(gravity=0, height=height), encoding="utf-8")
    _, square = run(scene, 100, tmp_path)
    assert float(square["py"]) == height and float(square["vx"]) == float(square["vy"]) == float(square["wz"]) == 0
    scene.write_text(TIP.format(gravity=-10, height=height), encoding="utf-8")
    report, square = run(scene, 5, tmp_path)  # falls freely
    assert float(square["py"]) == pytest.approx(height - 10 * (5 / 60)**2 / 2, abs=1e-12)
    report, square = run(scene, 1000, tmp_path)
    assert report["penetration"]["max"] <= 1e-9 and report["residual"] <= 1e-10
    assert float(square["py"]) == pytest.approx(math.sqrt(0.5), abs=1e-9) and float(square["vy"]) == 0


def tower(path, *words):
    done = subprocess.run([str(BUILD / "cairn"), "scene", "tower", *words], capture_output=True, text=True, check=True)
    path.write_text(done.stdout, encoding="utf-8")
    return path


def rigid_motions(scene, folder):
    """By body: what polygons do in the first tick, one solution of it."""
    poses = folder / "motions.csv"
    subprocess.run([str(BUILD / "cairnd"), "run", str(scene), "--method", "gauss", "--set", "gauss.rounds=1", "--ticks", "1", "--poses",
                    str(poses)], capture_output=True, check=True, env=SEEDLESS)
    with poses.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("words", [("--kind", "triangle", "--carried", "nine-points"), ("--kind", "triangle", "--carried", "triangles"),
                                   ("--kind", "diamond", "--count", "5", "--carried", "nine-points"),
                                   ("--kind", "arch", "--count", "7", "--factor", "0.9", "--carried", "triangles")])
def test_pieces_that_points_carry_begin_to_fall_as_rigid_ones(tmp_path, words):
    """The points' velocities, because the framework of one solution has turned along a tangent (R-08)."""
    flat = [word for word in words if word not in ("--carried", "nine-points", "triangles")] + ["--friction", "0"]
    rigid = rigid_motions(tower(tmp_path / "rigid.yaml", *flat), tmp_path)
    scene = tower(tmp_path / "framed.yaml", *words, "--friction", "0")
    with scene.open(encoding="utf-8") as file:
        bodies = yaml.safe_load(file)["bodies"]
    framed = rigid_motions(scene, tmp_path)
    assert len(bodies) == len(framed)
    piece, compared = -1, 0
    for entry, found in zip(bodies, framed):
        if "frame" not in entry:  # a piece, as it is in the other scene
            piece += 1
            own = {key: float(value) for key, value in rigid[piece].items()}
            mine = [other for other in bodies if "frame" in other and other["name"].startswith(entry.get("name", "-") + "p")]
            mass = sum(other["mass"] for other in mine)
            centre = [sum(other["mass"] * other["at"][k] for other in mine) / mass for k in (0, 1)] if mine else None
            continue
        turn = math.radians(entry["frame"].get("rotation", {}).get("degrees", 0))
        x, y = entry["at"][0] - centre[0], entry["at"][1] - centre[1]
        arm = (math.cos(turn) * x - math.sin(turn) * y, math.sin(turn) * x + math.cos(turn) * y)
        assert float(found["vx"]) * 60 == pytest.approx((own["vx"] - own["wz"] * arm[1]) * 60, abs=1e-9)
        assert float(found["vy"]) * 60 == pytest.approx((own["vy"] + own["wz"] * arm[0]) * 60, abs=1e-9)
        compared += 1
    assert piece + 1 == len(rigid) and compared >= 5 * 6


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


def test_what_carries_is_told_by_all_clients_and_kept_in_every_state(cli):
    cli.text("load", "bricks", SOURCE / "clients/scenes/bricks.yaml")
    with cairn.connect(cli.address) as client:
        world = client.join("bricks")
        carried = world.carriers()
        assert len(carried) == 7 and sorted(len(points) for _, points, _ in carried) == [3] + [4] * 6
        assert all(off <= 1e-12 for _, _, off in carried)
        assert [line["body"] for line in cli.lines("query", "bricks", "carriers")] == [body for body, _, _ in carried]
        cli.text("save", "bricks", "before")
        cli.text("step", "bricks", 20)
        body, points, _ = carried[0]
        assert max(off for _, _, off in world.carriers()) <= 1e-8
        assert world.carriers(body)[0][1] == points and world.carriers(points[0]) == [] and len(world.carriers(first=5)) == 2
        cli.text("fork", "bricks", "bricks-too")
        assert cli.json("step", "bricks", 20)["hash"] == cli.json("step", "bricks-too", 20)["hash"]
        with pytest.raises(cairn.Refused, match="carry body"):
            world.apply(cairn.command("impulse", body, (1, 0, 0)))
        world.apply(cairn.command("uncarry", body))
        assert len(world.carriers()) == 6
        with pytest.raises(cairn.Refused, match="no points carry"):
            world.apply(cairn.command("uncarry", body))
        cli.text("restore", "bricks", "before")
        assert world.carriers() == carried
        with pytest.raises(cairn.Refused, match="uncarry the world's 7"):
            world.apply(cairn.command("method", "lcp"))


def test_a_fall_of_frameworks_is_recorded_and_replayed(tmp_path):
    for command in (["cairnd", "run", SOURCE / "clients/scenes/bricks.yaml", "--ticks", "40", "--record", tmp_path / "bricks.cairn"],
                    ["cairn", "replay", tmp_path / "bricks.cairn", "--verify"]):
        done = subprocess.run([str(BUILD / command[0]), *map(str, command[1:])], capture_output=True, text=True, check=False, env=SEEDLESS)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words, text", [(("--carried", "bars"), "nine-points or triangles"), (("--carried", "triangles", "--space"), "plane"),
                                         (("--carried", "nine-points", "--friction", "0.5"), "--friction 0")])
def test_frameworks_that_no_tower_can_have_are_refused_by_name(words, text):
    done = subprocess.run([str(BUILD / "cairn"), "scene", "tower", *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and text in done.stderr
