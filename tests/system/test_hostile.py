"""Hostile input to a real daemon: each gets a named error, closes the connection where it must,
changes nothing and costs no memory."""
import contextlib
import json
import os
import random
import socket
import struct

import msgpack
import pytest
from support import SANITIZED, SOURCE, Wire, cairn, command, falling, frame, idle_memory, log_of, memory, raw, tcp_daemon, until

HELLO = frame(1, {"protocol": [1, 0], "caps": ["ack"]})
STATUS = {name: number for number, (name, _) in cairn.client.STATUS.items()}
HOSTILE = json.loads((SOURCE / "tests" / "data" / "wire" / "hostile.json").read_text())

measures_memory = pytest.mark.skipif(bool(os.environ.get("CAIRN_SANITIZE")),
                                     reason="a sanitizer keeps freed memory")


@pytest.fixture(scope="module")
def server():
    with tcp_daemon() as (server, address):
        server.tcp = address
        with server.connect() as client:
            server.world, server.body = falling(client)
            server.hash = server.world.step(0).hash
            server.client = client
            yield server
            assert " warn " not in log_of(server) and " error " not in log_of(server)


@pytest.fixture(autouse=True)
def nothing_changes(server):
    yield
    assert server.world.step(0).hash == server.hash
    assert server.process.poll() is None


def read_to_end(sock):
    """Every message until the server closes."""
    unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=1 << 22)
    found = []
    with contextlib.suppress(ConnectionError):
        while data := sock.recv(65536):
            unpacker.feed(data)
            found += [msgpack.unpackb(content, raw=False, strict_map_key=False) for content in unpacker]
    return found


def opened(address):
    sock = raw(address)
    sock.sendall(HELLO)
    wire = Wire.__new__(Wire)
    wire.socket, wire.timeout, wire.buffer = sock, 60, bytearray()
    kind, _ = wire.receive()
    assert kind == "welcome"
    return wire


def joined(address):
    wire = opened(address)
    wire.send("world_join", 1, 1)
    assert wire.receive()[0] == "world_info"
    return wire


def expect_closing(address, data, status, before_hello=False):
    sock = raw(address) if before_hello else opened(address).socket
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        sock.sendall(data)
    messages = read_to_end(sock)
    sock.close()
    errors = [m for m in messages if m[0] == 3]
    assert errors and errors[0][2] == STATUS[status], messages
    # Two messages: which message was wrong, and GOODBYE.
    assert messages[-1][0] == 6 and messages[-1][1] == STATUS[status]


def bin32(content):
    return b"\xc6" + struct.pack(">I", len(content)) + content


FRAMES = [
    ("a first byte that is no bin 32", b"\xc4\x03\x93\x04\x01"),
    ("another protocol", b"GET / HTTP/1.1\r\n\r\n"),
    ("an empty frame", bin32(b"")),
    ("four gigabytes announced", b"\xc6\xff\xff\xff\xff"),
]


@pytest.mark.parametrize("name, data", FRAMES, ids=[f[0] for f in FRAMES])
@pytest.mark.parametrize("before_hello", [False, True])
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_an_invalid_frame_is_named_and_closes(server, kind, name, data, before_hello):
    expect_closing(server.address if kind == "unix" else server.tcp, data, "framing", before_hello)


def test_a_hello_over_its_own_limit_closes(server):
    expect_closing(server.address, b"\xc6" + struct.pack(">I", 4097), "framing", before_hello=True)


def test_any_first_message_but_hello_closes(server):
    expect_closing(server.address, frame(10, 1), "handshake", before_hello=True)


def expect_refusal(wire, data, status):
    """The refusal is named, and the next message is served."""
    wire.socket.sendall(data)
    kind, fields = wire.receive()
    assert kind == "error" and cairn.client.STATUS[fields[1]][0] == status, fields
    wire.send("ping", 7)
    assert wire.receive()[0] == "pong"
    return fields


@pytest.mark.parametrize("message", [(1, {"protocol": [1, 0]}), (15, 1, 1)], ids=["second HELLO", "server's own"])
def test_a_message_out_of_place_is_refused(server, message):
    wire = opened(server.address)
    expect_refusal(wire, frame(*message), "protocol")
    wire.close()


