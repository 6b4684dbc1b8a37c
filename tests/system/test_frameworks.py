"""Bricks of nine points as scenes have them (R-02), and which edge of a pair keeps two bodies apart (R-10)."""
import csv
import json
import math
import subprocess

import pytest
import yaml
from support import BUILD, SEEDLESS, SOURCE

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
