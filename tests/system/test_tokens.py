"""Tokens at a real daemon: who comes in with which, how often, into which worlds; keys changed while it runs; and
what a daemon refuses to do without them."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from support import CLIENT, DAEMON, Wire, cairn, command, daemon, frame, log_of, raw, refused, tcp_address, until
from test_web import listening


def cli(*words, **environment):
    return subprocess.run([CLIENT, *map(str, words)], capture_output=True, text=True, timeout=30,
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


def test_without_a_token_nobody_comes_in_from_loopback(server):
    for address in (server.tcp, "ws://" + server.web):
        with refused("auth"):
            cairn.connect(address)


def test_a_bearer_comes_in_as_who_he_is_and_by_every_door(server, file):
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


def test_a_connect_token_is_good_once(server, file):
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


def test_a_token_for_one_world_opens_no_other(server, file):
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


def test_keys_are_rotated_while_it_runs(server, file):
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
    # Who is in stays in.
    for client in open_:
        client.join("arena")
        client.close()


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


def test_no_secret_is_ever_in_the_log(server, file):
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
    done = subprocess.run([DAEMON, *arguments], capture_output=True, text=True, timeout=20)
    assert done.returncode != 0
    return done.stderr


def test_a_daemon_does_not_listen_to_strangers_without_tokens(file):
    made("key", 1, "--file", file)
    for option in ("--listen", "--web", "--admin"):
        assert "--tokens" in refuses_to_start(option, "0.0.0.0:0")
        assert "--insecure-plaintext" in refuses_to_start(option, "0.0.0.0:0", "--tokens", str(file))
        assert "--tokens" in refuses_to_start(option, "[::]:0")
    assert "auth" not in refuses_to_start("--tokens", str(file) + "x", "--listen", "0.0.0.0:0", "--insecure-plaintext")
    file.chmod(0o604)
    assert "chmod" in refuses_to_start("--tokens", str(file), "--unix", "/nonexistent/x")


def test_guessing_costs_a_connection_each_time(server):
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
def test_root_is_given_up_for_good():
    with tempfile.TemporaryDirectory(prefix="cairn-") as home:
        shutil.chown(home, "nobody")
        process = subprocess.Popen([DAEMON, "--user", "nobody", "--unix", f"{home}/s", "--data", f"{home}/data"],
                                   stderr=subprocess.DEVNULL)
        try:
            until(lambda: os.path.exists(f"{home}/s"))
            nobody = pwd.getpwnam("nobody")
            with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
                status = dict(line.rstrip().split(":\t", 1) for line in lines if ":\t" in line)
            assert status["Uid"].split() == [str(nobody.pw_uid)] * 4
            assert status["Gid"].split() == [str(nobody.pw_gid)] * 4
            assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0 and status["NoNewPrivs"] == "1"
            assert os.stat(f"{home}/s").st_uid == nobody.pw_uid
            with cairn.connect(f"unix:{home}/s") as client:
                client.create("here")
            assert os.listdir(f"{home}/data")
        finally:
            process.terminate()
            assert process.wait(10) == 0
    assert "no user" in refuses_to_start("--user", "nobody-at-all")


def test_a_player_makes_so_many_bodies_a_second_and_no_more(server, file):
    token = made("connect", 7, "--file", file)
    with server.connect() as admin, cairn.connect(server.tcp, token=token) as client:
        admin.join("arena").resume()
        world = client.join("arena")
        world.apply(*(command("spawn", position=(x, 1, 0), owner=client.session) for x in range(100)))
        with refused("busy"):
            world.apply(*(command("spawn", position=(x, 2, 0), owner=client.session) for x in range(100)))
        # Others of its commands go on.
        assert world.apply(command("wake", 1)).tick >= 0
