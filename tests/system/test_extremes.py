"""NaN, infinities and 1e308 in each number of each command and query, from the command line and from Lua: a refusal that names
the field, on a connection that lives on. The same for C is in test_c_library.py, for Python and JavaScript beside these clients."""
import json
import re
import subprocess

import pytest
from support import BRIEF, CLIENT, LIMIT, daemon
from test_lua import ENVIRONMENT, LUA, needs_lua

EXTREMES = ("nan", "inf", "-inf", "1e308", "-1e308")


@pytest.fixture(scope="module")
def schema():
    return json.loads(subprocess.run([CLIENT, "schema"], check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        with running.connect() as client:
            world = client.create("extremes")
            world.shape(sphere=1)
            world.spawn(mass=1.0)
            world.joint_create("spherical", 0, 1)
        yield running


def spoiled(kind, value):
    """Texts of a field with `value` in one place of a number, as `cairn command` reads them."""
    rows = {"attachments": ("1,{},0,0", "1,0,0,0,1,0,{},0"), "targets": ("1,0,{}",), "points": ("{},0", "0,{}")}
    places = {"f64": ("{}",), "vec3": ("{},0,0", "0,0,{}"), "quat": ("{},0,0,0", "1,0,0,{}")} | rows
    return [text.replace("{}", value) for text in places.get(kind, ())]


# Valid values of required fields, by type.
VALID = {"body": "1", "shape": "1", "joint": "1", "field": "1", "particles": "1", "enum": "1", "u32": "1", "integer": "1", "seed": "1", "f64": "1", "vec3": "0,0,0",
         "quat": "1,0,0,0", "text": "sleep.time", "name": "00" * 32, "attachments": "1", "targets": "1,0,0", "points": "0,0"}


def test_every_number_of_every_command_by_the_command_line(schema, server):
    running, count = [], 0

    def check():
        while running:
            process, words, field = running.pop()
            text = process.communicate(timeout=LIMIT)[1]
            assert process.returncode == 1, (words, text)
            error = json.loads(text)["error"]
            assert error["status"] in ("not_finite", "range", "type") and (error["field"] == field or field in error["text"]), words
    for command in schema["commands"]:
        for place, field in enumerate(command["fields"]):
            needed = [f"{other['name']}={VALID[other['type']]}" for other in command["fields"][:command.get("needed", 0)]
                      if other is not field]
            for at, value in enumerate(EXTREMES):
                # Each field has each value, each place of a number some of them.
                texts = spoiled(field["type"], value)
                if not texts:
                    continue
                words = ["extremes", command["name"], *needed, f"{field['name']}={texts[at % len(texts)]}"]
                running.append((subprocess.Popen([CLIENT, "--connect", server.address, "--json", "command", *words],
                                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=BRIEF), words, field["name"]))
                count += 1
                if len(running) >= 8:
                    check()
    check()
    with server.connect() as client:
        assert count > 250 and client.join("extremes").step(0).tick == 0


PROGRAM = """
local cairn = require "cairn"
local wire = cairn.wire
local client = cairn.connect(arg[1])
local world = client:join("extremes")
local before = world:step(0).state_hash.bin
local extremes = {0 / 0, 1 / 0, -1 / 0, 1e308, -1e308}
local valid = {body = 1, shape = 1, joint = 1, field = 1, particles = 1, enum = 1, u32 = 1, integer = 1, seed = 1, f64 = 1.0, vec3 = {0.0, 0.0, 0.0},
	quat = {1.0, 0.0, 0.0, 0.0}, text = "sleep.time", name = {bin = string.rep("\\0", 32)}, attachments = {{1}},
	targets = {{1, 0, 0.0}}, points = {{0.0, 0.0}}}
local count = 0

local function spoiled(kind, x)
	if kind == "f64" then return {x} end
	if kind == "vec3" then return {{x, 0.0, 0.0}, {0.0, x, 0.0}, {0.0, 0.0, x}} end
	if kind == "quat" then return {{x, 0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, x}} end
	if kind == "attachments" then return {{{1, {0.0, x, 0.0}}}, {{1, {0.0, 0.0, 0.0}, {1.0, x, 0.0, 0.0}}}} end
	if kind == "targets" then return {{{1, 0, x}}} end
	if kind == "points" then return {{{x, 0.0}}, {{0.0, x}}} end
	return {}
end

-- The client or the server refuses, and names the field; the server in any case.
local function refused(what, field, call)
	local good, why = pcall(call)
	local named = type(why) == "table" and why.field == field and (why.status == "not_finite" or why.status == "range")
	if good or not (named or type(why) == "string" and why:find(field, 1, true)) then
		print(what, field, good, type(why) == "table" and why.text or why)
	end
	count = count + 1
end

for name, info in pairs(wire.command) do
	for i, field in ipairs(info.fields) do
		for _, x in ipairs(extremes) do
			for _, value in ipairs(spoiled(field.type, x)) do
				local fields, raw = {}, {info.number}
				for k, other in ipairs(info.fields) do
					local usual = other.default == nil and valid[other.type] or other.default
					if name == "spawn" and other.name == "shapes" then usual = valid.attachments end
					fields[other.name] = k == i and value or usual
					raw[k + 1] = fields[other.name]
				end
				refused(name, field.name, function() world:step(0, {cairn.command(name, fields)}) end)
				refused(name, field.name, function() world:step(0, {raw}) end)
			end
		end
	end
end
for name, info in pairs(wire.query) do
	for i, field in ipairs(info.fields) do
		local count_of = {real = 0, length = 0, place = 3, direction = 3, way = 3, rotation = 4}
		local size = count_of[field.type]
		for _, x in ipairs(size and extremes or {}) do
			if not (field.type == "direction" and x == x and x ~= 1 / 0 and x ~= -1 / 0) and
				not (field.type == "real" and x >= field.min and x <= field.max) then
				local fields = {}
				for k, other in ipairs(info.fields) do
					local usual = ({real = other.min, length = 1.0, place = {0.0, 0.0, 0.0}, direction = {0.0, 1.0, 0.0},
						way = {0.0, 1.0, 0.0}, rotation = {1.0, 0.0, 0.0, 0.0}, shape = {bin = string.pack("<BBd", 1, 1, 0.5)},
						name = {bin = string.rep("\\0", 32)}})[other.type] or math.max(other.min, 1)
					if k == i then
						usual = size == 0 and x or {table.unpack(usual)}
						if size > 0 then usual[2] = x end
					end
					fields[other.name] = usual
				end
				refused(name, field.name, function() world:query(name, fields) end)
			end
		end
	end
end
assert(world:step(0).state_hash.bin == before)
print("checked", count)
"""


@needs_lua
def test_every_number_of_every_command_and_query_by_lua(server, tmp_path):
    (tmp_path / "extremes.lua").write_text(PROGRAM)
    done = subprocess.run(["lua5.4", str(tmp_path / "extremes.lua"), server.address], capture_output=True, text=True,
                          env=ENVIRONMENT, cwd=LUA, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:-1] == []
    assert int(re.fullmatch(r"checked\t(\d+)", lines[-1]).group(1)) > 1000
