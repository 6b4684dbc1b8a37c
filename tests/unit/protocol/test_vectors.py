"""The vectors of tests/data/wire as a stock MessagePack library sees them, and a client of ten lines.

Nothing of Cairn's own code takes part: what passes here is what somebody gets who has only
docs/PROTOCOL.md and msgpack from the distribution."""
import json
import math
import os
import pathlib
import struct

import msgpack
import pytest

SOURCE = pathlib.Path(os.environ.get("CAIRN_SRCDIR", pathlib.Path(__file__).parents[3]))
WIRE = SOURCE / "tests" / "data" / "wire"
MESSAGES = json.loads((WIRE / "messages.json").read_text())
BODIES = json.loads((WIRE / "bodies.json").read_text())
HOSTILE = json.loads((WIRE / "hostile.json").read_text())
REALS = {"position": 3, "rotation": 4, "velocity": 3, "spin": 3}


def plain(value):
    """What msgpack gave, as the vectors write it."""
    if isinstance(value, bytes):
        return {"bin": value.hex()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def content_of(frame):
    """A frame is a MessagePack bin that holds a MessagePack array: two decodings, nothing else."""
    return msgpack.unpackb(msgpack.unpackb(bytes.fromhex(frame)))


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector["name"])
def test_a_stock_decoder_reads_every_message(vector):
    assert plain(content_of(vector["frame"])) == vector["content"]


def test_a_stock_streaming_decoder_splits_the_stream_unaided():
    unpacker = msgpack.Unpacker()
    unpacker.feed(b"".join(bytes.fromhex(vector["frame"]) for vector in MESSAGES))
    assert [plain(msgpack.unpackb(frame)) for frame in unpacker] == \
        [vector["content"] for vector in MESSAGES]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector["name"])
def test_a_stock_encoder_makes_the_same_bytes(vector):
    content = msgpack.packb(content_of(vector["frame"]))
    assert b"\xc6" + struct.pack(">I", len(content)) + content == bytes.fromhex(vector["frame"])


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def ids_of(data, at):
    count, at = varint(data, at)
    ids, last = [], 0
    for _ in range(count):
        gap, at = varint(data, at)
        last += gap + 1
        ids.append(last)
    return ids, at


def shapes_of(data, at):
    count, shapes = data[at], []
    for i in range(count):
        start = at + 1 + 88 * i
        numbers = struct.unpack_from("<7d", data, start + 32)
        shapes.append({"name": data[start:start + 32].hex(), "position": list(numbers[:3]),
                       "rotation": list(numbers[3:])})
    return shapes, at + 1 + 88 * count


def read_exact(data, bodies):
    """A block of profile exact, from the page's description alone."""
    ids, at = ids_of(data, 0)
    masks = data[at:at + len(ids)]
    at += len(ids)
    for bit, name in enumerate(["position", "rotation", "velocity", "spin", "status", "owner", "shapes"]):
        for body_id, mask in zip(ids, masks):
            if not mask & 1 << bit:
                continue
            body = bodies.setdefault(body_id, {"id": body_id})
            if name in REALS:
                count = REALS[name]
                body[name] = list(struct.unpack_from(f"<{count}d", data, at))
                at += 8 * count
            elif name == "status":
                body["status"], body["flags"] = data[at], data[at + 1]
                at += 2
            elif name == "owner":
                body["owner"], body["tag"] = struct.unpack_from("<Iq", data, at)
                at += 12
            else:
                body["shapes"], at = shapes_of(data, at)
    assert at == len(data)


def read_plain(rows, fields, bodies):
    for row in rows:
        body = bodies.setdefault(row[0], {"id": row[0]})
        at = 1
        for bit, (name, count) in enumerate(REALS.items()):
            if fields & 1 << bit:
                body[name] = row[at:at + count]
                at += count
        if fields & 16:
            body["status"], body["flags"] = row[at:at + 2]
            at += 2
        if fields & 32:
            body["owner"], body["tag"] = row[at:at + 2]
            at += 2
        if fields & 64:
            body["shapes"] = [{"name": shape[0].hex(), "position": shape[1:4], "rotation": shape[4:]}
                              for shape in row[at]]


