"""Worlds on disk: kill -9 at any moment, SAVE, two daemons on one directory, and replayed runs."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

import pytest
from support import (CLIENT, DAEMON, SANITIZED, TOWER, cairn, command, daemon, falling, log_of, refused, start, stop,
                     until)

SEED = int(os.environ.get("CAIRN_SEED", "1") if os.environ.get("CAIRN_SEED", "1").isdigit() else time.time())

RACE_TICKS = 500 if SANITIZED else 10000


@contextlib.contextmanager
def killed_at_the_end(server):
    """Kills the daemon when the block ends, by return or exception, if the block has not."""
    try:
        yield
    finally:
        server.kill()


def replay(path, *words):
    return subprocess.run([CLIENT, "replay", str(path), *words], capture_output=True, text=True, timeout=120)


KEEP_ALL = ("--checkpoint-ticks", "100", "--checkpoints-keep", "0")
# A checkpoint every few commits, so that about half of the kills meet the removal of old ones.
KEEP_TWO = ("--checkpoint-ticks", "5", "--checkpoints-keep", "2")


@pytest.mark.parametrize("retention", [KEEP_ALL, KEEP_TWO], ids=["all", "two"])
def test_a_killed_daemon_loses_nothing_durable(tmp_path, retention):
    """Kill -9 at random moments while two clients send commands; after each restart the states
    covered by DURABLE exist again, in a new epoch, with the hashes that were reported before."""
    rng = random.Random(SEED)
    data = str(tmp_path / "data")
    epochs, tags = [], set()
    tag = 0
    for turn in range(6):
        folder = tmp_path / str(turn)
        folder.mkdir()
        server = start(str(folder), "--data", data, *retention, "--paused")
        with killed_at_the_end(server), server.connect() as client:
            if turn == 0:
                world = client.create("w", method="soft-step", rate=240)
                world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))])
                world.shape(sphere=0.5)
                # A world whose first records have not reached the disk is not durable either.
                world.wait_durable(world.tick)
            else:
                world = client.join("w")
                told, durable = known
                assert world.epoch == epochs[-1] + 1
                assert world.tick >= durable[1]
                world.subscribe(fields=32)
                tags_there = [body.tag for body in next(world.frames(1)).bodies.values() if body.tag != 0]
                found = set(tags_there)
                assert len(found) == len(tags_there), "a batch was applied twice"
                # RESULT names the boundary before the step: the batch is part of the state after
                # it.
                missing = {t for t, tick in told.items() if tick < durable[1]} - found
                assert not missing, f"durable up to {durable}, lost tags {missing}"
                assert found <= set(range(1, tag + 1)), "tags that were never sent exist"
            epochs.append(world.epoch)
            shape = 2
            other = server.connect().join("w")
            world.resume()
            told = {}
            pending = []
            end = time.monotonic() + rng.uniform(0.05, 0.3)
            while time.monotonic() < end:
                for peer in (world, other):
                    tag += 1
                    pending.append((peer, tag, peer.send(command(
                        "spawn", position=(rng.uniform(-9, 9), 9, rng.uniform(-9, 9)), shapes=[shape], tag=tag))))
                peer, sent, batch = pending.pop(0)
                told[sent] = peer.result(batch).tick
            for peer, sent, batch in pending[:rng.randrange(len(pending) + 1)]:
                told[sent] = peer.result(batch).tick
            server.kill()
            # Messages sent before the kill may still be in transit.
            for peer in (world, other):
                try:
                    while peer.client.take(0.05) is not None:
                        pass
                except (cairn.Closed, ConnectionError):
                    pass
            for peer, sent, batch in pending:
                if batch in peer.results:
                    told[sent] = peer.results[batch][1]
            known = told, max(filter(None, [world.durable, other.durable]), default=(world.epoch, 0))
    assert epochs == list(range(epochs[0], epochs[0] + 6))
    done = replay(os.path.join(data, "w.cairn"), "--verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["begins"]["pruned"] == (retention is KEEP_TWO)


def about(client, name="w"):
    return next(world for world in client.info()["worlds"] if world["name"] == name)


def info_equal_to_metrics(client, server):
    """INFO's values, once the metrics equal them: the writer may still be at work."""
    told, page = about(client), fetch(metrics_of(server)).splitlines()
    names = {f"{name}_total": name for name in ("checkpoints_pruned", "records_pruned", "prune_failures")}
    names["file_bytes"] = "file_bytes"
    return told if all(f'cairn_world_{shown}{{world="w"}} {told[name]}' in page for shown, name in names.items()) else None