def test_another_major_version_closes(server):
    expect_closing(server.address, frame(1, {"protocol": [2, 0]}), "handshake", before_hello=True)


def test_contacts_in_small_frames_are_refused_and_the_session_stays(server):
    sock = raw(server.address)
    sock.sendall(frame(1, {"protocol": [1, 0], "limits": {"frame_up": 0, "frame_down": 65536}}))
    wire = Wire.__new__(Wire)
    wire.socket, wire.timeout, wire.buffer = sock, 60, bytearray()
    assert wire.receive()[0] == "welcome"
    wire.send("world_join", 1, 1)
    assert wire.receive()[0] == "world_info"
    fields = expect_refusal(wire, frame(30, 5, 1, 1 | 256), "too_large")
    assert fields[5] == "fields" and "131072" in fields[2] and "65536" in fields[2]
    wire.close()


NAMED = [  # a message, the field that its refusal names, and words of its text
    ((61, 1, 1, None, 10001), "n", ["10001", "0 and 10000"]),
    ((12, 1, 4294967296), "world", ["4294967296", "4294967295"]),
    ((30, 1, 1, 31, None, [], 3601), "divisor", ["3601", "3600"]),
    ((30, 1, 1, 31, None, [], 0), "divisor", ["0", "1 and 3600"]),
    ((60, 1, 1, 4, 4.5), "value", ["4.5", "integer within 1 and 256"]),
    ((60, 1, 1, 2, 1e9), "value", ["1000000000"]),
    ((60, 1, 1, 9), "action", ["9", "0 and 4"]),
    ((50, 1, 1, [1, [1e7, 0, 0], [0, 1, 0], 5.0]), "origin", ["10000000", "1000000"]),
    ((50, 1, 1, [1, [0, 0, 0], [0, 1, 0], -2.5]), "length", ["-2.5", "over 0"]),
    ((50, 1, 1, [1, [0, 0, 0], [0, 1, 0], 5.0, 4097]), "limit", ["4097", "0 and 4096"]),
    ((50, 1, 1, [10, b"\x01\x01" + struct.pack("<d", 1.0), [0, 0, 0], [1, 0, 0], [1, 0, 0, 0], 17]), "iterations",
     ["17", "0 and 16"]),
    ((50, 1, 1, [8, 1, 0, 1e300]), "reach", ["0 and 1000000"]),
    ((50, 1, 1, [2, b"\x01\x01" + struct.pack("<d", 1.0), [0, 0, 0], [3, 0, 0, 0]]), "rotation", ["3", "0.5 and 2"]),
    ((11, 1, "w", {"bodies_max": 0}), "bodies_max", ["0", "1 and 16777216"]),
    ((11, 1, "w", {"memory_max": 7}), "memory_max", ["7", "65536 and 9007199254740991"]),
    ((11, 1, "w", {"bodies_max": 4.5}), "bodies_max", ["4.5", "an integer"]),
    ((11, 1, "w", {"rate": [0, 1]}), "rate", ["0/1", "1 and 10000"]),
    ((11, 1, "w", {"gravity": [0, -1e7, 0]}), "gravity", ["-10000000"]),
    ((11, 1, "w", {"planar": 1}), "planar", ["1", "true or false"]),
    ((63, 1, 1, "s" * 65), "name", ["65", "64"]),
]


@pytest.mark.parametrize("message, field, words", NAMED, ids=[f"{n[0][0]} {n[1]} {n[2][0]}" for n in NAMED])
def test_a_refusal_names_field_value_and_range(server, message, field, words):
    wire = joined(server.address)
    found = answers(wire, frame(*message))
    (error,) = [fields for kind, fields in found if kind == "error"]
    assert error[5] == field, error
    for word in words:
        assert word in error[2], error
    wire.close()


