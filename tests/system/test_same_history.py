"""One scene has one history: by --scene, by `cairnd run`, and by what loads it over the wire: `cairn load`, the Python
and the JavaScript client, and libcairn. The state after loading and after some ticks has one tick, edit and hash by every way."""
import contextlib
import ctypes
import json
import os
import shutil
import subprocess

import pytest
from cairn import launch
from support import BUILD, DAEMON, SANITIZED, SEEDLESS, SOURCE, Cli, daemon

SCENES = sorted((SOURCE / "clients" / "scenes").glob("*.yaml")) + sorted((SOURCE / "clients" / "scenes" / "robots").iterdir())
TICKS, OPTION_VALUES = 4, 64
# Loads what each line asks for, [scene, name, variables], and answers with a line.
LOAD_BY_JS = """
import { createInterface } from "node:readline";
import { connect, load } from "./src/tcp.js";
const client = await connect(process.argv[1]);
for await (const line of createInterface({ input: process.stdin })) {
  const [scene, name, variables] = JSON.parse(line), world = await load(client, scene, name, { variables });
  if (world.name !== name || world.tick !== 0) throw new Error(`${world.name} is at tick ${world.tick}`);
  console.log(name);
}
client.close();
"""


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


@pytest.fixture(scope="module")
def js(tmp_path_factory):
    """A folder with the JavaScript client and what it depends on; None without Node.js."""
    if shutil.which("npm") is None:
        return None
    staged = BUILD.resolve() / "npm" / "js"
    if not (staged / "node_modules").exists():
        subprocess.run([SOURCE / "clients" / "npm_stage", SOURCE, BUILD.resolve(), "js"], check=True)
    folder = tmp_path_factory.mktemp("js")
    shutil.copytree(SOURCE / "clients" / "js" / "src", folder / "src")
    shutil.copy(SOURCE / "clients" / "js" / "package.json", folder)
    (folder / "node_modules").symlink_to(staged / "node_modules")
    return folder


@pytest.fixture(scope="module")
def load_by_js(server, js):
    """Loads a scene by the JavaScript client, which one process of Node.js serves for all tests; None without Node.js."""
    if js is None:
        yield None
        return
    node = subprocess.Popen(["node", "--input-type=module", "--eval", LOAD_BY_JS, server.address], cwd=js, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env={**os.environ, "CAIRN": str(BUILD.resolve() / "cairn")})

    def load(name, scene, variables=None):
        node.stdin.write(json.dumps([str(scene), name, variables or {}]) + "\n")
        node.stdin.flush()
        assert node.stdout.readline() == name + "\n"
    yield load
    node.stdin.close()
    assert node.wait(60) == 0


@pytest.fixture(scope="module")
def served():
    """The daemons that make worlds of the scenes with --scene, by file: one for as many as an option may have values. Each
    test connects anew, because a session that is silent for long ends."""
    with contextlib.ExitStack() as stack:
        daemons = {}
        for first in range(0, len(SCENES), OPTION_VALUES):
            some = SCENES[first:first + OPTION_VALUES]
            words = [word for scene in some for word in ("--scene", f"{scene.name}={scene}")]
            running = stack.enter_context(daemon("--paused", *words))
            daemons.update({scene: running for scene in some})
        yield daemons


def load_by_c(address, name, scene, lets=()):
    """cairn_client_load_with of libcairn, called through ctypes."""
    library = ctypes.CDLL(str(BUILD / "package" / "lib" / "libcairn.so"))
    library.cairn_client_close.argtypes = [ctypes.c_void_p]
    client, world = ctypes.c_void_p(), ctypes.c_void_p()
    error = ctypes.create_string_buffer(256)  # cairn_error has 208 bytes
    assert library.cairn_client_open(address.encode(), None, ctypes.byref(client), error) == 0, error.raw[48:]
    array = (ctypes.c_char_p * len(lets))(*(let.encode() for let in lets))
    status = library.cairn_client_load_with(client, name.encode(), str(scene).encode(), array, len(lets), ctypes.byref(world),
                                            error)
    library.cairn_client_close(client)
    assert status == 0, error.raw[48:]


def test_a_scene_with_other_variables_has_one_history_by_every_way_in(server, load_by_js, tmp_path):
    scene, name, ticks = SOURCE / "clients" / "scenes" / "castle.yaml", "castle", 4
    variables = {"towers": 4, "rows": "2 + 1"}
    lets = ["--let", "towers=4", "--let", "rows=2 + 1"]
    cli, flat = Cli(server.address), tmp_path / "flat.yaml"
    flat.write_text(cli.text("convert", scene, *lets))

    def run(*words):
        done = subprocess.run([DAEMON, "run", *words, "--ticks", str(ticks)], check=True, capture_output=True, text=True,
                              env=SEEDLESS)
        return {key: json.loads(done.stdout)[key] for key in ("hash", "tick_hash", "bodies")}
    ran = run(str(scene), *lets)
    assert ran["bodies"] < run(str(scene))["bodies"] and ran == run(str(flat))
    with daemon("--scene", str(scene), "--paused", *lets) as other:
        last = Cli(other.address).json("step", name, ticks)
    assert (last["hash"], last["tick_hash"]) == (ran["hash"], ran["tick_hash"])
    with server.connect() as client:
        ways = {"cli": lambda world: cli.text("load", world, scene, *lets), "flat": lambda world: cli.text("load", world, flat),
                "python": lambda world: client.load(scene, world, variables=variables)}
        if load_by_js is not None:
            ways["js"] = lambda world: load_by_js(world, scene, variables)
        if not SANITIZED:
            ways["c"] = lambda world: load_by_c(server.address, world, scene, lets[1::2])
        for way, load in ways.items():
            load(way)
            stepped = cli.json("step", way, ticks)
            assert (stepped["hash"], stepped["tick_hash"]) == (ran["hash"], ran["tick_hash"]), way
            client.join(way).destroy()
    with launch(scene=scene, variables=variables) as client:
        assert client.join(name).step(ticks).hash == ran["hash"]


def state(world, ticks):
    """What names a state, after some ticks."""
    stepped = world.step(ticks)
    return stepped.tick, stepped.edit, stepped.hash, stepped.tick_hash


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.name)
def test_a_scene_has_one_history_by_every_way_in(server, load_by_js, served, scene):
    ran = json.loads(subprocess.run([DAEMON, "run", str(scene), "--ticks", str(TICKS)], check=True, capture_output=True,
                                    text=True, env=SEEDLESS).stdout)
    with served[scene].connect() as client:
        world = client.join(scene.name)
        first, last = state(world, 0), state(world, TICKS)
    assert last[0] == TICKS and last[2:] == (ran["hash"], ran["tick_hash"])
    with server.connect() as client:
        ways = {"cli": lambda world: Cli(server.address).text("load", world, scene),
                "python": lambda world: client.load(scene, world)}
        if load_by_js is not None:
            ways["js"] = lambda world: load_by_js(world, scene)
        if not SANITIZED:  # the library needs the runtime of its sanitizer
            ways["c"] = lambda world: load_by_c(server.address, world, scene)
        for way, load in ways.items():
            name = f"{scene.stem}-{way}"
            load(name)
            world = client.join(name)
            assert state(world, 0)[2] == first[2], way
            assert state(world, TICKS) == last, way
            world.destroy()
