"""The command line: every verb, its output for people and as JSON, and its messages when it is
refused."""
import contextlib
import json
import math
import os
import pathlib
import pty
import re
import subprocess

import pytest
from support import (BUILD, CLIENT, DAEMON, SEEDLESS, SOURCE, TOWER, Cli, cairn, command, daemon, frames_to,
                     records, subprocess, write_scene)

BOT = str(BUILD / "cairn-bot")
VERBS = re.findall(r"^VERB\(\w+, (\w+)", (SOURCE / "clients" / "cli" / "verbs.def").read_text(), re.M)
SPHERES = str(SOURCE / "clients" / "scenes" / "spheres.yaml")


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


@pytest.fixture
def world(cli, request):
    """A paused world with a ground and a ball, named after the test."""
    name = request.node.name[5:60].replace("[", "-").replace("]", "")
    cli.text("create", name)
    cli.text("spawn", name, "--shape", "plane:0,1,0,0", "--status", "static")
    cli.text("spawn", name, "--shape", "sphere:0.5", "--at", "0,5,0", "--restitution", "0.5")
    return name


def test_a_created_world_is_listed(cli):
    made = cli.json("create", "listed", "--rate", "120/1", "--gravity", "0,-1,0", "--seed", "4",
                    "--method", "free", "--planar")
    assert (made["name"], made["mode"], made["method"], made["rate_hz"]) == ("listed", "paused", "free", 120)
    assert made in cli.lines("worlds")
    rows = [line.split() for line in cli.text("worlds").splitlines()]
    assert rows[0] == ["number", "name", "mode", "method", "epoch", "tick", "bodies"]
    assert [str(made["world"]), "listed", "paused", "free", "1", "0", "0"] in rows


def test_a_world_can_be_created_running(cli):
    assert cli.json("create", "running", "--running")["mode"] == "running"
    assert cli.json("pause", "running")["mode"] == "paused"
    assert cli.json("resume", "running")["mode"] == "running"
    assert cli.json("speed", "running", "2")["mode"] == "running"
    ticks = [frame["tick"] for frame in cli.lines("watch", "running", "--ticks", "5")]
    assert ticks == sorted(ticks) and len(ticks) == 5


def test_text_and_json_have_the_same_values(cli, world):
    stepped, = records(cli.text("step", world, "0"))
    again = cli.json("step", world, "0")
    assert (int(stepped["tick"]), stepped["hash"]) == (again["tick"], again["hash"])
    assert len(again["hash"]) == 16


def test_spawn_gives_an_id_and_makes_no_tick_in_a_paused_world(cli, world):
    before = cli.json("step", world, "1")["tick"]
    made = cli.json("spawn", world, "--shape", "box:1,2,3", "--at", "3,1,0", "--rotation", "1,0,0,0",
                    "--velocity", "0,0,1", "--density", "500", "--friction", "0.2")
    assert made == {"tick": before, "edit": 1, "id": 3}
    body = cli.json("query", world, "body", 3)
    assert body["mass"] == pytest.approx(500 * 6) and body["status"] == "dynamic"
    assert cli.json("step", world, "0")["tick"] == before


def test_spawn_has_the_frictions_and_the_fast_flag_of_the_command(cli):
    """The state is that of the same body spawned through the Python client, and each option changes it."""
    words = {"--friction": "0.2", "--rolling-friction": "0.01", "--spinning-friction": "0.02", "--friction-axis": "1,0,0.5",
             "--axis-friction": "0.7", "--fast": None}
    fields = {"friction": 0.2, "rolling_friction": 0.01, "spinning_friction": 0.02, "friction_axis": (1, 0, 0.5),
              "axis_friction": 0.7, "flags": 1 | 4}

    def spawned(name, chosen):
        cli.text("create", name)
        cli.text("spawn", name, "--shape", "sphere:0.5", *[part for word in chosen for part in (word, words[word]) if part])
        return cli.json("step", name, 0)["hash"]
    with cairn.connect(cli.address) as client:
        world = client.create("frictions")
        world.spawn(shapes=[world.shape(sphere=0.5)], **fields)
        whole = world.step(0).hash
    assert spawned("frictions-cli", words) == whole
    without = {spawned(f"frictions-without{word}", [other for other in words if other != word]) for word in words}
    assert len(without) == len(words) and whole not in without


def test_spawn_and_set_integrator_choose_how_impact_moves_a_body(cli):
    """By options, by the command, and by the Python client: the same state; the report counts its parts."""
    for name in ("by-options", "by-command"):
        cli.text("create", name, "--method", "impact")
    cli.text("spawn", "by-options", "--shape", "sphere:0.5", "--integrator", "rk4", "--tolerance", "1e-6", "--substeps", "4")
    cli.text("spawn", "by-command", "--shape", "sphere:0.5")
    cli.text("command", "by-command", "set_integrator", "body=1", "integrator=4", "tolerance=1e-6", "substeps=4")
    with cairn.connect(cli.address) as client:
        world = client.create("by-client", method="impact")
        world.spawn(shapes=[world.shape(sphere=0.5)], integrator=4, tolerance=1e-6, substeps=4)
        hashes = {world.step(5).hash, *(cli.json("step", name, 5)["hash"] for name in ("by-options", "by-command"))}
        assert len(hashes) == 1
    (counts,) = [told for told in cli.json("info", "worlds")["worlds"] if told["name"] == "by-options"]
    assert counts["impact_substeps"] >= 5 * 3 and counts["impact_error"] <= 1e-6 and counts["impact_groups"] == 0
    text, code = cli.error("spawn", "by-options", "--shape", "sphere:0.5", "--integrator", "rk3")
    assert code != 0 and "--integrator rk3: it must be automatic, euler, implicit_euler, rk2, rk4 or rk45" in text
    text, code = cli.error("spawn", "by-options", "--shape", "sphere:0.5", "--substeps", "5000")
    assert code != 0 and "1024" in text


def test_remove_removes_the_body(cli, world):
    cli.text("remove", world, 2)
    text, code = cli.error("query", world, "body", 2)
    assert code == 1 and "[unknown_body]" in text


def test_push_adds_momentum(cli, world):
    cli.text("set", world, "gravity", "0,0,0")
    before = cli.json("query", world, "totals")["linear"]
    cli.text("push", world, 2, "0,0,7", "--impulse")
    cli.text("push", world, 2, "60,0,0", "--ticks", "60")
    cli.text("step", world, 60)
    after = cli.json("query", world, "totals")["linear"]
    # Solver velocities are float: six digits.
    assert after[2] - before[2] == pytest.approx(7, rel=1e-4)
    assert after[0] - before[0] == pytest.approx(60, rel=1e-4)


