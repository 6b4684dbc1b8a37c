"""Tokens at a real daemon: what each permits, how often, and for which worlds; keys changed at run
time; and configurations that a daemon refuses without tokens."""
import hashlib
import json
import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest
from support import (CLIENT, DAEMON, SANITIZED, Wire, cairn, command, daemon, frame, listens, log_of, raw, refused, tcp_address,
                     until)
from test_web import http, listening


def cli(*words, **environment):
    return subprocess.run([CLIENT, *map(str, words)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def made(*words):
    done = cli("token", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tokens"


@pytest.fixture
def server(file):
    made("key", 7, "--file", file)
    with daemon("--listen", "tcp:127.0.0.1:0", "--web", "127.0.0.1:0", "--tokens", str(file), "--loopback-role",
                "none") as server:
        server.tcp, server.web = tcp_address(server), listening(server)
        with server.connect() as client:
            for name in ("arena", "lobby"):
                client.create(name)
        yield server


def reload(server):
    before = log_of(server).count("tokens_loaded") + log_of(server).count("reload_refused")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: log_of(server).count("tokens_loaded") + log_of(server).count("reload_refused") > before)


def test_with_tokens_configured_loopback_needs_one_too(server):
    for address in (server.tcp, "ws://" + server.web):
        with refused("auth"):
            cairn.connect(address)


def test_a_bearer_token_gives_its_identity_at_every_listener(server, file):
    token = made("bearer", "ops", "--role", "controller", "--file", file)
    with refused("auth"):
        cairn.connect(server.tcp, token=token)
    reload(server)
    for address in (server.tcp, "ws://" + server.web):
        with cairn.connect(address, token=token) as client:
            assert client.role == "controller"
    with cairn.connect(server.tcp, token=token, role="observer") as client:
        assert client.role == "observer"
    with refused("forbidden"):
        cairn.connect(server.tcp, token=token, role="admin")
    for wrong in (token[:-1], token + "A", token.swapcase(), "", "b1.", "x" * 2048):
        with refused("auth"):
            cairn.connect(server.tcp, token=wrong)


def test_a_connect_token_is_valid_once(server, file):
    token = made("connect", 7, "--file", file)
    with cairn.connect(server.tcp, token=token) as client:
        assert client.role == "player"
    for address in (server.tcp, "ws://" + server.web, server.address):
        with refused("auth"):
            cairn.connect(address, token=token)


def test_an_expired_or_changed_token_is_refused_and_ends_the_connection(server, file):
    token = made("connect", 7, "--ttl", 1, "--file", file)
    time.sleep(2)
    with refused("auth"):
        cairn.connect(server.tcp, token=token)
    token = made("connect", 7, "--file", file)
    wire = Wire(server.tcp, 5)
    wire.send("hello", {"protocol": [1, 0], "token": token[:-4].encode() + b"AAAA"})
    kinds = []
    with pytest.raises(cairn.Closed):
        while (message := wire.receive()) is not None:
            kinds.append(message[0])
    assert kinds == ["error", "goodbye"]


def test_a_token_for_one_world_permits_no_other(server, file):
    token = made("connect", 7, "--world", "arena", "--file", file)
    with cairn.connect(server.tcp, token=token) as client:
        assert [info[1] for info in client.list()] == ["arena"]
        client.join("arena")
        with refused("forbidden"):
            client.join("lobby")
    token = made("bearer", "maker", "--role", "admin", "--world", "arena", "--world", "new", "--file", file)
    reload(server)
    with cairn.connect(server.tcp, token=token) as client:
        client.create("new")
        with refused("forbidden"):
            client.create("other")
        # Not World.fork, which joins the copy afterwards and would be refused there.
        arena = client.join("arena")
        with refused("forbidden"):
            client.ask("forked", "fork", arena.number, "copy", "")
        with refused("forbidden"):
            client.ask("reply", "world_destroy", 2)
    with server.connect() as client:
        assert sorted(info[1] for info in client.list()) == ["arena", "lobby", "new"]


def test_a_token_for_one_world_sees_no_other(file, tmp_path):
    tokens = {name: made("bearer", name, "--role", role, "--file", file, *worlds)
              for name, role, worlds in [("one", "admin", ("--world", "arena", "--world", "broken")),
                                         ("all", "admin", ()), ("eye", "observer", ("--world", "lobby"))]}
    data = tmp_path / "data"
    data.mkdir()
    for name in ("broken", "other"):
        (data / f"{name}.cairn").write_bytes(b"no database" * 100)
    with daemon("--listen", "tcp:127.0.0.1:0", "--admin", "127.0.0.1:0", "--tokens", str(file), "--data", str(data),
                "--loopback-role", "none") as server:
        with server.connect() as keeper:
            for name in ("arena", "lobby"):
                keeper.create(name)
        tcp, admin = tcp_address(server), listening(server, "metrics")

        def worlds_of(token, path="/metrics"):
            status, _, body = http(admin, path, **({"Authorization": f"Bearer {token}"} if token else {}))
            if path == "/readyz":
                return status, sorted(line.split()[1] for line in body.decode().splitlines() if line.startswith("refused"))
            lines = body.decode().splitlines()
            return status, sorted(line.split('"')[1] for line in lines if line.startswith("cairn_world_tick{"))

        assert worlds_of(tokens["all"]) == (200, ["arena", "lobby"])
        assert worlds_of(tokens["one"]) == (200, ["arena"]) and worlds_of(tokens["eye"]) == (200, ["lobby"])
        assert worlds_of("") == worlds_of("wrong" * 8) == (401, [])
        assert worlds_of(tokens["all"], "/readyz") == (200, ["broken", "other"])
        assert worlds_of(tokens["one"], "/readyz") == (200, ["broken"])
        assert worlds_of("", "/readyz") == (200, []) and http(admin, "/healthz")[0] == 200
        with cairn.connect(tcp, token=tokens["all"]) as client:
            info = client.info()
            assert len(info["worlds"]) == info["server"]["worlds"] == len(info["refused"]) == 2
            assert client.ask("reply", "sessions", 0)
        with cairn.connect(tcp, token=tokens["one"]) as client:
            info = client.info()
            assert [world["name"] for world in info["worlds"]] == ["arena"] and info["server"]["worlds"] == 1
            assert [row["name"] for row in info["refused"]] == ["broken"] and info["server"]["files_refused"] == 1
            for name, *fields in [("sessions", 0), ("kick", 1, "x"), ("config", {}), ("config", {"log": "error"}),
                                  ("monitor", 1), ("drain", "")]:
                with refused("forbidden"):
                    client.ask("reply", name, *fields)
            # Whether another world exists must not be revealed.
            for name in ("lobby", "nowhere"):
                with refused("forbidden"):
                    client.join(name)
            client.join("arena")


def test_the_name_of_a_shape_does_not_give_access_to_it(server, file):
    """Of a world that the session may not join: the name of its shape is known, its bytes must not
    be."""
    token = made("bearer", "guest", "--role", "controller", "--world", "arena", "--file", file)
    reload(server)
    with server.connect() as keeper, cairn.connect(server.tcp, token=token) as guest:
        lobby, arena = keeper.join("lobby"), guest.join("arena")
        secrets = {"small": cairn.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.25)]),
                   "large": cairn.hull([(x / 7, x * x / 49, x % 5) for x in range(230)])}
        for data in secrets.values():
            name = hashlib.sha256(data).digest()
            lobby.upload(name, data)
            for shown in (b"", b"x", data[:-1] + b"!", bytes(len(data))):
                with refused("corrupt"):
                    guest.ask("shape_info", "shape_upload", arena.number, name, 0, 1, shown)
            with refused("unknown_shape"):
                arena.apply(command("shape_use", name))
            # A session that uploads the bytes may use the shape, which is not cooked again.
            arena.upload(name, data)
            assert arena.apply(command("shape_use", name)).values


