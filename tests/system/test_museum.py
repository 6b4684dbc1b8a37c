"""Recordings of earlier builds: each opens, verifies as museum.json states, and can be continued."""
import json
import lzma
import shutil
import sqlite3
import subprocess
import sys

import pytest
from cairn.server import start
from support import CLIENT, DAEMON, SOURCE, daemon, log_of

MUSEUM = SOURCE / "tests" / "data" / "museum"
FOLDERS = {path.parent.name: json.loads(path.read_text()) for path in sorted(MUSEUM.glob("*/museum.json"))}
# Folders of recordings with this build's numbers: their ticks are simulated again, as those of OWN, which
# this build makes itself. Of all others the states open.
CURRENT = ()
OWN = ("clean", "killed", "restored", "planar")
SAME = [(None, name) for name in OWN] + [
    (folder, name) for folder in CURRENT for name in FOLDERS[folder] if FOLDERS[folder][name]["verdict"] == "same"]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A folder of recordings that this build has just made, for the tests of files of another build."""
    folder = tmp_path_factory.mktemp("own")
    subprocess.run([sys.executable, str(MUSEUM / "make"), DAEMON, str(folder), *OWN],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    return folder


def entry_of(kept, name):
    return json.loads((kept / "museum.json").read_text())[name]


def unpack(name, folder, kept):
    """Unpacks the recording as the daemon left it, with its log. `kept`: a folder, or one of the museum."""
    folder.mkdir(exist_ok=True)
    for path in (MUSEUM / kept).glob(name + ".cairn*.xz"):
        (folder / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
    return folder / (name + ".cairn")


def replay(path, *words):
    done = subprocess.run([CLIENT, "replay", str(path), *words], capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_every_recording_is_listed():
    for folder, about in FOLDERS.items():
        assert {path.name.split(".")[0] for path in (MUSEUM / folder).glob("*.xz")} == set(about)
    assert sum(path.stat().st_size for path in MUSEUM.glob("*/*.xz")) <= 300 << 10


@pytest.mark.parametrize("folder, name", SAME)
def test_a_recording_verifies_and_can_be_continued(tmp_path, own, folder, name):
    """Every tick has its recorded hash; a daemon that continues reaches the tick hash that the
    build of the recording reached; and its new records verify after the old ones."""
    about = FOLDERS[folder][name] if folder else entry_of(own, name)
    path = unpack(name, tmp_path / "data", folder or own)
    code, report = replay(path, "--verify")
    assert (code, report["verdict"]) == (0, about["verdict"]), report
    assert (report["ticks"], report["checkpoints"]) == (about["ticks"], about["checkpoints"])
    with daemon("--data", str(tmp_path / "data"), "--paused", "--journal-keep") as server, server.connect() as client:
        world = client.join(name)
        assert (world.epoch, world.tick) == (about["epochs"] + 1, about["tick"])
        assert world.step(about["after"]).tick_hash == about["tick_hash"]
    code, report = replay(path, "--verify")
    assert (code, report["verdict"]) == (0, about["verdict"]), report
    assert report["ticks"] == about["ticks"] + about["after"]


OLD = [(folder, name) for folder in FOLDERS if folder not in CURRENT for name in FOLDERS[folder]]
# Recordings that ended while records followed the last checkpoint.
KILLED = ("killed", "prototype", "exact", "joints")


@pytest.mark.parametrize("folder, name", OLD)
def test_a_recording_of_other_motion_opens_at_its_states(tmp_path, folder, name):
    """Ticks are not simulated again, states are verified, and a daemon continues from the last one;
    if records follow it, only with --upgrade redo, which simulates those ticks with this build."""
    about = FOLDERS[folder][name]
    path = unpack(name, tmp_path, folder)
    ticks = about["ticks"] + about.get("not_made_again", 0)
    code, report = replay(path, "--verify")
    assert (code, report["verdict"]) == (3, "states"), report
    assert (report["ticks"], report["not_made_again"]) == (0, ticks)
    assert report["states"] >= 1 or name in ("prototype", "exact")  # whose only state is the first
    options = ["--upgrade", "redo"] if name in KILLED else []
    if options:
        with daemon("--data", str(tmp_path), "--paused") as server, server.connect() as client:
            refused, = client.info("refused")["refused"]
            assert refused["status"] == "version" and "--upgrade redo" in refused["text"]
        if name == "prototype":
            return  # redoing 40 ticks of an exact method takes long on that scene
    with daemon("--data", str(tmp_path), "--paused", "--journal-keep", *options) as server, \
            server.connect() as client:
        world = client.join(name)
        assert (world.epoch, world.tick) == (about["epochs"] + 1, about["tick"])
        assert world.step(20).tick == about["tick"] + 20
    code, report = replay(path, "--verify")
    assert (code, report["verdict"], report["ticks"]) == (3, "states", 20), report


# ---- files of another build: other motion, other schema ------------------------------------------

OTHER = "core 7, free 1, soft-step 1, lcp 0"


def change(path, *statements):
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def query_rows(path, query):
    with sqlite3.connect(path) as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def of_incompatible_build(path):
    """Changes a file to one of a build with another core."""
    change(path, f"UPDATE epochs SET motion = '{OTHER}', build = 'cairn of another day'")


def test_a_file_of_the_first_schema_is_upgraded_with_an_epoch_and_a_checkpoint(tmp_path):
    path = unpack("restored", tmp_path, "core-1-lcp-0")
    assert query_rows(path, "PRAGMA user_version") == [(1,)]
    with daemon("--data", str(tmp_path), "--paused", "--journal-keep"):
        pass
    assert query_rows(path, "PRAGMA user_version") == [(2,)]
    report = query_rows(path, "SELECT cause, checkpoint, redone FROM epochs ORDER BY epoch")
    assert [cause for cause, _, _ in report] == ["created", "restored", "recovered", "upgraded"]
    assert report[-1] == ("upgraded", None, None)
    *earlier, last = [motion for motion, in query_rows(path, "SELECT motion FROM epochs ORDER BY epoch")]
    assert set(earlier) == {"core 1, free 1, soft-step 1, lcp 0"}
    assert last.startswith("core 4, free 2, soft-step 5, lcp 3, ")
    assert query_rows(path, "SELECT count(*) > 0 FROM checkpoints WHERE epoch = 4 AND tick = 140") == [(1,)]
    assert query_rows(path, "SELECT value FROM meta WHERE key = 'abi'") == []


def test_a_file_that_cannot_be_upgraded_is_unchanged(tmp_path):
    path = unpack("planar", tmp_path, "core-1-lcp-0")
    change(path, "CREATE TRIGGER no BEFORE INSERT ON epochs BEGIN SELECT raise(ABORT, 'no room'); END")
    before = path.read_bytes()
    with daemon("--data", str(tmp_path), "--paused") as server, server.connect() as client:
        assert client.list() == []
        assert client.info("refused")["refused"][0]["name"] == "planar"
    assert query_rows(path, "PRAGMA user_version") == [(1,)]
    assert path.read_bytes() == before
    change(path, "DROP TRIGGER no")
    with daemon("--data", str(tmp_path), "--paused") as server, server.connect() as client:
        assert client.join("planar").tick == 200


def test_states_of_other_motion_open_and_ticks_are_not_simulated_again(tmp_path, own):
    """A clean end: the last state is the last checkpoint, and the world continues from it."""
    path = unpack("restored", tmp_path, own)
    of_incompatible_build(path)
    code, report = replay(path, "--verify")
    assert (code, report["verdict"]) == (3, "states")
    assert (report["ticks"], report["not_made_again"]) == (0, 180)
    assert report["states"] >= 2 and report["last"]["tick"] == 140
    with daemon("--data", str(tmp_path), "--paused", "--journal-keep") as server, server.connect() as client:
        world = client.join("restored")
        assert (world.epoch, world.tick) == (4, 140)
        assert world.step(60).tick_hash == entry_of(own, "restored")["tick_hash"]
        # A snapshot of that build opens too.
        before = world.restore("before")
        assert (before.tick, before.other_bits) == (60, False)
        world.step(5)
    code, report = replay(path, "--verify")
    assert (code, report["verdict"]) == (3, "states"), report
    assert (report["ticks"], report["not_made_again"]) == (65, 180)
    assert query_rows(path, "SELECT cause FROM epochs ORDER BY epoch")[3] == ("upgraded",)


def test_a_damaged_state_of_other_motion_differs(tmp_path, own):
    path = unpack("clean", tmp_path, own)
    of_incompatible_build(path)
    change(path, "UPDATE checkpoints SET state_hash = zeroblob(8) WHERE seq = (SELECT max(seq) FROM checkpoints)")
    done = subprocess.run([CLIENT, "replay", str(path), "--verify"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "state hash" in done.stderr


def test_ticks_of_other_motion_after_the_last_checkpoint_are_refused_or_redone(tmp_path, own):
    path = unpack("killed", tmp_path, own)
    of_incompatible_build(path)
    before = path.read_bytes()
    with daemon("--data", str(tmp_path), "--paused") as server, server.connect() as client:
        refused, = client.info("refused")["refused"]
        assert refused["status"] == "version"
        # The build, what is at stake, and the two remedies.
        for word in ("80 ticks", "cairn of another day", "close it with that build", "--upgrade redo"):
            assert word in refused["text"]
    assert path.read_bytes() == before
    with daemon("--data", str(tmp_path), "--paused", "--upgrade", "redo", "--journal-keep") as server, \
            server.connect() as client:
        world = client.join("killed")
        assert (world.epoch, world.tick) == (2, 180)
        # Here the core is the same in fact, so the redone ticks equal the recorded ones.
        assert world.step(60).tick_hash == entry_of(own, "killed")["tick_hash"]
        assert 'world_upgraded name=killed from="core 7, free 1, soft-step 1, lcp 0" redone=80' in log_of(server)
    assert query_rows(path, "SELECT cause, redone FROM epochs WHERE epoch = 2") == [("upgraded", 80)]
    code, report = replay(path, "--verify")
    assert (code, report["verdict"], report["ticks"], report["not_made_again"]) == (3, "states", 60, 180), report


@pytest.mark.parametrize("results, status", [(0, None), (34, "diverged")], ids=["same", "another"])
def test_redoing_stops_at_a_batch_with_another_result(tmp_path, own, results, status):
    path = unpack("killed", tmp_path, own)
    of_incompatible_build(path)
    change(path, f"UPDATE batches SET result = {results}")
    before = path.read_bytes()
    with daemon("--data", str(tmp_path), "--paused", "--upgrade", "redo") as server, server.connect() as client:
        refused = client.info("refused")["refused"]
        assert [file["status"] for file in refused] == ([status] if status else [])
        assert not status or "recorded as" in refused[0]["text"]
    assert (path.read_bytes() == before) == bool(status)


BOX = str(SOURCE / "clients" / "scenes" / "pile-box.yaml")


def other_hashes(path, tick):
    """Changes the recorded hashes after a tick, as if a build whose bits are others had made these ticks."""
    with sqlite3.connect(path) as db:
        for epoch, first, hashes in db.execute("SELECT epoch, tick, hashes FROM hashes").fetchall():
            kept = max(0, 8 * (tick + 1 - first))
            other = bytes(byte ^ 1 for byte in hashes[kept:])
            db.execute("UPDATE hashes SET hashes = ? WHERE epoch = ? AND tick = ?", (hashes[:kept] + other, epoch, first))
    db.close()


@pytest.mark.parametrize("method, resumable", [("pile", False), ("pile", True), ("impact", False), ("lcp", False)])
def test_ticks_of_an_experimental_method_in_other_bits_are_redone(tmp_path, method, resumable):
    """A method of motion number 0 has other bits in another build, though all numbers are the same: the ticks after
    the last stored state would be lost if they could not be redone. Of other methods such a file is damaged. Sessions
    that may be resumed let recovery begin before the last state, for their results."""
    data = tmp_path / "data"
    data.mkdir()
    server = start(str(tmp_path), "--data", str(data), "--paused", "--checkpoint-ticks", "10", "--durability", "command")
    try:
        subprocess.run([CLIENT, "--connect", server.address, "load", "w", BOX, "--let", "n=2", "--let", "layers=1"], check=True)
        client = server.connect(resumes=resumable, role="controller")
        world = client.join("w")
        world.set_method(method)
        for _ in range(5):
            world.step(5)
    finally:
        server.kill()
    path = data / "w.cairn"
    last, = query_rows(path, "SELECT max(tick) FROM checkpoints")[0]
    end = query_rows(path, "SELECT max(tick + count - 1) FROM hashes")[0][0]
    assert last == 20 and end == 25
    other_hashes(path, 5 if resumable else last)
    shutil.copytree(data, tmp_path / "copy")  # an orderly end would forget the sessions
    with daemon("--data", str(tmp_path / "copy"), "--paused") as server, server.connect() as client:
        refused, = client.info("refused")["refused"]
        assert refused["status"] == "diverged" and ("--upgrade redo" in refused["text"]) == (method != "lcp"), refused
    with daemon("--data", str(data), "--paused", "--upgrade", "redo") as server, server.connect() as client:
        if method == "lcp":
            assert client.info("refused")["refused"][0]["status"] == "diverged"
            return
        world = client.join("w")
        assert (world.epoch, world.tick) == (2, 25)
        assert "redone=5" in log_of(server)
        world.step(5)
    assert query_rows(path, "SELECT cause, redone FROM epochs WHERE epoch = 2") == [("upgraded", 5)]
    # The state after the redone ticks is stored: it opens without the option, and goes on.
    with daemon("--data", str(data), "--paused") as server, server.connect() as client:
        assert client.join("w").tick == 30


def test_a_schema_of_a_later_build_is_refused_and_unchanged(tmp_path, own):
    path = unpack("planar", tmp_path, own)
    change(path, "PRAGMA user_version = 3")
    before = path.read_bytes()
    with daemon("--data", str(tmp_path), "--paused") as server, server.connect() as client:
        refused, = client.info("refused")["refused"]
        assert refused["status"] == "version" and "version 3" in refused["text"]
    assert path.read_bytes() == before
