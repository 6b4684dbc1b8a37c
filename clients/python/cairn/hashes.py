"""The hash of a state, computed from its bodies as the server computes it (docs/PROTOCOL.md, "Hashes"), so that a client can
verify what it was told. XXH3-64 with seed 0, for the lengths that occur; some 20 µs a body."""
import struct

from .manifest import WORDS

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364")
_WORD = 0xFFFFFFFFFFFFFFFF


def _fold(data, at, key):
    """The 128-bit product of two words, each with its word of the secret, halves combined by XOR."""
    (a, b), (p, q) = struct.unpack_from("<QQ", data, at), struct.unpack_from("<QQ", _SECRET, key)
    product = (a ^ p) * (b ^ q)
    return (product & _WORD) ^ (product >> 64)


def _xxh3(data):
    """XXH3-64 of 17 to 128 bytes."""
    total = len(data) * 0x9E3779B185EBCA87
    for i in range((len(data) - 1) // 32 + 1):
        total += _fold(data, 16 * i, 32 * i) + _fold(data, len(data) - 16 * (i + 1), 32 * i + 16)
    total &= _WORD
    total = (total ^ (total >> 37)) * 0x165667919E3779F9 & _WORD
    return total ^ (total >> 32)


def tick_hash(tick, bodies):
    """The tick hash of these bodies, 16 hexadecimal digits; `bodies`: all of a world, exact, by id as Stepped.bodies has them. It
    equals the server's, e.g. cairn.tick_hash(stepped.tick, stepped.bodies) == stepped.tick_hash, if nothing was changed."""
    total = 0
    for body in bodies.values():
        total += _xxh3(struct.pack("<IB13d", body.id, WORDS["body_status"].index(body.status), *body.position, *body.rotation,
                                   *body.velocity, *body.spin))
    return f"{_xxh3(struct.pack('<QQI', tick, total & _WORD, len(bodies))):016x}"