VALUES = [
    ([31, "soft_step.substeps", 4.5], "value", ["4.5", "an integer within 1 and 64"]),
    ([31, "sleep.enabled", 0.5], "value", ["0.5", "an integer within 0 and 1"]),
    ([22, 1, 9007199254740992], "tag", ["9007199254740992"]),
    ([20, 1, 1, 4294967296, 0], "mask", ["4294967296", "0 and 4294967295"]),
    ([20, 1, 1, 1, -3000000000], "group", ["-3000000000", "-2147483647"]),
    ([10, 7, [0, 0, 0]], "status", ["7", "0 to 3"]),
    ([30, [0, 1e7, 0]], "gravity", ["10000000"]),
]


@pytest.mark.parametrize("item, field, words", VALUES, ids=[f"{v[0][0]} {v[1]} {v[2][0]}" for v in VALUES])
def test_a_refused_command_names_field_value_and_range(server, item, field, words):
    with server.connect() as client:
        copy = client.join("demo").fork(f"values-{VALUES.index((item, field, words))}")
        with pytest.raises(cairn.Refused) as refused:
            copy.apply(item)
        assert refused.value.field == field, refused.value
        for word in words:
            assert word in str(refused.value), refused.value
        client.ask("reply", "world_destroy", copy.number)


@pytest.mark.parametrize("case", HOSTILE, ids=lambda c: c["what"].replace(" ", "-"))
def test_the_vectors_of_hostile_contents(server, case):
    data = bin32(bytes.fromhex(case["content"]))
    if case["closes"]:
        expect_closing(server.address, data, case["status"])
        return
    wire = opened(server.address)
    wire.socket.sendall(data)
    kind, fields = wire.receive()
    assert kind == "error" and fields[1] == STATUS[case["status"]]
    wire.send("ping", 7)
    assert wire.receive()[0] == "pong"
    wire.close()


def answers(wire, data):
    """The answers to these bytes, up to the answers of LOOP and of the world's worker to later
    messages."""
    wire.socket.sendall(data + frame(4, 4711) + frame(50, 4711, 1, [4]))
    found, ends = [], 0
    while ends < 2:
        kind, fields = wire.receive()
        if kind in ("pong", "answer") and fields[0] == 4711:
            ends += 1
        else:
            found.append((kind, fields))
    return found


SEMANTIC = [
    ("an unknown message", (99,), "unknown_message"),
    ("a reserved message", (71,), "unsupported"),
    ("too few fields", (12,), "type"),
    ("a text for a number", (12, "x", 0), "type"),
    ("a number for a text", (12, 1, 0, 7), "type"),
    ("a negative number", (12, -1, 0), "range"),
    ("a world that is not there", (12, 1, 77), "unknown_world"),
    ("a world not joined", (61, 77, 1, None, 1), "not_joined"),
    ("too many ticks", (61, 1, 1, None, 10001), "range"),
    ("a batch out of order", (40, 1, 5, None, 0, []), "sequence"),
    ("batch number 0", (40, 1, 0, None, 0, []), None),
    ("a wrong lateness", (40, 1, 1, None, 2, []), "range"),
    ("commands that are no list", (40, 1, 1, None, 0, 7), "type"),
    ("a query that is not one", (50, 1, 1, [99]), None),
    ("an empty query", (50, 1, 1, []), None),
    ("a query of wrong fields", (50, 1, 1, [1, "x"]), None),
    ("a subscription to columns that are not", (30, 1, 1, 128), "range"),
    ("a subscription with a profile that is not", (30, 1, 1, 31, None, [], 1, 4), "range"),
    ("a subscription that divides by nothing", (30, 1, 1, 31, None, [], 0), "range"),
    ("a RESYNC of nothing", (33, 9), "unknown_subscription"),
    ("an UNSUBSCRIBE of nothing", (31, 9), "unknown_subscription"),
    ("a control that is not one", (60, 1, 1, 77), "range"),
    ("a speed that is text", (60, 1, 1, 2, "fast"), "type"),
    ("a shape of no parts", (20, 1, 1, bytes(32), 0, 0, b"x"), None),
    ("a shape with a short name", (20, 1, 1, bytes(31), 0, 1, b"x"), "range"),
    ("a shape whose name is another's", (20, 2, 1, bytes(32), 0, 1, b"\x01\x01" + bytes(8)), None),
    ("a part out of order", (20, 3, 1, bytes(32), 5, 9, b"x"), None),
    ("an empty world name", (11, 1, ""), "range"),
    ("a world name with a path", (11, 1, "../../etc/passwd"), "range"),
    ("an unknown option", (11, 1, "w", {"colour": 1}), "unknown_parameter"),
    ("an option of the wrong type", (11, 1, "w", {"rate": "fast"}), "type"),
    ("a rate of nothing", (11, 1, "w", {"rate": [0, 0]}), "range"),
    ("a gravity that crushes", (11, 1, "w", {"gravity": [0, -1e300, 0]}), "range"),
    ("a snapshot that never was", (65, 1, 1, "x"), "unknown_snapshot"),
]


