"""Recordings: started, stopped, rings, saved from the past, read, sent, shown and copied; over restarts, crashes and a full server.
The oracle is what the client saw live: every state of a recording must have its bits, and `replay` recomputes every file."""
import contextlib
import json
import subprocess

import pytest
from support import CLIENT, cairn, command, daemon, refused, start, stop

EXACT = dict(profile="exact", fields=31)


@contextlib.contextmanager
def ball(tmp_path, *options, data="data", caps=("ack", "durable", "exact")):
    with daemon("--data", str(tmp_path / data), "--keyframe-ticks", "50", *options) as server:
        with server.connect(caps=caps) as client:
            yield server, client, bouncing(client)


def bouncing(client, name="w", sub=1):
    world = client.create(name, method="soft-step")
    world.spawn(shapes=[world.shape(box=(40, 1, 40))], position=(0, -0.5, 0), status=1)
    world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 3, 0))
    world.subscribe(sub, **EXACT)
    return world


def run(world, ticks, body=2):
    """Steps, with a push now and then; {tick: bodies}."""
    seen = {}
    for _ in range(ticks):
        given = [command("impulse", body, (300, 0, 0))] if world.tick % 40 == 10 else []
        tick = world.step(1, commands=given, want=0).tick
        frame, = world.frames(1)
        while frame.tick < tick:
            frame, = world.frames(1)
        seen[tick] = frame.bodies
    return seen


