-- A ball falls on the ground: lua5.4 example.lua tcp:127.0.0.1:7411 (with clients/lua on LUA_PATH).
local cairn = require "cairn"

local client = cairn.connect(arg[1] or "tcp:127.0.0.1:7411")
local world = client:create("hello-lua")
-- Canonical bytes (docs/SHAPES.md): kind, version, numbers. The plane y = 0, and a sphere of 0.5 m.
local plane = world:shape(string.pack("<BBdddd", 5, 1, 0, 1, 0, 0))
local sphere = world:shape(string.pack("<BBd", 1, 1, 0.5))

local made = world:step(0, {
	cairn.command("spawn", {status = "static", position = {0, 0, 0}, shapes = {{plane}}}),
	cairn.command("spawn", {status = "dynamic", position = {0, 5, 0}, shapes = {{sphere}}}),
})
local ball = made.ids[2]
local stepped = world:step(120, {cairn.command("impulse", {body = ball, impulse = {500, 0, 0}})})
print(string.format("tick %d height %.3f hash %016x", stepped.tick, stepped.bodies[ball].position[2],
	string.unpack(">i8", stepped.state_hash.bin)))
for _, contact in ipairs(world:query("contacts", {body = ball})) do
	print(string.format("contact of %d and %d: %.1f N", contact[1], contact[2], contact[8] * 60))
end
client:close()