def test_keys_can_be_rotated_at_run_time(server, file):
    old = [made("connect", 7, "--file", file) for _ in range(2)]
    made("key", 8, "--file", file)
    reload(server)
    new = [made("connect", 8, "--file", file) for _ in range(2)]
    open_ = [cairn.connect(server.tcp, token=old[0]), cairn.connect(server.tcp, token=new[0])]
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("key 7 ")))
    reload(server)
    with refused("auth"):
        cairn.connect(server.tcp, token=old[1])
    cairn.connect(server.tcp, token=new[1]).close()
    # Open sessions stay open.
    for client in open_:
        client.join("arena")
        client.close()


def test_a_key_signs_only_for_the_role_of_its_line(file):
    made("key", 7, "--file", file)
    made("key", 8, "--role", "controller", "--file", file)
    for key, role, signed in [(7, "player", True), (7, "observer", True), (7, "controller", False), (7, "admin", False),
                              (8, "controller", True), (8, "admin", False)]:
        done = cli("token", "connect", key, "--role", role, "--file", file)
        assert (done.returncode == 0) == signed, done
        assert signed or (not done.stdout and "does not sign for this role" in done.stderr)


def test_a_hello_refused_for_another_reason_does_not_use_up_its_token(server, file):
    token = made("connect", 7, "--file", file)
    for _ in range(3):
        with refused("forbidden"):
            cairn.connect(server.tcp, token=token, role="admin")
    # Its world does not exist yet.
    early = made("connect", 7, "--world", "later", "--file", file)
    for _ in range(2):
        with refused("unknown_world"):
            cairn.connect(server.tcp, token=early)
    with server.connect() as keeper:
        keeper.create("later")
    with cairn.connect(server.tcp, token=early) as client:
        client.join("later")
    with cairn.connect(server.tcp, token=token) as client:
        assert client.role == "player"
    for used in (token, early):
        with refused("auth"):
            cairn.connect(server.tcp, token=used)


