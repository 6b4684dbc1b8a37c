"""Frames over a socket: bin 32 around one MessagePack array (docs/PROTOCOL.md, "frames")."""
import socket
import ssl
import struct
import time

import msgpack

from .manifest import MESSAGE
from .websocket import WebSocket

NAMES = {number: name for name, number in MESSAGE.items()}
FRAME_MAX = 1 << 20


class Closed(ConnectionError):
    """The connection has ended; `status` is the server's status name, or None if the server gave none."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


def host_and_port(text):
    """The host and the port of HOST:PORT. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise ValueError(f"address {text!r} is not unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT, "
                         "with a port from 1 to 65535")
    return host.strip("[]"), int(port)


def _connect(host_port, timeout):
    sock = socket.create_connection(host_and_port(host_port), timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _secure(sock, host_port, tls):
    """TLS 1.3 over a connected socket. `tls`: an ssl.SSLContext, the path of a certificate to trust, or None
    for the certificates that the system trusts."""
    context = tls
    if not isinstance(tls, ssl.SSLContext):
        context = ssl.create_default_context(cafile=tls)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context.wrap_socket(sock, server_hostname=host_port.rpartition(":")[0].strip("[]"))


def _open(address, timeout, tls=None):
    """unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT[/ws] or wss://…; a bare HOST:PORT is TCP."""
    if address.startswith("unix:"):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(address[5:])
        return sock
    scheme, _, rest = address.partition(":")
    if scheme not in ("tcp", "tls", "ws", "wss"):
        scheme, rest = "tcp", address
    host_port, _, path = rest.removeprefix("//").partition("/")
    sock = _connect(host_port, timeout)
    if scheme in ("tls", "wss"):
        sock = _secure(sock, host_port, tls)
    return WebSocket(sock, host_port, "/" + (path or "ws")) if scheme in ("ws", "wss") else sock


def frame_of(name, fields, most):
    """The bytes of a message's frame. Raises ValueError if its content is longer than `most` bytes (0: not known yet), which the
    server would skip."""
    content = msgpack.packb([MESSAGE[name], *fields], use_bin_type=True)
    if 0 < most < len(content):
        raise ValueError(f"the message {name} takes {len(content)} bytes, and the server takes at most {most} (frame_up) from "
                         "this session: send its contents in several messages")
    return b"\xc6" + struct.pack(">I", len(content)) + content


class Wire:
    """One connection: send(name, fields…), receive() → (name, [field, …])."""

    frame_up = 0  # most bytes of a message, from WELCOME; 0: not known yet

    def __init__(self, address, timeout, tls=None):
        self.socket = _open(address, timeout, tls)
        self.timeout = timeout
        self.buffer = bytearray()

    def close(self):
        self.socket.close()

    def send(self, name, *fields):
        self.socket.sendall(frame_of(name, fields, self.frame_up))

    def _split(self):
        if len(self.buffer) < 5:
            return None
        if self.buffer[0] != 0xC6:
            raise Closed(f"frame begins with byte {self.buffer[0]:#04x}, not 0xc6; the peer does not speak this protocol")
        length = struct.unpack_from(">I", self.buffer, 1)[0]
        if length > FRAME_MAX:
            raise Closed(f"frame of {length} bytes; at most {FRAME_MAX} are allowed")
        if len(self.buffer) < 5 + length:
            return None
        content = bytes(self.buffer[5:5 + length])
        del self.buffer[:5 + length]
        return content

    def receive(self, timeout=None):
        """The next message as (name, fields), or None after `timeout` seconds (default: that of the connection). Raises
        Closed at the end of the stream."""
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        while (content := self._split()) is None:
            left = end - time.monotonic()
            if left <= 0:
                return None
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 18)
            except (TimeoutError, socket.timeout):
                return None
            if not data:
                raise Closed("the server closed the connection")
            self.buffer += data
        message = msgpack.unpackb(content, raw=False, strict_map_key=False)
        return NAMES.get(message[0], str(message[0])), message[1:]
