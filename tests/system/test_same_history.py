"""One scene has one history: by --scene, by `cairnd run`, and by what loads it over the wire: `cairn load`, the Python
client, and libcairn. The state after loading and after some ticks has one tick, edit and hash by every way."""
import ctypes
import json
import subprocess

import pytest
from support import BUILD, DAEMON, SANITIZED, SOURCE, Cli, daemon

SCENES = sorted((SOURCE / "clients" / "scenes").glob("*.yaml"))
TICKS = 4
# `client.load` of Python runs `cairn load`, so a few scenes show that it is passed on.
BY_PYTHON = ("door", "ragdolls", "tower")


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


def load_by_c(address, name, scene):
    """cairn_client_load of libcairn, called through ctypes."""
    library = ctypes.CDLL(str(BUILD / "package" / "lib" / "libcairn.so"))
    library.cairn_client_close.argtypes = [ctypes.c_void_p]
    client, world = ctypes.c_void_p(), ctypes.c_void_p()
    error = ctypes.create_string_buffer(256)  # cairn_error has 208 bytes
    assert library.cairn_client_open(address.encode(), None, ctypes.byref(client), error) == 0, error.raw[48:]
    status = library.cairn_client_load(client, name.encode(), str(scene).encode(), ctypes.byref(world), error)
    library.cairn_client_close(client)
    assert status == 0, error.raw[48:]


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_a_scene_has_one_history_by_every_way_in(server, scene):
    cli = Cli(server.address)
    ran = json.loads(subprocess.run([DAEMON, "run", str(scene), "--ticks", str(TICKS)], check=True, capture_output=True,
                                    text=True).stdout)
    with daemon("--scene", str(scene), "--paused") as other:
        served = Cli(other.address)
        name, = [world["name"] for world in served.lines("worlds")]
        first, last = served.json("step", name, 0), served.json("step", name, TICKS)
    assert (last["hash"], last["tick_hash"], last["tick"]) == (ran["hash"], ran["tick_hash"], TICKS)
    ways = {"cli": lambda world: cli.text("load", world, scene)}
    with server.connect() as client:
        if scene.stem in BY_PYTHON:
            ways["python"] = lambda world: client.load(scene, world)
        if not SANITIZED:  # the library needs the runtime of its sanitizer
            ways["c"] = lambda world: load_by_c(server.address, world, scene)
        for way, load in ways.items():
            world = f"{scene.stem}-{way}"
            load(world)
            assert cli.json("step", world, 0)["hash"] == first["hash"], way
            stepped = cli.json("step", world, TICKS)
            assert {key: stepped[key] for key in ("tick", "edit", "hash", "tick_hash")} \
                == {key: last[key] for key in ("tick", "edit", "hash", "tick_hash")}, way
            client.join(world).destroy()
