"""Hostile inputs, one row each: the role that sends it, the limit it breaks, and the required
result. `test_limits.py` checks a daemon against the rows; `tests/bench/server … hostile` measures
the cost of each."""
import base64
import contextlib
import hashlib
import hmac
import math
import os
import socket
import struct
import time
from dataclasses import dataclass

import msgpack
from support import cairn, command, falling, frame, raw, tcp_daemon

STATUS = {name: number for number, (name, _) in cairn.client.STATUS.items()}
DEMO, ARENA = 1, 2  # a paused world, and one that runs
KEY = bytes(range(32))


def bin32(content):
    return b"\xc6" + struct.pack(">I", len(content)) + content


def deep(levels):
    """PING with a value nested `levels` deep; the message is the first level."""
    return bin32(b"\x92\x04" + b"\x91" * (levels - 2) + b"\x90")


@dataclass(frozen=True)
class Row:
    what: str
    role: str     # observer, player, controller; "" before HELLO
    data: bytes
    status: str   # of the ERROR or RESULT
    closes: bool = False
    limit: str = ""  # the limit of docs/PROTOCOL.md, or a row of anchors


def box(size=1.0):
    return [0.0, 0.0, 0.0, size, size, size]


def subscribe(follow=(), areas=(), fields=1):
    return frame(30, 5, DEMO, fields, None, list(follow), 1, 1, 0, 0, [[1, box(), 0] for _ in range(areas or 0)]
                 if isinstance(areas, int) else list(areas))


def batch(commands, world=ARENA):
    return frame(40, world, 1, None, 0, commands)


def upload(part, of, data, ref=7, name=bytes(32)):
    return frame(20, ref, DEMO, name, part, of, data)


def upload_of(data):
    return upload(0, 1, data, name=hashlib.sha256(data).digest())


def on_a_sphere(count):
    for i in range(count):
        y = 1 - 2 * (i + 0.5) / count
        yield math.sqrt(1 - y * y) * math.cos(2.399963 * i), y, math.sqrt(1 - y * y) * math.sin(2.399963 * i)


def connect_token(seconds=60, role=2, key=7, secret=KEY):
    body = struct.pack(">BBIQ", 1, role, key, int(time.time()) + seconds) + os.urandom(16) + b"\x00"
    body += hmac.new(secret, body, hashlib.sha256).digest()
    return b"c1." + base64.urlsafe_b64encode(body).rstrip(b"=")


def hello(**fields):
    return frame(1, {"protocol": [1, 0], "caps": ["ack"], **fields})