def test_used_tokens_are_remembered_after_a_restart_or_kill(file, tmp_path):
    made("key", 7, "--file", file)
    tokens = [made("connect", 7, "--ttl", 600, "--file", file) for _ in range(3)]
    arguments = ("--listen", "tcp:127.0.0.1:0", "--tokens", str(file), "--data", str(tmp_path / "data"))
    for number, end in enumerate(["kill", "stop", "stop"]):
        with daemon(*arguments) as server:
            for used in tokens[:number]:
                with refused("auth"):
                    cairn.connect(tcp_address(server), token=used)
            cairn.connect(tcp_address(server), token=tokens[number]).close()
            if end == "kill":
                server.kill()


def resumable(address, token):
    """A session that is kept when its connection is lost, and its token to resume."""
    wire = Wire(address, 5)
    wire.send("hello", {"protocol": [1, 0], "caps": ["resume"], "token": token.encode()})
    name, fields = wire.receive()
    assert name == "welcome", (name, fields)
    return wire, fields[0]


def try_to_resume(address, resume):
    wire = Wire(address, 5)
    wire.send("hello", {"protocol": [1, 0], "caps": ["resume"], "resume": resume})
    name, _ = wire.receive()
    wire.close()
    return name == "welcome"


def test_removing_a_bearer_ends_its_live_and_resumable_sessions(server, file):
    tokens = {name: made("bearer", name, "--role", "admin", "--file", file) for name in ("gone", "less", "stays")}
    reload(server)
    wires, lost = {}, {}
    for name, token in tokens.items():
        wires[name], _ = resumable(server.tcp, token)
        wire, welcome = resumable(server.tcp, token)
        lost[name] = welcome["resume_token"]
        wire.close()
    with server.connect() as keeper:
        until(lambda: keeper.info("server")["server"]["sessions_lost"] == 3)
        assert try_to_resume(server.tcp, lost["stays"])
        text = "".join(line for line in file.read_text().splitlines(True) if " gone " not in line)
        file.write_text(text.replace("bearer less admin", "bearer less observer"))
        reload(server)
        for name in ("gone", "less"):
            kind, fields = wires[name].receive()
            assert kind == "goodbye" and "revoked" in str(fields)
            assert not try_to_resume(server.tcp, lost[name])
        assert log_of(server).count("token_revoked") == 4
        wires["stays"].send("ping", 7)
        assert wires["stays"].receive()[0] == "pong"
    with refused("auth"):
        cairn.connect(server.tcp, token=tokens["gone"])