def test_motion_target_and_explode_are_their_commands(cli):
    """The same state by options, by the verbs, and by the Python client."""
    for name in ("told-by-options", "told-by-verbs"):
        cli.text("create", name)
    cli.text("spawn", "told-by-options", "--shape", "sphere:0.5", "--gravity-scale", "0.5", "--speed-max", "3",
             "--angular-speed-max", "2")
    cli.text("spawn", "told-by-verbs", "--shape", "sphere:0.5")
    cli.text("motion", "told-by-verbs", 1, "--gravity-scale", "0.5", "--speed-max", "3", "--angular-speed-max", "2")
    for name in ("told-by-options", "told-by-verbs"):
        cli.text("spawn", name, "--shape", "box:1,1,1", "--at", "5,0,0", "--status", "animated")
        cli.text("target", name, 2, "5.5,0,0", "--rotation", "1,0,0.1,0")
        cli.text("explode", name, "0,-2,0", 900, "--radius", 4, "--core", 1, "--mask", 3, "--shadow")
    with cairn.connect(cli.address) as client:
        world = client.create("told-by-client")
        world.spawn(shapes=[world.shape(sphere=0.5)], gravity_scale=0.5, speed_max=3, angular_speed_max=2)
        box = world.spawn(shapes=[world.shape(box=(1, 1, 1))], position=(5, 0, 0), status="animated")
        world.move_to(box, (5.5, 0, 0), rotation=(1, 0, 0.1, 0))
        world.explode((0, -2, 0), radius=4, impulse=900, core=1, mask=3, shadow="static")
        hashes = {world.step(3).hash, *(cli.json("step", name, 3)["hash"] for name in ("told-by-options", "told-by-verbs"))}
        assert len(hashes) == 1
    assert cli.json("query", "told-by-verbs", "body", 2)["position"] == pytest.approx([5.5, 0, 0])
    text, code = cli.error("explode", "told-by-verbs", "0,0,0", 1, "--radius", 1, "--core", 2)
    assert code != 0 and "core is 2 m: at most radius, which is 1 m" in text
    text, code = cli.error("target", "told-by-verbs", 1, "0,0,0")
    assert code != 0 and "only an animated body has a target" in text


def test_a_platform_is_solid_from_above_only(cli):
    """The same state by an option, by the verb, by the command and by the Python client; a ball passes and lands."""
    names = ("one-way-option", "one-way-verb", "one-way-command")
    for name, option in zip(names, (("--one-way", "0,1,0"), (), ())):
        cli.text("create", name)
        cli.text("spawn", name, "--shape", "box:3,0.4,3", "--status", "static", *option)
        cli.text("spawn", name, "--shape", "sphere:0.3", "--at", "0,-1,0", "--velocity", "0,7,0")
    cli.text("surface", "one-way-verb", 1, "--one-way", "0,0.5,0")
    cli.text("command", "one-way-command", "set_surface", "body=1", "one_way=0,0.2,0")
    with cairn.connect(cli.address) as client:
        world = client.create("one-way-client")
        platform = world.spawn(shapes=[world.shape(box=(3, 0.4, 3))], status="static", one_way=(0, 1, 0))
        ball = world.spawn(shapes=[world.shape(sphere=0.3)], position=(0, -1, 0), velocity=(0, 7, 0))
        hashes = {world.step(120).hash, *(cli.json("step", name, 120)["hash"] for name in names)}
        assert len(hashes) == 1
        assert cli.json("query", names[0], "body", 2)["position"][1] == pytest.approx(0.5, abs=0.01)
        world.set_surface(platform, (0, 0, 0))
        world.set_pose(ball, (0, -1, 0))
        world.set_velocity(ball, (0, 7, 0))
        cli.text("surface", names[0], 1)
        cli.text("command", names[0], "set_pose", "body=2", "position=0,-1,0")
        cli.text("command", names[0], "set_velocity", "body=2", "velocity=0,7,0")
        assert world.step(120).hash == cli.json("step", names[0], 120)["hash"]
        assert cli.json("query", names[0], "body", 2)["position"][1] < -1
    text, code = cli.error("surface", names[1], 1, "--one-way", "0,1e-8,0")
    assert code != 0 and "a direction has at least 1e-06" in text


def test_a_belt_carries_a_box(cli):
    """The same state by an option, by the verb and by the Python client; the box goes along."""
    for name, option in (("belt-option", ("--surface-velocity", "0.5,0,0")), ("belt-verb", ())):
        cli.text("create", name)
        cli.text("spawn", name, "--shape", "box:20,0.4,3", "--status", "static", *option)
        cli.text("spawn", name, "--shape", "box:0.6,0.6,0.6", "--at", "0,0.5,0")
    cli.text("surface", "belt-verb", 1, "--surface-velocity", "0.5,0,0")
    with cairn.connect(cli.address) as client:
        world = client.create("belt-client")
        belt = world.spawn(shapes=[world.shape(box=(20, 0.4, 3))], status="static")
        world.spawn(shapes=[world.shape(box=(0.6, 0.6, 0.6))], position=(0, 0.5, 0))
        world.set_surface(belt, surface_velocity=(0.5, 0, 0))
        hashes = {world.step(120).hash, *(cli.json("step", name, 120)["hash"] for name in ("belt-option", "belt-verb"))}
        assert len(hashes) == 1
    assert cli.json("query", "belt-verb", "body", 2)["velocity"][0] == pytest.approx(0.5, abs=1e-3)
    text, code = cli.error("surface", "belt-verb", 1, "--surface-velocity", "20000,0,0")
    assert code != 0 and "surface_velocity" in text and "10000" in text


def test_a_mover_walks(cli):
    """The same state by the verbs, the generic verb, the Python client and a fork; refusals name body and remedy."""
    man = ("--shape", "capsule:0.6,0.3", "--status", "animated", "--at", "0,0.901,0")
    for name in ("mover-verb", "mover-command"):
        cli.text("create", name)
        cli.text("spawn", name, "--shape", "box:40,1,40", "--at", "0,-0.5,0", "--status", "static")
        cli.text("spawn", name, *man)
    cli.text("mover", "mover-verb", 2, "--step-height", 0.4, "--push-force", 100)
    cli.text("steer", "mover-verb", 2, "1.5,0,0", "--ticks", 60)
    cli.text("command", "mover-command", "set_mover", "body=2", "step_height=0.4", "push_force=100")
    cli.text("command", "mover-command", "steer", "body=2", "velocity=1.5,0,0", "ticks=60")
    with cairn.connect(cli.address) as client:
        world = client.create("mover-client")
        ground = world.spawn(shapes=[world.shape(box=(40, 1, 40))], position=(0, -0.5, 0), status="static")
        body = world.spawn(shapes=[world.shape(capsule=(0.6, 0.3))], position=(0, 0.901, 0), status="animated")
        world.set_mover(body, step_height=0.4, push_force=100)
        world.steer(body, (1.5, 0, 0), ticks=60)
        hashes = {world.step(90).hash, *(cli.json("step", name, 90)["hash"] for name in ("mover-verb", "mover-command"))}
        assert len(hashes) == 1
        state = world.body(body)
        assert state["position"] == pytest.approx((1.5, 0.901, 0), abs=2e-3)
        mover = state["mover"]
        assert mover["on_ground"] and mover["rests"] and mover["ground"] == ground and mover["normal"] == (0, 1, 0)
        assert (mover["step_height"], mover["push_force"], mover["wish"]) == (0.4, 100, (0, 0, 0))
        assert world.body(ground)["mover"] is None
        with pytest.raises(cairn.Refused, match="is a mover.*steer moves it"):
            world.set_velocity(body, (1, 0, 0))
    shown = cli.json("query", "mover-verb", "body", 2)
    assert (shown["on_ground"], shown["ground"], shown["squeezes"]) == (1, 1, 0)
    cli.text("steer", "mover-verb", 2, "0,0,0", "--jump", 4)
    cli.text("step", "mover-verb", 12)
    air = cli.json("query", "mover-verb", "body", 2)
    assert air["on_ground"] == 0 and air["position"][1] == pytest.approx(0.901 + 0.8 - 4.905 * 0.04, abs=1e-3)
    cli.text("fork", "mover-verb", "mover-fork")
    assert cli.json("step", "mover-fork", 40)["hash"] == cli.json("step", "mover-verb", 40)["hash"]
    text, code = cli.error("steer", "mover-verb", 1, "1,0,0")
    assert code != 0 and "body 1 is no mover: set_mover" in text
    text, code = cli.error("mover", "mover-verb", 1)
    assert code != 0 and "must be animated" in text
    text, code = cli.error("mover", "mover-verb", 2, "--slope-degrees", 89)
    assert code != 0 and "slope" in text and "1.5" in text
    cli.text("mover", "mover-verb", 2, "--end")
    assert "on_ground" not in cli.json("query", "mover-verb", "body", 2)

