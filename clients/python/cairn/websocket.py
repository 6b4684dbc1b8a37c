"""A WebSocket with the interface of a socket that `Wire` needs, from the standard library.

One binary message is one frame's content, so sendall() removes the five bytes of a frame's header and recv() adds them
(docs/PROTOCOL.md, "WebSocket").
"""
import base64
import hashlib
import os
import struct

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
HEAD_MAX = 1 << 14


class HandshakeRefused(ConnectionError):
    """The server refused the WebSocket upgrade; `status` is its HTTP status (0: it closed the connection)."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def mask_of(data, key):
    """`data` masked or unmasked with a 4-byte key (RFC 6455, 5.3)."""
    whole = (key * (len(data) // 4 + 1))[:len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")).to_bytes(len(data), "big")


def pack(opcode, data, last=True, masked=True):
    """One WebSocket frame."""
    first = bytes([(0x80 if last else 0) | opcode])
    bit = 0x80 if masked else 0
    if len(data) < 126:
        head = first + bytes([bit | len(data)])
    elif len(data) < 1 << 16:
        head = first + struct.pack(">BH", bit | 126, len(data))
    else:
        head = first + struct.pack(">BQ", bit | 127, len(data))
    if not masked:
        return head + data
    key = os.urandom(4)
    return head + key + mask_of(data, key)


def request(host, path="/ws", origin=None, key=None, extra=()):
    """The bytes of an opening handshake, and the answer's Sec-WebSocket-Accept."""
    key = key or base64.b64encode(os.urandom(16))
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key.decode()}", "Sec-WebSocket-Version: 13"]
    if origin is not None:
        lines.append(f"Origin: {origin}")
    accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
    return "\r\n".join([*lines, *extra, "", ""]).encode(), accept


class WebSocket:
    """`sock` must be connected; `host` is the value of the Host header. Raises HandshakeRefused."""

    def __init__(self, sock, host, path="/ws", origin=None):
        self.sock = sock
        self.raw = bytearray()
        self.message = bytearray()
        self.ready = bytearray()
        self.closed = False
        opening, accept = request(host, path, origin)
        sock.sendall(opening)
        self._read_head(accept)

    def _read_head(self, accept):
        while b"\r\n\r\n" not in self.raw:
            data = self.sock.recv(4096)
            if not data or len(self.raw) > HEAD_MAX:
                raise HandshakeRefused(0, "no answer to the WebSocket handshake")
            self.raw += data
        head, _, rest = bytes(self.raw).partition(b"\r\n\r\n")
        self.raw = bytearray(rest)
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if status != 101 or fields.get("sec-websocket-accept") != accept:
            raise HandshakeRefused(status, f"the server answered {lines[0]!r}")

    def settimeout(self, seconds):
        self.sock.settimeout(seconds)

    def fileno(self):
        return self.sock.fileno()

    def close(self):
        self.sock.close()

    def sendall(self, frames):
        """Sends complete frames of the protocol, one WebSocket message each."""
        out, at = b"", 0
        while at < len(frames):
            length = struct.unpack_from(">I", frames, at + 1)[0]
            out += pack(BINARY, bytes(frames[at + 5:at + 5 + length]))
            at += 5 + length
        self.sock.sendall(out)

    def _take(self):
        """Removes one complete WebSocket frame from the receive buffer: (opcode, last, data), or None."""
        if len(self.raw) < 2:
            return None
        length, at = self.raw[1] & 0x7F, 2
        if length == 126:
            at = 4
        elif length == 127:
            at = 10
        if len(self.raw) < at:
            return None
        if at > 2:
            length = int.from_bytes(self.raw[2:at], "big")
        if len(self.raw) < at + length:
            return None
        opcode, last = self.raw[0] & 15, bool(self.raw[0] & 0x80)
        data = bytes(self.raw[at:at + length])
        del self.raw[:at + length]
        return opcode, last, data

    def _feed(self):
        while (taken := self._take()) is not None:
            opcode, last, data = taken
            if opcode == PING:
                self.sock.sendall(pack(PONG, data))
            elif opcode == CLOSE:
                self.closed = True
            elif opcode in (BINARY, CONTINUATION):
                self.message += data
                if last:
                    self.ready += b"\xc6" + struct.pack(">I", len(self.message)) + self.message
                    self.message.clear()

    def recv(self, count):
        """Bytes of frames; b"" at the end. Raises TimeoutError as a socket does."""
        while not self.ready and not self.closed:
            data = self.sock.recv(count)
            if not data:
                break
            self.raw += data
            self._feed()
        data = bytes(self.ready[:count])
        del self.ready[:count]
        return data