def test_kick_by_token_ends_all_its_sessions(server, file):
    """Deleting a key's line is how keys are rotated, and leaves sessions open; KICK by token ends
    them."""
    wires = [resumable(server.tcp, made("connect", 7, "--file", file)) for _ in range(3)]
    wires[0][0].close()
    with server.connect() as keeper:
        until(lambda: keeper.info("server")["server"]["sessions_lost"] == 1)
    done = cli("--connect", server.address, "--json", "kick", "--token", "key 7", "--text", "enough")
    assert done.returncode == 0 and json.loads(done.stdout) == {"kicked": 3}, done
    for wire, _ in wires[1:]:
        assert wire.receive()[0] == "goodbye"
    for _, welcome in wires:
        assert not try_to_resume(server.tcp, welcome["resume_token"])
    done = cli("--connect", server.address, "--json", "kick", "--token", "nobody")
    assert json.loads(done.stdout) == {"kicked": 0}


def test_a_broken_file_changes_nothing(server, file):
    token = made("connect", 7, "--file", file)
    good = file.read_text()
    for bad in ("key 7\n", "nonsense\n", good + "key 7 00\n"):
        file.write_text(bad)
        reload(server)
    file.chmod(0o644)
    reload(server)
    assert log_of(server).count("reload_refused") == 4
    cairn.connect(server.tcp, token=token).close()


def test_no_secret_appears_in_the_log(server, file):
    bearer = made("bearer", "ops", "--role", "admin", "--file", file)
    reload(server)
    connect = made("connect", 7, "--file", file)
    secret = next(line.split()[2] for line in file.read_text().splitlines() if line.startswith("key 7"))
    for token in (bearer, connect, connect, bearer[:-1], connect[:-1]):
        for address in (server.tcp, "ws://" + server.web):
            try:
                cairn.connect(address, token=token).close()
            except cairn.Refused:
                pass
    file.write_text(f"key 7 {secret} king\nbearer {bearer}\n")
    reload(server)
    log = log_of(server)
    assert "token_refused" in log and 'token="ops"' in log and 'token="key 7"' in log
    for token in (bearer, connect, secret):
        for at in range(0, len(token) - 12, 4):
            assert token[at:at + 12] not in log


def test_the_command_line_takes_a_token_from_file_or_environment(server, file, tmp_path):
    token = made("bearer", "me", "--role", "observer", "--file", file)
    reload(server)
    assert cli("--connect", server.tcp, "worlds").returncode != 0
    done = cli("--connect", server.tcp, "--json", "worlds", CAIRN_TOKEN=token)
    assert done.returncode == 0 and "arena" in done.stdout
    (tmp_path / "mine").write_text(token + "\n")
    assert cli("--connect", server.tcp, "--token-file", tmp_path / "mine", "worlds").returncode == 0