RINK = ([(-8, 0, -2), (-8, 0, 2), (0, 0, -2), (0, 0, 2), (8, 0, -2), (8, 0, 2)], [(0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)])


def test_a_mesh_has_ice_and_a_body_has_pieces(cli):
    """The same state by the verb, by the command and by the Python client; on ice a box slides on."""
    with cairn.connect(cli.address) as client:
        hashes = set()
        for name in ("pieces-verb", "pieces-command", "pieces-client"):
            world = client.create(name)
            rink = world.spawn(shapes=[world.shape(mesh=(*RINK, (1, 1, 2, 2)))], status="static")
            box = world.shape(box=(0.5, 0.5, 0.5))
            for x, z in ((-7, -1), (1, 1)):
                world.spawn(shapes=[(box, (0, 0, 0.3)), (box, (0, 0, -0.3))], position=(x, 0.25, z), velocity=(3, 0, 0))
            if name == "pieces-client":
                world.set_piece(rink, 0, 1, patch=1, static_friction=0, dynamic_friction=0)
                world.set_piece(3, 1, 16 + 4, density=3000, sensor=0)
            elif name == "pieces-verb":
                cli.text("piece", name, rink, 0, "--patch", 1, "--friction", 0)
                cli.text("piece", name, 3, 1, "--density", 3000, "--solid")
            else:
                cli.text("command", name, "set_piece", f"body={rink}", "piece=0", "own=1", "patch=1", "static_friction=0",
                         "dynamic_friction=0")
                cli.text("command", name, "set_piece", "body=3", "piece=1", "own=20", "density=3000")
            hashes.add(world.step(60).hash)
            ice, rubber = (cli.json("query", name, "body", body) for body in (2, 3))
            assert ice["velocity"][0] == pytest.approx(3, abs=1e-6) and rubber["velocity"][0] < 0.01
            assert ice["mass"] == pytest.approx(250) and rubber["mass"] == pytest.approx(500)
            told = world.pieces(rink) + world.pieces(3)
            assert [(one["body"], one["piece"], one["patch"], one["own"]) for one in told] == [(rink, 0, 1, 1), (3, 1, 0, 20)]
            assert (told[0]["static_friction"], told[1]["density"], told[1]["sensor"]) == (0, 3000, 0) and world.pieces(2) == []
            assert world.pieces(rink, first=1) == []
            for one in told:  # which are the arguments of the command
                world.set_piece(**one)
            assert world.pieces(rink) + world.pieces(3) == told
            shown = cli.json("query", name, "pieces", 3)
            assert shown == {"piece": 1, "patch": 0, "own": 20, "sensor": 0, "density": 3000}
        assert len(hashes) == 1
    text, code = cli.error("piece", "pieces-verb", 1, 0, "--patch", 3, "--friction", 0)
    assert code != 0 and "patch is 3" in text
    text, code = cli.error("piece", "pieces-verb", 1, 0, "--friction", "nan")
    assert code != 0


def test_locks_by_option_verb_client_and_scene(cli, tmp_path):
    """One state by an option, the verb, the Python client and a scene; the box moves along x only."""
    for name, option in (("lock-option", ("--locks", "y,z,rx")), ("lock-verb", ())):
        cli.text("create", name)
        cli.text("spawn", name, "--shape", "box:1,1,1", "--at", "0,2,0", *option)
    cli.text("lock", "lock-verb", 1, "y,z,rx")
    scene = tmp_path / "locks.yaml"
    scene.write_text("bodies: [{ shape: { kind: box, size: 1 }, at: [0, 2, 0], locks: y z rx }]\n")
    cli.text("load", "lock-scene", str(scene))
    with cairn.connect(cli.address) as client:
        world = client.create("lock-client")
        world.spawn(shapes=[world.shape(box=(1, 1, 1))], position=(0, 2, 0), locks=2 | 4 | 8)
        hashes = {world.step(60).hash, *(cli.json("step", name, 60)["hash"] for name in ("lock-option", "lock-verb"))}
        assert len(hashes) == 1
    assert cli.json("query", "lock-verb", "body", 1)["position"] == [0, 2, 0]
    cli.json("step", "lock-scene", 60)
    assert cli.json("query", "lock-scene", "body", 1)["position"] == [0, 2, 0]
    cli.text("lock", "lock-verb", 1, "none")
    cli.json("step", "lock-verb", 60)
    assert cli.json("query", "lock-verb", "body", 1)["position"][1] < 0
    text, code = cli.error("lock", "lock-verb", 1, "x,q")
    assert code != 0 and "q" in text and "rx" in text
    text, code = cli.error("spawn", "lock-verb", "--shape", "box:1,1,1", "--locks", "x", "--velocity", "1,0,0")
    assert code != 0 and "velocity" in text


def test_a_sensor_tells_what_it_overlaps(cli):
    """By the CLI and the Python client: the list, and events when a body leaves and comes back."""
    cli.text("create", "sensing", "--gravity", "0,0,0")
    cli.text("spawn", "sensing", "--shape", "box:2,2,2", "--status", "static", "--sensor")
    cli.text("spawn", "sensing", "--shape", "sphere:0.5", "--velocity", "0,6,0")
    cli.text("step", "sensing", 1)
    assert cli.json("query", "sensing", "sensed", 1)["bodies"] == [2]
    assert cli.json("query", "sensing", "sensed", 2)["bodies"] == []
    with cairn.connect(cli.address) as client:
        world = client.join("sensing")
        assert world.sensed(1) == [2]
        world.subscribe(1, events=2**12 | 2**13)
        told = []
        for velocity in ((0, 6, 0), (0, -6, 0)):
            world.set_velocity(2, velocity)
            world.step(60)
            told += [event[1:4] for frame in frames_to(world) for event in frame.events]
        assert told == [("sensor_end", 1, 2), ("sensor_begin", 1, 2)]
        assert world.sensed(1) == [2]
        world.set_filter(1, 1, 2**32 - 1, 0, sensor="off")
        world.step(1)
        assert world.sensed(1) == []
        with pytest.raises(cairn.Refused) as refused:
            world.sensed(99)
        assert refused.value.status == "unknown_body"