def test_the_size_of_a_file_does_not_grow_with_the_age_of_its_world(tmp_path):
    """Sixty checkpoints, of which three are kept; the counters account for the rest."""
    data = tmp_path / "data"
    with daemon("--data", str(data), "--checkpoint-ticks", "20", "--checkpoints-keep", "3", "--admin",
                "127.0.0.1:0") as server, server.connect() as client:
        world, _ = falling(client, "w")
        sizes = []
        # The writer is waited for at each checkpoint, because its lag decides the largest size of
        # the file.
        for checkpoint in range(1, 61):
            world.wait_durable(world.step(20).tick)
            until(lambda: about(client)["checkpoints_pruned"] >= checkpoint - 3)
            sizes.append(about(client)["file_bytes"])
        assert max(sizes[20:]) <= max(sizes[:20]) + (64 << 10), sizes
        told = until(lambda: info_equal_to_metrics(client, server))
        assert told["records_pruned"] > 0 and told["prune_failures"] == 0 and told["file_free_bytes"] < sizes[-1]
        world.client.close()
    done = replay(data / "w.cairn", "--verify")
    found = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0 and found["verdict"] == "same", done.stderr
    assert found["begins"]["pruned"] and found["begins"]["tick"] >= 1140 and "were pruned" in done.stdout
    done = run("replay", str(data / "w.cairn"), "--verify", "--from", "100")
    assert done.returncode == 1 and "pruned" in done.stderr
    with daemon("--data", str(data), "--paused", "--journal-keep") as server:
        assert "recording_not_from_birth name=w" in log_of(server)


def test_a_world_recorded_from_birth_is_replayed_from_birth(tmp_path):
    data = tmp_path / "data"
    with daemon("--data", str(data), "--checkpoint-ticks", "20", "--checkpoints-keep", "2", "--journal-keep",
                "--paused") as server, server.connect() as client:
        world, body = falling(client, "w")
        for _ in range(20):
            world.step(20, commands=[command("impulse", body, (0.1, 0, 0))])
        until(lambda: about(client)["checkpoints_pruned"] >= 18)
        ticks = world.tick
    found = json.loads(replay(data / "w.cairn", "--verify").stdout.splitlines()[-1])
    # The first one, the newest two, that of the end, and the snapshot "start".
    assert found["verdict"] == "same" and found["ticks"] == ticks and found["holds"]["checkpoints"] <= 5
    assert found["begins"] == {"epoch": 1, "tick": 0, "pruned": False}


def test_hashes_after_a_kill_equal_those_without_it(tmp_path):
    """The same commands with and without a kill between them lead to the same state."""
    hashes = []
    for kill in (False, True):
        options = ["--data", str(tmp_path / f"data-{kill}"), "--paused"]
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(daemon(*options))
            world = stack.enter_context(server.connect()).create("w")
            shape = world.shape(box=(0.5, 0.5, 0.5))
            world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))])
            for i in range(20):
                world.step(7, commands=[command("spawn", position=(0.1 * i, 1 + i, 0), shapes=[shape])])
            before = world.step(33)
            if kill:
                world.wait_durable(before.tick)
                server.kill()
                server = stack.enter_context(daemon(*options))
                world = stack.enter_context(server.connect()).join("w")
                assert (world.tick, world.epoch) == (before.tick, before.epoch + 1)
                assert world.step(0).hash == before.hash
            hashes.append([before.hash, world.step(100).hash])
            world.client.close()
            assert stop(server) == 0
    assert hashes[0] == hashes[1]


