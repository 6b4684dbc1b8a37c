"""What lies on disk: whose it is, and what a file that somebody else has written can do to the daemon that reads it."""
import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat

import pytest
from support import cairn, daemon, falling, log_of, until

ENDLESS = ("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
           " SELECT x AS seq, 1 AS epoch, 1 AS tick, 0 AS status FROM n WHERE x < 0")
FOREIGN = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON epochs BEGIN DELETE FROM checkpoints; END",
    "a view of its own": "CREATE VIEW mine AS SELECT 1",
    "a view in place of a table, without end": "DROP TABLE stops; CREATE VIEW stops AS " + ENDLESS,
    "another view of our name": "DROP VIEW timeline; CREATE VIEW timeline AS SELECT load_extension('x')",
    "a table of its own": "CREATE TABLE mine (x)",
    "a generated column": "DROP TABLE stops; CREATE TABLE stops (seq INTEGER PRIMARY KEY, epoch, tick,"
                          " status AS (abs(seq)))",
    "an index over an expression": "CREATE INDEX mine ON stops (abs(tick))",
}


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


FILES = ("arena.cairn", "arena.cairn-wal", "arena.cairn-shm")


def modes(folder):
    """By name, of what is still there when it is asked about."""
    found = {}
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = mode(path)
    return found


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_what_the_daemon_makes_is_its_owners_alone(tmp_path, umask):
    data, found = tmp_path / "data", {}
    before = os.umask(umask)
    try:
        with daemon("--data", str(data)) as server:
            with server.connect() as client:
                world, _ = falling(client, "arena")
                world.step(5)
                world.save("s")
                # Another of the name: its file is made by another thread, after the old one has gone.
                client.ask("reply", "world_destroy", world.number)
                world, _ = falling(client, "arena")
                world.step(5)
                # The old ones may go while they are looked at.
                until(lambda: found.update(modes(data)) or {"cairnd.lock", *FILES} <= set(found))
                world.save("s")
                found.update(modes(data))
    finally:
        os.umask(before)
    assert set(found.values()) == {0o600} and mode(data) == 0o700, found


def test_a_directory_that_everybody_may_read_is_named(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    with daemon("--data", str(data)) as server:
        assert "data_open_to_others" in log_of(server) and "mode=755" in log_of(server)
    assert mode(data) == 0o755


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A directory with two worlds, closed in order."""
    data = tmp_path_factory.mktemp("good") / "data"
    with daemon("--data", str(data)) as server, server.connect() as client:
        for name in ("arena", "lobby"):
            falling(client, name)[0].step(3)
    return data


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_with_what_is_not_ours_is_refused_and_left_as_it_was(good, tmp_path, what):
    data = tmp_path / "data"
    shutil.copytree(good, data)
    path = data / "arena.cairn"
    with sqlite3.connect(path) as db:
        db.executescript("PRAGMA journal_mode = DELETE;" + FOREIGN[what])
    db.close()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with daemon("--data", str(data)) as server, server.connect() as client:
        assert [info[1] for info in client.list()] == ["lobby"]
        row, = client.info("refused")["refused"]
        assert (row["name"], row["status"]) == ("arena", "corrupt") and "not of this program" in row["text"]
        with pytest.raises(cairn.Refused):
            client.create("arena")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert sorted(p.name for p in data.iterdir() if p.name.startswith("arena")) == ["arena.cairn"]


def test_files_of_this_program_are_taken_as_ever(good, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(good, data)
    with daemon("--data", str(data)) as server, server.connect() as client:
        assert sorted(info[1] for info in client.list()) == ["arena", "lobby"]