def test_a_body_goes_with_another(cli, tmp_path):
    """By options, the Python client and a scene: the same bodies, and the same ones go."""
    scene = tmp_path / "ends.yaml"
    scene.write_text("""
shapes: { ball: { kind: sphere, radius: 0.5 } }
bodies:
  - { name: tank, shape: ball, grid: { count: [2, 1, 1], spacing: [3, 1, 1] } }
  - { shape: ball, at: [0, 2, 0], grid: { count: [2, 1, 1], spacing: [3, 1, 1] }, ends_with: tank }
  - { shape: ball, at: [0, 4, 0], ends_with: "tank[0]" }
""")
    cli.text("load", "ending", scene)
    cli.text("spawn", "ending", "--shape", "sphere:0.5", "--at", "0,6,0", "--ends-with", 1)
    with cairn.connect(cli.address) as client:
        world = client.join("ending")
        world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 8, 0), ends_with=2)
        mine = world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 9, 0), owner=client.session, ends_with_owner=1)
        assert [row["id"] for row in cli.json("step", "ending", 1, "--bodies")["bodies"]] == [1, 2, 3, 4, 5, 6, 7, mine]
        world.remove(1)
        assert [row["id"] for row in cli.json("step", "ending", 1, "--bodies")["bodies"]] == [2, 4, 7, mine]
        with pytest.raises(cairn.Refused) as refused:
            world.spawn(ends_with=4)
        assert refused.value.status == "range"
    cli.text("remove", "ending", 2)
    assert cli.json("step", "ending", 1, "--bodies")["bodies"] == []
    text, code = cli.error("load", "not-ending", write_scene(tmp_path, "ends_with: nobody"))
    assert code != 0 and "no body has the name 'nobody'" in text


def test_a_hit_tells_speed_and_impulse(cli):
    """By the CLI and the Python client: m (1 + e) v once, and only where hit.speed asks for it."""
    cli.text("create", "hitting", "--gravity", "0,0,0")
    cli.text("spawn", "hitting", "--shape", "plane:0,1,0,0", "--status", "static", "--restitution", 0.5)
    cli.text("spawn", "hitting", "--shape", "sphere:0.5", "--position", "1,0.6,2", "--velocity", "0,-6,0",
             "--restitution", 0.5)
    cli.text("fork", "hitting", "not-asking")
    cli.text("set", "hitting", "hit.speed", 1)
    told = []
    for name in ("hitting", "not-asking"):
        with cairn.connect(cli.address) as client:
            world = client.join(name)
            world.subscribe(1, events=2**14)
            world.step(10)
            told += [event for frame in frames_to(world) for event in frame.events]
    [(name, a, b, impulse, fraction, point, normal, child_a, child_b, speed)] = [event[1:11] for event in told]
    assert (name, a, b, child_a, child_b, normal) == ("hit", 1, 2, 0, 0, [0, 1, 0])
    assert impulse == pytest.approx(1000 * math.pi / 6 * 1.5 * 6, rel=1e-3) and speed == pytest.approx(6)
    assert point == pytest.approx([1, 0, 2], abs=0.1) and fraction == 1


def test_set_changes_parameters_method_and_seed(cli, world):
    """A value was stored if setting it again leaves the state hash and another value changes it."""
    for name, value, other in (("soft_step.substeps", "8", "9"), ("seed", "77", "78")):
        hashes = []
        for what in (value, value, other, value):
            copy = f"{world}-{name}-{len(hashes)}"
            cli.text("fork", world, copy)
            cli.text("set", copy, name, what)
            hashes.append(cli.json("step", copy, "0")["hash"])
        assert hashes[0] == hashes[1] == hashes[3] != hashes[2]
    cli.text("set", world, "method", "free")
    assert [w["method"] for w in cli.lines("worlds") if w["name"] == world] == ["free"]


def test_step_prints_bodies_and_totals(cli, world):
    stepped = cli.json("step", world, "10", "--bodies", "--totals")
    assert [row["id"] for row in stepped["bodies"]] == [1, 2]
    assert list(stepped["bodies"][0]) == ["id", "position", "rotation", "velocity", "spin", "status", "asleep", "fast", "sensor"]
    assert stepped["bodies"][0]["status"] == "static" and len(stepped["bodies"][1]["rotation"]) == 4
    assert stepped["kinetic"] > 0 and len(stepped["linear"]) == 3
    table = cli.text("step", world, "0", "--bodies", "--totals").splitlines()
    assert [line.split()[0] for line in table[-3:]] == ["body", "1", "2"]
    assert any(line.startswith("kinetic") for line in table)


@pytest.mark.parametrize("profile", ["exact", "plain"])
def test_watch_checks_every_hash(cli, world, profile):
    cli.text("resume", world)
    frames = cli.lines("watch", world, "--ticks", "10", "--profile", profile)
    assert [frame["hash"] for frame in frames] == ["right"] * 10
    assert all(frame["bodies"] == 2 for frame in frames)
    assert len(cli.text("watch", world, "--ticks", "2", "--profile", profile).splitlines()) == 2
    cli.text("spawn", world, "--shape", "box:1,1,1", "--at", "3,0.5,0")
    touching = cli.text("watch", world, "--ticks", "30", "--contacts", "--profile", profile).splitlines()
    assert touching[0].startswith("epoch")
    assert {line.split()[0] for line in touching} == {"epoch", "contact"}


def test_watch_prints_events(cli, world):
    cli.text("resume", world)
    seen = cli.lines("watch", world, "--ticks", "150", "--events")
    assert {"contact_begin"} <= {item["event"] for item in seen if "event" in item}


def test_watch_of_a_paused_world_says_so(cli, world):
    done = cli.run("--timeout", "4000", "watch", world, "--ticks", "2")
    assert done.returncode == 1 and "paused" in done.stderr


def test_the_environment_says_how_long_an_answer_is_waited_for(cli, world):
    def watch(timeout, *words):
        return subprocess.run([CLIENT, *words, "watch", world, "--ticks", "2"], capture_output=True, text=True, check=False,
                              env={"CAIRN_ADDRESS": cli.address, "CAIRN_TIMEOUT": timeout})
    assert "none within 2001 ms" in watch("2001").stderr
    # The option takes precedence.
    assert "none within 2002 ms" in watch("1", "--timeout", "2002").stderr
    for wrong, said in (("soon", "CAIRN_TIMEOUT is soon"), ("0", "it must be from 1 to 2147483647"),
                        ("2147483648", "it must be from 1 to 2147483647"), ("99999999999", "at most 4294967295")):
        done = watch(wrong)
        assert done.returncode == 1 and said in done.stderr, done
    for seconds, text in ((2.5, "2500"), (10, None)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CAIRN_TIMEOUT", text) if text else patch.delenv("CAIRN_TIMEOUT", raising=False)
            with cairn.connect(cli.address) as client:
                assert client.timeout == seconds
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ValueError, match="CAIRN_TIMEOUT is 0: it must be"):
        patch.setenv("CAIRN_TIMEOUT", "0")
        cairn.connect(cli.address)


def test_queries_answer(cli, world):
    cli.text("step", world, 200)
    hits = cli.lines("query", world, "ray", "0,9,0", "0,-1,0", "20")
    assert [h["body"] for h in hits] == [2, 1]
    assert cli.json("query", world, "overlap", "sphere:0.1", "0,0.5,0") == {"bodies": [2]}
    contact, = cli.lines("query", world, "contacts")
    assert {contact["a"], contact["b"]} == {1, 2}
    assert cli.lines("query", world, "contacts", 2) == [contact]
    force, = cli.lines("query", world, "forces", 2)
    assert abs(force["force"] - 60 * contact["impulse"]) <= 1e-9 * force["force"] and force["known"] == "unique"
    assert cli.lines("query", world, "forces", "--least-norm") == [force]
    totals, ball = cli.json("query", world, "totals"), cli.json("query", world, "body", 2)
    assert totals["kinetic"] == pytest.approx(0.5 * ball["mass"] * sum(v * v for v in ball["velocity"]), abs=1e-3)
    for words in (["ray", "0,9,0", "0,-1,0", "20"], ["contacts"], ["totals"], ["body", "2"]):
        assert records(cli.text("query", world, *words))
    assert cli.text("query", world, "overlap", "sphere:0.1", "0,0.5,0").split() == ["2"]


