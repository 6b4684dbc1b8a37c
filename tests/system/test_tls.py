"""TLS at a real daemon: the same worlds over it, and attempts to weaken it."""
import json
import signal
import socket
import ssl
import subprocess
import time
import warnings

import pytest
from support import SANITIZED, cairn, command, daemon, falling, frame, log_of, memory, until
from test_tokens import cli, made, reload
from test_web import listening


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tls")
    return make_certificate(directory, "cairn")


def make_certificate(directory, name):
    cert, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}", "-addext",
                    "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
    return str(cert), str(key)


def tls_address(server):
    def bound():
        for line in log_of(server).splitlines():
            if "listening address=tls:" in line:
                return line.split("address=")[1].strip()
        return None
    return until(bound)


@pytest.fixture(scope="module")
def server(certificate, tmp_path_factory):
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    bearer = made("bearer", "ops", "--role", "controller", "--file", tokens)
    cert, key = certificate
    with daemon("--tls", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--web", "127.0.0.1:0", "--web-tls",
                "--tokens", str(tokens), "--handshake-ms", "1000") as server:
        server.tls, server.web, server.cert, server.token = tls_address(server), listening(server), cert, bearer
        with server.connect() as client:
            server.client = client
            server.world, server.body = falling(client)
            yield server


def host_port(address):
    return address.removeprefix("tls:").rsplit(":", 1)[0], int(address.rsplit(":", 1)[1])


def test_tls_and_https_show_the_same_worlds(server):
    copy = server.world.fork("private")
    sphere = copy.shape(sphere=0.1)
    for row in range(6):
        copy.apply(*(command("spawn", position=(x, 1, row), shapes=[sphere]) for x in range(200)))
    clients = [cairn.connect(server.tls, tls=server.cert, token=server.token),
               cairn.connect("wss://" + server.web, tls=server.cert), server.connect()]
    assert [client.role for client in clients] == ["controller", "observer", "admin"]
    worlds = [client.join("private") for client in clients]
    for world in worlds:
        world.subscribe()
    seen = [next(world.frames(1)).bodies for world in worlds]
    assert len(seen[0]) == 1201 and seen[0] == seen[1] == seen[2]
    for _ in range(10):
        copy.step(1)
        seen = [next(world.frames(1)) for world in worlds]
        assert seen[0].tick == seen[1].tick == seen[2].tick
        assert seen[0].bodies == seen[1].bodies == seen[2].bodies
    over = worlds[0].step(20).hash
    assert over == copy.step(0).hash
    for client in clients:
        client.close()
    server.client.ask("reply", "world_destroy", copy.number)


@pytest.mark.parametrize("door", ["tls", "web"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1])
def test_an_older_version_is_refused(server, door, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(server.cert)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    address = host_port(server.tls) if door == "tls" else tuple(server.web.split(":"))
    sock = socket.create_connection(address, 5)
    with pytest.raises((ssl.SSLError, ConnectionError, OSError)):
        context.wrap_socket(sock, server_hostname="127.0.0.1").recv(1)
    sock.close()


def test_the_version_and_cipher_are_those_of_tls_1_3(server):
    context = ssl.create_default_context(cafile=server.cert)
    for address in (host_port(server.tls), tuple(server.web.split(":"))):
        with context.wrap_socket(socket.create_connection(address, 5), server_hostname="localhost") as sock:
            assert sock.version() == "TLSv1.3" and sock.cipher()[0].startswith("TLS_")


def test_plain_text_at_a_tls_port_is_refused_and_tls_at_a_plain_one_too(server):
    for address in (host_port(server.tls), tuple(server.web.split(":"))):
        sock = socket.create_connection(address, 5)
        sock.sendall(frame(1, {"protocol": [1, 0]}))
        data = b""
        try:
            while part := sock.recv(4096):
                data += part
        except ConnectionError:
            pass
        assert b"\xc6" not in data and b"200" not in data
        sock.close()


def test_a_silent_handshake_times_out(server):
    socks = [socket.create_connection(host_port(server.tls), 10) for _ in range(20)]
    for sock in socks:
        sock.settimeout(30)  # a daemon that waits for ever is found by this
        try:
            assert sock.recv(1) == b""
        except ConnectionError:
            pass
        sock.close()
    until(lambda: server.client.info("server")["server"]["sessions"] == 1)


def test_broken_handshakes_cost_no_memory(server):
    def round():
        for k in range(150):
            sock = socket.create_connection(host_port(server.tls), 10)
            sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(k % 200)) * 2)
            sock.close()
        until(lambda: server.client.info("server")["server"]["sessions"] == 1)
        return memory(server.process.pid)
    # The allocator keeps some memory, for the first few thousand connections; OpenSSL needs over 20
    # KiB for one connection, so 600 leaked ones would be 12 MiB.
    def blocks():
        return server.client.info("server")["server"]["heap_blocks"]
    before = blocks()  # no other client is connected
    first = [round() for _ in range(8)][4:]
    # A connection that has not become a session is not counted as one: the last ones close a little
    # later.
    until(lambda: blocks() <= before)
    then = [round() for _ in range(4)]
    print(f"grown by {(min(then) - max(first)) >> 10} KiB")
    until(lambda: blocks() <= before)
    assert SANITIZED or min(then) - max(first) < 4 << 20


