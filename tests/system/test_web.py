"""The web side of a real daemon: the same frames over WebSocket, the viewer's files, metrics, and
hostile input from browsers and other clients. This side uses raw sockets and the standard library."""
import contextlib
import gzip
import json
import os
import random
import socket
import struct
import time

import msgpack
import pytest
from support import (SANITIZED, SOURCE, Wire, cairn, command, daemon, falling, frame, log_of, memory, refused, stop,
                     tcp_address, until)
from cairn.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, HandshakeRefused, pack, request

STATUS = {name: number for number, (name, _) in cairn.client.STATUS.items()}
HOSTILE = json.loads((SOURCE / "tests" / "data" / "wire" / "hostile.json").read_text())
HELLO = [1, {"protocol": [1, 0], "caps": ["ack"]}]
PAGE = b"<!doctype html><title>viewer</title>"
SCRIPT = b"export const nothing = 0;\n" * 1000


def listening(server, path=""):
    """HOST:PORT of the web listener whose logged address ends with this path."""
    def bound():
        for line in log_of(server).splitlines():
            if "listening address=http" in line and line.endswith("/" + path):
                return line.split("://")[1].split("/")[0]
        return None
    return until(bound)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    files = tmp_path_factory.mktemp("dist")
    (files / "index.html").write_bytes(PAGE)
    (files / "assets").mkdir()
    (files / "assets" / "main.js").write_bytes(SCRIPT)
    (files / ".hidden").write_text("secret")
    with daemon("--listen", "tcp:127.0.0.1:0", "--web", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                "--web-files", str(files), "--web-host", "viewer.example", "--web-origin",
                "https://other.example", "--handshake-ms", "1000") as server:
        server.tcp = tcp_address(server)
        server.web = listening(server)
        server.admin = listening(server, "metrics")
        with server.connect() as client:
            server.client = client
            server.world, server.body = falling(client)
            server.hash = server.world.step(0).hash
            yield server


@pytest.fixture(autouse=True)
def nothing_changes(server):
    yield
    assert server.world.step(0).hash == server.hash
    assert server.process.poll() is None


def connected(host_port, timeout=120):
    host, port = host_port.split(":")
    return socket.create_connection((host, int(port)), timeout)


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while part := sock.recv(65536):
            data += part
    return data


def http(host_port, path="/", method="GET", host=None, **headers):
    """One request on a connection of its own: (status, headers, body); status 0: closed without an
    answer."""
    sock = connected(host_port)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or host_port}", "Connection: close",
             *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    sock.sendall("\r\n".join([*lines, "", ""]).encode())
    data = read_all(sock)
    sock.close()
    if not data:
        return 0, {}, b""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return int(lines[0].split()[1]), fields, body


class Raw:
    """A WebSocket of which the test controls every byte."""

    def __init__(self, host_port, hello=True):
        self.sock = connected(host_port)
        asked, accept = request(host_port)
        self.sock.sendall(asked)
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            part = self.sock.recv(4096)
            assert part, "no handshake"
            self.data += part
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101") and accept.encode() in head
        if hello:
            self.send(HELLO)
            assert self.message()[0] == 2

    def send(self, message, **how):
        self.sock.sendall(pack(BINARY, msgpack.packb(message), **how))

    def need(self, count):
        while len(self.data) < count:
            part = self.sock.recv(65536)
            if not part:
                raise EOFError
            self.data += part

    def frame(self):
        """(opcode, last, data)"""
        self.need(2)
        length, at = self.data[1] & 0x7F, 2
        assert not self.data[1] & 0x80, "a server does not mask"
        if length >= 126:
            at = 4 if length == 126 else 10
            self.need(at)
            length = int.from_bytes(self.data[2:at], "big")
        self.need(at + length)
        opcode, last, data = self.data[0] & 15, self.data[0] >> 7, self.data[at:at + length]
        self.data = self.data[at + length:]
        return opcode, last, data

    def message(self):
        opcode, last, data = self.frame()
        assert opcode == BINARY and last, (opcode, data)
        return msgpack.unpackb(data, raw=False, strict_map_key=False)

    def to_the_end(self):
        """Every message until the end, and the status of the closing frame (None: there was none)."""
        messages = []
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                opcode, _, data = self.frame()
                if opcode == CLOSE:
                    self.sock.sendall(pack(CLOSE, data))
                    return messages, struct.unpack(">H", data[:2])[0] if data else None
                if opcode == BINARY:
                    messages.append(msgpack.unpackb(data, raw=False, strict_map_key=False))
        return messages, None

    def close(self):
        self.sock.close()


