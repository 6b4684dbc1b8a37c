"""The unit for systemd: systemd knows its lines, and the daemon works under its filters.

The test applies what systemd would, from the same lines: a BPF program (seccomp) with the system
calls of SystemCallFilter, the families of RestrictAddressFamilies, and no memory both writable and
executable."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import pytest
from support import DAEMON, SANITIZED, SOURCE, cairn, command, daemon, falling, log_of, tcp_address, until
from test_tls import make_certificate, tls_address
from test_tokens import made
from test_web import http, listening

UNIT = SOURCE / "server" / "cairnd.service"
CALLS = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
needs_filter = pytest.mark.skipif(
    platform.machine() != "x86_64" or not CALLS.exists() or SANITIZED,
    reason="the filter is made for x86_64 with the kernel's headers, without sanitizers")


def lines(key):
    """The values of a key of the unit, each a list of words."""
    text = UNIT.read_text().replace("\\\n", " ")
    return [line.split("=", 1)[1].split() for line in text.splitlines() if line.split("=", 1)[0] == key]


def analyze(*words):
    return subprocess.run(["systemd-analyze", *map(str, words)], capture_output=True, text=True, timeout=60)


@needs_systemd
def test_systemd_knows_every_line(tmp_path):
    unit = tmp_path / "cairnd.service"
    unit.write_text(UNIT.read_text().replace("/usr/local/bin/cairnd", DAEMON))
    done = analyze("verify", unit)
    about = [line for line in done.stderr.splitlines() if "cairnd" in line and "man page" not in line and "Command 'man" not in line]
    assert not about, about


@needs_systemd
def test_the_exposure_level_is_low():
    done = analyze("security", "--offline=true", "--threshold=15", UNIT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_daemon_accepts_the_options_of_the_unit(tmp_path):
    """With the test's paths in place of the system's."""
    words = lines("ExecStart")[0][1:]
    (tmp_path / "tokens").touch(mode=0o600)
    mine = [re.sub(r"^/etc/cairnd|^/var/lib|^/run/cairnd", str(tmp_path), word) for word in words]
    done = subprocess.run([DAEMON, *mine, "--check-config"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_unit_waits_for_ready_and_for_watchdog_messages():
    assert lines("Type") == [["notify"]] and int(lines("WatchdogSec")[0][0]) > 0


def calls_of(name, seen=()):
    """The calls of one of systemd's sets, or the one call."""
    if not name.startswith("@"):
        return {name}
    words = [line.strip() for line in analyze("syscall-filter", name).stdout.splitlines()[1:]]
    return set().union(*(calls_of(word, (*seen, name)) for word in words if word and word[0] != "#" and word not in seen))


def allowed():
    """Numbers of the calls that SystemCallFilter permits."""
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", CALLS.read_text()))
    calls = calls_of("@default")
    for words in lines("SystemCallFilter"):
        away = words[0].startswith("~")
        for word in words:
            found = calls_of(word.lstrip("~"))
            calls = calls - found if away else calls | found
    return {name: int(numbers[name]) for name in calls if name in numbers}


WRAPPER = """#!{python}
import ctypes, os, struct, sys
FAMILIES, CALLS, SOCKET, MMAP, PROTECT = {families}, {calls}, {socket}, {mmap}, {protect}
EPERM, EAFNOSUPPORT = 0x00050001, 0x00050000 | 97
ALLOW, KILL = 0x7fff0000, 0x80000000
code = []
def put(op, k, true=0, false=0):
    code.append(struct.pack("=HBBI", op, true, false, k))
LOAD, EQUAL, SET, GREATER, RETURN, AND = 0x20, 0x15, 0x45, 0x35, 0x06, 0x54
put(LOAD, 4); put(EQUAL, 0xC000003E, 1, 0); put(RETURN, KILL)
put(LOAD, 0); put(GREATER, 0x40000000, 0, 1); put(RETURN, EPERM)
put(EQUAL, SOCKET, 0, 2 + 2 * len(FAMILIES)); put(LOAD, 16)
for family in FAMILIES:
    put(EQUAL, family, 0, 1); put(RETURN, ALLOW)
put(RETURN, EAFNOSUPPORT)
put(EQUAL, MMAP, 0, 5); put(LOAD, 32); put(AND, 6); put(EQUAL, 6, 0, 1); put(RETURN, EPERM); put(RETURN, ALLOW)
for call in PROTECT:
    put(EQUAL, call, 0, 4); put(LOAD, 32); put(SET, 4, 0, 1); put(RETURN, EPERM); put(RETURN, ALLOW)
for call in CALLS:
    put(EQUAL, call, 0, 1); put(RETURN, ALLOW)
put(RETURN, EPERM)
program = ctypes.create_string_buffer(b"".join(code))
class Fprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
prog = Fprog(len(code), ctypes.cast(program, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
# No new privileges (38); then the filter (22, mode 2).
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(prog), 0, 0) != 0:
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """A wrapper that runs cairnd, or another program, under the unit's filters."""
    calls = allowed()
    numbers = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
    families = [numbers[word] for word in lines("RestrictAddressFamilies")[0]]
    assert lines("MemoryDenyWriteExecute") == [["yes"]] and 100 < len(calls) < 350

    def make(program):
        path = tmp_path_factory.mktemp("confined") / "program"
        path.write_text(WRAPPER.format(python=sys.executable, families=families, calls=sorted(calls.values()),
                                       socket=41, mmap=9, protect=(10, 329), program=program))
        path.chmod(0o755)
        return str(path)
    return make


