"""Every row of hostile_rows.py at a real daemon: refused or closed as stated, nothing changed,
nothing kept; and inputs that need time or numbers: half frames, floods, unfinished uploads, used
tokens."""
import contextlib
import os
import select
import socket
import struct
import subprocess
import time

import pytest
from hostile_rows import DEMO, KEY, ROWS, STATUS, Peer, bin32, connect_token, hello, hostile_daemon, play, upload
from support import DAEMON, SANITIZED, cairn, command, frame, idle_memory, memory, refused, until

measures_memory = pytest.mark.skipif(bool(os.environ.get("CAIRN_SANITIZE")),
                                     reason="a sanitizer keeps freed memory")


@pytest.fixture(scope="module")
def server():
    with hostile_daemon("--sessions-max", "600") as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_changes(request):
    yield
    if "server" in request.fixturenames:
        server = request.getfixturevalue("server")
        assert server.world.step(0).hash == server.hash and server.process.poll() is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.role or 'stranger'}: {row.what}")
def test_a_row_is_refused_as_stated(server, row):
    assert play(server.tcp, row) == (row.status, row.closes)


@measures_memory
def test_repeating_all_rows_keeps_less_than_a_mebibyte(server):
    def round():
        for row in ROWS:
            play(server.tcp, row)
        return idle_memory(server)
    first = [round() for _ in range(5)][2:]
    then = [round() for _ in range(4)]
    growth = min(m for m, _ in then) - min(m for m, _ in first)
    print(f"grown by {growth >> 10} KiB in {4 * len(ROWS)} inputs")
    assert SANITIZED or growth < 1 << 20
    # The shape library and the arena's wakeups vary; a leak of each input would be hundreds.
    assert then[-1][1] - first[-1][1] < len(ROWS)


# ---- slow ---------------------------------------------------------------------------------------------------------

def test_half_a_frame_sent_byte_by_byte_is_closed_in_time(server):
    """A frame that grows by a byte at times has the same deadline as one that does not grow."""
    drippers = [Peer(server.tcp, role) for role in ("", "observer", "controller")]
    whole = bin32(bytes(4000))
    began, at, open_ones = time.monotonic(), 0, list(drippers)
    while open_ones:
        # Whoever has something to read is being closed. If each byte extended the deadline, nobody ever would be.
        assert time.monotonic() - began < 20, "bytes extend the time that a frame has"
        ready, _, _ = select.select([peer.socket for peer in open_ones], [], [], 0.03)
        open_ones = [peer for peer in open_ones if peer.socket not in ready]
        for peer in open_ones:
            peer.send(whole[at:at + 1])
        at += 1
    for peer, status in zip(drippers, ("handshake", "framing", "framing")):
        assert peer.until(lambda m: m[0] == 6)[1] == STATUS[status]
        peer.until(lambda m: False)
        peer.close()
    print(f"ended after {time.monotonic() - began:.2f} s and {at} bytes")


def test_whole_frames_sent_byte_by_byte_are_served(server):
    """Byte by byte, and each frame within its time."""
    peer = Peer(server.tcp, "observer")
    for t in range(5):
        for byte in frame(4, t):
            peer.send(bytes([byte]))
            time.sleep(0.005)
        assert peer.until(lambda m: m[0] == 5)[1] == t
    peer.close()


# ---- many ---------------------------------------------------------------------------------------------------------

@measures_memory
def test_a_flood_of_hello_blocks_no_client_and_leaks_nothing(server):
    """Connections that send nothing, half of HELLO, HELLO repeatedly, or end with a reset."""
    def flood():
        peers = [Peer(server.tcp, "") for _ in range(100)]
        for index, peer in enumerate(peers):
            peer.send([b"", hello()[:20], frame(1, {"protocol": "x"}) * 40, hello()][index % 4])
        began = time.monotonic()
        with cairn.connect(server.tcp) as client:
            client.join("demo")
        took = time.monotonic() - began
        for index, peer in enumerate(peers):
            peer.reset() if index % 2 else peer.close()
        return took, *idle_memory(server)
    first = [flood() for _ in range(4)][2:]
    then = [flood() for _ in range(4)]
    growth = min(m for _, m, _ in then) - min(m for _, m, _ in first)
    print(f"another came in after {1000 * max(t for t, _, _ in then):.0f} ms; grown by {growth >> 10} KiB")
    assert SANITIZED or growth < 1 << 20
    # A growing table adds one block; 400 connections that were not released would add hundreds.
    assert then[-1][2] - first[-1][2] < 20, "blocks left on the heap"