def expect_goodbye(raw, status):
    messages, _ = raw.to_the_end()
    raw.close()
    errors = [m for m in messages if m[0] == 3]
    assert errors and errors[0][2] == STATUS[status], messages
    assert messages[-1][0] == 6 and messages[-1][1] == STATUS[status]


# ---- the same worlds ----------------------------------------------------------------------------------------------

def test_a_websocket_is_an_observer_and_may_not_command(server):
    with cairn.connect("ws://" + server.web) as client:
        assert client.role == "observer"
        world = client.join("demo")
        with refused("forbidden"):
            world.apply(command("impulse", server.body, (0, 1, 0)))
        with refused("forbidden"):
            world.step(1)
    with refused("forbidden"):
        cairn.connect("ws://" + server.web, role="player")


def test_frames_over_a_websocket_equal_those_over_tcp(server):
    with cairn.connect("ws://" + server.web) as web, cairn.connect(server.tcp) as tcp:
        copy = server.world.fork("seen")
        copy_tick = copy.step(0).tick
        try:
            worlds = [web.join("seen"), tcp.join("seen")]
            for world in worlds:
                world.subscribe(fields=127)
                next(world.frames(1))
            for step in range(20):
                copy.step(1, commands=[command("spawn", position=(1, 2, 3))] if step == 5 else [])
                frames = [next(world.frames(1)) for world in worlds]
                assert all(f.tick == step + 1 + copy_tick and len(f.bodies) == 1 + (step >= 5) for f in frames)
                assert frames[0].bodies == frames[1].bodies
        finally:
            server.client.ask("reply", "world_destroy", copy.number)


def test_large_and_small_frames_of_shared_buffers_arrive_whole(server):
    """Frames over 64 KiB have WebSocket's longest header; TCP clients share the same buffers."""
    copy = server.client.create("crowd", method="free")
    sphere = copy.shape(sphere=0.1)
    for row in range(12):
        copy.apply(*(command("spawn", position=(x, 1, row), shapes=[sphere]) for x in range(200)))
    copy.step(1)
    clients = [cairn.connect(address) for address in ("ws://" + server.web, server.tcp, "ws://" + server.web, server.tcp)]
    try:
        worlds = [client.join("crowd") for client in clients]
        for world in worlds:
            world.subscribe(fields=31)
        firsts = [next(world.frames(1)) for world in worlds]
        assert all(len(first.bodies) == 2400 and first.bodies == firsts[0].bodies for first in firsts)
        for step in range(5):
            copy.step(1)
            frames = [next(world.frames(1)) for world in worlds]
            assert all(f.tick == frames[0].tick and f.bodies == frames[0].bodies for f in frames), step
    finally:
        for client in clients:
            client.close()
        server.client.ask("reply", "world_destroy", copy.number)


def test_a_message_may_come_in_fragments_of_any_size(server):
    raw = Raw(server.web)
    content = msgpack.packb([4, 4711])
    for index in range(len(content)):
        raw.sock.sendall(pack(BINARY if index == 0 else CONTINUATION, content[index:index + 1],
                              last=index == len(content) - 1))
        if index == 1:
            raw.sock.sendall(pack(PING, b"between"))
    answers = [raw.frame(), raw.frame()]
    assert (PONG, 1, b"between") in answers
    assert any(msgpack.unpackb(data)[:2] == [5, 4711] for opcode, _, data in answers if opcode == BINARY)
    raw.close()


