-- MessagePack as Cairn's wire has it. A map keeps the order of its keys in the field `keys` of its metatable; a bin is
-- a table {bin = bytes}; nil inside a list is msgpack.null.
local msgpack = {null = setmetatable({}, {__tostring = function() return "null" end})}

local function pack_length(short, short_max, codes, count)
	if short and count <= short_max then return string.char(short + count) end
	if codes[1] and count < 0x100 then return string.pack(">BB", codes[1], count) end
	if count < 0x10000 then return string.pack(">BI2", codes[2], count) end
	return string.pack(">BI4", codes[3], count)
end

local function pack_integer(value)
	if value >= 0 then
		if value < 0x80 then return string.char(value) end
		if value < 0x100 then return string.pack(">BB", 0xcc, value) end
		if value < 0x10000 then return string.pack(">BI2", 0xcd, value) end
		if value < 0x100000000 then return string.pack(">BI4", 0xce, value) end
		return string.pack(">Bi8", 0xcf, value)
	end
	if value >= -32 then return string.pack("b", value) end
	if value >= -0x80 then return string.pack(">Bb", 0xd0, value) end
	if value >= -0x8000 then return string.pack(">Bi2", 0xd1, value) end
	if value >= -0x80000000 then return string.pack(">Bi4", 0xd2, value) end
	return string.pack(">Bi8", 0xd3, value)
end

local function is_list(value)
	local meta = getmetatable(value)
	return not (meta and meta.keys) and (#value > 0 or next(value) == nil)
end

function msgpack.map(pairs_in_order)
	local map, keys = {}, {}
	for _, pair in ipairs(pairs_in_order) do
		map[pair[1]] = pair[2]
		keys[#keys + 1] = pair[1]
	end
	return setmetatable(map, {keys = keys})
end

local function keys_of(map)
	local meta = getmetatable(map)
	if meta and meta.keys then return meta.keys end
	local keys = {}
	for key in pairs(map) do keys[#keys + 1] = key end
	table.sort(keys)
	return keys
end

function msgpack.pack(value)
	local kind = math.type(value) or type(value)
	if value == nil or value == msgpack.null then return "\xc0" end
	if kind == "boolean" then return value and "\xc3" or "\xc2" end
	if kind == "integer" then return pack_integer(value) end
	if kind == "float" then return string.pack(">Bd", 0xcb, value) end
	if kind == "string" then return pack_length(0xa0, 31, {0xd9, 0xda, 0xdb}, #value) .. value end
	if value.bin then return pack_length(nil, 0, {0xc4, 0xc5, 0xc6}, #value.bin) .. value.bin end
	local parts = {}
	if is_list(value) then
		parts[1] = pack_length(0x90, 15, {nil, 0xdc, 0xdd}, #value)
		for i = 1, #value do parts[i + 1] = msgpack.pack(value[i]) end
		return table.concat(parts)
	end
	local keys = keys_of(value)
	parts[1] = pack_length(0x80, 15, {nil, 0xde, 0xdf}, #keys)
	for _, key in ipairs(keys) do parts[#parts + 1] = msgpack.pack(key) .. msgpack.pack(value[key]) end
	return table.concat(parts)
end

local unpack_value

local function unpack_list(data, at, count)
	local list = {}
	for i = 1, count do list[i], at = unpack_value(data, at) end
	return list, at
end

local function unpack_map(data, at, count)
	local found = {}
	for i = 1, count do
		local key, value
		key, at = unpack_value(data, at)
		value, at = unpack_value(data, at)
		found[i] = {key, value}
	end
	return msgpack.map(found), at
end

local FORMATS = {
	[0xca] = ">f", [0xcb] = ">d", [0xcc] = ">B", [0xcd] = ">I2", [0xce] = ">I4", [0xcf] = ">i8", [0xd0] = ">b",
	[0xd1] = ">i2", [0xd2] = ">i4", [0xd3] = ">i8", [0xd9] = ">s1", [0xda] = ">s2", [0xdb] = ">s4",
}
local BINS = {[0xc4] = ">s1", [0xc5] = ">s2", [0xc6] = ">s4"}

function unpack_value(data, at)
	local code = data:byte(at)
	at = at + 1
	if code < 0x80 then return code, at end
	if code >= 0xe0 then return code - 0x100, at end
	if code < 0x90 then return unpack_map(data, at, code & 15) end
	if code < 0xa0 then return unpack_list(data, at, code & 15) end
	if code < 0xc0 then return data:sub(at, at + (code & 31) - 1), at + (code & 31) end
	if code == 0xc0 then return msgpack.null, at end
	if code == 0xc2 or code == 0xc3 then return code == 0xc3, at end
	if FORMATS[code] then return string.unpack(FORMATS[code], data, at) end
	if BINS[code] then
		local bytes, next_at = string.unpack(BINS[code], data, at)
		return {bin = bytes}, next_at
	end
	local count, next_at = string.unpack((code == 0xdc or code == 0xde) and ">I2" or ">I4", data, at)
	if code == 0xdc or code == 0xdd then return unpack_list(data, next_at, count) end
	if code == 0xde or code == 0xdf then return unpack_map(data, next_at, count) end
	error(string.format("MessagePack: byte 0x%02x is not of this wire", code))
end

function msgpack.unpack(data) return (unpack_value(data, 1)) end

return msgpack
