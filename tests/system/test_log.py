"""The log under attack: a reader that stops reading, a noisy client, and text that imitates log
lines."""
import os
import re
import socket
import subprocess
import tempfile
import time

import pytest
from support import DAEMON, cairn, daemon, listens, log_of, until
from test_web import listening


@pytest.fixture
def silent(tmp_path):
    """A daemon whose standard error is a pipe or a socket that nobody reads."""
    started = []

    def start(make):
        reader, writer = make()
        directory = tempfile.mkdtemp(dir=tmp_path)
        process = subprocess.Popen([DAEMON, "--unix", f"{directory}/sock", "--ping-ms", "60000"], stderr=writer)
        os.close(writer)
        started.append(process)
        until(lambda: listens(f"{directory}/sock"))
        return reader, f"unix:{directory}/sock", process
    yield start
    for process in started:
        process.kill()
        process.wait()


def socket_pair():
    reader, writer = socket.socketpair()
    return reader.detach(), os.dup(writer.detach())


def read_all(fd, pattern, seconds=10):
    """Reads until the pattern appears."""
    os.set_blocking(fd, False)
    text, end = b"", time.monotonic() + seconds
    while not re.search(pattern, text, re.DOTALL) and time.monotonic() < end:
        try:
            text += os.read(fd, 1 << 16)
        except BlockingIOError:
            time.sleep(0.01)
    return text.decode()


@pytest.mark.parametrize("make", [os.pipe, socket_pair])
def test_a_stopped_reader_delays_nobody_and_audit_lines_are_kept(silent, make):
    reader, address, process = silent(make)
    longest = 0
    with cairn.connect(address, timeout=60) as keeper:
        keeper.create("arena")
        # Far more lines than a pipe of 64 KiB or a socket's buffer holds: each an administrator's
        # own.
        for _ in range(1500):
            began = time.monotonic()
            cairn.connect(address, timeout=60).close()
            longest = max(longest, time.monotonic() - began)
        world = keeper.join("arena").number
        for _ in range(300):
            keeper.ask("reply", "sessions", 0)
        keeper.ask("reply", "world_destroy", world)
        keeper.create("after")
        # The short line with the number of lost lines may fit in where longer ones did not.
        text = read_all(reader, b"world_destroyed.*lost=")
        lost = keeper.info("server")["server"]["log_lines_lost"]
    print(f"the longest HELLO took {1000 * longest:.1f} ms; {lost} lines were lost")
    assert lost > 0 and longest < 3
    assert "message=WORLD_DESTROY" in text and "world_destroyed" in text
    # Only whole lines, and the number of missing ones is logged.
    assert all(re.match(r"\d{4}-\d\d-\d\dT", line) for line in text.splitlines())
    process.terminate()
    assert process.wait(120) == 0


def test_audit_lines_of_changes_are_never_rate_limited():
    with daemon() as server, server.connect() as keeper, server.connect(name="victim") as victim:
        world = keeper.create("arena").number
        for _ in range(300):
            keeper.ask("reply", "sessions", 0)
        keeper.ask("reply", "kick", victim.session, "enough")
        keeper.ask("reply", "world_destroy", world)
        keeper.ask("reply", "config", {"log": "error"})
        keeper.ask("reply", "config", {"ping-ms": 5000})
        log = log_of(server)
    for said in ("message=KICK", f"kicked session={victim.session} by={keeper.session} text=\"enough\"",
                 "message=WORLD_DESTROY", "option=log", "option=ping-ms"):
        assert said in log, said
    # Queries are rate-limited.
    assert log.count("message=SESSIONS") < 60


def test_a_noisy_client_hides_no_line_of_another():
    with daemon() as server, server.connect() as noisy:
        for index in range(60):
            noisy.create(f"noise-{index}")
        with server.connect() as other:
            other.create("calm")
        assert "name=calm" in log_of(server)


def test_text_of_peers_is_quoted():
    """No Host, client name or text can form a pair, a quote or a line of the log."""
    with daemon("--web", "127.0.0.1:0") as server:
        web = listening(server)
        with socket.create_connection(web.rsplit(":", 1)) as peer:
            peer.sendall(b"GET /ws HTTP/1.1\r\nHost: evil token=ops\"x\r\nOrigin: http://a b=c\r\nConnection: Upgrade\r\n"
                         b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                         b"\r\n")
            peer.settimeout(5)
            peer.recv(4096)
        with server.connect(name="a\" role=admin token=\"root\n2026 fake\u202e") as keeper, server.connect() as victim:
            keeper.ask("reply", "kick", victim.session, "x\" code=ok text=\"\n")
        log = log_of(server)
        assert r'host="evil token=ops\"x" origin="http://a b=c"' in log
        assert r'client="a\" role=admin token=\"root\x0a2026 fake\xe2\x80\xae"' in log
        assert r'text="x\" code=ok text=\"\x0a"' in log
