"""Files of the past without a daemon: exports, `when` and `diff` of a file, and `replay --bisect`. The oracle of an export is
what a client saw live; MCAP is read by the reader of its authors in clients/web/test."""
import csv
import json
import shutil
import sqlite3
import struct
import subprocess
import zlib

import pytest
from support import CLIENT, DAEMON, SEEDLESS, SOURCE, command, daemon
from test_past import recorded


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """(file, {tick: bodies}, body) of a recorded world."""
    folder = tmp_path_factory.mktemp("past")
    with recorded(folder, ticks=200, push_at=80) as (_, _, seen, body):
        pass
    return folder / "data" / "w.cairn", seen, body


def cairn(*words):
    return subprocess.run([CLIENT, *map(str, words)], capture_output=True, text=True, timeout=60)


def export(past, tmp_path, ending, *options):
    out = tmp_path / f"out.{ending}"
    done = cairn("export", past[0], out, *options)
    assert done.returncode == 0, done.stderr
    return out


def test_csv_and_json_have_the_states_that_a_client_saw(past, tmp_path):
    _, seen, _ = past
    with open(export(past, tmp_path, "csv", "--every", 25), encoding="ascii") as lines:
        rows = list(csv.DictReader(lines))
    assert {int(row["tick"]) for row in rows} == set(range(0, 201, 25))
    for row in rows:
        if row["tick"] != "0":
            body = seen[int(row["tick"])][int(row["body"])]
            assert tuple(float(row[key]) for key in "xyz") == body.position
            assert tuple(float(row[key]) for key in ("vx", "vy", "vz")) == body.velocity
    with open(export(past, tmp_path, "json", "--from", 100, "--to", 103), encoding="ascii") as lines:
        states = [json.loads(line) for line in lines]
    assert [state["tick"] for state in states] == [100, 101, 102, 103]
    for state in states:
        for body in state["bodies"]:
            assert tuple(body["position"]) == seen[state["tick"]][body["body"]].position


def test_npy_is_an_array_of_rows(past, tmp_path):
    numpy = pytest.importorskip("numpy")
    rows = numpy.load(export(past, tmp_path, "npy"))
    assert len(rows) == 3 * 201 and rows.dtype["position"].shape == (3,)
    at = rows[(rows["tick"] == 77) & (rows["body"] == past[2])][0]
    assert tuple(at["position"]) == past[1][77][past[2]].position


def records(data):
    """(opcode, content) of each record of an MCAP file."""
    at = 8
    while at < len(data) - 8:
        opcode, length = struct.unpack_from("<BQ", data, at)
        yield opcode, data[at + 9:at + 9 + length]
        at += 9 + length


def test_mcap_has_its_parts_and_the_recording_itself(past, tmp_path):
    data = export(past, tmp_path, "mcap", "--every", 5).read_bytes()
    assert data[:8] == data[-8:] == b"\x89MCAP0\r\n"
    found = list(records(data))
    opcodes = [opcode for opcode, _ in found]
    assert opcodes[0] == 1 and opcodes[-1] == 2 and opcodes.count(15) == 1
    assert {3, 4, 6, 7, 8, 9, 11, 12, 14} <= set(opcodes)
    attachment = next(content for opcode, content in found if opcode == 9)
    assert past[0].read_bytes() in attachment
    assert struct.unpack("<I", attachment[-4:])[0] == zlib.crc32(attachment[:-4])
    footer = found[-1][1]
    start, = struct.unpack_from("<Q", footer)
    assert struct.unpack("<I", footer[-4:])[0] == zlib.crc32(data[start:-12])


def test_the_queries_of_the_docs_run(past, tmp_path):
    out = export(past, tmp_path, "sqlite")
    page = (SOURCE / "docs" / "RECORDING.md").read_text(encoding="utf-8")
    block = page.split("<!-- queries of an export -->")[1].split("```")[1]
    queries = [query for query in block.removeprefix("sql").split(";") if query.strip()]
    assert len(queries) >= 4
    with sqlite3.connect(out) as shell:
        for query in queries:
            assert shell.execute(query).fetchall(), query
        pushed = shell.execute("SELECT tick FROM commands WHERE command = 'impulse'").fetchall()
        assert pushed == [(80,)]
        assert shell.execute("SELECT count(*) FROM ticks").fetchone() == (201,)


def test_when_and_diff_of_a_file(past):
    file, seen, body = past
    done = cairn("when", file, f"body {body} x > 0.01")
    epoch, tick, who, _, commands, _ = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, epoch, tick, who) == (0, 1, 81, body) and commands[0][2] == "impulse"
    last = json.loads(cairn("when", file, "any speed > 3", "--last").stdout.splitlines()[-1])
    assert last[1] == max(t for t, bodies in seen.items()
                          if any(sum(v * v for v in b.velocity) > 9 for b in bodies.values()))
    assert cairn("when", file, "any y > 1000").returncode == 2
    assert cairn("diff", file, 9, 9).returncode == 0
    different = cairn("diff", file, 9, 10)
    assert different.returncode == 2 and json.loads(different.stdout.splitlines()[-1])[1] == "world"


