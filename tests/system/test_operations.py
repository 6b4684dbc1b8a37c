"""Operation of a running daemon: options from a file, set over the wire and reloaded; the list of
sessions and KICK; monitoring; draining; notifications to a service manager."""
import os
import re
import signal
import socket
import subprocess
import time

import msgpack
import pytest
from support import CLIENT, DAEMON, TOWER, Cli, cairn, daemon, log_of, tcp_address, tcp_daemon, until


@pytest.fixture
def server(tmp_path):
    path = tmp_path / "cairnd.yaml"
    path.write_text("ping-ms: 4000\nlog: info\n")
    with daemon("--config", str(path), "--scene", TOWER) as running:
        running.config = path
        running.cli = Cli(running.address)
        yield running


def option(server, name):
    return server.cli.json("config")[name][0]


def test_the_options_file_is_read_and_shown_by_config(server):
    values = server.cli.json("config")
    assert values["ping-ms"] == ["4000", 1]  # live
    assert values["config"][0] == str(server.config) and values["config"][1] == 0
    assert values["drain-ms"][0] == "10000"


def test_config_sets_live_options_all_or_none(server):
    server.cli.text("config", "ping-ms", 5000, "drain-ms", 700)
    assert (option(server, "ping-ms"), option(server, "drain-ms")) == ("5000", "700")
    for wrong, part in [("5", "100"), ("soon", "whole number")]:
        said, _ = server.cli.error("config", "ping-ms", 6000, "drain-ms", 800, "handshake-ms", wrong)
        assert part in said and "handshake-ms" in said
        assert (option(server, "ping-ms"), option(server, "drain-ms")) == ("5000", "700")
    said, _ = server.cli.error("config", "ping-ms", 6000, "data", "elsewhere")
    assert "restart" in said and option(server, "ping-ms") == "5000"
    said, _ = server.cli.error("config", "pnig-ms", 6000)
    assert "did you mean --ping-ms" in said
    assert 'option=ping-ms value="5000" before="4000"' in log_of(server)


def test_sighup_reloads_the_file_entirely_or_not_at_all(server):
    server.config.write_text("ping-ms: 2500\nlog: debug\n")
    os.kill(server.process.pid, signal.SIGHUP)
    until(lambda: option(server, "ping-ms") == "2500" and option(server, "log") == "debug")
    server.config.write_text("ping-ms: 2600\nworlds-max: 5\n")
    os.kill(server.process.pid, signal.SIGHUP)
    until(lambda: "reload_refused" in log_of(server))
    assert "worlds-max needs a restart" in log_of(server)
    assert option(server, "ping-ms") == "2500"
    server.config.write_text("ping-ms: [\n")
    os.kill(server.process.pid, signal.SIGHUP)
    until(lambda: log_of(server).count("reload_refused") == 2)
    assert option(server, "ping-ms") == "2500"


