"""Frames over a socket: bin 32 around one MessagePack array (docs/PROTOCOL.md, "frames")."""
import socket
import struct
import time

import msgpack

from .manifest import MESSAGE

NAMES = {number: name for name, number in MESSAGE.items()}
FRAME_MAX = 1 << 20


class Closed(ConnectionError):
    """The connection has ended; `status` is the server's reason where it gave one."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


def _open(address, timeout):
    if address.startswith("unix:"):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(address[5:])
        return sock
    host, _, port = address.removeprefix("tcp:").rpartition(":")
    sock = socket.create_connection((host.strip("[]"), int(port)), timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class Wire:
    """One connection: send(name, fields…), receive() → (name, [field, …])."""

    def __init__(self, address, timeout):
        self.socket = _open(address, timeout)
        self.timeout = timeout
        self.buffer = bytearray()

    def close(self):
        self.socket.close()

    def send(self, name, *fields):
        content = msgpack.packb([MESSAGE[name], *fields], use_bin_type=True)
        self.socket.sendall(b"\xc6" + struct.pack(">I", len(content)) + content)

    def _split(self):
        if len(self.buffer) < 5:
            return None
        if self.buffer[0] != 0xC6:
            raise Closed("the server does not speak this protocol")
        length = struct.unpack_from(">I", self.buffer, 1)[0]
        if length > FRAME_MAX:
            raise Closed(f"a frame of {length} bytes is too large")
        if len(self.buffer) < 5 + length:
            return None
        content = bytes(self.buffer[5:5 + length])
        del self.buffer[:5 + length]
        return content

    def receive(self, timeout=None):
        """The next message, or None when none came in time (seconds)."""
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