def test_repeated_hello_is_refused_as_busy(server):
    """20 frames a second before WELCOME, 40 at once."""
    peer = Peer(server.tcp, "")
    peer.send(frame(1, {"protocol": "x"}) * 200)
    codes = [message[2] for message in peer.messages() if message[0] == 3]
    peer.close()
    assert set(codes[:40]) == {STATUS["type"]} and set(codes[60:]) == {STATUS["busy"]}


class Flood:
    """A peer that sends more than its role's rate, as fast as it can."""

    MESSAGES = {"commands": lambda number: frame(40, 2, number, None, 0, [[24, 1]] * 20), "pings": lambda number: frame(4, number),
                "queries": lambda number: frame(50, number, DEMO, [4])}

    def __init__(self, server, role, message):
        self.peer, self.make, self.sent, self.codes, self.left = Peer(server.tcp, role), self.MESSAGES[message], 0, set(), None
        self.peer.socket.settimeout(0.002)

    def turn(self):
        data = b"".join(self.make(self.sent + i + 1) for i in range(60))
        self.sent += 60
        with contextlib.suppress(TimeoutError):
            self.peer.send(data)
        with contextlib.suppress(TimeoutError):
            for found in self.peer.messages():
                self.codes |= {found[2]} if found[0] == 3 else set()
                self.codes |= {item[2] for item in found[2]} if found[0] == 41 else set()
                self.left = found[1] if found[0] == 6 else self.left
            self.left = self.left if self.left is not None else STATUS["closed"]


def test_floods_are_refused_as_busy_then_closed_and_others_are_served(server):
    """More than the role's rate for more than five seconds: of commands, pings and queries at the same time."""
    began, longest = time.monotonic(), 0
    floods = [Flood(server, *kind) for kind in (("player", "commands"), ("observer", "pings"), ("observer", "queries"))]
    with cairn.connect(server.tcp, role="observer") as other:
        while time.monotonic() - began < 20 and any(flood.left is None for flood in floods):
            for flood in floods:
                if flood.left is None:
                    flood.turn()
            asked = time.monotonic()
            other.list()
            longest = max(longest, time.monotonic() - asked)
    print(f"{[flood.sent for flood in floods]} messages in {time.monotonic() - began:.1f} s; another's answer took at most "
          f"{1000 * longest:.0f} ms")
    for flood in floods:
        flood.peer.close()
        assert STATUS["busy"] in flood.codes and flood.left in (STATUS["busy"], STATUS["closed"]), flood.make


# ---- uploads and tokens -------------------------------------------------------------------------------------------

@measures_memory
def test_uploads_are_bounded_in_number_and_bytes_and_end_with_their_session(server):
    before, _ = idle_memory(server)
    peer = Peer(server.tcp, "controller")
    for ref in range(16):
        peer.send(upload(0, 1024, bytes(57344), ref=ref + 1, name=bytes([ref]) * 32))
    peer.send(upload(0, 1024, bytes(57344), ref=99, name=b"\xff" * 32))
    assert peer.until(lambda m: m[0] == 3)[1:3] == [99, STATUS["busy"]]
    for part in range(1, 1024):
        peer.send(upload(part, 1024, bytes(57344), ref=1, name=bytes(32)))
    assert peer.until(lambda m: m[0] == 3)[2] == STATUS["limit"]
    assert SANITIZED or memory(server.process.pid) - before < 80 << 20
    peer.close()
    until(lambda: SANITIZED or idle_memory(server)[0] - before < 2 << 20)