def test_joints_can_be_queried_and_watched(cli, world):
    cli.text("spawn", world, "--shape", "sphere:0.5", "--at", "3,5,0")
    with cairn.connect(cli.address) as client:
        client.join(world).apply(command("joint_create", "revolute", 2, 3, (1.5, 5, 0), place=1),
                                 command("joint_axis", -1, 3, "limited", lower=-1, upper=1))
    joint, = cli.lines("query", world, "joints")
    assert (joint["type"], joint["a"], joint["b"]) == ("revolute", 2, 3)
    assert cli.lines("query", world, "joints", 1) == [] and cli.lines("query", world, "joints", 3) == [joint]
    whole, *axes = cli.lines("query", world, "joint", 1)
    assert whole["point_a"] == [1.5, 0, 0] and len(axes) == 6
    assert (axes[3]["mode"], axes[3]["upper"], axes[0]["mode"]) == ("limited", 1, "locked")
    assert cli.json("query", world, "linked", 3) == {"bodies": [2, 3]}
    assert "joint" in cli.error("query", world, "joint", 9)[0]
    for words in (["joints"], ["joint", "1"], ["linked", "2"]):
        assert cli.text("query", world, *words)
    cli.text("resume", world)
    seen = cli.lines("watch", world, "--ticks", "5", "--joints")
    assert [line["hash"] for line in seen if "hash" in line] == ["right"] * 5
    assert sum(line.get("type") == "revolute" for line in seen) == 5
    assert "joint 1 revolute 2 3 at" in cli.text("watch", world, "--ticks", "2", "--joints", "--profile", "view")


def test_commands_are_given_field_by_field(cli, world):
    made = cli.json("command", world, "joint_create", "type=2", "body_a=0", "body_b=2", "point_a=0,8,0", "place=1",
                    "frame_a=0.5,0.5,0.5,0.5", "tag=-7", "break_force=1e6")
    assert made["id"] == 1
    cli.text("command", world, "joint_axis", "joint=1", "axis=3", "motor=1", "target=2")
    cli.text("command", world, "joint_targets", "targets=1,3,1.5")
    cli.text("command", world, "joint_table", "joint=1", "axis=3", "points=0,0;1,0.5;2,0", "period=2")
    cli.text("step", world, 30)
    joint, = cli.lines("query", world, "joints")
    assert (joint["id"], joint["type"], joint["a"], joint["b"], joint["tag"]) == (1, "revolute", 0, 2, -7)
    assert joint["coordinates"][3] == pytest.approx(0.5 * 0.5 * 0.5 ** 2, abs=0.01)
    assert cli.lines("query", world, "joints", 2) == [joint] and cli.lines("query", world, "joints", 1) == []
    rows = [line.split() for line in cli.text("query", world, "joints").splitlines()]
    assert rows[0] == ["id", "type", "a", "b", "force", "torque", "coordinates"]
    assert rows[1][:4] == ["1", "revolute", "0", "2"] and len(rows[1]) == 12
    cli.text("command", world, "joint_remove", "joint=1")
    assert cli.lines("query", world, "joints") == []


def test_a_scene_with_joints_loads_as_the_daemon_makes_it(cli, tmp_path):
    """More bodies than a batch takes, so chains span batches."""
    scene = tmp_path / "chains.yaml"
    scene.write_text("world: {name: chains}\n"
                     "bodies:\n  - {name: link, shape: {kind: sphere, radius: 0.1}, array: {count: 5000, step: [0.3, 0, 0]}}\n"
                     "joints:\n  - {type: spherical, chain: link, at_a: [0.15, 0, 0], swing: {limits: [0, 1]}}\n")
    cli.text("load", "chains", scene)
    joints = cli.lines("query", "chains", "joints")
    assert [(j["a"], j["b"]) for j in joints] == [(i, i + 1) for i in range(1, 5000)]
    with daemon("--scene", str(scene), "--paused") as server:
        other = Cli(server.address)
        assert other.json("step", "chains", 0)["hash"] == cli.json("step", "chains", 0)["hash"]


def test_a_refused_joint_of_a_scene_says_its_line(cli, tmp_path):
    scene = tmp_path / "wrong.yaml"
    scene.write_text("bodies: [{name: a, status: static}, {name: b, status: static}]\n"
                     "joints:\n  - {type: fixed, a: a, b: b, at: [0, 0, 0]}\n")
    text, code = cli.error("load", "wrong", scene)
    assert code == 1 and "wrong.yaml:3: neither side is dynamic" in text and "[status_wrong]" in text


def test_a_broken_joint_is_an_event(cli):
    cli.text("load", "door", SOURCE / "clients" / "scenes" / "door.yaml")
    assert len(cli.lines("query", "door", "joints", 2)) == 2
    cli.text("resume", "door")
    events = [line for line in cli.lines("watch", "door", "--ticks", "150", "--events") if "event" in line]
    broken, = [event for event in events if event["event"] == "joint_break"]
    assert (broken["a"], broken["b"], broken["joint"]) == (2, 3, 2) and broken["value"] > 1
    cli.text("pause", "door")
    assert [joint["id"] for joint in cli.lines("query", "door", "joints")] == [1]


def test_restore_returns_to_a_snapshot_and_fork_copies(cli, world):
    saved = cli.json("save", world, "here")
    there = cli.json("step", world, 50)["hash"]
    fork = cli.json("fork", world, world + "-copy", "--snapshot", "here")
    assert fork["hash"] == saved["hash"]
    restored = cli.json("restore", world, "here")
    assert (restored["hash"], restored["epoch"]) == (saved["hash"], saved["epoch"] + 1)
    assert cli.json("step", world, 50)["hash"] == there
    assert cli.json("step", world + "-copy", 50)["hash"] == there
    now = cli.json("fork", world, world + "-now")
    assert now["hash"] == there
    assert records(cli.text("save", world, "again"))[0]["hash"] == there


def test_rollbacks_return_to_states_in_memory(cli, world):
    saved = cli.json("save", world, "then", "--rollback")
    there = cli.json("step", world, 20)["hash"]
    back = cli.json("restore", world, "then", "--rollback")
    assert (back["hash"], back["epoch"]) == (saved["hash"], saved["epoch"] + 1)
    # From the state to 20 ticks later in one step, twice.
    assert cli.json("step", world, 20, "--restore", "then", "--save", "later")["hash"] == there
    assert cli.json("step", world, 20, "--restore", "then")["hash"] == there
    assert cli.json("restore", world, "later", "--rollback")["hash"] == there
    info, = (w for w in cli.json("info", "worlds")["worlds"] if w["name"] == world)
    assert (info["moments"], info["rollbacks"]) == (2, 4) and info["moment_bytes"] > 500
    # They are no snapshots.
    text, code = cli.error("restore", world, "then")
    assert code == 1 and "[unknown_snapshot]" in text


def test_a_scene_has_the_same_history_by_every_way_in(cli):
    """Loaded into a new world, by --scene and by `cairnd run`: the same tick, and the same hash at first and later. A few
    scenes, also under sanitizers; test_same_history.py has all of them and more ways in."""
    scenes = sorted((SOURCE / "clients" / "scenes").glob("*.yaml"))[::8]
    assert len(scenes) > 5
    with daemon(*(word for path in scenes for word in ("--scene", f"same-{path.stem}={path}")), "--paused") as server:
        other = Cli(server.address)
        for path in scenes:
            name = f"same-{path.stem}"
            made = cli.json("load", name, path)
            assert (made["mode"], made["tick"]) == ("paused", 0)
            for ticks in (0, 5):
                loaded, started = (c.json("step", name, ticks) for c in (cli, other))
                assert (loaded["tick"], loaded["hash"]) == (started["tick"], started["hash"]), name
            done = subprocess.run([DAEMON, "run", path, "--ticks", "5"], capture_output=True, text=True, check=True,
                                  env=SEEDLESS)
            assert json.loads(done.stdout)["hash"] == loaded["hash"], name
            cli.text("destroy", name)


