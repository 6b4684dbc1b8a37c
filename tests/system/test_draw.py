"""`cairn draw`: what a picture shows is where the bodies are, from a scene, a recording and a world."""
import csv
import json
import math
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from support import BUILD, SEEDLESS, Cli, cairn, daemon

SVG = "{http://www.w3.org/2000/svg}"
SCENE = """
world: { name: pile, rate: 60, planar: true, gravity: [0, -1, 0], method: lcp }
shapes:
  ground: { kind: polygon, points: [[-30, -1], [30, -1], [30, 0], [-30, 0]] }
  brick: { kind: polygon, points: [[-0.499, -0.125], [0.499, -0.125], [0.499, 0.125], [-0.499, 0.125]] }
  coin: { kind: polygon, points: [[-0.1, -0.1], [0.1, -0.1], [0, 0.1]], radius: 0.1 }
prototypes: { brick: { shape: brick, mass: 1, friction: 0 } }
bodies:
  - { shape: ground, status: static, friction: 0 }
  - { like: brick, at: [0, 0.125, 0] }
  - { like: brick, at: [-0.5, 0.375, 0] }
  - { like: brick, at: [0.5, 0.375, 0] }
  - { like: brick, at: [-1, 0.625, 0] }
  - { like: brick, at: [0, 0.625, 0] }
  - { like: brick, at: [1, 0.625, 0], colour: 0x123456 }
  - { shape: coin, at: [2.5, 0.2, 0], mass: 1, friction: 0 }
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "pile.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return path


def run(*words):
    return subprocess.run([str(BUILD / "cairn"), *map(str, words)], capture_output=True, text=True, check=False, env=SEEDLESS)


def draw(*words):
    done = run("draw", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(text):
    """The pictures of a sheet."""
    return [svg for svg in ElementTree.fromstring(text).iter(SVG + "svg") if svg.get("x") is not None]


def labels(text):
    return [element.text for element in ElementTree.fromstring(text).iter(SVG + "text")]


def places(cell):
    """Body index → x, y in pixels and degrees."""
    found = {}
    for use in cell.iter(SVG + "use"):
        numbers = [float(x) for x in re.findall(r"[-0-9.]+", use.get("transform"))]
        found[int(use.get("href").split("-")[1])] = numbers
    return found


def simulated(scene, folder, ticks, method="lcp"):
    poses = folder / f"poses-{ticks}.csv"
    done = subprocess.run([str(BUILD / "cairnd"), "run", str(scene), "--method", method, "--ticks", str(ticks), "--poses", str(poses)],
                          capture_output=True, text=True, check=True, env=SEEDLESS)
    assert json.loads(done.stdout)["ticks"] == ticks
    with poses.open(encoding="utf-8") as file:
        return [(float(b["px"]), float(b["py"]), math.degrees(2 * math.atan2(float(b["qz"]), float(b["qw"])))) for b in csv.DictReader(file)]


def test_each_picture_shows_every_body_where_it_is(scene, tmp_path):
    text = draw(scene, "--pictures", 3, "--ticks", 60)
    assert labels(text) == ["tick 0, 0.00 s", "tick 30, 0.50 s", "tick 60, 1.00 s"]
    pictures = [places(cell) for cell in cells(text)]
    assert [len(p) for p in pictures] == [8, 8, 8]
    # One scale and one origin for all: from two bodies of the first picture.
    (x2, y2, _), (x8, y8, _) = pictures[0][1], pictures[0][7]
    scale = (x8 - x2) / 2.5
    assert y2 - y8 == pytest.approx(0.075 * scale, abs=0.02)
    for picture, ticks in zip(pictures, (0, 30, 60)):
        for index, (x, y, degrees) in enumerate(simulated(scene, tmp_path, ticks)):
            if index > 0:
                assert picture[index] == pytest.approx([x2 + scale * x, y2 - scale * (y - 0.125), -degrees], abs=0.03)


def test_shapes_have_their_size_and_colour(scene):
    text = draw(scene, "--pictures", 1)
    shapes = {g.get("id"): g for g in ElementTree.fromstring(text).iter(SVG + "g")}
    corners = [tuple(map(float, p.split(","))) for p in shapes["s0-6"].find(SVG + "polygon").get("points").split()]
    radius = float(shapes["s0-7"].find(SVG + "polygon").get("stroke-width")) / 2
    assert shapes["s0-6"].get("fill") == "#123456"
    assert max(x for x, _ in corners) / radius == pytest.approx(0.499 / 0.1, rel=1e-3)
    assert max(y for _, y in corners) / radius == pytest.approx(0.125 / 0.1, rel=1e-3)


def test_forces_are_those_of_stability(scene):
    text = draw(scene, "--forces", "--touch", 1e-4, "--pictures", 2)
    found = json.loads(run("--json", "stability", scene, "--touch", 1e-4).stdout)
    first, last = cells(text)
    kinds = [line.get("class") for line in first.iter(SVG + "line")]
    rings = [circle for circle in first.iter(SVG + "circle") if circle.get("class") == "break"]
    most = max(c["force"] for c in found["contacts"])
    assert len(rings) == sum(c["breaks"] for c in found["contacts"]) == 4
    assert kinds.count("force") == sum(c["force"] > 1e-6 * most for c in found["contacts"])
    moving = [b for b in found["falling"] if math.hypot(*b["acceleration"]) > 1e-6]
    assert kinds.count("fall") == len(moving) > 0
    # An arrow points along the force and is as long as it is strong.
    tall = max((l for l in first.iter(SVG + "line") if l.get("class") == "force"), key=lambda l: float(l.get("y1")) - float(l.get("y2")))
    assert float(tall.get("x1")) == pytest.approx(float(tall.get("x2")), abs=0.02)
    assert not list(last.iter(SVG + "line"))


def test_an_animation_holds_every_pose_in_the_time_of_the_world(scene, tmp_path):
    text = draw(scene, "--animate", "--ticks", 60)
    cell, = cells(text)
    moves = {int(use.get("href").split("-")[1]): use for use in cell.iter(SVG + "use")}
    turn = [m for m in moves[4].iter(SVG + "animateTransform") if m.get("type") == "rotate"][0]
    values = [float(v) for v in turn.get("values").split(";") if v]
    hold, last = 15, 30  # 0.5 s and 1 s of 30 pictures a second
    assert len(values) == hold + 31 + last
    assert float(turn.get("dur")[:-1]) == pytest.approx(len(values) / 30, abs=1e-3)
    assert values[:hold + 1] == [0] * (hold + 1)
    assert values[-1] == values[-last - 1] == pytest.approx(-simulated(scene, tmp_path, 60)[4][2], abs=0.06)
    assert values[hold + 15] == pytest.approx(-simulated(scene, tmp_path, 30)[4][2], abs=0.06)
    # What does not move is not animated.
    assert not list(moves[0].iter(SVG + "animateTransform"))


def test_methods_are_rows(scene):
    text = draw(scene, "--methods", "gauss,lcp,impact", "--pictures", 2, "--ticks", 20)
    assert labels(text)[::2] == ["gauss, tick 0, 0.00 s", "lcp, tick 0, 0.00 s", "impact, tick 0, 0.00 s"]
    first, _, second, _, third, _ = [places(cell) for cell in cells(text)]
    assert first == second == third
    assert len(cells(draw(scene, "--methods", "gauss,lcp", "--animate", "--ticks", 4))) == 2


def test_a_recording_and_the_past_of_a_world_give_the_same_pictures(scene, tmp_path):
    recording = tmp_path / "pile.cairn"
    run_it = [str(BUILD / "cairnd"), "run", str(scene), "--ticks", "40", "--record", str(recording)]
    assert subprocess.run(run_it, capture_output=True, check=False, env=SEEDLESS).returncode == 0
    of_scene = draw(scene, "--ticks", 40)
    assert draw(recording) == of_scene
    assert labels(draw(recording, "--from", 10, "--to", 30, "--pictures", 2)) == ["tick 10, 0.17 s", "tick 30, 0.50 s"]
    with daemon("--data", str(tmp_path / "data")) as server:
        cli = Cli(server.address)
        cli.text("load", "pile", scene)
        cli.text("step", "pile", 40)
        assert cli.text("draw", "pile") == of_scene
        assert cli.json("record", "pile", "list")["recordings"] == []
        # A body that comes later, and one that goes.
        with cairn.connect(server.address) as client:
            world = client.join("pile")
            world.remove(8)
            world.spawn(shapes=[world.shape(polygon=[[0, 0], [1, 0], [0, 1]])], position=(4, 1, 0), mass=1)
            world.step(2)
        first, last = (places(cell) for cell in cells(cli.text("draw", "pile", "--pictures", 2)))
        assert set(first) - set(last) == {7} and set(last) - set(first) == {8}
        cell, = cells(cli.text("draw", "pile", "--animate"))
        seen = [a.get("values") for a in cell.iter(SVG + "animate") if a.get("attributeName") == "visibility"]
        assert len(seen) == 2 and {v.split(";")[0] for v in seen} == {"visible", "hidden"}


def test_a_long_film_keeps_evenly_spaced_pictures(scene):
    """3600 bricks at 161 ticks are more poses than a film holds."""
    wall = scene.with_name("wall.yaml")
    made = run("scene", "tower", "--kind", "wall", "--count", 45, "--columns", 80)
    wall.write_text(made.stdout.replace("planar: true", "planar: true, method: free"), encoding="utf-8")
    ticks = [int(label.split()[1].rstrip(",")) for label in labels(draw(wall, "--ticks", 160, "--pictures", 3))]
    assert ticks[0] == 0 and ticks == sorted(set(ticks)) and ticks[-1] == 160 and ticks[1] % 2 == 0


def test_what_cannot_be_drawn_is_refused_by_name(scene, tmp_path):
    space = tmp_path / "space.yaml"
    space.write_text(run("scene", "tower", "--space").stdout, encoding="utf-8")
    deep = tmp_path / "deep.yaml"
    deep.write_text(SCENE.replace("[0, 0.625, 0]", "[0, 0.5, 0]"), encoding="utf-8")
    recording = tmp_path / "none.cairn"
    recording.write_bytes(b"nothing")
    for words, said in [((space,), "planar: true"), ((scene, "--methods", "magic"), "magic"), ((scene, "--methods", ","), "separated by commas"),
                        ((scene, "--from", 3), "for recordings"), ((recording,), "none.cairn"), ((recording, "--methods", "lcp"), "for scenes"),
                        ((recording, "--from", "x"), "whole number"), ((scene, "--pictures", 0), "pictures"), ((scene, "--width", 5), "width"),
                        ((deep, "--forces"), "overlap by"), ((scene, "--forces", "--touch", "x"), "must be a number"), ((scene, "--colour", 1), "colour")]:
        done = run("draw", *words)
        assert done.returncode != 0 and said in done.stderr and done.stdout == "", (words, done.stderr)
