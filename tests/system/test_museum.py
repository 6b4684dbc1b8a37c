"""Recordings of earlier builds: every one opens, verifies as museum.json says, and goes on."""
import json
import lzma
import subprocess

import pytest
from support import CLIENT, SOURCE, daemon

MUSEUM = SOURCE / "tests" / "data" / "museum"
ABOUT = json.loads((MUSEUM / "museum.json").read_text())


def unpack(name, folder):
    """The recording as the daemon left it, its log too."""
    folder.mkdir(exist_ok=True)
    for path in MUSEUM.glob(name + ".cairn*.xz"):
        (folder / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
    return folder / (name + ".cairn")


def replay(path, *words):
    done = subprocess.run([CLIENT, "replay", str(path), *words], capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_every_recording_is_told_of():
    assert {path.name.split(".")[0] for path in MUSEUM.glob("*.xz")} == set(ABOUT)
    assert sum(path.stat().st_size for path in MUSEUM.glob("*.xz")) <= 300 << 10


@pytest.mark.parametrize("name", ABOUT)
def test_a_recording_verifies_and_goes_on(tmp_path, name):
    """Every tick is the same tick; a daemon goes on to the tick hash that the build of the recording went on to; and
    what it wrote behind the old records verifies with them."""
    about = ABOUT[name]
    path = unpack(name, tmp_path / "data")
    code, told = replay(path, "--verify")
    assert (code, told["verdict"]) == (0, about["verdict"]), told
    assert (told["ticks"], told["checkpoints"]) == (about["ticks"], about["checkpoints"])
    with daemon("--data", str(tmp_path / "data"), "--paused", "--journal-keep") as server, server.connect() as client:
        world = client.join(name)
        assert (world.epoch, world.tick) == (about["epochs"] + 1, about["tick"])
        assert world.step(about["after"]).tick_hash == about["tick_hash"]
    code, told = replay(path, "--verify")
    assert (code, told["verdict"]) == (0, about["verdict"]), told
    assert told["ticks"] == about["ticks"] + about["after"]
