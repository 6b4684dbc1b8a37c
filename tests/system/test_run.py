"""`cairnd run --record --trajectory --until --seed --rate`: what it writes agrees with itself, replays, and opens in the daemon."""
import csv
import json
import shutil
import sqlite3
import subprocess

import pytest
from support import CLIENT, DAEMON, SEEDLESS, daemon

SCENE = """world: { name: drop, rate: 60, seed: 5 }
shapes:
  floor: { kind: box, size: [20, 1, 20] }
  ball: { kind: sphere, radius: 0.5 }
  cube: { kind: box, size: [1, 1, 1] }
bodies:
  - { shape: floor, status: static, at: [0, -0.5, 0] }
  - { name: ball, shape: ball, at: [0, 5, 0] }
  - { name: other, shape: cube, at: [3, 2, 0] }
"""


def run(tmp_path, *words, status=0):
    scene = tmp_path / "drop.yaml"
    if not scene.exists():
        scene.write_text(SCENE)
    done = subprocess.run([DAEMON, "run", str(scene), *map(str, words)], capture_output=True, text=True, timeout=60, env=SEEDLESS)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if status == 0 else done.stderr


def replay(path):
    done = subprocess.run([CLIENT, "replay", str(path), "--verify"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def test_recording_and_trajectory_are_the_same_run(tmp_path):
    file, trajectory, export = tmp_path / "r.cairn", tmp_path / "t.csv", tmp_path / "e.csv"
    report = run(tmp_path, "--ticks", 90, "--record", file, "--trajectory", trajectory, "--every", 10)
    replayed = replay(file)
    assert (replayed["ticks"], replayed["last"]["tick"]) == (90, 90) and replayed["last"]["hash"] == report["hash"]
    subprocess.run([CLIENT, "export", str(file), str(export), "--every", "10"], check=True, capture_output=True, timeout=60)
    lines, exported = rows_of(trajectory), rows_of(export)
    assert [int(line["tick"]) for line in lines] == [tick for tick in range(0, 91, 10) for _ in range(3)]
    names = {"px": "x", "py": "y", "pz": "z", "qw": "qw", "vx": "vx", "vy": "vy", "wz": "wz"}
    assert len(lines) == len(exported)
    for line, other in zip(lines, exported):
        assert (line["tick"], line["id"]) == (other["tick"], other["body"])
        assert all(float(line[name]) == float(other[their]) for name, their in names.items())
    # It falls: 5 - g t²/2 within what a step of 1/60 s makes of it.
    at = {int(line["tick"]): float(line["py"]) for line in lines if line["id"] == "2"}
    assert abs(at[50] - (5 - 9.81 / 2 * (50 / 60) ** 2)) < 9.81 * 50 / 60 / 60


@pytest.mark.parametrize("condition", ["asleep", "energy<0.5", "tick>=33"])
def test_it_stops_at_the_first_tick_at_which_the_condition_holds(tmp_path, condition):
    file, export = tmp_path / "r.cairn", tmp_path / "r.sqlite"
    report = run(tmp_path, "--ticks", 1200, "--until", condition, "--record", file)
    assert report["stopped"] == "until"
    last = replay(file)["last"]["tick"]
    assert last < 1200
    subprocess.run([CLIENT, "export", str(file), str(export)], check=True, capture_output=True, timeout=60)
    db = sqlite3.connect(export)
    if condition == "tick>=33":
        assert last == 33
    elif condition == "asleep":
        awake = dict(db.execute("SELECT tick, sum(status = 'dynamic' AND NOT asleep) FROM bodies GROUP BY tick"))
        assert awake[last] == 0 and all(awake[tick] > 0 for tick in range(1, last))
    else:
        energy = dict(db.execute("SELECT tick, kinetic FROM ticks"))
        assert energy[last] < 0.5 and all(energy[tick] >= 0.5 for tick in range(1, last))
    db.close()
    assert run(tmp_path, "--ticks", 20, "--until", condition)["stopped"] == "ticks"


def test_seed_and_rate(tmp_path):
    def one(*words):
        return run(tmp_path, "--ticks", 120, *words)["hash"]
    assert one() == one("--seed", 5) == one("--rate", 60)
    assert len({one(), one("--seed", 6), one("--rate", 120)}) == 3
    # Half the time for as many ticks: the body has fallen a quarter as far.
    tops = []
    for rate in (60, 120):
        path = tmp_path / f"{rate}.csv"
        run(tmp_path, "--ticks", 40, "--rate", rate, "--trajectory", path, "--every", 40)
        tops.append(5 - [float(line["py"]) for line in rows_of(path) if line["id"] == "2"][-1])
    assert abs(tops[0] / tops[1] - 4) < 1e-9


def test_refusals_leave_no_file_and_overwrite_none(tmp_path):
    file = tmp_path / "r.cairn"
    for words in (("--until", "tired"), ("--until", "energy<x"), ("--until", "tick>=-1"), ("--rate", "0"), ("--seed", "-3")):
        assert words[0].strip("-") in run(tmp_path, "--ticks", 5, "--record", file, *words, status=1)
        assert not file.exists()
    run(tmp_path, "--ticks", 5, "--record", file)
    before = file.read_bytes()
    assert "exist" in run(tmp_path, "--ticks", 9, "--record", file, status=1)
    assert file.read_bytes() == before
    # Files of the end are tried at the beginning: no run of a year whose poses have no folder, and none that replaces its own trajectory.
    for words, told in ((("--poses", tmp_path / "none" / "p.csv"), "poses: "), (("--poses", tmp_path), "Is a directory"),
                        (("--poses", tmp_path / "t.csv", "--trajectory", tmp_path / "t.csv"), "the file of --trajectory, too"),
                        (("--poses", tmp_path / "r", "--record", tmp_path / "r"), "the file of --record, too")):
        assert told in run(tmp_path, "--ticks", 10**7, *words, status=1)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cairn", ".yaml"]


def test_one_parameter_by_two_names_and_lanes_that_no_vector_has_are_refused(tmp_path):
    told = run(tmp_path, "--ticks", 1, "--set", "soft_step.push_speed=1", "--set", "contact.push_speed=2", status=1)
    assert "soft_step.push_speed=1" in told and "contact.push_speed=2" in told and "give it once" in told
    assert "use 1, 4, 8 or 16" in run(tmp_path, "--ticks", 1, "--lanes", 3, status=1)
    assert run(tmp_path, "--ticks", 1, "--lanes", 4)["hash"] == run(tmp_path, "--ticks", 1)["hash"]


def test_the_recording_opens_as_a_world_and_as_a_recording(tmp_path):
    file, data = tmp_path / "r.cairn", tmp_path / "data"
    run(tmp_path, "--ticks", 80, "--record", file)
    data.mkdir(mode=0o700)
    shutil.copy(file, data / "batch.cairn")
    with daemon("--data", str(data), "--paused") as server, server.connect(caps=("ack", "exact")) as client:
        world = client.join("batch")
        assert world.tick == 80
        world.subscribe(1, profile="exact", fields=31)
        assert world.seek(40).tick == 40
        world.write_recording("copy", file.read_bytes())
        assert world.fork("again", recording="copy").tick == 80
        assert world.seek(80, recording="copy").last == 80


PAIRS = """world: { name: pairs, rate: 60 }
shapes:
  ball: { kind: sphere, radius: 0.3 }
  wall: { kind: box, size: [0.2, 4, 4] }
bodies:
  - { shape: { kind: plane }, status: static }
  - { name: gate, shape: wall, at: [0, 2, 0], status: static }
  - { name: guest, shape: ball, at: [-2, 0.3, 0], velocity: [3, 0, 0], friction: 0, array: { count: 2, step: [0, 0, 1] } }
  - { name: stranger, shape: ball, at: [-2, 0.3, -1], velocity: [3, 0, 0], friction: 0 }
joints:
  - { type: six_dof, a: gate, b: guest, at: [0, 0, 0], x: {}, y: {}, z: {}, rx: {}, ry: {}, rz: {} }
"""


@pytest.mark.parametrize("method", ["soft-step", "lcp", "projection", "reflection", "impact"])
def test_only_guests_pass_the_gate_that_a_joint_of_free_axes_opens_for_them(tmp_path, method):
    (tmp_path / "drop.yaml").write_text(PAIRS)
    file, trajectory = tmp_path / "r.cairn", tmp_path / "t.csv"
    report = run(tmp_path, "--ticks", 120, "--method", method, "--record", file, "--trajectory", trajectory, "--every", 120)
    assert replay(file)["last"]["hash"] == report["hash"]
    last = {int(line["id"]): float(line["px"]) for line in rows_of(trajectory) if line["tick"] == "120"}
    assert abs(last[3] - 4) < 1e-3 and abs(last[4] - 4) < 1e-3
    # Half the wall and the ball's radius; methods without restitution stop it there.
    assert last[5] < -0.4 + 0.01


@pytest.mark.parametrize("method", ["penalty", "free"])
def test_methods_without_joints_refuse_them_by_name(tmp_path, method):
    (tmp_path / "drop.yaml").write_text(PAIRS)
    assert f"{method} does not support joints" in run(tmp_path, "--ticks", 1, "--method", method, status=1)