MESSAGEPACK = "hostile MessagePack"
FRAME, NESTING, ITEMS, TEXT, INTEGERS = "content of a frame", "nesting", "array items", "str", "integers"
FIRST = [  # before HELLO
    Row("another protocol", "", b"GET / HTTP/1.1\r\n\r\n", "framing", True, "first byte"),
    Row("4 GiB announced", "", b"\xc6\xff\xff\xff\xff", "framing", True, FRAME),
    Row("a frame of 4097 bytes", "", bin32(bytes(4097)), "framing", True, FRAME),
    Row("an array of 268 million in 5 bytes", "", bin32(b"\xdd\x0f\xff\xff\xff"), "malformed", False, MESSAGEPACK),
    Row("a token of 2049 bytes", "", hello(token=bytes(2049)), "range", False, "token"),
    Row("a token that nobody gave", "", hello(token=b"c1." + b"A" * 150), "auth", True, "token"),
    Row("PING before HELLO", "", frame(4, 1), "handshake", True, "handshake"),
    Row("another major version", "", frame(1, {"protocol": [9, 0]}), "handshake", True, "handshake"),
]
FRAMES = [
    Row("an array of 268 million in 5 bytes", "observer", bin32(b"\xdd\x0f\xff\xff\xff"), "malformed", False, MESSAGEPACK),
    Row("a map of 268 million in 5 bytes", "observer", bin32(b"\xdf\x0f\xff\xff\xff"), "malformed", False, MESSAGEPACK),
    Row("31 arrays of 16.7 million in 155 bytes", "observer", bin32(b"\xdd\x00\xff\xff\xff" * 31), "malformed", False,
        MESSAGEPACK),
    Row("33 levels", "observer", deep(33), "too_deep", False, MESSAGEPACK),
    Row("a million nils", "controller", bin32(b"\xdd\x00\x0f\x42\x40" + b"\xc0" * 1000000), "too_large", False, MESSAGEPACK),
    Row("65 530 nils in the largest frame", "observer", bin32(b"\x92\x04\xdc\xff\xfa" + b"\xc0" * 65530), "type", False,
        MESSAGEPACK),
    Row("a frame of 65 537 bytes", "observer", bin32(bytes(65537)), "too_large", False, FRAME),
    Row("a million bytes at once", "observer", bin32(bytes(1000000)), "busy", False, "bytes a second"),
    Row("a frame of 262 145 bytes", "controller", bin32(bytes(262145)), "too_large", False, FRAME),
    Row("a frame over sixteen times the limit", "observer", b"\xc6" + struct.pack(">I", 16 * 65536 + 1), "framing", True, FRAME),
    Row("60 000 nested arrays", "observer", bin32(b"\x91" * 60000), "too_deep", False, NESTING),
    Row("nine levels", "observer", deep(9), "too_deep", False, NESTING),
    Row("60 000 items that are read to the last", "controller", bin32(b"\x92\x04\xdc\xea\x60" + b"\xa2ab" * 60000), "type",
        False, ITEMS),
    Row("a text of 257 bytes", "observer", frame(10, "x" * 257), "too_large", False, TEXT),
    Row("a text that is not UTF-8", "observer", bin32(b"\x92\x04\xa2\xc3\x28"), "malformed", False, TEXT),
    Row("2^53 + 1", "observer", frame(4, (1 << 53) + 1), "range", False, INTEGERS),
    Row("a NaN", "observer", bin32(b"\x92\x04\xcb\x7f\xf8" + bytes(6)), "not_finite", False, "numbers"),
    Row("an infinite impulse", "controller", batch([[17, 1, [float("inf"), 0, 0]]]), "not_finite", False, "numbers"),
    Row("a second HELLO", "observer", hello(), "protocol", False, "handshake"),
]
MESSAGES = [
    Row("1025 commands", "controller", batch([[24, 1]] * 1025), "range", False, "commands of a batch"),
    Row("1024 commands that are none", "controller", batch([[99, 1]] * 1024), "unknown_command", False, "commands of a batch"),
    Row("1024 commands, the last of them wrong", "controller", batch([[24, 1]] * 1023 + [[24, 4000000]]), "unknown_body",
        False, "commands of a batch"),
    Row("65 bodies followed", "observer", subscribe(follow=range(1, 66)), "range", False, "bodies followed by a subscription"),
    Row("17 areas", "observer", subscribe(areas=17), "range", False, "areas of a subscription"),
    Row("16 areas, the last of no kind", "observer", subscribe(areas=[[1, [-1e6] * 3 + [1e6] * 3, 0]] * 15 + [[9, [1], 0]]),
        "unsupported", False, "areas of a subscription"),
    Row("10 001 ticks", "controller", frame(61, DEMO, 1, None, 10001), "range", False, "ticks of one STEP"),
    Row("a world's name of 65 bytes", "controller", frame(11, 7, "w" * 65), "range", False, "names"),
    Row("a snapshot's name of 65 bytes", "controller", frame(63, 7, DEMO, "s" * 65), "range", False, "names"),
    Row("65 shapes of a body", "controller", batch([[10, 2, [0, 0, 0], [[1]] * 65]]), "range", False, "shapes of a body"),
    Row("64 options that are none", "controller", frame(11, 7, "w", {f"key{i}": "x" * 200 for i in range(64)}),
        "unknown_parameter", False, "world options"),
    Row("a part of 57 345 bytes", "controller", upload(0, 1, bytes(57345)), "range", False, "uploads"),
    Row("1025 parts", "controller", upload(0, 1025, b"x"), "range", False, "uploads"),
    Row("geometry under another name", "controller", upload(0, 1, os.urandom(57344)), "corrupt", False, "uploads"),
    Row("a query of 4096 bytes of no shape", "observer", frame(50, 7, DEMO, [2, b"\xff" * 4096, [0, 0, 0]]), "corrupt", False,
        "queries"),
    Row("a polygon of 100 corners", "controller", upload_of(b"\x07\x01" + struct.pack("<Id", 100, 0) + bytes(1600)), "too_large",
        False, "shapes"),
    Row("a hull of 2000 vertices", "controller", upload_of(b"\x04\x01" + struct.pack("<I", 2000) + b"".join(
        struct.pack("<3d", *point) for point in on_a_sphere(2000))), "too_large", False, "shapes"),
    Row("a query for 4097 hits", "observer", frame(50, 7, DEMO, [1, [0, 0, 0], [0, 1, 0], 5.0, 4097]), "range", False,
        "queries"),
    Row("what its role may not", "observer", batch([[24, 1]] * 1024), "forbidden", False, "roles"),
    Row("a body that is another's", "player", batch([[17, 1, [1, 0, 0]]]), "not_owner", False, "roles"),
]
ROWS = FIRST + FRAMES + MESSAGES


@contextlib.contextmanager
def hostile_daemon(*arguments):
    """A daemon with both worlds; server.hash is that of the paused one."""
    with tcp_daemon(*arguments) as (server, address):
        server.tcp = address
        with server.connect() as client:
            server.client = client
            server.world, server.body = falling(client)
            falling(client, "arena", running=True, gravity=(0, 0, 0))
            server.hash = server.world.step(0).hash
            yield server


class Peer:
    """A connection of one role, joined to both worlds if the role may join."""

    def __init__(self, address, role):
        self.socket = raw(address)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=1 << 22)
        self.ended = False
        if role:
            self.socket.sendall(hello(role=role) + frame(12, 1, DEMO) + frame(12, 2, ARENA))
            assert self.until(lambda m: m[0] == 15 and m[1] == 2)

    def send(self, data):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def messages(self):
        """Received messages, to the end of the connection."""
        while True:
            for content in self.unpacker:
                yield msgpack.unpackb(content, raw=False, strict_map_key=False)
            data = b""
            with contextlib.suppress(ConnectionError):
                data = self.socket.recv(65536)
            if not data:
                self.ended = True
                return
            self.unpacker.feed(data)

    def until(self, wanted):
        """The first message for which wanted() is true; None: the connection ends without one."""
        for message in self.messages():
            if wanted(message):
                return message
        return None

    def refusal(self):
        """The status of the first ERROR, or of the first RESULT that is not ok."""
        found = self.until(lambda m: m[0] == 3 or (m[0] == 41 and m[2][0][2] != 0))
        return None if found is None else found[2] if found[0] == 3 else found[2][0][2]

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def play(address, row):
    """Sends a row; returns the name of the status, and whether the connection was closed."""
    peer = Peer(address, row.role)
    peer.send(row.data)
    code = peer.refusal()
    if row.closes:
        peer.until(lambda m: False)
    else:
        peer.send(frame(4, 4711) if row.role else hello())
        peer.until(lambda m: m[0] == (5 if row.role else 2))
    peer.close()
    name = None if code is None else cairn.client.STATUS[code][0]
    return name, peer.ended