def test_many_messages_in_one_segment_are_all_answered(server):
    raw = Raw(server.web)
    raw.sock.sendall(b"".join(pack(BINARY, msgpack.packb([4, k])) for k in range(200)))
    assert [raw.message()[1] for _ in range(200)] == list(range(200))
    raw.close()


def test_a_session_ends_with_the_closing_handshake(server):
    raw = Raw(server.web)
    before = server.client.info("server")["server"]["sessions"]
    raw.sock.sendall(pack(CLOSE, struct.pack(">H", 1000)))
    assert raw.to_the_end()[1] == 1000
    until(lambda: server.client.info("server")["server"]["sessions"] == before - 1)


# ---- who may come in ----------------------------------------------------------------------------------------------

def handshake_status(server, **how):
    sock = connected(server.web)
    asked, _ = request(how.pop("host", server.web), **how)
    sock.sendall(asked)
    sock.settimeout(5)
    data = b""
    with contextlib.suppress(ConnectionResetError, socket.timeout):
        while b"\r\n" not in data and (part := sock.recv(4096)):
            data += part
    sock.close()
    return int(data.split()[1]) if data else 0


def test_only_listed_hosts_and_origins_are_accepted(server):
    port = server.web.split(":")[1]
    for origin in [None, f"http://{server.web}", f"http://localhost:{port}", "https://other.example",
                   "HTTPS://OTHER.example"]:
        assert handshake_status(server, origin=origin) == 101, origin
    for host in [f"localhost:{port}", f"LOCALHOST:{port}", f"viewer.example:{port}", "viewer.example"]:
        assert handshake_status(server, host=host) == 101, host
    for origin in ["http://evil.example", "null", f"https://{server.web}", f"http://{server.web}.evil.example",
                   "http://", f"http://evil.example/{server.web}", "https://other.example.evil", "x" * 3000]:
        assert handshake_status(server, origin=origin) in (0, 403), origin
    for host in ["evil.example", f"evil.example:{port}", "127.0.0.1", f"{server.web}.evil.example", "a" * 3000]:
        assert handshake_status(server, host=host) in (0, 403), host


def test_a_websocket_needs_its_path_and_version(server):
    for path in ["/", "/wss", "/ws/", "/ws/x", "/metrics"]:
        assert handshake_status(server, path=path) in (0, 404), path
    assert handshake_status(server, path="/ws", extra=["Sec-WebSocket-Protocol: cairn.1"]) == 101
    assert handshake_status(server, path="/ws", extra=["Sec-WebSocket-Protocol: chat"]) in (0, 403, 404)


def test_a_rebound_host_name_gets_no_page_and_no_metrics(server):
    assert http(server.web, host="evil.example")[0] == 421
    assert http(server.admin, "/metrics", host="evil.example:80")[0] == 421
    assert PAGE not in http(server.web, host="evil.example")[2]


# ---- hostile messages -----------------------------------------------------------------------------------------------

def test_text_is_refused_by_name(server):
    raw = Raw(server.web)
    raw.sock.sendall(pack(TEXT, b'["hello"]'))
    expect_goodbye(raw, "framing")


def test_an_empty_message_is_refused(server):
    raw = Raw(server.web)
    raw.sock.sendall(pack(BINARY, b""))
    expect_goodbye(raw, "framing")


@pytest.mark.parametrize("bytes_", [262145, 1 << 20, 1 << 40], ids=["a byte too many", "1 MiB", "1 TiB"])
def test_a_message_with_too_large_a_length_is_refused_at_its_header(server, bytes_):
    raw = Raw(server.web)
    head = struct.pack(">BBQ", 0x82, 0xFF, bytes_) + os.urandom(4)
    raw.sock.sendall(head + bytes(20000))
    expect_goodbye(raw, "framing")