def refuses_to_start(*arguments):
    done = subprocess.run([DAEMON, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    return done.stderr


def test_a_public_listener_without_tokens_is_refused(file):
    made("key", 1, "--file", file)
    for option in ("--listen", "--web", "--admin"):
        assert "--tokens" in refuses_to_start(option, "0.0.0.0:0")
        assert "--insecure-plaintext" in refuses_to_start(option, "0.0.0.0:0", "--tokens", str(file))
        assert "--tokens" in refuses_to_start(option, "[::]:0")
    assert "auth" not in refuses_to_start("--tokens", str(file) + "x", "--listen", "0.0.0.0:0", "--insecure-plaintext")
    file.chmod(0o604)
    assert "chmod" in refuses_to_start("--tokens", str(file), "--unix", "/nonexistent/x")


def test_each_invalid_token_closes_its_connection(server):
    start = server.process.pid
    for guess in range(50):
        sock = raw(server.tcp)
        sock.sendall(frame(1, {"protocol": [1, 0], "token": os.urandom(32)}) * 3)
        data = b""
        while part := sock.recv(4096):
            data += part
        assert data.count(b"token is not valid") == 2, data  # ERROR and GOODBYE, for the first alone
        sock.close()
    assert start and log_of(server).count("token_refused") < 50, "the log is held back as well"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_privileges_are_dropped_permanently():
    with tempfile.TemporaryDirectory(prefix="cairn-") as home:
        shutil.chown(home, "nobody")
        process = subprocess.Popen([DAEMON, "--user", "nobody", "--unix", f"{home}/s", "--data", f"{home}/data"],
                                   stderr=subprocess.DEVNULL)
        try:
            until(lambda: listens(f"{home}/s"))
            nobody = pwd.getpwnam("nobody")
            with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
                status = dict(line.rstrip().split(":\t", 1) for line in lines if ":\t" in line)
            assert status["Uid"].split() == [str(nobody.pw_uid)] * 4
            assert status["Gid"].split() == [str(nobody.pw_gid)] * 4
            assert all(int(status[kind], 16) == 0 for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"))
            assert status["NoNewPrivs"] == "1"
            assert os.stat(f"{home}/s").st_uid == nobody.pw_uid
            with cairn.connect(f"unix:{home}/s") as client:
                client.create("here")
            assert os.listdir(f"{home}/data")
        finally:
            process.terminate()
            assert process.wait(60) == 0
    assert "unknown user" in refuses_to_start("--user", "nobody-at-all")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(SANITIZED, reason="--debuggable is given")
def test_the_daemon_cannot_be_inspected_and_dumps_no_core():
    def can_inspect(pid):
        """Whether another process of the same user may read its memory."""
        return subprocess.run(["cat", f"/proc/{pid}/maps", f"/proc/{pid}/environ"], capture_output=True,
                              user="nobody").returncode == 0

    with tempfile.TemporaryDirectory(prefix="cairn-") as home:
        shutil.chown(home, "nobody")
        for extra, open_ in [((), False), (("--debuggable",), True)]:
            process = subprocess.Popen([DAEMON, "--unix", f"{home}/s", *extra], stderr=subprocess.DEVNULL,
                                       user="nobody", preexec_fn=lambda: os.umask(0o077))
            try:
                until(lambda: listens(f"{home}/s"))
                with open(f"/proc/{process.pid}/limits", encoding="ascii") as lines:
                    core, = (line.split()[4] for line in lines if line.startswith("Max core file size"))
                assert open_ or core == "0"
                assert can_inspect(process.pid) == open_
            finally:
                process.terminate()
                assert process.wait(60) == 0


def test_descriptors_are_reserved_for_worlds(tmp_path):
    """Connections are refused before the journal lacks a descriptor."""
    def limit_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))

    process = subprocess.Popen([DAEMON, "--unix", f"{tmp_path}/s", "--listen", "tcp:127.0.0.1:0", "--data",
                                f"{tmp_path}/data", "--worlds-max", "12", "--workers", "2"], preexec_fn=limit_descriptors,
                               stderr=open(tmp_path / "log", "wb"))
    peers = []
    try:
        until(lambda: listens(f"{tmp_path}/s"))
        with cairn.connect(f"unix:{tmp_path}/s", timeout=5) as keeper:
            text = until(lambda: [line for line in (tmp_path / "log").read_text().splitlines() if "=tcp:" in line])[0]
            host, port = text.split("tcp:")[1].split(":")
            for _ in range(200):
                peer = socket.create_connection((host, int(port)), 5)
                peer.sendall(frame(1, {"protocol": [1, 0]}))
                peers.append(peer)
            until(lambda: keeper.info("server")["server"]["sessions"] > 40)
            for number in range(12):
                world = keeper.create(f"world-{number}")
                assert world.step(1).hash
                world.save("kept")
        assert "sessions=54" in (tmp_path / "log").read_text()
    finally:
        process.terminate()
        for peer in peers:
            peer.close()
        assert process.wait(60) == 0


def test_a_players_rate_of_new_bodies_is_limited(server, file):
    token = made("connect", 7, "--file", file)
    with server.connect() as admin, cairn.connect(server.tcp, token=token) as client:
        admin.join("arena").resume()
        world = client.join("arena")
        world.apply(*(command("spawn", position=(x, 1, 0), owner=client.session) for x in range(100)))
        with refused("busy"):
            world.apply(*(command("spawn", position=(x, 2, 0), owner=client.session) for x in range(100)))
        # Its other commands are still accepted.
        assert world.apply(command("wake", 1)).tick >= 0