def cut_to(body, fields):
    names = ["position", "rotation", "velocity", "spin", ("status", "flags"), ("owner", "tag"), "shapes"]
    kept = {"id": body["id"]}
    for bit, name in enumerate(names):
        for key in name if isinstance(name, tuple) else (name,):
            if fields & 1 << bit:
                kept[key] = body[key]
    return kept


def same(a, b):
    """Equal to the bit: −0 is not 0."""
    return a == b and repr(a) == repr(b)


def in_order(body):
    return json.dumps(body, sort_keys=True)


@pytest.mark.parametrize("vector", BODIES["frames"],
                         ids=lambda vector: f"{vector['profile']}-{vector['fields']}")
def test_bodies_are_read_from_the_description_alone(vector):
    fields, exact, bodies = vector["fields"], vector["profile"] == "exact", {}
    wanted = {body["id"]: cut_to(body, fields) for body in BODIES["bodies"]}
    _, sub, epoch, tick, part, of, columns, view_hash, flags = content_of(vector["snapshot"]["frame"])
    assert (sub, epoch, tick, part, of, len(view_hash)) == (9, 1, 120, 0, 1, 8)
    if exact:
        read_exact(columns, bodies)
    else:
        read_plain(columns, fields, bodies)
    assert {key: in_order(body) for key, body in bodies.items()} == \
        {key: in_order(body) for key, body in wanted.items()}

    delta = content_of(vector["delta"]["frame"])
    _, sub, epoch, tick, base, part, of, created, removed, columns, view_hash, flags = delta
    assert (tick, base, flags & 1) == (121, 120, 1)
    for gone in ids_of(removed, 0)[0] if exact else removed:
        del bodies[gone]
    new = ids_of(created, 0)[0] if exact else created
    assert new == [301] and 301 not in bodies
    if exact:
        read_exact(columns, bodies)
    else:
        read_plain(columns, fields, bodies)
    assert sorted(bodies) == [2, 300, 301]
    if fields & 1:
        assert same(bodies[2]["position"], [0.5, 9.75, -0.25])
    assert in_order({**bodies[300], "id": 301}) == in_order(bodies[301])


def test_only_frames_that_close_are_beyond_a_stock_decoder():
    """What leaves the connection open is sound MessagePack: it can be answered."""
    assert len(HOSTILE) > 30
    for vector in HOSTILE:
        if not vector["closes"]:
            value = msgpack.unpackb(bytes.fromhex(vector["content"]))
            assert isinstance(value, list) and isinstance(value[0], int)
            assert not any(isinstance(item, float) and math.isnan(item) for item in value)


class Recorded:
    """A socket that says what the vectors say."""

    def __init__(self, data):
        self.data, self.sent = data, b""

    def sendall(self, data):
        self.sent += data

    def recv(self, most):
        # In small pieces, as a network may give them.
        piece, self.data = self.data[:min(most, 7)], self.data[min(most, 7):]
        return piece


def test_the_ten_lines_of_the_page_follow_a_world(monkeypatch, capsys):
    page = (SOURCE / "docs" / "PROTOCOL.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    vector = next(frame for frame in BODIES["frames"] if frame["profile"] == "plain" and frame["fields"] == 31)
    recorded = Recorded(bytes.fromhex(vector["snapshot"]["frame"] + vector["delta"]["frame"]))
    monkeypatch.setattr("socket.create_connection", lambda address: recorded)
    exec(compile(program, "docs/PROTOCOL.md", "exec"), {})  # noqa: S102
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("120 {1: [0.0, 0.0, 0.0, 1.0") and "300: [1.0, 2.0, 3.0" in first
    assert second.startswith("121 {2: [0.5, 9.75, -0.25") and "301: [" in second and "{1:" not in second
    unpacker = msgpack.Unpacker()
    unpacker.feed(recorded.sent)
    assert [msgpack.unpackb(frame)[0] for frame in unpacker] == [1, 12, 30]