def test_a_replay_of_two_racing_clients_gives_every_hash_of_ten_thousand_ticks(tmp_path):
    data = str(tmp_path / "data")
    with daemon("--data", data) as server, server.connect() as one, server.connect() as two:
        world = one.create("race", rate=1000)
        ground = world.spawn(status="static", shapes=[world.shape(box=(20, 1, 20))])
        ball, block = world.shape(sphere=0.3), world.shape(box=(0.3, 0.3, 0.3))
        other = two.join("race")
        rng = random.Random(SEED)
        peers = {world: [], other: []}
        world.speed(5)
        world.resume()
        assert ground == 1
        last = world.tick
        counted = 0
        while last < world.tick + RACE_TICKS:
            for peer, bodies in peers.items():
                commands = [command("spawn", position=(rng.uniform(-5, 5), 8, rng.uniform(-5, 5)),
                                    shapes=[rng.choice([ball, block])])]
                if bodies:
                    body = rng.choice(bodies)
                    commands.append(command("impulse", body, tuple(rng.uniform(-99, 99) for _ in range(3))))
                if len(bodies) > 20:
                    commands.append(command("remove", bodies.pop(0)))
                    # The impulse may act on the body that is removed: then the batch is still
                    # valid.
                result = peer.result(peer.send(*commands))
                bodies.append(result.values[0])
                last = max(last, result.tick)
                counted += 1
        world.pause()
        hashed = world.step(0)
        assert hashed.tick >= RACE_TICKS and counted > 100
        one.ask("saved", "save", world.number, "end")
    done = replay(os.path.join(data, "race.cairn"), "--verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(hashed.tick) in done.stdout, done.stdout


def test_a_changed_recording_does_not_verify(tmp_path):
    data = tmp_path / "data"
    with daemon("--data", str(data)) as server, server.connect() as client:
        world, _ = falling(client, "w")
        world.step(300)
    good = replay(data / "w.cairn", "--verify")
    assert good.returncode == 0, good.stderr
    with daemon("--data", str(tmp_path / "other")) as server, server.connect() as client:
        world, body = falling(client, "w")
        world.step(100, commands=[command("impulse", body, (1, 0, 0))])
        world.step(200)
    done = replay(data / "w.cairn", "--against", str(tmp_path / "other" / "w.cairn"))
    assert done.returncode == 2 and '"column": "position"' in done.stdout


@pytest.fixture
def open_path():
    """A directory that every user can read. It is none of pytest's: another session closes their common parent when it starts."""
    with tempfile.TemporaryDirectory(prefix="cairn-open-") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def test_a_recording_in_a_read_only_directory_verifies(tmp_path, open_path):
    with daemon("--data", str(tmp_path / "data")) as server, server.connect() as client:
        world, _ = falling(client, "kept")
        world.step(50)
    shelf = open_path / "shelf #1?"
    shelf.mkdir()
    kept, = (tmp_path / "data").glob("*.cairn")
    shutil.copy(kept, shelf / "kept.cairn")
    os.chmod(shelf / "kept.cairn", 0o444)
    os.chmod(shelf, 0o555)
    program, as_nobody = CLIENT, {}
    if os.getuid() == 0:
        # User nobody has fewer permissions. It may be unable to reach the build: a clone may be in
        # a home directory.
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        program, _ = (shutil.copy(path, open_path / os.path.basename(path)) for path in (CLIENT, DAEMON))
        if not all(folder.stat().st_mode & 0o001 for folder in open_path.resolve().parents):
            pytest.skip(f"user nobody cannot reach {open_path.parent}: set TMPDIR to a directory that it can reach")
    done = subprocess.run([program, "replay", str(shelf / "kept.cairn"), "--verify"], capture_output=True, text=True,
                          timeout=60, cwd="/", **as_nobody)
    assert done.returncode == 0, done.stderr
    assert not list(shelf.glob("*-shm"))


def test_saved_is_sent_after_the_snapshot_is_on_disk(tmp_path):
    """When SAVED arrives, a copy of the files contains the snapshot."""
    data = tmp_path / "data"
    hashes = []
    with daemon("--data", str(data)) as server, server.connect() as client:
        world, _ = falling(client, "w")
        for i in range(10):
            hashes.append(world.step(3).hash)
            saved = world.save(f"s{i}")
            assert saved.hash == hashes[-1]
            copy = tmp_path / f"copy{i}"
            copy.mkdir()
            for name in os.listdir(data):
                if name.startswith("w.cairn"):
                    shutil.copy(data / name, copy / name)
            assert saved.tick == world.tick
        server.kill()
    for i in (0, 4, 9):
        with daemon("--data", str(tmp_path / f"copy{i}"), "--paused") as server, server.connect() as client:
            world = client.join("w")
            restored = world.restore(f"s{i}")
            assert restored.hash == hashes[i] and restored.epoch > saved.epoch
    assert len(set(hashes)) == 10


def test_saved_worlds_survive_a_kill(tmp_path):
    data = str(tmp_path / "data")
    for turn in range(3):
        with daemon("--data", data, "--paused") as server, server.connect() as client:
            world = falling(client, "w")[0] if turn == 0 else client.join("w")
            if turn > 0:
                assert world.restore(f"s{turn - 1}").hash == saved.hash
            world.step(20 + turn)
            saved = world.save(f"s{turn}")
            server.kill()


def test_two_daemons_do_not_share_a_directory(tmp_path):
    data = str(tmp_path / "data")
    with daemon("--data", data) as server, server.connect() as client:
        world, _ = falling(client, "w")
        with pytest.raises(RuntimeError) as why:
            with daemon("--data", data):
                pass
        assert "in use" in str(why.value) or "another" in str(why.value)
        # The first daemon is not affected.
        world.step(5)
    with daemon("--data", data, "--paused") as server, server.connect() as client:
        assert client.join("w").tick == world.tick


def test_the_lock_of_a_killed_daemon_is_released(tmp_path):
    data = str(tmp_path / "data")
    for turn in range(3):
        with daemon("--data", data) as server, server.connect() as client:
            assert sorted(info[1] for info in client.list()) == [f"w{i}" for i in range(turn)]
            client.create(f"w{turn}").wait_durable(0)
            server.kill()


def run(*words, **environment):
    return subprocess.run([DAEMON, *words], capture_output=True, text=True, timeout=120,
                          env={"PATH": os.environ["PATH"], **environment})


@pytest.mark.parametrize("words, said", [
    (["--frobnicate"], "frobnicate"),
    (["--workers"], "workers"),
    (["--workers", "x"], "workers"),
    (["--workers", "33"], "workers"),
    (["--workers", "1", "--workers", "2"], "workers"),
    (["--log", "loud"], "log"),
    (["--queue-bytes", "1"], "queue-bytes"),
    (["--listen", "carrier-pigeon:1"], "carrier-pigeon"),
    (["--unix", "/nonexistent/dir/s.sock"], "s.sock"),
    (["--unix", "x" * 200], "unix"),
    (["--scene", "/nonexistent.yaml"], "nonexistent.yaml"),
    (["--scene", "a b=/nonexistent.yaml"], "a b"),
    (["run"], "SCENE"),
    (["run", "/nonexistent.yaml", "--ticks", "1"], "nonexistent"),
    (["stray"], "stray"),
], ids=lambda w: "-".join(w)[:40] if isinstance(w, list) else "")
def test_a_bad_option_is_named(words, said):
    done = run(*words)
    assert done.returncode == 1 and said.lower() in done.stderr.lower(), done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("cairnd")


def test_a_bad_option_of_the_environment_is_named():
    done = run(CAIRN_WORKERS="many")
    assert done.returncode == 1 and "workers" in done.stderr.lower()


def test_help_and_version():
    assert "--checkpoint-ticks" in run("--help").stdout
    assert run("--version").stdout.startswith("cairnd ")


def test_an_impossible_data_directory_is_named(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    done = run("--unix", str(tmp_path / "s"), "--data", str(tmp_path / "file"))
    assert done.returncode == 1 and "file" in done.stderr
    done = run("--unix", str(tmp_path / "s"), "--data", "/proc/nothing/here")
    assert done.returncode == 1 and "/proc/nothing" in done.stderr


def spoil(path, how):
    """Damages a world's file."""
    good = path.read_bytes()
    if how == "noise":
        path.write_bytes(bytes(random.Random(1).randbytes(len(good))))
    elif how == "truncated":
        path.write_bytes(good[:len(good) // 2])
    elif how == "other database":
        path.unlink()
        with sqlite3.connect(path) as db:
            db.execute("create table songs(name)")
        db.close()
    elif how == "diverged":
        with sqlite3.connect(path) as db:
            db.execute("delete from checkpoints where seq > (select min(seq) from checkpoints)")
            db.execute("update hashes set hashes = zeroblob(length(hashes))")
        db.close()
    elif how == "incompatible build":
        with sqlite3.connect(path) as db:
            db.execute("delete from checkpoints where seq > (select min(seq) from checkpoints)")
            db.execute("update epochs set motion = 'core 999' || substr(motion, instr(motion, ','))")
        db.close()
    else:
        path.write_bytes(b"")


def contents(data, name="w.cairn"):
    """The file and its write-ahead log as they are."""
    return {suffix: (data / (name + suffix)).read_bytes() for suffix in ("", "-wal") if (data / (name + suffix)).exists()}


def pace_on_disk(path):
    """Mode, speed in thousandths and barrier that a restart would find; None: nothing is written yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return dict(db.execute("select key, value from meta")).get("pace")
    except sqlite3.OperationalError:  # the file is being made
        return None


def fetch(address):
    with urllib.request.urlopen(address, timeout=120) as answer:
        assert answer.status == 200
        return answer.read().decode()


def metrics_of(server):
    address, = [line.split("address=")[1] for line in log_of(server).splitlines() if line.endswith("/metrics")]
    return address


def names(client):
    return sorted(name for _, name, *_ in client.list())


def two_worlds(data):
    with daemon("--data", str(data)) as server, server.connect() as client:
        for name in ("w", "good"):
            world, _ = falling(client, name)
            world.step(100)


REFUSALS = {"noise": "corrupt", "truncated": "corrupt", "other database": "corrupt", "diverged": "diverged",
            "incompatible build": "version"}


@pytest.mark.parametrize("how", list(REFUSALS))
def test_a_refused_file_is_unchanged_and_other_worlds_load(tmp_path, how):
    """The daemon starts without the world, reports that everywhere, and lets no other world take
    its name."""
    data = tmp_path / "data"
    two_worlds(data)
    spoil(data / "w.cairn", how)
    before = contents(data)
    options = ("--data", str(data), "--paused", "--admin", "127.0.0.1:0", "--scene", f"w={TOWER}")
    with daemon(*options) as server, server.connect() as client:
        assert names(client) == ["good"]
        assert client.join("good").tick >= 100
        said = client.info("refused")["refused"]
        assert [(file["name"], file["status"]) for file in said] == [("w", REFUSALS[how])] and said[0]["text"]
        assert client.info()["server"]["files_refused"] == 1
        log = log_of(server)
        assert f"world_refused name=w status={REFUSALS[how]}" in log and "scene_left_out name=w" in log
        admin = metrics_of(server)
        assert fetch(admin.replace("/metrics", "/readyz")) == f"ready\nrefused w {REFUSALS[how]}\n"
        assert "cairn_files_refused 1" in fetch(admin).splitlines()
        with refused("exists"):
            client.create("w")
        with pytest.raises(cairn.Refused) as why:
            client.create("w")
        assert "was refused" in str(why.value) and "move it away" in str(why.value)
        assert contents(data) == before
        # An operator has moved the file elsewhere.
        for suffix in before:
            (data / ("w.cairn" + suffix)).rename(tmp_path / ("kept.cairn" + suffix))
        assert client.create("w").tick == 0
        assert client.info()["server"]["files_refused"] == 0
    with daemon("--data", str(data), "--paused", "--strict-data") as server, server.connect() as client:
        assert names(client) == ["good", "w"]


@pytest.mark.parametrize("how", list(REFUSALS))
def test_with_strict_data_a_refused_file_prevents_the_start(tmp_path, how):
    data = tmp_path / "data"
    two_worlds(data)
    spoil(data / "w.cairn", how)
    before = contents(data)
    with pytest.raises(RuntimeError) as why:
        with daemon("--data", str(data), "--paused", "--strict-data"):
            pass
    assert "world w: " in str(why.value)
    assert contents(data) == before


def test_a_refused_file_of_a_killed_daemon_keeps_its_log(tmp_path):
    """The last records are in the log beside the file: reading the file to refuse it changes
    nothing."""
    data = tmp_path / "data"
    with daemon("--data", str(data), "--paused") as server, server.connect() as client:
        world, _ = falling(client, "w")
        world.step(100)
        world.wait_durable(world.tick)
        server.kill()
    with sqlite3.connect(data / "w.cairn") as db:
        db.execute("pragma wal_autocheckpoint = 0")
        db.execute("update hashes set hashes = zeroblob(length(hashes))")
        db.commit()
        for suffix in ("", "-wal"):
            shutil.copy(data / ("w.cairn" + suffix), tmp_path / ("x.cairn" + suffix))
    db.close()
    for suffix in ("", "-wal"):
        shutil.copy(tmp_path / ("x.cairn" + suffix), data / ("w.cairn" + suffix))
    before = contents(data)
    assert "-wal" in before
    with daemon("--data", str(data), "--paused") as server, server.connect() as client:
        assert client.list() == [] and client.info("refused")["refused"][0]["status"] == "diverged"
    assert contents(data) == before


def test_a_file_without_a_first_checkpoint_counts_as_missing(tmp_path):
    data = tmp_path / "data"
    two_worlds(data)
    spoil(data / "w.cairn", "empty")
    with daemon("--data", str(data), "--paused", "--strict-data") as server, server.connect() as client:
        assert names(client) == ["good"]
        assert client.info("refused")["refused"] == []
    assert contents(data) == {"": b""}


@pytest.mark.parametrize("kill", [False, True], ids=["ended", "killed"])
def test_the_pacing_of_a_world_survives_a_restart(tmp_path, kill):
    """Paused, running three times as fast, in lock-step with the lease free, at a barrier of two."""
    modes = ["running", "paused", "lockstep", "barrier"]

    def facts(client):
        return {w["name"]: (modes[w["mode"]], w["pace_permille"]) for w in client.info("worlds")["worlds"]}

    paces = {"still": "paused 1000 0", "fast": "running 3000 0", "locked": "lockstep 1000 0", "gate": "barrier 1000 2"}
    options = ["--data", str(tmp_path / "data")]
    with daemon(*options) as server, killed_at_the_end(server), server.connect() as client:
        worlds = {name: falling(client, name)[0] for name in paces}
        worlds["fast"].speed(3)
        worlds["fast"].resume()
        worlds["still"].pause()
        worlds["locked"].lockstep()
        worlds["gate"].barrier(2)
        before = facts(client)
        tick = worlds["still"].save("as-it-was").tick
        for name, pace in paces.items():
            until(lambda: pace_on_disk(tmp_path / "data" / (name + ".cairn")) == pace)
        if kill:
            server.kill()  # before its sessions have left
        else:
            client.close()
            assert stop(server) == 0
    assert before["fast"] == ("running", 3000) and before["gate"][0] == "barrier"
    with daemon(*options) as server, server.connect() as client, server.connect() as second:
        after = facts(client)
        # A session that leaves cleanly returns its lease.
        expected = before if kill else before | {"locked": ("paused", before["locked"][1])}
        assert after == expected
        assert client.join("still").tick == tick
        until(lambda: client.join("fast").tick > 200)
        locked = second.join("locked")
        locked.lockstep()
        assert locked.step(1).tick == locked.tick
        mine, theirs = client.join("gate"), second.join("gate")
        tick = mine.tick
        theirs.client.wire.send("step", theirs.number, 1, None, 1, [], 1)
        second.take(0.1)
        assert dict((w["name"], w["tick"]) for w in client.info("worlds")["worlds"])["gate"] == tick
        assert mine.step(1).tick == tick + 1


def test_a_world_without_a_file_does_not_survive_a_restart(tmp_path):
    with daemon() as server, server.connect() as client:
        falling(client, "w")
    with daemon("--data", str(tmp_path / "data")) as server, server.connect() as client:
        assert client.list() == []
        falling(client, "w")
        client.ask("reply", "world_destroy", 1)
        until(lambda: not [name for name in os.listdir(tmp_path / "data") if name.startswith("w.")])
        world, _ = falling(client, "w")
        assert world.epoch == 1
