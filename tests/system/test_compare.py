"""`cairn compare`: a scene under several methods side by side, its bounds, and its exit status."""
import json
import subprocess
import xml.etree.ElementTree as xml

import pytest
from support import CLIENT, DAEMON, SEEDLESS

SCENE = """
world: { name: drop, rate: 240, parameters: { sleep.enabled: 0 } }
compare: { ticks: 120, methods: [lcp, soft-step] }
bodies:
  - { shape: { kind: plane }, status: static }
  - { name: ball, shape: { kind: sphere, radius: 0.5 }, at: [0, 5, 0], mass: 2 }
expect:
  - { measure: velocity, axis: y, body: ball, value: -4.905, within: 1e-9 }
  - { measure: energy_change, take: largest, at_most: 1e-9 }
"""
# After 120 ticks of 1/240 s: 9.81 / 2 m/s.


def compare(*words):
    done = subprocess.run([CLIENT, "compare", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def scene(tmp_path):
    def write(text):
        path = tmp_path / "scene.yaml"
        path.write_text(text)
        return path
    return write


def test_bounds_that_hold_end_with_0(scene):
    code, out, err = compare(scene(SCENE))
    assert (code, err) == (0, "") and "every bound holds" in out and out.count("holds\n") == 5


def test_the_report_has_every_figure_of_every_method(scene):
    code, out, _ = compare(scene(SCENE), "--json", "--methods", "soft-step,lcp,free")
    report = json.loads(out)
    assert code == 0 and report["holds"] and report["ticks"] == 120 and report["rate"] == 240
    assert [method["method"] for method in report["methods"]] == ["soft-step", "lcp", "free"]
    for method in report["methods"]:
        # In free fall all methods agree; momentum is m g t.
        assert method["divergence"]["largest"] <= 1e-9 and abs(method["energy_change"]["largest"]) <= 1e-12
        assert method["momentum_change"]["last"] == pytest.approx(2 * 9.81 / 2, rel=1e-12)
        assert method["refused"] is None and method["ms"]["max"] >= method["ms"]["median"] > 0
        assert {"penetration", "residual", "fallbacks", "angular_momentum_change", "push_work"} <= set(method)
    assert len(report["bounds"]) == 6


def test_it_makes_the_same_ticks_as_a_run(scene):
    path = scene(SCENE)
    report = json.loads(compare(path, "--json")[1])
    for method in report["methods"]:
        run = subprocess.run([DAEMON, "run", path, "--ticks", "120", "--method", method["method"]],
                             capture_output=True, text=True, timeout=60, env=SEEDLESS)
        assert json.loads(run.stdout.splitlines()[-1])["tick_hash"] == method["tick_hash"]


def test_methods_diverge_where_they_differ(scene):
    # A ball bounces under lcp and not under free, which falls through the floor: by then 9.81/2 - 4.5 m and more.
    code, out, _ = compare(scene(SCENE.replace("ticks: 120", "ticks: 300")), "--json", "--methods", "lcp,free")
    report = json.loads(out)
    assert report["methods"][1]["divergence"]["last"] > 2 and code == 1


def test_a_broken_bound_ends_with_1_and_is_named(scene):
    code, out, _ = compare(scene(SCENE.replace("-4.905", "-4.906")))
    assert code == 1 and "BROKEN" in out and "velocity y of ball (line 8)" in out and "not every bound holds" in out


def test_a_bound_of_other_methods_is_not_asked(scene):
    text = SCENE.replace("value: -4.905, within: 1e-9", "at_most: -99, methods: [projection]")
    code, out, _ = compare(scene(text))
    assert code == 0 and out.count("not asked") == 2


def test_a_method_that_refuses_the_scene_ends_with_1(scene):
    joined = SCENE + "joints: [{ type: fixed, b: ball, at: [0, 5, 0] }]\n"
    code, out, _ = compare(scene(joined.replace("-4.905", "0")), "--methods", "lcp,free")
    assert code == 1 and "refused: " in out and "joints" in out
    code, out, _ = compare(scene(SCENE), "--methods", "gauss")
    assert code == 1 and out.splitlines()[0].endswith("scene.yaml: 120 ticks")


def test_a_property_that_a_method_would_ignore_is_refused_with_line_value_and_remedy(scene):
    rough = SCENE.replace("name: ball,", "name: ball, rolling_friction: 0.02,")
    assert rough != SCENE
    code, out, _ = compare(scene(rough), "--methods", "soft-step,impact,penalty,lcp,projection")
    assert code == 1 and out.count("refused: ") == 4
    for method in ("impact", "penalty", "lcp", "projection"):
        assert (f"rolling_friction is 0.02, which {method} does not support: leave it out, or choose soft-step") in out


@pytest.mark.parametrize("change, words, says", [
    (("at_most: 1e-9", "until: 121, at_most: 1"), (), "scene.yaml:9: tick 121 is after the last tick, 120"),
    (("at_most: 1e-9", "methods: [lpc], at_most: 1"), (), "scene.yaml:9: there is no method 'lpc'"),
    (("body: ball", "body: bal"), (), "scene.yaml:8: body: no body has the name 'bal'; did you mean 'ball'?"),
    (("", ""), ("--methods", "lcp,,free"), "names separated by commas"),
    (("", ""), ("--methods", "lpc"), "there is no method 'lpc'"),
    (("", ""), ("--set", "sleep.enabled=2"), "sleep.enabled"),
    (("", ""), ("--plot", "/nowhere/x.svg"), "/nowhere/x.svg cannot be written"),
])
def test_what_cannot_be_compared_ends_with_2_and_says_why(scene, change, words, says):
    code, out, err = compare(scene(SCENE.replace(*change)), *words)
    assert code == 2 and out == "" and says in err, err


def test_estimated_errors_are_told_of_the_method_that_estimates(scene, tmp_path):
    # A spinning cube that falls on a corner, with and without an accuracy.
    text = SCENE.replace("shape: { kind: sphere, radius: 0.5 }, at: [0, 5, 0]",
                         "shape: { kind: box, size: [1, 0.4, 0.2] }, at: [0, 1, 0], angular_velocity: [3, 2, 1]")
    text = text[:text.index("expect:")] + "expect: [{ measure: impact_error, take: largest, at_most: 1e-4 }]\n"
    words = ("--methods", "lcp,impact", "--set", "impact.accuracy=1e-4", "--plot", tmp_path / "plot.svg")
    code, out, _ = compare(scene(text), *words)
    row, = [line for line in out.splitlines() if line.startswith("impact ")]
    other, = [line for line in out.splitlines() if line.startswith("lcp ")]
    assert code == 0 and "estimate" in out and other.split()[-1] == "-"
    code, out, _ = compare(scene(text), *words[:4], "--json")
    methods = {method["method"]: method for method in json.loads(out)["methods"]}
    assert methods["lcp"]["impact_error"] is None
    assert 0 < methods["impact"]["impact_error"]["largest"] <= 1e-4
    assert float(row.split()[-1]) == pytest.approx(methods["impact"]["impact_error"]["largest"], rel=1e-2)
    assert "estimated error of a part" in (tmp_path / "plot.svg").read_text()
    code, out, _ = compare(scene(text), *words[:2])
    assert code == 0 and "  estimate" not in out


CUBE = ("kind: solid, points: [[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5], "
        "[0.5, -0.5, 0.5], [0.5, 0.5, 0.5], [-0.5, 0.5, 0.5]], triangles: [[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], "
        "[0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]]")
WAYS = f"""
world: {{ name: ways, rate: 60, parameters: {{ sleep.enabled: 0, impact.field_rounds: 4 }} }}
shapes:
  parts: {{ form: parts, {CUBE} }}
  field: {{ form: field, detail: 16, {CUBE} }}
  boxes: {{ form: boxes, detail: 3, {CUBE} }}
bodies:
  - {{ shape: {{ kind: box, size: [20, 1, 4] }}, status: static, at: [0, -0.5, 0] }}
  - {{ name: deep, shape: parts, mass: 1, at: [0, 0.3, 0] }}
  - {{ shape: field, status: static, at: [4, 0.5, 0] }}
  - {{ name: ball, shape: {{ kind: sphere, radius: 0.2 }}, mass: 1, restitution: 0.5, at: [4, 2, 0] }}
  - {{ name: boxes, shape: boxes, mass: 1, at: [8, 1, 0] }}
expect:
  - {{ name: what began deep is out, measure: position, axis: y, body: deep, value: 0.5, within: 1e-6 }}
  - {{ name: what has boxes lies, measure: position, axis: y, body: boxes, value: 0.5, within: 1e-3 }}
  - {{ name: the ball stays on its field, measure: position, axis: y, body: ball, take: least, at_least: 1.19 }}
"""


def test_ways_into_impact_are_counted(scene):
    code, out, err = compare(scene(WAYS), "--methods", "impact", "--ticks", "90")
    assert code == 0, out + err
    line, = [line for line in out.splitlines() if line.startswith("counted by impact: ")]
    counts = dict(pair.split() for pair in line.removeprefix("counted by impact: ").split(", "))
    assert int(counts["met_regions"]) > 0 and int(counts["met_depths"]) > 0 and int(counts["met_parts"]) > 0
    code, out, _ = compare(scene(WAYS), "--methods", "impact", "--ticks", "90", "--json")
    told = json.loads(out)["methods"][0]["impact"]
    assert code == 0 and told["regions_left"] == 0
    assert {name: told[name] for name in counts} == {name: int(value) for name, value in counts.items()}


def test_the_plot_has_a_panel_for_every_figure_and_bound(scene, tmp_path):
    code, _, _ = compare(scene(SCENE), "--plot", tmp_path / "plot.svg")
    root = xml.parse(tmp_path / "plot.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    lines = root.findall(f".//{name}polyline")
    assert code == 0 and len(lines) == 2 * (8 + 2)
    assert all(len(line.get("points").split()) <= 2 * 60 for line in lines)
    assert any(text.text == "velocity y of ball" for text in root.iter(f"{name}text"))