def test_memberships_and_subscriptions_of_a_session_are_bounded(server):
    rooms = [server.client.ask("world_info", "world_create", f"room-{index}", {})[1] for index in range(262)]
    peer = Peer(server.tcp, "observer")
    codes = []
    for index, room in enumerate(rooms):
        peer.send(frame(12, 1000 + index, room))
        found = peer.until(lambda m: m[1] == 1000 + index)
        codes.append(found[2] if found[0] == 3 else 0)
    assert codes == [0] * 254 + [STATUS["limit"]] * 8
    for sub in range(70):
        peer.send(frame(30, 500 + sub, DEMO, 1))
    peer.send(frame(4, 4711))
    refused = []
    for message in peer.messages():
        if message[0] == 3:
            refused.append((message[1], message[2]))
        if message[0] == 5:
            break
    assert refused == [(500 + sub, STATUS["limit"]) for sub in range(64, 70)]
    peer.close()
    for room in rooms:
        server.client.ask("reply", "world_destroy", room)


def test_a_used_token_is_refused_at_every_listener_and_closes(tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"key 7 {KEY.hex()}\n")
    file.chmod(0o600)
    with hostile_daemon("--tokens", str(file), "--loopback-role", "none") as server:
        token = connect_token()
        with cairn.connect(server.tcp, token=token.decode()) as client:
            assert client.role == "player"
            codes = []
            for shown in [token] * 20 + [connect_token(seconds=-1), connect_token(secret=bytes(32)), connect_token(key=8)]:
                peer = Peer(server.tcp, "")
                peer.send(hello(token=shown))
                codes.append(peer.refusal())
                assert peer.until(lambda m: m[0] == 6) is not None
                peer.until(lambda m: False)
                peer.close()
            assert set(codes) == {STATUS["auth"]}
            assert client.list()


def test_a_peer_that_resets_at_any_point_leaks_nothing(server):
    _, blocks = idle_memory(server)
    for row in ROWS:
        for part in (2, 5, len(row.data) // 2):
            peer = Peer(server.tcp, row.role)
            peer.send(row.data[:part])
            peer.reset()
    assert idle_memory(server)[1] - blocks < len(ROWS)


# ---- shares -------------------------------------------------------------------------------------------------------

def send_batch(world, commands, at):
    """A batch for a tick, and its immediate answer."""
    batch = world.send(*commands, at=at)
    until(lambda: (world.client.take(0.02), batch in world.waiting or batch in world.results)[1])
    return None if batch in world.waiting else world.result(batch)


def test_waiting_batches_of_a_player_end_with_its_session(tmp_path):
    """Batches for later ticks, forces and bodies have a share; waiting batches end with their
    session, and a replay agrees."""
    with hostile_daemon("--data", str(tmp_path / "data"), "--journal-keep") as server:
        with cairn.connect(server.tcp, role="player") as player, cairn.connect(server.tcp, role="player") as calm:
            world, own = player.join("arena"), calm.join("arena")
            body = world.apply(command("spawn", position=(0, 5, 0))).values[0]
            with refused("range"):
                world.apply(command("force", body, (0, 1, 0), ticks=4294967295))
            with refused("range"):
                send_batch(world, [command("force", body, (0, 1, 0))], 10 ** 12)
            for _ in range(64):
                world.apply(command("force", body, (0, 1, 0), ticks=600))
            with refused("limit"):
                world.apply(command("force", body, (0, 1, 0), ticks=600))
            # Commands on the body that are never applied, because their session has ended. The world is
            # paused, so that their tick does not come before the end.
            with server.connect() as admin:
                arena = admin.join("arena")
                arena.pause()
                at = calm.list()[1][3]
                for number in range(64):
                    send_batch(world, [command("set_tag", body, 100 + number)], at + 40)
                with refused("limit"):
                    send_batch(world, [command("set_tag", body, 1)], at + 40)
                send_batch(own, [command("spawn", position=(5, 5, 0))], at + 30)
        with server.connect() as late:
            late.join("arena").resume()
            until(lambda: late.list()[1][3] > at + 60)
            assert late.join("arena").body(body)["tag"] == 0
    done = subprocess.run([DAEMON, "replay", str(tmp_path / "data" / "arena.cairn"), "--verify"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done