def test_mistakes_are_named(past, tmp_path):
    file = past[0]
    for words, text in ((("when", file, "body speed > 3"), "it must be"), (("when", file, "any mass > 3"), "it must be"),
                        (("export", file, tmp_path / "a.txt"), "ending"), (("export", file, file), "ending"),
                        (("export", file, tmp_path / "none" / "a.csv"), "a.csv cannot be written: No such file"),
                        (("export", file, tmp_path / "a.csv", "--from", 900), "does not have tick"),
                        (("diff", file, 3, 4000), "does not have tick"),
                        (("replay", file, "--bisect"), "--against")):
        done = cairn(*words)
        assert done.returncode not in (0, 2) and text in done.stderr, (words, done.stderr)
    assert not (tmp_path / "a.csv").exists()
    cut = tmp_path / "cut.cairn"
    cut.write_bytes(file.read_bytes()[:-6000])
    assert cairn("when", cut, "any y > 3").returncode == 1


def run(folder, push):
    with daemon("--data", str(folder), "--checkpoint-ticks", "50", "--journal-keep") as server, server.connect() as client:
        world = client.create("w", method="soft-step")
        world.spawn(shapes=[world.shape(box=(40, 1, 40))], position=(0, -0.5, 0), status=1)
        body = world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 3, 0))
        world.step(330)
        world.step(1, commands=[command("impulse", body, (push, 0, 0))])
        world.step(200)
    return folder / "w.cairn"


def test_bisect_finds_a_planted_difference_of_one_bit(tmp_path):
    one, other = run(tmp_path / "a", 100.0), run(tmp_path / "b", 100.00000000000001)
    done = cairn("replay", one, "--against", other, "--bisect")
    report = json.loads(done.stdout.splitlines()[-1])["difference"]
    assert done.returncode == 2 and report["tick"] == 331
    assert (report["table"], report["body"]) == ("body", 2)
    assert report["command_tick"] == [330, 330] and "impulse" in report["file_command"]
    # The states of ten checkpoints are equal: only the rest was played.
    whole = cairn("replay", one, "--against", other)
    assert json.loads(whole.stdout.splitlines()[-1])["difference"]["tick"] == 331
    assert json.loads(done.stdout.splitlines()[-1])["ticks"] <= 50 < json.loads(whole.stdout.splitlines()[-1])["ticks"]
    shutil.rmtree(tmp_path / "a")


NAMED = """world: { name: named, rate: 60 }
shapes: { floor: { kind: box, size: [20, 1, 20] }, ball: { kind: sphere, radius: 0.5 } }
bodies:
  - { shape: floor, status: static, at: [0, -0.5, 0] }
  - { name: 'a "ball", red', shape: ball, at: [0, 5, 0] }
  - { name: row, shape: ball, at: [3, 2, 0], array: { count: 2, step: [2, 0, 0] } }
"""


def test_bodies_have_the_names_of_their_scene(tmp_path):
    scene, file = tmp_path / "named.yaml", tmp_path / "named.cairn"
    scene.write_text(NAMED)
    subprocess.run([DAEMON, "run", str(scene), "--ticks", "3", "--record", str(file)], check=True, capture_output=True, env=SEEDLESS)

    def export(ending):
        out = tmp_path / f"named.{ending}"
        done = cairn("export", file, out, "--names", scene)
        assert done.returncode == 0, done.stderr
        return out
    names = {1: "", 2: 'a "ball", red', 3: "row[0]", 4: "row[1]"}
    with open(export("csv"), newline="", encoding="ascii") as text:
        assert {int(row["body"]): row["name"] for row in csv.DictReader(text)} == names
    array = pytest.importorskip("numpy").load(export("npy"))
    assert {int(row["body"]): row["name"].decode() for row in array} == names
    for line in export("json").read_text().splitlines():
        assert {body["body"]: body.get("name", "") for body in json.loads(line)["bodies"]} == names
    db = sqlite3.connect(export("sqlite"))
    assert dict(db.execute("SELECT body, name FROM names")) == {body: name for body, name in names.items() if name}
    assert db.execute("SELECT y FROM named WHERE name = 'row[1]' AND tick = 0").fetchall() == [(2.0,)]
    db.close()
    assert export("mcap").stat().st_size > 0


def test_snapshots_are_compared_by_name(tmp_path):
    data = tmp_path / "data"
    with daemon("--data", str(data)) as server, server.connect() as client:
        world = client.create("w")
        ball = world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 9, 0))
        world.step(5)
        world.save("before")
        world.apply(command("impulse", ball, (1, 0, 0)))
        world.save("after")
        file = data / "w.cairn"
        same, other = cairn("diff", file, "before", "before"), cairn("diff", file, "before", "after")
        assert (same.returncode, other.returncode) == (0, 2), other.stderr
        assert "velocity" in other.stdout
        # The tick's own state is the one before the command.
        assert cairn("diff", file, "before", "5").returncode == 0
        assert cairn("diff", file, "5", "after").returncode == 2
        gone = cairn("diff", file, "before", "nothing")
        assert gone.returncode not in (0, 2) and "nothing" in gone.stderr