def test_check_config_starts_nothing_and_names_the_error(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("ping-ms: 4000\n")

    def check():
        return subprocess.run([DAEMON, "--config", str(path), "--check-config"], capture_output=True, text=True, timeout=120)
    assert check().returncode == 0
    path.write_text("ping-ms: 4000\nworkers: 99\n")
    done = check()
    assert done.returncode != 0 and "workers" in done.stderr and "32" in done.stderr
    path.unlink()
    assert "No such file" in check().stderr


@pytest.mark.parametrize("lines, said", [
    (["", "slow-tick-uss: 3"], r"c\.yaml:2: unknown option --slow-tick-uss; did you mean --slow-tick-us\?"),
    (["# a", "", "workers: 99"], r"c\.yaml:3: --workers: .*32"),
    (["web: nonsense"], r"web: .*c\.yaml:1: .*nonsense"),
    (["ping-ms: 4000", "tokens: /nowhere/tokens"], r"tokens: .*c\.yaml:2: /nowhere/tokens"),
    (["scene:", "  - {scene}", "  - /nowhere.yaml"], r"scene: .*/nowhere\.yaml"),
    (["scene: [{bad}]"], r"bad\.yaml:1: "),
    (["data: {scene}"], r"data: .*c\.yaml:1: .*not a directory"),
], ids=lambda value: value[-1] if isinstance(value, list) else "")
def test_check_config_opens_the_files_and_names_the_line(tmp_path, lines, said):
    path, bad = tmp_path / "c.yaml", tmp_path / "bad.yaml"
    bad.write_text("wrld: {}\n")
    path.write_text("\n".join(lines).format(scene=TOWER, bad=bad) + "\n")
    done = subprocess.run([DAEMON, "--config", str(path), "--check-config"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and re.search(said, done.stderr), done.stderr


def test_sessions_are_listed_and_a_kicked_one_cannot_resume(server):
    with server.connect(name="victim", role="observer") as victim:
        victim.join("tower")
        rows = {row["session"]: row for row in server.cli.lines("sessions")}
        row = rows[victim.session]
        assert (row["client"], row["role"], row["state"], row["worlds"]) == ("victim", "observer", "open", 1)
        server.cli.text("kick", victim.session, "--text", "enough")
        with pytest.raises(cairn.Closed, match="enough"):
            while True:
                victim.take(2)
        # Not kept for a resume.
        until(lambda: victim.session not in {r["session"] for r in server.cli.lines("sessions")})
    said, _ = server.cli.error("kick", 99999)
    assert "there is no session" in said
    assert "audit session=" in log_of(server).replace('"', "") and "message=KICK" in log_of(server)


@pytest.mark.parametrize("address", ["foo", "tcp:", "tcp:host", "tcp:host:0", "tcp:host:99999", "http://host:80", "unix:", "ws:host:1", "tcp:ho st:1"])
def test_a_drain_to_no_address_is_refused_and_does_nothing(server, address):
    said, code = server.cli.error("drain", "--redirect", address)
    assert code == 1 and f'"{address}" is no address that clients connect to' in said and "(redirect) [range]" in said
    with server.connect() as client:
        client.join("tower")  # it goes on
    done = subprocess.run([DAEMON, "--drain-redirect", address, "--check-config"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "drain-redirect" in done.stderr


@pytest.mark.parametrize("address", ["unix:/run/c.sock", "tcp:10.0.0.1:7411", "tcp:[::1]:7411", "tls:world.example:7411", "wss://world.example:443/ws"])
def test_an_address_of_a_drain_may_be_of_every_kind(address):
    done = subprocess.run([DAEMON, "--drain-redirect", address, "--check-config"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_sessions_beyond_one_page_are_listed():
    with daemon("--sessions-max", "600") as server:
        clients = [server.connect() for _ in range(300)]
        rows = [row["session"] for row in Cli(server.address).lines("sessions")]
        assert rows == sorted(set(rows)) and {client.session for client in clients} <= set(rows)
        for client in clients:
            client.close()


def test_a_monitor_sees_what_others_send(server):
    watching = subprocess.Popen([CLIENT, "--connect", server.address, "--json", "monitor", "--lines", "4"],
                                stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: "message=MONITOR" in log_of(server))
        with server.connect() as client:
            client.join("tower").totals()
            client.list()
            lines = [watching.stdout.readline() for _ in range(3)]
            assert "WORLD_JOIN" in lines[0] and "QUERY" in lines[1] and "WORLD_LIST" in lines[2]
            assert all(f'"session": {client.session}' in line for line in lines), lines
            client.list()
        assert watching.wait(60) == 0
    finally:
        watching.kill()
        watching.wait()


def test_only_administrators_may_operate_the_daemon(server):
    with server.connect(role="controller") as client:
        for name, fields in [("config", []), ("sessions", []), ("kick", [1]), ("monitor", [1]), ("drain", [])]:
            with pytest.raises(cairn.Refused) as refused:
                client.ask("reply", name, *fields)
            assert refused.value.status == "forbidden"


def test_a_drain_sends_the_address_to_reconnect_to(server):
    with server.connect() as client:
        server.cli.text("drain", "--redirect", "tcp:127.0.0.1:7999")
        message = None
        while message is None or message[0] != "goodbye":
            message = client.wire.receive(5)
            assert message is not None
        assert message[1][2] == "tcp:127.0.0.1:7999" and message[1][1] > 0
    assert server.process.wait(60) == 0


def test_a_service_manager_is_notified(tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(10)
        environment = os.environ | {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"}
        process = subprocess.Popen([DAEMON, "--unix", str(tmp_path / "s")], env=environment, stderr=subprocess.DEVNULL)
        try:
            heard, end = [], time.monotonic() + 10
            while heard.count("WATCHDOG=1") < 3 and time.monotonic() < end:
                heard += manager.recv(4096).decode().split("\n")
            assert "READY=1" in heard and heard.count("WATCHDOG=1") >= 3
            process.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in heard:
                heard += manager.recv(4096).decode().split("\n")
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


def test_the_peer_is_the_source_of_the_proxy_header(tmp_path):
    with tcp_daemon("--proxy-protocol") as (server, address):
        host, port = address.removeprefix("tcp:").rsplit(":", 1)

        def greeted(header):
            with socket.create_connection((host, int(port)), 5) as peer:
                content = msgpack.packb([1, {"protocol": [1, 0], "client": "behind"}])
                peer.sendall(header + b"\xc6" + len(content).to_bytes(4, "big") + content)
                answer = peer.recv(4096)
                rows = Cli(server.address).lines("sessions")
                first = msgpack.unpackb(answer[5:5 + int.from_bytes(answer[1:5], "big")], strict_map_key=False)
                return first, [r["peer"] for r in rows]
        # A proxy header proves nothing about local access: neither the balancer's own health checks
        # nor a source claimed to be this machine gets a role.
        for header in (b"PROXY UNKNOWN\r\n", b"PROXY TCP4 127.0.0.1 127.0.0.1 50000 7411\r\n",
                       b"PROXY TCP6 ::1 ::1 50000 7411\r\n", b"PROXY TCP6 ::ffff:127.0.0.1 ::1 50000 7411\r\n",
                       b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"):
            refused, peers = greeted(header)
            assert refused[0] == 3, header
        # A remote client without a token is refused, though its connection comes from loopback.
        refused, peers = greeted(b"PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411\r\n")
        assert refused[0] == 3 and "tcp:203.0.113.7:50000" in peers
        goodbye, _ = greeted(b"")
        assert goodbye[0] in (3, 6)
        # A Unix socket has no balancer in front.
        with server.connect() as client:
            assert client.role == "admin"


def test_a_proxy_header_is_accepted_from_listed_balancers_only():
    """Without a list, headers from this machine are believed."""
    header = b"PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411\r\n"
    for listed, source, believed in [("127.0.0.9", "127.0.0.9", True), ("127.0.0.9", "127.0.0.8", False),
                                     ("127.0.0.8/31", "127.0.0.9", True), ("192.0.2.0/24", "127.0.0.1", False)]:
        with tcp_daemon("--proxy-protocol", "--proxy-from", listed) as (server, address):
            host, port = address.removeprefix("tcp:").rsplit(":", 1)
            with socket.create_connection((host, int(port)), 5, source_address=(source, 0)) as peer:
                if believed:
                    peer.sendall(header)
                    until(lambda: "tcp:203.0.113.7:50000" in [r["peer"] for r in Cli(server.address).lines("sessions")])
                else:
                    assert peer.recv(1) == b""
                    assert f"proxy_refused peer=tcp:{source}" in log_of(server)


def test_ipv4_clients_of_a_listener_for_both_are_counted_one_by_one(tmp_path):
    """As ::ffff:a.b.c.d they would all be one network, and four idle ones would exhaust its share."""
    tokens = tmp_path / "tokens"
    made = subprocess.run([CLIENT, "token", "bearer", "ops", "--role", "controller", "--file", str(tokens)],
                          capture_output=True, text=True, timeout=120)
    with daemon("--listen", "tcp:[::]:0", "--tokens", str(tokens), "--insecure-plaintext", "--address-greetings", "4",
                "--handshake-ms", "20000") as server:
        port = int(tcp_address(server).rsplit(":", 1)[1])
        idle = [socket.create_connection(("127.0.0.1", port), 5, source_address=("127.0.0.2", 0)) for _ in range(6)]
        until(lambda: len(Cli(server.address).lines("sessions")) == 5)
        with cairn.connect(f"tcp:127.0.0.1:{port}", token=made.stdout.strip()) as other:
            assert other.role == "controller"
            assert any(row["peer"].startswith("tcp:127.0.0.1:") for row in Cli(server.address).lines("sessions"))
        for peer in idle:
            peer.close()


def test_slow_ticks_are_logged_when_enabled(server):
    assert "slow_tick" not in log_of(server)
    server.cli.text("config", "slow-tick-us", 1)
    until(lambda: "slow_tick" in log_of(server))
    assert "world=tower" in log_of(server)


def test_the_completion_script_completes(server):
    script = Cli(server.address).text("completion")
    assert subprocess.run(["bash", "-n"], input=script, text=True, timeout=120).returncode == 0
    asked = script + "\nCOMP_WORDS=(cairn wor) COMP_CWORD=1; _cairn; echo ${COMPREPLY[@]}\n"
    done = subprocess.run(["bash"], input=asked, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["worlds"], done.stderr


@pytest.mark.parametrize("options", ["--token-file t", "--role admin", "--connect tcp : 127.0.0.1 : 7411 --json"])
def test_completion_skips_the_values_of_options(server, options):
    words = f"cairn {options} wor".split()
    asked = f"{Cli(server.address).text('completion')}\nCOMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1}\n"
    done = subprocess.run(["bash"], input=asked + "_cairn; echo ${COMPREPLY[@]}\n", capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["worlds"], done.stderr
