"""Connections, roles and their limits, and the shutdown of a daemon."""
import os
import signal
import subprocess
import sys
import time

import pytest
from support import (DAEMON, Wire, cairn, command, daemon, falling, frame, log_of, raw, refused, stop, tcp_daemon,
                     until)

RIGHTS = ["observer", "player", "controller", "admin"]
# Requests by the role they need; each is FORBIDDEN to lower roles, and otherwise answered.
REQUESTS = {
    "observer": [("world_list", 1), ("world_join", 2, 0, "demo"), ("subscribe", 3, 1), ("query", 4, 1, [4]),
                 ("unsubscribe", 3), ("world_leave", 5, 1)],
    "player": [("commands", 1, 1, None, 0, [])],
    "controller": [("world_create", 6, "made"), ("control", 7, 1, 0), ("step", 1, 1, None, 0),
                   ("save", 8, 1, "s"), ("restore", 9, 1, "s"), ("fork", 10, 1, "f"), ("info", 11),
                   ("shape_upload", 12, 1, bytes(32), 0, 1, b"x")],
    "admin": [("world_destroy", 13, 99)],
}


@pytest.fixture(scope="module")
def server():
    with tcp_daemon() as (server, address):
        with server.connect() as client:
            falling(client)
        server.tcp = address
        yield server


def answer_to(wire, request):
    wire.send(*request)
    # The PONG marks the end of the request's immediate answers.
    wire.send("ping", 4711)
    answers = []
    while (answer := wire.receive())[0] != "pong":
        answers.append(answer)
    return answers


@pytest.mark.parametrize("role", RIGHTS)
def test_a_role_permits_its_requests_and_no_others(server, role):
    with server.connect(role=role) as client:
        client.join("demo")
        assert client.role == role
        for needed, requests in REQUESTS.items():
            for request in requests:
                codes = [fields[1] for kind, fields in answer_to(client.wire, request) if kind == "error"]
                forbidden = 33 in codes
                assert forbidden == (RIGHTS.index(role) < RIGHTS.index(needed)), (request, codes)


def test_a_unix_socket_gives_role_admin_and_tcp_controller(server):
    with server.connect() as client:
        assert client.role == "admin"
    with cairn.connect(server.tcp) as client:
        assert client.role == "controller"
        with refused("forbidden"):
            client.ask("reply", "world_destroy", 1)


def test_a_role_above_the_connections_is_refused_and_may_be_retried(server):
    wire = Wire(server.tcp, 10)
    wire.send("hello", {"protocol": [1, 0], "role": "admin"})
    kind, fields = wire.receive()
    assert kind == "error" and fields[1] in (33, 37)
    wire.send("hello", {"protocol": [1, 0], "role": "observer"})
    kind, fields = wire.receive()
    assert kind == "welcome" and fields[0]["role"] == "observer"
    wire.close()


def test_a_connection_that_sends_nothing_is_closed():
    with daemon("--handshake-ms", "200") as server:
        sock = raw(server.address)
        begun = time.monotonic()
        data = b""
        while chunk := sock.recv(4096):
            data += chunk
        assert 0.2 <= time.monotonic() - begun < 5
        assert b"HELLO" in data


def test_an_unfinished_frame_closes_the_connection():
    with daemon("--handshake-ms", "200") as server, server.connect() as client:
        client.wire.socket.sendall(frame(4, 1)[:-1])
        with pytest.raises(cairn.Closed) as closed:
            client.take(5)
        assert closed.value.status in ("framing", None)


def test_a_silent_session_is_pinged_and_then_closed():
    with daemon("--ping-ms", "200") as server, server.connect() as client:
        assert client.wire.receive(5)[0] == "ping"
        with pytest.raises(cairn.Closed):
            while client.wire.receive(5) is not None:
                pass


def test_a_session_that_answers_pings_stays_open():
    with daemon("--ping-ms", "600") as server, server.connect() as client:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            client.take(0.1)
        assert client.list() == []


