-- For the test with the wire vectors: reads frames in hexadecimal, one a line, decodes each into names and fields by the
-- generated tables, encodes these again, and prints the message's name and the new frame.
local cairn = require "cairn"
for line in io.lines() do
	local frame = line:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end)
	local name, fields = cairn.decode((string.unpack(">s4", frame, 2)))
	print(name, (cairn.encode(name, fields):gsub(".", function(byte) return string.format("%02x", byte:byte()) end)))
end