@pytest.mark.parametrize("name, message, status", SEMANTIC, ids=[s[0] for s in SEMANTIC])
def test_a_refused_valid_message_never_closes(server, name, message, status):
    wire = joined(server.address)
    found = answers(wire, frame(*message))
    if not found:
        found.append(wire.receive())  # shapes are cooked by HELPER
    errors = [fields for kind, fields in found if kind == "error"]
    results = [item for kind, fields in found if kind == "result" for item in fields[1] if item[2] != 0]
    assert errors or results, found
    if status is not None:
        code = errors[0][1] if errors else results[0][2]
        assert code == STATUS[status], cairn.client.STATUS[code]
    wire.close()


COMMANDS = [
    ("no command", [[]], "type"),
    ("a number for a command", [7], "type"),
    ("an unknown one", [[9999]], "unknown_command"),
    ("a reserved one", [[25]], "unsupported"),
    ("a body that is not", [[11, 4711]], "unknown_body"),
    ("a body that comes later", [[11, -2]], "back_reference"),
    ("a shape that is not", [[10, 2, [0, 0, 0], [[4711]]]], "unknown_shape"),
    ("a vector of two", [[10, 2, [0, 0]]], "type"),
    ("a huge position", [[10, 2, [1e300, 0, 0]]], "range"),
    ("a huge velocity", [[13, 1, [1e300, 0, 0]]], "range"),
    ("a rotation of nothing", [[12, 1, [0, 0, 0], [0, 0, 0, 0]]], "range"),
    ("a status that is not", [[14, 1, 9]], "range"),
    ("an impulse at a world's end", [[17, 1, [1e308, 1e308, 1e308]]], "range"),
    ("gravity without end", [[30, [0, 1e300, 0]]], "range"),
    ("a parameter that is not", [[31, "warp", 9.0]], "unknown_parameter"),
    ("a method that is not", [[32, "magic"]], "unknown_method"),
    ("bounds inside out", [[34, 1, [1, 1, 1], [0, 0, 0]]], "range"),
    ("restitution of two", [[19, 1, 0.5, 0.5, 2.0]], "range"),
]


@pytest.mark.parametrize("name, commands, status", COMMANDS, ids=[c[0] for c in COMMANDS])
def test_bad_commands_are_refused_whole(server, name, commands, status):
    """After a valid command: it must not be applied either."""
    with server.connect() as client:
        world = client.join("demo")
        copy = world.fork(f"copy-{COMMANDS.index((name, commands, status))}")
        before = copy.step(0).hash
        copy.request += 1
        client.wire.send("step", copy.number, copy.request, None, 1,
                         [command("spawn", position=(1, 2, 3)), *commands], 1)
        kind, fields = client.take()
        while kind not in ("stepped", "error"):
            kind, fields = client.take()
        codes = [item[2] for item in fields[5]] if kind == "stepped" else [fields[1]]
        names = [cairn.client.STATUS[code][0] for code in codes]
        assert names == [status]
        after = copy.step(0, bodies=True)
        assert list(after.bodies) == [server.body]
        # If the commands could not be read, no tick was made.
        assert kind == "stepped" or after.hash == before
        client.ask("reply", "world_destroy", copy.number)