@needs_systemd
@needs_filter
def test_the_filter_refuses_forbidden_calls(confined):
    """Forbidden calls, families and memory are refused with EPERM; they do not kill."""
    probe = "\n".join([
        "import ctypes, mmap, os, socket",
        "def refused(call, *arguments):",
        "    try: call(*arguments)",
        "    except OSError as why: return why.errno",
        "print(refused(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)), refused(os.chown, '/tmp', 0, 0),"
        " refused(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),"
        " refused(mmap.mmap, -1, 4096, mmap.MAP_PRIVATE, mmap.PROT_WRITE | mmap.PROT_EXEC))",
        "socket.socket().close()"])
    done = subprocess.run([confined(sys.executable), "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["1", "1", "97", "1"], done.stdout + done.stderr


@needs_systemd
@needs_filter
def test_the_daemon_works_under_the_units_filters(confined, tmp_path):
    cert, key = make_certificate(tmp_path, "cairn")
    token = made("bearer", "ops", "--role", "controller", "--file", tmp_path / "tokens")
    options = ("--data", str(tmp_path / "data"), "--listen", "tcp:127.0.0.1:0", "--web", "127.0.0.1:0", "--admin",
               "127.0.0.1:0", "--tls", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--workers", "2",
               "--step-workers", "2", "--tokens", str(tmp_path / "tokens"), "--checkpoint-ticks", "20",
               "--checkpoints-keep", "2")
    hashes = []
    for life in range(2):
        with daemon(*options, program=confined(DAEMON)) as server, server.connect() as client:
            if life == 0:
                world, body = falling(client, "w")
                hull = world.shape(cairn.hull([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]))
                world.spawn(shapes=[hull], position=(3, 10, 0))
                for _ in range(10):
                    world.step(20, commands=[command("impulse", body, (0.1, 0, 0))])
                world.save("kept")
                world.wait_durable(world.tick)
            else:
                world = client.join("w")
                world.pause()
            if life == 0:
                hashes.append(world.step(0).hash)
                world.resume()
            for address, more in ((tcp_address(server), {}), (tls_address(server), {"tls": cert, "token": token}),
                                  ("ws://" + listening(server), {})):
                with cairn.connect(address, **more) as other:
                    there = other.join("w")
                    there.subscribe(profile="view")
                    assert list(there.frames(1))
                    assert there.totals()[0] > 0
            admin = listening(server, "metrics")
            assert b"cairn_worlds 1" in http(admin, "/metrics")[2] and http(admin, "/readyz")[2] == b"ready\n"
            os.kill(server.process.pid, 1)
            until(lambda: "reload" in log_of(server))
            if life == 1:
                hashes.append(world.restore("kept").hash)
            pid = server.process.pid
            assert "Seccomp:\t2" in pathlib.Path(f"/proc/{pid}/status").read_text()
            client.close()
            server.process.terminate()
            assert server.process.wait(60) == 0, log_of(server)
            log = log_of(server)
            assert "not permitted" not in log and "error" not in log.lower(), log
    assert hashes[0] == hashes[1]
    done = subprocess.run([confined(DAEMON), "replay", str(tmp_path / "data" / "w.cairn"), "--verify"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["verdict"] == "same", done.stderr