def test_a_message_over_the_sessions_limit_is_refused_and_the_next_is_served(server):
    raw = Raw(server.web)
    raw.sock.sendall(pack(BINARY, bytes(65537)) + pack(BINARY, msgpack.packb([4, 4711])))
    assert raw.message()[:3] == [3, 0, STATUS["too_large"]]
    assert raw.message()[:2] == [5, 4711]
    raw.close()


def test_before_hello_a_message_may_be_no_larger_than_a_hello(server):
    raw = Raw(server.web, hello=False)
    raw.sock.sendall(pack(BINARY, bytes(4097)))
    expect_goodbye(raw, "framing")


def test_unending_fragments_are_refused_at_the_limit(server):
    raw = Raw(server.web)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        raw.sock.sendall(pack(BINARY, bytes(30000), last=False))
        for _ in range(10):
            raw.sock.sendall(pack(CONTINUATION, bytes(30000), last=False))
    expect_goodbye(raw, "framing")


@pytest.mark.parametrize("data", [
    b"\xf2" + pack(BINARY, b"\x92\x04\x01")[1:],
    b"\x83\x80\x00\x00\x00\x00",
    pack(CONTINUATION, b"\x92\x04\x01"),
    pack(PING, bytes(126)),
    pack(PING, b"x", last=False),
], ids=["reserved bits", "a reserved opcode", "a continuation of nothing", "a long ping", "half a ping"])
def test_invalid_websocket_frames_close(server, data):
    raw = Raw(server.web)
    raw.sock.sendall(data)
    messages, _ = raw.to_the_end()
    assert not [m for m in messages if m[0] == 5], "it was answered"
    raw.close()


def test_an_unmasked_frame_closes_or_is_read_as_sent(server):
    """The mask protects proxies between a browser and a server, not the server."""
    raw = Raw(server.web)
    raw.sock.sendall(pack(BINARY, msgpack.packb([4, 4711]), masked=False))
    with contextlib.suppress(EOFError, ConnectionError):
        assert raw.message()[:2] == [5, 4711]
    raw.close()


@pytest.mark.parametrize("case", HOSTILE, ids=lambda c: c["what"].replace(" ", "-"))
def test_the_vectors_of_hostile_contents(server, case):
    raw = Raw(server.web)
    raw.sock.sendall(pack(BINARY, bytes.fromhex(case["content"])))
    assert raw.message()[2] == STATUS[case["status"]]
    raw.close()


