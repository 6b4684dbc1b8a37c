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
QUERIES = json.loads((WIRE / "queries.json").read_text())
REALS = {"position": 3, "rotation": 4, "velocity": 3, "spin": 3}


def plain(value):
    """A value of msgpack, in the notation of the vectors."""
    if isinstance(value, bytes):
        return {"bin": value.hex()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def content_of(frame):
    """A frame is a MessagePack bin whose content is a MessagePack array: it needs two decodings."""
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


@pytest.mark.parametrize("vector", QUERIES, ids=lambda vector: vector["name"])
def test_a_stock_library_reads_and_writes_every_query_and_answer(vector):
    for part in ("query", "answer"):
        packed = bytes.fromhex(vector[part + "_bytes"])
        assert plain(msgpack.unpackb(packed)) == vector[part]
        assert msgpack.packb(msgpack.unpackb(packed)) == packed
    assert vector["query"][0] == vector["kind"]


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


COLUMNS = [*enumerate(["position", "rotation", "velocity", "spin", "status", "owner", "shapes"]), (8, "contacts")]


def mask_of(data, at):
    if data[at] < 128:
        return data[at], at + 1
    return data[at] % 128 + data[at + 1] * 256, at + 2


def contact_of(n):
    return {"other": n[0], "child": n[1], "other_child": n[2], "point": list(n[3:6]), "normal": list(n[6:9]),
            "separation": n[9], "impulse": n[10], "friction": list(n[11:14])}


def contacts_of(data, at):
    count, at = varint(data, at)
    return [contact_of(struct.unpack_from("<3I11d", data, at + 100 * i)) for i in range(count)], at + 100 * count


def short_contacts_of(data, at, metre):
    """Contacts in view (512 steps a metre) or sim."""
    count, at = varint(data, at)
    view, contacts = metre == 512, []
    other = child = other_child = 0
    normal, point = None, [0, 0, 0]

    def impulses(many, at):
        width = 2 if view else 4
        parts = [data[at + width * i:at + width * (i + 1)] for i in range(many)]
        return [struct.unpack("<f", b"\0\0" * view + part)[0] for part in parts], at + width * many

    for _ in range(count):
        head = data[at]
        at += 1
        if head & 1:
            more, at = varint(data, at)
            other, child, other_child = other + more, 0, 0
        if head & 2:
            child, at = varint(data, at)
            other_child, at = varint(data, at)
        if head & 4:
            steps = struct.unpack_from("<3b" if view else "<3h", data, at)
            at += 3 if view else 6
            normal = [c / math.sqrt(sum(s * s for s in steps)) for c in steps]
        change, at = zigzags(data, at, 3)
        point = [a + b for a, b in zip(point, change)]
        (separation,), at = zigzags(data, at, 1)
        (impulse,), at = impulses(1, at)
        friction, at = impulses(3, at) if head & 8 else ([0, 0, 0], at)
        contacts.append(contact_of([other, child, other_child, *(c / metre for c in point), *normal, separation / metre,
                                    impulse, *friction]))
    return contacts, at


def read_exact(data, bodies):
    """A block of profile exact, from the page's description alone."""
    ids, at = ids_of(data, 0)
    masks = []
    for _ in ids:
        mask, at = mask_of(data, at)
        masks.append(mask)
    for bit, name in COLUMNS:
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
            elif name == "contacts":
                body["contacts"], at = contacts_of(data, at)
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
            at += 1
        if fields & 256:
            body["contacts"] = [contact_of(numbers) for numbers in row[at]]


# Steps in a metre, in 1 m/s and in 1 rad/s; N.
SCALES = {"view": (512, 128, 255), "sim": (4096, 1024, 16383)}
ZEROS = {"position": [0] * 3, "largest": 0, "rotation": [0] * 3, "velocity": [0] * 3, "spin": [0] * 3}


def zigzags(data, at, count):
    values = []
    for _ in range(count):
        value, at = varint(data, at)
        values.append(value // 2 if value % 2 == 0 else -(value + 1) // 2)
    return values, at


def read_change(data, at, name, steps):
    """One body's column of profiles view and sim; returns the offset of its end."""
    if name != "rotation":
        change, at = zigzags(data, at, 3)
        steps[name] = [a + b for a, b in zip(steps[name], change)]
        return at
    r, at = varint(data, at)
    if r % 2:
        steps["largest"] = (r - 1) // 2
        steps["rotation"], at = zigzags(data, at, 3)
        return at
    half = r // 2
    change, at = zigzags(data, at, 2)
    change.insert(0, half // 2 if half % 2 == 0 else -(half + 1) // 2)
    steps["rotation"] = [a + b for a, b in zip(steps["rotation"], change)]
    return at


def runs_of(data):
    count, at = varint(data, 0)
    ids, masks, last = [], [], 0
    while len(ids) < count:
        head, at = varint(data, at)
        more, at = varint(data, at) if head % 2 else (-1, at)
        first = last + head // 2 + 1
        last = first + more + 1
        ids += range(first, last + 1)
        mask, at = mask_of(data, at)
        masks += [mask] * (more + 2)
    return ids, masks, at


def read_steps(data, bodies, absolute, metre):
    """A block of profile view or sim, from the page's description alone; `bodies` has values in steps."""
    ids, masks, at = runs_of(data)
    for bit, name in COLUMNS:
        for body_id, mask in zip(ids, masks):
            if not mask & 1 << bit:
                continue
            body = bodies.setdefault(body_id, {"id": body_id, **{key: value for key, value in ZEROS.items()}})
            if name in REALS:
                if absolute:
                    for key in (name, "largest") if name == "rotation" else (name,):
                        body[key] = ZEROS[key]
                at = read_change(data, at, name, body)
            elif name == "status":
                body["status"], body["flags"] = data[at], data[at + 1]
                at += 2
            elif name == "owner":
                body["owner"], body["tag"] = struct.unpack_from("<Iq", data, at)
                at += 12
            elif name == "contacts":
                body["contacts"], at = short_contacts_of(data, at, metre)
            else:
                body["shapes"], at = shapes_of(data, at)
    assert at == len(data)


def assert_steps(bodies, wanted, fields):
    """Asserts that the mirror has the steps of the vector, in the given columns."""
    assert sorted(bodies) == [steps["id"] for steps in wanted]
    for steps in wanted:
        for bit, name in enumerate(REALS):
            if fields & 1 << bit:
                assert bodies[steps["id"]][name] == steps[name]
        if fields & 2:
            assert bodies[steps["id"]]["largest"] == steps["largest"]
        if fields & 256:
            assert bodies[steps["id"]]["contacts"] == steps["contacts"]


def rotation_of(body, n):
    three = [steps * (0.7071067811865476 / n) for steps in body["rotation"]]
    three.insert(body["largest"], math.sqrt(1 - sum(c * c for c in three)))
    return three


def turned_by(a, b):
    apart = min(math.dist(a, b), math.dist(a, [-c for c in b]))
    return 4 * math.asin(apart / 2)


def near_contacts(seen, real, metre):
    """Asserts that contacts are within the error bounds of the page."""
    turn, part = (0.0069, 2 ** -8) if metre == 512 else (0.000027, 2 ** -24)
    assert len(seen) == len(real)
    for a, b in zip(seen, real):
        assert [a[key] for key in ("other", "child", "other_child")] == [b[key] for key in ("other", "child", "other_child")]
        assert all(abs(x - y) <= 0.5 / metre for x, y in zip(a["point"] + [a["separation"]], b["point"] + [b["separation"]]))
        assert turned_by(a["normal"], b["normal"]) / 2 <= turn
        assert all(abs(x - y) <= part * abs(y) for x, y in zip(a["friction"] + [a["impulse"]], b["friction"] + [b["impulse"]]))


@pytest.mark.parametrize("vector", [frame for frame in BODIES["frames"] if frame["profile"] in SCALES],
                         ids=lambda vector: f"{vector['profile']}-{vector['fields']}")
def test_steps_are_read_from_the_description_alone(vector):
    metre, speed, n = SCALES[vector["profile"]]
    fields, bodies = vector["fields"], {}
    snapshot = content_of(vector["snapshot"]["frame"])
    assert snapshot[8] & 1
    read_steps(snapshot[6], bodies, True, metre)
    assert_steps(bodies, vector["snapshot"]["steps"], fields)
    for body in BODIES["bodies"]:
        seen = bodies[body["id"]]
        for bit, (name, scale) in enumerate([("position", metre), ("rotation", 0), ("velocity", speed),
                                             ("spin", speed)]):
            if fields & 1 << bit and scale:
                assert all(abs(steps / scale - real) <= 0.5 / scale
                           for steps, real in zip(seen[name], body[name]))
        if fields & 256:
            near_contacts(seen["contacts"], body["contacts"], metre)
        if fields & 2:
            assert turned_by(rotation_of(seen, n), body["rotation"]) <= {255: 0.0097, 16383: 0.00015}[n]
    delta = content_of(vector["delta"]["frame"])
    assert not delta[11] & 1
    for gone in ids_of(delta[8], 0)[0]:
        del bodies[gone]
    assert ids_of(delta[7], 0)[0] == [301] and 301 not in bodies
    read_steps(delta[9], bodies, False, metre)
    assert_steps(bodies, vector["delta"]["steps"], fields)


def cut_to(body, fields):
    names = ["position", "rotation", "velocity", "spin", ("status", "flags"), ("owner", "tag"), "shapes"]
    kept = {"id": body["id"]}
    for bit, name in [*enumerate(names), (8, "contacts")]:
        for key in name if isinstance(name, tuple) else (name,):
            if fields & 1 << bit:
                kept[key] = body[key]
    return kept


def same(a, b):
    """Equal to the bit: −0 is not 0."""
    return a == b and repr(a) == repr(b)


def in_order(body):
    return json.dumps(body, sort_keys=True)


@pytest.mark.parametrize("vector", [frame for frame in BODIES["frames"] if frame["profile"] not in SCALES],
                         ids=lambda vector: f"{vector['profile']}-{vector['fields']}")
def test_bodies_are_read_from_the_description_alone(vector):
    fields, exact, bodies = vector["fields"], vector["profile"] == "exact", {}
    wanted = {body["id"]: cut_to(body, fields) for body in BODIES["bodies"]}
    _, sub, epoch, tick, part, of, columns, view_hash, flags, edit = content_of(vector["snapshot"]["frame"])
    assert (sub, epoch, tick, part, of, len(view_hash)) == (9, 1, 120, 0, 1, 8)
    if exact:
        read_exact(columns, bodies)
    else:
        read_plain(columns, fields, bodies)
    assert {key: in_order(body) for key, body in bodies.items()} == \
        {key: in_order(body) for key, body in wanted.items()}

    delta = content_of(vector["delta"]["frame"])
    _, sub, epoch, tick, base, part, of, created, removed, columns, view_hash, flags, edit, base_edit = delta
    assert (tick, edit, base, base_edit, flags & 1) == (121, 0, 120, 0, 1)
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


def test_malformed_and_refused_contents_have_different_errors():
    """The end of every content is known, so no error closes. A stock decoder fails only on malformed contents and on
    numbers that are not finite."""
    assert len(HOSTILE) > 30
    for vector in HOSTILE:
        assert not vector["closes"]
        if vector["status"] in ("malformed", "too_deep", "not_finite"):
            continue
        value = msgpack.unpackb(bytes.fromhex(vector["content"]))
        assert isinstance(value, list) and isinstance(value[0], int)
        assert not any(isinstance(item, float) and math.isnan(item) for item in value)


class Recorded:
    """A socket that sends the bytes of the vectors."""

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