def test_files_over_tls_have_a_policy_for_https(server):
    context = ssl.create_default_context(cafile=server.cert)
    address = tuple(server.web.split(":"))
    with context.wrap_socket(socket.create_connection(address, 5), server_hostname="localhost") as sock:
        sock.sendall(f"GET / HTTP/1.1\r\nHost: {server.web}\r\nConnection: close\r\n\r\n".encode())
        data = b""
        while part := sock.recv(4096):
            data += part
    assert data.startswith(b"HTTP/1.1 200") and f"wss://{server.web}".encode() in data


def test_no_listener_gives_tickets_and_browsers_get_hsts(server):
    for address in (server.tls, server.web):
        context = ssl.create_default_context(cafile=server.cert)
        with socket.create_connection(host_port(address), 5) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as peer:
                # The server's first message after the handshake would bring tickets with it.
                if address == server.web:
                    peer.sendall(f"GET / HTTP/1.1\r\nHost: {server.web}\r\nConnection: close\r\n\r\n".encode())
                    answer = b""
                    while part := peer.recv(65536):
                        answer += part
                    assert b"strict-transport-security: max-age=" in answer.lower()
                else:
                    peer.sendall(frame(1, {"protocol": [1, 0], "token": server.token}))
                    assert peer.recv(4096)
                assert peer.session is None or not peer.session.has_ticket, address


@pytest.mark.parametrize("door", [("--tls", "127.0.0.1:0"), ("--web", "127.0.0.1:0", "--web-tls")])
def test_a_key_readable_by_everybody_is_refused(certificate, tmp_path, door):
    cert, key = certificate
    open_key = tmp_path / "open.key"
    open_key.write_bytes(open(key, "rb").read())
    open_key.chmod(0o644)
    with pytest.raises(RuntimeError, match="accessible to all users"):
        with daemon(*door, "--tls-cert", cert, "--tls-key", str(open_key)):
            pass
    open_key.chmod(0o640)
    with daemon(*door, "--tls-cert", cert, "--tls-key", str(open_key)) as server:
        open_key.chmod(0o604)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "reload_refused" in log_of(server))
        assert "accessible to all users" in log_of(server)


def test_a_certificate_can_be_replaced_at_run_time(server, certificate, tmp_path):
    cert, key = certificate
    held = cairn.connect(server.tls, tls=cert, token=server.token)
    before = open(cert, encoding="ascii").read(), open(key, encoding="ascii").read()
    new = make_certificate(tmp_path, "other")
    try:
        for path, source in zip((cert, key), new):
            with open(path, "w", encoding="ascii") as out:
                out.write(open(source, encoding="ascii").read())
        reload(server)
        cairn.connect(server.tls, tls=new[0], token=server.token).close()
        cairn.connect("wss://" + server.web, tls=new[0]).close()
        held.join("demo")
    finally:
        for path, text in zip((cert, key), before):
            with open(path, "w", encoding="ascii") as out:
                out.write(text)
        reload(server)
        held.close()
    cairn.connect(server.tls, tls=cert, token=server.token).close()
    cairn.connect("wss://" + server.web, tls=cert).close()


def test_the_command_line_connects_over_tls(server):
    done = cli("--connect", server.tls, "--tls-ca", server.cert, "--json", "worlds", CAIRN_TOKEN=server.token)
    assert done.returncode == 0 and "demo" in done.stdout, done.stderr
    done = cli("--connect", "wss://" + server.web, "--tls-ca", server.cert, "--json", "watch", "demo", "--ticks", "1")
    assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["hash"] == "right", done.stderr
    done = cli("--connect", server.tls, "worlds", CAIRN_TOKEN=server.token)
    assert done.returncode != 0 and "certificate" in done.stderr


def test_a_public_address_with_tls_needs_tokens_but_no_flag(certificate, tmp_path):
    cert, key = certificate
    tokens = tmp_path / "tokens"
    made("key", 1, "--file", tokens)
    with daemon("--tls", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--tokens", str(tokens)) as server:
        port = tls_address(server).rsplit(":", 1)[1]
        token = made("connect", 1, "--file", tokens)
        with cairn.connect(f"tls:127.0.0.1:{port}", tls=cert, token=token) as client:
            assert client.role == "player"