LIMITED = """world: {{ method: free, limits: {{ {} }} }}
bodies:
  - {{ shape: {{ kind: sphere, radius: 0.5 }}, at: [0, 5, 0] }}
  - {{ shape: {{ kind: box, size: [1, 1, 1] }}, at: [0, 9, 0] }}
"""


@pytest.mark.parametrize("limit, shape", [("bodies: 2", "sphere:0.5"), ("placements: 2", "sphere:0.5"),
                                          ("shapes: 2", "sphere:0.125"), ("bodies: 3", None)])
def test_the_world_of_a_scene_has_the_limits_of_the_scene(cli, tmp_path, limit, shape):
    """The scene fits exactly; one thing more is refused."""
    scene = tmp_path / "scene.yaml"
    scene.write_text(LIMITED.format(limit))
    name = "limited-" + limit.replace(": ", "-")
    assert cli.json("load", name, scene)["bodies"] == 2
    if shape is None:
        assert cli.json("spawn", name, "--shape", "sphere:0.5")["id"] == 3
    else:
        text, code = cli.error("spawn", name, "--shape", shape)
        assert code == 1 and "limit" in text, text


def test_a_scene_over_its_own_limits_does_not_load(cli, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(LIMITED.format("placements: 1"))
    text, code = cli.error("load", "over", scene)
    assert code == 1 and "limit" in text, text


def test_contacts_over_the_scenes_limit_stop_its_world(cli, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text("world: { limits: { contacts: 2 } }\nbodies:\n" + "".join(
        f"  - {{ shape: {{ kind: sphere, radius: 0.5 }}, at: [{0.9 * i}, 5, 0] }}\n" for i in range(5)))
    cli.text("load", "crowded", scene)
    text, code = cli.error("step", "crowded", 1)
    assert code == 1 and "limit" in text, text


def test_limits_of_a_new_world_are_set_by_name(cli):
    cli.text("create", "bound", "--limit", "bodies=2", "--limit", "joints=3", "--limit", "events=3")
    for x in (0, 3):
        cli.text("spawn", "bound", "--shape", "sphere:0.5", "--at", f"{x},0,0")
    assert "limit" in cli.error("spawn", "bound", "--shape", "sphere:0.5")[0]
    for wrong in ("bodies", "things=3", "events=0", "bodies=x"):
        assert cli.error("create", "no", "--limit", wrong)[1] == 1, wrong


def test_methods_and_parameters_are_listed(cli, world):
    methods = [json.loads(line) for line in cli.text("--json", "methods", world).splitlines()]
    assert {"free", "soft-step", "lcp", "projection", "reflection"} <= {method["name"] for method in methods}
    reflection = next(method for method in methods if method["name"] == "reflection")
    assert "gr-lcp (reflection.core 0)" in reflection["other_names"]
    cli.text("set", world, "soft_step.push_speed", "7")
    parameters = [json.loads(line) for line in cli.text("--json", "parameters", world).splitlines()]
    push = next(parameter for parameter in parameters if parameter["name"] == "contact.push_speed")
    assert (push["value"], push["old_names"]) == (7, "soft_step.push_speed") and "lcp" in push["read_by"].split()
    assert "contact.push_speed" in cli.text("parameters", world)
    assert cli.error("methods")[1] == 2


def test_info_counts(cli, world):
    info = cli.json("info")
    assert set(info) == {"server", "worlds", "refused", "quotas"} and world in [w["name"] for w in info["worlds"]]
    assert set(cli.json("info", "server")) == {"server"}
    assert set(cli.json("info", "worlds")) == {"worlds"}
    assert cli.json("info", "refused") == {"refused": []}
    quotas = cli.json("info", "quotas")["quotas"]
    assert list(quotas) == ["nobody", "observer", "player", "controller", "admin"]
    assert all(quotas["observer"][kind] <= most for kind, most in quotas["admin"].items())
    assert "sessions_opened" in cli.text("info", "server")


def test_destroy_ends_a_world(cli, world):
    cli.text("destroy", world)
    assert world not in [w["name"] for w in cli.lines("worlds")]


def at_a_terminal(words):
    """Runs the words with standard error at a terminal of its own; (output of the terminal,
    standard output, status)."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        text = process.stdout.read()
    return shown.decode(), text, process.returncode


def bars(shown, what):
    """The percentages that bars of `what` showed, in order; the last output removes the bar."""
    assert shown.endswith("\r\x1b[K"), shown
    return [int(percent) for percent in re.findall(what + r" \[[#.]{30}\] +(\d+) %", shown)]


def test_load_shows_a_bar_at_a_terminal_only(cli):
    for running in (False, True):
        name = f"bar-{running}"
        cli.text("create", name, *(["--running"] if running else []))
        shown, text, code = at_a_terminal([CLIENT, "--connect", cli.address, "load", name, SPHERES])
        assert code == 0 and "bodies" in text and "\x1b" not in text
        for what in ("shapes", "bodies"):
            percents = bars(shown, what)
            assert percents[0] == 0 and percents == sorted(set(percents)) and len(percents) > 2
    cli.text("create", "bar-json")
    shown, text, code = at_a_terminal([CLIENT, "--connect", cli.address, "--json", "load", "bar-json", SPHERES])
    assert (shown, code) == ("", 0) and json.loads(text)["bodies"] == 1001
    assert cli.run("load", "bar-False", TOWER).stderr == ""


def test_replay_shows_a_bar_at_a_terminal_only(tmp_path):
    with daemon("--data", str(tmp_path)) as server, server.connect() as client:
        client.create("w").step(500)
    words = [CLIENT, "replay", str(tmp_path / "w.cairn"), "--verify"]
    shown, text, code = at_a_terminal(words)
    percents = bars(shown, "ticks")
    assert code == 0 and "same:" in text
    assert percents == sorted(set(percents)) and percents[-1] == 100 and len(percents) > 50
    shown, text, code = at_a_terminal([CLIENT, "--json", *words[1:]])
    assert (shown, code) == ("", 0) and "same:" in text
    assert subprocess.run(words, capture_output=True, text=True, timeout=120).stderr == ""


def test_help_names_every_verb(cli):
    text = cli.text("help")
    for verb in ("worlds create destroy load spawn remove push set command methods parameters pause resume speed step watch query save "
                 "restore fork info replay help").split():
        assert f"\n  {verb} " in text
    assert cli.text("help", "push").count("\n") == 2
    assert cli.text("--help") == text


REFUSED = [
    (["create", "x y"], "range"),
    (["create", "bad", "--method", "magic"], "unknown_method"),
    (["create", "bad", "--rate", "0/1"], "range"),
    (["create", "bad", "--rate", "60/x"], "type"),
    (["create", "bad", "--gravity", "1,2"], "type"),
    (["step", "nowhere"], "unknown_world"),
    (["destroy", "nowhere"], "unknown_world"),
    (["step", "{w}", "-1"], "type"),
    (["spawn", "{w}", "--shape", "ball:1"], "type"),
    (["spawn", "{w}", "--shape", "sphere:1,2"], "type"),
    (["spawn", "{w}", "--shape", "sphere:-1"], "range"),
    (["spawn", "{w}", "--shape", "hull:0,0,0,1,0,0,2,0,0,3,0,0"], "degenerate"),
    (["spawn", "{w}", "--shape", "sphere:1", "--at", "1,2"], "type"),
    (["spawn", "{w}", "--shape", "sphere:1", "--at", "1e300,0,0"], "range"),
    (["spawn", "{w}", "--shape", "sphere:1", "--rotation", "0,0,0,0"], "range"),
    (["spawn", "{w}", "--shape", "sphere:1", "--status", "asleep"], "range"),
    (["spawn", "{w}", "--shape", "plane:0,1,0,0"], "status_wrong"),
    (["remove", "{w}", "99"], "unknown_body"),
    (["remove", "{w}", "x"], "type"),
    (["push", "{w}", "1", "0,1,0"], "status_wrong"),
    (["push", "{w}", "2", "up"], "type"),
    (["set", "{w}", "no_such", "1"], "unknown_parameter"),
    (["set", "{w}", "soft_step.substeps", "1000"], "range"),
    (["set", "{w}", "method", "magic"], "unknown_method"),
    (["command", "{w}", "magic"], "unknown_command"),
    (["command", "{w}", "set_drag"], "unknown_command"),
    (["command", "{w}", "wake"], "missing"),
    (["command", "{w}", "wake", "body=99"], "unknown_body"),
    (["command", "{w}", "wake", "body=x"], "type"),
    (["command", "{w}", "wake", "who=1"], "unknown_parameter"),
    (["command", "{w}", "force", "body=2", "force=1,2"], "type"),
    (["command", "{w}", "force", "body=2", "force=1,2,3", "ticks=4294967296"], "range"),
    (["command", "{w}", "shape_use", "name=ab"], "type"),
    (["command", "{w}", "joint_table", "joint=1", "axis=3", "points=1,2,3"], "type"),
    (["command", "{w}", "joint_targets", "targets=1,9,2"], "type"),
    (["command", "{w}", "joint_remove", "joint=99"], "unknown_joint"),
    (["query", "{w}", "joints", "99"], "unknown_body"),
    (["speed", "{w}", "0"], "range"),
    (["speed", "{w}", "fast"], "type"),
    (["query", "{w}", "body", "99"], "unknown_body"),
    (["restore", "{w}", "never"], "unknown_snapshot"),
    (["fork", "{w}", "{w}"], "exists"),
    (["fork", "{w}", "copy", "--snapshot", "never"], "unknown_snapshot"),
    (["save", "{w}", "../x"], "range"),
    (["info", "weather"], "range"),
    (["load", "{w}", "/nonexistent.yaml"], None),
    (["--role", "king", "worlds"], "range"),
    (["--role", "observer", "step", "{w}"], "forbidden"),
    (["--role", "player", "create", "mine"], "forbidden"),
    (["--role", "controller", "destroy", "{w}"], "forbidden"),
]


@pytest.fixture(scope="module")
def target(cli):
    cli.text("create", "target")
    cli.text("spawn", "target", "--shape", "box:9,1,9", "--status", "static")
    cli.text("spawn", "target", "--shape", "sphere:0.5", "--at", "0,5,0")
    return "target"


@pytest.mark.parametrize("words", ["body 99", "robot 99", "contacts 99", "closest 99", "closest 2 99", "regions 2 99", "mass 99", "linked 99", "pieces 99"])
def test_a_query_names_the_body_that_is_not_there(cli, target, words):
    text, code = cli.error("query", target, *words.split())
    assert code == 1 and "there is no body 99" in text and "unknown_body" in text


@pytest.mark.parametrize("words, error", [
    (["create", "x" * 65], "name has 65 bytes: it must have at most 64 (name)"),
    (["save", "{w}", "x" * 65], "name has 65 bytes: it must have at most 64 (name)"),
    (["speed", "{w}", "1e9"], "value is 1000000000: it must be within ±1000000 (value)"),
    (["fork", "{w}", "{w}"], "there is a world {w} already; choose another name (name)"),
    (["kick", "99999"], "there is no session 99999; SESSIONS lists them (session)"),
])
def test_what_a_message_cannot_have_is_named_with_its_limit(cli, target, words, error):
    text, code = cli.error(*[word.replace("{w}", target) for word in words])
    assert code == 1 and error.replace("{w}", target) in text


@pytest.mark.parametrize("address", ["tcp:127.0.0.1:99999", "tcp:127.0.0.1:0", "tcp:127.0.0.1:", "tls:127.0.0.1:65536", "ws://127.0.0.1:70000"])
def test_a_port_that_is_none_is_named(address):
    done = subprocess.run([CLIENT, "--connect", address, "worlds"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "a port from 1 to 65535" in done.stderr


@pytest.mark.parametrize("words, status", REFUSED, ids=lambda w: "-".join(w) if isinstance(w, list) else w)
def test_a_refusal_is_named_and_changes_nothing(cli, target, words, status):
    before = cli.json("step", target, 0, "--bodies")
    text, code = cli.error(*[word.replace("{w}", target) for word in words])
    assert code == 1 and text.startswith("cairn: ") and text.count("\n") == 1
    if status is not None:
        assert text.rstrip().endswith(f"[{status}]")
    after = cli.json("step", target, 0, "--bodies")
    # A paused world was stepped by a command that was refused at its boundary, as by a STEP; then
    # its ball falls.
    stepped = after["tick"] - before["tick"]
    assert stepped in (0, 1)
    assert (after["hash"] == before["hash"]) == (stepped == 0)
    assert [row["id"] for row in before["bodies"]] == [row["id"] for row in after["bodies"]]
    assert before["bodies"][0] == after["bodies"][0]


@pytest.mark.parametrize("words", [
    ["frobnicate"], ["step", "w", "--bodies", "--ticks"], ["create"], ["remove", "w"], ["push", "w", "1"],
    ["set", "w", "x"], ["save", "w"], ["restore", "w"], ["fork", "w"], ["load", "w"], ["spawn", "w"],
    ["speed", "w"], ["query", "w", "weather"], ["help", "frobnicate"],
    ["replay"], ["watch", "w", "--profile", "quantum"], ["step", "w", "--from", "7"], ["worlds", "more"],
    ["--json-lines"], ["--json"], ["save", "w", "a", "b"],
], ids="-".join)
def test_wrong_usage_points_to_help(cli, words):
    text, code = cli.error(*words)
    assert code == 2 and ("cairn help" in text or "--json" in words)


@pytest.mark.parametrize("words, meant", [
    (["wrlds"], "did you mean 'worlds'?"), (["help", "spwan"], "did you mean 'spawn'?"),
    (["spawn", "w", "--shpae", "sphere:1"], "did you mean --shape?"), (["worlds", "--jsn"], "did you mean --json?"),
    (["--unx", "s", "worlds"], "did you mean --unix?"),
])
def test_a_misspelt_word_gets_the_nearest_one(words, meant):
    done = subprocess.run([CLIENT, "--unix", "/nowhere", *words], capture_output=True, text=True)
    assert done.returncode == 2 and meant in done.stderr


def test_errors_are_json_under_json(cli, target):
    done = cli.run("--json", "spawn", target, "--shape", "sphere:1", "--density", "-1")
    error = json.loads(done.stderr)["error"]
    assert done.returncode == 1 and done.stdout == ""
    assert (error["status"], error["code"], error["field"]) == ("range", 40, "density") and "-1" in error["text"]
    done = cli.run("--json", "frobnicate")
    assert done.returncode == 2 and json.loads(done.stderr)["error"]["field"] == "usage"


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "five", ""])
@pytest.mark.parametrize("words", [
    ["spawn", "w", "--shape", "sphere:{}"], ["spawn", "w", "--shape", "sphere:1", "--at", "0,{},0"],
    ["spawn", "w", "--shape", "sphere:1", "--friction", "{}"], ["spawn", "w", "--shape", "sphere:1", "--friction-axis", "{},0,0"],
    ["spawn", "w", "--shape", "sphere:1", "--rolling-friction", "{}"], ["push", "w", "1", "0,{},0"],
    ["set", "w", "sleep.speed", "{}"], ["speed", "w", "{}"], ["query", "w", "ray", "0,{},0", "0,1,0", "5"],
    ["command", "w", "impulse", "body=1", "impulse=0,{},0"],
], ids=lambda words: "-".join(words[:2]) if isinstance(words, list) else words)
def test_a_number_is_checked_before_it_is_sent(cli, target, words, number):
    text, code = cli.error(*[target if word == "w" else word.replace("{}", number) for word in words])
    assert code == 1 and re.search(r"\[(type|not_finite)\]$", text.rstrip()), text


@pytest.mark.parametrize("program", [CLIENT, DAEMON, BOT])
@pytest.mark.parametrize("word", ["--version", "-h", "--help"])
def test_every_program_tells_its_version_and_its_usage(program, word):
    done = subprocess.run([program, word], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    name = pathlib.Path(program).name
    assert re.match(rf"{name} \d+\.\d+\.\d+( .*)?\n$" if word == "--version" else rf"(usage: )?{name} ", done.stdout)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_usage(verb):
    done = subprocess.run([CLIENT, verb, "-h"], capture_output=True, text=True)
    assert done.returncode == 0 and (verb == "help" or done.stdout.startswith(f"  {verb}"))


def test_a_missing_daemon_is_reported(tmp_path):
    done = subprocess.run([CLIENT, "--unix", str(tmp_path / "none"), "worlds"], capture_output=True, text=True)
    assert done.returncode == 1 and str(tmp_path / "none") in done.stderr


def test_the_environment_names_the_daemon(cli):
    cli.text("create", "by-environment")
    done = subprocess.run([CLIENT, "worlds"], env={"CAIRN_ADDRESS": cli.address}, capture_output=True, text=True)
    assert done.returncode == 0 and "by-environment" in done.stdout


def test_a_scene_runs_without_a_network():
    done = subprocess.run([DAEMON, "run", TOWER, "--ticks", "30", "--report", "json"], capture_output=True,
                          text=True)
    import json
    report = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0 and report["ticks"] == 30 and len(report["hash"]) == 16


def test_top_prints_the_server_and_each_world(cli, world):
    first, *rows = cli.lines("top", "--times", "2", "--every", "0.1")
    assert first["sessions"] >= 1 and first["workers"] >= 1
    mine = [row for row in rows if row.get("world") == world]
    assert len(mine) == 2 and {row["mode"] for row in mine} == {"paused"} and mine[0]["bodies"] == 2
    text = cli.text("top", "--times", "1")
    assert text.startswith("sessions ") and world[:20] in text


def test_watch_draws_the_bodies(cli):
    cli.text("create", "drawn", "--running", "--gravity", "0,0,0")
    cli.text("set", "drawn", "sleep.enabled", "0")  # no event in the picture
    cli.text("spawn", "drawn", "--shape", "sphere:0.5", "--position", "0,5,0")
    cli.text("spawn", "drawn", "--shape", "sphere:0.5", "--position", "8,1,0")
    *picture, section, line = cli.text("watch", "drawn", "--ticks", "1", "--draw").splitlines()
    places = [(column, row) for row, text in enumerate(picture) for column, mark in enumerate(text) if mark == "@"]
    # Two marks: the one at the left is the higher one, by half as many rows as columns for a metre.
    (right, low), (left, high) = sorted(places, reverse=True)
    assert len(places) == 2 and right - left == pytest.approx(2 * 2 * (low - high), abs=3)
    assert re.match(r"x -1\.0 … \d", section) and line.endswith("hash right")


def test_a_player_spawns_shapes_that_the_world_has(cli, world):
    cli.text("resume", world)
    made = cli.json("--role", "player", "spawn", world, "--shape", "sphere:0.5", "--position", "3,3,0")
    assert cli.json("query", world, "body", made["id"])["owner"] != 0
    text, _ = cli.error("--role", "player", "spawn", world, "--shape", "sphere:0.123")
    assert "a controller may upload one" in text and "[unknown_shape]" in text
    text, _ = cli.error("--role", "player", "pause", world)
    assert "needs the role controller" in text and "token" in text
    text, _ = cli.error("--role", "player", "push", world, "2", "0,1,0")
    assert "a controller may give it away" in text


@pytest.mark.parametrize("old, new", [
    (["--at", "1,2,3"], ["--position", "1,2,3"]),
    (["--shape", "capsule:0.5,0.25"], ["--shape", "capsule:length=1,radius=0.25"]),
    (["--shape", "cylinder:0.5,0.25"], ["--shape", "cylinder:length=1,radius=0.25"]),
    (["--shape", "cone:0.5,0.25"], ["--shape", "cone:length=1,radius=0.25"]),
], ids=["position", "capsule", "cylinder", "cone"])
def test_a_word_and_its_older_one_mean_the_same(cli, old, new):
    shape = [] if "--shape" in old else ["--shape", "sphere:0.5"]
    hashes = set()
    for place, words in enumerate((old, new)):
        name = f"words-{place}-{len(old[1])}"
        cli.text("create", name)
        cli.text("spawn", name, *shape, *words)
        hashes.add(cli.json("step", name, 3)["hash"])
        cli.text("--role", "admin", "destroy", name)
    assert len(hashes) == 1


@pytest.mark.parametrize("text, volume", [
    ("rounded:1,2,3,0.1", 6 + 22 * 0.1 + 6 * math.pi * 0.01 + 4 / 3 * math.pi * 0.001),
    ("ellipsoid:1,2,3", math.pi), ("cylinder:0.5,0.25", math.pi / 16), ("cone:0.5,0.25", math.pi / 48),
], ids=["rounded", "ellipsoid", "cylinder", "cone"])
def test_shapes_with_curved_surfaces_have_their_volume(cli, text, volume):
    name = "curved-" + text.partition(":")[0]
    cli.text("create", name)
    body = cli.json("spawn", name, "--shape", text)["id"]
    assert cli.json("query", name, "body", body)["mass"] == pytest.approx(1000 * volume, rel=1e-12)


def test_a_scene_may_say_position_for_at(cli, tmp_path):
    hashes = set()
    for word in ("at", "position"):
        scene = tmp_path / f"{word}.yaml"
        scene.write_text(f"bodies:\n  - {{{word}: [1, 2, 3], shapes: [{{{word}: [0, 1, 0], shape: {{kind: sphere, radius: 0.5}}}}]}}\n")
        cli.text("load", f"says-{word}", scene)
        hashes.add(cli.json("step", f"says-{word}", 2)["hash"])
    assert len(hashes) == 1
    scene.write_text("bodies:\n  - {at: [1, 2, 3], position: [1, 2, 3]}\n")
    text, _ = cli.error("load", "twice", scene)
    assert "another word" in text and ":2:" in text