def test_random_bytes_are_refused_or_close(server):
    rng = random.Random(int(os.environ.get("CAIRN_SEED", "1")) if os.environ.get("CAIRN_SEED", "1").isdigit() else 1)
    for _ in range(200):
        sock = raw(rng.choice([server.address, server.tcp]))
        if rng.random() < 0.8:
            sock.sendall(HELLO)
        for _ in range(rng.randrange(4)):
            content = rng.randbytes(rng.randrange(1, 300))
            if rng.random() < 0.5:
                content = b"\x94" + bytes([rng.randrange(128)]) + content
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(bin32(content) if rng.random() < 0.8 else content)
        if rng.random() < 0.3:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    assert server.world.step(0).hash == server.hash


def test_valid_messages_with_flipped_bits_do_no_harm(server):
    rng = random.Random(7)
    copy = server.world.fork("flipped")
    vectors = json.loads((SOURCE / "tests" / "data" / "wire" / "messages.json").read_text())
    contents = [bytes.fromhex(v["frame"])[5:] for v in vectors]
    for _ in range(1500):
        content = bytearray(rng.choice(contents))
        # CONTROL, KICK, DRAIN and messages that create worlds or files or make time pass are not
        # tested here.
        if content[1] in (10, 11, 13, 14, 60, 61, 63, 64, 65, 67, 84, 87):
            continue
        for _ in range(rng.randrange(1, 4)):
            content[rng.randrange(2, len(content)) if len(content) > 2 else 0] ^= 1 << rng.randrange(8)
        sock = raw(server.address)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(HELLO + bin32(bytes(content)))
        sock.close()
    # None of these connections had joined a world.
    assert server.world.step(0).hash == copy.step(0).hash == server.hash
    server.client.ask("reply", "world_destroy", copy.number)


@measures_memory
def test_hostile_connections_leave_no_memory_behind(server):
    """Connections that announce much and send little, many at once, again and again."""
    def round():
        socks = []
        for i in range(200):
            sock = raw(server.address)
            sock.sendall(HELLO)
            # The largest frame without its last byte; five bytes that make msgpack-c reserve
            # gigabytes.
            tail = [b"\xc6" + struct.pack(">I", 65536) + bytes(2000), bin32(b"\xdd\xff\xff\xff\xff"),
                    bin32(b"\xdf\x0f\xff\xff\xff"), bin32(b"\x91" * 60000)][i % 4]
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(tail)
            socks.append(sock)
        high = memory(server.process.pid)
        for sock in socks:
            sock.close()
        until(lambda: server.client.info("server")["server"]["sessions"] == 1)
        return high

    def rounds(count):
        highest = max(round() for _ in range(count))
        return highest, *idle_memory(server)
    # The allocator keeps some memory, and how much depends on how many frames arrived at once, so
    # the bound is on what 4000 more connections add: less than a kibibyte each.
    _, before, blocks = rounds(10)
    highest, after, blocks_after = rounds(20)
    print(f"memory before {before >> 10} KiB, with 200 open {highest >> 10} KiB, after {after >> 10} KiB")
    assert blocks_after <= blocks, "blocks left on the heap"
    assert SANITIZED or after - before < 20 * 200 << 10
    # Half a frame each is the most that a peer can make the server store.
    assert SANITIZED or highest - before < 200 * (128 << 10)


@measures_memory
def test_one_connection_cannot_make_the_daemon_grow(server):
    """Two thousand refused messages on one connection, each of the maximum size."""
    wire = joined(server.address)
    big = frame(11, 1, "w", {f"key{i}": "x" * 200 for i in range(64)})
    for _ in range(20):
        answers(wire, big)
    before = memory(server.process.pid)
    for _ in range(2000):
        found = answers(wire, big)
        assert found[0][0] == "error"
    assert SANITIZED or memory(server.process.pid) - before < 1 << 20
    wire.close()


@measures_memory
def test_unfinished_uploads_are_bounded(server):
    before, _ = idle_memory(server)
    wire = joined(server.address)
    part = bytes(57000)
    refusals = 0
    for ref in range(1, 40):
        for index in range(40):
            found = answers(wire, frame(20, ref, 1, bytes([ref]) * 32, index, 1000, part))
            refusals += any(kind == "error" for kind, _ in found)
            if refusals:
                break
    high = memory(server.process.pid)
    assert refusals and (SANITIZED or high - before < 80 << 20)
    wire.close()
    until(lambda: SANITIZED or memory(server.process.pid) - before < 8 << 20)