@pytest.mark.parametrize("address", ["tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:192.0.2.1:7411"])
def test_a_public_address_is_refused(tmp_path, address):
    done = subprocess.run([DAEMON, "--listen", address], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "loopback" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_host_name_is_not_resolved():
    done = subprocess.run([DAEMON, "--listen", "tcp:example.org:1"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "not looked up" in done.stderr


def test_the_number_of_sessions_is_limited():
    with daemon("--sessions-max", "8") as server:
        clients = [server.connect() for _ in range(8)]
        sock = raw(server.address)
        assert sock.recv(4096) == b""
        clients.pop().close()
        # The one that left makes room.
        def connect_again():
            try:
                return server.connect()
            except (cairn.Closed, ConnectionError):
                return None
        clients.append(until(connect_again))
        assert clients[-1].list() == []
        for client in clients:
            client.close()


def test_the_number_of_worlds_is_limited_and_a_list_beyond_a_frame_is_answered():
    with daemon("--worlds-max", "3500", "--log", "warn") as server, server.connect() as client:
        for number in range(3500):
            client.ask("world_info", "world_create", f"{number:064}", {})
        with refused("limit"):
            client.create("one-more")
        assert len(client.list()) == 3500
        with refused("full"):
            client.info("worlds")
        assert client.info("server")["server"]["worlds"] == 3500
        # The list is longer than what may wait for a client; one that reads late gets it whole, and then what it asked next.
        late = Wire(server.address, 10)
        late.send("hello", {"protocol": [1, 0]})
        assert late.receive()[0] == "welcome"
        late.send("world_list", 7)
        late.send("ping", 4711)
        time.sleep(0.6)
        assert [late.receive()[1][1] for _ in range(3500)] == list(range(1, 3501))
        assert late.receive()[0] == "pong"
        late.close()


def test_sigterm_sends_goodbye_and_keeps_the_world(tmp_path):
    data = str(tmp_path / "data")
    with daemon("--data", data) as server:
        client = server.connect()
        world, _ = falling(client)
        stepped = world.step(25)
        idle = server.connect()
        server.process.send_signal(signal.SIGTERM)
        for peer in (client, idle):
            with pytest.raises(cairn.Closed) as closed:
                while peer.take(5) is not None:
                    pass
            assert closed.value.status == "draining"
            peer.close()
        assert server.process.wait(60) == 0
        assert "stopped status=ok" in log_of(server)
    with daemon("--data", data, "--paused") as server, server.connect() as client:
        world = client.join("demo")
        assert (world.tick, world.epoch) == (stepped.tick, stepped.epoch + 1)
        assert world.step(0).hash == stepped.hash


def test_new_connections_are_refused_during_a_drain():
    with daemon("--drain-ms", "3000") as server:
        # A client that never reads its GOODBYE and never closes delays the drain.
        client = server.connect()
        server.process.send_signal(signal.SIGTERM)
        until(lambda: "draining" in log_of(server))
        with pytest.raises(OSError):
            raw(server.address)
        begun = time.monotonic()
        assert server.process.wait(60) == 0
        assert time.monotonic() - begun < 5
        client.close()


def test_a_second_signal_ends_the_daemon_at_once():
    with daemon("--drain-ms", "600000") as server:
        client = server.connect()
        server.process.send_signal(signal.SIGTERM)
        until(lambda: "draining" in log_of(server))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        client.close()


def test_stopping_removes_the_socket():
    with daemon() as server:
        path = os.path.join(server.directory, "cairnd.sock")
        assert os.path.exists(path)
        assert stop(server) == 0
        assert not os.path.exists(path)


def test_a_player_commands_its_own_bodies_only(server):
    with server.connect() as owner, server.connect(role="player") as player:
        world, body = falling(owner, "shared", running=True)
        mine = player.join("shared")
        own = mine.result(mine.send(command("spawn", position=(5, 5, 0)))).values[0]
        mine.result(mine.send(command("impulse", own, (0, 1, 0))))
        with refused("not_owner"):
            mine.result(mine.send(command("impulse", body, (0, 1, 0))))
        with refused("forbidden"):
            mine.result(mine.send(command("gravity", (0, 0, 0))))
        # A controller may transfer a body to another session.
        world.apply(command("set_owner", body, player.session))
        mine.result(mine.send(command("impulse", body, (0, 1, 0))))


@pytest.mark.parametrize("what,size,batches", [("spawn", 10, 40), ("impulse", 500, 40)])
def test_a_player_over_its_quota_gets_busy_and_stays_connected(server, what, size, batches):
    with server.connect() as owner, server.connect(role="player") as player:
        falling(owner, f"quota-{what}", running=True)
        mine = player.join(f"quota-{what}")
        body = mine.spawn(position=(0, 5, 0))
        one = command("spawn", position=(0, 1, 0)) if what == "spawn" else command("impulse", body, (0, 1e-3, 0))
        batches = [mine.send(*[one] * size) for _ in range(batches)]
        outcomes = []
        for batch in batches:
            try:
                mine.result(batch)
                outcomes.append("ok")
            except cairn.Refused as why:
                outcomes.append(why.status)
        assert "ok" in outcomes and set(outcomes) <= {"ok", "busy", "limit"} and "busy" in outcomes
        assert player.list()


def test_a_session_outlives_any_number_of_lost_welcomes():
    """The client shows the newest token that it has, and that stays valid until it is heard with a newer one."""
    with daemon() as server:
        client = server.connect(resumes=True)
        hello = client._resume_hello()
        client.wire.close()
        for number in range(1, 5):
            until(lambda: log_of(server).count("session_lost") == number)
            wire = Wire(server.address, 5)
            wire.send("hello", hello)
            until(lambda: log_of(server).count("session_resumed") == number)
            wire.close()
        client.resume()
        assert client.list() == []
        client.close()


HOLDING = """
import sys, time
sys.path.insert(0, sys.argv[2])
import cairn
from cairn.client import command
client = cairn.connect(sys.argv[1], role="player", resumes=True)
world = client.join("held")
own = world.result(world.send(command("spawn", position=(0, 5, 0)))).values[0]
world.result(world.send(command("joint_create", "drag", 0, own, place=1)))
print(client.session, flush=True)
time.sleep(60)
"""


def test_a_killed_clients_drag_ends_with_its_session(server):
    with server.connect() as owner:
        world, _ = falling(owner, "held", method="soft-step", running=True)
        world.subscribe(joints=True)
        library = os.path.dirname(os.path.dirname(cairn.__file__))
        holder = subprocess.Popen([sys.executable, "-c", HOLDING, server.address, library], stdout=subprocess.PIPE,
                                  text=True)
        try:
            session = int(holder.stdout.readline())
            joint, = world.joints()
            assert (joint["type"], joint["owner"]) == ("drag", session)
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            time.sleep(0.5)
            assert len(world.joints()) == 1, "its session may still come back"
            owner.ask("reply", "kick", session)
            until(lambda: world.joints() == [])
            # Subscribers are informed.
            assert any(frame.joints == {} for frame in world.frames(1000))
        finally:
            holder.kill()
            holder.wait()
