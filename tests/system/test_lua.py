"""The schema, and the Lua client that is generated from it: the same bytes as the wire vectors, and a world of a daemon."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from support import CLIENT, SOURCE, Cli, cairn, daemon

LUA = SOURCE / "clients" / "lua"
ENVIRONMENT = {**os.environ, "LUA_PATH": f"{LUA}/?.lua;{LUA}/?/init.lua;;"}
have_lua = shutil.which("lua5.4") is not None and subprocess.run(
    ["lua5.4", "-e", "require 'socket'"], capture_output=True).returncode == 0
needs_lua = pytest.mark.skipif(not have_lua, reason="lua5.4 and lua-socket are not installed")
MESSAGES = json.loads((SOURCE / "tests" / "data" / "wire" / "messages.json").read_text())


@pytest.fixture(scope="module")
def schema():
    return json.loads(subprocess.run([CLIENT, "schema"], check=True, capture_output=True, text=True).stdout)


def lua(program, *words, text=None):
    done = subprocess.run(["lua5.4", str(LUA / program), *words], input=text, capture_output=True, text=True, env=ENVIRONMENT,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_schema_has_what_the_manifests_have(schema):
    text = (SOURCE / "protocol" / "messages.def").read_text()
    named = {int(number): name for number, name in re.findall(r"^(?:MESSAGE|RESERVED)\((\d+), (\w+)", text, re.M)}
    assert {item["number"]: item["name"] for item in schema["messages"]} == named
    assert {item["name"]: item["number"] for item in schema["commands"] if not item["reserved"]} \
        == {name: number for name, (number, _, _) in cairn.manifest.COMMAND.items()}
    assert {item["name"]: item["number"] for item in schema["queries"] if not item["reserved"]} == cairn.manifest.QUERY
    assert {item["name"]: 1 << item["bit"] for item in schema["columns"]} == cairn.manifest.COLUMN
    hello = next(item for item in schema["messages"] if item["name"] == "HELLO")
    assert hello["layout"] == "map" and hello["fields"][0]["name"] == "protocol" and hello["fields"][0]["needed"]
    assert all(field["doc"] for item in schema["messages"] for field in item["fields"])


def test_the_generated_client_is_current(schema, tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    subprocess.run([sys.executable, str(LUA / "make_client.py"), str(tmp_path / "schema.json"), "--check"], check=True)


@needs_lua
def test_the_generated_client_has_the_bytes_of_every_wire_vector():
    out = lua("echo.lua", text="".join(vector["frame"] + "\n" for vector in MESSAGES)).splitlines()
    assert len(out) == len(MESSAGES)
    for line, vector in zip(out, MESSAGES):
        name, frame = line.split("\t")
        assert name == vector["name"].split()[0].lower()
        assert frame == vector["frame"], vector["name"]


@needs_lua
def test_the_generated_client_makes_the_world_that_the_python_client_makes():
    with daemon() as server, server.connect() as client:
        text = lua("example.lua", server.address)
        own = re.search(r"hash ([0-9a-f]{16})", text).group(1)
        assert Cli(server.address).json("step", "hello-lua", 0)["hash"] == own
        assert re.search(r"contact of 1 and 2: 5136\.\d N", text)
        world = client.create("same")
        plane, sphere = world.shape(plane=((0, 1, 0), 0)), world.shape(sphere=0.5)
        world.step(0, [cairn.command("spawn", "static", (0, 0, 0), [[plane]]),
                       cairn.command("spawn", "dynamic", (0, 5, 0), [[sphere]])])
        assert world.step(120, [cairn.command("impulse", 2, (500.0, 0.0, 0.0))]).hash == own


@needs_lua
def test_a_refusal_prints_as_a_sentence(tmp_path):
    script = tmp_path / "refused.lua"
    script.write_text('''local client = require("cairn").connect(arg[1])
local good, why = pcall(client.join, client, "none")
assert(not good and why.status == "unknown_world")
print(tostring(why))''')
    with daemon() as server:
        assert lua(script, server.address).startswith("unknown_world: ")


@needs_lua
@pytest.mark.parametrize("timeout", ["0", "soon", "-5", "1.5"])
def test_a_time_to_wait_that_is_none_is_refused(timeout):
    with daemon() as server:
        done = subprocess.run(["lua5.4", "-e", "require('cairn').connect(arg[1])", "-", server.address], input="", text=True,
                              capture_output=True, env=ENVIRONMENT | {"CAIRN_TIMEOUT": timeout}, timeout=60)
    assert done.returncode == 1 and f"CAIRN_TIMEOUT is {timeout}: it must be milliseconds, from 1" in done.stderr