def test_random_bytes_in_requests_and_messages_do_no_harm(server):
    rng = random.Random(3)
    for _ in range(150):
        sock = connected(rng.choice([server.web, server.admin]))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            asked, _ = request(server.web)
            if rng.random() < 0.6:
                sock.sendall(asked)
                data = bytearray(pack(BINARY, msgpack.packb(HELLO)) + rng.randbytes(rng.randrange(200)))
            else:
                data = bytearray(asked)
            for _ in range(rng.randrange(5)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            sock.sendall(data)
            if rng.random() < 0.3:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    until(lambda: server.client.info("server")["server"]["sessions"] == 1)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(SANITIZED, reason="a sanitizer costs more than what it watches")
def test_hostile_connections_cost_less_than_a_millisecond_each(server):
    asked, _ = request(server.web)
    hello = pack(BINARY, msgpack.packb(HELLO))
    bodies = [
        ("text", asked + hello + pack(TEXT, b"hello")),
        ("much announced", asked + hello + struct.pack(">BBQ", 0x82, 0xFF, 1 << 40) + bytes(9000)),
        ("an array of 268 million", asked + hello + pack(BINARY, b"\xdd\x0f\xff\xff\xff")),
        ("reserved bits", asked + b"\xf2" + hello[1:]),
        ("another host", request("evil.example")[0]),
        ("a long header", b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 9000),
        ("noise", random.Random(5).randbytes(4000)),
    ]
    for name, data in bodies:
        count, before = 200, cpu_seconds(server.process.pid)
        for _ in range(count):
            sock = connected(server.web)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                read_all(sock)
            sock.close()
        each = (cpu_seconds(server.process.pid) - before) / count
        print(f"{name}: {each * 1e6:.0f} us of CPU each")
        assert each < 1e-3, name


# ---- slow and many --------------------------------------------------------------------------------------------------

def ended_after(sock, limit):
    start = time.monotonic()
    sock.settimeout(limit)
    read_all(sock)
    sock.close()
    return time.monotonic() - start


def test_slow_connections_time_out(server):
    """Half a request, half a handshake, a WebSocket that sends nothing, half a message."""
    half = connected(server.web)
    half.sendall(b"GET / HTTP/1.1\r\nHost: " + server.web.encode() + b"\r\nX-Slow: ")
    silent = connected(server.web)
    mute = Raw(server.web, hello=False)
    partial = Raw(server.web)
    partial.sock.sendall(pack(BINARY, bytes(20000), last=False))
    drip = time.monotonic() + 3
    while time.monotonic() < drip:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            half.sendall(b"x")
        time.sleep(0.5)
    messages, _ = mute.to_the_end()
    assert messages[-1][:2] == [6, STATUS["handshake"]]
    expect_goodbye(partial, "framing")
    took = ended_after(half, 20), ended_after(silent, 20)
    print("half a request ended after 3 s +", took)
    assert max(took) < 20


def test_a_flood_of_handshakes_blocks_no_client_and_leaks_nothing(server):
    def flood():
        socks = [connected(server.web) for _ in range(200)]
        asked, _ = request(server.web)
        for index, sock in enumerate(socks):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall([b"", asked[:30], asked, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"Y: " + b"z" * 8000][index % 4])
        start = time.monotonic()
        with cairn.connect(server.tcp) as client:
            client.join("demo")
        took = time.monotonic() - start
        for sock in socks:
            sock.close()
        until(lambda: server.client.info("server")["server"]["sessions"] == 1)
        return took, memory(server.process.pid)
    first = [flood() for _ in range(4)][2:]
    then = [flood() for _ in range(4)]
    growth = min(m for _, m in then) - min(m for _, m in first)
    print(f"another client came in after {max(t for t, _ in then) * 1000:.0f} ms; grown by {growth >> 10} KiB")
    assert SANITIZED or growth < 1 << 20


def test_one_address_cannot_take_every_place_of_the_web_side():
    with daemon("--web", "127.0.0.1:0", "--address-greetings", "20") as server:
        web = listening(server)
        open_ = [Raw(web) for _ in range(10)]

        def silent():
            socks = [connected(web) for _ in range(40)]
            left = 0
            for sock in socks:
                sock.settimeout(0.05)
                try:
                    left += sock.recv(1) != b""
                except socket.timeout:
                    left += 1
                except ConnectionError:
                    pass
            return socks, left
        socks, left = silent()
        assert left == 20
        assert http(web)[0] == 0
        # An open WebSocket takes a place of another kind.
        open_[0].send([4, 1])
        assert open_[0].message()[:2] == [5, 1]
        for sock in socks:
            sock.close()
        until(lambda: http(web)[0] == 200)
        assert silent()[1] == 20


def test_a_client_that_does_not_read_skips_frames_and_buffers_little(server):
    copy = server.client.create("busy", method="free")
    sphere = copy.shape(sphere=0.1)
    copy.apply(*(command("spawn", position=(x, 1, 0), shapes=[sphere]) for x in range(300)))
    copy.resume()
    stalled = cairn.connect("ws://" + server.web, caps=())
    reader = cairn.connect("ws://" + server.web)
    try:
        stalled.join("busy").subscribe()
        frames = reader.join("busy")
        frames.subscribe()
        before = memory(server.process.pid)
        # On a busy machine the reader skips frames as well, but its frames never stop.
        ticks = [f.tick for f in frames.frames(150)]
        assert len(ticks) == 150
        print(f"150 frames over {ticks[-1] - ticks[0]} ticks beside one that does not read")
        assert server.client.info("server")["server"]["queued_bytes"] < 1 << 20
        assert SANITIZED or memory(server.process.pid) - before < 4 << 20
    finally:
        stalled.close()
        reader.close()
        server.client.ask("reply", "world_destroy", copy.number)


# ---- files ----------------------------------------------------------------------------------------------------------

def test_the_viewer_is_served_with_its_type_and_a_policy(server):
    status, fields, body = http(server.web)
    assert (status, body, fields["content-type"]) == (200, PAGE, "text/html; charset=utf-8")
    policy = fields["content-security-policy"]
    assert "default-src 'self'" in policy and f"ws://{server.web}" in policy and "unsafe" not in policy
    assert fields["x-content-type-options"] == "nosniff"
    status, fields, body = http(server.web, "/assets/main.js")
    assert (status, body, fields["content-type"]) == (200, SCRIPT, "text/javascript; charset=utf-8")


def test_a_file_that_has_not_changed_is_not_sent_again(server):
    tag = http(server.web)[1]["etag"]
    status, fields, body = http(server.web, If_None_Match=tag)
    assert (status, body, fields["etag"]) == (304, b"", tag)
    assert http(server.web, If_None_Match='"other"')[0] == 200


def test_files_are_compressed_on_request(server):
    status, fields, body = http(server.web, "/assets/main.js", Accept_Encoding="br, gzip")
    assert status == 200 and fields["content-encoding"] == "gzip" and gzip.decompress(body) == SCRIPT
    assert int(fields["content-length"]) == len(body) < len(SCRIPT)


def test_head_has_no_body_and_other_methods_are_not_allowed(server):
    status, fields, body = http(server.web, method="HEAD")
    assert (status, body, int(fields["content-length"])) == (200, b"", len(PAGE))
    for method in ["POST", "PUT", "DELETE", "OPTIONS"]:
        assert http(server.web, method=method, Content_Length="0")[0] in (0, 403, 404, 405), method


@pytest.mark.parametrize("path", ["/../../../../etc/passwd", "/assets/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                                  "/..%2f..%2fetc/passwd", "//etc/passwd", "/.hidden", "/assets", "/assets/",
                                  "/index.html%00.js", "/nothing.js"])
def test_only_files_of_the_viewer_are_served(server, path):
    status, _, body = http(server.web, path)
    assert status in (0, 400, 403, 404) and b"root:" not in body and b"secret" not in body, (status, body)


def test_requests_on_one_connection_are_answered_in_order(server):
    sock = connected(server.web)
    for path, body in [("/", PAGE), ("/assets/main.js", SCRIPT), ("/", PAGE)]:
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {server.web}\r\n\r\n".encode())
        data = b""
        while not data.endswith(body):
            part = sock.recv(65536)
            assert part, data
            data += part
    sock.close()


def test_without_a_viewer_a_page_says_how_to_build_it():
    with daemon("--web", "127.0.0.1:0", "--web-files", "/nonexistent") as server:
        status, fields, body = http(listening(server), "/")
        assert status == 200 and b"npm run build" in body and fields["content-type"].startswith("text/html")


# ---- operations -----------------------------------------------------------------------------------------------------

def metrics(server):
    status, fields, body = http(server.admin, "/metrics")
    assert status == 200 and fields["content-type"].startswith("text/plain; version=0.0.4")
    values, kinds = {}, {}
    for line in body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in kinds, "a type said twice"
            kinds[name] = kind
            if kind == "histogram":
                kinds.update({f"{name}_{part}": kind for part in ("bucket", "sum", "count")})
        elif not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            assert name not in values and name.partition("{")[0] in kinds, name
            values[name] = float(value)
    return values


def test_metrics_equal_info_and_counters_never_decrease(server):
    first = metrics(server)
    with cairn.connect("ws://" + server.web) as client:
        client.join("demo")
        then = metrics(server)
        info = server.client.info("server")["server"]
    assert then['cairn_world_bodies{world="demo"}'] == 1
    assert then['cairn_sessions{role="observer"}'] == 1 and then['cairn_sessions{role="admin"}'] == 1
    assert then["cairn_sessions_opened_total"] == first["cairn_sessions_opened_total"] + 1
    assert then["cairn_sent_bytes_total"] <= info["bytes_out"]
    assert all(then[name] >= value for name, value in first.items() if name.endswith("_total"))


def test_quality_of_a_step_is_equal_in_info_and_metrics(server):
    world = server.client.create("judged", method="projection")
    world.spawn(status=1, shapes=[world.shape(cairn.plane((0, 1, 0)))])
    for k in range(3):
        world.spawn(shapes=[world.shape(cairn.box(1, 1, 1))], position=(0, 0.5 + 0.999 * k, 0))
    world.step(5)
    (told,) = [w for w in server.client.info("worlds")["worlds"] if w["name"] == "judged"]
    lines = metrics(server)
    pairs = {"islands": "islands", "islands_dense": "islands_dense", "islands_sparse": "islands_sparse",
             "islands_dependent": "islands_dependent", "islands_reduced": "islands_reduced",
             "islands_maximal": "islands_maximal", "taut": "taut", "sagging": "sagging",
             "iterations": "iterations", "residual": "residual",
             "push_work": "push_work_joules_total", "fallbacks": "fallbacks_total"}
    for name, metric in pairs.items():
        assert lines[f'cairn_world_{metric}{{world="judged"}}'] == pytest.approx(told[name], rel=1e-6), name
    # One small stack is one island, and solved dense.
    assert told["islands"] == told["islands_dense"] == 1 and told["islands_sparse"] == 0 and told["islands_dependent"] <= 1
    # Overlapping boxes are pushed apart against their weight.
    assert told["push_work"] > 0 and 0 <= told["residual"] < 1e-6 and told["iterations"] > 0
    counts = server.client.ask("world_info", "world_join", 0, "judged")[12]
    assert {name: counts[name] for name in pairs} == {name: told[name] for name in pairs}


def test_what_impact_counts_is_equal_in_info_and_metrics(server):
    world = server.client.create("counted", method="impact")
    world.spawn(status=1, shapes=[world.shape(cairn.plane((0, 1, 0)))], restitution=0.9)
    world.spawn(shapes=[world.shape(cairn.sphere(0.5))], position=(0, 0.6, 0), tolerance=1e-5, substeps=3)
    world.step(60)
    (told,) = [w for w in server.client.info("worlds")["worlds"] if w["name"] == "counted"]
    counts = server.client.ask("world_info", "world_join", 0, "counted")[12]
    lines = metrics(server)
    names = [name for name in told if name.startswith("impact_") and name != "impact_error"]
    assert len(names) == 16 and told["impact_groups"] >= 3 and told["impact_substeps"] > 60
    for name in names:
        assert lines[f'cairn_world_{name}_total{{world="counted"}}'] == told[name] == counts[name], name
    assert lines['cairn_world_impact_error_meters{world="counted"}'] == pytest.approx(told["impact_error"], rel=1e-6)
    assert told["impact_error"] == counts["impact_error"] <= 1e-5


def test_the_histogram_of_tick_costs_counts_every_tick(server):
    world = server.client.create("timed")
    world.spawn()
    for n in (1, 1, 40, 1000):
        world.step(n)
    (told,) = [w for w in server.client.info("worlds")["worlds"] if w["name"] == "timed"]
    lines = metrics(server)
    head = 'cairn_world_tick_seconds_bucket{world="timed",le="'
    buckets = [(float(name[len(head):-2]), value) for name, value in lines.items() if name.startswith(head)]
    counts = [value for _, value in buckets]
    assert buckets == sorted(buckets) and counts == sorted(counts) and buckets[-1][0] == float("inf")
    ticks = lines['cairn_world_ticks_total{world="timed"}']
    assert ticks == 1042 == counts[-1] == lines['cairn_world_tick_seconds_count{world="timed"}'] == told["ticks"]
    assert 0 < lines['cairn_world_tick_seconds_sum{world="timed"}'] < 60
    # A quantile is the bound of the bucket in which it lies.
    for name, share in (("cost_ns_p50", 0.5), ("cost_ns_p99", 0.99)):
        first = next(bound for bound, count in buckets if count >= share * ticks)
        assert told[name] == pytest.approx(min(first, buckets[-2][0]) * 1e9)


def test_the_number_of_lines_is_bounded_whatever_the_number_of_worlds(server):
    made = []
    for k in range(80):
        if k % 40 == 0:
            maker = server.connect()
        made.append(maker.create(f"many-{k}").number)
    worlds = {name for name in metrics(server) if name.startswith("cairn_world_tick{")}
    assert len(worlds) == 65 and 'cairn_world_tick{world=""}' in worlds
    for number in made:
        server.client.ask("reply", "world_destroy", number)


def test_health_is_alive_and_ready_until_it_drains():
    with daemon("--web", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain-ms", "3000") as server:
        admin, web = listening(server, "metrics"), listening(server)
        assert http(admin, "/healthz")[0] == 200 and http(admin, "/readyz")[0] == 200
        assert http(admin, "/")[0] == 404
        watching = Raw(web)
        # A client that does not close after GOODBYE prolongs the drain.
        holding = server.connect()
        server.process.terminate()
        until(lambda: "draining" in log_of(server))
        assert http(admin, "/healthz")[0] == 200
        assert http(admin, "/readyz")[0] == 503
        with contextlib.suppress(HandshakeRefused, ConnectionError):
            cairn.connect("ws://" + web)
            raise AssertionError("a draining server took a session")
        assert watching.message()[0] == 6
        holding.close()
        assert server.process.wait(60) == 0


def test_slow_headers_of_an_address_block_neither_health_nor_others():
    """300 unfinished requests of one address; beside them the monitoring listener and another
    address. Their timeout is a minute, so a request that had to wait for them would get no answer
    here."""
    def fetch(address, path, source):
        host, port = address.split(":")
        began = time.monotonic()
        with socket.create_connection((host, int(port)), 15, source_address=(source, 0)) as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
            assert read_all(sock).startswith(b"HTTP/1.1 200")
        return 1000 * (time.monotonic() - began)

    with daemon("--web", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--handshake-ms", "60000") as server:
        web, admin = listening(server), listening(server, "metrics")

        def both():
            return [fetch(admin, "/healthz", "127.0.0.1"), fetch(web, "/", "127.0.0.3")]

        without = [both() for _ in range(5)]
        slow = []
        for _ in range(300):
            with contextlib.suppress(OSError):
                sock = socket.create_connection(web.split(":"), 5, source_address=("127.0.0.2", 0))
                sock.sendall(b"GET / HTTP/1.1\r\nHost: ")
                slow.append(sock)
        beside = [both() for _ in range(5)]
        held = 0
        for sock in slow:
            sock.setblocking(False)
            try:
                held += sock.recv(1) != b""
            except BlockingIOError:
                held += 1
            except ConnectionError:
                pass
            sock.close()
        print(f"/healthz and / take ms: without {without[-1]}, beside slow headers {[max(row) for row in zip(*beside)]}")
        assert 0 < held <= 64


def test_the_daemon_stops_cleanly_with_clients_in_every_state():
    with daemon("--web", "127.0.0.1:0", "--drain-ms", "500") as server:
        web = listening(server)
        open_ = [Raw(web), Raw(web, hello=False), connected(web)]
        half = connected(web)
        half.sendall(b"GET / HTT")
        partial = Raw(web)
        partial.sock.sendall(b"\x82\xfe")
        assert stop(server) == 0
        assert "stopped status=ok" in log_of(server)
        del open_


def test_an_address_in_use_is_named():
    with daemon("--web", "127.0.0.1:0") as server:
        with pytest.raises(RuntimeError, match="in use"):
            with daemon("--web", listening(server)):
                pass


def test_wire_of_the_python_client_reports_a_refused_handshake(server):
    with pytest.raises(HandshakeRefused) as why:
        Wire("ws://" + server.web + "/elsewhere", 5)
    assert why.value.status == 404
