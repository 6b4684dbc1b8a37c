"""Helpers of the system tests: the programs of this build, raw frames, and the kernel's figures
about a daemon."""
import contextlib
import fcntl
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import termios
import time

SOURCE = pathlib.Path(os.environ.get("CAIRN_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("CAIRN_BUILDDIR", "."))
sys.path.insert(0, str(SOURCE / "clients" / "python"))

import cairn  # noqa: E402
from cairn.client import command  # noqa: E402
from cairn.testing import daemon, frames_to, start, stop  # noqa: E402,F401
from cairn.wire import Wire  # noqa: E402

CLIENT = str(BUILD / "cairn")
DAEMON = str(BUILD / "cairnd")
# For `cairnd run`, whose --seed can be set in the environment: the seed of the tests is not that of a world.
SEEDLESS = {name: value for name, value in os.environ.items() if name != "CAIRN_SEED"}
# Sanitizers slow everything down and keep freed memory, so bounds on memory are meaningless with
# them.
SANITIZED = bool(os.environ.get("CAIRN_SANITIZE"))
# A leak sanitizer attaches to its own process like a debugger.
if SANITIZED:
    os.environ.setdefault("CAIRN_DEBUGGABLE", "true")
# For the many short commands: the search for leaks takes most of a command's time under a sanitizer. Test programs,
# daemons and commands that run a world look for them.
BRIEF = os.environ | ({"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"} if SANITIZED else {})
# Seconds after which a test gives up, far above what a starved machine takes.
LIMIT = 120
TOWER = str(SOURCE / "clients" / "scenes" / "tower.yaml")


class Cli:
    """`cairn` against one daemon."""

    def __init__(self, address):
        self.address = address

    def run(self, *words, timeout=LIMIT):
        return subprocess.run([CLIENT, "--connect", self.address, *map(str, words)],
                              capture_output=True, text=True, timeout=timeout, env=BRIEF)

    def text(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def lines(self, *words):
        """The JSON values that the verb prints, one a line."""
        return [json.loads(line) for line in self.text("--json", *words).splitlines()]

    def json(self, *words):
        value, = self.lines(*words)
        return value

    def error(self, *words):
        """The message and exit status of a verb that fails."""
        done = self.run(*words)
        assert done.returncode != 0, done.stdout
        return done.stderr, done.returncode


def records(text):
    """The output of a verb for people, lines `key   value`, as a dict; an empty line ends a record."""
    found = [{}]
    for line in text.splitlines():
        if not line:
            found.append({})
            continue
        key, _, value = line.partition(" ")
        found[-1][key] = value.strip()
    return [record for record in found if record]


def falling(client, name="demo", method="free", **options):
    """A world with one sphere in the air."""
    world = client.create(name, method=method, **options)
    return world, world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 10, 0))


def refused(status):
    """A `with` block that must be refused with this status."""
    @contextlib.contextmanager
    def block():
        try:
            yield
        except cairn.Refused as why:
            assert why.status == status, why
        else:
            raise AssertionError(f"not refused; {status} was expected")
    return block()


def frame(*message):
    """A whole frame of one message with a numeric type."""
    import msgpack
    content = msgpack.packb(list(message), use_bin_type=True)
    return b"\xc6" + struct.pack(">I", len(content)) + content


def memory(pid, key="VmRSS"):
    """Bytes of resident memory now; VmHWM: the peak."""
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise KeyError(key)


def unread_by_peer(sock):
    """Bytes in this socket's send queue that the peer has not taken (SIOCOUTQ)."""
    buffer = bytearray(4)
    fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, buffer)
    return struct.unpack("i", buffer)[0]


def waiting_to_be_read(sock):
    buffer = bytearray(4)
    fcntl.ioctl(sock.fileno(), termios.FIONREAD, buffer)
    return struct.unpack("i", buffer)[0]


def until(true, seconds=LIMIT, pause=0.01):
    """Waits until true() is true; returns its value."""
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(pause)
    return value


def idle_memory(server):
    """Waits until server.client is the only session; returns resident memory and heap blocks
    without frames, which are kept for reuse."""
    seen = []

    def still():
        # Connections that were reset may still wait to be accepted, so the count must stay
        # unchanged for a while.
        info = server.client.info("server")["server"]
        seen.append((info["sessions"], info["heap_blocks"] - info["frames_made"]))
        return len(seen) > 8 and set(seen[-8:]) == {(1, seen[-1][1])}

    until(still, pause=0.02)
    return memory(server.process.pid), seen[-1][1]


def listens(path):
    """Whether a process listens at a Unix socket; the file exists a moment earlier."""
    with socket.socket(socket.AF_UNIX) as peer:
        return peer.connect_ex(path) == 0


def tcp_daemon(*arguments):
    """A daemon that also listens at a TCP port of loopback; yields (daemon, address)."""
    @contextlib.contextmanager
    def block():
        with daemon("--listen", "tcp:127.0.0.1:0", *arguments) as server:
            yield server, tcp_address(server)
    return block()


def log_of(server):
    with open(os.path.join(server.directory, "cairnd.log"), encoding="utf-8", errors="replace") as lines:
        return lines.read()


def tcp_address(server):
    def bound():
        for line in log_of(server).splitlines():
            if "listening address=tcp:" in line:
                return line.split("address=")[1].strip()
        return None
    return until(bound)


def raw(address):
    """A bare socket."""
    if address.startswith("unix:"):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(address[5:])
    else:
        host, _, port = address.removeprefix("tcp:").rpartition(":")
        sock = socket.create_connection((host, int(port)))
    sock.settimeout(LIMIT)
    return sock


def write_scene(folder, key):
    """A scene of one body with this key."""
    path = folder / "one.yaml"
    path.write_text("shapes: { ball: { kind: sphere, radius: 0.5 } }\nbodies:\n  - { shape: ball, %s }\n" % key)
    return path