def replay(path, *words):
    done = subprocess.run([CLIENT, "replay", str(path), *words], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.stdout else done.stderr


def verify(tmp_path, world, name):
    path = tmp_path / f"{name}.got.cairn"
    path.write_bytes(world.read_recording(name))
    status, report = replay(path, "--verify")
    assert status == 0 and report["verdict"] == "same", report
    return report


def test_a_recording_is_a_file_of_its_own_with_the_bits_of_the_world(tmp_path):
    with ball(tmp_path) as (server, client, world):
        run(world, 30)
        begun = world.record("run", title="a ball")
        assert (begun.name, begun.first, begun.last) == ("run", (1, 30), (1, 30))
        seen = run(world, 60)
        one, = world.recordings()
        assert (one.name, one.title, one.running, one.first) == ("run", "a ball", True, (1, 30))
        with refused("exists"):
            world.record("again")
        with refused("in_use"):
            world.destroy()
        made = world.stop_recording()
        assert (made.first, made.last) == ((1, 30), (1, 90)) and made.bytes > 0
        with refused("missing"):
            world.stop_recording()
        with refused("exists"):
            world.record("run")
        one, = world.recordings()
        assert (one.name, one.title, one.running, one.bytes) == ("run", "a ball", False, made.bytes)
        assert verify(tmp_path, world, "run")["ticks"] == 60
        # It is shown as it was, while the world goes on; beyond its ends are its ends.
        run(world, 20)
        for asked, shown in ((31, 31), (77, 77), (90, 90), (5, 30), (400, 90)):
            sought = world.seek(asked, recording="run")
            assert (sought.tick, sought.first, sought.last) == (shown, 30, 90)
            frame, = world.frames(1)
            assert frame.tick == shown and (shown == 30 or frame.bodies == seen[shown])
        # The past of the world is another source.
        assert world.seek(100).last == 110
        with refused("missing"):
            world.seek(40, recording="none")
        assert world.seek(None).present
        # It becomes a world, at its end or at a tick.
        end, middle = world.fork("end", recording="run"), world.fork("middle", tick=50, recording="run")
        assert (end.tick, middle.tick) == (90, 50)
        assert end.body(2)["position"] == seen[90][2].position and middle.body(2)["position"] == seen[50][2].position


def test_the_past_is_saved_after_the_fact_and_removed(tmp_path):
    with ball(tmp_path, "--checkpoint-ticks", "40") as (server, client, world):
        run(world, 100)
        assert world.save_recording("all").first == (1, 0)
        part = world.save_recording("part", tick=85)
        assert (part.first, part.last) == ((1, 80), (1, 100))
        with refused("range"):
            world.save_recording("none", tick=500)
        assert [item.name for item in world.recordings()] == ["all", "part"]
        assert verify(tmp_path, world, "part")["ticks"] == 20
        (tmp_path / "all.cairn").write_bytes(world.read_recording("all"))
        # Of files that begin at different places, the later beginning is where both can be compared.
        for one, other in (("all.cairn", "part.got.cairn"), ("part.got.cairn", "all.cairn")):
            status, report = replay(tmp_path / one, "--against", tmp_path / other)
            assert (status, report["verdict"], report["compared_from"]) == (0, "same", 80), report
        world.remove_recording("all")
        with refused("missing"):
            world.remove_recording("all")
        with refused("missing"):
            world.read_recording("all")
        assert [item.name for item in world.recordings()] == ["part"]


def test_a_restore_inside_and_a_ring(tmp_path):
    with ball(tmp_path, "--checkpoint-ticks", "20", "--checkpoints-keep", "2") as (server, client, world):
        world.record("r", seconds=1)
        run(world, 70)
        world.restore(tick=50)
        run(world, 110)
        made = world.stop_recording()
        # At least the last second, and at most a checkpoint more.
        assert made.last == (2, 160) and 60 <= 160 - made.first[1] <= 80
        verify(tmp_path, world, "r")
        world.record("both")
        run(world, 30)
        world.restore(tick=170)
        run(world, 10)
        made = world.stop_recording()
        assert (made.first, made.last) == ((2, 160), (3, 180))
        assert verify(tmp_path, world, "both")["ticks"] == 30 + 10
        status, report = replay(tmp_path / "r.got.cairn", "--against", tmp_path / "both.got.cairn")
        assert (status, report["verdict"], report["compared_from"], report["longer"]) == (0, "same", 160, "against"), report


def test_a_recording_goes_on_over_restart_and_kill(tmp_path):
    options = ("--data", str(tmp_path / "data"), "--checkpoints-keep", "1", "--checkpoint-ticks", "10", "--paused")
    server = start(str(tmp_path), *options)
    with server.connect(caps=("ack", "durable", "exact")) as client:
        world = bouncing(client)
        run(world, 25)
        world.record("long")
        run(world, 25)
        world.wait_durable(50)
    server.kill()
    server = start(str(tmp_path), *options)
    try:
        with server.connect(caps=("ack", "durable", "exact")) as client:
            world = client.join("w")
            assert world.recordings()[0].running
            with refused("exists"):
                world.record("other")
            world.step(25, want=0)
            world.wait_durable(75)
        assert stop(server) == 0
        server = start(str(tmp_path), *options)
        with server.connect() as client:
            world = client.join("w")
            made = world.stop_recording("named")
            assert (made.name, made.first, made.last[1]) == ("named", (1, 25), 75)
            assert verify(tmp_path, world, "named")["ticks"] == 50
    finally:
        server.kill()


def test_a_full_store_refuses_and_the_recording_goes_on(tmp_path):
    with ball(tmp_path, "--recordings-bytes", "20K") as (server, client, world):
        world.record("r")
        run(world, 5)
        with refused("full"):
            world.stop_recording()
        assert world.recordings()[0].running
        client.ask("reply", "config", {"recordings-bytes": "10M"})
        assert world.stop_recording().last == (1, 5)
        assert not [path for path in (tmp_path / "data" / "recordings" / "w").iterdir() if path.name != "r.cairn"]


def test_files_are_sent_and_paths_stay_inside(tmp_path):
    with ball(tmp_path) as (server, client, world):
        run(world, 10)
        world.save_recording("here")
        data = world.read_recording("here")
        other = bouncing(client, "other", sub=2)
        assert other.write_recording("sent", data).last == (1, 10)
        assert other.read_recording("sent") == data
        assert other.seek(7, sub=2, recording="sent").tick == 7
        for bad in (b"", b"no recording at all", data[:5000]):
            with pytest.raises(cairn.Refused) as why:
                other.write_recording("bad", bad)
            assert why.value.status in ("missing", "corrupt")
        with refused("exists"):
            other.write_recording("sent", data)
        for name in ("../w", ".hidden", "a/b", ""):
            with refused("range"):
                world.save_recording(name)
        with refused("range"):
            world.save_recording("t", title="a\x1b[2J")
        kept = {str(path.relative_to(tmp_path / "data")) for path in (tmp_path / "data" / "recordings").rglob("*")}
        assert kept == {f"recordings/{name}" for name in ("w", "other", "w/here.cairn", "other/sent.cairn")}
        with server.connect(role="observer") as observer:
            seen = observer.join("w")
            with refused("forbidden"):
                seen.save_recording("mine")
            seen.subscribe()
            assert seen.seek(3, recording="here").tick == 3


def test_the_command_line(tmp_path):
    with ball(tmp_path) as (server, client, world):
        world.resume()

        def cli(*words):
            done = subprocess.run([CLIENT, "--connect", server.address, *map(str, words)], capture_output=True, text=True, timeout=120)
            return done.returncode, done.stdout, done.stderr
        out = tmp_path / "cli.cairn"
        status, said, error = cli("--json", "record", "w", out, "--for", 1)
        assert status == 0, error
        made = json.loads(said)
        assert 30 <= made["last"] - made["first"] <= 600 and out.stat().st_size == made["bytes"]
        assert replay(out, "--verify")[0] == 0
        assert cli("record", "w", "put", "back", out)[0] == 0
        assert cli("record", "w", "get", "back", tmp_path / "again.cairn")[0] == 0
        assert (tmp_path / "again.cairn").read_bytes() == out.read_bytes()
        assert cli("record", "w", "get", "back", out)[0] == 1  # nothing is overwritten
        status, said, _ = cli("record", "w", "list")
        assert "back" in said
        status, said, error = cli("--json", "watch", "w", "--recording", "back", "--from", made["first"], "--ticks", 3)
        assert status == 0 and [json.loads(line)["tick"] for line in said.splitlines()][0] == made["first"], error
        status, said, error = cli("--json", "fork", "w", "copy", "--recording", "back")
        assert status == 0 and json.loads(said)["tick"] == made["last"], error
        assert cli("record", "w", "remove", "back")[0] == 0
        assert cli("record", "w", "dance")[0] != 0
        for words, says in {("record", "w", "get", "no", tmp_path / "no.cairn"): "no recording named no",
                            ("record", "w", "remove", "no"): "no recording named no",
                            ("fork", "w", "two", "--recording", "no"): "no recording named no",
                            ("fork", "w", "two", "--snapshot", "no"): 'no snapshot named "no"',
                            ("fork", "w", "two", "--tick", 999999): "tick 999999 of any epoch"}.items():
            status, _, error = cli(*words)
            assert status == 1 and says in error and str(tmp_path / "data") not in error, error


def test_no_file_no_recording(tmp_path):
    with daemon() as server, server.connect(caps=("ack", "durable", "exact")) as client:
        world = bouncing(client)
        with refused("unsupported"):
            world.record("r")
        with refused("unsupported"):
            world.recordings()
