-- A client of cairnd for Lua 5.4 on LuaSocket: connect, create, load shapes, command, step, query. The lists of the wire
-- (cairn/wire.lua) are generated from `cairn schema`; here is what no list says: framing, requests and answers.
local socket = require "socket"
local msgpack = require "cairn.msgpack"
local sha256 = require "cairn.sha256"
local wire = require "cairn.wire"

local cairn = {wire = wire, msgpack = msgpack}
local Client, World = {}, {}
Client.__index, World.__index = Client, World
-- What the server refuses is raised: a table that prints as a sentence.
local Refused = {__tostring = function(self)
	local field = self.field and self.field ~= "" and " (" .. self.field .. ")" or ""
	return tostring(self.status) .. ": " .. tostring(self.text) .. field
end}

-- ---- messages --------------------------------------------------------------------------------------------------------

-- The content of a message as bytes. Absent fields at the end of a list are left out.
function cairn.encode(name, fields)
	local info = assert(wire.message[name], name)
	local content = {info.number}
	if info.layout == "map" then
		local pairs_in_order = {}
		for _, field in ipairs(info.fields) do
			if fields[field] ~= nil then pairs_in_order[#pairs_in_order + 1] = {field, fields[field]} end
		end
		content[2] = msgpack.map(pairs_in_order)
	else
		local last = #info.fields
		while last > 0 and fields[info.fields[last]] == nil do last = last - 1 end
		for i = 1, last do
			local value = fields[info.fields[i]]
			content[i + 1] = value == nil and msgpack.null or value
		end
	end
	local bytes = msgpack.pack(content)
	return string.pack(">Bs4", 0xc6, bytes)
end

local BY_NUMBER = {}
for name, info in pairs(wire.message) do BY_NUMBER[info.number] = {name = name, info = info} end

-- The name and the fields of a frame's content.
function cairn.decode(bytes)
	local content = msgpack.unpack(bytes)
	local known = assert(BY_NUMBER[content[1]], "message " .. tostring(content[1]) .. " is unknown")
	if known.info.layout == "map" then return known.name, content[2] end
	local fields = {}
	for i, field in ipairs(known.info.fields) do fields[field] = content[i + 1] end
	return known.name, fields
end

-- ---- commands and queries --------------------------------------------------------------------------------------------

local REALS = {f64 = true, vec3 = true, quat = true}

local function converted(value, kind)
	if type(value) == "table" and REALS[kind] then
		local list = {}
		for i, number in ipairs(value) do list[i] = number + 0.0 end
		return list
	end
	return REALS[kind] and value + 0.0 or value
end

local function check(command, field, value)
	local numbers = type(value) == "table" and REALS[field.type] and value or {value}
	for _, number in ipairs(numbers) do
		local bounded = math.type(number) == "float" and not (number >= field.min and number <= field.max)
		if math.type(number) == "float" and (number ~= number or bounded and field.min < field.max) then
			error(string.format("%s: %s is %s, which is not within %s and %s", command, field.name, number, field.min,
				field.max), 3)
		end
	end
end

-- A command with its fields by name. Words stand for numbers where the field has them.
function cairn.command(name, fields)
	local info = wire.command[name] or error("there is no command " .. name, 2)
	local known, list, last = {}, {info.number}, 0
	for i, field in ipairs(info.fields) do
		known[field.name] = true
		local words = wire.worded[name .. "." .. field.name]
		local value = fields[field.name]
		if type(value) == "string" and words then value = words[value] or error("there is no " .. field.name .. " " .. value, 2) end
		if value ~= nil then last = i end
		if value == nil then value = field.default end
		if value == nil then error(name .. " needs " .. field.name, 2) end
		value = converted(value, field.type)
		check(name, field, value)
		list[i + 1] = value
	end
	for field in pairs(fields) do
		if not known[field] then error(name .. " has no field " .. field, 2) end
	end
	for i = #list, last + 2, -1 do list[i] = nil end
	return list
end

-- ---- the connection --------------------------------------------------------------------------------------------------

-- Seconds to wait for an answer where no option says: $CAIRN_TIMEOUT, in milliseconds, or 10.
local function waiting_time()
	local text = os.getenv("CAIRN_TIMEOUT") or "10000"
	if not text:match("^[1-9]%d*$") then error("CAIRN_TIMEOUT is " .. text .. ": it must be milliseconds, from 1", 0) end
	return tonumber(text) / 1000
end

-- unix:PATH or tcp:HOST:PORT. options.timeout: seconds to wait for an answer.
function cairn.connect(address, options)
	options = options or {}
	local stream
	if address:sub(1, 5) == "unix:" then
		stream = require "socket.unix"()
		assert(stream:connect(address:sub(6)))
	else
		local host, port = address:match("^tcp:(.*):(%d+)$")
		stream = assert(socket.connect(host, tonumber(port)))
		stream:setoption("tcp-nodelay", true)
	end
	stream:settimeout(options.timeout or waiting_time())
	local self = setmetatable({stream = stream, ref = 0, steps = {}}, Client)
	self:send("hello", {protocol = {wire.major, wire.minor}, client = "cairn-lua " .. wire.version, caps = {},
		role = options.role, token = options.token and {bin = options.token}})
	self.session = self:receive("welcome")
	return self
end

function Client:send(name, fields) assert(self.stream:send(cairn.encode(name, fields))) end

-- The next message of that name; an ERROR is raised, a PING answered, others are left out.
function Client:receive(wanted)
	while true do
		local head = assert(self.stream:receive(5))
		local code, length = string.unpack(">BI4", head)
		assert(code == 0xc6, "the peer does not speak this protocol")
		local name, fields = cairn.decode(assert(self.stream:receive(length)))
		if name == wanted then return fields end
		if name == "ping" then self:send("pong", {t = fields.t}) end
		if name == "error" or name == "goodbye" then
			error(setmetatable({status = wire.status[fields.code], field = fields.field, text = fields.text}, Refused), 0)
		end
	end
end

function Client:request(name, fields, answer)
	self.ref = self.ref + 1
	fields.ref = self.ref
	self:send(name, fields)
	return self:receive(answer)
end

function Client:close() self.stream:close() end

local function world_of(self, info) return setmetatable({client = self, number = info.world, name = info.name}, World) end

function Client:join(name) return world_of(self, self:request("world_join", {world = 0, name = name}, "world_info")) end

function Client:create(name, options)
	self:request("world_create", {name = name, options = options or msgpack.map {}}, "world_info")
	return self:join(name)
end

-- ---- worlds ----------------------------------------------------------------------------------------------------------

-- Runs `n` ticks of a world that does not run, after the commands. Returns STEPPED; a refused batch is raised.
function World:step(n, commands)
	local counts = self.client.steps
	counts[self.number] = (counts[self.number] or 0) + 1
	self.client:send("step", {world = self.number, request = counts[self.number], from = msgpack.null, n = n,
		commands = commands or {}, want = 1 + 2})
	local stepped = self.client:receive("stepped")
	local result = stepped.results[1]
	if result and result[3] ~= 0 then
		error({status = wire.status[result[3]], index = result[4], field = result[6], text = result[7]}, 0)
	end
	stepped.ids = result and result[5] or {}
	stepped.bodies = {}
	for _, row in ipairs(type(stepped.observation) == "table" and stepped.observation[1] or {}) do
		stepped.bodies[row[1]] = {position = {row[2], row[3], row[4]}, rotation = {row[5], row[6], row[7], row[8]},
			velocity = {row[9], row[10], row[11]}, spin = {row[12], row[13], row[14]}, status = row[15]}
	end
	return stepped
end

-- Makes a shape of canonical bytes (docs/SHAPES.md) usable in the world; returns its id.
function World:shape(canonical)
	local name = {bin = sha256(canonical)}
	self.client:request("shape_upload", {world = self.number, shape = name, part = 0, of = 1,
		data = {bin = canonical}}, "shape_info")
	return self:step(0, {cairn.command("shape_use", {name = name})}).ids[1]
end

-- Fields by name; those left out have their defaults. Returns the answer as the schema describes it.
function World:query(kind, fields)
	local info = wire.query[kind] or error("there is no query " .. kind, 2)
	local list, last = {info.number}, 0
	for i, field in ipairs(info.fields) do
		local value = fields and fields[field.name]
		if value ~= nil then last = i end
		if value == nil then value = field.default end
		list[i + 1] = value == nil and error(kind .. " needs " .. field.name, 2) or value
	end
	for i = #list, last + 2, -1 do list[i] = nil end
	self.client.ref = self.client.ref + 1
	self.client:send("query", {id = self.client.ref, world = self.number, query = list})
	return self.client:receive("answer").answer
end

return cairn
