"""Files on disk: their owner and mode, and files written by others that the daemon must not trust."""
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
    """Modes by name, of the files that still exist when their mode is read."""
    found = {}
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = mode(path)
    return found


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_files_of_the_daemon_are_accessible_to_their_owner_only(tmp_path, umask):
    data, found = tmp_path / "data", {}
    before = os.umask(umask)
    try:
        with daemon("--data", str(data)) as server:
            with server.connect() as client:
                world, _ = falling(client, "arena")
                world.step(5)
                world.save("s")
                # Another world of the name: its file is created by another thread after the old one
                # has been deleted.
                client.ask("reply", "world_destroy", world.number)
                world, _ = falling(client, "arena")
                world.step(5)
                # The old files may be deleted while their modes are read.
                until(lambda: found.update(modes(data)) or {"cairnd.lock", *FILES} <= set(found))
                world.save("s")
                found.update(modes(data))
    finally:
        os.umask(before)
    assert set(found.values()) == {0o600} and mode(data) == 0o700, found


def test_a_directory_readable_by_everybody_is_named(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    with daemon("--data", str(data)) as server:
        assert "data_open_to_others" in log_of(server) and "mode=755" in log_of(server)
    assert mode(data) == 0o755


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A directory with two worlds, closed cleanly."""
    data = tmp_path_factory.mktemp("good") / "data"
    with daemon("--data", str(data)) as server, server.connect() as client:
        for name in ("arena", "lobby"):
            falling(client, name)[0].step(3)
    return data


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_with_foreign_objects_is_refused_and_unchanged(good, tmp_path, what):
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


def test_files_of_this_program_are_accepted(good, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(good, data)
    with daemon("--data", str(data)) as server, server.connect() as client:
        assert sorted(info[1] for info in client.list()) == ["arena", "lobby"]
